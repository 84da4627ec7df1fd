# SPDX-License-Identifier: GPL-3.0-or-later
"""Role maps as plain data to share: JSON with schema and version, never executed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isfinite, sqrt
from typing import Any

import numpy as np

from .names import strip_prefix
from .rolemap import BODIES, KINDS, RoleMap, is_role, role_order

SCHEMA = "poise.rig_roles"
VERSION = 1
LARGEST = 1_000_000  # characters of a file; a role map has some thousand


def to_json(found: RoleMap) -> str:
    """A role map as JSON text.

    Args:
        found: the map; its notes, doubts and controls are not kept.
    """
    data = {
        "schema": SCHEMA,
        "version": VERSION,
        "kind": found.kind,
        "body": found.body,
        "turn": [round(float(value), 9) for value in found.turn],
        "roles": {role: found.roles[role] for role in sorted(found.roles, key=role_order)},
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def from_json(text: str) -> RoleMap:
    """The role map that a JSON text holds.

    Args:
        text: what `to_json` made.

    Raises:
        ValueError: it is no role map, of a later version, or broken; the message is
            one sentence.
    """
    if len(text) > LARGEST:
        raise ValueError("the file is too large for a role map")
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"it is no JSON: {error}") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise ValueError(f'it is no role map: its "schema" is not "{SCHEMA}"')
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError('its "version" is no whole number above zero')
    if version > VERSION:
        raise ValueError(f"it is of version {version}: this Poise knows up to {VERSION}")
    kind, body = data.get("kind", "STRUCTURE"), data.get("body")
    if body not in BODIES:
        raise ValueError(f'its "body" is none of {", ".join(BODIES)}')
    return RoleMap(
        kind=kind if kind in KINDS else "STRUCTURE",
        body=body,
        roles=_roles(data.get("roles")),
        turn=_turn(data.get("turn", [1.0, 0.0, 0.0, 0.0])),
    )


def _roles(given: Any) -> dict[str, str]:
    if not isinstance(given, dict) or not given:
        raise ValueError('its "roles" are missing')
    for role, bone in given.items():
        if not is_role(role):
            raise ValueError(f"{role[:40]!r} is no role")
        if not isinstance(bone, str) or not bone or len(bone.encode(errors="replace")) > 63:
            raise ValueError(f"the bone of {role} is no name")
    if len(set(given.values())) != len(given):
        raise ValueError("one bone has two roles")
    return dict(given)


def _turn(given: Any) -> np.ndarray:
    numbers = isinstance(given, list) and len(given) == 4 and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)
        for value in given
    )
    if not numbers:
        raise ValueError('its "turn" is no quaternion')
    length = sqrt(sum(value * value for value in given))
    if not 0.5 < length < 2.0:
        raise ValueError('its "turn" is no rotation')
    return np.array(given, dtype=float) / length


def fitted(found: RoleMap, bones: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Roles of a map on a rig that may have other prefixes.

    Args:
        found: the map.
        bones: names of the rig's bones.

    Returns:
        Role -> bone of this rig, and the roles whose bones it does not have.
    """
    names = list(bones)
    known = set(names)
    plain: dict[str, list[str]] = {}
    for name in names:
        plain.setdefault(strip_prefix(name), []).append(name)
    fits: dict[str, str] = {}
    lost: list[str] = []
    for role, bone in found.roles.items():
        same = plain.get(strip_prefix(bone), [])
        if bone in known:
            fits[role] = bone
        elif len(same) == 1:
            fits[role] = same[0]
        else:
            lost.append(role)
    return fits, lost
