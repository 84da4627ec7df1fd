# SPDX-License-Identifier: GPL-3.0-or-later
"""Phase, amplitude and rhythm of a motion that was not made from them.

Van de Panne, Fiume and Vranesic (1993), section 6.2: theta_max and omega_0
are estimated, quadrant by quadrant of the phase diagram, by where the state
enters and leaves it; with them the phase is calculated as before.

Settled here, because the paper leaves it open:

- A half turn goes from one crossing of the vertical to the next that leads to
  a lean of at least one degree. Smaller wobbles belong to the half turn they
  are in.
- theta_max of both quadrants of a half turn is its largest lean; theta_max
  omega_0 of each is its largest rate of lean, which on an ellipse is where it
  meets the axis. Of a quadrant that is cut off by the start or the end, that
  of the other counts, too; a half turn cut off before its apex is taken to
  have the rhythm of its neighbour.
- Where the body is nearly upright and at rest (within 15 % of the ellipse)
  the phase passes evenly to where it is known again.
- The phase never goes back: where the lean rises anew within a half turn, it
  waits. A figure that leans to one side all the time stays at the apex.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

LEAST_TURN = math.radians(1.0)
SMALL = 0.15  # of the ellipse: nearer to the upright at rest, the phase is not known
LEAST_LEAN = 1e-3  # rad


@dataclass(frozen=True)
class Turns:
    """Half turns of a motion and its phase.

    Attributes:
        crossings: (k - 1,) times at which the vertical is crossed between
            the k half turns, s.
        sides: (k,) +1 to the left, -1 to the right.
        phase: (n,) rad, never falling; 0 (mod 2 pi) while crossing the
            vertical towards the left.
        max_lean: (n,) theta_max, rad.
        frequency: (n,) omega_0, rad/s.
    """

    crossings: np.ndarray
    sides: np.ndarray
    phase: np.ndarray
    max_lean: np.ndarray
    frequency: np.ndarray


def estimate_turns(time: np.ndarray, theta: np.ndarray, omega: np.ndarray, natural: float) -> Turns:
    """Find half turns, phase, theta_max and omega_0 of a motion.

    Args:
        time: (n,) s, rising.
        theta: (n,) lean, rad.
        omega: (n,) its rate, rad/s.
        natural: omega_0 where nothing tells it, rad/s: sqrt(g / J), the rate
            at which an unsteered body falls, is that of a usual turn.

    Returns:
        The estimates.
    """
    n = len(time)
    sign = np.where(theta >= LEAST_TURN, 1, np.where(theta <= -LEAST_TURN, -1, 0))
    leaning = np.flatnonzero(sign)
    if not len(leaning):
        lean = max(float(np.max(np.abs(theta))), LEAST_LEAN)
        return Turns(
            np.zeros(0),
            np.array([1]),
            np.zeros(n),
            np.full(n, lean),
            np.full(n, natural),
        )
    change = np.flatnonzero(np.diff(sign[leaning]))
    sides = sign[leaning[np.append(change, len(leaning) - 1)]]
    crossings = []
    for before, after, side in zip(leaning[change], leaning[change + 1], sides[1:], strict=True):
        i = before + int(np.flatnonzero(theta[before:after] * side <= 0.0)[-1])
        dt = time[i + 1] - time[i]
        u = cubic_root(theta[i], omega[i] * dt, theta[i + 1], omega[i + 1] * dt)
        crossings.append(time[i] + u * dt)
    edges = np.concatenate(([time[0]], crossings, [time[-1]]))
    last = len(sides) - 1
    bounds = np.concatenate(([0], np.searchsorted(time, crossings, "right"), [n]))
    spans = [slice(bounds[i], bounds[i + 1]) for i in range(last + 1)]
    sizes = [
        _ellipse(side * theta[rows], omega[rows], natural)
        for rows, side in zip(spans, sides, strict=True)
    ]
    phase, max_lean, frequency = np.empty(n), np.empty(n), np.empty(n)
    for number, (side, rows) in enumerate(zip(sides, spans, strict=True)):
        lean, rate = side * theta[rows], side * omega[rows]
        apex, most, before, after = sizes[number]
        if number == 0:
            before = max(before, after)
        if number == last:
            after = max(before, after)
        # Cut off before or after its apex: the ellipse in the rhythm of its neighbour.
        cut = lean[apex], rate[apex]
        if number == last and apex == len(lean) - 1 and rate[-1] > 0.0:
            rhythm = sizes[number - 1][3] if number else natural
            most = max(most, math.hypot(cut[0], cut[1] / rhythm))
            before = after = rhythm
        elif number == 0 and apex == 0 and rate[0] < 0.0:
            rhythm = sizes[1][2] if last else natural
            most = max(most, math.hypot(cut[0], cut[1] / rhythm))
            before = after = rhythm
        omega_0 = np.where(np.arange(len(lean)) <= apex, before, after)
        part = _half_turn_phase(
            time[rows],
            lean / most,
            rate / (omega_0 * most),
            None if number == 0 else edges[number],
            None if number == last else edges[number + 1],
        )
        phase[rows] = part + math.pi * (number + (0 if sides[0] > 0 else 1))
        max_lean[rows], frequency[rows] = most, omega_0
    return Turns(np.array(crossings), sides, phase, max_lean, frequency)


def _ellipse(lean: np.ndarray, rate: np.ndarray, natural: float) -> tuple[int, float, float, float]:
    """Apex, theta_max and omega_0 before and after the apex of a half turn."""
    apex = int(np.argmax(lean))
    most = max(float(lean[apex]), LEAST_LEAN)
    rhythm = [
        min(max(float(np.max(np.abs(part))) / most, 0.1 * natural), 10.0 * natural)
        for part in (rate[: apex + 1], rate[apex:])
    ]
    if np.max(np.abs(rate)) < 1e-3 * natural * most:
        rhythm = [natural, natural]
    return apex, most, rhythm[0], rhythm[1]


def _half_turn_phase(
    time: np.ndarray, y: np.ndarray, x: np.ndarray, start: float | None, end: float | None
) -> np.ndarray:
    """Phase in [0, pi] within a half turn, seen as one to the left."""
    raw = np.arctan2(y, x)
    raw = np.where(raw < -0.5 * math.pi, math.pi, np.clip(raw, 0.0, math.pi))
    known = np.hypot(x, y) >= SMALL
    times, values = time[known], raw[known]
    values = 0.5 * (np.maximum.accumulate(values) + np.minimum.accumulate(values[::-1])[::-1])
    if start is not None or not known[0]:
        times = np.append(time[0] if start is None else start, times)
        values = np.append(0.0, values)
    if end is not None:
        times, values = np.append(times, end), np.append(values, math.pi)
    return np.interp(time, times, values)


def cubic_root(x0: float, v0: float, x1: float, v1: float) -> float:
    """Where the cubic through two values and slopes is 0.

    Args:
        x0: value at 0.
        v0: slope at 0.
        x1: value at 1, of the other sign.
        v1: slope at 1.

    Returns:
        A root in [0, 1], by bisection.
    """
    if x0 == 0.0:
        return 0.0
    low, high = 0.0, 1.0
    a, b = 2.0 * (x0 - x1) + v0 + v1, 3.0 * (x1 - x0) - 2.0 * v0 - v1
    for _ in range(50):
        u = 0.5 * (low + high)
        if (((a * u + b) * u + v0) * u + x0) * x0 > 0.0:
            low = u
        else:
            high = u
    return 0.5 * (low + high)
