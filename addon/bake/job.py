# SPDX-License-Identifier: GPL-3.0-or-later
"""What decides the keys of one bake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import bpy
import numpy as np

from ..mapping.tracks import Tracks
from ..rigs.pose.constraints import Constraints
from ..rigs.pose.frames import ObjectTrack
from . import sparse
from .data import BakeOptions


@dataclass(frozen=True)
class Seen:
    """What only an evaluated rig can tell.

    Attributes:
        matrices: (1, 4, 4) the armature object in the world, or None where it moves.
        constraints: the constraints between its bones.
        moved: bones of which keys of the animator's own move what is not to be keyed.
    """

    matrices: np.ndarray | None
    constraints: Constraints
    moved: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Job:
    """Everything that decides the keys of one bake.

    Attributes:
        context: Blender's context.
        armature: the rig.
        bindings: role -> bone to key for it.
        tracks: where the roles are, or how joints are turned.
        options: how to bake.
        axes: quaternion from armature to character space.
        unit_scale: metres per Blender unit.
        held: data path -> values that its properties are keyed to.
        checked: gives role -> bone and tracks that the evaluated pose is compared with.
        carrier: where the object is, if it is keyed itself.
        seen: what was seen of the evaluated rig before.
        plain: the bones make up a skeleton that nothing else moves.
        below: the action that the rig had plays on where a new one keys nothing.
    """

    context: bpy.types.Context
    armature: bpy.types.Object
    bindings: Mapping[str, str]
    tracks: Tracks
    options: BakeOptions
    axes: np.ndarray
    unit_scale: float
    held: Mapping[str, tuple]
    checked: Callable[[], tuple[Mapping[str, str], Tracks]] | None
    carrier: ObjectTrack | None
    seen: Seen | None
    plain: bool
    below: bool

    @property
    def frames(self) -> int:
        """Number of whole frames."""
        return self.tracks.clock.count

    @property
    def end_frame(self) -> int:
        """The last of them."""
        return self.options.start_frame + self.frames - 1

    @property
    def dense(self) -> bool:
        """Whether every frame has a key."""
        return self.options.key_mode == "DENSE"

    @property
    def spacing(self) -> float:
        """Least time between two keys, in frames."""
        return sparse.key_spacing(max(abs(self.options.start_frame), abs(self.end_frame)))
