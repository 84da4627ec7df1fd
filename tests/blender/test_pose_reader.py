# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses and actions are read as Blender evaluates them, and nothing is left changed."""

import bpy
import numpy as np
import pytest
from bake_rigs import SMALL_ROLES, edit_bones, small_rig, small_tracks
from mathutils import Quaternion
from poise.addon.bake import BakeOptions, Keyed, bake_tracks, clear_bake
from poise.addon.bake.without import without
from poise.addon.errors import UserError
from poise.addon.rigs.pose import reader
from poise.addon.rigs.pose.posture import Posture, Source
from snapshot import diff, snapshot

# Blender computes in single precision, from bone to bone.
SINGLE = 1e-6
MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")
FRAMES = (0.5, 3.0, 7.25, 12.9, 20.0, 26.4)


def chain(count, random, name="Chain"):
    """Bones on random others, in all rotation modes, that inherit in all ways."""
    rig = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(rig)
    specs, ends = [], {}
    for number in range(count):
        parent = "" if number < 2 else f"B{random.integers(max(0, number - 4), number)}"
        connected = bool(parent) and random.random() < 0.3
        head = ends[parent] if connected else random.uniform(-0.5, 0.5, 3)
        ends[f"B{number}"] = tail = head + random.uniform(0.1, 0.5, 3)
        specs.append((f"B{number}", parent, head, tail, random.uniform(-3.0, 3.0), connected))
    edit_bones(rig, specs)
    for number, bone in enumerate(rig.data.bones):
        bone.use_inherit_rotation = random.random() < 0.7
        bone.use_local_location = random.random() < 0.7
        bone.inherit_scale = random.choice(
            ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"]
        )
        rig.pose.bones[number].rotation_mode = MODES[number % len(MODES)]
    return rig


def turned(bone, random):
    """Pose a bone at random."""
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = random.uniform(-1.0, 1.0, 4)
    elif bone.rotation_mode == "AXIS_ANGLE":
        bone.rotation_axis_angle = (random.uniform(-9.0, 9.0), *random.uniform(-1.0, 1.0, 3))
    else:
        bone.rotation_euler = random.uniform(-9.0, 9.0, 3)
    bone.location = random.uniform(-0.3, 0.3, 3)
    bone.scale = (random.uniform(0.7, 1.4),) * 3


def evaluated(rig, what="matrix"):
    """Bone -> matrix (4, 4) as Blender has it now."""
    bpy.context.view_layer.update()
    posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {bone.name: np.array(getattr(bone, what)) for bone in posed.pose.bones}


def off(basis, matrix, row=0):
    """How far channels are from a matrix of them, in its largest number."""
    made = np.eye(4)
    turn = Quaternion(basis.rotation[row]).to_matrix()
    made[:3, :3] = np.array(turn) * basis.size[row]
    made[:3, 3] = basis.place[row]
    return np.abs(made - matrix).max()


@pytest.mark.parametrize("seed", range(4))
def test_bones_are_where_their_channels_put_them(scene, seed):
    random = np.random.default_rng(seed)
    rig = chain(16, random)
    for bone in rig.pose.bones:
        turned(bone, random)
    if seed == 0:  # shear is inherited by those that inherit all
        for bone in rig.data.bones:
            bone.inherit_scale, bone.use_inherit_rotation = "FULL", True
        for bone in rig.pose.bones:
            bone.scale = random.uniform(0.7, 1.4, 3)
    local = reader.posture(rig)
    placed, there, own = reader.posed(rig, local), evaluated(rig), evaluated(rig, "matrix_basis")
    for name, matrices in placed.items():
        assert np.abs(matrices[0] - there[name]).max() < 2.0 * SINGLE * np.abs(there[name]).max()
        assert off(local[name], own[name]) < SINGLE
        assert local[name].rotation[0, 0] >= 0.0


