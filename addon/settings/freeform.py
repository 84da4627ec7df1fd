# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets for free-form motion: postures, when they are taken, and who bears them.

Items of lists cannot be animated: places in a list change.
"""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    FloatProperty,
    IntProperty,
    IntVectorProperty,
    PointerProperty,
    StringProperty,
)

from ..mapping.rows import Row
from .rows import OVERRIDE, Rows

BODY_POSTURE = "body_posture_{}"
"""Custom property of a Motion object that holds one of its postures of the whole body."""

DISTANCE = "poise_motion.freeform.distance"
"""Data path of Distance on a Motion object."""


def _is_mesh(self, other):
    return other.type == "MESH"


class PoiseSupport(bpy.types.PropertyGroup):
    """A leg or an arm in a posture; its name is the limb's."""

    bears: BoolProperty(
        name="Bears", description="The limb's end is on the ground and bears the body",
        default=False, options=set(), override=OVERRIDE,
    )


class PoiseBodyPosture(bpy.types.PropertyGroup):
    """A posture of the whole body; its name is the animator's."""

    frame: FloatProperty(
        name="Frame", description="When the posture is taken", default=1.0, precision=1,
        options=set(), override=OVERRIDE,
    )
    supports: CollectionProperty(
        type=PoiseSupport, name="Supports", description="Legs and arms, and which of them bear "
        "the body; where none does, the posture is taken in the air",
        override={*OVERRIDE, "USE_INSERTION"},
    )
    turns: IntVectorProperty(
        name="Whole Turns", description="Whole turns of the body on the way to this posture, "
        "beyond the shorter way: somersaults forward, cartwheels to the right, and turns to "
        "the left, as the Motion object faces",
        size=3, default=(0, 0, 0), soft_min=-3, soft_max=3, options=set(), override=OVERRIDE,
    )
    number: IntProperty(
        name="Number", description="Which stored posture it is", options=set()
    )
    source: StringProperty(
        name="Source", description="Where the posture was taken from", options=set()
    )
    asset: PointerProperty(
        name="Pose Asset", description="The pose asset that the posture was taken from",
        type=bpy.types.Action, options=set(),
    )

    @property
    def standing(self) -> tuple[str, ...]:
        """Names of the limbs that bear the body."""
        return tuple(item.name for item in self.supports if item.bears)


class PoiseFreeform(Rows, bpy.types.PropertyGroup):
    """A body that goes through postures, on the ground and in the air."""

    ROWS = (
        Row("timing", "FRAMES", "What tells when the postures are taken", label="Timing",
            choices=(
                ("FRAMES", "Frames", "Each posture has its frame", 0),
                ("DISTANCE", "Distance", "The postures lie along a path, and its speed is "
                 "designed apart from it", 1),
            )),
        Row("pace", "MINIMUM_JERK", "How far along the path it is over the motion's range",
            label="Speed",
            choices=(
                ("MINIMUM_JERK", "Minimum Jerk", "From rest to rest as smoothly as can be, as a "
                 "hand reaches", 0),
                ("EVEN", "Even", "The same speed all the way", 1),
                ("EASE", "Ease", "Slow at both ends", 2),
                ("ACCENT", "Accent", "Gathered, then quick", 3),
                ("HOLD", "Hold", "Stops half-way", 4),
                ("CURVE", "Curve", "As Distance is keyed, in the Graph Editor", 5),
            )),
        Row("distance", 0.0, "Share of the path that is gone: 0 at the first posture, 1 at the "
            "last. Key it, and edit the curve in the Graph Editor", slider=(0.0, 1.0),
            unit="FACTOR", keyed=True, label="Distance"),
        Row("end_speed", 0.0, "Speed ahead with which the last posture is left, for a motion "
            "that goes on from this one", slider=(None, 5.0), unit="VELOCITY",
            ends=(-20.0, 20.0), label="End Speed"),
        Row("end_path", 0.0, "What leads a limb: at 0 its joints, which turn evenly from posture "
            "to posture, at 1 its end, along a smooth curve, and between them a blend",
            slider=(0.0, 1.0), ends=(0.0, 1.0), unit="FACTOR", label="Path of End"),
        Row("blend_in", 0.25, "Seconds in which a limb goes over from what plays below",
            slider=(0.0, 2.0), ends=(0.0, None), unit="TIME_ABSOLUTE", label="Blend In"),
        Row("blend_out", 0.0, "Seconds in which a limb goes back to what plays below; at 0 it "
            "stays with the postures to the end", slider=(0.0, 2.0), ends=(0.0, None),
            unit="TIME_ABSOLUTE", label="Blend Out"),
    )

    limb: StringProperty(
        name="Limb", description="Whose postures these are: arm.L, leg.R, hind.L, neck, tail ...; "
        "empty for the whole body", options=set(), override=OVERRIDE,
    )

    terrain: PointerProperty(
        name="Terrain", description="The mesh that supports stand on, with its modifiers; the "
        "postures are made as on level ground. Without one the ground is level",
        type=bpy.types.Object, poll=_is_mesh,
    )
    postures: CollectionProperty(
        type=PoiseBodyPosture, name="Postures", description="Postures of the whole body, in the "
        "order in which they are taken", override={*OVERRIDE, "USE_INSERTION"},
    )
    posture_index: IntProperty(name="Posture", description="Chosen posture", options=set())
    next_number: IntProperty(
        name="Next Number", description="Number of the next stored posture", options=set()
    )

    show_lines: BoolProperty(
        name="Lines in Graph Editor", description="Draw a line in the Graph Editor at each "
        "distance at which a posture lies, with its name", default=True, options=set(),
    )
    lost: StringProperty(
        name="Lost", description="What is lost of the clip that the postures were taken from, "
        "a line for each part", options=set(),
    )

    def begin(self, kind: str, unit_scale: float) -> None:
        """Nothing depends on who it is."""


CLASSES = (PoiseSupport, PoiseBodyPosture, PoiseFreeform)
