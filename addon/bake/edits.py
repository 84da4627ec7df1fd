# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys as they were baked, and what the animator has changed since.

The record holds a digest per curve. The keys themselves stay with the action
as a custom property, so that an edit can be told apart from the bake and kept
as a difference when the bake underneath changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...solvers import rotations
from .. import compat, keyframes
from .. import store as kept
from . import memory
from .data import Baked, BakeRecord

# What the custom property of a bake's keys is, see `kept.put`.
SCHEMA, VERSION = "poise.keys", 1


@dataclass(frozen=True)
class StoredCurve:
    """Keys as Blender stores them.

    Attributes:
        points: (k, 2) float32 frames and values.
        left: (k, 2) float32 left handles, or None for straight lines.
        right: (k, 2) float32 right handles, or None.
        interpolation: (k,) uint8.
    """

    points: np.ndarray
    left: np.ndarray | None
    right: np.ndarray | None
    interpolation: np.ndarray

    def digest(self) -> str:
        """Short fingerprint of the keys."""
        # Not against forgery: processors have it built in.
        hasher = hashlib.sha1(usedforsecurity=False)
        for part in (self.points, self.interpolation, self.left, self.right):
            if part is not None:
                hasher.update(np.ascontiguousarray(part).data)
        return hasher.hexdigest()[:16]

    def evaluate(self, frames: np.ndarray) -> np.ndarray:
        """Values (n,) at some frames, constant beyond the ends.

        Args:
            frames: (n,).
        """
        x, y = self.points.astype(float).T
        straight = np.interp(frames, x, y)
        if self.left is None or self.right is None or len(x) < 2:
            return straight
        s = np.clip(np.searchsorted(x, frames, side="right") - 1, 0, len(x) - 2)
        t = np.clip((frames - x[s]) / (x[s + 1] - x[s]), 0.0, 1.0)
        inner = 1.0 - t
        # Handles a third of the way: time is linear in the parameter.
        curve = (
            inner**3 * y[s]
            + 3.0 * inner**2 * t * self.right[s, 1]
            + 3.0 * inner * t**2 * self.left[s + 1, 1]
            + t**3 * y[s + 1]
        )
        return np.where(self.interpolation[s] == keyframes.BEZIER, curve, straight)


def stored_curve(channel: keyframes.Channel, points: np.ndarray) -> StoredCurve:
    """What writing a channel leaves in Blender.

    Args:
        channel: the channel.
        points: (k, 2) its keys as they are stored.
    """
    if channel.slopes_left is None:
        return StoredCurve(points, None, None, np.full(len(points), keyframes.LINEAR, np.uint8))
    left, right = keyframes.handles(channel, points)
    interpolation = np.full(len(points), keyframes.BEZIER, np.uint8)
    if channel.straight is not None:
        interpolation[channel.straight] = keyframes.LINEAR
    return StoredCurve(points, left, right, interpolation)


def read_curve(curve: bpy.types.FCurve, start: float, end: float, sparse: bool) -> StoredCurve:
    """The keys of a curve between two frames.

    Args:
        curve: the curve.
        start: first frame.
        end: last frame.
        sparse: whether its handles matter.
    """
    names = ("co", "interpolation", "handle_left", "handle_right")
    keys = keyframes.read_keys(curve, names if sparse else names[:2])
    if np.isfinite((start, end)).any():
        keys = keys.where((keys.frames >= start) & (keys.frames <= end))
    arrays = keys.arrays
    return StoredCurve(
        arrays["co"],
        arrays["handle_left"] if sparse else None,
        arrays["handle_right"] if sparse else None,
        arrays["interpolation"],
    )


def free_name(action: bpy.types.Action) -> str:
    """A custom property that no other bake into the same action uses.

    Args:
        action: the action.
    """
    name, number = memory.STORE, 1
    while name in action:
        number += 1
        name = f"{memory.STORE}_{number}"
    return name


