# SPDX-License-Identifier: GPL-3.0-or-later
"""Demo scenes of controllers."""

from __future__ import annotations

import tempfile
from pathlib import Path

import look
import numpy as np
import scenes
from lamp_scenes import block

SCRIPT = """state link -135,350           # starting state
swapcon link conB.ctab       # invoke controller B
sim 0.4                       # simulate 0.4 seconds
swapcon link conA.ctab
sim 0.7
swapcon link conD.ctab
sim 0.6
swapcon link conE.ctab
sim 0.4
swapcon link conC.ctab
sim 0.4
swapcon link conF.ctab
sim 0.7
"""
"""Van de Panne, Fiume and Vranesic (1990), Figure 15."""

SECONDS = 3.2


def pendulum():
    """A pendulum that follows a script of six controllers."""
    import bpy

    scene = scenes.start_scene(SECONDS)
    rig = added()
    rig.poise.settings.frame_end = scene.frame_end
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.txt"
        path.write_text(SCRIPT, encoding="utf-8")
        bpy.ops.poise.script_import(filepath=str(path))
    bpy.ops.poise.controller_build()
    bpy.ops.poise.bake()
    stage(scene)
    scenes.activate(rig)
    return [rig]


def pendulums():
    """Six pendulums, each with a controller of its own, from the same start."""
    import bpy

    scene = scenes.start_scene(4.0)
    rigs = []
    for k, name in enumerate("ABCDEF"):
        scene.cursor.location = (2.6 * (k % 3) - 2.6, 1.6 * (k // 3), 0.0)
        rig = added()
        rig.poise.settings.frame_end = scene.frame_end
        bpy.ops.poise.controller_add(library=name)
        bpy.ops.poise.script_add(seconds=10.0)
        rig.pose.bones["rod"].rotation_euler.x = -1.5708  # hanging
        bpy.ops.poise.start_set()
        bpy.ops.poise.controller_build()
        bpy.ops.poise.bake()
        rigs.append(rig)
    scene.cursor.location = (0.0, 0.0, 0.0)
    stage(scene, 3.0)
    return rigs


def parking():
    """A car that parks between two others at the kerb."""
    import bpy

    scene = scenes.start_scene(17.0)
    rig = added("CAR")
    bpy.ops.poise.street_add()
    rig.poise.settings.frame_end = scene.frame_end
    bpy.ops.poise.controller_build()
    bpy.ops.poise.bake()
    look.floor(scene)
    look.set_sun(scene, -0.9)
    scene.frame_set(1)
    look.camera(scene, (8.2, 1.2, 5.2), (-1.7, -6.2, 0.2), 34.0)
    scenes.activate(rig)
    return [rig]


def contacts():
    """A chain of three links that falls past a step, against a wall, and comes to lie there."""
    import bpy
    from mathutils import Vector

    scene = scenes.start_scene(2.5)
    things = bpy.data.collections.new("Obstacles")
    scene.collection.children.link(things)
    stone, side = (0.55, 0.60, 0.68), (-0.3, 0.3)
    block(things, "Step", (0.75, 1.2), side, (0.0, 0.3), stone)
    block(things, "Wall", (1.8, 1.95), side, (0.0, 1.3), stone)
    rig = chain(scene, (1.0, 0.8, 0.5), Vector((0.0, 0.0, 0.9)), np.radians((60.0, -60.0, -60.0)))
    control = rig.poise.motion_object.poise_motion.control
    control.obstacles, control.contacts, control.thickness = things, True, 0.08
    rig.poise.settings.frame_end = scene.frame_end
    bpy.ops.poise.bake()
    stage(scene)
    look.camera(scene, (0.7, -6.4, 1.6), (0.8, 0.0, 1.05), 38.0)
    scenes.activate(rig)
    return [rig]


def chain(scene, lengths, place, angles):
    """A chain of bones with a bar for each, set up as a figure.

    Args:
        scene: the scene.
        lengths: m, of its links.
        place: of its first joint, m.
        angles: rad, of each link against the one before, from +X on.
    """
    import bpy

    data = bpy.data.armatures.new("Chain")
    rig = bpy.data.objects.new("Chain", data)
    rig.location = place
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    above, head = None, np.zeros(3)
    for k, (length, angle) in enumerate(zip(lengths, np.cumsum(angles), strict=True)):
        bone = data.edit_bones.new(f"link{k + 1}")
        bone.head, bone.tail = head, head + length * np.array((np.cos(angle), 0.0, np.sin(angle)))
        bone.parent, bone.use_connect, above = above, above is not None, bone
        bone.align_roll((0.0, -1.0, 0.0))
        head = np.array(bone.tail)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.poise.figure_setup()
    bpy.ops.object.mode_set(mode="OBJECT")
    for k, length in enumerate(lengths):
        bar = capsule(f"Bar {k + 1}", length, 0.04, scenes.SUITS[k])
        scene.collection.objects.link(bar)
        bar.parent, bar.parent_type, bar.parent_bone = rig, "BONE", f"link{k + 1}"
        bar.location.y = -length  # from the bone's tail, along it
    return rig


def capsule(name: str, length: float, radius: float, colour):
    """A round bar along +Y with round ends that go as far beyond as it is thick.

    Args:
        name: of it.
        length: m.
        radius: m.
        colour: RGB.
    """
    import bmesh
    import bpy
    from poise.addon.shots import objects

    mesh, made = bpy.data.meshes.new(name), bmesh.new()
    bmesh.ops.create_uvsphere(made, u_segments=24, v_segments=12, radius=radius)
    for vertex in made.verts:
        x, y, z = vertex.co
        vertex.co = (x, z + (length if z > 1e-6 else 0.0), y)
    made.to_mesh(mesh)
    made.free()
    mesh.materials.append(objects.plain_material(name, colour))
    return bpy.data.objects.new(name, mesh)


def added(kind: str = "PENDULUM"):
    """A new figure at the 3D cursor.

    Args:
        kind: which.
    """
    import bpy

    bpy.ops.poise.character_add(kind=kind)
    return bpy.context.view_layer.objects.active


def stage(scene, size: float = 1.0) -> None:
    """Ground, sky and a camera from the front.

    Args:
        scene: the scene.
        size: how far around there is something to be seen.
    """
    look.floor(scene)
    look.set_sun(scene, -0.6)
    scene.frame_set(1)
    look.camera(
        scene, (-0.9 * size, -6.2 * size, 1.9 + 0.6 * (size - 1.0)),
        (0.0, 0.4 * (size - 1.0), 1.12), 45.0,
    )


SCENES = {scene.__name__: scene for scene in (pendulum, pendulums, parking, contacts)}
