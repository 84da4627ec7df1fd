# SPDX-License-Identifier: GPL-3.0-or-later
"""Sliders end where solvers do."""

from math import inf

import numpy as np


def ends(row: tuple) -> dict[str, float]:
    """Hard ends of a number: those of the solver's range.

    Blender keeps numbers in single precision, in which an end may lie just
    beyond the solver's: the next number within is taken then. Where lengths are
    in it, a scene's unit scale moves the ends, and the solver says so.

    Args:
        row: (label, least, most, requirement) of a solver's table of ranges.

    Returns:
        `min` and `max` of a property.
    """
    _label, low, high, _requirement = row
    least, most = np.float32(low), np.float32(high)
    if float(least) < low:
        least = np.nextafter(least, np.float32(inf))
    if float(most) > high:
        most = np.nextafter(most, np.float32(-inf))
    whole = isinstance(low, int)
    return {"min": low, "max": high} if whole else {"min": float(least), "max": float(most)}
