# SPDX-License-Identifier: GPL-3.0-or-later
"""The turning body by itself: an inverted pendulum on a steered foot.

The functions take floats or arrays that broadcast. Lean theta and curvature C
are positive to the left. `g_lateral` is the part of gravity along a tilted
ground that points to the left; 0 on the level.
"""

from __future__ import annotations

import numpy as np

Real = float | np.ndarray


def effective_length(mass: Real, height: Real, inertia: Real) -> Real:
    """J = (I + m l^2) / (m l), the length of the equivalent simple pendulum.

    Args:
        mass: m, kg.
        height: l, of the centre of mass over the foot, m.
        inertia: I, about the centre of mass, kg m^2.

    Returns:
        J in m.
    """
    return (inertia + mass * height**2) / (mass * height)


def angular_acceleration(
    curvature: Real,
    theta: Real,
    speed: Real,
    mass: Real,
    height: Real,
    inertia: Real,
    gravity: Real,
    g_lateral: Real = 0.0,
) -> Real:
    """Forward dynamics, Eq. 2 of van de Panne et al. (1993).

    alpha = (g sin(theta) + g_lat cos(theta) - k) / J,
    k = C V^2 cos(theta) / (1 - C l sin(theta)).

    Args:
        curvature: C of the foot's path, 1/m.
        theta: lean, rad.
        speed: V of the centre of mass, m/s.
        mass: m, kg.
        height: l, m.
        inertia: I, kg m^2.
        gravity: along the ground normal, m/s^2.
        g_lateral: along the ground to the left, m/s^2.

    Returns:
        alpha in rad/s^2.
    """
    s, c = np.sin(theta), np.cos(theta)
    k = curvature * speed**2 * c / (1.0 - curvature * height * s)
    return (gravity * s + g_lateral * c - k) / effective_length(mass, height, inertia)


def steering_curvature(
    alpha: Real,
    theta: Real,
    speed: Real,
    mass: Real,
    height: Real,
    inertia: Real,
    gravity: Real,
    max_curvature: Real = np.inf,
    g_lateral: Real = 0.0,
) -> Real:
    """Inverse dynamics: the curvature that gives an angular acceleration.

    C = k / (V^2 cos(theta) + l k sin(theta)), k = g sin(theta) +
    g_lat cos(theta) - J alpha: the root of their Eq. 1 that stays finite at
    theta = 0, where the quadratic degenerates. Where the denominator is not
    positive no curvature gives alpha; full lock, sign(k) times the bound,
    comes nearest.

    Args:
        alpha: rad/s^2.
        theta: lean, rad.
        speed: V of the centre of mass, m/s.
        mass: m, kg.
        height: l, m.
        inertia: I, kg m^2.
        gravity: along the ground normal, m/s^2.
        max_curvature: bound on |C|, 1/m.
        g_lateral: along the ground to the left, m/s^2.

    Returns:
        C in 1/m; alpha has to be found anew from it where the bound is met.
    """
    s, c = np.sin(theta), np.cos(theta)
    k = gravity * s + g_lateral * c - effective_length(mass, height, inertia) * alpha
    den = speed**2 * c + height * k * s
    beyond = den <= 0.0
    curvature = np.where(beyond, np.copysign(np.inf, k), k / np.where(beyond, 1.0, den))
    result = np.clip(curvature, -max_curvature, max_curvature)
    return result if np.ndim(result) else float(result)


def foot_speed(speed: Real, curvature: Real, theta: Real, height: Real) -> Real:
    """V_f = V / (1 - C l sin(theta)), their Eq. 21: the foot goes the longer way.

    Args:
        speed: V of the centre of mass, m/s.
        curvature: C of the foot's path, 1/m.
        theta: lean, rad.
        height: l, m.

    Returns:
        V_f in m/s. The travel direction turns at C V_f.
    """
    return speed / (1.0 - curvature * height * np.sin(theta))


def leg_forces(
    theta: Real,
    omega: Real,
    alpha: Real,
    turn: Real,
    speed: Real,
    g_normal: Real,
    g_lateral: Real,
    mass: Real,
    height: Real,
) -> tuple[Real, Real]:
    """Both components of the force of the ground on the foot (Eq. 14 to 18).

    F_x = m (-V psi' - l cos(theta) alpha + l sin(theta) omega^2 + g_lat)
    F_y = m (g_n - l sin(theta) alpha - l cos(theta) omega^2)

    They balance the body: F_x l cos(theta) + F_y l sin(theta) = I alpha
    (Eq. 13). V psi' = V_f^2 (C - C^2 l sin(theta)), where the paper's Eq. 17
    prints r_f for the r_f^2 of its Eq. 19.

    Args:
        theta: lean, rad.
        omega: rad/s.
        alpha: rad/s^2.
        turn: psi', rate of the direction of travel, rad/s.
        speed: V of the centre of mass, m/s.
        g_normal: gravity along the ground normal, m/s^2.
        g_lateral: gravity along the ground to the left, m/s^2.
        mass: kg.
        height: l, m.

    Returns:
        F_x, positive to the right, and F_y, along the normal, in N.
    """
    s, c = np.sin(theta), np.cos(theta)
    lateral = mass * (-speed * turn - height * (c * alpha - s * omega**2) + g_lateral)
    normal = mass * (g_normal - height * (s * alpha + c * omega**2))
    return lateral, normal
