# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that cross themselves at several heights: a spiral ramp, a figure of eight."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from poise.solvers.path import (
    Disc,
    Gate,
    MovingDisc,
    PathScene,
    PathSettings,
    Polygon,
    TerrainMesh,
    Wall,
    follow_path,
)
from poise.solvers.path.levels import Sheets
from poise.solvers.path.prepare import prepare
from poise.solvers.path.terrain import Surface
from scipy.integrate import cumulative_trapezoid

G = 9.81
RADIUS, CLIMB, HALF_WIDTH = 12.0, 5.0, 2.5  # m; a turn of the spiral climbs 5 m
GRADE = CLIMB / (2.0 * math.pi)  # m a radian
RIDER = {"max_curvature": 0.5, "max_curvature_rate": 2.0, "mass": 85.0, "height": 1.1,
         "inertia": 8.0, "fps": 12.0, "effort": 0.15, "stages": 10}


def ribbon(line, across, half=HALF_WIDTH):
    """A road (n,) points long and two faces a piece wide; z as that of its middle line."""
    sides = [line + shift * across for shift in (-half, 0.0, half)]
    points = np.stack(sides, axis=1)
    index = np.arange(points.size // 3).reshape(points.shape[:2])
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    faces = [np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))]
    return TerrainMesh(points.reshape(-1, 3), np.concatenate(faces), "Ramp")


def spiral(angle):
    """Places on the middle of the ramp."""
    return np.stack((RADIUS * np.cos(angle), RADIUS * np.sin(angle), GRADE * angle), axis=-1)


@pytest.fixture(scope="module")
def ramp():
    angle = np.linspace(-0.8, 6.0 * math.pi + 0.8, 480)
    out = np.stack((np.cos(angle), np.sin(angle), 0.0 * angle), axis=-1)
    return ribbon(spiral(angle), out)


def turns_of(motion):
    """Angle gone around the axis, unwound, rad."""
    x, y = motion.position[:, 0], motion.position[:, 1]
    return np.unwrap(np.arctan2(y, x))


def on_ramp(motion, start):
    """Largest difference of the track's height from that of the helicoid, m."""
    angle = turns_of(motion)
    angle += start - angle[0]
    return float(np.abs(motion.position[:, 2] - GRADE * angle).max())


def way(first, last):
    """A path along the middle of the ramp, from turn to turn."""
    return spiral(2.0 * math.pi * np.linspace(first, last, 2 + round(130 * abs(last - first))))


def ride(ramp, line, settings=None, **scene):
    """Follow a path without looking for what would help."""
    settings = settings or PathSettings(speed=5.0, clearance=0.4, **RIDER)
    return follow_path(PathScene((line,), terrain=ramp, **scene), settings, advice=False)


@pytest.mark.parametrize(("first", "last"), [(0.0, 3.0), (3.0, 1.6)])
def test_a_spiral_ramp_is_ridden_up_and_down_on_the_level_of_the_path(ramp, first, last):
    """Height is that of the helicoid z = 5 m / (2 pi) angle."""
    result = ride(ramp, way(first, last))
    assert result.finished and result.max_distance < 1.5
    assert abs(np.ptp(turns_of(result.motion)) - 2.0 * math.pi * abs(last - first)) < 0.1
    assert on_ramp(result.motion, 2.0 * math.pi * first) < 0.005
    # No pop: the track is no steeper than the ramp is on the inside of its bend.
    step = np.diff(result.motion.position, axis=0)
    slope = np.abs(step[:, 2]) / np.hypot(step[:, 0], step[:, 1])
    assert slope.max() < GRADE / (RADIUS - 1.0) + 0.005


def test_a_path_drawn_level_begins_on_the_top_or_where_it_is_drawn(ramp):
    """Of a path's heights only that of its first point counts, and that only near a layer."""
    flat = way(0.9, 0.6) * (1.0, 1.0, 0.0)
    result = ride(ramp, flat + (0.0, 0.0, 40.0))
    assert result.finished and on_ramp(result.motion, 2.0 * math.pi * 2.9) < 0.005
    low = ride(ramp, flat + (0.0, 0.0, 0.9 * CLIMB + 1.0))  # a metre over the first turn
    assert on_ramp(low.motion, 2.0 * math.pi * 0.9) < 0.005
    with_none = ride(ramp, flat[:, :2])
    assert np.array_equal(with_none.motion.position, result.motion.position)


