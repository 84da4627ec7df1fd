# SPDX-License-Identifier: GPL-3.0-or-later
"""The trail on the snow, its events, the slope under it and the timeline markers."""

from dataclasses import replace
from math import cos, radians, sin, tan

import bpy
import numpy as np
import pytest
from snapshot import diff, snapshot

FPS = 24


@pytest.fixture
def skier(scene):
    """A skier with a motion of four seconds on a slope of 12 degrees."""
    bpy.ops.poise.character_add(kind="SKIER")
    rig = bpy.context.active_object
    rig.poise.settings.frame_end = 1 + 4 * FPS
    rig.poise.turns.frequency = 0.5
    rig.poise.turns.sharpness = radians(25.0)
    return rig


def solved(rig):
    from poise.addon import pipeline

    return pipeline.solve(pipeline.gather(bpy.context, rig.poise.motion_object))


def vertices(obj):
    flat = np.empty(3 * len(obj.data.vertices))
    obj.data.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def attribute(mesh, name):
    data = mesh.attributes[name].data
    values = np.empty(len(data))
    data.foreach_get("value", values)
    return values


def over_slope(points, slope):
    """Distance over a plane through the origin that falls along -Y."""
    return points @ np.array((0.0, -sin(slope), cos(slope)))


def test_ribbons_lie_a_few_millimetres_over_the_slope(skier):
    bpy.ops.poise.trail_add()
    trail = skier.poise.settings.trail
    height = over_slope(vertices(trail), radians(12.0))
    assert height.min() > 0.004
    assert height.max() < 0.010


def test_ribbons_run_under_the_baked_skis(skier, scene):
    bpy.ops.poise.bake()
    bpy.ops.poise.trail_add(grow=False)
    trail = skier.poise.settings.trail
    places, frames = vertices(trail), attribute(trail.data, "frame")
    sides = attribute(trail.data, "side")
    slope = radians(12.0)
    for frame in (1, 20, 45, 70, 97):
        scene.frame_set(frame)
        posed = skier.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for side, code in (("L", 1), ("R", -1)):
            here = places[(np.abs(frames - frame) < 1e-3) & (sides == code)]
            assert len(here) == 2
            ski = np.array(posed.matrix_world @ posed.pose.bones[f"ski.{side}"].head)
            # The ski on edge is over the snow; along the snow they agree.
            apart = here.mean(axis=0) - ski
            apart -= over_slope(apart, slope) * np.array((0.0, -sin(slope), cos(slope)))
            assert np.linalg.norm(apart) < 0.001


def test_attributes_are_the_motions_own(skier):
    bpy.ops.poise.trail_add()
    mesh, motion = skier.poise.settings.trail.data, solved(skier).motion
    assert np.degrees(attribute(mesh, "lean")).max() == pytest.approx(25.0, abs=0.1)
    assert np.degrees(attribute(mesh, "lean")).min() == pytest.approx(-25.0, abs=0.1)
    weights = motion.leg_force / (motion.mass * motion.gravity)
    assert attribute(mesh, "force").max() == pytest.approx(weights.max(), rel=1e-6)
    assert attribute(mesh, "frame").min() == 1.0
    assert attribute(mesh, "frame").max() == pytest.approx(97.0)
    assert attribute(mesh, "curvature") == pytest.approx(
        np.tile(np.repeat(motion.curvature, 2), 2), abs=1e-7
    )
    along = np.empty(2 * len(mesh.loops))
    mesh.uv_layers["UVMap"].data.foreach_get("uv", along)
    ways = [np.linalg.norm(np.diff(solved(skier).tracks.position[role], axis=0), axis=1).sum()
            for role in ("ski.L", "ski.R")]
    assert along[1::2].max() == pytest.approx(max(ways), rel=1e-5)


def test_a_ski_turned_across_its_way_leaves_a_wide_ribbon(skier):
    from poise.addon.shots import trail
    from poise.solvers import rotations

    here = solved(skier)
    motion = here.motion
    # Both skis flat on the snow and turned 20 degrees to the left of their own way.
    way = np.gradient(here.tracks.position["ski.L"], here.tracks.time, axis=0)
    way -= motion.normal * np.einsum("ni,ni->n", way, motion.normal)[:, None]
    way /= np.linalg.norm(way, axis=1)[:, None]
    left = np.cross(motion.normal, way)
    tips = cos(0.35) * way + sin(0.35) * left
    axes = np.stack((np.cross(motion.normal, tips), -tips, motion.normal), axis=-1)
    turned = rotations.from_matrix(axes)
    rotation = {**here.tracks.rotation, "ski.L": turned}
    ribbon = trail.ribbons(
        motion, replace(here.tracks, rotation=rotation), {"ski_length": 1.7, "ski_width": 0.1}
    )[0]
    width = np.linalg.norm(ribbon.left - ribbon.right, axis=1)
    assert ribbon.skid_angle[5:-5] == pytest.approx(0.35, abs=1e-3)
    assert ribbon.edge_angle == pytest.approx(0.0, abs=1e-6)
    assert width[5:-5] == pytest.approx(1.7 * sin(0.35) + 0.1 * cos(0.35), abs=2e-3)


