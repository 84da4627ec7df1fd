# SPDX-License-Identifier: GPL-3.0-or-later
"""Families of motions that Poise does not have: whoever adds one adds a row here and there, and
it is read, solved, shown, baked, cleared and chained like all others.

Between a gait and another family everything goes on: place and velocity of every role.
"""

from dataclasses import replace

import bpy
import numpy as np
import operators_draw
import pytest
import stub_families
from operators_help import assert_same_keys, curves_of, keys_of, refused
from poise.addon import compat, families, pipeline
from poise.addon.drawing.strokes import Palette
from poise.addon.mapping import handover
from poise.addon.rigs import characters
from poise.addon.rigs.actor import Actor
from poise.addon.show import overlay, preview
from poise.solvers import rotations
from poise.solvers.clock import Clock
from snapshot import diff, snapshot

# Three samples tell a rate but for h^2/3 of the third derivative; a difference of 0.3 m that goes
# in half a second begins with 60 * 0.3 / 0.5^3 = 144 m/s^3, one of 2 m/s with 36 * 2 / 0.5^2 = 288:
# 0.06 m/s of 1/48 s, and as much again for the motions themselves. Of a foot that comes down
# elsewhere in a quarter of a second it is four to eight times that.
STEP, STEP_OF_LEGS = 0.12, 0.5


def limit(role):
    """What the rate of a role may seem to jump by, m/s or rad/s."""
    return STEP_OF_LEGS if role.partition(".")[0] in ("foot", "toe", "knee") else STEP


@pytest.fixture
def stubs(scene):
    with stub_families.registered():
        yield bpy.context.scene


def plain(*names):
    """An armature of bones on top of each other, 0.5 long, that nobody set up."""
    data = bpy.data.armatures.new("Plain")
    rig = bpy.data.objects.new("Plain", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    for number, name in enumerate(names):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (0.0, 0.0, 0.5 * number), (0.0, 0.0, 0.5 * number + 0.5)
        bone.parent = data.edit_bones[number - 1] if number else None
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return rig


def motion_of(rig, kind, start=1, end=41, **settings):
    """A new motion of a kind, the active one."""
    assert bpy.ops.poise.motion_add(kind=kind) == {"FINISHED"}
    motion = rig.poise.motion_object
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = start, end
    for name, value in settings.items():
        setattr(getattr(motion.poise_motion, stub_families.STUBS[kind][0]), name, value)
    return motion


def turned(rig, bone, frame):
    bpy.context.scene.frame_set(frame)
    posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone]
    return np.array(posed.matrix_basis.to_quaternion())


def apart(one, other):
    """Radians between two turns."""
    return 2.0 * np.arccos(min(1.0, abs(float(np.dot(one, other)))))


def shown(motion):
    """The status of a motion, which draws itself."""
    status = preview.refresh(bpy.context, motion)
    assert not status.error and status.summary
    solved, palette = status.solved, Palette()
    row = overlay.row_at(solved, motion.poise_motion.frame_start + 7)
    strokes = overlay.track_strokes(solved, palette) + overlay.ghost_strokes(solved, row, palette)
    assert len(strokes) >= 2 and all(np.isfinite(s.points).all() for s in strokes)
    overlay.hud_lines(solved, row)
    operators_draw.drawn()
    return status


def baked_and_cleared(rig, motion, compare):
    """Bake: as asked, up to date, the same again; cleared it is as if nothing had been."""
    bpy.context.scene.frame_set(1)
    before = snapshot()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert not preview.refresh(bpy.context, motion).out_of_date
    compare()
    bpy.context.scene.frame_set(1)
    first = keys_of(curves_of(rig))
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert_same_keys(keys_of(curves_of(rig)), first)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert not diff(before, snapshot())


# -- a bone between two keys of what plays on it -------------------------------------------------


def test_a_bone_is_turned_between_keys_of_an_action(stubs):
    """Halfway between the keys' turns at half time, and where they are at both ends."""
    rig = plain("Lower", "Upper")
    for frame, angle in ((1, 0.2), (41, 1.0)):
        rig.pose.bones["Upper"].rotation_quaternion = rotations.about_x(angle)
        rig.pose.bones["Upper"].keyframe_insert("rotation_quaternion", frame=frame)
    assert "EASE" in families.kinds_for(Actor.of(rig))
    motion = motion_of(rig, "EASE", bone="Upper")
    status = shown(motion)
    # The default view draws the bone where it is: Upper's tail, half a metre up and along.
    track = overlay.track_strokes(status.solved, Palette())[0]
    end = (0.0, -0.5 * np.sin(0.2), 0.5 + 0.5 * np.cos(0.2))
    np.testing.assert_allclose(track.points[0], end, atol=1e-6)

    def compare():
        for frame, angle in ((1, 0.2), (11, 0.2 + 0.8 * 5 / 32), (21, 0.6), (41, 1.0)):
            assert apart(turned(rig, "Upper", frame), rotations.about_x(angle)) < 1e-3
        assert not pipeline.changed_inputs(
            pipeline.gather(bpy.context, motion), motion.poise_motion.inputs
        ), "it does not lie on its own keys"

    baked_and_cleared(rig, motion, compare)
    # Pose timing lies on what plays, and goes on from it where it is told to.
    other = motion_of(rig, "POSE_TIMING", 41, 61)
    assert other.poise_motion.after is None
    other.poise_motion.after = motion
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        compat.select_bone(bone, bone.name == "Upper")
    bpy.context.scene.frame_set(61)
    rig.pose.bones["Upper"].rotation_quaternion = rotations.about_x(0.3)
    assert bpy.ops.poise.target_add() == {"FINISHED"}
    assert bpy.ops.poise.bake() == {"FINISHED"}
    for frame, angle in ((41, 1.0), (61, 0.3)):
        assert apart(turned(rig, "Upper", frame), rotations.about_x(angle)) < 1e-3


