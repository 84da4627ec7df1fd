# SPDX-License-Identifier: GPL-3.0-or-later
"""What a character looks like: faces, weights, joints that keep their shape, another mesh."""

from collections import Counter
from math import acos, degrees, radians

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector
from poise.addon.errors import UserError
from poise.addon.rigs import characters
from poise.addon.rigs.builders import body, figure_mesh, skin, surfaces
from poise.addon.rigs.builders.kinds import BUILDS, build_skeleton

ON_SKIS = ("SKIER", "TELEMARK")
FIGURES = [("SKIER", True), ("TELEMARK", True), ("SNOWBOARDER", True), ("SNOWBOARDER", False),
           ("SKATEBOARDER", True), ("SKATEBOARDER", False), ("CYCLIST", True)]
SIDES = ("L", "R")


def build(kind="SKIER", **settings):
    return characters.build_character(bpy.context, kind, **settings)


def part(armature, name):
    (obj,) = [obj for obj in characters.figure_meshes(armature) if obj["poise_figure"] == name]
    return obj


def points_of(obj):
    """Evaluated vertices in world space, (v, 3)."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    depsgraph.update()
    shown = obj.evaluated_get(depsgraph)
    mesh = shown.to_mesh()
    values = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", values)
    shown.to_mesh_clear()
    world = np.array(obj.matrix_world)
    return values.reshape(-1, 3).astype(float) @ world[:3, :3].T + world[:3, 3]


def edges_of(mesh):
    ends = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", ends)
    return ends.reshape(-1, 2)


def bend_knees(armature, flexion):
    """Lower the pelvis until the knees are bent so far, hips a little behind the ankles."""
    bones = armature.data.bones
    hip, ankle = bones["thigh.L"].head_local, bones["foot.L"].head_local
    a, b = bones["thigh.L"].length, bones["shin.L"].length
    reach_squared = a * a + b * b + 2.0 * a * b * np.cos(flexion)
    back = 0.12
    height = np.sqrt(reach_squared - (hip.x - ankle.x) ** 2 - back**2)
    shift = Vector((0.0, ankle.y + back - hip.y, ankle.z + height - hip.z))
    pose = armature.pose.bones["pelvis"]
    pose.matrix = Matrix.Translation(shift) @ pose.bone.matrix_local
    bpy.context.view_layer.update()
    thigh, shin = (armature.pose.bones[name].vector for name in ("thigh.L", "shin.L"))
    assert degrees(thigh.angle(shin)) == pytest.approx(degrees(flexion), abs=0.2)


@pytest.mark.parametrize(("kind", "regular"), FIGURES)
def test_faces_weights_and_materials(scene, kind, regular):
    armature = build(kind, regular=regular)
    meshes = characters.figure_meshes(armature)
    assert sum(len(obj.data.polygons) for obj in meshes) < 20_000
    deform = {bone.name for bone in armature.data.bones if bone.use_deform}
    for obj in meshes:
        assert obj.parent == armature
        assert [modifier.type for modifier in obj.modifiers] == ["ARMATURE"]
        assert {group.name for group in obj.vertex_groups} <= deform
        for vertex in obj.data.vertices:
            assert 1 <= len(vertex.groups) <= 4
            assert sum(group.weight for group in vertex.groups) == pytest.approx(1.0, abs=1e-5)
        assert not obj.data.validate()
    parts = [material["poise_part"] for material in characters.materials_of(armature)]
    assert parts == [name for name in figure_mesh.PARTS if name in parts]
    assert {"suit", "trousers", "helmet", "skin", "boots", "equipment"} <= set(parts)
    # A skateboarder's hands are bare.
    assert ("gloves" in parts) == (kind != "SKATEBOARDER")


def test_colours_are_seen_and_rendered(scene):
    armature = build("SKIER", colours={"suit": (0.1, 0.2, 0.3), "helmet": (0.4, 0.5, 0.6, 1.0)})
    materials = {m["poise_part"]: m for m in characters.materials_of(armature)}
    assert np.allclose(materials["suit"].diffuse_color, (0.1, 0.2, 0.3, 1.0))
    assert np.allclose(materials["helmet"].diffuse_color, (0.4, 0.5, 0.6, 1.0))
    assert np.allclose(materials["skin"].diffuse_color[:3], characters.COLOURS["skin"])
    materials["suit"].diffuse_color = (0.7, 0.8, 0.9, 1.0)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    depsgraph.update()
    shown = materials["suit"].evaluated_get(depsgraph)
    (shader,) = [n for n in shown.node_tree.nodes if n.type == "BSDF_PRINCIPLED"]
    assert np.allclose(shader.inputs["Base Color"].default_value[:3], (0.7, 0.8, 0.9), atol=1e-5)


@pytest.mark.parametrize(("kind", "regular"), FIGURES)
def test_surfaces_are_sound(kind, regular):
    skeleton = build_skeleton(kind, 1.78, regular)
    own = {
        "SKIER": (body.fist, body.ski_boot),
        "TELEMARK": (body.fist, body.telemark_boot),
        "SKATEBOARDER": (body.bare_hand, body.skate_shoe),
        "SNOWBOARDER": (body.mitten, body.snowboard_boot),
        "CYCLIST": (body.bare_wrist_fist, body.shoe),
    }
    clothes = body.cycling_clothes if kind == "CYCLIST" else body.winter_clothes
    parts = [*clothes(skeleton), BUILDS[kind].equipment(skeleton)]
    parts += [make(skeleton, side) for make in own[kind] for side in SIDES]
    for surface in parts:
        directed = Counter(
            (a, b) for face in surface.faces for a, b in zip(face, face[1:] + face[:1], strict=True)
        )
        assert max(directed.values()) == 1, "neighbouring faces look opposite ways"
        assert surfaces.signed_volume(surface.points, surface.faces) > 0.0
        assert np.allclose(surface.weights.sum(axis=1), 1.0)
        assert np.isfinite(surface.points).all()
    # The suit is one skin from collar to cuffs: no joint can open.
    suit = parts[0]
    group = np.arange(len(suit.points))
    ends = np.array(
        [(a, b) for face in suit.faces for a, b in zip(face, face[1:] + face[:1], strict=True)]
    )
    for _ in range(400):
        lowest = np.minimum(group[ends[:, 0]], group[ends[:, 1]])
        before = group.copy()
        np.minimum.at(group, ends[:, 0], lowest)
        np.minimum.at(group, ends[:, 1], lowest)
        if np.array_equal(before, group):
            break
    assert len(set(group.tolist())) == 1


def test_stripes_subdivide_with_the_face():
    cage = surfaces.Cage()
    corners = cage.add([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], {"DEF-x": 1.0})
    cage.face(corners, surfaces.stripe("red", "blue", 3, 2))
    surface = cage.surface(2)
    assert Counter(surface.materials) == {"red": 4, "blue": 12}
    middles = np.array([np.mean(surface.points[list(face)], axis=0) for face in surface.faces])
    red = np.array([material == "red" for material in surface.materials])
    # Along the edge from the last corner to the first, x = 0.
    assert middles[red, 0].max() < middles[~red, 0].min()


def test_catmull_clark_of_a_cube():
    # Catmull and Clark 1978: a corner of valence 3 goes to (F + 2 R) / 3 with F
    # the mean of its face points, R that of its edge middles: 5/9 of a unit cube's corner.
    points = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    finer, quads, materials = surfaces.catmull_clark(points, faces, ["m"] * 6)
    assert len(quads) == 24 and len(finer) == 8 + 12 + 6 and materials == ["m"] * 24
    assert np.allclose(finer[:8], points * 5.0 / 9.0)
    assert np.allclose(np.abs(finer[8:20]).max(axis=1), 0.75)
    assert np.allclose(np.sort(np.abs(finer[20:]), axis=1), [0.0, 0.0, 1.0])


@pytest.mark.parametrize("flexion", [70.0, 100.0, 120.0])
def test_knees_keep_their_shape(scene, flexion):
    armature = build("SKIER")
    obj = part(armature, "Body")
    ends = edges_of(obj.data)
    faces = [tuple(polygon.vertices) for polygon in obj.data.polygons]
    rest = points_of(obj)
    bend_knees(armature, radians(flexion))
    bent = points_of(obj)
    ratio = np.linalg.norm(bent[ends[:, 0]] - bent[ends[:, 1]], axis=1) / np.linalg.norm(
        rest[ends[:, 0]] - rest[ends[:, 1]], axis=1
    )
    volume = surfaces.signed_volume(bent, faces) / surfaces.signed_volume(rest, faces)
    assert volume == pytest.approx(1.0, abs=0.03)
    low, high = np.percentile(ratio, [1.0, 99.0])
    assert low > 0.55 and high < 1.6
    # A knee is as thick bent as straight: how far the skin in front of the
    # joint is from the joint.
    group = obj.vertex_groups["DEF-knee.L"].index
    knee = [
        v.index
        for v in obj.data.vertices
        if any(g.group == group and g.weight > 0.6 for g in v.groups)
    ]
    pose = armature.pose.bones
    axis = (pose["shin.L"].vector - pose["thigh.L"].vector).normalized()
    front = -np.array(axis)
    joint, was = np.array(pose["shin.L"].head), np.array(pose["shin.L"].bone.head_local)
    thickness = ((bent[knee] - joint) @ front).max()
    shin, thigh = (pose[name].bone.matrix_local.col[1].xyz for name in ("shin.L", "thigh.L"))
    before = ((rest[knee] - was) @ -np.array((shin - thigh).normalized())).max()
    assert thickness == pytest.approx(before, rel=0.12)


@pytest.mark.parametrize("rise", [30.0, 75.0, 110.0])
def test_arms_keep_their_volume(scene, rise):
    armature = build("SNOWBOARDER")
    obj = part(armature, "Body")
    faces = [tuple(polygon.vertices) for polygon in obj.data.polygons]
    rest = points_of(obj)
    bones = armature.data.bones
    left = np.array(bones["upper_arm.L"].head_local - bones["upper_arm.R"].head_local)
    left /= np.linalg.norm(left)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        shoulder = np.array(bones[f"upper_arm.{side}"].head_local)
        reach = 0.9 * (bones[f"upper_arm.{side}"].length + bones[f"forearm.{side}"].length)
        angle = radians(rise)
        towards = sign * left * np.sin(angle) - np.array((0.0, 0.0, 1.0)) * np.cos(angle)
        pose = armature.pose.bones[f"hand_ik.{side}"]
        old = -pose.bone.matrix_local.col[3].xyz + Vector(shoulder + reach * towards)
        pose.matrix = Matrix.Translation(old) @ pose.bone.matrix_local
        bpy.context.view_layer.update()
    moved = points_of(obj)
    volume = surfaces.signed_volume(moved, faces) / surfaces.signed_volume(rest, faces)
    assert volume == pytest.approx(1.0, abs=0.04)


@pytest.mark.parametrize(("kind", "regular"), FIGURES)
def test_stands_on_the_snow(scene, kind, regular):
    armature = build(kind, regular=regular, height=1.9)
    gear = points_of(part(armature, "Equipment"))
    assert gear[:, 2].min() == pytest.approx(0.0, abs=1e-5)
    figure = characters.figure_of(armature)
    sizes = figure.equipment
    if kind == "CYCLIST":
        length = sizes["wheelbase"] + 2.0 * sizes["wheel_radius"]
    else:
        length = sizes["ski_length" if kind in ON_SKIS else "board_length"]
    assert np.ptp(gear[:, 1]) == pytest.approx(length, abs=0.03)
    wearer = points_of(part(armature, "Body"))
    assert wearer[:, 2].min() > 0.02, "boots are on, not in, the equipment"
    if kind in ON_SKIS:
        for side in SIDES:
            tip = figure.joints[f"pole_tip.{side}"]
            assert np.linalg.norm(gear - tip, axis=1).min() < 1e-3


@pytest.mark.parametrize(
    ("kind", "length", "width", "bone"),
    [
        ("SKIER", "ski_length", "ski_width", "DEF-ski.L"),
        ("SNOWBOARDER", "board_length", "board_width", "DEF-board"),
    ],
)
def test_equipment_has_its_sidecut(scene, kind, length, width, bone):
    armature = build(kind)
    figure = characters.figure_of(armature)
    gear = part(armature, "Equipment")
    group = gear.vertex_groups[bone].index
    own = [v.index for v in gear.data.vertices if v.groups[0].group == group]
    points = points_of(gear)[own]
    points = points[points[:, 2] < 0.012]
    side = points[:, 0] - 0.5 * (points[:, 0].min() + points[:, 0].max())
    # The edge: the outermost points between the widest ones, below the binding.
    stations = np.unique(points[:, 1].round(5))
    edge = np.array([(y, np.abs(side[np.abs(points[:, 1] - y) < 1e-4]).max()) for y in stations])
    half = 0.5 * figure.equipment[length]
    waist = 0.5 * figure.equipment[width]
    near = edge[
        (edge[:, 1] >= 0.98 * waist) & (np.abs(edge[:, 0] - edge[:, 0].mean()) < 0.7 * half)
    ]
    curve = np.polyfit(near[:, 0], near[:, 1], 2)
    assert 0.5 / curve[0] == pytest.approx(figure.equipment["sidecut"], rel=0.05)
    assert near[:, 1].min() == pytest.approx(waist, rel=0.03)


def test_distance_weights():
    x, z = np.array([1.0, 0.0, 0.0]), np.zeros(3)
    segments = {"a": (z, x), "b": (x, 2.0 * x)}
    points = np.array([(0.5, 0.1, 0.0), (1.0, 0.1, 0.0), (1.6, -0.1, 0.0), (5.0, 0.0, 0.0)])
    weights = skin.distance_weights(points, segments, 0.1)
    assert np.allclose(weights.sum(axis=1), 1.0)
    assert weights[0, 0] > 0.99 and weights[2, 1] > 0.99 and weights[3, 1] > 0.99
    assert weights[1] == pytest.approx([0.5, 0.5])
    # By symmetry, mirrored points have mirrored weights.
    one, other = skin.distance_weights(np.array([(0.95, 0.1, 0), (1.05, 0.1, 0)]), segments, 0.1)
    assert one == pytest.approx(other[::-1])
    sides = {"leg.L": (0.2 * x, 0.2 * x + (0, 0, 1)), "leg.R": (-0.2 * x, -0.2 * x + (0, 0, 1))}
    near = skin.distance_weights(np.array([(0.08, 0.0, 0.5)]), sides, 0.07, x, z)
    assert near[0] == pytest.approx([1.0, 0.0])


def body_shell(scene, armature, name="hero"):
    """A tube around the left leg and a ball around the head, as a mesh of the animator's."""
    bones = armature.data.bones
    points, faces = [], []
    for first, second in (("DEF-thigh.L", "DEF-shin.L"), ("DEF-chest", "DEF-head")):
        start, end = bones[first].head_local, bones[second].tail_local
        for k in range(12):
            centre = start.lerp(end, k / 11.0)
            for a in np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False):
                points.append(centre + Vector((0.05 * np.cos(a), 0.05 * np.sin(a), 0.0)))
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    scene.collection.objects.link(obj)
    return obj


