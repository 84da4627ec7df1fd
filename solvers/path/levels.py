# SPDX-License-Identifier: GPL-3.0-or-later
"""Terrain on several levels: spiral ramps, car parks, bridges over one's own way.

A `Field` has one height at each place of the ground plan. Where a path comes
over or under itself that is not enough, but it is for a stretch of the path.
So the path is traced over the mesh, from layer to layer without a step, and
cut into stretches none of which lies over itself; each has a `Field` of its
own, its sheet, that spreads from the stretch, and a little of the path before
and after it, to the sides. Which sheet counts depends on how far along the
path a figure is: on that alone, so that it is known for a node of the search
before it is moved. Where one sheet follows another both know the same ground.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial import cKDTree

from .course import Course
from .terrain import HEADROOM, STEEPEST, Field, Surface, node_spacing, room_over

BEAD = 0.5  # m between places at which the path is traced
NEAR = 2.0  # m; a path that begins so near to a layer is drawn on it
OFF = 0.5  # m; a sheet that is so far off the path's level is not that of the path
BESIDE, RISE = 8.0, 0.5  # parts of the path so near lie over each other, if steeper than this apart
OVERLAP = 10.0  # m of the path before and after its stretch that a sheet knows, too
ROOM = 15.0  # m beside its stretch that a sheet reaches
SAME_LAP = 0.05  # m
POKES = 0.25  # m over the ground from which on what begins under it is in the way


def first_level(surface: Surface, place: np.ndarray, headroom: float = HEADROOM) -> float:
    """Height of the layer on which a path begins, m.

    The nearest, if the path is drawn within `NEAR` of it, else the topmost:
    infinite.

    Args:
        surface: the mesh.
        place: (2,) or (3,) the first point of the path as drawn, m.
        headroom: as for `Field`, m.
    """
    line, z = surface.crossings(place[:1], place[1:2])
    z = -np.sort(-z)
    z = z[room_over(line, z) > headroom]
    if len(place) < 3 or not len(z):
        return math.inf
    best = float(z[np.argmin(np.abs(z - place[2]))])
    return best if abs(best - place[2]) <= NEAR else math.inf


def trace(
    surface: Surface, points: np.ndarray, first: float, headroom: float = HEADROOM
) -> np.ndarray:
    """Height of the ground along a path, from layer to layer without a step.

    Args:
        surface: the mesh.
        points: (n, 2) places along the path, `BEAD` apart or less, m.
        first: height near the first of them, m; infinite for the topmost layer.
        headroom: how high the figure is, m.

    Returns:
        (n,) m; nan where there is no ground that can be reached, or less room
        over it than the figure is high.
    """
    line, z = surface.crossings(*points.T)
    order = np.lexsort((-z, line))
    line, z = line[order], z[order]
    room = room_over(line, z)
    layer = room > HEADROOM
    line, z, free = line[layer], z[layer], room[layer] > headroom
    ends = np.searchsorted(line, np.arange(len(points) + 1)).tolist()
    found = np.full(len(points), np.nan)
    steep = math.tan(STEEPEST) * BEAD
    last, reach = first, math.inf
    for i, (start, end) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
        if start < end:
            best = start
            if last < math.inf:
                best += int(np.argmin(np.abs(z[start:end] - last)))
            if not abs(z[best] - last) > reach:
                last, reach = float(z[best]), 0.0
                if free[best]:
                    found[i] = last
        reach += steep
    return found


def ground_along(
    surface: Surface, course: Course, along: np.ndarray, first: float
) -> np.ndarray:
    """Height of the ground at places along a path, on the level that it is on there.

    Args:
        surface: the mesh.
        course: the path.
        along: (n,) arc lengths, m.
        first: as for `trace`.

    Returns:
        (n,) m; nan beside the terrain.
    """
    beads = np.linspace(0.0, course.length, max(2, math.ceil(course.length / BEAD) + 1))
    height = trace(surface, course.locate(beads)[0], first)
    there = np.isfinite(height)
    if not there.any():
        return np.full(len(along), np.nan)
    points = course.locate(along)[0]
    near = np.interp(along, beads[there], height[there])
    return surface.height(points[:, 0], points[:, 1], near)


def follow_levels(
    surface: Surface,
    field: Field,
    course: Course,
    laps: int,
    smoothing: float,
    first: float,
    headroom: float = HEADROOM,
) -> Sheets:
    """The ground of a path, on as many sheets as it needs.

    Args:
        surface: the mesh.
        field: the ground on one sheet.
        course: the path.
        laps: how often it goes around.
        smoothing: length over which it is evened out, m.
        first: height near the start of the path, m, as for `trace`.
        headroom: as for `trace`, m.

    Returns:
        The sheets: `field` alone, where its height is that of the path
        everywhere.
    """
    lap = course.length / laps
    count = max(1, math.ceil(lap / BEAD - 1e-9))
    along = np.linspace(0.0, course.length, laps * count + 1)
    points = course.locate(along)[0]
    height = trace(surface, points, first, headroom)
    there = np.isfinite(height)
    under = field.at(*points[there].T)
    wrong = (under.support > 0.999) & (np.abs(under.height - height[there]) > OFF)
    if not (wrong | (under.support < 1e-3)).any():
        at, level = (along[there], height[there]) if there.any() else (along[:1], points[:1, 0])
        return Sheets(surface, [field], [0.0], at, level)
    period = math.inf
    each = height[:-1].reshape(laps, count)
    if course.cyclic and abs(height[-1] - height[0]) < SAME_LAP and np.allclose(
        each, each[0], atol=SAME_LAP, rtol=0.0, equal_nan=True
    ):  # every lap is like the first: one of them, and the beginning of the next
        period = lap
        row = np.arange(count + min(count, round(OVERLAP / BEAD)))
        along, points, height = row * (lap / count), points[row % count], height[row % count]
        there = np.isfinite(height)
    along, points, height = along[there], points[there], height[there]
    parts = stretches(along, points, height)
    places = np.column_stack((points, height))
    boxes = []
    for _begin, head, tail in parts:
        near = points[head : tail + 1]
        boxes.append((near.min(axis=0) - ROOM, near.max(axis=0) + ROOM))
    area = sum(float(np.prod(high - low)) for low, high in boxes)
    spacing = node_spacing(smoothing, area)
    fields = [
        Field(surface, *box, smoothing, places[head : tail + 1], spacing, headroom)
        for box, (_begin, head, tail) in zip(boxes, parts, strict=True)
    ]
    return Sheets(surface, fields, [part[0] for part in parts], along, height, period)


def stretches(
    along: np.ndarray, points: np.ndarray, height: np.ndarray
) -> list[tuple[float, int, int]]:
    """Cut a path where it comes over or under itself.

    Args:
        along: (n,) arc lengths, m.
        points: (n, 2) places there, m.
        height: (n,) of the ground there, m.

    Returns:
        Of each stretch the arc length at which it begins, and the first and
        the last of the places that it knows.
    """
    n = len(along)
    pairs = cKDTree(points).query_pairs(BESIDE, output_type="ndarray")
    i, j = pairs.min(axis=1), pairs.max(axis=1)
    apart = np.hypot(*(points[i] - points[j]).T)
    over = (np.abs(height[i] - height[j]) > HEADROOM + RISE * apart) & (
        along[j] - along[i] > 2.0 * apart
    )
    i, j = i[over], j[over]
    if not len(i):
        return [(0.0, 0, n - 1)]
    overlap = min(OVERLAP, 0.25 * float(np.min(along[j] - along[i])))
    latest = np.full(n, -1)  # place before that each one, or one before it, lies over or under
    np.maximum.at(latest, j, i)
    latest = np.maximum.accumulate(latest)
    found = []
    begin = 0.0
    while True:
        first = int(np.searchsorted(along, begin - overlap))
        last = int(np.searchsorted(latest, first)) - 1
        found.append((begin, first, last))
        if last == n - 1:
            return found
        begin = max(float(along[last]) - overlap, begin + 1e-3)


class Sheets(Field):
    """Terrain on several levels, evened out: a sheet for each stretch of a path.

    What it can be asked is the same as of a `Field`; the sheet has to be told.

    Args:
        surface: the mesh.
        fields: the sheets, of one spacing.
        begin: arc length of the path from which on each of them counts, m.
        along: (n,) arc lengths of the path, m.
        height: (n,) of the ground there, m.
        period: length of a lap, m; infinite for none.
    """

    def __init__(
        self,
        surface: Surface,
        fields: list[Field],
        begin: list[float],
        along: np.ndarray,
        height: np.ndarray,
        period: float = math.inf,
    ) -> None:
        self.surface, self.layered = surface, True
        self.spacing, self.coarse = fields[0].spacing, fields[0].coarse
        self._begin, self._period = np.array(begin), period
        self._along, self._height = along, height
        sizes = [len(field._table) for field in fields]
        self._first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        self._shapes = np.array([field.shape for field in fields])
        self._lows = np.array([field.low for field in fields])
        self._table = np.concatenate([field._table for field in fields])

    @property
    def count(self) -> int:
        """How many sheets there are."""
        return len(self._begin)

    def look_up(
        self, x: np.ndarray, y: np.ndarray, sheet: np.ndarray | None = None
    ) -> np.ndarray:
        """What is under points, bilinear between the nodes.

        Args:
            x: (n,) m.
            y: (n,) m.
            sheet: (n,) int, on which sheet, from `sheet_at`.

        Returns:
            (8, n) rows as in `terrain.COLUMNS`.
        """
        assert sheet is not None
        (low_x, low_y), (nx, ny) = self._lows[sheet].T, self._shapes[sheet].T
        return self._between(x, y, low_x, low_y, nx, ny, self._first[sheet])

    def sheet_at(self, along: np.ndarray) -> np.ndarray:
        """Which sheet counts at places along the path.

        Args:
            along: (n,) arc length of the path, m.

        Returns:
            (n,) int.
        """
        place = np.searchsorted(self._begin, self._in_lap(along), side="right") - 1
        return np.maximum(place, 0)

    def level_at(self, along: np.ndarray) -> np.ndarray:
        """Height of the ground along the path.

        Args:
            along: (n,) arc length of the path, m.

        Returns:
            (n,) m.
        """
        return np.interp(self._in_lap(along), self._along, self._height)

    def is_level(self, place: np.ndarray, along: np.ndarray) -> np.ndarray:
        """Whether a place is on the level on which the path is.

        Args:
            place: (2,) or (3,) m; that of the nearest layer counts.
            along: (n,) arc lengths of the path, m.

        Returns:
            (n,) bool; all True if the place has no height.
        """
        if len(place) < 3:
            return np.ones(len(along), dtype=bool)
        level = self._snapped(place[None, :2], place[2:])
        return np.abs(self.level_at(along) - level) < HEADROOM

    def counting(self, places: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """On which sheets things are in the way.

        What is as high as it is low lies on the layer nearest to it. Anything
        else has to begin or end near a sheet, and what begins far under it to
        reach over it: a pillar is not in the way on the bridge that it carries.

        Args:
            places: (n, 2) m.
            low: (n,) height of the lowest point of each, m; nan counts on all
                sheets.
            high: (n,) of the highest, m.

        Returns:
            (sheets, n) bool.
        """
        flat = low == high
        low, high = low.copy(), high.copy()
        low[flat] = high[flat] = self._snapped(places[flat], low[flat])
        x, y = places.T
        result = np.empty((self.count, len(places)), dtype=bool)
        for sheet in range(self.count):
            level = self.look_up(x, y, np.full(len(x), sheet))[6]
            result[sheet] = (np.abs(low - level) < HEADROOM) | (
                (low < level) & (high > level + POKES)
            )
        return result | np.isnan(low)

    def _snapped(self, places: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Heights of the layers nearest to places; as they are where there is none."""
        height = self.surface.height(places[:, 0], places[:, 1], near)
        return np.where(np.isfinite(height), height, near)

    def _in_lap(self, along: np.ndarray) -> np.ndarray:
        along = np.asarray(along, dtype=float)
        return along if math.isinf(self._period) else np.mod(along, self._period)
