# SPDX-License-Identifier: GPL-3.0-or-later
"""Footholds: where on the ground the feet of a moving body are set down.

Girard 1986, sections 3.1 and 4.4: a foothold brings the leg to its stable
reference position halfway through the support. So it belongs to the pose of
the body at midstance, not at touchdown (at a run the two are some 0.4 m
apart): under the hip as in the rest pose, turned by the yaw, and in a bend
hip height * tan(bank) farther out. That is the height of the hip as it leans,
which is cos(bank) of its height in rest, as legs get no longer by leaning.

On terrain a foothold has to be on the ground, not too steep, and within a
step's height of the leg's last one, and neither heel nor toe may be in a wall
or in the next stair. Where it is not so, places around it are
tried from near to far, those that shorten the step first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Ground = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""(n,) x and (n,) y in m -> (n,) height in m, (n, 3) unit normals, (n,) bool: is there ground."""

GOOD, MOVED, TOO_HIGH, NO_GROUND = range(4)

STUCK = 0.25  # of the sole's length: ground under its ends that is higher is in the way

_RINGS = (0.15, 0.3, 0.45, 0.6, 0.8, 1.0)
_WAYS = tuple(math.radians(a) for a in (180, 150, 210, 0, 120, 240, 90, 270, 60, 300))