def test_swap_and_restore(scene):
    armature = build("SKIER", location=(3.0, 1.0, 0.0), yaw=0.4)
    bpy.context.view_layer.update()
    hero = body_shell(scene, armature)
    hero.matrix_world = armature.matrix_world
    hero.vertex_groups.new(name="mine")
    bpy.context.view_layer.update()
    before = points_of(hero)
    characters.swap_mesh(armature, hero)
    bpy.context.view_layer.update()
    own, gear = part(armature, "Body"), part(armature, "Equipment")
    assert own.hide_viewport and own.hide_render and not gear.hide_render
    assert np.allclose(points_of(hero), before, atol=1e-5), "at rest nothing moves"
    for vertex in hero.data.vertices:
        assert sum(group.weight for group in vertex.groups) == pytest.approx(1.0, abs=1e-5)
    # It follows: head with head, whole with the object.
    turn = Quaternion((0.0, 0.0, 1.0), 0.8)
    armature.pose.bones["head"].rotation_quaternion = turn
    armature.location.x += 1.0
    bpy.context.view_layer.update()
    moved = points_of(hero)
    top, knee = np.argmax(before[:, 2]), 40
    assert moved[knee] - before[knee] == pytest.approx([1.0, 0.0, 0.0], abs=1e-4)
    bone = armature.pose.bones["DEF-head"]
    world = armature.matrix_world @ bone.matrix @ bone.bone.matrix_local.inverted()
    rest = armature.matrix_world.inverted() @ Vector(before[top] + (1.0, 0.0, 0.0))
    assert moved[top] == pytest.approx(np.array(world @ rest), abs=1e-4)
    with pytest.raises(UserError, match="worn"):
        characters.swap_mesh(armature, hero)
    characters.restore_mesh(armature)
    bpy.context.view_layer.update()
    assert not own.hide_viewport and not own.hide_render
    assert hero.parent is None and not hero.modifiers
    assert [group.name for group in hero.vertex_groups] == ["mine"]
    assert not [key for key in hero.keys() if key.startswith("poise_")]
    assert np.allclose(points_of(hero), before + (1.0, 0.0, 0.0), atol=1e-5)


