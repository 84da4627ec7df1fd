# SPDX-License-Identifier: GPL-3.0-or-later
"""What stood on a rig before, kept with the baked action too.

Several motions of one character are baked one over the other and cleared in
any order. Each baked action therefore remembers what it replaced: a later
bake finds there how the bones stood before the first, and when an action is
removed, those that had replaced it are told what it had replaced itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

import bpy

from .data import Baked, Former, pose_of

STORE = "poise_baked"


def stores(action: bpy.types.Action | None) -> Iterator[Any]:
    """What bakes have left with an action.

    Args:
        action: any action, or None.
    """
    if action is None:
        return
    for name in action.keys():
        if name.startswith(STORE) and hasattr(action[name], "keys"):
            yield action[name]


def remember(
    action: bpy.types.Action,
    name: str,
    former: Former,
    former_action: bpy.types.Action | None,
    pose: Mapping[str, tuple[float, ...]],
) -> None:
    """Keep with a baked action what it replaced.

    Args:
        action: the baked action, whose store exists.
        name: name of the store.
        former: what stood on the rig.
        former_action: the action that it had.
        pose: data path -> values before.
    """
    _write(action[name], former, pose)
    if former_action is not None and former_action != action:
        action[name]["former_action"] = former_action


def _write(group, former: Former, pose: Mapping[str, tuple[float, ...]]) -> None:
    group["before"] = json.dumps({"former": asdict(former), "pose": pose})


def former_of(baked: Baked) -> tuple[Former, bpy.types.Action | None]:
    """What comes back when a bake is cleared.

    Args:
        baked: the bake.
    """
    record = baked.record
    group: Any = baked.action.get(record.store) if baked.action is not None else None
    if not hasattr(group, "keys") or "before" not in group or record.target != "NEW":
        return record.former, baked.former_action
    action = group.get("former_action")
    usable = isinstance(action, bpy.types.Action) and action != baked.action
    return _before(group)[0], action if usable else None


def pose_before(armature: bpy.types.Object) -> dict[str, tuple[float, ...]]:
    """How bones stood before the bakes that a rig plays now.

    Args:
        armature: the rig.

    Returns:
        Data path -> values.
    """
    data = armature.animation_data
    if data is None:
        return {}
    actions = [strip.action for track in data.nla_tracks for strip in track.strips]
    pose: dict[str, tuple[float, ...]] = {}
    for action in [*actions, data.action]:
        for group in stores(action):
            pose |= _before(group)[1]
    return pose


def _before(group) -> tuple[Former, dict[str, tuple[float, ...]]]:
    """What a bake replaced, and data path -> values before; nothing where it cannot be read."""
    try:
        before = json.loads(group["before"])
        return Former.of(before["former"]), pose_of(before["pose"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return Former(), {}


def forget(action: bpy.types.Action, baked: Baked) -> None:
    """Tell later bakes, before an action goes, what it had replaced.

    Args:
        action: the baked action that is about to be removed.
        baked: its bake.
    """
    former, former_action = former_of(baked)
    for other in bpy.data.actions:
        if other == action:
            continue
        for group in stores(other):
            if group.get("former_action") != action:
                continue
            _replace(group, former, former_action)


def hand_over(
    actions: Iterable[bpy.types.Action | None],
    former: Former,
    former_action: bpy.types.Action | None,
) -> bool:
    """Let bakes that still play from NLA strips remember what stood before all of them.

    Args:
        actions: actions of the strips.
        former: what stood on the rig.
        former_action: the action that it had.

    Returns:
        Whether there was such a bake.
    """
    found = False
    for action in actions:
        for group in stores(action):
            found = True
            if group.get("former_action") is None:
                _replace(group, former, former_action)
    return found


def _replace(group, former: Former, former_action: bpy.types.Action | None) -> None:
    known, pose = _before(group)
    # Animation that only another bake had given to the rig is none of the animator's.
    animated = former.animated and known.animated
    _write(group, replace(former, animated=animated), pose)
    if former_action is not None:
        group["former_action"] = former_action
    elif "former_action" in group.keys():
        del group["former_action"]
