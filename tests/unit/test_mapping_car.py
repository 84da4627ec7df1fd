# SPDX-License-Identifier: GPL-3.0-or-later
"""A car's parts from where it drives: rolling, steering, suspension."""

from math import atan2, cos, pi, radians, sin, sqrt, tan

import numpy as np
import pytest
from poise.addon.mapping.car import STYLES, WHEELS, CarStyle, accelerations, map_car, sprung
from poise.addon.rigs.builders.car import bodywork, car, usual
from poise.solvers.clock import Clock
from poise.solvers.control.car import Trip
from poise.solvers.rotations import about_z, multiply, rotate, to_rotation_vector

FIGURE = usual(4.2)
STYLE = CarStyle()
CLOCK = Clock.running(145, 24.0, 2)
AHEAD, LEFT, UP = -np.eye(3)[1], np.eye(3)[0], np.eye(3)[2]


def around(radius, speed, clock=CLOCK):
    """Driving to the left around (radius, 0, 0), the middle between the axles on a circle."""
    # The rear axle does not slip: the middle goes further to the left than the car heads.
    slip = np.arcsin(0.5 * FIGURE.wheelbase / radius)
    angle = speed * clock.time / radius
    place = radius * np.stack((1.0 - np.cos(angle), -np.sin(angle), 0.0 * angle), axis=-1)
    steering = np.full(len(angle), np.arctan(FIGURE.wheelbase / (radius * np.cos(slip))))
    return place, angle - slip, steering


def mapped(clock, place, yaw, steering):
    return map_car(FIGURE, STYLE, clock, place, about_z(yaw), steering)


def test_wheels_roll_as_far_as_their_own_tracks_are_long():
    radius, speed = 6.0, 2.0
    tracks = mapped(CLOCK, *around(radius, speed))
    rear = sqrt(radius**2 - (0.5 * FIGURE.wheelbase) ** 2)  # of the rear axle's middle
    half = 0.5 * FIGURE.track
    turned = speed * CLOCK.time / radius
    for role, own in (
        ("rear_wheel.L", rear - half), ("rear_wheel.R", rear + half),
        ("front_wheel.L", np.hypot(rear - half, FIGURE.wheelbase)),
        ("front_wheel.R", np.hypot(rear + half, FIGURE.wheelbase)),
    ):
        angle = tracks.spins[role].angle
        np.testing.assert_allclose(angle, turned * own / 0.31, rtol=1e-6, atol=1e-9)


def test_no_wheel_slips_sideways():
    place, yaw, steering = around(5.5, 1.5)
    tracks = mapped(CLOCK, place, yaw, steering)
    for role in WHEELS:
        turn = tracks.turn["root"]
        hub = place + rotate(turn, FIGURE.joints[role])
        if "front" in role:
            turn = multiply(turn, tracks.turn[role.replace("front_wheel", "knuckle")])
        axle, way = rotate(turn, LEFT), np.diff(hub, axis=0)
        across = (way * (axle[1:] + axle[:-1])).sum(axis=1)
        assert np.abs(across).max() < 1e-6 * np.linalg.norm(way, axis=1).max() + 1e-9, role


def test_front_wheels_are_turned_by_ackermanns_rule():
    tracks = mapped(CLOCK, *around(5.0, 1.0))
    inner, outer = (
        to_rotation_vector(tracks.turn[f"knuckle.{side}"])[0, 2] for side in "LR"
    )
    assert inner > outer > 0.0
    share = FIGURE.track / FIGURE.wheelbase
    assert 1.0 / tan(outer) - 1.0 / tan(inner) == pytest.approx(share, abs=1e-12)


def test_a_wheel_rolls_forwards_with_its_top_ahead_and_back_in_reverse():
    place = np.stack((0.0 * CLOCK.time, -1.0 * CLOCK.time, 0.0 * CLOCK.time), axis=-1)
    still = np.zeros(len(place))
    for sign in (1.0, -1.0):
        tracks = mapped(CLOCK, sign * place, still, still)
        top = rotate(tracks.turn["rear_wheel.L"][:2], UP)[1]
        assert top @ AHEAD == pytest.approx(sign * sin(1.0 / 48.0 / 0.31), abs=1e-6)
        assert tracks.spins["front_wheel.R"].angle[-1] == pytest.approx(sign * 6.0 / 0.31)


def test_wheels_that_are_steered_at_rest_do_not_roll():
    steering = radians(35.0) * np.sin(CLOCK.time)
    still = np.zeros(len(steering))
    tracks = mapped(CLOCK, np.zeros((len(steering), 3)), still, steering)
    assert all(np.abs(tracks.spins[wheel].angle).max() < 1e-9 for wheel in WHEELS)
    spin = tracks.spins["steering_wheel"]
    np.testing.assert_allclose(spin.angle, 14.0 * steering)
    # Its Y axis is the column, towards the driver, and its Z up: against the clock, its top
    # goes to the left, which is the driver's.
    (helm,) = (b for b in car(4.2, 1250.0).bones if b.name == "steering_wheel")
    axes = np.stack([np.cross(FIGURE.column, [0, 0, 1]), FIGURE.column, [0, 0, 0]], axis=1)
    np.testing.assert_allclose((helm.tail - helm.head) / 0.21, FIGURE.column, atol=1e-12)
    top = rotate(tracks.turn["steering_wheel"][1:2], UP)[0]
    assert axes @ top @ LEFT > 0.0


