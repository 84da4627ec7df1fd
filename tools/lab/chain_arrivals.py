# SPDX-License-Identifier: GPL-3.0-or-later
"""How many starts of a chain of two links arrive, by how strong its muscles are.

    python tools/environments.py unit tools/lab/chain_arrivals.py [STARTS [SEED]]

Two rods of half a metre and 1 kg, their muscles some times as strong as holds what hangs on
them level. Starts are any angles, and speeds up to 200 degrees per second; they arrive where
all angles are within 5 degrees and all speeds within 25 degrees per second, within 8 s.
Printed are the share, the median time, and processor times: of the table, and of the law
about the destination (`run.widened`).
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "unit"))
    import conftest  # noqa: F401  makes the repository the package `poise`

from poise.solvers.control import plans
from poise.solvers.control.build import Rates
from poise.solvers.control.chain import Chain, rates_of
from poise.solvers.control.run import Controller, controls, stepped
from poise.solvers.dynamics.planar import Link

ROD, MASS, GRAVITY = 0.5, 1.0, 9.81
LONGEST, STEP = 8.0, 1.0 / 120.0


def chain(strength: float) -> Chain:
    """Two rods.

    Args:
        strength: of the muscles, times what holds level what hangs on them.
    """
    inertia = MASS * ROD**2 / 12.0
    links = (
        Link("upper", centre=(0.5 * ROD, 0.0), mass=MASS, inertia=inertia),
        Link("lower", "upper", (ROD, 0.0), (0.5 * ROD, 0.0), MASS, inertia),
    )
    holds = MASS * GRAVITY * ROD
    return Chain(links, (strength * 2.0 * holds, strength * 0.5 * holds), GRAVITY)


def random_starts(count: int, seed: int) -> np.ndarray:
    """(m, 4) any angles, speeds up to 200 degrees per second.

    Args:
        count: how many.
        seed: of the random numbers.
    """
    fastest = math.radians(200.0)
    most = np.array([np.pi, fastest, np.pi, fastest])
    return np.random.default_rng(seed).uniform(-most, most, (count, 4))


def arrivals(rates: Rates, controller: Controller, starts: np.ndarray) -> np.ndarray:
    """(m,) s after which starts arrive, nan for those that do not.

    Args:
        rates: the dynamics.
        controller: in control.
        starts: (m, 4).
    """
    states, times = starts.copy(), np.full(len(starts), np.nan)
    axes = controller.table.grid.axes
    for k in range(round(LONGEST / STEP)):
        off = states - controller.destination
        off = np.stack([axis.difference(x) for axis, x in zip(axes, off.T, strict=True)], axis=1)
        there = (np.abs(off) <= controller.arrived).all(axis=1) & np.isnan(times)
        times[there] = k * STEP
        go = np.isnan(times)
        if not go.any():
            break
        states[go] = stepped(rates, states[go], controls(controller, states[go])[0], STEP)
    return times


def main(count: int, seed: int) -> None:
    for strength in (2.0, 1.2, 0.8, 0.6):
        made = chain(strength)
        rates = rates_of(made)
        for plan in made.library():
            began = time.process_time()
            table = plans.table_of(plan, rates)
            built = time.process_time()
            controller = plans.controller_of(plan, table, rates)
            law = time.process_time() - built
            times = arrivals(rates, controller, random_starts(count, seed))
            came = np.isfinite(times)
            middle = np.median(times[came]) if came.any() else math.nan
            print(
                f"{strength:.1f} times, {' and '.join(f'{x:.1f}' for x in made.torques)} N m,"
                f" {plan.name}: {came.mean():.0%} arrive, median {middle:.2f} s; table of"
                f" {table.grid.size:,} states {built - began:.1f} s, law {law:.2f} s", flush=True,
            )


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 100,
        int(sys.argv[2]) if len(sys.argv) > 2 else 90125,
    )
