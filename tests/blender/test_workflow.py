# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator does, step by step, on all characters; and what the rig does in the world."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Vector
from operators_help import (
    activate,
    assert_follows,
    assert_same_keys,
    call,
    curves_of,
    errors_by_role,
    keys_of,
    load,
    settled,
    solved,
    world_path,
)
from snapshot import diff

KINDS = ("SKIER", "SNOWBOARDER", "CYCLIST")
CALM = {"SKIER": "Cruising", "SNOWBOARDER": "Cruising", "CYCLIST": "Touring"}
MILLIMETRE = 1e-3

# What a Blender without Poise shows: world places of bones at some frames.
READ = """
import json, sys
import bpy
path, name, bones, frames = json.loads(sys.argv[1])
bpy.ops.wm.open_mainfile(filepath=path)
assert not dir(bpy.ops.poise), "Poise is installed"
rig, scene = bpy.data.objects[name], bpy.context.scene
places = []
for frame in frames:
    scene.frame_set(int(frame // 1), subframe=frame % 1)
    pose = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    places.append([list(pose.matrix_world @ pose.pose.bones[b].head) for b in bones])
print("PLACES" + json.dumps(places))
"""


@pytest.mark.parametrize("kind", ["SKIER", "CYCLIST"])
def test_an_animators_steps_in_order(scene, kind, tmp_path):
    """Add, preset, tweak, bake, look around, edit, clear, render, save, reload, bake again."""
    scene.cursor.location = (3.0, 2.0, 1.0)
    # An empty scene and nothing selected is a fine start.
    assert bpy.ops.poise.character_add(kind=kind) == {"FINISHED"}
    rig = bpy.context.object
    assert rig.select_get() and rig.type == "ARMATURE" and bpy.context.mode == "OBJECT"
    np.testing.assert_allclose(rig.matrix_world.translation, scene.cursor.location, atol=1e-6)
    motion = rig.poise.motion_object
    assert rig.poise.motion == "TURNS"
    np.testing.assert_allclose(motion.matrix_world.translation, (3.0, 2.0, 1.0), atol=1e-6)

    # As it comes it bakes without a warning.
    rig.poise.settings.frame_end = 61
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert [p.message for p in motion.poise_motion.problems if p.severity != "INFO"] == []
    assert_follows(motion)

    bpy.ops.poise.preset_apply(name=CALM[kind])
    rig.poise.turns.sharpness = radians(22.0)
    rig.poise.turns.keyframe_insert("sharpness", frame=1)
    rig.poise.turns.sharpness = radians(30.0)
    rig.poise.turns.keyframe_insert("sharpness", frame=61)
    rig.poise.settings.key_mode = "SPARSE"
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_follows(motion, frames=[0, 7, 15.5, 31, 44.5, 60])
    assert bpy.ops.poise.bake_check() == {"FINISHED"}

    # Around it: snow, track, markers, camera.
    for operator in ("slope_add", "trail_add", "markers_add", "chase_camera_add"):
        assert call(operator)() == {"FINISHED"}, operator
    assert scene.camera is not None and motion.poise_motion.trail is not None

    # A movie, and moments on a sheet; render settings stay.
    scene.render.resolution_x, scene.render.resolution_y = 96, 64
    scene.render.engine = "CYCLES"
    before = settled()
    movie = tmp_path / "turns.mp4"
    rig.poise.settings.frame_end = 3
    short = settled()
    assert bpy.ops.poise.playblast(
        filepath=str(movie), percentage=100.0, contact_sheet=True
    ) == {"FINISHED"}
    assert diff(short, settled(), [r"^images", r"render_layers"]) == []
    rig.poise.settings.frame_end = 61
    assert diff(before, settled(), [r"^images"]) == []
    assert movie.stat().st_size > 500 and movie.with_suffix(".png").stat().st_size > 500

    # One key by hand: noticed, and kept as a layer on top.
    keys = keys_of(curves_of(rig))
    path = 'pose.bones["head"].rotation_quaternion'
    curve = next(c for c in curves_of(rig) if c.data_path == path)
    curve.keyframe_points[2].co.y += 0.2
    with pytest.raises(RuntimeError, match="Keys of head on .* were edited since the last bake"):
        bpy.ops.poise.bake()
    assert bpy.ops.poise.bake(edited_keys="KEEP_EDITS") == {"FINISHED"}
    assert motion.poise_motion.edits_action is not None
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert motion.poise_motion.trail is None and not scene.timeline_markers
    assert rig.animation_data.action is None and not rig.animation_data.nla_tracks
    # Clear leaves the figure in its rest pose.
    scene.frame_set(30)
    pelvis = rig.pose.bones["pelvis"]
    assert pelvis.location.length < 1e-6

    # Saved and loaded, it bakes the same again.
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_same_keys(keys_of(curves_of(rig)), keys)
    path = str(tmp_path / "shot.blend")
    name = rig.name
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects[name]
    assert_same_keys(keys_of(curves_of(rig)), keys)
    activate(rig)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_same_keys(keys_of(curves_of(rig)), keys)
    assert_follows(rig.poise.motion_object)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key_mode", ["DENSE", "SPARSE"])
