# SPDX-License-Identifier: GPL-3.0-or-later
"""A bicycle's steering, contacts and wheels against closed forms and plain geometry."""

import importlib.util
import os
import re
from dataclasses import replace
from math import atan, cos, pi, radians, sin, tan
from pathlib import Path

import numpy as np
import pytest
from poise.addon.mapping import bicycle
from poise.solvers import rotations as rot
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

_spec = importlib.util.spec_from_file_location(
    "mapping_cases", Path(__file__).with_name("mapping_cases.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

GEOMETRY = bicycle.geometry_of(cases.figure(cases.CYCLIST))
# Measured by others, and no part of this: where they are not, the test is skipped.
RIGS = Path(__file__).resolve().parents[3] / "shared" / "rigs"
MEASURED = Path(os.environ.get("POISE_RIGS", RIGS)) / "bicycle_params"


def square(wheelbase=1.0, wheel=0.35, tyre=0.0):
    """A bicycle with an upright steering axis through its front axle: no trail."""
    ahead = np.array((0.0, -wheelbase, 0.0))
    return bicycle.Geometry(wheel, tyre, 0.5 * pi, ahead, np.zeros(3))


def test_steer_on_the_ground_by_turning_the_wheel_in_space():
    """Lean, tilt of the axis and steer as three rotations; the track is square to axle and up."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        steer, lean, caster = rng.uniform((-1.0, -0.8, 0.0), (1.0, 0.8, 0.6))
        # x left, y back, z up: lean about +y, the steering axis leans back.
        frame = Rotation.from_rotvec([0.0, lean, 0.0])
        axis = np.array((0.0, sin(caster), cos(caster)))
        axle = (frame * Rotation.from_rotvec(steer * axis)).apply([1.0, 0.0, 0.0])
        track = np.cross((0.0, 0.0, 1.0), axle)  # backwards
        expected = np.arctan2(-track[0], track[1])
        assert bicycle.ground_steer(steer, lean, caster) == pytest.approx(expected, abs=1e-12)
        back = bicycle.steer_for(bicycle.ground_steer(steer, lean, caster), lean, caster)
        assert back == pytest.approx(steer, abs=1e-12)


def test_steer_in_the_limits():
    """Upright axis: tan d_g = tan d / cos l. Upright frame: tan d_g = tan d cos c."""
    assert bicycle.ground_steer(0.3, 0.5, 0.0) == pytest.approx(atan(tan(0.3) / cos(0.5)))
    assert bicycle.ground_steer(0.3, 0.0, 0.4) == pytest.approx(atan(tan(0.3) * cos(0.4)))
    # Small angles: Meijaard et al. 2007, d_g = d cos(c) / cos(l).
    small = 1e-4 * cos(0.4) / cos(0.5)
    assert bicycle.ground_steer(1e-4, 0.5, 0.4) == pytest.approx(small, rel=1e-3)


@pytest.mark.parametrize("lean", [0.0, 0.4, -0.7])
def test_without_trail_and_with_an_upright_axis_the_steer_is_the_closed_form(lean):
    """tan(d) = w C cos(l), and no pitch: both contacts stay a wheelbase apart."""
    curvature = np.array((-0.5, -0.05, 0.0, 0.02, 0.3))
    stood = bicycle.stand_up(square(), np.full(5, lean), curvature)
    assert stood.steer[curvature == 0.0] == pytest.approx(0.0, abs=1e-12)
    if lean == 0.0:
        assert stood.steer == pytest.approx(np.arctan(curvature), abs=1e-9)
        assert np.abs(stood.pitch).max() < 1e-12
    # The steered wheel tilts about another line than the frame: its contact moves a little.
    near = np.abs(curvature) < 0.1
    expected = np.arctan(curvature * cos(lean))
    assert stood.steer[near] == pytest.approx(expected[near], rel=0.02)


@pytest.mark.parametrize("lean", [0.0, 0.35, 0.7])
def test_both_tyres_touch_the_ground_and_turn_about_one_centre(lean):
    curvature = np.linspace(-0.5, 0.5, 11)
    stood = bicycle.stand_up(GEOMETRY, np.full(11, lean), curvature)
    around = np.linspace(0.0, 2.0 * pi, 721)
    section = np.linspace(0.0, 2.0 * pi, 73)
    ring = GEOMETRY.wheel - GEOMETRY.tyre + GEOMETRY.tyre * np.cos(section)
    torus = np.stack([
        np.multiply.outer(np.ones_like(around), GEOMETRY.tyre * np.sin(section)),
        np.multiply.outer(np.sin(around), ring), np.multiply.outer(np.cos(around), ring),
    ], axis=-1).reshape(-1, 3)
    for axle, turn in ((stood.rear_axle, stood.rotation), (stood.front_axle, stood.fork_rotation)):
        for place, rotation in zip(axle, turn, strict=True):
            lowest = (place + rot.rotate(rotation, torus))[:, 2].min()
            assert lowest == pytest.approx(0.0, abs=3e-5)  # as fine as the mesh of points
    # Rear axle's line: the centre is 1 / C to the left. The front track is square to it.
    for i in np.flatnonzero(curvature):
        centre = np.array((1.0 / curvature[i], 0.0))
        arm = stood.contact[i, :2] - centre
        track = np.array((sin(stood.track_angle[i]), -cos(stood.track_angle[i])))
        assert abs(arm @ track) / np.linalg.norm(arm) < 1e-8
    # What the wheel does is what the angle says.
    side = rot.rotate(stood.fork_rotation, np.array((1.0, 0.0, 0.0)))
    assert np.arctan2(side[:, 1], side[:, 0]) == pytest.approx(stood.track_angle, abs=1e-9)


def test_geometry_is_read_off_the_figure():
    """Trail as of measured bicycles, c = (r sin(l) - offset) / cos(l) (Moore 2012)."""
    caster = 0.5 * pi - GEOMETRY.head_angle
    across = np.array((0.0, cos(caster), -sin(caster)))  # square to the axis, backwards
    offset = -float(GEOMETRY.front @ across)
    trail = (GEOMETRY.wheel * sin(caster) - offset) / cos(caster)
    assert GEOMETRY.trail == pytest.approx(trail, abs=1e-9)
    assert GEOMETRY.trail == pytest.approx(0.060, abs=1e-6)
    assert GEOMETRY.wheelbase == pytest.approx(1.02, abs=1e-6)


@pytest.mark.skipif(not MEASURED.is_dir(), reason="the measured bicycles are not here")
def test_the_bicycle_is_like_measured_ones():
    """Wheelbase, trail, caster and wheels within what Moore measured, with a little room."""
    found = {}
    for path in sorted(MEASURED.glob("*Benchmark.txt")):
        for name, value in re.findall(r"^(\w+) *= *([-\d.eE]+)", path.read_text(), re.MULTILINE):
            found.setdefault(name, []).append(float(value))
    for name, value in (
        ("w", GEOMETRY.wheelbase), ("c", GEOMETRY.trail), ("rF", GEOMETRY.wheel),
        ("lam", 0.5 * pi - GEOMETRY.head_angle),
    ):
        assert 0.97 * min(found[name]) <= value <= 1.03 * max(found[name]), name


def test_the_rear_wheel_is_drawn_after_the_track():
    length, radius = 0.46, 4.0
    s = np.linspace(0.0, 40.0, 801)
    circle = bicycle.trailing_angle(s / radius, s, length)
    assert np.sin(circle) == pytest.approx(length / radius, abs=1e-12)
    # On a straight line after an arc: tan(b / 2) falls off as exp(-s / a), exactly.
    yaw = np.minimum(s, 10.0) / radius
    after = bicycle.trailing_angle(yaw, s, length)
    i = 200
    fall = np.tan(0.5 * after[i]) * np.exp(-(s[i:] - s[i]) / length)
    assert np.tan(0.5 * after[i:]) == pytest.approx(fall, abs=1e-12)
    # The rear contact goes where its wheel points: against a numerical solution.
    yaw = 0.6 * np.sin(0.3 * s)
    angle = bicycle.trailing_angle(yaw, s, length)
    ode = solve_ivp(lambda x, b: 0.18 * np.cos(0.3 * x) - np.sin(b) / length, (0.0, 40.0),
                    [angle[0]], t_eval=s, rtol=1e-10, atol=1e-12)
    assert angle == pytest.approx(ode.y[0], abs=2e-5)


def test_standing_still_changes_nothing():
    still = bicycle.trailing_angle(np.zeros(5), np.zeros(5), 0.46)
    assert np.abs(still).max() == 0.0


def test_a_wheel_turns_by_distance_over_radius():
    s = np.linspace(0.0, 100.0, 501)
    assert bicycle.rolled(s, np.full(501, 0.336))[-1] == pytest.approx(100.0 / 0.336, rel=1e-12)
    turn = s / 7.0
    places = np.stack((7.0 * np.cos(turn), 7.0 * np.sin(turn), 0.0 * s), axis=1)
    assert bicycle.track_length(places, turn) == pytest.approx(s, rel=1e-9)


def test_a_leaned_tyre_rolls_on_its_shoulder():
    """A torus at lean l touches r (1 - cos l) nearer to its axle than its tread is."""
    lean = np.array((0.0, 0.5))
    stood = bicycle.stand_up(GEOMETRY, lean, np.zeros(2))
    less = GEOMETRY.tyre * (1.0 - np.cos(lean))
    assert stood.rear_rolling == pytest.approx(GEOMETRY.wheel - less, abs=1e-12)
    assert stood.front_rolling == pytest.approx(GEOMETRY.wheel - less, abs=1e-9)


def test_more_trail_moves_the_front_contact_to_the_outside():
    """Steered to the left, the contact goes c sin(d) to the right of the frame's plane."""
    curvature = np.full(1, 0.3)
    stood = bicycle.stand_up(GEOMETRY, np.zeros(1), curvature)
    more = replace(GEOMETRY, front=GEOMETRY.front + (0.0, 0.04, 0.0))
    further = bicycle.stand_up(more, np.zeros(1), curvature)
    assert stood.contact[0, 0] < 0.0
    assert further.contact[0, 0] < stood.contact[0, 0]
    assert stood.contact[0, 0] == pytest.approx(
        -GEOMETRY.trail * sin(stood.steer[0]) * sin(radians(72.0)), rel=0.2)
