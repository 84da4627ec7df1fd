# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets for controllers: where each leads, over which states, and the script.

Items of lists cannot be animated: places in a list change. What a state is made of depends on
the figure; a value's name is its coordinate's, and the figure says what that is.
"""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..mapping.rows import Row
from .rows import OVERRIDE, Rows

TABLE = "controller_{}"
"""Custom property of a Motion object that holds the table of one of its controllers."""


def _get(self):
    return self.value


def _set(self, value):
    self.value = value


class PoiseStateValue(bpy.types.PropertyGroup):
    """A coordinate's value; its name is the coordinate's."""

    value: FloatProperty(
        name="Value", description="Value of the coordinate: radians, radians per second, or "
        "lengths in Blender units", options=set(), override=OVERRIDE,
    )
    free: BoolProperty(
        name="Free", description="Leave this coordinate as it comes", default=False, options=set(),
        override=OVERRIDE,
    )
    # The same value, shown in its unit.
    angle: FloatProperty(
        name="Angle", description="Value of the coordinate", subtype="ANGLE", get=_get, set=_set,
    )
    length: FloatProperty(
        name="Length", description="Value of the coordinate", unit="LENGTH", get=_get, set=_set,
    )


class PoiseDestination(bpy.types.PropertyGroup):
    """A state, or several: where a controller leads."""

    values: CollectionProperty(
        type=PoiseStateValue, name="Values", description="Values of the coordinates",
        override={*OVERRIDE, "USE_INSERTION"},
    )


def _low(self):
    return self.low


def _high(self):
    return self.high


def _set_low(self, value):
    self.low = value


def _set_high(self, value):
    self.high = value


class PoiseSpan(bpy.types.PropertyGroup):
    """How a coordinate or a control is sampled; its name is the coordinate's."""

    low: FloatProperty(
        name="Least", description="Least value: radians, radians per second, Blender units or N m",
        options=set(), override=OVERRIDE,
    )
    high: FloatProperty(
        name="Largest", description="Largest value", options=set(), override=OVERRIDE,
    )
    low_angle: FloatProperty(
        name="Least", description="Least value", subtype="ANGLE", get=_low, set=_set_low,
    )
    high_angle: FloatProperty(
        name="Largest", description="Largest value", subtype="ANGLE", get=_high, set=_set_high,
    )
    count: IntProperty(
        name="Steps", description="How many values from the least to the largest", default=11,
        min=2, soft_max=61, max=100_000, options=set(), override=OVERRIDE,
    )
    effort: FloatProperty(
        name="Effort", description="K: what a second of one N m costs, in seconds. Little finds "
        "the quickest way, much the easiest", default=0.1, min=0.0, soft_max=1.0, options=set(),
        override=OVERRIDE,
    )
    held: FloatProperty(
        name="Held", description="Torque of the joint's muscle while the motor program lasts, N m; "
        "0 lets it swing freely", default=0.0, soft_min=-50.0, soft_max=50.0, options=set(),
        override=OVERRIDE,
    )
    ends: EnumProperty(
        name="Beyond", description="What is beyond the least and the largest value of a coordinate",
        items=(
            ("AUTO", "Automatic", "A joint that can turn all the way round begins anew, all else "
             "ends", 0),
            ("WRAP", "Begins Anew", "Beyond the largest value it is as from the least one on: what "
             "is between them is the period, such as the length of a hop, or the angle between "
             "two spokes", 1),
            ("STOP", "Ends", "Nothing is known beyond", 2),
        ),
        options=set(), override=OVERRIDE,
    )


class PoiseRange(bpy.types.PropertyGroup):
    """From where to where a coordinate is within a region; its name is the coordinate's."""

    use: BoolProperty(
        name="Limit", description="Limit this coordinate; any value of the others is within",
        default=False, options=set(), override=OVERRIDE,
    )
    low: FloatProperty(
        name="From", description="Least value: radians, radians per second, or lengths in Blender "
        "units", options=set(), override=OVERRIDE,
    )
    high: FloatProperty(
        name="To", description="Largest value; an angle that goes round may end below where it "
        "begins", options=set(), override=OVERRIDE,
    )
    low_angle: FloatProperty(
        name="From", description="Least value", subtype="ANGLE", get=_low, set=_set_low,
    )
    high_angle: FloatProperty(
        name="To", description="Largest value; an angle that goes round may end below where it "
        "begins", subtype="ANGLE", get=_high, set=_set_high,
    )
    low_length: FloatProperty(
        name="From", description="Least value", unit="LENGTH", get=_low, set=_set_low,
    )
    high_length: FloatProperty(
        name="To", description="Largest value", unit="LENGTH", get=_high, set=_set_high,
    )


