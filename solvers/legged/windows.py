# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves that are others inside windows of time, and join those outside smoothly.

Of each of them value and rate are continuous everywhere, and outside of the
windows they are the curves that they were. By how much the new curve differs
at an end of a window is left behind within a time that a body takes to settle,
however long the window is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from ..rotations import continuous
from ..times import covering
from .body import Curve, GroundPlan, Heading, Rise
from .least_push import least_push, moments


@dataclass(frozen=True)
class Window:
    """A part of a motion that is solved again.

    Attributes:
        start: s.
        end: s.
        opens: True if what is before it stays as it was.
        closes: True if what is after it does.
        settle: how long curves take to go over from those outside, or to them, at most, s.
    """

    start: float
    end: float
    opens: bool
    closes: bool
    settle: float

    def seams(self, flights: np.ndarray | None = None) -> list[tuple[float, float]]:
        """Where curves go over from those outside, or to them; none ends inside in a flight.

        Args:
            flights: (k, 2) liftoffs and touchdowns between which nothing pushes, s, in order;
                None for nothing.

        Returns:
            (at the window's end, inside it) of each of its ends that is not open, s.
        """
        flights = np.zeros((0, 2)) if flights is None else flights
        off, on = flights.T
        found = []
        if self.opens:
            inner = self.start + self.settle
            k = int(np.searchsorted(off, inner)) - 1
            if k >= 0 and inner < on[k]:  # until who is in the air has come down and stood
                inner = min([on[k] + self.settle, *off[k + 1 : k + 2]])
            found.append((self.start, min(inner, self.end)))
        if self.closes:
            inner = self.end - self.settle
            k = int(np.searchsorted(on, inner, side="right"))
            if k < len(on) and off[k] < inner:
                inner = max([off[k] - self.settle, *on[k - 1 : k]])
            found.append((self.end, max(inner, self.start)))
        return found

    def holds(self, time: np.ndarray) -> np.ndarray:
        """Which moments are inside.

        Args:
            time: (n,) s.

        Returns:
            (n,) bool.
        """
        inside = (time > self.start) | (not self.opens)
        return inside & ((time < self.end) | (not self.closes))


class Joined:
    """A curve over time that is another one inside windows, joined to it smoothly.

    Args:
        base: the curve outside.
        new: the curve inside.
        windows: where it is.
    """

    def __init__(
        self,
        base: Curve,
        new: Curve,
        windows: Sequence[Window],
    ) -> None:
        self._base, self._new, self._windows = base, new, windows
        self._joints: list[list[CubicHermiteSpline]] = []
        for window in windows:
            joints = []
            for outer, inner in window.seams():
                at = np.array([outer])
                gap = float((base(at) - new(at))[0]), float((base.rate(at) - new.rate(at))[0])
                x, y, slope = np.array(sorted(((outer, *gap), (inner, 0.0, 0.0)))).T
                joints.append(CubicHermiteSpline(x, y, slope))
            self._joints.append(joints)

    def __call__(self, time: np.ndarray | float) -> np.ndarray:
        """Values.

        Args:
            time: (n,) s.

        Returns:
            (n,) values.
        """
        return self._mixed(time, self._base, self._new, 0)

    def rate(self, time: np.ndarray | float) -> np.ndarray:
        """How fast they change.

        Args:
            time: (n,) s.

        Returns:
            (n,) per second.
        """
        return self._mixed(time, self._base.rate, self._new.rate, 1)

    def _mixed(
        self,
        time: np.ndarray | float,
        base: Callable[[np.ndarray], np.ndarray],
        new: Callable[[np.ndarray], np.ndarray],
        order: int,
    ) -> np.ndarray:
        time = np.asarray(time, dtype=float)
        values = np.array(base(time), dtype=float)
        for window, joints in zip(self._windows, self._joints, strict=True):
            inside = window.holds(time)
            if inside.any():
                at = time[inside]
                values[inside] = new(at)
                for joint in joints:
                    values[inside] += joint(np.clip(at, *joint.x[[0, -1]]), nu=order)
        return values


