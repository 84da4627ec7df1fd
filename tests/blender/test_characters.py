# SPDX-License-Identifier: GPL-3.0-or-later
"""Poise's own characters: bones, IK, poles, sizes, several in one scene."""

import json
from math import acos, cos, degrees, pi, radians, sin, sqrt

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector
from poise.addon.errors import UserError
from poise.addon.rigs import characters
from poise.addon.rigs.builders import armature as rig
from poise.addon.rigs.builders.kinds import BUILDS, build_skeleton, deform_map
from poise.solvers.errors import SettingError

ON_SKIS = ("SKIER", "TELEMARK")
FIGURES = [("SKIER", True), ("TELEMARK", True), ("SNOWBOARDER", True), ("SNOWBOARDER", False),
           ("SKATEBOARDER", True), ("SKATEBOARDER", False), ("CYCLIST", True)]
SIDEWAYS = ("SNOWBOARDER", "SKATEBOARDER")
ROLLING = {"front_truck", "rear_truck"} | {
    f"{end}_wheel.{side}" for end in ("front", "rear") for side in "LR"
}
SIDES = ("L", "R")
# Controls that carry the feet.
FEET = {kind: ("ski.L", "ski.R") for kind in ON_SKIS} | {"CYCLIST": ("bike",)}
BICYCLE = {"bike", "fork", "front_wheel", "rear_wheel", "sprocket", "crank"}


def build(kind="SKIER", **settings):
    return characters.build_character(bpy.context, kind, **settings)


def update():
    bpy.context.view_layer.update()


def evaluated(armature):
    return armature.evaluated_get(bpy.context.evaluated_depsgraph_get())


def place(armature, name, location, rotation=None):
    """Move a control in armature space: from its rest place, turned about its head."""
    rest = armature.data.bones[name].matrix_local
    turn = Matrix.Identity(4) if rotation is None else rotation.to_matrix().to_4x4()
    moved = Matrix.Translation(location) @ turn @ rest.to_3x3().to_4x4()
    armature.pose.bones[name].matrix = moved
    update()


def head(armature, name):
    return armature.pose.bones[name].head.copy()


def bend_side(start, joint, end, pole):
    """Cosine between the bend of a limb and the direction to its pole."""
    axis = (end - start).normalized()
    bend = (joint - start) - axis * axis.dot(joint - start)
    wanted = (pole - start) - axis * axis.dot(pole - start)
    return bend.normalized().dot(wanted.normalized())


def random_pose(armature, rng, kind):
    """A pose like those of a turn, and worse: crouched, twisted, leaning up to 60 degrees."""
    pose = armature.pose.bones

    def turn(limit):
        axis = Vector(rng.normal(size=3)).normalized()
        return Quaternion(axis, rng.uniform(-limit, limit))

    pose["root"].rotation_quaternion = turn(radians(60.0))
    pose["root"].location = rng.uniform(-3.0, 3.0, 3)
    for name in ("pelvis", "spine", "chest", "head", "shoulder.L", "shoulder.R"):
        pose[name].rotation_quaternion = turn(0.3)
    drop = rng.uniform(0.0, 0.45)
    pose["pelvis"].location = (rng.uniform(-0.1, 0.1), -drop, rng.uniform(-0.1, 0.1))
    for name in FEET.get(kind, ("board",)):
        pose[name].location = rng.uniform(-0.1, 0.1, 3)
        pose[name].rotation_quaternion = turn(0.25)
    for side in SIDES:
        pose[f"hand_ik.{side}"].location = rng.uniform(-0.12, 0.12, 3)
        pose[f"hand_ik.{side}"].rotation_quaternion = turn(0.6)
        if kind == "TELEMARK":
            pose[f"heel.{side}"].rotation_quaternion = (1.0, rng.uniform(0.0, 0.35), 0.0, 0.0)
    update()
    if kind not in ON_SKIS:
        return
    for side in SIDES:
        hand = pose[f"hand_ik.{side}"]
        bone = armature.data.bones[f"pole.{side}"]
        grip = hand.matrix @ hand.bone.matrix_local.inverted() @ bone.head_local
        down = Vector((rng.normal() * 0.5, rng.normal() * 0.5, -1.0)).normalized()
        # Not exactly a pole's length away: the hand has to give way.
        place(armature, f"pole_tip.{side}", grip + down * bone.length * rng.uniform(0.95, 1.04))


