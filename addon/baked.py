# SPDX-License-Identifier: GPL-3.0-or-later
"""What Motion objects remember of their bakes, and what plays on rigs without these."""

from __future__ import annotations

import bpy

from . import motions
from .bake.data import Baked, BakeRecord
from .bake.without import without
from .errors import UserError
from .rigs.controls import control_rig
from .rigs.pose.plays import Without

# What a motion, or its rig's bones, remember of a bake.
REMEMBERED = ("record", "bake_action", "former_action", "edits_action")


def holder_of(motion: bpy.types.Object, bones: bool):
    """What holds a motion's bake: that on its character, or that on its rig's bones.

    Args:
        motion: the Motion object.
        bones: that on the bones of a rig that follows Poise's controls.
    """
    settings = motion.poise_motion
    return settings.bones if bones else settings


def baked_of(motion: bpy.types.Object, bones: bool = False) -> Baked | None:
    """A motion's last bake, or None; that of a motion it was copied from is not its own.

    Args:
        motion: the Motion object.
        bones: that on the bones of a rig that follows Poise's controls.

    Raises:
        UserError: the record was made by a later Poise, or is broken.
    """
    holder = holder_of(motion, bones)

    def place(other: bpy.types.Object) -> tuple | None:
        # Records are long: only those that may be the same are read.
        theirs = holder_of(other, bones)
        return _place(theirs) if theirs.bake_action == holder.bake_action else None

    if not holder.record or (holder.bake_action and not motions.own(motion, place)):
        return None
    try:
        record = BakeRecord.from_json(holder.record)
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(
            f"The bake of {motion.name} cannot be read ({error}): delete the Motion object, and "
            "add the motion anew"
        ) from error
    action, former, kept = holder.bake_action, holder.former_action, holder.edits_action
    # A record that was spoilt may name an action that is none of the bake's, or one twice: it
    # would be removed, or that even twice.
    action = None if action is not None and record.store not in action else action
    former = None if former == action else former
    return Baked(record, action, former, None if kept in (action, former) else kept)


def is_baked(motion: bpy.types.Object) -> bool:
    """Whether a motion has a bake of its own, on its character or on a rig's bones.

    Args:
        motion: the Motion object.

    Raises:
        UserError: the record was made by a later Poise, or is broken.
    """
    return any(baked_of(motion, bones) is not None for bones in (False, True))


def _place(holder) -> tuple | None:
    """Where a bake lies: its action, and its part of it."""
    if holder.bake_action is None:
        return None
    try:
        return holder.bake_action.session_uid, BakeRecord.from_json(holder.record).store
    except (ValueError, TypeError, KeyError):
        return holder.bake_action.session_uid, ""


def beneath(motion: bpy.types.Object) -> Without:
    """Keys on the joints of a motion's character that do not count for what it lies on: its own
    and those of the motions after it in the list, which lie on it.

    Args:
        motion: the Motion object.
    """
    character = motion.poise_motion.character
    rig = control_rig.rig_of(character)
    together = motions.motions_of(character)
    over = together[together.index(motion):] if motion in together else [motion]
    bakes = [baked_of(other, rig is not None) for other in reversed(over)]
    return without(rig or character, [baked for baked in bakes if baked is not None])
