# SPDX-License-Identifier: GPL-3.0-or-later
"""Free-form motion on rigs: postures met at their frames, feet that stay, a mass that falls."""

from math import floor
from pathlib import Path

import bpy
import freeform_scenes
import numpy as np
import pytest
from freeform_scenes import person
from operators_help import activate, load, sentence
from poise.addon import compat, families, motions, pipeline
from poise.addon.families.freeform.clip import _standing
from poise.addon.families.freeform.gather import kept
from poise.addon.rigs import characters
from poise.solvers import rotations
from poise.solvers.freeform.body import links
from poise.solvers.freeform.choose import Clip

pytestmark = pytest.mark.usefixtures("scene")

FPS = 24.0
LEFT, RIGHT = "leg.L", "leg.R"
STAND = {LEFT: (0.10, -0.14, 0, 0), RIGHT: (-0.10, -0.14, 0, 0)}
THERE = {LEFT: (0.10, -0.64, 0, 0), RIGHT: (-0.10, -0.64, 0, 0)}
LIFTOFF, LANDING = 20, 31


def _figure(kind="BIPED", frames=53):
    rig, motion = load(kind, frames=frames)
    rig.poise.motion = "FREEFORM"
    return rig, motion


def _raised(feet, heel):
    return {name: (*place[:3], heel) for name, place in feet.items()}


def _jump(rig):
    """From both feet 0.5 m ahead: crouch, push over the toes, land on them, sink, stand."""
    person(rig, feet=STAND)
    freeform_scenes.add(rig, 1, "Stand")
    person(rig, at=(0, 0.04), feet=STAND, low=0.33, trunk=25, pitch=15, arms=(-40, -40))
    freeform_scenes.add(rig, 13, "Crouch")
    person(rig, at=(0, -0.12), feet=_raised(STAND, 45), low=-0.06, arms=(120, 120))
    freeform_scenes.add(rig, LIFTOFF, "Push")
    person(rig, at=(0, -0.40), high=1.25, hips=(35, 35), knees=(60, 60), arms=(140, 140))
    freeform_scenes.add(rig, 26, "Air", air=True)
    person(rig, at=(0, -0.58), feet=_raised(THERE, 15), low=0.06, trunk=10, arms=(70, 70))
    freeform_scenes.add(rig, LANDING, "Land")
    person(rig, at=(0, -0.52), feet=THERE, low=0.30, trunk=28, pitch=12, arms=(-5, -5))
    freeform_scenes.add(rig, 37, "Sink")
    person(rig, at=(0, -0.50), feet=THERE)
    freeform_scenes.add(rig, 53, "Stand 2")


def _solved(motion):
    return pipeline.solve(pipeline.gather(bpy.context, motion))


def _seen(rig, frame, bones):
    """Bone -> (4, 4) in the world, as Blender evaluates it."""
    bpy.context.scene.frame_set(floor(frame), subframe=frame % 1.0)
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {b: np.array(evaluated.matrix_world @ evaluated.pose.bones[b].matrix) for b in bones}


def _bone(link):
    """Bone of a person that a link of its body turns with."""
    return link.replace("elbow_joint", "forearm")


def _centres(rig, frames):
    """(t, 3) of the mass of the rig's own bones."""
    body = freeform_scenes.body_of(rig)
    share = body.body.figure.masses / body.body.figure.masses.sum()
    centres = []
    for frame in frames:
        there = _seen(rig, frame, [_bone(name) for name in body.names])
        rest = {b: np.array(rig.data.bones[b].matrix_local) for b in there}
        centre = np.zeros(3)
        for k, name in enumerate(body.names):
            bone = _bone(name)
            turn = there[bone][:3, :3] @ rest[bone][:3, :3].T
            centre += share[k] * (there[bone][:3, 3] + turn @ body.body.figure.centres[k])
        centres.append(centre)
    return np.array(centres)


def test_a_jump_on_the_rig_stands_flies_and_lands():
    rig, motion = _figure()
    _jump(rig)
    postures = rig.poise.freeform.postures
    assert [p.standing for p in postures] == [(LEFT, RIGHT)] * 3 + [()] + [(LEFT, RIGHT)] * 3
    stood = {}
    for k in (0, 1, 2, 4, 5, 6):  # as they were posed
        rig.poise.freeform.posture_index = k
        assert bpy.ops.poise.posture_pose() == {"FINISHED"}
        stood[postures[k].frame] = {
            b: np.array(rig.matrix_world @ rig.pose.bones[b].matrix)
            for b in ("pelvis", "toe.L", "head", "hand.R")
        }
    before = rig.animation_data is None or rig.animation_data.action is None
    assert before
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert not [p for p in motion.poise_motion.problems if p.severity == "ERROR"]
    for frame, bones in stood.items():
        now = _seen(rig, frame, bones)
        for bone, matrix in bones.items():
            np.testing.assert_allclose(now[bone][:3, 3], matrix[:3, 3], atol=2e-3, err_msg=bone)
    # Feet on the ground stay, between frames, too.
    for side in "LR":
        for frames in (np.arange(1.0, LIFTOFF + 0.1, 2.5), np.arange(LANDING, 53.1, 2.5)):
            toes = [_seen(rig, f, [f"toe.{side}"])[f"toe.{side}"] for f in frames]
            assert np.ptp([t[:3, 3] for t in toes], axis=0).max() < 1e-3
            assert np.ptp([t[:3, 2] for t in toes], axis=0).max() < 1e-2
    # The mass of the rig's own bones falls in the air.
    fall = np.diff(_centres(rig, np.arange(LIFTOFF, LANDING + 1)), 2, axis=0) * FPS**2
    np.testing.assert_allclose(fall, np.tile((0.0, 0.0, -9.81), (len(fall), 1)), atol=0.35)
    assert np.abs(fall.mean(axis=0) - (0.0, 0.0, -9.81)).max() < 0.03
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert rig.animation_data is None or rig.animation_data.action is None
    _require_on_terrain(rig, motion)


