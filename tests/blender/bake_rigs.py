# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs and made-up motions for the tests of keys and bakes.

The motion is a formula of time, so that what the tracks say is known between
their samples too.
"""

from __future__ import annotations

from contextlib import contextmanager

import bpy
import numpy as np

SIDES = ("L", "R")
QUARTER = np.sqrt(0.5)


def quaternion(axis, angle):
    """(n, 4) turns about one axis."""
    angle = np.asarray(angle, dtype=float)
    q = np.zeros((*angle.shape, 4))
    q[..., 0] = np.cos(0.5 * angle)
    q[..., 1:] = np.sin(0.5 * angle)[..., None] * np.asarray(axis, dtype=float)
    return q


def product(a, b):
    """Quaternion product, b applied first."""
    aw, av = a[..., :1], a[..., 1:]
    bw, bv = b[..., :1], b[..., 1:]
    return np.concatenate(
        (aw * bw - (av * bv).sum(-1, keepdims=True), aw * bv + bw * av + np.cross(av, bv)), axis=-1
    )


def turned(q, v):
    """Vectors turned by quaternions."""
    twice = 2.0 * np.cross(q[..., 1:], v)
    return v + q[..., :1] * twice + np.cross(q[..., 1:], twice)


X, Y, Z = np.eye(3)


def skier_motion(figure, t, origin=(0.0, 0.0, 0.0), plants=((0.42, 0.61), (1.37, 1.5))):
    """Position and rotation of each role at times t: linked turns, poles planted.

    Args:
        figure: rest pose, joints in metres.
        t: (n,) seconds.
        origin: where it starts.
        plants: spans in which the left pole tip stands still.
    """
    n = len(t)
    phase = 2.0 * np.pi * 0.7 * t
    yaw = 0.5 * np.sin(phase + 0.3)
    lean = 0.45 * np.sin(phase + 1.2)
    root = np.stack((1.2 * np.sin(phase), -7.0 * t, 0.15 * np.cos(0.5 * phase)), axis=1) + origin
    heading = quaternion(Z, yaw)
    position, rotation = {"root": root}, {"root": heading}

    def placed(role, offset=0.0, turn=None):
        q = heading if turn is None else product(heading, turn)
        position[role] = root + turned(heading, np.asarray(figure.joints[role]) + offset)
        rotation[role] = q

    bob = np.zeros((n, 3))
    bob[:, 2] = -0.10 - 0.05 * np.cos(2.0 * phase)
    bob[:, 0] = -0.2 * np.sin(phase + 1.2)
    placed("pelvis", bob, product(quaternion(Y, -lean * 0.4), quaternion(X, 0.2 + 0.1 * lean)))
    for role, amount in (("spine", 0.5), ("chest", 0.8), ("neck", 0.9), ("head", 1.0)):
        placed(role, turn=product(quaternion(Z, -amount * yaw), quaternion(X, 0.25 * amount)))
    for side, sign in (("L", 1.0), ("R", -1.0)):
        placed(f"shoulder.{side}", turn=product(quaternion(Z, -0.8 * yaw), quaternion(Y, 0.1)))
        ahead = np.zeros((n, 3))
        ahead[:, 1] = -0.06 * sign * np.sin(phase)
        placed(f"ski.{side}", ahead, quaternion(Y, lean))
        knee = np.zeros((n, 3))
        knee[:, 0] = 0.1 * np.sin(phase)
        placed(f"knee.{side}", knee)
        swing = np.zeros((n, 3))
        swing[:, 2] = 0.05 * np.sin(phase + sign)
        swing[:, 1] = 0.06 * np.cos(phase)
        placed(f"hand.{side}", swing, quaternion(X, 0.3 * np.sin(phase + sign)))
        placed(f"elbow.{side}", 0.5 * swing)
        tip = np.zeros((n, 3))
        tip[:, 2] = 0.1 + 0.05 * np.sin(phase)
        placed(f"pole_tip.{side}", tip)
        del rotation[f"pole_tip.{side}"], rotation[f"knee.{side}"], rotation[f"elbow.{side}"]
    return position, rotation


def held_tip(figure, t, plants, **kwargs):
    """The left pole tip: still within each span, moving smoothly to and from it."""
    free = skier_motion(figure, t, **kwargs)[0]["pole_tip.L"]
    held = free.copy()
    points = []
    for start, end in plants:
        point = skier_motion(figure, np.array([0.5 * (start + end)]), **kwargs)[0]["pole_tip.L"][0]
        points.append(point)
        # Outside, the way is pulled to the point over 0.3 s, with a corner at the end.
        before = np.clip((t - (start - 0.3)) / 0.3, 0.0, 1.0) ** 2
        after = np.clip(((end + 0.3) - t) / 0.3, 0.0, 1.0) ** 2
        share = np.where(t < start, before, np.where(t > end, after, 1.0))[:, None]
        near = (t > start - 0.3) & (t < end + 0.3)
        held = np.where(near[:, None], share * point + (1.0 - share) * held, held)
    return held, points


def _hold_poles(figure, position, rotation, side):
    """Move a hand so that its palm is a pole's length from the tip."""
    hand, tip = position[f"hand.{side}"], position[f"pole_tip.{side}"]
    palm = np.asarray(figure.joints[f"pole.{side}"]) - figure.joints[f"hand.{side}"]
    offset = turned(rotation[f"hand.{side}"], palm)
    shaft = hand + offset - tip
    shaft /= np.linalg.norm(shaft, axis=1, keepdims=True)
    position[f"hand.{side}"] = tip + shaft * figure.equipment["pole_length"] - offset


