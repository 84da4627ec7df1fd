# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding the roles of a rig's bones, changing the list, keeping and sharing it."""

from pathlib import Path

import bpy
from bpy.props import BoolProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..addon import motions
from ..addon.base_operator import SettingsOperator
from ..addon.errors import UserError
from ..addon.rigs import roles
from ..addon.rigs.recognise.rolemap import is_role
from .rig import OnRig


class _WithRoles(OnRig):
    """Mixin: for such an armature whose roles have been found."""

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not _has_roles(motions.active_rig(context)):
            cls.poll_message_set("The rig has no roles yet: click Find Roles")
            return False
        return True


def _has_roles(rig):
    motion = motions.active_motion(motions.character_of(rig))
    return motion is not None and len(motion.poise_motion.roles) > 0


def _rig(context):
    """The rig that is worked on, which must be one that may be changed."""
    rig = motions.active_rig(context)
    motions.require_editable(rig)
    roles.require_readable(rig)
    return rig


def _settings(context, rig, found=None):
    """Settings of the rig's active motion; a motion is added where there is none."""
    character = motions.character_of(rig)
    motion = motions.active_motion(character)
    if motion is None:
        if found is None and character == rig:
            found = roles.find(rig)
        motion = motions.add_motion(context, character, found=found)
    return motion.poise_motion


class POISE_OT_rig_roles_find(OnRig, bpy.types.Operator):
    """Recognise the rig and fill the list of roles with its bones"""

    bl_idname = "poise.rig_roles_find"
    bl_label = "Find Roles"

    keep: BoolProperty(
        name="Keep Picked Bones",
        description="Only fill roles that have no bone yet",
        default=False,
    )

    def run(self, context):
        rig = _rig(context)
        motion = motions.active_motion(motions.character_of(rig))
        given = roles.picked(motion.poise_motion) if self.keep and motion is not None else {}
        found = roles.find(rig, given)
        roles.fill(_settings(context, rig, found), found, self.keep)
        message = f"{rig.name}: {len(found.roles)} roles found"
        if found.unsure:
            message += f", {len(found.unsure)} of them unsure"
        if found.missing:
            message += f"; missing: {', '.join(sorted(found.missing))}"
        return message


class POISE_OT_rig_role_add(OnRig, bpy.types.Operator):
    """Add a role to the list, or give it another bone"""

    bl_idname = "poise.rig_role_add"
    bl_label = "Add Role"

    role: StringProperty(name="Role", description="The role, such as toe.L or tail.1")
    bone: StringProperty(name="Bone", description="Its bone; empty to pick it in the list")

    def invoke(self, context, event):
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context):
        rig = _rig(context)
        role = self.role.strip()
        if not is_role(role):
            raise UserError(f"{role!r} is no role: the manual lists them, such as toe.L or tail.1")
        if self.bone and self.bone not in rig.data.bones:
            raise UserError(f"{rig.name} has no bone {self.bone!r}: pick one of its bones")
        settings = _settings(context, rig)
        if not settings.roles:
            # One role by hand does not stand for all the others.
            roles.fill(settings, roles.find(rig))
        for other in settings.roles:
            if self.bone and other.bone == self.bone and not other.picked:
                other.bone = ""
                other.picked = False
        item = settings.roles.get(role) or settings.roles.add()
        item.role = role
        item.bone = self.bone
        settings.roles_index = settings.roles.find(role)
        return f"{rig.name}: {role} is {self.bone or 'without a bone'}"


class POISE_OT_rig_role_remove(_WithRoles, bpy.types.Operator):
    """Remove a role from the list: its bone stays as it is"""

    bl_idname = "poise.rig_role_remove"
    bl_label = "Remove Role"

    role: StringProperty(name="Role", description="The role; empty for the one chosen in the list")

    def run(self, context):
        rig = _rig(context)
        settings = _settings(context, rig)
        index = settings.roles.find(self.role) if self.role else settings.roles_index
        if not 0 <= index < len(settings.roles):
            raise UserError(f"{rig.name} has no role {self.role!r} in its list")
        role = settings.roles[index].role
        settings.roles.remove(index)
        settings.roles_index = max(0, min(index, len(settings.roles) - 1))
        return f"{rig.name}: {role} removed"


