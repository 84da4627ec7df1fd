# SPDX-License-Identifier: GPL-3.0-or-later
"""Riding as a family: reads, solves, sums up and draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...scene import course
from ...settings.path import PoisePath
from ...settings.turns import PoiseTurns
from ..base import by_label, restyled, without
from ..family import Family
from .gather import gather
from .job import RidingJob, SolvedRide
from .solve import solve
from .view import RidingView


class Riding(Family[RidingJob, SolvedRide]):
    """Turns by frequency, sharpness and heading, and ways along a path."""

    name = "RIDING"
    moves = "turns or paths on equipment"
    view = RidingView()

    def gather(self, context, motion, actor, numbers):
        return restyled(context, gather(context, motion, actor.kind, numbers), motion)

    def restyled(self, context, job, motion):
        return restyled(context, job, motion)

    def solve(self, job, before, progress):
        return solve(job, before, progress)

    def inputs(self, job):
        settings = job.settings
        parts: Mapping[str, object] = {
            "settings": without(settings, "n_frames", "fps", "gravity", "placement"),
            "place of the motion": settings.placement,
        }
        if job.course is None:
            return parts
        return {
            **parts,
            "settings": without(settings, "fps", "gravity", "placement", "most_seconds"),
            "frame range": job.start_frame,
            "path, obstacles and gates": replace(job.course, terrain=None),
            "terrain": job.course.terrain,
        }

    def named(self, job):
        rows = PoiseTurns.ROWS if job.course is None else PoisePath.ROWS
        found = {"settings": by_label(rows, job.settings)}
        if job.course is not None:
            way = job.course
            found["path, obstacles and gates"] = {
                "Path": (way.polylines, way.cyclic), "Laps": way.laps,
                "Obstacles": way.obstacles, "Gates": way.gates,
            }
        return found

    def depends_on(self, motion):
        path = motion.poise_motion.path
        if motion.poise_motion.kind != "PATH":
            return []
        both = (path.obstacles, path.gates)
        return [*course.everything(motion), *(found for found in both if found is not None)]
