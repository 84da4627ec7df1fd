# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the table of a parking controller: dynamic programming over layers of poses.

Each node of steering and speed is a layer of values over poses. A move leads from one
layer to another, and how the values of the one follow from those of the other is a sparse
matrix. Moves that leave a layer are tried in turn, slow layers first, until no value
changes any more (Gauss and Seidel).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..errors import SettingError
from .build import Table
from .car import placed
from .grid import Axis, Grid
from .parking import (
    EFFORT,
    LEAST,
    MARGIN,
    SHUFFLES,
    UNKNOWN,
    Parking,
    Size,
    bounds,
    layers,
    moves,
    offence,
    pose_grid,
)
from .street import Car, Street

CHANGE = 0.02  # s, values are taken as found when none changes by more
SWEEPS = 400
MEMORY = 1e9  # bytes that a table may take while it is built


def build(
    car: Car, street: Street, size: Size, progress: Callable[[float], None] | None = None
) -> Parking:
    """Find the best move from every state.

    Args:
        car: the car.
        street: where it is to park.
        size: how fine.
        progress: told the share that is done, roughly; raises Cancelled to stop.

    Returns:
        The controller.
    """
    poses = pose_grid(car, street, size)
    count = poses.size * size.steerings * size.speeds
    need, each = _memory(poses.size, size), _memory(1, size) / (size.steerings * size.speeds)
    if need > MEMORY:
        raise SettingError(
            "Grid", f"{count:,} states, {need / 1e9:.1f} GB",
            f"at most {int(MEMORY / each):,} states, {MEMORY / 1e9:.1f} GB",
        )
    if street.clearance(car, *street.destination) <= MARGIN:
        raise SettingError(
            "Destination", "inside or against an obstacle", f"{MARGIN * 100:.0f} cm clear of all"
        )
    return _Builder(car, street, size, poses, progress or (lambda share: None)).controller()


def _memory(poses: int, size: Size) -> float:
    pairs = (3 * size.steerings - 2) * (3 * size.speeds - 2) + size.steerings * len(SHUFFLES)
    return 8.0 * 8.0 * pairs * poses


@dataclass(frozen=True)
class _Layer:
    """All moves that begin in one layer.

    Attributes:
        moves: (k,) which.
        ways: (k n, all values) interpolation where each leads from each of n poses.
        least: (k, n) s that it costs from there on at least.
        most: (k, n) s at the most; `UNKNOWN`, and so is the least, where it may not be made.
        prices: (k, 1) s of the moves.
    """

    moves: np.ndarray
    ways: sparse.csr_matrix
    least: np.ndarray
    most: np.ndarray
    prices: np.ndarray

    def cost(self, values: np.ndarray) -> np.ndarray:
        """(k, n) s with each move.

        Args:
            values: of all layers, in a row.
        """
        found = (self.ways @ values).reshape(self.least.shape)
        return np.clip(found, self.least, self.most, out=found) + self.prices


