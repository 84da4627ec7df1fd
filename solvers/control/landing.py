# SPDX-License-Identifier: GPL-3.0-or-later
"""The landing of the lamp: a table over its two links, and tries to absorb a fall.

With the base flat on the ground the lamp has two joints and four dimensions of state
(van de Panne, Fiume and Vranesic, 1990, section 7). Nothing holds the base down, so that
its joint bears no more than what keeps the centre of pressure within the sole; the table's
controls are therefore that centre of pressure p and the elbow's torque, and the torque of
the base's joint is what puts the pressure there,

    T = p N + h F

with N and F of the ground on the base, which depend on T linearly. Around the state of
rest the linear law of `run` takes over; what is not in the table is held by it, too, as
far as p may go.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..dynamics.contact import MANY, ONE, Ops
from ..dynamics.planar import Link, compile_figure
from . import lamp
from .build import build
from .grid import Axis, Grid, around
from .lamp import (
    ARM,
    HEAD,
    HEIGHT,
    LIMITS,
    MASSES,
    REST,
    STEP,
    WEIGHT,
    Ground,
    State,
)
from .run import Controller, Rest, controls, rest_law

REACH = 0.11
"""m, of the centre of pressure from the middle of the sole: what is left over keeps it flat."""
WIDER = 300.0
"""By how much the linear law's ellipsoid is larger than where its control is never clipped:
clipped, it still brings the lamp to rest, and a table would chatter there."""
SIZE = 9
"""Nodes along each of the four axes."""
EVERY = 8
"""Sub-steps for which a torque stays."""
FLATTEN, RIGHTING, TILTED = 10.0, 0.05, 0.02
"""N m/rad by which tries turn the base flat; s, damping of that; rad, from which on it is whole."""
QUIET = np.array([math.radians(0.5), math.radians(0.5), math.radians(2.0), math.radians(2.0)])
"""rad and rad/s, within which the lamp is at rest."""

_ARMS = compile_figure(
    [
        Link("link", "", (0.0, 0.0), (0.0, 0.5 * ARM), MASSES[1], lamp.LINKS[1].inertia),
        Link("shade", "link", (0.0, ARM), (0.0, HEAD), MASSES[2], lamp.LINKS[2].inertia),
    ]
)
_FIRST = MASSES[1] * 0.5 * ARM + MASSES[2] * ARM
_SECOND = MASSES[2] * HEAD


def base_torque(ops: Ops, q: Any, v: Any, p: Any, elbow: Any) -> Any:
    """Torque of the base's joint that puts the centre of pressure somewhere.

    Args:
        ops: of floats or arrays.
        q: the links' angles, the first one in the world.
        v: their rates.
        p: centre of pressure, m from the middle of the sole.
        elbow: torque of the elbow, N m.

    Returns:
        N m, within the joint's limit.
    """
    zero = 0.0 * q[0]
    at, more = (
        _ARMS.accelerations(ops.sin, ops.cos, q, v, (zero + t, elbow)) for t in (0.0, 1.0)
    )
    p1, p2, w1, w2 = q[0], q[0] + q[1], v[0], v[0] + v[1]
    c1, s1, c2, s2 = ops.cos(p1), ops.sin(p1), ops.cos(p2), ops.sin(p2)

    def force(a: Any, b: Any) -> Any:
        # m times the centre's acceleration, of angular accelerations a and b.
        x = -_FIRST * c1 * a - _SECOND * c2 * b
        y = -_FIRST * s1 * a - _SECOND * s2 * b
        return p * y + HEIGHT * x

    still = p * (WEIGHT - _FIRST * c1 * w1 * w1 - _SECOND * c2 * w2 * w2)
    still = still + HEIGHT * (_FIRST * s1 * w1 * w1 + _SECOND * s2 * w2 * w2)
    still = still + force(at[0], at[0] + at[1])
    da, db = more[0] - at[0], more[0] + more[1] - at[0] - at[1]
    return lamp.clip(ops, still / ops.most(1.0 - force(da, db), 0.1), LIMITS[0])


def rates(states: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Dynamics of the two links on a base that stays flat.

    Args:
        states: (m, 4) angles of the link and of the shade against it, and their rates.
        given: (m, 2) centre of pressure, m, and the elbow's torque, N m.

    Returns:
        (m, 4) time derivatives.
    """
    q, v = states.T[:2], states.T[2:]
    elbow = given[:, 1]
    knee = base_torque(MANY, q, v, given[:, 0], elbow)
    a = _ARMS.accelerations(np.sin, np.cos, q, v, (knee, elbow))
    return np.stack([v[0], v[1], a[0], a[1]], axis=1)


