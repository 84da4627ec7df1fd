# SPDX-License-Identifier: GPL-3.0-or-later
"""A cat that Rigify generates, in a body of blocks: a rig that Poise did not make.

It is generated in a process of its own, since a Blender that is a Python module
does not come to an end once Rigify was enabled in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import mannequin
import numpy as np

SIZE = 0.22  # of the blocks' edges, beside a person's

# Bone -> half width and half depth of its block, metres; of both sides where it has a side.
_BLOCKS = {
    "spine": (0.034, 0.040), "spine.001": (0.033, 0.041), "spine.002": (0.034, 0.043),
    "spine.003": (0.034, 0.046), "spine.004": (0.023, 0.026), "spine.005": (0.023, 0.025),
    "spine.006": (0.031, 0.026),
    "tail.001": (0.012, 0.012), "tail.002": (0.010, 0.010), "tail.003": (0.009, 0.009),
    "tail.004": (0.008, 0.008),
    "thigh.L": (0.018, 0.030), "thigh.L.001": (0.015, 0.023), "shin.L": (0.012, 0.016),
    "shin.L.001": (0.009, 0.010), "foot.L": (0.008, 0.009), "foot.L.001": (0.008, 0.009),
    "r_toe.L": (0.013, 0.006),
    "shoulder.L": (0.013, 0.028), "upper_arm.L": (0.014, 0.021), "upper_arm.L.001": (0.012, 0.015),
    "forearm.L": (0.010, 0.012), "forearm.L.001": (0.009, 0.010), "hand.L": (0.009, 0.010),
    "hand.L.001": (0.009, 0.009), "f_toe.L": (0.013, 0.006),
}  # fmt: skip
# Shares of the head's length where an ear begins and ends, and how far up; and how thick it is.
_EAR = ((0.15, 0.018), (0.10, 0.052), (0.011, 0.006))


def make(name: str = "Cat", colour=(0.34, 0.20, 0.09)):
    """Bring the cat in; it is active.

    Args:
        name: name of the armature.
        colour: linear RGB of the mesh.

    Returns:
        The armature object; the mesh is its child.
    """
    rig = bring_in("cat", name)
    mannequin.blocks(rig, _parts(rig), name, colour, SIZE)
    return rig


def bring_in(animal: str, name: str = "rig"):
    """Bring an animal in that has no mesh; it is active.

    Args:
        animal: which of Rigify's metarigs: "cat", "wolf", "horse", "basic_quadruped" ...
        name: name of the armature.

    Returns:
        The armature object.
    """
    import bpy

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "animal.blend"
        made = subprocess.run(
            [sys.executable, __file__, str(file), animal],
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        if made.returncode or not file.is_file():
            raise RuntimeError(f"Rigify generated no {animal}: {made.stderr[-2000:]}")
        with bpy.data.libraries.load(str(file)) as (_there, here):
            here.objects = ["rig"]
    (rig,) = here.objects
    rig.name = name
    bpy.context.scene.collection.objects.link(rig)
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    return rig


def generate(file: str, animal: str) -> None:
    """Generate a rig, without the bones of its face, and save it.

    Args:
        file: path of the .blend; its armature is called "rig".
        animal: which of Rigify's metarigs.
    """
    import bpy  # which brings the other along

    import addon_utils  # isort: skip

    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{animal}_metarig_add")()
    plan = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bones = plan.data.edit_bones
    for bone in [b for b in bones if "face" in {b.name, *(p.name for p in b.parent_recursive)}]:
        bones.remove(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.pose.rigify_generate()
    bpy.data.objects.remove(plan)
    bpy.ops.wm.save_as_mainfile(filepath=file)


def _parts(rig):
    """(bone, head, tail, half sizes) of the blocks, from the rest pose."""
    parts = []
    for own, half in _BLOCKS.items():
        sides = (own, own.replace(".L", ".R")) if ".L" in own else (own,)
        for bone in (f"DEF-{each}" for each in sides):
            rest = rig.data.bones[bone]
            parts.append((bone, np.array(rest.head_local), np.array(rest.tail_local), half))
    head = rig.data.bones["DEF-spine.006"]
    along = np.array(head.tail_local - head.head_local)
    up = np.cross(along, (1.0, 0.0, 0.0)) / np.linalg.norm(along)
    for side in (1.0, -1.0):
        ends = [
            np.array(head.head_local) + share * along + rise * up + (0.019 * side, 0.0, 0.0)
            for share, rise in _EAR[:2]
        ]
        parts.append((head.name, *ends, _EAR[2]))
    return parts


if __name__ == "__main__":
    generate(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)
