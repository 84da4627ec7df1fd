# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts of cars that are to park, and whether they touched anything, looked at anew."""

import numpy as np


def starts(car, street, count, seed):
    """At rest, anywhere clear, heading within 40 degrees, any steering."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        pose = np.array(
            [
                rng.uniform(street.low, street.high),
                rng.uniform(0.0, street.width),
                np.radians(rng.uniform(-40.0, 40.0)),
            ]
        )
        steering = rng.uniform(-car.steering, car.steering)
        if not touches(car, street, pose[None]).any():
            found.append([*pose, steering, 0.0])
    return np.array(found)


def touches(car, street, poses):
    """(m,) whether the car touches anything, by points of outlines and no separating axes.

    Points every 0.3 m of the car's outline, its corners among them, lie beyond the kerb or
    the wall or within a box; or a box's corner lies within the car.
    """
    half, side = 0.5 * car.length, 0.5 * car.width
    along, across = np.linspace(-half, half, 15), np.linspace(-side, side, 7)
    outline = np.concatenate(
        [
            [(x, y) for x in along for y in (-side, side)],
            [(x, y) for x in (-half, half) for y in across],
        ]
    )
    c, s = np.cos(poses[:, 2, None]), np.sin(poses[:, 2, None])
    x = poses[:, 0, None] - 0.5 * car.wheelbase * c
    y = poses[:, 1, None] - 0.5 * car.wheelbase * s
    px = x + c * outline[:, 0] - s * outline[:, 1]
    py = y + s * outline[:, 0] + c * outline[:, 1]
    found = ((py <= 0.0) | (py >= street.width)).any(axis=1)
    for bx, by, angle, length, width in street.boxes:
        u, w = np.cos(angle), np.sin(angle)
        dx, dy = px - bx, py - by
        inside = np.abs(dx * u + dy * w) <= 0.5 * length
        inside &= np.abs(dy * u - dx * w) <= 0.5 * width
        found |= inside.any(axis=1)
        for i, j in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            dx = bx + 0.5 * (i * length * u - j * width * w) - x[:, 0]
            dy = by + 0.5 * (i * length * w + j * width * u) - y[:, 0]
            turn_c, turn_s = c[:, 0], s[:, 0]
            found |= (np.abs(dx * turn_c + dy * turn_s) <= half) & (
                np.abs(dy * turn_c - dx * turn_s) <= side
            )
    return found


def touched(street, trip, rate=256.0):
    """Whether a trip touches anything, four times as finely as it was checked."""
    times = np.arange(trip.times[0], trip.times[-1] + 1.0 / rate, 1.0 / rate)
    return bool(touches(trip.car, street, trip.states(times)[:, :3]).any())
