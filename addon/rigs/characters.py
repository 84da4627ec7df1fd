# SPDX-License-Identifier: GPL-3.0-or-later
"""Poise's own characters: build one, read its size back, swap its mesh."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, pi, radians

import bpy
import numpy as np

from ..mapping.tracks import Figure
from .builders import armature as rig
from .builders import figure_mesh
from .builders.skeleton import SHIN, SKIER, SNOWBOARDER, THIGH, build_skeleton


@dataclass(frozen=True)
class Kind:
    """A character that can be built.

    Attributes:
        label: name for menus and for the object.
        description: tooltip.
        sport: what it does, as the presets call it.
    """

    label: str
    description: str
    sport: str


KINDS = {
    SKIER: Kind("Skier", "A skier with skis and poles", "SKI"),
    SNOWBOARDER: Kind("Snowboarder", "A snowboarder on a board", "SNOWBOARD"),
}

_SIDED = {
    "shoulder": "shoulder", "knee": "knee_pole", "hand": "hand_ik", "elbow": "elbow_pole",
}
_CENTRE = ("root", "pelvis", "spine", "chest", "neck", "head")


def _role_bones(kind: str) -> dict[str, str]:
    sided = dict(_SIDED)
    bones = {role: role for role in _CENTRE}
    if kind == SKIER:
        sided |= {"ski": "ski", "pole_tip": "pole_tip"}
    else:
        bones["board"] = "board"
        sided["foot"] = "foot_ik"
    for side in ("L", "R"):
        bones |= {f"{role}.{side}": f"{bone}.{side}" for role, bone in sided.items()}
    return bones


# kind -> role -> the control bone to key for that role. Every control's head
# is at its role's joint in the rest pose.
ROLE_BONES = {kind: _role_bones(kind) for kind in KINDS}

# kind -> custom properties of the root bone that must be 1 for the controls
# above to be in charge.
SWITCHES = {kind: rig.switches(kind) for kind in KINDS}

# Faces that meet at more than this angle look sharp.
CREASE = {"Body": radians(70.0), "Equipment": radians(32.0)}

# part -> linear RGB of a new character; `build_character(colours=...)` overrides any.
COLOURS = dict(figure_mesh.COLOURS)

# Joints of a figure that are not keyed roles: joint -> bone whose head it is.
_JOINT_BONES = {
    "foot": "foot", "hip": "thigh", "knee_joint": "shin", "elbow_joint": "forearm",
    "upper_arm": "upper_arm", "toe": "toe",
}


def build_character(
    context: bpy.types.Context,
    kind: str,
    *,
    location=(0.0, 0.0, 0.0),
    yaw: float = 0.0,
    height: float = 1.78,
    mass: float = 75.0,
    colours=None,
    collection: bpy.types.Collection | None = None,
    regular: bool = True,
    name: str = "",
) -> bpy.types.Object:
    """Build a rigged character with its equipment.

    The rest pose is in metres. In a scene whose unit scale is not 1 the object
    is scaled, so that the figure measures `height` there too.

    Args:
        context: any context; mode, selection and active object are left alone.
        kind: one of KINDS.
        location: where it stands, in Blender units.
        yaw: turn about +Z in radians; 0 faces -Y.
        height: stature in metres.
        mass: kg, with equipment.
        colours: part -> (r, g, b) or (r, g, b, a), linear; see `COLOURS`.
        collection: where to link it; None is the active collection.
        regular: snowboarder only: left foot leads; False is goofy.
        name: name of the object; empty for the kind's own.

    Returns:
        The armature object. Names of data-blocks may carry a suffix.

    Raises:
        ValueError: unknown kind, height or mass not above 0.
    """
    if not (np.isfinite(mass) and mass > 0.0):
        raise ValueError(f"Mass is {mass}: it must be above 0 kg")
    skeleton = build_skeleton(kind, height, regular)
    armature = rig.make_armature(context, skeleton, name or KINDS[kind].label)
    armature["poise_kind"] = kind
    armature["poise_height"] = float(height)
    armature["poise_mass"] = float(mass)
    armature["poise_regular"] = bool(regular)
    for key, value in skeleton.equipment.items():
        armature[f"poise_{key}"] = float(value)
    armature.location = location
    armature.rotation_euler = (0.0, 0.0, yaw)
    units = context.scene.unit_settings
    if units.system != "NONE":
        armature.scale = (1.0 / units.scale_length,) * 3
    home = collection or context.collection or context.scene.collection
    home.objects.link(armature)
    palette = COLOURS | dict(colours or {})
    materials = {part: figure_mesh.make_material(part, palette[part])
                 for part in figure_mesh.PARTS}
    for part, surface in figure_mesh.figure_surfaces(skeleton).items():
        obj = figure_mesh.make_mesh_object(
            surface, f"{armature.name} {part}", materials, CREASE[part])
        obj["poise_figure"] = part
        home.objects.link(obj)
        _wear(armature, obj)
    context.view_layer.update()
    return armature


def _wear(armature: bpy.types.Object, obj: bpy.types.Object) -> None:
    """Let an armature move a mesh that is modelled in its space."""
    obj.parent = armature
    obj.matrix_parent_inverse.identity()
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature


def figure_meshes(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes that came with a character: body and equipment.

    Args:
        armature: the character.
    """
    return [child for child in armature.children if "poise_figure" in child]


