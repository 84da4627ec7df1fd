# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs whose ends are at a place, their joints as near to a posture as that leaves them.

A limb of two bones keeps the plane that the posture bends it in: it is bent in this plane
until it is as long as the way to its target, then swung there by the shortest turn. So a
knee that is a hinge stays one. Longer limbs go by resolved motion rates (Girard 1986,
section 2.1, after Klein and Huang 1983), in space,

    dq = g + J+ (dx - J g),   J+ = J^T (J J^T + d^2 1)^-1

with g the way to the posture's joints in the first steps and 0 afterwards, and the damping d
in proportion to what is missing to the target, as in `ik.solve_chain`. Joints with limits go by
their Euler angles: those that would pass a limit stop there, and the others make up for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import rotations
from ..dynamics import Figure
from ..dynamics.exponential import crossing
from .body import Body, Limb, length

STRAIGHT = 0.02  # sine of the bend under which its plane is the limb's own
POSTURE_ROUNDS, ROUNDS = 4, 60
CLOSE = 1e-10  # of a limb's length: its end is on the target
LARGEST_STEP = 0.5  # rad


@dataclass(frozen=True, eq=False)
class Limits:
    """How far the joints of a limb may turn.

    Attributes:
        least: (m, 3) smallest Euler angles, rad; minus infinity for none.
        most: (m, 3) largest.
        orders: (m,) orders of the angles, as in `rotations.from_euler`.
    """

    least: np.ndarray
    most: np.ndarray
    orders: Sequence[str]

    @property
    def joints(self) -> list[int]:
        """Those that have any."""
        found = np.isfinite(self.least) | np.isfinite(self.most)
        return np.flatnonzero(found.any(axis=1)).tolist()


def lone_limb(
    places: np.ndarray, rests: np.ndarray, tip: np.ndarray, bend: np.ndarray
) -> tuple[Body, Limb]:
    """A limb as a body of its own, for `reach`; its first joint is where that is said to be.

    Args:
        places: (m, 3) where joints are in the frame of the link before; of the first it
            does not matter.
        rests: (m, 4) turns of the links against the one before at rest.
        tip: (3,) the limb's end in the frame of its last link.
        bend: (3,) direction to which its middle joint bends, in the frame of its first link.

    Returns:
        The body, and the limb, whose links are all of the body's.
    """
    count = len(places)
    eyes = np.tile(np.eye(3), (count, 1, 1))
    figure = Figure(
        np.arange(count) - 1, places, rests, eyes, np.ones(count), np.zeros((count, 3)), eyes
    )
    limb = Limb("limb", tuple(range(count)), tip, bend)
    return Body(figure, (limb,)), limb


