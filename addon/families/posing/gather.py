# SPDX-License-Identifier: GPL-3.0-or-later
"""Read pose timing out of Blender: bones, postures, disturbances, and what plays below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ....solvers.motion import Problem
from ....solvers.posing.settings import PoseSettings, Target
from ....solvers.rotations import identity
from ...context import keep_frame
from ...errors import UserError
from ...placement import moves, world_matrix
from ...rigs.actor import Actor
from ...rigs.pose import evaluate, reader
from ...rigs.pose.posture import Posture
from ...scene.disturbances import disturbances
from ...scene.timing import SceneNumbers, frame_range
from ...settings.posing import POSTURE
from ...steps import finish
from .body import Chain, chains_of
from .job import Link, Part, Played, PosingJob

LEAST = 2.0  # frames: a target nearer to the start than this could only be jumped to


def gather(
    context: bpy.types.Context, motion: bpy.types.Object, actor: Actor, numbers: SceneNumbers
) -> PosingJob:
    """Read one motion.

    Args:
        context: Blender's context.
        motion: the Motion object.
        actor: who moves.
        numbers: rate, units and gravity.

    Raises:
        UserError: there is nothing to reach or to swing, or a bone or posture is gone.
    """
    settings, rig = motion.poise_motion.pose_timing, actor.joints
    start, end = frame_range(context.scene, motion)
    postures: list[tuple[Any, Posture]] = []
    for item in settings.targets:
        posture = Posture.kept(motion, POSTURE.format(item.number), item.name)
        if posture is None:
            raise UserError(
                f"{item.name} of {motion.name} has lost its pose: remove it, and add it anew"
            )
        postures.append((item, posture))
    reaching = {bone for _item, posture in postures for bone in posture.bones}
    swinging = {item.name: _chain_below(rig, item.name, reaching) for item in settings.overlaps}
    if not reaching and not swinging:
        raise UserError(
            f"{motion.name} has no pose to reach and nothing to swing: pose some bones, select "
            "them and click Add Target, or Add Overlap"
        )
    metres = metres_of(rig, numbers.unit_scale)
    thickness = {b.name: b.thickness * numbers.unit_scale for b in settings.bones if b.thickness}
    masses = {b.name: b.mass for b in settings.bones if b.mass}
    chains: list[tuple[Chain, object]] = [
        (chain, None) for chain in chains_of(rig, reaching, metres, thickness, masses)
    ]
    for item in settings.overlaps:
        chains += [
            (chain, item)
            for chain in chains_of(rig, swinging[item.name], metres, thickness, masses)
        ]
    told: list[Problem] = []
    stiff = [chain for chain, _item in chains if not chain.body.figure.axes.any()]
    if stiff:
        cause = f"{', '.join(bone for chain in stiff for bone in chain.bones)} cannot turn"
        remedy = "Unlock their Rotation in the Item tab, and their IK locks, or leave them out"
        if len(stiff) == len(chains):
            raise UserError(f"{cause}: {remedy[0].lower()}{remedy[1:]}")
        told.append(Problem("BONES_LOCKED", cause, "WARNING", remedy=remedy))
        chains = [pair for pair in chains if pair[0] not in stiff]
    ways = [way_to(rig, chain.carrier) for chain, _item in chains]
    needed = {link.bone for way in ways for link in way}
    needed |= {bone for chain, _item in chains for bone in chain.bones}
    under = read_below(context, rig, sorted(needed), np.arange(start, end + 1.0), actor.without)
    parts = [
        _part(motion, chain, way, item, postures, numbers, start, end, told)
        for (chain, item), way in zip(chains, ways, strict=True)
    ]
    # A carrier that moves itself comes before what it carries.
    parts.sort(key=lambda part: len(part.way))
    return PosingJob(
        name=motion.name, character=actor.name, kind=actor.kind, motion=motion.poise_motion.kind,
        start_frame=start, end_frame=end, settings=None, numbers=numbers, parts=tuple(parts),
        under=under, told=tuple(told),
    )


def metres_of(rig: bpy.types.Object, unit_scale: float) -> float:
    """Metres per unit of an armature.

    Args:
        rig: the armature object.
        unit_scale: metres per Blender unit.

    Raises:
        UserError: it is scaled to nothing.
    """
    scale = np.array([column.length for column in world_matrix(rig).to_3x3().col])
    if not np.isfinite(scale).all() or scale.min() < 1e-8:
        raise UserError(f"{rig.name} is scaled to nothing: give it a scale above zero")
    return float(scale.mean()) * unit_scale


def _chain_below(rig: bpy.types.Object, name: str, taken: Iterable[str]) -> set[str]:
    """A bone and all that hang on it, but for those that reach poses."""
    if name not in rig.data.bones:
        raise UserError(f"{rig.name} has no bone {name} to swing: remove its overlap")
    bone = rig.data.bones[name]
    return {b.name for b in (bone, *bone.children_recursive)} - set(taken)


def way_to(rig: bpy.types.Object, carrier: str) -> tuple[Link, ...]:
    """Bones from the armature to a carrier, the carrier last.

    Args:
        rig: the armature object.
        carrier: name of the bone; "" for the armature itself.
    """
    if not carrier:
        return ()
    bone = rig.data.bones[carrier]
    line = [*reversed(bone.parent_recursive), bone]
    found = []
    above = np.eye(4)
    for one in line:
        own = np.array(one.matrix_local, dtype=float)
        found.append(Link(one.name, np.linalg.inv(above) @ own))
        above = own
    return tuple(found)


def read_below(
    context: bpy.types.Context, rig: bpy.types.Object, bones: Sequence[str], frames: np.ndarray,
    without,
) -> Played:
    """What plays on bones, and where the armature goes meanwhile.

    Args:
        context: Blender's context.
        rig: the armature object.
        bones: names of the bones.
        frames: (n,) when.
        without: keys that do not count.
    """
    played = reader.played(context, rig, bones, frames, without)
    world = np.array(world_matrix(rig), dtype=float)[None]
    if moves(rig):
        with keep_frame(context.scene):
            [(world, _)] = finish(evaluate.matrices(context, [evaluate.Look(rig, [], frames)]))
    return Played(
        {name: basis.rotation for name, basis in played.bones.items()},
        {name: basis.place for name, basis in played.bones.items()},
        {name: basis.size for name, basis in played.bones.items()},
        world, played.digest,
    )


def _part(
    motion, chain: Chain, way: tuple[Link, ...], overlap, postures, numbers: SceneNumbers,
    start: int, end: int, told: list[Problem],
) -> Part:
    """One simulation."""
    settings = motion.poise_motion.pose_timing
    own = PoseSettings(
        tension=settings.tension, ratio=settings.ratio, firm=settings.gain == "FIRM",
        gravity=settings.gravity, settle=settings.settle, drag=settings.drag,
    )
    if overlap is not None:
        own = replace(own, ratio=overlap.ratio, settle=overlap.settle, trailing=True)
    blends = {b.name: b.blend for b in settings.bones}
    targets, names = ([], []) if overlap is not None else _targets(
        chain, postures, numbers, start, end, told
    )
    return Part(
        chain.bones, chain.moving, chain.body, way, own, tuple(targets), tuple(names),
        tuple(disturbances(settings.disturbances, chain.bones, chain.body.tips, numbers, start)),
        np.array([blends.get(name, 1.0) for name in chain.bones]),
    )


def _targets(
    chain: Chain, postures, numbers: SceneNumbers, start: int, end: int, told: list[Problem]
) -> tuple[list[Target], list[str]]:
    """Targets of a chain in the order of their frames, those of one frame as one."""
    index = {bone: i for i, bone in enumerate(chain.bones)}
    found: list[Target] = []
    names: list[str] = []
    for item, posture in sorted(postures, key=lambda pair: pair[0].frame):
        rows = [(index[b], k) for k, b in enumerate(posture.bones) if b in index]
        if not rows:
            continue
        if not start + LEAST <= item.frame <= end:
            told.append(Problem(
                "TARGET_OUTSIDE",
                f"{item.name} at frame {item.frame:g} is not reached: the motion goes from "
                f"{start} to {end}, and its first pose can be reached {LEAST:g} frames later",
                "WARNING", remedy="Move the target, or let the motion begin earlier or end later",
            ))
            continue
        time = (item.frame - start) / numbers.fps
        turns, joints = identity(len(index)), np.zeros(len(index), bool)
        if found and abs(found[-1].time - time) < 1e-9:
            turns, joints = found[-1].turns, found[-1].joints
            found.pop()
            names[-1] += f" and {item.name}"
        else:
            names.append(item.name)
        for i, k in rows:
            turns[i], joints[i] = posture.turns[k], True
        found.append(Target(time, turns, joints, item.hold))
    return found, names
