# SPDX-License-Identifier: GPL-3.0-or-later
"""The parking car in Blender: its rig, streets read from objects, drives, bakes."""

from math import atan2, hypot, pi, radians, tan

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from operators_help import activate
from own_rigs_help import RIGS
from poise.addon import pipeline
from poise.addon.families.controlling import gather
from poise.addon.rigs import cars
from poise.addon.rigs.actor import Actor
from poise.addon.scene.streets import read_boxes, read_lane
from poise.solvers.control.parking import ARRIVED
from snapshot import diff, snapshot

pytestmark = pytest.mark.usefixtures("scene")

WHEELS = tuple(f"{end}_wheel.{side}" for end in ("front", "rear") for side in "LR")
FRAMES = 18 * 24


def _car(frames=FRAMES, **more):
    bpy.ops.poise.character_add(kind="CAR", **more)
    rig = bpy.context.object
    rig.poise.settings.frame_end = frames
    return rig, rig.poise.motion_object


def _in_street(library="Park, Small", **more):
    """A car in a street with the smallest controller, which is built in a moment."""
    rig, motion = _car()
    bpy.ops.poise.street_add(controller=False, **more)
    bpy.ops.poise.controller_add(library=library)
    bpy.ops.poise.script_add(seconds=40.0)
    return rig, motion


def _move(rig, x, y, turn=0.0):
    """Put a car elsewhere, as seen from it: ahead and to the left."""
    rig.matrix_world = rig.matrix_world @ Matrix.Translation((y, -x, 0.0)) @ (
        Matrix.Rotation(turn, 4, "Z")
    )
    bpy.context.view_layer.update()


def _world(rig, bone):
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(evaluated.matrix_world @ evaluated.pose.bones[bone].matrix)


def _table(rig, bones, frames):
    found = {bone: [] for bone in bones}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for bone in bones:
            found[bone].append(_world(rig, bone))
    return {bone: np.array(rows) for bone, rows in found.items()}


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_it_parks_between_the_cars_and_its_wheels_roll(scale):
    bpy.context.scene.unit_settings.scale_length = scale
    rig, motion = _in_street()
    _move(rig, 8.0, 0.0)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert [p.message for p in motion.poise_motion.problems] == []
    street = read_lane(motion.poise_motion.control.street, scale)
    boxes = read_boxes(motion.poise_motion.control.obstacles, street, rig, scale)
    assert len(boxes) == 2
    # Only the meshes tell where they stand: a gap of 6.5 m between what is 4.2 m long.
    ends = np.sort(np.concatenate([boxes[:, 0] - 2.1, boxes[:, 0] + 2.1]))
    assert ends[2] - ends[1] == pytest.approx(6.5, abs=0.06)
    rows = _table(rig, ("root", *WHEELS, "knuckle.L", "knuckle.R", "body"), range(1, FRAMES + 1))
    seen = np.linalg.inv(street.matrix)
    place = rows["root"][:, :3, 3] * scale @ seen[:3, :3].T + seen[:3, 3]
    ahead = -(rows["root"][:, :3, 1] @ seen[:3, :3].T)
    heading = np.arctan2(ahead[:, 1], ahead[:, 0])
    # Parked as the paper's successor has it: in the middle of the gap, along the kerb.
    assert hypot(place[-1, 0], place[-1, 1] - 1.1) < ARRIVED[0] + 0.02
    assert abs(heading[-1]) < ARRIVED[1] and np.abs(np.diff(place[-5:], axis=0)).max() < 1e-5
    # Nothing is touched: corners of the car against the boxes and the kerbs.
    assert _clear(place[:, :2], heading, boxes, street.width) > 0.0
    # Wheels roll as far as their hubs go, forwards or back.
    for wheel in WHEELS:
        hub = rows[wheel][:, :3, 3] * scale
        carrier = wheel.replace("front_wheel", "knuckle") if "front" in wheel else "root"
        forth = -rows[carrier][:, :3, 1] / np.linalg.norm(rows[carrier][:, :3, 1], axis=1)[:, None]
        step = (np.diff(hub, axis=0) * 0.5 * (forth[1:] + forth[:-1])).sum(axis=1)
        spin = _rolled(rows[carrier], rows[wheel])
        assert np.abs(step - 0.31 * spin).max() < 2e-3, wheel
        assert np.abs(step).sum() > 6.0
    left, right = (
        np.array([atan2(*(np.linalg.inv(r) @ k)[[1, 0], 0]) for r, k in
                  zip(rows["root"], rows[f"knuckle.{side}"], strict=True)])
        for side in "LR"
    )
    turned = np.abs(left) > radians(5.0)
    share = np.array([1.0 / tan(b) - 1.0 / tan(a) for a, b in
                      zip(left[turned], right[turned], strict=True)])
    assert turned.sum() > 20 and np.abs(share - 1.44 / 2.5).max() < 1e-3


