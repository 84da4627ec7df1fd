# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bones are, for all samples at once: what hangs on what, turned, carried along, scaled.

Numpy only, but for what a bone's channels are read from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import bpy
import numpy as np

from ....solvers import rotations

_UNTURNED_RIGHT, _UNTURNED_MATRIX = np.eye(4), np.eye(3)


class Link(NamedTuple):
    """How what is rigidly tied to a bone stands in its axes: a turn, and an offset.

    Attributes:
        right: (4, 4) takes quaternions to their products with the turn.
        matrix: (3, 3) of the turn.
        offset: (3,) in units of the bone.
    """

    right: np.ndarray
    matrix: np.ndarray
    offset: np.ndarray

    def then(self, other: Link) -> Link:
        """What hangs on this by another link.

        Args:
            other: the link from this one.
        """
        return Link(
            other.right @ self.right,
            self.matrix @ other.matrix,
            self.offset + self.matrix @ other.offset,
        )

    @classmethod
    def of(cls, turn: np.ndarray, offset: np.ndarray) -> Link:
        """A link from numbers.

        Args:
            turn: (4,) quaternion.
            offset: (3,).
        """
        return cls(rotations.right_product(turn), rotations.to_matrix(turn), offset)


class Pose:
    """Where a bone is in armature space.

    Much that hangs rigidly on a bone is asked for nothing but where its own children
    are: what is tied to another pose by a link is computed when it is asked for, in one
    go from the last bone above that moves by itself.

    Args:
        rotation: (m, 4), or a pose that has the same.
        head: (m, 3), or a pose that has the same.
        scale: size of the bone, where it is the same along every axis.
        linear: (m, 3, 3) rotation and scale, or None where `scale` says it all.
    """

    __slots__ = ("_head", "_rotation", "_tie", "linear", "scale")

    def __init__(
        self,
        rotation: np.ndarray | Pose | None,
        head: np.ndarray | Pose | None,
        scale: np.ndarray,
        linear: np.ndarray | None = None,
        *,
        tie: tuple[Pose, Link] | None = None,
    ) -> None:
        self._rotation, self._head, self._tie = rotation, head, tie
        self.scale, self.linear = scale, linear

    @classmethod
    def of(cls, linear: np.ndarray, head: np.ndarray) -> Pose:
        """A pose from rotation and scale together; plain where the scale is even.

        Args:
            linear: (m, 3, 3).
            head: (m, 3).
        """
        lengths = np.linalg.norm(linear, axis=1)
        axes = linear / np.maximum(lengths, 1e-30)[:, None, :]
        skew = np.abs(np.einsum("mki,mkj->mij", axes, axes) - np.eye(3)).max()
        even = np.abs(lengths / lengths.mean(axis=1, keepdims=True) - 1.0).max()
        if skew < 1e-5 and even < 1e-5:
            return cls(rotations.from_matrix(axes), head, lengths.mean(axis=1))
        # The rotation nearest to a sheared matrix (polar decomposition).
        u, _, vt = np.linalg.svd(linear)
        return cls(rotations.from_matrix(u @ vt), head, lengths.mean(axis=1), linear)

    @property
    def rotation(self) -> np.ndarray:
        """(m, 4) quaternions."""
        if self._rotation is None:
            assert self._tie is not None
            base, link = self._tie
            self._rotation = rotations.product(link.right, base.rotation)
        elif isinstance(self._rotation, Pose):
            self._rotation = self._rotation.rotation
        return self._rotation

    @property
    def head(self) -> np.ndarray:
        """(m, 3) where the bone begins."""
        if self._head is None:
            assert self._tie is not None
            base, link = self._tie
            self._head = base.apply(link.offset)
        elif isinstance(self._head, Pose):
            self._head = self._head.head
        return self._head

    @property
    def matrices(self) -> np.ndarray:
        """(m, 4, 4) of the bone in armature space."""
        linear, head = self.as_linear(), self.head
        found = np.zeros((max(len(linear), len(head)), 4, 4))
        found[:, :3, :3], found[:, :3, 3], found[:, 3, 3] = linear, head, 1.0
        return found

    def as_linear(self) -> np.ndarray:
        """(m, 3, 3) rotation and scale together."""
        if self.linear is not None:
            return self.linear
        return rotations.to_matrix(self.rotation) * self.scale[:, None, None]

    @property
    def average(self) -> np.ndarray:
        """Size that has the volume of the bone's own."""
        if self.linear is None:
            return self.scale
        return np.cbrt(np.abs(np.linalg.det(self.linear)))

    @property
    def is_link(self) -> bool:
        """Whether it is one sample, and as large as in the rest pose."""
        return len(self.rotation) == len(self.head) == 1 and bool((self.scale == 1.0).all())

    def at(self, offset: np.ndarray) -> Pose:
        """What has its head at a place in this pose's axes, and is turned alike.

        Args:
            offset: (m, 3).
        """
        if not offset.any():
            return self
        if self.linear is None and len(offset) == 1:
            return self.tied(Link(_UNTURNED_RIGHT, _UNTURNED_MATRIX, offset[0]))
        return self.but(head=self.apply(offset if len(offset) > 1 else offset[0]))

    def but(
        self,
        rotation: np.ndarray | Pose | None = None,
        head: np.ndarray | Pose | None = None,
        scale: np.ndarray | None = None,
    ) -> Pose:
        """The same pose but for some of it.

        Args:
            rotation: (m, 4), or a pose that has it; None for its own.
            head: (m, 3), or a pose that has it; None for its own.
            scale: size; None for its own.
        """
        return Pose(
            self if rotation is None else rotation,
            self if head is None else head,
            self.scale if scale is None else scale,
            self.linear,
        )

    def has_head_of(self, other: Pose) -> bool:
        """Whether a pose is known to have its head where this one has it.

        Args:
            other: the other pose.
        """
        return self._headed() is other._headed()

    def _headed(self) -> object:
        if isinstance(self._head, Pose):
            return self._head._headed()
        return self if self._head is None else self._head

    def tied(self, link: Link) -> Pose:
        """The pose of what is rigidly tied to this one, which is scaled evenly.

        Args:
            link: how it stands in this one's axes.
        """
        assert self.linear is None
        base: Pose = self
        if self._tie is not None:
            base, own = self._tie
            link = own.then(link)
        return Pose(None, None, self.scale, tie=(base, link))

    def turned(self, turn: np.ndarray) -> np.ndarray:
        """Rotations (m, 4) of what is turned by as much in the bone's axes.

        Args:
            turn: (4,) quaternion.
        """
        right = rotations.right_product(turn)
        if self._rotation is None:
            assert self._tie is not None
            base, link = self._tie
            return rotations.product(right @ link.right, base.rotation)
        return rotations.product(right, self.rotation)

    def apply(self, offset: np.ndarray) -> np.ndarray:
        """Armature-space position (m, 3) of a point given in the bone's axes.

        Args:
            offset: (3,) or (m, 3).
        """
        if not offset.any():
            return self.head
        moved = self.turn(offset)
        if len(moved) == len(self.head):
            moved += self.head
            return moved
        return self.head + moved

    def turn(self, vector: np.ndarray) -> np.ndarray:
        """Armature-space vector (m, 3) of one given in the bone's axes.

        Args:
            vector: (3,) or (m, 3).
        """
        if self.linear is None:
            if vector.ndim == 1 and len(self.scale) == 1:
                return rotations.rotate_one(self.rotation, vector * self.scale)
            return rotations.rotate(self.rotation, vector * self.scale[:, None])
        return np.einsum("mij,...j->mi" if vector.ndim == 1 else "mij,mj->mi", self.linear, vector)

    def turn_back(self, vector: np.ndarray) -> np.ndarray:
        """Undo `turn`.

        Args:
            vector: (m, 3).
        """
        if self.linear is None:
            turned = rotations.rotate(rotations.conjugate(self.rotation), vector)
            return turned if (self.scale == 1.0).all() else turned / self.scale[:, None]
        return np.einsum("mij,mj->mi", np.linalg.inv(self.linear), vector)


