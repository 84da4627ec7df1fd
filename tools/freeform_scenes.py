# SPDX-License-Identifier: GPL-3.0-or-later
"""Demo scenes of free-form motion, and how their postures are written."""

from __future__ import annotations

from functools import partial

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
    from poise.addon.families.freeform.gather import figure_on_legs
    from poise.addon.mapping.freeform import body_of

    return body_of(figure_on_legs(rig, 1.0))


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
    from poise.addon.families.freeform.gather import postures_at
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
        whole = isinstance(foot, np.ndarray)
        end = foot if whole else turned(*(more[0] if more else foot[:1]))
        at = np.array((x, y, z), float)
        if limb.name in tips:  # the middle of the sole stands there, not the tip of the toes
            kept = rest[body.names[limb.end]] if limb.end >= 0 else rest[tips[limb.name]]
            ground = np.array((*kept[:2], 0.0))
            at = at + rotations.rotate(end, kept - ground)
        rolled = np.tile(foot if whole else turned(*foot), (1, len(limb.rolls), 1))
        hold = Hold(limb, 0, 0, at, end)
        held, missing = keep(body.body, hold, place, held, rolled)
        if missing[0] > 1e-3:
            raise ValueError(f"{limb.name} is {missing[0]:.3f} m short of where it is to stand")
    motion = FreeformMotion(
        np.zeros(1), place, held[:, 0], held, place, np.zeros((0, 3)), np.zeros((0, 2)), (), ()
    )
    tracks = tracks_of(body, motion, Clock.running(1, scenes.FPS))
    tracks.position["root"], tracks.rotation["root"] = np.zeros((1, 3)), rotations.identity(1)
    postures_at(rig, body.figure, tracks)[0].apply(rig)
    bpy.context.view_layer.update()


