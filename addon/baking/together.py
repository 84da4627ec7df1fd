# SPDX-License-Identifier: GPL-3.0-or-later
"""What bakes of several rigs share."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import bpy

from ...solvers.motion import Problem
from .. import pipeline
from ..bake import checks, verify
from ..bake.data import Baked, BakeResult
from ..bake.keyed import Seen
from ..bake.plan import look
from ..bake.write import stands_at
from ..baked import baked_of
from ..mapping.tracks import JointTracks
from ..rigs.pose import rotation_modes
from ..rigs.pose.channels import bone_of
from .character import keyed_of
from .problems import tell


@dataclass(frozen=True)
class Unverified:
    """A bake that is still to be compared with its motion.

    Attributes:
        motion: the Motion object.
        solved: its solved job.
        result: what was written.
        resized: what is wrong with the size of the rig's limbs.
    """

    motion: bpy.types.Object
    solved: pipeline.Solved
    result: BakeResult
    resized: Sequence[Problem]


class Together:
    """What bakes of several rigs share.

    Blender evaluates the whole scene whenever a rig is looked at that changed, or at another
    frame. One rig after the other would take a herd through that as often as there are animals:
    all are looked at before the first is keyed, and compared with their motions after the last.
    """

    def __init__(self) -> None:
        self._seen: dict[int, Seen] = {}
        self._waiting: list[Unverified] = []

    def look(
        self, context: bpy.types.Context, motion: bpy.types.Object, solved: pipeline.Solved
    ) -> None:
        """Look at a rig that only a bake moves that is replaced, before any is keyed.

        Args:
            context: Blender's context.
            motion: the Motion object.
            solved: its solved job.
        """
        if isinstance(solved.tracks, JointTracks):
            return
        keyed, rig = keyed_of(motion, solved), motion.poise_motion.character
        if rig.session_uid in self._seen or not stands_at(rig, keyed.held):
            return
        if is_unkeyed(rig) or _plays_bones_of(rig, baked_of(motion)):
            paths = checks.channel_paths(rig, keyed.bindings, keyed.tracks)
            self._seen[rig.session_uid] = look(context, rig, paths, keyed.held)

    def seen(self, rig: bpy.types.Object) -> Seen | None:
        """What was seen of a rig, once: after that it is keyed.

        Args:
            rig: the rig.
        """
        return self._seen.pop(rig.session_uid, None)

    def add(self, item: Unverified) -> None:
        """Put the comparison of a rig with its motion off.

        Args:
            item: the bake.
        """
        self._waiting.append(item)

    def verify(
        self, context: bpy.types.Context, before: Collection[bpy.types.Object] | None = None
    ) -> None:
        """Compare rigs with the motions that they were baked with, and list the problems.

        Args:
            context: Blender's context.
            before: rigs that are about to be keyed again; nothing is done if none of them is
                waiting. None for all.
        """
        pairs = [(item, item.result.check) for item in self._waiting]
        several = [check for _, check in pairs if check is not None]
        if before is not None and not any(check.armature in before for check in several):
            return
        waiting, self._waiting = self._waiting, []
        found = verify.check_bakes(context, several)
        for item, off in zip(waiting, found, strict=True):
            problems = item.result.problems + tuple(off)
            tell(item.motion, item.solved, replace(item.result, problems=problems), item.resized)


def done(item: Unverified, together: Together | None) -> tuple[int, int, int]:
    """List what a bake found, or put that off; numbers of keys, frames and bones.

    Args:
        item: the bake.
        together: what it shares with bakes of other rigs, or None.
    """
    result = item.result
    if together is not None and result.check is not None:
        together.add(item)
    else:
        tell(item.motion, item.solved, result, item.resized)
    return result.keys, result.frames, result.bones


def is_unkeyed(rig: bpy.types.Object) -> bool:
    """Whether a rig plays no keys.

    Args:
        rig: the rig.
    """
    data = rig.animation_data
    return data is None or (data.action is None and not data.nla_tracks)


def _plays_bones_of(rig: bpy.types.Object, baked: Baked | None) -> bool:
    """Whether a rig plays nothing but a bake, which keys places and turns of bones and no more."""
    data = rig.animation_data
    if baked is None or data.action != baked.action or data.nla_tracks:
        return False
    keyed = {"location", *rotation_modes.PROPERTY.values()}
    return all(
        bone_of(path) and path.rpartition(".")[2] in keyed for path in baked.record.curves
    )
