# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of many figures through one stage, at a constant rate of curvature.

On level ground at a given speed the equations of motion (`turning.equations`,
`forced`; Eq. 2 of van de Panne et al. 1993) give the acceleration of lean from
lean and curvature alone,

    J theta'' = g sin(theta) - C V^2 cos(theta) / (1 - C l sin(theta)),

so Nystroem's method of order 4 does with three evaluations a step. Direction
and position follow by Simpson's rule from V_f = V / (1 - C l sin(theta)),
psi' = C V_f, x' = V_f sin(psi), y' = -V_f cos(psi), with lean and direction
half way on the cubics through value and rate at both ends: order 4, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..turning.pendulum import effective_length
from .settings import PathSettings

LEAST_SHARE = 1e-3  # of 1 - C l sin(theta): the foot is at most 1000 times faster


@dataclass(frozen=True)
class StageMotion:
    """What happens in a stage: states at its m + 1 instants, for n figures.

    Attributes:
        kept: (n,) int, which of the figures asked for these are: those that
            do not fall.
        theta: (m + 1, n) lean, rad.
        omega: (m + 1, n) its rate, rad/s.
        curvature: (m + 1, n) of the foot's path, 1/m.
        psi: (m + 1, n) direction of travel about +Z, rad, 0 along -Y.
        x: (m + 1, n) foot, m.
        y: (m + 1, n) foot, m.
        foot: (m + 1, n) speed of the foot, m/s.
        foot_middle: (m, n) the same half way through the steps.
        speed: (m + 1, n) of the centre of mass, m/s, over terrain; None on
            level ground, where it is given.
        support: (n,) over terrain, whether there was some under the foot all
            the way; None on level ground.
    """

    kept: np.ndarray
    theta: np.ndarray
    omega: np.ndarray
    curvature: np.ndarray
    psi: np.ndarray
    x: np.ndarray
    y: np.ndarray
    foot: np.ndarray
    foot_middle: np.ndarray
    speed: np.ndarray | None = None
    support: np.ndarray | None = None


def lean_acceleration(
    theta: np.ndarray,
    curvature: np.ndarray,
    speed: float | np.ndarray,
    settings: PathSettings,
) -> np.ndarray:
    """Forward dynamics, alpha = (g sin(theta) - k) / J.

    Args:
        theta: lean, rad.
        curvature: of the foot's path, 1/m.
        speed: of the centre of mass, m/s.
        settings: body and gravity.

    Returns:
        rad/s^2.
    """
    j = effective_length(settings.mass, settings.height, settings.inertia)
    sine = np.sin(theta)
    share = np.maximum(1.0 - settings.height * curvature * sine, LEAST_SHARE)
    return (settings.gravity * sine - curvature * speed * speed * np.cos(theta) / share) / j


def simulate(
    state: np.ndarray,
    rate: np.ndarray,
    speed: float | np.ndarray,
    settings: PathSettings,
    limit: float,
    step: float | np.ndarray,
    steps: int,
) -> StageMotion:
    """Move figures on at constant rates of curvature.

    Args:
        state: (6, n) x, y, psi, theta, omega and curvature at the start.
        rate: (n,) rate of curvature, 1/(m s).
        speed: speed of the centre of mass, m/s; a float, or (2 steps + 1, n)
            at ends and middles of the steps.
        settings: body and gravity.
        limit: figures that lean further, at an end or in between, have fallen;
            infinite to keep all.
        step: h, s; a float or (n,).
        steps: m, how many.

    Returns:
        The motion of those that have not fallen.
    """
    n, m, h = len(rate), steps, step
    x, y, psi, theta, omega, c0 = state
    j = effective_length(settings.mass, settings.height, settings.inertia)
    curvature = c0 + rate * (0.5 * h * np.arange(2 * m + 1)[:, None])
    reach = settings.height * curvature  # C l
    pull = curvature * (speed * speed / j)  # C V^2 / J
    weight = settings.gravity / j
    sin, cos = np.sin, np.cos
    thetas, omegas = np.empty((m + 1, n)), np.empty((m + 1, n))
    sines = np.empty((m + 1, n))
    thetas[0], omegas[0] = theta, omega
    half, eighth, sixth = 0.5 * h, 0.125 * h * h, h * h / 6.0
    up = np.ones(n, dtype=bool)
    for i in range(m):
        s = sin(theta, out=sines[i])
        a0 = weight * s - pull[2 * i] * cos(theta) / np.maximum(1.0 - reach[2 * i] * s, LEAST_SHARE)
        middle = theta + (half * omega + eighth * a0)
        s = sin(middle)
        am = weight * s
        am -= pull[2 * i + 1] * cos(middle) / np.maximum(1.0 - reach[2 * i + 1] * s, LEAST_SHARE)
        ahead = theta + h * omega
        end = ahead + (4.0 * eighth) * am
        s = sin(end)
        ae = weight * s
        ae -= pull[2 * i + 2] * cos(end) / np.maximum(1.0 - reach[2 * i + 2] * s, LEAST_SHARE)
        theta1 = np.add(ahead, sixth * (a0 + 2.0 * am), out=thetas[i + 1])
        omega1 = np.add(omega, (h / 6.0) * (a0 + 4.0 * am + ae), out=omegas[i + 1])
        if limit < math.inf:
            up &= np.abs(theta1) <= limit
            turned = omega * omega1 < 0.0
            if turned.any():  # lean at its peak, if it turns within the step
                change = np.where(turned, omega - omega1, 1.0)
                peak = theta + half * omega * omega / change
                up &= (np.abs(peak) <= limit) | ~turned
        theta, omega = theta1, omega1
    sin(theta, out=sines[m])
    if up.all():
        kept = np.arange(n)
    else:
        kept = np.flatnonzero(up)
        thetas, omegas, sines = thetas[:, kept], omegas[:, kept], sines[:, kept]
        curvature, reach = curvature[:, kept], reach[:, kept]
        x, y, psi = x[kept], y[kept], psi[kept]
        if np.ndim(speed):
            speed = speed[:, kept]  # type: ignore[index]
        if np.ndim(h):
            h = h[kept]  # type: ignore[index]
    middles = 0.5 * (thetas[:-1] + thetas[1:]) + (0.125 * h) * (omegas[:-1] - omegas[1:])
    all_sines = np.empty_like(curvature)
    all_sines[::2], all_sines[1::2] = sines, sin(middles)
    feet = speed / np.maximum(1.0 - reach * all_sines, LEAST_SHARE)
    turn = curvature * feet
    weights = h / 6.0
    psis = np.empty_like(curvature)
    psis[0] = psi
    change = weights * (turn[:-2:2] + 4.0 * turn[1::2] + turn[2::2])
    np.cumsum(np.concatenate((psi[None], change)), axis=0, out=psis[::2])
    psis[1::2] = 0.5 * (psis[:-2:2] + psis[2::2]) + (0.125 * h) * (turn[:-2:2] - turn[2::2])
    vx, vy = feet * sin(psis), feet * cos(psis)
    dx = weights * (vx[:-2:2] + 4.0 * vx[1::2] + vx[2::2])
    dy = weights * (vy[:-2:2] + 4.0 * vy[1::2] + vy[2::2])
    return StageMotion(
        kept=kept,
        theta=thetas,
        omega=omegas,
        curvature=curvature[::2],
        psi=psis[::2],
        x=np.cumsum(np.concatenate((x[None], dx)), axis=0),
        y=np.cumsum(np.concatenate((y[None], -dy)), axis=0),
        foot=feet[::2],
        foot_middle=feet[1::2],
    )
