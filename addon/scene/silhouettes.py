# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the plane that a planar figure turns in, as silhouettes in metres."""

from __future__ import annotations

import bpy
import numpy as np

from ...solvers.control.surroundings import Silhouette
from ..errors import UserError
from ..placement import world_matrix
from .streets import standing

MOST = 20_000  # triangles
PLACES = 6  # of decimals of a metre: what differs by less is the same


def read_silhouettes(
    collection: bpy.types.Collection | None, own: bpy.types.Object, frame: np.ndarray,
    reach: float, deep: float, unit_scale: float,
) -> tuple[Silhouette, ...]:
    """What stands in the plane of a figure, as seen along its hinges, within its reach.

    Args:
        collection: of objects, as they stand at the current frame; None for nothing.
        own: the figure: that, and what hangs on it, is in nobody's way.
        frame: (4, 4) m from the figure's plane to the world: right, up, along the hinges.
        reach: m.
        deep: m to both sides of the plane; what ends before or begins behind is in nobody's way.
        unit_scale: metres per Blender unit.

    Raises:
        UserError: there are too many faces.
    """
    back, found, count = np.linalg.inv(frame), [], 0
    for obj in standing(collection, own):
        triangles = _triangles(obj, unit_scale) @ back[:3, :3].T + back[:3, 3]
        if not len(triangles) or not np.isfinite(triangles).all():
            continue
        depths = triangles[..., 2]
        if depths.max() < -deep or depths.min() > deep:
            continue
        flat = triangles[..., :2]
        near = (flat.min(axis=1) <= reach).all(axis=1) & (flat.max(axis=1) >= -reach).all(axis=1)
        if near.any():
            count += int(near.sum())
            found.append(Silhouette(obj.name, np.round(flat[near], PLACES)))
    if count > MOST:
        raise UserError(
            f"{collection.name} has {count:,} triangles within reach of {own.name}, which can mind "
            f"{MOST:,}: put simpler meshes in the way"
        )
    return tuple(found)


def _triangles(obj: bpy.types.Object, unit_scale: float) -> np.ndarray:
    """(m, 3, 3) m in the world, of an object's faces as it is evaluated."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    try:
        if mesh is None or not len(mesh.loop_triangles):
            return np.zeros((0, 3, 3))
        points = np.empty(3 * len(mesh.vertices), np.float32)
        corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
        mesh.vertices.foreach_get("co", points)
        mesh.loop_triangles.foreach_get("vertices", corners)
    finally:
        evaluated.to_mesh_clear()
    matrix = np.array(world_matrix(obj), dtype=float) * unit_scale
    placed = points.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]
    return placed[corners].reshape(-1, 3, 3)
