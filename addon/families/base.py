# SPDX-License-Identifier: GPL-3.0-or-later
"""What a family of motions is: one place for all that differs between them.

A family reads its motions' settings into a frozen `Job` (main thread only),
solves jobs (pure, any thread), says what decides them, sums them up for the
panel, and draws them. Everything else (chains of motions, bake, preview,
panels) asks the family and knows no motion by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import bpy
import numpy as np

from ...solvers.motion import Problem
from ..drawing.diagrams import Diagram
from ..drawing.strokes import Mark, Palette, Strokes
from ..errors import UserError
from ..mapping.gaze import EyesStyle
from ..mapping.registry import MAPPINGS
from ..mapping.tracks import ROOT, Figure, RoleTracks
from ..scene.sampling import animated_settings
from ..scene.timing import SceneNumbers
from ..settings.rows import with_paths

# Raised when the same settings no longer give the same motion.
SOLVER_VERSION = 1

# Difference of speed in m/s at a seam that is worth a line in the problem list.
SPEED_STEP = 0.25

# A path that goes up and down by more (m) is worth one, and so is a figure that is so far from
# the origin that Blender tells places apart by no less (m).
LEVEL = 0.25
TELLS_APART = 1e-3

Progress = Callable[[float], None]


class NoMotion(UserError):
    """There is no way on from the very start: the problems say why.

    Args:
        problems: what was found.
    """

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        worst = next((p for p in problems if p.severity == "ERROR"), problems[0])
        super().__init__(worst.message + (f": {worst.remedy.lower()}" if worst.remedy else ""))
        self.problems = problems


@dataclass(frozen=True)
class Job:
    """Everything that decides a motion; nothing of Blender in it.

    Attributes:
        name: name of the Motion object.
        character: name of the character.
        kind: kind of character ("SKIER").
        motion: kind of motion ("TURNS").
        start_frame: first frame.
        end_frame: last frame; where the motion ends by itself, no more than a
            guess until it is solved.
        settings: the solver's settings.
        style: the mapping's style, amounts as numbers or sampled arrays.
        figure: the character's rest pose in metres.
        numbers: rate, units and gravity.
        before: the jobs that this one continues, first to last.
        following: the jobs that continue this one.
        eyes: how eyes look ahead, amounts as numbers or one for each frame; None of a
            character without eyes that can be turned.
        armless: sides on which the rig that the character drives has no arm.
    """

    name: str
    character: str
    kind: str
    motion: str
    start_frame: int
    end_frame: int
    settings: Any
    style: Any
    figure: Figure
    numbers: SceneNumbers
    before: tuple[Job, ...] = ()
    following: tuple[Job, ...] = ()
    eyes: EyesStyle | None = None
    armless: tuple[str, ...] = ()


@dataclass(frozen=True)
class Solved:
    """A solved job: the solver's motion and the whole body's tracks.

    Attributes:
        job: what was solved; its `end_frame` is where the motion ends.
        motion: what the solver found.
        tracks: the body's tracks.
        seam: problems where it goes on from the motion before.
    """

    job: Job
    motion: Any
    tracks: RoleTracks
    seam: tuple[Problem, ...] = ()

    # Legs outside these lengths (m) make Poise ask whether the units are meant.
    LEGS: ClassVar[tuple[float, float]] = (0.1, 3.0)

    def of_motion(self) -> tuple[Problem, ...]:
        """Problems of the motion itself, fixes named after the animator's settings."""
        return self.motion.problems

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of the scene, the motion and the body together."""
        note = self.job.numbers.gravity_note
        own = (Problem("GRAVITY", note, "INFO"),) if note else ()
        own += _far_problem(self) + _size_problem(self.job, *self.LEGS)
        # A mapping names amounts of its style; it does not know where they are set.
        group = MAPPINGS[self.job.kind].group
        body = with_paths(self.tracks.problems, group, ())
        return own + self.seam + self.of_motion() + body


class Numbers(ABC):
    """What the panel says about a motion."""

    @abstractmethod
    def lines(self) -> tuple[tuple[str, str], ...]:
        """Lines for the panel: (what, how much)."""


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


class Family(ABC):
    """A family of motions.

    Attributes:
        name: what kinds of characters name it by (`characters.Kind.family`).
        moves: what such a motion is called where a character cannot do it.
    """

    name: str
    moves: str

    # Of the diagram in the corner of the viewport: pixels at interface scale 1, and whether
    # it shows the time around the current frame.
    inset_size: ClassVar[tuple[int, int]] = (150, 120)
    inset_rolls: ClassVar[bool] = False

    # -- reading and solving ---------------------------------------------------

    @abstractmethod
    def gather(
        self, context: bpy.types.Context, motion: bpy.types.Object, kind: str,
        numbers: SceneNumbers,
    ) -> Job:
        """Read one motion out of Blender; what it continues is filled in later.

        Args:
            context: Blender's context.
            motion: the Motion object.
            kind: kind of its character.
            numbers: rate, units and gravity.

        Raises:
            UserError: something about scene or character must be put right first.
            SettingError: a setting is outside what the solver can take.
        """

    @abstractmethod
    def restyled(self, context: bpy.types.Context, job: Job, motion: bpy.types.Object) -> Job:
        """A job under a motion's name, posed with that motion's own style.

        Args:
            context: Blender's context.
            job: what was read, of this motion or of the one that it lies on.
            motion: the Motion object.
        """

    @abstractmethod
    def solve(self, job: Job, progress: Progress) -> Solved:
        """Solve a job: pure, no Blender, any thread.

        Args:
            job: what was read.
            progress: called with the fraction done; may raise `Cancelled`.

        Raises:
            SettingError: a setting is outside what the solver can take.
            UserError: a motion that this one continues cannot be solved.
        """

    @abstractmethod
    def inputs(self, job: Job) -> Mapping[str, object]:
        """What decides a motion besides style, scene and rest pose, by the animator's words.

        Args:
            job: what was read.
        """

    def is_planned(self, job: Job) -> bool:
        """Whether a job can be solved without a search that may take long.

        Args:
            job: what was read.
        """
        return True

    def ends_by_itself(self, job: Job) -> bool:
        """Whether only the solver knows the last frame.

        Args:
            job: what was read.
        """
        return False

    def depends_on(self, motion: bpy.types.Object) -> list[bpy.types.Object]:
        """Objects that a motion depends on, its character aside.

        Args:
            motion: the Motion object.
        """
        return []

    def collections(self, motion: bpy.types.Object) -> list[bpy.types.Collection]:
        """Collections of such objects.

        Args:
            motion: the Motion object.
        """
        return []

    # -- showing ---------------------------------------------------------------

    @abstractmethod
    def numbers(self, solved: Solved) -> Numbers:
        """Sum a motion up in a few numbers.

        Args:
            solved: a solved motion.
        """

    @abstractmethod
    def track(self, solved: Solved, palette: Palette) -> list[Strokes]:
        """What of a motion is drawn on the ground: where it goes, and what happens where.

        Args:
            solved: a solved motion.
            palette: colours.
        """

    def course(self, solved: Solved) -> list[Strokes]:
        """What the motion is led by, drawn beside its track.

        Args:
            solved: a solved motion.
        """
        return []

    def rejected(self, solved: Solved) -> list[Strokes]:
        """What a search looked at and rejected.

        Args:
            solved: a solved motion.
        """
        return []

    def marks(self, solved: Solved) -> list[Mark]:
        """Words beside what is drawn.

        Args:
            solved: a solved motion.
        """
        return []

    @abstractmethod
    def ghost(self, solved: Solved, row: int, palette: Palette) -> list[Strokes]:
        """The figure at one sample.

        Args:
            solved: a solved motion.
            row: the sample.
            palette: colours.
        """

    @abstractmethod
    def hud(self, solved: Solved, row: int) -> list[str]:
        """What the corner of the viewport says about one sample.

        Args:
            solved: a solved motion.
            row: the sample.
        """

    @abstractmethod
    def way(self, solved: Solved) -> Way:
        """Where a motion goes, for the chase camera.

        Args:
            solved: a solved motion.
        """

    def shows_inset(self, motion: bpy.types.Object) -> bool:
        """Whether the animator wants the small diagram.

        Args:
            motion: the Motion object.
        """
        return True

    def inset(self, solved: Solved, row: int, width: int, height: int) -> Diagram | None:
        """The small diagram in the corner of the viewport.

        Args:
            solved: a solved motion.
            row: the sample of the current frame.
            width: pixels.
            height: pixels.
        """
        return None

    def inset_now(self, solved: Solved, row: int, width: int, height: int) -> np.ndarray:
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

    def trail(self, solved: Solved) -> str:
        """Why a motion can leave no trail, and has no use for a slope; "" if it can.

        Args:
            solved: a solved motion.
        """
        return ""


def _size_problem(job: Job, least: float, most: float) -> tuple[Problem, ...]:
    """A figure that is of no usual size is more often a wrong unit than a wish."""
    leg = job.figure.leg_length
    if least <= leg <= most:
        return ()
    height = job.figure.height
    return (
        Problem(
            "SIZE",
            f"{job.character} is {height:.3g} m tall in this scene's units",
            "WARNING",
            amount=height,
            remedy="If that is not meant, set the scene's Unit Scale, or the object's scale",
        ),
    )


def ground_problems(
    terrain: str, moves: bool, path: np.ndarray | None
) -> tuple[Problem, ...]:
    """What of the ground under a motion does not count.

    Args:
        terrain: name of the terrain, "" without one.
        moves: whether it may be another one at other frames.
        path: (k, 3) points of the path, m; None without one.
    """
    if terrain and moves:
        return (
            Problem(
                "TERRAIN_MOVES",
                f"{terrain} is animated: it is taken as it stands at the first frame of the "
                "motion",
                "INFO",
            ),
        )
    if terrain or path is None or np.ptp(path[:, 2]) <= LEVEL:
        return ()
    rise = float(np.ptp(path[:, 2]))
    return (
        Problem(
            "PATH_NOT_LEVEL",
            f"The path goes up and down by {rise:.2f} m: it is followed on level ground at the "
            "height of its first point",
            "INFO",
            amount=rise,
        ),
    )


def _far_problem(solved: Solved) -> tuple[Problem, ...]:
    """Far from the origin single precision is coarse: the cause of all that is off by that."""
    root = solved.tracks.position.get(ROOT)
    far = 0.0 if root is None else float(np.abs(root).max())
    apart = float(np.spacing(np.float32(far)))
    if apart < TELLS_APART:
        return ()
    return (
        Problem(
            "FAR_AWAY",
            f"{solved.job.character} is {far / 1000.0:.0f} km from the world's origin, where "
            f"Blender tells places apart by {1000.0 * apart:.1f} mm only",
            "WARNING",
            amount=apart,
            remedy="Move the character and its motion nearer to the origin",
        ),
    )


def sampled_style(
    context: bpy.types.Context,
    motion: bpy.types.Object,
    group: str,
    frames: np.ndarray,
) -> object:
    """A motion's style, its animated amounts sampled.

    Args:
        context: Blender's context.
        motion: the Motion object.
        group: name of the style's group on its settings.
        frames: (n,) frames to sample at.
    """
    style = getattr(motion.poise_motion, group)
    return style.to_params(
        animated_settings(context.scene, motion, group, style.SAMPLED, frames)
    )


def speed_step(last: float, first: float) -> tuple[Problem, ...]:
    """A keyed speed that is another one than the motion before ends with is a jolt.

    Args:
        last: speed that the motion before ends with, m/s.
        first: speed that the motion begins with, m/s.
    """
    if abs(first - last) <= SPEED_STEP:
        return ()
    return (
        Problem(
            "SPEED_STEP",
            f"The speed jumps from {last:.1f} to {first:.1f} m/s where the motion goes on from "
            "the one before",
            time=0.0,
            amount=first - last,
            remedy=f"Key Speed, starting with {last:.1f} m/s",
        ),
    )


def without(settings, *names: str) -> dict[str, object]:
    """Fields of settings by name.

    Args:
        settings: a dataclass.
        names: fields to leave out.
    """
    return {f.name: getattr(settings, f.name) for f in fields(settings) if f.name not in names}
