# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake contract: where the rig ends up, and what stays as it was.

The motion is made up and known at every instant; positions and directions are
read back from Blender's evaluated pose.
"""

import json
import sys
from dataclasses import replace
from math import radians
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

sys.path.insert(0, str(Path(__file__).parent))

import bake_rigs as rigs  # noqa: E402
from bake_rigs import (  # noqa: E402
    SMALL_ROLES,
    product,
    quaternion,
    small_rig,
    small_tracks,
    world_errors,
)
from poise.addon import bake, compat, keyframes  # noqa: E402
from poise.addon.bake import Baked, BakeOptions, BakeRecord, Keyed, bake_tracks, clear_bake  # noqa: E402
from poise.addon.errors import UserError  # noqa: E402
from poise.addon.mapping.tracks import RoleTracks  # noqa: E402
from poise.addon.rigs import characters  # noqa: E402
from poise.addon.rigs.pose.channels import bone_path  # noqa: E402
from poise.addon.rigs.pose.frames import armature_frames  # noqa: E402
from poise.addon.rigs.pose.solver import RigSolver  # noqa: E402
from poise.solvers.clock import Clock  # noqa: E402
from snapshot import counts, diff, snapshot  # noqa: E402

MILLIMETRE = 1e-3
DIRECTION = radians(0.1)  # single precision over a chain of bones


def bake_small(rig, tracks=None, previous=None, roles=SMALL_ROLES, **options):
    return bake_tracks(
        bpy.context, Keyed(rig, roles, tracks or small_tracks(), BakeOptions(**options)),
        previous=previous,
    )


def assert_on_track(rig, tracks, start, roles=SMALL_ROLES, **kwargs):
    far, wide = world_errors(rig, roles, tracks, start, **kwargs)
    assert far < MILLIMETRE, f"{far * 1000:.2f} mm"
    assert wide < DIRECTION, f"{np.degrees(wide):.3f} degrees"


def curves_of(result):
    slot = compat.slot_by_handle(result.baked.action, result.baked.record.slot)
    return keyframes.curves_by_path(compat.channelbag(result.baked.action, slot))


def stored_keys(result):
    return {
        channel: {name: a.tobytes() for name, a in keyframes.read_keys(curve).arrays.items()}
        for channel, curve in curves_of(result).items()
    }


def as_it_was(before, ignore=()):
    bpy.context.view_layer.update()
    changes = diff(before, snapshot(), ignore)
    assert not changes, "\n".join(changes[:20])


def settled():
    """A snapshot after Blender has evaluated what the test has set up."""
    for obj in bpy.data.objects:
        obj.update_tag()
    scene = bpy.context.scene
    frame = scene.frame_current_final
    scene.frame_set(int(np.floor(frame)), subframe=frame - np.floor(frame))
    return snapshot()


# --- where the rig ends up --------------------------------------------------


@pytest.mark.parametrize("key_mode", ["DENSE", "SPARSE"])
def test_every_role_is_on_its_track(scene, key_mode):
    rig, tracks = small_rig(), small_tracks()
    result = bake_small(rig, tracks, start_frame=1, key_mode=key_mode)
    assert result.problems == ()
    assert (result.frames, result.bones) == (40, 10)
    if key_mode == "DENSE":
        # 7 channels for root, pelvis, hands and feet, 4 for the spine: a key a frame.
        assert result.keys == 40 * (6 * 7 + 4 * 4)
        assert_on_track(rig, tracks, 1)
    else:
        assert result.keys < 0.6 * 40 * (6 * 7 + 4 * 4)
        # The curves hold between their keys too.
        assert_on_track(rig, tracks, 1, frames=np.arange(0.0, 39.1, 0.5))


def test_what_holds_still_is_keyed_at_its_ends_alone(scene):
    """A neck that goes with the chest; a head that nods by a thousandth of a degree has all."""
    rig, tracks = small_rig(), small_tracks()
    rotation = dict(tracks.rotation)
    nod = quaternion(np.array((1.0, 0.0, 0.0)), radians(1e-3) * np.sin(7.0 * tracks.time))
    rotation["neck"] = rotation["chest"]
    rotation["head"] = product(rotation["neck"], nod)
    tracks = replace(tracks, rotation=rotation)
    result = bake_small(rig, tracks, start_frame=1)
    curves = curves_of(result)

    def keyed(bone):
        path = f"{bone_path(bone)}.rotation_quaternion"
        return [[key.co.x for key in curves[path, i].keyframe_points] for i in range(4)]

    assert keyed("neck") == [[1.0, 40.0]] * 4
    assert keyed("head") == [list(range(1, 41))] * 4
    assert_on_track(rig, tracks, 1)
    again = bake_small(rig, tracks, previous=result.baked, start_frame=1)
    assert stored_keys(again) == stored_keys(result)
    moved = bake_small(rig, small_tracks(), previous=again.baked, start_frame=1)
    assert moved.keys == 40 * (6 * 7 + 4 * 4), "it moves again: all of its keys"


def test_sparse_keys_are_the_more_accurate_on_every_channel(scene):
    """Of the same solved motion, dense and sparse, compared at subframes with the formula."""
    fine = small_tracks(steps=16)
    tracks = small_tracks(steps=2)
    rigs_ = {}
    for mode in ("DENSE", "SPARSE"):
        rig = small_rig(mode)
        rigs_[mode] = curves_of(bake_small(rig, tracks, start_frame=0, key_mode=mode))
    # What the channels would be at every sixteenth of a frame.
    rig = small_rig("truth")
    solver = RigSolver(
        rig, SMALL_ROLES, armature_frames("truth", np.eye(4)[None]), 1.0,
        np.array([1.0, 0.0, 0.0, 0.0]),
    )
    compared = 0
    for bone in solver.solve(fine.position, fine.rotation):
        for name, values in bone.properties():
            for index in range(values.shape[1]):
                path = f"{bone_path(bone.bone)}.{name}"
                errors = {}
                for mode, curves in rigs_.items():
                    curve = curves[path, index]
                    got = np.array([curve.evaluate(i / 16.0) for i in range(len(values))])
                    errors[mode] = np.abs(got - values[:, index])
                digit = 2e-6 * (1.0 + np.abs(values[:, index]).max())
                assert errors["SPARSE"].max() <= errors["DENSE"].max() + digit, path
                rms = {mode: np.sqrt((e**2).mean()) for mode, e in errors.items()}
                assert rms["SPARSE"] <= rms["DENSE"] + digit, path
                compared += 1
    assert compared == 58


def _fbx(rig):
    rig.scale = (0.01,) * 3
    rig.rotation_euler.x = radians(90.0)


def _parented(rig):
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location, parent.rotation_euler, parent.scale = (3, -2, 1), (0.3, 0.5, 2.0), (1.7,) * 3
    bpy.context.view_layer.update()
    rig.parent = parent
    rig.matrix_parent_inverse = Matrix.Rotation(0.7, 4, (1, 2, 3)) @ Matrix.Translation((1, 2, 3))


def _animated_parent(rig):
    _parented(rig)
    parent = rig.parent
    for frame, place, turn, size in ((-10, (0, 0, 0), 0.0, 1.0), (60, (9, 5, 2), 2.0, 1.8)):
        parent.location, parent.rotation_euler.z, parent.scale = place, turn, (size,) * 3
        for path in ("location", "rotation_euler", "scale"):
            parent.keyframe_insert(path, frame=frame)


def _delta(rig):
    rig.delta_location.z = 3.0
    rig.delta_rotation_euler = (0.2, 0.1, 0.4)
    rig.delta_scale = (0.5,) * 3


def _bone_parent(rig):
    other = small_rig("Carrier")
    other.pose.bones["pelvis"].rotation_quaternion = (0.9, 0.1, 0.3, 0.2)
    other.pose.bones["pelvis"].keyframe_insert("rotation_quaternion", frame=1)
    other.pose.bones["pelvis"].rotation_quaternion = (0.5, -0.4, 0.3, 0.2)
    other.pose.bones["pelvis"].keyframe_insert("rotation_quaternion", frame=30)
    rig.parent, rig.parent_type, rig.parent_bone = other, "BONE", "pelvis"


def _own_motion(rig):
    """The object is moved by NLA strips of its own."""
    rig.location = (0, 0, 0)
    rig.keyframe_insert("location", frame=1)
    rig.location = (4, 5, 6)
    rig.keyframe_insert("location", frame=30)
    data = rig.animation_data
    action, slot = data.action, data.action_slot
    data.action = None
    track = data.nla_tracks.new()
    track.strips.new("move", 1, action).action_slot = slot


@pytest.mark.parametrize(
    "transform",
    [_parented, _animated_parent, _delta, _bone_parent, _own_motion],
    ids=lambda f: f.__name__.strip("_"),
)
@pytest.mark.parametrize("key_mode", ["DENSE", "SPARSE"])
def test_the_armatures_transform_does_not_matter(scene, transform, key_mode):
    rig, tracks = small_rig(), small_tracks(origin=(2.0, 1.0, 0.5))
    transform(rig)
    scene.frame_set(1)
    before = [tuple(row) for row in rig.matrix_basis], tuple(rig.delta_location)
    result = bake_small(rig, tracks, start_frame=1, key_mode=key_mode)
    assert not [p for p in result.problems if p.severity != "INFO"]
    assert ([tuple(row) for row in rig.matrix_basis], tuple(rig.delta_location)) == before
    assert all(path.startswith("pose.bones") for path, _ in curves_of(result))
    halves = np.arange(0.0, 39.1, 0.5) if key_mode == "SPARSE" else None
    assert_on_track(rig, tracks, 1, frames=halves)


def test_a_rig_as_fbx_files_hold_it(scene):
    """Centimetres, +Y up, object scale 0.01 and a quarter turn about X."""
    rig, tracks = small_rig(scale=100.0, y_up=True), small_tracks()
    _fbx(rig)
    bpy.context.view_layer.update()
    before = tuple(rig.scale), tuple(rig.rotation_euler)
    assert bake_small(rig, tracks, start_frame=1).problems == ()
    assert (tuple(rig.scale), tuple(rig.rotation_euler)) == before
    # Armature space (x left, y up, z forward) in character space.
    assert_on_track(rig, tracks, 1, axes=np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], dtype=float))


@pytest.mark.parametrize("scale", [0.01, 0.001, 0.3048])
def test_unit_scale_makes_metres_of_blender_units(scene, scale):
    scene.unit_settings.scale_length = scale
    rig, tracks = small_rig(scale=1.0 / scale), small_tracks()
    assert bake_small(rig, tracks, start_frame=1).problems == ()
    assert_on_track(rig, tracks, 1, unit=scale)


def test_without_units_a_blender_unit_is_a_metre(scene):
    scene.unit_settings.system = "NONE"
    scene.unit_settings.scale_length = 0.01
    rig, tracks = small_rig(), small_tracks()
    bake_small(rig, tracks, start_frame=1)
    assert_on_track(rig, tracks, 1)


FLAGS = [
    {"use_inherit_rotation": False},
    {"use_local_location": False},
    {"use_inherit_rotation": False, "use_local_location": False},
    *({"inherit_scale": mode} for mode in ("FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE")),
    {"inherit_scale": "NONE_LEGACY"},
    {"inherit_scale": "NONE", "use_inherit_rotation": False},
    {"inherit_scale": "AVERAGE", "use_inherit_rotation": False},
]


@pytest.mark.parametrize("flags", FLAGS, ids=lambda f: "-".join(map(str, f.values())))
@pytest.mark.parametrize("master", ["rest", "posed", "scaled"])
def test_what_bones_inherit_does_not_matter(scene, flags, master):
    rig, tracks = small_rig(), small_tracks()
    for name in ("root", "pelvis", "hand.L", "foot.R", "chest", "head"):
        for flag, value in flags.items():
            setattr(rig.data.bones[name], flag, value)
    bone = rig.pose.bones["master"]
    if master != "rest":
        bone.location = (0.5, 1.0, -0.3)
        bone.rotation_quaternion = (0.8, 0.2, -0.4, 0.4)
    if master == "scaled":
        bone.scale = (1.4,) * 3
    assert bake_small(rig, tracks, start_frame=1).problems == ()
    assert_on_track(rig, tracks, 1)


def test_an_animated_unkeyed_parent_is_followed(scene):
    rig, tracks = small_rig(), small_tracks(frames=25)
    bone = rig.pose.bones["master"]
    target = bpy.data.objects.new("Target", None)
    scene.collection.objects.link(target)
    for frame in (1, 25):
        target.location = (frame, 2.0, 0.0)
        target.rotation_euler.z = frame / 20.0
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_euler", frame=frame)
    bone.constraints.new("COPY_TRANSFORMS").target = target
    assert bake_small(rig, tracks, start_frame=1).problems == ()
    assert_on_track(rig, tracks, 1)


def test_keyed_bones_under_bones_that_follow_other_keyed_bones(scene):
    """A rig whose controls hang on helpers that copy other controls, two deep."""
    rig, tracks = small_rig(), small_tracks(frames=20)
    rigs.edit_bones(
        rig,
        [("MCH-hand", "", (0, 0, 1), (0, 0.1, 1), 0, False),
         ("MCH-foot", "", (0, 0, 0), (0, 0.1, 0), 0, False)],
    )
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, parent in (("hand.L", "MCH-hand"), ("foot.L", "MCH-foot")):
        rig.data.edit_bones[bone].parent = rig.data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    for helper, target in (("MCH-hand", "pelvis"), ("MCH-foot", "hand.L")):
        constraint = rig.pose.bones[helper].constraints.new("COPY_TRANSFORMS")
        constraint.target, constraint.subtarget = rig, target
    result = bake_small(rig, tracks, start_frame=1)
    assert result.problems == ()
    assert_on_track(rig, tracks, 1)
    again = bake_small(rig, tracks, previous=result.baked, start_frame=1)
    assert stored_keys(again) == stored_keys(result)


MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")


@pytest.mark.parametrize("key_mode", ["DENSE", "SPARSE"])
def test_each_bone_is_keyed_in_its_own_rotation_mode(scene, key_mode):
    rig, tracks = small_rig(), small_tracks()
    rig.rotation_mode = "ZXY"
    modes = dict(zip(SMALL_ROLES, MODES * 2, strict=False))
    for name, mode in modes.items():
        rig.pose.bones[name].rotation_mode = mode
    result = bake_small(rig, tracks, start_frame=1, key_mode=key_mode)
    assert {name: rig.pose.bones[name].rotation_mode for name in modes} == modes
    assert rig.rotation_mode == "ZXY"
    for name, mode in modes.items():
        wanted = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
        rotation = {
            path.rpartition(".")[2]
            for path, _ in curves_of(result)
            if path.startswith(f'pose.bones["{name}"].rotation')
        }
        assert rotation == {wanted.get(mode, "rotation_euler")}
    assert result.problems == ()
    assert_on_track(rig, tracks, 1)


def _turning_root(degrees, frames=101):
    t = np.arange((frames - 1) * 2 + 1) / 48.0
    q = quaternion((0, 0, 1), radians(degrees) * t / t[-1])
    return RoleTracks(
        clock=Clock.even(t, 2), position={"root": np.zeros((len(t), 3))}, rotation={"root": q}
    )


def test_quaternions_never_change_sign_between_keys(scene):
    rig = small_rig()
    tracks = _turning_root(400.0)
    # Hand in signs that flip at random: the last step puts them right.
    signs = np.where(np.random.default_rng(2).random(len(tracks.time)) < 0.5, -1.0, 1.0)
    flipped = {"root": tracks.rotation["root"] * signs[:, None]}
    tracks = replace(tracks, rotation=flipped)
    result = bake_small(rig, tracks, roles={"root": "root"}, start_frame=1)
    curves = [curves_of(result)['pose.bones["root"].rotation_quaternion', i] for i in range(4)]
    keys = np.array([[c.evaluate(f) for c in curves] for f in range(1, 102)])
    assert (keys[1:] * keys[:-1]).sum(axis=1).min() > 0.9
    halves = np.array([[c.evaluate(f + 0.5) for c in curves] for f in range(1, 101)])
    assert np.abs(np.linalg.norm(halves, axis=1) - 1.0).max() < 0.01


@pytest.mark.parametrize("mode", ["XYZ", "YZX", "AXIS_ANGLE"])
def test_what_spins_keeps_counting(scene, mode):
    """25 turns about the axle of a wheel whose bone is rolled by 90 degrees."""
    rig = small_rig()
    rig.pose.bones["root"].rotation_mode = mode
    t = np.arange(400 + 1) / 48.0
    angle = 25.0 * 2.0 * np.pi * t / t[-1]
    tracks = RoleTracks(
        Clock.even(t, 2), {"root": np.zeros((len(t), 3))}, {"root": quaternion((1, 0, 0), angle)}
    )
    result = bake_small(rig, tracks, roles={"root": "root"}, start_frame=1, key_mode="DENSE")
    curves = curves_of(result)
    if mode == "AXIS_ANGLE":
        curve = curves['pose.bones["root"].rotation_axis_angle', 0]
        turned = abs(curve.evaluate(201) - curve.evaluate(1))
        assert turned == pytest.approx(angle[-1], rel=1e-5)
    else:
        # The root bone is rolled by 0.4 rad about its own length (world Y): the
        # axle lies between its X and Z axes.
        turned = [
            curves['pose.bones["root"].rotation_euler', i].evaluate(201)
            - curves['pose.bones["root"].rotation_euler', i].evaluate(1)
            for i in range(3)
        ]
        steps = np.diff(
            [[curves['pose.bones["root"].rotation_euler', i].evaluate(f) for i in range(3)]
             for f in range(1, 202)], axis=0,
        )
        assert np.abs(steps).max() < np.pi
        assert max(map(abs, turned)) == pytest.approx(angle[-1], abs=2.0 * np.pi)


# --- Poise's own characters -------------------------------------------------


@pytest.mark.parametrize("key_mode", ["DENSE", "SPARSE"])
def test_a_skier_follows_and_its_poles_stand_still_in_the_snow(scene, key_mode):
    rig = characters.build_character(bpy.context, "SKIER")
    figure = characters.figure_of(rig)
    tracks = rigs.skier_tracks(figure)
    roles = characters.ROLE_BONES["SKIER"]
    result = bake_tracks(
        bpy.context, Keyed(rig, roles, tracks, BakeOptions(start_frame=1, key_mode=key_mode))
    )
    assert result.problems == (), result.problems
    assert_on_track(rig, tracks, 1, roles)
    if key_mode == "SPARSE":
        for contact in tracks.contacts:
            for time in np.linspace(contact.start, contact.end, 7):
                frame = 1 + time * 24.0
                scene.frame_set(int(frame), subframe=frame % 1.0)
                tip = rigs.evaluated_bone(rig, "pole_tip.L")[:3, 3]
                assert np.linalg.norm(tip - contact.position) < 1e-4
    # Ankles and wrists, on the far side of the IK, are there too.
    for i in range(0, 60, 7):
        scene.frame_set(1 + i)
        for side in "LR":
            ski = rigs.evaluated_bone(rig, f"ski.{side}")
            rest = rig.data.bones[f"ski.{side}"].matrix_local
            foot = rig.data.bones[f"foot.{side}"].head_local
            wanted = (Matrix(ski) @ rest.inverted() @ foot)
            ankle = rigs.evaluated_bone(rig, f"foot.{side}")[:3, 3]
            assert (Vector(ankle) - wanted).length < MILLIMETRE


def test_check_bake_names_bone_error_and_frames(scene):
    rig, tracks = small_rig(), small_tracks()
    bake_small(rig, tracks, start_frame=10)
    limit = rig.pose.bones["hand.L"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    limit.owner_space = "LOCAL"
    far = rig.pose.bones["foot.R"].constraints.new("LIMIT_LOCATION")
    far.use_max_z, far.max_z, far.owner_space = True, 0.0, "LOCAL"
    problems = bake.check_bake(bpy.context, rig, SMALL_ROLES, tracks, 10, 1.0)
    found = {(p.bone, p.code): p for p in problems}
    assert set(found) == {("hand.L", "DIRECTION_OFF"), ("foot.R", "POSITION_OFF")}
    hand, foot = found["hand.L", "DIRECTION_OFF"], found["foot.R", "POSITION_OFF"]
    assert "hand.L" in hand.message and "frame" in hand.message and "°" in hand.message
    assert limit.name in hand.remedy
    # Rotating the bone's rest frame is undone in full: the error is the whole turn.
    worst = int(round(hand.time * 24.0))
    scene.frame_set(10 + worst)
    q = rig.pose.bones["hand.L"].rotation_quaternion
    assert hand.amount == pytest.approx(q.angle, abs=0.01)
    worst = int(round(foot.time * 24.0))
    scene.frame_set(10 + worst)
    assert foot.amount == pytest.approx(rig.pose.bones["foot.R"].location.z, abs=1e-3)
    # Sixteen frames find it as well when baking again.
    result = bake_small(rig, tracks, start_frame=10)
    assert {p.bone for p in result.problems} == {"hand.L", "foot.R"}


def test_a_limb_that_is_too_short_is_named_with_all_its_frames(scene):
    rig = characters.build_character(bpy.context, "SKIER")
    figure = characters.figure_of(rig)
    tracks = rigs.skier_tracks(figure, plants=())
    position = dict(tracks.position)
    rise = np.zeros_like(position["pelvis"])
    # For a tenth of a second the hips are half a metre too high.
    rise[60:66, 2] = 0.5
    position["pelvis"] = position["pelvis"] + rise
    tracks = replace(tracks, position=position)
    roles = characters.ROLE_BONES["SKIER"]
    result = bake_tracks(bpy.context, Keyed(rig, roles, tracks, BakeOptions(start_frame=1)))
    reach = {p.bone: p for p in result.problems if p.code == "REACH"}
    assert set(reach) == {"shin.L", "shin.R"}
    problem = reach["shin.L"]
    assert "mm short" in problem.message and "frames 31 to 33" in problem.message
    # The evaluated ankle misses by the same amount.
    off = next(p for p in result.problems if p.code == "POSITION_OFF" and p.bone == "shin.L")
    assert off.amount == pytest.approx(problem.amount, abs=2e-3)


def test_switches_are_keyed_only_where_they_hide_the_bake(scene):
    rig = characters.build_character(bpy.context, "SKIER")
    tracks = rigs.skier_tracks(characters.figure_of(rig))
    roles = characters.ROLE_BONES["SKIER"]
    rig.pose.bones["root"]["ik_leg.L"] = 0.0
    before = settled()
    result = bake_tracks(
        bpy.context,
        Keyed(rig, roles, tracks, BakeOptions(start_frame=1), held=characters.switches_of(rig)),
    )
    switched = [path for path, _ in curves_of(result) if "ik_" in path or "pole_lock" in path]
    assert switched == ['pose.bones["root"]["ik_leg.L"]']
    assert result.problems == ()
    again = bake_tracks(
        bpy.context,
        Keyed(rig, roles, tracks, BakeOptions(start_frame=1), held=characters.switches_of(rig)),
        previous=result.baked,
    )
    assert stored_keys(again) == stored_keys(result)
    clear_bake(bpy.context, rig, again.baked)
    as_it_was(before)


# --- what stays as it was ---------------------------------------------------


def _posed(rig):
    for i, bone in enumerate(rig.pose.bones):
        bone.location = (0.01 * i, 0.02, 0.03)
        bone.rotation_quaternion = Vector((1.0, 0.1, 0.02 * i, 0.0)).normalized()


def _with_action(rig):
    for frame, z in ((1, 0.0), (20, 1.0)):
        rig.pose.bones["pelvis"].location = (0, 0, z)
        rig.pose.bones["pelvis"].keyframe_insert("location", frame=frame)
    rig.location.x = 2.0
    rig.keyframe_insert("location", frame=5)


def _with_nla(rig):
    _with_action(rig)
    data = rig.animation_data
    action, slot = data.action, data.action_slot
    data.action = None
    track = data.nla_tracks.new()
    track.name = "Under"
    track.strips.new("walk", 3, action).action_slot = slot


def _with_blend(rig):
    _with_nla(rig)
    rig.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=3)
    rig.animation_data.action_blend_type = "ADD"
    rig.animation_data.action_influence = 0.25
    rig.animation_data.action_extrapolation = "NOTHING"


def _with_empty_data(rig):
    rig.animation_data_create()


def _with_unused_slots(rig):
    action = bpy.data.actions.new("Two slots")
    for name in ("A", "B"):
        action.slots.new(id_type="OBJECT", name=name)
    rig.animation_data_create().action = action
    rig.animation_data.action_slot = None


SETUPS = [
    lambda rig: None, _posed, _with_action, _with_nla, _with_blend, _with_empty_data,
    _with_unused_slots,
]


@pytest.mark.parametrize("setup", SETUPS, ids=lambda f: f.__name__.strip("_<>"))
@pytest.mark.parametrize(
    "options", [{}, {"key_mode": "SPARSE"}, {"push_to_nla": True}], ids=["dense", "sparse", "nla"]
)
def test_clear_brings_everything_back(scene, setup, options):
    rig, tracks = small_rig(), small_tracks()
    setup(rig)
    scene.frame_set(7, subframe=0.25)
    before = settled()
    result = bake_small(rig, tracks, start_frame=-12, **options)
    assert not [p for p in result.problems if p.severity != "INFO"], result.problems
    assert_on_track(rig, tracks, -12)
    text = result.baked.record.to_json()
    record = BakeRecord.from_json(json.dumps(json.loads(text)))
    assert record == result.baked.record
    baked = Baked(record, result.baked.action, result.baked.former_action)
    assert clear_bake(bpy.context, rig, baked) == ""
    as_it_was(before)


def test_frame_mode_selection_range_and_rate_stay(scene):
    rig = small_rig()
    cube = bpy.data.objects.new("Cube", bpy.data.meshes.new("Cube"))
    scene.collection.objects.link(cube)
    cube.select_set(True)
    rig.select_set(False)
    bpy.context.view_layer.objects.active = cube
    scene.frame_start, scene.frame_end = 3, 9
    scene.use_preview_range, scene.frame_preview_start = True, 5
    scene.render.fps, scene.render.fps_base = 30, 1.001
    scene.timeline_markers.new("mark", frame=4)
    scene.frame_set(-20, subframe=0.5)
    at = scene.frame_current, scene.frame_subframe
    assert sum(at) == -19.5
    before = settled()
    bake_small(rig, start_frame=-5)
    assert (scene.frame_current, scene.frame_subframe) == at
    changes = diff(before, snapshot(), [r"^actions", r"objects\['Rig'\]", r"armatures\['Rig'\]"])
    assert changes == []


@pytest.mark.parametrize("mode", ["OBJECT", "POSE", "mesh EDIT"])
def test_mode_and_selection_do_not_matter(scene, mode):
    rig, tracks = small_rig(), small_tracks()
    active = rig
    if mode == "mesh EDIT":
        active = bpy.data.objects.new("Cube", bpy.data.meshes.new("Cube"))
        scene.collection.objects.link(active)
    bpy.context.view_layer.objects.active = active
    bpy.ops.object.mode_set(mode=mode.split()[-1])
    for collection in rig.data.collections_all:
        collection.is_visible = False
    for bone in rig.pose.bones:
        compat.select_bone(bone, bone.name == "head")
        compat.hide_bone(bone, bone.name == "pelvis")
    result = bake_small(rig, tracks, start_frame=1)
    assert active.mode == mode.split()[-1]
    assert [b.name for b in rig.pose.bones if compat.bone_selected(b)] == ["head"]
    assert [b.name for b in rig.pose.bones if compat.bone_hidden(b)] == ["pelvis"]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_on_track(rig, tracks, 1)
    keys = stored_keys(result)
    plain = small_rig("Plain")
    assert stored_keys(bake_small(plain, tracks, start_frame=1)) == keys


def test_only_bones_that_the_motion_drives_are_keyed(scene):
    rig = small_rig()
    rigs.edit_bones(
        rig, [(f"face.{i}", "head", (0, 0, 1.6), (0, 0.01 * i + 0.01, 1.6), 0, False)
              for i in range(60)],
    )
    face = rig.pose.bones["face.7"]
    face.rotation_mode = "XYZ"
    for frame in (1, 5, 9):
        face.rotation_euler.x = frame
        face.keyframe_insert("rotation_euler", frame=frame)
    other = bpy.data.actions.new("Idle")
    other.use_fake_user = True
    by_hand = rig.animation_data.action
    before = settled()
    result = bake_small(rig, start_frame=1, target="CURRENT")
    assert result.baked.action == by_hand
    bones = {path.split('"')[1] for path, _ in curves_of(result)}
    assert bones == set(SMALL_ROLES.values()) | {"face.7"}
    changes = [c for c in diff(before, snapshot()) if c.startswith("actions")]
    assert not [c for c in changes if "face.7" in c and ".place" not in c], changes
    assert not [c for c in changes if c.startswith("actions['Idle']")]
    # Tracks that say less key less.
    few = small_rig("Few")
    tracks = small_tracks(roles=("root", "head"))
    result = bake_small(few, tracks, start_frame=1)
    assert {path.split('"')[1] for path, _ in curves_of(result)} == {"root", "head"}


def test_baking_again_gives_identical_keys_and_no_more_data(scene):
    rig, tracks = small_rig(), small_tracks()
    result = bake_small(rig, tracks, start_frame=1)
    keys, action = stored_keys(result), result.baked.action
    before = settled()
    scene.frame_set(17)  # another frame makes no difference
    amounts = counts()
    for _ in range(200):
        result = bake_small(rig, tracks, previous=result.baked, start_frame=1, verify=False)
    assert result.baked.action == action
    assert stored_keys(result) == keys
    assert counts() == amounts
    scene.frame_set(1)
    as_it_was(before)
    # And not only in the rig that has the bake already.
    assert stored_keys(bake_small(small_rig("Other"), tracks, start_frame=1)) == keys


def test_another_motion_replaces_the_last(scene):
    rig = small_rig()
    before = settled()
    result = bake_small(rig, small_tracks(), start_frame=1, key_mode="SPARSE")
    shorter = small_tracks(frames=21, roles=("root", "head", "hand.L"))
    result = bake_small(rig, shorter, previous=result.baked, start_frame=5)
    assert {path.split('"')[1] for path, _ in curves_of(result)} == {"root", "head", "hand.L"}
    assert_on_track(rig, shorter, 5, {r: r for r in ("root", "head", "hand.L")})
    # Bones that are no longer keyed stand as they stood before the first bake.
    assert rig.pose.bones["pelvis"].location.length == 0.0
    clear_bake(bpy.context, rig, result.baked)
    as_it_was(before)


# --- actions, slots, NLA ----------------------------------------------------


def test_a_new_action_is_named_and_assigned_with_its_own_slot(scene):
    rig = small_rig("Anna")
    result = bake_small(rig, start_frame=1, action_name="Anna Turns")
    data = rig.animation_data
    assert data.action == result.baked.action
    assert data.action.name == "Anna Turns"
    assert data.action_slot is not None and data.action_slot.name_display == "Anna"
    assert len(data.action.slots) == 1
    # A second character with the same name for its action gets one of its own.
    other = bake_small(small_rig("Berta"), start_frame=1, action_name="Anna Turns")
    assert other.baked.action != result.baked.action


def test_the_current_action_may_have_no_slot_or_slots_that_nobody_uses(scene):
    rig, tracks = small_rig(), small_tracks()
    _with_unused_slots(rig)
    assert rig.animation_data.action_slot is None
    result = bake_small(rig, tracks, start_frame=1, target="CURRENT")
    action = rig.animation_data.action
    assert action.name == "Two slots"
    assert rig.animation_data.action_slot.name_display == "Rig"
    assert len(action.slots) == 3
    assert_on_track(rig, tracks, 1)
    clear_bake(bpy.context, rig, result.baked)
    assert [slot.name_display for slot in action.slots] == ["A", "B"]
    assert rig.animation_data.action == action and rig.animation_data.action_slot is None


@pytest.mark.parametrize("same_slot", [True, False])
def test_a_copy_that_shares_the_action_stays_as_it_is(scene, same_slot):
    rig, tracks = small_rig(), small_tracks()
    _with_action(rig)
    copy = rig.copy()
    scene.collection.objects.link(copy)
    if not same_slot:
        slot = rig.animation_data.action.slots.new(id_type="OBJECT", name="Copy")
        copy.animation_data.action_slot = slot
    scene.frame_set(10)
    before = rigs.evaluated_bone(rig, "pelvis")
    own = settled()
    if same_slot:
        with pytest.raises(UserError, match="plays the same action"):
            bake_small(copy, tracks, start_frame=1, target="CURRENT")
        as_it_was(own)
        result = bake_small(copy, tracks, start_frame=1)
        assert result.baked.action != rig.animation_data.action
    else:
        result = bake_small(copy, tracks, start_frame=1, target="CURRENT")
        assert result.baked.action == rig.animation_data.action
    assert_on_track(copy, tracks, 1)
    scene.frame_set(10)
    assert np.abs(rigs.evaluated_bone(rig, "pelvis") - before).max() < 1e-6


def test_baking_again_leaves_a_copy_of_the_baked_rig_alone(scene):
    rig = small_rig()
    result = bake_small(rig, small_tracks(), start_frame=1)
    copy = rig.copy()
    scene.collection.objects.link(copy)
    scene.frame_set(20)
    before = rigs.evaluated_bone(copy, "pelvis")
    tracks = small_tracks(origin=(5.0, 5.0, 5.0))
    result = bake_small(rig, tracks, previous=result.baked, start_frame=1)
    assert_on_track(rig, tracks, 1)
    scene.frame_set(20)
    assert np.abs(rigs.evaluated_bone(copy, "pelvis") - before).max() < 1e-6
    clear_bake(bpy.context, rig, result.baked)
    assert copy.animation_data.action is not None


def test_into_the_current_action_keeps_the_animators_keys_outside(scene):
    rig, tracks = small_rig(), small_tracks(frames=20)
    pelvis = rig.pose.bones["pelvis"]
    for frame in (-30, -20, 90):
        pelvis.location.x = frame / 10.0
        pelvis.keyframe_insert("location", frame=frame)
    before = settled()
    result = bake_small(rig, tracks, start_frame=1, target="CURRENT")
    assert_on_track(rig, tracks, 1)
    curve = curves_of(result)['pose.bones["pelvis"].location', 0]
    frames = [key.co.x for key in curve.keyframe_points]
    assert frames == [-30.0, -20.0, *map(float, range(1, 21)), 90.0]
    types = {key.co.x: key.type for key in curve.keyframe_points}
    assert types[-30.0] == "KEYFRAME" and types[5.0] == "GENERATED"
    # The same motion elsewhere in time: only our keys move.
    result = bake_small(
        rig, tracks, previous=result.baked, start_frame=31, target="CURRENT", key_mode="SPARSE"
    )
    frames = [key.co.x for key in curves_of(result)['pose.bones["pelvis"].location', 0]
              .keyframe_points]
    assert frames[:3] == [-30.0, -20.0, 31.0] and frames[-2:] == [50.0, 90.0]
    assert_on_track(rig, tracks, 31)
    clear_bake(bpy.context, rig, result.baked)
    as_it_was(before, [r"handle_(left|right): "])


def test_two_motions_share_the_current_action(scene):
    rig = small_rig()
    _with_action(rig)
    rig.animation_data.action.use_fake_user = True
    tracks = small_tracks(frames=20, roles=("root", "head"))
    before = settled()
    options = {"target": "CURRENT", "roles": {"root": "root", "head": "head"}}
    first = bake_small(rig, tracks, start_frame=1, **options)
    second = bake_small(rig, tracks, start_frame=40, **options)
    roles = options["roles"]
    assert_on_track(rig, tracks, 1, roles)
    assert_on_track(rig, tracks, 40, roles)
    first = bake_small(rig, tracks, previous=first.baked, start_frame=3, **options)
    assert_on_track(rig, tracks, 3, roles)
    assert_on_track(rig, tracks, 40, roles)
    clear_bake(bpy.context, rig, first.baked)
    assert_on_track(rig, tracks, 40, roles)
    clear_bake(bpy.context, rig, second.baked)
    as_it_was(before)


@pytest.mark.parametrize("first_cleared", [0, 1])
@pytest.mark.parametrize("push", [False, True])
def test_motions_in_actions_of_their_own_are_cleared_in_any_order(scene, first_cleared, push):
    rig, tracks = small_rig(), small_tracks(frames=20)
    _with_action(rig)
    rig.animation_data.action_blend_type = "COMBINE"
    before = settled()
    bakes = [
        bake_small(rig, tracks, start_frame=start, action_name=name, push_to_nla=push)
        for start, name in ((1, "First"), (40, "Second"))
    ]
    assert_on_track(rig, tracks, 40)
    if push:
        assert_on_track(rig, tracks, 1)
    clear_bake(bpy.context, rig, bakes[first_cleared].baked)
    if push:
        assert_on_track(rig, tracks, (40, 1)[first_cleared])
    clear_bake(bpy.context, rig, bakes[1 - first_cleared].baked)
    as_it_was(before)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_strips_of_several_motions_do_not_cover_each_other(scene, order):
    rig, tracks = small_rig(), small_tracks(frames=20)
    starts = (1, 30, 60)
    for i in order:
        bake_small(
            rig, tracks, start_frame=starts[i], action_name=f"Motion {i}", push_to_nla=True,
            verify=False,
        )
    for start in starts:
        assert_on_track(rig, tracks, start)
    # Beyond the last one its end is held.
    scene.frame_set(79)
    end = rigs.evaluated_bone(rig, "root")
    scene.frame_set(200)
    assert np.abs(rigs.evaluated_bone(rig, "root") - end).max() < 1e-6


def test_contacts_closer_together_than_keys_can_be(scene):
    """At a hundredth of a frame a second there are several within a frame.

    Late frames stand further apart in single precision, which is 1/16 frame
    from frame 524288 on; keys beside whole frames must not fall on them.
    """
    from poise.addon.bake import contacts, sparse

    clock = Clock.running(9, 24.0, 500)
    values = np.tile((1.0, 2.0, 3.0), (len(clock.time), 1))
    times = [(0.5, 0.504), (0.506, 0.508), (0.53, 1.49), (1.499, 1.502), (3.01, 5.99)]
    spans = [contacts.Span(*pair, np.zeros(3)) for pair in times]
    held = list(contacts.held(values, None, "QUATERNION", clock.frames, spans, 1e-5))
    for start in (0, -20, 1_000_000):
        spacing = sparse.key_spacing(abs(start))
        frames, keyed = contacts.dense_keys(values, "location", clock, held, spacing)
        stored = np.float32(start + frames)
        assert (np.diff(stored.astype(float)) > 0.01).all()  # Blender takes nearer ones for one
        assert set(range(9)) <= set(frames.tolist())
        assert keyed.shape == (len(frames), 3)
    spacing = sparse.key_spacing(9)
    frames, _keyed = contacts.dense_keys(values, "location", clock, held, spacing)
    between = frames[frames % 1.0 != 0.0]
    np.testing.assert_allclose(between, (0.5, 0.53, 1.49, 3.02, 5.98), atol=1e-9)


def test_a_foot_that_rolls_is_where_it_stands_when_it_leaves_the_ground():
    """A bone turns about a point 0.05 from its head, on a parent that speeds up below it, and
    is off with an acceleration of 2 a frame and frame: at the end of the contact, between two
    samples, it is where these formulas have it."""
    from poise.addon.bake import contacts

    def angle(t):
        return 0.04 * np.maximum(t - 3.0, 0.0) ** 3 / (1.0 + np.maximum(t - 3.0, 0.0) ** 2)

    def where(t):
        """Location and quaternion, seen from the parent."""
        t = np.atleast_1d(t)
        turn = quaternion((1, 0, 0), angle(t))
        point = np.stack((0.0 * t, 0.03 * t + 1e-4 * t**2, 0.0 * t), axis=-1)
        arm = np.stack((0.0 * t, 0.05 * np.cos(angle(t)), 0.05 * np.sin(angle(t))), axis=-1)
        off = np.maximum(t - end, 0.0)[:, None] ** 2 * (0.0, -1.0, 0.7)
        return point - arm + off, turn

    for end in (6.05, 6.25, 6.46, 6.8):
        at = np.arange(25) / 2.0
        location, turn = where(at)
        span = contacts.Span(1.2, end, np.array((0.0, 0.05, 0.0)))
        held = list(contacts.held(location, turn, "QUATERNION", at, [span], 1e-5))
        for name, values, true in zip(
            ("location", "rotation"), (location, turn), where(end), strict=True
        ):
            frames, keyed = contacts.dense_keys(values, name, Clock.even(at, 2), held, 0.02)
            assert keyed[np.isclose(frames, end)] == pytest.approx(true, abs=2e-4)
            pinned = contacts.pinned(held)[1]
            assert pinned.values == pytest.approx(np.concatenate(where(end), axis=1)[0], abs=2e-4)


def test_a_limb_has_keys_at_the_ends_of_its_contacts():
    """A shoulder blade turns fastest as its foot is lifted: in half a frame too far for a
    straight line, and smoothly."""
    from poise.addon.bake import contacts

    def angle(t):
        return 0.35 / np.cosh((t - 7.3) / 0.9)

    at = np.arange(33) / 2.0
    clock = Clock.even(at, 2)
    turn = {"rotation": quaternion((1, 0, 0), angle(at))}
    values = turn["rotation"]
    span = contacts.Span(1.2, 7.3, np.zeros(3))
    straight = contacts.dense_keys(values, "rotation", clock, [], 0.02)
    limb = contacts.Along(span, {*turn})
    for known in ({}, {7.3: {"rotation": np.array((1.0, 0.0, 0.0, 0.0))}}):
        frames, keyed = contacts.dense_keys(values, "rotation", clock, [limb], 0.02, known)
        assert sorted({*frames} - {*straight[0]}) == [1.2, 7.3]
        (row,) = keyed[frames == 7.3]
        wanted = known[7.3]["rotation"] if known else quaternion((1, 0, 0), angle(7.3))
        assert row == pytest.approx(wanted, abs=2e-3)
        assert not limb.tells("location")
    halfway = np.interp(7.3, straight[0], 2.0 * np.arctan2(straight[1][:, 1], straight[1][:, 0]))
    assert abs(halfway - angle(7.3)) > np.radians(1.0), "without a key it is off"


def test_edits_in_the_current_action(scene):
    rig, tracks = small_rig(), small_tracks()
    rig.pose.bones["master"].keyframe_insert("location", frame=1)
    mine = rig.animation_data.action
    result = bake_small(rig, tracks, start_frame=1, target="CURRENT")
    _edit(result)
    before = settled()
    with pytest.raises(UserError, match="cannot be kept as a layer"):
        bake_small(
            rig, tracks, previous=result.baked, start_frame=1, target="CURRENT",
            on_edited="KEEP_EDITS",
        )
    as_it_was(before)
    again = bake_small(
        rig, tracks, previous=result.baked, start_frame=1, target="CURRENT",
        on_edited="NEW_ACTION",
    )
    assert again.baked.action != mine and again.baked.former_action == mine
    assert_on_track(rig, tracks, 1)
    assert stored_keys(result).keys() > stored_keys(again).keys()


def test_keys_of_the_animators_in_the_range_are_not_replaced(scene):
    rig = small_rig()
    _with_action(rig)
    before = settled()
    with pytest.raises(UserError, match="pelvis has keys of yours.*frame 1.*new action"):
        bake_small(rig, start_frame=1, target="CURRENT")
    as_it_was(before)


@pytest.mark.parametrize("trouble", ["lock", "mute", "modifier", "group lock", "group mute"])
def test_curves_that_would_not_play_are_refused(scene, trouble):
    rig = small_rig()
    rig.pose.bones["pelvis"].keyframe_insert("location", frame=500, group="pelvis")
    data = rig.animation_data
    curve = compat.action_fcurves(data.action, data.action_slot)[1]
    if trouble == "modifier":
        curve.modifiers.new("CYCLES")
    elif trouble.startswith("group"):
        setattr(curve.group, trouble.split()[1], True)
    else:
        setattr(curve, trouble, True)
    before = settled()
    with pytest.raises(UserError, match="curve of bone pelvis .*(locked|muted|modifier)"):
        bake_small(rig, start_frame=1, target="CURRENT")
    as_it_was(before)
    bake_small(rig, start_frame=1)
    assert_on_track(rig, small_tracks(), 1)


def test_own_curves_that_were_locked_or_muted_play_again(scene):
    rig, tracks = small_rig(), small_tracks()
    result = bake_small(rig, tracks, start_frame=1)
    for curve in curves_of(result).values():
        curve.lock = curve.mute = True
        curve.group.lock = curve.group.mute = True
    bake_small(rig, tracks, previous=result.baked, start_frame=1)
    assert_on_track(rig, tracks, 1)


def test_pushing_down_and_back(scene):
    rig, tracks = small_rig(), small_tracks()
    _with_action(rig)
    rig.animation_data.action.use_fake_user = True
    before = settled()
    result = bake_small(rig, tracks, start_frame=-7, push_to_nla=True, action_name="Turns")
    data = rig.animation_data
    assert data.action is None
    [track] = data.nla_tracks
    [strip] = track.strips
    assert (track.name, strip.action.name) == ("Turns", "Turns")
    assert (strip.frame_start, strip.frame_end) == (-7.0, 32.0)
    assert_on_track(rig, tracks, -7)
    longer = small_tracks(frames=60)
    result = bake_small(
        rig, longer, previous=result.baked, start_frame=3, push_to_nla=True, action_name="Turns"
    )
    [strip] = rig.animation_data.nla_tracks[0].strips
    assert (strip.frame_start, strip.frame_end) == (3.0, 62.0)
    assert_on_track(rig, longer, 3)
    result = bake_small(rig, tracks, previous=result.baked, start_frame=1)
    assert not rig.animation_data.nla_tracks
    assert rig.animation_data.action == result.baked.action
    assert_on_track(rig, tracks, 1)
    clear_bake(bpy.context, rig, result.baked)
    as_it_was(before)


def test_tweak_mode_is_refused(scene):
    rig = small_rig()
    _with_nla(rig)
    track = rig.animation_data.nla_tracks[0]
    strip = track.strips[0]
    strip.frame_start, strip.scale = 20, 2.0
    rig.animation_data.nla_tracks.active = track
    strip.select = True
    rig.animation_data.use_tweak_mode = True
    assert rig.animation_data.use_tweak_mode
    before = settled()
    for target in ("NEW", "CURRENT"):
        with pytest.raises(UserError, match="tweak mode.*Tab"):
            bake_small(rig, start_frame=1, target=target)
    as_it_was(before)
    rig.animation_data.use_tweak_mode = False
    result = bake_small(rig, start_frame=1)
    rig.animation_data.use_tweak_mode = True
    before = settled()
    assert rig.animation_data.use_tweak_mode
    with pytest.raises(UserError, match="tweak mode.*Tab"):
        clear_bake(bpy.context, rig, result.baked)
    as_it_was(before)


def test_a_solo_track_is_refused_and_one_above_is_overruled(scene):
    rig, tracks = small_rig(), small_tracks()
    _with_nla(rig)
    track = rig.animation_data.nla_tracks[0]
    track.is_solo = True
    before = settled()
    with pytest.raises(UserError, match="track Under .* star"):
        bake_small(rig, start_frame=1)
    as_it_was(before)
    track.is_solo = False
    assert bake_small(rig, tracks, start_frame=1).problems == ()
    assert_on_track(rig, tracks, 1)


def test_an_active_action_that_is_added_or_weakened(scene):
    rig, tracks = small_rig(), small_tracks()
    _with_blend(rig)
    before = settled()
    with pytest.raises(UserError, match="Add, influence 0.25"):
        bake_small(rig, start_frame=1, target="CURRENT")
    as_it_was(before)
    bake_small(rig, tracks, start_frame=1)
    assert_on_track(rig, tracks, 1)


def test_the_animators_own_keys_in_a_baked_action_outlive_clear(scene):
    rig = small_rig()
    result = bake_small(rig, start_frame=1)
    master = rig.pose.bones["master"]
    master.location = (1, 0, 0)
    master.keyframe_insert("location", frame=5)
    action = result.baked.action
    note = clear_bake(bpy.context, rig, result.baked)
    assert "keys of yours" in note
    assert rig.animation_data.action == action
    left = {c.data_path for c in compat.action_fcurves(action, rig.animation_data.action_slot)}
    assert left == {'pose.bones["master"].location'}


def test_clear_leaves_an_action_that_the_animator_assigned_since(scene):
    rig = small_rig()
    result = bake_small(rig, start_frame=1)
    mine = bpy.data.actions.new("Mine")
    rig.animation_data.action = mine
    clear_bake(bpy.context, rig, result.baked)
    assert rig.animation_data.action == mine
    assert [a.name for a in bpy.data.actions] == ["Mine"]


def test_clear_after_the_rig_or_the_action_was_deleted(scene):
    rig = small_rig()
    result = bake_small(rig, start_frame=1)
    bpy.data.objects.remove(rig)
    assert clear_bake(bpy.context, None, result.baked) == ""
    assert not bpy.data.actions
    rig = small_rig("Second")
    result = bake_small(rig, start_frame=1)
    baked = Baked(result.baked.record, None)
    bpy.data.actions.remove(result.baked.action)
    clear_bake(bpy.context, rig, baked)
    result = bake_small(rig, previous=baked, start_frame=1)
    assert_on_track(rig, small_tracks(), 1)


# --- edited keys ------------------------------------------------------------


def _edit(result, path='pose.bones["hand.L"].location', index=2, frame=11.0, by=0.25):
    curve = curves_of(result)[path, index]
    key = min(curve.keyframe_points, key=lambda k: abs(k.co.x - frame))
    key.co_ui.y += by
    curve.update()
    return key.co.x


def test_edited_keys_are_never_silently_lost(scene):
    rig, tracks = small_rig(), small_tracks()
    result = bake_small(rig, tracks, start_frame=1)
    _edit(result)
    before = settled()
    with pytest.raises(UserError, match="hand.L .* edited.*Overwrite, Keep Edits"):
        bake_small(rig, tracks, previous=result.baked, start_frame=1)
    as_it_was(before)
    result = bake_small(rig, tracks, previous=result.baked, start_frame=1, on_edited="OVERWRITE")
    assert_on_track(rig, tracks, 1)
    bake_small(rig, tracks, previous=result.baked, start_frame=1)  # nothing to ask about


EDITS = ("value", "time", "deleted key", "deleted curve", "interpolation", "modifier")


@pytest.mark.parametrize(
    ("key_mode", "change"),
    # Straight lines have no handles that matter.
    [(mode, edit) for mode in ("DENSE", "SPARSE") for edit in EDITS] + [("SPARSE", "handle")],
)
def test_every_kind_of_edit_is_noticed(scene, key_mode, change):
    rig, tracks = small_rig(), small_tracks()
    result = bake_small(rig, tracks, start_frame=1, key_mode=key_mode)
    assert bake.edits.edited_channels(result.baked) == []
    channel = 'pose.bones["foot.R"].rotation_quaternion', 3
    slot = compat.slot_by_handle(result.baked.action, result.baked.record.slot)
    bag = compat.channelbag(result.baked.action, slot)
    curve = curves_of(result)[channel]
    keys = curve.keyframe_points
    if change == "value":
        keys[3].co.y += 1e-3
    elif change == "time":
        keys[3].co.x += 0.25
    elif change == "deleted key":
        keys.remove(keys[3])
    elif change == "deleted curve":
        bag.fcurves.remove(curve)
    elif change == "interpolation":
        keys[3].interpolation = "CONSTANT"
    elif change == "handle":
        keys[3].handle_right.y += 0.01
    else:
        curve.modifiers.new("NOISE")
    assert bake.edits.edited_channels(result.baked) == [channel]


@pytest.mark.parametrize("key_mode", ["DENSE", "SPARSE"])
def test_kept_edits_lie_on_top_of_the_new_motion(scene, key_mode):
    rig, tracks = small_rig(), small_tracks()
    before = settled()
    result = bake_small(rig, tracks, start_frame=1, key_mode=key_mode)
    at = _edit(result)
    turned = _edit(result, 'pose.bones["head"].rotation_quaternion', 1, 21.0, 0.3)
    scene.frame_set(int(turned))
    head = rigs.evaluated_bone(rig, "head")
    moved = small_tracks(origin=(0.0, 0.0, 2.0))
    result = bake_small(
        rig, moved, previous=result.baked, start_frame=1, key_mode=key_mode,
        on_edited="KEEP_EDITS",
    )
    assert result.baked.edits_action is not None
    far, _ = world_errors(rig, {"hand.L": "hand.L"}, moved, 1, frames=[int(at) - 1])
    assert far == pytest.approx(0.25, abs=2e-3)
    far, wide = world_errors(rig, SMALL_ROLES, moved, 1, frames=[0, 30, 39])
    assert far < MILLIMETRE and wide < DIRECTION
    # The head is turned as it was turned by hand, two metres higher up.
    scene.frame_set(int(turned))
    now = rigs.evaluated_bone(rig, "head")
    assert np.abs(now[:3, :3] - head[:3, :3]).max() < 2e-3
    # Again, with a further edit: both are kept, and no more data than before.
    amounts = counts()
    _edit(result, by=0.125)
    result = bake_small(
        rig, moved, previous=result.baked, start_frame=1, key_mode=key_mode,
        on_edited="KEEP_EDITS",
    )
    far, _ = world_errors(rig, {"hand.L": "hand.L"}, moved, 1, frames=[int(at) - 1])
    assert far == pytest.approx(0.375, abs=3e-3)
    assert counts() == amounts
    clear_bake(bpy.context, rig, result.baked)
    scene.frame_set(1)
    as_it_was(before)


@pytest.mark.parametrize("key_mode", ["DENSE", "SPARSE"])
def test_keys_as_baked_are_read_from_files_of_older_builds(scene, key_mode):
    """Those have no digest; where there is one, what something else has changed is not used."""
    result = bake_small(small_rig(), start_frame=1, key_mode=key_mode)
    action, record = result.baked.action, result.baked.record
    group = action[record.store]

    def digests():
        found = [curve.digest() for curve in bake.edits.load(action, record.store)]
        return dict(zip(record.channels(), found, strict=False))

    written = {
        (path, int(i)): digest for path, own in record.curves.items() for i, digest in own.items()
    }
    assert digests() == written
    own = group["points"][7]
    group["points"][7] = own + 1.0
    assert digests() == {}
    for name in ("schema", "version", "holds", "digest"):
        del group[name]
    assert len(digests()) == len(written) and digests() != written
    group["points"][7] = own
    assert digests() == written


def test_baking_to_a_new_action_keeps_the_edited_one(scene):
    rig, tracks = small_rig(), small_tracks()
    before = settled()
    result = bake_small(rig, tracks, start_frame=1)
    _edit(result)
    edited, keys = result.baked.action, stored_keys(result)
    again = bake_small(
        rig, tracks, previous=result.baked, start_frame=1, on_edited="NEW_ACTION"
    )
    assert again.baked.action != edited
    assert edited.use_fake_user
    assert stored_keys(result) == keys
    assert_on_track(rig, tracks, 1)
    clear_bake(bpy.context, rig, again.baked)
    as_it_was(before, [r"^actions\["])


# --- what is refused, before anything is written ------------------------------


def _scaled(*scale):
    return lambda rig: setattr(rig, "scale", scale)


def _sheared(rig):
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale = (1.0, 1.0, 1.5)
    rig.parent = parent
    rig.rotation_euler = (0.5, 0.4, 0.3)


def _edit_mode(rig):
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")


def _shared_edit_mode(rig):
    other = bpy.data.objects.new("Other", rig.data)
    bpy.context.scene.collection.objects.link(other)
    _edit_mode(other)


def _excluded(rig):
    collection = bpy.data.collections.new("Off")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(rig)
    collection.objects.link(rig)
    bpy.context.view_layer.layer_collection.children["Off"].exclude = True


def _unlinked(rig):
    bpy.context.scene.collection.objects.unlink(rig)


def _driver(rig):
    rig.pose.bones["hand.R"].driver_add("location", 0)


def _constraint(kind, bone=None):
    def setup(rig):
        owner = rig.pose.bones[bone] if bone else rig
        target = bpy.data.objects.new("Target", None)
        bpy.context.scene.collection.objects.link(target)
        owner.constraints.new(kind).target = target

    return setup


def _no_hand(rig):
    _edit_mode(rig)
    rig.data.edit_bones.remove(rig.data.edit_bones["hand.L"])
    bpy.ops.object.mode_set(mode="OBJECT")


def _connected(rig):
    _edit_mode(rig)
    bone = rig.data.edit_bones["pelvis"]
    rig.data.edit_bones["root"].tail = bone.head
    bone.use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")


REFUSED = {
    "zero scale": (_scaled(0, 0, 0), "scaled to zero"),
    "flat": (_scaled(1, 1, 0), "scaled to zero"),
    "uneven scale": (_scaled(1, 1, 1.1), r"scaled unevenly \(1, 1, 1.1\)"),
    "mirrored": (_scaled(-1, 1, 1), "mirrored"),
    "sheared": (_sheared, "sheared|unevenly"),
    "edit mode": (_edit_mode, "Edit Mode: leave it"),
    "edit mode of a user of the same data": (_shared_edit_mode, "Edit Mode"),
    "excluded": (_excluded, "not part of this view layer"),
    "unlinked": (_unlinked, "not part of this view layer"),
    "disabled": (lambda rig: setattr(rig, "hide_viewport", True), "not part of this view layer"),
    "driver": (_driver, "Drivers move bone hand.R"),
    "follow path": (_constraint("FOLLOW_PATH"), r"\(Follow Path\) moves Rig"),
    "child of": (_constraint("CHILD_OF"), r"\(Child Of\) moves Rig"),
    "copy location": (_constraint("COPY_LOCATION", "root"), r"\(Copy Location\) on bone root"),
    "missing bone": (_no_hand, "has no bone hand.L"),
    "connected bone": (_connected, "pelvis of Rig is connected to root"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_one_sentence_and_nothing_changed(scene, case):
    setup, sentence = REFUSED[case]
    rig = small_rig()
    setup(rig)
    before = settled() if rig.mode != "EDIT" and case != "edit mode of a user of the same data" \
        else snapshot()
    with pytest.raises(UserError, match=sentence) as caught:
        bake_small(rig, start_frame=1)
    message = str(caught.value)
    assert "\n" not in message and "Rig" in message and ":" in message
    assert not diff(before, snapshot())
    if bpy.context.object is not None and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


def test_a_muted_constraint_or_driver_is_no_hindrance(scene):
    rig, tracks = small_rig(), small_tracks()
    _constraint("FOLLOW_PATH")(rig)
    rig.constraints[0].mute = True
    _driver(rig)
    rig.animation_data.drivers[0].mute = True
    bake_small(rig, tracks, start_frame=1)
    assert_on_track(rig, tracks, 1)
    assert len(rig.animation_data.drivers) == 1


def test_a_parent_that_loses_its_size_on_the_way_is_refused(scene):
    rig = small_rig()
    _parented(rig)
    for frame, size in ((1, 1.0), (20, 0.0)):
        rig.parent.scale = (size,) * 3
        rig.parent.keyframe_insert("scale", frame=frame)
    scene.frame_set(1)
    before = settled()
    with pytest.raises(UserError, match="scaled to zero"):
        bake_small(rig, start_frame=1)
    as_it_was(before)
    assert scene.frame_current == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_no_number_that_is_none_reaches_a_key(scene, bad):
    rig, tracks = small_rig(), small_tracks()
    tracks.position["root"][33, 1] = bad
    before = settled()
    with pytest.raises(UserError, match="no position for root at frame 17"):
        bake_small(rig, tracks, start_frame=1)
    as_it_was(before)


def test_frames_beyond_blenders_are_refused_and_negative_ones_are_not(scene):
    rig = small_rig()
    with pytest.raises(UserError, match="frames end at"):
        bake_small(rig, start_frame=1048570)
    tracks = small_tracks(frames=5)
    bake_small(rig, tracks, start_frame=-1000)
    assert_on_track(rig, tracks, -1000)


@pytest.mark.parametrize("frames", [1, 2, 3])
@pytest.mark.parametrize("key_mode", ["DENSE", "SPARSE"])
def test_very_short_motions(scene, frames, key_mode):
    rig, tracks = small_rig(), small_tracks(frames=frames)
    result = bake_small(rig, tracks, start_frame=0, key_mode=key_mode)
    assert result.frames == frames
    assert_on_track(rig, tracks, 0)


def test_an_error_half_way_leaves_everything_as_it_was(scene, monkeypatch):
    rig = small_rig()
    _parented(rig)
    rig.parent.keyframe_insert("location", frame=1)
    _with_action(rig)
    scene.frame_set(4)
    before = settled()
    calls = iter(range(30))

    def stop(context, frames):
        for frame in frames:
            next(calls)
            context.scene.frame_set(int(frame))
            yield frame

    monkeypatch.setattr(bake.evaluation.evaluate, "through", stop)
    with pytest.raises(Exception):  # noqa: B017
        bake_small(rig, start_frame=1)
    monkeypatch.undo()
    as_it_was(before)


# --- names, scenes, libraries -----------------------------------------------


def test_names_in_any_script_and_names_that_are_taken(scene):
    name = "前足の骨" * 5
    rig = small_rig(name)
    rig.pose.bones["hand.L"].name = '手"\\[1]'
    bpy.data.meshes.new(name)
    bpy.data.actions.new(f"{name} Motion")
    roles = SMALL_ROLES | {"hand.L": '手"\\[1]'}
    tracks = small_tracks()
    result = bake_small(rig, tracks, roles=roles, start_frame=1)
    assert result.bones == 10 and result.problems == ()
    assert_on_track(rig, tracks, 1, roles)
    before = stored_keys(result)
    result = bake_small(rig, tracks, roles=roles, previous=result.baked, start_frame=1)
    assert stored_keys(result) == before
    clear_bake(bpy.context, rig, result.baked)


def test_the_operators_own_scene_counts(scene):
    rig, tracks = small_rig(), small_tracks()
    other = bpy.data.scenes.new("Zweite")
    other.unit_settings.scale_length = 0.01
    other.frame_set(77)
    bake_small(rig, tracks, start_frame=1)
    assert other.frame_current == 77
    assert_on_track(rig, tracks, 1)


def _library(tmp_path):
    rig = small_rig("Hero")
    path = str(tmp_path / "hero.blend")
    bpy.data.libraries.write(path, {rig}, fake_user=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (there, here):
        here.objects = there.objects
    rig = bpy.data.objects["Hero"]
    bpy.context.scene.collection.objects.link(rig)
    return rig


def test_a_linked_rig_is_refused_with_the_remedy(scene, tmp_path):
    rig = _library(tmp_path)
    before = settled()
    with pytest.raises(UserError, match="linked from another file.*library override"):
        bake_small(rig, start_frame=1)
    as_it_was(before)


def test_an_overridden_rig_is_baked_and_keeps_it_when_loaded_again(scene, tmp_path):
    rig = _library(tmp_path).override_hierarchy_create(
        bpy.context.scene, bpy.context.view_layer, do_fully_editable=True
    )
    if rig.name not in bpy.context.scene.collection.objects:
        bpy.context.scene.collection.objects.link(rig)
    tracks = small_tracks()
    before = settled()
    result = bake_small(rig, tracks, start_frame=1, push_to_nla=False)
    assert_on_track(rig, tracks, 1)
    clear_bake(bpy.context, rig, result.baked)
    as_it_was(before, [r"override_library", r"is_override_data"])
    result = bake_small(rig, tracks, start_frame=1)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = next(o for o in bpy.data.objects if o.override_library is not None)
    assert rig.animation_data.action.library is None
    assert_on_track(rig, tracks, 1)


def test_a_baked_file_plays_the_same_after_loading_in_any_order_of_frames(scene, tmp_path):
    rig, tracks = small_rig(), small_tracks()
    bake_small(rig, tracks, start_frame=1, key_mode="SPARSE")
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Rig"]
    assert_on_track(rig, tracks, 1, frames=[39, 3, 17, 0, 16])


def test_an_error_while_writing_leaves_no_new_action(scene, monkeypatch):
    rig, tracks = small_rig(), small_tracks()
    _with_action(rig)
    before = settled()

    def fail(*args):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(bake.write.edits, "store", fail)
        with pytest.raises(MemoryError):
            bake_small(rig, tracks, start_frame=1)
    as_it_was(before)
    # The rig plays another action than the last bake's: that one comes back.
    result = bake_small(rig, tracks, start_frame=1)
    other = bpy.data.actions.new("Other")
    rig.animation_data.action = other
    with monkeypatch.context() as patch:
        patch.setattr(bake.write, "_write", fail)
        with pytest.raises(MemoryError):
            bake_small(rig, tracks, previous=result.baked, start_frame=1)
    assert rig.animation_data.action == other
