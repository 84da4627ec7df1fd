# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs posed by their ends, their joints, and anchored: what is seen is what was asked for."""

from math import degrees, radians

import bpy
import numpy as np
import pytest
import rig_files
from operators_help import activate
from poise.addon import compat
from poise.addon.rigs import limbs as limbs_module
from poise.addon.rigs.controls import control_rig
from poise.solvers import rotations
from rigify_help import bring_in

pytestmark = pytest.mark.usefixtures("scene")

FOX = "fox/Fox.glb"
SMALL = 1e-4  # m: the end stays within that


def _character(kind="BIPED"):
    bpy.ops.poise.character_add(kind=kind)
    return _pose_mode(bpy.context.object)


def _pose_mode(rig):
    activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    return rig


def _fox():
    """A rig of bones alone, 150 units long."""
    if not (rig_files.FOLDER / FOX).is_file():
        pytest.skip(f"{FOX} is not there")
    rig = rig_files.bring_in(FOX)
    if rig.animation_data is not None:
        rig.animation_data.action = None
    return rig


def _matrices(rig, *names):
    bpy.context.view_layer.update()
    posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return [np.array(rig.matrix_world @ posed[name].matrix) for name in names]


def _heads(rig, *names):
    return np.array([matrix[:3, 3] for matrix in _matrices(rig, *names)])


def _swung(before, after):
    """Angle by which a joint turned about the line between root and end, degrees."""
    line = rotations.normalise(before[2] - before[0])
    one, other = (x[1] - x[0] - (x[1] - x[0]) @ line * line for x in (before, after))
    return degrees(np.arctan2(np.cross(one, other) @ line, one @ other))


def _bones(rig, limb):
    found = limbs_module.limbs_of(rig)[limb]
    return found.bones[0], found.bones[1], found.end


def _swings(rig, limb, angle, bones=None, **options):
    """Swing an anchored limb; how far its end has moved (m) and turned, and how far it swung."""
    bones = bones or _bones(rig, limb)
    before, end = _heads(rig, *bones), _matrices(rig, bones[-1])[0]
    done = bpy.ops.poise.limb_pose(mode="ANCHOR", limb=limb, angle=radians(angle), **options)
    assert done == {"FINISHED"}
    after = _heads(rig, *bones)
    turned = np.abs(_matrices(rig, bones[-1])[0][:3, :3] - end[:3, :3]).max()
    scale = np.linalg.norm(end[:3, 0])
    return np.linalg.norm(after[2] - before[2]), turned / scale, _swung(before, after)


@pytest.mark.parametrize(("kind", "limb"), [
    ("BIPED", "arm.L"), ("BIPED", "leg.R"), ("HORSE", "hind.L"), ("CYCLIST", "arm.R"),
])
def test_an_anchored_limb_swings_by_the_angle_about_the_line_to_its_end(kind, limb):
    moved, turned, swung = _swings(_character(kind), limb, 35.0)
    assert moved < SMALL and turned < 1e-4
    assert swung == pytest.approx(35.0, abs=0.01)


def test_it_swings_by_its_own_bones_where_ik_is_switched_off():
    rig = _character()
    rig.pose.bones["root"]["ik_arm.L"] = 0.0
    rig.update_tag()
    controls = {n: np.array(rig.pose.bones[n].matrix_basis) for n in ("hand_ik.L", "elbow_pole.L")}
    moved, turned, swung = _swings(rig, "arm.L", -25.0)
    assert moved < SMALL and turned < 1e-4 and swung == pytest.approx(-25.0, abs=0.01)
    for name, basis in controls.items():
        np.testing.assert_array_equal(np.array(rig.pose.bones[name].matrix_basis), basis)


@pytest.mark.parametrize("limb", ["fore.L", "hind.R"])
def test_a_fox_that_is_nothing_but_bones_swings(limb):
    rig = _pose_mode(_fox())
    found = limbs_module.limbs_of(rig)[limb]
    moved, turned, swung = _swings(rig, limb, 30.0, (*found.bones[:2], found.end))
    assert moved < SMALL and turned < 1e-4
    assert swung == pytest.approx(30.0, abs=0.01)


