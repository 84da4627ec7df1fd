# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose timing on armatures that Poise never set up: poses on their frames, on top of what plays."""

import bpy
import numpy as np
import pytest
import rig_files
from mathutils import Matrix, Quaternion
from operators_help import activate, call, load, sentence
from poise.addon import compat, motions, pipeline
from poise.addon.rigs import roles
from poise.addon.rigs.controls import control_rig
from poise.addon.rigs.limbs import limbs_of
from poise.addon.rigs.pose import evaluate, rotation_modes
from poise.addon.rigs.pose.posture import Posture, Source
from poise.addon.settings.posing import POSTURE
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


def test_a_shake_moves_what_swings_while_it_lasts_and_no_pose_in_its_time():
    rig = _armature()
    motion = _with_targets(rig, {25: POSES[37]})
    bpy.context.scene.frame_set(5)
    assert bpy.ops.poise.disturbance_add(kind="SHAKE") == {"FINISHED"}
    shake = motion.poise_motion.pose_timing.disturbances[0]
    assert shake.frames == pytest.approx(bpy.context.scene.render.fps)
    free, shaken = [], []
    for amplitude, found in ((0.0, free), (0.05, shaken)):
        shake.amplitude = (0.0, amplitude, 0.0)
        found.append(pipeline.solve(pipeline.gather(bpy.context, motion)).tracks.turn)
    off = [_apart(a, b) for a, b in zip(free[0]["bone1"], shaken[0]["bone1"], strict=True)]
    assert max(off[:4]) < 1e-6 and max(off[5:20]) > np.radians(1.0)
    for name, vector in POSES[37].items():
        wanted = rotations.from_rotation_vector(np.array(vector))
        assert _apart(shaken[0][name][24], wanted) < _drop()


def test_a_ball_is_seen_to_fall_freely_until_it_hits_and_goes_with_the_bake():
    rig = _armature()
    motion = _with_targets(rig)
    settings = motion.poise_motion.pose_timing
    before = set(bpy.data.objects)
    bpy.context.scene.frame_set(5)
    bpy.context.scene.cursor.location = (0.0, -2.0, 1.0)
    _select(rig, "bone2")
    for kind in ("BALL", "WEIGHT"):
        assert bpy.ops.poise.disturbance_add(kind=kind) == {"FINISHED"}
    thrown = settings.disturbances[0]
    assert bpy.ops.poise.bake() == {"FINISHED"}
    made = [item.ball for item in settings.disturbances]
    assert set(bpy.data.objects) - before == set(made)
    for item, ball in zip(settings.disturbances, made, strict=True):
        assert tuple(ball.dimensions) == pytest.approx((2.0 * item.radius,) * 3, rel=1e-3)

    def seen(ball, frame):
        bpy.context.scene.frame_set(frame)
        now = ball.evaluated_get(bpy.context.evaluated_depsgraph_get())
        return np.array(now.matrix_world.translation)

    def falling(item, frame):
        time = (frame - 5) / bpy.context.scene.render.fps
        weight = np.array((0.0, 0.0, -0.5 * 9.81 * time**2))
        return np.array(item.place) + time * np.array(item.velocity) + weight

    for frame in (5, 9, 40):  # the weight falls beside the arm
        assert seen(made[1], frame) == pytest.approx(falling(settings.disturbances[1], frame),
                                                     abs=1e-4)
    hit = min(
        hit.time for each in pipeline.solve(pipeline.gather(bpy.context, motion)).motion.motions
        for hit in each.hits
    )
    frame = 1 + hit * bpy.context.scene.render.fps
    assert seen(made[0], int(frame)) == pytest.approx(falling(thrown, int(frame)), abs=1e-4)
    assert np.linalg.norm(seen(made[0], int(frame) + 6) - falling(thrown, int(frame) + 6)) > 0.1
    seen(made[0], 4)
    assert made[0].hide_render and made[0].hide_viewport
    seen(made[0], 5)
    assert not made[0].hide_render and not made[0].hide_viewport

    mesh = bpy.data.meshes.new("Mine")
    made[0].data = mesh
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert [item.ball for item in settings.disturbances] == made and made[0].data == mesh
    # A copy of the motion has no ball before it is baked, and takes none with it.
    copy = motion.copy()
    bpy.context.scene.collection.objects.link(copy)
    settings.disturbance_index = 1
    assert bpy.ops.poise.disturbance_remove() == {"FINISHED"}
    assert set(bpy.data.objects) - before == {made[0], copy}
    bpy.data.objects.remove(copy)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert set(bpy.data.objects) == before
    assert not [a for a in bpy.data.actions if a.name.startswith("Arm Motion Ball")]


def test_what_plays_below_is_lain_on_and_marks_the_bake_stale():
    """The carrier is keyed by hand: its shaking is felt, its own keys stay, its change is told."""
    rig = _armature()
    for frame, angle in ((1, 0.0), (9, 0.6), (17, -0.6), (25, 0.6), (49, 0.0)):
        rig.pose.bones["bone0"].rotation_quaternion = rotations.about_x(angle)
        rig.pose.bones["bone0"].keyframe_insert("rotation_quaternion", frame=frame)
    motion = _motion(rig)
    _select(rig, "bone1")
    assert bpy.ops.poise.overlap_add(settle=0.3) == {"FINISHED"}
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


def _pose_asset(rig, name, keys, marked=True):
    """An action of some frames that turns bones about X, marked as Blender marks poses."""
    action = bpy.data.actions.new(name)
    data = rig.animation_data_create()
    before, data.action = data.action, action
    for frame, angles in keys.items():
        for bone, angle in angles.items():
            rig.pose.bones[bone].rotation_quaternion = rotations.about_x(angle)
            rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
            rig.pose.bones[bone].rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    data.action = before
    if marked:
        action.asset_mark()
    return action


def _about_x(action, bone, angle):
    """Change the one key that a pose asset has of a bone."""
    for curve in compat.action_fcurves(action, action.slots[0]):
        if f'"{bone}"' in curve.data_path and curve.array_index in (0, 1):
            value = (np.cos(0.5 * angle), np.sin(0.5 * angle))[curve.array_index]
            curve.keyframe_points[0].co.y = value
            curve.update()


def _kept(motion):
    """Frame, told source, and bone -> turn of each target."""
    found = []
    for item in motion.poise_motion.pose_timing.targets:
        posture = Posture.kept(motion, POSTURE.format(item.number))
        turns = dict(zip(posture.bones, posture.turns, strict=True))
        found.append((item.frame, item.source, turns))
    return found


