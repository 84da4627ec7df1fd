# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of steps: every touchdown and liftoff of every leg, through all gaits.

Each gait of the sequence has a clock (`gait.PhaseClock`). Touchdown and liftoff
times are where its phase has certain values, exactly. Between two gaits the
legs are shifted as in `shift`. Who stands starts off in any gait: with all
feet on the ground no transfer has to be shifted, and the gait that begins
there begins with the first step after the stand, the leg whose turn it is first
of those that may be.

A leg that would swing for longer than it does in the slowest speed of its
gait, because the animal goes slower still or stands, swings for that long,
in the middle of its transfer by phase: the slower, the more feet are on the
ground, and none hangs in the air while the animal stands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .gait import MOST_DUTY, Gait, PhaseClock
from .shift import Shift, minimum_shift

MOST_STEPS = 200_000
LATE = 1e-9  # s
AHEAD = 0.3  # of the longest way of a support: further ahead nobody sets a foot down to stop
SETTLE = 0.3  # of the shortest transfer, before a leg that was left behind lifts off
SQUARE = 0.7  # of the longest transfer, in which it swings
STANDS = 1e-3  # strides a second below which an animal stands


@dataclass(frozen=True)
class Steps:
    """Steps of all legs, those of each leg in order of time.

    Attributes:
        leg: (m,) number of the leg.
        index: (m,) number of the step of that leg; 0 is the first that is on
            the ground at the start of the motion, or after it.
        on: (m,) touchdown, s; minus infinity if it stands from the beginning.
        off: (m,) liftoff, s; infinite if it stands for good.
        middle: (m,) when half the support's phase has gone, s: midstance;
            minus infinity where it stands from the beginning, infinite where
            it stands for good.
        gait: (m,) number in the sequence of the gait that the support is of.
    """

    leg: np.ndarray
    index: np.ndarray
    on: np.ndarray
    off: np.ndarray
    middle: np.ndarray
    gait: np.ndarray

    def of(self, leg: int) -> np.ndarray:
        """Numbers of the steps of one leg, in order.

        Args:
            leg: number of the leg.

        Returns:
            (k,) int.
        """
        return np.flatnonzero(self.leg == leg)


@dataclass(frozen=True)
class GaitChange:
    """A change of gait as it was carried out.

    Attributes:
        gait: number in the sequence of the gait that begins.
        wanted: when it was to begin, s.
        start: when its first touchdown was shifted, s; in a stand, the first moment
            of the stand at which it is to begin.
        end: when the last leg's was, s; all legs follow the gait from then on. In a
            stand, the end of the stand.
        shift: what was added to the transfers, strides of the new gait.
    """

    gait: int
    wanted: float
    start: float
    end: float
    shift: Shift


def spans_of(changes: Sequence[GaitChange], end: float) -> list[tuple[int, float, float]]:
    """Which gait is in force from when to when.

    Args:
        changes: how gaits were changed, in order.
        end: of the motion, s.

    Returns:
        (number in the sequence, start, end) of each span, s.
    """
    starts = [0.0, *(change.start for change in changes)]
    numbers = [0, *(change.gait for change in changes)]
    return list(zip(numbers, starts, [*starts[1:], end], strict=True))


