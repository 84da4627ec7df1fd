# SPDX-License-Identifier: GPL-3.0-or-later
"""Heading control: how far a half turn turns, and which one to do next.

At each crossing of the vertical the next half turn is modified by beta
(van de Panne et al. 1993, section 5.2): it leans to beta theta_max at the
frequency omega_0 / beta. beta is chosen so that the half turn ends with the
body heading half a nominal swing to the outside of the heading wanted then.

Everything here works on n figures at once; one figure is n = 1. Gauss-
Legendre nodes in phase stand along axis 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from .equations import GAIN, PARAMETERS, REST, make_equations
from .settings import CURVATURE_BOUND, RATE_BOUND, STOP_SPEED, Timeline

NODES = 12  # at least; more near a lean of 90 degrees
MOST_NODES = 96
BETA_LEAST = 0.25
BETA_MOST = 3.0
MORE_LEAN = math.radians(15.0)  # that a modified turn may add to the maximum lean
LARGEST_HALF_TURN = math.radians(165.0)
CLOSE = 5e-5  # rad, from where the last step is taken on trust
STEADY = 1e-5  # rad; a half turn wanted so nearly like the unmodified one is known
SWING_SPACING = 0.125  # s
SHORT = 1e-4  # rad; a half turn that misses by less is not called saturated
STEP = 1e-4  # relative, for the slope and the curvature
ACCURACY = 1e-11  # rad, of the heading at the end of a half turn


def _gauss(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes and weights on [0, 1] and the matrix of integrals up to each node."""
    x, w = np.polynomial.legendre.leggauss(count)
    x, w = 0.5 * (x + 1.0), 0.5 * w
    powers = np.arange(count)
    # Integrals of the Lagrange polynomials, through Legendre polynomials for
    # their good conditioning: values -> coefficients -> integrals.
    vandermonde = np.polynomial.legendre.legvander(2.0 * x - 1.0, count - 1)
    coefficients = np.linalg.inv(vandermonde)
    integrals = np.zeros((count, count))
    for power in powers:
        unit = np.zeros(count)
        unit[power] = 0.5
        integral = np.polynomial.legendre.legint(unit, lbnd=-1.0)
        integrals[:, power] = np.polynomial.legendre.legval(2.0 * x - 1.0, integral)
    return x, w, integrals @ coefficients


def _differentiation(x: np.ndarray) -> np.ndarray:
    """Matrix that differentiates the polynomial through values at the nodes."""
    gaps = x[:, None] - x[None, :] + np.eye(len(x))
    scale = np.prod(gaps, axis=1)
    matrix = scale[:, None] / scale[None, :] / gaps
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return matrix


@cache
def _rule(count: int) -> tuple[np.ndarray, ...]:
    """Nodes, weights, and the matrices on the right of values that integrate and differentiate."""
    x, w, q = _gauss(count)
    qt = np.ascontiguousarray(q.T)
    dt = np.ascontiguousarray(_differentiation(x).T)
    return x, w, qt, dt, np.ascontiguousarray(np.column_stack((qt, w)))


@lru_cache(maxsize=64)
def _along(reach: float, count: int) -> tuple[np.ndarray, ...]:
    """sin, cos, cos^2, sin cos and the integral of cos^2 at the nodes up to a phase."""
    phi = reach * _rule(count)[0]
    sine, cosine = np.sin(phi), np.cos(phi)
    return sine, cosine, cosine**2, sine * cosine, 0.5 * phi + 0.25 * np.sin(2.0 * phi)


def _nodes_for(lean: float) -> int:
    """How many nodes integrate a half turn up to a lean to 1e-10.

    The tangent of theta = lean sin(phi) has its nearest poles at phi = pi/2
    -+ i arcosh(pi / (2 lean)), and the error of n Gauss nodes falls with
    rho^(-2 n), rho being the sum of the half axes of the ellipse through them
    about the interval (Trefethen, Approximation Theory, Theorem 19.3).
    """
    away = math.acosh(max(0.5 * math.pi / max(lean, 1e-9), 1.0)) / (0.5 * math.pi)
    rho = away + math.hypot(1.0, away)
    count = NODES
    while count < MOST_NODES and rho ** (-2 * count) > 1e-10:
        count *= 2
    return count


def nodes_of(timeline: Timeline) -> int:
    """How many nodes the half turns of a figure are integrated with, as for `half_turn`.

    Where settings jump every rule has its error. Which one is taken is a
    matter of the figure alone, so that its plans do not depend on the others
    of a batch.

    Args:
        timeline: checked settings.
    """
    if timeline.constant:
        return 0
    lean = float(np.max(timeline.quantities["asked"]))
    return _nodes_for(max(lean, min(1.25 * lean, 0.85 * timeline.settings.fall_angle)))


