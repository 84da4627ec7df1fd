# SPDX-License-Identifier: GPL-3.0-or-later
"""The path that a body is to take in the ground plan, by arc length."""

from __future__ import annotations

import math

import numpy as np
from scipy.interpolate import Akima1DInterpolator, CubicSpline

from ..curves import PathLength
from ..errors import SettingError
from ..motion import Placement

CORNER = math.radians(35.0)  # a path that turns by more at a point has a corner there
BESIDE = (0.1, 0.3, 0.7, 0.9)  # shares of a piece that leads to a corner


class Path:
    """A path by arc length: straight on beyond its ends, or around again.

    A piecewise cubic through its points (Girard 1986, section 4.2), Akima's of
    1970, which does not swing out at corners; parametrised anew by arc length
    (section 2.3). `length` is infinite for a straight line.

    Args:
        points: (k, 2) or (k, 3) m; None for a straight line.
        closed: True if the end meets the start.
        placement: where a straight line starts, and its direction.

    Raises:
        SettingError: the points are not finite or all the same.
    """

    def __init__(
        self, points: np.ndarray | None, closed: bool, placement: Placement
    ) -> None:
        self.length, self.closed = math.inf, closed
        self._curve: CubicSpline | Akima1DInterpolator | None = None
        if points is None:
            self._start = np.asarray(placement.origin, dtype=float)[:2]
            self._way = np.array([math.sin(placement.yaw), -math.cos(placement.yaw)])
            return
        points = _round_corners(_clean(points, closed))
        chord = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))))
        if len(points) == 2:
            self._curve = CubicSpline(chord, points, bc_type="natural")
        elif closed:  # around the ends too
            reach = min(3, len(points) - 1)
            before, after = chord[-1 - reach : -1] - chord[-1], chord[1 : reach + 1] + chord[-1]
            u = np.concatenate((before, chord, after))
            around = np.concatenate((points[-1 - reach : -1], points, points[1 : reach + 1]))
            self._curve = Akima1DInterpolator(u, around)
        else:
            self._curve = Akima1DInterpolator(chord, points)
        self._slope = self._curve.derivative()
        self._arc = PathLength(lambda u: np.linalg.norm(self._slope(u), axis=-1), chord)
        self.length = self._arc.length

    def at(self, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places and directions.

        Args:
            way: (n,) arc lengths from the start, m; may be negative.

        Returns:
            (n, 2) m and (n, 2) unit tangents.
        """
        if self._curve is None:
            return self._start + way[:, None] * self._way, np.tile(self._way, (len(way), 1))
        inner = np.mod(way, self.length) if self.closed else np.clip(way, 0.0, self.length)
        u = self._arc.at(inner)
        tangent = self._slope(u)
        size = np.linalg.norm(tangent, axis=1, keepdims=True)
        tangent = tangent / np.maximum(size, 1e-12)
        return self._curve(u) + (0.0 if self.closed else (way - inner)[:, None] * tangent), tangent


def _clean(path: np.ndarray, closed: bool) -> np.ndarray:
    try:
        points = np.asarray(path, dtype=float)
    except (TypeError, ValueError):
        raise SettingError("Path", "of points that are no numbers", "a list of points") from None
    if points.ndim != 2 or points.shape[1] not in (2, 3) or not np.all(np.isfinite(points)):
        raise SettingError(
            "Path", f"an array of shape {points.shape}", "finite points, (k, 2) or (k, 3)"
        )
    points = points[:, :2]
    if closed and len(points) and np.any(points[0] != points[-1]):
        points = np.vstack((points, points[:1]))
    size = float(np.max(np.ptp(points, axis=0))) if len(points) else 0.0
    far = np.ones(len(points), dtype=bool)
    far[1:] = np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-9 * max(size, 1e-9)
    if closed and len(points) > 1 and not far[-1]:
        far[-1] = True
        far[-2] = len(points) <= 2
    points = points[far]
    if len(points) < 2 or size <= 1e-9:
        raise SettingError("Path", f"{len(points)} different points", "at least two of them")
    return points


def _round_corners(points: np.ndarray) -> np.ndarray:
    """More points beside sharp corners, so that the curve keeps to long straight pieces."""
    way = np.diff(points, axis=0)
    length = np.linalg.norm(way, axis=1)
    unit = way / length[:, None]
    sharp = np.zeros(len(points), dtype=bool)
    sharp[1:-1] = np.sum(unit[1:] * unit[:-1], axis=1) < math.cos(CORNER)
    pieces = []
    for i in range(len(way)):
        pieces.append(points[i : i + 1])
        if sharp[i] or sharp[i + 1]:
            pieces.append(points[i] + np.array(BESIDE)[:, None] * way[i])
    return np.concatenate((*pieces, points[-1:]))