def test_angles_count_whole_turns_and_get_them_back(scene):
    rig = chain(8, np.random.default_rng(5))
    for bone, turns in zip(rig.pose.bones, (0, 1, -1, 2, -2, 3, -3, 5), strict=True):
        if bone.rotation_mode == "AXIS_ANGLE":
            bone.rotation_axis_angle = (2.0 * np.pi * turns, 0.0, 0.6, -0.8)
        elif bone.rotation_mode != "QUATERNION":
            bone.rotation_euler = (0.3, -0.2, 0.5 + 2.0 * np.pi * turns)
    kept = Posture.of_pose(rig)
    assert [round(np.abs(spin).max()) for spin in kept.spins[1:7]] == [1, 1, 2, 2, 3, 3]
    assert kept.spins[7] == pytest.approx((0.0, 3.0, -4.0))
    angles = [tuple(bone.rotation_euler) for bone in rig.pose.bones]
    random = np.random.default_rng(6)
    for bone in rig.pose.bones:
        turned(bone, random)
    assert kept.apply(rig) == []
    again = Posture.of_pose(rig)
    assert np.abs(again.turns - kept.turns).max() < SINGLE
    assert np.abs(again.places - kept.places).max() < SINGLE
    assert np.abs(again.spins - kept.spins).max() < SINGLE
    for bone, was in zip(rig.pose.bones[1:7], angles[1:7], strict=True):
        assert tuple(bone.rotation_euler) == pytest.approx(was, abs=1e-5)


# -- What plays ----------------------------------------------------------------------


def key(rig, name, last=30, times=(1.0, 11.0, 30.0), seed=1):
    """Key all channels of a bone, with Blender's own curves between."""
    random, bone = np.random.default_rng(seed), rig.pose.bones[name]
    turns = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
    for frame in times:
        turned(bone, random)
        for channel in ("location", turns.get(bone.rotation_mode, "rotation_euler"), "scale"):
            bone.keyframe_insert(channel, frame=frame)


def animated(rig):
    """An action that keys some bones, each in a mode of its own."""
    for number, (name, mode) in enumerate(zip(
        ("root", "pelvis", "chest", "hand.L"), ("QUATERNION", "YZX", "AXIS_ANGLE", "XYZ"),
        strict=True,
    )):
        rig.pose.bones[name].rotation_mode = mode
        key(rig, name, seed=number)
    return rig.animation_data.action


def strips(rig):
    """The action twice in the NLA, one blended over the other, stretched and out of step."""
    action, data = animated(rig), rig.animation_data
    data.action = None
    for start, scale, blend, influence in ((1, 1.0, "REPLACE", 1.0), (4, 0.7, "COMBINE", 0.6)):
        strip = data.nla_tracks.new().strips.new("Own", start, action)
        strip.action_slot = action.slots[0]
        strip.scale, strip.blend_type, strip.influence = scale, blend, influence


def driven(rig):
    """A bone turns as another one moves, and a property of the scene scales it."""
    animated(rig)
    curve = rig.pose.bones["hand.R"].driver_add("rotation_quaternion", 1)
    variable = curve.driver.variables.new()
    variable.targets[0].id = rig
    variable.targets[0].data_path = 'pose.bones["hand.L"].location[0]'
    curve.driver.expression = f"2 * {variable.name} + 0.1"


