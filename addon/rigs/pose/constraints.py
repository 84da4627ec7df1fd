# SPDX-License-Identifier: GPL-3.0-or-later
"""What constraints between bones of one rig do, for all samples at once.

Between the controls of an animator's rig lie bones that copy each other. Where
they do no more than that, their poses follow from those of the keyed bones,
and no frame has to be played to know them. As in Blender, a constraint with
influence below 1 is blended from the pose before it in world space, rotations
by slerp.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import bpy
import numpy as np

from ....solvers import rotations
from .algebra import Pose
from .animated import animated_paths, displacing
from .channels import CHANNELS, bone_of, bone_path
from .solver import RigSolver

# Spaces that are the same as long as both bones belong to one armature.
_POSE_SPACES = {"WORLD", "POSE"}


# Kinds that move the bones before theirs, too.
CHAINED = {"IK", "SPLINE_IK"}

# Kinds whose effect is computed, and those that may act on some axes only.
_BY_AXES = {"COPY_ROTATION", "COPY_LOCATION", "COPY_SCALE"}
_COMPUTED = {"COPY_TRANSFORMS", "ARMATURE", "LIMIT_ROTATION", *_BY_AXES}


def acts(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint does anything.

    Args:
        constraint: the constraint.
    """
    return constraint.enabled and not constraint.mute and constraint.influence > 0.0


def looks_at(constraint: bpy.types.Constraint, obj: bpy.types.Object | None) -> bool:
    """Whether a constraint, or its evaluated copy, has an object for its target.

    Args:
        constraint: the constraint.
        obj: the object; nothing looks at None.
    """
    target = getattr(constraint, "target", None)
    return obj is not None and target is not None and target.original == obj


@dataclass(frozen=True)
class _Acting:
    """One constraint as numbers: Blender's own evaluated copy does not live long.

    Attributes:
        kind: its type.
        share: its influence.
        space: "POSE" or "LOCAL" where owner and target have it in common, or "".
        target: name of the bone that it looks at, or "".
        computed: whether `Constraints` does what it does.
        axes: (3,) which axes it acts on.
        limits: (2, 3) least and largest angles.
    """

    kind: str
    share: float
    space: str
    target: str
    computed: bool
    axes: np.ndarray
    limits: np.ndarray | None = None

    @property
    def replaces(self) -> bool:
        """Whether nothing is left of the pose before it."""
        whole = self.kind == "COPY_TRANSFORMS" and self.space == "POSE"
        return whole and self.computed and self.share == 1.0


def _read(constraint: bpy.types.Constraint, armature: bpy.types.Object) -> _Acting:
    """A constraint of an evaluated rig as numbers."""
    kind, share = constraint.type, constraint.influence
    axes = np.ones(3, dtype=bool)
    if kind not in _COMPUTED:
        return _Acting(kind, share, "", "", False, axes)
    if kind == "LIMIT_ROTATION":
        axes = np.array([getattr(constraint, f"use_limit_{axis}") for axis in "xyz"])
        limits = np.array(
            [[getattr(constraint, f"{end}_{axis}") for axis in "xyz"] for end in ("min", "max")]
        )
        computed = constraint.owner_space == "LOCAL" and constraint.euler_order == "AUTO"
        return _Acting(kind, share, "LOCAL", "", computed, axes, limits)
    if kind == "ARMATURE":
        targets = [(t.target, t.subtarget) for t in constraint.targets if t.weight > 0.0]
        space = "POSE"
    else:
        targets = [(constraint.target, constraint.subtarget)]
        spaces = {constraint.owner_space, constraint.target_space}
        space = "POSE" if spaces <= _POSE_SPACES else "LOCAL" if spaces == {"LOCAL"} else ""
    plain = True
    if kind in _BY_AXES:
        axes = np.array([getattr(constraint, f"use_{axis}") for axis in "xyz"])
        inverted = any(getattr(constraint, f"invert_{axis}", False) for axis in "xyz")
        plain = not inverted and not constraint.use_offset
    if kind == "COPY_TRANSFORMS":
        computed = constraint.mix_mode == "REPLACE" and not constraint.head_tail
    elif kind == "COPY_ROTATION":
        computed = constraint.mix_mode == "REPLACE" and constraint.euler_order == "AUTO"
        computed = computed and (space == "LOCAL" or bool(axes.all()))
    elif kind == "COPY_LOCATION":
        computed = space == "POSE" and not constraint.head_tail and bool(axes.all())
    elif kind == "COPY_SCALE":
        computed = space == "POSE" and constraint.power == 1.0 and bool(axes.all())
        computed = computed and not (constraint.use_add or constraint.use_make_uniform)
    else:
        computed = len(targets) == 1 and not constraint.use_current_location
    ours = len(targets) == 1 and targets[0][0] is not None
    ours = ours and targets[0][0].original == armature.original and bool(targets[0][1])
    target = targets[0][1] if ours else ""
    return _Acting(kind, share, space, target, computed and plain and ours and space != "", axes)


