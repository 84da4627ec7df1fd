# SPDX-License-Identifier: GPL-3.0-or-later
"""Solved motion onto the rig, and off again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import bpy

from ...solvers.motion import Problem
from .. import motions, pipeline
from ..bake import beside, checks, moments, verify
from ..bake.data import Baked, BakeResult
from ..bake.keyed import Keyed
from ..bake.write import bake_tracks, clear_bake, require_unedited
from ..baked import REMEMBERED, baked_of, beneath, holder_of, is_baked
from ..errors import UserError
from ..mapping.tracks import JointTracks
from ..rigs.controls import control_rig
from ..shots import balls
from ..steps import finish
from .character import keyed_of, options_of
from .current import is_current, is_edited
from .onto import OntoRig, onto_rig
from .problems import resized
from .strips import move_back, move_to_strip
from .together import Together, Unverified, done


def check(context: bpy.types.Context, motion: bpy.types.Object, solved: pipeline.Solved) -> None:
    """Refuse what a bake could not do, before anything is written.

    Args:
        context: Blender's context.
        motion: the Motion object.
        solved: its solved job.

    Raises:
        UserError: one sentence with cause and remedy.
    """
    keyed = keyed_of(motion, solved)
    if isinstance(keyed.tracks, JointTracks):
        return  # what decides them is found first
    checks.check_place(keyed.armature)
    checks.check_before_bake(context, keyed, baked_of(motion))


def check_edits(motion: bpy.types.Object, bones: bool, on_edited: str = "") -> None:
    """Refuse to bake over keys that were edited by hand, where the animator is to be asked.

    Args:
        motion: the Motion object.
        bones: whether the bones of a rig that follows Poise's controls are keyed.
        on_edited: what to do with keys edited by hand; "" for the motion's
            own choice.

    Raises:
        UserError: some were edited.
    """
    previous, settings = baked_of(motion, bones), motion.poise_motion
    if previous is not None:
        rig = control_rig.rig_of(settings.character) if bones else settings.character
        require_unedited(rig, previous, on_edited or settings.edited_keys)


def bake(
    context: bpy.types.Context,
    motion: bpy.types.Object,
    solved: pipeline.Solved,
    on_edited: str = "",
    together: Together | None = None,
) -> tuple[int, int, int]:
    """Key the rig from a solved motion and remember what was written.

    Args:
        context: Blender's context.
        motion: the Motion object.
        solved: its solved job.
        on_edited: what to do with keys edited by hand; "" for the motion's
            own choice.
        together: what it shares with bakes of other rigs, which compares it with its motion
            later; None to do that now.

    Returns:
        Numbers of keys, frames and bones.

    Raises:
        UserError: nothing was written; one sentence says why.
    """
    character = motion.poise_motion.character
    keyed = keyed_of(motion, solved, on_edited)
    if together is not None:
        together.verify(context, (character, control_rig.rig_of(character)))
    size, job, tracks = list[Problem](), solved.job, keyed.tracks
    joints = isinstance(tracks, JointTracks)
    if not isinstance(tracks, JointTracks):
        clear_rig(context, motion)
        size = resized(character)
        dense = keyed.options.key_mode == "DENSE"
        seen = None if together is None else together.seen(character)
        tracks = moments.with_moments(tracks, dense)
        keyed = replace(keyed, tracks=tracks, seen=seen)
    result = _bake(context, motion, keyed, together is not None)
    if joints:  # the motion below has gone to a strip, unless it is there already
        job = job.baked(keyed.armature, beneath(motion))
        balls.show(context.scene, motion, solved)
    motion.poise_motion.inputs = pipeline.stored_inputs(job)
    return done(Unverified(motion, solved, result, size), together)


def bake_to_bones(
    context: bpy.types.Context,
    motion: bpy.types.Object,
    solved: pipeline.Solved,
    on_edited: str = "",
    target: str = "AUTO",
    onto: OntoRig | None = None,
    verify: bool = True,
    together: Together | None = None,
) -> tuple[int, int, int]:
    """Key a rig that follows Poise's controls, by its own controls or its bones.

    It follows Poise's controls no longer.

    The controls are baked first, where their bake is not up to date: equipment
    hangs on them. Keys of theirs that were edited by hand since are kept, and
    the bones are keyed as the edited controls move them.

    Args:
        context: Blender's context.
        motion: the Motion object.
        solved: its solved job.
        on_edited: what to do with keys edited by hand; "" for the motion's
            own choice.
        target: "CONTROLS", "BONES", or "AUTO" for what the rig has.
        onto: what `prepare_bones` found for the same; None to do it now.
        verify: compare the evaluated pose with the motion at up to 16 frames.
        together: as for `bake`.

    Returns:
        Numbers of keys, frames and bones.

    Raises:
        UserError: nothing was changed; one sentence says why.
    """
    controls = motion.poise_motion.character
    rig = control_rig.require_rig(controls)
    if together is not None:
        together.verify(context, (controls, rig))
    own = baked_of(motion)
    current = own is not None and is_current(motion, solved, own)
    if not current:
        bake(context, motion, solved, on_edited)
        own = baked_of(motion)
    assert own is not None  # it is baked by now
    if onto is not None and current:
        edited = onto.edited
    else:
        # Keys that were written just now are as they were written.
        edited = is_edited(own) if current else own.edits_action is not None
    # Before there are keys that Blender would have to copy to evaluate the rig.
    size = resized(controls)
    followed = control_rig.is_connected(controls, rig)
    control_rig.disconnect(controls, rig)
    try:
        if onto is None or onto.edited != edited:
            onto = finish(onto_rig(context, motion, solved, target, edited))
        options = replace(
            options_of(motion, solved.job.start_frame, on_edited),
            action_name=f"{motion.name} on {rig.name}", verify=verify,
        )
        result = _bake(
            context, motion, replace(onto.keyed, options=options), together is not None
        )
    except BaseException:
        if followed:
            control_rig.connect(controls, rig)
        raise
    return done(Unverified(motion, solved, result, size), together)


def _bake(
    context: bpy.types.Context, motion: bpy.types.Object, keyed: Keyed, later: bool
) -> BakeResult:
    """Bake for a motion and remember what was written."""
    armature, bones = keyed.armature, keyed.armature != motion.poise_motion.character
    previous = baked_of(motion, bones)
    moved = move_to_strip(motion, armature, bones) if keyed.options.push_to_nla else None
    try:
        result = bake_tracks(context, keyed, previous=previous, owner=motion, later=later)
    except BaseException:
        if moved is not None:
            move_back(armature, moved)
        raise
    motions.part(motion)
    known = replace(result.baked.record, beside=beside.digest_of(armature, result.baked))
    _store(holder_of(motion, bones), replace(result.baked, record=known))
    return result


def clear_rig(context: bpy.types.Context, motion: bpy.types.Object) -> None:
    """Take a motion's bake off its rig, which follows Poise's controls again.

    Args:
        context: Blender's context.
        motion: the Motion object.
    """
    baked = baked_of(motion, True)
    if baked is None:
        return
    controls = motion.poise_motion.character
    # The controls may be gone: their rig is left as it was all the same.
    rig = control_rig.rig_of(controls) or motion.poise_motion.rig
    clear_bake(context, rig, baked, owner=motion)
    _unset(motion.poise_motion.bones, REMEMBERED)
    if controls is None:
        return
    others = (m for m in motions.motions_of(controls) if m != motion)
    if rig is not None and all(baked_of(other, True) is None for other in others):
        control_rig.connect(controls, rig)


def leave_bones(motion: bpy.types.Object) -> None:
    """Let a bake on a rig's bones stay as the animator's own action.

    Args:
        motion: the Motion object, which forgets it.
    """
    bones = motion.poise_motion.bones
    if bones.bake_action is not None:
        bones.bake_action.use_fake_user = True
    _unset(bones, REMEMBERED)


def _store(holder, baked: Baked) -> None:
    holder.record = baked.record.to_json()
    holder.bake_action = baked.action
    holder.former_action = baked.former_action
    holder.edits_action = baked.edits_action


def _unset(group, names: Iterable[str]) -> None:
    for name in names:
        group.property_unset(name)


def _forget(settings) -> None:
    """Leave a motion as if it had never been baked."""
    _unset(settings, (*REMEMBERED, "inputs", "problems", "problem_index"))


def clear(context: bpy.types.Context, motion: bpy.types.Object) -> None:
    """Remove a motion's bake and its helper objects, and nothing else.

    Args:
        context: Blender's context.
        motion: the Motion object.

    Raises:
        UserError: there is no bake, or its record cannot be read.
    """
    from ..shots.trail import remove_helpers

    settings = motion.poise_motion
    if not is_baked(motion):
        raise UserError(f"{motion.name} has no bake to clear")
    clear_rig(context, motion)
    baked = baked_of(motion)
    if baked is not None:
        # The character may be gone: its action is taken away all the same.
        clear_bake(context, settings.character, baked, owner=motion)
    _forget(settings)
    remove_helpers(motion)


def check_bake(context: bpy.types.Context, motion: bpy.types.Object, solved: pipeline.Solved):
    """Compare the evaluated pose of every frame with the tracks.

    Args:
        context: Blender's context.
        motion: the Motion object.
        solved: its solved job.

    Returns:
        The problems found.
    """
    keyed, job = keyed_of(motion, solved), solved.job
    bindings = keyed.bindings
    if isinstance(keyed.tracks, JointTracks):
        bindings = {bone: bone for bone in keyed.tracks.bones()}
    return verify.check_bake(
        context, keyed.armature, bindings, keyed.tracks, job.start_frame,
        job.numbers.unit_scale, axes=keyed.axes,
    )