@pytest.mark.parametrize(("kind", "regular"), FIGURES)
def test_structure(scene, kind, regular):
    armature = build(kind, regular=regular)
    bones = armature.data.bones
    assert [collection.name for collection in armature.data.collections] == list(rig.COLLECTIONS)
    assert all(len(bone.collections) == 1 for bone in bones)
    assert {bone.name for bone in bones if bone.parent is None} == {"master"}
    assert bones["root"].parent.name == "master"
    for bone in bones:
        assert bone.use_deform == bone.name.startswith("DEF-"), bone.name
        assert bone.use_deform == ("Deform" in bone.collections), bone.name
        if not bone.use_deform and not bone.name.startswith("MCH-"):
            pose = armature.pose.bones[bone.name]
            # What turns about one axis has angles, which count its turns.
            mode = BUILDS[kind].rotation_modes.get(bone.name, "QUATERNION")
            assert pose.rotation_mode == mode
            shown = "Mechanism" not in bone.collections
            assert (pose.custom_shape is not None) == shown, bone.name
            assert not shown or bone.color.palette.startswith("THEME")
    roles = characters.ROLE_BONES[kind]
    wanted = {"root", "pelvis", "spine", "chest", "neck", "head"}
    sided = {"shoulder", "knee", "hand", "elbow"}
    wanted |= {"board"} if kind in SIDEWAYS else set()
    wanted |= {"SKATEBOARDER": ROLLING, "CYCLIST": BICYCLE}.get(kind, set())
    if kind == "CYCLIST":
        sided |= {"pedal"}
    else:
        sided |= {"foot"} if kind in SIDEWAYS else {"ski", "pole_tip"}
    sided |= {"heel"} if kind == "TELEMARK" else set()
    assert set(roles) == wanted | {f"{role}.{side}" for role in sided for side in SIDES}
    figure = characters.figure_of(armature)
    for role, bone in roles.items():
        assert np.allclose(bones[bone].head_local, figure.joints[role], atol=1e-6), role
    for side in SIDES:
        for name in (f"shin.{side}", f"forearm.{side}"):
            (ik,) = [c for c in armature.pose.bones[name].constraints if c.type == "IK"]
            assert ik.chain_count == 2 and not ik.use_stretch


@pytest.mark.parametrize(("kind", "regular"), FIGURES)
@pytest.mark.parametrize("height", [1.1, 1.78, 2.1])
def test_rest_pose_stays_at_rest(scene, kind, regular, height):
    armature = build(kind, regular=regular, height=height)
    for bone in evaluated(armature).pose.bones:
        assert (bone.head - bone.bone.head_local).length < 1e-5, bone.name
        assert (bone.tail - bone.bone.tail_local).length < 1e-5, bone.name


@pytest.mark.parametrize("mirror", [1.0, -1.0])
@pytest.mark.parametrize("roll", [0.0, 45.0, 90.0, 180.0, -135.0])
def test_pole_angle_for_any_roll(scene, roll, mirror):
    data = bpy.data.armatures.new("limb")
    limb = bpy.data.objects.new("limb", data)
    scene.collection.objects.link(limb)
    bpy.context.view_layer.objects.active = limb
    bpy.ops.object.mode_set(mode="EDIT")
    points = [(0.1 * mirror, 0.0, 1.0), (0.13 * mirror, -0.09, 0.55), (0.14 * mirror, 0.02, 0.1)]
    for name, start, end in (("upper", 0, 1), ("lower", 1, 2)):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.roll = points[start], points[end], radians(roll) * mirror
    data.edit_bones["lower"].parent = data.edit_bones["upper"]
    for name, where in (("target", points[2]), ("pole", (0.3 * mirror, -0.8, 0.5))):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = where, Vector(where) + Vector((0.0, 0.1, 0.0))
    bpy.ops.object.mode_set(mode="OBJECT")
    ik = limb.pose.bones["lower"].constraints.new("IK")
    ik.target = ik.pole_target = limb
    ik.subtarget, ik.pole_subtarget, ik.chain_count = "target", "pole", 2
    pole = data.bones["pole"].head_local
    ik.pole_angle = rig.pole_angle(data.bones["upper"], data.bones["lower"], pole)
    update()
    # Nothing moves, wherever the pole is and however the bones are rolled.
    rest = Vector(points[1])
    assert (head(limb, "lower") - rest).length < 1e-5
    # From a pole in the plane of the rest bend the limb bends to wherever the pole goes.
    hip, ankle = Vector(points[0]), Vector(points[2])
    axis = (ankle - hip).normalized()
    bend = ((rest - hip) - axis * axis.dot(rest - hip)).normalized()
    ik.pole_angle = rig.pole_angle(data.bones["upper"], data.bones["lower"], rest + bend * 0.4)
    for angle in (-80.0, -25.0, 0.0, 40.0, 110.0):
        side = Quaternion(axis, radians(angle)) @ bend
        place(limb, "pole", rest + side * 0.4)
        assert bend_side(hip, head(limb, "lower"), ankle, rest + side * 0.4) > 1.0 - 1e-5


