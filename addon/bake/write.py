# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking role tracks onto a rig, and taking a bake away again.

Everything that can refuse does so before anything is written. What stood on
the rig before (action, slot, blending, values of the keyed bones) goes into
the record, so that clearing brings it back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...solvers import affine, rotations
from ...solvers.motion import Problem
from .. import compat, keyframes
from ..context import keep_frame
from ..errors import UserError
from ..mapping.tracks import RoleTracks
from ..rigs import adapter, rotation_modes
from ..rigs.constraints import Constraints
from ..scene.placement import require_near
from ..scene.timing import scene_numbers
from . import attach, between, checks, contacts, edits, memory, sparse, verify
from .data import Baked, BakeOptions, BakeRecord, BakeResult, Former

# Largest error of a sparse curve between its keys, wherever closer keys help.
LOCATION_ERROR = 5e-4  # metres
CONTACT_MOVES = 1e-5  # metres: more than that, and a bone does not stand still in a contact
LOCATION_SEEN = 1.5e-3  # metres: more than that is worth a key between frames, on legs
ROTATION_ERROR = 1e-3  # radians, or of a quaternion's components; half of that on legs

# What turns or moves (in units) no farther has one value: half of what single precision
# tells apart beside 1.
STILL = 2.0**-24

SAME = 1e-6  # how far a value may be off for it not to be keyed

# Rounds in which bones that depend on each other through constraints settle.
MOST_ROUNDS = 5


@dataclass(frozen=True)
class Seen:
    """What only an evaluated rig can tell.

    Attributes:
        matrices: (1, 4, 4) the armature object in the world, or None where it moves.
        constraints: the constraints between its bones.
    """

    matrices: np.ndarray | None
    constraints: Constraints


@dataclass(frozen=True)
class _Job:
    """Everything that decides the keys of one bake."""

    context: bpy.types.Context
    armature: bpy.types.Object
    bindings: Mapping[str, str]
    tracks: RoleTracks
    options: BakeOptions
    axes: np.ndarray
    unit_scale: float
    held: Mapping[str, tuple]  # data path -> values that its properties are keyed to
    checked: Callable[[], tuple[Mapping[str, str], RoleTracks]] | None
    carrier: adapter.ObjectTrack | None  # where the object is, if it is keyed itself
    seen: Seen | None
    plain: bool

    @property
    def frames(self) -> int:
        return (len(self.tracks.time) - 1) // self.tracks.steps_per_frame + 1

    @property
    def end_frame(self) -> int:
        return self.options.start_frame + self.frames - 1


@dataclass(frozen=True)
class _Plan:
    """The numbers of one bake, ready to be written."""

    bones: list[adapter.BoneTrack]  # those that need none to be placed by Blender first
    channels: list[keyframes.Channel]
    late: dict[str, str]  # keyed bone -> parent whose evaluated pose it needs first
    constraints: Constraints
    solver: adapter.RigSolver
    matrices: np.ndarray
    metres_per_unit: float
    position: Mapping[str, np.ndarray]
    rotation: Mapping[str, np.ndarray]
    spins: Mapping[str, np.ndarray]
    seconds: np.ndarray
    per_frame: int
    off: tuple[Problem, ...] = ()  # how far bones are off between keys


@dataclass(frozen=True)
class _Place:
    """Where the keys go, and what was there."""

    target: str
    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    former: Former
    former_action: bpy.types.Action | None
    pose: dict[str, tuple]
    made_slot: bool
    unchanged: bool  # the rig played it before


def bake_tracks(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    bindings: Mapping[str, str],
    tracks: RoleTracks,
    options: BakeOptions | None = None,
    *,
    previous: Baked | None = None,
    owner: bpy.types.Object | None = None,
    held: Mapping[str, tuple] | None = None,
    axes: np.ndarray | None = None,
    checked: Callable[[], tuple[Mapping[str, str], RoleTracks]] | None = None,
    carrier: adapter.ObjectTrack | None = None,
    seen: Seen | None = None,
    plain: bool = False,
) -> BakeResult:
    """Key a rig's bones so that its roles follow their tracks in world space.

    Current frame, mode, selection, rotation modes, frame range and rate stay
    as they are; the object itself is keyed only if it is to carry the motion.

    Args:
        context: Blender's context; its scene and view layer count.
        armature: the rig.
        bindings: role -> bone to key for it; roles without a track are left.
        tracks: where the roles are, in metres and seconds.
        options: how to bake.
        previous: the owner's last bake, which is replaced.
        owner: Motion object that keeps pointers to the actions; it does not
            count as another user of them.
        held: data path -> values that properties of the rig must have for the
            keyed controls to be in charge; keyed where they are not so already.
        axes: quaternion from armature to character space; None to find it.
        checked: gives role -> bone and tracks that the evaluated pose is
            compared with; None for what is keyed.
        carrier: where the object is to be, sampled as the tracks are; None
            leaves it where it is.
        seen: what `look` saw while properties had the values in `held`; None
            has Blender evaluate the rig once more. It serves a first bake only.
        plain: the bones make up a skeleton that nothing else moves: what they do between
            their keys is computed, and told. The tracks' contacts are then those of limbs,
            whose last bones have these roles.

    Returns:
        What was written, for the owner to store, and the problems found.

    Raises:
        UserError: nothing was written; one sentence says why.
    """
    options = options or BakeOptions()
    checks.check_before_bake(
        context, armature, bindings, tracks, options, previous, carrier is not None
    )
    if previous is not None:
        # It may have to go first. Otherwise the plan looks, and nothing is lost by it.
        checks.check_place(armature)
    edited = edits.edited_channels(previous) if previous is not None else []
    if edited and options.on_edited == "ASK":
        raise UserError(_edited_sentence(armature, edited))
    if edited and options.on_edited == "KEEP_EDITS" and previous.record.target == "CURRENT":
        raise UserError(
            f"Edits in the current action {previous.action.name} cannot be kept as a layer: set "
            "Edited Keys to Overwrite or Bake to New Action"
        )
    differences: list[keyframes.Channel] = []
    if edited and options.on_edited == "KEEP_EDITS":
        differences = edits.edit_differences(previous, edited)
    job = _Job(
        context=context,
        armature=armature,
        bindings={
            role: bone
            for role, bone in bindings.items()
            if checks.bone_location(role, tracks) or checks.bone_rotation(role, tracks)
        },
        tracks=tracks,
        options=options,
        axes=adapter.rest_axes(armature, bindings) if axes is None else axes,
        unit_scale=scene_numbers(context.scene).unit_scale,
        held=_held(armature, held or {}, previous),
        checked=checked,
        carrier=carrier,
        seen=seen if previous is None else None,
        plain=plain,
    )
    problems: list[Problem] = []
    with keep_frame(context.scene):
        plan = None
        if previous is not None and _reusable(armature, previous, options):
            _drop_channels(job, previous)
        if previous is not None and attach.is_attached(armature, previous):
            # Whatever this refuses, the last bake is still there.
            with _holding(job):
                plan = _plan(job)
        if edited and options.on_edited == "NEW_ACTION":
            if previous.record.target == "NEW":
                previous.action.use_fake_user = True
            options = replace(options, target="NEW")
            job = replace(job, options=options)
            attach.detach(armature, previous)
            problems.append(
                Problem(
                    "EDITS_KEPT",
                    f"Action {previous.action.name} keeps the edited keys",
                    "INFO",
                )
            )
            previous = plan = None
        if previous is not None and not _reusable(armature, previous, options):
            clear_bake(context, armature, previous, owner=owner)
            previous = plan = None
        place = _place(job, previous)
        try:
            if plan is None:
                with _holding(job):
                    plan = _plan(job)
            record, keys, plan = _write(job, plan, place, previous)
        except BaseException:
            _give_up(armature, place, previous)
            raise
        baked = Baked(
            record,
            place.action,
            place.former_action,
            previous.edits_action if previous is not None else None,
        )
        baked = _hang(job, baked, place.slot, differences)
    problems += [*_verify(job, plan, baked), *plan.off]
    bones = {adapter.bone_of(path) for path in record.curves} - {""}
    return BakeResult(baked, keys, job.frames, len(bones), tuple(problems))


