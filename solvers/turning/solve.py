# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve turning motions: settings in, motion out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..motion import BodyState, Event, TurningMotion
from .assemble import Path, Quantities, ground_frame, integrate_path
from .equations import make_equations
from .pendulum import leg_forces
from .phase import unwrapped_phase
from .problems import find_problems
from .settings import STOP_SPEED, Timeline, TurningSettings, make_timeline
from .simulate import FREE, KNOT, Track, Within, simulate, world_yaw

Progress = Callable[[float], None]

SLIDE_FRICTION = 0.5  # of a fallen figure on the ground


def solve_turning(
    settings: TurningSettings, progress: Progress | None = None, advice: bool = True
) -> TurningMotion:
    """Solve one turning motion.

    The body is the inverted pendulum of van de Panne, Fiume and Vranesic
    (1993) on a tilted plane; see `equations` for the equations of motion and
    the control, `simulate` for the stepping, `heading` for heading control.
    A pure function of its settings.

    Args:
        settings: what is asked for.
        progress: called with the fraction done, at least every 50 ms; may
            raise `Cancelled`, which passes through.
        advice: True to look, if the figure falls or stops, for a change of
            one setting that keeps it going; takes a few more solves.

    Returns:
        The motion. A figure that falls or stops is in the result (`success`,
        events and problems), not an exception.

    Raises:
        SettingError: a setting is out of range or contradicts another.
    """
    timeline = make_timeline(settings)
    track, within = simulate(timeline, progress)
    motion = assemble([timeline], [track], within, progress, advice)[0]
    if progress is not None:
        progress(1.0)
    return motion


def part_of(progress: Progress | None, start: float, share: float) -> Progress:
    """Progress of a part of the work, as progress of the whole.

    Args:
        progress: of the whole.
        start: fraction of the whole that is done before.
        share: of the part in the whole.
    """

    def report(fraction: float) -> None:
        if progress is not None:
            progress(start + share * fraction)

    return report


def assemble(
    timelines: Sequence[Timeline],
    tracks: Sequence[Track],
    within: Within,
    progress: Progress | None = None,
    advice: bool = True,
) -> list[TurningMotion]:
    """Make motions from what stepping the figures left behind.

    Args:
        timelines: checked settings, one per figure.
        tracks: results of stepping.
        within: the knots within steps.
        progress: called during the search for what would help; may raise.
        advice: True to make that search.

    Returns:
        The motions, with their problems.
    """
    at = Quantities(timelines)
    first = timelines[0]
    facing = np.array([[timeline.settings.placement.yaw] for timeline in timelines])
    limited = any(timeline.limited for timeline in timelines)
    n = max(timeline.n_steps for timeline in timelines) + 1
    states = np.empty((len(KNOT), len(timelines), n))
    after = np.zeros((len(timelines), n), dtype=bool)
    for b, track in enumerate(tracks):
        width = track.states.shape[1]
        states[:, b, :width] = track.states
        states[:, b, width:] = track.states[:, -1:]  # of no use but to fill the array
        after[b, track.done :] = bool(track.outcome)
    time = np.array([[timeline.step] for timeline in timelines]) * np.arange(n)
    ends = states[:, :, -1].copy()
    origins = np.array([_origin(timeline.settings) for timeline in timelines])
    path = integrate_path(states, within, at, facing, origins, first.sliding)
    position, length, foot_speed = path.position, path.length, path.foot_speed
    _, theta, omega, yaw, v, curvature, alpha, turn, _, beta, mode = states
    happened = _events(tracks, path, time[:, 1] - time[:, 0] if n > 1 else np.ones(len(time)), ends)
    ended = np.flatnonzero(after.any(axis=1))
    if len(ended):
        for moving in (omega, v, curvature, alpha, turn):
            moving[after] = 0.0
    slope, direction = at("slope", time), at("slope_direction", time)
    forward, left, normal = ground_frame(yaw, facing, slope, direction)
    for b in ended:
        if tracks[b].outcome == "FALL":
            rest = after[b]
            theta[b, rest] = math.copysign(timelines[b].settings.fall_angle, theta[b, -1])
            fallen = length[b, -1]
            _slide(timelines[b], time[b], rest, (ends[0, b], ends[4, b]), v[b], length[b])
            position[b, rest] += (length[b, rest] - fallen)[:, None] * forward[b, rest]
        foot_speed[b, after[b]] = v[b, after[b]]
    height = at("height", time)
    lateral, upward = leg_forces(
        theta,
        omega,
        alpha,
        turn,
        v,
        at("g_normal", time),
        at("g_slope", time) * np.sin(at("fall_line", time) - yaw) if first.tilted else 0.0,
        at("mass", time),
        height,
    )
    held, max_lean = np.zeros((1, 1), dtype=bool), at("theta_max", time)
    if limited:
        law = make_equations(np.sin, np.cos, first.tilted, first.sliding, limited)
        asked = at("asked", time)
        ellipse = (
            asked,
            at("omega_0", time),
            np.maximum(v, STOP_SPEED),
            at("g_normal", time),
            at("J", time),
            height,
            at("max_curvature", time),
            at("max_curvature_rate", time),
        )
        if first.sliding:
            max_lean = law.allowed(*ellipse)
        held = (law.demand(*ellipse) > 1.0 + 1e-9) | (max_lean < asked * (1.0 - 1e-9))
    max_lean, frequency = max_lean * beta, at("omega_0", time) / beta
    phase = unwrapped_phase(theta.T, omega.T, max_lean.T, frequency.T).T
    for b in ended:
        phase[b, after[b]] = phase[b, ~after[b]][-1]
    arrays = {
        "time": time,
        "position": position,
        "forward": forward,
        "left": left,
        "normal": normal,
        "yaw": yaw,
        "heading": at("heading", time),
        "lean": theta,
        "lean_rate": omega,
        "lean_acceleration": alpha,
        "curvature": curvature,
        "speed": v,
        "foot_speed": foot_speed,
        "distance": length,
        "force_lateral": lateral,
        "force_normal": upward,
        "leg_force": np.hypot(lateral, upward),
        "phase": phase,
        "max_lean": max_lean,
        "frequency": frequency,
        "clipped": (mode != FREE) | held,
        "held": held,
    }
    for name, value in arrays.items():
        arrays[name] = np.broadcast_to(value, (len(timelines), n, *value.shape[2:]))
    return [
        _motion(
            timeline,
            track,
            {name: value[b, : timeline.n_steps + 1] for name, value in arrays.items()},
            happened[b],
            progress,
            advice,
        )
        for b, (timeline, track) in enumerate(zip(timelines, tracks, strict=True))
    ]


