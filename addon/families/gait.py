# SPDX-License-Identifier: GPL-3.0-or-later
"""Legged motion: gaits along a way, over terrain.

Motions that continue each other are solved as one, so that the gait of one
goes over into that of the next as gaits within one motion do; each then takes
its own span of the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import bpy
import numpy as np

from ...solvers.legged import (
    PRESETS,
    GaitItem,
    GaitMotion,
    GaitSettings,
    choose_gaits,
    solve_gait,
)
from ...solvers.legged.body import minimum_jerk
from ...solvers.legged.edits import Locks
from ...solvers.legged.gait import Clock, Gait
from ...solvers.legged.settings import gait_of, ladder_for
from ...solvers.legged.speed import speeds_along
from ...solvers.legged.terrain import MeshGround, way_over
from ...solvers.motion import Placement, Problem
from ...solvers.rotations import normalise
from ...solvers.turning.settings import sample_times
from ..drawing import diagrams
from ..errors import UserError
from ..mapping import sequence
from ..mapping.adapted import adapted_tracks
from ..mapping.legs import LeggedFigure, creature_of
from ..mapping.registry import MAPPINGS
from ..mapping.tracks import RoleTracks, Treadmill
from ..placement import changes, standing_at
from ..scene import course
from ..scene.figures import figure_in_metres, placement_of
from ..scene.sampling import animated_settings, is_animated
from ..scene.timing import frame_range
from ..settings import gait as gait_settings
from ..settings.footprints import edits_of
from . import gait_view
from .base import (
    Family,
    Job,
    Numbers,
    Progress,
    Solved,
    Way,
    ground_problems,
    sampled_style,
    speed_step,
    without,
)

# Terrain so far (m) beside the way is read, and so far ahead of its end.
AROUND = 15.0

# A cycle is solved with so long (s) before and after it, and is told to be open from so much
# of a stride on.
LEAD = 2.0
OPEN = 1e-3

# A motion that goes on from another along a path of its own has to start so near to its end,
# in hip heights.
NEAR = 0.5


@dataclass(frozen=True)
class GaitJob(Job):
    """A legged motion.

    Attributes:
        own: placement of the Motion object at the start: edited footprints are seen from there.
        in_place: the body stays where it starts.
        cycle: its last frame is its first again.
        curve: name of the path's curve, "" without one.
        speeds: (distance along the way, speed) of places, m and m/s.
        terrain_moves: the terrain may be another one at other frames.
    """

    settings: GaitSettings
    figure: LeggedFigure
    own: Placement = Placement()
    in_place: bool = False
    cycle: bool = False
    curve: str = ""
    speeds: tuple[tuple[float, float], ...] = ()
    terrain_moves: bool = False


@dataclass(frozen=True)
class SolvedGait(Solved):
    """A solved legged motion."""

    LEGS: ClassVar[tuple[float, float]] = (0.005, 10.0)

    job: GaitJob
    motion: GaitMotion

    def of_motion(self) -> tuple[Problem, ...]:
        ground, path = self.job.settings.ground, self.job.settings.path
        name = "" if ground is None else ground.mesh.name
        return ground_problems(name, self.job.terrain_moves, path) + tuple(
            replace(
                problem,
                fix=tuple(
                    (f"gait.{gait_settings.NAMES.get(name, name)}", value)
                    for name, value in problem.fix
                ),
            )
            for problem in self.motion.problems
        )


@dataclass(frozen=True)
class GaitNumbers(Numbers):
    """What the panel says about a legged motion.

    Attributes:
        gaits: names of the gaits, in order.
        stride: (shortest, longest) stride, m.
        period: (shortest, longest) time of a stride, s.
        duty: (smallest, largest) duty factor.
        froude: (smallest, largest) Froude number.
        speed: (smallest, largest) speed, m/s.
        flights: how many flights of all legs there are.
        bank: largest lean in bends, rad.
        distance: length of the way, m.
    """

    gaits: tuple[str, ...]
    stride: tuple[float, float] | None
    period: tuple[float, float] | None
    duty: tuple[float, float] | None
    froude: tuple[float, float]
    speed: tuple[float, float]
    flights: int
    bank: float
    distance: float

    def lines(self) -> tuple[tuple[str, str], ...]:
        lines = [("Gaits", ", ".join(self.gaits))]
        for label, values, form, unit in (
            ("Speed", self.speed, "{:.2f}", " m/s"),
            ("Froude Number", self.froude, "{:.2f}", ""),
            ("Stride", self.stride, "{:.2f}", " m"),
            ("Stride Time", self.period, "{:.2f}", " s"),
            ("Duty Factor", self.duty, "{:.2f}", ""),
        ):
            if values is not None:
                low, high = (form.format(value) for value in values)
                lines.append((label, (low if low == high else f"{low} to {high}") + unit))
        lines.append(("Flights", str(self.flights)))
        if self.bank > 0.005:
            lines.append(("Largest Bank", f"{math.degrees(self.bank):.1f}°"))
        lines.append(("Way", f"{self.distance:.1f} m"))
        return tuple(lines)


class Gaits(Family):
    """Gaits of animals with any number of legs."""

    name = "LEGGED"
    moves = "gaits"

    def gather(self, context, motion, kind, numbers):
        scene, settings = context.scene, motion.poise_motion
        character, gait, unit = settings.character, settings.gait, numbers.unit_scale
        start, end = frame_range(scene, motion)
        n_frames = end - start + 1
        frames = start + sample_times(n_frames, numbers.fps) * numbers.fps
        if gait.speed_by == "WAY":
            pairs = gait.speed_pairs(unit)
            speed, _way_gone = speeds_along(pairs, sample_times(n_frames, numbers.fps))
        else:
            samples = animated_settings(scene, motion, "gait", gait_settings.ANIMATED, frames)
            speed = samples.get("speed", gait.speed) * unit
        with standing_at(scene, start, motion, character, *self.depends_on(motion)):
            figure = figure_in_metres(character, unit)
            placement = own = placement_of(motion, unit)
            path, closed = _path_of(motion, gait.path, unit)
            way = _way(path, closed, placement, speed, n_frames / numbers.fps)
            if path is not None:
                placement = replace(placement, origin=path[0])
            ground = None
            if gait.terrain is not None:
                low, high = way[:, :2].min(axis=0) - AROUND, way[:, :2].max(axis=0) + AROUND
                mesh = course.read_terrain(gait.terrain, low, high, unit)
                way = way_over(mesh, way)
                ground = MeshGround(mesh, way)
                placement = replace(placement, origin=way[0])
        if gait.cycle:
            _require_cycle(motion)
            if len(gait.footprints):
                raise UserError(
                    f"{motion.name} is a cycle, in which every stride is the same, and has edited "
                    "footprints: switch Cycle off, or reset them while it is off"
                )
        params = gait.to_params(
            creature=creature_of(figure),
            n_frames=n_frames,
            fps=numbers.fps,
            unit_scale=unit,
            gravity=numbers.gravity,
            placement=placement,
            speed=speed,
            path=path,
            closed=closed,
            ground=ground,
            edits=edits_of(gait.footprints, own, unit),
        )
        params = replace(
            params,
            locks=Locks(gait.keep_body, gait.keep_timing, gait.keep_legs),
            pins=tuple(pin.to_pin(own, unit) for pin in gait.footprint_pins),
        )
        job = GaitJob(
            name=motion.name,
            character=character.name,
            kind=kind,
            motion=settings.kind,
            start_frame=start,
            end_frame=end,
            settings=params,
            style=None,
            figure=figure,
            own=own,
            numbers=numbers,
            in_place=gait.in_place,
            cycle=gait.cycle,
            curve=gait.path.name if gait.path is not None else "",
            speeds=tuple(gait.speed_pairs(unit)) if gait.speed_by == "WAY" else (),
            terrain_moves=gait.terrain is not None and changes(gait.terrain),
        )
        return self.restyled(context, job, motion)

    def restyled(self, context, job, motion):
        count = job.end_frame - job.start_frame + 1
        frames = job.start_frame + sample_times(count, job.numbers.fps)[::2] * job.numbers.fps
        style = sampled_style(context, motion, MAPPINGS[job.kind].group, frames)
        return replace(job, name=motion.name, style=style)

    def solve(self, job, progress):
        pose = MAPPINGS[job.kind].function
        seam: tuple[Problem, ...] = ()
        jobs = (*job.before, job, *job.following)
        if job.cycle:
            motion, tracks, seam = _cycle(job, progress)
        elif len(jobs) == 1:
            motion = solve_gait(job.settings, progress)
            tracks = _posed(motion, job.figure, job.style, pose)
        else:
            jobs = _together(jobs, len(job.before))
            whole = solve_gait(_joined(jobs), progress)
            counts = [int(j.settings.n_frames) - 1 for j in jobs]
            spans = [_cut(whole, sum(counts[:i]), counts[i]) for i in range(len(jobs))]
            style = sequence.join_styles([j.style for j in jobs], spans)
            tracks = _posed(whole, job.figure, style, pose)
            motion = spans[len(job.before)]
            start = sequence.seams(spans)[len(job.before)]
            tracks = sequence.cut_tracks(tracks, start, motion)
        if job.before:
            last, first = (np.ravel(j.settings.speed) for j in (job.before[-1], job))
            seam = speed_step(float(last[-1]), float(first[0]))
        if job.in_place:
            tracks = _in_place(tracks, motion)
        return SolvedGait(job, motion, tracks, seam)

    def inputs(self, job):
        settings = job.settings
        ground = settings.ground
        return {
            "settings": (
                without(
                    settings, "n_frames", "fps", "gravity", "placement", "path", "closed",
                    "ground", "creature",
                ),
                job.in_place,
                job.cycle,
            ),
            "place of the motion": settings.placement,
            "path": (settings.path, settings.closed),
            "terrain": None if ground is None else ground.mesh,
        }

    def depends_on(self, motion):
        gait = motion.poise_motion.gait
        return [found for found in (gait.path, gait.terrain) if found is not None]

    def numbers(self, solved):
        return numbers_of(solved)

    def track(self, solved, palette):
        return gait_view.track_strokes(solved, palette)

    def course(self, solved):
        return gait_view.course_strokes(solved)

    def marks(self, solved):
        return gait_view.marks(solved)

    def ghost(self, solved, row, palette):
        return gait_view.ghost_strokes(solved, row, palette)

    def hud(self, solved, row):
        return gait_view.hud_lines(solved, row)

    def way(self, solved):
        motion = solved.motion
        ground = np.min(motion.foot_position[:, :, 2], axis=1)
        level = np.column_stack((motion.position[:, :2], ground))
        if solved.job.in_place:
            level = np.broadcast_to(level[:1], level.shape)
        forward = np.column_stack(
            (np.sin(motion.yaw), -np.cos(motion.yaw), np.zeros(len(motion.yaw)))
        )
        up = np.tile((0.0, 0.0, 1.0), (len(level), 1))
        stride = _stride_times(motion, solved.job.settings)
        beat = float(np.median(stride)) if len(stride) else float(motion.time[-1])
        return Way(motion.time, level, forward, up, distance_of(motion), beat)

    inset_size = (420, 150)
    inset_rolls = True

    def shows_inset(self, motion):
        return motion.poise_motion.gait.show_diagram

    def inset(self, solved, row, width, height):
        return gait_view.inset(solved, row, width, height)

    def inset_now(self, solved, row, width, height):
        upper, lower = gait_view.inset_axes(solved, row, width, height)
        across = upper.place(float(solved.motion.time[row]), 0.0)[0, 0]
        return np.array(((across, lower.bottom), (across, upper.top)))

    def diagrams(self):
        return {"GAIT": diagrams.gait_diagram}

    def trail(self, solved):
        return f"{solved.job.name} leaves footprints, no trail, and needs no slope"


def _posed(motion: GaitMotion, figure, style, pose) -> RoleTracks:
    """Tracks of a motion; where footprints were edited, they are others only around them."""
    tracks = pose(motion, figure, style)
    if motion.before is None or not motion.windows:
        return tracks
    return adapted_tracks(pose(motion.before, figure, style), tracks, motion)


# -- reading -----------------------------------------------------------------------


def _path_of(motion, curve, unit: float) -> tuple[np.ndarray | None, bool]:
    """Points (k, 3) of a motion's path in m, and whether it is closed; None without one."""
    if curve is None:
        return None, False
    lines, cyclic = course.curve_lines(curve, unit)
    lines = [(line, closed) for line, closed in zip(lines, cyclic, strict=True) if len(line) > 1]
    if not lines:
        raise UserError(f"{curve.name} has nothing to follow: draw a curve of two points or more")
    if len(lines) > 1:
        raise UserError(
            f"{curve.name} has {len(lines)} splines: {motion.name} can follow only one, so "
            "separate or join them"
        )
    line, closed = lines[0]
    if not np.isfinite(line).all():
        raise UserError(f"{curve.name} has points that stand nowhere: put them back")
    if float(np.ptp(line[:, :2], axis=0).max()) < 1e-6:
        raise UserError(f"All points of {curve.name} are in one place: draw a longer path")
    return line, closed


