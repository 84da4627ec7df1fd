# SPDX-License-Identifier: GPL-3.0-or-later
"""What the links of a planar figure may not touch.

Things are silhouettes in the plane of the figure: triangles whose union is what they cover. They
are drawn into a map of square cells once, each cell that comes near a triangle counting as full,
and a distance transform (scipy.ndimage) gives for every cell how far the nearest full one is,
less what a cell may hide: a bound from below. A link is a line with a thickness. Points along it
that are a step s apart, each as wide as sqrt(r^2 + s^2 / 4), cover all that is within r of the
line; so a link that is said to be clear is clear.

How near links come depends on angles alone, so that a state's speeds do not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy import ndimage

from ..dynamics.planar import Link

CELLS = 900  # along each side of the map
COARSE = 8  # points along a link that are looked at first
ROWS = 50_000  # states that are looked at in one go
SPARE = 0.5  # of what is kept clear, that tables keep besides
HALF = math.sqrt(0.5)  # of a cell, to its corner


@dataclass(frozen=True)
class Silhouette:
    """A thing in the plane of a figure.

    Attributes:
        name: of the thing.
        triangles: (m, 3, 2) m, from the figure's first joint, right and up in its plane.
    """

    name: str
    triangles: np.ndarray


@dataclass(frozen=True)
class _Map:
    """Distances from things.

    Attributes:
        low: m, x and y of the first cell's middle.
        cell: m, its size.
        far: (c, c) m, to the nearest thing at the least; infinite beyond the map.
        what: (c, c) number of that thing.
    """

    low: float
    cell: float
    far: np.ndarray
    what: np.ndarray

    def indices(self, points: np.ndarray) -> np.ndarray:
        """(...,) flat indices of cells that points, which are on the map, lie in.

        Args:
            points: (..., 2) m.
        """
        at = np.rint((points - self.low) / self.cell).astype(np.intp)
        return at[..., 0] * len(self.far) + at[..., 1]


def _drawn(reach: float, things: Sequence[np.ndarray]) -> _Map:
    """A map of all that a figure reaches.

    Args:
        reach: m, from the first joint.
        things: (m, 3, 2) triangles of each.
    """
    cell = 2.0 * reach / (CELLS - 5)
    low = -reach - 2.0 * cell
    middles = low + cell * np.arange(CELLS)
    what = np.full((CELLS, CELLS), -1, np.int16)
    for number, triangles in enumerate(things):
        for triangle in triangles:
            first = np.searchsorted(middles, triangle.min(axis=0) - HALF * cell)
            last = np.searchsorted(middles, triangle.max(axis=0) + HALF * cell, side="right")
            if (first >= last).any():
                continue
            x, y = middles[first[0]:last[0], None], middles[None, first[1]:last[1]]
            full = np.ones((last[0] - first[0], last[1] - first[1]), bool)
            a, b, c = triangle
            turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
            sign = 1.0 if turn >= 0.0 else -1.0
            for p, q in ((a, b), (b, c), (c, a)):
                dx, dy = q - p
                side = sign * (dx * (y - p[1]) - dy * (x - p[0]))
                full &= side >= -HALF * cell * math.hypot(dx, dy)
            what[first[0]:last[0], first[1]:last[1]][full] = number
    if (what < 0).all():
        return _Map(low, cell, np.full(what.shape, np.inf), what)
    far, nearest = ndimage.distance_transform_edt(what < 0, cell, return_indices=True)
    return _Map(low, cell, far - 2.0 * HALF * cell, what[tuple(nearest)])


@lru_cache(4)
def _known(reach: float, data: tuple[bytes, ...]) -> _Map:
    return _drawn(reach, [np.frombuffer(one).reshape(-1, 3, 2) for one in data])


def lines(links: Sequence[Link], angles: np.ndarray) -> np.ndarray:
    """(m, n, 2, 2) m, where each link's joint is, and where it ends, from the first joint.

    Args:
        links: parents first; each is twice as long as to its centre of mass.
        angles: (m, n) rad, of the joints; the first one's against +X.
    """
    known: dict[str, tuple[np.ndarray, ...]] = {}  # angle, its cosine and sine, and joint
    found = np.zeros((*angles.shape, 2, 2))
    for k, link in enumerate(links):
        turned = angles[:, k]
        if link.parent in known:
            on, c, s, begin = known[link.parent]
            turned, (x, y) = on + turned, link.joint
            found[:, k, 0, 0] = begin[:, 0] + (c * x - s * y)
            found[:, k, 0, 1] = begin[:, 1] + (s * x + c * y)
        begin, c, s = found[:, k, 0], np.cos(turned), np.sin(turned)
        x, y = 2.0 * link.centre[0], 2.0 * link.centre[1]
        found[:, k, 1, 0] = begin[:, 0] + (c * x - s * y)
        found[:, k, 1, 1] = begin[:, 1] + (s * x + c * y)
        known[link.name] = turned, c, s, begin
    return found


def _finite(states: np.ndarray) -> np.ndarray:
    if np.isfinite(states).all():
        return states
    return np.nan_to_num(states, posinf=0.0, neginf=0.0)


class Surroundings:
    """What stands about a planar figure whose links are lines from joint to joint.

    Args:
        links: parents first; each reaches twice as far as its centre of mass.
        things: what they may not touch.
        keep: m from the line of a link that has to be clear: half its thickness, and some.
    """

    def __init__(self, links: Sequence[Link], things: Sequence[Silhouette], keep: float) -> None:
        self.names = tuple(thing.name for thing in things)
        self._keep, self.spare = keep, SPARE * keep
        self._links, reaches = tuple(links), {"": 0.0}
        for link in links:
            joint = float(np.hypot(*link.joint)) if link.parent else 0.0
            reaches[link.name] = reaches[link.parent] + joint
        self._lengths = [2.0 * float(np.hypot(*link.centre)) for link in links]
        self.reach = keep + max(
            reaches[link.name] + length
            for link, length in zip(links, self._lengths, strict=True)
        )
        # m, how far what hangs on each link may be from its joint.
        self.swept = tuple(self.reach - keep - reaches[link.name] for link in links)
        self._shares: dict[float, list[np.ndarray]] = {}
        self._data = tuple(np.ascontiguousarray(t.triangles, float).tobytes() for t in things)

    @cached_property
    def _map(self) -> _Map:
        return _known(self.reach, self._data)

    def _points(self, states: np.ndarray, step: float) -> np.ndarray:
        """(m, p, 2) points along all links, at most a step apart."""
        ends, found = lines(self._links, states[:, ::2]), []
        if step not in self._shares:
            self._shares[step] = [
                np.linspace(0.0, 1.0, max(math.ceil(length / step), 1) + 1)[:, None]
                for length in self._lengths
            ]
        for k, share in enumerate(self._shares[step]):
            begin, end = ends[:, k, :1], ends[:, k, 1:]
            found.append(begin + (end - begin) * share)
        return np.concatenate(found, axis=1)

    def _cells(self, states: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
        """(m, p) cells of points along all links, and m from them to the nearest thing at least."""
        at = self._map.indices(self._points(states, step))
        return at, self._map.far.ravel()[at]

    def touched(self, states: np.ndarray, more: float = 0.0) -> np.ndarray:
        """(m,) number of the thing that a link is too near to in each state, -1 for none.

        Args:
            states: (m, 2n) each joint's angle, followed by its speed.
            more: m, by which links have to keep further off than they must.
        """
        states = _finite(np.atleast_2d(states))
        found = np.full(len(states), -1)
        if not self.names:
            return found
        keep = self._keep + more
        coarse = self.reach / COARSE
        for begin in range(0, len(states), ROWS):
            part = states[begin:begin + ROWS]
            far = self._cells(part, coarse)[1].min(axis=1)
            rows = np.flatnonzero(far <= keep + 0.5 * coarse)  # within it nothing can be told yet
            if len(rows):
                step = max(4.0 * self._map.cell, 0.5 * keep)
                at, far = self._cells(part[rows], step)
                near = np.flatnonzero(far.min(axis=1) <= math.hypot(keep, 0.5 * step))
                nearest = at[near, far[near].argmin(axis=1)]
                found[begin + rows[near]] = self._map.what.ravel()[nearest]
        return found

    @property
    def grain(self) -> float:
        """m, by which what the map says of two places differs at most, besides how far apart they
        are: it rounds both to cells."""
        return 2.0 * HALF * self._map.cell

    def room(self, states: np.ndarray, more: float = 0.0) -> float:
        """m, by which links keep further off in all states than `touched` asks, at least; above 0
        where it calls them all clear.

        Less `grain`, it is how far points of links may move and be called clear still.

        Args:
            states: (m, 2n).
            more: m, by which links have to keep further off than they must.
        """
        if not self.names:
            return math.inf
        states, keep, coarse = _finite(states), self._keep + more, self.reach / COARSE
        found = self._cells(states, coarse)[1].min(axis=1) - (keep + 0.5 * coarse)
        rows = np.flatnonzero(found <= self.grain)
        if len(rows):
            step = max(4.0 * self._map.cell, 0.5 * keep)
            fine = self._cells(states[rows], step)[1].min(axis=1) - math.hypot(keep, 0.5 * step)
            found[rows] = np.maximum(found[rows], fine)
        return float(found.min())

    def blocks(self, states: np.ndarray) -> np.ndarray:
        """(m,) whether a link is too near to something in each state, or only just not.

        Tables are built with some to spare: between their nodes controls are means.

        Args:
            states: (m, 2n).
        """
        return self.touched(states, self.spare) >= 0

    def beside(self, states: np.ndarray) -> Surroundings:
        """The same, sparing no more than half of the room that there is in any of some states.

        Args:
            states: (m, 2n), clear.
        """
        found = copy(self)
        found.spare = min([self.spare, *(0.5 * self.room(state[None]) for state in states)])
        return found


def way_between(
    time: np.ndarray, states: np.ndarray, looks: int
) -> tuple[np.ndarray, np.ndarray]:
    """States between those of a way: angles as cubics that have the speeds at both ends.

    Args:
        time: (n,) s.
        states: (n, 2k) each angle followed by its speed.
        looks: how many there are for each step, its end among them.

    Returns:
        ((n - 1) looks + 1,) times, and the states then; of the speeds, straight lines.
    """
    h = np.diff(time)[:, None, None]
    x = (np.arange(1, looks + 1) / looks)[:, None]
    begin, end = states[:-1, None], states[1:, None]
    found = begin + x * (end - begin)
    p, q, u, v = begin[..., ::2], end[..., ::2], h * begin[..., 1::2], h * end[..., 1::2]
    found[..., ::2] = (
        (1.0 + 2.0 * x) * (1.0 - x) ** 2 * p + x * (1.0 - x) ** 2 * u
        + x * x * (3.0 - 2.0 * x) * q + x * x * (x - 1.0) * v
    )
    times = time[:-1, None] + x[:, 0] * h[:, :, 0]
    return (
        np.concatenate([time[:1], times.ravel()]),
        np.concatenate([states[:1], found.reshape(-1, states.shape[1])]),
    )
