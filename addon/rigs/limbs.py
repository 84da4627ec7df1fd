# SPDX-License-Identifier: GPL-3.0-or-later
"""The limbs of a rig: arms, legs, necks and tails as chains of bones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import bpy

from . import characters, roles
from .recognise.rolemap import SIDES, RoleMap, is_role


@dataclass(frozen=True)
class Limb:
    """A chain of bones with an end.

    Attributes:
        name: "arm.L", "leg.R", "hind.L", "neck" ...
        bones: two or more, from the body outward.
        end: the bone beyond them whose place and turn are those of the end (hand, foot,
            head), or "": the end is the tip of the last bone.
    """

    name: str
    bones: tuple[str, ...]
    end: str = ""

    @property
    def all(self) -> tuple[str, ...]:
        """Its bones, the end among them."""
        return (*self.bones, self.end) if self.end else self.bones


def limbs_of(rig: bpy.types.Object, known: Mapping[str, str] | None = None) -> dict[str, Limb]:
    """The limbs of a rig by their names, as far as bones for them are found.

    Args:
        rig: the armature object: a character of Poise's, or any other rig.
        known: role -> bone, where an animator has set the rig up; None to find out.

    Raises:
        UserError: its bones are being edited, or it has none.
    """
    if characters.kind_of(rig):
        found = {bone.name: bone.name for bone in rig.data.bones if is_role(bone.name)}
    elif known:
        found = {role: bone for role, bone in known.items() if bone in rig.data.bones}
    else:
        found = roles.find(rig).roles
    map_ = RoleMap("STRUCTURE", "", found)
    limbs: list[Limb] = []
    for side in SIDES:
        arm = [found.get(f"{part}.{side}", "") for part in ("upper_arm", "forearm", "hand")]
        if all(arm[:2]):
            limbs.append(Limb(f"arm.{side}", tuple(arm[:2]), arm[2]))
        leg = [found.get(f"{part}.{side}", "") for part in ("thigh", "shin", "foot")]
        if all(leg[:2]):
            limbs.append(Limb(f"leg.{side}", tuple(leg[:2]), leg[2]))
        for girdle in filter(None, map_.girdles()):
            bones = map_.leg(girdle, side)
            if len(bones) > 2:
                limbs.append(Limb(f"{girdle}.{side}", tuple(bones[:-1]), bones[-1]))
            elif len(bones) == 2:
                limbs.append(Limb(f"{girdle}.{side}", tuple(bones)))
    neck, tail = map_.numbered("neck"), map_.numbered("tail")
    if len(neck) > 1:
        limbs.append(Limb("neck", tuple(neck), found.get("head", "")))
    if len(tail) > 1:
        limbs.append(Limb("tail", tuple(tail)))
    return {limb.name: limb for limb in limbs}
