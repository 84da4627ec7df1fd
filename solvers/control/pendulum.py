# SPDX-License-Identifier: GPL-3.0-or-later
"""The pendulum and its six controllers: van de Panne, Fiume and Vranesic (1990), section 5.2.

A uniform rod of 1 kg and 1 m on a hinge with a muscle of +-10 N m; angles are
counterclockwise from +X, as in the paper's Figure 4.
"""

from __future__ import annotations

import math

import numpy as np

from ..dynamics.planar import Link, compile_figure
from .build import Table, build
from .grid import Axis, Grid, around
from .run import Controller, rest_law, widened

DESTINATIONS = {
    "A": (0.0, 0.0),
    "B": (120.0, 0.0),
    "C": (-120.0, 0.0),
    "D": (0.0, 300.0),
    "E": (-120.0, -299.0),
    "F": (160.0, 250.0),
}
"""Figure 13: angle in degrees, speed in degrees per second."""

TORQUE, FASTEST = 10.0, math.radians(500.0)
EFFORT = 0.1  # K, s per s and N m
ARRIVED = np.radians((5.0, 25.0))
LITERAL = (36, 21)
"""Angles and speeds of the paper's tables, evenly spaced: 756 states."""

EFFICIENT = (36, 21)
"""As many for any destination, denser towards it by `POWER`."""

POWER = 1.15

SPREAD = {
    "A": ((36, 21), 1.05),
    "B": ((36, 21), 1.15),
    "C": ((36, 21), 1.15),
    "D": ((34, 22), 1.2),
    "E": ((34, 22), 1.1),
    "F": ((28, 27), 1.1),
}
"""Angles, speeds and power of each of the six, at most as many states: what cost least from 240
starts, and less than the paper's table from 480 others (tools/lab/pendulum_costs.py)."""

FAR = 8.0
"""Times as far as the law about a state of rest, with `ARRIVED` for far, is never clipped. So far
out it leads the rod home for less than a table does, which may hold it still beside there; farther
out it costs more."""

_ROD = compile_figure([Link("rod", centre=(0.5, 0.0), mass=1.0, inertia=1.0 / 12.0)])


def rates(states: np.ndarray, controls: np.ndarray) -> np.ndarray:
    """(m, 2) time derivatives of angle and speed.

    Args:
        states: (m, 2) rad, rad/s.
        controls: (m, 1) N m.
    """
    acceleration = _ROD.accelerations(
        np.sin, np.cos, states[:, :1].T, states[:, 1:].T, controls.T
    )[0]
    return np.stack([states[:, 1], acceleration], axis=1)


def literal_grid() -> Grid:
    """The paper's: 36 angles from -180 to 170 degrees, 21 speeds up to 500 degrees per second."""
    angles = np.linspace(-np.pi, np.pi, LITERAL[0], endpoint=False)
    speeds = np.linspace(-FASTEST, FASTEST, LITERAL[1])
    return Grid.of([Axis("angle", angles, 2.0 * np.pi), Axis("speed", speeds)])


def grid_around(
    destination: np.ndarray, shape: tuple[int, int] = EFFICIENT, power: float = POWER
) -> Grid:
    """Nodes denser towards a destination, which is one of them.

    Args:
        destination: (2,) rad, rad/s.
        shape: how many angles and speeds.
        power: of the growth of their distances; 1 is even.
    """
    angle, speed = destination
    angles = around(angle - np.pi, angle + np.pi, shape[0] + 1, angle, power)[:-1]
    return Grid.of(
        [
            Axis("angle", angles, 2.0 * np.pi),
            Axis("speed", around(-FASTEST, FASTEST, shape[1], speed, power)),
        ]
    )


def table(
    grid: Grid, destination: np.ndarray, torques: int = 11, ends: np.ndarray | None = None
) -> Table:
    """The table of one controller.

    Args:
        grid: its nodes; the one nearest to the destination is where it leads.
        destination: (2,) rad, rad/s.
        torques: how many are tried.
        ends: (size,) bool, nodes to end at in place of that one.
    """
    states = grid.states()
    off = states - destination
    off[:, 0] = grid.axes[0].difference(off[:, 0])
    if ends is None:
        ends = np.zeros(len(states), bool)
        ends[np.argmin(((off / ARRIVED) ** 2).sum(axis=1))] = True
    samples = np.linspace(-TORQUE, TORQUE, torques)[:, None]
    return build(grid, rates, samples, np.array([EFFORT]), ends, tolerance=1e-4, sweeps=4000)


def controller(
    name: str, literal: bool = False, spread: tuple[tuple[int, int], float] | None = None
) -> Controller:
    """One of the six.

    Args:
        name: "A" to "F".
        literal: whether with the paper's table and nothing else.
        spread: how many angles and speeds, and the power, unless it is; None for its own.
    """
    destination = np.radians(DESTINATIONS[name])
    grid = literal_grid() if literal else grid_around(destination, *(spread or SPREAD[name]))
    limit, periods = np.array([TORQUE]), np.array([2.0 * np.pi, 0.0])
    rest = None if literal else rest_law(rates, destination, -limit, limit, ARRIVED)
    if rest is not None:
        rest = widened(rates, rest, -limit, limit, periods, ARRIVED, FAR)
    return Controller(table(grid, destination), destination, rest, ARRIVED)
