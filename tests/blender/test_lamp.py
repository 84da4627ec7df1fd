# SPDX-License-Identifier: GPL-3.0-or-later
"""The jumping lamp in Blender: its rig, and that it goes where the physics goes."""

import math

import bpy
import numpy as np
import pytest
from poise.addon import compat, families, pipeline
from poise.addon.rigs import machines
from poise.solvers.control import lamp, lamp_search
from poise.solvers.control.lamp_play import play


def evaluated(rig):
    return rig.evaluated_get(bpy.context.evaluated_depsgraph_get())


def added(height=0.5, frames=60):
    """A lamp with a motion of so many frames."""
    bpy.ops.poise.character_add(kind="LUXO", height=height)
    rig = bpy.context.active_object
    settings = rig.poise.motion_object.poise_motion
    settings.frame_start, settings.frame_end = 1, frames
    return rig, settings


def script(settings, *names, seconds=0.1):
    """Lines of programs that the lamp comes with."""
    for name in names:
        if name not in settings.control.controllers:
            bpy.ops.poise.controller_add(library=name)
        bpy.ops.poise.script_add(controller=name, seconds=seconds)


def angles(rig, name):
    """Keys of a hinge."""
    path = f'pose.bones["{name}"].rotation_euler'
    for strip in rig.animation_data.action.layers[0].strips:
        for curve in strip.channelbag(rig.animation_data.action_slot).fcurves:
            if (curve.data_path, curve.array_index) == (path, 0):
                return np.array([point.co.y for point in curve.keyframe_points])
    return None


@pytest.mark.parametrize("height", (0.5, 1.2))
def test_its_springs_reach_from_part_to_part(scene, height):
    rig = machines.build_machine(bpy.context, "LUXO", size=height)
    lengths = []
    for link, shade in ((0.0, 0.0), (-0.9, 0.8), (1.2, -1.1)):
        rig.pose.bones["link"].rotation_euler.x = link
        rig.pose.bones["shade"].rotation_euler.x = shade
        bpy.context.view_layer.update()
        bones = evaluated(rig).pose.bones
        for number in (1, 2):
            spring, hook = bones[f"spring.{number}"], bones[f"hook.{number}"]
            assert (spring.tail - hook.head).length < 1e-5 * height
            # Wound wire does not grow thicker.
            assert spring.matrix.to_scale()[0] == pytest.approx(1.0, abs=1e-5)
            lengths.append((spring.tail - spring.head).length / height)
    assert np.ptp(lengths[::2]) > 0.02 and np.ptp(lengths[1::2]) > 0.02


@pytest.mark.parametrize("height, yaw, scale", [(0.5, 0.0, 1.0), (0.8, 0.7, 0.01)])
def test_on_the_rig_base_and_shade_go_where_the_physics_goes(scene, height, yaw, scale):
    scene.unit_settings.scale_length = scale
    rig, settings = added(height)
    motion = rig.poise.motion_object
    motion.location = np.array((1.0, 2.0, 0.5)) / scale
    motion.rotation_euler.z = yaw
    script(settings, "Back Flip")
    assert bpy.ops.poise.bake() == {"FINISHED"}
    played = play([lamp_search.shipped("Back Flip")])
    size, ahead = height / 0.5, np.array((math.sin(yaw), -math.cos(yaw), 0.0))
    slow = math.sqrt(size)
    for frame in (1, 20, 25, 33, 60):
        scene.frame_set(frame)
        bones = evaluated(rig).pose.bones
        (q,) = played.at(np.array([(frame - 1) / 24.0 / slow]))
        parts = lamp._PARTS.points(math.sin, math.cos, q, (0.0,) * 5)
        for bone, end, (x, y) in (
            ("base", "head", q[:2]), ("shade", "head", parts[3][:2]),
            ("shade", "tail", parts[2][:2]),
        ):
            seen = np.array(rig.matrix_world @ getattr(bones[bone], end)) * scale
            wanted = np.array((1.0, 2.0, 0.5)) + size * (x * ahead + (0.0, 0.0, y))
            np.testing.assert_allclose(seen, wanted, rtol=0, atol=3e-6)
    assert angles(rig, "base")[-1] == pytest.approx(-2.0 * math.pi, abs=0.02)  # backwards
    bpy.ops.poise.bake_clear()
    assert rig.animation_data is None or rig.animation_data.action is None


def test_a_script_of_programs_tells_what_became_of_each(scene):
    rig, settings = added(frames=120)
    script(settings, "Jump", "Flip Down a Step", "Stand")
    solved = pipeline.solve(pipeline.gather(bpy.context, rig.poise.motion_object))
    jump, flip, _stand = solved.motion.ran.more.motions
    assert jump.length == pytest.approx(0.6, abs=0.02) and flip.turns == 1
    # It flips back over where it began, which was higher.
    assert [problem.code for problem in solved.problems] == ["STEP_UNDER_LAMP"]
    # It ends on the lower ground, half-way to which the step is.
    base = solved.tracks.place["base"][-1, 1]
    assert base == pytest.approx(-0.12, abs=2e-3)
    names = [what for what, _much in families.view_of(solved.job).numbers(solved).lines()]
    assert names[-1] == "Largest Torque" and "Flip Down a Step" in names


