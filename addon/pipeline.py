# SPDX-License-Identifier: GPL-3.0-or-later
"""One way through: scene -> settings -> solver -> motion -> mapping -> role tracks.

`gather` reads Blender (main thread only) into a frozen job; `solve` is a pure
function of that job and may run in any thread. Preview and bake share both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from math import atan2

import bpy
import numpy as np

from ..solvers.motion import Placement, Problem, TurningMotion
from ..solvers.turning.settings import TurningSettings, sample_times
from ..solvers.turning.solve import solve_turning
from .errors import UserError
from .mapping.body import PendulumBody, pendulum_body
from .mapping.registry import MAPPINGS
from .mapping.tracks import Figure, RoleTracks
from .properties.turns import ANIMATED
from .rigs import characters
from .scene.sampling import animated_settings
from .scene.timing import SceneNumbers, frame_range, scene_numbers

# Raised when the same settings no longer give the same motion.
SOLVER_VERSION = 1

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Job:
    """Everything that decides a motion; nothing of Blender in it.

    Attributes:
        name: name of the Motion object.
        character: name of the character.
        kind: kind of character ("SKIER").
        start_frame: first frame.
        end_frame: last frame.
        settings: the solver's settings; `start_state` still open where the
            motion continues another.
        style: the mapping's style, amounts as numbers or sampled arrays.
        figure: the character's rest pose in metres.
        numbers: rate, units and gravity.
        after: the job this one continues, or None.
        base: the job whose travel and turns this one takes over, or None.
    """

    name: str
    character: str
    kind: str
    start_frame: int
    end_frame: int
    settings: TurningSettings
    style: object
    figure: Figure
    numbers: SceneNumbers
    after: Job | None
    base: Job | None = None


@dataclass(frozen=True)
class Solved:
    """A solved job: the pendulum's motion and the whole body's tracks."""

    job: Job
    motion: TurningMotion
    tracks: RoleTracks

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of the scene, the motion and the body together."""
        note = self.job.numbers.gravity_note
        own = (Problem("GRAVITY", note, "INFO"),) if note else ()
        return own + self.motion.problems + self.tracks.problems


def figure_in_metres(character: bpy.types.Object, unit_scale: float) -> Figure:
    """A character's figure at the size it has in the scene.

    Args:
        character: the armature object.
        unit_scale: metres per Blender unit.

    Raises:
        UserError: the object is scaled to nothing or out of shape.
    """
    scale = np.array([column.length for column in character.matrix_world.to_3x3().col])
    if scale.min() < 1e-8:
        raise UserError(f"{character.name} is scaled to zero: give it a scale above zero")
    if scale.max() / scale.min() > 1.001:
        raise UserError(
            f"{character.name} is scaled unevenly ({scale[0]:.3g}, {scale[1]:.3g}, "
            f"{scale[2]:.3g}): Poise needs the same scale along every axis"
        )
    factor = float(scale.mean()) * unit_scale
    try:
        figure = characters.figure_of(character)
    except ValueError as error:
        raise UserError(f"{error}: undo the change, or add the character anew") from error
    return figure if abs(factor - 1.0) < 1e-9 else figure.scaled(factor)


def placement_of(motion: bpy.types.Object, unit_scale: float) -> Placement:
    """Where a Motion object stands and which way it faces on the ground.

    Args:
        motion: the Motion object; its tilt and scale do not count.
        unit_scale: metres per Blender unit.
    """
    matrix = motion.matrix_world
    facing = -matrix.col[1].to_3d()
    yaw = atan2(facing.x, -facing.y) if facing.to_2d().length > 1e-9 else 0.0
    return Placement(origin=np.array(matrix.translation) * unit_scale, yaw=yaw)


def gather(context: bpy.types.Context, motion: bpy.types.Object) -> Job:
    """Read a motion and everything it depends on out of Blender.

    Args:
        context: Blender's context; its scene counts.
        motion: the Motion object.

    Returns:
        The frozen job.

    Raises:
        UserError: something about scene or character must be put right first.
        SettingError: a setting is outside what the solver can take.
    """
    return _gather(context, motion, ())


