# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles that a Motion object holds for its rig: found, kept, shared."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np

from ...solvers import rotations
from ..errors import UserError
from .recognise import RoleMap, exchange, recognise, rigify, standing
from .recognise.rolemap import is_role, required, role_order
from .recognise.skeleton import Skeleton
from .skeletons import read_skeleton

PRESETS = "poise/rigs"
ENDING = ".json"

# Roles of legs of which a person has none.
_OTHER_LEGS = re.compile(r"(hind|fore|leg\d+)\.\d+\.[LR]$")


def require_readable(armature: bpy.types.Object) -> None:
    """Refuse a rig whose bones are being edited: others see them only afterwards.

    Args:
        armature: the rig.

    Raises:
        UserError: it is in Edit Mode.
    """
    if armature.data.is_editmode:
        raise UserError(f"The bones of {armature.name} are being edited: leave Edit Mode first")


def find(
    armature: bpy.types.Object,
    given: Mapping[str, str] | None = None,
    places: Mapping[str, Sequence[float]] | None = None,
) -> RoleMap:
    """The roles of a rig.

    Args:
        armature: the rig.
        given: roles that the animator has picked, role -> bone.
        places: bone -> its place in the pose to look at; None for the rest pose.

    Raises:
        UserError: its bones are being edited, or it has none.
    """
    require_readable(armature)
    if not len(armature.data.bones):
        raise UserError(f"{armature.name} has no bones: add some, or select another rig")
    places = places or {}
    found = recognise(read_skeleton(armature).stood(places), given=given)
    return replace(found, places=places)


def find_standing(
    armature: bpy.types.Object, given: Mapping[str, str] | None = None
) -> RoleMap | None:
    """The roles of a rig in a pose in which its limbs point as their names say, if they say it.

    Args:
        armature: the rig.
        given: roles that the animator has picked, role -> bone.
    """
    places = standing(read_skeleton(armature), given)
    found = find(armature, given, places) if places else None
    return found if found is not None and not found.fallen and not found.missing else None


def skeleton(armature: bpy.types.Object, found: RoleMap) -> Skeleton:
    """A rig's bones in the pose that its roles were found in.

    Args:
        armature: the rig.
        found: its roles.
    """
    return read_skeleton(armature).stood(found.places)


def stance(armature: bpy.types.Object, found: RoleMap) -> np.ndarray:
    """Where a rig stands on the ground in the pose its roles were found in, and how it faces.

    Args:
        armature: the rig.
        found: its roles.

    Returns:
        (4, 4): columns left, back, up, and the ground under its feet, or under its
        pelvis, in armature space. Of a rig without either it is the identity.
    """
    bones = skeleton(armature, found).by_name
    there = {role: bones[bone] for role, bone in found.roles.items() if bone in bones}
    feet = [there[role] for role in ("foot.L", "foot.R") if role in there]
    middle = feet if len(feet) == 2 else [there[role] for role in ("pelvis",) if role in there]
    matrix = np.eye(4)
    if not middle:
        return matrix
    axes = rotations.to_matrix(np.asarray(found.turn, dtype=float)).T
    ends = np.array([end for bone in there.values() for end in (bone.head, bone.tail)])
    place = np.mean([bone.head for bone in middle], axis=0)
    up = axes[:, 2]
    matrix[:3, :3] = axes
    matrix[:3, 3] = place + up * float((ends @ up).min() - place @ up)
    return matrix


def height(armature: bpy.types.Object, found: RoleMap) -> float:
    """How far the highest joint of trunk and head is above the lowest joint of the legs.

    Args:
        armature: the rig.
        found: its roles.
    """
    bones = skeleton(armature, found).by_name
    up = rotations.to_matrix(np.asarray(found.turn, dtype=float))[2]
    legs = {"thigh", "shin", "foot", "toe", "hind", "fore"}
    heights = {role: float(bones[bone].head @ up) for role, bone in found.roles.items()}
    low = [h for role, h in heights.items() if role.split(".")[0].rstrip("0123456789") in legs]
    top = [h for role, h in heights.items() if role in ("head", "chest", "pelvis")]
    return max(top, default=0.0) - min(low, default=0.0)


def fill(settings, found: RoleMap, keep: bool = False) -> None:
    """Write a role map into a motion's list of roles.

    Roles that are required and were not found stay in the list without a bone.

    Args:
        settings: the motion's settings.
        found: the map.
        keep: leave roles that have a bone as they are.
    """
    kept = stored(settings) if keep else {}
    by_hand = picked(settings)
    taken = set(kept.values())
    bones = {role: bone for role, bone in found.roles.items() if bone not in taken} | kept
    missing = required(found.body, bones) - set(bones)
    settings.roles.clear()
    for role in sorted({*bones, *missing}, key=role_order):
        item = settings.roles.add()
        item.role = role
        item.bone = bones.get(role, "")
        item.unsure = role in found.unsure and role not in kept
        item.picked = by_hand.get(role) == item.bone
    settings.roles_index = 0
    settings.rig_kind = found.kind
    settings.rig_body = found.body
    settings.rig_turn = tuple(float(value) for value in found.turn)
    settings.rig_notes = " ".join(found.notes)
    settings.rig_fallen = found.fallen
    settings.rig_places = json.dumps(found.places) if found.places else ""


def copy(source, target) -> None:
    """Give one motion's roles to another motion of the same rig.

    Args:
        source: settings of the one.
        target: settings of the other.
    """
    target.roles.clear()
    for item in source.roles:
        new = target.roles.add()
        new.role, new.bone = item.role, item.bone
        new.unsure, new.picked = item.unsure, item.picked
    for name in ("rig_kind", "rig_body", "rig_turn", "rig_notes", "rig_fallen", "rig_places"):
        setattr(target, name, getattr(source, name))