def _way(
    path: np.ndarray | None, closed: bool, placement: Placement, speed, seconds: float
) -> np.ndarray:
    """(k, 3) about where the body goes, m: the path, or straight ahead."""
    far = float(np.mean(np.nan_to_num(np.asarray(speed, dtype=float)))) * seconds
    far = min(max(far, 0.0), 1e5)
    if path is None:
        origin = np.asarray(placement.origin, dtype=float)
        ahead = np.array((np.sin(placement.yaw), -np.cos(placement.yaw), 0.0))
        return np.stack((origin, origin + max(far, 1.0) * ahead))
    if closed:
        return np.concatenate((path, path[:1]))
    # The body goes straight on beyond the end.
    gone = float(np.sum(np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1)))
    last = path[-1] - path[-2]
    level = math.hypot(last[0], last[1])
    if far <= gone or level < 1e-9:
        return path
    beyond = path[-1] + (far - gone) / level * last * (1.0, 1.0, 0.0)
    return np.concatenate((path, beyond[None]))


# -- motions that continue each other -------------------------------------------------


def _together(jobs, own: int):
    """The motions that can be solved as one, from the first on.

    Raises:
        UserError: the motion that is wanted is not among them.
    """
    for i, job in enumerate(jobs[1:], start=1):
        why = _apart(jobs[0], jobs[i - 1], job)
        if why and i <= own:
            raise UserError(why)
        if why:
            return jobs[:i]
    return jobs


