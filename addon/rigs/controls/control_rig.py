# SPDX-License-Identifier: GPL-3.0-or-later
"""Poise's controls on a rig that Poise did not make, and off again.

The controls are an armature of their own with the proportions of the rig and
the stance of the sport; motions are baked onto it as onto any of Poise's
characters. The rig's bones copy the rotation of target bones that stand as
they would (and the place, where a bone does not hang on the one before). On a rig
with controls of its own it is these that follow, not its bones. To the rig
itself nothing is added but these constraints, and switches of its controls are
set for as long as they follow: it remembers how they stood.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from math import atan2

import bpy
import numpy as np
from mathutils import Vector

from ....solvers import rotations
from ...errors import UserError
from ...placement import world_matrix
from .. import characters
from ..builders import widgets
from ..builders.kinds import BIPED, DOG, HORSE, INSECT, LEGGED, RIDING, build_skeleton
from ..builders.skeleton import REFERENCE, Proportions
from ..pose import properties, rotation_modes
from ..pose.animated import animated_bones, displacing
from ..pose.channels import bone_of, bone_path
from ..pose.frames import armature_frames
from ..recognise import rigify
from ..recognise.rolemap import ENGINE, RoleMap
from ..recognise.skeleton import Skeleton as RestPose
from ..skeletons import is_skin_of, read_skeleton
from . import creature_fitting, fingers, fitting, own_controls
from .own_controls import OwnControls

CONSTRAINT = "Poise"

# What a rig of others can be set up as.
KINDS = (*RIDING, *LEGGED)

# What stands on how many legs, by what recognition calls it.
FITTING = {"BIPED": (*RIDING, BIPED), "QUADRUPED": (HORSE, DOG), "LEGS": (INSECT,)}
LEGS = {"BIPED": "two legs", "QUADRUPED": "four legs", "LEGS": "many legs"}

# Joints of kinds whose hands hold something.
GRIPS = ("pole", "grip")

# Mass in kg of a body of the reference stature, with equipment; others have the same build.
MASS = 80.0

# A bone that is farther off its place than this share of its length has been moved.
STILL = 1e-4

# Constraints that have the last word on bones, whatever turns these: their influence is 0 for as
# long as Poise moves the bones.
CHAINS = ("IK", "SPLINE_IK")
STRETCHING = ("STRETCH_TO",)

# A limb counts as long as before if it is so up to this share.
SAME_SIZE = 0.005

# Bone of a limb -> the one that begins where it ends.
LIMB_ENDS = {"thigh": "shin", "shin": "foot", "upper_arm": "forearm", "forearm": "hand"}

_DRIVES, _BONES = "poise_drives", "poise_bones"
_OWN, _FORMER, _REST = "poise_own_controls", "poise_former", "poise_rest"
_FIST = "poise_fist"


def rig_of(controls: bpy.types.Object | None) -> bpy.types.Object | None:
    """The rig that controls drive, or None for anything else.

    Args:
        controls: an object, or None.
    """
    if controls is None or controls.type != "ARMATURE":
        return None
    rig = controls.get(_DRIVES)
    return rig if isinstance(rig, bpy.types.Object) else None


def drives(controls: bpy.types.Object | None) -> bool:
    """Whether an object is a set of controls for a rig, even for one that was deleted.

    Args:
        controls: an object, or None.
    """
    return controls is not None and _DRIVES in controls


def require_rig(controls: bpy.types.Object | None) -> bpy.types.Object:
    """The rig that controls drive.

    Args:
        controls: the controls.

    Raises:
        UserError: there is none, or it has been deleted.
    """
    rig = rig_of(controls)
    if rig is None or not rig.users_scene:
        name = controls.name if controls is not None else "Nothing"
        if drives(controls):
            raise UserError(f"The rig of {name} was deleted: click Remove from Rig")
        raise UserError(f"{name} drives no rig: select a rig that was set up with Set Up Rig")
    return rig


def controls_of(rig: bpy.types.Object | None) -> bpy.types.Object | None:
    """The controls that drive a rig, or None.

    Args:
        rig: an object, or None.
    """
    if rig is None or rig.type != "ARMATURE" or characters.kind_of(rig):
        return None
    return next((obj for obj in _all_controls() if rig_of(obj) == rig), None)


# Panels ask for the controls at every redraw. Armatures are few, objects may be many:
# where the object of an armature was found last is looked at first.
_MARK = "poise_controls"
_found_as: dict[int, tuple[str, str | None]] = {}


def _all_controls() -> Iterator[bpy.types.Object]:
    """Every object whose armature was built to drive a rig."""
    unknown = []
    for data in bpy.data.armatures:
        if _MARK not in data or not data.users:
            continue
        obj = bpy.data.objects.get(_found_as.get(data.session_uid, ("", None)))
        if obj is not None and obj.data == data:
            yield obj
        else:
            unknown.append(data)
    if not unknown:
        return
    for obj in bpy.data.objects:
        if obj.type == "ARMATURE" and obj.data in unknown:
            library = obj.library.filepath if obj.library is not None else None
            _found_as[obj.data.session_uid] = (obj.name, library)
            yield obj


@dataclass(frozen=True, eq=False)
class Measured:
    """What controls for a rig are built from.

    Attributes:
        rest: its bones.
        rolemap: which bone plays which role; on a rig with controls of its own
            the bones that are at the joints.
        own: the rig's own controls, or None.
        body: its rest pose as it stands in the scene, in metres; None for an animal.
        size: lengths of the body; None for an animal.
        creature: the rest pose of an animal, or None.
    """

    rest: RestPose
    rolemap: RoleMap
    own: OwnControls | None
    body: fitting.BodyRest | None
    size: Proportions | None
    creature: creature_fitting.CreatureRest | None = None


def measure(
    rig: bpy.types.Object, rest: RestPose, rolemap: RoleMap, unit_scale: float, kind: str
) -> Measured:
    """Read a rig as it stands in the scene; nothing is changed.

    Args:
        rig: the armature object, local or a library override.
        rest: its bones.
        rolemap: which bone plays which role.
        unit_scale: metres per Blender unit.
        kind: what it is to be set up as, one of KINDS.

    Raises:
        UserError: the rig is linked, out of shape, lacks what is needed, does not stand,
            or stands on another number of legs than the kind.
    """
    require_editable(rig)
    if rolemap.fallen:
        raise UserError(standing_up(rig, rolemap.fallen))
    fits = FITTING.get(rolemap.body, ())
    if kind not in fits:
        labels = [characters.KINDS[name].label for name in fits]
        if rolemap.body == "BIPED" and not {"thigh.L", "thigh.R"} & set(rolemap.roles):
            raise UserError(
                f"{rig.name} has no pair of legs that could be found: pick their bones under Roles"
            )
        more = ""
        if rolemap.body != "BIPED" and kind in FITTING["BIPED"]:
            more = "; if two of them are legs, add the roles thigh, shin and foot of both"
        raise UserError(
            f"{rig.name} stands on {LEGS.get(rolemap.body, 'no legs')}: it can be set up as "
            f"{', '.join(labels) or 'nothing'}, not as {characters.KINDS[kind].label}{more}"
        )
    frames = armature_frames(rig.name, np.array(world_matrix(rig), dtype=float)[None])
    scale = float(frames.scale[0]) * unit_scale
    if rolemap.body != "BIPED":
        skin = _feet(rig, rest, rolemap)
        placed = replace(rolemap, roles=rigify.joints(rest, rolemap.roles))
        own = _free_controls(rig, rest, placed)
        rolemap = rolemap if own is None else placed
        creature = creature_fitting.read_creature(
            rest, rolemap, scale, kind, skin, rig.name, own is not None
        )
        if own is None:
            _require_free(rig, overruled(rig, rolemap.roles.values(), False))
        return Measured(rest, rolemap, own, None, None, creature)
    if rolemap.controls:
        roles = rigify.joints(rest, rolemap.roles)
        # Eyes and tail follow controls of the rig's own.
        roles = {r: b for r, b in roles.items() if r.split(".")[0] not in fitting.ALONG}
        rolemap = replace(rolemap, roles=roles)
    own = _free_controls(rig, rest, rolemap)
    if own is None:
        _require_free(rig, overruled(rig, rolemap.roles.values()))
    feet = {rolemap.roles.get(f"{part}.{s}", "") for part in ("foot", "toe") for s in "LR"}
    body = fitting.read_body(rest, rolemap, scale, _sole(rig, rest, rolemap, feet), rig.name)
    size = fitting.proportions_of(body)
    if kind in LEGGED:
        skin = {
            side: _skin(rig, rest, rolemap, _below(rest, rolemap.roles.get(f"foot.{side}", "")))
            for side in fitting.SIDES
        }
        size, body = fitting.fit_soles(size, body, skin)
    far = fingers.SHAFT * scale * float(np.mean([
        fingers.knuckles(rest, rolemap.roles[f"hand.{side}"], paths)
        for side, paths in _hands(rest, rolemap, own is not None).items()
    ] or [0.0]))
    if far:
        far = float(np.clip(far, fingers.SMALL * size.grip, fingers.LARGE * size.grip))
        size = replace(size, grip=far)
    return Measured(rest, rolemap, own, body, size)


def standing_up(rig: bpy.types.Object, fallen: str) -> str:
    """What is said of a rig whose rest pose is no standing figure.

    Args:
        rig: the armature object.
        fallen: why it is none.
    """
    data = rig.animation_data
    clip = data is not None and (data.action is not None or len(data.nla_tracks))
    said = f"The rest pose of {rig.name} is no standing figure, {fallen}: "
    if clip:
        return said + "click Stand Up (Character > Roles), which takes a pose of its clip instead"
    return said + (
        "click Stand Up (Character > Roles), which lets its limbs point as their names say"
    )


def _free_controls(
    rig: bpy.types.Object, rest: RestPose, rolemap: RoleMap
) -> OwnControls | None:
    """A rig's own controls, or None; refused where something else has the last word on them."""
    own = own_controls.find(rest, rolemap, rolemap.roles)
    if own is not None:
        own_controls.require_free(rig, own_controls.held(rig, own))
    return own


