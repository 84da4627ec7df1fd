# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmark rows of the preview: what happens between a dragged slider and the picture."""

from __future__ import annotations

from dataclasses import replace
from math import radians

import bpy
import numpy as np
import scenes
from bench_rows import Row, side_by_side

SECONDS = 60.0


def _skier() -> bpy.types.Object:
    """A skier whose speed, frequency, lean and heading are keyed over a minute."""
    scenes.start_scene(SECONDS)
    rig = scenes.add("SKIER")
    times = np.linspace(0.0, SECONDS, 9)
    for name, values in (
        ("speed", 8.0 + 2.0 * np.sin(0.2 * times)),
        ("frequency", 0.5 + 0.1 * np.sin(0.3 * times)),
        ("sharpness", radians(23.0) + 0.1 * np.sin(0.25 * times)),
        ("heading", 0.3 * np.sin(0.1 * times)),
    ):
        scenes.key(rig.poise.turns, name, *zip(times, values, strict=True))
    return rig


def _stepped(rig: bpy.types.Object) -> np.ndarray:
    """The plain way to a track: step through the frames of the keyed rig and read its feet."""
    scene = bpy.context.scene
    places = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places.append([posed.matrix_world @ posed.pose.bones[f"ski.{s}"].head for s in "LR"])
    return np.array(places)


def _drawn(solved) -> list:
    """All that `overlay` hands to the graphics card of a solve, and the panel's numbers."""
    from poise.addon import families
    from poise.addon.show import overlay

    palette, unit = overlay.Palette(), 1.0 / solved.job.numbers.unit_scale
    strokes = overlay.track_strokes(solved, palette)
    strokes += overlay.ghost_strokes(solved, overlay.row_at(solved, 100.0), palette)
    return [overlay.vertex_data(each, unit) for each in strokes] + [
        families.view_of(solved.job).numbers(solved).lines()
    ]


def rows() -> list[Row]:
    """Measure the preview of a minute of keyed turns."""
    from poise.addon import pipeline
    from poise.addon.mapping.registry import MAPPINGS

    rig = _skier()
    motion = rig.poise.motion_object
    job = pipeline.gather(bpy.context, motion)
    solved = pipeline.solve(job)
    pose = MAPPINGS[job.kind].function

    def mapped_and_drawn():
        tracks = pose(solved.motion, job.figure, job.style)
        return _drawn(replace(solved, tracks=tracks))

    def everything():
        fresh = pipeline.gather(bpy.context, motion)
        pipeline.changed_inputs(fresh, motion.poise_motion.inputs)
        pipeline.digests(fresh)
        return _drawn(pipeline.solve(fresh))

    bpy.ops.poise.bake()
    plain_way = "frames of the baked rig stepped through"
    mapped = side_by_side(lambda: _stepped(rig), mapped_and_drawn, 9, 1)
    whole = side_by_side(lambda: _stepped(rig), everything, 5, 1)
    return [
        Row("60 s of turning with 4 keyed settings: mapped and drawn", plain_way, *mapped,
            limit=100.0,
            note="the skier's tracks and problems, the panel's numbers, the lines of track and "
            "ghost as arrays for the graphics card; not their upload, and not the solve"),
        Row("60 s of turning with 4 keyed settings: a setting changes", plain_way, *whole,
            limit=150.0,
            note="keys read and compared, solved, mapped and drawn"),
    ]
