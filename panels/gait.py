# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels: legged motion."""

import bpy
from bl_ui.utils import PresetPanel

from ..addon import motions
from ..addon.families.gait import view as gait_view
from ..addon.scene.figures import legs_of
from ..addon.settings.gait import GAITS, gaits_for
from ..addon.show import preview
from ..addon.texts import tr
from ..addon.ui import presets
from ..solvers.legged.gait import spoken_leg
from .base import MotionPanel, SettingsPanel, active, settings_of
from .motion import draw_summary


class POISE_UL_gaits(bpy.types.UIList):
    def draw_item(
        self, context, layout, data, item, icon, active_data, active_property, index, flt_flag
    ):
        row = layout.split(factor=0.66, align=True)
        row.use_property_split = False
        row.prop(item, "name", text="", emboss=False)
        if index == 0:
            row.label(text="at start")
        elif item.start_by == "TIME":
            row.prop(item, "start", text="", emboss=False)
        else:
            row.prop(item, "distance", text="", emboss=False)


class POISE_UL_speeds(bpy.types.UIList):
    def draw_item(
        self, context, layout, data, item, icon, active_data, active_property, index, flt_flag
    ):
        row = layout.row(align=True)
        row.use_property_split = False
        row.prop(item, "distance", text="", emboss=False)
        row.prop(item, "speed", text="", emboss=False)


class POISE_MT_gait_add(bpy.types.Menu):
    """The gaits that the active character's legs can do."""

    bl_idname = "POISE_MT_gait_add"
    bl_label = "Add Gait"

    def draw(self, context):
        # A menu can be asked for where its panel is not shown.
        motion = motions.active_motion(motions.active_character(context))
        for name in gaits_for(len(legs_of(motion))):
            self.layout.operator("poise.gait_add", text=tr(GAITS[name][0])).preset = name


class POISE_MT_gait_choose(bpy.types.Menu):
    """Another gait that the active character's legs can do, for the chosen one."""

    bl_idname = "POISE_MT_gait_choose"
    bl_label = "Gait"

    def draw(self, context):
        motion = motions.active_motion(motions.active_character(context))
        gait = None if motion is None else motion.poise_motion.gait
        if gait is not None and gait.sequence_index < len(gait.sequence):
            for name in gaits_for(len(legs_of(motion))):
                self.layout.prop_enum(gait.sequence[gait.sequence_index], "gait", name)


class POISE_PT_gait_presets(PresetPanel, bpy.types.Panel):
    bl_label = "Gait Presets"
    preset_operator = "poise.preset_apply"
    preset_add_operator = "poise.gait_preset_add"

    @property
    def preset_subdir(self):
        motion = motions.active_motion(motions.active_character(bpy.context))
        return presets.gait_subdir(len(legs_of(motion)))


