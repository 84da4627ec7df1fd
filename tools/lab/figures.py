# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of van de Panne, Fiume and Vranesic (1993) as settings.

For demo scenes, pictures and tests. The paper gives the ellipses of Fig. 6;
speed, and the courses of the settings in Fig. 10, are chosen to give tracks
like those printed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from poise.solvers.turning.settings import TurningSettings, sample_times

SPEED = 8.0  # m/s
ELLIPSES = {  # name -> (Hz, degrees), from the text on Fig. 6
    "ellipse 1": (1.0 / 2.0, 23.0),
    "ellipse 2": (1.0 / 3.0, 23.0),
    "ellipse 3": (1.0 / 2.0, 7.0),
}


def _frames(seconds: float, fps: float) -> int:
    return round(seconds * fps) + 1


def figure_5(fps: float = 24.0) -> dict[str, list[TurningSettings]]:
    """One period of a typical turn.

    Args:
        fps: frames per second.

    Returns:
        name -> settings of the figures on that track.
    """
    frequency, degrees = ELLIPSES["ellipse 1"]
    return {
        "a typical turn": [
            TurningSettings(
                n_frames=_frames(1.0 / frequency, fps),
                fps=fps,
                speed=SPEED,
                frequency=frequency,
                sharpness=math.radians(degrees),
            )
        ]
    }


def figure_6(fps: float = 24.0) -> dict[str, list[TurningSettings]]:
    """Two periods each of the three phase ellipses.

    Args:
        fps: frames per second.

    Returns:
        name -> settings of the figures on that track.
    """
    return {
        name: [
            TurningSettings(
                n_frames=_frames(2.0 / frequency, fps),
                fps=fps,
                speed=SPEED,
                frequency=frequency,
                sharpness=math.radians(degrees),
            )
        ]
        for name, (frequency, degrees) in ELLIPSES.items()
    }


def figure_10(fps: float = 24.0, seconds: float = 20.0) -> dict[str, list[TurningSettings]]:
    """The four tracks: figure-8s, falling frequency, rising sharpness, heading.

    Args:
        fps: frames per second.
        seconds: duration of each.

    Returns:
        name -> settings of the figures on that track.
    """
    n = _frames(seconds, fps)
    u = sample_times(n, fps) / seconds
    common: dict[str, Any] = {"n_frames": n, "fps": fps, "speed": SPEED}
    lean = math.radians(23.0)

    def ramp(start: float, end: float) -> np.ndarray:
        """From 0 to 1 between two fractions of the time, smoothly."""
        x = np.clip((u - start) / (end - start), 0.0, 1.0)
        return x * x * (3.0 - 2.0 * x)

    return {
        "figure-8s": [
            TurningSettings(**common, frequency=0.4, sharpness=lean, start_phase=phase)
            for phase in (0.0, math.pi)
        ],
        "falling frequency": [
            TurningSettings(**common, frequency=0.8 - 0.5 * ramp(0.1, 0.9), sharpness=lean)
        ],
        "rising sharpness": [
            TurningSettings(
                **common, frequency=0.5, sharpness=math.radians(5.0) + 0.5 * ramp(0.1, 0.9)
            )
        ],
        "changing heading": [
            TurningSettings(
                **common,
                frequency=0.5,
                sharpness=lean,
                heading=0.9 * (ramp(0.2, 0.4) - 2.0 * ramp(0.5, 0.8)),
            )
        ],
    }
