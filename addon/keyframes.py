# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays to F-curves in bulk; knows frames, values and data paths, nothing else.

Keys are written with `foreach_set`. The enumerations among a key's properties
(interpolation, type, handle types) are single bytes in Blender's memory: given
as bytes they are copied as a block, which is nine times as fast as the same
call with integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

import bpy
import numpy as np

# Numbers behind Blender's enumerations, as `foreach_set` takes them.
CONSTANT, LINEAR, BEZIER = 0, 1, 2
FREE, VECTOR, ALIGNED = 0, 2, 3
GENERATED = 5

# What makes up a key, with the values per key and the type of its array.
_KEY_PROPERTIES = (
    ("co", 2, np.float32),
    ("handle_left", 2, np.float32),
    ("handle_right", 2, np.float32),
    ("interpolation", 1, np.uint8),
    ("easing", 1, np.uint8),
    ("type", 1, np.uint8),
    ("handle_left_type", 1, np.uint8),
    ("handle_right_type", 1, np.uint8),
    ("amplitude", 1, np.float32),
    ("back", 1, np.float32),
    ("period", 1, np.float32),
    ("select_control_point", 1, np.bool_),
    ("select_left_handle", 1, np.bool_),
    ("select_right_handle", 1, np.bool_),
)
_NO_KEYS = {
    name: np.empty((0, width) if width > 1 else 0, kind) for name, width, kind in _KEY_PROPERTIES
}


@dataclass(frozen=True)
class Channel:
    """One animated number and its keys.

    Attributes:
        data_path: RNA path from the object that owns the action.
        index: index into the property, 0 for a single number.
        group: name of the group that the curve is listed under, or "".
        frames: (k,) key times in frames, strictly ascending; fractions allowed.
        values: (k,) values in the property's unit.
        slopes_left: (k,) slope just before each key in values per frame, or
            None for straight lines between the keys.
        slopes_right: (k,) slope just after each key, or None.
        straight: (k,) bool, True where the curve goes in a straight line from
            this key to the next although there are slopes; or None.
    """

    data_path: str
    index: int
    group: str
    frames: np.ndarray
    values: np.ndarray
    slopes_left: np.ndarray | None = None
    slopes_right: np.ndarray | None = None
    straight: np.ndarray | None = None


def curves_by_path(
    bag: bpy.types.ActionChannelbag | None,
) -> dict[tuple[str, int], bpy.types.FCurve]:
    """F-curves of a channelbag by data path and index.

    Args:
        bag: channelbag of a slot, or None for no curves.
    """
    if bag is None:
        return {}
    return {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}


def key_coordinates(channels: Sequence[Channel]) -> list[np.ndarray]:
    """Frames and values of channels as they are stored, (k, 2) float32 each.

    Args:
        channels: the keys.

    Raises:
        ValueError: values that are not finite, or frames out of order.
    """
    ordered: set[int] = set()
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
        return [_points(channel, ordered) for channel in channels]


def _points(channel: Channel, ordered: set[int]) -> np.ndarray:
    """Keys of one channel; frames that were checked before are known by their identity."""
    points = np.empty((len(channel.frames), 2), np.float32)
    points[:, 0] = channel.frames
    points[:, 1] = channel.values
    # One sum tells of most that all of its terms are finite.
    if not isfinite(points.sum()) and not np.isfinite(points).all():
        raise ValueError(f"{channel.data_path}[{channel.index}] has keys that are not finite")
    if id(channel.frames) not in ordered:
        if (points[1:, 0] <= points[:-1, 0]).any():
            raise ValueError(f"{channel.data_path}[{channel.index}] has keys out of order")
        ordered.add(id(channel.frames))
    return points


