# SPDX-License-Identifier: GPL-3.0-or-later
"""What the pendulum's controllers cost beside near-optimal ones, for several tables.

    python tools/environments.py unit tools/lab/pendulum_costs.py [STARTS]

For each of the six controllers: the excess of the cost (time and effort), simulated from
the same starts to the same arrival set - 5 degrees, 25 degrees per second -, over that of
a table of 240 x 141 states and 21 torques, and how many starts never arrive.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "unit"))

import conftest  # noqa: F401  makes the repository the package `poise`
from poise.solvers.control import pendulum
from poise.solvers.control.build import Table

FINE = (240, 141)
STEP, LONGEST = 1.0 / 240.0, 12.0


def simulated_cost(table: Table, destination: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """(m,) s that starts cost until they arrive, nan for those that never do.

    Args:
        table: interpolated n-linearly, nothing else.
        destination: (2,) rad, rad/s.
        starts: (m, 2).
    """
    state, cost = starts.copy(), np.zeros(len(starts))
    arrived = np.full(len(starts), np.nan)
    axis = table.grid.axes[0]
    for _ in range(round(LONGEST / STEP)):
        off = state - destination
        off[:, 0] = axis.difference(off[:, 0])
        there = (np.abs(off) <= pendulum.ARRIVED).all(axis=1) & np.isnan(arrived)
        arrived[there] = cost[there]
        if not np.isnan(arrived).any():
            break
        indices, weights, _ = table.grid.corners(state)
        torque = (weights * table.controls[indices, 0]).sum(axis=1)[:, None]
        half = state + 0.5 * STEP * pendulum.rates(state, torque)
        state = state + STEP * pendulum.rates(half, torque)
        state[:, 1] = np.clip(state[:, 1], -pendulum.FASTEST, pendulum.FASTEST)
        cost += STEP * (1.0 + pendulum.EFFORT * np.abs(torque[:, 0]))
    return arrived


def random_starts(count: int, seed: int = 0) -> np.ndarray:
    """(m, 2) all angles, speeds up to 400 degrees per second.

    Args:
        count: how many.
        seed: of the random numbers.
    """
    rng = np.random.default_rng(seed)
    fastest = np.radians(400.0)
    return rng.uniform((-np.pi, -fastest), (np.pi, fastest), (count, 2))


def excess(table: Table, destination: np.ndarray, starts: np.ndarray, best: np.ndarray):
    """Share by which what arrives costs more than the best, and how many do not arrive.

    Args:
        table: the table.
        destination: where it leads.
        starts: (m, 2).
        best: (m,) near-optimal costs.
    """
    cost = simulated_cost(table, destination, starts)
    came = ~np.isnan(cost)
    return cost[came].sum() / best[came].sum() - 1.0, int((~came).sum())


def main(count: int) -> None:
    starts = random_starts(count)
    kinds: dict[str, tuple[int, int] | None] = {"literal 36 x 21": None}
    for wide, high in ((30, 25), (26, 21), (22, 19), (20, 15), (16, 13)):
        kinds[f"{wide} x {high} = {wide * high}"] = wide, high
    print(f"{'':18s}" + "".join(f"{name:>12s}" for name in pendulum.DESTINATIONS))
    lines: dict[str, list[str]] = {kind: [] for kind in kinds}
    for degrees in pendulum.DESTINATIONS.values():
        destination = np.radians(degrees)
        fine = pendulum.table(pendulum.grid_around(destination, FINE, 1.0), destination, 21)
        best = simulated_cost(fine, destination, starts)
        for kind, shape in kinds.items():
            grid = (
                pendulum.literal_grid()
                if shape is None
                else pendulum.grid_around(destination, shape)
            )
            share, lost = excess(pendulum.table(grid, destination), destination, starts, best)
            lines[kind].append(f"{share:>8.1%} {f'({lost})' if lost else '':4s}")
    for kind, cells in lines.items():
        print(f"{kind:18s}" + "".join(f"{cell:>12s}" for cell in cells))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