def store(action: bpy.types.Action, name: str, curves: Sequence[StoredCurve]) -> None:
    """Keep the keys as baked with their action.

    Args:
        action: the baked action.
        name: name of the custom property.
        curves: one per curve, in the order of the record.
    """
    sparse = [
        (c.left, c.right, c.interpolation) for c in curves
        if c.left is not None and c.right is not None
    ]
    parts = {
        "counts": np.array([len(curve.points) for curve in curves], np.int32),
        "sparse": np.array([curve.left is not None for curve in curves], np.int32),
        "points": np.concatenate([curve.points.ravel() for curve in curves]),
    }
    if sparse:
        parts["left"] = np.concatenate([left.ravel() for left, _, _ in sparse])
        parts["right"] = np.concatenate([right.ravel() for _, right, _ in sparse])
        parts["interpolation"] = np.concatenate([how for _, _, how in sparse]).astype(np.int32)
    kept.put(action, name, SCHEMA, VERSION, parts)


def load(action: bpy.types.Action, name: str) -> list[StoredCurve]:
    """Keys as they were baked; empty if they are not there.

    Args:
        action: the baked action.
        name: name of the custom property.
    """
    try:
        return _curves(kept.get(action, name, SCHEMA, VERSION) or {})
    except kept.SPOILT:
        return []


def _curves(arrays: Mapping[str, Any]) -> list[StoredCurve]:
    curves = []
    at = at_sparse = 0
    for count, sparse in zip(arrays["counts"], arrays["sparse"], strict=True):
        points = arrays["points"][2 * at : 2 * (at + count)].reshape(-1, 2)
        at += count
        if not sparse:
            interpolation = np.full(count, keyframes.LINEAR, np.uint8)
            curves.append(StoredCurve(points, None, None, interpolation))
            continue
        span = slice(2 * at_sparse, 2 * (at_sparse + count))
        interpolation = arrays["interpolation"][at_sparse : at_sparse + count].astype(np.uint8)
        at_sparse += count
        curves.append(
            StoredCurve(
                points,
                arrays["left"][span].reshape(-1, 2),
                arrays["right"][span].reshape(-1, 2),
                interpolation,
            )
        )
    return curves


def edited_channels(baked: Baked) -> list[tuple[str, int]]:
    """Curves whose keys are not what the bake wrote.

    Removed curves and curves with modifiers count too.

    Args:
        baked: a bake; an action that is gone counts as not edited.
    """
    record = baked.record
    slot = compat.slot_by_handle(baked.action, record.slot)
    existing = keyframes.curves_by_path(compat.channelbag(baked.action, slot))
    if not existing:
        return []
    sparse = _sparse_channels(baked.action, record)
    edited = []
    for path, digests in record.curves.items():
        for index, digest in digests.items():
            channel = (path, int(index))
            curve = existing.get(channel)
            if curve is None or len(curve.modifiers):
                edited.append(channel)
                continue
            if read_curve(curve, *own_span(record), channel in sparse).digest() != digest:
                edited.append(channel)
    return edited


def own_span(record: BakeRecord) -> tuple[float, float]:
    """First and last frame of the keys that belong to a bake, in its curves.

    Curves of an action made for the bake are its own. In the animator's action
    only the frames of the motion are.

    Args:
        record: the record of the bake.
    """
    if record.target == "CURRENT":
        return record.start, record.end
    return -np.inf, np.inf


def _sparse_channels(action: bpy.types.Action, record: BakeRecord) -> set[tuple[str, int]]:
    try:
        flags = tuple(action[record.store]["sparse"])
    except kept.SPOILT:
        flags = ()
    return {c for c, flag in zip(record.channels(), flags, strict=False) if flag}