def _edited_sentence(armature: bpy.types.Object, edited: Sequence[tuple[str, int]]) -> str:
    bones = sorted({adapter.bone_of(path) or "the object" for path, _ in edited})
    listed = ", ".join(bones[:3]) + (f" and {len(bones) - 3} more" if len(bones) > 3 else "")
    return (
        f"Keys of {listed} on {armature.name} were edited since the last bake: set Edited Keys to "
        "Overwrite, Keep Edits or Bake to New Action"
    )


def _held(
    armature: bpy.types.Object, values: Mapping[str, tuple], previous: Baked | None
) -> dict[str, tuple]:
    """Those of the values to hold that have to be keyed."""
    moving = adapter.animated_paths(armature)
    if previous is not None:
        moving |= set(previous.record.curves)
    return {
        path: wanted
        for path, wanted in values.items()
        if path in moving or not stands_at(armature, {path: wanted})
    }


def stands_at(armature: bpy.types.Object, values: Mapping[str, tuple]) -> bool:
    """Whether properties have given values.

    Args:
        armature: the rig.
        values: data path -> values.
    """
    return all(
        abs(a - b) <= SAME
        for path, wanted in values.items()
        for a, b in zip(attach.read_value(armature, path), wanted, strict=True)
    )


def look(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    keyed: Iterable[str],
    held: Iterable[str],
    followed: bpy.types.Object | None = None,
) -> Seen:
    """Read what only the evaluated rig can tell, as it is now.

    Args:
        context: Blender's context.
        armature: the rig.
        keyed: names of the bones that are to be keyed.
        held: data paths of properties that keep one value.
        followed: what the rig follows until it is baked: constraints that look at
            it do not count.
    """
    evaluated = armature.evaluated_get(context.evaluated_depsgraph_get())
    matrices = _evaluated(context, armature)[None] if _is_still(armature) else None
    return Seen(
        matrices,
        adapter.constraints_of(armature, evaluated, set(keyed), held, followed),
    )


@contextmanager
def _holding(job: _Job, evaluated: bool = True) -> Iterator[None]:
    """Inside, properties have the values that the bake holds them at.

    Args:
        job: the bake.
        evaluated: whether what hangs on them is asked for, too.
    """
    if not job.held:
        yield
        return
    former = attach.read_pose(job.armature, job.held)
    attach.restore_pose(job.armature, job.held)
    if evaluated and job.seen is None:
        job.context.view_layer.update()
    try:
        yield
    finally:
        attach.restore_pose(job.armature, former)


def _plan(job: _Job) -> _Plan:
    """Compute all channels, without writing anything.

    Raises:
        UserError: the object cannot carry a figure at some frame.
    """
    tracks, armature = job.tracks, job.armature
    per_frame = tracks.steps_per_frame
    modes = {armature.pose.bones[bone].rotation_mode for bone in job.bindings.values()}
    held = {contact.role for contact in tracks.contacts} & set(job.bindings)
    dense = _is_dense(job) and modes == {"QUATERNION"}
    if dense and not held and not job.plain:
        # Angles need the samples between, so as not to lose count of turns;
        # contacts, since one may be shorter than a frame.
        stride = per_frame
    else:
        stride = 1
    position = {role: tracks.position[role][::stride] for role in job.bindings
                if role in tracks.position}
    rotation = {role: tracks.rotation[role][::stride] for role in job.bindings
                if role in tracks.rotation}
    seconds = tracks.time[::stride]
    per_frame //= stride
    frames = job.options.start_frame + np.arange(len(seconds)) / per_frame
    carried, over = [], None
    if job.carrier is None and job.seen is not None and job.seen.matrices is not None:
        matrices = job.seen.matrices
    elif job.carrier is None:
        matrices = _world_matrices(job.context, armature, frames)
    else:
        over = _relative_to(job.context, armature, frames)
        # Of the channels, not of where the object is now: a re-bake gives the same keys.
        size = np.abs(np.array(armature.scale) * np.array(armature.delta_scale)).mean()
        size *= np.linalg.norm(over[0, :3, :3], axis=0).mean()
        matrices = job.carrier.sampled(stride).matrices(float(size), job.unit_scale)
        carried = [adapter.object_channels(armature, matrices, over)]
    require_near(armature.name, matrices[:, :3, 3] * job.unit_scale)
    keyed = set(job.bindings.values())
    seen = job.seen or look(job.context, armature, keyed, job.held)
    constraints = seen.constraints
    late = adapter.moving_parents(armature, keyed, constraints)
    solver = adapter.RigSolver(
        armature,
        job.bindings,
        adapter.armature_frames(armature.name, matrices),
        job.unit_scale,
        job.axes,
        constraints=constraints,
    )
    spins = {role: values[::stride] for role, values in tracks.spins.items()}
    bones = solver.solve(position, rotation, spins)
    size = float(np.linalg.norm(matrices[:, :3, :3], axis=1).mean()) * job.unit_scale
    bones = carried + [b for b in bones if b.bone not in late]
    off: tuple[Problem, ...] = ()
    if job.plain and not late and len(seconds) > per_frame:
        rig = between.Rig(armature, constraints, size, job.unit_scale, over, ())
        channels, off = _closer_channels(job, bones, per_frame, rig)
    else:
        channels = _channels(job, bones, per_frame, size)
    start = np.array([float(job.options.start_frame)])
    for path, values in job.held.items():
        bone = adapter.bone_of(path)
        channels += [
            keyframes.Channel(path, index, bone, start, np.array([float(value)]))
            for index, value in enumerate(values)
        ]
    return _Plan(
        bones, channels, late, constraints, solver, matrices, size, position, rotation, spins,
        seconds, per_frame, off,
    )


