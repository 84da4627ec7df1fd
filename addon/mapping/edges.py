# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a ski or a board is edged for the path it has to take."""

from __future__ import annotations

from math import cos, radians, sqrt, tan

import numpy as np

from .signals import Amount, Signals, flattened, limited, ramp, saturated, step

INWARD = 0.4  # share of the angulation limit by which a lean may exceed the edge angle
_EXACT = radians(45.0)  # from this edge angle on the sidecut law holds to the letter


def _start_of_carving() -> tuple[float, tuple[float, float, float]]:
    """Where the law starts, and the odd quintic that leads up to it.

    With u = curvature x sidecut the law is edge = arccos(1 / u), whose slope
    is infinite at u = 1: no ski is put on edge in no time. Below the start
    a u + b u^3 + c u^5 takes over with the same value, slope and curvature.
    """
    u = 1.0 / cos(_EXACT)
    value = _EXACT
    slope = 1.0 / (u * tan(_EXACT))
    bend = -(2.0 * u * u - 1.0) / (u * u * sqrt(u * u - 1.0) ** 3)
    rows = np.array(
        [[u, u**3, u**5], [1.0, 3.0 * u**2, 5.0 * u**4], [0.0, 6.0 * u, 20.0 * u**3]]
    )
    a, b, c = np.linalg.solve(rows, (value, slope, bend))
    return u, (a, b, c)


_START, _LEAD_UP = _start_of_carving()


def carving_edge(curvature: np.ndarray, sidecut: Amount) -> np.ndarray:
    """Edge angle at which a ski carves a curvature: R = sidecut cos(edge).

    Exact from 45 degrees on; below it the angle falls smoothly to 0 on a
    straight line (see `_start_of_carving`).

    Args:
        curvature: (n,) 1/m, + left.
        sidecut: radius of the sidecut, metres.

    Returns:
        (n,) radians, + left.

    Source: Howe, The New Skiing Mechanics, 2001; confirmed for slalom by Reid
    et al. 2020, Front. Sports Act. Living 2:25.
    """
    u = np.asarray(curvature) * sidecut
    a, b, c = _LEAD_UP
    size = np.maximum(np.abs(u), _START)
    square = u * u
    return np.where(
        np.abs(u) < _START,
        u * (a + square * (b + square * c)),
        np.sign(u) * np.arccos(1.0 / size),
    )


def edge_angle(
    signals: Signals,
    *,
    law: str,
    per_curvature: Amount | None,
    sidecut: Amount,
    angulation: Amount,
    angulation_limit: Amount,
    edge_limit: Amount,
    rest: Amount,
) -> tuple[np.ndarray, np.ndarray]:
    """Edge angle of the weighted ski over time, and how much of the law had to yield.

    LINEAR: a constant times the curvature (1993, section 7). SIDECUT: the
    carving edge, but never so flat that the ski would slide away from under
    the leaning body: at least the lean, and a little of the angulation more.

    Args:
        signals: the motion's signals.
        law: "LINEAR" or "SIDECUT".
        per_curvature: constant of the linear law in rad m, or None for the
            one that edges the largest lean by `angulation` more.
        sidecut: radius of the sidecut, metres.
        angulation: edge angle beyond the lean in a full turn.
        angulation_limit: largest difference between edge angle and lean.
        edge_limit: largest edge angle.
        rest: edge angle below which the ski rests flat in passing.

    Returns:
        (n,) edge angle in radians, + left; (n,) what the law asked for beyond
        the limits, in radians, at least 0.

    Raises:
        ValueError: an unknown law.
    """
    beyond = angulation * saturated(signals.lean, radians(15.0))
    if law == "LINEAR":
        if per_curvature is None:
            top = signals.reference_lean
            top = top + angulation * saturated(top, radians(15.0))
            per_curvature = top / signals.reference_curvature
        edge = per_curvature * signals.curvature
    elif law == "SIDECUT":
        hold = signals.lean + 0.25 * beyond
        more = carving_edge(signals.curvature, sidecut) - hold
        left = step(0.5 + signals.lean / radians(8.0))
        width = radians(3.0)
        edge = hold + left * ramp(more, width) - (1.0 - left) * ramp(-more, width)
    else:
        raise ValueError(f"edge law is {law!r}: it must be LINEAR or SIDECUT")
    wanted = edge
    # A body may hang inside its skis' edges by the whole limit, but hardly lean
    # over flatter skis: hips bend outwards, not inwards.
    short = angulation_limit * (1.0 - (1.0 - INWARD) * step(np.abs(signals.lean) / radians(20.0)))
    to_left = np.where(signals.lean > 0.0, angulation_limit, short)
    to_right = np.where(signals.lean > 0.0, short, angulation_limit)
    beyond = edge - signals.lean
    edge = signals.lean + limited(np.maximum(beyond, 0.0), to_left, 0.8)
    edge = edge + limited(np.minimum(beyond, 0.0), to_right, 0.8)
    edge = limited(edge, edge_limit, 0.9)
    return flattened(edge, rest), np.abs(wanted - edge)


def skid_angle(
    curvature: np.ndarray, sidecut: Amount, edge: np.ndarray, amount: Amount
) -> np.ndarray:
    """Turn of the skis across their path where the path is tighter than they carve.

    amount x (1 - carved curvature / curvature), rounded off where the ski
    just carves; 0 where it carves more than asked.

    Args:
        curvature: (n,) 1/m, + left.
        sidecut: radius of the sidecut, metres.
        edge: (n,) edge angle, radians.
        amount: turn of a ski that does not carve at all, radians.

    Returns:
        (n,) radians, + left: the tips point into the turn.
    """
    carved = 1.0 / (sidecut * np.cos(edge))
    missing = ramp(np.abs(curvature) - carved, 0.3 * carved)
    return amount * np.sign(curvature) * missing / (missing + carved)
