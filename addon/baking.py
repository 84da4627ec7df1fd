# SPDX-License-Identifier: GPL-3.0-or-later
"""A Motion object and its bake: solved motion onto the rig, and off again."""

from __future__ import annotations

import json
from dataclasses import replace
from math import floor

import bpy

from ..solvers.motion import Problem
from . import motions, pipeline
from .bake import attach, checks, verify
from .bake.data import Baked, BakeOptions, BakeRecord
from .bake.write import bake_tracks, clear_bake
from .errors import UserError
from .rigs import characters

# Part of the body -> base names of its roles.
PART_ROLES = {
    "TRAVEL": {"root"},
    "LEGS": {
        "pelvis", "ski", "board", "foot", "heel", "knee",
        "bike", "fork", "front_wheel", "rear_wheel", "sprocket", "crank", "pedal",
        "front_truck", "rear_truck",
    },
    "TORSO": {"spine", "chest", "shoulder"},
    "ARMS": {"hand", "elbow", "pole", "pole_tip"},
    "HEAD": {"neck", "head"},
}


def bindings_of(motion: bpy.types.Object) -> dict[str, str]:
    """Role -> bone for the parts of the body that a motion keys.

    Args:
        motion: the Motion object.

    Raises:
        UserError: no part of the body is chosen.
    """
    settings = motion.poise_motion
    kind = characters.kind_of(settings.character)
    roles = set().union(*(PART_ROLES[part] for part in settings.body_parts))
    if not roles:
        raise UserError(f"{motion.name} keys no part of the body: choose some in Body Parts")
    return {
        role: bone
        for role, bone in characters.ROLE_BONES[kind].items()
        if role.partition(".")[0] in roles
    }


def options_of(motion: bpy.types.Object, start_frame: int) -> BakeOptions:
    """How a motion is to be baked.

    Args:
        motion: the Motion object.
        start_frame: first frame of the motion.
    """
    settings = motion.poise_motion
    character = settings.character
    # Several motions of one character can only play together from strips.
    several = len(motions.motions_of(character)) > 1
    return BakeOptions(
        start_frame=start_frame,
        key_mode=settings.key_mode,
        step=settings.key_step,
        target=settings.target,
        action_name=motion.name,
        push_to_nla=settings.push_to_nla or (several and settings.target == "NEW"),
        on_edited=settings.edited_keys,
    )


def baked_of(motion: bpy.types.Object) -> Baked | None:
    """A motion's last bake, or None; that of a motion it was copied from is not its own.

    Args:
        motion: the Motion object.

    Raises:
        UserError: the record was made by a later Poise, or is broken.
    """
    settings = motion.poise_motion
    if not settings.record or (settings.bake_action and not motions.own(motion, _place)):
        return None
    try:
        record = BakeRecord.from_json(settings.record)
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(
            f"The bake of {motion.name} cannot be read ({error}): delete the Motion object, and "
            "add the motion anew"
        ) from error
    return Baked(record, settings.bake_action, settings.former_action, settings.edits_action)


def _place(motion: bpy.types.Object) -> tuple | None:
    """Where a motion's bake lies: its action, and its part of it."""
    settings = motion.poise_motion
    if settings.bake_action is None:
        return None
    try:
        return settings.bake_action.session_uid, BakeRecord.from_json(settings.record).store
    except (ValueError, TypeError, KeyError):
        return settings.bake_action.session_uid, ""


def check(context: bpy.types.Context, motion: bpy.types.Object, solved: pipeline.Solved) -> None:
    """Refuse what a bake could not do, before anything is written.

    Args:
        context: Blender's context.
        motion: the Motion object.
        solved: its solved job.

    Raises:
        UserError: one sentence with cause and remedy.
    """
    checks.check_before_bake(
        context,
        motion.poise_motion.character,
        bindings_of(motion),
        solved.tracks,
        options_of(motion, solved.job.start_frame),
        baked_of(motion),
    )


