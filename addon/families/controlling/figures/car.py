# SPDX-License-Identifier: GPL-3.0-or-later
"""A car among parked cars: van de Panne, Fiume and Vranesic (1990), section 6.

Its state is where the middle between its axles is in its street (`scene.streets`), its heading,
its steering angle, and the speed of the point between its front wheels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .....solvers import affine, rotations
from .....solvers.control.car import Trip
from .....solvers.control.driving import LONGEST, drive, halted
from .....solvers.control.parking import SIZES, Parking, Size
from .....solvers.control.parking_build import build
from .....solvers.control.plans import Plan, Span
from .....solvers.control.regions import Turns
from .....solvers.control.street import Car, Street, berth
from .....solvers.errors import SettingError
from .....solvers.motion import Problem
from ....errors import UserError
from ....mapping.car import CarFigure, CarStyle, map_car
from ....placement import world_matrix
from ....rigs import cars
from ....scene.streets import read_boxes, read_lane
from ....scene.timing import frame_range
from ...base import sampled_style
from .base import MachineFigure, Ran, Stretch

PER_FRAME = 2  # rows that the suspension is told for
TURNS = ("steering rate", "acceleration")
NAMES = {"middle": "Park", "fine": "Park, Fine", "small": "Park, Small"}
"""Size of the table -> the controller of the library that has it."""

WITHIN = math.radians(57.0)  # of the destination's heading, to either side
COARSE = 4  # nodes of the steering angle below which steps are long and slow
LOOK = 1.0 / 48.0  # s, how often it is looked whether another line takes over
QUICK = 40_000  # states up to which a table is built in a moment


@dataclass(frozen=True)
class CarBody:
    """A car in its street.

    Attributes:
        figure: the car, m.
        street: what it must not touch; its destination is that of a gap in it, or no number.
        start: (3,) x, y, heading in which its root rests.
        frame: (4, 4) from where its root rests to the street, m.
        metres: per unit of its armature.
        style: how its body moves.
    """

    figure: CarFigure
    street: Street
    start: np.ndarray
    frame: np.ndarray
    metres: float
    style: CarStyle


class CarFigureKind(MachineFigure):
    """Cars."""

    label = "Car"

    def body(self, context, motion, actor, numbers):
        settings, armature, unit = motion.poise_motion.control, actor.joints, numbers.unit_scale
        world, metres = cars.root_frame(armature, unit)
        figure = cars.read_car(armature).scaled(metres)
        if settings.street is None:
            raise UserError(
                f"{armature.name} has no street: click Add Street, or choose a mesh as Street"
            )
        lane = read_lane(settings.street, unit)
        frame = affine.inverse(lane.matrix) @ world
        boxes = read_boxes(settings.obstacles, lane, armature, unit)
        # Who drives keeps the whole car within the street.
        over = 0.5 * figure.length + 0.7 * figure.wheelbase
        street = Street(
            np.full(3, np.nan), boxes, lane.width, lane.low + over,
            lane.high - 0.5 * figure.length - 0.2 * figure.wheelbase,
        )
        if not street.high > street.low:
            raise UserError(
                f"{settings.street.name} is {lane.high - lane.low:.1f} m long: a car of "
                f"{figure.length:.1f} m needs a longer street"
            )
        found = berth(figure.car(), street)
        if found is not None:
            street = replace(street, destination=found)
        start, end = frame_range(context.scene, motion)
        frames = start + np.arange((end - start) * PER_FRAME + 1) / PER_FRAME
        style = sampled_style(context, motion, "car", frames)
        return CarBody(figure, street, _place(frame), frame, metres, style)

    def pose(self, actor, body):
        armature = actor.joints
        bone = armature.pose.bones[cars.ROOT]
        rest = np.array(world_matrix(armature) @ bone.bone.matrix_local, dtype=float)
        now = np.array(world_matrix(armature) @ bone.matrix, dtype=float)
        # As seen from where the root rests, in units of the armature.
        moved = affine.inverse(rest) @ now
        moved[:3, 3] *= body.metres
        return np.array([*_place(body.frame @ moved), 0.0, 0.0])

    def built_of(self, body):
        street = replace(body.street, destination=np.zeros(3))
        return (body.figure.car(), street)

    def rest(self, body):
        return np.array([*body.start, 0.0, 0.0])

    def coordinates(self, body):
        return self._plan(body, "middle").coordinates

    def controls(self, body):
        return self._plan(body, "middle").controls

    def library(self, body):
        return tuple(self._plan(body, name) for name in NAMES)

    def _plan(self, body: CarBody, name: str) -> Plan:
        """A controller that parks in the gap of the street, or where the car rests."""
        size, car, street = SIZES[name], body.figure.car(), body.street
        place = street.destination if np.isfinite(street.destination).all() else body.start
        steering, speed = car.steering, min(car.speed, size.fastest)
        x, y, heading = size.counts
        # As fine in a longer street.
        usual = 20.0 + 0.9 * car.wheelbase
        x = max(x, round(x * (street.high - street.low + 0.9 * car.wheelbase) / usual))
        spans = (
            Span("x", street.low, street.high, x, "m"),
            Span("y", 0.0, street.width, y, "m"),
            Span("heading", place[2] - WITHIN, place[2] + WITHIN, heading),
            Span("steering", -steering, steering, size.steerings),
            Span("speed", -speed, speed, size.speeds, "m/s"),
        )
        rates = (
            Span(TURNS[0], -car.steering_rate, car.steering_rate, 3, "rad/s"),
            Span(TURNS[1], -car.acceleration, car.acceleration, 3, "m/s^2"),
        )
        at = dict(zip(("x", "y", "heading", "steering", "speed"), (*place, 0.0, 0.0), strict=True))
        return Plan(NAMES[name], spans, rates, ({k: float(v) for k, v in at.items()},))

    def build(self, body, plan, told):
        car, street, size = _problem(body, plan)
        return build(car, street, size, told).table

    def quick(self, body, plan):
        return plan.nodes <= QUICK

    def run(self, body, start, script, clock, slew, told, struck=None):
        state, end = np.array(start, float), float(clock.time[-1])
        state[2] = _wrapped(state[2])
        way = _Way(body, script, state, told)
        while way.time < end - 1e-9:
            way.go_on(end)
        states, active = way.at(clock.time)
        last = way.legs[-1]
        problems = way.problems
        if last.parked is not None and last.over > end + 1e-6:
            problems.append(Problem(
                "STILL_DRIVING",
                f"The car is still on its way at the last frame: it has parked after "
                f"{last.over:.1f} s", "WARNING", time=end,
                remedy="Let the motion end later (Range)",
            ))
        controls = np.zeros((len(states), 2))
        if len(states) > 1:
            controls = np.gradient(states[:, 3:], clock.time, axis=0)
        ends = [*(leg.begin for leg in way.legs[1:]), np.inf]
        reached = tuple(
            (leg.parked, leg.line) for leg, until in zip(way.legs, ends, strict=True)
            if leg.parked is not None and leg.parked <= until + 1e-9
        )
        return Ran(
            states, controls, active, reached, min(way.turns.ended, end), tuple(problems),
            tuple(way.turns.entered),
        )

    def tracks(self, body, ran, clock):
        states, n = ran.states, len(ran.states)
        poses = np.tile(np.eye(4), (n, 1, 1))
        poses[:, :3, :3] = rotations.to_matrix(rotations.about_z(states[:, 2] + 0.5 * math.pi))
        poses[:, :2, 3] = states[:, :2]
        poses[:, 2, 3] = body.frame[2, 3]
        seen = affine.inverse(body.frame) @ poses
        turn = rotations.continuous(rotations.from_matrix(seen[:, :3, :3]))
        style, rows = body.style, np.minimum(np.arange(n), PER_FRAME * (clock.count - 1))
        told = {
            name: value[rows] for name, value in vars(style).items()
            if isinstance(value, np.ndarray) and value.shape
        }
        return map_car(
            body.figure, replace(style, **told), clock, seen[:, :3, 3], turn, states[:, 3],
            body.metres,
        )


@dataclass(frozen=True)
class _Leg:
    """What one line does, until another one takes over.

    Attributes:
        line: its number; that of lines where nobody drives.
        begin: s at which it takes over.
        trip: what it does.
        since: s at which the trip began.
        parked: s at which it has parked, or None.
        said: why it does not, else "".
        parking: its controller.
    """

    line: int
    begin: float
    trip: Trip
    since: float
    parked: float | None = None
    said: str = ""
    parking: Parking | None = None

    @property
    def over(self) -> float:
        """s at which its trip is over."""
        return self.since + float(self.trip.times[-1])

    def states(self, times: np.ndarray) -> np.ndarray:
        """(f, 5) of the car's centre.

        Args:
            times: (f,) s.
        """
        found = self.trip.states(times - self.since)
        return np.concatenate([self.trip.car.centre(found[:, :3]), found[:, 3:]], axis=1)


class _Way:
    """Lines one after the other, each from where the one before has brought the car."""

    def __init__(self, body: CarBody, script: Sequence[Stretch], state: np.ndarray, told) -> None:
        self.body, self.script, self.told = body, script, told
        self.turns = Turns(script)
        self.legs: list[_Leg] = []
        self.problems: list[Problem] = []
        self.time = 0.0
        car = body.figure.car()
        stands = np.concatenate([car.reference(state[:3]), state[3:]])
        first = _Leg(len(script), 0.0, Trip(car, np.zeros(1), stands[None]), 0.0)
        self._take_over(self.turns.now(0.0, state, lambda number: False), first)

    def _take_over(self, number: int, before: _Leg) -> None:
        """Let another line drive, from where the one before has come to."""
        time = self.time
        if number == len(self.script):
            trip = before.trip
            if before.parking is not None:
                trip = halted(before.parking, trip, time - before.since)
            self.legs.append(_Leg(number, time, trip, before.since, parking=before.parking))
            return
        line = self.script[number]
        car, street, size = _problem(self.body, line.plan)
        parking = Parking(car, street, size, line.table)
        longest = LONGEST
        if not line.whenever:
            longest = min(LONGEST, self.turns.began + line.seconds - time)

        def leg(since: float) -> _Leg:
            start = before.states(np.array([since]))[0]
            start = np.concatenate([car.reference(start[:3]), start[3:]])
            share = number / len(self.script)
            done = drive(
                parking, start[None], longest,
                progress=lambda x: self.told(share + x / len(self.script)),
            )[0]
            parked = None if done.parked is None else since + done.parked
            return _Leg(number, time, done.trip, since, parked, done.said, parking)

        found = leg(time)
        speed = found.trip.knots[0, 4]
        if speed and found.parked is None and len(found.trip.times) <= 2 and before.parking:
            # No way on from the middle of a move: it goes on to its end, and the car stops first.
            trip = halted(before.parking, before.trip, time - before.since)
            stops = _Leg(len(self.script), time, trip, before.since, parking=before.parking)
            self.legs.append(stops)
            before = stops
            found = leg(stops.over)
        self.legs.append(replace(found, begin=found.since))
        if found.parked is None:
            self.problems.append(Problem(
                "NOT_PARKED", found.said, "WARNING", time=found.since,
                remedy="Let it start elsewhere, give it more seconds, or build a finer "
                "controller",
            ))

    def go_on(self, end: float) -> None:
        """Until another line takes over, or the end.

        Args:
            end: s.
        """
        leg = self.legs[-1]
        edges = {leg.over, leg.parked or leg.over, end}
        if leg.line in self.turns.order:
            edges.add(self.turns.began + self.script[leg.line].seconds)
        grid = np.arange(self.time, end, LOOK)[1:]
        grid = np.unique([*grid, *(x for x in edges if self.time < x <= end)])
        dwell = leg.begin + (leg.parking.size.step if leg.parking else 0.0)
        for time, state in zip(grid.tolist(), leg.states(grid), strict=True):
            def there(number: int, time: float = time) -> bool:
                return number == leg.line and leg.parked is not None and time >= leg.over - 1e-9

            entered = len(self.turns.entered)
            number = self.turns.now(time, state, there, time >= dwell)
            self.time = time
            if number != leg.line:
                if len(self.turns.entered) > entered and leg.said and time < leg.over - 1e-9:
                    # It was called off: that it has not parked is as it was meant.
                    self.problems = [p for p in self.problems if p.time != leg.since]
                self._take_over(number, leg)
                return

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(f, 5) states of the car's centre, and (f,) numbers of the lines in force.

        Args:
            times: (f,) s.
        """
        states, active = np.empty((len(times), 5)), np.empty(len(times), int)
        for k, leg in enumerate(self.legs):
            ends = self.legs[k + 1].begin if k + 1 < len(self.legs) else np.inf
            rows = (times >= leg.begin - 1e-9) & (times < ends - 1e-9)
            states[rows], active[rows] = leg.states(times[rows]), leg.line
        return states, active


