# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels of free-form motion."""

import bpy

from ..addon.families.freeform.limb import limbs_in
from ..addon.rigs.actor import Actor
from ..addon.show import preview
from ..addon.texts import tr
from ..solvers.legged.gait import spoken_leg
from .base import MotionPanel, active, draw_table, settings_of
from .motion import draw_summary


class POISE_UL_postures(bpy.types.UIList):
    """Postures: name, who bears the body, frame."""

    def draw_item(
        self, context, layout, data, item, icon, active_data, active_property, index, flt_flag
    ):
        row = layout.row(align=True)
        flies = not data.limb and not item.standing
        icon = "SORT_DESC" if flies else "ARMATURE_DATA"
        row.prop(item, "name", text="", emboss=False, icon=icon)
        if data.timing == "FRAMES":
            row.prop(item, "frame", text="")


class POISE_PT_freeform(MotionPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_freeform"
    bl_label = "Free-form"
    bl_order = 3

    @classmethod
    def poll(cls, context):
        return super().poll(context) and settings_of(context).kind == "FREEFORM"

    def draw(self, context):
        layout = self.layout
        _character, motion = active(context)
        settings = motion.poise_motion.freeform
        whose = spoken_leg(settings.limb).capitalize() if settings.limb else "Whole Body"
        layout.menu("POISE_MT_posture_limb", text=tr(whose))
        row = layout.row()
        row.template_list(
            "POISE_UL_postures", "postures", settings, "postures", settings, "posture_index", rows=5
        )
        column = row.column(align=True)
        column.operator("poise.posture_add", text="", icon="ADD")
        column.operator("poise.posture_remove", text="", icon="REMOVE")
        column.separator()
        column.operator("poise.posture_move", text="", icon="TRIA_UP").direction = -1
        column.operator("poise.posture_move", text="", icon="TRIA_DOWN").direction = 1
        column.separator()
        column.operator("poise.posture_duplicate", text="", icon="DUPLICATE")
        column.operator("poise.posture_mirror", text="", icon="MOD_MIRROR")
        column.menu("POISE_MT_postures", text="", icon="DOWNARROW_HLT")
        index = settings.posture_index
        if 0 <= index < len(settings.postures):
            self._posture(layout, settings.postures[index], settings.limb)
        layout.use_property_split = True
        if not settings.limb:
            layout.prop(settings, "terrain")
        else:
            for name in ("end_path", "blend_in", "blend_out"):
                layout.prop(settings, name)
        draw_summary(layout, preview.status(motion), context.region.width)

    def _posture(self, layout, item, limb):
        row = layout.row(align=True)
        row.operator("poise.posture_pose", icon="POSE_HLT")
        row.operator("poise.posture_replace", text="Replace", icon="IMPORT")
        row.operator("poise.posture_update", text="", icon="FILE_REFRESH")
        if limb:
            return
        flow = layout.grid_flow(columns=2, even_columns=True, align=True)
        for support in item.supports:
            flow.prop(support, "bears", text=tr(spoken_leg(support.name).capitalize()), toggle=True)
        if not item.standing:
            layout.label(text="In the air", icon="SORT_DESC")
        layout.use_property_split = True
        layout.prop(item, "turns")


class POISE_MT_posture_limb(bpy.types.Menu):
    """Whose postures these are."""

    bl_idname = "POISE_MT_posture_limb"
    bl_label = "Limb"

    @classmethod
    def poll(cls, context):
        return active(context) is not None and settings_of(context).kind == "FREEFORM"

    def draw(self, context):
        character, motion = active(context)
        self.layout.operator("poise.posture_limb", text="Whole Body").limb = ""
        for name in limbs_in(motion, Actor.of(character).joints):
            text = tr(spoken_leg(name).capitalize())
            self.layout.operator("poise.posture_limb", text=text).limb = name


class POISE_MT_postures(bpy.types.Menu):
    """Take postures from elsewhere, and save and load the list."""

    bl_idname = "POISE_MT_postures"
    bl_label = "Postures"

    def draw(self, context):
        asset = self.layout.operator(
            "poise.posture_add", text="Add from Pose Asset", icon="ASSET_MANAGER"
        )
        asset.source = "ASSET"
        self.layout.separator()
        self.layout.operator("poise.postures_import", icon="IMPORT")
        self.layout.operator("poise.postures_export", icon="EXPORT")


class POISE_PT_freeform_clip(MotionPanel, bpy.types.Panel):
    bl_label = "From a Clip"
    bl_parent_id = "POISE_PT_freeform"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return super().poll(context) and not settings_of(context).freeform.limb

    def draw(self, context):
        layout = self.layout
        layout.operator("poise.postures_from_action", icon="ACTION")
        lost = settings_of(context).freeform.lost
        if lost:
            rows = [line.partition(": ")[::2] for line in lost.splitlines()]
            draw_table(layout.box(), rows, context.region.width)


class POISE_PT_freeform_speed(MotionPanel, bpy.types.Panel):
    bl_label = "Speed"
    bl_parent_id = "POISE_PT_freeform"

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        settings = settings_of(context).freeform
        layout.prop(settings, "timing")
        if settings.timing == "FRAMES":
            if not settings.limb:
                layout.prop(settings, "end_speed")
            return
        layout.prop(settings, "pace")
        if settings.pace == "CURVE":
            layout.prop(settings, "distance")
            layout.prop(settings, "show_lines")
            layout.operator_menu_enum("poise.pace_edit", "preset", text="Begin Curve As")
        layout.operator("poise.pace_edit", icon="GRAPH")


CLASSES = (
    POISE_UL_postures,
    POISE_MT_posture_limb,
    POISE_MT_postures,
    POISE_PT_freeform,
    POISE_PT_freeform_speed,
    POISE_PT_freeform_clip,
)
