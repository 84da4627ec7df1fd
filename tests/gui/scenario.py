# SPDX-License-Identifier: GPL-3.0-or-later
"""What the window test does, inside Blender: blender -P scenario.py -- FOLDER ZIP."""

import subprocess
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, play, until

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])
PACKAGE = "bl_ext.user_default.poise"


def rig():
    """The character, looked up anew: undo and loading give every object a new identity."""
    found = [o for o in bpy.data.objects if o.type == "ARMATURE" and o.poise.kind == "SKIER"]
    return found[0] if found else None


def keys() -> dict:
    """Every key of the character's action: {(channel, index): (frames and values)}."""
    character = rig()
    data = character.animation_data if character else None
    if not data or not data.action:
        return {}
    curves = {}
    for layer in data.action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(data.action_slot)
            for curve in bag.fcurves if bag else ():
                values = [0.0] * (2 * len(curve.keyframe_points))
                curve.keyframe_points.foreach_get("co", values)
                curves[curve.data_path, curve.array_index] = tuple(values)
    return curves


def pelvis() -> tuple:
    """Where the pelvis is in the world, as drawn."""
    character = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
    bone = next(bone for bone in character.pose.bones if "pelvis" in bone.name.lower())
    return tuple(character.matrix_world @ bone.head)


def different(first: Path, second: Path) -> int:
    """How many pixels of the viewport differ between two pictures."""
    part = "940x720+60+100"  # no sidebar, no last operation, no other editors
    result = subprocess.run(
        ["compare", "-metric", "AE", "-fuzz", "8%", "-extract", part, str(first), str(second),
         "null:"],
        capture_output=True, text=True,
    )
    return int(float(result.stderr.split()[0]))


def copies(window, report):
    """A second character like the first, and settings copied from it to the first."""
    original = rig()
    found = yield from window.click_button("poise.character_duplicate", part=0.75)

    def copy():
        active = bpy.context.active_object
        return active if active != original and active.poise.kind == "SKIER" else None

    yield from until(copy, 20)
    second = copy()
    own = second is not None and second.poise.motion_object not in (
        None, original.poise.motion_object)
    report.check("Duplicate Character adds one with a motion of its own", found and own,
                 [obj.name for obj in bpy.data.objects if obj.type == "ARMATURE"])
    second.poise.turns.sharpness = 0.3
    original.select_set(True)
    found = yield from window.click_button("poise.settings_copy", part=0.826)
    yield from until(lambda: abs(original.poise.turns.sharpness - 0.3) < 1e-6, 10)
    report.check("Copy Settings to Selected copies them to the other character",
                 found and abs(original.poise.turns.sharpness - 0.3) < 1e-6,
                 original.poise.turns.sharpness)
    yield from window.picture("copied", window.centre())


