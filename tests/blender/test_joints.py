# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint tracks on rigs of all classes: bones turn as asked, in Blender's own evaluation.

Turns are asked of formulas; they are read back as Blender's `matrix_basis` where nothing but
channels moves a bone, and otherwise from the poses of a bone and its parent: with rest matrices
R and poses P, (R_parent^-1 R)^-1 P_parent^-1 P.
"""

from dataclasses import replace

import bpy
import numpy as np
import pytest
import rig_files
from bake_rigs import (
    SMALL_ROLES,
    product,
    quaternion,
    skier_tracks,
    small_motion,
    small_rig,
    small_tracks,
    world_errors,
)
from mathutils import Matrix, Quaternion
from poise.addon.bake import BakeOptions, Keyed, bake_tracks, clear_bake
from poise.addon.errors import UserError
from poise.addon.mapping.tracks import JointTracks, Spin
from poise.addon.rigs import characters
from poise.solvers.clock import Clock
from snapshot import diff, snapshot

START = 11
MODES = {
    "master": "XYZ", "root": "ZXY", "pelvis": "QUATERNION", "spine": "AXIS_ANGLE",
    "chest": "YXZ", "hand.L": "AXIS_ANGLE", "hand.R": "ZYX",
}


def asked(names, frames=24, places=(), size=0.8, uneven=False):
    """Smooth turns about axes of each bone's own, and places of some."""
    rng = np.random.default_rng(1)
    clock = Clock.running(frames, 24.0, 2)
    if uneven:
        clock = clock.with_rows(np.random.default_rng(5).uniform(0.0, clock.time[-1], 30))
    phase = 2.0 * np.pi * clock.time
    turn, place = {}, {}
    for name in names:
        one, other = rng.normal(size=(2, 3))
        begun = rng.uniform(0.0, 6.0)
        turn[name] = product(
            quaternion(one / np.linalg.norm(one), size * np.sin(phase + begun)),
            quaternion(other / np.linalg.norm(other), size * np.cos(0.5 * phase + begun)),
        )
        if name in places:
            place[name] = 0.1 * np.sin(phase[:, None] + rng.uniform(0.0, 6.0, 3))
    return JointTracks(clock, turn, place)


def bake(rig, tracks, **options):
    options = BakeOptions(start_frame=START, **options)
    return bake_tracks(bpy.context, Keyed(rig, {}, tracks, options))


def at(frame):
    bpy.context.scene.frame_set(int(np.floor(frame)), subframe=float(frame % 1.0))
    return bpy.context.evaluated_depsgraph_get()


def seen_from_parent(rig, name):
    """A bone against its rest pose in its parent, of bones that inherit everything."""
    bone = rig.pose.bones[name]
    rest = bone.parent.bone.matrix_local.inverted() @ bone.bone.matrix_local
    return rest.inverted() @ bone.parent.matrix.inverted() @ bone.matrix


def worst(rig, tracks, read, names=None, frames=None):
    """Largest angle in radians and distance in units from what was asked."""
    wide = far = 0.0
    for frame in range(tracks.clock.count) if frames is None else frames:
        row = int(tracks.clock.row_of(frame))
        evaluated = rig.evaluated_get(at(START + frame))
        for name in names or tracks.bones():
            place, turn, _ = read(evaluated, name).decompose()
            off = product(tracks.turn[name][row] * (1.0, -1.0, -1.0, -1.0), np.array(turn))
            wide = max(wide, 2.0 * np.arctan2(np.linalg.norm(off[1:]), abs(off[0])))
            if name in tracks.place:
                far = max(far, float(np.abs(np.array(place) - tracks.place[name][row]).max()))
    return wide, far


def basis(evaluated, name):
    return evaluated.pose.bones[name].matrix_basis


