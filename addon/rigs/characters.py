# SPDX-License-Identifier: GPL-3.0-or-later
"""Poise's own characters: build one, read its size back, swap its mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import radians

import bpy
import numpy as np

from ...solvers import affine, rotations
from ...solvers.errors import SettingError
from ..errors import UserError
from ..mapping.legs import LeggedFigure
from ..mapping.tracks import GAZE, Figure
from ..placement import put_at, world_matrix
from .builders import armature as rig
from .builders import figure_mesh, skin
from .builders.kinds import (
    BUILDS,
    KINDS,
    build_skeleton,
    legged_figure,
    role_bones,
    switches,
)
from .builders.skeleton import (
    ANKLE_HEEL,
    SHIN,
    THIGH,
    BoneSpec,
    Building,
    Skeleton,
    both_sides,
    is_half_way,
)
from .controls import creature_fitting
from .pose.channels import bone_path

ROOT_BONE = "root"

# Property that holds the legs of controls for an animal's rig of someone else's.
LEGS = "poise_legs"

# kind -> role -> the control bone to key for that role. Every control's head
# is at its role's joint in the rest pose.
ROLE_BONES = {kind: role_bones(kind) for kind in KINDS}

# kind -> custom properties of the root bone that must be 1 for the controls
# above to be in charge.
SWITCHES = {kind: switches(kind) for kind in KINDS}

# Faces that meet at more than this angle look sharp.
CREASE = {"Body": radians(70.0), "Equipment": radians(32.0)}

# part -> linear RGB of a new character; `build_character(colours=...)` overrides any.
COLOURS = dict(figure_mesh.COLOURS)

# Joints of a figure that are not keyed roles: joint -> bone whose head it is.
_JOINT_BONES = {
    "foot.{side}": "foot.{side}",
    "hip.{side}": "thigh.{side}",
    "knee_joint.{side}": "shin.{side}",
    "elbow_joint.{side}": "forearm.{side}",
    "upper_arm.{side}": "upper_arm.{side}",
    "toe.{side}": "toe.{side}",
}


def build_character(
    context: bpy.types.Context,
    kind: str,
    *,
    location=(0.0, 0.0, 0.0),
    yaw: float = 0.0,
    height: float | None = None,
    mass: float | None = None,
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
        height: stature in metres, or what the kind's size is; None for the usual one.
        mass: kg, with equipment; None for that of a usual body of this height.
        colours: part -> (r, g, b) or (r, g, b, a), linear; see `COLOURS`.
        collection: where to link it; None is the active collection.
        regular: snowboarder only: left foot leads; False is goofy.
        name: name of the object; empty for the kind's own.

    Returns:
        The armature object. Names of data-blocks may carry a suffix.

    Raises:
        SettingError: unknown kind or colour, height or mass not above 0.
    """
    unknown = sorted(set(colours or {}) - set(COLOURS))
    if unknown:
        raise SettingError("Colour", unknown[0], f"one of {', '.join(COLOURS)}")
    if kind not in KINDS:
        raise SettingError("Kind", kind, " or ".join(KINDS))
    if height is None:
        height = KINDS[kind].size
    if mass is None:
        mass = usual_mass(kind, height)
    if not (np.isfinite(mass) and mass > 0.0):
        raise SettingError("Mass", mass, "above 0 kg")
    return assemble(
        context,
        build_skeleton(kind, height, regular),
        name or KINDS[kind].label,
        location=location,
        yaw=yaw,
        mass=mass,
        colours=colours_of(kind) | dict(colours or {}),
        home=collection or context.collection or context.scene.collection,
    )


def usual_mass(kind: str, size: float) -> float:
    """Mass of a body of the usual build, kg: it grows with the cube of the size.

    Args:
        kind: one of KINDS.
        size: stature, height at the withers or length, m.
    """
    return KINDS[kind].mass * (size / KINDS[kind].size) ** 3


def colours_of(kind: str) -> dict[str, tuple]:
    """Part -> linear RGB of a new character of a kind.

    Args:
        kind: one of KINDS.
    """
    return COLOURS | dict(KINDS[kind].colours)


