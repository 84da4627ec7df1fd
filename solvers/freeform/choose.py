# SPDX-License-Identifier: GPL-3.0-or-later
"""Which moments of a motion tell it best: a few of its frames as postures.

A body that is led by the postures alone (`course.py`: turns by quaternion curves, places by
Hermite splines) is off the motion by the way of its mass,

    e(t)^2 = sum over links of m |r'(t) - r(t)|^2 / M

The frames are sought greedily, each where e is largest, and then moved one by one to where the
mean of e^2 is least. In between, flights are for the solver: their ends are frames as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from .. import rotations
from ..errors import SettingError
from .body import Body, links
from .turns import TurnCurve, place_rates

ROUNDS = 2  # in which frames are moved
LOOKED_AT = 100  # frames at which e is looked at, of a long motion
FARTHEST = 3  # frames that one is moved at once


class Clip:
    """A motion that is given frame by frame.

    Args:
        body: who moves.
        times: (t,) s, ascending.
        places: (t, 3) of the pelvis, m.
        joints: (t, n, 4) local turns, the pelvis' in the world first.
    """

    def __init__(
        self, body: Body, times: np.ndarray, places: np.ndarray, joints: np.ndarray
    ) -> None:
        self.body, self.times, self.places = body, np.asarray(times, float), places
        self.joints = rotations.continuous(joints)
        self.rows = np.arange(0, len(self.times), max(1, len(self.times) // LOOKED_AT))
        self._at = links(body, places[self.rows], self.joints[self.rows]).centres
        self._share = body.figure.masses / body.figure.masses.sum()

    def led(self, frames: Sequence[int]) -> np.ndarray:
        """(r,) e, m, of the body that these frames lead, at the rows that are looked at.

        Args:
            frames: ascending, first and last of the clip among them.
        """
        at = np.array(sorted(frames))
        knots = self.times[at]
        turns = TurnCurve(knots, self.joints[at], False, np.zeros((len(at) - 1, 3)))
        places = self.places[at]
        slopes = place_rates(places, knots, False)
        times = self.times[self.rows]
        led = links(self.body, CubicHermiteSpline(knots, places, slopes)(times), turns(times)[0])
        return np.sqrt(((led.centres - self._at) ** 2).sum(axis=2) @ self._share)


def choose_frames(clip: Clip, count: int, required: Sequence[int] = ()) -> list[int]:
    """The frames of a motion that rebuild it best.

    Args:
        clip: the motion.
        count: how many, two or more.
        required: frames that are taken in any case, besides the first and the last.

    Returns:
        Ascending frames, as many as asked for, or as are required.

    Raises:
        SettingError: fewer than two are asked for, or more than there are.
    """
    most = len(clip.times)
    if not 2 <= count <= most:
        raise SettingError("Postures", count, f"from 2 to the {most} frames of the motion")
    fixed = sorted({0, most - 1, *required})
    found = list(fixed)
    while len(found) < count:
        off = np.where(np.isin(clip.rows, found), -1.0, clip.led(found))
        row = int(clip.rows[int(np.argmax(off))])
        if row in found:  # all that are looked at are taken
            row = next(frame for frame in range(most) if frame not in found)
        found = sorted((*found, row))
    free = [frame for frame in found if frame not in fixed]
    best = _mean(clip, found)
    for _ in range(ROUNDS):
        moved = False
        for k, frame in enumerate(free):
            for step in (s for far in range(1, FARTHEST + 1) for s in (-far, far)):
                other = frame + step
                if other in found or not 0 < other < most - 1:
                    continue
                tried = sorted((*(f for f in found if f != free[k]), other))
                mean = _mean(clip, tried)
                if mean < best:
                    best, found, free[k], moved = mean, tried, other, True
        if not moved:
            break
    return found


def _mean(clip: Clip, frames: Sequence[int]) -> float:
    return float((clip.led(frames) ** 2).mean())
