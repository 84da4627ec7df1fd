# SPDX-License-Identifier: GPL-3.0-or-later
"""Open-loop control of a turn (van de Panne et al. 1993, Fig. 4).

alpha = -omega_0^2 theta_max sin(omega_0 t) is played back against the clock.
Nothing brings a disturbed body back, so motions are made with the closed
loop of `solve`; this is the plain statement to compare it with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from poise.solvers.turning.pendulum import foot_speed, leg_forces

from .pendulum import angular_acceleration, steering_curvature


@dataclass(frozen=True)
class OpenLoop:
    """An open-loop turn over time, n samples.

    Attributes:
        time: (n,) s.
        lean: (n,) rad.
        lean_rate: (n,) rad/s.
        curvature: (n,) of the foot's path, 1/m.
        yaw: (n,) direction of travel, rad, 0 at the start.
        position: (n, 2) of the foot, m: ahead and to the left.
        leg_force: (n,) N.
        phase: (n,) omega_0 t, rad.
    """

    time: np.ndarray
    lean: np.ndarray
    lean_rate: np.ndarray
    curvature: np.ndarray
    yaw: np.ndarray
    position: np.ndarray
    leg_force: np.ndarray
    phase: np.ndarray


def open_loop(
    frequency: float,
    sharpness: float,
    speed: float,
    duration: float,
    steps: int,
    mass: float = 70.0,
    height: float = 1.0,
    inertia: float = 5.0,
    gravity: float = 9.81,
) -> OpenLoop:
    """Simulate the loop of Fig. 4 by the classical Runge-Kutta method.

    Args:
        frequency: Hz.
        sharpness: theta_max, rad.
        speed: of the centre of mass, m/s.
        duration: s.
        steps: number of steps.
        mass: kg.
        height: l, m.
        inertia: kg m^2.
        gravity: m/s^2.

    Returns:
        The turn, steps + 1 samples.
    """
    omega_0 = 2.0 * math.pi * frequency
    body = (mass, height, inertia, gravity)

    def steered(t: float, theta: float) -> float:
        alpha = -(omega_0**2) * sharpness * math.sin(omega_0 * t)
        return float(steering_curvature(alpha, theta, speed, *body))

    def rates(t: float, state: np.ndarray) -> np.ndarray:
        theta, omega, yaw = state[:3]
        curvature = steered(t, theta)
        pace = foot_speed(speed, curvature, theta, height)
        alpha = angular_acceleration(curvature, theta, speed, *body)
        return np.array(
            (omega, alpha, curvature * pace, pace * math.cos(yaw), pace * math.sin(yaw))
        )

    time = np.linspace(0.0, duration, steps + 1)
    h = duration / steps
    states = np.empty((steps + 1, 5))
    states[0] = (0.0, omega_0 * sharpness, 0.0, 0.0, 0.0)
    for i, t in enumerate(time[:-1]):
        x = states[i]
        k1 = rates(t, x)
        k2 = rates(t + 0.5 * h, x + 0.5 * h * k1)
        k3 = rates(t + 0.5 * h, x + 0.5 * h * k2)
        k4 = rates(t + h, x + h * k3)
        states[i + 1] = x + h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
    theta, omega, yaw = states[:, 0], states[:, 1], states[:, 2]
    curvature = np.array([steered(t, x) for t, x in zip(time, theta, strict=True)])
    turn = curvature * foot_speed(speed, curvature, theta, height)
    alpha = angular_acceleration(curvature, theta, speed, *body)
    lateral, normal = leg_forces(theta, omega, alpha, turn, speed, gravity, 0.0, mass, height)
    return OpenLoop(
        time,
        theta,
        omega,
        curvature,
        yaw,
        states[:, 3:],
        np.hypot(lateral, normal),
        omega_0 * time,
    )
