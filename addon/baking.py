# SPDX-License-Identifier: GPL-3.0-or-later
"""A Motion object and its bakes: solved motion onto the rig, and off again.

A motion may have two: one on its character, and where the character is a set
of controls on a rig of someone else's, one on the bones of that rig, which
follows the controls no longer as long as it has it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor

import bpy
import numpy as np

from ..solvers.motion import Problem
from . import motions, pipeline
from .bake import attach, beside, checks, edits, moments, stepping, verify
from .bake.data import Baked, BakeOptions, BakeResult
from .bake.job import Seen
from .bake.plan import look
from .bake.write import bake_tracks, clear_bake, stands_at
from .baked import REMEMBERED, baked_of, beneath, holder_of, is_baked
from .errors import UserError
from .mapping.legs import LeggedFigure
from .mapping.tracks import JointTracks, RoleTracks
from .rigs import characters
from .rigs.controls import control_rig, own_controls, retarget
from .rigs.pose import rotation_modes
from .rigs.pose.animated import animated_paths
from .rigs.pose.channels import bone_of
from .steps import Steps, finish

# Part of the body -> base names of its roles.
PART_ROLES = {
    "TRAVEL": {"root"},
    "LEGS": {
        "pelvis", "ski", "board", "foot", "heel", "knee",
        "bike", "fork", "front_wheel", "rear_wheel", "sprocket", "crank", "pedal",
        "front_truck", "rear_truck",
    },
    "TORSO": {"spine", "chest", "shoulder", "clavicle", "tail"},
    "ARMS": {"hand", "elbow", "pole", "pole_tip"},
    "HEAD": {"neck", "head", "gaze"},
}


def bindings_of(motion: bpy.types.Object) -> dict[str, str]:
    """Role -> bone for the parts of the body that a motion keys.

    Args:
        motion: the Motion object.

    Raises:
        UserError: no part of the body is chosen.
    """
    settings = motion.poise_motion
    roles = set().union(*(PART_ROLES[part] for part in settings.body_parts))
    if not roles:
        raise UserError(f"{motion.name} keys no part of the body: choose some in Body Parts")
    known = set().union(*PART_ROLES.values())
    return {
        role: bone
        for role, bone in characters.role_bones_of(settings.character).items()
        if (base := role.partition(".")[0]) in roles
        # Names of legs are as many as there are bodies.
        or ("LEGS" in settings.body_parts and base not in known)
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
        between=settings.keys_between,
    )


# What places are off by at most where Blender tells them apart by 1: each of a chain of bones.
COARSE = 4.0

@dataclass(frozen=True)
class Unverified:
    """A bake that is still to be compared with its motion.

    Attributes:
        motion: the Motion object.
        solved: its solved job.
        result: what was written.
        resized: what is wrong with the size of the rig's limbs.
    """

    motion: bpy.types.Object
    solved: pipeline.Solved
    result: BakeResult
    resized: Sequence[Problem]


class Together:
    """What bakes of several rigs share.

    Blender evaluates the whole scene whenever a rig is looked at that changed, or at another
    frame. One rig after the other would take a herd through that as often as there are animals:
    all are looked at before the first is keyed, and compared with their motions after the last.
    """

    def __init__(self) -> None:
        self._seen: dict[int, Seen] = {}
        self._waiting: list[Unverified] = []

    def look(
        self, context: bpy.types.Context, motion: bpy.types.Object, solved: pipeline.Solved
    ) -> None:
        """Look at a rig that only a bake moves that is replaced, before any is keyed.

        Args:
            context: Blender's context.
            motion: the Motion object.
            solved: its solved job.
        """
        rig = motion.poise_motion.character
        if isinstance(solved.tracks, JointTracks):
            return
        held = characters.switches_of(rig)
        if rig.session_uid in self._seen or not stands_at(rig, held):
            return
        if _is_unkeyed(rig) or _plays_bones_of(rig, baked_of(motion)):
            paths = checks.channel_paths(rig, bindings_of(motion), solved.tracks)
            self._seen[rig.session_uid] = look(context, rig, paths, held)

    def seen(self, rig: bpy.types.Object) -> Seen | None:
        """What was seen of a rig, once: after that it is keyed.

        Args:
            rig: the rig.
        """
        return self._seen.pop(rig.session_uid, None)

    def add(self, item: Unverified) -> None:
        """Put the comparison of a rig with its motion off.

        Args:
            item: the bake.
        """
        self._waiting.append(item)

    def verify(
        self, context: bpy.types.Context, before: Collection[bpy.types.Object] | None = None
    ) -> None:
        """Compare rigs with the motions that they were baked with, and list the problems.

        Args:
            context: Blender's context.
            before: rigs that are about to be keyed again; nothing is done if none of them is
                waiting. None for all.
        """
        pairs = [(item, item.result.check) for item in self._waiting]
        several = [check for _, check in pairs if check is not None]
        if before is not None and not any(check.armature in before for check in several):
            return
        waiting, self._waiting = self._waiting, []
        found = verify.check_bakes(context, several)
        for item, off in zip(waiting, found, strict=True):
            problems = item.result.problems + tuple(off)
            _tell(item.motion, item.solved, replace(item.result, problems=problems), item.resized)


def _is_unkeyed(rig: bpy.types.Object) -> bool:
    """Whether a rig plays no keys."""
    data = rig.animation_data
    return data is None or (data.action is None and not data.nla_tracks)


def _plays_bones_of(rig: bpy.types.Object, baked: Baked | None) -> bool:
    """Whether a rig plays nothing but a bake, which keys places and turns of bones and no more."""
    data = rig.animation_data
    if baked is None or data.action != baked.action or data.nla_tracks:
        return False
    keyed = {"location", *rotation_modes.PROPERTY.values()}
    return all(
        bone_of(path) and path.rpartition(".")[2] in keyed for path in baked.record.curves
    )


def check(context: bpy.types.Context, motion: bpy.types.Object, solved: pipeline.Solved) -> None:
    """Refuse what a bake could not do, before anything is written.

    Args:
        context: Blender's context.
        motion: the Motion object.
        solved: its solved job.

    Raises:
        UserError: one sentence with cause and remedy.
    """
    if isinstance(solved.tracks, JointTracks):
        _joints_of(motion)
        return
    checks.check_place(motion.poise_motion.character)
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
    settings = motion.poise_motion
    character = settings.character
    options = options_of(motion, solved.job.start_frame)
    if on_edited:
        options = replace(options, on_edited=on_edited)
    if together is not None:
        together.verify(context, (character, control_rig.rig_of(character)))
    if isinstance(solved.tracks, JointTracks):
        return _bake_joints(context, motion, solved, options, together)
    clear_rig(context, motion)
    resized = _resized(character)
    result = _bake(
        context, motion, character, bindings_of(motion),
        moments.with_moments(solved.tracks, options.key_mode == "DENSE"), options, False,
        held=characters.switches_of(character),
        axes=characters.rest_axes(character),
        seen=None if together is None else together.seen(character),
        later=together is not None,
    )
    settings.inputs = json.dumps(pipeline.digests(solved.job))
    return _done(Unverified(motion, solved, result, resized), together)


def _joints_of(motion: bpy.types.Object) -> tuple[bpy.types.Object, bool]:
    """The armature whose joints a motion keys, and whether Poise's controls drive it.

    Raises:
        UserError: it follows the controls, whatever keys its bones have.
    """
    character = motion.poise_motion.character
    rig = control_rig.rig_of(character)
    if rig is None:
        return character, False
    if control_rig.is_connected(character, rig):
        raise UserError(
            f"{rig.name} follows Poise's controls: {control_rig.baking_label(character)} the "
            "motion below first, so that its bones have keys to lie on"
        )
    return rig, True


def _bake_joints(
    context: bpy.types.Context, motion: bpy.types.Object, solved: pipeline.Solved,
    options: BakeOptions, together: Together | None,
) -> tuple[int, int, int]:
    """Key joints on top of what plays on their armature, which goes on below."""
    armature, bones = _joints_of(motion)
    result = _bake(
        context, motion, armature, {}, solved.tracks, options, bones, below=True,
        later=together is not None,
    )
    # The motion below has gone to a strip, unless it is there already.
    job = solved.job.baked(armature, beneath(motion))
    motion.poise_motion.inputs = json.dumps(pipeline.digests(job))
    return _done(Unverified(motion, solved, result, []), together)


def _done(item: Unverified, together: Together | None) -> tuple[int, int, int]:
    """List what a bake found, or put that off; numbers of keys, frames and bones."""
    result = item.result
    if together is not None and result.check is not None:
        together.add(item)
    else:
        _tell(item.motion, item.solved, result, item.resized)
    return result.keys, result.frames, result.bones


def bakes_controls(controls: bpy.types.Object, target: str) -> bool:
    """Whether a bake onto a rig keys the rig's own controls, rather than its bones.

    Args:
        controls: Poise's controls.
        target: "CONTROLS", "BONES", or "AUTO" for what the rig has.

    Raises:
        UserError: the rig has no controls, or its bones obey nothing but these.
    """
    own = control_rig.own_controls_of(controls)
    rig = control_rig.require_rig(controls)
    if target == "CONTROLS" and own is None:
        raise UserError(
            f"{rig.name} has no controls of its own that Poise knows: bake to its bones"
        )
    if target == "BONES" and own is not None:
        raise UserError(
            f"The bones of {rig.name} follow its own controls, whatever keys they have: bake to "
            "its controls"
        )
    return own is not None


@dataclass(frozen=True)
class OntoRig:
    """What is to be keyed on a rig that follows Poise's controls.

    Attributes:
        bindings: role -> bone of the rig.
        tracks: tracks of these roles.
        how: what else `bake_tracks` is told.
        edited: whether it is what keys of the controls say that were edited by hand.
    """

    bindings: dict[str, str]
    tracks: RoleTracks
    how: dict
    edited: bool


def prepare_bones(
    context: bpy.types.Context,
    motion: bpy.types.Object,
    solved: pipeline.Solved,
    target: str = "AUTO",
) -> Steps[OntoRig]:
    """Steps to what a bake to a rig's bones or controls is to key; nothing is written.

    Args:
        context: Blender's context.
        motion: the Motion object.
        solved: its solved job.
        target: "CONTROLS", "BONES", or "AUTO" for what the rig has.

    Raises:
        UserError: one sentence with cause and remedy.
    """
    own = baked_of(motion)
    edited = own is not None and _is_current(motion, solved, own) and _is_edited(own)
    return (yield from _onto_rig(context, motion, solved, target, edited))


def _is_current(motion: bpy.types.Object, solved: pipeline.Solved, baked: Baked) -> bool:
    """Whether the bake on a motion's character is what it would be baked to now."""
    settings = motion.poise_motion
    return (
        attach.is_attached(settings.character, baked)
        and not pipeline.changed_inputs(solved.job, settings.inputs)
        and not beside.has_changed(settings.character, baked)
    )


