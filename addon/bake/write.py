# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking role tracks onto a rig, and taking a bake away again.

Everything that can refuse does so before anything is written. What stood on
the rig before (action, slot, blending, values of the keyed bones) goes into
the record, so that clearing brings it back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace

import bpy
import numpy as np

from ...solvers.motion import Problem
from .. import compat, keyframes
from ..context import keep_frame
from ..errors import UserError
from ..mapping.tracks import JointTracks
from ..rigs.pose import deciding, properties
from ..rigs.pose.animated import animated_paths
from ..rigs.pose.channels import bone_of
from ..rigs.pose.frames import rest_axes
from ..scene.timing import scene_numbers
from . import attach, checks, edits, memory, verify
from .data import Baked, BakeOptions, BakeRecord, BakeResult, Check, Former
from .job import Job
from .keyed import Keyed
from .late import at_frames, late_channels
from .plan import Plan, plan_of
from .without import without

SAME = 1e-6  # how far a value may be off for it not to be keyed


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
    keyed: Keyed,
    *,
    previous: Baked | None = None,
    owner: bpy.types.Object | None = None,
    later: bool = False,
) -> BakeResult:
    """Key a rig's bones so that its roles follow their tracks in world space, or joints turn.

    Current frame, mode, selection, rotation modes, frame range and rate stay
    as they are; the object itself is keyed only if it is to carry the motion.

    Args:
        context: Blender's context; its scene and view layer count.
        keyed: what is to be keyed, and how.
        previous: the owner's last bake, which is replaced.
        owner: Motion object that keeps pointers to the actions; it does not
            count as another user of them.
        later: put the comparison with the evaluated pose off, for those of several rigs to be
            done together: the result says what is to be compared.

    Returns:
        What was written, for the owner to store, and the problems found.

    Raises:
        UserError: nothing was written; one sentence says why.
    """
    if isinstance(keyed.tracks, JointTracks):
        keyed = _decided(context, keyed, keyed.tracks, previous)
    armature, options = keyed.armature, keyed.options
    checks.check_before_bake(context, keyed, previous)
    if previous is not None and not isinstance(keyed.tracks, JointTracks):
        # It may have to go first. Otherwise the plan looks, and nothing is lost by it.
        checks.check_place(armature, None if keyed.seen is None else keyed.seen.matrices)
    edited = [] if previous is None else require_unedited(armature, previous, options.on_edited)
    differences: list[keyframes.Channel] = []
    if previous is not None and edited and options.on_edited == "KEEP_EDITS":
        differences = edits.edit_differences(previous, edited)
    job = _job(context, keyed, previous)
    problems: list[Problem] = []
    with keep_frame(context.scene):
        plan = None
        if previous is not None and _reusable(armature, previous, options):
            _drop_channels(job, previous)
        if previous is not None and attach.is_attached(armature, previous):
            # Whatever this refuses, the last bake is still there.
            with _holding(job):
                plan = plan_of(job)
        if previous is not None and edited and options.on_edited == "NEW_ACTION":
            assert previous.action is not None  # its curves are edited
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
                    plan = plan_of(job)
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
    reach, check = _verify(job, plan, baked)
    problems += [*reach, *plan.off]
    if check is not None and not later:
        (off,) = verify.check_bakes(context, [check])
        problems, check = problems + off, None
    bones = {bone_of(path) for path in record.curves} - {""}
    return BakeResult(baked, keys, job.frames, len(bones), tuple(problems), check)


def _decided(
    context: bpy.types.Context, keyed: Keyed, asked: JointTracks, previous: Baked | None
) -> Keyed:
    """Joints with what decides them in their place."""
    checks.check_object(context, keyed.armature)
    attached = previous is not None and attach.is_attached(keyed.armature, previous)
    before = set(previous.record.curves) if previous is not None and attached else set()
    found = deciding.deciding(
        context, keyed.armature, asked, keyed.options.start_frame, before,
        without(keyed.armature, [] if previous is None else [previous]),
    )
    return replace(
        keyed,
        bindings={bone: bone for bone in found.tracks.bones()},
        tracks=found.tracks,
        held={**found.held, **keyed.held},
        checked=lambda: ({bone: bone for bone in asked.bones()}, asked),
    )


