# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses reached on time: Allen, Neff and Faloutsos, "Pose Control in Dynamic Conditions"."""

from ..dynamics.disturbances import Ball, Push, Shake
from .arrive import Aim, Remedy, aim, arrival_gain, remedies, rest_phase, set_point
from .gain import Gain, critical_gain, damped_gain, move
from .settings import Body, PoseSettings, Target
from .simulate import Arrival, PoseMotion, simulate

__all__ = [
    "Aim",
    "Arrival",
    "Ball",
    "Body",
    "Gain",
    "PoseMotion",
    "PoseSettings",
    "Push",
    "Remedy",
    "Shake",
    "Target",
    "aim",
    "arrival_gain",
    "critical_gain",
    "damped_gain",
    "move",
    "remedies",
    "rest_phase",
    "set_point",
    "simulate",
]
