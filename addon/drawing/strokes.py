# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines that are drawn over the viewport, as arrays. Numpy only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# What is drawn on the ground floats this far over it, metres.
LIFT = 0.02

PATH_COLOUR = (0.95, 0.95, 0.95, 0.8)
GHOST_COLOUR = (0.25, 0.75, 1.0, 0.8)
TRACK_COLOUR = (1.0, 0.85, 0.2, 1.0)
WARNING_COLOUR = (1.0, 0.25, 0.1, 1.0)


@dataclass(frozen=True)
class Strokes:
    """Lines of one width.

    Attributes:
        points: (2 m, 3) ends of m segments, metres or pixels.
        colours: (2 m, 4) RGBA at the ends.
        width: pixels at interface scale 1.
        in_front: also faintly visible through what is in front of it.
    """

    points: np.ndarray
    colours: np.ndarray
    width: float
    in_front: bool = True


@dataclass(frozen=True)
class Mark:
    """A word at a place of the scene.

    Attributes:
        text: what it says.
        place: (3,) m.
        colour: RGBA.
    """

    text: str
    place: np.ndarray
    colour: tuple[float, float, float, float]


@dataclass(frozen=True)
class Palette:
    """Colours from the preferences."""

    ghost: tuple[float, ...] = GHOST_COLOUR
    track: tuple[float, ...] = TRACK_COLOUR
    warning: tuple[float, ...] = WARNING_COLOUR


def path_strokes(points: np.ndarray, colours, width: float, in_front: bool = True) -> Strokes:
    """A path as segments.

    Args:
        points: (n, 3) path.
        colours: (n, 4) RGBA along it, or one RGBA.
        width: pixels.
        in_front: see `Strokes`.
    """
    points = np.asarray(points, dtype=float)
    colours = np.broadcast_to(np.asarray(colours, dtype=float), (len(points), 4))
    return Strokes(
        np.stack((points[:-1], points[1:]), axis=1).reshape(-1, points.shape[1]),
        np.stack((colours[:-1], colours[1:]), axis=1).reshape(-1, 4),
        width,
        in_front,
    )


def polyline_segments(lines: list[np.ndarray]) -> np.ndarray:
    """Polylines as segments.

    Args:
        lines: (k, d) points each, two at least.

    Returns:
        (2 m, d) ends of m segments.
    """
    parts = [np.stack((line[:-1], line[1:]), axis=1).reshape(-1, line.shape[1]) for line in lines]
    return np.concatenate(parts)


def vertex_data(strokes: Strokes, unit: float) -> dict[str, np.ndarray]:
    """What the graphics card gets: single precision, in Blender units.

    Args:
        strokes: lines in metres, or in pixels with `unit` 1.
        unit: Blender units per metre.
    """
    return {
        "pos": np.ascontiguousarray(strokes.points * unit, np.float32),
        "color": np.ascontiguousarray(strokes.colours, np.float32),
    }
