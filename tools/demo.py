# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job from end to end: a skier turns down a hill, from nothing to a movie.

Installs the built extension in a Blender without a window, adds a skier with
the operators that the sidebar has, sets its turns, bakes them, renders. Leaves
under out/: skier.mp4, skier.png (moments of the movie) and skier.blend.
"""

from __future__ import annotations

import argparse
import sys
import time
from math import degrees, radians
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import installed

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out"
FPS = 24
SECONDS = 6


def make_scene():
    """Add the skier, set how it turns, bake, and put a hill and a camera there.

    Returns:
        The skier's armature object.
    """
    import bpy

    scene = installed.new_file()
    scene.render.fps = FPS
    scene.frame_start, scene.frame_end = 1, FPS * SECONDS + 1
    bpy.ops.poise.character_add(kind="SKIER")
    rig = bpy.context.active_object
    turns = rig.poise.turns
    turns.speed = 9.0
    turns.frequency = 0.4
    turns.sharpness = radians(32.0)
    turns.slope = radians(14.0)
    rig.poise.settings.range_mode = "SCENE"
    bpy.ops.poise.slope_add()
    bpy.ops.poise.bake()
    bpy.ops.poise.trail_add()
    bpy.ops.poise.chase_camera_add(figure_share=0.4)
    # What a render of the saved file takes; the playblast has a look of its own.
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x, scene.render.resolution_y = 960, 540
    return rig


def describe(rig) -> str:
    """What the baked skier does, read from the evaluated rig.

    Args:
        rig: the skier's armature object.

    Returns:
        One line with how far it got and how far it leant.
    """
    import bpy
    from mathutils import Vector

    scene = bpy.context.scene
    places = []
    for frame in (scene.frame_start, scene.frame_end):
        scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places.append(evaluated.matrix_world @ evaluated.pose.bones["pelvis"].head)
    way: Vector = places[1] - places[0]
    turns = rig.poise.turns
    return (
        f"{rig.name}: {way.xy.length:.1f} m along and {-way.z:.1f} m down in {SECONDS} s, "
        f"{turns.frequency * SECONDS:.1f} pairs of turns, leaning up to "
        f"{degrees(turns.sharpness):.0f} degrees"
    )


def main() -> None:
    """Do the main job and say what came out."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--no-movie", action="store_true", help="no movie, only moments of it")
    arguments = parser.parse_args()
    started = time.perf_counter()
    installed.start()
    import bpy

    OUT.mkdir(exist_ok=True)
    for old in OUT.glob("skier.*"):
        old.unlink()
    rig = make_scene()
    scene = bpy.context.scene
    print(describe(rig))
    scene.frame_set(scene.frame_start)
    bpy.ops.wm.save_as_mainfile(filepath=str(OUT / "skier.blend"), compress=True)
    bpy.ops.poise.playblast(
        filepath=str(OUT / "skier.mp4"),
        percentage=100.0,
        contact_sheet=True,
        movie=not arguments.no_movie,
    )
    for path in sorted(OUT.glob("skier.*")):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 2**20:.2f} MiB")
    print(f"Blender {bpy.app.version_string}, {time.perf_counter() - started:.0f} s in all")


if __name__ == "__main__":
    main()