def _moves(obj: bpy.types.Object | None) -> bool:
    """Whether an object's place in the world may change over time."""
    while obj is not None:
        data = obj.animation_data
        if data is not None and (data.action or data.drivers or data.nla_tracks):
            return True
        if any(not c.mute and c.influence > 0.0 for c in obj.constraints):
            return True
        if obj.parent is not None and obj.parent_type not in {"OBJECT", "ARMATURE"}:
            return True
        if obj.rigid_body is not None:
            return True
        obj = obj.parent
    return False


def _object_keys(armature: bpy.types.Object) -> bool:
    """Whether the armature object itself (not its bones) is animated."""
    data = armature.animation_data
    if data is None:
        return False
    curves = list(compat.action_fcurves(data.action, data.action_slot)) + list(data.drivers)
    for track in data.nla_tracks:
        for strip in track.strips:
            curves += compat.action_fcurves(strip.action, strip.action_slot)
    return any(not curve.data_path.startswith("pose.") for curve in curves)


def _is_still(armature: bpy.types.Object) -> bool:
    """Whether an armature object stays where it is over time."""
    return not (
        _moves(armature.parent)
        or _object_keys(armature)
        or any(not c.mute and c.influence > 0.0 for c in armature.constraints)
        or armature.parent_type not in {"OBJECT", "ARMATURE"}
        or armature.rigid_body is not None
    )


def _world_matrices(
    context: bpy.types.Context, armature: bpy.types.Object, frames: np.ndarray
) -> np.ndarray:
    """World matrices (m, 4, 4) of the armature object; m is 1 if it stands still."""
    if _is_still(armature):
        return _evaluated(context, armature)[None]
    return np.stack([_evaluated(context, armature) for _ in _play(context, frames)])


def _relative_to(
    context: bpy.types.Context, armature: bpy.types.Object, frames: np.ndarray
) -> np.ndarray:
    """What an object's own channels are relative to (m, 4, 4); m is 1 if that stands still."""
    if armature.parent is None:
        return np.eye(4)[None]

    def now() -> np.ndarray:
        if armature.parent_type in {"OBJECT", "ARMATURE"}:
            parent, held = _evaluated(context, armature.parent), armature.matrix_parent_inverse
            return parent @ np.array(held, dtype=float)
        evaluated = armature.evaluated_get(context.evaluated_depsgraph_get())
        own = np.array(evaluated.matrix_basis, dtype=float)
        return np.array(evaluated.matrix_world, dtype=float) @ affine.inverse(own)

    if not _moves(armature.parent) and armature.parent_type in {"OBJECT", "ARMATURE"}:
        return now()[None]
    return np.stack([now() for _ in _play(context, frames)])


def _evaluated(context: bpy.types.Context, obj: bpy.types.Object) -> np.ndarray:
    """World matrix (4, 4) of an object as it is evaluated now."""
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    return np.array(evaluated.matrix_world, dtype=float)


def _play(context: bpy.types.Context, frames: np.ndarray):
    """Go to one (sub)frame after the other."""
    for frame in frames.tolist():
        whole = int(np.floor(frame))
        context.scene.frame_set(whole, subframe=frame - whole)
        yield frame


def _spans(
    job: _Job, metres_per_unit: float
) -> tuple[dict[str, list[contacts.Span]], dict[str, list[contacts.Span]]]:
    """Contacts by the role that stands still, and by those of its limb."""
    rate, zero = _frames_per_second(job.tracks), job.tracks.time[0]
    held: dict[str, list[contacts.Span]] = {}
    limbs: dict[str, list[contacts.Span]] = {}
    for contact in job.tracks.contacts:
        begin, end = (contact.start - zero) * rate, (contact.end - zero) * rate
        arm = np.asarray(contact.arm, dtype=float) / metres_per_unit
        span = contacts.Span(float(begin), float(end), arm)
        held.setdefault(contact.role, []).append(span)
        for role in contact.limb:
            limbs.setdefault(role, []).append(span)
    return held, limbs


def _is_dense(job: _Job) -> bool:
    return job.options.key_mode == "DENSE"


def _key_spacing(job: _Job) -> float:
    return sparse.key_spacing(max(abs(job.options.start_frame), abs(job.end_frame)))


@dataclass(frozen=True)
class _Timing:
    """When the bones of a bake may have keys.

    Attributes:
        spans: role -> contacts.
        held: role -> what holds in its contacts.
        common: times of most bones.
        grids: role -> times of a bone that has contacts.
        pinned: role -> what is known where they begin and end.
    """

    spans: Mapping[str, Sequence[contacts.Span]]
    held: Mapping[str, Sequence[contacts.Held]]
    common: sparse.KeyGrid
    grids: Mapping[str, sparse.KeyGrid]
    pinned: Mapping[str, Sequence[sparse.Pinned]]

    def grid(self, role: str) -> sparse.KeyGrid:
        """Times of a bone.

        Args:
            role: its role.
        """
        return self.grids.get(role, self.common)


