# SPDX-License-Identifier: GPL-3.0-or-later
"""From settings to keys: what is sampled when, and that the same settings give the same keys."""

from __future__ import annotations

import json
import re
from math import radians

import bpy
import numpy as np
import pytest
from operators_help import (
    UNDO_NOISE,
    activate,
    add,
    assert_follows,
    assert_same_keys,
    curves_of,
    keys_of,
    load,
    refused,
    settled,
    solved,
    undoable,
    world_path,
)
from snapshot import diff

# Single precision of keys and matrices, tens of metres from the origin.
CLOSE = 1e-4


def straight(kind="SKIER", frames=37, **turns):
    """A straight run on level ground: distance is speed times time."""
    return load(kind, frames, sharpness=0.0, slope=0.0, **turns)


def travelled(rig, start, end):
    """Metres between where the root is at two frames."""
    scale = bpy.context.scene.unit_settings.scale_length
    first, last = world_path(rig, "root", [start, end])
    return float(np.linalg.norm(last - first)) * scale


def key(motion, name, pairs, interpolation="LINEAR", group="turns"):
    """Key a setting of a motion; (frame, value) pairs."""
    from poise.addon import compat

    settings = getattr(motion.poise_motion, group)
    for frame, value in pairs:
        setattr(settings, name, value)
        settings.keyframe_insert(name, frame=frame)
    data = motion.animation_data
    curve = next(
        c
        for c in compat.action_fcurves(data.action, data.action_slot)
        if c.data_path == f"poise_motion.{group}.{name}"
    )
    for point in curve.keyframe_points:
        point.interpolation = interpolation
    scene = bpy.context.scene
    scene.frame_set(scene.frame_current)
    return curve


# -- keyed, driven, blended settings ---------------------------------------------------


@pytest.mark.parametrize("kind", ["SKIER", "SNOWBOARDER", "CYCLIST"])
def test_a_keyed_speed_is_integrated(scene, kind):
    """From 5 to 15 m/s in a second and a half: 15 m."""
    rig, motion = straight(kind)
    key(motion, "speed", ((1, 5.0), (37, 15.0)))
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert travelled(rig, 1, 37) == pytest.approx(15.0, abs=2e-3)
    # Half of the time, but 5 * 0.75 + 0.5 * (10 / 1.5) * 0.75^2 of the way.
    assert travelled(rig, 1, 19) == pytest.approx(5.625, abs=2e-3)


def test_keys_between_frames_count(scene):
    """A step at frame 10.5: 9.5 frames at 5 m/s, the rest at 15."""
    rig, motion = straight()
    key(motion, "speed", ((1, 5.0), (10.5, 15.0)), "CONSTANT")
    assert bpy.ops.poise.bake() == {"FINISHED"}
    # The solver's step that holds the jump is a quarter of a frame at most.
    expected = (9.5 * 5.0 + 26.5 * 15.0) / 24.0
    assert travelled(rig, 1, 37) == pytest.approx(expected, abs=10.0 * 0.25 / 24.0)


def test_curved_interpolation_is_followed_at_every_solver_step(scene):
    rig, motion = straight()
    curve = key(motion, "speed", ((1, 4.0), (14, 16.0), (37, 6.0)), "BEZIER")
    fine = np.linspace(1, 37, 36 * 64 + 1)
    speeds = np.array([curve.evaluate(frame) for frame in fine])
    assert bpy.ops.poise.bake() == {"FINISHED"}
    way = float(np.sum(0.5 * (speeds[1:] + speeds[:-1]) * np.diff(fine))) / 24.0
    assert travelled(rig, 1, 37) == pytest.approx(way, abs=2e-3)


def test_the_rigs_python_properties_key_the_motion_object(scene):
    rig, motion = straight()
    rig.poise.turns.speed = 6.0
    assert rig.poise.turns.keyframe_insert("speed", frame=1)
    rig.poise.turns.speed = 12.0
    rig.poise.turns.keyframe_insert("speed", frame=37)
    assert rig.animation_data is None or rig.animation_data.action is None
    assert {c.data_path for c in curves_of(motion)} == {"poise_motion.turns.speed"}


