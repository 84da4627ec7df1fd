# SPDX-License-Identifier: GPL-3.0-or-later
"""What a legged motion is read into, and what it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ....solvers.legged import GaitMotion, GaitSettings
from ....solvers.motion import Placement, Problem
from ...mapping.legs import LeggedFigure
from ...mapping.swings import Arms
from ...mapping.tracks import RoleTracks
from ...settings.gait import PoiseGait
from ...settings.rows import with_paths
from ..base import Job, Solved, ground_problems


@dataclass(frozen=True)
class GaitJob(Job):
    """A legged motion.

    Attributes:
        own: placement of the Motion object at the start: edited footprints are seen from there.
        in_place: the body stays where it starts.
        cycle: its last frame is its first again.
        curve: name of the path's curve, "" without one.
        speeds: (distance along the way, speed) of places, m and m/s.
        terrain_moves: the terrain may be another one at other frames.
        arms: how arms go while legs swing through postures.
    """

    settings: GaitSettings
    figure: LeggedFigure = field(kw_only=True)
    before: tuple[GaitJob, ...] = ()
    following: tuple[GaitJob, ...] = ()
    own: Placement = Placement()
    in_place: bool = False
    cycle: bool = False
    curve: str = ""
    speeds: tuple[tuple[float, float], ...] = ()
    terrain_moves: bool = False
    arms: Arms = field(default_factory=dict)


@dataclass(frozen=True)
class SolvedGait(Solved):
    """A solved legged motion."""

    LEGS: ClassVar[tuple[float, float]] = (0.005, 10.0)

    job: GaitJob
    motion: GaitMotion
    tracks: RoleTracks

    def of_motion(self) -> tuple[Problem, ...]:
        ground, path = self.job.settings.ground, self.job.settings.path
        name = "" if ground is None else ground.mesh.name
        own = ground_problems(name, self.job.terrain_moves, path)
        return own + with_paths(self.motion.problems, "gait", PoiseGait.ROWS)
