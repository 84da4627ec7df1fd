# SPDX-License-Identifier: GPL-3.0-or-later
"""Where objects stand, also those that Blender does not evaluate, and at which frame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Matrix

from . import compat
from .context import keep_frame
from .errors import UserError

# Farther from the origin (m) Blender's single precision is coarser than centimetres.
FARTHEST = 1e5


def world_matrix(obj: bpy.types.Object) -> Matrix:
    """Where an object is in the world, also where it is put away.

    What is excluded or disabled is evaluated only for others that need it, and
    then without writing its world matrix back to the object: that is the one of
    another time, or none at all after an undo or after the file was loaded; nor
    has what was evaluated one in a collection that is disabled. What is not
    evaluated at all is where its channels and its parents put it, and so is
    whatever nothing else moves.

    Args:
        obj: the object.
    """
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    if obj.parent is None and not obj.constraints and obj.rigid_body is None:
        return evaluated.matrix_basis.copy()
    if evaluated.is_evaluated:
        return evaluated.matrix_world.copy()
    if obj.parent is None or obj.parent_type not in {"OBJECT", "ARMATURE"}:
        return obj.matrix_basis.copy()
    return world_matrix(obj.parent) @ obj.matrix_parent_inverse @ obj.matrix_basis


def put_at(obj: bpy.types.Object, matrix: Matrix) -> None:
    """Put an object somewhere in the world, also under a parent that is put away.

    Args:
        obj: the object; its parent inverse is set anew.
        matrix: its world matrix.
    """
    if obj.parent is None:
        obj.matrix_basis = matrix
    elif obj.parent_type in {"OBJECT", "ARMATURE"}:
        obj.matrix_parent_inverse = world_matrix(obj.parent).inverted_safe()
        obj.matrix_basis = matrix
    else:
        obj.matrix_world = matrix


def require_near(name: str, places: np.ndarray) -> None:
    """Refuse what stands nowhere, or too far away for single precision.

    Args:
        name: of what stands there, for the message.
        places: (..., 3) places in metres.

    Raises:
        UserError: one of the places is farther than `FARTHEST` from the origin.
    """
    rows = np.asarray(places, dtype=float).reshape(-1, 3)
    far = ~(np.abs(rows) <= FARTHEST).all(axis=1)
    if far.any():
        raise UserError(
            f"{name} stands too far from the world's origin "
            f"({', '.join(f'{metres:.3g}' for metres in rows[np.argmax(far)])} m): move it to "
            f"less than {FARTHEST / 1000:g} km"
        )


# Modifiers whose result is another one at another time, or when something else moves.
RUNNING = frozenset({
    "ARMATURE", "CLOTH", "DYNAMIC_PAINT", "EXPLODE", "FLUID", "HOOK", "MESH_CACHE",
    "MESH_SEQUENCE_CACHE", "OCEAN", "SOFT_BODY", "WAVE",
})


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


def moves_by_itself(obj: bpy.types.Object) -> bool:
    """Whether an object's own channels, or physics, may move it over time.

    Args:
        obj: the object; its parents and constraints do not count.
    """
    channels = ("location", "rotation", "scale", "delta_")
    return obj.rigid_body is not None or any(
        path.startswith(channels) for path in _animated_paths(obj)
    )


def changes(obj: bpy.types.Object) -> bool:
    """Whether a mesh object may change over time, in its place or in its shape.

    Args:
        obj: the object.
    """
    keys = obj.data.shape_keys
    return (
        moves(obj)
        or any(modifier.show_viewport and modifier.type in RUNNING for modifier in obj.modifiers)
        or bool(_animated_paths(obj.data))
        or (keys is not None and bool(_animated_paths(keys)))
    )


def _animated_paths(owner: bpy.types.Object | bpy.types.Mesh | bpy.types.Key) -> list[str]:
    data = owner.animation_data
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
