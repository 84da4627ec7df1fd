# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab that holds Poise's panels."""

from __future__ import annotations

import bpy


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
        cls.bl_category = name.strip() or "Poise"
        bpy.utils.register_class(cls)
