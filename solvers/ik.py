# SPDX-License-Identifier: GPL-3.0-or-later
"""Two-bone limbs: where the middle joint goes, for all samples at once.

The limb lies in the plane of root, tip and pole point, bent towards the pole.
With u, l the bone lengths and d the distance from root to tip, the middle
joint stands a = (d^2 + u^2 - l^2) / (2 d) along the line and
h = sqrt(u^2 - a^2) off it (law of cosines).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .rotations import conjugate, from_matrix, multiply, normalise


@dataclass(frozen=True)
class TwoBone:
    """A solved limb.

    Attributes:
        middle: (n, 3) position of the middle joint, metres.
        tip: (n, 3) position of the tip; the target where it can be reached,
            else the nearest point of the same direction that can.
        flexion: (n,) bend of the middle joint in radians, 0 = straight.
        shortfall: (n,) distance from tip to target in metres, 0 if reached.
    """

    middle: np.ndarray
    tip: np.ndarray
    flexion: np.ndarray
    shortfall: np.ndarray


def two_bone(
    root: np.ndarray,
    target: np.ndarray,
    pole: np.ndarray,
    upper: float,
    lower: float,
    reach: float = 1.0,
) -> TwoBone:
    """Bend a two-bone limb so that its tip is at the target.

    Args:
        root: (n, 3) position of the root joint, metres.
        target: (n, 3) wanted position of the tip.
        pole: (n, 3) point the middle joint bends towards. Where it lies on
            the line from root to target the plane of the sample before is
            kept (an arbitrary plane at the start), so that nothing flips.
        upper: length of the first bone, metres.
        lower: length of the second bone, metres.
        reach: largest part of upper + lower that may be used, 0 to 1.

    Raises:
        ValueError: a bone without length or a reach outside 0 to 1.
    """
    if not (upper > 0.0 and lower > 0.0):
        raise ValueError(f"bone lengths are {upper} and {lower} m: both must be above 0")
    if not 0.0 < reach <= 1.0:
        raise ValueError(f"reach is {reach}: it must be above 0 and at most 1")
    root = np.asarray(root, dtype=float)
    line = np.asarray(target, dtype=float) - root
    distance = np.linalg.norm(line, axis=-1)
    direction = normalise(line)
    null = distance < 1e-12
    if np.any(null):
        direction[null] = (0.0, 0.0, -1.0)
    shortest = max(abs(upper - lower), 1e-9)
    used = np.clip(distance, shortest, max(reach * (upper + lower), shortest))
    along = (used**2 + upper**2 - lower**2) / (2.0 * used)
    height = np.sqrt(np.maximum(upper**2 - along**2, 0.0))
    side = np.asarray(pole, dtype=float) - root
    side = side - np.einsum("...i,...i->...", side, direction)[..., None] * direction
    side = _keep_last(side, direction)
    middle = root + along[..., None] * direction + height[..., None] * side
    cosine = (used**2 - upper**2 - lower**2) / (2.0 * upper * lower)
    return TwoBone(
        middle=middle,
        tip=root + used[..., None] * direction,
        flexion=np.arccos(np.clip(cosine, -1.0, 1.0)),
        shortfall=np.abs(distance - used),
    )


def _keep_last(side: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Unit bend directions; those without length take the last good one."""
    length = np.linalg.norm(side, axis=-1)
    bad = length < 1e-9
    unit = normalise(side)
    if not np.any(bad):
        return unit
    if np.all(bad):
        unit[0] = np.cross(direction[0], np.eye(3)[np.argmin(np.abs(direction[0]))])
        bad[0] = False
    index = np.where(bad, -1, np.arange(len(bad)))
    last = np.maximum.accumulate(index)
    last[last < 0] = index[index >= 0][0]
    kept = unit[last]
    kept = kept - np.einsum("...i,...i->...", kept, direction)[..., None] * direction
    return normalise(kept)


def limb_rotations(
    rest: tuple[np.ndarray, np.ndarray, np.ndarray],
    rest_bend: np.ndarray,
    root: np.ndarray,
    middle: np.ndarray,
    tip: np.ndarray,
    pole: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """World rotations of both bones of a limb, from its rest pose to a posed one.

    Each bone turns so that its own direction and the limb's bend plane go
    from rest to pose: no twist appears that the plane does not have.

    Args:
        rest: rest positions (3,) of root, middle and tip.
        rest_bend: (3,) direction the middle joint bends towards in rest
            (used where the rest limb is straight; else any such direction).
        root: (n, 3) posed root.
        middle: (n, 3) posed middle joint.
        tip: (n, 3) posed tip.
        pole: (n, 3) posed pole point.

    Returns:
        (n, 4) rotation of the upper bone, (n, 4) of the lower bone.
    """
    rest_root, rest_middle, rest_tip = (np.asarray(point, dtype=float) for point in rest)
    rest_normal = np.cross(rest_tip - rest_root, np.asarray(rest_bend, dtype=float))
    normal = np.cross(tip - root, pole - root)
    upper = multiply(
        _frame(middle - root, normal), conjugate(_frame(rest_middle - rest_root, rest_normal))
    )
    lower = multiply(
        _frame(tip - middle, normal), conjugate(_frame(rest_tip - rest_middle, rest_normal))
    )
    return upper, lower


def _frame(direction: np.ndarray, normal: np.ndarray) -> np.ndarray:
    y = normalise(direction)
    x = normal - np.einsum("...i,...i->...", normal, y)[..., None] * y
    x = normalise(x)
    return from_matrix(np.stack((x, y, np.cross(x, y)), axis=-1))
