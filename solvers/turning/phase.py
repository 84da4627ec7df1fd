# SPDX-License-Identifier: GPL-3.0-or-later
"""The phase of a turn (van de Panne et al. 1993, section 4)."""

from __future__ import annotations

import math

import numpy as np


def unwrapped_phase(
    theta: np.ndarray, omega: np.ndarray, max_lean: np.ndarray, frequency: np.ndarray
) -> np.ndarray:
    """phi = atan2(theta / theta_max, omega / (omega_0 theta_max)), unwrapped.

    0 while crossing the vertical towards the left, pi towards the right. In
    a modified turn theta_max and omega_0 are those of the modified ellipse,
    so that the phase grows evenly. It never goes back: a state that an
    ellipse of another shape puts further behind keeps its phase until it is
    reached again, within the same half turn.

    Args:
        theta: (n, ...) lean, rad.
        omega: (n, ...) rad/s.
        max_lean: (n, ...) theta_max in force, rad; it cancels but for its sign.
        frequency: (n, ...) omega_0 in force, rad/s.

    Returns:
        (n, ...) rad, the first value in [0, 2 pi).
    """
    y = theta / max_lean
    x = omega / (frequency * max_lean)
    # Where a keyed frequency jumps, or a far state comes back, it waits.
    phase = np.maximum.accumulate(np.unwrap(np.arctan2(y, x), axis=0), axis=0)
    return phase - 2.0 * math.pi * np.floor(phase[:1] / (2.0 * math.pi))
