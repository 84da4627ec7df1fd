# SPDX-License-Identifier: GPL-3.0-or-later
"""Poise's entries in Blender's menus, where searching (F3) finds them, too."""

from __future__ import annotations

import bpy

from .. import motions
from ..errors import UserError
from ..rigs import characters, machines, roles
from ..rigs.controls import control_rig

ADD = "VIEW3D_MT_add"
HOSTS = ("VIEW3D_MT_object", "VIEW3D_MT_pose")
ASSETS = "ASSETBROWSER_MT_context_menu"
SETTINGS = "UI_MT_button_context_menu"

# None draws a line between groups.
_ENTRIES = (
    ("poise.bake", "ACTION"),
    ("poise.bake_to_bones", "NONE"),
    ("poise.bake_all", "NONE"),
    ("poise.bake_check", "NONE"),
    ("poise.bake_clear", "NONE"),
    None,
    ("poise.rig_roles_find", "VIEWZOOM"),
    None,
    ("poise.motion_add", "ADD"),
    ("poise.motion_remove", "NONE"),
    ("poise.motion_select", "NONE"),
    ("poise.motion_view", "NONE"),
    ("poise.settings_copy", "COPYDOWN"),
    ("poise.scene_range_set", "NONE"),
    None,
    ("poise.character_duplicate", "DUPLICATE"),
    ("poise.character_remove", "NONE"),
    None,
    ("poise.path_plan", "CURVE_PATH"),
    ("poise.gate_add", "NONE"),
    ("poise.slalom_course_add", "NONE"),
    None,
    ("poise.gait_cycle", "NONE"),
    ("poise.gait_mirror", "NONE"),
    ("poise.footprints_edit", "NONE"),
    ("poise.footprints_adapt", "NONE"),
    ("poise.footprints_mirror", "NONE"),
    None,
    ("poise.limb_pose", "CON_KINEMATIC"),
    None,
    ("poise.target_add", "NONE"),
    ("poise.target_update", "NONE"),
    ("poise.overlap_add", "NONE"),
    ("poise.disturbance_add", "NONE"),
    ("poise.bone_setting_add", "NONE"),
    ("poise.pose_check", "NONE"),
    None,
    ("poise.trail_add", "NONE"),
    ("poise.slope_add", "NONE"),
    ("poise.markers_add", "NONE"),
    ("poise.markers_clear", "NONE"),
    None,
    ("poise.chase_camera_add", "CAMERA_DATA"),
    ("poise.playblast", "RENDER_ANIMATION"),
    ("poise.diagram_save", "NONE"),
    ("poise.diagram_image", "NONE"),
    None,
    ("poise.controller_build", "NONE"),
    ("poise.script_import", "NONE"),
    ("poise.script_export", "NONE"),
    None,
    ("poise.rig_setup", "NONE"),
    ("poise.rig_remove", "NONE"),
    ("poise.figure_setup", "NONE"),
    ("poise.car_setup", "NONE"),
    ("poise.car_remove", "NONE"),
    ("poise.street_add", "NONE"),
    ("poise.figure_remove", "NONE"),
    None,
    ("poise.mesh_swap", "NONE"),
    ("poise.mesh_restore", "NONE"),
    None,
    ("poise.manual_open", "HELP"),
)


def _words(name: str, context: bpy.types.Context) -> dict[str, str]:
    """What an entry is called, where that depends on the character."""
    if name != "poise.bake_to_bones":
        return {}
    return {"text": control_rig.baking_label(motions.active_character(context))}


class POISE_MT_add(bpy.types.Menu):
    """Poise's characters, in the Add menu."""

    bl_idname = "POISE_MT_add"
    bl_label = "Poise"
    bl_options = {"SEARCH_ON_KEY_PRESS"}

    def draw(self, context):
        family = None
        for name, kind in (characters.KINDS | machines.MACHINES).items():
            before, family = family, getattr(kind, "family", "")
            if before not in (None, family):
                self.layout.separator()
            self.layout.operator("poise.character_add", text=kind.label).kind = name


class POISE_MT_rig_setup(bpy.types.Menu):
    """What a rig of somebody else can be, by its legs."""

    bl_idname = "POISE_MT_rig_setup"
    bl_label = "Set Up As"
    bl_options = {"SEARCH_ON_KEY_PRESS"}

    def draw(self, context):
        rig = motions.active_rig(context)
        try:
            body = "" if rig is None else roles.find(rig).body
        except UserError:
            body = ""
        for name in control_rig.FITTING.get(body, control_rig.KINDS):
            label = characters.KINDS[name].label
            self.layout.operator("poise.rig_setup", text=label).kind = name
        self.layout.separator()
        self.layout.operator("poise.figure_setup", text="Figure")


class POISE_MT_motion(bpy.types.Menu):
    """What Poise does with a character, in the Object and Pose menus."""

    bl_idname = "POISE_MT_motion"
    bl_label = "Poise"

    def draw(self, context):
        # Called from a menu, an operator with a file asks for it; others run at once.
        for entry in _ENTRIES:
            if entry is None:
                self.layout.separator()
            else:
                name, icon = entry
                self.layout.operator(name, icon=icon, **_words(name, context))


def poise_add_menu(self, context) -> None:
    """Draw the submenu of characters."""
    self.layout.menu(POISE_MT_add.bl_idname, icon="ARMATURE_DATA")


def poise_motion_menu(self, context) -> None:
    """Draw the submenu of what Poise does with a character."""
    self.layout.separator()
    self.layout.menu(POISE_MT_motion.bl_idname, icon="ANIM")


def poise_setting_menu(self, context) -> None:
    """Draw what becomes of a setting of a motion that was clicked with the right button."""
    group, prop = getattr(context, "button_pointer", None), getattr(context, "button_prop", None)
    if prop is None or not isinstance(group, bpy.types.PropertyGroup):
        return
    if not isinstance(group.id_data, bpy.types.Object) or not motions.is_motion(group.id_data):
        return
    path = group.path_from_id(prop.identifier).removeprefix("poise_motion.")
    self.layout.separator()
    text = "Copy to Selected Characters"
    self.layout.operator("poise.settings_copy", text=text, icon="COPYDOWN").setting = path


def poise_asset_menu(self, context) -> None:
    """Draw what becomes of a pose asset."""
    asset = getattr(context, "asset", None)
    if asset is not None and asset.id_type == "ACTION":
        self.layout.separator()
        character = motions.active_character(context)
        motion = motions.active_motion(character) if character is not None else None
        whole = motion is not None and motion.poise_motion.kind == "FREEFORM"
        add = "poise.posture_add" if whole else "poise.target_add"
        self.layout.operator(add, icon="ADD").source = "ASSET"


CLASSES = (POISE_MT_add, POISE_MT_rig_setup, POISE_MT_motion)


def register() -> None:
    """Add the menus to Blender's."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    getattr(bpy.types, ADD).append(poise_add_menu)
    for host in HOSTS:
        getattr(bpy.types, host).append(poise_motion_menu)
    getattr(bpy.types, ASSETS).append(poise_asset_menu)
    getattr(bpy.types, SETTINGS).append(poise_setting_menu)


def unregister() -> None:
    """Take the menus out again."""
    getattr(bpy.types, SETTINGS).remove(poise_setting_menu)
    getattr(bpy.types, ASSETS).remove(poise_asset_menu)
    for host in reversed(HOSTS):
        getattr(bpy.types, host).remove(poise_motion_menu)
    getattr(bpy.types, ADD).remove(poise_add_menu)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