@dataclass(frozen=True)
class GaitPlan:
    """One gait of the sequence with what it needs to run.

    Attributes:
        gait: the gait, legs in the order of the animal's.
        start: when it is to begin, s; that of the first does not count.
        clock: its phase over time.
        duty: (k, n) duty factors at the times of `duty_times`.
        duty_times: (k,) s.
        least: k, shortest transfer, s.
        longest: longest transfer, s.
    """

    gait: Gait
    start: float
    clock: PhaseClock
    duty: np.ndarray
    duty_times: np.ndarray
    least: float
    longest: float

    def gap(self, leg: int, stride: np.ndarray | int) -> np.ndarray:
        """Strides from touchdowns of a leg to its next.

        Args:
            leg: number of the leg.
            stride: (...) numbers of the strides in which they are.

        Returns:
            (...) strides.
        """
        return self.gait.gaps()[np.mod(stride, self.gait.cycle), leg]

    def longest_before(self, leg: int, stride: np.ndarray | int) -> np.ndarray:
        """Longest transfers that end with touchdowns of a leg.

        The hop of a gait whose sides alternate lasts for less than the other foot's step.

        Args:
            leg: number of the leg.
            stride: (...) numbers of the strides in which they are.

        Returns:
            (...) s.
        """
        least = min(self.gait.duty)
        share = (self.gap(leg, np.asarray(stride) - 1) - least) / (self.gait.gaps().max() - least)
        return np.maximum(self.longest * share, min(self.least, self.longest))

    def duty_at(
        self, leg: int, time: np.ndarray | float, stride: np.ndarray | int = 0
    ) -> np.ndarray:
        """Duty factor of a leg that touches down at given times.

        Args:
            leg: number of the leg.
            time: (...) s.
            stride: (...) numbers of the strides in which that is.

        Returns:
            (...) duty factors.
        """
        sides = self.gait.sides()[:, leg]
        duty = [np.interp(time, self.duty_times, self.duty[:, side]) for side in sides]
        if len(duty) == 1:
            return duty[0]
        # A leg whose turn comes sooner than after a stride has to have lifted off by then.
        most = MOST_DUTY * self.gap(leg, stride)
        return np.minimum(np.choose(np.mod(stride, len(duty)), duty), most)

    def duty_between(
        self, leg: int, on: np.ndarray, following: np.ndarray, stride: np.ndarray
    ) -> np.ndarray:
        """Duty factors of the supports of a leg.

        Those of touchdowns, or, where duty factors get smaller, of the touchdowns
        that follow: a leg that carries an animal off has to lift off in time for the
        quicker stride.

        Args:
            leg: number of the leg.
            on: (m,) touchdowns, s; minus infinity of who stands from the beginning.
            following: (m,) the touchdowns that come next, s; infinite where none
                comes.
            stride: (m,) numbers of the strides of the supports.

        Returns:
            (m,) duty factors.
        """
        first = self.duty_at(leg, np.where(np.isfinite(on), on, self.duty_times[0]), stride)
        later = np.where(np.isfinite(following), following, on)
        later = np.where(np.isfinite(later), later, 0.0)
        return np.minimum(first, self.duty_at(leg, later, stride))


def plan_steps(
    plans: Sequence[GaitPlan],
    start: float,
    end: float,
    frame: float = 0.0,
    gone: float = 0.0,
) -> tuple[Steps, tuple[GaitChange, ...]]:
    """All steps of a sequence of gaits.

    Girard 1986, sections 3.3 and 3.4.

    Args:
        plans: the gaits in order of their starts.
        start: from when on steps are wanted, s; 0 or earlier.
        end: up to when, s.
        frame: 0, or the duration of a frame, if touchdowns and liftoffs are
            to be rounded to frames; those of legs that step more often than
            every other frame stay as they are.
        gone: share of the first gait's cycle that has gone at time 0.

    Returns:
        The steps, and how the gaits changed.
    """
    n = len(plans[0].gait.legs)
    taken: list[list[_Part]] = [[] for _ in range(n)]
    first = np.asarray(plans[0].gait.phase, dtype=float) - gone * plans[0].gait.cycle
    turn = np.zeros(n, dtype=int)  # in which stride of the gait's cycle each leg's first one is
    begun = np.zeros(n)
    landed: np.ndarray | None = None  # where it started off from a stand, its first touchdowns
    changes: list[GaitChange] = []
    for number, plan in enumerate(plans):
        following = plans[number + 1] if number + 1 < len(plans) else None
        until = end
        if following is not None:
            until = max(following.start, float(np.max(begun)))
            if until >= end:
                following, until = None, end
        change: _Shifted | _StartedOff | None = None
        if following is not None:
            steps = _all_touchdowns(plan, first, turn, number == 0, start, until, False, landed)
            change = _change(number, plan, following, steps, until)
            stand = _stand(plan.clock, until)
            if stand is not None and (
                change is None or until >= stand[0] or change.made.start >= stand[0]
            ):
                there = max(until, stand[0])
                own = _all_touchdowns(
                    plan, first, turn, number == 0, start, stand[0], True, landed
                )
                off = _start_off(number, plan, following, own, there)
                if off is not None:
                    steps, change = off.steps, off
        if change is None:  # it is the last, or stands for good before all legs have come around
            following = None
            steps = _all_touchdowns(plan, first, turn, number == 0, start, end, True, landed)
        for leg, own_steps in enumerate(steps):
            taken[leg].append(_part(plan, number, leg, own_steps))
        if change is None or following is None:
            break
        changes.append(change.made)
        first, turn, landed = change.first, change.turn, None
        begun = following.clock.time(first)
        if isinstance(change, _StartedOff):
            for parts, leave in zip(taken, change.leave, strict=True):
                next(part for part in reversed(parts) if len(part.off)).off[-1] = leave
            landed = change.land
            again = _stand(following.clock, change.made.end)
            rest = change.made.end if again is None else max(change.made.end, again[0])
            stays = number + 2 < len(plans) and plans[number + 2].start <= change.made.end
            begun = np.minimum(begun, change.made.start if stays else rest)
        else:
            for leg, around in enumerate(change.extra):
                if around is not None:
                    taken[leg].append(_part(plan, number, leg, around))
    return _collect(plans, taken, frame), tuple(changes)


