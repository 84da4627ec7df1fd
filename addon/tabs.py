# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab that holds Poise's panels."""

from __future__ import annotations

import bpy

DEFAULT = "Poise"


def move_panels(name: str) -> None:
    """Show every Poise panel under another tab.

    Args:
        name: the tab's name; an empty one means "Poise".
    """
    from ..panels import CLASSES

    panels = [cls for cls in CLASSES if issubclass(cls, bpy.types.Panel)]
    for cls in reversed(panels):
        bpy.utils.unregister_class(cls)
    for cls in panels:
        if hasattr(cls, "bl_category"):
            cls.bl_category = name.strip() or DEFAULT
        bpy.utils.register_class(cls)


def register() -> None:
    """Put the panels under the tab that the preferences name."""
    from . import preferences

    settings = preferences.get(bpy.context)
    if settings is not None and settings.tab_name not in ("", DEFAULT):
        move_panels(settings.tab_name)


def unregister() -> None:
    """The next time, panels start from the default again."""
    from ..panels import CLASSES

    for cls in CLASSES:
        if issubclass(cls, bpy.types.Panel) and hasattr(cls, "bl_category"):
            cls.bl_category = DEFAULT