def _below(rest: RestPose, bone: str) -> set[str]:
    """A bone and all that hang on it."""
    return {bone} | {one.name for one in rest.bones if bone in rest.ancestors(one.name)}


def _hands(
    rest: RestPose, rolemap: RoleMap, controls: bool
) -> dict[str, list[list[str]]]:
    """Side -> fingers of the hands that have some."""
    found = {}
    for side in "LR":
        hand = rolemap.roles.get(f"hand.{side}", "")
        if hand in rest:
            paths = fingers.chains(rest, hand, side, controls)
            if paths:
                found[side] = paths
    return found


def _skin(
    rig: bpy.types.Object, rest: RestPose, rolemap: RoleMap, bones: Collection[str]
) -> np.ndarray:
    """(n, 3) points of meshes, in armature space, that follow bones more than all others."""
    into = world_matrix(rig).inverted_safe()
    found = [np.zeros((0, 3))]
    for obj in bpy.data.objects:
        if obj.library is not None or not is_skin_of(obj, rig):
            continue
        groups = {g.index: g.name for g in obj.vertex_groups if g.name in bones}
        points: dict[str, list] = {}
        for v in obj.data.vertices if groups else ():
            own = {groups[g.group]: g.weight for g in v.groups if g.group in groups}
            share = sum(own.values())
            if share > 0.0 and share > 0.5 * sum(g.weight for g in v.groups):
                points.setdefault(max(own, key=own.__getitem__), []).append(v.co)
        matrix = np.array(into @ world_matrix(obj))
        for bone, places in points.items():
            there = np.array(places) @ matrix[:3, :3].T + matrix[:3, 3]
            if rolemap.places:  # skin is bound in the rest pose
                bound = np.array(rig.data.bones[bone].matrix_local, dtype=float)
                posed = rest.by_name[bone]
                there = (there - bound[:3, 3]) @ bound[:3, :3] @ posed.axes.T + posed.head
            found.append(there)
    return np.concatenate(found)


