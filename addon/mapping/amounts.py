# SPDX-License-Identifier: GPL-3.0-or-later
"""Amounts of a style kept to what a body can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from math import inf, radians
from typing import Any, TypeVar

import numpy as np

from ...solvers.motion import Problem

Style = TypeVar("Style")


def degrees(low: float, high: float) -> tuple[float, float]:
    """A range given in degrees, in radians.

    Args:
        low: least.
        high: most.
    """
    return radians(low), radians(high)


# Amounts of everything with an edge: name -> least, most.
EDGE_RANGES: dict[str, tuple[float, float]] = {
    "edge_per_curvature": (0.0, 200.0),
    "angulation": degrees(-20, 45),
    "angulation_limit": degrees(1, 45),
    "edge_limit": degrees(5, 85),
    "sidecut": (2.0, 1000.0),
    "float_angle": degrees(0, 30),
    "skid": degrees(0, 60),
}

# Amounts that skiers and snowboarders share: name -> least, most.
SHARED_RANGES: dict[str, tuple[float, float]] = {
    "knee_flexion": degrees(0, 120),
    "up_down": (-0.5, 1.0),
    "stiffness": (50.0, inf),
    "unweighting_amount": (-0.3, 0.4),
    **EDGE_RANGES,
    "trunk_pitch": degrees(-20, 75),
    "waist_follow": (-1.0, 2.0),
    "shoulder_level": (-0.5, 1.0),
    "twist": degrees(-60, 60),
    "face_heading": (0.0, 1.0),
    "twist_limit": degrees(0, 80),
    "look_ahead": (0.0, 5.0),
    "gaze_limit": degrees(0, 85),
    "gaze_down": degrees(-45, 80),
    "head_level": (-0.5, 1.0),
    "inside_hand": (-0.3, 0.4),
}

def within_ranges(
    style: Style, ranges: Mapping[str, tuple[float, float]]
) -> tuple[Style, tuple[Problem, ...]]:
    """A style whose amounts lie within ranges, and a line for each that did not.

    An amount that is not a number becomes the default.

    Args:
        style: a style's dataclass.
        ranges: name -> least, most.

    Returns:
        The style, and the problems.
    """
    changed: dict[str, Any] = {}
    problems = []
    for item in fields(style):  # type: ignore[arg-type]
        value = getattr(style, item.name)
        if item.name not in ranges or value is None:
            continue
        low, high = ranges[item.name]
        given = np.asarray(value, dtype=float)
        default: Any = item.default if item.default is not None else max(low, 1.0)
        kept = np.clip(np.where(np.isfinite(given), given, default), low, high)
        wrong = kept != given
        if not np.any(wrong):
            continue
        changed[item.name] = kept if kept.ndim else float(kept)
        first = np.ravel(given)[np.argmax(np.ravel(wrong))]
        label = item.name.replace("_", " ").capitalize()
        problems.append(
            Problem(
                "STYLE_LIMITED",
                f"{label} is {first:.4g} (in SI units and radians): a body can do "
                f"{low:.4g} to {high:.4g}, and the nearest is used",
                "INFO",
                amount=float(first),
                remedy=f"{label} within that range",
                fix=((item.name, float(np.clip(np.nan_to_num(first), low, high))),),
            )
        )
    kept_style: Any = replace(style, **changed) if changed else style  # type: ignore[type-var]
    return kept_style, tuple(problems)