def test_a_motion_after_another_goes_on_where_the_lamp_stands(scene):
    rig, settings = added()
    script(settings, "Back Flip")
    first = rig.poise.motion_object
    bpy.ops.poise.motion_add(kind="CONTROLLER")
    motion = rig.poise.motion_object
    second = motion.poise_motion
    motion.location.x = 3.0  # where it stands does not count
    second.after, second.frame_end = first, 100
    second.control.controllers.clear()
    second.control.script.clear()
    script(second, "Back Flip")
    one, two = (
        pipeline.solve(pipeline.gather(bpy.context, m)).tracks for m in (first, motion)
    )
    for name in ("root", "base"):
        np.testing.assert_allclose(two.place[name][0], one.place[name][-1], atol=2e-4)
    assert two.spins["base"].angle[-1] == pytest.approx(-4.0 * math.pi, abs=0.02)
    settings.frame_end = 22  # it has just come down
    solved = pipeline.solve(pipeline.gather(bpy.context, motion))
    assert [problem.code for problem in solved.problems] == ["LAMP_JUMPS_IN"]


def test_it_takes_over_from_poses_and_hands_back(scene):
    # Its links are led to a pose, which they pass at some speed; it comes to rest, then jumps.
    rig, _first = added()
    bpy.ops.poise.motion_remove()

    def posed(start, end, frame, after=None):
        assert bpy.ops.poise.motion_add(kind="POSE_TIMING") == {"FINISHED"}
        settings = rig.poise.motion_object.poise_motion
        settings.after = after
        settings.frame_start, settings.frame_end = start, end
        for bone in rig.pose.bones:
            compat.select_bone(bone, bone.name in ("link", "shade"))
        rig.pose.bones["link"].rotation_euler.x = 0.10
        rig.pose.bones["shade"].rotation_euler.x = -0.15
        bpy.context.view_layer.update()
        scene.frame_set(frame)
        assert bpy.ops.poise.target_add(source="POSE") == {"FINISHED"}
        for name in ("link", "shade"):
            rig.pose.bones[name].rotation_euler.x = 0.0
        bpy.context.view_layer.update()
        scene.frame_set(1)
        return rig.poise.motion_object

    before = posed(1, 20, 20)
    before.poise_motion.pose_timing.tension = 0.2
    bpy.ops.poise.motion_add(kind="CONTROLLER")
    jumps = rig.poise.motion_object
    jumps.poise_motion.after = before
    jumps.poise_motion.frame_start, jumps.poise_motion.frame_end = 20, 100
    script(jumps.poise_motion, "Jump")
    jumps.poise_motion.frame_end = 32  # in the middle of bending down
    later = posed(32, 60, 50, jumps)
    solved = [pipeline.solve(pipeline.gather(bpy.context, m)) for m in (before, jumps, later)]
    for one, two in zip(solved[:-1], solved[1:], strict=True):
        ends = pipeline.families.family_of(one.job).ends(one)
        begins = pipeline.families.family_of(two.job).spins(two, 0)
        for name in ("link", "shade"):
            assert abs(one.tracks.turn[name][-1] @ two.tracks.turn[name][0]) > 1.0 - 1e-12
            np.testing.assert_allclose(begins[name], ends.spinning[name], atol=1e-6)
            assert abs(ends.spinning[name][0]) > 0.005
    jumps.poise_motion.frame_end = 100
    (done,) = pipeline.solve(pipeline.gather(bpy.context, jumps)).motion.ran.more.motions
    assert done.began > 0.05 and done.length == pytest.approx(0.6, abs=0.02)


def test_a_push_of_its_bones_is_felt_and_caught(scene):
    rig, settings = added(frames=96)
    script(settings, "Jump")
    rig.data.bones.active = rig.data.bones["shade"]
    scene.frame_set(17)
    assert bpy.ops.poise.disturbance_add(kind="PUSH") == {"FINISHED"}
    push = settings.pose_timing.disturbances[0]
    push.frames, push.force = 0.5, (0.0, 15.0, 0.0)  # against its way, in the air
    scene.frame_set(1)
    motion = rig.poise.motion_object
    solved = pipeline.solve(pipeline.gather(bpy.context, motion))
    (knock,) = solved.motion.ran.knocks
    assert knock.impulse == pytest.approx(15.0 * 0.5 / 24.0)
    (done,) = solved.motion.ran.more.motions
    assert done.took_off < knock.start < done.touched_down and np.isfinite(done.rested)
    assert np.abs(np.degrees(solved.motion.ran.states[-1, :2] - lamp.REST)).max() < 0.5
    push.frame, push.frames, push.force = 60.0, 8.0, (0.0, 60.0, 0.0)
    found = pipeline.solve(pipeline.gather(bpy.context, motion)).problems
    assert "The lamp falls: it is knocked over" in [problem.message for problem in found]


def test_what_is_not_known_is_found_and_kept(scene):
    rig, settings = added()
    script(settings, "Back Flip")
    item = settings.control.controllers[0]
    item.amount = -0.41  # the one that is known comes near enough
    with pytest.raises(RuntimeError, match="Length of Back Flip is -0.41 m .* click Find Jump"):
        bpy.ops.poise.bake()
    assert bpy.ops.poise.jump_find() == {"FINISHED"}
    assert item.found[:2] == pytest.approx((-0.41, 0.0))
    solved = pipeline.solve(pipeline.gather(bpy.context, rig.poise.motion_object))
    (done,) = solved.motion.ran.more.motions
    assert done.length == pytest.approx(-0.41, abs=0.02) and done.turns == 1
    item.program = "STAND"
    with pytest.raises(RuntimeError, match="it must be JUMP or FLIP or"):
        bpy.ops.poise.jump_find()


def test_a_lamp_of_other_proportions_is_none(scene):
    rig, settings = added()
    script(settings, "Jump")
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["shade"].tail.z += 0.1
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(RuntimeError, match="Bone shade of Luxo Lamp is not where a lamp"):
        bpy.ops.poise.bake()
    rig["poise_mass"] = "heavy"
    with pytest.raises(RuntimeError, match="poise_mass of Luxo Lamp is heavy|Bone shade"):
        bpy.ops.poise.bake()
