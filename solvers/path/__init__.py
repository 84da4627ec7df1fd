# SPDX-License-Identifier: GPL-3.0-or-later
"""Path following among obstacles: van de Panne, Fiume and Vranesic (1993), section 6."""

from .follow import Candidate, Failure, PathMotion
from .obstacles import Disc, Gate, MovingDisc, Polygon, Wall
from .settings import PathScene, PathSettings
from .solve import follow_path
from .terrain import TerrainMesh

__all__ = [
    "Candidate",
    "Disc",
    "Failure",
    "Gate",
    "MovingDisc",
    "PathMotion",
    "PathScene",
    "PathSettings",
    "Polygon",
    "TerrainMesh",
    "Wall",
    "follow_path",
]
