# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake of a Motion object: its string and pointers, read and written in one place."""

from __future__ import annotations

import bpy

from ..errors import UserError
from .data import Baked, BakeRecord
from .write import clear_bake


def baked_of(motion: bpy.types.Object) -> Baked | None:
    """The bake of a motion, or None if it has none.

    Args:
        motion: the Motion object.

    Raises:
        UserError: the record cannot be read.
    """
    settings = motion.poise_motion
    if not settings.record:
        return None
    try:
        record = BakeRecord.from_json(settings.record)
    except (ValueError, TypeError) as error:
        raise UserError(
            f"The bake record of {motion.name} cannot be read ({error}): remove the baked action "
            "by hand, and the motion with it"
        ) from error
    return Baked(
        record, settings.bake_action, settings.former_action, settings.edits_action
    )


def store_baked(motion: bpy.types.Object, baked: Baked | None) -> None:
    """Keep a bake with its motion.

    Args:
        motion: the Motion object.
        baked: the bake; None when it has been cleared.
    """
    settings = motion.poise_motion
    settings.record = baked.record.to_json() if baked is not None else ""
    settings.bake_action = baked.action if baked is not None else None
    settings.former_action = baked.former_action if baked is not None else None
    settings.edits_action = baked.edits_action if baked is not None else None
    if baked is None:
        settings.inputs = ""


def clear_motion(context: bpy.types.Context, motion: bpy.types.Object) -> str:
    """Clear the bake of a motion, if it has one.

    Args:
        context: Blender's context.
        motion: the Motion object.

    Returns:
        One sentence on what was left and why, or "".

    Raises:
        UserError: the record cannot be read, or the rig cannot be written to.
    """
    baked = baked_of(motion)
    if baked is None:
        return ""
    character = motion.poise_motion.character
    note = clear_bake(context, character, baked, owner=motion)
    store_baked(motion, None)
    return note
