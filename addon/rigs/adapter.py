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

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import bpy
import numpy as np
from mathutils import Matrix

from ...solvers import affine, rotations
from .. import compat, keyframes
from ..errors import UserError
from ..mapping import tracks as roles
from . import rotation_modes

# Roles that stay where the skeleton puts them: only their direction is keyed.
ROTATION_ONLY = {
    roles.SPINE, roles.CHEST, roles.NECK, roles.HEAD, roles.GAZE, roles.SHOULDER, roles.HEEL,
    roles.FORK, roles.FRONT_WHEEL, roles.REAR_WHEEL, roles.SPROCKET, roles.CRANK, roles.PEDAL,
    roles.FRONT_TRUCK, roles.REAR_TRUCK,
}
# Points without a direction.
LOCATION_ONLY = {roles.KNEE, roles.ELBOW}

_UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])
_UNTURNED_RIGHT, _UNTURNED_MATRIX = np.eye(4), np.eye(3)

# Segments of legs beyond a person's two: they hang on each other.
_SEGMENT = re.compile(r"(hind|fore|leg\d+)\.\d+")

# What Blender calls the group of an object's own channels.
OBJECT_GROUP = "Object Transforms"

# A key that differs by less from what its property has changes nothing.
SAME_VALUE = 1e-6

# How far the scale of an armature may differ from axis to axis, as a share.
UNEVEN = 1e-3


def base_role(role: str) -> str:
    """A role without its side: "foot" of "foot.L".

    Args:
        role: a role.
    """
    return role.rsplit(".", 1)[0]


def only_turned(role: str) -> bool:
    """Whether a role stays where the skeleton puts it: only its direction is keyed.

    Args:
        role: a role.
    """
    base = base_role(role)
    return base in ROTATION_ONLY or _SEGMENT.fullmatch(base) is not None


def rest_turns(armature: bpy.types.Object, names: Sequence[str]) -> np.ndarray:
    """Rest rotations (n, 4) of bones in armature space.

    Args:
        armature: the rig.
        names: names of bones.
    """
    bones = armature.data.bones
    rests = np.array([bones[name].matrix_local for name in names], dtype=float)
    return rotations.from_matrix(rests.reshape(-1, 4, 4)[:, :3, :3])


def bone_path(bone: str) -> str:
    """RNA path of a pose bone from its object.

    Args:
        bone: name of the bone.
    """
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"]'


@dataclass(frozen=True)
class ArmatureFrames:
    """The armature object in the world, in Blender units.

    Attributes:
        rotation: (m, 4) quaternions; m is 1 for an object that stands still.
        scale: (m,) Blender units per unit of the armature.
        inverse: (m, 4, 4) world to armature space.
        matrix: (m, 4, 4) armature space to world.
    """

    rotation: np.ndarray
    scale: np.ndarray
    inverse: np.ndarray
    matrix: np.ndarray


def armature_frames(name: str, matrices: np.ndarray) -> ArmatureFrames:
    """Take the world matrices of an armature object apart.

    Args:
        name: name of the object, for messages.
        matrices: (m, 4, 4) world matrices.

    Raises:
        UserError: the object is scaled to nothing, unevenly, sheared or mirrored.
    """
    linear = matrices[:, :3, :3]
    lengths = np.linalg.norm(linear, axis=1)
    if not np.isfinite(matrices).all() or lengths.min() < 1e-8:
        raise UserError(f"{name} is scaled to zero: give it a scale above zero")
    if (lengths.max(axis=1) / lengths.min(axis=1)).max() > 1.0 + UNEVEN:
        x, y, z = lengths[np.argmax(lengths.max(axis=1) / lengths.min(axis=1))]
        raise UserError(
            f"{name} is scaled unevenly ({x:.3g}, {y:.3g}, {z:.3g}): "
            "give it (or its parent) the same scale along every axis"
        )
    axes = linear / lengths[:, None, :]
    crossing = np.abs(np.einsum("mki,mkj->mij", axes, axes) - np.eye(3)).max()
    if crossing > UNEVEN:
        raise UserError(
            f"{name} is sheared: give its parents the same scale along every axis, "
            "or apply their scale"
        )
    if np.linalg.det(axes).min() < 0.0:
        raise UserError(f"{name} is mirrored by a negative scale: give it a scale above zero")
    return ArmatureFrames(
        rotation=rotations.continuous(rotations.from_matrix(axes)),
        scale=lengths.mean(axis=1),
        inverse=affine.inverse(matrices),
        matrix=matrices,
    )


