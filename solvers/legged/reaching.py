# SPDX-License-Identifier: GPL-3.0-or-later
"""The fifth stage of a legged motion: all footholds come within reach.

Girard 1986, section 4.1, keeps bodies at liftoff no higher than legs are long. Here that
is so for all of each support, on any ground. Contacts come first, then the length of the
legs: hips sink as far as they may to reach the footholds (`girdles`), and a step that
even so is out of reach begins later or ends earlier, or is left out. That is done in
rounds, each of which knows how far hips were still too high after the one before.
"""

from __future__ import annotations

import math

import numpy as np

from ..rotations import conjugate, rotate
from ..times import nearest
from . import problems
from .body import minimum_jerk
from .foot import Feet, FootPose, Swing, Trajectory
from .girdles import Girdles
from .shapes import Shape
from .steps import Steps

ROUNDS = 8  # of sinking hips and shortening steps until all footholds are in reach
UNEVEN_ROUNDS = 16  # of the same where the ground is not level
SAMPLES = np.array(  # of a support
    [0.0, 0.04, 0.08, 0.12, 0.16, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.8, 0.9, 0.96, 1.0]
)
FINE_SAMPLES = np.sort(  # where hips rise and sink on stairs and over high steps
    np.concatenate((SAMPLES, 0.5 * (SAMPLES[1:] + SAMPLES[:-1])))
)
LEAST_SUPPORT = 0.25  # of a support that is left of it, or the step is left out
TIPS = 0.01  # hip heights that a girdle stays above another that sinks to reach its footholds
EXACT = 0.1  # of what legs keep back of their length: more is not worth another round
SLOWEST = 0.8  # share of what is missing that is left of it after a round, at most
ALL_BUT = 0.9998 # of what a leg is long where its blade turns no further, on level ground
FLYING = 0.995  # of a leg's length that gaits with flights use: feet trail behind after them
SLOW = 0.45  # of the shortest stand from which on supports are looked at more often than usual
LOOKS = 0.02  # of the shortest stand: how often a stand is looked at
MOST_LOOKS = 100_000  # at once: many long stands would take much memory
SOFT = 1.5  # in which hips sink and rise again, as a multiple of sqrt(hip height / g)


