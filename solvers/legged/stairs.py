# SPDX-License-Identifier: GPL-3.0-or-later
"""Stairs along a way: where the ground's height changes by one tread after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .footholds import Ground
from .path import Path

RISER = (0.03, 0.45)  # hip heights of stairs: lower ones are walked over, higher ones are steps
TREAD = (0.08, 0.8)  # hip heights from one stair to the next
STEEP = 2.0  # tangent of what is a riser, not a slope
EVEN = 1.5  # times as deep as its neighbour a tread of the same flight is at most
EASY = 0.44  # hip heights that a leg steps up or down with ease
LOOKS = 0.012  # hip heights between the places at which the ground is looked up
POINTS = 60_000  # of them, at most
AS_GOOD = 0.03  # share of feet: to stand better by less is not worth a round


@dataclass(frozen=True)
class Flight:
    """Stairs that follow each other, all up or all down.

    Attributes:
        start: way to the first riser, m.
        end: way to the last one, m.
        tread: from one riser to the next, m.
        rise: height of one, m, above 0.
    """

    start: float
    end: float
    tread: float
    rise: float


def find_flights(ground: Ground, path: Path, length: float, hip: float) -> list[Flight]:
    """Flights of stairs along a path.

    Args:
        ground: the terrain.
        path: the way.
        length: how far along it is looked, m.
        hip: hip height, m.

    Returns:
        Those of two risers and more, in order.
    """
    count = min(int(length / (LOOKS * hip)) + 2, POINTS)
    way = np.linspace(0.0, length, count)
    z, _, hit = ground(*path.at(way)[0].T)
    z = np.where(np.asarray(hit, dtype=bool), np.asarray(z, dtype=float), np.nan)
    jump, apart = np.diff(z), np.diff(way)
    with np.errstate(invalid="ignore"):
        steep = np.abs(jump) > STEEP * apart
    # A riser that is no wall takes more than one look.
    edges = np.flatnonzero(np.diff(np.concatenate(([False], steep, [False]))))
    place, rise = [], []
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        height = float(z[last] - z[first])
        if RISER[0] * hip <= abs(height) <= RISER[1] * hip:
            place.append(0.5 * (way[first] + way[last]))
            rise.append(height)
    flights: list[Flight] = []
    run: list[int] = []
    for k in range(len(place) + 1):
        if run and k < len(place):
            tread = place[k] - place[run[-1]]
            before = place[run[-1]] - place[run[-2]] if len(run) > 1 else tread
            same = rise[k] * rise[run[-1]] > 0.0 and TREAD[0] * hip <= tread <= TREAD[1] * hip
            if same and max(tread, before) <= EVEN * min(tread, before):
                run.append(k)
                continue
        if len(run) > 1:
            at = np.array(place)[run]
            flights.append(Flight(
                float(at[0]), float(at[-1]), float(np.median(np.diff(at))),
                float(np.median(np.abs(np.array(rise)[run]))),
            ))
        run = [k]
    return flights


def treads_in_a_stride(flight: Flight, stride: float, hip: float) -> int:
    """How many treads a leg goes from one of its footholds to the next.

    As many as its stride has, but no higher than a leg steps with ease; an even number, so
    that legs that alternate stand on every tread or every second, or one.

    Args:
        flight: the stairs.
        stride: on level ground, m.
        hip: hip height, m.

    Returns:
        At least 1.
    """
    most = min(EASY * hip / flight.rise, 1.05 * stride / flight.tread)
    return max(2 * int(most / 2.0), 1)


def off_the_best(tread: float, good: np.ndarray, ahead: float) -> float:
    """How much earlier feet would have to come down to stand best on treads, in the mean.

    Where most of them can stand, and could too if they came down a little elsewhere.

    Args:
        tread: from one riser to the next, m.
        good: (k, m) bool: whether each of m feet can stand k-ths of a tread earlier.
        ahead: where it is as good that much further ahead it is better, m.

    Returns:
        m, from minus to plus half a tread.
    """
    count = len(good)
    window = np.bartlett(count // 2 + 3)[1:-1]
    free = np.roll(good, round(ahead / tread * count), axis=0)
    share = np.tile((good.astype(float) + (good & free)).mean(axis=1), 3)
    near = np.convolve(share, window / window.sum(), mode="same")[count : 2 * count]
    if near[0] >= near.max() - AS_GOOD:
        return 0.0
    best = np.flatnonzero(near >= near.max() - 1e-9)
    k = int(best[np.argmin(np.minimum(best, count - best))])
    return tread * (k if 2 * k <= count else k - count) / count
