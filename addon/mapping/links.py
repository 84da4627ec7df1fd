# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bones are whose joints turn: what joint tracks look like. Numpy only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...solvers import rotations
from .tracks import JointTracks


@dataclass(frozen=True)
class Links:
    """Bones as they hang on each other.

    Attributes:
        parents: bone -> its parent, "" of none; parents come first.
        rests: bone -> (4, 4) its rest pose in its parent's, in units of the armature.
        lengths: bone -> its length, likewise.
        world: (4, 4) from the armature to the world, m.
        below: how bones are turned that the motion does not turn, on its clock; None at rest.
    """

    parents: Mapping[str, str]
    rests: Mapping[str, np.ndarray]
    lengths: Mapping[str, float]
    world: np.ndarray
    below: JointTracks | None = None

    def ends(self, tracks: JointTracks) -> list[str]:
        """Bones that move, on which none hangs that moves.

        Args:
            tracks: how joints are turned.
        """
        moving = [name for name in self.parents if name in tracks.bones()]
        carrying = {self.parents[name] for name in moving}
        return [name for name in moving if name not in carrying]

    def places(self, tracks: JointTracks, rows: slice) -> dict[str, np.ndarray]:
        """Head and tail of the bones that move: P_b = P_parent R_b B_b, B_b the joint's turn.

        Args:
            tracks: how joints are turned.
            rows: which rows of the tracks.

        Returns:
            Bone -> (k, 2, 3) m in the world.
        """
        count, found = len(tracks.time[rows]), {}
        pose = {"": np.tile(self.world, (count, 1, 1))}
        for name, parent in self.parents.items():
            basis = np.tile(np.eye(4), (count, 1, 1))
            for source in (self.below, tracks):
                if source is not None and name in source.turn:
                    basis[:, :3, :3] = rotations.to_matrix(source.turn[name][rows])
                if source is not None and name in source.place:
                    basis[:, :3, 3] = source.place[name][rows]
            pose[name] = pose[parent] @ self.rests[name] @ basis
            if name in tracks.bones():
                head = pose[name][:, :3, 3]
                along = self.lengths[name] * pose[name][:, :3, 1]  # a bone is along its Y
                found[name] = np.stack((head, head + along), axis=1)
        return found
