# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions over terrain: what is baked lies on the mesh that Blender shows."""

from __future__ import annotations

from math import cos, radians, sin
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Vector
from operators_draw import drawn
from operators_help import (
    activate,
    errors_by_role,
    errors_of,
    load,
    refused,
    solved,
)
from poise.addon import pipeline
from poise.addon.show import overlay, preview
from poise.solvers.rotations import rotate
from snapshot import diff, snapshot

FRAMES = 1, 13, 29, 46, 63, 80
TURN, SIZE = radians(30.0), 2.0


def height(x, y):
    return 0.22 * y + 0.35 * np.sin(0.35 * y) * np.cos(0.3 * x)


def link(obj):
    bpy.context.scene.collection.objects.link(obj)
    return obj


def terrain(low=(-16.0, -60.0), high=(16.0, 14.0), spacing=0.8, keep=None, h=height):
    """A hill whose object is turned, scaled, parented and subdivided; its shape in the world."""
    x, y = np.meshgrid(
        *(np.arange(a, b + 1e-9, spacing) for a, b in zip(low, high, strict=True)), indexing="ij"
    )
    world = np.stack((x, y, h(x, y)), axis=-1).reshape(-1, 3)
    index = np.arange(len(world)).reshape(x.shape)
    faces = np.stack(
        (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]), axis=-1
    ).reshape(-1, 4)
    if keep is not None:
        middle = world[faces].mean(axis=1)
        faces = faces[keep(middle[:, 0], middle[:, 1])]
    parent = link(bpy.data.objects.new("Mountain", None))
    parent.location = (3.0, -2.0, 1.0)
    hill = link(bpy.data.objects.new("Hill", bpy.data.meshes.new("Hill")))
    hill.parent, hill.scale = parent, (SIZE, SIZE, SIZE)
    hill.rotation_euler.z = TURN
    hill.location.z = -4.0
    back = np.array([(cos(TURN), sin(TURN), 0.0), (-sin(TURN), cos(TURN), 0.0), (0.0, 0.0, 1.0)])
    local = (world - (3.0, -2.0, -3.0)) @ back.T / SIZE
    # Faces look down, half of them: nothing may depend on it.
    faces[::2] = faces[::2, ::-1]
    hill.data.from_pydata(local.tolist(), [], faces.tolist())
    modifier = hill.modifiers.new("Subdivision", "SUBSURF")
    modifier.subdivision_type, modifier.levels = "SIMPLE", 1
    return hill


def skier_on(hill, points=((0, 0, 30), (2.5, -14, 0), (-2, -28, -30), (0, -40, 5)), **settings):
    rig, motion = load("SKIER")
    hill = hill()  # loading a file leaves nothing of what there was
    rig.poise.motion = "PATH"
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("BEZIER")
    spline.bezier_points.add(len(points) - 1)
    for point, place in zip(spline.bezier_points, points, strict=True):
        point.co = place
        point.handle_left_type = point.handle_right_type = "AUTO"
    path = rig.poise.path
    path.curve, path.terrain = link(bpy.data.objects.new("Way", data)), hill
    for name, value in settings.items():
        setattr(path, name, value)
    activate(rig)
    bpy.context.view_layer.update()
    return SimpleNamespace(rig=rig, motion=motion, path=path, hill=hill)


def over(hill, points):
    """Heights of points over the mesh that Blender shows, by its own ray cast, m."""
    evaluated = hill.evaluated_get(bpy.context.evaluated_depsgraph_get())
    back = evaluated.matrix_world.inverted()
    heights = []
    for point in points:
        start, end = back @ Vector((*point[:2], 100.0)), back @ Vector((*point[:2], -100.0))
        hit, place, _normal, _face = evaluated.ray_cast(start, (end - start).normalized())
        assert hit
        heights.append(point[2] - (evaluated.matrix_world @ place).z)
    return np.array(heights)


@pytest.fixture(scope="module")
def run():
    """A skier planned and baked down a hill, with the speed that the hill makes."""
    made = skier_on(terrain, speed_mode="TERRAIN", speed=5.0, speed_limit=6.5, braking=3.0)
    assert bpy.ops.poise.path_plan() == {"FINISHED"}
    assert bpy.ops.poise.bake() == {"FINISHED"}
    made.done = solved(made.motion)
    return made


def test_the_baked_rig_is_where_the_motion_is_and_its_soles_lie_on_the_mesh(run):
    done = run.done
    assert done.path.finished and done.path.mean_distance < 1.0
    place, turn = errors_of(run.motion)
    assert place < 5e-4 and turn < 5e-3
    rows = (np.array(FRAMES) - 1) * done.motion.steps_per_frame
    assert rows[-1] < len(done.motion.time)
    half = 0.5 * done.job.figure.equipment["ski_width"]
    for side in "LR":
        base = done.tracks.position[f"ski.{side}"][rows]
        across = rotate(done.tracks.rotation[f"ski.{side}"][rows], np.array((half, 0.0, 0.0)))
        lower = np.minimum(over(run.hill, base + across), over(run.hill, base - across))
        assert np.abs(lower).max() < 1e-3
    root = done.tracks.position["root"][rows]
    assert np.abs(over(run.hill, root)).max() < 2e-3
    # The body goes over the ground as evened out: it lies near the mesh, not on it.
    foot = over(run.hill, done.motion.position[rows])
    assert 1e-3 < np.abs(foot).max() < 0.05


