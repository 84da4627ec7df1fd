# SPDX-License-Identifier: GPL-3.0-or-later
"""The path that is to be followed, and what on it is nearest.

Splines come as polylines, sampled densely, in the order in which they are to
be followed. The nearest point is looked for forward only, from where it last
was and no further ahead than a window: a path that crosses itself is followed
in order (the "minseg" of van de Panne et al. 1993, Fig. 13).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..errors import SettingError

MOST_POINTS = 2_000_000
MOST_IN_WINDOW = 48  # vertices; what is finer is simplified a little more
FAR = 1e30  # m; stands for a vertex beyond the window


@dataclass(frozen=True)
class Course:
    """A path on the ground, ready to be searched.

    The polyline is that of the path, simplified by no more than `tolerance`
    and with no segment longer than a twelfth of the window. Beyond the end it
    goes on, straight ahead or around once more, so that a plan that looks
    past the end finds something to follow.

    Attributes:
        points: (m, 2) vertices, m.
        along: (m,) arc length at the vertices, m.
        direction: (m, 2) unit direction of the segment that begins at each
            vertex; the last repeats.
        table: (m, 6) of that segment: x and y of its start, its direction,
            arc length at its start, its length (0 for the last).
        length: arc length from the start to the end, m.
        cyclic: True if it ends where it starts.
        window: how far ahead of the last nearest point the next is looked
            for, m.
        tolerance: how far vertices may be off the path as given, m.
        height: world Z of the ground, m.
        near_x: (m, k) x of the k vertices from each one on, within the window.
        near_y: (m, k) their y.
    """

    points: np.ndarray
    along: np.ndarray
    direction: np.ndarray
    table: np.ndarray
    length: float
    cyclic: bool
    window: float
    tolerance: float
    height: float
    near_x: np.ndarray
    near_y: np.ndarray

    def advance(
        self, x: np.ndarray, y: np.ndarray, segment: np.ndarray, along: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Nearest points of the path to tracks, forward only.

        A point's nearest one lies not before that of the point before it, and
        not beyond the first vertex behind the window, which begins where the
        track does. It is found by the nearest vertex there and, exactly, on
        the two segments that meet at it. Of equally near ones, the first. On
        the inside of a bend another segment may be nearer: with the longest
        segment L the distance found is at most sqrt(d^2 + (L / 2)^2).

        Args:
            x: (m, n) the m points of n tracks, m.
            y: (m, n) likewise.
            segment: (n,) int, the segment on which the search begins.
            along: (n,) arc length at which it begins, m.

        Returns:
            (m, n) distance in m, segment and arc length of the nearest points.
        """
        square = self.near_x[segment] - x[:, :, None]
        other = self.near_y[segment] - y[:, :, None]
        square *= square
        other *= other
        square += other
        distance, found, where = self._about(x, y, segment + square.argmin(axis=2), segment, along)
        behind = (where[1:] < where[:-1]).any(axis=0)
        if behind.any():
            for j in np.flatnonzero(behind):
                first = int(segment[j])
                for i in range(1, len(x)):
                    if where[i, j] >= where[i - 1, j]:
                        continue
                    last = found[i - 1, j]
                    vertex = last + int(np.argmin(square[i, j, last - first :]))
                    best = self._about(
                        x[i, j : j + 1],
                        y[i, j : j + 1],
                        np.array([vertex]),
                        np.array([last]),
                        where[i - 1, j : j + 1],
                    )
                    distance[i, j], found[i, j], where[i, j] = (value[0] for value in best)
        return distance, found, where

    def _about(
        self,
        x: np.ndarray,
        y: np.ndarray,
        vertex: np.ndarray,
        first: np.ndarray,
        least: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Distance, segment and arc length of the nearest points about vertices."""
        before = np.maximum(vertex - 1, first)
        best, where = self.distance_to_segment(x, y, before, least)
        found = before
        # The segment on which the search begins, too: its vertex may lie behind.
        for segment in (vertex, np.broadcast_to(first, vertex.shape)):
            d, s = self.distance_to_segment(x, y, segment, least)
            better = (d < best) | ((d == best) & (s < where))
            best, where = np.where(better, d, best), np.where(better, s, where)
            found = np.where(better, segment, found)
        return np.sqrt(best), found, where

    def distance_to_segment(
        self, x: np.ndarray, y: np.ndarray, segment: np.ndarray, least: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest points on given segments of the path.

        Args:
            x: (...) m.
            y: (...) m.
            segment: (...) int, the segments.
            least: (...) arc length that the points are not to lie before, m.

        Returns:
            Squared distance in m^2 and arc length in m.
        """
        table = self.table[segment]
        tx, ty, start = table[..., 2], table[..., 3], table[..., 4]
        px, py = x - table[..., 0], y - table[..., 1]
        lowest = np.maximum(least - start, 0.0)
        t = np.minimum(np.maximum(px * tx + py * ty, lowest), table[..., 5])
        px -= t * tx
        py -= t * ty
        return px * px + py * py, start + t

    def nearest(
        self, x: float, y: float, among: np.ndarray | None = None
    ) -> tuple[float, int, float]:
        """Nearest point anywhere between start and end; of equals, the first.

        Args:
            x: m.
            y: m.
            among: (m,) bool, which segments are looked at, if there are any; None for all.

        Returns:
            Distance in m, segment and arc length in m.
        """
        last = max(1, int(np.searchsorted(self.along, self.length - 1e-9)))
        segment = np.arange(last)
        d, s = self.distance_to_segment(
            np.full(last, float(x)), np.full(last, float(y)), segment, np.zeros(last)
        )
        if among is not None and among[:last].any():
            d = np.where(among[:last], d, math.inf)
        best = int(np.argmin(d))
        return math.sqrt(float(d[best])), best, float(s[best])

    def locate(self, along: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points and directions at arc lengths.

        Args:
            along: (n,) m.

        Returns:
            (n, 2) points and (n, 2) unit directions.
        """
        along = np.asarray(along, dtype=float)
        segment = np.searchsorted(self.along, along, side="right") - 1
        segment = np.clip(segment, 0, len(self.along) - 2)
        direction = self.direction[segment]
        return self.points[segment] + (along - self.along[segment])[:, None] * direction, direction


def make_course(
    polylines: Sequence[np.ndarray],
    cyclic: bool | Sequence[bool] = False,
    window: float = 4.8,
    run_out: float = 30.0,
    laps: int = 1,
) -> Course:
    """Make a course of sampled splines.

    Polylines are followed one after the other; where one does not begin at
    the end of the one before, the way between is straight. Arc length is
    measured in plan, metres.

    Args:
        polylines: arrays (n, 2) or (n, 3) of world points, in order.
        cyclic: whether each is closed; one for all or one for each.
        window: how far ahead the nearest point is looked for, m.
        run_out: how far the course goes on beyond its end, m.
        laps: how often to go around, if all of it is one closed curve.

    Returns:
        The course.

    Raises:
        SettingError: the path is empty, has a point that is not finite, no
            length, or too many points.
    """
    if not window > 0.0 or not math.isfinite(window):
        raise SettingError("Path Window", window, "above 0 m")
    if isinstance(laps, bool) or not isinstance(laps, (int, np.integer)) or laps < 1:
        raise SettingError("Laps", laps, "a whole number of at least 1")
    lines = _checked(polylines)
    given = np.atleast_1d(np.asarray(cyclic, dtype=bool))
    flags = [bool(c) for c in (given if np.ndim(cyclic) else np.repeat(given, len(lines)))]
    if len(flags) != len(lines):
        raise SettingError("Cyclic", f"given {len(flags)} times", f"given {len(lines)} times")
    height = next(
        (float(line[0, 2]) for line in lines if len(line) and line.shape[1] == 3),
        0.0,
    )
    parts = [
        np.concatenate((line[:, :2], line[:1, :2])) if closed and len(line) > 2 else line[:, :2]
        for line, closed in zip(lines, flags, strict=True)
    ]
    points = _without_doubles(np.concatenate(parts))
    if len(points) < 2:
        raise SettingError("Path", "a curve without length", "a curve of at least two points")
    drawn = [flag for line, flag in zip(lines, flags, strict=True) if len(line)]
    closed = drawn == [True] and len(points) > 3
    longest = window / 12.0
    if closed and laps > 1:
        if (len(points) - 1) * int(laps) > MOST_POINTS:
            raise SettingError("Laps", laps, f"so few that {MOST_POINTS:,} points make the path")
        points = np.concatenate((points, *[points[1:]] * (int(laps) - 1)))
    total = _length(points)
    if total < 1e-6:
        raise SettingError("Path", f"a curve of {total:.3g} m", "a curve with a length")
    if total / longest > MOST_POINTS:
        raise SettingError("Path", f"{total:.6g} m long", f"at most {longest * MOST_POINTS:.6g} m")
    end = points[-1]
    finest = 1e-3 * _length(points[: (len(points) - 1) // (int(laps) if closed else 1) + 1])
    tolerance = min(window / 2400.0, finest)
    if closed and total > 2.0 * window:
        once = points[: (len(points) - 1) // int(laps) + 1]
        lap = np.cumsum(np.hypot(*np.diff(once, axis=0).T))
        around = max(1, min(math.ceil(run_out / lap[-1]), MOST_POINTS // len(once)))
        beyond = np.concatenate([once[1:]] * around)
        # No further than the run-out: of a long lap that is little.
        beyond = beyond[: (around - 1) * len(lap) + int(
            np.searchsorted(lap, run_out - (around - 1) * lap[-1])
        ) + 1]
    else:
        ahead = end - points[-2]
        beyond = (end + ahead / np.hypot(*ahead) * run_out)[None]
    while True:
        kept = simplify(points, tolerance)
        tail = _without_doubles(simplify(np.concatenate((kept[-1:], beyond)), tolerance))
        vertices, along = _subdivide(np.concatenate((kept, tail[1:])), longest)
        ends = np.searchsorted(along, along + window, side="right")
        count = int(np.max(ends - np.arange(len(along)))) + 1
        if count <= MOST_IN_WINDOW or tolerance > min(window / 50.0, 0.5 * finest):
            break
        tolerance *= 2.0
    length = _length(kept)
    segments = np.diff(vertices, axis=0)
    direction = segments / np.hypot(segments[:, 0], segments[:, 1])[:, None]
    direction = np.concatenate((direction, direction[-1:]))
    inside = np.arange(count) <= (ends - np.arange(len(along)))[:, None]
    tables = []
    for axis in range(2):
        padded = np.concatenate((vertices[:, axis], np.full(count, FAR)))
        tables.append(np.where(inside, sliding_window_view(padded, count)[: len(along)], FAR))
    return Course(
        points=vertices,
        along=along,
        direction=direction,
        table=np.column_stack((vertices, direction, along, np.append(np.diff(along), 0.0))),
        length=length,
        cyclic=closed,
        window=float(window),
        tolerance=tolerance,
        height=height,
        near_x=np.ascontiguousarray(tables[0]),
        near_y=np.ascontiguousarray(tables[1]),
    )


def _checked(polylines: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Polylines as float arrays, or one clear sentence."""
    lines = []
    for number, line in enumerate(polylines, 1):
        try:
            array = np.asarray(line, dtype=float)
        except (TypeError, ValueError):
            raise SettingError(f"Spline {number} of the path", line, "a list of points") from None
        if array.size == 0:
            array = np.zeros((0, 2))
        if array.ndim != 2 or array.shape[1] not in (2, 3):
            raise SettingError(
                f"Spline {number} of the path",
                f"an array of shape {array.shape}",
                "an array of points with two or three coordinates",
            )
        bad = ~np.all(np.isfinite(array) & (np.abs(array) < 1e7), axis=1)
        if bad.any():
            at = int(np.argmax(bad))
            raise SettingError(
                f"Point {at + 1} of spline {number} of the path",
                array[at].tolist(),
                "within 10,000 km of the origin",
            )
        lines.append(array)
    count = sum(len(line) for line in lines)
    if count == 0:
        raise SettingError("Path", "a curve without points", "a curve of at least two points")
    if count == 1:
        raise SettingError("Path", "a curve of one point", "a curve of at least two points")
    if count > MOST_POINTS:
        raise SettingError("Path", f"a curve of {count:,} points", f"at most {MOST_POINTS:,}")
    return lines


def _without_doubles(points: np.ndarray) -> np.ndarray:
    """Drop points that stand where the one before does."""
    scale = max(1.0, float(np.max(np.abs(points))))
    step = np.hypot(*np.diff(points, axis=0).T)
    return points[np.concatenate(([True], step > 1e-9 * scale))]


def _length(points: np.ndarray) -> float:
    return float(np.sum(np.hypot(*np.diff(points, axis=0).T)))


def simplify(points: np.ndarray, tolerance: float) -> np.ndarray:
    """Drop vertices without moving the line by more than a tolerance.

    Ramer, Douglas and Peucker: the vertex farthest from the chord is kept,
    and both halves are treated alike. Of equally far ones, the first.

    Args:
        points: (n, 2) m.
        tolerance: m.

    Returns:
        The points kept, first and last among them.
    """
    keep = np.zeros(len(points), dtype=bool)
    keep[[0, -1]] = True
    # Pieces of limited length keep the work linear on long paths.
    marks = np.append(np.arange(0, len(points) - 1, 512), len(points) - 1)
    keep[marks] = True
    first, last = marks[:-1], marks[1:]
    while True:  # all pieces at once, each halved where it has to be
        inside = last - first > 1
        first, last = first[inside], last[inside]
        if not len(first):
            break
        count = last - first - 1
        start = np.cumsum(count) - count
        piece = np.repeat(np.arange(len(first)), count)
        row = first[piece] + 1 + np.arange(len(piece)) - start[piece]
        chord = points[last] - points[first]
        size = np.einsum("ij,ij->i", chord, chord)
        off = points[row] - points[first][piece]
        t = np.einsum("ij,ij->i", off, chord[piece]) / np.where(size > 0.0, size, 1.0)[piece]
        off -= np.minimum(np.maximum(t, 0.0), 1.0)[:, None] * chord[piece]
        d = np.einsum("ij,ij->i", off, off)
        far = np.maximum.reduceat(d, start)
        middle = np.minimum.reduceat(np.where(d == far[piece], row, len(points)), start)
        split = far > tolerance * tolerance
        keep[middle[split]] = True
        first = np.concatenate((first[split], middle[split]))
        last = np.concatenate((middle[split], last[split]))
    return points[keep]


def _subdivide(points: np.ndarray, longest: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices with no segment longer than asked, and the arc length at each."""
    step = np.diff(points, axis=0)
    length = np.hypot(step[:, 0], step[:, 1])
    parts = np.maximum(np.ceil(length / longest - 1e-9).astype(int), 1)
    row = np.repeat(np.arange(len(parts)), parts)
    share = (np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[row]
    vertices = np.concatenate((points[row] + share[:, None] * step[row], points[-1:]))
    start = np.concatenate(([0.0], np.cumsum(length)))
    along = np.append(start[row] + share * length[row], start[-1])
    return vertices, along
