# SPDX-License-Identifier: GPL-3.0-or-later
"""Footprints as objects: moved with Blender's tools, adapted to, baked, saved and undone.

How a motion is solved again around them is tested on the solver itself.
"""

import re
from math import pi

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from operators_help import activate, assert_same_keys, curves_of, keys_of, load, refused
from poise.addon import families, pipeline
from poise.addon.shots import footprints
from poise.solvers.legged.gait import spoken_leg


@pytest.fixture
def horse():
    """A walking horse of five seconds whose footprints are shown; (rig, motion)."""
    rig, motion = load("HORSE", frames=121)
    bpy.ops.poise.footprints_edit()
    return rig, motion


def solved(motion):
    return pipeline.solve(pipeline.gather(bpy.context, motion)).motion


def mark(motion, leg, index):
    found = solved(motion).footprints
    return next(m for m in found if (m.leg, m.index) == (leg, index))


def obj(motion, leg, index):
    return next(
        o for o in footprints.objects_of(motion)
        if (o.poise_footprint.leg, o.poise_footprint.index) == (leg, index)
    )


def test_footprints_are_shown_where_they_are(horse):
    rig, motion = horse
    found = solved(motion).footprints
    shown = footprints.objects_of(motion)
    assert len(shown) == len(found)
    for m in found:
        o = obj(motion, m.leg, m.index)
        assert np.allclose(o.location, m.position, atol=1e-5)
        assert o.poise_footprint.on == pytest.approx(m.on) and o.hide_render
        # Its number is drawn beside it; G leaves it on the ground unless it is let go.
        assert not o.show_name and tuple(o.lock_location) == (False, False, True)
    # Four soles, one for each leg; the panels stay those of the horse.
    assert len({o.data for o in shown}) == 4
    activate(shown[0])
    assert bpy.context.object.poise_footprint.motion == motion
    shown[0].lock_location[2] = False
    bpy.ops.poise.footprints_adapt()
    assert not len(motion.poise_motion.gait.footprints) and not shown[0].lock_location[2]
    bpy.ops.poise.footprints_remove()
    assert not footprints.objects_of(motion) and bpy.context.object == rig
    assert not [c for c in bpy.data.collections if "Footprints" in c.name]


def test_moved_and_turned_footprints_are_adapted_to_and_baked(horse):
    rig, motion = horse
    before = solved(motion)
    o = obj(motion, "fore.L", 1)
    o.location.x += 0.15
    o.rotation_quaternion = (Matrix.Rotation(0.3, 4, "Z") @ o.matrix_world).to_quaternion()
    bpy.ops.poise.footprints_adapt()
    gait = rig.poise.gait
    assert [item.name for item in gait.footprints] == ["fore.L 1"]
    item = gait.footprints[0]
    assert (item.leg, item.index, item.has_on) == ("fore.L", 1, False)
    now, old = mark(motion, "fore.L", 1), next(
        m for m in before.footprints if (m.leg, m.index) == ("fore.L", 1)
    )
    assert np.allclose(now.position - old.position, (0.15, 0.0, 0.0), atol=1e-5)
    assert now.yaw - old.yaw == pytest.approx(0.3, abs=1e-4) and now.edited
    assert np.allclose(o.location, now.position, atol=1e-5)
    # Nothing touched: nothing changes, however often.
    for _ in range(2):
        values = [tuple(item.location), item.yaw, item.was_yaw]
        bpy.ops.poise.footprints_adapt()
        item = gait.footprints[0]
        assert [tuple(item.location), item.yaw, item.was_yaw] == values
    activate(rig)
    bpy.ops.poise.bake()
    first = keys_of(curves_of(rig))
    bpy.ops.poise.bake()
    assert_same_keys(first, keys_of(curves_of(rig)))
    # Outside of the window the keys are those without edits; what lies between samples is read
    # from four of them, two frames apart at most.
    window = solved(motion).windows[0]
    assert window[1] < 4.5
    bpy.ops.poise.footprints_reset(which="ALL")
    assert not len(gait.footprints) and np.allclose(o.location, old.position, atol=1e-5)
    bpy.ops.poise.bake()
    start, end = 24.0 * window[0] - 1.0, 24.0 * window[1] + 3.0
    worst = 0.0
    for path, keys in keys_of(curves_of(rig)).items():
        edited = first[path]
        away = [(k[:, 0] < start) | (k[:, 0] > end) for k in (keys, edited)]
        assert np.array_equal(keys[away[0], 0], edited[away[1], 0]), path
        worst = max(worst, float(np.abs(keys[away[0], 1] - edited[away[1], 1]).max(initial=0.0)))
    assert worst == 0.0


