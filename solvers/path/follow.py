# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow a path to its end: plan, take the first stage, plan again.

"In this way each control decision is based upon a plan looking N stages into
the future" (van de Panne, Fiume and Vranesic 1993, section 6.1). The motion
is of the same kind as that of the turning solver, its phase estimated as in
section 6.2, so that everything which can be mapped onto turns can be mapped
onto it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..errors import SettingError
from ..motion import BodyState, Event, HalfTurn, TurningMotion
from ..turning.pendulum import effective_length, leg_forces
from ..turning.settings import steps_per_frame
from .descent import dynamics, stand_on
from .levels import Sheets
from .nodes import ALONG, CURVATURE, GATE, MOVING, OMEGA, PSI, SEGMENT, SPEED, THETA, Tree, X, Y
from .obstacles import Disc, MovingDisc
from .phase import estimate_turns
from .prepare import SECOND_THOUGHTS, Prepared, prepare
from .search import FELL, HIT, LATE, MISSED, OFF, STOOD, USEFUL, Plan, Planner
from .settings import CALM, PathScene, PathSettings
from .stages import lean_acceleration

Progress = Callable[[float], None]
Node = tuple[np.ndarray, np.ndarray]  # its row of `Plan.floats` and of `Plan.ints`

WHY = {HIT: "HIT", MISSED: "MISSED", OFF: "OFF"}  # of candidates
OUT_OF_REACH = 2.0  # s that a motion goes on at most towards a gate that it cannot pass
EVENED = 0.2  # s over which a calm body evens out its steering, two thirds of the usual stage


@dataclass(frozen=True)
class Candidate:
    """A piece of track that the search looked at and rejected.

    Attributes:
        time: when the plan was made, s.
        points: (m + 1, 2) the foot's way through the stage, m.
        why: "HIT", "MISSED" (a gate) or "OFF" (the terrain).
    """

    time: float
    points: np.ndarray
    why: str


@dataclass(frozen=True)
class Failure:
    """Where and why there is no way on.

    Attributes:
        time: when the motion ends, s.
        position: (2,) where the figure is then, m.
        reason: "HIT", "MISSED" (a gate), "FALL", "BLOCKED" (at the start),
            "OFF" (the terrain ends), "STOOD" (it comes to a stop), "LOST"
            (no plan gets on) or "TIME" (it does not get to the end in time).
        obstacle: number of the obstacle, or None.
        gate: number of the gate, or None.
        name: what stands in the way, for the animator.
        place: (2,) of the obstacle or gate, m, or None.
        speed: m/s, there.
        lean: rad, there.
    """

    time: float
    position: np.ndarray
    reason: str
    obstacle: int | None
    gate: int | None
    name: str
    place: np.ndarray | None
    speed: float
    lean: float


@dataclass(frozen=True)
class PathMotion:
    """A motion along a path, and how well it follows it.

    Attributes:
        motion: the motion, n samples.
        distance: (n,) of the foot from the path, m.
        along: (n,) arc length of the nearest point of the path, m.
        clearance: (n,) of the foot from the nearest obstacle, m; infinite
            without any.
        nearest: (n,) number of that obstacle, -1 without; poles of gates come
            after the obstacles.
        mean_distance: mean distance from the path, m.
        max_distance: largest distance from the path, m.
        min_clearance: smallest clearance, m.
        max_lean: largest lean from the vertical, rad.
        peak_force: largest leg force, N.
        gate_times: when each gate was passed, s; nan for those that were not.
        length: arc length of the path, m.
        finished: True if the end of the path was reached.
        failure: where and why not, or None.
        candidates: rejected pieces of track.
        plans: how many plans were made.
        expanded: nodes expanded in all of them.
        cut_short: plans whose search was cut short.
        second_thoughts: how often a few stages were taken back, because they
            led to where there was no way on and a longer plan found one.
        load: (n,) force of the ground along its normal as a multiple of the
            body's weight; negative where the figure would lift off. Of level
            ground, too.
        brake: (n,) deceleration by braking, m/s^2; 0 where the speed is given.
    """

    motion: TurningMotion
    distance: np.ndarray
    along: np.ndarray
    clearance: np.ndarray
    nearest: np.ndarray
    mean_distance: float
    max_distance: float
    min_clearance: float
    max_lean: float
    peak_force: float
    gate_times: tuple[float, ...]
    length: float
    finished: bool
    failure: Failure | None
    candidates: tuple[Candidate, ...]
    plans: int
    expanded: int
    cut_short: int
    second_thoughts: int
    load: np.ndarray
    brake: np.ndarray


