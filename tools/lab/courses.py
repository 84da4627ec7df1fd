# SPDX-License-Identifier: GPL-3.0-or-later
"""The path following scenes of van de Panne, Fiume and Vranesic (1993), and
forests of any size, as numbers.

For demo scenes, pictures, tests and measurements. The paper prints its scenes
without figures: places and sizes here are chosen to look like Fig. 16 to 18
and Photo 5.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from poise.solvers.path.obstacles import Disc, Gate, Polygon, Wall
from poise.solvers.path.settings import PathScene, PathSettings
from scipy.interpolate import CubicSpline

# A rider with a bicycle, and how it steers.
BICYCLE: dict[str, Any] = {
    "max_curvature": 0.5, "max_curvature_rate": 2.0, "mass": 85.0, "height": 1.1, "inertia": 8.0,
}


def tree_skiing() -> tuple[PathScene, PathSettings]:
    """A skier among trees, on a path that winds down between them (Fig. 16).

    Returns:
        Scene and settings.
    """
    t = np.linspace(0.0, 1.0, 400)
    path = np.stack((7.0 * np.sin(2.0 * math.pi * 2.2 * t) * t**0.3, -110.0 * t), axis=1)
    trees = [
        (0.5, -13.0), (5.5, -17.0), (-4.5, -21.0), (6.2, -31.0), (-2.0, -30.0), (-9.0, -38.0),
        (-5.8, -41.5), (2.0, -44.0), (7.5, -52.0), (-2.5, -55.0), (3.5, -60.0), (9.5, -62.0),
        (-5.5, -68.0), (1.0, -73.0), (6.0, -77.0), (-8.5, -84.0), (-2.0, -88.0), (4.0, -94.0),
        (-7.0, -99.0), (1.0, -104.0), (8.5, -40.0), (-10.5, -58.0), (11.0, -86.0),
    ]
    obstacles = tuple(
        Disc(np.array(place), 0.3 + 0.05 * (i % 4), f"Tree {i + 1}")
        for i, place in enumerate(trees)
    )
    return PathScene((path,), obstacles=obstacles), PathSettings(speed=8.0, clearance=0.5)


def slalom(
    gates: int = 10, spacing: float = 14.0, offset: float = 1.0
) -> tuple[PathScene, PathSettings]:
    """A slalom course whose poles are lines, to be passed on one side only (Fig. 17).

    As in the paper, some additional obstacles keep the search near the course.

    Args:
        gates: how many poles.
        spacing: between them, down the hill, m.
        offset: of each from the middle, m, left and right in turn.

    Returns:
        Scene and settings.
    """
    walls, knots = [], [(0.0, 0.0)]
    for i in range(gates):
        side = 1.0 if i % 2 == 0 else -1.0
        y = -spacing * (i + 1.5)
        # The pole stands inside the turn, its line runs inward across the hill.
        walls.append(Wall(np.array([(side * offset, y), (-side * 7.0, y)]), f"Pole {i + 1}"))
        knots.append((side * (offset + 0.7), y))
    bottom = -spacing * (gates + 1.5)
    knots.append((0.0, bottom))
    for x in (-7.0, 7.0):
        walls.append(Wall(np.array([(x, 5.0), (x, bottom - 40.0)]), "Fence"))
    return (
        PathScene((_smooth(np.array(knots)),), obstacles=tuple(walls)),
        PathSettings(speed=7.0, clearance=0.15, max_curvature=0.25, max_curvature_rate=0.8),
    )


def gate_slalom(
    gates: int = 8, spacing: float = 13.0, offset: float = 1.3, width: float = 2.0
) -> tuple[PathScene, PathSettings]:
    """A slalom through gates of two poles, its path straight down the middle.

    Args:
        gates: how many.
        spacing: between them, down the hill, m.
        offset: of their middles, m, left and right in turn.
        width: between the poles, m.

    Returns:
        Scene and settings.
    """
    made = []
    for i in range(gates):
        x, y = (offset if i % 2 == 0 else -offset), -spacing * (i + 1.5)
        made.append(Gate(np.array([x + 0.5 * width, y]), np.array([x - 0.5 * width, y]), 0.02))
    path = np.array([(0.0, 0.0), (0.0, -spacing * (gates + 1.5))])
    return (
        PathScene((path,), gates=tuple(made)),
        PathSettings(speed=7.0, clearance=0.3, max_curvature=0.25, max_curvature_rate=0.8),
    )


def bicycle_corner() -> tuple[PathScene, PathSettings]:
    """A bicycle around the corner of a road that it may not leave (Fig. 18).

    Returns:
        Scene and settings.
    """
    turn = np.linspace(0.0, 0.5 * math.pi, 40)

    def edge(radius: float) -> np.ndarray:
        """A line beside the road's middle, which turns left about (8, -30)."""
        arc = np.stack((8.0 - radius * np.cos(turn), -30.0 - radius * np.sin(turn)), axis=1)
        return np.concatenate(([(8.0 - radius, 8.0)], arc, [(48.0, -30.0 - radius)]))

    scene = PathScene(
        (np.concatenate(([(0.0, 0.0)], edge(8.0)[1:-1], [(40.0, -38.0)])),),
        obstacles=(Wall(edge(5.5), "Inner edge"), Wall(edge(10.5), "Outer edge")),
    )
    return scene, PathSettings(speed=6.0, clearance=0.3, **BICYCLE)