def _held_in(
    job: _Job,
    bones: Sequence[adapter.BoneTrack],
    per_frame: int,
    metres_per_unit: float,
    spans: Mapping[str, Sequence[contacts.Span]],
) -> dict[str, list[contacts.Held]]:
    """What holds in the contacts of each role that has some."""
    count = (job.frames - 1) * per_frame + 1
    held: dict[str, list[contacts.Held]] = {}
    for bone in bones:
        if bone.role in spans and bone.location is not None:
            turned = bone.rotation[:count] if bone.rotation is not None else None
            mode = job.armature.pose.bones[bone.bone].rotation_mode
            held[bone.role] = list(contacts.held(
                bone.location[:count], turned, mode, per_frame, spans[bone.role],
                CONTACT_MOVES / metres_per_unit,
            ))  # fmt: skip
    return held


def _timing(
    job: _Job,
    bones: Sequence[adapter.BoneTrack],
    per_frame: int,
    metres_per_unit: float,
    limbs: Sequence[between.Contact] | None = None,
) -> _Timing:
    """When bones may have keys; `limbs` of a plain skeleton, or None for another rig."""
    rate, zero = _frames_per_second(job.tracks), job.tracks.time[0]
    count = (job.frames - 1) * per_frame + 1
    held: Mapping[str, Sequence[contacts.Held]] = {}
    moving: dict[str, Sequence[contacts.Span]] = {}
    along: Mapping[str, Sequence[contacts.Span]] = {}
    spans: Mapping[str, Sequence[contacts.Span]]
    if limbs is None:
        spans, along = _spans(job, metres_per_unit)
        held = _held_in(job, bones, per_frame, metres_per_unit, spans)
        for role, theirs in held.items():
            if any(one.still is None for one in theirs):
                moving[role] = [one.span for one in theirs]
    else:
        spans = {b.role: limb.spans for b in bones for limb in limbs if b.bone in limb.limb}
        moving = dict(spans)
    latest = max(abs(job.options.start_frame), abs(job.end_frame))
    kinks = [(float(t) - zero) * rate for t in job.tracks.kinks]
    kinks += [t for theirs in spans.values() for span in theirs for t in (span.begin, span.end)]
    near = sparse.EXTRAPOLATION / per_frame

    def grid_of(theirs: Sequence[contacts.Span], smoothly: bool) -> sparse.KeyGrid:
        """For a bone of its own contacts, or that goes along with those of its limb."""
        ends = np.unique([t for span in theirs for t in (span.begin, span.end)])
        # Corners of others, with hardly a sample between, shall not hide a bone's own.
        far = [t for t in kinks if np.abs(ends - t).min() > near]
        if smoothly:
            return sparse.key_grid(count, per_frame, far, latest, ends)
        return sparse.key_grid(count, per_frame, [*ends, *far], latest)

    roles = {bone.role for bone in bones}
    grids = {
        role: grid_of(theirs, True)
        for role, theirs in along.items()
        if role in roles and role not in held
    }
    pinned = {}
    for role, theirs in moving.items():
        grids[role] = grid_of(theirs, False)
        waiting = [one for one in held.get(role, ()) if one.still is None]
        if waiting:
            pinned[role] = contacts.pinned(waiting)
    common = sparse.key_grid(count, per_frame, kinks, latest)
    return _Timing(spans, held, common, grids, pinned)


def _closer_channels(
    job: _Job, bones: Sequence[adapter.BoneTrack], per_frame: int, rig: between.Rig
) -> tuple[list[keyframes.Channel], tuple[Problem, ...]]:
    """Channels of a plain skeleton, and how far its bones are off between the keys.

    Keys stand closer where a limb in contact, or any bone, would else be off.
    """
    size, where, mode = rig.metres_per_unit, job.options.between, job.options.key_mode
    names = {bone.role: bone.bone for bone in bones}
    limbs = between.contacts_of(
        job.armature, set(names.values()),
        {names[role]: theirs for role, theirs in _spans(job, size)[0].items() if role in names},
    )
    timing = _timing(job, bones, per_frame, size, limbs)
    close = bool(limbs) or where == between.ANYWHERE
    parts = between.PARTS * per_frame // np.gcd(between.PARTS, per_frame) if close else per_frame
    kinks = [(float(t) - job.tracks.time[0]) * _frames_per_second(job.tracks)
             for t in job.tracks.kinks]
    kinks += [time for limb in limbs for time in limb.ends()]
    looked = between.look(timing.common, int(parts), np.array(kinks))
    read: dict[int, sparse.Stencil] = {}

    def exact(bone: adapter.BoneTrack) -> adapter.BoneTrack:
        grid = timing.grid(bone.role)
        if id(grid) not in read:
            read[id(grid)] = grid.at(looked.at)
        stencil = read[id(grid)]
        located, turned = (
            None if values is None else stencil.values(values)
            for values in (bone.location, bone.rotation)
        )
        return replace(bone, location=located, rotation=turned)

    over = rig.over
    if over is not None and len(over) > 1:
        over = timing.common.at(looked.at).values(over.reshape(-1, 16)).reshape(-1, 4, 4)
    rig = replace(rig, over=over, contacts=tuple(limbs))
    wanted = [exact(bone) for bone in bones]
    truth = rig.places(wanted)
    levels = {bone.bone: np.zeros(job.frames - 1, int) for bone in bones}
    keying = timing
    if where == between.NOWHERE:
        count = (job.frames - 1) * per_frame + 1
        keying = _Timing({}, {}, sparse.key_grid(count, per_frame, ()), {}, {})
    while True:
        channels = _channels(job, bones, per_frame, size, keying, levels)
        keyed = between.keyed_tracks(bones, channels, job.options.start_frame + looked.at)
        compared = between.compare(rig, truth, keyed, looked)
        if where == between.NOWHERE or not between.closer(
            rig, where, compared, wanted, keyed, levels, between.FINEST[mode]
        ):
            break
    found = between.problem(
        rig, compared, where, job.options.start_frame, _frames_per_second(job.tracks)
    )
    return channels, () if found is None else (found,)


