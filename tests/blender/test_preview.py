# SPDX-License-Identifier: GPL-3.0-or-later
"""The cached solve behind the viewport and the panel, and the overlay's geometry."""

from math import degrees, radians, sin
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Vector


@pytest.fixture
def skier(scene):
    bpy.ops.poise.character_add(kind="SKIER")
    rig = bpy.context.active_object
    rig.poise.settings.frame_end = 97
    return rig


def refreshed(rig):
    from poise.addon.show import preview

    return preview.refresh(bpy.context, rig.poise.motion_object)


def as_in_the_paper(rig, speed):
    """The figure of van de Panne et al. 1993, Fig. 6, without limits on curvature."""
    turns = rig.poise.turns
    turns.auto_body = False
    turns.mass, turns.height, turns.inertia = 70.0, 1.0, 5.0
    turns.speed, turns.frequency, turns.sharpness = speed, 0.5, radians(23.0)
    turns.max_curvature = turns.max_curvature_rate = 1e6
    turns.slope = 0.0


def test_nothing_is_solved_by_itself_in_the_background(skier):
    from poise.addon.show import overlay, preview

    preview.reset()
    motion = skier.poise.motion_object
    assert preview.solved_for(motion) is None
    assert preview.status(motion).summary is None
    skier.poise.turns.speed = 7.0
    bpy.context.view_layer.update()
    assert not bpy.app.timers.is_registered(preview._tick)
    assert not preview._entries
    assert not overlay._handles


def test_the_preview_is_what_is_baked(skier, scene):
    status = refreshed(skier)
    bpy.ops.poise.bake()
    for frame in (1, 33, 97):
        scene.frame_set(frame)
        posed = skier.evaluated_get(bpy.context.evaluated_depsgraph_get())
        row = (frame - 1) * status.solved.motion.steps_per_frame
        for side in ("L", "R"):
            ski = posed.matrix_world @ posed.pose.bones[f"ski.{side}"].head
            wanted = status.solved.tracks.position[f"ski.{side}"][row]
            assert np.array(ski) == pytest.approx(wanted, abs=1e-3)


def test_it_is_solved_again_only_when_an_input_changed(skier):
    from poise.addon.show import preview

    first = refreshed(skier).solved
    preview._entries[preview._key(bpy.context.scene, skier.poise.motion_object)].stale = True
    assert refreshed(skier).solved is first
    skier.poise.turns.speed = 7.0
    second = refreshed(skier).solved
    assert second is not first
    skier.poise.turns.keyframe_insert("speed", frame=1)
    skier.poise.turns.speed = 12.0
    skier.poise.turns.keyframe_insert("speed", frame=90)
    assert refreshed(skier).solved is not second
    assert refreshed(skier).solved.motion.speed[-1] == pytest.approx(12.0, abs=1e-3)


def test_the_numbers_are_those_of_the_closed_form(skier):
    # Half-turn heading changes for m = 70, l = 1, I = 5, 0.5 Hz, 23 degrees, by
    # quadrature of psi' = k / (V cos theta); forces from Eq. 14 to 18 (1993).
    as_in_the_paper(skier, 8.0)
    numbers = refreshed(skier).numbers
    assert degrees(numbers.turn.half_turn) == pytest.approx(39.086, abs=0.01)
    assert numbers.turn.peak_force == pytest.approx(1.270, abs=0.001)
    assert numbers.turn.clipped == 0.0
    assert numbers.end == ""
    as_in_the_paper(skier, 5.0)
    assert degrees(refreshed(skier).numbers.turn.half_turn) == pytest.approx(62.538, abs=0.01)
    lines = dict(refreshed(skier).summary)
    assert lines["Half Turn"] == "62.5°"
    assert lines["Peak Force"] == "1.27 g"


def test_settings_that_cannot_be_solved_give_a_sentence(skier):
    skier.poise.settings.frame_end = -10
    status = refreshed(skier)
    assert "ends at frame -10, before its start" in status.error
    assert status.solved is None and status.summary is None
    skier.poise.settings.frame_end = 50
    assert refreshed(skier).error == ""
    assert refreshed(skier).solved.job.end_frame == 50


def test_what_changed_since_the_bake_is_named(skier, scene):
    assert refreshed(skier).out_of_date == ()
    bpy.ops.poise.bake()
    assert refreshed(skier).out_of_date == ()
    skier.poise.turns.speed += 1.0
    changed = refreshed(skier).out_of_date
    scene.render.fps = 30
    scene.gravity.z = -5.0
    more = refreshed(skier).out_of_date
    assert len(changed) == 1
    assert set(changed) < set(more)
    assert {"frame rate", "gravity"} <= set(more)
    bpy.ops.poise.bake()
    assert refreshed(skier).out_of_date == ()


