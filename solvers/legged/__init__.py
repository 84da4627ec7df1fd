# SPDX-License-Identifier: GPL-3.0-or-later
"""Legged motion of animals with any number of legs: Girard (1986)."""

from .choose import choose_gaits
from .creature import Creature, Leg
from .gait import PRESETS, Gait, metachronal
from .motion import Footprint, GaitMotion
from .settings import FootprintEdit, GaitItem, GaitSettings
from .solve import solve_gait

__all__ = [
    "PRESETS",
    "Creature",
    "Footprint",
    "FootprintEdit",
    "Gait",
    "GaitItem",
    "GaitMotion",
    "GaitSettings",
    "Leg",
    "choose_gaits",
    "metachronal",
    "solve_gait",
]
