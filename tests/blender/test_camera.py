# SPDX-License-Identifier: GPL-3.0-or-later
"""The chase camera: what is in the picture, how it moves; and the playblast."""

from math import radians

import bpy
import numpy as np
import pytest
from bpy_extras.object_utils import world_to_camera_view
from mathutils import Vector
from snapshot import diff, snapshot

FPS = 24


def character(kind="SKIER", seconds=5, **turns):
    bpy.ops.poise.character_add(kind=kind)
    rig = bpy.context.active_object
    rig.poise.settings.frame_end = 1 + seconds * FPS
    for name, value in turns.items():
        setattr(rig.poise.turns, name, value)
    return rig


def seen(scene, rig, frames):
    """Picture coordinates (0 to 1) of head top and feet, one row for each frame."""
    rows = []
    for frame in frames:
        scene.frame_set(frame)
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        bones, place = posed.pose.bones, posed.matrix_world
        points = [place @ bones["head"].tail, place @ bones["foot.L"].head,
                  place @ bones["foot.R"].head]
        rows.append([tuple(world_to_camera_view(scene, scene.camera, p)) for p in points])
    return np.array(rows)


@pytest.mark.parametrize(
    "kind, yaw, slope, lean, frequency",
    [
        ("SKIER", 0.0, 12.0, 25.0, 0.3),
        ("SKIER", 2.1, 30.0, 35.0, 0.5),
        ("SNOWBOARDER", -1.2, 0.0, 20.0, 0.4),
        ("SKIER", 0.0, 12.0, 12.0, 1.0),
    ],
)
def test_the_figure_fills_about_a_third_and_stays_in_the_picture(
    scene, kind, yaw, slope, lean, frequency
):
    rig = character(kind, slope=radians(slope), sharpness=radians(lean), frequency=frequency)
    rig.poise.motion_object.rotation_euler.z = yaw
    bpy.context.view_layer.update()
    bpy.ops.poise.bake()
    bpy.ops.poise.chase_camera_add()
    assert scene.camera == rig.poise.settings.camera
    rows = seen(scene, rig, range(1, 2 + 5 * FPS, 6))
    assert (rows[..., 2] > 0.0).all(), "in front of the camera"
    assert rows[..., 0].min() > 0.08 and rows[..., 0].max() < 0.92
    assert rows[..., 1].min() > 0.08 and rows[..., 1].max() < 0.85
    # Head top to lower foot; a figure that leans and bends is not as tall as upright.
    tall = rows[:, 0, 1] - rows[:, 1:, 1].min(axis=1)
    assert 0.24 < np.median(tall) < 0.40


def test_the_slopes_horizon_is_in_the_picture(scene):
    rig = character(slope=radians(20.0))
    bpy.ops.poise.chase_camera_add()
    camera = rig.poise.settings.camera
    for frame in (1, 60, 121):
        scene.frame_set(frame)
        posed = camera.evaluated_get(bpy.context.evaluated_depsgraph_get())
        view = -posed.matrix_world.col[2].to_3d()
        # Where the slope meets the sky in the middle of the picture: the view's
        # direction laid onto the slope, very far away.
        normal = Vector((0.0, -np.sin(radians(20.0)), np.cos(radians(20.0))))
        far = posed.matrix_world.translation + 1e5 * (view - view.dot(normal) * normal)
        horizon = world_to_camera_view(scene, posed, far).y
        assert 0.5 < horizon < 0.85


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_a_long_run_is_seen_to_its_end(scene, unit):
    """From the start the end of the track, and the slope's end beyond it, are not clipped."""
    scene.unit_settings.scale_length = unit
    rig = character(seconds=90, speed=12.0 / unit)
    bpy.ops.poise.slope_add()
    bpy.ops.poise.chase_camera_add()
    camera = rig.poise.settings.camera
    scene.frame_set(1)
    ground = next(obj for obj in scene.objects if obj.name.endswith(" Slope"))
    far = max((Vector(corner) - camera.location).length for corner in ground.bound_box)
    assert far * unit > 1000.0
    assert camera.data.clip_end > far
    assert camera.data.clip_start < 0.2 / unit


def test_there_is_room_ahead(scene):
    rig = character()
    bpy.ops.poise.bake()
    bpy.ops.poise.chase_camera_add(side=radians(80.0))
    rows = seen(scene, rig, range(1, 122, 12))
    # From its left side, the skier goes to the left in the picture.
    assert rows[:, 0, 0].mean() > 0.52


