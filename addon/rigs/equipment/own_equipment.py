# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of the animator's own in place of Poise's skis, boards, poles and bicycles.

An object follows the bone of its role by a Child Of constraint whose inverse holds
everything: where it stands on the bone, how it was turned and resized to fit. Its
own place, parent and data are not touched, except that a parent lets go of it, which
a muted constraint remembers. So the constraints are the whole record: they survive
undo, files and library overrides, and without them the object is as it was. Poise's own
part is hidden by a modifier on its mesh.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ...errors import UserError
from ...placement import moves_by_itself, world_matrix
from .. import characters
from ..builders.kinds import BUILDS
from ..builders.skeleton import both_sides
from ..controls.control_rig import rig_of
from . import boxes
from .boxes import Box

CONSTRAINT, PARENT, MASK = "Poise Equipment", "Poise Parent", "Poise Hide "
DEFORM = "DEF-"

# Ends of Poise's own part that are nearer to the ground than this share of the stature stand on it.
GROUND = 0.02

# An origin that is off the middle by less than this share of the size is where the axle is.
AXLE = 0.1

SIDES = {"L": "Left ", "R": "Right "}
NAMES = {"bike": "Frame", "crank": "Cranks", "sprocket": "Rear Sprocket"}

# Parents that let go and take hold again without a trace.
PLAIN_PARENTS = {"OBJECT", "ARMATURE", "BONE"}


@dataclass(frozen=True)
class Place:
    """How an object comes to its role.

    Attributes:
        mode: "FIT" (into the place of Poise's own part), "REST" (as it stands to the
            character's rest pose) or "POSE" (as it stands to the pose of this moment).
        resize: in "FIT", make it as large as Poise's own part.
        flip: in "FIT", turn it front to back.
    """

    mode: str = "FIT"
    resize: bool = True
    flip: bool = False


def roles_of(character: bpy.types.Object | None) -> dict[str, str]:
    """Role -> bone of the equipment that a character has.

    Args:
        character: one of Poise's characters, or controls on a rig; anything else has none.
    """
    kind = characters.kind_of(character)
    if not kind or BUILDS[kind].equipment is None:
        return {}
    known = both_sides({name: name for name in BUILDS[kind].deform})
    return {
        bone.removeprefix(DEFORM): bone for bone in known if bone in character.data.bones
    }


def label(role: str) -> str:
    """A role as the panel calls it: "Left Ski" for "ski.L".

    Args:
        role: a role of equipment.
    """
    name, _, side = role.rpartition(".") if role[-2:] in (".L", ".R") else (role, "", "")
    return SIDES.get(side, "") + NAMES.get(name, name.replace("_", " ").title())


def spins(role: str) -> bool:
    """Whether what plays a role turns about an axle.

    Args:
        role: a role of equipment.
    """
    name = role.split(".")[0]
    return name.endswith("wheel") or name in ("crank", "sprocket")


def link_of(obj: bpy.types.Object | None) -> bpy.types.Constraint | None:
    """The constraint by which an object is equipment of a character, or None.

    Args:
        obj: any object, or None.
    """
    for constraint in obj.constraints if obj is not None else ():
        if constraint.type == "CHILD_OF" and constraint.name.startswith(CONSTRAINT):
            return constraint
    return None


def carrier_of(obj: bpy.types.Object | None) -> bpy.types.Object | None:
    """The character whose equipment an object is, or None.

    Args:
        obj: any object, or None.
    """
    link = link_of(obj)
    return link.target if link is not None else None


def role_of(obj: bpy.types.Object) -> str:
    """The role that an object plays, or "".

    Args:
        obj: any object.
    """
    link = link_of(obj)
    return link.subtarget.removeprefix(DEFORM) if link is not None else ""


def attached(character: bpy.types.Object) -> dict[str, list[bpy.types.Object]]:
    """Role -> objects of the animator's own that play it.

    Args:
        character: the character, or the controls on a rig.
    """
    found: dict[str, list[bpy.types.Object]] = {}
    for obj in bpy.data.objects:
        if not len(obj.constraints):
            continue
        link = link_of(obj)
        if link is not None and link.target == character:
            found.setdefault(role_of(obj), []).append(obj)
    return found


