# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab that holds Poise's panels."""

from __future__ import annotations

import bpy

DEFAULT = "Poise"

PANELS: list[type] = []
"""What the tab holds: whoever registers the panels says so."""


def move_panels(name: str) -> None:
    """Show every Poise panel under another tab.

    Args:
        name: the tab's name; an empty one means "Poise".
    """
    for cls in reversed(PANELS):
        bpy.utils.unregister_class(cls)
    for cls in PANELS:
        if hasattr(cls, "bl_category"):
            cls.bl_category = name.strip() or DEFAULT
        bpy.utils.register_class(cls)


def forget_name() -> None:
    """The next time, panels start from the default again."""
    for cls in PANELS:
        if hasattr(cls, "bl_category"):
            cls.bl_category = DEFAULT
