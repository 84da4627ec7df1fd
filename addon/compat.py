# SPDX-License-Identifier: GPL-3.0-or-later
"""Every difference between Blender 4.5 and 5.3, and nothing else.

The rest of the add-on asks for F-curves, slots and bone states here, and
never looks at Blender's version.
"""

from __future__ import annotations

import bpy


def action_fcurves(
    action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None
) -> list[bpy.types.FCurve]:
    """F-curves of one slot of an action; empty where there are none.

    Args:
        action: an action, or None.
        slot: one of its slots, or None.
    """
    bag = channelbag(action, slot)
    return [] if bag is None else list(bag.fcurves)


def channelbag(
    action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None
) -> bpy.types.ActionChannelbag | None:
    """The channels of one slot of an action, or None if it has none.

    Args:
        action: an action, or None.
        slot: one of its slots, or None.
    """
    if action is None or slot is None:
        return None
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            if bag is not None:
                return bag
    return None


def ensure_channelbag(
    action: bpy.types.Action, slot: bpy.types.ActionSlot
) -> bpy.types.ActionChannelbag:
    """The channels of one slot of an action, made where they are missing.

    Args:
        action: a local action.
        slot: one of its slots.
    """
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True)


def new_slot(action: bpy.types.Action, name: str) -> bpy.types.ActionSlot:
    """Add a slot for an object to an action.

    Args:
        action: a local action.
        name: the object's name, as the slot's label.
    """
    return action.slots.new(id_type="OBJECT", name=name)


def slot_by_handle(
    action: bpy.types.Action | None, handle: int
) -> bpy.types.ActionSlot | None:
    """The slot of an action that has a handle, or None.

    Handles stay the same when slots are renamed or removed; names do not.

    Args:
        action: an action, or None.
        handle: `ActionSlot.handle`.
    """
    if action is None:
        return None
    return next((slot for slot in action.slots if slot.handle == handle), None)


# 5.0 moved what the animator sees and selects in Pose Mode from the bone,
# which all users of an armature share, to the pose bone of one object.
_POSE_STATE = "select" in bpy.types.PoseBone.bl_rna.properties


def bone_selected(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone is selected in Pose Mode.

    Args:
        bone: a pose bone.
    """
    return bone.select if _POSE_STATE else bone.bone.select


def select_bone(bone: bpy.types.PoseBone, state: bool = True) -> None:
    """Select or deselect a bone in Pose Mode.

    Args:
        bone: a pose bone.
        state: whether it shall be selected.
    """
    if _POSE_STATE:
        bone.select = state
    else:
        bone.bone.select = state


def bone_hidden(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone is hidden in Pose Mode.

    Args:
        bone: a pose bone.
    """
    return bone.hide if _POSE_STATE else bone.bone.hide


def hide_bone(bone: bpy.types.PoseBone, state: bool = True) -> None:
    """Hide or show a bone in Pose Mode.

    Args:
        bone: a pose bone.
        state: whether it shall be hidden.
    """
    if _POSE_STATE:
        bone.hide = state
    else:
        bone.bone.hide = state
