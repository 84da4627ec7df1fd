# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in the way: discs, footprints, lines, gates and what moves.

"Obstacle avoidance is obtained by checking the track segments for collisions
as they are produced" (van de Panne et al. 1993, section 6.1). Distances are
exact, from the whole segment of track to the whole obstacle, so that nothing
slips through between two points. A grid tells which obstacles can be near, so
that a query costs the same among ten trees and among a thousand.

Heights count only where terrain has several levels: what stands on another one
is not in the way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from ..errors import SettingError
from .levels import Sheets
from .terrain import Field

MOST_CELLS = 2_000_000
MOST_PAIRS = 400_000  # of points and things, whose distance is looked at together


@dataclass(frozen=True)
class Disc:
    """A round obstacle, a tree for instance.

    Attributes:
        centre: (2,) or (3,) world position, m.
        radius: m; 0 is a thin pole.
        name: what the animator calls it.
        heights: world Z of its lowest and of its highest point, m; None for
            what lies on the level of terrain that is nearest to it, or, where
            it has no height, on all of them.
    """

    centre: np.ndarray
    radius: float = 0.0
    name: str = ""
    heights: tuple[float, float] | None = None


@dataclass(frozen=True)
class Polygon:
    """A solid footprint, convex or not.

    Attributes:
        points: (n, 2) or (n, 3) corners in order, the last joined to the first.
        name: what the animator calls it.
        heights: as for `Disc`.
    """

    points: np.ndarray
    name: str = ""
    heights: tuple[float, float] | None = None


@dataclass(frozen=True)
class Wall:
    """A line that may not be crossed; drawn from a pole outward, it says on
    which side to pass (Fig. 17).

    Attributes:
        points: (n, 2) or (n, 3) points of the line.
        name: what the animator calls it.
        heights: as for `Disc`.
    """

    points: np.ndarray
    name: str = ""
    heights: tuple[float, float] | None = None


@dataclass(frozen=True)
class MovingDisc:
    """A round obstacle that moves: looked up at its time.

    Attributes:
        times: (n,) seconds from the start of the motion, rising.
        centres: (n, 2) or (n, 3) where it is then; straight between, and
            standing before the first and after the last.
        radius: m.
        name: what the animator calls it.
    """

    times: np.ndarray
    centres: np.ndarray
    radius: float = 0.0
    name: str = ""


@dataclass(frozen=True)
class Gate:
    """Two poles to pass between, in the order of the gates.

    Attributes:
        left: (2,) or (3,) one pole, m.
        right: the other pole.
        radius: radius of the poles, m.
        name: what the animator calls it.
    """

    left: np.ndarray
    right: np.ndarray
    radius: float = 0.02
    name: str = ""


Obstacle = Disc | Polygon | Wall | MovingDisc


def point_to_segment(
    px: np.ndarray,
    py: np.ndarray,
    ax: np.ndarray,
    ay: np.ndarray,
    bx: np.ndarray,
    by: np.ndarray,
) -> np.ndarray:
    """Squared distance of points from segments.

    Args:
        px: x of the points, m.
        py: y of the points.
        ax: x of the segments' first ends.
        ay: their y.
        bx: x of the other ends.
        by: their y.

    Returns:
        Squared distances, m^2.
    """
    dx, dy = bx - ax, by - ay
    qx, qy = px - ax, py - ay
    size = dx * dx + dy * dy
    t = (qx * dx + qy * dy) / np.where(size > 0.0, size, 1.0)
    t = np.minimum(np.maximum(t, 0.0), 1.0)
    qx = qx - t * dx
    qy = qy - t * dy
    return qx * qx + qy * qy