def _rolled(carrier, wheel):
    """(n - 1,) how far a wheel turns from frame to frame, rad, forwards."""
    local = np.linalg.inv(carrier) @ wheel
    angle = np.unwrap(np.arctan2(local[:, 2, 1], local[:, 1, 1]))
    return np.diff(angle)


def _clear(place, heading, boxes, width):
    """m between the car's outline and boxes and kerbs, by points of both."""
    outline = np.array([(x, y) for x in np.linspace(-2.1, 2.1, 15) for y in (-0.9, 0.9)])
    ends = [(x, y) for x in (-2.1, 2.1) for y in np.linspace(-0.9, 0.9, 7)]
    outline = np.concatenate([outline, ends])
    c, s = np.cos(heading)[:, None], np.sin(heading)[:, None]
    x = place[:, :1] + c * outline[:, 0] - s * outline[:, 1]
    y = place[:, 1:] + s * outline[:, 0] + c * outline[:, 1]
    found = min(y.min(), (width - y).min())
    for bx, by, angle, length, wide in boxes:
        u, v = np.cos(angle), np.sin(angle)
        along = np.abs((x - bx) * u + (y - by) * v) - 0.5 * length
        across = np.abs((y - by) * u - (x - bx) * v) - 0.5 * wide
        found = min(found, np.maximum(along, across).min())
    return found


def test_its_bake_is_cleared_without_a_trace():
    rig, motion = _in_street()
    motion.poise_motion.frame_end = 60
    for obj in [*rig.children, *motion.poise_motion.control.obstacles.objects]:
        bpy.data.meshes.remove(obj.data)  # which are long to compare
    bpy.ops.poise.controller_build()
    before = snapshot()
    bpy.ops.poise.bake()
    bpy.context.scene.frame_set(1)
    bpy.ops.poise.bake_clear()
    assert diff(before, snapshot()) == []


def test_it_starts_where_it_stands_and_parks_in_the_same_place():
    rig, motion = _in_street()
    figure, body, _numbers = gather.known(bpy.context, motion)
    first = figure.rest(body)
    assert first[:3] == pytest.approx([-6.0, 3.6, 0.0], abs=1e-6)
    _move(rig, 1.0, 0.3)
    body = figure.body(bpy.context, motion, Actor.of(rig), gather.known(bpy.context, motion)[2])
    # Its left is +X, ahead -Y.
    assert figure.rest(body)[:3] == pytest.approx([-5.0, 3.9, 0.0], abs=1e-6)
    root = rig.pose.bones["root"]
    root.location = (0.0, -2.0, 0.0)
    root.rotation_mode = "XYZ"
    root.rotation_euler.z = 0.25
    bpy.context.view_layer.update()
    assert figure.pose(Actor.of(rig), body)[:3] == pytest.approx([-3.0, 3.9, 0.25], abs=1e-6)