def test_times_are_edited_and_locked(horse):
    rig, motion = horse
    before = solved(motion)
    o = obj(motion, "hind.R", 1)
    o.poise_footprint.off += 0.1
    o.location.y += 0.1
    rig.poise.gait.keep_body = True
    bpy.ops.poise.footprints_adapt()
    after = solved(motion)
    assert np.array_equal(after.position, before.position)
    assert mark(motion, "hind.R", 1).off == pytest.approx(o.poise_footprint.off)
    rig.poise.gait.keep_body, rig.poise.gait.keep_timing = False, True
    after = solved(motion)
    assert np.array_equal(after.contact, before.contact)
    assert not np.array_equal(after.position, before.position)
    assert "EDIT_LOCKED" in {p.code for p in after.problems}


def test_they_survive_saving_undo_and_a_moved_motion(horse, tmp_path):
    rig, motion = horse
    o = obj(motion, "fore.R", 1)
    o.location.x -= 0.12
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.poise.footprints_adapt("EXEC_DEFAULT", True)
    made = solved(motion)
    name, motion_name = rig.name, motion.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "prints.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "prints.blend"))
    rig, motion = bpy.data.objects[name], bpy.data.objects[motion_name]
    again = solved(motion)
    for part in ("position", "orientation", "foot_position", "foot_orientation"):
        assert np.array_equal(getattr(made, part), getattr(again, part)), part
    assert len(footprints.objects_of(motion)) == len(made.footprints)
    # The whole motion elsewhere: its edits go with it.
    activate(rig)
    shift, turn = np.array((3.0, -2.0, 0.0)), pi / 3
    motion.location = np.array(motion.location) + shift
    motion.rotation_euler.z += turn
    bpy.context.view_layer.update()
    moved = solved(motion)
    assert not {"EDITS_MOVED", "EDIT_LOST"} & {p.code for p in moved.problems}
    c, s = np.cos(turn), np.sin(turn)
    spin = np.array(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))
    assert np.allclose(moved.foot_position, made.foot_position @ spin.T + shift, atol=1e-3)
    # Objects that nobody touched are no edits, but come along.
    bpy.ops.poise.footprints_adapt()
    assert len(motion.poise_motion.gait.footprints) == 1
    o = obj(motion, "fore.R", 1)
    assert np.allclose(o.location, mark(motion, "fore.R", 1).position, atol=1e-4)


def test_cycles_have_no_edited_footprints(horse):
    rig, motion = horse
    obj(motion, "fore.R", 1).location.x -= 0.12
    bpy.ops.poise.footprints_adapt()
    activate(rig)
    refused("gait_cycle", "In a cycle every stride is the same: reset the edited footprints")
    rig.poise.gait.cycle = True
    refused("bake", "is a cycle, in which every stride is the same, and has edited footprints")
    rig.poise.gait.cycle = False
    bpy.ops.poise.footprints_reset(which="ALL")
    bpy.ops.poise.gait_cycle()
    bpy.ops.poise.bake()


def test_undo_takes_an_edit_back(horse):
    _rig, motion = horse
    name = motion.name
    obj(motion, "fore.R", 1).location.x -= 0.12
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.poise.footprints_adapt("EXEC_DEFAULT", True)
    assert len(bpy.data.objects[name].poise_motion.gait.footprints) == 1
    bpy.ops.ed.undo()
    assert not len(bpy.data.objects[name].poise_motion.gait.footprints)


def test_deleted_and_duplicated_objects_do_no_harm(horse):
    rig, motion = horse
    bpy.data.objects.remove(obj(motion, "hind.L", 1))
    twin = obj(motion, "hind.L", 0)
    copy = twin.copy()
    twin.users_collection[0].objects.link(copy)
    copy.location.x += 0.08
    bpy.context.view_layer.update()
    activate(rig)
    bpy.ops.poise.footprints_adapt()
    assert [i.name for i in motion.poise_motion.gait.footprints] == ["hind.L 0"]
    shown = footprints.objects_of(motion)
    assert len(shown) == len(solved(motion).footprints), "the deleted one is back, the copy gone"
    # All of them, by Blender's own Delete: the edit stays.
    for o in shown:
        bpy.data.objects.remove(o)
    bpy.context.view_layer.update()
    bpy.ops.poise.footprints_adapt()
    assert len(motion.poise_motion.gait.footprints) == 1