def stored(settings) -> dict[str, str]:
    """Role -> bone of a motion's list; roles without a bone are left out.

    Args:
        settings: the motion's settings.
    """
    return {item.role: item.bone for item in settings.roles if item.bone}


def picked(settings) -> dict[str, str]:
    """Role -> bone of the roles that the animator picked; "" where it is to have none.

    Args:
        settings: the motion's settings.
    """
    return {item.role: item.bone for item in settings.roles if item.picked}


def places_of(settings) -> dict[str, list[float]]:
    """Bone -> its place in the pose that roles are looked for in; empty for the rest pose.

    Args:
        settings: the motion's settings.
    """
    try:
        stored = {
            str(bone): [float(value) for value in place]
            for bone, place in json.loads(settings.rig_places or "{}").items()
        }
    except (ValueError, TypeError, AttributeError):
        return {}
    return {bone: place for bone, place in stored.items() if len(place) == 7}


def role_map(armature: bpy.types.Object, settings) -> RoleMap:
    """The motion's roles as the animator left them, checked against the rig.

    Args:
        armature: the rig.
        settings: the motion's settings.

    Raises:
        UserError: no roles were found yet, a bone is gone, has two roles, or a role
            is none.
    """
    roles, body, turn = stored(settings), settings.rig_body, settings.rig_turn
    places = places_of(settings)
    unsure = {item.role for item in settings.roles if item.unsure and item.bone}
    by_hand = picked(settings)
    lacking = body != "BIPED" or not required(body, roles) <= set(roles)
    if lacking and (by_hand.get("thigh.L") or by_hand.get("thigh.R")):
        # Legs were picked where none were found, or more: a person is found around them.
        given = {role: bone for role, bone in by_hand.items() if not _OTHER_LEGS.match(role)}
        found = find(armature, given, places)
        without = {role for role, bone in given.items() if not bone}
        roles = {role: bone for role, bone in found.roles.items() if role not in without}
        roles |= {role: bone for role, bone in given.items() if bone}
        body, turn, unsure = found.body, found.turn, found.unsure & set(roles)
    if not roles:
        raise UserError(f"{armature.name} has no roles yet: click Find Roles")
    bones = armature.data.bones
    for role, bone in roles.items():
        if not is_role(role):
            raise UserError(f"{role!r} is no role: remove it, or click Find Roles")
        if bone not in bones:
            raise UserError(
                f"{armature.name} has no bone {bone!r} for {role}: pick another one, "
                "or click Find Roles"
            )
    names = list(roles.values())
    twice = next((bone for bone in names if names.count(bone) > 1), "")
    if twice:
        both = " and ".join(role for role, bone in roles.items() if bone == twice)
        raise UserError(f"The bone {twice!r} has two roles, {both}: pick another one for one")
    controls = {}
    if settings.rig_kind.startswith("RIGIFY"):
        controls = rigify.controls(read_skeleton(armature), roles)
    return RoleMap(
        kind=settings.rig_kind,
        body=body,
        roles={role: roles[role] for role in sorted(roles, key=role_order)},
        unsure=unsure,
        missing=required(body, roles) - set(roles),
        turn=np.array(turn, dtype=float),
        notes=(settings.rig_notes,) if settings.rig_notes else (),
        controls=controls,
        # Who has picked the legs says so that the figure stands.
        fallen="" if by_hand.get("thigh.L") and by_hand.get("thigh.R") else settings.rig_fallen,
        places=places,
    )


def save(path: Path, armature: bpy.types.Object, settings) -> None:
    """Write the roles to a file.

    Args:
        path: the file.
        armature: the rig.
        settings: the motion's settings.

    Raises:
        UserError: there are none, or the file cannot be written.
    """
    text = exchange.to_json(role_map(armature, settings))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from error


def load(path: Path, armature: bpy.types.Object, settings) -> list[str]:
    """Read roles from a file.

    Args:
        path: the file.
        armature: the rig.
        settings: the motion's settings.

    Returns:
        Roles whose bones the rig does not have.

    Raises:
        UserError: the file cannot be read, is no role map, or fits no bone.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is no role map: it is no text") from error
    try:
        found = exchange.from_json(text)
    except ValueError as error:
        raise UserError(f"{path} cannot be used: {error}") from error
    fits, lost = exchange.fitted(found, [bone.name for bone in armature.data.bones])
    if not fits:
        raise UserError(f"{path.name} fits no bone of {armature.name}: it is for another rig")
    fill(settings, RoleMap(found.kind, found.body, fits, turn=found.turn))
    return lost


def presets() -> dict[str, Path]:
    """Name -> file of the presets that Blender's preset folders hold."""
    found: dict[str, Path] = {}
    for folder in bpy.utils.preset_paths(PRESETS):
        for path in sorted(Path(folder).glob(f"*{ENDING}")):
            found.setdefault(path.stem, path)
    return found


def preset_path(name: str) -> Path:
    """File of a preset in the animator's own preset folder.

    Args:
        name: its name.

    Raises:
        UserError: the name is empty.
    """
    clean = bpy.path.clean_name(name.strip())
    if not clean:
        raise UserError("The preset has no name: give it one")
    folder = bpy.utils.user_resource("SCRIPTS", path=f"presets/{PRESETS}", create=True)
    return Path(folder) / f"{clean}{ENDING}"
