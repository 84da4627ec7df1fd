# SPDX-License-Identifier: GPL-3.0-or-later
"""Other people's vehicles, of objects without an armature: set up as a car, and given back.

An armature of a car's bones is made where the wheels are; wheels hang on their bones, all else
on the body. Objects keep their channels: parents and their inverses change alone, and what they
were stands on each object until it is given back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import atan2, cos, radians

import bpy
import numpy as np
from mathutils import Matrix

from ..errors import UserError
from ..mapping.car import TURNTABLE, CarFigure
from ..placement import world_matrix
from . import machines
from .builders import widgets
from .builders.car import COLUMN, MASS, REFERENCE, skeleton

BEFORE, PARENT = "poise_before", "poise_before_parent"
"""Custom properties of an object that was set up: how it hung on its parent, and on whom."""

NAMED = re.compile(r"wheel|tyre|tire|axle|rueda|roue|ruota", re.IGNORECASE)
NOT_WHEELS = re.compile(r"steer|spare|arch|well|house|housing|cover", re.IGNORECASE)
FRONT = re.compile(r"front|fore(?![a-z])|(^|[^a-z])f[lr]([^a-z]|$)", re.IGNORECASE)
REAR = re.compile(r"back|rear|(^|[^a-z])[rb][lr]([^a-z]|$)", re.IGNORECASE)
ROUND, FLAT = 0.12, 0.85
"""How far a wheel's height may be off its length, and how wide it is at the most, of that."""

LEVEL = cos(radians(8.0))
AXLE_STEERS = radians(25.0)
"""How far a front axle that is one object turns, about the vertical through its middle."""

RIM = 0.8  # of a wheel's radius: what is further out is tyre
TALL = 0.12  # of the length, up to where wheels end that stand on the ground


@dataclass(frozen=True)
class Wheel:
    """An object that is one.

    Attributes:
        obj: the object.
        place: (3,) its middle in the world.
        radius: of it.
        width: of it.
        axis: (3,) unit vector that it turns about, in the world.
        axle: whether the object is both wheels of an axle, of which this is one.
    """

    obj: bpy.types.Object
    place: np.ndarray
    radius: float
    width: float
    axis: np.ndarray
    axle: bool = False


