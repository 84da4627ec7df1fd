# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions along a path that were planned last: preview, Plan, bake and camera share them."""

from __future__ import annotations

from ....solvers.path import PathMotion, PathScene, PathSettings, follow_path
from ..base import Progress
from ..remembered import Remembered


class Plans(Remembered[PathMotion]):
    """A motion is a function of course and settings."""

    def get(self, scene: PathScene, settings: PathSettings, progress: Progress) -> PathMotion:
        return self.found((scene, settings), lambda: follow_path(scene, settings, progress))


PLANS = Plans()
