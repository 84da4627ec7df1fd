# SPDX-License-Identifier: GPL-3.0-or-later
"""Role tracks to the channels of a rig's bones, for all samples at once.

A role's rotation turns its anatomical frame (character space in the rest
pose) into the world, and its position is that of the bone's head, so the
bone's world matrix is [position, rotation * axes * rest], where `axes` turns
armature space into character space. What is keyed is that matrix seen from
the armature object, then from the bone's parent, in the way Blender composes
a pose: parent transform * local offset * channels, with the bone's own
inherit-rotation, inherit-scale and local-location settings.

Only numbers are read from Blender here; nothing is written or evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import bpy
import numpy as np
from mathutils import Matrix

from ....solvers import rotations
from ...mapping.tracks import LOCATION_ONLY, base_role, only_turned
from . import rotation_modes
from .algebra import AT_REST, Basis, Link, Pose
from .channels import BoneTrack
from .frames import ArmatureFrames

_UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])


class _Bone:
    """What a bone's rest pose says, as numbers; `turn` and `link` are seen from its parent."""

    def __init__(self, bone: bpy.types.Bone, numbers: tuple[np.ndarray, ...]) -> None:
        self.rest, self.head, self.turn, right, matrix, offset = numbers
        self.link = Link(right, matrix, offset)
        self.length = bone.length
        self.parent = bone.parent.name if bone.parent else ""
        self.inherit_rotation = bone.use_inherit_rotation
        self.inherit_scale = bone.inherit_scale
        self.local_location = bone.use_local_location


class _Skeleton:
    """The rest pose of all bones: read at once, since one by one takes longer than a motion."""

    def __init__(self, armature: bpy.types.Object) -> None:
        self._bones = armature.data.bones
        self._index = {bone.name: i for i, bone in enumerate(self._bones)}
        count = len(self._index)
        matrices = np.empty(16 * count, np.float32)
        self._bones.foreach_get("matrix_local", matrices)
        # Blender keeps a matrix column by column.
        rest = matrices.reshape(count, 4, 4).transpose(0, 2, 1).astype(float)
        turned, head = rotations.from_matrix(rest[:, :3, :3]), rest[:, :3, 3]
        above = np.array(
            [self._index[b.parent.name] if b.parent else i for i, b in enumerate(self._bones)],
            dtype=int,
        )
        back = rotations.conjugate(turned[above])
        offset = rotations.rotate(back, head - head[above])
        turn = rotations.multiply(back, turned)
        self._numbers = (
            turned, head, turn, rotations.right_product(turn), rotations.to_matrix(turn), offset
        )

    def bone(self, name: str) -> _Bone:
        i = self._index[name]
        return _Bone(self._bones[name], tuple(values[i] for values in self._numbers))


@dataclass(frozen=True)
class _Frame:
    """What a bone's channels are relative to: Blender's bone parent transform."""

    axes: Pose  # for rotation and scale
    location: Pose  # for location; its head is the bone's own without location


class Computed(Protocol):
    """What constraints between a rig's bones do, see `constraints.Constraints`."""

    def known(self, name: str) -> bool:
        """Whether a bone's pose follows from those of the keyed bones."""

    def apply(
        self, solver: RigSolver, name: str, local: Pose | None
    ) -> tuple[Pose, Pose | None]:
        """Pose of a bone after its constraints, and its channels where they are known."""


