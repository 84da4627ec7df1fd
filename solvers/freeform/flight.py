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
where their length stays 1. All nodes of all flights are solved for at once, by Newton's rule, in
which pieces are linear in their first turn and L, and follow each other, and integrals of
integrals vanish so fast that a few sweeps of Picard's rule are as good as a solution; where
its steps would lead far, as where a body turns twice, L alone is sought, and pieces are solved
one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.polynomial.legendre import leggauss, legvander

from .. import rotations
from .body import Body, Inside, inside

ORDER = 12  # nodes of a piece
LONGEST = 0.07  # s that a piece lasts
LANDED = 1e-11  # rad
NEWTON = 30
SWEEPS, SWEPT = 8, 1e-6  # of Picard's rule in a step of Newton's, and when they are enough
PARTS = (1.0, 0.5, 0.25, 0.1, 0.02)  # of a step, until it leads nearer
ROWS = 720  # times that bodies are looked at at once: so much fits near a processor
FARTHEST = 1.0  # of a quaternion: a step that leads further may lead to other whole turns

Number = TypeVar("Number", float, np.ndarray)
Course = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def rise_speed(duration: Number, drop: Number, gravity: float) -> Number:
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
    """(..., order) integrals of Legendre's polynomials on 0 .. 1, from 0 to some place."""
    p = legvander(2.0 * at - 1.0, order)
    degrees = np.arange(1, order)
    higher = (p[..., 2:] - p[..., :-2]) / (2.0 * (2.0 * degrees + 1.0))
    return np.concatenate([at[..., None], higher], axis=-1)


@cache
def _gauss(order: int) -> _Gauss:
    nodes, weights = leggauss(order)
    nodes, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    sizes = 2.0 * np.arange(order)[:, None] + 1.0
    modes = sizes * legvander(2.0 * nodes - 1.0, order - 1).T * weights
    return _Gauss(nodes, weights, modes, _integrals(nodes, order) @ modes)


class Aim(NamedTuple):
    """What `shoot` finds, of one flight, or of many: then all has an axis more, the first.

    Attributes:
        momentum: (3,) kg m^2/s.
        ends: (m + 1,) of the pieces, s; of many flights the last may be of no length.
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
    missed: np.ndarray

    def of(self, number: int | np.ndarray) -> Aim:
        """That of one of many flights, or of some.

        Args:
            number: of the flight, from 0.
        """
        return Aim(*(x[number] for x in self))

    def along(self, times: np.ndarray) -> np.ndarray:
        """(t, 4) turns, as long as the error of the integration leaves them.

        Args:
            times: (t,) s, within the flight.
        """
        k = (times[..., None] > self.ends[..., None, 1:-1]).sum(axis=-1)
        start, end = (np.take_along_axis(self.ends, k + i, -1) for i in (0, 1))
        span = end - start
        parts = _integrals((times - start) / span, self.rates.shape[-2])
        rates = np.take_along_axis(self.rates, k[..., None, None], -3)
        turns = np.take_along_axis(self.turns, k[..., None], -2)
        return turns + span[..., None] * np.einsum("...s,...sk->...k", parts, rates)


class Flight(NamedTuple):
    """A body between a liftoff and a touchdown; of many flights all has an axis more, the first,
    and of times there is one for each.

    Attributes:
        start: s.
        end: s.
        place: (3,) the centre of mass at liftoff, m.
        velocity: (3,) of it there, m/s.
        gravity: m/s^2, downwards.
        aim: angular momentum about the centre of mass, and the turns that follow.
    """

    start: np.ndarray
    end: np.ndarray
    place: np.ndarray
    velocity: np.ndarray
    gravity: np.ndarray
    aim: Aim

    def of(self, number: int | np.ndarray) -> Flight:
        """One of many flights, or some.

        Args:
            number: of the flight, from 0.
        """
        return Flight._make(x.of(number) if isinstance(x, Aim) else x[number] for x in self)

    def _fall(self, t: np.ndarray) -> np.ndarray:
        return (self.gravity * t)[..., None] * np.eye(3)[2]

    def centre(self, times: np.ndarray) -> np.ndarray:
        """(t, 3) centre of mass, m.

        Args:
            times: (t,) s.
        """
        t = times - self.start
        return self.place + self.velocity * t[:, None] - 0.5 * self._fall(t * t)

    def turn(self, times: np.ndarray) -> np.ndarray:
        """(t, 4) turns of the pelvis.

        Args:
            times: (t,) s.
        """
        each = np.ndim(self.start) > 0
        turns = self.aim.along(times[:, None])[:, 0] if each else self.aim.along(times)
        return rotations.normalise(turns)

    def velocities(self, times: np.ndarray, found: Inside) -> tuple[np.ndarray, np.ndarray]:
        """Velocity of the pelvis, and its spin in its own frame.

        Args:
            times: (t,) s.
            found: what is inside the body then.

        Returns:
            (t, 3) m/s and (t, 3) rad/s.
        """
        turn = self.turn(times)
        own = rotations.rotate(rotations.conjugate(turn), self.aim.momentum)
        left = (own - found.momentum)[..., None]
        spin = np.linalg.solve(found.inertia, left)[..., 0]
        drift = rotations.cross(spin, found.centre) + found.velocity
        fall = self._fall(times - self.start)
        return self.velocity - fall - rotations.rotate(turn, drift), spin


def _pieces(breaks: np.ndarray, longest: float) -> np.ndarray:
    """Times no further apart than pieces last, the breaks among them."""
    counts = np.ceil(np.diff(breaks) / longest - 1e-9).astype(int)
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    steps = np.repeat(np.diff(breaks) / counts, counts)
    return np.append(np.repeat(breaks[:-1], counts) + number * steps, breaks[-1])


def _from_left(q: np.ndarray) -> np.ndarray:
    """Matrices (..., 4, 4) that take a quaternion p to q p."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = ((w, -x, -y, -z), (x, w, -z, y), (y, z, w, -x), (z, -y, x, w))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _pure(vectors: np.ndarray) -> np.ndarray:
    """(..., 4) quaternions of vectors (..., 3) alone."""
    out = np.zeros((*vectors.shape[:-1], 4))
    out[..., 1:] = vectors
    return out


