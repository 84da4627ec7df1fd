# SPDX-License-Identifier: GPL-3.0-or-later
"""Legged characters: bones, IK, poles, feet that stay, sizes, skins, adding them."""

from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector
from poise.addon.mapping.legs import LeggedFigure, creature_of
from poise.addon.rigs import characters
from poise.addon.rigs.builders import armature as rig
from poise.addon.rigs.builders.kinds import LEGGED, deform_map
from poise.addon.rigs.builders.legged import FIGURES
from poise.solvers.legged.creature import check_creature

USUAL = {"HORSE": 1.60, "DOG": 0.60, "BIPED": 1.78, "INSECT": 0.80}


def build(kind, **settings):
    return characters.build_character(bpy.context, kind, **settings)


def update():
    bpy.context.view_layer.update()


def chain_of(armature, end):
    """First and second bone of an IK chain, its target and its pole, as the constraint says."""
    second = armature.pose.bones[end]
    (ik,) = [c for c in second.constraints if c.type == "IK"]
    assert ik.chain_count == 2 and not ik.use_stretch
    bones = armature.pose.bones
    return second.parent, second, bones[ik.subtarget], bones[ik.pole_subtarget]


def foot_of(kind, leg):
    """Name of a leg's control."""
    return f"foot_ik.{leg.name[-1]}" if kind == "BIPED" else characters.ROLE_BONES[kind][leg.tip]


def ends_of(armature):
    return [b.name for b in armature.pose.bones if any(c.type == "IK" for c in b.constraints)]


@pytest.mark.parametrize("kind", LEGGED)
def test_bones_roles_and_rest_pose(scene, kind, capfd):
    armature = build(kind)
    update()
    bones, pose = armature.data.bones, armature.pose.bones
    assert "cycle" not in "".join(capfd.readouterr()).lower()
    assert [collection.name for collection in armature.data.collections] == list(rig.COLLECTIONS)
    assert {bone.name for bone in bones if bone.parent is None} == {"master"}
    for bone in bones:
        assert len(bone.collections) == 1, bone.name
        assert bone.use_deform == bone.name.startswith("DEF-") == ("Deform" in bone.collections)
        hidden = bone.use_deform or bone.name.startswith("MCH-")
        assert (pose[bone.name].custom_shape is None) == hidden, bone.name
        # IK and all that follows leaves the rest pose alone.
        away = np.array(pose[bone.name].matrix) - np.array(bone.matrix_local)
        assert np.abs(away).max() < 1e-5, bone.name
    figure = characters.figure_of(armature)
    assert isinstance(figure, LeggedFigure)
    check_creature(creature_of(figure))
    wanted = FIGURES[kind]()
    assert figure.legs == tuple(wanted.legs) or [leg.name for leg in figure.legs] == [
        leg.name for leg in wanted.legs]
    for role, place in wanted.joints.items():
        assert figure.joints[role] == pytest.approx(place, abs=1e-6), role
    # What is keyed is known to the rig, and stands at its role's joint where it is placed.
    roles = characters.ROLE_BONES[kind]
    placed = {"root", "pelvis", *(leg.pole for leg in figure.legs)}
    for leg in figure.legs:
        assert set(leg.segments[: leg.bend]) | set(leg.segments[leg.bend + 2 :]) <= set(roles)
        placed |= {leg.tip} & set(roles)
        assert not set(leg.segments[leg.bend : leg.bend + 2]) & set(roles)
    for role, bone in roles.items():
        assert bone in bones, role
        if role in placed:
            assert np.allclose(bones[bone].head_local, wanted.joints[role], atol=1e-6), role
    assert len(set(roles.values())) == len(roles)
    assert len(ends_of(armature)) == len(figure.legs) + len(figure.arms)
    assert set(characters.SWITCHES[kind]) <= set(pose["root"].keys())