def bake(
    context: bpy.types.Context,
    motion: bpy.types.Object,
    solved: pipeline.Solved,
    on_edited: str = "",
) -> tuple[int, int, int]:
    """Key the rig from a solved motion and remember what was written.

    Args:
        context: Blender's context.
        motion: the Motion object.
        solved: its solved job.
        on_edited: what to do with keys edited by hand; "" for the motion's
            own choice.

    Returns:
        Numbers of keys, frames and bones.

    Raises:
        UserError: nothing was written; one sentence says why.
    """
    settings = motion.poise_motion
    character = settings.character
    options = options_of(motion, solved.job.start_frame)
    if on_edited:
        options = replace(options, on_edited=on_edited)
    previous = baked_of(motion)
    moved = _move_to_strip(motion) if options.push_to_nla else None
    try:
        result = bake_tracks(
            context,
            character,
            bindings_of(motion),
            solved.tracks,
            options,
            previous=previous,
            owner=motion,
            switches=characters.SWITCHES[solved.job.kind],
            axes=characters.rest_axes(character),
        )
    except BaseException:
        if moved is not None:
            _move_back(*moved)
        raise
    motions.part(motion)
    _store(settings, result.baked)
    settings.inputs = json.dumps(pipeline.digests(solved.job))
    list_problems(
        motion,
        solved.problems + result.problems,
        solved.job.start_frame,
        solved.job.numbers.fps,
    )
    return result.keys, result.frames, result.bones


def _move_to_strip(motion: bpy.types.Object) -> tuple | None:
    """Let another motion's bake play from a strip, if it is the character's active action.

    Baking this motion into a strip of its own would take it off the character.

    Returns:
        What `_move_back` takes, or None if there was nothing to move.
    """
    character = motion.poise_motion.character
    data = character.animation_data
    if data is None or data.action is None:
        return None
    for other in motions.motions_of(character):
        settings = other.poise_motion
        if other == motion or settings.bake_action != data.action:
            continue
        baked = baked_of(other)
        if (
            baked is None
            or baked.record.target != "NEW"
            or not attach.is_attached(character, baked)
        ):
            continue
        former, text = attach.remember(character), settings.record
        action, slot = data.action, data.action_slot
        data.action = None
        track = attach.push_down(character, action, slot, baked.record.start, baked.record.end)
        settings.record = replace(baked.record, track=track).to_json()
        return other, former, action, track, text
    return None


def _move_back(other, former, action, track, text) -> None:
    """Undo `_move_to_strip`."""
    settings = other.poise_motion
    attach.remove_track(settings.character, track, action)
    attach.bring_back(settings.character, former, action)
    settings.record = text


def _store(settings, baked: Baked) -> None:
    settings.record = baked.record.to_json()
    settings.bake_action = baked.action
    settings.former_action = baked.former_action
    settings.edits_action = baked.edits_action


def _forget(settings) -> None:
    """Leave a motion as if it had never been baked."""
    for name in (
        "record",
        "inputs",
        "bake_action",
        "former_action",
        "edits_action",
        "problems",
        "problem_index",
    ):
        settings.property_unset(name)


def clear(context: bpy.types.Context, motion: bpy.types.Object) -> None:
    """Remove a motion's bake and its helper objects, and nothing else.

    Args:
        context: Blender's context.
        motion: the Motion object.

    Raises:
        UserError: there is no bake, or its record cannot be read.
    """
    from .scene.trail import remove_helpers

    settings = motion.poise_motion
    baked = baked_of(motion)
    if baked is None:
        raise UserError(f"{motion.name} has no bake to clear")
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
    tracks = solved.tracks
    frames = list(range((len(tracks.time) - 1) // tracks.steps_per_frame + 1))
    return verify.check_bake(
        context,
        motion.poise_motion.character,
        bindings_of(motion),
        tracks,
        solved.job.start_frame,
        solved.job.numbers.unit_scale,
        frames,
        axes=characters.rest_axes(motion.poise_motion.character),
    )


def list_problems(
    motion: bpy.types.Object, problems: tuple[Problem, ...], start_frame: int, fps: float
) -> None:
    """Fill a motion's problem list, errors first.

    Args:
        motion: the Motion object.
        problems: what was found.
        start_frame: frame at time 0.
        fps: real frame rate.
    """
    stored = motion.poise_motion.problems
    stored.clear()
    order = {"ERROR": 0, "WARNING": 1}
    for problem in sorted(problems, key=lambda p: (order.get(p.severity, 2), p.time or 0.0)):
        item = stored.add()
        item.name = item.code = problem.code
        item.message = problem.message
        item.severity = problem.severity
        item.remedy = problem.remedy
        item.bone = problem.bone
        item.has_frame = problem.time is not None
        if problem.time is not None:
            # To a hundredth: where a click goes, not a solver's number.
            item.frame = floor(100 * (start_frame + problem.time * fps) + 0.5) / 100
        item.fix = json.dumps(problem.fix) if problem.fix else ""