@pytest.mark.parametrize(("kind", "regular"), FIGURES)
def test_hands_feet_and_pole_tips_are_where_their_controls_are(scene, kind, regular):
    armature = build(kind, regular=regular)
    pose = armature.pose.bones
    rng = np.random.default_rng(7)
    reached = 0
    for _ in range(60):
        random_pose(armature, rng, kind)
        for side in SIDES:
            target = "MCH-wrist" if kind in ON_SKIS else "hand_ik"
            for root, joint, end, goal in (
                ("thigh", "shin", "foot", "foot_ik"),
                ("upper_arm", "forearm", "hand", target),
            ):
                root, joint, end, goal = (f"{n}.{side}" for n in (root, joint, end, goal))
                a, b = pose[root].bone.length, pose[joint].bone.length
                # No stretching, whatever the target asks.
                for name in (root, joint):
                    length = (pose[name].tail - pose[name].head).length
                    assert abs(length - pose[name].bone.length) < 1e-5
                distance = (pose[goal].head - pose[root].head).length
                if not abs(a - b) + 0.05 < distance < 0.995 * (a + b):
                    continue
                reached += 1
                # As near as Blender's solver comes to a nearly straight limb.
                assert (pose[end].head - pose[goal].head).length < 2e-4, end
                turn = (
                    pose[end]
                    .matrix.to_quaternion()
                    .rotation_difference(
                        pose[
                            f"{'foot_ik' if end[0] == 'f' else 'hand_ik'}.{side}"
                        ].matrix.to_quaternion()
                    )
                )
                assert turn.angle < 1e-3
                if end.startswith("hand") and kind in ON_SKIS:
                    tip = pose[f"DEF-pole.{side}"].tail
                    assert (tip - pose[f"pole_tip.{side}"].head).length < 1e-4
    # A cyclist's knees and elbows begin well bent: some poses are too near.
    assert reached > (0.75 if kind == "CYCLIST" else 0.85) * 60 * 4


def test_a_planted_tip_stays_while_the_skier_moves_on(scene):
    armature = build("SKIER")
    pose = armature.pose.bones
    planted = head(armature, "pole_tip.L")
    length = armature.data.bones["pole.L"].length
    for step in range(8):
        pose["root"].location = (0.0, -0.06 * step, 0.0)
        update()
        assert (head(armature, "pole_tip.L") - planted).length < 1e-6
        grip = pose["pole.L"].head
        assert abs((grip - planted).length - length) < 1e-4
        assert (pose["pole.L"].tail - planted).length < 1e-4


