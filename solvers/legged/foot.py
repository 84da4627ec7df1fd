# SPDX-License-Identifier: GPL-3.0-or-later
"""Foot trajectories: planted in the support, rolling at its ends, swung in the transfer.

Girard 1986, sections 2.6 and 3.1. The paper plans swings in the space of the
hip and then bends their beginning and end, so that the speed of the foot does
not jump: after liftoff the foot follows through, going back under the body as
it did on the ground, and before touchdown it takes on the speed of the ground.
Here swings are planned in the world, where a planted foot is at rest: a swing
that begins and ends at rest there does both.

The swing moves along the ground with minimum jerk (section 2.6), or, by
`snap`, with a speed that is reached within RUSH of the transfer and kept. It
is lifted by c s^p (1 - s)^q, at rest at both ends, which peaks at the share
p / (p + q) of the transfer, over the straight line between its footholds; or,
where the ground between them has an edge, over a line that rises early and
falls late, so that feet clear the edges of stairs. One that stands, or comes down, close to
a stair goes up before it goes ahead, or ahead before it comes down.

A sole rolls about its heel while its toes are up after touchdown, and about its
toe while its heel is up before liftoff; those points stay where they are on the
ground. In between it lies flat. Who goes down stairs lands on the toes, who goes
up on the flat foot. The heels of people peel off slowly while the leg carries,
quickly as the next one takes over, and are highest after liftoff. The pitch is one
smooth curve through support and transfer; the point that the swing moves goes along
the sole from toe to heel, so that the speed of every point of the foot is continuous.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from ..rotations import about_x, about_z, multiply, rotate, slerp
from .body import Lines, minimum_jerk, search
from .creature import Leg
from .shapes import Shape

RUSH = 0.15  # share of the transfer in which a snappy foot gets up to its speed
EARLY = 0.55  # share of the transfer in which a foot rises to another height, at its beginning
LATE = 0.42  # and in which it falls to one, at its end, when its heel is past the edge of a stair
STEEP = 0.3  # share of the transfer in which a foot rises to clear what is in its way
KICK_PEAK = 0.28  # share of the transfer after which a foot is thrown up highest
STEP = 0.3  # hip heights
TOES_FREE = 0.6  # share of the transfer after which toes are in line with the foot again
HALF = 0.5  # of what a heel has peeled off half way: what there is where the next leg takes over
FOOTHOLD_CAP = 1.0  # s; feet that stand for longer roll as if they stood for that


def bump(share: np.ndarray, peak: np.ndarray | float) -> np.ndarray:
    """s^p (1 - s)^q, scaled to 1 at its peak p / (p + q); p and q at least 2.

    Args:
        share: (...) s, 0 to 1.
        peak: (...) share at which it peaks, above 0 and below 1.

    Returns:
        (...) 0 at both ends, where its slope is 0 too.
    """
    peak = np.asarray(peak, dtype=float)
    p = np.where(peak <= 0.5, 2.0, 2.0 * peak / (1.0 - peak))
    q = np.where(peak <= 0.5, 2.0 * (1.0 - peak) / peak, 2.0)
    s = np.clip(share, 0.0, 1.0)
    return (s / peak) ** p * ((1.0 - s) / (1.0 - peak)) ** q


def plateau(share: np.ndarray) -> np.ndarray:
    """Up with minimum jerk in the first part of a swing, down in the last, 1 between.

    Args:
        share: (...) 0 to 1.

    Returns:
        (...) 0 to 1.
    """
    return minimum_jerk(share / STEEP) * minimum_jerk((1.0 - share) / STEEP)


def progress(share: np.ndarray, snap: np.ndarray | float) -> np.ndarray:
    """How far a swing has gone: minimum jerk, or up to speed quickly.

    Args:
        share: (...) of the transfer's time, 0 to 1.
        snap: (...) 0 for minimum jerk, 1 for the quick one.

    Returns:
        (...) 0 to 1; at both ends speed and acceleration are 0.
    """
    s = np.clip(share, 0.0, 1.0)
    near = np.minimum(s, 1.0 - s) / RUSH
    u = np.minimum(near, 1.0)
    # Integral of the smooth step 3 u^2 - 2 u^3, then constant speed.
    gone = RUSH * (u**3 - 0.5 * u**4) + RUSH * np.maximum(near - 1.0, 0.0)
    half = gone / (1.0 - RUSH)
    quick = np.where(s <= 0.5, half, 1.0 - half)
    return (1.0 - np.asarray(snap)) * minimum_jerk(s) + np.asarray(snap) * quick


@dataclass(frozen=True)
class FootPose:
    """A foot over time.

    Attributes:
        position: (n, 3) of the point of the sole that footprints mark, m.
        orientation: (n, 4) from the foot as it is in rest, facing -Y.
        contact: (n,) bool: on the ground.
        pitch: (n,) toes up over the footprint, rad.
        step: (n,) number of the step that it is in, or comes from.
    """

    position: np.ndarray
    orientation: np.ndarray
    contact: np.ndarray
    pitch: np.ndarray
    step: np.ndarray


class Trajectory:
    """What a gait adds to the way of a swinging foot.

    A cubic spline through points, 0 and level at both ends of the transfer.

    Args:
        points: (share, ahead, up) each, lengths in hip heights.
        hip: hip height, m.
    """

    def __init__(self, points: Sequence[tuple[float, float, float]], hip: float) -> None:
        table = np.array([(0.0, 0.0, 0.0), *points, (1.0, 0.0, 0.0)], dtype=float)
        self._curve = CubicSpline(table[:, 0], hip * table[:, 1:], bc_type="clamped")

    def __call__(self, share: np.ndarray) -> np.ndarray:
        """How far ahead and up.

        Args:
            share: (n,) 0 to 1.

        Returns:
            (n, 2) m.
        """
        return self._curve(np.clip(share, 0.0, 1.0))


@dataclass(frozen=True)
class Swing:
    """How feet swing from each step to the next of the same foot; the last of each does not.

    Attributes:
        lift: (m,) height of the peak, m.
        peak: (m,) share of the transfer at which it is.
        kick: (m,) how far the foot is thrown up behind, m.
        snap: (m,) 0 for minimum jerk to 1 for quick.
        heel_up: (m,) pitch, heel up, rad.
        raised: (m,) how much higher the whole swing goes to clear the ground, m.
        wait: (m,) share of the transfer that passes before the foot goes
            ahead, while it is lifted: it stands close to a stair.
        rest: (m,) share in which it has arrived and is let down.
        edge: (m,) 0 to rise and fall evenly along the way, as slopes do, to 1 to
            rise early and fall late.
        added: what gaits add, and (m,) which of them each has, -1 for none.
        shapes: ways through postures, and (m,) which of them each goes, -1 for none.
        hips: numbers of feet (n,) and times -> (n, 3) their hips, m, and (n,) where the body
            faces, rad.
    """

    lift: np.ndarray
    peak: np.ndarray
    kick: np.ndarray
    snap: np.ndarray
    heel_up: np.ndarray
    raised: np.ndarray
    wait: np.ndarray
    rest: np.ndarray
    edge: np.ndarray
    added: tuple[tuple[Trajectory, ...], np.ndarray]
    shapes: tuple[tuple[Shape, ...], np.ndarray] = ((), np.zeros(0, int))
    hips: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None


class Feet:
    """The motion of feet through all their steps, all of them in one go.

    Steps are in one row, those of each foot in order of time, one foot after the other.

    Args:
        legs: (f,) the legs.
        foot: (m,) number of the foot that each step is of, each of them at least once.
        on: (m,) touchdowns, s; the first of a foot may be minus infinity.
        off: (m,) liftoffs, s; the last of a foot may be infinite.
        position: (m, 3) footprints, m.
        orientation: (m, 4) of the flat foot.
        strike: (m,) pitch at touchdown, toes up, rad.
        push: (m,) pitch at liftoff, heel up, rad.
        swing: how the transfers go.
    """

    def __init__(
        self,
        legs: Sequence[Leg],
        foot: np.ndarray,
        on: np.ndarray,
        off: np.ndarray,
        position: np.ndarray,
        orientation: np.ndarray,
        strike: np.ndarray,
        push: np.ndarray,
        swing: Swing,
    ) -> None:
        self.foot, self.on, self.off = foot, on, off
        self.position, self.orientation, self.swing = position, orientation, swing
        self._strike, self._push = strike, push
        self.ankle = np.array([leg.ankle for leg in legs], dtype=float)
        self._rolls = np.array([(leg.flat, leg.rise) for leg in legs])
        self._trail = np.array([leg.trail for leg in legs])
        self._heel = np.array([(0.0, leg.heel, 0.0) for leg in legs])
        self._toe = np.array([(0.0, -leg.toe, 0.0) for leg in legs])
        self.bounds = np.searchsorted(foot, np.arange(len(legs) + 1))
        # The ends of the sole that it touches down on, and leaves the ground from.
        heel, toe = self._heel[foot], self._toe[foot]
        self._last = np.where((push >= 0.0)[:, None], toe, heel)
        self._first = np.where((strike >= 0.0)[:, None], heel, toe)
        self._from = position + rotate(orientation, self._last)
        self._to = position + rotate(orientation, self._first)
        self._pitch = _pitch_curves(legs, foot, on, off, strike, push, swing.heel_up)

    @property
    def swings(self) -> np.ndarray:
        """(k,) numbers of the steps after which the foot takes another one."""
        return np.flatnonzero(self.foot[1:] == self.foot[:-1])

    def __call__(self, time: np.ndarray, count: Sequence[int] | np.ndarray) -> FootPose:
        """Where feet are.

        Args:
            time: (n,) s, the times of one foot after those of the other.
            count: (f,) how many of them are of each foot.

        Returns:
            The poses.
        """
        time = np.asarray(time, dtype=float)
        foot = np.repeat(np.arange(len(count)), count)
        first, last = self.bounds[:-1][foot], self.bounds[1:][foot] - 1
        step = np.maximum(search(self.on, self.bounds, time, count, "right") - 1, first)
        down = (time <= self.off[step]) & (time >= self.on[step])
        pitch = self._pitch(time, count)
        position, orientation = self._planted(step, pitch, foot)
        flying = np.flatnonzero(~down & (last > first))
        if len(flying):
            at = np.minimum(step[flying], last[flying] - 1)
            shaped = self._shaped(at, time[flying])
            for rows, _place, wanted, weight in shaped:
                own = flying[rows]
                pitch[own] += weight * (wanted - pitch[own])
            place, turn = self._swung(at, time[flying], pitch[flying])
            for rows, wanted, _pitch, weight in shaped:
                place[rows] += weight[:, None] * (wanted - place[rows])
            position[flying], orientation[flying] = place, turn
        return FootPose(position, orientation, down, pitch, step)

    def rolls(self, most: float) -> tuple[np.ndarray, np.ndarray, FootPose]:
        """Moments of supports at which feet touch down, leave the ground, and roll in between.

        Where a sole comes to lie flat, and where it ceases to, are among them. Every other moment
        of a roll, and both its ends, are no farther apart than is asked for; there is one more
        between any two of those.

        Args:
            most: angle by which a foot turns from one to the next but one at most, rad.

        Returns:
            (k,) s, (k,) how needful they are: 0 for ends of rolls, 1 for others no farther apart
            than asked for, 2 for those between, and the poses.
        """
        flat, rise = self._rolls[self.foot].T
        support = np.minimum(self.off - self.on, FOOTHOLD_CAP)
        rows, moments, ranks = [], [], []
        for k in range(len(self.foot)):
            first = self.on[k], flat[k] * support[k], self._strike[k]
            last = self.off[k], (rise[k] - 1.0) * support[k], self._push[k]
            for moment, lasts, angle in (first, last):
                if np.isfinite(moment):
                    parts = 2 * math.ceil(abs(angle) / most)
                    moments += [moment + lasts * i / max(parts, 1) for i in range(parts + 1)]
                    ranks += [0 if i in (0, parts) else 1 + i % 2 for i in range(parts + 1)]
                    rows += (parts + 1) * [k]
        step, time = np.array(rows, dtype=int), np.array(moments)
        order = np.lexsort((time, step))
        step, time = step[order], time[order]
        count = np.bincount(self.foot[step], minlength=len(self._heel))
        pitch = self._pitch(time, count)
        position, turn = self._planted(step, pitch, self.foot[step])
        pose = FootPose(position, turn, np.ones(len(time), dtype=bool), pitch, step)
        return time, np.array(ranks, dtype=int)[order], pose

    def _planted(
        self, step: np.ndarray, pitch: np.ndarray, foot: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rolling about heel or toe, or flat."""
        orientation = self.orientation[step]
        position = self.position[step]
        rolling = np.flatnonzero(pitch != 0.0)
        if len(rolling):
            angle, foot = pitch[rolling], foot[rolling]
            flat = orientation[rolling]
            turn = multiply(flat, about_x(-angle))
            arm = np.where((angle > 0.0)[:, None], self._heel[foot], self._toe[foot])
            pivot = position[rolling] + rotate(flat, arm)
            position[rolling] = pivot - rotate(turn, arm)
            orientation[rolling] = turn
        return position, orientation

    def _swung(
        self, step: np.ndarray, time: np.ndarray, pitch: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Between two footprints."""
        off, on = self.off[step], self.on[step + 1]
        share = (time - off) / (on - off)
        swing = self.swing
        wait, rest = swing.wait[step], swing.rest[step]
        along = progress((share - wait) / (1.0 - wait - rest), swing.snap[step])
        start, goal = self._from[step], self._to[step + 1]
        rise = goal[:, 2] - start[:, 2]
        early = np.where(rise > 0.0, share / EARLY, (share - 1.0 + LATE) / LATE)
        point = start + along[:, None] * (goal - start)
        edge = swing.edge[step]
        point[:, 2] = start[:, 2] + rise * (along + edge * (minimum_jerk(early) - along))
        point[:, 2] += swing.lift[step] * bump(share, swing.peak[step])
        point[:, 2] += swing.raised[step] * plateau(share)
        point[:, 2] += swing.kick[step] * bump(share, KICK_PEAK)
        for number, trajectory in enumerate(swing.added[0]):
            which = np.flatnonzero(swing.added[1][step] == number)
            way = (goal - start)[which, :2]
            size = np.linalg.norm(way, axis=1, keepdims=True)
            extra = trajectory(share[which])
            point[which, :2] += extra[:, :1] * way / np.maximum(size, 1e-9)
            point[which, 2] += extra[:, 1]
        smooth = minimum_jerk(share)
        turn = slerp(self.orientation[step], self.orientation[step + 1], smooth)
        turn = multiply(turn, about_x(-pitch))
        last, first = self._last[step], self._first[step + 1]
        trail = self._trail[self.foot[step]]
        over = minimum_jerk((share - trail) / (1.0 - trail))
        arm = last + over[:, None] * (first - last)
        return point - rotate(turn, arm), turn

    def _shaped(
        self, step: np.ndarray, time: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Which rows go through postures, where they are wanted, m, with which pitch, rad, and
        how far that counts."""
        found, swing = [], self.swing
        for number, shape in enumerate(swing.shapes[0]):
            rows = np.flatnonzero(swing.shapes[1][step] == number)
            if not len(rows):
                continue
            of, when = step[rows], time[rows]
            off, on = self.off[of], self.on[of + 1]
            share = np.clip((when - off) / (on - off), 0.0, 1.0)
            place, pitch = shape(share)
            assert swing.hips is not None
            hip, yaw = swing.hips(self.foot[of], when)
            place = hip + rotate(about_z(yaw), place)
            place[:, 2] += swing.raised[of] * plateau(share)
            found.append((rows, place, pitch, shape.weight(share)))
        return found

    def ankles(self, pose: FootPose) -> np.ndarray:
        """Where the legs end.

        Args:
            pose: poses of the feet.

        Returns:
            (n, 3) m.
        """
        return pose.position + rotate(pose.orientation, self.ankle[self.foot[pose.step]])

    def sole(self, pose: FootPose) -> tuple[np.ndarray, np.ndarray]:
        """Rear and front end of the sole.

        Args:
            pose: poses of the feet.

        Returns:
            (n, 3) and (n, 3) m.
        """
        foot = self.foot[pose.step]
        return (
            pose.position + rotate(pose.orientation, self._heel[foot]),
            pose.position + rotate(pose.orientation, self._toe[foot]),
        )

    def toe_tip(self, pose: FootPose, share: np.ndarray) -> np.ndarray:
        """Tip of toes that bend about the sole's front end.

        Args:
            pose: poses of the feet.
            share: (n,) of the transfer that has gone, 0 to 1.

        Returns:
            (n, 3) m.
        """
        toe = self._toe[self.foot[pose.step]]
        bent = about_x(np.minimum(pose.pitch, 0.0) * (1.0 - toes_free(share)))
        ball = pose.position + rotate(pose.orientation, toe)
        return ball - rotate(multiply(pose.orientation, bent), toe)


def toes_free(share: np.ndarray) -> np.ndarray:
    """How far toes that were flat on the ground are in line with the foot again.

    Args:
        share: (...) of the transfer that has gone.

    Returns:
        (...) 0 to 1.
    """
    return minimum_jerk(np.asarray(share) / TOES_FREE)


def _pitch_curves(
    legs: Sequence[Leg],
    foot: np.ndarray,
    on: np.ndarray,
    off: np.ndarray,
    strike: np.ndarray,
    push: np.ndarray,
    heel_up: np.ndarray,
) -> Lines:
    """Pitch of each foot over time: exactly 0 while the sole is flat."""
    flat, rise, peel, top, level = np.array(
        [(leg.flat, leg.rise, leg.peel, leg.top, leg.level) for leg in legs]
    ).T
    with np.errstate(invalid="ignore"):
        support = np.where(np.isfinite(off - on), np.minimum(off - on, FOOTHOLD_CAP), FOOTHOLD_CAP)
    lands, leaves = np.flatnonzero(np.isfinite(on)), np.flatnonzero(np.isfinite(off))
    swings = np.flatnonzero(foot[1:] == foot[:-1])
    aloft = on[swings + 1] - off[swings]
    part = peel[foot] * HALF
    part[swings[support[swings] < aloft]] /= HALF
    peels = leaves[part[leaves] > 0.0]
    rows = np.concatenate((lands, lands, leaves, peels, leaves, swings, swings))
    of = foot[rows]
    time = np.concatenate((
        on[lands], on[lands] + flat[foot[lands]] * support[lands],
        off[leaves] - (1.0 - rise[foot[leaves]]) * support[leaves],
        off[peels] - 0.5 * (1.0 - rise[foot[peels]]) * support[peels], off[leaves],
        off[swings] + top[foot[swings]] * aloft, off[swings] + level[foot[swings]] * aloft,
    ))
    value = np.concatenate((
        strike[lands], np.zeros(len(lands) + len(leaves)),
        -part[peels] * push[peels], -push[leaves],
        -heel_up[swings], np.zeros(len(swings)),
    ))
    none = np.setdiff1d(np.arange(len(legs)), of)  # who stands from the beginning and for good
    of, time, value = (
        np.concatenate((x, y)) for x, y in ((of, none), (time, 0.0 * none), (value, 0.0 * none))
    )
    order = np.lexsort((time, of))
    of, time, value = of[order], time[order], value[order]
    keep = np.append((np.diff(time) > 1e-9) | (of[1:] != of[:-1]), True)
    return Lines(time[keep], value[keep], np.bincount(of[keep]))


def strike_on_steps(strike: np.ndarray, rise: np.ndarray, hip: float) -> np.ndarray:
    """Pitch at touchdown where a leg steps up or down.

    Args:
        strike: (m,) on level ground, toes up, rad.
        rise: (m,) height over the leg's last foothold, m.
        hip: hip height, m.

    Returns:
        (m,) rad: 0 where it steps up by STEP of the hip height, and the
        opposite, toes first, where it steps down by that.
    """
    share = rise / (STEP * hip)
    return strike * np.where(share > 0.0, 1.0 - np.minimum(share, 1.0),
                             1.0 + 2.0 * np.maximum(share, -1.0))


def within_reach(
    position: np.ndarray, ankle: np.ndarray, hip: np.ndarray, free: np.ndarray, most: np.ndarray
) -> np.ndarray:
    """Draw a swinging foot in to the length of its leg.

    Distances d from hip to ankle up to `free` stay; beyond, they become
    free + (most - free) tanh((d - free) / (most - free)), which is below `most`
    and continuous in its slope.

    Args:
        position: (n, 3) of the foot, m.
        ankle: (n, 3) where the leg ends, m.
        hip: (n, 3) m.
        free: (n,) m.
        most: (n,) larger than `free`, m.

    Returns:
        (n, 3) positions of the foot, m.
    """
    arm = ankle - hip
    distance = np.linalg.norm(arm, axis=1)
    room = np.maximum(most - free, 1e-9)
    drawn = free + room * np.tanh(np.maximum(distance - free, 0.0) / room)
    less = np.where(distance > free, drawn / np.maximum(distance, 1e-12) - 1.0, 0.0)
    return position + less[:, None] * arm
