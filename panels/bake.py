# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels: bake, problems, render."""

import json
from math import degrees

import bpy

from ..addon import motions
from ..addon.rigs.controls import control_rig
from ..addon.show import preview
from ..operators.problems import ALTERNATIVES
from .base import MotionPanel, active, settings_of, wrapped


class POISE_PT_bake(MotionPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_bake"
    bl_label = "Bake"
    bl_order = 2

    def draw(self, context):
        layout = self.layout
        character, motion = active(context)
        settings = motion.poise_motion
        row = layout.row(align=True)
        row.scale_y = 1.4
        driven = control_rig.rig_of(character) is not None
        row.operator(
            "poise.bake", icon="ACTION",
            text="Bake to Poise's Controls" if driven else "Bake to Rig",
        )
        if settings.record or settings.bones.record:
            row.operator("poise.bake_clear", text="", icon="X")
        if driven:
            layout.operator(
                "poise.bake_to_bones", text=control_rig.baking_label(character),
                icon="ARMATURE_DATA",
            )
            column = layout.column()
            column.use_property_split = True
            column.prop(settings, "root_motion")
        if len(motions.motions_of(character)) > 1:
            layout.operator("poise.bake_all")
        _draw_state(layout, settings)
        status = preview.status(motion)
        if status.live_error:
            wrapped(layout, status.live_error, context.region.width, "ERROR")
        changed = status.out_of_date
        if settings.record and changed:
            wrapped(
                layout,
                "Changed since the bake: " + ", ".join(changed),
                context.region.width,
                "FILE_REFRESH",
            )
        layout.prop(settings, "live_bake")


def _draw_state(layout, settings):
    """Say whether keys hold, and in which actions they are."""
    column = layout.column(align=True)
    for baked, where in ((settings, "Baked"), (settings.bones, "On bones")):
        if baked.record and baked.bake_action is not None:
            column.label(text=f"{where}: {baked.bake_action.name}", icon="CHECKMARK")
    if not (settings.record or settings.bones.record):
        column.label(text="Not baked yet", icon="DOT")


class POISE_PT_keys(MotionPanel, bpy.types.Panel):
    bl_label = "Keys"
    bl_parent_id = "POISE_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        settings = settings_of(context)
        layout.prop(settings, "key_mode")
        if settings.key_mode == "SPARSE":
            layout.prop(settings, "key_step")
        if control_rig.rig_of(settings.character) is not None:
            layout.prop(settings, "keys_between")
        layout.prop(settings, "target")
        layout.prop(settings, "push_to_nla")
        layout.prop(settings, "edited_keys")
        column = layout.column(align=True)
        column.use_property_split = False
        column.label(text="Body Parts")
        column.row(align=True).prop(settings, "body_parts")
        layout.operator("poise.bake_check")


class POISE_UL_problems(bpy.types.UIList):
    def draw_item(
        self, context, layout, data, item, icon, active_data, active_property, index, flt_flag
    ):
        row = layout.row(align=True)
        icons = {"ERROR": "CANCEL", "WARNING": "ERROR"}
        row.label(text=item.message, icon=icons.get(item.severity, "INFO"))
        if item.fix and item.code not in ALTERNATIVES:
            row.operator("poise.problem_fix", text="", icon="TOOL_SETTINGS").index = index


def _fix_text(setting: str, value: float) -> str:
    """What a button that changes one setting says."""
    group, _, name = setting.partition(".")
    if group == "gate":
        return f"Move {name} by {abs(value):.2f} m"
    return {
        "speed": f"Speed {value:.2f} m/s",
        "lean_limit": f"Lean Limit {degrees(value):.1f}°",
        "clearance": f"Clearance {value:.2f} m",
        "stages": f"{value:.0f} Stages",
    }.get(name, name)


class POISE_PT_problems(MotionPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_problems"
    bl_label = "Problems"
    bl_order = 5

    def draw_header(self, context):
        count = len(settings_of(context).problems)
        self.layout.label(text="", icon="ERROR" if count else "CHECKMARK")

    def draw(self, context):
        layout = self.layout
        settings = settings_of(context)
        if not settings.problems:
            layout.label(text="None", icon="CHECKMARK")
            return
        layout.template_list(
            "POISE_UL_problems", "", settings, "problems", settings, "problem_index", rows=3
        )
        chosen = settings.problems[min(settings.problem_index, len(settings.problems) - 1)]
        wrapped(layout, chosen.message, context.region.width, "INFO")
        if chosen.remedy:
            wrapped(layout, chosen.remedy, context.region.width, "LIGHT")
        if chosen.code in ALTERNATIVES and chosen.fix:
            column = layout.column(align=True)
            for number, (setting, value) in enumerate(json.loads(chosen.fix)):
                button = column.operator(
                    "poise.problem_fix", text=_fix_text(setting, value), icon="TOOL_SETTINGS"
                )
                button.index, button.choice = settings.problem_index, number
        if chosen.has_frame or chosen.bone:
            layout.operator("poise.problem_show", icon="VIEWZOOM")


class POISE_PT_render(MotionPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_render"
    bl_label = "Render"
    bl_order = 6

    def draw(self, context):
        layout = self.layout
        layout.operator("poise.chase_camera_add", icon="CAMERA_DATA")
        layout.operator("poise.playblast", icon="RENDER_ANIMATION")
        layout.operator("poise.trail_add", icon="MOD_DYNAMICPAINT")
        row = layout.row(align=True)
        row.operator("poise.markers_add", icon="MARKER_HLT")
        row.operator("poise.markers_clear", text="", icon="X")
        layout.operator("poise.diagram_save", icon="GRAPH")


CLASSES = (
    POISE_PT_bake,
    POISE_PT_keys,
    POISE_UL_problems,
    POISE_PT_problems,
    POISE_PT_render,
)