@pytest.mark.parametrize(("kind", "regular"), FIGURES)
@pytest.mark.parametrize("lean", [-60.0, -30.0, 0.0, 30.0, 60.0])
def test_knees_and_elbows_bend_to_their_side(scene, kind, regular, lean):
    armature = build(kind, regular=regular)
    pose = armature.pose.bones
    leg = sum(pose[name].bone.length for name in ("thigh.L", "shin.L"))
    root = Quaternion((0.0, 1.0, 0.0), radians(lean))
    place(armature, "root", (0.0, 0.0, 0.0), root)
    before = None
    for depth in np.linspace(0.0, 0.55 * leg, 12):
        rest = armature.data.bones["pelvis"].head_local
        place(armature, "pelvis", root @ (rest - Vector((0.0, 0.0, depth))), root)
        for side in SIDES:
            for start, joint, end, pole in (
                ("thigh", "shin", "foot", "knee_pole"),
                ("upper_arm", "forearm", "hand", "elbow_pole"),
            ):
                points = [head(armature, f"{n}.{side}") for n in (start, joint, end, pole)]
                assert bend_side(*points) > 0.999, (joint, side, depth)
        knee = root.inverted() @ head(armature, "shin.L")
        if before is not None:
            assert (knee - before).length < 0.12, "the knee pops"
        before = knee


@pytest.mark.parametrize(("kind", "regular"), FIGURES)
def test_limbs_without_ik_are_posed_by_hand(scene, kind, regular):
    armature = build(kind, regular=regular)
    pose = armature.pose.bones
    assert set(characters.SWITCHES[kind]) <= set(pose["root"].keys())
    lead = "L" if regular else "R"
    boot = f"DEF-foot.{lead}"
    board = f"DEF-ski.{lead}" if kind in ON_SKIS else "DEF-board"
    board = boot if kind == "CYCLIST" else board  # a foot leaves its pedal
    gap = pose[boot].matrix.inverted() @ pose[board].matrix
    turn = Quaternion((1.0, 0.0, 0.0), 0.6)
    pose[f"thigh.{lead}"].rotation_quaternion = turn
    pose[f"forearm.{lead}"].rotation_quaternion = turn
    update()
    ankle, wrist = head(armature, f"foot.{lead}"), head(armature, f"hand.{lead}")
    assert (ankle - armature.data.bones[f"foot.{lead}"].head_local).length < 1e-4
    for name in characters.SWITCHES[kind]:
        if name.endswith(lead):
            pose["root"][name] = 0.0
    armature.update_tag()
    scene.frame_set(scene.frame_current)
    update()
    assert (head(armature, f"foot.{lead}") - ankle).length > 0.2
    assert (head(armature, f"hand.{lead}") - wrist).length > 0.1
    # FK is exactly what was typed: thigh's rest turned by `turn`.
    thigh = pose[f"thigh.{lead}"]
    local = thigh.bone.convert_local_to_pose(
        turn.to_matrix().to_4x4(),
        thigh.bone.matrix_local,
        parent_matrix=thigh.parent.matrix,
        parent_matrix_local=thigh.parent.bone.matrix_local,
    )
    assert np.abs(np.array(local) - np.array(thigh.matrix)).max() < 1e-5
    # The boot takes its ski or board along; nothing binds a shoe to a skateboard.
    now = pose[boot].matrix.inverted() @ pose[board].matrix
    stays = np.abs(np.array(now) - np.array(gap)).max() < 1e-4
    assert stays == (kind != "SKATEBOARDER")
    if kind in ON_SKIS:
        grip = pose[f"hand.{lead}"].matrix.inverted() @ pose[f"pole.{lead}"].matrix
        bones = armature.data.bones
        rest = bones[f"hand.{lead}"].matrix_local.inverted() @ bones[f"pole.{lead}"].matrix_local
        assert np.abs(np.array(grip) - np.array(rest)).max() < 1e-4


