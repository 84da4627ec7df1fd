# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves through points, and their parametrisation by arc length.

The speed along a path is its animator's to choose apart from the path (Girard 1986,
section 2.3): equal steps of a spline's parameter are no equal steps along it. Arc length

    s(u) = integral of |p'| from the start to u

is integrated with Gauss and Legendre's rule over pieces that are halved where that has not
converged, and inverted by Newton's rule within a piece, kept between bounds, so that
it holds where the tangent vanishes, too: there |p'| has a kink, and the pieces end at it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.interpolate import BPoly, BSpline, CubicHermiteSpline, PPoly

from .errors import SettingError

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_ROUGH, _ROUGH_WEIGHTS = np.polynomial.legendre.leggauss(10)
_DEEPEST = 40  # times that a piece is halved
_CLOSE = 1e-13  # of a path's length: its inverse is found
_TOLERANCE = 1e-12  # of a piece's length, by which two rules may differ


class PathLength:
    """Length of any path whose speed over its parameter is known, and its inverse.

    Args:
        speed: (...) parameters -> (...) |p'|.
        knots: (k,) ascending parameters; where |p'| has kinks, a knot should be.
        tolerance: of the length, by which two rules may differ on a piece.

    Raises:
        SettingError: the path has no length.
    """

    def __init__(
        self,
        speed: Callable[[np.ndarray], np.ndarray],
        knots: np.ndarray,
        tolerance: float = _TOLERANCE,
    ) -> None:
        self._speed, self._tolerance = speed, tolerance
        left, lengths = self._pieces(knots[:-1], knots[1:])
        self._u = np.append(left, knots[-1])
        self._s = np.concatenate([[0.0], np.cumsum(lengths)])
        self.length = float(self._s[-1])
        if not self.length > 0.0:
            raise SettingError("Length of a path", self.length, "above 0: its points differ")

    def _integral(
        self, a: np.ndarray, b: np.ndarray, nodes: np.ndarray, weights: np.ndarray
    ) -> np.ndarray:
        half = 0.5 * (b - a)
        at = 0.5 * (a + b)[:, None] + half[:, None] * nodes
        return half * (self._speed(at) @ weights)

    def _pieces(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Starts and lengths of pieces over which the rule has converged."""
        done_a, done_length = [], []
        whole = None
        for depth in range(_DEEPEST):
            fine = self._integral(a, b, _NODES, _WEIGHTS)
            rough = self._integral(a, b, _ROUGH, _ROUGH_WEIGHTS)
            whole = fine.sum() if whole is None else whole
            good = np.abs(fine - rough) <= self._tolerance * whole
            good |= depth == _DEEPEST - 1
            done_a.append(a[good])
            done_length.append(fine[good])
            a, b = a[~good], b[~good]
            if not len(a):
                break
            middle = 0.5 * (a + b)
            a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
        starts, lengths = np.concatenate(done_a), np.concatenate(done_length)
        order = np.argsort(starts)
        return starts[order], lengths[order]

    def of(self, u: np.ndarray) -> np.ndarray:
        """Arc length from the start.

        Args:
            u: parameters; beyond the ends they count as the ends.

        Returns:
            Lengths of the same shape.
        """
        u = np.asarray(u, float)
        flat = np.clip(u.ravel(), self._u[0], self._u[-1])
        k = np.clip(np.searchsorted(self._u, flat, side="right") - 1, 0, len(self._u) - 2)
        return (self._s[k] + self._integral(self._u[k], flat, _NODES, _WEIGHTS)).reshape(u.shape)

    def at(self, s: np.ndarray) -> np.ndarray:
        """Parameter at an arc length: the inverse.

        Args:
            s: lengths from the start; beyond the ends they count as the ends.

        Returns:
            Parameters of the same shape.
        """
        s = np.asarray(s, float)
        wanted = np.clip(s.ravel(), 0.0, self.length)
        k = np.clip(np.searchsorted(self._s, wanted, side="right") - 1, 0, len(self._s) - 2)
        low, high = self._u[k], self._u[k + 1]
        span = np.maximum(self._s[k + 1] - self._s[k], 1e-300)
        u = low + (wanted - self._s[k]) / span * (high - low)
        left, close = np.arange(len(u)), _CLOSE * self.length
        for _ in range(60):
            piece, now = k[left], u[left]
            miss = self._integral(self._u[piece], now, _NODES, _WEIGHTS)
            miss -= wanted[left] - self._s[piece]
            low[left] = np.where(miss <= 0.0, now, low[left])
            high[left] = np.where(miss >= 0.0, now, high[left])
            far = np.abs(miss) > close
            left, now, miss = left[far], now[far], miss[far]
            if not len(left):
                break
            speed = self._speed(now)
            newton = now - np.divide(miss, speed, out=np.full_like(now, np.inf), where=speed > 0.0)
            inside = (newton > low[left]) & (newton < high[left])
            u[left] = np.where(inside, newton, 0.5 * (low[left] + high[left]))
        return u.reshape(s.shape)


class ArcLength(PathLength):
    """Arc length of a curve of piecewise polynomials, and its inverse.

    Args:
        curve: u -> (..., d) points, with knots in `x`: a PPoly, or what derives from it.

    Raises:
        SettingError: the curve has no length.
    """

    def __init__(self, curve: PPoly) -> None:
        slope = curve.derivative()

        def speed(u: np.ndarray) -> np.ndarray:
            return np.sqrt((slope(u).reshape(*u.shape, -1) ** 2).sum(axis=-1))

        super().__init__(speed, np.unique(np.concatenate([curve.x, _slowest(slope)])))


def _slowest(slope: PPoly) -> np.ndarray:
    """Parameters within pieces at which |p'| is least: kinks where it vanishes there."""
    found = []
    coefficients = slope.c.reshape(*slope.c.shape[:2], -1)
    for k in range(coefficients.shape[1]):
        square = sum(np.convolve(c, c) for c in coefficients[:, k].T)
        roots = np.roots(np.polyder(square))
        span = slope.x[k + 1] - slope.x[k]
        real = roots.real[np.abs(roots.imag) < 1e-6 * span]
        found.append(slope.x[k] + real[(real > 1e-9 * span) & (real < span * (1 - 1e-9))])
    return np.concatenate(found) if found else np.empty(0)


def catmull_rom(points: np.ndarray, closed: bool = False, power: float = 0.5) -> PPoly:
    """Catmull and Rom's spline: through the points, its slope at each from its neighbours.

    Args:
        points: (k, d), at least two, no two neighbours the same.
        closed: whether the last leads on to the first.
        power: of the distances between points, as the parameter's steps: 0 is uniform,
            0.5 centripetal (no loops or cusps: Yuksel and others, 2011), 1 chordal.

    Returns:
        The curve; its parameter is 0 at the first point.
    """
    points = _distinct(points, closed)
    if closed:
        points = np.concatenate([points, points[:1]])
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1) ** power
    knots = np.concatenate([[0.0], np.cumsum(steps)])
    chords = np.diff(points, axis=0) / steps[:, None]
    # The slope of the parabola through a point and its neighbours.
    before, after = steps[:-1, None], steps[1:, None]
    inner = (after * chords[:-1] + before * chords[1:]) / (before + after)
    if closed:
        seam = (steps[0] * chords[-1] + steps[-1] * chords[0]) / (steps[0] + steps[-1])
        slopes = np.concatenate([[seam], inner, [seam]])
    elif len(points) == 2:
        slopes = np.repeat(chords, 2, axis=0)
    else:
        first, last = 2.0 * chords[0] - inner[0], 2.0 * chords[-1] - inner[-1]
        slopes = np.concatenate([[first], inner, [last]])
    return CubicHermiteSpline(knots, points, slopes)