def test_a_pose_asset_is_reached_on_its_frame_and_updated_from_it():
    rig = _armature()
    motion = _motion(rig)
    for bone in rig.pose.bones:
        compat.select_bone(bone, False)
    with pytest.raises(RuntimeError, match="no pose asset: pose some bones, and make one"):
        bpy.ops.poise.target_add(source="ASSET")
    asset = _pose_asset(rig, "Reach", {7: {"bone1": 0.8, "bone2": -0.5}})
    _pose_asset(rig, "No Asset", {7: {"bone1": 0.1}}, marked=False)
    bpy.context.scene.frame_set(25)
    assert bpy.ops.poise.target_add(source="ASSET") == {"FINISHED"}  # the only one
    [(frame, source, turns)] = _kept(motion)
    assert (frame, source, sorted(turns)) == (25.0, "Reach, frame 7", ["bone1", "bone2"])
    assert motion.poise_motion.pose_timing.targets[0].name == "Reach"
    _about_x(asset, "bone1", 1.1)
    assert bpy.ops.poise.target_update() == {"FINISHED"}
    assert bpy.ops.poise.bake() == {"FINISHED"}
    turns = _turns(rig, 25, ("bone1", "bone2"))
    for name, angle in (("bone1", 1.1), ("bone2", -0.5)):
        assert _apart(turns[name], rotations.about_x(angle)) < 1e-4
    # Of selected bones alone, as Blender applies poses.
    _select(rig, "bone2", "bone3")
    assert bpy.ops.poise.target_add(source="ASSET", asset="Reach") == {"FINISHED"}
    assert list(_kept(motion)[-1][2]) == ["bone2"]
    _select(rig, "bone3")
    with pytest.raises(RuntimeError, match="Pose asset Reach turns no selected bone of Arm"):
        bpy.ops.poise.target_add(source="ASSET", asset="Reach")
    with pytest.raises(RuntimeError, match="no pose asset No Asset"):
        bpy.ops.poise.target_add(source="ASSET", asset="No Asset")
    motion.poise_motion.bake_action.asset_mark()
    with pytest.raises(RuntimeError, match="is the bake of"):
        bpy.ops.poise.target_add(source="ASSET", asset=motion.poise_motion.bake_action.name)
    with pytest.raises(RuntimeError, match="has 2 pose assets: choose one"):
        bpy.ops.poise.target_add(source="ASSET")
    # Keyed in a mode that the bone does not have now, it would stand as at rest.
    _select(rig, "bone1", "bone2")
    rig.pose.bones["bone1"].rotation_mode = "XYZ"
    assert bpy.ops.poise.target_add(source="ASSET", asset="Reach") == {"FINISHED"}
    assert list(_kept(motion)[-1][2]) == ["bone2"]


def test_each_key_of_a_pose_asset_is_a_target():
    rig = _armature()
    motion = _motion(rig)
    _pose_asset(rig, "Wave", {3: {"bone1": 0.2}, 9: {"bone1": -0.4}, 12: {"bone1": 0.6}})
    bpy.context.scene.frame_set(20)
    _select(rig, "bone1")
    assert bpy.ops.poise.target_add(source="ASSET", hold=0.1) == {"FINISHED"}
    found = _kept(motion)
    assert [frame for frame, _source, _turns in found] == [20.0, 26.0, 29.0]
    assert [source for _frame, source, _turns in found][1:] == ["Wave, frame 9", "Wave, frame 12"]
    items = motion.poise_motion.pose_timing.targets
    assert [(item.name, round(item.hold, 6)) for item in items] == [
        (f"Wave {k}", 0.1) for k in (1, 2, 3)
    ]
    for (_frame, _source, turns), angle in zip(found, (0.2, -0.4, 0.6), strict=True):
        assert _apart(turns["bone1"], rotations.about_x(angle)) < 1e-6


def test_a_flipped_pose_asset_goes_to_the_other_side():
    assert bpy.ops.poise.character_add(kind="SKIER") == {"FINISHED"}
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode="POSE")
    left, right = (f"upper_arm.{side}" for side in "LR")
    rig.pose.bones[left].rotation_mode = rig.pose.bones[right].rotation_mode = "QUATERNION"
    asset = _pose_asset(rig, "Point", {1: {left: 0.7}})
    _motion(rig)
    motion = motions.active_motion(rig)  # it has one of its own already
    bpy.context.scene.frame_set(20)
    _select(rig, right)
    assert bpy.ops.poise.target_add(source="ASSET", flipped=True) == {"FINISHED"}
    [(_frame, source, turns)] = _kept(motion)
    assert source == "Point, frame 1, flipped" and list(turns) == [right]
    there = Posture.of_action(rig, Source(asset.name_full, asset.slots[0].handle, 1.0), [left])
    expected = there.mirrored(rig)
    assert _apart(turns[right], expected.turns[0]) < 1e-9
    _about_x(asset, left, 0.2)
    assert bpy.ops.poise.target_update() == {"FINISHED"}
    [(_frame, _source, turns)] = _kept(motion)
    assert 2.0 * np.arccos(min(abs(turns[right][0]), 1.0)) == pytest.approx(0.2, abs=1e-5)


def test_a_pose_asset_of_another_file_is_linked_and_stays_with_the_target(tmp_path):
    rig = _armature()
    motion = _motion(rig)
    shelf = str(tmp_path / "shelf.blend")
    asset = _pose_asset(rig, "Bow", {1: {"bone1": 0.9}})
    bpy.data.libraries.write(shelf, {asset})
    bpy.data.actions.remove(asset)
    bpy.context.scene.frame_set(20)
    _select(rig, "bone1")
    with pytest.raises(RuntimeError, match="has no pose asset Curtsey"):
        bpy.ops.poise.target_add(source="ASSET", asset="Curtsey", library=shelf)
    with pytest.raises(RuntimeError, match="cannot be read"):
        bpy.ops.poise.target_add(source="ASSET", asset="Bow", library=str(tmp_path / "no.blend"))
    assert bpy.ops.poise.target_add(source="ASSET", asset="Bow", library=shelf) == {"FINISHED"}
    assert [source for _frame, source, _turns in _kept(motion)] == ["Bow [shelf.blend], frame 1"]
    # Linked, it is found by its full name as well, and not twice.
    assert bpy.ops.poise.target_add(source="ASSET", asset="Bow [shelf.blend]") == {"FINISHED"}
    assert bpy.ops.poise.target_add(source="ASSET", asset="Bow", library=shelf) == {"FINISHED"}
    assert [a.name_full for a in bpy.data.actions if a.asset_data] == ["Bow [shelf.blend]"]
    name, scene = motion.name, str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=scene)
    bpy.ops.wm.open_mainfile(filepath=scene)
    motion = bpy.data.objects[name]
    assert motion.poise_motion.pose_timing.targets[0].linked.library is not None
    bpy.context.view_layer.objects.active = motion.poise_motion.character
    assert bpy.ops.poise.target_update() == {"FINISHED"}
    for _frame, _source, turns in _kept(motion):
        assert _apart(turns["bone1"], rotations.about_x(0.9)) < 1e-6


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


