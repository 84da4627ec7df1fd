# SPDX-License-Identifier: GPL-3.0-or-later
"""Demo scenes of free-form motion, and how their postures are written."""

from __future__ import annotations

import gait_scenes
import look
import numpy as np
import scenes

FEET = ("leg.L", "leg.R")


def body_of(rig):
    """A character as links, at the size it has in the scene.

    Args:
        rig: the armature object.
    """
    from poise.addon.mapping.freeform import body_of
    from poise.addon.scene.figures import figure_in_metres

    return body_of(figure_in_metres(rig, 1.0))


def about(axis: str, degrees: float) -> np.ndarray:
    """Turn about x (nose down), y (to the right) or z (to the left).

    Args:
        axis: "x", "y" or "z".
        degrees: how far.
    """
    from poise.solvers import rotations

    return rotations.from_axis_angle(np.eye(3)["xyz".index(axis)], np.radians(degrees))


def turned(*turns: tuple[str, float]) -> np.ndarray:
    """Turns one after the other, each about the axes that the one before has turned.

    Args:
        turns: (axis, degrees) each.
    """
    from poise.solvers import rotations

    found = np.array((1.0, 0.0, 0.0, 0.0))
    for axis, degrees in turns:
        found = rotations.multiply(found, about(axis, degrees))
    return found


def strike(rig, joints: dict, place, turn=(), planted: dict | None = None) -> None:
    """Pose a character by its joints, some of its ends planted.

    Args:
        rig: the armature object.
        joints: link -> turns one after the other, each (axis, degrees), from the rest pose.
        place: (3,) of the pelvis, m.
        turn: turns of the pelvis likewise.
        planted: leg or arm -> (x, y, z, turns of its foot, turns of its toes): the sole, or the
            wrist, is brought there.
    """
    import bpy
    from poise.addon.families.freeform.gather import posture_of
    from poise.addon.mapping.freeform import tracks_of
    from poise.solvers import rotations
    from poise.solvers.clock import Clock
    from poise.solvers.freeform import FreeformMotion
    from poise.solvers.freeform.holds import Hold, keep

    body = body_of(rig)
    local = rotations.identity(len(body.names))
    for name, turns in joints.items():
        local[body.index[name]] = turned(*turns)
    local[0] = turned(*turn)
    place, held = np.array(place, float)[None], local[None]
    rest = body.figure.joints
    tips = {leg.name: leg.tip for leg in body.figure.legs}
    for limb in body.body.limbs:
        if limb.name not in (planted or {}):
            continue
        x, y, z, foot, *more = planted[limb.name]
        end = turned(*(more[0] if more else foot[:1]))
        at = np.array((x, y, z), float)
        if limb.name in tips:  # the middle of the sole stands there, not the tip of the toes
            kept = rest[body.names[limb.end]] if limb.end >= 0 else rest[tips[limb.name]]
            ground = np.array((*kept[:2], 0.0))
            at = at + rotations.rotate(end, kept - ground)
        rolled = np.tile(turned(*foot), (1, len(limb.rolls), 1))
        hold = Hold(limb, 0, 0, at, end)
        held, missing = keep(body.body, hold, place, held, rolled)
        if missing[0] > 1e-3:
            raise ValueError(f"{limb.name} is {missing[0]:.3f} m short of where it is to stand")
    motion = FreeformMotion(
        np.zeros(1), place, held[:, 0], held, place, np.zeros((0, 3)), np.zeros((0, 2)), (), ()
    )
    tracks = tracks_of(body, motion, Clock.running(1, scenes.FPS))
    tracks.position["root"], tracks.rotation["root"] = np.zeros((1, 3)), rotations.identity(1)
    posture_of(rig, tracks, 1.0).apply(rig)
    bpy.context.view_layer.update()


