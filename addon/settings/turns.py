# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets for turns. Values are Blender units, as the UI shows them."""

from math import pi, radians

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ...solvers.motion import BodyState, Placement
from ...solvers.turning.settings import FIXED_RANGES, RANGES, TurningSettings
from .ends import ends

OVERRIDE = {"LIBRARY_OVERRIDABLE"}

# Setting -> power of the length unit in it: a speed is length^1, a curvature
# length^-1. One place turns Blender units into SI.
LENGTH_POWER = {
    "speed": 1,
    "frequency": 0,
    "sharpness": 0,
    "heading": 0,
    "max_curvature": -1,
    "max_curvature_rate": -1,
    "mass": 0,
    "height": 1,
    "inertia": 0,
    "slope": 0,
    "slope_direction": 0,
    "friction": 0,
    "drag_area": 2,
}
ANIMATED = tuple(LENGTH_POWER)

# Where a kind's equipment can go: largest curvature (1/m) and its rate
# (1/(m s)). A ski of 13 m sidecut on edge at 70 degrees turns at 4.4 m; a
# board is shorter and turns tighter, edge to edge more slowly. A bicycle's
# front wheel turns as far and as fast as hands do: after the values of van de
# Panne et al. 1993, section 6, tried on its scenes.
STARTING_LIMITS = {"SKIER": (0.25, 1.0), "TELEMARK": (0.25, 1.0), "SNOWBOARDER": (0.25, 0.8),
                   "SKATEBOARDER": (1.0, 4.0), "CYCLIST": (0.6, 3.0)}

# What else a kind starts from where that is not the default, in SI units.
STARTING_SETTINGS: dict[str, dict[str, float]] = {
    # Rolls along the pavement at the pace of a push now and then.
    "SKATEBOARDER": {
        "speed": 3.5,
        "frequency": 0.3,
        "sharpness": radians(13.0),
        "friction": 0.012,
        "drag_area": 0.5,
    },
    # Rolls on asphalt at 20 km/h, sitting up in the wind.
    "CYCLIST": {
        "speed": 5.5,
        "frequency": 0.2,
        "sharpness": radians(16.0),
        "friction": 0.006,
        "drag_area": 0.4,
    },
}
# Along a path, in SI units.
STARTING_PATH: dict[str, dict[str, float]] = {
    "SKATEBOARDER": {"speed": 4.0},
    "CYCLIST": {"speed": 6.0},
}