def assemble(
    context: bpy.types.Context,
    skeleton: Skeleton,
    name: str,
    *,
    location,
    yaw: float,
    mass: float,
    colours,
    home: bpy.types.Collection,
    parts: Sequence[str] = ("Body", "Equipment"),
    extra: Sequence[BoneSpec] = (),
) -> bpy.types.Object:
    """Controls, constraints and meshes of a character, linked to a collection.

    Args:
        context: any context; mode, selection and active object are left alone.
        skeleton: what `build_skeleton` made.
        name: name of the object.
        location: where it stands, in Blender units.
        yaw: turn about +Z in radians; 0 faces -Y.
        mass: kg, with equipment.
        colours: part -> (r, g, b) or (r, g, b, a), linear, of every part.
        home: where to link it.
        parts: which meshes to make.
        extra: bones beyond those of the skeleton, parents first.

    Returns:
        The armature object.
    """
    bones = replace(skeleton, bones=(*skeleton.bones, *extra))
    armature = rig.make_armature(context, bones, name)
    armature["poise_kind"] = skeleton.kind
    armature["poise_height"] = float(skeleton.height)
    armature["poise_mass"] = float(mass)
    armature["poise_regular"] = bool(skeleton.regular)
    for key, value in skeleton.equipment.items():
        armature[f"poise_{key}"] = float(value)
    armature.location = location
    armature.rotation_euler = (0.0, 0.0, yaw)
    units = context.scene.unit_settings
    if units.system != "NONE":
        armature.scale = (1.0 / units.scale_length,) * 3
    home.objects.link(armature)
    surfaces = figure_mesh.figure_surfaces(skeleton, parts)
    used = {material for surface in surfaces.values() for material in surface.materials}
    materials = {
        part: figure_mesh.make_material(part, colours[part])
        for part in figure_mesh.PARTS
        if part in used
    }
    for part, surface in surfaces.items():
        obj = figure_mesh.make_mesh_object(
            surface, f"{armature.name} {part}", materials, CREASE[part]
        )
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


def has_stances(kind: str) -> bool:
    """Whether one foot of a kind leads, so that there are two ways to build it.

    Args:
        kind: one of KINDS.
    """
    return BUILDS[kind].stances


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
    found = {
        slot.material.get("poise_part", ""): slot.material
        for obj in figure_meshes(armature)
        for slot in obj.material_slots
        if slot.material is not None
    }
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


def switches_of(armature: bpy.types.Object) -> dict[str, tuple[float]]:
    """Data path -> value of the switches that put a character's controls in charge.

    Args:
        armature: one of our characters.
    """
    bone = armature.pose.bones.get(ROOT_BONE)
    if bone is None:
        return {}
    return {
        f'{bone_path(ROOT_BONE)}["{bpy.utils.escape_identifier(name)}"]': (1.0,)
        for name in build_of(armature).switch_tips()
        if name in bone
    }


def build_of(armature: bpy.types.Object) -> Building:
    """What one of our characters is made by; its own legs and other parts, on an animal's rig.

    Args:
        armature: one of our characters.
    """
    kind = require_kind(armature)
    build, stored = BUILDS[kind], armature.get(LEGS)
    if stored is None or build.figure is None:
        return build
    try:
        return replace(build, figure=creature_fitting.from_json(stored))
    except ValueError as error:
        raise UserError(
            f"{armature.name} does not know its legs any more: set the rig up anew"
        ) from error


def role_bones_of(armature: bpy.types.Object) -> dict[str, str]:
    """Role -> the control to key for it, of one of our characters.

    Args:
        armature: one of our characters.
    """
    bones = build_of(armature).role_bones()
    return {**bones, GAZE: GAZE} if has_gaze(armature) else bones


def has_gaze(armature: bpy.types.Object | None) -> bool:
    """Whether a character has eyes that can be turned.

    Args:
        armature: one of our characters, or None.
    """
    return armature is not None and armature.type == "ARMATURE" and GAZE in armature.data.bones


def require_kind(armature: bpy.types.Object | None) -> str:
    """Kind of a character.

    Args:
        armature: an armature object, or None.

    Raises:
        UserError: it is none.
    """
    kind = kind_of(armature)
    if not kind:
        raise UserError(
            f"{armature.name if armature else 'Nothing'} is not a Poise character: "
            "add one, or select one"
        )
    return kind


