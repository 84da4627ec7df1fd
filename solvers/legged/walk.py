# SPDX-License-Identifier: GPL-3.0-or-later
"""The passes by which a legged motion is solved.

Girard 1986, sections 3 and 4: steps from gaits (`steps`), the body's way and
turning from its supports (`body`), footholds from the body at midstance
(`footholds`), heights of the girdles from supports and footholds, feet from
footholds (`foot`). Each pass knows all of what the passes before it found, so
that everything is planned ahead.

Where wishes conflict, contacts come first, then the length of the legs: hips
sink as far as they may to reach the footholds, and a step that even so is out
of reach begins later or ends earlier. What yielded is in the problem list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import SettingError
from ..motion import BodyState, Problem
from ..rotations import (
    about_x,
    about_y,
    about_z,
    between,
    conjugate,
    continuous,
    multiply,
    rotate,
)
from ..turning.settings import steps_per_frame
from . import problems
from .body import (
    Curve,
    Floor,
    GroundPlan,
    Heading,
    Line,
    Rise,
    Standing,
    bank_angle,
    group_midstances,
    horizontal_motion,
    merge_midstances,
    minimum_jerk,
    spread_turns,
    trunk_pose,
    turning_motion,
    vertical_motion,
)
from .choose import choose_gaits
from .foot import Feet, FootPose, Swing, Trajectory, plateau, strike_on_steps, within_reach
from .footholds import (
    TOO_HIGH,
    Ground,
    can_stand,
    forward_left,
    level_ground,
    place_footholds,
    reference_places,
    step_height,
)
from .gait import Clock, Gait
from .motion import Footprint, GaitMotion
from .pace import Pace
from .path import Path
from .settings import GaitItem, GaitSettings, check_settings, gait_of, ladder_for
from .stairs import Flight, find_flights, off_the_best, treads_in_a_stride
from .steps import GaitPlan, Steps, plan_steps, spans_of, square_up
from .support import share_down, support_profile

Progress = Callable[[float], None]

ROUNDS = 8  # of sinking hips and shortening steps until all footholds are in reach
UNEVEN_ROUNDS = 16  # of the same where the ground is not level
REPLANS = 8  # rounds of shortening strides until no support has to be cut
LEAST_SHARE = 0.75  # of strides that are left of them after a round, at least
MOST_SHARE = 1.15  # of those that are lengthened ahead of stairs, at most
SHORTEST, SHORT_OF_STEPS = 0.15, 0.6  # shares of the wanted strides, the latter at high steps
CLIMBS = 0.27  # sqrt(g / hip height): strides a second on stairs, 105 steps a minute of a person
ALIGNS = 5  # rounds in which steps are brought to where treads carry them
STAND_OFF = 0.03  # hip heights that toes are better away from the next riser, which they swing over
TREAD_LOOKS = 24  # places on a tread at which it is asked whether it does
LEAST_APPROACH, MOST_APPROACH = 0.8, 3.0  # strides ahead of stairs that are made to match
LITTLE = 0.02  # of a support that may be cut without a shorter stride
SAMPLES = np.array(  # of a support
    [0.0, 0.04, 0.08, 0.12, 0.16, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.8, 0.9, 0.96, 1.0]
)
FINE_SAMPLES = np.sort(  # where hips rise and sink on stairs and over high steps
    np.concatenate((SAMPLES, 0.5 * (SAMPLES[1:] + SAMPLES[:-1])))
)
LONGEST_GAP = 0.6  # s between the moments at which a standing body may change its turning
MOST_STEPS = 50_000
MOST_MARGIN = 60.0  # s
SHOWS = 0.01  # share of a stroke that is worth a line when it is cut off
TINY = 1e-5  # s; for central differences of exact heights
LEAST_SUPPORT = 0.25  # of a support that is left of it, or the step is left out
LEAD = 0.15  # hip heights that legs which stand under the body are ahead of their hips at most
TIPS = 0.01  # hip heights that a girdle stays above another that sinks to reach its footholds
TIPPED = math.sin(math.radians(48.0))  # of trunks on uneven ground, at most
UPHILL = 0.5  # of the way to where legs reach equally far up and down a slope
SLOPES = np.linspace(0.35, 0.65, 5)  # hip heights, or trunks, before and behind a place between
# which its slope is measured: the mean of several, or treads of stairs would come in by turns
STEEPEST, FADES = 0.8, 0.25  # tangent of slopes that are taken for such, not for walls
HIGH = 0.28  # hip heights between feet on the ground from which on hips may sink by that much more
LIFTS = 0.4  # g by which bodies are accelerated upwards over high steps
SHORTEST_SPAN = 1e-2  # s between moments at which heights of hips are known
EXACT = 0.1  # of what legs keep back of their length: more is not worth another round
SLOWEST = 0.8  # share of what is missing that is left of it after a round, at most
MOST_TURN = math.radians(120.0)  # that a body turns in a stride: feet stand while it turns
SLOW_STRIDE = 0.02  # sqrt(g / hip height): who takes fewer strides a second stands
CREEP = 0.02  # speed below which a body hardly moves, as a multiple of sqrt(hip height g)
FLYING = 0.995  # of a leg's length that gaits with flights use: feet trail behind after them
PUSHES = 0.7  # of the shift at which legs reach equally far at touchdown and liftoff
STANDS = 5.0  # sqrt(hip height / g) from which on a support is a stand, with a beginning and an end
SLOW = 0.45  # of the shortest stand from which on supports are looked at more often than usual
LOOKS = 0.02  # of the shortest stand: how often a stand is looked at
SOFT = 1.5  # in which hips sink and rise again, as a multiple of sqrt(hip height / g)
WAITS = tuple(  # shares of transfers before feet go ahead, and after they have arrived
    (wait, rest) for wait in (0.0, 0.1, 0.2, 0.3) for rest in (0.0, 0.1, 0.2, 0.3)
)
EDGES = 0.05, 0.12  # of the rise of a step: what the ground is over its line at slopes, at stairs
HURRY = 0.15  # hip heights of lift that are worth hurrying ahead for the share of a transfer
LOW = 0.1  # hip heights by which a foot that does not clear the ground is told of
NEAR = 0.35  # of a lift over the ground: no foot is thrown up because of what is at its heel
STRETCH = 0.93  # of their length: swinging legs that are longer are drawn in softly


@dataclass(frozen=True)
class Approach:
    """The way to a flight of stairs.

    Attributes:
        flight: the stairs.
        start: where strides begin to be made to match, m along the way.
        end: up to where, m.
        treads: how many a stride goes over.
        early: how much earlier its steps come for that, m.
        share: of the strides that are left there for that.
    """

    flight: Flight
    start: float
    end: float
    treads: int
    early: float = 0.0
    share: float = 1.0


@dataclass(frozen=True)
class HighSteps:
    """Where the legs of a girdle go over high steps, one after the other.

    Attributes:
        steps: numbers of the steps of those that stand on both sides for a moment.
        events: (e,) touchdowns of the later and liftoffs of the earlier ones of them, s.
        spans: (k, 2) from midstance to midstance, s.
        rise: (k,) height of the step between them, m.
        together: (k,) bool: both are on the ground for a moment.
    """

    steps: np.ndarray
    events: np.ndarray
    spans: np.ndarray
    rise: np.ndarray
    together: np.ndarray

    def rise_at(self, time: np.ndarray) -> np.ndarray:
        """How high a step is on whose both sides feet stand about given times.

        Args:
            time: (n,) s.

        Returns:
            (n,) m, 0 where there is none.
        """
        inside = (time >= self.spans[:, :1] - 1e-6) & (time <= self.spans[:, 1:] + 1e-6)
        inside &= self.together[:, None]
        return np.max(np.where(inside, self.rise[:, None], 0.0), axis=0, initial=0.0)


class Walk:
    """The passes; each adds what it finds.

    Args:
        settings: what is asked for.
        progress: called with the fraction done; may raise `Cancelled`, which
            passes through.

    Raises:
        SettingError: a setting is out of range or contradicts another.
    """

    def __init__(self, settings: GaitSettings, progress: Progress | None) -> None:
        self.settings = settings
        self._progress, self._ticks = progress, 0
        self.times, self.wanted = check_settings(settings)
        self.speeds = self.wanted
        self.creature = settings.creature
        self.gravity = float(settings.gravity)
        self.legs = self.creature.legs
        self.n_legs = len(self.legs)
        self.names = [leg.name for leg in self.legs]
        self.heights = self.creature.heights()
        self.hip = self.creature.hip_height()
        self.girdles = self.creature.girdles()
        self.girdle_of = np.zeros(self.n_legs, dtype=int)
        for g, legs in enumerate(self.girdles):
            self.girdle_of[legs] = g
        self.path = Path(settings.path, settings.closed, settings.placement)
        self.ground: Ground = settings.ground or level_ground(float(settings.placement.origin[2]))
        self.level = settings.ground is None
        self.end = float(self.times[-1])
        # What the legs can cover on the ground: from as far ahead as behind, and what feet roll.
        low = (1.0 - 0.5 * settings.crouch) * (
            self.heights - np.array([leg.ankle[2] for leg in self.legs])
        )
        far = settings.reach * np.array([leg.reach * leg.length for leg in self.legs])
        self.reached = far
        aside = np.array([(leg.hip[0] - leg.foot[0]) for leg in self.legs])
        self.room = 2.0 * np.sqrt(np.maximum(far**2 - low**2 - aside**2, (0.1 * far) ** 2))
        self.room += np.array([max(leg.heel + leg.toe, 0.0) for leg in self.legs])
        self.problems: list[Problem] = []
        self.pace = Pace(self.times, self.wanted, 0.5 * self.hip)

    def solve(self) -> GaitMotion:
        """Go through all passes.

        Returns:
            The motion.
        """
        self._take_stairs()
        for _ in range(ALIGNS if self.approaches else 0):
            for part in (self.plan, self.go, self.turn, self.stand):
                part()
                self.tick()
            if not self._align():
                break
        for round_ in range(REPLANS + 1):
            self.problems = []
            for part in (self.plan, self.go, self.turn, self.stand, self.carry):
                part()
                self.tick()
            if round_ == REPLANS or not (self._shorten() or self._align()):
                break
        self.problems += self._tell_of_pace()
        self.swing()
        self.tick()
        return self.motion()

    def _take_stairs(self) -> None:
        """Let strides be as long as treads are, or as several of them."""
        self.climbs = False
        self.approaches: list[Approach] = []
        self.on_stairs = False
        if self.level:
            return
        way = self.pace.way()
        flights = find_flights(self.ground, self.path, float(way.phase(self.end)), self.hip)
        self.on_stairs = bool(flights)
        if not flights or not self.settings.stairs:
            return
        self.plan()
        tempo = math.sqrt(self.gravity / self.hip)
        before = 0.0
        for flight in flights:
            since, before = before, flight.end
            time = float(way.time(0.5 * (flight.start + flight.end)))
            rate = float(self._stride_rate(np.array(min(time, self.end))))
            stride = float(way.rate(time)) / max(rate, 1e-9)
            if rate <= 0.0 or stride <= 0.0:
                continue
            count = treads_in_a_stride(flight, stride, self.hip)
            share = count * flight.tread / stride
            if share >= 1.0:
                continue
            begin, finish = flight.start - 0.5 * flight.tread, flight.end + 0.5 * flight.tread
            self.climbs = True
            reach = min(begin - since, MOST_APPROACH * stride)
            if reach > LEAST_APPROACH * stride:
                self.approaches.append(Approach(flight, begin - reach, begin, count))
            self.pace.climb(begin - 0.5 * stride, finish + 0.5 * stride, CLIMBS * tempo / rate)
            self.pace.shorten(
                np.array([begin]), np.array([finish]), np.array([share]), np.array([SHORTEST])
            )
        self.speeds = self.pace.speeds()

    def _align(self) -> bool:
        """Fit strides ahead of stairs, so that feet come down on treads by themselves.

        Whether there was anything to do. Shares f of strides d on the way w make w / d (1 / f - 1)
        strides more of it, and each step after it that much earlier.
        """
        changed = False
        for k, approach in enumerate(self.approaches):
            flight, way = approach.flight, self.pace.way()
            off = self._off_treads(flight)
            if off == 0.0:
                continue
            # Earlier by that, or later by the rest of a tread.
            early = (approach.early + off + 0.5 * flight.tread) % flight.tread
            early -= 0.5 * flight.tread
            time = min(float(way.time(0.5 * (approach.start + approach.end))), self.end)
            here = float(way.rate(time)) / max(float(self._stride_rate(np.array(time))), 1e-9)
            now = float(np.interp(time, self.times, self.pace.shares()))
            usual = here * approach.share / max(now, 1e-9)
            more = early / (approach.treads * flight.tread) * usual
            share = 1.0 / max(1.0 + more / (approach.end - approach.start), 1e-3)
            share = min(max(share, LEAST_SHARE), MOST_SHARE)
            self.pace.align(approach.start, approach.end, share)
            self.approaches[k] = replace(approach, early=early, share=share)
            changed = True
        self.speeds = self.pace.speeds()
        return changed

    def _off_treads(self, flight: Flight) -> float:
        """How much earlier feet would have to come down to stand best on a flight of stairs, m."""
        place, yaw, along, sole = self.asked_places
        on = (along > flight.start) & (along < flight.end)
        if not on.any():
            return 0.0
        forward, _ = forward_left(yaw[on])
        earlier = flight.tread * np.arange(TREAD_LOOKS)[:, None, None] / TREAD_LOOKS
        shifted = place[on] - earlier * forward
        shape = shifted.shape[:2]
        good = can_stand(
            shifted.reshape(-1, 2), np.tile(yaw[on], TREAD_LOOKS), self.ground,
            self.settings.steepest, np.tile(sole[on], (TREAD_LOOKS, 1)),
        )  # fmt: skip
        return off_the_best(flight.tread, good.reshape(shape), STAND_OFF * self.hip)

    def _shorten(self) -> bool:
        """Shorten the strides where legs are too short for them; whether there is anything to.

        Girard 1986, section 3.3: support = stroke / speed and period = support / duty factor. A
        support that is cut alone would leave fewer feet on the ground than the gait has there.
        """
        if self.level:  # there it is bends that are too sharp for the speed, which are told of
            return False
        steps, planned = self.steps, self.planned
        seen = (steps.on < self.end) & (steps.off > 0.0) & ~self.stands
        seen &= np.isfinite(planned.on) & np.isfinite(planned.off)
        slower = self._take_time()
        which = np.flatnonzero(seen & (self.short | self.left_out | self.beyond))
        whole = planned.off[which] - planned.on[which]
        middle = 0.5 * (planned.on[which] + planned.off[which])
        left = np.minimum(middle - steps.on[which], steps.off[which] - middle)
        share = np.clip(2.0 * left / np.maximum(whole, 1e-9), LEAST_SHARE, 1.0)
        share[self.left_out[which] | self.beyond[which]] = LEAST_SHARE
        some = share < 1.0 - LITTLE
        if not some.any():
            return slower
        which, share = which[some], share[some]
        # A single step that is too high does not become lower by shorter strides.
        high = (self.holds.state == TOO_HIGH) & (not self.on_stairs)
        high[:-1] |= high[1:] & (steps.leg[1:] == steps.leg[:-1])
        least = np.where(high[which], SHORT_OF_STEPS, SHORTEST)
        way = self.pace.way()
        changed = self.pace.shorten(
            way.phase(planned.on[which]), way.phase(planned.off[which]), share, least
        )
        self.speeds = self.pace.speeds()
        return changed or slower

    def _take_time(self) -> bool:
        """Go more slowly over high steps, so that bodies are not thrown up and down.

        From one midstance to the next, half a stride later, the body rises by d. With minimum
        jerk it is accelerated by 10 / sqrt(3) d / t^2 at most.
        """
        spans = np.concatenate([high.spans for high in self.high_steps])
        rise = np.concatenate([high.rise for high in self.high_steps])
        seen = (spans[:, 0] < self.end) & (spans[:, 1] > 0.0)
        if not seen.any():
            return False
        spans, rise = spans[seen], rise[seen]
        middle, around = spans.mean(axis=1), 0.5 * (spans[:, 1] - spans[:, 0])
        wanted = self._stride_rate(middle) / np.interp(middle, self.times, self.pace.hurries())
        lasts = np.sqrt(10.0 / math.sqrt(3.0) * rise / (LIFTS * self.gravity))
        way = self.pace.way()
        changed = self.pace.take_time(
            way.phase(spans[:, 0] - around), way.phase(spans[:, 1] + around),
            0.5 / (lasts * np.maximum(wanted, 1e-9)),
        )
        self.speeds = self.pace.speeds()
        return changed

    def _tell_of_pace(self) -> list[Problem]:
        """Strides that are shorter than wanted, and those that come more slowly over high steps."""
        share, hurry, waits = self.pace.shares(), self.pace.hurries(), self.pace.waits()
        inside = self.wanted > CREEP * math.sqrt(self.gravity * self.hip)
        told = []
        over = np.flatnonzero((share < 1.0 - SHOWS) & inside)
        if len(over):
            k = int(over[np.argmin(share[over])])
            rate = float(self._stride_rate(self.times[k]))
            told.append(problems.strides_shortened(
                float(self.times[over[0]]), float(self.times[over[-1]]), float(self.times[k]),
                float(self.speeds[k]) / max(rate, 1e-9), float(share[k]), float(hurry[k]),
                float(self.speeds[k]), float(self.wanted[k]), self.climbs,
            ))  # fmt: skip
        over = np.flatnonzero((waits < 1.0 - SHOWS) & inside)
        rise = max(float(high.rise.max(initial=0.0)) for high in self.high_steps)
        if len(over) and rise > 0.0:
            k = int(over[np.argmin(waits[over])])
            told.append(problems.slowed_by_steps(
                float(self.times[over[0]]), float(self.times[over[-1]]), float(self.times[k]),
                rise, float(waits[k]),
            ))  # fmt: skip
        return told

    def tick(self) -> None:
        """Tell of progress; how long all will take is not known, so ever less is added."""
        if self._progress is not None:
            self._ticks += 1
            self._progress(self._ticks / (self._ticks + 10.0))

    # --- steps -------------------------------------------------------------------
    def plan(self) -> None:
        """Gaits, their clocks and all steps."""
        settings, g = self.settings, self.gravity
        items = [
            (gait_of(item.gait, self.creature), self._start_of(item)) for item in settings.sequence
        ]
        if not items:
            chosen = choose_gaits(
                self.times, self.speeds, self.hip, g, ladder_for(settings), settings.hysteresis
            )
            items = [(gait_of(choice.gait, self.creature), choice.start) for choice in chosen]
        items = items[:1] + sorted(items[1:], key=lambda item: item[1])
        bounds = [-math.inf, *(start for _gait, start in items[1:]), math.inf]
        self.plans = [
            self._plan_of(gait, start, bounds[i : i + 2]) for i, (gait, start) in enumerate(items)
        ]
        # Steps, and the body's way, before and after the motion too: two strides and a half.
        ends = float(self.plans[0].clock.rate(0.0)), float(self.plans[-1].clock.rate(self.end))
        moving = [rate for rate in ends if rate > 1e-3]
        self.margin = min(max(2.5 / min(moving, default=10.0), 0.2), MOST_MARGIN)
        for plan in self.plans:
            count = float(plan.clock.phase(self.end + self.margin) - plan.clock.phase(-self.margin))
            if count * self.n_legs > MOST_STEPS:
                raise SettingError(
                    f"Stride of gait {plan.gait.name}",
                    f"so short that it takes {count * self.n_legs:,.0f} steps",
                    f"longer: at most {MOST_STEPS:,} steps",
                )
        self.rests = self._rests()
        frame = 1.0 / settings.fps if settings.round_to_frames else 0.0
        self.steps, self.changes = plan_steps(
            self.plans, -self.margin, self.end + self.margin, frame, settings.start_phase
        )
        self.steps = square_up(
            self.steps, self.plans, Clock(self.times, self.speeds), self.room, self.rests
        )
        self.stands = np.isinf(self.steps.on) | np.isinf(self.steps.off)
        for begin, end in self.rests:
            self.stands |= (self.steps.middle >= begin) & (self.steps.middle <= end)
        names = self.names
        self.problems += problems.changes_of_gait(self.plans, self.changes, self.end)
        self.problems += problems.short_transfers(self.steps, self.plans, names, self.end)
        self.problems += problems.unusual_speeds(
            self.plans, self.changes, self.times, self.speeds, self.hip, g
        )

    def _rests(self) -> list[tuple[float, float]]:
        """Spans of time within the motion in which the body hardly moves, s."""
        still = self.speeds < CREEP * math.sqrt(self.gravity * self.hip)
        edges = np.flatnonzero(np.diff(np.concatenate(([False], still, [False])).astype(int)))
        return [
            (float(self.times[first]), float(self.times[last - 1]))
            for first, last in edges.reshape(-1, 2)
            if first > 0 and last < len(still)
        ]

    def _start_of(self, item: GaitItem) -> float:
        if item.distance is None:
            return float(item.start)
        return float(Clock(self.times, self.speeds).time(item.distance))

    def _plan_of(self, gait: Gait, start: float, used: Sequence[float]) -> GaitPlan:
        g, v = self.gravity, self.speeds
        froude = v * v / (g * self.hip)
        duty = gait.duties(froude)
        room = self.room
        most = np.min(room / duty, axis=1)
        rate = gait.rates(self.wanted, self.hip, g, np.inf)
        limited = gait.rates(self.wanted, self.hip, g, most)
        # Told only where it shows, and while the gait is used.
        over = limited > rate * (1.0 + SHOWS)
        over &= (self.times >= used[0]) & (self.times <= used[1])
        if over.any():
            first = int(np.argmax(over))
            leg = int(np.argmin(room / duty[first]))
            stride = self.wanted[first] / max(rate[first], 1e-12)
            self.problems.append(problems.stroke_limited(
                gait.name, self.names[leg], float(self.times[first]),
                float(stride * duty[first, leg]), float(room[leg]),
            ))  # fmt: skip
        tempo = math.sqrt(self.hip / g)
        least = gait.least_transfer * tempo
        slow = max(math.sqrt(max(gait.froude[0], 0.01) * g * self.hip), 1e-6)
        slow_rate = float(gait.rates(np.array(slow), self.hip, g))
        longest = max((gait.gaps().max() - min(gait.duty)) / slow_rate, least, 2.0 * tempo)
        if gait.period is not None:
            longest = max(longest, gait.period)
        limited = limited * self.pace.hurries()  # where strides are shortened
        return GaitPlan(gait, start, Clock(self.times, limited), duty, self.times, least, longest)

    # --- along the path -------------------------------------------------------------
    def go(self) -> None:
        """The body's way in the ground plan."""
        settings = self.settings
        per_frame = steps_per_frame(settings.fps)
        dt = 1.0 / (per_frame * settings.fps)
        n = per_frame * (int(settings.n_frames) - 1) + 1
        extra = int(math.ceil(self.margin / dt))
        self.per_frame, self.inside = per_frame, slice(extra, extra + n)
        time = dt * (np.arange(n + 2 * extra) - extra)
        way = Clock(self.times, self.speeds)  # strides of one metre
        pace = way.rate(time)
        strength = np.zeros(max(len(time) - 1, 0))
        for leg in range(self.n_legs):
            own = self.steps.of(leg)
            strength += share_down(self.steps.on[own], self.steps.off[own], time)
        self.horizontal: GroundPlan
        self.horizontal, along, off = horizontal_motion(
            time, self.path, float(way.phase(time[0])), pace, settings.impulse * strength,
            settings.response, 0.05 * self.hip, self.tick,
        )  # fmt: skip
        self._along = along
        seen = self.inside
        self.problems += problems.way_of_body(
            time[seen], off[seen], along[seen], way.phase(time[seen]),
            math.inf if self.path.closed else self.path.length, self.hip, settings.impulse,
        )  # fmt: skip
        # The way it heads: its velocity, and the path's direction where it hardly moves.
        creep = CREEP * math.sqrt(self.gravity * self.hip)
        self._creep = creep * self.path.at(along)[1]
        excess, asked = self._head()
        self.problems += problems.sharp_turn(
            time[seen], excess[seen], asked[seen], MOST_TURN, self._stride_rate(time[seen])
        )

    def _head(self) -> tuple[np.ndarray, np.ndarray]:
        """Where it heads over time.

        Returns:
            (n,) how much quicker its way turns than it can, rad/s, and (n,) where it would head
            to face along its way, rad.
        """
        heading = self.horizontal.velocity + self._creep
        asked = np.unwrap(np.arctan2(heading[:, 0], -heading[:, 1]))
        time = self.horizontal.time
        slow = SLOW_STRIDE * math.sqrt(self.gravity / self.hip)
        stride = np.maximum(self._stride_rate(time), slow)
        dt = float(time[1] - time[0]) if len(time) > 1 else 1.0
        self._heading, excess = spread_turns(
            asked, dt, MOST_TURN * stride, 0.5 / float(np.median(stride))
        )
        return excess, asked

    def _headings(self, time: np.ndarray) -> np.ndarray:
        return np.interp(time, self.horizontal.time, self._heading)

    # --- turning and leaning ----------------------------------------------------------
    def turn(self) -> None:
        """Yaw, bank and the moments of midstance."""
        steps = self.steps
        first, last = float(self.horizontal.time[0]), float(self.horizontal.time[-1])
        whole = support_profile(steps.on, steps.off)
        landing = steps.on[(steps.on > first) & (steps.on < last)]
        apart = 0.25 * float(np.median(np.minimum(steps.off - steps.on, LONGEST_GAP)))
        knots = [first]
        landed = set(whole.start.tolist())
        for moment in np.unique(landing).tolist():
            if moment - knots[-1] > apart or (moment in landed and moment - knots[-1] > 1e-3):
                knots.append(moment)
        knots.append(max(last, knots[-1] + 0.1))
        start = np.array(knots)
        liftoff, touchdown = whole.flights()
        aloft = share_down(liftoff, touchdown, start) * np.diff(start) if len(liftoff) else None
        flight = np.zeros(len(start) - 1) if aloft is None else aloft
        parts = np.where(flight > 0.0, 1, np.ceil(np.diff(start) / LONGEST_GAP).astype(int))
        if np.any(parts > 1):
            start = np.concatenate(
                [a + (b - a) * np.arange(k) / k for a, b, k in
                 zip(start[:-1], start[1:], parts, strict=True)] + [start[-1:]]
            )  # fmt: skip
            flight = np.repeat(flight, parts)
        wanted = self._headings(start)
        rate = np.gradient(wanted, start) if len(start) > 1 else np.zeros(1)
        self.turning: Heading = turning_motion(start, flight, wanted, rate)
        # Midstances; steps that stand at the ends belong to the poses there.
        self.middle = np.clip(np.nan_to_num(steps.middle, neginf=0.0, posinf=self.end), first, last)
        self.middle[np.isneginf(steps.on)] = 0.0
        self.bank: Curve = self._lean()

    def _lean(self) -> Line:
        """The bank through all midstances."""
        first, last = float(self.horizontal.time[0]), float(self.horizontal.time[-1])
        moments = np.unique(np.round(self.middle, 6))
        half = 0.5 / np.maximum(self._stride_rate(moments), 0.2)
        before, after = np.maximum(moments - half, first), np.minimum(moments + half, last)
        bend = self._headings(after) - self._headings(before)
        chord = np.linalg.norm(self.horizontal(after) - self.horizontal(before), axis=1)
        span = np.maximum(after - before, 1e-9)
        # Of an arc as long as the way, whose chord is this; not where it goes half around.
        small = np.abs(bend) < 2.0
        arc = chord / np.sinc(np.where(small, bend, 0.0) / (2.0 * np.pi))
        pace = np.linalg.norm(self.horizontal.velocity, axis=1)
        speed = np.where(small, arc / span, np.interp(moments, self.horizontal.time, pace))
        curvature = bend / np.maximum(speed * span, 1e-6)
        curvature[speed < 0.05 * math.sqrt(self.gravity * self.hip)] = 0.0
        asked = np.arctan(speed * speed * curvature / self.gravity)
        bank = bank_angle(speed, curvature, self.gravity, self.settings.most_bank)
        sharp = np.abs(asked) > self.settings.most_bank + 1e-9
        sharp &= (moments >= 0.0) & (moments <= self.end)
        if sharp.any():
            k = int(np.argmax(np.where(sharp, np.abs(asked), 0.0)))
            self.problems.append(problems.sharp_bend(
                float(moments[k]), float(speed[k]), float(curvature[k]), float(asked[k])
            ))  # fmt: skip
        return Line(moments, self.settings.bank * bank)

    def _stride_rate(self, time: np.ndarray) -> np.ndarray:
        """Strides a second of the gait in force."""
        rate = self.plans[0].clock.rate(time)
        for change in self.changes:
            rate = np.where(time >= change.start, self.plans[change.gait].clock.rate(time), rate)
        return rate

    # --- footholds ---------------------------------------------------------------------
    def stand(self) -> None:
        """Footholds, and the ground that each leg feels."""
        steps, settings = self.steps, self.settings
        centre = np.asarray(self.creature.centre, dtype=float)
        offset = (self.creature.feet() - centre)[steps.leg][:, :2].copy()
        offset[:, 0] *= np.array([plan.gait.width for plan in self.plans])[steps.gait]
        yaw, _ = self.turning(self.middle)
        body = self.horizontal(self.middle)
        bank, height = self.bank(self.middle), self.heights[steps.leg]
        if not self.level and self.creature.slope_follow and len(self.girdles) > 1:
            offset[:, 1] *= self._foreshortening(body, forward_left(yaw)[0])
        wanted = reference_places(body, yaw, offset, bank, height)
        forward, _ = forward_left(yaw)
        wanted += (self._stagger() - self._roll_back())[:, None] * forward
        if not self.level and self.creature.slope_follow:
            wanted += self._uphill(wanted, forward)[:, None] * forward
        base = float(settings.placement.origin[2])
        sole = np.array([(leg.heel, leg.toe) for leg in self.legs])[steps.leg]
        along = np.interp(self.middle, self.horizontal.time, self._along)
        along += np.sum((wanted - body) * forward, axis=1)
        self.asked_places = wanted, yaw, along, sole
        holds = place_footholds(
            wanted, yaw, steps.leg, self.ground, settings.most_step * self.hip,
            settings.search * self.hip, settings.steepest, base, sole,
        )  # fmt: skip
        out = np.array([math.copysign(leg.toe_out, leg.hip[0]) for leg in self.legs])
        foot_yaw = yaw + out[steps.leg]
        planned = holds.position[:, 2].copy()
        rise = np.zeros(len(planned))
        same = np.flatnonzero(steps.leg[1:] == steps.leg[:-1]) + 1
        rise[same] = planned[same] - planned[same - 1]
        self.strike[:] = strike_on_steps(self.strike, rise, self.hip)
        self.holds, self.foot_yaw, self.natural = holds, foot_yaw, planned
        up = np.array([0.0, 0.0, 1.0])
        self.foot_turn = multiply(between(up, holds.normal), about_z(foot_yaw))
        self.problems += problems.bad_footholds(steps, holds, self.names, self.end)
        self.floor: list[Curve] = [self._ground_of(leg) for leg in range(self.n_legs)]

    def _foreshortening(self, body: np.ndarray, forward: np.ndarray) -> np.ndarray:
        """(m,) cosines of the slope under the trunk, by which girdles are nearer in plan."""
        trunk = np.ptp(self.creature.hips()[:, 1])
        slope = self._slope(body, forward, SLOPES * np.full(len(body), trunk)[:, None])
        return np.cos(self.creature.slope_follow * np.arctan(slope))

    def _uphill(self, place: np.ndarray, forward: np.ndarray) -> np.ndarray:
        """How far uphill feet are set down of trunks that follow slopes, m.

        Under hips that are h over a slope a leg reaches equally far at both ends of its
        support if the foothold is h sin cos of the slope's angle ahead; animals, who have
        to keep their balance, go about half way.
        """
        high = self.heights[self.steps.leg]
        slope = self._slope(place, forward, SLOPES * high[:, None])
        slope *= np.clip((STEEPEST - np.abs(slope)) / FADES, 0.0, 1.0)
        moves = np.isfinite(self.steps.on) & np.isfinite(self.steps.off)
        share = UPHILL * self.creature.slope_follow * moves
        return share * high * slope / (1.0 + slope**2)

    def _slope(self, place: np.ndarray, forward: np.ndarray, arms: np.ndarray) -> np.ndarray:
        """(m,) tangents of the ground's slope ahead at places, between arms (m, k) ahead and
        behind; 0 where there is no ground."""
        way = arms[..., None] * forward[:, None]
        (front, _, good), (rear, _, solid) = (
            self.ground(*(place[:, None] + sign * way).reshape(-1, 2).T) for sign in (1.0, -1.0)
        )
        with np.errstate(invalid="ignore"):
            rise = (np.asarray(front) - np.asarray(rear)).reshape(arms.shape)
        known = np.asarray(good, dtype=bool) & np.asarray(solid, dtype=bool)
        known = known.reshape(arms.shape) & np.isfinite(rise)
        slope = np.where(known, rise / (2.0 * arms), 0.0)
        return np.mean(slope, axis=1)

    def _ground_of(self, leg: int) -> Floor:
        """Height of the ground under a leg over time."""
        own = self.steps.of(leg)
        own = own[np.append(np.diff(self.middle[own]) > 1e-6, True)]
        change = self.holds.position[own, 2] - self.natural[own]
        return Floor(self.middle[own], self.natural[own], change)

    def _stagger(self) -> np.ndarray:
        """How far ahead of the hips those stand who start from, or come to, a stand.

        As little as it takes for the leg to reach until it lifts off, or from
        where it touches down.
        """
        steps = self.steps
        here, room = self.horizontal(self.middle), 0.5 * self.room[steps.leg]
        ahead = np.zeros(len(steps.on))
        for event, sign in ((steps.off, 1.0), (steps.on, -1.0)):
            of = self.stands & np.isfinite(event)
            way = np.linalg.norm(self.horizontal(event[of]) - here[of], axis=1)
            ahead[of] += sign * np.clip(way - room[of], 0.0, room[of])
        return ahead

    def _roll_back(self) -> np.ndarray:
        """Pitch of feet at touchdown and liftoff, and how far footprints are moved back.

        A rolling foot bears on its heel first and on its toe last. The leg is
        to reach equally high at both ends, so that hips need not sink for one
        of them: with the ankle at a ahead of the footprint and z above the
        ground, a slope t of the leg's circle there and half a stroke s,
        moving back by (a_on + a_off) / 2 + (z_off - z_on) / (2 t) does that. In
        gaits in which the next leg is down by then they are moved by a share of it,
        since who pushes off bends the knee already: it is at touchdown that
        people's legs are straight.

        Legs that stand a little ahead of where they hang, as fore legs do under
        their shoulder blades, or behind it, take whole strides about the place
        under it: horses go as far behind their shoulders as ahead of them.
        """
        steps = self.steps
        first, last = float(self.horizontal.time[0]), float(self.horizontal.time[-1])
        on, off = np.clip(steps.on, first, last), np.clip(steps.off, first, last)
        stroke = np.linalg.norm(self.horizontal(off) - self.horizontal(on), axis=1)
        there = self.horizontal(self.middle)
        m = len(on)
        self.strike = np.zeros(m)
        self.push, self.size = np.zeros(m), np.zeros(m)
        back = np.zeros(m)
        for number, leg in enumerate(self.legs):
            own = steps.of(number)
            gaits = [self.plans[k].gait for k in steps.gait[own]]
            far = np.linalg.norm(np.diff(there[own], axis=0), axis=1)
            size = np.clip(far / (0.6 * self.hip), 0.0, 1.0)
            before, after = (np.append(size[:1], size), np.append(size, size[-1:]))
            if len(own) == 1:
                before = after = np.zeros(1)
            strike = leg.strike * before * np.array([gait.strike for gait in gaits])
            push = leg.push * after * np.array([gait.push for gait in gaits])
            self.strike[own], self.push[own], self.size[own] = strike, push, after
            high = float(leg.ankle[2])
            # Heel and toe from under the ankle, wherever on the sole footprints are marked.
            heel, toe = leg.heel - float(leg.ankle[1]), leg.toe + float(leg.ankle[1])
            s, c = np.sin(strike), np.cos(strike)
            ahead_on, high_on = -heel + heel * c - high * s, high * c + heel * s
            s, c = np.sin(push), np.cos(push)
            ahead_off, high_off = toe - toe * c + high * s, high * c + toe * s
            length = float(self.reached[number])
            half = np.minimum(0.5 * stroke[own], 0.7 * length)
            slope = np.maximum(half / np.sqrt(length**2 - half**2), 0.2)
            shift = 0.5 * (ahead_on + ahead_off) + 0.5 * (high_off - high_on) / slope
            relieved = np.array([min(gait.duty) > 0.5 for gait in gaits])
            shift *= np.where(relieved, PUSHES, 1.0)
            back[own] = np.clip(shift, -max(heel, 0.0), max(toe, 0.0))
            lead = float(leg.hip[1] - leg.foot[1] - leg.ankle[1])
            # Legs that spread stay apart.
            under = np.clip(2.0 - abs(lead) / (LEAD * self.heights[number]), 0.0, 1.0)
            back[own] += lead * under * np.minimum(before, after)
        back[self.stands] = 0.0  # who stands has feet under the hips
        return back

    # --- heights ------------------------------------------------------------------------
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
        self.may_sink: tuple[tuple[float, float], ...] = ((-math.inf, math.inf),)
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
            self.vertical: list[Rise] = [self._girdle(g) for g in range(len(self.girdles))]
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
        ), axis=1)  # fmt: skip
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

    def _flat(self) -> bool:
        return self.level

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
        swing = Swing(
            lift=self.hip * (0.4 + 0.6 * size) * clearance,
            peak=peak,
            kick=self.hip * size * kick,
            snap=snap,
            heel_up=np.maximum(np.array([leg.swing for leg in self.legs])[leg] * size, push),
            raised=np.zeros(len(own)),
            wait=np.zeros(len(own)),
            rest=np.zeros(len(own)),
            edge=np.ones(len(own)),
            added=self._added(leg, into, on, off),
        )
        self.feet = Feet(
            self.legs, leg, on, off, self.holds.position[own], self.foot_turn[own], strike, push,
            swing,
        )  # fmt: skip
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

    def _hips(self, leg: np.ndarray, position: np.ndarray, turn: np.ndarray) -> np.ndarray:
        """Hips of legs (...) of bodies at positions (..., 3), turned by (..., 4), m."""
        arm = self.creature.hips() - np.asarray(self.creature.centre, dtype=float)
        return position + rotate(turn, arm[leg])

    def _reach(self) -> tuple[bool, bool]:
        """Shorten steps and sink hips where legs are too short; whether either was done."""
        steps, settings = self.steps, self.settings
        first, last = float(self.horizontal.time[0]), float(self.horizontal.time[-1])
        own = self.own[self.watched[self.own]]
        leg, girdle = steps.leg[own], self.girdle_of[steps.leg[own]]
        on, off = np.clip(steps.on[own], first, last), np.clip(steps.off[own], first, last)
        fine = self.climbs or any(len(high.steps) for high in self.high_steps)
        samples = FINE_SAMPLES if fine else SAMPLES
        moments = on[:, None] + (off - on)[:, None] * samples
        position, turn, _ = self.body(moments.ravel())
        hip = self._hips(np.repeat(leg, len(samples)), position, turn)
        self.tick()
        arm = hip.reshape(*moments.shape, 3) - self._ankles_down(moments)
        flies = np.array([min(plan.gait.duty) < 0.5 for plan in self.plans])[steps.gait[own]]
        usual = settings.reach * np.minimum([leg.reach for leg in self.legs], FLYING) * self.lengths
        straight = np.where(flies, usual[leg], self.reached[leg])
        most = straight[:, None] * self._in_line(leg, arm, turn.reshape(*moments.shape, 4))
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
                at[k] = int(np.argmin(np.abs(knots - worst_at)))
            there[of], sunk[of] = knots[at[of]], self.sunk[g][at[of]]
            if len(self.high_steps[g].steps):
                may[of] += self.high_steps[g].rise_at(there[of])
                bent[of] = (np.array([leg.bent for leg in self.legs]) * self.lengths)[leg[of]]
                room[of] = self._room_to_sink(knots, moments[of], arm[of], bent[of])[at[of]]
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
                                 where=self.asked[g] > 0.0)  # fmt: skip
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

    def _room_to_sink(
        self, knots: np.ndarray, moments: np.ndarray, arm: np.ndarray, bent: np.ndarray
    ) -> np.ndarray:
        """How much deeper hips may be at knots until a planted leg folds no further, m.

        At moments (m, k) of supports they are at arms (m, k, 3) from ankles, and legs are at
        least `bent` (m,) long.
        """
        high, _ = _too_high(arm, bent[:, None])
        edges, room = 0.5 * (knots[1:] + knots[:-1]), np.full(len(knots), math.inf)
        np.minimum.at(room, np.searchsorted(edges, moments), np.maximum(high, 0.0))
        return room

    def _in_line(
        self, leg: np.ndarray, arm: np.ndarray, turn: np.ndarray
    ) -> np.ndarray | float:
        """Shares of their lengths that legs (m,) have in the directions from ankles to hips `arm`.

        Where the ground is level no leg is swung so far that it matters.
        """
        if self.level or not any(one.blade for one in self.legs):
            return 1.0
        share = np.ones(arm.shape[:-1])
        for number, one in enumerate(self.legs):
            of = np.flatnonzero(leg == number)
            if one.blade and len(of):
                there = rotate(conjugate(turn[of]), -arm[of])
                share[of] = one.longest(there) / self.lengths[number]
        return share

    def _need_in_stands(self, need: list[np.ndarray]) -> None:
        """Raise how much deeper hips have to be at knots by what long supports need, m.

        Stands last for many knots, and the body starts and stops within them.
        """
        steps, settings, stand = self.steps, self.settings, self._stand()
        on, off = np.maximum(steps.on, -stand), np.minimum(steps.off, self.end + stand)
        long = (off - on > SLOW * stand) & self.watched & ~self.left_out & ~self.beyond
        if not long.any():
            return
        parts = [
            np.linspace(on[k], off[k], int(np.ceil((off[k] - on[k]) / (LOOKS * stand))) + 1)
            for k in np.flatnonzero(long)
        ]
        moments = np.concatenate(parts)
        leg = np.repeat(steps.leg[long], [len(part) for part in parts])
        position, turn, _ = self.body(moments)
        pose = self.feet(moments, np.bincount(leg, minlength=self.n_legs))
        arm = self._hips(leg, position, turn) - self.feet.ankles(pose)
        excess, _ = _too_high(arm, self.reached[leg] * self._in_line(leg, arm, turn))
        little = EXACT * (self.lengths - self.reached)
        for g, knots in enumerate(self.knots):
            of = np.flatnonzero(self.girdle_of[leg] == g)
            at = np.argmin(np.abs(knots - moments[of, None]), axis=1)
            allowed = settings.crouch * self.heights[leg[of]] * self._sinks(knots[at])
            sink = np.minimum(excess[of], allowed - self.sunk[g][at])
            np.maximum.at(need[g], at, np.where(sink > little[leg[of]], 1.02 * sink, 0.0))

    def _ankles_down(self, moments: np.ndarray) -> np.ndarray:
        """(m, k, 3) where legs end at moments of their watched steps, feet on the ground."""
        if self.ankles_down is None:
            feet, watched = self.feet, np.flatnonzero(self.watched[self.own])
            # At touchdown and liftoff exactly, the foot is on the ground.
            lands, leaves = feet.on[watched, None], feet.off[watched, None]
            pose = self._poses(watched, np.clip(moments, lands, leaves))
            self.ankles_down = feet.ankles(pose).reshape(*moments.shape, 3)
        return self.ankles_down

    def _poses(self, which: np.ndarray, time: np.ndarray) -> FootPose:
        """Poses of feet at times (k, n) in, or after, given steps (k,) of theirs."""
        count = np.bincount(self.feet.foot[which], minlength=self.n_legs)
        return self.feet(time.ravel(), count * time.shape[1])

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
        spans = self.may_sink
        return np.any([(time >= begin) & (time <= finish) for begin, finish in spans], axis=0)

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
        apart = np.abs(events[:, None] - knots).min(axis=1, initial=np.inf)
        return np.sort(np.concatenate((knots, events[apart > SHORTEST_SPAN])))

    def _high_steps(self, g: int) -> HighSteps:
        """Supports of a girdle that follow each other, one much higher than the other.

        Gaits that leave the ground in between jump; only what is told as too high is for them.
        """
        steps = self.planned
        of = np.flatnonzero(np.isin(steps.leg, self.girdles[g]))
        of = of[np.argsort(steps.on[of], kind="stable")]
        one, two = of[:-1], of[1:]
        place, up = self.holds.position, self.holds.normal
        rise = step_height(place[one], up[one], place[two], up[two])
        together = steps.on[two] < steps.off[one]
        high = np.where(together, HIGH, max(HIGH, self.settings.most_step)) * self.hip
        pairs = (rise > high) & np.isfinite(steps.on[two]) & np.isfinite(steps.off[one])
        pairs &= not self.level
        one, two, rise, together = one[pairs], two[pairs], rise[pairs], together[pairs]
        first, then = one[together], two[together]
        return HighSteps(
            np.concatenate((first, then)),
            np.unique(np.concatenate((steps.on[then], steps.off[first]))),
            np.stack((self.middle[one], self.middle[two]), axis=1), rise, together,
        )  # fmt: skip

    def _stand(self) -> float:
        """How long a support lasts at least that is a stand, s."""
        return STANDS * math.sqrt(self.hip / self.gravity)

    # --- feet -----------------------------------------------------------------------------
    def swing(self) -> None:
        """Lift swings over the ground, and let those that stand close to stairs wait."""
        feet, swing = self.feet, self.feet.swing
        real = feet.swings
        off, on = feet.off[real], feet.on[real + 1]
        real = real[np.isfinite(off) & np.isfinite(on) & self._swings(off, on)]
        if not len(real):
            return
        if not self.level:
            swing.edge[real] = self._edge(real)
        lift, cost = self._lift(real), HURRY * self.hip
        self.tick()
        tall = np.flatnonzero(lift > cost * WAITS[1][1])
        of = real[tall]
        if len(tall) and not self.level:
            best = np.full(len(tall), math.inf)
            chosen = np.zeros((len(tall), 3))
            for wait, rest in WAITS:
                swing.wait[of], swing.rest[of] = wait, rest
                need = lift[tall] if wait == rest == 0.0 else self._lift(of)
                better = need + cost * (wait + rest) < best - 1e-9
                best[better] = (need + cost * (wait + rest))[better]
                chosen[better, 0] = need[better]
                chosen[better, 1:] = wait, rest
                self.tick()
            lift[tall], swing.wait[of], swing.rest[of] = chosen.T
            lift[tall] = np.minimum(lift[tall], self._folds(of))
        swing.raised[real] += lift
        if len(tall):
            self._tell_of_low_feet(of)

    def _edge(self, which: np.ndarray) -> np.ndarray:
        """(k,) whether swings go over edges, 1, or along slopes, 0, and what is in between.

        The ground of a slope is on the straight line from foothold to foothold; that of a stair
        is over it by half its rise, and a quarter of that of two.
        """
        start, goal = self.feet.position[which], self.feet.position[which + 1]
        shares = np.linspace(0.0, 1.0, 19)[1:-1]
        line = start[:, None] + shares[:, None] * (goal - start)[:, None]
        z, _, hit = self.ground(line[..., 0].ravel(), line[..., 1].ravel())
        over = np.where(hit & np.isfinite(z), z, -np.inf).reshape(line.shape[:2]) - line[..., 2]
        rise = np.maximum(np.abs(goal - start)[:, 2], 1e-9 * self.hip)
        low, high = EDGES
        return minimum_jerk((over.max(axis=1) / rise - low) / (high - low))

    def _transfers(self, which: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """(k, n) times at which shares (n,) of given swings have gone, s."""
        off, on = self.feet.off[which, None], self.feet.on[which + 1, None]
        return off + shares * (on - off)

    def _folds(self, which: np.ndarray) -> np.ndarray:
        """(k,) how much higher given swings can go until their legs are folded, m.

        Below 0 where they would have to go lower.
        """
        shares = np.linspace(0.06, 0.94, 17)
        shares = shares[plateau(shares) > 0.5]
        time = self._transfers(which, shares)
        leg = np.repeat(self.feet.foot[which], len(shares))
        position, turn, _ = self.body(time.ravel())
        arm = self._hips(leg, position, turn) - self.feet.ankles(self._poses(which, time))
        folded = np.array([leg.folded for leg in self.legs]) * self.lengths
        aside = np.sum(arm[:, :2] ** 2, axis=1)
        room = arm[:, 2] - np.sqrt(np.maximum(folded[leg] ** 2 - aside, 0.0))
        return (room.reshape(time.shape) / plateau(shares)).min(axis=1)

    def _tell_of_low_feet(self, which: np.ndarray) -> None:
        """Tell of swings that do not clear the ground, because their legs fold no further."""
        low, foot = self._lift(which), self.feet.foot[which]
        for leg in np.unique(foot):
            of = np.flatnonzero(foot == leg)
            k = of[int(np.argmax(low[of]))]
            if low[k] > LOW * self.hip:
                step = self.own[which[k] + 1]
                self.problems.append(problems.foot_low(
                    self.names[leg], int(self.steps.index[step]), float(self.feet.off[which[k]]),
                    float(self.steps.on[step]), float(low[k]),
                ))  # fmt: skip

    def _lift(self, which: np.ndarray) -> np.ndarray:
        """(k,) how much higher given swings have to go to clear the ground, m."""
        feet = self.feet
        shares = np.linspace(0.06, 0.94, 9 if self.level else 17)
        rise = np.maximum(plateau(shares), NEAR)  # what is too near to its ends no lift clears
        keep = self.settings.clearance * self.hip * np.minimum(1.0, 4.0 * shares * (1.0 - shares))
        base = float(self.settings.placement.origin[2])
        pose = self._poses(which, self._transfers(which, shares))
        need = np.zeros((len(which), len(shares)))
        tip = pose.position
        # Who is on toes bends them where they meet the ground.
        on_toes = np.array([leg.toe < 0.0 for leg in self.legs])[feet.foot[pose.step]]
        if on_toes.any():
            bent = feet.toe_tip(pose, np.tile(shares, len(which)))
            tip = np.where(on_toes[:, None], bent, tip)
        for end in (*feet.sole(pose), tip):
            floor = np.full(len(end), base)
            if not self.level:
                z, _, hit = self.ground(end[:, 0], end[:, 1])
                floor = np.where(hit & np.isfinite(z), z, -np.inf)
            need = np.maximum(need, (floor - end[:, 2]).reshape(need.shape) + keep)
        return np.maximum((need / rise).max(axis=1), 0.0)

    def _swings(self, off: np.ndarray, on: np.ndarray) -> np.ndarray:
        """Which swings are seen."""
        return (on > -0.5) & (off < self.end)

    # --- the motion -------------------------------------------------------------------------
    def motion(self) -> GaitMotion:
        """Sample everything.

        Returns:
            The motion.
        """
        every_sample = self.horizontal.time[self.inside]
        time = (every_sample - every_sample[0])[self._sampled()]
        # The body at the samples, a little before and after them, and at all events.
        feet, n, count = self.feet, len(time), self.n_legs
        events = np.stack((feet.on, feet.off), axis=1).ravel()
        real = np.isfinite(events)
        pieces = [time, time - TINY, time + TINY, events[real]]
        bounds = np.cumsum([len(piece) for piece in pieces])
        every = self.body(np.concatenate(pieces))
        places, orientations = (np.split(x, bounds[:-1]) for x in every[:2])
        parts = {name: x[: bounds[0]] for name, x in every[2].items()}
        position, turn = places[0], orientations[0]
        self.tick()
        pose = feet(np.tile(time, count), np.full(count, n))
        self.tick()
        leg = np.repeat(np.arange(count), n)
        hip = self._hips(leg, np.tile(position, (count, 1)), np.tile(turn, (count, 1)))
        place, down = pose.position, pose.contact
        before, ankle = place.copy(), feet.ankles(pose)
        self.free = self._free(events, places[3], orientations[3])
        swung = np.flatnonzero(~down)
        if len(swung):
            length = self.lengths[leg[swung]]
            free = self._stretch(self.free, pose.step[swung], time[swung % n])
            most = np.maximum(length, free + 1e-3 * length)
            place[swung] = within_reach(place[swung], ankle[swung], hip[swung], free, most)
        ankle += place - before
        far = np.linalg.norm(ankle - hip, axis=1)
        length = self.lengths[leg]
        most = length * self._in_line(leg, hip - ankle, np.tile(turn, (count, 1)))
        over = far - np.where(down, most, 1.002 * length)
        k = int(np.argmax(over))
        success = bool(over[k] <= 1e-9)
        if not success:
            step = self.own[pose.step[k]]
            self.problems.append(problems.out_of_reach(
                self.names[leg[k]], int(self.steps.index[step]), float(time[k % n]), float(over[k])
            ))  # fmt: skip
        hip, place, facing, pitch, contact = (
            np.ascontiguousarray(x.reshape(count, n, *x.shape[1:]).swapaxes(0, 1))
            for x in (hip, place, pose.orientation, pose.pitch, down)
        )
        velocity = (places[2] - places[1]) / (2.0 * TINY)
        velocity[:, :2] = self.horizontal.velocity[self.inside][self._sampled()]
        if self.creature.sway:
            forward, left = forward_left(parts["yaw"])
            sway, rate = self.sway(time), self.turning(time)[1]
            velocity[:, :2] += self.sway.rate(time)[:, None] * left
            velocity[:, :2] -= (sway * rate)[:, None] * forward
        end_state = BodyState(
            position=np.append(position[-1, :2], np.mean([f(time[-1:])[0] for f in self.floor])),
            yaw=float(parts["yaw"][-1]),
            speed=float(np.linalg.norm(velocity[-1, :2])),
            lean=float(parts["bank"][-1]),
            phase=2.0 * math.pi * self._phase_at_end(),
            contacts=tuple(leg.name for i, leg in enumerate(self.legs) if contact[-1, i]),
        )
        return GaitMotion(
            time=time, steps_per_frame=self.per_frame, position=position,
            orientation=continuous(turn), yaw=parts["yaw"], pitch=parts["pitch"],
            roll=parts["roll"], bank=parts["bank"], velocity=velocity,
            girdle_height=parts["heights"], girdle_speed=parts["speeds"], hip=hip,
            foot_position=place, foot_orientation=continuous(facing), foot_pitch=pitch,
            contact=contact,
            footprints=self._footprints(),
            supports=tuple(vertical.profile for vertical in self.vertical),
            gaits=self._spans(), changes=self.changes,
            problems=in_order(self.problems),
            success=success,
            end_state=end_state,
            creature=self.creature,
        )  # fmt: skip

    def _sampled(self) -> np.ndarray | slice:
        """Which of the motion's samples are wanted."""
        return slice(None)

    def _free(self, events: np.ndarray, places: np.ndarray, turns: np.ndarray) -> np.ndarray:
        """Lengths up to which legs that swing after each step stretch freely.

        What they are at liftoff or touchdown, where they are not drawn in: the touchdowns and
        liftoffs are `events` (2 m,), the body at those that are finite at `places` and turned
        by `turns`.
        """
        feet = self.feet
        real, leg = np.isfinite(events), np.repeat(feet.foot, 2)
        moments, of = events[real], leg[real]
        pose = feet(moments, np.bincount(of, minlength=self.n_legs))
        far = np.linalg.norm(feet.ankles(pose) - self._hips(of, places, turns), axis=1)
        unseen = (moments < 0.0) | (moments > self.end)
        far = np.where(unseen, np.minimum(far, 0.999 * self.lengths[of]), far)
        ends = STRETCH * self.lengths[leg]
        ends[real] = np.maximum(ends[real], far)
        on, off = ends[::2], ends[1::2]
        following = np.arange(len(on))
        following[feet.swings] += 1
        return np.maximum(off, on[following])

    def _stretch(self, ends: np.ndarray, step: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Lengths up to which legs stretch freely at times of the swings after given steps."""
        return ends[step]

    def _footprints(self) -> tuple[Footprint, ...]:
        steps = self.steps
        inside = (steps.on <= self.end) & (steps.index >= 0) & ~self.left_out
        seen = np.flatnonzero(inside)
        return tuple(
            Footprint(
                self.legs[steps.leg[k]].name, int(steps.index[k]), self.holds.position[k].copy(),
                self.foot_turn[k].copy(), float(self.foot_yaw[k]), float(steps.on[k]),
                float(steps.off[k]), self.plans[steps.gait[k]].gait.name,
            )
            for k in seen
        )  # fmt: skip

    def _phase_at_end(self) -> float:
        """Share of the cycle of the gait in force that has gone at the end."""
        if self.changes:
            last = self.changes[-1]
            plan, gone = self.plans[last.gait], -last.shift.offset
        else:
            plan = self.plans[0]
            gone = self.settings.start_phase * plan.gait.cycle
        gone += float(plan.clock.phase(self.end))
        return float(np.mod(gone / plan.gait.cycle, 1.0))

    def _spans(self) -> tuple[tuple[str, float, float], ...]:
        return tuple(
            (self.plans[k].gait.name, a, b) for k, a, b in spans_of(self.changes, self.end)
        )


def in_order(told: Sequence[Problem]) -> tuple[Problem, ...]:
    """Problems by their times.

    Args:
        told: the problems.

    Returns:
        Those of the whole motion first, each told once.
    """
    once = {(problem.code, problem.message): problem for problem in told}
    return tuple(sorted(once.values(), key=lambda problem: problem.time or 0.0))


def _too_high(arm: np.ndarray, reach: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """How far hips at `arm` (..., 3) from ankles are too high for legs, and how far aside, m."""
    aside = np.linalg.norm(arm[..., :2], axis=-1)
    return arm[..., 2] - np.sqrt(np.maximum(reach**2 - aside**2, 0.0)), aside


def _line(middle: np.ndarray, value: np.ndarray, support: np.ndarray) -> Line:
    """A line through values at midstances; legs that stand together count as one."""
    order, group = group_midstances(middle, support)
    time, value = (np.bincount(group, weights=x[order]) for x in (middle, value))
    return Line(time / np.bincount(group), value / np.bincount(group))


def _longest_run(good: np.ndarray) -> tuple[int, int] | tuple[None, None]:
    """First and last of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], good, [False]))))
    if not len(edges):
        return None, None
    begin, finish = edges[::2], edges[1::2] - 1
    k = int(np.argmax(finish - begin))
    return int(begin[k]), int(finish[k])