# t (n, k) -> (omega_0, theta_max, speed, g_normal, g_slope, fall_line, J,
# height, friction, drag, max_curvature, max_curvature_rate), each a float or
# an array that broadcasts with t.
_LAW = make_equations(np.sin, np.cos, False, False, True)
Lookup = Callable[[np.ndarray], tuple]


def half_turn(
    at: Lookup,
    varies: bool,
    tilted: bool,
    sliding: bool,
    time: np.ndarray,
    yaw: np.ndarray,
    speed: np.ndarray,
    side: np.ndarray,
    beta: np.ndarray,
    lean_rate: np.ndarray | None = None,
    first: tuple | None = None,
    reach: float = math.pi,
    symmetric: bool = False,
    nodes: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Heading change of a half turn by quadrature along its way.

    On the ellipse theta = side beta theta_max sin(phi), and

        psi' = (g_n sin(theta) + g_lat(psi) cos(theta) - J alpha) / (V cos(theta))

    with alpha = -(omega_0/beta)^2 theta is integrated over phi from 0 to
    `reach` at Gauss-Legendre nodes; on a slope, where the right side depends
    on psi (and V), by Picard iteration on the nodes. A half turn that begins
    off the ellipse, or whose settings vary on the way, has an amplitude R and
    a pace of its own, by the control law of the motion (p is its pull):

        (ln R)' = -q cos^2(phi), phi' = Omega + q sin(phi) cos(phi),
        q = p + Omega'/Omega, Omega = omega_0/beta,

    where R is found to first order in its distance from the ellipse.

    What the limits clip is not foreseen here.

    Args:
        at: looks the quantities up at times.
        varies: True if they vary with time.
        tilted: True if the ground slopes.
        sliding: True if the speed is integrated.
        time: (n, 1) start of the half turn, s.
        yaw: (n, 1) direction of travel at the start, rad.
        speed: (n, 1) speed of the centre of mass at the start, m/s.
        side: (n, 1) +1 to the left, -1 to the right.
        beta: (n, 1) turn modifier.
        lean_rate: (n, 1) |omega| at the start, rad/s; None if it is that of
            the ellipse.
        first: what `at` gives at the start, if that is known.
        reach: phase at which to stop; pi is the whole half turn.
        symmetric: True to begin not at `yaw`, but so that start and end lie
            equally far to both sides of the fall line.
        nodes: how many Gauss-Legendre nodes to take; 0 for as many as the
            largest lean asks for.

    Returns:
        (n,) heading change in rad, positive to the left; (n,) duration in s;
        (n,) yaw at the start.
    """
    sine, cosine, square, mixed, tau = _along(reach, nodes or NODES)
    x, weights, to_nodes, slopes, to_end = _rule(nodes or NODES)
    p = at(time) if first is None else first
    w0, tm, keyed, gn, gs, dl, j, height, mu, drag, limit, rate_limit = p
    held = sliding and limited_by(limit, rate_limit)
    if held:
        tm = _LAW.allowed(tm, w0, speed, gn, j, height, limit, rate_limit)
    pace = reach * beta / w0  # dt = pace dx
    off = 0.0 * beta
    if lean_rate is not None:
        off = np.log(lean_rate / (w0 * tm))
        off = np.where(np.abs(off) < 1e-6, 0.0, np.minimum(np.maximum(off, -0.7), 0.7))
    if not varies and not np.any(off):
        size = beta * tm
        theta = size * sine
        omega = w0 * tm * cosine
        alpha = -((w0 / beta) ** 2) * theta
        duration = pace[:, 0]
    else:
        # Near the ellipse the control law is linear in d = ln(R/(beta theta_max)):
        # d' = -K cos^2(phi) d, with an integrating factor e^(K tau).
        k = GAIN * beta / (0.5 * (1.0 + REST))
        factor = np.exp(k * tau)
        drift = np.zeros((1, 1))
        if varies:
            p = at(time + (pace + 0.0 * x) @ to_nodes)
            if np.shape(p[0])[-1] > 1:  # the pace varies: once more along the way
                pace = reach * beta / p[0]
                p = at(time + pace @ to_nodes)
                pace = reach * beta / p[0]
            w0, tm, keyed, gn, gs, dl, j, height, mu, drag, limit, rate_limit = p
            if held:
                tm = _LAW.allowed(tm, w0, speed, gn, j, height, limit, rate_limit)
            if w0.shape[1] > 1:
                drift = np.log(w0) @ slopes / reach  # d(ln omega_0)/dphi
        distance = off / factor
        if tm.shape[1] > 1 or drift.shape[1] > 1:
            forcing = drift * reach * square
            if tm.shape[1] > 1:  # and ln(beta), which stays the same
                forcing = forcing + np.log(tm) @ slopes
            distance = distance - ((factor * forcing) @ to_nodes) / factor
        e = np.exp(2.0 * distance)
        f = w0 / beta
        pull = GAIN * w0 * (e - 1.0) / (e + REST)
        advance = (f + pull * mixed) / (1.0 - drift * mixed)
        pace = reach / np.maximum(advance, 0.2 * f)
        size = beta * tm * np.exp(distance)
        theta = size * sine
        omega = size * f * cosine
        alpha = -f * f * theta - pull * omega
        duration = (pace + 0.0 * x) @ weights
    if not nodes and (needed := _nodes_for(float(size.max()))) > NODES:
        begin = (time, yaw, speed, side, beta, lean_rate, first)
        return half_turn(at, varies, tilted, sliding, *begin, reach, symmetric, needed)
    keyed = np.maximum(keyed, STOP_SPEED)
    theta = side * theta
    s, c = np.sin(theta), np.cos(theta)
    base = (gn * s - j * side * alpha) / c
    if not tilted and not sliding:
        change = (base / keyed * pace) @ weights
        return change, duration, yaw[:, 0]
    v = speed + 0.0 * theta if sliding else keyed + 0.0 * theta
    omega = side * omega
    load = np.maximum(gn - height * (s * side * alpha + c * omega**2), 0.0) if sliding else 0.0
    start = yaw
    psi = start + 0.0 * theta
    integral = psi
    for _ in range(40):
        rate = (base + gs * np.sin(dl - psi)) / v
        integral = (rate * pace) @ to_end
        if symmetric:
            start = dl - 0.5 * integral[:, -1:]
        moved = start + integral[:, :-1]
        step = float(np.abs(moved - psi).max())
        psi = moved
        if sliding:
            accel = gs * np.cos(dl - psi) + height * omega * rate * c - mu * load - drag * v * v
            faster = np.maximum(speed + (accel * pace) @ to_nodes, 0.1)
            step = max(step, float(np.abs(faster - v).max()))
            v = faster
        if step < 1e-12:
            break
    return integral[:, -1], duration, np.broadcast_to(start, (len(integral), 1))[:, 0]


def limited_by(max_curvature: np.ndarray, max_rate: np.ndarray) -> bool:
    """True if any of the limits is finite.

    Args:
        max_curvature: 1/m.
        max_rate: 1/(m s).
    """
    return bool(np.any(max_curvature < CURVATURE_BOUND) or np.any(max_rate < RATE_BOUND))


def beta_bounds(
    omega_0: np.ndarray,
    theta_max: np.ndarray,
    speed: np.ndarray,
    g_normal: np.ndarray,
    inertia_length: np.ndarray,
    height: np.ndarray,
    max_curvature: np.ndarray,
    max_rate: np.ndarray,
    fall_angle: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest turn modifier that the lean and the limits allow.

    The curvature at the apex, C(beta theta_max) with
    k = g_n sin(A) + J (omega_0/beta)^2 A, has to stay within the curvature
    limit, and that at the crossing, (g_n + J (omega_0/beta)^2) omega_0
    theta_max / V^2, within the rate limit. If the unmodified turn does not,
    the bounds close on it from the side that does not help.

    Args:
        omega_0: (n,) turning frequency, rad/s.
        theta_max: (n,) largest lean, rad.
        speed: (n,) speed of the centre of mass, m/s.
        g_normal: (n,) gravity along the ground normal, m/s^2.
        inertia_length: (n,) J = (I + m l^2) / (m l), m.
        height: (n,) height of the centre of mass, m.
        max_curvature: (n,) 1/m.
        max_rate: (n,) 1/(m s).
        fall_angle: (n,) lean at which the figure has fallen, rad.

    Returns:
        (n,) least and (n,) greatest beta; least <= 1 <= greatest.
    """
    most_lean = np.minimum(0.85 * fall_angle, theta_max + MORE_LEAN)
    upper = np.clip(most_lean / theta_max, 1.0, BETA_MOST)
    lower = np.full_like(upper, BETA_LEAST)
    if np.any(max_rate < RATE_BOUND):
        spare = (0.99 * max_rate * speed**2 / (omega_0 * theta_max) - g_normal) / inertia_length
        lower = np.where(
            spare > 0.0,
            np.maximum(lower, omega_0 / np.sqrt(np.maximum(spare, 1e-12))),
            1.0,
        )
    if np.any(max_curvature < CURVATURE_BOUND):
        limit = 0.99 * max_curvature

        def excess(beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """k (1 - C l sin) - C V^2 cos at the apex, and its slope."""
            lean = beta * theta_max
            s, c = np.sin(lean), np.cos(lean)
            swing = inertia_length * omega_0**2 * theta_max / beta
            k = g_normal * s + swing
            slope = (g_normal * c * theta_max - swing / beta) * (1.0 - limit * height * s)
            slope += limit * theta_max * (speed**2 * s - k * height * c)
            return k * (1.0 - limit * height * s) - limit * speed**2 * c, slope

        nominal = excess(np.ones_like(upper))[0] > 0.0
        for bound, direction in ((upper, 1.0), (lower, -1.0)):
            beta = bound.copy()
            for _ in range(9):  # Newton on a convex function, from outside
                value, slope = excess(beta)
                if not (value > 1e-14).any():
                    break
                uphill = slope * direction > 0.0
                inward = np.where(uphill, value / np.where(uphill, slope, 1.0), 0.0)
                beta = np.where(value > 0.0, beta - inward, beta)
                beta = np.where((beta - 1.0) * direction < 0.0, 1.0, beta)
            bound[:] = np.where(nominal & (direction > 0.0), 1.0, beta)
    return np.minimum(lower, 1.0), np.maximum(upper, 1.0)


@dataclass(frozen=True)
class Choice:
    """What heading control chose for n figures at a crossing.

    Attributes:
        beta: (n,) turn modifier.
        wanted: (n,) heading change wanted, rad, positive to the left.
        change: (n,) heading change expected, rad.
        saturated: (n,) True where the two differ.
    """

    beta: np.ndarray
    wanted: np.ndarray
    change: np.ndarray
    saturated: np.ndarray


def first_guess(
    excess: np.ndarray, speed: np.ndarray, omega_0: np.ndarray, theta_max: np.ndarray, g: np.ndarray
) -> np.ndarray:
    """beta by Eq. 11 and 12: sqrt(1 + excess V omega_0 / (2 g theta_max)).

    Good for gentle turns only (it misses a change of 10 degrees by 1.7), and
    where the radicand is negative the turn may still be possible: it is a
    place to begin, never the answer by itself.

    Args:
        excess: (n,) how much more than the unmodified turn is wanted, rad.
        speed: (n,) m/s.
        omega_0: (n,) rad/s.
        theta_max: (n,) rad.
        g: (n,) m/s^2.

    Returns:
        (n,) beta, at least `BETA_LEAST`.
    """
    radicand = 1.0 + excess * speed * omega_0 / (2.0 * g * theta_max)
    return np.sqrt(np.maximum(radicand, BETA_LEAST**2))


def choose(
    change_of: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    heading_at: Callable[[np.ndarray], np.ndarray],
    yaw: np.ndarray,
    side: np.ndarray,
    swing: np.ndarray,
    factor: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    guess: np.ndarray,
) -> Choice:
    """Solve for the beta with which a half turn ends as wanted.

    Wanted at the end is yaw = heading(end) + side swing / 2. The first guess
    is taken as it is if the quadrature says that it is good to `ACCURACY`;
    otherwise Halley steps (Newton's with the curvature) follow, kept within a
    bracket. Value, slope and curvature come from one call for beta and
    beta (1 -+ `STEP`) together.

    Args:
        change_of: beta (3 n,) -> heading change (3 n,) and duration (3 n,).
        heading_at: duration (3 n,) -> heading wanted at the end (3 n,), rad.
        yaw: (n,) yaw at the start, rad.
        side: (n,) +1 to the left, -1 to the right.
        swing: (n,) swing of the unmodified half turn, rad.
        factor: (n,) how much of the calculated change comes out (below 1
            where limits clip), learned from earlier half turns.
        lower: (n,) least beta.
        upper: (n,) greatest beta.
        guess: (n,) beta to begin with.

    Returns:
        The choice.
    """
    n = len(guess)
    if n == 1:
        return _choose_one(
            change_of,
            heading_at,
            *(float(x[0]) for x in (yaw, side, swing, factor, lower, upper, guess)),
        )
    low, high = lower.copy(), upper.copy()
    beta = np.minimum(np.maximum(guess, lower), upper)
    largest = np.maximum(LARGEST_HALF_TURN, swing)
    done = np.zeros(n, dtype=bool)
    saturated, wanted, change = done.copy(), np.zeros(n), np.zeros(n)
    sides, yaws = np.tile(side, 3), np.tile(yaw, 3)
    factors, swings, most = np.tile(factor, 3), np.tile(swing, 3), np.tile(largest, 3)
    for _ in range(30):
        raw, duration = change_of(np.concatenate((beta * (1.0 - STEP), beta, beta * (1.0 + STEP))))
        goals = sides * (heading_at(duration) - yaws) + 0.5 * swings
        results = sides * factors * raw
        errors = results - np.minimum(goals, most)
        goal, result = goals[n : 2 * n], results[n : 2 * n]
        behind, error, ahead = errors[:n], errors[n : 2 * n], errors[2 * n :]
        wanted = np.where(done, wanted, goal)
        change = np.where(done, change, result)
        too_far = error > 0.0
        high = np.where(too_far, np.minimum(high, beta), high)
        low = np.where(too_far, low, np.maximum(low, beta))
        fits = np.abs(error) < ACCURACY
        at_bound = ~fits & ((too_far & (beta <= lower)) | (~too_far & (beta >= upper)))
        short = np.abs(result - wanted) > SHORT
        saturated = np.where(done, saturated, short & (at_bound | (wanted > largest)))
        done = done | fits | at_bound | (high - low < 1e-13)
        if np.all(done):
            break
        width = STEP * beta
        slope = (ahead - behind) / (2.0 * width)
        bend = (ahead - 2.0 * error + behind) / (width * width)
        rising = slope > 1e-6
        safe = np.where(rising, slope, 1.0)
        curved = np.maximum(safe - error * bend / (2.0 * safe), 0.3 * safe)
        following = beta - np.where(rising, error / curved, 0.0)
        following = np.minimum(np.maximum(following, lower), upper)
        # A step out of the bracket, unless it is to a bound not yet tried.
        astray = (following <= low) | (following >= high)
        untried = ((following == lower) & (low == lower)) | ((following == upper) & (high == upper))
        following = np.where(astray & ~untried, 0.5 * (low + high), following)
        beta = np.where(done, beta, following)
        # This near, a step needs no checking.
        sure = ~done & (np.abs(error) < CLOSE) & rising & ~astray
        change = np.where(sure, np.minimum(goal, largest), change)
        done = done | sure
        if np.all(done):
            break
    return Choice(beta, side * wanted, side * change, saturated)


def _choose_one(
    change_of: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    heading_at: Callable[[np.ndarray], np.ndarray],
    yaw: float,
    side: float,
    swing: float,
    factor: float,
    lower: float,
    upper: float,
    guess: float,
) -> Choice:
    """`choose` for one figure, step by step the same, without arrays."""
    low, high = lower, upper
    beta = min(max(guess, lower), upper)
    largest = max(LARGEST_HALF_TURN, swing)
    saturated = False
    for _ in range(30):
        raw, duration = change_of(np.array((beta * (1.0 - STEP), beta, beta * (1.0 + STEP))))
        goals = [side * (x - yaw) + 0.5 * swing for x in heading_at(duration).tolist()]
        results = [side * factor * x for x in raw.tolist()]
        behind, error, ahead = (x - min(y, largest) for x, y in zip(results, goals, strict=True))
        wanted, change = goals[1], results[1]
        too_far = error > 0.0
        if too_far:
            high = min(high, beta)
        else:
            low = max(low, beta)
        fits = abs(error) < ACCURACY
        at_bound = not fits and (beta <= lower if too_far else beta >= upper)
        saturated = abs(change - wanted) > SHORT and (at_bound or wanted > largest)
        if fits or at_bound or high - low < 1e-13:
            break
        width = STEP * beta
        slope = (ahead - behind) / (2.0 * width)
        bend = (ahead - 2.0 * error + behind) / (width * width)
        rising = slope > 1e-6
        following = beta
        if rising:
            following -= error / max(slope - error * bend / (2.0 * slope), 0.3 * slope)
        following = min(max(following, lower), upper)
        astray = following <= low or following >= high
        untried = (following == lower and low == lower) or (following == upper and high == upper)
        beta = 0.5 * (low + high) if astray and not untried else following
        if abs(error) < CLOSE and rising and not astray:
            change = min(wanted, largest)
            break
    return Choice(
        np.array([beta]),
        np.array([side * wanted]),
        np.array([side * change]),
        np.array([saturated]),
    )


def at_time(
    value: np.ndarray,
    time: np.ndarray,
    half_step: np.ndarray | float,
    rows: np.ndarray | None = None,
) -> np.ndarray:
    """A sampled quantity at any time, by the parabola through its step's samples.

    Args:
        value: (2 n_steps + 1,) samples at the half steps, or of n figures
            (n, 2 n_steps + 1).
        time: where to evaluate, s, of any shape, or (n, k); beyond the ends
            the end value holds.
        half_step: s, or (n, 1).
        rows: (n,) which figures of `value` are meant; None for all.

    Returns:
        Values of the shape of `time`.
    """
    steps = (value.shape[-1] - 1) // 2
    place = np.minimum(np.maximum(time / (2.0 * half_step), 0.0), steps)
    index = np.minimum(place.astype(int), steps - 1)
    f = place - index
    low, high = 1.0 - f, 2.0 * f - 1.0
    a, b, c = -high * low, 4.0 * f * low, f * high
    index = 2 * index
    if value.ndim == 1:
        return value[index] * a + value[index + 1] * b + value[index + 2] * c
    rows = (np.arange(len(value)) if rows is None else rows)[:, None]
    return value[rows, index] * a + value[rows, index + 1] * b + value[rows, index + 2] * c


class _Curves:
    """Sampled quantities of many figures, quick to look up at a few times.

    Args:
        values: (figures, 2 n_steps + 1, q) samples at the half steps.
        half_step: (figures, 1) s.
    """

    def __init__(self, values: np.ndarray, half_step: np.ndarray) -> None:
        start, middle, end = values[:, :-2:2], values[:, 1::2], values[:, 2::2]
        # In f, the fraction of a step: start + f (b + f c).
        b, c = 4.0 * middle - 3.0 * start - end, 2.0 * (start + end - 2.0 * middle)
        self._steps = start.shape[1]
        stacked = np.stack((start, b, c), axis=2)
        self._coefficients = stacked.reshape(-1, 3, values.shape[2])
        self._per_second = 0.5 / half_step

    def __call__(self, time: np.ndarray, who: np.ndarray) -> np.ndarray:
        """Values (n, k, q) of figures `who` (n,) at times (n, k), held beyond the ends."""
        place = np.minimum(np.maximum(time * self._per_second[who], 0.0), self._steps)
        index = np.minimum(place.astype(int), self._steps - 1)
        f = (place - index)[..., None]
        found = self._coefficients[index + (who * self._steps)[:, None]]
        return found[:, :, 0] + f * (found[:, :, 1] + f * found[:, :, 2])


class HeadingControl:
    """Plans the half turns of n figures, each at its start.

    The figures share `tilted`, `sliding` and `nodes_of`. `values` holds the quantities in
    the order of `PARAMETERS`, each (n, 1) or (n, samples); `factor` (n, 2)
    how much of the expected change comes out to the right and to the left.

    Args:
        timelines: checked settings, one per figure.
    """

    def __init__(self, timelines: Sequence[Timeline]) -> None:
        first = timelines[0]
        self.tilted, self.sliding = first.tilted, first.sliding
        self.limited = any(timeline.limited for timeline in timelines)
        self.nodes = nodes_of(first)
        self.half_step = np.array([[0.5 * timeline.step] for timeline in timelines])
        self.end = np.array([[t.step * t.n_steps] for t in timelines])
        self.fall = np.array([t.settings.fall_angle for t in timelines])
        self.factor = np.ones((len(timelines), 2))  # right, left
        self.expected = np.zeros(len(timelines))
        self.heading = stack(timelines, "heading")
        self.values = [stack(timelines, name) for name in PARAMETERS]
        self._varying = [i for i, value in enumerate(self.values) if value.shape[1] > 1]
        self.varies = bool(self._varying)
        if self.varies:
            samples = np.stack([self.values[i] for i in self._varying], axis=-1)
            self._curves = _Curves(samples, self.half_step)
        if self.heading.shape[1] > 1:
            self._headings = _Curves(self.heading[:, :, None], self.half_step)
        self._fixed = not self.varies and not self.sliding
        if self._fixed:
            everyone = np.arange(len(timelines))
            p = self.lookup(everyone)(np.zeros((len(timelines), 1)))
            self._swing = self._swing_of(p, p[2])
            self._lower, self._upper = self._bounds_of(everyone, p, p[1], p[2])
        if self.varies and not self.sliding:
            self._tabulate_swing()
        self._steady = self._fixed and not self.tilted and self.heading.shape[1] == 1
        if self._steady:
            self._rate = (p[0] * p[1])[:, 0]
            more, less = self._swing_of(p, p[2], 1.0 + STEP), self._swing_of(p, p[2], 1.0 - STEP)
            self._slope = (more - less) / (2.0 * STEP)

    def lookup(self, who: np.ndarray) -> Lookup:
        """The quantities of some of the figures, as `half_turn` wants them.

        Args:
            who: (n,) which figures.
        """
        if not self.varies:
            fixed = tuple(value[who] for value in self.values)
            return lambda _: fixed
        values = [value[who] if value.shape[1] == 1 else value for value in self.values]

        def at(time: np.ndarray) -> tuple:
            sampled = self._curves(time, who)
            for column, index in enumerate(self._varying):
                values[index] = sampled[..., column]
            return tuple(values)

        return at

    def _swing_of(self, p: tuple, speed: np.ndarray, beta: float = 1.0) -> np.ndarray:
        """Heading change of half turns with settings that stay the same."""
        one = np.ones_like(p[0])
        change, _, _ = half_turn(
            lambda _: p,
            False,
            self.tilted,
            self.sliding,
            0.0 * one,
            0.0 * one,
            speed,
            one,
            beta * one,
            symmetric=True,
            nodes=self.nodes,
        )
        return change

    def _tabulate_swing(self) -> None:
        """Swings with the settings of every eighth of a second, for `_plan` to look up."""
        times = np.arange(0.0, float(self.end.max()) + 2.0 * SWING_SPACING, SWING_SPACING)
        figures = len(self.end)
        who = np.repeat(np.arange(figures), len(times))
        p = self.lookup(who)(np.tile(times, figures)[:, None])
        self._swings = self._swing_of(p, p[2]).reshape(figures, -1)

    def _tabulated_swing(self, time: np.ndarray, who: np.ndarray) -> np.ndarray:
        """Swings of some figures (n,) with the settings of times (n,), out of the table."""
        last = self._swings.shape[1] - 1
        place = np.minimum(time / SWING_SPACING, last)
        row = np.minimum(place.astype(int), last - 1)
        low = self._swings[who, row]
        return low + (place - row) * (self._swings[who, row + 1] - low)

    def _bounds_of(
        self, who: np.ndarray, p: tuple, size: np.ndarray, speed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        w0, lean, v, gn, j, height, most, rate = (
            x[:, 0] for x in (p[0], size, speed, p[3], p[6], p[7], p[10], p[11])
        )
        return beta_bounds(
            w0,
            lean,
            v,
            gn,
            j,
            height,
            most,
            rate,
            self.fall[who],
        )

    def start_yaw(self, phase: np.ndarray, speed: np.ndarray) -> np.ndarray:
        """Yaw of all figures at a phase of the steady cycle about their first heading.

        Args:
            phase: (n,) rad.
            speed: (n,) m/s.

        Returns:
            (n,) rad.
        """
        zero = np.zeros((len(phase), 1))
        p = self.lookup(np.arange(len(phase)))(zero)
        speed = speed[:, None]
        swing = self._swing if self._fixed else self._swing_of(p, speed)
        side = np.where(phase % (2.0 * math.pi) < math.pi, 1.0, -1.0)
        reach = phase % math.pi
        yaw = self.heading[:, 0] - 0.5 * side * swing
        for which in np.unique(reach[reach > 1e-12]):  # usually none or one
            rows = np.flatnonzero(reach == which)
            frozen = tuple(value[rows] for value in p)
            one = np.ones((len(rows), 1))
            change, _, _ = half_turn(
                lambda _, frozen=frozen: frozen,  # type: ignore[misc]
                False,
                self.tilted,
                self.sliding,
                0.0 * one,
                yaw[rows, None],
                speed[rows],
                side[rows, None],
                one,
                reach=float(which),
                nodes=self.nodes,
            )
            yaw[rows] += change
        return yaw

    def plan(
        self,
        who: np.ndarray,
        time: np.ndarray,
        yaw: np.ndarray,
        speed: np.ndarray,
        rate: np.ndarray,
    ) -> Choice:
        """Choose the half turns that start now.

        Args:
            who: (n,) which figures.
            time: (n,) s.
            yaw: (n,) rad.
            speed: (n,) m/s.
            rate: (n,) rate of lean, rad/s; its sign is the side.

        Returns:
            The choice.
        """
        if not self._steady:
            return self._plan(who, time, yaw, speed, rate)
        # A steady turn is known beforehand: its swing, and how that changes with beta.
        side = np.where(rate > 0.0, 1.0, -1.0)
        factor = self.factor[who]
        share = np.where(rate > 0.0, factor[:, 1], factor[:, 0])
        swing, nominal = self._swing[who], self._rate[who]
        wanted = side * (self.heading[who, 0] - yaw)
        wanted = wanted + 0.25 * swing * (factor[:, 0] + factor[:, 1])
        excess = wanted - share * swing
        beta = 1.0 + excess / (share * self._slope[who])
        easy = (np.abs(np.abs(rate) - nominal) <= 1e-6 * nominal) & (np.abs(excess) < STEADY)
        easy &= (beta >= self._lower[who]) & (beta <= self._upper[who])
        if easy.all():
            self.expected[who] = side * wanted / share
            return Choice(beta, side * wanted, side * wanted, np.zeros(len(who), dtype=bool))
        rest = np.flatnonzero(~easy)
        self.expected[who[easy]] = (side * wanted / share)[easy]
        harder = self._plan(who[rest], time[rest], yaw[rest], speed[rest], rate[rest])
        wanted = side * wanted
        choice = Choice(beta, wanted, wanted.copy(), np.zeros(len(who), dtype=bool))
        for name in ("beta", "wanted", "change", "saturated"):
            getattr(choice, name)[rest] = getattr(harder, name)
        return choice

    def _plan(
        self,
        who: np.ndarray,
        time: np.ndarray,
        yaw: np.ndarray,
        speed: np.ndarray,
        rate: np.ndarray,
    ) -> Choice:
        """Choose by quadrature and Newton, whatever the half turns are like."""
        at = self.lookup(who)
        when = time[:, None]
        p = at(when)
        w0, tm, keyed, gn, _, _, j, height, _, _, limit, rate_limit = p
        v = speed[:, None] if self.sliding else keyed
        if self.sliding and self.limited:
            tm = _LAW.allowed(tm, w0, v, gn, j, height, limit, rate_limit)
        side = np.where(rate > 0.0, 1.0, -1.0)
        lean_rate = np.maximum(np.abs(rate), 1e-12)[:, None]
        size = np.maximum(tm, lean_rate / w0)
        if self.values[1].shape[1] > 1:
            size = np.maximum(size, self._largest_ahead(who, time, w0))
        if self._fixed:
            swing, lower, upper = self._swing[who], self._lower[who], self._upper[who]
            off = np.flatnonzero(size[:, 0] - tm[:, 0] > 1e-6 * tm[:, 0])
            if len(off):
                some = tuple(value[off] for value in p)
                lower, upper = lower.copy(), upper.copy()
                lower[off], upper[off] = self._bounds_of(who[off], some, size[off], v[off])
        else:
            later = np.minimum(when + math.pi / w0, self.end[who])
            if self.sliding:
                swing = self._swing_of(at(later), v)
            else:
                swing = self._tabulated_swing(later[:, 0], who)
            lower, upper = self._bounds_of(who, p, size, v)
        swing = swing * self.factor[who].mean(axis=1)
        left = (side > 0.0).astype(int)

        thrice = np.tile(who, 3)
        begin = (when, yaw[:, None], v, side[:, None], lean_rate)
        first = p
        if len(who) > 1:  # those of one figure do for three modifiers as they are
            begin = tuple(np.concatenate((x, x, x)) for x in begin)
            first = tuple(np.concatenate((x, x, x)) for x in p)
        at_thrice = self.lookup(thrice)

        def change_of(beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            change, duration, _ = half_turn(
                at_thrice,
                self.varies,
                self.tilted,
                self.sliding,
                begin[0],
                begin[1],
                begin[2],
                begin[3],
                beta[:, None],
                begin[4],
                first,
                nodes=self.nodes,
            )
            return change, duration

        if self.heading.shape[1] == 1:
            headings = self.heading[thrice, 0]

            def heading_at(duration: np.ndarray) -> np.ndarray:
                return headings
        else:

            def heading_at(duration: np.ndarray) -> np.ndarray:
                return self._headings(begin[0] + duration[:, None], thrice)[:, 0, 0]

        w0, lean = w0[:, 0], size[:, 0]
        ahead = np.tile(math.pi / w0, 3)
        excess = side * (heading_at(ahead)[: len(who)] - yaw) - 0.5 * swing
        choice = choose(
            change_of,
            heading_at,
            yaw,
            side,
            swing,
            self.factor[who, left],
            lower,
            upper,
            first_guess(excess, v[:, 0], w0, lean, gn[:, 0]),
        )
        self.expected[who] = choice.change / self.factor[who, left]
        return choice

    def _largest_ahead(self, who: np.ndarray, time: np.ndarray, w0: np.ndarray) -> np.ndarray:
        """Largest maximum lean in the half turns that start now, if they are long."""
        sizes, half_step = self.values[1], self.half_step[who]
        start = time[:, None]
        end = start + BETA_MOST * math.pi / w0
        ends = at_time(sizes, np.concatenate((start, end), axis=1), half_step, who)
        result = np.max(ends, axis=1)
        first = np.ceil(start / half_step).astype(int)[:, 0]
        last = np.floor(end / half_step).astype(int)[:, 0]
        for row, figure in enumerate(who):
            between = sizes[figure, first[row] : last[row] + 1]
            if len(between):
                result[row] = max(result[row], between.max())
        return result[:, None]

    def learn(self, who: np.ndarray, side: np.ndarray, change: np.ndarray) -> None:
        """Note how much of the heading change that was expected came out.

        Args:
            who: (n,) which figures.
            side: (n,) +1 left, -1 right.
            change: (n,) heading change of the half turn that ends, rad.
        """
        expected = self.expected[who]
        known = np.abs(expected) > 1e-9
        share = np.clip(change / np.where(known, expected, 1.0), 0.5, 1.5)
        left = (side > 0.0).astype(int)
        old = self.factor[who, left]
        self.factor[who, left] = np.where(known, old + 0.7 * (share - old), old)


def stack(timelines: Sequence[Timeline], name: str) -> np.ndarray:
    """A quantity of n figures in one array.

    Args:
        timelines: checked settings, one per figure.
        name: one of `Timeline.quantities`.

    Returns:
        (n, 1), or (n, samples) if it varies for any figure; shorter timelines
        are filled up with their last value.
    """
    found = [timeline.quantities[name] for timeline in timelines]
    if all(type(value) is float for value in found):
        return np.array(found)[:, None]
    values = [np.atleast_1d(np.asarray(value, dtype=float)) for value in found]
    longest = max(len(value) for value in values)
    if longest == 1:
        return np.stack(values)
    longest = max(2 * timeline.n_steps + 1 for timeline in timelines)
    rows = [np.concatenate((value, np.full(longest - len(value), value[-1]))) for value in values]
    return np.stack(rows)
