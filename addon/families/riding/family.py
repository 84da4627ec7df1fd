# SPDX-License-Identifier: GPL-3.0-or-later
"""Riding as a family: reads, solves, sums up and draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import degrees

import numpy as np

from ....solvers.turning.settings import sample_times
from ...drawing import diagrams
from ...mapping.registry import MAPPINGS
from ...scene import course
from ..base import Family, Way, sampled_style, without
from . import view
from .gather import gather
from .numbers import numbers_of
from .solve import is_planned, solve


class Riding(Family):
    """Turns by frequency, sharpness and heading, and ways along a path."""

    name = "RIDING"
    moves = "turns or paths on equipment"

    def gather(self, context, motion, kind, numbers):
        return self.restyled(context, gather(context, motion, kind, numbers), motion)

    def restyled(self, context, job, motion):
        times = sample_times(job.end_frame - job.start_frame + 1, job.numbers.fps)[::2]
        frames = job.start_frame + times * job.numbers.fps
        style = sampled_style(context, motion, MAPPINGS[job.kind].group, frames)
        return replace(job, name=motion.name, style=style)

    def solve(self, job, progress):
        return solve(job, progress)

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

    def is_planned(self, job):
        return is_planned(job)

    def ends_by_itself(self, job):
        return job.course is not None  # where its path does

    def depends_on(self, motion):
        return course.everything(motion) if motion.poise_motion.kind == "PATH" else []

    def collections(self, motion):
        path = motion.poise_motion.path
        if motion.poise_motion.kind != "PATH":
            return []
        return [found for found in (path.obstacles, path.gates) if found is not None]

    def numbers(self, solved):
        return numbers_of(solved.motion, solved.path)

    def track(self, solved, palette):
        return view.track_strokes(solved, palette)

    def course(self, solved):
        return view.course_strokes(solved)

    def rejected(self, solved):
        return view.rejected_strokes(solved)

    def ghost(self, solved, row, palette):
        return view.ghost_strokes(solved, row, palette)

    def hud(self, solved, row):
        return view.hud_lines(solved, row)

    def way(self, solved):
        motion = solved.motion
        spans = [turn.end - turn.start for turn in motion.half_turns if turn.complete]
        # A typical half turn; the whole motion where it has none.
        beat = float(np.median(spans)) if spans else float(motion.time[-1])
        return Way(
            motion.time, motion.position, motion.forward, motion.normal,
            float(motion.distance[-1]), beat,
        )

    def inset(self, solved, row, width, height):
        return diagrams.phase_diagram(solved.motion, width, height, labelled=False)

    def inset_now(self, solved, row, width, height):
        motion = solved.motion
        axes = diagrams.phase_axes(motion, width, height, 10.0)
        return axes.place(degrees(motion.lean[row]), degrees(motion.lean_rate[row]))[0]

    def diagrams(self):
        return {"PHASE": diagrams.phase_diagram, "TIME": diagrams.time_diagram}
