# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion along a path, by clicks in a real window: blender -P path_scenario.py -- FOLDER ZIP."""

import sys
from math import isfinite, sin
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, play, until

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])


def rig():
    return next((obj for obj in bpy.data.objects if obj.type == "ARMATURE"), None)


def planning(window) -> bool:
    """Whether a plan runs in the window."""
    return any(op.bl_idname.endswith("path_plan") for op in window.window.modal_operators)


def winding_curve(length: float):
    """A poly curve along -Y, swinging to both sides."""
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(int(length))
    for i, point in enumerate(spline.points):
        point.co = (2.5 * sin(0.12 * i), -float(i), 0.0, 1.0)
    curve = bpy.data.objects.new("Way", data)
    bpy.context.scene.collection.objects.link(curve)
    return curve


def scenario(report):
    window = Window(FOLDER)
    bpy.ops.extensions.package_install_files(
        filepath=str(ZIP), repo="user_default", enable_on_install=True
    )
    yield 1.0
    bpy.data.batch_remove(list(bpy.data.objects))
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.poise.character_add(kind="SKIER")
        rig().poise.motion = "PATH"
        rig().poise.path.curve = winding_curve(60.0)
        bpy.ops.ed.undo_push(message="a path")
    yield 1.0
    yield from window.move(*window.centre())
    yield from window.press("HOME")
    yield 1.0
    yield from window.picture("path-panel", window.centre())

    # Gates, set by the button; F9's panel sets them anew.
    found = yield from window.click_button("poise.slalom_course_add")
    yield 1.0
    gates = [obj for obj in bpy.data.objects if obj.poise_gate.is_gate]
    report.check("Add Course sets gates along the path", found and len(gates) > 1, len(gates))

    # A plan that Esc stops leaves nothing behind. The way is so long that no
    # machine has planned it by the time the key is down.
    from bl_ext.user_default.poise.addon import motions
    from bl_ext.user_default.poise.addon.show import preview

    motion = motions.active_motion(rig())
    rig().poise.path.curve = winding_curve(5000.0)
    yield 1.0
    found = yield from window.click_button("poise.path_plan")
    running = yield from until(lambda: planning(window), 20.0)
    yield from window.press("ESC")
    ended = yield from until(lambda: not planning(window), 20.0)
    stopped = preview.status(motion)
    report.check("Esc stops a plan", found and running and ended and stopped.unplanned,
                 (found, running, ended, stopped.unplanned))

    way = rig().poise.path.curve
    rig().poise.path.curve = bpy.data.objects["Way"]
    bpy.data.objects.remove(way)
    yield 1.0
    yield from window.click_button("poise.path_plan")
    planned = yield from until(lambda: not preview.status(motion).unplanned, 120.0)
    status = preview.status(motion)
    way = status.solved.path if status.solved is not None else None
    through = way is not None and way.finished and all(map(isfinite, way.gate_times))
    report.check("Plan finds a way through the gates", planned and through,
                 (status.error, [p.message for p in status.problems]))
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.object.select_all(action="SELECT")
        bpy.ops.view3d.view_selected()
    yield 1.0
    yield from window.picture("planned", window.centre())

    found = yield from window.click_button("bpy.ops.poise.bake(")
    baked = yield from until(
        lambda: rig().animation_data is not None and rig().animation_data.action is not None, 60.0
    )
    report.check("Bake to Rig bakes the way", found and baked)
    yield from window.picture("baked", window.centre())
    yield from window.move(*window.centre())
    yield from window.press("Z", ctrl=True)
    undone = yield from until(
        lambda: rig().animation_data is None or rig().animation_data.action is None, 20.0
    )
    report.check("undo takes the bake back", undone)


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.inputs.use_mouse_continuous = False
    lines = Report(FOLDER / "results.json")
    play(scenario(lines), lines)
