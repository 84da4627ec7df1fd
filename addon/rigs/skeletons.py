# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures of Blender read into plain skeletons."""

from __future__ import annotations

import bpy
import numpy as np

from .. import compat
from . import characters
from .recognise.skeleton import BoneRest, Skeleton

# Of a mesh's vertices so many are asked for their weights, evenly spread.
SAMPLED_VERTICES = 4000


def read_skeleton(armature: bpy.types.Object) -> Skeleton:
    """The rest pose of an armature, and which of its bones carry skin.

    Nothing is written and no mode is changed. Bones made in an unfinished edit
    mode are not seen: Blender shows them to others when it is left.

    Args:
        armature: the armature object.

    Raises:
        ValueError: the object is not an armature.
    """
    if armature is None or armature.type != "ARMATURE":
        raise ValueError("a skeleton is read from an armature object")
    bones = []
    for bone in armature.data.bones:
        pose = armature.pose.bones.get(bone.name) if armature.pose else None
        constraints = () if pose is None else tuple(pose.constraints)
        bones.append(
            BoneRest(
                name=bone.name,
                parent=bone.parent.name if bone.parent else "",
                head=np.array(bone.head_local, dtype=float),
                tail=np.array(bone.tail_local, dtype=float),
                axes=np.array(bone.matrix_local, dtype=float)[:3, :3],
                deform=bone.use_deform,
                connected=bone.use_connect,
                constraints=tuple(constraint.type for constraint in constraints),
                targets=tuple(
                    constraint.subtarget
                    for constraint in constraints
                    if getattr(constraint, "target", None) == armature
                    and getattr(constraint, "subtarget", "")
                ),
                properties=() if pose is None else _properties(pose),
                shape=pose is not None and pose.custom_shape is not None,
                hidden=bone.hide if pose is None else compat.bone_hidden(pose),
            )
        )
    world = np.array(armature.matrix_world, dtype=float)[:3, :3]
    # +Z of the world, seen from the armature: the rows of a rotation are its axes.
    upright = world[2] / max(float(np.linalg.norm(world[2])), 1e-30)
    maker = "POISE" if characters.kind_of(armature) else ""
    return Skeleton.of(bones, _skin(armature), upright if upright.any() else None, maker)


def _properties(bone: bpy.types.PoseBone) -> tuple[str, ...]:
    """Names of a bone's own properties; where Rigify says what a bone becomes, that too."""
    named = {"rigify_type"} if getattr(bone, "rigify_type", "") else set()
    return tuple(sorted({*bone.keys()} | named))


def pose_places(armature: bpy.types.Object) -> dict[str, tuple[float, ...]]:
    """Bone -> where it begins and its quaternion in armature space, as the pose shows it.

    Args:
        armature: the armature object.
    """
    posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    found = {}
    for bone in posed.pose.bones:
        place, turn, _ = bone.matrix.decompose()
        found[bone.name] = (*map(float, place), *map(float, turn))
    return found


def is_skin_of(obj: bpy.types.Object, armature: bpy.types.Object) -> bool:
    """Whether an object is a mesh that an armature deforms.

    Args:
        obj: any object.
        armature: the armature object.
    """
    return obj.type == "MESH" and any(
        modifier.type == "ARMATURE" and modifier.object == armature for modifier in obj.modifiers
    )


def _skin(armature: bpy.types.Object) -> dict[str, float]:
    """Bone -> sum of the weights of the vertices that follow it, of a sample of them."""
    names = {bone.name for bone in armature.data.bones}
    found: dict[str, float] = {}
    for obj in bpy.data.objects:
        if obj.type == "MESH" and obj.parent == armature and obj.parent_type == "BONE":
            # A rigid part follows its bone without any weights.
            if obj.parent_bone in names:
                weight = float(len(obj.data.vertices))
                found[obj.parent_bone] = found.get(obj.parent_bone, 0.0) + weight
            continue
        if not is_skin_of(obj, armature):
            continue
        groups = {group.index: group.name for group in obj.vertex_groups if group.name in names}
        vertices = obj.data.vertices
        step = max(1, len(vertices) // SAMPLED_VERTICES)
        for index in range(0, len(vertices), step):
            for element in vertices[index].groups:
                name = groups.get(element.group)
                if name is not None and element.weight > 0.0:
                    found[name] = found.get(name, 0.0) + element.weight * step
    return found
