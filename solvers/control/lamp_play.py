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

from . import lamp, landing
from .lamp import ONE, STEP, Ground, State
from .lamp_programs import CLEAR, Motion, Program, torques

LONGEST = 2.0
"""s, for a program to touch down, and for a landing to come to rest."""

READY = 0.05
"""Of `landing.QUIET`, within which the next motion begins: long jumps end where they should."""


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
        motions: what each of them came to; fewer than asked for where the lamp fell.
        state: at the end.
        ground: steps, those among them that motions come down by.
    """

    times: np.ndarray
    q: np.ndarray
    motions: tuple[Done, ...]
    state: State
    ground: Ground

    def at(self, times: np.ndarray) -> np.ndarray:
        """(m, 5) coordinates at some times; at the end it stays.

        Args:
            times: (m,) s.
        """
        return np.stack([np.interp(times, self.times, x) for x in self.q.T], axis=1)


class _One:
    """One lamp in time, and what is to be told of it."""

    def __init__(self, state: State, ground: Ground) -> None:
        self.state, self.ground, self.steps = state, ground, 0
        self.base = 0.0  # rad, turns made before the motion
        self.places = [state.q]
        self.loads = (0.0, 0.0)
        self.torque, self.clearance = (0.0, 0.0), math.inf

    def step(self, knee: float, elbow: float) -> None:
        self.state, *loads = lamp.step(ONE, self.state, knee, elbow, self.ground)
        self.loads = (loads[0], loads[1])
        self.torque = (max(self.torque[0], abs(knee)), max(self.torque[1], abs(elbow)))
        self.steps += 1
        self.places.append(self.state.q)
        if self.steps % 32 == 0:
            gap = lamp.clearance(ONE, self.state, self.ground)
            self.clearance = min(self.clearance, gap)

    @property
    def time(self) -> float:
        return self.steps * STEP

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
) -> Played:
    """Play motions one after the other.

    Args:
        motions: which; None to stand.
        start: at rest, in floats; None for a lamp that stands at 0.
        ground: steps; each motion that comes down brings its own beside.
        still: s at rest after each motion, at least.
        lasting: s that each motion lasts at least with its rest; () for no such time.
        end: s from which on no more is asked for.
        progress: told the share that is done; raises Cancelled to stop.

    Returns:
        The lamp in sub-steps.
    """
    one = _One(start if start is not None else lamp.standing(), ground)
    done: list[Done] = []
    for number, motion in enumerate(motions):
        if one.time > end:
            break
        if motion is not None:
            one.ground = (*one.ground, *step_for(motion, one.state.q[0]))
        done.append(_stood(one) if motion is None else _played(one, motion))
        if not math.isfinite(done[-1].rested):
            break
        rested, until = one.steps, done[-1].began + (lasting[number] if lasting else 0.0)
        until = max(until, done[-1].rested + still)
        until = min(until, max(end, one.time))
        while one.time < until or (one.steps - rested) * STEP < LONGEST:
            one.hold()
            if one.time >= until and (one.steps - rested) % 32 == 0:
                if landing.quiet(lamp.many([one.state]), READY)[0]:
                    break
        done[-1] = replace(done[-1], over=one.time)
        if progress is not None:
            progress((number + 1) / len(motions))
    times = np.arange(len(one.places)) * STEP
    return Played(times, np.array(one.places), tuple(done), one.state, one.ground)


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
    rests, tried = math.isfinite(off) and one.land(None), False
    if not rests and math.isfinite(off):
        one.state, one.steps, count, one.torque, one.clearance = kept
        del one.places[count:]
        way = landing.absorb(lamp.many([one.state]), one.ground)[0]
        rests, tried = one.land(way), True
    turns = round((one.state.q[2] - tilt) / (2.0 * math.pi))
    slope -= 2.0 * math.pi * round(slope / (2.0 * math.pi))
    return Done(
        motion.name, began, off, down, one.time if rests else math.inf, one.state.q[0] - x,
        turns, slope, one.clearance, one.torque, tried, math.inf,
    )