def _feet(
    rig: bpy.types.Object, rest: RestPose, rolemap: RoleMap
) -> dict[str, np.ndarray]:
    """Role -> points of meshes, of the last bone of an animal's legs and the one before."""
    found = {}
    for girdle in rolemap.girdles():
        for side in "LR":
            beyond: set[str] = set()
            for role in reversed(rolemap.leg_roles(girdle, side)[-2:]):
                below = _below(rest, rolemap.roles[role])
                found[role] = _skin(rig, rest, rolemap, below - beyond)
                beyond = below
    return found


def _sole(
    rig: bpy.types.Object, rest: RestPose, rolemap: RoleMap, feet: Collection[str]
) -> float | None:
    """Height of the lowest vertex of the feet along character space's up, in armature units."""
    up = rotations.rotate(rotations.conjugate(rolemap.turn), np.array([0.0, 0.0, 1.0]))
    high = _skin(rig, rest, rolemap, feet) @ up
    return float(high.min()) if len(high) else None


def set_up(
    context: bpy.types.Context,
    rig: bpy.types.Object,
    measured: Measured,
    kind: str,
    *,
    mass: float = 0.0,
    regular: bool = True,
) -> bpy.types.Object:
    """Build controls for a rig and let its bones follow them.

    Args:
        context: any context; mode, selection and active object are left alone.
        rig: the armature object.
        measured: what `measure` read.
        kind: one of `characters.KINDS`.
        mass: kg, with equipment; 0 to take it from the size.
        regular: left foot leads, on a board.

    Returns:
        The controls.

    Raises:
        UserError: the rig has controls already.
    """
    if controls_of(rig) is not None:
        raise UserError(f"{rig.name} is set up already ({controls_of(rig).name})")
    _part(rig)
    own, body, size = measured.own, measured.body, measured.size
    world = world_matrix(rig)
    if measured.creature is not None:
        return _set_up_creature(context, rig, measured, kind, mass)
    assert body is not None and size is not None
    skeleton = build_skeleton(kind, size, regular)
    followed = fitting.follow(body, skeleton, _displaced(rig, body.bones.values()))
    gaze = fitting.gaze_bone(skeleton, body, followed, measured.rest)
    targets = gaze + fitting.target_bones(body, skeleton, followed)
    if own is not None:
        targets += fitting.control_bones(
            body, skeleton, followed, measured.rest, own.driven, bool(gaze)
        )
    place = world @ _vector(body.origin)
    facing = rotations.rotate(rotations.conjugate(body.turn), fitting.FORWARD)
    ahead = world.to_3x3() @ _vector(facing)
    controls = characters.assemble(
        context,
        skeleton,
        f"{rig.name} Controls",
        location=place,
        yaw=atan2(ahead.x, -ahead.y) if ahead.to_2d().length > 1e-6 * ahead.length else 0.0,
        mass=mass or MASS * (size.height / REFERENCE) ** 2,
        colours=characters.COLOURS,
        home=_home(context, rig),
        parts=("Equipment",),
        extra=targets,
    )
    _know(controls, rig, body, {one.role: (one.bone, one.located) for one in followed})
    if any(name.split(".")[0] in GRIPS for name in skeleton.build.joints):
        controls[_FIST] = json.dumps(_fists(rig, measured))
    if own is not None:
        controls[_OWN] = own.to_json()
        _aim_neck(controls, measured)
    _link(controls, followed)
    connect(controls, rig)
    context.view_layer.update()
    return controls


