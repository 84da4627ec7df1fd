# SPDX-License-Identifier: GPL-3.0-or-later
"""Body motion from support profiles: up and down, along the path, turning, leaning.

Girard 1986, section 4, with what the paper leaves open:

Vertical (4.1), for each girdle. In a flight of duration t between the heights
z_off and z_on of its liftoff and touchdown the girdle is a projectile:
V_up = g t / 2 - (z_off - z_on) / t, which is negative where it drops. In the
support the speed falls from that of the landing, v1, to 0 and grows to that
of the next liftoff, v2, as A t^e from the moment at which it is 0:

    e = max(1, v t / D - 1),    A = v / t^e,    distance = v t / (e + 1) <= D

with t half of the support. Where the two distances differ, because e is held
at 1 and the flights are uneven, the difference is made up over the support by
a minimum-jerk curve, which adds no speed at its ends: the height at the next
liftoff is the one asked for, so heights never drift. A flight so short that it
would have to be a jump between heights that differ touches down at another one,
which the support makes up for likewise. With e = 1 a body is
carried by a constant force, from the very touchdown. Legs are springs: their
force is half a sine, and bodies sink deeper (Alexander 1989; Blickhan 1989). By
a share b of that the support between two flights adds

    b F T^2 (s / 2 - s^2 / 2 - sin(pi s) / (2 pi)),    0 <= s <= 1

with T its duration and F the mean force for a unit of mass, g + (v1 + v2) / T.
It is 0 and level at both ends, and no deeper than D leaves room for. If a support lasts for
more than the halves of its first and last leg's supports (a walk that goes
over into a trot), the body sinks and recovers, and sinks and jumps, within
those; who stands does so in 2 D / v (e is 1), or in the sqrt(l / g) of a leg's
natural pace if that is longer, and D is as large then as holds e down to HARDEST:
who lands from high up bends down far.

Walking bodies ride on stiff legs: between two midstances they sink along the
rigid leg's arc, as half a cosine, by

    w arc (l - sqrt(l^2 - (d / 2)^2)),    w = (1 + cos(pi min(r / FADE, 1))) / 2

with d the way between the midstances, and r the ratio of non-support to
support. So a walk (r = 0) is highest at midstance and a run lowest.

All of it is measured from a line that runs smoothly through the heights at
which the girdle would stand at each midstance: that of the ground plus that
of the hips.

Horizontal (4.2): the acceleration is what the path asks for plus feedback of
the velocity error, *desired minus current* (the paper has it the other way
round), where the desired velocity leads back to the nearest point of the path; its magnitude, also
in braking, is at most the sum of the impulses of the legs on the ground.

Yaw (4.3): constant acceleration in each support, none in the air. The one that
meets the wanted yaw at the start of the next support leaves an error of the
rate that is multiplied by -q, q = t_s / (t_s + 2 t_ns), each time: a walk
would ring for ever. The acceleration here is a mean of that one, with weight
1 - L, and of the one that meets the wanted rate, with weight L = q / (1 + q).
The errors' next values are a linear map of the present ones whose both
eigenvalues are then 0: an error is gone after two supports.

Banking (4.4): arctan(s^2 / (R g)) at midstances, to the inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from .support import SupportProfile

FADE = 0.15  # non-support over support at which nothing of the rigid leg's arc is left
GENTLE = 0.5  # largest acceleration along the rigid leg's arc, in g
HARDEST = 3.0  # largest e of those who land in a stand, or jump from one: some 4 body weights
DEEPEST = 0.35  # leg lengths that they bend down for it at most
HASTE = 0.15  # most that flights sink or rise against the ground in the mean, in sqrt(g length)
MERGED = 0.15  # of a leg's support: midstances that are nearer count as one
TICK = 4000  # steps between reports of progress
MOST_POINTS = 200_000  # at which a path is looked up
SPRING_DEPTH = 0.5 / np.pi - 0.125  # how deep `spring_curve` goes
SPREADS = 60  # rounds in which turns are spread out
STEADY = 4.0  # time constant of going back to the path, over that of the velocity


class Curve(Protocol):
    """A quantity over time, and how fast it changes."""

    def __call__(self, time: np.ndarray) -> np.ndarray:
        """Values.

        Args:
            time: (n,) s.

        Returns:
            (n,) values.
        """

    def rate(self, time: np.ndarray) -> np.ndarray:
        """How fast they change.

        Args:
            time: (n,) s.

        Returns:
            (n,) per second.
        """


class GroundPlan(Protocol):
    """A body's way in the ground plan: see `Horizontal`."""

    @property
    def time(self) -> np.ndarray:
        """(n,) s, of the samples."""

    @property
    def velocity(self) -> np.ndarray:
        """(n, 2) m/s."""

    def __call__(self, time: np.ndarray) -> np.ndarray:
        """Positions.

        Args:
            time: (...) s.

        Returns:
            (..., 2) m.
        """

    def rate(self, time: np.ndarray) -> np.ndarray:
        """Velocities.

        Args:
            time: (n,) s.

        Returns:
            (n, 2) m/s.
        """


