# SPDX-License-Identifier: GPL-3.0-or-later
"""One ordered list of everything Poise registers; taking it down runs backwards.

A failure half-way takes down what was already up and is raised again, so that
Blender shows it: nothing is swallowed.
"""

from __future__ import annotations

import bpy

from .. import operators, panels
from . import handlers, menus, overlay, preferences, presets, properties

# Classes first (properties before what draws them), then the parts that hook
# into Blender. Each part has register() and unregister().
CLASSES: tuple[type, ...] = (
    *preferences.CLASSES,
    *properties.CLASSES,
    *operators.CLASSES,
    *panels.CLASSES,
)
PARTS = (properties, presets, menus, handlers, overlay)

_done: list = []


def register() -> None:
    """Register classes, then parts, in order; roll back and raise on failure."""
    if _done:
        return
    try:
        for cls in CLASSES:
            bpy.utils.register_class(cls)
            _done.append(lambda cls=cls: bpy.utils.unregister_class(cls))
        for part in PARTS:
            part.register()
            _done.append(part.unregister)
    except Exception:
        unregister()
        raise


def unregister() -> None:
    """Take down whatever is up, last first."""
    while _done:
        _done.pop()()