def _channels(
    job: _Job,
    bones: Sequence[adapter.BoneTrack],
    per_frame: int,
    metres_per_unit: float,
    timing: _Timing | None = None,
    levels: Mapping[str, np.ndarray] | None = None,
    known: Mapping[str, Mapping[float, Mapping[str, np.ndarray]]] | None = None,
) -> list[keyframes.Channel]:
    """Keys of bones; `timing` and `levels`, see `between.closer`, of a plain skeleton.

    `known` tells "location" and "rotation" of bones at some times between frames.
    """
    start = float(job.options.start_frame)
    count = (job.frames - 1) * per_frame + 1
    dense = _is_dense(job)
    plain = timing is not None
    legs = any(contact.limb for contact in job.tracks.contacts)
    channels = []
    if dense and timing is None:
        whole = start + np.arange(float(job.frames))
        # Of what holds still; the same array for all of it. An edited footprint may make any
        # bone of a body on legs move: keys far from it are to stay as they were.
        ends = whole[[0, -1]]
        spans, limbs = _spans(job, metres_per_unit)
        held = _held_in(job, bones, per_frame, metres_per_unit, spans)
        spacing = _key_spacing(job)
        for bone in bones:
            theirs: list[contacts.Held | contacts.Along] = [*held.get(bone.role, ())]
            names = {_kind(name) for name, _ in bone.properties()}
            better = (known or {}).get(bone.bone, {})
            theirs += [contacts.Along(s, names, better) for s in limbs.get(bone.role, ())]
            for name, values in bone.properties():
                frames, keyed = whole, values[:count:per_frame]
                if not legs and _holds_still(values[:count]):
                    frames, keyed = ends, keyed[[0, -1]]
                elif theirs:
                    frames, keyed = contacts.dense_keys(
                        values[:count], _kind(name), per_frame, theirs, spacing
                    )
                    frames = start + frames
                path = bone.path(name)
                channels += [
                    keyframes.Channel(path, index, bone.group, frames, keyed[:, index])
                    for index in range(values.shape[1])
                ]
        return channels
    timing = timing or _timing(job, bones, per_frame, metres_per_unit)
    # Bodies on legs may be small, and their chains are long: their keys stand closer.
    legs = legs and not plain
    turn = dict.fromkeys(rotation_modes.REST, ROTATION_ERROR)
    if legs:
        turn["rotation_quaternion"] *= 0.5
    for bone in bones:
        samples = np.concatenate([values for _, values in bone.properties()], axis=1)[:count]
        size = bone.unit * job.unit_scale or metres_per_unit
        level = levels[bone.bone] if levels else np.zeros(1, int)
        spans = timing.spans.get(bone.role, ())
        if dense:
            keys = between.dense_keys(timing.grid(bone.role), samples, spans, level)
        else:
            limits, visible = (
                np.concatenate(
                    [
                        np.full(values.shape[1], place / size if name == "location" else turn[name])
                        for name, values in bone.properties()
                    ]
                )
                for place in (LOCATION_ERROR, LOCATION_SEEN)
            )
            keys = sparse.sparse_keys(
                timing.grid(bone.role), samples, job.options.step,
                [(span.begin, span.end) for span in spans],
                limits * between.CUT ** level[:, None], timing.pinned.get(bone.role, ()),
                np.flatnonzero(level >= between.HALVED), plain, visible if legs else None,
            )
        column = 0
        frames = start + keys.frames
        for name, values in bone.properties():
            for index in range(values.shape[1]):
                slopes = {} if dense else {
                    "slopes_left": keys.slopes_left[:, column],
                    "slopes_right": keys.slopes_right[:, column],
                    "straight": keys.straight[:, column],
                }
                channels.append(
                    keyframes.Channel(
                        bone.path(name), index, bone.group, frames, keys.values[:, column],
                        **slopes,
                    )
                )
                column += 1
    return channels


def _holds_still(values: np.ndarray) -> bool:
    """Whether samples (m, c) of a property are all the same."""
    return len(values) > 1 and bool(np.ptp(values, axis=0).max() <= STILL)


def _kind(name: str) -> str:
    """What a property holds: location or rotation."""
    return "location" if name == "location" else "rotation"


def _frames_per_second(tracks: RoleTracks) -> float:
    if len(tracks.time) <= tracks.steps_per_frame:
        return 24.0  # one frame: nothing depends on it
    return 1.0 / float(tracks.time[tracks.steps_per_frame] - tracks.time[0])


def _reusable(
    armature: bpy.types.Object,
    previous: Baked,
    options: BakeOptions,
) -> bool:
    """Whether a new bake can go where the last one is."""
    action, record = previous.action, previous.record
    slot = compat.slot_by_handle(action, record.slot)
    if slot is None or action.library is not None:
        return False
    if record.target == "NEW":
        if checks.other_users(armature, action, slot):
            return False  # a copy of the rig plays it: it shall not change
        return options.target == "NEW" or attach.is_attached(armature, previous)
    return options.target == "CURRENT" and attach.is_attached(armature, previous)


def _drop_channels(job: _Job, previous: Baked) -> None:
    """Take off the channels of the last bake that the new one does not key.

    Their bones stand again as they stood before they were keyed, and the bones
    that hang on them are computed from that.
    """
    record = previous.record
    wanted = set(_paths(job)) | set(job.held)
    dropped = set(record.curves) - wanted
    if not dropped:
        return
    slot = compat.slot_by_handle(previous.action, record.slot)
    bag = compat.channelbag(previous.action, slot)
    existing = keyframes.curves_by_path(bag)
    for path, index in record.channels():
        if path in dropped and (path, index) in existing:
            _remove_own(bag, existing[path, index], record)
    attach.restore_pose(
        job.armature, {path: v for path, v in record.pose.items() if path in dropped}
    )
    job.context.view_layer.update()


def _paths(job: _Job) -> dict[str, str]:
    """Data path -> bone of everything that moves, "" for the object."""
    return checks.channel_paths(
        job.armature, job.bindings, job.tracks, job.carrier is not None
    )


