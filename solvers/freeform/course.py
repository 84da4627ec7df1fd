# SPDX-License-Identifier: GPL-3.0-or-later
"""Where postures lead a body, before any physics: turns and places over time.

Postures stand at knots of one parameter, which runs over time; between two of them both
ends may be given other rates ("kicks"): a curve b T s (1 - s)^2 is added, which changes
the rate by b at its end and nothing else there, nor at its other end. It lasts for the
interval, or for less where it would lead too far off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from .. import rotations
from .body import Posture
from .motion import Moving
from .turns import TurnCurve, place_rates, turned_on

FARTHEST = 4.0 / 27.0  # of s (1 - s)^2
JOINT_OFF, PELVIS_OFF, PLACE_OFF = 0.1, 0.3, 0.12  # rad, rad and m that kicks lead off at most

Parameter = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class Course:
    """A body led by its postures.

    Args:
        postures: (k) of the sequence.
        knots: (k,) of the parameter.
        parameter: times -> parameter and its rate.
        visits: (v,) times at which kicks may stand, s.
        rest: whether the parameter's ends are at rest.
        start: how the body moves at the first posture; None as `rest` says.
        end_velocity: (3,) of the pelvis at the last posture, m/s; None as `rest` says.
        tied: joints and rates -> the same of a body some of whose limbs follow others.
    """

    def __init__(
        self,
        postures: Sequence[Posture],
        knots: np.ndarray,
        parameter: Parameter,
        visits: np.ndarray,
        rest: bool,
        start: Moving | None = None,
        end_velocity: np.ndarray | None = None,
        tied: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None,
    ) -> None:
        joints = np.stack([p.joints for p in postures])
        joints[:, 0] = [p.turn for p in postures]
        whole = np.stack([p.whole_turns for p in postures])[1:]
        places = np.stack([p.place for p in postures])
        spins = None if start is None else start.spins
        self._turns = TurnCurve(knots, rotations.continuous(joints), rest, whole, spins)
        slopes = place_rates(places, knots, rest)
        if start is not None:
            slopes[0] = start.velocity
        if end_velocity is not None:
            slopes[-1] = end_velocity
        self._places = CubicHermiteSpline(knots, places, slopes)
        self._slopes = self._places.derivative()
        self.parameter, self.visits, self._knots, self._tied = parameter, visits, knots, tied
        count, n = len(visits) - 1, joints.shape[1]
        self.turn_kicks = np.zeros((2, count, n, 3))  # rad/s, at starts and ends of intervals
        self.place_kicks = np.zeros((2, count, 3))  # m/s
        self._off = np.full(n, JOINT_OFF)
        self._off[0] = PELVIS_OFF

    def interval(self, times: np.ndarray) -> np.ndarray:
        """(t,) interval between visits that times lie in.

        Args:
            times: (t,) s.
        """
        found = np.searchsorted(self.visits, times, side="right") - 1
        return np.clip(found, 0, len(self.visits) - 2)

    def _kicked(
        self, kicks: np.ndarray, off: np.ndarray, times: np.ndarray, last: np.ndarray | None = None
    ) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
        """Which of times and of n the kicks (2, v - 1, n, 3) move, what they add to these, and
        its rate."""
        i = np.minimum(self.interval(times), len(self.visits) if last is None else last)
        rows, own = np.nonzero(kicks.any(axis=(0, 3))[i])
        i, times = i[rows], times[rows]
        value, rate = np.zeros((2, len(rows), 3))
        for side in (0, 1):
            kick = kicks[side, i, own]
            size = np.sqrt(rotations.dot(kick, kick))
            span = self.visits[i + 1] - self.visits[i]
            lasts = np.minimum(span, off[own] / FARTHEST / np.maximum(size, 1e-9))
            gone = self.visits[i + 1] - times if side else times - self.visits[i]
            s = np.clip(gone / lasts, 0.0, 1.0)
            value += ((-1.0 if side else 1.0) * lasts * s * (1.0 - s) ** 2)[:, None] * kick
            rate += ((1.0 - s) * (1.0 - 3.0 * s))[:, None] * kick
        on = value.any(axis=1) | rate.any(axis=1)
        return (rows[on], own[on]), value[on], rate[on]

    def joints(
        self, times: np.ndarray, last: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Local turns, the pelvis' in the world first, and their rates in the turned frames.

        Args:
            times: (t,) s.
            last: (t,) intervals that end with the times: their rates count there, not those after.

        Returns:
            (t, n, 4) and (t, n, 3) rad/s.
        """
        u, speed = self.parameter(times)
        turns, spins = self._turns(u)
        spins *= speed[:, None, None]
        at, *by = self._kicked(self.turn_kicks, self._off, times, last)
        turns[at], spins[at] = turned_on(turns[at], spins[at], *by)
        return (turns, spins) if self._tied is None else self._tied(turns, spins)

    def guide(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Turns of the pelvis and its spins, in its own frame, before it is kicked.

        Args:
            times: (t,) s.

        Returns:
            (t, 4) and (t, 3) rad/s.
        """
        u, speed = self.parameter(times)
        turns, spins = self._turns(u, slice(1))
        return turns[:, 0], spins[:, 0] * speed[:, None]

    def turns(self, times: np.ndarray) -> np.ndarray:
        """(t, n, 4) local turns alone.

        Args:
            times: (t,) s.
        """
        turns = self._turns.turns(self.parameter(times)[0])
        at, by, _ = self._kicked(self.turn_kicks, self._off, times)
        turns[at] = rotations.multiply(turns[at], rotations.from_rotation_vector(by))
        return turns if self._tied is None else self._tied(turns, np.zeros_like(turns[..., 1:]))[0]

    def places(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places and velocities of the pelvis.

        Args:
            times: (t,) s.

        Returns:
            (t, 3) m and (t, 3) m/s.
        """
        u, speed = self.parameter(times)
        u = np.clip(u, self._knots[0], self._knots[-1])
        places, rates = self._places(u), self._slopes(u) * speed[:, None]
        (at, _), *by = self._kicked(self.place_kicks[:, :, None], np.full(1, PLACE_OFF), times)
        places[at] += by[0]
        rates[at] += by[1]
        return places, rates

    def breaks(self, start: float, end: float) -> np.ndarray:
        """Times between two at which the course is less than smooth, these among them.

        Args:
            start: s.
            end: s.

        Returns:
            (b,) ascending.
        """
        first = np.searchsorted(self.visits, start, side="right") - 1
        last = np.searchsorted(self.visits, end)
        visits, kicks = self.visits[first : last + 1], self.turn_kicks[:, first:last]
        found = [np.array([start, end]), visits]
        side, interval, link = np.nonzero(kicks.any(axis=3))
        size = np.linalg.norm(kicks[side, interval, link], axis=1)
        lasts = np.minimum(np.diff(visits)[interval], self._off[link] / FARTHEST / size)
        found.append(np.where(side, visits[interval + 1] - lasts, visits[interval] + lasts))
        times = np.unique(np.concatenate(found))
        times = times[(times >= start) & (times <= end)]
        near = np.diff(times) < 1e-6
        return times[np.concatenate([[True], ~near[:-1], [True]])] if len(times) > 2 else times
