# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tracks of a car from where it drives and how it is steered. Numpy only.

Wheels roll without slipping: a wheel turns by the way of its own hub over its radius. Front
wheels are turned so that all axles point at one centre (Ackermann). The body is a damped
spring on its wheels: it leans out of turns, squats when it speeds up, dives when it brakes.

Bones, all along the car but for the steering wheel's, which points along its column: `root` is
on the ground between the axles, `body` at the roll centre, `knuckle.L` carries a front wheel and
is steered, `front_wheel.L` and `rear_wheel.L` are at their hubs. Of a vehicle whose axles are whole
there are `front_axle` and `rear_axle` besides, and `turntable`, on which the front one turns.

Source: Gillespie, Fundamentals of Vehicle Dynamics (1992), ch. 6 (steering, 6.2) and 1 and 7:
passenger cars lean by 3 to 7 degrees at 1 g, and bounce at 1 to 1.5 Hz.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...solvers.clock import Clock
from ...solvers.control.car import ackermann
from ...solvers.control.street import Car
from ...solvers.rotations import about_x, about_y, about_z, dot, multiply, rotate
from .rows import amount, angle
from .signals import Amount
from .skateboarder import rolled
from .tracks import ROOT, SIDES, JointTracks, Spin, side_role

BODY, KNUCKLE, STEERING_WHEEL = "body", "knuckle", "steering_wheel"
WHEELS = tuple(f"{end}_wheel.{side}" for end in ("front", "rear") for side in SIDES)
PARTS = (BODY, STEERING_WHEEL, *(f"{KNUCKLE}.{side}" for side in SIDES), *WHEELS)
"""Bones besides the root."""

TURNTABLE, AXLES = "turntable", ("front_axle", "rear_axle")
"""Bones of axles that are one object with both of their wheels; the turntable steers the front
one."""

G = 9.81  # m/s^2, what amounts for 1 g are told for
STANDS = 0.05  # m/s
_LEFT, _AHEAD = np.array((1.0, 0.0, 0.0)), np.array((0.0, -1.0, 0.0))


@dataclass(frozen=True)
class CarStyle:
    """How a car's body moves on its suspension, and how far its steering wheel turns."""

    body_roll: Amount = angle("Body Roll", 6, (0, 20), (-30, 30),
        "How far the body leans out of a turn, for 1 g", section="Suspension")
    body_pitch: Amount = angle("Body Pitch", 5, (0, 20), (-30, 30),
        "How far the body dives when it brakes, and squats when it speeds up, for 1 g")
    bounce: Amount = amount("Bounce", 1.4, 3.0, (0.3, 10.0),
        "How often the body swings on its springs in a second", unit="FREQUENCY")
    damping: Amount = amount("Damping", 0.3, 1.0, (0.05, 2.0),
        "How soon the body comes to rest: 1 without swinging over")
    steering_ratio: Amount = amount("Steering Ratio", 14.0, 20.0, (0.0, 30.0),
        "How far the steering wheel turns for an angle of the front wheels", section="Steering")


STYLES: dict[str, CarStyle] = {
    "comfortable": CarStyle(),
    "sporty": CarStyle(
        body_roll=np.radians(3.0), body_pitch=np.radians(2.5), bounce=2.0, damping=0.5,
        steering_ratio=11.0,
    ),
    "cartoon": CarStyle(
        body_roll=np.radians(22.0), body_pitch=np.radians(22.0), bounce=1.2, damping=0.15,
        steering_ratio=10.0,
    ),
}


@dataclass(frozen=True)
class CarFigure:
    """Rest pose and size of a car in character space: facing -Y, wheels on z = 0.

    Attributes:
        joints: bone -> (3,) m, where it begins. Hubs are as high as their wheels' radii.
        length: m, of a box around it whose middle is between the axles.
        width: m, of that box.
        column: (3,) unit axis that the steering wheel turns about, towards the driver.
        mass: kg.
        steering: rad, largest angle of the wheel that stands for both front wheels.
    """

    joints: Mapping[str, np.ndarray]
    length: float
    width: float
    column: np.ndarray
    mass: float
    steering: float = Car.steering

    @property
    def height(self) -> float:
        """What its size is, m: its length."""
        return self.length

    @property
    def wheelbase(self) -> float:
        """Between the axles, m."""
        return float(self.joints["rear_wheel.L"][1] - self.joints["front_wheel.L"][1])

    @property
    def track(self) -> float:
        """Between the front wheels, m."""
        return float(self.joints["front_wheel.L"][0] - self.joints["front_wheel.R"][0])

    def scaled(self, factor: float) -> CarFigure:
        """The same car at another size; its mass stays as it is.

        Args:
            factor: metres per metre, above 0.
        """
        joints = {role: np.asarray(place) * factor for role, place in self.joints.items()}
        return replace(
            self, joints=joints, length=self.length * factor, width=self.width * factor
        )

    def car(self) -> Car:
        """What its solvers know of it; speeds are a driver's, whatever its size."""
        return Car(
            self.length, self.width, self.wheelbase, self.track,
            float(self.joints["front_wheel.L"][2]), self.steering,
        )


