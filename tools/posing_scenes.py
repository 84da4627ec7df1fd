# SPDX-License-Identifier: GPL-3.0-or-later
"""Demo scenes of pose timing."""

from __future__ import annotations

from math import pi

import gait_scenes
import numpy as np
import scenes

BALL = 0.055  # m, radius
ARM = ("chest", "upper_arm.R", "forearm.R", "hand.R")
FLIGHT = 0.9  # s that the ball takes to come
WIND_UP, RELEASE, THROUGH, REST = 44, 51, 60, 84
"""Frames of the throw after the catch."""
FPS = 30
SEED = 12
"""Of the arm that blocks balls: frames a second, and which weights drop."""


def pose_timing():
    """A person who catches a ball on the frame in which it crosses the arm's reach, and throws it
    back."""
    import bpy

    scene = scenes.start_scene(4.0)
    rig = gait_scenes.walker("BIPED", speed=0.0)
    scenes.activate(rig)
    bpy.ops.poise.bake()
    bpy.ops.poise.motion_add(kind="POSE_TIMING")
    settings = rig.poise.pose_timing
    settings.tension = 0.1
    ball = thrown(scene, np.array((-0.28, -0.62, 1.30)))
    for frame, hand, twist in (
        (2, (-0.28, -0.52, 1.28), 0.15), (WIND_UP, (-0.42, 0.30, 1.52), -0.65),
        (RELEASE, (-0.22, -0.62, 1.50), 0.35), (THROUGH, (0.10, -0.42, 0.92), 0.60),
    ):
        scene.frame_set(frame)
        reach(rig, hand, twist)
        ball.select_set(frame == 2)
        bpy.ops.poise.target_add(source="OBJECT" if frame == 2 else "POSE")
    scene.frame_set(REST)
    bpy.ops.poise.target_add(source="POSE", name="Rest")
    bpy.ops.poise.bake()
    carry(scene, rig, ball, settings.targets[0].frame)
    finish(scene, rig)
    return [rig]


def overlap():
    """A dog at a gallop whose tail swings after its hips."""
    import bpy

    scene = scenes.start_scene(4.0)
    rig = gait_scenes.walker("DOG", speed=6.0)
    rig.poise.gait.sequence[0].gait = "GALLOP_LEFT"
    scenes.activate(rig)
    bpy.ops.poise.bake()
    bpy.ops.poise.motion_add(kind="POSE_TIMING")
    select(rig, ("tail.1",))
    bpy.ops.poise.overlap_add()
    bpy.ops.poise.bake()
    finish(scene, rig)
    return [rig]


def blocking():
    """An arm that blocks four balls on their frames, while weights of 10 kg drop on it."""
    import bpy
    from lab import blocking as experiment
    from poise.addon.shots import objects

    scene = scenes.start_scene(experiment.FRAMES / scenes.FPS)
    scene.render.fps = FPS
    shoulder = np.array((0.0, 0.0, 1.5))
    rig = straight_arm(scene, shoulder, experiment.LENGTH, experiment.RADIUS)
    bpy.ops.poise.motion_add(kind="POSE_TIMING")
    rig.poise.settings.frame_end = scene.frame_end = experiment.FRAMES
    settings = rig.poise.pose_timing
    bone = rig.pose.bones["arm"]
    for number, (time, angle) in enumerate(
        zip(experiment.TIMES, experiment.ANGLES, strict=True), 1
    ):
        frame = 1.0 + FPS * time
        bone.rotation_euler.x = angle
        bpy.ops.poise.target_add(source="POSE", name=f"Ball {number}")
        settings.targets[-1].frame = frame
        at = shoulder + experiment.REACH * np.array((0.0, np.sin(angle), -np.cos(angle)))
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.mesh.primitive_uv_sphere_add(radius=experiment.BALL)
        ball = bpy.context.active_object
        ball.name = f"Ball {number}"
        ball.data.materials.append(objects.plain_material("Ball", (0.80, 0.30, 0.02)))
        near = experiment.RADIUS + experiment.BALL
        for when, away in ((frame - 0.5 * FPS, 3.0), (frame, near), (frame + 0.5 * FPS, 1.2)):
            ball.location = at - (away, 0.0, 0.0)
            ball.keyframe_insert("location", frame=when)
        for curve in ball.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
            curve.extrapolation = "LINEAR"
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
        scenes.activate(rig)
        bpy.ops.object.mode_set(mode="POSE")
    bone.rotation_euler.x = 0.0
    for weight in experiment.weights(SEED):
        bpy.ops.poise.disturbance_add(kind="WEIGHT")
        item = settings.disturbances[-1]
        item.frame, item.mass, item.radius = 1.0 + FPS * weight.time, weight.mass, weight.radius
        item.place, item.velocity = shoulder + weight.place, weight.velocity
        item.restitution = weight.restitution
    bpy.ops.poise.bake()
    finish(scene, rig, "arm")
    return [rig]