def test_a_driven_setting_has_its_value_at_every_frame(scene):
    rig, motion = straight()
    curve = motion.driver_add("poise_motion.turns.speed")
    curve.driver.expression = "5 + (frame - 1) * 10 / 36"
    scene = bpy.context.scene
    scene.frame_set(11, subframe=0.25)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert travelled(rig, 1, 37) == pytest.approx(15.0, abs=2e-3)
    assert scene.frame_current_final == 11.25
    # Muted, the setting is what it is.
    curve.mute = True
    motion.poise_motion.turns.speed = 8.0
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert travelled(rig, 1, 37) == pytest.approx(12.0, abs=2e-3)


def test_a_driver_that_reads_another_object(scene):
    """An animator's slider: the x of an empty that is keyed."""
    rig, motion = straight()
    slider = bpy.data.objects.new("Slider", None)
    bpy.context.scene.collection.objects.link(slider)
    for frame, value in ((1, 5.0), (37, 15.0)):
        slider.location.x = value
        slider.keyframe_insert("location", index=0, frame=frame)
    for point in curves_of(slider)[0].keyframe_points:
        point.interpolation = "LINEAR"
    driver = motion.driver_add("poise_motion.turns.speed").driver
    driver.type = "AVERAGE"
    variable = driver.variables.new()
    variable.targets[0].id = slider
    variable.targets[0].data_path = "location.x"
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert travelled(rig, 1, 37) == pytest.approx(15.0, abs=2e-3)


def test_a_muted_curve_does_not_count(scene):
    rig, motion = straight()
    curve = key(motion, "speed", ((1, 5.0), (37, 15.0)))
    curve.mute = True
    motion.poise_motion.turns.speed = 8.0
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert travelled(rig, 1, 37) == pytest.approx(12.0, abs=2e-3)


def test_strips_on_the_motion_object_are_blended_by_blender(scene):
    """The action at half the pace: 5 to 10 m/s where it said 5 to 15."""
    rig, motion = straight()
    key(motion, "speed", ((1, 5.0), (37, 15.0)))
    data = motion.animation_data
    action, slot = data.action, data.action_slot
    data.action = None
    strip = data.nla_tracks.new().strips.new("Speed", 1, action)
    strip.action_slot = slot
    strip.scale = 2.0
    bpy.context.scene.frame_set(1)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert travelled(rig, 1, 37) == pytest.approx(7.5 * 1.5, abs=2e-3)
    data.nla_tracks[0].mute = True
    motion.poise_motion.turns.speed = 8.0
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert travelled(rig, 1, 37) == pytest.approx(12.0, abs=2e-3)


def test_a_style_can_be_keyed(scene):
    """Deep knees at the end only: the pelvis comes down."""
    _rig, motion = straight()
    upright = solved(motion).tracks
    key(motion, "knee_flexion", ((1, radians(42)), (37, radians(95))), group="skier")
    bent = solved(motion).tracks
    height = [t.position["pelvis"][:, 2] for t in (upright, bent)]
    assert abs(height[1][0] - height[0][0]) < 0.01
    assert height[1][-1] < height[0][-1] - 0.05
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)


def test_a_value_without_a_key_counts_as_it_stands(scene):
    """The panel's value decides, whether or not a frame was set since."""
    rig, motion = straight()
    motion.poise_motion.turns.speed = 10.0
    bpy.context.scene.frame_set(5)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert travelled(rig, 1, 37) == pytest.approx(15.0, abs=2e-3)


# -- rates, units, gravity -----------------------------------------------------------------


@pytest.mark.parametrize(("fps", "base"), [(30, 1.001), (24, 1.001), (240, 10.0), (25, 0.5)])
def test_the_real_frame_rate_counts(scene, fps, base):
    """10 m/s are 10 m in every second that the movie really takes."""
    rig, motion = straight(speed=10.0)
    render = bpy.context.scene.render
    render.fps, render.fps_base = fps, base
    assert bpy.ops.poise.bake() == {"FINISHED"}
    seconds = 36 * base / fps
    assert travelled(rig, 1, 37) / seconds == pytest.approx(10.0, rel=1e-3)
    assert motion.poise_motion.duration == pytest.approx(seconds, rel=1e-6)