def test_a_baked_file_plays_without_poise(scene, kind, key_mode, tmp_path):
    """Opened in a Blender that never had Poise, in a process and a profile of its own."""
    rig, motion = load(kind)
    motion.poise_motion.key_mode = key_mode
    bpy.ops.poise.bake()
    bones = ["root", "pelvis", "head", "hand.L", "foot.R", "DEF-shin.L"]
    frames = [1, 30, 9.5, 18, 37, 2]
    wanted = np.stack([world_path(rig, bone, frames) for bone in bones], axis=1)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    job = json.dumps([path, rig.name, bones, frames])
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path / "profile")}
    run = subprocess.run(
        [sys.executable, "-c", READ, job], env=environment, capture_output=True, text=True
    )
    line = next((s for s in run.stdout.splitlines() if s.startswith("PLACES")), None)
    assert line is not None, run.stderr[-2000:]
    np.testing.assert_allclose(json.loads(line.removeprefix("PLACES")), wanted, atol=1e-6)


def test_disabling_poise_changes_no_picture(scene, poise):
    """The add-on switched off in the running Blender: the same places."""
    rig, _motion = load()
    bpy.ops.poise.bake()
    wanted = world_path(rig, "head", [1, 12, 30])
    bpy.ops.preferences.addon_disable(module=poise.__name__)
    try:
        rig = bpy.data.objects["Skier"]
        np.testing.assert_allclose(world_path(rig, "head", [1, 12, 30]), wanted, atol=1e-7)
    finally:
        bpy.ops.preferences.addon_enable(module=poise.__name__)
    # Switched on again, everything that was set is there.
    assert bpy.data.objects["Skier"].poise.settings.frame_end == 37
    assert bpy.ops.poise.bake() == {"FINISHED"}


# -- the rig in the world --------------------------------------------------------------------


def _matrix(rig, bone, frame):
    scene = bpy.context.scene
    whole = int(np.floor(frame))
    scene.frame_set(whole, subframe=frame - whole)
    pose = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(pose.matrix_world @ pose.pose.bones[bone].matrix), pose


def _lowest_edge(rig, bone, frame, half, normal, origin, rest):
    """Height over the ground of the lower edge of a ski or board, under the foot."""
    matrix, _pose = _matrix(rig, bone, frame)
    # The bone's rest frame against character space: +X is the figure's left.
    left = (matrix[:3, :3] @ rest.T)[:, 0]
    left = left / np.linalg.norm(left)
    edges = [matrix[:3, 3] + side * half * left for side in (1.0, -1.0)]
    return min(float((edge - origin) @ normal) for edge in edges)


@pytest.mark.parametrize("preset", ["Carving", "Beginner"])
@pytest.mark.parametrize(("kind", "bones"), [("SKIER", ("ski.L", "ski.R")),
                                             ("TELEMARK", ("ski.L", "ski.R")),
                                             ("SNOWBOARDER", ("board",))])
