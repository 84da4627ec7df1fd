# SPDX-License-Identifier: GPL-3.0-or-later
"""Where objects stand, also those that Blender does not evaluate, and at which frame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
from mathutils import Matrix

from .. import compat
from ..context import keep_frame


def world_matrix(obj: bpy.types.Object) -> Matrix:
    """Where an object is in the world, also where it is put away.

    What is excluded or disabled Blender does not evaluate: its world matrix is
    that of another time, or none at all after the file was loaded. It is where
    its channels and its parents put it then.

    Args:
        obj: the object.
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    if obj.evaluated_get(depsgraph).is_evaluated:
        return obj.matrix_world.copy()
    if obj.parent is None or obj.parent_type not in {"OBJECT", "ARMATURE"}:
        return obj.matrix_basis.copy()
    return world_matrix(obj.parent) @ obj.matrix_parent_inverse @ obj.matrix_basis


def moves(obj: bpy.types.Object | None) -> bool:
    """Whether an object's place in the world may change over time.

    Args:
        obj: the object, or None.
    """
    while obj is not None:
        if any(not c.mute and c.influence > 0.0 for c in obj.constraints):
            return True
        if obj.rigid_body is not None:
            return True
        if obj.parent is not None and obj.parent_type not in {"OBJECT", "ARMATURE"}:
            return True
        if any(not path.startswith(("pose.", "poise_motion.")) for path in _animated_paths(obj)):
            return True
        obj = obj.parent
    return False


def _animated_paths(obj: bpy.types.Object) -> list[str]:
    data = obj.animation_data
    if data is None:
        return []
    curves = [*compat.action_fcurves(data.action, data.action_slot), *data.drivers]
    for track in data.nla_tracks:
        for strip in track.strips:
            curves += compat.action_fcurves(strip.action, strip.action_slot)
    return [curve.data_path for curve in curves]


@contextmanager
def standing_at(scene: bpy.types.Scene, frame: int, *objects: bpy.types.Object) -> Iterator[None]:
    """Inside, objects stand where they are at a frame; the current frame is put back.

    Nothing is evaluated for objects that stand still.

    Args:
        scene: the scene.
        frame: the frame.
        *objects: what is looked at inside.
    """
    if not any(moves(obj) for obj in objects):
        yield
        return
    with keep_frame(scene):
        scene.frame_set(frame)
        yield
