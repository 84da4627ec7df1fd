# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns, and motions along a path: what balances like an inverted pendulum."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import ceil, degrees, isfinite

import bpy
import numpy as np

from ...solvers.errors import SettingError
from ...solvers.motion import Problem, TurningMotion
from ...solvers.path import PathMotion, PathScene, PathSettings, follow_path
from ...solvers.path.course import make_course
from ...solvers.path.search import make_gates
from ...solvers.turning.settings import TurningSettings, sample_times
from ...solvers.turning.solve import solve_turning
from ...solvers.turning.summary import TurnSummary, summarise
from ..drawing import diagrams
from ..errors import UserError
from ..mapping import sequence
from ..mapping.body import PendulumBody, pendulum_body
from ..mapping.registry import MAPPINGS
from ..placement import changes, standing_at
from ..scene import course
from ..scene.figures import figure_in_metres, placement_of
from ..scene.sampling import animated_settings, is_animated
from ..scene.timing import MAX_FRAMES, SceneNumbers, frame_range
from ..settings import path as path_settings
from ..settings.turns import ANIMATED
from . import riding_view
from .base import (
    Family,
    Job,
    NoMotion,
    Numbers,
    Progress,
    Solved,
    Way,
    digest,
    frames_of,
    ground_problems,
    sampled_style,
    speed_step,
    without,
)

# How many motions along a path are remembered.
MOST_PLANS = 12

# Terrain so far (m) beside a path is read.
AROUND = 60.0

# Frames that are read at a time until an animated speed has gone all of a path.
CHUNK = 240


@dataclass(frozen=True)
class RidingJob(Job):
    """A ride: `settings.start_state` is still open where it continues another.

    Attributes:
        course: path, obstacles and gates of a motion along a path, or None
            for turns. Such a motion ends where the path does.
        terrain_moves: the terrain may be another one at other frames.
    """

    settings: TurningSettings | PathSettings
    course: PathScene | None = None
    terrain_moves: bool = False


@dataclass(frozen=True)
class SolvedRide(Solved):
    """A solved ride.

    Attributes:
        path: how well it follows its path, or None for turns.
    """

    job: RidingJob
    motion: TurningMotion
    path: PathMotion | None = None

    def of_motion(self) -> tuple[Problem, ...]:
        return path_problems(self.job, self.motion.problems)


@dataclass(frozen=True)
class RideNumbers(Numbers):
    """What the panel says about a ride.

    Attributes:
        turn: what its turns are like.
        half_turns: how many of its half turns are whole.
        end_time: seconds until it falls or stops, or None.
        end: "FALL", "STOP" or "".
        distance: length of the track in metres.
        path: how well it follows its path, or None for turns.
        weight: of the figure, N.
    """

    turn: TurnSummary
    half_turns: int
    end_time: float | None
    end: str
    distance: float
    path: PathMotion | None = None
    weight: float = 1.0

    def lines(self) -> tuple[tuple[str, str], ...]:
        return _turn_lines(self) if self.path is None else _path_lines(self, self.path)