def _apart(first: GaitJob, before: GaitJob, job: GaitJob) -> str:
    """Why a motion cannot go on from the one before it, or ""."""
    if job.curve and job.curve != first.curve:
        return (
            f"{job.name} goes on from {before.name} along a path of its own, {job.curve}: clear "
            "its Path, or join both curves into one"
        )
    if job.in_place != first.in_place:
        return (
            f"{job.name} goes on from {before.name}, and only one of them is In Place: let both "
            "be, or neither"
        )
    if job.settings.edits:
        return (
            f"{job.name} goes on from {before.name}, and has edited footprints: only those of the "
            "first motion can be edited"
        )
    same = (first.settings.ground is None) == (job.settings.ground is None)
    if not same or (
        job.settings.ground is not None
        and job.settings.ground.mesh.name != first.settings.ground.mesh.name
    ):
        return (
            f"{job.name} goes on from {before.name} on another Terrain: choose the same for both"
        )
    return ""


def _joined(jobs) -> GaitSettings:
    """One motion's settings out of those of motions that continue each other.

    What is read once for a whole motion (reach, bank ...) is that of the first.
    """
    first = jobs[0].settings
    items: list[GaitItem] = []
    speeds: list[np.ndarray] = []
    begin = 0.0
    creature = first.creature
    for job in jobs:
        settings = job.settings
        times = sample_times(settings.n_frames, settings.fps)
        speed = np.broadcast_to(np.asarray(settings.speed, dtype=float), times.shape)
        hip = creature.hip_height()
        if settings.sequence:
            own = [
                (gait_of(item.gait, creature), _start_of(item, times, speed))
                for item in settings.sequence
            ]
        else:
            own = [
                (gait_of(choice.gait, creature), choice.start)
                for choice in choose_gaits(
                    times, speed, hip, settings.gravity, ladder_for(settings),
                    settings.hysteresis,
                )
            ]
        own = [(own[0][0], 0.0), *sorted(own[1:], key=lambda pair: pair[1])]
        span = float(times[-1])
        for gait, start in own:
            if start >= span and start > 0.0:
                continue
            if items and _same_gait(items[-1].gait, gait):
                continue
            items.append(GaitItem(gait, start=begin + start))
        speeds.append(speed if not speeds else speed[1:])
        begin += span
    return replace(
        first,
        sequence=tuple(items),
        n_frames=sum(int(job.settings.n_frames) - 1 for job in jobs) + 1,
        speed=np.concatenate(speeds),
        ground=_longest_ground(jobs),
        edits=first.edits,
    )


