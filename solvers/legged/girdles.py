# SPDX-License-Identifier: GPL-3.0-or-later
"""The fourth stage of a legged motion: heights of the girdles, and the body's pose.

Girard 1986, section 4.1: supports carry a body up and down and let it go, which then is a
projectile (`body`). Each girdle stands on upright legs on the ground that they feel, but for
how far it sinks at its knots, which are midstances, ends of stands and moments of high
steps. How far that is `reaching` finds out. Two girdles hold a trunk.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..rotations import about_x, about_y, about_z, multiply, rotate
from ..times import covering, gap
from .body import (
    Curve,
    Line,
    Rise,
    Standing,
    group_midstances,
    merge_midstances,
    trunk_pose,
    vertical_motion,
)
from .footholds import forward_left
from .footing import Footing
from .high_steps import HighSteps, find_high_steps
from .steps import Steps
from .support import support_profile

TIPPED = math.sin(math.radians(48.0))  # of trunks on uneven ground, at most
HIGH = 0.28  # hip heights between feet on the ground from which on hips may sink by that much more
SHORTEST_SPAN = 1e-2  # s between moments at which heights of hips are known
STANDS = 5.0  # sqrt(hip height / g) from which on a support is a stand, with a beginning and an end


class Girdles(Footing):
    """Heights of girdles that sink by given depths.

    Attributes:
        planned: steps as they were before legs were too short for them.
        high_steps: of each girdle.
        knots: of each girdle, the moments at which its depth is known, s.
        sunk: of each girdle, its depth there, m.
        may_sink: spans of time in which hips may sink, s.
        risings: of each girdle, from where it would stand to its up and down motion.
        vertical: of each girdle, its up and down motion.
    """

    planned: Steps
    high_steps: list[HighSteps]
    knots: list[np.ndarray]
    sunk: list[np.ndarray]
    may_sink: tuple[tuple[float, float], ...]
    risings: list[Callable[[Standing], Rise]]
    vertical: list[Rise]

    # --- the trunk --------------------------------------------------------------------
    def _trunk(self) -> None:
        """Constants of the girdles, and how the hips list."""
        centre = np.asarray(self.creature.centre, dtype=float)
        hips = self.creature.hips() - centre
        self.ahead = np.array([-hips[legs, 1].mean() for legs in self.girdles])
        self.above = np.array([hips[legs, 2].mean() for legs in self.girdles])
        self.lengths = np.array([leg.length for leg in self.legs])
        side = np.sign(hips[self.steps.leg, 0])
        duty = np.array([min(plan.gait.duty) for plan in self.plans])[self.steps.gait]
        walking = side * (duty >= 0.5)  # who flies does not sway: in the air nothing pushes
        moving = np.isfinite(self.steps.on) | np.isfinite(self.steps.off)
        side, walking = (np.where(moving, x, 0.0) for x in (side, walking))
        lasts = np.minimum(self.steps.off - self.steps.on, 4.0)
        self.list: Curve = _line(self.middle, -self.creature.list * side, lasts)
        self.sway: Curve = _line(self.middle, self.creature.sway * self.hip * walking, lasts)

    def body(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Pose of the body.

        Args:
            time: (n,) s.

        Returns:
            (n, 3) position and (n, 4) orientation of the body, and what they are made of.
        """
        yaw, _ = self.turning(time)
        bank = self.bank(time)
        follow = self.creature.slope_follow
        roll, pitch = bank.copy(), np.zeros(len(time))
        if follow and self.n_legs > 2 and not self._flat():
            feet = self.creature.feet() - np.asarray(self.creature.centre, dtype=float)
            floor = np.stack([line(time) for line in self.floor], axis=1)
            for axis, sign in ((0, -1.0), (1, -1.0)):
                arm = feet[:, axis] - feet[:, axis].mean()
                square = float(np.sum(arm**2))
                if square < 1e-9:
                    continue
                slope = np.arctan(follow * (floor @ arm) / square)
                if axis == 0:
                    roll += sign * slope
                elif len(self.girdles) == 1:
                    pitch += sign * slope
        if self.creature.list:
            roll += self.list(time)
        height, speed = zip(*(vertical(time) for vertical in self.vertical), strict=True)
        heights, speeds = np.stack(height, axis=1), np.stack(speed, axis=1)
        pitch, z = trunk_pose(self.ahead, self.above, heights, roll, pitch)
        position = np.column_stack((self.horizontal(time), z))
        if self.creature.sway:
            position[:, :2] += self.sway(time)[:, None] * forward_left(yaw)[1]
        turn = multiply(about_z(yaw), multiply(about_x(-pitch), about_y(roll)))
        parts = dict(yaw=yaw, bank=bank, roll=roll, pitch=pitch, heights=heights, speeds=speeds)
        return position, turn, parts

    def _hips(self, leg: np.ndarray, position: np.ndarray, turn: np.ndarray) -> np.ndarray:
        """Hips of legs (...) of bodies at positions (..., 3), turned by (..., 4), m."""
        arm = self.creature.hips() - np.asarray(self.creature.centre, dtype=float)
        return position + rotate(turn, arm[leg])

    def _flat(self) -> bool:
        return self.level

    # --- its girdles ------------------------------------------------------------------
    def _rising(self, g: int) -> Callable[[Standing], Rise]:
        """From where a girdle would stand to its up and down motion."""
        steps, legs = self.steps, self.girdles[g]
        of = np.isin(steps.leg, legs)
        # As planned: hips do not fall because a leg is too short to keep its foot down for long.
        on, off = self.planned.on[of], self.planned.off[of]
        profile = support_profile(on, off)
        knots = self.knots[g]
        way = np.linalg.norm(np.diff(self.horizontal(knots), axis=0), axis=1)
        first = np.clip(np.searchsorted(knots, profile.start), 0, len(knots) - 1)
        last = np.clip(np.searchsorted(knots, profile.end) - 1, 0, len(knots) - 1)
        begin = np.maximum(profile.start, self.horizontal.time[0])
        finish = np.minimum(profile.end, self.horizontal.time[-1])
        ends = np.stack((
            np.linalg.norm(self.horizontal(knots[first]) - self.horizontal(begin), axis=1),
            np.linalg.norm(self.horizontal(finish) - self.horizontal(knots[last]), axis=1),
        ), axis=1)
        # Gait, and legs, that open and close each support.
        opening, closing = np.argsort(on, kind="stable"), np.argsort(off, kind="stable")
        opens = opening[np.clip(np.searchsorted(on[opening], profile.start), 0, len(on) - 1)]
        closes = closing[np.clip(np.searchsorted(off[closing], profile.end), 0, len(off) - 1)]
        lasts = np.minimum(off - on, 4.0)
        halves = 0.5 * np.stack((lasts[opens], lasts[closes]), axis=1)
        gaits = [self.plans[k].gait for k in steps.gait[of][closes]]
        arc = np.array([gait.arc for gait in gaits])
        compression = np.array([gait.compression for gait in gaits]) * self.hip
        spring = np.array([gait.spring for gait in gaits])
        length = float(np.mean([self.legs[leg].length for leg in legs]))
        length = max(length, float(self.heights[legs].mean()))
        return lambda line: vertical_motion(
            profile, knots, line, way, ends, halves, arc, compression, length, self.gravity, spring
        )

    def _girdle(self, g: int) -> Rise:
        """Up and down motion of one girdle, sunk as far as is known to be needed."""
        legs, knots = self.girdles[g], self.knots[g]
        height = float(self.heights[legs].mean())
        level = float(self.settings.placement.origin[2]) if self._flat() else 0.0
        floors = [] if self._flat() else [self.floor[leg] for leg in legs]
        sunk = Line(knots, self._tipping(g))
        return self.risings[g](Standing(floors, level, height, self.bank, sunk))

    def _tipping(self, g: int) -> np.ndarray:
        """How much lower a girdle is at its knots, so that uneven ground does not tip the trunk
        by too much, m."""
        knots, deep = self.knots[g], self.sunk[g]
        for other in range(len(self.girdles)):
            if self.level or other == g:
                continue
            there = np.interp(knots, self.knots[other], self.sunk[other])
            rise = self._upright(g, knots) - self._upright(other, knots)
            tipped = TIPPED * abs(float(self.ahead[g] - self.ahead[other]))
            deep = np.where(self._sinks(knots), np.maximum(deep, rise + there - tipped), deep)
        return deep

    def _upright(self, g: int, time: np.ndarray) -> np.ndarray:
        """How high a girdle stands on upright legs on uneven ground at times, m."""
        legs = self.girdles[g]
        return self.heights[legs].mean() + np.mean([self.floor[leg](time) for leg in legs], axis=0)

    def _sinks(self, time: np.ndarray) -> np.ndarray:
        """Whether hips may sink at given times."""
        spans = np.array(self.may_sink, dtype=float).reshape(-1, 2)
        return covering(time, spans[:, 0], spans[:, 1]) > 0

    # --- knots ------------------------------------------------------------------------
    def _knots(self, g: int) -> np.ndarray:
        """Midstances of a girdle at which its height is known, those of `sunk`."""
        of = np.isin(self.planned.leg, self.girdles[g])
        on, off = self.planned.on[of], self.planned.off[of]
        knots = merge_midstances(self.middle[of], np.minimum(off - on, 4.0))
        # Stands begin and end as steps do, and are level in between.
        half = 0.5 * self._stand()
        long = np.flatnonzero(np.diff(knots) > 2.0 * half)
        knots = np.sort(np.concatenate((knots, knots[long] + half, knots[long + 1] - half)))
        events = self.high_steps[g].events
        return np.sort(np.concatenate((knots, events[gap(events, knots) > SHORTEST_SPAN])))

    def _high_steps(self, g: int) -> HighSteps:
        """Supports of a girdle that follow each other, one much higher than the other.

        Gaits that leave the ground in between jump; only what is told as too high is for them.
        """
        least = HIGH * self.hip, max(HIGH, self.settings.most_step) * self.hip
        if self.level:
            least = math.inf, math.inf
        return find_high_steps(self.planned, self.girdles[g], self.middle, self.holds, least)

    def _stand(self) -> float:
        """How long a support lasts at least that is a stand, s."""
        return STANDS * math.sqrt(self.hip / self.gravity)


def _line(middle: np.ndarray, value: np.ndarray, support: np.ndarray) -> Line:
    """A line through values at midstances; legs that stand together count as one."""
    order, group = group_midstances(middle, support)
    time, value = (np.bincount(group, weights=x[order]) for x in (middle, value))
    return Line(time / np.bincount(group), value / np.bincount(group))