def limited(joints: np.ndarray, limits: Limits) -> np.ndarray:
    """Turns within limits: those that are, as they are, the others brought to the nearest.

    Args:
        joints: (t, m, 4) local turns of a limb's links.
        limits: of these.

    Returns:
        (t, m, 4) local turns.
    """
    found = joints.copy()
    if limits.joints:
        found[:, limits.joints] = _Angles(limits, joints).turns()
    return found


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
    limits: Limits | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Bring a limb's end to its target.

    Args:
        body: the body.
        limb: one of its limbs.
        root: (t, 3) its first joint, m.
        above: (t, 4) turn of the link that carries it.
        joints: (t, n, 4) local turns of all links: the posture.
        target: (t, 3) m.
        limits: of the joints; None for none.

    Returns:
        (t, m, 4) local turns of the limb's links, and (t,) what is missing to the
        target, m.
    """
    if len(limb.links) == 2:
        local, missing = _two_bones(body, limb, root, above, joints, target)
        if limits is None or not limits.joints:
            return local, missing
        joints = joints.copy()
        joints[:, list(limb.links)] = local
    return _many_bones(body, limb, root, above, joints, target, limits)


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


class _Angles:
    """Joints with limits, by their Euler angles.

    Args:
        limits: the limits.
        turns: (t, m, 4) local turns of all joints.
    """

    def __init__(self, limits: Limits, turns: np.ndarray) -> None:
        self.rows = limits.joints
        self._orders = [limits.orders[k] for k in self.rows]
        self._least, self._most = limits.least[self.rows], limits.most[self.rows]
        low, high = (np.clip(x, -np.pi, np.pi) for x in (self._least, self._most))
        middle = 0.5 * (low + high)
        self.now = np.stack([
            self._nearest(turns[:, k], n, middle[n]) for n, k in enumerate(self.rows)
        ], axis=1)
        self.wanted = self.now

    def _nearest(self, turns: np.ndarray, n: int, middle: np.ndarray) -> np.ndarray:
        """Of the angles of a turn those that pass the limits least, and then not at all."""
        order = self._orders[n]
        found = rotations.to_euler(turns[None], order)[0]
        other = found + np.pi
        second = "XYZ".index(order[1])
        other[:, second] = np.pi - found[:, second]
        both = np.stack([found, other])
        both -= 2.0 * np.pi * np.round((both - middle) / (2.0 * np.pi))
        within = np.clip(both, self._least[n], self._most[n])
        past = np.abs(both - within).sum(axis=2)
        return np.where((past[1] < past[0] - 1e-9)[:, None], within[1], within[0])

    def _axes(self) -> np.ndarray:
        """(t, l, 3, 3) columns are what the joints turn about as their angles change, in the
        frames of the links."""
        found = np.empty((*self.now.shape, 3))
        for n, order in enumerate(self._orders):
            done = np.zeros_like(self.now[:, n])
            for letter in order:
                axis = "XYZ".index(letter)
                before = rotations.conjugate(rotations.from_euler(done, order))
                found[:, n, :, axis] = rotations.rotate(before, np.eye(3)[axis])
                done[:, axis] = self.now[:, n, axis]
        return found

    def step(
        self, moves: np.ndarray, free: np.ndarray, miss: np.ndarray, toward: np.ndarray,
        homeward: bool,
    ) -> np.ndarray:
        """(t, m, 3) a step of all joints, after which these stand within their limits.

        Args:
            moves: (t, m, 3, 3) of the end, by how joints turn in the frames of their links.
            free: (m, 3, 3) onto the freedoms of the others.
            miss: (t, 3) from the end to its target.
            toward: (t, m, 3) the others' way to the posture.
            homeward: whether these, too, are to go to the posture.
        """
        rows = self.rows
        by_angles = np.broadcast_to(free, (len(miss), *free.shape)).copy()
        by_angles[:, rows] = self._axes()
        moves, toward = moves @ by_angles, toward.copy()
        toward[:, rows] = (self.wanted - self.now) * homeward
        step = _step(moves, miss, toward)
        allowed = np.clip(self.now + step[:, rows], self._least, self._most) - self.now
        stopped = np.zeros(step.shape, bool)
        stopped[:, rows] = np.abs(allowed - step[:, rows]) > 1e-12
        if stopped.any():  # the others make up for those
            toward[:, rows] = np.where(stopped[:, rows], allowed, toward[:, rows])
            step = _step(moves, miss, toward, ~stopped)
        self.now = np.clip(self.now + step[:, rows], self._least, self._most)
        return step

    def turns(self) -> np.ndarray:
        """(t, l, 4) local turns."""
        pairs = enumerate(self._orders)
        return np.stack([rotations.from_euler(self.now[:, n], o) for n, o in pairs], axis=1)


def _many_bones(
    body: Body,
    limb: Limb,
    root: np.ndarray,
    above: np.ndarray,
    joints: np.ndarray,
    target: np.ndarray,
    limits: Limits | None,
) -> tuple[np.ndarray, np.ndarray]:
    chain = list(limb.links)
    axes = body.figure.axes[chain]
    free = np.swapaxes(axes, -1, -2) @ axes  # onto the freedoms of each joint
    angles = None if limits is None or not limits.joints else _Angles(limits, joints[:, chain])
    now = joints.copy()
    if angles is not None:
        bounded = [chain[k] for k in angles.rows]
        now[:, bounded] = angles.turns()
    wanted = now[:, chain]
    close = CLOSE * length(body, limb)
    for n in range(ROUNDS):
        turns, points = limb_points(body, limb, root, above, now)
        miss = target - points[:, -1]
        if n >= POSTURE_ROUNDS and (np.sqrt(rotations.dot(miss, miss)) <= close).all():
            break
        lever = points[:, -1:] - points[:, :-1]
        moves = -crossing(lever.reshape(-1, 3)).reshape(*lever.shape, 3)
        moves = moves @ rotations.to_matrix(turns)
        toward = np.zeros_like(lever)
        if n < POSTURE_ROUNDS:
            local = rotations.multiply(rotations.conjugate(now[:, chain]), wanted)
            toward = (free @ rotations.to_rotation_vector(local)[..., None])[..., 0]
        if angles is None:
            step = _step(moves @ free, miss, toward)
        else:
            step = angles.step(moves, free, miss, toward, n < POSTURE_ROUNDS)
        turned = rotations.multiply(now[:, chain], rotations.from_rotation_vector(step))
        now[:, chain] = rotations.normalise(turned)
        if angles is not None:
            now[:, bounded] = angles.turns()
    _, points = limb_points(body, limb, root, above, now)
    return now[:, chain], np.linalg.norm(target - points[:, -1], axis=1)


def _step(
    moves: np.ndarray, miss: np.ndarray, toward: np.ndarray, gives: np.ndarray | None = None
) -> np.ndarray:
    """(t, m, 3) dq of the module's equation; what does not give goes `toward` and no further."""
    pushed = moves if gives is None else moves * gives[..., None, :]
    square = np.einsum("tmij,tmkj->tik", pushed, pushed)
    square += (0.01 * rotations.dot(miss, miss) + 1e-14)[:, None, None] * np.eye(3)
    left = miss - np.einsum("tmij,tmj->ti", moves, toward)
    push = np.linalg.solve(square, left[..., None])[..., 0]
    step = toward + np.einsum("tmij,ti->tmj", pushed, push)
    size = np.abs(step).max(axis=(1, 2), keepdims=True)
    return step * (LARGEST_STEP / np.maximum(size, LARGEST_STEP))
