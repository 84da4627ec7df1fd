# SPDX-License-Identifier: GPL-3.0-or-later
"""Strides that fit the ground: shorter than wanted where legs or treads ask for it.

Girard 1986, section 3.3: support = stroke / speed and period = support / duty factor.
A support that is cut alone, because a leg is too short for it, would leave fewer feet
on the ground than the gait has there; so whole strides are shortened around it
(`pace`). On stairs they are as long as treads, or several of them, and ahead of
stairs such that feet come down on treads by themselves (`stairs`). Over high steps
they come more slowly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..motion import Problem
from . import problems
from .footholds import Ground, can_stand, forward_left
from .high_steps import HighSteps
from .pace import Pace
from .stairs import Flight, off_the_best, treads_in_a_stride
from .steps import Steps

Rate = Callable[[np.ndarray], np.ndarray]  # strides a second at times

LEAST_SHARE = 0.75  # of strides that are left of them after a round, at least
MOST_SHARE = 1.15  # of those that are lengthened ahead of stairs, at most
SHORTEST, SHORT_OF_STEPS = 0.15, 0.6  # shares of the wanted strides, the latter at high steps
CLIMBS = 0.27  # sqrt(g / hip height): strides a second on stairs, 105 steps a minute of a person
STAND_OFF = 0.03  # hip heights that toes are better away from the next riser, which they swing over
TREAD_LOOKS = 24  # places on a tread at which it is asked whether it does
LEAST_APPROACH, MOST_APPROACH = 0.8, 3.0  # strides ahead of stairs that are made to match
LITTLE = 0.02  # of a support that may be cut without a shorter stride
LIFTS = 0.4  # g by which bodies are accelerated upwards over high steps
CREEP = 0.02  # speed below which a body hardly moves, as a multiple of sqrt(hip height g)
SHOWS = 0.01  # share of a stroke that is worth a line when it is cut off


@dataclass(frozen=True)
class Approach:
    """The way to a flight of stairs.

    Attributes:
        flight: the stairs.
        start: where strides begin to be made to match, m along the way.
        end: up to where, m.
        treads: how many a stride goes over.
        early: how much earlier its steps come for that, m.
        share: of the strides that are left there for that.
    """

    flight: Flight
    start: float
    end: float
    treads: int
    early: float = 0.0
    share: float = 1.0


@dataclass(frozen=True)
class AskedPlaces:
    """Where feet would be set down if the ground carried everywhere.

    Attributes:
        place: (m, 2) m.
        yaw: (m,) of the body at their midstances, rad.
        along: (m,) how far along the way they are, m.
        sole: (m, 2) how far heels and toes are from them, m.
    """

    place: np.ndarray
    yaw: np.ndarray
    along: np.ndarray
    sole: np.ndarray


class Strides:
    """Strides as long as the ground lets them be.

    Args:
        times: (k,) s.
        wanted: (k,) speeds that are wanted, m/s.
        hip: height of the hips, m.
        gravity: m/s^2.
    """

    def __init__(self, times: np.ndarray, wanted: np.ndarray, hip: float, gravity: float) -> None:
        self._times, self._wanted = times, wanted
        self._hip, self._gravity = hip, gravity
        self._end = float(times[-1])
        self.pace = Pace(times, wanted, 0.5 * hip)
        self.creep = CREEP * math.sqrt(gravity * hip)  # m/s; a body that is slower hardly moves
        self.on_stairs = False
        self.climbs = False  # stairs with strides that are made for them
        self.approaches: list[Approach] = []

    def take_stairs(self, flights: Sequence[Flight], rate: Rate) -> None:
        """Let strides be as long as treads are, or as several of them.

        Args:
            flights: the stairs on the way.
            rate: strides a second of the gait in force.
        """
        way = self.pace.way()
        tempo = math.sqrt(self._gravity / self._hip)
        before = 0.0
        for flight in flights:
            since, before = before, flight.end
            time = float(way.time(0.5 * (flight.start + flight.end)))
            often = float(rate(np.array(min(time, self._end))))
            stride = float(way.rate(time)) / max(often, 1e-9)
            if often <= 0.0 or stride <= 0.0:
                continue
            count = treads_in_a_stride(flight, stride, self._hip)
            share = count * flight.tread / stride
            if share >= 1.0:
                continue
            begin, finish = flight.start - 0.5 * flight.tread, flight.end + 0.5 * flight.tread
            self.climbs = True
            reach = min(begin - since, MOST_APPROACH * stride)
            if reach > LEAST_APPROACH * stride:
                self.approaches.append(Approach(flight, begin - reach, begin, count))
            self.pace.climb(begin - 0.5 * stride, finish + 0.5 * stride, CLIMBS * tempo / often)
            self.pace.shorten(
                np.array([begin]), np.array([finish]), np.array([share]), np.array([SHORTEST])
            )

    def align(self, asked: AskedPlaces, ground: Ground, steepest: float, rate: Rate) -> bool:
        """Fit strides ahead of stairs, so that feet come down on treads by themselves.

        Shares f of strides d on the way w make w / d (1 / f - 1) strides more of it, and each
        step after it that much earlier.

        Args:
            asked: where feet come down.
            ground: what they come down on.
            steepest: slope on which feet stand at most, rad.
            rate: strides a second of the gait in force.

        Returns:
            Whether there was anything to do.
        """
        changed = False
        for k, approach in enumerate(self.approaches):
            flight, way = approach.flight, self.pace.way()
            off = self._off_treads(flight, asked, ground, steepest)
            if off == 0.0:
                continue
            # Never by the rest of a tread to the other side of what was found before: where both
            # are as far, that would go back and forth for ever.
            early = approach.early + off
            time = min(float(way.time(0.5 * (approach.start + approach.end))), self._end)
            here = float(way.rate(time)) / max(float(rate(np.array(time))), 1e-9)
            now = float(np.interp(time, self._times, self.pace.shares()))
            usual = here * approach.share / max(now, 1e-9)
            more = early / (approach.treads * flight.tread) * usual
            share = 1.0 / max(1.0 + more / (approach.end - approach.start), 1e-3)
            share = min(max(share, LEAST_SHARE), MOST_SHARE)
            self.pace.align(approach.start, approach.end, share)
            self.approaches[k] = replace(approach, early=early, share=share)
            changed = True
        return changed

    def _off_treads(
        self, flight: Flight, asked: AskedPlaces, ground: Ground, steepest: float
    ) -> float:
        """How much earlier feet would have to come down to stand best on a flight of stairs, m."""
        on = (asked.along > flight.start) & (asked.along < flight.end)
        if not on.any():
            return 0.0
        yaw = asked.yaw[on]
        forward, _ = forward_left(yaw)
        earlier = flight.tread * np.arange(TREAD_LOOKS)[:, None, None] / TREAD_LOOKS
        shifted = asked.place[on] - earlier * forward
        shape = shifted.shape[:2]
        good = can_stand(
            shifted.reshape(-1, 2), np.tile(yaw, TREAD_LOOKS), ground, steepest,
            np.tile(asked.sole[on], (TREAD_LOOKS, 1)),
        )
        return off_the_best(flight.tread, good.reshape(shape), STAND_OFF * self._hip)

    def shorten(
        self,
        steps: Steps,
        planned: Steps,
        cut: np.ndarray,
        lost: np.ndarray,
        too_high: np.ndarray,
    ) -> bool:
        """Shorten the strides where legs are too short for them.

        Girard 1986, section 3.3; see the module.

        Args:
            steps: what is left of the supports.
            planned: the same steps as they were planned.
            cut: (m,) bool: those of which something was cut.
            lost: (m,) bool: those of which nothing would be left.
            too_high: (m,) bool: those that are higher than legs are to step.

        Returns:
            Whether there was anything to shorten.
        """
        seen = (steps.on < self._end) & (steps.off > 0.0)
        seen &= np.isfinite(planned.on) & np.isfinite(planned.off)
        which = np.flatnonzero(seen & cut)
        whole = planned.off[which] - planned.on[which]
        middle = 0.5 * (planned.on[which] + planned.off[which])
        left = np.minimum(middle - steps.on[which], steps.off[which] - middle)
        share = np.clip(2.0 * left / np.maximum(whole, 1e-9), LEAST_SHARE, 1.0)
        share[lost[which]] = LEAST_SHARE
        some = share < 1.0 - LITTLE
        if not some.any():
            return False
        which, share = which[some], share[some]
        # A single step that is too high does not become lower by shorter strides.
        high = too_high & (not self.on_stairs)
        high[:-1] |= high[1:] & (steps.leg[1:] == steps.leg[:-1])
        least = np.where(high[which], SHORT_OF_STEPS, SHORTEST)
        way = self.pace.way()
        return self.pace.shorten(
            way.phase(planned.on[which]), way.phase(planned.off[which]), share, least
        )

    def take_time(self, high_steps: Sequence[HighSteps], rate: Rate) -> bool:
        """Go more slowly over high steps, so that bodies are not thrown up and down.

        From one midstance to the next, half a stride later, the body rises by d. With minimum
        jerk it is accelerated by 10 / sqrt(3) d / t^2 at most.

        Args:
            high_steps: those of each girdle.
            rate: strides a second of the gait in force.

        Returns:
            Whether there was any that it goes over more slowly than before.
        """
        spans = np.concatenate([high.spans for high in high_steps])
        rise = np.concatenate([high.rise for high in high_steps])
        seen = (spans[:, 0] < self._end) & (spans[:, 1] > 0.0)
        if not seen.any():
            return False
        spans, rise = spans[seen], rise[seen]
        middle, around = spans.mean(axis=1), 0.5 * (spans[:, 1] - spans[:, 0])
        wanted = rate(middle) / np.interp(middle, self._times, self.pace.hurries())
        lasts = np.sqrt(10.0 / math.sqrt(3.0) * rise / (LIFTS * self._gravity))
        way = self.pace.way()
        return self.pace.take_time(
            way.phase(spans[:, 0] - around), way.phase(spans[:, 1] + around),
            0.5 / (lasts * np.maximum(wanted, 1e-9)),
        )

    def tell(self, high_steps: Sequence[HighSteps], rate: Rate) -> list[Problem]:
        """Strides that are shorter than wanted, and those that come more slowly over high steps.

        Args:
            high_steps: those of each girdle.
            rate: strides a second of the gait in force.

        Returns:
            One of each at most.
        """
        pace, times, speeds = self.pace, self._times, self.pace.speeds()
        share, hurry, waits = pace.shares(), pace.hurries(), pace.waits()
        inside = self._wanted > self.creep
        told = []
        over = np.flatnonzero((share < 1.0 - SHOWS) & inside)
        if len(over):
            k = int(over[np.argmin(share[over])])
            told.append(problems.strides_shortened(
                float(times[over[0]]), float(times[over[-1]]), float(times[k]),
                float(speeds[k]) / max(float(rate(times[k])), 1e-9), float(share[k]),
                float(hurry[k]), float(speeds[k]), float(self._wanted[k]), self.climbs,
            ))
        over = np.flatnonzero((waits < 1.0 - SHOWS) & inside)
        rise = max(float(high.rise.max(initial=0.0)) for high in high_steps)
        if len(over) and rise > 0.0:
            k = int(over[np.argmin(waits[over])])
            told.append(problems.slowed_by_steps(
                float(times[over[0]]), float(times[over[-1]]), float(times[k]), rise,
                float(waits[k]),
            ))
        return told