def test_the_same_path_at_every_frame_rate(scene):
    """The path over seconds, not over frames; the solver's steps differ a little."""
    paths = []
    for fps in (12, 24, 25, 60):
        rig, motion = load(frames=2 * fps + 1, frequency=0.6)
        bpy.context.scene.render.fps = fps
        assert bpy.ops.poise.bake() == {"FINISHED"}
        # Whole frames at every rate: between them keys are joined by straight lines.
        frames = 1 + fps * np.array([0, 1, 2])
        paths.append([world_path(rig, bone, frames) for bone in ("root", "pelvis", "head")])
    for path in paths[1:]:
        # Poles are planted and heads turned by smoothed signals: a few millimetres.
        for bone, tolerance in zip(range(3), (1e-3, 5e-3, 1e-2), strict=True):
            np.testing.assert_allclose(path[bone], paths[1][bone], atol=tolerance)


@pytest.mark.parametrize(
    ("system", "scale"), [("METRIC", 0.01), ("METRIC", 0.001), ("IMPERIAL", 0.3048), ("NONE", 0.01)]
)
@pytest.mark.parametrize("kind", ["SKIER", "SNOWBOARDER", "CYCLIST"])
def test_the_units_do_not_change_the_motion(scene, kind, system, scale):
    """Added, set by a preset and baked in other units: the same metres."""
    preset = "Criterium" if kind == "CYCLIST" else "Carving"
    _rig, motion = add(kind)
    bpy.ops.poise.preset_apply(name=preset)
    wanted = solved(motion)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    units = bpy.context.scene.unit_settings
    units.system, units.scale_length = system, scale
    rig, motion = add(kind)
    bpy.ops.poise.preset_apply(name=preset)
    found = solved(motion)
    np.testing.assert_allclose(found.motion.position, wanted.motion.position, atol=2e-3)
    np.testing.assert_allclose(found.motion.lean, wanted.motion.lean, atol=2e-4)
    for role, points in wanted.tracks.position.items():
        np.testing.assert_allclose(found.tracks.position[role], points, atol=1e-2, err_msg=role)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)
    metres = 1.0 if system == "NONE" else scale
    end = world_path(rig, "root", [37])[0] * metres
    np.testing.assert_allclose(end, wanted.tracks.position["root"][-1], atol=5e-3)


def test_lengths_are_the_scenes_units_and_gravity_is_not(scene):
    """In centimetres a speed of 900 is 9 m/s; gravity stays 9.81 m/s^2."""
    bpy.context.scene.unit_settings.scale_length = 0.01
    _rig, motion = add()
    assert motion.poise_motion.turns.speed == pytest.approx(900.0)
    assert motion.poise_motion.turns.drag_area == pytest.approx(4500.0)
    assert motion.poise_motion.turns.max_curvature == pytest.approx(0.0025)
    done = solved(motion).motion
    assert done.speed[0] == pytest.approx(9.0) and done.gravity == pytest.approx(9.81, abs=1e-5)
    # A motion added later begins alike.
    bpy.ops.poise.motion_remove()
    bpy.ops.poise.motion_add()
    assert bpy.context.object.poise.turns.speed == pytest.approx(900.0)


def test_a_figure_of_no_human_size_is_asked_about(scene):
    """A scene whose units were changed after the character was added."""
    rig, motion = load(speed=9.0)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert "SIZE" not in {p.code for p in motion.poise_motion.problems}
    rig.scale = (0.01,) * 3
    bpy.context.view_layer.update()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    asked = next(p for p in motion.poise_motion.problems if p.code == "SIZE")
    assert asked.severity == "WARNING" and "0.0178 m tall" in asked.message
    assert "Unit Scale" in asked.remedy


@pytest.mark.parametrize(
    ("gravity", "use", "size", "note"),
    [
        ((0.0, 0.0, -9.81), True, 9.81, ""),
        ((0.0, 0.0, -1.62), True, 1.62, ""),
        ((3.0, 0.0, -4.0), True, 5.0, ""),
        ((0.0, 0.0, 9.81), True, 9.81, ""),
        ((0.0, 0.0, 0.0), True, 9.81, "zero"),
        ((0.0, 0.0, -1.62), False, 9.81, "off"),
    ],
)
def test_gravity(scene, gravity, use, size, note):
    """Its size counts; off or zero, 9.81 m/s^2 is used and said."""
    _rig, motion = load(frequency=0.3)
    scene = bpy.context.scene
    scene.gravity, scene.use_gravity = gravity, use
    assert solved(motion).motion.gravity == pytest.approx(size, abs=1e-5)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)
    notes = [p.message for p in motion.poise_motion.problems if p.code == "GRAVITY"]
    assert len(notes) == bool(note)
    if note:
        assert note in notes[0] and "9.81" in notes[0]