def test_the_camera_is_calmer_than_the_skier(scene):
    from poise.addon import families, pipeline
    from poise.addon.shots import camera

    rig = character(frequency=0.5, sharpness=radians(30.0))
    here = pipeline.solve(pipeline.gather(bpy.context, rig.poise.motion_object))
    way = families.view_of(here.job).way(here)
    places, targets = camera.camera_path(
        way, camera.figure_middle(here), 1.78, camera.ChaseOptions(), radians(28.0)
    )
    step = float(here.motion.time[1])
    shaken = np.linalg.norm(np.diff(here.motion.position, 2, axis=0), axis=1).max() / step**2
    calm = np.linalg.norm(np.diff(places, 2, axis=0), axis=1).max() / step**2
    assert calm < 0.1 * shaken
    view = targets - places
    view /= np.linalg.norm(view, axis=1)[:, None]
    turning = np.linalg.norm(np.diff(view, axis=0), axis=1) / step
    assert np.degrees(turning.max()) < 12.0  # degrees a second


def test_a_straight_run_is_followed_at_the_same_distance(scene):
    rig = character(sharpness=0.0, slope=0.0, speed=8.0)
    bpy.ops.poise.chase_camera_add(fit=False, distance=10.0, height=2.0, side=0.0)
    camera = rig.poise.settings.camera
    for frame in (1, 50, 121):
        scene.frame_set(frame)
        place = camera.matrix_world.translation
        assert place.z == pytest.approx(2.0, abs=1e-3)
        assert place.x == pytest.approx(0.0, abs=1e-2)
        assert place.y == pytest.approx(10.0 - 8.0 * (frame - 1) / FPS, abs=2e-2)


def test_smoothing_keeps_straight_lines(scene):
    from poise.addon.shots.camera import smooth

    line = np.linspace(3.0, 9.0, 50)[:, None] * np.array((1.0, -2.0))
    assert smooth(line, 7.0) == pytest.approx(line, abs=1e-12)
    assert smooth(line[:3], 40.0) == pytest.approx(line[:3], abs=1e-12)
    wave = np.sin(np.arange(400) * 0.8)
    assert np.abs(smooth(wave, 8.0)[50:-50]).max() < 1e-4


def test_running_it_again_renews_the_camera(scene):
    rig = character()
    bpy.ops.poise.chase_camera_add()
    first, action = rig.poise.settings.camera, rig.poise.settings.camera.animation_data.action
    counts = len(bpy.data.objects), len(bpy.data.cameras), len(bpy.data.actions)
    rig.poise.settings.frame_end = 49
    bpy.ops.poise.chase_camera_add(lens=80.0)
    assert rig.poise.settings.camera == first
    assert first.animation_data.action == action
    assert first.data.lens == 80.0
    assert (len(bpy.data.objects), len(bpy.data.cameras), len(bpy.data.actions)) == counts
    assert tuple(action.frame_range) == (1.0, 49.0)


def test_clearing_gives_the_scene_its_camera_back(scene):
    rig = character(seconds=1)
    own = bpy.data.objects.new("Mine", bpy.data.cameras.new("Mine"))
    scene.collection.objects.link(own)
    scene.camera = own
    bpy.ops.poise.bake()
    before = snapshot()
    bpy.ops.poise.chase_camera_add()
    assert scene.camera != own
    from poise.addon.shots.trail import remove_helpers

    remove_helpers(rig.poise.motion_object)
    assert scene.camera == own
    assert diff(before, snapshot()) == []


def test_a_playblast_writes_every_frame_and_changes_nothing(scene, tmp_path, monkeypatch):
    from poise.addon.shots import playblast

    monkeypatch.setattr(playblast, "SHEET", (4, 3, 96))
    rig = character(seconds=1)
    rig.poise.settings.frame_start, rig.poise.settings.frame_end = -1, 1
    bpy.ops.poise.bake()
    scene.render.image_settings.file_format = "JPEG"
    scene.render.image_settings.quality = 37
    scene.frame_set(7)
    before = snapshot()
    movie, sheet = tmp_path / "run.mp4", tmp_path / "run.png"
    bpy.ops.poise.playblast(filepath=str(movie), percentage=10.0, contact_sheet=True)
    # The scene has no camera: one is made and taken away again.
    rendered = {name for name in bpy.data.images.keys() if name != "Render Result"}
    assert not rendered
    after = snapshot()
    assert [line for line in diff(before, after) if "Render Result" not in str(line)] == []
    clip = bpy.data.movieclips.load(str(movie))
    assert clip.frame_duration == 3  # from -1 to 1
    assert tuple(clip.size) == (192, 108)
    picture = bpy.data.images.load(str(sheet))
    assert tuple(picture.size) == (3 * 96, 54)  # a picture of each
    pixels = np.array(picture.pixels).reshape(54, 3 * 96, 4)
    assert np.ptp(pixels[..., 0]) > 0.25
    # The movie has the colours of the pictures.
    shot = bpy.data.images.load(str(movie))
    seen = np.array(shot.pixels).reshape(-1, 4).mean(axis=0)
    assert seen == pytest.approx(pixels.reshape(-1, 4).mean(axis=0), abs=0.02)


