# SPDX-License-Identifier: GPL-3.0-or-later
"""One way through: scene -> settings -> solver -> motion -> mapping -> role tracks.

`gather` reads Blender (main thread only) into a frozen job; `solve` is a pure
function of that job and may run in any thread. Preview and bake share both.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from math import atan2, ceil

import bpy
import numpy as np

from ..solvers.errors import SettingError
from ..solvers.motion import Placement, Problem, TurningMotion
from ..solvers.path import PathMotion, PathScene, PathSettings, follow_path
from ..solvers.path.course import make_course
from ..solvers.path.search import make_gates
from ..solvers.path.terrain import Surface
from ..solvers.turning.settings import TurningSettings, sample_times
from ..solvers.turning.solve import solve_turning
from . import motions
from .errors import UserError
from .mapping import sequence
from .mapping.body import PendulumBody, pendulum_body
from .mapping.registry import MAPPINGS
from .mapping.tracks import Figure, RoleTracks
from .properties import path as path_settings
from .properties.turns import ANIMATED
from .rigs import characters
from .scene import course
from .scene.placement import require_near, standing_at, world_matrix
from .scene.sampling import animated_settings, is_animated
from .scene.timing import MAX_FRAMES, SceneNumbers, frame_range, scene_numbers

# Raised when the same settings no longer give the same motion.
SOLVER_VERSION = 1

# Difference of speed in m/s at a seam that is worth a line in the problem list.
SPEED_STEP = 0.25

# Legs outside these lengths (m) make Poise ask whether the units are meant.
LEAST_LEG, MOST_LEG = 0.1, 3.0

# How many motions along a path are remembered.
MOST_PLANS = 12

# Terrain so far (m) beside a path is read.
AROUND = 60.0

# A path that goes up and down by more (m) is worth a line in the problem list.
LEVEL = 0.25

# Frames that are read at a time until an animated speed has gone all of a path.
CHUNK = 240

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
        start_frame: first frame.
        end_frame: last frame.
        settings: the solver's settings; `start_state` still open where the
            motion continues another.
        style: the mapping's style, amounts as numbers or sampled arrays.
        figure: the character's rest pose in metres.
        numbers: rate, units and gravity.
        before: the jobs that this one continues, first to last.
        following: the jobs that continue this one.
        course: path, obstacles and gates of a motion along a path, or None
            for turns. Such a motion ends where the path does; its
            `end_frame` is no more than a guess until it is solved.
    """

    name: str
    character: str
    kind: str
    start_frame: int
    end_frame: int
    settings: TurningSettings | PathSettings
    style: object
    figure: Figure
    numbers: SceneNumbers
    before: tuple[Job, ...] = ()
    following: tuple[Job, ...] = ()
    course: PathScene | None = None