def test_range_modes(scene):
    _rig, motion = load()
    settings, scene = motion.poise_motion, bpy.context.scene
    scene.frame_start, scene.frame_end = 100, 120
    scene.use_preview_range = True
    scene.frame_preview_start, scene.frame_preview_end = -8, 4
    for mode, ends in (("OWN", (1, 37)), ("SCENE", (100, 120)), ("PREVIEW", (-8, 4))):
        settings.range_mode = mode
        assert bpy.ops.poise.bake() == {"FINISHED"}
        keys = keys_of(curves_of(settings.character))
        frames = keys['pose.bones["root"].location', 0][:, 0]
        assert (frames[0], frames[-1]) == ends
    settings.range_mode = "OWN"
    settings.duration = 2.0
    assert settings.frame_end == 1 + 48
    scene.render.fps = 30
    assert settings.duration == pytest.approx(1.6)


@pytest.mark.parametrize("kind", ["SKIER", "SNOWBOARDER", "CYCLIST"])
def test_fixes_change_the_setting_they_name(scene, kind):
    """Of the turns and of the body's style, in other units; keyed ones are left to the animator."""
    bpy.context.scene.unit_settings.scale_length = 0.01
    rig, motion = add(kind)
    style = getattr(motion.poise_motion, kind.lower())
    amount = "trunk_pitch" if kind == "CYCLIST" else "knee_flexion"
    setattr(style, amount, radians(170.0))
    turns = motion.poise_motion.turns
    # On level ground it comes to a stop: a higher speed at the start would help.
    turns.speed_mode, turns.slope, turns.friction, turns.sharpness = "SLOPE", 0.0, 0.7, 0.1
    assert bpy.ops.poise.bake() == {"FINISHED"}
    fixes = {p.fix: i for i, p in enumerate(motion.poise_motion.problems) if p.fix}
    paths = [path for fix in fixes for path, _value in json.loads(fix)]
    assert f"{kind.lower()}.{amount}" in paths
    assert "turns.speed" in paths
    for fix, index in fixes.items():
        assert bpy.ops.poise.problem_fix(index=index) == {"FINISHED"}
        for path, value in json.loads(fix):
            group, _, name = path.partition(".")
            power = {"max_curvature": -1, "max_curvature_rate": -1, "speed": 1}.get(name, 0)
            stored = getattr(getattr(motion.poise_motion, group), name)
            assert stored == pytest.approx(value / 0.01**power, rel=1e-5)
    codes = [p.code for p in motion.poise_motion.problems]
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert len(motion.poise_motion.problems) < len(codes)
    # A keyed setting would be brought back by its keys.
    setattr(style, amount, radians(170.0))
    style.keyframe_insert(amount, frame=1)
    bpy.ops.poise.bake()
    index = next(i for i, p in enumerate(motion.poise_motion.problems) if amount in p.fix)
    refused("problem_fix", "has keys or a driver, which would undo the fix", index=index)


# -- the Motion object -----------------------------------------------------------------------


def test_moving_the_motion_object_moves_the_whole_motion(scene):
    """Turned and moved; its tilt and scale do not count."""
    _rig, motion = load(slope=0.0)
    before = solved(motion)
    motion.location = (3.0, -4.0, 2.0)
    motion.rotation_euler = (0.3, -0.2, 1.1)
    motion.scale = (2.0, 0.5, 3.0)
    bpy.context.view_layer.update()
    facing = -np.array(motion.matrix_world)[:3, 1]
    yaw = np.arctan2(facing[0], -facing[1])
    after = solved(motion)
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    for role, points in before.tracks.position.items():
        np.testing.assert_allclose(
            after.tracks.position[role], points @ turn.T + [3.0, -4.0, 2.0], atol=1e-5
        )
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)


