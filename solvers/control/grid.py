# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables over state space: axes with nodes as dense as they need to be, n-linear between them."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from ..errors import SettingError

Real = TypeVar("Real", float, np.ndarray)


@dataclass(frozen=True)
class Axis:
    """One coordinate of the state.

    Attributes:
        name: of the coordinate.
        nodes: (k,) increasing.
        period: after which it is the same again, 0 for a coordinate that is bounded.
            The nodes then lie within one period.
    """

    name: str
    nodes: np.ndarray
    period: float = 0.0

    def __post_init__(self) -> None:
        nodes = np.asarray(self.nodes, float)
        if len(nodes) < 2 or not (np.diff(nodes) > 0.0).all() or not np.isfinite(nodes).all():
            raise SettingError(f"Nodes of {self.name}", nodes.tolist(), "two or more, growing")
        if self.period and not 0.0 < nodes[-1] - nodes[0] < self.period:
            raise SettingError(f"Nodes of {self.name}", nodes.tolist(), "within one period")
        object.__setattr__(self, "nodes", nodes)

    @cached_property
    def intervals(self) -> np.ndarray:
        """Ends of the intervals: the nodes, and of a wrapping axis the first one again."""
        if not self.period:
            return self.nodes
        return np.append(self.nodes, self.nodes[0] + self.period)

    def wrapped(self, values: np.ndarray) -> np.ndarray:
        """Values within the axis' period, from its first node on.

        Args:
            values: of the coordinate.
        """
        if not self.period:
            return values
        return self.nodes[0] + (values - self.nodes[0]) % self.period

    def difference(self, values: Real) -> Real:
        """Differences by the shorter way around.

        Args:
            values: differences of the coordinate.
        """
        if not self.period:
            return values
        return (values + 0.5 * self.period) % self.period - 0.5 * self.period

    def locate(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Node below, node above, share of the latter, and whether a value is on the axis.

        Args:
            values: (m,) of the coordinate.

        Returns:
            (m,) each; beyond a bounded axis the last interval's end.
        """
        ends = self.intervals
        values = self.wrapped(values)
        low = np.clip(np.searchsorted(ends, values, side="right") - 1, 0, len(ends) - 2)
        share = (values - ends[low]) / (ends[low + 1] - ends[low])
        inside = (share >= -1e-9) & (share <= 1.0 + 1e-9)
        return low, (low + 1) % len(self.nodes), np.clip(share, 0.0, 1.0), inside

    @cached_property
    def _ends(self) -> list[float]:
        return self.intervals.tolist()

    def locate_one(self, value: float) -> tuple[int, int, float, bool]:
        """The same of a single value.

        Args:
            value: of the coordinate.
        """
        ends = self._ends
        if self.period:
            value = ends[0] + (value - ends[0]) % self.period
        low = min(max(bisect_right(ends, value) - 1, 0), len(ends) - 2)
        share = (value - ends[low]) / (ends[low + 1] - ends[low])
        inside = -1e-9 <= share <= 1.0 + 1e-9
        return low, (low + 1) % len(self.nodes), min(max(share, 0.0), 1.0), inside


def around(low: float, high: float, count: int, centre: float, power: float) -> np.ndarray:
    """Nodes from one value to another, denser towards a third, which is one of them.

    Args:
        low: first node.
        high: last node.
        count: how many, at least 3.
        centre: between them.
        power: 1 spaces each side evenly, 2 grows with the square of the number of nodes.

    Returns:
        (count,) increasing.
    """
    # As many on each side as make the spacing next to the centre the same on both.
    left, right = centre - low, high - centre
    weight = left ** (1.0 / power) / (left ** (1.0 / power) + right ** (1.0 / power))
    n_left = int(np.clip(round((count - 1) * weight), left > 0.0, count - 1 - (right > 0.0)))
    before = centre - left * (np.arange(n_left, 0, -1) / max(n_left, 1)) ** power
    n_right = count - 1 - n_left
    after = centre + right * (np.arange(1, n_right + 1) / max(n_right, 1)) ** power
    return np.concatenate([before, [centre], after])


@dataclass(frozen=True)
class Grid:
    """A table's nodes.

    Attributes:
        axes: the coordinates, the last one running fastest.
    """

    axes: tuple[Axis, ...]

    @classmethod
    def of(cls, axes: Sequence[Axis]) -> Grid:
        """A grid of some axes.

        Args:
            axes: the coordinates.
        """
        return cls(tuple(axes))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many nodes along each axis."""
        return tuple(len(axis.nodes) for axis in self.axes)

    @property
    def size(self) -> int:
        """How many nodes."""
        return int(np.prod(self.shape))

    def states(self) -> np.ndarray:
        """(size, d) the nodes."""
        mesh = np.meshgrid(*(axis.nodes for axis in self.axes), indexing="ij")
        return np.stack([x.ravel() for x in mesh], axis=1)

    def spacing(self) -> np.ndarray:
        """(size, d, 2) distance of each node to its neighbours, below and above.

        At the ends of bounded axes it is that of the other side.
        """
        parts = []
        for axis in self.axes:
            gaps = np.diff(axis.intervals)
            if axis.period:
                below, above = np.roll(gaps, 1), gaps
            else:
                below, above = np.append(gaps[0], gaps), np.append(gaps, gaps[-1])
            parts.append(np.stack([below, above], axis=-1))
        index = np.indices(self.shape).reshape(len(self.axes), -1)
        return np.stack([part[i] for part, i in zip(parts, index, strict=True)], axis=1)

    def corners(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Between which nodes states lie: n-linear interpolation.

        Args:
            states: (m, d).

        Returns:
            (m, 2^d) indices of nodes, (m, 2^d) weights, (m,) whether the state is
            within the grid.
        """
        located = [axis.locate(states[:, k]) for k, axis in enumerate(self.axes)]
        strides = self._strides
        m, d = states.shape
        indices, weights = np.zeros((m, 2**d), int), np.ones((m, 2**d))
        inside = np.ones(m, bool)
        for corner, sides in enumerate(itertools.product((0, 1), repeat=d)):
            for k, side in enumerate(sides):
                low, high, share, _ = located[k]
                indices[:, corner] += strides[k] * (high if side else low)
                weights[:, corner] *= share if side else 1.0 - share
        for _, _, _, on in located:
            inside &= on
        return indices, weights, inside

    @cached_property
    def _strides(self) -> list[int]:
        """By how much the number of a node grows along each axis."""
        return [int(np.prod(self.shape[k + 1:])) for k in range(len(self.axes))]

    def corners_one(self, state: Sequence[float]) -> tuple[list[int], list[float], bool]:
        """The same of a single state, in floats: figures are moved on a small step at a time.

        Args:
            state: d numbers.
        """
        indices, weights, inside = [0], [1.0], True
        for axis, stride, value in zip(self.axes, self._strides, state, strict=True):
            low, high, share, on = axis.locate_one(value)
            below, above = stride * low, stride * high
            indices = [i + side for i in indices for side in (below, above)]
            weights = [w * part for w in weights for part in (1.0 - share, share)]
            inside &= on
        return indices, weights, inside
