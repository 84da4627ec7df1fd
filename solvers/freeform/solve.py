# SPDX-License-Identifier: GPL-3.0-or-later
"""Free-form motion of a body through postures, on the ground and in the air.

Girard 1986, section 5, with the horizontal and the turning motion, which the paper leaves
open. In this order, each step leaving alone what the former have set:

1. Footholds: where a limb bears, its end stays where the first of its postures has it.
2. Flights between transition postures (`flight.py`). There the joints follow the postures;
   limbs that leave the ground, or come down, do so with their ends at rest, for which
   their joints are kicked (`course.py`), as far as joints are as fast as that. As the
   kicks change the momentum within the body, and the momentum the kicks (`kicks.py`), both
   are found in turns.
3. Supports: the pelvis goes where the postures lead it, meeting the velocities and spins
   of the flights; its heights follow `heights.py`; limbs keep their footholds (`holds.py`).
4. Steps: limbs that lift and touch while others bear start and end at rest, likewise; those
   that bear in two postures in a row at places apart go from the one to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from .. import rotations
from ..errors import SettingError
from .body import Body, Limb, Posture, centre, inside, length, limb_root, links
from .course import Course
from .flight import LANDED, LONGEST, ORDER, Flight, rise_speed, shoot
from .heights import Piece
from .holds import (
    INSTANT,
    Hold,
    brought,
    fastened,
    find_holds,
    rolled,
    settle,
    stepping,
    tied,
    whole,
)
from .kicks import FlightEnds, held_back
from .motion import Contact, FreeformMotion, PostureSequence, clean
from .problems import UNREACHED, flight_problems, folding_problems, stretched_problems, unreached
from .timeline import Timeline, timeline

ROUNDS = 40  # of flights and kicks in turns
# Nodes of a piece, s that it lasts, and rad left, round by round: coarse while kicks change yet.
RULES = (6, 0.1, LANDED), (6, 0.1, 1e-5), (ORDER, LONGEST, LANDED)
SETTLED = 5e-5  # rad/s by which kicks may still change: limbs' ends rest but for 0.05 mm/s

Job = tuple[Hold, int, bool]  # a foothold, a visit, and whether it is left there


class FreeformPlan:
    """A solved motion, to be sampled at any time.

    Args:
        body: who moves.
        sequence: its postures, and when.
        gravity: m/s^2, downwards.
        progress: called with the share done, while flights are found; what it raises ends the
            work.

    Raises:
        SettingError: postures, times or a pace that give no motion.
    """

    def __init__(
        self, body: Body, sequence: PostureSequence, gravity: float = 9.81,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        if not gravity > 0.0:
            raise SettingError("Gravity", gravity, "above 0 m/s²")
        sequence.check(body)
        self.body, self.gravity = body, gravity
        given = [clean(p) for p in sequence.postures]
        if sequence.thrown:
            given = self._thrown(given, sequence)
        self.postures, self.problems = settle(
            body, given, find_holds(body, given), sequence.times
        )
        holds = find_holds(body, self.postures)
        self.line: Timeline = timeline(body, sequence, self.postures, holds)
        line = self.line
        self.duration = float(line.visits[-1])
        timed = sequence.times is not None
        self.course = Course(
            self.postures, line.knots, line.parameter, line.visits, line.rest,
            sequence.start if timed else None, sequence.end_velocity if timed else None,
            partial(tied, body),
        )
        self._check_supports()
        self._stretched: dict[tuple[int, str], bool] = {}
        self._folding: dict[tuple[int, str], float] = {}  # rad/s
        self.steps = line.steps()
        self._bearing = line.bearing(body)
        spans = line.spans(flying=True)
        self._air = self._fly(spans, progress) if spans else None
        self.flights = [] if self._air is None else [self._air.of(i) for i in range(len(spans))]
        self._pieces: list[tuple[int, Piece]] = []
        if self._air is not None:
            led = [x[:, 2] for x in self.course.places(line.visits)]
            falls = self._join(spans, self._air)
            over, rates = self._overs()
            for a, b in line.spans(flying=False):
                self._rise(a, b, falls, over, rates, *led)
        self._step()
        for flight, (a, b) in zip(self.flights, spans, strict=True):
            self.problems += flight_problems(body, flight, line, self.postures, a, b)
        stretched = sorted(key for key, yes in self._stretched.items() if yes)
        self.problems += stretched_problems(line, stretched)
        self.problems += folding_problems(
            body, line, {k: w for k, w in self._folding.items() if k not in stretched}, gravity
        )

    def _thrown(self, given: list[Posture], sequence: PostureSequence) -> list[Posture]:
        """Postures where a body comes by that has been thrown.

        Its centre of mass goes from the first one at the velocity that it has there, so that
        the others are only as high and as far as it gets by then.
        """
        start = sequence.start
        assert start is not None and sequence.times is not None
        by = np.array([-INSTANT, INSTANT])[:, None, None]
        turned = rotations.from_rotation_vector(by * start.spins)
        joints = rotations.multiply(whole(given[0]), turned)
        places = given[0].place + by[:, 0] * start.velocity
        there = centre(self.body, links(self.body, places, joints))
        velocity = (there[1] - there[0]) / (2.0 * INSTANT)
        first, out = 0.5 * (there[0] + there[1]), given[:1]
        for posture, time in zip(given[1:], sequence.times[1:], strict=True):
            t = float(time - sequence.times[0])
            at = first + velocity * t - 0.5 * self.gravity * t * t * np.eye(3)[2]
            own = centre(self.body, links(self.body, posture.place[None], whole(posture)))[0]
            out.append(replace(posture, place=posture.place + at - own))
        return out

    def _check_supports(self) -> None:
        spans = self.line.spans(flying=True)
        for (_, b), (a, _) in zip(spans[:-1], spans[1:], strict=True):
            if b == a:
                raise SettingError(
                    f"Posture {self.line.postures[a] + 1}", "the only one between two flights",
                    "followed by another one on the same feet, from which the body jumps",
                )

    # Flights

    def _loose(self, visit: int, lifting: bool) -> tuple[Hold, ...]:
        """Holds that end at a visit, or begin there."""
        before, after = self.line.holds[visit - 1 : visit + 1]
        mine, others = (before, after) if lifting else (after, before)
        return tuple(h for h in mine if h not in others)

    def _chain(self, limb: Limb, visit: int, lifting: bool) -> tuple[int, int, list[int]]:
        """Where the kicks of a limb stand: side, interval and links."""
        side, interval = (0, visit) if lifting else (1, visit - 1)
        return side, interval, [*limb.links, *limb.beyond]

    def _rates(
        self, jobs: Sequence[Job], place: np.ndarray, turn: np.ndarray, velocity: np.ndarray,
        spin: np.ndarray,
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """By how much faster limbs' joints turn than postures have them, so that their ends rest
        on their footholds while the pelvis, (j, 3) m and (j, 4), moves at velocities and spins
        (j, r, 3): (r, c, 3) of each limb; and (c, 3) as postures have them."""
        if not jobs:
            return []
        course, chains = self.course, [self._chain(h.limb, at, up) for h, at, up in jobs]
        for chain in chains:
            course.turn_kicks[chain] = 0.0
        times = self.line.visits[[visit for _, visit, _ in jobs]]
        turns, own = course.joints(times)
        count, many = spin.shape[:2]
        by = np.array([-INSTANT, INSTANT])[:, None, None, None]
        joints = rotations.multiply(turns, rotations.from_rotation_vector(by * own))
        joints = np.repeat(joints[:, :, None], many, axis=2)
        spun = rotations.from_rotation_vector(by * spin)
        joints[..., 0, :] = rotations.multiply(turn[:, None], spun)
        places = place[:, None] + by * velocity
        found: list[tuple[np.ndarray, np.ndarray]] = [(own, own)] * count
        for limb in self.body.limbs:
            mine = [j for j, (hold, *_) in enumerate(jobs) if hold.limb is limb]
            if not mine:
                continue
            holds, shape = [jobs[j][0] for j in mine], (2, len(mine), many)
            near = course.parameter((times[mine] + by[:, 0, 0]).ravel())[0]
            turning = rolled(holds, np.tile(np.arange(len(mine)), 2), near)
            repeated = (
                np.stack([hold.place for hold in holds])[:, None],
                np.stack([hold.turn for hold in holds])[:, None],
                turning.reshape(2, len(mine), 1, *turning.shape[1:]),
            )
            target, turned, turning = (
                np.broadcast_to(x, (*shape, *x.shape[-of:])).reshape(np.prod(shape), *x.shape[-of:])
                for x, of in zip(repeated, (1, 1, 2), strict=True)
            )
            kept, _ = brought(
                self.body, limb, target, turned, places[:, mine].reshape(-1, 3),
                joints[:, mine].reshape(-1, *turns.shape[1:]), turning,
            )
            links_of = chains[mine[0]][2]
            first, last = kept[:, links_of].reshape(*shape, len(links_of), 4)
            step = rotations.multiply(rotations.conjugate(first), last)
            rates = rotations.to_rotation_vector(step) / (2.0 * INSTANT)
            for j, rate in zip(mine, rates, strict=True):
                found[j] = rate - own[j, links_of], own[j, links_of]
        return found

    def _kick(
        self, hold: Hold, visit: int, lifting: bool, kick: np.ndarray, own: np.ndarray
    ) -> None:
        """Let a limb leave its foothold, or come to it, its joints (c, 3) faster than its own."""
        share = float(held_back(kick))
        # A stretched limb would have to bend infinitely fast.
        self._stretched[visit, hold.limb.name] = share < 1.0
        self.course.turn_kicks[self._chain(hold.limb, visit, lifting)] = share * kick
        if not lifting:
            self._folding[visit, hold.limb.name] = float(np.linalg.norm(own[1] + kick[1]))

    def _wanted(self, jobs: list[Job]) -> list[tuple[np.ndarray, np.ndarray]]:
        """`_rates` while the pelvis rests, and at 1 m/s along or 1 rad/s about each axis."""
        at = self.line.visits[[visit for _, visit, _ in jobs]]
        steps = np.tile(np.concatenate([np.zeros((1, 6)), np.eye(6)]), (len(jobs), 1, 1))
        turns = self.course.turns(at)[:, 0]
        return self._rates(
            jobs, self.course.places(at)[0], turns, steps[..., :3], steps[..., 3:]
        )

    def _ends(self, spans: list[tuple[int, int]]) -> tuple[np.ndarray, ...]:
        """(2 f,) times of flights' ends, and (2 f, n, 4) joints and (2 f, n, 3) rates in these."""
        visits = np.array(spans)
        times = self.line.visits[visits.ravel()]
        return times, *self.course.joints(times, np.repeat(visits[:, 1] - 1, 2))

    def _fly(
        self, spans: list[tuple[int, int]], progress: Callable[[float], None] | None
    ) -> Flight:
        """The flights between visits, their limbs kicked."""
        course = self.course
        # Of each end, who rests there.
        jobs = [
            [(hold, visit, lifting) for hold in self.line.standing[visit]]
            for span in spans for visit, lifting in zip(span, (True, False), strict=True)
        ]
        every = [job for one in jobs for job in one]
        wanted = dict(zip(every, self._wanted(every) if every else [], strict=True))
        times, joints, rates = self._ends(spans)
        ends = centre(self.body, links(self.body, course.places(times)[0], joints))
        first, last = ends[::2], ends[1::2]
        span = (times[1::2] - times[::2])[:, None]
        velocity = (last - first) / span
        velocity[:, 2:] = rise_speed(span, first[:, 2:] - last[:, 2:], self.gravity)
        speeds = np.repeat(velocity, 2, axis=0)
        speeds[1::2, 2:] -= self.gravity * span
        limits = FlightEnds(self.body, joints, rates, speeds, [
            [(self._chain(job[0].limb, *job[1:])[2], wanted[job][0]) for job in one]
            for one in jobs
        ])

        aim, kicks = None, np.zeros(limits.shape)
        # Most take a round for each rule, the first without any kicks.
        for rounds in range(ROUNDS):
            if progress is not None:
                progress(1.0 - 0.5 ** (0.5 * rounds))
            for one, of in zip(jobs, kicks, strict=True):
                for job, kick in zip(one, of, strict=False):
                    own = wanted[job][1]
                    self._kick(*job, kick[: len(own)], own)
            breaks = [course.breaks(*pair) for pair in times.reshape(-1, 2)]
            rule = RULES[min(rounds, len(RULES) - 1)]
            aim = shoot(self.body, course.joints, course.guide, breaks, aim, *rule)
            former, kicks = kicks, limits.kicks(np.repeat(aim.momentum, 2, axis=0))
            change = np.abs(kicks - former).max(initial=0.0)
            if rounds >= len(RULES) - 1 and change < SETTLED:
                break
        assert aim is not None
        gravity = np.full(len(spans), self.gravity)
        return Flight(times[::2], times[1::2], first, velocity, gravity, aim)

    # Supports

    def _join(self, spans: list[tuple[int, int]], air: Flight) -> dict[int, float]:
        """Kick the pelvis, on the ground, so that it meets velocities and spins of the flights.

        Returns how fast it falls at the visits at which they begin or end, m/s."""
        course, count = self.course, len(self.line.holds)
        times, joints, rates = self._ends(spans)
        each = air.of(np.repeat(np.arange(len(spans)), 2))
        velocity, spin = each.velocities(times, inside(self.body, joints, rates))
        at = np.ravel(spans)
        # At intervals' ends the liftoffs, at their starts the touchdowns.
        side = np.tile([1, 0], len(spans))
        on = (at - side >= 0) & (at - side < count)
        kicked = side[on], (at - side)[on]
        course.place_kicks[kicked] = (velocity - course.places(times)[1])[on]
        course.turn_kicks[(*kicked, 0)] = (spin - rates[:, 0])[on]
        return dict(zip(at.tolist(), (-velocity[:, 2]).tolist(), strict=True))

    def _rise(
        self, a: int, b: int, falls: dict[int, float], over: np.ndarray, rates: np.ndarray,
        heights: np.ndarray, speeds: np.ndarray,
    ) -> None:
        """Heights of a support between two visits, at all of which postures have the pelvis at
        heights (v,), m, that change at speeds (v,), m/s."""
        visits = self.line.visits
        landing = falls[a] - rates[0, a] if a in falls else 0.0
        liftoff = rates[1, b - 1] - falls[b] if b in falls else 0.0
        leg = max(
            (length(self.body, limb) for limb, _, bears in self._bearing if bears[a:b].max() >= 0),
            default=1.0,
        )
        if b - a == 1:
            both = a in falls and b in falls
            if both and min(landing, liftoff) <= 0.0:
                return  # what leads up into a landing, or down from a liftoff, is kicked
            wanted = [(a, landing, liftoff)]
        else:
            wanted = [(a, landing, 0.0), (b - 1, 0.0, liftoff)]
        for i, down, up in wanted:
            if max(down, up) <= 0.0:
                continue
            self.course.place_kicks[0, i, 2] *= down <= 0.0
            self.course.place_kicks[1, i, 2] *= up <= 0.0
            low, high = heights[i : i + 2] + over[:, i]
            far = 1 if down > 0.0 else 0
            passes = rates[far, i] + float(speeds[i + far])
            piece = Piece(
                visits[i], visits[i + 1], low, high, max(down, 0.0), max(up, 0.0), leg, passes
            )
            self._pieces.append((i, piece))

    def _over(self, joints: np.ndarray, interval: np.ndarray) -> np.ndarray:
        """(t,) how much higher than the pelvis limbs are fastened that bear it in intervals (t,):
        what lands on its arms, or forelegs, is caught at the shoulders."""
        over, count = np.zeros((2, len(joints)))
        for limb, _, bears in self._bearing:
            here = np.flatnonzero(bears[interval] >= 0)
            over[here] += limb_root(self.body, limb, np.zeros(3), joints[here])[0][:, 2]
            count[here] += 1.0
        return over / np.maximum(count, 1.0)

    def _overs(self) -> tuple[np.ndarray, np.ndarray]:
        """(2, v - 1) `_over` at starts and ends of intervals, m, and how fast it grows, m/s."""
        visits, inward = self.line.visits, np.array([[1.0], [-1.0]])
        times = np.stack([visits[:-1], visits[1:]])[..., None]
        times = times + (inward * INSTANT * np.arange(3.0))[:, None]
        intervals = np.broadcast_to(np.arange(len(visits) - 1)[:, None], times.shape)
        over = self._over(self.course.turns(times.ravel()), intervals.ravel()).reshape(times.shape)
        return over[..., 0], inward * (over @ np.array((-1.5, 2.0, -0.5))) / INSTANT

    def _step(self) -> None:
        """Limbs that lift and touch while others bear do so at rest."""
        holds, visits = self.line.holds, self.line.visits
        led = {(i + end, limb.limb.name) for i, limb, _ in self.steps for end in (0, 1)}
        loose = {
            (i, lifting): rows
            for i in range(1, len(visits) - 1) if holds[i - 1] and holds[i]
            for lifting in (True, False) if (rows := [
                hold for hold in self._loose(i, lifting) if (i, hold.limb.name) not in led
            ])
        }
        if not loose:
            return
        at = visits[sorted({i for i, _ in loose})]
        ground = self._ground(np.concatenate([at - INSTANT, at, at + INSTANT]))
        place, joints = (x.reshape(3, len(at), *x.shape[1:]) for x in ground)
        turn = rotations.multiply(rotations.conjugate(joints[0, :, 0]), joints[2, :, 0])
        spins = rotations.to_rotation_vector(turn) / (2.0 * INSTANT)
        velocities = (place[2] - place[0]) / (2.0 * INSTANT)
        jobs = [(hold, i, lifting) for (i, lifting), rows in loose.items() for hold in rows]
        k = np.searchsorted(at, visits[[i for _, i, _ in jobs]])
        found = self._rates(
            jobs, place[1, k], joints[1, k, 0], velocities[k, None], spins[k, None]
        )
        for job, (kicks, own) in zip(jobs, found, strict=True):
            self._kick(*job, kicks[0], own)

    # Samples

    def _ground(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pelvis and joints as led, with the heights of supports."""
        place, _ = self.course.places(times)
        joints = self.course.turns(times)
        risen = []
        for interval, piece in self._pieces:
            here = np.flatnonzero((times >= piece.start) & (times <= piece.end))
            if len(here):
                place[here, 2] = piece(times[here])
                risen.append((here, np.full(len(here), interval)))
        if risen:
            here, intervals = map(np.concatenate, zip(*risen, strict=True))
            place[here, 2] -= self._over(joints[here], intervals)
        return place, joints

    def _posed(
        self, times: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[tuple[Limb, np.ndarray, np.ndarray]]]:
        """Pelvis, joints, and of limbs in which samples they are brought where, and what is
        missing."""
        times = np.clip(np.asarray(times, float), 0.0, self.duration)
        place, joints = self._ground(times)
        if self._air is not None:
            number = np.searchsorted(self._air.start, times) - 1
            here = np.flatnonzero((number >= 0) & (times < self._air.end[number]))
            each = self._air.of(number[here])
            joints[here, 0] = each.turn(times[here])
            inner = centre(self.body, links(self.body, np.zeros(3), joints[here]))
            place[here] = each.centre(times[here]) - inner
        interval, told = self.course.interval(times), []
        at = self.course.parameter(times)[0]
        for limb, holds, bears in self._bearing:
            which = bears[interval]
            here = np.flatnonzero(which >= 0)
            if not len(here):
                continue
            which = which[here]
            kept, missing = brought(
                self.body, limb, np.stack([hold.place for hold in holds])[which],
                np.stack([hold.turn for hold in holds])[which], place[here], joints[here],
                rolled(holds, which, at[here]),
            )
            for link in (*limb.links, *limb.beyond):
                joints[here, link] = kept[:, link]
            if missing.max() > UNREACHED:
                told += [(limb, here[which == k], missing[which == k]) for k in np.unique(which)]
        visits = self.line.visits
        for i, one, other in self.steps:
            here = np.flatnonzero(interval == i)
            if len(here):
                share = (times[here] - visits[i]) / (visits[i + 1] - visits[i])
                ends = self.course.parameter(visits[i : i + 2])[0]
                both = rolled((one, other), np.arange(2), ends)
                joints[here], missing = stepping(
                    self.body, one, other, share, both, place[here], joints[here]
                )
                told.append((one.limb, here, missing))
        joints, short = fastened(self.body, joints)
        told += [(limb, np.arange(len(times)), missing) for limb, missing in short]
        return place, joints, told

    def sample(self, times: np.ndarray) -> FreeformMotion:
        """The motion at given times.

        Args:
            times: (t,) s from the start; beyond the ends the body stays.

        Returns:
            The motion.
        """
        place, joints, told = self._posed(times)
        problems = list(self.problems)
        for limb, here, missing in told:
            problems += unreached(limb, np.asarray(times)[here], missing)
        turn = rotations.continuous(joints[:, 0]).copy()
        found = links(self.body, place, joints)
        joints[:, 0] = (1.0, 0.0, 0.0, 0.0)
        air = self._air
        momenta, spans = np.zeros((0, 3)), np.zeros((0, 2))
        if air is not None:
            momenta, spans = air.aim.momentum, np.stack([air.start, air.end], axis=1)
        return FreeformMotion(
            np.asarray(times, float), place, turn, rotations.continuous(joints),
            centre(self.body, found), momenta, spans, self._contacts(), tuple(problems),
        )

    def _contacts(self) -> tuple[Contact, ...]:
        visits, out = self.line.visits, []
        for limb, holds, bears in self._bearing:
            edges = np.flatnonzero(np.diff(bears, prepend=-1, append=-1))
            for a, b in zip(edges[:-1], edges[1:], strict=True):
                if bears[a] >= 0:
                    place = holds[bears[a]].place
                    out.append(Contact(limb.name, float(visits[a]), float(visits[b]), place))
        return tuple(sorted(out, key=lambda c: (c.start, c.limb)))


def solve(
    body: Body, sequence: PostureSequence, times: np.ndarray, gravity: float = 9.81
) -> FreeformMotion:
    """Free-form motion of a body.

    Args:
        body: who moves.
        sequence: its postures, and when.
        times: (t,) at which it is wanted, s from the first posture.
        gravity: m/s^2, downwards.

    Returns:
        The motion.

    Raises:
        SettingError: postures, times or a pace that give no motion.
    """
    return FreeformPlan(body, sequence, gravity).sample(times)
