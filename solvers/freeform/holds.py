# SPDX-License-Identifier: GPL-3.0-or-later
"""Footholds: where limbs bear the body, from when to when, how they are kept, and left.

A limb that bears in two postures at places apart, while another one bears throughout, steps from
the one to the other: its end goes by minimum jerk, and is lifted on the way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .. import rotations
from ..curves import minimum_jerk
from ..motion import Problem
from .body import Body, Limb, Links, Posture, length, limb_root, links
from .reach import reach
from .turns import TurnCurve

INSTANT = 3e-6  # s, over which rates are differences
SLID = 0.005  # m between two postures' places of a foothold, told from here on
STEPS = 0.03  # of a limb's length that its places are apart from which it steps
PIVOTS = np.radians(15.0)  # likewise of the turn of its end
LIFT, RISE, HIGHEST = 0.015, 0.15, 0.12  # of a step: shares of a limb's length, of its way, at most


@dataclass(frozen=True, eq=False)
class Hold:
    """A limb's end that stays where it is.

    Attributes:
        limb: whose.
        first: first posture that it bears in.
        last: last one.
        place: (3,) where its end is, m: the joint of the link that is kept, or the tip.
        turn: (4,) in the world of that link.
        rolling: links before that one over the parameter, as the postures have them in the
            world, of all footholds of the limb; None where there are none.
    """

    limb: Limb
    first: int
    last: int
    place: np.ndarray
    turn: np.ndarray
    rolling: TurnCurve | None = None


def rolled(holds: Sequence[Hold], which: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(t, r, 4) turns in the world of the links that roll.

    Args:
        holds: footholds of one limb.
        which: (t,) of these counts.
        at: (t,) parameters.
    """
    rolling = holds[0].rolling
    if rolling is None:
        return np.zeros((len(at), 0, 4))
    return rolling.turns(at, *np.array([(hold.first, hold.last) for hold in holds])[which].T)


def linked(body: Body, postures: list[Posture]) -> Links:
    """All links of postures, one row each.

    Args:
        body: the body.
        postures: in order.
    """
    places = np.stack([posture.place for posture in postures])
    return links(body, places, np.concatenate([whole(posture) for posture in postures]))


def with_rolls(
    body: Body, postures: list[Posture], holds: list[Hold], knots: np.ndarray, rest: bool
) -> list[Hold]:
    """Footholds that know how what is above the kept link rolls.

    Args:
        body: the body.
        postures: in order.
        holds: their footholds.
        knots: (k,) parameters of the postures.
        rest: whether the sequence begins and ends at rest.
    """
    found, rolling = linked(body, postures), {}
    for limb in body.limbs:
        mine = [hold for hold in holds if hold.limb is limb]
        if limb.rolls and mine:
            apart = np.zeros(len(knots), bool)
            apart[[k for hold in mine for k in (hold.first, hold.last)]] = True
            if rest:
                apart[[0, -1]] = False
            turns = rotations.continuous(found.turns[:, list(limb.rolls)])
            still = np.zeros((len(knots) - 1, 3))
            rolling[limb.name] = TurnCurve(knots, turns, rest, still, apart=apart)
    return [replace(hold, rolling=rolling.get(hold.limb.name)) for hold in holds]


def find_holds(body: Body, postures: list[Posture]) -> list[Hold]:
    """Footholds of a sequence: each where its first posture has it.

    Args:
        body: the body.
        postures: in order.

    Returns:
        The holds.
    """
    found = linked(body, postures)
    ends = {m.name: list(zip(*map(list, ends_of(found, m)), strict=True)) for m in body.limbs}
    bears = {m.name: [m.name in p.supports for p in postures] for m in body.limbs}
    steps = {m.name: STEPS * length(body, m) for m in body.limbs}
    # Where each limb stands, posture by posture: the first place of its foothold.
    since: dict[str, int] = {}
    begun: dict[str, list[int]] = {m.name: [] for m in body.limbs}
    for k in range(len(postures)):
        both = [m for m in body.limbs if k and bears[m.name][k - 1] and bears[m.name][k]]
        leaves = {m.name for m in both if _apart(m, steps[m.name], ends[m.name][since[m.name]],
                                                  ends[m.name][k])}
        if len(leaves) == len(both):
            leaves = set()  # or nobody would bear the body meanwhile
        for limb in body.limbs:
            name = limb.name
            new = bears[name][k] and not (k and bears[name][k - 1])
            if new or name in leaves:
                since[name] = k
                begun[name].append(k)
    out = []
    for limb in body.limbs:
        for first in begun[limb.name]:
            last = first
            while (last + 1 < len(postures) and bears[limb.name][last + 1]
                   and last + 1 not in begun[limb.name]):
                last += 1
            out.append(Hold(limb, first, last, *ends[limb.name][first]))
    return out