def segment_to_segment(
    ax: np.ndarray,
    ay: np.ndarray,
    bx: np.ndarray,
    by: np.ndarray,
    cx: np.ndarray,
    cy: np.ndarray,
    dx: np.ndarray,
    dy: np.ndarray,
) -> np.ndarray:
    """Squared distance of segments a b from segments c d; 0 if they cross.

    In a plane, segments that do not cross are nearest at one of the four ends.

    Args:
        ax: x of the first ends of the one, m.
        ay: their y.
        bx: x of its other ends.
        by: their y.
        cx: x of the first ends of the other.
        cy: their y.
        dx: x of its other ends.
        dy: their y.

    Returns:
        Squared distances, m^2.
    """
    ux, uy, vx, vy = bx - ax, by - ay, dx - cx, dy - cy
    wx, wy = cx - ax, cy - ay
    one = ux * wy - uy * wx
    two = ux * (dy - ay) - uy * (dx - ax)
    three = vy * wx - vx * wy
    four = vx * (by - cy) - vy * (bx - cx)
    cross = (one * two < 0.0) & (three * four < 0.0)
    nearest = np.minimum(
        np.minimum(
            point_to_segment(ax, ay, cx, cy, dx, dy), point_to_segment(bx, by, cx, cy, dx, dy)
        ),
        np.minimum(
            point_to_segment(cx, cy, ax, ay, bx, by), point_to_segment(dx, dy, ax, ay, bx, by)
        ),
    )
    return np.where(cross, 0.0, nearest)


