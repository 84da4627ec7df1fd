# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets for pose timing: poses and their frames, and what disturbs them.

Items of lists cannot be animated: places in a list change.
"""

import bpy
from bpy.props import (
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...solvers.posing.settings import NUMBERS, PoseSettings
from ..mapping.rows import FINE, Row
from .rows import OVERRIDE, Rows, known

POSTURE = "posture_{}"
"""Custom property of a Motion object that holds the posture of one of its targets."""


class PoiseTarget(bpy.types.PropertyGroup):
    """A pose and the frame it is reached at; its name is the animator's."""

    frame: FloatProperty(
        name="Frame", description="When the pose is reached", default=1.0, precision=1,
        options=set(), override=OVERRIDE,
    )
    hold: FloatProperty(
        name="Hold", description="How long it is held before the next one is set out for",
        default=0.0, min=0.0, soft_max=5.0, unit="TIME_ABSOLUTE", options=set(),
        override=OVERRIDE,
    )
    number: IntProperty(
        name="Number", description="Which stored posture it is", options=set()
    )
    source: StringProperty(
        name="Source", description="Where the pose was taken from", options=set()
    )
    linked: PointerProperty(  # else Blender would drop it when the file is saved
        name="Linked", description="The linked pose asset that the pose was taken from",
        type=bpy.types.Action, options=set(),
    )


class PoisePosedBone(bpy.types.PropertyGroup):
    """What is set for one bone; its name is the bone's."""

    blend: FloatProperty(
        name="Blend", description="How much of the physical motion the bone has: 0 leaves it as "
        "it is keyed", default=1.0, min=0.0, max=1.0, subtype="FACTOR", options=set(),
        override=OVERRIDE,
    )
    mass: FloatProperty(
        name="Mass", description="Mass of the limb; 0 takes it from length and thickness",
        default=0.0, min=0.0, soft_max=50.0, unit="MASS", options=set(), override=OVERRIDE,
    )
    thickness: FloatProperty(
        name="Thickness", description="Diameter of the limb; 0 takes 15 % of the bone's length",
        default=0.0, min=0.0, soft_max=1.0, unit="LENGTH", options=set(), override=OVERRIDE,
    )


class PoiseDisturbance(bpy.types.PropertyGroup):
    """Something that happens to the figure."""

    kind: EnumProperty(
        name="Kind",
        description="What happens",
        items=(
            ("BALL", "Ball", "A ball is thrown, falls freely and knocks limbs that it meets", 0),
            ("PUSH", "Push", "A force acts on a bone for a while", 1),
            ("SHAKE", "Shake", "What carries the limbs is felt to be shaken to and fro", 2),
        ),
        options=set(),
        override=OVERRIDE,
    )
    frame: FloatProperty(
        name="Frame", description="When the ball is let go, or the push or shake begins",
        default=1.0, precision=1, options=set(), override=OVERRIDE,
    )
    place: FloatVectorProperty(
        name="Place", description="Where the ball is let go", size=3, subtype="TRANSLATION",
        unit="LENGTH", options=set(), override=OVERRIDE,
    )
    velocity: FloatVectorProperty(
        name="Velocity", description="Velocity of the ball then", size=3, subtype="VELOCITY",
        unit="VELOCITY", options=set(), override=OVERRIDE,
    )
    mass: FloatProperty(
        name="Mass", description="Mass of the ball", default=1.0, min=1e-3, soft_max=20.0,
        unit="MASS", options=set(), override=OVERRIDE,
    )
    radius: FloatProperty(
        name="Radius", description="Radius of the ball", default=0.1, min=1e-4, soft_max=1.0,
        unit="LENGTH", options=set(), override=OVERRIDE,
    )
    restitution: FloatProperty(
        name="Bounce", description="Share of its speed with which the ball leaves a limb",
        default=0.3, min=0.0, max=1.0, subtype="FACTOR", options=set(), override=OVERRIDE,
    )
    bone: StringProperty(
        name="Bone", description="The bone that is pushed, at its tail", options=set(),
        override=OVERRIDE,
    )
    force: FloatVectorProperty(
        name="Force", description="Force of the push, newtons in the world's axes", size=3,
        default=(0.0, 20.0, 0.0), options=set(), override=OVERRIDE,
    )
    frames: FloatProperty(
        name="Frames", description="How long it is pushed or shaken", default=4.0, min=0.01,
        soft_max=48.0, precision=1, options=set(), override=OVERRIDE,
    )
    amplitude: FloatVectorProperty(
        name="Amplitude", description="How far it is shaken, in the world's axes", size=3,
        default=(0.0, 0.0, 0.03), subtype="TRANSLATION", unit="LENGTH", options=set(),
        override=OVERRIDE,
    )
    frequency: FloatProperty(
        name="Frequency", description="How often it is shaken", default=4.0, min=0.1,
        soft_max=12.0, max=100.0, unit="FREQUENCY", options=set(), override=OVERRIDE,
    )
    ball: PointerProperty(
        name="Ball", description="The ball as the bake has keyed it", type=bpy.types.Object,
        options=set(),
    )


