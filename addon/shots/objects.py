# SPDX-License-Identifier: GPL-3.0-or-later
"""Helper objects: making, finding again, and removing them with all they own."""

from __future__ import annotations

import bpy


def collection_for(scene: bpy.types.Scene, motion: bpy.types.Object) -> bpy.types.Collection:
    """Where the helper objects of a motion are linked: where the motion is.

    Args:
        scene: the operator's scene.
        motion: the Motion object.
    """
    for collection in motion.users_collection:
        if collection.library is None and collection.override_library is None:
            return collection
    return scene.collection


def in_scene(obj: bpy.types.Object | None, scene: bpy.types.Scene) -> bool:
    """Whether a helper object still stands in the scene (the animator may delete it).

    Args:
        obj: the object, or None.
        scene: the operator's scene.
    """
    return obj is not None and scene in obj.users_scene


def mesh_object(
    existing: bpy.types.Object | None,
    name: str,
    scene: bpy.types.Scene,
    motion: bpy.types.Object,
) -> bpy.types.Object:
    """A mesh object with an empty mesh: the existing one, or a new one.

    Args:
        existing: object of an earlier run, or None.
        name: name for a new one.
        scene: the operator's scene.
        motion: the Motion object it belongs to.
    """
    if existing is not None and existing.type == "MESH" and in_scene(existing, scene):
        existing.data.clear_geometry()
        return existing
    obj = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    collection_for(scene, motion).objects.link(obj)
    return obj


def set_attribute(mesh: bpy.types.Mesh, name: str, values, kind: str = "FLOAT") -> None:
    """Store one number for each vertex as a named attribute.

    Args:
        mesh: the mesh.
        name: name that Geometry Nodes and materials read.
        values: (n,) array, one for each vertex.
        kind: Blender's type of the attribute, "FLOAT", "INT" or "BOOLEAN".
    """
    attribute = mesh.attributes.get(name)
    if attribute is None:
        attribute = mesh.attributes.new(name, kind, "POINT")
    attribute.data.foreach_set("value", values)


def plain_material(
    name: str, colour: tuple[float, float, float], roughness: float = 0.8
) -> bpy.types.Material:
    """A new material that looks alike in Workbench, EEVEE and Cycles.

    Args:
        name: name of the material.
        colour: linear RGB.
        roughness: 0 to 1.
    """
    material = bpy.data.materials.new(name)
    material.diffuse_color = (*colour, 1.0)
    material.roughness = roughness
    if material.node_tree is None:
        material.use_nodes = True
    shader = next(n for n in material.node_tree.nodes if n.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    return material


def remove(obj: bpy.types.Object | None) -> int:
    """Remove a helper object, its children, and what only they used.

    Args:
        obj: the object, or None.

    Returns:
        How many objects were removed.
    """
    if obj is None:
        return 0
    count = sum(remove(child) for child in list(obj.children))
    owned: list[bpy.types.ID] = []
    if obj.animation_data is not None and obj.animation_data.action is not None:
        owned.append(obj.animation_data.action)
    owned += [m.node_group for m in obj.modifiers if m.type == "NODES" and m.node_group]
    data = obj.data
    materials = [m for m in getattr(data, "materials", ()) if m is not None]
    bpy.data.objects.remove(obj)
    for item in ([data] if data is not None else []) + materials + owned:
        if item.users == 0:
            bpy.data.batch_remove([item])
    return count + 1
