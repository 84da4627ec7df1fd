# SPDX-License-Identifier: GPL-3.0-or-later
"""What free-form motion is read into, and what it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ....solvers.freeform import FreeformMotion
from ....solvers.motion import Placement, Problem
from ....solvers.path.terrain import TerrainMesh
from ...mapping.freeform import RoleBody
from ...mapping.legs import LeggedFigure
from ...mapping.tracks import RoleTracks
from ..base import Job, Solved, ground_problems


@dataclass(frozen=True)
class FreeformJob(Job):
    """Postures of a body.

    Attributes:
        names: of the postures, for messages.
        poses: one row a posture: where the roles are, as the Motion object sees them.
        frames: (k,) when.
        supports: limbs that bear the body in each.
        turns: (k, 3) whole turns on the way to each, as the Motion object sees them.
        placement: where the Motion object stands.
        timing: "FRAMES" or "DISTANCE".
        pace: preset's name, or (n, 2) shares of the range and of the way.
        end_speed: ahead at the last posture, m/s.
        terrain: what supports stand on; None for level ground.
        terrain_moves: it may be another one at other frames.
    """

    figure: LeggedFigure = field(kw_only=True)
    before: tuple[FreeformJob, ...] = ()
    following: tuple[FreeformJob, ...] = ()
    names: tuple[str, ...] = ()
    poses: RoleTracks = field(kw_only=True)
    frames: np.ndarray = field(kw_only=True)
    supports: tuple[tuple[str, ...], ...] = ()
    turns: np.ndarray = field(kw_only=True)
    placement: Placement = Placement()
    timing: str = "FRAMES"
    pace: str | np.ndarray = "MINIMUM_JERK"
    end_speed: float = 0.0
    terrain: TerrainMesh | None = None
    terrain_moves: bool = False


@dataclass(frozen=True)
class SolvedFreeform(Solved):
    """Solved free-form motion.

    Attributes:
        body: the figure as links.
        met: (k,) s at which its postures are taken.
        shares: (k,) of the way at which they lie; empty where frames tell when they are taken.
    """

    LEGS: ClassVar[tuple[float, float]] = (0.005, 10.0)

    job: FreeformJob
    motion: FreeformMotion
    tracks: RoleTracks
    body: RoleBody = field(kw_only=True)
    met: np.ndarray = field(kw_only=True)
    shares: np.ndarray = field(kw_only=True)

    def of_motion(self) -> tuple[Problem, ...]:
        name = "" if self.job.terrain is None else self.job.terrain.name
        return ground_problems(name, self.job.terrain_moves, None) + self.motion.problems
