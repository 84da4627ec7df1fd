# SPDX-License-Identifier: GPL-3.0-or-later
"""How many cars park, by the size of the table and by how far ahead they look.

    python tools/environments.py unit tools/lab/parking_table.py [STARTS [SEED [SIZE ...]]]

For each size: free states, processor time and memory of the build. For each look-ahead -
moves while rolling and at rest, the shipped one first -: the share that parks within 40 s, judged
by where the trip ends; the median and the 95th percentile of the time it took, collisions found by
another method at 256 Hz, and how much quicker than real time cars are simulated, one at a time, in
processor time. Of the shipped look-ahead, also what each that fails says.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "unit"))

import conftest  # noqa: F401  makes the repository the package `poise`
from parking_cases import starts, touched
from poise.solvers.control.driving import LONGEST, drive
from poise.solvers.control.looking import AHEAD, Driver
from poise.solvers.control.parking import ARRIVED, SIZES
from poise.solvers.control.parking_build import build
from poise.solvers.control.street import Car, parallel

LOOKS = (AHEAD, (3, 3), (1, 6), (1, 1))


def main(count: int, seed: int, sizes: list[str]) -> None:
    """Print the table.

    Args:
        count: starts.
        seed: of the starts.
        sizes: names.
    """
    car = Car()
    street = parallel(car)
    begins = starts(car, street, count, seed)
    made = {}
    for name in sizes:
        began = time.process_time()
        made[name] = parking = build(car, street, SIZES[name])
        spent = time.process_time() - began
        tracemalloc.start()
        build(car, street, SIZES[name])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        table = parking.table
        print(
            f"{name}: {parking.free:,} free states of {table.grid.size:,}, built in {spent:.2f} s"
            f" of processor time, {peak / 1e6:.0f} MB, {table.sweeps} sweeps", flush=True,
        )
    for ahead in LOOKS:
        for name, parking in made.items():
            report(name, parking, street, begins, ahead)


def parks(street, one) -> bool:
    """Whether a drive ends where and how a car counts as parked, within 40 s.

    Args:
        street: the destination.
        one: the drive.
    """
    last = one.trip.knots[-1]
    off = one.trip.car.centre(last[:3]) - street.destination
    there = np.hypot(off[0], off[1]) <= ARRIVED[0] and abs(off[2]) <= ARRIVED[1]
    return bool(there and last[4] == 0.0 and one.parked is not None and one.parked <= LONGEST)


def report(name, parking, street, begins, ahead) -> None:
    """One line.

    Args:
        name: of the size.
        parking: the controller.
        street: where.
        begins: (m, 5) starts.
        ahead: the look-ahead.
    """
    driver = Driver(parking, ahead)
    drives = drive(parking, begins, driver=driver)
    spent = np.array([x.parked for x in drives if parks(street, x)])
    hits = sum(touched(street, x.trip) for x in drives)
    quick = []
    for begin in begins[:20]:
        began = time.process_time()
        single = drive(parking, begin[None], driver=driver)[0]
        quick.append(single.trip.times[-1] / max(time.process_time() - began, 1e-9))
    middle, late = np.percentile(spent, [50, 95]) if len(spent) else (np.nan, np.nan)
    print(
        f"{name}, {ahead[0]} and {ahead[1]} moves: {100.0 * len(spent) / len(begins):.1f} % parked,"
        f" {middle:.1f} s median, {late:.1f} s 95 %, {hits} touched, {np.median(quick):.0f} x real"
        " time", flush=True,
    )
    if ahead == AHEAD:
        for begin, one in zip(begins, drives, strict=True):
            if one.said:
                print(f"    from {np.round(begin, 2).tolist()}: {one.said}", flush=True)


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 1000,
        int(sys.argv[2]) if len(sys.argv) > 2 else 2026,
        sys.argv[3:] or list(reversed(SIZES)),  # fine first
    )