@pytest.mark.parametrize("key_mode", ["DENSE", "SPARSE"])
def test_edges_are_on_the_snow(scene, kind, bones, preset, key_mode):
    """On a slope, turned and moved: the lower edge never leaves the plane, nor cuts into it."""
    rig, motion = load(kind, frames=61)
    bpy.ops.poise.preset_apply(name=preset)
    motion.poise_motion.turns.slope = radians(18.0)
    motion.poise_motion.key_mode = key_mode
    motion.location = (5.0, -3.0, 2.0)
    motion.rotation_euler.z = 0.8
    bpy.context.view_layer.update()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    done = solved(motion)
    # The plane from the settings: 18 degrees down the way the motion faces.
    facing = np.array([np.sin(0.8), -np.cos(0.8), 0.0])
    normal = np.sin(radians(18.0)) * facing + np.array([0.0, 0.0, np.cos(radians(18.0))])
    np.testing.assert_allclose(done.motion.normal[0], normal, atol=1e-6)
    origin = np.array(motion.matrix_world.translation)
    half = done.job.figure.equipment["board_width" if kind == "SNOWBOARDER" else "ski_width"] / 2.0
    # Dense keys are joined by straight lines: half-way the path sags by up to a few mm.
    frames = np.arange(1, 62) if key_mode == "DENSE" else np.arange(1, 61.01, 0.5)
    for bone in bones:
        rest = np.array(rig.data.bones[bone].matrix_local)[:3, :3]
        heights = [_lowest_edge(rig, bone, f, half, normal, origin, rest) for f in frames]
        limit = MILLIMETRE if key_mode == "DENSE" else 2 * MILLIMETRE
        assert np.abs(heights).max() < limit, (bone, np.min(heights), np.max(heights))


@pytest.mark.parametrize("preset", ["Short Turns", "Slalom", "Carving"])
@pytest.mark.parametrize("key_mode", ["DENSE", "SPARSE"])
def test_planted_poles_stand_still(scene, preset, key_mode):
    """At every subframe of a plant the tip is where it was planted: on the snow, not dragged."""
    rig, motion = load(frames=97)
    bpy.ops.poise.preset_apply(name=preset)
    motion.poise_motion.key_mode = key_mode
    assert bpy.ops.poise.bake() == {"FINISHED"}
    done = solved(motion)
    contacts = [c for c in done.tracks.contacts if c.role.startswith("pole_tip")]
    assert len(contacts) >= 2
    normal, origin = done.motion.normal[0], np.array(motion.matrix_world.translation)
    for contact in contacts:
        side = contact.role[-1]
        place = np.asarray(contact.position)
        assert abs((place - origin) @ normal) < MILLIMETRE
        first, last = 1 + 24.0 * contact.start, 1 + 24.0 * contact.end
        frames = np.linspace(first, last, 7)
        for frame in frames:
            _control, pose = _matrix(rig, f"pole_tip.{side}", frame)
            for bone, end in ((f"pole_tip.{side}", "head"), (f"pole.{side}", "tail")):
                point = np.array(pose.matrix_world @ getattr(pose.pose.bones[bone], end))
                off = np.linalg.norm(point - place)
                assert off < 2 * MILLIMETRE, (bone, frame, off)


@pytest.mark.parametrize("kind", KINDS)
def test_the_figure_goes_where_the_physics_says(scene, kind):
    """Speed of the body, and turns to the side it leans to, read from the rig alone."""
    rig, motion = load(kind, frames=121, speed=9.0, frequency=0.4, sharpness=radians(25.0))
    bpy.ops.poise.bake()
    frames = np.arange(1, 122)
    pelvis, foot = world_path(rig, "pelvis", frames), world_path(rig, "root", frames)
    speed = np.linalg.norm(np.diff(pelvis, axis=0), axis=1) * 24.0
    assert abs(speed.mean() - 9.0) < 0.6
    # Four and a half half turns in five seconds: the lean changes its side as often.
    way = np.diff(foot, axis=0)
    left = np.stack((-way[:, 1], way[:, 0], 0 * way[:, 0]), axis=1)
    left /= np.linalg.norm(left, axis=1, keepdims=True)
    side = np.einsum("ni,ni->n", (pelvis - foot)[:-1], left)
    heading = np.unwrap(np.arctan2(way[:, 1], way[:, 0]))
    turning = np.gradient(heading)
    strong = np.abs(side) > 0.1
    assert strong.sum() > 60
    # Leaning left, the track bends to the left (anticlockwise), but for a moment's lag.
    assert np.mean(np.sign(side[strong]) == np.sign(turning[strong])) > 0.9
    changes = np.sum(np.diff(np.sign(side[np.abs(side) > 0.02])) != 0)
    assert changes in (3, 4)


