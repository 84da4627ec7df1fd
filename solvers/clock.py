# SPDX-License-Identifier: GPL-3.0-or-later
"""When the rows of a motion are, and which of them are whole frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from .times import nearest

USUAL = 24.0  # frames per second of a single frame that nobody gave any: nothing depends on it


@dataclass(frozen=True)
class Clock:
    """Times of a motion's rows, in order and not necessarily even.

    How many frames there are, their rate, and where a frame is, is asked of it alone. Frames
    are counted from the first row, which is one.

    With a row in the middle of the first of two frames, at 24 frames a second:

        >>> clock = Clock(np.array([0.0, 0.5, 1.0, 2.0]) / 24.0, np.array([0, 2, 3]))
        >>> clock.count, clock.frames.tolist(), int(clock.row_of(2))
        (3, [0.0, 0.5, 1.0, 2.0], 3)
        >>> clock.at_frames().frames.tolist()
        [0.0, 1.0, 2.0]
        >>> clock.with_rows(np.array([1.25 / 24.0])).whole.tolist()
        [0, 2, 4]

    Attributes:
        time: (n,) s, increasing.
        whole: (count,) rows of the whole frames, increasing; the first is row 0.
        corners: (k,) s at which a curve through the rows may have a corner, in rows and
            between them; to be keyed.
        fps: frames per second; 0 where the times of the whole frames tell it.

    Raises:
        ValueError: times or rows are out of order, or there are frames that are no rows.
    """

    time: np.ndarray
    whole: np.ndarray
    corners: np.ndarray = field(default_factory=lambda: np.zeros(0))
    fps: float = 0.0

    def __post_init__(self) -> None:
        time, whole = np.asarray(self.time), np.asarray(self.whole)
        if time.ndim != 1 or not (np.diff(time) > 0.0).all():
            raise ValueError("times have to increase from row to row")
        if len(time) and (not len(whole) or whole[0] != 0):
            raise ValueError("the first row has to be a whole frame")
        if not (np.diff(whole) > 0).all() or (len(whole) and whole[-1] >= len(time)):
            raise ValueError(f"whole frames have to be some of the {len(time)} rows, in order")

    @classmethod
    def even(cls, time: np.ndarray, per_frame: int, corners: Sequence[float] = ()) -> Clock:
        """The clock of a motion with as many rows to each frame, the first at the frame itself.

        Args:
            time: (n,) s.
            per_frame: rows per frame, 1 or more.
            corners: s, as in `Clock`.
        """
        return cls(time, np.arange(0, len(time), per_frame), np.asarray(corners, dtype=float))

    @classmethod
    def running(cls, count: int, fps: float, per_frame: int = 1) -> Clock:
        """The clock of so many frames from 0 s on.

            >>> Clock.running(2, 25.0, 2).time.tolist()
            [0.0, 0.02, 0.04]

        Args:
            count: whole frames, 1 or more.
            fps: frames per second.
            per_frame: rows per frame, 1 or more.
        """
        rows = np.arange((count - 1) * per_frame + 1)
        return cls(rows / (fps * per_frame), rows[::per_frame], fps=fps)

    @property
    def count(self) -> int:
        """Number of whole frames."""
        return len(self.whole)

    @property
    def rate(self) -> float:
        """Frames per second."""
        if self.fps:
            return self.fps
        if self.count < 2:
            return USUAL
        return 1.0 / float(self.time[self.whole[1]] - self.time[0])

    @property
    def per_frame(self) -> int:
        """Rows of a frame at least, its own among them."""
        return int(np.diff(self.whole).min()) if self.count > 1 else 1

    @cached_property
    def every(self) -> slice | np.ndarray:
        """What picks the whole frames of arrays of rows; where they stand evenly, no copy."""
        step = slice(None, None, self.per_frame)
        rows = np.arange(len(self.time))[step]
        return step if np.array_equal(rows, self.whole) else self.whole

    @cached_property
    def frames(self) -> np.ndarray:
        """(n,) when the rows are, frames from the first."""
        if self.fps or self.count < 2:
            at = (self.time - self.time[:1]) * self.rate
        else:
            at = (self.time - self.time[0]) / (self.time[self.whole[1]] - self.time[0])
        at = np.round(at, 9)  # what divides a frame does so exactly
        at[self.whole] = np.arange(self.count)
        return at

    def frame_of(self, seconds: float | np.ndarray) -> np.ndarray:
        """When something is, frames from the first.

            >>> float(Clock.running(3, 25.0).frame_of(0.06))
            1.5

        Args:
            seconds: (...) s.

        Returns:
            (...) frames.
        """
        return (np.asarray(seconds, dtype=float) - self.time[0]) * self.rate

    def row_of(self, frame: float | np.ndarray) -> np.ndarray:
        """The rows of frames, or the nearest ones.

        Args:
            frame: (...) frames from the first, fractions allowed.

        Returns:
            (...) rows.
        """
        return nearest(self.frames, frame)

    def first(self) -> Clock:
        """The first frame alone."""
        return replace(self, time=self.time[:1], whole=self.whole[:1], corners=np.zeros(0))

    def at_frames(self) -> Clock:
        """Whole frames alone; corners stay where they are."""
        return replace(self, time=self.time[self.whole], whole=np.arange(self.count))

    def with_rows(self, times: np.ndarray) -> Clock:
        """More rows, none of them whole frames.

        Args:
            times: (k,) s; where there is a row there is no other.
        """
        time = np.unique(np.concatenate((self.time, times)))
        return replace(self, time=time, whole=np.searchsorted(time, self.time[self.whole]))
