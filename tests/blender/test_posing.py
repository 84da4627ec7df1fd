# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose timing on armatures that Poise never set up: poses on their frames, on top of what plays."""

import bpy
import numpy as np
import pytest
from poise.addon import compat, pipeline
from poise.solvers import rotations

pytestmark = pytest.mark.usefixtures("scene")


def _armature(name="Arm", bones=4, length=0.3):
    """A chain of bones that stands up, in Pose Mode, with nothing of Poise on it."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for number in range(bones):
        bone = data.edit_bones.new(f"bone{number}")
        bone.head = (0.0, 0.0, length * number)
        bone.tail = (0.0, 0.0, length * (number + 1))
        bone.parent, bone.use_connect = parent, number > 0
        parent = bone
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return rig


def _select(rig, *names):
    for bone in rig.pose.bones:
        compat.select_bone(bone, bone.name in names)
    rig.data.bones.active = rig.data.bones[names[-1]]


def _pose(rig, vectors):
    for name, vector in vectors.items():
        turn = rotations.from_rotation_vector(np.array(vector))
        rig.pose.bones[name].rotation_quaternion = turn
    bpy.context.view_layer.update()


def _motion(rig, start=1, end=49):
    assert bpy.ops.poise.motion_add(kind="POSE_TIMING") == {"FINISHED"}
    motion = next(o for o in bpy.data.objects if o.poise_motion.character == rig)
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = start, end
    return motion


def _turns(rig, frame, names):
    bpy.context.scene.frame_set(frame)
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {n: np.array(evaluated.pose.bones[n].matrix_basis.to_quaternion()) for n in names}


def _apart(one, other):
    """Angle between two turns: by their difference, since Blender's are of single precision."""
    off = min(np.linalg.norm(one - other), np.linalg.norm(one + other))
    return 4.0 * np.arcsin(0.5 * min(off, 2.0))


POSES = {
    13: {"bone1": (0.9, 0.0, 0.2), "bone2": (0.4, 0.0, 0.0)},
    37: {"bone1": (-0.5, 0.3, 0.0), "bone2": (1.2, 0.0, -0.4)},
}


def _with_targets(rig, poses=POSES):
    motion = _motion(rig)
    for frame, vectors in poses.items():
        bpy.context.scene.frame_set(frame)
        _select(rig, *vectors)
        _pose(rig, vectors)
        assert bpy.ops.poise.target_add(source="POSE") == {"FINISHED"}
    for bone in rig.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    return motion


def test_poses_are_reached_on_their_frames_on_an_armature_never_set_up():
    rig = _armature()
    motion = _with_targets(rig)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    for frame, vectors in POSES.items():
        found = _turns(rig, frame, vectors)
        for name, vector in vectors.items():
            wanted = rotations.from_rotation_vector(np.array(vector))
            assert _apart(found[name], wanted) < 1e-3
    # Between them it moves, and other bones have no keys.
    keyed = {c.data_path for c in compat.action_fcurves(
        rig.animation_data.action, rig.animation_data.action_slot)}
    assert keyed == {f'pose.bones["{n}"].rotation_quaternion' for n in ("bone1", "bone2")}
    assert not [p for p in motion.poise_motion.problems if p.severity == "ERROR"]
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert rig.animation_data is None or rig.animation_data.action is None


def test_disturbed_joints_arrive_all_the_same():
    rig = _armature()
    motion = _with_targets(rig)
    free = pipeline.solve(pipeline.gather(bpy.context, motion))
    bpy.context.scene.frame_set(5)
    _select(rig, "bone2")
    assert bpy.ops.poise.disturbance_add(kind="PUSH") == {"FINISHED"}
    motion.poise_motion.pose_timing.disturbances[0].force = (60.0, 0.0, 0.0)
    pushed = pipeline.solve(pipeline.gather(bpy.context, motion))
    row = 6
    off = _apart(free.tracks.turn["bone2"][row], pushed.tracks.turn["bone2"][row])
    assert off > np.radians(2.0), "the push shows"
    for frame, vectors in POSES.items():
        for name, vector in vectors.items():
            wanted = rotations.from_rotation_vector(np.array(vector))
            assert _apart(pushed.tracks.turn[name][frame - 1], wanted) < 1e-3


def test_what_plays_below_is_lain_on_and_marks_the_bake_stale():
    """The carrier is keyed by hand: its shaking is felt, its own keys stay, its change is told."""
    rig = _armature()
    for frame, angle in ((1, 0.0), (9, 0.6), (17, -0.6), (25, 0.6), (49, 0.0)):
        rig.pose.bones["bone0"].rotation_quaternion = rotations.about_x(angle)
        rig.pose.bones["bone0"].keyframe_insert("rotation_quaternion", frame=frame)
    motion = _motion(rig)
    _select(rig, "bone1")
    assert bpy.ops.poise.overlap_add() == {"FINISHED"}
    job = pipeline.gather(bpy.context, motion)
    solved = pipeline.solve(job)
    assert _apart(solved.tracks.turn["bone1"][12], np.array((1.0, 0, 0, 0))) > np.radians(3.0)
    before = _turns(rig, 9, ["bone0"])["bone0"]
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert _apart(_turns(rig, 9, ["bone0"])["bone0"], before) < 1e-5
    found = _turns(rig, 13, ["bone1", "bone2", "bone3"])
    for name, turn in found.items():
        assert _apart(turn, solved.tracks.turn[name][12]) < 1e-4
    # Read again it is the same: its own output is not what it lies on.
    again = pipeline.gather(bpy.context, motion)
    assert not pipeline.changed_inputs(again, motion.poise_motion.inputs)
    track = next(t for t in rig.animation_data.nla_tracks if t.strips)
    curve = next(iter(compat.action_fcurves(track.strips[0].action, track.strips[0].action_slot)))
    curve.keyframe_points[1].co.y += 0.1
    curve.update()
    later = pipeline.gather(bpy.context, motion)
    assert "what plays below" in pipeline.changed_inputs(later, motion.poise_motion.inputs)


def test_targets_from_keys_are_updated_from_their_source():
    rig = _armature()
    for frame, angle in ((1, 0.0), (20, 0.8)):
        rig.pose.bones["bone1"].rotation_quaternion = rotations.about_x(angle)
        rig.pose.bones["bone1"].keyframe_insert("rotation_quaternion", frame=frame)
    motion = _motion(rig)
    _select(rig, "bone1")
    assert bpy.ops.poise.target_add(source="KEYS") == {"FINISHED"}
    settings = motion.poise_motion.pose_timing
    assert [item.frame for item in settings.targets] == [20.0]
    action = rig.animation_data.action
    for curve in compat.action_fcurves(action, rig.animation_data.action_slot):
        for key in curve.keyframe_points:
            if key.co.x == 20.0 and curve.array_index in (0, 1):
                key.co.y = (np.cos(0.2), np.sin(0.2))[curve.array_index]
        curve.update()
    assert bpy.ops.poise.target_update() == {"FINISHED"}
    solved = pipeline.solve(pipeline.gather(bpy.context, motion))
    assert _apart(solved.tracks.turn["bone1"][19], rotations.about_x(0.4)) < 1e-3


@pytest.mark.parametrize("call", [
    lambda: bpy.ops.poise.bake(),
    lambda: bpy.ops.poise.target_update(index=3),
    lambda: bpy.ops.poise.target_add(source="MARKERS"),
])
def test_what_cannot_be_done_is_one_sentence(call):
    rig = _armature()
    _motion(rig)
    _select(rig, "bone1")
    with pytest.raises(RuntimeError) as told:
        call()
    assert "Traceback" not in str(told.value)