def followed(rig):
    """A bone copies another one's rotation in the world, in part, and an arm reaches by IK."""
    animated(rig)
    copy = rig.pose.bones["hand.R"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget, copy.influence = rig, "chest", 0.4
    reach = rig.pose.bones["head"].constraints.new("IK")
    reach.target, reach.subtarget, reach.chain_count = rig, "hand.L", 3


def modified(rig):
    """A curve with a modifier and constant keys, one that is muted, a bone that stands."""
    action = animated(rig)
    curves = action.layers[0].strips[0].channelbags[0].fcurves
    curves[0].modifiers.new("NOISE").strength = 0.3
    for point in curves[1].keyframe_points:
        point.interpolation = "CONSTANT"
    curves[2].mute = True
    rig.pose.bones["foot.L"].location = (0.1, 0.2, 0.3)


def seen(rig, names, visual=()):
    """Bone -> [channels as a matrix] at FRAMES, played by Blender itself."""
    found = {name: [] for name in names}
    scene = bpy.context.scene
    now = scene.frame_current_final
    for frame in FRAMES:
        scene.frame_set(int(np.floor(frame)), subframe=frame - np.floor(frame))
        own, there = evaluated(rig, "matrix_basis"), evaluated(rig)
        for name in names:
            bone = rig.pose.bones[name]
            if name in visual:
                matrix, parent = bone.bone.matrix_local, bone.parent.bone.matrix_local
                rest = np.array(parent.inverted() @ matrix)
                over = there[bone.parent.name] @ rest
                found[name].append(np.linalg.inv(over) @ there[name])
            else:
                found[name].append(own[name])
    scene.frame_set(int(np.floor(now)), subframe=now - np.floor(now))
    return found


@pytest.mark.parametrize("setup", [animated, strips, driven, followed, modified])
def test_what_plays_is_what_blender_shows(scene, setup):
    """At fractions of frames; mode, frame, and a pose that nobody has keyed yet stay."""
    rig = small_rig()
    setup(rig)
    names = list(SMALL_ROLES)
    visual = {"hand.R", "head", "neck", "chest"} if setup == followed else set()
    wanted = seen(rig, names, visual)
    scene.frame_set(5, subframe=0.25)
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["pelvis"].location = (0.5, 0.5, 0.5)
    before = snapshot()
    found = reader.played(bpy.context, rig, names, FRAMES)
    assert diff(before, snapshot()) == []
    assert found.constrained == visual and list(found.times) == list(FRAMES)
    for name in names:
        for row, matrix in enumerate(wanted[name]):
            assert off(found.bones[name], matrix, row) < 5.0 * SINGLE, (name, FRAMES[row])
    assert np.abs(found.bones["pelvis"].rotation).max() > 0.1


def test_curves_alone_need_no_evaluation(scene, monkeypatch):
    """What keys alone decide is read without going to any frame, also on a rig put away."""
    rig = small_rig()
    followed(rig)
    wanted = seen(rig, ["pelvis"])
    monkeypatch.setattr(reader.evaluate, "through", None)
    rig.hide_viewport = True
    found = reader.played(bpy.context, rig, ["root", "pelvis", "foot.L"], FRAMES)
    assert off(found.bones["pelvis"], wanted["pelvis"][2], 2) < SINGLE
    with pytest.raises(UserError, match="not part of this view layer"):
        reader.played(bpy.context, rig, ["head"], FRAMES)
    rig.data.pose_position = "REST"
    with pytest.raises(UserError, match="Pose Position"):
        reader.played(bpy.context, rig, ["head"], FRAMES)
    with pytest.raises(UserError, match="has no bone tail"):
        reader.played(bpy.context, rig, ["tail"], FRAMES)


@pytest.mark.parametrize(
    ("options", "below_it"),
    [({}, False), ({}, True), ({"push_to_nla": True}, False), ({"target": "CURRENT"}, False)],
)
def test_own_keys_are_not_read(scene, options, below_it):
    """What lies below a bake reads the same with the bake on top of it, and as Clear leaves it."""
    rig = small_rig()
    animated(rig)
    bpy.context.view_layer.update()
    names = list(SMALL_ROLES)
    if options.get("target") == "CURRENT":  # keys of the animator's stand beside the bake's
        for curve in rig.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
            for point in curve.keyframe_points:
                point.co.x += 60.0
            curve.update()
    rig.pose.bones["foot.L"].location = (0.1, 0.2, 0.3)
    if options.get("push_to_nla"):  # only an evaluation tells these
        followed(rig)
        rig.pose.bones["head"].constraints[0].chain_count = 1
        names = ["root", "chest", "hand.R", "foot.L"]
    frames = [*FRAMES, 64.5, 75.0]
    below = reader.played(bpy.context, rig, names, frames)
    tracks = small_tracks(roles={"root", "pelvis", "foot.L", "hand.L"})
    result = bake_tracks(
        bpy.context, Keyed(rig, SMALL_ROLES, tracks, BakeOptions(**options), below=below_it)
    )
    assert bool(result.baked.record.former.track) == below_it
    scene.frame_set(7)
    before = snapshot()
    ours = without(rig, [result.baked])
    found = reader.played(bpy.context, rig, names, frames, ours)
    assert diff(before, snapshot()) == []
    assert found.digest == below.digest == reader.digest_of(rig, names, ours)
    for name in names:
        one, other = found.bones[name], below.bones[name]
        assert np.abs(one.place - other.place).max() < 5.0 * SINGLE
        assert np.abs(one.rotation - other.rotation).max() < 5.0 * SINGLE
    assert reader.played(bpy.context, rig, names, frames).digest != below.digest
    clear_bake(bpy.context, rig, result.baked)
    assert reader.digest_of(rig, names) == below.digest


def test_the_digest_tells_when_something_has_changed(scene):
    rig = small_rig()
    followed(rig)
    action = rig.animation_data.action
    curves = {(c.data_path, c.array_index): c
              for c in action.layers[0].strips[0].channelbags[0].fcurves}
    names = ["pelvis", "hand.R"]
    known = reader.digest_of(rig, names)

    def changed(*bones):
        nonlocal known
        now = reader.digest_of(rig, bones or names)
        same, known = now == known, now
        return not same

    scene.frame_set(9)
    curves['pose.bones["chest"].location', 0].keyframe_points[0].select_control_point = True
    assert not changed()
    curves['pose.bones["chest"].location', 0].keyframe_points[1].co.y += 0.1
    assert changed(), "what a constraint looks at"
    rig.pose.bones["hand.R"].constraints[0].influence = 0.5
    assert changed()
    other = bpy.data.objects.new("Other", None)
    scene.collection.objects.link(other)
    driver = rig.pose.bones["hand.R"].constraints[0].driver_add("influence").driver
    driver.variables.new().targets[0].id = other
    driver.variables[0].targets[0].data_path = "location.x"
    driver.expression = "var"
    bpy.context.view_layer.update()
    assert changed()
    scene.frame_set(12)
    assert not changed()
    other.location.x = 0.7
    bpy.context.view_layer.update()
    assert changed(), "what a driver reads"
    driver.expression = "var + 0.1"
    assert changed()
    assert changed("pelvis")
    curves['pose.bones["chest"].location', 0].keyframe_points[1].co.y += 0.1
    assert not changed("pelvis"), "nothing that this bone depends on"
    rig.pose.bones["pelvis"].rotation_mode = "XYZ"
    assert changed("pelvis")


# -- Postures ------------------------------------------------------------------------


def sided(rolls):
    """A rig with two arms whose rolls are each other's mirror images, or of no relation."""
    rig = bpy.data.objects.new("Sided", bpy.data.armatures.new("Sided"))
    bpy.context.scene.collection.objects.link(rig)
    edit_bones(rig, [
        ("Root", "", (0, 0, 0), (0, 0.2, 1), 0.0, False),
        ("arm_l", "Root", (0.3, 0, 1), (0.8, 0.1, 0.9), 0.4, False),
        ("arm_r", "Root", (-0.3, 0, 1), (-0.8, 0.1, 0.9), rolls, False),
        ("hand_l", "arm_l", (0.8, 0.1, 0.9), (0.9, 0.2, 0.7), 0.2, True),
        ("hand_r", "arm_r", (-0.8, 0.1, 0.9), (-0.9, 0.2, 0.7), 2.0 * rolls, True),
        ("tail_l", "Root", (0.1, 0.3, 1), (0.1, 0.9, 1), 0.0, False),
    ])
    rig.data.bones["arm_l"].use_local_location = rig.data.bones["arm_r"].use_local_location = False
    return rig


@pytest.mark.parametrize("rolls", [-0.4, 1.9])
def test_a_mirrored_posture_is_the_mirror_image(scene, rolls):
    rig, random = sided(rolls), np.random.default_rng(3)
    for name in ("arm_l", "arm_r", "hand_l", "hand_r", "Root", "tail_l"):
        rig.pose.bones[name].rotation_mode = "XYZ"
        turned(rig.pose.bones[name], random)
        rig.pose.bones[name].scale = (1.0, 1.0, 1.0)
    posture, there = Posture.of_pose(rig), evaluated(rig)
    mirrored = posture.mirrored(rig)
    assert set(mirrored.bones) == set(posture.bones) - {"tail_l"}
    mirrored.apply(rig)
    found = evaluated(rig)
    ends = {bone.name: np.array((0.0, bone.length, 0.0, 1.0)) for bone in rig.data.bones}
    for name, other in (("arm_l", "arm_r"), ("hand_r", "hand_l"), ("Root", "Root")):
        for point in (np.array((0.0, 0.0, 0.0, 1.0)), ends[name]):
            image = (there[name] @ point)[:3] * (-1.0, 1.0, 1.0)
            assert (found[other] @ point)[:3] == pytest.approx(image, abs=3.0 * SINGLE)
    twice = mirrored.mirrored(rig)
    row = [posture.bones.index(name) for name in twice.bones]
    assert np.abs(twice.turns - posture.turns[row]).max() < SINGLE
    assert mirrored.updated_from_source(rig).source.mirrored


def test_a_posture_of_an_action_follows_it(scene):
    rig = small_rig()
    action = animated(rig)
    source = Source(action.name_full, action.slots[0].handle, 7.25)
    posture = Posture.of_action(rig, source)
    assert posture.bones == ("root", "pelvis", "chest", "hand.L")
    played = reader.played(bpy.context, rig, posture.bones, [7.25])
    for row, name in enumerate(posture.bones):
        assert np.abs(played.bones[name].rotation[0] - posture.turns[row]).max() < SINGLE
    rig.animation_data.action = None
    assert posture.updated_from_source(rig).digest == posture.digest
    left = posture.mirrored(rig)
    assert left.bones == ("root", "pelvis", "chest", "hand.R")
    action.layers[0].strips[0].channelbags[0].fcurves[0].keyframe_points[1].co.y += 1.0
    now = posture.updated_from_source(rig)
    assert now.digest != posture.digest and now.bones == posture.bones
    assert now.places[0] != pytest.approx(posture.places[0])
    mirror = left.updated_from_source(rig)
    assert mirror.digest != left.digest and mirror.bones == left.bones
    assert (mirror.places == now.mirrored(rig).places).all()
    with pytest.raises(UserError, match="keys no such bone"):
        Posture.of_action(rig, source, ["foot.L"])
    action.name = "Renamed"
    with pytest.raises(UserError, match="renamed or removed"):
        posture.updated_from_source(rig)
    renamed = Source("Renamed", 12345, 1.0)
    with pytest.raises(UserError, match="lost the slot"):
        Posture.of_action(rig, renamed)


def test_a_posture_of_a_library_override_outlives_saving(scene, tmp_path):
    """It is kept with a local object; the linked rig itself cannot be posed."""
    rig, library = small_rig(), str(tmp_path / "rig.blend")
    turned(rig.pose.bones["hand.L"], np.random.default_rng(1))
    bpy.data.libraries.write(library, {rig})
    bpy.data.objects.remove(rig)
    with bpy.data.libraries.load(library, link=True) as (_, target):
        target.objects = ["Rig"]
    linked = target.objects[0]
    scene.collection.objects.link(linked)
    posture = Posture.of_pose(linked, ["hand.L", "pelvis"])
    with pytest.raises(UserError, match="library override"):
        posture.apply(linked)
    rig = linked.override_create(remap_local_usages=True)
    rig.override_library.is_system_override = False
    holder = bpy.data.objects.new("Motion", None)
    scene.collection.objects.link(holder)
    Posture.of_pose(rig, posture.bones).mirrored(rig).keep(holder, "poise_posture")
    file = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=file)
    rig = next(obj for obj in bpy.data.objects if obj.override_library is not None)
    kept = Posture.kept(bpy.data.objects["Motion"], "poise_posture", "Crouch")
    assert kept.bones == ("hand.R", "pelvis") and kept.apply(rig) == []
    assert Posture.of_pose(rig, kept.bones).turns == pytest.approx(kept.turns, abs=SINGLE)
    assert kept.updated_from_source(rig).source == kept.source


