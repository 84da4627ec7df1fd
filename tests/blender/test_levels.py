# SPDX-License-Identifier: GPL-3.0-or-later
"""A cyclist on a spiral ramp: planned, baked and drawn on the turn on which the path is."""

from __future__ import annotations

from math import cos, pi, sin
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Vector
from operators_help import activate, errors_of, load, solved
from poise.addon import pipeline
from poise.addon.show import overlay

RADIUS, CLIMB, HALF = 11.0, 4.5, 2.5  # m; of the ramp's middle, a turn, half its width
GRADE = CLIMB / (2.0 * pi)
FIRST, LAST = 1.62, 0.4  # turns, of the path


def place(turn, radius=RADIUS, lift=0.0):
    angle = 2.0 * pi * turn
    return radius * cos(angle), radius * sin(angle), GRADE * angle + lift


def link(obj, collection=None):
    (collection or bpy.context.scene.collection).objects.link(obj)
    return obj


def mesh_object(name, points, faces, collection=None):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    return link(bpy.data.objects.new(name, mesh), collection)


def ramp():
    """Two turns, 30 cm thick by a modifier."""
    turns = np.linspace(-0.05, 2.05, 300)
    points = [place(turn, RADIUS + shift) for turn in turns for shift in (-HALF, 0.0, HALF)]
    faces = [
        (3 * i + j, 3 * i + j + 3, 3 * i + j + 4, 3 * i + j + 1)
        for i in range(len(turns) - 1)
        for j in range(2)
    ]
    obj = mesh_object("Ramp", points, faces)
    solid = obj.modifiers.new("Deck", "SOLIDIFY")
    solid.thickness, solid.offset = 0.3, 1.0 if obj.data.polygons[0].normal.z < 0.0 else -1.0
    return obj


def post(name, foot, height, collection):
    ring = [(foot[0] + 0.15 * cos(a), foot[1] + 0.15 * sin(a)) for a in np.arange(0.0, 6.0, 1.0)]
    points = [(x, y, foot[2] + z) for z in (-0.05, height) for x, y in ring]
    sides = [(i, (i + 1) % 6, 6 + (i + 1) % 6, 6 + i) for i in range(6)]
    return mesh_object(name, points, sides, collection)


@pytest.fixture(scope="module")
def run():
    rig, motion = load("CYCLIST")
    deck = ramp()
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    turns = np.linspace(FIRST, LAST, 160)
    spline.points.add(len(turns) - 1)
    spline.points.foreach_set("co", [v for turn in turns for v in (*place(turn), 1.0)])
    rig.poise.motion = "PATH"
    path = rig.poise.path
    path.curve, path.terrain = link(bpy.data.objects.new("Way", data)), deck
    path.speed, path.clearance = 5.0, 0.4
    things = bpy.data.collections.new("Things")
    bpy.context.scene.collection.children.link(things)
    # On the turn from which the path comes, and as a pillar from there up to the next deck.
    cone = post("Cone", place(1.2, RADIUS - 0.1), 0.8, things)
    pillar = post("Pillar", place(0.5, RADIUS + 0.7), CLIMB - 0.32, things)
    path.obstacles = things
    activate(rig)
    bpy.context.view_layer.update()
    assert bpy.ops.poise.path_plan() == {"FINISHED"}
    assert bpy.ops.poise.bake() == {"FINISHED"}
    return SimpleNamespace(rig=rig, motion=motion, deck=deck, path=path, cone=cone, pillar=pillar,
                           things=things, done=solved(motion))


def helicoid(points, near):
    """Height of the ramp's turn at places, of that nearest to given heights."""
    angle = np.arctan2(points[:, 1], points[:, 0])
    turn = np.round((near / GRADE - angle) / (2.0 * pi))
    return GRADE * (angle + 2.0 * pi * turn)


def test_the_track_goes_down_the_ramp_turn_by_turn(run):
    motion = run.done.motion
    assert run.done.path.finished
    # The rider's head is the least height of what it goes under.
    head = run.rig.pose.bones["head"].bone
    assert head.head_local.z + 0.1 < run.done.job.settings.headroom < 1.9
    angle = np.unwrap(np.arctan2(motion.position[:, 1], motion.position[:, 0]))
    angle += 2.0 * pi * FIRST - angle[0]
    assert abs(np.ptp(angle) - 2.0 * pi * (FIRST - LAST)) < 0.1
    assert np.abs(motion.position[:, 2] - GRADE * angle).max() < 0.01