class Riding(Family):
    """Turns by frequency, sharpness and heading, and ways along a path."""

    name = "RIDING"
    moves = "turns or paths on equipment"

    def gather(self, context, motion, kind, numbers):
        gathered = _gather_path if motion.poise_motion.kind == "PATH" else _gather_turns
        return self.restyled(context, gathered(context, motion, kind, numbers), motion)

    def restyled(self, context, job, motion):
        times = sample_times(job.end_frame - job.start_frame + 1, job.numbers.fps)[::2]
        frames = job.start_frame + times * job.numbers.fps
        style = sampled_style(context, motion, MAPPINGS[job.kind].group, frames)
        return replace(job, name=motion.name, style=style)

    def solve(self, job, progress):
        own = len(job.before)
        jobs = (*job.before, job, *job.following)
        solved, paths = _solve_in_turn(jobs, own, progress)
        jobs = jobs[: len(solved)]
        if job.course is not None:
            job = replace(job, end_frame=job.start_frame + frames_of(solved[own]) - 1)
        pose = MAPPINGS[job.kind].function
        styles = [
            _fitted(j.style, len(motion.time)) for j, motion in zip(jobs, solved, strict=True)
        ]
        if len(jobs) == 1:
            return SolvedRide(
                job, solved[0], pose(solved[0], job.figure, styles[0]), (), paths[0]
            )
        joined = sequence.join_motions(solved, [j.settings.placement.yaw for j in jobs])
        tracks = pose(joined, job.figure, sequence.join_styles(styles, solved))
        start = sequence.seams(solved)[own]
        cut = sequence.cut_tracks(tracks, start, solved[own])
        seam = ()
        if own:
            seam = speed_step(float(solved[own - 1].speed[-1]), float(solved[own].speed[0]))
        return SolvedRide(job, solved[own], cut, seam, paths[own])

    def inputs(self, job):
        settings = job.settings
        parts: Mapping[str, object] = {
            "settings": without(settings, "n_frames", "fps", "gravity", "placement"),
            "place of the motion": settings.placement,
        }
        if job.course is None:
            return parts
        return {
            **parts,
            "settings": without(settings, "fps", "gravity", "placement", "most_seconds"),
            "frame range": job.start_frame,
            "path, obstacles and gates": replace(job.course, terrain=None),
            "terrain": job.course.terrain,
        }

    def is_planned(self, job):
        for member in (*job.before, job, *job.following):
            if member.course is None:
                continue
            if member is not (*job.before, job)[0]:
                return False  # where it starts is known only when the one before is solved
            if not _plans.knows(member.course, member.settings):
                return False
        return True

    def ends_by_itself(self, job):
        return job.course is not None  # where its path does

    def depends_on(self, motion):
        return course.everything(motion) if motion.poise_motion.kind == "PATH" else []

    def collections(self, motion):
        path = motion.poise_motion.path
        if motion.poise_motion.kind != "PATH":
            return []
        return [found for found in (path.obstacles, path.gates) if found is not None]

    def numbers(self, solved):
        return numbers_of(solved.motion, solved.path)

    def track(self, solved, palette):
        return riding_view.track_strokes(solved, palette)

    def course(self, solved):
        return riding_view.course_strokes(solved)

    def rejected(self, solved):
        return riding_view.rejected_strokes(solved)

    def ghost(self, solved, row, palette):
        return riding_view.ghost_strokes(solved, row, palette)

    def hud(self, solved, row):
        return riding_view.hud_lines(solved, row)

    def way(self, solved):
        motion = solved.motion
        spans = [turn.end - turn.start for turn in motion.half_turns if turn.complete]
        # A typical half turn; the whole motion where it has none.
        beat = float(np.median(spans)) if spans else float(motion.time[-1])
        return Way(
            motion.time, motion.position, motion.forward, motion.normal,
            float(motion.distance[-1]), beat,
        )

    def inset(self, solved, row, width, height):
        return diagrams.phase_diagram(solved.motion, width, height, labelled=False)

    def inset_now(self, solved, row, width, height):
        motion = solved.motion
        axes = diagrams.phase_axes(motion, width, height, 10.0)
        return axes.place(degrees(motion.lean[row]), degrees(motion.lean_rate[row]))[0]

    def diagrams(self):
        return {"PHASE": diagrams.phase_diagram, "TIME": diagrams.time_diagram}


def numbers_of(motion: TurningMotion, path: PathMotion | None = None) -> RideNumbers:
    """Sum a motion up in a few numbers.

    Args:
        motion: a solved motion.
        path: how well it follows its path, or None for turns.
    """
    end = next((event for event in motion.events if event.kind in ("FALL", "STOP")), None)
    return RideNumbers(
        turn=summarise(motion),
        half_turns=sum(turn.complete for turn in motion.half_turns),
        end_time=None if end is None else end.time,
        end="" if end is None else end.kind,
        distance=float(motion.distance[-1]),
        path=path,
        weight=motion.mass * motion.gravity,
    )