@lru_cache(1)
def controller() -> Controller:
    """The landing controller: its table is built when it is first asked for."""
    d = math.radians
    grid = Grid.of(
        [
            Axis("link", around(d(-70.0), d(95.0), SIZE, REST[0], 1.5)),
            Axis("shade", around(d(-150.0), d(60.0), SIZE, REST[1], 1.5)),
            Axis("link's rate", around(-9.0, 9.0, SIZE, 0.0, 1.5)),
            Axis("shade's rate", around(-14.0, 14.0, SIZE, 0.0, 1.5)),
        ]
    )
    goal = np.array([*REST, 0.0, 0.0])
    high = np.array([REACH, 12.0])
    rest = rest_law(rates, goal, -high, high, np.array([0.3, 0.4, 2.0, 3.0]))
    assert rest is not None  # the figure does not change
    rest = replace(rest, size=WIDER * rest.size)
    samples = np.array(
        [(p, t) for p in np.linspace(-REACH, REACH, 3) for t in np.linspace(-12.0, 12.0, 5)]
    )
    off = grid.states() - goal
    there = np.einsum("mi,ij,mj->m", off, rest.shape, off) <= rest.size
    table = build(grid, rates, samples, np.array([0.5, 0.01]), there, tolerance=1e-2, sweeps=60)
    return Controller(table, goal, rest, QUIET)


@dataclass(frozen=True)
class Landing:
    """How lamps came to rest.

    Attributes:
        state: at rest, or at the last time.
        rests: (n,) whether they stand on their base, at rest.
        time: (n,) s.
        torque: (n, 2) largest torque of the base's joint and the elbow, N m.
        clearance: (n,) m, least height of elbow and shade above the ground.
    """

    state: State
    rests: np.ndarray
    time: np.ndarray
    torque: np.ndarray
    clearance: np.ndarray


def level(state: State) -> np.ndarray:
    """(n, 4) the links' state as the table knows it, whatever turns the base has made.

    Args:
        state: arrays.
    """
    tilt = (state.q[2] + math.pi) % (2.0 * math.pi) - math.pi
    return np.stack(
        [state.q[3] + tilt, state.q[4], state.v[3] + state.v[2], state.v[4]], axis=1
    )


def torques(state: State, absorb: np.ndarray | None = None, t: Any = 0.0) -> Any:
    """What the landing controller does.

    Args:
        state: arrays of n.
        absorb: (n, 5) tries: the link's angle in the world and the shade's against it, to
            give to for some s, and how stiff, N m/rad. Below 0 s: the linear law without
            the table. Last, how hard the base is turned flat meanwhile, N m/rad. None for
            the table alone.
        t: s since touchdown.

    Returns:
        (2, n) torque of the base's joint and of the elbow, N m.
    """
    s = level(state)
    made = controller()
    wanted, known = controls(made, s)
    if absorb is not None:
        known = known & (absorb[:, 2] >= 0.0)
    if not known.all():
        rest = _rest()
        law = rest.hold - (s - made.destination) @ rest.gain.T
        wanted = np.where(known[:, None], wanted, law)
    p = np.clip(wanted[:, 0], -REACH, REACH)
    elbow = np.clip(wanted[:, 1], -LIMITS[1], LIMITS[1])
    knee = base_torque(MANY, s.T[:2], s.T[2:], p, elbow)
    if absorb is not None:
        # Not for the table: it may lift an edge of the base.
        link, shade, long, stiff, flat = absorb.T
        give, damp = t < long, 0.5 * np.sqrt(stiff)
        hard = np.clip(stiff * (link - s[:, 0]) - damp * s[:, 2], -LIMITS[0], LIMITS[0])
        knee = np.where(give, hard, knee)
        hard = np.clip(stiff * (shade - s[:, 1]) - damp * s[:, 3], -LIMITS[1], LIMITS[1])
        elbow = np.where(give, hard, elbow)
        # The table takes the base for flat. As long as it is not, its joint turns it so.
        tilt = s[:, 0] - state.q[3]
        turn = flat * (tilt + RIGHTING * state.v[2]) * np.minimum(np.abs(tilt) / TILTED, 1.0)
        knee = np.clip(knee + turn, -LIMITS[0], LIMITS[0])
    return np.stack([knee, elbow])


def _rest() -> Rest:
    """The linear law around standing, which `controller` makes sure there is."""
    rest = controller().rest
    assert rest is not None
    return rest


@lru_cache(1)
def _law() -> tuple[list[float], list[list[float]], list[list[float]], float, list[float]]:
    """The linear law in floats."""
    rest = _rest()
    return (
        rest.hold.tolist(), rest.gain.tolist(), rest.shape.tolist(), rest.size,
        rest.state.tolist(),
    )


