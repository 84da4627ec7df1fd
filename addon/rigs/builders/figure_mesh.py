# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces as Blender meshes with materials and vertex groups."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from .skeleton import Skeleton
from .surfaces import Surface

# part -> (label, metallic, roughness); the order of the material slots.
PARTS = {
    "suit": ("Jacket", 0.0, 0.6),
    "trousers": ("Trousers", 0.0, 0.7),
    "helmet": ("Helmet", 0.0, 0.25),
    "skin": ("Skin", 0.0, 0.5),
    "trim": ("Trim", 0.0, 0.45),
    "gloves": ("Gloves", 0.0, 0.6),
    "boots": ("Boots", 0.0, 0.35),
    "goggles": ("Goggles", 0.0, 0.4),
    "lens": ("Lens", 0.6, 0.12),
    "equipment": ("Equipment", 0.0, 0.3),
    "edge": ("Edges", 0.8, 0.35),
    "base": ("Fittings", 0.0, 0.5),
    "coat": ("Coat", 0.0, 0.55),
    "hair": ("Hair", 0.0, 0.5),
    "hooves": ("Hooves", 0.0, 0.4),
    "snout": ("Nose", 0.0, 0.3),
    "shell": ("Shell", 0.15, 0.25),
    "limbs": ("Legs", 0.1, 0.35),
    "eyes": ("Eyes", 0.0, 0.12),
    "paint": ("Paint", 0.1, 0.3),
    "metal": ("Metal", 0.3, 0.35),
    "fittings": ("Rubber", 0.0, 0.7),
    "reflector": ("Reflector", 0.2, 0.25),
    "bulb": ("Bulb", 0.0, 0.1),
    "windows": ("Windows", 0.0, 0.05),
    "seats": ("Seats", 0.0, 0.8),
    "lamps": ("Headlights", 0.0, 0.1),
    "rear_lamps": ("Tail Lights", 0.0, 0.1),
    "tyres": ("Tyres", 0.0, 0.8),
    "rims": ("Rims", 0.8, 0.25),
}

# part -> linear RGB.
COLOURS = {
    "suit": (0.70, 0.075, 0.035),
    "trousers": (0.035, 0.060, 0.130),
    "helmet": (0.80, 0.80, 0.78),
    "skin": (0.60, 0.36, 0.25),
    "trim": (0.90, 0.42, 0.03),
    "gloves": (0.030, 0.034, 0.045),
    "boots": (0.33, 0.35, 0.38),
    "goggles": (0.035, 0.035, 0.045),
    "lens": (0.10, 0.28, 0.38),
    "equipment": (0.020, 0.300, 0.480),
    "edge": (0.22, 0.23, 0.25),
    "base": (0.045, 0.048, 0.055),
    "coat": (0.240, 0.085, 0.030),
    "hair": (0.030, 0.018, 0.012),
    "hooves": (0.060, 0.045, 0.035),
    "snout": (0.018, 0.016, 0.016),
    "shell": (0.240, 0.030, 0.016),
    "limbs": (0.050, 0.016, 0.012),
    "eyes": (0.008, 0.007, 0.007),
    "metal": (0.480, 0.490, 0.510),
    "fittings": (0.020, 0.020, 0.022),
    "reflector": (0.860, 0.850, 0.800),
    "bulb": (1.000, 0.860, 0.420),
    "paint": (0.560, 0.035, 0.025),
    "windows": (0.060, 0.100, 0.120),
    "seats": (0.130, 0.115, 0.100),
    "lamps": (0.850, 0.870, 0.850),
    "rear_lamps": (0.450, 0.010, 0.012),
    "tyres": (0.014, 0.014, 0.015),
    "rims": (0.500, 0.510, 0.530),
}

# part -> opacity of what one sees through.
OPACITY = {"windows": 0.45}


# How many surfaces are remembered: a crowd is of few builds.
MOST_SURFACES = 16
_surfaces: OrderedDict[bytes, Surface] = OrderedDict()


def figure_surfaces(
    skeleton: Skeleton, parts: Sequence[str] = ("Body", "Equipment")
) -> dict[str, Surface]:
    """Body and equipment of a skeleton.

    Most of the time it takes to add a figure goes into modelling them, so those
    of the last figures are remembered.

    Args:
        skeleton: what `build_skeleton` made; a body fits standard proportions only.
        parts: which of the two.
    """
    build = skeleton.build
    makers = {"Body": build.body, "Equipment": build.equipment}
    # The kind stands for its build, whose functions cannot be compared.
    told = replace(skeleton, build=None)
    found = {}
    for part in parts:
        if makers[part] is None:
            continue
        key = pickle.dumps((part, told))
        if key not in _surfaces:
            _surfaces[key] = makers[part](skeleton)
        _surfaces.move_to_end(key)
        found[part] = _surfaces[key]
    while len(_surfaces) > MOST_SURFACES:
        _surfaces.popitem(last=False)
    return found