def test_edits_go_with_speed_and_lost_ones_are_listed(horse):
    rig, motion = horse
    last = max(solved(motion).footprints, key=lambda m: (m.index, m.on))
    for o in (obj(motion, "fore.L", 1), obj(motion, last.leg, last.index)):
        o.location.x += 0.1
    bpy.ops.poise.footprints_adapt()
    activate(rig)
    rig.poise.gait.speed = 0.6
    codes = {p.code: p.message for p in solved(motion).problems}
    assert "EDITS_MOVED" in codes
    assert f"step {last.index} of the {spoken_leg(last.leg)}" in codes["EDIT_LOST"]
    bpy.ops.poise.footprints_reset(which="LOST")
    assert [i.name for i in rig.poise.gait.footprints] == ["fore.L 1"]
    bpy.ops.poise.footprints_adapt()
    assert "EDITS_MOVED" not in {p.code for p in solved(motion).problems}
    base = solved(motion).footprints_before
    old = next(m for m in base if (m.leg, m.index) == ("fore.L", 1))
    assert np.allclose(
        mark(motion, "fore.L", 1).position - old.position, (0.1, 0.0, 0.0), atol=1e-4
    )


def test_runs_are_bent_retimed_copied_and_pasted(horse):
    rig, motion = horse
    before = solved(motion)
    refused("footprints_bend", "No footprints are selected")
    activate(obj(motion, "fore.R", 1))
    bpy.ops.poise.footprints_select(which="AFTER")
    run = [o for o in footprints.objects_of(motion) if o.select_get()]
    assert len(run) > 4
    bpy.ops.poise.footprints_bend(angle=0.5)
    after = solved(motion)
    assert 0.2 < after.yaw[-1] - before.yaw[-1] < 0.7
    assert len(motion.poise_motion.gait.footprints) >= len(run) - 2
    bpy.ops.poise.footprints_copy()
    bpy.ops.poise.footprints_reset(which="ALL")
    first = min(run, key=lambda o: o.poise_footprint.on)
    start = obj(motion, first.poise_footprint.leg, first.poise_footprint.index)
    activate(start)
    bpy.ops.poise.footprints_paste(times=False)
    pasted = solved(motion)
    assert pasted.yaw[-1] == pytest.approx(after.yaw[-1], abs=0.02)
    bpy.ops.poise.footprints_reset(which="ALL")
    activate(obj(motion, "fore.R", 1))
    bpy.ops.poise.footprints_select(which="AFTER")
    bpy.ops.poise.footprints_retime(shift=0.05)
    bpy.ops.poise.footprints_scale(factor=1.05)
    assert mark(motion, "fore.R", 1).on == pytest.approx(
        next(m.on for m in before.footprints if (m.leg, m.index) == ("fore.R", 1)) + 0.05, abs=1e-4
    )


def test_footprints_too_far_or_too_early_are_told_of_once(horse):
    _rig, motion = horse
    o = obj(motion, "fore.L", 2)
    o.poise_footprint.on, o.poise_footprint.off = 0.1, 0.3  # before the step before
    o.location.y -= 6.0
    bpy.ops.poise.footprints_adapt()
    problems = solved(motion).problems
    told = {p.code: p.message for p in problems}
    assert "Step 2 of the left fore cannot be on the ground from 0.10 to" in told["EDIT_TIME"]
    assert re.match(r"Step \d of the left fore at [\d.]+ s is out of reach", told["OUT_OF_REACH"])
    assert len({(p.code, p.message) for p in problems}) == len(problems)


def test_mirrored_edits_change_sides(horse):
    _rig, motion = horse
    o = obj(motion, "fore.L", 1)
    o.location.x += 0.15
    activate(o)
    bpy.ops.poise.footprints_mirror()
    assert [i.name for i in motion.poise_motion.gait.footprints] == ["fore.R 1"]
    base = solved(motion).footprints_before
    old = next(m for m in base if (m.leg, m.index) == ("fore.R", 1))
    offset = mark(motion, "fore.R", 1).position - old.position
    np.testing.assert_allclose(offset, (-0.15, 0.0, 0.0), atol=2e-3)


