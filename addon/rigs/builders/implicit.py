# SPDX-License-Identifier: GPL-3.0-or-later
"""Smooth bodies of animals, as the level surface of rounded lumps along bones. No Blender in it.

Each lump is a rounded cone around a piece of bone or muscle, with the distance

    d_i(p) = |p - c_i(t)| - r_i(t),    c_i, r_i linear in 0 <= t <= 1,

measured in a space that is drawn together from side to side, so that sections may be
narrower than they are deep. The body is where the soft minimum

    f(p) = -k log sum_i exp(-d_i(p) / k)

is 0: lumps flow into each other over a few k. It is polygonised by surface nets
(one point for each cell of a grid that the surface goes through, one quad for each edge
of the grid that it cuts), and the points are evened out and brought onto the surface.
Skin weights are those of the lumps, each by its place along a row of bones, shared
out by the same exponentials.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import map_coordinates, spline_filter

from .surfaces import Surface

_SAMPLES = 9  # of a lump's weights along it
_FAR = 9.0  # soft radii beyond which a lump is not felt
_ROUNDS = 4  # of evening out


class Row:
    """Bones that follow each other, and how skin changes from one to the next.

    Args:
        bones: deform bones.
        points: (n + 1, 3) their joints, with the end of the last.
        blend: half of the length over which the skin changes at a joint, m.
        half: deform bone of each joint between two that turns half as far, or "".
    """

    def __init__(
        self, bones: Sequence[str], points: np.ndarray, blend: float, half: Sequence[str] = ()
    ) -> None:
        self.bones, self.points = tuple(bones), np.asarray(points, dtype=float)
        self.lengths = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        self.at = np.concatenate(([0.0], np.cumsum(self.lengths)))
        self.half = tuple(half) or ("",) * (len(self.bones) - 1)
        limit = 0.48 * np.minimum(self.lengths[:-1], self.lengths[1:])
        self.blend = np.minimum(blend, limit)

    def place(self, point: np.ndarray) -> float:
        """How far along the row the nearest place to a point is, m.

        Args:
            point: (3,).
        """
        start, way = self.points[:-1], np.diff(self.points, axis=0)
        share = np.sum((point - start) * way, axis=1) / np.maximum(self.lengths**2, 1e-18)
        share = np.clip(share, 0.0, 1.0)
        far = np.linalg.norm(point - start - share[:, None] * way, axis=1)
        best = int(np.argmin(far))
        return float(self.at[best] + share[best] * self.lengths[best])

    def weights(self, point: np.ndarray) -> dict[str, float]:
        """Weights of skin at a point of the axis.

        Args:
            point: (3,).
        """
        place = self.place(point)
        number = int(np.clip(np.searchsorted(self.at, place, side="right") - 1, 0,
                             len(self.bones) - 1))
        found = {self.bones[number]: 1.0}
        for joint in (number, number + 1):
            if not 0 < joint < len(self.bones):
                continue
            b = float(self.blend[joint - 1])
            amount = (place - self.at[joint] + b) / (2.0 * b)
            if not 0.0 < amount < 1.0:
                continue
            stops = [self.bones[joint - 1], self.half[joint - 1], self.bones[joint]]
            stops = [bone for bone in stops if bone]
            along = amount * (len(stops) - 1)
            first = min(int(along), len(stops) - 2)
            rest = along - first
            rest = rest * rest * (3.0 - 2.0 * rest)
            found = {stops[first]: 1.0 - rest, stops[first + 1]: rest}
        return {bone: value for bone, value in found.items() if value > 0.0}


@dataclass(frozen=True)
class Lump:
    """A rounded cone.

    Attributes:
        start: (3,) m.
        end: (3,) m.
        radius: at the start, m.
        tip: radius at the end, m.
        row: the bones that carry it.
        wide: its width as a part of its depth.
    """

    start: np.ndarray
    end: np.ndarray
    radius: float
    tip: float
    row: Row
    wide: float = 1.0


class Field:
    """The soft minimum of lumps.

    Args:
        lumps: what the body consists of.
        soft: k, m.
    """

    def __init__(self, lumps: Sequence[Lump], soft: float) -> None:
        self.lumps, self.soft = tuple(lumps), soft
        self.start = np.array([lump.start for lump in lumps])
        self.way = np.array([lump.end for lump in lumps]) - self.start
        self.radius = np.array([lump.radius for lump in lumps])
        self.slope = np.array([lump.tip for lump in lumps]) - self.radius
        self.squeeze = np.ones((len(lumps), 3))
        self.squeeze[:, 0] = [1.0 / lump.wide for lump in lumps]

    def distances(
        self, points: np.ndarray, which: slice | np.ndarray = slice(None)
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distances to lumps, and places along them.

        Args:
            points: (n, 3).
            which: of the lumps.

        Returns:
            (n, m) and (n, m).
        """
        squeeze, start, way = self.squeeze[which], self.start[which], self.way[which]
        square = np.maximum(np.sum((way * squeeze) ** 2, axis=-1), 1e-18)
        # |arm - t way|^2 = |arm|^2 - 2 t arm way + t^2 |way|^2, axis by axis: less to store.
        along, off = np.zeros((len(points), len(square))), np.zeros((len(points), len(square)))
        for axis in range(3):
            arm = (points[:, axis, None] - start[:, axis]) * squeeze[:, axis]
            along += arm * (way * squeeze)[:, axis]
            off += arm * arm
        share = np.clip(along / square, 0.0, 1.0)
        off += share * (share * square - 2.0 * along)
        distance = np.sqrt(np.maximum(off, 0.0)) - self.radius[which] - share * self.slope[which]
        return distance, share

    def grid(self, cell: float) -> tuple[np.ndarray, np.ndarray]:
        """f at the nodes of a grid that mirrors itself from side to side.

        Args:
            cell: size of its cells, m.

        Returns:
            (nx, ny, nz) values and (3,) the first node.
        """
        ends = np.concatenate((self.start, self.start + self.way))
        thick = np.concatenate([np.maximum(self.radius, self.radius + self.slope)] * 2)
        wide = thick[:, None] / np.concatenate([self.squeeze] * 2)
        low, high = (ends - wide).min(axis=0), (ends + wide).max(axis=0)
        margin = 4.0 * self.soft + 2.0 * cell
        half = np.ceil((max(-low[0], high[0]) + margin) / cell) + 0.5
        first = np.array([-half * cell, low[1] - margin, low[2] - margin])
        count = np.ceil((high + margin - first) / cell).astype(int) + 1
        count[0] = int(round(2.0 * half)) + 1
        total = np.zeros(count)
        for i in range(len(self.lumps)):
            reach = wide[i].max() + _FAR * self.soft
            box = np.array([self.start[i], self.start[i] + self.way[i]])
            lower = np.floor((box.min(axis=0) - reach - first) / cell).astype(int)
            upper = np.ceil((box.max(axis=0) + reach - first) / cell).astype(int) + 1
            lower, upper = np.clip(lower, 0, count), np.clip(upper, 0, count)
            axes = [first[a] + cell * np.arange(lower[a], upper[a]) for a in range(3)]
            points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
            distance = self.distances(points, np.array([i]))[0][:, 0]
            part = np.exp(np.clip(-distance / self.soft, -_FAR, 60.0))
            total[tuple(slice(a, b) for a, b in zip(lower, upper, strict=True))] += (
                part.reshape(upper - lower)
            )
        return -self.soft * np.log(np.maximum(total, 1e-30)), first


