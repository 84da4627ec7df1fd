# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes into a bake and what comes out of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import bpy
import numpy as np

from ...solvers.motion import Problem
from ..mapping.tracks import Tracks

VERSION = 1

# Blender's limits of the timeline.
FIRST_FRAME, LAST_FRAME = -1048574, 1048574


@dataclass(frozen=True)
class BakeOptions:
    """How a motion is baked.

    Attributes:
        start_frame: frame of the first sample; may be negative.
        key_mode: "DENSE" for a key on every frame with straight lines between,
            "SPARSE" for few keys with exact slopes.
        step: most frames between two sparse keys.
        target: "NEW" for an action of its own, "CURRENT" for the character's.
        action_name: name of a new action; empty for one made from the rig's.
        push_to_nla: put a new action on an NLA track of its own.
        on_edited: what to do with keys edited since the last bake: "ASK" (raise
            `UserError`), "OVERWRITE", "KEEP_EDITS" or "NEW_ACTION".
        between: what of a plain skeleton gets keys between frames: "NONE", "CONTACTS"
            (limbs in contact), or "ANYWHERE" (whatever would be off).
        verify: compare the evaluated pose with the tracks at up to 16 frames.
    """

    start_frame: int = 1
    key_mode: str = "DENSE"
    step: int = 4
    target: str = "NEW"
    action_name: str = ""
    push_to_nla: bool = False
    on_edited: str = "ASK"
    between: str = "CONTACTS"
    verify: bool = True


@dataclass(frozen=True)
class Former:
    """What stood on the rig before the bake.

    Attributes:
        animated: whether it had animation data at all.
        slot: handle of the slot of the former action, 0 for none.
        last_slot: Blender's own memory of the last slot's name.
        blend_type: how the active action was blended.
        influence: its influence.
        extrapolation: its extrapolation.
        track: name of the NLA track on which the action plays on below the bake, or "".
    """

    animated: bool = False
    slot: int = 0
    last_slot: str = ""
    blend_type: str = "REPLACE"
    influence: float = 1.0
    extrapolation: str = "HOLD"
    track: str = ""

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Former:
        """Read it back.

        Args:
            values: the fields by name, as they were stored; others are left out.

        Raises:
            TypeError: it is something else, or a field is of another kind.
            ValueError: a field is of another kind.
        """
        usual = cls()
        return cls(**{
            f.name: type(getattr(usual, f.name))(values[f.name])
            for f in fields(cls) if f.name in dict(values)
        })


def _frame(value: Any) -> float:
    """A frame that was stored; ValueError where it is none of Blender's."""
    if not abs(float(value)) <= LAST_FRAME + 1:
        raise ValueError("it has frames that are none")
    return float(value)


def pose_of(values: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, ...]]:
    """Data path -> values of properties, as they were stored.

    Args:
        values: the same, read from JSON.

    Raises:
        TypeError: it is something else.
    """
    found = {str(path): tuple(numbers) for path, numbers in dict(values).items()}
    if not all(isinstance(v, (int, float)) for numbers in found.values() for v in numbers):
        raise TypeError("it has values that are no numbers")
    return found


@dataclass(frozen=True)
class BakeRecord:
    """What a bake wrote, and what it needs to take it away again.

    Attributes:
        target: "NEW" or "CURRENT", as it was done.
        slot: handle of the slot written to.
        start: first keyed frame.
        end: last keyed frame.
        curves: data path -> digest of each keyed index, {"0": "..."}.
        groups: names of channel groups that the bake made.
        made_slot: whether the slot was made for the bake.
        pose: data path -> values that the bone had before the bake.
        former: what stood on the rig before.
        track: name of the NLA track of the bake, or "".
        edits_track: name of the NLA track with kept edits, or "".
        store: name of the action's custom property that holds the keys as baked.
        beside: digest of what else moved the bones, see `beside.digest_of`; "" if unknown.
    """

    target: str
    slot: int
    start: float
    end: float
    curves: Mapping[str, Mapping[str, str]]
    groups: tuple[str, ...] = ()
    made_slot: bool = False
    pose: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    former: Former = field(default_factory=Former)
    track: str = ""
    edits_track: str = ""
    store: str = ""
    beside: str = ""

    def to_json(self) -> str:
        """The record as a string, to be stored on a Motion object."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values |= {"version": VERSION, "former": asdict(self.former)}
        return json.dumps(values, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> BakeRecord:
        """Read a record back.

        Args:
            text: what `to_json` gave.

        Raises:
            ValueError: not a record, or one of a later version of Poise.
        """
        values = json.loads(text)
        if not isinstance(values, dict):
            raise ValueError("it is no record of a bake")
        if values.pop("version", 0) > VERSION:
            raise ValueError("the bake was made by a later version of Poise")
        try:
            return cls(
                target=str(values["target"]),
                slot=int(values["slot"]),
                start=_frame(values["start"]),
                end=_frame(values["end"]),
                curves={
                    str(path): {str(int(i)): str(digest) for i, digest in digests.items()}
                    for path, digests in values["curves"].items()
                },
                groups=tuple(map(str, values.get("groups", ()))),
                made_slot=bool(values.get("made_slot", False)),
                pose=pose_of(values.get("pose", {})),
                former=Former.of(values.get("former", {})),
                **{
                    name: str(values.get(name, ""))
                    for name in ("track", "edits_track", "store", "beside")
                },
            )
        except (TypeError, KeyError, AttributeError, OverflowError) as error:
            raise ValueError("it is no record of a bake") from error

    def channels(self) -> list[tuple[str, int]]:
        """Data path and index of every curve that the bake wrote."""
        return [(path, int(i)) for path, digests in self.curves.items() for i in digests]


@dataclass(frozen=True)
class Baked:
    """A bake as its owner stores it: one string and three pointers.

    Attributes:
        record: what was written.
        action: the action that holds the keys; None if it has been removed.
        former_action: the action that the rig had before, or None.
        edits_action: the action that holds kept edits, or None.
    """

    record: BakeRecord
    action: bpy.types.Action | None
    former_action: bpy.types.Action | None = None
    edits_action: bpy.types.Action | None = None


@dataclass(frozen=True)
class Check:
    """A baked rig and what its evaluated pose is to be compared with.

    Attributes:
        armature: the rig.
        bindings: role -> bone.
        tracks: what was baked.
        start_frame: frame of the first sample.
        unit_scale: metres per Blender unit.
        frames: frames to look at, counted from the start, in order.
        axes: quaternion from armature to character space.
    """

    armature: bpy.types.Object
    bindings: Mapping[str, str]
    tracks: Tracks
    start_frame: int
    unit_scale: float
    frames: tuple[int, ...]
    axes: np.ndarray


@dataclass(frozen=True)
class BakeResult:
    """What came of a bake.

    Attributes:
        baked: what the owner has to store.
        keys: number of keys written.
        frames: number of frames covered.
        bones: number of bones keyed.
        problems: where the rig does not follow the tracks, and what was done
            about edited keys.
        check: what the evaluated pose is still to be compared with, if that was put off.
    """

    baked: Baked
    keys: int
    frames: int
    bones: int
    problems: tuple[Problem, ...] = ()
    check: Check | None = None
