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