def test_a_rigify_human_swings_by_its_controls_in_every_mode():
    rig = _pose_mode(bring_in())
    bones = ("ORG-upper_arm.L", "ORG-forearm.L", "ORG-hand.L")
    switch = rig.pose.bones["upper_arm_parent.L"]
    for fk, pole in ((0.0, False), (0.0, True), (1.0, False)):
        switch["IK_FK"], switch["pole_vector"] = fk, pole
        rig.update_tag()
        moved, turned, swung = _swings(rig, "arm.L", 20.0, bones)
        assert moved < SMALL and turned < 1e-3, (fk, pole)
        assert swung == pytest.approx(20.0, abs=0.05), (fk, pole)
    hidden = [b for b in rig.pose.bones if b.name.startswith(("ORG-", "MCH-", "DEF-"))]
    for bone in hidden:
        np.testing.assert_allclose(np.array(bone.matrix_basis), np.eye(4), atol=1e-6)


def test_a_set_up_rig_is_posed_by_the_controls_that_drive_it():
    rig = _fox()
    activate(rig)
    bpy.ops.poise.rig_setup(kind="DOG")
    controls = control_rig.controls_of(rig)
    _pose_mode(rig)
    before = _heads(rig, "b_LeftForeArm_010", "b_LeftHand_011")
    bpy.ops.poise.limb_pose(mode="ANCHOR", limb="fore.L", angle=radians(25.0))
    after = _heads(rig, "b_LeftForeArm_010", "b_LeftHand_011")
    size = np.linalg.norm(before[1] - before[0])
    assert np.linalg.norm(after[1] - before[1]) < 1e-3 * size
    assert np.linalg.norm(after[0] - before[0]) > 0.01 * size
    assert any(np.abs(np.array(b.matrix_basis) - np.eye(4)).max() > 1e-3
               for b in controls.pose.bones if "pole" in b.name)


@pytest.mark.parametrize("kind", ["BIPED", "HORSE"])
def test_the_end_moves_in_the_world_and_keeps_its_turn(kind):
    rig = _character(kind)
    rig.rotation_euler, rig.scale = (0.3, 0.0, 1.0), (2.0, 2.0, 2.0)
    limb = "arm.L" if kind == "BIPED" else "hind.L"
    *_joints, end = _bones(rig, limb)
    before = _matrices(rig, end)[0]
    offset = np.array((0.03, -0.06, 0.12))
    bpy.ops.poise.limb_pose(mode="MOVE", limb=limb, offset=offset)
    after = _matrices(rig, end)[0]
    np.testing.assert_allclose(after[:3, 3] - before[:3, 3], offset, atol=SMALL)
    np.testing.assert_allclose(after[:3, :3], before[:3, :3], atol=1e-4)


def test_a_place_beyond_reach_is_approached_and_told(capsys):
    rig = _character()
    shoulder, _elbow, hand = before = _heads(rig, *_bones(rig, "arm.L"))
    bpy.ops.poise.limb_pose(mode="MOVE", limb="arm.L", offset=10.0 * (hand - shoulder))
    assert "mm short: that place is out of its reach" in capsys.readouterr().out
    after = _heads(rig, *_bones(rig, "arm.L"))
    length = sum(np.linalg.norm(b - a) for a, b in zip(before[:-1], before[1:], strict=True))
    assert np.linalg.norm(after[2] - shoulder) == pytest.approx(length, rel=1e-3)
    # Stretched out, nothing is left for it to swing.
    with pytest.raises(RuntimeError, match="stretched out"):
        bpy.ops.poise.limb_pose(mode="ANCHOR", limb="arm.L", angle=0.5)


def test_a_joint_turns_and_all_beyond_it_goes_along():
    rig = _character()
    bones = ("upper_arm.L", "forearm.L", "hand.L")
    before = _matrices(rig, *bones)
    rig.data.bones.active = rig.data.bones["forearm.L"]
    bpy.ops.poise.limb_pose(mode="TURN", axis="X", angle=radians(20.0))
    after = _matrices(rig, *bones)
    np.testing.assert_allclose(after[0][:3, 3], before[0][:3, 3], atol=SMALL)
    np.testing.assert_allclose(after[1][:3, 3], before[1][:3, 3], atol=SMALL)
    by = after[2][:3, :3] @ before[2][:3, :3].T
    assert degrees(np.arccos(0.5 * (np.trace(by) - 1.0))) == pytest.approx(20.0, abs=0.01)
    arm = before[2][:3, 3] - before[1][:3, 3]
    np.testing.assert_allclose(after[2][:3, 3] - after[1][:3, 3], by @ arm, atol=SMALL)
    # The joint after the last: the hand, about its own axis, and nothing else.
    bpy.ops.poise.limb_pose(mode="TURN", limb="arm.L", joint=3, axis="Z", angle=radians(20.0))
    again = _matrices(rig, *bones)
    by = after[2][:3, :3].T @ again[2][:3, :3]
    about_z = [[np.cos(0.349066), -np.sin(0.349066)], [np.sin(0.349066), np.cos(0.349066)]]
    np.testing.assert_allclose(by[:2, :2], about_z, atol=1e-4)
    np.testing.assert_allclose(again[1], after[1], atol=SMALL)