def changed_since(motion: bpy.types.Object, job: pipeline.Job) -> tuple[str, ...]:
    """Names of what has changed since a motion was baked, on its character or its rig's bones.

    Args:
        motion: the Motion object.
        job: the job as it would be solved now.
    """
    changed = pipeline.changed_inputs(job, motion.poise_motion.inputs)
    try:
        bakes = [baked_of(motion, bones) for bones in (False, True)]
    except UserError:
        return tuple(changed)  # said where the bake is made anew, or cleared
    if any(map(beside.has_changed, rigs_of(motion), bakes)):
        changed.append(beside.NAME)
    return tuple(changed)


def rigs_of(motion: bpy.types.Object) -> tuple[bpy.types.Object | None, ...]:
    """What a motion may be baked on: its character, and the rig that this drives, or None.

    Args:
        motion: the Motion object.
    """
    character = motion.poise_motion.character
    return character, control_rig.rig_of(character)


def _is_edited(baked: Baked) -> bool:
    """Whether keys of a bake were edited by hand."""
    return baked.edits_action is not None or bool(edits.edited_channels(baked))


def _onto_rig(
    context: bpy.types.Context,
    motion: bpy.types.Object,
    solved: pipeline.Solved,
    target: str,
    edited: bool = False,
) -> Steps[OntoRig]:
    """What is to be keyed on a motion's rig.

    Where keys of the controls are edited, it is as Blender evaluates the controls.
    """
    settings = motion.poise_motion
    controls, travel = settings.character, solved.tracks
    rig = control_rig.require_rig(controls)
    control_rig.require_bones(controls, rig)
    unit_scale = solved.job.numbers.unit_scale
    own = control_rig.own_controls_of(controls) if bakes_controls(controls, target) else None
    feet = retarget.standing(controls, own) if own is not None else {}
    held = own is None or any(c.role in feet for c in travel.contacts)
    if settings.key_mode == "DENSE" and not held:
        # No bone of a rig's own spins like a wheel: whole frames tell how it turned. When a
        # foot leaves the ground they do not, nor do they tell what plain keys do between them.
        travel = travel.at_frames()
    if own is None and isinstance(figure := solved.job.figure, LeggedFigure):
        steps = retarget.steps_of(controls, travel)
        least = stepping.EVALUATED if edited else stepping.SAMPLES
        travel = stepping.finer(travel, figure, steps, solved.job.numbers.fps, least)
    elif not edited:
        travel = moments.with_moments(travel, settings.key_mode == "DENSE", True)
    flow = moments.woven(travel)
    how: dict = {"axes": np.array([1.0, 0.0, 0.0, 0.0]), "plain": own is None}
    if own is not None:
        how["held"] = own_controls.held(rig, own)
        own_controls.require_free(rig, how["held"])
    if edited:
        targets = yield from retarget.evaluated_targets(
            context, controls, travel, solved.job.start_frame, unit_scale, own
        )
    else:
        targets = yield from retarget.posed_targets(controls, flow, unit_scale, own)
    mode = settings.root_motion

    def carried(bindings: dict[str, str], found: RoleTracks) -> tuple[dict[str, str], RoleTracks]:
        bindings, found = retarget.carried(bindings, found, flow, mode, rig.name)
        return bindings, moments.unwoven(found, travel)

    if own is None:
        keyed = retarget.bone_tracks(controls, rig, flow, targets)
    else:
        keyed = retarget.control_tracks(rig, own, flow, targets, feet)
        how["checked"] = lambda: carried(*retarget.moved_tracks(controls, rig, flow, targets))
    before = baked_of(motion, True)
    ours = set(before.record.curves) if before is not None else set()
    theirs = {bone_of(path) for path in animated_paths(rig) - ours}
    grips = control_rig.fists(controls, rig, theirs)
    grips |= control_rig.resting(controls, rig)
    if grips:
        how["held"] = {**grips, **how.get("held", {})}
    root = control_rig.followers(controls).get("root", ("",))[0]
    if mode in ("OBJECT", "HIPS") and root and root in theirs:
        still = own_controls.at_rest(rig.pose.bones[root], ("location", "rotation"))
        how["held"] = {**still, **how.get("held", {})}
    if mode == "OBJECT":
        how["carrier"] = retarget.object_track(controls, travel)
    keyed = carried(*keyed)
    if _may_look_ahead(controls, rig, how.get("held", {})):
        # What the bake changes on the rig would have to be evaluated before it could be read.
        paths = checks.channel_paths(rig, *keyed)
        how["seen"] = look(context, rig, paths, how.get("held", {}), controls)
    return OntoRig(*keyed, how, edited)


