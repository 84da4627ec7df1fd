# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmark rows of state-space controllers: how long tables take, and figures under them."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable

import numpy as np
from bench_rows import Row
from installed import PACKAGE

PAPER = 341.0
"""s, the quickest of the six pendulum tables of van de Panne, Fiume and Vranesic (1990) on its
machine; of the car and the lamp it gives no times."""


def _spent(job: Callable[[], object], runs: int = 3) -> float:
    """s, the median of a few runs."""
    found = []
    for _ in range(runs):
        began = time.perf_counter()
        job()
        found.append(time.perf_counter() - began)
    return float(np.median(found))


def rows() -> list[Row]:
    """Rows of the benchmark."""
    control = f"{PACKAGE}.solvers.control"
    pendulum, street, parking, driving, landing = (
        importlib.import_module(f"{control}.{name}")
        for name in ("pendulum", "street", "parking_build", "driving", "landing")
    )
    sizes = importlib.import_module(f"{control}.parking").SIZES
    goal = np.radians(pendulum.DESTINATIONS["A"])
    table = _spent(lambda: pendulum.table(pendulum.literal_grid(), goal))
    made = [
        Row("pendulum table, 756 states, 11 torques", "the paper's machine", PAPER * 1e3,
            table * 1e3, limit=50.0),
    ]
    car = street.Car()
    place = street.parallel(car)
    parked = {}

    def build(name: str) -> None:
        parked[name] = parking.build(car, place, sizes[name])

    for name, limit in (("small", 1e3), ("fine", 1e4)):
        spent = _spent(lambda name=name: build(name), 1)
        made.append(
            Row(f"car table, {parked[name].free:,} free states", "no rival", spent * 1e3,
                spent * 1e3, limit=limit)
        )
    trip = None

    def park() -> None:
        nonlocal trip
        (trip,) = driving.drive(parked["fine"], np.array([6.0, 4.5, 0.3, 0.0, 0.0]))

    spent = _spent(park)
    made.append(
        Row("one car parks", "real time", float(trip.trip.times[-1]) * 1e3, spent * 1e3, goal=20.0)
    )
    spent = _spent(landing.controller.__wrapped__, 1)
    made.append(
        Row("lamp's landing table", "no rival", spent * 1e3, spent * 1e3, limit=2e3)
    )
    return made
