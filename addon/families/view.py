# SPDX-License-Identifier: GPL-3.0-or-later
"""How a family shows its motions: numbers for the panel, strokes for the viewport, diagrams.

What tracks alone tell is drawn of any motion; a family says what there is besides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol

import bpy
import numpy as np

from ..drawing.diagrams import Diagram
from ..drawing.strokes import LIFT, PATH_COLOUR, Mark, Palette, Strokes, path_strokes
from ..mapping.tracks import JointTracks, RoleTracks
from .base import S

SIZE = 0.03  # m: half a cross that marks where a role is


class Numbers(Protocol):
    """What the panel says about a motion."""

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Lines for the panel: (what, how much)."""
        ...


@dataclass(frozen=True)
class TrackNumbers:
    """What tracks alone tell.

    Attributes:
        seconds: how long it takes.
        distance: length of its way, m.
    """

    seconds: float
    distance: float

    def lines(self) -> tuple[tuple[str, str], ...]:
        """How long and how far."""
        found = [("Time", f"{self.seconds:.2f} s")]
        if self.distance > 0.005:
            found.append(("Way", f"{self.distance:.1f} m"))
        return tuple(found)


@dataclass(frozen=True)
class Way:
    """Where a motion goes, for what follows it.

    Attributes:
        time: (n,) s.
        position: (n, 3) on the ground under the figure, m.
        forward: (n, 3) unit vectors, where it is going.
        normal: (n, 3) unit normals of the ground.
        distance: length of the way, m.
        beat: time after which it has swung from one side to the other, s.
    """

    time: np.ndarray
    position: np.ndarray
    forward: np.ndarray
    normal: np.ndarray
    distance: float
    beat: float


@dataclass(frozen=True)
class Ball:
    """A ball that flies about.

    Attributes:
        places: (n, 3) where it is at whole frames, m; nan before it is let go.
        radius: m.
    """

    places: np.ndarray
    radius: float


_CIRCLE = np.stack(
    [f(np.linspace(0.0, 2.0 * np.pi, 25)) for f in (np.cos, np.sin, np.zeros_like)], axis=1
)


def ball_ways(balls: Sequence[Ball]) -> list[Strokes]:
    """Where balls fly.

    Args:
        balls: which.
    """
    ways = [ball.places[np.isfinite(ball.places).all(axis=1)] for ball in balls]
    return [path_strokes(way, PATH_COLOUR, 1.5) for way in ways if len(way) > 1]


def ball_rings(balls: Sequence[Ball], frame: int) -> list[Strokes]:
    """Balls at a frame, each as three circles.

    Args:
        balls: which.
        frame: number of the whole frame.
    """
    return [
        path_strokes(
            ball.places[frame] + ball.radius * np.roll(_CIRCLE, axis, axis=1), PATH_COLOUR, 1.5
        )
        for ball in balls if np.isfinite(ball.places[frame]).all() for axis in range(3)
    ]


