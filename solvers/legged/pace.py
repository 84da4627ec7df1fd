# SPDX-License-Identifier: GPL-3.0-or-later
"""How long strides are along the way, and how fast a body goes there.

Girard 1986, section 3.3: support = stroke / speed, and period = support / duty factor.
Where the ground allows shorter strokes only, supports are shorter, and so are periods:
strides come quicker at the same speed. They cannot come much quicker than animals
step, so the body goes slower beyond that. With a share f of the stride that is
wanted, strides come min(1 / f, HURRY) times as often, and the speed is f times that
of the one that is wanted.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import minimum_filter1d

from ..times import over_spans
from .gait import PhaseClock

HURRY = 1.2  # times as often as usual that strides come at most
POINTS = 20_000  # of the way, at most
SLOWER = 0.03  # times as often as wanted: fewer that are less than that are not worth a round


class Pace:
    """Shares of the wanted strides along the way, 1 until they are shortened.

    Args:
        time: (k,) s.
        wanted: (k,) speeds that are wanted, m/s.
        spread: how far around shorter strides lead in and out, m.
    """

    def __init__(self, time: np.ndarray, wanted: np.ndarray, spread: float) -> None:
        self._time, self._wanted = time, wanted
        whole = float(PhaseClock(time, wanted).phase(time[-1])) if len(time) > 1 else 0.0
        lead = 20.0 * spread
        count = int(min(max((whole + 2.0 * lead) / (0.1 * spread), 2.0), POINTS))
        self._place = np.linspace(-lead, whole + lead, count)
        self._asked = np.ones(count)
        self._share = self._asked
        self._aligned = np.ones(count)
        self._most = np.full(count, HURRY)
        self._slower = np.full(count, HURRY)
        self._width = max(int(np.ceil(spread / (self._place[1] - self._place[0]))), 1)
        self._speed = wanted
        self._as_wanted = True

    def speeds(self) -> np.ndarray:
        """Speeds at the times.

        Returns:
            (k,) m/s.
        """
        return self._speed

    def way(self) -> PhaseClock:
        """The way that has gone over time, as a clock of strides of one metre.

        Returns:
            The clock.
        """
        return PhaseClock(self._time, self._speed)

    def shares(self) -> np.ndarray:
        """Shares of the wanted strides at the times.

        Returns:
            (k,) at most 1.
        """
        if self._as_wanted:
            return np.ones(len(self._time))
        return np.interp(self.way().phase(self._time), self._place, self._share)

    def hurries(self) -> np.ndarray:
        """How much more often than wanted strides come at the times.

        Returns:
            (k,) at least 1, but where it climbs more slowly.
        """
        if self._as_wanted:
            return np.ones(len(self._time))
        most = np.interp(self.way().phase(self._time), self._place, self._often())
        return np.minimum(1.0 / self.shares(), most)

    def shorten(
        self, start: np.ndarray, end: np.ndarray, share: np.ndarray, least: np.ndarray
    ) -> bool:
        """Shorten the strides on stretches of the way.

        Args:
            start: (m,) where stretches begin, m.
            end: (m,) where they end, m.
            share: (m,) what is left of the strides that are there now.
            least: (m,) what is left of those that are wanted at least.

        Returns:
            Whether strides are shorter than before.
        """
        now = np.interp(0.5 * (start + end), self._place, self._share)
        asked = self._asked.copy()
        over_spans(np.minimum, asked, self._place, start, end, np.maximum(now * share, least))
        if np.all(asked >= self._asked - 1e-9):
            return False
        self._asked, self._as_wanted = asked, False
        self._share = self._smooth(asked) * self._blurred(self._aligned)
        self._go()
        return True

    def align(self, start: float, end: float, share: float) -> None:
        """Shorten or lengthen the strides on a stretch of the way, so that steps after it come
        earlier or later.

        Args:
            start: where it begins, m.
            end: where it ends, m.
            share: of the strides; what was said of the stretch before no longer counts.
        """
        self._aligned[(self._place >= start) & (self._place <= end)] = share
        self._as_wanted = False
        self._share = self._smooth(self._asked) * self._blurred(self._aligned)
        self._go()

    def climb(self, start: float, end: float, hurry: float) -> None:
        """Let strides come as often as animals climb, on a stretch of the way.

        Args:
            start: where it begins, m.
            end: where it ends, m.
            hurry: how often strides come there at most, against the wanted ones.
        """
        self._most[(self._place >= start) & (self._place <= end)] = hurry
        self._as_wanted = False

    def take_time(self, start: np.ndarray, end: np.ndarray, hurry: np.ndarray) -> bool:
        """Let strides come more slowly on stretches of the way, as over high steps.

        Args:
            start: (m,) where stretches begin, m.
            end: (m,) where they end, m.
            hurry: (m,) how often strides come there at most, against the wanted ones.

        Returns:
            Whether they come more slowly than before.
        """
        slower = self._slower.copy()
        over_spans(np.minimum, slower, self._place, start, end, hurry)
        if np.all(slower >= self._slower - SLOWER):
            return False
        self._slower, self._as_wanted = slower, False
        self._go()
        return True

    def waits(self) -> np.ndarray:
        """How often strides come at the times because of `take_time`, against the wanted ones.

        Returns:
            (k,) at most `HURRY`.
        """
        return np.interp(self.way().phase(self._time), self._place, self._smooth(self._slower))

    def _smooth(self, asked: np.ndarray) -> np.ndarray:
        """Nowhere above what is asked for, and smooth."""
        return self._blurred(minimum_filter1d(asked, 2 * self._width + 1, mode="nearest"))

    def _blurred(self, asked: np.ndarray) -> np.ndarray:
        """The mean of what is asked for around each place."""
        kernel = np.hanning(2 * self._width + 3)[1:-1]
        padded = np.pad(asked, self._width, mode="edge")
        return np.convolve(padded, kernel / kernel.sum(), mode="valid")

    def _often(self) -> np.ndarray:
        """How often strides come at most, along the way."""
        if np.all(self._slower == HURRY):
            return self._most
        return np.minimum(self._most, self._smooth(self._slower))

    def _go(self) -> None:
        """Speeds, slower where strides cannot come as quickly as they would have to."""
        slow = self._share * np.minimum(1.0 / self._share, self._often())
        speed, place = self._wanted.copy(), 0.0
        if slow.min() < 1.0 - 1e-12:
            share = np.interp  # the way decides on the speed, which makes the way
            step = np.diff(self._time)
            for k in range(len(speed)):
                speed[k] = self._wanted[k] * share(place, self._place, slow)
                place += speed[k] * step[k] if k < len(step) else 0.0
        self._speed = speed