def _require_on_terrain(rig, motion):
    """The same jump from a slope of 15 degrees onto a step: soles lie on the mesh, and between
    the two the mass falls freely."""
    slope, step = np.tan(np.radians(15.0)), 0.25

    def height(x, y):
        return np.where(y > -0.4, slope * x, step + 0.0 * x)

    x, y = np.meshgrid((-3.0, 3.0), (3.0, -0.39, -0.41, -4.0), indexing="ij")
    points = np.stack((x, y, height(x, y)), axis=2).reshape(-1, 3)
    mesh = bpy.data.meshes.new("Hill")
    mesh.from_pydata(points.tolist(), [], [(k, k + 4, k + 5, k + 1) for k in range(3)])
    hill = bpy.data.objects.new("Hill", mesh)
    bpy.context.scene.collection.objects.link(hill)
    bpy.context.view_layer.update()
    level = pipeline.gather(bpy.context, motion)
    rig.poise.freeform.terrain = hill
    assert families.led_by(motion) == [hill]
    solved = _solved(motion)
    # Bakes of earlier builds knew no terrain, and nothing has changed while there is none.
    assert pipeline.digests(level).keys() == pipeline.digests(solved.job).keys()
    assert "terrain" not in pipeline.digests(level)
    assert pipeline.changed_inputs(solved.job, pipeline.stored_inputs(level)) == ["Terrain"]
    assert pipeline.changed_inputs(level, pipeline.stored_inputs(solved.job)) == ["Terrain"]
    assert not [p.message for p in solved.problems if p.severity == "ERROR"]
    tilt = np.array((-slope, 0.0, 1.0)) / np.hypot(slope, 1.0)
    for frame, up in ((1, tilt), (10, tilt), (LANDING + 5, (0, 0, 1.0)), (53, (0, 0, 1.0))):
        row = 2 * (frame - 1)
        for leg in solved.job.figure.legs:
            tracks = solved.tracks
            place, turn = tracks.position[leg.tip][row], tracks.rotation[leg.tip][row]
            above = rotations.rotate(turn, np.array((0.0, 0.0, 1.0)))
            np.testing.assert_allclose(above, up, atol=1e-2)
            sole = place - solved.job.figure.joints[leg.tip][2] * above
            assert sole[2] == pytest.approx(float(height(*sole[:2])), abs=1e-3), (frame, leg.name)
    (start, end), = solved.motion.flights
    rows = (solved.motion.times >= start) & (solved.motion.times <= end)
    fall = np.diff(solved.motion.centre[rows, 2], 2) * (2.0 * FPS) ** 2
    np.testing.assert_allclose(fall, -9.81, atol=1e-5)


def _require_smooth(parts):
    """Places, turns and the rates that families know of each other go on to 1e-6, but for what
    stands: that stays."""
    for one, other in zip(parts[:-1], parts[1:], strict=True):
        end = families.family_of(one.job).ends(one)
        near = other.near
        t = near.time[:3] - near.time[0]
        weights = np.array([-1.5, 2.0, -0.5]) / t[1]
        for role in end.place.keys() & near.position.keys():
            place = end.place[role]
            values = near.position[role][:3]
            assert np.abs(values[0] - place).max() < 1e-6, role
            np.testing.assert_allclose(other.tracks.position[role][0], values[0], atol=1e-9)
            if role in end.standing:
                assert np.abs(weights @ values).max() < 1e-6, role
            else:
                np.testing.assert_allclose(
                    weights @ values, end.velocity[role], atol=1e-6, err_msg=role
                )
        for role in end.turn.keys() & near.rotation.keys():
            turn = end.turn[role]
            step = rotations.to_rotation_vector(
                rotations.multiply(near.rotation[role][:3], rotations.conjugate(turn))
            )
            assert np.abs(step[0]).max() < 1e-6, role
            if role not in end.standing:
                np.testing.assert_allclose(
                    weights @ step, end.spinning[role], atol=1e-5, err_msg=role
                )


def test_a_gait_leads_into_a_leap_and_out_again():
    rig, first = load("BIPED", frames=50)
    rig.poise.gait.speed = 1.4
    activate(rig)
    bpy.ops.poise.motion_add(kind="FREEFORM")
    leap = rig.poise.motion_object
    assert leap.poise_motion.after == first and leap.poise_motion.frame_start == 50
    leap.poise_motion.frame_end = 105
    rig.poise.freeform.end_speed = 1.2
    left, right = {LEFT: (0.1, -0.55, 0, 0)}, {RIGHT: (-0.1, -1.75, 0, 0)}
    person(rig, at=(0.05, -0.45), feet=left, low=0.2, trunk=20, hips=(0, 10), knees=(0, 60))
    freeform_scenes.add(rig, 62, "Crouch")
    person(rig, at=(0.05, -0.75), feet=_raised(left, 45), high=0.95, hips=(0, 60), knees=(0, 60))
    freeform_scenes.add(rig, 68, "Push")
    person(rig, at=(-0.05, -1.6), feet=_raised(right, 20), high=0.95, hips=(-30, 0),
           knees=(20, 0))
    freeform_scenes.add(rig, 79, "Land")
    person(rig, at=(-0.05, -1.75), feet=right, low=0.2, hips=(-10, 0), knees=(70, 0))
    freeform_scenes.add(rig, 87, "Sink")
    person(rig, at=(0.0, -1.95), feet=_raised(right, 30) | {LEFT: (0.1, -2.2, 0, 0)}, low=0.06)
    freeform_scenes.add(rig, 105, "Stride")
    bpy.ops.poise.motion_add(kind="GAIT")
    last = rig.poise.motion_object
    last.poise_motion.frame_end = last.poise_motion.frame_start + 24
    parts = [_solved(motion) for motion in (first, leap, last)]
    _require_smooth(parts)
    for one, other in zip(parts[:-1], parts[1:], strict=True):
        a, b = one.tracks, other.tracks
        for role in ("root", "pelvis", "foot.L", "foot.R", "hand.L", "hand.R"):
            ends = a.position[role][-3:], b.position[role][:3]
            assert np.abs(ends[0][-1] - ends[1][0]).max() < 1e-6, role
        for role in ("root", "pelvis"):
            before = 3.0 * a.position[role][-1] - 4.0 * a.position[role][-2] + a.position[role][-3]
            after = -3.0 * b.position[role][0] + 4.0 * b.position[role][1] - b.position[role][2]
            step = float(a.time[-1] - a.time[-2])
            assert np.abs(before - after).max() / (2.0 * step) < 0.05, role
    speed = np.linalg.norm(np.diff(parts[1].tracks.position["pelvis"][:, :2], axis=0), axis=1)
    assert speed[0] * 2.0 * FPS == pytest.approx(1.4, abs=0.1)
    assert speed[-1] * 2.0 * FPS == pytest.approx(1.2, abs=0.08)


