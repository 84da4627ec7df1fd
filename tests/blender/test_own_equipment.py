# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of the animator's own in place of skis, boards, poles and bicycles.

Expected places follow from rigid motion: an object keeps its place on its bone, and
a wheel's centre stays on its axle.
"""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector
from operators_draw import drawn
from operators_help import UNDO_NOISE, activate, load, refused, undoable
from poise.addon.rigs.equipment import own_equipment
from snapshot import diff, snapshot

NOISE = (r"\.users$",)


def block(name, size, location=(0, 0, 0), rotation=(0, 0, 0), parent=None):
    """A box-shaped mesh object, its origin in the middle."""
    mesh = bpy.data.meshes.new(name)
    corners = [[s * c / 2 for s, c in zip(size, sign, strict=True)]
               for sign in np.ndindex(2, 2, 2) for sign in [[2 * i - 1 for i in sign]]]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location, obj.rotation_euler, obj.parent = location, rotation, parent
    bpy.context.view_layer.update()
    return obj


def attach(role, obj, **options):
    name = obj.name if obj is not None else ""
    assert bpy.ops.poise.equipment_attach(role=role, object=name, **options) == {"FINISHED"}
    bpy.context.view_layer.update()


def world(obj, bone=""):
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    if bone:
        return evaluated.matrix_world @ evaluated.pose.bones[bone].matrix
    return evaluated.matrix_world.copy()


def at_frames(frames, *things):
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append([world(*thing) for thing in things])
    return found


def own_points(character, role):
    """Places in the world of the vertices that are seen of Poise's own part."""
    bpy.context.view_layer.update()
    (obj,) = [o for o in character.children if o.get("poise_figure") == "Equipment"]
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    index = obj.vertex_groups[f"DEF-{role}"].index
    return [v.co.copy() for v in shown.vertices
            if any(g.group == index and g.weight > 0.5 for g in v.groups)]


def corners(obj):
    matrix = world(obj)
    return np.array([matrix @ Vector(corner) for corner in obj.bound_box])


@pytest.fixture
def skier(scene):
    rig, motion = load(frames=24)
    return rig, motion


def test_a_ski_is_fitted_and_goes_with_its_bone(skier):
    """A ski modelled along X, half as long and far away, lies where Poise's own lay."""
    rig, _ = skier
    wanted = np.array(own_points(rig, "ski.L"))
    ski = block("My Ski", (0.8, 0.05, 0.04), (3, 2, 1))
    before = snapshot()
    attach("ski.L", ski)
    found = corners(ski)
    # Its long side is as long, and it lies on the ground under the foot.
    assert np.ptp(found[:, 1]) == pytest.approx(np.ptp(wanted[:, 1]), rel=1e-3)
    assert found[:, 2].min() == pytest.approx(wanted[:, 2].min(), abs=1e-4)
    middle = 0.5 * (wanted.min(axis=0) + wanted.max(axis=0))
    assert np.abs((found.mean(axis=0) - middle)[:2]).max() < 1e-4
    assert not own_points(rig, "ski.L") and own_points(rig, "ski.R")
    assert ski.location == Vector((3, 2, 1)), "its own place is not touched"
    bpy.ops.poise.bake()
    frames = (1, 9, 24)
    offsets = [bone.inverted() @ obj
               for obj, bone in at_frames(frames, (ski,), (rig, "DEF-ski.L"))]
    for offset in offsets[1:]:
        assert np.abs(np.array(offset - offsets[0])).max() < 1e-4
    bpy.ops.poise.bake_clear()
    bpy.context.scene.frame_set(1)
    assert bpy.ops.poise.equipment_detach(role="ski.L") == {"FINISHED"}
    assert own_points(rig, "ski.L")
    assert diff(before, snapshot(), NOISE) == []