def test_poles_are_planted_on_the_mesh_and_stay_there(run):
    contacts = run.done.tracks.contacts
    assert contacts
    assert np.abs(over(run.hill, [contact.position for contact in contacts])).max() < 2e-3
    time = run.done.motion.time
    for contact in contacts:
        rows = (time >= contact.start) & (time <= contact.end)
        tips = run.done.tracks.position[contact.role][rows]
        assert np.abs(tips - contact.position).max() < 2e-3
    # Free tips do not drag through the snow.
    for side in "LR":
        tip = run.done.tracks.position[f"pole_tip.{side}"][::12]
        assert over(run.hill, tip).min() > -0.03


def test_speed_comes_from_the_hill(run):
    motion = run.done.motion
    assert motion.speed[0] == pytest.approx(5.0)
    assert motion.speed.max() <= 6.5 + 1e-6 and run.done.path.brake.max() > 0.5
    # The same hill with the speed keyed.
    run.path.speed_mode = "KEYED"
    try:
        keyed = solved(run.motion).motion
        assert np.all(keyed.speed == 5.0)
    finally:
        run.path.speed_mode = "TERRAIN"


def test_what_changes_in_the_terrain_is_noticed_and_what_does_not_is_not(run):
    job = pipeline.gather(bpy.context, run.motion)
    stored = run.motion.poise_motion.inputs
    assert pipeline.changed_inputs(job, stored) == []
    run.hill.data.vertices[800].co.z += 0.1
    run.hill.data.update()
    try:
        job = pipeline.gather(bpy.context, run.motion)
        assert pipeline.changed_inputs(job, stored) == ["terrain"]
    finally:
        run.hill.data.vertices[800].co.z -= 0.1
        run.hill.data.update()


