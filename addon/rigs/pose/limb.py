# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb posed by its end, by its joints, or by its joints with the end anchored.

Girard 1986, section 2.1: the joints are a function F(X, L) of the place X wanted for the end and
of the joints L that are wanted (`reach`). Moving the end changes X; turning joints changes L, and
X goes along; anchored, L changes and X stays. What comes out is put on the limb's handles: each
is carried along as if it were a part of its segment. Blender's own IK then bends the limb towards
the handles; where its bend is not the one wanted, the limb is swung about the line from its root
to its end until it is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion

from ....solvers import rotations
from ....solvers.freeform.reach import Limits, limb_points, limited, lone_limb, reach
from ...errors import UserError
from ..limbs import Limb
from . import evaluate, rotation_modes
from .channels import BoneTrack
from .handles import BASE, END, JOINT, POLE, Handle, Sources, find_handles, find_pulled
from .joints import unlocked
from .limits import limits_of, locked_axes
from .plays import channel_paths
from .properties import read_pose, restore_pose

CLOSE = 1e-4  # of a limb's length: how far its end may be off what was asked for
LOOSE = 0.03  # likewise its joints: bones of IK that stretches do not keep their lengths
SWINGS = 4  # times that a limb is swung to where it is wanted
SAME = 1e-7  # of a limb's length: what Blender's single precision tells apart
SEEN = 1e-4  # rad that nobody sees a limb swing
STRAIGHT = 5e-3  # of a limb's length: a joint nearer to the line of the limb's ends does not swing


@dataclass(frozen=True)
class Wanted:
    """A limb as it is to be, in armature space.

    Attributes:
        turns: (m + 1, 4) by which its segments, and what is beyond, are turned on.
        points: (m + 1, 3) its joints and its end.
        missing: from its end to where that was wanted.
    """

    turns: np.ndarray
    points: np.ndarray
    missing: float = 0.0


