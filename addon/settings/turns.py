# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets for turns. Values are Blender units, as the UI shows them."""

from math import pi, radians

import bpy

from ...solvers.motion import BodyState, Placement
from ...solvers.turning.settings import FIXED_RANGES, RANGES, TurningSettings
from ..mapping.rows import FINE, Row
from .rows import Rows, known

# Where a kind's equipment can go: largest curvature (1/m) and its rate
# (1/(m s)). A ski of 13 m sidecut on edge at 70 degrees turns at 4.4 m; a
# board is shorter and turns tighter, edge to edge more slowly. A bicycle's
# front wheel turns as far and as fast as hands do: after the values of van de
# Panne et al. 1993, section 6, tried on its scenes.
TIGHTEST = {"SKATEBOARDER": 1.0, "CYCLIST": 0.6}
STEERS = {"SNOWBOARDER": 0.8, "SKATEBOARDER": 4.0, "CYCLIST": 3.0}


class PoiseTurns(Rows, bpy.types.PropertyGroup):
    """Turns of an inverted pendulum: frequency, sharpness and heading.

    What is read once for the whole motion (start phase, fall angle,
    irregularity) cannot be animated; everything else can. A skateboarder begins
    by rolling along the pavement at the pace of a push now and then, a cyclist on
    asphalt at 20 km/h, sitting up in the wind.
    """

    PARAMS = TurningSettings
    ROWS = known(
        RANGES | FIXED_RANGES,
        Row("speed_mode", "KEYED", "Where the speed comes from", label="Speed From",
            choices=(
                ("KEYED", "Keyed Speed", "The speed below, which can be keyframed", 0),
                ("SLOPE", "Slope", "Gravity along the slope against friction and air drag, from "
                 "the speed below", 1),
            )),
        Row("speed", 9.0, "Speed of the centre of mass; with Speed From Slope, the speed at the "
            "start", slider=(1.0, 25.0), unit="VELOCITY", keyed=True,
            start={"SKATEBOARDER": 3.5, "CYCLIST": 5.5}),
        Row("frequency", 0.3, "Left and right turns together per second, in Hz", slider=(0.1, 1.2),
            unit="FREQUENCY", keyed=True, more=FINE, start={"SKATEBOARDER": 0.3, "CYCLIST": 0.2}),
        Row("sharpness", radians(25.0), "Largest lean of a turn: how sharp the turns are",
            slider=(None, radians(60.0)), unit="ANGLE", keyed=True,
            start={"SKATEBOARDER": radians(13.0), "CYCLIST": radians(16.0)}),
        Row("heading", 0.0, "Direction the turns go on average, anticlockwise from straight ahead",
            slider=(-pi, pi), unit="ANGLE", keyed=True),
        Row("start_phase", 0.0, "Where in a turn the motion starts: 0 upright going into a left "
            "turn, 90 in the middle of it, 180 upright going into a right turn",
            slider=(-2 * pi, 2 * pi), unit="ANGLE"),
        Row("max_curvature", 0.25, "Largest curvature of the path that the equipment can carve or "
            "steer: one over the smallest radius, per unit of length", slider=(0.02, 2.0),
            unit="1/length", keyed=True, more=FINE, start=TIGHTEST),
        Row("max_curvature_rate", 1.0, "How fast the curvature can change, per unit of length and "
            "second: a ski cannot steer like a wheel", slider=(0.05, 10.0),
            unit="1/(length s)", keyed=True, more=FINE, start=STEERS),
        Row("auto_body", True, "Take mass, height of the centre of mass and inertia from the "
            "character's size", label="From Character"),
        Row("mass", 80.0, "Mass of the character with its equipment", slider=(20.0, 150.0),
            unit="MASS", keyed=True),
        Row("height", 1.0, "Height of the centre of mass over the ground when upright",
            slider=(0.3, 2.0), unit="LENGTH", keyed=True),
        Row("inertia", 8.0, "Moment of inertia about the centre of mass, around the direction of "
            "travel, in kg m^2", slider=(None, 50.0), unit="kg m²", keyed=True),
        Row("slope", radians(12.0), "Steepness of the ground", slider=(None, radians(40.0)),
            unit="ANGLE", keyed=True),
        Row("slope_direction", 0.0, "Direction of steepest descent, anticlockwise from straight "
            "ahead", slider=(-pi, pi), unit="ANGLE", keyed=True),
        Row("friction", 0.08, "Coefficient of friction with the ground: 0.05 for a waxed ski that "
            "glides, 0.2 and more for skidded turns", slider=(None, 0.5), keyed=True, more=FINE,
            start={"SKATEBOARDER": 0.012, "CYCLIST": 0.006}),
        Row("drag_area", 0.45, "Air drag: frontal area times drag coefficient; 0.15 in a tuck, 0.6 "
            "upright", slider=(None, 1.5), unit="AREA", keyed=True, more=FINE,
            start={"SKATEBOARDER": 0.5, "CYCLIST": 0.4}),
        Row("fall_angle", radians(80.0), "Lean beyond which the figure counts as fallen",
            unit="ANGLE"),
        Row("irregularity", 0.0, "Slight variation of the turns' sharpness and rhythm; perfect "
            "symmetry looks wrong", slider=(None, 0.3), unit="FACTOR", of="amplitude_irregularity"),
        Row("irregularity_seed", 0, "Another seed varies the turns in another way", of="seed",
            label="Seed", ends=(0, None)),
    )

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
        values = self.in_si(unit_scale, samples)
        if body is not None:
            values["mass"], values["height"], values["inertia"] = body
        return TurningSettings(
            n_frames=n_frames,
            fps=fps,
            gravity=gravity,
            start_state=start_state,
            placement=placement,
            rhythm_irregularity=self.irregularity,
            **values,
        )


CLASSES = (PoiseTurns,)