def _may_look_ahead(
    controls: bpy.types.Object, rig: bpy.types.Object, held: Mapping[str, tuple]
) -> bool:
    """Whether a rig is already, but for what lets it follow, as its bake will find it."""
    return (
        _is_unkeyed(rig) and control_rig.is_connected(controls, rig) and stands_at(rig, held)
    )


def check_bones(
    context: bpy.types.Context, motion: bpy.types.Object, solved: pipeline.Solved, onto: OntoRig
) -> None:
    """Refuse what a bake to a rig's bones or controls could not do, before anything is written.

    Args:
        context: Blender's context.
        motion: the Motion object.
        solved: its solved job.
        onto: what is to be keyed.

    Raises:
        UserError: one sentence with cause and remedy.
    """
    controls = motion.poise_motion.character
    rig = control_rig.require_rig(controls)
    checks.check_place(rig)
    checks.check_before_bake(
        context, rig, onto.bindings, onto.tracks, options_of(motion, solved.job.start_frame),
        baked_of(motion, True), "carrier" in onto.how, controls,
    )


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
    current = own is not None and _is_current(motion, solved, own)
    if not current:
        bake(context, motion, solved, on_edited)
        own = baked_of(motion)
    options = options_of(motion, solved.job.start_frame)
    if onto is not None and current:
        edited = onto.edited
    else:
        # Keys that were written just now are as they were written.
        edited = _is_edited(own) if current else own.edits_action is not None
    options = replace(options, action_name=f"{motion.name} on {rig.name}", verify=verify)
    if on_edited:
        options = replace(options, on_edited=on_edited)
    # Before there are keys that Blender would have to copy to evaluate the rig.
    resized = _resized(controls)
    followed = control_rig.is_connected(controls, rig)
    control_rig.disconnect(controls, rig)
    try:
        if onto is None or onto.edited != edited:
            onto = finish(_onto_rig(context, motion, solved, target, edited))
        result = _bake(
            context, motion, rig, onto.bindings, onto.tracks, options, True,
            later=together is not None, below=True, **onto.how,
        )
    except BaseException:
        if followed:
            control_rig.connect(controls, rig)
        raise
    return _done(Unverified(motion, solved, result, resized), together)


