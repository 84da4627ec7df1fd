# SPDX-License-Identifier: GPL-3.0-or-later
"""The one problem list: of the preview's solve and of the bake, with fixes that work on either."""

from math import degrees, radians

import bpy
import pytest
from operators_draw import drawn
from operators_help import load, refused
from poise.addon.baking import Listed
from poise.addon.show import preview


def listed(motion):
    preview.refresh(bpy.context, motion)
    return preview.problems(motion)


def too_sharp(turns):
    """45 degrees of lean at 8 m/s and 0.6 Hz ask for more curvature than 0.1 1/m."""
    turns.speed, turns.sharpness, turns.frequency = 8.0, radians(45.0), 0.6
    turns.max_curvature, turns.irregularity = 0.1, 0.0


def snapshot(motion):
    return [dict(item.items()) for item in motion.poise_motion.problems]


def test_what_the_preview_found_is_listed_before_any_bake(scene):
    _rig, motion = load()
    too_sharp(motion.poise_motion.turns)
    lines = listed(motion)
    assert [line.code for line in lines].count("CURVATURE_CLIPPED") == 1
    assert not len(motion.poise_motion.problems)  # nothing of it is in the file
    said = drawn()["POISE_PT_problems"]
    assert "None" not in said and str(len(lines)) in said
    first = next(line for line in lines if line.severity != "INFO")
    box = " ".join(drawn()["POISE_PT_turns"])
    assert first.message.split(":")[0] in box and first.remedy.split(";")[0] not in box
    assert first.remedy.split(";")[0] in " ".join(said)


def test_a_fix_of_what_the_preview_found_helps_and_says_no_number_twice(scene):
    _rig, motion = load()
    turns = motion.poise_motion.turns
    too_sharp(turns)
    lines = listed(motion)
    index = next(i for i, line in enumerate(lines) if line.code == "CURVATURE_CLIPPED")
    ((path, lean),) = lines[index].fix
    assert path == "turns.sharpness" and f"{degrees(lean):.1f}" in lines[index].remedy
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.poise.problem_fix("EXEC_DEFAULT", True, index=index) == {"FINISHED"}
    assert motion.poise_motion.turns.sharpness == pytest.approx(lean, rel=1e-6)
    for line in listed(motion):
        assert line.code != "CURVATURE_CLIPPED", line.message


def test_a_fix_is_the_same_whatever_is_listed_meanwhile(scene):
    _rig, motion = load()
    bpy.ops.poise.problem_fix(changes='[["turns.speed", 7.25]]')
    assert motion.poise_motion.turns.speed == 7.25
    for text in ("", "[]", "5", "nonsense", '[["turns.speed", NaN]]'):
        refused("problem_fix", "no problem|no setting", changes=text)
    for path in ("turns.nothing", "begin", "record", "turns.speed.x", "gate.None"):
        refused("problem_fix", "has no setting|There is no gate", changes=f'[["{path}", 1.0]]')


def test_what_only_the_bake_knows_goes_when_it_is_out_of_date(scene):
    rig, motion = load()
    too_sharp(motion.poise_motion.turns)
    bpy.ops.poise.bake()
    motion = rig.poise.motion_object
    item = motion.poise_motion.problems.add()
    item.code, item.message, item.severity, item.bone = "REACH", "Too short", "WARNING", "shin.L"
    item.has_frame, item.frame = True, 12.5
    lines = listed(motion)
    assert len(set(lines)) == len(lines) == len(motion.poise_motion.problems)
    index = lines.index(Listed("REACH", "Too short", "WARNING", "", "shin.L", 12.5))
    assert bpy.ops.poise.problem_show(index=index) == {"FINISHED"}
    scene = bpy.context.scene
    assert (scene.frame_current, scene.frame_subframe) == (12, 0.5)
    assert rig.data.bones.active.name == "shin.L"
    before = snapshot(motion)
    motion.poise_motion.turns.max_curvature = 0.25
    assert "REACH" not in [line.code for line in listed(motion)]
    assert snapshot(motion) == before  # only shown no longer
    assert "None" in drawn()["POISE_PT_problems"] or listed(motion)


def test_what_cannot_be_solved_is_the_first_line(scene):
    _rig, motion = load()
    motion.poise_motion.turns.speed = 0.0
    (line,) = listed(motion)
    assert "Speed" in line.message and line.severity == "ERROR" and not line.fix


def test_numbers_that_look_the_same_get_more_digits():
    from poise.solvers.motion import told_apart

    assert told_apart(14.9, 15.2, 1, "°") == ("14.9°", "15.2°")
    assert told_apart(14.9471, 14.9496, 1, "°") == ("14.947°", "14.950°")
    assert told_apart(2.0, 2.0 + 1e-9, 2) == ("2.00", "2.00")