def potholes() -> tuple[PathScene, PathSettings]:
    """A bicycle that avoids potholes on a straight road (Photo 5).

    Returns:
        Scene and settings.
    """
    holes = [(0.1, -18.0), (-0.7, -27.0), (0.5, -36.0), (0.0, -46.0), (0.9, -52.0), (-0.4, -60.0)]
    shape = np.linspace(0.0, 2.0 * math.pi, 9)[:-1]
    obstacles: list = []
    for i, (x, y) in enumerate(holes):
        radius = 0.35 + 0.08 * np.sin(3.0 * shape + i)
        obstacles.append(
            Polygon(
                np.stack((x + radius * np.cos(shape), y + radius * np.sin(shape)), axis=1),
                f"Pothole {i + 1}",
            )
        )
    for x in (-3.0, 3.0):
        obstacles.append(Wall(np.array([(x, 10.0), (x, -80.0)]), "Road edge"))
    scene = PathScene((np.array([(0.0, 0.0), (0.0, -70.0)]),), obstacles=tuple(obstacles))
    return scene, PathSettings(speed=5.5, clearance=0.2, **BICYCLE)


def forest(
    trees: int, length: float = 240.0, spacing: float = 8.0, seed: int = 1
) -> tuple[PathScene, PathSettings]:
    """A winding path through a forest, the same wood however many trees there are.

    Trees stand on a jittered grid about the path, nearest to it first; more
    trees make a larger forest, not a denser one.

    Args:
        trees: how many.
        length: of the path down the hill, m.
        spacing: of the trees, m.
        seed: what they are jittered by.

    Returns:
        Scene and settings.
    """
    t = np.linspace(0.0, length, max(2, int(4 * length)))
    path = np.stack((6.0 * np.sin(2.0 * math.pi * t / 55.0), -t), axis=1)
    rng = np.random.default_rng(seed)
    side = max(length + 40.0, spacing * (math.sqrt(trees) + 4.0)) + 4.0 * spacing
    grid = np.arange(-side, side, spacing)
    places = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    places = places + rng.uniform(-0.3, 0.3, places.shape) * spacing
    places[:, 1] -= 0.5 * length
    distance = np.min(
        np.hypot(places[:, None, 0] - path[None, ::8, 0], places[:, None, 1] - path[None, ::8, 1]),
        axis=1,
    )
    # Not in the first metres, where nothing could be done about it.
    free = (np.hypot(*places.T) > 12.0) & (distance > 0.6)
    order = np.argsort(np.where(free, distance, np.inf), kind="stable")[:trees]
    radii = rng.uniform(0.15, 0.4, trees)
    obstacles = tuple(
        Disc(place, float(radius), f"Tree {i + 1}")
        for i, (place, radius) in enumerate(zip(places[order], radii, strict=True))
    )
    return PathScene((path,), obstacles=obstacles), PathSettings(speed=8.0, clearance=0.4)


def closed_course(places: np.ndarray, spacing: float = 1.0) -> np.ndarray:
    """A smooth closed line through corners given by longitude and latitude.

    A periodic cubic spline over the chord length, on the plane that touches a
    sphere of the Earth's mean radius, 6371.0 km, at the mean latitude: exact to
    10^-4 of the length over 10 km.

    Args:
        places: (n, 2) longitude and latitude, degrees, in order; the last may
            be the first again.
        spacing: of the points of the line, m.

    Returns:
        (m, 2) east and north of the first place, m; the last joins the first.
    """
    angle = np.radians(np.asarray(places, dtype=float) - places[0])
    middle = math.radians(float(np.mean(np.asarray(places)[:, 1])))
    flat = 6.371e6 * angle * np.array([math.cos(middle), 1.0])
    closed = np.concatenate((flat, flat[:1]))
    closed = closed[np.linalg.norm(np.diff(closed, axis=0, prepend=np.inf), axis=1) > 0.5]
    closed[-1] = closed[0]
    way = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))))
    spline = CubicSpline(way, closed, bc_type="periodic")
    return spline(np.linspace(0.0, way[-1], max(8, round(way[-1] / spacing)), endpoint=False))


SCENES = {
    "tree skiing": tree_skiing,
    "slalom": slalom,
    "slalom through gates": gate_slalom,
    "bicycle around a corner": bicycle_corner,
    "potholes": potholes,
}


def _smooth(knots: np.ndarray) -> np.ndarray:
    """A piecewise cubic Hermite spline through knots, as the paper draws its paths."""
    slope = np.gradient(knots, axis=0)
    u = np.linspace(0.0, 1.0, 25)[:-1, None]
    a, b = (1.0 + 2.0 * u) * (1.0 - u) ** 2, u * (1.0 - u) ** 2
    c, d = u * u * (3.0 - 2.0 * u), u * u * (u - 1.0)
    parts = [
        a * p + b * m + c * q + d * n
        for p, q, m, n in zip(knots[:-1], knots[1:], slope[:-1], slope[1:], strict=True)
    ]
    return np.concatenate((*parts, knots[-1:]))
