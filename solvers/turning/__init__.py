# SPDX-License-Identifier: GPL-3.0-or-later
"""Turning figures: van de Panne, Fiume and Vranesic (1993)."""

from .settings import TurningSettings, sample_times, steps_per_frame
from .solve import solve_turning
from .summary import TurnSummary, summarise

__all__ = [
    "TurnSummary",
    "TurningSettings",
    "sample_times",
    "solve_turning",
    "steps_per_frame",
    "summarise",
]