def test_laps_of_a_circle_go_up_the_ramp(ramp):
    result = ride(ramp, way(0.0, 1.0)[:-1] * (1.0, 1.0, 0.0), cyclic=True, laps=2)
    assert result.finished and on_ramp(result.motion, 0.0) < 0.005
    assert abs(result.motion.position[-1, 2] - 2.0 * CLIMB) < 0.1


def test_speed_down_the_spiral_agrees_with_the_energy_balance(ramp):
    """What is gained in kinetic energy is what the height gives, less the work of friction.

    The centre of mass is lifted and lowered by the lean, and moves across the way, too.
    """
    settings = PathSettings(speed=2.0, speed_mode="TERRAIN", friction=0.035, drag_area=0.0, **RIDER)
    result = ride(ramp, way(1.7, 0.6), settings)
    motion = result.motion
    up = np.cos(motion.lean) * motion.normal[:, 2] + np.sin(motion.lean) * motion.left[:, 2]
    sway = (settings.height**2 + settings.inertia / settings.mass) * motion.lean_rate**2
    power = settings.friction * G * result.load * motion.speed
    lost = cumulative_trapezoid(power, motion.time, initial=0.0)
    height = motion.position[:, 2] + settings.height * up
    balance = 0.5 * (motion.speed**2 + sway) + G * height + lost
    drop = G * np.ptp(motion.position[:, 2])
    assert result.finished and drop > 5.0 * G
    assert motion.speed[-1] > 6.0
    assert np.ptp(balance) < 0.01 * drop


def place(turn, radius=RADIUS):
    angle = 2.0 * math.pi * turn
    return np.array((radius * math.cos(angle), radius * math.sin(angle), GRADE * angle))


def gaps(motion, centre, radius):
    """Least distance from a disc on each turn, m."""
    gap = np.hypot(*(motion.position[:, :2] - centre[:2]).T) - radius
    turn = np.floor(motion.position[:, 2] / CLIMB)
    return [float(gap[turn == number].min()) for number in (0.0, 1.0)]


def test_what_stands_on_one_turn_is_in_the_way_on_that_turn_alone(ramp):
    """Posts in the middle of the second turn, and one under it on the first."""
    line = way(0.1, 1.6)
    bare = ride(ramp, line).motion
    disc, block, standing = (place(turn, RADIUS - 0.2) for turn in (1.3, 1.4, 1.5))
    square = 0.15 * np.array(((-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)))
    on_second = (
        Disc(disc[:2], 0.2, "Sunk", (disc[2] - 2.0, disc[2] + 1.0)),
        Polygon(block + square, "Block"),
        MovingDisc(np.array([0.0, 60.0]), np.tile(standing, (2, 1)), 0.2, "Standing"),
    )
    result = ride(ramp, line, obstacles=on_second)
    found = [
        gaps(result.motion, centre, radius)
        for centre, radius in ((disc, 0.2), (block, 0.15), (standing, 0.2))
    ]
    assert result.finished
    assert all(first < 0.38 and second >= 0.4 - 1e-3 for first, second in found)
    # Until one is seen the track is what it is without it.
    same = 200
    assert np.array_equal(result.motion.position[:same], bare.position[:same])
    assert abs(result.min_clearance - min(second for _, second in found)) < 0.1
    # Without a height, as numbers may give it, one is in the way on both turns.
    under = (
        Disc(standing[:2], 0.2, "Pillar", (standing[2] - CLIMB, standing[2])),
        Disc(disc[:2], 0.2, "Everywhere"),
    )
    result = ride(ramp, line, obstacles=under)
    first, second = gaps(result.motion, standing, 0.2)
    assert result.finished and first >= 0.4 - 1e-3 and second < 0.38
    assert min(gaps(result.motion, disc, 0.2)) >= 0.4 - 1e-3


