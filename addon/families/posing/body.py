# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones of any armature as a figure with mass: what pose timing moves.

Links have the frames of their bones, so that a link's turn against its parent, from rest, is
the bone's own rotation as Blender keys it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ....solvers import rotations
from ....solvers.dynamics import Figure
from ....solvers.dynamics.limbs import limbs
from ....solvers.posing.settings import Body
from ...errors import UserError
from ...rigs.pose.limits import limits_of, locked_axes

# Thickness of a bone that nobody says: share of its length. Of a forearm it is 0.17, of a
# shin 0.13 (girths of Winter 2009, ch. 4, over pi and length).
THICKNESS = 0.15
THINNEST = 1e-3  # m
CLOSE = 0.1  # of a bone's length: what is nearer to its end is there
# s in which what trails settles whose bones are as long as the whole rig; and bounds. Of tails
# beside those that artists keyed: at a gallop a wolf's, of eight bones, swings as theirs with
# 0.2 s and whips with 0.35; a fox's, of three, is stiff with 0.2 and swings as theirs with 0.4.
SETTLES, SETTLES_LEAST, SETTLES_MOST = 0.9, 0.1, 0.6


@dataclass(frozen=True)
class Chain:
    """Bones that hang on one carrier, parents before their children.

    Attributes:
        bones: their names.
        carrier: the bone that carries them, "" for the armature itself.
        body: their links, in metres.
        moving: (n,) bool, those that are asked for; the others lie between them.
    """

    bones: tuple[str, ...]
    carrier: str
    body: Body
    moving: np.ndarray


def chains_of(
    rig: bpy.types.Object,
    wanted: Iterable[str],
    metres: float,
    thickness: Mapping[str, float] | None = None,
    masses: Mapping[str, float] | None = None,
) -> tuple[Chain, ...]:
    """Bones parted by what carries them; bones between those asked for come along.

    Args:
        rig: the armature object.
        wanted: names of its bones.
        metres: metres per unit of the armature.
        thickness: bone -> its diameter, m, where it is known.
        masses: bone -> kg, where it is known.

    Raises:
        UserError: a bone is gone, or does not turn with its parent.
    """
    wanted = set(wanted)
    bones = rig.data.bones
    missing = sorted(wanted - set(bones.keys()))
    if missing:
        raise UserError(f"{rig.name} has no bone {missing[0]}: take it out of the targets")
    members = set(wanted)
    for name in wanted:
        above: list[str] = []
        for parent in bones[name].parent_recursive:
            if parent.name in wanted:
                members.update(above)
                break
            above.append(parent.name)
    order = [bone.name for bone in bones if bone.name in members]
    order.sort(key=lambda name: len(bones[name].parent_recursive))
    carriers: dict[str, list[str]] = {}
    root_of: dict[str, str] = {}
    for name in order:
        bone = bones[name]
        parent = bone.parent.name if bone.parent is not None else ""
        if parent and not bone.use_inherit_rotation:
            raise UserError(
                f"Bone {name} of {rig.name} does not turn with {parent}: switch Inherit Rotation "
                "on, or leave it out"
            )
        root_of[name] = root_of.get(parent, parent) if parent in members else parent
        carriers.setdefault(root_of[name], []).append(name)
    return tuple(
        Chain(
            tuple(own), carrier,
            _body(rig, own, metres, thickness or {}, masses or {}),
            np.array([name in wanted for name in own]),
        )
        for carrier, own in carriers.items()
    )


def settle_time(rig: bpy.types.Object, first: str) -> float:
    """Settle time, s, with which a chain trails well behind what carries it.

    A bone of length l that is held with the frequency w and carried with the acceleration a
    swings by about a / (l w^2). Over a body of size H that moves to and fro by a share of H,
    a / H is the same for large and small ones, so that bones swing alike where 1 / w, and the
    settle time with it, is as the root of l / H.

    Args:
        rig: the armature object.
        first: name of the chain's first bone.
    """
    bones = rig.data.bones
    chain = (bones[first], *bones[first].children_recursive)
    names = {bone.name for bone in chain}
    length = float(np.mean([np.linalg.norm(_tip(bone, names)) for bone in chain]))
    ends = np.array([end for bone in bones for end in (bone.head_local, bone.tail_local)])
    share = length / float(np.ptp(ends, axis=0).max())
    return float(np.clip(SETTLES * np.sqrt(share), SETTLES_LEAST, SETTLES_MOST))


def _body(
    rig: bpy.types.Object, names: Sequence[str], metres: float,
    thickness: Mapping[str, float], masses: Mapping[str, float],
) -> Body:
    bones, posed = rig.data.bones, rig.pose.bones
    index = {name: i for i, name in enumerate(names)}
    count = len(names)
    parents = np.full(count, -1)
    places, rests = np.zeros((count, 3)), np.zeros((count, 4))
    axes, limits = np.zeros((count, 3, 3)), np.empty((count, 3, 2))
    tips, radii = np.zeros((count, 3)), np.zeros(count)
    for i, name in enumerate(names):
        bone = bones[name]
        own = np.array(bone.matrix_local, dtype=float)
        above = np.eye(4) if bone.parent is None else np.array(bone.parent.matrix_local)
        if bone.parent is not None and bone.parent.name in index:
            parents[i] = index[bone.parent.name]
        local = np.linalg.inv(above) @ own
        places[i] = local[:3, 3] * metres
        rests[i] = rotations.from_matrix(local[:3, :3])
        axes[i] = np.diag(1.0 - locked_axes(posed[name]))
        limits[i] = limits_of(posed[name])
        tip = _tip(bone, index) * metres
        length = float(np.linalg.norm(tip))
        if length < THINNEST:
            tip, length = np.array((0.0, THINNEST, 0.0)), THINNEST
        tips[i] = tip
        radii[i] = max(0.5 * thickness.get(name, THICKNESS * length), 0.5 * THINNEST)
    made = limbs(tips, radii)
    known = np.array([masses.get(name, 0.0) for name in names])
    if (known > 0.0).any():
        made = limbs(tips, radii, np.where(known > 0.0, known, made.masses))
    figure = Figure(parents, places, rests, axes, made.masses, made.centres, made.inertias)
    return Body(figure, tips, radii, None if np.isinf(limits).all() else limits)


def _tip(bone: bpy.types.Bone, links: Iterable[str]) -> np.ndarray:
    """(3,) from a bone's head to the other end of its limb, in its own axes, armature units.

    Bones of imported skeletons need not point along their limbs: a limb goes to where the next
    ones begin, and the last of a chain goes on like the one before.
    """
    own = np.array(bone.matrix_local, dtype=float)
    along = np.array((0.0, bone.length, 0.0))
    if _points(bone):
        return along
    children = [child for child in bone.children if child.name in links] or list(bone.children)
    if children:
        way = np.mean([child.head_local for child in children], axis=0) - own[:3, 3]
    elif bone.parent is not None and not _points(bone.parent):
        way = own[:3, 3] - np.array(bone.parent.head_local)
    else:
        return along
    return own[:3, :3].T @ way if np.linalg.norm(way) > CLOSE * bone.length else along


def _points(bone: bpy.types.Bone) -> bool:
    """Whether a bone points at the beginning of another one."""
    return any(
        (child.head_local - bone.tail_local).length < CLOSE * bone.length
        for child in bone.children
    )
