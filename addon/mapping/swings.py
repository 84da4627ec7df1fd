# SPDX-License-Identifier: GPL-3.0-or-later
"""Swings of legs and arms out of postures of the whole body. Numpy only.

Girard 1986, section 3.1: a limb's trajectory is designed as a sequence of its postures, and
a gait is given it. A leg's is the first stretch of the sequence in which it bears nobody,
from the posture in which it last does to the one in which it does again. Legs that always
bear swing as those of the other side do, mirrored. Arms follow the postures through which
the leg goes that swings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...solvers.freeform.turns import TurnCurve
from ...solvers.legged.body import minimum_jerk
from ...solvers.legged.creature import Creature
from ...solvers.legged.gait import other_side
from ...solvers.legged.motion import GaitMotion
from ...solvers.legged.shapes import LegShape, ShapePoint
from ...solvers.rotations import about_z, continuous, multiply, rotate, slerp
from .freeform import FORE, UPPER, RoleBody, body_of, pole_place, turns_of
from .legged import pose_joints
from .legs import LeggedFigure
from .tracks import ELBOW, HAND, PELVIS, POLE_TIP, SHOULDER, RoleTracks, side_role

MIRROR = np.array((1.0, 1.0, -1.0, -1.0))  # of a quaternion, through the plane x = 0
AT_ONCE = 0.02  # s: legs that leave the ground nearer to each other go together
CROWDED = 0.15  # of a swing: postures nearer before the next swing give way to it
ARM = (SHOULDER, UPPER, FORE, HAND)


@dataclass(frozen=True)
class ArmSwing:
    """Postures of the arms while a leg swings.

    Attributes:
        shares: (k,) of the leg's transfer.
        turns: side -> (k, 4, 4) local turns of shoulder, upper arm, forearm and hand.
    """

    shares: np.ndarray
    turns: Mapping[str, np.ndarray]


Arms = Mapping[tuple[str, tuple[ShapePoint, ...]], ArmSwing]
"""Name of a leg and the points that its foot goes through -> how the arms go meanwhile."""


def swings_of(
    figure: LeggedFigure, creature: Creature, poses: RoleTracks,
    supports: Sequence[Sequence[str]], times: np.ndarray,
) -> tuple[tuple[LegShape, ...], Arms]:
    """What a gait takes from postures.

    Args:
        figure: the rest pose.
        creature: of the same.
        poses: its roles, one row a posture.
        supports: limbs that bear it in each.
        times: (k,) of the postures, ascending, in any unit.

    Returns:
        Ways of the legs, none where no leg is ever in the air, and what the arms do.
    """
    joint, turn = pose_joints(poses, figure)
    body = body_of(figure)
    local = turns_of(body, poses)[1]
    arms = {
        side: local[:, [body.index[side_role(role, side)] for role in ARM]]
        for side in figure.arms
    }
    ways: dict[str, tuple[ShapePoint, ...]] = {}
    swung: dict[str, ArmSwing] = {}
    for chain, leg in zip(figure.legs, creature.legs, strict=True):
        lifted = np.array([chain.name not in bears for bears in supports])
        rows, shares = _stretch(lifted, np.asarray(times, float))
        if not len(rows):
            continue
        carrier, hangs = figure.carrier(chain), chain.limb[0]
        hip = joint[carrier] + rotate(
            turn[carrier], figure.joints[hangs] - figure.joints[carrier]
        )
        ankle = chain.ankle
        foot = joint[ankle] - rotate(turn[ankle], np.asarray(leg.ankle, float))
        ahead = rotate(turn[PELVIS], np.array((0.0, -1.0, 0.0)))
        level = about_z(-np.arctan2(ahead[:, 0], -ahead[:, 1]))
        place = rotate(level, foot - hip)[rows] / creature.hip_height()
        flat = multiply(level, turn[ankle])[rows]
        pitch = -2.0 * np.arctan2(flat[:, 1], flat[:, 0])
        pitch = np.unwrap(np.remainder(pitch + np.pi, 2.0 * np.pi) - np.pi)
        table = np.column_stack((shares, place, pitch))
        ways[chain.name] = tuple(tuple(row) for row in table.tolist())
        swung[chain.name] = ArmSwing(shares, {side: x[rows] for side, x in arms.items()})
    for chain in figure.legs:
        other = other_side(chain.name)
        if chain.name not in ways and other in ways:
            ways[chain.name] = tuple((s, -x, y, z, p) for s, x, y, z, p in ways[other])
            swung[chain.name] = _mirrored(swung[other])
    shapes = tuple((leg.name, ways[leg.name]) for leg in creature.legs if leg.name in ways)
    if not figure.arms:
        return shapes, {}
    return shapes, {(name, points): swung[name] for name, points in shapes}


def _stretch(lifted: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the first stretch in which a leg is in the air, its ends with it, and shares."""
    if not lifted.any():
        return np.zeros(0, int), np.zeros(0)
    first = int(np.argmax(lifted))
    last = first + int(np.argmin(np.append(lifted[first:], False)))
    rows = np.arange(max(first - 1, 0), min(last + 1, len(lifted)))
    # Sequences that begin, or end, in the air do so a usual step from the ground.
    usual = float(np.diff(times).mean()) if len(times) > 1 else 1.0
    start = times[first - 1] if first else times[0] - usual
    end = times[last] if last < len(times) else times[-1] + usual
    return rows, (times[rows] - start) / (end - start)


def _mirrored(swing: ArmSwing) -> ArmSwing:
    return replace(
        swing, turns={{"L": "R", "R": "L"}[side]: MIRROR * x for side, x in swing.turns.items()}
    )


