# SPDX-License-Identifier: GPL-3.0-or-later
"""Where objects are over time, as Blender evaluates them."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np

from ...solvers import affine
from .. import compat


def is_still(armature: bpy.types.Object) -> bool:
    """Whether an armature object stays where it is over time.

    Args:
        armature: the object.
    """
    return not (
        _moves(armature.parent)
        or _object_keys(armature)
        or any(not c.mute and c.influence > 0.0 for c in armature.constraints)
        or armature.parent_type not in {"OBJECT", "ARMATURE"}
        or armature.rigid_body is not None
    )


def _moves(obj: bpy.types.Object | None) -> bool:
    """Whether an object's place in the world may change over time."""
    while obj is not None:
        data = obj.animation_data
        if data is not None and (data.action or data.drivers or data.nla_tracks):
            return True
        if any(not c.mute and c.influence > 0.0 for c in obj.constraints):
            return True
        if obj.parent is not None and obj.parent_type not in {"OBJECT", "ARMATURE"}:
            return True
        if obj.rigid_body is not None:
            return True
        obj = obj.parent
    return False


def _object_keys(armature: bpy.types.Object) -> bool:
    """Whether the armature object itself (not its bones) is animated."""
    data = armature.animation_data
    if data is None:
        return False
    curves = list(compat.action_fcurves(data.action, data.action_slot)) + list(data.drivers)
    for track in data.nla_tracks:
        for strip in track.strips:
            curves += compat.action_fcurves(strip.action, strip.action_slot)
    return any(not curve.data_path.startswith("pose.") for curve in curves)


def world_matrices(
    context: bpy.types.Context, armature: bpy.types.Object, frames: np.ndarray
) -> np.ndarray:
    """World matrices (m, 4, 4) of an armature object; m is 1 if it stands still.

    Args:
        context: Blender's context.
        armature: the object.
        frames: (m,) when.
    """
    if is_still(armature):
        return world_now(context, armature)[None]
    return np.stack([world_now(context, armature) for _ in play(context, frames)])


def relative_to(
    context: bpy.types.Context, armature: bpy.types.Object, frames: np.ndarray
) -> np.ndarray:
    """What an object's own channels are relative to (m, 4, 4); m is 1 if that stands still.

    Args:
        context: Blender's context.
        armature: the object.
        frames: (m,) when.
    """
    if armature.parent is None:
        return np.eye(4)[None]

    def now() -> np.ndarray:
        if armature.parent_type in {"OBJECT", "ARMATURE"}:
            parent, held = world_now(context, armature.parent), armature.matrix_parent_inverse
            return parent @ np.array(held, dtype=float)
        evaluated = armature.evaluated_get(context.evaluated_depsgraph_get())
        own = np.array(evaluated.matrix_basis, dtype=float)
        return np.array(evaluated.matrix_world, dtype=float) @ affine.inverse(own)

    if not _moves(armature.parent) and armature.parent_type in {"OBJECT", "ARMATURE"}:
        return now()[None]
    return np.stack([now() for _ in play(context, frames)])


def world_now(context: bpy.types.Context, obj: bpy.types.Object) -> np.ndarray:
    """World matrix (4, 4) of an object as it is evaluated now.

    Args:
        context: Blender's context.
        obj: the object.
    """
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    return np.array(evaluated.matrix_world, dtype=float)


def play(context: bpy.types.Context, frames: np.ndarray) -> Iterator[float]:
    """Go to one (sub)frame after the other.

    Args:
        context: Blender's context.
        frames: (m,) when.
    """
    for frame in frames.tolist():
        whole = int(np.floor(frame))
        context.scene.frame_set(whole, subframe=frame - whole)
        yield frame