# -- a rod ---------------------------------------------------------------------------------------


def test_a_rod_swings_on_its_own_rig(stubs):
    """Its period is 2 pi sqrt(2 l / (3 g)), of half a metre 1.158 s."""
    rig = plain("Rod")
    motion = motion_of(rig, "ROD", angle=0.15)
    shown(motion)
    period = 2.0 * np.pi * np.sqrt(2.0 * 0.5 / (3.0 * 9.81))

    def compare():
        for frame in (1, 8, 15, 29):
            angle = 0.15 * np.cos(2.0 * np.pi * (frame - 1) / 24.0 / period)
            assert apart(turned(rig, "Rod", frame), rotations.about_x(angle)) < 1e-3

    baked_and_cleared(rig, motion, compare)
    # It goes on from itself, and neither leaves a trail nor is followed by a camera.
    motion_of(rig, "ROD", 41, 81)
    assert bpy.ops.poise.bake_all() == {"FINISHED"}
    refused("trail_add", "leaves no trail")
    refused("chase_camera_add", "no figure that a camera could follow")
    assert bpy.ops.poise.markers_add() == {"FINISHED"}


# -- two poses of a person, and gaits before and after --------------------------------------------


def person():
    bpy.ops.poise.character_add(kind="BIPED")
    return bpy.context.active_object


def test_a_pose_of_a_person_goes_over_into_another(stubs):
    rig = person()
    motion = rig.poise.motion_object
    motion.poise_motion.frame_end = 41
    rig.poise.motion = "CROUCH"
    shown(motion)
    top = rig.pose.bones["head"]

    def compare():
        heights = []
        for frame in (1, 21, 41):
            bpy.context.scene.frame_set(frame)
            heights.append(top.matrix.translation.z)
        np.testing.assert_allclose(np.diff(heights), -0.075, atol=1e-3)

    baked_and_cleared(rig, motion, compare)


@pytest.fixture
def between(stubs):
    """A gait, a crouch and a gait again; each is continued by the next."""
    rig = person()
    motions = [rig.poise.motion_object]
    motions[0].poise_motion.frame_end = 49
    motions.append(motion_of(rig, "CROUCH", 49, 97))
    motions.append(motion_of(rig, "GAIT", 97, 145))
    return rig, motions


def first_rates(tracks):
    """How it sets out: read backwards, the first samples end there with the opposite rates."""
    back = slice(2, None, -1)
    return handover.hand_over(replace(
        tracks, clock=Clock.even(tracks.time[:3], 2), contacts=(),
        position={role: values[back] for role, values in tracks.position.items()},
        rotation={role: values[back] for role, values in tracks.rotation.items()},
    ))


def test_between_gaits_every_role_goes_on_in_place_and_velocity(between):
    """And who stands at the seam, or comes down while a motion takes over, does not slide."""
    _rig, motions = between
    solved = [pipeline.solve(pipeline.gather(bpy.context, motion)) for motion in motions]
    roles = set.intersection(*(set(s.tracks.position) for s in solved))
    assert {"root", "pelvis", "foot.L", "foot.R", "hand.L", "hand.R"} < roles
    for one, other in zip(solved, solved[1:], strict=False):
        before, after = handover.hand_over(one.tracks), first_rates(other.tracks)
        for role in sorted(roles):
            np.testing.assert_allclose(after.place[role], before.place[role], atol=1e-9)
            far = np.abs(after.velocity[role] + before.velocity[role]).max()
            assert far < limit(role), (other.job.name, role, far)
        for role in sorted(set(after.turn) & set(before.turn)):
            assert apart(after.turn[role], before.turn[role]) < 1e-6
            wide = np.abs(after.spinning[role] + before.spinning[role]).max()
            assert wide < limit(role), (other.job.name, role, wide)
        time, stands = other.tracks.time, 0
        for contact in other.tracks.contacts:
            if contact.role in roles:
                rows = (time >= contact.start) & (time <= contact.end)
                off = other.tracks.position[contact.role][rows] - contact.position
                assert np.abs(off).max() < 1e-9, (other.job.name, contact.role, contact.start)
                stands += contact.start < 0.6
        assert stands


