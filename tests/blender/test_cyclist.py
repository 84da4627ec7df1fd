# SPDX-License-Identifier: GPL-3.0-or-later
"""A cyclist on the rig: hands on grips, feet on pedals, wheels on the road and rolling."""

from __future__ import annotations

from math import radians

import bpy
import installed
import numpy as np
import pytest
from mathutils import Matrix, Vector
from operators_help import activate, assert_follows, curves_of, load, solved

SIDES = ("L", "R")
MILLIMETRE = 1e-3
FRAMES = 97
# Whole frames, halves and odd parts of them.
WHEN = [1.0, 2.5, 14.25, 20.0, 33.5, 48.0, 60.75, 71.0, 84.5, 97.0]


@pytest.fixture(scope="module")
def ride(tmp_path_factory):
    """A criterium through sharp turns, baked on a turned and moved Motion object."""
    installed.new_file()
    rig, motion = load("CYCLIST", frames=FRAMES)
    bpy.ops.poise.preset_apply(name="Criterium")
    motion.poise_motion.turns.frequency = 0.3
    motion.location, motion.rotation_euler.z = (4.0, -2.0, 1.5), 0.7
    bpy.context.view_layer.update()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    path = str(tmp_path_factory.mktemp("ride") / "ride.blend")
    done = solved(motion)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path, rig.name, done


@pytest.fixture
def rider(ride, profile):
    """The baked rig, its solved motion, and the evaluated pose at a frame."""
    path, name, done = ride
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects[name]
    activate(rig)

    def at(frame):
        bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
        return rig.evaluated_get(bpy.context.evaluated_depsgraph_get())

    return rig, done, at


def carried(pose, bone, point):
    """Where a bone carries a point of the rest pose, in the world."""
    rest = pose.data.bones[bone].matrix_local
    return pose.matrix_world @ pose.pose.bones[bone].matrix @ rest.inverted() @ Vector(point)


def test_it_bakes_without_a_warning(rider):
    rig, _done, _at = rider
    problems = rig.poise.settings.problems
    assert [p.message for p in problems if p.severity != "INFO"] == []
    assert_follows(rig.poise.motion_object)
    assert bpy.ops.poise.bake_check() == {"FINISHED"}


def test_hands_are_on_the_grips_and_feet_on_the_pedals(rider):
    """By the rig's IK, in the world, between frames too."""
    rig, done, at = rider
    joints = done.job.figure.joints
    for frame in WHEN:
        pose = at(frame)
        for side in SIDES:
            grip = joints[f"grip.{side}"]
            held = carried(pose, f"DEF-hand.{side}", grip)
            assert (held - carried(pose, "DEF-fork", grip)).length < MILLIMETRE, (frame, side)
            ball = joints[f"toe.{side}"]
            foot = carried(pose, f"DEF-foot.{side}", ball)
            assert (foot - carried(pose, f"DEF-pedal.{side}", ball)).length < MILLIMETRE
            axle = joints[f"pedal.{side}"]
            on_crank = carried(pose, "DEF-crank", axle)
            assert (on_crank - carried(pose, f"DEF-pedal.{side}", axle)).length < MILLIMETRE


def test_both_tyres_touch_the_road(rider):
    """A torus' lowest point: never a millimetre above or below, on frames; two between."""
    rig, done, at = rider
    figure = done.job.figure
    tyre = figure.equipment["tyre_radius"]
    thin = figure.equipment["wheel_radius"] - tyre
    ground = rig.poise.motion_object.location.z
    for frame in WHEN:
        pose = at(frame)
        for wheel in ("front_wheel", "rear_wheel"):
            matrix = pose.matrix_world @ pose.pose.bones[f"DEF-{wheel}"].matrix
            tilt = matrix.col[0].xyz.normalized().z
            lowest = matrix.translation.z - thin * np.sqrt(1.0 - tilt**2) - tyre - ground
            limit = MILLIMETRE if frame % 1 == 0 else 2 * MILLIMETRE
            assert abs(lowest) < limit, (frame, wheel, lowest)


def values_of(rig, bone, index):
    path = f'pose.bones["{bone}"].rotation_euler'
    curve = next(c for c in curves_of(rig) if c.data_path == path and c.array_index == index)
    return np.array([key.co for key in curve.keyframe_points])


