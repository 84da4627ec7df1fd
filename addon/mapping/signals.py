# SPDX-License-Identifier: GPL-3.0-or-later
"""Smooth shapes and what a mapping reads off a motion, all numpy, time first.

Every shape here is at least twice continuously differentiable, so that a body
part driven by smooth physics moves without corners.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...solvers.motion import TurningMotion
from ...solvers.rotations import continuous, normalise
from ...solvers.turning.pendulum import leg_forces

Amount = float | np.ndarray  # a setting: one number, or (n,) samples of a keyed one


def step(x: np.ndarray) -> np.ndarray:
    """0 below 0, 1 above 1, between them 10 x^3 - 15 x^4 + 6 x^5 (C2).

    Args:
        x: any array.
    """
    x = np.clip(x, 0.0, 1.0)
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))


def ramp(x: np.ndarray, width: Amount) -> np.ndarray:
    """max(x, 0) with its corner rounded within +-width (C2, never below max(x, 0)).

    Args:
        x: any array.
        width: half-width of the rounding, above 0.
    """
    u = np.clip((x + width) / (2.0 * width), 0.0, 1.0)
    inside = 2.0 * width * u**3 * (1.0 - 0.5 * u)
    return np.where(x > width, x, inside)


def at_most(x: np.ndarray, bound: Amount, width: Amount) -> np.ndarray:
    """min(x, bound), rounded within +-width of the bound and never above it (C2).

    Args:
        x: any array.
        bound: upper bound.
        width: half-width of the rounding, above 0.
    """
    return x - ramp(x - bound, width)


def limited(x: np.ndarray, limit: Amount, knee: float = 0.7) -> np.ndarray:
    """x within +-knee * limit, beyond it bending towards +-limit (tanh, C2).

    Args:
        x: any array.
        limit: bound on the magnitude, at least 0.
        knee: share of the limit up to which x is untouched, 0 to 1.
    """
    limit = np.maximum(limit, 1e-9)
    start = knee * limit
    room = limit - start
    over = np.maximum(np.abs(x) - start, 0.0)
    return np.clip(x, -start, start) + np.sign(x) * room * np.tanh(over / room)


def saturated(x: np.ndarray, scale: Amount) -> np.ndarray:
    """x / sqrt(x^2 + scale^2): x / scale for small x, +-1 for large.

    Args:
        x: any array.
        scale: where the bend is, above 0.
    """
    return x / np.sqrt(x * x + np.square(scale))


def flattened(x: np.ndarray, width: Amount) -> np.ndarray:
    """x, but resting at 0 for an instant while it passes through 0 (C2).

    With u = |x| / width: sign(x) width (6 u^3 - 8 u^4 + 3 u^5) within the
    width, exactly x beyond. About 0 it is of third order, so that its
    magnitude is smooth as well.

    Args:
        x: any array.
        width: half-width of the rest, at least 0.
    """
    width = np.maximum(width, 1e-9)
    u = np.abs(x) / width
    inside = np.sign(x) * width * u**3 * (6.0 + u * (3.0 * u - 8.0))
    return np.where(u < 1.0, inside, x)


def window(
    time: np.ndarray, start: Amount, end: Amount, rise: Amount, fall: Amount
) -> np.ndarray:
    """1 from start to end, rising before and falling after over the given spans (C2).

    Args:
        time: (n,) seconds.
        start: where it has reached 1; this and the others a number or (n,).
        end: where it starts to fall.
        rise: seconds, above 0.
        fall: seconds, above 0.
    """
    return step((time - start) / rise + 1.0) * (1.0 - step((time - end) / fall))


def smoothed(values: np.ndarray, spacing: float, width: float) -> np.ndarray:
    """Round off corners in time without moving smooth curves.

    Convolution with (3/2 - t^2 / (2 s^2)) exp(-t^2 / (2 s^2)) / (s sqrt(2 pi)),
    a kernel without second moment: a sine of angular frequency w is off by
    (s w)^4 / 8 only (1e-5 for 0.03 s and a turn a second). It has no lag. Ends
    are continued by point reflection.

    Args:
        values: (n,) or (n, k) samples.
        spacing: seconds between samples, above 0.
        width: s in seconds; 0 leaves the values alone.
    """
    values = np.asarray(values, dtype=float)
    n = len(values)
    if width <= 0.0 or n < 3 or spacing <= 0.0:
        return values
    reach = int(np.ceil(5.0 * width / spacing))
    x = np.arange(-reach, reach + 1) * (spacing / width)
    kernel = (1.5 - 0.5 * x * x) * np.exp(-0.5 * x * x)
    kernel /= kernel.sum()
    pad = [(reach, reach)] + [(0, 0)] * (values.ndim - 1)
    padded = np.pad(values, pad, mode="reflect", reflect_type="odd")
    if values.ndim == 1:
        return np.convolve(padded, kernel, mode="valid")
    return np.stack([np.convolve(c, kernel, mode="valid") for c in padded.T], axis=1)


def averaged(
    values: np.ndarray, spacing: float, width: float, swinging: bool = False
) -> np.ndarray:
    """A Gaussian mean over time.

    The weights exp(-t^2 / (2 s^2)) are all positive, so that nothing overshoots
    and what never falls still does not, and even, so that nothing lags. Ends
    are continued by point reflection, which keeps the first and the last value;
    what swings about a mean would go to where it happens to be cut off, and is
    continued by its mirror image.

    Args:
        values: (n,) or (n, k) samples.
        spacing: seconds between samples.
        width: s in seconds; 0 leaves the values alone.
        swinging: the values swing about a mean.
    """
    n = len(values)
    if width <= 0.0 or n < 3 or spacing <= 0.0:
        return values
    reach = int(np.ceil(4.0 * width / spacing))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * (spacing / width)) ** 2)
    kernel /= kernel.sum()
    pad = [(reach, reach)] + [(0, 0)] * (np.ndim(values) - 1)
    padded = np.pad(values, pad, mode="reflect", reflect_type="even" if swinging else "odd")
    if padded.ndim == 1:
        return np.convolve(padded, kernel, mode="valid")
    return np.stack([np.convolve(c, kernel, mode="valid") for c in padded.T], axis=1)


def averaged_turn(rotation: np.ndarray, spacing: float, width: float) -> np.ndarray:
    """Rotations evened out in time: a Gaussian mean of the quaternions, made unit again.

    Args:
        rotation: (n, 4) unit quaternions.
        spacing: seconds between samples.
        width: as for `averaged`; 0 leaves the rotations alone.
    """
    if width <= 0.0 or len(rotation) < 3 or spacing <= 0.0:
        return rotation
    return normalise(averaged(continuous(rotation), spacing, width))


def at_times(values: np.ndarray, spacing: float, times: np.ndarray) -> np.ndarray:
    """Values between samples by cubic interpolation (Lagrange, four samples).

    Args:
        values: (n,) or (n, k) samples from time 0 on.
        spacing: seconds between samples.
        times: (m,) seconds, held within the samples.

    Returns:
        (m,) or (m, k).
    """
    values = np.asarray(values, dtype=float)
    n = len(values)
    times = np.atleast_1d(np.asarray(times, dtype=float))
    if n == 1 or spacing <= 0.0:
        return np.repeat(values[:1], len(times), axis=0)
    where = np.clip(times / spacing, 0.0, n - 1.0)
    if n < 4:
        low = np.minimum(where.astype(int), n - 2)
        u = (where - low).reshape((-1,) + (1,) * (values.ndim - 1))
        return values[low] * (1.0 - u) + values[low + 1] * u
    first = np.clip(np.floor(where).astype(int) - 1, 0, n - 4)
    u = (where - first).reshape((-1,) + (1,) * (values.ndim - 1))
    a, b, c, d = (values[first + i] for i in range(4))
    return (
        -a * (u - 1) * (u - 2) * (u - 3) / 6.0
        + b * u * (u - 2) * (u - 3) / 2.0
        - c * u * (u - 1) * (u - 3) / 2.0
        + d * u * (u - 1) * (u - 2) / 6.0
    )


def crossings(values: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Times at which a sampled curve rises through zero (inverse cubic, one Newton polish).

    Args:
        values: (n,) samples.
        time: (n,) seconds, evenly spaced.
    """
    if len(values) < 2:
        return np.zeros(0)
    spacing = float(time[1] - time[0])
    before = np.flatnonzero((values[:-1] < 0.0) & (values[1:] >= 0.0))
    left, right = values[before], values[before + 1]
    low, high = time[before], time[before + 1]
    at = low + spacing * (-left) / (right - left)
    for _ in range(4):
        eps = 1e-3 * spacing
        here = at_times(values, spacing, at - time[0])
        slope = (at_times(values, spacing, at - time[0] + eps)
                 - at_times(values, spacing, at - time[0] - eps)) / (2.0 * eps)
        at = np.clip(at - here / np.where(slope > 0.0, slope, np.inf), low, high)
    return at