def test_edge_angles_are_positive_to_the_left(skier):
    bpy.ops.poise.trail_add()
    mesh = skier.poise.settings.trail.data
    lean, edge = attribute(mesh, "lean"), attribute(mesh, "edge_angle")
    deep = np.abs(lean) > radians(15.0)
    assert (np.sign(edge[deep]) == np.sign(lean[deep])).all()


def test_the_trail_grows_with_the_frame(skier, scene):
    bpy.ops.poise.trail_add()
    trail = skier.poise.settings.trail
    frames = attribute(trail.data, "frame")
    for frame in (1, 30, 97):
        scene.frame_set(frame)
        shown = trail.evaluated_get(bpy.context.evaluated_depsgraph_get())
        assert len(shown.data.vertices) == (frames <= frame + 1e-4).sum()
    bpy.ops.poise.trail_add(grow=False)
    scene.frame_set(1)
    shown = trail.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert len(shown.data.vertices) == len(frames)
    assert not bpy.data.node_groups


def test_events_are_where_and_when_they_happen(skier):
    bpy.ops.poise.trail_add()
    points = skier.poise.settings.trail.children[0]
    kinds = attribute(points.data, "event")
    times = attribute(points.data, "time")
    motion = solved(skier).motion
    crossings = np.flatnonzero(np.diff(np.sign(motion.lean[1:-1])))
    changes = times[kinds == 1]
    # 0.5 Hz for four seconds from phase 0: the lean changes sides every second.
    assert changes[:3] == pytest.approx([1.0, 2.0, 3.0], abs=1e-3)
    assert len(changes) >= len(crossings)
    plants = vertices(points)[kinds == 2]
    assert len(plants) >= 3
    assert np.abs(over_slope(plants, radians(12.0))).max() < 0.001


def test_running_it_again_renews_and_clearing_removes_all(skier):
    bpy.ops.poise.bake()
    before = snapshot()
    bpy.ops.poise.trail_add()
    first = skier.poise.settings.trail
    with_trail = snapshot()
    bpy.ops.poise.trail_add()
    assert skier.poise.settings.trail == first
    # Blender's own attributes, with a dot before their names, come and go.
    changed = [line for line in diff(with_trail, snapshot()) if "attributes['." not in line]
    assert changed == []
    from poise.addon.shots.trail import remove_helpers

    remove_helpers(skier.poise.motion_object)
    assert diff(before, snapshot()) == []


def test_a_deleted_trail_is_made_anew(skier):
    bpy.ops.poise.trail_add()
    bpy.data.objects.remove(skier.poise.settings.trail)
    bpy.ops.poise.trail_add()
    assert len(skier.poise.settings.trail.data.vertices) > 0


def test_markers_stand_at_the_events_and_leave_others_alone(skier, scene):
    scene.timeline_markers.new("Plant L", frame=5)
    scene.timeline_markers.new(f"{skier.poise.motion_object.name}", frame=6)
    own = {(marker.name, marker.frame) for marker in scene.timeline_markers}
    bpy.ops.poise.markers_add()
    bpy.ops.poise.markers_add()
    name = skier.poise.motion_object.name
    changes = [m.frame for m in scene.timeline_markers if m.name.startswith(f"{name}: Edge Change")]
    assert changes[:3] == [25, 49, 73]  # one, two and three seconds after frame 1
    skier.poise.motion_object.name = "Renamed"
    bpy.ops.poise.markers_clear()
    assert {(marker.name, marker.frame) for marker in scene.timeline_markers} == own


