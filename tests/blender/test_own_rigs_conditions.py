# SPDX-License-Identifier: GPL-3.0-or-later
"""What productions do to a generated rig before, while and after it is set up.

Each condition gives the right motion, or one sentence and nothing changed.
Tolerances and expected places are those of the tests of rigs with controls.
"""

import bpy
import numpy as np
import pytest
from own_rigs_help import NOISE, RIGS, followers, places, set_up
from rigify_help import assert_follows, bring_in, constrained, off_their_tracks, settings, worst_off
from snapshot import diff, snapshot

FILE = "rigify_basic_human"
FRAMES = 17
AT = (1, 6, 11, 17)


def test_a_library_override_goes_the_whole_way(poise, scene, tmp_path):
    """Linked, overridden, set up, baked by its controls, saved, loaded, and left as it was."""
    path = RIGS / f"{FILE}.blend"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    with bpy.data.libraries.load(str(path), link=True) as (_, target):
        target.objects = ["rig"]
    linked = target.objects[0]
    bpy.context.collection.objects.link(linked)
    local = linked.override_create(remap_local_usages=True)
    local.override_library.is_system_override = False
    bpy.context.view_layer.objects.active = local
    local.select_set(True)
    here = str(tmp_path / "shot.blend")

    def again():
        bpy.ops.wm.save_as_mainfile(filepath=here)
        bpy.ops.wm.open_mainfile(filepath=here)
        rig = next(o for o in bpy.data.objects if o.override_library is not None)
        bpy.context.view_layer.objects.active = rig
        return rig

    rig = again()
    rig.select_set(True)
    before, switches = snapshot(), settings(rig)
    rig, controls, motion = set_up("SKIER", FRAMES)
    known = followers(poise, controls)
    bpy.ops.poise.bake()
    assert_follows(rig, controls, known, AT)
    rig = again()
    controls = rig.poise.motion_object.poise_motion.character
    assert_follows(rig, controls, known, AT)
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    rig = again()
    motion = rig.poise.motion_object
    controls = motion.poise_motion.character
    assert constrained(rig, controls) == set()
    assert off_their_tracks(motion) == []
    assert_follows(rig, controls, known, AT)
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    assert settings(rig) == switches
    # Blender lists what an override changes, and tidies the list when it saves.
    noise = (*NOISE, r"session_uid", r"override_library\.properties")
    assert diff(before, snapshot(), noise) == []


def test_strips_below_the_bake_do_not_move_it(poise, scene):
    """They turn hips, a tweak and a chest's scale, switch a leg to FK; others go on playing."""
    rig = bring_in(FILE)
    bones = rig.pose.bones
    other = bones["upper_arm_fk.L"]
    for frame, amount in ((1, 0.0), (30, 1.0)):
        bones["hips"].rotation_quaternion = (1.0, 0.4 * amount, 0.0, 0.2 * amount)
        bones["hips"].keyframe_insert("rotation_quaternion", frame=frame)
        bones["tweak_spine.003"].location = (0.1 * amount, 0.0, 0.0)
        bones["tweak_spine.003"].keyframe_insert("location", frame=frame)
        bones["chest"].scale = (1.0 + 0.2 * amount,) * 3
        bones["chest"].keyframe_insert("scale", frame=frame)
        bones["thigh_parent.L"]["IK_FK"] = amount
        bones["thigh_parent.L"].keyframe_insert('["IK_FK"]', frame=frame)
        other.rotation_mode = "QUATERNION"
        other.rotation_quaternion = (1.0, 0.5 * amount, 0.0, 0.0)
        other.keyframe_insert("rotation_quaternion", frame=frame)
    data = rig.animation_data
    action, slot = data.action, data.action_slot
    strip = data.nla_tracks.new().strips.new("Own", 1, action)
    strip.action_slot = slot
    data.action = None
    bpy.context.scene.frame_set(1)
    before = snapshot()
    rig, controls, motion = set_up("SKIER", FRAMES)
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    assert off_their_tracks(motion) == []
    assert_follows(rig, controls, followers(poise, controls), AT)
    bpy.context.scene.frame_set(17)
    assert other.rotation_quaternion.x > 0.2, "it plays its own strip"
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    assert diff(before, snapshot(), NOISE) == []


