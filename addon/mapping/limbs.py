# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs of any number of segments: from where they hang to where their feet are.

Joints of a leg are hinges: their axes are square to one plane, which contains the
place where the leg hangs, its ankle, and the direction of the pole as body and foot
carry it; where the leg points that way itself, the axes are as near to those of the
rest pose as they can. In rest some segments lean out of that plane; they keep what
they lean out.

In the plane the leg is a chain whose end is to be at the ankle (`solve_chain`: Girard
1986, section 2.6). The posture that it keeps to where it has a choice is a function
of how long the leg is: with a fold s all joints that are bent in rest are bent by (1
+ s) of that, so that stifle and hock, or shoulder and elbow, fold and open together
(Back et al. 1995). While a foot swings, joints that are straight in rest (the carpus)
fold too, and fetlocks, or the joints over the toes of paws, fold the other way from
how they give under load. An ankle in the swing is never nearer to where the leg hangs
than the posture folds, nor beside it: the posture would go over into another one, or
the plane turn over, from one moment to the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import radians

import numpy as np
from scipy.interpolate import RectBivariateSpline

from ...solvers.ik import chain_joints, solve_chain
from ...solvers.legged.creature import Leg
from ...solvers.legged.foot import toes_free
from ...solvers.rotations import (
    about_x,
    about_z,
    conjugate,
    from_matrix,
    multiply,
    normalise,
    rotate,
)
from .legs import FOOT, HOOF, MOST_BEND, PAW, LegChain, LeggedFigure
from .signals import Amount, at_most, limited, ramp, step

STRAIGHT = radians(15.0)  # joints bent less than that in rest count as straight
FOLDS_MOST = radians(40.0)  # that the joint between two bent segments in line adds for a fold of 1
LOADED = radians(20.0)  # likewise over a fetlock, which gives first: carpi stay straighter
LOCKED = radians(2.0)  # likewise of legs in slings: their carpi lock straight under load
PASTERN = 0.5  # of the segment above it: what is longer is no pastern, nor toes
LEAST_BEND = radians(4.0)  # of joints that are bent in rest
OVER, FOLDED = radians(8.0), radians(125.0)  # of those that are straight, back and forth
ALONG, UNDER = 0.15, 0.5  # cosines of a leg against its rest: along its pole, and well under it
GIVE, BACK = radians(50.0), radians(110.0)  # fetlocks from their rest angle, loaded and folded
BLADE = radians(36.0)  # most that a shoulder blade turns, either way, where it must
BLADE_USUAL = radians(20.0)  # and where it need not
KNEE_WITH_FOOT = 0.5  # share of a foot's small yaws that the leg's plane follows
FOLDS = np.concatenate((np.linspace(-0.97, 0.6, 80), np.linspace(0.62, 3.0, 60)))
UP_TO = radians(120.0)  # folds of legs that are all but straight go on until a joint is so bent
# How far fetlocks of horses fold back in the middle of a swing, and other animals' toes.
FETLOCK_SWING, TOES_SWING = radians(30.0), radians(25.0)
CARPUS_SWING = radians(52.0)  # and carpi, for a fold of 1
LONG, MIDDLING = 0.0, 0.6  # sqrt(1 - length / straight length) in which folds come
REACHED = 0.999  # of what a leg reaches stretched out: the last of it is not used
SOFT = 0.15  # share of the transfer in which a long leg begins to be drawn in
STRETCHED = 0.98  # of their length: segments below the blade are hardly longer
EARLY = 0.5  # folds from which they do
SWINGS = 0.45  # share of the transfer in which the fold of a swing comes and goes
SLUNG_AT = 0.985  # of how long a leg in a sling is where it stands: how long under load
FREED = 0.15  # share of the fold of a swing with which locked carpi fold instead of fetlocks
SLING_SOFT = 0.5  # of how far the sling gives: how softly it begins to
BLADE_SHARE = 0.31  # of how long such a leg is: the shoulder blade that it would have
EASE_BLADE = 0.3  # how easily a blade gives, against the other joints
LIFTED = 0.2  # of the distance from where a leg hangs to its ankle in rest: swinging ankles
# are never less than that under it, or the plane of the leg would turn over
ROUNDED = 0.08  # likewise: how softly they come to that
FOLDED_UP = 0.03  # of a leg's length, over the shortest that its posture gets: how softly