@pytest.mark.parametrize("place", ["REST", "POSE"])
def test_an_object_stays_where_it_stands(skier, place):
    rig, _ = skier
    rig.location, rig.rotation_euler = (1, 2, 0.5), (0.1, 0, 0.7)
    bpy.ops.poise.bake()
    bpy.context.scene.frame_set(12)
    box = block("Box", (0.1, 0.2, 0.3), (1, 1, 1), (0.3, 0.2, 0.1))
    before = world(box)
    attach("board" if "board" in own_equipment.roles_of(rig) else "ski.R", box, place=place)
    bone = rig.pose.bones["DEF-ski.R"]
    rest = rig.matrix_world @ bone.bone.matrix_local
    if place == "REST":
        moved = world(rig, "DEF-ski.R") @ rest.inverted() @ before
    else:
        moved = before
    assert np.abs(np.array(world(box) - moved)).max() < 1e-4


@pytest.mark.parametrize("place", ["FIT", "REST"])
def test_wheels_turn_about_their_axles(scene, place):
    """Whatever its origin: the middle of a wheel stays on the axle, and it turns as the rider's."""
    rig, _ = load("CYCLIST", frames=24)
    wheel = block("Wheel", (0.05, 0.5, 0.5), (0.3, 0.1, 0.2))
    wheel.data.transform(Matrix.Translation((0.0, 0.4, 0.3)))
    attach("front_wheel", wheel, place=place)
    bpy.ops.poise.bake()
    for frame in (1, 7, 24):
        bpy.context.scene.frame_set(frame)
        axle = world(rig, "DEF-front_wheel")
        middle = Vector(corners(wheel).mean(axis=0))
        off = axle.inverted() @ middle
        assert np.hypot(off.y, off.z) < 1e-4, frame
    turn = at_frames((1, 3), (wheel,), (rig, "DEF-front_wheel"))
    (a, b), (c, d) = turn
    one, other = (c @ a.inverted()).to_quaternion(), (d @ b.inverted()).to_quaternion()
    assert one.rotation_difference(other).angle < 1e-3