def b_spline(points: np.ndarray, closed: bool = False, degree: int = 3) -> PPoly:
    """A uniform B-spline: drawn by its points, smooth of order `degree` - 1.

    Args:
        points: (k, d); an open curve begins and ends in its first and last point.
        closed: whether it goes around.
        degree: of its polynomials; fewer points than degree + 1 lower it.

    Returns:
        The curve over 0 .. 1 for each piece.
    """
    points = _distinct(points, closed, neighbours=False)
    if closed:
        degree = min(degree, max(len(points) - 1, 1))
        around = np.concatenate([points, points[:degree]])
        knots = np.arange(len(around) + degree + 1) - float(degree)
        return _polynomials(BSpline(knots, around, degree), np.arange(len(points) + 1.0))
    degree = min(degree, len(points) - 1)
    inner = np.arange(len(points) - degree + 1, dtype=float)
    knots = np.concatenate([np.zeros(degree), inner, np.full(degree, inner[-1])])
    return _polynomials(BSpline(knots, points, degree), inner)


def _polynomials(spline: BSpline, knots: np.ndarray) -> PPoly:
    """A B-spline as polynomials between knots: Taylor's, at the start of each piece."""
    parts = [
        spline.derivative(m)(knots[:-1]) / math.factorial(m) for m in range(spline.k, 0, -1)
    ]
    return PPoly(np.stack([*parts, spline(knots[:-1])]), knots)


def bezier(points: np.ndarray) -> PPoly:
    """Cubic Bezier pieces, end to end.

    Args:
        points: (3 k + 1, d): a knot, two handles, the next knot ...

    Returns:
        The curve over 0 .. 1 for each piece.
    """
    points = np.asarray(points, float)
    if len(points) < 4 or len(points) % 3 != 1:
        raise SettingError("Number of points", len(points), "4, 7, 10 ...: knots and two handles")
    pieces = (len(points) - 1) // 3
    coefficients = np.stack([points[3 * k : 3 * k + 4] for k in range(pieces)], axis=1)
    return PPoly.from_bernstein_basis(BPoly(coefficients, np.arange(pieces + 1.0)))


def _distinct(points: np.ndarray, closed: bool, neighbours: bool = True) -> np.ndarray:
    points = np.asarray(points, float)
    if points.ndim != 2 or not np.isfinite(points).all():
        raise SettingError("Points", f"of shape {points.shape}", "finite, one to a row")
    if len(points) < 2 or not np.ptp(points, axis=0).any():
        raise SettingError("Points", len(points), "two or more, not all the same")
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if closed:
        steps = np.append(steps, np.linalg.norm(points[-1] - points[0]))
    if neighbours and not (steps > 0.0).all():
        raise SettingError("Points", "twice in one place", "different from their neighbours")
    return points


def minimum_jerk(share: np.ndarray) -> np.ndarray:
    """Distance over time of a reach between two rests, both from 0 to 1.

    10 t^3 - 15 t^4 + 6 t^5 (Flash and Hogan, "The coordination of arm movements", 1985),
    the same for any distance, load and duration (Girard 1986, section 2.6).

    Args:
        share: time as a share of the duration; before and after it rests.
    """
    t = np.clip(share, 0.0, 1.0)
    return t**3 * (10.0 + t * (6.0 * t - 15.0))

