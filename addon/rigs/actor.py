# SPDX-License-Identifier: GPL-3.0-or-later
"""Who moves: any armature, whether Poise made it, drives it by its controls, or neither."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from ..mapping.registry import MAPPINGS, BodyMapping
from . import characters, control_rig


@dataclass(frozen=True)
class Actor:
    """An armature, and what is known of it.

    Attributes:
        armature: the armature object that is keyed.
        kind: kind of character that Poise made it as ("SKIER"), "" for none.
    """

    armature: bpy.types.Object
    kind: str

    @classmethod
    def of(cls, armature: bpy.types.Object) -> Actor:
        """Who an armature is.

        Args:
            armature: the armature object.
        """
        return cls(armature, characters.kind_of(armature))

    @property
    def name(self) -> str:
        """What the animator calls it."""
        return self.armature.name

    @property
    def family(self) -> str:
        """Family of motions that its kind is made for, "" of none."""
        return characters.KINDS[self.kind].family if self.kind else ""

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