def level_ground(height: float = 0.0) -> Ground:
    """Ground that is a horizontal plane.

    Args:
        height: m.

    Returns:
        The ground.
    """

    def ground(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        normal = np.zeros((*np.shape(x), 3))
        normal[..., 2] = 1.0
        return np.full(np.shape(x), height), normal, np.ones(np.shape(x), dtype=bool)

    return ground


def forward_left(yaw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors ahead and to the left in the ground plan: yaw 0 faces -Y.

    Args:
        yaw: (...) rad.

    Returns:
        (..., 2) and (..., 2).
    """
    c, s = np.cos(yaw), np.sin(yaw)
    return np.stack((s, -c), axis=-1), np.stack((c, s), axis=-1)


def reference_places(
    body: np.ndarray,
    yaw: np.ndarray,
    offset: np.ndarray,
    bank: np.ndarray,
    height: np.ndarray,
) -> np.ndarray:
    """Stable reference positions of feet at midstance.

    Girard 1986, section 4.4: sideStep = hipHeight tan(bank), to the outside,
    where hipHeight is `height` cos(bank).

    Args:
        body: (m, 2) the body's centre at midstance, m.
        yaw: (m,) rad.
        offset: (m, 2) of the feet from the centre in rest, x to the left and y to
            the rear, m.
        bank: (m,) lean, rad, + left.
        height: (m,) of the hips over the feet in rest, m.

    Returns:
        (m, 2) m.
    """
    forward, left = forward_left(yaw)
    aside = offset[:, 0] - height * np.cos(bank) * np.tan(bank)
    return body + aside[:, None] * left - offset[:, 1, None] * forward


@dataclass(frozen=True)
class Footholds:
    """Places of feet on the ground.

    Attributes:
        position: (m, 3) m.
        normal: (m, 3) unit normals of the ground.
        state: (m,) GOOD, MOVED (to a better place), TOO_HIGH (above or below
            the last one by more than a step) or NO_GROUND (the height is
            that of the leg's last foothold).
        moved: (m,) how far from where it was wanted, m.
    """

    position: np.ndarray
    normal: np.ndarray
    state: np.ndarray
    moved: np.ndarray


def place_footholds(
    wanted: np.ndarray,
    yaw: np.ndarray,
    leg: np.ndarray,
    ground: Ground,
    most_step: float,
    search: float,
    steepest: float,
    start_height: float,
    sole: np.ndarray | None = None,
) -> Footholds:
    """Set feet down on terrain.

    Args:
        wanted: (m, 2) where feet should stand, m; steps of a leg in order.
        yaw: (m,) direction of travel there, rad.
        leg: (m,) which leg each is of.
        ground: the terrain.
        most_step: largest difference of height between footholds of a leg that
            follow each other, m.
        search: how far around better places are looked for, m.
        steepest: slope of ground that still carries, rad.
        start_height: height of ground that is missing from the start, m.
        sole: (m, 2) how far soles reach behind and ahead of the places, m;
            None for points.

    Returns:
        The footholds.
    """
    m = len(wanted)
    if sole is None:
        sole = np.zeros((m, 2))
    ask = _Asking(ground, steepest)
    z, normal, good = ask(wanted, yaw, sole)
    position = np.column_stack((wanted, np.where(good, z, start_height)))
    state, moved = np.full(m, GOOD), np.zeros(m)
    for one in np.unique(leg):
        own = np.flatnonzero(leg == one)
        jump = np.abs(np.diff(position[own, 2])) > most_step
        bad = ~good[own]
        bad[1:] |= jump
        if not bad.any():
            continue
        last = float(z[own[0]]) if good[own[0]] else start_height
        for k, step in enumerate(own):
            first = k == 0 and good[step]
            if good[step] and (first or abs(z[step] - last) <= most_step):
                last = float(z[step])
                continue
            found = _look_around(ask, wanted[step], yaw[step], sole[step], last, most_step, search)
            if found is not None:
                place, normal[step], far = found
                position[step], state[step], moved[step] = place, MOVED, far
                last = float(place[2])
            elif good[step]:
                state[step] = TOO_HIGH
                last = float(z[step])
            else:
                state[step] = NO_GROUND
                position[step, 2] = last
                normal[step] = (0.0, 0.0, 1.0)
    return Footholds(position, normal, state, moved)


class _Asking:
    """Where a foot can stand."""

    def __init__(self, ground: Ground, steepest: float) -> None:
        self.ground, self.steepest = ground, steepest

    def __call__(
        self, place: np.ndarray, yaw: np.ndarray, sole: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Heights, normals that point up, and whether a foot can stand there."""
        z, normal, hit = self.ground(place[:, 0], place[:, 1])
        z, normal = np.asarray(z, dtype=float), np.array(normal, dtype=float)
        normal[normal[:, 2] < 0.0] *= -1.0
        size = np.linalg.norm(normal, axis=1)
        with np.errstate(invalid="ignore"):
            good = np.asarray(hit, dtype=bool) & np.isfinite(z)
            good &= normal[:, 2] >= math.cos(self.steepest) * size - 1e-12
            good &= size > 1e-9
        normal[~good] = (0.0, 0.0, 1.0)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        forward, _ = forward_left(yaw)
        for column, sign in ((0, -1.0), (1, 1.0)):
            long = np.flatnonzero(good & (sole[:, column] > 0.0))
            if not len(long):
                continue
            step = sign * sole[long, column, None] * forward[long]
            there, _, solid = self.ground(*(place[long] + step).T)
            plane = z[long] - np.sum(normal[long, :2] * step, axis=1) / normal[long, 2]
            with np.errstate(invalid="ignore"):
                stuck = np.asarray(solid, dtype=bool) & (
                    np.asarray(there, dtype=float) > plane + STUCK * sole[long].sum(axis=1)
                )
            good[long[stuck]] = False
        return z, normal, good


def _look_around(
    ask: _Asking,
    wanted: np.ndarray,
    yaw: float,
    sole: np.ndarray,
    last: float,
    most_step: float,
    search: float,
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """The nearest place that will do: (3,) place, (3,) normal, and how far it is."""
    forward, left = forward_left(np.asarray(yaw))
    ring = np.repeat(_RINGS, len(_WAYS)) * search
    way = np.tile(_WAYS, len(_RINGS))
    offset = ring[:, None] * (np.cos(way)[:, None] * forward + np.sin(way)[:, None] * left)
    count = len(ring)
    z, normal, good = ask(wanted + offset, np.full(count, yaw), np.tile(sole, (count, 1)))
    with np.errstate(invalid="ignore"):
        good &= np.abs(z - last) <= most_step
    if not good.any():
        return None
    best = int(np.argmax(good))
    return np.append(wanted + offset[best], z[best]), normal[best], float(ring[best])