PLANTS = ((0.42, 0.61), (1.77, 1.9))


def skier_tracks(figure, frames=60, fps=24.0, steps=2, origin=(0.0, 0.0, 0.0), plants=PLANTS):
    """Role tracks of `skier_motion`."""
    from poise.addon.mapping.tracks import Contact, RoleTracks
    from poise.solvers.clock import Clock

    t = np.arange((frames - 1) * steps + 1) / (steps * fps)
    position, rotation = skier_motion(figure, t, origin)
    position["pole_tip.L"], points = held_tip(figure, t, plants, origin=origin)
    for side in SIDES if "pole.L" in figure.joints else ():
        _hold_poles(figure, position, rotation, side)
    contacts = tuple(
        Contact("pole_tip.L", start, end, point)
        for (start, end), point in zip(plants, points, strict=True)
    )
    kinks = [k for start, end in plants for k in (start - 0.3, end + 0.3)]
    return RoleTracks(
        clock=Clock.even(t, steps, kinks),
        position=position,
        rotation=rotation,
        contacts=contacts,
    )


def edit_bones(obj, specs, up="Z"):
    """Build bones from (name, parent, head, tail, roll, connected)."""
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail, roll, connected in specs:
        bone = obj.data.edit_bones.new(name)
        bone.head, bone.tail, bone.roll = head, tail, roll
        if parent:
            bone.parent = obj.data.edit_bones[parent]
            bone.use_connect = connected
    bpy.ops.object.mode_set(mode="OBJECT")


SMALL_SPECS = (
    # name, parent, head, tail, roll, connected; metres, Z up, facing -Y
    ("master", "", (0, 0, 0), (0, 0.4, 0), 0.0, False),
    ("root", "master", (0, 0, 0), (0, 0.3, 0), 0.4, False),
    ("pelvis", "root", (0, 0, 0.9), (0, 0, 1.0), 0.3, False),
    ("spine", "pelvis", (0, 0, 1.0), (0, 0.02, 1.2), 0.0, True),
    ("chest", "spine", (0, 0.02, 1.2), (0, 0, 1.45), -0.2, True),
    ("neck", "chest", (0, 0, 1.45), (0, -0.02, 1.55), 0.0, True),
    ("head", "neck", (0, -0.02, 1.55), (0, -0.02, 1.75), 1.0, True),
    ("hand.L", "root", (0.4, -0.3, 1.1), (0.4, -0.4, 1.1), 0.7, False),
    ("hand.R", "root", (-0.4, -0.3, 1.1), (-0.4, -0.4, 1.1), -0.7, False),
    ("foot.L", "root", (0.15, 0, 0.1), (0.15, -0.15, 0.02), 0.0, False),
    ("foot.R", "root", (-0.15, 0, 0.1), (-0.15, -0.15, 0.02), 0.0, False),
)
SMALL_ROLES = {name: name for name, *_ in SMALL_SPECS if name != "master"}