def person(rig, *, at=(0.0, 0.0), low=0.0, high=None, pitch=0, roll=0, yaw=0, trunk=0, side=0,
           twist=0, head=0, hips=(0, 0), knees=(0, 0), ankles=(0, 0), spread=(0, 0), out=(0, 0),
           arms=(0, 0), sides=(5, 5), elbows=(10, 10), inward=(0, 0), feet=None, hands=None):
    """Pose a person by angles in degrees: hips, arms and trunk forward, knees and elbows bent.

    Args:
        rig: the armature object.
        at: where the pelvis is over the ground, m.
        low: how much lower it is than standing, m.
        high: its height instead, m.
        pitch: of the pelvis forward; roll to the right, yaw to the left.
        roll: see `pitch`.
        yaw: see `pitch`.
        trunk: bend of the trunk forward.
        side: likewise to the right.
        twist: likewise to the left.
        head: forward.
        hips: of both legs forward.
        knees: how far they are bent.
        ankles: toes down.
        spread: legs out to their sides.
        out: knees turned out.
        arms: forward and up.
        sides: arms out to their sides.
        elbows: how far they are bent.
        inward: forearms turned in.
        feet: leg -> (x, y, yaw, heel raised) where it stands.
        hands: arm -> (x, y, z, turns) where the wrist is.
    """
    rest = body_of(rig).figure.joints["pelvis"]
    z = rest[2] - low if high is None else high
    joints = {
        "spine": [("z", 0.5 * twist), ("y", 0.4 * side), ("x", 0.4 * trunk)],
        "chest": [("z", 0.5 * twist), ("y", 0.6 * side), ("x", 0.6 * trunk)],
        "neck": [("x", 0.4 * head)], "head": [("x", 0.6 * head)],
    }  # fmt: skip
    for k, (s, sign) in enumerate((("L", 1.0), ("R", -1.0))):
        joints[f"thigh.{s}"] = [
            ("y", -sign * spread[k]), ("z", sign * out[k]), ("x", -hips[k])
        ]
        joints[f"shin.{s}"] = [("x", knees[k])]
        joints[f"foot.{s}"] = [("x", ankles[k])]
        joints[f"shoulder.{s}"] = [("y", -sign * max(sides[k] - 60.0, 0.0) * 0.25)]
        joints[f"upper_arm.{s}"] = [
            ("y", -sign * (sides[k] - max(sides[k] - 60.0, 0.0) * 0.25)), ("x", -arms[k])
        ]
        joints[f"elbow_joint.{s}"] = [("z", sign * inward[k]), ("x", -elbows[k])]
    planted = {}
    for name, (x, y, turn, heel) in (feet or {}).items():
        planted[name] = (x, y, 0.0, [("z", turn), ("x", heel)], [("z", turn)])
    for name, (x, y, z_, turns) in (hands or {}).items():
        planted[name] = (x, y, z_, turns)
    strike(rig, joints, (*at, z), [("z", yaw), ("y", roll), ("x", pitch)], planted)


def add(rig, frame: int, name: str, air: bool = False, turns=(0, 0, 0)) -> None:
    """Take the pose as a posture.

    Args:
        rig: the armature object.
        frame: when.
        name: of the posture.
        air: no limb bears the body.
        turns: whole turns on the way to it.
    """
    import bpy

    scene = bpy.context.scene
    if scene.frame_current != frame:
        posed = {bone.name: bone.matrix_basis.copy() for bone in rig.pose.bones}
        scene.frame_set(frame)
        for bone in rig.pose.bones:
            bone.matrix_basis = posed[bone.name]
    bpy.ops.poise.posture_add(name=name, air=air)
    settings = rig.poise.freeform
    settings.postures[settings.posture_index].turns = turns


def dancer(seconds: float, x: float = 0.0, kind: str = "BIPED", **colours):
    """A character with a free-form motion over the scene's range.

    Args:
        seconds: how long the scene is.
        x: where it stands.
        kind: kind of character.
        colours: part -> linear RGB.
    """
    import bpy

    scene = bpy.context.scene
    rig = gait_scenes.walker(kind, x=x, colours=colours)
    rig.poise.motion = "FREEFORM"
    scene.frame_end = 1 + round(seconds * scenes.FPS)
    scenes.activate(rig)
    return rig


