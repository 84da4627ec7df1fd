# SPDX-License-Identifier: GPL-3.0-or-later
"""Footprints as objects: made of a solved motion, moved by the animator, read again.

Each object remembers how it was given. What the animator has not touched is
no edit, whatever has become of the motion since; what has been touched is
read relative to that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import bpy
import numpy as np
from mathutils import Quaternion

from ...solvers.legged import Footprint, FootprintEdit, GaitMotion
from ...solvers.legged.edits import FootprintBefore
from ...solvers.legged.footholds import Ground
from ...solvers.motion import Placement
from ...solvers.rotations import between, conjugate, multiply, rotate
from ..drawing.diagrams import leg_colour
from ..families.gait import view as gait_view
from ..placement import world_matrix
from ..settings.footprints import NEVER
from . import objects

UP = np.array((0.0, 0.0, 1.0))
TOUCHED = 2e-5  # Blender units and rad: what single precision does not do by itself
STALE = 1e-4  # m, rad, s

_MESH_KEY = "poise_footprint_mesh"


@dataclass(frozen=True)
class Seen:
    """A footprint object as the animator left it, SI units and the world.

    Attributes:
        leg: name of its leg.
        index: number of the step.
        position: (3,) m.
        turn: (4,) orientation.
        on: touchdown, s.
        off: liftoff, s.
        given_position: how it was given; given_turn, given_on, given_off likewise.
        placed: whether it has been moved.
        turned: whether it has been turned.
        timed_on: whether its touchdown has been changed.
        timed_off: whether its liftoff has.
    """

    leg: str
    index: int
    position: np.ndarray
    turn: np.ndarray
    on: float
    off: float
    given_position: np.ndarray
    given_turn: np.ndarray
    given_on: float
    given_off: float
    placed: bool
    turned: bool
    timed_on: bool
    timed_off: bool

    @property
    def touched(self) -> bool:
        """Whether anything about it has been changed."""
        return self.placed or self.turned or self.timed_on or self.timed_off


# -- objects -------------------------------------------------------------------


def objects_of(motion: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects that stand for footprints of a motion, in order of leg and step.

    Args:
        motion: the Motion object.
    """
    collection = motion.poise_motion.gait.footprint_collection
    if collection is None:
        return []
    found = [o for o in _meshes(collection) if o.poise_footprint.motion == motion]
    return sorted(found, key=lambda o: (o.poise_footprint.leg, o.poise_footprint.index, o.name))


def show(
    scene: bpy.types.Scene, motion: bpy.types.Object, solved: GaitMotion, unit_scale: float
) -> list[bpy.types.Object]:
    """Make objects for all footprints, or bring those that are there up to date.

    Args:
        scene: the operator's scene.
        motion: the Motion object.
        solved: its motion.
        unit_scale: metres per Blender unit.

    Returns:
        The objects.
    """
    collection = _collection(scene, motion)
    known: dict[tuple[str, int], bpy.types.Object] = {}
    for obj in objects_of(motion):
        key = (obj.poise_footprint.leg, obj.poise_footprint.index)
        if key in known:
            objects.remove(obj)
        else:
            known[key] = obj
    meshes: dict[str, bpy.types.Mesh] = {}
    shown = []
    for mark in solved.footprints:
        obj = known.pop((mark.leg, mark.index), None)
        if mark.leg not in meshes:
            meshes[mark.leg] = _mesh(solved, mark.leg, unit_scale)
        if obj is None:
            obj = bpy.data.objects.new(f"{mark.leg} {mark.index:02d}", meshes[mark.leg])
            obj.hide_render = True
            obj.lock_location[2] = True  # on the ground, until it is asked to leave it
            collection.objects.link(obj)
            obj.rotation_mode = "QUATERNION"
        elif obj.data is not meshes[mark.leg]:
            obj.data = meshes[mark.leg]
        _give(obj, motion, mark, unit_scale)
        shown.append(obj)
    for obj in known.values():
        objects.remove(obj)
    _drop_unused(meshes.values())
    return shown