def test_root_motion_is_shared_between_root_and_torso(poise, scene):
    """The sum stays the motion, whatever the root does; in place the root does not travel."""
    bring_in(FILE)
    rig, controls, motion = set_up("SKIER", 41)
    known = followers(poise, controls)
    root = known.pop("root")[0]
    way = {}
    for mode in ("ROOT", "HIPS", "SPLIT", "IN_PLACE"):
        motion.poise_motion.root_motion = mode
        assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
        assert off_their_tracks(motion) == []
        way[mode] = []
        for frame in AT:
            bpy.context.scene.frame_set(frame)
            here = places(rig, [root, known["pelvis"][0]])
            way[mode].append([m.translation.copy() for m in here.values()])
        if mode != "IN_PLACE":
            assert_follows(rig, controls, known, AT)
    way = {mode: np.array(values) for mode, values in way.items()}
    assert np.ptp(way["HIPS"][:, 0], axis=0).max() < 1e-6
    # It still tilts with the slope under it, a few millimetres beside its pivot.
    assert np.ptp(way["IN_PLACE"][:, 0], axis=0).max() < 2e-3
    gap = np.linalg.norm(way["ROOT"][:, 1] - way["ROOT"][:, 0], axis=1)
    stay = np.linalg.norm(way["IN_PLACE"][:, 1] - way["IN_PLACE"][:, 0], axis=1)
    assert np.allclose(gap, stay, atol=1e-3)


def test_from_edit_mode_it_is_set_up_and_baked_all_the_same(poise, scene):
    rig = bring_in(FILE)
    bpy.ops.object.mode_set(mode="EDIT")
    rig, controls, motion = set_up("SKIER", 5)
    assert rig.mode == "EDIT"
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    assert rig.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_follows(rig, controls, followers(poise, controls), (1, 3, 5))
    # Edited beside another object that is active: Poise cannot leave that mode for it.
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.view_layer.objects.active = motion
    with pytest.raises(RuntimeError, match="is in Edit Mode"):
        bpy.ops.poise.bake_to_bones()


@pytest.mark.parametrize("how", ["deleted", "purged"])
def test_a_rig_that_is_deleted_leaves_its_controls_which_go_when_asked(poise, scene, how):
    """What the Outliner's Delete leaves is out of all scenes, but still in the file."""
    bring_in(FILE)
    rig, controls, motion = set_up("SKIER", 5)
    bpy.ops.poise.bake()
    if how == "deleted":
        bpy.ops.object.delete()
    else:
        bpy.data.objects.remove(rig)
    bpy.context.view_layer.objects.active = controls
    controls.select_set(True)
    with pytest.raises(RuntimeError, match="was deleted"):
        bpy.ops.poise.bake_to_bones()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    assert not [o for o in bpy.data.objects if o.name.startswith("rig Controls")]


def test_switches_that_drivers_hold_are_named(poise, scene):
    """Whatever Poise keyed, a driver on the same property would have the last word."""
    rig = bring_in(FILE)
    switch = rig.pose.bones["thigh_parent.L"]
    driver = switch.driver_add('["IK_FK"]').driver
    driver.expression = "1.0"
    bpy.context.view_layer.update()
    before = snapshot()
    with pytest.raises(RuntimeError, match="driver .*IK_FK.*thigh_parent.L.*: mute or delete"):
        bpy.ops.poise.rig_setup(kind="SKIER")
    assert diff(before, snapshot(), NOISE) == []
    switch.driver_remove('["IK_FK"]')
    rig, controls, _ = set_up("SKIER", 5)
    moved = constrained(rig, controls)
    switch.driver_add('["IK_FK"]').driver.expression = "1.0"
    with pytest.raises(RuntimeError, match="driver .*IK_FK.*thigh_parent.L.*: mute or delete"):
        bpy.ops.poise.bake_to_bones()
    assert constrained(rig, controls) == moved


def test_parents_that_the_animator_keyed_are_keyed_again(poise, scene):
    """Hand and foot change their space on the way; baked, they are in that of the root."""
    rig = bring_in(FILE)
    for bone, key in (("thigh_parent.L", "IK_parent"), ("upper_arm_parent.R", "IK_parent"),
                      ("thigh_parent.R", "pole_parent")):
        for frame, value in ((1, 0), (8, 2), (12, 1)):
            rig.pose.bones[bone][key] = value
            rig.pose.bones[bone].keyframe_insert(f'["{key}"]', frame=frame)
    bpy.context.scene.frame_set(1)
    before = snapshot()
    rig, controls, motion = set_up("SKIER", FRAMES)
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    assert off_their_tracks(motion) == []
    far, _ = worst_off(rig, controls, followers(poise, controls), AT)
    assert max(far.values()) <= 1e-3
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    assert diff(before, snapshot(), NOISE) == []
