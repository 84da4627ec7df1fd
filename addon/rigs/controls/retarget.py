# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a rig's bones are when they follow their controls, for all samples at once.

What Blender evaluates bone by bone and frame by frame (controls, links of the
trunk, two-bone IK, copied rotations) is computed here with arrays, so that a
rig's own bones can be keyed without stepping through the frames.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix

from ....solvers import affine, rotations
from ....solvers.ik import limb_rotations, two_bone
from ....solvers.times import nearest
from ...context import keep_frame
from ...errors import UserError
from ...mapping.legs import LeggedFigure, creature_of
from ...mapping.signals import averaged
from ...mapping.tracks import HAND, POLE_TIP, Contact, Figure, RoleTracks, side_role
from ...steps import Steps
from .. import characters
from ..builders.skeleton import Chain
from ..pose import evaluate
from ..pose.algebra import Pose
from ..pose.frames import ArmatureFrames, ObjectTrack, rest_turns
from ..pose.solver import RigSolver
from . import control_rig, fitting, own_controls
from .own_controls import Control, OwnControls

# What a role of someone else's rig is called among tracks: no rule for Poise's own roles fits it.
PREFIX = "bone "


# Roles whose place in the world counts, not their direction alone.
PLACED = ("root", "pelvis", "foot", "hand", *own_controls.LEGS)

STILL = 1e-6  # metres: what moves by less rests

# Role, or bone of the controls that stands for a control of the rig's own -> pose of its
# target in the world, in units of the controls; and metres per such unit. Poses are
# computed as they are asked for: many are wanted only to verify a bake.
Targets = tuple[Callable[[str], Pose], float]


def bone_tracks(
    controls: bpy.types.Object,
    rig: bpy.types.Object,
    tracks: RoleTracks,
    targets: Targets,
) -> tuple[dict[str, str], RoleTracks]:
    """Tracks of a rig's own bones from where the targets of the controls are.

    Args:
        controls: the controls.
        rig: the rig that they drive.
        tracks: where the roles of the controls are; the times count.
        targets: what `posed_targets` or `evaluated_targets` gave.

    Returns:
        Role -> bone of the rig, and the tracks of these roles: rotations are those
        that take the bone's rest pose, in armature space, into the world.
    """
    pose, size = targets
    known = control_rig.followers(controls)
    wanted = {
        PREFIX + role: (bone, pose(role), located, True)
        for role, (bone, located) in known.items()
    }
    bindings, moved = _bone_tracks(rig, wanted, tracks, size)
    contacts = [
        _contact(contact, PREFIX + contact.role, pose(contact.role), tracks, size)
        for contact in _limb_contacts(controls, tracks)
        if contact.role in known
    ]
    return bindings, replace(moved, contacts=tuple(contacts))


def steps_of(controls: bpy.types.Object, tracks: RoleTracks) -> dict[str, list[Contact]]:
    """Name of a leg -> its contacts, from touchdown to liftoff, with the places of the prints.

    However a sole rolls meanwhile, it does not slide.

    Args:
        controls: Poise's controls.
        tracks: where their roles are.
    """
    figure = characters.figure_of(controls)
    found: dict[str, list[Contact]] = {}
    for leg in figure.legs:
        steps = found.setdefault(leg.name, [])
        begin, place = float(tracks.time[0]), None
        for event in tracks.events:
            if event.side != leg.name or event.position is None:
                continue
            if event.kind == "TOUCHDOWN":
                begin, place = event.time, event.position
            elif event.kind == "LIFTOFF":
                steps.append(Contact(leg.tip, begin, event.time, event.position))
                place = None
        if place is not None:
            steps.append(Contact(leg.tip, begin, float(tracks.time[-1]), place))
    return found


def _limb_contacts(controls: bpy.types.Object, tracks: RoleTracks) -> list[Contact]:
    """Contacts of limbs by the roles of their last segments that the rig has."""
    figure = characters.figure_of(controls)
    known = control_rig.followers(controls)
    found = []
    for contact in tracks.contacts:
        name, _, side = contact.role.partition(".")
        if name == POLE_TIP:  # the hand holds the pole
            found.append(replace(contact, role=side_role(HAND, side)))
    for leg in figure.legs:
        role = next((role for role in reversed(leg.segments) if role in known), "")
        found += [replace(step, role=role) for step in steps_of(controls, tracks)[leg.name]]
    return found + _heels(figure, tracks, known)


