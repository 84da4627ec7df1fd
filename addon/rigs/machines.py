# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanical figures: those that can be added, and what makes any armature one.

An armature is marked by the custom property `poise_machine`, the name of what it is. A chain or
tree of bones says besides which they are (`poise_chain`, a name a line, parents first) and about
which axis of the armature their hinges turn (`poise_hinge`); each of its bones has its mass
(`poise_mass`, kg) and what its muscle gives (`poise_torque`, N m). All of them can be changed in
Blender, and are kept by library overrides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import bpy
import numpy as np

from ...solvers.dynamics.planar import Link
from ...solvers.errors import SettingError
from ..errors import UserError
from ..placement import world_matrix
from .builders import armature as rig
from .builders import figure_mesh, widgets
from .builders.car import car
from .builders.luxo import luxo
from .builders.mechanism import MakeMechanism, Mechanism
from .builders.pendulum import TORQUE as SURPLUS
from .builders.pendulum import pendulum
from .characters import COLOURS, CREASE

MARK, CHAIN, HINGE = "poise_machine", "poise_chain", "poise_hinge"
MASS, TORQUE = "poise_mass", "poise_torque"


@dataclass(frozen=True)
class Machine:
    """A mechanical figure that can be built.

    Attributes:
        make: what makes it.
        label: name for menus and for the object.
        description: tooltip.
        size: the usual one, m.
        mass: the usual one, kg.
        paints: parts whose colours are chosen when it is added.
        colours: part -> its colour where it is another one than in `COLOURS`.
        slope: steepness of the ground that it starts on, which is level.
    """

    make: MakeMechanism
    label: str
    description: str
    size: float
    mass: float
    paints: tuple[str, ...] = ()
    colours: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    slope: float = 0.0


MACHINES: dict[str, Machine] = {
    "PENDULUM": Machine(
        pendulum, "Pendulum", "A rod with a muscle on an axle; its size is its length", 1.0, 1.0,
        ("suit", "equipment"),
    ),
    "LUXO": Machine(
        luxo, "Luxo Lamp", "A desk lamp that jumps; its size is its height", 0.5, 2.2, ("paint",),
        {"paint": (0.620, 0.090, 0.030)},
    ),
    "CAR": Machine(
        car, "Car", "A car that steers and parks; its size is its length", 4.2, 1250.0, ("paint",),
    ),
}
"""What the Add menu has besides characters."""

_WORDS = {
    MASS: ("Mass of the link, kg", 0.0, 1e6),
    TORQUE: ("Largest torque of the link's muscle, N m; 0 for none", 0.0, 1e9),
}


@dataclass(frozen=True)
class ReadChain:
    """A chain or tree of bones as links in its plane.

    Attributes:
        bones: names, parents first.
        links: one for each; the rest pose's angle is the rest of its spring, which has none.
        torques: N m of each one's muscle.
        axes: of the hinges, in each bone's own axes.
        rests: rad, angles of the joints in the rest pose.
        gravity: m/s^2 in the plane.
        frame: (4, 4) m from the plane to the world: right, up and along the hinges, from the
            first joint.
    """

    bones: tuple[str, ...]
    links: tuple[Link, ...]
    torques: tuple[float, ...]
    axes: tuple[tuple[float, float, float], ...]
    rests: tuple[float, ...]
    gravity: float
    frame: np.ndarray


def machine_of(armature: bpy.types.Object | None) -> str:
    """What mechanical figure an armature is, "" for none.

    Args:
        armature: an object, or None.
    """
    if armature is None or armature.type != "ARMATURE":
        return ""
    found = armature.get(MARK, "")
    return found if isinstance(found, str) else ""