def _visual(rig, frame, names):
    """Turns that would put bones where they are seen, below where their parents are."""
    bpy.context.scene.frame_set(frame)
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {
        name: np.array(evaluate.local_matrix(evaluated, evaluated.pose.bones[name]).to_quaternion())
        for name in names
    }


def _drop(degrees=0.1):
    return np.radians(degrees)


def test_rotation_modes_turned_scaled_and_moving_armatures():
    """An FBX import's armature: 0.01 of size, lying on its back, its object keyed, and the carrier
    of the bones growing."""
    rig = _armature(length=30.0)
    modes = dict(zip(("bone1", "bone2", "bone3"), ("ZYX", "AXIS_ANGLE", "XYZ"), strict=True))
    for name, mode in modes.items():
        rig.pose.bones[name].rotation_mode = mode
    rig.scale, rig.rotation_euler.x = (0.01,) * 3, np.pi / 2
    for frame, x in ((1, 0.0), (13, 0.4), (30, -0.3), (49, 0.0)):
        rig.location.x = x
        rig.keyframe_insert("location", frame=frame)
        rig.pose.bones["bone0"].scale = (1.0 + 0.5 * abs(x),) * 3
        rig.pose.bones["bone0"].keyframe_insert("scale", frame=frame)
    motion = _motion(rig)
    names = ("bone1", "bone2")
    for frame, vectors in POSES.items():
        bpy.context.scene.frame_set(frame)
        _select(rig, *names)
        for name in names:
            basis = rig.pose.bones[name]
            turn = rotations.from_rotation_vector(np.array(vectors[name]))
            values = rotation_modes.to_mode(turn[None], modes[name])[0]
            setattr(basis, rotation_modes.PROPERTY[modes[name]], values)
        bpy.context.view_layer.update()
        assert bpy.ops.poise.target_add() == {"FINISHED"}
    _select(rig, "bone3")
    assert bpy.ops.poise.overlap_add() == {"FINISHED"}
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert not [p.message for p in motion.poise_motion.problems if p.severity != "INFO"]
    for frame, vectors in POSES.items():
        found = _turns(rig, frame, names)
        for name in names:
            wanted = rotations.from_rotation_vector(np.array(vectors[name]))
            assert _apart(found[name], wanted) < _drop()
    # The chain at the end feels both the object and the bones below it.
    solved = pipeline.solve(pipeline.gather(bpy.context, motion))
    assert np.degrees(_apart(solved.tracks.turn["bone3"][8], np.array((1.0, 0, 0, 0)))) > 1.0
    # Metres, not units of the armature: a limb of 0.3 m, 4.5 cm thick, weighs half a kilogram.
    part = pipeline.gather(bpy.context, motion).parts[0]
    assert part.body.tips[0][1] == pytest.approx(0.3, rel=0.3)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert {c.data_path for c in compat.action_fcurves(
        rig.animation_data.action, rig.animation_data.action_slot)} == {
        "location", 'pose.bones["bone0"].scale'}


def test_bake_all_lays_it_on_what_is_baked_with_it():
    rig, lower = load("SKIER", frames=25)
    assert bpy.ops.poise.motion_add(kind="POSE_TIMING") == {"FINISHED"}
    motion = rig.poise.motion_object
    _select(rig, "upper_arm.L")
    assert bpy.ops.poise.overlap_add() == {"FINISHED"}
    names = ("upper_arm.L", "forearm.L", "hand.L")
    for each in (lower, motion):
        bpy.ops.poise.motion_activate(name=each.name)
        assert bpy.ops.poise.bake() == {"FINISHED"}
    wanted = _visual(rig, 20, names)
    for each in (motion, lower):
        bpy.ops.poise.motion_activate(name=each.name)
        assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert bpy.ops.poise.bake_all() == {"FINISHED"}
    found = _visual(rig, 20, names)
    assert max(_apart(found[name], wanted[name]) for name in names) < 1e-5
    job = pipeline.gather(bpy.context, motion)
    assert not pipeline.changed_inputs(job, motion.poise_motion.inputs)
    # Edited keys of the upper one are seen before the lower one is written.
    keys = lower.poise_motion.record
    lower.poise_motion.turns.speed *= 1.1
    action = motion.poise_motion.bake_action
    curve = next(iter(compat.action_fcurves(action, action.slots[0])))
    curve.keyframe_points[5].co.y += 0.2
    curve.update()
    with pytest.raises(RuntimeError, match="were edited"):
        bpy.ops.poise.bake_all()
    assert lower.poise_motion.record == keys
    assert bpy.ops.poise.bake_all(edited_keys="OVERWRITE") == {"FINISHED"}


def test_an_arm_that_ik_decides_is_reached_on_top_of_a_baked_ski_run():
    rig, base = load("SKIER", frames=49)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    names = ("upper_arm.L", "forearm.L", "hand.L")
    legs = ("thigh.L", "shin.R", "pelvis")
    before = {frame: _visual(rig, frame, legs) for frame in (1, 20, 40)}
    free = _visual(rig, 30, names)
    # The pose is what IK makes of the hand's control.
    posed = _visual(rig, 40, names)
    assert bpy.ops.poise.motion_add(kind="POSE_TIMING") == {"FINISHED"}
    motion = rig.poise.motion_object
    assert motion.poise_motion.after is None
    assert motion.poise_motion.frame_end == base.poise_motion.frame_end
    bpy.context.scene.frame_set(40)
    _select(rig, *names)
    assert bpy.ops.poise.target_add() == {"FINISHED"}
    rig.poise.pose_timing.targets[0].frame = 20
    assert bpy.ops.poise.bake() == {"FINISHED"}
    # The arm may be swinging too fast for this tension there: it arrives on its frame all the same.
    assert {p.code for p in motion.poise_motion.problems} <= {"TENSION_YIELDED"}
    found = _visual(rig, 20, names)
    for name in names:
        assert _apart(found[name], posed[name]) < _drop()
    for frame, turns in before.items():
        for name, turn in _visual(rig, frame, legs).items():
            assert _apart(turn, turns[name]) < _drop(0.01), (frame, name)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    for name, turn in _visual(rig, 30, names).items():
        assert _apart(turn, free[name]) < _drop(0.01)