def _wrapped(angle: float) -> float:
    return float((angle + math.pi) % (2.0 * math.pi) - math.pi)


def _place(frame: np.ndarray) -> np.ndarray:
    """(3,) x, y, heading of what faces -Y in a frame."""
    return np.array([frame[0, 3], frame[1, 3], math.atan2(-frame[1, 1], -frame[0, 1])])


def _problem(body: CarBody, plan: Plan) -> tuple[Car, Street, Size]:
    """What a plan says, as the solver of parking takes it."""
    x, _y, heading, steering, speed = plan.coordinates
    rate, acceleration = plan.controls
    for span in (x, heading, steering, speed, rate, acceleration):
        if not span.low < span.high:
            raise SettingError(
                f"{span.name} of {plan.name}", f"from {span.low:g} to {span.high:g}",
                "from a least to a larger value",
            )
    for span in (steering, speed):
        if span.count < 3 or span.count % 2 == 0:
            raise SettingError(f"Steps of {span.name} of {plan.name}", span.count, "3, 5 or 7 ...")
    if min(span.count for span in plan.coordinates[:3]) < 4:
        raise SettingError(f"Steps of {plan.name}", "fewer than 4", "4 or more of x, y and heading")
    places = [place for place in plan.destinations if {"x", "y", "heading"} <= set(place)]
    if len(places) != 1 or len(plan.destinations) != 1:
        raise SettingError(
            f"Destination of {plan.name}", f"{len(plan.destinations)} places",
            "one place, with x, y and heading",
        )
    place = places[0]
    car = replace(
        body.figure.car(), steering_rate=rate.high, acceleration=acceleration.high,
        steering=steering.high,
    )
    at = np.array([place["x"], place["y"], _wrapped(place["heading"])])
    street = replace(
        body.street, destination=at, low=max(body.street.low, x.low),
        high=min(body.street.high, x.high),
    )
    coarse = steering.count < COARSE
    size = Size(
        steering.count, speed.count, tuple(span.count for span in plan.coordinates[:3]),
        (plan.power,) * 3, 1.0 if coarse else 0.5, speed.high,
        0.5 * (heading.high - heading.low),
    )
    return car, street, size
