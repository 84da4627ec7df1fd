# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a mesh stands in the way near the ground: its outline, hollows and all."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, cKDTree

from ...solvers.path import Disc, Polygon, Wall

# What of a mesh is this far over and under the ground is in the way, metres.
OVER, UNDER = 1.0, 0.25

# Corners of a footprint that are this nearly as far from its middle make it round.
ROUND = 0.12

# What fills this share of its convex outline is taken to be convex. Parts are cut at so
# many heights, and have at most so many corners at each.
CONVEX, LEVELS, MOST_CORNERS = 0.9, 4, 400
STRAIGHT = 1e-4  # sine of a corner that is none

# A part that is larger can go from one level of a terrain to another, metres.
LARGE = 6.0

Solid = Disc | Polygon | Wall


def footprints(
    points: np.ndarray,
    triangles: np.ndarray,
    ground: float,
    name: str,
    world_z: np.ndarray | None = None,
) -> list[Solid]:
    """What of a mesh stands in the way, seen from above, loose part by loose part.

    Only what lies between `UNDER` the ground and `OVER` it counts. Horizontal
    planes cut each part at `LEVELS` heights. If what they cut out nearly fills
    its own convex outline at each of them, the part is its convex outline;
    else it is what they cut out.

    Args:
        points: (n, 3) vertices in the world, m.
        triangles: (m, 3) of them.
        ground: world Z of the ground, m.
        name: what the animator calls it.
        world_z: (n,) world Z of the vertices, where the heights of `points` are
            over a terrain, m: what is found gets heights, too. None for level
            ground.

    Returns:
        Discs for what is round, polygons for what is solid, walls for what is
        flat, open or hollow.
    """
    if not len(points) or not len(triangles) or not np.isfinite(points).all():
        return []
    low, high = ground - UNDER, ground + OVER
    pairs = triangles[:, [0, 1, 2, 1, 2, 0]].reshape(-1, 2, 3).transpose(0, 2, 1).reshape(-1, 2)
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=2 * (len(points),))
    _count, part = connected_components(graph, directed=False)
    order = np.argsort(part[triangles[:, 0]], kind="stable")
    owners = part[triangles[order, 0]]
    found: list[Solid] = []
    for group in np.split(triangles[order], np.flatnonzero(np.diff(owners)) + 1):
        part_of = _of_part(points, group, low, high, name)
        if world_z is not None:
            rows = np.unique(group)
            part_of = [_with_heights(s, points[rows], world_z[rows], low, high) for s in part_of]
        found += part_of
    return found


def _with_heights(
    solid: Solid, points: np.ndarray, world_z: np.ndarray, low: float, high: float
) -> Solid:
    """What was found of a part, with its height in the world: of a large one, place by place."""
    if isinstance(solid, Disc) or np.ptp(points[:, :2], axis=0).max() <= LARGE:
        return replace(solid, heights=(float(world_z.min()), float(world_z.max())))
    near = (points[:, 2] >= low) & (points[:, 2] <= high)
    near = near if near.any() else np.ones(len(points), dtype=bool)
    _far, row = cKDTree(points[near, :2]).query(solid.points[:, :2])
    return replace(solid, points=np.column_stack((solid.points[:, :2], world_z[near][row])))


def _of_part(
    points: np.ndarray, triangles: np.ndarray, low: float, high: float, name: str
) -> list[Solid]:
    used = points[np.unique(triangles)]
    bottom, top = max(low, used[:, 2].min()), min(high, used[:, 2].max())
    if bottom > top:
        return []
    edges = np.unique(np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)), axis=0)
    inside = used[(used[:, 2] >= low) & (used[:, 2] <= high), :2]
    cuts = [_crossings(points, edges, level)[1] for level in (low, high)]
    corners = convex_hull(np.concatenate((inside, *cuts)))
    convex = outline(corners, name)
    if len(corners) < 3 or len(triangles) == 1:
        return [convex]
    if top - bottom > 1e-6:
        # Not at the very ends, where faces may lie in the plane.
        levels = bottom + (top - bottom) * (np.arange(LEVELS) + 0.5) / LEVELS
        layers = [_cut(points, triangles, level) for level in levels]
    else:
        layers = [_rim(points, triangles)]
    if all(map(_is_convex, layers)):
        return [convex]
    found: list[Solid] = []
    seen: list[np.ndarray] = []
    for layer in layers:
        hollow = any(_filled(line, layer) < 0.0 for line, closed in layer if closed)
        for line, closed in layer:
            if any(line.shape == other.shape and np.allclose(line, other, atol=0.01)
                   for other in seen):  # an upright wall is the same at every height
                continue
            seen.append(line)
            if closed and not hollow:
                found.append(Polygon(line, name))
            else:
                found.append(Wall(np.concatenate((line, line[:1])) if closed else line, name))
    return found


def _is_convex(layer: list[tuple[np.ndarray, bool]]) -> bool:
    """Whether what is solid at a height nearly fills its convex outline there."""
    if not layer:
        return True
    corners = convex_hull(np.concatenate([line for line, _closed in layer]))
    solid = sum(_filled(line, layer) for line, closed in layer if closed)
    return len(corners) < 3 or solid >= CONVEX * abs(_area(corners))


def _filled(line: np.ndarray, layer: list[tuple[np.ndarray, bool]]) -> float:
    """Area that a closed line adds to what is solid; it takes it away inside another one."""
    around = sum(
        _holds(other, line[0]) for other, closed in layer if closed and other is not line
    )
    return abs(_area(line)) * (1.0 if around % 2 == 0 else -1.0)


