# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion keys on its character, and how."""

from __future__ import annotations

import bpy

from .. import motions, pipeline
from ..bake.data import BakeOptions
from ..bake.keyed import Keyed
from ..errors import UserError
from ..mapping.tracks import JointTracks
from ..rigs import characters
from ..rigs.controls import control_rig

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


def options_of(
    motion: bpy.types.Object, start_frame: int, on_edited: str = ""
) -> BakeOptions:
    """How a motion is to be baked.

    Args:
        motion: the Motion object.
        start_frame: first frame of the motion.
        on_edited: what to do with keys edited by hand; "" for the motion's
            own choice.
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
        on_edited=on_edited or settings.edited_keys,
        between=settings.keys_between,
    )


def keyed_of(motion: bpy.types.Object, solved: pipeline.Solved, on_edited: str = "") -> Keyed:
    """What a motion keys on its character, or where it turns joints on the rig that this drives.

    Args:
        motion: the Motion object.
        solved: its solved job.
        on_edited: what to do with keys edited by hand; "" for the motion's
            own choice.

    Raises:
        UserError: no part of the body is chosen, or the joints follow the controls, whatever
            keys they have.
    """
    character = motion.poise_motion.character
    options = options_of(motion, solved.job.start_frame, on_edited)
    if isinstance(solved.tracks, JointTracks):
        # On top of what plays on their armature, which goes on below.
        return Keyed(joints_of(motion), {}, solved.tracks, options, below=True)
    return Keyed(
        character, bindings_of(motion), solved.tracks, options,
        held=characters.switches_of(character), axes=characters.rest_axes(character),
    )


def joints_of(motion: bpy.types.Object) -> bpy.types.Object:
    """The armature whose joints a motion keys: its character, or the rig that this drives.

    Args:
        motion: the Motion object.

    Raises:
        UserError: it follows the controls, whatever keys its bones have.
    """
    character = motion.poise_motion.character
    rig = control_rig.rig_of(character)
    if rig is None:
        return character
    if control_rig.is_connected(character, rig):
        raise UserError(
            f"{rig.name} follows Poise's controls: {control_rig.baking_label(character)} the "
            "motion below first, so that its bones have keys to lie on"
        )
    return rig
