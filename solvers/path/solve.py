# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion along a path, and what went wrong with it."""

from __future__ import annotations

from dataclasses import replace

from .advice import find_problems
from .follow import PathMotion, Progress, follow, in_frames
from .prepare import prepare
from .settings import PathScene, PathSettings


def follow_path(
    scene: PathScene,
    settings: PathSettings,
    progress: Progress | None = None,
    advice: bool = True,
) -> PathMotion:
    """Make a motion that follows a path among obstacles.

    A pure function of scene and settings.

    Args:
        scene: path, obstacles and gates.
        settings: what is asked for.
        progress: called with the fraction done; may raise `Cancelled`, which
            passes through.
        advice: True to look, where there is no way on, for changes that give
            one, by trying them.

    Returns:
        The motion to the end of the path, or to where there is no way on;
        that is in the result (`failure` and problems), not an exception.

    Raises:
        SettingError: scene or settings are out of range.
    """
    ready = prepare(scene, settings)
    share = 1.0 if not advice else 0.9

    def report(fraction: float) -> None:
        if progress is not None:
            progress(share * fraction)

    run, candidates = follow(ready, report)
    result = in_frames(ready, run, candidates)

    def trying() -> None:
        if progress is not None:
            progress(share)

    problems = find_problems(ready, result, run, trying if advice else None)
    result = replace(result, motion=replace(result.motion, problems=problems))
    if progress is not None:
        progress(1.0)
    return result
