# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be told of a node's future without looking at the place it is in."""

from __future__ import annotations

import numpy as np

from .settings import PathSettings, SpeedCourse


class FallTable:
    def __init__(self, settings, speed, limit) -> None:
        pass

    def lost(self, theta, omega, curvature, stages):
        return np.zeros(len(theta), dtype=bool)
