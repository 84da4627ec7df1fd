# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve turning motions: settings in, motion out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..motion import BodyState, Event, HalfTurn, TurningMotion
from .assemble import ground_frame, integrate_path, leg_forces, quantity_at, unwrapped_phase
from .equations import PARAMETERS, make_equations
from .problems import find_problems
from .settings import STOP_SPEED, Timeline, TurningSettings, make_timeline
from .simulate import FREE, Track, simulate, world_yaw

Progress = Callable[[float], None]

SLIDE_FRICTION = 0.5  # of a fallen figure on the ground


def solve_turning(settings: TurningSettings, progress: Progress | None = None) -> TurningMotion:
    """Solve one turning motion.

    The body is the inverted pendulum of van de Panne, Fiume and Vranesic
    (1993) on a tilted plane; see `equations` for the equations of motion and
    the control, `simulate` for the stepping, `heading` for heading control.
    A pure function of its settings.

    Args:
        settings: what is asked for.
        progress: called with the fraction done, at least every 50 ms; may
            raise `Cancelled`, which passes through.

    Returns:
        The motion. A figure that falls or stops is in the result (`success`,
        events and problems), not an exception.

    Raises:
        SettingError: a setting is out of range or contradicts another.
    """
    timeline = make_timeline(settings)
    track = simulate(timeline, progress)
    motion, held = assemble(timeline, track)

    def retry(changed: TurningSettings) -> bool:
        return not simulate(make_timeline(changed), progress and (lambda _: progress(1.0))).outcome

    motion = replace(motion, problems=find_problems(timeline, motion, held, retry))
    if progress is not None:
        progress(1.0)
    return motion


def solve_turning_batch(
    settings: Sequence[TurningSettings], progress: Progress | None = None
) -> list[TurningMotion]:
    """Solve many turning motions at once.

    Args:
        settings: what is asked for, one per figure.
        progress: called with the fraction done; may raise `Cancelled`.

    Returns:
        One motion per figure, the same as `solve_turning` gives.

    Raises:
        SettingError: a setting of one of them is out of range.
    """
    motions = []
    for index, item in enumerate(settings):
        if progress is not None:
            progress(index / len(settings))
        motions.append(solve_turning(item))
    return motions