def test_trail_gates_and_drawing_lie_on_the_hill(run):
    assert bpy.ops.poise.trail_add() == {"FINISHED"}
    trail = next(obj for obj in bpy.data.objects if obj.name.endswith("Trail"))
    count = len(trail.data.vertices)
    flat = np.empty(3 * count, np.float32)
    trail.data.vertices.foreach_get("co", flat)
    matrix = np.array(trail.matrix_world)
    points = flat.reshape(-1, 3)[:: count // 60] @ matrix[:3, :3].T + matrix[:3, 3]
    lift = over(run.hill, points)
    assert -0.01 < lift.min() and lift.max() < 0.03
    strokes = overlay.course_strokes(run.done)
    path = np.asarray(strokes[0].points)[::40]
    assert np.abs(over(run.hill, path)).max() < 0.05  # as seen from above, not as drawn
    assert bpy.ops.poise.slalom_course_add(spacing=12.0, run_in=10.0) == {"FINISHED"}
    gates = [obj for obj in bpy.data.objects if obj.poise_gate.is_gate]
    assert len(gates) >= 2
    places = [np.array(gate.matrix_world.translation) for gate in gates]
    assert np.abs(over(run.hill, places)).max() < 1e-3
    collection = run.path.gates
    run.path.gates = None
    for gate in gates:
        for child in list(gate.children):
            bpy.data.objects.remove(child)
        bpy.data.objects.remove(gate)
    bpy.data.collections.remove(collection)
    refused("slope_add", "needs no slope")


def test_panels_draw_with_a_terrain(run):
    preview.keep(bpy.context, run.motion, run.done)
    assert "POISE_PT_path_terrain" in drawn()
    run.path.terrain = None
    try:
        assert "POISE_PT_path_terrain" not in drawn()
    finally:
        run.path.terrain = run.hill


def test_trees_on_a_hill_are_in_the_way_by_what_is_near_the_hill(run):
    mesh = bpy.data.meshes.new("Pole")
    ring = [(0.3 * cos(a), 0.3 * sin(a)) for a in np.linspace(0.0, 6.0, 9)]
    mesh.from_pydata(
        [(x, y, z) for z in (-0.5, 6.0) for x, y in ring], [],
        [(i, (i + 1) % 9, 9 + (i + 1) % 9, 9 + i) for i in range(9)],
    )
    collection = bpy.data.collections.new("Trees")
    bpy.context.scene.collection.children.link(collection)
    for y, lift in ((-25.0, 0.0), (-35.0, 2.0)):  # one stands, one floats
        tree = bpy.data.objects.new("Tree", mesh)
        tree.location = (0.0, y, height(0.0, y) + lift)
        collection.objects.link(tree)
    collection.objects.link(run.hill)
    run.path.obstacles = collection
    bpy.context.view_layer.update()
    try:
        obstacles = pipeline.gather(bpy.context, run.motion).course.obstacles
        assert [round(float(disc.centre[1])) for disc in obstacles] == [-25]
    finally:
        run.path.obstacles = None
        for obj in [obj for obj in collection.objects if obj != run.hill]:
            bpy.data.objects.remove(obj)
        bpy.data.collections.remove(collection)


def test_terrain_that_is_animated_is_told_of(run):
    """It is read once: a place that is keyed, a shape that is, and one that runs by itself."""

    def told():
        problems = solved(run.motion).problems
        return [p.severity for p in problems if p.code == "TERRAIN_MOVES"]

    assert told() == []
    run.hill.keyframe_insert("location", frame=1)
    assert told() == ["INFO"]
    run.hill.animation_data_clear()
    wave = run.hill.modifiers.new("Wave", "WAVE")
    wave.height = 0.0
    assert told() == ["INFO"]
    run.hill.modifiers.remove(wave)
    run.hill.shape_key_add(name="Basis")
    run.hill.shape_key_add(name="Other").keyframe_insert("value", frame=1)
    assert told() == ["INFO"]
    run.hill.shape_key_clear()
    assert told() == []


def test_terrain_that_cannot_be_read_is_refused(run):
    run.hill.hide_viewport = True
    bpy.context.view_layer.update()
    refused("path_plan", "Hill is hidden")
    run.hill.hide_viewport = False
    bpy.context.scene.collection.objects.unlink(run.hill)
    bpy.context.view_layer.update()
    refused("path_plan", "Hill is not in the scene, or disabled")
    link(run.hill)
    empty = link(bpy.data.objects.new("Nothing", bpy.data.meshes.new("Nothing")))
    run.path.terrain = empty
    bpy.context.view_layer.update()
    refused("path_plan", "Nothing has no faces")
    run.path.terrain = run.hill
    bpy.data.objects.remove(empty)


def test_planning_again_gives_the_same_keys_and_undo_leaves_nothing(run):
    assert bpy.ops.poise.bake() == {"FINISHED"}
    before = snapshot()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert diff(before, snapshot()) == []


def baked_straight_down(kind):
    """A character baked down the fall line of a hill: rig, Motion object and hill."""
    rig, motion = load(kind)
    hill = terrain(high=(16.0, 6.0), low=(-10.0, -30.0))
    rig.poise.motion = "PATH"
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    data.splines.new("POLY").points.add(1)
    data.splines[0].points[1].co = (0.0, -20.0, 0.0, 1.0)
    rig.poise.path.curve, rig.poise.path.terrain = link(bpy.data.objects.new("Way", data)), hill
    activate(rig)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    return rig, motion, hill


def test_a_snowboard_lies_on_the_mesh():
    _rig, motion, hill = baked_straight_down("SNOWBOARDER")
    errors = errors_by_role(motion)
    assert errors["board"][0] < 5e-4
    done = solved(motion)
    half = 0.5 * done.job.figure.equipment["board_width"]
    base = done.tracks.position["board"][::9]
    across = rotate(done.tracks.rotation["board"][::9], np.array((half, 0.0, 0.0)))
    lower = np.minimum(over(hill, base + across), over(hill, base - across))
    assert np.abs(lower).max() < 1e-3


def test_both_tyres_touch_the_mesh():
    """The lowest points of two tori, along the mesh's normal, on facets 0.4 m wide."""
    rig, motion, hill = baked_straight_down("CYCLIST")
    equipment = solved(motion).job.figure.equipment
    tyre = equipment["tyre_radius"]
    scene = bpy.context.scene
    evaluated = hill.evaluated_get(bpy.context.evaluated_depsgraph_get())
    to_world = evaluated.matrix_world
    back = to_world.inverted()
    gaps = []
    for frame in range(5, solved(motion).job.end_frame, 9):
        scene.frame_set(frame)
        for name in ("front_wheel", "rear_wheel"):
            wheel = rig.matrix_world @ rig.pose.bones[name].matrix
            hub, axle = wheel.translation, wheel.to_quaternion() @ Vector((1.0, 0.0, 0.0))
            start, end = back @ (hub + Vector((0, 0, 9))), back @ (hub - Vector((0, 0, 9)))
            _hit, _place, local, _face = evaluated.ray_cast(start, (end - start).normalized())
            normal = (back.to_3x3().transposed() @ local).normalized()
            normal *= 1.0 if normal.z > 0.0 else -1.0
            down = (normal - normal.dot(axle) * axle).normalized()
            lowest = hub - (equipment["wheel_radius"] - tyre) * down - tyre * normal
            gaps.append(over(hill, [lowest])[0] * normal.z)
    assert np.abs(gaps).max() < 4e-3


def test_where_the_terrain_ends_is_in_the_problem_list():
    made = skier_on(lambda: terrain(low=(-16.0, -30.0)), speed=6.0)
    assert bpy.ops.poise.path_plan() == {"FINISHED"}
    problem = next(
        p for p in made.motion.poise_motion.problems if p.code == "OFF_TERRAIN"
    )
    assert "Hill" in problem.message and problem.severity == "ERROR"
    done = solved(made.motion)
    x, y, z = done.motion.position[-1]
    assert -30.0 < y < -28.0
    strokes = overlay.course_strokes(done)
    assert np.allclose(np.asarray(strokes[-1].points)[0, :2], (x, y), atol=0.6)
