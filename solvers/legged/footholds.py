# SPDX-License-Identifier: GPL-3.0-or-later
"""Footholds: where on the ground the feet of a moving body are set down.

Girard 1986, sections 3.1 and 4.4: a foothold brings the leg to its stable
reference position halfway through the support. So it belongs to the pose of
the body at midstance, not at touchdown (at a run the two are some 0.4 m
apart): under the hip as in the rest pose, turned by the yaw, and in a bend
hip height * tan(bank) farther out. That is the height of the hip as it leans,
which is cos(bank) of its height in rest, as legs get no longer by leaning.

On terrain a foothold has to be on the ground, not too steep, not on an edge,
and within a step's height of the leg's last one (slopes are none), and neither heel nor toe may
be in a wall or in the next stair; toes may hang over an edge. Where it is not
so, places around it are tried from near to far, those that shorten the step
first.
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

ROOM = 0.1  # likewise, behind and ahead: heels that come down close to a stair scrape it, and so
# do toes that are lifted close to one
HELD = 0.25  # likewise, behind the point that it bears on: so much is not over an edge
SHARES = ((1.0, ROOM), (1.0, 0.0), (0.6, 0.0), (0.2, 0.0))  # of heels, and room around soles

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
        most_step: largest step up or down between footholds of a leg that follow
            each other (`step_height`), m.
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
        place, up = position[own], normal[own]
        bad = ~good[own]
        bad[1:] |= step_height(place[:-1], up[:-1], place[1:], up[1:]) > most_step
        if not bad.any():
            continue
        last, was = place[0].copy(), up[0].copy()
        for k, step in enumerate(own):
            here = position[step], normal[step]
            if good[step] and (k == 0 or step_height(last, was, *here) <= most_step):
                last, was = position[step].copy(), normal[step].copy()
                continue
            around = ask, wanted[step], yaw[step], sole[step], last, was
            found = _look_around(*around, most_step, search)
            higher = None
            if found is None and not good[step]:
                # Better a step too high than a foot in, or over, ground that is there.
                higher = _look_around(*around, math.inf, search)
            if found is not None:
                position[step], normal[step], moved[step] = found
                state[step] = MOVED if moved[step] > 0.0 else GOOD
            elif higher is not None:
                position[step], normal[step], moved[step] = higher
                state[step] = TOO_HIGH
            elif good[step]:
                state[step] = TOO_HIGH
            else:
                state[step] = NO_GROUND
                position[step, 2] = last[2]
                normal[step] = (0.0, 0.0, 1.0)
            last, was = position[step].copy(), normal[step].copy()
    return Footholds(position, normal, state, moved)


def can_stand(
    wanted: np.ndarray, yaw: np.ndarray, ground: Ground, steepest: float, sole: np.ndarray
) -> np.ndarray:
    """Whether whole soles can stand where they are wanted.

    Args:
        wanted: (m, 2) m.
        yaw: (m,) direction of travel there, rad.
        ground: the terrain.
        steepest: slope of ground that still carries, rad.
        sole: (m, 2) as for `place_footholds`, m.

    Returns:
        (m,) bool.
    """
    return _Asking(ground, steepest)(wanted, yaw, sole)[2]


def step_height(
    one: np.ndarray, up: np.ndarray, two: np.ndarray, also_up: np.ndarray
) -> np.ndarray:
    """How far a foothold is over or under the ground as it goes on from another.

    A slope is no step, however long the stride is: the height that counts is over the
    mean of the two planes through the footholds.

    Args:
        one: (..., 3) foothold, m.
        up: (..., 3) unit normal there.
        two: (..., 3) the next one, m.
        also_up: (..., 3) unit normal there.

    Returns:
        (...) m, at least 0.
    """
    way = two - one
    slope = 0.5 * (up[..., :2] / up[..., 2:] + also_up[..., :2] / also_up[..., 2:])
    return np.abs(way[..., 2] + np.sum(slope * way[..., :2], axis=-1))


class _Asking:
    """Where a foot can stand."""

    def __init__(self, ground: Ground, steepest: float) -> None:
        self.ground, self.steepest = ground, steepest

    def __call__(
        self, place: np.ndarray, yaw: np.ndarray, sole: np.ndarray, room: float = ROOM
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Heights, normals that point up, and whether a foot can stand there.

        A foot on toes bears on their ball, behind the place.
        """
        forward, _ = forward_left(yaw)
        ball = np.minimum(sole[:, 1], 0.0)[:, None] * forward
        z, normal, hit = self.ground(*(place + ball).T)
        z, normal = np.asarray(z, dtype=float), np.array(normal, dtype=float)
        normal[normal[:, 2] < 0.0] *= -1.0
        size = np.linalg.norm(normal, axis=1)
        with np.errstate(invalid="ignore"):
            good = np.asarray(hit, dtype=bool) & np.isfinite(z)
            good &= normal[:, 2] >= math.cos(self.steepest) * size - 1e-12
            good &= size > 1e-9
        normal[~good] = (0.0, 0.0, 1.0)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        slope = normal[:, :2] / normal[:, 2:]
        z = z + np.sum(slope * ball, axis=1)
        length = sole.sum(axis=1)
        long = np.flatnonzero(good & (length > 0.0))
        if len(long):
            space = room * length[long]
            behind, ahead = sole[long, 0] + space, np.maximum(sole[long, 1], 0.0) + space
            edge = np.minimum(sole[long, 1], 0.0) - HELD * length[long]
            for far, above in ((-behind, True), (ahead, True), (edge, False)):
                step = far[:, None] * forward[long]
                there, _, solid = self.ground(*(place[long] + step).T)
                over = np.asarray(there, dtype=float) - z[long]
                over += np.sum(slope[long] * step, axis=1)
                solid = np.asarray(solid, dtype=bool)
                with np.errstate(invalid="ignore"):
                    if above:
                        bad = solid & (over > STUCK * length[long])
                    else:
                        bad = ~solid | (over < -STUCK * length[long])
                good[long[bad]] = False
        return z, normal, good


def _look_around(
    ask: _Asking,
    wanted: np.ndarray,
    yaw: float,
    sole: np.ndarray,
    last: np.ndarray,
    was: np.ndarray,
    most_step: float,
    search: float,
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """The nearest place that will do: (3,) place, (3,) normal, and how far it is.

    Where there is none for the whole sole, one for less of it.
    """
    forward, left = forward_left(np.asarray(yaw))
    ring = np.append(0.0, np.repeat(_RINGS, len(_WAYS)) * search)
    way = np.append(0.0, np.tile(_WAYS, len(_RINGS)))
    offset = ring[:, None] * (np.cos(way)[:, None] * forward + np.sin(way)[:, None] * left)
    count = len(ring)
    for share, room in SHARES if sole.any() else SHARES[:1]:
        part = np.tile((share * max(sole[0], 0.0), sole[1]), (count, 1))
        z, normal, good = ask(wanted + offset, np.full(count, yaw), part, room)
        place = np.column_stack((wanted + offset, np.where(good, z, last[2])))
        good &= step_height(last, was, place, normal) <= most_step
        if good.any():
            best = int(np.argmax(good))
            return place[best], normal[best], float(ring[best])
    return None
