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
from .body import Body, Limb, Posture, centre, length, links
from .course import Course
from .flight import LONGEST, ORDER, Flight, rise_speed, shoot
from .heights import Piece
from .holds import INSTANT, Hold, brought, fastened, find_holds, settle, stepping, tied, whole
from .kicks import FlightEnd, held_back
from .motion import Contact, FreeformMotion, PostureSequence, clean
from .problems import flight_problems, folding_problems, stretched_problems, unreached
from .timeline import Timeline, timeline

ROUNDS = 40  # of flights and kicks in turns
ROUGH = 6, 0.1  # nodes of a piece, and s that it lasts, while kicks change yet
ROUGHLY, SETTLED = 1e-4, 1e-7  # rad/s by which kicks may still change

Job = tuple[Hold, int, bool]  # a foothold, a visit, and whether it is left there


class FreeformPlan:
    """A solved motion, to be sampled at any time.

    Args:
        body: who moves.
        sequence: its postures, and when.
        gravity: m/s^2, downwards.
        progress: called with the share done, many times a flight; what it raises ends the work.

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
        self.flights = []
        spans = line.spans(flying=True)
        wanted = self._wanted(spans)
        for i, (a, b) in enumerate(spans):

            def flown(share: float, i: int = i) -> None:
                if progress is not None:
                    progress((i + share) / len(spans))

            self.flights.append(self._fly(a, b, wanted, flown))
        self._pieces: list[tuple[int, Piece]] = []
        falls: dict[int, float] = {}  # m/s at visits at which flights begin or end
        for flight, (a, b) in zip(self.flights, spans, strict=True):
            falls[a], falls[b] = self._join(flight, a, b)
        if falls:
            over, rates = self._overs()
            for a, b in line.spans(flying=False):
                self._rise(a, b, falls, over, rates)
        self._step()
        for flight, (a, b) in zip(self.flights, spans, strict=True):
            self.problems += flight_problems(flight, line, self.postures, a, b)
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
            rolled = np.stack([
                hold.rolled(course.parameter(times[j] + by.ravel())[0])
                for j, hold in zip(mine, holds, strict=True)
            ], axis=1)
            repeated = (
                np.stack([hold.place for hold in holds])[:, None],
                np.stack([hold.turn for hold in holds])[:, None], rolled[:, :, None],
            )
            target, turned, rolled = (
                np.broadcast_to(x, (*shape, *x.shape[-of:])).reshape(np.prod(shape), *x.shape[-of:])
                for x, of in zip(repeated, (1, 1, 2), strict=True)
            )
            kept, _ = brought(
                self.body, limb, target, turned, places[:, mine].reshape(-1, 3),
                joints[:, mine].reshape(-1, *turns.shape[1:]), rolled,
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
        share = held_back(kick)
        # A stretched limb would have to bend infinitely fast.
        self._stretched[visit, hold.limb.name] = share < 1.0
        self.course.turn_kicks[self._chain(hold.limb, visit, lifting)] = share * kick
        if not lifting:
            self._folding[visit, hold.limb.name] = float(np.linalg.norm(own[1] + kick[1]))

    def _wanted(self, spans: list[tuple[int, int]]) -> dict[Job, tuple[np.ndarray, np.ndarray]]:
        """`_rates` at both ends of all flights while the pelvis rests, and at 1 m/s along or
        1 rad/s about each axis."""
        jobs = [
            (hold, visit, lifting) for a, b in spans for visit, lifting in ((a, True), (b, False))
            for hold in self.line.standing[visit]
        ]
        at = self.line.visits[[visit for _, visit, _ in jobs]]
        steps = np.tile(np.concatenate([np.zeros((1, 6)), np.eye(6)]), (len(jobs), 1, 1))
        turns = self.course.joints(at)[0][:, 0]
        rates = self._rates(
            jobs, self.course.places(at)[0], turns, steps[..., :3], steps[..., 3:]
        ) if jobs else []
        return dict(zip(jobs, rates, strict=True))

    def _fly(
        self, a: int, b: int, wanted: dict[Job, tuple[np.ndarray, np.ndarray]],
        progress: Callable[[float], None],
    ) -> Flight:
        """The flight between two visits, its limbs kicked."""
        course, visits = self.course, self.line.visits
        start, end = visits[a], visits[b]
        times = np.array([start, end])

        def joints_of(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return course.joints(t, b - 1)

        places = course.places(times)[0]
        joints, rates = joints_of(times)
        ends = centre(self.body, links(self.body, places, joints))
        span = end - start
        velocity = (ends[1] - ends[0]) / span
        velocity[2] = rise_speed(span, ends[0, 2] - ends[1, 2], self.gravity)

        def guide(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            turns, spins = joints_of(t)
            return turns[:, 0], spins[:, 0]

        limits, owns = [], []
        for i, (visit, lifting) in enumerate(((a, True), (b, False))):
            limbs = []
            for hold in self.line.standing[visit]:
                by_root, own = wanted[hold, visit, lifting]
                limbs.append((self._chain(hold.limb, visit, lifting)[2], by_root))
                owns.append((hold, visit, lifting, own))
            fall = self.gravity * (times[i] - start) * np.eye(3)[2]
            limits.append(FlightEnd(self.body, joints[i], rates[i], velocity - fall, limbs))

        def kicked(momentum: np.ndarray) -> list[np.ndarray]:
            return [kick for one in limits for kick in one.kicks(momentum)]

        aim, count = shoot(self.body, joints_of, guide, times, None, *ROUGH), 0
        for rule, close in ((ROUGH, ROUGHLY), ((ORDER, LONGEST), SETTLED)):
            for _ in range(ROUNDS):
                # Most take three rounds or four.
                count += 1
                progress(1.0 - 0.5 ** (0.5 * count))
                kicks = kicked(aim.momentum)
                for (hold, visit, lifting, own), kick in zip(owns, kicks, strict=True):
                    self._kick(hold, visit, lifting, kick, own)
                aim = shoot(self.body, joints_of, guide, course.breaks(start, end), aim, *rule)
                change = zip(kicked(aim.momentum), kicks, strict=True)
                if max((np.abs(x - y).max() for x, y in change), default=0.0) < close:
                    break
        return Flight(start, end, ends[0], velocity, self.gravity, aim, self.body, joints_of)

    # Supports

    def _join(self, flight: Flight, a: int, b: int) -> tuple[float, float]:
        """Kick the pelvis, on the ground, so that it meets a flight's velocity and spin.

        Returns how fast it falls at both ends, m/s."""
        course = self.course
        times = np.array([flight.start, flight.end])
        _, _, velocity, spin = flight.pelvis(times)
        own = course.places(times)[1], course.joints(times)[1][:, 0]
        for i, (interval, side) in enumerate(((a - 1, 1), (b, 0))):
            if 0 <= interval < len(self.line.holds):
                course.place_kicks[side, interval] = velocity[i] - own[0][i]
                course.turn_kicks[side, interval, 0] = spin[i] - own[1][i]
        return -float(velocity[0, 2]), -float(velocity[1, 2])

    def _rise(
        self, a: int, b: int, falls: dict[int, float], over: np.ndarray, rates: np.ndarray
    ) -> None:
        """Heights of a support between two visits."""
        visits = self.line.visits
        landing = falls[a] - rates[0, a] if a in falls else 0.0
        liftoff = rates[1, b - 1] - falls[b] if b in falls else 0.0
        leg = max(
            (length(self.body, h.limb) for i in range(a, b) for h in self.line.holds[i]),
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
            places, speeds = self.course.places(visits[i : i + 2])
            low, high = places[:, 2] + over[:, i]
            far = 1 if down > 0.0 else 0
            passes = rates[far, i] + float(speeds[far, 2])
            piece = Piece(
                visits[i], visits[i + 1], low, high, max(down, 0.0), max(up, 0.0), leg, passes
            )
            self._pieces.append((i, piece))

    def _over(self, interval: int, heights: np.ndarray) -> np.ndarray:
        """(...,) how much higher than the pelvis limbs are fastened that bear it: what lands on
        its arms, or forelegs, is caught at the shoulders. Of heights (..., n) of all joints."""
        return heights[..., [hold.limb.links[0] for hold in self.line.holds[interval]]].mean(-1)

    def _overs(self) -> tuple[np.ndarray, np.ndarray]:
        """(2, v - 1) `_over` at starts and ends of intervals, m, and how fast it grows, m/s."""
        visits, inward = self.line.visits, np.array([[1.0], [-1.0]])
        times = np.stack([visits[:-1], visits[1:]])[..., None]
        times = times + (inward * INSTANT * np.arange(3.0))[:, None]
        joints, _ = self.course.joints(times.ravel())
        heights = links(self.body, np.zeros(3), joints).joints[..., 2].reshape(*times.shape, -1)
        over = np.zeros(times.shape)
        for i, holds in enumerate(self.line.holds):
            if holds:
                over[:, i] = self._over(i, heights[:, i])
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
        joints, _ = self.course.joints(times)
        heights = links(self.body, np.zeros(3), joints).joints[..., 2]
        for interval, piece in self._pieces:
            here = np.flatnonzero((times >= piece.start) & (times <= piece.end))
            if len(here):
                place[here, 2] = piece(times[here]) - self._over(interval, heights[here])
        return place, joints

    def _posed(
        self, times: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[tuple[Limb, np.ndarray, np.ndarray]]]:
        """Pelvis, joints, and of limbs in which samples they are brought where, and what is
        missing."""
        times = np.clip(np.asarray(times, float), 0.0, self.duration)
        place, joints = self._ground(times)
        for flight in self.flights:
            here = np.flatnonzero((times > flight.start) & (times < flight.end))
            if len(here):
                place[here], joints[here, 0], _, _ = flight.pelvis(times[here])
        interval, told = self.course.interval(times), []
        at = self.course.parameter(times)[0]
        for limb in self.body.limbs:
            rows = []
            for hold in dict.fromkeys(h for row in self.line.holds for h in row if h.limb is limb):
                bears = np.array([hold in row for row in self.line.holds])
                here = np.flatnonzero(bears[interval])
                if len(here):
                    rows.append((hold, here))
            if not rows:
                continue
            every = np.concatenate([here for _, here in rows])
            target, turn, rolled = (np.concatenate(x) for x in zip(*(
                (np.tile(hold.place, (len(here), 1)), np.tile(hold.turn, (len(here), 1)),
                 hold.rolled(at[here])) for hold, here in rows
            ), strict=True))
            joints[every], missing = brought(
                self.body, limb, target, turn, place[every], joints[every], rolled
            )
            parts = np.split(missing, np.cumsum([len(here) for _, here in rows])[:-1])
            told += [(limb, here, part) for (_, here), part in zip(rows, parts, strict=True)]
        visits = self.line.visits
        for i, one, other in self.steps:
            here = np.flatnonzero(interval == i)
            if len(here):
                share = (times[here] - visits[i]) / (visits[i + 1] - visits[i])
                ends = self.course.parameter(visits[i : i + 2])[0]
                both = one.rolled(ends[:1]), other.rolled(ends[1:])
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
        momenta = np.array([f.aim.momentum for f in self.flights]).reshape(-1, 3)
        return FreeformMotion(
            np.asarray(times, float), place, turn, rotations.continuous(joints),
            centre(self.body, found), momenta,
            np.array([(f.start, f.end) for f in self.flights]).reshape(-1, 2),
            self._contacts(), tuple(problems),
        )

    def _contacts(self) -> tuple[Contact, ...]:
        rows, visits, out = self.line.holds, self.line.visits, []
        for hold in dict.fromkeys(h for row in rows for h in row):
            on = np.array([False, *(hold in row for row in rows), False])
            for a, b in np.flatnonzero(on[1:] != on[:-1]).reshape(-1, 2):
                out.append(
                    Contact(hold.limb.name, float(visits[a]), float(visits[b]), hold.place)
                )
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