def make_material(part: str, colour) -> bpy.types.Material:
    """A material whose viewport and rendered colour agree.

    Args:
        part: one of PARTS.
        colour: (r, g, b) or (r, g, b, a), linear.
    """
    label, metallic, roughness = PARTS[part]
    material = bpy.data.materials.new(label)
    material["poise_part"] = part
    opacity = OPACITY.get(part, 1.0)
    colour = (*tuple(colour)[:3], opacity)
    material.diffuse_color = colour
    material.metallic, material.roughness = metallic, roughness
    if material.node_tree is None:
        material.use_nodes = True
    for node in material.node_tree.nodes:
        if node.type == "BSDF_PRINCIPLED":
            node.inputs["Base Color"].default_value = colour
            _follow_viewport_colour(material, node.inputs["Base Color"])
            node.inputs["Metallic"].default_value = metallic
            node.inputs["Roughness"].default_value = roughness
            node.inputs["Alpha"].default_value = opacity
    return material


def _follow_viewport_colour(material: bpy.types.Material, socket: bpy.types.NodeSocket) -> None:
    """Let the rendered colour be the viewport's, so that there is one colour to set."""
    for channel in range(3):
        driver = socket.driver_add("default_value", channel).driver
        driver.type = "SUM"
        target = driver.variables.new().targets[0]
        target.id_type = "MATERIAL"
        target.id = material
        target.data_path = f"diffuse_color[{channel}]"


def make_mesh_object(
    surface: Surface, name: str, materials: Mapping[str, bpy.types.Material], crease: float
) -> bpy.types.Object:
    """A mesh object with vertex groups; linked to no collection.

    Args:
        surface: points, faces, weights.
        name: name of object and data.
        materials: part -> material; only those in use get a slot.
        crease: faces that meet at more than this angle (radians) look sharp.
    """
    mesh = bpy.data.meshes.new(name)
    sizes = np.array([len(face) for face in surface.faces], dtype=np.int32)
    corners = np.concatenate([np.asarray(face, dtype=np.int32) for face in surface.faces])
    mesh.vertices.add(len(surface.points))
    mesh.vertices.foreach_set("co", surface.points.astype(np.float32).ravel())
    mesh.loops.add(len(corners))
    mesh.loops.foreach_set("vertex_index", corners)
    mesh.polygons.add(len(sizes))
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
    mesh.polygons.foreach_set("loop_start", starts)
    used = [part for part in PARTS if part in set(surface.materials)]
    slot = {part: i for i, part in enumerate(used)}
    mesh.polygons.foreach_set(
        "material_index", np.array([slot[part] for part in surface.materials], dtype=np.int32)
    )
    mesh.polygons.foreach_set("use_smooth", np.array(surface.smooth, dtype=bool))
    for part in used:
        mesh.materials.append(materials[part])
    mesh.update(calc_edges=True)
    mesh.set_sharp_from_angle(angle=crease)
    mesh.validate()
    obj = bpy.data.objects.new(name, mesh)
    set_weights(obj, surface.bones, surface.weights)
    return obj


def set_weights(obj: bpy.types.Object, bones, weights: np.ndarray) -> None:
    """Write vertex groups, at most four a vertex, which sum to one.

    Args:
        obj: mesh object.
        bones: names of the columns.
        weights: (v, len(bones)).
    """
    kept = np.where(weights >= 0.005, weights, 0.0)
    if kept.shape[1] > 4:
        small = np.argsort(kept, axis=1, kind="stable")[:, :-4]
        np.put_along_axis(kept, small, 0.0, axis=1)
    kept = (kept / kept.sum(axis=1, keepdims=True)).astype(np.float32)
    kept[kept > 0.9999] = 1.0
    for bone, column in zip(bones, kept.T, strict=True):
        group = obj.vertex_groups.get(bone) or obj.vertex_groups.new(name=bone)
        # All that have the same weight at once: a call for each takes longer than the modelling.
        order = np.argsort(column, kind="stable")
        values, starts = np.unique(column[order], return_index=True)
        for value, vertices in zip(values, np.split(order, starts[1:]), strict=True):
            if value > 0.0:
                group.add(vertices.tolist(), float(value), "REPLACE")
