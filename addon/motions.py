# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding characters and their motions. Nothing here is cached: undo and
deletion leave no stale reference behind."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import atan2

import bpy
from mathutils import Matrix

from .errors import UserError
from .placement import world_matrix
from .rigs import roles
from .rigs.controls import control_rig
from .rigs.equipment import own_equipment
from .rigs.recognise.rolemap import RoleMap

# Largest place in the list of motions; equal places are in order of names.
MAX_ORDER = 1_000_000


def is_motion(obj: bpy.types.Object | None) -> bool:
    """Whether an object is a Motion object.

    Args:
        obj: any object, or None.
    """
    return obj is not None and obj.type == "EMPTY" and obj.poise_motion.character is not None


def motions_of(character: bpy.types.Object) -> list[bpy.types.Object]:
    """A character's Motion objects in their order.

    Args:
        character: the armature object.
    """
    found = [
        obj
        for obj in bpy.data.objects
        if obj.type == "EMPTY" and obj.poise_motion.character == character
    ]
    return sorted(found, key=lambda obj: (obj.poise_motion.order, obj.name))


def left_of(rig: bpy.types.Object | None) -> list[bpy.types.Object]:
    """Motion objects of a rig whose controls were deleted.

    Args:
        rig: the rig, or None.
    """
    return [
        obj
        for obj in bpy.data.objects
        if rig is not None
        and obj.type == "EMPTY"
        and obj.poise_motion.rig == rig
        and obj.poise_motion.character is None
    ]


def is_left_alone(rig: bpy.types.Object | None) -> bool:
    """Whether a rig was set up, and its controls were deleted.

    Args:
        rig: an object, or None.
    """
    return control_rig.is_left_alone(rig) or bool(left_of(rig))


def active_motion(character: bpy.types.Object) -> bpy.types.Object | None:
    """The motion that panels show and Bake bakes, or None if there is none.

    Args:
        character: the armature object.
    """
    found = motions_of(character)
    active = [obj for obj in found if obj.poise_motion.is_active]
    return (active or found or [None])[0]


def set_active(motion: bpy.types.Object) -> None:
    """Make a motion its character's active one.

    Args:
        motion: the Motion object.
    """
    for obj in motions_of(motion.poise_motion.character):
        obj.poise_motion.is_active = obj == motion


def own(motion: bpy.types.Object, read: Callable[[bpy.types.Object], object]):
    """What a Motion object points to, unless that belongs to the motion it is a copy of.

    Blender copies pointers along with an object. Bake, trail and camera of a
    motion must not be taken for those of its copy.

    Args:
        motion: the Motion object.
        read: what to look up on a Motion object; None or "" for nothing.

    Returns:
        The value, or None where there is none or it is another motion's.
    """
    value = read(motion)
    if not value:
        return None
    sharing = [obj for obj in bpy.data.objects if obj.type == "EMPTY" and read(obj) == value]
    # A copy has another name; where both were renamed, the older one was there first.
    named = [obj for obj in sharing if obj.poise_motion.owner == obj.name]
    first = min(named or sharing, key=lambda obj: obj.session_uid)
    return value if first == motion else None


def part(motion: bpy.types.Object) -> None:
    """Let a Motion object go of what belongs to the one it is a copy of.

    Args:
        motion: the Motion object.
    """
    settings = motion.poise_motion
    for name in ("trail", "camera"):
        held = getattr(settings, name)
        if held and own(motion, lambda m, name=name: getattr(m.poise_motion, name)) is None:
            setattr(settings, name, None)
    # What the add-on's own properties hold may be stored under their name.
    groups = type(motion).bl_rna.properties
    keys = [key for key in motion.keys() if key.startswith("poise_") and key not in groups]
    for key in keys:
        if own(motion, lambda m, key=key: m.get(key)) is None:
            del motion[key]
    settings.owner = motion.name


def character_of(obj: bpy.types.Object | None) -> bpy.types.Object | None:
    """The character that an object belongs to: itself, its mesh, its motion, its path.

    Args:
        obj: an armature, a mesh on one, equipment that follows one, a Motion
            object, what leads a motion (path, gate, terrain, footprint), or None.
    """
    asked, seen = obj, 0
    # Only meshes are footprints, and asking leaves an empty group on what is asked.
    if obj is not None and obj.type == "MESH" and obj.poise_footprint.motion is not None:
        obj = obj.poise_footprint.motion
    while obj is not None and seen < 32:
        if obj.type == "ARMATURE":
            return control_rig.controls_of(obj) or obj
        if is_motion(obj):
            return obj.poise_motion.character
        carrier = own_equipment.carrier_of(obj)
        if carrier is not None:
            return carrier
        rigs = [m.object for m in getattr(obj, "modifiers", ()) if m.type == "ARMATURE"]
        obj = next((rig for rig in rigs if rig is not None), obj.parent)
        seen += 1
    return _led_by(asked)