def _heels(
    figure: Figure | LeggedFigure, tracks: RoleTracks, known: Collection[str]
) -> list[Contact]:
    """Contacts of heels, by the roles of feet whose toes have a bone of their own.

    A heel rests from the touchdown, or from where the sole comes to lie flat, until it rises.
    """
    if not figure.legs:
        return []
    found = []
    for chain, leg in zip(figure.legs, creature_of(figure).legs, strict=True):
        foot = chain.control
        if foot not in known or foot == chain.segments[-1] or chain.segments[-1] not in known:
            continue
        arm = leg.foot + (0.0, leg.heel, 0.0) - figure.joints[foot]
        for contact in tracks.contacts:
            told = contact.instants
            if contact.role != chain.tip or told is None or foot not in told.turn:
                continue
            heel = contact.position + told.offset[foot]
            heel = heel + rotations.rotate(told.turn[foot], arm)
            flat = int(np.abs(told.time - max(contact.start, told.time[0])).argmin())
            still = np.abs(heel - heel[flat]).max(axis=1) < STILL
            first, last = flat, flat
            while first > 0 and still[first - 1]:
                first -= 1
            while last < len(still) - 1 and still[last + 1]:
                last += 1
            if first < last:
                begin, end = float(told.time[first]), float(told.time[last])
                found.append(Contact(foot, begin, end, heel[flat]))
    return found


def _contact(
    contact: Contact,
    role: str,
    there: Pose,
    tracks: RoleTracks,
    size: float,
    place: np.ndarray | None = None,
) -> Contact:
    """A contact of a bone: where in its axes the fixed point is, in the middle of it."""
    middle = 0.5 * (contact.start + contact.end)
    at = int(nearest(tracks.time, middle))
    if place is not None:
        place = _sample(place, at) * size
    elif tracks.treadmill is None:
        place = contact.position
    else:
        place = tracks.treadmill.under(contact.position, tracks.time[at : at + 1])[0]
    arm = place - _sample(there.head, at) * size
    arm = rotations.rotate(rotations.conjugate(_sample(there.rotation, at)), arm)
    return replace(contact, role=role, arm=arm)


def standing(controls: bpy.types.Object, own: OwnControls) -> dict[str, tuple[Control, str]]:
    """Role of the tip of each leg -> the rig's own control that brings its foot there.

    Args:
        controls: Poise's controls.
        own: the rig's own.

    Returns:
        With each control the role of the joint that it turns about on the ground, the
        ball of a person's foot, or "" where that is the tip.
    """
    figure = characters.figure_of(controls)
    found: dict[str, tuple[Control, str]] = {}
    for leg in figure.legs:
        for number, role in enumerate(leg.segments[leg.bend + 2 :], leg.bend + 3):
            after = leg.segments[number] if number < len(leg.segments) else ""
            for one in own.driven:
                if one.role == role and one.located and one.turned:
                    found[leg.tip] = one, after
    return found


def control_tracks(
    rig: bpy.types.Object,
    own: OwnControls,
    tracks: RoleTracks,
    targets: Targets,
    feet: Mapping[str, tuple[Control, str]],
) -> tuple[dict[str, str], RoleTracks]:
    """Tracks of a rig's own controls.

    Args:
        rig: the rig that Poise's controls drive.
        own: its own controls.
        tracks: where the roles of Poise's controls are, and their contacts.
        targets: what `posed_targets` or `evaluated_targets` gave for `own`.
        feet: what `standing` gave.

    Returns:
        As `bone_tracks`, with the contacts of the controls that bring feet to the ground.
    """
    pose, size = targets
    driven = {
        PREFIX + one.name: (
            one.bone, pose(fitting.control_bone(one.name)), one.located, one.turned
        )
        for one in own.driven
    }
    bindings, moved = _bone_tracks(rig, driven, tracks, size)
    contacts = []
    for contact in tracks.contacts:
        if contact.role not in feet:
            continue
        one, after = feet[contact.role]
        there = pose(fitting.control_bone(one.name))
        place = pose(after).head if after else None
        limb = tuple(PREFIX + other.name for other in own.driven if other.role in contact.limb)
        contact = replace(contact, limb=limb)
        contacts.append(_contact(contact, PREFIX + one.name, there, tracks, size, place))
    return bindings, replace(moved, contacts=tuple(contacts))