def _bake(context, motion, armature, bindings, tracks, options, bones, **how) -> BakeResult:
    """Bake tracks for a motion and remember what was written."""
    previous = baked_of(motion, bones)
    moved = _move_to_strip(motion, armature, bones) if options.push_to_nla else None
    try:
        result = bake_tracks(
            context, armature, bindings, tracks, options, previous=previous, owner=motion, **how
        )
    except BaseException:
        if moved is not None:
            _move_back(armature, *moved)
        raise
    motions.part(motion)
    known = replace(result.baked.record, beside=beside.digest_of(armature, result.baked))
    _store(holder_of(motion, bones), replace(result.baked, record=known))
    return result


def _tell(
    motion: bpy.types.Object,
    solved: pipeline.Solved,
    result: BakeResult,
    resized: Sequence[Problem],
) -> None:
    """List what a bake found."""
    job = solved.job
    problems = solved.problems + result.problems + tuple(resized)
    rig = control_rig.rig_of(motion.poise_motion.character)
    if rig is not None:
        if not any(p.code == "REST_POSITION" for p in problems):
            problems += tuple(verify.rest_position(rig))
    controls = motion.poise_motion.character
    problems += tuple(_not_shown(controls, rig)) + tuple(_scaled(controls, rig))
    list_problems(motion, problems, job.start_frame, job.numbers.fps)