def _led_by(obj: bpy.types.Object | None) -> bpy.types.Object | None:
    """The character of a motion that an object leads, the active one of a character first."""
    if obj is None or obj.type in {"CAMERA", "LIGHT"}:
        return None
    mine = {obj, *obj.users_collection}
    led = [
        other.poise_motion for other in bpy.data.objects if is_motion(other) and any(
            getattr(getattr(other.poise_motion, group), name) in mine
            for group, name in _leading(type(other.poise_motion))
        )
    ]
    led.sort(key=lambda settings: not settings.is_active)
    return led[0].character if led else None


@lru_cache(maxsize=1)
def _leading(settings: type) -> tuple[tuple[str, str], ...]:
    """(group, name) of the settings that hold what leads a motion; what is passed by does not."""
    kinds = {"Object", "Collection"}
    return tuple(
        (group.identifier, one.identifier)
        for group in settings.bl_rna.properties if group.type == "POINTER"
        if getattr(group.fixed_type.base, "identifier", "") == "PropertyGroup"
        for one in group.fixed_type.properties if one.type == "POINTER"
        if one.fixed_type.identifier in kinds and one.identifier != "obstacles"
    )


def active_character(context: bpy.types.Context) -> bpy.types.Object | None:
    """The character the user is working on, or None.

    Args:
        context: Blender's context.
    """
    return character_of(context.view_layer.objects.active if context.view_layer else None)


def active_rig(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active character, or where that is a set of controls, the rig that they drive.

    Args:
        context: Blender's context.
    """
    character = active_character(context)
    return control_rig.rig_of(character) or character


def selected_characters(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The active character first, then every other selected one that has a motion.

    Args:
        context: Blender's context.
    """
    first = active_character(context)
    found = [] if first is None else [first]
    for obj in context.view_layer.objects.selected:
        character = character_of(obj)
        if character is not None and character not in found and motions_of(character):
            found.append(character)
    return found


def require_motion(context: bpy.types.Context) -> tuple[bpy.types.Object, bpy.types.Object]:
    """The active character and its active motion.

    Args:
        context: Blender's context.

    Raises:
        UserError: there is no character, or it has no motion.
    """
    character = active_character(context)
    if character is None:
        raise UserError("No character is active: select an armature, its mesh or its motion")
    motion = active_motion(character)
    if motion is None:
        raise UserError(f"{character.name} has no motion: click Add Motion")
    return character, motion


def require_editable(character: bpy.types.Object) -> None:
    """Refuse a character that is linked from another file.

    Args:
        character: the armature object.

    Raises:
        UserError: it is linked, and no library override.
    """
    if character.library is not None:
        raise UserError(
            f"{character.name} is linked from another file and cannot be changed: make a library "
            "override of it first (Object > Library Override > Make)"
        )


def place(
    motion: bpy.types.Object, character: bpy.types.Object, found: RoleMap | None = None
) -> None:
    """Put a Motion object where the character stands, facing as it faces.

    Args:
        motion: the Motion object.
        character: the armature object.
        found: roles of a rig that Poise did not make: they tell how it stands.
    """
    # The root bone goes along where the object's transform was applied to the armature.
    matrix = world_matrix(character)
    root = character.data.bones.get("root")
    if found is not None:
        matrix = matrix @ Matrix(roles.stance(character, found).tolist())
    elif root is not None:
        matrix = matrix @ root.matrix_local
    motion.location = matrix.translation
    # Facing is -Y; only its direction on the ground matters.
    facing = -matrix.col[1].to_3d()
    motion.rotation_euler = (0.0, 0.0, atan2(facing.x, -facing.y))


def add_motion(
    context: bpy.types.Context,
    character: bpy.types.Object,
    name: str = "",
    found: RoleMap | None = None,
) -> bpy.types.Object:
    """Make a Motion object that stands where the character stands and faces as it faces.

    Args:
        context: Blender's context.
        character: the armature object.
        name: name of the motion; empty for one made from the character's.
        found: roles of a rig that Poise did not make: they tell how it stands.

    Returns:
        The new Motion object, active for its character.
    """
    existing = motions_of(character)
    motion = bpy.data.objects.new(name or f"{character.name} Motion", None)
    motion.empty_display_type = "SINGLE_ARROW"
    collections = [
        collection
        for collection in character.users_collection
        if collection.library is None and collection.override_library is None
    ]
    (collections or [context.scene.collection])[0].objects.link(motion)
    place(motion, character, found)
    settings = motion.poise_motion
    settings.character, settings.rig = character, control_rig.rig_of(character)
    settings.owner = motion.name
    settings.range_mode = "SCENE"
    if existing:
        roles.copy((active_motion(character) or existing[0]).poise_motion, settings)
    last = max((obj.poise_motion.order for obj in existing), default=-1)
    settings.order = min(last + 1, MAX_ORDER)
    set_active(motion)
    return motion
