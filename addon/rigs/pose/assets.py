# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's pose assets: which there are, and how the bones of a rig stand in one."""

from __future__ import annotations

from collections.abc import Collection

import bpy

from ...errors import UserError
from .plays import Active, channel_paths, sounding
from .posture import Posture, Source

MAKE = "pose some bones, and make one with Pose > Create Pose Asset"


def names() -> list[str]:
    """Full names of the pose assets of this file, those linked from others among them."""
    return [action.name_full for action in bpy.data.actions if action.asset_data is not None]


def find(name: str, library: str = "") -> bpy.types.Action:
    """A pose asset.

    Args:
        name: its full name; empty for the only one.
        library: path of the file that it is linked from if this one does not have it yet.

    Raises:
        UserError: there is none, or none of that name, or several to choose from.
    """
    known = names()
    if not name and len(known) > 1:
        raise UserError(f"This file has {len(known)} pose assets: choose one of them")
    if not name and known:
        name = known[0]
    if name in known:
        return next(a for a in bpy.data.actions if a.name_full == name and a.asset_data is not None)
    if name and library:
        return _linked(name, library)
    if known:
        raise UserError(f"This file has no pose asset {name}: choose one that it has, or {MAKE}")
    raise UserError(f"This file has no pose asset: {MAKE}")


def _linked(name: str, library: str) -> bpy.types.Action:
    """A pose asset of another file."""
    name = name.rpartition(" [")[0] or name  # what Blender calls it once it is linked
    path = bpy.path.abspath(library)
    try:
        with bpy.data.libraries.load(path, link=True, assets_only=True) as (there, here):
            here.actions = [action for action in there.actions if action == name]
    except OSError as error:
        raise UserError(f"{library} cannot be read: choose another file") from error
    if not here.actions:
        raise UserError(f"{library} has no pose asset {name}: choose one that it has, or {MAKE}")
    return here.actions[0]


def postures(
    rig: bpy.types.Object, action: bpy.types.Action, bones: Collection[str] = (),
    flipped: bool = False, places: bool = False,
) -> list[Posture]:
    """How bones stand in a pose asset, one posture for each frame that it has keys on.

    Args:
        rig: the rig.
        action: the asset.
        bones: names of the bones that are meant; none for all that it turns.
        flipped: whether left and right are exchanged.
        places: whether bones count, too, that it moves without turning them.

    Raises:
        UserError: it turns none of the bones.
    """
    found: tuple[int, list[str], list[float]] = (0, [], [])
    for slot in action.slots:
        curves = list(sounding(Active(action, slot.handle)))
        paths = {curve.data_path for curve in curves}
        # In another mode than the asset's a bone would stand as at rest.
        channels = {
            bone.name: set(channel_paths(rig, bone.name)[0 if places else 1 : 2]) & paths
            for bone in rig.pose.bones
        }
        turned = [name for name, own in channels.items() if own]
        if not flipped and bones:
            turned = [name for name in turned if name in bones]
        ours = {path for name in turned for path in channels[name]}
        keys = {round(k.co.x, 3) for c in curves if c.data_path in ours for k in c.keyframe_points}
        if len(turned) > len(found[1]):
            found = slot.handle, turned, sorted(keys)
    handle, turned, frames = found
    read = []
    for frame in frames:
        source = Source(action.name_full, handle, frame)
        posture = Posture.of_action(rig, source, turned)
        if flipped:
            posture = posture.mirrored(rig)
            posture = posture.only(bones or posture.bones)
        read.append(posture)
    if not any(posture.bones for posture in read):
        which = "selected bone" if bones else "bone"
        raise UserError(
            f"Pose asset {action.name} turns no {which} of {rig.name}: select bones that it keys, "
            "in the rotation mode that they are keyed in"
        )
    return read
