# SPDX-License-Identifier: GPL-3.0-or-later
"""Calm motions along paths: steering that goes back and forth less, and bodies that do not jump.

The yardstick is a motion of the turning solver with the numbers of the preset Short Turns, about as
quick as the scenes of van de Panne, Fiume and Vranesic (1993) need: 0.455 turns a second at 7 m/s.
"""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lab import courses
from poise.addon.mapping.body import pendulum_body
from poise.addon.mapping.sequence import join_motions
from poise.addon.mapping.signals import SETTLE, averaged, read_signals
from poise.addon.mapping.skier import STYLES, SkierStyle, map_skier
from poise.addon.mapping.snowboarder import SnowboarderStyle, map_snowboarder
from poise.solvers.path import PathScene, PathSettings, follow_path
from poise.solvers.path.settings import CALM
from poise.solvers.path.terrain import TerrainMesh

_spec = importlib.util.spec_from_file_location(
    "mapping_cases", Path(__file__).with_name("mapping_cases.py")
)
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

FIGURE = cases.figure()
BOARDER = cases.figure(cases.SNOWBOARDER)


def follow(name, effort, figure=FIGURE, **settings):
    """A scene of the paper, followed by a figure."""
    scene, asked = courses.SCENES[name]()
    body = pendulum_body(figure)
    asked = replace(
        asked, mass=body.mass, height=body.height, inertia=body.inertia, effort=effort, **settings
    )
    return scene, asked, follow_path(scene, asked, advice=False)


@pytest.fixture(scope="module")
def runs():
    """Every scene without effort and with the usual one."""
    return {
        (name, effort): follow(name, effort) for name in courses.SCENES for effort in (0.0, CALM)
    }


def reversals(motion):
    """How often a second the rate of curvature changes its sign."""
    rate = np.diff(motion.curvature)
    sign = np.sign(rate[np.abs(rate) > 1e-9])
    return np.count_nonzero(np.diff(sign)) / motion.time[-1]


def liveliness(tracks):
    """Largest angular speed of a knee, deg/s, and largest acceleration of the pelvis, m/s^2."""
    h = tracks.time[1] - tracks.time[0]
    knees = [
        np.max(np.abs(np.diff(values)))
        for name, values in tracks.attributes.items()
        if name.startswith("knee_flexion")
    ]
    return np.degrees(max(knees)) / h, cases.corner(tracks, "pelvis")


def test_calm_plans_go_back_and_forth_less_and_keep_about_as_near(runs):
    before = [reversals(runs[name, 0.0][2].motion) for name in courses.SCENES]
    after = [reversals(runs[name, CALM][2].motion) for name in courses.SCENES]
    assert np.mean(after) < 0.9 * np.mean(before)
    # Through the gates it goes another way, which keeps nearer to the path.
    assert sum(b > a for a, b in zip(before, after, strict=True)) <= 1
    assert np.max(np.subtract(after, before)) < 0.3
    # Changes of the rate themselves: what the term is about.
    jumps = {
        effort: np.mean([
            np.mean(np.diff(result.motion.curvature, 2) ** 2) / settings.max_curvature_rate**2
            for (_, e), (_, settings, result) in runs.items() if e == effort
        ])
        for effort in (0.0, CALM)
    }
    assert jumps[CALM] < 0.85 * jumps[0.0]
    apart = [[runs[n, e][2].mean_distance for n in courses.SCENES] for e in (0.0, CALM)]
    # Less than half of the effort of 0.15 m is spent in distance on the mean.
    assert np.mean(apart[1]) < np.mean(apart[0]) + 0.5 * CALM
    assert np.max(np.subtract(apart[1], apart[0])) < CALM


@pytest.mark.parametrize("name", list(courses.SCENES))
def test_calm_motions_keep_gates_clearance_and_limits(runs, name):
    scene, settings, result = runs[name, CALM]
    m = result.motion
    assert result.finished and result.cut_short == 0
    assert result.max_lean <= settings.max_lean and result.min_clearance >= settings.clearance
    assert np.max(np.abs(m.curvature)) <= settings.max_curvature * (1.0 + 1e-12)
    rate = np.diff(m.curvature) / np.diff(m.time)
    assert np.max(np.abs(rate)) <= settings.max_curvature_rate * (1.0 + 1e-6)
    assert np.all(np.isfinite(result.gate_times)) and np.all(np.diff(result.gate_times) > 0.0)
    for gate, time in zip(scene.gates, result.gate_times, strict=True):
        x = np.interp(time, m.time, m.position[:, 0])
        assert gate.right[0] + settings.clearance <= x <= gate.left[0] - settings.clearance


@pytest.mark.parametrize("style", ["default", "short"])
@pytest.mark.parametrize("name", ["tree skiing", "slalom"])
def test_legs_and_pelvis_are_as_calm_as_in_short_turns(runs, name, style):
    style = STYLES.get(style, SkierStyle())
    turns = map_skier(cases.solve(FIGURE, cases.TURNS["short"]), FIGURE, style)
    knee, pelvis = liveliness(map_skier(runs[name, CALM][2].motion, FIGURE, style))
    most = liveliness(turns)
    assert knee < most[0] and pelvis < 1.05 * most[1]
    # Without, they jump.
    hectic = liveliness(map_skier(runs[name, 0.0][2].motion, FIGURE, style))
    assert hectic[0] > 1.5 * most[0] and hectic[1] > 2.0 * most[1]