class Heights:
    """Heights of a girdle that are others inside windows; flights stay ballistic.

    Args:
        base: motion outside.
        new: motion inside.
        windows: where it is.
    """

    def __init__(self, base: Rise, new: Rise, windows: Sequence[Window]) -> None:
        self._base, self._new, self._windows = base, new, windows
        self.profile, self.up = new.profile, new.up
        self._joints: list[list[CubicHermiteSpline]] = []
        flown = np.stack(new.profile.flights(), axis=1)
        for window in windows:
            joints = []
            for outer, inner in window.seams(flown):
                start, end = min(outer, inner), max(outer, inner)
                at = np.array([outer])
                gap = np.array([a - b for a, b in zip(base(at), new(at), strict=True)])
                flights = flown[(flown[:, 1] > start) & (flown[:, 0] < end)]
                time = moments(start, end, flights, np.zeros(0))
                aloft = within(0.5 * (time[1:] + time[:-1]), flights)
                given = (gap, np.zeros((2, 1)))
                joints.append(least_push(
                    time, np.where(aloft, 0.0, 1.0), np.ones(1),
                    given if outer < inner else given[::-1],
                ))
            self._joints.append(joints)

    def __call__(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Height and vertical speed.

        Args:
            time: (n,) s.

        Returns:
            (n,) m and (n,) m/s.
        """
        height, speed = self._base(time)
        for window, joints in zip(self._windows, self._joints, strict=True):
            inside = window.holds(time)
            if inside.any():
                height[inside], speed[inside] = self._new(time[inside])
                for joint in joints:
                    at = np.clip(time[inside], *joint.x[[0, -1]])
                    height[inside] += joint(at)[:, 0]
                    speed[inside] += joint(at, nu=1)[:, 0]
        return height, speed


class Stretch:
    """The way of a body inside a window: turned, led aside, and straight in flights.

    Args:
        window: where it is.
        base: (n,) s -> (n, 3) x, y (m) and yaw (rad), and their rates, without edits.
        turn: yaw to add, by which the velocity is turned too; None for nothing.
        time: (k,) s, moments of the window at which the turned way is known.
    """

    def __init__(
        self,
        window: Window,
        base: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
        turn: CubicHermiteSpline | None,
        time: np.ndarray,
    ) -> None:
        self.window, self._base, self._turn = window, base, turn
        self._turned: CubicHermiteSpline | None = None
        self.curve: CubicHermiteSpline | None = None
        self.flights = np.zeros((0, 2))
        if turn is not None:
            middle = 0.5 * (time[1:] + time[:-1])
            at, half = self._velocity(time), self._velocity(middle)
            gained = np.diff(time)[:, None] * (at[:-1] + 4.0 * half + at[1:]) / 6.0  # Simpson
            start = base(time[:1])[0][0, :2]
            place = start + np.concatenate((np.zeros((1, 2)), np.cumsum(gained, axis=0)))
            self._turned = CubicHermiteSpline(time, place, at)

    def _velocity(self, time: np.ndarray) -> np.ndarray:
        angle = self._turn(time)[:, 0]  # type: ignore[misc]
        c, s = np.cos(angle), np.sin(angle)
        u, v = self._base(time)[1][:, :2].T
        return np.stack((c * u - s * v, s * u + c * v), axis=1)

    def turned(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As turned, before it is led aside.

        Args:
            time: (n,) s, in the window.

        Returns:
            (n, 3) x, y and yaw, m and rad, and (n, 3) per second.
        """
        value, rate = self._base(time)
        if self._turned is not None and self._turn is not None:
            value[:, :2], rate[:, :2] = self._turned(time), self._turned(time, nu=1)
            value[:, 2] += self._turn(time)[:, 0]
            rate[:, 2] += self._turn(time, nu=1)[:, 0]
        return value, rate

    def lead(self, curve: CubicHermiteSpline, flights: np.ndarray) -> None:
        """Lead it aside.

        Args:
            curve: x, y (m) and yaw (rad) to add.
            flights: (k, 2) s; in them the body goes straight on.
        """
        self.curve, self.flights = curve, flights

    def __call__(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Place and yaw, and their rates.

        Args:
            time: (n,) s.

        Returns:
            (n, 3) x, y and yaw, m and rad, and (n, 3) per second.
        """
        at = np.clip(time, self.window.start, self.window.end)
        value, rate = self._led(at)
        which = np.searchsorted(self.flights[:, 0], at, side="right") - 1
        if len(self.flights):
            aloft = (which >= 0) & (at < self.flights[np.maximum(which, 0), 1])
            begin = self.flights[which[aloft], 0]
            start, speed = self._led(begin)
            rate[aloft] = speed
            value[aloft] = start + (at[aloft] - begin)[:, None] * speed
        return value + (time - at)[:, None] * rate, rate  # an open end goes straight on

    def _led(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, rate = self.turned(time)
        if self.curve is not None:
            value, rate = value + self.curve(time), rate + self.curve(time, nu=1)
        return value, rate


class Way:
    """Place and yaw of a body over time, others inside windows.

    Args:
        horizontal: the way without edits.
        turning: the yaw without edits.
    """

    def __init__(self, horizontal: GroundPlan, turning: Heading) -> None:
        self._horizontal, self._turning = horizontal, turning
        self.stretches: list[Stretch] = []

    def before(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Without edits: place and yaw, and their rates.

        Args:
            time: (n,) s.

        Returns:
            (n, 3) x, y and yaw, m and rad, and (n, 3) per second.
        """
        yaw, turn = self._turning(time)
        place, speed = self._horizontal(time), self._horizontal.rate(time)
        return np.column_stack((place, yaw)), np.column_stack((speed, turn))

    def __call__(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Place and yaw, and their rates.

        Args:
            time: (n,) s.

        Returns:
            (n, 3) x, y and yaw, m and rad, and (n, 3) per second.
        """
        time = np.asarray(time, dtype=float)
        value, rate = self.before(time)
        for stretch in self.stretches:
            inside = np.flatnonzero(stretch.window.holds(time))
            if len(inside):
                value[inside], rate[inside] = stretch(time[inside])
        return value, rate


class Plan:
    """The part of a way in the ground plan, as `Horizontal` has it.

    Args:
        way: the way.
        time: (n,) s, of its samples.
    """

    def __init__(self, way: Way, time: np.ndarray) -> None:
        self._way, self.time = way, time
        value, rate = way(time)
        self.position, self.velocity = value[:, :2], rate[:, :2]

    def __call__(self, time: np.ndarray) -> np.ndarray:
        """Positions.

        Args:
            time: (...) s.

        Returns:
            (..., 2) m.
        """
        time = np.asarray(time, dtype=float)
        return self._way(time.ravel())[0][:, :2].reshape(*time.shape, 2)

    def rate(self, time: np.ndarray) -> np.ndarray:
        """Velocities.

        Args:
            time: (n,) s.

        Returns:
            (n, 2) m/s.
        """
        return self._way(time)[1][:, :2]


class Yaw:
    """The turning of a way, as `Turning` has it.

    Args:
        way: the way.
    """

    def __init__(self, way: Way) -> None:
        self._way = way

    def __call__(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Yaw and its rate.

        Args:
            time: (n,) s.

        Returns:
            (n,) rad and (n,) rad/s.
        """
        value, rate = self._way(np.asarray(time, dtype=float))
        return value[:, 2], rate[:, 2]


def within(time: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """Whether moments are inside any of some spans.

    Args:
        time: (n,) s.
        spans: (k, 2) s.

    Returns:
        (n,) bool.
    """
    return covering(time, spans[:, 0], spans[:, 1], ends=False) > 0


def align_signs(turns: np.ndarray, inside: np.ndarray) -> None:
    """Give quaternions inside windows the signs that go on from those outside.

    Args:
        turns: (n, ..., 4), changed in place; outside they keep their signs.
        inside: (n,) bool.
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([False], inside, [False]))))
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        if begin == 0 and end == len(turns):
            continue
        # From the sample that stays as it is: that before, or that after.
        part = turns[begin - 1 : end] if begin > 0 else turns[: end + 1][::-1]
        made = continuous(part)
        sign = np.where(np.sum(made[0] * part[0], axis=-1) < 0.0, -1.0, 1.0)
        part[1:] = (made * sign[..., None])[1:]