def test_a_table_depends_on_the_street_and_not_on_where_the_car_starts():
    rig, motion = _in_street()
    bpy.ops.poise.controller_build()
    rig.location.x += 0.4
    bpy.context.view_layer.update()
    motion.poise_motion.car.body_roll = 0.3
    assert pipeline.solve(pipeline.gather(bpy.context, motion)).tracks is not None
    figure, body, numbers = gather.known(bpy.context, motion)
    was = figure.built_of(body)[1].boxes
    motion.poise_motion.control.obstacles.objects[0].location.x += 0.5
    bpy.context.view_layer.update()
    assert np.abs(figure.built_of(gather.known(bpy.context, motion)[1])[1].boxes - was).max() > 0.1


def test_a_street_comes_with_a_controller_a_line_and_time_for_it():
    rig, motion = _car(49)
    assert bpy.ops.poise.street_add() == {"FINISHED"}
    assert [item.name for item in rig.poise.controllers] == ["Park"]
    (line,) = rig.poise.script
    assert (line.controller, line.until, line.seconds) == ("Park", "REACHED", 40.0)
    assert motion.poise_motion.frame_end == 1 + 20 * 24
    # Long to build: that is asked for.
    with pytest.raises(RuntimeError, match="Park is not built yet: click Build"):
        bpy.ops.poise.bake()


def test_obstacles_are_whatever_stands_as_high_as_a_car_in_the_collection():
    rig, motion = _in_street()
    settings = motion.poise_motion.control
    for name, size, at in (
        ("Bin", (0.6, 0.4, 1.0), (0.0, 6.0, 0.5)), ("Leaf", (0.6, 0.4, 0.02), (1.0, 5.0, 0.01)),
        ("Sign", (0.6, 0.4, 0.5), (1.0, 5.0, 3.0)),
    ):
        mesh = bpy.data.meshes.new(name)
        corners = [[s * v for s, v in zip(size, (x, y, z), strict=True)]
                   for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
        mesh.from_pydata(corners, [], [(0, 1, 3, 2)])
        obj = bpy.data.objects.new(name, mesh)
        obj.matrix_world = settings.street.matrix_world @ Matrix.Translation(at) @ (
            Matrix.Rotation(0.3, 4, "Z")
        )
        settings.obstacles.objects.link(obj)
    bpy.context.view_layer.update()
    lane = read_lane(settings.street, 1.0)
    boxes = read_boxes(settings.obstacles, lane, rig, 1.0)
    assert len(boxes) == 3
    assert boxes[np.argmin(boxes[:, 3])] == pytest.approx([0.0, 6.0, 0.3, 0.6, 0.4], abs=1e-5)
    assert lane.width == pytest.approx(7.0) and lane.yaw == pytest.approx(-0.5 * pi)


def test_it_parks_at_an_object():
    rig, motion = _in_street()
    empty = bpy.data.objects.new("There", None)
    bpy.context.collection.objects.link(empty)
    street = motion.poise_motion.control.street
    empty.matrix_world = street.matrix_world @ Matrix.Translation((0.2, 1.2, 0.0)) @ (
        Matrix.Rotation(0.5 * pi + 0.03, 4, "Z")
    )
    bpy.context.view_layer.update()
    empty.select_set(True)
    assert bpy.ops.poise.parking_place_set() == {"FINISHED"}
    item = motion.poise_motion.control.controllers[0]
    values = {one.name: one.value for one in item.destinations[0].values}
    assert values == pytest.approx(
        {"x": 0.2, "y": 1.2, "heading": 0.03, "steering": 0.0, "speed": 0.0}, abs=1e-5
    )


def _no_street(rig, motion):
    motion.poise_motion.control.street = None


def _flat(rig, motion):
    motion.poise_motion.control.street.scale.y = 0.0


def _short(rig, motion):
    motion.poise_motion.control.street.scale.x = 0.2


def _uneven(rig, motion):
    rig.scale.x = 2.0


def _lost(rig, motion):
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones["rear_wheel.L"])
    bpy.ops.object.mode_set(mode="OBJECT")


def _inside(rig, motion):
    _value(motion, "x", 4.0)


def _beyond(rig, motion):
    _value(motion, "y", 0.4)


def _even(rig, motion):
    motion.poise_motion.control.controllers[0].domain["steering"].count = 4


def _value(motion, name, value):
    item = motion.poise_motion.control.controllers[0]
    item.destinations[0].values[name].value = value