def square_up(
    steps: Steps,
    plans: Sequence[GaitPlan],
    way: PhaseClock,
    room: np.ndarray,
    rests: Sequence[tuple[float, float]] = (),
) -> Steps:
    """Let legs that an animal would leave behind where it stops step up to the others.

    A leg stands under its hip where the body rests if that is not too far ahead of
    where the body is as it touches down. Else it makes a step more, once all others
    have come to their places; if there are several, one after the other, as far as
    the rest is long enough for them.

    Args:
        steps: the steps.
        plans: the gaits.
        way: distance along the path, m, as a clock of strides of one metre.
        room: (n,) longest way of the body while a leg is on the ground, m.
        rests: when the body rests before it stops for good, s.

    Returns:
        The steps, with one more of each such leg.
    """
    for begin, end in (*rests, (math.inf, math.inf)):
        steps = _square_up(steps, plans, way, room, begin, end)
    return steps


def _square_up(
    steps: Steps,
    plans: Sequence[GaitPlan],
    way: PhaseClock,
    room: np.ndarray,
    begin: float,
    end: float,
) -> Steps:
    """The same for one rest."""
    there = np.flatnonzero((steps.off >= begin) & np.isfinite(steps.on) & (steps.on < end))
    stops = there[np.append(np.diff(steps.leg[there]) > 0, True)[: len(there)]]
    if len(stops) == 0:
        return steps
    until = np.minimum(steps.off, end)
    ahead = float(way.phase(end)) - way.phase(steps.on[stops])
    far = ahead > AHEAD * room[steps.leg[stops]]
    on, off, middle = steps.on.copy(), steps.off.copy(), steps.middle.copy()
    there = stops[~far]
    middle[there] = 0.5 * (np.maximum(on[there], begin) + until[there])
    late = stops[far]
    moment, landed = float(np.max(steps.on[stops])), np.full(len(on), math.nan)
    for step in late[np.argsort(steps.on[late], kind="stable")]:
        plan = plans[steps.gait[step]]
        leave = max(moment + SETTLE * plan.least, float(on[step]) + plan.least)
        land = leave + max(plan.least, SQUARE * plan.longest)
        if land > until[step] - plan.least:
            break
        half = 0.5 * float(way.phase(on[step]) + way.phase(leave))
        middle[step] = np.clip(way.time(half), on[step], leave)
        moment, off[step], landed[step] = land, leave, land
    more = np.flatnonzero(np.isfinite(landed))
    order = np.insert(np.arange(len(on)), more + 1, more)
    new = np.insert(np.zeros(len(on), dtype=bool), more + 1, True)
    leg, index = steps.leg[order], steps.index[order]
    for number in np.unique(leg[new]):
        index[leg == number] += np.cumsum(new[leg == number])
    on, off, middle = (
        np.where(new, x, y[order])
        for x, y in (
            (landed[order], on),
            (steps.off[order], off),
            (0.5 * (np.maximum(landed[order], begin) + until[order]), middle),
        )
    )
    return Steps(leg, index, on, off, middle, steps.gait[order])


@dataclass(frozen=True)
class _Touchdowns:
    """Touchdowns of a leg: their phases and times, and the numbers of their strides."""

    phase: np.ndarray
    on: np.ndarray
    stride: np.ndarray

    def __getitem__(self, which: slice) -> _Touchdowns:
        return _Touchdowns(self.phase[which], self.on[which], self.stride[which])


