# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes around things, and fitting one thing to the place of another. Numpy only."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

# Sides that differ by less than this in the sum of their logarithms say nothing about
# which way a thing is modelled: how it stands does.
UNLIKE = 1.0

# A side shorter than this share of the longest counts as long as that.
FLAT = 0.01


@dataclass(frozen=True, eq=False)
class Box:
    """A box along axes of its own.

    Attributes:
        centre: (3,) its middle.
        axes: (3, 3) columns are its directions, of length 1.
        size: (3,) its sides along them.
    """

    centre: np.ndarray
    axes: np.ndarray
    size: np.ndarray


def box_around(points: np.ndarray, axes: np.ndarray) -> Box:
    """The smallest box of given directions around points.

    Args:
        points: (n, 3), at least one.
        axes: (3, 3) columns are directions of length 1 that stand upright on each other.
    """
    along = np.asarray(points, dtype=float) @ axes
    low, high = along.min(axis=0), along.max(axis=0)
    return Box(axes @ (0.5 * (low + high)), axes, high - low)


def tighter(points: np.ndarray, *choices: np.ndarray) -> Box:
    """The box around points whose directions suit them best.

    Args:
        points: (n, 3), at least one.
        *choices: directions, the preferred ones first: others have to halve the volume.
    """
    boxes = [box_around(points, axes) for axes in choices]
    best = boxes[0]
    for box in boxes[1:]:
        if np.prod(_sides(box.size)) < 0.5 * np.prod(_sides(best.size)):
            best = box
    return best


def _sides(size: np.ndarray) -> np.ndarray:
    return np.maximum(size, max(FLAT * float(size.max()), 1e-12))


def quarter_turns() -> np.ndarray:
    """The (24, 3, 3) rotations that take axes to axes, none first."""
    found = []
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            turn = np.zeros((3, 3))
            turn[range(3), order] = signs
            if np.linalg.det(turn) > 0.0:
                found.append(turn)
    return np.array(found)


def fitted(
    own: Box, wanted: Box, anchor: np.ndarray, resize: bool = True, flip: bool = False,
    up: np.ndarray | None = None,
) -> np.ndarray:
    """The way that takes a thing into the place of another one.

    It is turned by as little as brings its long sides where the other one's are, or
    none where how it stands is as good, and made as large along the other's longest
    side.

    Args:
        own: the thing as it stands.
        wanted: the place.
        anchor: (3,) from -1 to 1 along the sides of the place: which point of both boxes
            is to be the same one; 0 is the middle.
        resize: make it as large; False keeps its size.
        flip: turn it half around `up`, front to back.
        up: (3,) direction in the world; None for the box's third.

    Returns:
        (4, 4) matrix; it turns, scales evenly and moves.

    Raises:
        ValueError: one of them has no size.
    """
    if not min(own.size.max(), wanted.size.max()) > 0.0:
        raise ValueError("a box without size fits nowhere")
    turns = quarter_turns()
    sides, places = _sides(own.size), _sides(wanted.size)
    longest = int(np.argmax(wanted.size))
    turned = np.abs(turns) @ sides
    scale = places[longest] / turned[:, longest]
    unlike = np.abs(np.log(turned * scale[:, None] / places)).sum(axis=1)
    ways = wanted.axes @ turns @ own.axes.T
    # Radians that it turns from how it stands; least where the shape says nothing else.
    angle = np.arccos(np.clip(0.5 * (np.trace(ways, axis1=1, axis2=2) - 1.0), -1.0, 1.0))
    good = unlike <= unlike.min() + UNLIKE
    best = int(np.argmin(np.where(good, angle, np.inf).round(9)))
    way, size = ways[best], np.abs(turns[best]) @ own.size
    factor = float(scale[best]) if resize else 1.0
    if flip:
        axis = wanted.axes[:, 2] if up is None else np.asarray(up, dtype=float)
        way = (2.0 * np.outer(axis, axis) - np.eye(3)) @ way
    point = wanted.centre + wanted.axes @ (anchor * wanted.size * 0.5)
    middle = point - factor * wanted.axes @ (anchor * size * 0.5)
    matrix = np.eye(4)
    matrix[:3, :3] = factor * way
    matrix[:3, 3] = middle - matrix[:3, :3] @ own.centre
    return matrix


def moved(shift: np.ndarray) -> np.ndarray:
    """Matrix (4, 4) that moves and nothing else.

    Args:
        shift: (3,) by how much.
    """
    matrix = np.eye(4)
    matrix[:3, 3] = shift
    return matrix
