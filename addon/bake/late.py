# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of bones that hang on bones which only Blender can place.

Constraints and drivers of other people's rigs put their parents where they are: the rig is
played with the keys of the other bones in place, and read. Where such bones are placed by each
other, they settle in a few rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...solvers import rotations
from ...solvers.times import gap
from .. import keyframes
from ..mapping.tracks import RoleTracks
from ..rigs.pose import evaluate
from ..rigs.pose.animated import independent
from ..rigs.pose.channels import BoneTrack
from ..rigs.pose.frames import armature_frames
from ..rigs.pose.solver import RigSolver
from ..steps import finish
from . import contacts, keying, sparse
from .job import Job
from .plan import Plan

MOST_ROUNDS = 5


def late_channels(
    job: Job, plan: Plan, write: Callable[[list[keyframes.Channel]], list[np.ndarray]]
) -> tuple[Plan, list[np.ndarray]]:
    """Write the channels of bones under bones that only Blender can place.

    Args:
        job: the bake.
        plan: its numbers; its channels are written.
        write: writes channels; returns their keys as they are stored.

    Returns:
        The plan with all channels and a solver that knows where the bones are, and the keys of
        the channels as they are stored.
    """
    played = _with_moments(job, plan)
    moments, even = played.times, np.flatnonzero(played.even)
    parents = sorted(set(plan.late.values()))
    free = independent(job.armature, parents, set(job.bindings.values()))
    moving = len(plan.matrices) > 1
    matrices = np.empty((len(moments), 4, 4)) if moving else plan.matrices

    def solver_of(
        poses: np.ndarray, matrices: np.ndarray, times: np.ndarray
    ) -> RigSolver:
        return RigSolver(
            job.armature,
            job.bindings,
            armature_frames(job.armature.name, matrices),
            job.unit_scale,
            job.axes,
            dict(zip(parents, poses, strict=True)),
            plan.constraints,
            plan.moved.at(times),
        )

    # Few keys err between them: what hangs on bones with such keys would make up for it, and be
    # elsewhere than its neighbours. It is read with all samples in place, if keys go that close.
    exactly = not job.dense and plan.clock.per_frame * job.spacing < 1.0
    sampled = plan.channels
    if exactly:
        sampled = keying.sampled(job, plan.bones, plan.clock, plan.known)
        write(sampled)
    before: np.ndarray | None = None
    solver, late = plan.solver, list[BoneTrack]()
    channels, points = list(plan.channels), list[np.ndarray]()
    for _ in range(1 if free else MOST_ROUNDS):
        job.context.view_layer.update()
        poses = np.empty((len(parents), len(moments), 4, 4))
        _look_at(job, parents, moments, even, poses, matrices)
        if before is not None and np.array_equal(poses[:, even], before[:, even]):
            break  # what late bones do does not reach their parents, between samples neither
        _look_at(job, parents, moments, np.flatnonzero(~played.even), poses, matrices)
        if moving:
            matrices[even] = plan.matrices
        before = poses
        solver = solver_of(poses, matrices, moments)
        found = solver.solve(played.position, played.rotation, played.spins)
        late = [bone for bone in found if bone.bone in plan.late]
        known = {bone.bone: _between(bone, played) for bone in late}
        late = [_rows(bone, even) for bone in late]
        if exactly:
            write(sampled + keying.sampled(job, late, plan.clock, known))
        else:
            own = keying.channels_of(job, late, plan.clock, plan.metres_per_unit, known=known)
            channels = plan.channels + own
            points = write(channels)
    if exactly:
        own = keying.channels_of(job, late, plan.clock, plan.metres_per_unit, known=known)
        channels = plan.channels + own
        points = write(channels)
    if len(even) < len(moments) and before is not None:
        solver = solver_of(before[:, even], plan.matrices, moments[even])
        solver.follow(plan.position, plan.rotation)
    return replace(plan, channels=channels, solver=solver), points


def _look_at(
    job: Job,
    parents: Sequence[str],
    moments: np.ndarray,
    rows: np.ndarray,
    poses: np.ndarray,
    matrices: np.ndarray,
) -> None:
    """Read where bones are, and the object if it moves, as Blender evaluates them.

    Args:
        job: the bake.
        parents: names of the bones.
        moments: (m,) frames from the start.
        rows: (k,) those of them to look at.
        poses: (bones, m, 4, 4) their poses, which are filled in.
        matrices: (m, 4, 4) the object in the world, which is filled in, or (1, 4, 4).
    """
    at = job.options.start_frame + moments[rows]
    look = evaluate.Look(job.armature, parents, at)
    [(world, found)] = finish(evaluate.matrices(job.context, [look]))
    poses[:, rows] = np.moveaxis(found, 1, 0)
    if len(matrices) > 1:
        matrices[rows] = world