def _resized(controls: bpy.types.Object) -> list[Problem]:
    """A problem if the limbs of controls' rig are not as long as when it was set up."""
    rig = control_rig.rig_of(controls)
    if rig is None:
        return []
    try:
        control_rig.require_bones(controls, rig)
        share = control_rig.resized(controls, rig)
    except UserError:
        return []  # said where its bones are keyed
    if abs(share - 1.0) < control_rig.SAME_SIZE:
        return []
    return [
        Problem(
            code="RIG_SIZE",
            message=f"Limbs of {rig.name} are {share:.2f} times as long as when it was set up",
            remedy="Set Up Again",
        )
    ]


def left_behind(controls: bpy.types.Object) -> list[bpy.types.Object]:
    """Motions that are baked on Poise's controls, but not on the rig that they drive.

    Args:
        controls: Poise's controls.
    """
    return [
        motion
        for motion in motions.motions_of(controls)
        if baked_of(motion) is not None and baked_of(motion, True) is None
    ]


def _not_shown(controls: bpy.types.Object, rig: bpy.types.Object | None) -> list[Problem]:
    """A problem if a rig has keys of some motions, and follows the controls no longer."""
    if rig is None:
        return []
    others = left_behind(controls)
    on_rig = [m.name for m in motions.motions_of(controls) if baked_of(m, True) is not None]
    if not others or not on_rig or control_rig.is_connected(controls, rig):
        for motion in motions.motions_of(controls):  # what was said of them is true no longer
            listed = motion.poise_motion.problems
            for index in reversed(range(len(listed))):
                if listed[index].code == "NOT_SHOWN":
                    listed.remove(index)
        return []
    names = ", ".join(motion.name for motion in others)
    return [
        Problem(
            code="NOT_SHOWN",
            message=f"{rig.name} does not show {names}: it has keys of {', '.join(on_rig)} and "
            "follows Poise's controls no longer",
            remedy=f"{control_rig.baking_label(controls)}, which bakes all; or clear the other "
            "bakes",
        )
    ]


