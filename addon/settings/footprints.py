# SPDX-License-Identifier: GPL-3.0-or-later
"""Edited footprints as they are stored, and what an object that stands for a footprint knows.

Poses are Blender units, seen from the Motion object: they go with it.
"""

from collections.abc import Sequence
from math import cos, isfinite, isinf, sin

import bpy
import numpy as np
from bpy.props import (
    BoolProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...solvers.legged.edits import FootprintBefore, FootprintEdit, Pin
from ...solvers.motion import Placement
from ...solvers.rotations import about_z, rotate

OVERRIDE = {"LIBRARY_OVERRIDABLE"}

# Stored for times that never come, or were before all times.
NEVER = 1e9


def _number(name: str, description: str, **more):
    return FloatProperty(
        name=name, description=description, options=set(), override=OVERRIDE, **more
    )


def _place(name: str, description: str, **more):
    return FloatVectorProperty(
        name=name, description=description, size=3, options=set(), override=OVERRIDE, **more
    )


def _flag(name: str, description: str):
    return BoolProperty(name=name, description=description, options=set(), override=OVERRIDE)


class PoiseFootprint(bpy.types.PropertyGroup):
    """What was changed about one footprint; its name is leg and step."""

    leg: StringProperty(
        name="Leg", description="Name of the leg", options=set(), override=OVERRIDE
    )
    index: IntProperty(
        name="Step", description="Number of the leg's step, from 0", min=0, options=set(),
        override=OVERRIDE,
    )
    has_location: _flag("Moved", "It stands elsewhere")
    location: _place(
        "Location", "Where it stands, seen from the Motion object", subtype="TRANSLATION",
        unit="LENGTH",
    )
    has_yaw: _flag("Turned", "It points elsewhere")
    yaw: _number(
        "Direction", "Which way it points, seen from the Motion object", subtype="ANGLE"
    )
    has_normal: _flag("Tilted", "It has a slope of its own, not the ground's")
    normal: _place(
        "Normal", "Which way its upper side faces, seen from the Motion object",
        default=(0.0, 0.0, 1.0), subtype="DIRECTION",
    )
    has_on: _flag("Own Touchdown", "It touches down at another time")
    on: _number("Touchdown", "Seconds from the motion's start", unit="TIME_ABSOLUTE", precision=3)
    has_off: _flag("Own Liftoff", "It lifts off at another time")
    off: _number("Liftoff", "Seconds from the motion's start", unit="TIME_ABSOLUTE", precision=3)
    was_location: _place("Location Before", "Where it stood when it was edited", unit="LENGTH")
    was_yaw: _number("Direction Before", "Which way it pointed then", subtype="ANGLE")
    was_on: _number("Touchdown Before", "When it touched down then", unit="TIME_ABSOLUTE")
    was_off: _number("Liftoff Before", "When it lifted off then", unit="TIME_ABSOLUTE")

    def store(self, edit: FootprintEdit, placement: Placement, unit_scale: float) -> None:
        """Take over an edit of the solver's.

        Args:
            edit: the edit, in the world and SI units.
            placement: of the Motion object.
            unit_scale: metres per Blender unit.
        """
        self.leg, self.index = edit.leg, edit.index
        self.name = f"{edit.leg} {edit.index}"
        self.has_location = edit.position is not None
        if edit.position is not None:
            self.location = _seen(edit.position, placement) / unit_scale
        self.has_yaw = edit.yaw is not None
        if edit.yaw is not None:
            self.yaw = edit.yaw - placement.yaw
        self.has_normal = edit.normal is not None
        if edit.normal is not None:
            self.normal = rotate(about_z(np.array(-placement.yaw)), np.asarray(edit.normal))
        self.has_on, self.has_off = edit.on is not None, edit.off is not None
        self.on = _stored(edit.on or 0.0)
        self.off = _stored(edit.off or 0.0)
        if edit.was is not None:
            self.was_location = _seen(edit.was.position, placement) / unit_scale
            self.was_yaw = edit.was.yaw - placement.yaw
            self.was_on, self.was_off = _stored(edit.was.on), _stored(edit.was.off)

    def to_edit(self, placement: Placement, unit_scale: float) -> FootprintEdit:
        """The edit in the world and SI units, for the solver.

        Args:
            placement: of the Motion object.
            unit_scale: metres per Blender unit.
        """
        spin = about_z(np.array(placement.yaw))
        normal = rotate(spin, np.array(self.normal, dtype=float))
        return FootprintEdit(
            self.leg,
            self.index,
            position=_in_world(self.location, placement, unit_scale) if self.has_location else None,
            yaw=self.yaw + placement.yaw if self.has_yaw else None,
            normal=normal if self.has_normal else None,
            on=_time(self.on) if self.has_on else None,
            off=_time(self.off) if self.has_off else None,
            was=FootprintBefore(
                _in_world(self.was_location, placement, unit_scale),
                self.was_yaw + placement.yaw,
                _time(self.was_on),
                _time(self.was_off),
            ),
        )


class PoiseFootprintPin(bpy.types.PropertyGroup):
    """State of the body at an end of a part that was solved again."""

    time: FloatProperty(name="Time", description="Seconds from the start", options=set())
    location: FloatVectorProperty(name="Location", description="Of the body's centre", size=3)
    yaw: FloatProperty(name="Direction", description="Of the body", subtype="ANGLE")
    velocity: FloatVectorProperty(name="Velocity", description="Of the body's centre", size=3)

    def store(self, pin: Pin, placement: Placement, unit_scale: float) -> None:
        """Take over a state of the solver's.

        Args:
            pin: the state, in the world and SI units.
            placement: of the Motion object.
            unit_scale: metres per Blender unit.
        """
        back = about_z(np.array(-placement.yaw))
        self.name = f"{pin.time:.3f} s"
        self.time, self.yaw = pin.time, pin.yaw - placement.yaw
        self.location = _seen(pin.position, placement) / unit_scale
        self.velocity = rotate(back, pin.velocity) / unit_scale

    def to_pin(self, placement: Placement, unit_scale: float) -> Pin:
        """The state in the world and SI units.

        Args:
            placement: of the Motion object.
            unit_scale: metres per Blender unit.
        """
        spin = about_z(np.array(placement.yaw))
        return Pin(
            self.time,
            _in_world(self.location, placement, unit_scale),
            self.yaw + placement.yaw,
            rotate(spin, np.array(self.velocity, dtype=float)) * unit_scale,
        )


class PoiseFootprintObject(bpy.types.PropertyGroup):
    """Which footprint an object stands for, and how it was given to the animator."""

    motion: PointerProperty(
        name="Motion", description="Motion object whose footprint this is", type=bpy.types.Object
    )
    leg: StringProperty(name="Leg", description="Name of the leg", options=set())
    index: IntProperty(
        name="Step", description="Number of the leg's step, from 0", options=set()
    )
    on: FloatProperty(
        name="Touchdown",
        description="When the foot touches down, in seconds from the motion's start; Adapt takes "
        "it over",
        unit="TIME_ABSOLUTE",
        precision=3,
        step=2,
        options=set(),
    )
    off: FloatProperty(
        name="Liftoff",
        description="When the foot lifts off, in seconds from the motion's start; Adapt takes it "
        "over",
        unit="TIME_ABSOLUTE",
        precision=3,
        step=2,
        options=set(),
    )
    given_location: FloatVectorProperty(size=3, options=set())
    given_turn: FloatVectorProperty(size=4, options=set())
    given_on: FloatProperty(options=set())
    given_off: FloatProperty(options=set())


def edits_of(
    footprints: Sequence[PoiseFootprint], placement: Placement, unit_scale: float
) -> tuple[FootprintEdit, ...]:
    """Edits in the world and SI units, for the solver.

    Args:
        footprints: the stored ones.
        placement: of the Motion object.
        unit_scale: metres per Blender unit.
    """
    return tuple(item.to_edit(placement, unit_scale) for item in footprints)


def _seen(place: np.ndarray, placement: Placement) -> np.ndarray:
    back = about_z(np.array(-placement.yaw))
    return rotate(back, np.asarray(place, dtype=float) - placement.origin)


def _in_world(place, placement: Placement, unit_scale: float) -> np.ndarray:
    c, s = cos(placement.yaw), sin(placement.yaw)
    x, y, z = (float(part) * unit_scale for part in place)
    return np.asarray(placement.origin) + (c * x - s * y, s * x + c * y, z)


def _stored(time: float) -> float:
    if isfinite(time):
        return time
    return NEVER if isinf(time) and time > 0.0 else -NEVER


def _time(stored: float) -> float:
    return stored if abs(stored) < 0.5 * NEVER else float("inf") * (1.0 if stored > 0.0 else -1.0)


CLASSES = (PoiseFootprint, PoiseFootprintPin, PoiseFootprintObject)