def _path_lines(numbers: RideNumbers, path: PathMotion) -> tuple[tuple[str, str], ...]:
    lines = [
        ("Track", f"{numbers.distance:.1f} m"),
        ("Time", f"{path.motion.time[-1]:.2f} s"),
        ("Mean Distance", f"{path.mean_distance:.2f} m"),
        ("Largest Distance", f"{path.max_distance:.2f} m"),
    ]
    if isfinite(path.min_clearance):
        lines.append(("Smallest Clearance", f"{path.min_clearance:.2f} m"))
    lines += [
        ("Largest Lean", f"{degrees(path.max_lean):.1f}°"),
        ("Peak Force", f"{path.peak_force / numbers.weight:.2f} g"),
    ]
    if path.gate_times:
        passed = sum(isfinite(time) for time in path.gate_times)
        lines.append(("Gates", f"{passed} of {len(path.gate_times)}"))
    if not path.finished:
        lines.append(("Stops", f"after {path.motion.time[-1]:.2f} s"))
    return tuple(lines)


def _turn_lines(numbers: RideNumbers) -> tuple[tuple[str, str], ...]:
    turn = numbers.turn
    half_turn = f"{degrees(turn.half_turn):.1f}°" + (" (a loop)" if turn.loop else "")
    straight = turn.min_radius > 1e4
    lines = [
        ("Half Turn", half_turn if numbers.half_turns else "none is whole"),
        ("Minimum Radius", "straight" if straight else f"{turn.min_radius:.1f} m"),
        ("Peak Force", f"{turn.peak_force:.2f} g"),
        ("Track", f"{numbers.distance:.1f} m"),
    ]
    if turn.clipped > 0.0:
        lines.append(("Clipped", f"{max(100.0 * turn.clipped, 0.1):.1f} %"))
    if numbers.end_time is not None:
        lines.append(("Falls" if numbers.end == "FALL" else "Stops",
                      f"after {numbers.end_time:.2f} s"))
    return tuple(lines)


def _gather_turns(context, motion, kind: str, numbers: SceneNumbers) -> RidingJob:
    """Read turns."""
    scene, settings = context.scene, motion.poise_motion
    character = settings.character
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
    return RidingJob(
        name=motion.name,
        character=character.name,
        kind=kind,
        motion=settings.kind,
        start_frame=start,
        end_frame=end,
        settings=params,
        style=None,
        figure=figure,
        numbers=numbers,
    )


def _gather_path(context, motion, kind: str, numbers: SceneNumbers) -> RidingJob:
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
            surface = terrain.surface if path.obstacles is not None else None
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
        headroom=body.top,
    )
    return RidingJob(
        name=motion.name,
        character=character.name,
        kind=kind,
        motion=settings.kind,
        start_frame=start,
        end_frame=start + frames - 1,
        settings=params,
        style=None,
        figure=figure,
        numbers=numbers,
        course=PathScene(lines, cyclic, tuple(obstacles), gates, path.laps, terrain),
        terrain_moves=path.terrain is not None and changes(path.terrain),
    )


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


def _fitted(style, count: int):
    """A style whose samples are as many as the motion's; the last holds on."""
    changed = {}
    for field in fields(style):
        values = getattr(style, field.name)
        if np.ndim(values) == 1 and len(values) != count:
            short = np.asarray(values)[:count]
            changed[field.name] = np.pad(short, (0, count - len(short)), mode="edge")
    return replace(style, **changed) if changed else style


def _solve_in_turn(
    jobs: tuple[RidingJob, ...], own: int, progress: Progress
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


def _solve_one(
    job: RidingJob, settings, progress: Progress
) -> tuple[TurningMotion, PathMotion | None]:
    if job.course is None:
        return solve_turning(settings, progress), None
    path = _plans.get(job.course, settings, progress)
    if frames_of(path.motion) < 2:
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
        key = digest((scene, settings))
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
            return digest((scene, settings)) in self._known


_plans = _Plans()


def path_problems(job: RidingJob, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """A motion's problems, with fixes named after the animator's settings.

    Args:
        job: the motion's job.
        problems: as the solver found them.
    """
    if job.course is None:
        return problems
    terrain = "" if job.course.terrain is None else job.course.terrain.name
    own = ground_problems(terrain, job.terrain_moves, np.concatenate(job.course.polylines))
    return own + tuple(replace(p, fix=tuple(_named(job, *fix) for fix in p.fix)) for p in problems)


def _named(job: RidingJob, setting: str, value: float) -> tuple[str, float]:
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