def test_mirror_swaps_left_and_right(scene):
    _rig, motion = load(frames=49, heading=0.3, slope_direction=0.2)
    before = solved(motion)
    motion.poise_motion.mirror = True
    after = solved(motion)
    flip = np.array([-1.0, 1.0, 1.0])
    np.testing.assert_allclose(after.motion.position, before.motion.position * flip, atol=1e-6)
    np.testing.assert_allclose(after.motion.lean, -before.motion.lean, atol=1e-7)
    for role, points in before.tracks.position.items():
        base, dot, side = role.partition(".")
        other = base + dot + {"L": "R", "R": "L"}.get(side, side)
        np.testing.assert_allclose(
            after.tracks.position[other], points * flip, atol=1e-6, err_msg=role
        )


def test_a_motion_continues_another_in_the_world(scene):
    """Baked in strips: no jump of place or speed at the seam, for any bone of the body."""
    rig, _first = load(frames=37)
    bpy.ops.poise.motion_add(name="Second")
    second = rig.poise.motion_object
    assert second.poise_motion.frame_start == 37
    second.poise_motion.frame_end = 73
    second.poise_motion.turns.frequency = 0.5
    assert bpy.ops.poise.bake_all() == {"FINISHED"}
    frames = np.arange(31, 44)
    for bone in ("root", "pelvis", "head", "hand.L", "ski.R"):
        places = world_path(rig, bone, frames)
        speeds = np.diff(places, axis=0) * 24.0
        assert np.linalg.norm(speeds, axis=1).min() > 5.0, bone
        # Accelerations stay those of a turn: a jump of 1 cm would be 5.8 m/s^2 more.
        change = np.linalg.norm(np.diff(speeds, axis=0), axis=1) * 24.0
        assert change[5] < 1.5 * change.max(initial=0.0) + 1.0
        assert change.max() < 60.0, bone


# -- the same again ---------------------------------------------------------------------------


def test_baking_again_gives_identical_keys(scene, tmp_path):
    """From another frame, selection and mode, after saving and loading, and in a copy."""
    rig, motion = load()
    motion.poise_motion.key_mode = "SPARSE"
    key(motion, "frequency", ((1, 0.3), (37, 0.6)))
    bpy.ops.poise.bake()
    keys = keys_of(curves_of(rig))
    bpy.context.scene.frame_set(29, subframe=0.5)
    activate(motion)
    bpy.ops.poise.bake()
    assert_same_keys(keys_of(curves_of(rig)), keys)
    bpy.ops.poise.bake_clear()
    bpy.ops.poise.bake()
    assert_same_keys(keys_of(curves_of(rig)), keys)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Skier"]
    assert_same_keys(keys_of(curves_of(rig)), keys)
    bpy.ops.poise.bake()
    assert_same_keys(keys_of(curves_of(rig)), keys)


def test_any_order_of_frames_shows_the_same(scene):
    rig, _motion = load("SNOWBOARDER")
    bpy.ops.poise.bake()
    frames = np.arange(1, 38, 3)
    forward = world_path(rig, "head", frames)
    order = np.random.default_rng(7).permutation(len(frames))
    np.testing.assert_array_equal(world_path(rig, "head", frames[order]), forward[order])


def test_the_preview_is_what_is_baked(scene):
    """The preview's arrays, bit for bit, are those that the bake writes."""
    from poise.addon.show import preview

    rig, motion = load()
    key(motion, "speed", ((1, 6.0), (37, 12.0)))
    status = preview.refresh(bpy.context, motion)
    assert status.error == ""
    shown, done = status.solved.tracks, solved(motion).tracks
    assert shown.position.keys() == done.position.keys()
    for role in done.position:
        np.testing.assert_array_equal(shown.position[role], done.position[role])
    for role in done.rotation:
        np.testing.assert_array_equal(shown.rotation[role], done.rotation[role])
    bpy.ops.poise.bake()
    places = world_path(rig, "pelvis", np.arange(1, 38))
    np.testing.assert_allclose(places, shown.position["pelvis"][shown.clock.whole], atol=CLOSE)
    # Said in the same words, too.
    motion.poise_motion.turns.fall_angle = radians(6.0)
    error = preview.refresh(bpy.context, motion).error
    assert refused("bake", "Max Lean") == error


def _style(motion):
    motion.poise_motion.skier.twist = 0.5


def _setting(motion):
    motion.poise_motion.turns.frequency = 0.41


def _keyed(motion):
    key(motion, "friction", ((1, 0.05), (30, 0.1)))