def _set_up_creature(
    context: bpy.types.Context,
    rig: bpy.types.Object,
    measured: Measured,
    kind: str,
    mass: float,
) -> bpy.types.Object:
    """Controls with an animal's own legs, in its own rest pose, that its bones follow."""
    creature, own = measured.creature, measured.own
    assert creature is not None
    targets = creature_fitting.target_bones(creature)
    if own is not None:
        targets += creature_fitting.control_bones(creature, measured.rest, own.driven)
    figure = creature.figure.with_mass(
        mass or characters.usual_mass(kind, creature.figure.height)
    )
    world = world_matrix(rig)
    facing = rotations.rotate(rotations.conjugate(creature.turn), fitting.FORWARD)
    ahead = world.to_3x3() @ _vector(facing)
    controls = characters.assemble(
        context,
        build_skeleton(kind, figure),
        f"{rig.name} Controls",
        location=world @ _vector(creature.origin),
        yaw=atan2(ahead.x, -ahead.y) if ahead.to_2d().length > 1e-6 * ahead.length else 0.0,
        mass=figure.mass,
        colours=characters.COLOURS,
        home=_home(context, rig),
        parts=(),
        extra=targets,
    )
    controls[characters.LEGS] = creature_fitting.to_json(figure)
    names = creature.bones.values()
    _know(controls, rig, creature, {
        role: (bone, not _is_carried(rig.pose.bones[bone], names))
        for role, bone in creature.bones.items()
    })
    if own is not None:
        controls[_OWN] = own.to_json()
        _aim_neck(controls, measured)
    connect(controls, rig)
    context.view_layer.update()
    return controls


def _know(
    controls: bpy.types.Object,
    rig: bpy.types.Object,
    body: fitting.BodyRest | creature_fitting.CreatureRest,
    followed: dict[str, tuple[str, bool]],
) -> None:
    """Let controls know the rig that they drive, its rest pose, and what follows them."""
    controls[_DRIVES] = rig
    controls.data[_MARK] = True
    controls[_REST] = [*map(float, body.origin), *map(float, body.turn)]
    controls[_BONES] = json.dumps(followed)


def _aim_neck(controls: bpy.types.Object, measured: Measured) -> None:
    """Let a neck of one control point at where a neck of several bones puts the head."""
    rest, rolemap = measured.rest, measured.rolemap
    neck = next((one for one in measured.own.driven if one.name == "neck"), None)
    if neck is None or "neck.2" not in rolemap.roles or "head" not in rolemap.roles:
        return
    head = rest.by_name[rolemap.roles["head"]].head
    bone = rest.by_name[neck.bone]
    if np.linalg.norm(bone.tail - head) > STILL * np.linalg.norm(bone.tail - bone.head):
        return
    aim = controls.pose.bones[fitting.control_bone(neck.name)]
    constraint = _copy(aim, "DAMPED_TRACK", controls, fitting.target_bone("head"), "Head")
    constraint.track_axis = "TRACK_Y"


def _fists(rig: bpy.types.Object, measured: Measured) -> dict[str, list[float]]:
    """Finger -> quaternion of its pose around a grip, of both hands.

    Fingers with drivers or constraints are moved by something else.
    """
    rest, body = measured.rest, measured.body
    if measured.rolemap.places:
        rest = read_skeleton(rig)  # fingers are turned relative to the rest pose
    data = rig.animation_data
    driven = {bone_of(c.data_path) for c in (data.drivers if data is not None else ())}
    found: dict[str, list[float]] = {}
    for side, paths in _hands(rest, measured.rolemap, measured.own is not None).items():
        paths = [
            path
            for path in paths
            if not any(name in driven or len(rig.pose.bones[name].constraints) for name in path)
        ]
        # In the stance of the controls thumbs look ahead; so they do on hands without one.
        ahead = rotations.rotate(rotations.conjugate(body.turn), fitting.FORWARD)
        hand = measured.rolemap.roles[f"hand.{side}"]
        found |= fingers.to_store(fingers.fist(rest, hand, paths, side, ahead))
    return found


