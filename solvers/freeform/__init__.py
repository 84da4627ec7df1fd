# SPDX-License-Identifier: GPL-3.0-or-later
"""Free-form motion: limbs and bodies through sequences of postures (Girard 1986)."""

from .body import Body, Limb, Posture
from .limb import LimbMotion, LimbPath
from .motion import Contact, FreeformMotion, PostureSequence
from .pace import PRESETS, Pace
from .solve import FreeformPlan, solve

__all__ = [
    "PRESETS",
    "Body",
    "Contact",
    "FreeformMotion",
    "FreeformPlan",
    "Limb",
    "LimbMotion",
    "LimbPath",
    "Pace",
    "Posture",
    "PostureSequence",
    "solve",
]