def _nets(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Surface nets: (v, 3) points in cells, and (f, 4) quads seen anticlockwise from outside."""
    inside = value < 0.0
    shape = np.array(value.shape) - 1
    corners = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]

    def cut(array: np.ndarray, corner: tuple[int, int, int]) -> np.ndarray:
        return array[tuple(slice(c, c + n) for c, n in zip(corner, shape, strict=True))]

    count = sum(cut(inside, corner).astype(int) for corner in corners)
    cells = np.argwhere((count > 0) & (count < 8))
    number = np.full(shape, -1)
    number[tuple(cells.T)] = np.arange(len(cells))
    points, hits = np.zeros((len(cells), 3)), np.zeros(len(cells))
    for a in corners:
        for axis in range(3):
            if a[axis]:
                continue
            b = tuple(c + (n == axis) for n, c in enumerate(a))
            first = value[tuple((cells + a).T)]
            second = value[tuple((cells + b).T)]
            crosses = (first < 0.0) != (second < 0.0)
            share = np.zeros(len(cells))
            share[crosses] = first[crosses] / (first[crosses] - second[crosses])
            place = np.array(a, dtype=float) + np.eye(3)[axis] * share[:, None]
            points[crosses] += place[crosses]
            hits += crosses
    points = cells + points / hits[:, None]
    quads = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        ahead = np.take(inside, np.arange(1, value.shape[axis]), axis=axis)
        behind = np.take(inside, np.arange(value.shape[axis] - 1), axis=axis)
        edges = np.argwhere(ahead != behind)
        edges = edges[(edges[:, u] > 0) & (edges[:, v] > 0)]
        edges = edges[(edges[:, u] < shape[u]) & (edges[:, v] < shape[v])]
        step_u, step_v = np.eye(3, dtype=int)[u], np.eye(3, dtype=int)[v]
        around = [edges - step_u - step_v, edges - step_v, edges, edges - step_u]
        quad = np.stack([number[tuple(cell.T)] for cell in around], axis=1)
        outwards = behind[tuple(edges.T)]
        quads.append(np.where(outwards[:, None], quad, quad[:, ::-1]))
    return points, np.concatenate(quads)


def skin(lumps: Sequence[Lump], soft: float, cell: float, material: str) -> Surface:
    """The body that lumps make.

    Args:
        lumps: what it consists of.
        soft: over which lumps flow into each other, m.
        cell: size of its quads, m.
        material: key of its material.

    Returns:
        A closed surface with weights.
    """
    field = Field(lumps, soft)
    value, first = field.grid(cell)
    points, quads = _nets(value)
    points = first + cell * points
    a, b = quads.ravel(), np.roll(quads, -1, axis=1).ravel()
    degree = np.bincount(np.concatenate((a, b)), minlength=len(points))
    # f between the nodes is a cubic spline: the surface is as smooth as that.
    spline = spline_filter(value, order=3)
    slopes = np.gradient(value, cell)
    for round_ in range(_ROUNDS):
        if round_ < _ROUNDS - 1:
            mean = np.stack([
                np.bincount(np.concatenate((a, b)), np.concatenate((points[b, n], points[a, n])))
                for n in range(3)
            ], axis=1)
            points = 0.4 * points + 0.6 * mean / degree[:, None]
        for _ in range(2):
            places = ((points - first) / cell).T
            f = map_coordinates(spline, places, order=3, prefilter=False, mode="nearest")
            gradient = np.stack([
                map_coordinates(slope, places, order=1, mode="nearest") for slope in slopes
            ], axis=1)
            square = np.maximum(np.sum(gradient**2, axis=1), 1e-3)
            points -= np.clip(f / square, -cell, cell)[:, None] * gradient
    bones, weights = _weights(field, points)
    faces = [tuple(quad) for quad in quads.tolist()]
    return Surface(
        points, faces, [material] * len(faces), bones, weights, [True] * len(faces)
    )


def _weights(field: Field, points: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    distance, share = field.distances(points)
    part = np.exp(-(distance - distance.min(axis=1, keepdims=True)) / field.soft)
    part /= part.sum(axis=1, keepdims=True)
    tables = []
    for lump in field.lumps:
        stops = np.linspace(0.0, 1.0, _SAMPLES)[:, None]
        places = lump.start + stops * (lump.end - lump.start)
        tables.append([lump.row.weights(place) for place in places])
    bones = tuple(sorted({bone for table in tables for one in table for bone in one}))
    weights = np.zeros((len(points), len(bones)))
    stops = np.linspace(0.0, 1.0, _SAMPLES)
    for i, table in enumerate(tables):
        for n, bone in enumerate(bones):
            values = [one.get(bone, 0.0) for one in table]
            if any(values):
                weights[:, n] += part[:, i] * np.interp(share[:, i], stops, values)
    return bones, weights / weights.sum(axis=1, keepdims=True)