def fists(
    controls: bpy.types.Object, rig: bpy.types.Object, leave: Collection[str] = ()
) -> dict[str, tuple]:
    """Data path -> values of the fingers of a rig that close around what its hands hold.

    Args:
        controls: the controls.
        rig: the rig.
        leave: bones that are left alone.
    """
    try:
        stored = json.loads(controls.get(_FIST, "{}"))
        turned = {str(bone): np.array(value, dtype=float) for bone, value in stored.items()}
    except (ValueError, TypeError, AttributeError):
        return {}
    found = {}
    for name, turn in turned.items():
        bone = rig.pose.bones.get(name)
        if bone is None or name in leave or turn.shape != (4,):
            continue
        path = f"{bone_path(name)}.{rotation_modes.PROPERTY[bone.rotation_mode]}"
        values = rotation_modes.to_mode(turn[None], bone.rotation_mode)[0]
        found[path] = tuple(float(v) for v in values)
    return found


def overruled(
    rig: bpy.types.Object, names: Collection[str], stretching: bool = True
) -> dict[str, tuple]:
    """Data path -> 0 of the influence of constraints that would bend bones in ways of their own.

    Blender solves IK after all other constraints of a chain's bones.

    Args:
        rig: the rig, moved by its bones.
        names: bones that Poise moves.
        stretching: those that stretch a bone count, too.
    """
    found: dict[str, tuple] = {}
    moved = set(names)
    data = rig.animation_data
    driven = {curve.data_path for curve in data.drivers} if data is not None else set()
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            path = f"{constraint.path_from_id()}.influence"
            if constraint.mute or (path in driven and constraint.influence == 0.0):
                continue  # switched off, such as by a property that chooses FK
            chain = [bone.name]
            if constraint.type in CHAINS:
                chain = [b.name for b in (bone, *bone.parent_recursive)]
                chain = chain[: constraint.chain_count or None]
                if constraint.type == "IK" and not constraint.use_tail:
                    chain = chain[1:]
            elif not (stretching and constraint.type in STRETCHING):
                continue
            if moved & set(chain):
                found[path] = (0.0,)
    return found


def _require_free(rig: bpy.types.Object, wanted: Collection[str]) -> None:
    """Refuse a rig on which drivers set the influence of constraints that have to rest.

    iTaSC solves what has no influence, too.
    """
    if wanted and rig.pose.ik_solver != "LEGACY":
        raise UserError(
            f"{rig.name} solves its IK with iTaSC, which bends limbs in ways of its own: set IK "
            "Solver to Standard (Armature > Inverse Kinematics)"
        )
    data = rig.animation_data
    for curve in data.drivers if data is not None else ():
        if curve.data_path in wanted and not curve.mute:
            constraint = rig.path_resolve(curve.data_path.removesuffix(".influence"))
            raise UserError(
                f"A driver sets the influence of {constraint.name} on bone "
                f"{bone_of(curve.data_path)} of {rig.name}, which would bend it in a way "
                "of its own: mute the driver or the constraint"
            )


def _displaced(rig: bpy.types.Object, names: Collection[str]) -> set[str]:
    """Bones that are off the place that the rest pose gives them, now or by keys and drivers."""
    animated = displacing(rig)
    found = set()
    for name in names:
        bone = rig.pose.bones[name]
        if _is_carried(bone, names):
            continue
        size = (bone.scale - Vector((1.0, 1.0, 1.0))).length
        moved = bone.location.length > STILL * bone.bone.length or size > STILL
        if moved or animated.get(name, set()) & {"location", "scale"}:
            found.add(name)
    return found


def _is_carried(bone: bpy.types.PoseBone, names: Collection[str]) -> bool:
    """Whether a bone is connected to what follows, and has no place of its own."""
    above = {parent.name for parent in bone.parent_recursive}
    return bone.bone.use_connect and bool(above & set(names))


def _vector(values: np.ndarray) -> Vector:
    return Vector([float(v) for v in values])


def _home(context: bpy.types.Context, rig: bpy.types.Object) -> bpy.types.Collection:
    for collection in rig.users_collection:
        if collection.library is None and collection.override_library is None:
            return collection
    return context.scene.collection


