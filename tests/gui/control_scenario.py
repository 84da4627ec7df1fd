# SPDX-License-Identifier: GPL-3.0-or-later
"""A pendulum and its controllers by clicks in a real window."""

import sys
from pathlib import Path

import bpy
from bpy_extras import view3d_utils

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, open_only, play, until

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])


def rig():
    return next((obj for obj in bpy.data.objects if obj.type == "ARMATURE"), None)


def running(window, name) -> bool:
    return any(op.bl_idname.endswith(name) for op in window.window.modal_operators)


def seen_at(window, place) -> tuple[int, int]:
    """Where a place in the world is on the screen."""
    region, view = window.region("WINDOW"), window.area.spaces.active.region_3d
    at = view3d_utils.location_3d_to_region_2d(region, view, place)
    return round(region.x + at.x), round(region.y + at.y)


def drag_start(window, report, settings, preview, motion):
    """The rod is taken in the viewport and let go elsewhere: the motion begins there."""
    bone = rig().pose.bones["rod"]
    ends = [rig().matrix_world @ end for end in (bone.head, bone.tail)]
    found = yield from window.click_button("poise.start_drag")
    report.check("Drag Start waits for the mouse", found and running(window, "start_drag"))
    before = preview.status(motion).solved
    x, y = seen_at(window, ends[0].lerp(ends[1], 0.9))
    home = seen_at(window, ends[0])
    shown = []

    def halfway():
        shown.append([(one.name, one.value) for one in settings.start])
        yield from window.picture("start-dragged")

    # A quarter of a turn up from where it hangs or lies.
    dx, dy = home[0] - x - (y - home[1]), home[1] - y + (x - home[0])
    yield from window.drag(x, y, dx, dy, halfway=halfway)
    start = {one.name: one.value for one in settings.start}
    report.check("it follows the mouse while it is dragged", bool(shown and shown[0]), shown)
    report.check("letting go takes it", not running(window, "start_drag") and bool(start), start)

    def begins():
        found = preview.status(motion).solved
        if found is None or found is before:
            return False
        return abs(found.motion.ran.states[0, 0] - start["angle"]) < 1e-5

    moved = yield from until(begins, 40.0)
    report.check("the motion begins where the rod was let go", moved)
    yield from window.picture("start-let-go", window.centre())


def escape(window, report, settings, motion):
    """A table that takes a while is called off."""
    item = settings.controllers[settings.controller_index]
    counts = [one.count for one in item.domain]
    before = {key: str(motion[key]["source"]) for key in motion.keys() if "controller_" in key}
    for one, count in zip(item.domain, (700, 500), strict=True):
        one.count = count
    yield 1.0
    found = yield from window.click_button("poise.controller_build")
    began = yield from until(lambda: running(window, "controller_build"), 20.0)
    yield 1.5
    yield from window.picture("building")
    report.check("Build goes on beside the window", found and began
                 and running(window, "controller_build"))
    yield from window.press("ESC")
    ended = yield from until(lambda: not running(window, "controller_build"), 60.0)
    after = {key: str(motion[key]["source"]) for key in motion.keys() if "controller_" in key}
    report.check("Esc stops it, and tables are as they were", ended and after == before)
    yield from window.picture("build-stopped", window.centre())
    for one, count in zip(item.domain, counts, strict=True):
        one.count = count
    yield 1.0


def scenario(report):
    window = Window(FOLDER)
    bpy.ops.extensions.package_install_files(
        filepath=str(ZIP), repo="user_default", enable_on_install=True
    )
    yield 1.0
    open_only("POISE_PT_character")
    bpy.ops.wm.read_homefile()
    yield 1.0
    bpy.data.batch_remove(list(bpy.data.objects))
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    yield 1.0
    found = yield from window.click_button("poise.character_add")
    yield from window.choose("pendulum")
    added = yield from until(lambda: rig() is not None, 30.0)
    report.check("Add Pendulum adds one that has controllers", found and added
                 and rig().poise.motion == "CONTROLLER")
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.view3d.view_selected()
    from bl_ext.user_default.poise.addon import motions
    from bl_ext.user_default.poise.addon.show import preview

    open_only(
        "POISE_PT_control", "POISE_PT_control_script", "POISE_PT_control_start", "POISE_PT_bake"
    )
    name = str(FOLDER / "pendulum.blend")
    bpy.ops.wm.save_as_mainfile(filepath=name)
    bpy.ops.wm.read_homefile()
    yield 1.0
    bpy.ops.wm.open_mainfile(filepath=name, load_ui=False)
    yield 1.0
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    motion = motions.active_motion(rig())
    settings = motion.poise_motion.control
    for number, controller in enumerate("ACE", 1):
        chosen = yield from window.click_button("poise.controller_add", f'"{controller}"')
        there = yield from until(lambda n=number: len(settings.controllers) == n, 10.0)
        line = yield from window.click_button("poise.script_add")
        yield from until(lambda n=number: len(settings.script) == n, 10.0)
        report.check(f"controller {number} is added, and a line of it",
                     chosen and there and line)
    yield from window.picture("script", window.centre())
    found = yield from window.click_button("poise.controller_build")
    yield from until(lambda: "controller_2" in motion, 30.0)
    report.check("Build keeps the tables", found and "controller_2" in motion)
    ready = yield from until(lambda: preview.status(motion).solved is not None, 60.0)
    report.check("the preview shows the script", ready, preview.status(motion).error)
    yield from drag_start(window, report, settings, preview, motion)
    yield from escape(window, report, settings, motion)
    ready = yield from until(lambda: preview.status(motion).solved is not None, 60.0)
    report.check("the preview is back", ready, preview.status(motion).error)
    bpy.context.scene.frame_set(30)
    yield 1.0
    yield from window.picture("control-panel", window.centre())
    found = yield from window.click_button("bpy.ops.poise.bake(")
    baked = yield from until(
        lambda: rig().animation_data is not None and rig().animation_data.action is not None, 60.0
    )
    report.check("Bake to Rig bakes the script", found and baked)
    yield from window.picture("baked", window.centre())


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.inputs.use_mouse_continuous = False
    lines = Report(FOLDER / "results.json")
    play(scenario(lines), lines)
