# SPDX-License-Identifier: GPL-3.0-or-later
"""What the search keeps: nodes, one a row, and the tree that they make.

A node is the start or the end of a stage (van de Panne et al. 1993, Fig. 13):
floats, columns X to COST, and whole numbers, columns SEGMENT to PARENT. CODE
counts the choices made since the root in base q, so that of two nodes of one
stage that with the lower code has made the earlier choice where they part.
"""

from __future__ import annotations

import numpy as np

# Columns of a node.
X, Y, PSI, THETA, OMEGA, CURVATURE, ALONG, SPEED, RATE, COST = range(10)
SEGMENT, GATE, STAGE, CODE, PARENT = range(5)
MOVING = [X, Y, PSI, THETA, OMEGA, CURVATURE, SPEED]  # what moves on


class Tree:
    """The nodes found, in a table that grows.

    Args:
        floats: (10, 1) the root, from `Planner.root`.
        ints: (5, 1) likewise.
        values: q, how many rates are tried in a stage.
    """

    def __init__(self, floats: np.ndarray, ints: np.ndarray, values: int) -> None:
        self.floats = np.empty((1024, 10))
        self.ints = np.empty((1024, 5), dtype=np.int64)
        self.open = np.empty(1024, dtype=bool)
        self.count, self._values = 0, values
        self.add(floats, ints)

    def add(self, floats: np.ndarray, ints: np.ndarray) -> int:
        """Add nodes.

        Args:
            floats: (10, n).
            ints: (5, n).

        Returns:
            The row of the first.
        """
        first, self.count = self.count, self.count + floats.shape[1]
        while self.count > len(self.floats):
            self.floats = np.concatenate((self.floats, np.empty_like(self.floats)))
            self.ints = np.concatenate((self.ints, np.empty_like(self.ints)))
            self.open = np.concatenate((self.open, np.empty_like(self.open)))
        self.floats[first : self.count] = floats.T
        self.ints[first : self.count] = ints.T
        self.open[first : self.count] = True
        return first

    def get(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Nodes as `Planner.expand` takes them.

        Args:
            rows: (n,) which.

        Returns:
            (10, n) and (5, n).
        """
        return np.ascontiguousarray(self.floats[rows].T), np.ascontiguousarray(self.ints[rows].T)

    def best(self, rows: np.ndarray) -> int:
        """The cheapest of some nodes of one stage; of equals, that of the lowest code.

        Args:
            rows: (n,) which; at least one.

        Returns:
            Its row.
        """
        cost = self.floats[rows, COST]
        rows = rows[cost == cost.min()]
        return int(rows[np.argmin(self.ints[rows, CODE])])

    def furthest(self) -> int:
        """The node that comes furthest along the path; of equals, the cheapest: its row."""
        floats, ints = self.floats[: self.count], self.ints[: self.count]
        # Beyond the last node on a way, not before it: the latest stage counts first of equals.
        order = np.lexsort((ints[:, CODE], floats[:, COST], -ints[:, STAGE], -floats[:, ALONG]))
        return int(order[0])

    def chain(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """The nodes from the root to a node.

        Args:
            row: the node.

        Returns:
            (k, 10) and (k, 5), the root first.
        """
        rows = []
        while row >= 0:
            rows.append(row)
            row = int(self.ints[row, PARENT])
        return self.floats[rows[::-1]], self.ints[rows[::-1]]

    def move_on(self, choice: int) -> None:
        """Take the first stage: keep what begins with a choice, from its end on.

        Args:
            choice: the rate taken in the first stage.
        """
        floats, ints = self.floats[: self.count], self.ints[: self.count]
        stage, code = ints[:, STAGE], ints[:, CODE]
        power = self._values ** np.maximum(stage - 1, 0)
        rows = np.flatnonzero((stage > 0) & (code // power == choice))
        number = np.full(self.count + 1, -1)  # the last stands for "no parent"
        number[rows] = np.arange(len(rows))
        first = floats[rows[np.argmin(stage[rows])], COST]
        kept = np.array(ints[rows])
        kept[:, PARENT] = number[kept[:, PARENT]]
        kept[:, STAGE] -= 1
        kept[:, CODE] %= power[rows]
        self.floats[: len(rows)] = floats[rows]
        self.floats[: len(rows), COST] -= first
        self.ints[: len(rows)] = kept
        self.open[: len(rows)] = self.open[rows]
        self.count = len(rows)