def _place(job: _Job, previous: Baked | None) -> _Place:
    """Action and slot to write into, assigned to the rig."""
    armature, options = job.armature, job.options
    paths = _paths(job)
    paths |= dict.fromkeys(job.held, "")
    pose = attach.read_pose(armature, paths)
    # What another motion's bake keys now stood elsewhere before it did.
    pose |= {path: v for path, v in memory.pose_before(armature).items() if path in pose}
    if previous is not None:
        # Bones that were keyed show the bake now, not what they were before.
        pose |= {path: values for path, values in previous.record.pose.items() if path in pose}
        slot = compat.slot_by_handle(previous.action, previous.record.slot)
        former, former_action = memory.former_of(previous)
        unchanged = attach.is_attached(armature, previous)
        if not unchanged:
            former = attach.remember(armature)
            data = armature.animation_data
            former_action = data.action if data is not None else None
            attach.make_active(armature, previous.action, slot)
        return _Place(
            previous.record.target, previous.action, slot, former, former_action, pose,
            previous.record.made_slot, unchanged,
        )
    former = attach.remember(armature)
    data = armature.animation_data
    current = data.action if data is not None else None
    if options.target == "CURRENT" and current is not None:
        slot, made = data.action_slot, False
        if slot is None:
            slot, made = compat.new_slot(current, armature.name), True
            data.action_slot = slot
        return _Place("CURRENT", current, slot, former, current, pose, made, False)
    action = bpy.data.actions.new(options.action_name or f"{armature.name} Motion")
    slot = compat.new_slot(action, armature.name)
    try:
        attach.make_active(armature, action, slot)
    except UserError:
        attach.bring_back(armature, former, current)
        bpy.data.actions.remove(action)
        raise
    return _Place("NEW", action, slot, former, current, pose, True, False)


def _give_up(armature: bpy.types.Object, place: _Place, previous: Baked | None) -> None:
    """Undo `_place`, after an error on the way."""
    if place.unchanged:
        return
    if place.target == "NEW":
        attach.bring_back(armature, place.former, place.former_action)
        if previous is None:
            bpy.data.actions.remove(place.action)
    elif place.made_slot and previous is None:
        place.action.slots.remove(place.slot)
        armature.animation_data.last_slot_identifier = place.former.last_slot


def _write(
    job: _Job, plan: _Plan, place: _Place, previous: Baked | None
) -> tuple[BakeRecord, int, _Plan]:
    bag = compat.ensure_channelbag(place.action, place.slot)
    groups_before = {group.name for group in bag.groups}
    old = previous.record if previous is not None else None
    own = set(old.channels()) if old is not None else set()
    channels = plan.channels
    points = _write_channels(bag, channels, own, old)
    if plan.late:
        plan, points = _late_channels(
            job, _at_frames(job, plan), lambda late: _write_channels(bag, late, own, old)
        )
        channels = plan.channels
    stored = [edits.stored_curve(*pair) for pair in zip(channels, points, strict=True)]
    curves: dict[str, dict[str, str]] = {}
    for channel, keys in zip(channels, stored, strict=True):
        curves.setdefault(channel.data_path, {})[str(channel.index)] = keys.digest()
    # In the order of the record: by path, then as written.
    order = {
        (path, int(i)): None for path, digests in curves.items() for i in digests
    }
    by_channel = {(c.data_path, c.index): k for c, k in zip(channels, stored, strict=True)}
    if old is not None and old.store:
        name = old.store
    else:
        name = edits.free_name(place.action)
    edits.store(place.action, name, [by_channel[channel] for channel in order])
    memory.remember(place.action, name, place.former, place.former_action, place.pose)
    groups = {group.name for group in bag.groups} - groups_before
    record = BakeRecord(
        target=place.target,
        slot=place.slot.handle,
        start=float(job.options.start_frame),
        end=float(job.end_frame),
        curves=curves,
        groups=tuple(sorted(groups | set(old.groups if old is not None else ()))),
        made_slot=place.made_slot,
        pose=place.pose,
        former=place.former,
        track=old.track if old is not None else "",
        edits_track=old.edits_track if old is not None else "",
        store=name,
    )
    return record, sum(len(channel.frames) for channel in channels), plan


def _write_channels(bag, channels, own, old) -> list[np.ndarray]:
    """Write channels beside keys that are not ours; their keys as they are stored."""
    existing = keyframes.curves_by_path(bag)
    kept: dict[tuple[str, int], keyframes.Keys] = {}
    for channel in channels:
        key = (channel.data_path, channel.index)
        curve = existing.get(key)
        if curve is None:
            continue
        first, last = channel.frames[0], channel.frames[-1]
        if key in own:
            first, last = edits.own_span(old)
            for part in (curve, curve.group):
                if part is not None:
                    part.mute = part.lock = False
            for modifier in list(curve.modifiers):
                curve.modifiers.remove(modifier)
        if np.isinf(first):
            continue
        keys = keyframes.read_keys(curve)
        keys = keys.where((keys.frames < first) | (keys.frames > last))
        if len(keys.frames):
            kept[key] = keys
    points = keyframes.key_coordinates(channels)
    written = keyframes.write_channels(bag, channels, points)
    if kept:
        for channel, curve in zip(channels, written, strict=True):
            keys = kept.get((channel.data_path, channel.index))
            if keys is not None:
                keyframes.join_keys(curve, keys)
    return points


def _remove_own(bag, curve, record: BakeRecord) -> None:
    """Remove a bake's keys from a curve, and the curve if nothing is left of it."""
    first, last = edits.own_span(record)
    frames = keyframes.read_keys(curve, ["co"]).frames
    others = (frames < first) | (frames > last)
    if others.any():
        keyframes.keep_keys(curve, others)
    else:
        bag.fcurves.remove(curve)


