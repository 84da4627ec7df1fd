# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs of other people: built or brought in, set up, and what follows what."""

import os
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from operators_help import activate

RIGS = Path(os.environ.get("POISE_RIGS", Path(__file__).parents[3] / "shared" / "rigs"))

# What a library made of loading a file once: not the rig's.
NOISE = (r"\.users$", r"node_tree", r"use_extra_user")


def human(name="Human", scale=1.0, straight=True, turn=None):
    """A plain T-posed skeleton of 1.75 m; bones of both sides are mirror images."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    bend = 0.0 if straight else 0.03
    chain = {
        "Hips": ("", (0, 0, 0.95), (0, 0, 1.05)),
        "Spine": ("Hips", (0, 0.01, 1.05), (0, 0.01, 1.2)),
        "Chest": ("Spine", (0, 0.01, 1.2), (0, 0, 1.45)),
        "Neck": ("Chest", (0, 0, 1.45), (0, 0, 1.55)),
        "Head": ("Neck", (0, 0, 1.55), (0, 0, 1.75)),
    }
    for side, sign in (("Left", 1), ("Right", -1)):
        chain |= {
            f"{side}Shoulder": ("Chest", (0.02 * sign, 0, 1.4), (0.17 * sign, 0, 1.42)),
            f"{side}Arm": (f"{side}Shoulder", (0.17 * sign, 0, 1.42), (0.45 * sign, bend, 1.42)),
            f"{side}ForeArm": (f"{side}Arm", (0.45 * sign, bend, 1.42), (0.70 * sign, 0, 1.42)),
            f"{side}Hand": (f"{side}ForeArm", (0.70 * sign, 0, 1.42), (0.80 * sign, 0, 1.42)),
            f"{side}UpLeg": ("Hips", (0.09 * sign, 0, 0.93), (0.09 * sign, -bend, 0.50)),
            f"{side}Leg": (f"{side}UpLeg", (0.09 * sign, -bend, 0.50), (0.09 * sign, 0, 0.08)),
            f"{side}Foot": (f"{side}Leg", (0.09 * sign, 0, 0.08), (0.09 * sign, -0.13, 0.02)),
            f"{side}ToeBase": (
                f"{side}Foot", (0.09 * sign, -0.13, 0.02), (0.09 * sign, -0.20, 0.0)
            ),
        }
    matrix = (turn or Matrix.Identity(3)) * (1.0 / scale)
    for bone, (parent, head, tail) in chain.items():
        made = data.edit_bones.new(bone)
        made.head, made.tail = matrix @ _vector(head), matrix @ _vector(tail)
        if parent:
            made.parent = data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.scale = (scale,) * 3
    if turn is not None:
        rig.rotation_euler = turn.inverted().to_euler()
    bpy.context.view_layer.update()
    return rig


def _vector(values):

    return Vector(values)


def set_up(kind, frames=37, **turns):
    """Set the active rig up; returns rig, controls and Motion object."""
    rig = bpy.context.view_layer.objects.active
    assert bpy.ops.poise.rig_setup(kind=kind) == {"FINISHED"}
    motion = rig.poise.motion_object
    settings = motion.poise_motion
    settings.frame_start, settings.frame_end = 1, frames
    for name, value in turns.items():
        setattr(settings.turns, name, value)
    return rig, settings.character, motion


def followers(poise, controls):
    import importlib

    module = importlib.import_module(f"{poise.__name__}.addon.rigs.controls.control_rig")
    return module.followers(controls)


def places(obj, bones):
    """World matrices of bones, evaluated."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {name: evaluated.matrix_world @ evaluated.pose.bones[name].matrix for name in bones}


def worst_off(rig, controls, known, frames):
    """Largest distance (Blender units) and angle of a rig's bones from their targets."""
    far, turned = 0.0, 0.0
    for frame in frames:
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=float(frame % 1.0))
        here = places(rig, [bone for bone, _ in known.values()])
        there = places(controls, [f"TGT-{role}" for role in known])
        for role, (bone, located) in known.items():
            a, b = here[bone], there[f"TGT-{role}"]
            if role.split(".")[0] in ("pelvis", "foot", "hand") or located:
                far = max(far, (a.translation - b.translation).length)
            angle = a.to_quaternion().rotation_difference(b.to_quaternion()).angle
            turned = max(turned, min(angle, 2 * np.pi - angle))
    return far, turned


def leg_length(controls):
    bones = controls.data.bones
    return bones["thigh.L"].length + bones["shin.L"].length


def put_at_rest(rig):
    """Take a rig's clip and pose away, and make it active."""
    rig.animation_data_clear()
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.context.view_layer.update()


def bring_in(file):
    """Import a rig in its rest pose, without its own clips; its armature is active."""
    path = RIGS / file
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    bpy.ops.import_scene.gltf(filepath=str(path))
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    put_at_rest(rig)
    return rig


def build(joints, names, name="Rig"):
    """An armature object of joints, active."""
    data = bpy.data.armatures.new(name)
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    activate(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    for role, (parent, at) in joints.items():
        bone = data.edit_bones.new(names[role])
        bone.head = at
        bone.tail = np.array(at) + (0.0, 0.0, 0.05)
        if parent:
            bone.parent = data.edit_bones[names[parent]]
    bpy.ops.object.mode_set(mode="OBJECT")
    return obj
