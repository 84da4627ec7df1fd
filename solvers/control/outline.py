# SPDX-License-Identifier: GPL-3.0-or-later
"""The outline of what triangles in a plane cover together.

Of triangles turned counterclockwise, an edge that another one has the other way round is inside.
The others are cut where they meet, and of the pieces those are left beyond which nothing is.
Triangles without area, of sheets that are seen from the side, are lines with two sides.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ..errors import SettingError

GRAIN = 1e-5
"""m: what differs by less is the same."""
MOST = 3000
"""Edges, before they are cut, of which an outline is made."""
AT_ONCE = 1_000_000  # pairs that are looked at in one go
BESIDE = 64  # pieces beside each other, likewise


@dataclass(frozen=True)
class Outline:
    """Edges with what is solid on their left.

    Attributes:
        edges: (e, 2, 2) m, where they begin and end.
        things: (e,) number of the thing that each is of.
        corners: (v,) edges that end in corners, and (v,) that go on from there.
        out: (v, 2) unit vectors out of the corners; 0 of those that go inwards.
    """

    edges: np.ndarray
    things: np.ndarray
    corners: tuple[np.ndarray, np.ndarray]
    out: np.ndarray


def outline(things: list[np.ndarray]) -> Outline:
    """What covers a plane, all things together.

    Args:
        things: (m, 3, 2) triangles of each, m.

    Raises:
        SettingError: there are too many edges.
    """
    triangles = np.concatenate([np.zeros((0, 3, 2)), *things])
    owner = np.repeat(np.arange(len(things)), [len(one) for one in things])
    sides = np.roll(triangles, -1, axis=1) - triangles
    area = _cross(sides[:, 0], sides[:, 1])
    fat = np.abs(area) > GRAIN * np.linalg.norm(sides, axis=2).max(axis=1, initial=0.0)
    turned = np.where((area < 0.0)[:, None, None], triangles[:, ::-1], triangles)
    found: dict[tuple, int] = {}
    for triangle, number in zip(turned[fat].tolist(), owner[fat].tolist(), strict=True):
        for a, b in zip(triangle, triangle[1:] + triangle[:1], strict=True):
            found.setdefault((_key(a), _key(b)), number)
    found = {edge: number for edge, number in found.items() if edge[::-1] not in found}
    for triangle, number in zip(turned[~fat].tolist(), owner[~fat].tolist(), strict=True):
        for a, b in zip(triangle, triangle[1:] + triangle[:1], strict=True):
            for edge in ((_key(a), _key(b)), (_key(b), _key(a))):
                if edge[0] != edge[1]:
                    found.setdefault(edge, number)
    if len(found) > MOST:
        raise SettingError("Edges of outlines", len(found), f"at most {MOST:,}: simpler meshes")
    edges = np.array(list(found), float).reshape(-1, 2, 2) * GRAIN
    pieces, of = _cut(edges)
    bare = ~_covered(pieces, turned[fat])
    left: dict[tuple, int] = {}
    numbers = list(found.values())
    for (a, b), k in zip(pieces[bare].tolist(), of[bare].tolist(), strict=True):
        if _key(a) != _key(b):
            left.setdefault((_key(a), _key(b)), numbers[k])
    edges = np.array(list(left), float).reshape(-1, 2, 2) * GRAIN
    return Outline(edges, np.array(list(left.values()), int), *_corners(edges))


def _key(point) -> tuple[int, int]:
    return round(point[0] / GRAIN), round(point[1] / GRAIN)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _cut(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(p, 2, 2) pieces of edges between where others cross them or end at them, and of which."""
    begin, way = edges[:, 0], edges[:, 1] - edges[:, 0]
    length = np.linalg.norm(way, axis=1)
    who, where = [np.repeat(np.arange(len(edges)), 2)], [np.tile((0.0, 1.0), len(edges))]
    for first in range(0, len(edges), max(AT_ONCE // max(len(edges), 1), 1)):
        rows = slice(first, first + max(AT_ONCE // max(len(edges), 1), 1))
        off = begin[None] - begin[rows, None]
        across = _cross(way[rows, None], way[None])
        with np.errstate(divide="ignore", invalid="ignore"):
            there = _cross(off, way[rows, None]) / across  # along the other one
            here = _cross(off, way[None]) / across
            slack = GRAIN / length
            meets = (there >= -slack) & (there <= 1.0 + slack) & np.isfinite(here)
        # Ends of others on an edge that goes the same way.
        ends = np.einsum("rei,ri->re", off, way[rows]) / length[rows, None] ** 2
        on = np.abs(_cross(off, way[rows, None])) <= GRAIN * length[rows, None]
        for at, valid in ((here, meets), (ends, on)):
            row, column = np.nonzero(valid & (at > 0.0) & (at < 1.0))
            who.append(row + first)
            where.append(at[row, column])
    number, share = np.concatenate(who), np.concatenate(where)
    order = np.lexsort((share, number))
    number, share = number[order], share[order]
    same = number[1:] == number[:-1]
    of = number[:-1][same]
    pieces = begin[of, None] + np.stack((share[:-1][same], share[1:][same]), 1)[..., None] * (
        way[of, None]
    )
    long = (share[1:] - share[:-1])[same] * length[of] > GRAIN
    return pieces[long], of[long]


def _covered(pieces: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(p,) whether something covers what is beyond a piece of an edge, on its right."""
    way = pieces[:, 1] - pieces[:, 0]
    way /= np.linalg.norm(way, axis=1)[:, None]
    beyond = pieces.mean(axis=1) + 2.0 * GRAIN * np.stack((way[:, 1], -way[:, 0]), axis=1)
    found, order = np.zeros(len(pieces), bool), np.argsort(beyond[:, 0])
    low, high = triangles[..., 0].min(axis=1), triangles[..., 0].max(axis=1)
    for first in range(0, len(pieces), BESIDE):
        rows = order[first : first + BESIDE]
        near = triangles[(low <= beyond[rows[-1], 0]) & (high >= beyond[rows[0], 0])]
        off = beyond[rows, None, None] - near
        sides = np.roll(near, -1, axis=1) - near
        found[rows] = (_cross(sides, off) >= 0.0).all(axis=2).any(axis=1)
    return found


def _corners(edges: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Edges before and after each corner, and the way out of it."""
    ways = edges[:, 1] - edges[:, 0]
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    after = defaultdict(list)
    for k, (a, _) in enumerate(edges.tolist()):
        after[_key(a)].append(k)
    before, then, out = [], [], []
    for k, (a, b) in enumerate(edges.tolist()):
        going = after[_key(b)]
        # A sheet turns back at its end alone.
        on = [j for j in going if _key(edges[j, 1]) != _key(a)] or going
        angles = []
        for j in on:
            # What is solid between the two edges; 0 at the end of a sheet.
            turn = np.arctan2(_cross(ways[k], ways[j]), ways[k] @ ways[j])
            angles.append(((np.pi - turn) % (2.0 * np.pi), j))
        if not angles:
            continue
        solid, j = min(angles)
        if abs(solid - np.pi) < 1e-4:
            continue
        before.append(k)
        then.append(j)
        if solid > np.pi:
            out.append(np.zeros(2))
        else:
            along = ways[k] - ways[j]
            out.append(along / np.linalg.norm(along))
    return (np.array(before, int), np.array(then, int)), np.array(out).reshape(-1, 2)
