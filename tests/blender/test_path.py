# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions along a path: the same numbers in the world as in the plan."""

from __future__ import annotations

from collections import Counter
from math import cos, hypot, pi, radians, sin

import bpy
import numpy as np
import pytest
from operators_draw import drawn
from operators_help import (
    UNDO_NOISE,
    activate,
    assert_follows,
    assert_same_keys,
    curves_of,
    keys_of,
    load,
    refused,
    sentence,
    settled,
    solved,
    undoable,
    world_path,
)
from poise.addon import motions, pipeline
from poise.addon.families.riding import plans
from poise.addon.scene import course
from poise.addon.show import preview
from poise.solvers.path import Disc, Polygon, Wall
from scenes_help import add_spline, curve, follower, link
from snapshot import diff


def obstacles(motion, *objects):
    """Put objects into the motion's collection of obstacles."""
    collection = motion.poise_motion.path.obstacles
    if collection is None:
        collection = bpy.data.collections.new("Obstacles")
        bpy.context.scene.collection.children.link(collection)
        motion.poise_motion.path.obstacles = collection
    for obj in objects:
        for former in list(obj.users_collection):
            former.objects.unlink(obj)
        collection.objects.link(obj)
    return collection


def cylinder(place, radius=0.4, height=6.0, sides=16, name="Tree"):
    angle = np.linspace(0, 2 * pi, sides, endpoint=False)
    ring = radius * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    points = [(x, y, z) for z in (-0.5, height) for x, y in ring.tolist()]
    faces = [(i, (i + 1) % sides, sides + (i + 1) % sides, sides + i) for i in range(sides)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    obj = link(bpy.data.objects.new(name, mesh))
    obj.location = place
    return obj


def box(place, size, name="Box"):
    x, y, z = (0.5 * s for s in size)
    corners = [(a * x, b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(
        corners,
        [],
        [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)],
    )
    obj = link(bpy.data.objects.new(name, mesh))
    obj.location = place
    return obj


def foot_track(rig, motion, frames):
    """(n, 2) world place of the figure's root, Blender units."""
    return world_path(rig, "root", frames)[:, :2]


def planned_track(motion, frames):
    """(n, 2) where the plan says that the foot is at frames, Blender units."""
    done = solved(motion)
    time = (np.asarray(frames, dtype=float) - done.job.start_frame) / done.job.numbers.fps
    return np.stack(
        [np.interp(time, done.motion.time, done.motion.position[:, i]) for i in (0, 1)], axis=1
    ) / done.job.numbers.unit_scale


# The plan is that of the point that carries the body: between the feet, nearer to the
# one with more weight, or on the board's edge. The root stands in their middle.
HALF_STANCE = 0.15


def off_track(rig, motion, frames):
    """How far the root is ahead and to the left of the planned track, metres."""
    done = solved(motion)
    unit = done.job.numbers.unit_scale
    off = (foot_track(rig, motion, frames) - planned_track(motion, frames)) * unit
    time = (np.asarray(frames, dtype=float) - done.job.start_frame) / done.job.numbers.fps
    axes = []
    for name in ("forward", "left"):
        values = getattr(done.motion, name)
        axes.append([np.interp(time, done.motion.time, values[:, i]) for i in (0, 1)])
    return [np.abs(np.sum(off * np.array(axis).T, axis=1)).max() for axis in axes]


# Straight lines between frames stay within s^2 / (8 R) of an arc, here of R = 4 m.
CHORD = (8.0 / 24.0) ** 2 / 8.0 * 0.25


# -- the bake is the plan --------------------------------------------------------


@pytest.mark.parametrize("kind", ["SKIER", "TELEMARK", "SNOWBOARDER", "SKATEBOARDER", "CYCLIST"])
def test_the_baked_figure_follows_the_planned_track(scene, kind):
    rig, motion, _way = follower(kind=kind)
    bpy.ops.poise.path_plan()
    bpy.ops.poise.bake()
    settings = motion.poise_motion
    done = solved(motion)
    assert done.path.finished and done.path.length > 40.0
    # The plan sets the end: the whole path at the speed that the kind starts with.
    assert settings.frame_end == done.job.end_frame
    slow = {"SKATEBOARDER": 4.0, "CYCLIST": 6.0}
    assert settings.path.speed == slow.get(kind, 8.0)
    assert (settings.frame_end - settings.frame_start) / 24.0 == pytest.approx(
        done.path.length / settings.path.speed, rel=0.1
    )
    frames = np.arange(1.0, settings.frame_end, 0.5)
    ahead, aside = off_track(rig, motion, frames)
    assert ahead < 0.02 and aside < HALF_STANCE + CHORD
    # Every bone is where its role is planned to be.
    assert_follows(motion)


def test_it_begins_and_ends_where_the_path_does(scene):
    rig, motion, _way = follower(((3, 2, 0), (5, -20, 0), (3, -42, 0)))
    bpy.ops.poise.bake()
    end = solved(motion).job.end_frame
    first, last = foot_track(rig, motion, (1, end))
    assert np.allclose(first, (3, 2), atol=1e-3)
    # The end of the path is reached within a frame's way, and the distance from it.
    assert hypot(last[0] - 3, last[1] + 42) < 8.0 / 24.0 + 1.0


@pytest.mark.parametrize("fps", [24, 60])
def test_the_same_way_at_any_frame_rate(scene, fps):
    bpy.context.scene.render.fps = fps
    rig, motion, _way = follower()
    bpy.context.scene.render.fps = fps
    way = planned_track(motion, 1.0 + np.arange(5) * fps)
    bpy.context.scene.render.fps = 24
    assert np.allclose(way, planned_track(motion, 1.0 + np.arange(5) * 24), atol=1e-4)


def test_scene_units_change_nothing_in_the_world(scene):
    rig, motion, _way = follower()
    metres = solved(motion).motion.position
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.unit_settings.scale_length = 0.01
    bpy.ops.poise.character_add(kind="SKIER")
    rig = bpy.context.object
    rig.poise.motion = "PATH"
    rig.poise.path.curve = curve(((0, 0, 0), (400, -2000, 0), (0, -4000, 0)))
    motion = rig.poise.motion_object
    # The speed that the panel shows is 8 m/s, which are 800 units a second.
    assert rig.poise.path.speed == pytest.approx(800.0)
    centimetres = solved(motion).motion.position
    assert centimetres.shape == metres.shape
    assert np.allclose(centimetres, metres, atol=2e-3)
    bpy.ops.poise.bake()
    frames = np.arange(1, solved(motion).job.end_frame)
    ahead, aside = off_track(rig, motion, frames)
    assert ahead < 0.02 and aside < HALF_STANCE
    assert_follows(motion)


def test_the_same_bake_again_and_after_another_plan(scene):
    rig, motion, _way = follower()
    bpy.ops.poise.path_plan()
    bpy.ops.poise.bake()
    first = keys_of(curves_of(rig))
    motion.poise_motion.path.speed = 7.0
    bpy.ops.poise.path_plan()
    motion.poise_motion.path.speed = 8.0
    plans.PLANS.__init__()  # nothing is remembered
    bpy.ops.poise.bake()
    assert_same_keys(first, keys_of(curves_of(rig)))


def test_keyed_speed_is_met(scene):
    rig, motion, _way = follower(((0, 0, 0), (0, -30, 0), (0, -60, 0)))
    path = rig.poise.path
    for frame, speed in ((1, 6.0), (73, 10.0)):
        path.speed = speed
        path.keyframe_insert("speed", frame=frame)
    for frame in (1, 40):  # whatever frame is current
        bpy.context.scene.frame_set(frame)
        done = solved(motion)
        curve_ = motion.animation_data.action.layers[0].strips[0].channelbags[0].fcurves[0]
        at = 1.0 + done.motion.time * 24.0
        wanted = np.array([curve_.evaluate(frame) for frame in at])
        assert np.allclose(done.motion.speed, wanted, atol=0.02)
    # The steady straight way takes as long as the speed's integral says.
    way = np.trapezoid(done.motion.speed, done.motion.time) if hasattr(np, "trapezoid") else (
        np.trapz(done.motion.speed, done.motion.time)
    )
    assert way == pytest.approx(60.0, abs=0.6)


def test_a_motion_goes_on_along_a_path(scene):
    """From turns to a path: place, direction, lean and speed go on."""
    rig, first = load(frames=49)
    for name, value in (("slope", 0.0), ("speed", 8.0), ("sharpness", radians(10.0))):
        setattr(first.poise_motion.turns, name, value)
    activate(rig)
    end = solved(first).motion.end_state
    bpy.ops.poise.motion_add(kind="PATH", name="Along")
    second = motions.active_motion(rig)
    assert second.poise_motion.kind == "PATH" and second.poise_motion.after == first
    x, y = float(end.position[0]), float(end.position[1])
    rig.poise.path.curve = curve(((x, y, 0), (x + 1, y - 20, 0), (x, y - 40, 0)))
    rig.poise.path.lean_limit = radians(35)
    done = solved(second)
    assert np.allclose(done.motion.position[0], end.position, atol=1e-6)
    assert done.motion.lean[0] == pytest.approx(end.lean)
    assert done.motion.curvature[0] == pytest.approx(end.curvature)


# -- curves ----------------------------------------------------------------------


def length_of(obj):
    lines, cyclic = course.curve_lines(obj, 1.0)
    total = 0.0
    for line, closed in zip(lines, cyclic, strict=True):
        points = np.concatenate((line, line[:1])) if closed else line
        total += np.sum(np.linalg.norm(np.diff(points, axis=0), axis=1))
    return total


def circle(radius, kind="NURBS"):
    """A NURBS circle as Blender makes it, exact whatever its resolution."""
    bpy.ops.curve.primitive_nurbs_circle_add(radius=radius)
    bpy.context.object.data.splines[0].resolution_u = 64
    return bpy.context.object


@pytest.mark.parametrize("thick", [False, True])
@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_the_length_of_a_nurbs_circle(scene, thick, scale):
    """2 pi r, in the world: scale and parent count, thickness does not."""
    obj = circle(5.0)
    obj.data.bevel_depth = 0.2 if thick else 0.0
    parent = link(bpy.data.objects.new("Parent", None))
    parent.scale = (scale,) * 3
    parent.rotation_euler = (0.0, 0.0, 0.7)
    parent.location = (10.0, 0.0, 0.0)
    obj.parent = parent
    bpy.context.view_layer.update()
    assert length_of(obj) == pytest.approx(2 * pi * 5.0 * scale, rel=1e-3)
    lines, cyclic = course.curve_lines(obj, 1.0)
    assert cyclic == (True,)
    away = np.linalg.norm(lines[0][:, :2] - (10.0, 0.0), axis=1)
    assert np.allclose(away, 5.0 * scale, rtol=1e-3)


def test_thick_curves_are_the_same_lines(scene):
    for kind in ("BEZIER", "POLY", "NURBS"):
        for cyclic in (False, True):
            obj = curve(((0, 0, 0), (5, -5, 0), (-3, -12, 0), (0, -20, 0)), kind, cyclic)
            thin = length_of(obj)
            obj.data.bevel_depth = 0.1
            bpy.context.view_layer.update()
            assert length_of(obj) == pytest.approx(thin, rel=5e-3), (kind, cyclic)


def test_several_splines_and_modifiers(scene):
    obj = curve(((0, 0, 0), (0, -10, 0)), "POLY")
    add_spline(obj.data, ((0, -10, 0), (10, -10, 0)), "POLY")
    lines, cyclic = course.curve_lines(obj, 1.0)
    assert [len(line) for line in lines] == [2, 2] and cyclic == (False, False)
    assert length_of(obj) == pytest.approx(20.0)
    target = link(bpy.data.objects.new("Hook", None))
    hook = obj.modifiers.new("Hook", "HOOK")
    hook.object = target
    hook.vertex_indices_set([3])
    target.location = (5, 0, 0)
    bpy.context.view_layer.update()
    assert length_of(obj) == pytest.approx(25.0, rel=1e-4)


def test_a_scaled_and_parented_path_is_followed_in_the_world(scene):
    rig, motion, way = follower(((0, 0, 0), (2, -10, 0), (0, -20, 0)))
    parent = link(bpy.data.objects.new("Parent", None))
    parent.scale, parent.location = (2.0, 2.0, 2.0), (7.0, 1.0, 0.5)
    parent.rotation_euler = (0.0, 0.0, radians(90))
    way.parent = parent
    bpy.context.view_layer.update()
    bpy.ops.poise.bake()
    done = solved(motion)
    # 40 units on, along -Y turned by 90 degrees: +X.
    first, last = foot_track(rig, motion, (1, done.job.end_frame))
    assert np.allclose(first, (7, 1), atol=1e-3)
    assert hypot(last[0] - 47.0, last[1] - 1.0) < 1.5
    assert world_path(rig, "root", (10,))[0][2] == pytest.approx(0.5, abs=1e-3)


def test_laps_of_a_closed_path(scene):
    angle = np.linspace(0, 2 * pi, 9)[:-1]
    points = [(12 * cos(a), 12 * sin(a), 0) for a in angle]
    rig, motion, way = follower(points, laps=2, speed=6.0)
    way.data.splines[0].use_cyclic_u = True
    done = solved(motion)
    assert done.path.length == pytest.approx(2 * length_of(way), rel=1e-2)
    assert done.motion.yaw[-1] - done.motion.yaw[0] == pytest.approx(4 * pi, abs=0.6)


# -- obstacles -------------------------------------------------------------------


def world_clearance(track, items):
    """Smallest distance of points from obstacles, by their own corners in the world."""
    best = np.inf
    for item in items:
        if isinstance(item, Disc):
            d = np.hypot(*(track - np.asarray(item.centre)[:2]).T) - item.radius
        else:
            corners = np.asarray(item.points)[:, :2]
            ends = np.roll(corners, -1, axis=0) if isinstance(item, Polygon) else corners[1:]
            starts = corners if isinstance(item, Polygon) else corners[:-1]
            d = np.full(len(track), np.inf)
            for a, b in zip(starts, ends, strict=True):
                t = np.clip((track - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
                d = np.minimum(d, np.hypot(*(track - a - t[:, None] * (b - a)).T))
        best = min(best, float(d.min()))
    return best


def test_footprints_of_objects(scene):
    rig, motion, _way = follower()
    tree = cylinder((1, -10, 0), 0.4)
    tree.scale = (2, 2, 1)
    block = box((-3, -20, 0.5), (2, 4, 3))
    block.rotation_euler = (0, 0, radians(30))
    small = link(bpy.data.objects.new("Stake", None))
    small.location, small.empty_display_size = (3, -15, 0), 0.25
    fence = curve(((4, 0, 0), (4, -40, 0)), "POLY", name="Fence")
    above = box((0, -30, 9), (2, 2, 2), "Cable Car")
    obstacles(motion, tree, block, small, fence, above)
    bpy.context.view_layer.update()
    found = {item.name: item for item in pipeline.gather(bpy.context, motion).course.obstacles}
    assert found.keys() == {"Tree", "Box", "Stake", "Fence"}
    assert isinstance(found["Tree"], Disc) and found["Tree"].radius == pytest.approx(0.8, rel=1e-3)
    assert np.allclose(found["Tree"].centre, (1, -10), atol=1e-3)
    assert isinstance(found["Stake"], Disc) and found["Stake"].radius == pytest.approx(0.25)
    assert isinstance(found["Fence"], Wall)
    corners = found["Box"].points
    assert isinstance(found["Box"], Polygon) and len(corners) == 4
    x, y = corners.T
    area = 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    assert area == pytest.approx(8.0, rel=1e-4)
    assert np.allclose(corners.mean(axis=0), (-3, -20), atol=1e-3)


def extruded(corners, faces, bottom, top, name):
    """A prism over a plan of corners and faces; flat if bottom is top."""
    n = len(corners)
    if bottom == top:
        points, solid = [(*c, top) for c in corners], faces
    else:
        points = [(*c, z) for z in (bottom, top) for c in corners]
        around = Counter(frozenset(e) for f in faces for e in zip(f, f[1:] + f[:1], strict=True))
        sides = [tuple(edge) for edge, count in around.items() if count == 1]
        solid = [*faces, *(tuple(n + i for i in face) for face in faces)]
        solid += [(a, b, n + b, n + a) for a, b in sides]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], solid)
    return link(bpy.data.objects.new(name, mesh))


def area(corners):
    x, y = np.asarray(corners)[:, :2].T
    return 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


@pytest.mark.parametrize("height", [2.0, 0.0])
def test_footprints_keep_their_hollows(scene, height):
    """An L is no triangle, and inside a ring there is room."""
    _rig, motion, _way = follower()
    ell = extruded([(0, 0), (4, 0), (4, 1), (1, 1), (1, 3), (0, 3)],
                   [(0, 1, 2, 3), (0, 3, 4, 5)], 0.0, height, "Ell")
    angle = np.linspace(0, 2 * pi, 13)[:-1]
    circles = [(r * np.cos(a), r * np.sin(a)) for r in (5.0, 5.4) for a in angle]
    around = [(i, (i + 1) % 12, 12 + (i + 1) % 12, 12 + i) for i in range(12)]
    ring = extruded(circles, around, 0.0, height, "Ring")
    ell.location, ring.location = (3, -10, 0), (0, -30, 0)
    obstacles(motion, ell, ring)
    bpy.context.view_layer.update()
    found = pipeline.gather(bpy.context, motion).course.obstacles
    (plan,) = [item for item in found if item.name == "Ell"]
    assert isinstance(plan, Polygon) and area(plan.points) == pytest.approx(6.0, rel=1e-4)
    walls = [item for item in found if item.name == "Ring"]
    assert len(walls) == 2 and all(isinstance(wall, Wall) for wall in walls)
    sizes = sorted(np.linalg.norm(np.asarray(w.points)[:, :2] - (0, -30), axis=1).mean()
                   for w in walls)
    np.testing.assert_allclose(sizes, (5.0, 5.4), atol=1e-3)


def test_the_clearance_holds_in_the_world(scene):
    rig, motion, _way = follower(((0, 0, 0), (0, -25, 0), (0, -50, 0)), clearance=0.5)
    obstacles(
        motion,
        cylinder((0.3, -18, 0), 0.35),
        cylinder((-2.5, -30, 0), 0.35, name="Tree B"),
        box((1.0, -38, 0.5), (1.5, 2.0, 2.0)),
    )
    bpy.ops.poise.path_plan()
    bpy.ops.poise.bake()
    done = solved(motion)
    assert done.path.finished
    frames = np.arange(1.0, done.job.end_frame, 0.25)
    track = foot_track(rig, motion, frames)
    obstacles_ = done.job.course.obstacles
    assert world_clearance(track, obstacles_) > 0.5 - HALF_STANCE - CHORD
    # The point that carries the body keeps the whole of it, between samples too.
    fine = planned_track(motion, np.arange(1.0, done.job.end_frame, 0.05))
    assert world_clearance(fine, obstacles_) > 0.5 - 2e-3
    assert done.path.min_clearance > 0.5 - 1e-3
    # It had to leave the straight path.
    assert done.path.max_distance > 0.3


def test_loose_parts_and_instances_stand_each_for_itself(scene):
    rig, motion, _way = follower()
    mesh = bpy.data.meshes.new("Stakes")
    points, faces = [], []
    for x, y in ((5, -5), (-6, -12), (6, -20)):
        k = len(points)
        points += [(x, y, 0), (x + 0.2, y, 0), (x, y + 0.2, 0), (x, y, 2)]
        faces += [(k, k + 1, k + 3), (k + 1, k + 2, k + 3), (k + 2, k, k + 3)]
    mesh.from_pydata(points, [], faces)
    stakes = link(bpy.data.objects.new("Stakes", mesh))
    source = bpy.data.collections.new("Source")
    cylinder((0, 0, 0), 0.3).users_collection[0].objects.unlink(bpy.data.objects["Tree"])
    source.objects.link(bpy.data.objects["Tree"])
    instance = link(bpy.data.objects.new("Instance", None))
    instance.instance_type, instance.instance_collection = "COLLECTION", source
    instance.location = (-8, -25, 0)
    obstacles(motion, stakes, instance)
    bpy.context.view_layer.update()
    found = pipeline.gather(bpy.context, motion).course.obstacles
    assert [item.name for item in found] == ["Stakes"] * 3 + ["Instance"]
    assert np.allclose(found[3].centre, (-8, -25), atol=1e-3)


def test_what_moves_is_looked_up_at_its_time(scene):
    rig, motion, _way = follower(((0, 0, 0), (0, -30, 0), (0, -60, 0)))
    ball = cylinder((-4, -24, 0), 0.5, name="Sledge")
    obstacles(motion, ball)
    # It crosses the path while the figure comes: at 24 m after 3 s.
    for frame, x in ((1, -9.0), (145, 9.0)):
        ball.location.x = x
        ball.keyframe_insert("location", frame=frame)
    before = bpy.context.scene.frame_current
    bpy.ops.poise.path_plan()
    assert bpy.context.scene.frame_current == before
    bpy.ops.poise.bake()
    done = solved(motion)
    assert done.path.finished
    gap = []
    for frame in range(1, done.job.end_frame):
        bpy.context.scene.frame_set(frame)
        foot = rig.matrix_world @ rig.pose.bones["root"].head
        gap.append((foot - ball.matrix_world.translation).to_2d().length - 0.5)
    assert min(gap) > 0.3 - HALF_STANCE - 5e-3


def test_a_figure_overtakes_another_at_a_distance(scene):
    slow, _motion, way = follower(((0, -10, 0), (0, -40, 0), (0, -70, 0)), speed=4.0)
    slow.location, slow.rotation_euler.z, slow.scale = (3.0, 1.0, 0.0), 0.4, (1.1,) * 3
    bpy.ops.poise.path_plan()
    bpy.ops.poise.bake()
    way = curve(((0, 0, 0), (0, -40, 0), (0, -70, 0)))
    bpy.ops.poise.character_add(kind="SKIER")
    fast = bpy.context.object
    fast.poise.motion = "PATH"
    fast.poise.path.curve, fast.poise.path.speed = way, 8.0
    motion = fast.poise.motion_object
    obstacles(motion, slow)

    # Read from its keys, without playing the scene, the other one is where Blender shows it.
    played = []

    def note(scene, _depsgraph):
        played.append(scene.frame_current)

    bpy.app.handlers.frame_change_pre.append(note)
    (other,) = pipeline.gather(bpy.context, motion).course.obstacles
    bpy.app.handlers.frame_change_pre.remove(note)
    assert len(set(played)) <= 1, "the scene was played"
    frames = [1, 25, 60, 101]
    shown = world_path(slow, "root", frames)
    keyed = [other.centres[np.argmin(np.abs(other.times - (f - 1) / 24.0))] for f in frames]
    np.testing.assert_allclose(keyed, shown, atol=1e-5)

    bpy.ops.poise.path_plan()
    bpy.ops.poise.bake()
    frames = range(1, solved(motion).job.end_frame + 1)
    ways = [world_path(rig, "root", frames)[:, :2] for rig in (slow, fast)]
    gap = np.linalg.norm(ways[0] - ways[1], axis=1)
    least = course.FIGURE_RADIUS + fast.poise.path.clearance
    assert gap.min() > least - HALF_STANCE - 5e-3
    # It did come by: it starts behind, and ends ahead.
    assert ways[1][0, 1] > ways[0][0, 1] + 5.0 and ways[1][-1, 1] < ways[0][-1, 1] - 5.0


# -- gates -----------------------------------------------------------------------


def test_a_slalom_course_is_passed_in_order(scene):
    rig, motion, _way = follower(((0, 0, 0), (0, -60, 0), (0, -120, 0)))
    bpy.ops.poise.slalom_course_add(spacing=15, offset=0.5, width=4)
    gates = course.gates_of(rig.poise.path.gates)
    assert [gate.poise_gate.number for gate in gates] == list(range(1, len(gates) + 1))
    bpy.ops.poise.path_plan()
    done = solved(motion)
    # The poles stand beyond the path: it has to be left for them.
    assert done.path.finished and done.path.max_distance > 0.5 + 0.3
    times = np.array(done.path.gate_times)
    assert np.isfinite(times).all() and (np.diff(times) > 0).all()
    bpy.ops.poise.bake()
    bpy.context.view_layer.update()
    for gate, time in zip(gates, times, strict=True):
        (foot,) = planned_track(motion, [1.0 + 24.0 * time])
        poles = [np.array(child.matrix_world.translation)[:2] for child in gate.children]
        assert len(poles) == 2
        across = poles[1] - poles[0]
        share = (foot - poles[0]) @ across / (across @ across)
        # Between its poles, no nearer to one than the clearance.
        assert 0.3 - 0.01 < share * 4.0 < 4.0 - 0.3 + 0.01
        ahead = np.array((-across[1], across[0])) / np.hypot(*across)
        assert abs((foot - poles[0]) @ ahead) < 0.02
        # The figure itself, too.
        (root,) = foot_track(rig, motion, [1.0 + 24.0 * time])
        assert 0.0 < (root - poles[0]) @ across / (across @ across) < 1.0


def test_a_gate_is_as_wide_as_it_says(scene):
    rig, motion, _way = follower()
    bpy.context.scene.cursor.location = (1.0, -20.0, 0.0)
    bpy.ops.poise.gate_add(width=3.0)
    (gate,) = course.gates_of(rig.poise.path.gates)
    for width in (3.0, 5.0):
        gate.poise_gate.width = width
        bpy.context.view_layer.update()
        ends = [child.matrix_world.translation for child in gate.children]
        assert (ends[0] - ends[1]).length == pytest.approx(width, rel=1e-5)
        (made,) = course.read_gates(rig.poise.path.gates, 1.0)
        assert np.linalg.norm(made.left - made.right) == pytest.approx(width, rel=1e-5)
    activate(next(iter(gate.children)))
    assert "POISE_PT_gate" in drawn()
    activate(rig)


def test_fixes_help(scene):
    """Each of the changes that the problem list offers gives a way to the end."""
    rig, motion, _way = follower(((0, 0, 0), (0, -60, 0), (0, -120, 0)))
    bpy.ops.poise.slalom_course_add(spacing=10, offset=1.5, width=3, run_in=25)
    for gate in course.gates_of(rig.poise.path.gates)[3:]:
        for child in list(gate.children):
            bpy.data.objects.remove(child)
        bpy.data.objects.remove(gate)
    bpy.ops.poise.path_plan()
    settings = motion.poise_motion
    (problem,) = [p for p in settings.problems if p.severity == "ERROR"]
    assert problem.code == "NO_WAY" and problem.has_frame
    import json

    fixes = json.loads(problem.fix)
    assert any(name == "path.speed" for name, _value in fixes)
    index = list(settings.problems).index(problem)
    for choice, (name, _value) in enumerate(fixes):
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.poise.problem_fix("EXEC_DEFAULT", True, index=index, choice=choice)
        motion = bpy.data.objects[motion.name]
        bpy.context.view_layer.update()
        furthest = solved(motion).path
        stop = furthest.failure
        # Past the place where it stopped (found by trying just that far).
        assert stop is None or stop.time > problem.frame / 24.0, name
        bpy.ops.ed.undo()
        motion = bpy.data.objects["Skier Motion"]
        settings = motion.poise_motion
        problem = settings.problems[index]


# -- refusals --------------------------------------------------------------------


def test_no_curve(scene):
    rig, motion = load()
    rig.poise.motion = "PATH"
    refused("path_plan", "has no path: choose a curve")
    refused("bake", "has no path")
    refused("slalom_course_add", "has no path")
    drawn()


def test_a_deleted_curve(scene):
    rig, motion, way = follower()
    bpy.ops.poise.path_plan()
    bpy.context.scene.collection.objects.unlink(way)
    bpy.context.view_layer.update()
    refused("path_plan", "not in the scene")
    bpy.data.objects.remove(way)
    bpy.context.view_layer.update()
    refused("path_plan", "has no path")


@pytest.mark.parametrize(
    ("points", "match"),
    [
        ((), "without points"),
        (((1, 1, 0),), "one point|without length|without points"),
        (((1, 1, 0), (1, 1, 0)), "without length|with a length"),
        (((0, 0, 0), (0, 0, 5)), "without length"),
    ],
)
def test_curves_that_lead_nowhere(scene, points, match):
    rig, motion, way = follower()
    data = bpy.data.curves.new("Bad", "CURVE")
    if points:
        add_spline(data, points, "POLY")
    way.data = data
    bpy.context.view_layer.update()
    refused("path_plan", match)
    refused("bake", match)


def test_doubled_points_do_no_harm(scene):
    rig, motion, way = follower()
    data = bpy.data.curves.new("Doubled", "CURVE")
    data.dimensions = "3D"
    add_spline(data, ((0, 0, 0), (0, 0, 0), (0, -20, 0), (0, -20, 0), (0, -40, 0)), "POLY")
    way.data = data
    bpy.context.view_layer.update()
    done = solved(motion)
    assert done.path.finished and np.isfinite(done.motion.position).all()


@pytest.mark.parametrize("speed", [0.0, 0.01])
def test_who_stands_is_told_so(scene, speed):
    rig, motion, _way = follower(speed=speed)
    refused("path_plan", "Speed is .* must be")
    refused("bake", "Speed is")


def test_a_speed_that_is_no_number(scene):
    rig, motion, _way = follower()
    rig.poise.path.speed = float("nan")
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.poise.path_plan()
    assert "Speed" in sentence(caught.value)


def test_a_start_inside_an_obstacle(scene):
    rig, motion, _way = follower()
    obstacles(motion, box((0, 0, 0.5), (3, 3, 2), "Hut"))
    bpy.context.view_layer.update()
    bpy.ops.poise.path_plan()
    (problem,) = motion.poise_motion.problems
    assert problem.severity == "ERROR" and 'Starts inside "Hut"' in problem.message
    refused("bake", 'Starts inside "Hut"')
    drawn()


def test_a_path_through_an_obstacle_goes_around_it(scene):
    rig, motion, _way = follower(((0, 0, 0), (0, -25, 0), (0, -50, 0)))
    obstacles(motion, box((0, -25, 0.5), (2, 2, 2), "Hut"))
    bpy.ops.poise.path_plan()
    done = solved(motion)
    assert done.path.finished and done.path.max_distance > 1.0


def test_gates_in_impossible_order_are_named(scene):
    rig, motion, _way = follower(((0, 0, 0), (0, -30, 0), (0, -60, 0)))
    for y in (-40.0, -20.0):
        bpy.context.scene.cursor.location = (0.0, y, 0.0)
        bpy.ops.poise.gate_add()
    bpy.ops.poise.path_plan()
    codes = {p.code for p in motion.poise_motion.problems}
    assert "GATE_ORDER" in codes


def test_obstacles_without_meshes_are_no_obstacles(scene):
    rig, motion, _way = follower()
    obstacles(
        motion,
        link(bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))),
        link(bpy.data.objects.new("Nothing", bpy.data.meshes.new("Nothing"))),
        link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))),
    )
    bpy.context.view_layer.update()
    done = solved(motion)
    assert done.path.finished and not done.job.course.obstacles