@dataclass(frozen=True)
class Solved:
    """A solved job: the pendulum's motion and the whole body's tracks.

    Attributes:
        job: what was solved; its `end_frame` is where the motion ends.
        motion: the pendulum's motion.
        tracks: the body's tracks.
        seam: problems where it goes on from the motion before.
        path: how well it follows its path, or None for turns.
    """

    job: Job
    motion: TurningMotion
    tracks: RoleTracks
    seam: tuple[Problem, ...] = ()
    path: PathMotion | None = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of the scene, the motion and the body together."""
        note = self.job.numbers.gravity_note
        own = (Problem("GRAVITY", note, "INFO"),) if note else ()
        own += _size_problem(self.job)
        # A mapping names amounts of its style; it does not know where they are set.
        group = MAPPINGS[self.job.kind].group
        body = tuple(
            replace(problem, fix=tuple((f"{group}.{name}", value) for name, value in problem.fix))
            for problem in self.tracks.problems
        )
        return own + self.seam + path_problems(self.job, self.motion.problems) + body


def _size_problem(job: Job) -> tuple[Problem, ...]:
    """A figure that is no human size is more often a wrong unit than a wish."""
    leg = job.figure.leg_length
    if LEAST_LEG <= leg <= MOST_LEG:
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


def figure_in_metres(character: bpy.types.Object, unit_scale: float) -> Figure:
    """A character's figure at the size it has in the scene.

    Args:
        character: the armature object.
        unit_scale: metres per Blender unit.

    Raises:
        UserError: the object stands nowhere, is scaled to nothing or out of shape.
    """
    matrix = world_matrix(character)
    scale = np.array([column.length for column in matrix.to_3x3().col])
    if not np.isfinite(scale).all():
        raise UserError(f"{character.name} has a scale that is no number: set it to 1")
    if scale.min() < 1e-8:
        raise UserError(f"{character.name} is scaled to zero: give it a scale above zero")
    if scale.max() / scale.min() > 1.001:
        raise UserError(
            f"{character.name} is scaled unevenly ({scale[0]:.3g}, {scale[1]:.3g}, "
            f"{scale[2]:.3g}): Poise needs the same scale along every axis"
        )
    # Its keys would have to bring it back from there.
    require_near(character.name, np.array(matrix.translation) * unit_scale)
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

    Raises:
        UserError: it stands nowhere, or too far away for single precision.
    """
    matrix = world_matrix(motion)
    facing = -matrix.col[1].to_3d()
    yaw = atan2(facing.x, -facing.y) if facing.to_2d().length > 1e-9 else 0.0
    origin = np.array(matrix.translation) * unit_scale
    require_near(motion.name, origin)
    return Placement(origin=origin, yaw=yaw)


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
    base = motion.poise_motion.base
    if base is None:
        chain = _chain(motion)
        jobs = _gather_chain(context, chain, motion)
    else:
        # Same travel and turns, posed with this motion's own style.
        _check_same_character(motion, base)
        if base.poise_motion.base is not None:
            raise UserError(f"{motion.name} lies on {base.name}, which lies on another motion")
        chain = _chain(base)
        jobs = _gather_chain(context, chain, base)
        at = chain.index(base)
        jobs[at] = replace(
            jobs[at], name=motion.name, style=_style(context, motion, base, jobs[at])
        )
        motion = base
    at = chain.index(motion)
    return replace(jobs[at], before=tuple(jobs[:at]), following=tuple(jobs[at + 1 :]))


def motions_behind(motion: bpy.types.Object) -> list[bpy.types.Object]:
    """Every Motion object whose settings have a say in a motion, itself included.

    Args:
        motion: the Motion object.

    Raises:
        UserError: the motions build on each other in a circle.
    """
    base = motion.poise_motion.base
    return _chain(motion) if base is None else [motion, *_chain(base)]


def _check_same_character(motion, other) -> None:
    if other.poise_motion.character != motion.poise_motion.character:
        raise UserError(f"{motion.name} builds on {other.name}, which moves another character")


def _chain(motion: bpy.types.Object) -> list[bpy.types.Object]:
    """The motions that a motion continues, itself, and those that continue it."""
    chain = [motion]
    while (before := chain[0].poise_motion.after) is not None:
        _check_same_character(chain[0], before)
        if before in chain:
            raise UserError(f"{motion.name} continues itself through After: clear one After")
        chain.insert(0, before)
    character = motion.poise_motion.character
    others = motions.motions_of(character) if character is not None else []
    while True:
        following = [
            other
            for other in others
            if other.poise_motion.after == chain[-1]
            and other.poise_motion.base is None
            and other not in chain
        ]
        if not following:
            return chain
        chain.append(following[0])


def _gather_chain(context, chain, motion) -> list[Job]:
    """Motions that continue each other, up to one after `motion` that cannot be read."""
    jobs: list[Job] = []
    for member in chain:
        try:
            jobs.append(_gather_one(context, member))
        except UserError:
            # What cannot follow is told when it is baked itself.
            if motion.name in [job.name for job in jobs]:
                break
            raise
    return jobs


