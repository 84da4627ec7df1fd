# SPDX-License-Identifier: GPL-3.0-or-later
"""A skateboarder's bake on its rig: feet on the deck, trucks that steer, wheels that roll."""

import bpy
import numpy as np
import pytest
from operators_help import add, curves_of, solved

MILLIMETRE = 1e-3
SIDES, ENDS = ("L", "R"), ("front", "rear")


@pytest.fixture(scope="module", params=[("DENSE", False), ("SPARSE", True)])
def baked(request):
    """Bone matrices in the world at every half frame of a bake, and what was solved."""
    key_mode, goofy = request.param
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.poise.character_add(kind="SKATEBOARDER", goofy=goofy)
    rig = bpy.context.object
    motion = rig.poise.motion_object
    bpy.ops.poise.preset_apply(name="Carving")
    motion.poise_motion.turns.slope = 0.0
    motion.poise_motion.frame_end = 73
    motion.poise_motion.key_mode = key_mode
    assert bpy.ops.poise.bake() == {"FINISHED"}
    sided = ("DEF-foot", "DEF-shin", "DEF-thigh", "foot_ik", "DEF-front_wheel", "DEF-rear_wheel")
    names = [f"{name}.{side}" for side in SIDES for name in sided]
    names += ["DEF-board", "DEF-front_truck", "DEF-rear_truck", "board"]
    frames = np.arange(1.0, 73.01, 0.5)
    found = {name: [] for name in names}
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        pose = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        world = np.array(pose.matrix_world)
        for name in names:
            found[name].append(world @ np.array(pose.pose.bones[name].matrix))
    rest = {name: np.array(rig.data.bones[name].matrix_local) for name in names}
    angles = {
        curve.data_path.split('"')[1]: np.array([k.co[1] for k in curve.keyframe_points])
        for curve in curves_of(rig) if "_wheel" in curve.data_path and curve.array_index == 0
    }
    return goofy, frames, {n: np.array(m) for n, m in found.items()}, rest, angles, solved(motion)


def test_feet_stay_on_the_deck_at_frames_and_between(baked):
    _goofy, _frames, world, rest, _angles, _done = baked
    for side in SIDES:
        seen = np.linalg.inv(world["DEF-board"]) @ world[f"DEF-foot.{side}"]
        stood = np.linalg.inv(rest["DEF-board"]) @ rest[f"DEF-foot.{side}"]
        assert np.abs(seen[:, :3, 3] - stood[:3, 3]).max() < MILLIMETRE
        assert np.abs(seen[:, :3, :3] - stood[:3, :3]).max() < 1e-3
        hip, knee, ankle = (world[f"DEF-{n}.{side}"][:, :3, 3] for n in ("thigh", "shin", "foot"))
        # The knee is over the toes, which are ahead of the ankle along the foot bone.
        toes = world[f"DEF-foot.{side}"][:, :3, 1] * (1.0, 1.0, 0.0)
        assert np.einsum("ni,ni->n", knee - 0.5 * (hip + ankle), toes).min() > 0.02
    for name, matrices in world.items():
        bend = np.diff(matrices[::2, :3, 3], 2, axis=0)
        assert np.linalg.norm(bend, axis=1).max() < 40.0 / 24.0**2, name


def test_wheels_stay_on_the_ground_and_roll_as_far_as_they_go(baked):
    """Centres a radius over the ground; angles count on past whole turns, as far as the way."""
    _goofy, frames, world, rest, angles, _done = baked
    assert len(angles) == 4
    for end in ENDS:
        truck = world[f"DEF-{end}_truck"]
        for side in SIDES:
            name = f"{end}_wheel.{side}"
            place = world[f"DEF-{name}"][:, :3, 3]
            radius = rest[f"DEF-{name}"][2, 3]
            assert np.abs(place[:, 2] - radius).max() < MILLIMETRE
            way = np.linalg.norm(np.diff(place, axis=0), axis=1).sum()
            turned = abs(angles[name][-1] - angles[name][0])
            assert turned > 20.0 * np.pi
            assert turned * radius == pytest.approx(way, rel=2e-3)
            # It stays on its axle.
            seen = np.linalg.inv(truck) @ world[f"DEF-{name}"]
            assert np.ptp(seen[:, :3, 3], axis=0).max() < MILLIMETRE


def test_trucks_steer_into_the_turn_in_front_and_out_of_it_behind(baked):
    """The figure's steer from the evaluated rig is the law's, whichever foot leads."""
    _goofy, frames, world, _rest, _angles, done = baked
    whole = np.flatnonzero(frames % 1.0 == 0.0)
    rows = done.tracks.clock.row_of(frames[whole] - 1.0)

    def heading(left):
        return np.unwrap(np.arctan2(left[:, 1], left[:, 0]))

    board = heading(world["DEF-board"][whole][:, :3, 0])
    for end, sign in zip(ENDS, (1.0, -1.0), strict=True):
        left = (world[f"DEF-{end}_wheel.L"] - world[f"DEF-{end}_wheel.R"])[whole][:, :3, 3]
        steer = heading(left) - board
        law = np.arctan(0.5 * 0.44 * done.motion.curvature[rows])
        assert np.abs(steer - sign * law)[1:-1].max() < np.radians(0.3)
        assert np.degrees(np.abs(steer).max()) > 3.0


def test_a_skateboarder_starts_on_level_ground_and_keeps_a_given_slope(scene):
    _rig, motion = add("SKATEBOARDER")
    turns = motion.poise_motion.turns
    assert turns.slope == 0.0 and turns.max_curvature == pytest.approx(1.0)
    assert turns.speed == pytest.approx(3.5)
    bpy.ops.poise.character_add(kind="SKATEBOARDER", slope=0.1)
    assert bpy.context.object.poise.turns.slope == pytest.approx(0.1)