def test_a_ski_run_leads_over_a_leap_into_another_one():
    """Skis bear no one in the air: the skier falls as thrown, and skis on from where that ends."""
    rig, first = load("SKIER", frames=37, speed=8.0)
    activate(rig)
    bpy.ops.poise.motion_add(kind="FREEFORM")
    leap = rig.poise.motion_object
    leap.poise_motion.frame_end = 52
    high = float(freeform_scenes.body_of(rig).figure.joints["pelvis"][2])
    for frame, bent in ((44, 45), (52, 5)):
        person(rig, high=high, hips=(bent, bent), knees=(bent, bent), pitch=0.2 * bent)
        freeform_scenes.add(rig, frame, "", air=True)
    bpy.ops.poise.motion_add(kind="TURNS")
    last = rig.poise.motion_object
    last.poise_motion.frame_end = last.poise_motion.frame_start + 24
    parts = [_solved(motion) for motion in (first, leap, last)]
    _require_smooth(parts)
    for one, other in zip(parts[:-1], parts[1:], strict=True):
        for role in ("root", "pelvis", "ski.L", "ski.R", "hand.L", "pole_tip.R"):
            a, b = one.tracks.position[role], other.tracks.position[role]
            assert np.abs(a[-1] - b[0]).max() < 1e-6, role
            step = float(one.tracks.time[-1] - one.tracks.time[-2])
            before = (3.0 * a[-1] - 4.0 * a[-2] + a[-3]) / (2.0 * step)
            after = (-3.0 * b[0] + 4.0 * b[1] - b[2]) / (2.0 * step)
            assert np.abs(before - after).max() < 0.2, role
    # Before what the pose differs by decays: the mass of the motion itself.
    centre = parts[1].motion.centre
    fall = np.diff(centre, 2, axis=0) * (2.0 * FPS) ** 2
    np.testing.assert_allclose(fall, np.tile((0, 0, -9.81), (len(fall), 1)), atol=1e-5)


def test_a_clip_gives_postures_that_rebuild_it():
    rig, motion = _figure()
    _jump(rig)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    clip = rig.animation_data.action.copy()
    clip.name = "Clip"
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert bpy.ops.poise.postures_from_action(action="Clip", count=8) == {"FINISHED"}
    settings = rig.poise.freeform
    frames = [p.frame for p in settings.postures]
    assert len(frames) == 8 and frames[0] == 1.0 and frames[-1] == 53.0
    air = [p.frame for p in settings.postures if not p.standing]
    assert air and min(air) > LIFTOFF - 2 and max(air) < LANDING + 2
    lines = [line.partition(": ")[::2] for line in settings.lost.splitlines()]
    lost = {part: float(off.split("°")[0]) for part, off in lines if "°" in off}
    assert set(lost) == {"Pelvis", "Trunk", "Legs", "Arms"} and max(lost.values()) < 5.0
    # What is changed in the clip is read anew, and nothing else.
    source = [p.source for p in settings.postures]
    assert source[0] == "Clip, frame 1" and len(set(source)) == 8
    before = pipeline.gather(bpy.context, motion).poses.rotation["head"]
    turn = rotations.about_x(0.3)
    for curve in compat.action_fcurves(clip, clip.slots[0]):
        if curve.data_path == 'pose.bones["head"].rotation_quaternion':
            key = next(k for k in curve.keyframe_points if round(k.co.x) == 53)
            key.co.y = turn[curve.array_index]
            curve.update()
    assert bpy.ops.poise.posture_update() == {"FINISHED"}
    now = pipeline.gather(bpy.context, motion).poses.rotation["head"]
    same = np.abs((before * now).sum(axis=1)) > 1.0 - 1e-6
    assert same[:-1].all() and not same[-1]
    assert "is the bake" in _refused_bake(motion)
    assert "no action Nothing" in _refusal(bpy.ops.poise.postures_from_action, action="Nothing")


def _refused_bake(motion):
    assert bpy.ops.poise.bake() == {"FINISHED"}
    name = motion.poise_motion.bake_action.name
    return _refusal(bpy.ops.poise.postures_from_action, action=name)


def test_the_list_of_postures_is_edited():
    rig, motion = _figure()
    settings = rig.poise.freeform
    for frame, low in ((1, 0.0), (25, 0.1), (12, 0.2)):
        person(rig, feet=STAND, low=low)
        freeform_scenes.add(rig, frame, "")
    assert [p.frame for p in settings.postures] == [1.0, 12.0, 25.0]
    person(rig, feet=STAND, low=0.3)  # another pose where there is one already
    freeform_scenes.add(rig, 12, "")
    assert len(settings.postures) == 3
    settings.posture_index = 1
    bpy.context.scene.frame_set(40)
    assert bpy.ops.poise.posture_duplicate() == {"FINISHED"}
    assert [p.frame for p in settings.postures] == [1.0, 12.0, 25.0, 40.0]
    poses = pipeline.gather(bpy.context, motion).poses.position["pelvis"][:, 2]
    np.testing.assert_allclose(poses - poses[0], [0.0, -0.3, -0.1, -0.3], atol=1e-4)
    settings.posture_index = 2
    assert bpy.ops.poise.posture_move(direction=-1) == {"FINISHED"}
    assert [p.frame for p in settings.postures] == [1.0, 12.0, 25.0, 40.0]
    poses = pipeline.gather(bpy.context, motion).poses.position["pelvis"][:, 2]
    np.testing.assert_allclose(poses - poses[0], [0.0, -0.1, -0.3, -0.3], atol=1e-4)
    held = [name for name in motion.keys() if name.startswith("body_posture_")]
    assert bpy.ops.poise.posture_remove() == {"FINISHED"}
    assert len(settings.postures) == 3
    now = [name for name in motion.keys() if name.startswith("body_posture_")]
    assert len(now) == len(held) - 1


