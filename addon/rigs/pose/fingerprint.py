# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of what decides what plays on bones: they change when it does, and no frame is
evaluated for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

import bpy
import numpy as np

from ... import compat, keyframes
from ...digests import digest
from .channels import bone_path
from .plays import NOTHING, Channel, Playing, Without, channel_paths, others, undecided

# What of a key has a say in values.
_SAYS = (
    "co", "interpolation", "easing", "amplitude", "back", "period",
    "handle_left", "handle_right", "handle_left_type", "handle_right_type",
)

# Properties that are at every frame what everything else makes them.
_COMPUTED = re.compile(r"(^|\.)(matrix\w*|head|tail|frame_\w+)\b")


def digest_of(
    rig: bpy.types.Object, bones: Collection[str], without: Without = NOTHING
) -> str:
    """Fingerprint of what decides what plays on bones; nothing is evaluated.

    Where a bone's own keys do not decide alone, that is everything its rig plays, and what its
    constraints and drivers look at, from one to the next. Shapes of meshes and curves among
    those do not count.

    Args:
        rig: the rig.
        bones: their names; those that are gone count as such.
        without: keys that do not count.
    """
    plays = Playing.on(rig, without)
    constrained, unsure = undecided(rig, plays)
    animated = plays.animated()
    known = sorted(name for name in bones if name in rig.pose.bones)
    told: list[object] = [known, _standing(rig, known, animated, without)]
    told.append(_told(plays, {path for name in known for path in channel_paths(rig, name)}))
    if not (constrained | unsure).isdisjoint(known):
        told.append(_everything(rig, plays, without, {}))
    return digest(told)


def _standing(
    rig: bpy.types.Object, bones: Iterable[str], animated: Collection[Channel], without: Without
) -> list[object]:
    """Modes of bones, and values of those of their channels that nothing animates."""
    found: list[object] = []
    for name in bones:
        bone = rig.pose.bones[name]
        if (f"{bone_path(name)}.rotation_mode", 0) not in animated:
            found.append(bone.rotation_mode)
        for path in channel_paths(rig, name):
            values = without.pose.get(path, getattr(bone, path.rpartition(".")[2]))
            found += [None if (path, i) in animated else v for i, v in enumerate(values)]
    return found


def _everything(
    owner: bpy.types.ID, plays: Playing, without: Without, seen: dict[bpy.types.ID, set[str]]
) -> list[object]:
    """All that moves something, and all that moves what its constraints and drivers look at.

    Of everything seen on the way the data paths are noted that have no value of their own.
    """
    channels = plays.animated()
    animated = seen[owner] = {path for path, _ in channels}
    told: list[object] = [_told(plays)]
    looks = [
        (target.id, target.data_path) for curve in plays.drivers
        for variable in curve.driver.variables for target in variable.targets
    ]
    if isinstance(owner, bpy.types.Object):
        stacks = [*owner.constraints]
        if owner.type == "ARMATURE":
            told.append(_standing(owner, owner.pose.bones.keys(), channels, without))
            told.append([
                (bone.use_inherit_rotation, bone.inherit_scale, bone.use_local_location)
                for bone in owner.data.bones
            ])
            rest = np.empty(16 * len(owner.data.bones), np.float32)
            owner.data.bones.foreach_get("matrix_local", rest)
            told.append(rest)
            stacks += [c for bone in owner.pose.bones for c in bone.constraints]
        told += [
            _value(owner, path, animated, without)
            for path in ("location", "rotation_mode", "rotation_quaternion", "rotation_euler",
                         "rotation_axis_angle", "scale")
        ]
        told.append(np.array(owner.matrix_parent_inverse))
        looks.append((owner.parent, ""))
        moving = [path for path in animated if "constraints[" in path]
        for constraint in stacks:
            told += _settings_of(constraint, moving)
            action = getattr(constraint, "action", None)
            slot = getattr(constraint, "action_slot", None)
            told += [keys_of(curve) for curve in compat.action_fcurves(action, slot)]
            both = [constraint, *getattr(constraint, "targets", ())]
            looks += [(getattr(one, "target", None), "") for one in both]
    for other, path in looks:
        if other is None:
            continue
        if other not in seen:
            told += _everything(other, Playing.on(other), NOTHING, seen)
        if path:
            told.append(_value(other, path, seen[other], without if other == owner else NOTHING))
    return told


