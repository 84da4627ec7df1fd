# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses on their frames, by clicks in a real window: blender -P posing_scenario.py -- ..."""

import re
import subprocess
import sys
from math import degrees
from pathlib import Path

import bpy
from mathutils import Euler, Quaternion

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, open_only, play, until

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])

BESIDE = 0.82
"""Where buttons beside lists are, as a share of the sidebar's width."""

ROW = 26
"""Pixels from one row of buttons to the next."""


def rig():
    return next((obj for obj in bpy.data.objects if obj.type == "ARMATURE"), None)


def arm() -> bpy.types.Object:
    """An arm of three bones with one at either side, that nobody has set up, in Pose Mode."""
    data = bpy.data.armatures.new("Arm")
    made = bpy.data.objects.new("Arm", data)
    bpy.context.scene.collection.objects.link(made)
    bpy.context.view_layer.objects.active = made
    made.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for number in range(3):
        bone = data.edit_bones.new(f"bone{number}")
        bone.head, bone.tail = (0.0, 0.0, 0.4 * number), (0.0, 0.0, 0.4 * (number + 1))
        bone.parent, bone.use_connect = parent, number > 0
        parent = bone
    for side, x in (("L", 0.4), ("R", -0.4)):
        bone = data.edit_bones.new(f"side.{side}")
        bone.head, bone.tail = (0.1 * x, 0.0, 0.4), (x, 0.0, 0.4)
        bone.parent = data.edit_bones["bone0"]
    bpy.ops.object.mode_set(mode="POSE")
    for bone in made.pose.bones:
        bone.rotation_mode = "XYZ"
    return made


def pose_asset(name: str, bone: str, angles: tuple[float, float, float]) -> None:
    """A pose asset that turns one bone of the arm."""
    data, posed = rig().animation_data_create(), rig().pose.bones[bone]
    before, slot, stands = data.action, data.action_slot, posed.rotation_euler.copy()
    data.action = bpy.data.actions.new(name)
    posed.rotation_euler = angles
    posed.keyframe_insert("rotation_euler", frame=1)
    data.action.asset_mark()
    data.action, posed.rotation_euler = before, stands
    if slot is not None:
        data.action_slot = slot


def changed(first: Path, second: Path) -> tuple[int, int, int, int]:
    """Left, bottom, width and height, as the window has them, of where two pictures differ."""
    told = subprocess.run(
        ["convert", str(first), str(second), "-compose", "difference", "-composite", "-threshold",
         "4%", "-format", "%@ %h", "info:"], capture_output=True, text=True, check=True,
    ).stdout
    width, height, left, top, whole = map(int, re.findall(r"\d+", told))
    return left, whole - top - height, width, height


def from_an_asset(report, window, motion):
    """Take a target from a pose asset, flipped, by the pop-up that asks for it."""
    from bl_ext.user_default.poise.addon.show import preview

    settings = motion.poise_motion.pose_timing
    pose_asset("Bow", "side.L", (0.5, 0.3, -0.2))
    bpy.context.scene.frame_set(45)
    for bone in rig().pose.bones:
        bone.select = bone.name == "side.R"
    before, at = len(settings.targets), (yield from window.find(".hold"))
    without = yield from window.picture("before-menu")
    # The button above: its menu's commands cannot be read as those of buttons can.
    yield from window.click(at[0], at[1] + ROW)
    yield from window.picture("menu")
    yield from window.press("P")
    asked = yield from window.picture("asset", window.pointer)
    left, bottom, width, height = changed(without, asked)
    report.check("a pop-up asks for the pose asset", width > 100 and height > 100,
                 (left, bottom, width, height))
    # From the bottom: OK, Name, Hold, Flipped.
    yield from window.click(left + 140, bottom + 0.7 * ROW + 3.2 * ROW)
    yield from window.picture("flipped", window.pointer)
    yield from window.click(left + 240, bottom + 0.7 * ROW)
    yield from until(lambda: len(settings.targets) > before, 10.0)
    added = settings.targets[-1]
    told = (added.name, added.frame, added.source)
    report.check("OK takes the asset's pose, flipped, at this frame",
                 told == ("Bow", 45.0, "Bow, frame 1, flipped"), told)

    def turned() -> float:
        """Degrees between the other side's bone on that frame and the asset's pose mirrored."""
        tracks = preview.status(motion).solved.tracks
        turn = Quaternion(tracks.turn["side.R"][tracks.time.searchsorted(44 / 24 - 1e-6)])
        return degrees(turn.rotation_difference(Euler((0.5, -0.3, 0.2)).to_quaternion()).angle)

    yield from until(lambda: preview.status(motion).solved is not None and turned() < 0.1, 20.0)
    report.check("the other side's bone is where the asset has it, mirrored", turned() < 0.1,
                 turned())
    yield from window.picture("from-asset", window.centre())