def test_a_list_of_postures_is_saved_and_loaded(tmp_path):
    rig, motion = _figure()
    _jump(rig)
    rig.poise.freeform.postures[3].turns = (1, 0, -2)
    path = str(tmp_path / "jump.json")
    assert bpy.ops.poise.postures_export(filepath=path) == {"FINISHED"}
    before = pipeline.gather(bpy.context, motion)
    activate(rig)
    bpy.ops.poise.motion_add(kind="FREEFORM")
    other = rig.poise.motion_object
    other.poise_motion.after = None
    assert bpy.ops.poise.postures_import(filepath=path) == {"FINISHED"}
    settings = other.poise_motion
    settings.range_mode, settings.frame_start, settings.frame_end = "OWN", 1, 53
    after = pipeline.gather(bpy.context, other)
    assert (after.names, after.supports) == (before.names, before.supports)
    np.testing.assert_array_equal(after.turns, before.turns)
    np.testing.assert_array_equal(after.frames, before.frames)
    for role, place in before.poses.position.items():
        np.testing.assert_allclose(after.poses.position[role], place, atol=1e-6, err_msg=role)
    bpy.context.scene.frame_set(101)
    assert bpy.ops.poise.postures_import(filepath=path, at_frame=True, append=True) == {"FINISHED"}
    frames = [p.frame for p in settings.freeform.postures]
    assert frames == [*before.frames, *(before.frames + 100.0)]
    text = Path(path).read_text(encoding="utf-8")
    for broken, word in (
        (text[:-20], "no JSON"), (text.replace("poise.postures", "x"), "schema"),
        (text.replace('"version": 1', '"version": 9'), "version 9"),
        (text.replace('"pelvis"', '"hips"'), "another rig"),
        (text.replace('"frame": 13.0', '"frame": null'), "no number"),
    ):
        Path(path).write_text(broken, encoding="utf-8")
        assert word in _refusal(bpy.ops.poise.postures_import, filepath=path)
        assert len(settings.freeform.postures) == 14  # nothing is lost
    assert "cannot be read" in _refusal(bpy.ops.poise.postures_import, filepath=path + ".no")


def _knee(at, base, thigh, shin, foot):
    """(3,) from the line of a leg to its knee, in the axes of what it stands on."""
    hip, knee, ankle = (at[bone][:3, 3] for bone in (thigh, shin, foot))
    return at[base][:3, :3].T @ (knee - 0.5 * (hip + ankle))


@pytest.mark.parametrize(("kind", "slope"), [
    ("SNOWBOARDER", 12), ("SKATEBOARDER", 0), ("TELEMARK", 12), ("SKIER", 0),
])
def test_riders_leap_with_what_they_ride(kind, slope):
    """From a ride over a push, a flight and a landing into another one, all on the rig."""
    rig, _first = load(kind, frames=49, speed=7.0, slope=np.radians(slope))
    start, push, land, end = 49, 62, 70, 82
    leap = freeform_scenes.leaps_over(rig, start, end + 12)
    for motion in leap:
        motion.poise_motion.turns.slope = np.radians(slope)
    parts = [_solved(motion) for motion in leap]
    _require_smooth(parts)
    postures = leap[1].poise_motion.freeform.postures
    assert [bool(p.standing) for p in postures] == [True, True, False, True, True, True]
    assert bpy.ops.poise.bake_all() == {"FINISHED"}
    # Boots stay on what they are fastened to, whole frames and halves, the rides included.
    under = ["board", "board"] if "board" in rig.pose.bones else ["ski.L", "ski.R"]
    balls = ["toe.L", "toe.R"] if kind == "TELEMARK" else ["foot.L", "foot.R"]
    frames = np.arange(start - 4.0, end + 4.0, 1.5)
    seen = [_seen(rig, f, [*under, *balls, "shin.L", "shin.R", "thigh.L", "thigh.R"])
            for f in frames]
    for base, ball in zip(under, balls, strict=True):
        on = np.array([(np.linalg.inv(now[base]) @ now[ball])[:3, 3] for now in seen])
        assert np.ptp(on, axis=0).max() < 2e-3, (ball, np.ptp(on, axis=0))
    # Knees bend to where they do at rest.
    rest = {bone.name: np.array(bone.matrix_local) for bone in rig.data.bones}
    for base, ball, side in zip(under, balls, "LR", strict=True):
        ahead = [_knee(at, base, f"thigh.{side}", f"shin.{side}", ball) for at in (rest, *seen)]
        assert min(ahead[0] @ one for one in ahead[1:]) > 0.0
    # On the ground they glide along the slope, in the air they are over it.
    places = np.array([[now[base][:3, 3] for base in under] for now in seen])
    over = places[:, :, 2] - np.tan(np.radians(slope)) * places[:, :, 1]
    glides = (frames >= start + 12) & (frames <= push) | (frames >= land) & (frames <= end)
    assert np.abs(over[glides]).max() < 2e-3
    assert over[(frames > push + 2) & (frames < land - 2)].min() > 0.1
    # Between the two the mass falls freely.
    fall = np.diff(_centres(rig, np.arange(push, land + 1)), 2, axis=0) * FPS**2
    np.testing.assert_allclose(fall, np.tile((0.0, 0.0, -9.81), (len(fall), 1)), atol=0.35)
    motions.set_active(leap[1])
    if "board" in rig.pose.bones:
        assert "faces the other way" in _refusal(bpy.ops.poise.posture_mirror)
    if kind == "SKATEBOARDER":  # wheels turn on as on the ground, whole turns not counted
        wheel, angle = rig.pose.bones["front_wheel.L"], []
        for frame in range(start - 4, end + 12):
            bpy.context.scene.frame_set(frame)
            angle.append(wheel.rotation_euler.x)
        rolls = 7.0 / FPS / 0.029
        off = (np.diff(angle) - rolls + np.pi) % (2.0 * np.pi) - np.pi
        assert np.abs(off).max() < 0.08 * rolls, off
    if kind == "SKIER":
        mesh = bpy.data.objects.new("Hill", bpy.data.meshes.new("Hill"))
        mesh.data.from_pydata([(-9, -99, 0), (9, -99, 0), (0, 9, 0)], [], [(0, 1, 2)])
        bpy.context.scene.collection.objects.link(mesh)
        leap[1].poise_motion.freeform.terrain = mesh
        assert "clear its Terrain" in _refusal(bpy.ops.poise.bake)