class Reaching(Girdles):
    """Hips that sink, and steps that are cut, until legs are long enough."""

    def carry(self) -> None:
        """Heights of the girdles, so that all footholds are in reach."""
        self._trunk()
        self.planned = self.steps
        self.left_out = np.zeros(len(self.steps.leg), dtype=bool)
        self.short = np.zeros(len(self.steps.leg), dtype=bool)
        self.sunk = [np.zeros(0) for _ in self.girdles]
        self.beyond = np.zeros(len(self.steps.leg), dtype=bool)
        # Which steps may be shortened, and left out, and until and from when hips may sink.
        self.watched = np.ones(len(self.steps.leg), dtype=bool)
        self.may_shorten = self.may_leave = self.watched
        self.may_sink = ((-math.inf, math.inf),)
        self._rise_to_reach()

    def _rise_to_reach(self) -> None:
        """Heights of the girdles and feet until all are in reach."""
        self.high_steps = [self._high_steps(g) for g in range(len(self.girdles))]
        self.knots = [self._knots(g) for g in range(len(self.girdles))]
        self.risings = [self._rising(g) for g in range(len(self.girdles))]
        self.asked = [np.zeros(0) for _ in self.girdles]
        self.sunk = [
            depth if len(depth) == len(knots) else np.zeros(len(knots))
            for depth, knots in zip(self.sunk, self.knots, strict=True)
        ]
        self._feet_on_ground()
        for _ in range(ROUNDS if self.level else UNEVEN_ROUNDS):
            self.vertical = [self._girdle(g) for g in range(len(self.girdles))]
            steps_changed, sunk = self._reach()
            if steps_changed:
                self._feet_on_ground()
            if not (steps_changed or sunk):
                break
        else:
            self.vertical = [self._girdle(g) for g in range(len(self.girdles))]
        self._tell_of_reach()

    def _tell_of_reach(self) -> None:
        self.problems += problems.short_legs(
            self.steps, self.left_out, self.short & ~self.beyond, self.names, self.end
        )
        self.problems += problems.pushed_aloft(
            self._carriers(), self.steps, ~self.left_out, self.end
        )
        # Steps before and after the motion lead in and out; nobody sees how deep hips are there.
        seen = [
            np.where((knots >= 0.0) & (knots <= self.end), depth, 0.0)
            for knots, depth in zip(self.knots, self.sunk, strict=True)
        ]
        sunk = [float(depth.max(initial=0.0)) for depth in seen]
        if max(sunk) > problems.DEEP_CROUCH * self.hip:
            g = int(np.argmax(sunk))
            time = float(self.knots[g][int(np.argmax(seen[g]))])
            name = self.names[self.girdles[g][0]]
            self.problems.append(problems.hips_lowered(name, time, sunk[g]))
        self.problems += problems.high_jumps(self.vertical, self.hip, self.gravity, self.end)

    def _carriers(self) -> Steps:
        """Steps by which the body is pushed."""
        return self.planned

    # --- feet, which are on the ground ------------------------------------------------
    def _feet_on_ground(self) -> None:
        """Feet through all steps, swings not yet lifted over terrain."""
        steps = self.steps
        self.own = own = np.flatnonzero(~self.left_out)
        leg, gait, size = steps.leg[own], steps.gait[own], self.size[own]
        on, off = steps.on[own], steps.off[own]
        strike, push = self.strike[own], self.push[own]
        into = np.append(gait[1:], gait[-1:])
        gaits = [plan.gait for plan in self.plans]
        clearance, peak, kick, snap = np.array(
            [(gait.clearance, gait.peak, gait.kick, gait.snap) for gait in gaits]
        )[into].T
        # Who leaves the ground with less pitch throws the heel up by less.
        less = np.array([min(one.push, 1.0) if one.push > 0.0 else 1.0 for one in gaits])[gait]
        swing = Swing(
            lift=self.hip * (0.4 + 0.6 * size) * clearance,
            peak=peak,
            kick=self.hip * size * kick,
            snap=snap,
            heel_up=np.maximum(np.array([leg.swing for leg in self.legs])[leg] * size * less, push),
            raised=np.zeros(len(own)),
            wait=np.zeros(len(own)),
            rest=np.zeros(len(own)),
            edge=np.ones(len(own)),
            added=self._added(leg, into, on, off),
            shapes=self._shapes(leg, into),
            hips=self._hips_at,
        )
        self.feet = Feet(
            self.legs, leg, on, off, self.holds.position[own], self.foot_turn[own], strike, push,
            swing,
        )
        self.ankles_down: np.ndarray | None = None  # stay the same while only hips sink

    def _added(
        self, leg: np.ndarray, into: np.ndarray, on: np.ndarray, off: np.ndarray
    ) -> tuple[tuple[Trajectory, ...], np.ndarray]:
        """What gaits add to the ways of feet, and which of it each swing has.

        Swings follow steps (m,) of legs, and lead into given gaits.
        """
        gaits = [plan.gait for plan in self.plans]
        kinds = sorted({gait.trajectory for gait in gaits if gait.trajectory})
        which = [kinds.index(gait.trajectory) if gait.trajectory else -1 for gait in gaits]
        added = np.array(which, dtype=int)[into]
        alternates = np.array([gait.alternates for gait in gaits])[into[:-1]]
        for k in np.flatnonzero(alternates & (leg[1:] == leg[:-1])):
            lasts = (on[k + 1] - off[k]) * float(self._stride_rate(on[k + 1]))
            if lasts < 1.0 - np.mean(gaits[into[k]].duty):  # a hop, shorter than in the mean
                added[k] = -1
        return tuple(Trajectory(kind, self.hip) for kind in kinds), added

    def _shapes(
        self, leg: np.ndarray, into: np.ndarray
    ) -> tuple[tuple[Shape, ...], np.ndarray]:
        """Ways through postures, and which of them the swing after each step (m,) goes."""
        gaits = [dict(plan.gait.swings) for plan in self.plans]
        kinds = sorted({points for gait in gaits for points in gait.values()})
        table = np.array([
            [kinds.index(gait[name]) if name in gait else -1 for name in self.names]
            for gait in gaits
        ])
        return tuple(Shape(points, self.hip) for points in kinds), table[into, leg]

    def _hips_at(self, leg: np.ndarray, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Hips of legs (n,) at times, m, and where the body faces, rad."""
        position, turn, parts = self.body(time)
        return self._hips(leg, position, turn), parts["yaw"]

    def _poses(self, which: np.ndarray, time: np.ndarray) -> FootPose:
        """Poses of feet at times (k, n) in, or after, given steps (k,) of theirs."""
        count = np.bincount(self.feet.foot[which], minlength=self.n_legs)
        return self.feet(time.ravel(), count * time.shape[1])

    def _ankles_down(self, moments: np.ndarray) -> np.ndarray:
        """(m, k, 3) where legs end at moments of their watched steps, feet on the ground."""
        if self.ankles_down is None:
            feet, watched = self.feet, np.flatnonzero(self.watched[self.own])
            # At touchdown and liftoff exactly, the foot is on the ground.
            lands, leaves = feet.on[watched, None], feet.off[watched, None]
            pose = self._poses(watched, np.clip(moments, lands, leaves))
            self.ankles_down = feet.ankles(pose).reshape(*moments.shape, 3)
        return self.ankles_down

    def _in_line(self, leg: np.ndarray, arm: np.ndarray, turn: np.ndarray) -> np.ndarray:
        """Shares of their lengths that legs (m,) have in directions from ankles to hips."""
        share = np.ones(arm.shape[:-1])
        for number, one in enumerate(self.legs):
            of = np.flatnonzero(leg == number)
            if one.blade and len(of):
                there = rotate(conjugate(turn[of]), -arm[of])
                share[of] = one.longest(there) / self.lengths[number]
        return share

    def _most(
        self, leg: np.ndarray, arm: np.ndarray, turn: np.ndarray, straight: np.ndarray
    ) -> np.ndarray:
        """How far legs (m,) that stretch as far as `straight` do in these directions, m.

        Where the ground is level blades turn as far as legs swing, but for those of footprints
        that were edited; these keep nothing back besides.
        """
        share = self._in_line(leg, arm, turn)
        if not self.level:
            return straight * share
        length = self.lengths[leg].reshape(len(leg), *[1] * (share.ndim - 1))
        return np.minimum(straight, ALL_BUT * share * length)

    # --- what is out of reach ---------------------------------------------------------
    def _reach(self) -> tuple[bool, bool]:
        """Shorten steps and sink hips where legs are too short; whether either was done."""
        steps, settings = self.steps, self.settings
        first, last = float(self.horizontal.time[0]), float(self.horizontal.time[-1])
        own = self.own[self.watched[self.own]]
        leg, girdle = steps.leg[own], self.girdle_of[steps.leg[own]]
        on, off = np.clip(steps.on[own], first, last), np.clip(steps.off[own], first, last)
        fine = self.strides.climbs or any(len(high.steps) for high in self.high_steps)
        samples = FINE_SAMPLES if fine else SAMPLES
        moments = on[:, None] + (off - on)[:, None] * samples
        position, turn, _ = self.body(moments.ravel())
        hip = self._hips(np.repeat(leg, len(samples)), position, turn)
        self.tick()
        arm = hip.reshape(*moments.shape, 3) - self._ankles_down(moments)
        flies = np.array([min(plan.gait.duty) < 0.5 for plan in self.plans])[steps.gait[own]]
        usual = settings.reach * np.minimum([leg.reach for leg in self.legs], FLYING) * self.lengths
        straight = np.where(flies, usual[leg], self.reached[leg])
        most = self._most(leg, arm, turn.reshape(*moments.shape, 4), straight[:, None])
        excess, aside = _too_high(arm, most)
        at, there, sunk = np.zeros(len(own), dtype=int), np.zeros(len(own)), np.zeros(len(own))
        # What a blade that does not turn so far takes from the leg, hips sink besides.
        may = settings.crouch * self.heights[leg] + (straight - most.min(axis=1))
        room, bent = np.full(len(own), math.inf), np.zeros(len(own))
        stands = steps.off[own] - steps.on[own] > self._stand()
        for g, knots in enumerate(self.knots):
            of = girdle == g
            at[of] = np.searchsorted(knots, self.middle[own[of]] - 1e-9)
            at[of] = np.clip(at[of], 0, len(knots) - 1)
            # Who comes to a stand sinks to touch down, and has risen by the middle of the stand;
            # so does who goes up or down a high step, around its middle.
            for k in np.flatnonzero(of & (stands | np.isin(own, self.high_steps[g].steps))):
                worst_at = moments[k, int(np.argmax(excess[k]))]
                at[k] = int(nearest(knots, worst_at))
            there[of], sunk[of] = knots[at[of]], self.sunk[g][at[of]]
            if len(self.high_steps[g].steps):
                may[of] += self.high_steps[g].rise_at(there[of])
            bent[of] = (np.array([leg.bent for leg in self.legs]) * self.lengths)[leg[of]]
            room[of] = _room_to_sink(knots, moments[of], arm[of], bent[of])[at[of]]
        left = np.minimum(may * self._sinks(there) - sunk, room)
        worst = np.maximum(excess.max(axis=1), 0.0)
        sink = np.minimum(worst, np.maximum(left, 0.0))
        low = excess > np.maximum(left, 0.0)[:, None] + 1e-9
        hopeless = low | (aside >= most) | (np.linalg.norm(arm, axis=2) < bent[:, None])
        same = leg[1:] == leg[:-1]
        inner = np.append(False, same) & np.append(same, False)
        new_on, new_off = steps.on.copy(), steps.off.copy()
        steps_changed = hips_sunk = False
        for k in np.flatnonzero(hopeless.any(axis=1) & self.may_shorten[own]):
            begin, finish = _longest_run(~hopeless[k])
            step = own[k]
            whole = float(self.planned.off[step] - self.planned.on[step])
            if (
                begin is None
                or finish is None
                or moments[k, finish] - moments[k, begin] < LEAST_SUPPORT * min(whole, 4.0)
            ):
                self.beyond[step], sink[k] = True, 0.0
                if self.may_leave[step] and inner[k]:
                    self.left_out[step] = steps_changed = True
                continue
            if begin > 0:
                new_on[step] = moments[k, begin]
            if finish < len(samples) - 1:
                new_off[step] = moments[k, finish]
            self.short[step] = True
            self.beyond[step] = False
            worst[k] = max(float(excess[k, begin : finish + 1].max()), 0.0)
            sink[k] = min(worst[k], max(left[k], 0.0))
            steps_changed = True
        # A little of what legs keep back may be used, but not of those that keep nothing.
        longest = np.zeros(self.n_legs)
        np.maximum.at(longest, leg, most.max(axis=1))
        spare = EXACT * (self.lengths - longest)[leg]
        little = np.minimum(np.maximum(spare, 1e-6 * self.hip), 1e-4 * self.hip)
        need = [np.zeros(len(sunk)) for sunk in self.sunk]
        for g, deeper in enumerate(need):
            of = girdle == g
            np.maximum.at(deeper, at[of], np.where(sink > little, 1.02 * sink, 0.0)[of])
        self._need_in_stands(need)
        for g, sink in enumerate(need):
            # Hips that sink at midstance sink less at the ends of the support: what was left of
            # the last time tells how much less, and the sum of the series how much it takes.
            if len(self.asked[g]) == len(sink):
                left = np.divide(sink, self.asked[g], out=np.zeros_like(sink),
                                 where=self.asked[g] > 0.0)
                sink = sink / (1.0 - np.minimum(left, SLOWEST))
            self.asked[g] = sink
            if np.any(sink > 0.0):
                self.sunk[g] = np.maximum(self.sunk[g], self._spread(g, self.sunk[g] + sink, sink))
                hips_sunk = True
        if hips_sunk and len(self.girdles) > 1:
            self._sink_together()
        if steps_changed:
            new_off = np.maximum(new_off, new_on + 1e-4)
            self.steps = Steps(steps.leg, steps.index, new_on, new_off, steps.middle, steps.gait)
        return steps_changed, hips_sunk

    def _need_in_stands(self, need: list[np.ndarray]) -> None:
        """Raise how much deeper hips have to be at knots by what long supports need, m.

        Stands last for many knots, and the body starts and stops within them.
        """
        steps, settings, stand = self.steps, self.settings, self._stand()
        on, off = np.maximum(steps.on, -stand), np.minimum(steps.off, self.end + stand)
        long = (off - on > SLOW * stand) & self.watched & ~self.left_out & ~self.beyond
        if not long.any():
            return
        which = np.flatnonzero(long)
        looks = np.ceil((off - on)[which] / (LOOKS * stand)).astype(int) + 1
        little = EXACT * (self.lengths - self.reached)
        cuts = np.flatnonzero(np.diff(np.cumsum(looks) // MOST_LOOKS)) + 1
        for group, count in zip(np.split(which, cuts), np.split(looks, cuts), strict=True):
            moments = np.concatenate(
                [np.linspace(on[k], off[k], n) for k, n in zip(group, count, strict=True)]
            )
            leg = np.repeat(steps.leg[group], count)
            position, turn, _ = self.body(moments)
            pose = self.feet(moments, np.bincount(leg, minlength=self.n_legs))
            arm = self._hips(leg, position, turn) - self.feet.ankles(pose)
            excess, _ = _too_high(arm, self._most(leg, arm, turn, self.reached[leg]))
            for g, knots in enumerate(self.knots):
                of = np.flatnonzero(self.girdle_of[leg] == g)
                at = nearest(knots, moments[of])
                allowed = settings.crouch * self.heights[leg[of]] * self._sinks(knots[at])
                sink = np.minimum(excess[of], allowed - self.sunk[g][at])
                np.maximum.at(need[g], at, np.where(sink > little[leg[of]], 1.02 * sink, 0.0))

    # --- how hips sink ----------------------------------------------------------------
    def _sink_together(self) -> None:
        """Let no girdle stay far above another that sinks: trunks follow the ground.

        Over high steps each girdle has its own, as far as it sinks by more than usual.
        """
        knots, sunk = self.knots, [depth.copy() for depth in self.sunk]
        usual = self.settings.crouch * self.hip
        for g, depth in enumerate(sunk):
            for other, own, high in zip(knots, sunk, self.high_steps, strict=True):
                most = usual if len(high.steps) else math.inf
                deep = np.minimum(np.interp(knots[g], other, own), most) - TIPS * self.hip
                depth = np.where(self._sinks(knots[g]), np.maximum(depth, deep), depth)
            self.sunk[g] = depth

    def _spread(self, g: int, deep: np.ndarray, sink: np.ndarray) -> np.ndarray:
        """How deep hips are about the midstances that need it: smoothly down and up again."""
        knots = self.knots[g]
        width = SOFT * math.sqrt(self.hip / self.gravity)
        deep = np.where(sink > 0.0, deep, 0.0)
        spread = deep.copy()
        flat = self._lasting(g)
        for k in range(1, len(knots)):
            apart = knots[k:] - knots[:-k]
            if apart.min() > width + flat.max():
                break
            share = minimum_jerk(1.0 - np.maximum(apart - flat[:-k], 0.0) / width)
            spread[k:] = np.maximum(spread[k:], share * deep[:-k])
            share = minimum_jerk(1.0 - np.maximum(apart - flat[k:], 0.0) / width)
            spread[:-k] = np.maximum(spread[:-k], share * deep[k:])
        return spread

    def _lasting(self, g: int) -> np.ndarray:
        """Halves of the supports about the midstances of a girdle, s."""
        of = np.isin(self.steps.leg, self.girdles[g])
        half = 0.5 * np.minimum(self.steps.off[of] - self.steps.on[of], self._stand())
        knots = self.knots[g]
        at = np.clip(np.searchsorted(knots, self.middle[of] - 1e-9), 0, len(knots) - 1)
        lasting = np.zeros(len(knots))
        np.maximum.at(lasting, at, half)
        return lasting


def _too_high(arm: np.ndarray, reach: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """How far hips at `arm` (..., 3) from ankles are too high for legs, and how far aside, m."""
    aside = np.linalg.norm(arm[..., :2], axis=-1)
    return arm[..., 2] - np.sqrt(np.maximum(reach**2 - aside**2, 0.0)), aside


def _room_to_sink(
    knots: np.ndarray, moments: np.ndarray, arm: np.ndarray, bent: np.ndarray
) -> np.ndarray:
    """How much deeper hips may be at knots until a planted leg folds no further, m.

    At moments (m, k) of supports they are at arms (m, k, 3) from ankles, and legs are at
    least `bent` (m,) long.
    """
    high, _ = _too_high(arm, bent[:, None])
    edges, room = 0.5 * (knots[1:] + knots[:-1]), np.full(len(knots), math.inf)
    np.minimum.at(room, np.searchsorted(edges, moments), np.maximum(high, 0.0))
    return room


def _longest_run(good: np.ndarray) -> tuple[int, int] | tuple[None, None]:
    """First and last of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], good, [False]))))
    if not len(edges):
        return None, None
    begin, finish = edges[::2], edges[1::2] - 1
    k = int(np.argmax(finish - begin))
    return int(begin[k]), int(finish[k])