def _scaled(controls: bpy.types.Object, rig: bpy.types.Object | None) -> list[Problem]:
    """A problem if the pose of a rig has bones at another size, on which others hang."""
    sizes = control_rig.posed_sizes(controls, rig) if rig is not None else {}
    if not sizes:
        return []
    name = max(sizes, key=lambda bone: abs(sizes[bone] - 1.0))
    more = f", and {len(sizes) - 1} others" if len(sizes) > 1 else ""
    return [
        Problem(
            code="POSED_SCALE",
            message=f"Bone {name} of {rig.name if rig is not None else ''} is scaled by "
            f"{sizes[name]:.2f} in its pose{more}: joints beyond it are not where the motion has "
            "them",
            bone=name,
            amount=sizes[name],
            remedy="Clear its scale (Alt+S in Pose Mode), or Apply Pose as Rest Pose and Set Up "
            "Again",
        )
    ]


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


def _move_to_strip(
    motion: bpy.types.Object, armature: bpy.types.Object, bones: bool
) -> tuple | None:
    """Let another motion's bake play from a strip, if it is the rig's active action.

    Baking this motion into a strip of its own would take it off the rig.

    Returns:
        What `_move_back` takes, or None if there was nothing to move.
    """
    data = armature.animation_data
    if data is None or data.action is None:
        return None
    for other in motions.motions_of(motion.poise_motion.character):
        holder = holder_of(other, bones)
        if other == motion or holder.bake_action != data.action:
            continue
        baked = baked_of(other, bones)
        if (
            baked is None
            or baked.record.target != "NEW"
            or not attach.is_attached(armature, baked)
        ):
            continue
        former, text = attach.remember(armature), holder.record
        action, slot = data.action, data.action_slot
        data.action = None
        track = attach.push_down(armature, action, slot, baked.record.start, baked.record.end)
        holder.record = replace(baked.record, track=track).to_json()
        return holder, former, action, track, text
    return None


def _move_back(armature, holder, former, action, track, text) -> None:
    """Undo `_move_to_strip`."""
    attach.remove_track(armature, track, action)
    attach.bring_back(armature, former, action)
    holder.record = text


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
    from .shots.trail import remove_helpers

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
    tracks = solved.tracks
    if isinstance(tracks, JointTracks):
        armature, _bones = _joints_of(motion)
        return verify.check_bake(
            context, armature, {bone: bone for bone in tracks.bones()}, tracks,
            solved.job.start_frame, solved.job.numbers.unit_scale,
        )
    return verify.check_bake(
        context,
        motion.poise_motion.character,
        bindings_of(motion),
        tracks,
        solved.job.start_frame,
        solved.job.numbers.unit_scale,
        axes=characters.rest_axes(motion.poise_motion.character),
    )


def list_problems(
    motion: bpy.types.Object, problems: tuple[Problem, ...], start_frame: int, fps: float
) -> list[Problem]:
    """Fill a motion's problem list, errors first.

    Args:
        motion: the Motion object.
        problems: what was found.
        start_frame: frame at time 0.
        fps: real frame rate.

    Returns:
        The problems that are listed.
    """
    stored = motion.poise_motion.problems
    stored.clear()
    order = {"ERROR": 0, "WARNING": 1}
    # What single precision alone is off by is said once.
    coarse = COARSE * max((p.amount or 0.0 for p in problems if p.code == "FAR_AWAY"), default=0.0)
    shown = [
        p for p in problems
        if p.code not in ("POSITION_OFF", "BETWEEN_KEYS") or (p.amount or 0.0) > coarse
    ]

    def rank(problem: Problem) -> tuple:
        cause = problem.code in ("FAR_AWAY", "TERRAIN_MOVES")
        return not cause, order.get(problem.severity, 2), problem.time or 0.0

    for problem in sorted(shown, key=rank):
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
    return shown