def test_who_sits_on_a_bicycle_says_so_in_one_sentence():
    """Hands, feet and hips are on it at once."""
    rig, first = load("CYCLIST", frames=37)
    activate(rig)
    assert "can only do Turns or Path" in _refusal(bpy.ops.poise.motion_add, kind="FREEFORM")
    assert motions.motions_of(rig) == [first]


def test_a_posture_is_mirrored():
    rig, motion = _figure()
    person(rig, at=(0.1, 0.0), feet={LEFT: STAND[LEFT]}, hips=(0, 40), knees=(0, 80), roll=5)
    freeform_scenes.add(rig, 1, "")
    settings = rig.poise.freeform
    assert settings.postures[0].standing == (LEFT,)
    freeform_scenes.add(rig, 24, "")
    settings.posture_index = 1
    assert bpy.ops.poise.posture_mirror() == {"FINISHED"}
    assert settings.postures[1].standing == (RIGHT,)
    poses = pipeline.gather(bpy.context, motion).poses
    flip = np.array((-1.0, 1.0, 1.0))
    for role, other in (("pelvis", "pelvis"), ("foot.L", "foot.R"), ("hand.L", "hand.R")):
        np.testing.assert_allclose(
            poses.position[role][1], poses.position[other][0] * flip, atol=1e-4, err_msg=role
        )


def test_postures_come_from_a_pose_asset_and_are_updated_from_it():
    """Two keys of a pelvis and of a hand, flipped: all else is as the figure stands."""
    rig, motion = _figure()
    settings = rig.poise.freeform
    assert "has no pose asset" in _refusal(bpy.ops.poise.posture_add, source="ASSET")
    asset = bpy.data.actions.new("Duck")
    rig.animation_data_create().action = asset
    drops = {3: 0.1, 15: 0.2}
    for frame, low in drops.items():
        person(rig, feet=STAND, low=low, arms=(90, 0))
        for bone in ("pelvis", "hand_ik.L"):
            for channel in ("location", "rotation_quaternion"):
                rig.pose.bones[bone].keyframe_insert(channel, frame=frame)
    rig.animation_data.action = None
    asset.asset_mark()
    person(rig, feet=STAND, low=0.05, head=20)
    bpy.context.scene.frame_set(10)
    freeform_scenes.add(rig, 10, "Stand")
    assert bpy.ops.poise.posture_add(source="ASSET", flipped=True) == {"FINISHED"}
    told = [(p.frame, p.name, p.source, p.asset) for p in settings.postures]
    assert told == [(10.0, "Stand", "Duck, frame 3, flipped", asset),
                    (22.0, "Duck 2", "Duck, frame 15, flipped", asset)]
    bpy.context.scene.frame_set(40)
    assert bpy.ops.poise.posture_add() == {"FINISHED"}
    poses = pipeline.gather(bpy.context, motion).poses
    low = poses.position["pelvis"][:, 2] - poses.position["pelvis"][2, 2]
    np.testing.assert_allclose(low, [0.05 - 0.1, 0.05 - 0.2, 0.0], atol=1e-4)
    reach = poses.position["hand.R"][:, 1]  # to -Y is forward
    assert (reach[:2] < reach[2] - 0.3).all()
    head = poses.rotation["head"]
    assert np.abs((head[:2] * head[2]).sum(axis=1)).min() > 1.0 - 1e-6
    # The asset is changed, and nothing else.
    for curve in compat.action_fcurves(asset, asset.slots[0]):
        if curve.data_path == 'pose.bones["pelvis"].location' and curve.array_index == 0:
            curve.keyframe_points[1].co.y += 0.07
            curve.update()
    assert bpy.ops.poise.posture_update() == {"FINISHED"}
    now = pipeline.gather(bpy.context, motion).poses
    off = np.linalg.norm(now.position["pelvis"] - poses.position["pelvis"], axis=1)
    np.testing.assert_allclose(off, [0.0, 0.07, 0.0], atol=1e-4)
    np.testing.assert_allclose(now.position["hand.L"], poses.position["hand.L"], atol=1e-4)


def test_speed_is_designed_apart_from_the_path():
    rig, motion = _figure(frames=49)
    for frame, low in ((1, 0.0), (13, 0.2), (49, 0.3)):
        person(rig, feet=STAND, low=low)
        freeform_scenes.add(rig, frame, "")
    settings = rig.poise.freeform
    settings.timing = "DISTANCE"
    heights = {}
    for pace in ("MINIMUM_JERK", "HOLD"):
        settings.pace = pace
        heights[pace] = _solved(motion).tracks.position["pelvis"][:, 2]
    assert abs(heights["HOLD"][44] - heights["HOLD"][52]) < 1e-6  # rests half-way
    assert abs(heights["MINIMUM_JERK"][44] - heights["MINIMUM_JERK"][52]) > 0.01
    np.testing.assert_allclose(heights["HOLD"][[0, -1]], heights["MINIMUM_JERK"][[0, -1]])
    assert bpy.ops.poise.pace_edit(preset="MINIMUM_JERK") == {"FINISHED"}
    assert settings.pace == "CURVE"
    solved = _solved(motion)
    curved = solved.tracks.position["pelvis"][:, 2]
    np.testing.assert_allclose(curved, heights["MINIMUM_JERK"], atol=2e-3)
    # A key where each posture is taken, on its line, in a curve of what is selected.
    levels = families.view_of(solved.job).levels(solved)
    assert [name for name, _share in levels[1]] == [p.name for p in settings.postures]
    assert levels[1][0][1] == 0.0 and levels[1][-1][1] == 1.0
    data = motion.animation_data
    [curve] = compat.action_fcurves(data.action, data.action_slot)
    assert curve.data_path == levels[0]
    keys = np.array([key.co.y for key in curve.keyframe_points])
    for _name, share in levels[1]:
        assert np.abs(keys - share).min() < 1e-6
    assert motion.select_get()
    held = [tuple(key.co) for key in curve.keyframe_points]
    assert bpy.ops.poise.pace_edit() == {"FINISHED"}  # once more only shows it
    assert [tuple(key.co) for key in curve.keyframe_points] == held
    # It may run backwards.
    curve.keyframe_points[-1].co.y = 0.0
    curve.update()
    there = _solved(motion).tracks.position["pelvis"][:, 2]
    assert there[-1] == pytest.approx(there[0], abs=1e-3) and there.min() < there[0] - 0.1