def test_wheels_turn_with_the_road_and_count_on(rider):
    """Keys of the wheel about its axle: distance over radius, tens of turns, no jump."""
    rig, done, _at = rider
    radius = done.job.figure.equipment["wheel_radius"]
    for wheel, track in (("rear_wheel", "rear_distance"), ("front_wheel", "front_distance")):
        keys = values_of(rig, wheel, 0)
        distance = done.tracks.attributes[track]
        turned = keys[-1, 1] - keys[0, 1]
        # The tyre's shoulder, on which it rolls when leaned, is up to 1 % nearer to the axle.
        assert 1.0 <= turned / (distance[-1] / radius) < 1.01
        assert turned > 10.0 * np.pi
        assert np.diff(keys[:, 1]).min() > 0.0
        step = np.diff(keys[:, 1])
        assert np.abs(np.diff(step)).max() < 0.1 * step.mean()
        for other in (1, 2):
            assert np.abs(values_of(rig, wheel, other)[:, 1]).max() < 1e-4
    # The handlebars turn about their own axis only, and away from the turn first is for
    # the unit tests; here they are the keys that an animator sees.
    steer = values_of(rig, "fork", 1)[:, 1]
    expected = done.tracks.attributes["steer"][done.tracks.clock.whole]
    np.testing.assert_allclose(steer, expected, atol=1e-5)


def test_a_wheel_that_turns_more_than_half_round_in_a_frame_still_counts(scene):
    """25 m/s at 12 frames a second: a turn in every frame, forwards."""
    rig, motion = load("CYCLIST", frames=25, speed=25.0, sharpness=radians(4.0))
    bpy.context.scene.render.fps = 12
    assert bpy.ops.poise.bake() == {"FINISHED"}
    keys = values_of(rig, "rear_wheel", 0)
    figure = solved(motion).job.figure
    expected = 25.0 / 12.0 / figure.equipment["wheel_radius"]
    assert expected > np.pi
    np.testing.assert_allclose(np.diff(keys[:, 1]), expected, rtol=0.01)


def test_knees_pass_beside_the_frame(rider):
    """Skin and all: no knee comes within 5 cm of the frame's middle plane."""
    rig, _done, at = rider
    for frame in np.linspace(1.0, FRAMES, 25):
        pose = at(float(frame))
        frame_matrix = (pose.matrix_world @ pose.pose.bones["bike"].matrix).inverted()
        for side, sign in (("L", 1.0), ("R", -1.0)):
            knee = frame_matrix @ (pose.matrix_world @ pose.pose.bones[f"shin.{side}"].head)
            assert sign * knee.x > 0.05, (frame, side, knee.x)


def test_nothing_jumps(rider):
    """Neighbouring keys: quaternions keep their sign, no angle leaps."""
    rig, _done, _at = rider
    channels = {}
    for curve in curves_of(rig):
        keys = np.array([key.co[1] for key in curve.keyframe_points])
        channels.setdefault(curve.data_path, {})[curve.array_index] = keys
    for path, parts in channels.items():
        if path.endswith("quaternion"):
            q = np.stack([parts[i] for i in range(4)], axis=1)
            assert (np.einsum("ij,ij->i", q[1:], q[:-1])).min() > 0.9, path
        elif path.endswith("euler"):
            for values in parts.values():
                assert np.abs(np.diff(values)).max() < 2.5, path


def test_few_keys_hold_the_wheels_on_the_road(scene):
    rig, motion = load("CYCLIST", frames=61, speed=7.0, sharpness=radians(22.0))
    motion.poise_motion.key_mode = "SPARSE"
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion, frames=[0, 7, 15.5, 31, 44.5, 60])
    figure = solved(motion).job.figure
    tyre = figure.equipment["tyre_radius"]
    for frame in (3.5, 21.25, 40.0):
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        pose = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        matrix = pose.pose.bones["front_wheel"].matrix
        tilt = matrix.col[0].xyz.z
        thin = figure.equipment["wheel_radius"] - tyre
        assert abs(matrix.translation.z - thin * np.sqrt(1 - tilt**2) - tyre) < MILLIMETRE


