# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies in the air: the centre of mass falls, the angular momentum stays.

With c, I and H the centre of mass, inertia and momentum of a body in the frame of its pelvis,
whose turn is R, the momentum L about the centre of mass is constant and

    R' = R [w],   w = I^-1 (R^T L - H),   centre = c_0 + V t + g t^2 / 2

(Frohlich, "Do springboard divers violate angular momentum conservation?", 1979). V follows
from the time t and the transition postures at both ends (Girard 1986, section 5.2):
V_up = g [t / 2 - h / (g t)], h being the liftoff height less the touchdown height.

L and the turns are sought together, so that the body lands turned as its landing posture is;
which of its whole turns is meant, the postures' own curve of turns tells, from which the
search sets out. In quaternions, q' = q w / 2 is met at the nodes of Gauss on pieces between
which the joints' course has its corners (collocation; Hairer, Norsett and Wanner, "Solving
Ordinary Differential Equations I", 1993, section II.7): polynomials of q whose error falls
with the ORDER-th power of a piece's length, and with its 2 ORDER-th power at the pieces' ends,
where their length stays 1. All nodes of a flight are solved for at once, by Newton's rule, in
which pieces are linear in their first turn and L, and follow each other; where its steps would
lead far, as where a body turns twice, L alone is sought, and pieces are solved one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss, legvander

from .. import rotations
from .body import Body, inside

ORDER = 12  # nodes of a piece
LONGEST = 0.05  # s that a piece lasts
LANDED = 1e-11  # rad
NEWTON = 30
PARTS = (1.0, 0.5, 0.25, 0.1, 0.02)  # of a step, until it leads nearer
FARTHEST = 1.0  # of a quaternion: a step that leads further may lead to other whole turns

Course = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def rise_speed(duration: float, drop: float, gravity: float) -> float:
    """V_up = g [t / 2 - h / (g t)], m/s: negative where the body drops.

    Args:
        duration: of the flight t, s.
        drop: liftoff height less touchdown height, h, m.
        gravity: m/s^2.
    """
    return gravity * (0.5 * duration - drop / (gravity * duration))


class _Gauss(NamedTuple):
    """Rule of Gauss on 0 .. 1.

    Attributes:
        nodes: (s,).
        weights: (s,).
        modes: (s, s) from values at the nodes to shares of Legendre's polynomials.
        sums: (s, s) from values at the nodes to integrals from 0 to each node.
    """

    nodes: np.ndarray
    weights: np.ndarray
    modes: np.ndarray
    sums: np.ndarray


def _integrals(at: np.ndarray, order: int) -> np.ndarray:
    """(t, order) integrals of Legendre's polynomials on 0 .. 1, from 0 to where they are wanted."""
    p = legvander(2.0 * at - 1.0, order)
    degrees = np.arange(1, order)
    higher = (p[:, 2:] - p[:, :-2]) / (2.0 * (2.0 * degrees + 1.0))
    return np.concatenate([at[:, None], higher], axis=1)


@cache
def _gauss(order: int) -> _Gauss:
    nodes, weights = leggauss(order)
    nodes, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    sizes = 2.0 * np.arange(order)[:, None] + 1.0
    modes = sizes * legvander(2.0 * nodes - 1.0, order - 1).T * weights
    return _Gauss(nodes, weights, modes, _integrals(nodes, order) @ modes)


class Aim(NamedTuple):
    """What `shoot` finds.

    Attributes:
        momentum: (3,) kg m^2/s.
        ends: (m + 1,) of the pieces, s.
        turns: (m + 1, 4) of the pelvis there.
        rates: (m, s, 4) of the turns, as shares of Legendre's polynomials on the pieces, 1/s.
        goal: (4,) turn at the landing that is sought, of the sign that the way there gives it.
        missed: angle left at the landing, rad.
    """

    momentum: np.ndarray
    ends: np.ndarray
    turns: np.ndarray
    rates: np.ndarray
    goal: np.ndarray
    missed: float

    def along(self, times: np.ndarray) -> np.ndarray:
        """(t, 4) turns, as long as the error of the integration leaves them.

        Args:
            times: (t,) s.
        """
        k = np.clip(np.searchsorted(self.ends, times, side="right") - 1, 0, len(self.rates) - 1)
        span = (self.ends[k + 1] - self.ends[k])[:, None]
        parts = _integrals((times - self.ends[k]) / span[:, 0], self.rates.shape[1])
        return self.turns[k] + span * np.einsum("ts,tsk->tk", parts, self.rates[k])


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
        return rotations.normalise(self.aim.along(times))

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


def _pieces(breaks: np.ndarray, longest: float) -> np.ndarray:
    """Times no further apart than pieces last, the breaks among them."""
    pieces = [
        np.linspace(a, b, int(np.ceil((b - a) / longest - 1e-9)), endpoint=False)
        for a, b in zip(breaks[:-1], breaks[1:], strict=True)
    ]
    return np.append(np.concatenate(pieces), breaks[-1])


