# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve turns, and motions along a path; those are remembered."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import fields, replace

import numpy as np

from ....solvers.errors import SettingError
from ....solvers.motion import TurningMotion
from ....solvers.path import PathMotion, PathScene, PathSettings, follow_path
from ....solvers.turning.solve import solve_turning
from ...digests import digest
from ...errors import UserError
from ...mapping import sequence
from ...mapping.registry import MAPPINGS
from ..base import NoMotion, Progress, speed_step
from .job import RidingJob, SolvedRide, path_problems

# How many motions along a path are remembered.
MOST_PLANS = 12


def solve(job: RidingJob, progress: Progress) -> SolvedRide:
    """Solve a job, after the motions that it continues."""
    own = len(job.before)
    jobs = (*job.before, job, *job.following)
    solved, paths = _solve_in_turn(jobs, own, progress)
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
    jobs: tuple[RidingJob, ...], own: int, progress: Progress
) -> tuple[list[TurningMotion], list[PathMotion | None]]:
    """Solve motions that continue each other, up to one after `own` that cannot be solved."""
    solved: list[TurningMotion] = []
    paths: list[PathMotion | None] = []
    for i, job in enumerate(jobs):
        settings = job.settings
        if solved:
            settings = replace(settings, start_state=solved[-1].end_state)
        try:
            motion, path = _solve_one(
                job, settings, lambda fraction, i=i: progress((i + fraction) / len(jobs))
            )
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
    path = _plans.get(job.course, settings, progress)
    if path.motion.clock.count < 2:
        raise NoMotion(path_problems(job, path.motion.problems))
    return path.motion, path


class _Plans:
    """Motions along paths that were planned last: preview, Plan, bake and camera share them.

    A motion is a function of course and settings, so that what is remembered
    can never be out of date.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, PathMotion] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, scene: PathScene, settings: PathSettings, progress: Progress) -> PathMotion:
        key = digest((scene, settings))
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = follow_path(scene, settings, progress)
        with self._lock:
            self._known[key] = found
            while len(self._known) > MOST_PLANS:
                self._known.popitem(last=False)
        return found

    def knows(self, scene: PathScene, settings: PathSettings) -> bool:
        with self._lock:
            return digest((scene, settings)) in self._known


_plans = _Plans()


def is_planned(job: RidingJob) -> bool:
    """Whether a job can be solved without planning a path anew."""
    for member in (*job.before, job, *job.following):
        if member.course is None:
            continue
        if member is not (*job.before, job)[0]:
            return False  # where it starts is known only when the one before is solved
        if not _plans.knows(member.course, member.settings):
            return False
    return True