def build_machine(
    context: bpy.types.Context, kind: str, *, location=(0.0, 0.0, 0.0), size: float | None = None,
    mass: float | None = None, colours=None, collection: bpy.types.Collection | None = None,
    name: str = "",
) -> bpy.types.Object:
    """Build a mechanical figure.

    Args:
        context: any context; mode, selection and active object are left alone.
        kind: one of MACHINES.
        location: where it stands, in Blender units.
        size: m; None for the usual one.
        mass: kg; None for the usual one.
        colours: part -> (r, g, b), linear.
        collection: where to link it; None is the active collection.
        name: name of the object; empty for the kind's own.

    Returns:
        The armature object.

    Raises:
        SettingError: unknown kind, size or mass not above 0.
    """
    if kind not in MACHINES:
        raise SettingError("Kind", kind, " or ".join(MACHINES))
    row = MACHINES[kind]
    size, mass = row.size if size is None else size, row.mass if mass is None else mass
    for label, value in (("Size", size), ("Mass", mass)):
        if not (np.isfinite(value) and value > 0.0):
            raise SettingError(label, value, "above 0")
    made = row.make(size, mass)
    armature = make(context, made, kind, name or row.label)
    armature.location = location
    units = context.scene.unit_settings
    if units.system != "NONE":
        armature.scale = (1.0 / units.scale_length,) * 3
    home = collection or context.collection or context.scene.collection
    home.objects.link(armature)
    shades = COLOURS | dict(row.colours) | dict(colours or {})
    for part, surface in made.surfaces.items():
        materials = {
            key: figure_mesh.make_material(key, shades[key])
            for key in figure_mesh.PARTS
            if key in set(surface.materials)
        }
        obj = figure_mesh.make_mesh_object(
            surface, f"{armature.name} {part}", materials, CREASE["Equipment"]
        )
        obj["poise_figure"] = part
        home.objects.link(obj)
        obj.parent = armature
        obj.matrix_parent_inverse.identity()
        obj.modifiers.new("Armature", "ARMATURE").object = armature
    context.view_layer.update()
    return armature


def make(
    context: bpy.types.Context, made: Mechanism, kind: str, name: str
) -> bpy.types.Object:
    """Armature object of a mechanical figure, without its meshes; linked to no collection.

    Args:
        context: any context; mode, selection and active object are left alone.
        made: the figure.
        kind: what it is marked as.
        name: of the object.
    """
    armature = rig.make_bones(context, made.bones, name)
    armature[MARK] = kind
    for key, value in made.numbers.items():
        armature[key] = value
    for bone in armature.pose.bones:
        bone.rotation_mode = made.modes.get(bone.name, "QUATERNION")
        bone.lock_scale = (True, True, True)
        for key, value in made.bone_numbers.get(bone.name, {}).items():
            set_number(bone, key, value)
        if bone.name in made.modes:  # a hinge, about the axis that its mode begins with
            bone.lock_location = (bone.name not in made.moved,) * 3
            bone.lock_rotation = [axis != bone.rotation_mode[0] for axis in "XYZ"]
        if bone.name in made.still:
            bone.lock_location = bone.lock_rotation = (True, True, True)
            bone.lock_rotation_w = True
        if bone.name in made.shapes:
            shape, sizes, offset = made.shapes[bone.name]
            bone.custom_shape = widgets.widget(shape)
            bone.use_custom_shape_bone_size = False
            bone.custom_shape_scale_xyz = sizes
            bone.custom_shape_translation = offset
            bone.custom_shape_wire_width = 1.5
    for name, hook in made.springs.items():
        rig.stretch(armature, name, hook)
    return armature


def set_number(bone: bpy.types.PoseBone, key: str, value: float) -> None:
    """Give a bone a number of a mechanical figure, with its limits and tooltip.

    Args:
        bone: the bone.
        key: MASS or TORQUE.
        value: of it.
    """
    bone[key] = float(value)
    words, low, high = _WORDS[key]
    bone.id_properties_ui(key).update(
        default=float(value), min=low, max=high, soft_min=low, soft_max=10.0 * value + 1.0,
        description=words,
    )
    bone.property_overridable_library_set(f'["{key}"]', True)


def _number(bone: bpy.types.PoseBone, key: str, least: float) -> float:
    value = bone.get(key)
    if not isinstance(value, (int, float)) or not (np.isfinite(value) and value >= least):
        what = "Mass" if key == MASS else "Torque"
        raise UserError(
            f"{what} of {bone.name} is {value}: it must be a number "
            f"{'above 0 kg' if key == MASS else 'of at least 0 N m'}"
        )
    return float(value)


def chain_bones(armature: bpy.types.Object) -> list[str]:
    """Names of the bones of a figure, parents first; those that are gone left out.

    Args:
        armature: the armature object.
    """
    names = str(armature.get(CHAIN, "")).split("\n")
    return [name for name in names if name in armature.pose.bones]


