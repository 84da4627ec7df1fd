# SPDX-License-Identifier: GPL-3.0-or-later
"""Distance over time: the speed along a path, designed apart from it.

A `Pace` is the share of a path's length over the share of a duration (Girard 1986, section
2.4), so that its character stays when it is stretched. It may run backwards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator, PPoly

from ..errors import SettingError

SAME = 1e-9  # shares nearer than this are one


class Pace:
    """Share of a path over the share of a duration.

    Args:
        curve: polynomials over 0 .. 1; what lies outside 0 .. 1 counts as the path's end.
    """

    def __init__(self, curve: PPoly) -> None:
        self.curve = curve
        self._rate = curve.derivative()

    @classmethod
    def of(cls, time: ArrayLike, share: ArrayLike) -> Pace:
        """A pace through samples or keys, with no overshoot between them.

        Args:
            time: (k,) in any unit, ascending: the first is the start, the last the end.
            share: (k,) of the path's length.

        Returns:
            The pace, as a monotone cubic curve between keys (Fritsch and Carlson 1980).
        """
        time, share = np.asarray(time, float), np.asarray(share, float)
        if len(time) < 2 or time.shape != share.shape:
            raise SettingError("Distance curve", f"of {len(time)} keys", "of two keys or more")
        if not (np.isfinite(time).all() and np.isfinite(share).all()):
            bad = int(np.argmin(np.isfinite(time) & np.isfinite(share)))
            raise SettingError("Distance curve", f"undefined at key {bad + 1}", "without gaps")
        if not (np.diff(time) > 0.0).all():
            raise SettingError("Distance curve", "not ascending in time", "one value at a time")
        return cls(PchipInterpolator((time - time[0]) / (time[-1] - time[0]), share))

    def __call__(self, time: np.ndarray) -> np.ndarray:
        """Shares of the path, 0 .. 1.

        Args:
            time: (t,) shares of the duration; beyond the ends they count as the ends.

        Returns:
            (t,) shares.
        """
        return np.clip(self.curve(np.clip(time, 0.0, 1.0)), 0.0, 1.0)

    def rate(self, time: np.ndarray) -> np.ndarray:
        """How fast the share grows.

        Args:
            time: (t,) shares of the duration.

        Returns:
            (t,) per duration; 0 where the path has ended.
        """
        time = np.asarray(time, float)
        value = self.curve(np.clip(time, 0.0, 1.0))
        moving = (time >= 0.0) & (time <= 1.0) & (value > -SAME) & (value < 1.0 + SAME)
        return np.where(moving, self._rate(np.clip(time, 0.0, 1.0)), 0.0)

    def passes(self, shares: np.ndarray) -> np.ndarray:
        """When it is at given shares, turns back, begins and ends.

        Args:
            shares: (k,) of the path.

        Returns:
            (v,) ascending shares of the duration, 0 and 1 among them.
        """
        breaks = self.curve.x
        found = [np.array([0.0, 1.0])]
        for share in np.concatenate([shares, [0.0, 1.0]]):
            found.append(self.curve.solve(share, extrapolate=False))
            # Pieces that rest there say so at their beginnings only.
            found.append(breaks[np.abs(self.curve(breaks) - share) < SAME])
        turns = self._rate.roots(extrapolate=False)
        turns = turns[np.isfinite(turns)]
        step = 1e-6
        before, after = self._rate(turns - step), self._rate(turns + step)
        found.append(turns[(before * after < 0.0) & (turns > step) & (turns < 1.0 - step)])
        times = np.concatenate(found)
        times = np.unique(np.clip(times[np.isfinite(times)], 0.0, 1.0))
        keep = np.concatenate([[True], np.diff(times) > 1e-7])
        times = times[keep]
        times[-1] = 1.0
        return times


def _polynomial(*coefficients: float) -> Pace:
    return Pace(PPoly(np.array(coefficients)[:, None], np.array([0.0, 1.0])))


PRESETS = {
    "MINIMUM_JERK": _polynomial(6.0, -15.0, 10.0, 0.0, 0.0, 0.0),
    "EVEN": _polynomial(1.0, 0.0),
    "EASE": _polynomial(-2.0, 3.0, 0.0, 0.0),
    "ACCENT": Pace.of([0.0, 0.2, 0.55, 0.8, 1.0], [0.0, 0.03, 0.15, 1.0, 1.0]),
    "HOLD": Pace.of([0.0, 0.1, 0.3, 0.4, 0.6, 0.7, 0.9, 1.0],
                    [0.0, 0.05, 0.45, 0.5, 0.5, 0.55, 0.95, 1.0]),
}
"""Minimum jerk (a reach from rest to rest: Flash and Hogan 1985), even, ease (slow at both
ends), accent (gathered, then quick), hold (a stop half-way)."""
