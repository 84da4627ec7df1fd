# SPDX-License-Identifier: GPL-3.0-or-later
"""How many touchdowns of the lamp come to rest on its base.

    python tools/environments.py unit tools/lab/lamp_landings.py [WILD [SEED]]

Printed are the shares of the touchdowns of all jumps that are shipped, begun half a degree off,
and of wild ones: by the landing table alone, and with the tries that absorb a fall where it
fails; and the processor time of both.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "unit"))
    import conftest  # noqa: F401  makes the repository the package `poise`

from poise.solvers.control import lamp, lamp_data, lamp_search, landing
from poise.solvers.control.lamp import State
from poise.solvers.control.lamp_programs import fly
from poise.solvers.dynamics.contact import MANY


def wild(count: int, seed: int) -> State:
    """Touchdowns with everything off: base 26, links 40 and 52 degrees, falling at 1 to 2 m/s.

    Args:
        count: how many.
        seed: of the random numbers.
    """
    rng = np.random.default_rng(seed)
    state = lamp.many([lamp.standing()] * count)
    q, v = state.q, state.v
    for k, degrees in ((2, 26.0), (3, 40.0), (4, 52.0)):
        q[k] = q[k] + np.radians(rng.uniform(-degrees, degrees, count))
    q[3] = q[3] - q[2]
    for k, (low, high) in enumerate(((-0.2, 0.2), (-2.0, -1.0), (-0.5, 0.5), (-1, 1), (-1, 1))):
        v[k] = rng.uniform(low, high, count)
    q[1] = q[1] - lamp.sole(MANY, state)
    corners = lamp.FIGURE.points(np.sin, np.cos, q, v)
    return State(q, v, [x for x, *_ in corners])


def of_jumps(each: int) -> tuple[State, float]:
    """Touchdowns of all jumps that are shipped, and the share of flights that touch down.

    Args:
        each: how many of each jump, from starts half a degree off.
    """
    programs = np.repeat([p for _, p in lamp_data.JUMPS], each, axis=0)
    start, count = lamp_search.knocked(each), len(lamp_data.JUMPS)
    start = State(*([np.tile(a, count) for a in part] for part in start))
    flight = fly(programs, 0, start=start)
    return lamp.pick(flight.state, flight.landed), float(flight.landed.mean())


def report(name: str, state: State) -> None:
    """One line.

    Args:
        name: of the touchdowns.
        state: the touchdowns.
    """
    began = time.process_time()
    plain = landing.land(state).rests.mean()
    tried = landing.land(state, landing.absorb(state))
    spent = time.process_time() - began
    seconds = np.median(tried.time[tried.rests])
    print(
        f"{name}: {plain:.1%} by the table alone, {tried.rests.mean():.1%} with tries, of"
        f" {len(state.q[0])}; median {seconds:.2f} s to rest; {spent:.1f} s of processor time",
        flush=True,
    )


def main(count: int, seed: int) -> None:
    state, share = of_jumps(10)
    report(f"Jumps, {share:.1%} of which touch down", state)
    report("Wild", wild(count, seed))


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 300,
        int(sys.argv[2]) if len(sys.argv) > 2 else 90125,
    )