def never_set_up():
    """Bones of all modes, connected, on odd terms with their parents, on an uneven object."""
    rig = small_rig()
    for name, mode in MODES.items():
        rig.pose.bones[name].rotation_mode = mode
    bones = rig.data.bones
    bones["hand.L"].use_inherit_rotation = bones["hand.R"].use_local_location = False
    bones["foot.L"].inherit_scale = "NONE"
    rig.scale = (2.0, 1.0, 0.5)
    at(1)
    return rig


def test_any_armature_turns_as_asked(scene):
    rig = never_set_up()
    before = snapshot()
    tracks = asked([b.name for b in rig.pose.bones], places=("master", "hand.L", "hand.R", "spine"))
    tracks = replace(tracks, place={n: p for n, p in tracks.place.items() if n != "spine"})
    result = bake(rig, tracks)
    assert result.problems == ()
    assert set(result.baked.record.curves) == {
        *(f'pose.bones["{n}"].location' for n in tracks.place),
        *(f'pose.bones["{b.name}"].{_property(b)}' for b in rig.pose.bones),
    }
    # Single precision: 1.2e-7 of values up to about 3.
    wide, far = worst(rig, tracks, basis)
    assert wide < 1e-6 and far < 1e-6
    again = bake_tracks(
        bpy.context, Keyed(rig, {}, tracks, BakeOptions(start_frame=START)), previous=result.baked
    )
    assert again.baked.record.curves == result.baked.record.curves
    clear_bake(bpy.context, rig, again.baked)
    at(1)
    assert not diff(before, snapshot())


def _property(bone):
    names = {"QUATERNION": "quaternion", "AXIS_ANGLE": "axis_angle"}
    return f"rotation_{names.get(bone.rotation_mode, 'euler')}"


@pytest.mark.parametrize("uneven", [False, True])
def test_few_keys_follow_the_joints_between_frames_too(scene, uneven):
    rig = never_set_up()
    tracks = asked([b.name for b in rig.pose.bones], 40, places=("hand.R",), uneven=uneven)
    dense = bake(rig, tracks)
    few = bake_tracks(
        bpy.context, Keyed(rig, {}, tracks, BakeOptions(start_frame=START, key_mode="SPARSE")),
        previous=dense.baked,
    )
    assert few.keys < 0.6 * dense.keys and few.problems == ()
    assert dense.frames == few.frames == 40
    halves = tracks.clock.frames[:: 1 if not uneven else 3]
    wide, far = worst(rig, tracks, basis, frames=halves)
    # 1e-3 for each component of an angle or a quaternion, whose half angles count.
    assert wide < 4e-3 and far < 5e-4


@pytest.mark.parametrize("mode", ["XYZ", "ZYX", "AXIS_ANGLE"])
def test_what_spins_counts_its_turns(scene, mode):
    """Three turns in eight frames, 135 degrees from row to row, on top of two before."""
    rig = small_rig()
    rig.pose.bones["hand.L"].rotation_mode = mode
    clock = Clock.running(9, 24.0)
    angle = 2.0 * np.pi * (2.0 + 3.0 * np.arange(9) / 8.0)
    axis = np.array((0.0, 0.0, 1.0))
    tracks = JointTracks(
        clock, {"hand.L": quaternion(axis, angle)}, spins={"hand.L": Spin(angle, axis)}
    )
    result = bake(rig, tracks)
    assert result.problems == ()
    at(START)
    values = getattr(rig.pose.bones["hand.L"], _property(rig.pose.bones["hand.L"]))
    index = 0 if mode == "AXIS_ANGLE" else 2
    sign = values[3] if mode == "AXIS_ANGLE" else 1.0
    first = values[index] * sign
    at(START + 8)
    last = values[index] * sign
    assert np.degrees([first, last]) == pytest.approx([720.0, 1800.0], abs=1e-3)


