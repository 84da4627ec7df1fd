# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmark rows of path following: plans, re-planning, growth with obstacles and length.

The plain way is the algorithm of the turning paper's Fig. 14: a heap, one node
at a time, its children simulated and tested together by the same code for
motion, distance and collisions as ours.
"""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import replace
from functools import partial

import numpy as np
from bench_rows import Row, side_by_side

PLAIN_WAY = "heap, one node at a time"
SCENES = ("tree skiing", "slalom", "potholes")
STARTS = 6  # plans of each scene, a second apart
MOTION = 30.0  # s
PLAIN = 6.0  # s of it, the plain way


def _root(ready, plan=None):
    """The node at the start of the path, or where a plan's first stage ends."""
    planner = ready.planner
    if plan is None:
        heading = ready.course.direction[0]
        psi = math.atan2(heading[0], -heading[1])
        state = np.array([*ready.course.points[0], psi, 0.0, 0.0, 0.0, 0.0])
        return planner.root(state, 0, 0)
    return planner.root(plan.floats[1, :7], int(plan.ints[1, 0]), int(plan.ints[1, 1]))


def _starts(ready, count):
    """Roots and times along the way, every third stage."""
    root, found = _root(ready), []
    tree = ready.planner.tree(*root)
    for stage in range(3 * count):
        when = stage * ready.settings.stage
        plan = ready.planner.plan(tree, when)
        root = _root(ready, plan)
        tree.move_on(plan.choices[0])
        if stage % 3 == 2:
            found.append((root, when + ready.settings.stage))
    return found


def _plan_rows() -> list[Row]:
    """One plan from nothing, N = 10 and 12, q = 7: median over scenes and places."""
    from lab import courses
    from poise.solvers.path.prepare import prepare

    rows = []
    for stages in (10, 12):
        plain, ours, worst = [], [], 0.0
        for name in SCENES:
            scene, settings = courses.SCENES[name]()
            ready = prepare(scene, replace(settings, stages=stages))
            planner = ready.planner
            for root, when in _starts(ready, STARTS):
                kept: dict[str, object] = {}

                def heap(root=root, when=when, kept=kept, planner=planner):
                    kept["plain"] = planner.plan_plainly(*root, when)

                def batches(root=root, when=when, kept=kept, planner=planner):
                    kept["ours"] = planner.plan(planner.tree(*root), when)

                times = side_by_side(heap, batches, 3)
                costs = [kept[key].cost for key in ("plain", "ours")]
                if abs(costs[0] - costs[1]) > 1e-9:
                    raise AssertionError(f"{name} at {when:.1f} s: costs differ: {costs}")
                plain.append(times[0])
                ours.append(times[1])
                worst = max(worst, times[1])
        rows.append(
            Row(f"one plan, N = {stages}, q = 7, at the same cost", PLAIN_WAY,
                statistics.median(plain), statistics.median(ours), goal=10.0,
                note=f"median of {len(ours)}, worst of ours {worst:.1f} ms")
        )
    return rows


def _replan_plainly(ready, seconds: float) -> None:
    """Re-plan every stage the plain way."""
    root = _root(ready)
    for stage in range(round(seconds / ready.settings.stage)):
        plan = ready.planner.plan_plainly(*root, stage * ready.settings.stage)
        root = _root(ready, plan)