class LimbPose:
    """One limb of a rig, read as it stands, and posed from there as often as wanted.

    Args:
        context: Blender's context.
        rig: the armature object.
        limb: one of its limbs.
        others: bones of the other limbs.

    Raises:
        UserError: nothing that could be posed moves it.
    """

    def __init__(
        self, context: bpy.types.Context, rig: bpy.types.Object, limb: Limb,
        others: Collection[str] = (),
    ) -> None:
        self._context, self.rig, self.limb = context, rig, limb
        evaluated = self._evaluated()
        sources = Sources(rig, evaluated)
        joints, end = limb.bones, limb.end
        points = self._points(joints, end)
        if end:  # where IK pulls at the very tip, the last bone is a segment like the others
            longer = self._points((*joints, end), "")
            pulled = find_pulled(sources, (*joints, end), longer)
            if any(part.last == len(joints) + 1 for part in pulled):
                joints, end, points = (*joints, end), "", longer
        self.joints, self.end, self.points = joints, end, points
        pulled = find_pulled(sources, joints, points)
        self._pulled = [(part.first, part.last) for part in pulled]
        self._gap = np.zeros(3)  # from what IK pulls to, to the end, where that is out of reach
        if pulled and pulled[-1].last == len(joints):
            goal = sources.bones[pulled[-1].constraint.subtarget].head
            self._gap = points[-1] - np.array(goal, dtype=float)
        self.handles = find_handles(sources, rig, joints, end, points, pulled, others)
        self._require_handles(pulled)
        self._length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
        self._hang = [set(sources.of(handle.bone)) for handle in self.handles]
        self._read(evaluated)

    # -- reading -------------------------------------------------------------

    def _evaluated(self) -> bpy.types.Object:
        return self.rig.evaluated_get(self._context.evaluated_depsgraph_get())

    def _points(self, joints: Collection[str], end: str) -> np.ndarray:
        """(m + 1, 3) where the limb's joints and its end are now."""
        bones = self._evaluated().pose.bones
        tip = bones[end].head if end else bones[list(joints)[-1]].tail
        return np.array([*(bones[name].head for name in joints), tip], dtype=float)

    def _require_handles(self, pulled) -> None:
        have = {(handle.kind, handle.joint) for handle in self.handles}
        within = {k for part in pulled for k in range(part.first, part.last)}
        lacking = [
            name for k, name in enumerate(self.joints) if k not in within and (JOINT, k) not in have
        ]
        if lacking:
            raise UserError(
                f"Bone {lacking[0]} of {self.rig.name} is moved by nothing that can be posed: "
                "unlock it, or mute its constraints"
            )

    def _read(self, evaluated: bpy.types.Object) -> None:
        """Handles, segments and limits as they are at the start."""
        bones, count = evaluated.pose.bones, len(self.joints)
        self._former = read_pose(self.rig, self._paths())
        self._matrices = {}
        for handle in self.handles:
            bone = bones[handle.bone]
            matrix = bone.matrix
            if handle.kind == BASE:  # as it is before IK bends it
                matrix = evaluated.convert_space(
                    pose_bone=bone, matrix=bone.matrix_basis, from_space="LOCAL", to_space="POSE"
                )
            self._matrices[handle.bone] = np.array(matrix, dtype=float)
        own = {h.joint: h.bone for h in self.handles if h.kind == JOINT}
        turns, local = np.empty((count, 4)), rotations.identity(count)
        least, most = np.full((count, 3), -np.inf), np.full((count, 3), np.inf)
        orders = ["XYZ"] * count
        for k, name in enumerate(self.joints):
            bone = bones[own.get(k, name)]
            turns[k] = bone.matrix.to_quaternion()
            if k not in own:
                continue
            local[k] = evaluate.local_matrix(evaluated, bone).to_quaternion()
            if bone.rotation_mode in rotations.EULER_ORDERS:
                orders[k] = bone.rotation_mode
            now = rotations.to_euler(local[k : k + 1], orders[k])[0]
            low, high = limits_of(self.rig.pose.bones[bone.name]).T
            locked = locked_axes(self.rig.pose.bones[bone.name])
            # What stands beyond a limit does not jump back.
            least[k] = np.where(locked, now, np.minimum(low, now))
            most[k] = np.where(locked, now, np.maximum(high, now))
        self._limits = Limits(least, most, orders)
        last = bones[self.end or self.joints[-1]]
        self._end_turn = np.array(last.matrix.to_quaternion())
        self._turns, self._joints = turns, local[None]
        frames = rotations.multiply(turns, rotations.conjugate(local))  # joints count from these
        above = rotations.conjugate(np.concatenate([rotations.identity(1), turns[:-1]]))
        self._rests = rotations.multiply(above, frames)
        spans = rotations.rotate(rotations.conjugate(turns), np.diff(self.points, axis=0))
        places = np.concatenate([np.zeros((1, 3)), spans[:-1]])
        self._lone = lone_limb(places, self._rests, spans[-1], self._bend(turns[0]))

    def _bend(self, turn: np.ndarray) -> np.ndarray:
        """Where the middle joint is in rest, from the line between root and end, as the
        first segment sees it."""
        bones = self.rig.data.bones
        rest = [np.array(bones[name].head_local) for name in self.joints[:2]]
        rest.append(np.array(bones[self.joints[-1]].tail_local))
        line = rotations.normalise(rest[2] - rest[0])
        aside = (rest[1] - rest[0]) - (rest[1] - rest[0]) @ line * line
        own = np.array(bones[self.joints[0]].matrix_local.to_3x3())
        posed = np.array(self._evaluated().pose.bones[self.joints[0]].matrix.to_3x3())
        if np.linalg.norm(aside) < STRAIGHT * np.linalg.norm(rest[2] - rest[0]):
            aside = own[:, 2]
        world = posed @ own.T @ aside
        return rotations.normalise(rotations.rotate(rotations.conjugate(turn), world))

    def joint_of(self, bone: str) -> int:
        """Number of the joint, from 1, that a bone belongs to; 0 where it belongs to none.

        Args:
            bone: its name.
        """
        members = {name: k + 1 for k, name in enumerate((*self.joints, self.end))}
        members |= {h.bone: h.joint + 1 for h in self.handles if h.kind in (JOINT, END)}
        return members.get(bone, 0)

    @property
    def tolerance(self) -> float:
        """How far it may be off, in units of the armature, without anyone being told."""
        return CLOSE * self._length

    # -- the three ways ------------------------------------------------------

    def moved(self, way: np.ndarray) -> Wanted:
        """The limb with its end moved, its joints as near to those that it has as can be.

        Args:
            way: (3,) by how much, in armature space.
        """
        return self._reached(self.points[-1] + way, self._joints)

    def turned(self, joint: int, axis: np.ndarray, angle: float) -> Wanted:
        """The limb with a joint turned within its limits, what is beyond going along.

        Args:
            joint: number of the joint; that after the last turns what is beyond the end.
            axis: (3,) in the frame of its segment.
            angle: rad.
        """
        turn = rotations.from_axis_angle(np.asarray(axis, float), angle)
        if joint == len(self.joints):
            own = self._end_turn
            by = rotations.multiply(rotations.multiply(own, turn), rotations.conjugate(own))
            turns = np.concatenate([rotations.identity(joint), by[None]])
            return Wanted(turns, self.points)
        return self._forward(limited(self._with(joint, turn), self._limits))

    def anchored(self, joint: int, axis: np.ndarray, angle: float) -> Wanted:
        """The limb with its joints turned and its end where it is.

        Args:
            joint: number of the joint that is to turn, the others making up for it; -1 swings
                the whole limb about the line from its root to its end.
            axis: (3,) in the frame of the segment; of no account where the limb swings.
            angle: rad.
        """
        if joint >= 0:
            turn = rotations.from_axis_angle(np.asarray(axis, float), angle)
            return self._reached(self.points[-1], self._with(joint, turn))
        line = self.points[-1] - self.points[0]
        far = self._bends(self.points)
        if far < STRAIGHT * self._length:
            raise UserError(
                f"{self.limb.name} of {self.rig.name} is stretched out, and can only bend if its "
                "end comes nearer: move that first"
            )
        swing = rotations.from_axis_angle(rotations.normalise(line), angle)
        frame = self._rests[0]
        local = rotations.multiply(rotations.conjugate(frame), rotations.multiply(swing, frame))
        joints = self._joints.copy()
        joints[0, 0] = rotations.multiply(local, joints[0, 0])
        return self._reached(self.points[-1], joints)

    def shaped(
        self, rig: bpy.types.Object, bones: Sequence[str], turns: np.ndarray
    ) -> Wanted:
        """The limb with its bones turned as a posture has them.

        Args:
            rig: the armature whose bones these are: this one, or the one that follows it.
            bones: of the limb there, its end among them.
            turns: (n, 4) of these against their rest pose in their parents.
        """
        evaluated = rig.evaluated_get(self._context.evaluated_depsgraph_get())
        over = self.rig.matrix_world.inverted() @ rig.matrix_world
        over = np.array(over.to_quaternion())
        old_above = above = rotations.identity(1)[0]
        by = np.empty((len(bones) + 1, 4))
        for k, (name, turn) in enumerate(zip(bones, turns, strict=True)):
            bone = evaluated.pose.bones[name]
            old = np.array(bone.matrix.to_quaternion())
            local = np.array(evaluate.local_matrix(evaluated, bone).to_quaternion())
            rest = _product(rotations.conjugate(old_above), old, rotations.conjugate(local))
            above, old_above = _product(above, rest, turn), old
            by[k] = _product(over, above, rotations.conjugate(old), rotations.conjugate(over))
        by[-1] = by[-2]
        count = len(self.joints)
        ways = rotations.rotate(by[:count], np.diff(self.points, axis=0))
        points = self.points[0] + np.concatenate([np.zeros((1, 3)), np.cumsum(ways, axis=0)])
        return Wanted(by[: count + 1], points)

    def _bends(self, points: np.ndarray) -> float:
        """How far joints are from the line between root and end."""
        line = rotations.normalise(points[-1] - points[0])
        off = points[1:-1] - points[0]
        return float(np.linalg.norm(off - (off @ line)[:, None] * line, axis=1).max(initial=0.0))

    def _with(self, joint: int, turn: np.ndarray) -> np.ndarray:
        joints = self._joints.copy()
        joints[0, joint] = rotations.multiply(joints[0, joint], turn)
        return joints

    def _forward(self, joints: np.ndarray, ends: bool = True) -> Wanted:
        body, limb = self._lone
        turns, points = limb_points(body, limb, self.points[:1], rotations.identity(1), joints)
        by = rotations.multiply(turns[0], rotations.conjugate(self._turns))
        last = by[-1:] if ends else rotations.identity(1)
        return Wanted(np.concatenate([by, last]), points[0])

    def _reached(self, target: np.ndarray, joints: np.ndarray) -> Wanted:
        body, limb = self._lone
        local, missing = reach(
            body, limb, self.points[:1], rotations.identity(1), joints, target[None], self._limits
        )
        found = self._forward(local, ends=not self.end)
        if missing[0] < SAME * self._length:
            found.points[-1] = target
        return replace(found, missing=float(missing[0]))

    # -- writing -------------------------------------------------------------

    def _paths(self) -> list[str]:
        """Data paths of what handles are posed by."""
        names = [handle.bone for handle in self.handles]
        return [path for name in names for path in channel_paths(self.rig, name)[:2]]

    def restore(self) -> None:
        """Give all back as it was read."""
        restore_pose(self.rig, self._former)

    def changed(self) -> list[str]:
        """Data paths of what is posed otherwise than it was read."""
        now = read_pose(self.rig, self._paths())
        return [path for path, values in now.items() if values != self._former[path]]

    def put(self, wanted: Wanted) -> float:
        """Pose the rig.

        Args:
            wanted: how.

        Returns:
            How far its end is from where it was wanted, or one of its joints, if these are much
            farther off, in units of the armature.
        """
        self.restore()
        moved: set[str] = set()
        for n, handle in enumerate(self.handles):
            by, pivot = wanted.turns[handle.joint], self.points[handle.joint]
            way = wanted.points[handle.joint] - pivot
            still = np.abs(by[1:]).max() < SAME and np.abs(way).max() < SAME * self._length
            if still and not moved & self._hang[n]:
                continue
            way = way + self._gap * (handle.kind == END)
            self._carry(handle, self._about(by, pivot, way) @ self._matrices[handle.bone])
            moved.add(handle.bone)
            if any(handle.bone in hang for hang in self._hang[n + 1 :]):
                self._context.view_layer.update()
        self._context.view_layer.update()
        for _ in range(SWINGS):
            points = self._points(self.joints, self.end)
            if np.abs(points - wanted.points).max() <= 0.1 * CLOSE * self._length:
                break
            if not self._swing(points, wanted.points):
                break
        off = np.linalg.norm(self._points(self.joints, self.end) - wanted.points, axis=1)
        return float(off.max() if off.max() > LOOSE * self._length else off[-1])

    def swung(self, wanted: Wanted) -> float:
        """By what angle the first joint is swung about the line between root and end, rad.

        Args:
            wanted: the limb as it is to be.
        """
        return _angle(self.points, wanted.points, 0, len(self.joints))[1]

    def _swing(self, points: np.ndarray, wanted: np.ndarray) -> bool:
        """Turn what IK bends towards until its joints are where they are wanted."""
        swung = False
        for first, last in self._pulled:
            handle = next(
                (h for h in self.handles if h.kind in (POLE, BASE) and h.joint == first), None
            )
            line, angle = _angle(points, wanted, first, last)
            if handle is None or abs(angle) < SEEN:
                continue
            swing = rotations.from_axis_angle(line, angle)
            evaluated = self._evaluated()
            bone = evaluated.pose.bones[handle.bone]
            matrix = bone.matrix
            if handle.kind == BASE:
                matrix = evaluated.convert_space(
                    pose_bone=bone, matrix=self.rig.pose.bones[handle.bone].matrix_basis,
                    from_space="LOCAL", to_space="POSE",
                )
            about = self._about(swing, points[first], np.zeros(3))
            self._carry(handle, about @ np.array(matrix, dtype=float))
            swung = True
        self._context.view_layer.update()
        return swung

    @staticmethod
    def _about(turn: np.ndarray, pivot: np.ndarray, way: np.ndarray) -> np.ndarray:
        """(4, 4) that turns about a place and then moves."""
        found = np.eye(4)
        found[:3, :3] = rotations.to_matrix(turn)
        found[:3, 3] = pivot + way - found[:3, :3] @ pivot
        return found

    def _carry(self, handle: Handle, matrix: np.ndarray) -> None:
        """Put a handle to a place in armature space, as far as its locks allow."""
        evaluated, bone = self._evaluated(), self.rig.pose.bones[handle.bone]
        local = evaluated.convert_space(
            pose_bone=evaluated.pose.bones[handle.bone], matrix=Matrix(matrix.tolist()),
            from_space="POSE", to_space="LOCAL",
        )
        mode, name = bone.rotation_mode, rotation_modes.PROPERTY[bone.rotation_mode]
        place = rotation = None
        if handle.kind in (END, POLE) and not (bone.bone.use_connect and bone.parent):
            place = np.array(local.translation)[None]
        if handle.kind != POLE:
            rotation = np.array(_in_mode(local.to_quaternion(), mode, getattr(bone, name)))[None]
        track, _ = unlocked(bone, BoneTrack(handle.bone, handle.bone, name, place, rotation))
        for prop, values in track.properties():
            setattr(bone, prop, values[0])


def _product(*turns: np.ndarray) -> np.ndarray:
    """(4,) turns one in another."""
    return reduce(rotations.multiply, turns)


def _angle(
    points: np.ndarray, wanted: np.ndarray, first: int, last: int
) -> tuple[np.ndarray, float]:
    """Line from one joint to another, and the angle about it to where the next joint is wanted;
    0 where that is all but on the line."""
    line = rotations.normalise(points[last] - points[first])
    ways = (x[first + 1] - points[first] for x in (points, wanted))
    now, then = (way - way @ line * line for way in ways)
    least = STRAIGHT * np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    if min(np.linalg.norm(now), np.linalg.norm(then)) < least:
        return line, 0.0
    return line, float(np.arctan2(np.cross(now, then) @ line, now @ then))


def _in_mode(turn: Quaternion, mode: str, before: Collection[float]) -> tuple[float, ...]:
    """A turn in a rotation mode, as near as can be to what the bone had before."""
    if mode == "QUATERNION":
        turn.make_compatible(Quaternion(before))
        return tuple(turn)
    if mode == "AXIS_ANGLE":
        axis, angle = turn.to_axis_angle()
        return (angle, *axis)
    return tuple(turn.to_euler(mode, Euler(before, mode)))
