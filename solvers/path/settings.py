# SPDX-License-Identifier: GPL-3.0-or-later
"""What path following is asked for: the scene, the settings and their checks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..errors import SettingError, check_number
from ..motion import BodyState, Placement
from ..turning.settings import STOP_SPEED, check_start_state
from .obstacles import Gate, Obstacle
from .terrain import TerrainMesh

Sampled = float | np.ndarray

CALM = 0.15  # m of effort with which motions are calm


@dataclass(frozen=True)
class PathScene:
    """The path and what stands in the way, as drawn.

    Attributes:
        polylines: the path's splines, sampled densely, in order: arrays
            (n, 2) or (n, 3), m.
        cyclic: whether each is closed; one for all, or one for each.
        obstacles: what may not be touched.
        gates: pairs of poles to pass between, in order.
        laps: how often to go around a closed path.
        terrain: the mesh that path, obstacles and gates are projected onto,
            straight up or down; None for level ground.
    """

    polylines: tuple[np.ndarray, ...]
    cyclic: bool | tuple[bool, ...] = False
    obstacles: tuple[Obstacle, ...] = ()
    gates: tuple[Gate, ...] = ()
    laps: int = 1
    terrain: TerrainMesh | None = None


@dataclass(frozen=True)
class PathSettings:
    """Settings of a path following motion, SI units and radians.

    Attributes:
        fps: real frame rate, frames per second.
        speed: speed of the centre of mass, m/s; or an array with its value
            at each half solver step from the start
            (`turning.sample_times`), the last of which holds on. In speed mode
            "TERRAIN" only the first value counts, as the speed at the start.
        stages: how many stages a plan looks ahead (N).
        stage: duration of a stage, s.
        values: how many rates of curvature are tried in a stage (q), evenly
            from minus to plus the largest. In the scenes of `scenes`, along
            bends and in a wood, calm, 7 keep 0.24 m off the path on the mean,
            and 9 keep 0.17 m off in twice the time. 5 find no way through
            most slaloms. Spacing them unevenly, closer about 0 and reaching
            further, made both the distance and the weaving larger.
        least_progress: share of its way by which a plan has to get on along
            the path; 0 lets figures turn back and try again.
        substeps: integration steps in a stage; distance from the path,
            obstacles and lean are looked at after each.
        max_lean: largest lean allowed, from the vertical, rad.
        max_curvature: largest curvature of the foot's path, 1/m.
        max_curvature_rate: largest rate of its change, 1/(m s).
        clearance: least distance between the foot and what is in the way, m.
        mass: kg.
        height: height l of the centre of mass over the foot, m.
        headroom: height of the figure, m: under what of the terrain is no
            higher over the ground it does not go.
        inertia: about the forward axis through the centre of mass, kg m^2.
        gravity: m/s^2.
        window: how far ahead of the last nearest point of the path the next
            is looked for, m; None for twice the way of a stage.
        most_seconds: the motion ends after this time at the latest; None for
            twice the time that the path takes, and ten seconds.
        start_state: state to go on from; None to start upright at the
            path's first point, along its direction.
        placement: what yaw is counted from.
        batch: how many nodes the search expands at once.
        most_nodes: how many it expands for one plan at most.
        candidates: how many rejected pieces of track are kept of each plan,
            for drawing.
        speed_mode: "KEYED": the speed is as given; "TERRAIN": gravity along
            the terrain, friction, drag and braking change it.
        friction: coefficient of sliding friction, or of rolling resistance
            ("TERRAIN" only).
        drag_area: drag area C_d A, m^2 ("TERRAIN" only).
        most_speed: speed above which the figure brakes, m/s; infinite for
            none ("TERRAIN" only).
        braking: largest deceleration by braking, m/s^2 ("TERRAIN" only).
        smoothing: length over which terrain is evened out for the body, m;
            what is shorter the legs take.
        effort: what it costs to steer another way than before, m: for a
            change of the rate of curvature by the largest rate as much as
            that distance from the path all through the stage, and growing
            with the square of the change. 0 is the cost of the paper,
            distance alone. What poses a body evens out the steering as far
            as it is to be calm, from `CALM` on in full.
    """

    fps: float = 24.0
    speed: Sampled = 8.0
    stages: int = 10
    stage: float = 0.3
    values: int = 7
    least_progress: float = 0.4
    substeps: int = 3
    max_lean: float = math.radians(30.0)
    max_curvature: float = 0.2
    max_curvature_rate: float = 0.8
    clearance: float = 0.5
    mass: float = 70.0
    height: float = 1.0
    headroom: float = 1.0
    inertia: float = 5.0
    gravity: float = 9.81
    window: float | None = None
    most_seconds: float | None = None
    start_state: BodyState | None = None
    placement: Placement = field(default_factory=Placement)
    batch: int = 256
    most_nodes: int = 10_000
    candidates: int = 40
    speed_mode: str = "KEYED"
    friction: float = 0.05
    drag_area: float = 0.4
    most_speed: float = math.inf
    braking: float = 4.0
    smoothing: float = 2.0
    effort: float = 0.0


# name -> (label, least, most, requirement)
NUMBERS: dict[str, tuple[str, float, float, str]] = {
    "fps": ("Frame Rate", 0.01, 10_000.0, "between 0.01 and 10,000 frames a second"),
    "stage": ("Stage Length", 0.02, 5.0, "between 0.02 and 5 s"),
    "max_lean": ("Lean Limit", math.radians(1.0), math.radians(80.0), "between 1 and 80 degrees"),
    "max_curvature": ("Curvature Limit", 1e-4, 10.0, "between 0.0001 and 10 1/m"),
    "max_curvature_rate": (
        "Curvature Rate Limit",
        1e-4,
        1000.0,
        "between 0.0001 and 1000 1/(m s)",
    ),
    "least_progress": ("Least Progress", 0.0, 0.9, "between 0 and 0.9"),
    "clearance": ("Clearance", 0.0, 1000.0, "between 0 and 1000 m"),
    "mass": ("Mass", 1e-6, 1e6, "above 0 kg (at most 1,000,000)"),
    "height": ("CoM Height", 0.001, 1000.0, "between 0.001 and 1000 m"),
    "headroom": ("Height of Figure", 0.0, 1000.0, "between 0 and 1000 m"),
    "inertia": ("Inertia", 0.0, 1e9, "at least 0 kg m^2 (at most 1e9)"),
    "gravity": ("Gravity", 1e-6, 1000.0, "above 0 m/s^2 (at most 1000)"),
    "friction": ("Friction", 0.0, 10.0, "between 0 and 10"),
    "drag_area": ("Drag Area", 0.0, 1000.0, "between 0 and 1000 m^2"),
    "most_speed": ("Speed Limit", 0.5, math.inf, "at least 0.5 m/s"),
    "braking": ("Braking", 0.0, 1000.0, "between 0 and 1000 m/s^2"),
    "smoothing": ("Terrain Smoothing", 0.2, 100.0, "between 0.2 and 100 m"),
    "effort": ("Calm", 0.0, 1000.0, "between 0 and 1000 m"),
}
SPEED_MODES = ("KEYED", "TERRAIN")
WHOLE: dict[str, tuple[str, int, int, str]] = {
    "stages": ("Stages", 1, 60, "a whole number between 1 and 60"),
    "values": ("Stage Values", 2, 31, "a whole number between 2 and 31"),
    "substeps": ("Steps per Stage", 1, 100, "a whole number between 1 and 100"),
    "batch": ("Batch", 1, 100_000, "a whole number between 1 and 100,000"),
    "most_nodes": ("Most Nodes", 1, 100_000_000, "a whole number of at least 1"),
    "candidates": ("Candidates", 0, 100_000, "a whole number of at least 0"),
}
MOST_SPEED = 200.0
MOST_PLANS = 4e18  # that whole numbers of 64 bits can tell apart


def check_settings(settings: PathSettings) -> None:
    """Check all settings.

    Args:
        settings: what was asked for.

    Raises:
        SettingError: a value is not finite, out of range or of the wrong
            kind, or two contradict each other.
    """
    for name, (label, least, most, requirement) in NUMBERS.items():
        check_number(label, getattr(settings, name), least, most, requirement)
    for name, (label, few, many, requirement) in WHOLE.items():
        whole = getattr(settings, name)
        if isinstance(whole, bool) or not isinstance(whole, (int, np.integer)):
            raise SettingError(label, whole, requirement)
        if not few <= whole <= many:
            raise SettingError(label, whole, requirement)
    if settings.values ** float(settings.stages) > MOST_PLANS:
        raise SettingError(
            "Stages",
            f"{settings.stages} with {settings.values} values each",
            "fewer, or with fewer values, so that all plans can be counted",
        )
    for name, label in (("window", "Path Window"), ("most_seconds", "Longest Time")):
        value = getattr(settings, name)
        if value is not None:
            check_number(label, value, 1e-3, 1e6, "between 0.001 and 1,000,000")
    if settings.speed_mode not in SPEED_MODES:
        raise SettingError("Speed Mode", settings.speed_mode, "'KEYED' or 'TERRAIN'")
    speeds = np.atleast_1d(np.asarray(settings.speed, dtype=float))
    if speeds.ndim != 1 or not len(speeds):
        raise SettingError("Speed", f"an array of shape {speeds.shape}", "a number or a row")
    bad = ~((speeds >= STOP_SPEED) & (speeds <= MOST_SPEED))
    if bad.any():
        raise SettingError(
            "Speed",
            float(speeds[int(np.argmax(bad))]),
            f"between {STOP_SPEED} and {MOST_SPEED:g} m/s (who stands cannot keep balance)",
        )
    lock = settings.max_curvature * settings.height * math.sin(settings.max_lean)
    if lock >= 0.9:
        raise SettingError(
            "Curvature Limit",
            f"{settings.max_curvature:g} 1/m",
            f"below {0.9 * settings.max_curvature / lock:.3g} 1/m, for the body not to lean "
            "beyond the centre of its turn",
        )
    origin = np.asarray(settings.placement.origin, dtype=float)
    if origin.shape != (3,) or not np.all(np.isfinite(origin)):
        raise SettingError("Placement", settings.placement.origin, "three finite coordinates")
    check_number("Placement Yaw", settings.placement.yaw, -1e6, 1e6, "a finite angle")
    state = settings.start_state
    if state is not None:
        check_start_state(state, settings.max_lean, "lean limit")
        if abs(state.curvature) > settings.max_curvature * (1.0 + 1e-9):
            raise SettingError(
                "Start State: curvature",
                f"{state.curvature:.3g} 1/m",
                f"within the curvature limit of {settings.max_curvature:g} 1/m",
            )


class SpeedCourse:
    """Speed over time: a number, or samples and straight lines between.

    Args:
        speed: as in `PathSettings`.
        half_step: time between samples, s.
    """

    def __init__(self, speed: Sampled, half_step: float) -> None:
        values = np.atleast_1d(np.asarray(speed, dtype=float))
        self.constant = bool(np.all(values == values[0]))
        self._values, self._step = values, half_step
        self.most = float(np.max(values))
        self.least = float(np.min(values))
        self.first = float(values[0])

    def __call__(self, time: np.ndarray) -> np.ndarray:
        """Speed at times.

        Args:
            time: s from the start of the motion.

        Returns:
            m/s.
        """
        if self.constant:
            return np.full(np.shape(time), self._values[0])
        known = np.arange(len(self._values)) * self._step
        return np.interp(time, known, self._values)