def test_a_wall_belongs_to_its_turn_though_the_path_is_on_one_only(ramp):
    bar = Wall(np.stack([place(0.5, RADIUS + r) for r in (-2.5, 2.5)]), "Bar")
    blocked = ride(ramp, way(0.3, 0.7), obstacles=(bar,))
    assert not blocked.finished and blocked.failure.obstacle == 0
    over = ride(ramp, way(1.3, 1.7), obstacles=(bar,))
    assert over.finished and not np.isfinite(over.min_clearance)


def test_a_gate_belongs_to_its_turn(ramp):
    """It stands beside the path, which passes its place twice."""
    gate = Gate(place(2.25, RADIUS + 1.6), place(2.25, RADIUS + 0.4), 0.02, "Second")
    settings = PathSettings(speed=5.0, clearance=0.3, **RIDER)
    result = ride(ramp, way(1.15, 2.4), settings, gates=(gate,))
    row = int(np.searchsorted(result.motion.time, result.gate_times[0]))
    assert result.finished and abs(result.motion.position[row, 2] - 2.25 * CLIMB) < 0.1
    radius = np.hypot(*result.motion.position[row, :2])
    assert RADIUS + 0.4 < radius < RADIUS + 1.6


def test_a_motion_that_goes_on_from_another_finds_its_turn(ramp):
    line = way(0.0, 1.5)
    settings = PathSettings(speed=5.0, **RIDER)
    first = ride(ramp, line, replace(settings, most_seconds=18.0))
    state = first.motion.end_state
    assert first.failure.reason == "TIME" and state.position[2] > CLIMB
    second = ride(ramp, line, replace(settings, start_state=state))
    assert second.finished
    assert abs(second.along[0] - first.along[-1]) < 0.05
    assert on_ramp(second.motion, state.position[2] / GRADE) < 0.005


# -- a figure of eight with a bridge ---------------------------------------------------

LOOP, DECK = 30.0, 5.0  # m


def eight(t, deck=DECK):
    """A Gerono lemniscate, over itself in the middle at t = pi / 2, under at 3 pi / 2."""
    x, y = LOOP * np.cos(t), LOOP * np.sin(t) * np.cos(t)
    z = 0.5 * deck * (1.0 + np.sin(t))
    return np.stack((x, y, z), axis=-1)


