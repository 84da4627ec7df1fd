# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanical figures for tests, and what stands in their way."""

import bpy
import numpy as np
from poise.addon import compat, pipeline

SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def block(low, high, name="Block"):
    """A block between two corners, in the collection Obstacles."""
    corners = [[(low, high)[k][i] for i, k in enumerate((x, y, z))]
               for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], SIDES)
    obj = bpy.data.objects.new(name, mesh)
    home = bpy.data.collections.get("Obstacles")
    if home is None:
        home = bpy.data.collections.new("Obstacles")
        bpy.context.scene.collection.children.link(home)
    home.objects.link(obj)
    bpy.context.view_layer.update()
    return obj


def pendulum(frames=73):
    """A pendulum, its Motion object, which has so many frames, and the settings of controllers."""
    bpy.ops.poise.character_add(kind="PENDULUM")
    rig = bpy.context.object
    motion = rig.poise.motion_object
    motion.poise_motion.frame_end = frames
    return rig, motion, motion.poise_motion.control


def solve(motion):
    """A motion solved as its settings are."""
    return pipeline.solve(pipeline.gather(bpy.context, motion))


# Name, parent, head in the plane (along the parent, m), angle from +X in the plane, length.
TREE = (
    ("trunk", "", 0.0, -1.2, 0.6),
    ("arm.L", "trunk", 0.6, -0.3, 0.4),
    ("arm.R", "trunk", 0.45, -2.4, 0.35),
    ("hand.R", "arm.R", 0.35, -1.9, 0.2),
)


def tree(parts=TREE, lift=None):
    """An armature whose bones branch in the plane y = 0, in Pose Mode, all of them selected."""
    data = bpy.data.armatures.new("Mobile")
    rig = bpy.data.objects.new("Mobile", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    heads, ways = {}, {}
    for name, parent, along, angle, length in parts:
        bone = data.edit_bones.new(name)
        ways[name] = np.array((np.cos(angle), 0.0, np.sin(angle)))
        heads[name] = heads[parent] + along * ways[parent] if parent else np.zeros(3)
        bone.head, bone.tail = heads[name], heads[name] + length * ways[name]
        if name == lift:
            bone.tail.y += 0.2
        if parent:
            bone.parent = data.edit_bones[parent]
        bone.align_roll((0.0, -1.0, 0.0))
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
        compat.select_bone(bone, True)
    return rig
