# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions and characters that are put away, move, or are worked on in edit mode."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from operators_help import activate, add, load, sentence, solved, undoable


def _exclude(motion):
    """Put a Motion object into a collection that the view layer leaves out."""
    away = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(away)
    for collection in motion.users_collection:
        collection.objects.unlink(motion)
    away.objects.link(motion)
    bpy.context.view_layer.layer_collection.children[away.name].exclude = True


def test_an_excluded_motion_stays_where_it_stands(scene, tmp_path):
    """Blender does not evaluate it after loading; it still does not start at the origin."""
    rig, motion = add()
    motion.location = (4.0, -3.0, 1.0)
    motion.rotation_euler.z = 0.7
    bpy.context.view_layer.update()
    before = solved(motion)
    _exclude(motion)
    path = str(tmp_path / "away.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    after = solved(bpy.data.objects["Skier Motion"])
    np.testing.assert_allclose(after.motion.position, before.motion.position, atol=1e-5)
    np.testing.assert_allclose(after.motion.position[0], (4.0, -3.0, 1.0), atol=1e-5)


@pytest.mark.parametrize("how", ["disabled", "excluded"])
def test_a_rig_that_only_its_meshes_need_is_where_it_is_after_undo(scene, how):
    """Blender evaluates it for them, but undo leaves no world matrix on the object itself."""
    rig, _motion = load()
    rig.location = (5.0, 6.0, 7.0)
    rig.rotation_euler.z = 0.5
    mesh = next(child for child in rig.children if child.type == "MESH")
    activate(mesh)
    if how == "disabled":
        rig.hide_viewport = True
    else:
        _exclude(rig)
    bpy.context.view_layer.update()
    assert undoable("motion_add") == {"FINISHED"}
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    rig = bpy.data.objects["Skier"]
    np.testing.assert_allclose(rig.matrix_world.translation, 0.0, atol=1e-9)  # Blender's own
    assert bpy.ops.poise.motion_add() == {"FINISHED"}
    added = rig.poise.motion_object
    np.testing.assert_allclose(added.location, (5.0, 6.0, 7.0), atol=1e-5)
    np.testing.assert_allclose(added.rotation_euler, (0.0, 0.0, 0.5), atol=1e-5)


def test_a_mesh_stays_in_place_under_a_disabled_rig_after_undo(scene):
    """Worn and taken off again."""
    rig, _motion = load()
    rig.location = (5.0, 6.0, 7.0)
    rig.hide_viewport = True
    data = bpy.data.meshes.new("Suit")
    data.from_pydata([(5, 6, 8), (5.2, 6, 8), (5, 6.2, 8)], [], [(0, 1, 2)])
    suit = bpy.data.objects.new("Suit", data)
    suit.location = (0.1, 0.0, 0.0)
    bpy.context.scene.collection.objects.link(suit)
    body = next(child for child in rig.children if child.type == "MESH")
    activate(suit, body)
    bpy.context.view_layer.update()
    assert undoable("motion_add") == {"FINISHED"}
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    bpy.ops.poise.mesh_swap()
    bpy.context.view_layer.update()
    suit = bpy.data.objects["Suit"]
    assert suit.parent == bpy.data.objects["Skier"]
    np.testing.assert_allclose(suit.matrix_world.translation, (0.1, 0.0, 0.0), atol=1e-5)
    bpy.ops.poise.mesh_restore()
    bpy.context.view_layer.update()
    assert suit.parent is None
    np.testing.assert_allclose(suit.matrix_world.translation, (0.1, 0.0, 0.0), atol=1e-5)


def test_a_moving_motion_starts_where_it_is_at_its_first_frame(scene):
    """Whatever frame is current; and that frame is kept."""
    _rig, motion = add(frames=25)
    motion.location.x = 2.0
    motion.keyframe_insert("location", index=0, frame=1)
    motion.location.x = 8.0
    motion.keyframe_insert("location", index=0, frame=25)
    starts = []
    for frame in (1, 13, 40):
        bpy.context.scene.frame_set(frame)
        starts.append(solved(motion).motion.position[0].copy())
        assert bpy.context.scene.frame_current == frame
    np.testing.assert_allclose(starts, np.tile((2.0, 0.0, 0.0), (3, 1)), atol=1e-5)


def test_undo_in_edit_mode_brings_settings_back(scene):
    """There an undo step holds only the mesh, unless it is made to hold all."""
    rig, motion = add()
    mesh = next(child for child in rig.children if child.type == "MESH")
    activate(mesh)
    bpy.ops.object.mode_set(mode="EDIT")
    speed = motion.poise_motion.turns.speed
    assert undoable("preset_apply", name="Giant Slalom") == {"FINISHED"}
    motion = bpy.data.objects["Skier Motion"]
    assert motion.poise_motion.turns.speed == pytest.approx(18.0)
    bpy.ops.ed.undo()
    motion = bpy.data.objects["Skier Motion"]
    assert motion.poise_motion.turns.speed == pytest.approx(speed)


def test_a_bake_from_edit_mode_of_a_hidden_mesh_goes_back_there(scene):
    rig, motion = add()
    mesh = next(child for child in rig.children if child.type == "MESH")
    activate(mesh)
    bpy.ops.object.mode_set(mode="EDIT")
    mesh.hide_set(True)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert motion.poise_motion.record
    assert mesh.mode == "EDIT" and mesh.hide_get()


def test_a_long_preset_name_is_kept_or_refused_in_a_sentence(scene):
    """Some Blenders cut it within a letter; the others keep what fits."""
    add()
    name = "急斜面の大回転" * 9
    try:
        bpy.ops.poise.preset_add(name=name)
    except RuntimeError as error:
        assert "cannot be kept under this name" in sentence(error)
    else:
        assert bpy.ops.poise.preset_apply(name=name[:21]) == {"FINISHED"}
        bpy.ops.poise.preset_add(name=name[:21], remove_name=True)


def test_damaged_inputs_count_as_changed(scene):
    """Text that no bake wrote: the panel says that all has changed, and nothing breaks."""
    from poise.addon import pipeline

    _rig, motion = add()
    job = pipeline.gather(bpy.context, motion)
    assert set(pipeline.changed_inputs(job, "{broken")) == set(pipeline.digests(job))
    assert set(pipeline.changed_inputs(job, "3")) == set(pipeline.digests(job))
