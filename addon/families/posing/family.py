# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose timing as a family of motions: of any armature, on top of whatever plays on it."""

from __future__ import annotations

from ...settings.posing import PoisePoseTiming
from ..base import by_label
from ..family import Family
from .gather import gather
from .job import PosingJob, SolvedPoses
from .solve import solve, spins
from .view import PosingView


class PoseTiming(Family[PosingJob, SolvedPoses]):
    """Poses on their frames, and chains that swing after what carries them."""

    name = "POSING"
    moves = "poses"
    view = PosingView()
    lies = True

    def able(self, actor):
        joints = actor.joints
        if joints.type != "ARMATURE":  # a script may point a motion to anything
            return f"{actor.name} is not a Poise character"
        return "" if len(joints.data.bones) else f"{actor.name} has no bones to pose"

    def gather(self, context, motion, actor, numbers):
        return gather(context, motion, actor, numbers)

    def solve(self, job, before, progress):
        return solve(job, before, progress)

    def spins(self, solved, row):
        return spins(solved, row)

    def inputs(self, job):
        return {
            "settings": [
                (part.bones, part.settings, part.targets, part.disturbances, part.blends)
                for part in job.parts
            ],
            "character's rest pose": [(part.body, [link.rest for link in part.way])
                                      for part in job.parts],
            "what plays below": (job.under.digest, job.under.world),
        }

    def named(self, job):
        kept = [by_label(PoisePoseTiming.ROWS, part.settings) for part in job.parts]
        return {"settings": {
            "Targets": [part.targets for part in job.parts],
            "Disturbances": [part.disturbances for part in job.parts],
            "Bones": [(part.bones, part.blends) for part in job.parts],
            **{name: [each[name] for each in kept] for name in (kept[0] if kept else ())},
        }}