def _touchdowns(
    plan: GaitPlan, leg: int, first: float, turn: int, initial: bool, start: float,
    until: float, last: bool,
) -> _Touchdowns:
    """Touchdowns of a leg up to `until`.

    Of the first gait also one that was before `start`, of the last one more
    touchdown, which never comes if the animal stops for good.
    """
    clock = plan.clock
    limit = clock.phase(until)
    low = math.floor(clock.phase(start) - first) - 1 if initial else 0
    high = min(math.floor(limit - first) + 2, low + MOST_STEPS)
    stride = np.arange(low, high + 1) + turn
    turns = np.asarray(plan.gait.phase, dtype=float)[plan.gait.sides()[:, leg]]
    phase = first + (stride - turn).astype(float)
    phase += turns[np.mod(stride, len(turns))] - turns[turn]
    on = clock.time(phase)
    if initial and float(clock.rate(start)) <= 0.0:
        on[phase <= clock.phase(start)] = -math.inf  # it stands, and has for ever
    count = int(np.searchsorted(on, until + LATE, side="right")) + last
    drop = 0
    if initial and count:
        before = np.flatnonzero(on[:count] < start)
        drop = before[-1] if len(before) else 0
    return _Touchdowns(phase, on, stride)[drop:count]


@dataclass(frozen=True)
class _Part:
    """Supports of a leg in one gait: touchdown and liftoff, and the phases of both, how long
    the transfer before it may last, and the number of the gait."""

    on: np.ndarray
    off: np.ndarray
    phase: np.ndarray
    end_phase: np.ndarray
    longest: np.ndarray
    gait: np.ndarray


def _part(plan: GaitPlan, number: int, leg: int, steps: _Touchdowns) -> _Part:
    phase, on, stride = steps.phase, steps.on, steps.stride
    following = plan.clock.time(phase + plan.gap(leg, stride))
    end_phase = phase + plan.duty_between(leg, on, following, stride)
    off, longest = plan.clock.time(end_phase), plan.longest_before(leg, stride)
    return _Part(on, off, phase, end_phase, longest, np.full(len(on), number))


@dataclass(frozen=True)
class _Shifted:
    """A change in transfers: touchdowns of the first stage, and each leg's first phase in
    the next gait, with the stride of its cycle."""

    made: GaitChange
    extra: list[_Touchdowns | None]
    first: np.ndarray
    turn: np.ndarray


@dataclass(frozen=True)
class _StartedOff:
    """A change in a stand: the steps into it, each leg's first phase in the next gait, with
    the stride of its cycle, and its first liftoff and touchdown."""

    made: GaitChange
    steps: list[_Touchdowns]
    first: np.ndarray
    turn: np.ndarray
    leave: np.ndarray
    land: np.ndarray


def _all_touchdowns(
    plan: GaitPlan,
    first: np.ndarray,
    turn: np.ndarray,
    initial: bool,
    start: float,
    until: float,
    last: bool,
    landed: np.ndarray | None,
) -> list[_Touchdowns]:
    """Touchdowns of all legs; the first of those who started off from a stand are given."""
    steps = [
        _touchdowns(plan, leg, phase, stride, initial, start, until, last)
        for leg, (phase, stride) in enumerate(zip(first, turn, strict=True))
    ]
    if landed is not None:
        for own, moment in zip(steps, landed, strict=True):
            own.on[:1] = moment
    return steps


def _stand(clock: PhaseClock, time: float) -> tuple[float, float] | None:
    """The first stand that lasts to a time, or begins later: from and to when, s."""
    for begin, end in clock.slow(STANDS):
        if end > time:
            return begin, end
    return None


