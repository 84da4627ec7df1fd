# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel: the street that a car is in."""

import bpy

from .base import MotionPanel, active, settings_of


class POISE_PT_control_street(MotionPanel, bpy.types.Panel):
    bl_label = "Street"
    bl_parent_id = "POISE_PT_control"

    @classmethod
    def poll(cls, context):
        return (
            super().poll(context) and settings_of(context).kind == "CONTROLLER"
            and active(context)[0].poise.machine == "CAR"
        )

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        settings = settings_of(context).control
        if settings.street is None:
            layout.operator("poise.street_add", icon="ADD")
        layout.prop(settings, "street")
        layout.prop(settings, "obstacles")
        layout.operator("poise.parking_place_set", icon="EMPTY_ARROWS")


CLASSES = (POISE_PT_control_street,)
