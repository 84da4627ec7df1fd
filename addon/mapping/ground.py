# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of the ground under a motion, and the way between them and the world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solvers.motion import TurningMotion
from ...solvers.rotations import continuous, from_matrix, multiply, normalise
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
    return Ground(np.asarray(motion.position, dtype=float), axes, from_matrix(axes), spacing)