@dataclass
class Run:
    """What following leaves behind, knot by knot.

    Attributes:
        time: of the knots, s.
        state: (8,) of each knot, columns X to SPEED.
        segment: of the path, on which each knot's nearest point lies.
        gate: the next one, at the start of each stage.
        rate: of curvature, from each knot to the next, 1/(m s).
        gate_times: when each gate was passed, s; nan for those that were not.
        plans: how many plans were made.
        expanded: nodes expanded in all of them.
        cut_short: plans whose search was cut short.
        second_thoughts: how often stages were taken back.
        failure: where and why there is no way on, or None.
    """

    time: list[float]
    state: list[np.ndarray]
    segment: list[int]
    gate: list[int]
    rate: list[float]
    gate_times: list[float]
    plans: int = 0
    expanded: int = 0
    cut_short: int = 0
    second_thoughts: int = 0
    failure: Failure | None = None

    def cut(self, stage: int, steps: int, length: float) -> None:
        """Go back to the start of a stage.

        Args:
            stage: number of the stage.
            steps: in a stage.
            length: of a stage, s.
        """
        rows = stage * steps
        del self.time[rows + 1 :], self.state[rows + 1 :], self.segment[rows + 1 :]
        del self.rate[rows:], self.gate[stage + 1 :]
        self.gate_times = [t if t < stage * length else math.nan for t in self.gate_times]


def reaches(
    scene: PathScene,
    settings: PathSettings,
    along: float,
    tick: Callable[[], None],
    known: Prepared,
    state: np.ndarray,
    stage: int = 0,
    offset: float = 0.0,
) -> bool:
    """Try whether a figure gets to a place on the path.

    Args:
        scene: path, obstacles and gates.
        settings: what is asked for.
        along: arc length of the place, m.
        tick: called now and then; may raise.
        known: as for `prepare`.
        state: (8,) columns X to SPEED at the start of the path.
        stage: number of the stage that begins there; time counts from the
            start of stage 0.
        offset: as for `prepare`.

    Returns:
        True if it does. Settings that are not allowed do not.
    """
    try:
        ready = prepare(scene, replace(settings, candidates=0), known, offset)
    except SettingError:
        return False
    run, _ = follow(ready, lambda _: tick(), along, (state, stage))
    return run.failure is None


def upright(ready: Prepared, state: np.ndarray, offset: float = 0.0) -> np.ndarray:
    """The state of who stands plumb and goes straight on, on whatever slope.

    Args:
        ready: scene and settings.
        state: (8,) columns X to SPEED.
        offset: arc length, m, at which the path begins that it is on.

    Returns:
        (8,) the same place, direction and speed.
    """
    state = state.copy()
    state[THETA] = state[OMEGA] = state[CURVATURE] = 0.0
    if ready.ground is not None:
        sheet = ready.ground.sheet_at(state[ALONG, None] + offset)
        x, y, psi = (state[column, None] for column in (X, Y, PSI))
        under = stand_on(ready.ground, x, y, psi, sheet)
        state[THETA] = float(under.plumb()[0])
    return state