def test_parts_of_one_bicycle_take_their_own_roles(scene):
    """Wheels hang on the frame of an imported bicycle: each turns once, about its own axle."""
    rig, _ = load("CYCLIST", frames=24)
    frame = block("Frame", (0.1, 1.0, 0.6), (0, 0, 0.6))
    wheel = block("Wheel", (0.04, 0.66, 0.66), (0, -0.6, -0.2), parent=frame)
    empty = bpy.data.objects.new("Bottle", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.parent = frame
    bpy.context.view_layer.update()
    before = snapshot()
    for order in (("front_wheel", "bike"), ("bike", "front_wheel")):
        for role in order:
            attach(role, wheel if role == "front_wheel" else frame, place="REST")
        bpy.ops.poise.bake()
        for at, bone in at_frames((2, 20), (wheel,), (rig, "DEF-front_wheel")):
            off = bone.inverted() @ at.translation
            assert np.hypot(off.y, off.z) < 1e-4, order
        bpy.ops.poise.bake_clear()
        bpy.context.scene.frame_set(1)
        bpy.ops.poise.equipment_detach()
        bpy.context.view_layer.update()
        assert wheel.parent == frame
        assert diff(before, snapshot(), NOISE) == [], order


def test_several_objects_play_one_role(skier):
    rig, _ = skier
    parts = bpy.data.collections.new("My Ski")
    bpy.context.scene.collection.children.link(parts)
    ski, binding = block("Ski", (0.1, 1.7, 0.02)), block("Binding", (0.08, 0.3, 0.1), (0, 0, 0.06))
    for obj in (ski, binding):
        parts.objects.link(obj)
    assert bpy.ops.poise.equipment_attach(role="ski.L", collection="My Ski") == {"FINISHED"}
    assert own_equipment.attached(rig) == {"ski.L": [binding, ski]}
    between = world(ski).inverted() @ world(binding)
    assert np.abs(np.array(between.translation) - (0, 0, 0.06)).max() < 1e-5
    other = block("Other", (0.1, 1.7, 0.02))
    attach("ski.L", other)
    assert own_equipment.attached(rig) == {"ski.L": [other]}, "the former ones are given back"
    activate(other, ski, rig)
    assert bpy.ops.poise.equipment_attach(role="ski.L", add=True) == {"FINISHED"}
    assert own_equipment.attached(rig) == {"ski.L": [other, ski]}
    assert "Other + 1" in drawn()["POISE_PT_character_equipment"]


def test_undo_files_and_a_second_look(skier, tmp_path):
    rig, _ = skier
    block("My Ski", (0.1, 1.7, 0.02), (2, 0, 0))
    bpy.ops.poise.bake()
    bpy.context.scene.frame_set(1)
    before = snapshot()
    undoable("equipment_attach", role="ski.R", object="My Ski")
    bpy.ops.ed.undo()
    assert diff(before, snapshot(), UNDO_NOISE) == []
    bpy.ops.ed.redo()
    bpy.context.scene.frame_set(13)
    there = world(bpy.data.objects["My Ski"])
    path = str(tmp_path / "own.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.context.scene.frame_set(13)
    assert np.abs(np.array(world(bpy.data.objects["My Ski"]) - there)).max() < 1e-6
    activate(bpy.data.objects["My Ski"])
    assert bpy.context.object.poise.kind == "SKIER", "panels show whose equipment it is"
    assert bpy.ops.poise.equipment_detach() == {"FINISHED"}
    assert not bpy.data.objects["My Ski"].constraints


def test_a_rig_of_someone_else_carries_objects_too(scene):
    """Set up anew it keeps what it has a role for; removed, all is as it was (Remove from Rig)."""
    from own_rigs_help import human

    rig = human(scale=0.01, turn=Matrix.Rotation(np.radians(-90.0), 3, "X"))
    ski, pole = block("Ski", (0.1, 1.7, 0.02), (1, 1, 0)), block("Pole", (0.03, 0.03, 1.2))
    pole.parent, pole.parent_type, pole.parent_bone = rig, "BONE", "LeftHand"
    activate(rig)
    bpy.context.view_layer.update()
    before = snapshot()
    bpy.ops.poise.rig_setup(kind="SKIER")
    controls = own_equipment.carrier_of(None) or rig.poise.motion_object.poise_motion.character
    attach("ski.L", ski)
    attach("pole.L", pole)
    shaft = world(controls, "DEF-pole.L")
    along = np.array(shaft.to_3x3() @ Vector((0, 1, 0)))
    found = corners(pole)
    assert np.ptp(found @ along) == pytest.approx(np.ptp(found, axis=0).max(), rel=0.2)
    assert np.abs(np.cross(found.mean(axis=0) - np.array(shaft.translation), along)).max() < 0.03
    bpy.ops.poise.rig_setup(kind="SKIER")
    controls = rig.poise.motion_object.poise_motion.character
    assert own_equipment.attached(controls) == {"pole.L": [pole], "ski.L": [ski]}
    assert own_equipment.is_hidden(controls, "ski.L")
    assert np.abs(corners(pole) - found).max() < 1e-4
    bpy.ops.poise.rig_setup(kind="SNOWBOARDER")
    assert not ski.constraints and not pole.constraints and pole.parent == rig
    attach("board", ski)
    bpy.ops.poise.bake()
    bpy.ops.poise.rig_remove()
    bpy.context.scene.frame_set(1)
    assert diff(before, snapshot(), NOISE) == []


def test_an_override_takes_it_and_gives_it_back(skier, tmp_path):
    """A ski from a library, and one that hangs on something there."""
    path = str(tmp_path / "library.blend")
    shelf = block("Shelf", (1, 1, 1), (4, 0, 0))
    block("Library Ski", (0.1, 1.7, 0.02), (0, 0, 1), parent=shelf)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    rig, _ = load(frames=24)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Library Ski"]
    linked = wanted.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    activate(rig)
    refused("equipment_attach", "library override", role="ski.L", object="Library Ski")
    local = linked.override_create(remap_local_usages=True)
    local.override_library.is_system_override = False
    activate(rig)
    bpy.context.view_layer.update()
    where = world(local)
    attach("ski.L", local)
    bpy.context.scene.frame_set(1)
    there = world(local)
    shot = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=shot)
    local = next(o for o in bpy.data.objects if o.name == "Library Ski" and not o.library)
    assert np.abs(np.array(world(local) - there)).max() < 1e-5
    bpy.ops.poise.equipment_detach(role="ski.L")
    bpy.context.view_layer.update()
    assert np.abs(np.array(world(local) - where)).max() < 1e-5
    assert local.parent is not None and not local.constraints


def test_what_cannot_be_attached_says_why(skier):
    rig, motion = skier
    ski = block("Ski", (0.1, 1.7, 0.02))
    figure = next(o for o in rig.children if o.get("poise_figure") == "Body")

    def says(match, obj=ski, role="ski.L", **more):
        refused("equipment_attach", match, role=role, object=obj.name, **more)

    says("no equipment called 'board'", role="board")
    says("character itself", rig)
    says("made by Poise", figure)
    says("made by Poise", motion)
    refused("equipment_attach", "no object called 'Gone'", role="ski.L", object="Gone")
    refused("equipment_attach", "no collection called", role="ski.L", collection="Gone")
    refused("equipment_attach", "Nothing is chosen", role="ski.L")
    ski.scale = (1, 0, 1)
    bpy.context.view_layer.update()
    says("scaled to zero")
    ski.scale = (1, 1, 1)
    ski.keyframe_insert("location", frame=1)
    says("moves by itself")
    ski.animation_data_clear()
    copied = ski.constraints.new("COPY_LOCATION")
    says("constraint of its own")
    copied.mute = True
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.update()
    says("no size", empty)
    rig.parent = ski
    says("cannot follow it in turn")
    rig.parent = None
    lost = bpy.data.objects.new("Lost", None)
    says("in no scene", lost)
    attach("ski.L", ski)
    assert ski.constraints.active == copied, "the animator's own constraint stays the active one"
    bpy.ops.poise.character_add(kind="SNOWBOARDER")
    says("equipment of Skier", ski, "board")
    activate(rig)
    bpy.data.objects.remove(ski)
    assert own_equipment.is_hidden(rig, "ski.L")
    assert bpy.ops.poise.equipment_detach(role="ski.L") == {"FINISHED"}
    assert own_points(rig, "ski.L")


def test_a_part_can_be_hidden_alone(skier):
    rig, _ = skier
    before = snapshot()
    for hidden in (True, True, False, False):
        assert bpy.ops.poise.equipment_hide(role="pole.R", hidden=hidden) == {"FINISHED"}
        assert bool(own_points(rig, "pole.R")) != hidden
    assert diff(before, snapshot(), NOISE) == []
    refused("equipment_hide", "no equipment called", role="")


def test_who_has_no_equipment_takes_none(scene):
    rig, _ = load("HORSE", frames=4)
    assert own_equipment.roles_of(rig) == {}
    assert "POISE_PT_character_equipment" not in drawn()
    for name in ("equipment_attach", "equipment_detach", "equipment_hide"):
        refused(name, "has no equipment")


@pytest.mark.parametrize("kind", ["SKIER", "TELEMARK", "SNOWBOARDER", "SKATEBOARDER", "CYCLIST"])
def test_everything_of_a_kind_can_be_replaced(scene, kind):
    """Each role takes an object of any direction into the place of Poise's own part."""
    rig, _ = load(kind, frames=4)
    bpy.context.view_layer.update()
    known = own_equipment.roles_of(rig)
    assert known
    for role in known:
        points = np.array(own_points(rig, role))
        size = np.ptp(points, axis=0)
        obj = block(f"My {role}", 3.0 * size[[1, 2, 0]], (5, 5, 5),
                    Euler((np.pi / 2, 0, 0)) if role == "bike" else (0, 0, 0))
        attach(role, obj)
        found = corners(obj)
        assert np.ptp(found, axis=0).max() < 1.3 * size.max(), role
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        assert np.linalg.norm(found.mean(axis=0) - middle) < 0.25 * size.max(), role
    labels = drawn()["POISE_PT_character_equipment"]
    assert {own_equipment.label(role) for role in known} <= set(labels)
    assert not any(own_points(rig, role) for role in known)
