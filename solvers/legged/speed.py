# SPDX-License-Identifier: GPL-3.0-or-later
"""Speeds that an animator gives by places along the way, as speeds over time.

Between two places the body speeds up or slows down evenly: v^2 is linear in the
way s, so that v is linear in time, and s(t) obeys ds/dt = v(s) in closed form.
A body that is to stop at a place comes to a halt there in finite time, and one
that starts from rest gets under way, neither of which a v that is linear in s
would do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import SettingError, check_number


def speeds_along(
    points: Sequence[tuple[float, float]], time: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How fast a body is over time, and how far it has come, by its speeds at places.

    Between two points v^2 = a^2 + (b^2 - a^2) (s - s_a) / (s_b - s_a), which takes
    2 (s_b - s_a) / (a + b); before the first and after the last point the speed
    stays what it is there. Between two points of speed 0 a body stands for good.

    Args:
        points: (distance along the way, speed) in m and m/s, in any order.
        time: (n,) s from the start, at least 0, where the distance is 0.

    Returns:
        (n,) speeds, m/s, and (n,) distances, m.

    Raises:
        SettingError: there are no points, two at one place, or a number is out
            of its range; the message names the point.
    """
    place, v = _in_order(points)
    time = np.asarray(time, dtype=float)
    # From the start on, where the distance is 0.
    begin, ahead = speed_at(points, 0.0), place > 0.0
    place, v = np.append(0.0, place[ahead]), np.append(begin, v[ahead])
    both = v[:-1] + v[1:]
    with np.errstate(divide="ignore"):
        lasts = np.where(both > 0.0, 2.0 * np.diff(place) / both, np.inf)
    reached = np.concatenate(([0.0], np.cumsum(lasts)))
    part = np.clip(np.searchsorted(reached, time, side="right") - 1, 0, len(v) - 1)
    gone = time - reached[part]
    pull = np.append(np.where(np.isfinite(lasts), np.diff(v) / lasts, 0.0), 0.0)[part]
    speed = np.maximum(v[part] + pull * gone, 0.0)
    return speed, place[part] + (v[part] + 0.5 * pull * gone) * gone


def speed_at(points: Sequence[tuple[float, float]], distance: float) -> float:
    """How fast a body is at a place along the way; v^2 is linear between the points.

    Args:
        points: as for `speeds_along`.
        distance: along the way, m.

    Returns:
        m/s.

    Raises:
        SettingError: as for `speeds_along`.
    """
    place, v = _in_order(points)
    return float(np.sqrt(np.interp(distance, place, v * v)))


def _in_order(points: Sequence[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Distances, increasing, and speeds; checked."""
    if not len(points):
        raise SettingError("Speed Points", "an empty list", "one point at least, or Over Time")
    for number, (distance, speed) in enumerate(points, start=1):
        check_number(f"Distance of speed point {number}", distance, -1e6, 1e6, "a finite length")
        check_number(
            f"Speed of speed point {number}", speed, 0.0, 1000.0, "between 0 and 1000 m/s"
        )
    place, v = np.array(sorted(points), dtype=float).T
    twice = np.flatnonzero(np.diff(place) <= 0.0)
    if len(twice):
        raise SettingError(
            "Distance of two speed points", f"{place[twice[0]]:g} m", "of each point its own"
        )
    return place, v