def remove(motion: bpy.types.Object) -> int:
    """Remove the objects, and their collection if nothing else is in it; edits stay.

    Args:
        motion: the Motion object.

    Returns:
        How many were removed.
    """
    found = objects_of(motion)
    for obj in found:
        objects.remove(obj)
    gait = motion.poise_motion.gait
    collection = gait.footprint_collection
    if collection is not None and collection.library is None and not collection.all_objects:
        bpy.data.collections.remove(collection)
    gait.footprint_collection = None
    return len(found)


def _meshes(collection: bpy.types.Collection) -> list[bpy.types.Object]:
    # Asking objects of other types leaves an empty group on them.
    return [obj for obj in collection.all_objects if obj.type == "MESH"]


def _collection(scene: bpy.types.Scene, motion: bpy.types.Object) -> bpy.types.Collection:
    gait = motion.poise_motion.gait
    found = gait.footprint_collection
    # A copy of a Motion object names the collection of the one that it was copied from.
    foreign = found is not None and not objects_of(motion) and any(
        obj.poise_footprint.motion not in (None, motion) for obj in _meshes(found)
    )
    if found is not None and found.library is None and not foreign:
        if found not in scene.collection.children_recursive:
            scene.collection.children.link(found)
        return found
    collection = bpy.data.collections.new(f"{motion.name} Footprints")
    scene.collection.children.link(collection)
    gait.footprint_collection = collection
    return collection


def _mesh(solved: GaitMotion, leg: str, unit_scale: float) -> bpy.types.Mesh:
    """The sole of a leg as a mesh, shared by its footprints and those of others of its size."""
    creature = solved.creature
    flat = Footprint(leg, 0, np.zeros(3), np.array((1.0, 0.0, 0.0, 0.0)), 0.0, 0.0, 1.0, "")
    points = gait_view.outline(creature, flat)[:-1] / unit_scale
    names = [each.name for each in creature.legs]
    colour = leg_colour(names, leg)
    key = f"{leg} {colour} {np.round(points, 6).tobytes().hex()[:64]} {unit_scale:.9g}"
    for mesh in bpy.data.meshes:
        if mesh.library is None and mesh.get(_MESH_KEY) == key:
            return mesh
    mesh = bpy.data.meshes.new(f"Footprint {leg}")
    mesh.from_pydata(points.tolist(), [], [tuple(range(len(points)))])
    mesh.materials.append(objects.plain_material(f"Footprint {leg}", colour[:3], 0.7))
    mesh[_MESH_KEY] = key
    return mesh


def _drop_unused(used: Iterable[bpy.types.Mesh]) -> None:
    keep = set(used)
    for mesh in [m for m in bpy.data.meshes if m.users == 0 and m.get(_MESH_KEY) and m not in keep]:
        materials = [m for m in mesh.materials if m is not None]
        bpy.data.meshes.remove(mesh)
        for material in materials:
            if material.users == 0:
                bpy.data.materials.remove(material)


def _give(
    obj: bpy.types.Object, motion: bpy.types.Object, mark: Footprint, unit_scale: float
) -> None:
    """Put an object where its footprint is, and let it remember that."""
    info = obj.poise_footprint
    info.motion, info.leg, info.index = motion, mark.leg, mark.index
    put(obj, mark.position / unit_scale, mark.orientation)
    obj.color = (1.0, 1.0, 1.0, 1.0)
    # A click then takes it before the curve that runs through it, from however far away.
    obj.show_in_front = True
    info.on, info.off = max(mark.on, -NEVER), min(mark.off, NEVER)
    info.given_location, info.given_turn = mark.position / unit_scale, mark.orientation
    info.given_on, info.given_off = info.on, info.off


def put(obj: bpy.types.Object, location: np.ndarray, turn: np.ndarray) -> None:
    """Place a footprint object in the world, at its own size.

    Args:
        obj: the object.
        location: (3,) Blender units.
        turn: (4,) orientation.
    """
    rotation = Quaternion(np.asarray(turn, dtype=float).tolist())
    matrix = rotation.to_matrix().to_4x4()
    matrix.translation = np.asarray(location, dtype=float).tolist()
    if obj.parent is None and not obj.constraints:
        # To the digit: not by way of a matrix.
        obj.location = matrix.translation
        obj.scale = (1.0, 1.0, 1.0)
        obj.delta_location, obj.delta_scale = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
        obj.rotation_mode = "QUATERNION"
        obj.rotation_quaternion = rotation
    else:
        obj.matrix_world = matrix


