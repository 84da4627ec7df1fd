# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies in the air: the centre of mass falls, the angular momentum stays.

With c, I and H the centre of mass, inertia and momentum of a body in the frame of its pelvis,
whose turn is R, the momentum L about the centre of mass is constant and

    R' = R [w],   w = I^-1 (R^T L - H),   centre = c_0 + V t + g t^2 / 2

(Frohlich, "Do springboard divers violate angular momentum conservation?", 1979). V follows
from the time t and the transition postures at both ends (Girard 1986, section 5.2):
V_up = g [t / 2 - h / (g t)], h being the liftoff height less the touchdown height. L is sought
by Newton's rule so that the body lands turned as its landing posture is; which of its whole
turns is meant, the postures' own curve of turns tells: what differs from it is followed
over the flight, without a jump.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import rotations
from .body import Body, inside

ROUGH_STEP, FINE_STEP = 0.01, 0.0007  # s
LEAST = 0.04  # s: of shorter pieces the steps are shorter likewise
LANDED = 1e-11  # rad
NEWTON = 30

Course = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def rise_speed(duration: float, drop: float, gravity: float) -> float:
    """V_up = g [t / 2 - h / (g t)], m/s: negative where the body drops.

    Args:
        duration: of the flight t, s.
        drop: liftoff height less touchdown height, h, m.
        gravity: m/s^2.
    """
    return gravity * (0.5 * duration - drop / (gravity * duration))


class _Stages(NamedTuple):
    """I^-1 (9 numbers) and H (3) at times: numbers, or arrays of them."""

    spread: tuple
    momentum: tuple


def _stages(body: Body, course: Course, times: np.ndarray) -> _Stages:
    found = inside(body, *course(times))
    inverse = np.linalg.inv(found.inertia).reshape(-1, 9)
    return _Stages(tuple(inverse.T), tuple(found.momentum.T))


def _slope(q: tuple, momentum: tuple, at: _Stages) -> tuple:
    """q' = q w / 2, in components, so that one code serves numbers and arrays."""
    w, x, y, z = q
    lx, ly, lz = momentum
    # R^T L
    tx, ty, tz = 2 * (z * ly - y * lz), 2 * (x * lz - z * lx), 2 * (y * lx - x * ly)
    hx, hy, hz = at.momentum
    a = lx + w * tx + z * ty - y * tz - hx
    b = ly + w * ty + x * tz - z * tx - hy
    c = lz + w * tz + y * tx - x * ty - hz
    i = at.spread
    p = 0.5 * (i[0] * a + i[1] * b + i[2] * c)
    q_ = 0.5 * (i[3] * a + i[4] * b + i[5] * c)
    r = 0.5 * (i[6] * a + i[7] * b + i[8] * c)
    return (
        -x * p - y * q_ - z * r, w * p + y * r - z * q_,
        w * q_ + z * p - x * r, w * r + x * q_ - y * p,
    )


def _step(q: tuple, momentum: tuple, h, first: _Stages, mid: _Stages, last: _Stages) -> tuple:
    """One step of Runge and Kutta's rule of fourth order."""

    def ahead(k: tuple, by) -> tuple:
        return (q[0] + by * k[0], q[1] + by * k[1], q[2] + by * k[2], q[3] + by * k[3])

    k1 = _slope(q, momentum, first)
    k2 = _slope(ahead(k1, 0.5 * h), momentum, mid)
    k3 = _slope(ahead(k2, 0.5 * h), momentum, mid)
    k4 = _slope(ahead(k3, h), momentum, last)
    new = tuple(
        a + h / 6.0 * (b + 2.0 * (c + d) + e)
        for a, b, c, d, e in zip(q, k1, k2, k3, k4, strict=True)
    )
    size = (new[0] ** 2 + new[1] ** 2 + new[2] ** 2 + new[3] ** 2) ** 0.5
    return tuple(a / size for a in new)


class Aim(NamedTuple):
    """What `shoot` finds.

    Attributes:
        momentum: (3,) kg m^2/s.
        slopes: (3, 3) of what the landing is off, over the momentum.
        nodes: (k,) times of the integration, s.
        turns: (k, 4) of the pelvis there.
        missed: angle left at the landing, rad.
    """

    momentum: np.ndarray
    slopes: np.ndarray
    nodes: np.ndarray
    turns: np.ndarray
    missed: float