@pytest.mark.parametrize(("kind", "regular"), FIGURES)
def test_figure_is_read_back_whatever_the_transform(scene, kind, regular, tmp_path):
    armature = build(kind, regular=regular, height=1.65, mass=62.0)
    first = characters.figure_of(armature)
    assert first.height == pytest.approx(1.65, abs=1e-6)
    assert first.mass == pytest.approx(62.0)
    # Winter's lengths, as shares of stature.
    assert first.length("hip.L", "knee_joint.L") == pytest.approx(0.245 * 1.65, abs=1e-5)
    assert first.length("knee_joint.R", "foot.R") == pytest.approx(0.246 * 1.65, abs=1e-5)
    assert first.length("upper_arm.L", "elbow_joint.L") == pytest.approx(0.186 * 1.65, abs=1e-5)
    assert first.length("elbow_joint.R", "hand.R") == pytest.approx(0.146 * 1.65, abs=1e-5)
    armature.scale = (0.01, 0.01, 0.01)
    armature.rotation_euler = (0.5 * pi, 0.3, 2.0)
    armature.location = (3.0, -1.0, 20.0)
    armature.pose.bones["root"].location = (1.0, 2.0, 3.0)
    update()
    path = str(tmp_path / "character.blend")
    name = armature.name
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    second = characters.figure_of(bpy.data.objects[name])
    assert characters.kind_of(bpy.data.objects[name]) == kind
    assert second.height == first.height and second.mass == first.mass
    assert dict(second.equipment) == dict(first.equipment)
    assert set(second.joints) == set(first.joints)
    for joint, point in first.joints.items():
        assert np.array_equal(point, second.joints[joint]), joint


def test_joints_a_mapping_needs(scene):
    skier = characters.figure_of(build("SKIER"))
    rider = characters.figure_of(build("SNOWBOARDER"))
    both = {
        "hip",
        "knee_joint",
        "elbow_joint",
        "upper_arm",
        "toe",
        "foot",
        "hand",
        "knee",
        "elbow",
        "shoulder",
    }
    for figure, more in ((skier, {"ski", "pole", "pole_tip"}), (rider, set())):
        for joint in both | more:
            assert {f"{joint}.L", f"{joint}.R"} <= set(figure.joints), joint
    assert {"board", "root", "pelvis"} <= set(rider.joints)
    cyclist = characters.figure_of(build("CYCLIST"))
    assert {"grip.L", "pedal.R", "crank", "fork", "front_wheel"} <= set(cyclist.joints)
    assert cyclist.equipment.keys() == {
        "wheel_radius", "tyre_radius", "head_angle", "wheelbase", "crank_length", "sole",
    }
    # Rear contact, hub over it, and the left pedal ahead.
    assert cyclist.joints["bike"][2] == 0.0
    assert cyclist.joints["rear_wheel"][2] == pytest.approx(cyclist.equipment["wheel_radius"])
    assert cyclist.joints["pedal.L"][1] < cyclist.joints["pedal.R"][1]
    assert skier.equipment.keys() == {"ski_length", "ski_width", "sidecut", "pole_length", "sole"}
    assert rider.equipment.keys() == {
        "board_length",
        "board_width",
        "sidecut",
        "sole",
        "stance_angle.front",
        "stance_angle.rear",
    }
    # Facing -Y, left is +X; soles at 0; the shaft of a pole hangs along -z.
    for side, sign in (("L", 1.0), ("R", -1.0)):
        assert skier.joints[f"foot.{side}"][0] * sign > 0.0
        assert skier.joints[f"ski.{side}"][2] == 0.0
        shaft = skier.joints[f"pole_tip.{side}"] - skier.joints[f"pole.{side}"]
        assert np.allclose(shaft[:2], 0.0, atol=1e-6)
        assert skier.joints[f"pole_tip.{side}"][2] == pytest.approx(0.0, abs=1e-6)
        knee, hip = skier.joints[f"knee_joint.{side}"], skier.joints[f"hip.{side}"]
        assert knee[1] < hip[1] and skier.joints[f"elbow.{side}"][1] > hip[1]
    # 1.78 m: poles about 1.15 to 1.25 m, skis of 12 to 18 m sidecut, a board of 7 to 9 m.
    assert 1.12 < skier.equipment["pole_length"] < 1.25
    assert 12.0 < skier.equipment["sidecut"] < 18.0
    assert 7.0 < rider.equipment["sidecut"] < 9.0
    assert degrees(rider.equipment["stance_angle.front"]) == pytest.approx(18.0, abs=1e-3)
    assert degrees(rider.equipment["stance_angle.rear"]) == pytest.approx(-6.0, abs=1e-3)
    # Regular: left foot towards the nose (-Y), chest to the right of travel (-X).
    assert rider.joints["foot.L"][1] < rider.joints["foot.R"][1]
    assert rider.joints["toe.L"][0] < rider.joints["foot.L"][0]


