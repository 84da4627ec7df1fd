# SPDX-License-Identifier: GPL-3.0-or-later
"""Several motions of one character: no seam where one continues another."""

import bpy
import numpy as np
import pytest
from poise.addon import pipeline
from poise.addon.mapping.sequence import STYLE_CHANGE


@pytest.fixture
def pair(scene):
    """A skier with two motions; the second differs in turns and in style."""
    bpy.ops.poise.character_add(kind="SKIER")
    rig = bpy.context.active_object
    rig.poise.settings.frame_end = 61
    first = rig.poise.motion_object
    bpy.ops.poise.motion_add(name="Second")
    second = rig.poise.motion_object
    settings = second.poise_motion
    settings.frame_end = settings.frame_start + 72
    settings.turns.frequency = 0.45
    settings.turns.heading = 0.4
    settings.skier.knee_flexion = 0.95
    settings.skier.shoulder_level = 0.9
    return rig, first, second


def test_second_motion_starts_as_the_first_ends(pair):
    _rig, first, second = pair
    a = pipeline.solve(pipeline.gather(bpy.context, first))
    b = pipeline.solve(pipeline.gather(bpy.context, second))
    for name in ("position", "lean", "lean_rate", "curvature", "speed", "forward"):
        end, start = getattr(a.motion, name)[-1], getattr(b.motion, name)[0]
        np.testing.assert_allclose(start, end, atol=1e-9, err_msg=name)


def test_body_has_no_seam(pair):
    """Every role passes the seam about as smoothly as it moves elsewhere."""
    _rig, first, second = pair
    a = pipeline.solve(pipeline.gather(bpy.context, first)).tracks
    b = pipeline.solve(pipeline.gather(bpy.context, second)).tracks
    for role, points in a.position.items():
        np.testing.assert_allclose(b.position[role][0], points[-1], atol=1e-9, err_msg=role)
        joined = np.concatenate((points, b.position[role][1:]))
        bend = np.linalg.norm(np.diff(joined, n=2, axis=0), axis=1)
        seam = len(points) - 2
        elsewhere = np.concatenate((bend[: seam - 2], bend[seam + 3 :])).max()
        # A little more, since the turns themselves change there; posed one by one
        # the knees' poles would jump by half a metre, nine times as much.
        assert bend[seam - 1 : seam + 2].max() <= 1.5 * elsewhere, role
    for role, turns in a.rotation.items():
        same = abs(np.sum(b.rotation[role][0] * turns[-1]))
        assert same == pytest.approx(1.0, abs=1e-9), role


def test_style_passes_over_gradually(pair):
    """A style that differs is half-way at the seam and whole soon after."""
    _rig, first, second = pair
    b = pipeline.gather(bpy.context, second)
    from poise.addon.mapping import sequence

    solved = [pipeline.solve(pipeline.gather(bpy.context, m)).motion for m in (first, second)]
    joined = sequence.join_styles([b.before[0].style, b.style], solved)
    time = np.arange(len(joined.knee_flexion)) / 48.0
    seam = float(solved[0].time[-1])
    start, end = b.before[0].style.knee_flexion, b.style.knee_flexion
    assert np.interp(seam, time, joined.knee_flexion) == pytest.approx((start + end) / 2, abs=1e-6)
    late = time > seam + STYLE_CHANGE
    np.testing.assert_allclose(joined.knee_flexion[late], end, atol=1e-9)


def test_bake_all_plays_one_after_the_other(pair):
    rig, first, second = pair
    assert bpy.ops.poise.bake_all() == {"FINISHED"}
    solved = [pipeline.solve(pipeline.gather(bpy.context, m)) for m in (first, second)]
    for motion, result in zip((first, second), solved, strict=True):
        start = motion.poise_motion.frame_start
        stop = motion.poise_motion.frame_end
        for frame in (start, (start + stop) // 2, stop):
            bpy.context.scene.frame_set(frame)
            row = result.tracks.clock.row_of(frame - start)
            for role, bone in (("ski.L", "ski.L"), ("pelvis", "pelvis")):
                matrix = rig.matrix_world @ rig.pose.bones[bone].matrix
                np.testing.assert_allclose(
                    matrix.translation, result.tracks.position[role][row], atol=1e-3
                )


def test_circle_is_refused(pair):
    _rig, first, second = pair
    first.poise_motion.after = second
    with pytest.raises(RuntimeError, match="continues itself|in a circle"):
        bpy.ops.poise.bake()


def test_arms_on_top_keep_the_legs(pair):
    rig, _first, second = pair
    bpy.ops.poise.motion_add(name="Arms")
    arms = rig.poise.motion_object
    arms.poise_motion.after = None
    arms.poise_motion.base = second
    arms.poise_motion.body_parts = {"ARMS"}
    arms.poise_motion.skier.hand_forward = 0.5
    bpy.ops.poise.bake_all()
    below = pipeline.solve(pipeline.gather(bpy.context, second)).tracks
    frame = second.poise_motion.frame_start + 30
    bpy.context.scene.frame_set(frame)
    row = below.clock.row_of(30)
    legs = (rig.matrix_world @ rig.pose.bones["ski.R"].matrix).translation
    hand = (rig.matrix_world @ rig.pose.bones["hand_ik.R"].matrix).translation
    np.testing.assert_allclose(legs, below.position["ski.R"][row], atol=1e-3)
    assert np.linalg.norm(np.array(hand) - below.position["hand.R"][row]) > 0.02


def test_a_jump_of_the_speed_is_named(pair):
    """The second motion keeps 9 m/s; at 7 m/s it would jolt, and the list says so."""
    _rig, _first, second = pair
    solved = pipeline.solve(pipeline.gather(bpy.context, second))
    assert "SPEED_STEP" not in {problem.code for problem in solved.problems}
    second.poise_motion.turns.speed = 7.0
    solved = pipeline.solve(pipeline.gather(bpy.context, second))
    (jump,) = [problem for problem in solved.problems if problem.code == "SPEED_STEP"]
    assert jump.amount == pytest.approx(-2.0, abs=1e-6)