def test_locked_channels_have_no_keys_and_are_told(scene):
    rig = small_rig()
    hand, head, foot = (rig.pose.bones[name] for name in ("hand.L", "head", "foot.L"))
    hand.rotation_mode = "XYZ"
    hand.lock_rotation, hand.lock_location = (True, False, False), (False, True, False)
    head.lock_rotation, head.lock_rotation_w = (True, True, True), True
    foot.lock_rotation = (True, False, True)
    hand.rotation_euler.x = 0.3
    tracks = asked(["hand.L", "head", "foot.L"], places=("hand.L",))
    result = bake(rig, tracks)
    keyed = {path: set(digests) for path, digests in result.baked.record.curves.items()}
    assert keyed == {
        'pose.bones["hand.L"].rotation_euler': {"1", "2"},
        'pose.bones["hand.L"].location': {"0", "2"},
        'pose.bones["foot.L"].rotation_quaternion': {"0", "1", "2", "3"},
    }
    assert sorted(p.bone for p in result.problems) == ["foot.L", "hand.L", "head"]
    assert {p.code for p in result.problems} == {"LOCKED"}
    for frame in range(0, 24, 5):
        at(START + frame)
        angles = foot.rotation_quaternion.to_euler("XYZ")
        assert (hand.rotation_euler.x, angles.x, angles.z) == pytest.approx((0.3, 0, 0), abs=1e-6)


def test_a_plain_skeleton_tells_what_it_is_off_between_keys_and_gets_more(scene):
    """A chain of five bones sweeps 46 degrees to each side in a second: halfway between keys on
    whole frames its head, 0.85 m out, is off by r w^2 dt^2 / 8 or so, of each bone."""
    rig = small_rig()
    clock = Clock.running(25, 24.0, 2)
    swing = quaternion((1.0, 0.0, 0.0), 0.8 * np.sin(2.0 * np.pi * clock.time))
    tracks = JointTracks(clock, {name: swing for name in ("pelvis", "spine", "chest", "neck")})
    found = []
    for between in ("NONE", "ANYWHERE"):
        result = bake_tracks(
            bpy.context,
            Keyed(rig, {}, tracks, BakeOptions(start_frame=START, between=between), plain=True),
            previous=found[-1].baked if found else None,
        )
        found.append(result)
    none, anywhere = (max((p.amount for p in r.problems), default=0.0) for r in found)
    assert [p.code for p in found[0].problems] == ["BETWEEN_KEYS"]
    assert none > 1e-3 > anywhere and found[1].keys > 1.2 * found[0].keys


def test_roles_may_stand_on_uneven_times(scene):
    """Whole frames are keyed as they are without rows between, bit for bit; few keys follow."""
    even = small_tracks(frames=30)
    clock = even.clock.with_rows(np.random.default_rng(5).uniform(0.0, even.time[-1], 25))
    position, rotation = small_motion(clock.time)
    rig, keys = small_rig(), []
    for tracks in (even, replace(even, clock=clock, position=position, rotation=rotation)):
        options = BakeOptions(start_frame=START)
        result = bake_tracks(bpy.context, Keyed(rig, SMALL_ROLES, tracks, options))
        keys.append(result.baked.record.curves)
        clear_bake(bpy.context, rig, result.baked)
    assert keys[0] == keys[1]
    options = BakeOptions(start_frame=START, key_mode="SPARSE")
    assert bake_tracks(bpy.context, Keyed(rig, SMALL_ROLES, tracks, options)).problems == ()
    far, wide = world_errors(rig, SMALL_ROLES, tracks, START, frames=clock.frames[::2])
    assert far < 1e-3 and wide < 4e-3


def chain_of(side="L"):
    return [f"{part}.{side}" for part in ("upper_arm", "forearm", "hand")]