def test_limits_and_locks_are_kept(capsys):
    rig = _pose_mode(_fox())
    upper, lower, _hand = (rig.pose.bones[name] for name in _bones(rig, "fore.L"))
    for bone in (upper, lower):
        bone.rotation_mode = "XYZ"
    lower.lock_rotation = (False, True, True)
    limit = upper.constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_y = "LOCAL", True
    limit.min_y, limit.max_y = radians(-5.0), radians(5.0)
    before = np.array(lower.rotation_euler)
    moved, _turned, swung = _swings(rig, "fore.L", 60.0)
    assert moved < 1e-5 * 41.0 and 1.0 < swung < 59.0  # units, of which the limb is 41 long
    np.testing.assert_allclose(np.array(lower.rotation_euler)[1:], before[1:], atol=1e-6)
    assert abs(degrees(upper.rotation_euler[1])) < 5.001
    told = capsys.readouterr().out
    assert f"fore.L swings by {swung:.1f}° instead of 60.0°: limits and locks" in told


def test_undo_takes_it_back_in_one_step():
    rig = _character()
    bpy.ops.ed.undo_push(message="before")
    pole = np.array(rig.pose.bones["elbow_pole.L"].location)
    bpy.ops.poise.limb_pose("EXEC_DEFAULT", True, mode="ANCHOR", limb="arm.L", angle=0.5)
    rig = bpy.context.object
    assert np.abs(np.array(rig.pose.bones["elbow_pole.L"].location) - pole).max() > 0.01
    bpy.ops.ed.undo()
    rig = bpy.context.object
    np.testing.assert_allclose(np.array(rig.pose.bones["elbow_pole.L"].location), pole, atol=1e-7)


def test_auto_keying_keys_what_was_posed_and_nothing_else(monkeypatch):
    rig = _character()

    def swing(frame, available):
        edit = bpy.context.preferences.edit
        monkeypatch.setattr(edit, "use_keyframe_insert_available", available)
        bpy.context.scene.frame_set(frame)
        bpy.ops.poise.limb_pose(mode="ANCHOR", limb="arm.L", angle=0.2)
        data = rig.animation_data
        if data is None or data.action is None:
            return {}
        return {
            (curve.data_path, tuple(key.co.x for key in curve.keyframe_points))
            for curve in compat.action_fcurves(data.action, data.action_slot)
        }

    pole = 'pose.bones["elbow_pole.L"].location'
    assert not swing(3, False)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    assert not swing(5, True)
    assert swing(7, False) == {(pole, (7.0,))}
    bpy.ops.poise.limb_pose(mode="MOVE", limb="arm.L", offset=(0.0, 0.0, 0.05))
    assert swing(9, True) >= {(pole, (7.0, 9.0))}


@pytest.mark.parametrize(("options", "sentence"), [
    ({"mode": "ANCHOR", "limb": "wing.L", "angle": 0.1}, "has no limb wing.L: choose one of arm.L"),
    ({"mode": "TURN", "limb": "arm.L", "joint": 9}, "arm.L has 2 joints: choose another one"),
    ({"mode": "ANCHOR"}, "Bone chest of Biped is of no limb: select one of arm.L"),
])
def test_what_cannot_be_posed_is_said_and_changes_nothing(options, sentence):
    rig = _character()
    rig.data.bones.active = rig.data.bones["chest"]
    before = [np.array(bone.matrix_basis) for bone in rig.pose.bones]
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.poise.limb_pose(**options)
    for bone, basis in zip(rig.pose.bones, before, strict=True):
        np.testing.assert_array_equal(np.array(bone.matrix_basis), basis)


def test_locked_limbs_are_left_alone():
    rig = _pose_mode(_fox())
    upper, lower, _hand = (rig.pose.bones[name] for name in _bones(rig, "fore.L"))
    for bone in (upper, lower):
        bone.rotation_mode, bone.lock_rotation = "XYZ", (True, True, True)
    with pytest.raises(RuntimeError, match="moved by nothing that can be posed: unlock it"):
        bpy.ops.poise.limb_pose(mode="ANCHOR", limb="fore.L", angle=0.5)
