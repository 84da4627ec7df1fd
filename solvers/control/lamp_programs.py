# SPDX-License-Identifier: GPL-3.0-or-later
"""Motor programs of the lamp: twelve numbers, and what follows them.

A program bends the lamp, throws it up, folds it in the air and holds the base ready for
the ground (van de Panne, Fiume and Vranesic, 1990, section 7). It gives angles, not
torques: a clipped proportional-derivative law follows them, so that a start a little off
does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..dynamics.contact import MANY, Ops
from . import lamp
from .lamp import REST, STEP, Ground, State

STIFF, DAMP = 90.0, 3.0
"""N m/rad and N m s/rad of the law in the joints."""
LEVEL_STIFF, LEVEL_DAMP = 30.0, 0.9
"""The same of the base's tilt in the air: it is light."""
CLEAR = 0.005
"""m above the ground at which the sole has left it."""


class Program(NamedTuple):
    """Twelve numbers; angles in rad, times in s. Arrays for many programs.

    Attributes:
        crouch_link: the link's angle when bent.
        crouch_shade: the shade's.
        crouch_time: until it is bent.
        throw_link: the link's angle at the end of the throw.
        throw_shade: the shade's.
        throw_time: from bent to thrown.
        lag: by which the elbow follows the base's joint in the throw.
        tuck_link: the link's angle in the air.
        tuck_shade: the shade's.
        tuck_time: from take-off until the base is made ready for the ground.
        land_shade: the shade's angle then.
        land_tilt: the base's tilt, against as many turns as it is to make.
    """

    crouch_link: Any
    crouch_shade: Any
    crouch_time: Any
    throw_link: Any
    throw_shade: Any
    throw_time: Any
    lag: Any
    tuck_link: Any
    tuck_shade: Any
    tuck_time: Any
    land_shade: Any
    land_tilt: Any


LOW = np.array([-0.6, -2.5, 0.15, -1.6, -2.4, 0.05, -0.10, -1.7, -2.5, 0.0, -2.4, -0.4])
HIGH = np.array([1.7, 1.0, 0.5, 1.6, 2.0, 0.35, 0.15, 1.7, 2.2, 0.45, 1.5, 0.4])
"""Between which numbers programs are looked for."""


@dataclass(frozen=True)
class Flight:
    """How lamps came to the ground again.

    Attributes:
        state: at touchdown, or at the last time.
        landed: (n,) whether they took off and touched down, elbow and shade never
            near the ground.
        time: (n,) s of touchdown.
        airborne: (n,) s in the air.
        clearance: (n,) least height of elbow and shade above the ground, m.
        torque: (n, 2) largest torque of the base's joint and the elbow, N m.
    """

    state: State
    landed: np.ndarray
    time: np.ndarray
    airborne: np.ndarray
    clearance: np.ndarray
    torque: np.ndarray


@dataclass(frozen=True)
class Motion:
    """A program and what it does.

    Attributes:
        name: for reports.
        program: (12,) its numbers.
        turns: of the base, counterclockwise.
        length: m, to where the base comes to rest.
        drop: m, by which it comes down.
    """

    name: str
    program: np.ndarray
    turns: int
    length: float
    drop: float = 0.0