def torques_one(state: State, absorb: np.ndarray | None = None, t: float = 0.0) -> tuple[Any, Any]:
    """The same for one lamp in floats: quickly, where the linear law holds it.

    Args:
        state: of the lamp, in floats.
        absorb: (5,) how to absorb the fall, or None for the table.
        t: s since touchdown.

    Returns:
        Torque of the base's joint and of the elbow, N m.
    """
    tilt = (state.q[2] + math.pi) % (2.0 * math.pi) - math.pi
    q = (state.q[3] + tilt, state.q[4])
    v = (state.v[3] + state.v[2], state.v[4])
    hold, gain, shape, size, goal = _law()
    off = [x - g for x, g in zip((*q, *v), goal, strict=True)]
    far = sum(a * x * b for row, a in zip(shape, off, strict=True)
              for x, b in zip(row, off, strict=True))
    if far > size or (absorb is not None and (t < absorb[2] or absorb[4])):
        rows = None if absorb is None else absorb[None]
        knee, elbow = torques(lamp.many([state]), rows, t)
        return float(knee[0]), float(elbow[0])
    p, elbow = (
        h - sum(x * a for x, a in zip(row, off, strict=True))
        for h, row in zip(hold, gain, strict=True)
    )
    elbow = lamp.clip(ONE, elbow, LIMITS[1])
    return base_torque(ONE, q, v, lamp.clip(ONE, p, REACH), elbow), elbow


def tries(count: int = 64) -> np.ndarray:
    """Ways to absorb a fall: the table first, then the linear law; then with the base turned
    flat, which lands what comes down tilted.

    Args:
        count: how many, always the same ones.

    Returns:
        (count, 5) for `torques`.
    """
    low, high = np.array([[-0.9, -2.5, 0.06, 8.0], [1.5, 0.7, 0.5, 50.0]])
    made = np.zeros((count, 5))
    made[:, :4] = np.random.default_rng(0).uniform(low, high, (count, 4))
    for first, flat in ((0, 0.0), (16, FLATTEN)):
        made[first:, 4] = flat
        for row, long in zip(made[first : first + 2], (0.0, -1.0), strict=False):
            row[:4] = [*REST, long, 0.0]
    return made


def absorb(state: State, ground: Ground = (), count: int = 64) -> np.ndarray:
    """For each lamp a way to absorb its fall that brings it to rest, found by trying.

    Args:
        state: arrays of n, at touchdown.
        ground: steps.
        count: how many ways there are.

    Returns:
        (n, 5) for `torques`; that of the table where none does.
    """
    n = len(state.q[0])
    ways = tries(count)
    found = np.repeat(ways[:1], n, axis=0)
    left = np.arange(n)
    for some in np.split(ways, [1, 2, *(k for k in (16, 32) if k < count)]):
        if not len(left) or not len(some):
            break
        each = np.repeat(left, len(some))
        landing = land(lamp.pick(state, each), np.tile(some, (len(left), 1)), ground)
        time = np.where(landing.rests, landing.time, np.inf).reshape(len(left), len(some))
        best = time.argmin(axis=1)
        good = np.isfinite(time.min(axis=1))
        found[left[good]] = some[best[good]]
        left = left[~good]
    return found


def quiet(state: State, share: float = 1.0) -> np.ndarray:
    """(n,) whether lamps stand on their base, at rest.

    Args:
        state: arrays of n.
        share: of `QUIET`, within which they are to be.
    """
    s = level(state)
    still = (np.abs(s - controller().destination) < share * QUIET).all(axis=1)
    flat = np.abs(s[:, 0] - state.q[3]) < 0.01
    return still & flat & (np.abs(state.v[0]) + np.abs(state.v[2]) < 0.01)


def land(
    state: State, ways: np.ndarray | None = None, ground: Ground = (), longest: float = 2.0
) -> Landing:
    """Bring lamps to rest.

    Args:
        state: arrays of n, at touchdown.
        ways: (n, 5) to absorb the fall, or None for the table.
        ground: steps.
        longest: s, after which what does not rest has failed.

    Returns:
        How they came to rest.
    """
    n = len(state.q[0])
    here = np.arange(n)
    final = State(*([np.array(a, float) for a in part] for part in state))
    rests, time = np.zeros(n, bool), np.full(n, np.inf)
    torque, kept = np.zeros((n, 2)), np.zeros((2, n))
    clear, least = np.full(n, np.inf), np.full(n, np.inf)
    for k in range(int(longest / STEP)):
        if k % EVERY == 0:
            given = torques(state, ways, k * STEP)
            kept = np.maximum(kept, np.abs(given))
            if k % 32 == 0:
                least = np.minimum(least, lamp.clearance(MANY, state, ground))
                rest = quiet(state)
                over = rest | (least < 0.0) | (abs(level(state)[:, 0] - state.q[3]) > 1.0)
                if over.any():
                    at = here[over]
                    _copy(final, at, lamp.pick(state, over))
                    rests[at] = (rest & (least > 0.0))[over]
                    time[at], torque[at], clear[at] = k * STEP, kept[:, over].T, least[over]
                    stay = ~over
                    here, state = here[stay], lamp.pick(state, stay)
                    kept, least, given = kept[:, stay], least[stay], given[:, stay]
                    ways = None if ways is None else ways[stay]
                    if not len(here):
                        break
        state, _, _ = lamp.step(MANY, state, given[0], given[1], ground)
    else:
        _copy(final, here, state)
        torque[here], clear[here] = kept.T, least
    return Landing(final, rests, time, torque, clear)


def _copy(final: State, at: np.ndarray, state: State) -> None:
    for part, values in zip(final, state, strict=True):
        for a, b in zip(part, values, strict=True):
            a[at] = b
