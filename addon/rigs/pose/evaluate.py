# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones as Blender evaluates them, frame by frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ...context import keep_frame
from ...errors import UserError
from ...steps import Steps
from .plays import Active, Playing, Without, channel_paths, cut_copy, every_strip
from .properties import read_pose, restore_pose

Evaluate = Callable[[bpy.types.Object], bpy.types.Object]


def through(context: bpy.types.Context, frames: Iterable[float]) -> Iterator[Evaluate]:
    """Go to one (sub)frame after the other; whoever asks puts the frame back.

    Args:
        context: Blender's context.
        frames: when.

    Yields:
        What gives an object as it is evaluated then.
    """
    for frame in frames:
        whole = int(np.floor(frame))
        context.scene.frame_set(whole, subframe=frame - whole)
        depsgraph = context.evaluated_depsgraph_get()
        yield lambda obj, depsgraph=depsgraph: obj.evaluated_get(depsgraph)


def pose_matrix(_obj: bpy.types.Object, bone: bpy.types.PoseBone) -> Matrix:
    """Where an evaluated bone is in armature space.

    Args:
        _obj: the armature.
        bone: the bone.
    """
    return bone.matrix


def local_matrix(obj: bpy.types.Object, bone: bpy.types.PoseBone) -> Matrix:
    """What the channels of an evaluated bone would be if nothing else moved it.

    Args:
        obj: the armature.
        bone: the bone.
    """
    return obj.convert_space(
        pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL"
    )


class Look(NamedTuple):
    """Bones that are looked at.

    Attributes:
        rig: their armature.
        bones: their names.
        frames: (n,) when.
        read: what is read of the evaluated armature and one of its bones.
        shape: of that.
    """

    rig: bpy.types.Object
    bones: Sequence[str]
    frames: np.ndarray
    read: Callable[[bpy.types.Object, bpy.types.PoseBone], object] = pose_matrix
    shape: tuple[int, ...] = (4, 4)


def matrices(
    context: bpy.types.Context, looks: Sequence[Look]
) -> Steps[list[tuple[np.ndarray, np.ndarray]]]:
    """Steps to where objects and their bones are, in one pass through the frames.

    The frame is left where it is then.

    Args:
        context: Blender's context.
        looks: what is looked at.

    Returns:
        For each (n, 4, 4) the place of its armature in the world, and (n, bones, *shape).
    """
    found = [
        (np.empty((len(look.frames), 4, 4)),
         np.empty((len(look.frames), len(look.bones), *look.shape)))
        for look in looks
    ]
    every = np.unique(np.concatenate([np.asarray(look.frames) for look in looks] or [[]]))
    passes = zip(every, through(context, every.tolist()), strict=True)
    for step, (frame, evaluated) in enumerate(passes):
        for look, (world, poses) in zip(looks, found, strict=True):
            for row in np.flatnonzero(look.frames == frame):
                obj = evaluated(look.rig)
                world[row] = obj.matrix_world
                for number, name in enumerate(look.bones):
                    poses[row, number] = look.read(obj, obj.pose.bones[name])
        yield step / len(every)
    return found


def require_evaluated(context: bpy.types.Context, rig: bpy.types.Object) -> None:
    """Refuse to look at a rig that Blender does not evaluate as it plays.

    Args:
        context: Blender's context; its view layer counts.
        rig: the rig.

    Raises:
        UserError: it is in Edit Mode, in its rest position, or not part of the view layer.
    """
    if rig.data.is_editmode:
        raise UserError(f"{rig.name} is in Edit Mode: leave it with Tab first")
    if rig.data.pose_position == "REST":
        raise UserError(
            f"{rig.name} is shown in its rest position: switch it to Pose Position "
            "(Armature properties: Pose)"
        )
    if not rig.evaluated_get(context.evaluated_depsgraph_get()).is_evaluated:
        raise UserError(
            f"{rig.name} is not part of this view layer: enable it and its collections "
            "in the Outliner (exclude and Disable in Viewports)"
        )


@contextmanager
def playing(
    context: bpy.types.Context, rig: bpy.types.Object, plays: Playing, without: Without
) -> Iterator[None]:
    """Inside, a rig plays what it plays without some keys; afterwards all is as it was.

    That is frame, subframe, what plays, and how bones were posed that nobody had keyed yet.

    Args:
        context: Blender's context; its scene counts.
        rig: the rig.
        plays: what it plays without the keys.
        without: the keys.

    Raises:
        UserError: Blender does not let it play something else just now.
    """
    data, copy = rig.animation_data, None
    former = Active.of(data) if data is not None else Active()
    last = data.last_slot_identifier if data is not None else ""
    wanted = plays.active
    muted = [] if data is None else [
        strip for track in data.nla_tracks for strip in every_strip(track.strips)
        if not strip.mute and without.silences(track, strip)
    ]
    if data is not None and data.use_tweak_mode and (wanted != former or plays.cut or plays.gone):
        raise UserError(
            f"{rig.name} is in NLA tweak mode: leave it first (Tab in the Nonlinear Animation "
            "editor)"
        )
    channels = [path for bone in rig.pose.bones.keys() for path in channel_paths(rig, bone)]
    stood = read_pose(rig, [*channels, *without.pose])
    try:
        with keep_frame(context.scene):
            try:
                for strip in muted:
                    strip.mute = True
                if plays.cut or plays.gone:
                    copy = cut_copy(plays)
                    wanted = replace(wanted, action=copy)
                if wanted != former:
                    wanted.put(data)
                restore_pose(rig, without.pose)
                yield
            finally:
                for strip in muted:
                    strip.mute = False
                if wanted != former:
                    former.put(data)
                    data.last_slot_identifier = last
                if copy is not None:
                    bpy.data.actions.remove(copy)
    finally:
        # Coming back to a frame has set what is animated to what is keyed there.
        now = read_pose(rig, stood)
        restore_pose(rig, {path: values for path, values in stood.items() if values != now[path]})
