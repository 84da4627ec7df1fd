# SPDX-License-Identifier: GPL-3.0-or-later
"""Moments and spans of time compared with many others, in time and memory that grow with both
together, not with their product."""

from __future__ import annotations

import numpy as np


def nearest(times: np.ndarray, at: np.ndarray | float) -> np.ndarray:
    """Numbers (q,) of the moments nearest to others, of two that are as near the earlier.

    Args:
        times: (m,) moments in order, s; at least one.
        at: (q,) others, s, or one.
    """
    after = np.clip(np.searchsorted(times, at), 1, max(len(times) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(times) - 1)
    return np.where(np.abs(times[after] - at) < np.abs(times[before] - at), after, before)


def gap(at: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(q,) how far moments are from the nearest of others; infinite where there are none.

    Args:
        at: (q,) moments.
        times: (m,) the others, in order.
    """
    if not len(times):
        return np.full(len(at), np.inf)
    return np.abs(times[nearest(times, at)] - at)


def covering(
    time: np.ndarray, begin: np.ndarray, end: np.ndarray, ends: bool = True
) -> np.ndarray:
    """How many spans cover each moment: as many as have begun, less those that are over.

    Args:
        time: (n,) moments, s.
        begin: (k,) when spans begin, in any order, s.
        end: (k,) when they end, s; before they begin for spans that cover nothing.
        ends: whether spans cover their ends, too.

    Returns:
        (n,) int.
    """
    real = (begin <= end) if ends else (begin < end)
    begun = np.searchsorted(np.sort(begin[real]), time, side="right" if ends else "left")
    return begun - np.searchsorted(np.sort(end[real]), time, side="left" if ends else "right")


def over_spans(
    pick: np.ufunc,
    found: np.ndarray,
    time: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    value: np.ndarray,
) -> None:
    """Pick from the values of all spans that cover each moment, their ends included.

    Args:
        pick: `np.maximum` or `np.minimum`.
        found: (n,) what is picked from besides; changed in place.
        time: (n,) moments in any order, s.
        begin: (k,) when spans begin, s.
        end: (k,) when they end, s.
        value: (k,) their values.
    """
    order = np.argsort(time, kind="stable")
    low = np.searchsorted(time[order], begin, side="left")
    count = np.maximum(np.searchsorted(time[order], end, side="right") - low, 0)
    rows = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    pick.at(found, order[rows + np.repeat(low, count)], np.repeat(value, count))
