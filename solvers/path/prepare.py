# SPDX-License-Identifier: GPL-3.0-or-later
"""Make ready to follow a path: check what was drawn and asked for, and index it.

How long a motion takes, how quick it gets and how far it has to see is laid out
here once; `follow` then only plans and goes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..errors import SettingError
from ..turning.settings import AIR_DENSITY, steps_per_frame
from .course import Course, make_course
from .descent import stand_on
from .levels import first_level, follow_levels
from .lookahead import FallTable
from .obstacles import ObstacleField
from .search import LEAN_MARGIN, SPACE_MARGIN, GateLine, Planner, make_gates
from .settings import PathScene, PathSettings, SpeedCourse, check_settings
from .stages import LEAST_SHARE
from .terrain import HEADROOM, Field, Surface

SECOND_THOUGHTS = (0, 2, 4)  # stages taken back, one after the other
ROOM = 30.0  # m of terrain beside the path that is looked at
HIGHER = 3.0  # m that a track may come down from beside the path, for its most speed
BEAD = 0.5  # m


@dataclass(frozen=True)
class Prepared:
    """A scene and settings, checked and indexed, ready to be planned in.

    Attributes:
        scene: as drawn.
        settings: checked.
        course: the path.
        field: the obstacles.
        gates: where along the path the gates stand.
        speed: speed over time.
        planner: makes the plans.
        surface: the terrain's mesh, or None on level ground.
        ground: what a body feels of it, or None.
        edge: arc length at which the path leaves the terrain for good, or its
            length, m.
        longest: time after which the motion has not got to the end, s.
        offset: arc length, m, of the path that the terrain was looked at for, where
            this one begins.
    """

    scene: PathScene
    settings: PathSettings
    course: Course
    field: ObstacleField
    gates: tuple[GateLine, ...]
    speed: SpeedCourse
    planner: Planner
    surface: Surface | None
    ground: Field | None
    edge: float
    longest: float
    offset: float = 0.0


def prepare(
    scene: PathScene,
    settings: PathSettings,
    known: Prepared | None = None,
    offset: float = 0.0,
) -> Prepared:
    """Check scene and settings and make ready to plan.

    Args:
        scene: path, obstacles and gates.
        settings: what is asked for.
        known: the same path, or one that goes on along a part of it, on the
            same terrain, prepared before, to save the work of looking at the
            terrain again.
        offset: arc length of that path where this one begins, m.

    Returns:
        What planning needs.

    Raises:
        SettingError: something is empty, not finite, out of range or
            contradictory.
    """
    check_settings(settings)
    if settings.speed_mode == "TERRAIN" and scene.terrain is None:
        raise SettingError("Speed Mode", settings.speed_mode, "'KEYED' where there is no terrain")
    speed = SpeedCourse(settings.speed, 0.5 / (steps_per_frame(settings.fps) * settings.fps))
    surface = ground = None
    longest = settings.most_seconds
    if scene.terrain is not None:
        if known is not None:
            surface, ground = known.surface, known.ground
        else:
            surface, ground = _terrain(scene, settings)
    if settings.speed_mode == "TERRAIN":
        assert ground is not None
        seconds = _predict(speed, ground, scene, settings, offset)
        longest = min(longest or math.inf, 2.0 * seconds + 10.0)
    most = speed.most
    share = 1.0 - settings.max_curvature * settings.height * math.sin(settings.max_lean)
    foot = most / max(share, LEAST_SHARE)  # the quickest that a foot can be
    far = foot * settings.stage / settings.substeps
    reach = settings.clearance + SPACE_MARGIN + 0.125 * far**2 * settings.max_curvature
    window = settings.window or max(2.0 * most * settings.stage, 1e-3)
    horizon = foot * settings.stage * (settings.stages + SECOND_THOUGHTS[-1] + 2)
    course = make_course(scene.polylines, scene.cyclic, window, horizon + window, scene.laps)
    field = ObstacleField(scene.obstacles, scene.gates, reach, far, ground)
    gates = tuple(make_gates(scene.gates, course, ground, offset))
    falls = None
    if ground is None:  # over terrain, what falls depends on where it is
        stages = settings.stages + SECOND_THOUGHTS[-1] + 2
        falls = FallTable(settings, speed, settings.max_lean - LEAN_MARGIN, stages)
    edge = course.length
    if ground is not None:
        way = np.linspace(0.0, edge, max(2, math.ceil(edge / BEAD) + 1))
        x, y = course.locate(way)[0].T
        solid = ground.supports(x, y, ground.sheet_at(way + offset))
        if solid.any() and not solid[-1]:
            edge = float(way[int(np.flatnonzero(solid)[-1])])
    planner = Planner(course, field, gates, settings, speed, falls, ground, edge, offset)
    if longest is None:
        longest = 2.0 * course.length / speed.least + 10.0
    return Prepared(
        scene, settings, course, field, gates, speed, planner, surface, ground, edge, longest,
        offset,
    )


def _terrain(scene: PathScene, settings: PathSettings) -> tuple[Surface, Field]:
    """The mesh, and what a body feels of it about the path."""
    assert scene.terrain is not None
    surface = scene.terrain.surface
    points = np.concatenate([np.asarray(line, dtype=float)[:, :2] for line in scene.polylines])
    first = np.asarray(next(line for line in scene.polylines if len(line))[0], dtype=float)
    headroom = max(HEADROOM, settings.headroom)
    start = np.array([*points[0], first_level(surface, first, headroom)])
    if settings.start_state is not None:
        start = np.asarray(settings.start_state.position, dtype=float)
    low, high = np.minimum(points.min(axis=0), start[:2]), np.maximum(points.max(axis=0), start[:2])
    box = low - ROOM, high + ROOM
    field = Field(surface, *box, settings.smoothing, start, headroom=headroom)
    if field.layered:
        course = make_course(scene.polylines, scene.cyclic, 1000.0, 1.0, scene.laps)
        laps = scene.laps if course.cyclic else 1
        # Where a motion goes on, it need not begin where the path does.
        drawn = first_level(surface, first, headroom)
        drawn = drawn if math.isfinite(drawn) else float(start[2])
        field = follow_levels(surface, field, course, laps, settings.smoothing, drawn, headroom)
    return surface, field


def _predict(
    speed: SpeedCourse, ground: Field, scene: PathScene, settings: PathSettings, offset: float
) -> float:
    """Bounds of the speed that the terrain makes, and about how long the path takes, s.

    A bead runs along the path. The bounds serve to lay out what is looked up,
    a track that comes down from beside the path among it; the speed itself is
    integrated along with the motion.
    """
    course = make_course(scene.polylines, scene.cyclic, 1000.0, 1.0, scene.laps)
    count = max(2, math.ceil(course.length / BEAD) + 1)
    along = np.linspace(0.0, course.length, count)
    points, direction = course.locate(along)
    psi = np.arctan2(direction[:, 0], -direction[:, 1])
    under = stand_on(ground, points[:, 0], points[:, 1], psi, ground.sheet_at(along + offset))
    v = speed.first if settings.start_state is None else settings.start_state.speed
    speed.first = v
    speeds, seconds = [v], 0.0
    step = float(along[1])
    ahead = settings.gravity * under.ahead / under.along
    load = settings.friction * settings.gravity / under.area
    drag = 0.5 * AIR_DENSITY * settings.drag_area / settings.mass
    for i in range(count - 1):
        way = step * float(under.along[i])
        accel = -float(ahead[i] + load[i]) - drag * v * v
        after = max(v * v + 2.0 * accel * way, 0.25)
        if v > settings.most_speed:
            after = max(after - 2.0 * settings.braking * way, settings.most_speed**2)
        v = math.sqrt(after)
        speeds.append(v)
        seconds += way / v
    top = max(speeds)
    speed.constant = True
    speed.most = math.sqrt(top * top + 2.0 * settings.gravity * HIGHER)
    speed.least = min(speeds)
    return seconds
