# SPDX-License-Identifier: GPL-3.0-or-later
"""What the pendulum's controllers cost beside near-optimal ones, for several tables.

    python tools/environments.py unit tools/lab/pendulum_costs.py [STARTS [SEED [CONTROLLERS]]]

For each of the six controllers: by how much its cost (time and effort), simulated from the
same starts to the same arrival set - 5 degrees, 25 degrees per second -, exceeds what is
near-optimal, and in brackets how many starts never arrive. Near-optimal is a table of 180 x
105 states that may end anywhere in the set; *fine* is one as fine that leads to the
destination itself, as all others do: what it costs more is the price of that. The literal
table is interpolated and nothing else, as in the paper; the others are the controllers as
they are used (`run.controls`), with the law about a state of rest: those of the library, one
spread for any destination, and for each controller the fewest states that were found to cost
within 3 points of what *fine* does. Where the literal table traps starts, the second figure of the
others is over those that it does not.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "unit"))

import conftest  # noqa: F401  makes the repository the package `poise`
from poise.solvers.control import pendulum
from poise.solvers.control.run import Controller, controls

FINE = (180, 105)
ANY = (pendulum.EFFICIENT, pendulum.POWER)
FEWEST = {
    "A": ((20, 13), 1.3), "B": ((18, 13), 1.3), "C": ((18, 13), 1.3),
    "D": ((24, 15), 1.3), "E": ((28, 18), 1.15), "F": ((16, 11), 1.15),
}
STEP, LONGEST = 1.0 / 240.0, 12.0


def simulated_cost(
    controller: Controller, starts: np.ndarray, literal: bool = False
) -> np.ndarray:
    """(m,) s that starts cost until they arrive, nan for those that never do.

    Args:
        controller: whose.
        starts: (m, 2).
        literal: whether its table is interpolated n-linearly, and nothing else.
    """
    state, cost = starts.copy(), np.zeros(len(starts))
    arrived = np.full(len(starts), np.nan)
    table = controller.table
    for _ in range(round(LONGEST / STEP)):
        off = state - controller.destination
        off[:, 0] = table.grid.axes[0].difference(off[:, 0])
        there = (np.abs(off) <= pendulum.ARRIVED).all(axis=1) & np.isnan(arrived)
        arrived[there] = cost[there]
        go = np.isnan(arrived)
        if not go.any():
            break
        torque = np.zeros((len(state), 1))
        if literal:
            indices, weights, _ = table.grid.corners(state[go])
            torque[go, 0] = (weights * table.controls[indices, 0]).sum(axis=1)
        else:
            torque[go] = controls(controller, state[go])[0]
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


def near_optimal(name: str, starts: np.ndarray, shape: tuple[int, int] = FINE) -> np.ndarray:
    """(m,) s that starts cost at the least, nearly.

    Args:
        name: of the controller.
        starts: (m, 2).
        shape: of the table, which may end anywhere in the arrival set.
    """
    destination = np.radians(pendulum.DESTINATIONS[name])
    grid = pendulum.grid_around(destination, shape, 1.0)
    off = grid.states() - destination
    off[:, 0] = grid.axes[0].difference(off[:, 0])
    ends = (np.abs(off) <= pendulum.ARRIVED + 1e-9).all(axis=1)
    made = pendulum.table(grid, destination, ends=ends)
    return simulated_cost(Controller(made, destination, None, pendulum.ARRIVED), starts, True)


def even(name: str, shape: tuple[int, int] = FINE) -> Controller:
    """A controller of an evenly spaced table, without a law.

    Args:
        name: of it.
        shape: of the table.
    """
    destination = np.radians(pendulum.DESTINATIONS[name])
    made = pendulum.table(pendulum.grid_around(destination, shape, 1.0), destination)
    return Controller(made, destination, None, pendulum.ARRIVED)


def excess(cost: np.ndarray, best: np.ndarray, among: np.ndarray | None = None) -> float:
    """Share by which what arrives costs more than the best.

    Args:
        cost: (m,) s, nan for what does not arrive.
        best: (m,) s.
        among: (m,) bool, which are counted; None for all.
    """
    came = ~np.isnan(cost)
    if among is not None:
        came &= among
    return float(cost[came].sum() / best[came].sum()) - 1.0


def main(count: int, seed: int, names: str) -> None:
    starts = random_starts(count, seed)
    for name in names:
        best = near_optimal(name, starts)
        literal = simulated_cost(pendulum.controller(name, literal=True), starts, True)
        came = ~np.isnan(literal)
        fine = simulated_cost(even(name), starts, True)
        cells = [
            f"fine {excess(fine, best):.1%}",
            f"literal {excess(literal, best):.1%} ({(~came).sum()})",
        ]
        for what, spread in (
            ("library", pendulum.SPREAD[name]), ("any", ANY), ("fewest", FEWEST[name])
        ):
            cost = simulated_cost(pendulum.controller(name, spread=spread), starts)
            same = "" if came.all() else f" / {excess(cost, best, came):.1%}"
            lost = np.isnan(cost).sum()
            (angles, speeds), power = spread
            cells.append(
                f"{what} {angles} x {speeds} = {angles * speeds} by {power}:"
                f" {excess(cost, best):.1%}{same} ({lost})"
            )
        print(f"{name}  {'; '.join(cells)}", flush=True)


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 60,
        int(sys.argv[2]) if len(sys.argv) > 2 else 0,
        sys.argv[3] if len(sys.argv) > 3 else "ABCDEF",
    )
