# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays and texts kept with data-blocks, as groups of custom properties.

A group says what it holds (its schema and the schema's version) and has a digest of it all, so
that what something else has changed is not taken for what was kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import bpy
import numpy as np

Values = dict[str, "np.ndarray | str"]

_SCHEMA, _VERSION, _HOLDS, _DIGEST = "schema", "version", "holds", "digest"

# What reading a custom property raises that is not what `put` wrote.
SPOILT = (ValueError, TypeError, KeyError, AttributeError, OverflowError)


class Spoilt(ValueError):
    """What is kept is not what was put there; the text says what is wrong with it."""


def put(
    owner: bpy.types.ID, name: str, schema: str, version: int,
    held: Mapping[str, np.ndarray | str],
) -> None:
    """Keep arrays and texts with a data-block, in place of what the property held.

    Args:
        owner: a local data-block.
        name: name of the custom property.
        schema: what they are.
        version: version of the schema, from 1.
        held: texts, and arrays of 32-bit integers or of numbers of single or double precision,
            which are kept flat.
    """
    flat = {
        key: value if isinstance(value, str) else np.ascontiguousarray(value).ravel()
        for key, value in held.items()
    }
    owner[name] = {}
    group = owner[name]
    for key, value in flat.items():
        group[key] = value
    group[_SCHEMA], group[_VERSION] = schema, version
    group[_HOLDS], group[_DIGEST] = " ".join(flat), _digest(flat)


def get(owner: bpy.types.ID, name: str, schema: str, version: int) -> Values | None:
    """What `put` kept; None where there is nothing.

    Args:
        owner: the data-block.
        name: name of the custom property.
        schema: what it has to be.
        version: the latest version that is understood.

    Returns:
        Flat arrays and texts. Whatever else has been put into the group is left out.

    Raises:
        Spoilt: it is something else, of a later version, or was changed.
    """
    if name not in owner:
        return None
    try:
        return _read(owner[name], schema, version)
    except SPOILT as error:
        raise error if isinstance(error, Spoilt) else Spoilt("it is not what was kept") from error


def _read(group, schema: str, version: int) -> Values:
    if _SCHEMA not in group.keys():  # kept before groups said what they are
        return {k: np.array(v) for k, v in group.items() if hasattr(v, "typecode")}
    if group[_SCHEMA] != schema:
        raise Spoilt(f"it is of another kind, {group[_SCHEMA]}")
    if group[_VERSION] > version:
        raise Spoilt("it was made by a later version of Poise")
    held = {
        key: group[key] if isinstance(group[key], str) else np.array(group[key])
        for key in group[_HOLDS].split()
    }
    if _digest(held) != group[_DIGEST]:
        raise Spoilt("something else has changed it")
    return held


def _digest(held: Mapping[str, np.ndarray | str]) -> str:
    hasher = hashlib.sha1(usedforsecurity=False)
    for key, value in held.items():
        hasher.update(key.encode() + b"=")
        hasher.update(value.encode() if isinstance(value, str) else value.data)
    return hasher.hexdigest()[:16]
