# SPDX-License-Identifier: GPL-3.0-or-later
"""A controller that parks a car: a table over its five dimensions.

The table is over steering, speed, and the pose of the car's centre. Steering and speed
have few nodes, apart by what a step can change: a move leads from one of their nodes
exactly to a neighbouring one, so that only poses are interpolated. Moves look the same
from everywhere; they are followed once for each pair of nodes, turned to each heading,
and refused where the car, grown by `MARGIN`, touches anything on the way. As in the paper
(van de Panne, Fiume and Vranesic, 1990, section 6), states that collide are removed; of
the corners around the end of a move, those removed are dropped if the others weigh
enough. Values start large but finite, and are improved layer by layer (Gauss and Seidel).

A move that ends at rest may end the motion: `offence` says what its exact pose costs then,
nothing within the region that counts as parked, and steeply more outside. If it grew
slowly, cars would stop just beside the gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..errors import SettingError
from .build import Table
from .car import placed, travel
from .grid import Axis, Grid, around
from .street import Car, Street

MARGIN = 0.03  # m
UNKNOWN = 80.0  # s
LEAST = 0.6  # of the weight of corners that must be free
SUBSTEP = 1.0 / 16.0  # s between poses at which a move of the table is checked
EFFORT = np.array([0.1, 0.02])  # s per s and rad/s or m/s^2: rather straight on than not
NEAR = (0.14, math.radians(2.8))  # m, rad that cost nothing
ARRIVED = (0.15, math.radians(3.0))  # m, rad that count as parked
OUTSIDE = 10.0  # s, what it costs not to have parked
STEEP = (100.0, 170.0)  # s per m and per rad beyond
SHUFFLES = np.array([-0.8, -0.6, -0.4, -0.2, 0.2, 0.4, 0.6, 0.8])
"""Of the lowest speed."""


@dataclass(frozen=True)
class Size:
    """How fine a table is.

    Attributes:
        steerings: nodes of the steering angle, odd.
        speeds: nodes of the speed, odd.
        counts: nodes of x, y and heading.
        powers: of the growth of their distances from the destination on; 1 is even.
        step: s that a move takes.
        fastest: m/s.
        turned: rad to either side, of the headings.
    """

    steerings: int
    speeds: int
    counts: tuple[int, int, int]
    powers: tuple[float, float, float] = (1.2, 1.2, 1.2)
    step: float = 0.5
    fastest: float = 2.0
    turned: float = math.radians(57.0)


SIZES = {
    "small": Size(3, 3, (21, 13, 13), step=1.0, fastest=1.0),
    "middle": Size(5, 5, (32, 21, 22)),
    "fine": Size(5, 5, (40, 25, 26)),
}
"""About 13,000, at most 165,000 and at most 500,000 free states."""


@dataclass(frozen=True)
class Parking:
    """A controller that parks a car.

    Attributes:
        car: the car.
        street: where.
        size: how fine the table is.
        table: over steering, speed, and x, y, heading of the centre.
    """

    car: Car
    street: Street
    size: Size
    table: Table

    @property
    def free(self) -> int:
        """How many states do not collide."""
        return int(np.isfinite(self.table.cost).sum())


def pose_grid(car: Car, street: Street, size: Size) -> Grid:
    """Nodes for poses of the car's centre, denser towards where it parks.

    Args:
        car: its dimensions.
        street: its extent and the destination.
        size: how many nodes.
    """
    x, y, heading = street.destination
    side = 0.5 * car.width + MARGIN
    spans = (
        (street.low - 0.7 * car.wheelbase, street.high + 0.2 * car.wheelbase),
        (side + 1e-3, street.width - side - 1e-3),
        (heading - size.turned, heading + size.turned),
    )
    for name, value, (low, high) in zip("xy", (x, y), spans[:2], strict=True):
        if not low <= value <= high:
            raise SettingError(
                f"Destination's {name}", f"{value:.2f} m", f"from {low:.2f} to {high:.2f} m"
            )
    axes = [
        Axis(name, around(low, high, count, centre, power))
        for name, centre, (low, high), count, power in zip(
            ("x", "y", "heading"), (x, y, heading), spans, size.counts, size.powers, strict=True
        )
    ]
    return Grid.of(axes)


def layers(car: Car, size: Size) -> tuple[np.ndarray, np.ndarray]:
    """Nodes of steering and of speed.

    Args:
        car: its limits.
        size: how many.
    """
    found = []
    for count, most, change in (
        (size.steerings, car.steering, car.steering_rate * size.step),
        (size.speeds, min(car.speed, size.fastest), car.acceleration * size.step),
    ):
        half = count // 2
        found.append(np.arange(-half, half + 1) * min(most / half, change))
    return found[0], found[1]


@dataclass(frozen=True)
class Moves:
    """Moves between nodes of steering and speed.

    Most change steering and speed evenly to neighbouring nodes, in one step. From rest,
    a shuffle takes two: to a part of the lowest speed and back to rest, the wheels as
    they are. Without it a car could only stand at multiples of a step's way.

    Attributes:
        begin: (a,) node each begins at; steering times the number of speeds, plus speed.
        end: (a,) node each ends at.
        peak: (a,) m/s that a shuffle reaches, 0 for other moves.
        seconds: (a,) s it takes.
        controls: (a, 2) steering rate and acceleration at its beginning.
        paths: (a, s, 3) the centre's poses after each sub-step, seen from its first one.
    """

    begin: np.ndarray
    end: np.ndarray
    peak: np.ndarray
    seconds: np.ndarray
    controls: np.ndarray
    paths: np.ndarray

    @property
    def prices(self) -> np.ndarray:
        """(a,) s that moves cost."""
        return self.seconds * (1.0 + np.abs(self.controls) @ EFFORT)


def moves(car: Car, size: Size) -> Moves:
    """All moves of a table.

    Args:
        car: its wheelbase and limits.
        size: the nodes.
    """
    steering, speed = layers(car, size)
    nodes = np.array([(a, b) for a in steering for b in speed])
    index = np.array(list(np.ndindex(len(steering), len(speed))))
    near = (np.abs(index[:, None] - index) <= 1).all(axis=2)
    rest = nodes[:, 1] == 0.0
    near &= ~np.diag(rest)
    begin, end = np.nonzero(near)
    half = math.ceil(0.5 * size.step / SUBSTEP)
    even = travel(car, nodes[begin], nodes[end], size.step, 2 * half)[:, 1:]
    stands = np.repeat(np.flatnonzero(rest), len(SHUFFLES))
    peak = np.tile(SHUFFLES, int(rest.sum())) * speed[len(speed) // 2 + 1]
    still = nodes[stands]
    moving = still + np.stack([0.0 * peak, peak], axis=1)
    first = travel(car, still, moving, size.step, half)[:, 1:]
    second = travel(car, moving, still, size.step, half)[:, 1:]
    paths = np.concatenate([even, np.hstack([first, placed(first[:, -1:], second)])])
    seconds = np.repeat([size.step, 2.0 * size.step], [len(begin), len(stands)])
    rates = (nodes[end] - nodes[begin]) / size.step
    begins = np.stack([0.0 * peak, peak / size.step], axis=1)
    return Moves(
        np.concatenate([begin, stands]), np.concatenate([end, stands]),
        np.concatenate([0.0 * rates[:, 0], peak]), seconds, np.concatenate([rates, begins]),
        car.centre(placed(car.reference(np.zeros(3)), paths)),
    )


def offence(street: Street, poses: np.ndarray, steering: np.ndarray | float) -> np.ndarray:
    """s, what it costs to end at rest in a pose; up to `UNKNOWN`.

    Args:
        street: the destination.
        poses: (..., 3) of centres.
        steering: rad, to be straightened; shapes are broadcast.
    """
    off = poses - street.destination
    beside = np.maximum(np.hypot(off[..., 0], off[..., 1]) - NEAR[0], 0.0)
    askew = np.maximum(np.abs(off[..., 2]) - NEAR[1], 0.0)
    outside = OUTSIDE * ((beside > 0.0) | (askew > 0.0))
    return np.minimum(np.abs(steering) + outside + STEEP[0] * beside + STEEP[1] * askew, UNKNOWN)


def bounds(
    street: Street, size: Size, poses: np.ndarray, steering: np.ndarray | float
) -> tuple[np.ndarray, np.ndarray]:
    """s between which the cost from rest in a pose lies, whatever nodes around it say.

    Nodes where a car may stay lie beside others where it may not: who stands outside must
    at least shuffle.

    Args:
        street: the destination.
        size: the step.
        poses: (m, 3) of centres.
        steering: rad, (m,) or one.
    """
    most = offence(street, poses, steering).astype(np.float32)
    return np.where(most < OUTSIDE, np.float32(0.0), np.float32(2.0 * size.step)), most
