# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers among things: what a table asks for, where that does not lead into one.

A table's controls are means between its nodes, and a node's own trajectory is not that of a state
beside it. So what is asked for is tried for a moment ahead; if a link would touch something, the
sampled control that does not, and is the cheapest by the table, is taken:

    c = argmin (t (1 + K . |c|) + f(E))

over those whose trajectories, of t seconds to the state E, are clear (van de Panne, Fiume and
Vranesic, "Reusable Motion Synthesis Using State-Space Controllers", 1990, section 3.5, from a
state instead of a node).

Beside a destination that is close to something the nodes around it are too coarse: from one at
which a link moves towards that, every trajectory ends between it and a node that was removed. So
the law that holds the figure at the destination is followed from nodes, too. Where its way home is
clear, their cost is known, and the table has to lead only there.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from .build import UNKNOWN, Blocked, Rates, Table
from .run import STRIDE, Rest, astray, homeward, there
from .surroundings import Surroundings

AHEAD, STEPS = 0.15, 12  # s, and into how many steps they are cut
ROUGH = 0.04  # of the reach, what a look without the change of accelerations may be off
BETWEEN = 4  # times that each step of a way home is looked at
SETTLED = 0.05  # of what counts as arrived, to where ways home are followed


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


class Home:
    """Ways home to a state of rest, under the law about it.

    Args:
        law: the law.
        rates: the figure's dynamics.
        about: what it may not touch.
        periods: (d,) after which coordinates are the same again, 0 for those that are bounded.
        arrived: (d,) how near to the state counts as there.
    """

    def __init__(
        self, law: Rest, rates: Rates, about: Surroundings, periods: np.ndarray,
        arrived: np.ndarray,
    ) -> None:
        self.law, self._rates, self._about = law, rates, about
        self._periods, self._arrived = periods, arrived
        # m, for each coordinate, that links move at the most until a moment from now.
        self._moves = np.outer(about.swept, (1.0, AHEAD)).ravel()
        # The last clear way, and how far links may be off it; for how many questions to wait.
        self._way, self._room, self._wait = np.empty((0, 0)), 0.0, 0

    def __call__(self, state: np.ndarray) -> bool:
        """Whether the way home from a state is clear.

        Args:
            state: (d,).
        """
        if self._room > 0.0 and (np.abs(self._way - state) @ self._moves).min() < self._room:
            return True
        self._wait -= 1
        if self._wait > 0:
            return False
        about = self._about
        ways, room = self._ways(state[None], about.blocks), 0.0
        if self._came(ways[-1])[0]:
            self._way = _between(ways)[:, 0]
            room = about.room(self._way, about.spare)
        self._room = room + about.spare - about.grain if room > 0.0 else 0.0
        # Who moves on a step at a time does not look farther than a step for each.
        self._wait = 0 if room > 0.0 else len(ways)
        return room > 0.0

    def costs(self, states: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What ways home cost, and what the law asks for where they begin.

        Args:
            states: (m, d).
            weights: (c,) K, s per s and unit of control.

        Returns:
            (m,) s, infinite beyond the law's domain and where a way is not clear; (m, c).
        """
        law = self.law
        off = astray(law, states, self._periods)
        near = np.flatnonzero(np.einsum("mi,ij,mj->m", off, law.shape, off) <= law.size)
        cost, given = np.full(len(states), np.inf), np.zeros((len(states), len(law.hold)))
        given[near] = np.clip(law.hold - off[near] @ law.gain.T, *law.limits)
        if len(near):
            ways = self._ways(states[near])
            spent = np.where(self._came(ways[-1]), 0.0, np.inf)
            for at, then in itertools.pairwise(ways):
                on = np.flatnonzero((at != then).any(axis=1) & np.isfinite(spent))
                looked = _between(np.stack([at[on], then[on]]))[1:]
                met = self._about.blocks(looked.reshape(-1, states.shape[1]))
                off = astray(law, at[on], self._periods)
                asked = np.clip(law.hold - off @ law.gain.T, *law.limits)
                price = STRIDE * (1.0 + np.abs(asked) @ weights)
                price[~(np.abs(off) > self._arrived).any(axis=1)] = 0.0
                price[met.reshape(BETWEEN, -1).any(axis=0)] = np.inf
                spent[on] += price
            cost[near] = spent
        return cost, given

    def _ways(self, states: np.ndarray, blocked: Blocked | None = None) -> np.ndarray:
        """(n, m, d) ways from states; not much beyond where one is blocked."""
        near, ways = SETTLED * self._arrived, [states]
        for at in homeward(self._rates, self.law, states, self._periods, near):
            ways.append(at)
            if blocked and len(ways) % STEPS == 0 and blocked(np.concatenate(ways[-STEPS:])).any():
                break
        return np.stack(ways)

    def _came(self, ends: np.ndarray) -> np.ndarray:
        return there(self.law, ends, self._periods, SETTLED * self._arrived)


def _between(ways: np.ndarray) -> np.ndarray:
    """(BETWEEN (n - 1) + 1, m, d) ways (n, m, d), with looks between their steps."""
    shares = (np.arange(1, BETWEEN + 1) / BETWEEN)[:, None, None]
    found = ways[:-1, None] + shares * np.diff(ways, axis=0)[:, None]
    return np.concatenate([ways[:1], found.reshape(BETWEEN * (len(ways) - 1), *ways.shape[1:])])
