# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding the roles of a rig's bones, changing the list, keeping and sharing it."""

from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..addon import motions
from ..addon.base_operator import SettingsOperator
from ..addon.context import keep_frame
from ..addon.errors import UserError
from ..addon.rigs import roles
from ..addon.rigs.controls import control_rig
from ..addon.rigs.recognise.rolemap import is_role
from ..addon.rigs.skeletons import pose_places
from ..addon.texts import tr
from .rig import OnRig

# Frames of a clip at which Stand Up looks for one who stands.
TRIED = 32
# The current frame is taken where no other one stands so many times as tall.
AS_TALL = 1.03


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
        given, places = {}, {}
        if motion is not None:
            places = roles.places_of(motion.poise_motion)
            given = roles.picked(motion.poise_motion) if self.keep else {}
        found = roles.find(rig, given, places)
        roles.fill(_settings(context, rig, found), found, self.keep)
        message = f"{rig.name}: {len(found.roles)} roles found"
        if found.unsure:
            message += f", {len(found.unsure)} of them unsure"
        if found.missing:
            message += f"; missing: {', '.join(sorted(found.missing))}"
        if found.fallen:
            self.report({"WARNING"}, tr(control_rig.standing_up(rig, found.fallen)))
        return message


class POISE_OT_rig_stand_up(OnRig, bpy.types.Operator):
    """Take a pose of the clip, or one that names of limbs tell, for the rest pose of the rig"""

    bl_idname = "poise.rig_stand_up"
    bl_label = "Stand Up"

    pose: EnumProperty(
        name="Pose",
        description="What counts as the pose in which the rig stands",
        items=(
            (
                "CLIP", "Frame of the Clip", "The rig as its animation or its pose has it; where "
                "it does not stand at any frame, as Limb Names",
            ),
            (
                "NAMES", "Limb Names", "Trunk upright, or level on four legs, legs and "
                "arms down: which limb is which is told by names, or roles that you picked",
            ),
            ("REST", "Rest Pose", "As the bones stand in Edit Mode"),
        ),
        options={"SKIP_SAVE"},
    )
    frame: IntProperty(
        name="Frame",
        description="The frame whose pose is taken; where none is given, the current one if the "
        "rig stands there as tall as anywhere in its clip, else the one at which it stands tallest",
        options={"SKIP_SAVE"},
    )

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "pose")
        if self.pose == "CLIP":
            layout.prop(self, "frame")

    def run(self, context):
        rig = _rig(context)
        if motions.character_of(rig) != rig:
            raise UserError(
                f"{rig.name} moves as Poise's controls say: click Remove from Rig before Stand Up"
            )
        motion = motions.active_motion(rig)
        found, where = None, ""
        if self.pose == "REST":
            found, where = roles.find(rig), "in its rest pose"
        elif self.pose == "CLIP":
            found = self._standing(context, rig)
            where = f"at frame {self.frame}"
        if found is None:
            given = roles.picked(motion.poise_motion) if motion is not None else {}
            found = roles.find_standing(rig, given)
            self.pose, where = "NAMES", "with its limbs as their names say"
        if found is None:
            raise UserError(
                f"{rig.name} does not stand at any frame that was tried, and its names do not "
                "tell arms and legs: pose it upright with its legs down, or go to a frame where it "
                "stands, then click Stand Up"
            )
        settings = _settings(context, rig, found)
        roles.fill(settings, found)
        if motion is not None:
            motions.place(motion, rig, found)
        return f"{rig.name}: {len(found.roles)} roles found {where}"

    def _standing(self, context, rig):
        """The roles at the frame asked for, or at that of the clip at which the rig stands best.

        None where it stands at none of them, and none was asked for.
        """
        scene, tried = context.scene, []
        now = scene.frame_current
        given = self.properties.is_property_set("frame")
        with keep_frame(scene):
            for frame in (self.frame,) if given else (now, *_clip(rig)):
                if frame != scene.frame_current:
                    scene.frame_set(frame)
                found = roles.find(rig, places=pose_places(rig))
                if not found.fallen and not found.missing:
                    tall = roles.height(rig, found) * (AS_TALL if frame == now else 1.0)
                    tried.append((tall, -frame, found))
        if tried:
            _, frame, found = max(tried, key=lambda one: one[:2])
            self.frame = -frame
            return found
        if not given:
            return None
        raise UserError(
            f"{rig.name} does not stand at frame {self.frame}: take another frame, or set Pose to "
            "Limb Names"
        )


def _clip(rig):
    """Frames evenly over the action that a rig plays."""
    action = rig.animation_data.action if rig.animation_data is not None else None
    if action is None:
        return []
    start, end = action.frame_range
    return sorted({round(start + (end - start) * k / TRIED) for k in range(TRIED + 1)})


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
        operator.report({"WARNING"}, tr(f"{rig.name} has no bones for {', '.join(lost)}"))
    return message


CLASSES = (
    POISE_OT_rig_roles_find,
    POISE_OT_rig_stand_up,
    POISE_OT_rig_role_add,
    POISE_OT_rig_role_remove,
    POISE_OT_rig_roles_export,
    POISE_OT_rig_roles_import,
    POISE_OT_rig_roles_save,
    POISE_OT_rig_roles_load,
    POISE_OT_rig_roles_delete,
)