def map_car(
    figure: CarFigure,
    style: CarStyle,
    clock: Clock,
    place: np.ndarray,
    turn: np.ndarray,
    steering: np.ndarray,
    metres: float = 1.0,
) -> JointTracks:
    """How all bones of a car are turned, and where its root is.

    Args:
        figure: the car.
        style: how its body moves.
        clock: when the rows are, evenly.
        place: (n, 3) m, on the ground between the axles, as seen from where the root rests.
        turn: (n, 4) how it is turned there.
        steering: (n,) rad of the wheel that stands for both front wheels, to the left.
        metres: per unit of the armature.
    """
    car, joints = figure.car(), {role: np.asarray(p) for role, p in figure.joints.items()}
    lateral, forward = accelerations(clock.time, place, turn)
    roll, pitch = (
        sprung(clock.time, gain / G * felt, style.bounce, style.damping)
        for gain, felt in ((style.body_roll, lateral), (style.body_pitch, forward))
    )
    turns = {ROOT: turn, BODY: multiply(about_x(-pitch), about_y(-roll))}
    spins = {}
    for side, own in zip(SIDES, ackermann(car, steering).T, strict=True):
        knuckle = side_role(KNUCKLE, side)
        turns[knuckle] = about_z(own)
        spins[knuckle] = Spin(own, np.array((0.0, 0.0, 1.0)))
        for wheel, heading in ((f"front_wheel.{side}", multiply(turn, turns[knuckle])),
                               (f"rear_wheel.{side}", turn)):
            hub = place + rotate(turn, joints[wheel])
            angle = rolled(hub, rotate(heading, _AHEAD), float(joints[wheel][2]))
            turns[wheel], spins[wheel] = about_x(angle), Spin(angle, np.array((1.0, 0.0, 0.0)))
    if TURNTABLE in joints:  # the angle of the wheel that stands for both is the axle's
        turns[TURNTABLE] = about_z(steering)
        spins[TURNTABLE] = Spin(steering, np.array((0.0, 0.0, 1.0)))
    for axle in AXLES:
        if axle in joints:
            steered = axle == AXLES[0] and TURNTABLE in joints
            heading = multiply(turn, turns[TURNTABLE]) if steered else turn
            hub = place + rotate(turn, joints[axle])
            angle = rolled(hub, rotate(heading, _AHEAD), float(joints[axle][2]))
            turns[axle], spins[axle] = about_x(angle), Spin(angle, np.array((1.0, 0.0, 0.0)))
    helm = np.asarray(style.steering_ratio) * steering
    turns[STEERING_WHEEL] = about_y(helm)
    spins[STEERING_WHEEL] = Spin(helm, np.array((0.0, 1.0, 0.0)))
    attributes = {"steering": steering, "body_roll": roll, "body_pitch": pitch}
    return JointTracks(clock, turns, {ROOT: place / metres}, spins, attributes=attributes)


def accelerations(
    time: np.ndarray, place: np.ndarray, turn: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(n,) and (n,) m/s^2, to the left and forwards, that whoever sits in the car feels.

    Args:
        time: (n,) s.
        place: (n, 3) m.
        turn: (n, 4).
    """
    if len(time) < 3:
        return np.zeros(len(time)), np.zeros(len(time))
    felt = np.gradient(np.gradient(place, time, axis=0), time, axis=0)
    if np.linalg.norm(place[1] - place[0]) < STANDS * (time[1] - time[0]):
        felt[0] = 0.0  # it is to start yet
    return dot(felt, rotate(turn, _LEFT)), dot(felt, rotate(turn, _AHEAD))


def sprung(
    time: np.ndarray, rest: np.ndarray, bounce: Amount, damping: Amount
) -> np.ndarray:
    """(n,) what follows a moving place of rest on a damped spring, from rest there on.

    x'' = w^2 (r - x) - 2 d w x' with w = 2 pi f, solved exactly for r that is constant over
    a step (at the middle of its ends).

    Args:
        time: (n,) s.
        rest: (n,) where it would rest.
        bounce: f, Hz, one or (n,).
        damping: d, 1 for the least without swinging over, one or (n,).
    """
    n = len(time)
    frequency, damping = (
        np.broadcast_to(np.asarray(value, float), (n,)) for value in (bounce, damping)
    )
    found, off, rate = np.array(rest, float), 0.0, 0.0
    for i in range(1, n):
        w, d = 2.0 * np.pi * frequency[i], damping[i]
        target = 0.5 * (rest[i - 1] + rest[i])
        off = found[i - 1] - target
        # exp(A h) of a second-order system by its roots, which may meet.
        h, root = time[i] - time[i - 1], w * np.sqrt(complex(d * d - 1.0))
        fade = np.exp(-d * w * h)
        c = np.cosh(root * h).real
        s = (np.sinh(root * h) / root).real if abs(root) * h > 1e-6 else h
        new = fade * (off * (c + d * w * s) + rate * s)
        rate = fade * (rate * (c - d * w * s) - w * w * off * s)
        found[i] = target + new
    return found