@pytest.mark.parametrize("name", ["slalom through gates", "potholes", "bicycle around a corner"])
def test_legs_and_pelvis_are_calmer_than_in_slalom_turns(runs, name):
    turns = cases.solve(FIGURE, cases.TURNS["slalom"])
    knee, pelvis = liveliness(map_skier(runs[name, CALM][2].motion, FIGURE, SkierStyle()))
    most = liveliness(map_skier(turns, FIGURE, SkierStyle()))
    assert knee < 0.7 * most[0] and pelvis < 0.5 * most[1]


def test_a_snowboarder_is_calm_too():
    tracks = [
        liveliness(map_snowboarder(follow("slalom", e, BOARDER)[2].motion, BOARDER,
                                   SnowboarderStyle()))
        for e in (0.0, CALM)
    ]
    turns = cases.solve(BOARDER, cases.BOARD_TURNS["carving"])
    most = liveliness(map_snowboarder(turns, BOARDER, SnowboarderStyle()))
    assert tracks[1][0] < min(most[0], tracks[0][0])
    assert tracks[1][1] < most[1] < tracks[0][1]


def test_evening_out_grows_with_the_effort_and_is_none_without(runs):
    assert runs["slalom", 0.0][2].motion.steered == ()
    widths = [
        follow("potholes", effort, most_seconds=0.6)[2].motion.steered[0][2]
        for effort in (0.25 * CALM, CALM, 4.0 * CALM)
    ]
    assert widths == pytest.approx([0.05, 0.2, 0.2])
    motion = runs["slalom", CALM][2].motion
    plain = read_signals(replace(motion, steered=()))
    little = read_signals(replace(motion, steered=((0.0, motion.time[-1], 1e-3),)))
    calm = read_signals(motion)
    assert np.max(np.abs(little.curvature - motion.curvature)) < 1e-6
    # The way turned is the same on the whole, and nothing is late.
    turned = np.sum(np.abs(plain.curvature))
    assert abs(np.sum(calm.curvature - plain.curvature)) < 0.01 * turned
    lag = [np.sum(calm.curvature[8:-8] * np.roll(plain.curvature, k)[8:-8]) for k in range(-4, 5)]
    assert int(np.argmax(lag)) == 4
    assert np.all(np.diff(calm.phase) >= -1e-9)
    for name in ("lean", "off_heading", "speed"):
        assert np.array_equal(getattr(calm, name), getattr(plain, name))


def test_a_gaussian_mean_damps_a_sine_by_its_own_law():
    t = np.arange(0.0, 12.0, 1.0 / 96.0)
    wave = np.sin(3.0 * t)
    mean = averaged(wave, t[1], 0.2)
    middle = slice(200, -200)
    assert mean[middle] == pytest.approx(np.exp(-0.5 * 0.6**2) * wave[middle], abs=2e-4)


def test_steering_that_is_cut_off_in_mid_swing_ends_evened_out():
    """A sine that ends at a peak goes on in its mirror image: the law holds at its very end."""
    t = np.linspace(0.0, 10.5 * np.pi / 3.0, 1101)
    mean = averaged(np.sin(3.0 * t), t[1], 0.2, swinging=True)
    assert abs(np.sin(3.0 * t[-1])) == pytest.approx(1.0)
    assert abs(mean[-1]) == pytest.approx(np.exp(-0.5 * 0.6**2), abs=2e-4)


def test_turns_before_a_path_are_posed_as_ever(runs):
    """In a chain only the path's own span is evened out."""
    turns = cases.solve(FIGURE, cases.TURNS["short"], seconds=4.0)
    path = runs["slalom", CALM][2].motion
    both = join_motions([turns, path], [0.0, 0.0])
    seam = float(turns.time[-1])
    assert both.steered == ((seam, seam + path.time[-1], 0.2),)
    calm, plain = read_signals(both), read_signals(replace(both, steered=()))
    outside = both.time <= seam
    alone, late = read_signals(path), both.time >= seam + SETTLE + 1.0
    for name in ("curvature", "force", "phase"):
        values = getattr(calm, name)
        assert np.array_equal(values[outside], getattr(plain, name)[outside])
        shift = values[-1] - getattr(alone, name)[-1]
        assert shift == 0.0 or name == "phase"
        own = getattr(alone, name)[-np.count_nonzero(late) :] + shift
        assert values[late] == pytest.approx(own, abs=1e-9)


def test_legs_still_feel_the_terrain():
    """Rolls along a straight path: the force that they make passes undamped."""
    t = np.linspace(-10.0, 60.0, 281)
    across = np.array([-10.0, 10.0])
    x, y = np.meshgrid(across, -t, indexing="ij")
    z = 0.15 * np.sin(2.0 * np.pi * y / 10.0)
    vertices = np.stack((x, y, z), axis=-1).reshape(-1, 3)
    n = len(t)
    i = np.arange(n - 1)
    triangles = np.concatenate((
        np.stack((i, i + 1, i + n), axis=1), np.stack((i + 1, i + n + 1, i + n), axis=1),
    ))
    line = np.array([(0.0, 0.0), (0.0, -45.0)])
    scene = PathScene((line,), terrain=TerrainMesh(vertices, triangles))
    motion = follow_path(scene, PathSettings(speed=8.0, effort=CALM), advice=False).motion
    assert motion.steered and np.max(np.abs(motion.lean)) < 0.01
    calm = read_signals(motion).force
    plain = read_signals(replace(motion, steered=())).force
    assert np.ptp(plain) > 0.5
    assert calm == pytest.approx(plain, abs=0.03)