def _late_channels(
    job: _Job, plan: _Plan, write: Callable[[list[keyframes.Channel]], list[np.ndarray]]
) -> tuple[_Plan, list[np.ndarray]]:
    """Write the channels of bones under bones that only Blender can place.

    Where those are placed by other such bones, they settle in a few rounds.

    Args:
        job: the bake.
        plan: its numbers; its channels are written.
        write: writes channels; returns their keys as they are stored.

    Returns:
        The plan with all channels and a solver that knows where the bones are, and the keys of
        the channels as they are stored.
    """
    moments, position, rotation, spins = _with_moments(job, plan)
    even = np.searchsorted(moments, np.arange(len(plan.seconds)) / plan.per_frame)
    more = np.setdiff1d(np.arange(len(moments)), even)
    parents = sorted(set(plan.late.values()))
    free = adapter.independent(job.armature, parents, set(job.bindings.values()))
    moving = len(plan.matrices) > 1
    matrices = np.empty((len(moments), 4, 4)) if moving else plan.matrices

    def solver_of(poses: np.ndarray, matrices: np.ndarray) -> adapter.RigSolver:
        return adapter.RigSolver(
            job.armature,
            job.bindings,
            adapter.armature_frames(job.armature.name, matrices),
            job.unit_scale,
            job.axes,
            dict(zip(parents, poses, strict=True)),
            plan.constraints,
        )

    # Few keys err between them: what hangs on bones with such keys would make up for it, and be
    # elsewhere than its neighbours. It is read with all samples in place, if keys go that close.
    exactly = not _is_dense(job) and plan.per_frame * _key_spacing(job) < 1.0
    sampled = _sampled(job, plan.bones, plan.per_frame) if exactly else plan.channels
    if exactly:
        write(sampled)
    before, solver, late = None, plan.solver, []
    channels, points = list(plan.channels), list[np.ndarray]()
    for _ in range(1 if free else MOST_ROUNDS):
        job.context.view_layer.update()
        poses = np.empty((len(parents), len(moments), 4, 4))
        for i, _frame in enumerate(_play(job.context, job.options.start_frame + moments)):
            evaluated = job.armature.evaluated_get(job.context.evaluated_depsgraph_get())
            for row, parent in zip(poses, parents, strict=True):
                row[i] = evaluated.pose.bones[parent].matrix
            if moving:
                matrices[i] = evaluated.matrix_world
        if moving:
            matrices[even] = plan.matrices
        if before is not None and np.array_equal(poses, before):
            break
        before = poses
        solver = solver_of(poses, matrices)
        late = [b for b in solver.solve(position, rotation, spins) if b.bone in plan.late]
        known = {bone.bone: _between(bone, moments, more, even) for bone in late}
        late = [_rows(bone, even) for bone in late]
        if exactly:
            write(sampled + _sampled(job, late, plan.per_frame))
        else:
            own = _channels(job, late, plan.per_frame, plan.metres_per_unit, known=known)
            channels = plan.channels + own
            points = write(channels)
    if exactly:
        channels = plan.channels + _channels(job, late, plan.per_frame, plan.metres_per_unit)
        points = write(channels)
    if len(more):
        solver = solver_of(before[:, even], plan.matrices)
        solver.follow(plan.position, plan.rotation)
    return replace(plan, channels=channels, solver=solver), points


def _rows(bone: adapter.BoneTrack, rows: np.ndarray) -> adapter.BoneTrack:
    """Some samples of a bone's channels."""
    return replace(
        bone,
        location=None if bone.location is None else bone.location[rows],
        rotation=None if bone.rotation is None else bone.rotation[rows],
    )


def _between(
    bone: adapter.BoneTrack, times: np.ndarray, rows: np.ndarray, even: np.ndarray
) -> dict[float, dict[str, np.ndarray]]:
    """Channels of a late bone at moments between samples, by time."""
    found = {}
    for row in rows:
        time = float(times[row])
        known = {_kind(name): values[row] for name, values in bone.properties()}
        if bone.location is not None:
            # It hardly moves in what it hangs on, which is better known than its own place.
            at = np.array([time])
            known["location"] = contacts.smoothly(times[even], bone.location[even], at)[0]
        found[time] = known
    return found


def _sampled(
    job: _Job, bones: Sequence[adapter.BoneTrack], per_frame: int
) -> list[keyframes.Channel]:
    """A key on every sample."""
    count = (job.frames - 1) * per_frame + 1
    frames = job.options.start_frame + np.arange(count) / per_frame
    return [
        keyframes.Channel(bone.path(name), index, bone.group, frames, values[:count, index])
        for bone in bones
        for name, values in bone.properties()
        for index in range(values.shape[1])
    ]


