# SPDX-License-Identifier: GPL-3.0-or-later
"""A car, and a street with a kerb, a wall and parked cars to park it in.

Coordinates: x along the street, the way the traffic on this side goes; y from the kerb at
0 to the wall on the other side; headings counterclockwise from +X.

How far a car is from a box is bounded from below by the widest gap between their
projections onto the four directions of their sides (separating axes: Gottschalk, Lin and
Manocha, "OBBTree", 1996). It is exact where a side faces a corner or a side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..errors import SettingError


@dataclass(frozen=True)
class Car:
    """A car that steers with its front wheels; its axles are as far from its ends.

    Attributes:
        length: m, of the body.
        width: m, of the body.
        wheelbase: m, between the axles.
        track: m, between the wheels of an axle.
        wheel_radius: m.
        steering: rad, largest angle of the wheel that stands for both front wheels.
        steering_rate: rad/s at the most.
        acceleration: m/s^2 at the most, of the reference point between the front wheels.
        speed: m/s at the most, of the reference point.
    """

    length: float = 4.2
    width: float = 1.8
    wheelbase: float = 2.5
    track: float = 1.5
    wheel_radius: float = 0.31
    steering: float = math.radians(35.0)
    steering_rate: float = 0.6
    acceleration: float = 2.0
    speed: float = 3.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (math.isfinite(value) and value > 0.0):
                raise SettingError(f"{name.replace('_', ' ').capitalize()} of the car", value,
                                   "above 0")
        if self.wheelbase >= self.length:
            raise SettingError("Wheelbase", self.wheelbase, f"less than the car's {self.length} m")
        if self.steering > math.radians(80.0):
            raise SettingError(
                "Steering", f"{math.degrees(self.steering):.0f} degrees", "at most 80 degrees"
            )

    def centre(self, poses: np.ndarray) -> np.ndarray:
        """Poses (..., 3) of the body's centre from those of the reference point.

        Args:
            poses: x, y, heading.
        """
        return self._along(poses, -0.5 * self.wheelbase)

    def reference(self, poses: np.ndarray) -> np.ndarray:
        """Poses (..., 3) of the point between the front wheels from those of the centre.

        Args:
            poses: x, y, heading.
        """
        return self._along(poses, 0.5 * self.wheelbase)

    @staticmethod
    def _along(poses: np.ndarray, by: float) -> np.ndarray:
        out = np.array(poses, float)
        out[..., 0] += by * np.cos(out[..., 2])
        out[..., 1] += by * np.sin(out[..., 2])
        return out


@dataclass(frozen=True)
class Street:
    """What a car must not touch, and where it is to stand.

    Attributes:
        destination: (3,) x, y, heading of the parked car's centre.
        boxes: (n, 5) x, y, heading, length, width of what stands in the street.
        width: m, from the kerb to the wall on the other side.
        low: x in m, where the stretch begins in which the reference point stays.
        high: x in m, where it ends.
    """

    destination: np.ndarray
    boxes: np.ndarray = field(default_factory=lambda: np.zeros((0, 5)))
    width: float = 7.0
    low: float = -10.0
    high: float = 10.0

    def __post_init__(self) -> None:
        boxes = np.asarray(self.boxes, float).reshape(-1, 5)
        if not (np.isfinite(boxes).all() and (boxes[:, 3:] > 0.0).all()):
            raise SettingError("Obstacles", boxes.tolist(), "boxes with a length and a width")
        object.__setattr__(self, "boxes", boxes)
        object.__setattr__(self, "destination", np.asarray(self.destination, float))

    def clearance(self, car: Car, x: np.ndarray, y: np.ndarray, heading: np.ndarray) -> np.ndarray:
        """m, by which cars are clear of everything at least; below 0 where they touch.

        Args:
            car: its body.
            x: m, of centres; shapes are broadcast.
            y: m, of centres.
            heading: rad.
        """
        c, s = np.cos(heading), np.sin(heading)
        half, side = 0.5 * car.length, 0.5 * car.width
        reach = half * np.abs(s) + side * np.abs(c)
        found = np.minimum(y, self.width - y) - reach
        for bx, by, angle, length, width in self.boxes:
            ux, uy = math.cos(angle), math.sin(angle)
            along, across = np.abs(c * ux + s * uy), np.abs(s * ux - c * uy)
            dx, dy = x - bx, y - by
            gap = np.abs(dx * ux + dy * uy) - (0.5 * length + half * along + side * across)
            for offset, extent in (
                (dy * ux - dx * uy, 0.5 * width + half * across + side * along),
                (dx * c + dy * s, half + 0.5 * (length * along + width * across)),
                (dy * c - dx * s, side + 0.5 * (length * across + width * along)),
            ):
                gap = np.maximum(gap, np.abs(offset) - extent)
            found = np.minimum(found, gap)
        return found


def parallel(car: Car, gap: float = 6.5, width: float = 7.0, kerb: float = 0.2) -> Street:
    """A gap between two parked cars at the kerb, its middle at x = 0.

    Args:
        car: that is to park; the parked ones are of the same size.
        gap: m, between the parked cars.
        width: m, of the street.
        kerb: m, from the kerb to the parked cars, and to the car that is to park.

    Returns:
        The street, 20 m long.
    """
    if not gap > car.length:
        raise SettingError("Gap", f"{gap:.2f} m", f"longer than the car's {car.length:.2f} m")
    if not kerb > 0.0:
        raise SettingError("Distance to the kerb", f"{kerb:.2f} m", "above 0 m")
    if not width > 2.0 * car.width + kerb:
        raise SettingError(
            "Width of the street", f"{width:.2f} m", f"above {2.0 * car.width + kerb:.2f} m, "
            "for two cars side by side",
        )
    y, x = kerb + 0.5 * car.width, 0.5 * (gap + car.length)
    boxes = [[at, y, 0.0, car.length, car.width] for at in (-x, x)]
    return Street(np.array([0.0, y, 0.0]), np.array(boxes), width)


MARGIN_OF_KERB = 0.2  # m, from the kerb to who parks there alone
BESIDE = 1.0  # m from the kerb within which who stands along the street is parked
ROOM = 0.6  # m, longer than the car, that a gap has at least


def berth(car: Car, street: Street) -> np.ndarray | None:
    """Where to park: the middle of the widest gap between those who are parked at the kerb.

    Args:
        car: that is to park.
        street: its boxes, its extent; the destination does not count.

    Returns:
        (3,) x, y, heading of the centre; None where there is no gap long enough.
    """
    boxes = street.boxes
    along, across = np.abs(np.cos(boxes[:, 2])), np.abs(np.sin(boxes[:, 2]))
    half = 0.5 * (boxes[:, 3] * along + boxes[:, 4] * across)
    side = boxes[:, 1] - 0.5 * (boxes[:, 3] * across + boxes[:, 4] * along)
    parked = (side < BESIDE) & (side > 0.5 * MARGIN_OF_KERB)
    ends = np.stack((boxes[:, 0] - half, boxes[:, 0] + half), axis=1)[parked]
    kerb = float(np.median(side[parked])) if parked.any() else MARGIN_OF_KERB
    order = np.argsort(ends[:, 0])
    ends = ends[order]
    starts = np.concatenate(([street.low], np.maximum.accumulate(ends[:, 1])))
    stops = np.concatenate((ends[:, 0], [street.high]))
    gaps = stops - starts
    # Between two parked cars rather than before or behind all of them.
    inner = np.arange(len(gaps)) % len(ends) != 0 if len(ends) > 1 else np.zeros(len(gaps), bool)
    for some in (inner, ~inner):
        wide = np.where(some, gaps, -np.inf)
        k = int(np.argmax(wide))
        if wide[k] >= car.length + ROOM:
            y = max(kerb, MARGIN_OF_KERB) + 0.5 * car.width
            return np.array([0.5 * (starts[k] + stops[k]), y, 0.0])
    return None