def test_an_arm_of_ours_that_follows_its_hand_lets_go(scene):
    """Without a bone of it, the arm would follow hand_ik; the other arm goes on to."""
    rig = characters.build_character(bpy.context, "SKIER")
    before = shown(rig)
    tracks = asked(chain_of())
    result = bake(rig, tracks)
    assert result.problems == ()
    assert 'pose.bones["root"]["ik_arm.L"]' in result.baked.record.curves
    assert 'pose.bones["root"]["ik_arm.R"]' not in result.baked.record.curves
    wide, _ = worst(rig, tracks, seen_from_parent)
    assert np.degrees(wide) < 0.01
    skin = rig.evaluated_get(at(START + 7)).pose.bones
    assert (skin["DEF-forearm.L"].tail - skin["forearm.L"].tail).length < 1e-4
    again = bake_tracks(
        bpy.context, Keyed(rig, {}, tracks, BakeOptions(start_frame=START)), previous=result.baked
    )
    assert again.baked.record.curves == result.baked.record.curves
    assert worst(rig, tracks, seen_from_parent) == (wide, 0.0)
    clear_bake(bpy.context, rig, again.baked)
    assert shown(rig) == before and rig.animation_data.action is None


@pytest.mark.parametrize("kind", ["SKIER", "DOG"])
def test_what_is_let_go_besides_stays_as_it_is(scene, kind):
    rig = characters.build_character(bpy.context, kind)
    at(START)
    if kind == "SKIER":
        rig.pose.bones["hand_ik.L"].location = (0.05, 0.1, 0.05)
        chain, turned = chain_of(), "forearm.L"
    else:
        turned = next(b.name for b in rig.pose.bones for c in b.constraints if c.type == "IK")
        bone = rig.pose.bones[turned]
        chain = [bone.parent.name, turned]
    rest = [name for name in chain if name != turned]
    was = rig.evaluated_get(at(START))
    tracks = asked([turned], frames=5)
    stood = {name: seen_from_parent(was, name).to_quaternion() for name in rest}
    result = bake(rig, tracks)
    assert result.problems == ()
    assert np.degrees(worst(rig, tracks, seen_from_parent)[0]) < 0.01
    for frame in range(5):
        now = rig.evaluated_get(at(START + frame))
        for name, turn in stood.items():
            off = seen_from_parent(now, name).to_quaternion().rotation_difference(turn).angle
            assert np.degrees(min(off, 2.0 * np.pi - off)) < 0.01, name
    again = bake_tracks(
        bpy.context, Keyed(rig, {}, tracks, BakeOptions(start_frame=START)), previous=result.baked
    )
    assert again.baked.record.curves == result.baked.record.curves


def test_joints_may_follow_roles_on_strips_of_their_own(scene):
    """The arm is the hand control's before the joints have it; neither bake changes the other's,
    whatever frame is shown."""
    rig = characters.build_character(bpy.context, "SKIER")
    how = {"held": characters.switches_of(rig), "axes": characters.rest_axes(rig)}
    roles, walked = characters.role_bones_of(rig), skier_tracks(characters.figure_of(rig), 20)
    tracks = asked(chain_of(), frames=12)

    def first(previous=None):
        options = BakeOptions(start_frame=1, push_to_nla=True)
        return bake_tracks(
            bpy.context, Keyed(rig, roles, walked, options, **how),
            previous=previous and previous.baked,
        )

    def second(previous=None):
        options = BakeOptions(start_frame=21, push_to_nla=True)
        return bake_tracks(
            bpy.context, Keyed(rig, {}, tracks, options), previous=previous and previous.baked
        )

    before = first()
    at(8)
    was = rig.pose.bones["DEF-hand.L"].matrix.copy()
    after = second()
    for frame, switch in ((8, 1.0), (25, 0.0)):
        at(frame)
        assert rig.pose.bones["root"]["ik_arm.L"] == switch
    at(8)
    assert rig.pose.bones["DEF-hand.L"].matrix == was
    assert first(before).problems == ()
    for frame in (3, 30):
        at(frame)
        again = second(after)
        assert again.baked.record.curves == after.baked.record.curves and again.problems == ()