@pytest.mark.parametrize("kind", LEGGED)
def test_lifted_feet_bend_knees_and_hocks_the_right_way(scene, kind):
    """The middle joint stays on its pole's side, and the limb reaches where its foot is."""
    armature = build(kind)
    figure = characters.figure_of(armature)
    pose = armature.pose.bones
    for leg in figure.legs:
        name = foot_of(kind, leg)
        reach = figure.reach(leg)
        first, second, target, pole = chain_of(armature, leg.segments[leg.bend + 1])
        angle = None
        for lift in np.linspace(0.0, 0.30, 7):
            for ahead in (-0.03, 0.03):
                foot = pose[name]
                foot.location = foot.bone.matrix_local.to_3x3().inverted() @ Vector(
                    (0.0, -ahead * reach, lift * reach))
                update()
                a, b, c = first.head, second.head, second.tail
                assert (c - target.head).length < 2e-4 * figure.height + 1e-5, (leg.name, lift)
                axis = (c - a).normalized()
                bend = (b - a) - axis * axis.dot(b - a)
                side = (pole.head - a) - axis * axis.dot(pole.head - a)
                assert bend.normalized().dot(side.normalized()) > 0.99, (leg.name, lift)
            now = (a - b).angle(c - b)
            assert angle is None or now < angle + 0.02, leg.name
            angle = now
        assert angle < (a - b).angle(c - b) + 1e-6
        foot.location = (0.0, 0.0, 0.0)


@pytest.mark.parametrize("kind", ["HORSE", "DOG"])
def test_a_standing_foot_stays_whatever_the_joints_above_it_do(scene, kind):
    armature = build(kind)
    figure = characters.figure_of(armature)
    pose, roles = armature.pose.bones, characters.ROLE_BONES[kind]
    rng = np.random.default_rng(3)
    for leg in figure.legs:
        tip = pose[f"DEF-{leg.segments[-1]}"]
        before = tip.tail.copy()
        for role in leg.segments[leg.bend + 2 :]:
            axis = Vector(rng.normal(size=3)).normalized()
            pose[roles[role]].rotation_quaternion = Quaternion(axis, rng.uniform(-0.25, 0.25))
        pose["pelvis"].location = rng.uniform(-0.03, 0.03, 3) * figure.height
        update()
        assert (tip.tail - before).length < 1e-4 * figure.height
        for segment in leg.segments:
            assert (pose[segment].tail - pose[segment].head).length == pytest.approx(
                pose[segment].bone.length, rel=1e-5)


@pytest.mark.parametrize("kind", LEGGED)
def test_legs_without_ik_are_posed_by_hand(scene, kind):
    armature = build(kind)
    figure = characters.figure_of(armature)
    leg = figure.legs[0]
    pose = armature.pose.bones
    name = leg.segments[leg.bend]
    switch = next(n for n in characters.SWITCHES[kind] if n.endswith(leg.name[-1]) and (
        kind == "BIPED" or name.split(".")[0] in n))
    before = pose[leg.segments[-1]].tail.copy()
    pose[name].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.5)
    update()
    assert (pose[leg.segments[-1]].tail - before).length < 1e-3 * figure.height
    pose["root"][switch] = 0.0
    armature.update_tag()
    scene.frame_set(scene.frame_current)
    assert (pose[leg.segments[-1]].tail - before).length > 0.1 * figure.reach(leg)


@pytest.mark.parametrize("kind", LEGGED)
def test_figure_is_read_back_at_any_size_and_transform(scene, kind):
    usual = FIGURES[kind]()
    scene.unit_settings.scale_length = 0.01
    armature = build(kind, height=0.5 * USUAL[kind], location=(3.0, 2.0, 1.0), yaw=2.0)
    update()
    assert armature.scale.x == pytest.approx(100.0)
    figure = characters.figure_of(armature)
    assert figure.height == pytest.approx(0.5 * USUAL[kind], rel=1e-5)
    assert figure.mass == pytest.approx(usual.mass / 8.0, rel=1e-4)
    for role, place in usual.joints.items():
        assert figure.joints[role] == pytest.approx(0.5 * place, abs=1e-5), role
    # Applied, the armature has grown; so has the figure, heels and toes with it.
    armature.scale = (2.0,) * 3
    armature.location, armature.rotation_euler = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    update()
    bpy.ops.object.select_all(action="DESELECT")
    armature.select_set(True)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    grown = characters.figure_of(armature)
    assert grown.height == pytest.approx(USUAL[kind], rel=1e-5)
    for leg, other in zip(grown.legs, usual.legs, strict=True):
        assert (leg.heel, leg.toe) == pytest.approx((other.heel, other.toe), abs=1e-5)