def _from_left(q: np.ndarray) -> np.ndarray:
    """Matrices (..., 4, 4) that take a quaternion p to q p."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = ((w, -x, -y, -z), (x, w, -z, y), (y, z, w, -x), (z, -y, x, w))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


class _State(NamedTuple):
    """What is sought: (3,) momentum, (m + 1, 4) turns at the pieces' ends, (m, s, 4) at nodes."""

    momentum: np.ndarray
    turns: np.ndarray
    nodes: np.ndarray


class _Rest(NamedTuple):
    """By how much a state is off."""

    rates: np.ndarray  # (m, s, 4) that momentum asks for at the nodes
    spins: np.ndarray  # (m, s, 3)
    nodes: np.ndarray  # (m, s, 4)
    turns: np.ndarray  # (m, 4) at the pieces' last ends
    flown: float  # the largest of these
    size: float  # or of these and the angle that it lands otherwise


class _Search:
    """Newton's rule for a flight whose body and joints are looked up once."""

    def __init__(
        self, gauss: _Gauss, spans: np.ndarray, spread: np.ndarray, held: np.ndarray,
        goal: np.ndarray,
    ) -> None:
        self._gauss, self._goal = gauss, rotations.conjugate(goal)
        self._spans, self._spread, self._held = spans, spread, held

    def rest(self, state: _State) -> _Rest:
        h = self._spans[:, None]
        push = np.append(0.0, state.momentum)
        own = rotations.multiply(
            rotations.conjugate(state.nodes), rotations.multiply(push, state.nodes)
        )
        spins = (self._spread @ (own[..., 1:] - self._held)[..., None])[..., 0]
        spinning = np.concatenate([np.zeros((*spins.shape[:2], 1)), spins], axis=2)
        rates = 0.5 * rotations.multiply(state.nodes, spinning)
        first = state.turns[:-1]
        nodes = first[:, None] + h[..., None] * (self._gauss.sums @ rates) - state.nodes
        turns = first + h * (self._gauss.weights @ rates) - state.turns[1:]
        flown = max(float(np.abs(x).max()) for x in (nodes, turns))
        size = max(flown, float(np.linalg.norm(self.off(state))))
        return _Rest(rates, spins, nodes, turns, flown, size)

    def off(self, state: _State) -> np.ndarray:
        """(3,) by which it lands turned otherwise: beyond pi it has gone the longer way."""
        q = rotations.multiply(self._goal, state.turns[-1])
        sine = float(np.linalg.norm(q[1:]))
        return q[1:] * (2.0 * np.arctan2(sine, q[0]) / sine if sine > 1e-12 else 2.0)

    def step(self, state: _State, rest: _Rest, aims: bool) -> _State:
        """What Newton's rule changes a state by; without aiming the momentum stays."""
        q, h = state.nodes, self._spans[:, None, None]
        m, s = q.shape[:2]
        # Of rates over turns, and over the momentum.
        left = 0.5 * _from_left(q)[..., 1:] @ self._spread
        spinning = np.concatenate([np.zeros((m, s, 1)), rest.spins], axis=2)
        pushed = rotations.multiply(rotations.conjugate(q), np.append(0.0, state.momentum))
        by_turns = 0.5 * rotations.right_product(spinning)
        by_turns = by_turns + left @ (2.0 * _from_left(pushed)[..., 1:, :])
        by_momentum = left @ np.swapaxes(rotations.to_matrix(q), -1, -2)
        sums = h * self._gauss.sums
        whole = np.eye(4 * s) - np.einsum("mij,mjab->miajb", sums, by_turns).reshape(
            m, 4 * s, 4 * s
        )
        # Columns: the turn at the piece's first end, the momentum, and what is off.
        right = np.empty((m, s, 4, 8))
        right[..., :4] = np.eye(4)
        right[..., 4:7] = np.einsum("mij,mjab->miab", sums, by_momentum)
        right[..., 7] = rest.nodes
        inner = np.linalg.solve(whole, right.reshape(m, 4 * s, 8)).reshape(m, s, 4, 8)
        weights = h[..., 0] * self._gauss.weights
        slopes = by_turns @ inner
        slopes[..., 4:7] += by_momentum
        across = np.einsum("mj,mjab->mab", weights, slopes)
        across[..., :4] += np.eye(4)
        across[..., 7] += rest.turns
        ends = np.zeros((m + 1, 4, 4))  # columns: the momentum, and what is off
        for k in range(m):
            ends[k + 1] = across[k, :, :4] @ ends[k] + across[k, :, 4:]
        move = np.zeros(3)
        if aims:
            # Where it lands turns on by twice the vector part of d(goal^-1 q) (goal^-1 q)^-1.
            off, back = self.off(state), rotations.multiply(
                rotations.conjugate(state.turns[-1]), rotations.conjugate(self._goal)
            )
            seen = 2.0 * (rotations.right_product(back) @ _from_left(self._goal) @ ends[-1])[1:]
            move = np.linalg.lstsq(seen[:, :3], -off - seen[:, 3], rcond=1e-10)[0]
        by = np.append(move, 1.0)
        turns = ends @ by
        nodes = np.einsum("msab,mb->msa", inner[..., :4], turns[:-1]) + inner[..., 4:] @ by
        return _State(move, turns, nodes)

    def found(self, state: _State, aims: bool) -> tuple[_State, _Rest]:
        """The state near one that is off by nothing, or as near as Newton's rule comes to it."""
        rest = self.rest(state)
        for _ in range(NEWTON):
            size = rest.size if aims else rest.flown
            if size < 0.1 * LANDED:
                break
            move = self.step(state, rest, aims)
            if aims and np.abs(move.nodes).max() > FARTHEST:
                break
            for part in PARTS:
                tried = _State(*(a + part * b for a, b in zip(state, move, strict=True)))
                left = self.rest(tried)
                if (left.size if aims else left.flown) < size:
                    break
            else:
                break
            state, rest = tried, left
        return state, rest

    def shot(self, momentum: np.ndarray, start: np.ndarray) -> tuple[_State, _Rest]:
        """The flight from a turn with a momentum, wherever it lands: piece after piece."""
        turns, nodes = [start], []
        for k in range(len(self._spans)):
            part = slice(k, k + 1)
            one = _Search(
                self._gauss, self._spans[part], self._spread[part], self._held[part], start
            )
            still = np.broadcast_to(turns[-1], (1, len(self._gauss.nodes), 4))
            state = _State(momentum, np.stack([turns[-1], turns[-1]]), still)
            state, _ = one.found(state, False)
            turns.append(state.turns[1])
            nodes.append(state.nodes[0])
        flown = _State(momentum, np.stack(turns), np.stack(nodes))
        return flown, self.rest(flown)

    def shots(self, momentum: np.ndarray, start: np.ndarray) -> tuple[_State, _Rest]:
        """The flight that lands best, by Newton's rule for the momentum alone."""
        state, rest = self.shot(momentum, start)
        for _ in range(NEWTON):
            if rest.size < LANDED:
                break
            move = self.step(state, rest, True).momentum
            for part in PARTS:
                tried, left = self.shot(state.momentum + part * move, start)
                if left.size < rest.size:
                    break
            else:
                break
            state, rest = tried, left
        return state, rest