def _motion_rows() -> list[Row]:
    """30 s of re-planning every 0.3 s, as milliseconds for each second of motion."""
    from lab import courses
    from poise.solvers.path import follow_path
    from poise.solvers.path.prepare import prepare

    rows = []
    for name, (scene, settings) in {
        "a winding path without trees": courses.forest(0),
        "a forest of 200 trees": courses.forest(200),
    }.items():
        settings = replace(settings, most_seconds=MOTION)
        ready = prepare(scene, settings)
        slow: list[float] = []
        plan = ready.planner.plan

        def whole(scene=scene, settings=settings):
            return follow_path(scene, settings, advice=False)

        times = side_by_side(lambda ready=ready: _replan_plainly(ready, PLAIN), whole, 3, 1)
        start = time.process_time()
        seconds = float(whole().motion.time[-1])
        busy = time.process_time() - start

        # The worst single plan, in a run of its own.
        root = _root(ready)
        tree = ready.planner.tree(*root)
        for stage in range(round(MOTION / settings.stage)):
            start = time.perf_counter()
            made = plan(tree, stage * settings.stage)
            slow.append(1e3 * (time.perf_counter() - start))
            if not made.choices:
                break
            tree.move_on(made.choices[0])
        per_second = times[0] / PLAIN, times[1] / seconds
        rows.append(
            Row(f"{seconds:.0f} s of re-planning along {name}: time for each second", PLAIN_WAY,
                *per_second, limit=40.0,
                note=f"{1e3 / per_second[1]:.0f} s of motion a second, "
                f"{seconds / busy:.0f} a second of processor time; "
                f"worst plan {max(slow):.1f} ms, median {statistics.median(slow):.1f} ms")
        )
    return rows


def _growth_rows() -> list[Row]:
    """Collision tests and whole motions as forests and paths grow."""
    from lab import courses
    from poise.solvers.path import follow_path
    from poise.solvers.path.obstacles import point_to_segment
    from poise.solvers.path.prepare import prepare

    rows = []
    rng = np.random.default_rng(2)
    base = 0.0
    for trees in (10, 100, 1000, 10_000):
        scene, settings = courses.forest(trees)
        field = prepare(scene, settings).field
        places = np.array([tree.centre for tree in scene.obstacles])
        radii = np.array([tree.radius for tree in scene.obstacles])
        low, high = places.min(axis=0) - 2.0, places.max(axis=0) + 2.0
        p = rng.uniform(low, high, (2000, 2))
        angle = rng.uniform(0.0, 2.0 * math.pi, 2000)
        q = p + 0.8 * np.stack((np.cos(angle), np.sin(angle)), axis=1)
        reach = np.full(2000, settings.clearance)
        found: dict[str, np.ndarray] = {}

        def everything(p=p, q=q, places=places, radii=radii, reach=reach, found=found):
            hit = np.zeros(len(p), dtype=bool)
            for centre, radius in zip(places, radii, strict=True):
                d = point_to_segment(centre[0], centre[1], *p.T, *q.T)
                hit |= d < (radius + reach) ** 2
            found["plain"] = hit

        def indexed(p=p, q=q, field=field, reach=reach, found=found):
            found["ours"] = field.hits(p[:, 0], p[:, 1], q[:, 0], q[:, 1], reach) >= 0

        times = side_by_side(everything, indexed, 7, 2)
        if not np.array_equal(found["plain"], found["ours"]):
            raise AssertionError(f"collisions among {trees} trees differ")
        base = base or times[1]
        rows.append(
            Row(f"2000 collision tests among {trees} trees", "look at every tree", *times,
                limit=2.0 * base * math.log10(trees),
                note="no more than logarithmic" if trees > 10 else "")
        )
    runs, metres = [], []
    for length in (120.0, 960.0):
        scene, settings = courses.forest(0, length)
        metres.append(follow_path(scene, settings, advice=False).length)
        runs.append(partial(follow_path, scene, settings, advice=False))
    # The short one takes a tenth of a second, in which much else can happen: many times.
    whole = side_by_side(lambda: [runs[0]() for _ in range(8)], runs[1], 3)
    short, long = whole[0] / (8.0 * metres[0]), whole[1] / metres[1]
    rows.append(
        Row("a metre of path, 960 m of it against 120 m", "120 m", short, long, goal=0.67,
            note="linear in the length is 1x")
    )
    return rows


def rows() -> list[Row]:
    """Measure path following."""
    return [*_plan_rows(), *_motion_rows(), *_growth_rows()]