def members(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """All that hangs together with some objects, the topmost first.

    Args:
        objects: some of a vehicle's.
    """
    tops = []
    for obj in objects:
        while obj.parent is not None:
            obj = obj.parent
        if obj not in tops:
            tops.append(obj)
    return [*tops, *(child for top in tops for child in top.children_recursive)]


def _corners(obj: bpy.types.Object) -> np.ndarray:
    matrix = np.array(world_matrix(obj), dtype=float)
    return np.array([tuple(c) for c in obj.bound_box]) @ matrix[:3, :3].T + matrix[:3, 3]


def _wheels(obj: bpy.types.Object) -> list[Wheel]:
    """An object as a wheel, or as both wheels of an axle: as high as it is long, about a level
    axis; a wheel is less wide, and an axle has its tyres at both ends and none between."""
    matrix = np.array(world_matrix(obj), dtype=float)
    box = np.array([tuple(corner) for corner in obj.bound_box])
    axes = matrix[:3, :3]
    sizes = np.ptp(box, axis=0) * np.linalg.norm(axes, axis=0)
    for k in range(3):
        others = np.delete(sizes, k)
        tall = float(others.mean())
        if tall < 1e-9 or np.ptp(others) > ROUND * tall:
            continue
        axis = axes[:, k] / np.linalg.norm(axes[:, k])
        if abs(axis[2]) > np.sin(radians(8.0)):
            continue
        middle = 0.5 * (box.max(axis=0) + box.min(axis=0))
        place = axes @ middle + matrix[:3, 3]
        if sizes[k] <= FLAT * tall:
            return [Wheel(obj, place, 0.5 * tall, float(sizes[k]), axis)]
        points = np.empty(3 * len(obj.data.vertices), np.float32)
        obj.data.vertices.foreach_get("co", points)
        off = (points.reshape(-1, 3) - middle) @ axes.T
        along = off @ axis
        tyre = along[np.linalg.norm(off - along[:, None] * axis, axis=1) > RIM * 0.5 * tall]
        if len(tyre) and np.abs(tyre).min() > 0.2 * sizes[k]:
            out = 0.5 * (np.abs(tyre).min() + np.abs(tyre).max())
            return [
                Wheel(obj, place + side * out * axis, 0.5 * tall, float(np.ptp(np.abs(tyre))),
                      axis, True)
                for side in (1.0, -1.0)
            ]
    return []


def find_wheels(parts: Iterable[bpy.types.Object], name: str) -> list[Wheel]:
    """The four wheels of a vehicle, by their names and their shapes.

    Args:
        parts: its objects.
        name: of the vehicle, for messages.

    Raises:
        UserError: they cannot be told, or the vehicle is no car.
    """
    meshes = [obj for obj in parts if obj.type == "MESH"]
    if not meshes:
        raise UserError(f"{name} has no meshes: select a vehicle's")
    for obj in meshes:
        scale = np.linalg.norm(np.array(world_matrix(obj), dtype=float)[:3, :3], axis=0)
        if not np.isfinite(scale).all() or scale.min() < 1e-6 * max(scale.max(), 1e-30):
            raise UserError(f"{obj.name} is flattened to nothing: give it a scale above zero")
    low = min(float(_corners(obj)[:, 2].min()) for obj in meshes)
    size = max(float(np.ptp(np.concatenate([_corners(o) for o in meshes]), axis=0).max()), 1e-9)
    called = [obj for obj in meshes if NAMED.search(obj.name) and not NOT_WHEELS.search(obj.name)]
    found = [wheel for obj in called or meshes for wheel in _wheels(obj)]
    found = [wheel for wheel in found if wheel.place[2] - wheel.radius - low < TALL * size]
    if not found and called:
        raise UserError(
            f"{name} does not stand level on its wheels: turn it upright, its wheels along the "
            "ground"
        )
    if len(found) != 4:
        raise UserError(
            f"{name} has {len(found)} wheels that could be found, and a car has four: call the "
            "objects of its wheels, or of its axles, \"Wheel\" in front and behind"
        )
    return found


def facing_of(wheels: list[Wheel], turned: bool) -> np.ndarray:
    """(3,) unit vector along which a vehicle goes: as its wheels' names say, else -Y or +X.

    Args:
        wheels: its wheels.
        turned: it goes the other way.
    """
    axis = wheels[0].axis * (1.0, 1.0, 0.0)
    ahead = np.cross(axis / np.linalg.norm(axis), (0.0, 0.0, 1.0))
    fronts = [w.place for w in wheels if FRONT.search(w.obj.name)]
    rears = [w.place for w in wheels if REAR.search(w.obj.name)]
    if fronts and rears:
        way = np.mean(fronts, axis=0) - np.mean(rears, axis=0)
    else:
        way = np.array((0.0, -1.0, 0.0)) if abs(ahead[1]) > 0.5 else np.array((1.0, 0.0, 0.0))
    ahead = ahead if ahead @ way > 0.0 else -ahead
    return -ahead if turned else ahead


def measure(
    parts: list[bpy.types.Object], wheels: list[Wheel], ahead: np.ndarray, name: str
) -> tuple[CarFigure, dict[str, Wheel], Matrix]:
    """A vehicle as a car: its rest pose in Blender units, wheel bone -> wheel, where it stands.

    Args:
        parts: its objects.
        wheels: its wheels.
        ahead: (3,) the way it goes.
        name: of the vehicle, for messages.

    Raises:
        UserError: its wheels do not stand as a car's.
    """
    left = np.cross((0.0, 0.0, 1.0), ahead)
    along = np.array([w.place @ ahead for w in wheels])
    across = np.array([w.place @ left for w in wheels])
    by_bone: dict[str, Wheel] = {}
    for wheel, a, b in zip(wheels, along, across, strict=True):
        end = "front" if a > along.mean() else "rear"
        by_bone[f"{end}_wheel.{'L' if b > across.mean() else 'R'}"] = wheel
    level = all(abs(w.axis @ left) > LEVEL for w in wheels)
    if len(by_bone) != 4 or not level:
        raise UserError(
            f"The wheels of {name} do not stand two in front and two behind, with axles across: "
            "straighten them, or separate the objects"
        )
    ends = {
        end: np.mean([by_bone[f"{end}_wheel.{s}"].place for s in "LR"], axis=0)
        for end in ("front", "rear")
    }
    ground = min(w.place[2] - w.radius for w in wheels)
    middle = 0.5 * (ends["front"] + ends["rear"])
    origin = np.array((middle[0], middle[1], ground))
    axes = np.stack((left, -ahead, (0.0, 0.0, 1.0)), axis=1)

    def local(place: np.ndarray) -> np.ndarray:
        return (np.asarray(place) - origin) @ axes

    box = local(np.concatenate([_corners(obj) for obj in parts if obj.type == "MESH"]))
    length, width = 2.0 * float(np.abs(box[:, 1]).max()), 2.0 * float(np.abs(box[:, 0]).max())
    joints = {"root": np.zeros(3)}
    for bone, wheel in by_bone.items():
        # Mirror images of each other, and all axes level.
        hub = local(wheel.place)
        joints[bone] = np.array((hub[0], local(ends[bone.split("_")[0]])[1], wheel.radius))
    for end in ("front", "rear"):
        half = 0.5 * (joints[f"{end}_wheel.L"][0] - joints[f"{end}_wheel.R"][0])
        for side, sign in (("L", 1.0), ("R", -1.0)):
            joints[f"{end}_wheel.{side}"][0] = sign * half
    for side in "LR":
        joints[f"knuckle.{side}"] = joints[f"front_wheel.{side}"].copy()
    for end in ("front", "rear"):
        if by_bone[f"{end}_wheel.L"].axle:
            joints[f"{end}_axle"] = joints[f"{end}_wheel.L"] * (0.0, 1.0, 1.0)
    if "front_axle" in joints:
        joints[TURNTABLE] = joints["front_axle"].copy()
    high = float(box[:, 2].max())
    joints["body"] = np.array((0.0, 0.0, 1.1 * float(joints["front_wheel.L"][2])))
    joints["steering_wheel"] = np.array((0.2 * width, -0.08 * length, 0.6 * high))
    figure = CarFigure(joints, length, width, COLUMN, MASS * (length / REFERENCE) ** 3)
    if TURNTABLE in joints:
        figure = replace(figure, steering=AXLE_STEERS)
    return figure, by_bone, Matrix.Translation(origin) @ Matrix.Rotation(
        atan2(-axes[0, 1], axes[1, 1]), 4, "Z"
    )


def set_up(
    context: bpy.types.Context, parts: list[bpy.types.Object], name: str, unit_scale: float,
    turned: bool = False, mass: float = 0.0,
) -> bpy.types.Object:
    """Make an armature that carries a vehicle.

    Args:
        context: any context, in Object Mode.
        parts: the vehicle's objects, the topmost first.
        name: of the vehicle.
        unit_scale: metres per Blender unit.
        turned: it goes the other way than its names or its axes say.
        mass: kg; 0 for that of a usual car of its length.

    Returns:
        The armature.

    Raises:
        UserError: it cannot be told how it rolls, or it cannot be changed.
    """
    for obj in parts:
        if obj.library is not None or obj.override_library is not None:
            raise UserError(f"{obj.name} is linked: make it local, then set it up")
        if BEFORE in obj or obj.type == "ARMATURE" or any(
            modifier.type == "ARMATURE" for modifier in obj.modifiers
        ):
            raise UserError(
                f"{obj.name} has an armature already: Set Up as Car is for vehicles of objects"
            )
    wheels = find_wheels(parts, name)
    for wheel in wheels:
        data = wheel.obj.animation_data
        if data is not None and (data.action is not None or len(data.nla_tracks) or data.drivers):
            raise UserError(
                f"{wheel.obj.name} is animated, and would turn twice: clear its animation first"
            )
    ahead = facing_of(wheels, turned)
    figure, by_bone, place = measure(parts, wheels, ahead, name)
    made = skeleton(figure)
    made.numbers["poise_mass"] = mass or MASS * (figure.length * unit_scale / REFERENCE) ** 3
    armature = machines.make(context, made, "CAR", f"{name} Car")
    for collection in parts[0].users_collection or (context.scene.collection,):
        collection.objects.link(armature)
    armature.matrix_world = place
    context.view_layer.update()
    carried = {
        wheel.obj: f"{bone.split('_')[0]}_axle" if wheel.axle else bone
        for bone, wheel in by_bone.items()
    }
    carried |= {obj: "body" for obj in parts if obj.parent is None and obj not in carried}
    for obj, bone in carried.items():
        _hang(obj, armature, bone)
    context.view_layer.update()
    return armature


def _hang(obj: bpy.types.Object, armature: bpy.types.Object, bone: str) -> None:
    """Let a bone carry an object from where it is."""
    obj[BEFORE] = json.dumps({
        "type": obj.parent_type, "bone": obj.parent_bone,
        "inverse": [list(row) for row in obj.matrix_parent_inverse],
    })
    if obj.parent is not None:
        obj[PARENT] = obj.parent
    world, basis = world_matrix(obj), obj.matrix_basis.copy()
    posed = armature.pose.bones[bone]
    tail = Matrix.Translation((0.0, posed.bone.length, 0.0))
    obj.parent, obj.parent_type, obj.parent_bone = armature, "BONE", bone
    carrier = armature.matrix_basis @ posed.matrix @ tail
    obj.matrix_parent_inverse = carrier.inverted_safe() @ world @ basis.inverted_safe()


def is_set_up(armature: bpy.types.Object | None) -> bool:
    """Whether an armature was made to carry a vehicle.

    Args:
        armature: an object, or None.
    """
    return (
        machines.machine_of(armature) == "CAR"
        and any(BEFORE in child for child in armature.children)
    )


def give_back(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """Put a vehicle's objects back as they were, and remove the armature.

    Args:
        armature: that carries them.

    Returns:
        The objects.
    """
    found = [child for child in armature.children if BEFORE in child]
    for obj in found:
        before = json.loads(obj[BEFORE])
        obj.parent = obj.get(PARENT)
        obj.parent_type, obj.parent_bone = before["type"], before["bone"]
        obj.matrix_parent_inverse = Matrix(before["inverse"])
        for key in (BEFORE, PARENT):
            if key in obj:
                del obj[key]
    data = armature.data
    bpy.data.objects.remove(armature)
    if data.users == 0:
        bpy.data.armatures.remove(data)
    widgets.remove_unused()
    return found
