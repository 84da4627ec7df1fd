# SPDX-License-Identifier: GPL-3.0-or-later
"""Hanging an action on a rig, as its active one or in the NLA, and taking it off.

Former action, slot and blending come back when it is taken off. Everything
goes through the rig's own slot of the action.
"""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np

from .. import compat
from ..errors import UserError
from ..rigs.pose.properties import restore_pose
from . import memory
from .data import Baked, Former

EDITS_SUFFIX, BELOW_SUFFIX = " Edits", " Below"


def remember(armature: bpy.types.Object) -> Former:
    """What stands on a rig now.

    Args:
        armature: the rig.
    """
    data = armature.animation_data
    if data is None:
        return Former()
    return Former(
        animated=True,
        slot=data.action_slot.handle if data.action_slot is not None else 0,
        last_slot=data.last_slot_identifier,
        blend_type=data.action_blend_type,
        influence=data.action_influence,
        extrapolation=data.action_extrapolation,
    )


def make_active(
    armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot
) -> None:
    """Let a rig play a slot of an action as it is, on top of any NLA tracks.

    Args:
        armature: the rig.
        action: the action.
        slot: one of its slots.

    Raises:
        UserError: Blender does not take it.
    """
    data = armature.animation_data_create()
    data.action = action
    # Blender may have chosen another slot, or none.
    data.action_slot = slot
    if data.action != action or data.action_slot != slot:
        raise UserError(
            f"Blender does not let {armature.name} play action {action.name}: "
            "leave NLA tweak mode, or make the rig editable"
        )
    data.action_blend_type = "REPLACE"
    data.action_influence = 1.0
    data.action_extrapolation = "HOLD"


def play_on(
    armature: bpy.types.Object,
    former: Former,
    action: bpy.types.Action,
    start: float,
    end: float,
) -> Former:
    """Let the action that a rig had play on, from an NLA track below the bake.

    A track that is there already stays as the animator has it, with another action or muted; one
    that was taken away stays away.

    Args:
        armature: the rig.
        former: what stood on it.
        action: the action.
        start: first frame of the bake.
        end: last frame of the bake.

    Returns:
        What stood on the rig, with the name of the track.
    """
    data = armature.animation_data
    track = track_below(armature, former, action)
    if track is None and former.track:
        return former
    first, last = action.frame_range
    start, end = min(start, first), max(end, last, start + 1.0)
    shift = 0.0
    if track is None:
        active = data.nla_tracks.active
        track = data.nla_tracks.new()
        track.name = f"{action.name}{BELOW_SUFFIX}"
        data.nla_tracks.active = active
        strip = track.strips.new(action.name, int(np.floor(start)), action)
        strip.action_slot = compat.slot_by_handle(action, former.slot)
        strip.blend_type, strip.influence = former.blend_type, former.influence
        strip.extrapolation = "HOLD"
    else:
        strip = track.strips[0]
        shift = strip.frame_start - strip.action_frame_start
        start, end = min(start, strip.frame_start), max(end, strip.frame_end)
        if len(track.strips) > 1 or strip.scale != 1.0 or strip.repeat != 1.0:
            return replace(former, track=track.name)
    strip.action_frame_start, strip.action_frame_end = start - shift, end - shift
    strip.frame_start, strip.frame_end = start, end
    strip.scale = 1.0
    return replace(former, track=track.name)


def track_below(
    armature: bpy.types.Object, former: Former, action: bpy.types.Action | None
) -> bpy.types.NlaTrack | None:
    """The track that `play_on` made, with whatever action the animator lets it play now.

    Args:
        armature: the rig.
        former: what stood on it.
        action: the action that was put there.
    """
    track = track_of(armature, former.track, action)
    if track is None and former.track and armature.animation_data is not None:
        track = armature.animation_data.nla_tracks.get(former.track)
    return track if track is not None and len(track.strips) else None


def play_no_longer(
    armature: bpy.types.Object, former: Former, action: bpy.types.Action | None
) -> Former:
    """Undo `play_on`.

    Args:
        armature: the rig.
        former: what stood on it.
        action: the action that was put there.

    Returns:
        The same, without a track.
    """
    tracks = armature.animation_data.nla_tracks
    track = track_below(armature, former, action)
    if track is not None:
        active = tracks.active if tracks.active != track else None
        tracks.remove(track)
        tracks.active = active
    return replace(former, track="")


def bring_back(
    armature: bpy.types.Object, former: Former, former_action: bpy.types.Action | None
) -> None:
    """Give a rig its former action, slot and blending again.

    Args:
        armature: the rig.
        former: what stood on it.
        former_action: the action that it had, unless the animator let another one play in its
            place; None if it had none, or it is gone.
    """
    data = armature.animation_data
    if data is None:
        return
    slot = compat.slot_by_handle(former_action, former.slot)
    track = track_below(armature, former, former_action)
    strip = track.strips[0] if track is not None else None
    if strip is not None and strip.action is not None:
        former_action, slot = strip.action, strip.action_slot
    play_no_longer(armature, former, former_action)
    data.action = former_action
    if former_action is not None:
        data.action_slot = slot
    data.action_blend_type = former.blend_type
    data.action_influence = former.influence
    data.action_extrapolation = former.extrapolation
    data.last_slot_identifier = former.last_slot
    if not former.animated and not data.nla_tracks and not data.drivers and data.action is None:
        armature.animation_data_clear()


