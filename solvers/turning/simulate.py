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
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import heading as heading_control
from .equations import PARAMETERS, Equations, make_equations
from .settings import CURVATURE_BOUND, RATE_BOUND, STOP_SPEED, Timeline

FREE, BOUND, RATE = 0, 1, 2

LEAN_TOLERANCE = 1e-9  # rad, where a crossing or a fall is met
CURVATURE_TOLERANCE = 1e-10  # relative, where a limit is met
RATE_TOLERANCE = 1e-6  # relative, where the rate limit is met
NUDGE = 0.02  # of omega_0 theta_max: the push off a balanced start
NUDGED_BELOW = 1e-3  # of the ellipse: nearer to the upright, it is balanced
MOST_CUTS = 40  # in one step
_EPSILON = 1e-6  # s, for the derivative of the wanted curvature

# Columns of a knot, one row per accepted part of a step.
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
class Turn:
    """One half turn as it was chosen and as it came out.

    Attributes:
        start: s.
        end: s.
        side: +1 left, -1 right.
        beta: turn modifier.
        wanted: heading change wanted, rad.
        yaw: yaw at the start, rad.
        end_yaw: yaw at the end, rad.
        saturated: the wanted change was out of reach.
        complete: from crossing to crossing.
    """

    start: float
    end: float
    side: int
    beta: float
    wanted: float
    yaw: float
    end_yaw: float
    saturated: bool
    complete: bool


@dataclass(frozen=True)
class Track:
    """What stepping a figure leaves behind.

    Attributes:
        knots: (m, 11) accepted parts of steps, columns as in `KNOT`; the
            first is the start.
        grid: (n,) row of each solver step's end in `knots`; shorter than
            n_steps + 1 if the figure fell or stopped.
        turns: the half turns.
        outcome: "", "FALL" or "STOP".
        control: what the controller remembers at the end.
    """

    knots: np.ndarray
    grid: np.ndarray
    turns: tuple[Turn, ...]
    outcome: str
    control: tuple[float, ...]


