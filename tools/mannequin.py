# SPDX-License-Identifier: GPL-3.0-or-later
"""A mannequin of blocks on a plain skeleton: a rig that Poise did not make, for demo scenes."""

from __future__ import annotations

import numpy as np

# Bone -> (parent, head, tail, half width, half depth) in metres; "{s}" stands for both sides.
_BONES = {
    "Hips": ("", (0.0, 0.0, 0.95), (0.0, 0.0, 1.06), 0.155, 0.10),
    "Spine": ("Hips", (0.0, 0.01, 1.06), (0.0, 0.01, 1.17), 0.135, 0.09),
    "Spine1": ("Spine", (0.0, 0.01, 1.17), (0.0, 0.01, 1.28), 0.145, 0.095),
    "Chest": ("Spine1", (0.0, 0.01, 1.28), (0.0, 0.01, 1.49), 0.165, 0.11),
    "Neck": ("Chest", (0.0, 0.01, 1.49), (0.0, -0.01, 1.57), 0.055, 0.055),
    "Head": ("Neck", (0.0, -0.01, 1.57), (0.0, -0.01, 1.80), 0.085, 0.105),
    "{s}Shoulder": ("Chest", (0.03, 0.01, 1.45), (0.18, 0.01, 1.45), 0.045, 0.05),
    "{s}Arm": ("{s}Shoulder", (0.18, 0.01, 1.45), (0.47, 0.01, 1.45), 0.047, 0.047),
    "{s}ForeArm": ("{s}Arm", (0.47, 0.01, 1.45), (0.73, 0.01, 1.45), 0.038, 0.038),
    "{s}Hand": ("{s}ForeArm", (0.73, 0.01, 1.45), (0.85, 0.01, 1.45), 0.022, 0.045),
    "{s}UpLeg": ("Hips", (0.095, 0.0, 0.93), (0.095, 0.0, 0.50), 0.075, 0.08),
    "{s}Leg": ("{s}UpLeg", (0.095, 0.0, 0.50), (0.095, 0.0, 0.09), 0.052, 0.057),
    "{s}Foot": ("{s}Leg", (0.095, 0.0, 0.09), (0.095, -0.14, 0.03), 0.045, 0.045),
    "{s}ToeBase": ("{s}Foot", (0.095, -0.14, 0.03), (0.095, -0.22, 0.02), 0.045, 0.025),
}


def make(name: str = "Mannequin", colour=(0.80, 0.62, 0.40)):
    """An armature in a T-pose with its mesh, linked to the scene and active.

    Args:
        name: name of the armature.
        colour: linear RGB of the mesh.

    Returns:
        The armature object; the mesh is its child.
    """
    import bpy

    bones = {}
    for bone, (parent, head, tail, *half) in _BONES.items():
        for side, sign in (("Left", 1.0), ("Right", -1.0)) if "{s}" in bone else (("", 1.0),):
            flip = np.array([sign, 1.0, 1.0])
            bones[bone.format(s=side)] = (
                parent.format(s=side), np.array(head) * flip, np.array(tail) * flip, half
            )
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(rig)
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, (parent, head, tail, _half) in bones.items():
        made = data.edit_bones.new(bone)
        made.head, made.tail = head, tail
        if parent:
            made.parent = data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    blocks(rig, [(bone, *place) for bone, (_parent, *place) in bones.items()], name, colour)
    return rig


def blocks(rig, parts, name: str, colour, size: float = 1.0) -> None:
    """One rounded block along each bone, moved by that bone alone.

    Args:
        rig: the armature object.
        parts: (bone, head, tail, (half width, half depth)) of each, in the rest pose.
        name: of the mesh.
        colour: linear RGB of the mesh.
        size: how large the figure is beside a person.
    """
    import bpy

    points, faces, owners = [], [], []
    for bone, head, tail, half in parts:
        along = tail - head
        length = float(np.linalg.norm(along))
        y = along / length
        x = np.array([1.0, 0.0, 0.0]) if abs(y[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
        x = x - y * float(x @ y)
        x /= np.linalg.norm(x)
        z = np.cross(x, y)
        first = len(points)
        for at, share in (
            (-0.015 * size, 0.80), (0.03 * size, 1.0), (length - 0.02 * size, 0.94), (length, 0.72)
        ):
            for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1)):
                points.append(head + y * at + (x * a * half[0] + z * b * half[1]) * share)
                owners.append(bone)
        for ring in range(3):
            low = first + 4 * ring
            faces += [
                (low + i, low + (i + 1) % 4, low + 4 + (i + 1) % 4, low + 4 + i) for i in range(4)
            ]
        faces += [tuple(range(first + 3, first - 1, -1)), tuple(range(first + 12, first + 16))]
    mesh = bpy.data.meshes.new(f"{name} Body")
    mesh.from_pydata([tuple(p) for p in points], [], faces)
    mesh.update()
    material = bpy.data.materials.new(f"{name} Wood")
    material.diffuse_color = (*colour, 1.0)
    mesh.materials.append(material)
    obj = bpy.data.objects.new(f"{name} Body", mesh)
    for bone in dict.fromkeys(owners):
        group = obj.vertex_groups.new(name=bone)
        group.add([i for i, owner in enumerate(owners) if owner == bone], 1.0, "REPLACE")
    obj.parent = rig
    obj.modifiers.new("Bevel", "BEVEL").width = 0.018 * size
    obj.modifiers["Bevel"].segments = 3
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.collection.objects.link(obj)
