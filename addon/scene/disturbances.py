# SPDX-License-Identifier: GPL-3.0-or-later
"""What disturbs a motion, in the solvers' units: balls, pushes, shakes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ...solvers.dynamics.disturbances import Ball, Push, Shake
from ..errors import UserError
from .timing import SceneNumbers


def disturbances(
    items: Iterable, bones: Sequence[str], tips: np.ndarray, numbers: SceneNumbers, start: int
) -> Iterator[Ball | Push | Shake]:
    """Balls that fly, shakes, and pushes on some bones.

    Args:
        items: disturbances of a motion's settings.
        bones: names of those that can be pushed.
        tips: (n, 3) from their joints to their ends, in their axes, m.
        numbers: the scene's rate, units and gravity.
        start: first frame of the motion.

    Raises:
        UserError: something of one is no number.
    """
    unit = numbers.unit_scale
    for item in items:
        told = (item.frame, item.frames, *item.place, *item.velocity, *item.force,
                *item.amplitude)
        if not np.isfinite(told).all():
            raise UserError(
                f"{item.name} has a time, place, velocity, force or amplitude that is no number: "
                "set it anew"
            )
        time = (item.frame - start) / numbers.fps
        if item.kind == "BALL":
            place, velocity = np.array(item.place) * unit, np.array(item.velocity) * unit
            before, weight = max(-time, 0.0), np.array((0.0, 0.0, -numbers.gravity))
            yield Ball(  # one that was let go before is on its way
                max(time, 0.0), place + before * velocity + 0.5 * before**2 * weight,
                velocity + before * weight, item.mass, item.radius * unit, item.restitution,
            )
        elif item.kind == "SHAKE":
            yield Shake(
                time, time + item.frames / numbers.fps, np.array(item.amplitude) * unit,
                item.frequency,
            )
        elif item.bone in bones:
            link = list(bones).index(item.bone)
            yield Push(
                time, time + item.frames / numbers.fps, link, np.array(item.force, dtype=float),
                tips[link],
            )
