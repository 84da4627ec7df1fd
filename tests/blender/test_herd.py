# SPDX-License-Identifier: GPL-3.0-or-later
"""Several characters baked in one go: as one by one, in fewer evaluations of the scene."""

from functools import partial
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from poise.addon import baking
from poise.addon.bake import plan, verify
from poise.addon.keyframes import curves_by_path
from poise.addon.steps import finish
from poise.operators.bake import POISE_OT_bake
from poise.solvers.errors import Cancelled

HERD = 5


@pytest.fixture
def herd(scene):
    """Horses side by side, each at a speed of its own, of which one is held by a constraint."""
    scene.frame_start, scene.frame_end = 1, 49
    rigs = []
    for i in range(HERD):
        scene.cursor.location = (3.0 * i, 0.0, 0.0)
        bpy.ops.poise.character_add(kind="HORSE")
        rig = bpy.context.active_object
        rig.poise.settings.range_mode = "SCENE"
        rig.poise.gait.speed = 1.5 + 0.4 * i
        rigs.append(rig)
    scene.cursor.location = (0.0, 0.0, 0.0)
    held = rigs[1].pose.bones["root"].constraints.new("LIMIT_LOCATION")
    held.use_max_y, held.max_y, held.owner_space = True, 50.0, "WORLD"
    held.use_min_y, held.min_y = True, -0.5
    _select(rigs)
    return rigs


def _select(rigs):
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in rigs)
    bpy.context.view_layer.objects.active = rigs[0]


def _keys(rig):
    bag = rig.animation_data.action.layers[0].strips[0].channelbag(rig.animation_data.action_slot)
    return {
        channel: np.array([point.co for point in curve.keyframe_points])
        for channel, curve in curves_by_path(bag).items()
    }


def _told(rig):
    return [(p.code, p.message) for p in rig.poise.motion_object.poise_motion.problems]


def _evaluations(monkeypatch):
    """Frames at which rigs are compared with their motions, as they are looked at."""
    seen = []

    def count(scene, _depsgraph):
        seen.append(scene.frame_current)

    finish = verify.finish

    def counted(*arguments):
        bpy.app.handlers.frame_change_post.append(count)
        try:
            return finish(*arguments)
        finally:
            bpy.app.handlers.frame_change_post.remove(count)

    monkeypatch.setattr(verify, "finish", counted)
    return seen


def test_herd_is_baked_as_each_by_itself(herd):
    assert bpy.ops.poise.bake() == {"FINISHED"}
    together = [(_keys(rig), {code for code, _ in _told(rig)}) for rig in herd]
    bpy.ops.poise.bake_clear()
    for rig, (keys, codes) in zip(herd, together, strict=True):
        _select([rig])
        assert bpy.ops.poise.bake() == {"FINISHED"}
        alone = _keys(rig)
        assert alone.keys() == keys.keys()
        assert all(np.array_equal(alone[channel], keys[channel]) for channel in keys)
        assert {code for code, _ in _told(rig)} == codes


def test_of_a_herd_those_that_do_not_follow_are_told(herd):
    bpy.ops.poise.bake()
    off = ["POSITION_OFF" in [code for code, _ in _told(rig)] for rig in herd]
    assert off == [False, True, False, False, False]
    # Again, over keys that are there.
    bpy.ops.poise.bake(edited_keys="OVERWRITE")
    again = ["POSITION_OFF" in [code for code, _ in _told(rig)] for rig in herd]
    assert again == off


def test_herd_is_looked_at_no_more_often_than_one_animal(herd, monkeypatch):
    """Blender evaluates the whole scene at a frame, however few rigs are looked at there."""
    seen = _evaluations(monkeypatch)
    _select(herd[:1])
    bpy.ops.poise.bake()
    alone = len(set(seen))
    seen.clear()
    _select(herd)
    bpy.ops.poise.bake()
    assert alone == verify.SAMPLED
    # The frame that was current is gone back to.
    assert len(seen) <= verify.SAMPLED + 1 and {1, 49} <= set(seen)


def test_herd_is_looked_at_before_any_of_it_is_keyed(herd, monkeypatch):
    """Whoever is looked at after another was keyed has Blender evaluate all of the scene."""

    def late(*_arguments):
        raise AssertionError("a rig was looked at after others were keyed")

    monkeypatch.setattr(plan, "look", late)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    first = [_keys(rig) for rig in herd]
    # And over keys that are there: they move only what is keyed anew.
    assert bpy.ops.poise.bake() == {"FINISHED"}
    for rig, keys in zip(herd, first, strict=True):
        again = _keys(rig)
        assert all(np.array_equal(again[channel], keys[channel]) for channel in keys)


def test_one_rig_with_two_motions_is_looked_at_after_each(herd, monkeypatch):
    rig = herd[0]
    _select([rig])
    bpy.ops.poise.motion_add(name="Second")
    second = rig.poise.motion_object
    seen = _evaluations(monkeypatch)
    _select(herd[:2])
    bpy.ops.poise.bake_all()
    assert baking.is_baked(second) and len(seen) > verify.SAMPLED + 1
    assert not [p for p in second.poise_motion.problems if p.code == "POSITION_OFF"]
    assert "POSITION_OFF" in [code for code, _ in _told(herd[1])]


def test_esc_while_keys_are_written_keeps_whole_bakes_alone(herd):
    click = SimpleNamespace(edited_keys="MOTION")
    for name in ("look", "write", "onto", "prepared"):
        setattr(click, name, partial(getattr(POISE_OT_bake, name), click))
    click.chosen = lambda context: [rig.poise.motion_object for rig in herd]
    job = POISE_OT_bake.gather(click, bpy.context)
    result = finish(POISE_OT_bake.prepare(click, bpy.context, job, POISE_OT_bake.solve(
        click, job, lambda fraction: None)))
    writing = POISE_OT_bake.writing(click, bpy.context, job, result)
    assert [next(writing) for _ in range(2)] == [0.2, 0.4]
    with pytest.raises(StopIteration) as ended:
        writing.throw(Cancelled)
    assert "2 motions" in ended.value.value and "before 3 more" in ended.value.value
    keyed = [rig.animation_data.action is not None for rig in herd]
    assert keyed == [True, True, False, False, False]
    assert set(bpy.context.selected_objects) == set(herd)
    # That it is held was found by comparing.
    assert "POSITION_OFF" in [code for code, _ in _told(herd[1])]
    stopped = [_keys(rig) for rig in herd[:2]]
    bpy.ops.poise.bake()
    for rig, keys in zip(herd[:2], stopped, strict=True):
        for channel, points in _keys(rig).items():
            np.testing.assert_array_equal(points, keys[channel])