def test_the_body_leans_out_of_a_turn_as_much_as_it_says():
    clock = Clock.running(241, 24.0, 2)
    radius, speed = 8.0, 3.0
    tracks = mapped(clock, *around(radius, speed, clock))
    lean = STYLE.body_roll * speed**2 / radius / 9.81 * cos(around(radius, speed)[1][0])
    up = rotate(tracks.turn["body"], UP)[-20]
    # To the right, away from the centre of the circle.
    assert atan2(-up[0], up[2]) == pytest.approx(lean, rel=0.01)


@pytest.mark.parametrize("backwards", [False, True])
def test_the_body_dives_when_it_brakes_and_squats_when_it_speeds_up(backwards):
    clock = Clock.running(241, 24.0, 2)
    still = np.zeros(len(clock.time))
    way = 0.5 * 2.0 * clock.time**2
    place = np.stack((still, -way if not backwards else way, still), axis=-1)
    tracks = mapped(clock, place, still, still)
    nose = rotate(tracks.turn["body"], AHEAD)[-20, 2]
    # Speeding up backwards is braking forwards.
    sign = -1.0 if backwards else 1.0
    assert nose == pytest.approx(sign * sin(STYLE.body_pitch * 2.0 / 9.81), rel=0.01)


@pytest.mark.parametrize("damping", [0.15, 0.3, 1.0, 1.6])
def test_the_suspension_is_a_damped_spring(damping):
    time = np.linspace(0.0, 2.0, 97)
    found = sprung(time, np.concatenate(([0.0], np.ones(96))), 1.4, damping)
    # From rest 1 away, but for the first step, half of which is the old place of rest.
    w = 2.0 * pi * 1.4
    root = np.sqrt(complex(damping**2 - 1.0)) * w or 1e-9
    late = time - 0.5 * time[1]
    exact = 1.0 - np.exp(-damping * w * late) * (
        np.cosh(root * late) + damping * w * np.sinh(root * late) / root
    ).real
    np.testing.assert_allclose(found[1:], exact[1:], atol=5e-3)
    assert abs(found[-1] - 1.0) < 0.05 + 0.15 * (damping < 0.2)


def test_who_starts_from_rest_is_level_at_first():
    clock = Clock.running(49, 24.0, 2)
    still = np.zeros(len(clock.time))
    place = np.stack((still, -(clock.time**2), still), axis=-1)
    tracks = mapped(clock, place, still, still)
    assert np.abs(tracks.turn["body"][0, 1:]).max() < 1e-12
    felt = accelerations(clock.time, place, about_z(still))
    np.testing.assert_allclose(felt[1][3:-3], 2.0, atol=1e-9)


def test_a_car_on_its_way_rolls_as_its_solver_says():
    # Out of a gap: back, stop, turn the wheels, forwards.
    own = FIGURE.car()
    times = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    controls = [(0.4, 0.0), (0.4, -1.0), (0.2, 0.0), (-0.4, 0.0), (-0.4, 1.0), (-0.1, 1.0),
                (0.0, 0.0)]
    knots = [np.array([0.0, 0.0, 0.0, *controls[0]])]
    for k in range(6):
        part = Trip(own, np.array([0.0, 1.0]), np.stack([knots[-1], [0, 0, 0, *controls[k + 1]]]))
        end = part.states(np.array([1.0 - 1e-12]))[0]
        knots.append(np.array([*end[:3], *controls[k + 1]]))
    trip = Trip(own, times, np.array(knots))
    clock = Clock.running(145, 24.0, 4)
    states = trip.states(clock.time)
    centre = own.centre(states[:, :3])
    place = np.concatenate((centre[:, :2], 0.0 * centre[:, :1]), axis=1)
    tracks = mapped(clock, place, centre[:, 2] + 0.5 * pi, states[:, 3])
    rolls = trip.wheels(clock.time)[1]
    for role, exact in zip(WHEELS, rolls.T, strict=True):
        np.testing.assert_allclose(tracks.spins[role].angle, exact, atol=2e-3)  # rad: 0.6 mm


def test_bodywork_stays_within_its_box():
    points = bodywork(FIGURE).points
    assert np.abs(points[:, 1]).max() <= 2.1 + 1e-9
    assert np.abs(points[:, 0]).max() <= 0.9 + 1e-9
    assert 0.0 <= points[:, 2].min() < 2e-3  # a tyre of thirty sides
    assert 1.35 < points[:, 2].max() < 1.6


def test_named_styles_are_within_what_a_car_can_be_asked_for():
    assert set(STYLES) >= {"comfortable", "sporty", "cartoon"}
    for style in STYLES.values():
        assert 0.0 < style.damping < 1.0 and abs(style.body_roll) < radians(30.0)