class POISE_OT_rig_roles_export(_WithRoles, ExportHelper, bpy.types.Operator):
    """Write the roles to a JSON file, to share them"""

    bl_idname = "poise.rig_roles_export"
    bl_label = "Export Roles"
    bl_options = {"REGISTER"}

    filename_ext = roles.ENDING
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def run(self, context):
        rig = motions.active_rig(context)
        path = _file(self.filepath)
        roles.save(path, rig, _settings(context, rig))
        return f"Roles of {rig.name} written to {path}"


class POISE_OT_rig_roles_import(OnRig, ImportHelper, bpy.types.Operator):
    """Read the roles from a JSON file that Export Roles wrote"""

    bl_idname = "poise.rig_roles_import"
    bl_label = "Import Roles"

    filename_ext = roles.ENDING
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def run(self, context):
        return _load(self, context, _file(self.filepath))


class POISE_OT_rig_roles_save(_WithRoles, bpy.types.Operator):
    """Keep the roles as a preset for rigs of this kind"""

    bl_idname = "poise.rig_roles_save"
    bl_label = "Save Role Preset"
    bl_options = {"REGISTER"}

    name: StringProperty(name="Name", description="Name of the preset", default="My Rig")

    def invoke(self, context, event):
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context):
        rig = motions.active_rig(context)
        roles.save(roles.preset_path(self.name), rig, _settings(context, rig))
        return f"Roles of {rig.name} kept as {self.name}"


class POISE_OT_rig_roles_load(OnRig, bpy.types.Operator):
    """Take the roles from a preset"""

    bl_idname = "poise.rig_roles_load"
    bl_label = "Load Role Preset"

    name: StringProperty(name="Name", description="Name of the preset")

    def run(self, context):
        return _load(self, context, _preset(self.name))


class POISE_OT_rig_roles_delete(SettingsOperator, bpy.types.Operator):
    """Delete a preset of roles that you kept"""

    bl_idname = "poise.rig_roles_delete"
    bl_label = "Delete Role Preset"
    bl_options = {"REGISTER"}

    name: StringProperty(name="Name", description="Name of the preset")

    def run(self, context):
        path = _preset(self.name)
        try:
            path.unlink()
        except OSError as error:
            raise UserError(f"{path} cannot be deleted: {error.strerror}") from error
        return f"The preset {self.name} is deleted"


def _preset(name):
    path = roles.presets().get(name) or roles.presets().get(bpy.path.clean_name(name))
    if path is None:
        raise UserError(f"There is no preset of roles called {name!r}")
    return path


def _file(filepath):
    if not filepath:
        raise UserError("No file is given: choose one")
    path = Path(bpy.path.abspath(filepath))
    return path if path.suffix else path.with_suffix(roles.ENDING)


def _load(operator, context, path):
    rig = _rig(context)
    had_motion = motions.active_motion(motions.character_of(rig)) is not None
    settings = _settings(context, rig)
    try:
        lost = roles.load(path, rig, settings)
    except UserError:
        if not had_motion:  # nothing was changed, then
            bpy.data.objects.remove(settings.id_data)
        raise
    message = f"{rig.name}: {len(roles.stored(settings))} roles from {path.stem}"
    if lost:
        operator.report({"WARNING"}, f"{rig.name} has no bones for {', '.join(lost)}")
    return message


CLASSES = (
    POISE_OT_rig_roles_find,
    POISE_OT_rig_role_add,
    POISE_OT_rig_role_remove,
    POISE_OT_rig_roles_export,
    POISE_OT_rig_roles_import,
    POISE_OT_rig_roles_save,
    POISE_OT_rig_roles_load,
    POISE_OT_rig_roles_delete,
)