def _job(context: bpy.types.Context, keyed: Keyed, previous: Baked | None) -> Job:
    """What is to be keyed, with what was left to be found."""
    values = {f.name: getattr(keyed, f.name) for f in fields(Keyed)}
    if keyed.axes is None:
        values["axes"] = rest_axes(keyed.armature, keyed.bindings)
    values["bindings"] = checks.keyed_bindings(keyed.bindings, keyed.tracks)
    values["held"] = _held(keyed.armature, keyed.held, previous)
    return Job(**values, context=context, unit_scale=scene_numbers(context.scene).unit_scale)


def require_unedited(
    armature: bpy.types.Object | None, previous: Baked, on_edited: str
) -> list[tuple[str, int]]:
    """Data paths and indices of a bake whose keys were edited by hand and may be baked over.

    Args:
        armature: the rig.
        previous: the bake.
        on_edited: what to do with such keys.

    Raises:
        UserError: they may not.
    """
    edited = edits.edited_channels(previous)
    if edited and on_edited == "ASK":
        raise UserError(_edited_sentence(armature, edited))
    if edited and on_edited == "KEEP_EDITS" and previous.record.target == "CURRENT":
        assert previous.action is not None  # its curves are edited
        raise UserError(
            f"Edits in the current action {previous.action.name} cannot be kept as a layer: set "
            "Edited Keys to Overwrite or New Action"
        )
    return edited


def _edited_sentence(armature: bpy.types.Object, edited: Sequence[tuple[str, int]]) -> str:
    bones = sorted({bone_of(path) or "the object" for path, _ in edited})
    listed = ", ".join(bones[:3]) + (f" and {len(bones) - 3} more" if len(bones) > 3 else "")
    return (
        f"Keys of {listed} on {armature.name} were edited since the last bake: set Edited Keys to "
        "Overwrite, Keep Edits or New Action"
    )


def _held(
    armature: bpy.types.Object, values: Mapping[str, tuple], previous: Baked | None
) -> dict[str, tuple]:
    """Those of the values to hold that have to be keyed."""
    moving = animated_paths(armature)
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
        for a, b in zip(properties.read_value(armature, path), wanted, strict=True)
    )


@contextmanager
def _holding(job: Job, evaluated: bool = True) -> Iterator[None]:
    """Inside, properties have the values that the bake holds them at.

    Args:
        job: the bake.
        evaluated: whether what hangs on them is asked for, too.
    """
    if not job.held:
        yield
        return
    former = properties.read_pose(job.armature, job.held)
    properties.restore_pose(job.armature, job.held)
    if evaluated and job.seen is None:
        job.context.view_layer.update()
    try:
        yield
    finally:
        properties.restore_pose(job.armature, former)


def _reusable(
    armature: bpy.types.Object,
    previous: Baked,
    options: BakeOptions,
) -> bool:
    """Whether a new bake can go where the last one is."""
    action, record = previous.action, previous.record
    slot = compat.slot_by_handle(action, record.slot)
    if action is None or slot is None or action.library is not None:
        return False
    if record.target == "NEW":
        if checks.other_users(armature, action, slot):
            return False  # a copy of the rig plays it: it shall not change
        return options.target == "NEW" or attach.is_attached(armature, previous)
    return options.target == "CURRENT" and attach.is_attached(armature, previous)


def _drop_channels(job: Job, previous: Baked) -> None:
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
    properties.restore_pose(
        job.armature, {path: v for path, v in record.pose.items() if path in dropped}
    )
    job.context.view_layer.update()


def _paths(job: Job) -> dict[str, str]:
    """Data path -> bone of everything that moves, "" for the object."""
    return checks.channel_paths(
        job.armature, job.bindings, job.tracks, job.carrier is not None
    )