def _gather(context, motion, chain) -> Job:
    scene = context.scene
    settings = motion.poise_motion
    character = settings.character
    if character is None:
        raise UserError(f"{motion.name} has no character: choose one")
    if motion in chain:
        raise UserError(
            f"{motion.name} builds on itself through After or On Top Of: clear one in the chain"
        )
    kind = characters.kind_of(character)
    if not kind:
        raise UserError(
            f"{character.name} is not a Poise character: add one with Character > Add, "
            "and select it"
        )
    base = _other_job(context, motion, settings.base, chain)
    after = None if base else _other_job(context, motion, settings.after, chain)
    numbers = scene_numbers(scene)
    start, end = (base.start_frame, base.end_frame) if base else frame_range(scene, motion)
    figure = figure_in_metres(character, numbers.unit_scale)
    n_frames = end - start + 1
    # Solver times are seconds from the start; settings are keyed on frames.
    frames = start + sample_times(n_frames, numbers.fps) * numbers.fps
    body = pendulum_body(figure) if settings.turns.auto_body else None
    params = settings.turns.to_params(
        n_frames=n_frames,
        fps=numbers.fps,
        unit_scale=numbers.unit_scale,
        gravity=numbers.gravity,
        placement=placement_of(motion, numbers.unit_scale),
        start_state=None,
        samples=animated_settings(scene, motion, "turns", ANIMATED, frames),
        body=_body_numbers(body),
    )
    if settings.mirror:
        params = mirrored(params)
    mapping = MAPPINGS[kind]
    style = getattr(settings, mapping.group)
    step_frames = frames[::2]  # the mapping works on solver steps, not half steps
    return Job(
        name=motion.name,
        character=character.name,
        kind=kind,
        start_frame=start,
        end_frame=end,
        settings=params,
        style=style.to_params(
            animated_settings(scene, motion, mapping.group, style.animated_names(), step_frames)
        ),
        figure=figure,
        numbers=numbers,
        after=after,
        base=base,
    )


def _other_job(context, motion, other, chain) -> Job | None:
    """The job of a motion that this one builds on."""
    if other is None:
        return None
    if other.poise_motion.character != motion.poise_motion.character:
        raise UserError(f"{motion.name} builds on {other.name}, which moves another character")
    return _gather(context, other, (*chain, motion))


def mirrored(settings: TurningSettings) -> TurningSettings:
    """The same turns with left and right swapped.

    Args:
        settings: the solver's settings.
    """
    return replace(
        settings,
        heading=-np.asarray(settings.heading)[()],
        slope_direction=-np.asarray(settings.slope_direction)[()],
        start_phase=settings.start_phase + np.pi,
    )


def _body_numbers(body: PendulumBody | None) -> tuple[float, float, float] | None:
    return None if body is None else (body.mass, body.height, body.inertia)


def solve(job: Job, progress: Progress | None = None) -> Solved:
    """Solve a job: pure, no Blender, any thread.

    Args:
        job: what `gather` read.
        progress: called with the fraction done; may raise `Cancelled`.

    Returns:
        Motion and role tracks.

    Raises:
        SettingError: a setting is outside what the solver can take.
        Cancelled: the progress callback asked to stop.
    """
    solved = _solved_motion(job, progress)
    mapping = MAPPINGS[job.kind]
    return Solved(job, solved, mapping.function(solved, job.figure, job.style))


def _solved_motion(job: Job, progress: Progress | None) -> TurningMotion:
    if job.base is not None:
        return _solved_motion(job.base, progress)
    settings = job.settings
    if job.after is not None:
        before = _solved_motion(job.after, progress)
        settings = replace(settings, start_state=before.end_state)
    return solve_turning(settings, progress)


def digests(job: Job) -> dict[str, str]:
    """Fingerprints of what went into a job, one per input the animator knows.

    Args:
        job: what `gather` read.

    Returns:
        input -> short hexadecimal digest; equal digests give equal keys.
    """
    settings = job.settings
    parts: Mapping[str, object] = {
        "settings": _without(settings, "n_frames", "fps", "gravity", "placement"),
        "body style": job.style,
        "frame range": (job.start_frame, job.end_frame),
        "frame rate": job.numbers.fps,
        "gravity": job.numbers.gravity,
        "unit scale": job.numbers.unit_scale,
        "place of the motion": settings.placement,
        "character's rest pose": job.figure,
        "motion before": digests(job.after) if job.after else None,
        "motion below": digests(job.base) if job.base else None,
        "Poise's version": SOLVER_VERSION,
    }
    return {name: _digest(part) for name, part in parts.items()}


def changed_inputs(job: Job, stored: str) -> list[str]:
    """Names of the inputs that differ from those of a bake.

    Args:
        job: the job as it would be solved now.
        stored: digests as JSON, as the bake stored them; "" for none.
    """
    if not stored:
        return []
    before = json.loads(stored)
    return [name for name, digest in digests(job).items() if before.get(name) != digest]


def _without(settings, *names):
    return {f.name: getattr(settings, f.name) for f in fields(settings) if f.name not in names}


def _digest(value: object) -> str:
    hasher = hashlib.sha1(usedforsecurity=False)
    _feed(hasher, value)
    return hasher.hexdigest()[:16]


def _feed(hasher, value: object) -> None:
    if isinstance(value, np.ndarray):
        hasher.update(str(value.shape).encode())
        hasher.update(np.ascontiguousarray(value, dtype=float).tobytes())
    elif is_dataclass(value):
        _feed(hasher, {f.name: getattr(value, f.name) for f in fields(value)})
    elif isinstance(value, Mapping):
        for key in sorted(value):
            hasher.update(str(key).encode())
            _feed(hasher, value[key])
    elif isinstance(value, (tuple, list)):
        for item in value:
            _feed(hasher, item)
    else:
        hasher.update(repr(value).encode())
