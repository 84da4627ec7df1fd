# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of the stages by which a legged motion is solved.

Girard 1986, sections 3 and 4: steps from gaits (`planning`), the body's way and turning
from its supports (`travelling`), footholds from the body at midstance (`footing`),
heights of the girdles from supports and footholds (`girdles`), as low as legs need it
(`reaching`), feet from footholds (`swinging`), and all of that as arrays (`sampling`).

Each stage is a class that extends that of the stage before it: it knows all of what the
stages before it found, so that everything is planned ahead, and adds what it finds
itself. `Walk` is the last of them. The first stages are gone through again as long as
strides have to fit the ground (`strides`).

Where wishes conflict, contacts come first, then the length of the legs. What yielded is
in the problem list.
"""

from __future__ import annotations

from .footholds import TOO_HIGH
from .motion import GaitMotion
from .planning import Progress
from .sampling import Sampling
from .stairs import find_flights

__all__ = ["Progress", "Walk"]

REPLANS = 8  # rounds of shortening strides until no support has to be cut
ALIGNS = 5  # rounds in which steps are brought to where treads carry them


class Walk(Sampling):
    """All stages, in order; made from settings as `Planning` is."""

    def solve(self) -> GaitMotion:
        """Go through all stages.

        Returns:
            The motion.
        """
        self._take_stairs()
        for _ in range(ALIGNS if self.strides.approaches else 0):
            for stage in (self.plan, self.go, self.turn, self.stand):
                stage()
                self.tick()
            if not self._align():
                break
        for round_ in range(REPLANS + 1):
            self.problems = []
            for stage in (self.plan, self.go, self.turn, self.stand, self.carry):
                stage()
                self.tick()
            if round_ == REPLANS or not (self._shorten() or self._align()):
                break
        self.problems += self.strides.tell(self.high_steps, self._stride_rate)
        self.swing()
        self.tick()
        return self.motion()

    def _take_stairs(self) -> None:
        """Find stairs on the way, and let strides be as long as their treads."""
        if self.level:
            return
        way = self.strides.pace.way()
        flights = find_flights(self.ground, self.path, float(way.phase(self.end)), self.hip)
        self.strides.on_stairs = bool(flights)
        if flights and self.settings.stairs:
            self.plan()
            self.strides.take_stairs(flights, self._stride_rate)

    def _align(self) -> bool:
        """Fit strides ahead of stairs; whether there was anything to do."""
        return self.strides.align(
            self.asked_places, self.ground, self.settings.steepest, self._stride_rate
        )

    def _shorten(self) -> bool:
        """Fit strides to legs and high steps; whether there was anything to do."""
        if self.level:  # there it is bends that are too sharp for the speed, which are told of
            return False
        slower = self.strides.take_time(self.high_steps, self._stride_rate)
        lost = self.left_out | self.beyond
        shorter = self.strides.shorten(
            self.steps, self.planned, (self.short | lost) & ~self.stands, lost,
            self.holds.state == TOO_HIGH,
        )
        return shorter or slower
