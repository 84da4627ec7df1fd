# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that would spoil a bake, found before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import bpy
import numpy as np

from .. import compat, keyframes
from ..errors import UserError
from ..mapping.tracks import LOCATION_ONLY, JointTracks, Tracks, base_role, only_turned
from ..placement import world_matrix
from ..rigs.pose import rotation_modes
from ..rigs.pose.channels import bone_path
from ..rigs.pose.frames import armature_frames
from .data import FIRST_FRAME, LAST_FRAME, Baked, BakeOptions
from .keyed import Keyed

# What messages call the armature object among its bones.
OBJECT = "the object"

# Constraints that move what they are on, wherever its keys put it.
MOVING = {
    "ARMATURE": "Armature",
    "CHILD_OF": "Child Of",
    "CLAMP_TO": "Clamp To",
    "COPY_LOCATION": "Copy Location",
    "COPY_TRANSFORMS": "Copy Transforms",
    "FOLLOW_PATH": "Follow Path",
    "LIMIT_DISTANCE": "Limit Distance",
    "TRANSFORM_CACHE": "Transform Cache",
}


def keyed_bindings(bindings: Mapping[str, str], tracks: Tracks) -> dict[str, str]:
    """Role -> bone of those that tracks move.

    Args:
        bindings: role -> bone.
        tracks: the tracks.
    """
    return {
        role: bone
        for role, bone in bindings.items()
        if bone_location(role, tracks) or bone_rotation(role, tracks)
    }


def bone_location(role: str, tracks: Tracks) -> bool:
    """Whether a role's bone gets location keys.

    Args:
        role: the role.
        tracks: the tracks to bake.
    """
    if isinstance(tracks, JointTracks):
        return role in tracks.place
    return not only_turned(role) and role in tracks.position


def bone_rotation(role: str, tracks: Tracks) -> bool:
    """Whether a role's bone gets rotation keys.

    Args:
        role: the role.
        tracks: the tracks to bake.
    """
    if isinstance(tracks, JointTracks):
        return role in tracks.turn
    return base_role(role) not in LOCATION_ONLY and role in tracks.rotation


def check_before_bake(
    context: bpy.types.Context,
    keyed: Keyed,
    previous: Baked | None = None,
    followed: bpy.types.Object | None = None,
) -> None:
    """Refuse what could not give the motion that the tracks describe.

    Args:
        context: Blender's context; its view layer counts.
        keyed: what is to be keyed, and how.
        previous: the bake that is replaced, or None.
        followed: what the rig follows until it is baked: constraints that look at it
            are no trouble.

    Raises:
        UserError: one sentence with the cause and the remedy.
    """
    armature, bindings, tracks = keyed.armature, keyed.bindings, keyed.tracks
    options, carries = keyed.options, keyed.carrier is not None
    check_object(context, armature)
    _check_bones(armature, bindings, tracks)
    _check_tracks(bindings, tracks, options)
    _check_animation(armature, options)
    if not isinstance(tracks, JointTracks):  # wherever it is, and whatever has let go of bones
        _check_constraints(armature, bindings, tracks, carries, followed)
    paths = channel_paths(armature, bindings, tracks, carries)
    _check_drivers(armature, paths)
    if options.target == "CURRENT":
        end = options.start_frame + tracks.clock.count - 1
        _check_current(armature, paths, options.start_frame, end, previous)


def check_place(armature: bpy.types.Object, world: np.ndarray | None = None) -> None:
    """Refuse a rig that stands in a way that cannot carry a figure.

    Args:
        armature: the rig.
        world: (1, 4, 4) where it stands; None to look.

    Raises:
        UserError: it is scaled to nothing, unevenly, sheared or mirrored.
    """
    if world is None:
        world = np.array(world_matrix(armature), dtype=float)[None]
    armature_frames(armature.name, world)


def channel_paths(
    armature: bpy.types.Object,
    bindings: Mapping[str, str],
    tracks: Tracks,
    carries: bool = False,
) -> dict[str, str]:
    """Data path -> bone of everything that a bake keys; "" for the object itself.

    Args:
        armature: the rig.
        bindings: role -> bone.
        tracks: what is to be baked.
        carries: the object itself is keyed, too.
    """
    paths = {}
    if carries:
        paths = {"location": "", rotation_modes.PROPERTY[armature.rotation_mode]: ""}
    for role, bone in bindings.items():
        base = bone_path(bone)
        if bone_location(role, tracks):
            paths[f"{base}.location"] = bone
        if bone_rotation(role, tracks):
            mode = armature.pose.bones[bone].rotation_mode
            paths[f"{base}.{rotation_modes.PROPERTY[mode]}"] = bone
    return paths


