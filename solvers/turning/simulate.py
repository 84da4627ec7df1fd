# SPDX-License-Identifier: GPL-3.0-or-later
"""Step one turning figure through time, with plain floats.

The curvature of the foot's path is what the figure steers with. It is in one
of three modes:

FREE  it is the wanted one (inverse dynamics of the phase-ellipse control),
BOUND it stands at plus or minus the curvature limit,
RATE  it moves at plus or minus the rate limit until it meets the wanted one.

Within a mode the equations are smooth. Where the mode changes, where the body
crosses the vertical and where it falls or stops, the step is cut at the exact
instant, so the order of the integration survives every corner.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..motion import HalfTurn
from .equations import PARAMETERS, Equations, make_equations
from .heading import HeadingControl
from .settings import CURVATURE_BOUND, RATE_BOUND, STOP_SPEED, Timeline

FREE, BOUND, RATE = 0, 1, 2

LEAN_TOLERANCE = 1e-9  # rad, where a crossing or a fall is met
CURVATURE_TOLERANCE = 1e-10  # relative, where a limit is met
BEYOND = 2.0 * CURVATURE_BOUND  # 1/m; stands for a curvature that does not exist
RATE_TOLERANCE = 1e-6  # relative, where the rate limit is met
NUDGE = 0.02  # of omega_0 theta_max: the push off a balanced start
NUDGED_BELOW = 1e-3  # of the ellipse: nearer to the upright, it is balanced
MOST_CUTS = 40  # in one step
DERIVATIVE_STEP = 1e-6  # s, for the derivative of the wanted curvature

# What is written down after each accepted part of a step.
KNOT = (
    "time",
    "theta",
    "omega",
    "psi",
    "v",
    "curvature",
    "alpha",
    "turn",
    "accel",
    "beta",
    "mode",
)


@dataclass(frozen=True)
class Track:
    """What stepping a figure leaves behind.

    Attributes:
        states: (11, n_steps + 1) at the solver steps, rows as in `KNOT`; the
            last one stays to the end if the figure fell or stopped.
        done: how many of them it has reached; n_steps + 1 unless it fell or
            stopped.
        turns: the half turns.
        outcome: "", "FALL" or "STOP".
        control: what the controller remembers at the end.
    """

    states: np.ndarray
    done: int
    turns: tuple[HalfTurn, ...]
    outcome: str
    control: tuple[float, ...]


@dataclass(frozen=True)
class Within:
    """Knots within steps, where something happens to a figure.

    Attributes:
        figure: (k,) whose knot it is.
        step: (k,) in which of its steps.
        knots: (11, k), rows as in `KNOT`.
    """

    figure: np.ndarray
    step: np.ndarray
    knots: np.ndarray

    @staticmethod
    def joined(parts: Sequence[Within]) -> Within:
        """Those of many figures, in the order of the figures and of time.

        Args:
            parts: knots in the order of time.
        """
        empty = Within(np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros((len(KNOT), 0)))
        parts = [empty, *parts]
        figure = np.concatenate([part.figure for part in parts])
        order = np.argsort(figure, kind="stable")
        step = np.concatenate([part.step for part in parts])[order]
        knots = np.concatenate([part.knots for part in parts], axis=1)[:, order]
        return Within(figure[order], step, knots)

    def of(self, rows: np.ndarray) -> Within:
        """Some of the knots.

        Args:
            rows: (k,) True for each of them.
        """
        return Within(self.figure[rows], self.step[rows], self.knots[:, rows])

    def some(self, first: int, last: int) -> Within:
        """Those of some figures, counted from the first of them.

        Args:
            first: the first figure.
            last: the one after the last.
        """
        a, b = np.searchsorted(self.figure, (first, last))
        return Within(self.figure[a:b] - first, self.step[a:b], self.knots[:, a:b])


def start_states(
    timelines: Sequence[Timeline], control: HeadingControl, law: Equations
) -> tuple[np.ndarray, ...]:
    """Where figures begin: on their ellipse, or where a state hands them on.

    A start at rest in balance is given a push of 2 % of a crossing's rate of
    lean: nothing else would ever make it fall into its first turn.

    Args:
        timelines: checked settings.
        control: heading control of these figures; takes up what the state
            remembers.
        law: the equations on arrays.

    Returns:
        (n,) theta, omega, psi, v, beta, the curvature handed over (nan for
        none), and the heading change that the half turn has behind it.
    """
    n = len(timelines)
    p = [value[:, 0] for value in control.lookup(np.arange(n))(np.zeros((n, 1)))]
    w0, tm, v = p[0], p[1], p[2]
    states = [timeline.settings.start_state for timeline in timelines]
    if control.sliding:
        v = np.array([s.speed if s else float(x) for s, x in zip(states, v, strict=True)])
        if control.limited:
            tm = law.allowed(tm, w0, v, p[3], p[6], p[7], p[10], p[11])
    phase = np.array([timeline.settings.start_phase for timeline in timelines])
    theta, omega = tm * np.sin(phase), w0 * tm * np.cos(phase)
    theta = np.where(np.abs(theta) < 1e-12 * tm, 0.0, theta)
    psi = control.start_yaw(phase, v)
    beta, curvature, behind = np.ones(n), np.full(n, np.nan), np.zeros(n)
    for row, state in enumerate(states):
        if state is None:
            continue
        theta[row], omega[row], curvature[row] = state.lean, state.lean_rate, state.curvature
        psi[row] = _plane_yaw(timelines[row], state.yaw)
        if len(state.control) == 5:
            beta[row], control.factor[row, 1], control.factor[row, 0] = state.control[:3]
            control.expected[row], behind[row] = state.control[3:]
        size = math.hypot(state.lean / tm[row], state.lean_rate / (w0[row] * tm[row]))
        if size < NUDGED_BELOW:
            side = 1.0 if state.phase % (2.0 * math.pi) < math.pi else -1.0
            omega[row] += side * NUDGE * w0[row] * tm[row]
    return theta, omega, psi, v, beta, curvature, behind


def simulate(
    timeline: Timeline, progress: Callable[[float], None] | None = None
) -> tuple[Track, Within]:
    """Step a figure from its start to the end, or until it falls or stops.

    Args:
        timeline: checked settings.
        progress: called with the fraction done; may raise to stop.

    Returns:
        The track, and the knots within its steps.
    """
    settings = timeline.settings
    equations = make_equations(
        math.sin, math.cos, timeline.tilted, timeline.sliding, timeline.limited
    )
    free, forced = equations.free, equations.forced
    free_step, forced_step = equations.free_step, equations.forced_step
    ellipse, rotation = equations.ellipse, equations.rotation
    n_steps, h = timeline.n_steps, timeline.step
    fall, sliding = settings.fall_angle, timeline.sliding
    columns = [timeline.quantities[name] for name in PARAMETERS]
    varying = [i for i, column in enumerate(columns) if np.ndim(column)]
    if varying:
        count = 2 * n_steps + 1
        lists = [
            column.tolist() if np.ndim(column) else [column] * count  # type: ignore[union-attr]
            for column in columns
        ]
        table = list(zip(*lists, strict=True))
    else:
        table = [tuple(columns)] * 3
    rate_limited = bool(np.any(np.asarray(columns[11]) < RATE_BOUND))

    def between(index: int, fraction: float) -> tuple:
        """Quantities inside step `index`, by the parabola through its samples."""
        if not varying:
            return table[0]
        q0, qm, q1 = table[2 * index : 2 * index + 3]
        if fraction <= 0.0:
            return q0
        if fraction >= 1.0:
            return q1
        a = (2.0 * fraction - 1.0) * (fraction - 1.0)
        b = 4.0 * fraction * (1.0 - fraction)
        c = fraction * (2.0 * fraction - 1.0)
        return tuple(a * x + b * y + c * z for x, y, z in zip(q0, qm, q1, strict=True))

    def wanted_curvature(now: tuple, height: float) -> tuple[float, float]:
        """C = psi' / V_f, and V_f = V + l sin(theta) psi'.

        Beyond the pole, where V_f <= 0, no curvature does what is asked for;
        more than any limit stands for it.
        """
        foot = now[4] + height * now[3] * now[1]
        if foot > abs(now[1]) / BEYOND:
            return now[1] / foot, foot
        return math.copysign(BEYOND, now[1]), foot

    def wanted_rate(
        index: int, fraction: float, p: tuple, state: tuple, now: tuple, ahead: bool
    ) -> float:
        """d/dt of the wanted curvature along the motion `now`, from here on or up to here."""
        theta, omega, psi, v = state
        alpha, turn, accel = now[:3]
        e = DERIVATIVE_STEP
        around = ellipse(p, beta)
        if varying:
            if ahead and fraction >= 1.0 and index + 1 < n_steps:
                index, fraction = index + 1, 0.0
            backward = fraction >= 1.0 or (fraction > 0.5 and not ahead)
            e = -e if backward else e
            other = between(index, fraction + e / h)
            there = ellipse(other, beta)
        else:
            other, there = p, around
        following = free(
            theta + e * omega, omega + e * alpha, psi + e * turn, v + e * accel, other, there
        )
        here = free(theta, omega, psi, v, p, around)
        return (wanted_curvature(following, other[7])[0] - wanted_curvature(here, p[7])[0]) / e

    # --- the start -------------------------------------------------------
    p0 = table[0]
    control = HeadingControl([timeline])
    arrays = make_equations(np.sin, np.cos, timeline.tilted, sliding, timeline.limited)
    theta, omega, psi, v, beta, curvature, behind = (
        float(value[0]) for value in start_states([timeline], control, arrays)
    )
    side = 1 if theta > 0.0 or (theta == 0.0 and omega > 0.0) else -1
    figure = np.array([0])

    def plan() -> tuple[float, float, bool]:
        choice = control.plan(
            figure, np.array([time]), np.array([psi]), np.array([v]), np.array([omega])
        )
        return float(choice.beta[0]), float(choice.wanted[0]), bool(choice.saturated[0])

    time = 0.0
    turn_start, turn_yaw, planned = 0.0, psi, False  # planned here, not before
    wanted, saturated = 0.0, False
    if abs(theta) <= LEAN_TOLERANCE and n_steps:
        side = 1 if omega > 0.0 else -1
        beta, wanted, saturated = plan()
        planned, behind = True, 0.0

    # The ellipse wanted in middle and end of a step, and the motion along it.
    em = e1 = ellipse(p0, beta)
    along = rotation(em, h)
    first = free(theta, omega, psi, v, p0, em)
    target, _ = wanted_curvature(first, p0[7])
    limit = p0[10]
    mode, sign = FREE, 0.0
    if math.isnan(curvature) or not rate_limited:
        curvature = target
    curvature = min(max(curvature, -limit), limit)
    if curvature != target:
        sign = math.copysign(1.0, target - curvature)
        if abs(target - curvature) <= 1e-12:
            curvature = target
        else:
            mode = BOUND if sign * curvature >= limit else RATE
    if mode == FREE and rate_limited and n_steps:
        slope = wanted_rate(0, 0.0, p0, (theta, omega, psi, v), first, True)
        if abs(slope) > p0[11] * (1.0 + RATE_TOLERANCE):
            mode, sign = RATE, math.copysign(1.0, slope)
    if mode != FREE:
        first = forced(theta, omega, psi, v, curvature, p0)

    knots = [(0.0, theta, omega, psi, v, curvature, *first[:3], beta, mode)]
    grid = [0]
    turns: list[HalfTurn] = []
    outcome = ""

    # --- stepping --------------------------------------------------------
    for index in range(n_steps):
        if progress is not None and index % 512 == 0:
            progress(index / n_steps)
        begin, end = 0.0, 1.0  # the part of the step that is tried
        pending, cuts = "", 0
        p0 = table[2 * index] if varying else table[0]
        while begin < 1.0:
            cuts += 1
            # --- try the part --------------------------------------------
            if begin == 0.0 and end == 1.0:
                dt, turned = h, along
                pm, p1 = (table[2 * index + 1], table[2 * index + 2]) if varying else (p0, p0)
            else:
                dt = h * (end - begin)
                pm, p1 = between(index, 0.5 * (begin + end)), between(index, end)
            if varying:
                em, e1 = ellipse(pm, beta), ellipse(p1, beta)
            if varying or dt != h:
                turned = rotation(em, dt)
            if mode == FREE:
                theta1, omega1, psi1, v1, now = free_step(
                    theta, omega, psi, v, dt, first, pm, p1, em, e1, turned
                )
                goal, foot = wanted_curvature(now, p1[7])
                curvature1 = goal
            else:
                if mode == BOUND:
                    curvature_m, curvature1 = sign * pm[10], sign * p1[10]
                else:
                    r0, rm, r1 = p0[11], pm[11], p1[11]
                    curvature_m = curvature + sign * dt * (5.0 * r0 + 8.0 * rm - r1) / 24.0
                    curvature1 = curvature + sign * dt * (r0 + 4.0 * rm + r1) / 6.0
                theta1, omega1, psi1, v1 = forced_step(
                    theta, omega, psi, v, dt, first, curvature_m, curvature1, pm, p1
                )
                asked = free(theta1, omega1, psi1, v1, p1, e1)
                goal, foot = wanted_curvature(asked, p1[7])
                now = forced(theta1, omega1, psi1, v1, curvature1, p1)

            # --- what happens first in it: fraction of the part, and what ---
            where, what, met = 2.0, "", ""
            if theta1 * side < -2.0 * LEAN_TOLERANCE:
                where = _crossing(theta, omega, first[0], theta1, omega1, now[0], dt, em[1], side)
                what = "CROSS"
            elif abs(theta1) > fall + LEAN_TOLERANCE:
                level = math.copysign(fall, theta1)
                where, what = _hermite_root(theta, omega, theta1, omega1, dt, level), "FALL"
            if v1 < STOP_SPEED - 1e-9:
                root = _secant(v - STOP_SPEED, v1 - STOP_SPEED)
                if root < where:
                    where, what = root, "STOP"
            small = CURVATURE_TOLERANCE * min(p1[10], 1.0)
            if mode == FREE:
                # In terms of speeds, which pass smoothly through the pole
                gap = foot - abs(now[1]) / p1[10]
                if gap < -CURVATURE_TOLERANCE * now[4]:
                    before = wanted_curvature(first, p0[7])[1] - abs(first[1]) / p0[10]
                    root = _secant(before, gap)
                    if root < where:
                        where, what = root, "LIMIT"
                elif gap <= CURVATURE_TOLERANCE * now[4]:
                    met = "LIMIT"
                if rate_limited and abs(goal - curvature) > 0.5 * p1[11] * dt:
                    slope = wanted_rate(index, end, p1, (theta1, omega1, psi1, v1), now, False)
                    gap = p1[11] - max(abs(slope), abs(goal - curvature) / dt)
                    if gap < -RATE_TOLERANCE * p1[11]:
                        state = theta, omega, psi, v
                        before = wanted_rate(index, begin, p0, state, first, True)
                        root = _secant(p0[11] - abs(before), gap)
                        if root < where:
                            where, what = root, "TOO_FAST"
                    elif gap <= RATE_TOLERANCE * p1[11]:
                        met = "TOO_FAST"
            else:
                gap = sign * (asked[1] - curvature1 * foot)
                if gap < -small * abs(foot):
                    before = free(theta, omega, psi, v, p0, ellipse(p0, beta))
                    foot = wanted_curvature(before, p0[7])[1]
                    start = sign * (before[1] - curvature * foot)
                    # One that starts on what is wanted leaves it first.
                    root = _secant(start, gap) if start > small * abs(foot) else 0.5
                    if root < where:
                        where, what = root, "MET"
                elif gap <= small * abs(foot):
                    met = "MET"
                if mode == RATE:
                    gap = p1[10] - sign * curvature1
                    if gap < -small:
                        root = _secant(p0[10] - sign * curvature, gap)
                        if root < where:
                            where, what = root, "LIMIT"
                    elif gap <= small:
                        met = "LIMIT"

            # --- cut it shorter, or accept it --------------------------------
            fired = ""
            if what and cuts < MOST_CUTS:
                if where * dt > 1e-10:
                    end = begin + where * (end - begin)
                    pending = what
                    continue
                fired = what  # there is nothing left to do before it
            elif what in ("LIMIT", "TOO_FAST") and mode == FREE:
                fired = "TOO_FAST" if rate_limited else what  # whenever it is, the limits hold
            else:
                theta, omega, psi, v, curvature = theta1, omega1, psi1, v1, curvature1
                first, p0, begin = now, p1, end
                time = (index + end) * h
                knots.append((time, theta, omega, psi, v, curvature, *now[:3], beta, mode))
                if what in ("CROSS", "FALL", "STOP"):
                    fired = what
                elif pending == "CROSS":
                    fired = pending if abs(theta) <= 2.0 * LEAN_TOLERANCE else ""
                elif pending == "FALL":
                    fired = pending if fall - abs(theta) <= LEAN_TOLERANCE else ""
                elif pending == "STOP":
                    fired = pending if v <= STOP_SPEED + 1e-9 else ""
                elif pending == met:
                    fired = pending
            end, pending = 1.0, ""

            # --- what happens ------------------------------------------------
            if not fired:
                continue
            if fired in ("FALL", "STOP"):
                outcome = fired
                break
            if fired == "CROSS":
                change = psi - turn_yaw
                turns.append(
                    HalfTurn(turn_start, time, side, beta, wanted, change, saturated, planned)
                )
                control.learn(figure, np.array([side]), np.array([behind + change]))
                behind = 0.0
                side = (1 if omega > 0.0 else -1) if omega else -side
                beta, wanted, saturated = plan()
                turn_start, turn_yaw, planned = time, psi, True
                em = e1 = ellipse(p0, beta)
                along = rotation(em, h)
            elif fired == "LIMIT":
                if mode == FREE:
                    sign = math.copysign(1.0, curvature)
                mode, curvature = BOUND, sign * p0[10]
            elif fired == "MET":
                mode = FREE
            first = free(theta, omega, psi, v, p0, ellipse(p0, beta))
            if mode == FREE:
                goal, _ = wanted_curvature(first, p0[7])
                if rate_limited:
                    away = goal - curvature
                    slope = wanted_rate(index, begin, p0, (theta, omega, psi, v), first, True)
                    if abs(away) > 10.0 * CURVATURE_TOLERANCE * max(1.0, abs(goal)):
                        mode, sign = RATE, math.copysign(1.0, away)
                    elif fired == "TOO_FAST" or abs(slope) > p0[11] * (1.0 + RATE_TOLERANCE):
                        mode, sign = RATE, math.copysign(1.0, slope)
                if mode == FREE:
                    curvature = goal
            if mode != FREE:
                first = forced(theta, omega, psi, v, curvature, p0)
        if outcome:
            break
        grid.append(len(knots) - 1)
    if n_steps:
        turns.append(
            HalfTurn(turn_start, time, side, beta, wanted, psi - turn_yaw, saturated, False)
        )
    noted = np.array(knots).T
    apart = np.ones(len(knots), dtype=bool)
    apart[grid] = False
    rows = np.array(grid)
    if outcome:  # there it stays
        apart[-1] = False
        rows = np.append(rows, np.full(n_steps + 1 - len(grid), len(knots) - 1))
    inside = np.flatnonzero(apart)
    return Track(
        noted[:, rows],
        len(grid),
        tuple(turns),
        outcome,
        (
            beta,
            float(control.factor[0, 1]),
            float(control.factor[0, 0]),
            float(control.expected[0]),
            behind + psi - turn_yaw,
        ),
    ), Within(
        np.zeros(len(inside), dtype=int),
        np.searchsorted(grid, inside) - 1,
        noted[:, inside],
    )


def _secant(before: float, after: float) -> float:
    """Fraction at which a gap that ends at `after` < 0 closes."""
    return before / (before - after) if before > 0.0 else 0.0


def _crossing(
    theta: float,
    omega: float,
    alpha: float,
    theta1: float,
    omega1: float,
    alpha1: float,
    dt: float,
    pace: float,
    side: int,
) -> float:
    """Fraction of dt at which the lean comes to zero.

    The angle around the ellipse is interpolated: a steady turn is met exactly.
    """
    before = math.atan2(side * theta * pace, -side * omega)
    after = math.atan2(side * theta1 * pace, -side * omega1)
    rate = pace * (theta * alpha - omega * omega) / ((theta * pace) ** 2 + omega * omega)
    rate1 = pace * (theta1 * alpha1 - omega1 * omega1) / ((theta1 * pace) ** 2 + omega1 * omega1)
    return _hermite_root(before, rate, after, rate1, dt, 0.0)


def _hermite_root(x0: float, v0: float, x1: float, v1: float, dt: float, level: float) -> float:
    """Fraction of dt at which the cubic through two states meets `level`."""
    x0, x1, v0, v1 = x0 - level, x1 - level, v0 * dt, v1 * dt
    if x0 * x1 >= 0.0:
        return 0.0
    a, b = 2.0 * (x0 - x1) + v0 + v1, 3.0 * (x1 - x0) - 2.0 * v0 - v1
    low, high = 0.0, 1.0
    u = x0 / (x0 - x1)
    for _ in range(30):
        value = ((a * u + b) * u + v0) * u + x0
        if value * x0 > 0.0:
            low = u
        else:
            high = u
        slope = (3.0 * a * u + 2.0 * b) * u + v0
        step = value / slope if slope else 1.0
        if abs(step) < 1e-13:
            break
        following = u - step
        u = following if low < following < high else 0.5 * (low + high)
    return u


def _plane_yaw(timeline: Timeline, yaw: float) -> float:
    """Travel direction in the ground plane from a world yaw, at the start."""
    q = timeline.quantities
    slope, direction = (float(np.ravel(q[name])[0]) for name in ("slope", "slope_direction"))
    fall_line = float(np.ravel(q["fall_line"])[0])
    level = yaw - timeline.settings.placement.yaw - direction
    steep = math.atan2(math.sin(level), math.cos(level) / math.cos(slope))
    difference = steep - math.atan2(math.sin(level), math.cos(level))
    difference = math.remainder(difference, 2.0 * math.pi)
    return fall_line + level + difference


def world_yaw(timeline: Timeline, yaw: float, row: int) -> float:
    """World yaw (about +Z) of a travel direction in the ground plane.

    Args:
        timeline: checked settings.
        yaw: direction in the ground plane, rad from the facing.
        row: half step at which the slope is taken.

    Returns:
        rad about +Z, 0 along -Y, unwrapped like `yaw`.
    """
    q = timeline.quantities

    def pick(name: str) -> float:
        value = np.asarray(q[name])
        return float(value if value.ndim == 0 else value[row])

    steep = yaw - pick("fall_line")
    level = math.atan2(math.sin(steep), math.cos(steep) * math.cos(pick("slope")))
    difference = level - math.atan2(math.sin(steep), math.cos(steep))
    difference = math.remainder(difference, 2.0 * math.pi)
    return timeline.settings.placement.yaw + pick("slope_direction") + steep + difference
