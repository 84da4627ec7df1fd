# SPDX-License-Identifier: GPL-3.0-or-later
"""Legged motion as a family: reads, solves, sums up and draws."""

from __future__ import annotations

from ...settings.gait import PoiseGait
from ..base import by_label, restyled, without
from ..family import Family
from .gather import depends_on, gather
from .job import GaitJob, SolvedGait
from .solve import solve
from .view import GaitView


class Gaits(Family[GaitJob, SolvedGait]):
    """Gaits of animals with any number of legs."""

    name = "LEGGED"
    moves = "gaits"
    view = GaitView()

    def gather(self, context, motion, actor, numbers):
        return restyled(context, gather(context, motion, actor.kind, numbers), motion)

    def restyled(self, context, job, motion):
        return restyled(context, job, motion)

    def solve(self, job, before, progress):
        return solve(job, before, progress)

    def inputs(self, job):
        settings = job.settings
        ground = settings.ground
        return {
            "settings": (
                without(
                    settings, "n_frames", "fps", "gravity", "placement", "path", "closed",
                    "ground", "creature",
                ),
                job.in_place,
                job.cycle,
                job.arms,
            ),
            "place of the motion": settings.placement,
            "path": (settings.path, settings.closed),
            "terrain": None if ground is None else ground.mesh,
        }

    def named(self, job):
        settings = job.settings
        return {"settings": {
            **by_label(PoiseGait.ROWS, settings), "Gaits": settings.sequence,
            "Edited Footprints": settings.edits, "Cycle": job.cycle, "In Place": job.in_place,
            "Swing From": job.arms,
        }}

    def depends_on(self, motion):
        return depends_on(motion)
