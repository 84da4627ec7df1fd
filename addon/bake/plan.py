# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of one bake: channels of all bones that need none to be placed by Blender first.

Samples of role tracks become channels of bones; those of limbs are computed at the instants of
their contacts as well. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...solvers import rotations
from ...solvers.clock import Clock
from ...solvers.motion import Problem
from ...solvers.times import nearest
from .. import keyframes
from ..mapping.tracks import JointTracks, RoleTracks
from ..placement import require_near
from ..rigs.pose import joints, rotation_modes
from ..rigs.pose.animated import moved_bones, moving_parents
from ..rigs.pose.channels import BoneTrack, bone_of
from ..rigs.pose.constraints import Constraints, constraints_of
from ..rigs.pose.frames import armature_frames, object_channels
from ..rigs.pose.solver import RigSolver
from . import between, checks, contacts, evaluation, keying, sparse
from .job import Job
from .keyed import Seen

SAME = 1e-6  # radians, or of a quaternion's components: angles that differ by less are the same


@dataclass(frozen=True)
class Plan:
    """What a bake is to write.

    Attributes:
        bones: those that need none to be placed by Blender first.
        channels: their keys, and those of what is held.
        late: keyed bone -> parent whose evaluated pose it needs first.
        constraints: those between the rig's bones that are computed; None if joints are turned.
        solver: what knows where the bones are; None if joints are turned.
        matrices: (m, 4, 4) the object in the world, or (1, 4, 4).
        metres_per_unit: size of the armature's unit.
        position: role -> (m, 3) world position, m.
        rotation: role -> (m, 4) world rotation.
        spins: role -> (m,) turns about its own axis, radians.
        clock: when the samples are.
        known: bone -> what is known of it between samples.
        moved: bones that keys of the animator's own move.
        off: how far bones are off between keys, for the problem list.
    """

    bones: list[BoneTrack]
    channels: list[keyframes.Channel]
    late: dict[str, str]
    constraints: Constraints | None
    solver: RigSolver | None
    matrices: np.ndarray
    metres_per_unit: float
    position: Mapping[str, np.ndarray]
    rotation: Mapping[str, np.ndarray]
    spins: Mapping[str, np.ndarray]
    clock: Clock
    known: dict[str, contacts.Known]
    moved: evaluation.Moved
    off: tuple[Problem, ...] = ()


def look(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    paths: Mapping[str, str],
    held: Iterable[str],
    followed: bpy.types.Object | None = None,
) -> Seen:
    """Read what only the evaluated rig can tell, as it is now.

    Args:
        context: Blender's context.
        armature: the rig.
        paths: data path -> bone of what is to be keyed.
        held: data paths of properties that keep one value.
        followed: what the rig follows until it is baked: constraints that look at
            it do not count.
    """
    evaluated = armature.evaluated_get(context.evaluated_depsgraph_get())
    still = evaluation.is_still(armature)
    matrices = evaluation.world_now(context, armature)[None] if still else None
    keyed = set(paths.values()) - {""}
    moved = moved_bones(armature, keyed, {*paths, *held})
    constraints = constraints_of(armature, evaluated, keyed, held, followed, moved)
    return Seen(matrices, constraints, frozenset(moved))


