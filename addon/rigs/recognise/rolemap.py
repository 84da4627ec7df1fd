# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bone plays which role on a rig.

Roles, one bone each:

- "root", "pelvis", "chest" (the last of the spine; it carries the shoulders, or names
  say that the spine goes on to it), "spine.1" to "spine.N" for what lies between the
  two, "neck.1" and so on, "head", "eye.L", "eye.R", and "tail.1" and so on from the
  body outward;
- "clavicle", "upper_arm", "forearm", "hand", each with ".L" and ".R";
- legs of bipeds: "thigh", "shin", "foot", "toe", each with ".L" and ".R";
- all other legs: "<girdle>.<segment>.<side>", where the girdle of a quadruped is
  "hind" or "fore", that of other bodies "leg1", "leg2" and so on from front to
  rear, and segments count from 1 from the body outward; the last one stands on
  the ground. A shoulder blade before a foreleg is its "clavicle";
- "ik_foot", "ik_hand" and "weapon", each with ".L" and ".R", for bones of game engines
  that go along with foot and hand but do not hang on them; found on request only.

No bone plays two roles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

KINDS = (
    "RIGIFY_HUMAN",
    "RIGIFY_QUADRUPED",
    "MIXAMO",
    "UNREAL",
    "VRM",
    "BVH",
    "STRUCTURE",
    "POISE",
)
BODIES = ("BIPED", "QUADRUPED", "LEGS")
SIDES = ("L", "R")
ARM = ("clavicle", "upper_arm", "forearm", "hand")
LEG = ("thigh", "shin", "foot", "toe")
ENGINE = {"ik_foot": "foot", "ik_hand": "hand", "weapon": "hand"}

_NUMBERED = re.compile(r"(spine|neck|tail)\.(\d+)$")
_SEGMENT = re.compile(r"(hind|fore|leg\d+)\.(\d+)\.([LR])$")


@dataclass(frozen=True, eq=False)
class RoleMap:
    """The roles of a rig.

    Attributes:
        kind: one of `KINDS`: whose rig it is.
        body: one of `BODIES`: how many legs it stands on.
        roles: role -> bone; on a Rigify rig the bones that carry the skin.
        unsure: roles that were guessed with doubt.
        missing: required roles that no bone was found for.
        turn: (4,) quaternion that turns armature space into character space (Z up,
            facing -Y, +X to the character's left).
        notes: sentences for the animator.
        controls: name of a control ("torso", "foot_ik.L" ...) -> bone that the
            animator of a Rigify rig moves; empty for other kinds.
        fallen: why the pose that the roles were found in is no standing figure, or "".
        places: bone -> its place in that pose, as `Skeleton.stood` takes it; empty
            for the rest pose.
    """

    kind: str
    body: str
    roles: dict[str, str]
    unsure: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    turn: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    notes: tuple[str, ...] = ()
    controls: dict[str, str] = field(default_factory=dict)
    fallen: str = ""
    places: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def numbered(self, family: str) -> list[str]:
        """Bones of "spine", "neck" or "tail", from the first to the last.

        Args:
            family: which of the three.
        """
        found = []
        for role, bone in self.roles.items():
            match = _NUMBERED.match(role)
            if match and match[1] == family:
                found.append((int(match[2]), bone))
        return [bone for _, bone in sorted(found)]

    def girdles(self) -> list[str]:
        """Pairs of legs: [""] for a biped, else "fore", "hind" or "leg1" and so on."""
        found = {match[1] for match in map(_SEGMENT.match, self.roles) if match}
        if found:
            return sorted(found, key=lambda name: (len(name), name))
        return [""] if any(f"thigh.{side}" in self.roles for side in SIDES) else []

    def leg_roles(self, girdle: str, side: str) -> list[str]:
        """Roles of one leg from the body to the ground.

        Args:
            girdle: one of `girdles()`.
            side: "L" or "R".
        """
        if not girdle:
            return [f"{part}.{side}" for part in LEG if f"{part}.{side}" in self.roles]
        found = []
        for role in self.roles:
            match = _SEGMENT.match(role)
            if match and match[1] == girdle and match[3] == side:
                found.append((int(match[2]), role))
        return [role for _, role in sorted(found)]

    def leg(self, girdle: str, side: str) -> list[str]:
        """Bones of one leg from the body to the ground.

        Args:
            girdle: one of `girdles()`.
            side: "L" or "R".
        """
        return [self.roles[role] for role in self.leg_roles(girdle, side)]


_ROLE = re.compile(
    r"root|pelvis|chest|head|(spine|neck|tail)\.[1-9]\d?|eye\.[LR]"
    rf"|({'|'.join((*ARM, *LEG, *ENGINE))})\.[LR]|(hind|fore|leg[1-9]\d?)\.[1-9]\d?\.[LR]"
)


def is_role(role: str) -> bool:
    """Whether a name is that of a role.

    Args:
        role: the name.
    """
    return _ROLE.fullmatch(role) is not None


def required(body: str, roles: Iterable[str]) -> set[str]:
    """Roles without which a body cannot be moved.

    Args:
        body: one of `BODIES`.
        roles: the roles it has.
    """
    needed = {"pelvis"}
    if body == "BIPED":
        return needed | {f"{part}.{side}" for side in SIDES for part in LEG[:3]}
    girdles = {match[1] for match in map(_SEGMENT.match, roles) if match}
    return needed | {f"{g}.{n}.{side}" for g in girdles for n in (1, 2) for side in SIDES}


def role_order(role: str) -> tuple[int, str, int, int, str]:
    """Key that sorts roles as the animator reads them: trunk, head, arms, legs, tail.

    Args:
        role: the role.
    """
    trunk = ("root", "pelvis", "spine", "chest", "neck", "head", "eye", *ARM, *LEG, *ENGINE)
    parts = role.split(".")
    rank = trunk.index(parts[0]) if parts[0] in trunk else len(trunk)
    if parts[0] == "tail":
        rank = len(trunk) + 1
    number = next((int(part) for part in parts[1:] if part.isdigit()), 0)
    side = parts[-1] if parts[-1] in SIDES else ""
    return rank, parts[0] if rank == len(trunk) else "", 0 if side != "R" else 1, number, role