def _start(ready: Prepared) -> tuple[np.ndarray, int, int]:
    """State, segment and next gate at the start."""
    course, state = ready.course, ready.settings.start_state
    speed = ready.speed.first
    if state is None:
        heading = course.direction[0]
        psi = math.atan2(heading[0], -heading[1])
        facing = ready.settings.placement.yaw
        psi = facing + math.remainder(psi - facing, 2.0 * math.pi)
        place = np.array([*course.points[0], psi, 0.0, 0.0, 0.0, 0.0, speed])
        return upright(ready, place, ready.offset), 0, 0
    x, y = (float(v) for v in state.position[:2])
    here = None
    if isinstance(ready.ground, Sheets):
        here = ready.ground.is_level(np.asarray(state.position), course.along + ready.offset)
    _, segment, along = course.nearest(x, y, here)
    gate = sum(1 for line in ready.gates if line.along < along)
    values = (x, y, state.yaw, state.lean, state.lean_rate, state.curvature, along, speed)
    return np.array(values), segment, gate


def follow(
    ready: Prepared,
    progress: Progress,
    until: float | None = None,
    start: tuple[np.ndarray, int] | None = None,
) -> tuple[Run, list[Candidate]]:
    """Plan and go, stage by stage.

    Args:
        ready: scene and settings.
        progress: called with the fraction done; may raise.
        until: an arc length, m, of what is only a try; None for all of the way.
        start: where a try starts, which may be anywhen: a state (8,) at the start
            of the path, and the number of the stage that begins there.

    Returns:
        What it leaves behind, and the candidates of the plans.
    """
    settings, course, planner = ready.settings, ready.course, ready.planner
    m = settings.substeps
    (state, segment, gate), stage = _start(ready), 0
    if start is not None:
        (state, stage), segment, gate = start, 0, 0
    begin = stage * settings.stage
    run = Run([begin], [state], [segment], [gate], [], [math.nan] * len(ready.gates))
    candidates: list[Candidate] = []
    goal = course.length + ready.speed.most / settings.fps if until is None else until
    ends = ready.edge < course.length
    goal = min(goal, ready.edge) if ends else goal
    limit = begin + ready.longest
    sheet = planner.sheet_of(np.array([segment]))
    if ready.ground is not None and not ready.ground.supports(state[:1], state[1:2], sheet)[0]:
        run.failure = _failure(ready, run, "OFF", None, None)
        return run, candidates
    if len(ready.field.names):
        clear, what = ready.field.clearance(state[:1], state[1:2], np.array([begin]), sheet)
        if clear[0] < settings.clearance:
            run.failure = _failure(ready, run, "BLOCKED", int(what[0]), None)
            return run, candidates
    first_along = float(state[ALONG])
    furthest = first_along

    def tick() -> None:
        nonlocal furthest
        furthest = max(furthest, run.state[-1][ALONG])
        progress(min((furthest - first_along) / max(goal - first_along, 1e-9), 1.0))

    def note(time: float) -> None:
        candidates.extend(Candidate(time, p, WHY[why]) for p, why in planner.recorded)

    planner.tick = tick
    tree = planner.tree(*planner.root(state, segment, gate))
    since, tried = stage, -1
    trouble: tuple[str, int | None, int | None] | None = None
    held: list[Node] = []  # what is left of a plan that has been thought of again
    while run.state[-1][ALONG] < goal:
        time = stage * settings.stage
        if time >= limit - 1e-9:
            run.failure = _failure(ready, run, "TIME", None, None)
            break
        planner.recorded, planner.record_left = [], settings.candidates
        plan = planner.plan(tree, time)
        run.plans += 1
        run.expanded += plan.expanded
        run.cut_short += not plan.optimal
        note(time)
        if plan.complete:
            trouble, since, held = None, stage, []
        elif until is not None:  # it was only to be tried
            run.failure = _failure(ready, run, "LOST", None, None)
            break
        elif len(held) > settings.stages:  # a whole plan of as many stages as any
            since = stage
        elif trouble is None:
            again = _think_again(ready, run, since) if since > tried else None
            tried = since
            if again is not None:
                stage, better = again
                held = list(zip(better.floats, better.ints, strict=True))
                run.cut(stage, m, settings.stage)
                run.second_thoughts += 1
                while stage <= since:
                    _take(ready, run, held[0], held[1], stage)
                    held, stage = held[1:], stage + 1
                tree = planner.tree(*_last(ready, run))
                continue
            trouble = _trouble(tree, ready, run, time)
        # What blocks every plan is met within a plan's length, or never left behind.
        patience = settings.stages + 1
        if trouble is not None and trouble[2] == run.gate[-1]:  # those before it are passed
            left = math.floor((OUT_OF_REACH - LATE) / settings.stage + 1e-6)
            patience = min(patience, max(1, left))
        if len(held) < 2 and not plan.choices or stage - since >= patience:
            run.failure = _failure(ready, run, *(trouble or ("LOST", None, None)))
            break
        if len(held) > 1:
            _take(ready, run, held[0], held[1], stage)
            held, tree = held[1:], planner.tree(*_last(ready, run))
        else:
            before, after = ((plan.floats[i], plan.ints[i]) for i in range(2))
            _take(ready, run, before, after, stage)
            tree.move_on(plan.choices[0])
        stage += 1
    if ends and until is None and run.failure is None:
        while len(run.state) > 1 and run.state[-1][ALONG] > ready.edge:
            for knots in (run.state, run.time, run.segment, run.rate):
                knots.pop()
        run.failure = _failure(ready, run, "OFF", None, None)
    return run, candidates


