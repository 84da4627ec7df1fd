# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm that blocks four balls while weights of 10 kg drop onto it.

The experiment of Allen, Neff and Faloutsos ("Pose Control in Dynamic Conditions", section
4): balls cross the plane in which a straight arm turns about its shoulder; where and when
they do is pose and time. The paper gives neither arm nor balls, so these are ours: an arm
of 0.7 m and 3.5 kg, balls of 5 cm that pass 0.55 m from the shoulder. Weights drop from
1.5 m above the shoulder, at random places within reach.

    python tools/environments.py unit tools/lab/blocking.py [RUNS]

prints arrival errors and blocked balls of five controllers: the analytic gain; the same,
not found anew after a hit; and three with a fixed gain that aim at the poses themselves,
one tuned on the first ball, one on all four by least squares, one as stiff as a hand that
turns it up would make it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "unit"))
    import conftest  # noqa: F401  makes the repository the package `poise`

from poise.solvers import rotations
from poise.solvers.dynamics import Figure
from poise.solvers.dynamics.carrying import carrying
from poise.solvers.dynamics.limbs import limbs
from poise.solvers.posing import (
    Ball,
    Body,
    PoseMotion,
    PoseSettings,
    Target,
    rest_phase,
    simulate,
)

LENGTH, RADIUS, MASS = 0.7, 0.045, 3.5
BALL, REACH = 0.05, 0.55
TIMES = (0.9, 1.3, 1.65, 2.0)
ANGLES = np.radians((70.0, 10.0, 120.0, 45.0))
"""Of the arm from straight down, forward."""

GRAVITY = np.array([0.0, 0.0, -9.8])
FRAMES, FRAME_TIME = 64, 1.0 / 30.0
BLOCKS = (RADIUS + BALL) / REACH
"""rad off the pose at which the arm just touches the ball."""


def arm() -> Body:
    """A straight arm that hangs from its shoulder and turns about X."""
    tip = np.array([[0.0, 0.0, -LENGTH]])
    made = limbs(tip, np.array([RADIUS]), np.array([MASS]))
    figure = Figure(
        np.array([-1]), np.zeros((1, 3)), rotations.identity(1),
        np.array([[[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]),
        made.masses, made.centres, made.inertias,
    )
    return Body(figure, tip, np.array([RADIUS]))


def weights(seed: int | None) -> list[Ball]:
    """Four weights of 10 kg at random times and places; none without a seed."""
    if seed is None:
        return []
    rng = np.random.default_rng(seed)
    return [
        Ball(time, np.array([0.0, across, 1.5]), np.zeros(3), 10.0, 0.08, 0.3)
        for time, across in zip(rng.uniform(0.0, 1.5, 4), rng.uniform(-0.1, LENGTH, 4), strict=True)
    ]


def block(settings: PoseSettings, seed: int | None = None) -> PoseMotion:
    """One run.

    Args:
        settings: the controller.
        seed: of the weights, or None for none.
    """
    targets = [
        Target(time, rotations.about_x(np.array([angle])), np.ones(1, bool))
        for time, angle in zip(TIMES, ANGLES, strict=True)
    ]

    def still(times: np.ndarray):
        return carrying(np.zeros(1), np.zeros((1, 3)), rotations.identity(1), GRAVITY, times)

    return simulate(
        arm(), rotations.identity(1), np.zeros((1, 3)), targets, FRAMES, FRAME_TIME, settings,
        still, weights(seed),
    )


def tuned_on_first() -> PoseSettings:
    """A fixed gain that is right from rest to the first ball."""
    return PoseSettings(frequency=float(rest_phase(0.02, 1.0)) / TIMES[0])


def errors(motion: PoseMotion) -> np.ndarray:
    """(4,) rad off each pose at its time."""
    return np.array([arrival.error[0] for arrival in motion.arrivals])


def controllers() -> dict[str, PoseSettings]:
    """The five that are compared."""
    first = tuned_on_first()

    def off(x: np.ndarray) -> np.ndarray:
        return errors(block(PoseSettings(frequency=float(x[0]), ratio=float(x[1]))))

    tuned = least_squares(off, (2.0 * first.frequency, 0.8), bounds=((1.0, 0.05), (40.0, 1.0))).x
    return {
        "analytic gain": PoseSettings(),
        "analytic gain, not found anew": PoseSettings(recompute=False),
        "fixed gain, tuned on the first ball": first,
        "fixed gain, tuned on all four": PoseSettings(
            frequency=float(tuned[0]), ratio=float(tuned[1])
        ),
        "fixed gain, stiff": PoseSettings(frequency=30.0),
    }


def main(runs: int) -> None:
    print(f"{'':38s}{'alone':>8s}{'with weights, ' + str(runs) + ' runs':>34s}")
    print(f"{'':38s}{'blocked':>8s}{'blocked':>10s}{'median':>9s}{'90 %':>8s}{'99 %':>8s}  degrees")
    for name, settings in controllers().items():
        alone = (errors(block(settings)) < BLOCKS).sum()
        found = np.array([errors(block(settings, seed)) for seed in range(runs)])
        share = (found < BLOCKS).mean()
        parts = np.degrees(np.percentile(found, (50, 90, 99)))
        figures = "".join(f"{x:>9.3f}" for x in parts)
        print(f"{name:38s}{alone:>5d}/4 {share:>9.1%}{figures}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
