# SPDX-License-Identifier: GPL-3.0-or-later
"""A snow slope under a motion.

The surface is level across the fall line and follows the motion's own height
along it, so that it fits under a slope that changes on the way, too.
"""

from __future__ import annotations

import bpy
import numpy as np

from ...solvers.motion import TurningMotion
from .. import motions
from ..pipeline import Solved
from . import objects

# The groomer leaves lanes of this width and is seen to have stopped at these
# distances; metres.
LANE = 2.5
STEP = 5.0

# How far the slope goes on beyond the track, metres: to all sides, and ahead,
# where it has to reach the horizon of a camera that follows.
MARGIN = 90.0
AHEAD = 220.0

SNOW = ((0.93, 0.96, 1.00), (0.84, 0.89, 0.97), (0.77, 0.84, 0.95))

_KEY = "poise_slope"


def fall_line(motion: TurningMotion) -> np.ndarray:
    """Horizontal unit vector (3,) downhill; the way the motion goes where it is flat.

    Args:
        motion: a solved motion.
    """
    down = motion.normal[:, :2].mean(axis=0)
    if np.linalg.norm(down) < 1e-6:
        down = motion.position[-1, :2] - motion.position[0, :2]
    if np.linalg.norm(down) < 1e-6:
        down = motion.forward[0, :2]
    return np.array((*(down / np.linalg.norm(down)), 0.0))


def profile(motion: TurningMotion, along: np.ndarray) -> np.ndarray:
    """Height of the slope over horizontal distances along the fall line.

    Args:
        motion: a solved motion.
        along: (k,) metres from the world's origin along `fall_line`.

    Returns:
        (k,) heights in metres, on at the end slopes beyond the track.
    """
    down = fall_line(motion)
    way = motion.position @ down
    drop = -np.einsum("ni,i->n", motion.normal, down) / motion.normal[:, 2]
    order = np.argsort(way, kind="stable")
    way, height, drop = way[order], motion.position[order, 2], drop[order]
    inside = np.interp(along, way, height)
    before, after = np.minimum(along - way[0], 0.0), np.maximum(along - way[-1], 0.0)
    return inside + before * drop[0] + after * drop[-1]


def build(
    scene: bpy.types.Scene, motion: bpy.types.Object, solved: Solved
) -> tuple[bpy.types.Object, float]:
    """Make or renew the slope under a motion.

    Args:
        scene: the operator's scene.
        motion: the Motion object.
        solved: its solved motion.

    Returns:
        The object, and the largest distance in metres between track and slope.
    """
    vertices, faces, lanes, gap = surface(solved.motion)
    existing = motions.own(motion, lambda m: m.get(_KEY))
    if existing is not None and not isinstance(existing, bpy.types.Object):
        existing = None
    ground = objects.mesh_object(existing, f"{motion.name} Slope", scene, motion)
    mesh = ground.data
    if not mesh.materials:
        for number, colour in enumerate(SNOW):
            mesh.materials.append(objects.plain_material(f"Snow {number + 1}", colour))
    scale = 1.0 / solved.job.numbers.unit_scale
    mesh.from_pydata((vertices * scale).tolist(), [], faces.tolist())
    mesh.polygons.foreach_set("material_index", lanes.astype(np.int32))
    mesh.update()
    motion[_KEY] = ground
    return ground, gap


def surface(motion: TurningMotion) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """The slope as a grid of groomed lanes.

    Args:
        motion: a solved motion.

    Returns:
        Vertices (v, 3) in metres, faces (f, 4), shade of each face (f,) as an
        index into `SNOW`, and the largest distance from track to surface.
    """
    down = fall_line(motion)
    across = np.array((-down[1], down[0], 0.0))
    way, side = motion.position @ down, motion.position @ across
    heading = motion.position[-1] - motion.position[0]
    reach = AHEAD * heading / max(np.linalg.norm(heading), 1e-9)
    low_way = way.min() - MARGIN + min(reach @ down, 0.0)
    high_way = way.max() + MARGIN + max(reach @ down, 0.0)
    low_side = side.min() - MARGIN + min(reach @ across, 0.0)
    high_side = side.max() + MARGIN + max(reach @ across, 0.0)
    rows = _lines(low_way, high_way, STEP)
    # Where the steepness changes, the grid has to follow the height closely.
    if np.ptp(motion.normal[:, 2]) > 1e-9:
        rows = np.union1d(rows, _lines(way.min(), way.max(), 0.25))
    columns = _lines(low_side, high_side, LANE)
    heights = profile(motion, rows)
    grid = rows[:, None, None] * down + columns[None, :, None] * across
    grid[..., 2] = heights[:, None]
    m, n = len(rows), len(columns)
    index = np.arange(m * n).reshape(m, n)
    faces = np.stack(
        (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]), axis=-1
    ).reshape(-1, 4)
    lane = np.floor(0.5 * (columns[1:] + columns[:-1]) / LANE).astype(int)
    step = np.floor(0.5 * (rows[1:] + rows[:-1]) / STEP).astype(int)
    shades = (lane[None, :] + 2 * (step[:, None] % 2)) % len(SNOW)
    error = np.abs(np.interp(way, rows, heights) - motion.position[:, 2]) * motion.normal[:, 2]
    return grid.reshape(-1, 3), faces, shades.ravel(), float(error.max())


def _lines(low: float, high: float, step: float) -> np.ndarray:
    """Multiples of a step that cover a range."""
    return step * np.arange(np.floor(low / step), np.ceil(high / step) + 1)