@pytest.mark.parametrize("kind", ["CYCLIST", "SKATEBOARDER"])
def test_markers_of_wheels_name_no_edges(scene, kind):
    bpy.ops.poise.character_add(kind=kind)
    rig = bpy.context.active_object
    rig.poise.turns.frequency = 0.5
    bpy.ops.poise.markers_add()
    name = rig.poise.motion_object.name
    uprights = {m.frame for m in scene.timeline_markers if m.name.startswith(f"{name}: Upright ")}
    # Half a period of two seconds after the start, and then once a second.
    assert {25, 49, 73} <= uprights
    assert not any("Edge" in marker.name for marker in scene.timeline_markers)


def test_lengths_follow_the_scenes_unit(skier, scene):
    metres = solved(skier).motion.distance[-1]
    bpy.ops.poise.trail_add()
    large = vertices(skier.poise.settings.trail)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.unit_settings.scale_length = 0.01
    bpy.ops.poise.character_add(kind="SKIER")
    rig = bpy.context.active_object
    rig.poise.settings.frame_end = 1 + 4 * FPS
    rig.poise.turns.frequency = 0.5
    rig.poise.turns.sharpness = radians(25.0)
    bpy.ops.poise.trail_add()
    small = vertices(rig.poise.settings.trail)
    assert solved(rig).motion.distance[-1] == pytest.approx(metres, rel=1e-6)
    assert small == pytest.approx(100.0 * large, abs=0.05)


def slope_of(rig):
    return bpy.data.objects[f"{rig.poise.motion_object.name} Slope"]


def corners(mesh, name, width):
    """(k, width) numbers at the mesh's corners: normals or texture coordinates."""
    data, key = (
        (mesh.corner_normals, "vector") if name == "normal" else (mesh.uv_layers[0].data, "uv")
    )
    flat = np.empty(width * len(mesh.loops))
    data.foreach_get(key, flat)
    return flat.reshape(-1, width)


def test_the_slope_fits_the_track(skier):
    bpy.ops.poise.slope_add()
    ground = slope_of(skier)
    assert np.abs(over_slope(vertices(ground), radians(12.0))).max() < 1e-3
    assert min(polygon.normal.z for polygon in ground.data.polygons) > 0.9
    low, high = vertices(ground).min(axis=0), vertices(ground).max(axis=0)
    track = solved(skier).motion.position
    assert (low[:2] < track.min(axis=0)[:2] - 20.0).all()
    assert (high[:2] > track.max(axis=0)[:2] + 20.0).all()
    count = len(bpy.data.meshes), len(bpy.data.materials)
    bpy.ops.poise.slope_add()
    assert (len(bpy.data.meshes), len(bpy.data.materials)) == count


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_snow_is_groomed_down_the_fall_line(scene, unit):
    """Ribs of 0.25 m run straight down, whatever way that is and however long a unit is."""
    scene.unit_settings.scale_length = unit
    bpy.ops.poise.character_add(kind="SKIER")
    rig = bpy.context.active_object
    rig.poise.settings.frame_end = 1 + 4 * FPS
    rig.poise.turns.slope, rig.poise.turns.slope_direction = radians(15.0), radians(40.0)
    bpy.ops.poise.slope_add()
    mesh = slope_of(rig).data
    places = unit * vertices(slope_of(rig))
    # 40 degrees to the left of -Y, 15 degrees down.
    normal = np.array((sin(radians(40.0)) * sin(radians(15.0)),
                       -cos(radians(40.0)) * sin(radians(15.0)), cos(radians(15.0))))
    assert np.abs(places @ normal).max() < 1e-3
    across = places @ np.array((cos(radians(40.0)), sin(radians(40.0)), 0.0))
    faces = np.array([polygon.vertices[:] for polygon in mesh.polygons])
    middles = across[faces].mean(axis=1)
    shades = np.array([polygon.material_index for polygon in mesh.polygons])
    # What lies at one place across has one shade all the way down, and neighbours differ.
    columns, index = np.unique(middles.round(3), return_inverse=True)
    assert all(len(np.unique(shades[np.ravel(index) == i])) == 1 for i in range(len(columns)))
    in_order = shades[[np.flatnonzero(np.ravel(index) == i)[0] for i in range(len(columns))]]
    near = np.abs(columns - np.median(solved(rig).motion.position @ across_unit())) < 5.0
    assert np.diff(columns[near]) == pytest.approx(0.25, abs=2e-3)
    assert (np.diff(in_order[near]) != 0).all()
    assert in_order.max() < len(mesh.materials)
    # Metres in the texture coordinates are metres of the ground, seen from above.
    level = corners(mesh, "uv", 2)[mesh.polygons[0].loop_start :][:4]
    flat = places[faces[0], :2]
    np.testing.assert_allclose(
        np.linalg.norm(np.diff(level, axis=0), axis=1),
        np.linalg.norm(np.diff(flat, axis=0), axis=1), atol=1e-3,
    )
    # Drifts are only in the light: low, and level on the whole.
    shown = corners(mesh, "normal", 3)
    assert (shown @ normal).min() > cos(radians(25.0))
    assert (shown @ normal).std() > 1e-4
    mean = shown.mean(axis=0) / np.linalg.norm(shown.mean(axis=0))
    assert mean @ normal > cos(radians(1.0))