def _longest_ground(jobs):
    """Terrain under all of the motions: that of the first, along the ways of all."""
    ground = jobs[0].settings.ground
    if ground is None or len(jobs) == 1:
        return ground
    return MeshGround(ground.mesh, np.concatenate([job.settings.ground.way for job in jobs]))


def _start_of(item: GaitItem, times: np.ndarray, speed: np.ndarray) -> float:
    if item.distance is None:
        return float(item.start)
    return float(Clock(times, speed).time(item.distance))


def _same_gait(one: Gait, other: Gait) -> bool:
    return one == other


def _cut(motion: GaitMotion, first: int, count: int) -> GaitMotion:
    """A span of a motion, its times counted from its own start.

    Args:
        motion: the whole.
        first: frame that it begins with, counted from 0.
        count: frames that it lasts.
    """
    rows = slice(first * motion.steps_per_frame, (first + count) * motion.steps_per_frame + 1)
    start, end = float(motion.time[rows][0]), float(motion.time[rows][-1])

    def moved(problem: Problem) -> Problem:
        times = [None if t is None else t - start for t in (problem.time, problem.end_time)]
        return replace(problem, time=times[0], end_time=times[1])

    counts: dict[str, int] = {}
    footprints = []
    for print_ in motion.footprints:
        if print_.off <= start or print_.on > end:
            continue
        index = counts.get(print_.leg, 0)
        counts[print_.leg] = index + 1
        footprints.append(replace(print_.moved(later=-start), index=index))
    arrays = {
        name: getattr(motion, name)[rows]
        for name in (
            "position", "orientation", "yaw", "pitch", "roll", "bank", "velocity",
            "girdle_height", "girdle_speed", "hip", "foot_position", "foot_orientation",
            "foot_pitch", "contact",
        )
    }
    return replace(
        motion,
        **arrays,
        time=motion.time[rows] - start,
        footprints=tuple(footprints),
        windows=tuple((a - start, b - start) for a, b in motion.windows),
        before=None if motion.before is None else _cut(motion.before, first, count),
        gaits=tuple(
            (name, max(a - start, 0.0), min(b - start, end - start))
            for name, a, b in motion.gaits
            if b > start and a < end
        ),
        problems=tuple(
            moved(p)
            for p in motion.problems
            if p.time is None or start - 1e-9 <= p.time <= end + 1e-9
        ),
    )