def straight_arm(scene, shoulder: np.ndarray, length: float, radius: float):
    """A bone that hangs from a shoulder and turns about X alone, with a limb around it.

    Args:
        scene: the scene.
        shoulder: (3,) where it hangs.
        length: m.
        radius: m.
    """
    import bpy
    from mathutils import Vector
    from poise.addon.shots import objects

    data = bpy.data.armatures.new("Arm")
    rig = bpy.data.objects.new("Arm", data)
    rig.location = shoulder
    scene.collection.objects.link(rig)
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    made = data.edit_bones.new("arm")
    made.head, made.tail = (0.0, 0.0, 0.0), (0.0, 0.0, -length)
    made.align_roll(Vector((0.0, 1.0, 0.0)))  # its X is the world's, its Z ahead
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_cylinder_add(
        radius=radius, depth=length, location=shoulder - (0.0, 0.0, 0.5 * length)
    )
    limb = bpy.context.active_object
    limb.data.materials.append(objects.plain_material("Arm", (0.05, 0.20, 0.42)))
    limb.parent, limb.parent_type, limb.parent_bone = rig, "BONE", "arm"
    limb.matrix_world = [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0),
                         (*shoulder[:2], shoulder[2] - 0.5 * length, 1)]
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    bone = rig.pose.bones["arm"]
    bone.rotation_mode, bone.lock_rotation = "XYZ", (False, True, True)
    select(rig, ("arm",))
    return rig


def select(rig, names) -> None:
    """Select bones; the last one becomes the active one.

    Args:
        rig: the armature object.
        names: of the bones.
    """
    from poise.addon import compat

    for bone in rig.pose.bones:
        compat.select_bone(bone, bone.name in names)
    rig.data.bones.active = rig.data.bones[names[-1]]


def seen(rig, name: str) -> np.ndarray:
    """(4, 4) where a bone is in the world.

    Args:
        rig: the armature object.
        name: of the bone.
    """
    import bpy

    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(evaluated.matrix_world @ evaluated.pose.bones[name].matrix)


def reach(rig, hand, twist: float) -> None:
    """Pose the right arm by its hand's control, the chest turned, and select both.

    Args:
        rig: the armature object.
        hand: (3,) where the wrist is in the world.
        twist: of the chest to the left, rad.
    """
    import bpy
    from mathutils import Matrix

    control, chest = rig.pose.bones["hand_ik.R"], rig.pose.bones["chest"]
    chest.matrix_basis = chest.matrix_basis @ Matrix.Rotation(twist, 4, "Y")
    control.matrix = Matrix.Translation(hand) @ control.matrix.to_3x3().to_4x4()
    bpy.context.view_layer.update()
    select(rig, ARM)


def thrown(scene, place: np.ndarray):
    """A ball that comes from the front.

    Args:
        scene: the scene.
        place: (3,) where it crosses.

    Returns:
        The ball.
    """
    import bpy
    from poise.addon.shots import objects

    bpy.ops.mesh.primitive_uv_sphere_add(radius=BALL)
    ball = bpy.context.active_object
    ball.name = "Ball"
    ball.data.materials.append(objects.plain_material("Ball", (0.80, 0.30, 0.02)))
    start = place + (0.0, -5.0, 0.0)
    velocity = (place - start) / FLIGHT + (0.0, 0.0, 0.5 * 9.81 * FLIGHT)
    for frame in range(1, 2 + round(FLIGHT * scenes.FPS)):
        time = (frame - 1) / scenes.FPS
        ball.location = start + velocity * time - (0.0, 0.0, 0.5 * 9.81 * time**2)
        ball.keyframe_insert("location", frame=frame)
    rig = next(obj for obj in scene.objects if obj.type == "ARMATURE")
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    return ball


def carry(scene, rig, ball, caught: float) -> None:
    """Let the ball go along with the hand until it is thrown back.

    Args:
        scene: the scene.
        rig: the armature object.
        ball: the ball.
        caught: frame at which it is caught.
    """
    def palm(frame: int) -> np.ndarray:
        scene.frame_set(frame)
        hand = seen(rig, "hand.R")
        length = rig.data.bones["hand.R"].length
        return hand[:3, 3] + 0.7 * length * hand[:3, 1] + BALL * hand[:3, 2]

    held = {frame: palm(frame) for frame in range(round(caught), RELEASE + 1)}
    # It leaves with the speed of the hand, which is highest there.
    velocity = (held[RELEASE] - held[RELEASE - 1]) * scenes.FPS
    for frame in range(RELEASE + 1, scene.frame_end + 1):
        time = (frame - RELEASE) / scenes.FPS
        held[frame] = held[RELEASE] + velocity * time - (0.0, 0.0, 0.5 * 9.81 * time**2)
        held[frame][2] = max(held[frame][2], BALL)
    for frame, place in held.items():
        ball.location = place
        ball.keyframe_insert("location", frame=frame)


def finish(scene, rig, name: str = "pelvis") -> None:
    """Ground, sky and a camera from the side.

    Args:
        scene: the scene.
        rig: the armature object.
        name: of the bone that the camera looks at.
    """
    import bpy
    import look

    bpy.ops.object.mode_set(mode="OBJECT")
    scene.frame_set(scene.frame_end)
    far = seen(rig, name)[:3, 3]
    gait_scenes.field(
        scene, "Meadow", lambda x, y: 0.0 * x, (-30.0, min(far[1], 0.0) - 30.0), (30.0, 30.0), 2.0,
        (gait_scenes.GRASS, gait_scenes.GRASS),
    )
    look.set_sun(scene, -0.25 * pi)
    look.sky(scene, (0.0, 0.5 * far[1], 0.0), -0.25 * pi)
    scene.frame_set(1)
    look.camera(scene, (-4.2, -1.6, 1.35), (0.0, -0.6, 0.95), 40.0)
    scenes.activate(rig)


SCENES = {scene.__name__: scene for scene in (pose_timing, overlap, blocking)}