def _value(
    owner: bpy.types.ID, path: str, animated: Collection[str], without: Without
) -> object:
    """What a property has that nothing animates, or None."""
    whole = re.sub(r"\[\d+\]$", "", path)
    if whole in animated or _COMPUTED.search(path):
        return None
    if whole in without.pose:
        return without.pose[whole]
    try:
        value = owner.path_resolve(path)
    except ValueError:
        return None  # of nothing that is there
    if isinstance(value, (bool, int, float, str)):
        return value
    return np.array(value).tolist() if hasattr(value, "__len__") else None


def _told(plays: Playing, paths: Collection[str] | None = None) -> list[object]:
    """What plays of some data paths, on which the active action has the last word; or all."""
    found: list[object] = [
        (channel, keys_of(curve, plays.cut.get(channel)))
        for channel, curve in sorted(plays.curves.items(), key=lambda item: item[0])
        if paths is None or channel[0] in paths
    ]
    if paths is not None:
        return found
    if not plays.alone:
        found.append((plays.active.blend_type, plays.active.influence,
                      plays.active.extrapolation))
    for strip in plays.strips:
        moving = ["strip_time", *["influence"] * strip.use_animated_influence]
        curves = [*compat.action_fcurves(strip.action, strip.action_slot), *strip.fcurves]
        found.append((_settings(strip, moving), [
            (curve.data_path, curve.array_index, keys_of(curve)) for curve in curves
        ]))
    found += [(d.data_path, d.array_index, keys_of(d), law_of(d.driver)) for d in plays.drivers]
    return found


def keys_of(curve: bpy.types.FCurve, cut: tuple[float, float] | None = None) -> tuple:
    """What a curve says over time.

    Args:
        curve: the curve.
        cut: first and last frame of keys that do not count.
    """
    keys = keyframes.read_keys(curve, _SAYS)
    if cut is not None:
        keys = keys.where(others(keys.frames, cut))
    for side in ("left", "right") if len(keys.frames) else ():
        # Handles that Blender sets follow from the keys, those that do not count among them.
        own = np.isin(keys.arrays[f"handle_{side}_type"], (keyframes.FREE, keyframes.ALIGNED))
        keys.arrays[f"handle_{side}"] *= own[:, None]
    samples = [tuple(point.co) for point in curve.sampled_points]
    return (
        curve.extrapolation, keys.arrays, samples,
        [_settings(modifier) for modifier in curve.modifiers],
    )


def law_of(driver: bpy.types.Driver) -> tuple:
    """What a driver computes, and of what.

    Args:
        driver: the driver.
    """
    return driver.type, driver.expression, [
        (variable.name, variable.type, [_settings(target) for target in variable.targets])
        for variable in driver.variables
    ]


# What is no setting of a constraint, a strip, a modifier or a driver's target, does nothing, or
# is told by its keys.
_SAYS_NOTHING = {
    "rna_type", "name", "show_expanded", "active", "select", "is_valid", "error_location",
    "error_rotation", "is_override_data", "action", "action_slot",
}


def _settings(of, moving: Collection[str] = ()) -> list[tuple[str, object]]:
    """Names and values of all settings but some; of what they point to, names."""
    found: list[tuple[str, object]] = []
    for name, kind in _names(of.bl_rna):
        if name not in moving:
            value = getattr(of, name)
            if kind == "POINTER":
                value = getattr(value, "name", None)
            found.append((name, np.ravel(value).tolist() if kind == "ARRAY" else value))
    return found


@lru_cache(maxsize=256)
def _names(kind: bpy.types.Struct) -> list[tuple[str, str]]:
    """Name and type of the settings of a kind of things."""
    return [
        (one.identifier, "ARRAY" if getattr(one, "is_array", False) else one.type)
        for one in kind.properties
        if one.identifier not in _SAYS_NOTHING and one.type != "COLLECTION"
    ]


def _settings_of(constraint: bpy.types.Constraint, animated: Collection[str]) -> list[object]:
    """Settings of a constraint but those that are animated, and its targets'."""
    path = f"{constraint.path_from_id()}."
    own = [name.removeprefix(path) for name in animated if name.startswith(path)]
    several = getattr(constraint, "targets", ())
    return [*_settings(constraint, own), *(_settings(target) for target in several)]
