# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions of the lamp, one after the other: program, landing, rest, program.

Each motion begins in the state of rest at which the landing controller ends, so that any
may follow any (van de Panne, Fiume and Vranesic, 1990, section 7). A landing that would
fail is tried again from its touchdown, in the ways that `landing.absorb` finds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..dynamics.contact import ONE
from . import lamp, landing
from .knocks import Knocks, Limb
from .lamp import STEP, Ground, State
from .lamp_programs import CLEAR, Motion, Program, torques

LONGEST = 2.0
"""s, for a program to touch down, and for a landing to come to rest."""

READY = 0.05
"""Of `landing.QUIET`, within which the next motion begins: long jumps end where they should."""


LIMBS = (
    Limb((-lamp.HALF_WIDTH, -0.5 * lamp.HEIGHT), (lamp.HALF_WIDTH, -0.5 * lamp.HEIGHT),
         0.5 * lamp.HEIGHT),
    Limb((0.0, 0.0), (0.0, lamp.ARM), 0.015),
    Limb((0.0, 0.0), (0.0, lamp.HEAD), lamp.HEAD_RADIUS),
)
"""What of base, link and shade is hit; where pushes act, at the toe, the elbow and the bulb."""


@dataclass(frozen=True)
class Done:
    """What a motion came to.

    Attributes:
        name: of the motion.
        began: s.
        took_off: s.
        touched_down: s.
        rested: s; infinite where the lamp fell.
        length: m, from where the base stood to where it stands.
        turns: that the base made.
        tilt: rad, of the base at touchdown.
        clearance: m, least height of elbow and shade above the ground.
        torque: (2,) largest torque of the base's joint and the elbow, N m.
        tried: whether the landing had to be found by trying.
        over: s at which the next one may begin; infinite where the lamp fell.
    """

    name: str
    began: float
    took_off: float
    touched_down: float
    rested: float
    length: float
    turns: int
    tilt: float
    clearance: float
    torque: tuple[float, float]
    tried: bool
    over: float


@dataclass(frozen=True)
class Played:
    """A chain of motions.

    Attributes:
        times: (f,) s, one for each sub-step.
        q: (f, 5) coordinates, turns counted on.
        v: (f, 5) their rates.
        motions: what each of them came to; fewer than asked for where the lamp fell.
        state: at the end.
        ground: steps, those among them that motions come down by.
        fell: s at which the lamp lay on the ground, knocked over while it stood; infinite where
            it did not.
        knocks: what acted from outside, its `flights` one for each sub-step.
    """

    times: np.ndarray
    q: np.ndarray
    v: np.ndarray
    motions: tuple[Done, ...]
    state: State
    ground: Ground
    fell: float = math.inf
    knocks: Knocks | None = None

    def at(self, times: np.ndarray) -> np.ndarray:
        """(m, 5) coordinates at some times; at the end it stays.

        Args:
            times: (m,) s.
        """
        return np.stack([np.interp(times, self.times, x) for x in self.q.T], axis=1)


class _One:
    """One lamp in time, and what is to be told of it."""

    def __init__(self, state: State, ground: Ground, knocks: Knocks | None = None) -> None:
        self.state, self.ground, self.steps, self.knocks = state, ground, 0, knocks
        if knocks is not None:
            knocks.seen()
        self.base = 0.0  # rad, turns made before the motion
        self.places, self.rates = [state.q], [state.v]
        self.loads = (0.0, 0.0)
        self.torque, self.clearance = (0.0, 0.0), math.inf

    def step(self, knee: float, elbow: float) -> None:
        self.state, *loads = lamp.step(ONE, self.state, knee, elbow, self.ground)
        self.loads = (loads[0], loads[1])
        self.torque = (max(self.torque[0], abs(knee)), max(self.torque[1], abs(elbow)))
        self.steps += 1
        if self.knocks is not None:
            self._knock(self.knocks)
        self.places.append(self.state.q)
        self.rates.append(self.state.v)
        if self.steps % 32 == 0:
            gap = lamp.clearance(ONE, self.state, self.ground)
            self.clearance = min(self.clearance, gap)

    def _knock(self, knocks: Knocks) -> None:
        """What acts from outside in the step that has been made."""
        q, v = np.array(self.state.q), np.array(self.state.v)
        more = STEP * knocks.accelerations(q, self.time - STEP, self.time)
        moved = knocks.hit(self.time, q + STEP * more, v + more)
        if (moved != v).any():
            self.state = self.state._replace(
                q=tuple((q + STEP * more).tolist()), v=tuple(moved.tolist())
            )
        knocks.seen()

    @property
    def time(self) -> float:
        return self.steps * STEP

    def stand(self, until: float, longest: float) -> bool:
        """Hold on until a time, and until it is at rest.

        Args:
            until: s, at least.
            longest: s for which it may come to rest.

        Returns:
            Whether it stands: not where it was knocked over.
        """
        began, self.clearance = self.steps, math.inf
        while self.time < until or (self.steps - began) * STEP < longest:
            self.hold()
            if self.knocks is not None and self.clearance < 0.0:
                return False
            if self.time >= until and (self.steps - began) % 32 == 0:
                if landing.quiet(lamp.many([self.state]), READY)[0]:
                    break
        return True

    def fly(self, motion: Motion) -> float:
        """Until touchdown; s of take-off, infinite where there is none."""
        program, began, off = Program(*map(float, motion.program)), self.steps, math.inf
        while self.steps - began < LONGEST / STEP:
            t = (self.steps - began) * STEP
            self.step(*torques(ONE, program, motion.turns, t, off, self.state, self.base))
            if off == math.inf:
                gap = lamp.sole(ONE, self.state, self.ground)
                off = t if t > program.crouch_time and gap > CLEAR else off
            elif max(self.loads) > 0.0:
                return began * STEP + off
        return math.inf

    def land(self, way: np.ndarray | None) -> bool:
        began = self.steps
        while self.steps - began < LONGEST / STEP:
            self.hold(way, (self.steps - began) * STEP)
            if self.clearance < 0.0:
                return False
            if (self.steps - began) % 32 == 0 and landing.quiet(lamp.many([self.state]))[0]:
                return True
        return False

    def hold(self, way: np.ndarray | None = None, time: float = 0.0) -> None:
        knee, elbow = landing.torques_one(self.state, way, time)
        for _ in range(landing.EVERY):
            self.step(knee, elbow)