def require_editable(rig: bpy.types.Object) -> None:
    """Refuse a rig that no constraint can be put on.

    Args:
        rig: the armature object.

    Raises:
        UserError: it is linked, Poise's own, or in edit mode.
    """
    if rig.library is not None:
        raise UserError(
            f"{rig.name} is linked from another file and cannot be set up: make a library "
            "override of it first (Object > Library Override > Make)"
        )
    override = rig.override_library
    if override is not None and override.is_system_override:
        raise UserError(
            f"{rig.name} is a library override that is not editable: make it editable "
            "(Object > Library Override > Make) first"
        )
    if characters.kind_of(rig):
        raise UserError(f"{rig.name} is a character of Poise's own: it needs no set-up")
    if rig.data.is_editmode:
        raise UserError(f"{rig.name} is in Edit Mode: leave it with Tab, then set it up")


def _copy(owner: bpy.types.PoseBone, kind: str, controls, bone: str, name: str, influence=1.0):
    active = owner.constraints.active
    constraint = owner.constraints.new(kind)
    if active is not None:
        owner.constraints.active = active
    constraint.name = name
    constraint.target, constraint.subtarget = controls, bone
    constraint.influence = influence
    return constraint


def _link(controls: bpy.types.Object, followed: tuple[fitting.Follow, ...]) -> None:
    """Let the links of the trunk turn as the rig's trunk will, and the arms begin at its end."""
    bones = controls.pose.bones
    for one in followed:
        name = fitting.link_bone(one.role)
        if name not in bones:
            continue
        if one.role.startswith("upper_arm."):
            _copy(bones[one.role], "COPY_LOCATION", controls, name, "Shoulder")
            continue
        for control, share in zip(one.controls, (1.0, one.share), strict=False):
            between = fitting.link_bone(one.role, control)
            _copy(bones[name], "COPY_ROTATION", controls, between, "Between", share)