# The channels of a bone in its rest pose.
AT_REST = Pose(np.array([[1.0, 0.0, 0.0, 0.0]]), np.zeros((1, 3)), np.ones(1))


@dataclass(frozen=True)
class Basis:
    """The channels of a bone as they stand, or at each sample as something else moves it.

    Attributes:
        place: (m, 3) location.
        rotation: (m, 4).
        size: (m, 3) scale.
        spins: (m, 3) whole turns about its axes that its angles count besides, or None where
            they do not matter.
    """

    place: np.ndarray
    rotation: np.ndarray
    size: np.ndarray
    spins: np.ndarray | None = None

    @classmethod
    def of(cls, matrices: np.ndarray, size: np.ndarray | None = None) -> Basis:
        """Take matrices of channels apart.

        Args:
            matrices: (m, 4, 4) as `PoseBone.matrix_basis`.
            size: (m, 3) scale; None for what the matrices say.
        """
        linear = matrices[:, :3, :3]
        lengths = np.linalg.norm(linear, axis=1)
        axes = linear / np.maximum(lengths, 1e-30)[:, None, :]
        size = lengths if size is None else size
        return cls(matrices[:, :3, 3], rotations.from_matrix(axes), size)

    @classmethod
    def standing(cls, bone: bpy.types.PoseBone) -> Basis:
        """Those of one bone, as one sample.

        Args:
            bone: the bone, evaluated or not.
        """
        return cls.of(
            np.array(bone.matrix_basis, dtype=float)[None], np.array([bone.scale], dtype=float)
        )

    @property
    def is_even(self) -> bool:
        """Whether it is scaled evenly."""
        return bool(np.abs(self.size - self.size[:, :1]).max() < 1e-6)
