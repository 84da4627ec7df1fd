# SPDX-License-Identifier: GPL-3.0-or-later
"""A street with pavements and two parked cars, to park a car between them."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import bpy
import numpy as np
from mathutils import Matrix

from . import objects

KERB = 0.2  # m, from the kerb to parked cars
HIGH, STONE, WALK = 0.12, 0.18, 2.6  # m: height of a kerb, width of its stone and of the pavement
START = (-6.0, 3.6)  # m, where the car stands in it
ENDS = (-13.9, 12.7)  # m, from the middle of the gap

ASPHALT, PAVEMENT, STONES, LINES = (
    ("Asphalt", (0.080, 0.083, 0.090)), ("Pavement", (0.330, 0.320, 0.300)),
    ("Kerb", (0.520, 0.510, 0.490)), ("Road Marking", (0.800, 0.800, 0.780)),
)


def _slab(x: tuple[float, float], y: tuple[float, float], z: tuple[float, float], face: int):
    points = [(a, b, c) for c in z for b in y for a in x]
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return points, quads, [face] * 6


def _mesh(name: str, parts, materials, unit_scale: float) -> bpy.types.Object:
    points: list = []
    faces: list = []
    shades: list = []
    for own, quads, slots in parts:
        faces += [tuple(i + len(points) for i in quad) for quad in quads]
        points += [tuple(v / unit_scale for v in point) for point in own]
        shades += slots
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    for label, colour in materials:
        mesh.materials.append(objects.plain_material(label, colour))
    mesh.polygons.foreach_set("material_index", np.array(shades, dtype=np.int32))
    mesh.update()
    return bpy.data.objects.new(name, mesh)


def add(
    context: bpy.types.Context, motion: bpy.types.Object, cars: Sequence[bpy.types.Object],
    size: tuple[float, float], place: np.ndarray, gap: float, width: float, unit_scale: float,
) -> tuple[bpy.types.Object, bpy.types.Collection]:
    """Make a street around a car.

    Args:
        context: any context.
        motion: the Motion object of the car.
        cars: two that are parked, facing -Y.
        size: m, their length and width.
        place: (3,) x, y, heading of its root in the world, m.
        gap: m, between the parked cars.
        width: m, from kerb to kerb.
        unit_scale: metres per Blender unit.

    Returns:
        The street's mesh; the collection of parked cars.
    """
    home = bpy.data.collections.new(f"{motion.name} Street")
    context.scene.collection.children.link(home)
    parked = bpy.data.collections.new(f"{motion.name} Parked Cars")
    home.children.link(parked)
    (length, wide), (low, high) = size, ENDS
    middle = 0.5 * width + 0.55
    road = [_slab(ENDS, (0.0, width), (-0.05, 0.0), 0)]
    dashes = [
        _slab((x, x + 1.6), (middle - 0.06, middle + 0.06), (0.0, 0.004), 1)
        for x in np.arange(low + 0.8, high - 1.6, 3.6)
    ]
    street = _mesh("Street", road, (ASPHALT,), unit_scale)
    marks = _mesh("Road Markings", dashes, (ASPHALT, LINES), unit_scale)
    walks = []
    for edge, away in ((0.0, -1.0), (width, 1.0)):
        stone = sorted((edge, edge + away * STONE))
        walk = sorted((edge + away * STONE, edge + away * WALK))
        walks += [_slab(ENDS, tuple(stone), (-0.05, HIGH), 0),
                  _slab(ENDS, tuple(walk), (-0.05, HIGH - 0.004), 1)]
    pavement = _mesh("Pavement", walks, (STONES, PAVEMENT), unit_scale)
    x, y, heading = place
    frame = Matrix.Translation((x / unit_scale, y / unit_scale, 0.0)) @ Matrix.Rotation(
        heading, 4, "Z"
    ) @ Matrix.Translation((-START[0] / unit_scale, -START[1] / unit_scale, 0.0))
    height = motion.poise_motion.character.matrix_world.translation.z
    frame.translation.z = height
    for obj in (street, marks, pavement):
        home.objects.link(obj)
        obj.matrix_world = frame
    for obj, sign in zip(cars, (-1.0, 1.0), strict=True):
        at = (sign * 0.5 * (gap + length), KERB + 0.5 * wide, 0.0)
        obj.matrix_world = frame @ Matrix.Translation([v / unit_scale for v in at]) @ (
            Matrix.Rotation(0.5 * pi, 4, "Z")
        )
        parked.objects.link(obj)
    context.view_layer.update()
    return street, parked
