# SPDX-License-Identifier: GPL-3.0-or-later
"""What every panel of Poise shares."""

from __future__ import annotations

import blf
import bpy

from ..addon import motions
from ..addon.texts import tr
from ..addon.ui import manual

SHORT = {
    "max_curvature": "Curvature",
    "max_curvature_rate": "Curvature Rate",
    "terrain_smoothing": "Smoothing",
    "unweighting_amount": "Amount",
    "angulation_limit": "Limit",
}
"""What a setting is called under a title, or a setting, that says the rest of its name."""

ICONS = {"ERROR": "CANCEL", "WARNING": "ERROR"}
"""Icon of a problem by its severity; of others it is that of a note."""

# Pixels at scale 1 that tabs, margins, a box and an icon take of a sidebar's width.
BESIDE_TEXT = 88.0
COLUMN_GAP = 8.0


class SidebarPanel:
    """Mixin: a panel in Poise's tab of the 3D viewport's sidebar."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Poise"

    def draw_header_preset(self, context):
        # Panels within one stand on its page.
        if not getattr(self, "bl_parent_id", ""):
            button = self.layout.operator("poise.manual_open", text="", icon="HELP", emboss=False)
            button.page = manual.page_of(type(self))


class MotionPanel(SidebarPanel):
    """Mixin: a panel about the active character's active motion."""

    @classmethod
    def poll(cls, context):
        return active(context) is not None


def active(context):
    """(character, Motion object) that the panels show, or None.

    Args:
        context: Blender's context.
    """
    character = motions.active_character(context)
    motion = motions.active_motion(character) if character is not None else None
    return None if motion is None else (character, motion)


def settings_of(context):
    """Settings of the active motion; only for panels whose poll has passed.

    Args:
        context: Blender's context.
    """
    return active(context)[1].poise_motion


class SettingsPanel(MotionPanel):
    """Mixin: a panel that shows settings of the active motion one under another.

    Its `group` names the settings' group, its `names` those that are shown.
    """

    group = ""
    names: tuple[str, ...] = ()

    def draw(self, context):
        self.layout.use_property_split = True
        draw_settings(self.layout, getattr(settings_of(context), self.group), self.names)


def draw_settings(layout, group, names) -> None:
    """Draw settings one under another, each called what fits beside its value.

    Args:
        layout: where to draw.
        group: their property group.
        names: which of them.
    """
    for name in names:
        label = SHORT.get(name, group.bl_rna.properties[name].name)
        layout.prop(group, name, text=tr(label), translate=False)


def wrapped(layout, text: str, width: int, icon: str = "NONE") -> None:
    """Draw a sentence over as many lines as it needs.

    Args:
        layout: where to draw.
        text: the sentence.
        width: width of the region in pixels.
        icon: icon of the first line.
    """
    column = layout.column(align=True)
    for number, line in enumerate(lines_of(tr(text), width - BESIDE_TEXT * _scale())):
        column.label(text=line, icon=icon if number == 0 else "BLANK1")


def draw_table(layout, rows, width: int) -> None:
    """Draw names and their values in two columns, values over as many lines as they need.

    Args:
        layout: a box.
        rows: (name, value) each.
        width: width of the region in pixels.
    """
    column = layout.column(align=True)
    half = 0.5 * (width - (BESIDE_TEXT - COLUMN_GAP) * _scale())
    for name, value in rows:
        for number, line in enumerate(lines_of(tr(value), half)):
            row = column.row()
            row.label(text="" if number else tr(name), translate=False)
            row.label(text=line)


def lines_of(text: str, width: float) -> list[str]:
    """A text's words in lines that are at most as wide as a width, where words allow it.

    Args:
        text: the text.
        width: in pixels, of the interface's font.
    """
    preferences = bpy.context.preferences
    blf.size(0, preferences.ui_styles[0].widget.points * _scale())
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and blf.dimensions(0, longer)[0] > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _scale() -> float:
    """Pixels of the interface for one at scale 1, which is also what holds without a window."""
    return bpy.context.preferences.system.ui_scale or 1.0
