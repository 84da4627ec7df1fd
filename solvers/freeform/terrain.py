# SPDX-License-Identifier: GPL-3.0-or-later
"""Postures that were made for level ground, stood on other ground.

What bears goes up or down with the ground that is under it, and leans as that does: a point p of
a foot over the place c of the level ground comes to c' + R (p - c), with c' on the ground over c
and R the shortest turn from straight up to the normal there. The body goes up by the mean of its
supports, and down again by what a limb is short. Where none bears, it goes up as between the
postures before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from .. import rotations
from .body import Body, Limb, Posture
from .holds import Hold, ends_of, keep, linked, whole

Ground = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]

SHORT = 1e-6  # m that nobody sees a limb short of its foothold
ROUNDS = 8  # of lowering the body until all limbs reach theirs
UP = np.array((0.0, 0.0, 1.0))


def stood(
    body: Body, postures: Sequence[Posture], level: float, ground: Ground
) -> list[Posture]:
    """Stand postures on ground.

    Args:
        body: whose they are.
        postures: as on level ground.
        level: height of that, m.
        ground: (n,) x and y, m -> (n,) heights, m, (n, 3) unit normals that point up, and (n,)
            whether there is ground; where there is none, it is taken to be level.

    Returns:
        The postures; their supports stand on the ground.
    """
    bearing = [[m for m in body.limbs if m.name in p.supports] for p in postures]
    found = [
        [_on(body, limb, posture, level, ground) for limb in limbs]
        for posture, limbs in zip(postures, bearing, strict=True)
    ]
    steps = np.diff([p.place[:2] for p in postures], axis=0)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(steps, axis=1) + SHORT)])
    borne = [k for k, limbs in enumerate(bearing) if limbs]
    if not borne:
        return list(postures)
    rises = np.interp(way, way[borne], [np.mean([up for _hold, _roll, up in found[k]])
                                        for k in borne])
    return [
        _lowered(body, replace(p, place=p.place + rise * UP), holds)
        for p, rise, holds in zip(postures, rises, found, strict=True)
    ]


def standing_as(body: Body, posture: Posture, other: Posture) -> Posture:
    """A posture on the footholds of another one, lower where a limb would be longer than it is.

    Args:
        body: whose they are.
        posture: the one that gives way.
        other: the one that says where its supports stand.
    """
    found, joints = linked(body, [posture, other]), whole(posture)
    limbs = [limb for limb in body.limbs if limb.name in other.supports]
    if not limbs:
        return replace(posture, supports=())
    ends = np.array([ends_of(found, limb)[0] for limb in limbs])
    far = ends - found.joints[0, [limb.links[0] for limb in limbs]][:, None]
    shift = (ends[:, 1] - ends[:, 0]).mean(axis=0)
    for _ in range(ROUNDS):
        now, own = (np.linalg.norm(x, axis=1) for x in (far[:, 1] - shift, far[:, 0]))
        short = float((now - own).max())
        if short < SHORT:
            break
        shift = shift - short * UP
    place = posture.place + shift
    for limb in limbs:
        hold = Hold(limb, 0, 0, *(x[1] for x in ends_of(found, limb)))
        joints, _ = keep(body, hold, place[None], joints, found.turns[1:, list(limb.rolls)])
    return replace(posture, place=place, joints=joints[0], supports=other.supports)


def _on(
    body: Body, limb: Limb, posture: Posture, level: float, ground: Ground
) -> tuple[Hold, np.ndarray, float]:
    """A support on the ground, how what rolls over it is turned, and how far it goes up."""
    found = linked(body, [posture])
    place, turn = (x[0] for x in ends_of(found, limb))
    height, normal, there = ground(place[:1], place[1:2])
    up = float(height[0]) - level if there[0] else 0.0
    lean = rotations.between(UP, normal[0] if there[0] else UP)
    foot = np.array((*place[:2], level))
    at = foot + up * UP + rotations.rotate(lean, place - foot)
    rolled = rotations.multiply(lean, found.turns[:, list(limb.rolls)])
    return Hold(limb, 0, 0, at, rotations.multiply(lean, turn)), rolled, up


def _lowered(
    body: Body, posture: Posture, holds: Sequence[tuple[Hold, np.ndarray, float]]
) -> Posture:
    """A posture on its footholds, as high as these let it be."""
    place = posture.place.copy()
    joints = whole(posture)
    for _ in range(ROUNDS):
        short = 0.0
        for hold, rolled, _up in holds:
            joints, missing = keep(body, hold, place[None], joints, rolled)
            short = max(short, float(missing[0]))
        if short < SHORT:
            break
        place = place - short * UP
    return replace(posture, place=place, joints=joints[0])