class Constraints:
    """The constraints of a rig, as they are set at the current frame.

    Those of bones are read that keyed bones or IK chains hang on, or follow.

    Args:
        armature: the rig, evaluated: drivers of influences and weights count.
        keyed: names of bones whose poses are known.
        moving: names of bones that move by themselves.
        followed: an object whose constraints do not count.
    """

    def __init__(
        self,
        armature: bpy.types.Object,
        keyed: Collection[str],
        moving: Collection[str],
        followed: bpy.types.Object | None = None,
    ) -> None:
        self._parents: dict[str, str] = {}
        self._orders: dict[str, str] = {}
        self._stacks: dict[str, list[_Acting]] = {}
        self._known: dict[str, bool] = {name: False for name in moving}
        bones = armature.pose.bones
        asked = list(keyed)
        for bone in bones:
            for constraint in bone.constraints:
                if constraint.type in CHAINED and acts(constraint):
                    chain = [bone, *bone.parent_recursive]
                    asked += [b.name for b in chain]
                    asked.append(getattr(constraint, "subtarget", ""))
                    chain = chain[: constraint.chain_count or len(chain)]
                    self._known |= {b.name: False for b in chain}
        self._known |= {name: True for name in keyed}
        # The rest of a large rig, a face perhaps, does not matter and takes long to read.
        while asked:
            name = asked.pop()
            if name in self._parents or name not in bones:
                continue
            bone = bones[name]
            self._parents[name] = bone.parent.name if bone.parent else ""
            asked.append(self._parents[name])
            acting = [c for c in bone.constraints if acts(c) and not looks_at(c, followed)]
            if acting:
                self._orders[name] = bone.rotation_mode
                self._stacks[name] = [_read(c, armature) for c in acting]
                asked += [c.target for c in self._stacks[name]]

    def known(self, name: str) -> bool:
        """Whether a bone's pose follows from those of the keyed bones.

        Args:
            name: name of the bone.
        """
        if name not in self._known:
            self._known[name] = False  # whoever asks again on the way runs in a circle
            self._known[name] = self._follows(name)
        return self._known[name]

    def _follows(self, name: str) -> bool:
        stack, parent = self._stack(name), self._parents.get(name)
        if parent is None:
            return False
        if parent and not (stack and stack[0].replaces) and not self.known(parent):
            return False
        return all(c.computed and (not c.target or self.known(c.target)) for c in stack)

    def apply(
        self, solver: RigSolver, name: str, local: Pose | None
    ) -> tuple[Pose, Pose | None]:
        """Pose of a bone after its constraints.

        As long as only constraints in local space have acted, a bone that rests in
        its parent is one sample, whatever the parent does. Blending there is
        blending in the world: the parent turns both sides alike.

        Args:
            solver: knows where the other bones are.
            name: name of the bone; `known` says yes.
            local: its channels without them, or None for what `solver.rest_pose` says.

        Returns:
            The pose, and its channels where they are known.
        """
        # Of a bone that is taken to go with its parent, not all may be computed.
        stack = [constraint for constraint in self._stack(name) if constraint.computed]
        while stack and local is not None and stack[0].space == "LOCAL":
            constraint, *stack = stack
            new = self._locally(solver, name, local, constraint)
            local = _blend(local, new, constraint.share)
        pose = solver.rest_pose(name) if local is None else solver.unlocal(name, local)
        for constraint in stack:
            pose = _blend(pose, self._one(solver, name, pose, constraint), constraint.share)
        return pose, None if stack else local

    def _stack(self, name: str) -> list[_Acting]:
        """The constraints that act on a bone, from the last one that replaces all before it."""
        acting = self._stacks.get(name, [])
        first = max((i for i, c in enumerate(acting) if c.replaces), default=0)
        return acting[first:]

    def _one(self, solver: RigSolver, name: str, pose: Pose, constraint: _Acting) -> Pose:
        kind = constraint.kind
        if constraint.space == "LOCAL":
            local = solver.localised(name, pose)
            return solver.unlocal(name, self._locally(solver, name, local, constraint))
        if kind == "ARMATURE":
            return solver.carried(name, pose, constraint.target)
        there = solver.pose(constraint.target)
        if kind == "COPY_LOCATION":
            return pose.but(head=there)
        if kind == "COPY_SCALE":
            return pose.but(scale=there.scale)
        if kind == "COPY_ROTATION":
            return pose.but(rotation=there)
        return there

    def _locally(
        self, solver: RigSolver, name: str, local: Pose, constraint: _Acting
    ) -> Pose:
        """What a constraint in local space makes of a bone's channels."""
        order = self._orders[name]
        order = order if order in rotations.EULER_ORDERS else "XYZ"
        if constraint.kind == "LIMIT_ROTATION":
            angles = rotations.to_euler(local.rotation, order)
            held = np.clip(angles, constraint.limits[0], constraint.limits[1])
            turned = rotations.from_euler(np.where(constraint.axes, held, angles), order)
            return local.but(rotation=turned)
        there = solver.local(constraint.target)
        if constraint.kind == "COPY_ROTATION":
            turned = there.rotation
            if not constraint.axes.all():
                angles = rotations.to_euler(turned, order)
                own = rotations.to_euler(local.rotation, order)
                turned = rotations.from_euler(np.where(constraint.axes, angles, own), order)
            return local.but(rotation=turned)
        return there