@pytest.mark.parametrize(("spoil", "said"), [
    (_no_street, "has no street: click Add Street"), (_flat, "has no area"),
    (_short, "needs a longer street"), (_uneven, "the same scale along every axis"),
    (_lost, "has lost its bone rear_wheel.L"), (_inside, "clear of all"),
    (_beyond, "Destination"), (_even, "3, 5 or 7"),
])
def test_what_cannot_be_is_said_in_one_sentence(spoil, said):
    rig, motion = _in_street()
    spoil(rig, motion)
    bpy.context.view_layer.update()
    activate(rig)
    with pytest.raises(RuntimeError, match=said) as refused:
        bpy.ops.poise.controller_build()
    assert "Traceback" not in str(refused.value)


@pytest.mark.parametrize(("move", "said"), [
    ((0.0, 0.0, 2.5), "outside the controller's domain"),
    ((0.5, -2.3, 0.0), "touches something where it starts"),
])
def test_who_cannot_park_from_there_says_so(move, said):
    rig, motion = _in_street()
    _move(rig, *move)
    motion.poise_motion.frame_end = 48
    solved = pipeline.solve(pipeline.gather(bpy.context, motion))
    assert [p.code for p in solved.problems] == ["NOT_PARKED"]
    assert said in solved.problems[0].message


def test_a_range_that_ends_too_soon_is_told():
    rig, motion = _in_street()
    motion.poise_motion.frame_end = 72
    solved = pipeline.solve(pipeline.gather(bpy.context, motion))
    assert [p.code for p in solved.problems] == ["STILL_DRIVING"]


def test_a_car_of_another_size_is_read_back_whatever_its_transform():
    rig, _motion = _car(height=3.6)
    rig.rotation_euler, rig.scale = (0.0, 0.0, 1.0), (0.5, 0.5, 0.5)
    bpy.context.view_layer.update()
    _frame, metres = cars.root_frame(rig, 1.0)
    figure = cars.read_car(rig).scaled(metres)
    assert figure.length == pytest.approx(1.8, rel=1e-5)
    assert figure.wheelbase == pytest.approx(1.8 * 2.5 / 4.2, rel=1e-5)


# -- other people's vehicles -----------------------------------------------------

BOX = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]


def _part(name, size, at, parent=None):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([[s * v for s, v in zip(size, p, strict=True)] for p in BOX], [], [])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    obj.location, obj.parent = at, parent
    return obj


def _vehicle(names, yaw=0.0):
    """A body on four wheels under an Empty, facing -Y before it is turned."""
    top = bpy.data.objects.new("Van", None)
    bpy.context.collection.objects.link(top)
    body = _part("Hull", (1.8, 4.4, 1.2), (0.0, 0.1, 1.0), top)
    places = [(sign * 0.75, y, 0.33) for y in (-1.3, 1.4) for sign in (1.0, -1.0)]
    wheels = [_part(n, (0.22, 0.66, 0.66), p, body if k == 1 else top)
              for k, (n, p) in enumerate(zip(names, places, strict=True))]
    wheels[1].location = np.array(places[1]) - (0.0, 0.1, 1.0)
    top.location, top.rotation_euler.z = (3.0, -2.0, 0.1), yaw
    bpy.context.view_layer.update()
    for obj in (top, body, *wheels):
        obj.select_set(True)
    bpy.context.view_layer.objects.active = body
    return top, body, wheels


def _places(objects):
    bpy.context.view_layer.update()
    return np.array([obj.matrix_world for obj in objects])


