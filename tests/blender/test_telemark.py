# SPDX-License-Identifier: GPL-3.0-or-later
"""A telemark skier's bake on its rig: free heels, toes on the skis, the change of lead."""

import bpy
import numpy as np
import pytest
from operators_help import load, solved

MILLIMETRE = 1e-3
SIDES = ("L", "R")


@pytest.fixture(scope="module", params=["DENSE", "SPARSE"])
def baked(request):
    """Bone matrices in the world at every half frame of a bake, and what was solved."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    rig, motion = load("TELEMARK", frames=97)
    bpy.ops.poise.preset_apply(name="Classic")
    motion.poise_motion.key_mode = request.param
    assert bpy.ops.poise.bake() == {"FINISHED"}
    names = [f"{name}.{side}" for side in SIDES for name in (
        "DEF-ski", "DEF-toe", "DEF-foot", "DEF-shin", "DEF-thigh", "foot_ik", "ski", "heel")]
    frames = np.arange(1.0, 97.01, 0.5)
    found = {name: [] for name in names}
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        pose = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        world = np.array(pose.matrix_world)
        for name in names:
            found[name].append(world @ np.array(pose.pose.bones[name].matrix))
    rest = {name: np.array(rig.data.bones[name].matrix_local) for name in names}
    return frames, {name: np.array(m) for name, m in found.items()}, rest, solved(motion)


def test_toes_stay_on_the_skis_at_frames_and_between(baked):
    """Ball and toes of either boot never leave their place on the ski; the ankle is where its
    control wants it."""
    _frames, world, rest, _done = baked
    for side in SIDES:
        ski, toe = world[f"DEF-ski.{side}"], world[f"DEF-toe.{side}"]
        gap = np.linalg.inv(rest[f"DEF-ski.{side}"]) @ rest[f"DEF-toe.{side}"]
        seen = np.linalg.inv(ski) @ toe
        assert np.abs(seen[:, :3, 3] - gap[:3, 3]).max() < MILLIMETRE
        assert np.abs(seen[:, :3, :3] - gap[:3, :3]).max() < 1e-3
        reach = world[f"DEF-foot.{side}"][:, :3, 3] - world[f"foot_ik.{side}"][:, :3, 3]
        assert np.linalg.norm(reach, axis=1).max() < MILLIMETRE


def test_the_rear_heel_rises_and_the_rig_says_what_the_mapping_says(baked):
    frames, world, rest, done = baked
    whole = frames % 1.0 == 0.0
    rows = done.tracks.clock.row_of(frames[whole] - 1.0)
    for side in SIDES:
        name = f"DEF-foot.{side}"
        turn = np.linalg.inv(world[f"DEF-ski.{side}"]) @ world[name]
        flat = np.linalg.inv(rest[f"DEF-ski.{side}"]) @ rest[name]
        lift = turn[:, :3, :3] @ flat[:3, :3].T
        angle = np.arctan2(lift[:, 2, 1], lift[:, 1, 1])
        said = done.tracks.attributes[f"heel_lift.{side}"][rows]
        assert np.degrees(np.abs(angle[whole] - said)).max() < 0.1
        assert np.degrees(angle.max()) > 38.0 and np.degrees(angle.min()) > -0.1


def test_nothing_jumps_and_knees_bend_forwards(baked):
    _frames, world, _rest, _done = baked
    for name, matrices in world.items():
        # 60 m/s^2, which is 6 g, at 24 frames a second.
        bend = np.diff(matrices[::2, :3, 3], 2, axis=0)
        assert np.linalg.norm(bend, axis=1).max() < 60.0 / 24.0**2, name
    for side in SIDES:
        hip = world[f"DEF-thigh.{side}"][:, :3, 3]
        knee = world[f"DEF-shin.{side}"][:, :3, 3]
        ankle = world[f"DEF-foot.{side}"][:, :3, 3]
        ahead = -world[f"ski.{side}"][:, :3, 1]
        bow = knee - 0.5 * (hip + ankle)
        assert np.einsum("ni,ni->n", bow, ahead).min() > 0.02
    ahead = -world["ski.L"][:, :3, 1]
    lead = np.einsum("ni,ni->n", (world["ski.R"] - world["ski.L"])[:, :3, 3], ahead)
    # A whole turn in 4 s: both feet have led, and between keys too the change is no jump.
    assert lead.max() > 0.45 and lead.min() < -0.45
    assert np.abs(np.diff(lead)).max() < 0.12


def test_a_heel_can_be_lifted_by_hand(scene):
    """The heel's control turns the boot about its ball; the toes stay flat."""
    rig, _motion = load("TELEMARK")
    before = rig.pose.bones["foot.L"].head.copy()
    rig.pose.bones["heel.L"].rotation_mode = "XYZ"
    rig.pose.bones["heel.L"].rotation_euler.x = 0.6
    bpy.context.view_layer.update()
    pose = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    assert pose["foot.L"].head.z > before.z + 0.05
    rest = rig.data.bones
    assert (pose["toe.L"].head - rest["toe.L"].head_local).length < 1e-4
    assert (pose["toe.L"].tail - rest["toe.L"].tail_local).length < 1e-4
    mesh = next(o for o in rig.children if o.get("poise_figure") == "Body")
    shape = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    toes = mesh.vertex_groups["DEF-toe.L"].index
    tip = [
        (v.index, v.co) for v in mesh.data.vertices
        if any(g.group == toes and g.weight > 0.999 for g in v.groups)
    ]
    assert len(tip) > 20
    assert max((shape.vertices[i].co - co).length for i, co in tip) < MILLIMETRE
