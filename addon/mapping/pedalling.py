# SPDX-License-Identifier: GPL-3.0-or-later
"""When a cyclist pedals, when not, and where the pedals are then.

Pedals are at angles from the top, forwards. The rear hub lets the cranks be
slower than the chain would drive them, never faster: to hold the inside pedal
up in a turn, the cyclist stops pedalling when it comes by before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .signals import Amount, at_most, ramp, step

LEFT_UP, RIGHT_UP, LEVEL, PEDALS = 1, -1, 0, 2
ROUND = 0.5  # radians of crank over which it starts and stops
PATIENCE = 0.8  # seconds: for less nobody begins to pedal
MOVE = 0.3  # seconds before and after a change from one held position to another


@dataclass(frozen=True)
class Span:
    """A stretch of time in which the cyclist does one thing.

    Attributes:
        state: LEFT_UP, RIGHT_UP, LEVEL or PEDALS.
        start: seconds.
        end: seconds.
    """

    state: int
    start: float
    end: float


def spans(
    time: np.ndarray, lean: np.ndarray, coast_lean: Amount, pedalling: Amount
) -> list[Span]:
    """What the cyclist does when.

    Args:
        time: (n,) seconds.
        lean: (n,) radians, + left.
        coast_lean: lean from which the inside pedal is held up, radians.
        pedalling: above a half the cyclist pedals, else the pedals are held level.
    """
    drive = np.broadcast_to(pedalling, time.shape) - 0.5
    marks = {LEFT_UP: lean - coast_lean, RIGHT_UP: -lean - coast_lean, LEVEL: -drive}
    state = np.where(drive > 0.0, PEDALS, LEVEL)
    state = np.where(marks[LEFT_UP] > 0.0, LEFT_UP, state)
    state = np.where(marks[RIGHT_UP] > 0.0, RIGHT_UP, state)
    found, start = [], float(time[0])
    for i in np.flatnonzero(np.diff(state)):
        # Between two samples: where the mark that changes its sign is zero.
        share = 0.5
        for mark in marks.values():
            if (mark[i] > 0.0) != (mark[i + 1] > 0.0):
                share = float(mark[i] / (mark[i] - mark[i + 1]))
                break
        end = float(time[i] + share * (time[i + 1] - time[i]))
        found.append(Span(int(state[i]), start, end))
        start = end
    found.append(Span(int(state[-1]), start, float(time[-1])))
    return _without_short(found)


def _without_short(found: list[Span]) -> list[Span]:
    """Too short to pedal: what was done before goes on to the middle, what comes begins there."""
    kept: list[Span] = []
    for i, span in enumerate(found):
        inner = 0 < i < len(found) - 1
        if span.state == PEDALS and inner and span.end - span.start < PATIENCE:
            middle = 0.5 * (span.start + span.end)
            kept[-1] = Span(kept[-1].state, kept[-1].start, middle)
            after = found[i + 1]
            found[i + 1] = Span(after.state, middle, after.end)
            continue
        if kept and kept[-1].state == span.state:
            span = Span(span.state, kept.pop().start, span.end)
        kept.append(span)
    return kept


def crank_angle(time: np.ndarray, drive: np.ndarray, plan: list[Span]) -> np.ndarray:
    """Angle of the left pedal from the top, radians, forwards, whole turns counted.

    Args:
        time: (n,) seconds.
        drive: (n,) how far the chain would turn the cranks, radians.
        plan: what the cyclist does, as `spans` finds it.
    """
    angle = np.zeros_like(time)
    at = 0.0  # where the crank is at the start of the span
    for i, span in enumerate(plan):
        following = plan[i + 1].state if i + 1 < len(plan) else None
        before = plan[i - 1].state if i else None
        if span.state != PEDALS:
            if before is None:
                at = _nearest(0.5 * np.pi, span.state)
                angle += at
            if following is not None and following != PEDALS:
                goal = _nearest(at, following)
                after = plan[i + 1]
                reach = min(MOVE, 0.5 * (span.end - span.start), 0.5 * (after.end - after.start))
                reach = max(reach, 1e-3)
                angle += (goal - at) * step((time - span.end) / (2.0 * reach) + 0.5)
                at = goal
            continue
        edges = np.interp((span.start, span.end), time, drive)
        driven = np.clip(drive, *edges) - edges[0]
        whole = float(edges[1] - edges[0])
        if before is None:
            way, most = driven, whole - ROUND
            if following is not None:
                way = at_most(driven, most, ROUND) if most > 0.0 else 0.0 * driven
                at = _nearest(0.0, following) - max(most, 0.0)
                angle += at
                at += max(most, 0.0)
            else:
                angle += 0.5 * np.pi
            angle = angle + way
            continue
        way = ramp(driven - ROUND, ROUND)
        if following is not None:
            most = _last(at + whole - 2.0 * ROUND, following) - at
            if most > -1e-9:
                way = at_most(way, most, ROUND) if most > 1e-9 else 0.0 * way
            else:
                # Not far enough for the way round: back it goes.
                most = _nearest(at, following) - at
                width = min(span.end - span.start, 2.0 * MOVE)
                middle = 0.5 * (span.start + span.end)
                way = most * step((time - middle) / width + 0.5)
            at += most
        angle = angle + way
    return angle


def _grid(state: int) -> tuple[float, float]:
    """Where the left pedal may stand, and how far apart such places are."""
    return {LEFT_UP: (0.0, 2.0 * np.pi), RIGHT_UP: (np.pi, 2.0 * np.pi)}.get(
        state, (0.5 * np.pi, np.pi)
    )


def _nearest(angle: float, state: int) -> float:
    first, period = _grid(state)
    return first + period * np.floor((angle - first) / period + 0.5)


def _last(angle: float, state: int) -> float:
    """The last place up to an angle."""
    first, period = _grid(state)
    return first + period * np.floor((angle - first) / period + 1e-9)