def plan_of(job: Job) -> Plan:
    """Compute all channels, without writing anything.

    Args:
        job: the bake.

    Raises:
        UserError: the object cannot carry a figure at some frame.
    """
    tracks, armature = job.tracks, job.armature
    rows, clock = _rows(job)
    if isinstance(tracks, JointTracks):
        return _plan_of_joints(job, tracks, rows, clock)
    position = {role: tracks.position[role][rows] for role in job.bindings
                if role in tracks.position}
    rotation = {role: tracks.rotation[role][rows] for role in job.bindings
                if role in tracks.rotation}
    frames = job.options.start_frame + clock.frames
    carried, over = [], None
    if job.carrier is None and job.seen is not None and job.seen.matrices is not None:
        matrices = job.seen.matrices
    elif job.carrier is None:
        matrices = evaluation.world_matrices(job.context, armature, frames)
    else:
        over = evaluation.relative_to(job.context, armature, frames)
        # Of the channels, not of where the object is now: a re-bake gives the same keys.
        size = np.abs(np.array(armature.scale) * np.array(armature.delta_scale)).mean()
        size *= np.linalg.norm(over[0, :3, :3], axis=0).mean()
        matrices = job.carrier.sampled(rows).matrices(float(size), job.unit_scale)
        carried = [object_channels(armature, matrices, over)]
    require_near(armature.name, matrices[:, :3, 3] * job.unit_scale)
    keyed = set(job.bindings.values())
    paths = checks.channel_paths(armature, job.bindings, tracks)
    seen = job.seen or look(job.context, armature, paths, job.held)
    constraints = seen.constraints
    late = moving_parents(armature, keyed, constraints)
    moved = evaluation.Moved.play(job, seen.moved)

    def solver_of(matrices: np.ndarray, times: np.ndarray) -> RigSolver:
        return RigSolver(
            armature,
            job.bindings,
            armature_frames(armature.name, matrices),
            job.unit_scale,
            job.axes,
            constraints=constraints,
            moved=moved.at(times),
        )

    solver = solver_of(matrices, clock.frames)
    spins = {role: values[rows] for role, values in tracks.spins.items()}
    bones = solver.solve(position, rotation, spins)
    size = float(np.linalg.norm(matrices[:, :3, :3], axis=1).mean()) * job.unit_scale
    bones = carried + [b for b in bones if b.bone not in late]
    off: tuple[Problem, ...] = ()
    known: dict[str, contacts.Known] = {}
    if job.plain and not late and clock.count > 1:
        rig = between.Rig(armature, constraints, size, job.unit_scale, over, ())
        channels, off = keying.closer_channels(job, bones, clock, rig, moved)
    else:
        if job.plain and late and clock.count > 1:
            off = between.left_out(tracks.contacts, late, job.options.between)
        known = _at_moments(job, solver_of, bones, matrices, clock)
        channels = keying.channels_of(job, bones, clock, size, known=known)
    return Plan(
        bones, channels + _held(job), late, constraints, solver, matrices, size, position, rotation,
        spins, clock, known, moved, off,
    )


def _rows(job: Job) -> tuple[slice | np.ndarray, Clock]:
    """The rows of its tracks that a bake needs, and when they are."""
    clock = job.tracks.clock
    modes = {job.armature.pose.bones[bone].rotation_mode for bone in job.bindings.values()}
    held = {contact.role for contact in job.tracks.contacts} & set(job.bindings)
    if job.dense and modes == {"QUATERNION"} and not held and not job.plain:
        return clock.every, clock.at_frames()
    # Angles need the samples between, so as not to lose count of turns;
    # contacts, since one may be shorter than a frame.
    return slice(None), clock


def _held(job: Job) -> list[keyframes.Channel]:
    """One key for each property that is held."""
    start = np.array([float(job.options.start_frame)])
    return [
        keyframes.Channel(path, index, bone_of(path), start, np.array([float(value)]))
        for path, values in job.held.items()
        for index, value in enumerate(values)
    ]


def _plan_of_joints(
    job: Job, tracks: JointTracks, rows: slice | np.ndarray, clock: Clock
) -> Plan:
    """The numbers of a bake of joints, which are turned alike wherever the rig is."""
    matrices = evaluation.world_now(job.context, job.armature)[None]
    size = float(np.linalg.norm(matrices[0, :3, :3], axis=0).mean()) * job.unit_scale
    bones, locked, told = joints.channels(job.armature, tracks, rows, size)
    if job.plain and clock.count > 1:
        paths = checks.channel_paths(job.armature, job.bindings, tracks)
        seen = job.seen or look(job.context, job.armature, paths, job.held)
        rig = between.Rig(job.armature, seen.constraints, size, job.unit_scale, None, ())
        moved = evaluation.Moved.play(job, seen.moved)
        channels, off = keying.closer_channels(job, bones, clock, rig, moved)
        told += off
    else:
        channels = keying.channels_of(job, bones, clock, size)
    channels = [c for c in channels if (c.data_path, c.index) not in locked]
    return Plan(
        bones, channels + _held(job), {}, None, None, matrices, size, {}, {}, {}, clock, {},
        evaluation.Moved(np.zeros(1), {}), told,
    )


