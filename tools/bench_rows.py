# SPDX-License-Identifier: GPL-3.0-or-later
"""A row of the benchmark table, and how times are taken.

Both ways of a row are measured in one run, turn and turn about, so that what
else the machine does falls on both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One job done the plain way and ours.

    Attributes:
        job: what is done.
        plain_way: what the plain way is.
        plain: its figure, in `unit`.
        ours: our figure, in `unit`.
        unit: "ms", "m" ... smaller is better.
        goal: smallest ratio plain / ours that is good enough, or None.
        limit: largest figure of ours that is good enough, or None.
        note: anything else worth saying.
    """

    job: str
    plain_way: str
    plain: float
    ours: float
    unit: str = "ms"
    goal: float | None = None
    limit: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times ours is better."""
        return self.plain / self.ours

    @property
    def reached(self) -> bool:
        """Whether goal and limit are kept."""
        return (self.goal is None or self.ratio >= self.goal) and (
            self.limit is None or self.ours <= self.limit
        )


def side_by_side(
    plain: Callable[[], object],
    ours: Callable[[], object],
    runs: int = 5,
    plain_runs: int = 0,
    between: Callable[[], object] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float]:
    """Time two ways turn and turn about.

    Args:
        plain: the plain way.
        ours: our way.
        runs: how often ours runs.
        plain_runs: how often the plain way runs at most; 0 for as often.
        between: puts things back before each run; its time does not count.
        clock: seconds; `time.process_time` leaves out what else the machine does, for figures
            that stand alone.

    Returns:
        Medians in milliseconds: (plain, ours).
    """
    times: tuple[list[float], list[float]] = ([], [])
    ours()
    for i in range(runs):
        for call, kept in zip((plain, ours), times, strict=True):
            if call is plain and plain_runs and i >= plain_runs:
                continue
            if between is not None:
                between()
            start = clock()
            call()
            kept.append(1e3 * (clock() - start))
    return statistics.median(times[0]), statistics.median(times[1])