def followers(controls: bpy.types.Object) -> dict[str, tuple[str, bool]]:
    """Role -> bone of the rig that follows, and whether its place is copied too.

    Args:
        controls: the controls.

    Raises:
        UserError: it is not known any more.
    """
    try:
        stored = json.loads(controls.get(_BONES, ""))
        return {str(role): (str(bone), bool(located)) for role, (bone, located) in stored.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise UserError(
            f"{controls.name} does not know its rig's bones any more: remove it from the rig, and "
            "set the rig up anew"
        ) from error


def has_engine_bones(controls: bpy.types.Object | None) -> bool:
    """Whether bones of a game engine follow hands and feet of the rig that controls drive.

    Args:
        controls: the controls, or None.
    """
    if controls is None or _BONES not in controls:
        return False
    try:
        return any(role.split(".")[0] in ENGINE for role in followers(controls))
    except UserError:
        return False


def armless(controls: bpy.types.Object) -> list[str]:
    """Sides on which the rig that controls drive has no arm to hold anything with.

    Args:
        controls: the controls.
    """
    try:
        known = followers(controls)
    except UserError:
        return []
    return [side for side in "LR" if f"forearm.{side}" not in known]


def rest_of(controls: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """How the rig that controls drive stands in its rest pose.

    Args:
        controls: the controls.

    Returns:
        The ground between its ankles (3,) in armature space, and the quaternion (4,)
        from armature space to Z up, facing -Y.

    Raises:
        UserError: it is not known any more.
    """
    try:
        stored = np.array(controls[_REST], dtype=float)
        if stored.shape == (7,) and np.isfinite(stored).all():
            return stored[:3], rotations.normalise(stored[3:])
    except (KeyError, ValueError, TypeError):
        pass
    raise UserError(
        f"{controls.name} does not know how its rig stands any more: remove it from the rig, and "
        "set the rig up anew"
    )


def has_own_controls(controls: bpy.types.Object | None) -> bool:
    """Whether the rig that controls drive is moved by controls of its own.

    Args:
        controls: Poise's controls, or None.
    """
    return controls is not None and _OWN in controls


def baking_label(controls: bpy.types.Object | None) -> str:
    """What a button calls the bake to the rig that controls drive.

    Args:
        controls: Poise's controls, or None.
    """
    if rig_of(controls) is None:
        return "Bake to Bones or Controls"
    return "Bake to Rig's Controls" if has_own_controls(controls) else "Bake to Bones"


def own_controls_of(controls: bpy.types.Object) -> OwnControls | None:
    """The controls of its own that the rig has, or None.

    Args:
        controls: Poise's controls.

    Raises:
        UserError: it is not known any more.
    """
    stored = controls.get(_OWN)
    if stored is None:
        return None
    try:
        return OwnControls.from_json(stored)
    except (ValueError, TypeError, AttributeError) as error:
        raise UserError(
            f"{controls.name} does not know its rig's controls any more: remove it from the rig, "
            "and set the rig up anew"
        ) from error


def require_bones(controls: bpy.types.Object, rig: bpy.types.Object) -> None:
    """Refuse a rig that lacks a bone which follows, and controls that lack one that is followed.

    Args:
        controls: the controls.
        rig: the rig.

    Raises:
        UserError: a bone was removed or renamed since the set-up.
    """
    known, own = followers(controls), own_controls_of(controls)
    needed = [bone for bone, _ in known.values()] if own is None else own.bones()
    gone = [bone for bone in needed if bone not in rig.pose.bones]
    if gone:
        raise UserError(
            f"{rig.name} has no bone {gone[0]} any more: bring it back, or find the roles and set "
            "the rig up anew"
        )
    lost = [bone for bone in _mechanism(controls, known, own) if bone not in controls.pose.bones]
    if lost:
        raise UserError(
            f"{controls.name} has no bone {lost[0]} any more: bring it back, or give it its name "
            f"again; else set {rig.name} up anew"
        )


def _mechanism(
    controls: bpy.types.Object, known: Collection[str], own: OwnControls | None
) -> Iterator[str]:
    """Names of the bones of controls, besides those that are keyed, that move a rig."""
    yield from map(fitting.target_bone, known)
    if characters.LEGS not in controls:
        arms = [role for role in known if role.startswith("upper_arm.")]
        yield from map(fitting.link_bone, [*fitting.trunk_roles(known), *arms])
    for one in own.driven if own is not None else ():
        yield fitting.control_bone(one.name)
    for chain in characters.build_of(controls).chains():
        yield from (chain.first, chain.end, chain.target, chain.pole)
        for bone, like, _ in chain.turned:
            yield from (bone, like)


def resized(controls: bpy.types.Object, rig: bpy.types.Object) -> float:
    """How many times as long as at the set-up the limbs of a rig are, where that differs most.

    Args:
        controls: the controls.
        rig: the rig.
    """
    known, stood, stands = followers(controls), controls.data.bones, rig.data.bones
    larger = world_matrix(rig).median_scale / world_matrix(controls).median_scale
    found = 1.0
    for role, (bone, _) in known.items():
        below = _next_joint(role)
        target, end = fitting.target_bone(role), fitting.target_bone(below)
        if below not in known or target not in stood or end not in stood:
            continue
        then = (stood[end].head_local - stood[target].head_local).length
        now = (stands[known[below][0]].head_local - stands[bone].head_local).length * larger
        if then > 0.0 and abs(now / then - 1.0) > abs(found - 1.0):
            found = now / then
    return found


def posed_sizes(controls: bpy.types.Object, rig: bpy.types.Object) -> dict[str, float]:
    """Bone -> its scale in the pose, of those that others which follow controls hang on.

    A joint beyond such a bone is not where the rest pose, which the controls are fitted
    to, has it.

    Args:
        controls: the controls.
        rig: the rig.
    """
    if has_own_controls(controls):
        return {}
    bones = {bone for bone, _ in followers(controls).values()} & set(rig.pose.bones.keys())
    carrying = {
        above.name for name in bones for above in rig.pose.bones[name].parent_recursive
    }
    found = {}
    for name in sorted(carrying):
        sizes = [float(size) for size in rig.pose.bones[name].scale]
        most = max(sizes, key=lambda size: abs(size - 1.0))
        if abs(most - 1.0) >= SAME_SIZE:
            found[name] = most
    return found


def _next_joint(role: str) -> str:
    """The role at the other end of a limb's bone, or ""."""
    name, _, rest = role.partition(".")
    if name in LIMB_ENDS:
        return f"{LIMB_ENDS[name]}.{rest}"
    number, _, side = rest.partition(".")
    return f"{name}.{int(number) + 1}.{side}" if side and number.isdigit() else ""


def resting(controls: bpy.types.Object, rig: bpy.types.Object) -> dict[str, tuple]:
    """Data path -> 0 of the influence of a rig's constraints that rest while Poise moves it.

    Args:
        controls: the controls.
        rig: the rig.
    """
    if has_own_controls(controls):
        return {}
    names = {bone for bone, _ in followers(controls).values()}
    return overruled(rig, names, characters.LEGS not in controls)


def connect(controls: bpy.types.Object, rig: bpy.types.Object) -> None:
    """Let a rig's bones, or its own controls, follow the targets of Poise's controls.

    Args:
        controls: the controls.
        rig: the rig; bones that are gone follow nothing.
    """
    known, own = followers(controls), own_controls_of(controls)
    # Fingers with keys go on with them.
    held = fists(controls, rig, animated_bones(rig))
    held = {**held, **resting(controls, rig)}
    if own is not None:
        held = {**held, **own_controls.held(rig, own)}
    if held:
        # The rig knows it, too, should the controls be deleted; a library override forgets.
        controls[_FORMER] = rig[_FORMER] = json.dumps(properties.read_pose(rig, held))
        properties.restore_pose(rig, held)
    if own is not None:
        _connect_own(controls, rig, own)
        return
    for role, (name, located) in known.items():
        bone = rig.pose.bones.get(name)
        if bone is None:
            continue
        target = fitting.target_bone(role)
        if located:
            _copy(bone, "COPY_LOCATION", controls, target, CONSTRAINT)
        _copy(bone, "COPY_ROTATION", controls, target, CONSTRAINT)
        if characters.LEGS in controls and any(c.type == "STRETCH_TO" for c in bone.constraints):
            # What hangs connected on a bone that stretches would be carried off its joint.
            scale = _copy(bone, "COPY_SCALE", controls, target, CONSTRAINT)
            scale.owner_space = scale.target_space = "LOCAL"


def _connect_own(controls: bpy.types.Object, rig: bpy.types.Object, own: OwnControls) -> None:
    for one in own.driven:
        bone, target = rig.pose.bones.get(one.bone), fitting.control_bone(one.name)
        if bone is None:
            continue
        if one.located:
            _copy(bone, "COPY_LOCATION", controls, target, CONSTRAINT)
        if one.turned:
            _copy(bone, "COPY_ROTATION", controls, target, CONSTRAINT)


def disconnect(controls: bpy.types.Object | None, rig: bpy.types.Object) -> None:
    """Take off a rig what `connect` put on it.

    Args:
        controls: the controls; None for those that were deleted.
        rig: the rig.
    """
    former = rig.get(_FORMER)
    if controls is not None and rig_of(controls) == rig:
        former = controls.pop(_FORMER, former)
    if former is not None:
        rig.pop(_FORMER, None)
        with suppress(ValueError, TypeError, AttributeError):
            properties.restore_pose(rig, json.loads(former))
    for bone in rig.pose.bones:
        ours = [c for c in bone.constraints if _is_ours(c, controls)]
        if not ours:
            continue
        # Blender forgets which one is active whenever one is removed.
        active = bone.constraints.active
        keep = None if active in ours else active
        for constraint in ours:
            bone.constraints.remove(constraint)
        if keep is not None:
            bone.constraints.active = keep


def _is_ours(constraint: bpy.types.Constraint, controls: bpy.types.Object | None) -> bool:
    """Whether `connect` made a constraint, for controls that are there or were deleted."""
    target = getattr(constraint, "target", None)
    if controls is not None:
        return target == controls
    copies = constraint.type.startswith("COPY_") and constraint.name.split(".")[0] == CONSTRAINT
    return copies and target is None


def is_left_alone(rig: bpy.types.Object | None) -> bool:
    """Whether a rig was set up, and the controls that it followed were deleted.

    Args:
        rig: an object, or None.
    """
    if rig is None or rig.type != "ARMATURE" or controls_of(rig) is not None:
        return False
    return _FORMER in rig or is_connected(None, rig)


def _part(rig: bpy.types.Object) -> None:
    """Let go of controls that drive the rig that this one was copied from, or were deleted."""
    targets = {
        target
        for bone in rig.pose.bones
        for constraint in bone.constraints
        if drives(target := getattr(constraint, "target", None)) and rig_of(target) != rig
    }
    for controls in (*targets, None):
        if _FORMER not in rig and controls is not None and _FORMER in controls:
            rig[_FORMER] = controls[_FORMER]
        disconnect(controls, rig)


def is_connected(controls: bpy.types.Object | None, rig: bpy.types.Object) -> bool:
    """Whether any bone of a rig follows its controls.

    Args:
        controls: the controls; None for those that were deleted.
        rig: the rig.
    """
    # An armature that was never evaluated has no pose yet.
    bones = () if rig.pose is None else rig.pose.bones
    return any(_is_ours(c, controls) for bone in bones for c in bone.constraints)


def remove(controls: bpy.types.Object) -> None:
    """Remove controls with their equipment, and let go of the rig they drive.

    Args:
        controls: the controls; their motions have been removed.
    """
    rig = rig_of(controls)
    if rig is not None:
        disconnect(controls, rig)
    _remove([controls, *characters.figure_meshes(controls)])


def remove_left(rig: bpy.types.Object) -> None:
    """Let go of a rig whose controls were deleted; equipment that has lost its controls goes, too.

    Args:
        rig: the rig; its motions have been removed.
    """
    disconnect(None, rig)
    _remove([
        obj for obj in bpy.data.objects
        if obj.get("poise_figure") == "Equipment" and obj.parent is None and obj.library is None
        and not any(getattr(modifier, "object", None) for modifier in obj.modifiers)
    ])


def _remove(owned: Collection[bpy.types.Object]) -> None:
    """Remove objects that Poise made, with what they alone use."""
    data = [(obj.data, obj.type) for obj in owned]
    meshes = [obj.data for obj in owned if obj.type == "MESH"]
    materials = {m for mesh in meshes for m in mesh.materials if m is not None}
    for obj in owned:
        bpy.data.objects.remove(obj)
    for block, kind in data:
        if block.users == 0:
            (bpy.data.armatures if kind == "ARMATURE" else bpy.data.meshes).remove(block)
    for material in materials:
        if material.users == 0:
            bpy.data.materials.remove(material)
    widgets.remove_unused()
