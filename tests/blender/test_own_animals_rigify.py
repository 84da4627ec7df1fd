# SPDX-License-Identifier: GPL-3.0-or-later
"""Animals that Rigify generated, moved by the controls that their animators use.

Expected places are those of the targets in Poise's controls, whose own bakes other
tests hold to their tracks, and for planted feet the footprints of the solved motion.
What counts are the bones that Rigify's controls move in the end: every joint of the
legs, neck and tail and the pelvis by place, within 1 mm or 0.1 % of the leg, legs, trunk, head
and tail by direction, within 0.5 degrees. The twist of spine and tail is the rig's.
"""

import bpy
import cat
import numpy as np
import pytest
import scenes
from mathutils import Vector
from own_rigs_help import NOISE
from poise.addon import compat
from poise.addon.rigs import characters
from poise.addon.rigs.controls import control_rig
from poise.solvers import rotations
from rigify_help import (
    PLACED,
    bring_in,
    constrained,
    keyed_bones,
    off_their_tracks,
    rolled,
    settings,
    worst_off,
)
from snapshot import diff, snapshot

FRAMES = 19

# How it is brought in, kind, the controls of a hind leg and a foreleg on the left, and its last
# bones.
ANIMALS = {
    "cat": (
        cat.make, "DOG", {"foot_ik.L", "foot_heel_ik.L", "r_toe.L"},
        {"hand_ik.L", "hand_heel_ik.L", "f_toe.L"}, ("r_toe", "f_toe"),
    ),
    # Its forelegs have other names, and its spine is shared out at the chest.
    "basic_quadruped": (
        lambda: cat.bring_in("basic_quadruped"), "DOG",
        {"foot_ik.L", "foot_heel_ik.L", "toe.L", "tweak_spine.008"},
        {"front_foot_ik.L", "front_foot_heel_ik.L", "front_toe.L"}, ("toe", "front_toe"),
    ),
    "horse": (
        lambda: bring_in("rigify_horse"), "HORSE",
        {"hind_foot_ik.L", "hind_foot_heel_ik.L", "r_toe_ik.L", "r_hoof.L"},
        {"forefoot_ik.L", "forefoot_heel_ik.L", "f_toe_ik.L", "f_hoof.L"}, ("r_hoof", "f_hoof"),
    ),
}
# What an animator may have left behind.
LEFT = {
    "thigh_parent.L": {"IK_FK": 1.0, "IK_parent": 3},
    "thigh_parent.R": {"IK_FK": 0.4, "IK_Stretch": 0.5},
    "upper_arm_parent.L": {"pole_vector": True, "pole_parent": 2},
    "torso": {"tail_follow": 1.0},
}


def leg_length(controls):
    """Length of the longest leg in metres."""
    figure = characters.figure_of(controls)
    return max(
        sum(
            float(np.linalg.norm(figure.joints[a] - figure.joints[b]))
            for a, b in zip(leg.limb[:-1], leg.limb[1:], strict=True)
        )
        for leg in figure.legs
    )


def assert_follows(rig, controls, frames):
    known = control_rig.followers(controls)
    far, turned = worst_off(rig, controls, known, frames, (*PLACED, "neck", "tail"))
    allowed = max(1e-3, 1e-3 * leg_length(controls))
    assert {role: d for role, d in far.items() if d > allowed} == {}
    assert {role: np.degrees(a) for role, a in turned.items() if a > np.radians(0.5)} == {}


def assert_planted(rig, controls, toes):
    """A foot keeps its tip where it stands, between frames too, until it leaves the ground."""
    tracks, figure = scenes.solve(controls).tracks, characters.figure_of(controls)
    origin, turn = control_rig.rest_of(controls)
    legs = {}
    for leg in figure.legs:
        girdle, side = leg.name.split(".")
        bone = f"ORG-{dict(zip(('hind', 'fore'), toes, strict=True))[girdle]}.{side}"
        tip = origin + rotations.rotate(rotations.conjugate(turn), figure.joints[leg.tip])
        legs[leg.tip] = bone, rig.data.bones[bone].matrix_local.inverted() @ Vector(tip)
    spans = [
        (contact.role, 1.0 + contact.start * scenes.FPS, 1.0 + contact.end * scenes.FPS)
        for contact in tracks.contacts if contact.role in legs
    ]
    places = {span: [] for span in spans}
    for frame in np.arange(1.0, FRAMES, 0.25):
        bpy.context.scene.frame_set(int(frame), subframe=float(frame % 1.0))
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for span in spans:
            if span[1] <= frame <= span[2]:
                bone, tip = legs[span[0]]
                places[span].append(posed.matrix_world @ posed.pose.bones[bone].matrix @ tip)
    seen = {span: np.array(found) for span, found in places.items() if len(found) > 4}
    assert len(seen) >= 4
    slides = {span: float(np.linalg.norm(np.ptp(found, axis=0))) for span, found in seen.items()}
    assert max(slides.values()) < 1e-3, slides


