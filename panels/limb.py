# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel for posing limbs."""

import bpy

from .base import SidebarPanel


class POISE_PT_limb(SidebarPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_limb"
    bl_label = "Pose Limb"
    bl_order = 9

    @classmethod
    def poll(cls, context):
        return context.mode == "POSE"

    def draw(self, context):
        column = self.layout.column(align=True)
        for mode, label, icon in (
            ("MOVE", "Move End", "EMPTY_ARROWS"),
            ("TURN", "Turn Joint", "DRIVER_ROTATIONAL_DIFFERENCE"),
            ("ANCHOR", "Swing Anchored", "CON_KINEMATIC"),
        ):
            column.operator("poise.limb_pose", text=label, icon=icon).mode = mode


CLASSES = (POISE_PT_limb,)
