# SPDX-License-Identifier: GPL-3.0-or-later
"""When the bones of a bake have keys, and what they hold.

On every frame with straight lines between, or few with exact slopes (`sparse`); where
something is in contact at its exact ends (`contacts`); on plain skeletons wherever
what hangs at the end of a chain would be off between them (`between`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...solvers.clock import Clock
from ...solvers.motion import Problem
from ...solvers.times import gap, nearest
from .. import keyframes
from ..mapping.tracks import ROOT, Contact
from ..rigs.pose import rotation_modes
from ..rigs.pose.channels import BoneTrack
from . import between, contacts, evaluation, sparse
from .job import Job

# Largest error of a sparse curve between its keys, wherever closer keys help.
LOCATION_ERROR = 5e-4  # metres
CONTACT_MOVES = 1e-5  # metres: more than that, and a bone does not stand still in a contact
FEET = 0.6  # share of the errors allowed to limbs that stand: those of their bones add up
LOCATION_SEEN = 1.5e-3  # metres: more than that is worth a key between frames, on legs
ROTATION_ERROR = 1e-3  # radians, or of a quaternion's components; half of that on legs

# What turns or moves (in units) no farther has one value: half of what single precision
# tells apart beside 1.
STILL = 2.0**-24

# Frames: nearer than that to another sample, an instant tells nothing of slopes.
BESIDE = 0.01


@dataclass(frozen=True)
class _Timing:
    """When the bones of a bake may have keys.

    Attributes:
        spans: role -> contacts.
        held: role -> what holds in its contacts.
        common: times of most bones.
        grids: role -> times of a bone that has contacts.
        pinned: role -> what is known where they begin and end.
        instants: role -> times at which more is known of a bone than at its samples, and that
            are in its grid.
    """

    spans: Mapping[str, Sequence[contacts.Span]]
    held: Mapping[str, Sequence[contacts.Held]]
    common: sparse.KeyGrid
    grids: Mapping[str, sparse.KeyGrid]
    pinned: Mapping[str, Sequence[sparse.Pinned]]
    instants: Mapping[str, np.ndarray]

    def grid(self, role: str) -> sparse.KeyGrid:
        """Times of a bone.

        Args:
            role: its role.
        """
        return self.grids.get(role, self.common)


def spans_of(
    job: Job, metres_per_unit: float, instants: bool = False
) -> tuple[dict[str, list[contacts.Span]], dict[str, list[contacts.Span]]]:
    """Contacts by the role that stands still, and by those of its limb.

    Args:
        job: the bake.
        metres_per_unit: size of the armature's unit.
        instants: whether limbs go along with how feet roll before and after they are at rest.
    """
    held: dict[str, list[contacts.Span]] = {}
    limbs: dict[str, list[contacts.Span]] = {}
    for contact in job.tracks.contacts:
        begin, end = job.tracks.clock.frame_of(np.array([contact.start, contact.end])).tolist()
        arm = np.asarray(contact.arm, dtype=float) / metres_per_unit
        span = contacts.Span(begin, end, arm)
        held.setdefault(contact.role, []).append(span)
        spans = [span]
        if instants:
            spans += [replace(span, begin=time, end=time) for time in instants_of(job, contact)]
        for role in contact.limb:
            limbs.setdefault(role, []).extend(spans)
    return held, limbs


def instants_of(job: Job, contact: Contact, most: int = 2) -> list[float]:
    """When more is known of a foot than by its samples, frames from the start of the motion.

    Args:
        job: the bake.
        contact: what is at rest in between.
        most: rank up to which they count.
    """
    told = contact.instants
    if told is None:
        return []
    return job.tracks.clock.frame_of(told.time[told.rank <= most]).tolist()


def sampled(
    job: Job,
    bones: Sequence[BoneTrack],
    clock: Clock,
    known: Mapping[str, contacts.Known],
) -> list[keyframes.Channel]:
    """A key on every sample, and wherever more is known of a bone.

    Args:
        job: the bake.
        bones: channels of its bones, at all samples.
        clock: when the samples are.
        known: bone -> what is better known of it than by its samples.
    """
    times = clock.frames[: clock.whole[-1] + 1]
    start, channels = job.options.start_frame, []
    for bone in bones:
        samples = np.concatenate([values for _, values in bone.properties()], axis=1)[: len(times)]
        at, theirs = times, known.get(bone.bone, {})
        more = _spaced(theirs, times, job.spacing)
        if len(more):
            rows = np.searchsorted(times, more)
            at = np.insert(times, rows, more)
            samples = np.insert(samples, rows, _known_at(bone, theirs, more), axis=0)
        column = 0
        for name, values in bone.properties():
            for index in range(values.shape[1]):
                channels.append(
                    keyframes.Channel(
                        bone.path(name), index, bone.group, start + at, samples[:, column]
                    )
                )
                column += 1
    return channels


def _spaced(known: contacts.Known, samples: np.ndarray, least: float) -> np.ndarray:
    """Times at which a bone is known that are no nearer to samples, and each other, than that."""
    times = np.array(sorted(known))
    times = times[(times > samples[0]) & (times < samples[-1])]
    kept: list[float] = []
    for time in times[gap(times, samples) > least].tolist():
        if not kept or time > kept[-1] + least:
            kept.append(time)
    return np.array(kept)


def channels_of(
    job: Job,
    bones: Sequence[BoneTrack],
    clock: Clock,
    metres_per_unit: float,
    timing: _Timing | None = None,
    levels: Mapping[str, np.ndarray] | None = None,
    known: Mapping[str, contacts.Known] | None = None,
) -> list[keyframes.Channel]:
    """Keys of bones.

    Args:
        job: the bake.
        bones: channels of the bones, at all samples.
        clock: when the samples are.
        metres_per_unit: size of the armature's unit.
        timing: when bones of a plain skeleton may have keys.
        levels: bone -> how close its keys stand in each frame, see `between.closer`.
        known: bone -> what is better known of it than by its samples.
    """
    start, known = float(job.options.start_frame), known or {}
    count = int(clock.whole[-1]) + 1
    dense = job.dense
    plain = timing is not None
    legs = any(contact.limb for contact in job.tracks.contacts)
    channels = []
    if dense and timing is None:
        whole = start + np.arange(float(job.frames))
        # Of what holds still; the same array for all of it. An edited footprint may make any
        # bone of a body on legs move: keys far from it are to stay as they were.
        ends = whole[[0, -1]]
        spans, limbs = spans_of(job, metres_per_unit, instants=True)
        held = _held_in(job, bones, clock, metres_per_unit, spans)
        spacing = job.spacing
        for bone in bones:
            theirs: list[contacts.Held | contacts.Along] = [*held.get(bone.role, ())]
            names = {kind_of(name) for name, _ in bone.properties()}
            theirs += [contacts.Along(s, names) for s in limbs.get(bone.role, ())]
            for name, values in bone.properties():
                frames, keyed = whole, values[clock.whole]
                if not legs and _holds_still(values[:count]):
                    frames, keyed = ends, keyed[[0, -1]]
                elif theirs:
                    frames, keyed = contacts.dense_keys(
                        values[:count], kind_of(name), clock, theirs, spacing,
                        known.get(bone.bone, {}),
                    )
                    frames = start + frames
                path = bone.path(name)
                channels += [
                    keyframes.Channel(path, index, bone.group, frames, keyed[:, index])
                    for index in range(values.shape[1])
                ]
        return channels
    timing = timing or _timing(job, bones, clock, metres_per_unit, known=known)
    # Bodies on legs may be small, and their chains are long: their keys stand closer.
    legs = legs and not plain
    turn = dict.fromkeys(rotation_modes.REST, ROTATION_ERROR)
    if legs:
        turn["rotation_quaternion"] *= 0.5
    for bone in bones:
        samples = np.concatenate([values for _, values in bone.properties()], axis=1)[:count]
        if bone.role in timing.instants:
            at = timing.instants[bone.role]
            rows = np.searchsorted(clock.frames, at)
            samples = np.insert(samples, rows, _known_at(bone, known[bone.bone], at), axis=0)
        size = bone.unit * job.unit_scale or metres_per_unit
        level = levels[bone.bone] if levels else np.zeros(1, int)
        own = timing.spans.get(bone.role, ())
        keys: between.Keys | sparse.SparseKeys
        if dense:
            keys = between.dense_keys(timing.grid(bone.role), samples, own, level)
        else:
            closer = FEET if bone.role in timing.instants else 1.0
            if timing.instants and bone.role == ROOT:
                closer = FEET  # their limbs hang on it
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
                [(span.begin, span.end) for span in own],
                closer * limits * between.CUT ** level[:, None], timing.pinned.get(bone.role, ()),
                np.flatnonzero(level >= between.HALVED),
                plain or bone.role in timing.instants, visible if legs else None,
            )
        column = 0
        frames = start + keys.frames
        for name, values in bone.properties():
            for index in range(values.shape[1]):
                slopes = {} if isinstance(keys, between.Keys) else {
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


def closer_channels(
    job: Job,
    bones: Sequence[BoneTrack],
    clock: Clock,
    rig: between.Rig,
    moved: evaluation.Moved,
) -> tuple[list[keyframes.Channel], tuple[Problem, ...]]:
    """Channels of a plain skeleton, and how far its bones are off between the keys.

    Keys stand closer where a limb in contact, or any bone, would else be off.

    Args:
        job: the bake.
        bones: channels of its bones, at all samples.
        clock: when the samples are.
        rig: what turns them into places.
        moved: bones that keys of the animator's own move.
    """
    size, where = rig.metres_per_unit, job.options.between
    names = {bone.role: bone.bone for bone in bones}
    limbs = between.contacts_of(
        job.armature, set(names.values()),
        {names[role]: theirs for role, theirs in spans_of(job, size)[0].items() if role in names},
    )
    timing = _timing(job, bones, clock, size, limbs)
    kinks = clock.frame_of(clock.corners).tolist()
    kinks += [time for limb in limbs for time in limb.ends()]
    looked = between.look(timing.common, np.array(kinks))
    read: dict[int, sparse.Stencil] = {}

    def exact(bone: BoneTrack) -> BoneTrack:
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
    rig = replace(rig, over=over, contacts=tuple(limbs), moved=moved.at(looked.at))
    wanted = [exact(bone) for bone in bones]
    truth = rig.places(wanted)
    levels = {bone.bone: np.zeros(job.frames - 1, int) for bone in bones}
    keying = timing
    if where == between.NOWHERE:
        times = timing.common.times
        common = sparse.key_grid(len(times), clock.per_frame, (), times=times)
        keying = _Timing({}, {}, common, {}, {}, {})
    at = job.options.start_frame + looked.at
    made: dict[str, list[keyframes.Channel]] = {}
    keyed: dict[str, BoneTrack] = {}
    asked = set(levels)
    while asked:
        for bone in bones:
            if bone.bone in asked:
                own = channels_of(job, [bone], clock, size, keying, levels)
                made[bone.bone], keyed[bone.bone] = own, between.keyed_track(bone, own, at)
        now = [keyed[bone.bone] for bone in bones]
        compared = between.compare(rig, truth, now, looked)
        asked = set()
        if where != between.NOWHERE:
            asked = between.closer(rig, where, compared, wanted, now, levels)
    found = between.problem(rig, compared, where, job.options.start_frame, clock.rate)
    channels = [channel for bone in bones for channel in made[bone.bone]]
    return channels, () if found is None else (found,)


def _timing(
    job: Job,
    bones: Sequence[BoneTrack],
    clock: Clock,
    metres_per_unit: float,
    limbs: Sequence[between.Contact] | None = None,
    known: Mapping[str, contacts.Known] | None = None,
) -> _Timing:
    """When bones may have keys; `limbs` of a plain skeleton, or None for another rig."""
    known = known or {}
    count = int(clock.whole[-1]) + 1
    held: Mapping[str, Sequence[contacts.Held]] = {}
    moving: dict[str, Sequence[contacts.Span]] = {}
    along: Mapping[str, Sequence[contacts.Span]] = {}
    spans: dict[str, list[contacts.Span]]
    instants: dict[str, np.ndarray] = {}
    steps = _steps(job) if limbs is None else {}
    if limbs is None:
        spans, along = spans_of(job, metres_per_unit)
        held = _held_in(job, bones, clock, metres_per_unit, spans)
        for role, all_held in held.items():
            if any(one.still is None for one in all_held):
                moving[role] = [one.span for one in all_held]
        for bone in bones:
            # Nearer to other samples, it would tell nothing of slopes.
            found = _spaced(known.get(bone.bone, {}), clock.frames[:count], BESIDE)
            if bone.role in steps and len(found):
                instants[bone.role] = found
                moving[bone.role] = spans[bone.role] = steps[bone.role]
    else:
        spans = {}
        for bone in bones:
            own = [span for limb in limbs if bone.bone in limb.limb for span in limb.spans]
            if own:
                spans[bone.role] = own
        moving = dict(spans)
    latest = max(abs(job.options.start_frame), abs(job.end_frame))
    kinks = clock.frame_of(clock.corners).tolist()
    kinks += [
        time for role, theirs in spans.items() if role not in steps
        for span in theirs for time in (span.begin, span.end)
    ]
    bends = np.array(kinks)
    near = sparse.EXTRAPOLATION / clock.per_frame
    times = clock.frames[:count]

    def grid_of(role: str, theirs: Sequence[contacts.Span], smoothly: bool) -> sparse.KeyGrid:
        """For a bone of its own contacts, or that goes along with those of its limb."""
        ends = np.unique([t for span in theirs for t in (span.begin, span.end)])
        if role in instants:
            # So near to a sample a corner is the sample, which tells of both sides then.
            at = times[nearest(times, ends)]
            ends = np.unique(np.where(np.abs(at - ends) < BESIDE, at, ends))
        # Corners of others, with hardly a sample between, shall not hide a bone's own.
        far = bends[gap(bends, ends) > near].tolist()
        at = times
        if role in instants:
            at = np.insert(times, np.searchsorted(times, instants[role]), instants[role])
        if smoothly:
            return sparse.key_grid(len(at), clock.per_frame, far, latest, ends, at)
        return sparse.key_grid(len(at), clock.per_frame, [*ends, *far], latest, (), at)

    roles = {bone.role for bone in bones}
    grids = {
        role: grid_of(role, theirs, True)
        for role, theirs in along.items()
        if role in roles and role not in held
    }
    pinned: dict[str, list[sparse.Pinned]] = {}
    for role, theirs in moving.items():
        grids[role] = grid_of(role, theirs, False)
        waiting = [one for one in held.get(role, ()) if one.still is None]
        if waiting and role not in instants:
            pinned[role] = contacts.pinned(waiting)
    for bone in bones if known else ():
        if bone.role in instants:
            # What is too near to a sample to tell of slopes still tells where the bone is.
            exactly = known[bone.bone]
            near_by = sorted(exactly.keys() - set(instants[bone.role].tolist()))
            values = _known_at(bone, exactly, near_by)
            unknown = np.full(values.shape[1:], np.nan)
            pinned[bone.role] = [
                sparse.Pinned(time, value, unknown, unknown)
                for time, value in zip(near_by, values, strict=True)
            ]
    common = sparse.key_grid(count, clock.per_frame, kinks, latest, (), times)
    return _Timing(spans, held, common, grids, pinned, instants)


def _known_at(
    bone: BoneTrack, known: contacts.Known, times: Sequence[float] | np.ndarray
) -> np.ndarray:
    """(k, c) all channels of a bone at times (k,) at which they are known."""
    names = [kind_of(name) for name, _ in bone.properties()]
    values = [np.concatenate([known[time][name] for name in names]) for time in times]
    width = sum(own.shape[1] for _, own in bone.properties())
    return np.array(values).reshape(-1, width)


def _steps(job: Job) -> dict[str, list[contacts.Span]]:
    """Role of a limb -> how its foot rolls down, stands, and rolls off, one after the other."""
    found: dict[str, list[contacts.Span]] = {}
    for contact in job.tracks.contacts:
        if contact.instants is None:
            continue
        ends = job.tracks.clock.frame_of(np.array([contact.start, contact.end])).tolist()
        bounds = np.unique([*ends, *instants_of(job, contact, most=0)])
        for role in contact.limb:
            found.setdefault(role, []).extend(
                contacts.Span(low, high, np.zeros(3))
                for low, high in zip(bounds[:-1], bounds[1:], strict=True)
            )
    return found


def _held_in(
    job: Job,
    bones: Sequence[BoneTrack],
    clock: Clock,
    metres_per_unit: float,
    spans: Mapping[str, Sequence[contacts.Span]],
) -> dict[str, list[contacts.Held]]:
    """What holds in the contacts of each role that has some."""
    count = int(clock.whole[-1]) + 1
    held: dict[str, list[contacts.Held]] = {}
    for bone in bones:
        if bone.role in spans and bone.location is not None:
            turned = bone.rotation[:count] if bone.rotation is not None else None
            mode = job.armature.pose.bones[bone.bone].rotation_mode
            held[bone.role] = list(contacts.held(
                bone.location[:count], turned, mode, clock.frames[:count], spans[bone.role],
                CONTACT_MOVES / metres_per_unit,
            ))
    return held


def _holds_still(values: np.ndarray) -> bool:
    """Whether samples (m, c) of a property are all the same."""
    return len(values) > 1 and bool(np.ptp(values, axis=0).max() <= STILL)


def kind_of(name: str) -> str:
    """What a property holds: location or rotation.

    Args:
        name: name of the property.
    """
    return "location" if name == "location" else "rotation"