class PoiseOverlap(bpy.types.PropertyGroup):
    """A chain that swings after what carries it; its name is that of its first bone."""

    settle: FloatProperty(
        name="Settle Time", description="Seconds in which it comes back to its keyed pose",
        default=0.2, min=0.02, soft_max=3.0, max=60.0, unit="TIME_ABSOLUTE", options=set(),
        override=OVERRIDE,
    )
    ratio: FloatProperty(
        name="Damping Ratio", description="1 comes back without swinging past, less swings",
        default=1.0, min=0.05, max=1.0, options=set(), override=OVERRIDE,
    )


class PoisePoseTiming(Rows, bpy.types.PropertyGroup):
    """Poses that are reached on their frames, under physics."""

    PARAMS = PoseSettings
    ROWS = known(
        NUMBERS,
        Row("tension", 0.02, "How much of the way to its set-point is left when a joint is in its "
            "pose: little arrives softly, much arrives tensely", slider=(0.005, 0.3), more=FINE),
        Row("ratio", 1.0, "1 arrives without swinging, less lets joints swing loosely on their "
            "way", slider=(0.2, 1.0)),
        Row("gain", "FIRM", "Where two gains lead to the pose, which one is taken", label="Gain",
            choices=(("FIRM", "Firmer", "The stiffer one, which swings out less", 0),
                     ("SOFT", "Softer", "The looser one", 1))),
        Row("settle", 0.5, "Seconds in which a joint that is held comes back from where it was "
            "knocked", slider=(0.05, 3.0), unit="TIME_ABSOLUTE"),
        Row("gravity", 0.0, "Share of gravity that limbs feel; at 0 the joints hold it up",
            slider=(0.0, 1.0), unit="FACTOR"),
        Row("drag", 0.0, "Slows limbs down in the air, per second", slider=(None, 5.0)),
    )

    targets: CollectionProperty(
        type=PoiseTarget, name="Targets", description="Poses and the frames they are reached on",
        override={*OVERRIDE, "USE_INSERTION"},
    )
    target_index: IntProperty(name="Target", description="Chosen target", options=set())
    bones: CollectionProperty(
        type=PoisePosedBone, name="Bones", description="Bones with settings of their own",
        override={*OVERRIDE, "USE_INSERTION"},
    )
    bone_index: IntProperty(name="Bone", description="Chosen bone", options=set())
    disturbances: CollectionProperty(
        type=PoiseDisturbance, name="Disturbances", description="Balls and pushes",
        override={*OVERRIDE, "USE_INSERTION"},
    )
    disturbance_index: IntProperty(
        name="Disturbance", description="Chosen disturbance", options=set()
    )
    overlaps: CollectionProperty(
        type=PoiseOverlap, name="Overlaps", description="Chains that swing after what carries them",
        override={*OVERRIDE, "USE_INSERTION"},
    )
    overlap_index: IntProperty(name="Overlap", description="Chosen chain", options=set())
    next_number: IntProperty(
        name="Next Number", description="Number of the next stored posture", options=set()
    )


CLASSES = (PoiseTarget, PoisePosedBone, PoiseDisturbance, PoiseOverlap, PoisePoseTiming)