@pytest.mark.parametrize(("names", "yaw", "ahead"), [
    (("wheel_FL", "wheel_FR", "wheel_RL", "wheel_RR"), 0.0, -0.5 * pi),
    (("wheel rear left", "wheel rear right", "wheel front left", "wheel front right"), 0.4,
     0.5 * pi + 0.4),
    (("A", "B", "C", "D"), -0.3, -0.5 * pi - 0.3),
])
def test_a_vehicle_of_objects_drives_and_is_given_back(names, yaw, ahead):
    top, body, wheels = _vehicle(names, yaw)
    before, stood = snapshot(), _places([body, *wheels])
    assert bpy.ops.poise.car_setup() == {"FINISHED"}
    rig = bpy.context.object
    assert np.abs(_places([body, *wheels]) - stood).max() < 1e-5
    facing = -np.array(rig.matrix_world)[:2, 1]
    assert atan2(facing[1], facing[0]) == pytest.approx(
        (ahead + pi) % (2.0 * pi) - pi, abs=1e-5
    )
    figure = cars.read_car(rig)
    assert figure.wheelbase == pytest.approx(2.7) and figure.track == pytest.approx(1.5)
    assert rig.matrix_world.translation.z == pytest.approx(0.1)
    # Wheels turn with their bones about their own middles; the body stays.
    rig.pose.bones["front_wheel.L"].rotation_euler.x = 0.5
    rig.pose.bones["knuckle.L"].rotation_euler.z = 0.4
    now = _places([body, *wheels])
    moved = [k for k in range(5) if np.abs(now[k] - stood[k]).max() > 1e-3]
    assert len(moved) == 1 and np.abs(now[moved[0]][:3, 3] - stood[moved[0]][:3, 3]).max() < 1e-5
    for bone in ("front_wheel.L", "knuckle.L"):
        rig.pose.bones[bone].rotation_euler = (0.0, 0.0, 0.0)
    bpy.ops.poise.street_add(controller=False)
    bpy.ops.poise.controller_add(library="Park, Small")
    bpy.ops.poise.script_add(seconds=1.0)
    rig.poise.settings.frame_end = 25
    assert bpy.ops.poise.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(20)
    assert np.abs(_places([body])[0] - stood[0]).max() > 0.05
    bpy.context.scene.frame_set(1)
    assert bpy.ops.poise.car_remove() == {"FINISHED"}
    assert np.abs(_places([body, *wheels]) - stood).max() < 1e-6
    own = tuple(f"objects['{obj.name}']" for obj in (top, body, *wheels))
    after = snapshot()
    were, are = ({k: v for k, v in some.items() if k.startswith(own)} for some in (before, after))
    assert len(were) > 100 and diff(were, are) == []


def _wagon(whole=("front", "rear"), names=("Axle Front", "Axle Rear")):
    """A hull on two axles, each of them one mesh with both wheels, or with wheels of their own."""
    top, body, wheels = _vehicle(("wheel_FL", "wheel_FR", "wheel_RL", "wheel_RR"))
    found = []
    for end, name, pair, y in zip(
        ("front", "rear"), names, (wheels[:2], wheels[2:]), (-1.3, 1.4), strict=True
    ):
        if end not in whole:
            found += pair
            continue
        for obj in pair:
            bpy.data.objects.remove(obj)
        points = [(0.22 * p[0] + s * 0.75, 0.66 * p[1], 0.66 * p[2]) for s in (1, -1) for p in BOX]
        rod = [(1.5 * p[0], 0.06 * p[1], 0.06 * p[2]) for p in BOX]
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata([*points, *rod], [], [])
        obj = bpy.data.objects.new(name, mesh)
        bpy.context.collection.objects.link(obj)
        obj.location, obj.parent = (0.0, y, 0.33), top
        found.append(obj)
    bpy.context.view_layer.update()
    for obj in (top, body, *found):
        obj.select_set(True)
    bpy.context.view_layer.objects.active = body
    return top, body, found