# -- reading -------------------------------------------------------------------


def read(motion: bpy.types.Object, unit_scale: float) -> tuple[list[Seen], int]:
    """Footprint objects as the animator left them.

    Where there are several for one step, as after Duplicate, the one that was
    touched counts.

    Args:
        motion: the Motion object.
        unit_scale: metres per Blender unit.

    Returns:
        One for each step that has objects, and how many objects were too many.
    """
    found: dict[tuple[str, int], Seen] = {}
    many = 0
    for obj in objects_of(motion):
        seen = _seen(obj, unit_scale)
        key = (seen.leg, seen.index)
        if key in found:
            many += 1
            if found[key].touched or not seen.touched:
                continue
        found[key] = seen
    return list(found.values()), many


def touched(motion: bpy.types.Object, unit_scale: float) -> tuple:
    """What the animator has changed about footprint objects, to be compared with what it was.

    Args:
        motion: the Motion object.
        unit_scale: metres per Blender unit.
    """
    return tuple(
        (each.leg, each.index, *each.position, *each.turn, each.on, each.off)
        for each in read(motion, unit_scale)[0] if each.touched
    )


def _seen(obj: bpy.types.Object, unit_scale: float) -> Seen:
    info = obj.poise_footprint
    place, rotation, _scale = world_matrix(obj).decompose()
    location, turn = np.array(place), np.array(rotation)
    given, given_turn = np.array(info.given_location), np.array(info.given_turn)
    near = TOUCHED * (1.0 + 0.1 * np.abs(given).max())
    moved = bool(np.abs(location - given).max() > near)
    turned = bool(1.0 - abs(float(turn @ given_turn)) > 1e-9) and (
        2.0 * float(np.linalg.norm(multiply(conjugate(given_turn), turn)[1:])) > 10.0 * TOUCHED
    )
    times = [
        -np.inf if t <= -0.5 * NEVER else np.inf if t >= 0.5 * NEVER else t
        for t in (info.on, info.off, info.given_on, info.given_off)
    ]
    return Seen(
        info.leg, info.index, location * unit_scale, turn, times[0], times[1],
        given * unit_scale, given_turn, times[2], times[3], moved, turned,
        # Who stands since before the motion, or for good, has no time there that could change.
        isfinite(times[2]) and times[0] != times[2], isfinite(times[3]) and times[1] != times[3],
    )


def marks_of(seen: Sequence[Seen], motion: GaitMotion) -> list[Footprint]:
    """Footprints as their objects are now.

    Args:
        seen: the objects.
        motion: the solved motion.

    Returns:
        Those that the motion has, in the order of `seen`.
    """
    known = {(mark.leg, mark.index): mark for mark in motion.footprints}
    found = []
    for each in seen:
        mark = known.get((each.leg, each.index))
        if mark is None:
            continue
        place, turn = each.position, each.turn
        if not each.placed:
            place = mark.position
        if not each.turned:
            turn = mark.orientation
        found.append(replace(
            mark, position=place, orientation=turn,
            yaw=_yaw_of(turn, mark.yaw),
            on=each.on if each.timed_on else mark.on,
            off=each.off if each.timed_off else mark.off,
        ))
    return found


def new_edits(
    seen: Sequence[Seen],
    motion: GaitMotion,
    edits: Sequence[FootprintEdit],
    ground: Ground | None,
) -> tuple[FootprintEdit, ...]:
    """Edits as they are with what the animator has touched since.

    Args:
        seen: the objects.
        motion: the motion as solved with the edits so far.
        edits: the edits so far.
        ground: the terrain, on which footprints stay that are moved along it; or None.

    Returns:
        All edits; those that change nothing any more are gone.
    """
    base = {
        (mark.leg, mark.index): mark
        for mark in motion.footprints_before or motion.footprints
    }
    now = {(mark.leg, mark.index): mark for mark in motion.footprints}
    kept = {(edit.leg, edit.index): edit for edit in edits}
    reattached = any(p.code == "EDITS_MOVED" for p in motion.problems)
    if reattached:  # their steps are elsewhere now: so they are from here on
        kept = {
            key: _moved_along(edit, base[key], now[key]) if key in base and key in now else edit
            for key, edit in kept.items()
        }
    for each in seen:
        key = (each.leg, each.index)
        if not each.touched or key not in base or key not in now:
            continue
        edit = kept.get(key, FootprintEdit(*key))
        edit = _touched(edit, each, base[key], now[key], ground)
        if any(part is not None for part in (
            edit.position, edit.yaw, edit.normal, edit.on, edit.off
        )):
            kept[key] = edit
        else:
            kept.pop(key, None)
    return tuple(kept.values())


