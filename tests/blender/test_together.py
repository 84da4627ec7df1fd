# SPDX-License-Identifier: GPL-3.0-or-later
"""Several characters at once: presets and settings for all that are selected, copies, paths."""

from math import radians
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Vector
from operators_draw import Layout, drawn
from operators_help import (
    activate,
    add,
    assert_same_keys,
    curves_of,
    keys_of,
    load,
    undoable,
    world_path,
)
from own_rigs_help import human
from poise.addon import motions
from poise.addon.baking import baked_of
from poise.addon.rigs.controls import control_rig
from poise.addon.scene import timing
from poise.addon.show import preview
from poise.addon.ui import menus


def drawn_curve(name="Way", length=30.0):
    """A curve straight ahead of the characters, as an animator draws it."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (0.0, -length, 0.0, 1.0)
    curve = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(curve)
    bpy.context.view_layer.update()
    return curve


@pytest.fixture
def pair(scene):
    """Two skiers and a snowboarder, all selected, the first skier active."""
    rig, _motion = load()
    others = [add(kind)[0] for kind in ("SKIER", "SNOWBOARDER")]
    activate(*others, rig)
    return rig, *others


def test_a_preset_is_for_all_selected_characters_that_it_suits(pair):
    rig, other, board = pair
    speed = board.poise.turns.speed
    assert undoable("preset_apply", name="Slalom") == {"FINISHED"}
    rig, other, board = (bpy.data.objects[o] for o in ("Skier", "Skier.001", "Snowboarder"))
    assert other.poise.turns.speed == rig.poise.turns.speed != speed
    assert board.poise.turns.speed == speed
    bpy.ops.ed.undo()
    assert bpy.data.objects["Skier.001"].poise.turns.speed == speed
    bpy.ops.poise.preset_apply(name="Slalom", all_selected=False)
    rig, other = (bpy.data.objects[o] for o in ("Skier", "Skier.001"))
    assert other.poise.turns.speed == speed != rig.poise.turns.speed


def test_keys_win_over_a_preset_and_are_told(pair, capfd):
    rig, *_others = pair
    turns = rig.poise.turns
    turns.keyframe_insert("speed", frame=1)
    bpy.ops.poise.preset_apply(name="Slalom")
    assert "Slalom: Speed of Skier Motion keep their keys" in "".join(capfd.readouterr())


def test_settings_are_copied_to_motions_of_the_same_kind(pair):
    rig, other, board = pair
    rig.poise.turns.speed, rig.poise.turns.sharpness = 11.0, radians(31.0)
    rig.poise.skier.set_named("short")
    before = other.poise.turns.speed
    assert bpy.ops.poise.settings_copy(setting="turns.sharpness") == {"FINISHED"}
    assert other.poise.turns.sharpness == board.poise.turns.sharpness == rig.poise.turns.sharpness
    assert other.poise.turns.speed == before
    ride = {row.name: getattr(board.poise.snowboarder, row.name)
            for row in board.poise.snowboarder.ROWS}
    assert bpy.ops.poise.settings_copy() == {"FINISHED"}
    assert other.poise.turns.speed == board.poise.turns.speed == 11.0
    for row in rig.poise.skier.ROWS:
        assert getattr(other.poise.skier, row.name) == getattr(rig.poise.skier, row.name)
    # A body of another kind keeps its style.
    assert ride == {name: getattr(board.poise.snowboarder, name) for name in ride}
    with pytest.raises(RuntimeError, match="no setting 'turns.height_of'"):
        bpy.ops.poise.settings_copy(setting="turns.height_of")
    other.poise.motion = board.poise.motion = "PATH"
    with pytest.raises(RuntimeError, match="No other selected character's active motion is of"):
        bpy.ops.poise.settings_copy()


def test_a_right_click_on_a_setting_offers_to_copy_it(pair):
    turns, layout = pair[0].poise.turns, Layout([])
    clicked = SimpleNamespace(
        button_pointer=turns, button_prop=turns.bl_rna.properties["sharpness"])
    menus.poise_setting_menu(SimpleNamespace(layout=layout), clicked)
    assert layout.said == ["Copy to Selected Characters"]
    # Settings of others are none of Poise's business, nor is a click beside them.
    for pointer in (pair[0].poise.motion_object, bpy.context.scene.render, None):
        other = Layout([])
        named = SimpleNamespace(button_pointer=pointer, button_prop=clicked.button_prop)
        menus.poise_setting_menu(SimpleNamespace(layout=other), named)
        menus.poise_setting_menu(SimpleNamespace(layout=other), SimpleNamespace())
        assert other.said == []


def test_a_list_of_gaits_is_copied(scene):
    horse, other = add("HORSE")[0], add("HORSE")[0]
    activate(other, horse)
    gait = horse.poise.gait
    bpy.ops.poise.gait_add(preset="TROT", start=2.0)
    gait.sequence[1].bounce = 0.5
    gait.speed_by = "WAY"
    gait.add_speed(7.0, 3.0)
    assert bpy.ops.poise.settings_copy() == {"FINISHED"}
    theirs = other.poise.gait
    assert theirs.stored() == gait.stored() and theirs.speed_by == "WAY"
    assert theirs.speed_pairs(1.0) == gait.speed_pairs(1.0)


def test_motions_of_all_selected_are_selected(pair):
    assert bpy.ops.poise.motion_select() == {"FINISHED"}
    selected = set(bpy.context.view_layer.objects.selected)
    assert selected == {*pair, *(rig.poise.motion_object for rig in pair)}
    assert bpy.context.object == pair[0]


def test_a_character_is_a_collection_that_goes_with_it(scene):
    rig, motion = add()
    (home,) = rig.users_collection
    assert home.name == rig.name and home in scene.collection.children.values()
    assert set(home.objects) == {rig, motion, *rig.children}
    assert undoable("character_remove") == {"FINISHED"}
    assert not scene.collection.children and not scene.collection.all_objects
    bpy.ops.ed.undo()
    home = bpy.data.collections["Skier"]
    assert {obj.type for obj in home.objects} == {"ARMATURE", "EMPTY", "MESH"}
    # What is the user's stays, and the collection with it.
    hat = bpy.data.objects.new("Hat", None)
    home.objects.link(hat)
    activate(bpy.data.objects["Skier"])
    assert bpy.ops.poise.character_remove() == {"FINISHED"}
    assert list(home.objects) == [hat]


def test_a_copy_of_a_character_has_motions_and_bakes_of_its_own(scene):
    rig, motion = load()
    rig.poise.turns.keyframe_insert("speed", frame=1)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    rig.children[0].hide_viewport = True
    edit = bpy.context.preferences.edit
    edit.use_duplicate_action = False
    try:
        assert undoable("character_duplicate") == {"FINISHED"}
        assert not edit.use_duplicate_action
    finally:
        edit.use_duplicate_action = True
    rig, copy = bpy.data.objects["Skier"], bpy.context.object
    motion, own = rig.poise.motion_object, copy.poise.motion_object
    assert own != motion and own.poise_motion.character == copy
    assert motion.poise_motion.character == rig and len(copy.children) == len(rig.children)
    (home,) = copy.users_collection
    assert set(home.objects) == {copy, own, *copy.children} and home != rig.users_collection[0]
    assert {obj.hide_viewport for obj in copy.children} == {False, True}
    assert bpy.data.collections.get("Poise") is None
    # Keys, mesh, colours: whatever one changes, the other has its own.
    for name in ("data", "animation_data"):
        mine, theirs = getattr(copy, name), getattr(rig, name)
        assert (mine if name == "data" else mine.action) != (
            theirs if name == "data" else theirs.action)
    assert own.animation_data.action != motion.animation_data.action
    mine, theirs = baked_of(own), baked_of(motion)
    assert mine.action == copy.animation_data.action != theirs.action
    assert preview.refresh(bpy.context, own).out_of_date == ()
    assert_same_keys(keys_of(curves_of(copy)), keys_of(curves_of(rig)))
    # It moves as the first does, elsewhere, once it is moved; and its bake goes alone.
    before = world_path(rig, "pelvis", (1, 20))
    for obj in (copy, own):
        obj.location.x += 3.0
    np.testing.assert_allclose(
        world_path(copy, "pelvis", (1, 20)), before + (3.0, 0.0, 0.0), atol=1e-5)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert copy.animation_data.action is None
    np.testing.assert_allclose(world_path(rig, "pelvis", (1, 20)), before, atol=1e-6)
    assert bpy.ops.poise.bake() == {"FINISHED"} and baked_of(motion) is not None


def test_a_rig_of_somebody_else_is_copied_with_its_controls(scene):
    rig = human()
    activate(rig)
    bpy.ops.poise.rig_setup(kind="SKIER")
    controls = motions.active_character(bpy.context)
    assert bpy.ops.poise.character_duplicate() == {"FINISHED"}
    copy = bpy.context.object
    second = control_rig.rig_of(copy)
    assert second not in (rig, None) and control_rig.controls_of(second) == copy != controls
    assert control_rig.rig_of(controls) == rig and second.select_get()
    assert copy.poise.settings.rig == second
    targets = {c.target for bone in second.pose.bones for c in bone.constraints}
    assert copy in targets and not targets & {controls, rig}
    assert second.users_collection[0].name == second.name


def test_a_copy_goes_along_a_curve_and_through_gates_of_its_own(scene):
    curve = drawn_curve()
    rig = add()[0]
    motion = rig.poise.motion_object
    motion.poise_motion.kind, rig.poise.path.curve = "PATH", curve
    scene.cursor.location = (1.0, -15.0, 0.0)
    bpy.ops.poise.gate_add()
    bpy.ops.poise.character_duplicate()
    copy = bpy.context.object
    path = copy.poise.path
    assert path.curve not in (curve, None) and path.curve.data != curve.data
    gates = rig.poise.path.gates
    assert path.gates not in (gates, None)
    assert len(path.gates.all_objects) == len(gates.all_objects) == 3
    assert path.curve.select_get() and copy.poise.motion_object.select_get()
    activate(rig)
    bpy.ops.poise.character_duplicate(share_path=True)
    assert bpy.context.object.poise.path.curve == curve
    assert bpy.context.object.poise.path.gates == gates


@pytest.mark.parametrize(("kind", "motion", "setting"), [
    ("SKIER", "PATH", "curve"), ("HORSE", "GAIT", "path"),
])
def test_what_is_added_goes_along_the_selected_curve(scene, kind, motion, setting):
    curve = drawn_curve()
    activate(curve)
    assert bpy.ops.poise.character_add(kind=kind) == {"FINISHED"}
    rig = bpy.context.object
    assert rig.poise.motion == motion
    group = getattr(rig.poise, motion.lower())
    assert getattr(group, setting) == curve
    # Another motion, too; but not one that is asked to be something else.
    other = drawn_curve("Other")
    activate(other, rig)
    assert bpy.ops.poise.motion_add() == {"FINISHED"}
    assert getattr(getattr(rig.poise, motion.lower()), setting) == other
    activate(other, rig)
    bpy.ops.poise.motion_add(kind="POSE_TIMING")
    assert rig.poise.motion == "POSE_TIMING"


def test_a_motion_follows_the_scene_until_its_own_range_is_set(scene):
    scene.frame_start, scene.frame_end = 5, 40
    bpy.ops.poise.character_add(kind="SKIER")
    rig = bpy.context.object
    settings = rig.poise.settings
    assert timing.frame_range(scene, rig.poise.motion_object) == (5, 40)
    scene.frame_end = 60
    assert timing.frame_range(scene, rig.poise.motion_object) == (5, 60)
    # What the panel shows first when a range of its own is chosen, and what scripts set.
    settings.range_mode = "OWN"
    assert timing.frame_range(scene, rig.poise.motion_object) == (5, 60)
    settings.range_mode = "SCENE"
    settings.frame_end = 30
    assert timing.frame_range(scene, rig.poise.motion_object) == (5, 30)


def test_a_motion_that_outlasts_the_scene_is_told_and_helped(scene, capfd):
    curve = drawn_curve(length=30.0)
    activate(curve)
    rig = add()[0]
    rig.poise.settings.range_mode = "SCENE"
    scene.frame_end = 50
    bpy.ops.poise.path_plan()
    end = preview.solved_for(rig.poise.motion_object).job.end_frame
    assert end > 60  # 30 m at 8 m/s, 24 frames a second
    assert f"Ends at frame {end}, the scene at 50" in "".join(capfd.readouterr())
    said = " ".join(drawn()["POISE_PT_path"])
    assert f"Ends at frame {end}, the scene at 50" in said
    bpy.ops.poise.motion_add()
    assert rig.poise.settings.frame_start == end  # it goes on where the path ends
    bpy.ops.poise.motion_remove()
    assert undoable("scene_range_set") == {"FINISHED"}
    assert bpy.context.scene.frame_end == end
    assert "Ends at frame" not in " ".join(drawn()["POISE_PT_path"])


def test_a_track_is_shown_whole(scene):
    """All of it lies within the cone that the shorter side of the viewport sees."""
    rig, motion = load()
    area = next(a for a in bpy.context.screen.areas if a.type == "VIEW_3D")
    space = area.spaces.active
    view = space.region_3d
    for other in (motion, rig):
        other.location.x += 200.0
    assert bpy.ops.poise.motion_view() == {"FINISHED"}
    root = preview.solved_for(motion).root
    ahead = view.view_rotation @ Vector((0.0, 0.0, -1.0))
    eye = view.view_location - view.view_distance * ahead
    side = 36.0 / space.lens * min(area.width, area.height) / max(area.width, area.height)
    for place in root:
        ray = Vector(place) - eye
        along = ray.dot(ahead)
        assert along > 0.0 and (ray - along * ahead).length < side * along
    # Nor is it a speck in the distance.
    size = np.linalg.norm(np.ptp(root, axis=0))
    assert size / (2.0 * side * view.view_distance) > 0.3