@dataclass(frozen=True)
class ObjectTrack:
    """Where an armature object that is keyed itself is to be in the world.

    Attributes:
        position: (n, 3) metres: where its point `origin` is.
        rotation: (n, 4).
        origin: (3,) a point of armature space.
    """

    position: np.ndarray
    rotation: np.ndarray
    origin: np.ndarray

    def sampled(self, rows: np.ndarray | slice) -> ObjectTrack:
        """Some samples of it.

        Args:
            rows: which ones.
        """
        return ObjectTrack(self.position[rows], self.rotation[rows], self.origin)

    def matrices(self, scale: float, unit_scale: float) -> np.ndarray:
        """World matrices (n, 4, 4) in Blender units.

        Args:
            scale: Blender units per unit of the armature.
            unit_scale: metres per Blender unit.
        """
        found = np.zeros((len(self.position), 4, 4))
        found[:, :3, :3] = rotations.to_matrix(self.rotation) * scale
        found[:, :3, 3] = self.position / unit_scale - found[:, :3, :3] @ self.origin
        found[:, 3, 3] = 1.0
        return found


def object_channels(
    armature: bpy.types.Object, matrices: np.ndarray, over: np.ndarray
) -> BoneTrack:
    """Channels of an armature object that put it somewhere, its scale left as it is.

    Blender composes: parent * (delta location + location) * (delta rotation *
    rotation) * scale.

    Args:
        armature: the object.
        matrices: (n, 4, 4) where it is to be in the world.
        over: (m, 4, 4) what its channels are relative to; m is 1 or n.
    """
    local = affine.inverse(over) @ matrices
    location = local[:, :3, 3] - np.array(armature.delta_location, dtype=float)
    axes = local[:, :3, :3] / np.linalg.norm(local[:, :3, :3], axis=1)[:, None]
    mode = armature.rotation_mode
    delta = _delta_rotation(armature)
    turned = rotations.multiply(
        rotations.conjugate(rotations.normalise(delta)), rotations.from_matrix(axes)
    )
    values = rotation_modes.to_mode(turned, mode)
    unit = float(np.linalg.norm(over[:, :3, :3], axis=1).mean())
    return BoneTrack("", "", rotation_modes.PROPERTY[mode], location, values, unit)


def object_matrices(
    armature: bpy.types.Object, track: BoneTrack, over: np.ndarray
) -> np.ndarray:
    """Where an armature object is in the world that has given channels; undoes `object_channels`.

    Args:
        armature: the object, whose scale counts.
        track: location and rotation, (n, ...).
        over: (m, 4, 4) what they are relative to; m is 1 or n.

    Returns:
        (n, 4, 4) matrices.
    """
    assert track.location is not None and track.rotation is not None
    mode = armature.rotation_mode
    turned = rotations.multiply(
        rotations.normalise(_delta_rotation(armature)),
        rotation_modes.from_mode(track.rotation, mode),
    )
    size = np.array(armature.scale, dtype=float) * np.array(armature.delta_scale, dtype=float)
    local = np.zeros((len(turned), 4, 4))
    local[:, :3, :3] = rotations.to_matrix(turned) * size
    local[:, :3, 3] = track.location + np.array(armature.delta_location, dtype=float)
    local[:, 3, 3] = 1.0
    return over @ local


def _delta_rotation(armature: bpy.types.Object) -> np.ndarray:
    """Quaternion (1, 4) of an object's delta rotation, in its rotation mode."""
    mode = armature.rotation_mode
    if mode == "QUATERNION":
        return np.array(armature.delta_rotation_quaternion, dtype=float)[None]
    if mode == "AXIS_ANGLE":
        return rotations.identity(1)  # Blender offers none
    return rotations.from_euler(np.array(armature.delta_rotation_euler, dtype=float)[None], mode)


