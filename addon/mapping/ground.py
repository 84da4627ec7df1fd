# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of the ground under a motion, and the way between them and the world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solvers.motion import TurningMotion
from ...solvers.rotations import continuous, from_matrix, multiply
from .signals import at_times


@dataclass(frozen=True)
class Ground:
    """Ground space: x left of travel, y back, z along the normal, foot at the origin.

    Attributes:
        origin: (n, 3) foot of the pendulum in the world.
        axes: (n, 3, 3) columns left, back, normal.
        rotation: (n, 4) the same as quaternions.
        spacing: seconds between samples.
    """

    origin: np.ndarray
    axes: np.ndarray
    rotation: np.ndarray
    spacing: float

    def world(self, points: np.ndarray) -> np.ndarray:
        """World positions (n, 3) of points (n, 3) in ground space.

        Args:
            points: (n, 3).
        """
        return self.origin + np.einsum("nij,nj->ni", self.axes, points)

    def world_at(self, point: np.ndarray, time: float) -> np.ndarray:
        """World position (3,) of a point in the ground space of an instant.

        Args:
            point: (3,) in ground space.
            time: seconds.
        """
        origin = at_times(self.origin, self.spacing, np.array([time]))[0]
        axes = at_times(self.axes.reshape(-1, 9), self.spacing, np.array([time]))[0].reshape(3, 3)
        # Interpolated axes are square only nearly; the point must lie in the ground.
        normal = axes[:, 2] / np.linalg.norm(axes[:, 2])
        left = axes[:, 0] - normal * (normal @ axes[:, 0])
        left /= np.linalg.norm(left)
        return origin + np.stack((left, np.cross(normal, left), normal), axis=1) @ point

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


def ground_frames(motion: TurningMotion) -> Ground:
    """Ground frames of a motion.

    Args:
        motion: the motion.
    """
    axes = np.stack((motion.left, -np.asarray(motion.forward), motion.normal), axis=-1)
    spacing = float(motion.time[1] - motion.time[0]) if len(motion.time) > 1 else 0.0
    return Ground(np.asarray(motion.position, dtype=float), axes, from_matrix(axes), spacing)