# -- cycles ---------------------------------------------------------------------------


def _require_cycle(motion: bpy.types.Object) -> None:
    """Refuse a cycle that could not be the same again.

    Raises:
        UserError: one sentence says why.
    """
    gait = motion.poise_motion.gait
    why = ""
    if gait.path is not None or gait.terrain is not None:
        why = "goes straight ahead on level ground: clear Path and Terrain"
    elif gait.speed_by == "WAY":
        why = "has one speed: set Speed to Over Time"
    elif is_animated(motion, "gait", gait_settings.ANIMATED):
        why = "has one speed: delete the keys or the driver of Speed"
    elif gait.mode == "SEQUENCE" and len(gait.sequence) > 1:
        why = "has one gait: remove the others from the list"
    elif motion.poise_motion.after is not None:
        why = "follows no other motion: clear After"
    if why:
        raise UserError(f"{motion.name} is a cycle, which {why}, or switch Cycle off")


def _cycle(
    job: GaitJob, progress: Progress
) -> tuple[GaitMotion, RoleTracks, tuple[Problem, ...]]:
    """A motion that is the same again: cut out of one that goes on before and after it.

    Bodies look ahead and even out; a motion that began with the cycle would not
    know what comes before it.
    """
    settings = job.settings
    count = int(settings.n_frames) - 1
    around = max(math.ceil(LEAD * settings.fps / count), 1)
    whole = solve_gait(
        replace(settings, n_frames=(2 * around + 1) * count + 1), progress
    )
    style = job.style
    changed = {
        name: np.concatenate([*[values[:-1]] * (2 * around), values])
        for name, values in vars(style).items()
        if np.ndim(values) == 1
    }
    tracks = MAPPINGS[job.kind].function(
        whole, job.figure, replace(style, **changed) if changed else style
    )
    motion = _cut(whole, around * count, count)
    tracks = sequence.cut_tracks(tracks, around * count / settings.fps, motion)
    back = np.asarray(whole.position[0] - motion.position[0]) * (1.0, 1.0, 0.0)
    motion, tracks = _moved_by(back, motion, tracks)
    tracks = _closed(motion, tracks)
    periods = _stride_times(whole, settings)  # none of who stands
    strides = float(motion.time[-1]) / float(np.median(periods)) if len(periods) else 0.0
    repeats = max(_cycles(settings).values(), default=1)
    times = strides / repeats
    if abs(times - round(times)) < OPEN and (round(times) > 0 or strides == 0.0):
        return motion, tracks, ()
    even = " of a gait whose sides alternate, which closes after two" if repeats > 1 else ""
    return motion, tracks, (
        Problem(
            "CYCLE_OPEN",
            f"The cycle does not close: its {count} frames are {strides:.3f} strides{even}",
            amount=strides,
            remedy="Click Make Cycle",
        ),
    )