def with_arms(
    tracks: RoleTracks, motion: GaitMotion, figure: LeggedFigure, arms: Arms
) -> RoleTracks:
    """Tracks of a gait whose arms go through postures while legs swing.

    Between the postures of one swing and those of the next they go on; where the next swing
    is of a gait without postures, arms go over into how that swings them.

    Args:
        tracks: of the gait.
        motion: the gait.
        figure: the rest pose.
        arms: postures of the arms.
    """
    runs = _runs(_swings(motion), arms)
    if not runs or not figure.arms:
        return tracks
    body = body_of(figure)
    local, time = turns_of(body, tracks)[1], tracks.time
    weight = np.zeros(len(time))
    posed = {side: local[:, _links(body, side)].copy() for side in figure.arms}
    for run in runs:
        times, (start, first, last, end) = np.array(run.times), run.grows
        rows = np.flatnonzero((time > start) & (time < end))
        here = time[rows]
        weight[rows] = minimum_jerk((here - start) / (first - start)) * minimum_jerk(
            (end - here) / (end - last)
        )
        # Where no posture stands at an end, the curve waits for the first one, or at the last.
        rest = times[0] > start, times[-1] < end
        for side in figure.arms:
            turns = continuous(np.stack([posture[side] for posture in run.turns]))
            curve = TurnCurve(times, turns, rest, np.zeros((len(times) - 1, 3)))
            posed[side][rows] = curve(here)[0]
    joint, turn = pose_joints(tracks, figure)
    position, rotation, joints = dict(tracks.position), dict(tracks.rotation), figure.joints
    changed = np.flatnonzero(weight > 0.0)
    for side in figure.arms:
        roles = [side_role(role, side) for role in ARM]
        shoulder, upper, fore, hand = roles
        chest = figure.trunk[-1]
        at, carried = joint[chest][changed], turn[chest][changed]
        from_, before = chest, local[changed][:, _links(body, side)]
        reached: dict[str, np.ndarray] = {}
        turned: dict[str, np.ndarray] = {}
        for k, role in enumerate(roles):
            at = at + rotate(carried, joints[role] - joints[from_])
            own = slerp(before[:, k], posed[side][changed, k], weight[changed])
            carried = multiply(carried, own)
            reached[role], turned[role], from_ = at, carried, role
        pole, held = side_role(ELBOW, side), side_role(POLE_TIP, side)
        own = pole_place(joints, (upper, fore, hand), pole, reached, turned)
        moved = {hand: reached[hand], pole: own}
        if held in position:
            moved[held] = reached[hand] + rotate(turned[hand], joints[held] - joints[hand])
        for role, places in moved.items():
            position[role] = position[role].copy()
            position[role][changed] = places
        for role in (shoulder, hand):
            rotation[role] = rotation[role].copy()
            rotation[role][changed] = turned[role]
            rotation[role] = continuous(rotation[role])
    return replace(tracks, position=position, rotation=rotation)


def _links(body: RoleBody, side: str) -> list[int]:
    return [body.index[side_role(role, side)] for role in ARM]


@dataclass(frozen=True)
class _Transfer:
    """A leg in the air."""

    off: float
    on: float
    leg: str
    shape: tuple[ShapePoint, ...]


def _swings(motion: GaitMotion) -> list[_Transfer]:
    """Swings of the hindmost legs in order, those of legs that go together once."""
    end, found = float(motion.time[-1]), []
    for leg in motion.creature.legs:
        if leg.girdle:
            continue
        prints = [mark for mark in motion.footprints if mark.leg == leg.name]
        pairs = list(zip(prints[:-1], prints[1:], strict=True))
        spans = [(a.off, b.on, b.shape) for a, b in pairs]
        usual = float(np.median([on - off for off, on, _ in spans])) if spans else 0.0
        if spans and 0.0 < prints[0].on:
            spans.insert(0, (prints[0].on - usual, prints[0].on, prints[0].shape))
        if spans and prints[-1].off < end:
            spans.append((prints[-1].off, prints[-1].off + usual, prints[-1].shape))
        found += [_Transfer(off, on, leg.name, shape) for off, on, shape in spans]
    found.sort(key=lambda swing: swing.off)
    return [
        swing for k, swing in enumerate(found)
        if not k or swing.off - found[k - 1].off > AT_ONCE
    ]


@dataclass
class _Run:
    """Swings through postures that follow each other.

    Attributes:
        times: at which the arms are in postures, s.
        turns: side -> (4, 4) of each of them.
        grows: when the run begins, is met by the first posture in the air, by the last one,
            and ends, s.
    """

    times: list[float]
    turns: list[dict[str, np.ndarray]]
    grows: list[float]


def _runs(swings: Sequence[_Transfer], arms: Arms) -> list[_Run]:
    out: list[_Run] = []
    open_ = False
    for k, swing in enumerate(swings):
        held = arms.get((swing.leg, swing.shape))
        if held is None:
            open_ = False
            continue
        lasts = swing.on - swing.off
        after = swings[k + 1].off if k + 1 < len(swings) else np.inf
        when = swing.off + held.shares * lasts
        inner = when[(held.shares > 0.0) & (held.shares < 1.0)]
        if not open_ or swing.off - out[-1].grows[-1] > lasts:
            out.append(_Run([], [], [swing.off, inner[0], inner[-1], swing.on]))
        run = out[-1]
        run.grows[2:] = inner[-1], swing.on
        for i in np.flatnonzero(when < after - CROWDED * lasts):
            if not run.times or when[i] > run.times[-1] + 1e-6:
                run.times.append(float(when[i]))
                run.turns.append({side: x[i] for side, x in held.turns.items()})
        open_ = True
    return [run for run in out if len(run.times) > 1]