def test_nothing_is_kept_of_what_is_gone(skier):
    from poise.addon.show import handlers, preview

    refreshed(skier)
    motion = skier.poise.motion_object
    bpy.data.objects.remove(motion)
    preview._drop_dead()
    assert not preview._entries
    bpy.ops.poise.motion_add()
    refreshed(skier)
    assert preview._entries
    handlers.poise_load_post("")
    assert not preview._entries


def test_handlers_come_and_go_however_often(scene):
    from poise.addon.show import handlers

    def counts():
        names = ("load_post", "depsgraph_update_post", "undo_post", "redo_post")
        lists = [getattr(bpy.app.handlers, name) for name in names]
        return [sum(f.__name__.startswith("poise_") for f in functions) for functions in lists]

    for _ in range(3):
        handlers.register()
    assert counts() == [1, 1, 1, 1]
    for _ in range(3):
        handlers.unregister()
    assert counts() == [0, 0, 0, 0]
    handlers.register()
    assert counts() == [1, 1, 1, 1]


def test_all_that_goes_into_a_solve_is_watched(skier):
    """A change of any input's data-block makes the preview stale."""
    from poise.addon.show import preview

    motion = skier.poise.motion_object
    skier.poise.turns.keyframe_insert("speed", frame=1)
    bpy.ops.poise.motion_add()
    second = skier.poise.motion_object
    assert second.poise_motion.after == motion
    used = preview._used(second)
    action = motion.animation_data.action
    for item in (second, motion, action, skier, skier.data):
        assert item.session_uid in used


def test_the_ghost_stands_where_the_baked_rig_stands(skier, scene):
    from poise.addon.families.riding import view as riding_view
    from poise.addon.show import overlay

    here = refreshed(skier).solved
    bpy.ops.poise.bake()
    for frame in (20, 60):
        scene.frame_set(frame)
        posed = skier.evaluated_get(bpy.context.evaluated_depsgraph_get())
        row = overlay.row_at(here, frame)
        lines, head = riding_view.figure_lines(here.tracks, here.job.figure, row)
        points = np.concatenate(lines)

        def nearest(bone, posed=posed, points=points):
            place = np.array(posed.matrix_world @ posed.pose.bones[bone].head)
            return np.linalg.norm(points - place, axis=1).min()

        for bone in ("pelvis", "shin.L", "shin.R", "foot.L", "foot.R", "forearm.L", "forearm.R",
                     "upper_arm.L", "pole_tip.L", "head"):
            assert nearest(bone) < 0.01, bone
        assert head is not None


def test_the_force_arrow_is_as_long_as_the_force(skier):
    from poise.addon.families.riding import view as riding_view
    from poise.addon.show import overlay

    here = refreshed(skier).solved
    motion = here.motion
    for row in (0, 40, 90):
        arrow = overlay.ghost_strokes(here, row, overlay.Palette())[-1].points
        weights = motion.leg_force[row] / (motion.mass * motion.gravity)
        length = np.linalg.norm(arrow[1] - arrow[0])
        assert length == pytest.approx(riding_view.FORCE_LENGTH * weights, rel=1e-9)
        # It starts at the centre of mass, which leans by the lean.
        height = (arrow[0] - motion.position[row]) @ motion.normal[row]
        assert height == pytest.approx(motion.height * np.cos(motion.lean[row]), rel=1e-9)


def test_the_track_is_coloured_where_a_limit_clips(skier):
    from poise.addon.show import overlay

    palette = overlay.Palette()
    free = overlay.track_strokes(refreshed(skier).solved, palette)[0]
    assert (free.colours == palette.track).all()
    skier.poise.turns.sharpness = radians(45.0)
    skier.poise.turns.max_curvature = 0.05
    status = refreshed(skier)
    assert status.numbers.turn.clipped > 0.0
    clipped = overlay.track_strokes(status.solved, palette)[0]
    assert (clipped.colours == palette.warning).all(axis=1).any()
    height = (clipped.points[0] - status.solved.motion.position[0]) @ status.solved.motion.normal[0]
    assert height == pytest.approx(overlay.LIFT)


def test_a_fall_is_marked_where_it_happens(skier):
    from poise.addon.families.riding import view as riding_view
    from poise.addon.show import overlay

    # At a tenth of the speed no curvature within the limits holds the lean.
    turns = skier.poise.turns
    turns.frequency, turns.sharpness = 0.5, radians(35.0)
    for frame, speed in ((1, 10.0), (30, 10.0), (34, 1.0)):
        turns.speed = speed
        turns.keyframe_insert("speed", frame=frame)
    status = refreshed(skier)
    assert status.numbers.end == "FALL"
    assert dict(status.summary)["Falls"].startswith("after")
    marks = riding_view._event_strokes(status.solved, overlay.Palette())
    crosses = [stroke for stroke in marks if stroke.width == 4.0]
    assert len(crosses) == 1
    time = status.numbers.end_time
    motion = status.solved.motion
    place = [np.interp(time, motion.time, motion.position[:, i]) for i in range(3)]
    assert crosses[0].points.mean(axis=0)[:2] == pytest.approx(place[:2], abs=0.1)