def test_all_are_baked_and_play_one_after_the_other(between):
    rig, motions = between
    bones = characters.role_bones_of(rig)
    assert bpy.ops.poise.bake_all() == {"FINISHED"}
    for motion in motions:
        solved = pipeline.solve(pipeline.gather(bpy.context, motion))
        start, end = motion.poise_motion.frame_start, motion.poise_motion.frame_end
        for frame in (start + 1, (start + end) // 2, end):
            bpy.context.scene.frame_set(frame)
            row = solved.tracks.clock.row_of(frame - start)
            for role in ("pelvis", "hand.R", "foot.L"):
                np.testing.assert_allclose(
                    rig.matrix_world @ rig.pose.bones[bones[role]].matrix.translation,
                    solved.tracks.position[role][row], atol=1e-3, err_msg=f"{frame} {role}",
                )
        assert not [p for p in motion.poise_motion.problems if p.severity == "ERROR"]


def test_a_rod_cannot_go_on_from_a_gait(stubs):
    rig = person()
    first = rig.poise.motion_object
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Rod").tail = (0.0, 0.0, 0.5)
    bpy.ops.object.mode_set(mode="OBJECT")
    motion = motion_of(rig, "ROD", 41, 61)
    assert motion.poise_motion.after == first
    match = "turns single joints and the other one moves the whole figure: clear its After"
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.poise.bake()
    motion.poise_motion.after = None
    assert bpy.ops.poise.bake() == {"FINISHED"}
    rig.data.bones["Rod"].name = "Stick"
    with pytest.raises(RuntimeError, match="has no bone Rod to swing: set Motion to Gait"):
        bpy.ops.poise.bake()


# -- a kind that this build does not know ----------------------------------------------------------


@pytest.fixture
def foreign(scene, tmp_path):
    """A file of a build that knew crouches: a person with one, baked, after a gait."""
    path = str(tmp_path / "later.blend")
    with stub_families.registered():
        rig = person()
        rig.poise.settings.frame_end = 41
        motion = motion_of(rig, "CROUCH", 41, 61, depth=0.125)
        assert bpy.ops.poise.bake() == {"FINISHED"}
        bpy.ops.wm.save_as_mainfile(filepath=path)
        name = motion.name
    bpy.ops.wm.open_mainfile(filepath=path)
    motion = bpy.data.objects[name]
    assert motion.poise_motion.kind == ""
    return motion


def test_a_motion_of_an_unknown_kind_is_kept_and_said_to_be_so(foreign, tmp_path, capfd):
    motion = foreign
    rig = motion.poise_motion.character
    bpy.context.view_layer.objects.active = rig
    said = "of a kind of motion that this Poise does not know: it is kept as it is"
    assert said in preview.refresh(bpy.context, motion).error
    texts = operators_draw.drawn()
    assert "POISE_PT_motion" in texts and motion.name in texts["POISE_PT_motion"]
    assert preview._needs_evaluation(motion) in (False, True) and preview._used(motion)
    keys = keys_of(curves_of(rig))
    for name in (
        "bake", "bake_check", "trail_add", "slope_add", "markers_add", "chase_camera_add",
        "diagram_save",
    ):
        with pytest.raises(RuntimeError, match=said) as told:
            getattr(bpy.ops.poise, name)(
                **{"filepath": str(tmp_path / "d.svg")} if name == "diagram_save" else {}
            )
        assert "Traceback" not in str(told.value), name
    with pytest.raises(RuntimeError) as told:
        bpy.ops.poise.bake_all()
    assert said in str(told.value) and "Traceback" not in str(told.value)
    assert_same_keys(keys_of(curves_of(rig)), keys)
    # Saved again by this build, it is whole for one that knows it.
    again = str(tmp_path / "again.blend")
    bpy.ops.wm.save_as_mainfile(filepath=again)
    assert "Traceback" not in "".join(capfd.readouterr())
    with stub_families.registered():
        bpy.ops.wm.open_mainfile(filepath=again)
        motion = bpy.data.objects["Biped Motion.001"]
        assert motion.poise_motion.kind == "CROUCH"
        assert motion.poise_motion.crouch.depth == pytest.approx(0.125)
        job = pipeline.gather(bpy.context, motion)
        assert not pipeline.changed_inputs(job, motion.poise_motion.inputs)
    bpy.ops.wm.open_mainfile(filepath=again)
    # Cleared and removed it can be, and another kind can be chosen.
    motion = bpy.data.objects["Biped Motion.001"]
    bpy.context.view_layer.objects.active = motion.poise_motion.character
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert bpy.ops.poise.motion_add() == {"FINISHED"}
    assert said in preview.refresh(bpy.context, bpy.context.object.poise.motion_object).error
    motion.poise_motion.kind = "GAIT"
    assert not preview.refresh(bpy.context, motion).error

