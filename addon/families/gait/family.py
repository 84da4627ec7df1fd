# SPDX-License-Identifier: GPL-3.0-or-later
"""Legged motion as a family: reads, solves, sums up and draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....solvers.turning.settings import sample_times
from ...drawing import diagrams
from ...mapping.registry import MAPPINGS
from ..base import Family, Way, sampled_style, without
from . import view
from .gather import depends_on, gather
from .numbers import distance_of, numbers_of, stride_times
from .solve import solve


class Gaits(Family):
    """Gaits of animals with any number of legs."""

    name = "LEGGED"
    moves = "gaits"

    def gather(self, context, motion, kind, numbers):
        return self.restyled(context, gather(context, motion, kind, numbers), motion)

    def restyled(self, context, job, motion):
        count = job.end_frame - job.start_frame + 1
        frames = job.start_frame + sample_times(count, job.numbers.fps)[::2] * job.numbers.fps
        style = sampled_style(context, motion, MAPPINGS[job.kind].group, frames)
        return replace(job, name=motion.name, style=style)

    def solve(self, job, progress):
        return solve(job, progress)

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
            ),
            "place of the motion": settings.placement,
            "path": (settings.path, settings.closed),
            "terrain": None if ground is None else ground.mesh,
        }

    def depends_on(self, motion):
        return depends_on(motion)

    def numbers(self, solved):
        return numbers_of(solved)

    def track(self, solved, palette):
        return view.track_strokes(solved, palette)

    def course(self, solved):
        return view.course_strokes(solved)

    def marks(self, solved):
        return view.marks(solved)

    def ghost(self, solved, row, palette):
        return view.ghost_strokes(solved, row, palette)

    def hud(self, solved, row):
        return view.hud_lines(solved, row)

    def way(self, solved):
        motion = solved.motion
        ground = np.min(motion.foot_position[:, :, 2], axis=1)
        level = np.column_stack((motion.position[:, :2], ground))
        if solved.job.in_place:
            level = np.broadcast_to(level[:1], level.shape)
        forward = np.column_stack(
            (np.sin(motion.yaw), -np.cos(motion.yaw), np.zeros(len(motion.yaw)))
        )
        up = np.tile((0.0, 0.0, 1.0), (len(level), 1))
        stride = stride_times(motion, solved.job.settings)
        beat = float(np.median(stride)) if len(stride) else float(motion.time[-1])
        return Way(motion.time, level, forward, up, distance_of(motion), beat)

    inset_size = (420, 150)
    inset_rolls = True

    def shows_inset(self, motion):
        return motion.poise_motion.gait.show_diagram

    def inset(self, solved, row, width, height):
        return view.inset(solved, row, width, height)

    def inset_now(self, solved, row, width, height):
        upper, lower = view.inset_axes(solved, row, width, height)
        across = upper.place(float(solved.motion.time[row]), 0.0)[0, 0]
        return np.array(((across, lower.bottom), (across, upper.top)))

    def diagrams(self):
        return {"GAIT": diagrams.gait_diagram}

    def trail(self, solved):
        return f"{solved.job.name} leaves footprints, no trail, and needs no slope"
