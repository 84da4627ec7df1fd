# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether bakes are still what they would be now."""

from __future__ import annotations

import bpy

from .. import pipeline
from ..bake import attach, beside, edits
from ..bake.data import Baked
from ..baked import baked_of
from ..errors import UserError
from ..rigs.controls import control_rig


def is_current(motion: bpy.types.Object, solved: pipeline.Solved, baked: Baked) -> bool:
    """Whether the bake on a motion's character is what it would be baked to now.

    Args:
        motion: the Motion object.
        solved: its solved job.
        baked: the bake.
    """
    settings = motion.poise_motion
    return (
        attach.is_attached(settings.character, baked)
        and not pipeline.changed_inputs(solved.job, settings.inputs)
        and not beside.has_changed(settings.character, baked)
    )


def is_edited(baked: Baked) -> bool:
    """Whether keys of a bake were edited by hand.

    Args:
        baked: the bake.
    """
    return baked.edits_action is not None or bool(edits.edited_channels(baked))


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