def _gather_one(context, motion) -> Job:
    scene = context.scene
    settings = motion.poise_motion
    character = settings.character
    if character is None:
        raise UserError(f"{motion.name} has no character: choose one")
    kind = characters.kind_of(character)
    if not kind:
        raise UserError(
            f"{character.name} is not a Poise character: set the rig up in the Character panel, "
            "or add a character there"
        )
    numbers = scene_numbers(scene)
    if settings.kind == "PATH":
        return _gather_path(context, motion, kind, numbers)
    start, end = frame_range(scene, motion)
    # What is animated stands where it is at the start, whatever frame is current.
    with standing_at(scene, start, motion, character):
        figure = figure_in_metres(character, numbers.unit_scale)
        placement = placement_of(motion, numbers.unit_scale)
    n_frames = end - start + 1
    # Solver times are seconds from the start; settings are keyed on frames.
    frames = start + sample_times(n_frames, numbers.fps) * numbers.fps
    body = pendulum_body(figure) if settings.turns.auto_body else None
    params = settings.turns.to_params(
        n_frames=n_frames,
        fps=numbers.fps,
        unit_scale=numbers.unit_scale,
        gravity=numbers.gravity,
        placement=placement,
        start_state=None,
        samples=animated_settings(scene, motion, "turns", ANIMATED, frames),
        body=_body_numbers(body),
    )
    if settings.mirror:
        params = mirrored(params)
    job = Job(
        name=motion.name,
        character=character.name,
        kind=kind,
        start_frame=start,
        end_frame=end,
        settings=params,
        style=None,
        figure=figure,
        numbers=numbers,
    )
    return replace(job, style=_style(context, motion, motion, job))


def _gather_path(context, motion, kind: str, numbers: SceneNumbers) -> Job:
    """Read a motion along a path."""
    scene, settings = context.scene, motion.poise_motion
    character, path, unit = settings.character, settings.path, numbers.unit_scale
    if path.curve is None:
        raise UserError(f"{motion.name} has no path: choose a curve in the Path panel")
    start = path_start(scene, motion)
    with standing_at(scene, start, motion, character, *course.everything(motion)):
        figure = figure_in_metres(character, unit)
        placement = placement_of(motion, unit)
        lines, cyclic = course.curve_lines(path.curve, unit)
        # Raises where there is nothing to follow.
        length = make_course(lines, cyclic, window=1000.0, laps=path.laps).length
        ground = next((float(line[0, 2]) for line in lines if len(line)), 0.0)
        terrain, surface = None, None
        if path.terrain is not None:
            plan = np.concatenate([line[:, :2] for line in lines])
            low, high = plan.min(axis=0) - AROUND, plan.max(axis=0) + AROUND
            terrain = course.read_terrain(path.terrain, low, high, unit)
            surface = Surface(terrain) if path.obstacles is not None else None
        obstacles, moving = course.read_obstacles(
            motion, path.obstacles, ground, unit, surface
        )
        gates = course.read_gates(path.gates, unit)
    frames, speed = _speed_along(scene, motion, start, numbers, length)
    with standing_at(scene, start, *moving.values()):
        obstacles = course.over_time(scene, obstacles, moving, start, frames, numbers.fps, unit)
    body = pendulum_body(figure)
    least = float(np.min(speed))
    longest = MAX_FRAMES / numbers.fps
    seconds = 2.0 * length / least + 10.0 if least > 0.0 else longest
    if terrain is not None and path.speed_mode == "TERRAIN":
        seconds = longest  # how long it takes is for the terrain to say
    params = path.to_params(
        fps=numbers.fps,
        unit_scale=unit,
        gravity=numbers.gravity,
        placement=placement,
        most_seconds=min(seconds, longest),
        speed=speed,
        body=(body.mass, body.height, body.inertia),
    )
    job = Job(
        name=motion.name,
        character=character.name,
        kind=kind,
        start_frame=start,
        end_frame=start + frames - 1,
        settings=params,
        style=None,
        figure=figure,
        numbers=numbers,
        course=PathScene(lines, cyclic, tuple(obstacles), gates, path.laps, terrain),
    )
    return replace(job, style=_style(context, motion, motion, job))


def path_start(scene: bpy.types.Scene, motion: bpy.types.Object) -> int:
    """First frame of a motion along a path: the end of such a motion is that of its path.

    Args:
        scene: the operator's scene.
        motion: the Motion object.

    Raises:
        UserError: the preview range is wanted, and there is none.
    """
    settings = motion.poise_motion
    return settings.frame_start if settings.range_mode == "OWN" else frame_range(scene, motion)[0]


