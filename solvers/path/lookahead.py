# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be told of a node's future without looking at where it is.

A body that leans left and tips over to the left falls if even the steering
that helps most, the curvature rising to its limit at its largest rate, comes
too late. Lean and curvature alone decide that, so it is found once for a grid
of states and looked up: an admissible bound, infinite for those bound to fall
within the plan and 0 for the others.
"""

from __future__ import annotations

import math

import numpy as np

from ..turning.pendulum import effective_length
from .settings import PathSettings, SpeedCourse
from .stages import lean_acceleration

LEANS, RATES, CURVATURES = 33, 41, 17  # grid
FALL_MARGIN = 0.02  # rad beyond the limit, for the errors of both integrations
NEVER = 127
STEP = 0.1  # s


class FallTable:
    """How many stages it takes at most until a state falls, whatever is steered.

    Let alpha(theta, C) be the forward dynamics and a(theta, C) the least
    alpha(theta', C) over theta' from theta to the limit. a does not fall with
    theta and alpha falls with C, so that theta'' >= a(theta, C_0 + rate t),
    and by comparison no steering keeps the lean below the solution of
    theta'' = a. That grows with theta and theta' at the start and falls with
    C: rounding a state down, down and up to the grid keeps the bound.
    A fall to the right is the mirror image.

    Args:
        settings: body, limits and stages.
        speed: speed over time; the speed that helps most is assumed.
        limit: lean at which a figure has fallen, rad.
        stages: how many stages to look ahead.
    """

    def __init__(
        self, settings: PathSettings, speed: SpeedCourse, limit: float, stages: int
    ) -> None:
        j = effective_length(settings.mass, settings.height, settings.inertia)
        quick = 2.5 * math.sqrt(settings.gravity / j) * limit
        most = settings.max_curvature
        leans = np.linspace(-limit, limit, LEANS)
        rates = np.linspace(-quick, quick, RATES)
        curvatures = np.linspace(-most, most, CURVATURES)
        self._scale = (
            0.5 * (LEANS - 1) / limit,
            0.5 * (RATES - 1) / quick,
            0.5 * (CURVATURES - 1) / most,
        )
        theta, omega, curvature = (
            grid.ravel() for grid in np.meshgrid(leans, rates, curvatures, indexing="ij")
        )
        end = limit + FALL_MARGIN
        speeds = sorted({speed.least, speed.most})
        # A lower bound of alpha that does not fall with lean, on a fine grid.
        fine = np.linspace(-limit, end, 129)
        table = np.min(
            [lean_acceleration(fine[:, None], curvatures, v, settings) for v in speeds], axis=0
        )
        table = np.minimum.accumulate(table[::-1], axis=0)[::-1].ravel()
        width, pitch = fine[1] - fine[0], curvatures[1] - curvatures[0]

        def slowest(theta: np.ndarray, curvature: np.ndarray) -> np.ndarray:
            """a(theta, C), bilinear in the table."""
            u = np.minimum(np.maximum((theta + limit) / width, 0.0), 127.999)
            w = np.minimum((curvature + most) / pitch, CURVATURES - 1.001)
            i, k = u.astype(np.int64), w.astype(np.int64)
            u -= i
            w -= k
            at = i * CURVATURES + k
            low = table[at] + w * (table[at + 1] - table[at])
            at += CURVATURES
            return low + u * (table[at] + w * (table[at + 1] - table[at]) - low)

        needed = np.full(len(theta), NEVER, dtype=np.int8)
        rows = np.arange(len(theta))
        longest = settings.stage * stages
        h = min(STEP, settings.stage)
        first = slowest(theta, curvature)
        for step in range(math.ceil(longest / h - 1e-9)):
            middle = np.minimum(curvature + 0.5 * h * settings.max_curvature_rate, most)
            curvature = np.minimum(curvature + h * settings.max_curvature_rate, most)
            am = slowest(theta + 0.5 * h * omega + 0.125 * h * h * first, middle)
            ahead = theta + h * omega
            ae = slowest(ahead + 0.5 * h * h * am, curvature)
            theta = ahead + (h * h / 6.0) * (first + 2.0 * am)
            omega = omega + (h / 6.0) * (first + 4.0 * am + ae)
            fell = theta > end
            needed[rows[fell]] = min(math.ceil((step + 1) * h / settings.stage - 1e-9), NEVER - 1)
            going = np.flatnonzero(~fell & (theta > -limit))
            if not len(going):
                break
            rows, theta, omega, curvature = (
                value[going] for value in (rows, theta, omega, curvature)
            )
            first = slowest(theta, curvature)
        # A rim, for what is further right and slower than the grid: never.
        padded = np.full((LEANS + 1, RATES + 1, CURVATURES), NEVER, dtype=np.int8)
        padded[1:, 1:] = needed.reshape(LEANS, RATES, CURVATURES)
        self._needed = padded.ravel()

    def lost(
        self, theta: np.ndarray, omega: np.ndarray, curvature: np.ndarray, stages: np.ndarray
    ) -> np.ndarray:
        """Which states are bound to fall, to either side.

        Args:
            theta: (n,) lean, rad, within the limit.
            omega: (n,) its rate, rad/s.
            curvature: (n,) within its limit, 1/m.
            stages: (n,) int, stages left of the plan.

        Returns:
            (n,) True for those that fall within the stages left.
        """
        t, o, c = theta * self._scale[0], omega * self._scale[1], curvature * self._scale[2]
        lost = np.zeros(len(theta), dtype=bool)
        for side in (1.0, -1.0):
            i = np.floor(side * t + (0.5 * LEANS + 0.5)).astype(np.int64)
            k = np.floor(side * o + (0.5 * RATES + 0.5))
            k = np.minimum(np.maximum(k, 0.0), RATES).astype(np.int64)
            m = np.ceil(side * c + (0.5 * CURVATURES - 0.5)).astype(np.int64)
            np.minimum(m, CURVATURES - 1, out=m)
            np.minimum(np.maximum(i, 0, out=i), LEANS, out=i)
            i *= RATES + 1
            i += k
            i *= CURVATURES
            i += m
            lost |= self._needed[i] <= stages
        return lost
