# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of the ground under a motion, and the way between them and the world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solvers.motion import Terrain, TurningMotion
from ...solvers.rotations import continuous, from_matrix, multiply, normalise
from .signals import at_times

LOOKS = 4  # at terrain, each a tenth as far off as the one before


@dataclass(frozen=True)
class Ground:
    """Ground space: x left of travel, y back, z along the normal, foot at the origin.

    Attributes:
        origin: (n, 3) foot of the pendulum in the world.
        axes: (n, 3, 3) columns left, back, normal.
        rotation: (n, 4) the same as quaternions.
        spacing: seconds between samples.
        motion: the motion whose ground it is.
    """

    origin: np.ndarray
    axes: np.ndarray
    rotation: np.ndarray
    spacing: float
    motion: TurningMotion

    def over(self, points: np.ndarray) -> np.ndarray:
        """How far terrain lies over the ground's plane at points of it, (n,) m.

        Args:
            points: (n, 3) ground space; their heights do not count.
        """
        if not self.motion.surfaces:
            return np.zeros(len(points))
        return terrain_over(self.motion, self.world(points * (1.0, 1.0, 0.0)))

    def world(self, points: np.ndarray) -> np.ndarray:
        """World positions (n, 3) of points (n, 3) in ground space.

        Args:
            points: (n, 3).
        """
        return self.origin + np.einsum("nij,nj->ni", self.axes, points)

    def frames_at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Origins (m, 3) and axes (m, 3, 3) of ground space between samples.

        Args:
            times: (m,) seconds.
        """
        origin = at_times(self.origin, self.spacing, times)
        axes = at_times(self.axes.reshape(-1, 9), self.spacing, times).reshape(-1, 3, 3)
        # Interpolated axes are square only nearly; a point must lie in the ground.
        normal = normalise(axes[:, :, 2])
        left = axes[:, :, 0]
        left = normalise(left - normal * np.einsum("ij,ij->i", normal, left)[:, None])
        return origin, np.stack((left, np.cross(normal, left), normal), axis=-1)

    def local(self, place: np.ndarray, rows: np.ndarray | slice) -> np.ndarray:
        """Where a fixed point of the world is in ground space, for some samples.

        Args:
            place: (3,) world position.
            rows: which samples.
        """
        return np.einsum("nij,ni->nj", self.axes[rows], place - self.origin[rows])

    def turned(self, rotation: np.ndarray) -> np.ndarray:
        """World rotations (n, 4), sign-continuous, of rotations in ground space.

        Args:
            rotation: (n, 4) quaternions.
        """
        return continuous(multiply(self.rotation, rotation))

    def all_turned(self, rotations: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """World rotations of many roles; roles that share an array share the result.

        Args:
            rotations: role -> (n, 4) quaternions in ground space.
        """
        done = {id(turn): turn for turn in rotations.values()}
        turned = {key: self.turned(turn) for key, turn in done.items()}
        return {role: turned[id(turn)] for role, turn in rotations.items()}


def ground_frames(motion: TurningMotion) -> Ground:
    """Ground frames of a motion.

    Args:
        motion: the motion.
    """
    axes = np.stack((motion.left, -np.asarray(motion.forward), motion.normal), axis=-1)
    spacing = float(motion.time[1] - motion.time[0]) if len(motion.time) > 1 else 0.0
    origin = np.asarray(motion.position, dtype=float)
    return Ground(origin, axes, from_matrix(axes), spacing, motion)


def terrain_over(motion: TurningMotion, place: np.ndarray) -> np.ndarray:
    """How far terrain lies over points along the ground's normal, (n,) m.

    0 where the motion is on no terrain, or there is none under or over a point.

    Args:
        motion: the motion.
        place: (n, 3) points in the world, one for each sample.
    """
    over = np.zeros(len(place))
    for start, end, surface in motion.surfaces:
        rows = (motion.time >= start - 1e-9) & (motion.time <= end + 1e-9)
        over[rows] = height_over(surface, place[rows], motion.normal[rows])
    return over


def height_over(surface: Terrain, place: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """How far a surface lies over points along normals, (n,) m; 0 where it is not.

    Args:
        surface: the terrain.
        place: (n, 3) points in the world.
        normal: (n, 3) unit vectors.
    """
    over = np.zeros(len(place))
    # Along the vertical, then shortened to the normal: exact at once for parallel planes.
    for _ in range(LOOKS):
        x, y, z = (place + over[:, None] * normal).T
        missing = surface.height(x, y, z) - z
        over += np.where(np.isfinite(missing), missing * normal[:, 2], 0.0)
    return over
