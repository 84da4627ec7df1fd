# SPDX-License-Identifier: GPL-3.0-or-later
"""Read turns, and motions along a path, out of Blender."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import bpy
import numpy as np

from ....solvers.path import PathScene
from ....solvers.path.course import make_course
from ....solvers.turning.settings import TurningSettings, sample_times
from ...errors import UserError
from ...mapping.body import PendulumBody, pendulum_body
from ...mapping.tracks import Figure
from ...placement import changes, standing_at
from ...scene import course
from ...scene.figures import figure_in_metres, placement_of
from ...scene.sampling import animated_settings, is_animated
from ...scene.timing import MAX_FRAMES, SceneNumbers, frame_range
from ...settings.turns import PoiseTurns
from .job import RidingJob

# Terrain so far (m) beside a path is read.
AROUND = 60.0

# Frames that are read at a time until an animated speed has gone all of a path.
CHUNK = 240


def gather(
    context: bpy.types.Context, motion: bpy.types.Object, kind: str, numbers: SceneNumbers
) -> RidingJob:
    """Read one ride, its style still open; see `Family.gather`."""
    gathered = _gather_path if motion.poise_motion.kind == "PATH" else _gather_turns
    return gathered(context, motion, kind, numbers)


def _gather_turns(context, motion, kind: str, numbers: SceneNumbers) -> RidingJob:
    """Read turns."""
    scene, settings = context.scene, motion.poise_motion
    character = settings.character
    start, end = frame_range(scene, motion)
    # What is animated stands where it is at the start, whatever frame is current.
    with standing_at(scene, start, motion, character):
        figure = figure_in_metres(character, numbers.unit_scale)
        assert isinstance(figure, Figure)  # nobody else can ride
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
        samples=animated_settings(scene, motion, "turns", PoiseTurns.SAMPLED, frames),
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
        assert isinstance(figure, Figure)  # nobody else can ride
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
    if not is_animated(motion, "path", path.SAMPLED):
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