def require_role(character: bpy.types.Object, role: str) -> str:
    """The bone of a role.

    Args:
        character: the character, or the controls on a rig.
        role: the role.

    Raises:
        UserError: the character has no such equipment.
    """
    known = roles_of(character)
    if role not in known:
        listed = ", ".join(known) or "none at all"
        raise UserError(f"{character.name} has no equipment called {role!r}: it has {listed}")
    return known[role]


def require_usable(character: bpy.types.Object, obj: bpy.types.Object) -> None:
    """Refuse an object that cannot be equipment of a character.

    Args:
        character: the character, or the controls on a rig.
        obj: the object.

    Raises:
        UserError: one sentence with cause and remedy.
    """
    name = obj.name
    if obj.library is not None:
        raise UserError(
            f"{name} is linked from another file and cannot be attached: make a library override "
            "of it first (Object > Library Override > Make)"
        )
    if obj.override_library is not None and obj.override_library.is_system_override:
        raise UserError(
            f"{name} is a library override that is not editable: make it editable first "
            "(Object > Library Override > Make)"
        )
    if not obj.users_scene:
        raise UserError(f"{name} is in no scene any more: choose another object")
    if characters.kind_of(obj) or obj == rig_of(character):
        raise UserError(f"{name} is the character itself: choose an object to be its equipment")
    if "poise_figure" in obj or obj.poise_motion.character is not None:
        raise UserError(f"{name} is made by Poise: choose an object of your own")
    for modifier in obj.modifiers:
        if modifier.type == "ARMATURE" and modifier.object in (character, rig_of(character)):
            raise UserError(
                f"{name} is bent by {modifier.object.name}: remove its Armature modifier, or "
                "choose another object"
            )
    carrier = carrier_of(obj)
    if carrier is not None and carrier != character:
        raise UserError(f"{name} is equipment of {carrier.name}: detach it there first")
    if any(_hangs_on(one, obj) for one in (character, rig_of(character)) if one is not None):
        raise UserError(
            f"{character.name} follows {name}, which cannot follow it in turn: choose another "
            "object"
        )
    if obj.parent is not None and obj.parent_type not in PLAIN_PARENTS:
        raise UserError(f"{name} hangs on vertices of {obj.parent.name}: clear its parent first")
    own = [c for c in obj.constraints if not c.name.startswith((CONSTRAINT, PARENT))]
    acting = next((c for c in own if not c.mute and c.influence > 0.0), None)
    if acting is not None:
        raise UserError(f"{name} has a constraint of its own, {acting.name}: mute it or remove it")
    if moves_by_itself(obj):
        raise UserError(
            f"{name} moves by itself: clear the keys and drivers of its place, and its rigid body"
        )
    matrix = np.array(_own_matrix(obj), dtype=float)
    if not np.isfinite(matrix).all():
        raise UserError(f"{name} stands nowhere: give it a place")
    if abs(np.linalg.det(matrix[:3, :3])) < 1e-18:
        raise UserError(f"{name} is scaled to zero: give it a scale above zero")


def _hangs_on(obj: bpy.types.Object, other: bpy.types.Object) -> bool:
    """Whether an object's place depends on another one's."""
    seen: set[bpy.types.Object] = set()
    waiting = [obj]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        if one == other:
            return True
        owners = [one, *(one.pose.bones if one.pose is not None else ())]
        above = [one.parent]
        for constraint in (c for owner in owners for c in owner.constraints):
            above.append(getattr(constraint, "target", None))
            above += [t.target for t in getattr(constraint, "targets", ())]
        waiting += [target for target in above if isinstance(target, bpy.types.Object)]
    return False


def _own_matrix(obj: bpy.types.Object) -> Matrix:
    """Where an object is, or would be without being anyone's equipment; characters at rest."""
    if link_of(obj) is None:
        return _standing(obj)
    above, _, name = _former_parent(obj)
    if above is None:
        return obj.matrix_basis.copy()
    over = _standing(above)
    if above.pose is not None and name in above.pose.bones:
        bone = above.pose.bones[name]
        over = over @ bone.matrix @ Matrix.Translation((0.0, bone.length, 0.0))
    return over @ obj.matrix_parent_inverse @ obj.matrix_basis


