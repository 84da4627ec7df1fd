# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets for a motion along a path. Values are Blender units."""

from math import inf, radians

import bpy
import numpy as np
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
)

from ...solvers.motion import Placement
from ...solvers.path.settings import CALM, NUMBERS, WHOLE, PathSettings
from .ends import ends
from .turns import STARTING_LIMITS, STARTING_PATH

OVERRIDE = {"LIBRARY_OVERRIDABLE"}

# Setting -> power of the length unit in it; see turns.LENGTH_POWER.
LENGTH_POWER = {
    "speed": 1,
    "max_curvature": -1,
    "max_curvature_rate": -1,
    "clearance": 1,
    "drag_area": 2,
    "speed_limit": 1,
    "braking": 1,
    "terrain_smoothing": 1,
    "calm": 1,
}
ANIMATED = ("speed",)

# What the solver calls a setting -> what it is called here.
NAMES = {"max_lean": "lean_limit", "stage": "stage_time", "most_speed": "speed_limit",
         "effort": "calm"}


def _is_curve(self, obj):
    return obj.type == "CURVE"


def _is_mesh(self, obj):
    return obj.type == "MESH"


def _place_poles(self, context):
    """Poles stand at the ends of the gate."""
    poles = sorted((child for child in self.id_data.children if child.type == "MESH"),
                   key=lambda child: child.name)
    for pole, side in zip(poles, (0.5, -0.5), strict=False):
        pole.location.x = side * self.width


class PoiseGate(bpy.types.PropertyGroup):
    """A gate: an Empty, its poles to both sides along its X axis."""

    is_gate: BoolProperty(
        name="Gate", description="This Empty is a gate to be passed", default=False
    )
    width: FloatProperty(
        name="Gate Width",
        description="Distance between the poles",
        default=4.0,
        min=0.0,
        soft_min=0.5,
        soft_max=20.0,
        unit="LENGTH",
        options=set(),
        update=_place_poles,
    )
    number: IntProperty(
        name="Gate Number",
        description="Gates are passed in the order of their numbers",
        default=1,
        min=0,
        options=set(),
    )


