# SPDX-License-Identifier: GPL-3.0-or-later
"""The gain with which a joint under PD control is somewhere at a given time.

A joint of moment of inertia m, its angle x measured from the set-point, moves
under the torque -k x - gamma x' by

    x'' + 2 ratio w x' + w^2 x = 0,   w = sqrt(k / m),   gamma = 2 ratio m w

from the state x_0, v_0. What depends on the gain is all in a = w t:

    x(t) = x_0 c(a) + t v_0 s(a)
    c(a) = e^(-ratio a) (cos b + ratio a sin(b) / b),  s(a) = e^(-ratio a) sin(b) / b
    b = a sqrt(1 - ratio^2)

With ratio 1 that is critically damped motion, where Allen, Neff and Faloutsos
("Pose Control in Dynamic Conditions", Eq. 6) give the gain by Lambert's W. Their
expression loses all digits where the start is near the set-point, where x_0 and
v_0 t differ by much, and where two gains meet. Here the same equation,

    (1 + q + a) e^-a = r,   q = t v_0 / x_0,   r = x_t / x_0,

is solved for y = ln(1 + q + a), for which e^y - y - 1 = q - ln r: y > 0 is the
branch W_-1, y < 0 is W_0, and a = y - ln r subtracts nothing that is large. The
principal branch W_0 is the softer of two gains where there are two, and none at
all (a < 0) where there is one; what the paper calls the condition of existence is
that of the equation, not of a positive gain:

    q >= 0: one gain if and only if 0 < r < 1 + q
    q < 0:  two if and only if max(0, 1 + q) < r < e^q, which meet at r = e^q,
            one where 1 + q < r <= 0 or 0 < r <= 1 + q

Other damping has no closed form: its gains are bracketed between the extrema of
x(t) over a, which are themselves bracketed, and found by bisection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from scipy.special import gammainc, wrightomega

SWINGS = 12
"""Half swings, of phase pi each, within which a gain is looked for."""

_STEPS = 76  # of a bisection: the interval is then below the spacing of numbers
_SAMPLES = 64  # of a half swing after the first, between which a sign has to change


@dataclass(frozen=True)
class Gain:
    """Gains of joints, all arrays of the shape that the arguments broadcast to.

    Attributes:
        frequency: w = sqrt(k / m), rad/s; nan where there is no gain.
        ratio: damping ratio.
        damping: gamma = 2 ratio m w, N m s.
        stiffness: k = m w^2, N m.
        count: how many positive gains there are; of more than one `firm` chose.
            Under-damped motion is counted within the fewest half swings.
        swings: whole half swings that the motion makes on its way, 0 unless
            under-damped.
    """

    frequency: np.ndarray
    ratio: np.ndarray
    damping: np.ndarray
    stiffness: np.ndarray
    count: np.ndarray
    swings: np.ndarray

    @property
    def exists(self) -> np.ndarray:
        """Where there is a gain."""
        return self.count > 0


def influence(a: np.ndarray, ratio: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """What is left of a start angle, and of the way that a start rate would go: c(a), s(a).

    Args:
        a: natural frequency times time, at least 0.
        ratio: damping ratio, above 0; both broadcast.

    Returns:
        c, s; x(t) = x_0 c + t v_0 s.
    """
    a, ratio = np.asarray(a, float), np.asarray(ratio, float)
    if (ratio == 1.0).all():
        fade = np.exp(-a)
        return fade + a * fade, fade
    square = (1.0 - ratio**2) * a**2
    b = np.sqrt(np.abs(square))
    small = b < 1e-4
    divided = np.where(small, 1.0, b)
    fade = np.exp(-ratio * a)
    even, odd = fade * np.cos(b), fade * np.sin(divided) / divided
    if (ratio > 1.0).any():
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            # cosh and sinh overflow before their product with the fading part does.
            slow, quick = np.exp(b - ratio * a), np.exp(-b - ratio * a)
            swinging = square >= 0.0
            even = np.where(swinging, even, 0.5 * (slow + quick))
            odd = np.where(swinging, odd, 0.5 * (slow - quick) / divided)
    odd = np.where(small, fade * (1.0 - square / 6.0), odd)
    return even + ratio * a * odd, odd


def gone(a: np.ndarray, ratio: np.ndarray | float) -> np.ndarray:
    """1 - c(a), what is gone of a start angle, without loss of digits where that is little.

    Args:
        a: natural frequency times time, at least 0.
        ratio: damping ratio, above 0; both broadcast.

    Returns:
        From 0 upwards, about a^2 / 2 for small a.
    """
    a, ratio = np.asarray(a, float), np.asarray(ratio, float)
    if (ratio == 1.0).all():
        return gammainc(2.0, a)
    few = a < 0.5
    if not few.any():
        return 1.0 - influence(a, ratio)[0]
    # Derivatives of c at 0: c'' = -1, then each is -2 ratio times the one before less the
    # one before that.
    short = np.minimum(a, 0.5)
    before, last = np.zeros_like(short), -np.ones_like(short)
    term = 0.5 * short**2
    total = term.copy()
    for n in range(3, 18):
        before, last = last, -2.0 * ratio * last - before
        term = term * short / n
        total = total - last * term
    return np.where(few, total, 1.0 - influence(a, ratio)[0])


def move(
    start: np.ndarray,
    rate: np.ndarray,
    frequency: np.ndarray | float,
    ratio: np.ndarray | float,
    time: np.ndarray | float,
) -> tuple[np.ndarray, np.ndarray]:
    """Angle and rate under control: x_0 c + t v_0 s, and its derivative in time.

    Args:
        start: x_0, angle from the set-point, rad.
        rate: v_0, rad/s.
        frequency: w, rad/s.
        ratio: damping ratio, above 0.
        time: s; all broadcast.

    Returns:
        x(t) in rad, x'(t) in rad/s.
    """
    from_start, from_rate, rate_from_start, rate_from_rate = response(frequency, ratio, time)
    return start * from_start + rate * from_rate, start * rate_from_start + rate * rate_from_rate


def response(
    frequency: np.ndarray | float, ratio: np.ndarray | float, time: np.ndarray | float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What `move` multiplies start and rate by: c and t s, then their derivatives in time.

    Args:
        frequency: w, rad/s.
        ratio: damping ratio, above 0.
        time: s; all broadcast.

    Returns:
        c, t s of the angle; -w a s, c - 2 ratio a s of the rate.
    """
    a = np.asarray(frequency) * time
    c, s = influence(a, ratio)
    odd = a * s
    return c, time * s, -frequency * odd, c - 2.0 * ratio * odd