def test_a_weighted_mesh_keeps_its_weights(scene):
    armature = build("SNOWBOARDER")
    holder = bpy.data.objects.new("holder", None)
    scene.collection.objects.link(holder)
    holder.location = (0.3, 0.2, 0.1)
    hero = body_shell(scene, armature)
    hero.parent = holder
    bpy.context.view_layer.update()
    hero.matrix_world = Matrix()
    hero.vertex_groups.new(name="DEF-chest").add([0, 1, 2], 0.7, "REPLACE")
    characters.swap_mesh(armature, hero)
    assert [group.name for group in hero.vertex_groups] == ["DEF-chest"]
    assert [group.weight for group in hero.data.vertices[1].groups] == pytest.approx([0.7])
    assert hero.parent == armature
    bpy.context.view_layer.update()
    characters.restore_mesh(armature)
    bpy.context.view_layer.update()
    assert hero.parent == holder and [g.name for g in hero.vertex_groups] == ["DEF-chest"]
    assert np.allclose(np.array(hero.matrix_world), np.eye(4), atol=1e-5)


def test_meshes_that_cannot_be_worn(scene):
    armature, other = build("SKIER"), build("SKIER")
    lamp = bpy.data.objects.new("lamp", None)
    nothing = bpy.data.objects.new("void", bpy.data.meshes.new("void"))
    hero = body_shell(scene, armature)
    hero.modifiers.new("Armature", "ARMATURE").object = other
    for obj, message in (
        (lamp, "lamp is not a mesh"),
        (nothing, "void has no vertices"),
        (hero, f"hero follows {other.name}"),
        (part(other, "Body"), "is worn by a character"),
    ):
        with pytest.raises(UserError, match=message):
            characters.swap_mesh(armature, obj)
    with pytest.raises(UserError, match="lamp is not a Poise character"):
        characters.swap_mesh(lamp, hero)
    assert not part(armature, "Body").hide_viewport


