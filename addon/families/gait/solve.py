# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve legged motions.

Motions that continue each other are solved as one, so that the gait of one
goes over into that of the next as gaits within one motion do; each then takes
its own span of the result.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ....solvers.legged import GaitItem, GaitMotion, GaitSettings, choose_gaits, solve_gait
from ....solvers.legged.body import minimum_jerk
from ....solvers.legged.gait import Gait, PhaseClock
from ....solvers.legged.settings import gait_of, ladder_for
from ....solvers.legged.terrain import MeshGround
from ....solvers.motion import Problem
from ....solvers.rotations import normalise
from ....solvers.turning.settings import sample_times
from ...errors import UserError
from ...mapping import sequence
from ...mapping.adapted import adapted_tracks
from ...mapping.handover import Handover
from ...mapping.registry import MAPPINGS
from ...mapping.swings import with_arms
from ...mapping.tracks import ROOT, RoleTracks, Treadmill
from ..base import Progress, looking, pose_only, speed_step
from .job import GaitJob, SolvedGait
from .numbers import cycles_of, stride_times

# A cycle is solved with so long (s) before and after it, and is told to be open from so much
# of a stride on.
LEAD = 2.0
OPEN = 1e-3


def solve(job: GaitJob, before: Handover | None, progress: Progress) -> SolvedGait:
    """Solve a job, with the motions that it continues and that continue it."""
    if job.end_frame == job.start_frame:
        return pose_only(
            job, lambda longer: solve(replace(longer, cycle=False), before, progress)
        )
    if before is not None:
        job = _begun(job, before)
    pose = _posing(job)
    seam: tuple[Problem, ...] = ()
    jobs = (*job.before, job, *job.following)
    if job.cycle:
        motion, tracks, seam = _cycle(job, progress)
    elif len(jobs) == 1:
        motion = solve_gait(job.settings, progress)
        tracks = _posed(motion, job.figure, job.style, pose)
    else:
        jobs = _together(jobs, len(job.before))
        whole = solve_gait(_joined(jobs), progress)
        counts = [int(j.settings.n_frames) - 1 for j in jobs]
        spans = [_cut(whole, sum(counts[:i]), counts[i]) for i in range(len(jobs))]
        style = sequence.join_styles([j.style for j in jobs], spans)
        tracks = _posed(whole, job.figure, style, pose)
        motion = spans[len(job.before)]
        start = sequence.seams(spans)[len(job.before)]
        tracks = sequence.cut_tracks(tracks, start, motion)
    if job.before:
        last, first = (np.ravel(j.settings.speed) for j in (job.before[-1], job))
        seam = speed_step(float(last[-1]), float(first[0]))
    if job.in_place:
        tracks = _in_place(tracks, motion)
    return SolvedGait(job, motion, looking(job, tracks), seam)


def _begun(job: GaitJob, before: Handover) -> GaitJob:
    """A job whose run begins where, and facing as, a motion of another family ends."""
    first = (*job.before, job)[0]
    if first.settings.path is not None:
        return job
    place = replace(first.settings.placement, origin=before.place[ROOT], yaw=before.yaw)
    begun = replace(first, settings=replace(first.settings, placement=place))
    if first is job:
        return begun
    return replace(job, before=(begun, *job.before[1:]))


def _posing(job: GaitJob):
    """From a motion, a figure and a style to tracks, arms that go through postures among them."""
    plain = MAPPINGS[job.kind].function
    arms = {key: arm for one in (*job.before, job, *job.following) for key, arm in one.arms.items()}
    if not arms:
        return plain
    return lambda motion, figure, style: with_arms(
        plain(motion, figure, style), motion, figure, arms
    )


def _posed(motion: GaitMotion, figure, style, pose) -> RoleTracks:
    """Tracks of a motion; where footprints were edited, they are others only around them."""
    tracks = pose(motion, figure, style)
    if motion.before is None or not motion.windows:
        return tracks
    return adapted_tracks(pose(motion.before, figure, style), tracks, motion)


# -- motions that continue each other -------------------------------------------------


def _together(jobs, own: int):
    """The motions that can be solved as one, from the first on.

    Raises:
        UserError: the motion that is wanted is not among them.
    """
    for i, job in enumerate(jobs[1:], start=1):
        why = _apart(jobs[0], jobs[i - 1], job)
        if why and i <= own:
            raise UserError(why)
        if why:
            return jobs[:i]
    return jobs