def _range(motion):
    motion.poise_motion.frame_end += 1


def _rate(motion):
    bpy.context.scene.render.fps = 25


def _gravity(motion):
    bpy.context.scene.gravity.z = -9.0


def _place(motion):
    motion.location.x += 0.1
    bpy.context.view_layer.update()


def _rest(motion):
    rig = motion.poise_motion.character
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["hand.L"].head.z += 0.01
    rig.data.edit_bones["hand_ik.L"].head.z += 0.01
    bpy.ops.object.mode_set(mode="OBJECT")


def _another(motion):
    activate(motion.poise_motion.character)
    bpy.ops.poise.motion_add()
    bpy.ops.poise.motion_activate(name=motion.name)


CHANGES = {
    "Twist": _style,
    "Frequency": _setting,
    "Friction": _keyed,
    "frame range": _range,
    "frame rate": _rate,
    "gravity": _gravity,
    "place of the motion": _place,
    "character's rest pose": _rest,
    "motions before and after": _another,
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changed_since_the_bake_is_named(scene, what):
    from poise.addon import pipeline
    from poise.addon.show import preview

    _rig, motion = load()
    bpy.ops.poise.bake()
    assert preview.refresh(bpy.context, motion).out_of_date == ()
    CHANGES[what](motion)
    job = pipeline.gather(bpy.context, motion)
    changed = pipeline.changed_inputs(job, motion.poise_motion.inputs)
    assert what in changed
    # A body of another shape, and other samples, are settings too.
    more = {
        "character's rest pose": {"settings", "Mass", "CoM Height", "Inertia"},
        "frame rate": {"settings", "body style"}, "frame range": {"settings"},
    }
    assert set(changed) <= {what} | more.get(what, set())
    assert preview.refresh(bpy.context, motion).out_of_date == tuple(changed)
    bpy.ops.poise.bake()
    assert preview.refresh(bpy.context, motion).out_of_date == ()


def test_what_does_not_matter_is_not_named(scene):
    """Frame, selection, colours, another object, the names of things."""
    from poise.addon import pipeline

    rig, motion = load()
    bpy.ops.poise.bake()
    bpy.context.scene.frame_set(17)
    rig.data.collections_all[0].is_visible = False
    rig.location.x += 1.0
    rig.name, motion.name = "Held", "Lauf"
    motion.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    job = pipeline.gather(bpy.context, motion)
    assert pipeline.changed_inputs(job, motion.poise_motion.inputs) == []


# -- several characters, presets, libraries ---------------------------------------------------


def test_several_selected_characters_in_one_undo_step(scene):
    first, one = add("SKIER", frames=9)
    scene.cursor.location.x = 4.0
    second, other = add("SNOWBOARDER", frames=9)
    third, _alone = add("SKIER", frames=9)
    activate(first, second)
    before = settled()
    assert undoable("bake") == {"FINISHED"}
    assert_follows(one)
    assert_follows(other)
    assert third.animation_data.action is None
    bpy.ops.ed.undo()
    assert diff(before, settled(), UNDO_NOISE) == []


def test_one_refusal_keeps_all_selected_from_being_baked(scene):
    first, _one = add("SKIER", frames=9)
    second, _other = add("SNOWBOARDER", frames=9)
    second.scale = (1.0, 1.0, 2.0)
    activate(second, first)
    refused("bake", "Snowboarder is scaled unevenly")


PRESETS = {
    "SKIER": ("Beginner", "Cruising", "Carving", "Short Turns", "Slalom", "Giant Slalom"),
    "TELEMARK": ("Beginner", "Classic", "Carving", "Slalom"),
    "SNOWBOARDER": ("Beginner", "Cruising", "Carving", "Freestyle"),
    "SKATEBOARDER": ("Beginner", "Cruising", "Carving", "Slalom"),
    "CYCLIST": ("City", "Touring", "Road", "Criterium", "Sprint", "Climbing", "Mountain"),
}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in PRESETS.items() for name in names]
)
def test_every_preset_is_a_motion_without_errors(scene, kind, name):
    _rig, motion = load(kind, frames=97)
    before = {p: getattr(motion.poise_motion.turns, p) for p in ("speed", "frequency", "sharpness")}
    assert bpy.ops.poise.preset_apply(name=name) == {"FINISHED"}
    after = {p: getattr(motion.poise_motion.turns, p) for p in before}
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion, frames=range(0, 97, 3))
    errors = [p.message for p in motion.poise_motion.problems if p.severity == "ERROR"]
    assert errors == []
    # Applied twice it is the same; a preset sets everything it stands for.
    bpy.ops.poise.preset_apply(name=name)
    assert after == {p: getattr(motion.poise_motion.turns, p) for p in before}


