# SPDX-License-Identifier: GPL-3.0-or-later
"""Add-on preferences: how Poise presents itself, never what a motion is."""

import bpy

from . import tabs

PACKAGE = __package__.removesuffix(".addon.ui")


def _tab_changed(self, context):
    tabs.move_panels(self.tab_name)


class PoisePreferences(bpy.types.AddonPreferences):
    bl_idname = PACKAGE

    tab_name: bpy.props.StringProperty(
        name="Sidebar Tab",
        description="Name of the tab in the 3D viewport's sidebar that holds Poise's panels",
        default="Poise",
        update=_tab_changed,
    )
    preview_delay: bpy.props.FloatProperty(
        name="Preview Delay",
        description="How long to wait after a change before the preview is solved again",
        default=0.05,
        min=0.0,
        soft_max=1.0,
        unit="TIME_ABSOLUTE",
    )
    show_numbers: bpy.props.BoolProperty(
        name="Numbers in the Viewport",
        description="Write phase, lean, force and speed at the current frame in the viewport's "
        "corner, with the phase diagram",
        default=True,
    )
    ghost_colour: bpy.props.FloatVectorProperty(
        name="Ghost",
        description="Colour of the ghost figure in the viewport",
        subtype="COLOR",
        size=4,
        min=0.0,
        max=1.0,
        default=(0.25, 0.75, 1.0, 0.8),
    )
    track_colour: bpy.props.FloatVectorProperty(
        name="Track",
        description="Colour of the track in the viewport where nothing clips it",
        subtype="COLOR",
        size=4,
        min=0.0,
        max=1.0,
        default=(1.0, 0.85, 0.2, 1.0),
    )
    warning_colour: bpy.props.FloatVectorProperty(
        name="Clipped Track",
        description="Colour of the track where a limit clips the motion",
        subtype="COLOR",
        size=4,
        min=0.0,
        max=1.0,
        default=(1.0, 0.25, 0.1, 1.0),
    )

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "tab_name")
        layout.prop(self, "show_numbers")
        layout.prop(self, "preview_delay")
        column = layout.column(align=True)
        column.prop(self, "track_colour")
        column.prop(self, "warning_colour")
        column.prop(self, "ghost_colour")
        layout.operator("poise.manual_open", icon="HELP")


def get(context) -> PoisePreferences | None:
    """The preferences, or None where Poise is loaded without being enabled (tests).

    Args:
        context: Blender's context.
    """
    addon = context.preferences.addons.get(PACKAGE)
    return addon.preferences if addon else None


def register() -> None:
    """Put the panels under the tab that the preferences name."""
    settings = get(bpy.context)
    if settings is not None and settings.tab_name not in ("", tabs.DEFAULT):
        tabs.move_panels(settings.tab_name)


def unregister() -> None:
    """The next time, panels start from the default again."""
    tabs.forget_name()


CLASSES = (PoisePreferences,)
