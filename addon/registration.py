# SPDX-License-Identifier: GPL-3.0-or-later
"""One ordered list of everything Poise registers; taking it down runs backwards.

A failure half-way takes down what was already up and is raised again, so that
Blender shows it: nothing is swallowed.
"""

from __future__ import annotations

import bpy

from .. import operators, panels
from . import settings, texts
from .show import graph, handlers, handles, overlay, preview
from .ui import manual, menus, preferences, presets, tabs

# Classes first (settings before what draws them), then the parts that hook
# into Blender. Each part has register() and unregister().
CLASSES: tuple[type, ...] = (
    *preferences.CLASSES,
    *settings.CLASSES,
    *operators.CLASSES,
    *panels.CLASSES,
    *handles.CLASSES,
)
PARTS = (settings, texts, presets, preferences, menus, manual, handlers, overlay, graph)

# Called like this, an operator does not become the one that Adjust Last Operation repeats.
preview.bake = lambda: bpy.ops.poise.bake()
preview.adapt = lambda: bpy.ops.poise.footprints_adapt()
tabs.PANELS[:] = [cls for cls in panels.CLASSES if issubclass(cls, bpy.types.Panel)]
manual.CLASSES[:] = CLASSES

_done: list = []


def register() -> None:
    """Register classes, then parts, in order; roll back and raise on failure.

    Raises:
        RuntimeError: another copy of Poise is enabled; it keeps working.
    """
    if _done:
        return
    if hasattr(bpy.types.Object, "poise_motion"):
        raise RuntimeError("Another copy of Poise is enabled: disable it, then enable this one")
    texts.in_context(*CLASSES, *menus.CLASSES)
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
    """Take down whatever is up, last first; what fails does not keep the rest up.

    Raises:
        Exception: the first failure, after everything else is down.
    """
    failures: list[Exception] = []
    while _done:
        try:
            _done.pop()()
        except Exception as error:
            failures.append(error)
    if failures:
        raise failures[0]
