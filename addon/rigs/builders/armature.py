# SPDX-License-Identifier: GPL-3.0-or-later
"""A skeleton as a Blender armature: bones, IK, switches, collections, colours."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
from mathutils import Vector

from . import widgets
from .skeleton import (
    IK_ARM,
    IK_LEG,
    POLE_LOCK,
    BoneSpec,
    Building,
    Chain,
    Skeleton,
    is_half_way,
)

COLLECTIONS = ("Controls", "IK", "FK", "Equipment", "Deform", "Mechanism")
HIDDEN = ("Deform", "Mechanism")
# Bones that have no effect while IK is on are out of the way at first.
SHOWN = ("Controls", "IK", "Equipment")
PALETTE = {"L": "THEME04", "R": "THEME01", "": "THEME09"}


def pole_angle(chain: bpy.types.Bone, end: bpy.types.Bone, pole: Vector) -> float:
    """Pole angle in radians at which a two-bone IK constraint leaves the rest pose alone.

    The solver turns the chain so that the X axis of its first bone, turned by
    the pole angle about the bone, points to the pole's side; the angle is that
    from the X axis to the pole's side in the rest pose.

    Args:
        chain: first bone of the chain (thigh, upper arm).
        end: last bone, which carries the constraint (shin, forearm).
        pole: rest position of the pole target, armature space.
    """
    start, joint, tip = chain.head_local, chain.tail_local, end.tail_local
    axis = joint - start
    normal = (tip - start).cross(pole - start)
    side = normal.cross(axis)
    x_axis = chain.matrix_local.col[0].xyz
    angle = x_axis.angle(side)
    return -angle if x_axis.cross(side).angle(axis) < 1.0 else angle


def make_armature(context: bpy.types.Context, skeleton: Skeleton, name: str) -> bpy.types.Object:
    """Armature object with controls, IK and deform bones; linked to no collection.

    Bones can only be made in edit mode. A scene of its own is used for that,
    so that mode, selection and active object of the animator stay as they are.

    Args:
        context: any context.
        skeleton: what to build.
        name: name of object and data.
    """
    armature = make_bones(context, skeleton.bones, name)
    _switch_properties(armature.pose.bones["root"], skeleton.build)
    _inverse_kinematics(armature, skeleton)
    _deform(armature, skeleton)
    _locks(armature, skeleton.build)
    widgets.dress(armature, skeleton)
    return armature


def make_bones(
    context: bpy.types.Context, bones: Sequence[BoneSpec], name: str
) -> bpy.types.Object:
    """Armature object with bones in their collections and colours; linked to no collection.

    Args:
        context: any context.
        bones: parents first.
        name: name of object and data.
    """
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    _edit_bones(context, armature, bones)
    _collect(data, bones)
    data.display_type = "STICK"
    armature.show_in_front = True
    return armature


def _edit_bones(
    context: bpy.types.Context, armature: bpy.types.Object, bones: Sequence[BoneSpec]
) -> None:
    workshop = bpy.data.scenes.new("Poise workshop")
    try:
        workshop.collection.objects.link(armature)
        layer = workshop.view_layers[0]
        layer.objects.active = armature
        with context.temp_override(
            scene=workshop, view_layer=layer, active_object=armature, object=armature
        ):
            bpy.ops.object.mode_set(mode="EDIT")
            try:
                edit_bones = armature.data.edit_bones
                for spec in bones:
                    bone = edit_bones.new(spec.name)
                    bone.head, bone.tail = spec.head, spec.tail
                    bone.align_roll(Vector(spec.z_axis))
                    bone.use_deform = spec.deform
                    if spec.parent:
                        bone.parent = edit_bones[spec.parent]
                        bone.use_connect = spec.connected
            finally:
                bpy.ops.object.mode_set(mode="OBJECT")
        workshop.collection.objects.unlink(armature)
    finally:
        bpy.data.scenes.remove(workshop)


def _collect(data: bpy.types.Armature, bones: Sequence[BoneSpec]) -> None:
    for name in COLLECTIONS:
        collection = data.collections.new(name)
        collection.is_visible = name in SHOWN
    for spec in bones:
        bone = data.bones[spec.name]
        data.collections[spec.collection].assign(bone)
        if spec.collection not in HIDDEN:
            side = spec.name[-1] if spec.name[-2:] in (".L", ".R") else ""
            bone.color.palette = PALETTE[side]


def _switch_properties(root: bpy.types.PoseBone, build: Building) -> None:
    for name, tip in build.switch_tips().items():
        root[name] = 1.0
        root.id_properties_ui(name).update(
            default=1.0,
            min=0.0,
            max=1.0,
            soft_min=0.0,
            soft_max=1.0,
            description=tip,
        )
        root.property_overridable_library_set(f'["{name}"]', True)


def _drive(
    constraint: bpy.types.Constraint, armature: bpy.types.Object, *names: str, inverse=False
) -> None:
    """Let the influence be the smallest of some switches (or 1 minus it), without a script."""
    curve = constraint.driver_add("influence")
    curve.driver.type = "MIN"
    for i, name in enumerate(names):
        variable = curve.driver.variables.new()
        variable.name = f"switch_{i}"
        target = variable.targets[0]
        target.id = armature
        target.data_path = f'pose.bones["root"]["{name}"]'
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)
    points = ((0.0, 1.0), (1.0, 0.0)) if inverse else ((0.0, 0.0), (1.0, 1.0))
    for key in points:
        curve.keyframe_points.insert(*key).interpolation = "LINEAR"


def _constrain(
    armature: bpy.types.Object, bone: str, kind: str, target: str, name: str
) -> bpy.types.Constraint:
    constraint = armature.pose.bones[bone].constraints.new(kind)
    constraint.name = name
    constraint.target = armature
    constraint.subtarget = target
    return constraint


def _bend(armature: bpy.types.Object, chain: Chain) -> None:
    """Let two bones reach for a target, and others turn along."""
    bones = armature.data.bones
    ik = _constrain(armature, chain.end, "IK", chain.target, "IK")
    ik.chain_count = 2
    ik.use_stretch = False
    ik.pole_target = armature
    ik.pole_subtarget = chain.pole
    ik.pole_angle = pole_angle(
        bones[chain.first], bones[chain.end], bones[chain.pole].head_local
    )
    _drive(ik, armature, chain.switch)
    for name in (chain.first, chain.end):
        armature.pose.bones[name].ik_stretch = 0.0
    for bone, source, name in chain.turned:
        _drive(_constrain(armature, bone, "COPY_ROTATION", source, name), armature, chain.switch)


def _inverse_kinematics(armature: bpy.types.Object, skeleton: Skeleton) -> None:
    for chain in skeleton.build.chains():
        _bend(armature, chain)
    if POLE_LOCK in skeleton.build.switches:
        for side in ("L", "R"):
            _hold_pole(armature, side)


def _hold_pole(armature: bpy.types.Object, side: str) -> None:
    """Let a ski pole reach from the palm to its tip."""
    arm, lock = f"{IK_ARM}.{side}", f"{POLE_LOCK}.{side}"
    bones = armature.data.bones
    # The palm, not the wrist, keeps a pole's length from the tip, so the
    # length holds however the hand is turned.
    length = _constrain(
        armature, f"MCH-grip.{side}", "LIMIT_DISTANCE", f"pole_tip.{side}", "Pole Length"
    )
    length.limit_mode = "LIMITDIST_ONSURFACE"
    length.owner_space = length.target_space = "POSE"
    pole = f"pole.{side}"
    length.distance = bones[pole].length
    _as_long(length, "distance", armature, pole)
    _drive(length, armature, lock)
    aim = _constrain(armature, pole, "DAMPED_TRACK", f"pole_tip.{side}", "Pole")
    aim.track_axis = "TRACK_Y"
    _drive(aim, armature, lock, arm)


def _as_long(
    constraint: bpy.types.Constraint, name: str, armature: bpy.types.Object, bone: str
) -> None:
    """Let a length of a constraint be a bone's: it grows when the object's scale is applied."""
    follow = constraint.driver_add(name).driver
    follow.type = "AVERAGE"
    target = follow.variables.new().targets[0]
    target.id_type, target.id = "ARMATURE", armature.data
    target.data_path = f'bones["{bone}"].length'


def stretch(armature: bpy.types.Object, bone: str, hook: str) -> None:
    """Let a spring reach for what it is hooked to; its wire grows no thicker.

    Args:
        armature: the armature object.
        bone: the spring's bone, as long as the spring is at rest.
        hook: bone whose head it reaches for.
    """
    spring = _constrain(armature, bone, "STRETCH_TO", hook, "Spring")
    spring.volume = "NO_VOLUME"
    spring.rest_length = armature.data.bones[bone].length
    _as_long(spring, "rest_length", armature, bone)


def _deform(armature: bpy.types.Object, skeleton: Skeleton) -> None:
    for name, (source, _parent) in skeleton.build.deform_bones().items():
        if is_half_way(name):
            half = _constrain(armature, name, "COPY_ROTATION", source, "Half Way")
            half.influence = 0.5
            continue
        _constrain(armature, name, "COPY_TRANSFORMS", source, "Follow")
    # With a leg in FK its ski or board goes along with the boot.
    for name, target, side in skeleton.build.carried(skeleton):
        follow = _constrain(armature, name, "COPY_TRANSFORMS", target, "Follow Boot")
        _drive(follow, armature, f"{IK_LEG}.{side}", inverse=True)


def _locks(armature: bpy.types.Object, build: Building) -> None:
    for bone in armature.pose.bones:
        bone.rotation_mode = build.rotation_modes.get(bone.name, "QUATERNION")
        if bone.name != "master":
            bone.lock_scale = (True, True, True)
        unmoved, unturned = build.still(bone.name)
        if unmoved:
            bone.lock_location = (True, True, True)
        if bone.name in build.rotation_modes:
            # It turns about the axis that its mode begins with, and about no other.
            bone.lock_rotation = [axis != bone.rotation_mode[0] for axis in "XYZ"]
        if unturned:
            bone.lock_rotation = (True, True, True)
            bone.lock_rotation_w = True