def test_the_snowboarder_has_a_ghost_and_one_track(scene):
    from poise.addon.families.riding import view as riding_view

    bpy.ops.poise.character_add(kind="SNOWBOARDER")
    rig = bpy.context.active_object
    here = refreshed(rig).solved
    lines, head = riding_view.figure_lines(here.tracks, here.job.figure, 10)
    assert head is not None
    # Spine, two legs with feet, two arms, the board.
    assert len(lines) == 8
    assert all(np.isfinite(line).all() for line in lines)


def test_a_turn_past_150_degrees_is_named_a_loop(skier):
    as_in_the_paper(skier, 2.0)
    skier.poise.turns.frequency = 0.25
    lines = dict(refreshed(skier).summary)
    assert lines["Half Turn"].endswith("(a loop)")
    skier.poise.settings.frame_end = 20
    assert dict(refreshed(skier).summary)["Half Turn"] == "none is whole"


def test_the_arrow_is_heading_and_speed(skier):
    """Half a second of the way from where the motion stands, in the direction that it takes."""
    from poise.addon.show import handles

    motion, turns = skier.poise.motion_object, skier.poise.turns
    motion.location, motion.rotation_euler.z = (3.0, -2.0, 1.0), radians(30.0)
    turns.heading, turns.speed = radians(60.0), 8.0
    bpy.context.view_layer.update()
    arrow = handles.arrow_of(motion)
    # -Y turned left by 90 degrees is +X.
    assert tuple(arrow.tip - arrow.place) == pytest.approx((4.0, 0.0, 0.0), abs=1e-5)
    assert arrow.to(arrow.tip) == pytest.approx((radians(60.0), 8.0), abs=1e-5)
    heading, speed = arrow.to(arrow.place + Vector((0.0, 3.0, 9.0)))
    assert (degrees(heading), speed) == pytest.approx((150.0, 6.0), abs=1e-3)
    bpy.ops.poise.heading_drag(heading=heading, speed=speed)
    assert (degrees(turns.heading), turns.speed) == pytest.approx((150.0, 6.0), abs=1e-3)
    skier.poise.settings.mirror = True  # 30 - 150 degrees from -Y: the motion goes there, too
    tip = handles.arrow_of(motion).tip - arrow.place
    assert tuple(tip) == pytest.approx((-3.0 * sin(radians(120.0)), 1.5, 0.0), abs=1e-4)
    assert handles.arrow_of(motion).to(arrow.place + tip)[0] == pytest.approx(heading, abs=1e-5)


def test_the_arrow_leaves_keys_alone_and_hides_where_others_lead(skier):
    from poise.addon.show import handles

    motion, turns = skier.poise.motion_object, skier.poise.turns
    turns.keyframe_insert("speed", frame=1)
    assert handles.arrow_of(motion).free == ("heading",)
    bpy.ops.poise.heading_drag(heading=0.5, speed=3.0)
    assert turns.heading == pytest.approx(0.5) and turns.speed == pytest.approx(9.0)
    turns.keyframe_insert("heading", frame=1)
    with pytest.raises(RuntimeError, match="has keys or drivers on heading and speed"):
        bpy.ops.poise.heading_drag(heading=0.1)
    skier.poise.motion = "PATH"
    assert handles.arrow_of(motion) is None
    assert not bpy.ops.poise.heading_drag.poll()


@pytest.mark.parametrize("scale, window", [(1.0, 1312), (2.0, 1312)])
def test_the_diagram_stays_within_the_viewport(scale, window):
    """Between toolbar and sidebar, and as high as letters need it, at any interface scale."""
    from poise.addon.show import overlay

    wide = {"TOOLS": round(50 * scale), "WINDOW": window, "UI": round(287 * scale)}
    context = SimpleNamespace(
        preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=scale)),
        area=SimpleNamespace(regions=[
            SimpleNamespace(type=kind, width=width) for kind, width in wide.items()
        ]),
    )
    view = SimpleNamespace(inset_size=(460, 150))
    left, _bottom, width, height = overlay.inset_frame(context, view)
    assert left >= wide["TOOLS"] and left + width <= window - wide["UI"]
    assert height == 150 * scale and width <= 460 * scale