def _think_again(ready: Prepared, run: Run, since: int) -> tuple[int, Plan] | None:
    """A plan that would have seen further, from where there still was a whole one or before.

    Van de Panne et al. 1993 find with Fig. 16 that two stages more can lead
    another way through the trees. Where the usual number leads to where there
    is no way on, more are tried, with rates half as far apart that reach twice
    as far: the stage from which to plan, and the plan.
    """
    usual, m = ready.settings, ready.settings.substeps
    for back in SECOND_THOUGHTS:
        stage = since - back
        if stage < 0:
            break
        row = stage * m
        rate = run.rate[row - 1] if row else 0.0
        planner = _bold(ready.planner, usual.stages + back + 2)
        root = planner.root(run.state[row], run.segment[row], run.gate[stage], rate)
        plan = planner.plan_broadly(*root, stage * usual.stage)
        run.expanded += plan.expanded
        if plan.complete:
            return stage, plan
    return None


def _bold(planner: Planner, stages: int) -> Planner:
    """A planner that looks so many stages ahead, and tries more and harder steering."""
    values = 4 * planner.settings.values - 3
    settings = replace(planner.settings, stages=stages, values=values)
    return planner.with_settings(settings, 2.0 * USEFUL)


def _last(ready: Prepared, run: Run) -> tuple[np.ndarray, np.ndarray]:
    """A root to plan from where the figure has got to."""
    return ready.planner.root(*_last_knot(run))


def _last_knot(run: Run) -> tuple[np.ndarray, int, int, float]:
    """State, segment, next gate and rate of curvature where the figure has got to."""
    return run.state[-1], run.segment[-1], run.gate[-1], run.rate[-1] if run.rate else 0.0


def _take(ready: Prepared, run: Run, first: Node, last: Node, stage: int) -> None:
    """Go through a stage of a plan, from a node to the next, and note its knots."""
    (state, numbers), (end, end_numbers) = first, last
    settings, planner = ready.settings, ready.planner
    m, time = settings.substeps, stage * settings.stage
    rate = (end[CURVATURE] - state[CURVATURE]) / settings.stage
    speed: float | np.ndarray = ready.speed.most
    if not ready.speed.constant:
        speed = ready.speed(time + 0.5 * planner.step * np.arange(2 * m + 1))[:, None]
    begin = np.array([run.segment[-1]])
    motion = planner.move(
        state[MOVING, None], np.array([rate]), speed, math.inf, planner.step, m,
        planner.sheet_of(begin),
    )
    _, segment, along = ready.course.advance(
        motion.x[1:], motion.y[1:], begin, state[ALONG : ALONG + 1]
    )
    gate = numbers[GATE : GATE + 1]
    for i in range(m):
        row = i + 1
        before = int(gate[0])
        gate, _ = planner.pass_gates(
            motion.x[i], motion.y[i], motion.x[row], motion.y[row], gate, along[i]
        )
        for g in range(before, int(gate[0])):
            line = ready.gates[g]
            d = [
                (x - line.pole[0]) * line.ahead[0] + (y - line.pole[1]) * line.ahead[1]
                for x, y in ((motion.x[j, 0], motion.y[j, 0]) for j in (i, row))
            ]
            run.gate_times[g] = time + planner.step * (i + d[0] / (d[0] - d[1]))
    for i in range(1, m):
        run.state.append(
            np.array(
                [
                    motion.x[i, 0],
                    motion.y[i, 0],
                    motion.psi[i, 0],
                    motion.theta[i, 0],
                    motion.omega[i, 0],
                    motion.curvature[i, 0],
                    along[i - 1, 0],
                    end[SPEED] if motion.speed is None else motion.speed[i, 0],
                ]
            )
        )
        run.segment.append(int(segment[i - 1, 0]))
    run.state.append(end[: SPEED + 1].copy())
    run.segment.append(int(end_numbers[SEGMENT]))
    run.gate.append(int(end_numbers[GATE]))
    run.rate += [rate] * m
    run.time += [time + planner.step * i for i in range(1, m)] + [(stage + 1) * settings.stage]