class PoisePath(bpy.types.PropertyGroup):
    """A motion along a curve, among obstacles and through gates."""

    curve: PointerProperty(
        name="Path",
        description="The curve to follow, from its first point to its last",
        type=bpy.types.Object,
        poll=_is_curve,
    )
    terrain: PointerProperty(
        name="Terrain",
        description="The mesh to move on, with its modifiers: the path is projected onto it, "
        "straight up or down. Without one the ground is level",
        type=bpy.types.Object,
        poll=_is_mesh,
    )
    obstacles: PointerProperty(
        name="Obstacles",
        description="Collection of what may not be touched: meshes by their footprint near the "
        "ground, Empties as discs, curves and meshes without faces as walls",
        type=bpy.types.Collection,
    )
    gates: PointerProperty(
        name="Gates",
        description="Collection of the gates that are passed, in the order of their numbers",
        type=bpy.types.Collection,
    )
    laps: IntProperty(
        name="Laps",
        description="How often a closed path is gone around",
        default=1,
        min=1,
        soft_max=10,
        max=1000,
        options=set(),
        override=OVERRIDE,
    )
    speed_mode: EnumProperty(
        name="Speed From",
        description="Where the speed over terrain comes from",
        items=(
            ("KEYED", "Keyed Speed", "The speed below, which can be keyframed"),
            (
                "TERRAIN",
                "Terrain",
                "Gravity along the terrain against friction, air drag and brakes, from the "
                "speed below",
            ),
        ),
        options=set(),
        override=OVERRIDE,
    )
    friction: FloatProperty(
        name="Friction",
        description="Coefficient of friction with the ground, or of rolling resistance: 0.05 for "
        "a waxed ski that glides, 0.2 and more for skidded turns, 0.004 for a bicycle on a road",
        default=0.08,
        **ends(NUMBERS["friction"]),
        soft_max=0.5,
        precision=3,
        step=1,
        options=set(),
        override=OVERRIDE,
    )
    drag_area: FloatProperty(
        name="Drag Area",
        description="Air drag: frontal area times drag coefficient; 0.15 in a tuck, 0.6 upright",
        default=0.45,
        min=0.0,
        soft_max=1.5,
        precision=3,
        step=1,
        unit="AREA",
        options=set(),
        override=OVERRIDE,
    )
    speed_limit: FloatProperty(
        name="Speed Limit",
        description="Speed above which it brakes",
        default=12.0,
        min=0.5,
        soft_min=2.0,
        soft_max=40.0,
        unit="VELOCITY",
        options=set(),
        override=OVERRIDE,
    )
    braking: FloatProperty(
        name="Braking",
        description="Largest deceleration by braking; 0 never brakes. 2 is a gentle snowplough, "
        "6 a hard stop with skis across",
        default=4.0,
        min=0.0,
        soft_max=8.0,
        unit="ACCELERATION",
        options=set(),
        override=OVERRIDE,
    )
    terrain_smoothing: FloatProperty(
        name="Terrain Smoothing",
        description="Length over which the terrain is evened out for the body, about that of a "
        "ski; what is shorter the legs take",
        default=2.0,
        min=0.2,
        soft_max=6.0,
        max=100.0,
        unit="LENGTH",
        options=set(),
        override=OVERRIDE,
    )
    speed: FloatProperty(
        name="Speed",
        description="Speed of the centre of mass; where the terrain makes the speed, that at the "
        "start",
        default=8.0,
        min=0.0,
        soft_min=1.0,
        soft_max=25.0,
        unit="VELOCITY",
        override=OVERRIDE,
    )
    lean_limit: FloatProperty(
        name="Lean Limit",
        description="Largest lean that a plan may use",
        default=radians(30.0),
        **ends(NUMBERS["max_lean"]),
        soft_min=radians(5.0),
        soft_max=radians(60.0),
        subtype="ANGLE",
        options=set(),
        override=OVERRIDE,
    )
    max_curvature: FloatProperty(
        name="Curvature Limit",
        description="Largest curvature of the track, one over the smallest radius",
        default=0.25,
        min=0.0,
        soft_min=0.02,
        soft_max=2.0,
        precision=3,
        step=1,
        options=set(),
        override=OVERRIDE,
    )
    max_curvature_rate: FloatProperty(
        name="Curvature Rate Limit",
        description="How fast the curvature can change, per second",
        default=1.0,
        min=0.0,
        soft_min=0.05,
        soft_max=10.0,
        precision=3,
        step=1,
        options=set(),
        override=OVERRIDE,
    )
    clearance: FloatProperty(
        name="Clearance",
        description="Least distance between the track and what is in the way",
        default=0.3,
        min=0.0,
        soft_max=3.0,
        unit="LENGTH",
        options=set(),
        override=OVERRIDE,
    )
    stages: IntProperty(
        name="Stages",
        description="How many stages each plan looks ahead: more see obstacles earlier, and take "
        "longer",
        default=10,
        **ends(WHOLE["stages"]),
        soft_min=4,
        soft_max=14,
        options=set(),
        override=OVERRIDE,
    )
    stage_time: FloatProperty(
        name="Stage Length",
        description="Time between two decisions to steer, in seconds",
        default=0.3,
        **ends(NUMBERS["stage"]),
        soft_min=0.1,
        soft_max=1.0,
        unit="TIME_ABSOLUTE",
        options=set(),
        override=OVERRIDE,
    )
    values: IntProperty(
        name="Stage Values",
        description="How many ways to steer are tried in each stage: more follow the path more "
        "closely, and take longer",
        default=7,
        **ends(WHOLE["values"]),
        soft_min=5,
        soft_max=11,
        options=set(),
        override=OVERRIDE,
    )
    calm: FloatProperty(
        name="Calm",
        description="How far from the path it may keep to steer evenly rather than back and "
        "forth; the body evens out its steering, too, up to 0.15 m. 0 only minds the path",
        default=CALM,
        min=0.0,
        soft_max=0.5,
        unit="LENGTH",
        options=set(),
        override=OVERRIDE,
    )
    show_candidates: BoolProperty(
        name="Rejected Tracks",
        description="Draw pieces of track that the search looked at and rejected",
        default=True,
        options=set(),
    )

    def begin(self, kind: str, unit_scale: float) -> None:
        """Start from settings that suit a character, whatever the scene's unit.

        Args:
            kind: kind of character.
            unit_scale: metres per Blender unit.
        """
        start = {name: self.bl_rna.properties[name].default for name in LENGTH_POWER}
        if kind in STARTING_LIMITS:
            start["max_curvature"], start["max_curvature_rate"] = STARTING_LIMITS[kind]
        start |= STARTING_PATH.get(kind, {})
        for name, value in start.items():
            setattr(self, name, value / unit_scale ** LENGTH_POWER[name])

    def to_params(
        self,
        *,
        fps: float,
        unit_scale: float,
        gravity: float,
        placement: Placement,
        most_seconds: float,
        speed: float | np.ndarray,
        body: tuple[float, float, float],
        headroom: float,
    ) -> PathSettings:
        """The settings in SI units, frozen, for the solver.

        Args:
            fps: real frame rate, fps / fps_base.
            unit_scale: metres per Blender unit.
            gravity: m/s^2.
            placement: what yaw is counted from.
            most_seconds: the motion ends after this time at the latest.
            speed: m/s, or samples of it at each half solver step.
            body: (mass, height, inertia) in SI.
            headroom: height of the figure, m.

        Returns:
            The solver's settings; they are checked when they are solved.
        """
        mass, height, inertia = body
        return PathSettings(
            fps=fps,
            speed=speed,
            stages=self.stages,
            stage=self.stage_time,
            values=self.values,
            effort=self.calm * unit_scale,
            max_lean=self.lean_limit,
            max_curvature=self.max_curvature / unit_scale,
            max_curvature_rate=self.max_curvature_rate / unit_scale,
            clearance=self.clearance * unit_scale,
            mass=mass,
            height=height,
            headroom=headroom,
            inertia=inertia,
            gravity=gravity,
            most_seconds=most_seconds,
            speed_mode=self.speed_mode if self.terrain is not None else "KEYED",
            friction=self.friction,
            drag_area=self.drag_area * unit_scale**2,
            most_speed=self.speed_limit * unit_scale if self.braking > 0.0 else inf,
            braking=self.braking * unit_scale,
            smoothing=self.terrain_smoothing * unit_scale,
            placement=placement,
        )


CLASSES = (PoiseGate, PoisePath)
