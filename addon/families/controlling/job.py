# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts of controllers as jobs, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....solvers.control.knocks import Plane
from ....solvers.control.plans import Plan, Span
from ....solvers.control.regions import Region
from ....solvers.motion import Problem
from ...mapping.links import Links
from ...mapping.tracks import JointTracks
from ..base import Job, Solved
from .figures.base import Ran, Stretch, Struck


@dataclass(frozen=True)
class Line:
    """A line of a script.

    Attributes:
        plan: number of the controller.
        seconds: for how long, at the most.
        until_reached: whether it ends where the destination is reached.
        region: where it ends, or where it is in force; None for none.
        whenever: whether it is in force whenever the state is within the region.
    """

    plan: int
    seconds: float
    until_reached: bool
    region: Region | None = None
    whenever: bool = False

    @property
    def told(self) -> dict[str, object]:
        """What it says, as bakes know it: a line without a region is what it was before."""
        said: dict[str, object] = {
            "plan": self.plan, "seconds": self.seconds, "until_reached": self.until_reached
        }
        if self.region is not None:
            said |= {"region": self.region, "whenever": self.whenever}
        return said


@dataclass(frozen=True)
class ControlJob(Job):
    """A figure and its script.

    Attributes:
        machine: what mechanical figure it is.
        body: what is known of it.
        start: (d,) state; of a motion that goes on from another one it does not count.
        plans: controllers that the script takes.
        stored: what the file has of each of their tables; None for nothing.
        script: the lines.
        slew: how fast controls may change, 1/s of their range; 0 for no limit.
        told: what was noticed while reading.
        struck: what disturbs the figure; None for nothing.
        plane: where the figure's plane is; None of one that nothing can knock.
    """

    links: Links = field(kw_only=True)
    before: tuple[ControlJob, ...] = ()
    machine: str = ""
    body: Any = None
    start: np.ndarray = field(kw_only=True)
    plans: tuple[Plan, ...] = ()
    stored: tuple[bytes | None, ...] = ()
    script: tuple[Line, ...] = ()
    slew: float = 0.0
    told: tuple[Problem, ...] = ()
    struck: Struck | None = None
    plane: Plane | None = None


@dataclass(frozen=True)
class ControlRun:
    """What a script did.

    Attributes:
        ran: states and controls.
        script: the lines, with their controllers' tables.
        spans: the state's coordinates.
        problems: what yielded.
    """

    ran: Ran
    script: tuple[Stretch, ...]
    spans: tuple[Span, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the lines' controllers."""
        return tuple(line.plan.name for line in self.script)


@dataclass(frozen=True)
class SolvedControl(Solved):
    """A solved script."""

    job: ControlJob
    motion: ControlRun
    tracks: JointTracks
