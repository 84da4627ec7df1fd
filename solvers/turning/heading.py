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
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .equations import GAIN, REST, make_equations
from .settings import CURVATURE_BOUND, RATE_BOUND

NODES = 12
BETA_LEAST = 0.25
BETA_MOST = 3.0
LARGEST_MODIFIED_LEAN = math.radians(65.0)
LARGEST_HALF_TURN = math.radians(165.0)
ACCURACY = 1e-9  # rad, of the heading at the end of a half turn


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


_X, _W, _Q = _gauss(NODES)
_QT = np.ascontiguousarray(_Q.T)
_DT = np.ascontiguousarray(_differentiation(_X).T)
_QW = np.ascontiguousarray(np.column_stack((_QT, _W)))  # integrals to each node and to the end

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
    reach: float = math.pi,
    symmetric: bool = False,
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
        reach: phase at which to stop; pi is the whole half turn.
        symmetric: True to begin not at `yaw`, but so that start and end lie
            equally far to both sides of the fall line.

    Returns:
        (n,) heading change in rad, positive to the left; (n,) duration in s;
        (n,) yaw at the start.
    """
    phi = reach * _X
    sine, cosine = np.sin(phi), np.cos(phi)
    p = at(time)
    w0, tm, keyed, gn, gs, dl, j, height, mu, drag, limit, rate_limit = p
    held = sliding and bool(np.any(limit < CURVATURE_BOUND) or np.any(rate_limit < RATE_BOUND))
    if held:
        tm = _LAW.allowed(tm, w0, speed, gn, j, height, limit, rate_limit)
    pace = reach * beta / w0  # dt = pace dx
    if lean_rate is not None and not varies:
        if np.all(np.abs(lean_rate - w0 * tm) <= 1e-6 * w0 * tm):
            lean_rate = None
    if lean_rate is None and not varies:
        theta = beta * tm * sine
        omega = w0 * tm * cosine
        alpha = -((w0 / beta) ** 2) * theta
        duration = pace[:, 0]
    else:
        # Near the ellipse the control law is linear in d = ln(R/(beta theta_max)):
        # d' = -K cos^2(phi) d, with an integrating factor e^(K tau).
        k = GAIN * beta / (0.5 * (1.0 + REST))
        tau = 0.5 * phi + 0.25 * np.sin(2.0 * phi)
        factor = np.exp(k * tau)
        off = np.zeros_like(beta) if lean_rate is None else np.log(lean_rate / (w0 * tm))
        start_lean = np.log(beta * tm) + np.clip(off, -0.7, 0.7)
        drift = 0.0
        if varies:
            for _ in range(2):
                when = time + (pace + 0.0 * _X) @ _QT
                p = at(when)
                pace = reach * beta / p[0]
            w0, tm, keyed, gn, gs, dl, j, height, mu, drag, limit, rate_limit = p
            if held:
                tm = _LAW.allowed(tm, w0, speed, gn, j, height, limit, rate_limit)
            drift = (np.log(w0) + 0.0 * _X) @ _DT / reach  # d(ln omega_0)/dphi
        wanted = np.log(beta * tm)
        forcing = cosine**2 * factor * (k * wanted - drift) * reach
        log_size = (start_lean + (forcing + 0.0 * _X) @ _QT) / factor
        e = np.exp(2.0 * (log_size - wanted))
        f = w0 / beta
        pull = GAIN * w0 * (e - 1.0) / (e + REST)
        advance = f * (1.0 + (pull / f) * sine * cosine) / (1.0 - drift * sine * cosine)
        pace = reach / np.maximum(advance, 0.2 * f)
        size = np.exp(log_size)
        theta = size * sine
        omega = size * f * cosine
        alpha = -f * f * theta - pull * omega
        duration = (pace + 0.0 * _X) @ _W
    theta = side * theta
    s, c = np.sin(theta), np.cos(theta)
    base = (gn * s - j * side * alpha) / c
    if not tilted and not sliding:
        change = (base / keyed * pace) @ _W
        return change, duration, yaw[:, 0]
    v = speed + 0.0 * theta if sliding else keyed + 0.0 * theta
    omega = side * omega
    load = np.maximum(gn - height * (s * side * alpha + c * omega**2), 0.0) if sliding else 0.0
    start = yaw
    psi = start + 0.0 * theta
    integral = psi
    for _ in range(40):
        rate = (base + gs * np.sin(dl - psi)) / v
        integral = (rate * pace) @ _QW
        if symmetric:
            start = dl - 0.5 * integral[:, -1:]
        moved = start + integral[:, :-1]
        step = float(np.max(np.abs(moved - psi)))
        psi = moved
        if sliding:
            accel = gs * np.cos(dl - psi) + height * omega * rate * c - mu * load - drag * v * v
            faster = np.maximum(speed + (accel * pace) @ _QT, 0.1)
            step = max(step, float(np.max(np.abs(faster - v))))
            v = faster
        if step < 1e-9:
            break
    return integral[:, -1], duration, np.broadcast_to(start, (len(integral), 1))[:, 0]


def beta_bounds(
    omega_0: np.ndarray,
    theta_max: np.ndarray,
    speed: np.ndarray,
    g_normal: np.ndarray,
    inertia_length: np.ndarray,
    height: np.ndarray,
    max_curvature: np.ndarray,
    max_rate: np.ndarray,
    fall_angle: float,
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
        fall_angle: lean at which the figure has fallen, rad.

    Returns:
        (n,) least and (n,) greatest beta; least <= 1 <= greatest.
    """
    most_lean = min(0.85 * fall_angle, LARGEST_MODIFIED_LEAN)
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
    slope: np.ndarray,
) -> Choice:
    """Solve for the beta with which a half turn ends as wanted, by Newton.

    Wanted at the end is yaw = heading(end) + side swing / 2. The first guess
    is taken as it is if the quadrature says that it is good to `ACCURACY`;
    otherwise Newton steps (secant slopes, kept within a bracket) follow.

    Args:
        change_of: beta (n,) -> heading change (n,) and duration (n,).
        heading_at: duration (n,) -> heading wanted at the end (n,), rad.
        yaw: (n,) yaw at the start, rad.
        side: (n,) +1 to the left, -1 to the right.
        swing: (n,) swing of the unmodified half turn, rad.
        factor: (n,) how much of the calculated change comes out (below 1
            where limits clip), learned from earlier half turns.
        lower: (n,) least beta.
        upper: (n,) greatest beta.
        guess: (n,) beta to begin with.
        slope: (n,) estimate of d(change)/d(beta), rad.

    Returns:
        The choice.
    """
    low, high = lower.copy(), upper.copy()
    beta = np.clip(guess, lower, upper)
    largest = np.maximum(LARGEST_HALF_TURN, swing)
    last_beta = last_error = None
    done = np.zeros(len(beta), dtype=bool)
    saturated = done.copy()
    wanted = change = np.zeros(len(beta))
    for _ in range(30):
        raw, duration = change_of(beta)
        change = side * factor * raw
        wanted = side * (heading_at(duration) - yaw) + 0.5 * swing
        goal = np.minimum(wanted, largest)
        error = change - goal
        done = done | (np.abs(error) < ACCURACY)
        too_far = error > 0.0
        high = np.where(too_far, np.minimum(high, beta), high)
        low = np.where(too_far, low, np.maximum(low, beta))
        at_bound = (too_far & (beta <= lower)) | (~too_far & (beta >= upper))
        saturated = (at_bound & ~done) | (wanted > largest + ACCURACY)
        done = done | at_bound | (high - low < 1e-13)
        if np.all(done):
            break
        if last_beta is not None:
            moved = beta - last_beta
            secant = np.where(moved != 0.0, (error - last_error) / np.where(moved, moved, 1.0), 0.0)
            slope = np.where(secant > 0.0, secant, slope)
        last_beta, last_error = beta, error
        following = np.clip(beta - error / slope, lower, upper)
        # A step out of the bracket, unless it is to a bound not yet tried.
        astray = (following <= low) | (following >= high)
        untried = ((following == lower) & (low == lower)) | ((following == upper) & (high == upper))
        following = np.where(astray & ~untried, 0.5 * (low + high), following)
        beta = np.where(done, beta, following)
    return Choice(beta, side * wanted, side * change, saturated)
