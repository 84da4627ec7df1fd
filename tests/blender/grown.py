# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs grown at random: the trees of bones, flags, poses and clips that strangers bring.

A person or an animal whose joints are where they have to be. Everything else is a matter
of chance: bones connected or not, their rolls and what they inherit, bones between those
with a part in the motion, jaws, tails and twists beside them, how the object stands, and an
action of the rig's own.
"""

import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

import rig_cases
from rig_names import RIGS

SCALES = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
MODES = ("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE")
LAST = 13


def grow(seed):
    """A rig, and the kind that it can be set up as; active and selected.

    Args:
        seed: of the random numbers.
    """
    rng = np.random.default_rng(seed)
    level = bool(rng.random() < 0.5)
    joints = rig_cases.quadruped() if level else rig_cases.human(str(rng.choice(["T", "A"])))
    names = {role: role if level else RIGS["unreal"].get(role, role) for role in joints}
    data = bpy.data.armatures.new("Grown")
    rig = bpy.data.objects.new("Grown", data)
    bpy.context.collection.objects.link(rig)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    size = float(rng.choice([1.0, 0.01, 2.5]))
    turn = Matrix.Rotation(float(rng.choice([0.0, np.pi / 2])), 3, "X")
    bpy.ops.object.mode_set(mode="EDIT")
    more = _bones(rng, data.edit_bones, joints, names, turn * (1.0 / size), level)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = str(rng.choice(MODES, p=(0.7, 0.1, 0.1, 0.1)))
    rig.matrix_world = (
        Matrix.Translation(rng.uniform(-2.0, 2.0, 3))
        @ Matrix.Rotation(float(rng.uniform(-3.0, 3.0)), 4, "Z")
        @ turn.inverted().to_4x4() @ Matrix.Scale(size, 4)
    )
    if rng.random() < 0.8:
        _animate(rng, rig, more)
    bpy.context.view_layer.update()
    return rig, "DOG" if level else str(rng.choice(["BIPED", "SKIER"]))


def _bones(rng, bones, joints, names, matrix, level):
    """Bones at the joints, some in between and some besides; names of the latter two."""
    children = {role: [r for r, (above, _) in joints.items() if above == role] for role in joints}
    more = []
    for role, (above, at) in joints.items():
        bone = bones.new(names[role])
        bone.head = matrix @ Vector(at)
        below = [joints[child][1] for child in children[role]]
        if len(below) == 1 or (below and rng.random() < 0.5):
            bone.tail = matrix @ Vector(below[0])
        else:
            bone.tail = bone.head + matrix @ Vector(rng.normal(0.0, 0.05, 3))
        if above:
            parent = bones[names[above]]
            # Bones in the legs of animals, which shape alone tells, would be of the legs.
            if rng.random() < 0.1 and not (level and role.startswith(("hind", "fore"))):
                between = bones.new(f"between {role}")
                start = 0.7 * np.array(at) + 0.3 * np.array(joints[above][1])
                between.head = matrix @ Vector(start if level else at)
                between.tail = between.head + matrix @ Vector((0.0, 0.03, 0.02))
                between.parent, parent = parent, between
                more.append(between.name)
            bone.parent = parent
            near = (parent.tail - bone.head).length < 1e-4 * parent.length
            bone.use_connect = near and bool(rng.random() < 0.6)
        if rng.random() < 0.25 and above:
            beside = bones.new(f"beside {role}")
            beside.head = bone.head + bone.vector * float(rng.uniform(0.0, 1.0))
            beside.tail = beside.head + matrix @ Vector(rng.normal(0.0, 0.05, 3))
            beside.parent = bone
            more.append(beside.name)
    for bone in bones:
        bone.roll = float(rng.uniform(-3.0, 3.0))
        bone.use_inherit_rotation = bool(rng.random() > 0.15)
        bone.use_local_location = bool(rng.random() > 0.15)
        bone.inherit_scale = str(rng.choice(SCALES, p=(0.5, 0.1, 0.1, 0.1, 0.1, 0.1)))
    return more


def _animate(rng, rig, more):
    """An action of the rig's own: it moves bones besides, and says of others where they are."""
    every = bool(rng.random() < 0.6)  # as files of engines have it
    for bone in rig.pose.bones:
        besides = bone.name in more
        if not (every or (besides and rng.random() < 0.8)):
            continue
        unit = 0.1 * bone.bone.length
        for frame in (1, 5, 12):
            if besides or every:
                bone.location = rng.normal(0.0, unit, 3) if besides else (0.0, 0.0, 0.0)
                turn = Euler(rng.normal(0.0, 0.4, 3)).to_quaternion()
                _turn(bone, turn)
            for path in ("location", ROTATION.get(bone.rotation_mode, "rotation_euler"), "scale"):
                bone.keyframe_insert(path, frame=frame)
    if rig.animation_data is not None and rng.random() < 0.3:
        data = rig.animation_data
        track = data.nla_tracks.new()
        strip = track.strips.new("Clip", 1, data.action)
        strip.action_slot = data.action_slot
        track.mute = bool(rng.random() < 0.5)
        data.action = None
    bpy.context.scene.frame_set(1)


ROTATION = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def _turn(bone, turn):
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = turn
    elif bone.rotation_mode == "AXIS_ANGLE":
        axis, angle = turn.to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = turn.to_euler(bone.rotation_mode)


def seen(rig, frames):
    """World matrices (frames, bones, 4, 4) of all bones of a rig, as Blender shows them."""
    found = []
    for frame in frames:
        whole = int(np.floor(frame))
        bpy.context.scene.frame_set(whole, subframe=float(frame - whole))
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(rig.matrix_world @ b.matrix) for b in evaluated.pose.bones])
    return np.array(found)


def apart(first, second):
    """Per bone, how far apart heads (m) and directions (rad) of two such arrays are at most."""
    far = np.linalg.norm(first[..., :3, 3] - second[..., :3, 3], axis=-1).max(axis=0)
    axes = [m[..., :3, :3] / np.linalg.norm(m[..., :3, :3], axis=-2)[..., None, :] for m in
            (first, second)]
    turned = 2.0 * np.arcsin(np.minimum(np.linalg.norm(axes[0] - axes[1], axis=-2) / 2.0, 1.0))
    return far, turned.max(axis=(0, -1))
