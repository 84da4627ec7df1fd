# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake's one door: all that it needs to key a rig."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import bpy
import numpy as np

from ..mapping.tracks import Tracks
from ..rigs.pose.constraints import Constraints
from ..rigs.pose.frames import ObjectTrack
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
class Keyed:
    """What is to be keyed, and how.

    Attributes:
        armature: the rig.
        bindings: role -> bone to key for it; roles without a track are left. Of joint
            tracks nothing: they name bones.
        tracks: where the roles are, in metres and seconds, or how joints are turned. What
            decides a joint that constraints move is keyed in its place, see
            `rigs.pose.deciding`.
        options: how to bake.
        held: data path -> values that properties of the rig must have for the
            keyed controls to be in charge; keyed where they are not so already.
        axes: quaternion from armature to character space; None to find it.
        checked: gives role -> bone and tracks that the evaluated pose is
            compared with; None for what is keyed.
        carrier: where the object is to be, sampled as the tracks are; None
            leaves it where it is.
        seen: what `look` saw while properties had the values in `held`; None
            has Blender evaluate the rig once more. Of a bake that is replaced, bones
            alone may have had keys.
        plain: the bones make up a skeleton that nothing else moves: what they do between
            their keys is computed, and told. The tracks' contacts are then those of limbs,
            whose last bones have these roles.
        below: let the action that the rig had play on, from an NLA track below a new one, where
            that keys nothing: in jaws, tails and faces.
    """

    armature: bpy.types.Object
    bindings: Mapping[str, str]
    tracks: Tracks
    options: BakeOptions = BakeOptions()
    held: Mapping[str, tuple] = field(default_factory=dict)
    axes: np.ndarray | None = None
    checked: Callable[[], tuple[Mapping[str, str], Tracks]] | None = None
    carrier: ObjectTrack | None = None
    seen: Seen | None = None
    plain: bool = False
    below: bool = False