def _standing(obj: bpy.types.Object) -> Matrix:
    """Where an object is while the character that it is equipment of is at rest."""
    link = link_of(obj)
    if link is not None and link.target is not None:
        bone = link.target.data.bones.get(link.subtarget)
        if bone is not None:
            over = world_matrix(link.target) @ bone.matrix_local
            return over @ link.inverse_matrix @ obj.matrix_basis
    above = obj.parent
    while above is not None and link_of(above) is None:
        above = above.parent
    if above is None or obj.parent_type != "OBJECT":
        return world_matrix(obj)
    return _standing(obj.parent) @ obj.matrix_parent_inverse @ obj.matrix_basis


def attach(
    character: bpy.types.Object,
    role: str,
    objects: Sequence[bpy.types.Object],
    place: Place,
    add: bool = False,
) -> None:
    """Let objects follow the bone of a role, in place of Poise's own part.

    Args:
        character: the character, or the controls on a rig.
        role: the role.
        objects: what plays it, all together.
        place: how they come there.
        add: leave what plays it already.

    Raises:
        UserError: nothing was changed; one sentence says why.
    """
    bone = require_role(character, role)
    if not objects:
        raise UserError(f"Nothing is chosen to be the {label(role)}: choose an object")
    for obj in objects:
        require_usable(character, obj)
    meshes = _own_meshes(character, bone)
    before = {obj: np.array(_own_matrix(obj), dtype=float) for obj in objects}
    rest = np.array(world_matrix(character) @ character.data.bones[bone].matrix_local, dtype=float)
    if not np.isfinite(rest).all() or abs(np.linalg.det(rest[:3, :3])) < 1e-18:
        raise UserError(f"{character.name} is scaled to zero or stands nowhere: put it right first")
    hold, way = rest, np.eye(4)
    if place.mode == "POSE":
        evaluated = character.evaluated_get(bpy.context.evaluated_depsgraph_get())
        hold = np.array(evaluated.matrix_world @ evaluated.pose.bones[bone].matrix, dtype=float)
        before = {obj: np.array(world_matrix(obj), dtype=float) for obj in objects}
    elif place.mode == "FIT":
        way = _fitted(character, role, rest, meshes, before, place)
    elif spins(role):
        axle = _axes(character)[:, 0]
        off = rest[:3, 3] - _centre(_box(before), before)
        way = boxes.moved(off - axle * float(off @ axle))
    for obj in attached(character).get(role, ()) if not add else ():
        release(obj)
    for obj, where in before.items():
        release(obj)
        _follow(obj, character, bone, np.linalg.inv(hold) @ way @ where)
    hide(character, role, True)


def _follow(
    obj: bpy.types.Object, character: bpy.types.Object, bone: str, stands: np.ndarray
) -> None:
    """Let an object stand on a bone, by a constraint alone; `stands` is where, (4, 4)."""
    active = obj.constraints.active
    if obj.parent is not None:
        kept = obj.constraints.new("CHILD_OF")
        kept.name = f"{PARENT} {obj.parent_type}"
        kept.target = obj.parent
        if obj.parent_type == "BONE" and obj.parent_bone:
            kept.subtarget = obj.parent_bone
        kept.mute, kept.influence = True, 0.0
        obj.parent = None
    link = obj.constraints.new("CHILD_OF")
    link.name = CONSTRAINT
    link.target, link.subtarget = character, bone
    # The object's own channels come first: they are taken out again.
    inverse = stands @ np.linalg.inv(np.array(obj.matrix_basis, dtype=float))
    link.inverse_matrix = Matrix(inverse.tolist())
    if active is not None:
        obj.constraints.active = active


def _former_parent(obj: bpy.types.Object) -> tuple[bpy.types.Object | None, str, str]:
    """The parent that let go of an object, or None; its type; its bone, or ""."""
    kept = next((c for c in obj.constraints if c.name.startswith(PARENT)), None)
    if kept is None:
        return None, "OBJECT", ""
    kind = kept.name.removeprefix(f"{PARENT} ").split(".")[0]
    above = kept.target
    if above is None and obj.override_library is not None:
        # Files do not keep a constraint's hold of what is linked; the library knows it.
        above = getattr(obj.override_library.reference, "parent", None)
    return above, kind if kind in PLAIN_PARENTS else "OBJECT", kept.subtarget


def release(obj: bpy.types.Object) -> None:
    """Let an object follow no character, and its former parent again.

    Args:
        obj: the object; nothing is done to one that follows none.
    """
    if link_of(obj) is None:
        return
    above, kind, bone = _former_parent(obj)
    if above is not None:
        obj.parent, obj.parent_type = above, kind
        if kind == "BONE":
            obj.parent_bone = bone
    for constraint in list(obj.constraints):
        if constraint.name.startswith((CONSTRAINT, PARENT)):
            obj.constraints.remove(constraint)


