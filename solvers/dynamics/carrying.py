# SPDX-License-Identifier: GPL-3.0-or-later
"""How what carries a figure moves: its velocities and accelerations from samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from .. import rotations
from .figure import Carrier


class Carrying(NamedTuple):
    """A carrier's motion at m times; vectors in its own frame but for `places`.

    Attributes:
        places: (m, 3) in space, m.
        turns: (m, 4).
        velocities: (m, 3) m/s.
        accelerations: (m, 3) m/s^2.
        spins: (m, 3) rad/s.
        spin_rates: (m, 3) rad/s^2.
        gravity: (m, 3) m/s^2.
    """

    places: np.ndarray
    turns: np.ndarray
    velocities: np.ndarray
    accelerations: np.ndarray
    spins: np.ndarray
    spin_rates: np.ndarray
    gravity: np.ndarray

    def at(self, index: int, weight: float = 1.0) -> Carrier:
        """What a figure feels at one of the times.

        Args:
            index: which time.
            weight: share of gravity that is felt; the rest is held up.
        """
        return Carrier(
            self.accelerations[index],
            self.spins[index],
            self.spin_rates[index],
            weight * self.gravity[index],
        )


def carrying(
    times: np.ndarray, places: np.ndarray, turns: np.ndarray, gravity: np.ndarray, at: np.ndarray
) -> Carrying:
    """Motion on cubic splines through samples of places and turns.

    With p the spline through the quaternions, not of unit length between samples, the
    spin is 2 vec(p* p') / |p|^2 in the carrier's own frame.

    Args:
        times: (k,) s, increasing; one sample is a carrier at rest.
        places: (k, 3) m.
        turns: (k, 4) unit quaternions.
        gravity: (3,) in space, m/s^2.
        at: (m,) times at which it is wanted, s.

    Returns:
        Places, velocities and accelerations.
    """
    if len(times) == 1:
        times = np.array([times[0], times[0] + 1.0])
        places, turns = np.repeat(places, 2, axis=0), np.repeat(turns, 2, axis=0)
    place = CubicSpline(times, places)
    turn = CubicSpline(times, rotations.continuous(np.asarray(turns, float)))
    p, rate, bend = turn(at), turn(at, 1), turn(at, 2)
    square = rotations.dot(p, p)[:, None]
    back = rotations.conjugate(p)
    spins = 2.0 * rotations.multiply(back, rate)[:, 1:] / square
    spin_rates = 2.0 * rotations.multiply(back, bend)[:, 1:] / square
    spin_rates = spin_rates - spins * (2.0 * rotations.dot(p, rate)[:, None] / square)
    q = rotations.normalise(p)
    into = rotations.conjugate(q)
    return Carrying(
        place(at),
        q,
        rotations.rotate(into, place(at, 1)),
        rotations.rotate(into, place(at, 2)),
        spins,
        spin_rates,
        rotations.rotate(into, np.broadcast_to(gravity, (len(q), 3))),
    )
