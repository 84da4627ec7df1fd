# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingers that close around a grip, on a rig of someone else's. Numpy only.

Which bones are fingers is told by their names, or where these say nothing by
the chains that hang on the hand. How far they have to bend follows from how they
lie in the rest pose: flat, half closed, or a fist already.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import radians

import numpy as np

from ....solvers import rotations
from ..recognise import names
from ..recognise.skeleton import Skeleton

# Bend of a finger's bones in a fist around a shaft, from the palm on, degrees: of
# fingers with three bones, two, one.
FIST = {3: (65.0, 150.0, 190.0), 2: (75.0, 165.0), 1: (80.0,)}

# Directions of a thumb's bones across such a fist: along the hand, out of the palm,
# towards the little finger.
THUMB = ((0.70, 0.60, 0.10), (0.45, 0.60, 0.60), (0.15, 0.35, 0.90))

# A first bone that begins nearer to the wrist than this share of its way lies in the palm.
PALM = 0.40

# Where a shaft lies in a fist: share of the way from the wrist to the knuckles; and how far
# that may be from where it lies in a hand of usual size.
SHAFT, SMALL, LARGE = 0.82, 0.75, 1.6

# A tail that points farther off than this from the bone before says nothing (glTF).
STRAY = radians(55.0)

_WEAK = re.compile(r"mid|ring", re.IGNORECASE)
_RIGIFY = re.compile(r"(thumb|f_index|f_middle|f_ring|f_pinky)\.(\d\d)\.([LR])")


def chains(rest: Skeleton, hand: str, side: str, controls: bool = False) -> list[list[str]]:
    """The fingers of a hand, each from the palm outward.

    Args:
        rest: the rig's bones.
        hand: the hand's bone.
        side: "L" or "R".
        controls: the rig was made by Rigify: its controls are wanted.
    """
    if controls:
        found: dict[str, list[tuple[str, str]]] = {}
        for bone in rest.bones:
            match = _RIGIFY.fullmatch(bone.name)
            if match and match[3] == side:
                found.setdefault(match[1], []).append((match[2], bone.name))
        return [[name for _, name in sorted(chain)] for chain in found.values()]
    every = [path for child in rest.children(hand) for path in _paths(rest, child)]
    helpers = {name: names.parse(name).helper for path in every for name in path}
    every = [[n for n in path if helpers[n] not in ("twist", "control", "soft")] for path in every]
    # A middle and a ring may be much else; beside other fingers they are fingers.
    sure = any(helpers[name] == "finger" for path in every for name in path)
    named = [
        path
        for path in every
        if any(helpers[n] == "finger" or (sure and _WEAK.search(n)) for n in path)
    ]
    # Without names: what has joints of its own. A hand with two chains may hold anything.
    fingers = named or [path for path in every if len(path) >= 2]
    if not named and len(fingers) < 3:
        return []
    return [path for path in fingers if path]


def _paths(rest: Skeleton, name: str) -> list[list[str]]:
    """Every way from a bone outward; what they have in common belongs to the first."""
    below = rest.children(name)
    if not below:
        return [[name]]
    ways = [path for child in below for path in _paths(rest, child)]
    return [[name, *ways[0]], *ways[1:]]


def fist(
    rest: Skeleton, hand: str, fingers: list[list[str]], side: str, thumb: np.ndarray
) -> dict[str, np.ndarray]:
    """How the bones of a hand's fingers have to be turned for a fist around a shaft.

    Args:
        rest: the rig's bones.
        hand: the hand's bone.
        fingers: what `chains` found.
        side: "L" or "R".
        thumb: (3,) where the thumb's side of the hand is, for hands without one.

    Returns:
        Bone -> quaternion (4,) of its pose: in its own axes, relative to its parent.
    """
    joints = {path[0]: _joints(rest, path) for path in fingers}
    wrist = np.asarray(rest.by_name[hand].head, dtype=float)
    own_thumb = _thumb(rest, fingers)
    others = [path for path in fingers if path is not own_thumb]
    if not others:
        return {}
    along = rotations.normalise(np.mean([joints[p[0]][0] for p in others], axis=0) - wrist)
    if own_thumb is not None:
        inner = joints[own_thumb[0]][0] + 0.5 * (joints[own_thumb[0]][1] - joints[own_thumb[0]][0])
        thumb = inner - np.mean([joints[p[0]][0] for p in others], axis=0)
    little = -(thumb - along * float(thumb @ along))
    if np.linalg.norm(little) < 1e-9:
        return {}
    little = rotations.normalise(little)
    palm = np.cross(along, little) * (-1.0 if side == "L" else 1.0)
    turned: dict[str, np.ndarray] = {}
    for path in others:
        points = joints[path[0]]
        first = _first(points, wrist, len(path))
        axis = np.cross(along, palm)
        ways = _ways(points)[first:]
        wanted = FIST[min(max(_count(path, first), 1), 3)]
        there = [float(np.arctan2(way @ palm, way @ along)) for way in ways]
        angles = [radians(goal) - now for goal, now in zip(wanted, there, strict=False)]
        full = [rotations.from_axis_angle(axis, angle) for angle in angles]
        turned |= _local(rest, path[first:], full)
    if own_thumb is not None:
        frame = np.stack([along, palm, little])
        ways = _ways(joints[own_thumb[0]])[-3:]
        wanted = [rotations.normalise(np.array(goal) @ frame) for goal in THUMB[-len(ways):]]
        full = [rotations.between(way[None], goal[None])[0] for way, goal in
                zip(ways, wanted, strict=True)]
        turned |= _local(rest, own_thumb[len(own_thumb) - len(ways):], full)
    return turned