def release_left() -> None:
    """Give back the objects whose characters were deleted."""
    for obj in bpy.data.objects:
        if link_of(obj) is not None and carrier_of(obj) is None:
            release(obj)


def detach(character: bpy.types.Object, roles: Iterable[str]) -> list[bpy.types.Object]:
    """Give objects back, and show Poise's own parts in their places.

    Args:
        character: the character, or the controls on a rig.
        roles: the roles.

    Returns:
        The objects.
    """
    found, wanted = attached(character), set(roles)
    released = [obj for role in found if role in wanted for obj in found[role]]
    for obj in released:
        release(obj)
    for role in wanted & set(roles_of(character)):
        hide(character, role, False)
    return released


@dataclass(frozen=True, eq=False)
class Stock:
    """The equipment of a character that is about to go.

    Attributes:
        objects: role -> objects of the animator's own.
        hidden: roles whose own parts are hidden.
    """

    objects: dict[str, list[bpy.types.Object]]
    hidden: list[str]


def stock_of(character: bpy.types.Object) -> Stock:
    """What `restock` gives to the character that takes its place.

    Args:
        character: the character, or the controls on a rig.
    """
    hidden = [role for role in roles_of(character) if is_hidden(character, role)]
    return Stock(attached(character), hidden)


def restock(character: bpy.types.Object, stock: Stock) -> None:
    """Let equipment follow a character as it followed the one before.

    What it has no role for is given back.

    Args:
        character: the one that took the other's place.
        stock: what `stock_of` found, before the other was removed.
    """
    known = roles_of(character)
    for role, objects in stock.objects.items():
        for obj in objects:
            link = link_of(obj)
            if role not in known:
                release(obj)
            elif link is not None:
                link.target, link.subtarget = character, known[role]
    for role in stock.hidden:
        if role in known:
            hide(character, role, True)


# -- Poise's own parts ------------------------------------------------------------


def _own_meshes(character: bpy.types.Object, bone: str) -> list[bpy.types.Object]:
    """Meshes that hold Poise's own part of a role.

    Raises:
        UserError: one of them cannot be changed.
    """
    found = [obj for obj in characters.figure_meshes(character) if bone in obj.vertex_groups]
    for obj in found:
        if not obj.is_editable:
            raise UserError(
                f"{obj.name} is linked: make a library override of the whole character first"
            )
    return found


def is_hidden(character: bpy.types.Object, role: str) -> bool:
    """Whether Poise's own part of a role is hidden.

    Args:
        character: the character, or the controls on a rig.
        role: the role.
    """
    name = f"{MASK}{role}"
    return any(name in obj.modifiers for obj in characters.figure_meshes(character))


def is_replaced(character: bpy.types.Object, role: str) -> bool:
    """Whether an object of the animator's own plays a role, or nothing is seen of it.

    Args:
        character: the character, or the controls on a rig.
        role: the role.
    """
    return is_hidden(character, role) or role in attached(character)


def hide(character: bpy.types.Object, role: str, hidden: bool) -> None:
    """Hide or show Poise's own part of a role.

    Args:
        character: the character, or the controls on a rig.
        role: the role.
        hidden: whether it shall be hidden.

    Raises:
        UserError: there is no such role, or its mesh cannot be changed.
    """
    bone, name = require_role(character, role), f"{MASK}{role}"
    for obj in _own_meshes(character, bone):
        if hidden == (name in obj.modifiers):
            continue
        active = obj.modifiers.active
        if hidden:
            mask = obj.modifiers.new(name, "MASK")
            mask.mode = "VERTEX_GROUP"
            mask.vertex_group = bone
            mask.invert_vertex_group = True
            mask.show_expanded = False
            if active is not None:
                obj.modifiers.active = active
        else:
            obj.modifiers.remove(obj.modifiers[name])


# -- fitting ------------------------------------------------------------------------


def _part(meshes: Sequence[bpy.types.Object], bone: str) -> np.ndarray:
    """Points (n, 3) in the world of Poise's own part, in the rest pose."""
    points = [np.empty((0, 3))]
    for obj in meshes:
        index = obj.vertex_groups[bone].index
        mesh = obj.data
        there = [
            v.co[:]
            for v in mesh.vertices
            if any(g.group == index and g.weight > 0.5 for g in v.groups)
        ]
        if there:
            matrix = np.array(world_matrix(obj), dtype=float)
            points.append(np.array(there) @ matrix[:3, :3].T + matrix[:3, 3])
    return np.concatenate(points)