def peak_curvature(motion: TurningMotion) -> np.ndarray:
    """Curvature at the largest lean of the steady turn in force at each sample, 1/m.

    C = k / (V^2 cos t + l k sin t) with t the maximum lean, k = g sin t +
    w^2 t (I + m l^2) / (m l), after Eqs. 1 and 5 of van de Panne et al. 1993
    (lean acceleration -w^2 t at the top of the swing), held within the
    motion's curvature bound.

    Args:
        motion: the motion.

    Returns:
        (n,) positive.
    """
    lean = np.maximum(motion.max_lean, 1e-6)
    ratio = (motion.inertia + motion.mass * motion.height**2) / (motion.mass * motion.height)
    k = motion.gravity * np.sin(lean) + motion.frequency**2 * lean * ratio
    curvature = k / (motion.speed**2 * np.cos(lean) + motion.height * k * np.sin(lean) + 1e-9)
    return np.minimum(curvature, max(motion.max_curvature, 1e-9))


@dataclass(frozen=True)
class Signals:
    """What drives the body, smooth, one value per sample.

    Attributes:
        time: (n,) seconds.
        spacing: seconds between samples.
        lean: (n,) lean of the body in radians, + left, held below the angle
            at which a body still stands on its feet.
        curvature: (n,) 1/m, + left.
        turn: (n,) curvature as a share of the turn's peak, about -1 to 1.
        lean_rate_share: (n,) rate of lean as a share of its largest in the
            turn, about -1 to 1; a quarter of a period ahead of `turn`.
        intensity: (n,) 0 for straight running to 1 for a proper turn.
        force: (n,) leg force in body weights.
        phase: (n,) radians, unwrapped.
        edge_change: (n,) 1 at the change of edges, 0 in mid-turn.
        speed: (n,) speed of the foot, m/s.
        off_heading: (n,) sine of the direction of travel against the heading: the
            angle for usual turns, none again half way round a loop.
        reference_lean: (n,) maximum lean in force, radians.
        reference_curvature: (n,) curvature at the maximum lean, 1/m.
    """

    time: np.ndarray
    spacing: float
    lean: np.ndarray
    curvature: np.ndarray
    turn: np.ndarray
    lean_rate_share: np.ndarray
    intensity: np.ndarray
    force: np.ndarray
    phase: np.ndarray
    edge_change: np.ndarray
    speed: np.ndarray
    off_heading: np.ndarray
    reference_lean: np.ndarray
    reference_curvature: np.ndarray


