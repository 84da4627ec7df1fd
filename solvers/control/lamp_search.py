# SPDX-License-Identifier: GPL-3.0-or-later
"""Find Jump: programs that end on the base, by trying and by evolution.

First programs at random; around the best three of them an evolution strategy goes on
(each generation is drawn from a normal distribution that the best of the last one give).
What counts is where the lamp comes to rest, if it does so when its start is a little
different, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic

import numpy as np

from ..dynamics.contact import MANY
from ..errors import SettingError
from . import lamp, landing
from .lamp import Ground, State
from .lamp_data import JUMPS, OTHERS
from .lamp_play import play
from .lamp_programs import HIGH, LOW, Flight, Motion, fly

TRIED = 1024
"""Programs at random."""
GENERATION = 64
"""Programs around each of the best."""
ELITE = 10
"""Of these, what the next generation is drawn from."""
LANDED = 24
"""Programs of a generation whose landing is simulated."""
SPREAD = 0.12
"""Of the first generation, as a share of the range of each number."""
BEYOND = 4
"""Generations after the first success."""
STEEPEST = math.radians(25.0)
"""rad, of the base at touchdown."""
FAILED = 100.0
SHORTEST, LONGEST = 0.1, 1.4
"""m, of the jumps."""
NEAR = 0.01
"""m, that a jump may miss its length by: half of what it is allowed to."""


@dataclass(frozen=True)
class Found:
    """What was found.

    Attributes:
        program: (12,) its numbers.
        turns: that it makes.
        length: m, from where the base stood to where it comes to rest.
        airborne: s in the air.
        tilt: rad, of the base at touchdown.
        settled: s from touchdown to rest.
        torque: (2,) largest torque of the base's joint and the elbow, N m.
        kept: share of starts a little different that came to rest, too.
        generations: it took.
    """

    program: np.ndarray
    turns: int
    length: float
    airborne: float
    tilt: float
    settled: float
    torque: np.ndarray
    kept: float
    generations: int


def knocked(count: int, size: float = math.radians(0.4)) -> State:
    """Lamps that stand a little differently, the first one exactly.

    Args:
        count: how many.
        size: rad, of the links' angles.

    Returns:
        Arrays.
    """
    state = lamp.many([lamp.standing()] * count)
    off = np.random.default_rng(1).uniform(-size, size, (2, count))
    off[:, 0] = 0.0
    q = np.array(state.q)
    q[3:] += off
    return state._replace(q=list(q))


def evaluate(
    programs: np.ndarray, turns: int, length: float, ground: Ground = (),
    count: int = LANDED, check: Callable[[], None] | None = None,
) -> tuple[np.ndarray, Flight, landing.Landing, np.ndarray]:
    """How good programs are; below 0 for those that come to rest.

    Args:
        programs: (n, 12).
        turns: wanted.
        length: wanted, m.
        ground: steps.
        count: how many of the best are followed to rest.
        check: called now and then; may raise Cancelled.

    Returns:
        (n,) scores, the flights, the landings and (count,) whose they are.
    """
    flight = fly(programs, turns, ground, check=check)
    state = flight.state
    x, y, vx, _ = lamp.centre(MANY, state)
    ahead = x + vx * np.sqrt(np.maximum(y, 0.05) / 9.81) - state.q[0]
    tilt = np.abs(state.q[2] - 2.0 * math.pi * turns)
    score = 3.0 * np.abs(state.q[0] - length) + tilt + 2.0 * np.abs(ahead)
    score += 0.05 * np.abs(state.v[2]) + np.maximum(0.15 - flight.airborne, 0.0) * 10.0
    # What fails is the better the further it came before it did.
    score = np.where(flight.landed, score, FAILED + np.minimum(tilt, 20.0))
    best = np.argsort(score)[:count]
    best = best[(score[best] < 1.5) & (tilt[best] < STEEPEST)]
    down = landing.land(lamp.pick(state, best), None, ground, 1.2)
    final = 4.0 * np.abs(down.state.q[0] - length) + 0.2 * down.time + 0.3 * tilt[best] - 5.0
    score[best] = np.where(down.rests, final, score[best])
    return score, flight, down, best


def find(
    length: float,
    turns: int = 0,
    ground: Ground = (),
    seed: int = 0,
    start: Sequence[np.ndarray] = (),
    near: float = 0.015,
    generations: int = 30,
    seconds: float = math.inf,
    progress: Callable[[float], None] | None = None,
) -> Found | None:
    """Find a program.

    Args:
        length: m, to where the base is to come to rest; back is negative.
        turns: of the base, counterclockwise: 1 for a back flip.
        ground: steps.
        seed: of all that is random.
        start: programs to begin from; at random where there are none.
        near: m, that it may miss the length by.
        generations: at the most.
        seconds: after which no generation begins.
        progress: told the share that is done; raises Cancelled to stop.

    Returns:
        The best program, or None where none lands.
    """
    if not math.isfinite(length) or abs(length) > 3.0:
        raise SettingError("Length of the jump", length, "a number between -3 and 3 m")
    began = monotonic()
    rng = np.random.default_rng(seed)
    span = HIGH - LOW

    def tell(done: float) -> Callable[[], None] | None:
        return None if progress is None else lambda: progress(done)

    if len(start):
        first = [np.asarray(p, float) for p in start][:3]
        spread = 0.03
    else:
        tried = rng.uniform(LOW, HIGH, (TRIED, 12))
        score, *_ = evaluate(tried, turns, length, ground, check=tell(0.0))
        first, spread = list(tried[np.argsort(score)[:3]]), SPREAD
    means = np.array(first)
    spreads = np.array([np.diag((spread * span) ** 2)] * len(means))
    best, reached, success = means[0], math.inf, None
    for k in range(generations):
        drawn = []
        for mean, cov in zip(means, spreads, strict=True):
            group = rng.multivariate_normal(mean, cov, GENERATION, method="cholesky")
            group[0] = mean
            drawn.append(np.clip(group, LOW, HIGH))
        drawn[0][1] = best
        programs = np.concatenate(drawn)
        score, flight, down, which = evaluate(
            programs, turns, length, ground, LANDED * len(means),
            tell((k + 1) / (generations + 1)),
        )
        if score.min() < reached:
            reached, best = float(score.min()), programs[score.argmin()]
        hit = down.rests & (np.abs(down.state.q[0] - length) < near)
        if hit.any() and success is None:
            success = k
        if monotonic() - began > seconds:
            break
        if success is not None and k >= success + (1 if len(start) else BEYOND):
            break
        for g in range(len(means)):
            own = score[g * GENERATION : (g + 1) * GENERATION]
            elite = drawn[g][np.argsort(own)[:ELITE]]
            means[g] = elite.mean(axis=0)
            off = elite - means[g]
            floor = np.diag((0.004 * span) ** 2)
            spreads[g] = 0.3 * spreads[g] + 0.7 * 1.3 * (off.T @ off) / ELITE + floor
        if k == 5 and len(means) > 1:  # one is enough to go on with
            g = int(np.argmin(score.reshape(len(means), -1).min(axis=1)))
            means, spreads = means[g : g + 1], spreads[g : g + 1]
    return confirm(best, turns, ground, k + 1)


def confirm(
    program: np.ndarray, turns: int, ground: Ground = (), generations: int = 0, count: int = 8
) -> Found | None:
    """Follow a program to rest, from several starts.

    Args:
        program: (12,).
        turns: that it makes.
        ground: steps.
        generations: for the report.
        count: how many starts.

    Returns:
        What it does; None where it does not come to rest.
    """
    flight = fly(np.repeat(program[None], count, axis=0), turns, ground, knocked(count))
    ways = landing.absorb(flight.state, ground)
    down = landing.land(flight.state, ways, ground)
    rests = down.rests & flight.landed
    tilt = flight.state.q[2] - 2.0 * math.pi * turns
    rests &= np.abs(down.state.q[2] - 2.0 * math.pi * turns) < 0.1
    if not rests[0]:
        return None
    return Found(
        np.array(program), turns, float(down.state.q[0][0]), float(flight.airborne[0]),
        float(tilt[0]), float(down.time[0]), np.maximum(flight.torque, down.torque)[0],
        float(rests.mean()), generations,
    )


def shipped(name: str) -> Motion:
    """A flip, or a way down, that was found.

    Args:
        name: of `lamp_data.OTHERS`.

    Returns:
        The motion.
    """
    for own, turns, length, drop, program in OTHERS:
        if own == name:
            return Motion(own, np.array(program), turns, length, drop)
    raise SettingError("Motion of the lamp", name, "one of " + ", ".join(x[0] for x in OTHERS))


@lru_cache(64)
def jump(length: float) -> Motion:
    """A jump forward of some length.

    Between the shipped jumps their numbers are interpolated; of some that are tried around
    the length, that which comes to rest nearest to it is taken. Where that is not near
    enough, the search goes on from it.

    Args:
        length: m, from 0.1 to 1.4.

    Returns:
        The motion; its length is what it reaches.
    """
    if not SHORTEST <= length <= LONGEST:
        raise SettingError(
            "Length of the jump", length, f"between {SHORTEST} and {LONGEST} m"
        )
    known = np.array([x for x, _ in JUMPS])
    numbers = np.array([p for _, p in JUMPS])
    near = length
    for _ in range(4):  # by what it misses: most lengths are hit so
        program = np.array([np.interp(near, known, column) for column in numbers.T])
        (done,) = play([Motion("", program, 0, length)], end=0.0).motions
        if not math.isfinite(done.rested):
            break
        if abs(done.length - length) < NEAR:
            return Motion(f"Jump {length:.2f} m", program, 0, done.length)
        near += length - done.length
    asked = length + np.linspace(-0.05, 0.05, 21)
    programs = np.stack([np.interp(asked, known, column) for column in numbers.T], axis=1)
    flight = fly(programs, 0)
    down = landing.land(flight.state)
    off = np.where(down.rests & flight.landed, np.abs(down.state.q[0] - length), np.inf)
    best = int(off.argmin())
    if off[best] < NEAR:
        return Motion(f"Jump {length:.2f} m", programs[best], 0, float(down.state.q[0][best]))
    start = programs[best] if np.isfinite(off[best]) else programs[10]
    found = find(length, 0, start=[start], near=NEAR, generations=10)
    program = start if found is None else found.program
    return Motion(f"Jump {length:.2f} m", program, 0, length if found is None else found.length)