def critical_gain(
    start: np.ndarray | float,
    rate: np.ndarray | float,
    target: np.ndarray | float,
    time: np.ndarray | float,
    inertia: np.ndarray | float = 1.0,
    firm: np.ndarray | bool = True,
) -> Gain:
    """The gain with which critically damped motion is at `target` at `time`: Eq. 6.

    Angles are measured from the set-point.

    Args:
        start: theta_0, rad.
        rate: omega_0, rad/s.
        target: theta_d, rad.
        time: t_d, s, above 0.
        inertia: moment of inertia m, kg m^2, above 0.
        firm: which of two gains: the firmer (True) or the softer.

    Returns:
        Gains; all arguments broadcast.

    Example: from 1 rad at rest to 0.05 rad in 1 s takes gamma = 9.4877 N m s.

        critical_gain(1.0, 0.0, 0.05, 1.0).damping
    """
    start, rate, target, time, inertia, firm = np.broadcast_arrays(
        *(np.asarray(x, float) for x in (start, rate, target, time, inertia)), np.asarray(firm)
    )
    flip = np.where(start < 0.0, -1.0, 1.0)
    x, way, end = flip * start, flip * rate * time, flip * target
    with np.errstate(all="ignore"):
        q, r = way / x, end / x
        straight = np.log(way / end)
    no_start = ~np.isfinite(q) | ~np.isfinite(r)
    a, count = critical_phase(np.where(no_start, 0.0, q), np.where(no_start, 2.0, r), firm)
    has_straight = no_start & (straight > 0.0)
    a = np.where(has_straight, straight, a)
    return gains(a, 1.0, time, inertia, count + has_straight, 0)