class _State(NamedTuple):
    """What is sought of f flights: (f, 3) momenta, (f, m + 1, 4) turns at the pieces' ends, and
    (f, m, s, 4) at nodes."""

    momentum: np.ndarray
    turns: np.ndarray
    nodes: np.ndarray


class _Rest(NamedTuple):
    """By how much a state is off."""

    rates: np.ndarray  # (f, m, s, 4) that momentum asks for at the nodes
    spins: np.ndarray  # (f, m, s, 3)
    nodes: np.ndarray  # (f, m, s, 4)
    turns: np.ndarray  # (f, m, 4) at the pieces' last ends
    flown: np.ndarray  # (f,) the largest of these
    size: np.ndarray  # (f,) or of these and the angle that it lands otherwise


_Arrays = TypeVar("_Arrays", _State, _Rest)


def _rows(of: _Arrays, rows: np.ndarray) -> _Arrays:
    return type(of)(*(x[rows] for x in of))


class _Search:
    """Newton's rule for flights whose body and joints are looked up once."""

    def __init__(
        self, gauss: _Gauss, spans: np.ndarray, spread: np.ndarray, held: np.ndarray,
        goal: np.ndarray, close: float,
    ) -> None:
        self._gauss, self._goal, self._close = gauss, goal, close
        self._spans, self._spread, self._held = spans, spread, held

    def part(self, flights: np.ndarray, pieces: slice = slice(None)) -> _Search:
        """Some flights alone, or some of their pieces."""
        if len(flights) == len(self._spans) and pieces == slice(None):
            return self
        at = flights, pieces
        return _Search(
            self._gauss, self._spans[at], self._spread[at], self._held[at], self._goal[flights],
            self._close,
        )

    def rest(self, state: _State) -> _Rest:
        h = self._spans[..., None]
        push = _pure(state.momentum)[:, None, None]
        own = rotations.multiply(
            rotations.conjugate(state.nodes), rotations.multiply(push, state.nodes)
        )
        spins = (self._spread @ (own[..., 1:] - self._held)[..., None])[..., 0]
        rates = 0.5 * rotations.multiply(state.nodes, _pure(spins))
        first = state.turns[:, :-1]
        nodes = first[:, :, None] + h[..., None] * (self._gauss.sums @ rates) - state.nodes
        turns = first + h * (self._gauss.weights @ rates) - state.turns[:, 1:]
        flown = np.maximum(np.abs(nodes).max(axis=(1, 2, 3)), np.abs(turns).max(axis=(1, 2)))
        size = np.maximum(flown, np.linalg.norm(self.off(state), axis=1))
        return _Rest(rates, spins, nodes, turns, flown, size)

    def off(self, state: _State) -> np.ndarray:
        """(f, 3) by which they land turned otherwise: beyond pi they have gone the longer way."""
        q = rotations.multiply(rotations.conjugate(self._goal), state.turns[:, -1])
        sine = np.linalg.norm(q[:, 1:], axis=1)
        angle = 2.0 * np.arctan2(sine, q[:, 0])
        return q[:, 1:] * np.divide(
            angle, sine, out=np.full_like(sine, 2.0), where=sine > 1e-12
        )[:, None]

    def step(self, state: _State, rest: _Rest, aims: bool) -> _State:
        """What Newton's rule changes a state by; without aiming the momentum stays."""
        q, h = state.nodes, self._spans[..., None, None]
        f, m, s = q.shape[:3]
        # Of rates over turns, and over the momentum.
        left = 0.5 * _from_left(q)[..., 1:] @ self._spread
        pushed = rotations.multiply(
            rotations.conjugate(q), _pure(state.momentum)[:, None, None]
        )
        by_turns = 0.5 * rotations.right_product(_pure(rest.spins))
        by_turns = by_turns + left @ (2.0 * _from_left(pushed)[..., 1:, :])
        by_momentum = left @ np.swapaxes(rotations.to_matrix(q), -1, -2)
        sums = h * self._gauss.sums
        # Columns: the turn at the piece's first end, the momentum, and what is off.
        right = np.empty((f, m, s, 4, 8))
        right[..., :4] = np.eye(4)
        right[..., 4:7] = np.einsum("fmij,fmjab->fmiab", sums, by_momentum)
        right[..., 7] = rest.nodes
        inner = right
        for _ in range(SWEEPS):
            more = (sums @ (by_turns @ inner).reshape(f, m, s, 32)).reshape(right.shape)
            last, inner = inner, right + more
            if np.abs(inner - last).max() < SWEPT:
                break
        else:  # who turns as fast as that takes the whole
            whole = np.eye(4 * s) - np.einsum("fmij,fmjab->fmiajb", sums, by_turns).reshape(
                f, m, 4 * s, 4 * s
            )
            inner = np.linalg.solve(whole, right.reshape(f, m, 4 * s, 8)).reshape(right.shape)
        slopes = by_turns @ inner
        slopes[..., 4:7] += by_momentum
        across = np.einsum("fmj,fmjab->fmab", h[..., 0] * self._gauss.weights, slopes)
        across[..., :4] += np.eye(4)
        across[..., 7] += rest.turns
        ends = np.zeros((f, m + 1, 4, 4))  # columns: the momentum, and what is off
        for k in range(m):
            ends[:, k + 1] = across[:, k, :, :4] @ ends[:, k] + across[:, k, :, 4:]
        by = np.zeros((f, 4))
        by[:, 3] = 1.0
        if aims:
            # Where it lands turns on by twice the vector part of d(goal^-1 q) (goal^-1 q)^-1.
            goal = rotations.conjugate(self._goal)
            back = rotations.multiply(rotations.conjugate(state.turns[:, -1]), self._goal)
            seen = rotations.right_product(back) @ _from_left(goal) @ ends[:, -1]
            seen = 2.0 * seen[:, 1:]
            off = self.off(state) + seen[..., 3]
            by[:, :3] = -(np.linalg.pinv(seen[..., :3], rcond=1e-10) @ off[..., None])[..., 0]
        turns = np.einsum("fmab,fb->fma", ends, by)
        nodes = np.einsum("fmsab,fmb->fmsa", inner[..., :4], turns[:, :-1])
        nodes += np.einsum("fmsab,fb->fmsa", inner[..., 4:], by)
        return _State(by[:, :3], turns, nodes)

    def found(self, state: _State, aims: bool) -> tuple[_State, _Rest]:
        """The states near others that are off by nothing, or as near as Newton's rule comes."""
        state = _State(*(x.copy() for x in state))
        rest = self.rest(state)
        size = rest.size if aims else rest.flown
        live = np.arange(len(size))
        for _ in range(NEWTON):
            live = live[size[live] >= 0.1 * self._close]
            if not len(live):
                break
            now = _rows(state, live)
            move = self.part(live).step(now, _rows(rest, live), aims)
            left = np.arange(len(live))
            if aims:
                left = left[np.abs(move.nodes).max(axis=(1, 2, 3)) <= FARTHEST]
            nearer = np.zeros(len(live), bool)
            for part in PARTS:
                if not len(left):
                    break
                rows = live[left]
                pairs = zip(_rows(now, left), _rows(move, left), strict=True)
                tried = _State(*(a + part * b for a, b in pairs))
                then = self.part(rows).rest(tried)
                good = (then.size if aims else then.flown) < size[rows]
                for kept, new in ((state, tried), (rest, then)):
                    for a, b in zip(kept, new, strict=True):
                        a[rows[good]] = b[good]
                nearer[left[good]] = True
                left = left[~good]
            live = live[nearer]
        return state, rest

    def shot(self, momentum: np.ndarray, start: np.ndarray) -> tuple[_State, _Rest]:
        """Flights from turns with momenta, wherever they land: piece after piece."""
        turns, nodes = [start], []
        for k in range(self._spans.shape[1]):
            one = self.part(np.arange(len(start)), slice(k, k + 1))
            still = np.repeat(turns[-1][:, None, None], len(self._gauss.nodes), axis=2)
            state = _State(momentum, np.stack([turns[-1], turns[-1]], axis=1), still)
            state, _ = one.found(state, False)
            turns.append(state.turns[:, 1])
            nodes.append(state.nodes[:, 0])
        flown = _State(momentum, np.stack(turns, axis=1), np.stack(nodes, axis=1))
        return flown, self.rest(flown)

    def shots(self, momentum: np.ndarray, start: np.ndarray) -> tuple[_State, _Rest]:
        """The flight, of one alone, that lands best, by Newton's rule for the momentum alone."""
        state, rest = self.shot(momentum, start)
        for _ in range(NEWTON):
            if rest.size[0] < self._close:
                break
            move = self.step(state, rest, True).momentum
            for part in PARTS:
                tried, left = self.shot(state.momentum + part * move, start)
                if left.size[0] < rest.size[0]:
                    break
            else:
                break
            state, rest = tried, left
        return state, rest


