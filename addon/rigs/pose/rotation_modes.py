# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations as a bone's own rotation mode wants them. Numpy only.

Every result is continuous in time: neighbouring quaternions have the same
sign, angles are unwrapped, so that what spins keeps counting past a full turn.
"""

from __future__ import annotations

import numpy as np

from ....solvers import rotations

# Mode of a pose bone -> the property that holds its rotation.
PROPERTY = {order: "rotation_euler" for order in rotations.EULER_ORDERS}
PROPERTY |= {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}

# The same property of a bone that rests.
REST: dict[str, tuple[float, ...]] = {
    "rotation_euler": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
}

COUNTED = 1.0  # radians that a bone may turn between samples before they are refined


def to_mode(
    quaternions: np.ndarray,
    mode: str,
    spin: np.ndarray | None = None,
    axis: np.ndarray | None = None,
) -> np.ndarray:
    """Rotations as a pose bone's rotation mode holds them, continuous in time.

    Args:
        quaternions: (n, 4) unit quaternions.
        mode: `PoseBone.rotation_mode`.
        spin: (n,) angle about `axis` that the rotations end with, radians,
            whole turns counted; None where they turn less than half a turn
            between samples.
        axis: (3,) axis of the spin in the bone's own axes.

    Returns:
        (n, 4) quaternions or angle and axis, (n, 3) Euler angles in radians.
    """
    if mode == "QUATERNION":
        return rotations.continuous(quaternions)
    if spin is not None and axis is not None and len(spin) > 1:
        parts = int(np.ceil(np.abs(np.diff(spin)).max() / COUNTED))
        if parts > 1:
            return to_mode(_refined(quaternions, spin, axis, parts), mode)[::parts]
    if mode == "AXIS_ANGLE":
        return _to_axis_angle(quaternions)
    return rotations.to_euler(quaternions, mode)


def _refined(
    quaternions: np.ndarray, spin: np.ndarray, axis: np.ndarray, parts: int
) -> np.ndarray:
    """Rotations with `parts - 1` more between any two: what spins does so evenly."""
    swing = rotations.multiply(quaternions, rotations.from_axis_angle(axis, -spin))
    where = np.arange((len(spin) - 1) * parts + 1) / parts
    low = np.minimum(where.astype(int), len(spin) - 2)
    between = rotations.slerp(swing[low], swing[low + 1], where - low)
    angle = np.interp(where, np.arange(len(spin)), spin)
    return rotations.multiply(between, rotations.from_axis_angle(axis, angle))


def from_mode(values: np.ndarray, mode: str) -> np.ndarray:
    """Unit quaternions (n, 4) of what a pose bone holds; undoes `to_mode`.

    Args:
        values: (n, 4) quaternions or angle and axis, (n, 3) Euler angles.
        mode: `PoseBone.rotation_mode`.
    """
    if mode == "QUATERNION":
        return rotations.normalise(values)
    if mode == "AXIS_ANGLE":
        return rotations.from_axis_angle(rotations.normalise(values[:, 1:]), values[:, 0])
    return rotations.from_euler(values, mode)


def whole_turns(values: np.ndarray, mode: str) -> np.ndarray:
    """Whole turns (n, 3) about a bone's axes that its angles count besides the turn they make.

    Args:
        values: (n, 4) quaternions or angle and axis, (n, 3) Euler angles.
        mode: `PoseBone.rotation_mode`.
    """
    if mode == "QUATERNION":
        return np.zeros((len(values), 3))
    if mode == "AXIS_ANGLE":
        return np.round(values[:, :1] / (2.0 * np.pi)) * rotations.normalise(values[:, 1:])
    return np.round(values / (2.0 * np.pi))


def with_turns(quaternion: np.ndarray, turns: np.ndarray, mode: str) -> np.ndarray:
    """What a pose bone holds in one pose; undoes `from_mode` and `whole_turns`.

    Args:
        quaternion: (4,) unit quaternion.
        turns: (3,) whole turns about the bone's axes.
        mode: `PoseBone.rotation_mode`.

    Returns:
        (4,) quaternion or angle and axis, (3,) Euler angles in radians.
    """
    values = to_mode(quaternion[None], mode)[0]
    if mode == "QUATERNION":
        return values
    if mode != "AXIS_ANGLE":
        return values + 2.0 * np.pi * np.round(turns)
    counted = np.round(np.linalg.norm(turns))
    if counted:
        axis = values[1:] if abs(values[0]) > 1e-6 else rotations.normalise(turns)
        values = np.concatenate((values[:1], axis)) * (1.0 if axis @ turns > 0.0 else -1.0)
        values[0] += 2.0 * np.pi * counted
    return values


def _to_axis_angle(quaternions: np.ndarray) -> np.ndarray:
    """Angle and unit axis; the axis does not flip over, the angle counts on."""
    q = rotations.continuous(quaternions)
    length = np.linalg.norm(q[:, 1:], axis=1)
    # Without any rotation there is no axis: it is then that of the sample before.
    known = length > 1e-7
    axis = np.zeros((len(q), 3))
    if not known.any():
        axis[:, 1] = 1.0
        return np.concatenate((np.zeros((len(q), 1)), axis), axis=1)
    axis[known] = q[known, 1:] / length[known, None]
    last = np.maximum.accumulate(np.where(known, np.arange(len(q)), -1))
    axis = axis[np.where(last < 0, int(np.argmax(known)), last)]
    flips = np.where((axis[1:] * axis[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    axis = axis * np.concatenate(([1.0], flips)).cumprod()[:, None]
    along = (q[:, 1:] * axis).sum(axis=1)
    angle = 2.0 * np.unwrap(np.arctan2(along, q[:, 0]))
    return np.concatenate((angle[:, None], axis), axis=1)
