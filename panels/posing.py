# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels of pose timing."""

import bpy

from ..addon.show import preview
from ..addon.texts import tr
from .base import MotionPanel, SettingsPanel, active, settings_of
from .motion import draw_summary

DISTURBING = {
    "BALL": ("frame", "place", "velocity", "mass", "radius", "restitution"),
    "PUSH": ("frame", "frames", "bone", "force"),
    "SHAKE": ("frame", "frames", "amplitude", "frequency"),
}
"""Kind of disturbance -> what is set of it."""


class POISE_UL_targets(bpy.types.UIList):
    """Targets: name and frame."""

    def draw_item(
        self, context, layout, data, item, icon, active_data, active_property, index, flt_flag
    ):
        row = layout.row(align=True)
        row.prop(item, "name", text="", emboss=False, icon="KEYFRAME_HLT")
        row.prop(item, "frame", text="")


class POISE_UL_names(bpy.types.UIList):
    """Whatever has a name."""

    def draw_item(
        self, context, layout, data, item, icon, active_data, active_property, index, flt_flag
    ):
        layout.label(text=item.name, translate=False)


def _list(layout, kind: str, settings, items: str, index: str, add: str, remove: str, many=""):
    """A list with its buttons, or while it is empty the one that begins it; the chosen item or
    None. Where an operator's choice `many` says what is added, it is asked for."""
    found, place = getattr(settings, items), getattr(settings, index)

    def adding(layout, **text):
        if many:
            layout.operator_menu_enum(add, many, icon="ADD", **text)
        else:
            layout.operator(add, icon="ADD", **text)

    if not found:
        adding(layout)
        return None
    row = layout.row()
    row.template_list(kind, items, settings, items, settings, index, rows=3)
    column = row.column(align=True)
    adding(column, text="")
    column.operator(remove, text="", icon="REMOVE")
    return found[place] if 0 <= place < len(found) else None


class _PosingPanel(MotionPanel):
    @classmethod
    def poll(cls, context):
        return super().poll(context) and settings_of(context).kind == "POSE_TIMING"


class POISE_PT_posing(_PosingPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_posing"
    bl_label = "Pose Timing"
    bl_order = 3

    def draw(self, context):
        layout = self.layout
        _character, motion = active(context)
        settings = motion.poise_motion.pose_timing
        item = _list(
            layout, "POISE_UL_targets", settings, "targets", "target_index", "poise.target_add",
            "poise.target_remove",
        )
        layout.operator_menu_enum("poise.target_add", "source", text="Add Targets From")
        layout.use_property_split = True
        if item is not None:
            layout.prop(item, "hold")
            row = layout.row()
            row.label(text=tr(f"From {item.source}"))
            update = row.operator("poise.target_update", text="", icon="FILE_REFRESH")
            update.index = settings.target_index
        layout.prop(settings, "tension")
        layout.operator("poise.pose_check", icon="VIEWZOOM")
        draw_summary(layout, preview.status(motion), context.region.width)


class POISE_PT_posing_joints(SettingsPanel, bpy.types.Panel):
    bl_label = "Joints"
    bl_parent_id = "POISE_PT_posing"
    bl_options = {"DEFAULT_CLOSED"}
    group = "pose_timing"
    names = ("ratio", "gain", "settle", "gravity", "drag")


class POISE_PT_posing_overlap(MotionPanel, bpy.types.Panel):
    bl_label = "Overlap"
    bl_parent_id = "POISE_PT_posing"

    def draw(self, context):
        layout = self.layout
        settings = settings_of(context).pose_timing
        item = _list(
            layout, "POISE_UL_names", settings, "overlaps", "overlap_index", "poise.overlap_add",
            "poise.overlap_remove",
        )
        layout.use_property_split = True
        if item is not None:
            layout.prop(item, "settle")
            layout.prop(item, "ratio")


class DisturbancesPanel(MotionPanel):
    """Mixin: what disturbs a motion; its panels stand under those of the motions."""

    bl_label = "Disturbances"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = self.layout
        settings = settings_of(context).pose_timing
        item = _list(
            layout, "POISE_UL_names", settings, "disturbances", "disturbance_index",
            "poise.disturbance_add", "poise.disturbance_remove", many="kind",
        )
        layout.use_property_split = True
        if item is None:
            return
        for name in DISTURBING[item.kind]:
            layout.prop(item, name)


class POISE_PT_posing_disturbances(DisturbancesPanel, bpy.types.Panel):
    bl_parent_id = "POISE_PT_posing"


class POISE_PT_posing_bones(MotionPanel, bpy.types.Panel):
    bl_label = "Bones"
    bl_parent_id = "POISE_PT_posing"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = self.layout
        settings = settings_of(context).pose_timing
        item = _list(
            layout, "POISE_UL_names", settings, "bones", "bone_index", "poise.bone_setting_add",
            "poise.bone_setting_remove",
        )
        layout.use_property_split = True
        if item is not None:
            for name in ("blend", "mass", "thickness"):
                layout.prop(item, name)


CLASSES = (
    POISE_UL_targets,
    POISE_UL_names,
    POISE_PT_posing,
    POISE_PT_posing_joints,
    POISE_PT_posing_overlap,
    POISE_PT_posing_disturbances,
    POISE_PT_posing_bones,
)
