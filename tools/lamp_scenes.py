# SPDX-License-Identifier: GPL-3.0-or-later
"""Demo scene of the jumping lamp."""

from __future__ import annotations

from math import isfinite

import numpy as np
import scenes

PROGRAMS = (("Jump", 0.45), ("Back Flip", 0.0), ("Flip Down a Step", 0.0),
            ("Double Back Flip", 0.0), ("Stand", 0.0))
SECONDS = 8.5
WOOD, CLOTH, WALL = (0.46, 0.25, 0.11), (0.16, 0.30, 0.34), (0.72, 0.76, 0.74)


def luxo():
    """A lamp that hops along a shelf, flips back over, down to the table, and twice on it."""
    import bpy

    scene = scenes.start_scene(SECONDS)
    bpy.ops.poise.character_add(kind="LUXO")
    rig = bpy.context.view_layer.objects.active
    rig.show_in_front = False
    settings = rig.poise.settings
    settings.frame_end = scene.frame_end
    for name, length in PROGRAMS:
        bpy.ops.poise.controller_add(library=name)
        item = rig.poise.controllers[-1]
        if length:
            item.amount = length
        bpy.ops.poise.script_add(seconds=0.1)
    bpy.ops.poise.bake()
    stage(scene, rig)
    scenes.activate(rig)
    return [rig]


def stage(scene, rig) -> None:
    """Table, shelf, wall and a camera from the side.

    Args:
        scene: the scene.
        rig: the lamp.
    """
    import look

    played = scenes.solve(rig).motion.ran.more
    edge, rise = next(step for step in played.ground if isfinite(step[0]))
    block(scene.collection, "Shelf", (-0.45, 0.5), (-1.6, -edge), (-rise, 0.0), WOOD)
    block(scene.collection, "Table", (-1.2, 0.7), (-3.0, 3.0), (-rise - 0.06, -rise), CLOTH)
    block(scene.collection, "Wall", (0.7, 0.75), (-6.0, 6.0), (-2.0, 4.0), WALL)
    look.set_sun(scene, 1.2)
    scene.frame_set(1)
    look.camera(scene, (-2.5, -0.15, 0.65), (0.0, 0.24, 0.26), 38.0)


def block(home, name: str, x, y, z, colour) -> None:
    """A box between corners.

    Args:
        home: the collection that it is put in.
        name: of the object.
        x: (2,) m.
        y: (2,) m.
        z: (2,) m.
        colour: linear RGB.
    """
    import bpy
    from poise.addon.shots import objects

    corners = np.array([(a, b, c) for a in x for b in y for c in z])
    faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners.tolist(), [], faces)
    mesh.materials.append(objects.plain_material(name, colour))
    home.objects.link(bpy.data.objects.new(name, mesh))


SCENES = {scene.__name__: scene for scene in (luxo,)}