def _at_moments(
    job: Job,
    solver_of: Callable[[np.ndarray, np.ndarray], RigSolver],
    bones: Sequence[BoneTrack],
    matrices: np.ndarray,
    clock: Clock,
) -> dict[str, contacts.Known]:
    """Bone of a limb -> what is known of it at the instants of its contacts.

    Args:
        job: the bake.
        solver_of: makes what turns tracks into channels, from the object in the world at times.
        bones: channels at all samples, which angles and signs of quaternions go by.
        matrices: (m, 4, 4) the object at all samples, or (1, 4, 4).
        clock: when the samples are.
    """
    tracks, armature = job.tracks, job.armature
    assert isinstance(tracks, RoleTracks)
    moments = tracks.moments
    if moments is None:
        return {}
    at, times, every = clock.frame_of(moments.time), clock.frames, clock.whole
    read = None if job.dense else sparse.through(times, at)

    def there(values: np.ndarray) -> np.ndarray:
        """Of what has no key there: straight from frame to frame, or evenly."""
        flat = values.reshape(len(values), -1)
        if read is None:
            low = np.minimum(at.astype(int), job.frames - 2)
            before, after = flat[every[low]], flat[every[low + 1]]
            found = before + (at - low)[:, None] * (after - before)
        else:
            found = read.values(flat)
        return found.reshape(-1, *values.shape[1:])

    told = [(c, c.instants) for c in tracks.contacts if c.instants is not None]
    limbs = {role for contact, _ in told for role in contact.limb}
    rows = tracks.clock.every if len(clock.time) < len(tracks.clock.time) else slice(None)
    position, rotation = (
        {
            role: known[role] if role in limbs else there(own[rows])
            for role, own in samples.items()
            if role in job.bindings
        }
        for samples, known in (
            (tracks.position, moments.position), (tracks.rotation, moments.rotation)
        )
    )
    turned = {role: rotations.normalise(values) for role, values in rotation.items()}
    solver = solver_of(matrices if len(matrices) == 1 else there(matrices), at)
    solved = {
        bone.role: bone for bone in solver.solve(position, turned, moments.spins)
    }
    known_in: dict[str, list[int]] = {}
    for contact, instants in told:
        time, exact = moments.time, instants.time
        row = nearest(time, exact)
        for role in contact.limb:
            known_in.setdefault(role, []).extend(row[time[row] == exact].tolist())
    known: dict[str, contacts.Known] = {}
    for bone in bones:
        if bone.role not in known_in or bone.role not in solved:
            continue
        mode = armature.pose.bones[bone.bone].rotation_mode
        own = _as_neighbours(solved[bone.role], at, bone, times, mode)
        known[bone.bone] = {
            float(at[k]): {keying.kind_of(name): values[k] for name, values in own.properties()}
            for k in known_in[bone.role]
        }
    return known


def _as_neighbours(
    bone: BoneTrack,
    at: np.ndarray,
    samples: BoneTrack,
    times: np.ndarray,
    mode: str,
) -> BoneTrack:
    """A bone's channels with angles, and signs of quaternions, that go on from its samples.

    Args:
        bone: its channels at other times.
        at: (k,) these times, frames.
        samples: its channels at all samples.
        times: (m,) of the samples.
        mode: its rotation mode.
    """
    if bone.rotation is None or samples.rotation is None:
        return bone
    order = np.argsort(np.concatenate((times, at)), kind="stable")
    both = rotation_modes.from_mode(np.concatenate((samples.rotation, bone.rotation)), mode)
    turned = np.empty((len(order), bone.rotation.shape[1]))
    turned[order] = rotation_modes.to_mode(both[order], mode)
    if np.abs(turned[: len(times)] - samples.rotation).max() > SAME:
        # They count turns, or are other angles of the same turn: so be it.
        return replace(bone, rotation=contacts.smoothly(times, samples.rotation, at))
    return replace(bone, rotation=turned[len(times) :])