@dataclass(frozen=True)
class Feet:
    """What a leg is to do.

    Attributes:
        position: (n, 3) of the footprint's point of the sole, m.
        orientation: (n, 4) from the rest pose.
        pitch: (n,) toes up over the footprint, rad.
        contact: (n,) bool.
        share: (n,) of the transfer that has gone, 0 to 1; 0 in the support.
        strike: (n,) pitch at the touchdown to come, rad.
        heading: (n,) yaw of the flat foot, rad.
    """

    position: np.ndarray
    orientation: np.ndarray
    pitch: np.ndarray
    contact: np.ndarray
    share: np.ndarray
    strike: np.ndarray
    heading: np.ndarray


@dataclass(frozen=True)
class LimbPose:
    """A solved leg.

    Attributes:
        joint: role -> (n, 3) of every segment's upper joint and of the tip, m.
        rotation: role -> (n, 4) of every segment and of the blade.
        pole: (n, 3) m.
        bend: (m - 1, n) angles between neighbouring segments down to the ankle,
            against the rest pose's straight line, radians.
        rest_bend: (m - 1,) the same in rest.
        shortfall: (n,) how far the leg is from its ankle, m.
        crushed: (n,) bool: within reach; if it is far from it, it folds no further.
        lower: (n,) how much lower than it should the foot is swung, because the leg
            folds no further, m.
        normal: (n, 3) of its plane.
    """

    joint: dict[str, np.ndarray]
    rotation: dict[str, np.ndarray]
    pole: np.ndarray
    bend: np.ndarray
    rest_bend: np.ndarray
    shortfall: np.ndarray
    crushed: np.ndarray
    lower: np.ndarray
    normal: np.ndarray