def test_wheels_roll_on_the_deck_of_their_turn_and_nothing_pops(run):
    """Of the baked rig, frame by frame; the deck under a hub by Blender's own ray cast."""
    assert errors_of(run.motion, (1, 120, 240))[0] < 5e-4
    scene, rig = bpy.context.scene, run.rig
    evaluated = run.deck.evaluated_get(bpy.context.evaluated_depsgraph_get())
    equipment = run.done.job.figure.equipment
    gaps = []
    for frame in range(1, run.done.job.end_frame + 1, 20):
        scene.frame_set(frame)
        for name in ("front_wheel", "rear_wheel"):
            wheel = rig.matrix_world @ rig.pose.bones[name].matrix
            hub, axle = wheel.translation, wheel.to_quaternion() @ Vector((1.0, 0.0, 0.0))
            hit, ground, normal, _face = evaluated.ray_cast(hub, Vector((0.0, 0.0, -1.0)))
            assert hit and hub.z - ground.z < 0.4
            normal *= 1.0 if normal.z > 0.0 else -1.0
            down = (normal - normal.dot(axle) * axle).normalized()
            tyre = equipment["tyre_radius"]
            lowest = hub - (equipment["wheel_radius"] - tyre) * down - tyre * normal
            gaps.append((lowest - ground).dot(normal))
    scene.frame_set(1)
    assert np.abs(gaps).max() < 5e-3
    # Down at no more than the grade of the ramp's inside, and evenly.
    rows = slice(None, None, run.done.motion.steps_per_frame)
    for name in ("front_wheel", "rear_wheel"):
        step = np.diff(run.done.tracks.position[name][rows, 2])
        steepest = 5.0 / 24.0 * GRADE / (RADIUS - 1.5)
        assert step.min() > -1.3 * steepest and step.max() < 0.3 * steepest
        assert np.abs(np.diff(step)).max() < 0.01


def test_what_stands_on_another_turn_is_not_in_the_way(run):
    position = run.done.motion.position
    for thing, around, turn_above in ((run.cone, 1.2, False), (run.pillar, 0.5, True)):
        foot = np.array(place(around))
        middle = np.mean([v.co[:2] for v in thing.data.vertices], axis=0)
        gap = np.hypot(*(position[:, :2] - middle).T) - 0.15
        same = np.abs(position[:, 2] - foot[2]) < 0.5 * CLIMB
        assert gap[same].min() >= 0.4 - 2e-3
        if turn_above:  # the pillar's deck, which the path passes a turn before
            assert gap[~same].min() < 0.3
    obstacles = pipeline.gather(bpy.context, run.motion).course.obstacles
    heights = {item.name: item.heights for item in obstacles}
    low, high = heights["Pillar"]
    assert abs(low - place(0.5)[2]) < 0.1 and abs(high - low - CLIMB + 0.27) < 0.05


def test_gates_and_drawing_lie_on_their_turns(run):
    strokes = overlay.course_strokes(run.done)
    points = np.asarray(strokes[0].points)
    drawn = np.array([place(turn) for turn in np.linspace(FIRST, LAST, 160)])
    assert np.abs(points[::2, 2] - drawn[:-1, 2]).max() < 0.05
    assert bpy.ops.poise.slalom_course_add(spacing=14.0, run_in=8.0, offset=-0.5) == {"FINISHED"}
    gates = sorted(
        (obj for obj in bpy.data.objects if obj.poise_gate.is_gate),
        key=lambda obj: obj.poise_gate.number,
    )
    places = np.array([gate.matrix_world.translation for gate in gates])
    way = 8.0 + 14.0 * np.arange(len(gates))
    expected = GRADE * (2.0 * pi * FIRST - way / RADIUS)
    assert len(gates) == 5 and np.abs(places[:, 2] - expected).max() < 0.05
    collection = run.path.gates
    run.path.gates = None
    for gate in gates:
        for child in list(gate.children):
            bpy.data.objects.remove(child)
        bpy.data.objects.remove(gate)
    bpy.data.collections.remove(collection)