def test_a_posture_outlives_saving_and_spoilt_ones_are_told(scene, tmp_path):
    rig = small_rig()
    for number, bone in enumerate(rig.pose.bones):
        turned(bone, np.random.default_rng(number))
    rig.pose.bones["pelvis"].name = "Hüfte"
    posture = Posture.of_pose(rig)
    assert Posture.kept(rig, "poise_posture") is None
    posture.keep(rig, "poise_posture")
    file = str(tmp_path / "kept.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=file)
    rig = bpy.data.objects["Rig"]
    again = Posture.kept(rig, "poise_posture")
    assert again.bones == posture.bones and "Hüfte" in again.bones
    assert (again.turns == posture.turns).all() and (again.places == posture.places).all()
    assert (again.spins == posture.spins).all()
    assert (again.source, again.digest) == (posture.source, posture.digest)
    assert again.updated_from_source(rig).digest == posture.digest
    names = list(rig["poise_posture"].keys())

    def spoil(name, value):
        posture.keep(rig, "poise_posture")
        if value is None:
            del rig["poise_posture"][name]
        else:
            rig["poise_posture"][name] = value
        with pytest.raises(UserError, match="Rig cannot be read .*set it anew"):
            Posture.kept(rig, "poise_posture")

    for name in names:
        spoil(name, None)
        spoil(name, "junk")
        spoil(name, 7)
        spoil(name, [1.0, float("nan")])
    spoil("version", 2)
    rig["poise_posture"] = "junk"
    with pytest.raises(UserError, match="cannot be read"):
        Posture.kept(rig, "poise_posture")
