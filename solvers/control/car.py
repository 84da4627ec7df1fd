# SPDX-License-Identifier: GPL-3.0-or-later
"""How a car rolls: the five-dimensional one of van de Panne, Fiume and Vranesic (1990), section 6.

The state is position (x, y) of the point between the front wheels, heading, steering
angle d and speed v of that point; controls are the steering rate and the acceleration.
Wheels do not slip sideways, so that with the wheelbase L

    x' = v cos(heading + d),   y' = v sin(heading + d),   heading' = v sin(d) / L.

Over a move the controls stay, and steering and speed change evenly. Front wheels are
turned so that all axles point at one centre (Ackermann).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .street import Car

_GAUSS = np.polynomial.legendre.leggauss(3)


def travel(
    car: Car, begin: np.ndarray, end: np.ndarray, seconds: np.ndarray | float, steps: int
) -> np.ndarray:
    """Where moves lead, seen from where they begin.

    Headings by Gauss' rule, positions by Simpson's over the headings; with steps of
    1/8 s the error is below a micrometre in each.

    Args:
        car: its wheelbase.
        begin: (m, 2) steering, speed at the beginning.
        end: (m, 2) steering, speed at the end.
        seconds: (m,) or one, how long the moves take.
        steps: how many sub-steps.

    Returns:
        (m, steps + 1, 3) x, y, heading of the reference point; it begins at 0, 0, 0.
    """
    begin, end = np.asarray(begin, float), np.asarray(end, float)
    m = len(begin)
    h = np.broadcast_to(np.asarray(seconds, float), (m,))[:, None] / (2 * steps)
    points, weights = _GAUSS
    share = (np.arange(2 * steps)[:, None] + 0.5 * (1.0 + points)) / (2 * steps)
    slope = end - begin
    steering, speed = (begin[:, i, None, None] + slope[:, i, None, None] * share for i in (0, 1))
    turned = (speed * np.sin(steering)) @ (0.5 * weights) * h / car.wheelbase
    heading = np.concatenate([np.zeros((m, 1)), turned.cumsum(axis=1)], axis=1)
    share = np.arange(2 * steps + 1) / (2 * steps)
    steering, speed = (begin[:, i, None] + slope[:, i, None] * share for i in (0, 1))
    out = np.zeros((m, steps + 1, 3))
    for axis, rate in enumerate(
        (speed * np.cos(heading + steering), speed * np.sin(heading + steering))
    ):
        gone = (rate[:, :-1:2] + 4.0 * rate[:, 1::2] + rate[:, 2::2]) * h / 3.0
        out[:, 1:, axis] = gone.cumsum(axis=1)
    out[..., 2] = heading[:, ::2]
    return out


def placed(poses: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Poses (..., 3) of what moved, in the world.

    Args:
        poses: (..., 3) x, y, heading at the beginning; shapes are broadcast.
        moved: (..., 3) as seen from there.
    """
    c, s = np.cos(poses[..., 2]), np.sin(poses[..., 2])
    x, y = moved[..., 0], moved[..., 1]
    return np.stack(
        [
            poses[..., 0] + c * x - s * y,
            poses[..., 1] + s * x + c * y,
            poses[..., 2] + moved[..., 2],
        ],
        axis=-1,
    )


@dataclass(frozen=True)
class Trip:
    """Moves, one after the other.

    Attributes:
        car: that made them.
        times: (k,) s, when moves begin and the last one ends.
        knots: (k, 5) x, y, heading, steering, speed then.
    """

    car: Car
    times: np.ndarray
    knots: np.ndarray

    def states(self, times: np.ndarray) -> np.ndarray:
        """(f, 5) x, y, heading, steering and speed; before and after the moves it stays.

        Args:
            times: (f,) s.
        """
        times = np.clip(np.asarray(times, float), self.times[0], self.times[-1])
        if len(self.times) == 1:
            return np.repeat(self.knots, len(times), axis=0)
        k = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.times) - 2)
        span = times - self.times[k]
        share = (span / (self.times[k + 1] - self.times[k]))[:, None]
        begin = self.knots[k, 3:]
        end = begin + share * (self.knots[k + 1, 3:] - begin)
        moved = travel(self.car, begin, end, span, 8)[:, -1]
        return np.concatenate([placed(self.knots[k, :3], moved), end], axis=1)

    def wheels(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What a rig needs: how far front wheels are turned, and how far all have rolled.

        Args:
            times: (f,) s, growing.

        Returns:
            (f, 2) rad of the left and the right front wheel, counterclockwise; (f, 4) rad
            rolled forwards by front left, front right, rear left, rear right.
        """
        times = np.asarray(times, float)
        inner = np.unique(
            np.concatenate([self.times, np.arange(self.times[0], self.times[-1], 1.0 / 128.0)])
        )
        states = self.states(np.sort(np.concatenate([inner, 0.5 * (inner[1:] + inner[:-1])])))
        rate = wheel_speeds(self.car, states) / self.car.wheel_radius
        gone = (rate[:-1:2] + 4.0 * rate[1::2] + rate[2::2]) * (np.diff(inner) / 6.0)[:, None]
        rolled = np.concatenate([np.zeros((1, 4)), gone.cumsum(axis=0)])
        rolls = np.stack([np.interp(times, inner, column) for column in rolled.T], axis=1)
        return ackermann(self.car, self.states(times)[:, 3]), rolls


def ackermann(car: Car, steering: np.ndarray) -> np.ndarray:
    """(m, 2) rad by which the left and the right front wheel are turned.

    tan d_i = L tan d / (L - o_i tan d) for a wheel that is o_i to the left of the middle.

    Args:
        car: its wheelbase and track.
        steering: (m,) rad of the wheel that stands for both.
    """
    offset = 0.5 * car.track * np.array([1.0, -1.0])
    tangent = np.tan(steering)[:, None]
    return np.arctan2(car.wheelbase * tangent, car.wheelbase - offset * tangent)


def wheel_speeds(car: Car, states: np.ndarray) -> np.ndarray:
    """(m, 4) m/s at which wheels roll: front left, front right, rear left, rear right.

    Args:
        car: its wheelbase and track.
        states: (m, 5).
    """
    steering, speed = states[:, 3, None], states[:, 4, None]
    offset = 0.5 * car.track * np.array([1.0, -1.0])
    turning = speed * np.sin(steering) / car.wheelbase
    rear = speed * np.cos(steering) - offset * turning
    front = np.sign(speed) * np.hypot(rear, turning * car.wheelbase)
    return np.concatenate([front, rear], axis=1)
