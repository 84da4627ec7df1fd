# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses on their frames, by clicks in a real window: blender -P posing_scenario.py -- ..."""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, open_only, play, until

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])

BESIDE = 0.82
"""Where buttons beside lists are, as a share of the sidebar's width."""


def rig():
    return next((obj for obj in bpy.data.objects if obj.type == "ARMATURE"), None)


def arm() -> bpy.types.Object:
    """An arm of three bones that nobody has set up, in Pose Mode."""
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
    bpy.ops.object.mode_set(mode="POSE")
    for bone in made.pose.bones:
        bone.rotation_mode = "XYZ"
    return made


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


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.inputs.use_mouse_continuous = False
    lines = Report(FOLDER / "results.json")
    play(scenario(lines), lines)
