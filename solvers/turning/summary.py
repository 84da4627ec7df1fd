# SPDX-License-Identifier: GPL-3.0-or-later
"""The few numbers that tell an animator what a turn is like."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..motion import TurningMotion
from .equations import make_equations
from .heading import half_turn
from .settings import STOP_SPEED, TurningSettings, make_timeline

LOOP = math.radians(150.0)  # a half turn that turns further is called a loop


@dataclass(frozen=True)
class TurnSummary:
    """What a turn is like.

    Attributes:
        half_turn: heading change of a half turn, rad, without sign.
        min_radius: smallest radius of the foot's path, m; infinite if it
            never turns.
        peak_force: largest leg force as a multiple of the body's weight.
        max_lean: largest lean, rad.
        turn_time: duration of a half turn, s.
        turn_length: path length of a half turn, m.
        loop: True if a half turn turns by more than 150 degrees.
        demand: largest share of the curvature and curvature rate limits that
            the wanted turn asks for; above 1 it is held back.
        clipped: share of the motion in which a limit holds the turn back.
    """

    half_turn: float
    min_radius: float
    peak_force: float
    max_lean: float
    turn_time: float
    turn_length: float
    loop: bool
    demand: float
    clipped: float


def ellipse_demand(
    frequency: float,
    sharpness: float,
    speed: float,
    height: float = 1.0,
    inertia: float = 5.0,
    mass: float = 70.0,
    gravity: float = 9.81,
) -> tuple[float, float]:
    """Largest curvature and curvature rate that a wanted turn asks for.

    On the ellipse theta = theta_max sin(omega_0 t), with N = g sin(theta) +
    J omega_0^2 theta and D = V^2 cos(theta) + l N sin(theta), C = N/D and

        C' = (V^2 cos(theta) N' + V^2 N sin(theta) omega - l N^2 cos(theta) omega) / D^2.

    The largest values are looked for on a fine grid over a quarter turn.

    Args:
        frequency: Hz.
        sharpness: theta_max, rad.
        speed: of the centre of mass, m/s.
        height: l, m.
        inertia: about the centre of mass, kg m^2.
        mass: kg.
        gravity: along the ground normal, m/s^2.

    Returns:
        Largest |C| in 1/m and |C'| in 1/(m s).
    """
    omega_0 = 2.0 * math.pi * frequency
    j = (inertia + mass * height**2) / (mass * height)
    phi = np.linspace(0.0, 0.5 * math.pi, 257)
    theta = sharpness * np.sin(phi)
    rate = sharpness * omega_0 * np.cos(phi)
    s, c, vv = np.sin(theta), np.cos(theta), speed * speed
    n = gravity * s + j * omega_0**2 * theta
    n_rate = (gravity * c + j * omega_0**2) * rate
    d = vv * c + height * n * s
    change = (vv * c * n_rate + vv * n * s * rate - height * n * n * c * rate) / d**2
    return float(np.max(np.abs(n / d))), float(np.max(np.abs(change)))


def summarise(source: TurningMotion | TurningSettings) -> TurnSummary:
    """Sum up a solved motion, or settings before they are solved.

    Of settings, the turn at the start is described, as it comes out under
    the limits (closed form and quadrature, well under a millisecond); of a
    motion, the extremes over all of it and the mean of its half turns.

    Args:
        source: settings or motion.

    Returns:
        The summary.

    Raises:
        SettingError: settings are out of range.
    """
    if isinstance(source, TurningMotion):
        return _of_motion(source)
    return _of_settings(source)


def _of_settings(settings: TurningSettings) -> TurnSummary:
    start: dict[str, Any] = {
        name: float(np.ravel(getattr(settings, name))[0])
        for name in (
            "speed frequency sharpness heading max_curvature max_curvature_rate mass height "
            "inertia slope slope_direction friction drag_area gravity"
        ).split()
        if np.ndim(getattr(settings, name)) == 1 and np.size(getattr(settings, name))
    }
    settings = replace(
        settings, **start, n_frames=2, amplitude_irregularity=0.0, rhythm_irregularity=0.0
    )
    timeline = make_timeline(settings)
    q = {name: float(np.ravel(value)[0]) for name, value in timeline.quantities.items()}
    law = make_equations(np.sin, np.cos, False, False, True)
    speed = settings.start_state.speed if settings.start_state else q["speed"]
    speed = max(speed, STOP_SPEED)
    limits = (
        q["omega_0"],
        speed,
        q["g_normal"],
        q["J"],
        q["height"],
        q["max_curvature"],
        q["max_curvature_rate"],
    )
    demand = float(law.demand(q["asked"], *limits))
    lean = float(law.allowed(q["asked"], *limits)) if timeline.limited else q["asked"]
    p = (
        q["omega_0"],
        lean,
        speed,
        q["g_normal"],
        0.0,
        0.0,
        q["J"],
        q["height"],
        0.0,
        0.0,
        q["max_curvature"],
        q["max_curvature_rate"],
    )
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    change, duration, _ = half_turn(
        lambda _: p, False, False, False, zero, zero, speed * one, one, one
    )
    phi = np.linspace(0.0, 0.5 * math.pi, 65)
    theta, omega = lean * np.sin(phi), lean * q["omega_0"] * np.cos(phi)
    alpha = -(q["omega_0"] ** 2) * theta
    k = q["g_normal"] * np.sin(theta) - q["J"] * alpha
    curvature = k / (speed**2 * np.cos(theta) + q["height"] * k * np.sin(theta))
    turn = k / (speed * np.cos(theta))
    lateral = -speed * turn - q["height"] * (np.cos(theta) * alpha - np.sin(theta) * omega**2)
    normal = q["g_normal"] - q["height"] * (np.sin(theta) * alpha + np.cos(theta) * omega**2)
    foot = speed + q["height"] * np.sin(theta) * turn
    largest = float(np.max(curvature))
    return TurnSummary(
        half_turn=float(change[0]),
        min_radius=1.0 / largest if largest > 1e-9 else math.inf,
        peak_force=float(np.max(np.hypot(lateral, normal))) / q["gravity"],
        max_lean=lean,
        turn_time=float(duration[0]),
        turn_length=float(np.mean(0.5 * (foot[1:] + foot[:-1])) * duration[0]),
        loop=bool(change[0] > LOOP),
        demand=demand,
        clipped=1.0 if demand > 1.0 + 1e-9 or lean < q["asked"] * (1.0 - 1e-9) else 0.0,
    )


def _of_motion(motion: TurningMotion) -> TurnSummary:
    whole = [turn for turn in motion.half_turns if turn.complete]
    largest = float(np.max(np.abs(motion.curvature)))
    if whole:
        change = float(np.mean([abs(turn.change) for turn in whole]))
        seconds = float(np.mean([turn.end - turn.start for turn in whole]))
        ends = np.interp([[turn.start, turn.end] for turn in whole], motion.time, motion.distance)
        length = float(np.mean(ends[:, 1] - ends[:, 0]))
    else:
        change = float(np.ptp(motion.yaw))
        seconds = math.pi / float(motion.frequency[0])
        length = seconds * float(motion.foot_speed[0])
    return TurnSummary(
        half_turn=change,
        min_radius=1.0 / largest if largest > 1e-9 else math.inf,
        peak_force=float(np.max(motion.leg_force)) / (motion.mass * motion.gravity),
        max_lean=float(np.max(np.abs(motion.lean))),
        turn_time=seconds,
        turn_length=length,
        loop=any(abs(turn.change) > LOOP for turn in motion.half_turns),
        demand=float("nan"),
        clipped=float(np.mean(motion.clipped)),
    )