def shoot(
    body: Body,
    course: Course,
    guide: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    breaks: np.ndarray,
    before: Aim | None,
    order: int = ORDER,
    longest: float = LONGEST,
) -> Aim:
    """The angular momentum with which a body lands as its guide does.

    Args:
        body: the body.
        course: times -> local turns and rates of its joints.
        guide: times -> turns and spins (in its own frame) that the pelvis should have.
        breaks: (b,) times between which the course is smooth, first and last those of the
            flight, s.
        before: what was found for a flight much like it; None begins with the guide's turns
            and mean momentum.
        order: nodes of a piece.
        longest: that a piece lasts, s.

    Returns:
        The momentum and what it does.
    """
    gauss, ends = _gauss(order), _pieces(breaks, longest)
    spans = np.diff(ends)
    nodes = ends[:-1, None] + spans[:, None] * gauss.nodes
    shape = nodes.shape
    found = inside(body, *course(nodes.ravel()))
    if before is None:
        every = np.append(np.concatenate([ends[:-1, None], nodes], axis=1).ravel(), ends[-1])
        turns, spins = guide(every)
        turns = rotations.continuous(turns)
        goal, now = turns[-1], turns[:-1].reshape(-1, order + 1, 4)
        spins = spins[:-1].reshape(-1, order + 1, 3)[:, 1:].reshape(-1, 3)
        own = (found.inertia @ spins[..., None])[..., 0] + found.momentum
        world = rotations.rotate(now[:, 1:].reshape(-1, 4), own)
        weights = (spans[:, None] * gauss.weights).ravel()
        momentum = weights @ world / weights.sum()
        state = _State(momentum, np.append(now[:, 0], goal[None], axis=0), now[:, 1:])
    else:
        goal = before.goal
        state = _State(
            before.momentum, before.along(ends), before.along(nodes.ravel()).reshape(*shape, 4)
        )
    search = _Search(
        gauss, spans, np.linalg.inv(found.inertia).reshape(*shape, 3, 3),
        found.momentum.reshape(*shape, 3), goal,
    )
    first = state
    state, rest = search.found(first, True)
    if rest.size > LANDED:
        state, rest = search.shots(first.momentum, first.turns[0])
    missed = float(np.linalg.norm(search.off(state)))
    return Aim(state.momentum, ends, state.turns, gauss.modes @ rest.rates, goal, missed)