def _place(rig, name, frame, along=0.0):
    """Where a bone is in the world, or a point so many metres along it."""
    bpy.context.scene.frame_set(frame)
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bone = evaluated.pose.bones[name]
    matrix = np.array(evaluated.matrix_world @ bone.matrix)
    return matrix[:3, 3] + along * matrix[:3, 1] / np.linalg.norm(matrix[:3, 1])


def test_arms_react_to_a_ski_run_and_plant_the_pole_on_its_frame():
    """The left arm swings after the run, the right one goes freely until its pole is planted."""
    rig, base = load("SKIER", frames=49)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    run = pipeline.solve(pipeline.gather(bpy.context, base))
    plant = next(e for e in run.tracks.events if e.kind == "POLE_PLANT" and e.side == "R")
    frame, pole = 1 + plant.time * 24.0, run.job.figure.equipment["pole_length"]
    assert frame == pytest.approx(round(frame), abs=1e-3)
    frame = round(frame)
    keyed = {hand: _place(rig, hand, frame - 12) for hand in ("hand.L", "hand.R")}
    assert bpy.ops.poise.motion_add(kind="POSE_TIMING") == {"FINISHED"}
    bpy.context.scene.frame_set(frame)
    _select(rig, "upper_arm.R", "forearm.R", "hand.R")
    assert bpy.ops.poise.target_add() == {"FINISHED"}
    _select(rig, "upper_arm.L")
    assert bpy.ops.poise.overlap_add(settle=0.5) == {"FINISHED"}
    assert bpy.ops.poise.bake() == {"FINISHED"}
    for hand, place in keyed.items():
        assert np.linalg.norm(_place(rig, hand, frame - 12) - place) > 0.02, hand
    off = np.linalg.norm(_place(rig, "pole.R", frame, pole) - plant.position)
    assert off < 2e-3


def test_a_tail_reacts_to_a_gallop_and_is_in_its_pose_on_its_frame():
    rig, base = load("DOG", frames=25)
    base.poise_motion.gait.sequence[0].gait = "GALLOP_LEFT"
    assert bpy.ops.poise.bake() == {"FINISHED"}
    tails = [b.name for b in rig.data.bones if b.name.startswith("tail")]
    length = rig.data.bones[tails[-1]].length
    before = _place(rig, tails[-1], 10, length)
    assert bpy.ops.poise.motion_add(kind="POSE_TIMING") == {"FINISHED"}
    bpy.context.scene.frame_set(17)
    _select(rig, *tails)
    _pose(rig, dict.fromkeys(tails, (0.4, 0.0, 0.2)))
    # Where its tip is in the world while the dog stands as it gallops by.
    bone = rig.pose.bones[tails[-1]]
    wanted = np.array(rig.matrix_world @ bone.tail)
    assert bpy.ops.poise.target_add() == {"FINISHED"}
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert np.linalg.norm(_place(rig, tails[-1], 17, length) - wanted) < 1e-3
    assert np.linalg.norm(_place(rig, tails[-1], 10, length) - before) > 0.03


MIXAMO = {
    "Hips": ("", (0, 0, 100), (0, 0, 110)), "Spine": ("Hips", (0, 0, 110), (0, 0, 130)),
    "Spine1": ("Spine", (0, 0, 130), (0, 0, 145)),
    "LeftShoulder": ("Spine1", (4, 0, 140), (15, 0, 142)),
    "LeftArm": ("LeftShoulder", (15, 0, 142), (42, 0, 142)),
    "LeftForeArm": ("LeftArm", (42, 0, 142), (68, 0, 142)),
    "LeftHand": ("LeftForeArm", (68, 0, 142), (78, 0, 142)),
}


def _mixamo():
    """A skeleton as it comes from there: centimetres, names with a colon, lying on its back."""
    data = bpy.data.armatures.new("Armature")
    rig = bpy.data.objects.new("Armature", data)
    bpy.context.scene.collection.objects.link(rig)
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (parent, head, tail) in MIXAMO.items():
        bone = data.edit_bones.new(f"mixamorig:{name}")
        # Y up, as the file has it.
        bone.head, bone.tail = ((x, z, -y) for x, y, z in (head, tail))
        bone.parent = data.edit_bones.get(f"mixamorig:{parent}")
    bpy.ops.object.mode_set(mode="POSE")
    rig.scale, rig.rotation_euler.x = (0.01,) * 3, np.pi / 2
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    for frame, angle in ((1, 0.0), (13, 0.5), (25, -0.5), (37, 0.5), (49, 0.0)):
        for name in ("Hips", "LeftArm"):
            bone = rig.pose.bones[f"mixamorig:{name}"]
            bone.rotation_quaternion = rotations.about_x(angle)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    return rig


def _everything_of(action):
    return {
        (c.data_path, c.array_index): [tuple(k.co) for k in c.keyframe_points]
        for c in compat.action_fcurves(action, action.slots[0])
    }


