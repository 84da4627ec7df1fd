# SPDX-License-Identifier: GPL-3.0-or-later
"""Sequences of postures as JSON texts. They are read with suspicion: files come from anywhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from ....solvers import rotations
from ...rigs.pose.posture import Posture

SCHEMA, VERSION = "poise.postures", 1
LARGEST = 50_000_000  # characters
MOST_TURNS = 100


@dataclass(frozen=True)
class Entry:
    """A posture in a list.

    Attributes:
        name: what the animator calls it.
        frame: when it is taken.
        bears: legs and arms that bear the body.
        turns: whole turns on the way to it.
        posture: how bones stand.
    """

    name: str
    frame: float
    bears: tuple[str, ...]
    turns: tuple[int, ...]
    posture: Posture


def to_json(entries: Sequence[Entry]) -> str:
    """The text of a sequence.

    Args:
        entries: its postures in order.
    """
    rows = [
        {
            "name": one.name, "frame": one.frame, "bears": list(one.bears),
            "turns": list(one.turns),
            "bones": {
                bone: [*turn.tolist(), *place.tolist()] for bone, turn, place in zip(
                    one.posture.bones, one.posture.turns, one.posture.places, strict=True
                )
            },
        }
        for one in entries
    ]
    data = {"schema": SCHEMA, "version": VERSION, "postures": rows}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def from_json(text: str) -> list[Entry]:
    """The sequence that a text holds.

    Args:
        text: what `to_json` made.

    Raises:
        ValueError: it is no sequence, of a later version, or broken; the message is one
            sentence.
    """
    if len(text) > LARGEST:
        raise ValueError("it is too large for postures")
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"it is no JSON: {error}") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise ValueError(f'it holds no postures: its "schema" is not "{SCHEMA}"')
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError('its "version" is no whole number above zero')
    if version > VERSION:
        raise ValueError(f"it is of version {version}: this Poise knows up to {VERSION}")
    rows = data.get("postures")
    if not isinstance(rows, list) or not rows:
        raise ValueError('its "postures" are missing')
    return [_entry(row, k + 1) for k, row in enumerate(rows)]


def _entry(row: Any, number: int) -> Entry:
    at = f"in posture {number}"
    if not isinstance(row, dict):
        raise ValueError(f"{at} there are no values")
    name, bears, bones = row.get("name"), row.get("bears"), row.get("bones")
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f'{at} the "name" is missing')
    [frame] = _numbers([row.get("frame")], 1, f'{at} the "frame"')
    if not isinstance(bears, list) or not all(isinstance(limb, str) for limb in bears):
        raise ValueError(f'{at} "bears" is no list of legs and arms')
    turns = _numbers(row.get("turns", [0, 0, 0]), 3, f'{at} the "turns"')
    if any(turn != round(turn) or abs(turn) > MOST_TURNS for turn in turns):
        raise ValueError(f'{at} the "turns" are not whole')
    if not isinstance(bones, dict) or not bones:
        raise ValueError(f'{at} the "bones" are missing')
    table = np.array([_numbers(x, 7, f"{at} the bone {bone[:63]}") for bone, x in bones.items()])
    if (np.abs(np.linalg.norm(table[:, :4], axis=1) - 1.0) > 0.5).any():
        raise ValueError(f"{at} a bone has no rotation")
    posture = Posture(
        tuple(bones), rotations.normalise(table[:, :4]), table[:, 4:], np.zeros((len(table), 3))
    )
    whole = tuple(int(turn) for turn in turns)
    return Entry(" ".join(name.split()), frame, tuple(bears), whole, posture)


def _numbers(given: Any, count: int, what: str) -> list[float]:
    good = isinstance(given, list) and len(given) == count and all(
        isinstance(x, (int, float)) and not isinstance(x, bool) and isfinite(x) and abs(x) < 1e9
        for x in given
    )
    if not good:
        raise ValueError(f"{what} is not made of {count} numbers" if count > 1 else
                         f"{what} is no number")
    return [float(x) for x in given]
