# SPDX-License-Identifier: GPL-3.0-or-later
"""The lamp's states on its bones: the rig is where the physics is."""

import math
from functools import cache

import numpy as np
import pytest
from poise.addon.mapping.lamp import map_lamp, pace, strength, turned_from, turned_to
from poise.addon.mapping.links import Links
from poise.addon.rigs.builders.luxo import joints, luxo, place
from poise.solvers import affine
from poise.solvers.clock import Clock
from poise.solvers.control import lamp, lamp_search
from poise.solvers.control.lamp_play import play
from poise.solvers.rotations import about_x, about_z, to_matrix

FPS, USUAL = 24.0, 0.5
STILL = np.array((1.0, 0.0, 0.0, 0.0))


@cache
def flips():
    """A back flip and another one, standing before and after."""
    flip = lamp_search.shipped("Back Flip")
    return play([flip, flip])


def links_of(height, world):
    """The rig's bones as Blender makes them of their ends and rolls."""
    rests, parents, lengths = {}, {}, {}
    for bone in luxo(height, 2.2).bones:
        along = (bone.tail - bone.head) / np.linalg.norm(bone.tail - bone.head)
        z = bone.z_axis - along * (bone.z_axis @ along)
        z /= np.linalg.norm(z)
        rest = np.eye(4)
        rest[:3] = np.stack([np.cross(along, z), along, z, bone.head], axis=1)
        own = affine.inverse(rests[bone.parent]) @ rest if bone.parent else rest
        rests[bone.name], parents[bone.name] = rest, bone.parent
        lengths[bone.name] = float(np.linalg.norm(bone.tail - bone.head))
        rests[bone.name + " own"] = own
    inner = {name: rests[name + " own"] for name in parents}
    return Links(parents, inner, lengths, world)


def mapped(height=USUAL, gravity=9.81, place=(0.0, 0.0, 0.0), turn=STILL, unit=1.0, per_frame=4):
    """Tracks of the flips, and the solver's states in their rows."""
    played, size = flips(), height / USUAL
    slow = pace(size, gravity)
    clock = Clock.running(int(played.times[-1] * slow * FPS) + 1, FPS, per_frame)
    states = played.at(clock.time / slow)
    return map_lamp(clock, states, size, unit, np.array(place), turn), states


@pytest.mark.parametrize("height, yaw, unit", [(0.5, 0.0, 1.0), (1.7, 2.1, 0.01)])
def test_sole_and_shade_are_where_the_physics_has_them(height, yaw, unit):
    origin, size = np.array((1.0, -2.0, 0.3)), height / USUAL
    world = np.diag((unit, unit, unit, 1.0))
    world[:3, :3] = world[:3, :3] @ to_matrix(about_z(0.4))
    world[:3, 3] = (0.5, 0.6, 0.1)
    # Where the motion stands, from the armature's rest.
    start = affine.inverse(world) @ np.array((*origin, 1.0))
    turn = about_z(yaw - 0.4)
    tracks, q = mapped(height, place=start[:3], turn=turn, unit=unit)
    ahead = np.array((math.sin(yaw), -math.cos(yaw), 0.0))
    still = [np.zeros(len(q))] * 5
    parts = lamp._PARTS.points(np.sin, np.cos, q.T, still)
    corners = lamp.FIGURE.points(np.sin, np.cos, q.T, still)
    links = links_of(height / unit, world)
    seen = links.places(tracks, slice(None))
    # Its sole is beside where the base's bone points to.
    up = seen["base"][:, 1] - seen["base"][:, 0]
    up /= np.linalg.norm(up, axis=1)[:, None]
    forward = np.cross(up, np.cross(ahead, (0.0, 0.0, 1.0)))
    sole = [
        seen["base"][:, 0] + size * (s * lamp.HALF_WIDTH * forward - lamp.HEIGHT * up)
        for s in (-1.0, 1.0)
    ]
    for found, (x, y, *_) in (
        (seen["shade"][:, 1], parts[2]), (seen["shade"][:, 0], parts[3]),
        (seen["link"][:, 1], parts[3]), (sole[0], corners[0]), (sole[1], corners[1]),
    ):
        wanted = origin + size * (x[:, None] * ahead + y[:, None] * (0.0, 0.0, 1.0))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
    np.testing.assert_allclose(seen["root"][:, 0, 2], origin[2], rtol=0, atol=1e-9)


def test_turns_are_counted_and_are_those_of_the_rotations():
    tracks, q = mapped()
    assert tracks.spins["base"].angle[-1] == pytest.approx(-4.0 * math.pi, abs=0.02)  # back, twice
    for name, spin in tracks.spins.items():
        off = np.abs((tracks.turn[name] * about_x(spin.angle)).sum(axis=1))
        np.testing.assert_allclose(off, 1.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(turned_from(turned_to(q)), q[:, 2:], rtol=0, atol=1e-12)


def test_a_large_lamp_on_the_moon_falls_as_things_fall_there():
    # In the air nothing but gravity acts on the centre of mass: its rise has the second
    # derivative -g, whatever size the lamp has.
    gravity, height = 1.62, 1.0
    tracks, _ = mapped(height, gravity, per_frame=8)
    seen = links_of(height, np.eye(4)).places(tracks, slice(None))
    up = seen["base"][:, 1] - seen["base"][:, 0]
    up /= np.linalg.norm(up, axis=1)[:, None]
    low = seen["base"][:, 0] - 0.5 * lamp.HEIGHT * height / USUAL * up
    centres = low, seen["link"].mean(axis=1), seen["shade"][:, 1]
    rise = sum(m * c[:, 2] for m, c in zip(lamp.MASSES, centres, strict=True)) / sum(lamp.MASSES)
    done, time, slow = flips().motions[0], tracks.time, pace(height / USUAL, gravity)
    flying = (time > done.took_off * slow + 0.02) & (time < done.touched_down * slow - 0.02)
    assert 2.0 * np.polyfit(time[flying], rise[flying], 2)[0] == pytest.approx(-gravity, rel=2e-3)
    # Statics: torques that hold a lamp grow with its weight and its size.
    assert strength(2.0, gravity, 4.4) == pytest.approx(2.0 * (gravity / 9.81) * 2.0)


def test_at_rest_it_stands_as_the_physics_does():
    j = joints(0.5)
    ahead, up = (-(j["bulb"] - j["base"]) @ axis for axis in np.eye(3)[1:])
    state = lamp.standing()
    x, y, *_ = lamp._PARTS.points(math.sin, math.cos, state.q, state.v)[2]
    assert (ahead, -up) == (pytest.approx(x, abs=1e-4), pytest.approx(y - state.q[1], abs=1e-4))
    np.testing.assert_allclose(place(0.2, 0.1), (0.0, -0.2, 0.1))
