# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint tracks as channels of bones, each in its own rotation mode, and what bones they turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import degrees

import bpy
import numpy as np

from ....solvers import rotations
from ....solvers.motion import Problem
from ...mapping.links import Links
from ...mapping.tracks import JointTracks, Spin
from ...placement import world_matrix
from . import rotation_modes
from .channels import BoneTrack

SEEN = 1e-4  # radians, metres: what a lock takes away below that is not told


def links_of(
    armature: bpy.types.Object, unit_scale: float, below: JointTracks | None = None
) -> Links:
    """An armature's bones as they hang on each other at rest.

    Args:
        armature: the armature object.
        unit_scale: metres per Blender unit.
        below: how they are turned without a motion; None at rest.
    """
    bones = {bone.name: bone for bone in armature.data.bones}  # parents first
    rests = {name: np.array(bone.matrix_local, dtype=float) for name, bone in bones.items()}
    parents = {name: bone.parent.name if bone.parent else "" for name, bone in bones.items()}
    inner = {
        name: np.linalg.inv(rests[parents[name]]) @ rest if parents[name] else rest
        for name, rest in rests.items()
    }
    world = np.diag((unit_scale, unit_scale, unit_scale, 1.0)) @ np.array(world_matrix(armature))
    return Links(parents, inner, {n: bone.length for n, bone in bones.items()}, world, below)


def as_keyed(
    bone: bpy.types.PoseBone, tracks: JointTracks, rows: slice | np.ndarray
) -> BoneTrack:
    """A bone's channels in its own rotation mode, as if it had no locks.

    Args:
        bone: the bone.
        tracks: how joints are turned.
        rows: which rows of the tracks.
    """
    mode, name = bone.rotation_mode, bone.name
    turned = location = None
    if name in tracks.turn:
        turn, spin = rotations.normalise(tracks.turn[name][rows]), tracks.spins.get(name)
        if spin is None:
            turned = rotation_modes.to_mode(turn, mode)
        else:
            angle = spin.angle[rows]
            turned = rotation_modes.to_mode(turn, mode, angle, spin.axis)
            turned = _counted(turned, mode, Spin(angle, spin.axis))
    if name in tracks.place:
        location = np.asarray(tracks.place[name][rows], dtype=float)
    return BoneTrack(name, name, rotation_modes.PROPERTY[mode], location, turned)


def _counted(values: np.ndarray, mode: str, spin: Spin) -> np.ndarray:
    """Angles with the whole turns that a bone has spun before the first row."""
    turns = 2.0 * np.pi * np.round(spin.angle[0] / (2.0 * np.pi))
    found = values.copy()
    if mode == "AXIS_ANGLE":
        found[:, 0] += turns * np.sign(values[0, 1:] @ spin.axis)
    elif mode != "QUATERNION":
        main = int(np.argmax(np.abs(spin.axis)))
        found[:, main] += turns * np.sign(spin.axis[main])
    return found


def channels(
    armature: bpy.types.Object, tracks: JointTracks, rows: slice | np.ndarray, size: float
) -> tuple[list[BoneTrack], set[tuple[str, int]], tuple[Problem, ...]]:
    """Channels of bones whose own channels decide them.

    Args:
        armature: the rig.
        tracks: how they are turned.
        rows: which rows of the tracks.
        size: metres per unit of the armature.

    Returns:
        Their channels, data path and index of those that are locked, and so are not to be keyed,
        and what the locks take away.
    """
    found, locked, told = [], set[tuple[str, int]](), []
    moving = set(tracks.bones())
    for bone in armature.pose.bones:  # parents first
        if (name := bone.name) not in moving:
            continue
        wanted = as_keyed(bone, tracks, rows)
        track, fixed = unlocked(bone, wanted)
        found.append(track)
        locked |= fixed
        off, problem = _taken(bone, wanted, track, size)
        if off is not None and problem:
            row = int(np.argmax(off))
            told.append(Problem(
                "LOCKED", f"Bone {name} of {armature.name} is locked: it is off by up to {problem}",
                time=float(tracks.time[rows][row] - tracks.time[0]), bone=name,
                amount=float(off[row]),
                remedy="Unlock its transforms, if it is to go along",
            ))
    return found, locked, tuple(told)


def unlocked(
    bone: bpy.types.PoseBone, track: BoneTrack
) -> tuple[BoneTrack, set[tuple[str, int]]]:
    """Channels with locked ones as they stand, and which those are.

    Args:
        bone: the bone.
        track: its channels as if it had no locks.
    """
    fixed: set[tuple[str, int]] = set()

    def hold(name: str, values: np.ndarray, locks: Iterable[bool]) -> np.ndarray:
        rows = np.flatnonzero(list(locks))
        fixed.update((track.path(name), int(row)) for row in rows)
        held = values.copy()
        held[:, rows] = np.array(getattr(bone, name), dtype=float)[rows]
        return held

    location, rotation, mode = track.location, track.rotation, bone.rotation_mode
    if location is not None and any(bone.lock_location):
        location = hold("location", location, bone.lock_location)
    if rotation is not None and any(bone.lock_rotation):
        if rotation.shape[1] == 3:
            rotation = hold(track.property, rotation, bone.lock_rotation)
        elif all(bone.lock_rotation):
            rotation = hold(track.property, rotation, (True,) * 4)
        else:  # locks are about axes, of which quaternions know none
            standing = np.array(getattr(bone, track.property), dtype=float)[None]
            now, angles = (
                rotations.to_euler(rotation_modes.from_mode(values, mode), "XYZ")
                for values in (standing, rotation)
            )
            angles = np.where(bone.lock_rotation, now, angles)
            rotation = rotation_modes.to_mode(rotations.from_euler(angles, "XYZ"), mode)
    return replace(track, location=location, rotation=rotation), fixed


def _taken(
    bone: bpy.types.PoseBone, wanted: BoneTrack, track: BoneTrack, size: float
) -> tuple[np.ndarray | None, str]:
    """How far locks take a bone from where it is wanted, by row, and that in words."""
    if wanted.rotation is not None and track.rotation is not None:
        one, other = (
            rotation_modes.from_mode(t.rotation, bone.rotation_mode) for t in (wanted, track)
        )
        off = 2.0 * np.arccos(np.minimum(np.abs((one * other).sum(axis=1)), 1.0))
        if off.max() > SEEN:
            return off, f"{degrees(off.max()):.1f}°"
    if wanted.location is not None and track.location is not None:
        off = np.linalg.norm(wanted.location - track.location, axis=1) * size
        if off.max() > SEEN:
            return off, f"{1000 * off.max():.1f} mm"
    return None, ""
