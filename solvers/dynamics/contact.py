# SPDX-License-Identifier: GPL-3.0-or-later
"""What is solid, by springs and dampers, with friction: van de Panne, Fiume and Vranesic (1990).

What presses into a surface by d and moves out of it at v is pushed out with

    N = max(k d - c v, 0)

so that nothing sticks. Friction holds it to an anchor on the surface by the same spring and
damper, with no more than mu N; where that is not enough it slips, and the anchor follows. At rest
nothing creeps, since a spring holds it and no mere damper. Written once for floats, one figure,
and for arrays, many.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Ops(NamedTuple):
    """What floats and arrays do by functions of different names."""

    sin: Callable[..., Any]
    cos: Callable[..., Any]
    where: Callable[..., Any]
    least: Callable[..., Any]
    most: Callable[..., Any]


ONE = Ops(math.sin, math.cos, lambda test, yes, no: yes if test else no, min, max)
MANY = Ops(np.sin, np.cos, np.where, np.minimum, np.maximum)


class Surface(NamedTuple):
    """How hard and how rough something is.

    Attributes:
        stiffness: N/m, into it and along it.
        damping: N s/m, likewise.
        friction: mu, of Coulomb's law.
    """

    stiffness: float
    damping: float
    friction: float


def pressed(
    ops: Ops, surface: Surface, deep: Any, leaving: Any, place: Any, sliding: Any, anchor: Any
) -> tuple[Any, Any, Any]:
    """What a surface does to a point.

    Args:
        ops: of floats or arrays.
        surface: which.
        deep: m, by which the point is in it; below 0 outside.
        leaving: m/s, at which it comes out.
        place: m, along the surface.
        sliding: m/s, likewise.
        anchor: m, the place to which friction holds it.

    Returns:
        N out of the surface and along it, and m, the anchor thereafter: the place, outside.
    """
    where = ops.where
    on = deep > 0.0
    load = surface.stiffness * deep - surface.damping * leaving
    load = where(on, ops.most(load, 0.0), 0.0)
    drag = -surface.stiffness * (place - anchor) - surface.damping * sliding
    held = surface.friction * load
    kept = ops.least(ops.most(drag, -held), held)
    slipped = abs(drag) > held
    anchor = where(on, where(slipped, place + kept / surface.stiffness, anchor), place)
    return load, kept, anchor
