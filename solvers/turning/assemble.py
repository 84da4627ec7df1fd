# SPDX-License-Identifier: GPL-3.0-or-later
"""From what was stepped to what is handed on: frames and path.

All functions take arrays whose first axis is time; further axes may run over
the figures of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .equations import Equations
from .heading import at_time, stack
from .settings import Timeline
from .simulate import FREE


def ground_frame(
    yaw: np.ndarray, facing: np.ndarray | float, slope: np.ndarray, direction: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """World unit vectors of a figure that travels on a tilted plane.

    Args:
        yaw: (...,) direction of travel in the plane, rad; 0 lies over the
            facing.
        facing: (...,) world yaw of the facing, rad, 0 along -Y, or a float.
        slope: (...,) steepness, rad, or a float.
        direction: (...,) compass direction of the fall line, rad to the left
            of the facing, or a float.

    Returns:
        forward, left and normal, each (..., 3).
    """
    yaw = np.asarray(yaw, dtype=float)
    sine, cosine = np.sin(facing), np.cos(facing)
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
        return np.stack((along * sine + side * cosine, -along * cosine + side * sine, up), axis=-1)

    return world(forward), world(left), world(n)


class Quantities:
    """Looks the quantities of n figures up at any times.

    Args:
        timelines: checked settings, one per figure.
    """

    def __init__(self, timelines: Sequence[Timeline]) -> None:
        self._timelines = timelines
        self._half_step = np.array([[0.5 * timeline.step] for timeline in timelines])
        self._stacked: dict[str, np.ndarray] = {}

    def __call__(self, name: str, time: np.ndarray) -> np.ndarray:
        """A quantity, by the parabola through each step's samples.

        Args:
            name: one of `Timeline.quantities`.
            time: (m, n) seconds.

        Returns:
            (n,) values if they stay the same, else (m, n).
        """
        if name not in self._stacked:
            self._stacked[name] = stack(self._timelines, name)
        values = self._stacked[name]
        if values.shape[1] == 1:
            return values[:, 0]
        return at_time(values, time.T, self._half_step).T


def integrate_path(
    knots: Sequence[np.ndarray] | np.ndarray,
    parameters: Callable[[np.ndarray], tuple],
    frame: Callable[[np.ndarray], tuple],
    equations: Equations,
) -> tuple[np.ndarray, np.ndarray]:
    """Foot path by Simpson's rule between the knots.

    x' = V_f t(psi) with V_f = V + l sin(theta) psi' (Eq. 21 with C = psi'/V_f).
    Lean and its rate between knots come from the quintic through lean, rate
    and acceleration at both ends, psi' from the equations of motion, and psi
    half way from the integral of psi' up to there.

    Args:
        knots: arrays (m, ...), one for each name in `KNOT`.
        parameters: time (...) -> the quantities in the order of `PARAMETERS`.
        frame: time (...) -> (facing, slope, direction), for `ground_frame`.
        equations: the equations of motion on arrays.

    Returns:
        (m, ..., 3) path from the origin and (m, ...) its length, m.
    """
    time, theta, omega, psi, v, curvature, alpha, turn, accel, beta, mode = knots
    t0, dt = time[:-1], time[1:] - time[:-1]
    safe = np.where(dt > 0.0, dt, 1.0)
    beta, free = beta[1:], mode[1:] == FREE
    all_free = bool(np.all(free))

    # Quintic of the lean and cubics of yaw and speed, in u = (t - t0) / dt.
    w0, w1 = omega[:-1] * dt, omega[1:] * dt
    a0, a1 = alpha[:-1] * dt * dt, alpha[1:] * dt * dt
    d, e, g = theta[1:] - theta[:-1] - w0 - 0.5 * a0, w1 - w0 - a0, a1 - a0
    c3, c4, c5 = 10.0 * d - 4.0 * e + 0.5 * g, 7.0 * e - 15.0 * d - g, 6.0 * d - 3.0 * e + 0.5 * g

    def cubic(x: np.ndarray, rate: np.ndarray, u: float) -> np.ndarray:
        return (
            x[:-1]
            + (x[1:] - x[:-1]) * (u * u * (3.0 - 2.0 * u))
            + dt * u * (1.0 - u) * ((1.0 - u) * rate[:-1] - u * rate[1:])
        )

    def inside(u: float) -> tuple:
        """theta, speed, psi' and height at fraction u of every part."""
        p = parameters(t0 + u * dt)
        lean = theta[:-1] + u * (w0 + u * (0.5 * a0 + u * (c3 + u * (c4 + u * c5))))
        rate = (w0 + u * (a0 + u * (3.0 * c3 + u * (4.0 * c4 + u * 5.0 * c5)))) / safe
        yaw, speed = cubic(psi, turn, u), cubic(v, accel, u)
        with np.errstate(all="ignore"):  # where the curvature is bound, of no account
            _, steered, _, s, speed = equations.free(lean, rate, yaw, speed, p, beta)
        if not all_free:
            between = curvature[:-1] + u * (curvature[1:] - curvature[:-1])
            _, held, _, _, _ = equations.forced(lean, rate, yaw, speed, between, p)
            steered = np.where(free, steered, held)
        return s, speed, steered, p[7]

    _, _, turn_q, _ = inside(0.25)
    s_m, v_m, turn_m, height_m = inside(0.5)
    psi_m = psi[:-1] + dt * (turn[:-1] + 4.0 * turn_q + turn_m) / 12.0
    foot = v + parameters(time)[7] * np.sin(theta) * turn
    foot_m = v_m + height_m * s_m * turn_m
    sixth = dt / 6.0
    distance = np.zeros(foot.shape)
    np.cumsum(sixth * (foot[:-1] + 4.0 * foot_m + foot[1:]), axis=0, out=distance[1:])
    facing, slope, direction = frame(time)
    if np.ndim(slope) < 2 and np.ndim(direction) < 2:
        # One plane: along and across the facing first, into the world at the end.
        plane = []
        for turned in (np.cos, np.sin):
            along = np.zeros(foot.shape)
            start = foot * turned(psi)
            middle = foot_m * turned(psi_m)
            np.cumsum(sixth * (start[:-1] + 4.0 * middle + start[1:]), axis=0, out=along[1:])
            plane.append(along[..., None])
        ahead, across, _ = ground_frame(np.zeros(time.shape[1:]), facing, slope, direction)
        return plane[0] * ahead + plane[1] * across, distance
    velocity = foot[..., None] * ground_frame(psi, facing, slope, direction)[0]
    velocity_m = foot_m[..., None] * ground_frame(psi_m, *frame(t0 + 0.5 * dt))[0]
    path = np.zeros(velocity.shape)
    np.cumsum(
        sixth[..., None] * (velocity[:-1] + 4.0 * velocity_m + velocity[1:]), axis=0, out=path[1:]
    )
    return path, distance