def knuckles(rest: Skeleton, hand: str, fingers: list[list[str]]) -> float:
    """Distance from the wrist to the knuckles in armature units; 0 where there are none.

    Args:
        rest: the rig's bones.
        hand: the hand's bone.
        fingers: what `chains` found.
    """
    own_thumb = _thumb(rest, fingers)
    wrist = np.asarray(rest.by_name[hand].head, dtype=float)
    found = []
    for path in fingers:
        if path is not own_thumb:
            points = _joints(rest, path)
            found.append(float(np.linalg.norm(points[_first(points, wrist, len(path))] - wrist)))
    return float(np.mean(found)) if found else 0.0


def _thumb(rest: Skeleton, fingers: list[list[str]]) -> list[str] | None:
    """The thumb among fingers, by its name; else the one that spreads most."""
    for path in fingers:
        if any("thumb" in name.lower() or "daumen" in name.lower() or "親指" in name
               for name in path):
            return path
    if len(fingers) < 3:
        return None
    ways = np.array([rotations.normalise(_ways(_joints(rest, path))[0]) for path in fingers])
    mean = ways.mean(axis=0)
    return fingers[int(np.argmin(ways @ mean))]


def _joints(rest: Skeleton, path: list[str]) -> np.ndarray:
    """(n + 1, 3) heads of a finger's bones and the end of the last."""
    heads = [np.asarray(rest.by_name[name].head, dtype=float) for name in path]
    end = np.asarray(rest.by_name[path[-1]].tail, dtype=float)
    if len(heads) > 1:
        before, last = heads[-1] - heads[-2], end - heads[-1]
        sizes = np.linalg.norm(before) * np.linalg.norm(last)
        if sizes < 1e-18 or before @ last < np.cos(STRAY) * sizes:
            end = heads[-1] + 0.8 * before
    return np.array([*heads, end])


def _ways(points: np.ndarray) -> np.ndarray:
    ways = np.diff(points, axis=0)
    lengths = np.linalg.norm(ways, axis=1, keepdims=True)
    return ways / np.maximum(lengths, 1e-12)


def _first(points: np.ndarray, wrist: np.ndarray, bones: int) -> int:
    """Number of a finger's bones that lie in the palm."""
    if bones < 3:
        return 0
    near, far = (float(np.linalg.norm(points[i] - wrist)) for i in (0, 1))
    return 1 if near < PALM * far else 0


def _count(path: list[str], first: int) -> int:
    """How many bones of a finger bend: one beyond three only shows where it ends."""
    return min(len(path) - first, 3)


def _local(
    rest: Skeleton, path: list[str], full: list[np.ndarray]
) -> dict[str, np.ndarray]:
    """Turns in space, each of a whole bone, as poses of bones that hang on each other."""
    found = {}
    before = np.array([1.0, 0.0, 0.0, 0.0])
    for name, turn in zip(path, full, strict=False):
        axes = rotations.from_matrix(np.asarray(rest.by_name[name].axes, dtype=float)[None])[0]
        own = rotations.multiply(rotations.conjugate(before), turn)
        found[name] = rotations.multiply(
            rotations.conjugate(axes), rotations.multiply(own, axes)
        )
        before = turn
    return found


def to_store(turned: Mapping[str, np.ndarray]) -> dict[str, list[float]]:
    """The same as plain numbers.

    Args:
        turned: what `fist` found.
    """
    return {name: [float(v) for v in value] for name, value in turned.items()}