def _speed_along(scene, motion, start: int, numbers: SceneNumbers, length: float):
    """About how many frames a path takes, and its speed in m/s, a number or samples."""
    path, fps, unit = motion.poise_motion.path, numbers.fps, numbers.unit_scale
    needed = 1.5 * length
    if not is_animated(motion, "path", path_settings.ANIMATED):
        speed = path.speed * unit
        count = needed / speed * fps if speed > 0.0 else 2.0
        return int(min(max(ceil(count), 2), MAX_FRAMES)), speed
    # Frame by frame until all of the path has been gone, whatever frame is current.
    parts, way, first = [], 0.0, 0
    while way < needed and first < MAX_FRAMES:
        frames = start + first + np.arange(CHUNK, dtype=float)
        samples = animated_settings(scene, motion, "path", ("speed",), frames)
        values = samples.get("speed", np.full(CHUNK, path.speed)) * unit
        parts.append(values)
        way += float(np.sum(np.maximum(values, 0.0))) / fps
        first += CHUNK
        if not np.isfinite(values).all() or way <= 0.0:
            break
    count = max(2, min(sum(len(part) for part in parts), MAX_FRAMES))
    frames = start + sample_times(count, fps) * fps
    samples = animated_settings(scene, motion, "path", ("speed",), frames)
    speed = samples["speed"] * unit if "speed" in samples else path.speed * unit
    return count, speed


def _style(context, motion, travels, job: Job):
    """A motion's style, sampled at the solver steps of the motion that travels."""
    group = MAPPINGS[job.kind].group
    style = getattr(motion.poise_motion, group)
    times = sample_times(job.end_frame - job.start_frame + 1, job.numbers.fps)[::2]
    frames = job.start_frame + times * job.numbers.fps
    return style.to_params(
        animated_settings(context.scene, motion, group, style.animated_names(), frames)
    )


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
    own = len(job.before)
    jobs = (*job.before, job, *job.following)
    solved, paths = _solve_in_turn(jobs, own, progress or _ignore)
    jobs = jobs[: len(solved)]
    if job.course is not None:
        job = replace(job, end_frame=job.start_frame + _frames(solved[own]) - 1)
    pose = MAPPINGS[job.kind].function
    styles = [_fitted(j.style, len(motion.time)) for j, motion in zip(jobs, solved, strict=True)]
    if len(jobs) == 1:
        return Solved(job, solved[0], pose(solved[0], job.figure, styles[0]), (), paths[0])
    joined = sequence.join_motions(solved, [j.settings.placement.yaw for j in jobs])
    tracks = pose(joined, job.figure, sequence.join_styles(styles, solved))
    start = sequence.seams(solved)[own]
    cut = sequence.cut_tracks(tracks, start, solved[own])
    return Solved(job, solved[own], cut, _speed_step(solved[:own], solved[own]), paths[own])


def _frames(motion: TurningMotion) -> int:
    return (len(motion.time) - 1) // motion.steps_per_frame + 1


def _fitted(style, count: int):
    """A style whose samples are as many as the motion's; the last holds on."""
    changed = {}
    for field in fields(style):
        values = getattr(style, field.name)
        if np.ndim(values) == 1 and len(values) != count:
            short = np.asarray(values)[:count]
            changed[field.name] = np.pad(short, (0, count - len(short)), mode="edge")
    return replace(style, **changed) if changed else style


def _speed_step(before: list[TurningMotion], motion: TurningMotion) -> tuple[Problem, ...]:
    """A keyed speed that is another one than the motion before ends with is a jolt."""
    if not before:
        return ()
    last, first = float(before[-1].speed[-1]), float(motion.speed[0])
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


def _ignore(fraction: float) -> None:
    """Progress that nobody watches."""