@pytest.mark.parametrize("kind", LEGGED)
def test_skin_is_whole_and_goes_along(scene, kind):
    armature = build(kind)
    (body,) = characters.figure_meshes(armature)
    mesh = body.data
    assert not mesh.validate() and len(mesh.polygons) > 5000
    groups = [group.name for group in body.vertex_groups]
    assert set(groups) <= set(deform_map(kind))
    for vertex in mesh.vertices:
        weights = [group.weight for group in vertex.groups if group.weight > 0.0]
        assert 1 <= len(weights) <= 4 and abs(sum(weights) - 1.0) < 1e-5
    size = np.ptp(np.array([v.co for v in mesh.vertices]), axis=0)
    height = USUAL[kind]
    assert 0.9 * height < max(size) < 2.0 * height
    assert min(v.co.z for v in mesh.vertices) == pytest.approx(0.0, abs=0.02 * height)
    # Both halves are the same, and no vertex stays behind when the figure goes away.
    xs = np.array([v.co.x for v in mesh.vertices])
    assert xs.max() == pytest.approx(-xs.min(), abs=0.02 * height)
    pose = armature.pose.bones
    pose["root"].location = (0.0, 5.0, 0.0)
    update()
    seen = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    moved = np.array([v.co.y for v in seen.vertices]) - [v.co.y for v in mesh.vertices]
    assert moved == pytest.approx(5.0, abs=1e-4)
    used = {slot.material.get("poise_part") for slot in body.material_slots}
    assert used >= set(characters.KINDS[kind].paints)


@pytest.mark.parametrize("kind", LEGGED)
def test_bent_legs_keep_their_skin(scene, kind):
    """Raised as high as in a gallop or a run, no edge of the skin becomes many times longer."""
    armature = build(kind)
    figure = characters.figure_of(armature)
    (body,) = characters.figure_meshes(armature)
    edges = np.array([edge.vertices[:] for edge in body.data.edges])
    rest = np.array([v.co for v in body.data.vertices])
    for leg in figure.legs:
        name = foot_of(kind, leg)
        foot = armature.pose.bones[name]
        foot.location = foot.bone.matrix_local.to_3x3().inverted() @ Vector(
            (0.0, -0.15 * figure.reach(leg), 0.22 * figure.reach(leg)))
    armature.pose.bones["pelvis"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), radians(4.0))
    update()
    seen = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    there = np.array([v.co for v in seen.vertices])
    before, after = (np.linalg.norm(np.diff(p[edges], axis=1)[:, 0], axis=1) for p in (rest, there))
    stretched = (after - before) / (figure.height * 0.01)
    # In hundredths of the height: folds at groins and elbows, nothing torn.
    assert stretched.max() < 5.0
    assert np.mean(after > 2.0 * before) < 0.02


@pytest.mark.parametrize("kind", LEGGED)
def test_added_from_the_menu(scene, kind):
    bpy.ops.ed.undo_push(message="before")
    before = set(bpy.data.objects.keys())
    bpy.ops.poise.character_add("EXEC_DEFAULT", True, kind=kind)
    armature = bpy.context.view_layer.objects.active
    assert characters.kind_of(armature) == kind and armature.poise.kind == kind
    assert armature["poise_height"] == pytest.approx(USUAL[kind])
    assert armature["poise_mass"] == pytest.approx(characters.KINDS[kind].mass)
    paints = {m["poise_part"]: m.diffuse_color[:3] for m in characters.materials_of(armature)}
    for part, colour in characters.KINDS[kind].colours.items():
        assert paints[part] == pytest.approx(colour, abs=1e-4)
    bpy.ops.ed.undo()
    assert set(bpy.data.objects.keys()) == before


def test_size_and_colours_follow_the_kind_until_they_are_chosen(scene):
    """Redo with another kind takes that kind's size, unless the animator had set one."""
    bpy.ops.poise.character_add(kind="DOG", sized_for="HORSE", height=1.6, mass=500.0)
    dog = bpy.context.view_layer.objects.active
    assert dog["poise_height"] == pytest.approx(0.6) and dog["poise_mass"] == pytest.approx(30.0)
    bpy.ops.poise.character_add(kind="DOG", sized_for="HORSE", height=0.3, coat=(0.9, 0.8, 0.7))
    dog = bpy.context.view_layer.objects.active
    assert dog["poise_height"] == pytest.approx(0.3)
    coat = next(m for m in characters.materials_of(dog) if m["poise_part"] == "coat")
    assert coat.diffuse_color[:3] == pytest.approx((0.9, 0.8, 0.7), abs=1e-4)
