# SPDX-License-Identifier: GPL-3.0-or-later
"""Balls that fly freely and hit limbs.

A limb is the segment from its joint to its tip, as thick as its radius. At the nearest
point, with the unit normal n from the limb to the ball and the row j = n^T J that rates
move the point by, a hit without friction gives the impulse

    p = -(1 + e) (n . v_ball - j y') / (1 / m + j M^-1 j^T)

to the ball, and changes all rates by -M^-1 j^T p.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .. import rotations
from .disturbances import Ball


class Contact(NamedTuple):
    """A hit.

    Attributes:
        time: s.
        ball: index among the balls.
        link: index of the link that was hit.
        place: (3,) in space, m.
        impulse: N s, on the ball along the normal.
    """

    time: float
    ball: int
    link: int
    place: np.ndarray
    impulse: float


class Flight:
    """Balls in the air.

    Args:
        balls: in any order.
        gravity: (3,) in space, m/s^2.
    """

    def __init__(self, balls: Sequence[Ball], gravity: np.ndarray) -> None:
        self.balls, self.gravity = tuple(balls), gravity
        self.places = np.array([ball.place for ball in balls], float).reshape(-1, 3)
        self.velocities = np.array([ball.velocity for ball in balls], float).reshape(-1, 3)
        self.released = np.array([ball.time for ball in balls], float)
        self.radii = np.array([ball.radius for ball in balls], float)
        self.now = 0.0

    def advance(self, time: float) -> None:
        """Fly on until a time.

        Args:
            time: s.
        """
        for_how_long = (time - np.maximum(self.released, self.now)).clip(0.0)[:, None]
        self.places += for_how_long * (self.velocities + 0.5 * for_how_long * self.gravity)
        self.velocities += for_how_long * self.gravity
        self.now = time

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m, b, 3) where the balls will be if they hit nothing, m, nan before they are let go,
        and (m, b, 3) their velocities, m/s.

        Args:
            times: (m,) s, from now on.
        """
        flown = (times[:, None] - np.maximum(self.released, self.now)).clip(0.0)[:, :, None]
        fallen = flown * self.gravity
        places = self.places + flown * (self.velocities + 0.5 * fallen)
        return (
            np.where((self.released < times[:, None])[:, :, None], places, np.nan),
            self.velocities + fallen,
        )

    def seen(self) -> np.ndarray:
        """(b, 3) places of the balls, m; nan before they are let go."""
        return np.where(self.released[:, None] <= self.now, self.places, np.nan)


def gaps(
    thick: np.ndarray, places: np.ndarray, radii: np.ndarray, joints: np.ndarray, tips: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How far balls are from limbs.

    Args:
        thick: (n,) radii of the limbs, m.
        places: (..., b, 3) of the balls, m.
        radii: (b,) of the balls, m.
        joints: (..., n, 3) of the limbs, m.
        tips: (..., n, 3) m.

    Returns:
        (..., b, n) gaps between the surfaces, m; (..., b, n, 3) from the limbs' lines to the
        balls; (..., b, n) at which shares of the limbs.
    """
    along = (tips - joints)[..., None, :, :]
    away = places[..., :, None, :] - joints[..., None, :, :]
    square = np.maximum(rotations.dot(along, along), 1e-18)
    share = np.clip(rotations.dot(away, along) / square, 0.0, 1.0)
    offset = away - share[..., None] * along
    distance = np.sqrt(rotations.dot(offset, offset))
    return distance - thick - radii[:, None], offset, share


def touching(
    thick: np.ndarray, flight: Flight, places: np.ndarray, joints: np.ndarray, tips: np.ndarray
) -> list[tuple[int, int, np.ndarray, np.ndarray]]:
    """Which balls touch which limbs.

    Args:
        thick: (n,) radii of the limbs, m.
        flight: the balls.
        places: (b, 3) where the balls are, in the carrier's frame, m.
        joints: (n, 3) of the limbs, likewise.
        tips: (n, 3) likewise.

    Returns:
        Ball, link, nearest point of the limb's surface (3,), normal (3,) to the ball.
    """
    gap, offset, share = gaps(thick, places, flight.radii, joints, tips)
    found = []
    for b in np.flatnonzero((flight.released < flight.now) & (gap < 0.0).any(axis=1)):
        link = int(np.argmin(gap[b]))
        distance = float(np.sqrt(offset[b, link] @ offset[b, link]))
        if distance > 0.0:
            normal = offset[b, link] / distance
            line = joints[link] + share[b, link] * (tips[link] - joints[link])
            found.append((int(b), link, line + thick[link] * normal, normal))
    return found


def impulse(ball: Ball, approach: float, row: np.ndarray, answer: np.ndarray) -> float:
    """p, the impulse of a hit on the ball along the normal, N s.

    Args:
        ball: its mass and restitution.
        approach: n . v_ball - j y', m/s; below 0, or they part.
        row: (m,) j, what rates do to the point along the normal.
        answer: (m,) M^-1 j^T.
    """
    return -(1.0 + ball.restitution) * approach / (1.0 / ball.mass + row @ answer)