def tree_of(armature: bpy.types.Object, names: Sequence[str]) -> list[str]:
    """Bones that hang on each other, parents first.

    Args:
        armature: the armature object.
        names: of some of its bones.

    Raises:
        UserError: they do not all hang on one of them, or something else ties them to each other.
    """
    bones = armature.data.bones
    ordered = sorted(names, key=lambda name: len(bones[name].parent_recursive))
    for name in ordered[1:]:
        if bones[name].parent is None or bones[name].parent.name not in ordered:
            raise UserError(
                f"{name} of {armature.name} does not hang on {ordered[0]}: select bones that hang "
                "on each other, with none left out"
            )
    for name in ordered:
        for tie in armature.pose.bones[name].constraints:
            other = getattr(tie, "subtarget", "")
            if tie.enabled and tie.influence > 0.0 and other in ordered and (
                getattr(tie, "target", None) == armature
            ):
                raise UserError(
                    f"{tie.name} ties {name} of {armature.name} to {other}, which closes a loop: "
                    "links have to hang on each other as a tree does, so mute or remove it"
                )
    return ordered


def set_up_chain(
    armature: bpy.types.Object, names: Sequence[str], metres: float, density: float
) -> None:
    """Make an armature a tree of links that turn in one plane.

    The plane is that of the bones where they are bent, otherwise that in which the first one
    turns about its X axis.

    Args:
        armature: the armature object.
        names: of its bones, parents first.
        metres: a unit of the armature in metres.
        density: mass of a link, kg for each metre.

    Raises:
        UserError: they lie in no plane.
    """
    bones = [armature.pose.bones[name] for name in names]
    hinge = _hinge_of(armature, names)
    put_away(armature)
    armature[MARK], armature[CHAIN], armature[HINGE] = "CHAIN", "\n".join(names), list(hinge)
    masses = [density * bone.bone.length * metres for bone in bones]
    # What holds all that hangs on a link level and straight, as a share of which the pendulum's
    # muscle is known.
    for k, bone in enumerate(bones):
        held, reach = 0.0, {bone.name: 0.0}
        for i, other in enumerate(bones[k:], k):
            above = other.parent.name if other.parent is not None else ""
            if i > k and above not in reach:
                continue
            if i > k:
                reach[other.name] = reach[above] + other.parent.bone.length * metres
            held += masses[i] * 9.81 * (reach[other.name] + 0.5 * other.bone.length * metres)
        set_number(bone, MASS, masses[k])
        set_number(bone, TORQUE, SURPLUS * held)


def _hinge_of(armature: bpy.types.Object, names: Sequence[str]):
    """Axis that all of some bones lie across, in the axes of the armature."""
    bones = [armature.data.bones[name] for name in names]
    hinge = bones[0].matrix_local.to_3x3().col[0].normalized()
    first = _along(bones[0]).normalized()
    for bone in bones[1:]:
        across = first.cross(_along(bone).normalized())
        if across.length > 1e-3:
            hinge = across.normalized()
            break
    for bone in bones:
        _require_in_plane(armature, bone.name, np.array(_along(bone)), np.array(hinge))
    return hinge


def _require_in_plane(
    armature: bpy.types.Object, name: str, way: np.ndarray, hinge: np.ndarray
) -> None:
    length = float(np.linalg.norm(way))
    if not length > 1e-6:
        raise UserError(f"{name} of {armature.name} has no length: give it one in Edit Mode")
    if abs(float(way @ hinge)) > 1e-3 * length:
        raise UserError(
            f"{name} of {armature.name} does not lie in the plane that its figure turns in: lay "
            "the bones into one plane in Edit Mode, and Set Up as Figure anew"
        )


def put_away(armature: bpy.types.Object) -> None:
    """Make an armature none again.

    Args:
        armature: the armature object.
    """
    for bone in armature.pose.bones:
        for key in (MASS, TORQUE):
            if key in bone:
                del bone[key]
    for key in (MARK, CHAIN, HINGE):
        if key in armature:
            del armature[key]