def shoot(
    body: Body,
    course: Course,
    guide: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    breaks: Sequence[np.ndarray],
    before: Aim | None,
    order: int = ORDER,
    longest: float = LONGEST,
    close: float = LANDED,
) -> Aim:
    """The angular momenta with which a body lands as its guide does.

    Args:
        body: the body.
        course: times -> local turns and rates of its joints.
        guide: times -> turns and spins (in its own frame) that the pelvis should have.
        breaks: of each flight (b,) times between which the course is smooth, first and last
            those of the flight, s.
        before: what was found for flights much like these; None begins with the guide's turns
            and mean momenta.
        order: nodes of a piece.
        longest: that a piece lasts, s.
        close: rad by which they may be off.

    Returns:
        The momenta of the flights and what they do.
    """
    gauss, rows = _gauss(order), [_pieces(one, longest) for one in breaks]
    most = max(len(row) for row in rows)
    ends = np.stack([np.pad(row, (0, most - len(row)), "edge") for row in rows])
    spans = np.diff(ends)
    nodes = ends[:, :-1, None] + spans[..., None] * gauss.nodes
    f, m, s = nodes.shape
    there = spans > 0.0  # others make up the number of pieces
    times = nodes[there].ravel()
    parts = [inside(body, *course(times[i : i + ROWS])) for i in range(0, len(times), ROWS)]
    found = Inside(*map(np.concatenate, zip(*parts, strict=True)))
    held, spread = np.zeros((f, m, s, 3)), np.zeros((f, m, s, 3, 3))
    held[there] = found.momentum.reshape(-1, s, 3)
    spread[there] = np.linalg.inv(found.inertia).reshape(-1, s, 3, 3)
    if before is None:
        every = np.concatenate([ends[:, :-1, None], nodes], axis=2).reshape(f, -1)
        every = np.append(every, ends[:, -1:], axis=1)
        turns, spins = (x.reshape(*every.shape, -1) for x in guide(every.ravel()))
        turns = np.swapaxes(rotations.continuous(np.swapaxes(turns, 0, 1)), 0, 1)
        goal, now = turns[:, -1], turns[:, :-1].reshape(f, m, s + 1, 4)
        spins = spins[:, :-1].reshape(f, m, s + 1, 3)[:, :, 1:][there].reshape(-1, 3)
        own = (found.inertia @ spins[..., None])[..., 0] + found.momentum
        world = np.zeros((f, m, s, 3))
        world[there] = rotations.rotate(now[:, :, 1:][there], own.reshape(-1, s, 3))
        momentum = np.einsum("fm,s,fmsk->fk", spans, gauss.weights, world)
        momentum /= spans.sum(axis=1)[:, None]
        first = _State(momentum, np.append(now[:, :, 0], goal[:, None], axis=1), now[:, :, 1:])
    else:
        goal = before.goal
        along = before.along(np.concatenate([ends, nodes.reshape(f, -1)], axis=1))
        first = _State(before.momentum, along[:, : m + 1], along[:, m + 1 :].reshape(f, m, s, 4))
    search = _Search(gauss, spans, spread, held, goal, close)
    state, rest = search.found(first, True)
    for i in np.flatnonzero(rest.size > close):
        one = np.array([i])
        found_anew = search.part(one).shots(first.momentum[one], first.turns[one, 0])
        for kept, new in zip((state, rest), found_anew, strict=True):
            for a, b in zip(kept, new, strict=True):
                a[one] = b
    missed = np.linalg.norm(search.off(state), axis=1)
    return Aim(state.momentum, ends, state.turns, gauss.modes @ rest.rates, goal, missed)