@pytest.mark.parametrize("animal", ANIMALS)
def test_controls_of_a_rigify_animal_do_what_the_motion_says(poise, scene, capfd, animal):
    make, kind, hind, fore, toes = ANIMALS[animal]
    rig = make()
    for bone, values in LEFT.items():
        for key, value in values.items() if bone in rig.pose.bones else ():
            rig.pose.bones[bone][key] = value
    # A custom property that is set tells nobody: drivers follow at the next evaluation only.
    rig.update_tag()
    bpy.context.scene.frame_set(1)
    before, switches = snapshot(), settings(rig)
    assert bpy.ops.poise.rig_setup(kind=kind) == {"FINISHED"}
    controls = control_rig.controls_of(rig)
    motion = rig.poise.motion_object
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = 1, FRAMES
    assert bpy.ops.poise.bake() == {"FINISHED"}
    moved = constrained(rig, controls)
    assert {"root", "torso", "chest", "head", "thigh_ik_target.L", *hind, *fore} <= moved
    assert not any(name.startswith(("DEF-", "ORG-", "MCH-")) for name in moved)
    assert_follows(rig, controls, (1, 12.5, FRAMES))

    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    assert constrained(rig, controls) == set()
    assert off_their_tracks(motion) == []
    assert_follows(rig, controls, range(1, FRAMES + 1, 3))
    assert_planted(rig, controls, toes)
    assert not any(name.startswith(("DEF-", "ORG-")) for name in keyed_bones(rig))

    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert_follows(rig, controls, (1,))
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    assert diff(before, snapshot(), NOISE) == []
    assert settings(rig) == switches
    assert "Dependency cycle" not in "".join(capfd.readouterr())


@pytest.mark.parametrize(("animal", "gait", "speed", "radius", "mode"), [
    ("horse", "CANTER_LEFT", 5.5, 10.0, "DENSE"), ("horse", "CANTER_LEFT", 5.5, 10.0, "SPARSE"),
    ("basic_quadruped", "TROT", 2.0, 0.0, "SPARSE"),
])
def test_hooves_and_paws_stand_and_roll(poise, scene, animal, gait, speed, radius, mode):
    """Keyed controls of feet go through the exact touchdown, the roll and the liftoff."""
    make, kind, *_, toes = ANIMALS[animal]
    rig = make()
    assert bpy.ops.poise.rig_setup(kind=kind) == {"FINISHED"}
    controls, motion = control_rig.controls_of(rig), rig.poise.motion_object
    last = {"hind": toes[0], "fore": toes[1]}
    known = {
        f"{girdle}.{side}": 2 * [f"ORG-{last[girdle]}.{side}"] for girdle in last for side in "LR"
    }
    found = rolled(rig, controls, motion, known, gait, speed, radius, mode)
    assert found.looks > 300
    assert found.metres < 1e-3, found


def overridden(file, folder):
    """A cat from a file, linked and overridden; returns it after a reload."""
    with bpy.data.libraries.load(str(file), link=True) as (_, target):
        target.objects = ["rig"]
    (linked,) = target.objects
    bpy.context.collection.objects.link(linked)
    rig = linked.override_create(remap_local_usages=True)
    rig.override_library.is_system_override = False
    return again(folder)


def again(folder):
    """Save, load, and make the cat active."""
    file = str(folder / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=file)
    rig = next(o for o in bpy.data.objects if o.override_library is not None)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    return rig


def test_sparse_keys_and_edits_of_an_overridden_cat_last(poise, scene, tmp_path):
    library = tmp_path / "cat.blend"
    cat.save(library, "cat")
    rig = overridden(library, tmp_path)
    before, switches = snapshot(), settings(rig)
    assert bpy.ops.poise.rig_setup(kind="DOG") == {"FINISHED"}
    motion = rig.poise.motion_object
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = 1, FRAMES
    motion.poise_motion.key_mode = "SPARSE"
    assert bpy.ops.poise.bake() == {"FINISHED"}
    rig = again(tmp_path)
    motion = rig.poise.motion_object
    controls = motion.poise_motion.character
    assert_follows(rig, controls, (1, 12.5, FRAMES))

    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    assert off_their_tracks(motion) == []
    assert_follows(rig, controls, (3, 8, 13, FRAMES))
    assert_planted(rig, controls, ANIMALS["cat"][4])

    # A key of the head by hand is noticed, kept as a layer, and does not change the rest.
    curves = compat.action_fcurves(rig.animation_data.action, rig.animation_data.action_slot)
    curve = next(
        c for c in curves
        if c.data_path == 'pose.bones["head"].rotation_quaternion' and c.array_index == 1
    )
    key = next(k for k in curve.keyframe_points if k.co.x > 5.0 and k.co.x % 1.0 == 0.0)
    frame = int(key.co.x)
    key.co.y += 0.2
    curve.update()
    with pytest.raises(RuntimeError, match="Keys of head on .* were edited since the last bake"):
        bpy.ops.poise.bake_to_bones()
    assert bpy.ops.poise.bake_to_bones(edited_keys="KEEP_EDITS") == {"FINISHED"}
    rig = again(tmp_path)
    motion = rig.poise.motion_object
    controls = motion.poise_motion.character
    known = control_rig.followers(controls)
    far, turned = worst_off(rig, controls, known, (1, frame, FRAMES))
    assert turned.pop("head") > np.radians(10.0)
    assert max(far.values()) < 1e-3 and max(turned.values()) < np.radians(0.5)

    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert_follows(rig, controls, (1, 7))
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    assert settings(rig) == switches
    # Blender lists what an override changes, and tidies the list when it saves.
    noise = (*NOISE, r"session_uid", r"override_library\.properties")
    assert diff(before, snapshot(), noise) == []
