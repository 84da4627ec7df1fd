# SPDX-License-Identifier: GPL-3.0-or-later
"""How a joint is made to be in a pose at a time: set-point, gain, and what can be had.

A joint under PD control comes to rest at its set-point only after a long time. To be
in pose P at time t it aims beyond: with *tension* e, the fraction of the way to the
set-point s that is left when it is there,

    s = (P - e theta_0) / (1 - e),   P - s = e (theta_0 - s)

and the gain is the one with which that is so (gain.py). Of a joint with several
degrees of freedom the gain is that of its motion along the way D = P - theta_0; across
it the set-point is where the same gain leads to the pose as well. That set-point exists
for every gain and every motion:

    theta_0 - s = (t v_0 s(a) - D) / (1 - c(a)),   a = w t

so a pose is reached, too, where the tension allows no gain: then with the gain that the
same tension has from rest. Where that has to be told, and what would have made a gain
exist, is `Remedy`; a critically damped joint that moves towards its pose has one if and
only if

    t v_0 / D <= ln(1 / e) / (1 - e)

A wanted velocity of arrival takes the place of the tension:

    t v(t) = D A(a) + t v_0 B(a)
    A = a^2 s / (1 - c),   B = c - 2 ratio a s - A s

where A falls from 2 to 0 and B from -1 to 0: from 2 D / t - v_0, as under a constant
torque, to a standstill.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import lambertw

from .. import rotations
from .gain import Gain, bisect, critical_phase, damped_gain, gains, gone, influence, reshaped

_STILL = 1e-9
"""Share of what a joint would move by itself below which it has no way to go, and no direction."""

_SAMPLES = 96  # of what the gain does to the velocity of arrival, between which it is monotone


@dataclass(frozen=True)
class Aim:
    """What n joints are controlled with until they are in their poses.

    Attributes:
        frequency: (n,) natural frequency w, rad/s.
        offset: (n, k) from the set-point to where each joint is now, rad.
        count: (n,) gains that the tension allows; 0 where the pose is reached
            without it.
        swings: (n,) half swings on the way, 0 unless under-damped.
    """

    frequency: np.ndarray
    offset: np.ndarray
    count: np.ndarray
    swings: np.ndarray


@dataclass(frozen=True)
class Remedy:
    """What would let n critically damped joints arrive with their tension.

    Attributes:
        latest: (n,) time, s, at the latest; inf where any time does.
        fastest: (n,) rate towards the pose, rad/s, at the most; inf where the
            joint has no way to go that tells towards from away.
        tension: (n,) at the most.
    """

    latest: np.ndarray
    fastest: np.ndarray
    tension: np.ndarray


def set_point(
    start: np.ndarray | float, pose: np.ndarray | float, tension: np.ndarray | float
) -> np.ndarray:
    """Where a joint aims that has done all but `tension` of its way when it is in its pose.

    Args:
        start: theta_0, rad.
        pose: P, rad.
        tension: e, not 1: 0 arrives at the set-point itself, below 0 from beyond it.

    Returns:
        s = (P - e theta_0) / (1 - e), rad.
    """
    return (pose - tension * np.asarray(start)) / (1.0 - np.asarray(tension))


def rest_phase(tension: np.ndarray | float, ratio: np.ndarray | float) -> np.ndarray:
    """a = w t of a joint that starts at rest: c(a) = e.

    Args:
        tension: e, above 0 and below 1.
        ratio: damping ratio, above 0 and at most 1.

    Returns:
        a; critically damped -1 - W_-1(-e / exp(1)).
    """
    tension, ratio = np.broadcast_arrays(np.asarray(tension, float), np.asarray(ratio, float))
    critical = -1.0 - lambertw(-tension / np.e, -1).real
    if (ratio == 1.0).all():
        return critical
    with np.errstate(divide="ignore"):
        half = np.pi / np.sqrt(np.maximum(1.0 - ratio**2, 0.0))
    high = np.minimum(half, critical + 1.0)
    return bisect(lambda a: influence(a, ratio)[0] - tension, np.zeros_like(high), high)


def aim(
    way: np.ndarray,
    rate: np.ndarray,
    time: np.ndarray | float,
    tension: np.ndarray | float,
    ratio: np.ndarray | float = 1.0,
    firm: np.ndarray | bool = True,
    rest: np.ndarray | None = None,
) -> Aim:
    """Gain and set-point with which joints are in their poses at a time.

    Args:
        way: (n, k) D = P - theta_0, from where each joint is to its pose, rad.
        rate: (n, k) rad/s.
        time: s until then, above 0; a number or (n,).
        tension: e, above 0 and below 1; a number or (n,).
        ratio: damping ratio, above 0 and at most 1; a number or (n,).
        firm: which of two gains, the firmer or the softer.
        rest: `rest_phase` of the tension and ratio, for who asks often.

    Returns:
        What to control them with.
    """
    way, rate = np.asarray(way, float), np.asarray(rate, float)
    n = len(way)
    time, ratio = np.zeros(n) + time, np.zeros(n) + ratio
    distance = np.sqrt(rotations.dot(way, way))
    drift = time * np.sqrt(rotations.dot(rate, rate))
    has_way = distance > _STILL * drift
    towards = rotations.dot(rate, way) / np.where(distance > 0.0, distance, 1.0)
    if (ratio == 1.0).all():
        # The way to the set-point is D / (1 - e), and of it e is left.
        share = time * towards / np.where(has_way, distance, 1.0)
        phase, found = critical_phase((np.asarray(tension) - 1.0) * share, tension, firm)
        swings = np.zeros(n, int)
    else:
        start = -distance / (1.0 - np.asarray(tension))
        gain = damped_gain(start, towards, tension * start, time, ratio, 1.0, firm)
        phase, found, swings = gain.frequency * time, gain.count, gain.swings
    exists = (found > 0) & has_way
    rest = rest_phase(tension, ratio) if rest is None else rest
    a = np.where(exists, phase, rest)
    offset = start_from_set_point(way, rate, time, a, ratio)
    still = (distance == 0.0) & (drift == 0.0)
    count = np.where(still, 1, np.where(has_way, found, 0))
    return Aim(a / time, offset, count, np.where(exists, swings, 0))


def start_from_set_point(
    way: np.ndarray, rate: np.ndarray, time: np.ndarray, phase: np.ndarray, ratio: np.ndarray
) -> np.ndarray:
    """theta_0 - s of the set-point with which a gain leads to the pose, whatever the gain.

    Args:
        way: (n, k) from where each joint is to its pose, rad.
        rate: (n, k) rad/s.
        time: (n,) s.
        phase: (n,) a = w t, above 0.
        ratio: (n,) damping ratio.

    Returns:
        (n, k) rad.
    """
    s = influence(phase, ratio)[1]
    return ((time * s)[:, None] * rate - way) / gone(phase, ratio)[:, None]


def remedies(
    way: np.ndarray, rate: np.ndarray, time: np.ndarray | float, tension: np.ndarray | float
) -> Remedy:
    """What would let critically damped joints be in their poses with their tension.

    Args:
        way: (n, k) from where each joint is to its pose, rad.
        rate: (n, k) rad/s.
        time: s, above 0; a number or (n,).
        tension: e, above 0 and below 1; a number or (n,).

    Returns:
        The latest time, the largest rate, the highest tension: each alone would do.
    """
    way, rate = np.asarray(way, float), np.asarray(rate, float)
    time, tension = (np.broadcast_to(x, len(way)) for x in (time, tension))
    distance = np.sqrt(rotations.dot(way, way))
    towards = rotations.dot(rate, way / np.where(distance > 0.0, distance, 1.0)[:, None])
    most = -np.log(tension) / (1.0 - tension)
    with np.errstate(divide="ignore", invalid="ignore"):
        latest = np.where(towards > 0.0, most * distance / towards, np.inf)
        share = time * towards / distance
        # e = exp(-(1 - e) z): e z = -W_0(-z exp(-z)), of which e = 1 is the other root.
        highest = -lambertw(-share * np.exp(-share)).real / share
    fastest = np.where(distance > 0.0, most * distance / time, np.inf)
    return Remedy(latest, fastest, np.where(share > 1.0, highest, 1.0))


def arrival_gain(
    way: np.ndarray | float,
    rate: np.ndarray | float,
    time: np.ndarray | float,
    velocity: np.ndarray | float,
    ratio: np.ndarray | float = 1.0,
    firm: np.ndarray | bool = True,
) -> tuple[Gain, np.ndarray, np.ndarray]:
    """The gain with which single joints are in their poses moving at a wanted velocity.

    Args:
        way: D = P - theta_0, rad.
        rate: v_0, rad/s.
        time: s, above 0.
        velocity: v(t) wanted, rad/s; a standstill (0) is only neared.
        ratio: damping ratio, above 0; gains of one half swing are looked for.
        firm: which of several gains, the firmest or the softest.

    Returns:
        Gains for a moment of inertia of 1; theta_0 - s, from the set-point to the
        start, rad; (..., 2) the least and largest velocity that can be had, rad/s.
    """
    values = np.broadcast_arrays(
        *(np.asarray(x, float) for x in (way, rate, time, velocity, ratio)), np.asarray(firm)
    )
    shape = values[0].shape
    ways, rates, times, velocities, ratios, firms = (np.ravel(value) for value in values)
    drift, wanted = rates * times, velocities * times

    def speed(a: np.ndarray, i: np.ndarray) -> np.ndarray:
        c, s = influence(a, ratios[i])
        there = np.where(a < 1e-150, 2.0, a**2 * s / np.maximum(gone(a, ratios[i]), 1e-300))
        return ways[i] * there + drift[i] * (c - 2.0 * ratios[i] * a * s - there * s)

    slow = ratios - np.sqrt(np.maximum(ratios**2 - 1.0, 0.0))
    with np.errstate(divide="ignore"):
        top = np.minimum(np.pi / np.sqrt(np.maximum(1.0 - ratios**2, 0.0)), 60.0 / slow)
    # Closer together where the gain is low: what it does to the velocity fades with it.
    edges = top * np.linspace(0.0, 1.0, _SAMPLES + 1)[:, None] ** 2
    speeds = speed(edges, np.arange(len(ways)))
    change = np.diff(speeds, axis=0)
    k, i = np.nonzero(change[1:] * change[:-1] < 0.0)
    edges[k + 1, i] = _extremum(
        lambda a: np.sign(change[k, i]) * speed(a, i), edges[k, i], edges[k + 2, i]
    )
    speeds[k + 1, i] = speed(edges[k + 1, i], i)
    k, i = np.nonzero((speeds[1:] - wanted) * (speeds[:-1] - wanted) < 0.0)
    roots = np.full((_SAMPLES, len(ways)), np.nan)
    roots[k, i] = bisect(lambda a: speed(a, i) - wanted[i], edges[k, i], edges[k + 1, i])
    a = np.where(firms, np.fmax.reduce(roots), np.fmin.reduce(roots))
    offset = (drift * influence(a, ratios)[1] - ways) / gone(a, ratios)
    span = np.stack([speeds.min(axis=0), speeds.max(axis=0)], axis=-1) / times[:, None]
    found = gains(a, ratios, times, 1.0, (~np.isnan(roots)).sum(axis=0), 0)
    return reshaped(found, shape), offset.reshape(shape), span.reshape(*shape, 2)


def _extremum(
    function: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Where a function with one maximum in between is largest, by golden sections."""
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    for _ in range(50):
        left, right = high - golden * (high - low), low + golden * (high - low)
        better = function(left) > function(right)
        low, high = np.where(better, low, left), np.where(better, right, high)
    return 0.5 * (low + high)