def _apart(limb: Limb, steps: float, one: tuple, other: tuple) -> bool:
    """Whether two places and turns of a limb's end are those of two footholds."""
    far, inner = math.dist(other[0], one[0]), abs(float(one[1] @ other[1]))
    # Without a link that is kept, the end is a point.
    return far > steps or (limb.end >= 0 and inner < math.cos(0.5 * PIVOTS))


def whole(posture: Posture) -> np.ndarray:
    """(1, n, 4) local turns of a posture, the pelvis' own first.

    Args:
        posture: the posture.
    """
    joints = posture.joints.copy()
    joints[0] = posture.turn
    return joints[None]


def ends_of(found: Links, limb: Limb) -> tuple[np.ndarray, np.ndarray]:
    """Where postures have a limb's end, (k, 3) m, and the turns of the link that is kept, (k, 4).

    Args:
        found: their links.
        limb: one of the body's limbs.
    """
    if limb.end >= 0:
        return found.joints[:, limb.end], found.turns[:, limb.end]
    last = limb.links[-1]
    tip = found.joints[:, last] + rotations.rotate(found.turns[:, last], limb.tip)
    return tip, found.turns[:, last]


def keep(
    body: Body, hold: Hold, place: np.ndarray, joints: np.ndarray,
    rolled: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Joints with which a limb keeps its foothold.

    Args:
        body: the body.
        hold: the foothold.
        place: (t, 3) of the pelvis, m.
        joints: (t, n, 4) local turns, the pelvis' in the world first: as near to them.
        rolled: (t, r, 4) in the world of the links that roll; None of a limb without any.

    Returns:
        (t, n, 4) with the limb's changed, and (t,) what is missing to the foothold, m.
    """
    if rolled is None:
        rolled = np.zeros((len(place), 0, 4))
    turn = np.broadcast_to(hold.turn, (len(place), 4))
    target = np.broadcast_to(hold.place, place.shape)
    return brought(body, hold.limb, target, turn, place, joints, rolled)


def stepping(
    body: Body, one: Hold, other: Hold, share: np.ndarray, rolls: np.ndarray,
    place: np.ndarray, joints: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Joints of a limb on its way from one foothold to another.

    Args:
        body: the body.
        one: where it comes from.
        other: where it goes.
        share: (t,) of the time of the step that is gone.
        rolls: (2, r, 4) of the links that roll where it leaves, and where it comes down.
        place: (t, 3) of the pelvis, m.
        joints: (t, n, 4) local turns, the pelvis' in the world first: as near to them.

    Returns:
        As `keep`.
    """
    way, leg = other.place - one.place, length(body, one.limb)
    gone = minimum_jerk(share)
    high = min(LIFT * leg + RISE * float(np.linalg.norm(way)), HIGHEST * leg)
    up = high * 16.0 * (share * (1.0 - share)) ** 2
    at = one.place + gone[:, None] * way + up[:, None] * np.eye(3)[2]
    count = len(share)
    turns = [
        rotations.slerp(np.tile(a, (count, 1)), np.tile(b, (count, 1)), gone)
        for a, b in ((one.turn, other.turn), *zip(*rolls, strict=True))
    ]
    rolling = np.stack(turns[1:], axis=1) if len(turns) > 1 else np.zeros((count, 0, 4))
    return brought(body, one.limb, at, turns[0], place, joints, rolling)


def brought(
    body: Body, limb: Limb, target: np.ndarray, turn: np.ndarray, place: np.ndarray,
    joints: np.ndarray, rolled: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Joints with which a limb's end is somewhere.

    Args:
        body: the body.
        limb: the limb.
        target: (t, 3) where its end is to be, m.
        turn: (t, 4) in the world of the link that is kept.
        place: (t, 3) of the pelvis, m.
        joints: (t, n, 4) local turns, the pelvis' in the world first: as near to them.
        rolled: (t, r, 4) in the world of the links that roll.

    Returns:
        As `keep`.
    """
    figure = body.figure
    root, above = limb_root(body, limb, place, joints)
    for k, link in enumerate(limb.beyond[1:]):
        target = target - rotations.rotate(rolled[:, k], figure.places[link])
    local, missing = reach(body, limb, root, above, joints, target)
    joints = joints.copy(order="K")
    joints[:, list(limb.links)] = local
    if limb.end >= 0:
        for link in limb.links:
            own = rotations.multiply(figure.rests[link], joints[:, link])
            above = rotations.multiply(above, own)
        turns = np.concatenate((rolled, turn[:, None]), axis=1)
        for k, link in enumerate(limb.beyond):
            above = rotations.multiply(above, figure.rests[link])
            joints[:, link] = rotations.multiply(rotations.conjugate(above), turns[:, k])
            above = turns[:, k]
    return joints, missing


def tied(
    body: Body, joints: np.ndarray, rates: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Joints with which tied limbs keep together, and their rates.

    Args:
        body: the body.
        joints: (t, n, 4) local turns, the pelvis' in the world first: as near to them.
        rates: (t, n, 3) of these in the turned frames, rad/s.

    Returns:
        (t, n, 4) and (t, n, 3), those of the tied limbs changed.
    """
    if not body.ties:
        return joints, rates
    by = INSTANT * np.array([-1.0, 0.0, 1.0])[:, None, None, None]
    near = rotations.multiply(joints, rotations.from_rotation_vector(by * rates))
    near = fastened(body, near.reshape(-1, *joints.shape[1:]))[0].reshape(3, *joints.shape)
    rates = rates.copy()
    for limb in (limb for tie in body.ties for limb in tie.limbs):
        own = [*limb.links, *limb.beyond]
        step = rotations.multiply(rotations.conjugate(near[0][:, own]), near[2][:, own])
        rates[:, own] = rotations.to_rotation_vector(step) / (2.0 * INSTANT)
    return near[1], rates


def fastened(
    body: Body, joints: np.ndarray
) -> tuple[np.ndarray, list[tuple[Limb, np.ndarray]]]:
    """Joints with which tied limbs keep together, each giving way as much as the others.

    Args:
        body: the body.
        joints: (t, n, 4) local turns, the pelvis' in the world first: as near to them.

    Returns:
        (t, n, 4), and tied limbs with (t,) what is missing to their places, m.
    """
    still, short = np.zeros((len(joints), 3)), []
    for tie in body.ties:
        found = links(body, still, joints)
        turns = np.stack([found.turns[:, limb.end] for limb in tie.limbs])
        signs = np.where(rotations.dot(turns, turns[0]) < 0.0, -1.0, 1.0)
        turn = rotations.normalise((signs[..., None] * turns).sum(axis=0))
        on = [rotations.rotate(turn, place) for place in tie.places]
        ends = [found.joints[:, limb.end] for limb in tie.limbs]
        origin = np.mean(np.subtract(ends, on), axis=0)
        for limb, place in zip(tie.limbs, on, strict=True):
            rolled = np.repeat(turn[:, None], len(limb.rolls), axis=1)
            joints, missing = brought(body, limb, origin + place, turn, still, joints, rolled)
            short.append((limb, missing))
    return joints, short


def settle(
    body: Body, postures: list[Posture], holds: list[Hold], times: np.ndarray | None = None
) -> tuple[list[Posture], list[Problem]]:
    """Postures whose supports stand on their footholds, and which ones had to give way.

    Args:
        body: the body.
        postures: as they were given.
        holds: their footholds.
        times: (k,) at which they are taken, s, where that is known.

    Returns:
        Postures and problems.
    """
    found = linked(body, postures)
    place = np.stack([posture.place for posture in postures])
    joints = np.concatenate([whole(posture) for posture in postures])
    problems = []
    for limb in body.limbs:
        mine = [hold for hold in holds if hold.limb is limb]
        # The first of a foothold's postures says where it is.
        pairs = [(hold, k) for hold in mine for k in range(hold.first + 1, hold.last + 1)]
        if not pairs:
            continue
        rows = [k for _, k in pairs]
        target = np.stack([hold.place for hold, _ in pairs])
        turn = np.stack([hold.turn for hold, _ in pairs])
        rolled = found.turns[rows][:, list(limb.rolls)]
        joints[rows], _ = brought(body, limb, target, turn, place[rows], joints[rows], rolled)
        slid = np.linalg.norm(ends_of(found, limb)[0][rows] - target, axis=1)
        for (hold, k), apart in zip(pairs, slid.tolist(), strict=True):
            if apart > SLID:
                problems.append(
                    Problem(
                        "SUPPORT_SLIDES",
                        f"Posture {k + 1} has {hold.limb.name} {100.0 * apart:.1f} cm from "
                        f"where it bears since posture {hold.first + 1}: it stays there",
                        severity="INFO",
                        time=None if times is None else float(times[k] - times[0]),
                        bone=hold.limb.name,
                        amount=apart,
                        remedy="Let it lift in a posture between, or place it where it stands",
                    )
                )
    return [
        replace(posture, joints=of) for posture, of in zip(postures, joints, strict=True)
    ], problems
