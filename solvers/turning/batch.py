# SPDX-License-Identifier: GPL-3.0-or-later
"""Step many turning figures through time at once, with numpy.

The same algorithm as `simulate`, with the same equations, so the numbers are
the same. Each figure goes at its own pace: in a round every figure tries one
part of a step; one that meets an event tries a shorter part in the next round
while the others go on. Events are few, so the rounds are hardly more than the
steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..motion import HalfTurn
from .equations import make_equations
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
    start_states,
)

CROSS, FALL, STOP, LIMIT, TOO_FAST, MET = range(1, 7)
_OUTCOMES = {FALL: "FALL", STOP: "STOP"}


def simulate_batch(
    timelines: Sequence[Timeline], progress: Callable[[float], None] | None = None
) -> tuple[np.ndarray, list[Track]]:
    """Step figures that share `tilted` and `sliding`.

    Args:
        timelines: checked settings, one per figure.
        progress: called with the fraction done; may raise to stop.

    Returns:
        The knots, (columns, rounds, n), and one track per figure whose own
        `knots` are empty and whose `grid` refers to the rounds.
    """
    with np.errstate(all="ignore"):  # what a rejected trial overflows is thrown away
        return _Batch(timelines).run(progress)


class _Batch:
    """The state of all figures of a batch, one array per quantity."""

    def __init__(self, timelines: Sequence[Timeline]) -> None:
        self.timelines = timelines
        n = len(timelines)
        first = timelines[0]
        self.sliding = first.sliding
        limited = any(timeline.limited for timeline in timelines)
        self.law = make_equations(np.sin, np.cos, first.tilted, first.sliding, limited)
        self.control = HeadingControl(timelines)
        self.n_steps = np.array([timeline.n_steps for timeline in timelines])
        self.h = np.array([timeline.step for timeline in timelines])
        self.fall = np.array([timeline.settings.fall_angle for timeline in timelines])
        self._values = self.control.values
        self._varying = [i for i, value in enumerate(self._values) if value.shape[1] > 1]
        self._fixed = tuple(value[:, 0] for value in self._values)
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

    # --- helpers ---------------------------------------------------------
    def parameters(self, who: np.ndarray | slice, fraction: np.ndarray) -> tuple:
        """Quantities of figures inside their step, by the parabola through its samples."""
        if not self._varying:
            return self._fixed if isinstance(who, slice) else tuple(x[who] for x in self._fixed)
        f = fraction
        weights = ((2.0 * f - 1.0) * (f - 1.0), 4.0 * f * (1.0 - f), f * (2.0 * f - 1.0))
        rows = np.arange(len(self.h))[who]
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
        _, w1, _, s1, v1 = self.law.free(
            theta + e * omega, omega + e * alpha, psi + e * turn, v + e * accel, other, beta
        )
        _, w0, _, s0, v0 = self.law.free(theta, omega, psi, v, p, beta)
        ahead = self.wanted_curvature(w1, v1, s1, other[7])
        return (ahead - self.wanted_curvature(w0, v0, s0, p[7])) / e

    def _state(self, who: np.ndarray) -> tuple:
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
        first = self.law.free(self.theta, self.omega, self.psi, self.v, p, self.beta)
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
        """The five derivatives as arrays (V' is a plain 0 where speed is keyed)."""
        n = len(self.h) if n is None else n
        return [np.broadcast_to(np.asarray(x, dtype=float), (n,)) for x in derivatives]

    @staticmethod
    def _pick(derivatives: tuple | list, who: np.ndarray) -> tuple:
        return tuple(x[who] if np.ndim(x) else x for x in derivatives)

    def _plan(self, who: np.ndarray) -> None:
        choice = self.control.plan(who, self.time[who], self.psi[who], self.v[who], self.omega[who])
        self.beta[who], self.wanted[who] = choice.beta, choice.wanted
        self.saturated[who] = choice.saturated
        self.planned[who], self.behind[who] = True, 0.0

    # --- stepping --------------------------------------------------------
    def run(self, progress: Callable[[float], None] | None) -> tuple[np.ndarray, list[Track]]:
        n = len(self.h)
        most = int(self.n_steps.max())
        grid = np.zeros((most + 1, n), dtype=int)
        columns = np.empty((len(KNOT), most + most // 8 + 64, n))
        rounds = self._note(columns, 0)
        while True:
            live = (self.index < self.n_steps) & (self.outcome == 0)
            if not live.any():
                break
            if progress is not None:
                progress(float(np.min(np.where(live, self.index / self.n_steps, 1.0))))
            fired, accepted = self._round(live)
            if rounds == columns.shape[1]:
                columns = np.concatenate((columns, np.empty_like(columns)), axis=1)
            rounds = self._note(columns, rounds)
            who = np.flatnonzero(fired)
            if len(who):
                self._fire(who, fired[who])
            finished = np.flatnonzero(accepted & (self.begin >= 1.0) & (self.outcome == 0))
            if len(finished) == n:
                self.index = self.index + 1
                self.begin, self.cuts = np.zeros(n), np.zeros(n, dtype=int)
            else:
                self.index[finished] += 1
                self.begin[finished] = 0.0
                self.cuts[finished] = 0
            grid[self.index[finished], finished] = rounds - 1
        moving = np.flatnonzero(self.n_steps)
        self._close(moving, np.zeros(len(moving), dtype=bool))
        tracks = []
        for b in range(n):
            tracks.append(
                Track(
                    np.empty((0, len(KNOT))),
                    grid[: self.index[b] + 1, b],
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
            )
        return columns[:, :rounds], tracks

    def _note(self, columns: np.ndarray, row: int) -> int:
        """Write where all figures stand down; returns the number of rows written."""
        values = (
            self.time,
            self.theta,
            self.omega,
            self.psi,
            self.v,
            self.curvature,
            *self.first[:3],
            self.beta,
            self.mode,
        )
        for column, value in zip(columns, values, strict=True):
            column[row] = value
        return row + 1

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
        for figure, *row in zip(who.tolist(), *(x.tolist() for x in rows), strict=True):
            self.turns[figure].append(HalfTurn(*row))

    def _round(self, live: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Try a part of a step for every figure; returns (what fired, accepted)."""
        law, everyone = self.law, slice(None)
        self.cuts = self.cuts + 1
        dt = np.where(live, self.h * (self.end - self.begin), 0.0)
        pm = self.parameters(everyone, 0.5 * (self.begin + self.end))
        p1 = self.parameters(everyone, self.end)
        bent = np.flatnonzero((self.mode != FREE) & live)
        theta1, omega1, psi1, v1 = law.free_step(
            self.theta, self.omega, self.psi, self.v, dt, self.first, pm, p1, self.beta
        )
        now = law.free(theta1, omega1, psi1, v1, p1, self.beta)
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
            beta = self.beta[bent]
            asked = law.free(*stepped, p1b, beta)
            goal[bent] = self.wanted_curvature(asked[1], asked[4], asked[3], p1b[7])
            curvature1 = goal.copy()
            curvature1[bent] = c1
            now = [np.array(x) for x in self._full(now)]
            held = self._full(law.forced(*stepped, c1, p1b), len(bent))
            for store, value in zip(now, held, strict=True):
                store[bent] = value

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
            over = crossed[who]
            level = np.where(over, 0.0, np.copysign(self.fall[who], theta1[who]))
            root = hermite_roots(
                self.theta[who], self.omega[who], theta1[who], omega1[who], dt[who], level
            )
            where[who], what[who] = root, np.where(over, CROSS, FALL)
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
            asked = self.law.free(*self._state(some), p0, self.beta[some])
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
        # The arrays so far belong to the history: write to new ones.
        self.beta, self.mode = self.beta.copy(), self.mode.copy()
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
            self.control.learn(crossing, self.side[crossing], change)
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
                now = self.law.free(*state, p0, self.beta[check])
                slope = self.wanted_rate(check, fraction, state, now)
                fast = np.abs(slope) > p0[11] * (1.0 + RATE_TOLERANCE)
                self.mode[check[fast]] = RATE
                self.sign[check[fast]] = np.copysign(1.0, slope[fast])
        p0 = self.parameters(who, self.begin[who])
        state = self._state(who)
        free = self.law.free(*state, p0, self.beta[who])
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
