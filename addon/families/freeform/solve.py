# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve free-form motion. Motions that continue each other are solved as one sequence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain as joined

import numpy as np

from ....solvers import rotations
from ....solvers.clock import Clock
from ....solvers.errors import SettingError
from ....solvers.freeform import (
    PRESETS,
    FreeformMotion,
    FreeformPlan,
    Pace,
    Posture,
    PostureSequence,
)
from ....solvers.freeform.motion import Contact, Moving
from ....solvers.freeform.terrain import standing_as, stood
from ....solvers.legged.terrain import MeshGround, way_over
from ....solvers.motion import Problem
from ...errors import UserError
from ...mapping.freeform import (
    RoleBody,
    body_of,
    moved,
    postures_of,
    rates_of,
    rides,
    standing_roles,
    told_later,
    tracks_of,
)
from ...mapping.handover import Handover, at_the_ends
from ...mapping.tracks import ROOT
from ..base import Progress
from ..remembered import Remembered
from .job import FreeformJob, SolvedFreeform

LEAST = 2.0  # frames: postures nearer to the start of a chain are where it begins
SAME = 1e-4  # m, rad by which postures differ that are not the same


PLANS: Remembered[FreeformPlan] = Remembered()
BODIES: Remembered[RoleBody] = Remembered()


@dataclass(frozen=True)
class _Run:
    """Postures of motions that continue each other, in the world.

    Attributes:
        postures: in order.
        times: (k,) s from the start of the first motion.
        names: of the postures.
        start: how the body moves at the first one; None: it is at rest.
        glide: (3,) m/s at which all of it goes on, whoever stands on boards or skis. What holds
            at rest, holds there, too.
    """

    postures: list[Posture]
    times: np.ndarray
    names: tuple[str, ...]
    start: Moving | None
    glide: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def gone(self, motion: FreeformMotion, times: np.ndarray) -> FreeformMotion:
        """A motion as the ground sees it.

        Args:
            motion: as seen from what goes on.
            times: (t,) of its samples, s from the start of the first motion.
        """
        way = times[:, None] * self.glide
        return replace(motion, place=motion.place + way, centre=motion.centre + way)


def solve(job: FreeformJob, before: Handover | None, progress: Progress) -> SolvedFreeform:
    """Solve a job, with the motions that it continues and that continue it."""
    progress(0.0)
    jobs = _together((*job.before, job, *job.following), len(job.before))
    body = BODIES.found(job.figure, lambda: body_of(job.figure))
    run = _run(body, jobs, before)
    fps = job.numbers.fps
    count = job.end_frame - job.start_frame + 1
    clock = Clock.running(count, fps, 2)
    later = (job.start_frame - jobs[0].start_frame) / fps - float(run.times[0])
    gravity = job.numbers.gravity
    last = jobs[-1]
    known = (job.figure, run, last.pace, last.timing, last.end_speed, last.end_frame, gravity)
    try:
        plan = PLANS.found(
            known,
            lambda: FreeformPlan(
                body.body, _sequence(jobs, run), gravity, lambda share: progress(0.7 * share)
            ),
        )
    except SettingError as error:
        raise UserError(named(str(error), run.names)) from error
    progress(0.7)
    length = float(clock.time[-1])
    since = later + float(run.times[0])
    whole = run.gone(plan.sample(clock.time + later), clock.time + since)
    contacts = tuple(_from(c, later, plan.duration) for c in whole.contacts)
    corners = np.unique([t for c in contacts for t in (c.start, c.end)])
    clock = replace(clock, corners=corners[(corners >= 0.0) & (corners <= length)])
    motion = replace(
        whole, times=clock.time, contacts=contacts, flights=whole.flights - later,
        problems=_told(told_later(whole.problems, later, length), run.names) + _still(run),
    )
    progress(0.9)
    tracks = tracks_of(body, motion, clock)
    shares = plan.line.knots if job.timing == "DISTANCE" else np.zeros(0)
    solved = SolvedFreeform(
        job, motion, tracks, body=body, met=plan.line.visits - later, shares=shares
    )
    if count < 3:
        return solved
    rough = at_the_ends(tracks)
    ends = replace(
        run.gone(plan.sample(rough.time + later), rough.time + since),
        times=rough.time, contacts=contacts, problems=(),
    )
    near = tracks_of(body, ends, rough.clock, (rough.position[ROOT], rough.rotation[ROOT]))
    return replace(solved, near=replace(near, contacts=tracks.contacts))


def _together(jobs: Sequence[FreeformJob], own: int) -> Sequence[FreeformJob]:
    """The motions that are solved as one; those by distance are by themselves."""
    for i, job in enumerate(jobs):
        if len(jobs) > 1 and job.timing == "DISTANCE":
            if i <= own:
                raise UserError(
                    f"{job.name} is timed by Distance, and free-form motions that go on from each "
                    "other are one sequence of postures: set its Timing to Frames"
                )
            return jobs[:i]
    return jobs