def check_object(context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Refuse what is no armature that could be keyed here.

    Args:
        context: Blender's context; its view layer counts.
        armature: what is to be keyed.

    Raises:
        UserError: one sentence with the cause and the remedy.
    """
    if armature is None or armature.type != "ARMATURE":
        name = "Nothing" if armature is None else armature.name
        raise UserError(f"{name} is not an armature: choose the character's armature")
    if armature.library is not None:
        raise UserError(
            f"{armature.name} is linked from another file and cannot be keyed: make a library "
            "override of it (Object > Library Override > Make) and bake that"
        )
    override = armature.override_library
    if override is not None and override.is_system_override:
        raise UserError(
            f"{armature.name} is a library override that is not editable: make it editable "
            "(Object > Library Override > Make) first"
        )
    if armature.data.is_editmode:
        raise UserError(f"{armature.name} is in Edit Mode: leave it with Tab, then bake")
    # What the layer shows is part of it; of what it hides only an evaluation can tell.
    if not (
        armature.visible_get(view_layer=context.view_layer)
        or armature.evaluated_get(context.evaluated_depsgraph_get()).is_evaluated
    ):
        raise UserError(
            f"{armature.name} is not part of this view layer: enable it and its collections "
            "in the Outliner (exclude and Disable in Viewports)"
        )


def _listed(names: Iterable[str], most: int = 3) -> str:
    """Some names as a phrase, the rest as a number."""
    names = sorted(set(names))
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def _check_bones(
    armature: bpy.types.Object, bindings: Mapping[str, str], tracks: Tracks
) -> None:
    if not bindings:
        raise UserError(f"No bone of {armature.name} has a role: assign its roles first")
    missing = [bone for bone in bindings.values() if bone not in armature.pose.bones]
    if missing:
        raise UserError(
            f"{armature.name} has no bone {_listed(missing)}: bring it back, or give its role to "
            "another bone"
        )
    names = list(bindings.values())
    double = [name for name in names if names.count(name) > 1]
    if double:
        raise UserError(
            f"Bone {double[0]} of {armature.name} has two roles: give each role a bone of its own"
        )
    for role, name in bindings.items():
        bone = armature.data.bones[name]
        if bone.use_connect and bone.parent is not None and bone_location(role, tracks):
            raise UserError(
                f"Bone {name} of {armature.name} is connected to {bone.parent.name}, so Blender "
                "ignores its location: switch off Connected in Edit Mode"
            )


def _check_tracks(
    bindings: Mapping[str, str], tracks: Tracks, options: BakeOptions
) -> None:
    if not any(bone_location(r, tracks) or bone_rotation(r, tracks) for r in bindings):
        raise UserError("The motion moves none of the rig's roles: assign its roles first")
    if not len(tracks.time):
        raise UserError("The motion has no frames: set its end after its start")
    if isinstance(tracks, JointTracks):
        said = (("position", tracks.place), ("rotation", tracks.turn))
    else:
        said = (("position", tracks.position), ("rotation", tracks.rotation))
    for kind, arrays in said:
        for role in bindings:
            if role in arrays and not np.isfinite(arrays[role]).all():
                bad = int(np.argmin(np.isfinite(arrays[role]).all(axis=1)))
                frame = options.start_frame + int(tracks.clock.frames[bad])
                raise UserError(
                    f"The motion has no {kind} for {role} at frame {frame}: "
                    "its settings are beyond what can be computed"
                )
    end = options.start_frame + tracks.clock.count - 1
    if options.start_frame < FIRST_FRAME or end > LAST_FRAME:
        raise UserError(
            f"The motion runs from frame {options.start_frame} to {end}: "
            f"Blender's frames end at {LAST_FRAME}"
        )


def _check_animation(armature: bpy.types.Object, options: BakeOptions) -> None:
    data = armature.animation_data
    if data is None:
        return
    if data.use_tweak_mode:
        raise UserError(
            f"{armature.name} is in NLA tweak mode: leave it (Tab in the Nonlinear Animation "
            "editor), then bake"
        )
    solo = next((track.name for track in data.nla_tracks if track.is_solo), None)
    if solo is not None:
        raise UserError(
            f"NLA track {solo} of {armature.name} plays alone and would hide the bake: "
            "switch off its star"
        )
    if options.push_to_nla and not data.use_nla:
        raise UserError(
            f"The NLA of {armature.name} is switched off and would not play the bake: "
            "switch it on, or do not push the action down"
        )


def _check_constraints(
    armature: bpy.types.Object,
    bindings: Mapping[str, str],
    tracks: Tracks,
    carries: bool,
    followed: bpy.types.Object | None,
) -> None:
    for constraint in armature.constraints:
        if carries and not constraint.mute and constraint.influence > 0.0:
            raise UserError(
                f"Constraint {constraint.name} has a say in where {armature.name} is, which is to "
                "carry the motion: mute or apply it, or choose another Root Motion"
            )
        if constraint.type in MOVING and not constraint.mute and constraint.influence > 0.0:
            raise UserError(
                f"Constraint {constraint.name} ({MOVING[constraint.type]}) moves {armature.name} "
                "while the bake moves its bones: mute or apply it"
            )
    for role, name in bindings.items():
        if not (bone_location(role, tracks) or bone_rotation(role, tracks)):
            continue
        for constraint in armature.pose.bones[name].constraints:
            if followed is not None and getattr(constraint, "target", None) == followed:
                continue
            if constraint.type in MOVING and not constraint.mute and constraint.influence > 0.0:
                raise UserError(
                    f"Constraint {constraint.name} ({MOVING[constraint.type]}) on bone {name} of "
                    f"{armature.name} would override the bake: mute or remove it"
                )


def _check_drivers(armature: bpy.types.Object, paths: Mapping[str, str]) -> None:
    if armature.animation_data is None:
        return
    driven = [
        f"bone {paths[curve.data_path]}" if paths[curve.data_path] else OBJECT
        for curve in armature.animation_data.drivers
        if curve.data_path in paths and not curve.mute
    ]
    if driven:
        raise UserError(
            f"Drivers move {_listed(driven)} of {armature.name} and would override the bake: "
            "mute or delete them"
        )


def other_users(
    armature: bpy.types.Object | None,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot | None,
) -> list[str]:
    """Names of other objects that play a slot of an action.

    Args:
        armature: the rig, which does not count.
        action: an action.
        slot: the slot; None for any.
    """
    if action.users <= 1:
        return []
    found = []
    for obj in bpy.data.objects:
        data = obj.animation_data
        if obj == armature or data is None:
            continue
        pairs = [(data.action, data.action_slot)]
        pairs += [(s.action, s.action_slot) for t in data.nla_tracks for s in t.strips]
        if any(a == action and (slot is None or s == slot) for a, s in pairs):
            found.append(obj.name)
    return found


def _check_current(
    armature: bpy.types.Object,
    paths: Mapping[str, str],
    start: float,
    end: float,
    previous: Baked | None,
) -> None:
    data = armature.animation_data
    if data is None or data.action is None:
        return
    action, slot = data.action, data.action_slot
    if action.library is not None:
        raise UserError(
            f"Action {action.name} is linked from another file: bake into a new action"
        )
    layered = any(len(track.strips) and not track.mute for track in data.nla_tracks)
    if layered and data.use_nla and (
        data.action_blend_type != "REPLACE" or data.action_influence < 1.0
    ):
        raise UserError(
            f"Action {action.name} is blended over NLA tracks ({data.action_blend_type.title()}, "
            f"influence {data.action_influence:.2f}), which would change the bake: set it to "
            "Replace and 1, or bake into a new action"
        )
    if slot is None:
        return
    shared = other_users(armature, action, slot)
    if shared:
        raise UserError(
            f"{_listed(shared)} plays the same action {action.name} in the same slot and would "
            f"move along: bake into a new action, or give {armature.name} a slot of its own"
        )
    own, record = set[tuple[str, int]](), None
    if previous is not None and previous.action == action and previous.record.slot == slot.handle:
        record = previous.record
        own = set(record.channels())
    for (path, index), curve in keyframes.curves_by_path(compat.channelbag(action, slot)).items():
        if path not in paths:
            continue
        bone = paths[path] or OBJECT
        ours = record is not None and (path, index) in own
        if record is not None and ours and record.target == "NEW":
            continue
        trouble = ""
        if curve.lock or (curve.group is not None and curve.group.lock):
            trouble = "locked"
        elif curve.mute or (curve.group is not None and curve.group.mute):
            trouble = "muted"
        elif len(curve.modifiers):
            trouble = "changed by a modifier"
        elif len(curve.sampled_points):
            trouble = "made of samples"
        if trouble:
            raise UserError(
                f"A curve of {bone if bone == OBJECT else f'bone {bone}'} in action "
                f"{action.name} is {trouble}: put that right, or bake into a new action"
            )
        frames = keyframes.read_keys(curve, ["co"]).frames
        if record is not None and ours:
            frames = frames[(frames < record.start) | (frames > record.end)]
        foreign = frames[(frames >= start) & (frames <= end)]
        if len(foreign):
            raise UserError(
                f"{bone.capitalize() if bone == OBJECT else bone} has keys of yours in action "
                f"{action.name} (frame {foreign[0]:g}): remove them, or bake into a new action"
            )