def _apart(first: GaitJob, before: GaitJob, job: GaitJob) -> str:
    """Why a motion cannot go on from the one before it, or ""."""
    if job.curve and job.curve != first.curve:
        return (
            f"{job.name} goes on from {before.name} along a path of its own, {job.curve}: clear "
            "its Path, or join both curves into one"
        )
    if job.in_place != first.in_place:
        return (
            f"{job.name} goes on from {before.name}, and only one of them is In Place: let both "
            "be, or neither"
        )
    if job.settings.edits:
        return (
            f"{job.name} goes on from {before.name}, and has edited footprints: only those of the "
            "first motion can be edited"
        )
    same = (first.settings.ground is None) == (job.settings.ground is None)
    if not same or (
        job.settings.ground is not None
        and job.settings.ground.mesh.name != first.settings.ground.mesh.name
    ):
        return (
            f"{job.name} goes on from {before.name} on another Terrain: choose the same for both"
        )
    return ""


def _joined(jobs) -> GaitSettings:
    """One motion's settings out of those of motions that continue each other.

    What is read once for a whole motion (reach, bank ...) is that of the first.
    """
    first = jobs[0].settings
    items: list[GaitItem] = []
    speeds: list[np.ndarray] = []
    begin = 0.0
    creature = first.creature
    for job in jobs:
        settings = job.settings
        times = sample_times(settings.n_frames, settings.fps)
        speed = np.broadcast_to(np.asarray(settings.speed, dtype=float), times.shape)
        hip = creature.hip_height()
        if settings.sequence:
            own = [
                (gait_of(item.gait, creature), _start_of(item, times, speed))
                for item in settings.sequence
            ]
        else:
            own = [
                (gait_of(choice.gait, creature), choice.start)
                for choice in choose_gaits(
                    times, speed, hip, settings.gravity, ladder_for(settings),
                    settings.hysteresis,
                )
            ]
        own = [(own[0][0], 0.0), *sorted(own[1:], key=lambda pair: pair[1])]
        span = float(times[-1])
        for gait, start in own:
            if start >= span and start > 0.0:
                continue
            if items and _same_gait(items[-1].gait, gait):
                continue
            items.append(GaitItem(gait, start=begin + start))
        speeds.append(speed if not speeds else speed[1:])
        begin += span
    return replace(
        first,
        sequence=tuple(items),
        n_frames=sum(int(job.settings.n_frames) - 1 for job in jobs) + 1,
        speed=np.concatenate(speeds),
        ground=_longest_ground(jobs),
        edits=first.edits,
    )


def _longest_ground(jobs):
    """Terrain under all of the motions: that of the first, along the ways of all."""
    ground = jobs[0].settings.ground
    if ground is None or len(jobs) == 1:
        return ground
    return MeshGround(ground.mesh, np.concatenate([job.settings.ground.way for job in jobs]))


def _start_of(item: GaitItem, times: np.ndarray, speed: np.ndarray) -> float:
    if item.distance is None:
        return float(item.start)
    return float(PhaseClock(times, speed).time(item.distance))


def _same_gait(one: Gait, other: Gait) -> bool:
    return one == other


def _cut(motion: GaitMotion, first: int, count: int) -> GaitMotion:
    """A span of a motion, its times counted from its own start.

    Args:
        motion: the whole.
        first: frame that it begins with, counted from 0.
        count: frames that it lasts.
    """
    begin, end = motion.clock.whole[[first, first + count]].tolist()
    rows = slice(begin, end + 1)
    start, end = float(motion.time[rows][0]), float(motion.time[rows][-1])

    def moved(problem: Problem) -> Problem:
        times = [None if t is None else t - start for t in (problem.time, problem.end_time)]
        return replace(problem, time=times[0], end_time=times[1])

    counts: dict[str, int] = {}
    footprints = []
    for print_ in motion.footprints:
        if print_.off <= start or print_.on > end:
            continue
        index = counts.get(print_.leg, 0)
        counts[print_.leg] = index + 1
        footprints.append(replace(print_.moved(later=-start), index=index))
    arrays = {
        name: getattr(motion, name)[rows]
        for name in (
            "position", "orientation", "yaw", "pitch", "roll", "bank", "velocity",
            "girdle_height", "girdle_speed", "hip", "foot_position", "foot_orientation",
            "foot_pitch", "contact",
        )
    }
    return replace(
        motion,
        **arrays,
        time=motion.time[rows] - start,
        footprints=tuple(footprints),
        windows=tuple((a - start, b - start) for a, b in motion.windows),
        before=None if motion.before is None else _cut(motion.before, first, count),
        gaits=tuple(
            (name, max(a - start, 0.0), min(b - start, end - start))
            for name, a, b in motion.gaits
            if b > start and a < end
        ),
        problems=tuple(
            moved(p)
            for p in motion.problems
            if p.time is None or start - 1e-9 <= p.time <= end + 1e-9
        ),
    )


