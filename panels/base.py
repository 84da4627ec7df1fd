# SPDX-License-Identifier: GPL-3.0-or-later
"""What every panel of Poise shares."""

from __future__ import annotations

from ..addon import motions


class SidebarPanel:
    """Mixin: a panel in Poise's tab of the 3D viewport's sidebar."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Poise"


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
        settings = getattr(settings_of(context), self.group)
        for name in self.names:
            self.layout.prop(settings, name)


def wrapped(layout, text: str, width: int, icon: str = "NONE") -> None:
    """Draw a sentence over as many lines as it needs.

    Args:
        layout: where to draw.
        text: the sentence.
        width: width of the region in pixels.
        icon: icon of the first line.
    """
    import bpy

    # An interface font letter is about 6.5 pixels wide at scale 1.
    scale = bpy.context.preferences.system.ui_scale or 1.0  # none without a window
    letters = max(16, int((width - 60 * scale) / (6.5 * scale)))
    line = ""
    lines = []
    for word in text.split():
        if line and len(line) + 1 + len(word) > letters:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    lines.append(line)
    column = layout.column(align=True)
    for number, line in enumerate(lines):
        column.label(text=line, icon=icon if number == 0 else "BLANK1")