def test_units_and_terrain(scene):
    rig, motion = load("HORSE", frames=49)
    bpy.context.scene.unit_settings.scale_length = 0.01
    plane = bpy.data.meshes.new("Hill")
    corners = [(-2000, -4000), (2000, -4000), (2000, 2000), (-2000, 2000)]
    plane.from_pydata([(x, y, -0.1 * y + 0.2 * x) for x, y in corners], [], [(0, 1, 2, 3)])
    ground = bpy.data.objects.new("Hill", plane)
    bpy.context.collection.objects.link(ground)
    rig.scale = (100.0, 100.0, 100.0)
    rig.poise.gait.speed = 160.0
    rig.poise.gait.terrain = ground
    bpy.ops.poise.footprints_edit()
    o = obj(motion, "fore.L", 1)
    assert np.allclose(np.array(o.location) * 0.01, mark(motion, "fore.L", 1).position, atol=1e-4)
    o.location.x += 10.0
    bpy.ops.poise.footprints_adapt()
    now = mark(motion, "fore.L", 1).position
    # Moved along the ground, it stays on it.
    assert now[2] == pytest.approx(-0.1 * now[1] + 0.2 * now[0], abs=1e-4)


def test_supports_are_dragged(scene):
    """Touchdown at T, liftoff at T + duty factor of the stride: one stays, the other moves."""
    rig, motion = load("HORSE", frames=49)
    item = rig.poise.gait.sequence[0]
    stride = [m for m in solved(motion).footprints if m.leg == "fore.L" and m.on > 0.0][0]
    bpy.ops.poise.gait_drag(leg="fore.L", edge="OFF", share=0.05)
    legs = {leg.name: (leg.duty, leg.phase) for leg in item.legs}
    assert item.own_timing and item.name == "Walk"
    longer = next(m for m in solved(motion).footprints if m.leg == "fore.L" and m.on > 0.0)
    assert longer.off - longer.on > stride.off - stride.on
    bpy.ops.poise.gait_drag(leg="fore.L", edge="ON", share=0.1)
    duty, phase = item.legs["fore.L"].duty, item.legs["fore.L"].phase
    assert duty == pytest.approx(legs["fore.L"][0] - 0.1, abs=1e-6)
    assert phase == pytest.approx((legs["fore.L"][1] + 0.1) % 1.0, abs=1e-6)
    assert item.legs["hind.L"].duty == pytest.approx(legs["hind.L"][0])
    refused("gait_drag", "Leg is 'wing'", leg="wing")
    # The corner of the viewport shows three seconds around the current frame.
    done = pipeline.solve(pipeline.gather(bpy.context, motion))
    family = families.view_of(done.job)
    for row in (0, len(done.motion.time) // 2, len(done.motion.time) - 1):
        diagram = family.inset(done, row, *family.inset_size)
        now = family.inset_now(done, row, *family.inset_size)
        upper, lower = diagram.axes
        assert upper.left - 1e-6 <= now[0, 0] <= upper.right + 1e-6
        assert [label.text for label in diagram.labels][:2] == ["Left hind", "Right hind"]
        # Names stand beside the bars: 6 px a letter of 10.
        widest = max(label.x + 6.0 * len(label.text) for label in diagram.labels)
        assert widest <= upper.left and min(area.left for area in diagram.areas) >= upper.left
    assert family.shows_inset(motion)
    rig.poise.gait.show_diagram = False
    assert not family.shows_inset(motion)


def test_the_gait_diagram_is_saved(scene, tmp_path):
    load("HORSE", frames=49)
    for name in ("gait.svg", "gait.png"):
        bpy.ops.poise.diagram_save(kind="GAIT", filepath=str(tmp_path / name))
        assert (tmp_path / name).stat().st_size > 1000
    refused("diagram_save", "There is no phase diagram", kind="PHASE",
            filepath=str(tmp_path / "phase.svg"))


def test_edits_stay_where_the_motion_starts_whatever_the_current_frame_is(horse):
    """Of a Motion object that moves, what counts is where it stands at the start."""
    rig, motion = horse
    motion.keyframe_insert("location", frame=1)
    motion.location.x += 3.0
    motion.keyframe_insert("location", frame=60)
    bpy.context.scene.frame_set(40)
    obj(motion, "fore.L", 1).location.x += 0.1
    bpy.ops.poise.footprints_adapt()
    first = solved(motion)
    for frame in (1, 25):
        bpy.context.scene.frame_set(frame)
        again = solved(motion)
        assert np.array_equal(again.position, first.position)
        assert not {"EDITS_MOVED"} & {p.code for p in again.problems}


@pytest.fixture
def halted(horse):
    """A horse that stands from its third second on, its footprints shown; (rig, motion)."""
    rig, motion = horse
    for frame, speed in ((1, 1.6), (49, 1.6), (65, 0.0)):
        motion.poise_motion.gait.speed = speed
        motion.keyframe_insert("poise_motion.gait.speed", frame=frame)
    bpy.ops.poise.footprints_adapt()
    return rig, motion


def standing(motion):
    return [m for m in solved(motion).footprints if np.isinf(m.off)]


def test_who_stands_for_good_has_no_liftoff_to_edit(halted):
    _rig, motion = halted
    last = standing(motion)
    assert len(last) == 4
    o = obj(motion, last[0].leg, last[0].index)
    given = o.poise_footprint.off
    o.poise_footprint.off = 4.0
    bpy.ops.poise.footprints_adapt()
    assert not len(motion.poise_motion.gait.footprints)
    assert o.poise_footprint.off == given


def test_ends_of_motions_are_pasted_into_their_middles(halted):
    """Where a foot stood for good, one that goes on is down for as long as it was."""
    _rig, motion = halted
    before = solved(motion)
    copied = [obj(motion, m.leg, m.index) for m in standing(motion)]
    activate(*copied)
    bpy.ops.poise.footprints_copy()
    first = min(copied, key=lambda o: o.poise_footprint.on).poise_footprint
    start = mark(motion, first.leg, 1)
    activate(obj(motion, start.leg, 1))
    bpy.ops.poise.footprints_paste()
    edits = motion.poise_motion.gait.footprints
    assert len(edits) > 1
    now = solved(motion)
    assert not {p.code for p in now.problems} & {"EDIT_LOST"}
    for item in edits:
        old, new = (
            next(m for m in of if (m.leg, m.index) == (item.leg, item.index))
            for of in (before.footprints, now.footprints)
        )
        if np.isfinite(old.off) and not item.has_off:
            assert new.off == pytest.approx(old.off, abs=0.3)
    other = next(leg for leg in ("fore.L", "hind.L") if leg != start.leg)
    activate(obj(motion, other, 1))
    refused(
        "footprints_paste",
        f"First selected footprint is of the {spoken_leg(other)}: it must be of the "
        f"{spoken_leg(start.leg)}, as the first copied one is$",
    )


def test_footprints_go_with_their_motion(horse):
    rig, motion = horse
    activate(rig)
    bpy.ops.poise.motion_remove()
    assert not [o for o in bpy.data.objects if o.name.startswith(("fore", "hind"))]
    assert not [c for c in bpy.data.collections if "Footprints" in c.name]


def test_footprints_of_a_copied_motion_are_in_a_collection_of_their_own(horse):
    rig, motion = horse
    count = len(footprints.objects_of(motion))
    copy = motion.copy()
    bpy.context.collection.objects.link(copy)
    bpy.context.view_layer.update()
    activate(rig)
    bpy.ops.poise.motion_activate(name=copy.name)
    for _ in range(2):
        bpy.ops.poise.footprints_edit()
        theirs = [m.poise_motion.gait.footprint_collection for m in (motion, copy)]
        assert [c.name for c in theirs] == [f"{m.name} Footprints" for m in (motion, copy)]
        assert [len(c.objects) for c in theirs] == [count, count]
    bpy.ops.poise.footprints_remove()
    assert len(footprints.objects_of(motion)) == count and theirs[0].name in bpy.data.collections
    assert len([c for c in bpy.data.collections if "Footprints" in c.name]) == 1


@pytest.mark.parametrize("put_away", ["exclude", "hide_viewport", "hide"])
def test_footprints_that_are_put_away_do_no_harm(horse, put_away, tmp_path):
    rig, motion = horse
    obj(motion, "fore.L", 1).location.x += 0.1
    bpy.ops.poise.footprints_adapt()
    activate(obj(motion, "fore.L", 1))
    collection = motion.poise_motion.gait.footprint_collection
    layer = bpy.context.view_layer.layer_collection.children[collection.name]
    if put_away == "exclude":
        layer.exclude = True
    elif put_away == "hide_viewport":
        collection.hide_viewport = True
    else:
        layer.hide_viewport = True
    bpy.context.view_layer.update()
    activate(rig)
    if put_away == "exclude":
        refused("footprints_select", "are not in this view layer", which="EDITED")
    else:
        bpy.ops.poise.footprints_select(which="EDITED")
    # Where what is put away stands is not known when the file is opened.
    names = rig.name, motion.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "away.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "away.blend"))
    rig, motion = (bpy.data.objects[name] for name in names)
    bpy.ops.poise.footprints_adapt()
    assert [i.name for i in motion.poise_motion.gait.footprints] == ["fore.L 1"]
    bpy.ops.poise.footprints_reset(which="ALL")
    assert not len(motion.poise_motion.gait.footprints)
    bpy.ops.poise.footprints_remove()