def materials_of(armature: bpy.types.Object) -> list[bpy.types.Material]:
    """Materials of a character's own meshes, in the order of their parts.

    Args:
        armature: the character.
    """
    found = {slot.material.get("poise_part", ""): slot.material
             for obj in figure_meshes(armature)
             for slot in obj.material_slots if slot.material is not None}
    return [found[part] for part in figure_mesh.PARTS if part in found]


def kind_of(armature: bpy.types.Object | None) -> str:
    """Kind of one of our characters, or "" for anything else.

    Args:
        armature: an object, or None.
    """
    if armature is None or armature.type != "ARMATURE":
        return ""
    kind = armature.get("poise_kind", "")
    return kind if kind in KINDS else ""


def figure_of(armature: bpy.types.Object) -> Figure:
    """Size of one of our characters, read back from its rest pose.

    Args:
        armature: an armature made by `build_character`.

    Returns:
        Joints in metres in character space, whatever the object's transform.

    Raises:
        ValueError: not one of our characters, or bones have been removed.
    """
    kind = kind_of(armature)
    if not kind:
        raise ValueError(f"{getattr(armature, 'name', armature)} is not a Poise character")
    bones = armature.data.bones

    def head(bone: str) -> np.ndarray:
        if bone not in bones:
            raise ValueError(f"{armature.name} has no bone {bone}")
        return np.array(bones[bone].head_local, dtype=float)

    joints = {role: head(bone) for role, bone in ROLE_BONES[kind].items()}
    sided = dict(_JOINT_BONES)
    if kind == SKIER:
        sided["pole"] = "pole"
    for side in ("L", "R"):
        joints |= {f"{joint}.{side}": head(f"{bone}.{side}") for joint, bone in sided.items()}
    leg = np.linalg.norm(joints["hip.L"] - joints["knee_joint.L"]) + np.linalg.norm(
        joints["knee_joint.L"] - joints["foot.L"]
    )
    height = float(leg / (THIGH + SHIN))
    # An armature whose scale was applied has grown since it was built.
    grown = height / float(armature["poise_height"])
    names = (("ski_length", "ski_width", "sidecut") if kind == SKIER
             else ("board_length", "board_width", "sidecut"))
    equipment = {name: float(armature[f"poise_{name}"]) * grown for name in names}
    if kind == SKIER:
        equipment["pole_length"] = float(np.linalg.norm(joints["pole.L"] - joints["pole_tip.L"]))
        equipment["sole"] = float(joints["foot.L"][2] - joints["ski.L"][2])
    else:
        equipment["sole"] = float(joints["foot.L"][2] - joints["board"][2])
        front, rear = ("L", "R") if armature["poise_regular"] else ("R", "L")
        equipment["stance_angle.front"] = _stance_angle(joints, front)
        equipment["stance_angle.rear"] = _stance_angle(joints, rear)
    return Figure(joints, float(armature["poise_mass"]), height, equipment)


def _stance_angle(joints: dict[str, np.ndarray], side: str) -> float:
    """Angle of a foot on the board: 0 straight across, positive towards the nose."""
    toes = joints[f"toe.{side}"] - joints[f"foot.{side}"]
    angle = atan2(-toes[1], abs(toes[0]))
    return (angle + pi) % (2.0 * pi) - pi
