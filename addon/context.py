# SPDX-License-Identifier: GPL-3.0-or-later
"""Context managers that leave the animator's frame, mode and selection as they were."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import floor

import bpy


@contextmanager
def keep_frame(scene: bpy.types.Scene) -> Iterator[None]:
    """Come back to the current frame and subframe, whatever happens inside.

    Args:
        scene: the scene whose frame is changed inside.
    """
    frame = scene.frame_current_final
    try:
        yield
    finally:
        if scene.frame_current_final != frame:
            # Subframes count up from the frame before, below zero too.
            whole = floor(frame)
            scene.frame_set(whole, subframe=frame - whole)


@contextmanager
def keep_selection(context: bpy.types.Context) -> Iterator[None]:
    """Come back to the selected objects and the active one.

    Objects that were removed inside are passed over.

    Args:
        context: Blender's context; its view layer counts.
    """
    layer = context.view_layer
    # Names are shared by linked objects and their overrides.
    active = _identity(layer.objects.active)
    selected = {_identity(obj) for obj in layer.objects.selected}
    try:
        yield
    finally:
        for obj in layer.objects:
            if obj is not None:  # one that was removed since the last update
                obj.select_set(_identity(obj) in selected, view_layer=layer)
        layer.objects.active = _found(layer, active)


def _identity(obj: bpy.types.Object | None) -> int:
    return 0 if obj is None else obj.session_uid


def _found(layer: bpy.types.ViewLayer, identity: int) -> bpy.types.Object | None:
    objects = (obj for obj in layer.objects if obj is not None)
    return next((obj for obj in objects if obj.session_uid == identity), None)


@contextmanager
def object_mode(context: bpy.types.Context) -> Iterator[None]:
    """Be in object mode inside, and back in the former mode afterwards.

    Args:
        context: Blender's context; its active object counts.
    """
    active = context.view_layer.objects.active
    mode = active.mode if active is not None else "OBJECT"
    if mode == "OBJECT":
        yield
        return
    identity = _identity(active)
    bpy.ops.object.mode_set(mode="OBJECT")
    try:
        yield
    finally:
        former = _found(context.view_layer, identity)
        if former is not None:
            context.view_layer.objects.active = former
            # Blender lets a hidden object stay in a mode, but not enter it.
            hidden = former.hide_get()
            former.hide_set(False)
            if bpy.ops.object.mode_set.poll():
                bpy.ops.object.mode_set(mode=mode)
            former.hide_set(hidden)


def select_only(context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Select one object and nothing else, and make it the active one.

    Args:
        context: Blender's context.
        obj: the object.
    """
    for other in context.selected_objects:
        other.select_set(False)
    obj.select_set(True)
    context.view_layer.objects.active = obj


def let_undo_see(context: bpy.types.Context) -> None:
    """Let what was changed be undone, in edit modes too.

    There an undo step holds what the mode edits and nothing else, unless
    data-blocks were added or removed since the last step: so one is.

    Args:
        context: Blender's context; its mode counts.
    """
    if context.mode.startswith("EDIT"):
        bpy.data.meshes.remove(bpy.data.meshes.new("Poise"))
