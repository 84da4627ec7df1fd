# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that Rigify generated, moved by the controls that their animators use.

Expected places are those of the targets in Poise's controls, whose own bakes
other tests hold to their tracks. What counts are the bones that Rigify's
controls move in the end: feet, hands and pelvis by place, within 1 mm or 0.1 %
of leg length, limbs, trunk and head by direction, within 0.5 degrees. The
twist inside the spine, and how the neck's joints share its bend, is the rig's.
"""

import json

import bpy
import freeform_scenes
import numpy as np
import phrases
import pytest
from mathutils import Matrix
from own_rigs_help import NOISE, followers, places, set_up
from poise.addon.rigs.controls import control_rig
from rigify_help import (
    assert_follows,
    bring_in,
    constrained,
    keyed_bones,
    off_their_tracks,
    rolled,
    settings,
)
from snapshot import diff, snapshot

SWITCHES = {
    "thigh_parent.L": {"IK_FK": 1.0, "IK_parent": 4, "pole_parent": 2},
    "thigh_parent.R": {"IK_FK": 0.5, "pole_vector": True},
    "upper_arm_parent.L": {"IK_FK": 1.0, "IK_parent": 5},
    "upper_arm_parent.R": {"IK_parent": 2, "IK_Stretch": 0.7},
}


def assert_eyes_follow_the_gaze(rig, controls, frames):
    """Both eyes, between them, look where the control of the eyes does."""
    if "eyes" not in rig.pose.bones:
        return
    turns = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        left, right = places(rig, ("ORG-eye.L", "ORG-eye.R")).values()
        gaze, head = places(controls, ("gaze", "head")).values()
        look = (left.col[1].xyz + right.col[1].xyz).normalized()
        assert look.angle(gaze.col[1].xyz) < np.radians(1.0)
        turns.append(head.to_quaternion().rotation_difference(gaze.to_quaternion()).angle)
    assert np.degrees(np.ptp(turns)) > 1.0, "they turn against the head"


@pytest.mark.parametrize(
    ("file", "kind"),
    [("rigify_human", "SKIER"), ("rigify_basic_human", "SNOWBOARDER"),
     ("rigify_human", "CYCLIST")],
)
def test_controls_of_rigify_do_what_the_motion_says(poise, scene, capfd, file, kind):
    rig = bring_in(file)
    before, switches = snapshot(), settings(rig)
    modes = {bone.name: bone.rotation_mode for bone in rig.pose.bones}
    rig, controls, motion = set_up(kind, 41)
    known = followers(poise, controls)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    moved = constrained(rig, controls)
    assert {"torso", "chest", "foot_ik.L", "hand_ik.R", "thigh_ik_target.L"} <= moved
    assert not any(name.startswith(("DEF-", "ORG-", "MCH-")) for name in moved)
    assert_follows(rig, controls, known, (1, 11, 20.5, 41))

    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    assert constrained(rig, controls) == set()
    assert off_their_tracks(motion) == []
    assert_follows(rig, controls, known, range(1, 42, 5))
    assert {bone.name: bone.rotation_mode for bone in rig.pose.bones} == modes
    keyed = keyed_bones(rig)
    assert not any(name.startswith(("DEF-", "ORG-")) for name in keyed)
    scales = places(rig, [bone for bone, _ in known.values()])
    for name, matrix in scales.items():
        if name.startswith("ORG-"):
            assert np.allclose(matrix.to_scale(), 1.0, atol=1e-4), f"{name} is stretched"

    assert_eyes_follow_the_gaze(rig, controls, range(1, 42, 10))

    # Straight lines from frame to frame cut corners; sparse keys have the right slopes.
    motion.poise_motion.key_mode = "SPARSE"
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    assert_follows(rig, controls, known, (7.5, 13, 22.25, 33.5))

    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert_follows(rig, controls, known, (1,))
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    assert diff(before, snapshot(), NOISE) == []
    assert settings(rig) == switches
    assert "Dependency cycle" not in "".join(capfd.readouterr())


@pytest.mark.parametrize(("gait", "speed", "radius", "mode"), [
    ("WALK_BIPED", 1.4, 0.0, "DENSE"), ("RUN", 4.0, 8.0, "DENSE"), ("RUN", 4.0, 8.0, "SPARSE"),
    ("SKIP", 2.4, 0.0, "SPARSE"),
])
def test_feet_stand_and_roll_between_frames(poise, scene, gait, speed, radius, mode):
    """Keyed controls of feet go through the exact touchdown, the roll and the liftoff."""
    rig = bring_in()
    assert bpy.ops.poise.rig_setup(kind="BIPED") == {"FINISHED"}
    controls, motion = control_rig.controls_of(rig), rig.poise.motion_object
    bones = {f"leg.{side}": [f"ORG-foot.{side}", f"ORG-toe.{side}"] for side in "LR"}
    found = rolled(rig, controls, motion, bones, gait, speed, radius, mode)
    assert found.looks > 100
    assert found.metres < 1e-3, found


def test_a_pose_and_switches_of_the_animators_own_do_not_change_the_motion(
    poise, scene, capfd
):
    # FK, other parents, stretch, some of it keyed in an action, and controls out of place.
    rig = bring_in()
    for bone, values in SWITCHES.items():
        for key, value in values.items():
            rig.pose.bones[bone][key] = value
    for bone in ("thigh_parent.L", "thigh_parent.R"):
        rig.pose.bones[bone].keyframe_insert('["IK_FK"]', frame=1)
    rig.pose.bones["thigh_parent.R"]["IK_FK"] = 1.0
    rig.pose.bones["thigh_parent.R"].keyframe_insert('["IK_FK"]', frame=30)
    rig.pose.bones["hips"].rotation_quaternion = (0.9, 0.3, 0.1, 0.3)
    rig.pose.bones["foot_heel_ik.L"].rotation_euler = (0.4, 0.0, 0.0)
    rig.pose.bones["tweak_spine.003"].location = (0.05, 0.0, 0.02)
    rig.pose.bones["chest"].location = (0.0, 0.1, 0.0)
    rig.pose.bones["shoulder.L"].location = (0.0, 0.02, 0.03)
    bpy.context.scene.frame_set(1)
    former = rig.animation_data.action
    before, switches = snapshot(), settings(rig)
    rig, controls, motion = set_up("SKIER", 21)
    known = followers(poise, controls)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    assert off_their_tracks(motion) == []
    assert_follows(rig, controls, known, (1, 11, 21))
    again = json.loads(motion.poise_motion.bones.record)["curves"]
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    assert json.loads(motion.poise_motion.bones.record)["curves"] == again
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert rig.animation_data.action == former
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    assert diff(before, snapshot(), NOISE) == []
    assert settings(rig) == switches
    assert "Dependency cycle" not in "".join(capfd.readouterr())


def test_what_a_rig_cannot_take_is_refused_in_one_sentence(poise, scene):
    rig = bring_in("rigify_basic_human")
    rig.pose.ik_solver = "ITASC"
    with pytest.raises(RuntimeError, match="solves its IK with iTaSC"):
        bpy.ops.poise.rig_setup(kind="SKIER")
    rig.pose.ik_solver = "LEGACY"
    rig, controls, _ = set_up("SKIER", 5)
    moved = constrained(rig, controls)
    with pytest.raises(RuntimeError, match="follow its own controls"):
        bpy.ops.poise.bake_to_bones(target="BONES")
    rig.pose.ik_solver = "ITASC"
    with pytest.raises(RuntimeError, match="solves its IK with iTaSC"):
        bpy.ops.poise.bake_to_bones()
    assert constrained(rig, controls) == moved
    assert settings(rig)["thigh_parent.L", "pole_vector"] == (bool, True), "it is driven still"


def test_a_rig_read_before_it_is_let_go_gets_the_keys_of_one_evaluated_after(
    poise, scene, monkeypatch
):
    # The first way saves an evaluation of the whole rig. Switches that were elsewhere
    # before the set-up, and are so again in between, make it matter which values are read.
    from poise.addon.baking import onto

    rig = bring_in("rigify_basic_human")
    for bone, values in SWITCHES.items():
        for key, value in values.items():
            if key in rig.pose.bones[bone]:
                rig.pose.bones[bone][key] = value
    rig, _, motion = set_up("SKIER", 5)
    ahead, asked = onto._may_look_ahead, []
    monkeypatch.setattr(onto, "_may_look_ahead", lambda *a: asked.append(ahead(*a)) or asked[-1])
    records = []
    for _ in range(2):
        assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
        records.append(json.loads(motion.poise_motion.bones.record)["curves"])
        assert bpy.ops.poise.bake_clear() == {"FINISHED"}
        monkeypatch.setattr(onto, "_may_look_ahead", lambda *a: False)
    assert asked == [True]
    assert records[0] == records[1]
    # An arm alone goes through postures of its own on top of that, IK or not.
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    assert bpy.ops.poise.motion_add(kind="FREEFORM") == {"FINISHED"}
    assert bpy.ops.poise.posture_limb(limb="arm.L") == {"FINISHED"}
    top, posed = rig.poise.motion_object, {}
    top.poise_motion.freeform.blend_in = 0.0
    for frame, way in ((1, (0.0, -0.1, 0.05)), (5, (0.0, -0.05, 0.2))):
        bpy.context.scene.frame_set(frame)
        free = places(rig, ["ORG-hand.L", "ORG-hand.R"])
        control = rig.pose.bones["hand_ik.L"]
        control.matrix = Matrix.Translation(way) @ control.matrix
        bpy.context.view_layer.update()
        posed[frame] = free, places(rig, ["ORG-hand.L"])["ORG-hand.L"]
        assert bpy.ops.poise.posture_add() == {"FINISHED"}
    top.poise_motion.freeform.posture_index = 0
    assert bpy.ops.poise.posture_pose() == {"FINISHED"}
    now = places(rig, ["ORG-hand.L"])["ORG-hand.L"].translation
    assert (now - posed[1][1].translation).length < 2e-3
    assert bpy.ops.poise.bake() == {"FINISHED"}
    for frame, (free, hand) in posed.items():
        assert (hand.translation - free["ORG-hand.L"].translation).length > 0.05
        bpy.context.scene.frame_set(frame)
        now = places(rig, ["ORG-hand.L", "ORG-hand.R"])
        assert (now["ORG-hand.L"].translation - hand.translation).length < 2e-3
        other = free["ORG-hand.R"].translation
        assert (now["ORG-hand.R"].translation - other).length < 1e-4
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    bpy.context.scene.frame_set(5)
    now = places(rig, ["ORG-hand.L"])["ORG-hand.L"].translation
    assert (now - posed[5][0]["ORG-hand.L"].translation).length < 1e-4


def test_a_dance_phrase_leaps(poise, scene, capfd):
    """Postures of the whole body, a leap among them, through the rig's own controls."""
    rig = bring_in()
    assert bpy.ops.poise.rig_setup(kind="BIPED") == {"FINISHED"}
    controls, motion = control_rig.controls_of(rig), rig.poise.motion_object
    size = freeform_scenes.body_of(controls).figure.height / 1.78
    rig.poise.motion = "FREEFORM"
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = 1, 62
    freeform_scenes.phrase(controls, size)
    postures = phrases.posed(rig, motion)
    bpy.context.scene.frame_set(1)
    bones, switches = places(rig, rig.pose.bones.keys()), settings(rig)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    phrases.require(rig, motion, postures)
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    assert constrained(rig, controls) == set()
    assert off_their_tracks(motion) == []
    phrases.require(rig, motion, postures)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert not keyed_bones(rig) and settings(rig) == switches
    bpy.context.scene.frame_set(1)
    for name, matrix in places(rig, bones).items():
        np.testing.assert_allclose(matrix, bones[name], atol=1e-5, err_msg=name)
    assert "Dependency cycle" not in "".join(capfd.readouterr())
