# SPDX-License-Identifier: GPL-3.0-or-later
"""What would play on a rig without its bakes: for whoever reads what they lie on."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ..rigs.pose.plays import Active, Without
from . import attach, memory
from .data import Baked
from .edits import own_span


def without(armature: bpy.types.Object, bakes: Iterable[Baked]) -> Without:
    """Keys that bakes have put on a rig, and what is there in their place once they are cleared.

    Args:
        armature: the rig.
        bakes: the bakes whose keys do not count.
    """
    data = armature.animation_data
    own: list[Baked] = []
    actions: set[bpy.types.Action] = set()
    tracks: set[str] = set()
    keys: dict[tuple[str, int], tuple[float, float]] = {}
    pose: dict[str, tuple[float, ...]] = {}
    for baked in bakes:
        record = baked.record
        pose |= {path: values for path, values in record.pose.items() if path in record.curves}
        if record.target == "NEW":
            actions |= {baked.action, baked.edits_action} - {None}
            own.append(baked)
        elif data is not None and data.action == baked.action and (
            attach.is_attached(armature, baked)
        ):
            keys |= dict.fromkeys(record.channels(), own_span(record))
    active = None
    while data is not None:
        now = data.action if active is None else active.action
        hides = next(
            (b for b in own if (b.action == now if now else attach.is_attached(armature, b))), None
        )
        if hides is None:
            break
        own.remove(hides)
        former, action = memory.former_of(hides)
        slot, track = former.slot, attach.track_below(armature, former, action)
        if track is not None:  # from which it plays on below the bake, or another one
            tracks.add(track.name)
            strip = track.strips[0]
            if strip.action is not None and strip.action_slot is not None:
                action, slot = strip.action, strip.action_slot.handle
        active = Active(
            action, slot, former.blend_type, former.influence, former.extrapolation
        )
    return Without(frozenset(actions), frozenset(tracks), active, keys, pose)