def test_the_rig_is_steered_and_pedalled_by_hand(scene):
    """Handlebars, cranks and pedals take hands and feet along."""
    rig, _motion = load("CYCLIST")
    bones = rig.pose.bones
    before = {n: bones[n].head.copy() for n in ("hand.L", "foot.L", "front_wheel")}
    bones["fork"].rotation_euler.y = radians(20.0)
    bones["crank"].rotation_euler.x = radians(90.0)
    bones["pedal.L"].rotation_euler.x = radians(-90.0)
    bpy.context.view_layer.update()
    # Steered to the left: the left hand comes back, the wheel's hub goes to the left.
    assert bones["hand.L"].head.y - before["hand.L"].y > 0.05
    assert bones["front_wheel"].head.x > before["front_wheel"].x
    # The left pedal was ahead; a quarter of a turn on it is at the bottom, the foot level.
    assert before["foot.L"].z - bones["foot.L"].head.z == pytest.approx(0.17, abs=2e-3)
    sole = bones["foot.L"].matrix.to_3x3() @ rig.data.bones["foot.L"].matrix_local.to_3x3(
    ).inverted()
    assert (sole - Matrix.Identity(3)).to_quaternion().angle < 3.2
    assert sole.col[2].z > 0.999
    # The wheel turns about its axle only.
    assert list(bones["rear_wheel"].lock_rotation) == [False, True, True]
    assert list(bones["fork"].lock_rotation) == [True, False, True]


@pytest.mark.parametrize("preset", ["City", "Touring", "Road", "Criterium", "Sprint", "Climbing",
                                    "Mountain"])
def test_presets_ride(scene, preset):
    rig, motion = load("CYCLIST", frames=49)
    assert bpy.ops.poise.preset_apply(name=preset) == {"FINISHED"}
    done = solved(motion)
    assert done.motion.success
    assert [p for p in done.problems if p.severity != "INFO"] == []
    assert not [p for p in done.problems if p.code in ("LEG_REACH", "CADENCE")]
    assert rig.poise.cyclist.gear == 0.0


def test_along_a_path_around_a_corner(scene):
    """Bars first to the right, then to the left: counter-steer in the keys."""
    rig, motion = load("CYCLIST", frames=97)
    curve = bpy.data.curves.new("Road", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    turn = np.linspace(0.0, 0.5 * np.pi, 30)
    points = [(0.0, 0.0), (0.0, -12.0)]
    points += [(9.0 - 9.0 * np.cos(a), -12.0 - 9.0 * np.sin(a)) for a in turn[1:]]
    points += [(24.0, -21.0)]
    spline.points.add(len(points) - 1)
    for point, (x, y) in zip(spline.points, points, strict=True):
        point.co = (x, y, 0.0, 1.0)
    road = bpy.data.objects.new("Road", curve)
    bpy.context.scene.collection.objects.link(road)
    rig.poise.motion = "PATH"
    rig.poise.path.curve = road
    assert rig.poise.path.max_curvature == pytest.approx(0.6)
    rig.poise.path.speed = 6.0
    assert bpy.ops.poise.bake() == {"FINISHED"}
    steer = values_of(rig, "fork", 1)[:, 1]
    first = int(np.argmax(np.abs(steer) > radians(0.5)))
    assert steer[first] < 0.0
    assert steer.max() > radians(4.0)
    assert_follows(motion)


def test_presets_convert_all_that_they_set(scene):
    """They are in SI units: an area of 0.34 m2 is 3400 units of a centimetre each way."""
    found = {}
    for scale in (1.0, 0.01):
        bpy.context.scene.unit_settings.scale_length = scale
        bpy.ops.poise.character_add(kind="CYCLIST")
        settings = bpy.context.object.poise.settings.turns
        before = settings.height
        bpy.ops.poise.preset_apply(name="Criterium")
        assert settings.height == before, "it sets no height"
        found[scale] = [
            getattr(settings, row.name) * scale**row.power for row in settings.ROWS
            if row.sampled and row.name != "height"
        ]
    assert found[0.01] == pytest.approx(found[1.0], rel=1e-5)
