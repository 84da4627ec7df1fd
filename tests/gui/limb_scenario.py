# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb swung with the mouse, and lines in the Graph Editor, in a real window.

    blender -P limb_scenario.py -- FOLDER ZIP
"""

import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, open_only, play

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])


def heads(*names):
    rig = bpy.data.objects["Biped"]
    posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return np.array([rig.matrix_world @ posed[name].head for name in names])


def posing(window) -> bool:
    return any(op.bl_idname.endswith("limb_pose") for op in window.window.modal_operators)


def scenario(report):
    window = Window(FOLDER)
    bpy.ops.extensions.package_install_files(
        filepath=str(ZIP), repo="user_default", enable_on_install=True
    )
    yield 0.5
    bpy.data.batch_remove(list(bpy.data.objects))
    open_only("POISE_PT_limb")
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.poise.character_add(kind="BIPED")
        rig = bpy.context.object
        rig.poise.settings.show_preview = False
        bpy.ops.object.mode_set(mode="POSE")
        rig.data.bones.active = rig.data.bones["hand_ik.L"]
        bpy.ops.poise.limb_pose(mode="MOVE", limb="arm.L", offset=(0.1, -0.2, 0.3))
        bpy.ops.ed.undo_push(message="a pose")
    yield from window.move(*window.centre())
    yield from window.press("HOME")
    yield 0.5
    bones = ("upper_arm.L", "forearm.L", "hand.L")
    start = heads(*bones)

    def begin(mode, joint=0):
        with bpy.context.temp_override(window=window.window, area=window.area,
                                       region=window.region("WINDOW")):
            bpy.ops.poise.limb_pose("INVOKE_DEFAULT", mode=mode, limb="arm.L", joint=joint)

    def swing(pixels):
        report.check("it waits for the mouse", posing(window))
        x, y = window.pointer
        for step in range(1, 6):
            yield from window.move(x - pixels * step / 5, y)
        return heads(*bones)

    found = yield from window.click_button("limb_pose", "ANCHOR")
    report.check("the panel has the button", found)
    there = yield from swing(120)
    moved = np.linalg.norm(there - start, axis=1)
    report.check("the elbow swings with the mouse", moved[1] > 0.03, moved)
    report.check("the hand stays", moved[2] < 1e-4, moved)
    yield from window.picture("limb-swing")
    yield from window.press("ESC")
    yield 0.2
    moved = np.linalg.norm(heads(*bones) - start, axis=1)
    report.check("Esc gives everything back", moved.max() < 1e-6, moved)
    report.check("Esc ends it", not posing(window))

    begin("ANCHOR")
    there = yield from swing(-120)
    yield from window.press("LEFTMOUSE")
    yield 0.3
    moved = np.linalg.norm(heads(*bones) - there, axis=1)
    report.check("a click keeps it", moved.max() < 1e-6 and not posing(window), moved)
    yield from window.move(*window.centre())
    yield from window.press("Z", ctrl=True)
    yield 0.5
    moved = np.linalg.norm(heads(*bones) - start, axis=1)
    report.check("one step of undo takes it back", moved.max() < 1e-6, moved)

    for mode, moving in (("MOVE", 2), ("TURN", 2)):
        begin(mode, 1)
        x, y = window.pointer
        yield from window.move(x, y)
        for step in range(1, 4):
            yield from window.move(x + 8 * step, y + 12 * step)
        moved = np.linalg.norm(heads(*bones) - start, axis=1)
        report.check("the pointer moves the end, or turns the joint", moved[moving] > 0.02, moved)
        if mode == "TURN":  # the next joint instead of this one
            yield from window.press("TWO")
            yield from window.move(x + 60, y)
            moved = np.linalg.norm(heads(*bones) - start, axis=1)
            report.check("a digit chooses the joint", moved[1] < 1e-3 < moved[2], moved)
        yield from window.press("RIGHTMOUSE")
        yield 0.2
    moved = np.linalg.norm(heads(*bones) - start, axis=1)
    report.check("the right mouse button gives everything back", moved.max() < 1e-6, moved)
    yield from window.picture("limb-undone")
    yield from lines_in_the_graph_editor(window, report)


def lines_in_the_graph_editor(window, report):
    """Where postures lie along the way of a free-form motion, across its distance curve."""
    rig, area = bpy.data.objects["Biped"], window.area
    override = {"window": window.window, "area": area, "region": window.region("WINDOW")}
    with bpy.context.temp_override(**override):
        rig.poise.motion = "FREEFORM"
        for frame, low in ((1, 0.0), (20, 0.05), (48, 0.15)):
            bpy.context.scene.frame_set(frame)
            rig.pose.bones["pelvis"].location[1] = -low
            bpy.context.view_layer.update()
            bpy.ops.poise.posture_add(name=f"Low {round(100 * low)}")
        rig.poise.settings.show_preview = True
        bpy.ops.poise.pace_edit(preset="MINIMUM_JERK")
    area.type = "GRAPH_EDITOR"
    yield 1.0
    view = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window.window, area=area, region=view):
        bpy.ops.graph.view_all()
    yield 3.0
    with_lines = yield from window.picture("graph-lines")
    rig.poise.freeform.show_lines = False
    area.tag_redraw()
    yield 0.5
    without = yield from window.picture("graph-without-lines")
    shown, bare = (pixels(path) for path in (with_lines, without))
    part = np.s_[view.y : view.y + view.height, view.x : view.x + view.width]
    changed = np.abs(shown - bare)[part].max(axis=2) > 0.05
    rows = np.flatnonzero(changed.mean(axis=1) > 0.2)
    heights = [view.view2d.region_to_view(0, row + 0.5)[1] for row in rows]
    apart = rows[np.append(True, np.diff(rows) > 2)] if len(rows) else rows
    report.check("a line lies at each posture", len(apart) == 3, heights)
    ends = len(heights) > 1 and abs(heights[0]) < 0.03 and abs(heights[-1] - 1.0) < 0.03
    report.check("the first one at 0, the last one at 1", ends, heights)


def pixels(path):
    """(height, width, 4) of a picture, the lowest row first."""
    image = bpy.data.images.load(str(path))
    width, height = image.size
    values = np.empty(width * height * 4, dtype=np.float32)
    image.pixels.foreach_get(values)
    return values.reshape(height, width, 4)


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.inputs.use_mouse_continuous = False
    lines = Report(FOLDER / "results.json")
    play(scenario(lines), lines)