def test_four_legs_pounce():
    freeform_scenes.pounce()
    rig = bpy.context.active_object
    motion = rig.poise.motion_object
    solved = _solved(motion)
    assert len(solved.motion.flights) == 1
    bones = characters.role_bones_of(rig)
    for leg in solved.job.figure.legs:
        for contact in (c for c in solved.tracks.contacts if c.role == leg.tip):
            frames = 1.0 + FPS * np.linspace(contact.start, contact.end, 4)
            toe = bones[leg.tip]
            places = [_seen(rig, f, [toe])[toe][:3, 3] for f in np.minimum(frames, 60.0)]
            np.testing.assert_allclose(places, np.tile(contact.position, (4, 1)), atol=1e-3)
    # Paws before hind feet; elbows fold over two frames, and stay off the ground. A small body
    # moves faster than a person's knees, 600 degrees a second, by the root of what it is smaller.
    starts = {leg.name: [c.start for c in solved.motion.contacts if c.limb == leg.name][-1]
              for leg in solved.job.figure.legs}
    assert max(starts["fore.L"], starts["fore.R"]) < min(starts["hind.L"], starts["hind.R"]) - 0.1
    body = solved.body
    rows = solved.motion.times >= solved.motion.flights[0, 1] - 1e-9
    joints = solved.motion.joints[rows][::2]
    elbow = body.index["fore.2.L"]
    step = rotations.multiply(rotations.conjugate(joints[:-1, elbow]), joints[1:, elbow])
    assert np.linalg.norm(rotations.to_rotation_vector(step), axis=1).max() * FPS < np.radians(1300)
    joints = solved.motion.joints[rows].copy()
    joints[:, 0] = solved.motion.turn[rows]
    low = links(body.body, solved.motion.place[rows], joints).joints[:, elbow, 2].min()
    assert low > 0.2 * solved.job.figure.leg_length
    told = {p.code for p in solved.problems}
    assert not told & {"STRETCHED", "FOLDS_FAST", "JOINT_IN_GROUND"}


def test_elbows_in_the_ground_are_told():
    rig = freeform_scenes.dancer(1.0, kind="DOG", height=0.28)
    for frame, low in ((1, 0.0), (12, -0.08), (24, 0.0)):
        freeform_scenes.animal(
            rig, at=(0, 0), high=low, pitch=10 if low else 0, spine_1=10 if low else 0,
            paws=freeform_scenes.both("hind", 0) | freeform_scenes.both("fore", 0.04),
        )
        freeform_scenes.add(rig, frame, "")
    told = {p.code: p for p in _solved(rig.poise.motion_object).problems}
    assert told["JOINT_IN_GROUND"].amount > 0.01 * 0.23
    assert "fore." in told["JOINT_IN_GROUND"].message


def test_who_jumps_onto_a_table_stands_there():
    """Feet are on the ground where they are lowest meanwhile, not where they ever are."""
    rig, _ = _figure()
    body = freeform_scenes.body_of(rig)
    fps, air = 60.0, 0.6
    t = np.arange(0.0, 2.5, 1.0 / fps)
    s = np.clip((t - 1.0) / air, 0.0, 1.0)
    up = 0.8 * s + 0.5 * 9.81 * air**2 * s * (1.0 - s)
    places = body.figure.joints["pelvis"] + up[:, None] * np.eye(3)[2]
    clip = Clip(body.body, t, places, rotations.identity(len(body.names))[None].repeat(len(t), 0))
    for on in _standing(body, clip, fps).values():
        edges = np.flatnonzero(np.diff(on.astype(int)))
        np.testing.assert_allclose(edges, [60, 95], atol=2)  # leaves at 1.0 s, lands at 1.6 s


def _keys(action):
    return {
        (curve.data_path, curve.array_index): [tuple(key.co) for key in curve.keyframe_points]
        for curve in compat.action_fcurves(action, action.slots[0])
    }


def test_an_arm_reaches_on_top_of_a_walk():
    rig, walk = load("BIPED", frames=25)
    rig.poise.gait.speed = 1.2
    assert bpy.ops.poise.bake() == {"FINISHED"}
    activate(rig)
    assert bpy.ops.poise.motion_add(kind="FREEFORM") == {"FINISHED"}
    motion, settings = rig.poise.motion_object, rig.poise.freeform
    assert "no limb wing.L" in _refusal(bpy.ops.poise.posture_limb, limb="wing.L")
    assert bpy.ops.poise.posture_limb(limb="arm.R") == {"FINISHED"}
    # It lies on the walk, for as long as that is.
    whole = motion.poise_motion
    assert (whole.after, whole.frame_start, whole.frame_end) == (None, 1, 25)
    arm, rest = ("upper_arm.R", "forearm.R", "hand.R"), ("pelvis", "foot.L", "hand.L", "head")
    posed, walking = {}, {frame: _seen(rig, frame, arm + rest) for frame in (1, 14, 25)}
    for frame, way in ((10, (-0.2, -0.3, -0.2)), (16, (0.0, -0.42, 0.0)),
                       (22, (-0.2, -0.3, 0.25))):
        freeform_scenes.hand(rig, frame, way)
        assert bpy.ops.poise.posture_add() == {"FINISHED"}
        posed[frame] = {b: np.array(rig.matrix_world @ rig.pose.bones[b].matrix) for b in arm}
    assert [list(p.standing) for p in settings.postures] == [[], [], []]
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert not motion.poise_motion.problems
    for frame, bones in posed.items():
        now = _seen(rig, frame, bones)
        for bone, matrix in bones.items():
            np.testing.assert_allclose(now[bone], matrix, atol=1e-3, err_msg=bone)
    # The rest of the body walks on, and at first the arm swings with it.
    for frame, bones in walking.items():
        for bone in (rest + arm if frame == 1 else rest):
            now = _seen(rig, frame, [bone])[bone]
            np.testing.assert_allclose(now, bones[bone], atol=1e-4, err_msg=bone)
    keys = _keys(whole.bake_action)
    assert {path.split('"')[1] for path, _ in keys if "rotation" in path} == set(arm)
    assert bpy.ops.poise.bake() == {"FINISHED"} and _keys(whole.bake_action) == keys
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    for frame, bones in walking.items():
        for bone, matrix in _seen(rig, frame, arm + rest).items():
            np.testing.assert_allclose(matrix, bones[bone], atol=1e-5, err_msg=bone)
    bpy.context.scene.frame_set(20)
    # The chosen posture is taken up again by what decides the arm.
    settings.posture_index = 1
    assert bpy.ops.poise.posture_pose() == {"FINISHED"}
    for bone, matrix in posed[16].items():
        now = np.array(rig.matrix_world @ rig.pose.bones[bone].matrix)
        np.testing.assert_allclose(now[:3, 3], matrix[:3, 3], atol=2e-3, err_msg=bone)
    # Speed apart from path: the hand goes by minimum jerk against the chest, whatever the joints.
    settings.timing, settings.end_path, settings.blend_out = "DISTANCE", 1.0, 0.25
    solved = _solved(motion)
    gone = np.linalg.norm(np.diff(solved.motion.tip, axis=0), axis=1)
    t = np.linspace(0.0, 1.0, 25)
    closed = np.diff(10.0 * t**3 - 15.0 * t**4 + 6.0 * t**5) * solved.length
    np.testing.assert_allclose(gone, closed, atol=1e-3)  # chords of its way
    assert _keys_of(solved, "hand.R", -1) == pytest.approx(_played(solved, "hand.R", -1), abs=1e-9)
    settings.limb = "leg.L"
    assert "made of another limb" in _refusal(bpy.ops.poise.bake)
    assert "alone: set Limb" in _refusal(bpy.ops.poise.posture_mirror)


