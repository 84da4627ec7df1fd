# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures that bump into objects and the ground, in preview and bake."""

import bpy
import numpy as np
import pytest
from figures_help import block, pendulum, solve, tree
from poise.addon import pipeline
from poise.addon.families import family_of

pytestmark = pytest.mark.usefixtures("scene")


def tip(rig, frame, bone):
    """World place of a bone's tip at a frame, whole or not."""
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
    seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(seen.matrix_world @ seen.pose.bones[bone].tail)


def test_a_pendulum_falls_onto_a_wall_and_lies_on_its_edge():
    """From level it falls onto the edge of a wall below its axle, as steeply as half its thickness
    lets it, at the time that the free fall is there; as baked, it is at no quarter of a frame in
    the wall by more than 4 mm, and lies there in the end."""
    rig, motion, control = pendulum(61)
    home = np.array(rig.matrix_world @ rig.pose.bones["rod"].head)
    block(home + (-0.3, -0.5, -3.0), home + (0.4, 0.5, -0.4), "Wall")
    bpy.context.view_layer.objects.active = rig
    control.obstacles = bpy.data.collections["Obstacles"]
    free = solve(motion)
    angles = free.motion.ran.states[:, 0]
    assert free.motion.ran.touched == () and angles.min() < -3.0
    control.contacts, control.thickness = True, 0.06
    found = solve(motion)
    there = -0.25 * np.pi + np.arcsin(0.03 / np.hypot(0.4, 0.4))
    hit, thing = found.motion.ran.touched[0]
    assert found.problems == () and thing == "Wall"
    assert hit == pytest.approx(np.interp(-there, -angles[:30], free.tracks.time[:30]), abs=1e-3)
    rows = dict(family_of(found.job).view.numbers(found).lines())
    assert rows["Wall touched"] == f"{hit:.2f} s"
    np.testing.assert_array_equal(solve(motion).motion.ran.states, found.motion.ran.states)
    bpy.ops.poise.bake()
    tips = [tip(rig, 1.0 + 0.25 * k, "rod") - home for k in range(60 * 4 + 1)]
    seen = np.array([np.arctan2(at[2], at[0]) for at in tips])
    assert (seen - there).min() > -0.004 / 0.56
    assert seen[-1] == pytest.approx(there, abs=1e-3) and np.ptp(seen[-24:]) < 1e-4
    inputs = pipeline.stored_inputs(found.job)
    control.friction = 0.9
    assert pipeline.changed_inputs(pipeline.gather(bpy.context, motion), inputs) == ["contacts"]


def test_without_contacts_nothing_depends_on_them():
    rig, motion, control = pendulum(13)
    before = pipeline.gather(bpy.context, motion).body
    control.thickness, control.friction, control.ground = 0.3, 0.1, False
    assert pipeline.gather(bpy.context, motion).body == before
    control.contacts = True  # no ground, no obstacles
    assert pipeline.gather(bpy.context, motion).body == before


def test_a_chain_of_bones_falls_to_the_ground():
    """Three links of half a metre, hinged 0.6 m up: they end lying on the ground, half of their
    thickness above it, and no joint goes more than 5 mm deeper on the way."""
    # Slightly bent, so that there is one plane that they are in.
    rig = tree([(f"link{k}", f"link{k - 1}" * (k > 1), 0.5, -0.02 * k, 0.5) for k in (1, 2, 3)])
    rig.location.z = 0.6
    rig.select_set(True)
    bpy.ops.poise.figure_setup()
    motion = rig.poise.motion_object
    motion.poise_motion.frame_end = 37
    control = motion.poise_motion.control
    control.contacts, control.thickness = True, 0.05
    bpy.ops.poise.bake()
    heights = np.array([[tip(rig, frame, f"link{k}")[2] for k in (1, 2, 3)]
                        for frame in range(1, 38)])
    assert heights.min() > 0.02 and heights[-1].max() < 0.6
    assert heights[-1, 2] == pytest.approx(0.025, abs=1e-3)
    assert np.abs(heights[-6:] - heights[-1]).max() < 1e-4