def read_chain(armature: bpy.types.Object, unit_scale: float, gravity: float) -> ReadChain:
    """A chain or tree of bones as links in its plane.

    Args:
        armature: the armature object.
        unit_scale: metres per Blender unit.
        gravity: m/s^2.

    Raises:
        UserError: bones are gone, have no mass, or do not lie in one plane.
    """
    names = str(armature.get(CHAIN, "")).split("\n")
    bones = armature.pose.bones
    lost = [name for name in names if name not in bones]
    if lost or not names:
        raise UserError(
            f"{armature.name} has lost its bone {lost[0] if lost else ''}: select its figure's "
            "bones, and Set Up as Figure anew"
        )
    world = np.array(world_matrix(armature), dtype=float)[:3, :3] * unit_scale
    if not np.isfinite(world).all() or abs(np.linalg.det(world)) < 1e-12:
        raise UserError(f"{armature.name} is scaled to nothing: give it a scale above zero")
    sizes = np.linalg.norm(world, axis=0)
    if np.ptp(sizes) > 1e-3 * sizes.max():
        raise UserError(f"{armature.name} is scaled unevenly: give it one scale in all directions")
    hinge = world @ np.array(armature.get(HINGE, (0.0, -1.0, 0.0)), dtype=float)
    hinge /= np.linalg.norm(hinge)
    up = np.array((0.0, 0.0, 1.0)) - hinge[2] * hinge
    share = float(np.linalg.norm(up))  # of gravity, in the plane
    up = world @ np.array((0.0, 1.0, 0.0)) if share < 1e-3 else up
    up = up - (up @ hinge) * hinge
    up /= np.linalg.norm(up)
    right = np.cross(up, hinge)
    heads = [world @ np.array(bones[name].bone.head_local) for name in names]
    ways = [world @ np.array(_along(bones[name].bone)) for name in names]
    links, torques, axes, rests, angles = [], [], [], [], []
    for k, name in enumerate(names):
        length = float(np.linalg.norm(ways[k]))
        above = bones[name].parent
        on = names.index(above.name) if k and above is not None and above.name in names else -1
        if k and on < 0:
            raise UserError(
                f"{name} of {armature.name} hangs on none of its figure's links any more: select "
                "the figure's bones, and Set Up as Figure anew"
            )
        _require_in_plane(armature, name, ways[k], hinge)
        angle = float(np.arctan2(ways[k] @ up, ways[k] @ right))
        mass = _number(bones[name], MASS, 1e-9)
        joint = (0.0, 0.0)
        before = 0.0
        if k:
            # From the joint above, in the axes of its link.
            before = angles[on]
            c, s = np.cos(before), np.sin(before)
            off = heads[k] - heads[on]
            x, y = float(off @ right), float(off @ up)
            joint = (c * x + s * y, -s * x + c * y)
        axis = np.linalg.inv(np.array(bones[name].bone.matrix_local.to_3x3(), dtype=float)) @ (
            np.array(armature.get(HINGE, (0.0, -1.0, 0.0)), dtype=float)
        )
        axis /= np.linalg.norm(axis)
        rest = (angle - before + np.pi) % (2.0 * np.pi) - np.pi if k else angle
        low, high = _limits(bones[name], axis)
        links.append(Link(
            f"link{k + 1}", f"link{on + 1}" if k else "", joint, (0.5 * length, 0.0), mass,
            mass * length**2 / 12.0, limits=(rest + low, rest + high), rest=rest,
        ))
        torques.append(_number(bones[name], TORQUE, 0.0))
        axes.append(tuple(float(x) for x in axis))
        rests.append(rest)
        angles.append(angle)
    frame = np.eye(4)
    frame[:3, :3] = np.stack((right, up, hinge), axis=1)
    frame[:3, 3] = unit_scale * np.array(world_matrix(armature).translation) + heads[0]
    return ReadChain(
        tuple(names), tuple(links), tuple(torques), tuple(axes), tuple(rests),
        gravity * share if share >= 1e-3 else 0.0, frame,
    )


def _along(bone: bpy.types.Bone):
    """From head to tail in the axes of the armature; Blender's `vector` is in the parent's."""
    return bone.tail_local - bone.head_local


def _limits(bone: bpy.types.PoseBone, axis: np.ndarray) -> tuple[float, float]:
    """Least and largest turn from the rest pose, of a Limit Rotation constraint on the hinge."""
    main = int(np.argmax(np.abs(axis)))
    letter = "xyz"[main]
    for constraint in bone.constraints:
        if constraint.type != "LIMIT_ROTATION" or not constraint.enabled:
            continue
        if constraint.owner_space == "LOCAL" and getattr(constraint, f"use_limit_{letter}"):
            ends = [getattr(constraint, f"{end}_{letter}") * axis[main] for end in ("min", "max")]
            return min(ends), max(ends)
    return -inf, inf
