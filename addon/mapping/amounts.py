# SPDX-License-Identifier: GPL-3.0-or-later
"""Amounts that styles share, and amounts kept to what a body can be asked for."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from math import inf
from typing import Any, TypeVar

import numpy as np

from ...solvers.motion import Problem
from .rows import amount, angle, length, rows_of, setting
from .signals import Amount

Style = TypeVar("Style", bound=Hashable)


@dataclass(frozen=True)
class StandingStyle:
    """Legs as a spring, of whoever stands on what slides or rolls."""

    knee_flexion: Amount = angle("Knee Bend", 42, (5, 100), (0, 120),
        "Bend of the knees under one body weight", section="Legs")
    up_down: Amount = length("Up and Down", 0.1, (0.0, 0.4), (-0.5, 1.0),
        "How much the legs shorten for each body weight more")
    stiffness: Amount | None = amount("Leg Stiffness", None, 20000.0, (50.0, inf),
        "Spring constant of the legs in N/m, instead of Up and Down; 0 to use Up and Down",
        unit="N/m")
    unweighting: str = setting(
        "Unweighting", "UP", "What the legs do while the edges change",
        choices=(
            ("UP", "Up", "The legs stretch at the change of edges", 0),
            ("DOWN", "Down", "The knees are pulled up at the change of edges", 1),
        ),
    )
    unweighting_amount: Amount = length("Unweighting Amount", 0.03, (0.0, 0.25), (-0.3, 0.4),
        "How far the legs stretch or the knees are pulled up")


@dataclass(frozen=True)
class EdgedStyle:
    """Edges, of whatever carves: skis and boards."""

    edge_law: str = setting(
        "Edge Law", "LINEAR", "How the edge angle follows from the curvature of the path",
        section="{edges}", choices=(
            ("LINEAR", "Linear", "Edge angle in proportion to the curvature of the path", 0),
            ("SIDECUT", "Sidecut", "Carving: radius = sidecut x cos(edge angle)", 1),
        ),
    )
    edge_per_curvature: Amount | None = amount("Edge Gain", None, 20.0, (0.0, 200.0),
        "Edge angle in radians for a curvature of 1 per metre; 0 to fit it to the lean",
        unit="rad m")
    sidecut: Amount | None = amount("Sidecut", None, 35.0, (2.0, 1000.0),
        "Radius of the sidecut in metres; 0 takes the {cut}'s own", unit="m")
    angulation: Amount = angle("Angulation", 10, (0, 30), (-20, 45),
        "Edge angle beyond the lean in a full turn")
    angulation_limit: Amount = angle("Angulation Limit", 28, (0, 45), (1, 45),
        "Largest difference between edge angle and lean")
    edge_limit: Amount = angle("Edge Limit", 78, (20, 85), (5, 85),
        "Largest edge angle")
    float_angle: Amount = angle("Flat Below", 12, (0, 25), (0, 30),
        "Edge angle below which the skis rest flat in passing")
    skid: Amount = angle("Skid", 25, (0, 60), (0, 60),
        "How far the skis turn across the path where they cannot carve it")


@dataclass(frozen=True)
class GazeStyle:
    """Where the head looks, of whoever turns."""

    look_ahead: Amount = amount("Look Ahead", 0.8, 2.0, (0.0, 5.0),
        "How many seconds ahead the {who} looks", unit="TIME_ABSOLUTE", section="Head")
    gaze_limit: Amount = angle("Gaze Limit", 62, (0, 80), (0, 85),
        "Largest turn of the head against the chest")
    gaze_down: Amount = angle("Gaze Down", 8, (-10, 40), (-45, 80),
        "Gaze below the horizon")
    head_level: Amount = amount("Level Head", 0.8, 1.0, (-0.5, 1.0),
        "How far the head levels out", unit="FACTOR")


def within_ranges(style: Style) -> tuple[Style, tuple[Problem, ...]]:
    """A style whose amounts a body can be asked for, and a line for each that was not.

    An amount that is not a number becomes the default.

    Args:
        style: a style's dataclass.

    Returns:
        The style, and the problems.
    """
    changed: dict[str, Any] = {}
    problems = []
    for row in rows_of(type(style)):
        value = getattr(style, row.name)
        if row.within is None or value is None:
            continue
        low, high = row.within
        given = np.asarray(value, dtype=float)
        default: Any = row.default if row.default is not None else max(low, 1.0)
        kept = np.clip(np.where(np.isfinite(given), given, default), low, high)
        if np.array_equal(kept, given):
            continue
        changed[row.name] = kept if kept.ndim else float(kept)
        # Blender keeps an end in single precision, in which it may lie just beyond.
        wrong = ~np.isclose(kept, given, rtol=1e-6, atol=0.0)
        if not np.any(wrong):
            continue
        first = np.ravel(given)[np.argmax(np.ravel(wrong))]
        problems.append(
            Problem(
                "STYLE_LIMITED",
                f"{row.label} is {first:.4g} (in SI units and radians): a body can do "
                f"{low:.4g} to {high:.4g}, and the nearest is used",
                "INFO",
                amount=float(first),
                remedy=f"{row.label} within that range",
                fix=((row.name, float(np.clip(np.nan_to_num(first), low, high))),),
            )
        )
    kept_style: Any = replace(style, **changed) if changed else style  # type: ignore[type-var]
    return kept_style, tuple(problems)
