# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a legged motion out of Blender."""

from __future__ import annotations

import math
from dataclasses import replace

import bpy
import numpy as np

from ....solvers.legged import GaitSettings
from ....solvers.legged.edits import Locks
from ....solvers.legged.speed import speeds_along
from ....solvers.legged.terrain import MeshGround, way_over
from ....solvers.motion import Placement
from ....solvers.turning.settings import sample_times
from ...errors import UserError
from ...mapping.legs import LeggedFigure, creature_of
from ...mapping.swings import swings_of
from ...placement import changes, standing_at
from ...scene import course
from ...scene.figures import figure_in_metres, placement_of
from ...scene.sampling import animated_settings, is_animated
from ...scene.timing import SceneNumbers, frame_range
from ...settings.footprints import edits_of
from ..freeform.gather import kept, poses_of
from .job import GaitJob

# Terrain so far (m) beside the way is read, and so far ahead of its end.
AROUND = 15.0


def gather(
    context: bpy.types.Context, motion: bpy.types.Object, kind: str, numbers: SceneNumbers
) -> GaitJob:
    """Read one legged motion, its style still open; see `Family.gather`."""
    scene, settings = context.scene, motion.poise_motion
    character, gait, unit = settings.character, settings.gait, numbers.unit_scale
    start, end = frame_range(scene, motion)
    n_frames = end - start + 1
    frames = start + sample_times(n_frames, numbers.fps) * numbers.fps
    if gait.speed_by == "WAY":
        pairs = gait.speed_pairs(unit)
        speed, _way_gone = speeds_along(pairs, sample_times(n_frames, numbers.fps))
    else:
        samples = animated_settings(scene, motion, "gait", gait.SAMPLED, frames)
        speed = samples.get("speed", gait.speed) * unit
    with standing_at(scene, start, motion, character, *depends_on(motion)):
        figure = figure_in_metres(character, unit)
        assert isinstance(figure, LeggedFigure)  # nobody else can do gaits
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
    arms: dict = {}
    if params.sequence:
        params, arms = _swung(gait, params, character, figure, unit)
    return GaitJob(
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
        arms=arms,
    )


def _swung(gait, params: GaitSettings, character, figure, unit: float):
    """Gaits whose legs swing through the postures of free-form motions, and what arms do."""
    arms: dict = {}
    sequence = list(params.sequence)
    for k, item in enumerate(gait.sequence):
        source = item.swing
        if source is None:
            continue
        postures = list(source.poise_motion.freeform.postures)
        legs = [leg.name for leg in params.creature.legs]
        supports = [p.standing for p in postures]
        if all(name in bears for bears in supports for name in legs):
            raise UserError(
                f"{source.name}, from which {item.name} takes its swings, has no posture with a "
                "leg in the air: add one there, and let that leg not bear, or clear Swing From"
            )
        poses = poses_of(character, figure, [kept(source, p) for p in postures], unit)
        times = np.array([p.frame for p in postures], dtype=float)
        if not (np.diff(times) > 0.0).all():  # by distance frames do not count
            times = np.arange(len(times), dtype=float)
        swings, own = swings_of(figure, params.creature, poses, supports, times)
        arms |= own
        sequence[k] = replace(sequence[k], gait=replace(sequence[k].gait, swings=swings))
    return replace(params, sequence=tuple(sequence)), arms


def depends_on(motion: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects that a motion depends on, its character aside."""
    gait = motion.poise_motion.gait
    swings = [item.swing for item in gait.sequence]
    return [found for found in (gait.path, gait.terrain, *swings) if found is not None]


def _path_of(motion, curve, unit: float) -> tuple[np.ndarray | None, bool]:
    """Points (k, 3) of a motion's path in m, and whether it is closed; None without one."""
    if curve is None:
        return None, False
    lines, cyclic = course.curve_lines(curve, unit)
    drawn = [(line, closed) for line, closed in zip(lines, cyclic, strict=True) if len(line) > 1]
    if not drawn:
        raise UserError(f"{curve.name} has nothing to follow: draw a curve of two points or more")
    if len(drawn) > 1:
        raise UserError(
            f"{curve.name} has {len(drawn)} splines: {motion.name} can follow only one, so "
            "separate or join them"
        )
    line, closed = drawn[0]
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
    elif is_animated(motion, "gait", gait.SAMPLED):
        why = "has one speed: delete the keys or the driver of Speed"
    elif gait.mode == "SEQUENCE" and len(gait.sequence) > 1:
        why = "has one gait: remove the others from the list"
    elif motion.poise_motion.after is not None:
        why = "follows no other motion: clear After"
    if why:
        raise UserError(f"{motion.name} is a cycle, which {why}, or switch Cycle off")