def test_goofy_is_the_mirror_image(scene):
    regular = characters.figure_of(build("SNOWBOARDER"))
    goofy = characters.figure_of(build("SNOWBOARDER", regular=False))
    for joint, point in regular.joints.items():
        other = joint[:-1] + {"L": "R", "R": "L"}[joint[-1]] if joint[-2] == "." else joint
        assert np.allclose(point * (-1.0, 1.0, 1.0), goofy.joints[other], atol=1e-6), joint
    for key, value in regular.equipment.items():
        assert goofy.equipment[key] == pytest.approx(value, abs=1e-6), key


def test_a_ski_carries_boot_and_leg(scene):
    armature = build("SKIER")
    turn = Quaternion((0.0, 1.0, 0.0), 0.5)
    place(armature, "ski.L", armature.data.bones["ski.L"].head_local + Vector((0, -0.1, 0.1)), turn)
    pose = armature.pose.bones
    foot = pose["DEF-foot.L"].matrix @ pose["DEF-foot.L"].bone.matrix_local.inverted()
    ski = pose["DEF-ski.L"].matrix @ pose["DEF-ski.L"].bone.matrix_local.inverted()
    assert np.abs(np.array(foot) - np.array(ski)).max() < 1e-4


def test_half_way_bones_turn_half_as_far(scene):
    armature = build("SKIER")
    pose = armature.pose.bones
    place(armature, "pelvis", armature.data.bones["pelvis"].head_local - Vector((0, 0, 0.3)))

    def turned(name):
        bone = pose[name]
        parent = bone.parent
        rest = parent.bone.matrix_local.inverted() @ bone.bone.matrix_local
        return (rest.inverted() @ parent.matrix.inverted() @ bone.matrix).to_quaternion().angle

    assert turned("DEF-shin.L") > radians(30.0)
    assert turned("DEF-knee.L") == pytest.approx(0.5 * turned("DEF-shin.L"), abs=1e-3)


def test_no_dependency_cycle(scene, capfd):
    for kind, regular in FIGURES:
        armature = build(kind, regular=regular)
        for other in range(2):
            armature.pose.bones["root"].location[0] = other
            update()
    said = capfd.readouterr()
    assert "cycle" not in (said.out + said.err).lower()


def test_several_characters_do_not_know_each_other(scene):
    made = [
        build("SKIER"),
        build("SKIER", location=(2.0, 0.0, 0.0)),
        build("SNOWBOARDER"),
        build("SNOWBOARDER", regular=False),
    ]
    assert len({armature.data for armature in made}) == 4
    shapes = {bone.custom_shape for armature in made for bone in armature.pose.bones}
    assert len([obj for obj in bpy.data.objects if obj.name.startswith("WGT-poise")]) == len(
        shapes - {None}
    ), "shapes are shared"
    assert not any(obj.users_collection for obj in shapes - {None})
    for armature in made:
        for bone in armature.pose.bones:
            for constraint in bone.constraints:
                assert constraint.target == armature
        for curve in armature.animation_data.drivers:
            for variable in curve.driver.variables:
                assert variable.targets[0].id in (armature, armature.data)
    first, second = made[:2]
    second.pose.bones["pelvis"].location = (0.0, -0.3, 0.0)
    second.pose.bones["root"]["ik_leg.L"] = 0.0
    update()
    for bone in evaluated(first).pose.bones:
        assert (bone.head - bone.bone.head_local).length < 1e-5
    materials = {material for armature in made for material in characters.materials_of(armature)}
    assert len(materials) == sum(len(characters.materials_of(armature)) for armature in made)