class Heading(Protocol):
    """A body's yaw: see `Turning`."""

    def __call__(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Yaw and its rate.

        Args:
            time: (n,) s.

        Returns:
            (n,) rad and (n,) rad/s.
        """


class Rise(Protocol):
    """A girdle's heights: see `Vertical`."""

    @property
    def profile(self) -> SupportProfile:
        """Its supports."""

    @property
    def up(self) -> np.ndarray:
        """(m - 1,) upward speeds at the liftoffs, m/s."""

    def __call__(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Height and vertical speed.

        Args:
            time: (n,) s.

        Returns:
            (n,) m and (n,) m/s.
        """


def search(
    knots: np.ndarray, bounds: np.ndarray, time: np.ndarray, count: Sequence[int] | np.ndarray,
    side: Literal["left", "right"],
) -> np.ndarray:
    """`searchsorted` in several rows of knots, each for times of its own.

    Args:
        knots: (k,) s, increasing in each row, one row after the other.
        bounds: (r + 1,) where rows begin, and where the last one ends.
        time: (n,) s, those of one row after those of the other.
        count: (r,) how many of them are of each row.
        side: as for `searchsorted`.

    Returns:
        (n,) places among all knots.
    """
    found = np.empty(len(time), dtype=int)
    edges, ends = bounds.tolist(), np.cumsum(count).tolist()
    begin = 0
    for first, last, end in zip(edges[:-1], edges[1:], ends, strict=True):
        row = knots[first:last].searchsorted(time[begin:end], side)
        np.add(row, first, out=found[begin:end])
        begin = end
    return found


class Line:
    """A smooth curve through values at times: monotone between them, level outside.

    The piecewise cubic of Fritsch and Carlson 1980, which does not overshoot.

    Args:
        time: (k,) s, increasing.
        value: (k,) values.
    """

    def __init__(self, time: np.ndarray, value: np.ndarray) -> None:
        # What is level, as the bank of a straight way, needs no curve.
        self._level = value[0] if np.all(value == value[0]) else None
        if self._level is not None:
            return
        # Beyond its ends it stays, without a corner.
        self._time = np.concatenate(([time[0] - 1.0], time, [time[-1] + 1.0]))
        self._cubic = _monotone(self._time, np.concatenate((value[:1], value, value[-1:])))

    def __call__(self, time: np.ndarray | float) -> np.ndarray:
        """Values.

        Args:
            time: (n,) s.

        Returns:
            (n,) values.
        """
        if self._level is not None:
            return np.full(np.shape(time), self._level)
        (a, b, c, d), s = self._at(time)
        return d + c * s + b * (s * s) + a * (s * s * s)

    def rate(self, time: np.ndarray | float) -> np.ndarray:
        """How fast they change.

        Args:
            time: (n,) s.

        Returns:
            (n,) per second.
        """
        if self._level is not None:
            return np.zeros(np.shape(time))
        (a, b, c, _), s = self._at(time)
        return c + 2.0 * b * s + 3.0 * a * (s * s)

    def _at(self, time: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """(4, n) coefficients that hold at times, and (n,) how far into their pieces they are."""
        inner = np.minimum(np.maximum(time, self._time[0]), self._time[-1])
        at = np.minimum(self._time.searchsorted(inner, "right") - 1, len(self._time) - 2)
        return self._cubic[:, at], inner - self._time[at]


class Lines:
    """Several curves as `Line`, of which each is asked for at times of its own.

    Args:
        time: (k,) s, those of one curve after those of the other, increasing in each.
        value: (k,) values.
        count: (r,) how many of them are of each curve, at least one.
    """

    def __init__(self, time: np.ndarray, value: np.ndarray, count: np.ndarray) -> None:
        end = np.cumsum(count)
        start = end - count
        # Beyond their ends they stay, without a corner; so none knows of the one beside it.
        place = np.concatenate((end, start))
        beyond = np.concatenate((time[end - 1] + 1.0, time[start] - 1.0))
        level = np.concatenate((value[end - 1], value[start]))
        self._time = np.insert(time, place, beyond)
        self._cubic = _monotone(self._time, np.insert(value, place, level))
        self._bounds = np.concatenate(([0], end + 2 * np.arange(1, len(count) + 1)))

    def __call__(self, time: np.ndarray, count: Sequence[int] | np.ndarray) -> np.ndarray:
        """Values.

        Args:
            time: (n,) s, those of one curve after those of the other.
            count: (r,) how many of them are of each curve.

        Returns:
            (n,) values.
        """
        first = np.repeat(self._bounds[:-1], count)
        last = np.repeat(self._bounds[1:], count) - 1
        inner = np.minimum(np.maximum(time, self._time[first]), self._time[last])
        at = np.minimum(search(self._time, self._bounds, inner, count, "right") - 1, last - 1)
        (a, b, c, d), s = self._cubic[:, at], inner - self._time[at]
        return d + c * s + b * (s * s) + a * (s * s * s)


def _monotone(time: np.ndarray, value: np.ndarray) -> np.ndarray:
    """(4, k - 1) coefficients of a monotone piecewise cubic that is level at both ends.

    Slopes are weighted harmonic means of those of the pieces on both sides (Fritsch and
    Butland 1984), 0 where these differ in sign or one of them is 0.
    """
    step = np.diff(time)
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = np.diff(value) / step
        before, after = rise[:-1], rise[1:]
        one, two = 2.0 * step[1:] + step[:-1], step[1:] + 2.0 * step[:-1]
        mean = 1.0 / ((one / before + two / after) / (one + two))
        slope = np.zeros(len(time))
        slope[1:-1] = np.where(np.sign(before) * np.sign(after) > 0.0, mean, 0.0)
        bend = (slope[:-1] + slope[1:] - 2.0 * rise) / step
        return np.stack((bend / step, (rise - slope[:-1]) / step - bend, slope[:-1], value[:-1]))


class Floor:
    """Height of the ground that a leg feels: smooth through its footholds.

    What was changed about footholds by hand is added as half cosines that
    reach from the step before to the step after and no further.

    Args:
        time: (k,) midstances, s, increasing.
        height: (k,) heights of the footholds before changes, m.
        change: (k,) how much higher they are now, m.
    """

    def __init__(self, time: np.ndarray, height: np.ndarray, change: np.ndarray) -> None:
        self._line = Line(time, height)
        self._time, self._change = time, change
        self._changed = bool(np.any(change))

    def __call__(self, time: np.ndarray) -> np.ndarray:
        """Heights.

        Args:
            time: (n,) s.

        Returns:
            (n,) m.
        """
        height = self._line(time)
        if self._changed:
            height = height + self._bumps(time)[0]
        return height

    def rate(self, time: np.ndarray) -> np.ndarray:
        """How fast the height changes.

        Args:
            time: (n,) s.

        Returns:
            (n,) m/s.
        """
        rate = self._line.rate(time)
        if self._changed:
            rate = rate + self._bumps(time)[1]
        return rate

    def _bumps(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if len(self._time) < 2:
            return np.full(np.shape(time), self._change[0]), np.zeros(np.shape(time))
        return _cosine(self._time, self._change, np.asarray(time, dtype=float))


class Standing:
    """Height at which a girdle would stand: that of the ground and of the hips.

    Leaning hips are lower, by the cosine of the lean, as legs get no longer.

    Args:
        floors: grounds of its legs, of which the mean counts; empty where the
            ground is level.
        level: height of level ground, m.
        height: of upright hips over the ground, m.
        lean: rad.
        sunk: how much lower the hips are, m.
    """

    def __init__(
        self, floors: Sequence[Curve], level: float, height: float, lean: Curve, sunk: Curve
    ) -> None:
        self._floors, self._level, self._height = tuple(floors), level, height
        self._lean, self._sunk = lean, sunk

    def __call__(self, time: np.ndarray) -> np.ndarray:
        """Heights.

        Args:
            time: (n,) s.

        Returns:
            (n,) m.
        """
        height = self._level + self._height * np.cos(self._lean(time)) - self._sunk(time)
        for floor in self._floors:
            height = height + floor(time) / len(self._floors)
        return height

    def rate(self, time: np.ndarray) -> np.ndarray:
        """How fast the height changes.

        Args:
            time: (n,) s.

        Returns:
            (n,) m/s.
        """
        rate = -self._height * np.sin(self._lean(time)) * self._lean.rate(time)
        rate = rate - self._sunk.rate(time)
        for floor in self._floors:
            rate = rate + floor.rate(time) / len(self._floors)
        return rate


def minimum_jerk(share: np.ndarray) -> np.ndarray:
    """10 s^3 - 15 s^4 + 6 s^5: the smoothest way from 0 to 1 (Flash and Hogan 1985).

    Args:
        share: (...) s; beyond 0 to 1 it stays.

    Returns:
        (...) 0 to 1.
    """
    s = np.clip(share, 0.0, 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


def _minimum_jerk_rate(share: np.ndarray) -> np.ndarray:
    s = np.clip(share, 0.0, 1.0)
    return 30.0 * s * s * (1.0 - s) ** 2


def spread_turns(
    heading: np.ndarray, spacing: float, most: np.ndarray, width: float
) -> tuple[np.ndarray, np.ndarray]:
    """Turn no quicker than a body can, by beginning earlier and going on for longer.

    What a rate of turning is beyond the most is taken from it and given to the times around
    it, again and again; the whole turn stays as it is. Where there is not enough time for that,
    the rest of it stays where it was.

    Args:
        heading: (n,) rad, unwrapped.
        spacing: between the samples, s.
        most: (n,) rad/s, above 0.
        width: how far around it is given in one go, s.

    Returns:
        (n,) headings, rad, and (n,) how much quicker than `most` they were to turn, rad/s,
        below 0 where they were not.
    """
    if len(heading) < 3:
        return heading, np.full(len(heading), -np.inf)
    rate = np.diff(heading) / spacing
    bound = 0.5 * (most[1:] + most[:-1])
    over = np.abs(rate) - bound
    excess = np.append(over, over[-1])
    if np.all(over <= 0.0):
        return heading, excess
    kernel = np.hanning(2 * max(int(width / spacing), 1) + 3)[1:-1]
    kernel /= kernel.sum()
    reach = len(kernel) // 2
    for _ in range(SPREADS):
        kept = np.clip(rate, -bound, bound)
        beyond = rate - kept
        if np.abs(beyond).max() <= 1e-3 * bound.min():
            break
        rate = kept + np.convolve(beyond, kernel)[reach : reach + len(rate)]
    return heading[0] + np.concatenate(([0.0], np.cumsum(rate) * spacing)), excess


def group_midstances(middle: np.ndarray, support: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which midstances are of legs that stand together.

    Args:
        middle: (m,) midstances, s, finite.
        support: (m,) durations of the same steps' supports, s.

    Returns:
        (m,) int: their order in time, and (m,) the group of each in that order,
        from 0.
    """
    order = np.argsort(middle, kind="stable")
    middle, support = middle[order], support[order]
    near = np.maximum(MERGED * np.minimum(support[1:], support[:-1]), 1e-6)
    return order, np.concatenate(([0], np.cumsum(np.diff(middle) > np.minimum(near, 1.0))))


def merge_midstances(middle: np.ndarray, support: np.ndarray) -> np.ndarray:
    """Midstances of a girdle, those of legs that stand together as one.

    Args:
        middle: (m,) midstances of its steps, s, finite.
        support: (m,) durations of the same steps' supports, s.

    Returns:
        (k,) s, increasing.
    """
    order, group = group_midstances(middle, support)
    return np.bincount(group, weights=middle[order]) / np.bincount(group)


def spring_curve(share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How a body on a leg whose force is half a sine differs from one on a constant force.

    s / 2 - s^2 / 2 - sin(pi s) / (2 pi), whose second derivative is pi / 2 sin(pi s) - 1.

    Args:
        share: (...) s of the support, 0 to 1.

    Returns:
        (...) heights, 0 at both ends and SPRING_DEPTH below 0 half way, and their (...)
        derivatives, 0 at both ends.
    """
    s = np.asarray(share, dtype=float)
    return (
        0.5 * s * (1.0 - s) - np.sin(np.pi * s) / (2.0 * np.pi),
        0.5 - s - 0.5 * np.cos(np.pi * s),
    )


def rigid_arc(way: np.ndarray, length: float) -> np.ndarray:
    """How far a rigid leg sinks on the way from midstance: l - sqrt(l^2 - way^2).

    Args:
        way: (k,) horizontal way, m.
        length: l, m.

    Returns:
        (k,) m.
    """
    reach = np.minimum(np.abs(way), 0.8 * length)
    return length - np.sqrt(length**2 - reach**2)


def arc_weight(ratio: np.ndarray) -> np.ndarray:
    """How much of the rigid leg's arc there is, by non-support over support.

    Args:
        ratio: (m,) r, at least 0.

    Returns:
        (m,) 1 for a walk, 0 from r = 0.15 on.
    """
    return 0.5 * (1.0 + np.cos(np.pi * np.minimum(ratio / FADE, 1.0)))


@dataclass(frozen=True)
class Vertical:
    """Up and down motion of a girdle.

    Attributes:
        line: heights at which it would stand.
        profile: its supports.
        gravity: m/s^2.
        knots: (k,) times of the arcs' ends, s.
        drops: (k,) how far it has sunk along the arc there, m.
        up: (m - 1,) V_up at the liftoffs, m/s.
        off_height: (m - 1,) heights at the liftoffs, m.
        speed: (m, 2) v1 and v2 of the supports, seen from the line, m/s.
        half: (m, 2) times over which they are lost and gained, s.
        exponent: (m, 2) e.
        short: (m,) True where the two halves make up the whole support.
        spring: (m,) b F T^2, m; 0 where it is not between two flights.
        offset: (m,) how much higher than asked for it touches down, m.
        settles: (m,) time in which that is gone, s.
    """

    line: Line | Standing
    profile: SupportProfile
    gravity: float
    knots: np.ndarray
    drops: np.ndarray
    up: np.ndarray
    off_height: np.ndarray
    speed: np.ndarray
    half: np.ndarray
    exponent: np.ndarray
    short: np.ndarray
    spring: np.ndarray
    offset: np.ndarray
    settles: np.ndarray

    def distance(self) -> np.ndarray:
        """(m, 2) way down after touchdown and up before liftoff, m."""
        return self.speed * self.half / (self.exponent + 1.0)

    def __call__(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Height and vertical speed.

        Args:
            time: (n,) s.

        Returns:
            (n,) m and (n,) m/s.
        """
        time = np.asarray(time, dtype=float)
        start, end = self.profile.start, self.profile.end
        height, speed = self._support(time)
        # In the air: between the liftoff of a support and the touchdown of the next.
        at = np.searchsorted(end, time, side="left") - 1
        flying = (at >= 0) & (at < len(start) - 1)
        flying[flying] = time[flying] < start[at[flying] + 1]
        if flying.any():
            which = at[flying]
            gone = time[flying] - end[which]
            height[flying] = self.off_height[which] + gone * (
                self.up[which] - 0.5 * self.gravity * gone
            )
            speed[flying] = self.up[which] - self.gravity * gone
        return height, speed

    def _support(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Height and speed as if on the ground."""
        height, speed = self.line(time), self.line.rate(time)
        drop, rate = _cosine(self.knots, self.drops, time)
        height, speed = height - drop, speed - rate
        start, end = self.profile.start, self.profile.end
        at = np.clip(np.searchsorted(start, time, side="right") - 1, 0, len(start) - 1)
        short = self.short[at]
        distance = self.distance()
        for side in range(2):
            v, half, e, way = (
                x[at, side] for x in (self.speed, self.half, self.exponent, distance)
            )
            with np.errstate(invalid="ignore"):
                gone = time - start[at] if side == 0 else end[at] - time
            gone = np.where(np.isfinite(gone), np.maximum(gone, 0.0), np.inf)
            sign = -1.0 if side == 0 else 1.0
            # t of A t^e counts from the moment of rest, half from the event.
            left = np.clip(half - gone, 0.0, half)
            share = np.divide(left, half, out=np.zeros_like(left), where=half > 0.0)
            height += way * share ** (e + 1.0) - way
            speed += sign * v * share**e
            # Back up: over the second half where there is one, else over all of the support.
            span = np.where(short, 2.0 * half, half)
            begin = np.where(short, 0.0, half)
            late = np.divide(gone - begin, span, out=np.zeros_like(span), where=span > 0.0)
            late = np.where(half > 0.0, late, 1.0)
            back, pace = minimum_jerk(late), _minimum_jerk_rate(late)
            pace = np.divide(pace, span, out=np.zeros_like(span), where=span > 0.0)
            height += way * back
            speed -= sign * way * pace
        late = np.flatnonzero(self.offset[at] != 0.0)
        if len(late):
            k = at[late]
            share = (time[late] - start[k]) / self.settles[k]
            height[late] += self.offset[k] * (1.0 - minimum_jerk(share))
            speed[late] -= self.offset[k] * _minimum_jerk_rate(share) / self.settles[k]
        sprung = np.flatnonzero(self.spring[at] > 0.0)
        if len(sprung):
            k = at[sprung]
            lasts = end[k] - start[k]
            share = np.clip((time[sprung] - start[k]) / lasts, 0.0, 1.0)
            sunk, rate = spring_curve(share)
            height[sprung] += self.spring[k] * sunk
            speed[sprung] += self.spring[k] * rate / lasts
        return height, speed


def _cosine(
    knots: np.ndarray, values: np.ndarray, time: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Half cosines between values at knots, and their rate; level outside."""
    if len(knots) < 2 or not np.any(values):
        return np.zeros_like(time), np.zeros_like(time)
    at = np.clip(np.searchsorted(knots, time, side="right") - 1, 0, len(knots) - 2)
    span, step = knots[at + 1] - knots[at], values[at + 1] - values[at]
    angle = np.pi * np.clip((time - knots[at]) / span, 0.0, 1.0)
    return (
        values[at] + 0.5 * step * (1.0 - np.cos(angle)),
        0.5 * step * np.sin(angle) * np.pi / span,
    )


def vertical_motion(
    profile: SupportProfile,
    middle: np.ndarray,
    line: Line | Standing,
    way: np.ndarray,
    ends: np.ndarray,
    halves: np.ndarray,
    arc: np.ndarray,
    compression: np.ndarray,
    length: float,
    gravity: float,
    spring: np.ndarray | float = 0.0,
) -> Vertical:
    """Up and down motion of a girdle.

    Girard 1986, section 4.1; equations in the module.

    Args:
        profile: supports of the girdle, m of them.
        middle: (k,) its midstances, s, increasing (`merge_midstances`).
        line: heights at which it would stand, m.
        way: (k - 1,) horizontal ways between its midstances, m.
        ends: (m, 2) horizontal ways from the start of each support to its
            first midstance, and from its last to its end, m.
        halves: (m, 2) half of the supports of the first and last leg, s.
        arc: (m,) share of the rigid leg's arc.
        compression: (m,) D, m.
        length: of the legs, m.
        gravity: m/s^2.
        spring: (m,) b, how far the force of a support is half a sine, 0 to 1.

    Returns:
        The motion.
    """
    start, end = profile.start, profile.end
    m = len(start)
    depth = np.maximum(compression, 1e-6)[:, None]
    weight = arc * arc_weight(profile.ratios())
    # Ends of the arcs: midstances, half way between them, liftoffs and touchdowns.
    inside = np.clip(np.searchsorted(start, middle, side="right") - 1, 0, m - 1)
    same = inside[1:] == inside[:-1]
    low = weight[inside[1:]] * rigid_arc(0.5 * way, length)
    drop = weight[:, None] * rigid_arc(ends, length)
    has = np.zeros(m, dtype=bool)
    has[inside] = True
    # Half a cosine of height A in t accelerates by A / 2 (pi / t)^2: in little time, little.
    soft = 2.0 * GENTLE * gravity / np.pi**2
    low = np.minimum(low, soft * (0.5 * np.diff(middle)) ** 2)
    first = middle[np.minimum(np.searchsorted(middle, start), len(middle) - 1)]
    last = middle[np.maximum(np.searchsorted(middle, end, side="right") - 1, 0)]
    with np.errstate(invalid="ignore"):
        spans = np.stack((first - start, end - last), axis=1)
    spans = np.where(np.isfinite(spans), np.maximum(spans, 0.0), 0.0)
    drop = np.minimum(drop, soft * spans**2)
    landed, left = np.flatnonzero(has[1:]) + 1, np.flatnonzero(has[:-1])
    drop[~has] = 0.0
    between = 0.5 * (middle[1:] + middle[:-1])[same]
    knots = np.concatenate((middle, between, start[landed], end[left]))
    drops = np.concatenate((np.zeros(len(middle)), low[same], drop[landed, 0], drop[left, 1]))
    order = np.argsort(knots, kind="stable")
    knots, drops = knots[order], drops[order]
    keep = np.append(np.diff(knots) > 1e-9, True)
    knots, drops = knots[keep], drops[keep]
    # Flights.
    liftoff, touchdown = profile.flights()
    aloft = touchdown - liftoff
    off_height = line(liftoff) - _cosine(knots, drops, liftoff)[0]
    stands = line(touchdown) - _cosine(knots, drops, touchdown)[0]
    # Flights of no time to speak of would have to be jumps between heights that differ.
    sinks = (line(liftoff) - line(touchdown)) / aloft
    most = HASTE * math.sqrt(gravity * length)
    sinks = sinks + np.clip((off_height - stands) / aloft - sinks, -most, most)
    on_height = off_height - sinks * aloft
    offset = np.concatenate(([0.0], on_height - stands))
    offset[np.abs(offset) < 1e-12] = 0.0
    up = 0.5 * gravity * aloft - (off_height - on_height) / aloft
    speed = np.zeros((m, 2))
    speed[1:, 0] = -(up - gravity * aloft - line.rate(touchdown))
    speed[:-1, 1] = up - line.rate(liftoff)
    # Supports. Who stands bends down for a jump, and after one, but not for as long as the stand.
    tempo = math.sqrt(length / gravity)
    standing = halves > tempo
    bent = np.minimum(np.abs(speed) * tempo / (HARDEST + 1.0), DEEPEST * length)
    depth = np.where(standing, np.maximum(depth, bent), depth)
    bends = np.divide(2.0 * depth, np.abs(speed), out=np.full((m, 2), tempo), where=speed != 0.0)
    halves = np.where(standing, np.clip(bends, tempo, np.maximum(halves, tempo)), halves)
    duration = end - start
    short = duration <= 2.0 * halves.sum(axis=1)
    half = np.where(short[:, None], 0.5 * duration[:, None], halves)
    flown = np.ones((m, 2), dtype=bool)
    flown[0, 0] = flown[-1, 1] = False
    half = np.where(flown | short[:, None], half, 0.0)
    half = np.where(np.isfinite(half), half, 0.0)
    exponent = np.maximum(np.abs(speed) * half / depth - 1.0, 1.0)
    sprung = short & flown.all(axis=1)
    lasts = np.where(sprung, duration, 0.0)
    size = np.where(sprung, spring, 0.0) * (gravity * lasts + speed.sum(axis=1)) * lasts
    sunk = (speed * half / (exponent + 1.0)).mean(axis=1)
    size = np.clip(size, 0.0, np.maximum(depth[:, 0] - sunk, 0.0) / SPRING_DEPTH)
    settles = np.minimum(duration, 2.0 * halves.sum(axis=1))
    settles = np.where(np.isfinite(settles) & (settles > 0.0), settles, 1.0)
    return Vertical(
        line, profile, gravity, knots, drops, up, off_height, speed, half, exponent, short, size,
        offset, settles,
    )


@dataclass(frozen=True)
class Horizontal:
    """Motion in the ground plan.

    Attributes:
        time: (n,) s, evenly spaced.
        position: (n, 2) m.
        velocity: (n, 2) m/s.
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray

    def __call__(self, time: np.ndarray) -> np.ndarray:
        """Positions: parabolas between the samples, straight on outside.

        Args:
            time: (...) s.

        Returns:
            (..., 2) m.
        """
        t = np.asarray(time, dtype=float)
        if len(self.time) < 2:
            return self.position[0] + (t - self.time[0])[..., None] * self.velocity[0]
        inner = np.minimum(np.maximum(t, self.time[0]), self.time[-1])
        at = np.minimum(self.time.searchsorted(inner, "right") - 1, len(self.time) - 2)
        gone = (inner - self.time[at])[..., None]
        place = self.position[at] + gone * (self.velocity[at] + 0.5 * self._push[at] * gone)
        beyond = (t - inner)[..., None]
        if beyond.any():
            place += beyond * np.where(beyond < 0.0, self.velocity[0], self.velocity[-1])
        return place

    @cached_property
    def _push(self) -> np.ndarray:
        """(n - 1, 2) accelerations between the samples, m/s^2."""
        return np.diff(self.velocity, axis=0) / np.diff(self.time)[:, None]

    def rate(self, time: np.ndarray) -> np.ndarray:
        """Velocities: linear between the samples, constant outside.

        Args:
            time: (n,) s.

        Returns:
            (n, 2) m/s.
        """
        return np.stack([np.interp(time, self.time, part) for part in self.velocity.T], axis=1)


class Course(Protocol):
    """A path by arc length."""

    def at(self, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places and directions.

        Args:
            way: (n,) arc lengths, m.

        Returns:
            (n, 2) m and (n, 2) unit tangents.
        """


def horizontal_motion(
    time: np.ndarray,
    course: Course,
    start: float,
    speed: np.ndarray,
    limit: np.ndarray,
    response: float,
    spacing: float,
    tick: Callable[[], None] | None = None,
) -> tuple[Horizontal, np.ndarray, np.ndarray]:
    """Follow a path with the acceleration that the legs can give.

    Girard 1986, section 4.2; equations in the module. The desired velocity is
    the speed along the path at the point of it that is nearest to the body, and
    leads back to that point: a body that was held up does not hurry to make
    up for it. Steps by constant accelerations, so that the velocity is
    constant in steps without support.

    Args:
        time: (n,) s, evenly spaced.
        course: the path.
        start: arc length at the first time, m.
        speed: (n,) wanted along the path, m/s.
        limit: (n - 1,) largest acceleration in each step: the sum over the legs
            of impulse times share of the step on the ground, m/s^2.
        response: time constant of the velocity error, s.
        spacing: of the points at which the path is looked up, m.
        tick: called every now and then; may raise to stop.

    Returns:
        The motion, (n,) arc lengths of the nearest points, m, and (n,) how far
        from them the body is, m.
    """
    n = len(time)
    dt = float(time[1] - time[0]) if n > 1 else 1.0
    longest = float(np.sum(speed)) * dt * 1.5 + 20.0 * spacing
    count = int(min(max(longest / spacing, 8.0), MOST_POINTS))
    spacing = longest / count
    places, tangents = course.at(start + spacing * np.arange(count + 2))
    # Numbers in lists: one at a time they are quicker than in arrays.
    ends = np.column_stack((places, tangents))
    pieces = np.column_stack((ends[:-1], np.diff(ends, axis=0))).tolist()

    def look_up(s: float) -> tuple[float, float, float, float]:
        place = (s - start) / spacing
        i = int(place)
        if 0.0 <= place and i <= count:
            f = place - i
            x, y, tx, ty, dx, dy, bend_x, bend_y = pieces[i]
            return x + f * dx, y + f * dy, tx + f * bend_x, ty + f * bend_y
        i = 0 if place < 0.0 else count + 1  # beyond the ends straight on
        over = (place - i) * spacing
        x, y, tx, ty = ends[i].tolist()
        return x + over * tx, y + over * ty, tx, ty

    pace, bounds = speed.tolist(), np.maximum(limit, 0.0).tolist()
    settle, home = max(response, dt), STEADY * max(response, dt)
    guess = s = start
    x, y, ax, ay = bx, by, tangent_x, tangent_y = look_up(guess)
    u, v = pace[0] * ax, pace[0] * ay
    rows: list[float] = []
    for i in range(n):
        # The nearest point, from where the body was expected.
        there = guess + (x - bx) * tangent_x + (y - by) * tangent_y
        farthest = s + 2.0 * dt * (pace[i] + (u * u + v * v) ** 0.5)
        if there > s:
            s = there if there < farthest else farthest
        cx, cy, ax, ay = look_up(s)
        off = ((x - cx) ** 2 + (y - cy) ** 2) ** 0.5
        rows += (x, y, u, v, s, off)
        if i + 1 == n:
            break
        if tick is not None and i % TICK == TICK - 1:
            tick()
        # What the path asks for, and the error: desired minus current.
        guess = s + pace[i] * dt
        bx, by, tangent_x, tangent_y = look_up(guess)
        back = pace[i] / (off if off > 1e-9 else 1e-9)
        if back > 1.0 / home:  # no quicker than along the path
            back = 1.0 / home
        push_x = (pace[i + 1] * tangent_x - pace[i] * ax) / dt
        push_y = (pace[i + 1] * tangent_y - pace[i] * ay) / dt
        push_x += (pace[i] * ax + back * (cx - x) - u) / settle
        push_y += (pace[i] * ay + back * (cy - y) - v) / settle
        size, bound = (push_x * push_x + push_y * push_y) ** 0.5, bounds[i]
        if size > bound:
            push_x, push_y = push_x * (bound / size), push_y * (bound / size)
        x += dt * (u + 0.5 * dt * push_x)
        y += dt * (v + 0.5 * dt * push_y)
        u += dt * push_x
        v += dt * push_y
    found = np.array(rows).reshape(n, 6)
    position, velocity = found[:, :2].copy(), found[:, 2:4].copy()
    return Horizontal(time, position, velocity), found[:, 4].copy(), found[:, 5].copy()


@dataclass(frozen=True)
class Turning:
    """Yaw over time.

    Attributes:
        start: (m,) starts of the supports, s.
        support: (m,) their durations, s.
        yaw: (m,) at their starts, rad, not wrapped.
        rate: (m,) rad/s.
        acceleration: (m,) in the supports, rad/s^2.
    """

    start: np.ndarray
    support: np.ndarray
    yaw: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray

    def __call__(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Yaw and its rate.

        Args:
            time: (n,) s.

        Returns:
            (n,) rad and (n,) rad/s.
        """
        t = np.asarray(time, dtype=float)
        at = np.clip(np.searchsorted(self.start, t, side="right") - 1, 0, len(self.start) - 1)
        gone = t - self.start[at]
        pushed = np.clip(gone, 0.0, self.support[at])
        rate = self.rate[at] + self.acceleration[at] * pushed
        yaw = (
            self.yaw[at]
            + self.rate[at] * gone
            + self.acceleration[at] * pushed * (gone - 0.5 * pushed)
        )
        return yaw, rate


def turning_motion(
    start: np.ndarray, flight: np.ndarray, wanted: np.ndarray, rate: np.ndarray
) -> Turning:
    """Turn by accelerations in supports only.

    Girard 1986, section 4.3; equations in the module. The paper's rate
    theta'_i = theta''_{i-1} t_s leaves out that rates accumulate.

    Args:
        start: (m + 1,) starts of the body's supports, s.
        flight: (m,) durations of the non-support intervals at their ends, s.
        wanted: (m + 1,) yaw asked for at the starts, rad, not wrapped.
        rate: (m + 1,) its rate there, rad/s.

    Returns:
        The yaw. The first is as asked for.
    """
    m = len(flight)
    span = np.diff(start)
    support = np.maximum(span - flight, 1e-9)
    air = span - support
    quotient = support / (support + 2.0 * air)
    weight = quotient / (1.0 + quotient)
    yaw, speed, push = np.empty(m + 1), np.empty(m + 1), np.zeros(m + 1)
    theta, omega = float(wanted[0]), float(rate[0])
    lever = 0.5 * support**2 + support * air
    for i in range(m):
        yaw[i], speed[i] = theta, omega
        meet = (wanted[i + 1] - theta - omega * span[i]) / lever[i]
        follow = (rate[i + 1] - omega) / support[i]
        push[i] = (1.0 - weight[i]) * meet + weight[i] * follow
        theta += omega * span[i] + push[i] * lever[i]
        omega += push[i] * support[i]
    yaw[m], speed[m] = theta, omega
    return Turning(np.asarray(start, dtype=float), np.append(support, 1.0), yaw, speed, push)


def bank_angle(
    speed: np.ndarray, curvature: np.ndarray, gravity: float, most: float
) -> np.ndarray:
    """Lean at which weight and centrifugal force point down the leg: arctan(s^2 K / g).

    Girard 1986, section 4.4, signed: to the left, the inside, in a left turn.

    Args:
        speed: (k,) s, m/s.
        curvature: (k,) K = 1 / R of the body's path, 1/m, + left.
        gravity: m/s^2.
        most: largest lean, rad.

    Returns:
        (k,) rad, + left.
    """
    return np.clip(np.arctan(speed * speed * curvature / gravity), -most, most)


def trunk_pose(
    ahead: np.ndarray,
    above: np.ndarray,
    heights: np.ndarray,
    roll: np.ndarray,
    pitch: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Pitch and height of the trunk's centre from the heights of its girdles.

    The girdles are points of a rigid trunk. With two of them, x ahead of and u
    above the centre, sin(p) (x1 - x0) + cos(p) cos(r) (u1 - u0) = z1 - z0 gives the
    pitch p under the roll r; with more, the line of least squares; with one
    it is given.

    Args:
        ahead: (g,) how far the girdles are ahead of the centre in rest, m.
        above: (g,) how far above it, m.
        heights: (n, g) their heights, m.
        roll: (n,) rad.
        pitch: (n,) pitch where there is one girdle, nose up, rad.

    Returns:
        (n,) pitch, nose up, rad, and (n,) height of the centre, m.
    """
    cosine = np.cos(roll)
    apart = ahead - ahead.mean()
    if len(ahead) > 1 and np.ptp(ahead) > 1e-9:
        share = apart / np.sum(apart**2)
        rise = heights @ share
        stands = (above @ share) * cosine
        size = np.hypot(1.0, stands)
        pitch = np.arcsin(np.clip(rise / size, -1.0, 1.0)) - np.arctan(stands)
    offset = ahead * np.sin(pitch)[:, None] + above * (np.cos(pitch) * cosine)[:, None]
    return pitch, np.mean(heights - offset, axis=1)
