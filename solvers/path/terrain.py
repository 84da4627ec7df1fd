# SPDX-License-Identifier: GPL-3.0-or-later
"""Terrain under a path: height and normal of a mesh under points of the ground plan.

Two views of one mesh:

- `Surface` is the mesh itself. It answers how high it lies over a point, to
  the last bit; of several layers (bridges, overhangs) that nearest to a given
  height. Which way a face looks does not matter, near-vertical faces carry
  nobody and are left out, and where there is no face the answer is nan.
- `Field` is what a body on skis feels of it: at each node of a grid the plane
  fitted, by weighted least squares, to the mesh about it. The weights are a
  Gaussian with the standard deviation of a ski's length, L / sqrt(12), so that
  edges between faces are bridged as a ski bridges them. It is smooth enough to
  have curvature, and single valued: it follows the layer that can be reached
  from the start without a step, and knows where there is none. What a path
  needs that crosses itself at several heights is in `levels`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import ndimage

from ..errors import SettingError

STEEPEST = math.radians(75.0)  # faces that are steeper are walls
SPACING = 0.25  # m; of the nodes, where the area is not too large
MOST_NODES = 1_500_000
REACH = 3.0  # standard deviations at which the weights end
TOUCHING = 1e-9  # of a face's barycentric coordinates: on the edge is on the face
HEADROOM = 1.0  # m; a layer with another one so near over it, such as an underside, carries nobody
CHUNK = 200_000  # points that are looked up at once
RESOLUTION = 2.0**-23  # of a coordinate in single precision
FINE = 2.0**-22  # to which slopes of planes are rounded, finer than single precision tells them
ENOUGH = 0.02  # share of the weights that a plane is fitted to at least


@dataclass(frozen=True)
class TerrainMesh:
    """A mesh to move on, in world space.

    Attributes:
        points: (v, 3) vertices, m.
        triangles: (t, 3) int, corners of each face.
        name: what the animator calls it.
    """

    points: np.ndarray
    triangles: np.ndarray
    name: str = "Terrain"

    @cached_property
    def surface(self) -> Surface:
        """The mesh made ready for looking its height up, which takes long for large ones."""
        return Surface(self)


def clip(
    points: np.ndarray, triangles: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Leave out the faces that lie outside a rectangle of the ground plan.

    Args:
        points: (v, 3) m.
        triangles: (t, 3) int.
        low: (2,) the rectangle's corner with the smaller coordinates, m.
        high: (2,) the other corner, m.

    Returns:
        Vertices that are still used, and faces.
    """
    plan = points[:, :2][triangles]
    with np.errstate(invalid="ignore"):
        inside = (plan.max(axis=1) >= low).all(axis=1) & (plan.min(axis=1) <= high).all(axis=1)
    faces = triangles[inside]
    used = np.zeros(len(points), dtype=bool)
    used[faces.ravel()] = True
    return points[used], (np.cumsum(used) - 1)[faces]


