# SPDX-License-Identifier: GPL-3.0-or-later
"""Demo scenes of controllers."""

from __future__ import annotations

import tempfile
from pathlib import Path

import scenes

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
    import look

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
    import look

    look.floor(scene)
    look.set_sun(scene, -0.6)
    scene.frame_set(1)
    look.camera(
        scene, (-0.9 * size, -6.2 * size, 1.9 + 0.6 * (size - 1.0)),
        (0.0, 0.4 * (size - 1.0), 1.12), 45.0,
    )


SCENES = {scene.__name__: scene for scene in (pendulum, pendulums, parking)}