@dataclass(frozen=True)
class _Family:
    """Postures of a leg below its blade, one for each fold s and share of the swing.

    Attributes:
        lengths: (m,) m.
        rest: (m - 1,) bends of the joints in rest, radians.
        gain: (m - 1,) bend for each unit of s.
        freed: (m - 1,) what is added to that once the leg swings.
        folds: (m - 1,) what the swing adds for a fold of 1, or, of a fetlock, its bend.
        low: (m - 1,) limits, radians.
        high: (m - 1,).
        fetlock: whether the last joint is one.
    """

    lengths: tuple[float, ...]
    rest: tuple[float, ...]
    gain: tuple[float, ...]
    freed: tuple[float, ...]
    folds: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    fetlock: bool

    @property
    def straight(self) -> float:
        """All segments in a line, m."""
        return sum(self.lengths)

    @property
    def tried(self) -> np.ndarray:
        """Folds from a leg stretched out to one that is folded up."""
        most = UP_TO / max(STRAIGHT, *np.abs(self.gain)) - 1.0
        return FOLDS if most <= FOLDS[-1] else np.append(FOLDS, np.arange(3.04, most + 0.04, 0.04))

    def bends(self, fold: np.ndarray, swing: np.ndarray) -> np.ndarray:
        """Angles between the segments.

        Args:
            fold: (n,) s.
            swing: (n,) 0 in the support to 1 in the middle of the swing, or 2 of who
                folds carpus and fetlock as much again.

        Returns:
            (m - 1, n) radians, within the limits.
        """
        rest, gain, freed, folds, low, high = (
            np.array(x)[:, None]
            for x in (self.rest, self.gain, self.freed, self.folds, self.low, self.high)
        )
        found = rest + (gain + freed * step(swing / FREED)) * fold
        body = len(found) - self.fetlock
        found[:body] += folds[:body] * (swing * _eased(fold + EARLY))
        if self.fetlock:
            # Not pressed through in the swing, but folded back. Were that by the fold too, it
            # would make the leg longer at first: one length, two postures.
            found[-1] += swing * (folds[-1] - found[-1])
        return np.clip(found, low, high)

    def joints(self, fold: np.ndarray, swing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bends, and (2, n) the end, the first segment along the x axis.

        Args:
            fold: (n,) s.
            swing: (n,).
        """
        bends = self.bends(fold, swing)
        angles = np.concatenate((np.zeros((1, bends.shape[1])), bends))
        return bends, chain_joints(np.array(self.lengths), angles)[-1]


@cache
def _folds(family: _Family) -> RectBivariateSpline:
    """Fold as a function of the swing and of sqrt(1 - length / straight length)."""
    swings = np.linspace(0.0, 2.0, 17)
    grid = np.linspace(0.0, 1.0, 161)
    table, folds = np.empty((len(swings), len(grid))), family.tried
    for row, swing in enumerate(swings):
        _, end = family.joints(folds, np.full(len(folds), swing))
        far = np.hypot(*end)
        first = int(np.argmax(far))
        short = np.sqrt(np.maximum(1.0 - far[first:] / family.straight, 0.0))
        rising = np.maximum.accumulate(short) + 1e-9 * np.arange(len(short))
        table[row] = np.interp(grid, rising, folds[first:])
    return RectBivariateSpline(swings, grid, table)


@cache
def _shortest(family: _Family) -> tuple[np.ndarray, np.ndarray]:
    """Swings, and how long the leg is where the first of its joints folds no further, m."""
    swings = np.linspace(0.0, 2.0, 17)
    limits = np.maximum(np.abs(family.low), np.abs(family.high))
    if len(family.lengths) == 2:
        upper, lower = family.lengths
        square = upper**2 + lower**2 + 2.0 * upper * lower * np.cos(limits[0])
        return swings, np.full(len(swings), np.sqrt(max(float(square), 0.0)))
    body = len(limits) - family.fetlock
    lengths, folds = np.empty(len(swings)), family.tried
    for row, swing in enumerate(swings):
        bends, end = family.joints(folds, np.full(len(folds), swing))
        far = np.hypot(*end)
        far, bends = far[np.argmax(far) :], np.abs(bends[:body, np.argmax(far) :])
        stopped = (bends >= limits[:body, None] - 1e-9).any(axis=0)
        lengths[row] = far[max(int(np.argmax(stopped)) - 1, 0)] if stopped.any() else far.min()
    return swings, lengths


class Limb:
    """One leg of a figure, ready to be posed.

    Args:
        figure: the rest pose.
        chain: which leg.
        leg: the same as the solver knows it.
    """

    def __init__(self, figure: LeggedFigure, chain: LegChain, leg: Leg) -> None:
        self.chain, self.leg = chain, leg
        joints = {role: np.asarray(place, dtype=float) for role, place in figure.joints.items()}
        self._rest = joints
        roles = (*chain.limb, chain.tip)
        count = roles.index(chain.ankle)
        self.roles, self.foot_roles = roles[:count], roles[count:-1]
        points = np.array([joints[role] for role in roles[: count + 1]])
        self.base, self.ankle = points[0], points[-1]
        self.down, self.across, self.normal = figure.plane(chain)
        self._frame = from_matrix(np.stack((self.down, self.across, self.normal), axis=-1))
        parts = np.diff(points, axis=0)
        flat = np.stack((parts @ self.down, parts @ self.across), axis=1)
        self.sling = figure.sling(chain)
        self.swings_back = FETLOCK_SWING if figure.kind == "HORSE" else TOES_SWING
        self.aside = parts @ self.normal  # what segments lean out of the plane
        self.lengths = np.hypot(*flat.T)
        # From the end of the blade, if there is one, to the ankle.
        self.below = float(np.hypot(*flat[1 if chain.blade else 0 :].sum(axis=0)))
        self.rest_angles = np.arctan2(flat[:, 1], flat[:, 0])
        self.rest_bend = np.remainder(np.diff(self.rest_angles) + np.pi, 2 * np.pi) - np.pi
        self._posture()

    def _posture(self) -> None:
        """Limits of the joints, and how they fold."""
        chain = self.chain
        self.blade = 1 if chain.blade else 0
        bend = self.blade + chain.bend  # number of the joint between the two that are bent
        rest, stands = self.rest_bend, self.rest_bend.copy()
        ahead = -1.0 if self.across[1] > 0.0 else 1.0  # is the pole ahead or behind?
        low, high, gain, freed, folds = (np.zeros(len(rest)) for _ in range(5))
        fetlock = len(rest) - 1 if self._gives(ahead) else -1
        bent = np.abs(np.delete(rest, fetlock if fetlock > 0 else [])[self.blade :]) >= STRAIGHT
        self.blade_gives = bool(chain.blade) and not bent.any()
        locks = self.blade_gives or self.sling > 0.0
        for i, angle in enumerate(rest):
            sign = np.sign(angle) if i != bend else -1.0
            gain[i] = angle
            if i == fetlock:
                low[i], high[i] = sorted((angle + ahead * GIVE, angle - ahead * BACK))
                folds[i] = -self.swings_back * ahead
                freed[i] = -angle if locks else 0.0
            elif i == bend or abs(angle) >= STRAIGHT:
                least = min(LEAST_BEND, 0.5 * abs(angle)) if angle * sign > 0 else LEAST_BEND
                low[i], high[i] = sorted((sign * least, sign * max(MOST_BEND, abs(angle))))
                if abs(angle) < STRAIGHT:  # the joint that folds a leg stretched out in rest
                    gain[i] = sign * (LOADED if fetlock > i else FOLDS_MOST)
                    if locks and fetlock > i:  # the carpus
                        stands[i], gain[i] = sign * least, sign * LOCKED
                        freed[i] = sign * (LOADED - LOCKED)
                    folds[i] = sign * CARPUS_SWING * (fetlock > i)
            else:
                low[i], high[i] = sorted((ahead * OVER, -ahead * FOLDED))
                low[i], high[i] = min(low[i], angle), max(high[i], angle)
                folds[i] = -CARPUS_SWING * ahead
        self.low, self.high = low, high
        own = slice(self.blade, None)
        # Rounded, so that left and right share what is tabulated.
        self.family = _Family(
            lengths=_rounded(self.lengths[own]),
            rest=_rounded(stands[own]),
            gain=_rounded(gain[own]),
            freed=_rounded(freed[own]),
            folds=_rounded(folds[own]),
            low=_rounded(low[own]),
            high=_rounded(high[own]),
            fetlock=fetlock >= 0,
        )

    def _gives(self, ahead: float) -> bool:
        """Whether the last joint before the foot is a fetlock: one over a short segment that
        is bent ahead, and is pressed through under load."""
        rest = self.rest_bend
        if self.chain.foot == HOOF:
            return len(rest) > 1
        short = len(rest) > 1 and self.lengths[-1] < PASTERN * self.lengths[-2]
        return bool(short and self.chain.foot == PAW and rest[-1] * ahead >= STRAIGHT)

    @property
    def longest(self) -> float:
        """Farthest that the leg reaches from where it hangs, its joints at their limits, m."""
        return self._stretched(0)

    def _stretched(self, first: int) -> float:
        """Length from a segment on with the joints below as straight as they go, m."""
        straight = np.clip(np.zeros(len(self.low)), self.low, self.high)[first:]
        angles = np.concatenate(([0.0], straight))[:, None]
        return float(np.hypot(*chain_joints(self.lengths[first:], angles)[-1])[0])

    def _farthest(self, swung: np.ndarray) -> np.ndarray:
        """(n,) how far the leg reaches in a direction: its blade turns no further than it can."""
        if not self.blade:
            return np.full_like(swung, self._stretched(0))
        blade, rest = self.lengths[0], self._stretched(1)
        start = self.rest_angles[0]
        off = swung - np.clip(swung, start - BLADE, start + BLADE)
        aside = np.minimum(blade * np.sin(np.abs(off)), rest)
        return blade * np.cos(off) + np.sqrt(rest**2 - aside**2)

    def _drawn_in(
        self, target: np.ndarray, feet: Feet, blade_follow: Amount, fold: Amount
    ) -> np.ndarray:
        """Where the ankle goes: not beyond what the leg reaches, nor, while it swings, nearer
        than it folds, and softly to both."""
        far = np.hypot(*target)
        swung = np.arctan2(target[1], target[0])
        most = REACHED * self._farthest(swung)
        soft = step(feet.share / SOFT) * step((1.0 - feet.share) / SOFT)
        less = at_most(far, most, 0.02 * most * soft + 1e-9)
        goal = np.where(far > 0.95 * most, less, far)
        least = self._nearest(target, swung, feet, blade_follow, fold)
        width = FOLDED_UP * self.family.straight
        goal = goal + soft * ramp(least + width - goal, width)
        return target * (goal / np.maximum(far, 1e-12))

    def _nearest(
        self, target: np.ndarray, swung: np.ndarray, feet: Feet, blade_follow: Amount, fold: Amount
    ) -> np.ndarray:
        """(n,) how near a swinging leg draws its ankle in a direction, m."""
        least = np.interp(self._swing(feet, fold), *_shortest(self.family))
        if not self.blade:
            return least
        first = self._blade(target, swung, blade_follow, feet)
        blade, off = self.lengths[0], swung - first
        aside = blade * np.sin(off)
        return blade * np.cos(off) + np.sqrt(np.maximum(least**2 - aside**2, 0.0))

    def _lifted(self, line: np.ndarray, carrier: np.ndarray, feet: Feet) -> np.ndarray:
        """(n,) how much lower a swinging foot stays than it would go, away from where it hangs, m.

        An ankle beside or over the hip would turn the plane of the leg over.
        """
        rest = float(np.linalg.norm(self.ankle - self.base))
        depth = np.einsum("ij,ij->i", line, rotate(carrier, self.down))
        soft = step(feet.share / SOFT) * step((1.0 - feet.share) / SOFT)
        width = ROUNDED * rest
        return soft * ramp(LIFTED * rest + width - depth, width)

    def room(self, hangs: np.ndarray, carrier: np.ndarray, feet: Feet) -> np.ndarray:
        """How much longer a leg could be than it has to, below 0 where it is too short.

        Args:
            hangs: (n, 3) where it hangs, m.
            carrier: (n, 4) rotation of what it hangs on.
            feet: where its foot is to be.

        Returns:
            (n,) m.
        """
        _, target = self._plane(self.foot(feet)[0][self.chain.ankle] - hangs, carrier, feet)
        return self._room(target) + REACHED * self.sling

    def _room(self, target: np.ndarray) -> np.ndarray:
        """(n,) how much longer it could be than to an ankle in its plane, m."""
        most = REACHED * self._farthest(np.arctan2(target[1], target[0]))
        return most - np.hypot(*target)

    def _plane(
        self, line: np.ndarray, carrier: np.ndarray, feet: Feet
    ) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
        """Axes of the plane of the hinges, down the leg, to the pole and square to both, and
        (2, n) of the ankle in it."""
        left = rotate(carrier, np.array((1.0, 0.0, 0.0)))
        aside = feet.heading - np.arctan2(left[:, 1], left[:, 0])
        # Little by little less from where the foot is square to the body: a foot that points back
        # could turn the knee out to either side.
        turned = about_z(KNEE_WITH_FOOT * np.sin(aside))
        aims = rotate(turned, rotate(carrier, self.across))
        x = rotate(carrier, self.down)
        normal = normalise(np.cross(line, aims))
        # A leg that points along its pole, or beyond it, has its plane from its own axis instead.
        along = normalise(line)
        down = np.einsum("ij,ij->i", along, x)
        share = step((down - ALONG) / (UNDER - ALONG))
        if np.any(share < 1.0):
            axis = rotate(turned, rotate(carrier, self.normal))
            axis = normalise(axis - along * np.einsum("ij,ij->i", axis, along)[:, None])
            share = share[:, None]
            normal = normalise(axis + share * (normal - axis))
        x = normalise(x - normal * np.einsum("ij,ij->i", x, normal)[:, None])
        y = np.cross(normal, x)
        target = np.stack((np.einsum("ij,ij->i", line, x), np.einsum("ij,ij->i", line, y)))
        return (x, y, normal), target

    def pose(
        self,
        hangs: np.ndarray,
        carrier: np.ndarray,
        feet: Feet,
        blade_follow: Amount = 0.35,
        fold: Amount = 1.0,
    ) -> LimbPose:
        """The leg from the trunk to the ground.

        Args:
            hangs: (n, 3) where it hangs, m.
            carrier: (n, 4) rotation of what it hangs on.
            feet: where its foot is to be.
            blade_follow: share of the leg's swing that its blade turns with it.
            fold: how much carpus and fetlock fold in the swing, 0 to 2.

        Returns:
            The leg.
        """
        foot_joint, foot_turn = self.foot(feet)
        line = foot_joint[self.chain.ankle] - hangs
        if self.sling:
            slung = self._slung(line, carrier, feet, blade_follow)
            hangs, line = hangs + slung, line - slung
        lower = self._lifted(line, carrier, feet)[:, None] * rotate(carrier, self.down)
        if np.any(lower):
            foot_joint = {role: place + lower for role, place in foot_joint.items()}
        (x, y, normal), target = self._plane(line + lower, carrier, feet)
        goal = self._drawn_in(target, feet, blade_follow, fold)
        held = np.maximum(np.hypot(*goal) - np.hypot(*target), 0.0)
        held += np.linalg.norm(lower, axis=1)
        wanted, low, high = self._wanted(goal, feet, blade_follow, fold)
        ease = np.ones(len(self.lengths))
        ease[: self.blade] = EASE_BLADE
        solved = solve_chain(self.lengths, goal, wanted, low, high, ease)
        flat = chain_joints(self.lengths, solved.angles)
        gap = flat[-1] - target
        missing = np.hypot(*gap)
        if np.any(missing > 0.0):  # the foot is where the leg brings it
            foot_joint = {
                role: place + gap[0][:, None] * x + gap[1][:, None] * y
                for role, place in foot_joint.items()
            }
        # Back into the world, with what segments lean out.
        aside = np.concatenate(([0.0], np.cumsum(self.aside)))
        joint = {
            role: hangs + flat[i, 0][:, None] * x + flat[i, 1][:, None] * y + aside[i] * normal
            for i, role in enumerate(self.roles)
        }
        plane = from_matrix(np.stack((x, y, normal), axis=-1))
        back = conjugate(self._frame)
        rotation = {
            role: multiply(plane, multiply(about_z(turned - rest), back))
            for role, turned, rest in zip(
                self.roles, solved.directions(), self.rest_angles, strict=True
            )
        }
        return LimbPose(
            joint | foot_joint, rotation | foot_turn,
            self._pole(joint | foot_joint, y), solved.angles[1:], self.rest_bend,
            missing, self._room(target) >= 0.0, held, normal,
        )

    def _slung(
        self, line: np.ndarray, carrier: np.ndarray, feet: Feet, follow: Amount
    ) -> np.ndarray:
        """(n, 3) how far from where it hangs at rest a leg in a sling hangs, m.

        It goes along with the leg as the end of a shoulder blade would, and makes up for what
        a leg that carries weight, and is all but straight, is too short or too long.
        """
        swings = rotate(carrier, self.across) * (1.0, 1.0, 0.0)
        ahead = np.einsum("ij,ij->i", line, swings)
        along = (BLADE_SHARE * follow * ahead)[:, None] * swings
        line = line - along
        far = np.linalg.norm(line, axis=1)
        stood = SLUNG_AT * float(np.linalg.norm(self.ankle - self.base))
        loaded = 1.0 - step(feet.share / SOFT) * step((1.0 - feet.share) / SOFT)
        width = SLING_SOFT * self.sling
        more = ramp(far - stood, width) - loaded * ramp(stood - far, width)
        return along + normalise(line) * limited(more, self.sling)[:, None]

    def _wanted(
        self, target: np.ndarray, feet: Feet, blade_follow: Amount, amount: Amount
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Joint angles of the posture, and limits."""
        n = target.shape[1]
        low = np.concatenate(([-np.inf], self.low))
        high = np.concatenate(([np.inf], self.high))
        start = np.zeros((2, n))
        wanted = np.empty((len(self.lengths), n))
        if self.blade:
            swung = np.arctan2(target[1], target[0])
            first = self._blade(target, swung, blade_follow, feet)
            low[0], high[0] = self.rest_angles[0] - BLADE, self.rest_angles[0] + BLADE
            wanted[0] = first
            start = self.lengths[0] * np.stack((np.cos(first), np.sin(first)))
        to = target - start
        family = self.family
        if len(family.lengths) > 2:
            swing = self._swing(feet, amount)
            short = np.sqrt(np.maximum(1.0 - np.hypot(*to) / family.straight, 0.0))
            swing = swing * step((short - LONG) / MIDDLING)  # a stretched leg cannot fold
            fold = _folds(family).ev(np.clip(swing, 0.0, 2.0), np.clip(short, 0.0, 1.0))
            bends, end = family.joints(fold, swing)
        else:
            bends, end = family.joints(np.zeros(n), np.zeros(n))
        first = np.arctan2(to[1], to[0]) - np.arctan2(end[1], end[0])
        first = np.remainder(first + np.pi, 2.0 * np.pi) - np.pi
        if self.blade:
            wanted[1] = first - wanted[0]
            wanted[1] = np.clip(wanted[1], low[1], high[1])
        else:
            wanted[0] = first
        wanted[self.blade + 1 :] = bends
        return wanted, low, high

    def _swing(self, feet: Feet, amount: Amount) -> np.ndarray:
        """(n,) how far carpus and fetlock are folded by the swing, 0 to 2."""
        return amount * step(feet.share / SWINGS) * step((1.0 - feet.share) / SWINGS)

    def _blade(
        self, target: np.ndarray, swung: np.ndarray, follow: Amount, feet: Feet
    ) -> np.ndarray:
        """(n,) direction that the blade would have, rad."""
        first = self.rest_angles[0] + limited(follow * swung, BLADE_USUAL)
        if self.blade_gives:  # for a straight leg under load
            room = self._off_line(target, SLUNG_AT * self.below)
            held = swung + np.sign(self.rest_angles[0]) * room
            loaded = 1.0 - step(feet.share / SOFT) * step((1.0 - feet.share) / SOFT)
            first = first + loaded * (held - first)
        return self._in_line(first, target, swung)

    def _in_line(self, first: np.ndarray, target: np.ndarray, swung: np.ndarray) -> np.ndarray:
        """Directions of the blade, turned to the ankle where the leg is too short else."""
        room = self._off_line(target, STRETCHED * float(self.lengths[1:].sum()))
        return swung + limited(first - swung, np.maximum(room, 0.02), 0.8)

    def _off_line(self, target: np.ndarray, below: float) -> np.ndarray:
        """(n,) angles between the blade and the line to the ankle with a leg below so long, rad."""
        blade, far = self.lengths[0], np.hypot(*target)
        cosine = (far**2 + blade**2 - below**2) / np.maximum(2.0 * far * blade, 1e-12)
        return np.arccos(np.clip(cosine, -1.0, 1.0))

    def foot(self, feet: Feet) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Joints and rotations of the segments beyond the ankle, and the tip.

        Args:
            feet: where the foot is.

        Returns:
            role -> (n, 3) m, and role -> (n, 4).
        """
        rest, leg, chain = self._rest, self.leg, self.chain
        marked = np.asarray(leg.foot, dtype=float)
        turn = feet.orientation
        joint, rotation = {}, {}
        if chain.foot != FOOT or len(self.foot_roles) < 2:
            for role in (*self.foot_roles, chain.tip, *(() if self.foot_roles else (chain.ankle,))):
                joint[role] = feet.position + rotate(turn, rest[role] - marked)
            rotation = dict.fromkeys(self.foot_roles, turn)
            rotation[chain.tip] = turn
            return joint, rotation
        # Toes stay flat on the ground while the heel is up, and follow after liftoff.
        pivot = marked + (0.0, -leg.toe, 0.0)
        place = feet.position + rotate(turn, pivot - marked)
        free = toes_free(feet.share)
        free = np.where(feet.strike < 0.0, free * toes_free(1.0 - feet.share), free)
        down = np.where(feet.pitch < 0.0, feet.pitch * (1.0 - free), 0.0)
        toes = multiply(turn, about_x(down))
        ball, ankle = self.foot_roles[-1], self.foot_roles[0]
        joint[ball] = place + rotate(toes, rest[ball] - pivot)
        joint[chain.tip] = place + rotate(toes, rest[chain.tip] - pivot)
        for role in self.foot_roles[:-1]:
            joint[role] = joint[ball] + rotate(turn, rest[role] - rest[ball])
            rotation[role] = turn
        rotation[ball] = rotation[chain.tip] = toes
        assert ankle == chain.ankle
        return joint, rotation

    def _pole(self, joint: dict[str, np.ndarray], aims: np.ndarray) -> np.ndarray:
        """Out from the line of the two bent segments, through the joint between them."""
        chain, rest = self.chain, self._rest
        names = (*chain.segments, chain.tip)[chain.bend : chain.bend + 3]
        head, middle, end = (joint[name] for name in names)
        line = normalise(end - head)
        out = middle - head
        out = out - line * np.einsum("ij,ij->i", out, line)[:, None]
        far = float(np.linalg.norm(rest[chain.pole] - rest[names[1]]))
        # Where the two are straight, the plane says where the joint would go.
        aims = aims - line * np.einsum("ij,ij->i", aims, line)[:, None]
        size = np.linalg.norm(out, axis=1, keepdims=True)
        out = out + 1e-6 * far * normalise(aims) * (size < 1e-4 * far)
        return middle + far * normalise(out)


def _rounded(values: np.ndarray) -> tuple[float, ...]:
    return tuple(np.round(values, 9).tolist())


def _eased(fold: np.ndarray) -> np.ndarray:
    """max(fold, 0) with a smooth beginning."""
    return np.maximum(fold, 0.0) ** 2 / (np.maximum(fold, 0.0) + 0.1)