@pytest.mark.parametrize(
    ("kind", "preset"),
    [
        ("SKIER", "Short Turns"), ("SNOWBOARDER", "Carving"), ("CYCLIST", "Criterium"),
    ],
)
def test_sparse_keys_are_nearer_between_frames(scene, kind, preset):
    """Half-way between frames every part of the body is nearer to the motion than with a key
    on every frame, though there are fewer keys."""
    errors, counts = {}, {}
    for key_mode in ("DENSE", "SPARSE"):
        rig, motion = load(kind, frames=61)
        bpy.ops.poise.preset_apply(name=preset)
        motion.poise_motion.key_mode = key_mode
        bpy.ops.poise.bake()
        errors[key_mode] = errors_by_role(motion, frames=np.arange(0.5, 60))
        counts[key_mode] = sum(len(keys) for keys in keys_of(curves_of(rig)).values())
    assert counts["SPARSE"] < 0.8 * counts["DENSE"]
    for role, (far, wide) in errors["DENSE"].items():
        sparse = errors["SPARSE"][role]
        assert sparse[0] <= max(far, 0.5 * MILLIMETRE), (role, sparse, far)
        # Directions add up along the spine: a tenth of a degree is nothing.
        assert sparse[1] <= max(wide, radians(0.1)), (role, sparse, wide)


@pytest.mark.parametrize("kind", KINDS)
def test_controls_can_be_posed_after_clear(scene, kind):
    """Nothing of the bake is in the way of a hand on the controls."""
    rig, _motion = load(kind)
    bpy.ops.poise.bake()
    bpy.ops.poise.bake_clear()
    bpy.context.scene.frame_set(5)
    bones = ("pelvis", "DEF-pelvis", "shin.L", "foot.L", "DEF-head")
    before = {bone: world_path(rig, bone, [5])[0] for bone in bones}
    # Down by 12 cm, in the pelvis's own axes.
    down = rig.data.bones["pelvis"].matrix_local.to_3x3().inverted() @ Vector((0, 0, -0.12))
    rig.pose.bones["pelvis"].location += down
    bpy.context.view_layer.update()
    moved = {
        bone: np.array(rig.matrix_world @ rig.pose.bones[bone].head) - before[bone]
        for bone in bones
    }
    for bone in ("pelvis", "DEF-pelvis", "DEF-head"):
        np.testing.assert_allclose(moved[bone], (0, 0, -0.12), atol=MILLIMETRE, err_msg=bone)
    # The feet stay, so the knees bend.
    assert np.linalg.norm(moved["foot.L"]) < MILLIMETRE
    assert np.linalg.norm(moved["shin.L"]) > 0.05


@pytest.mark.parametrize("kind", ["CYCLIST", "HORSE", "LUXO"])
def test_a_character_is_removed_with_all_that_came_with_it_and_no_more(scene, kind):
    hat = bpy.data.objects.new("Hat", bpy.data.meshes.new("Hat"))
    scene.collection.objects.link(hat)
    scene.frame_end = 20
    for _ in range(2):  # the first may leave shapes of controls, which all characters share
        before = settled()
        assert bpy.ops.poise.character_add(kind=kind) == {"FINISHED"}
        rig = bpy.context.object
        if kind != "LUXO":
            assert bpy.ops.poise.bake() == {"FINISHED"}
        hat.parent, hat.location = rig, (0.0, 0.0, 2.0)
        bpy.context.view_layer.update()
        place = hat.matrix_world.copy()
        assert bpy.ops.poise.character_remove() == {"FINISHED"}
        assert hat.parent is None
        np.testing.assert_allclose(hat.matrix_world, place, atol=1e-6)
        hat.matrix_world.identity()
        hat.location = (0.0, 0.0, 0.0)
    assert diff(before, settled()) == []


def test_the_motion_object_is_selected_beside_its_character(scene):
    rig, motion = load("SKIER")
    assert bpy.ops.poise.motion_select() == {"FINISHED"}
    assert motion.select_get() and rig.select_get() and bpy.context.object == rig
    motion.hide_set(True)
    assert bpy.ops.poise.motion_select() == {"FINISHED"}
    assert motion.select_get()
