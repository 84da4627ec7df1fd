# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels: a motion along a path."""

import bpy

from ..addon.show import preview
from .base import (
    MotionPanel,
    SettingsPanel,
    SidebarPanel,
    active,
    draw_settings,
    settings_of,
    wrapped,
)
from .motion import draw_summary


class POISE_PT_path(MotionPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_path"
    bl_label = "Path"
    bl_order = 3

    @classmethod
    def poll(cls, context):
        return super().poll(context) and settings_of(context).kind == "PATH"

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        _character, motion = active(context)
        path = motion.poise_motion.path
        layout.prop(path, "curve")
        if path.curve is not None and path.curve.type == "CURVE":
            if any(spline.use_cyclic_u for spline in path.curve.data.splines):
                layout.prop(path, "laps")
        layout.prop(path, "terrain")
        layout.prop(path, "obstacles")
        layout.prop(path, "gates")
        row = layout.row(align=True)
        row.operator("poise.gate_add", icon="ADD")
        row.operator("poise.slalom_course_add", text="Add Course")
        if path.terrain is not None:
            layout.prop(path, "speed_mode")
        layout.prop(path, "speed")
        layout.prop(path, "clearance")
        row = layout.row()
        row.scale_y = 1.4
        row.operator("poise.path_plan", icon="CURVE_PATH")
        status = preview.status(motion)
        width = context.region.width
        if status.solved is None and not status.error and status.unplanned:
            wrapped(layout.box(), "Not planned yet: click Plan", width, "INFO")
            return
        if status.unplanned:
            wrapped(layout, "Changed since it was planned", width, "FILE_REFRESH")
        draw_summary(layout, status, width)


class _PathPart(SettingsPanel):
    bl_parent_id = "POISE_PT_path"
    bl_options = {"DEFAULT_CLOSED"}
    group = "path"

    @classmethod
    def poll(cls, context):
        return POISE_PT_path.poll(context)


class POISE_PT_path_terrain(_PathPart, bpy.types.Panel):
    bl_label = "Terrain"
    made = ("friction", "drag_area", "speed_limit", "braking")

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        return settings_of(context).path.terrain is not None

    def draw(self, context):
        self.layout.use_property_split = True
        path = settings_of(context).path
        draw_settings(self.layout, path, ("terrain_smoothing",))
        column = self.layout.column()
        column.active = path.speed_mode == "TERRAIN"
        draw_settings(column, path, self.made)


class POISE_PT_path_limits(_PathPart, bpy.types.Panel):
    bl_label = "Limits"
    names = ("lean_limit", "max_curvature", "max_curvature_rate")


class POISE_PT_path_search(_PathPart, bpy.types.Panel):
    bl_label = "Search"
    names = ("stages", "stage_time", "values", "calm", "show_candidates")


class POISE_PT_gate(SidebarPanel, bpy.types.Panel):
    """The selected gate, beside the motions."""

    bl_idname = "POISE_PT_gate"
    bl_label = "Gate"
    bl_order = 4

    @classmethod
    def poll(cls, context):
        return _gate(context) is not None

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        gate = _gate(context)
        layout.prop(gate.poise_gate, "number")
        layout.prop(gate.poise_gate, "width")


def _gate(context):
    """The active gate, or the gate of the active pole."""
    layer = context.view_layer
    obj = layer.objects.active if layer is not None else None
    if obj is not None and not obj.poise_gate.is_gate:
        obj = obj.parent
    return obj if obj is not None and obj.poise_gate.is_gate else None


CLASSES = (
    POISE_PT_path, POISE_PT_path_terrain, POISE_PT_path_limits, POISE_PT_path_search,
    POISE_PT_gate,
)
