# SPDX-License-Identifier: GPL-3.0-or-later
"""State-space controllers: van de Panne, Fiume and Vranesic (1990)."""

from .build import Table, build
from .grid import Axis, Grid, around
from .run import Command, Controller, Rest, Run, rest_law, run

__all__ = [
    "Axis",
    "Command",
    "Controller",
    "Grid",
    "Rest",
    "Run",
    "Table",
    "around",
    "build",
    "rest_law",
    "run",
]