def _sample(values: np.ndarray, at: int) -> np.ndarray:
    """One sample of values, of which there may be one for all."""
    return values[min(at, len(values) - 1)]


def moved_tracks(
    controls: bpy.types.Object, rig: bpy.types.Object, tracks: RoleTracks, targets: Targets
) -> tuple[dict[str, str], RoleTracks]:
    """Tracks of the bones that have to go along with a rig's own controls.

    Args:
        controls: Poise's controls.
        rig: the rig that they drive.
        tracks: where the roles of Poise's controls are; the times count.
        targets: what `posed_targets` or `evaluated_targets` gave.

    Returns:
        As `bone_tracks`. Bones inside spine and neck and those of a tail, whose twist is
        the rig's own affair, are left out.
    """
    pose, size = targets
    moved = {
        PREFIX + role: (bone, pose(role), role.split(".")[0] in PLACED, True)
        for role, (bone, _) in control_rig.followers(controls).items()
        if not role.startswith(("spine.", "neck.", "tail.", "via."))
    }
    return _bone_tracks(rig, moved, tracks, size)


def _in_world(obj: bpy.types.Object, bone: bpy.types.PoseBone) -> Matrix:
    return obj.matrix_world @ bone.matrix


def evaluated_targets(
    context: bpy.types.Context,
    controls: bpy.types.Object,
    tracks: RoleTracks,
    start_frame: int,
    unit_scale: float,
    own: OwnControls | None = None,
) -> Steps[Targets]:
    """Steps to where the targets of the controls are as Blender evaluates them, by frames.

    Args:
        context: Blender's context; its scene counts, whose frame is put back.
        controls: the controls.
        tracks: where the roles of the controls would be; the times count.
        start_frame: frame of the first sample.
        unit_scale: metres per Blender unit.
        own: controls of the rig's own whose targets are wanted, too.

    Returns:
        What `posed_targets` returns.
    """
    names = {role: fitting.target_bone(role) for role in control_rig.followers(controls)}
    if own is not None:
        names |= {n: n for n in (fitting.control_bone(one.name) for one in own.driven)}
    look = evaluate.Look(
        controls, list(names.values()), start_frame + tracks.clock.frames, _in_world
    )
    with keep_frame(context.scene):
        [(_, matrices)] = yield from evaluate.matrices(context, [look])
    poses = {
        key: Pose(
            rotations.from_matrix(row[:, :3, :3] / np.linalg.norm(row[:, :3, :3], axis=1)[:, None]),
            row[:, :3, 3],
            np.ones(1),
        )
        for key, row in zip(names, np.moveaxis(matrices, 1, 0), strict=True)
    }
    return poses.__getitem__, unit_scale


def _bone_tracks(
    rig: bpy.types.Object,
    wanted: Mapping[str, tuple[str, Pose, bool, bool]],
    tracks: RoleTracks,
    size: float,
) -> tuple[dict[str, str], RoleTracks]:
    """Bindings and tracks of bones: role -> bone, pose, whether it is located and turned."""
    bindings, position, rotation = {}, {}, {}
    count = len(tracks.time)
    bones = [bone for bone, *_ in wanted.values()]
    back = rotations.conjugate(rest_turns(rig, bones))
    for turn, (name, (bone, pose, located, turned)) in zip(back, wanted.items(), strict=True):
        bindings[name] = bone
        if turned:
            rotation[name] = np.broadcast_to(pose.turned(turn), (count, 4))
        if located:
            head = pose.head if size == 1.0 else pose.head * size
            position[name] = np.broadcast_to(head, (count, 3))
    moved = replace(
        tracks, position=position, rotation=rotation, contacts=(), problems=(), spins={}
    )
    return bindings, moved