class PoiseTurns(bpy.types.PropertyGroup):
    """Turns of an inverted pendulum: frequency, sharpness and heading.

    What is read once for the whole motion (start phase, fall angle,
    irregularity) cannot be animated; everything else can.
    """

    speed_mode: EnumProperty(
        name="Speed From",
        description="Where the speed comes from",
        items=(
            ("KEYED", "Keyed Speed", "The speed below, which can be keyframed"),
            (
                "SLOPE",
                "Slope",
                "Gravity along the slope against friction and air drag, from the speed below",
            ),
        ),
        override=OVERRIDE,
    )
    speed: FloatProperty(
        name="Speed",
        description="Speed of the centre of mass; with Speed From Slope, the speed at the start",
        default=9.0,
        min=0.0,
        soft_min=1.0,
        soft_max=25.0,
        unit="VELOCITY",
        override=OVERRIDE,
    )
    frequency: FloatProperty(
        name="Frequency",
        description="Left and right turns together per second, in Hz",
        default=0.3,
        **ends(RANGES["frequency"]),
        soft_min=0.1,
        soft_max=1.2,
        precision=3,
        step=1,
        override=OVERRIDE,
    )
    sharpness: FloatProperty(
        name="Max Lean",
        description="Largest lean of a turn: how sharp the turns are",
        default=radians(25.0),
        **ends(RANGES["sharpness"]),
        soft_max=radians(60.0),
        subtype="ANGLE",
        override=OVERRIDE,
    )
    heading: FloatProperty(
        name="Heading",
        description="Direction the turns go on average, anticlockwise from straight ahead",
        default=0.0,
        **ends(RANGES["heading"]),
        soft_min=-pi,
        soft_max=pi,
        subtype="ANGLE",
        override=OVERRIDE,
    )
    start_phase: FloatProperty(
        name="Start Phase",
        description="Where in a turn the motion starts: 0 upright going into a left turn, "
        "90 in the middle of it, 180 upright going into a right turn",
        default=0.0,
        **ends(FIXED_RANGES["start_phase"]),
        soft_min=-2 * pi,
        soft_max=2 * pi,
        subtype="ANGLE",
        options=set(),
        override=OVERRIDE,
    )
    max_curvature: FloatProperty(
        name="Curvature Limit",
        description="Largest curvature of the path that the equipment can carve or steer, "
        "one over the smallest radius",
        default=0.25,
        min=0.0,
        soft_min=0.02,
        soft_max=2.0,
        precision=3,
        step=1,
        override=OVERRIDE,
    )
    max_curvature_rate: FloatProperty(
        name="Curvature Rate Limit",
        description="How fast the curvature can change, per second: a ski cannot "
        "steer like a wheel",
        default=1.0,
        min=0.0,
        soft_min=0.05,
        soft_max=10.0,
        precision=3,
        step=1,
        override=OVERRIDE,
    )
    auto_body: BoolProperty(
        name="From Character",
        description="Take mass, height of the centre of mass and inertia from the character's size",
        default=True,
        override=OVERRIDE,
    )
    mass: FloatProperty(
        name="Mass",
        description="Mass of the character with its equipment",
        default=80.0,
        **ends(RANGES["mass"]),
        soft_min=20.0,
        soft_max=150.0,
        unit="MASS",
        override=OVERRIDE,
    )
    height: FloatProperty(
        name="CoM Height",
        description="Height of the centre of mass over the ground when upright",
        default=1.0,
        min=0.0,
        soft_min=0.3,
        soft_max=2.0,
        unit="LENGTH",
        override=OVERRIDE,
    )
    inertia: FloatProperty(
        name="Inertia",
        description="Moment of inertia about the centre of mass, around the direction of travel, "
        "in kg m^2",
        default=8.0,
        **ends(RANGES["inertia"]),
        soft_max=50.0,
        override=OVERRIDE,
    )
    slope: FloatProperty(
        name="Slope",
        description="Steepness of the ground",
        default=radians(12.0),
        **ends(RANGES["slope"]),
        soft_max=radians(40.0),
        subtype="ANGLE",
        override=OVERRIDE,
    )
    slope_direction: FloatProperty(
        name="Fall Line",
        description="Direction of steepest descent, anticlockwise from straight ahead",
        default=0.0,
        **ends(RANGES["slope_direction"]),
        soft_min=-pi,
        soft_max=pi,
        subtype="ANGLE",
        override=OVERRIDE,
    )
    friction: FloatProperty(
        name="Friction",
        description="Coefficient of friction with the ground: 0.05 for a waxed ski that glides, "
        "0.2 and more for skidded turns",
        default=0.08,
        **ends(RANGES["friction"]),
        soft_max=0.5,
        precision=3,
        step=1,
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
        override=OVERRIDE,
    )
    fall_angle: FloatProperty(
        name="Falls At",
        description="Lean beyond which the figure counts as fallen",
        default=radians(80.0),
        **ends(FIXED_RANGES["fall_angle"]),
        subtype="ANGLE",
        options=set(),
        override=OVERRIDE,
    )
    irregularity: FloatProperty(
        name="Irregularity",
        description="Slight variation of the turns' sharpness and rhythm; perfect symmetry "
        "looks wrong",
        default=0.0,
        **ends(FIXED_RANGES["amplitude_irregularity"]),
        soft_max=0.3,
        subtype="FACTOR",
        options=set(),
        override=OVERRIDE,
    )
    irregularity_seed: IntProperty(
        name="Seed",
        description="Another seed varies the turns in another way",
        default=0,
        min=0,
        options=set(),
        override=OVERRIDE,
    )

    def begin(self, kind: str, unit_scale: float) -> None:
        """Start from settings that suit a character, whatever the scene's unit.

        Args:
            kind: kind of character.
            unit_scale: metres per Blender unit.
        """
        start = {
            name: self.bl_rna.properties[name].default
            for name, power in LENGTH_POWER.items()
            if power
        }
        if kind in STARTING_LIMITS:
            start["max_curvature"], start["max_curvature_rate"] = STARTING_LIMITS[kind]
        start |= STARTING_SETTINGS.get(kind, {})
        for name, value in start.items():
            setattr(self, name, value / unit_scale ** LENGTH_POWER[name])

    def to_params(
        self,
        *,
        n_frames: int,
        fps: float,
        unit_scale: float,
        gravity: float,
        placement: Placement,
        start_state: BodyState | None,
        samples: dict,
        body: tuple[float, float, float] | None,
    ) -> TurningSettings:
        """The settings in SI units, frozen, for the solver.

        Args:
            n_frames: frames of the motion, both ends included.
            fps: real frame rate, fps / fps_base.
            unit_scale: metres per Blender unit.
            gravity: m/s^2.
            placement: where the motion starts, in metres.
            start_state: hand-over from the motion before, or None.
            samples: animated settings, name -> array at every half solver
                step, in Blender units.
            body: (mass, height, inertia) in SI where they come from the
                character, or None to use the settings.

        Returns:
            The solver's settings.

        Raises:
            SettingError: a setting is outside what the solver can take.
        """
        values = {
            name: samples.get(name, getattr(self, name)) * unit_scale**power
            for name, power in LENGTH_POWER.items()
        }
        if body is not None:
            values["mass"], values["height"], values["inertia"] = body
        return TurningSettings(
            n_frames=n_frames,
            fps=fps,
            gravity=gravity,
            speed_mode=self.speed_mode,
            start_phase=self.start_phase,
            start_state=start_state,
            fall_angle=self.fall_angle,
            placement=placement,
            amplitude_irregularity=self.irregularity,
            rhythm_irregularity=self.irregularity,
            seed=self.irregularity_seed,
            **values,
        )


CLASSES = (PoiseTurns,)
