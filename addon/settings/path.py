# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets for a motion along a path. Values are Blender units."""

from math import inf, radians

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty, IntProperty, PointerProperty

from ...solvers.motion import Placement
from ...solvers.path.settings import CALM, NUMBERS, WHOLE, PathSettings
from ..mapping.rows import FINE, Row
from .rows import FROM_0, Rows, known
from .turns import STEERS, TIGHTEST


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


class PoisePath(Rows, bpy.types.PropertyGroup):
    """A motion along a curve, among obstacles and through gates."""

    PARAMS = PathSettings
    ROWS = known(
        NUMBERS | WHOLE,
        Row("laps", 1, "How often a closed path is gone around", slider=(None, 10), label="Laps",
            ends=(1, 1000)),
        Row("speed_mode", "KEYED", "Where the speed over terrain comes from", label="Speed From",
            choices=(
                ("KEYED", "Keyed Speed", "The speed below, which can be keyframed", 0),
                ("TERRAIN", "Terrain", "Gravity along the terrain against friction, air drag and "
                 "brakes, from the speed below", 1),
            )),
        Row("friction", 0.08, "Coefficient of friction with the ground, or of rolling resistance: "
            "0.05 for a waxed ski that glides, 0.2 and more for skidded turns, 0.004 for a bicycle "
            "on a road", slider=(None, 0.5), more=FINE),
        Row("drag_area", 0.45, "Air drag: frontal area times drag coefficient; 0.15 in a tuck, 0.6 "
            "upright", slider=(None, 1.5), unit="AREA", more=FINE),
        Row("speed_limit", 12.0, "Speed above which it brakes", slider=(2.0, 40.0), unit="VELOCITY",
            of="most_speed", ends=(0.5, None)),
        Row("braking", 4.0, "Largest deceleration by braking; 0 never brakes. 2 is a gentle "
            "snowplough, 6 a hard stop with skis across", slider=(None, 8.0), unit="ACCELERATION"),
        Row("terrain_smoothing", 2.0, "Length over which the terrain is evened out for the body, "
            "about that of a ski; what is shorter the legs take", slider=(None, 6.0), unit="LENGTH",
            of="smoothing", ends=(0.2, 100.0)),
        Row("speed", 8.0, "Speed of the centre of mass; where the terrain makes the speed, that at "
            "the start", slider=(1.0, 25.0), unit="VELOCITY", keyed=True, label="Speed",
            ends=FROM_0, start={"SKATEBOARDER": 4.0, "CYCLIST": 6.0}),
        Row("lean_limit", radians(30.0), "Largest lean that a plan may use",
            slider=(radians(5.0), radians(60.0)), unit="ANGLE", of="max_lean"),
        Row("max_curvature", 0.25, "Largest curvature of the track: one over the smallest radius, "
            "per unit of length",
            slider=(0.02, 2.0), unit="1/length", more=FINE, start=TIGHTEST),
        Row("max_curvature_rate", 1.0, "How fast the curvature can change, per unit of length and "
            "second",
            slider=(0.05, 10.0), unit="1/(length s)", more=FINE, start=STEERS),
        Row("clearance", 0.3, "Least distance between the track and what is in the way",
            slider=(None, 3.0), unit="LENGTH"),
        Row("stages", 10, "How many stages each plan looks ahead: more see obstacles earlier, and "
            "take longer", slider=(4, 14)),
        Row("stage_time", 0.3, "Time between two decisions to steer, in seconds", slider=(0.1, 1.0),
            unit="TIME_ABSOLUTE", of="stage"),
        Row("values", 7, "How many ways to steer are tried in each stage: more follow the path "
            "more closely, and take longer", slider=(5, 11)),
        Row("calm", CALM, "How far from the path it may keep to steer evenly rather than back and "
            "forth; the body evens out its steering, too, up to 0.15 m. 0 only minds the path",
            slider=(None, 0.5), unit="LENGTH", of="effort"),
    )

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
    show_candidates: BoolProperty(
        name="Rejected Tracks",
        description="Draw pieces of track that the search looked at and rejected",
        default=True,
        options=set(),
    )

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
        values = self.in_si(unit_scale)
        if self.terrain is None:
            values["speed_mode"] = "KEYED"
        if not self.braking > 0.0:
            values["most_speed"] = inf
        # Divided, as in bakes that there are: a last digit would make them out of date.
        values["max_curvature"] = self.max_curvature / unit_scale
        values["max_curvature_rate"] = self.max_curvature_rate / unit_scale
        values |= {"speed": speed, "mass": mass, "height": height, "inertia": inertia}
        return PathSettings(
            fps=fps,
            headroom=headroom,
            gravity=gravity,
            most_seconds=most_seconds,
            placement=placement,
            **values,
        )


CLASSES = (PoiseGate, PoisePath)