def dance():
    """Eight postures of a dance phrase, the fourth and fifth in the air (Girard 1986, figure 11)."""
    scene = scenes.start_scene(3.0)
    rig = dancer(3.0)
    left, right = "leg.L", "leg.R"
    stand = {left: (0.07, -0.10, 15, 0), right: (-0.09, -0.12, -25, 0)}
    low_arms = dict(arms=(20, 20), sides=(12, 12), elbows=(35, 35), inward=(25, 25))
    person(rig, feet=stand, **low_arms)
    add(rig, 1, "Ready")
    person(rig, at=(0.05, -0.02), feet={left: (0.07, -0.10, 15, 0)}, low=0.24, pitch=16,
           trunk=14, head=-20, hips=(0, -5), knees=(0, 75), ankles=(0, 25), arms=(-48, -48),
           sides=(22, 22), elbows=(10, 10))  # fmt: skip
    add(rig, 13, "Gather")
    person(rig, at=(0.03, -0.40), feet={left: (0.07, -0.10, 15, 50)}, high=0.91, pitch=6,
           trunk=-4, head=-5, hips=(0, 72), knees=(0, 32), ankles=(0, 30), arms=(40, 88),
           sides=(55, 5), elbows=(12, 12))  # fmt: skip
    add(rig, 20, "Push")
    person(rig, at=(0.0, -0.95), high=1.30, pitch=4, trunk=-8, hips=(-46, 86), knees=(10, 4),
           ankles=(35, 35), arms=(15, 118), sides=(92, 5), elbows=(10, 8))  # fmt: skip
    add(rig, 25, "Leap", air=True)
    person(rig, at=(0.0, -1.40), high=1.30, pitch=6, trunk=-10, hips=(-58, 72), knees=(5, 3),
           ankles=(35, 35), arms=(0, 108), sides=(98, 10), elbows=(10, 8))  # fmt: skip
    add(rig, 29, "Float", air=True)
    person(rig, at=(-0.03, -1.84), feet={right: (-0.05, -1.98, -8, 26)}, high=0.95, pitch=12,
           trunk=-8, hips=(-50, 0), knees=(14, 0), ankles=(30, 0), arms=(0, 82),
           sides=(95, 15), elbows=(12, 10))  # fmt: skip
    add(rig, 33, "Touch")
    person(rig, at=(-0.05, -2.02), feet={right: (-0.05, -1.98, -8, 0)}, low=0.24, pitch=28,
           trunk=-2, head=-24, hips=(-36, 0), knees=(24, 0), ankles=(30, 0), arms=(10, 58),
           sides=(80, 25), elbows=(15, 15))  # fmt: skip
    add(rig, 41, "Sink")
    close = {right: (-0.05, -1.98, -8, 0), left: (0.13, -1.95, 25, 0)}
    person(rig, at=(0.03, -1.86), feet=close, **low_arms)
    add(rig, 62, "Close")
    finish(scene, rig, (-5.4, -1.0, 1.25), (0.0, -0.95, 0.95), 42.0)
    return [rig]


def finish(scene, rig, place, target, lens=38.0) -> None:
    """Bake, ground, sky and a camera.

    Args:
        scene: the scene.
        rig: the armature object.
        place: of the camera.
        target: what it looks at.
        lens: focal length, mm.
    """
    import bpy

    scenes.activate(rig)
    bpy.ops.poise.bake_all()
    scene.frame_set(1)
    gait_scenes.field(
        scene, "Meadow", lambda x, y: 0.0 * x, (-30.0, -30.0), (30.0, 30.0), 2.0,
        (gait_scenes.GRASS, gait_scenes.GRASS),
    )
    look.set_sun(scene, -0.25 * np.pi)
    look.sky(scene, (0.0, 0.0, 0.0), -0.25 * np.pi)
    look.camera(scene, place, target, lens)
    scenes.activate(rig)


SCENES = {scene.__name__: scene for scene in (dance,)}