def _run(body: RoleBody, jobs: Sequence[FreeformJob], before: Handover | None) -> _Run:
    first = jobs[0]
    place, turn = first.placement.origin, rotations.about_z(np.array(first.placement.yaw))
    if before is not None:
        # The first posture's root is where the motion before has led it.
        poses = first.poses
        back = rotations.conjugate(poses.rotation[ROOT][0])
        # Whoever glides stands on a slope as before.
        onto = before.turn[ROOT] if _glides(jobs) else rotations.about_z(np.array(before.yaw))
        turn = rotations.multiply(onto, back)
        place = before.place[ROOT] - rotations.rotate(turn, poses.position[ROOT][0])
    postures: list[Posture] = []
    glides = before is not None and _glides(jobs)
    for job in jobs:
        if glides and job.terrain is not None:
            raise UserError(
                f"{job.name} glides on along the slope of the motion before it, on whatever is "
                "ridden: clear its Terrain"
            )
        whole = rotations.rotate(turn, job.turns)
        # About the Motion object's own axes: forward is over its -Y.
        own = postures_of(body, moved(job.poses, turn, place), job.supports, whole)
        if job.terrain is not None:
            way = np.array([posture.place for posture in own])
            way[:, 2] = place[2]
            ground = MeshGround(job.terrain, way_over(job.terrain, way))
            own = stood(body.body, own, float(place[2]), ground)
        postures += own
    times = np.concatenate([(job.frames - first.start_frame) / job.numbers.fps for job in jobs])
    names = tuple(joined.from_iterable(job.names for job in jobs))
    keep = np.concatenate([[True], np.diff(times) > 1e-6])  # the last of one may be the first
    if first.timing == "FRAMES" and not keep.all():
        postures = [p for p, yes in zip(postures, keep, strict=True) if yes]
        names = tuple(n for n, yes in zip(names, keep, strict=True) if yes)
        times = times[keep]
    run = _Run(postures, times, names, None)
    if before is not None and glides:
        run = replace(run, glide=before.velocity[ROOT])
    return run if before is None else _arrived(body, run, before, first.numbers.fps)


def _glides(jobs: Sequence[FreeformJob]) -> bool:
    """Whether what bears a body, now and then, goes on with it."""
    borne = any(limbs for job in jobs for limbs in job.supports)
    return borne and rides(jobs[0].figure.joints)


def _arrived(body: RoleBody, run: _Run, before: Handover, fps: float) -> _Run:
    """The same after a motion of another family: it begins as that ends."""
    row, velocity, spins = rates_of(
        body, before.place, before.velocity, before.turn, before.spinning
    )
    thrown = not any(posture.supports for posture in run.postures)
    stands = () if thrown else standing_roles(body.figure, before.standing)
    if run.glide.any():
        stands = tuple(leg.name for leg in body.figure.legs)
    moving = Moving(velocity - run.glide, spins)
    early = run.times[0] * fps < LEAST
    if not thrown and (early or not stands):
        return replace(run, start=moving)
    arrived = postures_of(body, row, [stands], np.zeros((1, 3)))
    later = slice(1 if early else 0, None)
    if run.glide.any():  # skis and boards go to where the first posture has them
        arrived = [standing_as(body.body, arrived[0], run.postures[later][0])]
    return replace(
        run, postures=[*arrived, *run.postures[later]],
        times=np.concatenate([[0.0], run.times[later]]),
        names=("the start", *run.names[later]), start=moving,
    )


def _sequence(jobs: Sequence[FreeformJob], run: _Run) -> PostureSequence:
    last = jobs[-1]
    if last.timing == "DISTANCE":
        pace = PRESETS[last.pace] if isinstance(last.pace, str) else Pace.of(*last.pace.T)
        duration = (last.end_frame - last.start_frame) / last.numbers.fps
        return PostureSequence(run.postures, None, pace, duration)
    end = None
    if last.end_speed:
        ahead = rotations.rotate(run.postures[-1].turn, np.array((0.0, -1.0, 0.0)))
        level = np.array((ahead[0], ahead[1], 0.0))
        end = last.end_speed * level / max(float(np.linalg.norm(level)), 1e-9)
    return PostureSequence(run.postures, run.times, start=run.start, end_velocity=end)


def _from(contact: Contact, later: float, duration: float) -> Contact:
    """A contact in a motion's own time; those at the ends last on."""
    start = -np.inf if contact.start <= 0.0 else contact.start - later
    end = np.inf if contact.end >= duration else contact.end - later
    return replace(contact, start=start, end=end)


def named(text: str, names: tuple[str, ...]) -> str:
    """What the solver says, postures called as the animator calls them.

    Args:
        text: what it says.
        names: of the postures.
    """
    return re.sub(r"[Pp]osture\s(\d+)", lambda found: names[int(found[1]) - 1], text)


def _told(problems: tuple[Problem, ...], names: tuple[str, ...]) -> tuple[Problem, ...]:
    return tuple(replace(p, message=named(p.message, names)) for p in problems)


def _still(run: _Run) -> tuple[Problem, ...]:
    """Postures of which none differs from the first."""
    one = run.postures[0]
    for other in run.postures[1:]:
        off = np.abs(other.place - one.place).max(initial=0.0)
        turned = 1.0 - np.abs(rotations.dot(other.joints, one.joints)).min()
        if off > SAME or turned > SAME**2:
            return ()
    return (all_same("the figure"),)


def all_same(who: str) -> Problem:
    """What is told of postures of which none differs from the first.

    Args:
        who: stands still.
    """
    return Problem(
        "POSTURES_SAME", f"All postures are the same: {who} stands still", "INFO",
        remedy="Replace one by another pose",
    )
