# SPDX-License-Identifier: GPL-3.0-or-later
"""What went wrong in following a path, where, and what would help.

What would help is found by trying: the path is followed again with one thing
changed, from a few plans' length before the place where there was no way on to
past it. A static formula would not do: gates 10 m apart and 2 m to each side
need no more than 37 degrees of lean at 8 m/s, where the lean of a circle
through them would be 52.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..motion import Problem, told_apart
from .follow import Failure, PathMotion, Run, reaches, upright
from .nodes import ALONG, CURVATURE, OMEGA, SPEED
from .obstacles import Disc, MovingDisc
from .prepare import SECOND_THOUGHTS, Prepared
from .settings import PathScene, PathSettings
from .terrain import HEADROOM, room_over

MOST_LEAN = math.radians(60.0)
TELLING_SPEED = 0.25  # m/s above the most speed that is worth a line
TELLING_DISTANCE = 2.0  # m from the path that are worth a line
TELLING_OFFSET = 2.0  # m; a gate further from the path may be meant elsewhere
LEADS = (1.5, 2.5)  # plans' lengths before a failure between which tries begin
MOST_NODES = 4000  # of each plan of a try
BESIDE = 30.0  # m beside the path; what stands further off is not met in a try
GETTING_ON = 0.7  # m along the path for each metre gone, of who does not go round in circles

Tick = Callable[[], None]


def find_problems(
    ready: Prepared, result: PathMotion, run: Run, tick: Tick | None
) -> tuple[Problem, ...]:
    """List the problems of a motion along a path, in order of time.

    Args:
        ready: scene and settings.
        result: the motion, its own problems still empty.
        run: what it was made of.
        tick: called during the search for what would help, may raise; None
            to make no such search.

    Returns:
        The problems.
    """
    problems = _about_gates(ready) + _beside_the_path(ready, result)
    if result.failure is not None:
        problems.append(_failed(ready, result, run, result.failure, tick))
    if ready.ground is not None:
        problems += _about_terrain(ready, result)
    if result.cut_short:
        problems.append(
            Problem(
                "SEARCH_CUT_SHORT",
                f"{result.cut_short} of {result.plans} plans are not proved the best: the search "
                f"was cut short at {ready.settings.most_nodes:,} nodes",
                "INFO",
                amount=float(result.cut_short),
                remedy="Fewer stages or values make a smaller search",
            )
        )
    return tuple(sorted(problems, key=lambda problem: problem.time or 0.0))


def _about_gates(ready: Prepared) -> list[Problem]:
    """Gates that the path does not come to in their order."""
    problems = []
    for number, (gate, line) in enumerate(zip(ready.scene.gates, ready.gates, strict=True)):
        name = ready.field.names[ready.field.n_obstacles + number]
        middle = 0.5 * (np.asarray(gate.left)[:2] + np.asarray(gate.right)[:2])
        nearest, _, along = ready.course.nearest(float(middle[0]), float(middle[1]))
        if (
            number
            and along < ready.gates[number - 1].along - 1e-6
            and (line.distance > nearest + 0.5 * line.width + 1e-6)
        ):
            before = ready.field.names[ready.field.n_obstacles + number - 1]
            problems.append(
                Problem(
                    "GATE_ORDER",
                    f"{_capital(name)} comes before {before} along the path",
                    "WARNING",
                    amount=ready.gates[number - 1].along - along,
                    remedy="Change the order of the gates, or the direction of the path",
                )
            )
        elif line.distance > 0.5 * line.width + TELLING_OFFSET + ready.course.window:
            problems.append(
                Problem(
                    "GATE_FAR",
                    f"{_capital(name)} stands {line.distance:.1f} m from the path",
                    "WARNING",
                    amount=line.distance,
                    remedy="Lead the path through it",
                )
            )
    return problems


def _beside_the_path(ready: Prepared, result: PathMotion) -> list[Problem]:
    """Where the path is too tight to be followed: not about what stands between and gates that
    the path does not go through, nor on the way to the path, nor where there is no way on."""
    settings, motion = ready.settings, result.motion
    plan = settings.stages * settings.stage
    beside = result.distance > TELLING_DISTANCE
    told = beside & np.logical_or.accumulate(~beside)
    if result.failure is not None:
        told &= motion.time < result.failure.time - plan
    aside = [passed for line, passed in zip(ready.gates, result.gate_times, strict=True)
             if line.distance > 0.5 * line.width]
    between = motion.time[beside & (result.clearance <= result.distance)]
    reasons = np.sort(np.append(between, aside))
    first, last = (np.searchsorted(reasons, motion.time + side * plan) for side in (-1.0, 1.0))
    told &= first == last
    spans = _spans(told, motion.time)
    if not spans:
        return []
    rows = max(spans, key=lambda rows: float(np.max(result.distance[rows])))
    worst = rows[int(np.argmax(result.distance[rows]))]
    others = len(spans) - 1
    more = f", and by more than {TELLING_DISTANCE:g} m in {_places(others)}" if others else ""
    return [
        Problem(
            "BESIDE_PATH",
            f"Is {result.distance[worst]:.1f} m beside the path at {motion.time[worst]:.2f} s, "
            f"{_place(motion.position[worst])}{more}: it bends more than can be steered at "
            f"{motion.speed[worst]:.1f} m/s with {_degrees(settings.max_lean)} of lean",
            "INFO",
            time=float(motion.time[rows[0]]),
            end_time=float(motion.time[rows[-1]]),
            amount=float(result.distance[worst]),
            remedy="Less speed, a wider bend, or more lean, curvature or curvature rate",
        )
    ]


def _places(count: int) -> str:
    return f"{count} other places" if count > 1 else "another place"


def _about_terrain(ready: Prepared, result: PathMotion) -> list[Problem]:
    """Where the figure would lift off, and where its brakes do not hold."""
    settings, motion = ready.settings, result.motion
    assert ready.surface is not None and ready.ground is not None
    problems = []
    if ready.ground.coarse:
        length = math.sqrt(12.0) * ready.ground.spacing
        evened, asked = told_apart(length, settings.smoothing, 1, " m")
        problems.append(
            Problem(
                "TERRAIN_COARSE",
                f"{ready.surface.name} is evened out over {evened} instead of "
                f"{asked}: the path goes through too large an area",
                "WARNING",
                amount=length - settings.smoothing,
                remedy="Split the path into motions that follow each other, or draw it along "
                "the X or Y axis",
            )
        )
    for rows in _spans(result.load < 0.0, motion.time):
        worst = rows[int(np.argmin(result.load[rows]))]
        where = _place(motion.position[worst])
        problems.append(
            Problem(
                "LIFTS_OFF",
                f"Would lift off {ready.surface.name} at {motion.speed[worst]:.1f} m/s, {where}: "
                "it is kept on the ground",
                "WARNING",
                time=float(motion.time[rows[0]]),
                end_time=float(motion.time[rows[-1]]),
                amount=float(-result.load[worst]),
                remedy="Less speed, a rounder crest, or more Terrain Smoothing",
            )
        )
    if math.isfinite(settings.most_speed):
        over = motion.speed > settings.most_speed + TELLING_SPEED
        for rows in _spans(over, motion.time):
            worst = rows[int(np.argmax(motion.speed[rows]))]
            gets, most = told_apart(float(motion.speed[worst]), settings.most_speed, 1, " m/s")
            problems.append(
                Problem(
                    "BRAKES_TOO_WEAK",
                    f"Gets {gets} fast instead of {most}: braking by "
                    f"{settings.braking:.1f} m/s\u00b2 does not hold it",
                    "WARNING",
                    time=float(motion.time[rows[0]]),
                    end_time=float(motion.time[rows[-1]]),
                    amount=float(motion.speed[worst] - settings.most_speed),
                    remedy="More Braking, a slower start or a less steep way",
                )
            )
    return problems


def _spans(where: np.ndarray, time: np.ndarray) -> list[np.ndarray]:
    """Rows of each stretch; stretches less than half a second apart are one."""
    rows = np.flatnonzero(where)
    if not len(rows):
        return []
    return np.split(rows, np.flatnonzero(np.diff(time[rows]) > 0.5) + 1)


def _place(position: np.ndarray) -> str:
    return f"({', '.join(f'{value:.1f}' for value in position)}) m"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _degrees(angle: float) -> str:
    return f"{math.degrees(angle):.0f}\u00b0"


def _failed(
    ready: Prepared, result: PathMotion, run: Run, failure: Failure, tick: Tick | None
) -> Problem:
    """The one sentence of a motion that does not get to the end."""
    settings = ready.settings
    amount = None
    where = f"({failure.position[0]:.1f}, {failure.position[1]:.1f}) m"
    how = f"at {failure.speed:.1f} m/s with {_degrees(settings.max_lean)} of lean"
    if failure.reason == "BLOCKED":
        clear = float(result.clearance[0])
        amount = settings.clearance - clear
        text = (
            f"Starts inside {failure.name}"
            if clear <= 0.0
            else f"Starts {clear:.2f} m from {failure.name}, nearer than the clearance of "
            f"{settings.clearance:g} m"
        )
        return Problem(
            "START_BLOCKED",
            text,
            "ERROR",
            time=0.0,
            amount=amount,
            remedy="Move the start or the obstacle, or make the clearance smaller",
            fix=(("clearance", 0.9 * clear),) if clear > 0.0 else (),
        )
    if failure.reason in ("OFF", "STOOD"):
        return _left(ready, result, failure)
    if failure.reason == "HIT":
        text = f"No way past {failure.name} {how}: stops at {failure.time:.2f} s, {where}"
    elif failure.reason == "MISSED":
        text = (
            f"No way through {failure.name} {how}: too sharp; "
            f"stops at {failure.time:.2f} s, {where}"
        )
    elif failure.reason == "FALL":
        text = f"Cannot keep its balance {how}: stops at {failure.time:.2f} s, {where}"
    else:
        text = (
            f"Does not get to the end of the path in {failure.time:.1f} s: comes "
            f"{float(np.max(result.along)):.1f} of {result.length:.1f} m far"
        )
    fixes: list[tuple[str, float]] = []
    words: list[str] = []
    if failure.reason == "TIME":
        gone = max(float(result.motion.distance[-1]), 1e-9)
        remedy = (
            "More speed, a shorter path or fewer laps"
            if float(result.along[-1] - result.along[0]) > GETTING_ON * gone
            else "It goes round in circles: less speed, or a path with wider bends"
        )
    else:
        if tick is not None:
            fixes, words = _try(ready, result, run, failure, tick)
        remedy = "Found by trying: " + "; ".join(words) if words else ""
        if not words:
            remedy = (
                "Move what is in the way, or draw the path around it in a wider turn"
                if failure.name
                else "A higher curvature limit or curvature rate limit gives it more to steer with"
            )
    return Problem(
        "NO_WAY",
        text,
        "ERROR",
        time=failure.time,
        end_time=failure.time,
        amount=amount,
        remedy=remedy,
        fix=tuple(fixes),
    )


def _left(ready: Prepared, result: PathMotion, failure: Failure) -> Problem:
    """The terrain ends, or does not carry the figure any further."""
    assert ready.surface is not None
    name, where = ready.surface.name, _place(result.motion.position[-1])
    if failure.reason == "STOOD":
        return Problem(
            "STOOD_STILL",
            f"Comes to a stop on {name} at {failure.time:.2f} s, {where}",
            "ERROR",
            time=failure.time,
            end_time=failure.time,
            remedy="More speed at the start, less friction, or a way that goes down",
        )
    room = _low(ready, result)
    if room is not None:
        return Problem(
            "OFF_TERRAIN",
            f"Too low under {name}, {room:.2f} m for {ready.settings.headroom:.2f} m: stops at "
            f"{failure.time:.2f} s, {where}",
            "ERROR",
            time=failure.time,
            end_time=failure.time,
            amount=ready.settings.headroom - room,
            remedy="Lead the path around what is overhead, or lift it",
        )
    if failure.time > 0.0:
        return Problem(
            "OFF_TERRAIN",
            f"{name} ends, has a hole or is too steep: stops at {failure.time:.2f} s, {where}",
            "ERROR",
            time=failure.time,
            end_time=failure.time,
            remedy="Lead the path where there is terrain, or mend the mesh",
        )
    x, y = failure.position
    return Problem(
        "OFF_TERRAIN",
        f"{name} is not under or over the start of the path at ({x:.1f}, {y:.1f}) m",
        "ERROR",
        time=0.0,
        end_time=0.0,
        remedy="Draw the path over the terrain, or choose another one",
    )


def _low(ready: Prepared, result: PathMotion) -> float | None:
    """The room under the terrain ahead on the path, m, where it is less than the figure is high."""
    assert ready.surface is not None
    settings = ready.settings
    ahead = result.along[-1] + np.arange(0.0, settings.stages * settings.stage, 0.1) * (
        result.motion.speed[-1]
    )
    line, z = ready.surface.crossings(*ready.course.locate(ahead)[0].T)
    order = np.lexsort((-z, line))
    line, z = line[order], z[order]
    room = room_over(line, z)
    level = result.motion.position[-1, 2]
    there = (room > HEADROOM) & (room <= settings.headroom) & (np.abs(z - level) < room)
    return float(room[there].min()) if there.any() else None


@dataclass(frozen=True)
class _Stretch:
    """The part of a path about a failure, from a knot of the motion on.

    Attributes:
        scene: that part of the path, and what stands about it.
        settings: as asked for, but for what belongs to the whole path.
        state: (8,) of the knot; its place is the start of the part.
        stage: number of the stage that begins there.
        gate: number, on the whole path, of the first of its gates.
        begin: where on the whole path it begins, m.
        goal: how far a try has to get along it, m.
        whole: all of the path, prepared.
        tick: called during tries, may raise.
    """

    scene: PathScene
    settings: PathSettings
    state: np.ndarray
    stage: int
    gate: int
    begin: float
    goal: float
    whole: Prepared
    tick: Tick

    def works(self, scene: PathScene | None = None, **changed: Any) -> bool:
        """Whether a figure gets past the failure.

        Args:
            scene: a scene with something moved, or None.
            changed: settings.
        """
        settings, state = replace(self.settings, **changed), self.state
        if "speed" in changed:  # what is in balance at one speed falls at another
            state = upright(self.whole, state, self.begin)
        return reaches(
            scene or self.scene, settings, self.goal, self.tick, self.whole, state, self.stage,
            self.begin,
        )


def _stretch(ready: Prepared, run: Run, failure: Failure, tick: Tick) -> _Stretch:
    """Cut out what is worth a look, once for all tries.

    They begin at the calmest of the knots between one and a half and two and
    a half plans' lengths before the failure, from which another speed or more
    lean is soon found. Where obstacles move, and on short paths, they begin at
    the start.
    """
    settings, course = ready.settings, ready.course
    n, m = settings.stages, settings.substeps
    ahead = ready.speed.most * settings.stage * n
    goal = float(run.state[-1][ALONG]) + 0.5 * ahead  # where there still is a whole plan
    if failure.gate is not None:
        goal = max(goal, ready.gates[failure.gate].along + course.window)
    goal = min(goal, course.length, ready.edge)
    last = (len(run.state) - 1) // m
    near, far = (max(0, last - math.ceil(plans * n)) for plans in LEADS)
    if ready.field.moving:
        near = far = 0
    stages = np.arange(far, near + 1) if far else np.zeros(1, dtype=int)
    knots = np.array([run.state[stage * m] for stage in stages])
    unrest = (knots[:, CURVATURE] / settings.max_curvature) ** 2 + knots[:, OMEGA] ** 2
    best = int(np.argmin(unrest))
    stage, state = int(stages[best]), knots[best].copy()
    start = float(state[ALONG])
    state[ALONG] = 0.0
    # As far on as a plan from the goal can look.
    end = goal + 1.5 * ready.speed.most * settings.stage * (n + SECOND_THOUGHTS[-1] + 2)
    rows = (course.along > start + 1e-6) & (course.along < end + course.window)
    line = np.concatenate((course.locate(np.array([start]))[0], course.points[rows]))
    low, high = line.min(axis=0) - BESIDE, line.max(axis=0) + BESIDE

    def is_near(item: Any) -> bool:
        if isinstance(item, MovingDisc):
            return True
        radius = item.radius if isinstance(item, Disc) else 0.0
        points = item.centre if isinstance(item, Disc) else item.points
        points = np.atleast_2d(np.asarray(points, dtype=float))[:, :2]
        return bool(
            (points.max(axis=0) + radius >= low).all()
            and (points.min(axis=0) - radius <= high).all()
        )

    gate = run.gate[stage]
    gates = [g for g, at in zip(ready.scene.gates[gate:], ready.gates[gate:], strict=True)
             if at.along < end]
    changed: dict[str, Any] = {
        "start_state": None,
        "most_seconds": None,
        "most_nodes": min(settings.most_nodes, MOST_NODES),
    }
    if settings.speed_mode == "TERRAIN":
        changed["speed"] = float(state[SPEED])
    return _Stretch(
        scene=replace(
            ready.scene, polylines=(line,), cyclic=False, laps=1, gates=tuple(gates),
            obstacles=tuple(item for item in ready.scene.obstacles if is_near(item)),
        ),
        settings=replace(settings, **changed),
        state=state,
        stage=stage,
        gate=gate,
        begin=start + ready.offset,
        goal=goal - start,
        whole=ready,
        tick=tick,
    )


def _try(
    ready: Prepared, result: PathMotion, run: Run, failure: Failure, tick: Tick
) -> tuple[list[tuple[str, float]], list[str]]:
    """Changes of one thing each with which the figure gets on."""
    settings = ready.settings
    stretch = _stretch(ready, run, failure, tick)
    works = stretch.works
    fixes: list[tuple[str, float]] = []
    words: list[str] = []
    if settings.speed_mode == "TERRAIN":
        most = min(settings.most_speed, float(np.max(result.motion.speed)))
        found = _first([f * most for f in (0.9, 0.75, 0.6, 0.45)], lambda v: works(most_speed=v))
        if found is not None:
            found = math.floor(found * 100.0) / 100.0
            fixes.append(("most_speed", found))
            words.append(f"a most speed of {found:.2f} m/s")
    elif np.ndim(settings.speed) == 0 and settings.start_state is None:
        speed = float(settings.speed)
        found = _first([f * speed for f in (0.9, 0.75, 0.6, 0.45)], lambda v: works(speed=v))
        if found is not None:
            found = _refine(found, found + 0.15 * speed, lambda v: works(speed=v))
            found = math.floor(found * 100.0) / 100.0
            fixes.append(("speed", found))
            words.append(f"a speed of {found:.2f} m/s")
    leans = [settings.max_lean + math.radians(d) for d in (5.0, 10.0, 20.0)]
    leans = [lean for lean in leans if lean <= MOST_LEAN]
    found = _first(leans, lambda lean: works(max_lean=lean))
    if found is not None:
        less = settings.max_lean + 0.4 * (found - settings.max_lean)
        found = _refine(found, less, lambda lean: works(max_lean=lean))
        fixes.append(("max_lean", found))
        words.append(f"a lean limit of {math.degrees(found):.1f}\u00b0")
    if failure.gate is not None:
        move = _move_gate(stretch, failure.gate)
        if move is not None:
            fixes.append((f"gates[{failure.gate}].offset", move))
            side = "left" if move > 0.0 else "right"
            words.append(f"{failure.name} {abs(move):.2f} m further to the {side}")
    elif settings.clearance > 0.0 and failure.obstacle is not None:
        found = _first(
            [0.75 * settings.clearance, 0.5 * settings.clearance, 0.25 * settings.clearance],
            lambda c: works(clearance=c),
        )
        if found is not None:
            fixes.append(("clearance", found))
            words.append(f"a clearance of {found:.2f} m")
    if not words:
        stages = [n for n in (settings.stages + 2, settings.stages + 4) if n <= 20]
        more = _first([float(n) for n in stages], lambda n: works(stages=int(n)))
        if more is not None:
            fixes.append(("stages", more))
            words.append(f"{int(more)} stages, to see it earlier")
    return fixes, words


def _move_gate(stretch: _Stretch, number: int) -> float | None:
    """How far a gate has to move across the path, m, to the left; None if up to 4 m do not do."""
    ready, scene = stretch.whole, stretch.scene
    line, row = ready.gates[number], number - stretch.gate
    left = np.array([-line.ahead[1], line.ahead[0]])

    def works(move: float) -> bool:
        gate = scene.gates[row]
        gates = list(scene.gates)
        gates[row] = replace(
            gate,
            left=np.asarray(gate.left, dtype=float)[:2] + move * left,
            right=np.asarray(gate.right, dtype=float)[:2] + move * left,
        )
        return stretch.works(replace(scene, gates=tuple(gates)))

    # Towards the gates before and after, first.
    middle = line.pole + 0.5 * line.width * line.across
    others = [
        ready.gates[i].pole + 0.5 * ready.gates[i].width * ready.gates[i].across
        for i in (number - 1, number + 1)
        if 0 <= i < len(ready.gates)
    ]
    aim = np.mean(others, axis=0) if others else ready.course.locate(np.array([line.along]))[0][0]
    side = 1.0 if float((aim - middle) @ left) >= 0.0 else -1.0
    size = 0.0
    for size in (0.25, 0.5, 1.0, 2.0, 4.0):
        for sign in (side, -side):
            if works(sign * size):
                found = _refine(sign * size, 0.5 * sign * size, works)
                return math.copysign(math.ceil(abs(found) * 100.0 - 1e-9) / 100.0, found)
    return None


def _first(values: list[float], works: Callable[[float], bool]) -> float | None:
    return next((value for value in values if works(value)), None)


def _refine(good: float, bad: float, works: Callable[[float], bool]) -> float:
    """Come nearer from a value that works to one that does not, in two halvings."""
    for _ in range(2):
        middle = 0.5 * (good + bad)
        good, bad = (middle, bad) if works(middle) else (good, middle)
    return good
