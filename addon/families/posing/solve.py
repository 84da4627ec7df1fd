# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve pose timing: each part on its carrier, as that moves by then."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ....solvers import rotations
from ....solvers.clock import Clock
from ....solvers.dynamics.carrying import Carrying, carrying
from ....solvers.posing.simulate import PoseMotion, simulate
from ...errors import UserError
from ...mapping.handover import Handover
from ...mapping.tracks import JointTracks
from ..base import Progress, part_of
from .job import Link, Part, Played, PoseRun, PosingJob, SolvedPoses, told_of

DOWN = np.array((0.0, 0.0, -1.0))
NO_SIZE = 1e-12  # of an axis of what carries: it shows no direction


def solve(job: PosingJob, before: Handover | None, progress: Progress) -> SolvedPoses:
    """Solve a job.

    Args:
        job: what was read.
        before: how the joints are at the end of the motion that it goes on from; None where it
            begins as what plays.
        progress: called with the fraction done.
    """
    count = job.end_frame - job.start_frame + 1
    clock = Clock.running(count, job.numbers.fps)
    turn = dict(job.under.turn)
    problems = list(job.told)
    motions: list[PoseMotion] = []
    keyed: dict[str, np.ndarray] = {}
    physical: dict[str, np.ndarray] = {}
    found: dict[str, np.ndarray] = {}
    for number, part in enumerate(job.parts):
        # As it moves once the parts below it are solved.
        carried = _carried(job, part.way, turn)
        motion = _simulated(
            job, part, clock, carried, before, part_of(progress, number, len(job.parts))
        )
        motions.append(motion)
        problems += told_of(part, motion)
        turns = _blended(part, motion, job.under)
        played = np.stack([job.under.turn[name] for name in part.bones], axis=1)
        unmoved = _carried(job, part.way, job.under.turn)
        keyed |= _places(part, unmoved, played, job)
        physical |= _places(part, carried, turns, job)
        for i, name in enumerate(part.bones):
            turn[name] = turns[:, i]
            if part.moving[i]:
                found[name] = rotations.continuous(turns[:, i])
    tracks = JointTracks(clock, found)
    return SolvedPoses(job, PoseRun(tuple(motions), keyed, physical, tuple(problems)), tracks)


def _carried(
    job: PosingJob, way: tuple[Link, ...], turn: Mapping[str, np.ndarray]
) -> np.ndarray:
    """(n, 4, 4) a carrier in the world, Blender units."""
    count = job.end_frame - job.start_frame + 1
    world = np.broadcast_to(job.under.world, (count, 4, 4))
    for link in way:
        size = np.broadcast_to(job.under.size[link.bone], (count, 3))
        local = np.tile(np.eye(4), (count, 1, 1))
        local[:, :3, :3] = rotations.to_matrix(turn[link.bone]) * size[:, None, :]
        local[:, :3, 3] = job.under.place[link.bone]
        world = world @ link.rest @ local
    return world


def _pose_of(job: PosingJob, world: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 3) in m and turns (n, 4) of matrices in the world."""
    axes = world[:, :3, :3] / np.linalg.norm(world[:, :3, :3], axis=1)[:, None, :]
    return world[:, :3, 3] * job.numbers.unit_scale, rotations.from_matrix(axes)


def _simulated(
    job: PosingJob, part: Part, clock: Clock, carried: np.ndarray, before: Handover | None,
    progress: Progress,
) -> PoseMotion:
    size = np.linalg.norm(carried[:, :3, :3], axis=1).min(axis=1)
    lost = np.flatnonzero(~(np.isfinite(carried).all(axis=(1, 2)) & (size > NO_SIZE)))
    if lost.size:
        raise UserError(
            f"What carries {part.bones[0]} has no size or no place at frame "
            f"{job.start_frame + int(lost[0])}: give it a scale above 0 and a place in reach"
        )
    place, turned = _pose_of(job, carried)
    gravity = job.numbers.gravity * DOWN
    moving = np.abs(np.diff(carried, axis=0)).max(initial=0.0) > 0.0
    rows = slice(None) if moving and clock.count > 1 else slice(0, 1)

    def at(times: np.ndarray) -> Carrying:
        return carrying(clock.time[rows], place[rows], turned[rows], gravity, times)

    turns = np.stack(
        [np.broadcast_to(job.under.turn[name], (clock.count, 4)) for name in part.bones], axis=1
    )
    still = np.abs(np.diff(turns, axis=0)).max(initial=0.0) < 1e-9
    spins = np.zeros((len(part.bones), 3))
    if clock.count > 1:
        ahead = rotations.multiply(rotations.conjugate(turns[0]), turns[1])
        spins = rotations.to_rotation_vector(ahead) * clock.rate
    start = turns[0].copy()
    for i, name in enumerate(part.bones):
        if before is not None and name in before.turn and part.moving[i]:
            start[i] = before.turn[name]
            spins[i] = rotations.rotate(rotations.conjugate(start[i]), before.spinning[name])
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            motion = simulate(
                part.body, start, spins, part.targets, clock.count, 1.0 / clock.rate,
                part.settings, at, part.disturbances, None if still else turns, progress,
            )
    except np.linalg.LinAlgError:
        motion = None
    if motion is None or not np.isfinite(motion.turns).all():
        raise UserError(
            f"{job.name} throws {part.bones[0]}, or what hangs on it, about by more than can be "
            "computed: set masses, thicknesses, forces and speeds that go together"
        )
    return motion


def spins(solved: SolvedPoses, row: int) -> dict[str, np.ndarray]:
    """Bone -> (3,) angular velocity in the axes that it turns against at rest, rad/s.

    Args:
        solved: what was solved.
        row: the frame.
    """
    found = {}
    for part, motion in zip(solved.job.parts, solved.motion.motions, strict=True):
        for i, name in enumerate(part.bones):
            if part.moving[i] and part.blends[i] == 1.0:
                found[name] = rotations.rotate(motion.turns[row, i], motion.spins[row, i])
    return found


def _blended(part: Part, motion: PoseMotion, under: Played) -> np.ndarray:
    """(n, b, 4) turns between keyed and physical."""
    turns = motion.turns.copy()
    for i, name in enumerate(part.bones):
        if part.blends[i] < 1.0:
            keyed = np.broadcast_to(under.turn[name], turns[:, i].shape)
            turns[:, i] = rotations.slerp(keyed, turns[:, i], part.blends[i])
    return turns


def _places(
    part: Part, carried: np.ndarray, turns: np.ndarray, job: PosingJob
) -> dict[str, np.ndarray]:
    """Bone -> (n, 2, 3) where its head and its tail are, m."""
    figure, body = part.body.figure, part.body
    place, turned = _pose_of(job, carried)
    heads: list[np.ndarray] = []
    axes: list[np.ndarray] = []
    for i, parent in enumerate(figure.parents.tolist()):
        above, at = (turned, place) if parent < 0 else (axes[parent], heads[parent])
        heads.append(at + rotations.rotate(above, np.broadcast_to(figure.places[i], at.shape)))
        own = rotations.multiply(above, np.broadcast_to(figure.rests[i], above.shape))
        axes.append(rotations.multiply(own, turns[:, i]))
    found = {}
    for i, name in enumerate(part.bones):
        if part.moving[i]:
            along = rotations.rotate(axes[i], np.tile(body.tips[i], (len(place), 1)))
            found[name] = np.stack((heads[i], heads[i] + along), axis=1)
    return found