def rest_frame(armature: bpy.types.Object) -> np.ndarray:
    """Matrix (4, 4) that takes armature space to character space, without scale.

    They are the same until the object's rotation or location is applied to the
    armature. The root bone went along: it stands between the soles and faces
    as the figure faces.

    Args:
        armature: one of our characters.

    Raises:
        UserError: the root bone has been removed.
    """
    if ROOT_BONE not in armature.data.bones:
        raise _lost(armature, ROOT_BONE)
    frame = np.array(armature.data.bones[ROOT_BONE].matrix_local, dtype=float)
    if np.abs(frame - np.eye(4)).max() < 1e-6:
        return np.eye(4)
    return affine.inverse(frame)


def rest_axes(armature: bpy.types.Object) -> np.ndarray:
    """Quaternion of `rest_frame`, for a bake.

    Args:
        armature: one of our characters.
    """
    return rotations.from_matrix(rest_frame(armature)[:3, :3])


def _lost(armature: bpy.types.Object, bone: str) -> UserError:
    return UserError(f"{armature.name} has lost its bone {bone}: add the character anew")


def _number(armature: bpy.types.Object, name: str) -> float:
    """One of the numbers that a character was built with.

    Raises:
        UserError: the custom property has been removed, or is no number above 0.
    """
    value = armature.get(f"poise_{name}")
    if not isinstance(value, (int, float)) or not (np.isfinite(value) and value > 0.0):
        raise UserError(
            f"Custom property poise_{name} of {armature.name} is {value}: it must be a number "
            "above 0, so undo the change, or add the character anew"
        )
    return float(value)


def figure_of(armature: bpy.types.Object) -> Figure | LeggedFigure:
    """Size of one of our characters, read back from its rest pose.

    Args:
        armature: an armature made by `build_character`.

    Returns:
        Joints in metres in character space, whatever the object's transform; a
        `LeggedFigure` of a legged character.

    Raises:
        UserError: not one of our characters, or bones have been removed.
    """
    kind = require_kind(armature)
    bones = armature.data.bones
    frame = rest_frame(armature)

    def at(bone: str, tail: bool = False) -> np.ndarray:
        if bone not in bones:
            raise _lost(armature, bone)
        place = bones[bone].tail_local if tail else bones[bone].head_local
        return frame[:3, :3] @ np.array(place, dtype=float) + frame[:3, 3]

    build = build_of(armature)
    if build.figure is not None:
        heel = ANKLE_HEEL
        if "poise_heel" in armature:  # files of before know of none
            heel = _number(armature, "heel") / _number(armature, "height")
        return legged_figure(build, at, _number(armature, "mass"), heel)
    joints = {role: at(bone) for role, bone in ROLE_BONES[kind].items()}
    for joint, bone in both_sides({**_JOINT_BONES, **build.joints}).items():
        joints[joint] = at(bone)
    bones_of_legs = [
        np.linalg.norm(joints[f"{a}.{side}"] - joints[f"{b}.{side}"])
        for side in ("L", "R")
        for a, b in (("hip", "knee_joint"), ("knee_joint", "foot"))
    ]
    height = float(0.5 * sum(bones_of_legs) / (THIGH + SHIN))
    # An armature whose scale was applied has grown since it was built.
    grown = height / _number(armature, "height")
    equipment = {name: _number(armature, name) * grown for name in build.lengths}
    equipment |= {name: _number(armature, name) for name in build.angles}
    equipment |= build.measures(joints, bool(armature.get("poise_regular", True)))
    return Figure(joints, _number(armature, "mass"), height, equipment)


# Softness of computed weights, share of stature: about half a knee's width.
_SOFTNESS = 0.022


def swap_mesh(armature: bpy.types.Object, mesh_object: bpy.types.Object) -> None:
    """Let a character wear another mesh; its own body is hidden, its equipment stays.

    A mesh with vertex groups named like deform bones ("DEF-thigh.L") keeps
    its weights. Any other gets weights by distance to the bones of the rest
    pose, so it has to stand where the character stands in that pose.

    Args:
        armature: one of our characters.
        mesh_object: the mesh to wear.

    Raises:
        UserError: not a character, not a mesh, linked data, the mesh belongs
            to another armature, is empty or is worn already.
    """
    require_kind(armature)
    _check_wearable(armature, mesh_object)
    deform = [b for b in build_of(armature).deform_bones() if b in armature.data.bones]
    world = world_matrix(mesh_object)
    groups = [group.name for group in mesh_object.vertex_groups]
    if not set(groups) & set(deform):
        _compute_weights(armature, mesh_object, deform)
    mesh_object["poise_worn"] = True
    mesh_object["poise_new_groups"] = "\n".join(
        group.name for group in mesh_object.vertex_groups if group.name not in groups
    )
    if mesh_object.parent is not None:
        mesh_object["poise_parent"] = mesh_object.parent
    mesh_object.parent = armature
    put_at(mesh_object, world)
    modifier = next((m for m in mesh_object.modifiers if m.type == "ARMATURE"), None)
    if modifier is None:
        modifier = mesh_object.modifiers.new("Poise Armature", "ARMATURE")
        mesh_object["poise_modifier"] = modifier.name
    modifier.object = armature
    for obj in figure_meshes(armature):
        if obj["poise_figure"] == "Body":
            obj.hide_viewport = obj.hide_render = True