def _solve_in_turn(
    jobs: tuple[Job, ...], own: int, progress: Progress
) -> tuple[list[TurningMotion], list[PathMotion | None]]:
    """Solve motions that continue each other, up to one after `own` that cannot be solved."""
    solved: list[TurningMotion] = []
    paths: list[PathMotion | None] = []
    for i, job in enumerate(jobs):
        settings = job.settings
        if solved:
            settings = replace(settings, start_state=solved[-1].end_state)
        try:
            motion, path = _solve_one(
                job, settings, lambda fraction, i=i: progress((i + fraction) / len(jobs))
            )
        except NoMotion:
            if i > own:
                break
            raise
        except SettingError as error:
            if i > own:
                # What cannot follow is told when it is baked itself.
                break
            if solved and not solved[-1].success:
                raise UserError(
                    f"{job.name} continues {jobs[i - 1].name}, which falls or stops before its "
                    "end: put that right first"
                ) from error
            if len(jobs) > 1:
                raise UserError(f"{job.name}: {error}") from error
            raise
        solved.append(motion)
        paths.append(path)
    return solved, paths


def _solve_one(job: Job, settings, progress: Progress) -> tuple[TurningMotion, PathMotion | None]:
    if job.course is None:
        return solve_turning(settings, progress), None
    path = _plans.get(job.course, settings, progress)
    if _frames(path.motion) < 2:
        raise NoMotion(path_problems(job, path.motion.problems))
    return path.motion, path


class _Plans:
    """Motions along paths that were planned last: preview, Plan, bake and camera share them.

    A motion is a function of course and settings, so that what is remembered
    can never be out of date.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, PathMotion] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, scene: PathScene, settings: PathSettings, progress: Progress) -> PathMotion:
        key = _digest((scene, settings))
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = follow_path(scene, settings, progress)
        with self._lock:
            self._known[key] = found
            while len(self._known) > MOST_PLANS:
                self._known.popitem(last=False)
        return found

    def knows(self, scene: PathScene, settings: PathSettings) -> bool:
        with self._lock:
            return _digest((scene, settings)) in self._known


_plans = _Plans()


def is_planned(job: Job) -> bool:
    """Whether a job can be solved without planning a path anew.

    Args:
        job: what `gather` read.
    """
    for member in (*job.before, job, *job.following):
        if member.course is None:
            continue
        if member is not (*job.before, job)[0]:
            return False  # where it starts is known only when the one before is solved
        if not _plans.knows(member.course, member.settings):
            return False
    return True


def path_problems(job: Job, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """A motion's problems, with fixes named after the animator's settings.

    Args:
        job: the motion's job.
        problems: as the solver found them.
    """
    if job.course is None:
        return problems
    heights = np.concatenate([line[:, 2] for line in job.course.polylines])
    own = ()
    if np.ptp(heights) > LEVEL and job.course.terrain is None:
        own = (
            Problem(
                "PATH_NOT_LEVEL",
                f"The path goes up and down by {np.ptp(heights):.2f} m: it is followed on level "
                "ground at the height of its first point",
                "INFO",
                amount=float(np.ptp(heights)),
            ),
        )
    return own + tuple(replace(p, fix=tuple(_named(job, *fix) for fix in p.fix)) for p in problems)


def _named(job: Job, setting: str, value: float) -> tuple[str, float]:
    """A fix as a setting of the Motion object, or of one of its gates."""
    name = setting.removeprefix("path.")
    if not name.startswith("gates["):
        return f"path.{path_settings.NAMES.get(name, name)}", value
    number = int(name[6:].partition("]")[0])
    scene = job.course
    window = 2.0 * float(np.max(job.settings.speed)) * job.settings.stage
    line = make_gates(
        scene.gates, make_course(scene.polylines, scene.cyclic, window, laps=scene.laps)
    )[number]
    # The solver counts to the left of the way through, an object along its own X axis.
    gate = scene.gates[number]
    axis = np.asarray(gate.left)[:2] - np.asarray(gate.right)[:2]
    side = float(np.dot((-line.ahead[1], line.ahead[0]), axis))
    return f"gate.{gate.name}", value if side > 0.0 else -value


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
        "motions before and after": [digests(j) for j in (*job.before, *job.following)],
        "Poise's version": SOLVER_VERSION,
    }
    if job.course is not None:
        parts = {
            **parts,
            "settings": _without(settings, "fps", "gravity", "placement", "most_seconds"),
            "frame range": job.start_frame,
            "path, obstacles and gates": replace(job.course, terrain=None),
            "terrain": job.course.terrain,
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
    try:
        before = dict(json.loads(stored))
    except (ValueError, TypeError):
        before = {}  # not what a bake stored: nothing is known to be the same
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
