# SPDX-License-Identifier: GPL-3.0-or-later
"""Where objects are over time, as Blender evaluates them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...solvers import affine, rotations
from ..rigs.pose import evaluate
from ..rigs.pose.algebra import Basis
from ..rigs.pose.animated import animated_paths
from ..steps import finish
from .job import Job

# Looks per frame at what keys of the animator's own move: those stand on whole frames, mostly.
PARTS = 4


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
    paths = {*animated_paths(armature), *(curve.data_path for curve in data.drivers)}
    return any(not path.startswith("pose.") for path in paths)


@dataclass(frozen=True)
class Moved:
    """Bones that keys of the animator's own move, at even times.

    Attributes:
        times: (k,) frames from the start of the motion.
        bones: name -> its channels at these times.
    """

    times: np.ndarray
    bones: Mapping[str, Basis]

    @classmethod
    def play(cls, job: Job, names: Collection[str]) -> Moved:
        """Read bones as Blender evaluates them.

        Args:
            job: the bake.
            names: the bones; nothing is played where there are none.
        """
        if not names:
            return cls(np.zeros(1), {})
        times = np.arange((job.frames - 1) * PARTS + 1) / PARTS
        at = job.options.start_frame + times
        look = evaluate.Look(job.armature, list(names), at, _basis_and_scale, (19,))
        [(_, found)] = finish(evaluate.matrices(job.context, [look]))
        bases = {}
        for name, values in zip(names, np.moveaxis(found, 1, 0), strict=True):
            own = Basis.of(values[:, :16].reshape(-1, 4, 4), values[:, 16:])
            bases[name] = replace(own, rotation=rotations.continuous(own.rotation))
        return cls(times, bases)

    def at(self, times: np.ndarray) -> dict[str, Basis]:
        """Channels of the bones at any times.

        Args:
            times: (m,) frames from the start of the motion.
        """
        def between(values: np.ndarray) -> np.ndarray:
            return np.stack([np.interp(times, self.times, column) for column in values.T], axis=1)

        return {
            name: Basis(
                between(own.place), rotations.normalise(between(own.rotation)), between(own.size)
            )
            for name, own in self.bones.items()
        }


def _basis_and_scale(_obj: bpy.types.Object, bone: bpy.types.PoseBone) -> np.ndarray:
    return np.append(np.array(bone.matrix_basis), bone.scale)


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
    return np.stack([world_now(context, armature) for _ in evaluate.through(context, frames)])


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
    return np.stack([now() for _ in evaluate.through(context, frames)])


def world_now(context: bpy.types.Context, obj: bpy.types.Object) -> np.ndarray:
    """World matrix (4, 4) of an object as it is evaluated now.

    Args:
        context: Blender's context.
        obj: the object.
    """
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    return np.array(evaluated.matrix_world, dtype=float)
