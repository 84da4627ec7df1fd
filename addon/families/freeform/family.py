# SPDX-License-Identifier: GPL-3.0-or-later
"""Free-form motion as a family: dance, leaps, pounces, whatever is no gait."""

from __future__ import annotations

from ...mapping.freeform import rides
from ...rigs import characters
from ..family import Family
from .gather import gather
from .job import FreeformJob, SolvedFreeform
from .solve import solve
from .view import FreeformView


class Freeform(Family[FreeformJob, SolvedFreeform]):
    """Postures of a whole body, one after the other."""

    name = "FREEFORM"
    moves = "free-form motion"
    view = FreeformView()

    def able(self, actor):
        if not actor.kind:
            return f"{actor.name} is not a Poise character"
        stands = actor.family == "LEGGED" or rides(characters.role_bones_of(actor.armature))
        return "" if stands else f"{actor.name} cannot do {self.moves}"

    def gather(self, context, motion, actor, numbers):
        return gather(context, motion, actor, numbers)

    def solve(self, job, before, progress):
        return solve(job, before, progress)

    def inputs(self, job):
        return {
            "settings": (
                job.frames, job.supports, job.turns, job.timing, job.pace, job.end_speed,
                *(() if job.terrain is None else (job.terrain,)),
            ),
            "postures": (job.poses.position, job.poses.rotation),
            "place of the motion": job.placement,
        }

    def depends_on(self, motion):
        terrain = motion.poise_motion.freeform.terrain
        return [] if terrain is None else [terrain]

    def named(self, job):
        return {"settings": {
            "Postures": (job.frames, job.supports, job.turns), "Timing": job.timing,
            "Speed": job.pace, "End Speed": job.end_speed, "Terrain": job.terrain,
        }}
