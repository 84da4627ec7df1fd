# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion keys on a rig that follows Poise's controls: its own controls, or its bones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import bpy
import numpy as np

from .. import pipeline
from ..bake import checks, moments, stepping
from ..bake.keyed import Keyed
from ..bake.plan import look
from ..bake.write import stands_at
from ..baked import baked_of
from ..errors import UserError
from ..mapping.legs import LeggedFigure
from ..mapping.tracks import RoleTracks
from ..rigs.controls import control_rig, own_controls, retarget
from ..rigs.pose.animated import animated_paths
from ..rigs.pose.channels import bone_of
from ..steps import Steps
from .character import options_of
from .current import is_current, is_edited
from .together import is_unkeyed


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
        keyed: bones of the rig and their tracks.
        edited: whether it is what keys of the controls say that were edited by hand.
    """

    keyed: Keyed
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
    edited = own is not None and is_current(motion, solved, own) and is_edited(own)
    return (yield from onto_rig(context, motion, solved, target, edited))


def onto_rig(
    context: bpy.types.Context,
    motion: bpy.types.Object,
    solved: pipeline.Solved,
    target: str,
    edited: bool = False,
) -> Steps[OntoRig]:
    """Steps to what is to be keyed on a motion's rig.

    Where keys of the controls are edited, it is as Blender evaluates the controls.

    Args:
        context: Blender's context.
        motion: the Motion object.
        solved: its solved job.
        target: "CONTROLS", "BONES", or "AUTO" for what the rig has.
        edited: whether keys of the controls are edited.
    """
    controls, mode = motion.poise_motion.character, motion.poise_motion.root_motion
    rig = control_rig.require_rig(controls)
    control_rig.require_bones(controls, rig)
    unit_scale = solved.job.numbers.unit_scale
    own = control_rig.own_controls_of(controls) if bakes_controls(controls, target) else None
    feet = retarget.standing(controls, own) if own is not None else {}
    travel = _travel(motion, solved, own, feet, edited)
    flow = moments.woven(travel)
    switches: dict[str, tuple] = {}
    if own is not None:
        switches = own_controls.held(rig, own)
        own_controls.require_free(rig, switches)
    if edited:
        targets = yield from retarget.evaluated_targets(
            context, controls, travel, solved.job.start_frame, unit_scale, own
        )
    else:
        targets = yield from retarget.posed_targets(controls, flow, unit_scale, own)

    def carried(bindings: dict[str, str], found: RoleTracks) -> tuple[dict[str, str], RoleTracks]:
        bindings, found = retarget.carried(bindings, found, flow, mode, rig.name)
        return bindings, moments.unwoven(found, travel)

    if own is None:
        found, checked = retarget.bone_tracks(controls, rig, flow, targets), None
    else:
        found = retarget.control_tracks(rig, own, flow, targets, feet)

        def checked() -> tuple[dict[str, str], RoleTracks]:
            return carried(*retarget.moved_tracks(controls, rig, flow, targets))

    held = _held(motion, rig, switches)
    bindings, tracks = carried(*found)
    seen = None
    if _may_look_ahead(controls, rig, held):
        # What the bake changes on the rig would have to be evaluated before it could be read.
        paths = checks.channel_paths(rig, bindings, tracks)
        seen = look(context, rig, paths, held, controls)
    return OntoRig(
        Keyed(
            rig, bindings, tracks, options_of(motion, solved.job.start_frame), held=held,
            axes=np.array([1.0, 0.0, 0.0, 0.0]), checked=checked,
            carrier=retarget.object_track(controls, travel) if mode == "OBJECT" else None,
            seen=seen, plain=own is None, below=True,
        ),
        edited,
    )


def _travel(
    motion: bpy.types.Object,
    solved: pipeline.Solved,
    own: own_controls.OwnControls | None,
    feet: Collection[str],
    edited: bool,
) -> RoleTracks:
    """A motion's tracks at all instants that its rig needs."""
    travel, dense = solved.tracks, motion.poise_motion.key_mode == "DENSE"
    assert isinstance(travel, RoleTracks)  # joints are bones of the rig itself
    stands = own is None or any(c.role in feet for c in travel.contacts)
    if dense and not stands:
        # No bone of a rig's own spins like a wheel: whole frames tell how it turned. When a
        # foot leaves the ground they do not, nor do they tell what plain keys do between them.
        travel = travel.at_frames()
    figure = solved.job.figure
    if own is None and isinstance(figure, LeggedFigure):
        steps = retarget.steps_of(motion.poise_motion.character, travel)
        least = stepping.EVALUATED if edited else stepping.SAMPLES
        return stepping.finer(travel, figure, steps, solved.job.numbers.fps, least)
    return travel if edited else moments.with_moments(travel, dense, True)


def _held(
    motion: bpy.types.Object, rig: bpy.types.Object, switches: Mapping[str, tuple]
) -> dict[str, tuple]:
    """What keeps one value on a motion's rig: switches, fists, and what is to rest."""
    controls = motion.poise_motion.character
    before = baked_of(motion, True)
    ours = set(before.record.curves) if before is not None else set()
    theirs = {bone_of(path) for path in animated_paths(rig) - ours}
    held = {
        **control_rig.fists(controls, rig, theirs),
        **control_rig.resting(controls, rig),
        **switches,
    }
    root = control_rig.followers(controls).get("root", ("",))[0]
    if motion.poise_motion.root_motion in ("OBJECT", "HIPS") and root and root in theirs:
        still = own_controls.at_rest(rig.pose.bones[root], ("location", "rotation"))
        held = {**still, **held}
    return held


def _may_look_ahead(
    controls: bpy.types.Object, rig: bpy.types.Object, held: Mapping[str, tuple]
) -> bool:
    """Whether a rig is already, but for what lets it follow, as its bake will find it."""
    return (
        is_unkeyed(rig) and control_rig.is_connected(controls, rig) and stands_at(rig, held)
    )


def check_bones(
    context: bpy.types.Context, motion: bpy.types.Object, onto: OntoRig
) -> None:
    """Refuse what a bake to a rig's bones or controls could not do, before anything is written.

    Args:
        context: Blender's context.
        motion: the Motion object.
        onto: what is to be keyed.

    Raises:
        UserError: one sentence with cause and remedy.
    """
    checks.check_place(control_rig.require_rig(motion.poise_motion.character))
    checks.check_before_bake(
        context, onto.keyed, baked_of(motion, True), motion.poise_motion.character
    )
