# SPDX-License-Identifier: GPL-3.0-or-later
"""Adapt a motion to edited footprints: solve again around the edits, and only there.

The motion without edits is solved first. Around each edited step there is a
window, from the touchdown of the leg's step before it to the liftoff of the
one after: a stride to each side. Outside of the windows the motion is what it
was, bit by bit. Inside them

- feet go through the edited footprints; footprints that were not edited stay
  where they are;
- the body goes where the footprints ask for: each of them asks for the place
  and the yaw from which it would be seen, at its midstance, as it was before;
  one that stands for long asks for that all along.
  What is added to the body's way is the curve of least acceleration towards
  all of that (`least_push`), which neither pushes nor turns in the air and is
  0, with its rate, at the ends of the window. A run of footprints that is
  moved as a whole takes the body along; a single one that is moved draws it
  aside a little;
- heights are solved again from the edited footholds and times. They are
  joined to the pinned heights and speeds at the window's ends by a curve of
  least acceleration too, so that flights stay ballistic;
- hips sink, and edited steps are shortened, where legs do not reach.

So value and velocity of everything are continuous at the ends of a window. If
the last footprint of a leg in the motion is edited, the steps after the end go
with it, and likewise before the start; the window is then open at that end.

Where wishes conflict: contacts, then locks, the length of the legs, flights,
and last the limit of the acceleration, which is told of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..motion import Problem
from ..rotations import about_z, between, multiply, rotate
from ..times import covering
from . import problems
from .body import Rise, minimum_jerk
from .edits import FootprintEdit, Pin
from .foot import FootPose, strike_on_steps
from .footholds import GOOD, Footholds, Ground
from .least_push import Wishes, least_push, moments
from .motion import Footprint, GaitMotion
from .reaching import LEAST_SUPPORT
from .sampling import in_order
from .settings import GaitSettings
from .steps import Steps
from .support import SHORTEST, support_profile
from .walk import Walk
from .windows import Heights, Joined, Plan, Stretch, Way, Window, Yaw, align_signs, within

SAME = 1e-9  # m, rad or s: edits that change less change nothing
ATTACHED = 1e-4  # m, rad or s: footprints that differ by less are those that were edited
EAGER = 0.6  # tau of the body's way: time to follow a footprint in, over sqrt(hip height / g)
LEVER = 0.5  # hip heights: how far from its middle what turns a body is
# Who stands for longer, sqrt(hip height / g), asks so often; a foot of a brisk walk is down for 2.
STANDS, OFTEN = 6.0, 3.0
SETTLE = 3.0  # sqrt(hip height / g): how long what is outside of a window has an effect inside
SHORTEST_SUPPORT = 1e-3  # s
ROUNDS = 8  # of the body's way, where footprints are out of reach
KEPT = 0.98  # of their length: swinging legs whose feet are kept are drawn in from there on
BRIEF = 5e-3  # s; pushes that are shorter are not told of
SOLVED_ANEW = {
    "TRANSFER_SHORT", "NO_GROUND", "STEP_HIGH", "FOOTHOLD_MOVED", "STEP_LEFT_OUT",
    "STEP_SHORTENED", "HIPS_LOWERED", "JUMP_HIGH", "OUT_OF_REACH", "PUSHED_ALOFT",
}


class Adapt(Walk):
    """The passes once more, around edited footprints.

    Args:
        base: the passes without edits, done.
        before: the motion that they led to.
        settings: the same settings with edits, locks and pins.
    """

    def __init__(self, base: Walk, before: GaitMotion, settings: GaitSettings) -> None:
        self.__dict__.update(base.__dict__)
        self.settings = settings
        self.base, self.before = base, before
        self.locks = settings.locks
        self.problems = [p for p in base.problems if p.code not in SOLVED_ANEW]

    def solve(self) -> GaitMotion:
        """Go through the passes.

        Returns:
            The motion.
        """
        self.attach()
        if not self.moved.any() and not self.timed.any():
            told = tuple(self.before.problems) + tuple(
                p for p in self.problems if p not in self.before.problems
            )
            return replace(
                self.before, problems=in_order(told), before=self.before
            )
        for part in (self.follow, self.stand, self.carry, self.swing):
            part()
            self.tick()
        return self.motion()

    # --- which steps ------------------------------------------------------------------
    def attach(self) -> None:
        """Find the edited steps, where they are now and when."""
        steps, base = self.steps, self.base
        m = len(steps.leg)
        self.moved = np.zeros(m, dtype=bool)
        wanted: dict[int, dict[str, float]] = {}
        place, yaw = base.holds.position.copy(), base.foot_yaw.copy()
        normal = base.holds.normal.copy()
        kept, carried = 0, 0
        for edit in self.settings.edits:
            step = self._step_of(edit)
            if step is None:
                self.problems.append(problems.edit_lost(edit))
                continue
            edit, follows = self._attached(edit, step)
            carried += follows
            if edit.position is not None or edit.yaw is not None or edit.normal is not None:
                self._place(edit, step, place, yaw, normal)
            if edit.on is None and edit.off is None:
                continue
            on, off = float(steps.on[step]), float(steps.off[step])
            # What was not changed stays as it was planned, not as legs were too short for.
            changed = {
                name: float(now)
                for name, now, then in (("on", edit.on, on), ("off", edit.off, off))
                if now is not None and not _same(now, then)
            }
            if not changed:
                continue
            if self.locks.timing:
                kept += 1
                continue
            wanted[step] = wanted.get(step, {}) | changed
        if kept:
            self.problems.append(problems.times_kept(kept))
        if carried:
            self.problems.append(problems.edits_reattached(carried))
        self._take_times(wanted, place, yaw, normal)
        self._unwind(yaw)
        self.place, self.new_yaw, self.new_normal = place, yaw, normal
        self._find_windows()

    def _step_of(self, edit: FootprintEdit) -> int | None:
        if edit.leg not in self.names:
            return None
        of = self.steps.leg == self.names.index(edit.leg)
        found = np.flatnonzero(of & (self.steps.index == edit.index))
        # A step that begins after the end is none that an animator can see.
        if not len(found) or self.base.planned.on[found[0]] > self.end:
            return None
        return int(found[0])

    def _attached(self, edit: FootprintEdit, step: int) -> tuple[FootprintEdit, bool]:
        """The edit, moved as its footprint is since it was made; and whether it is."""
        was = edit.was
        if was is None:
            return edit, False
        here, yaw = self.base.holds.position[step], float(self.base.foot_yaw[step])
        on, off = float(self.steps.on[step]), float(self.steps.off[step])
        turn = _wrap(yaw - was.yaw)
        late = [
            now - then if math.isfinite(now) and math.isfinite(then) else 0.0
            for now, then in ((on, was.on), (off, was.off))
        ]
        far = float(np.abs(here - was.position).max())
        if max(far, abs(turn), abs(late[0]), abs(late[1])) < ATTACHED:
            return edit, False
        place, normal = edit.position, edit.normal
        turning = about_z(np.array(turn))
        if place is not None:
            place = here + rotate(turning, np.asarray(place, dtype=float) - was.position)
        if normal is not None:
            normal = rotate(turning, np.asarray(normal, dtype=float))
        return replace(
            edit, position=place, normal=normal,
            yaw=None if edit.yaw is None else edit.yaw + turn,
            on=None if edit.on is None else edit.on + late[0],
            off=None if edit.off is None else edit.off + late[1],
        ), True

    def _place(
        self,
        edit: FootprintEdit,
        step: int,
        place: np.ndarray,
        yaw: np.ndarray,
        normal: np.ndarray,
    ) -> None:
        here = place[step].copy() if edit.position is None else np.array(edit.position, float)
        new_yaw = float(yaw[step]) if edit.yaw is None else _near(float(edit.yaw), yaw[step])
        up = normal[step]
        if edit.normal is not None:
            up = np.asarray(edit.normal, dtype=float)
            up = up / np.linalg.norm(up)
        elif edit.position is not None and np.abs(here - place[step]).max() > SAME:
            there = _normal(self.ground, here)
            up = up if there is None else there
        turn = abs(new_yaw - yaw[step])
        changes = (np.abs(here - place[step]).max(), turn, np.abs(up - normal[step]).max())
        if max(changes) <= SAME:
            return
        self.moved[step] = True
        place[step], yaw[step], normal[step] = here, new_yaw, up

    def _beyond_ends(self, place: np.ndarray, yaw: np.ndarray, normal: np.ndarray) -> None:
        """Steps before the start and after the end go with the outermost ones of their legs."""
        base = self.base
        for leg in range(self.n_legs):
            own = self.steps.of(leg)
            seen = (base.planned.on[own] <= self.end) & (self.steps.index[own] >= 0)
            if not seen.any():
                continue
            inner = np.flatnonzero(seen)
            for source, others in ((inner[0], own[: inner[0]]), (inner[-1], own[inner[-1] + 1 :])):
                step = int(own[source])
                later = source == inner[-1]
                if self.moved[step]:
                    turn = yaw[step] - base.foot_yaw[step]
                    arm = base.holds.position[others] - base.holds.position[step]
                    turning = about_z(np.full(len(others), turn))
                    place[others] = place[step] + rotate(turning, arm)
                    yaw[others] = base.foot_yaw[others] + turn
                    normal[others] = rotate(turning, base.holds.normal[others])
                    self.moved[others] = True
                if self.timed[step]:
                    new, old = (
                        (self.off, base.planned.off) if later else (self.on, base.planned.on)
                    )
                    if not (math.isfinite(new[step]) and math.isfinite(old[step])):
                        continue
                    late = new[step] - old[step]
                    if abs(late) > SAME:
                        self.on[others] += late
                        self.off[others] += late
                        self.timed[others] = True

    def _take_times(
        self,
        wanted: dict[int, dict[str, float]],
        place: np.ndarray,
        yaw: np.ndarray,
        normal: np.ndarray,
    ) -> None:
        """Take all edited times for which steps before and after them can make room.

        Others are left out one by one, those that are at fault first, until each leg is on
        the ground, and swings, for some time, one step after the other.
        """
        planned = self.base.planned
        taken = {step: dict(times) for step, times in wanted.items()}
        while True:
            self.on, self.off = planned.on.copy(), planned.off.copy()
            self.timed = np.zeros(len(planned.on), dtype=bool)
            for step, times in taken.items():
                self.timed[step] = bool(times)
                self.on[step] = times.get("on", self.on[step])
                self.off[step] = times.get("off", self.off[step])
            self._beyond_ends(place, yaw, normal)
            asked = self.on.copy(), self.off.copy()
            self._order()
            fault = self._fault(taken)
            if fault is None:
                break
            for step, name in fault:
                del taken[step][name]
        for step, times in wanted.items():
            on = times.get("on", float(planned.on[step]))
            off = times.get("off", float(planned.off[step]))
            given = float(self.on[step]), float(self.off[step])
            left_out = times.keys() - taken[step].keys()
            cut = not all(_same(now, ask[step]) for now, ask in zip(given, asked, strict=True))
            if left_out or cut:
                self.problems.append(problems.edit_time(
                    self.names[planned.leg[step]], int(planned.index[step]), (on, off), given,
                    left_out if len(left_out) < len(times) or len(times) == 1 else (),
                ))

    def _order(self) -> None:
        """Let steps before and after edited times yield, and cut what goes too far."""
        planned = self.base.planned
        for leg in range(self.n_legs):
            own = self.steps.of(leg)
            if not self.timed[own].any():
                continue
            for k, step in enumerate(own):
                if not self.timed[step]:
                    continue
                if k > 0:
                    self._make_room(int(own[k - 1]), int(step), planned, first_edited=True)
                if k + 1 < len(own) and not self.timed[own[k + 1]]:
                    self._make_room(int(step), int(own[k + 1]), planned, first_edited=False)

    def _fault(self, taken: dict[int, dict[str, float]]) -> list[tuple[int, str]] | None:
        """The edited times, as step and "on" or "off", that are at fault where a step has no
        time on the ground, or none is left between it and the next of its leg; or None."""
        planned, on, off = self.base.planned, self.on, self.off
        as_planned = (on == planned.on) & (off == planned.off)
        for leg in range(self.n_legs):
            own = self.steps.of(leg)
            edited = [int(step) for step in own if taken.get(int(step))]
            if not edited:
                continue
            for k, step in enumerate(own.tolist()):
                if np.all(as_planned[own[k : k + 2]]):
                    continue
                cut = not _same(on[step], taken.get(step, {}).get("on", planned.on[step]))
                cut |= not _same(off[step], taken.get(step, {}).get("off", planned.off[step]))
                first = float(self.base.horizontal.time[0])
                whole = float(planned.off[step] - max(planned.on[step], first))
                least = LEAST_SUPPORT * min(whole, 1.0) if cut else SHORTEST_SUPPORT
                near: list[tuple[int, str]] = []
                if not as_planned[step] and off[step] - max(on[step], first) < least - SAME:
                    near = [(step, "on"), (step, "off")]
                elif k + 1 < len(own):
                    after = int(own[k + 1])
                    gap = min(self.plans[planned.gait[after]].least,
                              float(planned.on[after] - planned.off[step]))
                    if on[after] - off[step] < gap - 2.0 * SAME:
                        near = [(after, "on"), (step, "off"), (after, "off"), (step, "on")]
                if not near:
                    continue
                found = [(at, name) for at, name in near if name in taken.get(at, {})]
                if near[0][0] == step:
                    return found or self._nearest(edited, step, taken)
                return found[:1] or self._nearest(edited, step, taken)
        return None

    @staticmethod
    def _nearest(
        edited: list[int], step: int, taken: dict[int, dict[str, float]]
    ) -> list[tuple[int, str]]:
        """All edited times of the edited step that is nearest to one."""
        at = min(edited, key=lambda other: abs(other - step))
        return [(at, name) for name in taken[at]]

    def _make_room(self, a: int, b: int, planned: Steps, first_edited: bool) -> None:
        """Leave time to swing between two steps of a leg that follow each other."""
        on, off = self.on, self.off
        least = self.plans[planned.gait[b]].least
        gap = min(least, float(planned.on[b] - planned.off[a]))
        if on[b] - off[a] >= gap - SAME:
            return
        start = max(float(on[a]), float(self.base.horizontal.time[0]))
        finish = min(float(off[b]), float(self.base.horizontal.time[-1]))
        if not self.timed[a]:  # it lifts off earlier
            least_off = start + LEAST_SUPPORT * min(float(planned.off[a]) - start, 1.0)
            off[a] = max(min(float(off[a]), float(on[b]) - gap), least_off)
            on[b] = max(float(on[b]), float(off[a]) + gap)
        elif not self.timed[b] and not first_edited:  # it touches down later
            most_on = finish - LEAST_SUPPORT * min(finish - float(planned.on[b]), 1.0)
            on[b] = min(max(float(on[b]), float(off[a]) + gap), most_on)
            off[a] = min(float(off[a]), float(on[b]) - gap)
        else:
            on[b] = max(float(on[b]), float(off[a]) + gap)

    def _unwind(self, yaw: np.ndarray) -> None:
        """Turns of footprints that follow each other: no jump by full turns."""
        turned = np.flatnonzero(self.moved)
        if not len(turned):
            return
        turned = turned[np.argsort(self.base.middle[turned], kind="stable")]
        turn = yaw[turned] - self.base.foot_yaw[turned]
        rounds = np.round((np.unwrap(turn) - turn) / (2.0 * math.pi))
        inner = int(np.argmin(np.abs(turn + 2.0 * math.pi * rounds)))
        rounds -= round(float(turn[inner] / (2.0 * math.pi) + rounds[inner]))
        yaw[turned] += 2.0 * math.pi * rounds

    def _find_windows(self) -> None:
        planned, steps = self.base.planned, self.base.steps
        first, last = float(self.horizontal.time[0]), float(self.horizontal.time[-1])
        changed = self.moved | (np.abs(_finite(self.on) - _finite(planned.on)) > SAME)
        changed |= np.abs(_finite(self.off) - _finite(planned.off)) > SAME
        self.touched = changed
        spans = []
        for leg in range(self.n_legs):
            own = self.steps.of(leg)
            for k in np.flatnonzero(changed[own]):
                step = own[k]
                begin = -math.inf if k == 0 else float(planned.on[own[k - 1]])
                finish = math.inf if k + 1 == len(own) else float(planned.off[own[k + 1]])
                begin = min(begin, float(self.on[step]), float(steps.on[step]))
                finish = max(finish, float(self.off[step]), float(steps.off[step]))
                spans.append((begin, finish))
        spans.sort()
        merged: list[list[float]] = []
        for begin, finish in spans:
            if merged and begin <= merged[-1][1] + SAME:
                merged[-1][1] = max(merged[-1][1], finish)
            else:
                merged.append([begin, finish])
        settle = SETTLE * math.sqrt(self.hip / self.gravity)
        self.windows = [
            Window(max(begin, first), min(finish, last), begin > first, finish < last, settle)
            for begin, finish in merged
            if begin < last and finish > first
        ]

    # --- the body's way -----------------------------------------------------------------
    def follow(self) -> None:
        """Times and midstances, and the body's way over moved footprints."""
        base = self.base
        self.planned = Steps(
            base.planned.leg, base.planned.index, self.on, self.off, base.planned.middle,
            base.planned.gait,
        )
        # Steps that are not touched stay as they came out.
        fresh = self.touched
        on = np.where(fresh, self.on, base.steps.on)
        off = np.where(fresh, self.off, base.steps.off)
        self.steps = replace(self.planned, on=on, off=off)
        self.middle = base.middle.copy()
        self.horizontal = base.horizontal
        timed = np.flatnonzero(
            fresh & np.isfinite(self.on) & np.isfinite(self.off)
            & ((self.on != base.planned.on) | (self.off != base.planned.off))
        )
        if len(timed):
            was_on, was_off = base.planned.on[timed], base.planned.off[timed]
            whole = was_off - was_on
            share = np.where(np.isfinite(whole), (base.middle[timed] - was_on) / whole, 0.5)
            span = self.off[timed] - self.on[timed]
            self.middle[timed] = self.on[timed] + np.clip(share, 0.0, 1.0) * span
            first, last = float(base.horizontal.time[0]), float(base.horizontal.time[-1])
            self.middle = np.clip(self.middle, first, last)
        if self.locks.body:
            return
        way = Way(base.horizontal, base.turning)
        for window in self.windows:
            self._lead(way, window)
        self.horizontal, self.turning = Plan(way, base.horizontal.time), Yaw(way)
        self._head()
        self.bank = Joined(base.bank, self._lean(), self.windows)

    def _lead(self, way: Way, window: Window) -> None:
        """The curve of least acceleration to where the footprints of a window ask for."""
        steps, base = self.steps, self.base
        flown = support_profile(steps.on, steps.off).flights()
        seen = (flown[1] > window.start) & (flown[0] < window.end)
        seen &= flown[1] - flown[0] > SHORTEST
        flights = np.clip(np.stack(flown, axis=1)[seen], window.start, window.end)
        own, then, at = self._asks(window)
        events = np.concatenate((steps.on, steps.off))
        time = moments(
            window.start, window.end, flights, np.concatenate((events[np.isfinite(events)], at))
        )
        middle = 0.5 * (time[1:] + time[:-1])
        weight = 2.0 * covering(middle, steps.on, steps.off) / self.n_legs
        weight = np.where(within(middle, flights), 0.0, np.maximum(weight, 2.0 / self.n_legs))
        lever = LEVER * self.hip
        zero = np.zeros((2, 3))
        ends = (zero if window.opens else None, zero if window.closes else None)
        # First how the footprints turn, which turns the way; then what leads it aside.
        turn = None
        asked = self.new_yaw[own] - base.foot_yaw[own]
        tau = EAGER * math.sqrt(self.hip / self.gravity)
        if np.any(asked):
            wishes = Wishes(at, np.ones((len(own), 1)), asked, np.full(len(own), tau**-3))
            only = [None if end is None else end[:, 2:] for end in ends]
            turn = least_push(time, weight, np.ones(1), (only[0], only[1]), None, wishes)
        dense = base.horizontal.time
        dense = dense[(dense > time[0]) & (dense < time[-1])]
        stretch = Stretch(window, way.before, turn, np.unique(np.concatenate((time, dense))))
        here, rate = stretch.turned(time)
        if window.closes:  # back to where it goes on as it was
            there, pace = way.before(time[-1:])
            ends = ends[0], np.concatenate((there - here[-1:], pace - rate[-1:]))
        h = np.diff(time)[:, None]
        ahead = here[:-1] + h * rate[:-1] - here[1:]
        offset = np.stack((ahead, rate[:-1] - rate[1:]), axis=1)
        offset[weight > 0.0] = 0.0
        size = np.array([1.0, 1.0, lever])
        wishes = self._wishes(way, stretch, own, then, at, lever)
        wishes = replace(wishes, weight=wishes.weight * tau**-3)
        curve = least_push(time, weight, size, ends, offset, wishes)
        # What is out of reach pulls no harder than what is just in reach (Huber 1964).
        reach = 0.5 * np.tile(self.room[steps.leg[own]], 3)
        for _ in range(ROUNDS):
            missed = np.abs(np.sum(wishes.row * curve(wishes.time), axis=1) - wishes.value)
            if not np.any(missed > reach):
                break
            pull = wishes.weight * np.minimum(1.0, reach / np.maximum(missed, 1e-9))
            curve = least_push(time, weight, size, ends, offset, replace(wishes, weight=pull))
        stretch.lead(curve, flights)
        way.stretches.append(stretch)
        self._check_push(way, time, weight)

    def _asks(self, window: Window) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Steps that ask something of the body in a window, and when: as it was, and as it is.

        Each does at its midstance; one that stands for long at several moments, so that the
        body stands still over it.
        """
        base, steps = self.base, self.steps
        first, last = float(base.horizontal.time[0]), float(base.horizontal.time[-1])
        on, off = (np.clip(times, first, last) for times in (steps.on, steps.off))
        was_on, was_off = (
            np.clip(np.where(self.touched, planned, times), first, last)
            for planned, times in (
                (base.planned.on, base.steps.on), (base.planned.off, base.steps.off)
            )
        )
        pace = math.sqrt(self.hip / self.gravity)
        parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for step in np.flatnonzero(~base.left_out):
            own = np.array([step])
            span = float(off[step] - on[step])
            if span <= STANDS * pace:
                parts.append((own, base.middle[own], self.middle[own]))
                continue
            share = np.linspace(0.0, 1.0, math.ceil(span / (OFTEN * pace)) + 1)
            then = was_on[step] + share * (was_off[step] - was_on[step])
            parts.append((np.repeat(own, len(share)), then, on[step] + share * span))
        if not parts:
            return np.zeros(0, dtype=int), np.zeros(0), np.zeros(0)
        own, then, at = (np.concatenate(part) for part in zip(*parts, strict=True))
        asks = window.holds(at) & (at >= window.start) & (at <= window.end)
        return own[asks], then[asks], at[asks]

    def _wishes(
        self,
        way: Way,
        stretch: Stretch,
        own: np.ndarray,
        then: np.ndarray,
        at: np.ndarray,
        lever: float,
    ) -> Wishes:
        """What footprints ask of the body: rows of x, y and yaw; see the module."""
        base = self.base
        was, _ = way.before(then)
        now, _ = stretch.turned(at)
        turn = self.new_yaw[own] - base.foot_yaw[own]
        c, s = np.cos(turn), np.sin(turn)
        arm = base.holds.position[own, :2] - was[:, :2]
        arm = np.stack((c * arm[:, 0] - s * arm[:, 1], s * arm[:, 0] + c * arm[:, 1]), axis=1)
        yaw = turn + was[:, 2] - now[:, 2]
        asked = self.place[own, :2] - now[:, :2] - arm
        m = len(own)
        row, value = np.zeros((3, m, 3)), np.zeros((3, m))
        row[0, :, 0], row[0, :, 2] = 1.0, -arm[:, 1]
        row[1, :, 1], row[1, :, 2] = 1.0, arm[:, 0]
        value[0] = asked[:, 0] - yaw * arm[:, 1]
        value[1] = asked[:, 1] + yaw * arm[:, 0]
        row[2, :, 2], value[2] = lever, lever * yaw
        return Wishes(np.tile(at, 3), row.reshape(-1, 3), value.ravel(), np.ones(3 * m))

    def _check_push(self, way: Way, time: np.ndarray, weight: np.ndarray) -> None:
        """Tell of accelerations beyond what legs give."""
        inside = (time[:-1] >= -SAME) & (time[1:] <= self.end + SAME) & (weight > 0.0)
        span = np.diff(time)
        inside &= span > BRIEF
        if not inside.any():
            return
        _, rate = way(time)
        push = np.linalg.norm(np.diff(rate[:, :2], axis=0), axis=1) / span
        _, rate = way.before(time)
        before = np.linalg.norm(np.diff(rate[:, :2], axis=0), axis=1) / span
        count = np.round(weight * self.n_legs / 2.0)
        limit = np.maximum(self.settings.impulse * count, before)
        over = np.where(inside, push - limit, -math.inf)
        k = int(np.argmax(over))
        if over[k] > 1e-6 + 0.01 * limit[k]:
            near = np.flatnonzero(self.touched)
            step = int(near[np.argmin(np.abs(self.middle[near] - time[k]))])
            self.problems.append(problems.hard_push(
                self.names[self.steps.leg[step]], int(self.steps.index[step]), float(time[k]),
                float(push[k]), float(limit[k]),
            ))

    # --- footholds, heights and feet ------------------------------------------------------
    def stand(self) -> None:
        """Put footprints where they are now; steps into them roll and swing anew."""
        base = self.base
        state = np.where(self.moved, GOOD, base.holds.state)
        self.holds = Footholds(self.place, self.new_normal, state, base.holds.moved)
        self.foot_yaw = self.new_yaw
        self.foot_turn = base.foot_turn.copy()
        moved = np.flatnonzero(self.moved)
        up = np.array([0.0, 0.0, 1.0])
        self.foot_turn[moved] = multiply(
            between(up, self.new_normal[moved]), about_z(self.new_yaw[moved])
        )
        self._roll()
        self.problems += problems.bad_footholds(self.steps, self.holds, self.names, self.end)
        floors = [self._ground_of(leg) for leg in range(self.n_legs)]
        if not self._flat():
            self.floor = [
                Joined(a, b, self.windows) for a, b in zip(base.floor, floors, strict=True)
            ]

    def _flat(self) -> bool:
        return self.base._flat() and not np.any(
            np.abs(self.place[:, 2] - self.base.natural) > 1e-12
        )

    def _roll(self) -> None:
        """Pitch at touchdown and liftoff, and size of the swings, next to moved footprints."""
        base = self.base
        self.strike, self.push = base.strike.copy(), base.push.copy()
        self.size = base.size.copy()
        own, old = np.flatnonzero(~self.left_out), base.holds.position
        near = self.steps.leg[own[1:]] == self.steps.leg[own[:-1]]
        near &= self.moved[own[1:]] | self.moved[own[:-1]]
        for a, b in zip(own[:-1][near], own[1:][near], strict=True):
            leg = self.legs[self.steps.leg[a]]
            far = float(np.linalg.norm((self.place[b] - self.place[a])[:2]))
            less = float(np.linalg.norm((old[b] - old[a])[:2]))
            size = float(np.clip(base.size[a] + (far - less) / (0.6 * self.hip), 0.0, 1.0))
            rise = np.array([self.place[b, 2] - self.place[a, 2]])
            self.size[a] = size
            into = self.plans[self.steps.gait[b]].gait
            out = self.plans[self.steps.gait[a]].gait
            strike = np.array([leg.strike * size * into.strike])
            self.strike[b] = strike_on_steps(strike, rise, self.hip)[0]
            self.push[a] = leg.push * size * out.push

    def carry(self) -> None:
        """Heights again, joined to those outside."""
        base = self.base
        self._trunk()
        if self.locks.body:
            self.list, self.sway = base.list, base.sway
        else:
            self.list = Joined(base.list, self.list, self.windows)
            self.sway = Joined(base.sway, self.sway, self.windows)
        m = len(self.steps.leg)
        self.left_out = base.left_out & ~self.touched
        self.short = base.short & ~self.touched
        self.beyond = base.beyond & ~self.touched
        self.sunk = []
        for g in range(len(self.girdles)):
            knots, old = self._knots(g), base.knots[g]
            same = len(knots) == len(old) and bool(np.all(knots == old))
            self.sunk.append(base.sunk[g].copy() if same else
                             np.maximum(np.interp(knots, old, base.sunk[g]), 0.0))
        inside = np.zeros(m, dtype=bool)
        for window in self.windows:
            early = (self.steps.on > window.start) | (not window.opens)
            inside |= early & ((self.steps.off < window.end) | (not window.closes))
        self.watched = inside
        self.may_shorten = inside & (not self.locks.timing)
        if self.locks.legs:
            self.may_shorten &= self._edited_legs()[self.steps.leg]
        self.may_leave = np.zeros(m, dtype=bool)
        spans = [(window.start, window.end) for window in self.windows]
        self.may_sink = () if self.locks.body else tuple(spans)
        self._rise_to_reach()

    def _carriers(self) -> Steps:
        return self.base.planned if self.locks.body else self.planned

    def _edited_legs(self) -> np.ndarray:
        """(L,) which legs have an edited step."""
        return np.bincount(self.steps.leg[self.touched], minlength=self.n_legs) > 0

    def _girdle(self, g: int) -> Rise:
        if self.locks.body:
            return self.base.vertical[g]
        return Heights(self.base.vertical[g], super()._girdle(g), self.windows)

    def body(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """As without edits, if it is locked.

        Args:
            time: (n,) s.

        Returns:
            (n, 3) position and (n, 4) orientation of the body, and what they are made of.
        """
        return self.base.body(time) if self.locks.body else super().body(time)

    def _stretch(self, ends: np.ndarray, step: np.ndarray, time: np.ndarray) -> np.ndarray:
        """As without edits at the ends of windows, and more and more as with them inside."""
        feet, base = self.feet, self.base
        free = ends[step]
        before = np.full(len(self.own), np.nan)
        _, a, b = np.intersect1d(self.own, base.own, return_indices=True)
        before[a] = base.free[b]
        following = np.full(len(self.own), np.inf)
        following[feet.swings] = feet.on[feet.swings + 1]
        off, on, was = feet.off[step], following[step], before[step]
        for window in self.windows:
            for end, closed, inner in (
                (window.start, window.opens, on), (window.end, window.closes, off)
            ):
                over = closed & (np.minimum(off, on) < end) & (np.maximum(off, on) > end)
                over &= np.isfinite(was) & np.isfinite(inner)
                if over.any():
                    share = (time[over] - end) / (inner[over] - end)
                    free[over] = was[over] + minimum_jerk(share) * (free[over] - was[over])
        return free

    def _swings(self, off: np.ndarray, on: np.ndarray) -> np.ndarray:
        seen = np.zeros(len(off), dtype=bool)
        for window in self.windows:
            seen |= (on > window.start) & (off < window.end)
        return seen & super()._swings(off, on)

    # --- the motion ---------------------------------------------------------------------
    def _inside(self) -> np.ndarray:
        """Which samples are inside windows."""
        inside = np.zeros(len(self.before.time), dtype=bool)
        for window in self.windows:
            inside |= window.holds(self.before.time)
        return inside

    def _sampled(self) -> np.ndarray:
        inside = self._inside()
        # Something has to be sampled, even if the windows are between two samples.
        return inside if inside.any() else np.arange(len(inside)) == 0

    def _kept(self) -> np.ndarray:
        """(L,) legs whose feet stay where they were, as far as the body leaves them in reach."""
        if not self.locks.legs:
            return np.zeros(self.n_legs, dtype=bool)
        return ~self._edited_legs()

    def _keep(self, pose: FootPose) -> np.ndarray:
        """Feet of kept legs as without edits; their legs may be as long as they were."""
        free, old, rows = super()._keep(pose), self.before, self._sampled()
        far = free.reshape(self.n_legs, -1)
        for leg in np.flatnonzero(self._kept()):
            of = np.s_[leg * far.shape[1] : (leg + 1) * far.shape[1]]
            pose.position[of] = old.foot_position[rows, leg]
            pose.orientation[of] = old.foot_orientation[rows, leg]
            pose.pitch[of] = old.foot_pitch[rows, leg]
            pose.contact[of] = old.contact[rows, leg]
            ankle = np.asarray(self.legs[leg].ankle, dtype=float)
            arm = pose.position[of] + rotate(pose.orientation[of], ankle) - old.hip[rows, leg]
            far[leg] = np.linalg.norm(arm, axis=1) * (1.0 + 1e-12)
        np.maximum(far, KEPT * self.lengths[:, None], out=far, where=self._kept()[:, None])
        return free

    def motion(self) -> GaitMotion:
        """The motion without edits, and with them inside the windows.

        Returns:
            The motion.
        """
        old, new = self.before, super().motion()
        inside = self._inside()
        taken = inside[self._sampled()]
        mixed: dict[str, Any] = {}
        body = ("position", "orientation", "yaw", "pitch", "roll", "bank", "velocity",
                "girdle_height", "girdle_speed", "hip")
        feet = ("foot_orientation", "foot_pitch", "contact")
        kept = self._kept()
        for name in (*body, *feet, "foot_position"):
            values = getattr(old, name).copy()
            if name in feet:
                values[np.ix_(inside, ~kept)] = getattr(new, name)[taken][:, ~kept]
            elif name == "foot_position":  # of kept legs too, which may be drawn in
                values[inside] = getattr(new, name)[taken]
            elif not self.locks.body:
                values[inside] = getattr(new, name)[taken]
            mixed[name] = values
        for name in ("orientation", "foot_orientation"):
            align_signs(mixed[name], inside)
        windows = tuple((window.start, window.end) for window in self.windows)
        result = replace(
            new, **mixed, time=old.time, windows=windows, pins=self._pins(),
            before=old,
        )
        if not inside[-1]:
            result = replace(result, end_state=old.end_state)
        return replace(result, problems=in_order(result.problems + self._moved_pins(result.pins)))

    def _footprints(self) -> tuple[Footprint, ...]:
        touched = {
            (self.names[self.steps.leg[k]], int(self.steps.index[k]))
            for k in np.flatnonzero(self.touched)
        }
        return tuple(
            replace(mark, edited=(mark.leg, mark.index) in touched)
            for mark in super()._footprints()
        )

    def _pins(self) -> tuple[Pin, ...]:
        ends = [
            end
            for window in self.windows
            for end, closed in ((window.start, window.opens), (window.end, window.closes))
            if closed
        ]
        if not ends:
            return ()
        time = np.array(ends)
        position, _, parts = self.base.body(time)
        later, sooner = self.base.body(time + 1e-5)[0], self.base.body(time - 1e-5)[0]
        velocity = (later - sooner) / 2e-5
        return tuple(
            Pin(float(t), position[i], float(parts["yaw"][i]), velocity[i])
            for i, t in enumerate(time)
        )

    def _moved_pins(self, pins: Sequence[Pin]) -> tuple[Problem, ...]:
        """What to tell if the windows end elsewhere than when the footprints were edited."""
        given = self.settings.pins
        if not given or any(p.code == "EDITS_MOVED" for p in self.problems):
            return ()
        for pin in given:
            if not any(
                abs(pin.time - now.time) < ATTACHED
                and float(np.abs(np.asarray(pin.position) - now.position).max()) < ATTACHED
                and abs(_wrap(pin.yaw - now.yaw)) < ATTACHED
                for now in pins
            ):
                return (problems.edits_reattached(len(self.settings.edits), pin.time),)
        return ()


def _normal(ground: Ground, place: np.ndarray) -> np.ndarray | None:
    """Unit normal (3,) of the ground under a place, or None where there is none."""
    _, normal, hit = ground(place[:1], place[1:2])
    normal = np.asarray(normal, dtype=float)[0]
    size = float(np.linalg.norm(normal))
    if not np.asarray(hit)[0] or not size > 1e-9:
        return None
    return normal / math.copysign(size, normal[2])


def _finite(time: np.ndarray) -> np.ndarray:
    return np.nan_to_num(time, neginf=-1e12, posinf=1e12)


def _same(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= SAME


def _near(angle: float, other: float) -> float:
    """The same direction as an angle, within half a turn of another."""
    return angle + 2.0 * math.pi * round((other - angle) / (2.0 * math.pi))


def _wrap(angle: float) -> float:
    return float((angle + math.pi) % (2.0 * math.pi) - math.pi)

