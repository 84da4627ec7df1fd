# SPDX-License-Identifier: GPL-3.0-or-later
"""What pose timing is asked to do: bodies and targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dynamics import Figure
from ..errors import SettingError


@dataclass(frozen=True)
class Body:
    """A figure with a shape, which balls can hit.

    Attributes:
        figure: its links.
        tips: (n, 3) from each joint to the other end of its limb, in its frame, m.
        radii: (n,) m.
        limits: (n, 3, 2) least and largest coordinate of each joint from rest, rad;
            infinite where there is none.
    """

    figure: Figure
    tips: np.ndarray
    radii: np.ndarray
    limits: np.ndarray | None = None


@dataclass(frozen=True)
class Target:
    """A pose and when the joints are to be in it.

    Attributes:
        time: s from the start.
        turns: (n, 4) turns of the links against their parents, from rest.
        joints: (n,) bool: which of them the target is for.
        hold: s for which it is held before the next one is set out for.
    """

    time: float
    turns: np.ndarray
    joints: np.ndarray
    hold: float = 0.0


SMALLEST = 1e-4
"""Least tension, damping ratio and settle time: an exact 0 is none."""

NUMBERS = {
    "tension": ("Tension", SMALLEST, 1.0 - SMALLEST, "above 0 and below 1"),
    "ratio": ("Damping Ratio", SMALLEST, 1.0, "above 0 and at most 1"),
    "gravity": ("Gravity", 0.0, 1.0, "between 0 and 1"),
    "settle": ("Settle Time", SMALLEST, np.inf, "above 0 s"),
    "drag": ("Drag", 0.0, np.inf, "at least 0"),
    "frequency": ("Frequency", 0.0, np.inf, "at least 0"),
}
"""Setting -> (label, least, most, requirement)."""


@dataclass(frozen=True)
class PoseSettings:
    """How joints are controlled.

    Attributes:
        tension: residual fraction: how much of the way to the set-point is left when
            the pose is reached, above 0 and below 1.
        ratio: damping ratio, above 0 and at most 1.
        firm: of two gains, the firmer or the softer.
        gravity: share of gravity that is felt (1), not held up by the joints (0).
        settle: s in which a joint that is held comes back from where it was knocked, but
            for the residual fraction.
        drag: 1/s, with which the air slows limbs down.
        steps_per_frame: solver steps to a frame; 0 takes as many as 1/200 s asks for.
        frequency: rad/s of a controller with a fixed gain that aims at the poses
            themselves, as a rival; 0 finds the gain that arrives on time.
        recompute: whether gains are found anew after a disturbance.
        trailing: whether a joint, with all that hangs on it, feels how those move that it
            hangs on, as along a tail; otherwise that is cancelled.
    """

    tension: float = 0.02
    ratio: float = 1.0
    firm: bool = True
    gravity: float = 0.0
    settle: float = 0.5
    drag: float = 0.0
    steps_per_frame: int = 0
    frequency: float = 0.0
    recompute: bool = True
    trailing: bool = False

    def __post_init__(self) -> None:
        for name, (label, least, most, words) in NUMBERS.items():
            value = getattr(self, name)
            if not (least <= value <= most and value < np.inf):
                raise SettingError(label, value, words)
