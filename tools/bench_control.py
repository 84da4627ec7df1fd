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


def _among_things(control: str) -> list[Row]:
    """Figures of one and of two links under a controller, alone and beside a block."""
    plans, chains, runs, about = (
        importlib.import_module(f"{control}.{name}")
        for name in ("plans", "chain", "run", "surroundings")
    )
    Link = importlib.import_module(f"{PACKAGE}.solvers.dynamics.planar").Link
    rod = Link("rod", centre=(0.5, 0.0), mass=1.0, inertia=1.0 / 12.0)
    arm = Link("arm", "rod", (1.0, 0.0), (0.25, 0.0), 0.5, 0.5 * 0.25 / 12.0)
    corners = np.array([(0.6, 0.3), (0.8, 0.3), (0.8, 0.5), (0.6, 0.5)])
    block = about.Silhouette("Block", corners[[[0, 1, 2], [0, 2, 3]]])
    times, made = np.arange(0.0, 4.0, 1.0 / 48.0), []
    for links, torques, named in (((rod,), (10.0,), "pendulum"),
                                  ((rod, arm), (30.0, 5.0), "figure of two links")):
        chain = chains.Chain(links, torques)
        rates, pose = chains.rates_of(chain), np.radians((80.0, 0.0, 0.0, 0.0)[:2 * len(links)])
        plan = chain.plan("Up", pose)
        for things, place in (((), "alone"), ((block,), "beside a block")):
            near = about.Surroundings(links, things, 0.06) if things else None
            led = plans.controller_of(plan, plans.table_of(plan, rates, None, near), rates, near)
            start = np.radians((-30.0, 0.0, 20.0, 0.0)[:2 * len(links)])
            script = [runs.Command(led, 9.0)]
            spent = _spent(lambda r=rates, a=start, s=script: runs.run(r, a, s, times))
            made.append(Row(f"{named} under a controller, {place}", "real time", times[-1] * 1e3,
                            spent * 1e3, goal=20.0))
    return made


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
    made += _among_things(control)
    spent = _spent(landing.controller.__wrapped__, 1)
    made.append(
        Row("lamp's landing table", "no rival", spent * 1e3, spent * 1e3, limit=2e3)
    )
    return made