def _keys_of(solved, bone, row):
    return solved.tracks.turn[bone][row] * np.sign(solved.tracks.turn[bone][row, 0])


def _played(solved, bone, row):
    turn = solved.job.under.turn[bone]
    return turn[row] * np.sign(turn[row, 0])


def _refusal(call, **options):
    with pytest.raises(RuntimeError) as error:
        call(**options)
    return sentence(error.value)


def test_bad_input_says_one_sentence():
    rig, motion = _figure()
    settings = rig.poise.freeform
    bake = bpy.ops.poise.bake
    assert "no postures" in _refusal(bake)
    person(rig, feet=STAND)
    freeform_scenes.add(rig, 1, "One")
    assert "only one posture" in _refusal(bake)
    freeform_scenes.add(rig, 20, "Two")
    assert bake() == {"FINISHED"}
    assert any("the same" in p.message for p in motion.poise_motion.problems)
    settings.postures[1].frame = 1.0
    assert "not after One" in _refusal(bake)
    settings.postures[1].frame = 90.0
    assert "outside of the range" in _refusal(bake)
    settings.postures[1].frame = 20.0
    for support in settings.postures[0].supports:
        support.bears = False
    assert "One is in the air" in _refusal(bake)
    for support in settings.postures[0].supports:
        support.bears = support.name == LEFT
    for support in settings.postures[1].supports:  # nobody ever touches the ground
        support.bears = False
    assert "Two is in the air" in _refusal(bake)
    for support in settings.postures[1].supports:
        support.bears = True
    settings.timing, settings.pace = "DISTANCE", "CURVE"
    assert "no keys of Distance" in _refusal(bake)
    assert bpy.ops.poise.posture_replace() == {"FINISHED"}
    person(rig, feet=STAND, low=0.2)
    settings.posture_index = 1
    assert bpy.ops.poise.posture_replace() == {"FINISHED"}
    assert bpy.ops.poise.pace_edit() == {"FINISHED"}
    data = motion.animation_data
    [curve] = compat.action_fcurves(data.action, data.action_slot)
    co, curve.keyframe_points[1].co.y = curve.keyframe_points[1].co.y, np.nan
    assert "without gaps" in _refusal(bake)
    curve.keyframe_points[1].co.y = co
    settings.timing = "FRAMES"
    # Flights that no leg gives, and feet that bear all the time in two places: told, and baked.
    settings.posture_index = 1
    person(rig, at=(0, -0.5), feet=THERE)
    assert bpy.ops.poise.posture_replace() == {"FINISHED"}
    for support in settings.postures[0].supports:
        support.bears = support.name in (LEFT, RIGHT)
    settings.postures[1].supports["hand.L"].bears = False
    settings.postures[1].supports["hand.R"].bears = False
    told = {p.code for p in _solved(motion).problems}
    assert "SUPPORT_SLIDES" in told
    assert len(settings.postures) == 2 and motions.motions_of(rig) == [motion]
    held = motion["body_posture_0"].to_dict()
    del motion["body_posture_0"]
    assert "lost its pose" in _refusal(bake)
    held["bones"] = held["bones"].replace("pelvis", "Hips")
    from poise.addon import store

    store.put(motion, "body_posture_0", "poise.posture", 1, {
        k: held[k] if isinstance(held[k], str) else np.array(held[k], float)
        for k in ("bones", "turns", "places", "spins", "read", "source")
    })
    assert "another rig" in _refusal(bake)
    assert motions.motions_of(rig) == [motion]


def test_bad_sequences_of_a_limb_say_one_sentence():
    rig, motion = _figure(frames=25)
    settings, bake = rig.poise.freeform, bpy.ops.poise.bake
    assert bpy.ops.poise.posture_limb(limb="arm.R") == {"FINISHED"}
    freeform_scenes.hand(rig, 5, (-0.2, -0.3, -0.2))
    assert bpy.ops.poise.posture_add() == {"FINISHED"}
    assert "only one posture" in _refusal(bake)
    bpy.context.scene.frame_set(15)
    assert bpy.ops.poise.posture_add() == {"FINISHED"}
    assert bake() == {"FINISHED"}
    assert any("arm.R stands still" in p.message for p in motion.poise_motion.problems)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    settings.posture_index = 1
    rig.pose.bones["hand_ik.R"].rotation_mode = "XYZ"
    rig.pose.bones["hand_ik.R"].rotation_euler.x += 0.5
    bpy.context.view_layer.update()
    assert bpy.ops.poise.posture_replace() == {"FINISHED"}
    settings.end_path = 1.0
    assert "in one place in Posture 1 and Posture 2" in _refusal(bake)
    settings.end_path = 0.0
    settings.postures[1].frame = 5.0
    assert "not after" in _refusal(bake)
    settings.postures[1].frame = 15.0
    assert bake() == {"FINISHED"} and len(settings.postures) == 2


