# SPDX-License-Identifier: GPL-3.0-or-later
"""The dynamics of a turn one state at a time, both ways: what solvers are compared with.

The functions take floats or arrays that broadcast, with the signs of
`solvers.turning.pendulum`.
"""

from __future__ import annotations

import numpy as np
from poise.solvers.turning.pendulum import Real, effective_length


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
