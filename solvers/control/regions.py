# SPDX-License-Identifier: GPL-3.0-or-later
"""Regions of state space, and whose turn it is by them.

Controllers follow each other when their time is over, when their destination is reached, or by
breakpoints in state space: one is in force while the state is within a region, whatever comes
before and after it (van de Panne, Fiume and Vranesic, "Reusable Motion Synthesis Using State-Space
Controllers", 1990, section 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

HARDLY = 1e-9
"""Of a coordinate, or s: what is nearer to an edge is on it."""


class Named(Protocol):
    """A coordinate of a state; more of it is in `plans.Span`."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def low(self) -> float:
        """Least value."""
        ...

    @property
    def high(self) -> float:
        """Largest value."""
        ...

    @property
    def wraps(self) -> bool:
        """Whether it begins anew after its largest value."""
        ...


@dataclass(frozen=True)
class Region:
    """A box in state space.

    Attributes:
        ranges: for each coordinate the least and the largest value, infinite where any is
            within, and the period of one that wraps, 0 for the others. One that wraps is counted
            from the least value up, across its end where that is above the largest.
    """

    ranges: tuple[tuple[float, float, float], ...]

    @classmethod
    def of(cls, spans: Sequence[Named], limits: Mapping[str, tuple[float, float]]) -> Region:
        """A region by the names of coordinates.

        Args:
            spans: the state's coordinates.
            limits: coordinate -> least and largest value, SI units; any value of the others is
                within.
        """
        return cls(tuple(
            (*limits.get(x.name, (-math.inf, math.inf)), x.high - x.low if x.wraps else 0.0)
            for x in spans
        ))

    @property
    def limited(self) -> tuple[bool, ...]:
        """Which coordinates it limits."""
        return tuple(math.isfinite(low) or math.isfinite(high) for low, high, _ in self.ranges)

    def holds(self, state: np.ndarray) -> np.ndarray:
        """Whether states are within; (...) bool.

        Args:
            state: (..., d).
        """
        found = np.ones(np.shape(state)[:-1], bool)
        for k, (low, high, period) in enumerate(self.ranges):
            x = np.asarray(state)[..., k]
            if not period:
                found &= (x >= low - HARDLY) & (x <= high + HARDLY)
            elif high - low < period - HARDLY:
                found &= (x - low + HARDLY) % period <= (high - low) % period + 2.0 * HARDLY
        return found


class Line(Protocol):
    """A line of a script, as far as turns go."""

    @property
    def seconds(self) -> float:
        """For how long at the most."""
        ...

    @property
    def until_reached(self) -> bool:
        """Whether it ends where the destination is reached."""
        ...

    @property
    def region(self) -> Region | None:
        """Where it ends, or where it is in force."""
        ...

    @property
    def whenever(self) -> bool:
        """Whether it is in force whenever the state is within the region, and has no turn."""
        ...


class Turns:
    """Whose turn it is.

    Lines have their turns one after the other. One that is in force `whenever` the state is in
    its region takes the place of the line whose turn it is, whose time goes on meanwhile.

    Args:
        script: the lines.
    """

    def __init__(self, script: Sequence[Line]) -> None:
        self.script = script
        self.order = [k for k, line in enumerate(script) if not line.whenever]
        self.breaks = {
            k: line.region for k, line in enumerate(script)
            if line.whenever and line.region is not None
        }
        self.place, self.began = 0, 0.0
        self.ended = math.inf if self.order else 0.0
        self.reached: list[tuple[float, int]] = []
        self.entered: list[tuple[float, int]] = []
        self.last = -1

    def now(
        self, time: float, state: np.ndarray, there: Callable[[int], bool], breaks: bool = True
    ) -> int:
        """Number of the line in force; that of lines where nobody is.

        Args:
            time: s, not before that of the last call.
            state: (d,).
            there: whether a line's destination is reached in this state.
            breaks: whether a line may take the place of another now.
        """
        while self.place < len(self.order):
            number = self.order[self.place]
            line = self.script[number]
            arrived = there(number)
            if arrived and all(n != number for _, n in self.reached):
                self.reached.append((time, number))
            within = line.region is not None and bool(line.region.holds(state))
            over = time - self.began >= line.seconds - HARDLY
            if not over and not within and not (arrived and line.until_reached):
                break
            if within and not over:
                self.entered.append((time, number))
            self.place, self.began = self.place + 1, time
            if self.place == len(self.order):
                self.ended = time
        turn = self.order[self.place] if self.place < len(self.order) else len(self.script)
        if breaks:
            found = next((k for k, region in self.breaks.items() if region.holds(state)), turn)
        else:
            found = self.last if self.last in self.breaks else turn
        if found in self.breaks and found != self.last:
            self.entered.append((time, found))
            if there(found):
                self.reached.append((time, found))
        self.last = found
        return found

    @property
    def left(self) -> float:
        """s that the line whose turn it is had from its beginning; infinite without one."""
        if self.place == len(self.order):
            return math.inf
        return self.script[self.order[self.place]].seconds