def test_postures_of_a_limb_are_updated_from_their_pose_asset():
    rig, motion = _figure(frames=25)
    settings = rig.poise.freeform
    assert bpy.ops.poise.posture_limb(limb="arm.R") == {"FINISHED"}
    asset = bpy.data.actions.new("Wave")
    rig.animation_data_create().action = asset
    for frame, bent in ((3, 0.4), (15, 1.2)):
        bone = rig.pose.bones["forearm.R"]
        bone.rotation_quaternion = rotations.about_x(bent)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    rig.animation_data.action = None
    asset.asset_mark()
    bpy.context.scene.frame_set(5)
    assert bpy.ops.poise.posture_add(source="ASSET") == {"FINISHED"}
    bpy.context.scene.frame_set(22)
    assert bpy.ops.poise.posture_add() == {"FINISHED"}
    assert [p.frame for p in settings.postures] == [5.0, 17.0, 22.0]

    def held():
        found = [kept(motion, item) for item in settings.postures]
        row = found[0].bones.index("forearm.R")
        return np.array([posture.turns for posture in found]), row

    before, row = held()
    assert bpy.ops.poise.posture_update() == {"FINISHED"}
    np.testing.assert_array_equal(held()[0], before)
    # One key of the asset is changed: one posture follows, in one bone, and the bake with it.
    turn = rotations.about_x(0.7)
    for curve in compat.action_fcurves(asset, asset.slots[0]):
        curve.keyframe_points[1].co.y = turn[curve.array_index]
        curve.update()
    assert bpy.ops.poise.posture_update() == {"FINISHED"}
    now, _row = held()
    np.testing.assert_allclose(now[1, row], turn, atol=1e-6)
    same = np.abs(now - before).max(axis=2) < 1e-6
    assert not same[1, row] and np.count_nonzero(~same) == 1
    assert bpy.ops.poise.bake() == {"FINISHED"}
    arm = _seen(rig, 17, ["upper_arm.R", "forearm.R"])
    rest = {name: np.array(rig.data.bones[name].matrix_local)[:3, :3] for name in arm}
    upper, fore = (arm[name][:3, :3] @ rest[name].T for name in arm)
    bent = np.arccos(0.5 * (np.trace(upper.T @ fore) - 1.0))
    assert bent == pytest.approx(0.7, abs=1e-3)
    bpy.data.actions.remove(asset)
    assert "no action Wave" in _refusal(bpy.ops.poise.posture_update)
    np.testing.assert_array_equal(held()[0], now)


def test_each_click_on_a_limbs_list_is_one_undo_step(tmp_path):
    rig, first = load("BIPED", frames=25)
    activate(rig)
    names = rig.name, first.name
    path = str(tmp_path / "arm.json")

    def stands():
        rig, whole = (bpy.data.objects[name] for name in names)
        motion = rig.poise.motion_object
        own, data = motion.poise_motion, rig.animation_data
        settings = own.freeform
        curves = motion.animation_data and motion.animation_data.action
        return (
            motion.name, settings.limb, own.after and own.after.name, own.range_mode,
            (own.frame_start, own.frame_end), settings.timing, settings.pace,
            [(i.name, i.frame, i.number, i.source) for i in settings.postures],
            settings.posture_index, settings.next_number,
            {key: str(motion[key].to_dict()) for key in motion.keys()
             if key.startswith("body_posture_")},
            bool(curves) and len(compat.action_fcurves(curves, curves.slots[0])),
            data is not None and data.action is not None, own.bake_action is not None,
            sorted(o.name for o in bpy.data.objects), sorted(a.name for a in bpy.data.actions),
            bpy.context.scene.frame_current,
            [np.round(np.ravel(bone.matrix_basis), 5).tolist() for bone in rig.pose.bones],
        )

    clicks = (
        (None, "motion_add", {"kind": "FREEFORM"}), (None, "posture_limb", {"limb": "arm.R"}),
        ((5, (-0.2, -0.3, -0.2)), "posture_add", {}), ((15, (0.0, -0.4, 0.0)), "posture_add", {}),
        ((20, (-0.2, -0.3, 0.25)), "posture_replace", {}), (None, "posture_duplicate", {}),
        (None, "posture_move", {"direction": -1}), ((10, (0.0, -0.4, 0.1)), "posture_pose", {}),
        (None, "postures_export", {"filepath": path}), (None, "bake", {}),
        (None, "pace_edit", {"preset": "HOLD"}), (None, "bake_clear", {}),
        (None, "posture_remove", {}), (None, "postures_import", {"filepath": path}),
        (None, "posture_limb", {"limb": ""}),
    )
    states = []
    bpy.ops.ed.undo_push(message="before")
    for hand, name, options in clicks:
        if hand is not None:
            freeform_scenes.hand(bpy.data.objects[names[0]], *hand)
        bpy.ops.ed.undo_push(message="hand")
        before, call = stands(), getattr(bpy.ops.poise, name)
        assert call("EXEC_DEFAULT", True, **options) == {"FINISHED"}, name
        states.append((name, before, stands()))
        assert (before != states[-1][2]) == (name != "postures_export"), name
    for name, before, _after in reversed(states):
        if name != "postures_export":  # which changes nothing here
            bpy.ops.ed.undo()
        assert stands() == before, name
        bpy.ops.ed.undo()  # what was done by hand before it
    for name, _before, after in states[:8]:
        bpy.ops.ed.redo()
        bpy.ops.ed.redo()
        assert stands() == after, name


def test_turns_are_rotations():
    """A hand that lies flat: its palm looks down."""
    for side, inward in (("L", (-1.0, 0, 0)), ("R", (1.0, 0, 0))):
        palm = rotations.rotate(freeform_scenes.flat_hand(side), np.array(inward))
        np.testing.assert_allclose(palm, (0, 0, -1.0), atol=1e-12)
