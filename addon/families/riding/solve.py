# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve turns, and motions along a path; those are remembered."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from ....solvers.errors import SettingError
from ....solvers.motion import TurningMotion
from ....solvers.path import PathMotion
from ....solvers.turning.solve import solve_turning
from ...errors import UserError
from ...mapping import sequence
from ...mapping.handover import Handover
from ...mapping.registry import MAPPINGS
from ..base import NoMotion, Progress, looking, part_of, pose_only, speed_step
from .job import RidingJob, SolvedRide, path_problems
from .plans import PLANS


def solve(job: RidingJob, before: Handover | None, progress: Progress) -> SolvedRide:
    """Solve a job, after the motions that it continues."""
    if job.end_frame == job.start_frame and not job.ends_by_itself:
        return pose_only(job, lambda longer: solve(longer, before, progress))
    solved = _solve(job, before, progress)
    return replace(solved, tracks=looking(job, solved.tracks))


def _solve(job: RidingJob, before: Handover | None, progress: Progress) -> SolvedRide:
    own = len(job.before)
    jobs = (*job.before, job, *job.following)
    solved, paths = _solve_in_turn(jobs, own, before, progress)
    jobs = jobs[: len(solved)]
    if job.course is not None:
        job = replace(job, end_frame=job.start_frame + solved[own].clock.count - 1)
    pose = MAPPINGS[job.kind].function
    styles = [
        _fitted(j.style, len(motion.time)) for j, motion in zip(jobs, solved, strict=True)
    ]
    if len(jobs) == 1:
        return SolvedRide(
            job, solved[0], pose(solved[0], job.figure, styles[0]), (), paths[0]
        )
    joined = sequence.join_motions(solved, [j.settings.placement.yaw for j in jobs])
    tracks = pose(joined, job.figure, sequence.join_styles(styles, solved))
    start = sequence.seams(solved)[own]
    cut = sequence.cut_tracks(tracks, start, solved[own])
    seam = ()
    if own:
        seam = speed_step(float(solved[own - 1].speed[-1]), float(solved[own].speed[0]))
    return SolvedRide(job, solved[own], cut, seam, paths[own])


def _fitted(style, count: int):
    """A style whose samples are as many as the motion's; the last holds on."""
    changed = {}
    for field in fields(style):
        values = getattr(style, field.name)
        if np.ndim(values) == 1 and len(values) != count:
            short = np.asarray(values)[:count]
            changed[field.name] = np.pad(short, (0, count - len(short)), mode="edge")
    return replace(style, **changed) if changed else style


def _solve_in_turn(
    jobs: tuple[RidingJob, ...], own: int, before: Handover | None, progress: Progress
) -> tuple[list[TurningMotion], list[PathMotion | None]]:
    """Solve motions that continue each other, up to one after `own` that cannot be solved."""
    solved: list[TurningMotion] = []
    paths: list[PathMotion | None] = []
    for i, job in enumerate(jobs):
        settings = job.settings
        if solved:
            settings = replace(settings, start_state=solved[-1].end_state)
        elif before is not None:
            settings = replace(settings, start_state=before.state())
        try:
            motion, path = _solve_one(job, settings, part_of(progress, i, len(jobs)))
        except NoMotion:
            if i > own:
                break
            raise
        except SettingError as error:
            if i > own:
                # What cannot follow is told when it is baked itself.
                break
            if solved and not solved[-1].success:
                raise UserError(
                    f"{job.name} continues {jobs[i - 1].name}, which falls or stops before its "
                    "end: put that right first"
                ) from error
            if len(jobs) > 1:
                raise UserError(f"{job.name}: {error}") from error
            raise
        solved.append(motion)
        paths.append(path)
    return solved, paths


def _solve_one(
    job: RidingJob, settings, progress: Progress
) -> tuple[TurningMotion, PathMotion | None]:
    if job.course is None:
        return solve_turning(settings, progress), None
    path = PLANS.get(job.course, settings, progress)
    if path.motion.clock.count < 2:
        raise NoMotion(path_problems(job, path.motion.problems))
    return path.motion, path