@pytest.mark.parametrize("where", ["ACTION", "STRIP"])
def test_a_mixamo_skeletons_clip_plays_on_below_and_comes_back_unchanged(where):
    rig = _mixamo()
    data = rig.animation_data
    clip, keys = data.action, _everything_of(data.action)
    if where == "STRIP":
        strip = data.nla_tracks.new().strips.new("Clip", 1, clip)
        data.action = None
        span = (strip.frame_start, strip.frame_end, strip.name, data.nla_tracks[0].name)
    arm = [f"mixamorig:{name}" for name in ("LeftArm", "LeftForeArm", "LeftHand")]
    shoulder, hips = "mixamorig:LeftShoulder", "mixamorig:Hips"
    before = {frame: {n: _place(rig, n, frame, 0.1) for n in (shoulder, hips, arm[-1])}
              for frame in (7, 20, 30)}
    motion = _motion(rig)
    bpy.context.scene.frame_set(20)
    _select(rig, *arm)
    _pose(rig, {arm[0]: (0.8, 0.3, 0.0), arm[1]: (0.0, 0.0, 1.1)})
    wanted = np.array(rig.matrix_world @ rig.pose.bones[arm[-1]].tail)
    assert bpy.ops.poise.target_add() == {"FINISHED"}
    _pose(rig, {arm[1]: (0.0, 0.0, 0.0)})  # which has no keys that would put it back
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert not [p.message for p in motion.poise_motion.problems if p.severity == "ERROR"]
    assert np.linalg.norm(_place(rig, arm[-1], 20, 0.1) - wanted) < 1e-3
    for frame, places in before.items():
        for name in (shoulder, hips):
            assert np.linalg.norm(_place(rig, name, frame, 0.1) - places[name]) < 1e-5
    assert _everything_of(clip) == keys
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert _everything_of(clip) == keys
    if where == "STRIP":
        (track,) = data.nla_tracks
        (strip,) = track.strips
        assert data.action is None and strip.action == clip
        assert (strip.frame_start, strip.frame_end, strip.name, track.name) == span
    else:
        assert data.action == clip and not data.nla_tracks
    for name, place in before[20].items():
        assert np.linalg.norm(_place(rig, name, 20, 0.1) - place) < 1e-5


