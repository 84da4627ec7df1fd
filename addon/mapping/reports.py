# SPDX-License-Identifier: GPL-3.0-or-later
"""One line of the problem list for a span in which something had to yield."""

from __future__ import annotations

import numpy as np

from ...solvers.motion import Problem

SIDE_WORDS = {"L": "Left", "R": "Right"}


def span_problem(
    time: np.ndarray,
    amount: np.ndarray,
    threshold: float,
    *,
    code: str,
    message: str,
    severity: str = "INFO",
    bone: str = "",
    remedy: str = "",
    unit: str = "m",
) -> tuple[Problem, ...]:
    """A problem from its first to its last sample, or none.

    Args:
        time: (n,) seconds.
        amount: (n,) how much is missing; SI units.
        threshold: amounts up to this one are no problem.
        code: the problem's code.
        message: what is missing; time and largest amount are put behind it.
        severity: as in `Problem`.
        bone: role concerned, or "".
        remedy: what would help.
        unit: "m", "rad" or "rpm"; decides how the amount is written.
    """
    over = np.flatnonzero(amount > threshold)
    if len(over) == 0:
        return ()
    worst = over[np.argmax(amount[over])]
    most = float(amount[worst])
    text = {
        "m": f"{100.0 * most:.1f} cm",
        "rad": f"{np.degrees(most):.0f} degrees",
        "rpm": f"{most:.0f}",
    }[unit]
    return (
        Problem(
            code,
            f"{message} by up to {text} (most at {time[worst]:.2f} s)",
            severity,
            time=float(time[over[0]]),
            end_time=float(time[over[-1]]),
            bone=bone,
            amount=most,
            remedy=remedy,
        ),
    )
