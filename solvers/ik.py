# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs of two bones and of many: where their joints go, for all samples at once.

A limb of two bones lies in the plane of root, tip and pole point, bent towards
the pole. With u, l the bone lengths and d the distance from root to tip, the
middle joint stands a = (d^2 + u^2 - l^2) / (2 d) along the line and
h = sqrt(u^2 - a^2) off it (law of cosines).

A limb of more bones is redundant. `solve_chain` is resolved motion rate control
(Girard 1986, section 2.6, after Klein and Huang 1983): steps of the joints
dq = J+ dx + (I - J+ J)(wanted - q) bring its end to the target and, where that
leaves a choice, its joints to a wanted posture. J+ = W J^T (J W J^T + d^2 I)^-1
is the pseudo-inverse, weighted by how easily each joint gives, and damped as by
Levenberg and Marquardt in proportion to what is missing to the target (which
converges at a stretched limb too: Yamashita and Fukushima 2001). Joints at
their limits are left out of the step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .rotations import conjugate, cross, dot, from_matrix, multiply, normalise

CLOSE = 1e-10  # of a chain's length: its end is on the target
LARGEST_STEP = 0.6  # rad


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
    distance = np.sqrt(dot(line, line))
    direction = normalise(line)
    null = distance < 1e-12
    if np.any(null):
        direction[null] = (0.0, 0.0, -1.0)
    shortest = max(abs(upper - lower), 1e-9)
    used = np.clip(distance, shortest, max(reach * (upper + lower), shortest))
    along = (used**2 + upper**2 - lower**2) / (2.0 * used)
    height = np.sqrt(np.maximum(upper**2 - along**2, 0.0))
    side = np.asarray(pole, dtype=float) - root
    side = side - dot(side, direction)[..., None] * direction
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
    length = np.sqrt(dot(side, side))
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
    rest_normal = cross(rest_tip - rest_root, np.asarray(rest_bend, dtype=float))
    normal = cross(tip - root, pole - root)
    upper = multiply(
        _frame(middle - root, normal), conjugate(_frame(rest_middle - rest_root, rest_normal))
    )
    lower = multiply(
        _frame(tip - middle, normal), conjugate(_frame(rest_tip - rest_middle, rest_normal))
    )
    return upper, lower


def _frame(direction: np.ndarray, normal: np.ndarray) -> np.ndarray:
    y = normalise(direction)
    x = normalise(normal - dot(normal, y)[..., None] * y)
    return from_matrix(np.stack((x.T, y.T, cross(x, y).T)).T)


@dataclass(frozen=True)
class ChainPose:
    """A solved chain of hinges.

    Attributes:
        angles: (m, n) joint angles in radians: the first segment's against the
            x axis, then each one's against the segment before.
        shortfall: (n,) distance from the end to the target, m.
    """

    angles: np.ndarray
    shortfall: np.ndarray

    def directions(self) -> np.ndarray:
        """(m, n) angles of the segments against the x axis, radians."""
        return np.cumsum(self.angles, axis=0)


def solve_chain(
    lengths: np.ndarray,
    target: np.ndarray,
    wanted: np.ndarray,
    least: np.ndarray,
    most: np.ndarray,
    ease: np.ndarray | None = None,
    posture_rounds: int = 3,
    rounds: int = 40,
) -> ChainPose:
    """Bring the end of a plane chain of hinges to its target, as near to a posture as it can.

    Girard 1986, section 2.6. Each sample is solved for itself, starting from the
    posture: what changes smoothly there and in the target, does in the result.
    A chain of two segments has no choice and is solved in closed form, bent as
    the posture is.

    Args:
        lengths: (m,) of the segments, m, above 0.
        target: (2, n) of the end, the first joint being at the origin, m.
        wanted: (m, n) joint angles of the posture, radians, as in `ChainPose`.
        least: (m,) smallest joint angles, radians; minus infinity for none.
        most: (m,) largest.
        ease: (m,) how easily each joint gives; 1 each if None, 0 holds it.
        posture_rounds: steps in which the posture is sought.
        rounds: most steps in all.

    Returns:
        The chain. Where the target is out of reach, the end is as near as the
        steps brought it.

    Raises:
        ValueError: a segment without length, or limits that exclude each other.
    """
    lengths = np.asarray(lengths, dtype=float)
    target, wanted = np.asarray(target, dtype=float), np.asarray(wanted, dtype=float)
    low, high = (np.asarray(x, dtype=float)[:, None] for x in (least, most))
    if not np.all(lengths > 0.0):
        raise ValueError(f"segments are {lengths.tolist()} m long: all must be above 0")
    if not np.all(low <= high):
        raise ValueError("a joint's least angle is above its largest one")
    give = np.ones(len(lengths)) if ease is None else np.asarray(ease, dtype=float)
    if len(lengths) == 1:
        q = np.clip(np.arctan2(target[1], target[0])[None], low, high)
    elif len(lengths) == 2 and np.all(give > 0.0):
        q = np.clip(_two_segments(lengths, target, wanted), low, high)
    else:
        q = np.clip(wanted, low, high)
    missing = _missing(lengths, q, target)
    if len(lengths) == 1:
        return ChainPose(q, missing)
    goal = np.clip(wanted, low, high)
    close = CLOSE * float(lengths.sum())
    if len(lengths) > 2:
        for _ in range(posture_rounds):
            q = _step(lengths, q, target, goal, low, high, give)
        missing = _missing(lengths, q, target)
    active = np.flatnonzero(missing > close)
    for _ in range(rounds - posture_rounds):
        if not len(active):
            break
        moved = _step(lengths, q[:, active], target[:, active], None, low, high, give)
        left = _missing(lengths, moved, target[:, active])
        # Half a step, or less, where a whole one would lead away.
        worse = left > missing[active]
        for part in (0.5, 0.2, 0.05):
            if not worse.any():
                break
            of = active[worse]
            back = q[:, of] + part * (moved[:, worse] - q[:, of])
            moved[:, worse] = back
            left[worse] = _missing(lengths, back, target[:, of])
            worse = left > missing[active]
        gained = missing[active] - left
        better = gained > 0.0
        q[:, active[better]], missing[active[better]] = moved[:, better], left[better]
        active = active[(left > close) & (gained > 1e-6 * missing[active])]
    return ChainPose(q, missing)