def _rows(bone: BoneTrack, rows: np.ndarray) -> BoneTrack:
    """Some samples of a bone's channels."""
    return replace(
        bone,
        location=None if bone.location is None else bone.location[rows],
        rotation=None if bone.rotation is None else bone.rotation[rows],
    )


def _between(bone: BoneTrack, played: _Played) -> contacts.Known:
    """Channels of a late bone at the moments between samples that are its own, by time."""
    found = {}
    own = played.own.get(bone.role, set())
    for row in np.flatnonzero(~played.even):
        time = float(played.times[row])
        if time not in own:
            continue
        known = {keying.kind_of(name): values[row] for name, values in bone.properties()}
        if bone.location is not None and not played.exact[row]:
            # It hardly moves in what it hangs on, which is better known than its own place.
            at = np.array([time])
            samples = played.times[played.even], bone.location[played.even]
            known["location"] = contacts.smoothly(*samples, at)[0]
        found[time] = known
    return found


@dataclass(frozen=True)
class _Played:
    """When late bones are looked at, and where they are to be.

    Attributes:
        times: (m,) samples and moments between them, frames from the start.
        even: (m,) bool, True for samples.
        exact: (m,) bool, whether feet are known exactly there.
        own: role -> moments at which its limb's contacts want keys.
        position: role -> (m, 3).
        rotation: role -> (m, 4).
        spins: role -> (m,).
    """

    times: np.ndarray
    even: np.ndarray
    exact: np.ndarray
    own: dict[str, set[float]]
    position: dict[str, np.ndarray]
    rotation: dict[str, np.ndarray]
    spins: dict[str, np.ndarray]


def _with_moments(job: Job, plan: Plan) -> _Played:
    """Samples, and the moments between them at which late bones get keys of their limbs' contacts.

    Args:
        job: the bake.
        plan: its numbers.
    """
    tracks = job.tracks
    assert isinstance(tracks, RoleTracks)
    samples = plan.clock.frames
    end = float(samples[-1])
    late = {role for role, bone in job.bindings.items() if bone in plan.late}
    own: dict[str, set[float]] = {}
    if job.dense:
        _, limbs = keying.spans_of(job, plan.metres_per_unit)
        for role in limbs.keys() & late:
            own[role] = {time for _, time, _ in contacts.moments(limbs[role], end, job.spacing)}
    known = tracks.moments
    for contact in tracks.contacts if known is not None else ():
        for role in late & set(contact.limb):
            own.setdefault(role, set()).update(keying.instants_of(job, contact, most=1))
    more = np.unique([time for times in own.values() for time in times if 0.0 < time < end])
    more = more[gap(more, samples) > sparse.AT_SAMPLE]
    times = np.append(samples, more)
    order = np.argsort(times, kind="stable")
    exact, rows = np.zeros(len(more), bool), np.zeros(0, int)
    if known is not None:
        at = tracks.clock.frame_of(known.time)
        exact, rows = np.isin(more, at), np.flatnonzero(np.isin(at, more))

    read = sparse.through(tracks.clock.frames, more)

    def joined(
        here: Mapping[str, np.ndarray],
        every: Mapping[str, np.ndarray],
        better: Mapping[str, np.ndarray],
    ) -> dict[str, np.ndarray]:
        found = {}
        for role, values in here.items():
            between = read.values(every[role])
            if len(rows) and role in better:
                between[exact] = better[role][rows]
            found[role] = np.concatenate([values, between])[order]
        return found

    turned = joined(plan.rotation, tracks.rotation, {} if known is None else known.rotation)
    return _Played(
        times[order],
        order < len(samples),
        np.append(np.ones(len(samples), bool), exact)[order],
        own,
        joined(plan.position, tracks.position, {} if known is None else known.position),
        {role: rotations.normalise(values) for role, values in turned.items()},
        {role: np.interp(times[order], samples, values) for role, values in plan.spins.items()},
    )


def at_frames(job: Job, plan: Plan) -> Plan:
    """A plan on whole frames alone, where those tell all of the bones that Blender places.

    Playing the samples between costs as much again as playing the frames; where limbs' contacts
    end is played besides.

    Args:
        job: the bake.
        plan: its numbers.
    """
    whole = plan.clock.every
    held = {job.bindings.get(contact.role) for contact in job.tracks.contacts}
    held = set() if job.plain else held & set(plan.late)
    if not job.dense or plan.spins or held:
        return plan

    def every(tracks: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {role: values[whole] for role, values in tracks.items()}

    return replace(
        plan,
        matrices=plan.matrices if len(plan.matrices) == 1 else plan.matrices[whole],
        position=every(plan.position), rotation=every(plan.rotation),
        clock=plan.clock.at_frames(),
    )
