# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job from end to end: a skier turns down a hill, from nothing to a movie.

Installs the built extension in a Blender without a window, adds a skier with
the operators that the sidebar has, sets its turns, bakes them, renders. Leaves
under out/: skier.mp4, skier-sheet.png (moments of the movie) and skier.blend.
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
    bpy.ops.poise.chase_camera_add()
    return rig


def set_look(scene) -> None:
    """Sun, snow and sky in Workbench, at a size that renders in a minute.

    Args:
        scene: the scene to render.
    """
    import bpy

    render = scene.render
    render.engine = "BLENDER_WORKBENCH"
    render.resolution_x, render.resolution_y, render.resolution_percentage = 960, 540, 100
    shading = scene.display.shading
    shading.light = "STUDIO"
    shading.color_type = "MATERIAL"
    shading.show_shadows = True
    shading.shadow_intensity = 0.45
    shading.show_cavity = True
    shading.cavity_type = "BOTH"
    scene.display.light_direction = (0.45, 0.35, 0.82)
    scene.display.shadow_focus = 0.4
    scene.display.render_aa = "8"
    world = scene.world or bpy.data.worlds.new("Sky")
    world.color = (0.42, 0.62, 0.86)
    scene.world = world
    shading.background_type = "WORLD"


def render_movie(scene, path: Path) -> None:
    """Render the frame range to an H.264 movie.

    Args:
        scene: the scene to render.
        path: the movie's file.
    """
    import bpy

    settings = scene.render.image_settings
    if hasattr(settings, "media_type"):
        settings.media_type = "VIDEO"
    settings.file_format = "FFMPEG"
    scene.render.ffmpeg.format = "MPEG4"
    scene.render.ffmpeg.codec = "H264"
    scene.render.ffmpeg.constant_rate_factor = "HIGH"
    scene.render.filepath = str(path)
    bpy.ops.render.render(animation=True)


def render_sheet(scene, path: Path, columns: int = 3, rows: int = 3) -> None:
    """Render moments of the movie and lay them out on one picture.

    Args:
        scene: the scene to render.
        path: the picture's file.
        columns: pictures in a row.
        rows: rows of pictures.
    """
    import bpy
    from PIL import Image

    settings = scene.render.image_settings
    if hasattr(settings, "media_type"):
        settings.media_type = "IMAGE"
    settings.file_format = "PNG"
    scene.render.resolution_percentage = 50
    last = columns * rows - 1
    sheet = None
    for i in range(last + 1):
        moment = OUT / "moment.png"
        span = scene.frame_end - scene.frame_start
        scene.frame_set(round(scene.frame_start + span * i / last))
        scene.render.filepath = str(moment)
        bpy.ops.render.render(write_still=True)
        picture = Image.open(moment).convert("RGB")
        sheet = sheet or Image.new("RGB", (picture.width * columns, picture.height * rows))
        sheet.paste(picture, (picture.width * (i % columns), picture.height * (i // columns)))
        moment.unlink()
    sheet.save(path)
    scene.render.resolution_percentage = 100


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
    parser.add_argument("--no-movie", action="store_true", help="only bake, save and the sheet")
    arguments = parser.parse_args()
    started = time.perf_counter()
    installed.start()
    import bpy

    OUT.mkdir(exist_ok=True)
    rig = make_scene()
    scene = bpy.context.scene
    set_look(scene)
    print(describe(rig))
    scene.frame_set(scene.frame_start)
    bpy.ops.wm.save_as_mainfile(filepath=str(OUT / "skier.blend"), compress=True)
    render_sheet(scene, OUT / "skier-sheet.png")
    if not arguments.no_movie:
        render_movie(scene, OUT / "skier.mp4")
    for path in sorted(OUT.glob("skier*")):
        if not path.name.endswith("1"):
            print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 2**20:.2f} MiB")
    print(f"Blender {bpy.app.version_string}, {time.perf_counter() - started:.0f} s in all")


if __name__ == "__main__":
    main()