def test_presets_that_are_none(scene, tmp_path):
    _rig, _motion = load()
    refused("preset_apply", "no preset called 'Nowhere'", name="Nowhere")
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    refused("preset_apply", "is no preset: choose a .py file", filepath=str(text))
    refused("preset_apply", "could not be applied", filepath=str(tmp_path / "none.py"))
    # One that breaks off half-way has changed nothing, whatever else it says has not been run.
    ran = tmp_path / "ran"
    touch = f"open({str(ran)!r}, 'w').close()"
    for number, line in enumerate((
        "1 / 0", "settings.nowhere.speed = 1", "raise KeyError('x')", touch,
        f"settings.turns.speed = {touch}", f"settings.turns.speed = [{touch} for _ in '1'][0]",
        f"settings.skier.set_named({touch})", f"settings.skier.set_named(*[{touch}])",
        f"settings.gait.set_list([], **{{'speeds': {touch}}})",
        f"__import__('pathlib').Path({str(ran)!r}).touch()", f"import os; {touch}",
        f"class Setting:\n    {touch}", f"def set(at={touch}): pass", f"(speed := {touch})",
        f"settings.turns.speed = f'{{{touch}}}'", f"if True:\n    {touch}",
        "settings = bpy.context.preferences.filepaths", "settings.turns = 3",
        "settings.turns.to_params.x = 1", "settings.turns.__class__.ROWS = ()",
        "settings.turns.bl_rna.name = 'x'", "settings.turns.rna_type = None",
        "settings.id_data.hide_viewport = True", "settings.kind = 'PATH'",
        "settings.path.speed = 3.0", "settings.turns.speed = 'fast'",
        "settings.turns.keyframe_insert('speed')", "item = settings.gait.sequence.add()\n"
        "item.add = 3", "other.speed = 1.0", "del settings.turns.speed",
        "settings.turns.speed += 1.0", "settings.turns.speed = " + "-" * 100_000 + "1",
    )):
        path = tmp_path / f"broken{number}.py"
        path.write_text(
            "import bpy\nsettings = bpy.context.view_layer.objects.active.poise.settings\n"
            f"settings.turns.speed = 3.0\n{line}\n"
        )
        refused("preset_apply", "could not be applied", filepath=str(path))
        assert not ran.exists()


def test_a_saved_preset_comes_back(scene):
    _rig, motion = load()
    motion.poise_motion.turns.frequency = 0.77
    motion.poise_motion.skier.twist = 0.4
    motion.poise_motion.turns.speed_mode = "SLOPE"
    assert bpy.ops.poise.preset_add(name="My Own") == {"FINISHED"}
    _rig, motion = load()
    assert bpy.ops.poise.preset_apply(name="My Own") == {"FINISHED"}
    turns = motion.poise_motion.turns
    assert turns.frequency == pytest.approx(0.77) and turns.speed_mode == "SLOPE"
    assert motion.poise_motion.skier.twist == pytest.approx(0.4)
    # From the character's mesh as well.
    activate(bpy.data.objects["Skier Body"])
    assert bpy.ops.poise.preset_apply(name="My Own") == {"FINISHED"}
    assert bpy.ops.poise.preset_add(name="My Own", remove_name=True) == {"FINISHED"}
    refused("preset_apply", "no preset called", name="My Own")