def _start_off(
    number: int,
    plan: GaitPlan,
    following: GaitPlan,
    steps: list[_Touchdowns],
    begin: float,
) -> _StartedOff | None:
    """Begin the next gait with the first step after a stand, as a motion begins that starts
    from one: a support of one leg opens as the animal goes. Of the legs for which that may be
    the one is taken that asks for the least squares of shifts, were the gait before to go on.

    Args:
        number: of the gait that ends.
        plan: that gait.
        following: the next.
        steps: the touchdowns of each leg up to the stand, and the next.
        begin: when the next gait is to begin, s, within the stand.

    Returns:
        What happens, or None where it stands for good, or goes on before all feet are down.
    """
    clock, other = plan.clock, following.clock
    stand = _stand(other, begin)
    go = begin if stand is None or stand[0] > begin else stand[1]
    if not math.isfinite(go):
        return None
    here, there = float(clock.phase(begin)), float(other.phase(go))
    n = len(steps)
    due, stops = np.empty(n), []
    for leg, own in enumerate(steps):
        land, longest = float(own.on[-1]), float(plan.longest_before(leg, own.stride[-1]))
        if len(own.on) > 1:
            part = _part(plan, number, leg, own)
            leave, lifts = float(part.off[-2]), float(part.end_phase[-2])
            half = _middle_of_transfer(clock, leave, lifts, land, float(own.phase[-1]))
            lands = half <= begin  # more than half of its swing is over
            late = half + 0.5 * longest > go or land - leave <= longest
        else:  # its first swing since the stand before
            lands, late = land - longest < begin, land > go
        if lands and late:
            return None
        stops.append(own if lands else own[:-1])
        due[leg] = there + own.phase[-1] + lands * plan.gap(leg, own.stride[-1]) - here
    cycle, touchdowns = following.gait.cycle, following.gait.touchdowns()
    # From each touchdown in turn: when those of each leg come after it, and the next of them.
    from_one = touchdowns.reshape(-1, 1, 1)
    each = np.mod(touchdowns - from_one - 1e-9, cycle) + 1e-9
    turns, ahead = each.argmin(axis=1), each.min(axis=1)
    shifts = there + ahead - due
    cost = np.sum(shifts**2, axis=1)
    one = int(np.flatnonzero(cost <= cost.min() + 1e-12)[0])
    first, turn = there + ahead[one], turns[one]
    swings = [
        _first_swing(following, leg, float(first[leg]), int(turn[leg]), there, go)
        for leg in range(n)
    ]
    leaves, lands_at = np.array(swings).T
    offset = float(np.mod(there - from_one[one, 0, 0], cycle))
    shift = Shift(shifts[one], offset, float(cost[one]))
    made = GaitChange(number + 1, following.start, begin, go, shift)
    return _StartedOff(made, stops, first, turn, leaves, lands_at)


def _first_swing(
    plan: GaitPlan, leg: int, phase: float, stride: int, rest: float, go: float
) -> tuple[float, float]:
    """Liftoff and touchdown, s, of the first swing after a stand that ends at `go` with the
    phase `rest`; infinite where it stands for good."""
    clock, before = plan.clock, stride - 1
    land = float(clock.time(phase))
    duty = min(
        float(plan.duty_at(leg, go, before)), float(plan.duty_at(leg, min(land, 1e12), before))
    )
    gap = float(plan.gap(leg, before))
    lifts, half = phase - gap + duty, phase - 0.5 * (gap - duty)
    leave = float(clock.time(lifts)) if lifts > rest else go
    middle = float(clock.time(half)) if half > rest else math.inf
    longest = float(plan.longest_before(leg, stride))
    if land > leave + longest:
        middle = middle if math.isfinite(middle) else land
        begin = max(min(max(middle - 0.5 * longest, leave), land - longest), go)
        return begin, min(begin + longest, max(land, begin + plan.least))
    return leave, max(land, leave + plan.least)


def _change(
    number: int,
    plan: GaitPlan,
    following: GaitPlan,
    steps: list[_Touchdowns],
    begin: float,
) -> _Shifted | None:
    """Shift all legs to the next gait, unless it stands for good before they come around."""
    clock, other = plan.clock, following.clock
    slow, fast = float(clock.rate(begin)), float(other.rate(begin))
    # A skip would be drawn out to a long flight; its legs come around one by one anyway.
    stretched = slow > fast * (1.0 + 1e-9) and not plan.gait.alternates
    n = len(steps)
    extra: list[_Touchdowns | None] = [None] * n
    due, lifted = np.empty(n), np.empty(n)
    for leg, own in enumerate(steps):
        if not len(own.on):  # no touchdown of its own: as if it had been one stride ago
            return None
        last_on, last, stride = own.on[-1], own.phase[-1], int(own.stride[-1])
        if stretched and math.isfinite(last_on):
            # First stage: around once at the longer period.
            leave = last + float(plan.duty_at(leg, last_on, stride))
            leave = float(clock.time(leave)) + following.least
            around = max(float(other.phase(last_on)) + 1.0, float(other.phase(leave)))
            last_on, stride = float(other.time(around)), stride + 1
            if not math.isfinite(last_on):
                return None
            last = float(clock.phase(last_on))
            extra[leg] = _Touchdowns(np.array([last]), np.array([last_on]), np.array([stride]))
            due[leg] = float(other.phase(last_on)) + 1.0
        else:
            next_on = float(clock.time(last + float(plan.gap(leg, stride))))
            if not math.isfinite(next_on):
                return None
            due[leg] = float(other.phase(next_on))
        when = last_on if math.isfinite(last_on) else plan.duty_times[0]
        duty = float(plan.duty_at(leg, when, stride))
        lifted[leg] = float(clock.time(last + duty))
    if not np.all(np.isfinite(lifted)):
        return None
    left = other.phase(lifted)
    least = other.phase(lifted + following.least) - left
    cycle, touchdowns = following.gait.cycle, following.gait.touchdowns()
    shift = minimum_shift(due, touchdowns.T, due - left, least, cycle)
    first = due + shift.shift
    off = np.mod(first - shift.offset - touchdowns + 0.5 * cycle, cycle) - 0.5 * cycle
    turn = np.argmin(np.abs(off), axis=0)
    at = other.time(first)
    if not np.all(np.isfinite(at)):
        return None
    made = GaitChange(number + 1, following.start, float(np.min(at)), float(np.max(at)), shift)
    return _Shifted(made, extra, first, turn)


