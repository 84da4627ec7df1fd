# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs whose ends are at a place, their joints as near to a posture as that leaves them.

A limb of two bones keeps the plane that the posture bends it in: it is bent in this plane
until it is as long as the way to its target, then swung there by the shortest turn. So a
knee that is a hinge stays one. Longer limbs go by resolved motion rates (Girard 1986,
section 2.1, after Klein and Huang 1983), in space,

    dq = g + J+ (dx - J g),   J+ = J^T (J J^T + d^2 1)^-1

with g the way to the posture's joints in the first steps and 0 afterwards, and the damping d
in proportion to what is missing to the target, as in `ik.solve_chain`.
"""

from __future__ import annotations

import numpy as np

from .. import rotations
from ..dynamics.exponential import crossing
from .body import Body, Limb, length

STRAIGHT = 0.02  # sine of the bend under which its plane is the limb's own
POSTURE_ROUNDS, ROUNDS = 4, 60
CLOSE = 1e-10  # of a limb's length: its end is on the target
LARGEST_STEP = 0.5  # rad


def limb_points(
    body: Body, limb: Limb, root: np.ndarray, above: np.ndarray, joints: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """World turns and joints of a limb.

    Args:
        body: the body.
        limb: one of its limbs.
        root: (t, 3) its first joint, m.
        above: (t, 4) turn of the link that carries it.
        joints: (t, n, 4) local turns of all links.

    Returns:
        (t, m, 4) turns, (t, m + 1, 3) joints and, last, the tip.
    """
    turns: list[np.ndarray] = []
    points = [root]
    for link in limb.links:
        if turns:
            points.append(points[-1] + rotations.rotate(above, body.figure.places[link]))
        own = rotations.multiply(body.figure.rests[link], joints[:, link])
        above = rotations.multiply(above, own)
        turns.append(above)
    points.append(points[-1] + rotations.rotate(above, limb.tip))
    return np.stack(turns, axis=1), np.stack(points, axis=1)


def reach(
    body: Body,
    limb: Limb,
    root: np.ndarray,
    above: np.ndarray,
    joints: np.ndarray,
    target: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Bring a limb's end to its target.

    Args:
        body: the body.
        limb: one of its limbs.
        root: (t, 3) its first joint, m.
        above: (t, 4) turn of the link that carries it.
        joints: (t, n, 4) local turns of all links: the posture.
        target: (t, 3) m.

    Returns:
        (t, m, 4) local turns of the limb's links, and (t,) what is missing to the
        target, m.
    """
    if len(limb.links) == 2:
        return _two_bones(body, limb, root, above, joints, target)
    return _many_bones(body, limb, root, above, joints, target)


def _two_bones(
    body: Body,
    limb: Limb,
    root: np.ndarray,
    above: np.ndarray,
    joints: np.ndarray,
    target: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    turns, points = limb_points(body, limb, root, above, joints)
    a, b = points[:, 1] - root, points[:, 2] - points[:, 1]
    upper, lower = (float(np.linalg.norm(x)) for x in (body.figure.places[limb.links[1]], limb.tip))
    along = rotations.normalise(a)
    # Where the lower bone leaves the upper one's line, in the posture.
    aside = rotations.cross(along, rotations.cross(b / lower, along))
    own = -rotations.rotate(turns[:, 0], limb.bend)
    own = rotations.normalise(own - rotations.dot(own, along)[:, None] * along)
    side = rotations.normalise(aside + STRAIGHT * own)
    line = target - root
    distance = np.sqrt(rotations.dot(line, line))
    used = np.clip(distance, abs(upper - lower), upper + lower)
    cosine = np.clip((used**2 - upper**2 - lower**2) / (2.0 * upper * lower), -1.0, 1.0)
    sine = np.sqrt(1.0 - cosine**2)
    bent = lower * (cosine[:, None] * along + sine[:, None] * side)
    knee = rotations.between(b, bent)
    swing = rotations.between(a + bent, np.where(distance[:, None] > 1e-9, line, a + bent))
    first = rotations.multiply(swing, turns[:, 0])
    second = rotations.multiply(swing, rotations.multiply(knee, turns[:, 1]))
    local = _local(body, limb, above, np.stack([first, second], axis=1))
    return local, np.abs(distance - used)


def _local(body: Body, limb: Limb, above: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """(t, m, 4) turns against rest, of turns in the world."""
    rests = body.figure.rests[list(limb.links)]
    carried = np.concatenate([above[:, None], turns[:, :-1]], axis=1)
    return rotations.multiply(rotations.conjugate(rotations.multiply(carried, rests)), turns)


def _many_bones(
    body: Body,
    limb: Limb,
    root: np.ndarray,
    above: np.ndarray,
    joints: np.ndarray,
    target: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    chain = list(limb.links)
    axes = body.figure.axes[chain]
    free = np.swapaxes(axes, -1, -2) @ axes  # onto the freedoms of each joint
    wanted, now = joints[:, chain], joints.copy()
    close = CLOSE * length(body, limb)
    for n in range(ROUNDS):
        turns, points = limb_points(body, limb, root, above, now)
        miss = target - points[:, -1]
        far = np.sqrt(rotations.dot(miss, miss))
        if n >= POSTURE_ROUNDS and (far <= close).all():
            break
        matrices = rotations.to_matrix(turns)
        lever = points[:, -1:] - points[:, :-1]
        moves = -crossing(lever.reshape(-1, 3)).reshape(*lever.shape, 3) @ matrices @ free
        toward = np.zeros_like(lever)
        if n < POSTURE_ROUNDS:
            local = rotations.multiply(rotations.conjugate(now[:, chain]), wanted)
            toward = (free @ rotations.to_rotation_vector(local)[..., None])[..., 0]
        square = np.einsum("tmij,tmkj->tik", moves, moves)
        square += (0.01 * far**2 + 1e-14)[:, None, None] * np.eye(3)
        left = miss - np.einsum("tmij,tmj->ti", moves, toward)
        push = np.linalg.solve(square, left[..., None])[..., 0]
        step = toward + np.einsum("tmij,ti->tmj", moves, push)
        size = np.abs(step).max(axis=(1, 2), keepdims=True)
        step *= LARGEST_STEP / np.maximum(size, LARGEST_STEP)
        turned = rotations.multiply(now[:, chain], rotations.from_rotation_vector(step))
        now[:, chain] = rotations.normalise(turned)
    _, points = limb_points(body, limb, root, above, now)
    return now[:, chain], np.linalg.norm(target - points[:, -1], axis=1)