def _library(tmp_path):
    """A file with a skier alone, and its path."""
    rig, motion = load()
    rig.name = "Hero"
    bpy.data.objects.remove(motion)
    path = str(tmp_path / "hero.blend")
    collection = bpy.data.collections.new("Hero")
    for obj in (rig, *rig.children):
        collection.objects.link(obj)
    bpy.data.libraries.write(path, {collection}, fake_user=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.collections = ["Hero"]
    return bpy.data.collections["Hero"]


def test_a_linked_character_is_refused_with_the_remedy(scene, tmp_path):
    collection = _library(tmp_path)
    bpy.context.scene.collection.children.link(collection)
    activate(bpy.data.objects["Hero"])
    refused("motion_add", "Hero is linked from another file.*library override")
    # A motion that was pointed to it by hand.
    motion = bpy.data.objects.new("Motion", None)
    bpy.context.scene.collection.objects.link(motion)
    motion.poise_motion.character = bpy.data.objects["Hero"]
    activate(motion)
    refused("bake", "Hero is linked from another file.*library override")


def test_an_overridden_character_is_baked_and_stays_baked(scene, tmp_path):
    collection = _library(tmp_path)
    scene, layer = bpy.context.scene, bpy.context.view_layer
    scene.collection.children.link(collection)
    override = collection.override_hierarchy_create(scene, layer, do_fully_editable=True)
    assert override is not None
    rig = next(o for o in override.all_objects if o.type == "ARMATURE")
    activate(rig)
    assert bpy.ops.poise.motion_add() == {"FINISHED"}
    motion = rig.poise.motion_object
    assert motion.library is None and motion.override_library is None
    motion.poise_motion.frame_end = 25
    key(motion, "speed", ((1, 6.0), (25, 12.0)))
    activate(rig)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion)
    places = world_path(rig, "head", [1, 12, 25])
    keys = keys_of(curves_of(rig))
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = next(
        o for o in bpy.data.objects if o.type == "ARMATURE" and o.override_library is not None
    )
    motion = rig.poise.motion_object
    assert motion is not None and motion.poise_motion.turns.speed == pytest.approx(6.0, abs=6.1)
    np.testing.assert_allclose(world_path(rig, "head", [1, 12, 25]), places, atol=1e-6)
    activate(rig)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_same_keys(keys_of(curves_of(rig)), keys)
    assert_follows(motion)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert rig.animation_data is None or rig.animation_data.action is None


# -- which settings have keys, and units ---------------------------------------------------------

# Numbers that have no unit, by what they are.
PURE = {
    "shares of what animals, or bodies at rest, do": {
        "bounce", "lift", "kick", "snap", "width", "strike", "push", "bank", "effort", "fold",
        "lead", "stance_growth", "waist_follow", "face_heading", "arms_lead",
    },
    "ratios": {"friction", "damping", "ratio", "tension", "gear", "steering_ratio", "power"},
    "counts, seeds and frames": {
        "irregularity_seed", "seed", "laps", "stages", "values", "count", "turns", "frame",
        "frames", "frame_start", "frame_end", "key_step", "number", "index",
    },
    "unit vectors and places in lists": {"normal", "order"},
}
# Lengths that grow with the figure, and what Blender has no unit of: the tooltip says theirs.
SAID = re.compile(
    r"in metres|in hip heights|in radians|in kg m\^2|in N/m|per unit of length|a minute|per second"
    r"|newtons|a second of one N m|lasts, N m|in lengths of the"
)


# What no panel shows but as a list's choice, or beside another number of the same unit.
BOOKS = re.compile(r"_index$|\.next_number|\.rig_turn|^PoiseFootprintPin|\.high$")


def settings_shown():
    """(class, property) of all settings of motions that an animator may see."""
    from poise.addon import settings

    for cls in settings._OF_MOTIONS:
        for prop in cls.bl_rna.properties:
            if prop.description and prop.identifier not in ("rna_type", "name"):
                yield cls, prop


def test_only_what_is_read_at_every_step_has_keys(scene):
    found = 0
    for cls, prop in settings_shown():
        sampled = prop.identifier in getattr(cls, "SAMPLED", ())
        assert prop.is_animatable == sampled, (cls.__name__, prop.identifier)
        found += sampled
    assert found > 150


def test_every_number_has_a_unit_or_none_for_a_reason(scene):
    pure, without, measured = set().union(*PURE.values()), [], 0
    for cls, prop in settings_shown():
        if prop.type not in ("INT", "FLOAT") or BOOKS.search(f"{cls.__name__}.{prop.identifier}"):
            continue
        if prop.unit != "NONE" or prop.subtype in ("FACTOR", "ANGLE"):
            measured += 1
        elif prop.identifier not in pure and not SAID.search(prop.description):
            without.append((cls.__name__, prop.identifier, prop.description))
    assert without == [] and measured > 150