def _collect(plans: Sequence[GaitPlan], taken: list[list[_Part]], frame: float) -> Steps:
    """Midstances, and transfers that last no longer than they may."""
    columns: list[list[np.ndarray]] = [[] for _ in range(6)]
    for leg, parts in enumerate(taken):
        on, off, phase, end_phase, most, gait = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("on", "off", "phase", "end_phase", "longest", "gait")
        )
        # The first swing of a gait is no hop yet, and may still be the long step of a skip.
        for i in np.flatnonzero(np.diff(gait)) + 1:
            before, plan = plans[gait[i - 1]], plans[gait[i]]
            most[i] = max(plan.longest, before.longest if before.gait.alternates else 0.0)
        stand = _stand(plans[0].clock, 0.0)
        go = stand[1] if stand is not None and stand[0] <= 0.0 else 0.0
        # Feet that would hang in the air too long.
        leave, land = off[:-1].copy(), on[1:].copy()
        for i in np.flatnonzero((land > leave + most[1:]) & (leave < math.inf)):
            longest = most[i + 1]
            half = _middle_of_transfer(
                plans[gait[i + 1]].clock, leave[i], end_phase[i], land[i], phase[i + 1]
            )
            begin = min(max(half - 0.5 * longest, leave[i]), land[i] - longest)
            if math.isinf(leave[i]) or 0.0 <= leave[i] < go:  # it stands from the beginning
                begin = max(begin, go)
            shortest = begin + plans[gait[i + 1]].least
            off[i], on[i + 1] = begin, min(begin + longest, max(land[i], shortest))
        if len(on) > 1 and math.isinf(on[0]):  # nor are they lifted for a moment as it goes
            on[1] = max(on[1], min(off[0] + plans[0].least, 0.5 * (on[1] + off[1])))
        off = np.maximum(off, np.where(np.isfinite(on), on, -math.inf))
        comes = on < math.inf
        on, off, phase, end_phase, gait = (x[comes] for x in (on, off, phase, end_phase, gait))
        if frame > 0.0:
            rounded = np.round(on / frame) * frame
            if np.all(np.diff(rounded) > 1.5 * frame):  # else there is no frame to swing in
                on, off = rounded, np.maximum(np.round(off / frame) * frame, rounded + frame)
                off[:-1] = np.minimum(off[:-1], on[1:] - frame)
        middle = np.empty(len(on))
        for number, plan in enumerate(plans):
            of = gait == number
            clock = plan.clock
            begin = np.where(np.isfinite(on[of]), clock.phase(on[of]), phase[of])
            finish = np.where(np.isfinite(off[of]), clock.phase(off[of]), end_phase[of])
            middle[of] = clock.time(0.5 * (begin + finish))
        middle = np.where(np.isfinite(on), np.clip(middle, on, off), on)
        middle[np.isinf(off) & np.isfinite(on)] = math.inf
        index = np.arange(len(on)) - int(np.count_nonzero(off < -LATE))
        for column, values in zip(
            columns, (np.full(len(on), leg), index, on, off, middle, gait), strict=True
        ):
            column.append(values)
    return Steps(*(np.concatenate(column) for column in columns))


def _middle_of_transfer(
    clock: PhaseClock, leave: float, leave_phase: float, land: float, land_phase: float
) -> float:
    """When half of a transfer's phase has gone, by the clock of the gait it leads to; its
    end, if that never comes."""
    begin = float(clock.phase(leave)) if math.isfinite(leave) else leave_phase
    finish = float(clock.phase(land)) if math.isfinite(land) else land_phase
    middle = float(clock.time(0.5 * (begin + finish)))
    return middle if math.isfinite(middle) else land