class Surface:
    """A mesh whose height can be looked up.

    Args:
        mesh: the mesh. Faces with a corner that is not finite, without an
            area in the ground plan, or steeper than 75 degrees are left out.
    """

    def __init__(self, mesh: TerrainMesh) -> None:
        points = np.asarray(mesh.points, dtype=float).reshape(-1, 3)
        faces = np.asarray(mesh.triangles, dtype=np.int64).reshape(-1, 3)
        columns = np.ascontiguousarray(points.T)
        a, b, c = (columns[:, corner] for corner in faces.T)  # (3, t) each
        with np.errstate(invalid="ignore", divide="ignore"):
            u, v = b - a, c - a
            normal = np.stack((
                u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0],
            ))
            size = np.sqrt(np.sum(normal * normal, axis=0))
            good = np.isfinite(size) & (np.abs(normal[2]) > math.cos(STEEPEST) * size)
            good &= np.abs(normal[2]) > 1e-14
        self.name = mesh.name
        self.n_faces = int(np.count_nonzero(good))
        if not good.all():
            a, b, c, u, v, normal = (rows[:, good] for rows in (a, b, c, u, v, normal))
        # Barycentric coordinates and height are linear in x and y.
        self._at = np.ascontiguousarray(a.T)
        self._first = np.stack((v[1], -v[0]), axis=1) / normal[2][:, None]
        self._other = np.stack((-u[1], u[0]), axis=1) / normal[2][:, None]
        self._slope = -(normal[:2] / normal[2]).T
        self._lowest = np.minimum(np.minimum(a, b), c)[:2].T
        self._highest = np.maximum(np.maximum(a, b), c)[:2].T
        self._faces: np.ndarray | None = None  # sorted when first asked for

    def _meet(
        self, face: np.ndarray, x: np.ndarray, y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which vertical lines meet the face they are asked about, and heights there."""
        at = self._at[face]
        x, y = x - at[:, 0], y - at[:, 1]
        first, other = self._first[face], self._other[face]
        one, two = x * first[:, 0] + y * first[:, 1], x * other[:, 0] + y * other[:, 1]
        hit = (one >= -TOUCHING) & (two >= -TOUCHING) & (one + two <= 1.0 + TOUCHING)
        slope = self._slope[face[hit]]
        return hit, at[hit, 2] + x[hit] * slope[:, 0] + y[hit] * slope[:, 1]

    def _index(self) -> np.ndarray:
        """Sort the faces into the cells of a grid."""
        low, high = self._lowest, self._highest
        self._low = low.min(axis=0)
        extent = np.maximum(high.max(axis=0) - self._low, 1e-9)
        size = 2.0 * math.sqrt(float(np.mean(np.prod(np.maximum(high - low, 1e-9), axis=1))))
        self._cell = max(size, math.sqrt(float(np.prod(extent)) / 4e6), float(extent.max()) / 4e4)
        self._shape = (extent // self._cell).astype(np.int64) + 1
        first = self._cell_of(low - 1e-9 * extent)
        last = self._cell_of(high + 1e-9 * extent)
        face, row, column = _rectangles(first, last)
        cell = row * self._shape[1] + column
        order = np.argsort(cell, kind="stable")
        cells = int(self._shape[0] * self._shape[1])
        self._start = np.searchsorted(cell[order], np.arange(cells + 1))
        return face[order]

    def _cell_of(self, place: np.ndarray) -> np.ndarray:
        cell = np.floor((place - self._low) / self._cell).astype(np.int64)
        return np.minimum(np.maximum(cell, 0), self._shape - 1)

    def crossings(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Every place where vertical lines meet the mesh.

        Args:
            x: (n,) m.
            y: (n,) m.

        Returns:
            (k,) which of the lines, in order, and (k,) heights, m.
        """
        return self._crossings(x, y)[:2]

    def _crossings(
        self, x: np.ndarray, y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lines and heights as `crossings` has them, and (k,) the faces."""
        none = np.zeros(0, dtype=np.int64)
        lines, heights, faces = [none], [np.zeros(0)], [none]
        place = np.stack((x, y), axis=1)
        if self._faces is None and self.n_faces:
            self._faces = self._index()
        for first in range(0, len(place) if self.n_faces else 0, CHUNK):
            part = place[first : first + CHUNK]
            cell = self._cell_of(part)
            cell = cell[:, 0] * self._shape[1] + cell[:, 1]
            start, count = self._start[cell], self._start[cell + 1] - self._start[cell]
            line = np.repeat(np.arange(len(part)), count)
            rank = np.arange(len(line)) - np.repeat(np.cumsum(count) - count, count)
            face = self._faces[start[line] + rank]  # type: ignore[index]
            hit, height = self._meet(face, *part[line].T)
            lines.append(first + line[hit])
            heights.append(height)
            faces.append(face[hit])
        return np.concatenate(lines), np.concatenate(heights), np.concatenate(faces)

    def on_grid(
        self, low: np.ndarray, spacing: float, shape: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Every place where the vertical lines through the nodes of a grid meet the mesh.

        Args:
            low: (2,) place of the first node, m.
            spacing: between the nodes, m.
            shape: how many nodes there are along x and y.

        Returns:
            (k,) number of the node, that along y counting fastest, and (k,)
            heights, m.
        """
        nodes, heights = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        for start in range(0, self.n_faces, CHUNK):
            part = slice(start, start + CHUNK)
            first = np.ceil((self._lowest[part] - low) / spacing - 1e-6)
            last = np.floor((self._highest[part] - low) / spacing + 1e-6)
            first = np.maximum(first, 0.0).astype(np.int64)
            last = np.minimum(last, np.subtract(shape, 1)).astype(np.int64)
            face, row, column = _rectangles(first, last)
            x, y = low[0] + spacing * row, low[1] + spacing * column
            hit, height = self._meet(start + face, x, y)
            nodes.append((row * shape[1] + column)[hit])
            heights.append(height)
        return np.concatenate(nodes), np.concatenate(heights)

    def height(self, x: np.ndarray, y: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Height of the layer nearest to given heights.

        Args:
            x: (n,) m.
            y: (n,) m.
            near: (n,) heights, m; infinite for the topmost layer.

        Returns:
            (n,) m; nan where there is no terrain.
        """
        return self.lie(x, y, near)[0]

    def lie(
        self, x: np.ndarray, y: np.ndarray, near: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Height and normal of the layer nearest to given heights.

        Args:
            x: (n,) m.
            y: (n,) m.
            near: (n,) heights, m; infinite for the topmost layer.

        Returns:
            (n,) m, nan where there is no terrain, and (n, 3) unit normals that
            point up; straight up where there is none.
        """
        line, z, face = self._crossings(x, y)
        height, normal = np.full(len(x), np.nan), np.tile((0.0, 0.0, 1.0), (len(x), 1))
        with np.errstate(invalid="ignore"):
            top = np.isposinf(near[line])
            order = np.lexsort((z, np.where(top, -z, np.abs(z - near[line])), line))
        line, z, face = line[order], z[order], face[order]
        first = np.flatnonzero(np.diff(line, prepend=-1))
        line, face = line[first], face[first]
        height[line] = z[first]
        normal[line, :2] = -self._slope[face]
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        return height, normal


def _rectangles(
    first: np.ndarray, last: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cells of rectangles (n, 2) from first to last: which rectangle, row and column."""
    count = np.maximum(last - first + 1, 0)
    number = count[:, 0] * count[:, 1]
    which = np.repeat(np.arange(len(number)), number)
    rank = np.arange(len(which)) - np.repeat(np.cumsum(number) - number, number)
    row, column = np.divmod(rank, count[which, 1])
    return which, first[which, 0] + row, first[which, 1] + column


def room_over(line: np.ndarray, height: np.ndarray) -> np.ndarray:
    """How much room there is between each crossing and the next one over it.

    Args:
        line: (k,) which vertical line each crossing belongs to, in order.
        height: (k,) m, from the topmost of each line downward.

    Returns:
        (k,) m; infinite for the topmost.
    """
    room = -np.diff(height, prepend=np.inf)
    room[np.diff(line, prepend=-1) != 0] = np.inf
    return room


def node_spacing(smoothing: float, area: float) -> float:
    """Distance of the nodes of a field, m.

    Args:
        smoothing: length over which it is evened out, m.
        area: that all nodes together cover, m^2.
    """
    half = 0.5 * smoothing / math.sqrt(12.0)
    return max(min(SPACING, half), math.sqrt(area / MOST_NODES))


@dataclass(frozen=True)
class Under:
    """What is under points of the ground plan, as `Field.at` finds it.

    Attributes:
        p: (n,) slope dh/dx.
        q: (n,) slope dh/dy.
        xx: (n,) second derivative of the height, 1/m.
        xy: (n,) likewise.
        yy: (n,) likewise.
        height: (n,) m.
        support: (n,) 1 on the terrain, less where it ends.
    """

    p: np.ndarray
    q: np.ndarray
    xx: np.ndarray
    xy: np.ndarray
    yy: np.ndarray
    height: np.ndarray
    support: np.ndarray


# What a field keeps of each node: the derivatives by x and y of the height and of its slopes.
COLUMNS = ("p", "xx", "xy", "q", "xy", "yy", "height", "support")


def _level_out(slopes: tuple[np.ndarray, np.ndarray], enough: np.ndarray, noise: float) -> None:
    """Give each plane one slope, in place.

    Blender keeps coordinates in single precision: how a plane is meshed shows
    in the last digits of the slopes fitted to it, and a body falls away from
    what differs there (see `search`).

    Args:
        slopes: (nx, ny) each, dh/dx and dh/dy.
        enough: (nx, ny) bool, where they are known.
        noise: how far slopes are off by the precision of heights.
    """
    even = enough.copy()
    for slope in slopes:
        for axis in range(2):
            step = np.abs(np.diff(slope, axis=axis)) <= noise
            low, high = (tuple(slice(*ends) if i == axis else slice(None) for i in range(2))
                         for ends in ((0, -1), (1, None)))
            even[low] &= step
            even[high] &= step
    part, count = ndimage.label(even)
    index = np.arange(1, count + 1)
    spread = [ndimage.maximum(slope, part, index) - ndimage.minimum(slope, part, index)
              for slope in slopes]
    planes = np.concatenate(([False], np.max(spread, axis=0) <= 2.0 * noise))[part]
    for slope in slopes:
        one = np.round(np.append(0.0, ndimage.mean(slope, part, index)) / FINE) * FINE
        slope[planes] = one[part[planes]]


class Field:
    """Height, slope and curvature of terrain, evened out over a ski's length.

    `spacing` is that of its nodes, m; it is `coarse` where the area is so large
    that they even it out over more than was asked for. `layered` says whether
    there is more than one layer to move on anywhere.

    Args:
        surface: the mesh.
        low: (2,) corner of the rectangle that is wanted, m.
        high: (2,) the other corner, m.
        smoothing: length L over which it is evened out, m.
        start: (3,) where the motion starts, m. Its height tells layers apart;
            infinite for the topmost. Or (k, 3) places on the mesh, from each of
            which it goes on.
        spacing: of the nodes, m; None to choose it by the area.
        headroom: a layer with another one so near over it carries nobody, m.

    Raises:
        SettingError: the smoothing is out of range.
    """

    def __init__(
        self,
        surface: Surface,
        low: np.ndarray,
        high: np.ndarray,
        smoothing: float,
        start: np.ndarray,
        spacing: float | None = None,
        headroom: float = HEADROOM,
    ) -> None:
        if not 0.2 <= smoothing <= 100.0:
            raise SettingError("Terrain Smoothing", smoothing, "between 0.2 and 100 m")
        extent = np.maximum(np.asarray(high, dtype=float) - low, 1.0)
        sigma = smoothing / math.sqrt(12.0)
        self.spacing = spacing or node_spacing(smoothing, float(np.prod(extent)))
        self.coarse = self.spacing > sigma
        sigma = max(sigma, self.spacing)
        # Nodes at whole multiples, so that neighbouring fields agree.
        first = np.floor(np.asarray(low) / self.spacing).astype(np.int64) - 1
        last = np.ceil(np.asarray(high) / self.spacing).astype(np.int64) + 1
        self.shape = tuple(int(n) for n in last - first + 1)
        self.low = first * self.spacing
        height = self._layer(surface, np.asarray(start, dtype=float), headroom)
        solid = np.isfinite(height)
        self._table = self._fit(height, solid, sigma / self.spacing).reshape(-1, 8)

    def _layer(self, surface: Surface, start: np.ndarray, headroom: float) -> np.ndarray:
        """Heights (nx, ny) of what can be reached from the start; nan elsewhere.

        From node to node the nearest layer is taken if the step up or down is
        that of a slope of 75 degrees at most; it spreads like a wave, so that
        every node is reached the shortest way.
        """
        step = math.tan(STEEPEST) * self.spacing
        nx, ny = self.shape
        line, z = surface.on_grid(self.low, self.spacing, (nx, ny))
        order = np.lexsort((-z, line))
        line, z = line[order], z[order]
        room = room_over(line, z) > headroom
        line, z = line[room], z[room]
        count = np.bincount(line, minlength=nx * ny)
        rank = np.arange(len(line)) - (np.cumsum(count) - count)[line]
        layers = np.full((max(int(count.max(initial=0)), 1), nx * ny), np.nan)
        layers[rank, line] = z
        self.layered = len(layers) > 1
        found = np.full(nx * ny, np.nan)
        cell = np.rint((start[..., :2] - self.low) / self.spacing).astype(np.int64)
        cell = np.minimum(np.maximum(cell, 1), np.array(self.shape) - 2)
        if start.ndim > 1:
            near, first_of = np.unique(cell[:, 0] * ny + cell[:, 1], return_index=True)
            off = np.abs(layers[:, near] - start[first_of, 2])
            off[np.isnan(off)] = np.inf
            best = np.argmin(off, axis=0)
            good = off[best, np.arange(len(near))] <= step
            front = near[good]
            found[front] = layers[best[good], front]
        else:
            # The node nearest to the start may just miss what the start stands on.
            aside, along = np.array([0, 1, -1, 0, 0]), np.array([0, 0, 0, 1, -1])
            near = (cell[0] + aside) * ny + cell[1] + along
            front = near[np.isfinite(layers[0, near])][:1]
            if len(front):
                column = layers[:, front[0]]
                top = np.isposinf(start[2])
                found[front] = column[0 if top else int(np.nanargmin(np.abs(column - start[2])))]
        if not len(front):
            return found.reshape(nx, ny)
        if len(layers) == 1 and start.ndim == 1:
            height = layers[0].reshape(nx, ny)
            with np.errstate(invalid="ignore"):
                cliffs = [(np.abs(np.diff(height, axis=axis)) > step).any() for axis in range(2)]
            if not any(cliffs):  # nothing to choose from: what hangs together
                part = ndimage.label(np.isfinite(height))[0]
                return np.where(part == part.flat[front[0]], height, np.nan)
        while len(front):
            row, column = np.divmod(front, ny)
            reached = []
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                inside = (row + dx >= 0) & (row + dx < nx) & (column + dy >= 0) & (column + dy < ny)
                here = front[inside]
                there = here + dx * ny + dy
                new = np.isnan(found[there]) & np.isfinite(layers[0, there])
                here, there = here[new], there[new]
                if not len(there):
                    continue
                off = np.abs(layers[:, there] - found[here])
                off[np.isnan(off)] = np.inf
                best = np.argmin(off, axis=0)
                good = off[best, np.arange(len(there))] <= step
                found[there[good]] = layers[best[good], there[good]]
                reached.append(there[good])
            front = np.unique(np.concatenate(reached)) if reached else front[:0]
        height = found.reshape(nx, ny)
        # Two sides of a cliff may both be reached, around it.
        for axis in range(2):
            with np.errstate(invalid="ignore"):
                cliff = np.abs(np.diff(height, axis=axis)) > step
            if cliff.any():
                height[:-1 if axis == 0 else None, :-1 if axis == 1 else None][cliff] = np.nan
                height[1 if axis == 0 else 0 :, 1 if axis == 1 else 0 :][cliff] = np.nan
        return height

    def _fit(self, height: np.ndarray, solid: np.ndarray, sigma: float) -> np.ndarray:
        """The planes at the nodes, and how they change: (nx, ny, 8) as in `COLUMNS`.

        With weights w, offsets d and heights z the plane's height and slopes b
        solve (sum w d d^T) b = sum w d z, d = (1, dx, dy). The sums are
        convolutions with the separable Gaussian and its moments.
        """
        table = np.zeros((*self.shape, 8))
        if not solid.any():
            return table
        reach = math.ceil(REACH * sigma)
        offset = np.arange(-reach, reach + 1)
        weight = np.exp(-0.5 * (offset / sigma) ** 2)
        weight /= weight.sum()
        kernels = [weight, weight * offset, weight * offset**2]

        def moment(values: np.ndarray, i: int, j: int) -> np.ndarray:
            along = ndimage.correlate1d(values, kernels[i], axis=0, mode="constant")
            return ndimage.correlate1d(along, kernels[j], axis=1, mode="constant")

        mask = solid.astype(float)
        middle = float(np.nanmean(height))
        z = np.where(solid, height - middle, 0.0)
        zs = [moment(z, *ij) for ij in ((0, 0), (1, 0), (0, 1))]
        pairs = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
        m00, m10, m01, m20, m11, m02 = (moment(mask, *ij) for ij in pairs)
        enough = m00 > ENOUGH
        full = (np.abs(m00 - 1.0) < 1e-9) & (np.abs(m10) < 1e-9) & (np.abs(m01) < 1e-9)
        edge = enough & ~full
        matrix = np.stack((m00, m10, m01, m10, m20, m11, m01, m11, m02), axis=-1)[edge]
        matrix = matrix.reshape(-1, 3, 3)
        # A narrow strip says nothing about the slope across it: level, then.
        matrix[:, 1, 1] += 1e-6 * sigma**2
        matrix[:, 2, 2] += 1e-6 * sigma**2
        second = float(kernels[2].sum())
        plane = np.stack((zs[0], zs[1] / second, zs[2] / second), axis=-1)
        fitted = np.linalg.solve(matrix, np.stack([z[edge] for z in zs], axis=-1)[..., None])
        plane[edge] = fitted[..., 0]
        plane[~enough] = 0.0
        if not enough.all():  # beyond, the nearest plane goes on
            distance = ndimage.distance_transform_edt(
                ~enough, return_distances=False, return_indices=True
            )
            i, j = distance
            away = np.stack(np.meshgrid(*(np.arange(n) for n in self.shape), indexing="ij"))
            nearest = plane[i, j]
            lift = nearest[..., 1] * (away[0] - i) + nearest[..., 2] * (away[1] - j)
            nearest = nearest.copy()
            nearest[..., 0] += lift
            plane = np.where(enough[..., None], plane, nearest)
        h = self.spacing
        p, q = plane[..., 1] / h, plane[..., 2] / h
        _level_out((p, q), enough, RESOLUTION * float(np.nanmax(np.abs(height))) / (sigma * h))
        twist = 0.5 * (np.gradient(p, h, axis=1) + np.gradient(q, h, axis=0))
        for column, values in enumerate((
            p, np.gradient(p, h, axis=0), twist, q, twist, np.gradient(q, h, axis=1),
            plane[..., 0] + middle, mask,
        )):
            table[..., column] = values
        table[[0, -1], :, 7] = 0.0  # what lies beyond is not known
        table[:, [0, -1], 7] = 0.0
        return table

    def look_up(
        self, x: np.ndarray, y: np.ndarray, sheet: np.ndarray | None = None
    ) -> np.ndarray:
        """What is under points, bilinear between the nodes.

        Args:
            x: (n,) m.
            y: (n,) m.
            sheet: (n,) int, on which of several sheets; here there is one.

        Returns:
            (8, n) rows as in `COLUMNS`.
        """
        (low_x, low_y), (nx, ny) = self.low, self.shape
        return self._between(x, y, low_x, low_y, nx, ny, 0)

    def _between(self, x, y, low_x, low_y, nx, ny, first) -> np.ndarray:
        """Bilinear between the nodes of a grid that begins in row `first` of the table."""
        u, w = (x - low_x) / self.spacing, (y - low_y) / self.spacing
        np.minimum(np.maximum(u, 0.0, out=u), nx - 1.001, out=u)
        np.minimum(np.maximum(w, 0.0, out=w), ny - 1.001, out=w)
        i, j = u.astype(np.int64), w.astype(np.int64)
        u -= i
        w -= j
        i *= ny
        i += j
        i += first
        nodes = np.concatenate((i, i + 1, i + ny, i + (ny + 1)))
        beside, weight = 1.0 - w, np.empty((4, len(u)))
        np.multiply(u, beside, out=weight[2])
        np.multiply(u, w, out=weight[3])
        np.subtract(beside, weight[2], out=weight[0])
        np.subtract(w, weight[3], out=weight[1])
        near = self._table.take(nodes, axis=0)
        near *= weight.reshape(-1, 1)
        return np.ascontiguousarray(near.reshape(4, -1, 8).sum(axis=0).T)

    def at(self, x: np.ndarray, y: np.ndarray, sheet: np.ndarray | None = None) -> Under:
        """What is under points, by name.

        Args:
            x: (n,) m.
            y: (n,) m.
            sheet: as for `look_up`.

        Returns:
            Height, slopes, curvature and support.
        """
        p, xx, xy, q, _, yy, height, support = self.look_up(x, y, sheet)
        return Under(p, q, xx, xy, yy, height, support)

    def supports(
        self, x: np.ndarray, y: np.ndarray, sheet: np.ndarray | None = None
    ) -> np.ndarray:
        """Whether points lie on the terrain, all four nodes about them included.

        Args:
            x: (n,) m.
            y: (n,) m.
            sheet: as for `look_up`.

        Returns:
            (n,) bool.
        """
        return self.at(x, y, sheet).support > 0.999

    def sheet_at(self, along: np.ndarray) -> np.ndarray | None:
        """Which sheet counts at places along the path; None where there is one only.

        Args:
            along: (n,) arc length of the path, m.
        """
        return None