LEAN_LIMIT = np.radians(72.0)  # beyond this the figure lies rather than leans
CORNER = 0.03  # seconds over which corners of limits and stepped settings are rounded
IMPACT = 0.08  # seconds over which a fall or a stop is rounded
SETTLE = 0.25  # seconds over which a new heading or setting is taken up


def _calming(
    motion: TurningMotion, time: np.ndarray, spacing: float
) -> Callable[..., np.ndarray]:
    """What turns values and their smooth ones into calm ones where steering goes by stages."""
    last = float(time[-1]) if len(time) else 0.0
    spans = []
    for start, end, width in motion.steered:
        # A motion before or after it is left as it is, and passed into smoothly.
        inside = np.ones(len(time))
        if start > 0.5 * spacing:
            inside = inside * step((time - start) / SETTLE)
        if end < last - 0.5 * spacing:
            inside = inside * step((end - time) / SETTLE)
        spans.append((inside, width))

    def calmly(values: np.ndarray, smooth: np.ndarray, swinging: bool = True) -> np.ndarray:
        result = smooth
        for inside, width in spans:
            mean = averaged(np.nan_to_num(values), spacing, width, swinging)
            result = result + inside * (mean - smooth)
        return result

    return calmly


def read_signals(motion: TurningMotion) -> Signals:
    """Smooth signals of a motion.

    Where steering is decided from stage to stage (`TurningMotion.steered`),
    its curvature is a zigzag of straight lines. The body goes through it with
    its inertia, and so do lean and way; edges, legs and phase would jump to
    each corner. They follow a mean over some time instead. Of the leg force
    that is what lean and steering make; what terrain makes is kept.

    Args:
        motion: the motion.
    """
    time = np.asarray(motion.time, dtype=float)
    spacing = float(time[1] - time[0]) if len(time) > 1 else 0.0

    corner = CORNER if motion.success else IMPACT

    def smooth(values: np.ndarray, width: float = corner) -> np.ndarray:
        return smoothed(np.nan_to_num(values), spacing, width)

    calmly = _calming(motion, time, spacing)
    weight = max(motion.mass * motion.gravity, 1e-9)
    force = smooth(motion.leg_force / weight)
    if motion.steered:
        steering = np.hypot(*leg_forces(
            motion.lean, motion.lean_rate, motion.lean_acceleration,
            motion.curvature * motion.foot_speed, motion.speed,
            motion.gravity * motion.normal[:, 2], -motion.gravity * motion.left[:, 2],
            motion.mass, motion.height,
        )) / weight
        force = force - smooth(steering) + calmly(steering, smooth(steering))
    curvature = calmly(motion.curvature, smooth(motion.curvature))
    reference_lean = smooth(motion.max_lean, SETTLE)
    reference_curvature = np.maximum(smooth(peak_curvature(motion), SETTLE), 1e-6)
    phase = calmly(motion.phase, smooth(motion.phase), swinging=False)
    lean = np.nan_to_num(motion.lean) if motion.success else smooth(motion.lean)
    lean = limited(lean, LEAN_LIMIT, 0.85)
    return Signals(
        time=time,
        spacing=spacing,
        lean=lean,
        curvature=curvature,
        turn=limited(curvature / reference_curvature, 1.3, 0.8),
        lean_rate_share=limited(
            np.nan_to_num(motion.lean_rate)
            / np.maximum(reference_lean * smooth(motion.frequency, SETTLE), 1e-6),
            1.3,
            0.8,
        ),
        intensity=saturated(np.maximum(reference_lean, 0.0), np.radians(10.0)),
        force=force,
        phase=phase,
        edge_change=np.cos(phase) ** 4,
        speed=smooth(motion.foot_speed),
        off_heading=np.sin(smooth(motion.yaw - smooth(motion.heading, SETTLE))),
        reference_lean=reference_lean,
        reference_curvature=reference_curvature,
    )
