# SPDX-License-Identifier: GPL-3.0-or-later
"""A Rigify human set up and baked by clicks in a real window: blender -P rig_scenario.py -- ..."""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, play, until

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])


def human():
    """A human as Rigify generates it, active."""
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_human_metarig_add()
    meta = bpy.context.active_object
    bpy.ops.pose.rigify_generate()
    rig = next(o for o in bpy.data.objects if o.type == "ARMATURE" and o != meta)
    bpy.data.objects.remove(meta)
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    return rig.name


def keyed(obj) -> bool:
    return obj is not None and obj.animation_data is not None and (
        obj.animation_data.action is not None
    )


def scenario(report):
    window = Window(FOLDER)
    bpy.ops.extensions.package_install_files(
        filepath=str(ZIP), repo="user_default", enable_on_install=True
    )
    yield 1.0
    bpy.data.batch_remove(list(bpy.data.objects))
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        name = human()
        # Drawing hundreds of custom shapes takes a software renderer too long.
        window.area.spaces.active.overlay.show_overlays = False
        bpy.ops.ed.undo_push(message="a rig")
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    yield 1.0

    def rig():
        return bpy.data.objects[name]

    def controls():
        motion = rig().poise.motion_object
        return None if motion is None else motion.poise_motion.character

    yield from window.picture("not-set-up", window.centre())
    found = yield from window.click_button("poise.rig_setup", "SKIER")
    ready = yield from until(lambda: rig().poise.kind != "", 30.0)
    report.check("Set Up Rig builds controls that fit", found and ready, rig().poise.kind)
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.view3d.view_selected()
    yield 1.0
    yield from window.picture("set-up", window.centre())

    found = yield from window.click_button("bpy.ops.poise.bake(")
    baked = yield from until(lambda: keyed(controls()), 60.0)
    report.check("Bake to Rig keys the controls", found and baked)
    found = yield from window.click_button("poise.bake_to_bones")
    baked = yield from until(lambda: keyed(rig()), 60.0)
    report.check("Bake to Bones keys the rig", found and baked)
    yield from window.picture("baked", window.centre())
    yield from window.move(*window.centre())
    yield from window.press("Z", ctrl=True)
    undone = yield from until(lambda: not keyed(rig()), 20.0)
    report.check("undo takes the keys of the rig back", undone)

    found = yield from window.click_button("poise.rig_remove")
    gone = yield from until(lambda: rig().poise.kind == "", 20.0)
    left = [obj.name for obj in bpy.data.objects if obj.get("poise_kind")]
    report.check("Remove from Rig leaves the rig alone", found and gone and not left, left)
    yield from window.picture("removed", window.centre())


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.inputs.use_mouse_continuous = False
    lines = Report(FOLDER / "results.json")
    play(scenario(lines), lines)
