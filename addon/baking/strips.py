# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of other motions moved to strips of the NLA, so that they play on."""

from __future__ import annotations

from dataclasses import replace

import bpy

from .. import motions
from ..bake import attach
from ..baked import baked_of, holder_of


def move_to_strip(
    motion: bpy.types.Object, armature: bpy.types.Object, bones: bool
) -> tuple | None:
    """Let another motion's bake play from a strip, if it is the rig's active action.

    Baking this motion into a strip of its own would take it off the rig.

    Args:
        motion: the Motion object.
        armature: the rig.
        bones: whether it is one that follows Poise's controls.

    Returns:
        What `move_back` takes, or None if there was nothing to move.
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


def move_back(armature: bpy.types.Object, moved: tuple) -> None:
    """Undo `move_to_strip`.

    Args:
        armature: the rig.
        moved: what that returned.
    """
    holder, former, action, track, text = moved
    attach.remove_track(armature, track, action)
    attach.bring_back(armature, former, action)
    holder.record = text
