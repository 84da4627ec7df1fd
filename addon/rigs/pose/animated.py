# SPDX-License-Identifier: GPL-3.0-or-later
"""What keys, strips, drivers and parents move on a rig besides a bake."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

import bpy
import numpy as np

from ... import compat, keyframes
from .channels import BONE_IN_PATH, CHANNELS, bone_of, bone_path
from .solver import Computed

# A key that differs by less from what its property has changes nothing.
SAME_VALUE = 1e-6


def animated_bones(armature: bpy.types.Object) -> set[str]:
    """Names of bones that have keys, strips or drivers.

    Args:
        armature: the rig.
    """
    return set(animated_channels(armature))


def animated_channels(armature: bpy.types.Object) -> dict[str, set[str]]:
    """Bone -> names of its properties that have keys, strips or drivers.

    Args:
        armature: the rig.
    """
    data = armature.animation_data
    return _by_bone([*_playing(armature), *(data.drivers if data is not None else ())])


def _by_bone(curves: Iterable[bpy.types.FCurve]) -> dict[str, set[str]]:
    """Bone -> names of its properties that curves are of."""
    found: dict[str, set[str]] = {}
    for curve in curves:
        match = BONE_IN_PATH.match(curve.data_path)
        if match:
            found.setdefault(bpy.utils.unescape_identifier(match[1]), set()).add(match[2])
    return found


def _playing(armature: bpy.types.Object) -> Iterator[bpy.types.FCurve]:
    """Curves of what a rig plays: its action, and strips that are not muted."""
    data = armature.animation_data
    if data is None:
        return
    yield from compat.action_fcurves(data.action, data.action_slot)
    for track in data.nla_tracks if data.use_nla else ():
        for strip in track.strips:
            if not (track.mute or strip.mute):
                yield from compat.action_fcurves(strip.action, strip.action_slot)


def displacing(armature: bpy.types.Object) -> dict[str, set[str]]:
    """Bone -> names of its properties that keys, strips or drivers change.

    Keys that say what the property is anyway, as files of engines hold for every bone,
    change nothing.

    Args:
        armature: the rig.
    """
    data = armature.animation_data
    drivers = data.drivers if data is not None else ()
    return _by_bone([*(c for c in _playing(armature) if _changes(armature, c)), *drivers])


def _changes(armature: bpy.types.Object, curve: bpy.types.FCurve) -> bool:
    """Whether a curve ever says something else than its property has."""
    if curve.mute:
        return False
    if len(curve.modifiers) or not len(curve.keyframe_points):
        return True
    values = keyframes.read_keys(curve, ["co"]).arrays["co"][:, 1]
    try:
        now = armature.path_resolve(curve.data_path)
        if hasattr(now, "__len__") and not isinstance(now, str):
            now = now[curve.array_index]
    except (ValueError, IndexError):
        return False  # of nothing that is there
    if isinstance(now, str):  # a choice: its number is not told
        return True
    return bool(np.abs(values - now).max() > SAME_VALUE)


def animated_paths(armature: bpy.types.Object) -> set[str]:
    """Data paths that have keys or strips on a rig.

    Args:
        armature: the rig.
    """
    return {curve.data_path for curve in _playing(armature)}


def moved_bones(
    armature: bpy.types.Object, keyed: Collection[str], paths: Collection[str]
) -> set[str]:
    """Bones of which the animator's own keys, or drivers, move what is not to be keyed.

    Those are left out on which no keyed bone hangs, and which drivers move by what keyed bones do.

    Args:
        armature: the rig.
        keyed: names of the bones that are to be keyed.
        paths: data paths of what is keyed.
    """
    bones, data = armature.pose.bones, armature.animation_data
    found = displacing(armature)
    if not found:
        return set()
    above = {b.name for name in keyed for b in bones[name].parent_recursive}
    moved = set()
    for name in (above | set(keyed)) & set(found):
        # A bone that is keyed turns as its own keys say, whatever else turned it.
        channels = found[name] & ({"location", "scale"} if name in keyed else CHANNELS)
        if any(f"{bone_path(name)}.{channel}" not in paths for channel in channels):
            moved.add(name)
    if not moved:  # drivers of large rigs are many
        return moved
    led = _by_bone(
        c for c in data.drivers
        if bone_of(c.data_path) in moved and _follows(armature, c, set(keyed), set())
    )
    return {name for name in moved if not led.get(name, set()) & CHANNELS}


def _follows(
    armature: bpy.types.Object, curve: bpy.types.FCurve, keyed: set[str], seen: set[str]
) -> bool:
    """Whether a driver looks at any of some bones, be it through others that are driven."""
    seen.add(curve.data_path)
    for variable in curve.driver.variables:
        for target in variable.targets:
            if target.id is not None and target.id != armature:
                if _hangs_on(target.id, armature):
                    return True
                continue
            path = re.sub(r"\[\d+\]$", "", target.data_path)
            bone = target.bone_target
            if variable.type == "SINGLE_PROP":
                others = [c for c in armature.animation_data.drivers if c.data_path == path]
                if path not in seen and any(_follows(armature, c, keyed, seen) for c in others):
                    return True
                match = BONE_IN_PATH.match(path)
                bone = bone_of(path) if match and match[2] else ""  # not properties of its own
            if depended_on(armature, [bone]) & keyed:
                return True
    return False


def _hangs_on(thing: bpy.types.ID, armature: bpy.types.Object) -> bool:
    """Whether an object is moved by an armature: by parents, or constraints of any of these."""
    while isinstance(thing, bpy.types.Object):
        if any(getattr(c, "target", None) == armature for c in thing.constraints):
            return True
        if thing.parent == armature:
            return True
        thing = thing.parent
    return False


def depended_on(armature: bpy.types.Object, names: Iterable[str]) -> set[str]:
    """Bones, those that they hang on and that constraints of theirs look at, and so on.

    Args:
        armature: the rig.
        names: the bones; "" is the object, which is always among them.
    """
    found, left = {""}, list(names)
    while left:
        bone = armature.pose.bones.get(left.pop())
        if bone is None or bone.name in found:
            continue
        found.add(bone.name)
        left += [bone.parent.name] if bone.parent is not None else []
        for constraint in bone.constraints:
            looks = [constraint, *getattr(constraint, "targets", ())]
            left += [
                look.subtarget for look in looks if getattr(look, "target", None) == armature
            ]
    return found


def moving_parents(
    armature: bpy.types.Object, keyed: set[str], constraints: Computed | None = None
) -> dict[str, str]:
    """Keyed bones that hang on an unkeyed bone which moves in ways that are not computed.

    Args:
        armature: the rig.
        keyed: names of the keyed bones.
        constraints: constraints that are computed; None for none.

    Returns:
        Keyed bone -> its parent, whose evaluated pose has to be sampled.
    """
    bones = armature.pose.bones
    animated: set[str] | None = None
    found = {}
    for name in keyed:
        parent = bones[name].parent
        if parent is None or (constraints is not None and constraints.known(parent.name)):
            continue
        above = parent
        while above is not None and above.name not in keyed:
            if animated is None:
                animated = set(displacing(armature))
            constrained = any(not c.mute and c.influence > 0.0 for c in above.constraints)
            if constrained or above.name in animated:
                found[name] = parent.name
                break
            above = above.parent
    return found


def independent(
    armature: bpy.types.Object, parents: Iterable[str], keyed: set[str]
) -> bool:
    """Whether bones move without regard to any keyed bone.

    Args:
        armature: the rig.
        parents: names of unkeyed bones.
        keyed: names of the keyed bones.
    """
    for name in parents:
        bone = armature.pose.bones[name]
        for above in (bone, *bone.parent_recursive):
            if above.name in keyed:
                return False
            for constraint in above.constraints:
                targets = [getattr(constraint, "target", None)]
                targets += [t.target for t in getattr(constraint, "targets", ())]
                if armature in targets:
                    return False
    return True
