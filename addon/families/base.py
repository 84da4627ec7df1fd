# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion of any family is read into, and what it becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from math import ceil
from typing import Any, ClassVar, TypeVar

import bpy
import numpy as np

from ...solvers.motion import Problem, told_apart
from ...solvers.turning.settings import sample_times
from ..errors import UserError
from ..mapping.gaze import EyesStyle, with_gaze
from ..mapping.legs import LeggedFigure
from ..mapping.links import Links
from ..mapping.registry import MAPPINGS
from ..mapping.rows import Row
from ..mapping.tracks import ROOT, Figure, RoleTracks, Tracks
from ..rigs.actor import Actor
from ..rigs.pose.plays import Without
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

POSE = 2.0  # s of the motion that a pose is taken from

Progress = Callable[[float], None]


def part_of(progress: Progress, number: int, count: int) -> Progress:
    """Progress of one of several parts of equal length, as progress of the whole.

    Args:
        progress: of the whole.
        number: how many parts come before it.
        count: how many there are.
    """
    return lambda fraction: progress((number + fraction) / count)


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
        kind: kind of character ("SKIER"), "" of an armature that Poise did not make.
        motion: kind of motion ("TURNS").
        start_frame: first frame.
        end_frame: last frame; where the motion ends by itself, no more than a
            guess until it is solved.
        settings: the solver's settings.
        numbers: rate, units and gravity.
        figure: the character's rest pose in metres; None where Poise knows no body.
        style: the mapping's style, amounts as numbers or sampled arrays; None of no mapping.
        before: the jobs that this one continues, first to last.
        following: the jobs that continue this one.
        eyes: how eyes look ahead, amounts as numbers or one for each frame; None of a
            character without eyes that can be turned.
        armless: sides on which the rig that the character drives has no arm.
        links: the bones of a motion that turns joints, to show it; None of one that does not,
            or whose view shows it otherwise.
        arrives: the last of those of another family that it goes on from, with what that
            continues; None if it starts by itself.
    """

    name: str
    character: str
    kind: str
    motion: str
    start_frame: int
    end_frame: int
    settings: Any
    numbers: SceneNumbers
    figure: Figure | LeggedFigure | None = None
    style: Any = None
    before: tuple[Job, ...] = ()
    following: tuple[Job, ...] = ()
    eyes: EyesStyle | None = None
    armless: tuple[str, ...] = ()
    links: Links | None = None
    arrives: Job | None = None

    @property
    def is_planned(self) -> bool:
        """Whether it can be solved without a search that may take long."""
        return self.arrives is None or self.arrives.is_planned

    @property
    def ends_by_itself(self) -> bool:
        """Whether only the solver knows the last frame."""
        return False

    def baked(self, armature: bpy.types.Object, without: Without) -> Job:
        """The same once it is baked: a motion that lies on others knows these where its bake
        has put them.

        Args:
            armature: the armature whose joints are keyed.
            without: keys that are not below it.
        """
        return self


@dataclass(frozen=True)
class Solved:
    """A solved job: the solver's motion and the whole body's tracks.

    Attributes:
        job: what was solved; its `end_frame` is where the motion ends.
        motion: what the solver found; None where the tracks say all.
        tracks: the body's tracks.
        seam: problems where it goes on from the motion before.
        near: the same body at three instants close to each other at its start, and three at its
            end, where the solver knows them: these tell its rates there. None: samples do.
    """

    job: Job
    motion: Any
    tracks: Tracks
    seam: tuple[Problem, ...] = ()
    near: Tracks | None = field(default=None, kw_only=True)

    # Legs outside these lengths (m) make Poise ask whether the units are meant.
    LEGS: ClassVar[tuple[float, float]] = (0.1, 3.0)

    @property
    def root(self) -> np.ndarray | None:
        """(n, 3) where the root of its figure goes, m; None where only joints turn."""
        tracks = self.tracks
        return tracks.position.get(ROOT) if isinstance(tracks, RoleTracks) else None

    def of_motion(self) -> tuple[Problem, ...]:
        """Problems of the motion itself, fixes named after the animator's settings."""
        return () if self.motion is None else self.motion.problems

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of the scene, the motion and the body together."""
        note = self.job.numbers.gravity_note
        own = (Problem("GRAVITY", note, "INFO"),) if note else ()
        own += _far_problem(self) + _size_problem(self.job, *self.LEGS)
        body = self.tracks.problems
        if self.job.kind in MAPPINGS:
            # A mapping names amounts of its style; it does not know where they are set.
            body = with_paths(body, MAPPINGS[self.job.kind].group, ())
        return own + self.seam + self.of_motion() + body


J = TypeVar("J", bound=Job)
S = TypeVar("S", bound=Solved)


def _size_problem(job: Job, least: float, most: float) -> tuple[Problem, ...]:
    """A figure that is of no usual size is more often a wrong unit than a wish."""
    if job.figure is None:
        return ()
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
    root = solved.root
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
) -> Any:
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


def restyled(context: bpy.types.Context, job: J, motion: bpy.types.Object) -> J:
    """A job of a body that a mapping moves, posed with a motion's own style, under its name.

    Args:
        context: Blender's context.
        job: what was read, of this motion or of the one that it lies on.
        motion: the Motion object.
    """
    actor = Actor.of(motion.poise_motion.character)
    count = job.end_frame - job.start_frame + 1
    # Bodies are sampled twice a frame, eyes once.
    frames = job.start_frame + sample_times(count, job.numbers.fps)[::2] * job.numbers.fps
    style = sampled_style(context, motion, MAPPINGS[job.kind].group, frames)
    eyes = None
    if actor.has_gaze:
        frames = np.arange(job.start_frame, job.end_frame + 1.0)
        eyes = sampled_style(context, motion, "eyes", frames)
    return replace(job, name=motion.name, style=style, eyes=eyes, armless=actor.armless)


def looking(job: Job, tracks: RoleTracks) -> RoleTracks:
    """Tracks whose eyes look ahead, if the figure has some.

    Args:
        job: what was read.
        tracks: of the body.
    """
    if job.eyes is None:
        return tracks
    sampled = {
        name: np.interp(tracks.clock.frames, np.arange(len(values)), values)
        for name, values in vars(job.eyes).items()
        if isinstance(values, np.ndarray)
    }
    return with_gaze(tracks, replace(job.eyes, **sampled))


def pose_only(job: J, solve: Callable[[J], S]) -> S:
    """A range of one frame: the first of a motion that goes on as it begins, since bodies look
    ahead and even out.

    Args:
        job: what was read; its settings say how many frames there are.
        solve: solves such a job of more frames.
    """

    def steady(values: Any) -> Any:
        held = {
            name: float(value[0])
            for name, value in vars(values).items()
            if isinstance(value, np.ndarray) and value.shape == (1,)
        }
        return replace(values, **held)

    count = ceil(POSE * job.numbers.fps)
    own = replace(steady(job.settings), n_frames=count + 1)
    style, eyes = steady(job.style), None if job.eyes is None else steady(job.eyes)
    longer = replace(
        job, settings=own, style=style, eyes=eyes, end_frame=job.start_frame + count, following=()
    )
    solved = solve(longer)
    tracks = solved.tracks
    assert isinstance(tracks, RoleTracks)  # only figures are posed so
    told = tuple(p for p in solved.motion.problems if not p.time)
    return replace(
        solved, job=job, tracks=tracks.first(), motion=replace(solved.motion, problems=told)
    )


def speed_step(last: float, first: float) -> tuple[Problem, ...]:
    """A keyed speed that is another one than the motion before ends with is a jolt.

    Args:
        last: speed that the motion before ends with, m/s.
        first: speed that the motion begins with, m/s.
    """
    if abs(first - last) <= SPEED_STEP:
        return ()
    before, after = told_apart(last, first, 1)
    return (
        Problem(
            "SPEED_STEP",
            f"The speed jumps from {before} to {after} m/s where the motion goes on from "
            "the one before",
            time=0.0,
            amount=first - last,
            remedy=f"Key Speed, starting with {before} m/s",
        ),
    )


def by_label(rows: Iterable[Row], settings: Any) -> dict[str, object]:
    """Label -> value of settings.

    Args:
        rows: the settings' rows.
        settings: a dataclass that has values of some of them.
    """
    return {
        row.label: getattr(settings, row.known_as) for row in rows
        if hasattr(settings, row.known_as)
    }


def without(settings: Any, *names: str) -> dict[str, object]:
    """Fields of settings by name.

    Args:
        settings: a dataclass.
        names: fields to leave out.
    """
    return {f.name: getattr(settings, f.name) for f in fields(settings) if f.name not in names}
