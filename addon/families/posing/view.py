# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown of pose timing: limbs as they are keyed, as they move, and where they are to be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....solvers.dynamics.disturbances import Ball as Thrown
from ...drawing.strokes import PATH_COLOUR, Mark, Palette, Strokes, path_strokes
from ..view import Ball, View, ball_rings, ball_ways
from .job import SolvedPoses

KEYED_COLOUR = (0.6, 0.6, 0.6, 0.7)


@dataclass(frozen=True)
class PoseNumbers:
    """What the panel says.

    Attributes:
        bones: how many bones move.
        reached: how many targets were reached on their frames.
        targets: how many there are.
        worst: largest angle by which a joint missed its pose, rad.
        hits: how often a ball met a limb.
    """

    bones: int
    reached: int
    targets: int
    worst: float
    hits: int

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Lines for the panel: (what, how much)."""
        found = [("Bones", str(self.bones))]
        if self.targets:
            found += [
                ("Reached", f"{self.reached} of {self.targets}"),
                ("Largest Error", f"{np.degrees(self.worst):.2f}°"),
            ]
        if self.hits:
            found.append(("Hits", str(self.hits)))
        return tuple(found)


class PosingView(View[SolvedPoses]):
    """How pose timing is shown."""

    def numbers(self, solved: SolvedPoses) -> PoseNumbers:
        arrivals = [a for motion in solved.motion.motions for a in motion.arrivals]
        errors = [float(a.error.max(initial=0.0)) for a in arrivals]
        return PoseNumbers(
            len(solved.tracks.turn), sum(error < np.radians(0.1) for error in errors),
            sum(len(part.targets) for part in solved.job.parts), max(errors, default=0.0),
            sum(len(motion.hits) for motion in solved.motion.motions),
        )

    def track(self, solved: SolvedPoses, palette: Palette) -> list[Strokes]:
        """Ways of the ends of limbs, and of the balls."""
        strokes = []
        for places in solved.motion.physical.values():
            strokes.append(path_strokes(places[:, 1], np.asarray(palette.track), 1.5))
        return strokes + ball_ways(self.balls(solved))

    def balls(self, solved: SolvedPoses) -> tuple[Ball, ...]:
        """Balls: each as those limbs send it that it meets first."""
        motions = solved.motion.motions
        thrown = [d for d in solved.job.parts[0].disturbances if isinstance(d, Thrown)]
        found = []
        for number, ball in enumerate(thrown):
            first = [
                min((hit.time for hit in motion.hits if hit.ball == number), default=np.inf)
                for motion in motions
            ]
            places = motions[int(np.argmin(first))].flights[:, number]
            found.append(Ball(places, ball.radius))
        return tuple(found)

    def marks(self, solved: SolvedPoses) -> list[Mark]:
        """Names of the targets where the last limb of their bones is then."""
        found = []
        for part in solved.job.parts:
            tip = [b for b, m in zip(part.bones, part.moving, strict=True) if m][-1]
            for target, name in zip(part.targets, part.names, strict=True):
                row = int(solved.tracks.clock.row_of(target.time * solved.tracks.clock.rate))
                found.append(Mark(name, solved.motion.physical[tip][row, 1], PATH_COLOUR))
        return found

    def ghost(self, solved: SolvedPoses, row: int, palette: Palette) -> list[Strokes]:
        """Limbs as they are without this motion, and with it."""
        strokes = []
        for places, colour, width in (
            (solved.motion.keyed, KEYED_COLOUR, 1.5),
            (solved.motion.physical, palette.ghost, 2.5),
        ):
            points = np.concatenate([values[row] for values in places.values()])
            colours = np.tile(np.asarray(colour, float), (len(points), 1))
            strokes.append(Strokes(points, colours, width))
        return strokes + ball_rings(self.balls(solved), row)

    def trail(self, solved: SolvedPoses) -> str:
        return f"{solved.job.name} poses limbs: it leaves no trail, and needs no slope"