def _origin(settings: TurningSettings) -> np.ndarray:
    """Where the foot is at the start."""
    state = settings.start_state
    return np.asarray(state.position if state else settings.placement.origin, dtype=float)


def _events(
    tracks: Sequence[Track], path: Path, step: np.ndarray, ends: np.ndarray
) -> list[tuple[Event, ...]]:
    """What happens to each figure: edge changes, and the fall or the stop.

    Args:
        tracks: results of stepping.
        path: where they go.
        step: (n,) s, length of their steps.
        ends: (11, n) their last states, rows as in `KNOT`.
    """
    times = [turn.end for track in tracks for turn in track.turns[:-1]]
    figures = np.repeat(np.arange(len(tracks)), [len(track.turns[:-1]) for track in tracks])
    places = iter(path.at(figures, np.array(times), step))
    result = []
    for b, track in enumerate(tracks):
        events = [
            Event("EDGE_CHANGE", turn.end, "R" if turn.side > 0 else "L", next(places))
            for turn in track.turns[:-1]
        ]
        if track.outcome:
            time, lean = ends[:2, b].tolist()
            side = "" if track.outcome == "STOP" else ("L" if lean > 0.0 else "R")
            events.append(Event(track.outcome, time, side, path.position[b, -1].copy()))
        result.append(tuple(events))
    return result


def _motion(
    timeline: Timeline,
    track: Track,
    arrays: dict[str, Any],
    events: tuple[Event, ...],
    progress: Progress | None,
    advice: bool,
) -> TurningMotion:
    """Put one figure's motion together."""
    held = arrays.pop("held")
    half_turns = track.turns
    end_state = BodyState(
        position=arrays["position"][-1].copy(),
        yaw=world_yaw(timeline, float(arrays["yaw"][-1]), -1),
        speed=float(arrays["speed"][-1]),
        lean=float(arrays["lean"][-1]),
        lean_rate=float(arrays["lean_rate"][-1]),
        curvature=float(arrays["curvature"][-1]),
        phase=float(arrays["phase"][-1]),
        contacts=("foot.L", "foot.R"),
        control=track.control,
    )
    constants: dict[str, Any] = {
        name: float(np.take(timeline.quantities[name], 0))
        for name in ("mass", "height", "inertia", "gravity")
    }
    motion = TurningMotion(
        **arrays,
        steps_per_frame=timeline.per_frame,
        half_turns=half_turns,
        events=events,
        problems=(),
        success=not track.outcome,
        end_state=end_state,
        max_curvature=float(np.max(timeline.quantities["max_curvature"])),
        **constants,
    )

    def retry(changed: TurningSettings) -> bool:
        return not simulate(make_timeline(changed), part_of(progress, 1.0, 0.0))[0].outcome

    problems = find_problems(timeline, motion, held, retry if advice else None)
    return replace(motion, problems=problems) if problems else motion


def _slide(
    timeline: Timeline,
    time: np.ndarray,
    rest: np.ndarray,
    end: tuple[float, float],
    v: np.ndarray,
    length: np.ndarray,
) -> None:
    """A fallen figure slides on and comes to rest: speed and path length, in place."""
    braking = SLIDE_FRICTION * float(np.ravel(timeline.quantities["gravity"])[0])
    fell, speed = end
    after = np.minimum(time[rest] - fell, speed / braking)
    v[rest] = np.maximum(speed - braking * after, 0.0)
    length[rest] += after * (speed - 0.5 * braking * after)