def posed_targets(
    controls: bpy.types.Object,
    tracks: RoleTracks,
    unit_scale: float,
    own: OwnControls | None = None,
) -> Steps[Targets]:
    """Steps to where the targets of the controls are.

    Args:
        controls: the controls.
        tracks: where the roles of the controls are.
        unit_scale: metres per Blender unit.
        own: controls of the rig's own whose targets are wanted, too.
    """
    build = characters.build_of(controls)
    scale = float(np.mean([column.length for column in controls.matrix_world.to_3x3().col]))
    # The controls stand where they stand; what is keyed is the world's all the same.
    world = np.diag([scale, scale, scale, 1.0])
    frames = ArmatureFrames(
        rotation=rotations.identity(1),
        scale=np.array([scale]),
        inverse=affine.inverse(world[None]),
        matrix=world[None],
    )
    solver = RigSolver(
        controls, characters.role_bones_of(controls), frames, unit_scale,
        characters.rest_axes(controls),
    )
    solver.follow(tracks.position, tracks.rotation)
    _place_trunk(controls, solver)
    chains = build.chains()
    for number, chain in enumerate(chains):
        yield 0.2 + 0.8 * number / len(chains)
        _place_limb(controls, solver, chain)
        for bone, like, _ in chain.turned:
            _turn(solver, bone, like)
    copies = {fitting.control_bone(one.name) for one in own.driven} if own is not None else set()

    def pose(target: str) -> Pose:
        if target in copies:
            return _aimed(controls, target, solver)
        return solver.pose(fitting.target_bone(target))

    return pose, scale * unit_scale


def _aimed(controls: bpy.types.Object, name: str, solver: RigSolver) -> Pose:
    """Pose of a target that may be aimed along its length at another, the short way round."""
    pose = solver.pose(name)
    for constraint in controls.pose.bones[name].constraints:
        along = rotations.rotate(pose.rotation, np.array([0.0, 1.0, 0.0]))
        wanted = rotations.normalise(solver.pose(constraint.subtarget).head - pose.head)
        turn = rotations.between(along, wanted)
        pose = pose.but(rotation=rotations.multiply(turn, pose.rotation))
    return pose


def _place_trunk(controls: bpy.types.Object, solver: RigSolver) -> None:
    """Links turn as their controls do, in shares, and hang on each other."""
    for role in control_rig.followers(controls):
        name = fitting.link_bone(role)
        if name not in controls.pose.bones or role.startswith("upper_arm."):
            continue
        turned = None
        for constraint in controls.pose.bones[name].constraints:
            there = solver.pose(constraint.subtarget).rotation
            if turned is None:
                turned = there
            else:
                turned = rotations.slerp(turned, there, constraint.influence)
        here = solver.pose(name)
        solver.place(name, Pose(turned, here, here.scale))


def _place_limb(
    controls: bpy.types.Object,
    solver: RigSolver,
    chain: Chain,
) -> None:
    """Bend a limb to its target, as its IK constraint does."""
    bones = controls.data.bones
    first, second = bones[chain.first], bones[chain.end]
    link = fitting.link_bone(chain.first)
    start = solver.pose(link if link in bones else first.name)
    root, end = start.head, solver.pose(chain.target).head
    towards = solver.pose(chain.pole).head
    count = max(len(root), len(end), len(towards))
    root, end, towards = (np.broadcast_to(p, (count, 3)) for p in (root, end, towards))
    rest = (
        np.array(first.head_local), np.array(second.head_local), np.array(second.tail_local)
    )
    bend = np.array(bones[chain.pole].head_local) - rest[1]
    bent = two_bone(root, end, towards, first.length, second.length)
    turns = limb_rotations(rest, bend, root, bent.middle, bent.tip, towards)
    heads = (root, bent.middle)
    for bone, turn, head in zip((first, second), turns, heads, strict=True):
        turned = rotations.times(turn, solver.bone(bone.name).rest)
        solver.place(bone.name, Pose(turned, head, start.scale))


