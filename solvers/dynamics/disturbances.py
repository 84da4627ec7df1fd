# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens to a figure from outside: balls, pushes, and shakes of what carries it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np


@dataclass(frozen=True)
class Ball:
    """A ball that is thrown, or dropped, and falls freely.

    Attributes:
        time: s, when it is let go.
        place: (3,) in space, m.
        velocity: (3,) m/s.
        mass: kg.
        radius: m.
        restitution: share of the speed with which it leaves a limb.
    """

    time: float
    place: np.ndarray
    velocity: np.ndarray
    mass: float = 1.0
    radius: float = 0.1
    restitution: float = 0.3

    def scaled(self, length: float, time: float, mass: float) -> Ball:
        """The same, in other units.

        Args:
            length: the new unit of length, m; time and mass likewise, s and kg.
            time: s.
            mass: kg.
        """
        return replace(
            self, time=self.time / time, place=np.asarray(self.place) / length,
            velocity=np.asarray(self.velocity) * (time / length), mass=self.mass / mass,
            radius=self.radius / length,
        )


@dataclass(frozen=True)
class Push:
    """A force on a link for a while.

    Attributes:
        start: s.
        end: s.
        link: index of the link.
        force: (3,) in space, N.
        arm: (3,) where it acts, in the link's frame from its joint, m.
    """

    start: float
    end: float
    link: int
    force: np.ndarray
    arm: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def scaled(self, length: float, time: float, mass: float) -> Push:
        """The same, in other units.

        Args:
            length: the new unit of length, m; time and mass likewise, s and kg.
            time: s.
            mass: kg.
        """
        return replace(
            self, start=self.start / time, end=self.end / time,
            force=np.asarray(self.force) * (time**2 / (mass * length)), arm=self.arm / length,
        )


@dataclass(frozen=True)
class Shake:
    """What carries the figure is shaken to and fro for a while.

    Only its acceleration acts: the carrier itself stays where it is. It swings by
    `amplitude` sin(2 pi f t) sin^2(pi t / T), t from the start and T the whole time, which
    begins and ends at rest.

    Attributes:
        start: s.
        end: s.
        amplitude: (3,) in space, m.
        frequency: f, Hz.
    """

    start: float
    end: float
    amplitude: np.ndarray
    frequency: float = 3.0

    def scaled(self, length: float, time: float, mass: float) -> Shake:
        """The same, in other units.

        Args:
            length: the new unit of length, m; time likewise, s.
            time: s.
            mass: kg, which does not count.
        """
        return replace(
            self, start=self.start / time, end=self.end / time, frequency=self.frequency * time,
            amplitude=np.asarray(self.amplitude) / length,
        )

    def acceleration(self, times: np.ndarray) -> np.ndarray:
        """(m, 3) in space, m/s^2.

        Args:
            times: (m,) s.
        """
        t, whole = np.asarray(times) - self.start, max(self.end - self.start, 1e-9)
        # sin(a) sin^2(b) = sin(a) / 2 - (sin(a + 2 b) + sin(a - 2 b)) / 4
        swings, window = 2.0 * np.pi * self.frequency, 2.0 * np.pi / whole
        bend = -0.5 * swings**2 * np.sin(swings * t)
        for rate in (swings + window, swings - window):
            bend = bend + 0.25 * rate**2 * np.sin(rate * t)
        inside = (t > 0.0) & (t < whole)
        return np.where(inside, bend, 0.0)[:, None] * np.asarray(self.amplitude, float)
