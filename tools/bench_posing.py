# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmark rows of pose control: gains, and a figure of 20 joints."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

import numpy as np
from bench_rows import Row, side_by_side
from installed import PACKAGE

SECONDS, FPS, JOINTS = 10.0, 24, 20


def _gains() -> Row:
    posing = importlib.import_module(f"{PACKAGE}.solvers.posing")
    from scipy.special import lambertw

    rng = np.random.default_rng(0)
    tension, end = 10 ** rng.uniform(-4.0, -0.1, 10**6), rng.uniform(0.1, 2.0, 10**6)
    plain, ours = side_by_side(
        lambda: -(1.0 + lambertw(-tension / np.e, -1).real) / end,
        lambda: posing.critical_gain(1.0, 0.0, tension, end),
        runs=3,
    )
    return Row(
        "a million gains from rest", "scipy's lambertw alone", plain, ours,
        note="ours takes any start and tells how many gains there are",
    )


def _figure() -> list[Row]:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "unit"))
    sys.modules.setdefault("poise", importlib.import_module(PACKAGE))
    from figure_cases import random_tree

    posing = importlib.import_module(f"{PACKAGE}.solvers.posing")
    rotations = importlib.import_module(f"{PACKAGE}.solvers.rotations")
    carrying = importlib.import_module(f"{PACKAGE}.solvers.dynamics.carrying").carrying
    figure = random_tree(JOINTS, 1)
    body = posing.Body(figure, figure.centres * 2.0, np.full(JOINTS, 0.05))
    rng = np.random.default_rng(2)
    targets = []
    for k in range(1, 20):
        x = (rng.uniform(-1.0, 1.0, (JOINTS, 1, 3)) @ figure.axes)[:, 0]
        targets.append(
            posing.Target(0.5 * k, rotations.from_rotation_vector(x), np.ones(JOINTS, bool))
        )
    pushes = [
        posing.Push(k + 0.3, k + 0.34, JOINTS - 1, np.array([60.0, -40.0, 20.0])) for k in range(10)
    ]

    balls = [
        posing.Ball(k + 0.3, np.array([0.0, 0.1, 1.5]), np.zeros(3), mass=1.0) for k in range(10)
    ]

    def run(settings, disturbances):
        return posing.simulate(
            body, rotations.identity(JOINTS), np.zeros((JOINTS, 3)), targets,
            round(SECONDS * FPS) + 1, 1.0 / FPS, settings,
            lambda times: carrying(
                np.zeros(1), np.zeros((1, 3)), rotations.identity(1),
                np.array([0.0, 0.0, -9.81]), times
            ),
            disturbances,
        )

    knocked, hit = side_by_side(
        lambda: run(posing.PoseSettings(), pushes), lambda: run(posing.PoseSettings(), balls),
        runs=3, clock=time.process_time,
    )
    fixed, ours = side_by_side(
        lambda: run(posing.PoseSettings(frequency=12.0, gravity=1e-9), pushes),
        lambda: run(posing.PoseSettings(gravity=1e-9), pushes),
        runs=3, clock=time.process_time,
    )
    return [
        Row(
            "20 joints, 10 s, a push every second", "real time", SECONDS * 1e3, knocked,
            goal=20.0,
        ),
        Row(
            "20 joints, 10 s, a ball every second", "real time", SECONDS * 1e3, hit,
            goal=20.0, note=f"{len(run(posing.PoseSettings(), balls).hits)} hits",
        ),
        Row(
            "the same, something acting in every step", "a fixed gain", fixed, ours,
            note=f"{SECONDS * 1e3 / ours:.1f}x real time",
        ),
    ]


def rows() -> list[Row]:
    """Rows of the benchmark."""
    return [_gains(), *_figure()]
