# SPDX-License-Identifier: GPL-3.0-or-later
"""Who moves: any armature, whether Poise made it, drives it by its controls, or neither."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from ..mapping.registry import MAPPINGS, BodyMapping
from . import characters, machines
from .controls import control_rig
from .pose.plays import NOTHING, Without


@dataclass(frozen=True)
class Actor:
    """An armature, and what is known of it.

    Attributes:
        armature: the armature object that is keyed.
        kind: kind of character that Poise made it as ("SKIER"), "" for none.
        without: keys on its joints that do not count for a motion that lies on what plays:
            its own, and those of motions that lie on it.
    """

    armature: bpy.types.Object
    kind: str
    without: Without = NOTHING

    @classmethod
    def of(cls, armature: bpy.types.Object, without: Without = NOTHING) -> Actor:
        """Who an armature is.

        Args:
            armature: the armature object.
            without: keys that do not count.
        """
        return cls(armature, characters.kind_of(armature), without)

    @property
    def joints(self) -> bpy.types.Object:
        """The armature whose joints are posed: the rig that it drives, or itself."""
        return control_rig.rig_of(self.armature) or self.armature

    @property
    def name(self) -> str:
        """What the animator calls it."""
        return self.armature.name

    @property
    def family(self) -> str:
        """Family of motions that its kind is made for, "" of none."""
        return characters.KINDS[self.kind].family if self.kind else ""

    @property
    def machine(self) -> str:
        """What mechanical figure it is ("PENDULUM"), "" of none."""
        return machines.machine_of(self.armature)

    @property
    def mapping(self) -> BodyMapping | None:
        """What moves its body; None where Poise knows no body."""
        return MAPPINGS.get(self.kind)

    @property
    def has_gaze(self) -> bool:
        """Whether it has eyes that can be turned."""
        return characters.has_gaze(self.armature)

    @property
    def armless(self) -> tuple[str, ...]:
        """Sides on which the rig that it drives has no arm."""
        return tuple(control_rig.armless(self.armature)) if self.kind else ()
