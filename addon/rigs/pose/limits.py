# SPDX-License-Identifier: GPL-3.0-or-later
"""How far bones may turn: their locks, IK limits and constraints."""

from __future__ import annotations

import bpy
import numpy as np

AXES = ("x", "y", "z")


def locked_axes(bone: bpy.types.PoseBone) -> np.ndarray:
    """(3,) bool, which of its axes a bone cannot turn about.

    Args:
        bone: the pose bone.
    """
    held = [getattr(bone, f"lock_ik_{axis}") for axis in AXES]
    return np.array(bone.lock_rotation, dtype=bool) | np.array(held)


def limits_of(bone: bpy.types.PoseBone) -> np.ndarray:
    """(3, 2) how far a bone may turn about its own axes, from rest, rad.

    Narrower of its IK limits and of Limit Rotation in local space; infinite where neither says.

    Args:
        bone: the pose bone.
    """
    found = np.tile((-np.inf, np.inf), (3, 1))

    def narrow(k: int, low: float, high: float) -> None:
        found[k] = max(found[k, 0], min(low, 0.0)), min(found[k, 1], max(high, 0.0))

    for k, axis in enumerate(AXES):
        if getattr(bone, f"use_ik_limit_{axis}"):
            narrow(k, getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}"))
    for constraint in bone.constraints:
        if constraint.type != "LIMIT_ROTATION" or constraint.mute or constraint.influence <= 0.0:
            continue
        if constraint.owner_space != "LOCAL":
            continue
        for k, axis in enumerate(AXES):
            if getattr(constraint, f"use_limit_{axis}"):
                narrow(k, getattr(constraint, f"min_{axis}"), getattr(constraint, f"max_{axis}"))
    return found