def _turn(solver: RigSolver, bone: str, like: str) -> None:
    here = solver.pose(bone)
    solver.place(bone, Pose(solver.pose(like), here, here.scale))


# Spread in seconds of the average that a smoothed root keeps to: longer than a short turn.
CALM = 1.0


def carried(
    bindings: Mapping[str, str], tracks: RoleTracks, travel: RoleTracks, mode: str, name: str
) -> tuple[dict[str, str], RoleTracks]:
    """Share the motion between root bone and hips: their sum is the same, except in place.

    Args:
        bindings: role -> bone of the rig.
        tracks: tracks of these roles.
        travel: tracks of the controls, whose root shows where the figure goes.
        mode: "ROOT" (the root bone goes where the figure goes, the hips do the
            rest), "OBJECT" (as the object does, see `object_track`; the root bone
            keeps still), "HIPS" (the root bone keeps still), "SPLIT" (the root bone
            goes on an evened-out way), "IN_PLACE" (nothing goes anywhere).
        name: of the rig, for messages.

    Returns:
        Role -> bone that is to be keyed, and its tracks.

    Raises:
        UserError: the rig has no root bone to go on an evened-out way.
    """
    root = PREFIX + "root"
    place, yaw = travel.position["root"], _yaw(travel.rotation["root"])
    if mode in ("HIPS", "OBJECT"):
        return {role: bone for role, bone in bindings.items() if role != root}, tracks
    if mode == "SPLIT":
        if root not in bindings:
            raise UserError(
                f"{name} has no root bone to share the motion with: set Root Motion to Hips"
            )
        rest = rotations.multiply(
            rotations.conjugate(travel.rotation["root"][:1]), tracks.rotation[root][:1]
        )
        offset = rotations.rotate(
            rotations.conjugate(travel.rotation["root"][:1]), tracks.position[root][:1] - place[:1]
        )
        turned = rotations.about_z(_calm(yaw[:, None], tracks.time)[:, 0])
        position = {
            **tracks.position, root: _calm(place, tracks.time) + rotations.rotate(turned, offset)
        }
        rotation = {**tracks.rotation, root: rotations.multiply(turned, rest)}
        return dict(bindings), replace(tracks, position=position, rotation=rotation)
    if mode == "IN_PLACE":
        back = rotations.about_z(yaw[0] - yaw)
        position = {
            role: place[0] + rotations.rotate(back, where - place)
            for role, where in tracks.position.items()
        }
        rotation = {
            role: rotations.continuous(rotations.multiply(back, turn))
            for role, turn in tracks.rotation.items()
        }
        return dict(bindings), replace(tracks, position=position, rotation=rotation)
    return dict(bindings), tracks


def _calm(values: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(n, c) an average over time; samples may be anywhere between frames."""
    if len(time) < 2:
        return values
    even = np.linspace(time[0], time[-1], len(time))
    columns = np.stack([np.interp(even, time, column) for column in values.T], axis=1)
    smooth = averaged(columns, float(even[1] - even[0]), CALM)
    return np.stack([np.interp(time, even, column) for column in smooth.T], axis=1)


def object_track(controls: bpy.types.Object, travel: RoleTracks) -> ObjectTrack:
    """Where a rig's object goes if it is to go where the figure goes.

    It stands to the root of the controls as the rig in its rest pose stands to the
    ground between its ankles: world = root * turn * (point - origin) * scale.

    Args:
        controls: the controls.
        travel: tracks of the controls, whose root shows where the figure goes.

    Raises:
        UserError: the controls do not know how the rig stands.
    """
    origin, turn = control_rig.rest_of(controls)
    rotation = rotations.continuous(rotations.multiply(travel.rotation["root"], turn))
    return ObjectTrack(travel.position["root"], rotation, origin)


def _yaw(rotation: np.ndarray) -> np.ndarray:
    ahead = rotations.rotate(rotation, fitting.FORWARD)
    return np.unwrap(np.arctan2(ahead[:, 0], -ahead[:, 1]))
