# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that other people made: where they are, how they come in, who plays which role.

They are not part of the project. POISE_RIGS names their folder; it may as well be
beside the repository. A table in it, rig_roles.json, says which bone plays which role.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import bpy

FOLDER = Path(
    os.environ.get("POISE_RIGS", Path(__file__).resolve().parents[2] / "shared" / "rigs")
)
TABLE = FOLDER / "rig_roles.json"
KNOWN: dict[str, dict] = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.is_file() else {}

ENDINGS = (".blend", ".bvh", ".fbx", ".glb", ".gltf")

# Files that the table leaves out -> one of a rig with the same bones.
KIN = {
    "animateddrawings_bvh/jumping.bvh": "animateddrawings_bvh/zombie.bvh",
    "quaternius_animals/Cow.glb": "quaternius_animals/Horse.glb",
}


def files() -> list[str]:
    """All files of rigs, by their path in the folder."""
    found = (path for path in sorted(FOLDER.rglob("*")) if path.suffix.lower() in ENDINGS)
    return [path.relative_to(FOLDER).as_posix() for path in found]


def bring_in(name: str) -> bpy.types.Object | None:
    """Import a file into the one that is open, or open it; its armature is made active.

    Args:
        name: its path in the folder.

    Returns:
        The armature, as the file left it; None if it has none.

    Raises:
        RuntimeError: Blender cannot read it.
    """
    path = FOLDER / name
    before: set[bpy.types.Object] = set()
    if path.suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    else:
        before = set(bpy.data.objects)
        if path.suffix == ".bvh":
            bpy.ops.import_anim.bvh(filepath=str(path))
        elif path.suffix == ".fbx":
            bpy.ops.import_scene.fbx(filepath=str(path))
        else:
            bpy.ops.import_scene.gltf(filepath=str(path))
    new = [obj for obj in bpy.data.objects if obj not in before and obj.type == "ARMATURE"]
    wanted = KNOWN.get(name, {}).get("object")
    new = [obj for obj in new if wanted in (None, obj.name)]
    rig = max(new, key=lambda obj: len(obj.data.bones), default=None)
    if rig is not None:
        for obj in bpy.context.selected_objects:
            obj.select_set(False)
        rig.select_set(True)
        bpy.context.view_layer.objects.active = rig
    return rig


def expected(roles: dict) -> dict[str, str]:
    """The table's roles of a rig under Poise's names.

    Args:
        roles: its entry. Of a rig with controls of its own the table tells those.
    """
    if "com" in roles:
        return {}
    found = {"pelvis": roles["hips"], "chest": roles["chest"], "head": roles["head"]}
    if "root" in roles:
        found["root"] = roles["root"]
    spine = [bone for bone in roles["spine"] if bone != roles["chest"]]
    for family, bones in (("spine", spine), ("neck", roles["neck"]),
                          ("tail", roles.get("tail", []))):
        found |= {f"{family}.{number}": bone for number, bone in enumerate(bones, 1)}
    for side in "LR":
        if "legs" in roles:
            parts = ("thigh", "shin", "foot", "toe")
            found |= {f"{part}.{side}": bone
                      for part, bone in zip(parts, roles["legs"][side], strict=False)}
        if "arms" in roles:
            arm = roles["arms"][side]
            parts = ("clavicle", "upper_arm", "forearm", "hand")[-len(arm):]
            found |= {f"{part}.{side}": bone for part, bone in zip(parts, arm, strict=True)}
        for girdle in ("hind", "fore"):
            if girdle in roles:
                found |= {f"{girdle}.{number}.{side}": bone
                          for number, bone in enumerate(roles[girdle][side], 1)}
    return found


def expected_controls(roles: dict) -> dict[str, str]:
    """The table's controls of a generated rig under Poise's names; empty for other rigs.

    Args:
        roles: its entry.
    """
    if "com" not in roles:
        return {}
    wanted = {"root": roles["root"], "torso": roles["com"], "hips": roles["hips"],
              "chest": roles["chest"], "neck": roles["neck"][0], "head": roles["head"]}
    human = roles["kind"] == "biped"
    limbs = ("foot", "hand") if human else ("hind", "fore")
    for side in "LR":
        wanted |= {f"{limb}_ik.{side}": roles[f"{limb}_ik"][side] for limb in limbs}
        wanted |= {f"{limbs[0]}_pole.{side}": f"thigh_ik_target.{side}",
                   f"{limbs[1]}_pole.{side}": f"upper_arm_ik_target.{side}",
                   f"{limbs[0]}_switch.{side}": f"thigh_parent.{side}",
                   f"{limbs[1]}_switch.{side}": f"upper_arm_parent.{side}"}
        if human:
            wanted |= {f"foot_heel.{side}": roles["heel"][side],
                       f"foot_toe.{side}": roles["toe"][side]}
    return wanted
