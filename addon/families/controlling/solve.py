# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a script: tables first, then the figure."""

from __future__ import annotations

from dataclasses import replace

from ....solvers.clock import Clock
from ....solvers.control.build import Table
from ...mapping.handover import Handover
from ..base import Progress, part_of
from . import tables
from .figures import FIGURES
from .figures.base import Ran, Stretch
from .job import ControlJob, ControlRun, SolvedControl

PER_FRAME = 2
"""Rows of a frame: keys have exact slopes there."""


def solve(job: ControlJob, before: Handover | None, progress: Progress) -> SolvedControl:
    """Solve a job, from where the ones before it end.

    Args:
        job: what was read.
        before: how the joints are at the end of the motion of another family that the first of
            them goes on from; None where it begins by itself.
        progress: called with the fraction done.
    """
    jobs = (*job.before, job)
    solved: SolvedControl | None = None
    for k, one in enumerate(jobs):
        if solved is not None:
            body = FIGURES[one.machine].continued(one.body, jobs[0].body)
            struck = one.struck
            if struck is not None:  # it stands where the first of them began
                struck = replace(struck, plane=jobs[0].plane)
            one = replace(one, body=body, start=solved.motion.ran.states[-1], struck=struck)
        elif before is not None:
            figure = FIGURES[one.machine]
            one = replace(one, start=figure.handed(one.body, one.start, before))
        solved = _one(one, part_of(progress, k, len(jobs)))
    assert solved is not None
    return solved


def _one(job: ControlJob, progress: Progress) -> SolvedControl:
    figure = FIGURES[job.machine]
    built: list[Table | None] = []
    problems = list(job.told)
    for k, (plan, data) in enumerate(zip(job.plans, job.stored, strict=True)):
        source = tables.source_of(job.machine, job.body, plan)
        table, told = tables.table_for(
            figure, source, job.body, plan, data,
            part_of(progress, k, 2 * len(job.plans)),
        )
        built.append(table)
        problems += told
    script = [
        Stretch(job.plans[line.plan], built[line.plan], line.seconds, line.until_reached,
                line.region, line.whenever)
        for line in job.script
    ]
    clock = Clock.running(job.end_frame - job.start_frame + 1, job.numbers.fps, PER_FRAME)
    ran: Ran = figure.run(
        job.body, job.start, script, clock, job.slew, lambda x: progress(0.5 + 0.5 * x),
        job.struck,
    )
    spans = figure.coordinates(job.body)
    run = ControlRun(ran, tuple(script), spans, (*problems, *ran.problems))
    return SolvedControl(job, run, figure.tracks(job.body, ran, clock))