def test_bones_that_ik_and_copies_move_are_let_go_reached_and_given_back():
    """IK pulls the arm to a handle, a twist bone copies the forearm, a third one copies all."""
    rig = _armature("Puppet", bones=4)
    bpy.ops.object.mode_set(mode="EDIT")
    edit = rig.data.edit_bones
    for name, head in (("handle", (0.5, -0.2, 0.7)), ("twist", (0.0, 0.0, 0.6))):
        edit.new(name).head = head
        edit[name].tail = (head[0], head[1], head[2] + 0.1)
    edit["twist"].parent = edit["bone1"]
    bpy.ops.object.mode_set(mode="POSE")
    ik = rig.pose.bones["bone2"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = rig, "handle", 2
    copy = rig.pose.bones["twist"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = rig, "bone2"
    handle = rig.pose.bones["handle"]
    for frame, x in ((1, 0.0), (25, -0.6), (49, 0.0)):
        handle.location.x = x
        handle.keyframe_insert("location", frame=frame)
    arm = ("bone1", "bone2")
    before = {frame: _visual(rig, frame, (*arm, "twist", "bone3")) for frame in (10, 25, 40)}
    motion = _motion(rig)
    bpy.context.scene.frame_set(25)
    _select(rig, *arm)
    assert bpy.ops.poise.target_add() == {"FINISHED"}  # as IK has put them
    motion.poise_motion.pose_timing.targets[0].frame = 13
    _select(rig, "twist")
    assert bpy.ops.poise.overlap_add() == {"FINISHED"}
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert not [p.message for p in motion.poise_motion.problems if p.severity == "ERROR"]
    found = _visual(rig, 13, arm)
    for name in arm:
        assert _apart(found[name], before[25][name]) < _drop()
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert ik.influence == 1.0 and copy.influence == 1.0 and not ik.mute and not copy.mute
    for frame, turns in before.items():
        for name, turn in _visual(rig, frame, turns).items():
            assert _apart(turn, turns[name]) < _drop(0.001), (frame, name)


def test_a_bone_that_copies_what_ik_moves_goes_with_the_parents_of_that():
    """The arm's deforming bone alone: what it copies is moved by IK, and not known."""
    assert bpy.ops.poise.character_add(kind="SNOWBOARDER") == {"FINISHED"}
    rig = bpy.context.active_object
    bpy.context.scene.frame_end = 12
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert bpy.ops.poise.motion_add(kind="POSE_TIMING") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="POSE")
    name = "DEF-forearm.L"
    _select(rig, name)
    bpy.context.scene.frame_set(8)
    wanted = _visual(rig, 8, (name,))[name]
    assert bpy.ops.poise.target_add() == {"FINISHED"}
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert _apart(_visual(rig, 8, (name,))[name], wanted) < _drop()


def test_a_carrier_that_shrinks_to_nothing_is_named_with_its_frame():
    rig = _armature()
    carrier = rig.pose.bones["bone0"]
    for frame, size in ((1, 1.0), (20, 1.0), (21, 0.0)):
        carrier.scale = (size,) * 3
        carrier.keyframe_insert("scale", frame=frame)
    bpy.context.scene.frame_set(1)
    _with_targets(rig)
    with pytest.raises(RuntimeError, match="What carries bone1 has no size .* at frame 21: give"):
        bpy.ops.poise.bake()


def test_a_motion_on_top_of_another_pose_timing():
    rig = _armature()
    _with_targets(rig, {13: {"bone1": (0.9, 0.0, 0.0)}, 25: {"bone1": (-0.9, 0.0, 0.0)}})
    assert bpy.ops.poise.bake() == {"FINISHED"}
    lower = rig.poise.motion_object
    below = _turns(rig, 19, ["bone1"])["bone1"]
    assert bpy.ops.poise.motion_add(kind="POSE_TIMING") == {"FINISHED"}
    motion = rig.poise.motion_object
    assert motion != lower
    _select(rig, "bone2")
    assert bpy.ops.poise.overlap_add() == {"FINISHED"}
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert _apart(_turns(rig, 19, ["bone1"])["bone1"], below) < 1e-5
    assert _apart(_turns(rig, 19, ["bone2"])["bone2"], np.array((1.0, 0, 0, 0))) > _drop(2.0)
    # The lower one does not lie on the upper one.
    for each in (lower, motion):
        job = pipeline.gather(bpy.context, each)
        assert not pipeline.changed_inputs(job, each.poise_motion.inputs)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert _apart(_turns(rig, 19, ["bone1"])["bone1"], below) < 1e-5


def test_limbs_go_to_where_the_next_ones_begin_whichever_way_their_bones_point():
    """Bones as glTF brings them: short, and up, on a tail that goes back."""
    rig = _armature("Tail", bones=1)
    bpy.ops.object.mode_set(mode="EDIT")
    edit, parent = rig.data.edit_bones, rig.data.edit_bones["bone0"]
    for number in range(3):
        bone = edit.new(f"tail{number}")
        bone.head = (0.0, 0.2 * number, 0.3)
        bone.tail, bone.parent = (0.0, 0.2 * number, 0.301), parent
        parent = bone
    bpy.ops.object.mode_set(mode="POSE")
    motion = _motion(rig)
    _select(rig, "tail0")
    assert bpy.ops.poise.overlap_add() == {"FINISHED"}
    (part,) = pipeline.gather(bpy.context, motion).parts
    for row, name in enumerate(part.bones):
        turn = np.array(rig.data.bones[name].matrix_local)[:3, :3]
        assert turn @ part.body.tips[row] == pytest.approx((0.0, 0.2, 0.0), abs=1e-6)
    # 15 % as thick as long: a cylinder and two half spheres of 1050 kg/m^3.
    mass = 1050.0 * np.pi * (0.015**2 * 0.2 + 4.0 / 3.0 * 0.015**3)
    assert part.body.figure.masses == pytest.approx([mass] * 3, rel=1e-5)


def test_the_shorter_the_bones_of_a_chain_the_sooner_it_settles():
    """As the root of their length, as pendulums do, and the same of a rig of any size."""
    for length in (0.1, 10.0):
        rig = _armature(bones=9, length=length)
        motion = _motion(rig)
        _select(rig, "bone4")
        assert bpy.ops.poise.overlap_add() == {"FINISHED"}
        [item] = motion.poise_motion.pose_timing.overlaps
        assert item.settle == pytest.approx(0.9 * np.sqrt(1.0 / 9.0), rel=1e-5)
        assert bpy.ops.poise.overlap_add(settle=0.25) == {"FINISHED"}
        assert item.settle == pytest.approx(0.25)
        bpy.data.objects.remove(motion)
        bpy.data.objects.remove(rig)


def test_an_arm_of_rigify_in_ik_and_what_clear_gives_back():
    path = rig_files.FOLDER / "rigify_human.blend"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    rig = bpy.data.objects["rig"]
    activate(rig)
    switch = rig.pose.bones["upper_arm_parent.L"]
    former = switch["IK_FK"]
    names = ("upper_arm_fk.L", "forearm_fk.L", "hand_fk.L")
    motion = _motion(rig, end=25)
    bpy.context.scene.frame_set(13)
    _select(rig, *names)
    for name in names:
        rig.pose.bones[name].rotation_mode = "QUATERNION"
        turn = rotations.from_rotation_vector(np.array((0.6, 0.1, -0.2)))
        rig.pose.bones[name].rotation_quaternion = turn
    bpy.context.view_layer.update()
    assert bpy.ops.poise.target_add() == {"FINISHED"}
    for name in names:
        rig.pose.bones[name].rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert not [p.message for p in motion.poise_motion.problems if p.severity == "ERROR"]
    bpy.context.scene.frame_set(13)
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    for name in names:
        # What deforms follows the controls.
        shown = evaluated.pose.bones[f"ORG-{name.replace('_fk', '')}"].matrix.to_quaternion()
        asked = evaluated.pose.bones[name].matrix.to_quaternion()
        assert _apart(np.array(shown), np.array(asked)) < _drop()
    found = _turns(rig, 13, names)
    for name in names:
        wanted = rotations.from_rotation_vector(np.array((0.6, 0.1, -0.2)))
        assert _apart(found[name], wanted) < _drop()
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert switch["IK_FK"] == former
    assert rig.animation_data is None or rig.animation_data.action is None


@pytest.mark.parametrize("below", ["CLIP", "CONTROLS"])
def test_a_foxs_tail_swings_after_its_gallop(below):
    path = rig_files.FOLDER / "fox" / "Fox.glb"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    bpy.ops.import_scene.gltf(filepath=str(path))
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    data = rig.animation_data
    clip = next(a for a in bpy.data.actions if "Run" in a.name)
    tails = [b.name for b in rig.data.bones if "ail" in b.name]
    activate(rig)
    if below == "CLIP":
        for track in data.nla_tracks:
            track.mute = True
        data.action = clip
        data.action_slot = data.action_suitable_slots[0]
    else:
        rig.animation_data_clear()
        for bone in rig.pose.bones:
            bone.matrix_basis.identity()
        bpy.context.view_layer.update()
        assert bpy.ops.poise.rig_roles_find() == {"FINISHED"}
        assert bpy.ops.poise.rig_setup(kind="DOG") == {"FINISHED"}
        controls = motions.active_character(bpy.context)
        controls.poise.gait.sequence[0].gait = "GALLOP_LEFT"
        controls.poise.settings.frame_end = 49
        assert bpy.ops.poise.bake() == {"FINISHED"}
    assert bpy.ops.poise.motion_add(kind="POSE_TIMING") == {"FINISHED"}
    motion = motions.active_motion(motions.active_character(bpy.context))
    motion.poise_motion.frame_end = 49
    _select(rig, tails[0])
    rig.data.bones.active = rig.data.bones[tails[0]]
    assert bpy.ops.poise.overlap_add(settle=0.6, ratio=0.3) == {"FINISHED"}
    keyed = None if below == "CLIP" else [_visual(rig, f, tails) for f in range(10, 49, 4)]
    if below == "CONTROLS":
        # While the bones follow controls, that has to be baked first: one sentence says so.
        with pytest.raises(RuntimeError, match="follows Poise's controls"):
            bpy.ops.poise.bake()
        lower = next(m for m in motions.motions_of(controls) if m != motion)
        bpy.ops.poise.motion_activate(name=lower.name)
        assert bpy.ops.poise.bake_to_bones(target="BONES") == {"FINISHED"}
        bpy.ops.poise.motion_activate(name=motion.name)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    moved = [_visual(rig, f, tails) for f in range(10, 49, 4)]
    if below == "CONTROLS":
        # Joints are bones of the rig: the other button keys the same.
        assert bpy.ops.poise.bake_to_bones(motions="ACTIVE") == {"FINISHED"}
        again = [_visual(rig, f, tails) for f in range(10, 49, 4)]
        assert all(
            _apart(a[t], b[t]) < 1e-6 for a, b in zip(again, moved, strict=True) for t in tails
        )
        # All at once: the gait on the bones, though its controls are baked anew, the tail on top.
        lower.poise_motion.inputs = ""
        assert bpy.ops.poise.bake_all() == {"FINISHED"}
        again = [_visual(rig, f, tails) for f in range(10, 49, 8)]
        assert all(
            _apart(a[t], b[t]) < 1e-4
            for a, b in zip(again, moved[::2], strict=True) for t in tails
        )
        bpy.ops.poise.motion_activate(name=motion.name)
    if keyed is not None:
        off = max(_apart(a[t], b[t]) for a, b in zip(keyed, moved, strict=True) for t in tails)
        assert off > _drop(3.0)
    turns = np.array([one[tails[0]] for one in moved])
    assert max(_apart(turns[0], turn) for turn in turns) > _drop(2.0)
    assert not [p.message for p in motion.poise_motion.problems if p.severity == "ERROR"]
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    if below == "CONTROLS":
        _paw_strikes(rig)
        _body_sinks(rig, controls)


def _body_sinks(rig, controls):
    """Postures of the whole fox: it sinks in, and its paws stay."""
    assert bpy.ops.poise.motion_add(kind="FREEFORM") == {"FINISHED"}
    motion = rig.poise.motion_object
    motion.poise_motion.after = None
    motion.poise_motion.freeform.limb = ""
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = 1, 21
    pelvis = controls.pose.bones["pelvis"]
    down = 0.08 * pelvis.bone.head_local.z
    for frame, low in ((1, 0.0), (21, down)):
        bpy.context.scene.frame_set(frame)
        for bone in controls.pose.bones:
            bone.matrix_basis.identity()
        bpy.context.view_layer.update()
        pelvis.matrix = Matrix.Translation((0.0, 0.0, -low)) @ pelvis.matrix
        bpy.context.view_layer.update()
        assert bpy.ops.poise.posture_add() == {"FINISHED"}
    postures = motion.poise_motion.freeform.postures
    assert [len(p.standing) for p in postures] == [4, 4]
    assert bpy.ops.poise.bake_to_bones(motions="ACTIVE", target="BONES") == {"FINISHED"}
    bones = {role: bone for role, (bone, _) in control_rig.followers(controls).items()}
    limbs = limbs_of(rig, bones)
    paws = [limbs[f"{girdle}.{s}"].all[-1] for girdle in ("fore", "hind") for s in "LR"]
    down *= controls.matrix_world.to_scale().z
    first = {name: _place(rig, name, 1) for name in (bones["pelvis"], *paws)}
    for frame in (8, 21):
        for paw in paws:
            assert np.linalg.norm(_place(rig, paw, frame) - first[paw]) < 0.02 * down
    sunk = _place(rig, bones["pelvis"], 21) - first[bones["pelvis"]]
    assert sunk == pytest.approx((0.0, 0.0, -down), abs=0.02 * down)


def _paw_strikes(rig):
    """A foreleg alone goes through postures of its own while the others gallop on."""
    assert bpy.ops.poise.motion_add(kind="FREEFORM") == {"FINISHED"}
    assert bpy.ops.poise.posture_limb(limb="fore.R") == {"FINISHED"}
    motion = rig.poise.motion_object
    limb = roles.stored(motion.poise_motion)
    bones = [limb[f"fore.{number}.R"] for number in (1, 2, 3) if f"fore.{number}.R" in limb]
    other, posed = limb["fore.2.L"], {}
    for frame, angle in ((12, 0.4), (20, -0.3)):
        before = _visual(rig, frame, [other])
        for name in bones:
            bone = rig.pose.bones[name]
            bone.rotation_mode = "QUATERNION"
            bone.rotation_quaternion = Quaternion((1, 0, 0), angle) @ bone.rotation_quaternion
        bpy.context.view_layer.update()
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        posed[frame] = before, {
            name: np.array(evaluated.pose.bones[name].matrix.to_quaternion()) for name in bones
        }
        assert bpy.ops.poise.posture_add() == {"FINISHED"}
    assert bpy.ops.poise.bake() == {"FINISHED"}
    for frame, (before, turns) in posed.items():
        bpy.context.scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for name, turn in turns.items():
            now = np.array(evaluated.pose.bones[name].matrix.to_quaternion())
            assert _apart(now, turn) < _drop(), (frame, name)
        assert _apart(_visual(rig, frame, [other])[other], before[other]) < 1e-4
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}


