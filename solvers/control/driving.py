# SPDX-License-Identifier: GPL-3.0-or-later
"""Cars on their way to where they park, decision by decision, many at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .car import Trip, placed, travel
from .looking import PLACE, Driver
from .parking import Parking, layers, offence

LONGEST = 40.0  # s
PATIENCE = 5
"""How often a car may stand in a place before it costs more."""

TOGETHER = 128


@dataclass(frozen=True)
class Drive:
    """What became of a start.

    Attributes:
        trip: what the car did.
        parked: s after which it stood at the destination, or None.
        said: why it did not park, else "".
    """

    trip: Trip
    parked: float | None
    said: str


def drive(
    parking: Parking,
    starts: np.ndarray,
    longest: float = LONGEST,
    driver: Driver | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Drive]:
    """Let cars park, each on its own.

    Args:
        parking: the controller.
        starts: (m, 5) x, y, heading of the reference point, steering, speed.
        longest: s after which a car gives up.
        driver: who decides; None for the usual one.
        progress: told the share that is done; raises Cancelled to stop.

    Returns:
        One for each start.
    """
    starts = np.asarray(starts, float).reshape(-1, 5)
    driver = driver or Driver(parking)
    found: list[Drive] = []
    for begin in range(0, len(starts), TOGETHER):
        part = starts[begin : begin + TOGETHER]

        def told(share: float, begin: int = begin, count: int = len(part)) -> None:
            if progress is not None:
                progress((begin + share * count) / len(starts))

        cars = _Cars(driver, part)
        cars.drive(longest, told)
        found += [
            _finished(parking, rows, bool(at), text)
            for rows, at, text in zip(cars.knots, cars.parked, cars.said, strict=True)
        ]
    return found


def halted(parking: Parking, trip: Trip, time: float = math.inf) -> Trip:
    """A trip that is broken off, and ends at rest.

    The move that is on its way goes on to its end, from which every move leaves room to brake;
    then the car brakes as the table does, its wheels as they are.

    Args:
        parking: the controller.
        trip: what the car did.
        time: s of it, at which it is broken off.
    """
    car, size = parking.car, parking.size
    keep = min(int(np.searchsorted(trip.times, time - 1e-9)) + 1, len(trip.times))
    times, knots = trip.times[:keep], trip.knots[:keep]
    last = knots[-1]
    if last[4] and np.isfinite(last).all():
        speeds = layers(car, size)[1]
        seconds = abs(last[4]) / (speeds[speeds > 0.0].min() / size.step)
        still = last[3:] * [1.0, 0.0]
        moved = travel(car, last[None, 3:], still[None], seconds, 16)[:, -1]
        stood = np.concatenate([placed(last[None, :3], moved)[0], still])
        times, knots = np.append(times, times[-1] + seconds), np.concatenate([knots, stood[None]])
    return Trip(car, times, knots)


class _Cars:
    """Where cars are, how they came there, and what they plan."""

    def __init__(self, driver: Driver, starts: np.ndarray) -> None:
        car, m = driver.parking.car, len(starts)
        self.driver = driver
        self.state = np.concatenate([car.centre(starts[:, :3]), starts[:, 3:]], axis=1)
        self.knots = [[(0.0, row)] for row in self.state.copy()]
        self.said = [_refusal(driver, row) for row in self.state]
        self.parked = np.zeros(m, bool)
        self.going = np.array([not text for text in self.said])
        self.plans = np.full((m, max(driver.ahead), 2), -1.0)
        self.left = np.full(m, np.inf)
        self.stood = np.zeros((m, 0, 4))

    def drive(self, longest: float, progress: Callable[[float], None]) -> None:
        """Let all go on until they have parked, or for some time.

        Args:
            longest: s.
            progress: told the share that is done.
        """
        while True:
            clock = np.array([rows[-1][0] for rows in self.knots])
            resting = self.state[:, 4] == 0.0
            there = offence(self.driver.parking.street, self.state[:, :3], 0.0) <= 0.0
            self.parked |= self.going & resting & there & (clock < longest + 1e-9)
            self.going &= ~self.parked & (clock < longest - 1e-9)
            if not self.going.any():
                break
            progress(float(clock[self.going].min()) / longest)
            self._remember(resting)
            for group, depth in zip((~resting, resting), self.driver.ahead, strict=True):
                who = np.flatnonzero(self.going & group)
                if len(who):
                    self._go_on(who, depth)

    def _remember(self, resting: np.ndarray) -> None:
        """Places where cars stand, dearer the more often they have."""
        near = np.abs(self.state[:, None, :3] - self.stood[..., :3]) < PLACE
        more = np.maximum(near.all(axis=2).sum(axis=1) - PATIENCE, 0.0)
        here = np.concatenate([self.state[:, :3], more[:, None]], axis=1)
        here[~resting] = [np.inf, np.inf, np.inf, 0.0]
        self.stood = np.concatenate([self.stood, here[:, None]], axis=1)

    def _go_on(self, who: np.ndarray, depth: int) -> None:
        """One decision of some cars."""
        driver, step = self.driver, self.driver.parking.size.step
        self.plans[who], self.left[who] = driver.decide(
            self.state[who], depth, self.plans[who], self.left[who], self.stood[who]
        )
        for j in who[self.plans[who, 0, 0] < 0.0]:
            self.said[j], self.going[j] = "The car has no room to move where it stands", False
        who = who[self.going[who]]
        node, peak = self.plans[who, 0].T
        begin, end = self.state[who, 3:], driver.nodes[node.astype(int)]
        middle = np.where(peak[:, None] == 0.0, end, begin + [0.0, 1.0] * peak[:, None])
        self.left[who] -= driver.price(begin, middle, peak)
        self.plans[who] = np.roll(self.plans[who], -1, axis=1)
        self.plans[who, -1] = -1.0
        for some, to in ((np.ones(len(who), bool), middle), (peak != 0.0, end)):
            which = who[some]
            at = self.state[which]
            moved = driver.follow(at[:, :3], at[:, 3:], to[some], step, step)
            self.state[which] = np.concatenate([moved[:, -1], to[some]], axis=1)
            for j in which:
                self.knots[j].append((self.knots[j][-1][0] + step, self.state[j].copy()))


def _refusal(driver: Driver, state: np.ndarray) -> str:
    car = driver.parking.car
    if not np.isfinite(state).all():
        return "The start is not a number"
    if abs(state[3]) > car.steering + 1e-9 or abs(state[4]) > car.speed + 1e-9:
        return "The car starts steered further, or faster, than it can be"
    if not driver.poses.corners(state[None, :3])[2][0]:
        return "The car starts outside the controller's domain"
    if driver.clearance(state[:3]) <= 0.0:
        return "The car touches something where it starts"
    return ""


def _finished(parking: Parking, knots: list, parked: bool, said: str) -> Drive:
    car = parking.car
    times, rows = np.array([time for time, _ in knots]), np.array([row for _, row in knots])
    end = float(times[-1])
    states = np.concatenate([car.reference(rows[:, :3]), rows[:, 3:]], axis=1)
    if parked and states[-1, 3]:
        times = np.append(times, end + abs(states[-1, 3]) / car.steering_rate)
        states = np.concatenate([states, states[-1:] * [1.0, 1.0, 1.0, 0.0, 1.0]])
    trip = halted(parking, Trip(car, times, states))
    if not parked and not said:
        off = car.centre(trip.knots[-1, :3]) - parking.street.destination
        said = (
            f"The car did not park within {end:.0f} s: it is {np.hypot(*off[:2]):.2f} m "
            f"and {abs(math.degrees(off[2])):.0f} degrees off"
        )
    return Drive(trip, end if parked else None, said)
