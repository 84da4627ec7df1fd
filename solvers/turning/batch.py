# SPDX-License-Identifier: GPL-3.0-or-later
"""Step many turning figures through time at once, with numpy.

The same algorithm as `simulate`, with the same equations, so the numbers are
the same. Each figure goes at its own pace. Those that nothing happens to take
whole steps together; one that meets an event waits until a few do, and those
then go through the parts of their steps by themselves. So the many whole
steps stay simple, and the events, of which some figure always has one, are
dealt with in fewer and larger lots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np

from ..motion import HalfTurn
from .equations import OUTSIDE, PARAMETERS, make_equations
from .heading import HeadingControl
from .settings import CURVATURE_BOUND, RATE_BOUND, STOP_SPEED, Timeline
from .simulate import (
    BOUND,
    CURVATURE_TOLERANCE,
    DERIVATIVE_STEP,
    FREE,
    KNOT,
    LEAN_TOLERANCE,
    MOST_CUTS,
    RATE,
    RATE_TOLERANCE,
    Track,
    Within,
    start_states,
)

STEADY = 1e-11  # of E - 1: so near their ellipse, nothing pulls at figures
MOST_STEPS = 32  # without a look at who has come to the end
LOT = 4  # a share of 1/LOT of the figures waits before events are dealt with

SPEED = PARAMETERS.index("speed")
_CHANGING = ("theta", "omega", "psi", "curvature", "alpha", "turn", "beta")

CROSS, FALL, STOP, LIMIT, TOO_FAST, MET = range(1, 7)
_OUTCOMES = {FALL: "FALL", STOP: "STOP"}


def simulate_batch(
    timelines: Sequence[Timeline], progress: Callable[[float], None] | None = None
) -> tuple[list[Track], Within]:
    """Step figures that share `tilted` and `sliding`.

    Args:
        timelines: checked settings, one per figure.
        progress: called with the fraction done; may raise to stop.

    Returns:
        One track per figure, and the knots within their steps.
    """
    with np.errstate(all="ignore"):  # what a rejected trial overflows is thrown away
        return _Batch(timelines).run(progress)


# The state of each figure: one array for each.
_STATE = (
    "n_steps h fall theta omega psi v beta curvature behind index begin end cuts pending "
    "outcome time side turn_start turn_yaw wanted planned saturated mode sign"
).split()


class _Batch:
    """The state of all figures of a batch, one array per quantity."""

    def __init__(self, timelines: Sequence[Timeline]) -> None:
        n = len(timelines)
        first = timelines[0]
        self.sliding, self.tilted = first.sliding, first.tilted
        self.limited = any(timeline.limited for timeline in timelines)
        kind = (np.sin, np.cos, first.tilted, first.sliding, self.limited)
        self.law, self.near_law = make_equations(*kind), make_equations(*kind, rescuing=False)
        self.control = HeadingControl(timelines)
        self.figures = np.arange(n)
        self.n_steps = np.array([timeline.n_steps for timeline in timelines])
        self.h = np.array([timeline.step for timeline in timelines])
        self.fall = np.array([timeline.settings.fall_angle for timeline in timelines])
        self._values = self.control.values
        self._varying = [i for i, value in enumerate(self._values) if value.shape[1] > 1]
        self._fixed = tuple(np.ascontiguousarray(value[:, 0]) for value in self._values)
        self.rate_limited = bool(np.any(self._values[11] < RATE_BOUND))

        theta, omega, psi, v, beta, curvature, self.behind = start_states(
            timelines, self.control, self.law
        )
        self.theta, self.omega, self.psi, self.v, self.beta = theta, omega, psi, v, beta
        self.index = np.zeros(n, dtype=int)
        self.begin, self.end = np.zeros(n), np.ones(n)
        self.cuts = np.zeros(n, dtype=int)
        self.pending = np.zeros(n, dtype=np.int8)
        self.outcome = np.zeros(n, dtype=np.int8)
        self.time = np.zeros(n)
        self.side = np.where((theta > 0.0) | ((theta == 0.0) & (omega > 0.0)), 1.0, -1.0)
        self.turn_start, self.turn_yaw = np.zeros(n), psi.copy()
        self.wanted = np.zeros(n)
        self.planned = np.zeros(n, dtype=bool)
        self.saturated = np.zeros(n, dtype=bool)
        self.turns: list[list[HalfTurn]] = [[] for _ in timelines]
        self._begin_modes(curvature)

    def _part(self, who: np.ndarray) -> _Batch:
        """Some of the figures as a batch of their own, to be handed back by `_put`."""
        part = copy(self)
        for name in _STATE:
            setattr(part, name, getattr(self, name)[who])
        part.first = [x[who] for x in self.first]
        part.figures = self.figures[who]
        part._fixed = tuple(x[who] for x in self._fixed)
        return part

    def _put(self, who: np.ndarray, part: _Batch) -> None:
        for name in _STATE:
            getattr(self, name)[who] = getattr(part, name)
        for store, value in zip(self.first, part.first, strict=True):
            store[who] = value

    # --- helpers ---------------------------------------------------------
    def parameters(self, who: np.ndarray | slice, fraction: np.ndarray) -> tuple:
        """Quantities of figures inside their step, by the parabola through its samples."""
        if not self._varying:
            return self._fixed if isinstance(who, slice) else tuple(x[who] for x in self._fixed)
        f = fraction
        weights = ((2.0 * f - 1.0) * (f - 1.0), 4.0 * f * (1.0 - f), f * (2.0 * f - 1.0))
        rows = self.figures[who]
        base = 2 * np.minimum(self.index[who], np.maximum(self.n_steps[who] - 1, 0))
        values = [x[who] for x in self._fixed]
        for i in self._varying:
            value = self._values[i]
            values[i] = sum(w * value[rows, base + k] for k, w in enumerate(weights))
        return tuple(values)

    @staticmethod
    def wanted_curvature(
        turn: np.ndarray, v: np.ndarray, s: np.ndarray, height: np.ndarray
    ) -> np.ndarray:
        """C = psi' / V_f; beyond the pole, full lock."""
        foot = v + height * s * turn
        good = foot > np.abs(turn) / CURVATURE_BOUND
        return np.where(good, turn / np.where(good, foot, 1.0), np.copysign(CURVATURE_BOUND, turn))

    def wanted_rate(
        self, who: np.ndarray, fraction: np.ndarray, state: tuple, now: tuple
    ) -> np.ndarray:
        """d/dt of the wanted curvature along the motion `now`, as in `simulate`."""
        theta, omega, psi, v = state
        alpha, turn, accel = now[:3]
        p = self.parameters(who, fraction)
        backward = (fraction > 0.5) if self._varying else np.zeros(len(theta), dtype=bool)
        e = np.where(backward, -DERIVATIVE_STEP, DERIVATIVE_STEP)
        other = self.parameters(who, fraction + e / self.h[who])
        beta = self.beta[who]
        _, w1, _, s1, v1 = self.free(
            (theta + e * omega, omega + e * alpha, psi + e * turn, v + e * accel), other, beta
        )
        _, w0, _, s0, v0 = self.free(state, p, beta)
        ahead = self.wanted_curvature(w1, v1, s1, other[7])
        return (ahead - self.wanted_curvature(w0, v0, s0, p[7])) / e

    def free(self, state: tuple, p: tuple, beta: np.ndarray) -> tuple:
        """What the control makes of a state."""
        return self.law.free(*state, p, self.law.ellipse(p, beta))

    def _state(self, who: np.ndarray | slice) -> tuple:
        return self.theta[who], self.omega[who], self.psi[who], self.v[who]

    def _begin_modes(self, handed: np.ndarray) -> None:
        """Curvature, mode and first derivatives at the start, half turns planned."""
        n = len(self.h)
        moving = np.flatnonzero((np.abs(self.theta) <= LEAN_TOLERANCE) & (self.n_steps > 0))
        if len(moving):
            self.side[moving] = np.where(self.omega[moving] > 0.0, 1.0, -1.0)
            self._plan(moving)
        everyone = slice(None)
        p = self.parameters(everyone, np.zeros(n))
        first = self.free(self._state(everyone), p, self.beta)
        target = self.wanted_curvature(first[1], first[4], first[3], p[7])
        limit = p[10]
        keep = ~np.isnan(handed) & (p[11] < RATE_BOUND if self.rate_limited else False)
        curvature = np.clip(np.where(keep, handed, target), -limit, limit)
        gap = target - curvature
        near = np.abs(gap) <= 1e-12
        curvature = np.where(near, target, curvature)
        self.sign = np.where(near, 0.0, np.copysign(1.0, gap))
        at_limit = self.sign * curvature >= limit
        self.mode = np.where(near, FREE, np.where(at_limit, BOUND, RATE))
        if self.rate_limited:
            who = np.flatnonzero((self.mode == FREE) & (self.n_steps > 0))
            slope = self.wanted_rate(
                who, np.zeros(len(who)), self._state(who), self._pick(first, who)
            )
            fast = np.abs(slope) > p[11][who] * (1.0 + RATE_TOLERANCE)
            self.mode[who[fast]] = RATE
            self.sign[who[fast]] = np.copysign(1.0, slope[fast])
        self.curvature = curvature
        self.first = [np.array(x) for x in self._full(first)]
        who = np.flatnonzero(self.mode != FREE)
        if len(who):
            held = self.law.forced(
                *self._state(who), curvature[who], self.parameters(who, np.zeros(len(who)))
            )
            for store, value in zip(self.first, self._full(held, len(who)), strict=True):
                store[who] = value

    def _full(self, derivatives: tuple, n: int | None = None) -> list[np.ndarray]:
        """The three derivatives as arrays (V' is a plain 0 where speed is keyed)."""
        n = len(self.h) if n is None else n
        return [np.broadcast_to(np.asarray(x, dtype=float), (n,)) for x in derivatives[:3]]

    @staticmethod
    def _pick(derivatives: tuple | list, who: np.ndarray) -> tuple:
        return tuple(x[who] if np.ndim(x) else x for x in derivatives)

    def _plan(self, who: np.ndarray) -> None:
        choice = self.control.plan(
            self.figures[who], self.time[who], self.psi[who], self.v[who], self.omega[who]
        )
        self.beta[who], self.wanted[who] = choice.beta, choice.wanted
        self.saturated[who] = choice.saturated
        self.planned[who], self.behind[who] = True, 0.0

    # --- stepping --------------------------------------------------------
    def run(self, progress: Callable[[float], None] | None) -> tuple[list[Track], Within]:
        n, self._width = len(self.h), int(np.max(self.n_steps)) + 1
        # Each quantity at all steps of the first figure, of the second, and so
        # on; and a last place for what nobody asks for.
        self._store = np.empty((len(KNOT), n * self._width + 1))
        self._begin_at = np.arange(n) * self._width
        # What whole steps change of it; the rest stays like this
        self._changing = [KNOT.index(name) for name in _CHANGING]
        self._store[KNOT.index("time"), :-1] = np.outer(self.h, np.arange(self._width)).ravel()
        self._store[KNOT.index("mode")] = FREE
        if self.sliding or SPEED in self._varying:
            self._changing += [KNOT.index("v"), KNOT.index("accel")]
        else:
            self._store[KNOT.index("v"), :-1] = np.repeat(self.v, self._width)
            self._store[KNOT.index("accel")] = 0.0
        self._store[:, self._begin_at] = self._noted()
        self._within: list[Within] = []
        self._over: list[tuple[np.ndarray, np.ndarray]] = []
        self._look_up()
        while True:
            live = (self.index < self.n_steps) & (self.outcome == 0)
            left = np.count_nonzero(live)
            if not left:
                break
            if progress is not None:
                progress(float(np.min(np.where(live, self.index / self.n_steps, 1.0))))
            held = ~live | (self.mode != FREE)
            # Who is held by a limit goes on with the others, step by step.
            queue = [np.flatnonzero(held & live)]
            waiting = len(queue[0])
            to_go = (self.n_steps - self.index)[~held]
            nearest = int(np.min(to_go, initial=1 if waiting else MOST_STEPS))
            for _ in range(nearest if len(to_go) else 0):
                queue.append(self._whole_step(held))
                waiting += len(queue[-1])
                if waiting * LOT >= left:
                    break
            self._finish_steps(np.concatenate(queue))
            self._look_up()
        moving = np.flatnonzero(self.n_steps)
        self._close(moving, np.zeros(len(moving), dtype=bool))
        return self._tracks(), Within.joined(self._within)

    def _tracks(self) -> list[Track]:
        """What is left of each figure."""
        states = self._store[:, :-1].reshape(len(KNOT), -1, self._width)
        ends = np.array(self._noted())
        for b in np.flatnonzero(self.outcome):  # there it stays
            states[:, b, self.index[b] + 1 :] = ends[:, b, None]
        return [
            Track(
                states[:, b, : self.n_steps[b] + 1],
                int(self.index[b]) + 1,
                tuple(self.turns[b]),
                _OUTCOMES.get(int(self.outcome[b]), ""),
                (
                    float(self.beta[b]),
                    float(self.control.factor[b, 1]),
                    float(self.control.factor[b, 0]),
                    float(self.control.expected[b]),
                    float(self.behind[b] + self.psi[b] - self.turn_yaw[b]),
                ),
            )
            for b in range(len(self.h))
        ]

    def _noted(self) -> tuple:
        """What is written down of where a figure stands, in the order of `KNOT`."""
        return (
            self.time,
            self.theta,
            self.omega,
            self.psi,
            self.v,
            self.curvature,
            *self.first,
            self.beta,
            self.mode,
        )

    def _look_up(self) -> None:
        """Keep what stays the same over the next whole steps."""
        if self._varying:
            return
        p = self._fixed
        self._ellipse = self.law.ellipse(p, self.beta)
        self._rotation = self.law.rotation(self._ellipse, self.h)
        x, y = self.theta * self._ellipse[3], self.omega * self._ellipse[4]
        outside = x * x + y * y - 1.0
        self._step = self.law.free_step
        if not self.sliding and not self.tilted and (np.abs(outside) < STEADY).all():
            self._step = self.law.steady_step
        elif not self.sliding and not (outside >= OUTSIDE - 1.0).any():
            self._step = self.near_law.free_step

    def _whole_step(self, held: np.ndarray) -> np.ndarray:
        """Let figures take a step and note it down.

        Args:
            held: (n,) True for those that stay where they are.

        Returns:
            Which ones something happens to in the step; they stay as well,
            and are held from now on.
        """
        if self._varying:
            place = 2 * np.minimum(self.index, np.maximum(self.n_steps - 1, 0))
            pm, p1 = (
                tuple(
                    self._values[i][self.figures, place + k] if i in self._varying else fixed
                    for i, fixed in enumerate(self._fixed)
                )
                for k in (1, 2)
            )
            em, e1 = self.law.ellipse(pm, self.beta), self.law.ellipse(p1, self.beta)
            step, rotation = self.law.free_step, self.law.rotation(em, self.h)
        else:
            pm = p1 = self._fixed
            em = e1 = self._ellipse
            step, rotation = self._step, self._rotation
        theta, omega, psi, v, last = step(
            self.theta, self.omega, self.psi, self.v, self.h, self.first, pm, p1, em, e1, rotation
        )
        alpha, turn, accel, sine, speed = last
        foot = speed + p1[7] * sine * turn
        curvature = turn / foot
        # To the side, the crossing lies at 0 and the fall at the other end.
        aside = theta * self.side
        crossed = aside < -2.0 * LEAN_TOLERANCE
        trouble = (aside > self.fall + LEAN_TOLERANCE) | (foot * CURVATURE_BOUND <= np.abs(turn))
        if self.sliding or self._varying:
            trouble |= v < STOP_SPEED - 1e-9
        if self.limited:
            limit = p1[10]
            trouble |= np.abs(curvature) >= limit * (1.0 - CURVATURE_TOLERANCE)
            if self.rate_limited:
                trouble |= np.abs(curvature - self.curvature) > 0.5 * p1[11] * self.h
        fresh = np.flatnonzero((crossed | trouble) & ~held)
        held[fresh] = True
        only = fresh[~trouble[fresh]]
        if len(only):  # that they will cross is known from here
            ends = (theta[only], omega[only], alpha[only], em[1][only])
            self._over.append((only, np.array(ends)))
        index = self.index + 1
        time = index * self.h
        moved = {
            "index": index, "time": time, "theta": theta, "omega": omega, "psi": psi,
            "curvature": curvature,
        }
        if self.sliding or SPEED in self._varying:
            moved["v"] = v
        for name, new in moved.items():
            np.copyto(new, getattr(self, name), where=held)
            setattr(self, name, new)
        first = [alpha, turn, accel] if self.sliding else [alpha, turn]
        for new, old in zip(first, self.first, strict=False):
            np.copyto(new, old, where=held)
        self.first[: len(first)] = first
        place = np.where(held, self._store.shape[1] - 1, self._begin_at + index)
        noted = self._noted()
        for column in self._changing:
            self._store[column][place] = noted[column]
        return fresh

    def _finish_steps(self, who: np.ndarray) -> None:
        """Take figures that something happens to through the rest of their step."""
        self._foresee()
        part = self._part(who)
        target = part.index + 1
        reached = np.zeros((len(KNOT), len(who)))  # at the end of the step
        while True:
            live = (part.index < target) & (part.outcome == 0)
            if not live.any():
                break
            fired, accepted = part._round(live)
            ended = (fired == FALL) | (fired == STOP)
            finished = accepted & (part.begin >= 1.0) & ~ended
            noted = np.array(part._noted())
            np.copyto(reached, noted, where=accepted)
            between = np.flatnonzero(accepted & ~finished & ~ended)
            if len(between):
                step = part.index[between]
                self._within.append(Within(part.figures[between], step, noted[:, between]))
            some = np.flatnonzero(fired)
            if len(some):
                part._fire(some, fired[some])
            part.index[finished] += 1
            part.begin[finished] = 0.0
            part.cuts[finished] = 0
        self._put(who, part)
        done = part.index == target
        self._store[:, self._begin_at[who[done]] + target[done]] = reached[:, done]

    def _foresee(self) -> None:
        """Say when in their step those cross whose whole step went over to the other side."""
        if not self._over:
            return
        who = np.concatenate([some for some, _ in self._over])
        theta, omega, alpha, pace = np.concatenate([ends for _, ends in self._over], axis=1)
        self._over.clear()
        starts = (self.theta[who], self.omega[who], self.first[0][who])
        root = _crossings(*starts, theta, omega, alpha, self.h[who], pace, self.side[who])
        later = root * self.h[who] > 1e-10
        self.end[who[later]], self.pending[who[later]] = root[later], CROSS

    def _close(self, who: np.ndarray, complete: np.ndarray) -> None:
        """Note down half turns that end."""
        rows = (
            self.turn_start[who],
            self.time[who],
            self.side[who].astype(int),
            self.beta[who],
            self.wanted[who],
            self.psi[who] - self.turn_yaw[who],
            self.saturated[who],
            complete,
        )
        turns = map(HalfTurn, *(x.tolist() for x in rows))
        for figure, turn in zip(self.figures[who].tolist(), turns, strict=True):
            self.turns[figure].append(turn)

    def _round(self, live: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Try a part of a step for every figure; returns (what fired, accepted)."""
        law, everyone = self.law, slice(None)
        self.cuts = self.cuts + 1
        dt = np.where(live, self.h * (self.end - self.begin), 0.0)
        pm = self.parameters(everyone, 0.5 * (self.begin + self.end))
        p1 = self.parameters(everyone, self.end)
        bent = np.flatnonzero((self.mode != FREE) & live)
        em = law.ellipse(pm, self.beta)
        e1 = law.ellipse(p1, self.beta) if self._varying else em
        theta1, omega1, psi1, v1, now = law.free_step(
            *self._state(everyone), dt, self.first, pm, p1, em, e1, law.rotation(em, dt)
        )
        goal = self.wanted_curvature(now[1], now[4], now[3], p1[7])
        curvature1 = goal
        if len(bent):
            v1 = np.array(np.broadcast_to(v1, theta1.shape))
            p0b = self.parameters(bent, self.begin[bent])
            pmb, p1b = tuple(x[bent] for x in pm), tuple(x[bent] for x in p1)
            sign, start = self.sign[bent], self.curvature[bent]
            bound = self.mode[bent] == BOUND
            gone = dt[bent]
            r0, rm, r1 = p0b[11], pmb[11], p1b[11]
            cm = np.where(
                bound, sign * pmb[10], start + sign * gone * (5.0 * r0 + 8.0 * rm - r1) / 24.0
            )
            c1 = np.where(bound, sign * p1b[10], start + sign * gone * (r0 + 4.0 * rm + r1) / 6.0)
            first = self._pick(self.first, bent)
            stepped = law.forced_step(*self._state(bent), gone, first, cm, c1, pmb, p1b)
            theta1[bent], omega1[bent], psi1[bent], v1[bent] = stepped
            asked = self.free(stepped, p1b, self.beta[bent])
            goal[bent] = self.wanted_curvature(asked[1], asked[4], asked[3], p1b[7])
            curvature1 = goal.copy()
            curvature1[bent] = c1
            now = [np.array(x) for x in self._full(now)]
            held = self._full(law.forced(*stepped, c1, p1b), len(bent))
            for store, value in zip(now, held, strict=True):
                store[bent] = value
        now = self._full(now)

        # What happens first within the part.
        where = np.full(len(dt), 2.0)
        what = np.zeros(len(dt), dtype=np.int8)
        met = np.zeros(len(dt), dtype=np.int8)

        def note(who: np.ndarray, root: np.ndarray, kind: int) -> None:
            sooner = root < where[who]
            where[who[sooner]], what[who[sooner]] = root[sooner], kind

        crossed = theta1 * self.side < -2.0 * LEAN_TOLERANCE
        who = np.flatnonzero(live & (crossed | (np.abs(theta1) > self.fall + LEAN_TOLERANCE)))
        if len(who):
            over, fallen = who[crossed[who]], who[~crossed[who]]
            if len(over):
                starts = (self.theta[over], self.omega[over], self.first[0][over])
                ends = (theta1[over], omega1[over], now[0][over])
                where[over] = _crossings(*starts, *ends, dt[over], em[1][over], self.side[over])
                what[over] = CROSS
            if len(fallen):
                level = np.copysign(self.fall[fallen], theta1[fallen])
                start, rate = self.theta[fallen], self.omega[fallen]
                end, end_rate = theta1[fallen], omega1[fallen]
                where[fallen] = hermite_roots(start, rate, end, end_rate, dt[fallen], level)
                what[fallen] = FALL
        who = np.flatnonzero(live & (v1 < STOP_SPEED - 1e-9))
        if len(who):
            note(who, _secant(self.v[who] - STOP_SPEED, v1[who] - STOP_SPEED), STOP)
        limit = p1[10]
        small = CURVATURE_TOLERANCE * limit
        free = live if not len(bent) else live & (self.mode == FREE)
        gap = limit - np.abs(goal)
        who = np.flatnonzero(free & (gap <= small))
        if len(who):
            over = gap[who] < -small[who]
            met[who[~over]] = LIMIT
            some = who[over]
            p0 = self.parameters(some, self.begin[some])
            note(some, _secant(p0[10] - np.abs(self.curvature[some]), gap[some]), LIMIT)
        if self.rate_limited:
            who = np.flatnonzero(free & (np.abs(goal - self.curvature) > 0.5 * p1[11] * dt))
            if len(who):
                self._check_rate(who, (theta1, omega1, psi1, v1), now, goal, dt, p1[11], note, met)
        if len(bent):
            self._check_bent(bent, goal, curvature1, p1[10], small, note, met)

        retry = self.cuts < MOST_CUTS
        happens = what > 0
        ahead = where * dt > 1e-10
        cut = happens & retry & ahead
        at_once = happens & retry & ~ahead
        accepted = live & ~cut & ~at_once
        fired = np.where(at_once, what, 0).astype(np.int8)
        every = bool(accepted.all())
        late = np.flatnonzero(accepted & ((self.pending > 0) | happens))
        if every:
            self.theta, self.omega, self.psi, self.v = theta1, omega1, psi1, v1
            self.curvature, self.first = curvature1, now
            self.begin = self.end
        else:
            self.theta = np.where(accepted, theta1, self.theta)
            self.omega = np.where(accepted, omega1, self.omega)
            self.psi = np.where(accepted, psi1, self.psi)
            self.v = np.where(accepted, v1, self.v)
            self.curvature = np.where(accepted, curvature1, self.curvature)
            self.first = [np.where(accepted, a, b) for a, b in zip(now, self.first, strict=True)]
            self.begin = np.where(accepted, self.end, self.begin)
        self.time = np.where(accepted, (self.index + self.begin) * self.h, self.time)
        if len(late):
            fired[late] = self._met(late, what[late], met[late])
        if every and not len(late):
            self.end = np.ones(len(dt))
        else:
            self.end = np.where(cut, self.begin + where * (self.end - self.begin), 1.0)
            self.pending = np.where(cut, what, 0).astype(np.int8)
        return fired, accepted

    def _met(self, who: np.ndarray, what: np.ndarray, met: np.ndarray) -> np.ndarray:
        """Which event an accepted part ends with."""
        pending, theta = self.pending[who], np.abs(self.theta[who])
        fired = np.where((pending > 0) & (pending == met), met, 0)
        fired = np.where(
            ((pending == CROSS) & (theta <= 2.0 * LEAN_TOLERANCE))
            | ((pending == FALL) & (self.fall[who] - theta <= LEAN_TOLERANCE))
            | ((pending == STOP) & (self.v[who] <= STOP_SPEED + 1e-9)),
            pending,
            fired,
        )
        return np.where((what >= CROSS) & (what <= STOP), what, fired)

    def _check_rate(
        self,
        who: np.ndarray,
        ends: tuple,
        now: tuple | list,
        goal: np.ndarray,
        dt: np.ndarray,
        rate: np.ndarray,
        note: Callable[[np.ndarray, np.ndarray, int], None],
        met: np.ndarray,
    ) -> None:
        """Where the wanted curvature changes faster than the rate limit."""
        state = tuple(np.broadcast_to(x, dt.shape)[who] for x in ends)
        slope = self.wanted_rate(who, self.end[who], state, self._pick(now, who))
        step = np.abs(goal[who] - self.curvature[who]) / dt[who]
        most = rate[who]
        gap = most - np.maximum(np.abs(slope), step)
        over = gap < -RATE_TOLERANCE * most
        met[who[~over & (gap <= RATE_TOLERANCE * most)]] = TOO_FAST
        if not over.any():
            return
        some = who[over]
        self.sign[some] = np.copysign(1.0, slope[over])
        before = self.wanted_rate(
            some, self.begin[some], self._state(some), self._pick(self.first, some)
        )
        p0 = self.parameters(some, self.begin[some])
        note(some, _secant(p0[11] - np.abs(before), gap[over]), TOO_FAST)

    def _check_bent(
        self,
        bent: np.ndarray,
        goal: np.ndarray,
        curvature1: np.ndarray,
        limit: np.ndarray,
        small: np.ndarray,
        note: Callable[[np.ndarray, np.ndarray, int], None],
        met: np.ndarray,
    ) -> None:
        """Where a bound curvature meets the wanted one, or the limit."""
        sign = self.sign[bent]
        gap = sign * (goal[bent] - curvature1[bent])
        over = gap < -small[bent]
        met[bent[~over & (gap <= small[bent])]] = MET
        some = bent[over]
        if len(some):
            p0 = self.parameters(some, self.begin[some])
            asked = self.free(self._state(some), p0, self.beta[some])
            before = self.wanted_curvature(asked[1], asked[4], asked[3], p0[7])
            before = sign[over] * (before - self.curvature[some])
            note(some, _secant(before, gap[over]), MET)
        moving = bent[self.mode[bent] == RATE]
        gap = limit[moving] - self.sign[moving] * curvature1[moving]
        over = gap < -small[moving]
        met[moving[~over & (gap <= small[moving])]] = LIMIT
        some = moving[over]
        if len(some):
            p0 = self.parameters(some, self.begin[some])
            before = p0[10] - self.sign[some] * self.curvature[some]
            note(some, _secant(before, gap[over]), LIMIT)

    def _fire(self, who: np.ndarray, kind: np.ndarray) -> None:
        """Let what happens happen, to figures that stand exactly there."""
        self.curvature = np.array(self.curvature)
        self.first = [np.array(x) for x in self._full(tuple(self.first))]
        ended = (kind == FALL) | (kind == STOP)
        self.outcome[who[ended]] = kind[ended]
        who, kind = who[~ended], kind[~ended]
        if not len(who):
            return
        crossing = who[kind == CROSS]
        if len(crossing):
            self._close(crossing, self.planned[crossing])
            change = self.behind[crossing] + self.psi[crossing] - self.turn_yaw[crossing]
            self.control.learn(self.figures[crossing], self.side[crossing], change)
            omega = self.omega[crossing]
            self.side[crossing] = np.where(
                omega != 0.0, np.where(omega > 0.0, 1.0, -1.0), -self.side[crossing]
            )
            self._plan(crossing)
            self.turn_start[crossing] = self.time[crossing]
            self.turn_yaw[crossing] = self.psi[crossing]
        at_limit = who[kind == LIMIT]
        if len(at_limit):
            fresh = at_limit[self.mode[at_limit] == FREE]
            self.sign[fresh] = np.copysign(1.0, self.curvature[fresh])
            p0 = self.parameters(at_limit, self.begin[at_limit])
            self.mode[at_limit] = BOUND
            self.curvature[at_limit] = self.sign[at_limit] * p0[10]
        self.mode[who[kind == TOO_FAST]] = RATE
        self.mode[who[kind == MET]] = FREE
        if self.rate_limited:
            check = who[((kind == CROSS) | (kind == MET)) & (self.mode[who] == FREE)]
            if len(check):
                fraction = self.begin[check]
                p0 = self.parameters(check, fraction)
                state = self._state(check)
                now = self.free(state, p0, self.beta[check])
                slope = self.wanted_rate(check, fraction, state, now)
                fast = np.abs(slope) > p0[11] * (1.0 + RATE_TOLERANCE)
                self.mode[check[fast]] = RATE
                self.sign[check[fast]] = np.copysign(1.0, slope[fast])
        p0 = self.parameters(who, self.begin[who])
        state = self._state(who)
        free = self.free(state, p0, self.beta[who])
        steered = self.mode[who] == FREE
        goal = self.wanted_curvature(free[1], free[4], free[3], p0[7])
        self.curvature[who] = np.where(steered, goal, self.curvature[who])
        derivatives = self._full(free, len(who))
        if not steered.all():
            held = self._full(self.law.forced(*state, self.curvature[who], p0), len(who))
            derivatives = [np.where(steered, a, b) for a, b in zip(derivatives, held, strict=True)]
        for store, value in zip(self.first, derivatives, strict=True):
            store[who] = value


def _secant(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Fraction at which a gap that ends at `after` < 0 closes."""
    safe = before > 0.0
    return np.where(safe, before / np.where(safe, before - after, 1.0), 0.0)


def _crossings(
    theta: np.ndarray,
    omega: np.ndarray,
    alpha: np.ndarray,
    theta1: np.ndarray,
    omega1: np.ndarray,
    alpha1: np.ndarray,
    dt: np.ndarray,
    pace: np.ndarray,
    side: np.ndarray,
) -> np.ndarray:
    """Fractions of dt at which leans come to zero, as in `simulate`."""
    before = np.arctan2(side * theta * pace, -side * omega)
    after = np.arctan2(side * theta1 * pace, -side * omega1)
    rate = pace * (theta * alpha - omega * omega) / ((theta * pace) ** 2 + omega * omega)
    rate1 = pace * (theta1 * alpha1 - omega1 * omega1) / ((theta1 * pace) ** 2 + omega1 * omega1)
    return hermite_roots(before, rate, after, rate1, dt, np.zeros(len(dt)))


def hermite_roots(
    x0: np.ndarray,
    v0: np.ndarray,
    x1: np.ndarray,
    v1: np.ndarray,
    dt: np.ndarray,
    level: np.ndarray,
) -> np.ndarray:
    """Fractions of dt at which the cubics through two states meet a level.

    Args:
        x0: (n,) values at the start.
        v0: (n,) their rates.
        x1: (n,) values at the end.
        v1: (n,) their rates.
        dt: (n,) s between.
        level: (n,) values to be met.

    Returns:
        (n,) fractions in [0, 1].
    """
    x0, x1, v0, v1 = x0 - level, x1 - level, v0 * dt, v1 * dt
    a, b = 2.0 * (x0 - x1) + v0 + v1, 3.0 * (x1 - x0) - 2.0 * v0 - v1
    none = x0 * x1 >= 0.0
    u = np.where(none, 0.0, x0 / np.where(none, 1.0, x0 - x1))
    guess = u
    for _ in range(4):  # usually plain Newton does it
        slope = (3.0 * a * u + 2.0 * b) * u + v0
        step = (((a * u + b) * u + v0) * u + x0) / np.where(slope == 0.0, 1.0, slope)
        if np.all(none | (np.abs(step) < 1e-13)):
            return u
        u = np.where(none, 0.0, u - step)
    low, high, u = np.zeros_like(x0), np.ones_like(x0), guess
    for _ in range(30):
        value = ((a * u + b) * u + v0) * u + x0
        before = value * x0 > 0.0
        low, high = np.where(before, u, low), np.where(before, high, u)
        slope = (3.0 * a * u + 2.0 * b) * u + v0
        flat = slope == 0.0
        step = np.where(flat, 1.0, value / np.where(flat, 1.0, slope))
        near = none | (np.abs(step) < 1e-13)
        if near.all():
            break
        following = u - step
        outside = (following <= low) | (following >= high)
        following = np.where(outside, 0.5 * (low + high), following)
        u = np.where(near, u, following)
    return u