class RigSolver:
    """Turns world-space targets of bones into their channels.

    Args:
        armature: the rig; its bones, modes and static pose are read.
        bindings: role -> bone.
        frames: the armature object in the world, one sample or one per target.
        unit_scale: metres per Blender unit.
        axes: quaternion that turns armature space into character space.
        evaluated: bone -> (m, 4, 4) pose matrices of unkeyed bones that move by
            themselves (keys of their own, constraints); others are taken to
            stay in their present pose relative to their parents.
        constraints: constraints between the rig's bones that are computed, too.
        moved: channels of bones that keys of the animator's own move, one sample per target.
    """

    def __init__(
        self,
        armature: bpy.types.Object,
        bindings: Mapping[str, str],
        frames: ArmatureFrames,
        unit_scale: float,
        axes: np.ndarray,
        evaluated: Mapping[str, np.ndarray] | None = None,
        constraints: Computed | None = None,
        moved: Mapping[str, Basis] | None = None,
    ) -> None:
        self._armature = armature
        self._moved = moved or {}
        self._constraints = constraints
        self._bindings = bindings
        self._frames = frames
        # Most rigs stand in the middle of the world, as they were made.
        self._upright = bool((frames.rotation == _UNTURNED).all())
        self._in_place = bool((frames.inverse == np.eye(4)).all())
        self._unit_scale = unit_scale
        self._axes = axes
        self._poses: dict[str, Pose] = {}
        self._locals: dict[str, Pose] = {}
        self._recent: tuple[str, _Frame] | None = None
        self._skeleton = _Skeleton(armature)
        self._bones: dict[str, _Bone] = {}
        self._targets: dict[str, tuple[str, np.ndarray | None, np.ndarray | None]] = {}
        self._only_poses = False
        self._tracks: dict[str, BoneTrack] = {}
        self._spins: dict[str, np.ndarray] = {}
        for name, matrices in (evaluated or {}).items():
            self._poses[name] = Pose.of(matrices[:, :3, :3], matrices[:, :3, 3])

    def bone(self, name: str) -> _Bone:
        """Rest pose of a bone as numbers.

        Args:
            name: name of the bone.
        """
        if name not in self._bones:
            self._bones[name] = self._skeleton.bone(name)
        return self._bones[name]

    def target(
        self, role: str, position: np.ndarray | None, rotation: np.ndarray | None
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Armature-space head and rotation that put a role's bone on its track.

        Args:
            role: the role.
            position: (m, 3) metres in the world, or None.
            rotation: (m, 4) of the anatomical frame in the world, or None.
        """
        head = turned = None
        if position is not None:
            inverse = self._frames.inverse
            units = position if self._unit_scale == 1.0 else position / self._unit_scale
            if len(inverse) > 1:
                head = np.einsum("mij,mj->mi", inverse[:, :3, :3], units)
                head += inverse[:, :3, 3]
            elif self._in_place:
                head = units
            else:
                head = rotations.product(inverse[0, :3, :3], units)
                head += inverse[0, :3, 3]
        if rotation is not None:
            rest = rotations.multiply(self._axes, self.bone(self._bindings[role]).rest)
            turned = rotations.times(rotation, rest)
            if not self._upright:
                turned = rotations.multiply(rotations.conjugate(self._frames.rotation), turned)
        return head, turned

    def solve(
        self,
        position: Mapping[str, np.ndarray],
        rotation: Mapping[str, np.ndarray],
        spins: Mapping[str, np.ndarray] | None = None,
    ) -> list[BoneTrack]:
        """Channels of every bound bone that the tracks tell something of.

        Args:
            position: role -> (m, 3) metres in the world.
            rotation: role -> (m, 4) of the anatomical frame in the world.
            spins: role -> (m,) how far it has turned about its own x axis, so
                that angles keep count of turns between samples.

        Returns:
            One track per bone, parents before children.
        """
        self._only_poses = False
        self._tracks = {}
        self._spins = dict(spins or {})
        self._aim(position, rotation)
        for bone in self._targets:
            self.pose(bone)
        return list(self._tracks.values())

    def follow(
        self, position: Mapping[str, np.ndarray], rotation: Mapping[str, np.ndarray]
    ) -> None:
        """Let bound bones go where the tracks say, for `pose` to tell; no channels are made.

        Args:
            position: role -> (m, 3) metres in the world.
            rotation: role -> (m, 4) of the anatomical frame in the world.
        """
        self._only_poses = True
        self._aim(position, rotation)

    def _aim(
        self, position: Mapping[str, np.ndarray], rotation: Mapping[str, np.ndarray]
    ) -> None:
        for role, bone in self._bindings.items():
            base = base_role(role)
            where = None if only_turned(role) else position.get(role)
            turned = None if base in LOCATION_ONLY else rotation.get(role)
            if where is not None or turned is not None:
                self._targets[bone] = (role, *self.target(role, where, turned))

    def pose(self, name: str) -> Pose:
        """Where a bone is, keyed or not.

        Args:
            name: name of the bone.
        """
        if name not in self._poses:
            if name in self._targets:
                self._poses[name] = self._keyed_pose(name)
            else:
                self._poses[name] = self._followed_pose(name)
        return self._poses[name]

    def local(self, name: str) -> Pose:
        """Where a bone is as its own channels would hold it: Blender's local space.

        Args:
            name: name of the bone.

        Returns:
            One sample where the bone is known not to move in its parent.
        """
        pose = self.pose(name)
        return self._locals[name] if name in self._locals else self.localised(name, pose)

    def localised(self, name: str, pose: Pose) -> Pose:
        """A pose as the bone's own channels would hold it.

        Args:
            name: name of the bone.
            pose: where it is in armature space.
        """
        frame = self._frame(name)
        back = rotations.conjugate(frame.axes.rotation)
        return Pose(
            rotations.multiply(back, pose.rotation),
            frame.location.turn_back(pose.head - frame.location.head),
            pose.scale / frame.axes.scale,
        )

    def unlocal(self, name: str, pose: Pose) -> Pose:
        """Undo `localised`.

        Args:
            name: name of the bone.
            pose: its channels.
        """
        frame = self._frame(name)
        if pose is AT_REST:
            return frame.axes
        if frame.location is frame.axes and pose.is_link and frame.axes.linear is None:
            return frame.axes.tied(Link.of(pose.rotation[0], pose.head[0]))
        return Pose(
            _composed(frame.axes.rotation, pose.rotation),
            frame.location.apply(pose.head if len(pose.head) > 1 else pose.head[0]),
            pose.scale * frame.axes.scale,
        )

    def resting(self, name: str) -> Pose | None:
        """Channels of a bone as they stand or something else moves them; None if scaled unevenly.

        Args:
            name: name of the bone.
        """
        if self._frame(name).axes.linear is not None:
            return None
        if name in self._moved:
            own = self._moved[name]
            return Pose(own.rotation, own.place, own.size[:, 0]) if own.is_even else None
        basis = self._armature.pose.bones[name].matrix_basis
        if basis.is_identity:
            return AT_REST
        pose = Pose.of(*_split(basis))
        return pose if pose.linear is None else None

    def carried(self, name: str, pose: Pose, by: str) -> Pose:
        """A pose that another bone carries along from where both rest.

        Args:
            name: name of the bone.
            pose: where it is without that.
            by: the other bone.
        """
        other, there = self.bone(by), self.pose(by)
        back = rotations.conjugate(other.rest)
        offset = rotations.rotate(back, pose.head - other.head)
        if pose.is_link and there.linear is None:
            return there.tied(Link.of(rotations.multiply(back, pose.rotation)[0], offset[0]))
        return Pose(
            _composed(there.rotation, rotations.multiply(back, pose.rotation)),
            there.apply(offset if len(offset) > 1 else offset[0]),
            there.scale * pose.scale,
        )

    def place(self, name: str, pose: Pose) -> None:
        """Say where a bone is that constraints move; bones that hang on it go along.

        Args:
            name: name of the bone.
            pose: where it is.
        """
        self._poses[name] = pose

    def _followed_pose(self, name: str) -> Pose:
        """Where an unkeyed bone goes with its parent and its constraints."""
        pose, local = None, self.resting(name)
        if self._constraints is not None and self._constraints.known(name):
            pose, local = self._constraints.apply(self, name, local)
        if local is not None:
            self._locals[name] = local
            return self.unlocal(name, local) if pose is None else pose
        return self.rest_pose(name) if pose is None else pose

    def _keyed_pose(self, name: str) -> Pose:
        role, head, turned = self._targets[name]
        scale = self._plain_scale(name) if self._only_poses else None
        if scale is not None and head is not None and turned is not None:
            return Pose(turned, head, scale)
        frame = self._frame(name)
        pose_bone = self._armature.pose.bones[name]
        own = self._basis(name)
        place = own.place
        location = values = None
        start: np.ndarray | Pose = frame.location.at(place) if head is None else head
        if scale is not None and turned is not None:
            return Pose(turned, start, scale)
        if head is not None:
            place = location = frame.location.turn_back(head - frame.location.head)
        if turned is None:
            local = own.rotation
            turned = _composed(frame.axes.rotation, local)
        else:
            local = rotations.multiply(rotations.conjugate(frame.axes.rotation), turned)
            if not self._only_poses:
                values = rotation_modes.to_mode(
                    local, pose_bone.rotation_mode, self._spins.get(role), self._own_x(name)
                )
        self._tracks[name] = BoneTrack(
            role, name, rotation_modes.PROPERTY[pose_bone.rotation_mode], location, values
        )
        return self._sized(name, frame, local, place, turned, start)

    def hold(self, track: BoneTrack) -> None:
        """Say what the channels of a bone are; bones that hang on it go along.

        Args:
            track: the channels; of those that it does not have the present ones count.
        """
        name, frame = track.bone, self._frame(track.bone)
        pose_bone = self._armature.pose.bones[name]
        own = self._basis(name)
        place = own.place if track.location is None else track.location
        if track.rotation is None:
            local = own.rotation
        else:
            local = rotation_modes.from_mode(track.rotation, pose_bone.rotation_mode)
        turned = _composed(frame.axes.rotation, local)
        start = frame.location.apply(place if len(place) > 1 else place[0])
        self._poses[name] = self._sized(name, frame, local, place, turned, start)

    def _sized(
        self,
        name: str,
        frame: _Frame,
        local: np.ndarray,
        place: np.ndarray,
        turned: np.ndarray,
        start: np.ndarray | Pose,
    ) -> Pose:
        """A bone with its own scale; `local` and `place` are its channels."""
        own = self._basis(name)
        if own.is_even and frame.axes.linear is None:
            self._locals[name] = Pose(local, place, own.size[:, 0])
            return Pose(turned, start, _times(frame.axes.scale, own.size[:, 0]))
        local = rotations.multiply(rotations.conjugate(frame.axes.rotation), turned)
        head = start.head if isinstance(start, Pose) else start
        sized = rotations.to_matrix(local) * own.size[:, None]
        return Pose.of(frame.axes.as_linear() @ sized, head)

    def _basis(self, name: str) -> Basis:
        """Channels of a bone that are not keyed, as they stand or something else moves them."""
        return self._moved.get(name) or Basis.standing(self._armature.pose.bones[name])

    def _plain_scale(self, name: str) -> np.ndarray | None:
        """Size of a bone under bones that are evenly scaled; None where it needs more thought."""
        bone, own = self.bone(name), self._basis(name)
        if not own.is_even:
            return None
        if not bone.parent or bone.inherit_scale in ("NONE", "NONE_LEGACY"):
            return own.size[:, 0]
        parent = self.pose(bone.parent)
        return parent.scale * own.size[:, 0] if parent.linear is None else None

    def _own_x(self, name: str) -> np.ndarray:
        """The x axis of a bone's anatomical frame in the bone's own axes."""
        rest = rotations.multiply(self._axes, self.bone(name).rest)
        return rotations.rotate(rotations.conjugate(rest), np.array((1.0, 0.0, 0.0)))

    def rest_pose(self, name: str) -> Pose:
        """Where a bone is that goes with its parent, however it is scaled.

        Args:
            name: name of the bone.
        """
        frame, own = self._frame(name), self._basis(name)
        linear = rotations.to_matrix(own.rotation) * own.size[:, None]
        start = frame.location.at(own.place)
        if np.abs(linear - np.eye(3)).max() < 1e-7:
            return frame.axes.but(head=start)
        return Pose.of(frame.axes.as_linear() @ linear, start.head)

    def _frame(self, name: str) -> _Frame:
        """Blender's bone parent transform, for all samples; the last one is remembered."""
        if self._recent is None or self._recent[0] != name:
            self._recent = name, self._parent_transform(name)
        return self._recent[1]

    def _parent_transform(self, name: str) -> _Frame:
        bone = self.bone(name)
        one = np.ones(1)
        if not bone.parent:
            axes = Pose(bone.rest[None], bone.head[None], one)
            straight = Pose(np.array([[1.0, 0.0, 0.0, 0.0]]), bone.head[None], one)
            return _Frame(axes, axes if bone.local_location else straight)
        parent = self.pose(bone.parent)
        if parent.linear is None and bone.inherit_rotation and bone.inherit_scale == "FULL":
            tied = parent.tied(bone.link)
            return _Frame(tied, tied if bone.local_location else parent.but(head=tied))
        head = parent.apply(bone.link.offset)
        turned = rotations.times(parent.rotation, bone.turn)
        linear = None
        if parent.linear is not None:
            linear = parent.linear @ rotations.to_matrix(bone.turn)
        inherited = Pose(turned, head, parent.scale, linear)
        if bone.local_location:
            location = inherited
        else:
            location = Pose(parent.rotation, head, parent.scale, parent.linear)
        if bone.inherit_rotation and bone.inherit_scale == "FULL":
            return _Frame(inherited if linear is None else Pose.of(linear, head), location)
        rotation = turned if bone.inherit_rotation else bone.rest[None]
        scale = parent.scale
        if bone.inherit_scale == "NONE" or bone.inherit_scale == "NONE_LEGACY":
            scale = one
        elif bone.inherit_scale == "AVERAGE":
            scale = parent.average
        return _Frame(Pose(rotation, head, scale), location)


def _split(matrix: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Linear part (1, 3, 3) and place (1, 3) of a matrix."""
    values = np.array(matrix, dtype=float)[None]
    return values[:, :3, :3], values[:, :3, 3]


def _composed(first: np.ndarray, then: np.ndarray) -> np.ndarray:
    """Product of quaternions of which the second may be one for all samples."""
    return rotations.times(first, then[0]) if len(then) == 1 else rotations.multiply(first, then)


def _times(scale: np.ndarray, size: np.ndarray) -> np.ndarray:
    return scale if (size == 1.0).all() else scale * size
