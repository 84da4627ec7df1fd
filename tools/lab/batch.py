# SPDX-License-Identifier: GPL-3.0-or-later
"""Step many turning figures through time at once, with numpy.

With the equations of `simulate`, so the numbers are the same. Whole steps are
taken together. A figure that crosses the vertical waits until a few do, and
those then go through the parts of their steps by themselves, so that the many
whole steps stay simple. Any other event (a limit met, a fall, a stop) is rare,
and `simulate` knows what to do: a figure that meets one is left to it from
the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np
from poise.solvers.motion import HalfTurn, TurningMotion
from poise.solvers.turning.equations import OUTSIDE, PARAMETERS, make_equations
from poise.solvers.turning.heading import HeadingControl, nodes_of
from poise.solvers.turning.settings import (
    CURVATURE_BOUND,
    RATE_BOUND,
    STOP_SPEED,
    Timeline,
    TurningSettings,
    make_timeline,
)
from poise.solvers.turning.simulate import (
    CURVATURE_TOLERANCE,
    FREE,
    KNOT,
    LEAN_TOLERANCE,
    MOST_CUTS,
    Track,
    Within,
    simulate,
    start_states,
)
from poise.solvers.turning.solve import Progress, assemble, part_of

STEADY = 1e-11  # of E - 1: so near their ellipse, nothing pulls at figures
CHUNK = 2000  # figures stepped at once; more gain nothing
CHUNK_SAMPLES = 2_000_000  # and their steps together: some 200 MB
SLICE = 32  # of them finished at once: as many as fit into the cache
MOST_STEPS = 32  # without a look at who has come to the end
LOT = 4  # a share of 1/LOT of the figures waits before crossings are dealt with

SPEED = PARAMETERS.index("speed")
_CHANGING = ("theta", "omega", "psi", "curvature", "alpha", "turn", "beta")


def solve_turning_batch(
    settings: Sequence[TurningSettings],
    progress: Progress | None = None,
    advice: bool = True,
) -> list[TurningMotion]:
    """Solve many turning motions at once, in numpy.

    Args:
        settings: what is asked for, one per figure; they need not be alike.
        progress: called with the fraction done; may raise `Cancelled`, which
            passes through.
        advice: as for `solve_turning`.

    Returns:
        One motion per figure, in the order of the settings, with the numbers
        that `solve_turning` gives (to 1e-9), whoever the others are.

    Raises:
        SettingError: a setting of one of them is out of range.
    """
    timelines = [make_timeline(item) for item in settings]
    kinds: dict[tuple, list[int]] = {}
    for index, timeline in enumerate(timelines):
        steered = np.ndim(timeline.quantities["heading"]) > 0
        kind = (timeline.tilted, timeline.sliding, timeline.limited, timeline.constant, steered)
        kinds.setdefault((*kind, nodes_of(timeline)), []).append(index)
    chunks = []
    for members in kinds.values():
        longest = max(timelines[index].n_steps for index in members) + 1
        size = max(1, min(CHUNK, CHUNK_SAMPLES // longest))
        chunks += [members[first : first + size] for first in range(0, len(members), size)]
    motions: dict[int, TurningMotion] = {}
    for chunk in chunks:
        done, share = len(motions) / len(timelines), len(chunk) / len(timelines)
        stepping = part_of(progress, done, 0.7 * share)
        some = [timelines[index] for index in chunk]
        tracks, within = simulate_batch(some, stepping)
        for a in range(0, len(chunk), SLICE):
            b = a + SLICE
            finishing = part_of(progress, done + share * (0.7 + 0.3 * a / len(chunk)), 0.0)
            finishing(0.0)
            part = assemble(some[a:b], tracks[a:b], within.some(a, b), finishing, advice)
            motions.update(zip(chunk[a:b], part, strict=True))
    if progress is not None:
        progress(1.0)
    return [motions[index] for index in range(len(timelines))]


def simulate_batch(
    timelines: Sequence[Timeline], progress: Callable[[float], None] | None = None
) -> tuple[list[Track], Within]:
    """Step figures that share `tilted`, `sliding`, `limited` and `nodes_of`.

    Args:
        timelines: checked settings, one per figure.
        progress: called with the fraction done; may raise to stop.

    Returns:
        One track per figure, and the knots within their steps.
    """
    with np.errstate(all="ignore"):  # what a rejected trial overflows is thrown away
        batch = _Batch(timelines)
        tracks, within = batch.run(progress)
    alone = np.flatnonzero(batch.alone)
    parts = [within.of(~batch.alone[within.figure])]
    for figure in alone.tolist():
        if progress is not None:
            progress(1.0)
        tracks[figure], knots = simulate(timelines[figure])
        parts.append(Within(knots.figure + figure, knots.step, knots.knots))
    return tracks, Within.joined(parts)


# The state of each figure: one array for each.
_STATE = (
    "n_steps h fall theta omega psi v beta curvature behind index time side "
    "turn_start turn_yaw wanted planned saturated alone"
).split()


class _Batch:
    """The state of all figures of a batch, one array per quantity."""

    def __init__(self, timelines: Sequence[Timeline]) -> None:
        n = len(timelines)
        first = timelines[0]
        self.sliding, self.tilted, self.limited = first.sliding, first.tilted, first.limited
        kind = (np.sin, np.cos, first.tilted, first.sliding, first.limited)
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

        theta, omega, psi, v, beta, handed, self.behind = start_states(
            timelines, self.control, self.law
        )
        self.theta, self.omega, self.psi, self.v, self.beta = theta, omega, psi, v, beta
        self.index = np.zeros(n, dtype=int)
        self.time = np.zeros(n)
        self.side = np.where((theta > 0.0) | ((theta == 0.0) & (omega > 0.0)), 1.0, -1.0)
        self.turn_start, self.turn_yaw = np.zeros(n), psi.copy()
        self.wanted = np.zeros(n)
        self.planned = np.zeros(n, dtype=bool)
        self.saturated = np.zeros(n, dtype=bool)
        self.turns: list[list[HalfTurn]] = [[] for _ in timelines]
        moving = np.flatnonzero((np.abs(theta) <= LEAN_TOLERANCE) & (self.n_steps > 0))
        if len(moving):
            self.side[moving] = np.where(omega[moving] > 0.0, 1.0, -1.0)
            self._plan(moving)
        p = self.parameters(np.zeros(n))
        first = self.law.free(*self._state(), p, self.law.ellipse(p, self.beta))
        self.first = self._full(first)
        self.curvature, self.alone = self._curvature(first, p)
        # Who stands, or is held by a limit from the start, or goes on with a curvature.
        self.alone |= (self.rate_limited & ~np.isnan(handed)) | self._starts_fast(p)
        self.alone |= self.v < STOP_SPEED

    def part_of(self, who: np.ndarray) -> _Batch:
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
    def parameters(self, fraction: np.ndarray) -> tuple:
        """Quantities inside the steps, by the parabola through their samples."""
        if not self._varying:
            return self._fixed
        f = fraction
        weights = ((2.0 * f - 1.0) * (f - 1.0), 4.0 * f * (1.0 - f), f * (2.0 * f - 1.0))
        base = 2 * np.minimum(self.index, np.maximum(self.n_steps - 1, 0))
        values = list(self._fixed)
        for i in self._varying:
            value = self._values[i]
            values[i] = sum(w * value[self.figures, base + k] for k, w in enumerate(weights))
        return tuple(values)

    def _state(self) -> tuple:
        return self.theta, self.omega, self.psi, self.v

    def _full(self, derivatives: tuple) -> list[np.ndarray]:
        """The three derivatives as arrays (V' is a plain 0 where speed is keyed)."""
        n = len(self.h)
        return [np.array(np.broadcast_to(x, (n,)), dtype=float) for x in derivatives[:3]]

    def _curvature(self, now: tuple, p: tuple) -> tuple[np.ndarray, np.ndarray]:
        """The wanted curvature, and where it does not exist or a limit bounds it."""
        turn = now[1]
        foot = now[4] + p[7] * now[3] * turn
        curvature = turn / foot
        bound = foot * CURVATURE_BOUND <= np.abs(turn)
        if self.limited:
            bound |= np.abs(curvature) >= p[10] * (1.0 - CURVATURE_TOLERANCE)
        return curvature, bound

    def _starts_fast(self, p: tuple) -> np.ndarray:
        """Where the wanted curvature begins to change nearly as fast as is allowed."""
        if not self.rate_limited:
            return np.zeros(len(self.h), dtype=bool)
        e = 1e-6
        later = self.parameters(np.full(len(self.h), e) / self.h)
        rates = (self.omega, *self.first)
        state = [x + e * rate for x, rate in zip(self._state(), rates, strict=True)]
        ahead = self.law.free(*state, later, self.law.ellipse(later, self.beta))
        return np.abs(self._curvature(ahead, later)[0] - self.curvature) >= 0.99 * e * p[11]

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
        self._look_up()
        while True:
            live = (self.index < self.n_steps) & ~self.alone
            left = np.count_nonzero(live)
            if not left:
                break
            if progress is not None:
                progress(float(np.min(np.where(live, self.index / self.n_steps, 1.0))))
            held = ~live
            queue: list[tuple[np.ndarray, np.ndarray]] = []
            waiting = 0
            for _ in range(min(MOST_STEPS, int(np.min((self.n_steps - self.index)[live])))):
                queue.append(self._whole_step(held))
                waiting += len(queue[-1][0])
                if waiting * LOT >= left:
                    break
            who = np.concatenate([some for some, _ in queue])
            self._cross(who, np.concatenate([ends for _, ends in queue], axis=1))
            self._look_up()
        moving = np.flatnonzero(self.n_steps)
        self._close(moving, np.zeros(len(moving), dtype=bool))
        return self._tracks(), Within.joined(self._within)

    def _tracks(self) -> list[Track]:
        """What is left of each figure."""
        states = self._store[:, :-1].reshape(len(KNOT), -1, self._width)
        return [
            Track(
                states[:, b, : self.n_steps[b] + 1],
                int(self.index[b]) + 1,
                tuple(self.turns[b]),
                "",
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
            np.full(len(self.h), FREE),
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

    def _whole_step(self, held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Let figures take a step and note it down.

        Args:
            held: (n,) True for those that stay where they are.

        Returns:
            Which ones cross the vertical in the step. They stay as well, and so
            do those that something else happens to; they are held from now on.
            And (4, k) theta, omega, alpha and the pace at the end of the step.
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
        alpha, turn, accel = last[:3]
        curvature, trouble = self._trouble(theta, v, last, p1, self.h)
        trouble &= ~held
        self.alone |= trouble
        crossed = (theta * self.side < -2.0 * LEAN_TOLERANCE) & ~held & ~trouble
        fresh = np.flatnonzero(crossed)
        ends = np.array((theta[fresh], omega[fresh], alpha[fresh], em[1][fresh]))
        held |= trouble | crossed
        index = self.index + 1
        time = index * self.h
        moved = {
            "index": index,
            "time": time,
            "theta": theta,
            "omega": omega,
            "psi": psi,
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
        return fresh, ends

    def _trouble(
        self, theta: np.ndarray, v: np.ndarray, now: tuple, p1: tuple, dt: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The curvature at the end of a part, and who is to be stepped alone."""
        curvature, trouble = self._curvature(now, p1)
        trouble |= theta * self.side > self.fall + LEAN_TOLERANCE
        if self.sliding or self._varying:
            trouble |= v < STOP_SPEED - 1e-9
        if self.rate_limited:
            trouble |= np.abs(curvature - self.curvature) > 0.5 * p1[11] * dt
        return curvature, trouble

    def _cross(self, who: np.ndarray, ends: np.ndarray) -> None:
        """Take figures through a step in which they cross the vertical."""
        if not len(who):
            return
        part = self.part_of(who)
        theta, omega, alpha, pace = ends
        starts = (part.theta, part.omega, part.first[0])
        root = _crossings(*starts, theta, omega, alpha, part.h, pace, part.side)
        pending = root * part.h > 1e-10
        begin, end = np.zeros(len(who)), np.where(pending, root, 1.0)
        for _ in range(MOST_CUTS):
            live = (begin < 1.0) & ~part.alone
            if not live.any():
                break
            dt = np.where(live, part.h * (end - begin), 0.0)
            pm, p1 = part.parameters(0.5 * (begin + end)), part.parameters(end)
            em, e1 = part.law.ellipse(pm, part.beta), part.law.ellipse(p1, part.beta)
            e1 = e1 if part._varying else em
            theta, omega, psi, v, now = part.law.free_step(
                *part._state(), dt, part.first, pm, p1, em, e1, part.law.rotation(em, dt)
            )
            crossed = live & (theta * part.side < -2.0 * LEAN_TOLERANCE)
            curvature, trouble = part._trouble(theta, v, now, p1, dt)
            part.alone |= trouble & live & ~crossed
            starts = (part.theta, part.omega, part.first[0])
            root = _crossings(*starts, theta, omega, now[0], dt, em[1], part.side)
            cut = crossed & (root * dt > 1e-10)
            accepted = live & ~crossed & ~part.alone
            reached = (theta, omega, psi, v, curvature)
            for name, value in zip(
                ("theta", "omega", "psi", "v", "curvature"), reached, strict=True
            ):
                setattr(part, name, np.where(accepted, value, getattr(part, name)))
            firsts = zip(part._full(now), part.first, strict=True)
            part.first = [np.where(accepted, new, old) for new, old in firsts]
            begin = np.where(accepted, end, begin)
            part.time = np.where(accepted, (part.index + begin) * part.h, part.time)
            inside = np.flatnonzero(accepted & (begin < 1.0))
            knots = np.array(part._noted())[:, inside]
            self._within.append(Within(part.figures[inside], part.index[inside], knots))
            fired = (crossed & ~cut) | (
                accepted & pending & (np.abs(part.theta) <= 2.0 * LEAN_TOLERANCE)
            )
            end = np.where(cut, begin + root * (end - begin), 1.0)
            pending = cut
            if fired.any():
                part._turn_over(np.flatnonzero(fired), begin)
        part.alone |= begin < 1.0
        part.index += 1
        place = np.where(part.alone, self._store.shape[1] - 1, self._begin_at[who] + part.index)
        self._store[:, place] = part._noted()
        self._put(who, part)

    def _turn_over(self, who: np.ndarray, fraction: np.ndarray) -> None:
        """Let figures that stand upright begin their next half turn."""
        self._close(who, self.planned[who])
        change = self.behind[who] + self.psi[who] - self.turn_yaw[who]
        self.control.learn(self.figures[who], self.side[who], change)
        omega = self.omega[who]
        self.side[who] = np.where(omega != 0.0, np.where(omega > 0.0, 1.0, -1.0), -self.side[who])
        self._plan(who)
        self.turn_start[who], self.turn_yaw[who] = self.time[who], self.psi[who]
        p = self.parameters(fraction)
        now = self.law.free(*self._state(), p, self.law.ellipse(p, self.beta))
        curvature, bound = self._curvature(now, p)
        if self.rate_limited:
            bound |= np.abs(curvature - self.curvature) > CURVATURE_TOLERANCE
        self.curvature[who] = curvature[who]
        for store, value in zip(self.first, self._full(now), strict=True):
            store[who] = value[who]
        self.alone[who] |= bound[who]

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
