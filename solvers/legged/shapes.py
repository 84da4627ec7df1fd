# SPDX-License-Identifier: GPL-3.0-or-later
"""Swings that a leg takes from a sequence of its postures.

Girard 1986, section 3.1: limb trajectories are designed as seen from the hip, and are
bent at their ends so that the speed of the foot does not jump. Here the way of the gait
itself, which is at rest in the world at both ends, goes over into the one through the
postures until the first of them that is in the air, and back from the last one on: a foot
that is at rest in the world follows through behind the body, as fast as it was left
behind on the ground, and comes down at the speed of the ground.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.interpolate import CubicSpline

from .body import minimum_jerk

ShapePoint = tuple[float, float, float, float, float]
"""Share of the transfer, from 0 to 1; x, y and z of the sole's marked point from its hip, as
in the rest pose, facing -Y, in hip heights; toes up, rad."""

LegShape = tuple[str, tuple[ShapePoint, ...]]
"""Name of a leg, and the points that it goes through."""


class Shape:
    """The way of a foot through postures, as seen from its hip.

    A natural cubic spline; weights are made of minimum jerk curves, so that speed and
    acceleration are those of the gait's own way at both ends.

    Args:
        points: ascending shares; one at least between the ends.
        hip: hip height, m.
    """

    def __init__(self, points: Sequence[ShapePoint], hip: float) -> None:
        table = np.array(points, dtype=float)
        table[:, 1:4] *= hip
        self._curve = CubicSpline(table[:, 0], table[:, 1:], bc_type="natural")
        inner = table[(table[:, 0] > 0.0) & (table[:, 0] < 1.0), 0]
        self._first, self._last = float(inner[0]), float(inner[-1])

    def __call__(self, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the foot is wanted.

        Args:
            share: (n,) of the transfer, 0 to 1.

        Returns:
            (n, 3) from the hip, in the frame of the body's heading, m, and (n,) toes up, rad.
        """
        found = self._curve(share)
        return found[:, :3], found[:, 3]

    def weight(self, share: np.ndarray) -> np.ndarray:
        """How far the way through the postures counts: 1 from the first to the last in the air.

        Args:
            share: (n,) of the transfer, 0 to 1.

        Returns:
            (n,) 0 at both ends, with its first and second derivative.
        """
        return minimum_jerk(share / self._first) * minimum_jerk(
            (1.0 - share) / (1.0 - self._last)
        )