def rest_axes(armature: bpy.types.Object, bindings: Mapping[str, str]) -> np.ndarray:
    """Quaternion that turns armature space into character space.

    A rig whose head is above its feet along +Z is taken as it stands. Another
    one (imported with +Y up) is turned by quarter turns, so that the head is up
    and the left side is along +X.

    Args:
        armature: the rig.
        bindings: role -> bone.
    """
    bones = armature.data.bones

    def head(role: str) -> np.ndarray | None:
        name = bindings.get(role, "")
        return np.array(bones[name].head_local) if name in bones else None

    high = [p for p in map(head, (roles.HEAD, roles.NECK, roles.CHEST)) if p is not None]
    ground = (roles.BOARD, "ski.L", "foot.L", roles.ROOT, roles.PELVIS)
    low = [p for p in map(head, ground) if p is not None]
    if not high or not low:
        return np.array([1.0, 0.0, 0.0, 0.0])
    up = _nearest_axis(high[0] - low[0])
    if up[2] == 1.0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    left = np.zeros(3)
    for role in bindings:
        if role.endswith(".L"):
            pair = head(role), head(role[:-1] + "R")
            if pair[0] is not None and pair[1] is not None:
                left += pair[0] - pair[1]
    left = _nearest_axis(left - up * (left @ up))
    if abs(left @ up) > 0.5:
        return np.array([1.0, 0.0, 0.0, 0.0])
    return rotations.from_matrix(np.stack((left, np.cross(up, left), up)))


def _nearest_axis(vector: np.ndarray) -> np.ndarray:
    axis = np.zeros(3)
    largest = int(np.argmax(np.abs(vector)))
    axis[largest] = 1.0 if vector[largest] >= 0.0 else -1.0
    return axis


@dataclass(frozen=True)
class BoneTrack:
    """The channels of one bone, or of the armature object.

    Attributes:
        role: role that the bone plays.
        bone: its name; "" for the object.
        property: the property that holds its rotation.
        location: (m, 3) or None where it is not keyed.
        rotation: (m, 4) or (m, 3) in the bone's own mode, or None.
        unit: Blender units per unit of its location; 0 for those of the armature.
    """

    role: str
    bone: str
    property: str
    location: np.ndarray | None
    rotation: np.ndarray | None
    unit: float = 0.0

    def path(self, name: str) -> str:
        """Data path from the armature object of one of its properties.

        Args:
            name: the property.
        """
        return f"{bone_path(self.bone)}.{name}" if self.bone else name

    @property
    def group(self) -> str:
        """Name of the group that its curves are in."""
        return self.bone or OBJECT_GROUP

    def properties(self) -> list[tuple[str, np.ndarray]]:
        """Property -> values, location first."""
        found = []
        if self.location is not None:
            found.append(("location", self.location))
        if self.rotation is not None:
            found.append((self.property, self.rotation))
        return found


class _Link(NamedTuple):
    """How what is rigidly tied to a bone stands in its axes: a turn, and an offset.

    Attributes:
        right: (4, 4) takes quaternions to their products with the turn.
        matrix: (3, 3) of the turn.
        offset: (3,) in units of the bone.
    """

    right: np.ndarray
    matrix: np.ndarray
    offset: np.ndarray

    def then(self, other: _Link) -> _Link:
        """What hangs on this by another link.

        Args:
            other: the link from this one.
        """
        return _Link(
            other.right @ self.right,
            self.matrix @ other.matrix,
            self.offset + self.matrix @ other.offset,
        )

    @classmethod
    def of(cls, turn: np.ndarray, offset: np.ndarray) -> _Link:
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
        tie: tuple[Pose, _Link] | None = None,
    ) -> None:
        self._rotation, self._head, self._tie = rotation, head, tie
        self.scale, self.linear = scale, linear

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
        linear, head = _linear(self), self.head
        found = np.zeros((max(len(linear), len(head)), 4, 4))
        found[:, :3, :3], found[:, :3, 3], found[:, 3, 3] = linear, head, 1.0
        return found

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

    def tied(self, link: _Link) -> Pose:
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
_AT_REST = Pose(np.array([[1.0, 0.0, 0.0, 0.0]]), np.zeros((1, 3)), np.ones(1))


