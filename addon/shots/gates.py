# SPDX-License-Identifier: GPL-3.0-or-later
"""Gates: Empties with a pole to each side."""

from __future__ import annotations

import bpy
import numpy as np

from ..scene import course
from . import objects

# A slalom pole, metres.
HEIGHT = 1.8
SIDES = 12

COLOURS = (("Gate Red", (0.70, 0.03, 0.03)), ("Gate Blue", (0.03, 0.10, 0.60)))

_MESH_KEY = "poise_gate_pole"


def collection_of(scene: bpy.types.Scene, motion: bpy.types.Object) -> bpy.types.Collection:
    """The collection of a motion's gates, made if there is none.

    Args:
        scene: the operator's scene.
        motion: the Motion object.
    """
    path = motion.poise_motion.path
    if path.gates is not None and path.gates.library is None:
        if path.gates not in scene.collection.children_recursive:
            scene.collection.children.link(path.gates)
        return path.gates
    collection = bpy.data.collections.new(f"{motion.name} Gates")
    scene.collection.children.link(collection)
    path.gates = collection
    return collection


def add(
    collection: bpy.types.Collection,
    place: np.ndarray,
    yaw: float,
    width: float,
    number: int,
    unit_scale: float,
) -> bpy.types.Object:
    """Make a gate.

    Args:
        collection: where it is linked.
        place: its middle on the ground, Blender units.
        yaw: direction in which it is passed, 0 along -Y, radians.
        width: between its poles, Blender units.
        number: place in the order of gates.
        unit_scale: metres per Blender unit.
    """
    gate = bpy.data.objects.new("Gate", None)
    gate.empty_display_type = "SINGLE_ARROW"
    gate.empty_display_size = 1.0 / unit_scale
    gate.location = place
    gate.rotation_euler = (0.0, 0.0, yaw)
    collection.objects.link(gate)
    mesh = _pole(COLOURS[(number + 1) % 2], unit_scale)
    for side in ("L", "R"):
        pole = bpy.data.objects.new(f"{gate.name} Pole {side}", mesh)
        pole.parent = gate
        collection.objects.link(pole)
    settings = gate.poise_gate
    settings.is_gate, settings.number = True, number
    settings.width = width  # puts the poles in their places
    return gate


def remove_all(collection: bpy.types.Collection) -> int:
    """Remove all gates of a collection.

    Args:
        collection: the gates; other objects stay.

    Returns:
        How many were removed.
    """
    found = course.gates_of(collection)
    for gate in found:
        objects.remove(gate)
    return len(found)


def _pole(colour: tuple[str, tuple[float, float, float]], unit_scale: float) -> bpy.types.Mesh:
    """The mesh of a pole, shared by all of its colour and size."""
    name, rgb = colour
    for mesh in bpy.data.meshes:
        if mesh.library is None and mesh.get(_MESH_KEY) == f"{name} {unit_scale:.9g}":
            return mesh
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    ring = course.POLE_RADIUS * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    points = [(x, y, z) for z in (0.0, HEIGHT) for x, y in ring.tolist()]
    faces = [(i, (i + 1) % SIDES, SIDES + (i + 1) % SIDES, SIDES + i) for i in range(SIDES)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(
        (np.array(points) / unit_scale).tolist(), [], [*faces, tuple(range(SIDES, 2 * SIDES))]
    )
    mesh.materials.append(objects.plain_material(name, rgb, 0.5))
    mesh[_MESH_KEY] = f"{name} {unit_scale:.9g}"
    return mesh