@pytest.mark.parametrize("whole", [("front", "rear"), ("rear",)])
def test_axles_that_are_one_object_roll_and_steer_as_one(whole):
    """The axle turns about the vertical through its middle by the steering angle, which is that of
    the wheel that stands for both (Ackermann), and rolls by its middle's way over its radius. One
    that steers so parks, too."""
    _top, _body, axles = _wagon(whole)
    stood = _places(axles)
    assert bpy.ops.poise.car_setup() == {"FINISHED"}
    rig = bpy.context.object
    assert np.abs(_places(axles) - stood).max() < 1e-5
    figure = cars.read_car(rig)
    assert figure.wheelbase == pytest.approx(2.7) and figure.track == pytest.approx(1.5)
    turns = "front" in whole
    assert np.degrees(figure.steering) == pytest.approx(25.0 if turns else 35.0)
    assert ("turntable" in rig.data.bones) == turns
    bpy.ops.poise.street_add(gap=9.0, controller=False)
    bpy.ops.poise.controller_add(library="Park, Small")
    bpy.ops.poise.script_add(seconds=40.0)
    rig.poise.settings.frame_end = last = 30 * 24 if turns else 97
    assert bpy.ops.poise.bake() == {"FINISHED"}
    motion = rig.poise.motion_object
    if turns:
        assert not motion.poise_motion.problems
        bpy.context.scene.frame_set(last)
        street = read_lane(motion.poise_motion.control.street, 1.0)
        to = np.linalg.inv(street.matrix)
        ends = np.array([to @ np.array(axle.matrix_world)[:, 3] for axle in axles])
        middle, along = ends.mean(axis=0), ends[0] - ends[1]
        # In the middle of the gap, 20 cm and half the width from the kerb.
        assert hypot(middle[0], middle[1] - 1.1) < ARRIVED[0] + 0.02
        assert abs(atan2(along[1], along[0])) < ARRIVED[1]
    ran = pipeline.solve(pipeline.gather(bpy.context, motion)).motion.ran.states
    rows = [0, 60, 120, 180]
    if turns:
        assert np.abs(ran[rows, 3]).max() > 0.1
    assert np.abs(ran[:, 3]).max() < figure.steering + 1e-6
    rear, way, angle = axles[-1], [], []
    for frame in range(1, 98):
        bpy.context.scene.frame_set(frame)
        seen = np.array(rear.matrix_world)
        way.append(seen[:3, 3])
        angle.append(rig.pose.bones["rear_axle"].rotation_euler.x)
        if turns and 2 * (frame - 1) in rows:
            front = np.array(axles[0].matrix_world)
            ahead = np.array(rig.matrix_world @ rig.pose.bones["root"].matrix)[:2, 1] * -1.0
            across = front[:2, 0] / np.linalg.norm(front[:2, 0])
            off = atan2(ahead[0] * across[1] - ahead[1] * across[0], across @ ahead) - 0.5 * pi
            assert (off + pi) % (2.0 * pi) - pi == pytest.approx(ran[2 * frame - 2, 3], abs=1e-4)
    rolled = np.abs(np.diff(angle))
    gone = np.linalg.norm(np.diff(way, axis=0), axis=1)
    # Chords are a little shorter than arcs.
    assert rolled * 0.33 == pytest.approx(gone, abs=2e-3) and gone.sum() > 1.0
    bpy.context.scene.frame_set(1)
    bpy.ops.poise.car_remove()
    assert np.abs(_places(axles) - stood).max() < 1e-6


def test_a_vehicle_that_was_set_up_in_vain_is_as_it_was():
    _vehicle(("wheel_FL", "wheel_FR", "wheel_RL", "wheel_RR"))
    before = snapshot()
    bpy.ops.poise.car_setup()
    bpy.ops.poise.car_remove()
    # All but what is active: what hung on the armature.
    assert [line for line in diff(before, snapshot()) if "view_layers" not in line] == []