def _pose(linear: np.ndarray, head: np.ndarray) -> Pose:
    """A pose from rotation and scale together; plain where the scale is even."""
    lengths = np.linalg.norm(linear, axis=1)
    axes = linear / np.maximum(lengths, 1e-30)[:, None, :]
    skew = np.abs(np.einsum("mki,mkj->mij", axes, axes) - np.eye(3)).max()
    even = np.abs(lengths / lengths.mean(axis=1, keepdims=True) - 1.0).max()
    if skew < 1e-5 and even < 1e-5:
        return Pose(rotations.from_matrix(axes), head, lengths.mean(axis=1))
    # The rotation nearest to a sheared matrix (polar decomposition).
    u, _, vt = np.linalg.svd(linear)
    return Pose(rotations.from_matrix(u @ vt), head, lengths.mean(axis=1), linear)


class _Bone:
    """What a bone's rest pose says, as numbers; `turn` and `link` are seen from its parent."""

    def __init__(self, bone: bpy.types.Bone, numbers: tuple[np.ndarray, ...]) -> None:
        self.rest, self.head, self.turn, right, matrix, offset = numbers
        self.link = _Link(right, matrix, offset)
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
            self._poses[name] = _pose(matrices[:, :3, :3], matrices[:, :3, 3])

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
        if pose is _AT_REST:
            return frame.axes
        if frame.location is frame.axes and _is_link(pose) and frame.axes.linear is None:
            return frame.axes.tied(_Link.of(pose.rotation[0], pose.head[0]))
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
            return _AT_REST
        pose = _pose(*_split(basis))
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
        if _is_link(pose) and there.linear is None:
            return there.tied(_Link.of(rotations.multiply(back, pose.rotation)[0], offset[0]))
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
        start: np.ndarray | Pose = _offset(frame.location, place) if head is None else head
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
        return _pose(_linear(frame.axes) @ sized, head)

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
        start = _offset(frame.location, own.place)
        if np.abs(linear - np.eye(3)).max() < 1e-7:
            return frame.axes.but(head=start)
        return _pose(_linear(frame.axes) @ linear, start.head)

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
            return _Frame(inherited if linear is None else _pose(linear, head), location)
        rotation = turned if bone.inherit_rotation else bone.rest[None]
        scale = parent.scale
        if bone.inherit_scale == "NONE" or bone.inherit_scale == "NONE_LEGACY":
            scale = one
        elif bone.inherit_scale == "AVERAGE":
            scale = _average(parent)
        return _Frame(Pose(rotation, head, scale), location)


