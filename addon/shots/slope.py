# SPDX-License-Identifier: GPL-3.0-or-later
"""A slope of groomed snow under a motion.

The surface is level across the fall line and follows the motion's own height
along it, so that it fits under a slope that changes on the way, too. What
makes it look like snow costs no geometry: the ribs of the groomer are faces in
a few pale colours, and the light plays over it as over low drifts, because its
normals are those of drifts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import bpy
import numpy as np
from scipy import ndimage

from ...solvers.motion import TurningMotion
from ...solvers.rotations import normalise
from .. import motions
from ..families.base import Solved
from . import objects

# Lanes side by side as a groomer leaves them, and the ribs in them, metres. Real
# ribs are finer than a movie shows.
LANE = 4.0
RIB = 0.25

# Ribs reach so far to both sides of the track, metres; beyond, a lane has a seam
# and two halves.
NEAR = 12.0

# Rows of faces follow each other at this distance along the fall line, metres,
# and closer where the steepness changes: what is straight between them keeps
# this far to the curve, metres.
STEP = 5.0
LEAST_STEP = 0.25
SAG = 2e-4

# Where a slope would have more faces than this, its ribs are wider, then its lanes,
# too, and its rows farther apart.
MOST_FACES = 60_000

# Drifts that the light shows: how high, and the size along and across the fall
# line of what one sees pass by, metres.
DRIFT = 0.17
DRIFT_SIZE = (8.0, 3.0)

# What EEVEE and Cycles show of the ribs up close: width and depth, metres, and
# how coarse the grains of the snow are against that depth.
CORDUROY = (0.125, 0.007)
GRAIN = 0.6

# How far the slope goes on beyond the track, metres: to all sides, and ahead,
# where it has to reach the horizon of a camera that follows.
MARGIN = 90.0
AHEAD = 220.0

# Linear colours: ribs and furrows of one lane, furrows of the next, whose ribs
# are as bright as the first one's furrows, and the seam between lanes.
SNOW = ((0.900, 0.950, 1.000), (0.852, 0.916, 0.992), (0.804, 0.882, 0.984),
        (0.732, 0.831, 0.972))
SEAM = 3

_KEY = "poise_slope"
_UV = "UVMap"


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
    made = surface(solved.motion)
    existing = motions.own(motion, lambda m: m.get(_KEY))
    if existing is not None and not isinstance(existing, bpy.types.Object):
        existing = None
    ground = objects.mesh_object(existing, f"{motion.name} Slope", scene, motion)
    if ground != existing:
        # Workbench draws faster what casts no shadow; the snow catches shadows all the same.
        ground.display.show_shadows = False
    mesh = ground.data
    scale = 1.0 / solved.job.numbers.unit_scale
    if not mesh.materials:
        for number, colour in enumerate(SNOW):
            mesh.materials.append(_snow(f"Snow {number + 1}", colour, scale))
    mesh.from_pydata((made.vertices * scale).tolist(), [], made.faces.tolist())
    # An animator's own material stays, alone too.
    shades = np.minimum(made.shades, len(mesh.materials) - 1)
    mesh.polygons.foreach_set("material_index", shades.astype(np.int32))
    layer = mesh.uv_layers.get(_UV) or mesh.uv_layers.new(name=_UV)
    layer.data.foreach_set("uv", made.uv[made.faces].astype(np.float32).ravel())
    mesh.normals_split_custom_set_from_vertices(made.normals.tolist())
    mesh.update()
    motion[_KEY] = ground
    return ground, made.gap


def _snow(name: str, colour: tuple[float, float, float], scale: float) -> bpy.types.Material:
    """A material with the fine ribs and the grain that EEVEE and Cycles show up close.

    Args:
        name: name of the material.
        colour: linear RGB.
        scale: Blender units per metre.
    """
    material = objects.plain_material(name, colour)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    place, ribs, grain, height, bump = (
        nodes.new(f"ShaderNode{kind}")
        for kind in ("UVMap", "TexWave", "TexNoise", "Math", "Bump")
    )
    for column, node in enumerate((place, ribs, grain, height, bump)):
        node.location = (220.0 * column - 1150.0, -250.0 if node == grain else 0.0)
    place.uv_map = _UV
    # At scale 1 the wave's bands repeat every pi / 10.
    ribs.inputs["Scale"].default_value = 0.1 * pi / CORDUROY[0]
    grain.inputs["Scale"].default_value = 4.0 / CORDUROY[0]
    height.operation = "MULTIPLY_ADD"
    height.inputs[1].default_value = GRAIN
    bump.inputs["Distance"].default_value = CORDUROY[1] * scale
    for texture in (ribs, grain):
        links.new(place.outputs["UV"], texture.inputs["Vector"])
    links.new(grain.outputs[0], height.inputs[0])
    links.new(ribs.outputs[1], height.inputs[2])
    links.new(height.outputs[0], bump.inputs["Height"])
    links.new(bump.outputs["Normal"], shader.inputs["Normal"])
    return material


@dataclass(frozen=True)
class Surface:
    """A slope as a grid of groomed lanes.

    Attributes:
        vertices: (v, 3) in metres.
        normals: (v, 3) unit vectors at the vertices, those of drifted snow.
        faces: (f, 4) vertices of each face, anticlockwise from above.
        shades: (f,) index of each face's colour in `SNOW`.
        uv: (v, 2) metres across and along the fall line.
        gap: the largest distance from track to surface, metres.
    """

    vertices: np.ndarray
    normals: np.ndarray
    faces: np.ndarray
    shades: np.ndarray
    uv: np.ndarray
    gap: float


def surface(motion: TurningMotion) -> Surface:
    """The slope under a motion.

    Args:
        motion: a solved motion.
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
    # Where the steepness changes, the grid has to follow the height closely.
    bends = np.ptp(motion.normal[:, 2]) > 1e-9
    rib, lane, step = RIB, LANE, STEP
    while True:
        rows, lanes = _lines(low_way, high_way, step), _lines(low_side, high_side, lane)
        if bends:
            rows = np.union1d(rows, _close_rows(motion, way.min(), way.max(), step))
        columns = np.unique((
            *lanes, *(lanes + rib)[:-1], *(lanes + 0.5 * lane)[:-1],
            *_lines(side.min() - NEAR, side.max() + NEAR, rib),
        ))
        if len(rows) * len(columns) <= MOST_FACES:
            break
        rib *= 2.0
        lane = max(LANE, 4.0 * rib)
        step = STEP * lane / LANE
    heights = profile(motion, rows)
    grid = rows[:, None, None] * down + columns[None, :, None] * across
    grid[..., 2] = heights[:, None]
    along_way, along_side = _drift_slopes(rows, columns)
    along_way = along_way + np.gradient(heights, rows)[:, None]
    normals = np.array((0.0, 0.0, 1.0)) - along_way[..., None] * down
    normals = normalise(normals - along_side[..., None] * across)
    m, n = len(rows), len(columns)
    index = np.arange(m * n).reshape(m, n)
    faces = np.stack(
        (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]), axis=-1
    ).reshape(-1, 4)
    error = np.abs(np.interp(way, rows, heights) - motion.position[:, 2]) * motion.normal[:, 2]
    return Surface(
        vertices=grid.reshape(-1, 3),
        normals=normals.reshape(-1, 3),
        faces=faces,
        shades=np.tile(groomed(columns, rib, lane), m - 1),
        uv=np.stack(np.meshgrid(columns, rows), axis=-1).reshape(-1, 2),
        gap=float(error.max()),
    )


