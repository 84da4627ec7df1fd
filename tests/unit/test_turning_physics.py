# SPDX-License-Identifier: GPL-3.0-or-later
"""The pendulum, its forces and the ellipses, against closed forms.

Numbers not derived here come from the equations of van de Panne, Fiume and
Vranesic, "Physically Based Modeling and Control of Turning" (1993), for
m = 70 kg, I = 5 kg m^2, l = 1 m, g = 9.81 m/s^2.
"""

import math

import numpy as np
import pytest
from lab.figures import SPEED, figure_5, figure_6
from lab.open_loop import open_loop
from lab.pendulum import angular_acceleration, steering_curvature
from poise.solvers.turning import TurningSettings, solve_turning
from poise.solvers.turning.pendulum import (
    effective_length,
    foot_speed,
)

MASS, HEIGHT, INERTIA, GRAVITY = 70.0, 1.0, 5.0, 9.81
BODY = (MASS, HEIGHT, INERTIA, GRAVITY)


def _grid():
    """Leans, accelerations and speeds within the domain of the inverse."""
    theta, alpha, speed = np.meshgrid(
        np.radians(np.linspace(-60.0, 60.0, 25)),
        np.linspace(-12.0, 12.0, 25),
        [2.0, 5.0, 8.0, 20.0],
    )
    k = GRAVITY * np.sin(theta) - effective_length(MASS, HEIGHT, INERTIA) * alpha
    inside = speed**2 * np.cos(theta) + HEIGHT * k * np.sin(theta) > 0.05
    return theta[inside], alpha[inside], speed[inside]


def test_inverse_dynamics_undoes_forward_dynamics():
    theta, alpha, speed = _grid()
    curvature = steering_curvature(alpha, theta, speed, *BODY)
    assert len(theta) > 2000
    assert np.max(np.abs(angular_acceleration(curvature, theta, speed, *BODY) - alpha)) < 1e-9


def test_curvature_solves_the_papers_quadratic():
    """Eq. 1: 0 = a C^2 + b C + k, whatever the root is called."""
    theta, alpha, speed = _grid()
    curvature = steering_curvature(alpha, theta, speed, *BODY)
    s, c = np.sin(theta), np.cos(theta)
    k = GRAVITY * s - alpha * (INERTIA + HEIGHT**2 * MASS) / (MASS * HEIGHT)
    a = HEIGHT**2 * s**2 * k + HEIGHT * speed**2 * s * c
    b = -2.0 * HEIGHT * s * k - speed**2 * c
    size = np.abs(a * curvature**2) + np.abs(b * curvature) + np.abs(k) + 1.0
    assert np.max(np.abs(a * curvature**2 + b * curvature + k) / size) < 1e-12


def test_upright_and_steady_needs_no_curvature():
    """The root that is 0 for alpha = 0 at theta = 0, as the paper asks for."""
    assert steering_curvature(0.0, 0.0, 8.0, *BODY) == 0.0


def test_beyond_the_pole_full_lock_to_the_side_that_helps():
    """Leaning left and to be thrown further left: the formula turns the wrong way there."""
    theta, speed = math.radians(50.0), 1.0
    alpha = 20.0  # needs k < 0 and V^2 cos + l k sin < 0
    assert steering_curvature(alpha, theta, speed, *BODY, 0.6) == -0.6
    assert steering_curvature(-alpha, -theta, speed, *BODY, 0.6) == 0.6


def test_foot_goes_faster_than_the_body_inside_the_turn():
    """Eq. 21: on concentric circles about the same centre, V_f / V = r / (r - l sin(theta))."""
    r, theta = 10.0, math.radians(30.0)
    expected = 8.0 * r / (r - HEIGHT * math.sin(theta))
    assert foot_speed(8.0, 1.0 / r, theta, HEIGHT) == pytest.approx(expected, rel=1e-14)


def test_steady_circle_balances_at_the_textbook_lean():
    """alpha = 0 where tan(theta) = V psi' / g, V psi' the centripetal acceleration."""
    theta, speed = math.radians(35.0), 9.0
    curvature = steering_curvature(0.0, theta, speed, *BODY)
    turn = curvature * foot_speed(speed, curvature, theta, HEIGHT)
    assert math.tan(theta) == pytest.approx(speed * turn / GRAVITY, rel=1e-12)


def test_figure_5_leg_force_lies_between_0838_and_1270_of_the_weight():
    (settings,) = figure_5()["a typical turn"]
    motion = solve_turning(settings)
    weights = motion.leg_force / (MASS * GRAVITY)
    assert weights.min() == pytest.approx(0.838, abs=5e-4)
    assert weights.max() == pytest.approx(1.270, abs=5e-4)


def test_figure_5_curvature_is_in_phase_with_lean():
    (settings,) = figure_5()["a typical turn"]
    motion = solve_turning(settings)
    apex = np.argmax(motion.curvature)
    assert apex == np.argmax(motion.lean)
    leaning = np.abs(motion.lean) > 1e-6
    assert np.all(motion.curvature[leaning] * motion.lean[leaning] > 0.0)


@pytest.mark.parametrize(
    ("name", "ahead"), [("ellipse 1", 31.9007), ("ellipse 2", 47.3025), ("ellipse 3", 31.9969)]
)
def test_figure_6_tracks_go_forward_as_far_as_the_equations_say(name, ahead):
    """Two periods at 8 m/s; distances by an independent integration of Eq. 1 to 3."""
    (settings,) = figure_6()[name]
    motion = solve_turning(settings)
    assert settings.speed == SPEED
    assert -motion.position[-1, 1] == pytest.approx(ahead, abs=1e-4)
    assert abs(motion.position[-1, 0]) < 1e-5  # it comes back to the line
    assert np.all(motion.position[:, 2] == 0.0)