class _Builder:
    """What the sweeps need: layers of values over free poses, and what moves do to them."""

    def __init__(
        self, car: Car, street: Street, size: Size, grid: Grid, progress: Callable[[float], None]
    ) -> None:
        self.car, self.street, self.size, self.grid = car, street, size, grid
        self.progress = progress
        poses = grid.states()
        clear = street.clearance(car, *poses.T)
        self.free = clear > MARGIN
        self.number = np.where(self.free, self.free.cumsum() - 1, 0).astype(np.int32)
        self.poses, self.clear = poses[self.free], clear[self.free]
        self.moves = moves(car, size)
        self.axes = [
            Axis(name, x) for name, x in zip(("steering", "speed"), layers(car, size), strict=True)
        ]
        nodes = Grid.of(self.axes).states()
        self.steering, self.speed = nodes.T

    def controller(self) -> Parking:
        """Improve all values until they stay."""
        order = np.argsort(np.abs(self.speed), kind="stable")
        found = [self._layer(k) for k in range(len(self.speed))]
        stays = np.full((len(found), len(self.poses)), UNKNOWN, np.float32)
        for k in np.flatnonzero(self.speed == 0.0):
            stays[k] = offence(self.street, self.poses, self.steering[k])
        values = np.full_like(stays, UNKNOWN)
        sweep, change = 0, np.inf
        while change >= CHANGE and sweep < SWEEPS:
            sweep, change = sweep + 1, 0.0
            for k in order:
                better = np.minimum(found[k].cost(values.ravel()).min(axis=0), stays[k])
                change = max(change, float(np.abs(better - values[k]).max()))
                values[k] = better
            self.progress(0.5 + 0.5 * min(CHANGE / max(change, 1e-9), 1.0))
        best = np.full(values.shape, -1)
        for k, layer in enumerate(found):
            cost = layer.cost(values.ravel())
            best[k] = np.where(cost.min(axis=0) < stays[k], layer.moves[cost.argmin(axis=0)], -1)
        return self._parking(values, best, sweep, change)

    def _parking(self, values: np.ndarray, best: np.ndarray, sweeps: int, change: float) -> Parking:
        cost = np.full((len(values), self.grid.size), np.inf, np.float32)
        cost[:, self.free] = values
        controls = np.zeros((*cost.shape, 2), np.float32)
        # The last row stands for staying.
        controls[:, self.free] = np.concatenate([self.moves.controls, np.zeros((1, 2))])[best]
        table = Table(
            Grid.of([*self.axes, *self.grid.axes]), controls.reshape(-1, 2), cost.ravel(),
            self.moves.controls, EFFORT, sweeps, change, UNKNOWN,
        )
        return Parking(self.car, self.street, self.size, table)

    def _layer(self, begin: int) -> _Layer:
        which = np.flatnonzero(self.moves.begin == begin)
        n = len(self.poses)
        least = np.zeros((len(which), n), np.float32)
        most = np.full((len(which), n), UNKNOWN, np.float32)
        parts = []
        for row, a in enumerate(which):
            end = self.moves.end[a]
            ends = placed(self.poses, self.moves.paths[a, -1])
            index, weight, inside = self.grid.corners(ends)
            weight *= self.free[index]
            total = weight.sum(axis=1)
            good = inside & (total >= LEAST) & self._passes(a)
            if self.speed[end] == 0.0:
                least[row], most[row] = bounds(self.street, self.size, ends, self.steering[end])
            least[row, ~good] = most[row, ~good] = UNKNOWN
            weight = np.where(good[:, None], weight / np.maximum(total, 1e-6)[:, None], 0.0)
            kept = weight > 0.0
            parts.append((weight[kept].astype(np.float32), self.number[index[kept]] + end * n,
                          kept.sum(axis=1)))
            self.progress(0.5 * (begin + row / len(which)) / len(self.speed))
        data, column, count = (np.concatenate(part) for part in zip(*parts, strict=True))
        pointer = np.append(0, count.cumsum()).astype(np.int32)
        ways = sparse.csr_matrix(
            (data, column.astype(np.int32), pointer), shape=(len(which) * n, len(self.speed) * n)
        )
        prices = self.moves.prices[which, None].astype(np.float32)
        return _Layer(which, ways, least, most, prices)

    def _passes(self, a: int) -> np.ndarray:
        """(n,) whether a move touches nothing, from all free poses.

        Where the car has more room than any point of it moves, there is nothing to check;
        gaps between projections may be a square root of 2 less than distances.
        """
        path = self.moves.paths[a]
        turned = math.hypot(self.car.length, self.car.width) * np.abs(np.sin(0.5 * path[:, 2]))
        way = float((np.hypot(path[:, 0], path[:, 1]) + turned).max())
        near = np.flatnonzero(self.clear <= way + math.sqrt(2.0) * MARGIN)
        passed = np.ones(len(self.poses), bool)
        if way > 0.0:
            at = np.moveaxis(placed(self.poses[near, None], path), 2, 0)
            passed[near] = self.street.clearance(self.car, *at).min(axis=1) > MARGIN
        return passed
