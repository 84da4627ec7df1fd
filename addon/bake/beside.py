# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves a baked rig beside its bake: the animator's own clips, strips and drivers.

Bones that a bake keys may hang on bones of which these have the last word. A bake is made for
them as they were, and is out of date once they change.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from .. import compat
from ..digests import digest
from ..rigs.pose.animated import depended_on
from ..rigs.pose.channels import bone_of
from ..rigs.pose.fingerprint import keys_of, law_of
from . import memory
from .data import Baked

NAME = "rig's own animation"


def has_changed(armature: bpy.types.Object | None, baked: Baked | None) -> bool:
    """Whether something else moves a rig beside a bake than when it was baked.

    Args:
        armature: the rig.
        baked: its bake; one that does not know what played then has not changed.
    """
    if armature is None or baked is None or not baked.record.beside:
        return False
    return digest_of(armature, baked) != baked.record.beside


def digest_of(armature: bpy.types.Object, baked: Baked) -> str:
    """Fingerprint of what moves bones that a bake keys, or that they depend on, beside it.

    Args:
        armature: the rig.
        baked: the bake; other bakes count for nothing.
    """
    data, record = armature.animation_data, baked.record
    if data is None:
        return digest(())
    bones = depended_on(armature, {bone_of(path) for path in record.curves})
    read = {
        target.data_path for driver in data.drivers for variable in driver.driver.variables
        for target in variable.targets if target.id == armature
    }

    def told(curves: Iterable[bpy.types.FCurve]) -> list[tuple]:
        return [
            (curve.data_path, curve.array_index, keys_of(curve)) for curve in curves
            if not curve.mute and curve.data_path not in record.curves
            and (
                bone_of(curve.data_path) in bones
                or ".constraints[" in curve.data_path or curve.data_path in read
            )
        ]

    found: list[object] = [
        (moving, law_of(curve.driver)) for curve in data.drivers if (moving := told([curve]))
    ]
    current = record.target == "CURRENT" and data.action == baked.action
    if current or not any(memory.stores(data.action)):
        found.append(told(compat.action_fcurves(data.action, data.action_slot)))
    for track in data.nla_tracks if data.use_nla else ():
        for strip in track.strips:
            if track.mute or strip.mute or any(memory.stores(strip.action)):
                continue
            curves = told(compat.action_fcurves(strip.action, strip.action_slot))
            if curves:
                found.append((curves, _timing(strip, record.start, record.end)))
    return digest([one for one in found if one])


def _timing(strip: bpy.types.NlaStrip, start: float, end: float) -> tuple:
    """How a strip plays its action between two frames, wherever it goes on to."""
    offset = strip.frame_start - strip.scale * strip.action_frame_start
    return (
        strip.blend_type, strip.influence, strip.extrapolation, strip.repeat, strip.use_reverse,
        round(strip.scale, 4), round(offset, 3),
        max(strip.frame_start, start), min(strip.frame_end, end),
    )
