# SPDX-License-Identifier: GPL-3.0-or-later
"""What the preview notices, and when it rests: blender -P preview_scenario.py -- FOLDER ZIP.

Changes are made by script, as presets, drivers and other add-ons make them;
what has to follow by itself is the preview in the window.
"""

import importlib
import sys
from math import degrees, radians
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, play, until

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])
PACKAGE = "bl_ext.user_default.poise"
NAME = "Skier"

reads = 0
"""How often the preview has read the settings."""


def module(name):
    return importlib.import_module(f"{PACKAGE}.addon.{name}")


def count_reads():
    pipeline = module("pipeline")
    gather = pipeline.gather

    def counted(*arguments):
        global reads
        reads += 1
        return gather(*arguments)

    pipeline.gather = counted


def rig():
    return bpy.data.objects[NAME]


def motion():
    return rig().poise.motion_object


def status():
    return module("show.preview").status(motion())


def solved():
    return status().solved


def key_sum() -> float:
    """One number for all keys of the character."""
    data = rig().animation_data
    if not data or not data.action:
        return 0.0
    bag = data.action.layers[0].strips[0].channelbag(data.action_slot)
    points = [key.co for curve in bag.fcurves for key in curve.keyframe_points]
    return round(sum(value * (1.0 + frame % 7.0) for frame, value in points), 3)


def handlers() -> dict[str, int]:
    names = ("load_post", "depsgraph_update_post", "undo_post", "redo_post")
    return {
        name: sum(f.__name__.startswith("poise_") for f in getattr(bpy.app.handlers, name))
        for name in names
    }


