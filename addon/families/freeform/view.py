# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown of free-form motion: the figure, its postures, and the way of its mass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ....solvers import rotations
from ....solvers.freeform.body import links
from ...drawing.strokes import LIFT, PATH_COLOUR, Mark, Palette, Strokes, path_strokes
from ...settings.freeform import DISTANCE
from ..base import S
from ..view import View
from .job import SolvedFreeform

POSTURE_COLOUR = (0.6, 0.6, 0.6, 0.5)
HELD_COLOUR = (0.25, 0.85, 0.35, 1.0)
CROSS = 0.04  # m, half a cross where a limb bears


@dataclass(frozen=True)
class FreeformNumbers:
    """What the panel says.

    Attributes:
        seconds: how long it takes.
        postures: how many there are.
        flights: seconds of each time in the air.
        rise: how high the mass comes over where it leaves the ground, m.
    """

    seconds: float
    postures: int
    flights: tuple[float, ...]
    rise: float

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Lines for the panel: (what, how much)."""
        found = [("Time", f"{self.seconds:.2f} s"), ("Postures", str(self.postures))]
        if self.flights:
            found += [
                ("In the Air", ", ".join(f"{span:.2f} s" for span in self.flights)),
                ("Rise", f"{self.rise:.2f} m"),
            ]
        return tuple(found)


class PacedView(View[S]):
    """How motions are shown whose speed is designed apart from their path."""

    def levels(self, solved: Any) -> tuple[str, list[tuple[str, float]]]:
        """Shares of the way at which the postures lie."""
        names = solved.job.names
        return DISTANCE, [(name, float(x)) for name, x in zip(names, solved.shares, strict=False)]

    def shows_levels(self, motion: bpy.types.Object) -> bool:
        settings = motion.poise_motion.freeform
        paced = settings.timing == "DISTANCE" and settings.pace == "CURVE"
        return paced and settings.show_lines


class FreeformView(PacedView[SolvedFreeform]):
    """How free-form motion is shown."""

    def numbers(self, solved: SolvedFreeform) -> FreeformNumbers:
        motion = solved.motion
        rise = 0.0
        for start, end in motion.flights:
            rows = np.flatnonzero((motion.times >= start) & (motion.times <= end))
            if len(rows):
                high = motion.centre[rows, 2]
                rise = max(rise, float(high.max() - high[0]))
        return FreeformNumbers(
            float(motion.times[-1]), len(solved.job.names),
            tuple(float(b - a) for a, b in motion.flights), rise,
        )

    def track(self, solved: SolvedFreeform, palette: Palette) -> list[Strokes]:
        """The way on the ground, that of the mass, and footholds."""
        motion, root = solved.motion, solved.root
        assert root is not None  # a figure has one
        strokes = [path_strokes(root + (0.0, 0.0, LIFT), np.asarray(palette.track), 2.0)]
        strokes.append(path_strokes(motion.centre, PATH_COLOUR, 1.5))
        arms = CROSS * np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)], float)
        if solved.tracks.contacts:
            points = np.concatenate([c.position + arms for c in solved.tracks.contacts])
            colours = np.tile(np.asarray(HELD_COLOUR), (len(points), 1))
            strokes.append(Strokes(points, colours, 2.0))
        return strokes

    def marks(self, solved: SolvedFreeform) -> list[Mark]:
        """Names of the postures over the head."""
        found = []
        motion, names = solved.motion, solved.job.names
        if solved.job.timing == "FRAMES":
            times = (solved.job.frames - solved.job.start_frame) / solved.job.numbers.fps
            for name, time in zip(names, times, strict=True):
                row = int(np.argmin(np.abs(motion.times - time)))
                up = np.array((0.0, 0.0, 0.6 * solved.job.figure.height))
                found.append(Mark(name, motion.place[row] + up, PATH_COLOUR))
        return found

    def ghost(self, solved: SolvedFreeform, row: int, palette: Palette) -> list[Strokes]:
        """The figure as lines, at one sample."""
        points = bones(solved, row)
        colours = np.tile(np.asarray(palette.ghost, float), (len(points), 1))
        return [Strokes(points, colours, 2.5)]

    def hud(self, solved: SolvedFreeform, row: int) -> list[str]:
        """Who bears the body."""
        time = float(solved.motion.times[row])
        bears = [c.limb for c in solved.motion.contacts if c.start <= time <= c.end]
        return [", ".join(dict.fromkeys(bears)) or "In the air"]

    def trail(self, solved: SolvedFreeform) -> str:
        return f"{solved.job.name} leaves no trail, and needs no slope"


def bones(solved: SolvedFreeform, row: int) -> np.ndarray:
    """(2 m, 3) ends of all links at a sample, m.

    Args:
        solved: the motion.
        row: the sample.
    """
    motion, body = solved.motion, solved.body.body
    joints = motion.joints[row : row + 1].copy()
    joints[:, 0] = motion.turn[row]
    found = links(body, motion.place[row : row + 1], joints)
    parents = body.figure.parents
    inner = [(found.joints[0, p], found.joints[0, i]) for i, p in enumerate(parents) if p >= 0]
    leaves = sorted(set(range(len(parents))) - set(parents.tolist()))
    far = found.joints[0] + 2.0 * rotations.rotate(found.turns[0], body.figure.centres)
    inner += [(found.joints[0, i], far[i]) for i in leaves]
    return np.array(inner).reshape(-1, 3)