def test_a_line_that_is_cut_brakes_or_hands_on_within_limits():
    # Four seconds of driving, then nobody; and in mid-drive from one line to the next: neither
    # stops dead.
    rig, motion = _in_street()
    _move(rig, -3.0, 0.5)
    rig.poise.settings.frame_end = 40 * 24
    lines = motion.poise_motion.control.script
    lines[0].seconds = 3.3

    def driven():
        ran = pipeline.solve(pipeline.gather(bpy.context, motion)).motion.ran
        return ran, np.diff(ran.states[:, 4]) * 48.0

    ran, pull = driven()
    assert np.abs(ran.states[158:, 4]).max() > 0.3 and ran.states[-1, 4] == 0.0
    assert np.abs(pull).max() <= 2.0 + 1e-6
    assert ran.ended == pytest.approx(3.3) and (ran.active[160:] == 1).all()
    bpy.ops.poise.script_add(seconds=40.0)
    ran, pull = driven()
    assert np.abs(pull).max() <= 2.0 + 1e-6 and {0, 1} <= set(ran.active.tolist())
    assert len(ran.reached) == 1
    # By a region: once it is half-way along the street.
    line = lines[0]
    line.until, line.seconds = "REGION", 40.0
    motion.poise_motion.control.script_index = 0
    bpy.ops.poise.script_region()
    for one in line.region:
        one.use = one.name == "x"
    middle = -3.2
    line.region["x"].low, line.region["x"].high = middle, middle + 30.0
    ran, pull = driven()
    (time, number), = ran.entered
    row = int(np.searchsorted(np.arange(len(pull)) / 48.0, time))
    assert number == 0 and ran.states[row, 0] == pytest.approx(middle, abs=0.1)
    assert np.abs(pull).max() <= 2.0 + 1e-6 and len(ran.reached) == 1


def test_a_push_does_not_move_a_car_and_says_so():
    rig, motion = _in_street()
    rig.data.bones.active = rig.data.bones["body"]
    assert bpy.ops.poise.disturbance_add(kind="PUSH") == {"FINISHED"}
    found = pipeline.solve(pipeline.gather(bpy.context, motion)).problems
    told = next(p for p in found if p.code == "NOT_KNOCKED")
    assert told.message == "Push 1 cannot move a car, whose wheels never slip"


def _animated(top, body, wheels):
    wheels[0].keyframe_insert("rotation_euler", frame=1)


def _tilted(top, body, wheels):
    top.rotation_euler.y = 0.8


def _three(top, body, wheels):
    bpy.data.objects.remove(wheels[3])


def _nothing(top, body, wheels):
    wheels[2].scale.y = 0.0


@pytest.mark.parametrize(("spoil", "said"), [
    (_animated, "would turn twice"), (_tilted, "does not stand level"),
    (_three, "has 3 wheels that could be found"), (_nothing, "flattened to nothing"),
])
def test_what_is_no_car_says_so(spoil, said):
    parts = _vehicle(("wheel_FL", "wheel_FR", "wheel_RL", "wheel_RR"))
    spoil(*parts)
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.poise.car_setup()
    assert not [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]


@pytest.mark.parametrize(("path", "said"), [
    ("kenney_vehicles/vehicle-truck-yellow.glb", ""),
    ("kenney_vehicles/vehicle-motorcycle.glb", "has 2 wheels"),
    ("milktruck/CesiumMilkTruck.gltf", "Wheels.001 is flattened"),
])
def test_vehicles_of_others(path, said):
    file = RIGS / path
    if not file.exists():
        pytest.skip("without the folder of other people's rigs")
    bpy.ops.import_scene.gltf(filepath=str(file))
    meshes = [obj for obj in bpy.context.scene.objects if obj.type == "MESH"]
    bpy.context.view_layer.objects.active = meshes[0]
    for obj in meshes:
        obj.select_set(True)
    if said:
        with pytest.raises(RuntimeError, match=said):
            bpy.ops.poise.car_setup()
        return
    stood = _places(meshes)
    bpy.ops.poise.car_setup()
    rig = bpy.context.object
    figure = cars.read_car(rig)
    # As its nodes have it: wheels at y = -0.86 and 0.66, 0.55 to the sides, radius 0.3.
    assert figure.wheelbase == pytest.approx(1.52, abs=0.01)
    assert figure.track == pytest.approx(1.10, abs=0.01)
    assert figure.joints["front_wheel.L"][2] == pytest.approx(0.30, abs=0.01)
    assert -np.array(rig.matrix_world)[1, 1] == pytest.approx(-1.0)
    assert np.abs(_places(meshes) - stood).max() < 1e-5
    bpy.ops.poise.car_remove()
    assert np.abs(_places(meshes) - stood).max() < 1e-6