def test_what_is_missing_or_out_of_range_is_told():
    rig = _armature()
    motion = _with_targets(rig)
    settings = motion.poise_motion.pose_timing
    settings.targets[1].frame = 200.0
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert {p.code for p in motion.poise_motion.problems} >= {"TARGET_OUTSIDE"}
    for bone in rig.pose.bones:
        compat.select_bone(bone, False)
    for click in (
        lambda: bpy.ops.poise.target_add(), lambda: bpy.ops.poise.overlap_add(),
        lambda: bpy.ops.poise.bone_setting_add(),
    ):
        with pytest.raises(RuntimeError, match="No bone of Arm is selected"):
            click()
    # The source is gone: the kept pose stays as it is.
    rig.pose.bones["bone1"].keyframe_insert("rotation_quaternion", frame=1)
    bpy.ops.poise.bake_clear()
    rig.pose.bones["bone1"].keyframe_insert("rotation_quaternion", frame=20)
    _select(rig, "bone1")
    assert bpy.ops.poise.target_add(source="KEYS") == {"FINISHED"}
    bpy.data.actions.remove(rig.animation_data.action)
    with pytest.raises(RuntimeError, match="There is no action"):
        bpy.ops.poise.target_update()
    settings.targets[1].frame = 37.0
    assert bpy.ops.poise.bake() == {"FINISHED"}
    # Two at one frame for one bone: the later in the list has it.
    settings.targets[1].frame = settings.targets[0].frame
    assert bpy.ops.poise.bake() == {"FINISHED"}
    motion.poise_motion.frame_end = motion.poise_motion.frame_start
    bpy.ops.poise.bake()
    motion.poise_motion.frame_end = 49
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones["bone2"])
    bpy.ops.object.mode_set(mode="POSE")
    with pytest.raises(RuntimeError, match="has no bone bone2"):
        bpy.ops.poise.bake()


def _without_length(rig, name):
    """Make a bone as short as Blender keeps one: it removes those of no length."""
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones[name]
    bone.tail = (*bone.head[:2], bone.head[2] + 2e-6)
    bpy.ops.object.mode_set(mode="POSE")


