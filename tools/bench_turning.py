# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmark rows of the turning solver: accuracy, time, many figures at once."""

from __future__ import annotations

import math

import numpy as np
from bench_rows import Row, side_by_side

FPS = 24
EULER_RATE = 240

# The pendulum of the turning paper's examples: 70 kg, 5 kg m^2, 1 m.
MASS, INERTIA, HEIGHT, GRAVITY = 70.0, 5.0, 1.0, 9.81
SPEED, FREQUENCY, SHARPNESS = 8.0, 0.5, math.radians(23.0)


def _rates(state, speed=SPEED, frequency=FREQUENCY):
    """Time derivatives of (lean, lean rate, yaw, x, y) on the unmodified ellipse.

    Free turning without limits (van de Panne et al. 1993, sections 3 to 5):
    alpha = -omega_0^2 theta, k = g sin theta - J alpha, psi' = k / (V cos theta),
    the foot moving at V / (1 - C l sin theta) = V + l psi' sin theta.
    """
    lean, rate, yaw = state[0], state[1], state[2]
    alpha = -((2 * math.pi * frequency) ** 2) * lean
    k = GRAVITY * math.sin(lean) - (INERTIA / (MASS * HEIGHT) + HEIGHT) * alpha
    turn = k / (speed * math.cos(lean))
    foot = speed + HEIGHT * turn * math.sin(lean)
    # Yaw 0 is along -Y, anticlockwise.
    return rate, alpha, turn, foot * math.sin(yaw), -foot * math.cos(yaw)


def euler(seconds: float, yaw: float) -> np.ndarray:
    """The plain way: explicit Euler at 1/240 s.

    Args:
        seconds: how long.
        yaw: direction of travel at the start, radians.

    Returns:
        (n, 2) places of the foot in metres.
    """
    state = [0.0, 2 * math.pi * FREQUENCY * SHARPNESS, yaw, 0.0, 0.0]
    h = 1.0 / EULER_RATE
    track = [(0.0, 0.0)]
    for _ in range(round(seconds * EULER_RATE)):
        rates = _rates(state)
        state = [value + h * rate for value, rate in zip(state, rates, strict=True)]
        track.append((state[3], state[4]))
    return np.array(track)


def reference(seconds: float, yaw: float, times: np.ndarray) -> np.ndarray:
    """An independent and exact enough track: scipy's order 8 method, tolerance 1e-12.

    Args:
        seconds: how long.
        yaw: direction of travel at the start, radians.
        times: (n,) times wanted, seconds.

    Returns:
        (n, 2) places of the foot in metres.
    """
    from scipy.integrate import solve_ivp

    start = [0.0, 2 * math.pi * FREQUENCY * SHARPNESS, yaw, 0.0, 0.0]
    solution = solve_ivp(
        lambda t, y: _rates(y), (0.0, seconds), start, "DOP853", times, rtol=1e-12, atol=1e-12
    )
    return solution.y[3:5].T


def _settings(seconds: float, **changed):
    from poise.solvers.turning import TurningSettings

    values = {
        "n_frames": round(seconds * FPS) + 1, "fps": FPS, "speed": SPEED, "frequency": FREQUENCY,
        "sharpness": SHARPNESS, "mass": MASS, "height": HEIGHT, "inertia": INERTIA,
        "gravity": GRAVITY,
    }
    return TurningSettings(**{**values, **changed})


def rows() -> list[Row]:
    """Measure the turning solver."""
    from lab.batch import solve_turning_batch
    from poise.solvers.turning import sample_times, solve_turning

    plain_way = f"explicit Euler at 1/{EULER_RATE} s"
    result = []

    motion = solve_turning(_settings(20.0))
    yaw = float(motion.yaw[0])
    exact = reference(20.0, yaw, motion.time)
    frames = motion.time * EULER_RATE
    coarse = euler(20.0, yaw)[np.rint(frames).astype(int)]
    errors = [
        float(np.max(np.linalg.norm(track - exact, axis=1)))
        for track in (coarse, motion.position[:, :2] - motion.position[0, :2])
    ]
    result.append(Row("20 s of turning: largest error on the track", plain_way, *errors, unit="m",
                      limit=1e-5, note=f"{motion.steps_per_frame} steps a frame"))
    times = side_by_side(lambda: euler(20.0, yaw), lambda: solve_turning(_settings(20.0)), 9)
    result.append(Row("20 s of turning: time", plain_way, *times))

    t = sample_times(round(60 * FPS) + 1, FPS)
    keyed = _settings(
        60.0,
        speed=SPEED + 2 * np.sin(0.2 * t),
        frequency=FREQUENCY + 0.1 * np.sin(0.3 * t),
        sharpness=SHARPNESS + 0.1 * np.sin(0.25 * t),
        heading=0.3 * np.sin(0.1 * t),
    )
    times = side_by_side(lambda: euler(60.0, yaw), lambda: solve_turning(keyed), 9)
    result.append(Row("60 s of turning with 4 keyed settings: time", plain_way, *times, limit=50.0))

    # Every figure another: nothing can be shared but the stepping.
    figures = [
        _settings(20.0, frequency=0.3 + 0.4 * i / 1000, sharpness=0.2 + 0.3 * (i % 97) / 97)
        for i in range(1000)
    ]
    few = figures[::50]
    times = side_by_side(
        lambda: [solve_turning(figure) for figure in few],
        lambda: solve_turning_batch(figures),
        runs=3,
    )
    per_figure = times[0] / len(few), times[1] / len(figures)
    result.append(Row("1000 figures, 20 s: time per figure", "one by one", *per_figure, goal=12.0))
    return result