class PoiseController(bpy.types.PropertyGroup):
    """Where a figure is to end, and by what means; its name is the animator's."""

    number: IntProperty(name="Number", description="Which stored table it is", options=set())
    destinations: CollectionProperty(
        type=PoiseDestination, name="Destinations",
        description="Where it leads: the easiest of them is taken",
        override={*OVERRIDE, "USE_INSERTION"},
    )
    domain: CollectionProperty(
        type=PoiseSpan, name="Domain", description="The states that it is for, and how finely "
        "they are sampled", override={*OVERRIDE, "USE_INSERTION"},
    )
    torques: CollectionProperty(
        type=PoiseSpan, name="Torques", description="What the figure's muscles may do",
        override={*OVERRIDE, "USE_INSERTION"},
    )
    power: FloatProperty(
        name="Denser", description="How much denser the states are towards the destination; 1 "
        "spaces them evenly", default=1.2, min=1.0, max=4.0, soft_max=2.0, options=set(),
        override=OVERRIDE,
    )
    program: StringProperty(
        name="Program", description="A motor program of the figure, in place of a table; empty "
        "for a controller", options=set(), override=OVERRIDE,
    )
    amount: FloatProperty(
        name="Length", description="How far a jump goes; backwards below 0", unit="LENGTH",
        soft_min=-1.5, soft_max=1.5, options=set(), override=OVERRIDE,
    )
    drop: FloatProperty(
        name="Drop", description="By how much a jump comes down: a step half-way between where "
        "it begins and lands", unit="LENGTH", soft_min=0.0, soft_max=0.3, options=set(),
        override=OVERRIDE,
    )
    found: FloatVectorProperty(
        name="Found", description="The motor program that was found, after the length and the "
        "drop that it is for, in lengths of the usual figure; 0 for the one that comes with it",
        size=14, options=set(), override=OVERRIDE,
    )


class PoiseScriptLine(bpy.types.PropertyGroup):
    """A controller, and for how long."""

    controller: StringProperty(
        name="Controller", description="Name of the controller", options=set(), override=OVERRIDE,
    )
    others: StringProperty(
        name="Or", description="Further controllers, with commas between them: one of all is drawn "
        "at random, by the Seed", options=set(), override=OVERRIDE,
    )
    until: EnumProperty(
        name="Until", description="When the next one takes over",
        items=(
            ("TIME", "Time", "After some seconds", 0),
            ("REACHED", "Reached", "Once the destination is reached, at the latest after some "
             "seconds", 1),
            ("REGION", "Region", "Once the state is within the region, at the latest after some "
             "seconds", 2),
            ("WHENEVER", "While in Region", "It has no turn: it takes over whenever the state "
             "is within the region, whatever line's turn it is, and gives back where it leaves", 3),
        ),
        options=set(), override=OVERRIDE,
    )
    seconds: FloatProperty(
        name="Seconds", description="For how long, at the most", default=1.0, min=0.001,
        soft_max=10.0, max=1e5, unit="TIME_ABSOLUTE", options=set(), override=OVERRIDE,
    )
    region: CollectionProperty(
        type=PoiseRange, name="Region", description="The states by which it ends, or in which it "
        "takes over", override={*OVERRIDE, "USE_INSERTION"},
    )


class PoiseControl(Rows, bpy.types.PropertyGroup):
    """Controllers, and the script that takes them in turn."""

    ROWS = (
        Row("slew", 0.0, "How fast torques may change, in shares of their range per second; 0 lets "
            "them jump", label="Slew", ends=(0.0, 1e4), slider=(None, 50.0)),
        Row("seed", 0, "Another seed draws other controllers where a line of the script names "
            "several", ends=(0, None)),
        Row("clearance", 0.06, "How far the middle lines of links keep off obstacles: half their "
            "thickness, and some", label="Clearance", slider=(None, 0.2), ends=(0.0, None),
            unit="LENGTH"),
        Row("contacts", False, "Obstacles are solid: links bump into them, lie on them, lean "
            "against them and slide along them"),
        Row("ground", True, "The ground, at height 0 of the world, is solid, too"),
        Row("thickness", 0.1, "Of links from side to side, where they touch something; their ends "
            "are round", slider=(None, 0.5), ends=(1e-3, 100.0), unit="LENGTH"),
        Row("friction", 0.5, "How rough what links touch is: the share of what presses them "
            "there that holds them; 0 is ice", slider=(None, 1.5), ends=(0.0, 10.0)),
    )

    start: CollectionProperty(
        type=PoiseStateValue, name="Start", description="The state that the motion begins with; "
        "empty for the rest pose", override={*OVERRIDE, "USE_INSERTION"},
    )
    controllers: CollectionProperty(
        type=PoiseController, name="Controllers", description="Controllers of this motion",
        override={*OVERRIDE, "USE_INSERTION"},
    )
    controller_index: IntProperty(
        name="Controller", description="Chosen controller", options=set()
    )
    script: CollectionProperty(
        type=PoiseScriptLine, name="Script", description="Which controller, for how long, in order",
        override={*OVERRIDE, "USE_INSERTION"},
    )
    script_index: IntProperty(name="Line", description="Chosen line", options=set())
    street: PointerProperty(
        name="Street", description="Of a car: a mesh that covers the street, its X axis along it, "
        "the way the traffic goes; its right edge is the kerb",
        type=bpy.types.Object, options=set(), override=OVERRIDE,
    )
    obstacles: PointerProperty(
        name="Obstacles", description="Collection of what may not be touched, such as parked cars, "
        "or blocks in a pendulum's way; taken as it stands at the current frame",
        type=bpy.types.Collection, options=set(), override=OVERRIDE,
    )
    next_number: IntProperty(
        name="Next Number", description="Number of the next stored table", options=set()
    )


CLASSES = (
    PoiseStateValue, PoiseDestination, PoiseSpan, PoiseRange, PoiseController, PoiseScriptLine,
    PoiseControl,
)
