# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers by dynamic programming over state space.

van de Panne, Fiume and Vranesic, "Reusable Motion Synthesis Using State-Space
Controllers" (1990), section 3.5: from each node of a table, and for each sampled control
c, the figure is simulated until it leaves the box of the node's neighbours, at time t_E in
state E. What it costs to get from the node S to a destination is

    f(S) = min_c (t_E (1 + K . |c|) + f(E))

with f(E) interpolated between nodes. Destinations cost nothing. Unknown values start
large but finite: if both neighbours had to be known first, hardly a state would ever be
reached. A state whose cost stays of that size cannot arrive; it is marked as such, and
weights of such nodes are never given to others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from .grid import Grid

UNKNOWN = 1e3
"""s, the cost of a state from which no way is known yet."""

Rates = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(m, d) states and (m, c) controls -> (m, d) time derivatives."""

Blocked = Callable[[np.ndarray], np.ndarray]
"""(m, d) states -> (m,) whether the figure touches something there."""

PARTED = 0.75  # share of the controls' range
LOOKS = 4  # times that each step of a local trajectory is looked at for what is in the way


@dataclass(frozen=True)
class Table:
    """A controller: what to do in each state.

    Attributes:
        grid: the nodes.
        controls: (size, c) best control at each node.
        cost: (size,) s, of the way from each node to a destination; `unknown` where
            there is none, or where the node was removed.
        samples: (k, c) the controls that were tried.
        weights: (c,) K, s per s and unit of control.
        sweeps: how many times all values were improved.
        change: s, by which the last sweep changed a value at the most.
        unknown: s, the cost of nodes without a way.
    """

    grid: Grid
    controls: np.ndarray
    cost: np.ndarray
    samples: np.ndarray
    weights: np.ndarray
    sweeps: int
    change: float
    unknown: float = UNKNOWN

    @cached_property
    def reached(self) -> np.ndarray:
        """(size,) from where a way is known."""
        return self.cost < 0.5 * self.unknown

    @cached_property
    def parted(self) -> list[float]:
        """(c,) by how much controls of nodes differ that are not interpolated any more."""
        return (PARTED * np.ptp(self.samples, axis=0)).tolist()

    def value(self, states: np.ndarray) -> np.ndarray:
        """(m,) cost from states, interpolated; `UNKNOWN` outside, and beside nodes without a way.

        Args:
            states: (m, d).
        """
        indices, weights, inside = self.grid.corners(states)
        inside &= (self.reached[indices] | (weights < 1e-9)).all(axis=1)
        return np.where(inside, (weights * self.cost[indices]).sum(axis=1), UNKNOWN)


def build(
    grid: Grid,
    rates: Rates,
    samples: np.ndarray,
    weights: np.ndarray,
    destinations: np.ndarray,
    homes: np.ndarray | None = None,
    longest: float = 1.0,
    tolerance: float = 1e-3,
    sweeps: int = 400,
    blocked: Blocked | None = None,
    progress: Callable[[float], None] | None = None,
) -> Table:
    """Find the best control at every node.

    Args:
        grid: the nodes.
        rates: the dynamics.
        samples: (k, c) controls to try.
        weights: (c,) K.
        destinations: (size,) bool, nodes where the motion may end.
        homes: (size,) s, cost of nodes from which something else than the table leads on, infinite
            at others; None for no such nodes.
        longest: s that a node's own box may hold a trajectory for.
        tolerance: s; the values are taken as found when none changes by more.
        sweeps: at the most.
        blocked: where something is in the way; such nodes are removed, and trajectories that
            come by such states do not count. None for nothing.
        progress: told the share that is done; raises Cancelled to stop.

    Returns:
        The table.
    """
    told = progress or _ignore
    states, spacing = grid.states(), grid.spacing()
    n, k = len(states), len(samples)
    ends, times, clear = _to_edge(states, spacing, rates, samples, longest, blocked, told)
    indices, shares, inside = grid.corners(ends)
    inside &= (times < longest) & clear
    if blocked is None:
        free = np.ones(n, bool)
    else:
        free = ~blocked(states)
        inside &= (free[indices] | (shares == 0.0)).all(axis=1) & np.repeat(free, k)
        destinations = destinations & free
    shares[~inside] = 0.0
    rows = np.repeat(np.arange(n * k), indices.shape[1])
    ways = sparse.csr_matrix((shares.ravel(), (rows, indices.ravel())), shape=(n * k, n))
    price = times * np.tile(1.0 + np.abs(samples) @ weights, n) + np.where(inside, 0.0, UNKNOWN)
    known = np.where(destinations, 0.0, np.inf if homes is None else homes)
    fixed = np.isfinite(known)
    cost = np.where(fixed, known, UNKNOWN)
    change, done = np.inf, 0
    while done < sweeps and change >= tolerance:
        found = np.minimum((price + ways @ cost).reshape(n, k).min(axis=1), UNKNOWN)
        found[fixed] = known[fixed]
        change, done = float(np.abs(found - cost).max()), done + 1
        cost = found
        if done % 8 == 0:  # what is left falls roughly as the logarithm of the change does
            left = np.log(max(change, tolerance) / tolerance) / np.log(UNKNOWN / tolerance)
            told(0.5 + 0.5 * (1.0 - float(left)))
    best = (price + ways @ cost).reshape(n, k).argmin(axis=1)
    return Table(grid, samples[best], cost, samples, np.asarray(weights, float), done, change)


def _ignore(fraction: float) -> None:
    """Progress that nobody watches."""


def memory(nodes: int, dimensions: int, samples: int) -> int:
    """Bytes that `build` takes at its most, roughly.

    Args:
        nodes: of the grid.
        dimensions: of the state.
        samples: controls that are tried.
    """
    # Per node and control: where it ends and how (7 d numbers while it is followed), then the
    # corners, their weights, and the matrix of both.
    return nodes * samples * 8 * (7 * dimensions + 5 * 2**dimensions)


def _to_edge(
    states: np.ndarray, spacing: np.ndarray, rates: Rates, samples: np.ndarray, longest: float,
    blocked: Blocked | None, told: Callable[[float], None],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Simulate from all nodes under all controls to the edge of their neighbours' box.

    Steps are as long as a quarter of the box takes at the rates of the moment (Heun's
    rule); the last one is cut where it crosses the edge.

    Returns:
        Where each ends, after how long, and whether nothing was in the way.
    """
    n, d = states.shape
    k = len(samples)
    start = np.repeat(states, k, axis=0)
    box = np.repeat(spacing, k, axis=0)
    control = np.tile(samples, (n, 1))
    moved, time = np.zeros((n * k, d)), np.zeros(n * k)
    clear = np.ones(n * k, bool)
    active = np.arange(n * k)
    for _ in range(64):
        at, c = start[active] + moved[active], control[active]
        slope = rates(at, c)
        room = np.where(slope > 0.0, box[active, :, 1], box[active, :, 0])
        with np.errstate(divide="ignore"):
            h = np.minimum((0.25 * room / np.abs(slope)).min(axis=1), longest)
        step = 0.5 * h[:, None] * (slope + rates(at + h[:, None] * slope, c))
        before = moved[active]
        # The share of the step at which the first coordinate reaches the edge.
        limit = np.where(step > 0.0, box[active, :, 1], -box[active, :, 0])
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(step != 0.0, (limit - before) / step, np.inf)
        share = np.where(share < 0.0, np.inf, share).min(axis=1)
        out = share <= 1.0
        part = np.where(out, share, 1.0)
        moved[active] = before + part[:, None] * step
        time[active] += part * h
        if blocked is not None:
            for look in np.arange(1, LOOKS + 1) / LOOKS:
                there = start[active] + before + (look * part)[:, None] * step
                clear[active] &= ~blocked(there)
            out |= ~clear[active]
        active = active[~out & (time[active] < longest)]
        told(0.5 * (1.0 - len(active) / len(time)))
        if not len(active):
            break
    else:
        time[active] = longest
    return start + moved, np.minimum(time, longest), clear