def test_the_movie_sees_what_markers_bind(scene, tmp_path, capfd, monkeypatch):
    """Timeline markers switch the camera, as in Blender's own renders; the scene's comes back."""
    from poise.addon.shots import playblast

    rig = character(seconds=1)
    bpy.ops.poise.bake()
    for frame, tilt in ((1, 0.0), (2, 180.0)):  # down at the skier, up at the sky
        camera = bpy.data.objects.new(f"Shot {frame}", bpy.data.cameras.new(f"Shot {frame}"))
        camera.location, camera.rotation_euler.x = (0.0, 0.0, 3.0), radians(tilt)
        scene.collection.objects.link(camera)
        scene.timeline_markers.new(f"Cut {frame}", frame=frame).camera = camera
    scene.camera = own = scene.timeline_markers[1].camera
    sheet = tmp_path / "cut.png"
    monkeypatch.setattr(playblast, "SHEET", (2, 1, 96))
    for _step in playblast.sheet_steps(scene, sheet, 1, 2):
        pass
    assert scene.camera == own
    pixels = np.array(bpy.data.images.load(str(sheet)).pixels).reshape(54, 2, 96, 4)
    first, second = (pixels[:, shot, :, :3] for shot in (0, 1))
    assert np.ptp(first[..., 0]) > 0.2, "the skier from above"
    assert np.ptp(second, axis=(0, 1)).max() < 0.02, "nothing but sky"
    # A chase camera is told of who takes the picture from it.
    capfd.readouterr()
    bpy.ops.poise.chase_camera_add()
    said = capfd.readouterr().out
    assert "Cut 1, Cut 2" in said and "Bind Camera to Markers" in said
    assert "is the scene's camera" not in said
    for marker in scene.timeline_markers:
        marker.camera = rig.poise.settings.camera
    bpy.ops.poise.chase_camera_add()
    assert "is the scene's camera" in capfd.readouterr().out


def test_a_playblast_that_is_stopped_leaves_nothing_behind(scene, tmp_path):
    from poise.addon.shots import playblast
    from poise.addon.steps import part

    character(seconds=1)
    bpy.ops.poise.bake()
    bpy.ops.poise.chase_camera_add()
    before = snapshot()
    movie = tmp_path / "run.mp4"
    steps = part(playblast.movie_steps(scene, movie, 1, 25, 10.0), 0, 2)
    assert 0.0 < next(steps) < next(steps) < 0.05
    assert scene.render.engine == "BLENDER_WORKBENCH" and scene.frame_current == 2
    steps.close()
    assert not movie.exists() and not list(tmp_path.iterdir())
    assert [line for line in diff(before, snapshot()) if "Render Result" not in str(line)] == []


def test_the_movie_of_an_unsaved_file_outlives_blender(scene):
    """Blender empties the folder of its session, and no other, when it quits."""
    from pathlib import Path

    from poise.addon.shots import playblast

    motion = character(seconds=1).poise.motion_object
    assert not bpy.data.is_saved
    session = Path(bpy.app.tempdir).resolve()
    assert session not in playblast.movie_path(motion).resolve().parents


def test_a_playblast_needs_a_bake(scene, tmp_path):
    character(seconds=1)
    with pytest.raises(RuntimeError, match="not baked yet: click Bake to Rig"):
        bpy.ops.poise.playblast(filepath=str(tmp_path / "a.mp4"))
    assert not list(tmp_path.iterdir())


def test_a_playblast_that_cannot_be_written_says_so(scene, tmp_path):
    character(seconds=1)
    bpy.ops.poise.bake()
    (tmp_path / "file").write_text("")
    before = snapshot()
    with pytest.raises(RuntimeError, match="cannot be made"):
        bpy.ops.poise.playblast(filepath=str(tmp_path / "file" / "a.mp4"))
    assert diff(before, snapshot()) == []
