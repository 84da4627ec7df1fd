# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels: the character's motions, and the settings of the active one."""

import bpy
from bl_ui.utils import PresetPanel

from ..addon import families, motions
from ..addon.mapping.registry import MAPPINGS
from ..addon.rigs import characters
from ..addon.rigs.actor import Actor
from ..addon.scene.timing import past_the_end
from ..addon.show import preview
from ..addon.texts import tr
from .base import (
    ICONS,
    MotionPanel,
    SettingsPanel,
    SidebarPanel,
    active,
    draw_settings,
    draw_table,
    settings_of,
    wrapped,
)


class POISE_MT_motion_add(bpy.types.Menu):
    bl_idname = "POISE_MT_motion_add"
    bl_label = "Add Motion"

    @classmethod
    def poll(cls, context):
        return motions.active_character(context) is not None

    def draw(self, context):
        for kind in families.kinds_for(Actor.of(motions.active_character(context))):
            label = tr(families.label(kind))
            self.layout.operator("poise.motion_add", text=label).kind = kind


class POISE_PT_motion(SidebarPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_motion"
    bl_label = "Motion"
    bl_order = 1

    @classmethod
    def poll(cls, context):
        character = motions.active_character(context)
        return character is not None and bool(families.kinds_for(Actor.of(character)))

    def draw(self, context):
        layout = self.layout
        character = motions.active_character(context)
        found = motions.motions_of(character)
        if not found:
            layout.label(text="The character has no motion yet", icon="INFO")
        current = motions.active_motion(character)
        row = layout.row()
        column = row.column(align=True)
        for motion in found:
            line = column.row(align=True)
            line.operator(
                "poise.motion_activate",
                text=motion.name,
                translate=False,
                icon="RADIOBUT_ON" if motion == current else "RADIOBUT_OFF",
                depress=motion == current,
            ).name = motion.name
        column = row.column(align=True)
        able = families.kinds_for(Actor.of(character))
        if len(able) > 1:
            column.menu("POISE_MT_motion_add", text="", icon="ADD")
        else:
            column.operator("poise.motion_add", text="", icon="ADD")
        column.operator("poise.motion_remove", text="", icon="REMOVE")
        if len(found) > 1:
            column.operator("poise.motion_move", text="", icon="TRIA_UP").direction = -1
            column.operator("poise.motion_move", text="", icon="TRIA_DOWN").direction = 1
        if current is None:
            return
        settings = current.poise_motion
        if len(able) > 1 or settings.kind not in able:
            # Two beside each other: of more, the sidebar cuts the names.
            column = layout.column(align=True)
            for place, kind in enumerate(able):
                row = column.row(align=True) if place % 2 == 0 else row
                row.prop_enum(settings, "kind", kind)
        row = layout.row(align=True)
        row.prop(settings, "show_preview", icon="HIDE_OFF")
        row.operator("poise.motion_select", text="", icon="RESTRICT_SELECT_OFF")
        row.operator("poise.motion_view", text="", icon="VIEWZOOM")
        row.operator("poise.settings_copy", text="", icon="COPYDOWN")


class POISE_PT_range(MotionPanel, bpy.types.Panel):
    bl_label = "Range"
    bl_parent_id = "POISE_PT_motion"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        settings = settings_of(context)
        layout.prop(settings, "range_mode")
        if settings.range_mode == "OWN":
            column = layout.column(align=True)
            column.prop(settings, "frame_start")
            # A motion along a path ends where the path does.
            end = layout.column(align=True)
            end.active = settings.kind != "PATH"
            end.prop(settings, "frame_end")
            end.prop(settings, "duration")
        layout.prop(settings, "base")
        column = layout.column()
        column.active = settings.base is None
        column.prop(settings, "after")
        if settings.kind == "TURNS":
            layout.prop(settings, "mirror")


class POISE_PT_turns_presets(PresetPanel, bpy.types.Panel):
    bl_label = "Turn Presets"
    preset_operator = "poise.preset_apply"
    preset_add_operator = "poise.preset_add"

    @property
    def preset_subdir(self):
        from ..addon.ui import presets

        return presets.subdir(motions.active_character(bpy.context))


class POISE_PT_turns(MotionPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_turns"
    bl_label = "Turns"
    bl_order = 3

    @classmethod
    def poll(cls, context):
        return super().poll(context) and settings_of(context).kind == "TURNS"

    def draw_header_preset(self, context):
        MotionPanel.draw_header_preset(self, context)
        POISE_PT_turns_presets.draw_panel_header(self.layout)

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        character, motion = active(context)
        turns = motion.poise_motion.turns
        layout.prop(turns, "speed_mode")
        layout.prop(turns, "speed")
        layout.prop(turns, "frequency")
        layout.prop(turns, "sharpness")
        layout.prop(turns, "heading")
        layout.prop(turns, "start_phase")
        draw_summary(layout, preview.status(motion), context.region.width)


def draw_summary(layout, status, width):
    """Draw what a motion is like, and the first of its problems."""
    box = layout.box()
    if status.error:
        wrapped(box, status.error, width, "ERROR")
        return
    summary = status.summary
    if summary is None:
        box.label(text="Solving…", icon="SORTTIME")
        return
    draw_table(box, summary, width)
    late = past_the_end(bpy.context.scene, status.solved.job.end_frame)
    if late:
        wrapped(box, late, width, "ERROR")
        box.operator("poise.scene_range_set", icon="TIME")
    # The first line of the list, which has what would help; notes wait there.
    first = next((line for line in status.problems if line.severity in ICONS), None)
    if first is not None:
        wrapped(box, first.message, width, ICONS[first.severity])


class POISE_PT_slope(MotionPanel, bpy.types.Panel):
    bl_label = "Slope"
    bl_parent_id = "POISE_PT_turns"

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        turns = settings_of(context).turns
        layout.prop(turns, "slope")
        layout.prop(turns, "slope_direction")
        column = layout.column()
        column.active = turns.speed_mode == "SLOPE"
        column.prop(turns, "friction")
        column.prop(turns, "drag_area")
        layout.operator("poise.slope_add", icon="MESH_GRID")


class POISE_PT_limits(SettingsPanel, bpy.types.Panel):
    bl_label = "Limits"
    bl_parent_id = "POISE_PT_turns"
    bl_options = {"DEFAULT_CLOSED"}
    group = "turns"
    names = ("max_curvature", "max_curvature_rate", "fall_angle")


class POISE_PT_pendulum(MotionPanel, bpy.types.Panel):
    bl_label = "Mass and Inertia"
    bl_parent_id = "POISE_PT_turns"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        turns = settings_of(context).turns
        layout.prop(turns, "auto_body")
        column = layout.column()
        column.active = not turns.auto_body
        column.prop(turns, "mass")
        column.prop(turns, "height")
        column.prop(turns, "inertia")


class POISE_PT_irregularity(MotionPanel, bpy.types.Panel):
    bl_label = "Irregularity"
    bl_parent_id = "POISE_PT_turns"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        turns = settings_of(context).turns
        layout.prop(turns, "irregularity")
        layout.prop(turns, "irregularity_seed")


def _body(character):
    """What moves as a body that has a style, be it a character or a mechanical figure."""
    return character.poise.kind or character.poise.machine


class POISE_PT_style(MotionPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_style"
    bl_label = "Body"
    bl_order = 4
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return super().poll(context) and _body(active(context)[0]) in MAPPINGS

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        character, motion = active(context)
        style = getattr(motion.poise_motion, MAPPINGS[_body(character)].group)
        groups = [style]
        if characters.has_gaze(character):
            groups.append(motion.poise_motion.eyes)
        for group in groups:
            for title, names in group.SECTIONS:
                header, body = layout.panel(f"poise_{title}", default_closed=True)
                header.label(text=tr(title), translate=False)
                if body is not None:
                    draw_settings(body, group, names)


CLASSES = (
    POISE_MT_motion_add,
    POISE_PT_motion,
    POISE_PT_range,
    POISE_PT_turns_presets,
    POISE_PT_turns,
    POISE_PT_slope,
    POISE_PT_limits,
    POISE_PT_pendulum,
    POISE_PT_irregularity,
    POISE_PT_style,
)