def shown(rig):
    """Where all bones are, and what their channels and switches say."""
    at(1)
    props = {b.name: [b[k] for k in b.keys() if isinstance(b[k], (int, float))] for b in
             rig.pose.bones}
    return {b.name: (b.matrix.copy(), b.matrix_basis.copy()) for b in rig.pose.bones}, props


def rigify_human():
    path = rig_files.FOLDER / "rigify_human.blend"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    return bpy.data.objects["rig"]


@pytest.mark.parametrize("prefix", ["ORG-", ""])
def test_an_arm_of_rigify_in_ik_reaches_the_joint_pose(scene, prefix):
    """Asked of the metarig's bones, or of the FK controls that these copy, while IK is on."""
    rig = rigify_human()
    before = shown(rig)
    parts = ("upper_arm", "forearm", "hand")
    names = [f"{prefix}{part}.L" if prefix else f"{part}_fk.L" for part in parts]
    tracks = asked(names, frames=4)
    result = bake(rig, tracks)
    assert result.problems == ()
    for frame in range(4):
        evaluated = rig.evaluated_get(at(START + frame))
        bones = evaluated.pose.bones
        row = int(tracks.clock.row_of(frame))
        pose = bones[names[0]].parent.matrix.copy()
        for name in names:
            bone = bones[name]
            between = [bone.parent] if bone.parent.name == "MCH-hand_fk.L" else []
            for b in (*between, bone):
                pose = pose @ b.parent.bone.matrix_local.inverted() @ b.bone.matrix_local
            pose = pose @ Quaternion(tracks.turn[name][row]).to_matrix().to_4x4()
            there = bones[name.replace("_fk", "") if prefix else f"ORG-{name.replace('_fk', '')}"]
            assert (there.matrix.translation - pose.translation).length < 1e-4
            assert np.degrees(_angle(there.matrix, pose)) < 0.01
    again = bake_tracks(
        bpy.context, Keyed(rig, {}, tracks, BakeOptions(start_frame=START)), previous=result.baked
    )
    assert again.baked.record.curves == result.baked.record.curves
    clear_bake(bpy.context, rig, again.baked)
    assert shown(rig) == before and rig.animation_data.action is None


def _angle(one: Matrix, other: Matrix) -> float:
    angle = one.to_quaternion().rotation_difference(other.to_quaternion()).angle
    return min(angle, 2.0 * np.pi - angle)


def test_what_cannot_be_let_go_and_what_is_not_there_is_said(scene):
    rig = small_rig()
    before = snapshot()
    with pytest.raises(UserError, match="has no bone tail, which the motion turns"):
        bake(rig, asked(["head", "tail"]))
    look = rig.pose.bones["head"].constraints.new("DAMPED_TRACK")
    look.target, look.subtarget = rig, "hand.L"
    drive = look.driver_add("influence").driver
    drive.expression = "frame"
    with pytest.raises(UserError, match="Damped Track moves bone head of Rig.*mute it"):
        bake(rig, asked(["head"]))
    rig.pose.bones["head"].constraints.remove(look)
    rig.animation_data_clear()
    with pytest.raises(UserError, match="no rotation for head at frame 13"):
        tracks = asked(["head"])
        tracks.turn["head"][4] = np.nan
        bake(rig, tracks)
    assert not diff(before, snapshot())


def test_a_constraint_without_a_switch_lets_go_by_its_influence(scene):
    rig = small_rig()
    look = rig.pose.bones["head"].constraints.new("DAMPED_TRACK")
    look.target, look.subtarget, look.influence = rig, "hand.L", 0.7
    at(1)
    before = snapshot()
    tracks = asked(["head"])
    result = bake(rig, tracks)
    assert np.degrees(worst(rig, tracks, seen_from_parent)[0]) < 0.01 and result.problems == ()
    clear_bake(bpy.context, rig, result.baked)
    at(1)
    assert look.influence == pytest.approx(0.7) and not diff(before, snapshot())