@dataclass(frozen=True)
class _Index:
    """Which of some things can be near a cell of a grid."""

    x0: float
    y0: float
    cell: float
    nx: int
    ny: int
    start: np.ndarray  # (cells + 1,)
    items: np.ndarray

    def pairs(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Rows of the points and the things near them; None if there are none."""
        scale = 1.0 / self.cell
        ix = np.clip((x - self.x0) * scale + 1.0, 0.0, self.nx - 1.0).astype(np.int64)
        iy = np.clip((y - self.y0) * scale + 1.0, 0.0, self.ny - 1.0).astype(np.int64)
        ix += iy * self.nx
        first = self.start[ix]
        count = self.start[ix + 1] - first
        rows = np.flatnonzero(count)
        if not len(rows):
            return None
        count = count[rows]
        query = np.repeat(rows, count)
        offset = np.arange(len(query)) - np.repeat(np.cumsum(count) - count - first[rows], count)
        return query, self.items[offset]


def _make_index(low: np.ndarray, high: np.ndarray, cell: float) -> _Index:
    """Index boxes (n, 2) low to high; the rim of the grid stays empty."""
    corner, far = low.min(axis=0), high.max(axis=0)
    size = far - corner
    cell = max(cell, math.sqrt(float(size[0] * size[1]) / MOST_CELLS), float(size.max()) / 1e5)
    nx, ny = (int(n) + 3 for n in np.floor(size / cell))
    first = np.floor((low - corner) / cell).astype(np.int64) + 1
    last = np.floor((high - corner) / cell).astype(np.int64) + 1
    span = last - first + 1
    count = span[:, 0] * span[:, 1]
    item = np.repeat(np.arange(len(low)), count)
    k = np.arange(len(item)) - np.repeat(np.cumsum(count) - count, count)
    cells = (first[item, 1] + k // span[item, 0]) * nx + first[item, 0] + k % span[item, 0]
    order = np.argsort(cells, kind="stable")  # things in their order within a cell
    start = np.zeros(nx * ny + 1, dtype=np.int64)
    np.cumsum(np.bincount(cells, minlength=nx * ny), out=start[1:])
    return _Index(float(corner[0]), float(corner[1]), cell, nx, ny, start, item[order])


class ObstacleField:
    """All obstacles, indexed for track segments of limited length.

    Obstacles are numbered as given; the poles of gate g follow them, one
    number for both. Where several are hit, the lowest number is named.

    Args:
        obstacles: what is in the way.
        gates: gates whose poles are in the way.
        reach: largest distance that is ever asked about, m.
        longest: longest segment of track that is ever asked about, m.
        ground: the terrain, or None.
    """

    def __init__(
        self,
        obstacles: Sequence[Obstacle],
        gates: Sequence[Gate] = (),
        reach: float = 0.5,
        longest: float = 1.0,
        ground: Field | None = None,
    ) -> None:
        self.ground = ground if isinstance(ground, Sheets) else None
        self.reach, self.longest = float(reach), float(longest)
        self.names: list[str] = []
        discs: list[tuple[float, float, float, int]] = []
        disc_heights: list[np.ndarray] = []
        lines: list[tuple[np.ndarray, np.ndarray, int]] = []
        self.solids: list[tuple[np.ndarray, int]] = []
        self.moving: list[tuple[np.ndarray, np.ndarray, float, int]] = []
        self._moving_height: list[np.ndarray] = []
        for number, item in enumerate(obstacles):
            if not isinstance(item, (Disc, Polygon, Wall, MovingDisc)):
                raise SettingError(f"Obstacle {number + 1}", item, "a disc, footprint or wall")
            label = f'Obstacle "{item.name}"' if item.name else f"Obstacle {number + 1}"
            self.names.append(f'"{item.name}"' if item.name else f"obstacle {number + 1}")
            if isinstance(item, Disc):
                x, y = _points(label, np.asarray(item.centre, dtype=float)[None])[0]
                discs.append((x, y, _radius(label, item.radius), number))
                disc_heights.append(_heights(np.asarray(item.centre)[None], item.heights)[0])
            elif isinstance(item, MovingDisc):
                self.moving.append((*_moving(label, item), _radius(label, item.radius), number))
                self._moving_height.append(_heights(item.centres, None)[:, 0])
            else:
                points = _points(label, item.points)
                if not len(points):
                    raise SettingError(label, "empty", "at least one point")
                heights = _heights(item.points, item.heights)
                if isinstance(item, Polygon) and len(points) > 2:
                    self.solids.append((points, number))
                    points = np.concatenate((points, points[:1]))
                    heights = np.concatenate((heights, heights[:1]))
                if len(points) == 1:
                    discs.append((points[0, 0], points[0, 1], 0.0, number))
                    disc_heights.append(heights[0])
                else:
                    lines.append((points, heights, number))
        for g, gate in enumerate(gates):
            label = f'Gate "{gate.name}"' if gate.name else f"Gate {g + 1}"
            self.names.append(f'gate "{gate.name}"' if gate.name else f"gate {g + 1}")
            ends = np.array([gate.left, gate.right], dtype=float)
            disc_heights += list(_heights(ends, None))
            for pole in _points(label, ends):
                radius = _radius(label, gate.radius)
                discs.append((pole[0], pole[1], radius, len(obstacles) + g))
        self.n_obstacles = len(obstacles)
        self.n_things = len(self.names)
        cell = max(self.longest, 0.25)
        around = self.reach + 0.5 * self.longest
        table = np.array([d[:3] for d in discs]).reshape(-1, 3)
        self._disc = np.ascontiguousarray(table.T)
        self._disc_owner = np.array([d[3] for d in discs], dtype=np.int64)
        self._discs = self._lines = None
        if len(table):
            far = (table[:, 2] + around)[:, None]
            self._discs = _make_index(table[:, :2] - far, table[:, :2] + far, cell)
        pieces, owners, ranges = [], [], []
        for points, heights, number in lines:
            a, b = points[:-1], points[1:]
            # A long slanting line would fill a large box: cut it.
            parts = np.ceil(np.hypot(*(b - a).T) / (4.0 * cell)).astype(int).clip(1)
            row = np.repeat(np.arange(len(a)), parts)
            k = (np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts))[:, None]
            step = (b - a)[row] / parts[row, None]
            end = np.where(k + 1 == parts[row, None], b[row], a[row] + (k + 1) * step)
            pieces.append(np.concatenate((a[row] + k * step, end), axis=1))
            owners += [number] * len(row)
            middle = (k + 0.5) / parts[row, None]
            ranges.append(heights[row] + middle * (heights[row + 1] - heights[row]))
        line = np.concatenate(pieces) if pieces else np.zeros((0, 4))
        self._line = np.ascontiguousarray(line.T)
        self._line_owner = np.array(owners, dtype=np.int64)
        if len(line):
            low = np.minimum(line[:, :2], line[:, 2:]) - around
            high = np.maximum(line[:, :2], line[:, 2:]) + around
            self._lines = _make_index(low, high, cell)
        if self.ground is not None:
            on = self.ground.counting
            self._disc_on = on(table[:, :2], *np.array(disc_heights).reshape(-1, 2).T)
            middle = 0.5 * (line[:, :2] + line[:, 2:])
            self._line_on = on(middle, *np.concatenate([np.zeros((0, 2)), *ranges]).T)
            # What is solid is where its first corner is.
            first = [self._line_owner.tolist().index(number) for _points, number in self.solids]
            self._solid_on = self._line_on[:, first]

    def hits(
        self,
        x0: np.ndarray,
        y0: np.ndarray,
        x1: np.ndarray,
        y1: np.ndarray,
        reach: np.ndarray,
        sheet: np.ndarray | None = None,
    ) -> np.ndarray:
        """What standing obstacle each segment of track comes nearer to than it may.

        Args:
            x0: (n,) start of the segments, m.
            y0: (n,) likewise.
            x1: (n,) end of the segments.
            y1: (n,) likewise.
            reach: (n,) least distance to keep, m, at most `reach` of the
                field; the segments are at most `longest`.
            sheet: (n,) int, the sheet of the terrain on which each of them is,
                or None where there is one only.

        Returns:
            (n,) number of the obstacle, -1 for none. Touching a line counts
            even at distance 0.
        """
        result = np.full(len(x0), -1, dtype=np.int64)
        if self._discs is None and self._lines is None:
            return result
        xm, ym = 0.5 * (x0 + x1), 0.5 * (y0 + y1)
        found = []
        if self._discs is not None:
            pairs = self._discs.pairs(xm, ym)
            if pairs is not None:
                q, i = pairs
                cx, cy, r = self._disc[0][i], self._disc[1][i], self._disc[2][i]
                keep = r + reach[q]
                hit = point_to_segment(cx, cy, x0[q], y0[q], x1[q], y1[q]) < keep * keep
                if sheet is not None:
                    hit &= self._disc_on[sheet[q], i]
                found.append((q[hit], self._disc_owner[i[hit]]))
        if self._lines is not None:
            pairs = self._lines.pairs(xm, ym)
            if pairs is not None:
                q, i = pairs
                ax, ay, bx, by = (column[i] for column in self._line)
                d2 = segment_to_segment(x0[q], y0[q], x1[q], y1[q], ax, ay, bx, by)
                keep = reach[q]
                hit = (d2 < keep * keep) | (d2 == 0.0)
                if sheet is not None:
                    hit &= self._line_on[sheet[q], i]
                found.append((q[hit], self._line_owner[i[hit]]))
        for q, owner in found:
            if len(q):
                order = np.argsort(-owner, kind="stable")
                q, owner = q[order], owner[order]
                best = np.full(len(x0), np.iinfo(np.int64).max)
                best[q] = owner  # the lowest is written last
                hit = best < np.iinfo(np.int64).max
                result[hit] = np.where(
                    result[hit] < 0, best[hit], np.minimum(result[hit], best[hit])
                )
        return result

    def hits_moving(
        self,
        x0: np.ndarray,
        y0: np.ndarray,
        x1: np.ndarray,
        y1: np.ndarray,
        reach: np.ndarray,
        places: np.ndarray,
        step: np.ndarray,
        on: np.ndarray | None = None,
        sheet: np.ndarray | None = None,
    ) -> np.ndarray:
        """The same for what moves: straight from place to place, step by step.

        Seen from the obstacle the track of a step is straight, too, so that
        the least distance within the step is exact.

        Args:
            x0: (...) start of the segments, m.
            y0: (...) likewise.
            x1: (...) end of the segments.
            y1: (...) likewise.
            reach: (...) least distance to keep, m.
            places: (steps + 1, moving, 2) from `moving_at`.
            step: (...) int, the step in which each segment is run.
            on: (steps + 1, moving, sheets) from `moving_on`.
            sheet: (...) int, as for `hits`.

        Returns:
            (...) number of the obstacle, -1 for none; the lowest of several.
        """
        result = np.full(x0.shape, -1, dtype=np.int64)
        if not result.size:
            return result
        radius = self.moving_radius
        low = np.array([min(x0.min(), x1.min()), min(y0.min(), y1.min())])
        high = np.array([max(x0.max(), x1.max()), max(y0.max(), y1.max())])
        first, last = int(step.min()), int(step.max()) + 2
        far = (radius + float(reach.max()))[:, None]
        near = np.all(
            (places[first:last].max(axis=0) + far >= low)
            & (places[first:last].min(axis=0) - far <= high),
            axis=1,
        )
        zero = np.zeros(x0.shape)
        for i in np.flatnonzero(near)[::-1]:
            start, end = places[step, i], places[step + 1, i]
            d2 = point_to_segment(
                zero,
                zero,
                x0 - start[..., 0],
                y0 - start[..., 1],
                x1 - end[..., 0],
                y1 - end[..., 1],
            )
            keep = radius[i] + reach
            hit = d2 < keep * keep
            if on is not None:
                hit &= on[step, i, sheet]
            result = np.where(hit, self.moving[i][3], result)
        return result

    def moving_at(self, times: np.ndarray) -> np.ndarray:
        """Where the moving obstacles are.

        Args:
            times: (n,) s.

        Returns:
            (n, moving, 2) m.
        """
        result = np.empty((len(times), len(self.moving), 2))
        for i, (when, where, _, _) in enumerate(self.moving):
            for axis in range(2):
                result[:, i, axis] = np.interp(times, when, where[:, axis])
        return result

    def moving_on(self, times: np.ndarray) -> np.ndarray | None:
        """On which sheets of the terrain the moving obstacles are; None where there is one only.

        Args:
            times: (n,) s.

        Returns:
            (n, moving, sheets) bool.
        """
        if self.ground is None:
            return None
        result = np.empty((len(times), len(self.moving), self.ground.count), dtype=bool)
        places = self.moving_at(times)
        for i, height in enumerate(self._moving_height):
            z = np.interp(times, self.moving[i][0], height)
            result[:, i] = self.ground.counting(places[:, i], z, z).T
        return result

    @property
    def moving_radius(self) -> np.ndarray:
        """(moving,) radii, m."""
        return np.array([item[2] for item in self.moving])

    @property
    def moving_owner(self) -> np.ndarray:
        """(moving,) numbers of the moving obstacles."""
        return np.array([item[3] for item in self.moving], dtype=np.int64)

    def clearance(
        self, x: np.ndarray, y: np.ndarray, times: np.ndarray, sheet: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distance from points to the nearest obstacle, exactly.

        Args:
            x: (n,) m.
            y: (n,) m.
            times: (n,) s, for those that move.
            sheet: (n,) int, as for `hits`.

        Returns:
            (n,) distance in m, 0 inside, infinite without obstacles; (n,)
            number of the nearest, -1 without. Of equals, the lowest.
        """
        n = len(x)
        best, owner = np.full(n, np.inf), np.full(n, -1, dtype=np.int64)
        places = np.stack((x, y), axis=1)

        def take(rows: np.ndarray, d: np.ndarray, who: np.ndarray) -> None:
            """Distances d of points `rows`, which rise, from obstacles `who`."""
            order = np.lexsort((who, d, rows))
            rows, first = np.unique(rows[order], return_index=True)
            least, number = d[order][first], who[order][first]
            better = (least < best[rows]) | ((least == best[rows]) & (number < owner[rows]))
            best[rows[better]], owner[rows[better]] = least[better], number[better]

        # Of each sheet of a terrain, what stands on it.
        for at in (None,) if sheet is None else np.unique(sheet):
            here = np.arange(n) if at is None else np.flatnonzero(sheet == at)
            near = places[here]
            discs = np.arange(len(self._disc_owner))
            lines = np.arange(len(self._line_owner))
            if at is not None:
                discs = np.flatnonzero(self._disc_on[at])
                lines = np.flatnonzero(self._line_on[at])
            if len(discs):
                cx, cy, r = self._disc[:, discs]
                for q, i in _near(near, np.stack((cx, cy), axis=1), r, -1.0):
                    d = np.hypot(near[q, 0] - cx[i], near[q, 1] - cy[i]) - r[i]
                    take(here[q], d, self._disc_owner[discs[i]])
            if len(lines):
                ax, ay, bx, by = self._line[:, lines]
                middle = 0.5 * np.stack((ax + bx, ay + by), axis=1)
                for q, i in _near(near, middle, 0.5 * np.hypot(bx - ax, by - ay), 0.0):
                    d2 = point_to_segment(*near[q].T, *self._line[:, lines[i]])
                    take(here[q], np.sqrt(d2), self._line_owner[lines[i]])
        if self.moving:
            q = np.repeat(np.arange(n), len(self.moving))
            off = self.moving_at(times) - places[:, None]
            d = np.hypot(off[..., 0], off[..., 1]) - self.moving_radius
            if sheet is not None:
                levels = self.moving_on(times)
                assert levels is not None
                row, which = np.arange(n)[:, None], np.arange(len(self.moving))
                d = np.where(levels[row, which, sheet[:, None]], d, np.inf)
            take(q, d.ravel(), np.tile(self.moving_owner, n))
        for solid, (points, number) in enumerate(self.solids):
            inside = _inside(points, x, y)
            if sheet is not None:
                inside &= self._solid_on[sheet, solid]
            owner = np.where(inside & (best > 0.0), number, owner)
            best = np.where(inside, 0.0, best)
        return np.maximum(best, 0.0), owner


def _near(
    places: np.ndarray, centres: np.ndarray, sizes: np.ndarray, sign: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of points and things among which the nearest thing of each point is.

    Things reach to `sizes` from their centres. The thing with the nearest
    centre is no further than that centre (`sign` 0), less its size if it is
    round and solid (-1). What is nearer has its centre no further than that
    and its own size.
    """
    tree = cKDTree(centres)
    far, nearest = tree.query(places)
    far = (far + sign * sizes[nearest] + sizes.max()) * (1.0 + 1e-9) + 1e-9
    count = np.cumsum(tree.query_ball_point(places, far, return_length=True))
    first = 0
    while first < len(places):
        done = count[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(count, done + MOST_PAIRS, side="right")))
        lists = tree.query_ball_point(places[first:last], far[first:last])
        rows = np.repeat(np.arange(first, last), [len(found) for found in lists])
        yield rows, np.concatenate([np.asarray(found, dtype=np.int64) for found in lists])
        first = last


def _inside(points: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether points lie inside a polygon: an odd number of edges to their right."""
    inside = np.zeros(len(x), dtype=bool)
    for (ax, ay), (bx, by) in zip(points, np.roll(points, -1, axis=0), strict=True):
        across = (ay > y) != (by > y)
        if across.any():
            inside ^= across & (x < ax + (y - ay) * (bx - ax) / (by - ay if by != ay else 1.0))
    return inside


def _points(label: str, points: np.ndarray) -> np.ndarray:
    array = np.asarray(points, dtype=float)
    if array.size == 0:
        return np.zeros((0, 2))
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise SettingError(label, f"of shape {array.shape}", "points with two or three coordinates")
    array = array[:, :2]
    if not np.all(np.isfinite(array)) or np.max(np.abs(array)) > 1e7:
        raise SettingError(label, "somewhere else", "within 10,000 km of the origin")
    return array


def _heights(points: np.ndarray, heights: tuple[float, float] | None) -> np.ndarray:
    """(n, 2) world Z between which something is at points of it; nan where it has no height."""
    array = np.asarray(points, dtype=float)
    if heights is not None:
        return np.tile(np.asarray(heights, dtype=float), (len(array), 1))
    z = array[:, 2] if array.ndim == 2 and array.shape[1] == 3 else np.full(len(array), np.nan)
    return np.stack((z, z), axis=1)


def _radius(label: str, radius: float) -> float:
    if not 0.0 <= radius <= 1e6:
        raise SettingError(f"Radius of {label[0].lower()}{label[1:]}", radius, "at least 0 m")
    return float(radius)


def _moving(label: str, item: MovingDisc) -> tuple[np.ndarray, np.ndarray]:
    times = np.asarray(item.times, dtype=float)
    centres = _points(label, item.centres)
    if times.ndim != 1 or len(times) != len(centres) or not len(times):
        raise SettingError(label, f"known at {np.size(times)} times", "known at one time a place")
    if not np.all(np.isfinite(times)) or np.any(np.diff(times) < 0.0):
        raise SettingError(label, "known at times out of order", "known at rising, finite times")
    return times, centres
