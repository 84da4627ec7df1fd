# SPDX-License-Identifier: GPL-3.0-or-later
"""A pendulum and its controllers by clicks in a real window."""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, open_only, play, until

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])


def rig():
    return next((obj for obj in bpy.data.objects if obj.type == "ARMATURE"), None)


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

    open_only("POISE_PT_control", "POISE_PT_control_script", "POISE_PT_bake")
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
