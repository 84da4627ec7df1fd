# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels: edited footprints and the gait diagram."""

import bpy

from ..addon.settings.footprints import NEVER
from ..addon.shots import footprints
from ..addon.texts import tr
from ..solvers.legged.gait import spoken_leg
from .base import MotionPanel, active, settings_of
from .gait import POISE_PT_gait


class POISE_UL_footprints(bpy.types.UIList):
    def draw_item(
        self, context, layout, data, item, icon, active_data, active_property, index, flt_flag
    ):
        row = layout.row(align=True)
        leg = spoken_leg(item.leg).capitalize()
        row.label(text=tr(f"{leg}, step {item.index}"), icon="MOD_DYNAMICPAINT")
        side = row.row(align=True)
        side.alignment = "RIGHT"
        if item.has_location:
            side.label(text="", icon="CON_LOCLIKE")
        if item.has_yaw or item.has_normal:
            side.label(text="", icon="CON_ROTLIKE")
        if item.has_on or item.has_off:
            side.label(text="", icon="TIME")


class POISE_PT_footprints(MotionPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_footprints"
    bl_label = "Footprints"
    bl_order = 4
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return POISE_PT_gait.poll(context)

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        _character, motion = active(context)
        gait = motion.poise_motion.gait
        shown = gait.footprint_collection is not None
        row = layout.row(align=True)
        row.operator("poise.footprints_edit", icon="MOD_DYNAMICPAINT")
        if shown:
            row.operator("poise.footprints_remove", text="", icon="X")
            row = layout.row()
            row.scale_y = 1.3
            row.operator("poise.footprints_adapt", icon="FILE_REFRESH")
        column = layout.column(heading="Keep")
        column.prop(gait, "keep_body", text="Body")
        column.prop(gait, "keep_timing", text="Timing")
        column.prop(gait, "keep_legs", text="Other Legs")
        chosen = context.view_layer.objects.active
        if chosen in footprints.objects_of(motion):
            column = layout.column(align=True)
            info = chosen.poise_footprint
            for name, always in (("on", "Stands from the start"), ("off", "Stands for good")):
                if abs(getattr(info, f"given_{name}")) < NEVER:
                    column.prop(info, name)
                else:
                    column.label(text=always)
            row = layout.row()
            row.use_property_split = False  # beside a value its name would be cut
            row.prop(chosen, "lock_location", index=2, text="Keep on Ground")
        if shown:
            layout.operator_menu_enum("poise.footprints_select", "which")
        if len(gait.footprints):
            row = layout.row()
            row.template_list(
                "POISE_UL_footprints", "", gait, "footprints", gait, "footprints_index", rows=3
            )
            column = row.column(align=True)
            column.operator("poise.footprints_reset", text="", icon="REMOVE").which = "LISTED"
            layout.operator_menu_enum("poise.footprints_reset", "which")


class POISE_PT_footprint_runs(MotionPanel, bpy.types.Panel):
    bl_parent_id = "POISE_PT_footprints"
    bl_label = "Selected Footprints"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        if not POISE_PT_gait.poll(context):
            return False
        return settings_of(context).gait.footprint_collection is not None

    def draw(self, context):
        _character, motion = active(context)
        layout = self.layout
        chosen = set(context.view_layer.objects.selected)
        count = sum(obj in chosen for obj in footprints.objects_of(motion))
        layout.label(text=tr(f"{count} selected"))
        column = layout.column(align=True)
        for name in ("bend", "scale", "retime", "mirror"):
            column.operator(f"poise.footprints_{name}")
        row = layout.row(align=True)
        row.operator("poise.footprints_copy", text="Copy", icon="COPYDOWN")
        row.operator("poise.footprints_paste", text="Paste", icon="PASTEDOWN")


class POISE_PT_gait_diagram(MotionPanel, bpy.types.Panel):
    bl_parent_id = "POISE_PT_gait"
    bl_label = "Gait Diagram"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return POISE_PT_gait.poll(context)

    def draw_header(self, context):
        self.layout.prop(settings_of(context).gait, "show_diagram", text="")

    def draw(self, context):
        layout = self.layout
        gait = settings_of(context).gait
        column = layout.column()
        column.active = gait.show_diagram and gait.mode == "SEQUENCE"
        column.operator("poise.gait_drag", icon="ARROW_LEFTRIGHT")
        layout.operator("poise.diagram_save", icon="FILE_IMAGE").kind = "GAIT"


CLASSES = (POISE_UL_footprints, POISE_PT_gait_diagram, POISE_PT_footprints, POISE_PT_footprint_runs)
