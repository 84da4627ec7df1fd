# SPDX-License-Identifier: GPL-3.0-or-later
"""What plays on a rig (action, NLA strips, drivers), with or without some keys.

Nothing is written or evaluated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import bpy
import numpy as np

from ... import compat, keyframes
from . import constraints, rotation_modes
from .channels import bone_of, bone_path

Channel = tuple[str, int]
"""Data path and index."""


@dataclass(frozen=True)
class Active:
    """An action as a rig's active one.

    Attributes:
        action: the action, or None.
        slot: handle of the slot that is played.
        blend_type: how it is blended with strips below it.
        influence: how much of it counts there.
        extrapolation: what it does beyond its ends there.
    """

    action: bpy.types.Action | None = None
    slot: int = 0
    blend_type: str = "REPLACE"
    influence: float = 1.0
    extrapolation: str = "HOLD"

    @classmethod
    def of(cls, data: bpy.types.AnimData) -> Active:
        """That of a rig as it is.

        Args:
            data: its animation data.
        """
        slot = data.action_slot
        return cls(
            data.action, 0 if slot is None else slot.handle, data.action_blend_type,
            data.action_influence, data.action_extrapolation,
        )

    def put(self, data: bpy.types.AnimData) -> None:
        """Let a rig play it.

        Args:
            data: its animation data.
        """
        data.action = self.action
        if self.action is not None:
            data.action_slot = compat.slot_by_handle(self.action, self.slot)
        data.action_blend_type, data.action_influence = self.blend_type, self.influence
        data.action_extrapolation = self.extrapolation


def sounding(active: Active) -> Iterator[bpy.types.FCurve]:
    """The F-curves of an action that are not muted.

    Args:
        active: the action and its slot.
    """
    slot = compat.slot_by_handle(active.action, active.slot)
    for curve in compat.action_fcurves(active.action, slot):
        if not (curve.mute or curve.is_empty or (curve.group is not None and curve.group.mute)):
            yield curve


@dataclass(frozen=True)
class Without:
    """Keys on a rig that do not count, and what is there in their place.

    Attributes:
        actions: those of which no key counts: their strips do not play.
        tracks: names of NLA tracks that do not play.
        active: what is active then; None for what is.
        keys: curve of the active action -> first and last frame of keys that do not count.
        pose: data path -> values that properties have without all these keys.
    """

    actions: frozenset[bpy.types.Action] = frozenset()
    tracks: frozenset[str] = frozenset()
    active: Active | None = None
    keys: Mapping[Channel, tuple[float, float]] = field(default_factory=dict)
    pose: Mapping[str, tuple] = field(default_factory=dict)

    def silences(self, track: bpy.types.NlaTrack, strip: bpy.types.NlaStrip) -> bool:
        """Whether a strip does not play then.

        Args:
            track: the track.
            strip: a strip of it.
        """
        return track.name in self.tracks or strip.action in self.actions


NOTHING = Without()


@dataclass(frozen=True)
class Playing:
    """What plays on a rig.

    Attributes:
        data: its animation data, or None.
        active: its active action.
        curves: what that says of its properties.
        cut: those of the curves of which some keys do not count, and which.
        gone: curves of the action of which no key counts.
        strips: NLA strips that play.
        drivers: what drives its properties.
        alone: whether the active action has the last word on what it has curves for.
    """

    data: bpy.types.AnimData | None
    active: Active
    curves: Mapping[Channel, bpy.types.FCurve]
    cut: Mapping[Channel, tuple[float, float]]
    gone: frozenset[Channel]
    strips: tuple[bpy.types.NlaStrip, ...]
    drivers: tuple[bpy.types.FCurve, ...]
    alone: bool

    @classmethod
    def on(cls, rig: bpy.types.ID, without: Without = NOTHING) -> Playing:
        """Find out.

        Args:
            rig: the rig, or anything else that is animated.
            without: keys that do not count.
        """
        data = getattr(rig, "animation_data", None)
        if data is None:
            return cls(None, Active(), {}, {}, frozenset(), (), (), True)
        active, keys = Active.of(data), without.keys
        if without.active is not None:
            active, keys = without.active, {}
        strips = [] if not data.use_nla else [
            strip for track in data.nla_tracks if not track.mute
            for strip in every_strip(track.strips)
            if not (strip.mute or without.silences(track, strip))
        ]
        curves, cut, gone = {}, {}, set()
        for curve in sounding(active):
            channel = curve.data_path, curve.array_index
            if channel in keys:
                frames = keyframes.read_keys(curve, ["co"]).frames
                if not others(frames, keys[channel]).any():
                    gone.add(channel)
                    continue
                cut[channel] = keys[channel]
            curves[channel] = curve
        plain = active.blend_type == "REPLACE" and active.influence == 1.0
        alone = not strips or (plain and active.extrapolation == "HOLD")
        alone = alone and not (data.use_tweak_mode or any(t.is_solo for t in data.nla_tracks))
        drivers = tuple(driver for driver in data.drivers if not driver.mute)
        return cls(
            data, active, curves, cut, frozenset(gone), tuple(strips), drivers, alone
        )

    def uncertain(self) -> set[Channel]:
        """What only an evaluation tells the values of."""
        curves = list(self.drivers)
        for strip in self.strips:
            curves += compat.action_fcurves(strip.action, strip.action_slot)
        found = {(curve.data_path, curve.array_index) for curve in curves}
        return found if self.alone else found | set(self.curves)

    def animated(self) -> set[Channel]:
        """Everything that has no value of its own."""
        return set(self.curves) | self.uncertain()

def every_strip(strips: Iterable[bpy.types.NlaStrip]) -> Iterator[bpy.types.NlaStrip]:
    """Strips, and those inside of them.

    Args:
        strips: strips of a track.
    """
    for strip in strips:
        yield strip
        yield from every_strip(strip.strips)


def others(frames: np.ndarray, span: tuple[float, float]) -> np.ndarray:
    """(k,) bool, which keys are outside of a span.

    Args:
        frames: (k,) their frames.
        span: first and last frame.
    """
    return (frames < span[0]) | (frames > span[1])


def cut_copy(playing: Playing) -> bpy.types.Action:
    """A copy of the active action without the keys that do not count; to be removed again.

    Args:
        playing: what plays.
    """
    copy = playing.active.action.copy()
    bag = compat.channelbag(copy, compat.slot_by_handle(copy, playing.active.slot))
    for channel, curve in keyframes.curves_by_path(bag).items():
        if channel in playing.cut:
            frames = keyframes.read_keys(curve, ["co"]).frames
            keyframes.keep_keys(curve, others(frames, playing.cut[channel]))
        elif channel in playing.gone:
            bag.fcurves.remove(curve)
    return copy


def rotation_property(bone: bpy.types.PoseBone) -> str:
    """Name of the property that holds a bone's rotation.

    Args:
        bone: the bone.
    """
    return rotation_modes.PROPERTY[bone.rotation_mode]


def channel_paths(rig: bpy.types.Object, name: str) -> tuple[str, str, str]:
    """Data paths of a bone's location, rotation and scale.

    Args:
        rig: the rig.
        name: name of the bone.
    """
    base = bone_path(name)
    return f"{base}.location", f"{base}.{rotation_property(rig.pose.bones[name])}", f"{base}.scale"


def undecided(rig: bpy.types.Object, plays: Playing) -> tuple[set[str], set[str]]:
    """Bones that constraints may move, or another mode, and those whose channels only an
    evaluation tells.

    Args:
        rig: the rig.
        plays: what plays on it.
    """
    unsure, constrained = set(), set()
    for path, _ in plays.uncertain():
        unsure.add(bone_of(path))
    for path, _ in plays.animated():
        if ".constraints[" in path or path.endswith(".rotation_mode"):
            constrained.add(bone_of(path))
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            if bone.name not in constrained and not constraints.acts(constraint):
                continue
            constrained.add(bone.name)
            if constraint.type in constraints.CHAINED:
                chain = [*[bone] * getattr(constraint, "use_tail", True), *bone.parent_recursive]
                constrained |= {b.name for b in chain[: constraint.chain_count or None]}
    return constrained - {""}, unsure - {""}