def _trouble(
    tree: Tree, ready: Prepared, run: Run, time: float
) -> tuple[str, int | None, int | None]:
    """What stops the tracks that come furthest: a gate without which there is a way, or
    the thing that stops most of them."""
    gate = int(tree.ints[: tree.count, GATE].max())
    if gate < len(ready.gates):
        planner = _bold(ready.planner.without_gates(), ready.settings.stages)
        state, segment, _, rate = _last_knot(run)
        if planner.plan_broadly(*planner.root(state, segment, 0, rate), time).complete:
            return "MISSED", None, gate
    children = ready.planner.why(tree)
    most = np.bincount(np.unique(children.blame, return_inverse=True)[1], minlength=1).max()
    for why, reason in ((OFF, "OFF"), (STOOD, "STOOD")):
        if children.dropped[why] and children.dropped[why] >= most:
            return reason, None, None
    if not len(children.blame) and children.dropped[FELL]:
        return "FALL", None, None
    if not len(children.blame):
        return "LOST", None, None
    things, counts = np.unique(children.blame, return_counts=True)
    thing = int(things[int(np.argmax(counts))])
    if thing < 0:
        return "MISSED", None, -1 - thing
    if thing >= ready.field.n_obstacles:
        return "HIT", None, thing - ready.field.n_obstacles
    return "HIT", thing, None


def _failure(
    ready: Prepared, run: Run, reason: str, obstacle: int | None, gate: int | None
) -> Failure:
    """Put down where there is no way on."""
    n = ready.field.n_obstacles
    if obstacle is not None and obstacle >= n:  # a pole of a gate
        gate = obstacle - n
        obstacle = None
    number, place = -1, None
    if gate is not None:
        number = n + gate
        line = ready.gates[gate]
        place = line.pole + 0.5 * line.width * line.across
    elif obstacle is not None:
        number = obstacle
        item = ready.scene.obstacles[obstacle]
        if isinstance(item, MovingDisc):
            row = [i for i, moving in enumerate(ready.field.moving) if moving[3] == obstacle][0]
            place = ready.field.moving_at(np.array(run.time[-1:]))[0, row]
        else:
            points = item.centre if isinstance(item, Disc) else item.points
            place = np.mean(np.atleast_2d(np.asarray(points, dtype=float))[:, :2], axis=0)
    state, time = run.state[-1], run.time[-1]
    return Failure(
        time=time,
        position=state[:2].copy(),
        reason=reason,
        obstacle=obstacle,
        gate=gate,
        name=ready.field.names[number] if number >= 0 else "",
        place=place,
        speed=float(state[SPEED] if ready.ground is not None else ready.speed(np.array(time))),
        lean=float(state[THETA]),
    )