class View(Generic[S]):
    """What is shown of a family's motions."""

    # Of the diagram in the corner of the viewport: pixels at interface scale 1, and whether
    # it shows the time around the current frame.
    inset_size: ClassVar[tuple[int, int]] = (150, 120)
    inset_rolls: ClassVar[bool] = False

    def numbers(self, solved: S) -> Numbers:
        """Sum a motion up in a few numbers.

        Args:
            solved: a solved motion.
        """
        way = self.way(solved)
        return TrackNumbers(float(solved.tracks.time[-1] - solved.tracks.time[0]), way.distance)

    def track(self, solved: S, palette: Palette) -> list[Strokes]:
        """What of a motion is drawn on the ground: where it goes, and what happens where.

        Args:
            solved: a solved motion.
            palette: colours.
        """
        root, links, tracks = solved.root, solved.job.links, solved.tracks
        if root is not None:
            return [path_strokes(root + (0.0, 0.0, LIFT), np.asarray(palette.track), 2.0)]
        if links is None or not isinstance(tracks, JointTracks):
            return []
        places = links.places(tracks, slice(None))
        return [
            path_strokes(places[name][:, 1], np.asarray(palette.track), 1.5)
            for name in links.ends(tracks)
        ]

    def course(self, solved: S) -> list[Strokes]:
        """What the motion is led by, drawn beside its track.

        Args:
            solved: a solved motion.
        """
        return []

    def rejected(self, solved: S) -> list[Strokes]:
        """What a search looked at and rejected.

        Args:
            solved: a solved motion.
        """
        return []

    def levels(self, solved: S) -> tuple[str, list[tuple[str, float]]]:
        """Values of a keyed setting that mean something: lines in the Graph Editor.

        Args:
            solved: a solved motion.

        Returns:
            Data path of the setting on the Motion object, "" for none, and what each value is
            called, and it.
        """
        return "", []

    def shows_levels(self, motion: bpy.types.Object) -> bool:
        """Whether the animator wants lines in the Graph Editor.

        Args:
            motion: the Motion object.
        """
        return False

    def marks(self, solved: S) -> list[Mark]:
        """Words beside what is drawn.

        Args:
            solved: a solved motion.
        """
        return []

    def ghost(self, solved: S, row: int, palette: Palette) -> list[Strokes]:
        """The figure at one sample.

        Args:
            solved: a solved motion.
            row: the sample.
            palette: colours.
        """
        tracks, links = solved.tracks, solved.job.links
        if isinstance(tracks, RoleTracks):
            arms = SIZE * np.concatenate((np.eye(3), -np.eye(3)))[[0, 3, 1, 4, 2, 5]]
            places = [values[row] + arms for values in tracks.position.values()]
        elif links is not None:
            places = [ends[0] for ends in links.places(tracks, slice(row, row + 1)).values()]
        else:
            places = []
        if not places:
            return []
        points = np.concatenate(places)
        return [Strokes(points, np.tile(np.asarray(palette.ghost, float), (len(points), 1)), 2.5)]

    def hud(self, solved: S, row: int) -> list[str]:
        """What the corner of the viewport says about one sample.

        Args:
            solved: a solved motion.
            row: the sample.
        """
        return []

    def way(self, solved: S) -> Way:
        """Where a motion goes, for the chase camera.

        Args:
            solved: a solved motion.
        """
        time, root = solved.tracks.time, solved.root
        place = np.zeros((len(time), 3)) if root is None else root
        step = np.diff(place, axis=0, append=place[-1:])
        length = np.linalg.norm(step, axis=1)
        ahead = np.tile((0.0, -1.0, 0.0), (len(time), 1))
        goes = length > 1e-6
        ahead[goes] = step[goes] / length[goes, None]
        up = np.tile((0.0, 0.0, 1.0), (len(time), 1))
        return Way(time, place, ahead, up, float(length.sum()), float(time[-1] - time[0]))

    def shows_inset(self, motion: bpy.types.Object) -> bool:
        """Whether the animator wants the small diagram.

        Args:
            motion: the Motion object.
        """
        return True

    def inset(self, solved: S, row: int, width: int, height: int) -> Diagram | None:
        """The small diagram in the corner of the viewport.

        Args:
            solved: a solved motion.
            row: the sample of the current frame.
            width: pixels.
            height: pixels.
        """
        return None

    def inset_now(self, solved: S, row: int, width: int, height: int) -> np.ndarray:
        """(2,) where the current frame is in that diagram, or (n, 2) a line there, pixels.

        Args:
            solved: a solved motion.
            row: the sample of the current frame.
            width: pixels.
            height: pixels.
        """
        raise NotImplementedError

    def diagrams(self) -> Mapping[str, Callable[[Any], Diagram]]:
        """Diagrams that can be saved: kind -> what draws one of a solver's motion."""
        return {}

    def balls(self, solved: S) -> tuple[Ball, ...]:
        """What flies about, in the order in which it is listed in the settings.

        Args:
            solved: a solved motion.
        """
        return ()

    def trail(self, solved: S) -> str:
        """Why a motion can leave no trail, and has no use for a slope; "" if it can.

        Args:
            solved: a solved motion.
        """
        return f"{solved.job.name} leaves no trail, and needs no slope"
