# SPDX-License-Identifier: GPL-3.0-or-later
"""The armature object in the world: its axes, and its channels where it is keyed itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ....solvers import affine, rotations
from ...errors import UserError
from ...mapping import tracks as roles
from . import rotation_modes
from .channels import BoneTrack

# How far the scale of an armature may differ from axis to axis, as a share.
UNEVEN = 1e-3


@dataclass(frozen=True)
class ArmatureFrames:
    """The armature object in the world, in Blender units.

    Attributes:
        rotation: (m, 4) quaternions; m is 1 for an object that stands still.
        scale: (m,) Blender units per unit of the armature.
        inverse: (m, 4, 4) world to armature space.
        matrix: (m, 4, 4) armature space to world.
    """

    rotation: np.ndarray
    scale: np.ndarray
    inverse: np.ndarray
    matrix: np.ndarray


def armature_frames(name: str, matrices: np.ndarray) -> ArmatureFrames:
    """Take the world matrices of an armature object apart.

    Args:
        name: name of the object, for messages.
        matrices: (m, 4, 4) world matrices.

    Raises:
        UserError: the object is scaled to nothing, unevenly, sheared or mirrored.
    """
    linear = matrices[:, :3, :3]
    lengths = np.linalg.norm(linear, axis=1)
    if not np.isfinite(matrices).all() or lengths.min() < 1e-8:
        raise UserError(f"{name} is scaled to zero: give it a scale above zero")
    if (lengths.max(axis=1) / lengths.min(axis=1)).max() > 1.0 + UNEVEN:
        x, y, z = lengths[np.argmax(lengths.max(axis=1) / lengths.min(axis=1))]
        raise UserError(
            f"{name} is scaled unevenly ({x:.3g}, {y:.3g}, {z:.3g}): "
            "give it (or its parent) the same scale along every axis"
        )
    axes = linear / lengths[:, None, :]
    crossing = np.abs(np.einsum("mki,mkj->mij", axes, axes) - np.eye(3)).max()
    if crossing > UNEVEN:
        raise UserError(
            f"{name} is sheared: give its parents the same scale along every axis, "
            "or apply their scale"
        )
    if np.linalg.det(axes).min() < 0.0:
        raise UserError(f"{name} is mirrored by a negative scale: give it a scale above zero")
    return ArmatureFrames(
        rotation=rotations.continuous(rotations.from_matrix(axes)),
        scale=lengths.mean(axis=1),
        inverse=affine.inverse(matrices),
        matrix=matrices,
    )


@dataclass(frozen=True)
class ObjectTrack:
    """Where an armature object that is keyed itself is to be in the world.

    Attributes:
        position: (n, 3) metres: where its point `origin` is.
        rotation: (n, 4).
        origin: (3,) a point of armature space.
    """

    position: np.ndarray
    rotation: np.ndarray
    origin: np.ndarray

    def sampled(self, rows: np.ndarray | slice) -> ObjectTrack:
        """Some samples of it.

        Args:
            rows: which ones.
        """
        return ObjectTrack(self.position[rows], self.rotation[rows], self.origin)

    def matrices(self, scale: float, unit_scale: float) -> np.ndarray:
        """World matrices (n, 4, 4) in Blender units.

        Args:
            scale: Blender units per unit of the armature.
            unit_scale: metres per Blender unit.
        """
        found = np.zeros((len(self.position), 4, 4))
        found[:, :3, :3] = rotations.to_matrix(self.rotation) * scale
        found[:, :3, 3] = self.position / unit_scale - found[:, :3, :3] @ self.origin
        found[:, 3, 3] = 1.0
        return found


def object_channels(
    armature: bpy.types.Object, matrices: np.ndarray, over: np.ndarray
) -> BoneTrack:
    """Channels of an armature object that put it somewhere, its scale left as it is.

    Blender composes: parent * (delta location + location) * (delta rotation *
    rotation) * scale.

    Args:
        armature: the object.
        matrices: (n, 4, 4) where it is to be in the world.
        over: (m, 4, 4) what its channels are relative to; m is 1 or n.
    """
    local = affine.inverse(over) @ matrices
    location = local[:, :3, 3] - np.array(armature.delta_location, dtype=float)
    axes = local[:, :3, :3] / np.linalg.norm(local[:, :3, :3], axis=1)[:, None]
    mode = armature.rotation_mode
    delta = _delta_rotation(armature)
    turned = rotations.multiply(
        rotations.conjugate(rotations.normalise(delta)), rotations.from_matrix(axes)
    )
    values = rotation_modes.to_mode(turned, mode)
    unit = float(np.linalg.norm(over[:, :3, :3], axis=1).mean())
    return BoneTrack("", "", rotation_modes.PROPERTY[mode], location, values, unit)


def object_matrices(
    armature: bpy.types.Object, track: BoneTrack, over: np.ndarray
) -> np.ndarray:
    """Where an armature object is in the world that has given channels; undoes `object_channels`.

    Args:
        armature: the object, whose scale counts.
        track: location and rotation, (n, ...).
        over: (m, 4, 4) what they are relative to; m is 1 or n.

    Returns:
        (n, 4, 4) matrices.
    """
    assert track.location is not None and track.rotation is not None
    mode = armature.rotation_mode
    turned = rotations.multiply(
        rotations.normalise(_delta_rotation(armature)),
        rotation_modes.from_mode(track.rotation, mode),
    )
    size = np.array(armature.scale, dtype=float) * np.array(armature.delta_scale, dtype=float)
    local = np.zeros((len(turned), 4, 4))
    local[:, :3, :3] = rotations.to_matrix(turned) * size
    local[:, :3, 3] = track.location + np.array(armature.delta_location, dtype=float)
    local[:, 3, 3] = 1.0
    return over @ local


def _delta_rotation(armature: bpy.types.Object) -> np.ndarray:
    """Quaternion (1, 4) of an object's delta rotation, in its rotation mode."""
    mode = armature.rotation_mode
    if mode == "QUATERNION":
        return np.array(armature.delta_rotation_quaternion, dtype=float)[None]
    if mode == "AXIS_ANGLE":
        return rotations.identity(1)  # Blender offers none
    return rotations.from_euler(np.array(armature.delta_rotation_euler, dtype=float)[None], mode)