def edit_differences(
    baked: Baked, edited: Sequence[tuple[str, int]]
) -> list[keyframes.Channel]:
    """What the animator's edits add to the bake, as channels of an additive layer.

    Locations and angles are differences. A quaternion is the turn that leads
    from the bake to the edit, in all four components, as Blender combines it.

    Args:
        baked: the bake that was edited.
        edited: what `edited_channels` found.

    Returns:
        Channels with a key on every frame where the edit differs.
    """
    record = baked.record
    slot = compat.slot_by_handle(baked.action, record.slot)
    existing = keyframes.curves_by_path(compat.channelbag(baked.action, slot))
    originals = dict(
        zip(record.channels(), load(baked.action, record.store), strict=False)
    )
    channels = []
    for path in dict.fromkeys(path for path, _ in edited):
        quaternion = path.endswith("rotation_quaternion")
        indices = range(4) if quaternion else [i for p, i in edited if p == path]
        indices = [i for i in indices if (path, i) in originals and (path, i) in existing]
        if not indices or (quaternion and len(indices) < 4):
            continue
        frames = np.arange(np.ceil(record.start), np.floor(record.end) + 1.0)
        for i in indices:
            frames = np.union1d(frames, originals[path, i].points[:, 0])
            keys = keyframes.read_keys(existing[path, i], ["co"]).frames
            first, last = own_span(record)
            frames = np.union1d(frames, keys[(keys >= first) & (keys <= last)])
        new = np.stack([keyframes.evaluate(existing[path, i], frames) for i in indices], axis=1)
        old = np.stack([originals[path, i].evaluate(frames) for i in indices], axis=1)
        if quaternion:
            new, old = rotations.normalise(new), rotations.normalise(old)
            change = rotations.continuous(rotations.multiply(rotations.conjugate(old), new))
            neutral = np.array([1.0, 0.0, 0.0, 0.0])
        else:
            change, neutral = new - old, np.zeros(len(indices))
        # Single precision and the Bezier solver leave noise where nothing changed.
        moved = (np.abs(change - neutral) > 2e-5 * (1.0 + np.abs(old))).any(axis=1)
        change[~moved] = neutral
        keep = moved.copy()
        keep[:-1] |= moved[1:]
        keep[1:] |= moved[:-1]
        keep[[0, -1]] = True
        group = existing[path, indices[0]].group
        channels += [
            keyframes.Channel(path, i, group.name if group else "", frames[keep], change[keep, c])
            for c, i in enumerate(indices)
        ]
    return channels


def combine_differences(
    under: Sequence[keyframes.Channel], over: Sequence[keyframes.Channel]
) -> list[keyframes.Channel]:
    """One layer that does what two on top of each other do.

    Args:
        under: differences next to the bake.
        over: differences on top of those.
    """
    both: dict[str, dict[int, list]] = {}
    for place, layer in enumerate((under, over)):
        for channel in layer:
            both.setdefault(channel.data_path, {}).setdefault(channel.index, [None, None])[
                place
            ] = channel
    combined = []
    for path, by_index in both.items():
        given = [c for pair in by_index.values() for c in pair if c is not None]
        frames = np.unique(np.concatenate([c.frames for c in given]))
        quaternion = path.endswith("rotation_quaternion")
        layers = []
        for place in (0, 1):
            columns = []
            for index, pair in by_index.items():
                channel = pair[place]
                neutral = 1.0 if quaternion and index == 0 else 0.0
                columns.append(
                    np.full(len(frames), neutral)
                    if channel is None
                    else np.interp(frames, channel.frames, channel.values)
                )
            layers.append(np.stack(columns, axis=1))
        if quaternion:
            values = rotations.continuous(
                rotations.multiply(rotations.normalise(layers[0]), rotations.normalise(layers[1]))
            )
        else:
            values = layers[0] + layers[1]
        combined += [
            keyframes.Channel(path, index, given[0].group, frames, values[:, c])
            for c, index in enumerate(by_index)
        ]
    return combined


def layer_channels(
    action: bpy.types.Action | None,
) -> list[keyframes.Channel]:
    """Differences kept in an additive action, read back.

    Args:
        action: the action of kept edits, or None.
    """
    if action is None or not action.slots:
        return []
    channels = []
    for curve in compat.action_fcurves(action, action.slots[0]):
        keys = keyframes.read_keys(curve).arrays["co"]
        channels.append(
            keyframes.Channel(
                curve.data_path,
                curve.array_index,
                curve.group.name if curve.group else "",
                keys[:, 0],
                keys[:, 1].astype(float),
            )
        )
    return channels
