# SPDX-License-Identifier: GPL-3.0-or-later
"""Shifting from one gait to the next: the least change of the legs' transfers.

Girard 1986, section 3.4. Each leg's next touchdown is shifted in time so that
from then on it follows the next gait; of all ways to do so the one with

    minimum of sum_i shift_i^2    such that    transfer_i + shift_i >= k

is taken. A shift may be early or late. It is applied to a transfer only:
supports keep their durations. The next gait may begin at any point of its
cycle, so that shift_i = c + d_i + m_i P for some c that all legs share and a
whole number m_i of each leg, d_i being how much later than leg i's own
touchdown its touchdown in the next gait is.

For a given c the best shift of a leg is that of least magnitude within
[low_i, low_i + P), low_i = max(k - transfer_i, -P / 2). The sum is then a
parabola in c between n points of [0, P), so that its minimum is found exactly,
without trying moments of time one by one.

A gait whose sides alternate has two touchdowns of each leg in a cycle of two
strides, which then is P. Each leg takes the nearer one that is allowed, and the
points at which it goes over from one to the other, x = -x', part [0, P) too.

Whose transfer, and which P:

- The transfer is the one that a leg makes at the end of its *current* gait,
  from its liftoff in that gait to the touchdown that is shifted.
- With equal periods the first touchdown of each leg after the start of the
  shift is the one that is shifted.
- If the current period is shorter, all legs first make one transfer that is
  longer by the difference of the periods, so that they come around at the
  longer period (first stage); the next transfer, still from a support of the
  current gait, is shifted (second stage). Not out of a gait whose sides alternate:
  its flights would be drawn out by as much.
- If the current period is longer, the first touchdown after the start is
  shifted (first stage); the transfers after it, which belong to the next gait,
  are shorter by the difference (second stage), so k has to fit into them.
- P is always the period of the next gait, whose touchdowns come back after it:
  the longer one in the case of a shorter current period, as in the paper, and
  in the other case the shorter one. (The longer one, with each leg's own m_i,
  would leave legs out of step with the next gait by the difference.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import SettingError


@dataclass(frozen=True)
class Shift:
    """The least shift between two gaits.

    Attributes:
        shift: (n,) what is added to each leg's transfer, s (or in the unit of
            the arguments).
        offset: c, what is added to the wanted touchdowns, same unit.
        cost: the sum of the squared shifts.
    """

    shift: np.ndarray
    offset: float
    cost: float


def minimum_shift(
    current: np.ndarray,
    wanted: np.ndarray,
    transfer: np.ndarray,
    least: float | np.ndarray,
    period: float,
    step: float = 0.0,
) -> Shift:
    """The shift of least squares between two gaits.

    Girard 1986, section 3.4; see the module for the exact statement. All
    times are in the same unit, seconds or strides of the next gait.

    Args:
        current: (n,) touchdowns that are to be shifted.
        wanted: (n,) touchdowns of the next gait, of any stride, or (n, q) those of each
            leg in a period.
        transfer: (n,) durations of the transfers that end at `current`.
        least: k, shortest transfer; one for all legs, or one for each.
        period: of the next gait, or of its cycle.
        step: 0, or the duration of a frame, if c has to be a whole number of
            frames. Where `current`, `wanted` and `period` are such, all
            touchdowns are.

    Returns:
        The shift. Of equally good ones that with the smallest c in [0, P).

    Raises:
        SettingError: there is no leg, or the period is not above 0.
    """
    current = np.asarray(current, dtype=float)
    if not 0.0 < period < np.inf:
        raise SettingError("Period", period, "above 0")
    if current.ndim != 1 or not len(current):
        raise SettingError("Number of Legs", current.size, "at least 1")
    each = np.asarray(wanted, dtype=float).reshape(len(current), -1)
    offset = np.mod(each - current[:, None], period)
    low = np.maximum(np.asarray(least, dtype=float) - transfer, -0.5 * period)[:, None]
    if step > 0.0:
        # On the grid of frames the lowest shift is the first that c and d_i can make.
        low = offset + np.ceil((low - offset) / step - 1e-9) * step
    # Where a leg's shift jumps from low + P to low as c grows.
    jump = np.mod(low - offset, period)
    jump[jump > period * (1.0 - 1e-12)] = 0.0
    # Where it goes from one of its touchdowns over to another that is as far off.
    one, other = np.triu_indices(offset.shape[1], 1)
    equal = -0.5 * (offset[:, one] + offset[:, other])
    equal = np.mod(np.stack((equal, equal + 0.5 * period)), period)
    start = np.unique(np.concatenate(([0.0], jump.ravel(), equal.ravel())))
    end = np.append(start[1:], period)
    # m such that c + d + m P lies in [low, low + P) throughout [start, end).
    middle = 0.5 * (start + end)
    whole = -np.floor((middle[:, None, None] + offset - low) / period)
    constant = offset + whole * period
    nearest = np.argmin(np.abs(middle[:, None, None] + constant), axis=2)
    constant = np.take_along_axis(constant, nearest[:, :, None], axis=2)[:, :, 0]
    best = -constant.mean(axis=1)
    if step > 0.0:
        first, last = np.ceil(start / step - 1e-9), np.ceil(end / step - 1e-9) - 1.0
        down = np.clip(np.floor(best / step), first, last)
        up = np.clip(down + 1.0, first, last)
        candidates = np.stack((down, up), axis=1) * step
        candidates[last < first] = np.nan
    else:
        candidates = np.clip(best, start, end)[:, None]
    shifts = candidates[:, :, None] + constant[:, None, :]
    cost = np.sum(shifts**2, axis=2)
    cost[np.isnan(cost)] = np.inf
    # The first of those that are equal up to rounding.
    flat = cost.ravel()
    index = int(np.flatnonzero(flat <= flat.min() + 1e-12 * period**2)[0])
    where = np.unravel_index(index, cost.shape)
    return Shift(shifts[where], float(candidates[where]), float(cost[where]))