def _moved_by(
    offset: np.ndarray, motion: GaitMotion, tracks: RoleTracks
) -> tuple[GaitMotion, RoleTracks]:
    motion = replace(
        motion,
        position=motion.position + offset,
        hip=motion.hip + offset,
        foot_position=motion.foot_position + offset,
        footprints=tuple(print_.moved(offset) for print_ in motion.footprints),
    )
    tracks = replace(
        tracks,
        position={role: places + offset for role, places in tracks.position.items()},
        contacts=tuple(replace(c, position=c.position + offset) for c in tracks.contacts),
        events=tuple(
            e if e.position is None else e._replace(position=e.position + offset)
            for e in tracks.events
        ),
    )
    return motion, tracks


def _closed(motion: GaitMotion, tracks: RoleTracks) -> RoleTracks:
    """Tracks whose last sample is the first again, but for the way.

    What legs of many segments remember of the strides before has all but gone;
    the rest, some micrometres, is spread over the cycle without adding speed at its ends.
    """
    way = (motion.position[-1] - motion.position[0]) * (1.0, 1.0, 0.0)
    share = minimum_jerk(np.linspace(0.0, 1.0, len(tracks.time)))[:, None]
    position = {
        role: places - share * (places[-1] - places[0] - way)
        for role, places in tracks.position.items()
    }
    rotation = {}
    for role, turns in tracks.rotation.items():
        first = turns[0] if float(np.dot(turns[0], turns[-1])) > 0.0 else -turns[0]
        rotation[role] = normalise(turns - share * (turns[-1] - first))
    return replace(tracks, position=position, rotation=rotation)