# -- cycles ---------------------------------------------------------------------------


def _cycle(
    job: GaitJob, progress: Progress
) -> tuple[GaitMotion, RoleTracks, tuple[Problem, ...]]:
    """A motion that is the same again: cut out of one that goes on before and after it.

    Bodies look ahead and even out; a motion that began with the cycle would not
    know what comes before it.
    """
    settings = job.settings
    count = int(settings.n_frames) - 1
    around = max(math.ceil(LEAD * settings.fps / count), 1)
    whole = solve_gait(
        replace(settings, n_frames=(2 * around + 1) * count + 1), progress
    )
    style = job.style
    changed = {
        name: np.concatenate([*[values[:-1]] * (2 * around), values])
        for name, values in vars(style).items()
        if np.ndim(values) == 1
    }
    tracks = _posing(job)(
        whole, job.figure, replace(style, **changed) if changed else style
    )
    motion = _cut(whole, around * count, count)
    tracks = sequence.cut_tracks(tracks, around * count / settings.fps, motion)
    back = np.asarray(whole.position[0] - motion.position[0]) * (1.0, 1.0, 0.0)
    motion, tracks = _moved_by(back, motion, tracks)
    tracks = _closed(motion, tracks)
    periods = stride_times(whole, settings)  # none of who stands
    strides = float(motion.time[-1]) / float(np.median(periods)) if len(periods) else 0.0
    repeats = max(cycles_of(settings).values(), default=1)
    times = strides / repeats
    if abs(times - round(times)) < OPEN and (round(times) > 0 or strides == 0.0):
        return motion, tracks, ()
    even = " of a gait whose sides alternate, which closes after two" if repeats > 1 else ""
    return motion, tracks, (
        Problem(
            "CYCLE_OPEN",
            f"The cycle does not close: its {count} frames are {strides:.3f} strides{even}",
            amount=strides,
            remedy="Click Make Cycle",
        ),
    )


def _moved_by(
    offset: np.ndarray, motion: GaitMotion, tracks: RoleTracks
) -> tuple[GaitMotion, RoleTracks]:
    motion = replace(
        motion,
        position=motion.position + offset,
        hip=motion.hip + offset,
        foot_position=motion.foot_position + offset,
        footprints=tuple(print_.moved(offset) for print_ in motion.footprints),
    )
    tracks = replace(
        tracks,
        position={role: places + offset for role, places in tracks.position.items()},
        contacts=tuple(replace(c, position=c.position + offset) for c in tracks.contacts),
        events=tuple(
            e if e.position is None else e._replace(position=e.position + offset)
            for e in tracks.events
        ),
    )
    return motion, tracks


def _closed(motion: GaitMotion, tracks: RoleTracks) -> RoleTracks:
    """Tracks whose last sample is the first again, but for the way.

    What legs of many segments remember of the strides before has all but gone;
    the rest, some micrometres, is spread over the cycle without adding speed at its ends.
    """
    way = (motion.position[-1] - motion.position[0]) * (1.0, 1.0, 0.0)
    share = minimum_jerk(np.linspace(0.0, 1.0, len(tracks.time)))[:, None]
    position = {
        role: places - share * (places[-1] - places[0] - way)
        for role, places in tracks.position.items()
    }
    rotation = {}
    for role, turns in tracks.rotation.items():
        first = turns[0] if float(np.dot(turns[0], turns[-1])) > 0.0 else -turns[0]
        rotation[role] = normalise(turns - share * (turns[-1] - first))
    return replace(tracks, position=position, rotation=rotation)


def _in_place(tracks: RoleTracks, motion: GaitMotion) -> RoleTracks:
    """Tracks of a body that stays where it starts: without the way, and the way's turning."""
    ground = Treadmill(motion.time, motion.position * (1.0, 1.0, 0.0), motion.yaw)
    return ground.moved(tracks)