def _split(matrix: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Linear part (1, 3, 3) and place (1, 3) of a matrix."""
    values = np.array(matrix, dtype=float)[None]
    return values[:, :3, :3], values[:, :3, 3]


def _composed(first: np.ndarray, then: np.ndarray) -> np.ndarray:
    """Product of quaternions of which the second may be one for all samples."""
    return rotations.times(first, then[0]) if len(then) == 1 else rotations.multiply(first, then)


def _is_link(pose: Pose) -> bool:
    """Whether a pose is one sample, and as large as it is in the rest pose."""
    return len(pose.rotation) == len(pose.head) == 1 and bool((pose.scale == 1.0).all())


def _offset(pose: Pose, offset: np.ndarray) -> Pose:
    """What has its head at a place (m, 3) in a pose's axes."""
    if not offset.any():
        return pose
    if pose.linear is None and len(offset) == 1:
        return pose.tied(_Link(_UNTURNED_RIGHT, _UNTURNED_MATRIX, offset[0]))
    return pose.but(head=pose.apply(offset if len(offset) > 1 else offset[0]))


def _times(scale: np.ndarray, size: np.ndarray) -> np.ndarray:
    return scale if (size == 1.0).all() else scale * size


def _average(pose: Pose) -> np.ndarray:
    if pose.linear is None:
        return pose.scale
    return np.cbrt(np.abs(np.linalg.det(pose.linear)))


def _linear(pose: Pose) -> np.ndarray:
    if pose.linear is not None:
        return pose.linear
    return rotations.to_matrix(pose.rotation) * pose.scale[:, None, None]


_BONE_IN_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.?(\w*)')


def bone_of(path: str) -> str:
    """Name of the bone that a data path from its object belongs to, or "".

    Args:
        path: the data path.
    """
    match = _BONE_IN_PATH.match(path)
    return bpy.utils.unescape_identifier(match[1]) if match else ""


def animated_bones(armature: bpy.types.Object) -> set[str]:
    """Names of bones that have keys, strips or drivers.

    Args:
        armature: the rig.
    """
    return set(animated_channels(armature))


def animated_channels(armature: bpy.types.Object) -> dict[str, set[str]]:
    """Bone -> names of its properties that have keys, strips or drivers.

    Args:
        armature: the rig.
    """
    data = armature.animation_data
    return _by_bone([*_playing(armature), *(data.drivers if data is not None else ())])


def _by_bone(curves: Iterable[bpy.types.FCurve]) -> dict[str, set[str]]:
    """Bone -> names of its properties that curves are of."""
    found: dict[str, set[str]] = {}
    for curve in curves:
        match = _BONE_IN_PATH.match(curve.data_path)
        if match:
            found.setdefault(bpy.utils.unescape_identifier(match[1]), set()).add(match[2])
    return found


def _playing(armature: bpy.types.Object) -> Iterator[bpy.types.FCurve]:
    """Curves of what a rig plays: its action, and strips that are not muted."""
    data = armature.animation_data
    if data is None:
        return
    yield from compat.action_fcurves(data.action, data.action_slot)
    for track in data.nla_tracks if data.use_nla else ():
        for strip in track.strips:
            if not (track.mute or strip.mute):
                yield from compat.action_fcurves(strip.action, strip.action_slot)


def displacing(armature: bpy.types.Object) -> dict[str, set[str]]:
    """Bone -> names of its properties that keys, strips or drivers change.

    Keys that say what the property is anyway, as files of engines hold for every bone,
    change nothing.

    Args:
        armature: the rig.
    """
    data = armature.animation_data
    drivers = data.drivers if data is not None else ()
    return _by_bone([*(c for c in _playing(armature) if _changes(armature, c)), *drivers])


def _changes(armature: bpy.types.Object, curve: bpy.types.FCurve) -> bool:
    """Whether a curve ever says something else than its property has."""
    if curve.mute:
        return False
    if len(curve.modifiers) or not len(curve.keyframe_points):
        return True
    values = keyframes.read_keys(curve, ["co"]).arrays["co"][:, 1]
    try:
        now = armature.path_resolve(curve.data_path)
        if hasattr(now, "__len__") and not isinstance(now, str):
            now = now[curve.array_index]
    except (ValueError, IndexError):
        return False  # of nothing that is there
    if isinstance(now, str):  # a choice: its number is not told
        return True
    return bool(np.abs(values - now).max() > SAME_VALUE)


def animated_paths(armature: bpy.types.Object) -> set[str]:
    """Data paths that have keys or strips on a rig.

    Args:
        armature: the rig.
    """
    return {curve.data_path for curve in _playing(armature)}


# Properties that move a bone by themselves; others are settings of it and its constraints.
CHANNELS = {"location", "scale", *rotation_modes.PROPERTY.values()}


def moved_bones(
    armature: bpy.types.Object, keyed: Collection[str], paths: Collection[str]
) -> set[str]:
    """Bones of which the animator's own keys, or drivers, move what is not to be keyed.

    Those are left out on which no keyed bone hangs, and which drivers move by what keyed bones do.

    Args:
        armature: the rig.
        keyed: names of the bones that are to be keyed.
        paths: data paths of what is keyed.
    """
    bones, data = armature.pose.bones, armature.animation_data
    found = displacing(armature)
    if not found:
        return set()
    led = _by_bone(c for c in data.drivers if _follows(armature, c, set(keyed), set()))
    above = {b.name for name in keyed for b in bones[name].parent_recursive}
    moved = set()
    for name in (above | set(keyed)) & set(found):
        channels = {
            channel for channel in found[name] & CHANNELS
            if f"{bone_path(name)}.{channel}" not in paths
        }
        # A bone that is keyed turns as its own keys say, whatever else turned it.
        channels &= {"location", "scale"} if name in keyed else CHANNELS
        if channels and not led.get(name, set()) & CHANNELS:
            moved.add(name)
    return moved


def _follows(
    armature: bpy.types.Object, curve: bpy.types.FCurve, keyed: set[str], seen: set[str]
) -> bool:
    """Whether a driver looks at any of some bones, be it through others that are driven."""
    seen.add(curve.data_path)
    for variable in curve.driver.variables:
        for target in variable.targets:
            if target.id is not None and target.id != armature:
                if _hangs_on(target.id, armature):
                    return True
                continue
            path = re.sub(r"\[\d+\]$", "", target.data_path)
            bone = target.bone_target
            if variable.type == "SINGLE_PROP":
                others = [c for c in armature.animation_data.drivers if c.data_path == path]
                if path not in seen and any(_follows(armature, c, keyed, seen) for c in others):
                    return True
                match = _BONE_IN_PATH.match(path)
                bone = bone_of(path) if match and match[2] else ""  # not properties of its own
            if depended_on(armature, [bone]) & keyed:
                return True
    return False


def _hangs_on(thing: bpy.types.ID, armature: bpy.types.Object) -> bool:
    """Whether an object is moved by an armature: by parents, or constraints of any of these."""
    while isinstance(thing, bpy.types.Object):
        if any(getattr(c, "target", None) == armature for c in thing.constraints):
            return True
        if thing.parent == armature:
            return True
        thing = thing.parent
    return False


def depended_on(armature: bpy.types.Object, names: Iterable[str]) -> set[str]:
    """Bones, those that they hang on and that constraints of theirs look at, and so on.

    Args:
        armature: the rig.
        names: the bones; "" is the object, which is always among them.
    """
    found, left = {""}, list(names)
    while left:
        bone = armature.pose.bones.get(left.pop())
        if bone is None or bone.name in found:
            continue
        found.add(bone.name)
        left += [bone.parent.name] if bone.parent is not None else []
        for constraint in bone.constraints:
            looks = [constraint, *getattr(constraint, "targets", ())]
            left += [
                look.subtarget for look in looks if getattr(look, "target", None) == armature
            ]
    return found


def moving_parents(
    armature: bpy.types.Object, keyed: set[str], constraints: Computed | None = None
) -> dict[str, str]:
    """Keyed bones that hang on an unkeyed bone which moves in ways that are not computed.

    Args:
        armature: the rig.
        keyed: names of the keyed bones.
        constraints: constraints that are computed; None for none.

    Returns:
        Keyed bone -> its parent, whose evaluated pose has to be sampled.
    """
    bones = armature.pose.bones
    animated: set[str] | None = None
    found = {}
    for name in keyed:
        parent = bones[name].parent
        if parent is None or (constraints is not None and constraints.known(parent.name)):
            continue
        above = parent
        while above is not None and above.name not in keyed:
            if animated is None:
                animated = set(displacing(armature))
            constrained = any(not c.mute and c.influence > 0.0 for c in above.constraints)
            if constrained or above.name in animated:
                found[name] = parent.name
                break
            above = above.parent
    return found


def independent(
    armature: bpy.types.Object, parents: Iterable[str], keyed: set[str]
) -> bool:
    """Whether bones move without regard to any keyed bone.

    Args:
        armature: the rig.
        parents: names of unkeyed bones.
        keyed: names of the keyed bones.
    """
    for name in parents:
        bone = armature.pose.bones[name]
        for above in (bone, *bone.parent_recursive):
            if above.name in keyed:
                return False
            for constraint in above.constraints:
                targets = [getattr(constraint, "target", None)]
                targets += [t.target for t in getattr(constraint, "targets", ())]
                if armature in targets:
                    return False
    return True