class POISE_PT_gait(MotionPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_gait"
    bl_label = "Gait"
    bl_order = 3

    @classmethod
    def poll(cls, context):
        return super().poll(context) and settings_of(context).kind == "GAIT"

    def draw_header_preset(self, context):
        MotionPanel.draw_header_preset(self, context)
        POISE_PT_gait_presets.draw_panel_header(self.layout)

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        _character, motion = active(context)
        gait = motion.poise_motion.gait
        layout.prop(gait, "path")
        layout.prop(gait, "terrain")
        layout.prop(gait, "speed_by")
        if gait.speed_by == "TIME":
            layout.prop(gait, "speed", text=" ")
        else:
            row = layout.row()
            row.template_list(
                "POISE_UL_speeds", "", gait, "speed_points", gait, "speed_points_index", rows=2
            )
            column = row.column(align=True)
            column.operator("poise.gait_speed_add", text="", icon="ADD")
            column.operator("poise.gait_speed_remove", text="", icon="REMOVE")
        layout.prop(gait, "mode")
        if gait.mode == "AUTOMATIC":
            layout.prop(gait, "hysteresis")
        else:
            row = layout.row()
            row.template_list(
                "POISE_UL_gaits", "", gait, "sequence", gait, "sequence_index", rows=3
            )
            column = row.column(align=True)
            column.menu("POISE_MT_gait_add", text="", icon="ADD")
            column.operator("poise.gait_remove", text="", icon="REMOVE")
            if len(gait.sequence) > 1:
                column.operator("poise.gait_move", text="", icon="TRIA_UP").direction = -1
                column.operator("poise.gait_move", text="", icon="TRIA_DOWN").direction = 1
            column.operator("poise.gait_mirror", text="", icon="MOD_MIRROR")
        draw_summary(layout, preview.status(motion), context.region.width)


class _GaitPart(SettingsPanel):
    bl_parent_id = "POISE_PT_gait"
    bl_options = {"DEFAULT_CLOSED"}
    group = "gait"

    @classmethod
    def poll(cls, context):
        return POISE_PT_gait.poll(context)


class POISE_PT_gait_item(_GaitPart, bpy.types.Panel):
    bl_label = "Chosen Gait"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        gait = settings_of(context).gait
        return gait.mode == "SEQUENCE" and gait.sequence_index < len(gait.sequence)

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        _character, motion = active(context)
        gait = motion.poise_motion.gait
        item = gait.sequence[gait.sequence_index]
        layout.menu("POISE_MT_gait_choose", text=GAITS[item.gait][0])
        usual = gait_view.usual_speeds(preview.status(motion).solved, item.gait)
        if usual:
            row = layout.split(factor=0.4)
            row.alignment = "RIGHT"
            row.label(text="Usual Speed")
            row.label(text=tr(usual))
        if gait.sequence_index:
            layout.prop(item, "start_by")
            layout.prop(item, "start" if item.start_by == "TIME" else "distance")
        layout.prop(item, "stride_by")
        if item.stride_by != "GAIT":
            layout.prop(item, "stroke" if item.stride_by == "STROKE" else "period")
        column = layout.column()
        for name in ("bounce", "lift", "kick", "snap", "width", "strike", "push"):
            column.prop(item, name)
        layout.prop(item, "swing")
        layout.prop(item, "own_timing")
        if item.own_timing:
            self._draw_timing(layout.column(align=True), item.legs)

    def _draw_timing(self, column, legs):
        column.use_property_split = False
        row = column.row(align=True)
        for title in ("", "Duty Factor", "Phase"):
            row.label(text=title)
        for leg in legs:
            row = column.row(align=True)
            row.label(text=tr(spoken_leg(leg.name).capitalize()))
            row.prop(leg, "duty", text="", slider=True)
            row.prop(leg, "phase", text="", slider=True)


class POISE_PT_gait_cycle(_GaitPart, bpy.types.Panel):
    bl_label = "Cycle"

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        gait = settings_of(context).gait
        layout.operator("poise.gait_cycle", icon="FILE_REFRESH")
        layout.prop(gait, "cycle")
        layout.prop(gait, "in_place")
        layout.prop(gait, "start_phase")


class POISE_PT_gait_balance(_GaitPart, bpy.types.Panel):
    bl_label = "Balance"
    names = ("bank", "bank_limit", "impulse", "response")


class POISE_PT_gait_footholds(_GaitPart, bpy.types.Panel):
    bl_label = "Footholds"
    names = (
        "step_height", "search", "steepest", "clearance", "reach", "crouch", "stairs",
        "round_to_frames",
    )


CLASSES = (
    POISE_UL_gaits,
    POISE_UL_speeds,
    POISE_MT_gait_add,
    POISE_MT_gait_choose,
    POISE_PT_gait_presets,
    POISE_PT_gait,
    POISE_PT_gait_item,
    POISE_PT_gait_cycle,
    POISE_PT_gait_balance,
    POISE_PT_gait_footholds,
)
