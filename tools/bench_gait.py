# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmark rows of legged motion: solving, mapping, baking, and changes of gait."""

from __future__ import annotations

from math import inf
from statistics import median
from time import perf_counter

import bpy
import gait_scenes
import numpy as np
import scenes
from bench_rows import Row, side_by_side

SECONDS = 60.0
HERD, CHARACTERS = 20, 100
APART = 1e-3  # of a stride: moments that the plain way to a change of gait tries


def _horse():
    """A horse that walks, trots and canters for a minute."""
    scenes.start_scene(SECONDS)
    rig = gait_scenes.walker("HORSE", mode="AUTOMATIC")
    scenes.key(
        rig.poise.gait, "speed", (0.0, 1.5), (15.0, 1.8), (20.0, 4.0), (40.0, 4.0), (50.0, 7.5)
    )
    return rig


def _stepped(rig) -> np.ndarray:
    """The plain way to a track: step through the frames of the baked rig and read its feet."""
    scene = bpy.context.scene
    bones = [b.name for b in rig.pose.bones if b.name.startswith(("fore.5", "hind.5"))] or ["root"]
    places = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places.append([posed.matrix_world @ posed.pose.bones[name].head for name in bones])
    return np.array(places)


def _select(rigs) -> None:
    """Select some characters and nothing else."""
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in rigs)
    bpy.context.view_layer.objects.active = rigs[0]


def _animals(count: int) -> list:
    """So many horses in a scene of their own, each at its own pace."""
    scenes.start_scene(10.0)
    return [
        gait_scenes.walker("HORSE", x=3.0 * i, speed=1.5 + 4.0 * i / count, start_phase=i / count)
        for i in range(count)
    ]


def _bake(rigs) -> None:
    """Bake some characters with one click."""
    _select(rigs)
    bpy.ops.poise.bake()


def _clear(rigs) -> None:
    """Take their bakes away again, where there are any."""
    if rigs[0].animation_data is not None and rigs[0].animation_data.action is not None:
        _select(rigs)
        bpy.ops.poise.bake_clear()


def _herd() -> tuple[float, float]:
    """Baking a herd: one animal after the other, and all that are selected; milliseconds."""
    rigs = _animals(HERD)
    return side_by_side(
        lambda: [_bake([rig]) for rig in rigs], lambda: _bake(rigs), 3, 2, lambda: _clear(rigs)
    )


def _batch() -> tuple[float, float]:
    """Baking many at once, and as often one that is alone in its scene; milliseconds."""
    taken = []
    for count in (1, CHARACTERS):
        rigs = _animals(count)
        times = []
        for _ in range(5 if count == 1 else 1):
            _clear(rigs)
            start = perf_counter()
            _bake(rigs)
            times.append(1000.0 * (perf_counter() - start))
        taken.append(median(times) * CHARACTERS / count)
    return taken[0], taken[1]


def _pairs(count: int = 200):
    """Random changes of gait of eight legs: (current, wanted, transfer, least), periods of 1."""
    rng = np.random.default_rng(8)
    return [
        (rng.uniform(0.0, 1.0, 8), rng.uniform(0.0, 1.0, 8), rng.uniform(0.3, 0.6, 8),
         rng.uniform(0.05, 0.25))
        for _ in range(count)
    ]


def _least_by_trying(current, wanted, transfer, least) -> float:
    """The plain way to a change of gait: try moments for the next gait to begin, one by one."""
    best = inf
    for offset in np.arange(0.0, 1.0, APART):
        total = 0.0
        for here, there, swing in zip(current, wanted, transfer, strict=True):
            shift = (there - here + offset) % 1.0 - 1.0
            while shift < least - swing:
                shift += 1.0
            total += min(shift**2, (shift + 1.0) ** 2)
        best = min(best, total)
    return best


def rows() -> list[Row]:
    """Measure a minute of a horse, herds, and a change of gait of eight legs."""
    from poise.addon import pipeline
    from poise.addon.mapping.registry import MAPPINGS
    from poise.solvers.legged import solve_gait
    from poise.solvers.legged.shift import minimum_shift

    rig = _horse()
    job = pipeline.gather(bpy.context, rig.poise.motion_object)
    pose = MAPPINGS[job.kind].function
    bpy.ops.poise.bake()

    def stepped():
        return _stepped(rig)

    def solved_and_mapped():
        return pose(solve_gait(job.settings), job.figure, job.style)

    one = side_by_side(stepped, solved_and_mapped, 5, 1)
    baked = side_by_side(stepped, lambda: bpy.ops.poise.bake(), 3, 1)
    herd, batch = _herd(), _batch()
    pairs = _pairs()
    shift = side_by_side(
        lambda: [_least_by_trying(*pair) for pair in pairs],
        lambda: [minimum_shift(*pair, 1.0) for pair in pairs],
        5, 1,
    )
    plain_way = "frames of the baked rig stepped through"
    return [
        Row("60 s of a horse through its gaits: solved and mapped", plain_way, *one, limit=300.0),
        Row("60 s of a horse through its gaits: baked", plain_way, *baked),
        Row(f"a herd of {HERD} horses of 10 s: baked", "one after another", *herd, goal=3.0),
        Row(f"{CHARACTERS} horses of 10 s in one batch: baked", "as often one alone in a scene",
            *batch),
        Row(f"{len(pairs)} changes of gait of 8 legs", "1000 moments tried one by one", *shift,
            goal=10.0),
    ]