def test_hands_hold_the_poles(scene):
    """The shaft of each pole passes through the fist."""
    armature = build("SKIER")
    figure = characters.figure_of(armature)
    wearer = part(armature, "Body")
    for side in SIDES:
        group = wearer.vertex_groups[f"DEF-hand.{side}"].index
        hand = np.array(
            [
                v.index
                for v in wearer.data.vertices
                if any(g.group == group and g.weight > 0.99 for g in v.groups)
            ]
        )
        points = points_of(wearer)[hand]
        grip = figure.joints[f"pole.{side}"]
        level = points[np.abs(points[:, 2] - grip[2]) < 0.02]
        around = np.degrees(np.arctan2(level[:, 1] - grip[1], level[:, 0] - grip[0]))
        gaps = np.diff(np.sort(np.concatenate([around, [around.min() + 360.0]])))
        assert gaps.max() < 90.0, "fingers and palm are all around the shaft"
        assert np.linalg.norm(points - grip, axis=1).max() < 0.16


def test_head_looks_along_the_travel(scene):
    for kind, regular in FIGURES:
        skeleton = build_skeleton(kind, 1.78, regular)
        lens = body.goggles(skeleton)
        shown = [
            face for face, key in zip(lens.faces, lens.materials, strict=True) if key == "lens"
        ]
        normals = []
        for a, b, c, d in shown:
            p = lens.points
            normals.append(np.cross(p[c] - p[a], p[d] - p[b]))
        mean = np.sum(normals, axis=0)
        mean /= np.linalg.norm(mean)
        assert degrees(acos(np.clip(mean @ (0.0, -1.0, 0.0), -1.0, 1.0))) < 15.0
