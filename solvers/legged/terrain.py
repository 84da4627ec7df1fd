# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh as ground for feet.

A foot is set down on the layer of the mesh that the way leads over: the way
starts on the layer nearest to its own height there and from point to point
keeps to the nearest one, so that under a roof or on a bridge it stays where
it is. Where the mesh has a hole the way goes on at the height before it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from ..path.terrain import TerrainMesh

APART = 0.25  # m between points of the way, where it is not too long
MOST_POINTS = 4000


@dataclass(frozen=True, eq=False)
class MeshGround:
    """Ground that is a mesh: called as `Ground` in `footholds` is.

    Attributes:
        mesh: the mesh.
        way: (k, 3) where the body goes, on the mesh, m; see `way_over`.
    """

    mesh: TerrainMesh
    way: np.ndarray

    @cached_property
    def _near(self) -> cKDTree:
        return cKDTree(np.asarray(self.way, dtype=float)[:, :2])

    def __call__(
        self, x: np.ndarray, y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Height, normal and whether there is ground.

        Args:
            x: (n,) m.
            y: (n,) m.

        Returns:
            (n,) m, (n, 3) unit normals that point up, (n,) bool.
        """
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        good = np.isfinite(x) & np.isfinite(y)
        place = np.where(good[:, None], np.stack((x, y), axis=1), 0.0)
        _far, row = self._near.query(place)
        height, normal = self.mesh.surface.lie(place[:, 0], place[:, 1], self.way[row, 2])
        return height, normal, good & np.isfinite(height)


def way_over(mesh: TerrainMesh, way: np.ndarray) -> np.ndarray:
    """A way laid onto a mesh.

    Args:
        mesh: the mesh.
        way: (k, 3) polyline, m. Where it starts, the layer nearest to it
            counts; from there on the nearest to the point before.

    Returns:
        (m, 3) points on the mesh, at most 0.25 m apart, or 4000 of them.
    """
    way = np.asarray(way, dtype=float)
    gone = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(way[:, :2], axis=0), axis=1))))
    count = min(math.ceil(gone[-1] / APART) + 1, MOST_POINTS)
    at = np.linspace(0.0, gone[-1], max(count, 2))
    keep = np.append(np.diff(gone) > 0.0, True)
    points = np.stack([np.interp(at, gone[keep], column[keep]) for column in way.T], axis=1)
    line, z = mesh.surface.crossings(points[:, 0], points[:, 1])
    starts = np.searchsorted(line, np.arange(len(points) + 1))
    level = float(points[0, 2])
    for row in range(len(points)):
        layers = z[starts[row] : starts[row + 1]]
        if len(layers):
            level = float(layers[np.argmin(np.abs(layers - level))])
        points[row, 2] = level
    return points