class _Heading:
    """Heading control of one figure: plans each half turn at its start."""

    def __init__(self, timeline: Timeline, equations: Equations) -> None:
        self.equations = equations
        self.timeline = timeline
        self.quantities = timeline.quantities
        self.half_step = 0.5 * timeline.step
        self.last = 2 * timeline.n_steps
        self.factor = {1: 1.0, -1: 1.0}
        self._constants = tuple(self.quantities[name] for name in PARAMETERS)
        self._varying = [i for i, value in enumerate(self._constants) if np.ndim(value)]
        self.varies = bool(self._varying)
        if self.varies:
            self._samples = np.stack([self._constants[i] for i in self._varying])
        self._swing: float | None = None
        self._bounds: tuple[np.ndarray, np.ndarray] | None = None
        self.expected = 0.0

    def value(self, name: str, time: np.ndarray | float) -> np.ndarray | float:
        """A quantity at any time, by the parabola through its step's samples."""
        value = self.quantities[name]
        if np.ndim(value) == 0:
            return value
        return at_time(value, time, self.half_step)

    def at(self, time: np.ndarray | float) -> tuple:
        """The quantities that the quadrature needs."""
        if not self.varies:
            return self._constants
        values = list(self._constants)
        sampled = at_time(self._samples, time, self.half_step)
        for index, value in zip(self._varying, sampled, strict=True):
            values[index] = value
        return tuple(values)

    def swing(self, time: float, speed: float) -> float:
        """Heading change of the unmodified half turn with the settings of `time`."""
        timeline = self.timeline
        if self._swing is not None:
            return self._swing
        frozen = self.at(time)
        change, _, _ = heading_control.half_turn(
            lambda _: frozen,
            False,
            timeline.tilted,
            timeline.sliding,
            np.zeros((1, 1)),
            np.zeros((1, 1)),
            np.full((1, 1), speed),
            np.ones((1, 1)),
            np.ones((1, 1)),
            symmetric=True,
        )
        swing = float(change[0])
        if not self.varies and not timeline.sliding:
            self._swing = swing
        return swing

    def start_yaw(self, phase: float, speed: float) -> float:
        """Yaw at `phase` of the steady cycle about the heading wanted at the start."""
        timeline = self.timeline
        side = 1.0 if phase % (2.0 * math.pi) < math.pi else -1.0
        reach = phase % math.pi
        yaw = self.value("heading", 0.0) - side * 0.5 * self.swing(0.0, speed)
        if reach < 1e-12:
            return float(yaw)
        frozen = self.at(0.0)
        change, _, _ = heading_control.half_turn(
            lambda _: frozen,
            False,
            timeline.tilted,
            timeline.sliding,
            np.zeros((1, 1)),
            np.full((1, 1), yaw),
            np.full((1, 1), speed),
            np.full((1, 1), side),
            np.ones((1, 1)),
            reach=reach,
        )
        return float(yaw + change[0])

    def plan(
        self, time: float, yaw: float, speed: float, omega: float
    ) -> tuple[float, float, bool]:
        """Choose the half turn that starts now: beta, heading change wanted, saturated."""
        timeline = self.timeline
        side = 1 if omega > 0.0 else -1
        lean_rate = max(abs(omega), 1e-12)
        p = self.at(time)
        w0, tm, keyed, gn, _, _, j, height, _, _, limit, rate_limit = p
        v = speed if timeline.sliding else keyed
        if timeline.sliding and timeline.limited:
            tm = self.equations.allowed(tm, w0, v, gn, j, height, limit, rate_limit)
        size = max(tm, lean_rate / w0, self._largest_ahead(time, w0))
        off = abs(size - tm) > 1e-6 * tm
        mean = 0.5 * (self.factor[1] + self.factor[-1])
        swing = mean * self.swing(min(time + math.pi / w0, self.last * self.half_step), v)
        bounds = self._bounds
        if bounds is None or off:
            bounds = heading_control.beta_bounds(
                *(
                    np.array([x])
                    for x in (
                        w0,
                        size,
                        v,
                        gn,
                        j,
                        height,
                        limit,
                        rate_limit,
                    )
                ),
                fall_angle=timeline.settings.fall_angle,
            )
            if not (off or timeline.sliding or self.varies):
                self._bounds = bounds
        lower, upper = bounds
        sides, yaws = np.array([[float(side)]]), np.array([[yaw]])
        times, speeds, rates = np.array([[time]]), np.array([[v]]), np.array([[lean_rate]])
        calculated = np.zeros(1)

        def change_of(beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            nonlocal calculated
            calculated, duration, _ = heading_control.half_turn(
                self.at,
                self.varies,
                timeline.tilted,
                timeline.sliding,
                times,
                yaws,
                speeds,
                sides,
                beta[:, None],
                rates,
            )
            return calculated, duration

        headings = self.quantities["heading"]
        if np.ndim(headings) == 0:

            def heading_at(duration: np.ndarray) -> np.ndarray:
                return np.full(1, headings)
        else:

            def heading_at(duration: np.ndarray) -> np.ndarray:
                return self.value("heading", time + duration)

        excess = side * (heading_at(np.array([math.pi / w0]))[0] - yaw) - 0.5 * swing
        guess = heading_control.first_guess(np.array([excess]), v, w0, size, gn)
        choice = heading_control.choose(
            change_of,
            heading_at,
            np.array([yaw]),
            np.array([float(side)]),
            np.array([swing]),
            np.array([self.factor[side]]),
            lower,
            upper,
            guess,
            4.0 * gn * size / (v * w0) * np.clip(guess, lower, upper),
        )
        self.expected = float(calculated[0])
        return float(choice.beta[0]), float(choice.wanted[0]), bool(choice.saturated[0])

    def _largest_ahead(self, time: float, w0: float) -> float:
        """Largest maximum lean in the half turn that starts now, if it is long."""
        sizes = self.quantities["theta_max"]
        if np.ndim(sizes) == 0:
            return 0.0
        first = int(time / self.half_step)
        reach = int(heading_control.BETA_MOST * math.pi / w0 / self.half_step)
        return float(np.max(sizes[first : first + reach + 1]))

    def learn(self, side: int, change: float) -> None:
        """Note how much of the calculated heading change came out."""
        if abs(self.expected) > 1e-9:
            share = min(max(change / self.expected, 0.5), 1.5)
            self.factor[side] += 0.7 * (share - self.factor[side])


def at_time(value: np.ndarray, time: np.ndarray | float, half_step: float) -> np.ndarray:
    """A sampled quantity at any time, by the parabola through its step's samples.

    Args:
        value: (..., 2 n_steps + 1) samples at the half steps.
        time: where to evaluate, s; beyond the ends the end value holds.
        half_step: s.

    Returns:
        Values of the shape (...) of the samples and that of `time`.
    """
    steps = (value.shape[-1] - 1) // 2
    place = np.minimum(np.maximum(np.asarray(time) / (2.0 * half_step), 0.0), steps)
    index = np.minimum(place.astype(int), steps - 1)
    f = place - index
    index = 2 * index
    low, high = 1.0 - f, 2.0 * f - 1.0
    return (
        value[..., index] * (-high * low)
        + value[..., index + 1] * (4.0 * f * low)
        + value[..., index + 2] * (f * high)
    )


def simulate(timeline: Timeline, progress: Callable[[float], None] | None = None) -> Track:
    """Step a figure from its start to the end, or until it falls or stops.

    Args:
        timeline: checked settings.
        progress: called with the fraction done; may raise to stop.

    Returns:
        The track.
    """
    settings = timeline.settings
    equations = make_equations(
        math.sin, math.cos, timeline.tilted, timeline.sliding, timeline.limited
    )
    free, forced = equations.free, equations.forced
    free_step, forced_step = equations.free_step, equations.forced_step
    n_steps, h = timeline.n_steps, timeline.step
    fall, sliding = settings.fall_angle, timeline.sliding
    control = _Heading(timeline, equations)

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

    def wanted_curvature(turn: float, v: float, s: float, height: float) -> float:
        """C = psi' / V_f with V_f = V + l sin(theta) psi'; beyond the pole, full lock."""
        foot = v + height * s * turn
        if foot > abs(turn) / CURVATURE_BOUND:
            return turn / foot
        return math.copysign(CURVATURE_BOUND, turn)

    def wanted_rate(index: int, fraction: float, p: tuple, state: tuple, now: tuple) -> float:
        """d/dt of the wanted curvature along the motion `now` = (alpha, psi', V', ...)."""
        theta, omega, psi, v = state
        alpha, turn, accel = now[:3]
        e = _EPSILON
        if varying:
            backward = fraction > 0.5
            other = between(index, fraction + (-e if backward else e) / h)
            sign = -1.0 if backward else 1.0
        else:
            other, sign = p, 1.0
        e *= sign
        _, w1, _, s1, v1 = free(
            theta + e * omega, omega + e * alpha, psi + e * turn, v + e * accel, other, beta
        )
        _, w0, _, s0, v0 = free(theta, omega, psi, v, p, beta)
        return (
            wanted_curvature(w1, v1, s1, other[7]) - wanted_curvature(w0, v0, s0, p[7])
        ) / e

    # --- the start -------------------------------------------------------
    p0 = table[0]
    w0, tm = p0[:2]
    if timeline.limited and sliding:
        v = settings.start_state.speed if settings.start_state else p0[2]
        tm = equations.allowed(tm, w0, v, p0[3], p0[6], p0[7], p0[10], p0[11])
    state = settings.start_state
    beta = 1.0
    if state is None:
        phase = settings.start_phase
        theta = tm * math.sin(phase)
        omega = w0 * tm * math.cos(phase)
        if abs(theta) < 1e-12 * tm:
            theta = 0.0
        v = p0[2]
        psi = control.start_yaw(phase, v)
        side = 1 if phase % (2.0 * math.pi) < math.pi else -1
        curvature = None
    else:
        theta, omega, v = state.lean, state.lean_rate, state.speed
        psi = _plane_yaw(timeline, state.yaw)
        curvature = state.curvature
        if len(state.control) == 3:
            beta, control.factor[1], control.factor[-1] = state.control
        if math.hypot(theta / tm, omega / (w0 * tm)) < NUDGED_BELOW:
            side = 1 if state.phase % (2.0 * math.pi) < math.pi else -1
            omega += side * NUDGE * w0 * tm
        side = 1 if theta > 0.0 or (theta == 0.0 and omega > 0.0) else -1
    if not sliding:
        v = p0[2]

    time = 0.0
    turn_start, turn_yaw, planned = 0.0, psi, False
    wanted, saturated = 0.0, False
    if abs(theta) <= LEAN_TOLERANCE and n_steps:
        side = 1 if omega > 0.0 else -1
        beta, wanted, saturated = control.plan(time, psi, v, omega)
        planned = True

    first = free(theta, omega, psi, v, p0, beta)
    target = wanted_curvature(first[1], first[4], first[3], p0[7])
    limit = p0[10]
    mode, sign = FREE, 0.0
    if curvature is None:
        curvature = min(max(target, -limit), limit)
    elif rate_limited:
        curvature = min(max(curvature, -limit), limit)
    else:
        curvature = min(max(target, -limit), limit)
    if curvature != target:
        sign = math.copysign(1.0, target - curvature)
        if abs(target - curvature) <= 1e-12:
            curvature = target
        else:
            mode = BOUND if sign * curvature >= limit else RATE
    if mode == FREE and rate_limited and n_steps:
        slope = wanted_rate(0, 0.0, p0, (theta, omega, psi, v), first)
        if abs(slope) > p0[11] * (1.0 + RATE_TOLERANCE):
            mode, sign = RATE, math.copysign(1.0, slope)
    if mode != FREE:
        first = forced(theta, omega, psi, v, curvature, p0)

    knots = [(0.0, theta, omega, psi, v, curvature, *first[:3], beta, mode)]
    grid = [0]
    turns: list[Turn] = []
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
                dt = h
                pm, p1 = (table[2 * index + 1], table[2 * index + 2]) if varying else (p0, p0)
            else:
                dt = h * (end - begin)
                pm, p1 = between(index, 0.5 * (begin + end)), between(index, end)
            if mode == FREE:
                theta1, omega1, psi1, v1 = free_step(theta, omega, psi, v, dt, first, pm, p1, beta)
                now = free(theta1, omega1, psi1, v1, p1, beta)
                curvature1 = goal = wanted_curvature(now[1], now[4], now[3], p1[7])
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
                asked = free(theta1, omega1, psi1, v1, p1, beta)
                goal = wanted_curvature(asked[1], asked[4], asked[3], p1[7])
                now = forced(theta1, omega1, psi1, v1, curvature1, p1)

            # --- what happens first in it: fraction of the part, and what ---
            where, what, met = 2.0, "", ""
            if theta1 * side < -2.0 * LEAN_TOLERANCE:
                where, what = _hermite_root(theta, omega, theta1, omega1, dt, 0.0), "CROSS"
            elif abs(theta1) > fall + LEAN_TOLERANCE:
                level = math.copysign(fall, theta1)
                where, what = _hermite_root(theta, omega, theta1, omega1, dt, level), "FALL"
            if v1 < STOP_SPEED - 1e-9:
                root = _secant(v - STOP_SPEED, v1 - STOP_SPEED)
                if root < where:
                    where, what = root, "STOP"
            small = CURVATURE_TOLERANCE * p1[10]
            if mode == FREE:
                gap = p1[10] - abs(goal)
                if gap < -small:
                    root = _secant(p0[10] - abs(curvature), gap)
                    if root < where:
                        where, what = root, "LIMIT"
                elif gap <= small:
                    met = "LIMIT"
                if rate_limited and abs(goal - curvature) > 0.5 * p1[11] * dt:
                    slope = wanted_rate(index, end, p1, (theta1, omega1, psi1, v1), now)
                    gap = p1[11] - max(abs(slope), abs(goal - curvature) / dt)
                    if gap < -RATE_TOLERANCE * p1[11]:
                        before = wanted_rate(index, begin, p0, (theta, omega, psi, v), first)
                        root = _secant(p0[11] - abs(before), gap)
                        if root < where:
                            where, what = root, "TOO_FAST"
                    elif gap <= RATE_TOLERANCE * p1[11]:
                        met = "TOO_FAST"
            else:
                gap = sign * (goal - curvature1)
                if gap < -small:
                    asked = free(theta, omega, psi, v, p0, beta)
                    before = wanted_curvature(asked[1], asked[4], asked[3], p0[7])
                    root = _secant(sign * (before - curvature), gap)
                    if root < where:
                        where, what = root, "MET"
                elif gap <= small:
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
                turns.append(
                    Turn(turn_start, time, side, beta, wanted, turn_yaw, psi, saturated, planned)
                )
                if planned:
                    control.learn(side, psi - turn_yaw)
                side = (1 if omega > 0.0 else -1) if omega else -side
                beta, wanted, saturated = control.plan(time, psi, v, omega)
                turn_start, turn_yaw, planned = time, psi, True
            elif fired == "LIMIT":
                if mode == FREE:
                    sign = math.copysign(1.0, curvature)
                mode, curvature = BOUND, sign * p0[10]
            elif fired == "TOO_FAST":
                mode, sign = RATE, math.copysign(1.0, slope)
            elif fired == "MET":
                mode = FREE
            if fired in ("CROSS", "MET") and mode == FREE and rate_limited:
                now = free(theta, omega, psi, v, p0, beta)
                slope = wanted_rate(index, begin, p0, (theta, omega, psi, v), now)
                if abs(slope) > p0[11] * (1.0 + RATE_TOLERANCE):
                    mode, sign = RATE, math.copysign(1.0, slope)
            if mode == FREE:
                first = free(theta, omega, psi, v, p0, beta)
                curvature = wanted_curvature(first[1], first[4], first[3], p0[7])
            else:
                first = forced(theta, omega, psi, v, curvature, p0)
        if outcome:
            break
        grid.append(len(knots) - 1)
    if n_steps:
        turns.append(Turn(turn_start, time, side, beta, wanted, turn_yaw, psi, saturated, False))
    return Track(
        np.array(knots),
        np.array(grid),
        tuple(turns),
        outcome,
        (beta, control.factor[1], control.factor[-1]),
    )


def _secant(before: float, after: float) -> float:
    """Fraction at which a gap that ends at `after` < 0 closes."""
    return before / (before - after) if before > 0.0 else 0.0


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
        following = u - value / slope if slope else 0.5 * (low + high)
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - u) < 1e-12:
            return following
        u = following
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
        value = q[name]
        return float(value if np.ndim(value) == 0 else value[row])

    steep = yaw - pick("fall_line")
    level = math.atan2(math.sin(steep), math.cos(steep) * math.cos(pick("slope")))
    difference = level - math.atan2(math.sin(steep), math.cos(steep))
    difference = math.remainder(difference, 2.0 * math.pi)
    return timeline.settings.placement.yaw + pick("slope_direction") + steep + difference