def constraints_of(
    armature: bpy.types.Object,
    evaluated: bpy.types.Object,
    keyed: set[str],
    held: Iterable[str] = (),
    followed: bpy.types.Object | None = None,
    moved: Collection[str] = (),
) -> Constraints:
    """The constraints of a rig whose effect can be computed from the keyed bones.

    Args:
        armature: the rig.
        evaluated: the same as Blender evaluates it.
        keyed: names of the keyed bones.
        held: data paths of properties that keep one value.
        followed: an object whose constraints do not count.
        moved: what `moved_bones` gave.
    """
    still = set(held)
    moving = {
        name
        for name, found in displacing(armature).items()
        if any(f"{bone_path(name)}.{channel}" not in still for channel in found & CHANNELS)
    } - set(moved)
    moving |= {bone_of(p) for p in animated_paths(armature) if ".constraints[" in p}
    return Constraints(evaluated, keyed, moving, followed)


def _blend(old: Pose, new: Pose, share: float) -> Pose:
    if share >= 1.0:
        return new
    same = new.has_head_of(old)
    return new.but(
        rotation=rotations.slerp(old.rotation, new.rotation, share),
        head=old if same else old.head + (new.head - old.head) * share,
        scale=old.scale + (new.scale - old.scale) * share,
    )