@dataclass(frozen=True)
class Flight:
    """A body between a liftoff and a touchdown.

    Attributes:
        start: s.
        end: s.
        place: (3,) the centre of mass at liftoff, m.
        velocity: (3,) of it there, m/s.
        gravity: m/s^2, downwards.
        aim: angular momentum about the centre of mass, and the turns that follow.
        body: the body.
        course: times -> local turns and rates of the joints.
    """

    start: float
    end: float
    place: np.ndarray
    velocity: np.ndarray
    gravity: float
    aim: Aim
    body: Body
    course: Course

    def centre(self, times: np.ndarray) -> np.ndarray:
        """(t, 3) centre of mass, m.

        Args:
            times: (t,) s.
        """
        t = (times - self.start)[:, None]
        return self.place + self.velocity * t - 0.5 * self.gravity * t * t * np.eye(3)[2]

    def turn(self, times: np.ndarray) -> np.ndarray:
        """(t, 4) turns of the pelvis.

        Args:
            times: (t,) s.
        """
        nodes = self.aim.nodes
        k = np.clip(np.searchsorted(nodes, times, side="right") - 1, 0, len(nodes) - 2)
        base = nodes[k]
        h = times - base
        stages = [_stages(self.body, self.course, base + f * h) for f in (0.0, 0.5, 1.0)]
        momentum = tuple(self.aim.momentum)
        return np.stack(_step(tuple(self.aim.turns[k].T), momentum, h, *stages), axis=1)

    def pelvis(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Place, turn, velocity and spin (in the pelvis' frame) of the pelvis.

        Args:
            times: (t,) s.

        Returns:
            (t, 3) m, (t, 4), (t, 3) m/s and (t, 3) rad/s.
        """
        turn = self.turn(times)
        found = inside(self.body, *self.course(times))
        own = rotations.rotate(rotations.conjugate(turn), self.aim.momentum)
        left = (own - found.momentum)[..., None]
        spin = np.linalg.solve(found.inertia, left)[..., 0]
        place = self.centre(times) - rotations.rotate(turn, found.centre)
        drift = rotations.cross(spin, found.centre) + found.velocity
        fall = np.array([0.0, 0.0, self.gravity]) * (times - self.start)[:, None]
        velocity = self.velocity - fall - rotations.rotate(turn, drift)
        return place, turn, velocity, spin


def _nodes(breaks: np.ndarray, step: float) -> np.ndarray:
    """Times no further apart than a step, the breaks among them."""
    pieces = [
        np.linspace(a, b, int(np.ceil(max(b - a, LEAST) / step)), endpoint=False)
        for a, b in zip(breaks[:-1], breaks[1:], strict=True)
    ]
    return np.append(np.concatenate(pieces), breaks[-1])


class _Shot:
    """Integration of a flight for a momentum, on nodes that are looked up once."""

    def __init__(
        self, body: Body, course: Course, nodes: np.ndarray, guide: np.ndarray
    ) -> None:
        every = np.empty(2 * len(nodes) - 1)
        every[::2], every[1::2] = nodes, 0.5 * (nodes[1:] + nodes[:-1])
        stages = _stages(body, course, every)
        self._stages = [
            _Stages(tuple(a), tuple(b))
            for a, b in zip(
                np.stack(stages.spread, 1).tolist(), np.stack(stages.momentum, 1).tolist(),
                strict=True,
            )
        ]
        self._steps = np.diff(nodes).tolist()
        self._guide = guide

    def turns(self, momentum: np.ndarray) -> np.ndarray:
        """(k, 4) turns at the nodes."""
        q, push = tuple(self._guide[0].tolist()), tuple(momentum.tolist())
        out = [q]
        for i, h in enumerate(self._steps):
            q = _step(q, push, h, *self._stages[2 * i : 2 * i + 3])
            out.append(q)
        return np.array(out)

    def off(self, turns: np.ndarray) -> np.ndarray:
        """(3,) how far the last turn is from the guide's, followed over the flight."""
        apart = rotations.multiply(rotations.conjugate(self._guide), turns)
        q = rotations.continuous(apart)[-1]
        sine = float(np.linalg.norm(q[1:]))
        angle = 2.0 * np.arctan2(sine, q[0])  # 0 .. 2 pi: beyond pi it has gone the longer way
        return q[1:] * (angle / sine if sine > 1e-12 else 2.0)


def shoot(
    body: Body,
    course: Course,
    guide: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    breaks: np.ndarray,
    before: Aim | None,
    step: float,
) -> Aim:
    """The angular momentum with which a body lands as its guide does.

    Args:
        body: the body.
        course: times -> local turns and rates of its joints.
        guide: times -> turns and spins (in its own frame) that the pelvis should have.
        breaks: (b,) times between which the course is smooth, first and last those of the
            flight, s.
        before: what was found for a flight much like it; None begins with the guide's
            mean momentum.
        step: longest step of the integration, s.

    Returns:
        The momentum and what it does.
    """
    nodes = _nodes(breaks, step)
    turns, spins = guide(nodes)
    shot = _Shot(body, course, nodes, turns)
    if before is None:
        found = inside(body, *course(nodes))
        own = (found.inertia @ spins[..., None])[..., 0] + found.momentum
        world = rotations.rotate(turns, own)
        middle = 0.5 * (world[1:] + world[:-1]) * np.diff(nodes)[:, None]
        momentum = middle.sum(axis=0) / (nodes[-1] - nodes[0])
        slopes, last = np.zeros((3, 3)), 0.0
    else:
        momentum, slopes, last = before.momentum, before.slopes, np.inf
    path = shot.turns(momentum)
    miss = shot.off(path)
    for _ in range(NEWTON):
        size = float(np.linalg.norm(miss))
        if size < LANDED:
            break
        if size > 0.05 * last:  # else the slopes are still good
            by = 1e-5 * (1.0 + float(np.abs(momentum).max()))
            ahead = [shot.off(shot.turns(momentum + by * axis)) - miss for axis in np.eye(3)]
            slopes = np.stack(ahead, axis=1) / by
        move = np.linalg.lstsq(slopes, -miss, rcond=1e-10)[0]
        for part in (1.0, 0.5, 0.25, 0.1, 0.02):
            tried = shot.turns(momentum + part * move)
            left = shot.off(tried)
            if np.linalg.norm(left) < size:
                break
        else:
            break
        momentum, path, miss, last = momentum + part * move, tried, left, size
    return Aim(momentum, slopes, nodes, path, float(np.linalg.norm(miss)))