def rest_turns(armature: bpy.types.Object, names: Sequence[str]) -> np.ndarray:
    """Rest rotations (n, 4) of bones in armature space.

    Args:
        armature: the rig.
        names: names of bones.
    """
    bones = armature.data.bones
    rests = np.array([bones[name].matrix_local for name in names], dtype=float)
    return rotations.from_matrix(rests.reshape(-1, 4, 4)[:, :3, :3])


def rest_axes(armature: bpy.types.Object, bindings: Mapping[str, str]) -> np.ndarray:
    """Quaternion that turns armature space into character space.

    A rig whose head is above its feet along +Z is taken as it stands. Another
    one (imported with +Y up) is turned by quarter turns, so that the head is up
    and the left side is along +X.

    Args:
        armature: the rig.
        bindings: role -> bone.
    """
    bones = armature.data.bones

    def head(role: str) -> np.ndarray | None:
        name = bindings.get(role, "")
        return np.array(bones[name].head_local) if name in bones else None

    high = [p for p in map(head, (roles.HEAD, roles.NECK, roles.CHEST)) if p is not None]
    ground = (roles.BOARD, "ski.L", "foot.L", roles.ROOT, roles.PELVIS)
    low = [p for p in map(head, ground) if p is not None]
    if not high or not low:
        return np.array([1.0, 0.0, 0.0, 0.0])
    up = _nearest_axis(high[0] - low[0])
    if up[2] == 1.0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    left = np.zeros(3)
    for role in bindings:
        if role.endswith(".L"):
            pair = head(role), head(role[:-1] + "R")
            if pair[0] is not None and pair[1] is not None:
                left += pair[0] - pair[1]
    left = _nearest_axis(left - up * (left @ up))
    if abs(left @ up) > 0.5:
        return np.array([1.0, 0.0, 0.0, 0.0])
    return rotations.from_matrix(np.stack((left, np.cross(up, left), up)))


def _nearest_axis(vector: np.ndarray) -> np.ndarray:
    axis = np.zeros(3)
    largest = int(np.argmax(np.abs(vector)))
    axis[largest] = 1.0 if vector[largest] >= 0.0 else -1.0
    return axis
