# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses reached on time: Allen, Neff and Faloutsos, "Pose Control in Dynamic Conditions"."""

from .arrive import Aim, Remedy, aim, arrival_gain, remedies, rest_phase, set_point
from .gain import Gain, critical_gain, damped_gain, move

__all__ = [
    "Aim",
    "Gain",
    "Remedy",
    "aim",
    "arrival_gain",
    "critical_gain",
    "damped_gain",
    "move",
    "remedies",
    "rest_phase",
    "set_point",
]