def handles(channel: Channel, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Free handles that make a curve the cubic Hermite spline through its slopes.

    With both handles a third of the way to the next key, time is linear in the
    curve's parameter and the Bezier segment is the Hermite cubic exactly.

    Args:
        channel: keys with slopes.
        points: (k, 2) the keys as they are stored.

    Returns:
        Left and right handles, (k, 2) float32 each.
    """
    frames = points[:, 0].astype(float)
    thirds = np.diff(frames) / 3.0
    before = np.concatenate((thirds[:1], thirds)) if len(thirds) else np.full(1, 1.0 / 3.0)
    after = np.concatenate((thirds, thirds[-1:])) if len(thirds) else before
    result = []
    for sign, third, slopes in (
        (-1.0, before, channel.slopes_left),
        (1.0, after, channel.slopes_right),
    ):
        handle = np.empty_like(points)
        handle[:, 0] = frames + sign * third
        # The time was rounded to single precision: take the value on the
        # tangent at that very time, so that the slope stays exact.
        handle[:, 1] = points[:, 1] + slopes * (handle[:, 0].astype(float) - frames)
        result.append(handle)
    return result[0], result[1]


def write_channels(
    bag: bpy.types.ActionChannelbag,
    channels: Iterable[Channel],
    coordinates: Sequence[np.ndarray] | None = None,
) -> list[bpy.types.FCurve]:
    """Write channels as F-curves, replacing all keys of curves that exist.

    Keys are typed Generated, their interpolation is set, and curves are listed
    under their group. Nothing else of the channelbag is touched.

    Args:
        bag: channelbag of the slot to write into.
        channels: what to write.
        coordinates: their keys as `key_coordinates` gives them, if they are there.

    Returns:
        The F-curves, in the order of the channels.

    Raises:
        ValueError: values that are not finite, or frames out of order.
    """
    existing = curves_by_path(bag)
    groups = {group.name: group for group in bag.groups}
    bytes_of: dict[tuple[int, int], np.ndarray] = {}

    def filled(count: int, number: int) -> np.ndarray:
        if (count, number) not in bytes_of:
            bytes_of[count, number] = np.full(count, number, np.uint8)
        return bytes_of[count, number]

    written = []
    channels = list(channels)
    if coordinates is None:
        coordinates = key_coordinates(channels)
    for channel, points in zip(channels, coordinates, strict=True):
        count = len(points)
        curve = existing.get((channel.data_path, channel.index))
        if curve is None:
            curve = bag.fcurves.new(channel.data_path, index=channel.index)
        if channel.group and (curve.group is None or curve.group.name != channel.group):
            if channel.group not in groups:
                groups[channel.group] = bag.groups.new(channel.group)
            curve.group = groups[channel.group]
        keys = curve.keyframe_points
        if len(keys) != count:
            keys.clear()
            keys.add(count)
        keys.foreach_set("co", points.ravel())
        keys.foreach_set("type", filled(count, GENERATED))
        if channel.slopes_left is None:
            keys.foreach_set("interpolation", filled(count, LINEAR))
            # Handles that point at the neighbours: made Bezier, the curve stays the
            # same, and Blender need not solve for smooth ones.
            kind = filled(count, VECTOR)
        else:
            left, right = handles(channel, points)
            keys.foreach_set("handle_left", left.ravel())
            keys.foreach_set("handle_right", right.ravel())
            interpolation = filled(count, BEZIER)
            if channel.straight is not None and channel.straight.any():
                interpolation = np.where(channel.straight, LINEAR, BEZIER).astype(np.uint8)
            keys.foreach_set("interpolation", interpolation)
            kind = filled(count, FREE)
        keys.foreach_set("handle_left_type", kind)
        keys.foreach_set("handle_right_type", kind)
        # The keys are in order: sorting them and looking for doubles, as `update` does,
        # would only copy them all.
        keys.handles_recalc()
        written.append(curve)
    if written:
        written[-1].update()  # tells Blender that the action has changed
    return written


@dataclass(frozen=True)
class Keys:
    """All there is to know of some keys of a curve.

    Attributes:
        arrays: property of a key -> its values, keys first.
    """

    arrays: dict[str, np.ndarray]

    @property
    def frames(self) -> np.ndarray:
        """(k,) times of the keys in frames."""
        return self.arrays["co"][:, 0]

    def where(self, mask: np.ndarray) -> Keys:
        """Those of the keys that a mask picks.

        Args:
            mask: (k,) bool.
        """
        return Keys({name: values[mask] for name, values in self.arrays.items()})


def read_keys(curve: bpy.types.FCurve, names: Iterable[str] = ()) -> Keys:
    """Read the keys of a curve, with everything that makes them up.

    Args:
        curve: any F-curve.
        names: properties of a key to read, "co" among them; all if empty.
    """
    names = set(names)
    count = len(curve.keyframe_points)
    if not count:  # as drivers have none, of which large rigs have many
        return Keys({name: none for name, none in _NO_KEYS.items() if not names or name in names})
    arrays = {}
    for name, width, kind in _KEY_PROPERTIES:
        if names and name not in names:
            continue
        flat = np.empty(count * width, kind)
        curve.keyframe_points.foreach_get(name, flat)
        arrays[name] = flat.reshape(count, width) if width > 1 else flat
    return Keys(arrays)


def evaluate(curve: bpy.types.FCurve, frames: np.ndarray) -> np.ndarray:
    """Values (n,) of a curve, as Blender interpolates it.

    Args:
        curve: any F-curve.
        frames: (n,) when; fractions allowed.
    """
    value = curve.evaluate
    return np.array([value(frame) for frame in frames.tolist()], dtype=float)


def join_keys(curve: bpy.types.FCurve, more: Keys) -> None:
    """Add keys to those that a curve has.

    Args:
        curve: the curve; none of its keys stands at the time of an added one.
        more: keys of this or another curve.
    """
    if not len(more.frames):
        return
    own = read_keys(curve)
    order = np.argsort(np.concatenate((own.frames, more.frames)), kind="stable")
    _set_keys(
        curve,
        {
            name: np.concatenate((values, more.arrays[name]))[order]
            for name, values in own.arrays.items()
        },
    )


def keep_keys(curve: bpy.types.FCurve, mask: np.ndarray) -> None:
    """Keep some keys of a curve and remove the others.

    Args:
        curve: the curve.
        mask: (k,) bool, True for keys that stay.
    """
    _set_keys(curve, read_keys(curve).where(mask).arrays)


def _set_keys(curve: bpy.types.FCurve, arrays: dict[str, np.ndarray]) -> None:
    keys = curve.keyframe_points
    keys.clear()
    keys.add(len(arrays["co"]))
    for name, _width, _kind in _KEY_PROPERTIES:
        keys.foreach_set(name, np.ascontiguousarray(arrays[name]).ravel())
    curve.update()