def scenario(report):
    window = Window(FOLDER)
    bpy.ops.extensions.package_install_files(
        filepath=str(ZIP), repo="user_default", enable_on_install=True
    )
    count_reads()
    yield 1.0

    def here():
        region = window.region("WINDOW")
        return bpy.context.temp_override(window=window.window, area=window.area, region=region)

    with here():
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)
        bpy.ops.poise.character_add("EXEC_DEFAULT", True, kind="SKIER")
    rig().poise.settings.frame_end = 97
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    yield from until(lambda: solved() is not None and solved().job.end_frame == 97)
    shown = solved() is not None and solved().job.end_frame == 97
    report.check("a new character has a preview", shown, status().error)

    # -- what is noticed
    former = solved()
    with here():
        bpy.ops.poise.preset_apply("EXEC_DEFAULT", True, name="Carving")
    yield from until(lambda: solved() is not former)
    report.check("the preview follows a preset", solved() is not former, status().summary)

    former, turns = solved(), rig().poise.turns
    for frame, speed in ((1, 9.0), (90, 14.0)):
        turns.speed = speed
        turns.keyframe_insert("speed", frame=frame)
    yield from until(lambda: solved() is not former)
    report.check("the preview follows new keys", solved() is not former, status().summary)

    former, data = solved(), motion().animation_data
    yield 1.0
    former = solved()
    bag = data.action.layers[0].strips[0].channelbag(data.action_slot)
    bag.fcurves[0].keyframe_points[1].co.y = 20.0
    bag.fcurves[0].update()
    data.action.update_tag()
    yield from until(lambda: solved() is not former)
    report.check("the preview follows an edited key", solved() is not former, status().summary)

    former = solved()
    bpy.context.scene.render.fps = 30
    yield from until(lambda: solved() is not former)
    report.check("the preview follows the frame rate", solved() is not former, status().summary)
    bpy.context.scene.render.fps = 24
    yield 2.0

    # -- driven settings: read by stepping through frames, so never in between
    knob = bpy.data.objects.new("Knob", None)
    bpy.context.scene.collection.objects.link(knob)
    knob.location.x = 0.35
    driver = motion().driver_add("poise_motion.turns.sharpness").driver
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id = knob
    driver.expression = "var"
    yield 4.0
    before = reads
    yield 3.0
    report.check("a driven setting is not read over and over", reads == before, reads - before)
    former = solved()
    knob.location.x = 0.5
    yield from until(lambda: solved() is not former)
    lean = solved().job.settings.sharpness
    report.check("the preview follows a driver", abs(lean - 0.5).max() < 1e-6, lean)
    yield 1.0
    before = reads
    yield from window.move(*window.centre())
    yield from window.press("SPACE")
    yield 2.0
    playing = window.window.screen.is_animation_playing
    knob.location.x = 0.4
    yield 2.0
    report.check("nothing is read while playing", playing and reads == before, reads - before)
    yield from window.press("SPACE")
    yield from until(lambda: reads > before)
    yield 1.0
    report.check("it is read once when playing ends", reads == before + 1, reads - before)
    motion().driver_remove("poise_motion.turns.sharpness")
    yield 1.0

    # -- Live Bake
    bpy.context.scene.frame_set(1)
    with here():
        bpy.ops.poise.bake("EXEC_DEFAULT", True)
    yield 1.0
    rig().poise.settings.live_bake = True
    with here():
        bpy.ops.ed.undo_push(message="Live Bake on")
    first = key_sum()

    def change(lean):
        rig().poise.turns.sharpness = radians(lean)
        with here():
            bpy.ops.ed.undo_push(message="Max Lean")

    change(20.0)
    yield from until(lambda: key_sum() != first)
    yield 2.0
    second = key_sum()
    baked = second != first and not status().out_of_date and not status().live_error
    report.check("Live Bake bakes a change", baked, (status().out_of_date, status().live_error))
    change(12.0)
    yield from until(lambda: key_sum() != second)
    yield 2.0
    third, before = key_sum(), reads
    yield 3.0
    report.check("Live Bake rests", third != second and reads == before, reads - before)

    def state():
        which = {first: "first", second: "second", third: "third"}.get(key_sum(), "other")
        return round(degrees(rig().poise.turns.sharpness), 1), which, bool(status().out_of_date)

    wanted = [(12.0, "second", True), (20.0, "second", False), (20.0, "first", True)]
    yield from window.move(*window.centre())
    seen = []
    for _step in wanted:
        yield from window.press("Z", ctrl=True)
        yield 3.0
        seen.append(state())
    report.check("undo goes back through live bakes, step by step", seen == wanted, seen)
    seen = []
    for _step in wanted:
        yield from window.press("Z", ctrl=True, shift=True)
        yield 3.0
        seen.append(state())
    wanted = [(20.0, "second", False), (12.0, "second", True), (12.0, "third", False)]
    report.check("redo goes forward through live bakes", seen == wanted, seen)
    yield from window.picture("live-baked")

    # -- nothing is left of what is gone
    with here():
        bpy.ops.object.select_all(action="SELECT")
        bpy.ops.object.delete("EXEC_DEFAULT", True)
    yield 1.5
    yield from window.press("Z", ctrl=True)
    yield from until(lambda: NAME in bpy.context.scene.objects and solved() is not None)
    back = NAME in bpy.context.scene.objects and solved() is not None
    report.check("a deleted and restored character has a preview", back, status().error)

    counted = handlers()
    handles = len(module("show.overlay")._handles)
    for _round in range(5):
        bpy.ops.preferences.addon_disable(module=PACKAGE)
        yield 0.3
        left = handlers()
        bpy.ops.preferences.addon_enable(module=PACKAGE)
        yield 0.3
    again = handlers() == counted and len(module("show.overlay")._handles) == handles == 2
    gone = set(left.values()) == {0}
    report.check("disabled, no handler is left; enabled, each is there once", again and gone,
                 (counted, left, handlers(), handles))
    yield from until(lambda: solved() is not None)
    report.check("an add-on enabled again has a preview", solved() is not None, status().error)

    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "preview.blend"))
    bpy.ops.wm.read_homefile()
    yield 1.5
    entries = module("show.preview")._entries
    report.check("a new file has nothing of the old one", not entries, entries)
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / "preview.blend"))
    yield from until(lambda: solved() is not None)
    report.check("an opened file has a preview", solved() is not None, status().error)
    keys = key_sum()
    yield 2.0
    report.check("opening a file with Live Bake bakes nothing", key_sum() == keys, keys)
    yield from window.picture("opened")


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    lines = Report(FOLDER / "results.json")
    play(scenario(lines), lines)