def from_the_browser(report, window, motion):
    """Take a target from a pose asset by what the right button offers in an asset browser."""
    settings = motion.poise_motion.pose_timing
    area = next(area for area in window.window.screen.areas if area.type == "PROPERTIES")
    area.ui_type = "ASSETS"
    yield 0.5
    area.spaces.active.params.asset_library_reference = "LOCAL"
    area.spaces.active.show_region_toolbar = False
    yield 2.0
    bpy.context.scene.frame_set(47)
    for bone in rig().pose.bones:
        bone.select = bone.name == "side.L"
    before = len(settings.targets)
    region = next(region for region in area.regions if region.type == "WINDOW")
    yield from window.click(region.x + 50, region.y + region.height - 50)
    yield from window.press("RIGHTMOUSE")
    yield from window.picture("asset-menu")
    # The last of the entries: up from the first.
    yield from window.press("UP_ARROW")
    yield from window.press("RET")
    yield from until(lambda: len(settings.targets) > before, 10.0)
    added = settings.targets[-1]
    told = (added.name, added.frame, added.source)
    report.check("the asset browser's menu takes an asset's pose, at this frame",
                 told == ("Bow", 47.0, "Bow, frame 1"), told)
    yield from window.picture("from-the-browser")


def scenario(report):
    window = Window(FOLDER)
    bpy.ops.extensions.package_install_files(
        filepath=str(ZIP), repo="user_default", enable_on_install=True
    )
    yield 1.0
    open_only("POISE_PT_motion", "POISE_PT_posing", "POISE_PT_posing_disturbances", "POISE_PT_bake")
    # Panels keep whether they are open with the window's layout, which a new file brings along.
    bpy.ops.wm.read_homefile()
    yield 1.0
    bpy.data.batch_remove(list(bpy.data.objects))
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        arm()
        bpy.ops.view3d.view_axis(type="RIGHT")
        bpy.ops.view3d.view_all()
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    yield 0.5
    found = yield from window.click_button("poise.motion_add", part=BESIDE)
    from bl_ext.user_default.poise.addon import motions
    from bl_ext.user_default.poise.addon.show import preview

    added = yield from until(lambda: motions.motions_of(rig()), 10.0)
    report.check("an armature never set up gets pose timing", found and added
                 and rig().poise.motion == "POSE_TIMING")
    motion = motions.active_motion(rig())
    motion.poise_motion.frame_end = 49
    yield from window.picture("empty", window.centre())
    settings = motion.poise_motion.pose_timing
    # All bones: with the pointer over the viewport.
    yield from window.press("A")
    for frame, angle in ((13, 0.9), (37, -0.7)):
        bpy.context.scene.frame_set(frame)
        for bone in rig().pose.bones:
            bone.rotation_euler.x = angle
        before = len(settings.targets)
        yield from window.click_button("poise.target_add", part=BESIDE if before else 0.43)
        yield from until(lambda n=before: len(settings.targets) > n, 10.0)
    frames = [item.frame for item in settings.targets]
    report.check("the plus keeps each pose at its frame", frames == [13.0, 37.0], frames)

    bpy.context.scene.frame_set(1)
    bpy.context.scene.cursor.location = (0.0, -2.0, 1.0)
    for bone in rig().pose.bones:
        bone.rotation_euler.x = 0.0
    rig().data.bones.active = rig().data.bones["bone2"]
    yield from window.search("Add Disturbance")
    thrown = yield from until(lambda: len(settings.disturbances) == 1, 10.0)
    report.check("a ball is thrown from the cursor, found by F3",
                 thrown and settings.disturbances[0].kind == "BALL")
    ready = yield from until(lambda: preview.status(motion).solved is not None, 20.0)
    report.check("the preview shows the motion", ready, preview.status(motion).error)
    bpy.context.scene.frame_set(9)
    yield from window.picture("targets", window.centre())

    found = yield from window.click_button("bpy.ops.poise.bake(")
    baked = yield from until(lambda: rig().animation_data is not None
                             and rig().animation_data.action is not None, 20.0)
    report.check("Bake to Rig keys it", found and baked)
    bpy.context.scene.frame_set(37)
    yield 0.2
    turn = rig().pose.bones["bone1"].rotation_euler.x
    report.check("the second pose is reached on its frame", abs(turn + 0.7) < 1e-3, turn)
    bpy.context.scene.frame_set(9)
    yield 0.2
    ball = settings.disturbances[0].ball if settings.disturbances else None
    report.check("the ball is seen", ball is not None and ball.visible_get(), ball)
    yield from window.picture("baked", window.centre())
    yield from from_an_asset(report, window, motion)
    yield from from_the_browser(report, window, motion)


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.inputs.use_mouse_continuous = False
    lines = Report(FOLDER / "results.json")
    play(scenario(lines), lines)