def assemble(timeline: Timeline, track: Track) -> tuple[TurningMotion, np.ndarray]:
    """Make the motion of one figure from what stepping it left behind.

    Args:
        timeline: checked settings.
        track: result of `simulate`.

    Returns:
        The motion, its problems still to be found, and (n,) True where the
        wanted turn is made smaller to fit the limits.
    """
    settings = timeline.settings
    facing = settings.placement.yaw
    knots = track.knots
    time, theta, omega, psi, v, curvature, alpha, turn, _, beta, mode = knots.T

    def at(name: str, when: np.ndarray) -> np.ndarray | float:
        return quantity_at(timeline, name, when)

    equations = make_equations(
        np.sin, np.cos, timeline.tilted, timeline.sliding, timeline.limited
    )
    path, distance = integrate_path(
        knots,
        lambda when: tuple(at(name, when) for name in PARAMETERS),
        lambda when: (facing, at("slope", when), at("slope_direction", when)),
        equations,
    )
    clipped_knot = mode != FREE
    origin = settings.placement.origin if settings.start_state is None else None
    if origin is None:
        origin = settings.start_state.position  # type: ignore[union-attr]
    path = path + np.asarray(origin, dtype=float)

    rows = track.grid
    n = timeline.n_steps + 1
    grid_time = np.arange(n) * timeline.step
    done = len(rows)

    def spread(values: np.ndarray, held: object = None) -> np.ndarray:
        """Values at the solver steps; those after the end held."""
        result = np.empty((n, *values.shape[1:]))
        result[:done] = values[rows]
        result[done:] = values[-1] if held is None else held
        return result

    theta_g, omega_g, alpha_g = spread(theta), spread(omega, 0.0), spread(alpha, 0.0)
    psi_g, turn_g = spread(psi), spread(turn, 0.0)
    v_g, curvature_g = spread(v, 0.0), spread(curvature, 0.0)
    beta_g, position, length = spread(beta), spread(path), spread(distance)
    slope, direction = at("slope", grid_time), at("slope_direction", grid_time)
    forward, left, normal = ground_frame(psi_g, facing, slope, direction)
    height, bound = at("height", grid_time), at("max_curvature", grid_time)
    if track.outcome == "FALL" and done < n:
        _slide(timeline, grid_time, done, time[-1], v[-1], v_g, length, position, path, forward)
        theta_g[done:] = math.copysign(settings.fall_angle, theta[-1])
    foot_speed = v_g + height * np.sin(theta_g) * turn_g
    gs, fall_line = at("g_slope", grid_time), at("fall_line", grid_time)
    lateral, upward = leg_forces(
        theta_g,
        omega_g,
        alpha_g,
        turn_g,
        v_g,
        at("g_normal", grid_time),
        gs * np.sin(fall_line - psi_g),
        at("mass", grid_time),
        height,
    )
    max_lean = at("theta_max", grid_time)
    turn_settings = (
        at("asked", grid_time),
        at("omega_0", grid_time),
        np.maximum(v_g, STOP_SPEED),
        at("g_normal", grid_time),
        at("J", grid_time),
        height,
        bound,
        at("max_curvature_rate", grid_time),
    )
    need = equations.demand(*turn_settings)
    if timeline.sliding and timeline.limited:
        max_lean = equations.allowed(*turn_settings)
    held = (need > 1.0 + 1e-9) | (max_lean < turn_settings[0] * (1.0 - 1e-9))
    max_lean = max_lean * beta_g
    frequency = at("omega_0", grid_time) / beta_g
    phase = unwrapped_phase(theta_g, omega_g, max_lean, frequency)
    phase[done:] = phase[done - 1]
    clipped = np.zeros(n, dtype=bool)
    clipped[:done] = clipped_knot[rows]
    clipped |= held

    half_turns = tuple(
        HalfTurn(
            t.start,
            t.end,
            t.side,
            t.beta,
            t.wanted,
            t.end_yaw - t.yaw,
            t.saturated,
            t.complete,
        )
        for t in track.turns
    )
    events = []
    for item in track.turns[:-1]:
        row = int(np.searchsorted(time, item.end))
        events.append(
            Event("EDGE_CHANGE", item.end, "L" if item.side < 0 else "R", path[row].copy())
        )
    if track.outcome:
        side = "" if track.outcome == "STOP" else ("L" if theta[-1] > 0 else "R")
        events.append(Event(track.outcome, float(time[-1]), side, path[-1].copy()))
    end_state = BodyState(
        position=position[-1].copy(),
        yaw=world_yaw(timeline, float(psi_g[-1]), -1),
        speed=float(v_g[-1]),
        lean=float(theta_g[-1]),
        lean_rate=float(omega_g[-1]),
        curvature=float(curvature_g[-1]),
        phase=float(phase[-1]),
        contacts=("foot.L", "foot.R"),
        control=track.control,
    )
    q = {name: float(np.ravel(value)[0]) for name, value in timeline.quantities.items()}
    motion = TurningMotion(
        time=grid_time,
        steps_per_frame=timeline.per_frame,
        position=position,
        forward=forward,
        left=left,
        normal=normal,
        yaw=psi_g,
        heading=at("heading", grid_time) + np.zeros(n),
        lean=theta_g,
        lean_rate=omega_g,
        lean_acceleration=alpha_g,
        curvature=curvature_g,
        speed=v_g,
        foot_speed=foot_speed,
        distance=length,
        force_lateral=lateral,
        force_normal=upward,
        leg_force=np.hypot(lateral, upward),
        phase=phase,
        max_lean=max_lean + np.zeros(n),
        frequency=frequency + np.zeros(n),
        clipped=clipped,
        half_turns=half_turns,
        events=tuple(events),
        problems=(),
        success=not track.outcome,
        end_state=end_state,
        mass=q["mass"],
        height=q["height"],
        inertia=q["inertia"],
        gravity=q["gravity"],
        max_curvature=float(np.max(bound)),
    )
    return motion, held + np.zeros(n, dtype=bool)


def _slide(
    timeline: Timeline,
    grid_time: np.ndarray,
    done: int,
    fell: float,
    speed: float,
    v: np.ndarray,
    length: np.ndarray,
    position: np.ndarray,
    path: np.ndarray,
    forward: np.ndarray,
) -> None:
    """A fallen figure slides on straight ahead and comes to rest (in place)."""
    gravity = float(np.ravel(timeline.quantities["gravity"])[0])
    braking = SLIDE_FRICTION * gravity
    after = np.minimum(grid_time[done:] - fell, speed / braking)
    v[done:] = speed - braking * after
    slid = after * (speed - 0.5 * braking * after)
    length[done:] = length[done:] + slid
    position[done:] = path[-1] + slid[:, None] * forward[done:]