def step_for(motion: Motion, x: float) -> Ground:
    """The step that a motion comes down by: half-way between where it stands and lands.

    Args:
        motion: which.
        x: where the base stands, m.
    """
    if not motion.drop:
        return ()
    edge = x + 0.5 * motion.length
    if motion.length > 0.0:
        return ((edge, -motion.drop),)
    return ((-math.inf, -motion.drop), (edge, motion.drop))


def play(
    motions: Sequence[Motion | None],
    start: State | None = None,
    ground: Ground = (),
    still: float = 0.25,
    lasting: Sequence[float] = (),
    end: float = math.inf,
    progress: Callable[[float], None] | None = None,
    knocks: Knocks | None = None,
) -> Played:
    """Play motions one after the other.

    Args:
        motions: which; None to stand.
        start: in floats, on its base: one that is not at rest comes to rest first; None for a
            lamp that stands at 0.
        ground: steps; each motion that comes down brings its own beside.
        still: s at rest after each motion, at least.
        lasting: s that each motion lasts at least with its rest; () for no such time.
        end: s from which on no more is asked for.
        progress: told the share that is done; raises Cancelled to stop.
        knocks: what acts from outside, in the lamp's lengths; None for nothing.

    Returns:
        The lamp in sub-steps.
    """
    one, fell = _One(start if start is not None else lamp.standing(), ground, knocks), math.inf
    done: list[Done] = []
    if not landing.quiet(lamp.many([one.state]))[0] and not one.land(None):
        fell, motions = one.time, ()
    for number, motion in enumerate(motions):
        if one.time > end:
            break
        if motion is not None:
            one.ground = (*one.ground, *step_for(motion, one.state.q[0]))
        done.append(_stood(one) if motion is None else _played(one, motion))
        if not math.isfinite(done[-1].rested):
            break
        until = done[-1].began + (lasting[number] if lasting else 0.0)
        until = max(until, done[-1].rested + still)
        until = min(until, max(end, one.time))
        if not one.stand(until, LONGEST):
            fell = one.time
            break
        done[-1] = replace(done[-1], over=one.time)
        if progress is not None:
            progress((number + 1) / len(motions))
    stands = fell == math.inf and all(math.isfinite(x.rested) for x in done)
    if knocks is not None and stands and math.isfinite(end):
        fell = math.inf if one.stand(end, 0.0) else one.time
    times = np.arange(len(one.places)) * STEP
    places, rates = np.array(one.places), np.array(one.rates)
    return Played(
        times, places, rates, tuple(done), one.state, one.ground, fell, one.knocks
    )


def _stood(one: _One) -> Done:
    """A rest, which is one from its beginning."""
    now = one.time
    torque = landing.torques_one(one.state)
    return Done("Rest", now, now, now, now, 0.0, 0, 0.0, math.inf, torque, False, math.inf)


def _played(one: _One, motion: Motion) -> Done:
    """One motion, from rest to rest."""
    began, x, tilt = one.time, one.state.q[0], one.state.q[2]
    one.base = 2.0 * math.pi * round(tilt / (2.0 * math.pi))
    one.torque, one.clearance = (0.0, 0.0), math.inf
    off = one.fly(motion)
    down, slope = one.time, one.state.q[2]
    kept = (one.state, one.steps, len(one.places), one.torque, one.clearance)
    knocks = None if one.knocks is None else one.knocks.kept()
    rests, tried = math.isfinite(off) and one.land(None), False
    if not rests and math.isfinite(off):
        one.state, one.steps, count, one.torque, one.clearance = kept
        del one.places[count:], one.rates[count:]
        one.knocks = knocks
        way = landing.absorb(lamp.many([one.state]), one.ground)[0]
        rests, tried = one.land(way), True
    turns = round((one.state.q[2] - tilt) / (2.0 * math.pi))
    slope -= 2.0 * math.pi * round(slope / (2.0 * math.pi))
    return Done(
        motion.name, began, off, down, one.time if rests else math.inf, one.state.q[0] - x,
        turns, slope, one.clearance, one.torque, tried, math.inf,
    )
