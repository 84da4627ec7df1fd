# SPDX-License-Identifier: GPL-3.0-or-later
"""From which states a turning figure can be caught, and from which ours is.

A state can be caught unless the steering that helps most, hard to the side
the body falls to, still lets it fall to that side. Both sides are tried, and
what neither loses is possible.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from poise.solvers.motion import BodyState
from poise.solvers.turning.settings import TurningSettings

from .batch import solve_turning_batch
from .pendulum import angular_acceleration

LIMITS = {  # name -> (curvature limit 1/m, its rate limit 1/(m s))
    "ski": (0.2, 0.8),
    "board": (0.25, 1.2),
    "bicycle": (0.6, 3.0),
}


@dataclass(frozen=True)
class Capture:
    """Shares of a grid of start states.

    Attributes:
        name: whose limits.
        fall_angle: rad.
        states: number of states of the grid that have not fallen already.
        possible: of them, how many can be caught at all.
        captured: how many ours catches.
        missed: how many could be caught and are not.
        settled: how many stand on the wanted ellipse at the end (within 2 %
            of its amplitude).
    """

    name: str
    fall_angle: float
    states: int
    possible: int
    captured: int
    missed: int
    settled: int


def start_grid(count: int = 31) -> tuple[np.ndarray, np.ndarray]:
    """Lean within 60 degrees and rates of lean within 4 rad/s, on a grid.

    Args:
        count: states along each side.

    Returns:
        (count^2,) lean in rad and (count^2,) its rate in rad/s.
    """
    lean, rate = np.meshgrid(
        np.radians(np.linspace(-60.0, 60.0, count)), np.linspace(-4.0, 4.0, count), indexing="ij"
    )
    return lean.ravel(), rate.ravel()


def can_be_caught(
    lean: np.ndarray,
    lean_rate: np.ndarray,
    settings: TurningSettings,
    seconds: float = 20.0,
    step: float = 1.0 / 240.0,
) -> np.ndarray:
    """States from which hard steering to one side or the other prevents the fall.

    The curvature goes from 0 to its limit at its largest rate and stays
    there, by the classical Runge-Kutta method on the forward dynamics.

    Args:
        lean: (n,) rad.
        lean_rate: (n,) rad/s.
        settings: body, speed and limits, all of them numbers.
        seconds: how long to look.
        step: s.

    Returns:
        (n,) True where neither side is lost.
    """
    limit, rate = float(settings.max_curvature), float(settings.max_curvature_rate)
    body = (settings.speed, settings.mass, settings.height, settings.inertia, settings.gravity)
    lost = np.zeros(len(lean), dtype=bool)
    for side in (1.0, -1.0):
        theta, omega = np.array(lean, dtype=float), np.array(lean_rate, dtype=float)
        fallen = np.sign(theta) * (np.abs(theta) >= settings.fall_angle)
        for i in range(round(seconds / step)):
            t = i * step

            def alpha(x: np.ndarray, when: float, side: float = side) -> np.ndarray:
                return np.asarray(angular_acceleration(side * min(limit, rate * when), x, *body))

            a1 = alpha(theta, t)
            o2 = omega + 0.5 * step * a1
            a2 = alpha(theta + 0.5 * step * omega, t + 0.5 * step)
            o3 = omega + 0.5 * step * a2
            a3 = alpha(theta + 0.5 * step * o2, t + 0.5 * step)
            o4 = omega + step * a3
            a4 = alpha(theta + step * o3, t + step)
            up = fallen == 0.0
            theta = np.where(up, theta + step / 6.0 * (omega + 2.0 * (o2 + o3) + o4), theta)
            omega = np.where(up, omega + step / 6.0 * (a1 + 2.0 * (a2 + a3) + a4), omega)
            fallen = np.where(up & (np.abs(theta) >= settings.fall_angle), np.sign(theta), fallen)
            if np.all(fallen):
                break
        lost |= fallen == side
    return ~lost


def capture_table(
    count: int = 31,
    seconds: float = 20.0,
    fall_degrees: tuple[float, ...] = (60.0, 90.0),
    show: Callable[[str], None] | None = None,
) -> list[Capture]:
    """What can be caught and what is, for skis, boards and bicycles.

    At 8 m/s, half a hertz and 23 degrees, from a curvature of 0.

    Args:
        count: states along each side of the grid.
        seconds: duration of each motion.
        fall_degrees: leans that count as a fall.
        show: called with each line of the table as it is found.

    Returns:
        One entry per sport and fall angle.
    """
    lean, rate = start_grid(count)
    rows = []
    if show is not None:
        show("limits    fall  states  possible  captured  missed  settled")
    for name, (limit, limit_rate) in LIMITS.items():
        for degrees in fall_degrees:
            fall = math.radians(degrees)
            standing = np.flatnonzero(np.abs(lean) < fall - 1e-9)
            common: dict[str, Any] = {
                "n_frames": round(seconds * 24.0) + 1,
                "max_curvature": limit,
                "max_curvature_rate": limit_rate,
                "fall_angle": fall,
            }
            motions = solve_turning_batch(
                [
                    TurningSettings(
                        **common,
                        start_state=BodyState(
                            np.zeros(3), 0.0, 8.0, lean=float(lean[i]), lean_rate=float(rate[i])
                        ),
                    )
                    for i in standing
                ],
                advice=False,
            )
            possible = can_be_caught(
                lean[standing], rate[standing], TurningSettings(**common), seconds
            )
            caught = np.array([motion.success for motion in motions])
            size = np.array(
                [
                    math.hypot(
                        m.lean[-1] / m.max_lean[-1],
                        m.lean_rate[-1] / (m.frequency[-1] * m.max_lean[-1]),
                    )
                    for m in motions
                ]
            )
            row = Capture(
                name=name,
                fall_angle=fall,
                states=len(standing),
                possible=int(possible.sum()),
                captured=int(caught.sum()),
                missed=int((possible & ~caught).sum()),
                settled=int((caught & (np.abs(size - 1.0) < 0.02)).sum()),
            )
            rows.append(row)
            if show is not None:
                show(
                    f"{name:8s} {degrees:5.0f} {row.states:7d} {row.possible:9d} "
                    f"{row.captured:9d} {row.missed:7d} {row.settled:8d}"
                )
    return rows