def _touched(
    edit: FootprintEdit, each: Seen, base: Footprint, now: Footprint, ground: Ground | None
) -> FootprintEdit:
    """An edit with what was touched about its object."""
    place, turn = each.position, each.turn
    far = max(
        float(np.abs(each.given_position - now.position).max()),
        2.0 * float(np.linalg.norm(multiply(conjugate(each.given_turn), now.orientation)[1:])),
    )
    if far > STALE:  # the motion has changed since the object was given
        spin = multiply(now.orientation, conjugate(each.given_turn))
        place = now.position + rotate(spin, place - each.given_position)
        turn = multiply(spin, turn)
    if each.placed:
        if ground is not None and abs(each.position[2] - each.given_position[2]) < STALE:
            z, _normal, hit = ground(place[:1], place[1:2])
            if hit[0] and isfinite(float(z[0])):
                place = np.array((place[0], place[1], float(z[0])))
        same = float(np.abs(place - base.position).max()) < STALE
        edit = replace(edit, position=None if same else place)
    if each.turned:
        yaw = _yaw_of(turn, base.yaw)
        edit = replace(edit, yaw=None if abs(yaw - base.yaw) < STALE else yaw)
        up, was = (rotate(quaternion, UP) for quaternion in (turn, each.given_turn))
        if float(np.abs(up - was).max()) > STALE:
            level = float(np.abs(up - rotate(base.orientation, UP)).max()) < STALE
            edit = replace(edit, normal=None if level else up)
    if each.timed_on:
        on = now.on + (each.on - each.given_on)
        edit = replace(edit, on=None if abs(on - base.on) < STALE else on)
    if each.timed_off:
        off = now.off + (each.off - each.given_off)
        edit = replace(edit, off=None if abs(off - base.off) < STALE else off)
    return replace(edit, was=FootprintBefore(base.position, base.yaw, base.on, base.off))


def _moved_along(edit: FootprintEdit, base: Footprint, now: Footprint) -> FootprintEdit:
    """An edit that has gone with its step, as if it were made there."""
    return replace(
        edit,
        position=None if edit.position is None else now.position,
        yaw=None if edit.yaw is None else now.yaw,
        normal=None if edit.normal is None else rotate(now.orientation, UP),
        on=None if edit.on is None else now.on,
        off=None if edit.off is None else now.off,
        was=FootprintBefore(base.position, base.yaw, base.on, base.off),
    )


def _yaw_of(turn: np.ndarray, near: float) -> float:
    """Yaw of a flat foot that is turned so, next to another."""
    up = rotate(turn, UP)
    flat = multiply(conjugate(between(UP, up)), turn)
    yaw = 2.0 * float(np.arctan2(flat[3], flat[0]))
    return yaw + 2.0 * np.pi * round((near - yaw) / (2.0 * np.pi))


def store(
    motion: bpy.types.Object,
    edits: Sequence[FootprintEdit],
    solved: GaitMotion,
    placement: Placement,
    unit_scale: float,
) -> None:
    """Write edits and pinned states to a Motion object.

    Args:
        motion: the Motion object.
        edits: all edits.
        solved: the motion as solved with them.
        placement: of the Motion object.
        unit_scale: metres per Blender unit.
    """
    gait = motion.poise_motion.gait
    gait.footprints.clear()
    for edit in sorted(edits, key=lambda edit: (edit.leg, edit.index)):
        gait.footprints.add().store(edit, placement, unit_scale)
    gait.footprints_index = min(gait.footprints_index, max(len(gait.footprints) - 1, 0))
    gait.footprint_pins.clear()
    for pin in solved.pins:
        gait.footprint_pins.add().store(pin, placement, unit_scale)