def torques(
    ops: Ops, program: Program, turns: float, time: float, off: Any, state: State,
    base: float = 0.0,
) -> tuple[Any, Any]:
    """What a program does.

    Args:
        ops: of floats or arrays.
        program: which.
        turns: that the base is to make, counterclockwise.
        time: since it began, s.
        off: when it took off, s; infinite before.
        state: of the lamp.
        base: rad, of the turns that it made before.

    Returns:
        Torque of the base's joint and of the elbow, N m.
    """
    p = program
    bend = _ease(ops, time / p.crouch_time)
    throw = ops.least(ops.most((time - p.crouch_time) / p.throw_time, 0.0), 1.0)
    late = ops.least(ops.most((time - p.crouch_time - p.lag) / p.throw_time, 0.0), 1.0)
    link = REST[0] + (p.crouch_link - REST[0]) * bend + (p.throw_link - p.crouch_link) * throw
    shade = REST[1] + (p.crouch_shade - REST[1]) * bend + (p.throw_shade - p.crouch_shade) * late
    flying = time > off
    link = ops.where(flying, p.tuck_link, link)
    shade = ops.where(flying, p.tuck_shade, shade)
    ready = time > off + p.tuck_time
    shade = ops.where(ready, p.land_shade, shade)
    _, _, tilt, j1, j2 = state.q
    _, _, spin, u1, u2 = state.v
    knee = STIFF * (link - j1) - DAMP * u1
    aim = p.land_tilt + 2.0 * np.pi * turns + base
    # The base's joint acts on the base the other way around.
    level = LEVEL_DAMP * spin - LEVEL_STIFF * (aim - tilt)
    knee = lamp.clip(ops, ops.where(ready, level, knee), lamp.LIMITS[0])
    elbow = lamp.clip(ops, STIFF * (shade - j2) - DAMP * u2, lamp.LIMITS[1])
    return knee, elbow


def _ease(ops: Ops, share: Any) -> Any:
    share = ops.least(ops.most(share, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


def fly(
    programs: np.ndarray,
    turns: float,
    ground: Ground = (),
    start: State | None = None,
    longest: float = 1.8,
    needed: float = 0.03,
    check: Callable[[], None] | None = None,
) -> Flight:
    """Run many programs from a start to touchdown.

    Args:
        programs: (n, 12).
        turns: that the base is to make, counterclockwise.
        ground: steps.
        start: n lamps in arrays; None for all standing.
        longest: s, after which what has not touched down has failed.
        needed: m, clearance of elbow and shade below which a trial ends.
        check: called now and then; may raise Cancelled.

    Returns:
        The flights.
    """
    n = len(programs)
    state = start if start is not None else lamp.many([lamp.standing()] * n)
    program = Program(*np.array(programs, float).T)
    here = np.arange(n)
    off = np.full(n, np.inf)
    final = State(*([np.array(a, float) for a in part] for part in state))
    landed, time = np.zeros(n, bool), np.full(n, np.inf)
    took, least, most = np.full(n, np.inf), np.full(n, np.inf), np.zeros((n, 2))
    kept_torque = np.zeros((2, n))
    kept_least = np.full(n, np.inf)
    for k in range(int(longest / STEP)):
        t = k * STEP
        knee, elbow = torques(MANY, program, turns, t, off, state)
        state, left, right = lamp.step(MANY, state, knee, elbow, ground)
        kept_torque = np.maximum(kept_torque, np.abs([knee, elbow]))
        if k % 4 == 3:
            gap = lamp.sole(MANY, state, ground)
            leaves = (off == np.inf) & (gap > CLEAR) & (t > program.crouch_time)
            off = np.where(leaves, t, off)
            down = (off < np.inf) & ((left > 0.0) | (right > 0.0))
            if k % 16 == 15:
                kept_least = np.minimum(kept_least, lamp.clearance(MANY, state, ground))
            bad = (kept_least < needed) | (abs(state.q[2]) > 2.0 * np.pi * abs(turns) + 1.5)
            bad |= (t > program.crouch_time + 0.6) & (off == np.inf)
            over = down | bad
            if over.any():
                at = here[over]
                for part, values in zip(final, state, strict=True):
                    for a, b in zip(part, values, strict=True):
                        a[at] = b[over]
                landed[at] = (down & ~bad)[over]
                time[at], took[at] = t, off[over]
                least[at], most[at] = kept_least[over], kept_torque[:, over].T
                stay = ~over
                here, off, state = here[stay], off[stay], lamp.pick(state, stay)
                program = Program(*(a[stay] for a in program))
                kept_torque, kept_least = kept_torque[:, stay], kept_least[stay]
                if not len(here):
                    break
        if check is not None and k % 96 == 95:
            check()
    return Flight(final, landed, time, time - took, least, most)