NO_NUMBER = 3.4e38
BAD = {
    "a bone without length": lambda rig, s: _without_length(rig, "bone2"),
    "two poses at one time": lambda rig, s: setattr(s.targets[1], "frame", s.targets[0].frame),
    "a pose before the start": lambda rig, s: setattr(s.targets[0], "frame", -20.0),
    "a pose beyond a limit": lambda rig, s: (
        setattr(rig.pose.bones["bone1"], "use_ik_limit_x", True),
        setattr(rig.pose.bones["bone1"], "ik_max_x", 0.2),
    ),
    "no mass": lambda rig, s: setattr(s.bones[0], "mass", 0.0),
    "hardly any mass": lambda rig, s: setattr(s.bones[0], "mass", 1e-30),
    "a ball of infinite mass": lambda rig, s: setattr(s.disturbances[0], "mass", float("inf")),
    "a ball as large as can be": lambda rig, s: setattr(s.disturbances[0], "radius", NO_NUMBER),
    "a ball before the start": lambda rig, s: setattr(s.disturbances[0], "frame", -3.0),
    "a push without end": lambda rig, s: setattr(s.disturbances[1], "force", (NO_NUMBER,) * 3),
    "bones that cannot turn": lambda rig, s: [
        setattr(bone, "lock_rotation", (True,) * 3) for bone in rig.pose.bones
    ],
    "no scale": lambda rig, s: setattr(rig, "scale", (0.0, 0.0, 0.0)),
    "no number": lambda rig, s: setattr(s.targets[1], "frame", float("nan")),
    "a place that is none": lambda rig, s: setattr(s.disturbances[0], "place", (float("nan"),) * 3),
    "constraints in a circle": lambda rig, s: [
        (setattr(c, "target", rig), setattr(c, "subtarget", other))
        for name, other in (("bone1", "bone3"), ("bone3", "bone1"))
        for c in [rig.pose.bones[name].constraints.new("COPY_ROTATION")]
    ],
}
FITTING = {
    "a bone without length",
    "two poses at one time", "a pose before the start", "a pose beyond a limit", "no mass",
    "a ball of infinite mass", "a ball before the start", "a ball as large as can be",
    "constraints in a circle", "no number",
}
# What may be too much to be computed: told so, or at least keys that are numbers.
ABSURD = {"hardly any mass", "a push without end"}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_sentence_or_the_right_motion(what):
    rig = _armature()
    motion = _with_targets(rig)
    motion.poise_motion.frame_end = 41
    bpy.context.scene.frame_set(5)
    bpy.context.scene.cursor.location = (0.0, -1.0, 1.0)
    _select(rig, "bone2")
    for kind in ("BALL", "PUSH"):
        assert bpy.ops.poise.disturbance_add(kind=kind) == {"FINISHED"}
    assert bpy.ops.poise.bone_setting_add() == {"FINISHED"}
    settings = motion.poise_motion.pose_timing
    BAD[what](rig, settings)
    try:
        assert bpy.ops.poise.bake() == {"FINISHED"}
    except RuntimeError as refusal:
        text = sentence(refusal)
        assert ":" in text and what not in FITTING, text
        assert rig.animation_data is None or rig.animation_data.action is None
        assert not [o for o in bpy.data.objects if o.type == "MESH"]
        return
    assert what in FITTING | ABSURD
    for curve in compat.action_fcurves(rig.animation_data.action, rig.animation_data.action_slot):
        assert np.isfinite([key.co.y for key in curve.keyframe_points]).all()
    if what in ABSURD:
        return
    # The last pose is reached all the same, but where it is beyond a limit.
    last = 13 if what == "two poses at one time" else 37
    if what == "no number":
        assert "TARGET_OUTSIDE" in {p.code for p in motion.poise_motion.problems}
        return
    found = _turns(rig, last, ["bone2"])["bone2"]
    wanted = rotations.from_rotation_vector(np.array(POSES[37]["bone2"]))
    assert _apart(found, wanted) < np.radians(0.5)
    told = {p.code for p in motion.poise_motion.problems}
    if what == "a pose beyond a limit":
        assert told >= {"POSE_MISSED", "JOINT_LIMIT"}
        assert rig.pose.bones["bone1"].rotation_quaternion.to_euler().x <= 0.2 + 1e-4
    if what == "a pose before the start":
        assert "TARGET_OUTSIDE" in told
    if what == "a ball before the start":
        ball, item = settings.disturbances[0].ball, settings.disturbances[0]
        bpy.context.scene.frame_set(1)
        time = 4.0 / bpy.context.scene.render.fps
        fallen = (0.0, 0.0, -0.5 * 9.81 * time**2)
        assert np.array(ball.matrix_world.translation) == pytest.approx(
            np.array(item.place) + time * np.array(item.velocity) + fallen, abs=1e-4)


def test_each_click_is_one_undo_step_and_can_be_done_again_with_other_settings():
    rig = _armature()
    names = ("Arm", rig.name)
    bpy.context.scene.frame_set(13)
    _select(rig, "bone1", "bone2")
    _pose(rig, POSES[13])
    clicks = (
        ("motion_add", {"kind": "POSE_TIMING"}), ("target_add", {}), ("overlap_add", {}),
        ("disturbance_add", {"kind": "WEIGHT"}), ("bake", {}), ("disturbance_remove", {}),
        ("target_remove", {}),
    )

    def stands():
        rig = bpy.data.objects[names[1]]
        motion = next((o for o in bpy.data.objects if o.type == "EMPTY"), None)
        if motion is None:
            return ()
        poses, data = motion.poise_motion.pose_timing, rig.animation_data
        return (
            [(i.name, i.frame, i.number) for i in poses.targets],
            sorted(key for key in motion.keys() if key.startswith("posture_")),
            [(i.name, round(i.settle, 3)) for i in poses.overlaps], [i.name for i in poses.bones],
            [(i.name, i.ball is not None) for i in poses.disturbances],
            data is not None and data.action is not None,
            sorted(o.name for o in bpy.data.objects),
        )

    states = [stands()]
    bpy.ops.ed.undo_push(message="before")
    for name, options in clicks:
        if name == "overlap_add":
            _select(bpy.data.objects[names[1]], "bone3")
        bpy.ops.ed.undo_push(message="hand")
        assert call(name)("EXEC_DEFAULT", True, **options) == {"FINISHED"}, name
        states.append(stands())
    assert states[3] != states[2] and states[-1] != states[-2]
    for state in reversed(states[:-1]):
        bpy.ops.ed.undo()  # the click
        assert stands() == state
        bpy.ops.ed.undo()  # what was done by hand before it
    for state in states[1:4]:
        bpy.ops.ed.redo()
        bpy.ops.ed.redo()
        assert stands() == state
    # What the panel of the last operator does: undo, and the same with other settings.
    bpy.ops.ed.undo()
    activate(bpy.data.objects[names[1]])
    _select(bpy.data.objects[names[1]], "bone3")
    assert call("overlap_add")("EXEC_DEFAULT", True, settle=0.7) == {"FINISHED"}
    assert stands()[2] == [("bone3", 0.7)]