def _in_place(tracks: RoleTracks, motion: GaitMotion) -> RoleTracks:
    """Tracks of a body that stays where it starts: without the way, and the way's turning."""
    ground = Treadmill(motion.time, motion.position * (1.0, 1.0, 0.0), motion.yaw)
    return ground.moved(tracks)


# -- numbers ----------------------------------------------------------------------------


def _cycles(settings: GaitSettings) -> dict[str, int]:
    """Gaits of a list that are the same again only after some strides, and after how many."""
    gaits = [PRESETS[i.gait] if isinstance(i.gait, str) else i.gait for i in settings.sequence]
    return {gait.name: gait.cycle for gait in gaits}


def _strides(motion: GaitMotion, cycles: dict[str, int]) -> list[tuple[float, float, float]]:
    """(time, length, duty factor) of each stride: from a leg's touchdown to its next, or,
    where sides alternate, of the mean of two."""
    found = []
    for leg in {p.leg for p in motion.footprints}:
        own = sorted((p for p in motion.footprints if p.leg == leg), key=lambda p: p.on)
        for k, here in enumerate(own):
            count = cycles.get(here.gait, 1)
            last = own[k : k + count + 1][-1]
            if len(own) > k + count and np.isfinite(here.on) and np.isfinite(last.on):
                period = (last.on - here.on) / count
                length = float(np.linalg.norm((last.position - here.position)[:2])) / count
                found.append((period, length, (here.off - here.on) / max(period, 1e-9)))
    return found


def _stride_times(motion: GaitMotion, settings: GaitSettings) -> np.ndarray:
    strides = _strides(motion, _cycles(settings))
    return np.array([period for period, _length, _duty in strides])


def distance_of(motion: GaitMotion) -> float:
    """Length of a body's way in the ground plan, m.

    Args:
        motion: a solved motion.
    """
    return float(np.sum(np.linalg.norm(np.diff(motion.position[:, :2], axis=0), axis=1)))


def numbers_of(solved: SolvedGait) -> GaitNumbers:
    """Sum a legged motion up in a few numbers.

    Args:
        solved: a solved motion.
    """
    motion, settings = solved.motion, solved.job.settings
    strides = np.array(_strides(motion, _cycles(settings))).reshape(-1, 3)
    speed = np.atleast_1d(np.asarray(settings.speed, dtype=float))
    froude = speed**2 / (settings.gravity * motion.creature.hip_height())

    def span(values: np.ndarray) -> tuple[float, float] | None:
        return (float(values.min()), float(values.max())) if len(values) else None

    airborne = ~motion.contact.any(axis=1)
    names = dict.fromkeys(name for name, _start, _end in motion.gaits)
    return GaitNumbers(
        gaits=tuple(gait_view.label(name) for name in names),
        stride=span(strides[:, 1]),
        period=span(strides[:, 0]),
        duty=span(strides[:, 2]),
        froude=(float(froude.min()), float(froude.max())),
        speed=(float(speed.min()), float(speed.max())),
        flights=int(np.count_nonzero(np.diff(airborne.astype(int)) == 1)),
        bank=float(np.abs(motion.bank).max()),
        distance=distance_of(motion),
    )