def across_unit():
    return np.array((cos(radians(40.0)), sin(radians(40.0)), 0.0))


def test_the_slope_is_fitted_anew_and_keeps_the_animators_material(skier):
    bpy.ops.poise.slope_add()
    ground = slope_of(skier)
    ground.data.materials.clear()
    mine = bpy.data.materials.new("Mine")
    ground.data.materials.append(mine)
    skier.poise.turns.slope = radians(20.0)
    bpy.ops.poise.slope_add()
    assert slope_of(skier) == ground and list(ground.data.materials) == [mine]
    assert {polygon.material_index for polygon in ground.data.polygons} == {0}
    assert np.abs(over_slope(vertices(ground), radians(20.0))).max() < 1e-3
    assert [layer.name for layer in ground.data.uv_layers] == ["UVMap"]
    assert (corners(ground.data, "normal", 3) @ (0.0, -sin(radians(20.0)), cos(radians(20.0)))
            ).min() > cos(radians(25.0))


def test_adding_and_fitting_a_slope_can_be_undone(skier):
    name = f"{skier.poise.motion_object.name} Slope"
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.poise.slope_add("EXEC_DEFAULT", True)
    first = vertices(bpy.data.objects[name])
    bpy.data.objects[skier.name].poise.turns.slope = radians(20.0)
    bpy.ops.ed.undo_push(message="Steeper")
    bpy.ops.poise.slope_add("EXEC_DEFAULT", True)
    assert np.abs(over_slope(vertices(bpy.data.objects[name]), radians(20.0))).max() < 1e-3
    bpy.ops.ed.undo()
    np.testing.assert_array_equal(vertices(bpy.data.objects[name]), first)
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    assert name not in bpy.data.objects
    assert not [m for m in bpy.data.materials if m.name.startswith("Snow")]


@pytest.mark.parametrize("heading, speed", [(0.0, 9.0), (50.0, 9.0), (50.0, 90.0)])
def test_a_long_slope_has_few_faces(skier, heading, speed):
    """A minute of it, straight down or across, as an animator's file has to carry it."""
    from poise.addon.shots import slope

    skier.poise.settings.frame_end = 1 + 60 * FPS
    skier.poise.turns.heading = radians(heading)
    skier.poise.turns.speed = speed
    made = slope.surface(solved(skier).motion)
    assert len(made.faces) < slope.MOST_FACES
    assert made.gap < 1e-3
    assert set(made.shades) == set(range(len(slope.SNOW)))


def test_a_slope_that_changes_on_the_way_is_followed(skier):
    from poise.addon.shots import slope

    turns, motion = skier.poise.turns, skier.poise.motion_object
    turns.slope = radians(5.0)
    turns.keyframe_insert("slope", frame=1)
    turns.slope = radians(25.0)
    turns.keyframe_insert("slope", frame=97)
    here = solved(skier)
    made = slope.surface(here.motion)
    assert made.gap < 0.02
    # Close rows only where it bends: a grid of them all the way would have more.
    assert len(made.faces) < slope.MOST_FACES
    # The surface falls as steeply under the end as the setting says.
    end = here.motion.position[-1] @ slope.fall_line(here.motion)
    heights = slope.profile(here.motion, np.array((end + 1.0, end + 2.0)))
    assert heights[0] - heights[1] == pytest.approx(tan(radians(25.0)), abs=1e-3)
    assert motion.poise_motion.turns == turns


def test_nothing_but_a_trail_is_removed_for_one(skier):
    """A script may point a motion's trail anywhere, at the motion itself, too."""
    from poise.addon import motions
    from poise.addon.shots import trail

    motion = motions.active_motion(skier)
    body = next(child for child in skier.children if child.type == "MESH")
    names = {obj.name for obj in bpy.data.objects}
    for other in (motion, body):
        motion.poise_motion.trail = other
        trail.remove_helpers(motion)
        assert {obj.name for obj in bpy.data.objects} == names