def track_of(
    armature: bpy.types.Object, name: str, action: bpy.types.Action | None
) -> bpy.types.NlaTrack | None:
    """The NLA track with a strip of an action, or None.

    Args:
        armature: the rig.
        name: name of the track when it was made; it may have been renamed.
        action: the action.
    """
    data = armature.animation_data
    if data is None or action is None or not name:
        return None
    tracks = sorted(data.nla_tracks, key=lambda track: track.name != name)
    return next((t for t in tracks if any(s.action == action for s in t.strips)), None)


def push_down(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    start: float,
    end: float,
    blend: str = "REPLACE",
    name: str = "",
) -> str:
    """Put an action on an NLA track of its own, above the others.

    A track that has it already is brought up to date.

    Args:
        armature: the rig.
        action: the action.
        slot: the slot to play.
        start: first frame.
        end: last frame.
        blend: how the strip blends with what is under it.
        name: name of the track that may have it already.

    Returns:
        Name of the track.
    """
    data = armature.animation_data_create()
    track = track_of(armature, name, action)
    influence = 1.0
    if track is not None:
        strip = next(s for s in track.strips if s.action == action)
        if (strip.frame_start, strip.frame_end) == (start, end):
            return track.name
        blend, influence = strip.blend_type, strip.influence
        track.strips.remove(strip)
    else:
        active = data.nla_tracks.active
        track = data.nla_tracks.new()
        track.name = action.name
        data.nla_tracks.active = active
    strip = track.strips.new(action.name, int(start), action)
    strip.action_slot = slot
    strip.action_frame_start, strip.action_frame_end = start, max(end, start + 1.0)
    strip.frame_start, strip.frame_end = start, max(end, start + 1.0)
    strip.scale = 1.0
    strip.blend_type = blend
    strip.influence = influence
    strip.extrapolation = "HOLD" if blend != "REPLACE" else _extrapolation(data, strip)
    return track.name


def _extrapolation(data: bpy.types.AnimData, strip: bpy.types.NlaStrip) -> str:
    """How a strip holds its ends, so that it covers no other motion."""
    others = [s for track in data.nla_tracks for s in track.strips if s.action != strip.action]
    if not others:
        return "HOLD"
    later = any(
        s.frame_start > strip.frame_start and any(memory.stores(s.action)) for s in others
    )
    return "NOTHING" if later else "HOLD_FORWARD"


def remove_track(
    armature: bpy.types.Object, name: str, action: bpy.types.Action | None
) -> bool:
    """Remove the strip of an action, and its track if nothing else is on it.

    Args:
        armature: the rig.
        name: name of the track when it was made.
        action: the action.

    Returns:
        Whether there was one.
    """
    track = track_of(armature, name, action)
    if track is None:
        return False
    for strip in [s for s in track.strips if s.action == action]:
        track.strips.remove(strip)
    if not track.strips:
        tracks = armature.animation_data.nla_tracks
        active = tracks.active if tracks.active != track else None
        tracks.remove(track)
        tracks.active = active
    return True


def is_attached(armature: bpy.types.Object, baked: Baked) -> bool:
    """Whether a rig plays a bake, as its active action or from its track.

    Args:
        armature: the rig.
        baked: the bake.
    """
    data = armature.animation_data
    if data is None or baked.action is None:
        return False
    if data.action == baked.action:
        slot = data.action_slot
        return slot is not None and slot.handle == baked.record.slot
    return track_of(armature, baked.record.track, baked.action) is not None


def detach(armature: bpy.types.Object, baked: Baked) -> None:
    """Take a bake off a rig and bring back what stood there; keys are left alone.

    Another action that the animator has assigned since stays.

    Args:
        armature: the rig.
        baked: the bake.
    """
    record = baked.record
    data = armature.animation_data
    if data is not None:
        remove_track(armature, record.edits_track, baked.edits_action)
        had_track = remove_track(armature, record.track, baked.action)
        former, former_action = memory.former_of(baked)
        own = data.action is not None and data.action == baked.action
        if record.target == "NEW" and (own or (had_track and data.action is None)):
            above = [s.action for t in data.nla_tracks for s in t.strips] if had_track else []
            if not memory.hand_over(above, former, former_action):
                bring_back(armature, former, former_action)
        elif own or not had_track:
            # Another action that was assigned since stays.
            play_no_longer(armature, former, former_action)
    restore_pose(armature, record.pose)
