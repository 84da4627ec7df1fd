# SPDX-License-Identifier: GPL-3.0-or-later
"""From what was stepped to what is handed on: path, forces, phase.

All functions take arrays whose first axis is time; further axes may run over
the figures of a batch.
"""

from __future__ import annotations

import math

import numpy as np

from .settings import Timeline


def ground_frame(
    yaw: np.ndarray, facing: float, slope: np.ndarray, direction: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """World unit vectors of a figure that travels on a tilted plane.

    Args:
        yaw: (...,) direction of travel in the plane, rad; 0 lies over the
            facing.
        facing: world yaw of the facing, rad, 0 along -Y.
        slope: (...,) steepness, rad, or a float.
        direction: (...,) compass direction of the fall line, rad to the left
            of the facing, or a float.

    Returns:
        forward, left and normal, each (..., 3).
    """
    yaw = np.asarray(yaw, dtype=float)
    sine, cosine = math.sin(facing), math.cos(facing)
    steep_sin, steep_cos = np.sin(slope), np.cos(slope)
    down_f, down_l = np.cos(direction), np.sin(direction)  # fall line along facing and left
    # The facing lifted straight up into the plane: axis 1; axis 2 = normal x axis 1.
    drop = -np.tan(slope) * down_f
    scale = 1.0 / np.sqrt(1.0 + drop * drop)
    n = (steep_sin * down_f, steep_sin * down_l, steep_cos)  # facing, left, up
    e1 = (scale, 0.0, drop * scale)
    e2 = (n[1] * e1[2], n[2] * e1[0] - n[0] * e1[2], -n[1] * e1[0])
    c, s = np.cos(yaw), np.sin(yaw)
    forward = tuple(c * a + s * b for a, b in zip(e1, e2, strict=True))
    left = tuple(c * b - s * a for a, b in zip(e1, e2, strict=True))

    def world(parts: tuple) -> np.ndarray:
        along, side, up = (np.broadcast_to(part, yaw.shape) for part in parts)
        return np.stack(
            (along * sine + side * cosine, -along * cosine + side * sine, up), axis=-1
        )

    return world(forward), world(left), world(n)


def quantity_at(timeline: Timeline, name: str, time: np.ndarray) -> np.ndarray | float:
    """A quantity of the timeline at any times, linear between half steps.

    Args:
        timeline: checked settings.
        name: one of `Timeline.quantities`.
        time: (n,) seconds.

    Returns:
        (n,) values, or a float where it stays the same.
    """
    value = timeline.quantities[name]
    if np.ndim(value) == 0:
        return value
    return np.interp(time / (0.5 * timeline.step), np.arange(len(value)), value)


def integrate_path(
    time: np.ndarray,
    theta: np.ndarray,
    omega: np.ndarray,
    yaw: np.ndarray,
    turn: np.ndarray,
    speed: np.ndarray,
    middle_speed: np.ndarray,
    height: np.ndarray,
    middle_height: np.ndarray,
    middle_frame: tuple,
    frame: tuple,
) -> tuple[np.ndarray, np.ndarray]:
    """Foot path by Simpson's rule on Hermite midpoints, between knots.

    x' = V_f t(psi) with V_f = V + l sin(theta) psi' (Eq. 21 with C = psi'/V_f).
    Order 4, and the knots stand at every corner of the motion.

    Args:
        time: (m,) knots, s.
        theta: (m,) lean, rad.
        omega: (m,) its rate, rad/s.
        yaw: (m,) direction of travel, rad.
        turn: (m,) its rate, rad/s.
        speed: (m,) speed of the centre of mass, m/s.
        middle_speed: (m - 1,) the same half way between knots.
        height: height l at the knots, m.
        middle_height: the same half way.
        middle_frame: (facing, slope, direction) half way, for `ground_frame`.
        frame: (facing, slope, direction) at the knots.

    Returns:
        (m, 3) path from the origin and (m,) its length, m.
    """
    dt = time[1:] - time[:-1]
    safe = np.where(dt > 0.0, dt, 1.0)
    theta_m = 0.5 * (theta[1:] + theta[:-1]) + 0.125 * dt * (omega[:-1] - omega[1:])
    yaw_m = 0.5 * (yaw[1:] + yaw[:-1]) + 0.125 * dt * (turn[:-1] - turn[1:])
    turn_m = 1.5 * (yaw[1:] - yaw[:-1]) / safe - 0.25 * (turn[:-1] + turn[1:])
    foot = speed + height * np.sin(theta) * turn
    foot_m = middle_speed + middle_height * np.sin(theta_m) * turn_m
    velocity = foot[..., None] * ground_frame(yaw, *frame)[0]
    velocity_m = foot_m[..., None] * ground_frame(yaw_m, *middle_frame)[0]
    sixth = (dt / 6.0)[..., None]
    path = np.zeros(velocity.shape)
    np.cumsum(sixth * (velocity[:-1] + 4.0 * velocity_m + velocity[1:]), axis=0, out=path[1:])
    distance = np.zeros(foot.shape)
    pace, pace_m = np.abs(foot), np.abs(foot_m)
    np.cumsum(sixth[..., 0] * (pace[:-1] + 4.0 * pace_m + pace[1:]), axis=0, out=distance[1:])
    return path, distance


def leg_forces(
    theta: np.ndarray,
    omega: np.ndarray,
    alpha: np.ndarray,
    turn: np.ndarray,
    speed: np.ndarray,
    g_normal: np.ndarray,
    g_lateral: np.ndarray,
    mass: np.ndarray,
    height: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Both components of the force of the ground on the foot (Eq. 14 to 18).

    F_x = m (-V psi' - l cos(theta) alpha + l sin(theta) omega^2 + g_lat)
    F_y = m (g_n - l sin(theta) alpha - l cos(theta) omega^2)

    Args:
        theta: lean, rad, positive to the left.
        omega: rad/s.
        alpha: rad/s^2.
        turn: rate of the direction of travel, rad/s.
        speed: of the centre of mass, m/s.
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


def unwrapped_phase(
    theta: np.ndarray, omega: np.ndarray, max_lean: np.ndarray, frequency: np.ndarray
) -> np.ndarray:
    """phi = atan2(theta / theta_max, omega / (omega_0 theta_max)), unwrapped.

    Args:
        theta: (n, ...) lean, rad.
        omega: (n, ...) rad/s.
        max_lean: (n, ...) theta_max in force, rad.
        frequency: (n, ...) omega_0 in force, rad/s.

    Returns:
        (n, ...) rad, first value in [0, 2 pi).
    """
    phase = np.unwrap(np.arctan2(theta * frequency, omega), axis=0)
    return phase - 2.0 * math.pi * np.floor(phase[:1] / (2.0 * math.pi))
