# SPDX-License-Identifier: GPL-3.0-or-later
"""A horse and its footprints by clicks in a real window: blender -P gait_scenario.py -- ..."""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, open_only, play, until

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])


def rig():
    return next((obj for obj in bpy.data.objects if obj.type == "ARMATURE"), None)


def keyed() -> bool:
    return rig().animation_data is not None and rig().animation_data.action is not None


def scenario(report):
    window = Window(FOLDER)
    bpy.ops.extensions.package_install_files(
        filepath=str(ZIP), repo="user_default", enable_on_install=True
    )
    yield 1.0
    open_only("POISE_PT_character")
    # Panels keep whether they are open with the window's layout, which a new file brings along.
    bpy.ops.wm.read_homefile()
    yield 1.0
    bpy.data.batch_remove(list(bpy.data.objects))
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    yield 1.0
    found = yield from window.click_button("poise.character_add")
    yield from window.choose("horse")
    added = yield from until(lambda: rig() is not None, 30.0)
    report.check("Add Horse adds one that has gaits", found and added
                 and rig().poise.motion == "GAIT")
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.view3d.view_selected()
    yield from window.picture("horse", window.centre())

    open_only("POISE_PT_gait", "POISE_PT_footprints", "POISE_PT_bake")
    name = str(FOLDER / "horse.blend")
    bpy.ops.wm.save_as_mainfile(filepath=name)
    bpy.ops.wm.read_homefile()
    yield 1.0
    bpy.ops.wm.open_mainfile(filepath=name, load_ui=False)
    yield 1.0
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    from bl_ext.user_default.poise.addon import motions
    from bl_ext.user_default.poise.addon.show import preview

    motion = motions.active_motion(rig())
    ready = yield from until(lambda: preview.status(motion).solved is not None, 60.0)
    report.check("the preview shows the gait", ready, preview.status(motion).error)
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.object.select_all(action="DESELECT")
        rig().select_set(True)
        bpy.context.view_layer.objects.active = rig()
        bpy.ops.view3d.view_selected()
    bpy.context.scene.frame_set(20)
    yield 1.0
    yield from window.picture("gait-panel", window.centre())
    found = yield from window.click_button("bpy.ops.poise.bake(")
    baked = yield from until(keyed, 60.0)
    report.check("Bake to Rig bakes the gait", found and baked)
    yield from window.picture("baked", window.centre())

    found = yield from window.click_button("poise.footprints_edit")

    def prints():
        return [obj for obj in bpy.data.objects
                if obj.type == "MESH" and obj.poise_footprint.motion is not None]

    shown = yield from until(lambda: len(prints()) > 4, 30.0)
    report.check("Edit Footprints shows them", found and shown, len(prints()))
    moved = next(o for o in prints() if (o.poise_footprint.leg, o.poise_footprint.index)
                 == ("fore.L", 1))
    bpy.context.view_layer.objects.active = moved
    moved.select_set(True)
    rig().select_set(False)
    yield 1.0
    before = moved.location.x
    x, y = window.centre()
    yield from window.move(x, y)
    for key in ("G", "X"):
        yield from window.press(key)
    for step in range(1, 7):
        yield from window.move(x + 15 * step, y)
    yield from window.press("LEFTMOUSE")
    yield 0.5
    report.check("a footprint is moved by G", abs(moved.location.x - before) > 0.01,
                 moved.location.x - before)
    yield from window.picture("moved", window.centre())
    found = yield from window.click_button("poise.footprints_adapt")
    edited = yield from until(lambda: len(motion.poise_motion.gait.footprints) == 1, 30.0)
    report.check("Adapt takes the edit over", found and edited,
                 len(motion.poise_motion.gait.footprints))
    yield 1.0
    yield from window.picture("adapted", window.centre())


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.inputs.use_mouse_continuous = False
    lines = Report(FOLDER / "results.json")
    play(scenario(lines), lines)