def critical_phase(
    q: np.ndarray, r: np.ndarray | float, firm: np.ndarray | bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """a = w t of critically damped motion: (1 + q + a) e^-a = r.

    Args:
        q: t v_0 / x_0.
        r: x_t / x_0, what is left of the way to the set-point.
        firm: which of two, the larger or the smaller.

    Returns:
        a, nan where there is none above 0; how many there are.
    """
    with np.errstate(all="ignore"):
        above, log_r, most = np.greater(r, 0.0), np.log(np.abs(r)), 1.0 + q
        d = q - log_r
        meets, back = above & (d >= 0.0), q < 0.0
        has_upper = meets & (back | (r < most))
        has_lower = meets & back & (r > most)
        upper = has_upper & (firm | ~has_lower)
        a = np.where(has_upper | has_lower, _branch(d, upper) - log_r, np.nan)
        has_beyond = ~above & (r > most)
        if has_beyond.any():
            # Beyond the set-point 1 + q + a is negative: v e^v = -r e^(-1-q), v = -(1 + q + a).
            v = wrightomega(log_r - most)
            a = np.where(has_beyond, np.where(v < 1.0, -most - v, np.log(v) - log_r), a)
        found = a > 0.0
    count = has_upper.astype(int) + has_lower + has_beyond
    return np.where(found, a, np.nan), np.where(found, count, 0)


def damped_gain(
    start: np.ndarray | float,
    rate: np.ndarray | float,
    target: np.ndarray | float,
    time: np.ndarray | float,
    ratio: np.ndarray | float,
    inertia: np.ndarray | float = 1.0,
    firm: np.ndarray | bool = True,
) -> Gain:
    """The gain for any damping ratio; below 1 the one with the fewest swings.

    Args:
        start: angle from the set-point, rad.
        rate: rad/s.
        target: angle from the set-point at `time`, rad.
        time: s, above 0.
        ratio: damping ratio, above 0; 1 is `critical_gain`, which is quicker.
        inertia: kg m^2, above 0.
        firm: of several gains with as few swings the firmest (True) or the softest.

    Returns:
        Gains; all arguments broadcast. Motions of more than `SWINGS` half swings
        are not looked for.
    """
    values = np.broadcast_arrays(
        *(np.asarray(x, float) for x in (start, rate, target, time, ratio, inertia)),
        np.asarray(firm),
    )
    shape = values[0].shape
    x, v, end, t, zeta, m, hard = (np.ravel(value) for value in values)
    a = np.full(len(x), np.nan)
    count, swings = np.zeros(len(x), int), np.zeros(len(x), int)
    for swing in range(SWINGS):
        left = np.flatnonzero((count == 0) & ((zeta < 1.0) | (swing == 0)))
        if not len(left):
            break

        def miss(
            value: np.ndarray,
            x: np.ndarray = x[left],
            way: np.ndarray = (v * t)[left],
            end: np.ndarray = end[left],
            zeta: np.ndarray = zeta[left],
        ) -> np.ndarray:
            c, s = influence(value, zeta)
            return x * c + way * s - end

        edges = _edges(x[left], (v * t)[left], end[left], zeta[left], swing)
        roots = _roots(miss, edges)
        found = (~np.isnan(roots)).sum(axis=0)
        chosen = np.where(hard[left], np.fmax.reduce(roots), np.fmin.reduce(roots))
        here = found > 0
        a[left[here]], count[left[here]], swings[left[here]] = (
            chosen[here],
            found[here],
            swing,
        )
    return reshaped(gains(a, zeta, t, m, count, swings), shape)


def gains(
    a: np.ndarray,
    ratio: np.ndarray | float,
    time: np.ndarray,
    inertia: np.ndarray | float,
    count: np.ndarray,
    swings: np.ndarray | int,
) -> Gain:
    """Gains of joints whose phase w t is known.

    Args:
        a: w t, nan where there is no gain.
        ratio: damping ratio.
        time: t, s.
        inertia: kg m^2.
        count: how many gains there are.
        swings: half swings on the way.

    Returns:
        Gains of the shape of `a`.
    """
    frequency = a / time
    damping = 2.0 * ratio * inertia * frequency
    return Gain(
        frequency, ratio + 0.0 * a, damping, inertia * frequency**2, count, swings + 0 * count
    )


def reshaped(gain: Gain, shape: tuple[int, ...]) -> Gain:
    """The same gains as arrays of another shape.

    Args:
        gain: gains.
        shape: of as many.
    """
    return Gain(*(np.reshape(getattr(gain, item.name), shape) for item in fields(Gain)))


def _branch(d: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """y of e^y - y - 1 = d, above 0 or below it, by Newton's rule from outside."""
    p = np.sqrt(2.0 * d)
    # The function is convex and its derivative has one sign on either side of 0: from a
    # start beyond the root every step stays beyond it and comes nearer. Of these starts the
    # fourth step is below 5e-10 of y, and the next would be below its rounding.
    y = np.minimum(p, np.log1p(d + p))
    if not upper.all():
        below = np.where(d < 1.0, p + p**2 / 6.0 + p**3 / 18.0, np.maximum(p, d + 1.0))
        y = np.where(upper, y, -below)
    for _ in range(4):
        slope = np.expm1(y)
        y = y - (slope - y - d) / (slope + (slope == 0.0))
    return y


def bisect(
    function: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Where a function changes its sign, which it does between `low` and `high`.

    Args:
        function: of an array, to an array of the same shape.
        low: one end for each element.
        high: the other end.

    Returns:
        One place for each element.
    """
    sign = np.sign(function(low))
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        before = np.sign(function(middle)) == sign
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return 0.5 * (low + high)


def _roots(function: Callable[[np.ndarray], np.ndarray], edges: np.ndarray) -> np.ndarray:
    """(k, n) where it changes its sign between each two of (k + 1, n) edges, else nan."""
    roots = np.full((len(edges) - 1, edges.shape[1]), np.nan)
    before = np.sign(function(edges[0]))
    for k, (low, high) in enumerate(zip(edges[:-1], edges[1:], strict=True)):
        after = np.sign(function(high))
        crossing = before * after < 0.0
        if crossing.any():
            roots[k] = np.where(crossing, bisect(function, low, high), np.nan)
        # What has faded to nothing is on neither side.
        before = np.where(after == 0.0, before, after)
    return roots


def _edges(
    x: np.ndarray, way: np.ndarray, end: np.ndarray, ratio: np.ndarray, swing: int
) -> np.ndarray:
    """(k, n) values of a between which x(t) is monotone in a, within one half swing.

    With q = way / x the derivative of x(t) over a has the sign of
    q (b cot b - 1 - ratio a) - a^2 times that of sin b; in the first half swing
    that changes sign at most twice, see `_first`.
    """
    beta = np.sqrt(np.maximum(1.0 - ratio**2, 0.0))
    swinging = beta > 0.0
    half = np.divide(np.pi, beta, out=np.full_like(x, np.inf), where=swinging)
    if swing:
        return (swing + np.linspace(0.0, 1.0, _SAMPLES + 1))[:, None] * half
    with np.errstate(all="ignore"):
        q = np.where(x == 0.0, np.inf, way / x)
    # Where nothing swings x(t) fades: beyond `far` it is nearer to 0 than `end` is.
    size = np.maximum(np.abs(x), np.abs(way)) + np.abs(end)
    slow = ratio - np.sqrt(np.maximum(ratio**2 - 1.0, 0.0))
    with np.errstate(all="ignore"):
        fade = np.log(np.maximum(size / np.abs(end), 1.0))
    fade = np.where(np.isfinite(fade), fade, 700.0)
    far = np.where(swinging, half, (10.0 + 3.0 * fade + 2.0 * np.abs(np.minimum(q, 0.0))) / slow)
    far = np.where(np.isfinite(far), far, 1e3 / slow)
    return np.concatenate([np.zeros((1, len(x))), _first(q, ratio, beta, far), far[None]])


def _first(q: np.ndarray, ratio: np.ndarray, beta: np.ndarray, far: np.ndarray) -> np.ndarray:
    """(2, n) where x(t) turns around over a before the first half swing is over.

    h(a) = |q| (1 + ratio a - b cot b) - a^2 with q < 0 begins at 0, rising, and
    its second derivative, |q| beta^2 k(b) - 2, k(b) = 2 (sin b - b cos b) / sin^3 b,
    grows from 2/3 |q| beta^2 - 2 without bound: h is first concave, then convex.
    So it vanishes at most once where it is concave and at most twice where it is
    convex, on either side of its least value. With q >= 0 it does nowhere.
    Critically and over-damped h is concave for good.
    """
    size = np.where((q < 0.0) & np.isfinite(q), -q, 0.0)
    top = far * (1.0 - 1e-12)

    def parts(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        square = (1.0 - ratio**2) * a**2
        b = np.sqrt(np.abs(square))
        safe = np.where(b < 1e-3, 1.0, b)
        with np.errstate(all="ignore"):
            cot = np.where(square >= 0.0, safe / np.tan(safe), safe / np.tanh(safe))
        series = 1.0 - square / 3.0 - square**2 / 45.0
        return np.where(b < 1e-3, series, cot), b

    def h(a: np.ndarray) -> np.ndarray:
        return size * (1.0 + ratio * a - parts(a)[0]) - a**2

    def slope(a: np.ndarray) -> np.ndarray:
        kappa, b = parts(a)
        # (b cot b)' over a: beta (cot b - b / sin^2 b) = (kappa - kappa^2 - b^2) / a
        return size * (ratio - (kappa - kappa**2 - b**2) / np.maximum(a, 1e-300)) - 2.0 * a

    def bend(a: np.ndarray) -> np.ndarray:
        b = np.maximum(parts(a)[1], 1e-3)
        with np.errstate(all="ignore"):
            k = 2.0 * (np.sin(b) - b * np.cos(b)) / np.sin(b) ** 3
        return size * beta**2 * k - 2.0

    tiny = 1e-9 * top
    inflection = np.where(beta > 0.0, bisect(bend, tiny, top), top)
    inflection = np.where((beta > 0.0) & (bend(tiny) > 0.0), tiny, inflection)
    least = np.where(slope(inflection) < 0.0, bisect(slope, inflection, top), inflection)
    least = np.where(beta > 0.0, least, top)
    # Down through 0 before the least value, up through it after.
    down = np.where((size > 0.0) & (h(least) < 0.0), bisect(h, tiny, least), 0.0)
    up = np.where((size > 0.0) & (h(least) < 0.0) & (beta > 0.0), bisect(h, least, top), down)
    return np.stack([down, np.maximum(up, down)])