def eight_road(thick=0.0, deck=DECK):
    """The road, and its underside where it has one."""
    t = np.linspace(0.0, 2.0 * math.pi, 400)
    line = eight(t, deck)
    ahead = np.gradient(line[:, :2], axis=0)
    ahead[[0, -1]] = (0.0, 1.0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    across = np.stack((-ahead[:, 1], ahead[:, 0], 0.0 * t), axis=-1)
    road = ribbon(line, across)
    if not thick:
        return road
    n = len(road.points)
    return TerrainMesh(
        np.concatenate((road.points, road.points - (0.0, 0.0, thick))),
        np.concatenate((road.triangles, road.triangles[:, ::-1] + n)), "Road",
    )


def test_a_figure_of_eight_goes_over_the_bridge_and_under_it():
    """A deck 40 cm thick; a pillar in the middle of the road under it."""
    t = np.linspace(0.0, 2.0 * math.pi, 400)[:-1]
    road = eight_road(0.4)
    pillar = Disc(np.array((-0.5, 0.5)), 0.35, "Pillar", heights=(0.0, DECK - 0.4))
    settings = PathSettings(speed=4.5, clearance=0.5, **RIDER)
    result = ride(road, eight(t), settings, cyclic=True, obstacles=(pillar,))
    motion = result.motion
    near = np.hypot(motion.position[:, 0], motion.position[:, 1]) < 2.0
    high = near & (motion.position[:, 2] > 2.5)
    low = near & ~high
    assert result.finished
    assert np.abs(motion.position[high, 2] - DECK).max() < 0.05
    assert np.abs(motion.position[low, 2]).max() < 0.05
    off = motion.position[:, 2] - Surface(road).height(*motion.position.T)
    assert np.abs(off).max() < 0.02
    gap = np.hypot(*(motion.position[:, :2] - (-0.5, 0.5)).T) - 0.35
    assert gap[low].min() >= 0.5 - 1e-3 and gap[high].min() < 0.5


def test_there_are_as_many_sheets_as_the_path_needs(ramp):
    """A path that does not lie over itself has one; a lap is cut once, however often it is gone."""
    settings = PathSettings(speed=5.0, **RIDER)

    def sheets(mesh, line, **scene):
        return prepare(PathScene((line,), terrain=mesh, **scene), settings).ground.count

    assert sheets(ramp, way(0.5, 1.2)) == 1
    assert sheets(ramp, way(0.0, 3.0)) == 5
    t = np.linspace(0.0, 2.0 * math.pi, 400)[:-1]
    counts = [sheets(eight_road(), eight(t), cyclic=True, laps=laps) for laps in (1, 20)]
    assert counts[0] == counts[1] <= 3
    lone = graph_of_a_plane()
    ready = prepare(PathScene((way(0.0, 1.0)[:, :2],), terrain=lone), settings)
    assert not isinstance(ready.ground, Sheets)


def graph_of_a_plane():
    corners = np.array([(-40.0, -40.0, 0.0), (40.0, -40.0, 0.0), (0.0, 60.0, 4.0)])
    return TerrainMesh(corners, np.array([(0, 1, 2)]), "Plane")


# --- what is overhead ------------------------------------------------------------------


def bridge(height, left, right):
    """A field of snow, and a deck across the way at its 24th to 27th metre."""
    x, y = np.meshgrid((-40.0, 40.0), (10.0, -70.0), indexing="ij")
    corners = np.array([(left, -24.0), (right, -24.0), (right, -27.0), (left, -27.0)])
    points = np.concatenate((
        np.stack((x, y, 0.0 * x), axis=-1).reshape(-1, 3), np.insert(corners, 2, height, axis=1)
    ))
    return TerrainMesh(points, np.array([(0, 2, 3), (0, 3, 1), (4, 5, 6), (4, 6, 7)]), "Bridge")


@pytest.mark.parametrize("height", [1.3, 1.7, 1.9])
def test_a_deck_lower_than_the_figure_is_gone_around(height):
    """A figure of 1.8 m goes under one that is higher as if it were not there."""
    line = np.array([(0.0, 0.0, 0.0), (0.0, -60.0, 0.0)])
    settings = PathSettings(speed=5.0, headroom=1.8, **RIDER)
    scene = PathScene((line,), terrain=bridge(height, -3.0, 1.0))
    result = follow_path(scene, settings, advice=False)
    x, y, z = result.motion.position.T
    under = (y < -24.0) & (y > -27.0)
    assert result.finished and np.abs(z).max() < 1e-6 and under.any()
    if height > 1.8:
        assert result.max_distance < 1e-6
    else:
        assert x[under].min() > 1.0 and result.max_distance < 3.0


def test_where_there_is_no_way_around_what_is_too_low_it_is_named():
    line = np.array([(0.0, 0.0, 0.0), (0.0, -60.0, 0.0)])
    scene = PathScene((line,), terrain=bridge(1.5, -40.0, 40.0))
    result = follow_path(scene, PathSettings(speed=5.0, headroom=1.8, **RIDER))
    assert not result.finished and result.failure.reason == "OFF"
    assert -24.0 < result.motion.position[-1, 1] < -20.0
    (problem,) = [p for p in result.motion.problems if p.severity == "ERROR"]
    assert problem.code == "OFF_TERRAIN" and "1.50 m for 1.80 m" in problem.message
    assert problem.amount == pytest.approx(0.3, abs=1e-9)
    # Lower figures, and lower bodies on the same snow, go under it.
    assert follow_path(scene, PathSettings(speed=5.0, headroom=1.4, **RIDER)).finished


def test_one_goes_under_ones_own_bridge_only_if_it_is_high_enough():
    """A figure of eight whose ways lie 1.5 m over each other."""
    line = eight(np.linspace(0.0, 2.0 * math.pi, 400)[:-1], 1.5)
    settings = PathSettings(speed=4.5, **RIDER)
    results = [
        ride(eight_road(0.0, 1.5), line, replace(settings, headroom=high), cyclic=True)
        for high in (1.4, 1.8)
    ]
    assert results[0].finished and results[1].failure.reason == "OFF"
    assert np.hypot(*results[1].motion.position[-1, :2]) < 6.0
    assert results[1].motion.position[-1, 2] < 0.75  # not on the deck
