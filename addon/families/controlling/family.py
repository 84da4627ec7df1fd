# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers as a family of motions: of mechanical figures, joint by joint."""

from __future__ import annotations

from ..family import Family
from .figures import FIGURES, figure_of
from .gather import gather
from .job import ControlJob, SolvedControl
from .solve import solve
from .view import ControlView


class Controllers(Family[ControlJob, SolvedControl]):
    """Scripts of controllers and motor programs."""

    name = "CONTROLLED"
    moves = "controllers"
    view = ControlView()
    joints = True

    def able(self, actor):
        return "" if figure_of(actor) else f"{actor.name} is no mechanical figure"

    def gather(self, context, motion, actor, numbers):
        return gather(context, motion, actor, numbers)

    def solve(self, job, before, progress):
        return solve(job, before, progress)

    def spins(self, solved, row):
        time, figure = float(solved.tracks.time[row]), FIGURES[solved.job.machine]
        # Tracks may have rows of their own beside those of the states.
        return figure.spins(solved.job.body, solved.motion.ran, row, time)

    def depends_on(self, motion):
        settings = motion.poise_motion.control
        found = [settings.street, settings.obstacles]
        if settings.obstacles is not None:
            found += settings.obstacles.all_objects
        return [item for item in found if item is not None]

    def inputs(self, job):
        return {
            "settings": (
                job.start, job.plans, [line.told for line in job.script], job.slew,
                *(() if job.struck is None else (job.struck,)),
            ),
            "character": (job.machine, job.links.rests),
            **FIGURES[job.machine].inputs(job.body),
        }

    def named(self, job):
        return {"settings": {
            "Start": job.start, "Controllers": job.plans,
            "Script": [line.told for line in job.script], "Slew": job.slew,
            "Disturbances": job.struck,
        }}