def _place(job: Job, previous: Baked | None) -> _Place:
    """Action and slot to write into, assigned to the rig."""
    armature, options = job.armature, job.options
    paths = _paths(job)
    paths |= dict.fromkeys(job.held, "")
    pose = properties.read_pose(armature, paths)
    # What another motion's bake keys now stood elsewhere before it did.
    pose |= {path: v for path, v in memory.pose_before(armature).items() if path in pose}
    if previous is not None:
        # Bones that were keyed show the bake now, not what they were before.
        pose |= {path: values for path, values in previous.record.pose.items() if path in pose}
        slot = compat.slot_by_handle(previous.action, previous.record.slot)
        former, former_action = memory.former_of(previous)
        unchanged = attach.is_attached(armature, previous)
        data = armature.animation_data
        current = data.action if data is not None else None
        others = not unchanged and current is not None and not any(memory.stores(current))
        if others:  # the animator has assigned another one since
            attach.play_no_longer(armature, former, former_action)
        if others or not (unchanged or (former.track and current is None)):
            former, former_action = attach.remember(armature), current
        if others or former.track or not previous.record.track:
            former = _below(job, former, former_action, paths)
        if not unchanged:
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
    former = _below(job, former, current, paths)
    try:
        attach.make_active(armature, action, slot)
    except UserError:
        attach.bring_back(armature, former, current)
        bpy.data.actions.remove(action)
        raise
    return _Place("NEW", action, slot, former, current, pose, True, False)


def _below(
    job: Job, former: Former, action: bpy.types.Action | None, paths: Mapping[str, str]
) -> Former:
    """Let the action that a rig had go on where a new one keys nothing, if that is wanted."""
    armature = job.armature
    data = armature.animation_data
    if not job.below or action is None or data is None or job.options.target != "NEW":
        return former
    others = {
        curve.data_path
        for curve in compat.action_fcurves(action, compat.slot_by_handle(action, former.slot))
    } - set(paths)
    if not others or not data.use_nla or any(memory.stores(action)):
        return attach.play_no_longer(armature, former, action)
    return attach.play_on(armature, former, action, job.options.start_frame, job.end_frame)


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
    job: Job, plan: Plan, place: _Place, previous: Baked | None
) -> tuple[BakeRecord, int, Plan]:
    bag = compat.ensure_channelbag(place.action, place.slot)
    groups_before = {group.name for group in bag.groups}
    old = previous.record if previous is not None else None
    own = set(old.channels()) if old is not None else set()
    channels = plan.channels
    points = _write_channels(bag, channels, own, old)
    if plan.late:
        plan, points = late_channels(
            job, at_frames(job, plan), lambda late: _write_channels(bag, late, own, old)
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
            others = kept.get((channel.data_path, channel.index))
            if others is not None:
                keyframes.join_keys(curve, others)
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


def _hang(
    job: Job,
    baked: Baked,
    slot: bpy.types.ActionSlot,
    differences: Sequence[keyframes.Channel],
) -> Baked:
    """Bake as active action, or in the NLA where asked for or where edits lie on it."""
    record, armature = baked.record, job.armature
    action = baked.action
    edits_action = baked.edits_action
    assert action is not None  # it has just been written
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


def _verify(job: Job, plan: Plan, baked: Baked) -> tuple[list[Problem], Check | None]:
    """Where limbs do not reach, and what the evaluated pose is to be compared with, if it is."""
    # What is keyed to rest pulls at no limb. To have Blender evaluate the keys for it would
    # take a fifth of a long bake: it copies them all.
    problems, used = list[Problem](), None
    with _holding(job, evaluated=False):
        if plan.solver is not None:
            found = verify.limbs(job.armature, job.bindings.values())
            problems, used = verify.reach_problems(
                job.armature, plan.solver, found, plan.metres_per_unit, plan.clock.time,
                job.options.start_frame + plan.clock.frames,
            )
    check = None
    if job.options.verify and baked.edits_action is not None:
        job.context.view_layer.update()  # kept edits are meant to differ
    elif job.options.verify:
        if any(".constraints[" in path for path in job.held):
            job.context.view_layer.update()  # `check_bakes` looks for limbs, too
        at_frames = None if used is None else used[plan.clock.whole]
        bindings, tracks = job.checked() if job.checked else (job.bindings, job.tracks)
        told = {problem.bone for problem in plan.off if problem.code == "LOCKED"}
        bindings = {role: bone for role, bone in bindings.items() if bone not in told}
        check = Check(
            job.armature, bindings, tracks, job.options.start_frame, job.unit_scale,
            tuple(verify.frames_to_verify(job.tracks, at_frames)), job.axes,
        )
    return problems, check


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
    elif action is not None and shared:
        note = f"Action {action.name} stays, as {shared[0]} plays it too"
    if armature is not None:
        if keep:
            properties.restore_pose(armature, record.pose)
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
