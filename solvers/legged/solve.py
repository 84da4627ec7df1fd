# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve legged motion: settings in, motion out."""

from __future__ import annotations

from .adapt import Adapt
from .motion import GaitMotion
from .settings import GaitSettings
from .walk import Progress, Walk


def solve_gait(settings: GaitSettings, progress: Progress | None = None) -> GaitMotion:
    """Solve one legged motion: a pure function of its settings.

    Girard 1986: passes as in `walk`, and again around edited footprints as in
    `adapt`.

    Args:
        settings: what is asked for.
        progress: called with the fraction done; may raise `Cancelled`, which
            passes through.

    Returns:
        The motion. What the legs cannot do is in its problems.

    Raises:
        SettingError: a setting is out of range or contradicts another.
    """
    walk = Walk(settings, progress)
    motion = walk.solve()
    if settings.edits:
        motion = Adapt(walk, motion, settings).solve()
    if progress is not None:
        progress(1.0)
    return motion
