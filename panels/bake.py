# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels: bake, problems, render."""

import json
from math import degrees

import bpy

from ..addon import motions
from ..addon.rigs.controls import control_rig
from ..addon.shots import playblast
from ..addon.show import preview
from ..addon.texts import tr
from ..operators.problems import ALTERNATIVES
from .base import ICONS, MotionPanel, active, settings_of, wrapped


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
    for baked, where in ((settings, tr("Baked")), (settings.bones, tr("On bones"))):
        if baked.record and baked.bake_action is not None:
            text = f"{where}: {baked.bake_action.name}"  # the name as it is
            column.label(text=text, icon="CHECKMARK", translate=False)
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


# Lines that are shown before the others are asked for.
FIRST_LINES = 4


class POISE_PT_problems(MotionPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_problems"
    bl_label = "Problems"
    bl_order = 5

    def draw_header(self, context):
        lines = preview.problems(active(context)[1])
        told = {line.severity for line in lines}
        worst = next((icon for severity, icon in ICONS.items() if severity in told), "INFO")
        self.layout.label(text="", icon=worst if lines else "CHECKMARK")

    def draw_header_preset(self, context):
        count = len(preview.problems(active(context)[1]))
        if count:
            self.layout.label(text=str(count))
        MotionPanel.draw_header_preset(self, context)

    def draw(self, context):
        layout = self.layout
        lines = preview.problems(active(context)[1])
        if not lines:
            layout.label(text="None", icon="CHECKMARK")
            return
        for index, line in enumerate(lines):
            if index == FIRST_LINES:
                header, layout = layout.panel("poise_more_problems", default_closed=True)
                header.label(text=tr(f"{len(lines) - index} More"))
                if layout is None:
                    return
            _draw_problem(layout.box(), index, line, context.region.width)


def _draw_problem(layout, index, line, width) -> None:
    """What, where, how much; what would help; buttons that go there and do it."""
    wrapped(layout, line.message, width, ICONS.get(line.severity, "INFO"))
    if line.remedy:
        wrapped(layout, line.remedy, width, "LIGHT")
    ways = [(change,) for change in line.fix] if line.code in ALTERNATIVES else [line.fix]
    column = layout.column(align=True)
    for way in ways if line.fix else ():
        text = tr(_fix_text(*way[0])) if line.code in ALTERNATIVES else "Fix"
        button = column.operator("poise.problem_fix", text=text, icon="TOOL_SETTINGS")
        button.index, button.changes = index, json.dumps(way)
    if line.frame is not None or line.bone:
        text = "Go There" if line.frame is None else tr(f"Go to Frame {line.frame:g}")
        column.operator("poise.problem_show", text=text, icon="VIEWZOOM").index = index


class POISE_PT_render(MotionPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_render"
    bl_label = "Render"
    bl_order = 6

    def draw(self, context):
        layout = self.layout
        layout.operator("poise.chase_camera_add", icon="CAMERA_DATA")
        row = layout.row(align=True)
        row.operator("poise.playblast", icon="RENDER_ANIMATION")
        movie = playblast.movie_path(active(context)[1])
        if playblast.there(movie):
            row.operator("wm.path_open", text="", icon="PLAY").filepath = str(movie)
        layout.operator("poise.trail_add", icon="MOD_DYNAMICPAINT")
        row = layout.row(align=True)
        row.operator("poise.markers_add", icon="MARKER_HLT")
        row.operator("poise.markers_clear", text="", icon="X")
        layout.operator("poise.diagram_save", icon="GRAPH")


CLASSES = (
    POISE_PT_bake,
    POISE_PT_keys,
    POISE_PT_problems,
    POISE_PT_render,
)