def groomed(columns: np.ndarray, rib: float = RIB, lane: float = LANE) -> np.ndarray:
    """Shades of groomed snow across the fall line.

    Args:
        columns: (k + 1,) lines along the fall line, metres from the world's origin.
        rib: width of a rib, metres.
        lane: width of a lane, metres.

    Returns:
        (k,) indices in `SNOW` of the snow between the lines.
    """
    middle, width = 0.5 * (columns[1:] + columns[:-1]), np.diff(columns)
    which = np.floor(middle / lane).astype(int)
    within = middle - lane * which
    number = np.floor(within / np.where(width > 1.5 * rib, 0.5 * lane, rib)).astype(int)
    return np.where(within < rib, SEAM, number % 2 + which % 2)


def _drift_slopes(rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes (m, n) of drifts along and across the fall line; the same at the same place."""
    scatter = np.random.default_rng(7).uniform(-0.5, 0.5, (64, 64))

    def height(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        places = np.stack(np.meshgrid(u / DRIFT_SIZE[0], v / DRIFT_SIZE[1], indexing="ij"))
        return DRIFT * sum(
            ndimage.map_coordinates(scatter, octave * places, mode="grid-wrap") / octave
            for octave in (1.0, 2.0)
        )

    near = 0.01
    return (
        (height(rows + near, columns) - height(rows - near, columns)) / (2.0 * near),
        (height(rows, columns + near) - height(rows, columns - near)) / (2.0 * near),
    )


def _close_rows(
    motion: TurningMotion, low: float, high: float, farthest: float
) -> np.ndarray:
    """Places along the fall line between which the height is straight enough.

    A chord of length s sags by s^2 |h''| / 8 under a curve of height h.
    """
    least = LEAST_STEP * farthest / STEP
    fine = _lines(low - least, high + least, least)
    bend = np.abs(np.gradient(np.gradient(profile(motion, fine), fine), fine))
    step = np.clip(np.sqrt(8.0 * SAG / np.maximum(bend, 1e-12)), least, farthest)
    count = np.concatenate(([0.0], np.cumsum(least / step[1:])))
    return np.interp(np.arange(np.ceil(count[-1])), count, fine)


def _lines(low: float, high: float, step: float) -> np.ndarray:
    """Multiples of a step that cover a range."""
    return step * np.arange(np.floor(low / step), np.ceil(high / step) + 1)