def snapshot(context):
    layer = context.view_layer
    return (
        context.mode,
        layer.objects.active,
        tuple(context.selected_objects),
        tuple(bpy.data.scenes),
        context.scene,
        context.scene.frame_current,
        tuple((obj.name, obj.mode) for obj in layer.objects),
    )


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT", "SCULPT", "POSE", "ARMATURE_EDIT", "NONE"])
def test_what_the_animator_is_doing_is_left_alone(scene, mode):
    context = bpy.context
    if mode in ("POSE", "ARMATURE_EDIT"):
        other = build("SNOWBOARDER")
    else:
        other = bpy.data.objects.new("thing", bpy.data.meshes.new("thing"))
        scene.collection.objects.link(other)
    if mode != "NONE":
        other.select_set(True)
        context.view_layer.objects.active = other
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=mode.rsplit("_")[-1])
    before = snapshot(context)
    known = {obj.name for obj in context.view_layer.objects}
    armature = build("SKIER")
    after = snapshot(context)
    assert before[:-1] == after[:-1]
    assert [item for item in after[-1] if item[0] in known] == list(before[-1])
    assert armature.mode == "OBJECT" and not armature.select_get()
    if mode not in ("OBJECT", "NONE"):
        bpy.ops.object.mode_set(mode="OBJECT")


def test_where_and_how_large(scene):
    home = bpy.data.collections.new("cast")
    scene.collection.children.link(home)
    armature = build("SKIER", location=(4.0, 5.0, 6.0), yaw=0.7, collection=home)
    update()
    assert armature.users_collection == (home,)
    assert all(obj.users_collection == (home,) for obj in armature.children)
    assert np.allclose(armature.matrix_world.translation, (4.0, 5.0, 6.0))
    front = armature.matrix_world.to_3x3() @ Vector((0.0, -1.0, 0.0))
    assert np.allclose(front, (sin(0.7), -cos(0.7), 0.0), atol=1e-6)
    # In a scene in centimetres the figure is as tall as anywhere.
    scene.unit_settings.scale_length = 0.01
    small = build("SKIER")
    update()
    top = max(
        (obj.matrix_world @ Vector(corner)).z
        for obj in characters.figure_meshes(small)
        for corner in obj.bound_box
    )
    assert 170.0 < top < 190.0


@pytest.mark.parametrize(
    "setting",
    [
        {"height": 0.0},
        {"height": -1.0},
        {"height": float("nan")},
        {"mass": 0.0},
        {"mass": float("inf")},
        {"kind": "CURLER"},
        {"colours": {"nose": (1, 0, 0)}},
    ],
)
def test_bad_settings_are_refused_before_anything_is_made(scene, setting):
    kind = setting.get("kind", "SKIER")
    before = [
        len(getattr(bpy.data, name))
        for name in ("objects", "meshes", "materials", "armatures", "scenes")
    ]
    with pytest.raises(SettingError):
        build(kind, **{key: value for key, value in setting.items() if key != "kind"})
    after = [
        len(getattr(bpy.data, name))
        for name in ("objects", "meshes", "materials", "armatures", "scenes")
    ]
    assert before == after


def test_figure_of_something_else(scene):
    thing = bpy.data.objects.new("crate", None)
    assert characters.kind_of(thing) == "" and characters.kind_of(None) == ""
    with pytest.raises(UserError, match="crate is not a Poise character"):
        characters.figure_of(thing)


def test_library_override_keeps_the_switches(scene, tmp_path):
    armature = build("SKIER")
    name = armature.name
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {armature})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.objects = [name]
    linked = here.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    figure = characters.figure_of(linked)
    assert json.dumps(sorted(figure.equipment)) and figure.height == pytest.approx(1.78, abs=1e-5)
    override = linked.override_create(remap_local_usages=True)
    override.pose.bones["root"]["ik_leg.L"] = 0.25
    assert override.pose.bones["root"]["ik_leg.L"] == 0.25


def test_every_bone_of_the_skin_has_its_control():
    for kind, regular in FIGURES:
        skeleton = build_skeleton(kind, 1.78, regular)
        names = {bone.name for bone in skeleton.bones}
        for bone, (source, parent) in deform_map(kind).items():
            assert {bone, source, parent} <= names
        # Knees are bent at rest, a cyclist's most: IK has a side to bend to.
        most = 80.0 if kind == "CYCLIST" else 60.0
        j = skeleton.joints
        for side in SIDES:
            thigh = j[f"knee_joint.{side}"] - j[f"hip.{side}"]
            shin = j[f"foot.{side}"] - j[f"knee_joint.{side}"]
            angle = acos(thigh @ shin / sqrt((thigh @ thigh) * (shin @ shin)))
            assert 15.0 < degrees(angle) < most