def test_a_path_that_goes_up_says_so(scene):
    rig, motion, _way = follower(((0, 0, 0), (0, -20, 3), (0, -40, 0)))
    bpy.ops.poise.path_plan()
    assert "PATH_NOT_LEVEL" in {p.code for p in motion.poise_motion.problems}


# -- one step, nothing lost ------------------------------------------------------


def test_undo_takes_plan_gates_and_bake_back(scene):
    rig, motion, _way = follower(((0, 0, 0), (0, -60, 0), (0, -120, 0)))
    for name in ("slalom_course_add", "gate_add", "path_plan", "bake"):
        bpy.ops.ed.undo_push(message="now")
        before = settled()
        undoable(name)
        assert diff(before, settled())
        bpy.ops.ed.undo()
        changed = diff(before, settled(), UNDO_NOISE)
        assert not changed, (name, changed[:5])
        activate(bpy.data.objects["Skier"])


def test_changes_make_the_bake_out_of_date(scene):
    rig, motion, way = follower()
    bpy.ops.poise.path_plan()
    bpy.ops.poise.bake()
    assert preview.refresh(bpy.context, motion).out_of_date == ()
    assert not preview.status(motion).unplanned
    way.location.x = 0.5
    bpy.context.view_layer.update()
    status = preview.refresh(bpy.context, motion)
    assert status.out_of_date == ("Path",)
    # The former plan is still shown, and the panel says that it is a former one.
    assert status.unplanned and status.solved is not None
    said = " ".join(text for texts in drawn().values() for text in texts)
    assert "Changed since it was planned" in said and "Changed since the bake" in said
    bpy.ops.poise.path_plan()
    assert not preview.refresh(bpy.context, motion).unplanned


def test_the_panel_says_how_well_the_path_is_followed(scene):
    rig, motion, _way = follower()
    obstacles(motion, cylinder((3, -30, 0)))
    bpy.ops.poise.path_plan()
    found = drawn()
    assert "POISE_PT_path" in found and "POISE_PT_turns" not in found
    said = " ".join(found["POISE_PT_path"])
    for name in (
        "Mean Distance", "Largest Distance", "Smallest Clearance", "Largest Lean", "Peak Force",
    ):
        assert name in said
    rig.poise.motion = "TURNS"
    assert "POISE_PT_turns" in drawn()


def test_trail_camera_and_check_work_as_for_turns(scene):
    rig, motion, _way = follower()
    bpy.ops.poise.bake()
    bpy.ops.poise.trail_add()
    bpy.ops.poise.chase_camera_add()
    bpy.ops.poise.markers_add()
    bpy.ops.poise.bake_check()
    assert motion.poise_motion.trail is not None and motion.poise_motion.camera is not None
    assert "is not followed" not in " ".join(p.message for p in motion.poise_motion.problems)
    bpy.ops.poise.bake_clear()
    assert motion.poise_motion.record == ""
