# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that Rigify generated: brought in, and how far they are off their motions."""

import bpy
import numpy as np
import pytest
import rolling
from own_rigs_help import RIGS, leg_length, places
from poise.addon.show import preview
from scenes_help import path

PLACED = ("root", "pelvis", "foot", "hand", "hind", "fore")


def bring_in(file="rigify_human"):
    """Open a generated rig; it is active, in its rest pose."""
    path = RIGS / f"{file}.blend"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rig = bpy.data.objects["rig"]
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.context.scene.frame_set(1)
    return rig


def worst_off(rig, controls, known, frames, placed=PLACED):
    """Largest distance (Blender units), and angle between directions, from the targets."""
    far, turned = {}, {}
    for frame in frames:
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=float(frame % 1.0))
        here = places(rig, [bone for bone, _ in known.values()])
        there = places(controls, [f"TGT-{role}" for role in known])
        for role, (bone, _) in known.items():
            a, b = here[bone], there[f"TGT-{role}"]
            name = role.split(".")[0]
            if name in placed:
                far[role] = max(far.get(role, 0.0), (a.translation - b.translation).length)
            if name != "neck":
                angle = a.col[1].xyz.angle(b.col[1].xyz)
                turned[role] = max(turned.get(role, 0.0), angle)
    return far, turned


def assert_follows(rig, controls, known, frames):
    far, turned = worst_off(rig, controls, known, frames)
    allowed = max(1e-3, 1e-3 * leg_length(controls))
    assert {role: d for role, d in far.items() if d > allowed} == {}
    assert {role: a for role, a in turned.items() if a > np.radians(0.5)} == {}


def constrained(rig, controls):
    """Bones of the rig that have a constraint to Poise's controls."""
    return {
        bone.name for bone in rig.pose.bones for c in bone.constraints
        if getattr(c, "target", None) == controls
    }


def settings(rig):
    """Every switch of the rig, and its type."""
    return {
        (bone.name, key): (type(bone[key]), bone[key])
        for bone in rig.pose.bones if bone.name.endswith((".L", ".R", "torso"))
        for key in bone.keys() if isinstance(bone[key], (int, float))
    }


def rolled(rig, controls, motion, bones, gait, speed, radius, mode):
    """Bake two seconds of a gait onto the rig's controls; how far its soles slide.

    Args:
        rig: the rig.
        controls: Poise's controls.
        motion: the Motion object.
        bones: leg -> the rig's bones of heel and toes.
        gait: name of a preset.
        speed: m/s.
        radius: of the bend that it goes along, m; 0 for straight ahead.
        mode: "DENSE" or "SPARSE".
    """
    whole = motion.poise_motion
    whole.motion, whole.key_mode = "GAIT", mode
    whole.frame_start, whole.frame_end = 1, 49
    whole.gait.speed, whole.gait.sequence[0].gait = speed, gait
    if radius:
        turns = np.linspace(0.0, 2.0, 40)
        whole.gait.path = path(
            *((radius * (1.0 - np.cos(a)), -radius * np.sin(a), 0.0) for a in turns)
        )
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    done = preview.refresh(bpy.context, motion).solved
    return rolling.slide(rig, done, rolling.their_bones(rig, controls, done, bones))


def off_their_tracks(motion):
    """What the bake itself found when it compared the rig with the motion."""
    return [
        p.message for p in motion.poise_motion.problems
        if p.code in ("POSITION_OFF", "DIRECTION_OFF")
    ]


def keyed_bones(rig):
    from poise.addon.rigs.pose.animated import animated_paths
    from poise.addon.rigs.pose.channels import bone_of

    return {bone_of(path) for path in animated_paths(rig)} - {""}
