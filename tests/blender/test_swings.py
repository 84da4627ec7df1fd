# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaits whose legs and arms swing through postures of a free-form motion."""

from pathlib import Path

import bpy
import freeform_scenes
import numpy as np
import pytest
from freeform_scenes import person
from operators_help import activate, load, sentence
from poise.addon import motions, pipeline
from poise.addon.families.freeform.gather import kept, poses_of
from poise.addon.mapping.freeform import body_of, turns_of
from poise.solvers.rotations import conjugate, multiply, slerp, to_rotation_vector

pytestmark = pytest.mark.usefixtures("scene")

LEFT, RIGHT = "leg.L", "leg.R"


def _march(frames=49):
    """A person who walks, and postures of a march: left knee up, right arm forward."""
    rig, gait = load("BIPED", frames=frames)
    rig.poise.gait.speed = 1.2
    activate(rig)
    bpy.ops.poise.motion_add(kind="FREEFORM")
    source = rig.poise.motion_object
    stands = {"feet": {RIGHT: (-0.1, 0.0, 0, 0)}, "low": 0.03}
    person(rig, **stands, hips=(-20, 0), knees=(20, 0), ankles=(20, 0), arms=(0, 0))
    freeform_scenes.add(rig, 1, "Leave")
    source.poise_motion.freeform.postures[0].supports[LEFT].bears = True
    person(rig, **stands, hips=(80, 0), knees=(85, 0), arms=(-30, 70), elbows=(20, 80))
    freeform_scenes.add(rig, 7, "Knee Up")
    person(rig, **stands, hips=(55, 0), knees=(20, 0), arms=(-20, 40), elbows=(15, 40))
    freeform_scenes.add(rig, 10, "Reach")
    person(rig, **stands, hips=(20, 0), knees=(0, 0), arms=(-5, 10))
    freeform_scenes.add(rig, 13, "Touch")
    source.poise_motion.freeform.postures[3].supports[LEFT].bears = True
    motions.set_active(gait)
    return rig, gait, source


def _solved(gait):
    return pipeline.solve(pipeline.gather(bpy.context, gait))


def test_legs_and_arms_of_a_march_go_through_its_postures():
    rig, gait, source = _march()
    plain = _solved(gait)
    assert not pipeline.gather(bpy.context, gait).arms
    gait.poise_motion.gait.sequence[0].swing = source
    done = _solved(gait)
    motion, figure = done.motion, done.job.figure
    assert not done.problems
    for one, other in zip(plain.tracks.contacts, done.tracks.contacts, strict=True):
        assert (one.role, one.start, one.end) == (other.role, other.start, other.end)
        assert np.abs(one.position - other.position).max() < 1e-6
    # Knee Up: the left foot from its hip, as posed and as it is half-way through the swing.
    poses = poses_of(rig, figure, [kept(source, p) for p in source.poise_motion.freeform.postures],
                     1.0)
    body = body_of(figure)
    posed, own = (turns_of(body, tracks)[1] for tracks in (poses, done.tracks))
    marks = [m for m in motion.footprints if m.leg == LEFT]
    met = 0
    for a, b in zip(marks[:-1], marks[1:], strict=True):
        for row, share in ((1, 0.5), (2, 0.75)):  # frames 7 and 10 of 1 to 13
            time = a.off + share * (b.on - a.off)
            at = int(np.searchsorted(motion.time, time))
            gone = (time - motion.time[at - 1]) / (motion.time[at] - motion.time[at - 1])
            for role in ("upper_arm.R", "upper_arm.L", "elbow_joint.R", "shoulder.R"):
                k = body.index[role]
                here = slerp(own[at - 1, k], own[at, k], np.array(gone))
                apart = np.linalg.norm(to_rotation_vector(multiply(
                    conjugate(posed[row, k]), here
                )))
                assert apart < np.radians(2.0), (role, share, np.degrees(apart))
            met += 1
    assert met >= 2
    # No jump: an arm that is up within 0.2 s needs some 100 m/s2.
    for role in ("hand.L", "hand.R", "foot.L"):
        now, before = (
            np.abs(np.diff(solved.tracks.position[role], 3, axis=0)).max() for solved in
            (done, plain)
        )
        assert now < 0.1 and before < 0.05, (role, now, before)
    # The right leg, which always bears, does the same mirrored half a stride later.
    right = dict(done.job.settings.sequence[0].gait.swings)
    np.testing.assert_allclose(
        np.array(right[RIGHT])[:, 1], -np.array(right[LEFT])[:, 1], atol=1e-12
    )
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert not [p for p in gait.poise_motion.problems if p.severity == "ERROR"]


def test_a_gait_without_postures_after_one_with_them_swings_as_it_does():
    """Two gaits of one name, of which the first has postures: what arms do follows the legs."""
    rig, gait, source = _march(73)
    plain = _solved(gait)
    items = gait.poise_motion.gait.sequence
    items[0].swing = source
    second = gait.poise_motion.gait.add("WALK_BIPED")
    second.start = 1.5
    done = _solved(gait)
    shaped = [bool(m.shape) for m in done.motion.footprints if m.on > 0.0]
    assert any(shaped) and not all(shaped)
    late = done.tracks.time > 2.4
    for role in ("hand.L", "hand.R", "foot.L"):
        far = np.abs(done.tracks.position[role] - plain.tracks.position[role]).max(axis=1)
        assert far[late].max() < 1e-9 and far[~late].max() > 0.1, role


def test_what_gives_no_swing_says_so_in_one_sentence():
    rig, gait, source = _march()
    gait.poise_motion.gait.sequence[0].swing = source
    for posture in source.poise_motion.freeform.postures:
        for support in posture.supports:
            support.bears = True
    with pytest.raises(RuntimeError) as error:
        bpy.ops.poise.bake()
    assert "no posture with a leg in the air" in sentence(error.value)
    # Presets are for all characters, and leave postures out.
    assert bpy.ops.poise.gait_preset_add(name="March") == {"FINISHED"}
    assert gait.poise_motion.gait.sequence[0].swing == source
    [path] = [p for p in bpy.utils.preset_paths("poise/gait/2_legs")
              if (Path(p) / "March.py").exists()]
    assert bpy.ops.poise.preset_apply(filepath=str(Path(path) / "March.py")) == {"FINISHED"}
    assert gait.poise_motion.gait.sequence[0].swing is None
    assert bpy.ops.poise.gait_preset_add(name="March", remove_name=True) == {"FINISHED"}
    gait.poise_motion.gait.sequence[0].swing = source
    bpy.data.objects.remove(source)
    assert bpy.ops.poise.bake() == {"FINISHED"}