def person(rig, *, at=(0.0, 0.0), low=0.0, high=None, pitch=0, roll=0, yaw=0, trunk=0, side=0,
           twist=0, head=0, hips=(0, 0), knees=(0, 0), ankles=(0, 0), spread=(0, 0), out=(0, 0),
           arms=(0, 0), sides=(5, 5), elbows=(10, 10), inward=(0, 0), feet=None, hands=None,
           size=1.0):
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
        size: what lengths are multiplied by.
    """
    rest = body_of(rig).figure.joints["pelvis"]
    z = rest[2] - low * size if high is None else high * size
    joints = {
        "spine": [("z", 0.5 * twist), ("y", 0.4 * side), ("x", 0.4 * trunk)],
        "chest": [("z", 0.5 * twist), ("y", 0.6 * side), ("x", 0.6 * trunk)],
        "neck": [("x", 0.4 * head)], "head": [("x", 0.6 * head)],
    }
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
        planted[name] = (x * size, y * size, 0.0, [("z", turn), ("x", heel)], [("z", turn)])
    for name, (x, y, z_, turns) in (hands or {}).items():
        planted[name] = (x * size, y * size, z_ * size, turns)
    place = (at[0] * size, at[1] * size, z)
    strike(rig, joints, place, [("z", yaw), ("y", roll), ("x", pitch)], planted)


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


def dancer(seconds: float, x: float = 0.0, kind: str = "BIPED", **options):
    """A character with a free-form motion over the scene's range.

    Args:
        seconds: how long the scene is.
        x: where it stands.
        kind: kind of character.
        options: of `bpy.ops.poise.character_add`: colours, height.
    """
    import bpy

    scene = bpy.context.scene
    rig = gait_scenes.walker(kind, x=x, colours=options)
    rig.poise.motion = "FREEFORM"
    scene.frame_end = 1 + round(seconds * scenes.FPS)
    scenes.activate(rig)
    return rig


def dance():
    """Eight postures of a dance phrase, the fourth and fifth in the air."""
    scene = scenes.start_scene(3.0)
    rig = dancer(3.0)
    phrase(rig)
    finish(scene, rig, (-5.4, -1.0, 1.25), (0.0, -0.95, 0.95), 42.0)
    return [rig]


def phrase(rig, size: float = 1.0) -> None:
    """The postures of the dance.

    Args:
        rig: the armature object.
        size: of the dancer against our own.
    """
    posed = partial(person, rig, size=size)
    left, right = "leg.L", "leg.R"
    stand = {left: (0.07, -0.10, 15, 0), right: (-0.09, -0.12, -25, 0)}
    low_arms = dict(arms=(20, 20), sides=(12, 12), elbows=(35, 35), inward=(25, 25))
    posed(feet=stand, **low_arms)
    add(rig, 1, "Ready")
    posed(at=(0.05, -0.02), feet={left: (0.07, -0.10, 15, 0)}, low=0.24, pitch=16,
          trunk=14, head=-20, hips=(0, -5), knees=(0, 75), ankles=(0, 45), arms=(-48, -48),
          sides=(22, 22), elbows=(10, 10))
    add(rig, 13, "Gather")
    posed(at=(0.03, -0.40), feet={left: (0.07, -0.10, 15, 50)}, high=0.91, pitch=6,
          trunk=-4, head=-5, hips=(0, 72), knees=(0, 32), ankles=(0, 55), arms=(40, 88),
          sides=(55, 5), elbows=(12, 12))
    add(rig, 20, "Push")
    posed(at=(0.0, -0.95), high=1.30, pitch=4, trunk=-8, hips=(-46, 86), knees=(10, 4),
          ankles=(65, 65), arms=(15, 118), sides=(92, 5), elbows=(10, 8))
    add(rig, 25, "Leap", air=True)
    posed(at=(0.0, -1.40), high=1.30, pitch=6, trunk=-10, hips=(-58, 72), knees=(5, 3),
          ankles=(65, 65), arms=(0, 108), sides=(98, 10), elbows=(10, 8))
    add(rig, 29, "Float", air=True)
    posed(at=(-0.03, -1.84), feet={right: (-0.05, -1.98, -8, 26)}, high=0.95, pitch=12,
          trunk=-8, hips=(-50, 0), knees=(14, 0), ankles=(55, 0), arms=(0, 82),
          sides=(95, 15), elbows=(12, 10))
    add(rig, 33, "Touch")
    posed(at=(-0.05, -2.02), feet={right: (-0.05, -1.98, -8, 0)}, low=0.24, pitch=28,
          trunk=-2, head=-24, hips=(-36, 0), knees=(24, 0), ankles=(55, 0), arms=(10, 58),
          sides=(80, 25), elbows=(15, 15))
    add(rig, 41, "Sink")
    close = {right: (-0.05, -1.98, -8, 0), left: (0.13, -1.95, 25, 0)}
    posed(at=(0.03, -1.86), feet=close, **low_arms)
    add(rig, 62, "Close")


def flat_hand(side: str, yaw: float = 0.0) -> np.ndarray:
    """Turn of a hand whose palm lies on the ground, its fingers to the body's back.

    Args:
        side: "L" or "R".
        yaw: of the fingers from there, degrees to the left.
    """
    from poise.solvers import rotations

    # In rest fingers point down and palms to the thighs.
    sign = 1.0 if side == "L" else -1.0
    axes = np.stack(((0, 0, sign), (-sign, 0, 0), (0, -1, 0)), axis=1).astype(float)
    return rotations.multiply(about("z", yaw), rotations.from_matrix(axes))


def cartwheel():
    """A person turns a cartwheel to the left: foot, hand, hand, foot."""
    scene = scenes.start_scene(2.5)
    rig = dancer(2.5)
    left, right = "leg.L", "leg.R"
    up = dict(sides=(165, 165), elbows=(4, 4), inward=(0, 0))
    hand_l, hand_r = (1.42, 0.0, 0.06, flat_hand("L")), (1.90, 0.0, 0.06, flat_hand("R"))
    person(rig, feet={left: (0.10, -0.14, 0, 0), right: (-0.10, -0.14, 0, 0)}, **up)
    add(rig, 1, "Ready")
    person(rig, at=(0.30, 0.0), low=0.10, roll=8, side=14, spread=(0, 10),
           feet={left: (0.58, -0.12, 60, 0), right: (-0.10, -0.14, 0, 20)}, **up)
    add(rig, 12, "Lunge")
    person(rig, at=(0.92, 0.0), high=0.82, roll=78, side=28, spread=(30, 45), knees=(0, 4),
           ankles=(0, 30), feet={left: (0.58, -0.12, 60, 30)}, hands={"hand.L": hand_l},
           **up)
    add(rig, 20, "Hand")
    person(rig, at=(1.62, 0.0), high=1.10, roll=172, side=4, spread=(42, 42), knees=(2, 2),
           ankles=(30, 30), hands={"hand.L": hand_l, "hand.R": hand_r}, **up)
    add(rig, 26, "Over")
    person(rig, at=(2.38, 0.0), high=0.84, roll=272, side=-24, spread=(45, 24), knees=(4, 0),
           ankles=(30, 0), feet={right: (2.80, -0.12, -60, 25)}, hands={"hand.R": hand_r},
           **up)
    add(rig, 33, "Foot")
    person(rig, at=(2.98, 0.0), low=0.10, roll=350, side=-10, spread=(12, 0),
           feet={right: (2.80, -0.12, -60, 0), left: (3.36, -0.12, 0, 10)}, **up)
    add(rig, 41, "Rise")
    person(rig, at=(3.28, 0.0), sides=(20, 20),
           feet={right: (3.16, -0.14, 0, 0), left: (3.36, -0.12, 0, 0)})
    add(rig, 54, "Stand")
    finish(scene, rig, (1.6, -6.2, 1.35), (1.6, 0.0, 0.95), 42.0)
    return [rig]


def animal(rig, *, at, high, pitch=0, paws=None, **joints) -> None:
    """Pose a four-legged animal.

    Args:
        rig: the armature object.
        at: how far ahead and to the left the pelvis is from where it stands, m.
        high: how much higher.
        pitch: of the pelvis, nose down, degrees.
        paws: leg -> (ahead, heel raised) from where it stands.
        joints: link, its dots written as underscores -> turn about x, degrees; of both sides.
    """
    body = body_of(rig)
    rest = body.figure.joints
    named = {}
    for name, angle in joints.items():
        for side in ("", ".L", ".R"):
            link = name.replace("_", ".") + side
            if link in body.index:
                named[link] = [("x", angle)]
    place = np.asarray(rest["pelvis"]) + (at[1], -at[0], high)
    planted = {}
    for leg in body.figure.legs:
        if leg.name in (paws or {}):
            ahead, heel = paws[leg.name]
            tip = rest[leg.tip]
            planted[leg.name] = (*own_place(body, leg, tip, ahead), [("x", heel)], [("x", 0)])
    strike(rig, named, place, [("x", pitch)], planted)


def own_place(body, leg, tip, ahead: float) -> tuple[float, float, float]:
    """(x, y, z) for `strike` of a paw so far ahead of where it stands.

    Args:
        body: the animal.
        leg: its leg.
        tip: (3,) where the paw stands.
        ahead: m.
    """
    toes = body.figure.joints[leg.segments[-1]]
    return float(toes[0]), float(toes[1]) - ahead, 0.0


def both(name: str, ahead: float, heel: float = 0.0) -> dict:
    """The same for the legs of both sides.

    Args:
        name: of the legs.
        ahead: see `animal`.
        heel: see `animal`.
    """
    return {f"{name}.{side}": (ahead, heel) for side in "LR"}


def pounce():
    """A cat crouches, springs, and comes down on what is not there any more."""
    scene = scenes.start_scene(2.5)
    rig = dancer(2.5, kind="DOG", height=0.28)
    spring(rig)
    finish(scene, rig, (-1.7, -0.5, 0.35), (0.0, -0.45, 0.18), 42.0)
    return [rig]


def spring(rig) -> None:
    """The postures of the pounce.

    Args:
        rig: an animal's controls.
    """
    m = body_of(rig).figure.height / 0.28
    animal(rig, at=(0, 0), high=0, paws=both("hind", 0) | both("fore", 0))
    add(rig, 1, "Stand")
    animal(rig, at=(0.02 * m, 0), high=-0.085 * m, pitch=4, spine_1=6, neck_1=12, head=-14,
           tail_1=-50, tail_2=10, paws=both("hind", 0.03 * m) | both("fore", 0))
    add(rig, 18, "Crouch")
    animal(rig, at=(0.09 * m, 0), high=-0.03 * m, pitch=-28, spine_1=-5, spine_2=-5, neck_1=12,
           head=10, tail_1=-70, fore_1=-40, fore_2=-35, fore_3=60,
           paws=both("hind", 0.03 * m, 35))
    add(rig, 24, "Push")
    animal(rig, at=(0.38 * m, 0), high=0.08 * m, pitch=-4, spine_1=-6, spine_2=-6, neck_1=5,
           head=5, tail_1=-60, hind_1=45, hind_2=25, hind_3=30, fore_1=-55, fore_2=-30,
           fore_3=10)
    add(rig, 28, "Fly", air=True)
    animal(rig, at=(0.57 * m, 0), high=0.055 * m, pitch=18, spine_1=3, spine_2=3, neck_1=-14,
           head=-14, tail_1=-60, hind_1=0, hind_2=30, hind_3=-20,
           paws=both("fore", 0.62 * m))
    add(rig, 31, "Touch")
    animal(rig, at=(0.66 * m, 0), high=-0.025 * m, pitch=8, spine_1=4, spine_3=-4, neck_1=0,
           head=-4, tail_1=-50, paws=both("fore", 0.62 * m) | both("hind", 0.70 * m))
    add(rig, 36, "Down")
    animal(rig, at=(0.67 * m, 0), high=-0.06 * m, neck_1=10, head=5, tail_1=-40,
           paws=both("fore", 0.62 * m) | both("hind", 0.70 * m))
    add(rig, 42, "Sink")
    animal(rig, at=(0.66 * m, 0), high=-0.02 * m, neck_1=25, head=15, tail_1=-30,
           paws=both("fore", 0.62 * m) | both("hind", 0.70 * m))
    add(rig, 56, "Look")


def rider(rig, *, low=0.0, lift=0.0, nose=0.0, yaw=0.0) -> None:
    """Pose whoever stands on a board or on skis by these and the pelvis.

    Args:
        rig: the armature object.
        low: how much lower the pelvis is than standing, m.
        lift: how far all of it is over the ground, m.
        nose: how far noses or tips point up, degrees.
        yaw: likewise to the left.
    """
    import bpy
    from mathutils import Matrix, Quaternion, Vector

    turn = Quaternion(turned(("z", yaw), ("x", -nose)).tolist()).to_matrix().to_4x4()
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    bpy.context.view_layer.update()
    for name in ("board", "ski.L", "ski.R", "pelvis"):
        if name not in rig.pose.bones:
            continue
        bone = rig.pose.bones[name]
        rest = bone.bone.matrix_local
        at, down = Matrix.Translation(rest.translation), low if name == "pelvis" else 0.0
        tilt = Matrix() if name == "pelvis" else at @ turn @ at.inverted()
        bone.matrix = Matrix.Translation(Vector((0.0, 0.0, lift - down))) @ tilt @ rest
        bpy.context.view_layer.update()


def hop(rig, start: int) -> None:
    """Postures of a leap on a board or on skis: crouch, push, nose up in the air, land, sink.

    Args:
        rig: the armature object.
        start: frame at which the motion begins.
    """
    for after, name, pose in (
        (6, "Crouch", dict(low=0.20)), (13, "Push", dict(low=-0.03)),
        (17, "Air", dict(low=0.20, lift=0.35, nose=18.0)), (21, "Land", dict()),
        (25, "Sink", dict(low=0.20)), (33, "Ride", dict(low=0.05)),
    ):
        rider(rig, **pose)
        add(rig, start + after, name, air=name == "Air")


def leaps_over(rig, start: int, end: int, kind: str = "TURNS") -> tuple:
    """A ride that leads over a leap into another one.

    Args:
        rig: the armature object, with the first motion.
        start: frame at which that ends.
        end: frame at which the last one does.
        kind: of that.

    Returns:
        The three Motion objects.
    """
    import bpy

    first = rig.poise.motion_object
    first.poise_motion.range_mode = "OWN"
    first.poise_motion.frame_start, first.poise_motion.frame_end = 1, start
    scenes.activate(rig)
    bpy.ops.poise.motion_add(kind="FREEFORM")
    leap = rig.poise.motion_object
    leap.poise_motion.frame_end = start + 33
    hop(rig, start)
    bpy.ops.poise.motion_add(kind=kind)
    last = rig.poise.motion_object
    last.poise_motion.frame_end = end
    return first, leap, last


def ollie():
    """A snowboarder leaps between two runs down a hill."""
    import bpy

    scene = scenes.start_scene(5.0)
    rig = scenes.add("SNOWBOARDER", preset="Freestyle", suit=scenes.CYAN)
    leaps_over(rig, 49, scene.frame_end)
    scenes.activate(rig)
    bpy.ops.poise.bake_all()
    fall = np.tan(rig.poise.turns.slope)
    gait_scenes.field(
        scene, "Snow", lambda x, y: fall * y, (-40.0, -80.0), (40.0, 20.0), 2.0,
        ((0.90, 0.94, 1.0), (0.84, 0.89, 0.97)),
    )
    look.set_sun(scene, 0.1 * np.pi)
    look.sky(scene, (0.0, -20.0, -80.0), 0.1 * np.pi)
    scene.frame_set(49 + 17)
    middle = np.array(rig.matrix_world @ rig.pose.bones["pelvis"].head)
    camera = look.camera(scene, middle + (-8.0, 1.0, 0.6), middle, 50.0)
    aim = camera.constraints.new("TRACK_TO")
    aim.target, aim.subtarget = rig, "pelvis"
    scene.frame_set(1)
    return [rig]


def hand(rig, frame: int, way, side: str = "R") -> None:
    """Bring a hand's control somewhere at a frame, its fingers away from the shoulder.

    Args:
        rig: the armature object.
        frame: when.
        way: (3,) from the shoulder, in the world, m.
        side: of the hand.
    """
    import bpy
    from mathutils import Vector

    bpy.context.scene.frame_set(frame)
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    shoulder = rig.matrix_world @ evaluated.pose.bones[f"upper_arm.{side}"].head
    control = rig.pose.bones[f"hand_ik.{side}"]
    turn = Vector((0.0, 0.0, -1.0)).rotation_difference(Vector(way)).to_matrix()
    there = (turn @ control.matrix.to_3x3()).to_4x4()
    there.translation = shoulder + Vector(way)
    control.matrix = rig.matrix_world.inverted() @ there
    bpy.context.view_layer.update()


def reach():
    """Three people walk, and their arms reach along one path, each at another speed: minimum
    jerk, an accent, and a stop on the way."""
    import bpy

    scene = scenes.start_scene(2.5)
    rigs = []
    for number, pace in enumerate(("MINIMUM_JERK", "ACCENT", "HOLD")):
        colours = {"suit": scenes.SUITS[number]}
        rig = gait_scenes.walker("BIPED", x=1.3 * (number - 1), speed=1.1, colours=colours)
        scenes.activate(rig)
        bpy.ops.poise.bake()
        bpy.ops.poise.motion_add(kind="FREEFORM")
        bpy.ops.poise.posture_limb(limb="arm.R")
        settings = rig.poise.freeform
        for frame, way in ((8, (-0.10, -0.20, -0.42)), (24, (-0.38, -0.28, -0.02)),
                           (46, (-0.10, -0.22, 0.46))):
            hand(rig, frame, way)
            bpy.ops.poise.posture_add()
        settings.timing, settings.pace, settings.end_path = "DISTANCE", pace, 1.0
        rigs.append(rig)
    for rig in rigs:
        finish(scene, rig, (-3.4, -5.6, 1.5), (0.0, -1.2, 1.0), 42.0)
    return rigs


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


SCENES = {scene.__name__: scene for scene in (dance, cartwheel, pounce, reach, ollie)}