def restore_mesh(armature: bpy.types.Object) -> None:
    """Take off what `swap_mesh` put on and show the character's own body again.

    The mesh that was worn stays in the scene where it stands, with its own
    parent, modifiers and vertex groups as they were before.

    Args:
        armature: one of our characters.

    Raises:
        UserError: not a character.
    """
    require_kind(armature)
    for obj in [child for child in armature.children if child.get("poise_worn")]:
        world = world_matrix(obj)
        if obj.get("poise_modifier") in obj.modifiers:
            obj.modifiers.remove(obj.modifiers[obj["poise_modifier"]])
        for name in filter(None, obj.get("poise_new_groups", "").split("\n")):
            if name in obj.vertex_groups:
                obj.vertex_groups.remove(obj.vertex_groups[name])
        obj.parent = obj.get("poise_parent")
        put_at(obj, world)
        for key in ("poise_worn", "poise_new_groups", "poise_parent", "poise_modifier"):
            if key in obj:
                del obj[key]
    for obj in figure_meshes(armature):
        obj.hide_viewport = obj.hide_render = False


def _check_wearable(armature: bpy.types.Object, obj: bpy.types.Object) -> None:
    if obj is None or obj.type != "MESH":
        raise UserError(f"{obj.name if obj else 'Nothing'} is not a mesh: select a mesh to wear")
    if obj.get("poise_figure") or obj.get("poise_worn"):
        raise UserError(f"{obj.name} is worn by a character already: select another mesh")
    if obj.library is not None or obj.data.library is not None:
        raise UserError(f"{obj.name} is linked: make it local, then swap")
    if not obj.data.vertices:
        raise UserError(f"{obj.name} has no vertices: select a mesh that has")
    for modifier in obj.modifiers:
        if modifier.type == "ARMATURE" and modifier.object not in (None, armature):
            raise UserError(
                f"{obj.name} follows {modifier.object.name}: remove its Armature modifier first"
            )
    if obj.mode == "EDIT":
        raise UserError(f"{obj.name} is in edit mode: leave it, then swap")


def _compute_weights(armature: bpy.types.Object, obj: bpy.types.Object, deform: list[str]) -> None:
    figure = figure_of(armature)
    points = np.empty(3 * len(obj.data.vertices), dtype=np.float32)
    obj.data.vertices.foreach_get("co", points)
    frame = rest_frame(armature)
    into = frame @ np.array(world_matrix(armature).inverted_safe() @ world_matrix(obj))
    points = points.reshape(-1, 3).astype(float) @ into[:3, :3].T + into[:3, 3]
    segments = {}
    equipment = both_sides({bone: bone for bone in BUILDS[kind_of(armature)].deform})
    for name in deform:
        if is_half_way(name) or name in equipment:
            continue
        bone = armature.data.bones[name]
        segments[name] = tuple(
            frame[:3, :3] @ np.array(end) + frame[:3, 3]
            for end in (bone.head_local, bone.tail_local)
        )
    if figure.legs:
        tips = [(leg.tip, figure.joints[leg.tip]) for leg in figure.legs]
        left, right = (
            np.mean([place for tip, place in tips if tip.endswith(side)], axis=0)
            for side in (".L", ".R")
        )
        across = left - right
    else:
        across = figure.joints["hip.L"] - figure.joints["hip.R"]
    weights = skin.distance_weights(
        points,
        segments,
        _SOFTNESS * figure.height,
        across / np.linalg.norm(across),
        figure.joints["pelvis"],
    )
    figure_mesh.set_weights(obj, list(segments), weights)