def scenario(report):
    window = Window(FOLDER)
    bpy.ops.extensions.package_install_files(
        filepath=str(ZIP), repo="user_default", enable_on_install=True
    )
    enabled = PACKAGE in bpy.context.preferences.addons
    report.check("the zip installs and is enabled", enabled)
    yield 1.0

    # An empty scene: away with the cube, camera and light.
    yield from window.move(*window.centre())
    yield from window.press("A")
    yield from window.press("DEL")
    yield 0.3

    yield from window.open_sidebar()
    shown = window.area.spaces.active.show_region_ui
    report.check("N opens the sidebar", shown)
    yield from window.choose_tab("Poise")
    tab = window.sidebar.active_panel_category
    report.check("the Poise tab comes to the front", tab == "Poise", tab)
    yield from window.picture("empty-scene")

    window.begin_way()
    found = yield from window.click_button("bpy.ops.poise.character_add")
    yield from window.choose("skier")
    added = yield from until(lambda: rig() is not None, 20)
    way = window.end_way()
    report.check("Add Skier adds a skier", found and added, [o.name for o in bpy.data.objects])
    active = bpy.context.active_object
    chosen = active == rig() and active.select_get()
    report.check("the skier is selected and active", chosen, active)
    yield from window.move(*window.centre())
    yield from window.press("HOME")
    yield 1.0
    drawn = yield from window.picture("skier-added")

    # The track and the ghost are there when asked for, and only then.
    at = yield from window.find("show_preview")
    yield from window.click(*at)
    off = yield from window.picture("preview-off", window.centre())
    yield from window.click(*at)
    on = yield from window.picture("preview-on", window.centre())
    changed, same = different(drawn, off), different(drawn, on)
    report.check("the preview shows in the viewport", changed > 2000, f"{changed} pixels")
    report.check("the preview comes back as it was", same < changed / 20, f"{same} pixels")

    lean = rig().poise.turns.sharpness
    at = yield from window.find("sharpness")
    report.check("the sidebar shows Max Lean", at is not None)
    yield from window.drag(*at, 40, halfway=lambda: window.picture("lean-while-dragging"))
    dragged = rig().poise.turns.sharpness
    report.check("dragging Max Lean changes it", abs(dragged - lean) > 0.01, (lean, dragged))
    yield 1.5
    yield from window.picture("lean-dragged")

    window.begin_way()
    found = yield from window.click_button("bpy.ops.poise.bake(")
    baked = yield from until(lambda: bool(keys()), 120)
    first, way = keys(), way + window.end_way()
    report.check("Bake keys the skier", found and baked, f"{len(first)} channels; {way}")
    yield 1.0

    yield from window.move(*window.centre())
    yield from window.press("Z", ctrl=True)
    yield from until(lambda: not keys(), 10)
    report.check("undo takes the bake back", not keys(), f"{len(keys())} channels")
    value = rig().poise.turns.sharpness
    report.check("undo of the bake leaves the lean", abs(value - dragged) < 1e-6, value)
    yield from window.press("Z", ctrl=True)
    yield from until(lambda: abs(rig().poise.turns.sharpness - lean) < 1e-6, 10)
    value = rig().poise.turns.sharpness
    report.check("a second undo takes the drag back", abs(value - lean) < 1e-6, value)
    for _ in range(2):
        yield from window.press("Z", ctrl=True, shift=True)
        yield 0.5
    yield from until(lambda: bool(keys()), 10)
    report.check("redo brings the same keys back", keys() == first, f"{len(keys())} channels")
    bpy.context.scene.frame_set(1)
    before = pelvis()
    yield from window.move(*window.centre())
    for _ in range(5):
        yield from window.press("RIGHT_ARROW")
    yield 0.5
    moved = max(abs(a - b) for a, b in zip(before, pelvis(), strict=True))
    report.check("the arrow key moves the skier through the frames", moved > 0.5, f"{moved:.3f} m")
    bpy.context.scene.frame_set(21)  # out of the way of what stands at the start
    yield from window.press("HOME")
    yield 1.0
    yield from window.picture("baked")

    # Named by the script once; then saved with the keyboard, as a person goes on saving.
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "window.blend"))
    bpy.context.scene.frame_end += 1
    yield from window.move(*window.centre())
    yield from window.press("S", ctrl=True)
    saved = yield from until(lambda: not bpy.data.is_dirty, 10)
    report.check("Ctrl S saves the file", saved)
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / "window.blend"))
    yield 2.0
    report.check("the opened file has the same keys", keys() == first, f"{len(keys())} channels")
    value = rig().poise.turns.sharpness
    report.check("the opened file has the dragged lean", abs(value - dragged) < 1e-6, value)
    yield from window.picture("reloaded")

    # The arrow on the ground: taken at its head, pulled aside, and one step back.
    handles = sys.modules[f"{PACKAGE}.addon.show.handles"]
    playblast = sys.modules[f"{PACKAGE}.addon.shots.playblast"]
    arrow = handles.arrow_of(rig().poise.motion_object)
    at = window.at(arrow.place.lerp(arrow.tip, 0.95))
    turns, before = rig().poise.turns, (rig().poise.turns.heading, rig().poise.turns.speed)
    yield from window.move(*at)
    yield from window.picture("arrow")
    yield from window.drag(*at, -30, 40)
    turns = rig().poise.turns
    after = turns.heading, turns.speed
    report.check("the arrow is dragged to another heading and speed",
                 abs(after[0] - before[0]) > 0.05 and abs(after[1] - before[1]) > 0.05,
                 (before, after))
    yield from window.move(*window.centre())
    yield from window.press("Z", ctrl=True)
    yield 0.5
    turns = rig().poise.turns
    report.check("one undo takes the drag of the arrow back",
                 (turns.heading, turns.speed) == before, (turns.heading, turns.speed))

    # Drawn by software, large pictures take seconds each.
    render = bpy.context.scene.render
    render.resolution_x, render.resolution_y = 320, 180
    engine = render.engine
    at = yield from window.find("poise.playblast")
    if at:
        yield from window.click(*at)
    running = yield from until(lambda: window.runs("playblast"), 20)
    yield 2.0
    yield from window.press("ESC")
    yield from until(lambda: not window.runs("playblast"), 30)
    report.check("Esc stops a playblast, and all is as it was",
                 at and running and not window.runs("playblast")
                 and bpy.context.scene.render.engine == engine and bpy.context.scene.camera is None
                 and len(bpy.data.worlds) == 1,
                 (at, running, bpy.context.scene.render.engine, bpy.context.scene.camera))
    rig().poise.settings.frame_end = 3
    yield 1.0
    if at:
        yield from window.click(*at)
    movie = playblast.movie_path(rig().poise.motion_object)
    yield from until(lambda: movie.is_file() and not window.runs("playblast"), 60)
    report.check("Playblast writes a movie beside the file",
                 movie.is_file() and movie.parent == FOLDER, movie)
    yield from window.picture("playblast", window.centre())
    if at:
        yield from window.move(window.sidebar.x + 0.83 * window.sidebar.width, at[1])
        yield 0.3
    report.check("a button beside it opens the movie", "path_open" in window.under_pointer(),
                 window.under_pointer())

    found = yield from window.click_button("bpy.ops.poise.bake_clear", part=0.82)
    yield from until(lambda: not keys(), 10)
    report.check("Clear Bake removes the keys", found and not keys(), f"{len(keys())} channels")
    yield from window.picture("cleared")
    yield from copies(window, report)


if __name__ == "__main__":
    # The splash would be in the way; a pointer that jumps back, in the way of dragging.
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.inputs.use_mouse_continuous = False
    lines = Report(FOLDER / "results.json")
    play(scenario(lines), lines)