def small_rig(name="Rig", scale=1.0, y_up=False):
    """A rig of eleven bones: every role of SMALL_ROLES and an unkeyed master.

    Args:
        name: name of the object.
        scale: size of the rest pose; 100 gives centimetres.
        y_up: build it with +Y up and facing +Z, as FBX and glTF files hold it.
    """
    data = bpy.data.armatures.new(name)
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)

    def place(p):
        x, y, z = (scale * v for v in p)
        return (x, z, -y) if y_up else (x, y, z)

    edit_bones(
        obj, [(n, p, place(h), place(t), r, c) for n, p, h, t, r, c in SMALL_SPECS]
    )
    for bone in obj.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return obj


def small_tracks(frames=40, fps=24.0, steps=2, origin=(0.0, 0.0, 0.0), roles=None):
    """Tracks for `small_rig`: every role turns and moves on its own."""
    from poise.addon.mapping.tracks import RoleTracks
    from poise.solvers.clock import Clock

    t = np.arange((frames - 1) * steps + 1) / (steps * fps)
    position, rotation = small_motion(t, origin)
    if roles is not None:
        position = {r: position[r] for r in roles if r in position}
        rotation = {r: rotation[r] for r in roles if r in rotation}
    return RoleTracks(Clock.even(t, steps), position=position, rotation=rotation)


def small_motion(t, origin=(0.0, 0.0, 0.0)):
    """Position and rotation of the roles of `small_rig` at times t."""
    heads = {name: np.array(head, dtype=float) for name, _, head, *_ in SMALL_SPECS}
    phase = 2.0 * np.pi * 0.6 * t
    travel = np.stack((np.sin(phase), -3.0 * t, 0.1 * np.cos(phase)), axis=1) + origin
    yaw = quaternion(Z, 0.7 * np.sin(phase))
    position, rotation = {}, {}
    for i, (role, head) in enumerate(heads.items()):
        if role == "master":
            continue
        axis = np.array([np.sin(i), np.cos(1.7 * i), np.sin(2.3 * i + 1.0)])
        axis /= np.linalg.norm(axis)
        own = quaternion(axis, 0.4 * np.sin(phase + i))
        rotation[role] = product(yaw, own)
        sway = 0.1 * np.stack((np.sin(phase + i), np.cos(phase + 2 * i), np.sin(2 * phase)), 1)
        position[role] = travel + turned(yaw, head + sway)
    position["root"], rotation["root"] = travel, yaw
    return position, rotation


def evaluated_bone(obj, bone):
    """World matrix (4, 4) of a bone as Blender evaluates it now."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(evaluated.matrix_world @ evaluated.pose.bones[bone].matrix)


@contextmanager
def skins_off():
    """Bones only: three quarters of a frame's time is moving meshes that nobody looks at."""
    skins = [
        modifier for obj in bpy.data.objects for modifier in obj.modifiers
        if modifier.type == "ARMATURE" and modifier.show_viewport
    ]
    for skin in skins:
        skin.show_viewport = False
    try:
        yield
    finally:
        for skin in skins:
            skin.show_viewport = True


@skins_off()
def world_errors(obj, bindings, tracks, start, frames=None, axes=None, unit=1.0):
    """Largest distance in metres of positions, and angle in radians of directions.

    An independent reading of the contract: head on the track, rotation of the
    bone's rest frame by the track's rotation. Spine to head are compared by
    direction only.
    """
    scene = bpy.context.scene
    axes = np.eye(3) if axes is None else axes
    n = tracks.clock.count
    far = wide = 0.0
    before = scene.frame_current_final
    for i in range(n) if frames is None else frames:
        whole = int(np.floor(start + i))
        scene.frame_set(whole, subframe=start + i - whole)
        sample = int(tracks.clock.row_of(i))
        for role, bone in bindings.items():
            matrix = evaluated_bone(obj, bone)
            base = role.split(".")[0]
            free = base not in {"spine", "chest", "neck", "head", "shoulder"}
            if role in tracks.position and free:
                error = np.linalg.norm(matrix[:3, 3] * unit - tracks.position[role][sample])
                far = max(far, float(error))
            if role in tracks.rotation and base not in {"knee", "elbow"}:
                rest = axes @ np.array(obj.data.bones[bone].matrix_local)[:3, :3]
                q = tracks.rotation[role][sample]
                wanted = np.stack([turned(q, rest[:, k]) for k in range(3)], axis=1)
                actual = matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=0)
                cosine = np.clip((np.trace(wanted.T @ actual) - 1.0) / 2.0, -1.0, 1.0)
                wide = max(wide, float(np.arccos(cosine)))
    scene.frame_set(int(np.floor(before)), subframe=before - np.floor(before))
    return far, wide