def _fitted(character, role, rest, meshes, before, place: Place) -> np.ndarray:
    """Matrix (4, 4) that brings objects into the place of Poise's own part."""
    points = _part(meshes, require_role(character, role))
    if not len(points):
        raise UserError(
            f"Poise's own {label(role)} of {character.name} is gone, so nothing can be fitted to "
            "its place: choose Where It Stands"
        )
    axes = _axes(character)
    bone_axes = rest[:3, :3] / np.linalg.norm(rest[:3, :3], axis=0)
    wanted, own = boxes.tighter(points, axes, bone_axes), _box(before)
    if own.size.max() <= 1e-9:
        raise UserError(
            f"{next(iter(before)).name} has no size that could be fitted: choose Where It Stands"
        )
    up = axes[:, 2]
    anchor = np.zeros(3)
    if spins(role):
        own = Box(_centre(own, before), own.axes, own.size)
        wanted = Box(rest[:3, 3] + axes[:, 0] * float((wanted.centre - rest[:3, 3]) @ axes[:, 0]),
                     wanted.axes, wanted.size)
    elif wanted.axes is bone_axes:
        anchor[1] = -1.0  # held where its bone begins
    else:
        ground = np.array(world_matrix(character) @ character.data.bones["root"].head_local)
        height = float(character.get("poise_height", 1.8)) * float(
            np.linalg.norm(np.array(world_matrix(character))[:3, 2])
        )
        if float((points - ground).dot(up).min()) < GROUND * height:
            anchor[2] = -1.0
    axis = up if wanted.axes is axes else None
    return boxes.fitted(own, wanted, anchor, place.resize, place.flip, axis)


def _axes(character: bpy.types.Object) -> np.ndarray:
    """Columns left, back, up of a character in the world, in its rest pose."""
    linear = np.array(world_matrix(character), dtype=float)[:3, :3]
    return linear / np.linalg.norm(linear, axis=0) @ characters.rest_frame(character)[:3, :3].T


def _box(before) -> Box:
    """The box around objects where they stand, along the axes of the first."""
    first = next(iter(before.values()))
    u, _, vt = np.linalg.svd(first[:3, :3])
    axes = u @ vt
    if np.linalg.det(axes) < 0.0:
        axes = axes @ np.diag([-1.0, 1.0, 1.0])
    points = np.concatenate([_points(obj, matrix, set(before)) for obj, matrix in before.items()])
    # What is no surface is where its origin is.
    return boxes.box_around(points if len(points) else first[None, :3, 3], axes)


def _centre(box: Box, before) -> np.ndarray:
    """Where the axle of objects is: their origin, where that is about in the middle."""
    origin = next(iter(before.values()))[:3, 3]
    off = np.abs((origin - box.centre) @ box.axes)
    return origin if (off <= AXLE * box.size.max()).all() else box.centre


def _points(obj: bpy.types.Object, matrix: np.ndarray, others: set) -> np.ndarray:
    """Points (n, 3) of an object that stands at `matrix`, and of what hangs on it.

    Also of what it is an instance of; those of `others` are left out.
    """
    found = [_surface(obj, matrix)]
    instance = obj.instance_collection if obj.instance_type == "COLLECTION" else None
    if instance is not None:
        over = matrix @ boxes.moved(-np.array(instance.instance_offset))
        found += [
            _surface(one, over @ np.array(one.matrix_world, dtype=float))
            for one in instance.all_objects
        ]
    back = np.linalg.inv(np.array(world_matrix(obj), dtype=float))
    found += [
        _points(child, matrix @ back @ np.array(world_matrix(child), dtype=float), others)
        for child in obj.children
        if child not in others and link_of(child) is None
    ]
    return np.concatenate(found)


def _surface(obj: bpy.types.Object, matrix: np.ndarray) -> np.ndarray:
    """Points (n, 3) of an object's own surface as it is rendered; none where it has none."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    try:
        mesh = evaluated.to_mesh()
    except RuntimeError:  # lights, cameras, Empties
        return np.empty((0, 3))
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    evaluated.to_mesh_clear()
    return points.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]
