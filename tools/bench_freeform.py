# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmark rows of free-form motion: a minute of a dance phrase, solved and mapped."""

from __future__ import annotations

import time
from dataclasses import replace

import bpy
import freeform_scenes
import numpy as np
import scenes
from bench_gait import _stepped
from bench_rows import Row, side_by_side

SECONDS, EACH = 60.0, 3.0


def _longer(job):
    """The phrase again and again, each time as far ahead of where it was as it leads."""
    count = round(SECONDS / EACH)
    poses, frames = job.poses, round(EACH * scenes.FPS)
    way = np.diff(poses.position["pelvis"][[0, -1]], axis=0) * (1.0, 1.0, 0.0)

    def again(of, step):
        return {
            role: np.concatenate([values + k * step for k in range(count)])
            for role, values in of.items()
        }

    clock = type(poses.clock).running(count * len(job.names), 1.0)
    return replace(
        job, end_frame=job.start_frame + round(SECONDS * scenes.FPS),
        names=job.names * count, supports=job.supports * count,
        frames=np.concatenate([job.frames + k * frames for k in range(count)]),
        turns=np.tile(job.turns, (count, 1)),
        poses=replace(poses, clock=clock, position=again(poses.position, way),
                      rotation=again(poses.rotation, 0.0)),
    )


def rows() -> list[Row]:
    """Measure a minute of a dance with a leap every three seconds."""
    from poise.addon import pipeline
    from poise.addon.families.freeform import solve as solving

    (rig,) = freeform_scenes.dance()
    job = _longer(pipeline.gather(bpy.context, rig.poise.motion_object))
    bpy.context.scene.frame_end = job.end_frame

    def solved_and_mapped():
        for known in (solving.PLANS, solving.BODIES):
            known.__init__()  # as if for the first time
        return pipeline.solve(job)

    one = side_by_side(lambda: _stepped(rig), solved_and_mapped, clock=time.process_time)
    return [
        Row("60 s of a dance phrase with leaps: solved and mapped",
            "frames of the baked rig stepped through", *one, limit=300.0),
    ]