def chain_joints(lengths: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Joints of a plane chain.

    Args:
        lengths: (m,) of the segments, m.
        angles: (m, n) joint angles, as in `ChainPose`.

    Returns:
        (m + 1, 2, n) m; the first is the origin, the last the end.
    """
    turned = np.cumsum(angles, axis=0)
    parts = np.stack((np.cos(turned), np.sin(turned)), axis=1) * np.asarray(lengths)[:, None, None]
    return np.concatenate((np.zeros((1, *parts.shape[1:])), np.cumsum(parts, axis=0)))


def _two_segments(lengths: np.ndarray, target: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Both angles by the law of cosines, bent to the side of the posture."""
    upper, lower = lengths
    far = np.clip(np.hypot(*target), max(abs(upper - lower), 1e-12), upper + lower)
    cosine = (far**2 - upper**2 - lower**2) / (2.0 * upper * lower)
    bend = np.copysign(np.arccos(np.clip(cosine, -1.0, 1.0)), wanted[1])
    offset = np.arctan2(lower * np.sin(bend), upper + lower * np.cos(bend))
    first = np.arctan2(target[1], target[0]) - offset
    first = wanted[0] + np.remainder(first - wanted[0] + np.pi, 2.0 * np.pi) - np.pi
    return np.stack((first, bend))


def _missing(lengths: np.ndarray, q: np.ndarray, target: np.ndarray) -> np.ndarray:
    turned = np.cumsum(q, axis=0)
    return np.hypot(
        lengths @ np.cos(turned) - target[0], lengths @ np.sin(turned) - target[1]
    )


def _step(
    lengths: np.ndarray,
    q: np.ndarray,
    target: np.ndarray,
    goal: np.ndarray | None,
    low: np.ndarray,
    high: np.ndarray,
    give: np.ndarray,
) -> np.ndarray:
    """One step of all samples; joints that would pass a limit stop there, the others make up."""
    turned = np.cumsum(q, axis=0)
    # From each joint to the end; the end moves square to that as the joint turns.
    x = np.cumsum((lengths[:, None] * np.cos(turned))[::-1], axis=0)[::-1]
    y = np.cumsum((lengths[:, None] * np.sin(turned))[::-1], axis=0)[::-1]
    dx, dy = target[0] - x[0], target[1] - y[0]
    damping = 0.01 * (dx * dx + dy * dy)
    toward = None if goal is None else goal - q
    weight = np.broadcast_to(give[:, None], q.shape)
    held = np.zeros_like(q)
    for last in (False, True):
        wx, wy = -weight * y, weight * x  # W J^T
        a, b, c = -(wx * y).sum(axis=0), (wx * x).sum(axis=0), (wy * x).sum(axis=0)
        a, c = a + damping, c + damping
        tiny = 1e-14 * (a + c) ** 2
        scale = 1.0 / np.maximum(a * c - b * b, np.maximum(tiny, 1e-300))
        ex, ey = dx, dy
        if last:
            ex, ey = dx + (y * held).sum(axis=0), dy - (x * held).sum(axis=0)
        step = held
        if toward is not None:
            free = np.where(weight > 0.0, toward, 0.0)
            ex, ey = ex + (y * free).sum(axis=0), ey - (x * free).sum(axis=0)
            step = step + free
        u, v = (c * ex - b * ey) * scale, (a * ey - b * ex) * scale
        step = step + wx * u + wy * v
        step *= LARGEST_STEP / np.maximum(np.abs(step).max(axis=0), LARGEST_STEP)
        moved = q + step
        beyond = (moved < low) | (moved > high)
        if last or not beyond.any():
            break
        weight = np.where(beyond, 0.0, weight)
        held = np.where(beyond, np.clip(moved, low, high) - q, 0.0)
    return np.clip(moved, low, high)
