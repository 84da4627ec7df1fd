# SPDX-License-Identifier: GPL-3.0-or-later
"""What a ride is read into, and what it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ....solvers.motion import Problem, TurningMotion
from ....solvers.path import PathMotion, PathScene, PathSettings
from ....solvers.path.course import make_course
from ....solvers.path.search import make_gates
from ....solvers.turning.settings import TurningSettings
from ...mapping.tracks import Figure, RoleTracks
from ...settings.path import PoisePath
from ...settings.rows import with_paths
from ...settings.turns import PoiseTurns
from ..base import Job, Solved, ground_problems
from .plans import PLANS


@dataclass(frozen=True)
class RidingJob(Job):
    """A ride: `settings.start_state` is still open where it continues another.

    Attributes:
        course: path, obstacles and gates of a motion along a path, or None
            for turns. Such a motion ends where the path does.
        terrain_moves: the terrain may be another one at other frames.
    """

    settings: TurningSettings | PathSettings
    figure: Figure = field(kw_only=True)
    before: tuple[RidingJob, ...] = ()
    following: tuple[RidingJob, ...] = ()
    course: PathScene | None = None
    terrain_moves: bool = False

    @property
    def is_planned(self) -> bool:
        """Whether no path has to be planned anew."""
        first = (*self.before, self)[0]
        for member in (*self.before, self, *self.following):
            if member.course is None:
                continue
            # Where it starts is known only when the one before is solved.
            if member is not first or self.arrives is not None:
                return False
            if not PLANS.knows((member.course, member.settings)):
                return False
        return super().is_planned

    @property
    def ends_by_itself(self) -> bool:
        """Whether it ends where its path does."""
        return self.course is not None


@dataclass(frozen=True)
class SolvedRide(Solved):
    """A solved ride.

    Attributes:
        path: how well it follows its path, or None for turns.
    """

    job: RidingJob
    motion: TurningMotion
    tracks: RoleTracks
    path: PathMotion | None = None

    def of_motion(self) -> tuple[Problem, ...]:
        return path_problems(self.job, self.motion.problems)


def path_problems(job: RidingJob, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """A motion's problems, with fixes named after the animator's settings.

    Args:
        job: the motion's job.
        problems: as the solver found them.
    """
    if job.course is None:
        return with_paths(problems, "turns", PoiseTurns.ROWS)
    terrain = "" if job.course.terrain is None else job.course.terrain.name
    own = ground_problems(terrain, job.terrain_moves, np.concatenate(job.course.polylines))
    found = with_paths(problems, "path", PoisePath.ROWS)
    return own + tuple(replace(p, fix=tuple(_of_gate(job, *fix) for fix in p.fix)) for p in found)


def _of_gate(job: RidingJob, setting: str, value: float) -> tuple[str, float]:
    """A fix as it is, or of a gate's place with the gate's name."""
    _before, found, rest = setting.partition("path.gates[")
    if not found:
        return setting, value
    number = int(rest.partition("]")[0])
    scene = job.course
    assert scene is not None  # turns have no gates
    window = 2.0 * float(np.max(job.settings.speed)) * job.settings.stage
    line = make_gates(
        scene.gates, make_course(scene.polylines, scene.cyclic, window, laps=scene.laps)
    )[number]
    # The solver counts to the left of the way through, an object along its own X axis.
    gate = scene.gates[number]
    axis = np.asarray(gate.left)[:2] - np.asarray(gate.right)[:2]
    side = float(np.dot((-line.ahead[1], line.ahead[0]), axis))
    return f"gate.{gate.name}", value if side > 0.0 else -value
