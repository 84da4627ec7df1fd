# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's handlers: a few lines each, all of them for the preview.

None is needed to render: they only mark caches stale, and do nothing at all
in the background.
"""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

from . import preview


@persistent
def poise_load_post(*_arguments) -> None:
    """Another file: nothing that was cached is of it."""
    preview.reset()


@persistent
def poise_depsgraph_update_post(_scene, depsgraph) -> None:
    """Something was changed and evaluated: a setting, a key, the scene."""
    preview.on_depsgraph_update(depsgraph)


@persistent
def poise_undo_post(*_arguments) -> None:
    """Undo or redo replaced any of the data."""
    preview.on_undo()


_HANDLERS = (
    ("load_post", poise_load_post),
    ("depsgraph_update_post", poise_depsgraph_update_post),
    ("undo_post", poise_undo_post),
    ("redo_post", poise_undo_post),
)


def register() -> None:
    """Hook into Blender; handlers that an earlier run left behind are replaced."""
    unregister()
    for name, function in _HANDLERS:
        getattr(bpy.app.handlers, name).append(function)


def unregister() -> None:
    """Unhook everything, and forget what is cached."""
    for name, function in _HANDLERS:
        handlers = getattr(bpy.app.handlers, name)
        for handler in list(handlers):
            # By name: after scripts were reloaded the function is another one.
            if getattr(handler, "__name__", "") == function.__name__:
                handlers.remove(handler)
    preview.reset()