def _crossings(
    points: np.ndarray, edges: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Which edges a horizontal plane cuts, and where (k, 2)."""
    a, b = points[edges[:, 0]], points[edges[:, 1]]
    cut = np.flatnonzero((a[:, 2] > level) != (b[:, 2] > level))
    a, b = a[cut], b[cut]
    t = ((level - a[:, 2]) / (b[:, 2] - a[:, 2]))[:, None]
    return cut, a[:, :2] + t * (b[:, :2] - a[:, :2])


def _cut(
    points: np.ndarray, triangles: np.ndarray, level: float
) -> list[tuple[np.ndarray, bool]]:
    """Lines along which a horizontal plane cuts triangles, and whether they are closed."""
    sides = triangles[:, [[0, 1], [1, 2], [2, 0]]]
    edges, number = np.unique(np.sort(sides.reshape(-1, 2)), axis=0, return_inverse=True)
    cut, places = _crossings(points, edges, level)
    row = np.full(len(edges), -1)
    row[cut] = np.arange(len(cut))
    rows = row[number.reshape(-1, 3)]
    rows = rows[np.count_nonzero(rows >= 0, axis=1) == 2]
    return _traced(places, np.sort(rows, axis=1)[:, 1:])


def _rim(points: np.ndarray, triangles: np.ndarray) -> list[tuple[np.ndarray, bool]]:
    """Lines around flat faces: their edges that belong to one face only."""
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2))
    edges, count = np.unique(sides, axis=0, return_counts=True)
    return _traced(points[:, :2], edges[count == 1])


def _traced(places: np.ndarray, pairs: np.ndarray) -> list[tuple[np.ndarray, bool]]:
    """Join pairs of places to lines (k, 2), and say which are closed."""
    beside = defaultdict(list)
    for a, b in pairs.tolist():
        beside[a].append(b)
        beside[b].append(a)
    lines = []
    left = {tuple(sorted(pair)) for pair in pairs.tolist()}
    # Ends of open lines first, so that none is begun in its middle.
    for start in sorted(beside, key=lambda i: (len(beside[i]) == 2, i)):
        while any(tuple(sorted((start, i))) in left for i in beside[start]):
            way = [start]
            while True:
                following = [i for i in beside[way[-1]] if tuple(sorted((way[-1], i))) in left]
                if not following:
                    break
                left.discard(tuple(sorted((way[-1], following[0]))))
                way.append(following[0])
                if way[-1] == start:
                    break
            closed = way[-1] == start and len(way) > 3
            line = _thinned(places[way[:-1] if closed else way], closed)
            if len(line) > (2 if closed else 1):
                lines.append((line, closed))
    return lines


def _thinned(line: np.ndarray, closed: bool) -> np.ndarray:
    """Without places where a line does not bend, and with at most `MOST_CORNERS` of the others.

    A closed line goes anticlockwise from its corner with the least x, so that
    the same outline at another height is the same array.
    """
    line = line[np.linalg.norm(np.diff(line, axis=0, prepend=np.inf), axis=1) > 1e-6]
    if len(line) < 3:
        return line
    ahead, before = np.roll(line, -1, axis=0) - line, line - np.roll(line, 1, axis=0)
    cross = before[:, 0] * ahead[:, 1] - before[:, 1] * ahead[:, 0]
    bends = np.abs(cross) > STRAIGHT * np.hypot(*ahead.T) * np.hypot(*before.T)
    if not closed:
        bends[[0, -1]] = True
    line = line[bends]
    if closed and len(line):
        line = line if _area(line) > 0.0 else line[::-1]
        line = np.roll(line, -int(np.lexsort(np.round(line, 6).T[::-1])[0]), axis=0)
    return line[:: -(-len(line) // MOST_CORNERS)] if len(line) > MOST_CORNERS else line


def _area(corners: np.ndarray) -> float:
    x, y = np.asarray(corners, dtype=float)[:, :2].T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


def _holds(corners: np.ndarray, place: np.ndarray) -> bool:
    """Whether a place is inside a polygon: a ray from it crosses an odd number of sides."""
    after = np.roll(corners, -1, axis=0)
    spans = (corners[:, 0] > place[0]) != (after[:, 0] > place[0])
    a, b = corners[spans], after[spans]
    height = a[:, 1] + (place[0] - a[:, 0]) * (b[:, 1] - a[:, 1]) / (b[:, 0] - a[:, 0])
    return bool(np.count_nonzero(height > place[1]) % 2)


def outline(corners: np.ndarray, name: str) -> Solid:
    """A convex outline: a disc if it is round, a wall if it is a line.

    Args:
        corners: (n, 2) of it, m.
        name: what the animator calls it.
    """
    if len(corners) == 1:
        return Disc(corners[0], 0.0, name)
    if len(corners) == 2:
        return Wall(corners, name)
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    radii = np.hypot(*(corners - middle).T)
    if len(corners) > 5 and np.ptp(radii) <= ROUND * radii.max():
        return Disc(middle, float(radii.max()), name)
    return Polygon(corners, name)


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Corners of the convex hull, anticlockwise.

    Args:
        points: (n, 2), n > 0.

    Returns:
        (k, 2) corners; one or two where all points lie in a place or on a line.
    """
    places = np.unique(np.round(points, 6), axis=0)
    ends = places[[0, -1]]  # in the order of x, then of y
    (x, y), (along_x, along_y) = (places - ends[0]).T, ends[1] - ends[0]
    if np.abs(x * along_y - y * along_x).max() <= 1e-9:
        return places[:1] if len(places) == 1 else ends
    return _thinned(places[ConvexHull(places).vertices], True)
