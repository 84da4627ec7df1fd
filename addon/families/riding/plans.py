# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions along a path that were planned last: preview, Plan, bake and camera share them."""

from __future__ import annotations

import threading
from collections import OrderedDict

from ....solvers.path import PathMotion, PathScene, PathSettings, follow_path
from ...digests import digest
from ..base import Progress

# How many motions along a path are remembered.
MOST_PLANS = 12


class Plans:
    """What is remembered. A motion is a function of course and settings, so that what is remembered
    can never be out of date.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, PathMotion] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, scene: PathScene, settings: PathSettings, progress: Progress) -> PathMotion:
        key = digest((scene, settings))
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = follow_path(scene, settings, progress)
        with self._lock:
            self._known[key] = found
            while len(self._known) > MOST_PLANS:
                self._known.popitem(last=False)
        return found

    def knows(self, scene: PathScene, settings: PathSettings) -> bool:
        with self._lock:
            return digest((scene, settings)) in self._known


PLANS = Plans()