@pytest.mark.parametrize(("speed", "degrees"), [(8.0, 39.086), (5.0, 62.538)])
def test_half_turn_changes_heading_by(speed, degrees):
    motion = solve_turning(TurningSettings(n_frames=97, speed=speed))
    for turn in motion.half_turns[:-1]:
        assert math.degrees(abs(turn.change)) == pytest.approx(degrees, abs=1e-3)


def test_closed_loop_on_its_ellipse_is_the_open_loop_of_figure_4():
    motion = solve_turning(TurningSettings(n_frames=97))
    loop = open_loop(0.5, math.radians(23.0), 8.0, 4.0, 4 * 480)
    step = 480 // 48
    assert np.max(np.abs(motion.lean - loop.lean[::step])) < 1e-7
    assert np.max(np.abs(motion.curvature - loop.curvature[::step])) < 1e-7
    assert np.max(np.abs(motion.leg_force - loop.leg_force[::step])) < 1e-4
    start = motion.yaw[0]
    assert np.max(np.abs(motion.yaw - start - loop.yaw[::step])) < 1e-7
    ahead, left = loop.position[::step].T
    turned = np.stack(
        (
            ahead * math.sin(start) + left * math.cos(start),
            -(ahead * math.cos(start) - left * math.sin(start)),
        ),
        axis=1,
    )
    assert np.max(np.abs(motion.position[:, :2] - turned)) < 2e-6


def _force_error(motion):
    torque = motion.height * (
        motion.force_lateral * np.cos(motion.lean) + motion.force_normal * np.sin(motion.lean)
    )
    return np.max(np.abs(torque - motion.inertia * motion.lean_acceleration))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"frequency": 1.1, "sharpness": math.radians(45.0), "speed": 15.0},
        {"max_curvature": 0.1, "max_curvature_rate": 0.5},
        {"slope": 0.4, "slope_direction": 0.5},
        {"slope": 0.3, "speed_mode": "SLOPE", "max_curvature": 0.15},
        {"mass": 55.0, "height": 0.8, "inertia": 9.0, "gravity": 3.7, "speed": 6.0},
    ],
)
def test_leg_force_turns_the_body(changes):
    """Eq. 13: F_x l cos(theta) + F_y l sin(theta) = I alpha."""
    motion = solve_turning(TurningSettings(n_frames=200, **changes))
    assert motion.success
    assert _force_error(motion) < 1e-9
    assert np.allclose(motion.leg_force, np.hypot(motion.force_lateral, motion.force_normal))


def test_leg_force_is_what_moves_the_centre_of_mass():
    """Newton, by differences of the centre of mass's path: F + m g = m a, across and up."""
    fps = 960.0
    motion = solve_turning(TurningSettings(n_frames=1921, fps=fps, slope=0.3, slope_direction=0.4))
    mass_path = motion.position + motion.height * (
        np.cos(motion.lean)[:, None] * motion.normal + np.sin(motion.lean)[:, None] * motion.left
    )
    acceleration = (mass_path[2:] - 2.0 * mass_path[1:-1] + mass_path[:-2]) * fps**2
    force = motion.mass * (acceleration + [0.0, 0.0, motion.gravity])
    up = np.sum(force * motion.normal[1:-1], axis=1)
    right = -np.sum(force * motion.left[1:-1], axis=1)
    assert np.max(np.abs(up - motion.force_normal[1:-1])) < 0.5  # of 700 N
    assert np.max(np.abs(right - motion.force_lateral[1:-1])) < 0.5


def test_travel_direction_speed_and_curvature_agree_with_the_path():
    fps = 960.0
    motion = solve_turning(TurningSettings(n_frames=1921, fps=fps))
    velocity = (motion.position[2:] - motion.position[:-2]) * (0.5 * fps)
    speed = np.linalg.norm(velocity, axis=1)
    assert np.max(np.abs(speed - motion.foot_speed[1:-1])) < 1e-4
    assert np.max(np.abs(velocity / speed[:, None] - motion.forward[1:-1])) < 1e-5
    turn = (motion.yaw[2:] - motion.yaw[:-2]) * (0.5 * fps)
    assert np.max(np.abs(turn / speed - motion.curvature[1:-1])) < 1e-5
    frame = np.stack((motion.forward, motion.left, motion.normal), axis=1)
    assert np.allclose(frame @ np.swapaxes(frame, 1, 2), np.eye(3), atol=1e-14)
    assert np.allclose(np.linalg.det(frame), 1.0)
    assert motion.distance[-1] == pytest.approx(
        np.sum(np.linalg.norm(np.diff(motion.position, axis=0), axis=1)), rel=1e-6
    )


def test_phase_grows_evenly_and_is_that_of_the_ellipse_in_force():
    motion = solve_turning(TurningSettings(n_frames=97, start_phase=1.0))
    assert motion.phase[0] == pytest.approx(1.0, abs=1e-12)
    assert np.allclose(np.diff(motion.phase), math.pi / 48.0, atol=1e-6)
    heading = np.where(np.arange(2 * 2 * 96 + 1) < 100, 0.0, 0.4)
    motion = solve_turning(TurningSettings(n_frames=97, heading=heading))
    assert any(abs(turn.beta - 1.0) > 0.1 for turn in motion.half_turns)
    assert np.allclose(motion.lean, motion.max_lean * np.sin(motion.phase), atol=1e-5)
    assert np.allclose(
        motion.lean_rate,
        motion.max_lean * motion.frequency * np.cos(motion.phase),
        atol=1e-5,
    )