def in_frames(ready: Prepared, run: Run, candidates: list[Candidate]) -> PathMotion:
    """From knots to frames.

    Args:
        ready: scene and settings.
        run: what following left behind.
        candidates: of the plans.

    Returns:
        The motion, its problems still empty.
    """
    settings, course = ready.settings, ready.course
    per_frame = steps_per_frame(settings.fps)
    step = 1.0 / (per_frame * settings.fps)
    knots, states = np.array(run.time), np.array(run.state)
    finished = run.failure is None
    end = float(knots[-1])
    if finished:
        beyond = int(np.argmax(states[:, ALONG] >= course.length))
        if beyond and states[beyond, ALONG] > states[beyond - 1, ALONG]:
            end = float(np.interp(course.length, *_pair(states, knots, beyond)))
        frames = math.ceil(end * settings.fps - 1e-6)
        frames = min(frames, math.floor(knots[-1] * settings.fps + 1e-6))
    else:
        frames = math.floor(end * settings.fps + 1e-6)
    n = frames * per_frame + 1
    times = np.arange(2 * n - 1) * (0.5 * step)  # half steps, too, for the way gone
    row = np.clip(np.searchsorted(knots, times + 1e-9, side="right") - 1, 0, max(len(knots) - 2, 0))
    dt = np.maximum(times - knots[row], 0.0)
    rates = np.array(run.rate) if run.rate else np.zeros(1)
    speed: float | np.ndarray = ready.speed.most
    if not ready.speed.constant:
        speed = ready.speed(knots[row] + dt * np.array([[0.0], [0.5], [1.0]]))
    sheet = ready.planner.sheet_of(np.array(run.segment)[row])
    fine = ready.planner.move(states[row][:, MOVING].T, rates[row], speed, math.inf, dt, 1, sheet)
    foot = fine.foot[1]
    way = np.concatenate(
        ([0.0], np.cumsum(step / 6.0 * (foot[:-2:2] + 4.0 * foot[1::2] + foot[2::2])))
    )
    segment, sheet = np.array(run.segment)[row[::2]], sheet if sheet is None else sheet[::2]
    x, y, psi, theta, omega, curvature, foot = (
        np.ascontiguousarray(value[1][::2])
        for value in (
            fine.x, fine.y, fine.psi, fine.theta, fine.omega, fine.curvature, fine.foot,
        )
    )
    time = times[::2]
    distance, _, along = course.advance(x[None], y[None], segment, states[row[::2], ALONG])
    distance, along = distance[0], along[0]
    v = ready.speed(time)
    turn, sine, cosine, zero = curvature * foot, np.sin(psi), np.cos(psi), np.zeros(n)
    if ready.ground is None:
        forward = np.stack((sine, -cosine, zero), axis=1)
        left = np.stack((cosine, sine, zero), axis=1)
        normal, height = np.stack((zero, zero, zero + 1.0), axis=1), np.full(n, course.height)
        alpha = lean_acceleration(theta, curvature, v, settings)
        g_normal, g_lateral = zero + settings.gravity, zero
        rolling, load, brake = zero, None, zero
        plumb = zero
    else:
        if fine.speed is not None and not ready.planner.given:
            v = np.ascontiguousarray(fine.speed[1][::2])
        under = stand_on(ready.ground, x, y, psi, sheet)
        (forward, left, normal), height = under.frame(), under.height
        there = dynamics(under, theta, omega, curvature, v, settings)
        alpha, g_normal, g_lateral = there.alpha, there.g_normal, there.g_lateral
        rolling, load, brake = under.rolling(foot), there.load / settings.gravity, there.brake
        plumb = under.plumb()
    lateral, upward = leg_forces(
        theta, omega, alpha, turn, v, g_normal, g_lateral, settings.mass, settings.height
    )
    if load is None:
        load = np.asarray(upward) / (settings.mass * settings.gravity)
    lean_rate = omega - rolling  # against the ground's normal
    lean_change = alpha - (np.gradient(rolling, time) if n > 1 and ready.ground else 0.0)
    facing = settings.placement.yaw
    direction = course.locate(along)[1]
    heading = np.unwrap(np.arctan2(direction[:, 0], -direction[:, 1]))
    heading += 2.0 * math.pi * round((psi[0] - heading[0]) / (2.0 * math.pi)) - facing
    natural = math.sqrt(
        settings.gravity / effective_length(settings.mass, settings.height, settings.inertia)
    )
    turns = estimate_turns(time, theta, lean_rate, natural)
    half_turns = _half_turns(turns, time, psi, heading, finished)
    position = np.stack((x, y, height), axis=1)
    events = [
        Event(
            "EDGE_CHANGE",
            float(t),
            "L" if side > 0 else "R",
            np.array([np.interp(t, time, position[:, axis]) for axis in range(3)]),
        )
        for t, side in zip(turns.crossings, turns.sides[1:], strict=True)
    ]
    if not finished:
        events.append(Event("STOP", float(time[-1]), "", position[-1].copy()))
    force = np.hypot(lateral, upward)
    calm = EVENED * min(settings.effort / CALM, 1.0)
    motion = TurningMotion(
        time=time,
        steps_per_frame=per_frame,
        position=position,
        forward=forward,
        left=left,
        normal=normal,
        yaw=psi - facing,
        heading=heading,
        lean=theta,
        lean_rate=lean_rate,
        lean_acceleration=lean_change,
        curvature=curvature,
        speed=v,
        foot_speed=foot,
        distance=way,
        force_lateral=np.asarray(lateral),
        force_normal=np.asarray(upward),
        leg_force=force,
        phase=turns.phase,
        max_lean=turns.max_lean,
        frequency=turns.frequency,
        clipped=np.abs(curvature) >= settings.max_curvature * (1.0 - 1e-9),
        half_turns=half_turns,
        events=tuple(events),
        problems=(),
        success=finished,
        end_state=BodyState(
            position=position[-1].copy(),
            yaw=float(psi[-1]),
            speed=float(v[-1]),
            lean=float(theta[-1]),
            lean_rate=float(omega[-1]),
            curvature=float(curvature[-1]),
            phase=float(turns.phase[-1]),
            contacts=("foot.L", "foot.R"),
        ),
        mass=settings.mass,
        height=settings.height,
        inertia=settings.inertia,
        gravity=settings.gravity,
        max_curvature=settings.max_curvature,
        surfaces=() if ready.surface is None else ((0.0, float(time[-1]), ready.surface),),
        steered=() if not calm else ((0.0, float(time[-1]), calm),),
    )
    clearance, nearest = ready.field.clearance(x, y, time, sheet)
    return PathMotion(
        motion=motion,
        distance=distance,
        along=along,
        clearance=clearance,
        nearest=nearest,
        mean_distance=float(np.mean(distance)),
        max_distance=float(np.max(distance)),
        min_clearance=float(np.min(clearance)),
        max_lean=float(np.max(np.abs(theta - plumb))),
        peak_force=float(np.max(force)),
        gate_times=tuple(run.gate_times),
        length=course.length,
        finished=finished,
        failure=run.failure,
        candidates=tuple(candidates),
        plans=run.plans,
        expanded=run.expanded,
        cut_short=run.cut_short,
        second_thoughts=run.second_thoughts,
        load=load,
        brake=brake,
    )


def _pair(states: np.ndarray, knots: np.ndarray, row: int) -> tuple[np.ndarray, np.ndarray]:
    return states[row - 1 : row + 1, ALONG], knots[row - 1 : row + 1]


def _half_turns(turns, time, psi, heading, finished: bool) -> tuple[HalfTurn, ...]:
    """Half turns as the turning solver hands them on."""
    edges = np.concatenate((time[:1], turns.crossings, time[-1:]))
    yaw, path = np.interp(edges, time, psi), np.interp(edges, time, heading)
    last = len(turns.sides) - 1
    return tuple(
        HalfTurn(
            start=float(edges[i]),
            end=float(edges[i + 1]),
            side=int(side),
            beta=1.0,
            wanted_change=float(path[i + 1] - path[i]),
            change=float(yaw[i + 1] - yaw[i]),
            complete=0 < i < last,
        )
        for i, side in enumerate(turns.sides)
    )
