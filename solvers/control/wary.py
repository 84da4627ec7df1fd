# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers among things: what a table asks for, where that does not lead into one.

A table's controls are means between its nodes, and a node's own trajectory is not that of a state
beside it. So what is asked for is tried for a moment ahead; if a link would touch something, the
sampled control that does not, and is the cheapest by the table, is taken:

    c = argmin (t (1 + K . |c|) + f(E))

over those whose trajectories, of t seconds to the state E, are clear (van de Panne, Fiume and
Vranesic, "Reusable Motion Synthesis Using State-Space Controllers", 1990, section 3.5, from a
state instead of a node).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .build import UNKNOWN, Rates, Table
from .run import Rest
from .surroundings import Surroundings

AHEAD, STEPS = 0.15, 12  # s, and into how many steps they are cut
ROUGH = 0.04  # of the reach, what a look without the change of accelerations may be off
TRIED = 256  # states of a law's domain that are looked at


class Wary:
    """What keeps a controlled figure clear of things.

    A look ahead tells by how much the way is clear. Until that is used up, as links move and
    accelerations change from step to step, another look would say the same.

    Args:
        table: of the controller.
        rates: the figure's dynamics.
        about: what it may not touch.
    """

    def __init__(self, table: Table, rates: Rates, about: Surroundings) -> None:
        self._table, self._rates, self._about = table, rates, about
        # State and accelerations of the last look, and how far links may move off its way ahead.
        self._seen: tuple[list[float], list[float]] = ([], [])
        self._room = 0.0

    def __call__(self, state: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """(c,) what is asked for, or what keeps clear; the former where nothing does.

        Args:
            state: (d,).
            wanted: (c,).
        """
        # At first as if it went on with the accelerations of the moment.
        slope = self._rates(state[None], wanted[None])[0]
        now, bent = state.tolist(), slope[1::2].tolist()
        if self._swept(now, bent) < self._room - self._about.grain:
            return wanted
        h = AHEAD * np.arange(1, STEPS + 1)[:, None] / STEPS
        soon = np.repeat(state[None], STEPS, axis=0)
        soon[:, ::2] += h * state[1::2] + 0.5 * h * h * slope[1::2]
        self._room = self._about.room(soon, ROUGH * self._about.reach)
        if self._room > 0.0:
            self._seen = (now, bent)
            return wanted
        if self._clear(state, wanted[None])[0][0]:
            return wanted
        samples = self._table.samples
        clear, ends = self._clear(state, samples)
        if not clear.any():
            return wanted
        # Nodes without a way count in full: what leads away from them is better.
        indices, weights, inside = self._table.grid.corners(ends)
        value = np.where(inside, (weights * self._table.cost[indices]).sum(axis=1), UNKNOWN)
        price = AHEAD * (1.0 + np.abs(samples) @ self._table.weights) + value
        return samples[int(np.argmin(np.where(clear, price, np.inf)))]

    def _swept(self, now: list[float], bent: list[float]) -> float:
        """m, by which any point of the way ahead is off that of the last clear one, at most."""
        if self._room <= 0.0:
            return math.inf
        before, slope = self._seen
        total = 0.0
        for k, far in enumerate(self._about.swept):
            off = abs(now[2 * k] - before[2 * k])
            off += AHEAD * abs(now[2 * k + 1] - before[2 * k + 1])
            total += far * (off + 0.5 * AHEAD * AHEAD * abs(bent[k] - slope[k]))
        return total

    def _clear(self, state: np.ndarray, controls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(k,) whether the ways ahead under some controls are clear, (k, d) where they end."""
        h = AHEAD / STEPS
        at = np.repeat(state[None], len(controls), axis=0)
        passed = []
        for _ in range(STEPS):
            slope = self._rates(at, controls)
            at = at + 0.5 * h * (slope + self._rates(at + h * slope, controls))
            passed.append(at)
        met = self._about.blocks(np.concatenate(passed)).reshape(STEPS, -1)
        return ~met.any(axis=0), at


def within(law: Rest, about: Surroundings) -> Rest:
    """A law of rest whose domain is clear of things: the ellipsoid made as small as it has to be.

    Args:
        law: the law.
        about: what the figure may not touch.
    """
    factor = np.linalg.inv(np.linalg.cholesky(law.shape)).T  # of P^-1
    rng = np.random.default_rng(0)
    ways = rng.normal(size=(TRIED, len(law.state)))
    ways *= (rng.uniform(size=TRIED) ** 0.3 / np.linalg.norm(ways, axis=1))[:, None]
    size = law.size
    for _ in range(12):
        if (about.touched(law.state + np.sqrt(size) * ways @ factor.T) < 0).all():
            break
        size *= 0.5
    return replace(law, size=size)
