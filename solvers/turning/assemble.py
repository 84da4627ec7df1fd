# SPDX-License-Identifier: GPL-3.0-or-later
"""From what was stepped to what is handed on: frames and path.

Inside, figures run along axis 0 and time along axis 1, so that each figure's
arrays lie in one piece; what is handed on is time first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .heading import at_time, stack
from .settings import Timeline
from .simulate import KNOT


def plane_axes(
    facing: np.ndarray | float, slope: np.ndarray | float, direction: np.ndarray | float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """World axes of a tilted plane.

    Args:
        facing: (...,) world yaw of the facing, rad, 0 along -Y, or a float.
        slope: (...,) steepness, rad, or a float.
        direction: (...,) compass direction of the fall line, rad to the left
            of the facing, or a float.

    Returns:
        Unit vectors (..., 3): the facing, lifted straight up into the plane,
        the left of it in the plane, and the normal.
    """
    sine, cosine = np.sin(facing), np.cos(facing)
    steep_sin, steep_cos = np.sin(slope), np.cos(slope)
    down_f, down_l = np.cos(direction), np.sin(direction)  # fall line along facing and left
    drop = -np.tan(slope) * down_f
    scale = 1.0 / np.sqrt(1.0 + drop * drop)
    n = (steep_sin * down_f, steep_sin * down_l, steep_cos)  # facing, left, up
    e1 = (scale, 0.0, drop * scale)
    e2 = (n[1] * e1[2], n[2] * e1[0] - n[0] * e1[2], -n[1] * e1[0])  # n x e1

    def world(along: np.ndarray, side: np.ndarray | float, up: np.ndarray) -> np.ndarray:
        parts = (along * sine + side * cosine, -along * cosine + side * sine, up)
        return np.stack(np.broadcast_arrays(*parts), axis=-1)

    return world(*e1), world(*e2), world(*n)


def ground_frame(
    yaw: np.ndarray,
    facing: np.ndarray | float,
    slope: np.ndarray | float,
    direction: np.ndarray | float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """World unit vectors of a figure that travels on a tilted plane.

    Args:
        yaw: (...,) direction of travel in the plane, rad; 0 lies over the
            facing.
        facing: as for `plane_axes`.
        slope: as for `plane_axes`.
        direction: as for `plane_axes`.

    Returns:
        forward, left and normal, each (..., 3).
    """
    ahead, aside, normal = plane_axes(facing, slope, direction)
    c, s = np.cos(yaw)[..., None], np.sin(yaw)[..., None]
    return (
        c * ahead + s * aside,
        c * aside - s * ahead,
        np.broadcast_to(normal, (*np.shape(yaw), 3)),
    )


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
            time: (n, m) seconds.

        Returns:
            (n, 1) values if they stay the same, else (n, m).
        """
        if name not in self._stacked:
            self._stacked[name] = stack(self._timelines, name)
        values = self._stacked[name]
        return values if values.shape[1] == 1 else at_time(values, time, self._half_step)


def integrate_path(
    knots: Sequence[np.ndarray] | np.ndarray,
    quantity: Callable[[str, np.ndarray], np.ndarray],
    facing: np.ndarray,
    sliding: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Foot path by Simpson's rule between the knots.

    x' = V_f t(psi) with V_f = V + l sin(theta) psi' (Eq. 21 with C = psi'/V_f).
    Half way between knots, lean and yaw are those of the cubics through value
    and rate at both ends: order 4, since the knots stand at every corner.

    Args:
        knots: arrays (n, m), one for each name in `KNOT`.
        quantity: (name, time (n, m)) -> its values, as `Quantities` gives.
        facing: (n, 1) world yaw of the facing, rad.
        sliding: True if the speed is integrated.

    Returns:
        (n, m, 3) path from the origin and (n, m) its length, m.
    """
    time, theta, omega, psi, v, turn, accel = (
        knots[KNOT.index(name)] for name in ("time", "theta", "omega", "psi", "v", "turn", "accel")
    )
    dt = time[:, 1:] - time[:, :-1]
    middle = time[:, :-1] + 0.5 * dt
    eighth, sixth = 0.125 * dt, dt / 6.0

    def half_way(x: np.ndarray, rate: np.ndarray) -> np.ndarray:
        return 0.5 * (x[:, 1:] + x[:, :-1]) + eighth * (rate[:, :-1] - rate[:, 1:])

    psi_m = half_way(psi, turn)
    turn_m = (1.5 * (psi[:, 1:] - psi[:, :-1])) / np.where(dt > 0.0, dt, 1.0)
    turn_m -= 0.25 * (turn[:, 1:] + turn[:, :-1])
    v_m = half_way(v, accel) if sliding else quantity("speed", middle)
    foot = v + quantity("height", time) * np.sin(theta) * turn
    foot_m = v_m + quantity("height", middle) * np.sin(half_way(theta, omega)) * turn_m
    # What start, middle and end of each part give to its length.
    shares = (sixth * foot[:, :-1], 4.0 * sixth * foot_m, sixth * foot[:, 1:])

    def integral(ends: np.ndarray, between: np.ndarray) -> np.ndarray:
        """Of the foot speed times a function of the direction, by Simpson's rule."""
        parts = shares[0] * ends[:, :-1] + shares[1] * between + shares[2] * ends[:, 1:]
        result = np.zeros(foot.shape)
        np.cumsum(parts, axis=1, out=result[:, 1:])
        return result

    distance = np.zeros(foot.shape)
    np.cumsum(shares[0] + shares[1] + shares[2], axis=1, out=distance[:, 1:])
    slope, direction = quantity("slope", time), quantity("slope_direction", time)
    if slope.shape[1] == 1 and direction.shape[1] == 1:
        # One plane: along and across the facing first, into the world at the end.
        along, across, _ = plane_axes(facing, slope, direction)
        ahead, aside = integral(np.cos(psi), np.cos(psi_m)), integral(np.sin(psi), np.sin(psi_m))
        return ahead[:, :, None] * along + aside[:, :, None] * across, distance
    forward = ground_frame(psi, facing, slope, direction)[0]
    slope, direction = quantity("slope", middle), quantity("slope_direction", middle)
    forward_m = ground_frame(psi_m, facing, slope, direction)[0]
    path = [integral(forward[..., i], forward_m[..., i]) for i in range(3)]
    return np.stack(path, axis=-1), distance
