# SPDX-License-Identifier: GPL-3.0-or-later
"""Support profiles: when any leg of a group is on the ground, and when none is.

Girard 1986, section 4. The paper keeps one profile for the hind and one for
the front legs of quadrupeds and one for all legs of other animals, and asks
for an even number of legs; here a girdle is any group of legs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# s; a flight that is shorter is none: from footholds of other heights it would take a throw.
SHORTEST = 5e-3


@dataclass(frozen=True)
class SupportProfile:
    """Supports of a group of legs; between two of them the group is in the air.

    Attributes:
        start: (m,) touchdowns after flights, s; the first may be minus infinity.
        end: (m,) liftoffs before flights, s; the last may be infinite.
    """

    start: np.ndarray
    end: np.ndarray

    def flights(self) -> tuple[np.ndarray, np.ndarray]:
        """Starts and ends of the non-support intervals, s."""
        return self.end[:-1], self.start[1:]

    def airborne(self, time: np.ndarray) -> np.ndarray:
        """Whether the group is in the air, strictly between liftoff and touchdown.

        Args:
            time: (n,) s.

        Returns:
            (n,) bool.
        """
        before = np.searchsorted(self.end, time, side="left")
        begun = np.searchsorted(self.start, time, side="right")
        return (before >= begun) & (begun > 0) & (begun < len(self.start))

    def ratios(self) -> np.ndarray:
        """Non-support over support of the cycle about each support interval.

        Returns:
            (m,) mean of the flights before and after, over the support.
        """
        flight = self.start[1:] - self.end[:-1]
        if not len(flight):
            return np.zeros(len(self.start))
        around = 0.5 * (np.append(flight[0], flight) + np.append(flight, flight[-1]))
        if not np.isfinite(self.start[0]):
            around[0] = flight[0]
        return around / (self.end - self.start)


def support_profile(on: np.ndarray, off: np.ndarray) -> SupportProfile:
    """When at least one of a group of legs is on the ground.

    Args:
        on: (m,) touchdowns of all steps of the group, s, in any order.
        off: (m,) liftoffs of the same steps.

    Returns:
        The profile.
    """
    order = np.argsort(on, kind="stable")
    on, off = np.asarray(on, dtype=float)[order], np.asarray(off, dtype=float)[order]
    latest = np.maximum.accumulate(off)
    new = np.ones(len(on), dtype=bool)
    new[1:] = on[1:] > latest[:-1] + SHORTEST
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(on)) - 1
    return SupportProfile(on[first], latest[last])


def down(on: np.ndarray, off: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Whether one leg is on the ground: on <= t <= off for a step of it.

    Args:
        on: (m,) its touchdowns in order, s.
        off: (m,) its liftoffs.
        time: (n,) s.

    Returns:
        (n,) bool.
    """
    step = np.searchsorted(on, time, side="right") - 1
    return (step >= 0) & (time <= off[np.maximum(step, 0)])


def share_down(on: np.ndarray, off: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Share of each interval that one leg is on the ground.

    Args:
        on: (m,) its touchdowns in order, s.
        off: (m,) its liftoffs.
        edges: (n + 1,) s, increasing.

    Returns:
        (n,) 0 to 1.
    """
    # Time on the ground up to each moment: piecewise linear with corners at the events.
    begin, finish = np.clip(on, edges[0], edges[-1]), np.clip(off, edges[0], edges[-1])
    corners = np.stack((begin, finish), axis=1).ravel()
    stood = np.cumsum(np.stack((np.zeros(len(on)), finish - begin), axis=1).ravel())
    total = np.interp(edges, corners, stood)
    return np.diff(total) / np.diff(edges)