def _with_moments(
    job: _Job, plan: _Plan
) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Samples, and the moments between them at which late bones get keys of their limbs' contacts.

    Args:
        job: the bake.
        plan: its numbers.

    Returns:
        Times in frames from the start, and positions, rotations and spins by role.
    """
    even = np.arange(len(plan.seconds)) / plan.per_frame
    _, limbs = _spans(job, plan.metres_per_unit)
    spacing = _key_spacing(job)
    late = {r for r in limbs if job.bindings.get(r) in plan.late} if _is_dense(job) else set()
    extra = np.unique(
        [t for r in late for t, _ in contacts.moments(limbs[r], float(even[-1]), spacing)]
    )
    extra = extra[[not np.isclose(even, t, atol=1e-9).any() for t in extra]]
    if not len(extra):
        return even, dict(plan.position), dict(plan.rotation), dict(plan.spins)
    times = np.append(even, extra)
    order = np.argsort(times, kind="stable")
    at = np.arange(len(job.tracks.time)) / job.tracks.steps_per_frame

    def joined(
        rows: Mapping[str, np.ndarray], every: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        found = {}
        for role, values in rows.items():
            more = contacts.smoothly(at, every[role], extra)
            found[role] = np.concatenate([values, more])[order]
        return found

    turned = joined(plan.rotation, job.tracks.rotation)
    return (
        times[order],
        joined(plan.position, job.tracks.position),
        {role: rotations.normalise(values) for role, values in turned.items()},
        {role: np.interp(times[order], even, values) for role, values in plan.spins.items()},
    )


def _at_frames(job: _Job, plan: _Plan) -> _Plan:
    """The same on whole frames alone, where those tell all of the bones that Blender places.

    Playing the samples between costs as much again as playing the frames; where limbs' contacts
    end is played besides.
    """
    stride = plan.per_frame
    held = {job.bindings.get(contact.role) for contact in job.tracks.contacts}
    held = set() if job.plain else held & set(plan.late)
    if not _is_dense(job) or plan.spins or held:
        return plan

    def every(tracks: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {role: values[::stride] for role, values in tracks.items()}

    return replace(
        plan,
        matrices=plan.matrices if len(plan.matrices) == 1 else plan.matrices[::stride],
        position=every(plan.position), rotation=every(plan.rotation),
        seconds=plan.seconds[::stride], per_frame=1,
    )  # fmt: skip


def _hang(
    job: _Job,
    baked: Baked,
    slot: bpy.types.ActionSlot,
    differences: Sequence[keyframes.Channel],
) -> Baked:
    """Bake as active action, or in the NLA where asked for or where edits lie on it."""
    record, armature = baked.record, job.armature
    action = baked.action
    edits_action = baked.edits_action
    if differences:
        channels = edits.combine_differences(differences, edits.layer_channels(edits_action))
        if edits_action is None:
            edits_action = bpy.data.actions.new(f"{action.name}{attach.EDITS_SUFFIX}")
        keyframes.write_channels(
            compat.ensure_channelbag(edits_action, _first_slot(edits_action, armature)), channels
        )
    if record.target == "CURRENT" and edits_action is None:
        return baked
    data = armature.animation_data
    if not job.options.push_to_nla and edits_action is None:
        if record.track:
            attach.remove_track(armature, record.track, action)
            if data.action is None:
                attach.make_active(armature, action, slot)
        return Baked(replace(record, track=""), action, baked.former_action, None)
    if data.action == action:
        data.action = None
    track = attach.push_down(
        armature, action, slot, record.start, record.end, name=record.track
    )
    record = replace(record, track=track)
    if edits_action is not None:
        track = attach.push_down(
            armature, edits_action, _first_slot(edits_action, armature), record.start,
            record.end, blend="COMBINE", name=record.edits_track,
        )
        record = replace(record, edits_track=track)
    return Baked(record, action, baked.former_action, edits_action)


def _first_slot(
    action: bpy.types.Action, armature: bpy.types.Object
) -> bpy.types.ActionSlot:
    """The slot of kept edits; a new one where the animator removed it."""
    return action.slots[0] if action.slots else compat.new_slot(action, armature.name)


def _verify(job: _Job, plan: _Plan, baked: Baked) -> list[Problem]:
    # What is keyed to rest pulls at no limb. To have Blender evaluate the keys for it would
    # take a fifth of a long bake: it copies them all.
    with _holding(job, evaluated=False):
        found = verify.limbs(job.armature, job.bindings.values())
        problems, used = verify.reach_problems(
            job.armature, plan.solver, found, plan.metres_per_unit, plan.seconds,
            job.options.start_frame, plan.per_frame,
        )
    if job.options.verify and baked.edits_action is not None:
        job.context.view_layer.update()  # kept edits are meant to differ
    elif job.options.verify:
        if any(".constraints[" in path for path in job.held):
            job.context.view_layer.update()  # `check_bake` looks for limbs, too
        at_frames = used[:: plan.per_frame]
        bindings, tracks = job.checked() if job.checked else (job.bindings, job.tracks)
        problems += verify.check_bake(
            job.context, job.armature, bindings, tracks, job.options.start_frame,
            job.unit_scale, verify.frames_to_verify(job.tracks, at_frames), job.axes,
        )
    return problems


def clear_bake(
    context: bpy.types.Context,
    armature: bpy.types.Object | None,
    baked: Baked,
    *,
    owner: bpy.types.Object | None = None,
) -> str:
    """Remove a bake and only that; what stood on the rig before comes back.

    Keys of the animator's own in the same action stay, and so does an action
    that something else uses.

    Args:
        context: Blender's context.
        armature: the rig; None if it has been deleted.
        baked: what the bake gave.
        owner: Motion object that points to the actions.

    Returns:
        One sentence on what was left and why, or "".

    Raises:
        UserError: nothing was changed; one sentence says why.
    """
    record, action = baked.record, baked.action
    if armature is not None and armature.animation_data is not None:
        if armature.animation_data.use_tweak_mode:
            raise UserError(
                f"{armature.name} is in NLA tweak mode: leave it (Tab in the Nonlinear Animation "
                "editor), then clear the bake"
            )
    note = ""
    slot = compat.slot_by_handle(action, record.slot)
    shared = bool(action) and bool(slot) and checks.other_users(armature, action, slot)
    keep = False
    if action is not None and slot is not None and not shared and action.library is None:
        bag = compat.channelbag(action, slot)
        existing = keyframes.curves_by_path(bag)
        for channel in record.channels():
            if channel in existing:
                _remove_own(bag, existing[channel], record)
        left = list(bag.fcurves) if bag is not None else []
        if bag is not None:
            used = {curve.group.name for curve in left if curve.group is not None}
            for name in record.groups:
                if name in bag.groups and name not in used:
                    bag.groups.remove(bag.groups[name])
        keep = record.target == "NEW" and bool(left)
        if keep:
            note = f"Action {action.name} stays, as it has keys of yours"
        elif record.target == "CURRENT" and record.made_slot and not left:
            _remove_slot(armature, action, slot, record.former)
    elif shared:
        note = f"Action {action.name} stays, as {shared[0]} plays it too"
    if armature is not None:
        if keep:
            attach.restore_pose(armature, record.pose)
        else:
            attach.detach(armature, baked)
    if action is not None and not shared and action.library is None:
        if record.target == "NEW":
            memory.forget(action, baked)
        if record.store in action:
            del action[record.store]
    if record.target == "NEW" and action is not None and not keep:
        _remove_unused(action, armature, owner)
    if baked.edits_action is not None:
        _remove_unused(baked.edits_action, armature, owner)
    context.view_layer.update()
    return note


def _remove_slot(armature, action, slot, former: Former) -> None:
    action.slots.remove(slot)
    if armature is not None and armature.animation_data is not None:
        armature.animation_data.last_slot_identifier = former.last_slot


def _remove_unused(action, armature, owner) -> None:
    """Remove an action unless something besides its rig and its motion uses it."""
    users = bpy.data.user_map(subset={action}).get(action, set())
    if users <= {armature, owner} and not action.use_fake_user:
        bpy.data.actions.remove(action)
