# SPDX-License-Identifier: GPL-3.0-or-later
"""What the turning solver is asked for: settings, their checks and sampling.

A setting is a number or one value per half solver step, so that keyframed
and driven settings are met exactly by every stage of the Runge-Kutta step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

import numpy as np

from ..errors import SettingError, check_number
from ..motion import BodyState, Placement
from .equations import make_equations
from .irregularity import smooth_noise

Sampled = float | np.ndarray

SPEED_MODES = ("KEYED", "SLOPE")
MIN_STEPS_PER_SECOND = 48.0
MAX_FRAMES = 1_000_000
AIR_DENSITY = 1.2  # kg/m^3, near freezing at about 800 m
STOP_SPEED = 0.1  # m/s; slower than this the figure stands
LEAST_SPEED = 0.01  # m/s; nothing is divided by a smaller one on the way to the stop
MOST_LEAN_RATE = 50.0  # rad/s; 8 turns of the body a second
LEAST_LEAN = 1e-5  # rad; a maximum lean of 0 is a straight run of this size
CURVATURE_BOUND = 1e4  # 1/m; stands for "no limit" (a radius of 0.1 mm)
RATE_BOUND = 1e9  # 1/(m s); stands for "no limit"
ABOVE_0 = math.ulp(0.0)  # the least number above it


@dataclass(frozen=True)
class TurningSettings:
    """Settings of one turning motion, SI units and radians.

    Every setting marked * is a float, or an array of shape (2 n_steps + 1,)
    with its value at each of `sample_times(n_frames, fps)`.

    Attributes:
        n_frames: frames of the motion, both ends included; it lasts
            (n_frames - 1) / fps seconds.
        fps: real frame rate, frames per second.
        speed: * speed of the centre of mass, m/s. In speed mode "SLOPE" only
            the first value counts, as the speed at the start.
        frequency: * turning frequency in Hz, a left and a right turn a cycle
            (omega_0 = 2 pi frequency).
        sharpness: * largest lean from the ground normal, radians
            (theta_max); 0 is a straight run.
        heading: * direction of travel wanted, radians to the left of the
            placement's facing.
        max_curvature: * bound on the curvature of the foot's path, 1/m;
            infinite for none.
        max_curvature_rate: * bound on its rate of change, 1/(m s); infinite
            for none.
        mass: * kg.
        height: * height l of the centre of mass over the foot, m.
        inertia: * moment of inertia about the forward axis through the
            centre of mass, kg m^2.
        slope: * steepness of the ground plane, radians.
        slope_direction: * compass direction of the fall line, radians to the
            left of the placement's facing; 0 goes straight down.
        friction: * coefficient of sliding friction ("SLOPE" only).
        drag_area: * drag area C_d A, m^2 ("SLOPE" only).
        gravity: * m/s^2.
        speed_mode: "KEYED": the speed is as given; "SLOPE": gravity along
            the ground, friction and drag change it.
        start_phase: phase of the turn at the start, radians; 0 crosses the
            vertical towards the left, pi towards the right.
        start_state: state to go on from, or None to start on the wanted
            ellipse at `start_phase`.
        fall_angle: lean at which the figure has fallen, radians.
        placement: where the motion starts and the way it faces.
        amplitude_irregularity: seeded variation of the largest lean as a
            share of it (0.1 is up to 10 % either way); 0 for none.
        rhythm_irregularity: the same for the frequency.
        seed: number that the variation is made from.
    """

    n_frames: int = 250
    fps: float = 24.0
    speed: Sampled = 8.0
    frequency: Sampled = 0.5
    sharpness: Sampled = math.radians(23.0)
    heading: Sampled = 0.0
    max_curvature: Sampled = math.inf
    max_curvature_rate: Sampled = math.inf
    mass: Sampled = 70.0
    height: Sampled = 1.0
    inertia: Sampled = 5.0
    slope: Sampled = 0.0
    slope_direction: Sampled = 0.0
    friction: Sampled = 0.05
    drag_area: Sampled = 0.4
    gravity: Sampled = 9.81
    speed_mode: str = "KEYED"
    start_phase: float = 0.0
    start_state: BodyState | None = None
    fall_angle: float = math.radians(60.0)
    placement: Placement = field(default_factory=Placement)
    amplitude_irregularity: float = 0.0
    rhythm_irregularity: float = 0.0
    seed: int = 0


# name -> (label, least, most, requirement)
RANGES: dict[str, tuple[str, float, float, str]] = {
    "speed": ("Speed", 0.0, 1000.0, "between 0 and 1000 m/s"),
    "frequency": ("Frequency", 0.01, 5.0, "between 0.01 and 5 Hz"),
    "sharpness": (
        "Max Lean", 0.0, math.radians(85.0), "between 0 and 85 degrees (1.4835 rad)"
    ),
    "heading": ("Heading", -1e4, 1e4, "a finite angle (at most 10,000 rad)"),
    "max_curvature": ("Curvature Limit", ABOVE_0, math.inf, "above 0 1/m"),
    "max_curvature_rate": ("Curvature Rate Limit", ABOVE_0, math.inf, "above 0 1/(m s)"),
    "mass": ("Mass", 1e-6, 1e6, "above 0 kg (at most 1,000,000)"),
    "height": ("CoM Height", 0.001, 1000.0, "between 0.001 and 1000 m"),
    "inertia": ("Inertia", 0.0, 1e9, "at least 0 kg m^2 (at most 1e9)"),
    "slope": ("Slope", 0.0, math.radians(80.0), "between 0 and 80 degrees"),
    "slope_direction": ("Fall Line", -1e4, 1e4, "a finite angle (at most 10,000 rad)"),
    "friction": ("Friction", 0.0, 10.0, "between 0 and 10"),
    "drag_area": ("Drag Area", 0.0, 1000.0, "between 0 and 1000 m^2"),
    "gravity": ("Gravity", ABOVE_0, 1000.0, "above 0 m/s^2 (at most 1000)"),
}
# Likewise of what is read once for the whole motion.
FIXED_RANGES: dict[str, tuple[str, float, float, str]] = {
    "fall_angle": ("Falls At", 0.01, 0.5 * math.pi, "between 0.57 and 90 degrees"),
    "start_phase": ("Start Phase", -1e4, 1e4, "a finite angle (at most 10,000 rad)"),
    "amplitude_irregularity": ("Irregularity", 0.0, 0.9, "between 0 and 0.9"),
    "rhythm_irregularity": ("Irregularity", 0.0, 0.9, "between 0 and 0.9"),
}
SAMPLED_SETTINGS = tuple(RANGES)

_LEVEL = make_equations(np.sin, np.cos, False, False, True)
_LEVEL_ONE = make_equations(math.sin, math.cos, False, False, True)


def steps_per_frame(fps: float) -> int:
    """Solver steps per frame: a whole number, at least 48 steps a second.

    Args:
        fps: real frame rate, frames per second.

    Returns:
        ceil(48 / fps).

    Raises:
        SettingError: fps is not a finite number above 0.
    """
    check_number("Frame Rate", fps, 0.01, 10_000.0, "between 0.01 and 10,000 frames a second")
    return max(1, math.ceil(MIN_STEPS_PER_SECOND / fps - 1e-9))


def sample_times(n_frames: int, fps: float) -> np.ndarray:
    """Times at which animated settings are wanted: every half solver step.

    Args:
        n_frames: frames of the motion, both ends included.
        fps: real frame rate, frames per second.

    Returns:
        (2 n_steps + 1,) seconds from the first frame, n_steps =
        (n_frames - 1) * steps_per_frame(fps).

    Raises:
        SettingError: n_frames or fps is out of range.
    """
    _check_frames(n_frames)
    per_frame = steps_per_frame(fps)
    count = 2 * per_frame * (int(n_frames) - 1) + 1
    return np.arange(count) / (2.0 * per_frame * fps)


def _check_frames(n_frames: int) -> None:
    if isinstance(n_frames, bool) or not isinstance(n_frames, (int, np.integer)):
        raise SettingError("Number of Frames", n_frames, "a whole number")
    if n_frames < 1:
        raise SettingError(
            "Number of Frames", n_frames, "at least 1 (the end must not come before the start)"
        )
    if n_frames > MAX_FRAMES:
        raise SettingError("Number of Frames", n_frames, f"at most {MAX_FRAMES:,}")


def _check_sampled(name: str, value: Sampled, count: int, fps: float) -> Sampled:
    """Check one animatable setting; return a float, or an array that varies."""
    label, least, most, requirement = RANGES[name]
    if value is None:
        raise SettingError(label, value, requirement)
    if type(value) is float and least <= value <= most:  # most of them are
        return value
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise SettingError(label, value, "a number") from None
    if array.ndim != 0 and array.shape != (count,):
        raise SettingError(
            label,
            f"an array of shape {array.shape}",
            f"one number or an array of shape ({count},), one value per half solver step",
        )
    good = (array >= least) & (array <= most)
    if not np.all(good):
        if array.ndim == 0:
            raise SettingError(label, float(array), requirement)
        first = int(np.argmin(good))
        seconds = first / (2.0 * steps_per_frame(fps) * fps)
        raise SettingError(f"{label} at {seconds:.3f} s", float(array[first]), requirement)
    if array.ndim == 0:
        return float(array)
    if count and np.all(array == array[0]):
        return float(array[0])
    return array


def check_settings(settings: TurningSettings) -> dict[str, Sampled]:
    """Check all settings and return the animatable ones, ready for use.

    Args:
        settings: what was asked for.

    Returns:
        name -> float where the value stays the same, else the array.

    Raises:
        SettingError: a value is missing, not finite, out of its range or of
            the wrong shape, or two settings contradict each other.
    """
    _check_frames(settings.n_frames)
    count = 2 * (int(settings.n_frames) - 1) * steps_per_frame(settings.fps) + 1
    values = {
        name: _check_sampled(name, getattr(settings, name), count, settings.fps)
        for name in SAMPLED_SETTINGS
    }
    if settings.speed_mode not in SPEED_MODES:
        raise SettingError("Speed Mode", settings.speed_mode, "'KEYED' or 'SLOPE'")
    for name, (label, least, most, requirement) in FIXED_RANGES.items():
        check_number(label, getattr(settings, name), least, most, requirement)
    if isinstance(settings.seed, bool) or not isinstance(settings.seed, (int, np.integer)):
        raise SettingError("Seed", settings.seed, "a whole number")
    sharpness = values["sharpness"]
    largest = sharpness if type(sharpness) is float else float(np.max(sharpness))
    if largest >= settings.fall_angle:
        raise SettingError(
            "Max Lean",
            f"{math.degrees(largest):.1f} degrees",
            f"below Falls At, {math.degrees(settings.fall_angle):.1f} degrees",
        )
    origin = np.asarray(settings.placement.origin, dtype=float)
    if origin.shape != (3,) or not np.all(np.isfinite(origin)):
        raise SettingError("Placement", settings.placement.origin, "three finite coordinates")
    check_number("Placement Yaw", settings.placement.yaw, -1e6, 1e6, "a finite angle")
    state = settings.start_state
    if state is None:
        if float(np.ravel(values["speed"])[0]) < STOP_SPEED:
            raise SettingError(
                "Speed at the start",
                float(np.ravel(values["speed"])[0]),
                f"at least {STOP_SPEED} m/s (who stands cannot keep balance by steering)",
            )
    else:
        check_start_state(state, settings.fall_angle, "fall angle")
        if state.speed < STOP_SPEED:
            raise SettingError("Start State: speed", state.speed, f"at least {STOP_SPEED} m/s")
    return values


def check_start_state(state: BodyState, most_lean: float, limit: str) -> None:
    """Check a state that a motion is to go on from.

    Args:
        state: the state.
        most_lean: what its lean has to stay below, rad.
        limit: what that is called.

    Raises:
        SettingError: a value is not finite, or beyond what can be gone on from.
    """
    position = np.asarray(state.position, dtype=float)
    if position.shape != (3,) or not np.all(np.isfinite(position)):
        raise SettingError("Start Position", state.position, "three finite coordinates")
    for item in fields(state):
        value = getattr(state, item.name)
        if item.name in ("position", "contacts", "control"):
            continue
        if not math.isfinite(value):
            raise SettingError(f"Start State: {item.name}", value, "a finite number")
    if abs(state.lean) >= most_lean:
        raise SettingError(
            "Start State: lean",
            f"{math.degrees(state.lean):.1f} degrees",
            f"below the {limit} of {math.degrees(most_lean):.1f} degrees",
        )
    if abs(state.lean_rate) > MOST_LEAN_RATE:
        raise SettingError(
            "Start State: lean_rate", state.lean_rate, f"within {MOST_LEAN_RATE:g} rad/s"
        )


@dataclass(frozen=True)
class Timeline:
    """Checked settings as the equations take them.

    Each of the quantities is a float, or an array over the half steps.

    Attributes:
        settings: what they were made from.
        per_frame: solver steps per frame.
        n_steps: number of solver steps.
        step: length of a solver step in seconds.
        quantities: name -> float or (2 n_steps + 1,) array: "omega_0"
            (rad/s), "theta_max" (rad; in "KEYED" mode already what the limits
            allow), "asked" (theta_max as asked for), "speed", "g_normal" and "g_slope"
            (parts of gravity along the ground normal and down the fall line,
            m/s^2), "fall_line" (in the ground plane, from yaw 0, rad), "J"
            ((I + m l^2) / (m l), m), "height", "friction", "drag"
            (air density * drag area / (2 m), 1/m), "max_curvature",
            "max_curvature_rate", "heading", "mass", "inertia", "gravity",
            "slope", "slope_direction".
        tilted: True if the ground slopes anywhere.
        sliding: True if the speed is integrated ("SLOPE").
        limited: True if a curvature or curvature rate limit is finite.
        constant: True if no quantity varies with time.
    """

    settings: TurningSettings
    per_frame: int
    n_steps: int
    step: float
    quantities: dict[str, Sampled]
    tilted: bool
    sliding: bool
    limited: bool
    constant: bool


def make_timeline(settings: TurningSettings) -> Timeline:
    """Check settings and turn them into the quantities of the equations.

    Args:
        settings: what was asked for.

    Returns:
        The timeline.

    Raises:
        SettingError: see `check_settings`.
    """
    values = check_settings(settings)
    per_frame = steps_per_frame(settings.fps)
    n_steps = (int(settings.n_frames) - 1) * per_frame
    step = 1.0 / (per_frame * settings.fps)
    frequency, sharpness = _irregular(settings, values, n_steps, step)
    fixed = all(type(value) is float for value in (*values.values(), frequency, sharpness))
    sin, cos = (math.sin, math.cos) if fixed else (np.sin, np.cos)
    least, largest = (min, max) if fixed else (np.minimum, np.maximum)
    somewhere = bool if fixed else np.any
    slope, direction = values["slope"], values["slope_direction"]
    gravity, mass, height = values["gravity"], values["mass"], values["height"]
    quantities: dict[str, Sampled] = {
        "omega_0": 2.0 * math.pi * frequency,
        "theta_max": largest(sharpness, LEAST_LEAN),
        "speed": largest(values["speed"], LEAST_SPEED),
        "g_normal": gravity * cos(slope),
        "g_slope": gravity * sin(slope),
        # Yaw 0 lies over the facing, so the fall line is seen foreshortened.
        "fall_line": direction + _turned(direction, 1.0 / cos(slope)),
        "J": (values["inertia"] + mass * height**2) / (mass * height),
        "height": height,
        "friction": values["friction"],
        "drag": 0.5 * AIR_DENSITY * values["drag_area"] / mass,
        "max_curvature": least(values["max_curvature"], CURVATURE_BOUND),
        "max_curvature_rate": least(values["max_curvature_rate"], RATE_BOUND),
        "heading": values["heading"],
        "mass": mass,
        "inertia": values["inertia"],
        "gravity": gravity,
        "slope": slope,
        "slope_direction": direction,
    }
    quantities["max_curvature"] = _within_reach(
        quantities["max_curvature"], quantities["max_curvature_rate"], step
    )
    limited = bool(
        somewhere(quantities["max_curvature"] < CURVATURE_BOUND)
        or somewhere(quantities["max_curvature_rate"] < RATE_BOUND)
    )
    quantities["asked"] = quantities["theta_max"]
    if limited and settings.speed_mode == "KEYED":
        q = quantities
        held = _LEVEL_ONE if fixed else _LEVEL
        most = held.allowed(
            q["asked"],
            q["omega_0"],
            largest(q["speed"], STOP_SPEED),
            q["g_normal"],
            q["J"],
            height,
            q["max_curvature"],
            q["max_curvature_rate"],
        )
        quantities["theta_max"] = largest(most, LEAST_LEAN)
    if not fixed:
        quantities = {name: _tidy(name, value) for name, value in quantities.items()}
    return Timeline(
        settings=settings,
        per_frame=per_frame,
        n_steps=n_steps,
        step=step,
        quantities=quantities,
        tilted=bool(somewhere(slope != 0.0)),
        sliding=settings.speed_mode == "SLOPE",
        limited=limited,
        constant=fixed or all(type(value) is float for value in quantities.values()),
    )


def _within_reach(limit: Sampled, rate: Sampled, step: float) -> Sampled:
    """The curvature limit that is left where it changes faster than curvature can.

    |C(t)| <= L(t) and |C'(t)| <= r(t) together mean |C(t)| <= L(s) + |int_s^t r| for
    all s: the least of these over s changes no faster than r, and a curvature on
    it keeps both limits, also where L jumps.
    """
    if np.ndim(limit) == 0:
        return limit
    rate = np.minimum(rate, np.ptp(limit) / step)  # more has no effect
    rate = np.broadcast_to(rate, np.shape(limit))
    change = step / 6.0 * (rate[:-2:2] + 4.0 * rate[1::2] + rate[2::2])
    if np.all(np.abs(np.diff(limit)) <= 0.5 * np.repeat(change, 2)):
        return limit
    # In straight lines between whole steps, each of which bounds what is half a step around it
    near = np.pad(limit, 1, mode="edge")
    least = np.minimum(np.minimum(near[:-2:2], near[1:-1:2]), near[2::2])
    way = np.concatenate(([0.0], np.cumsum(change)))
    after = np.minimum.accumulate(least - way) + way
    before = np.minimum.accumulate((least + way)[::-1])[::-1] - way
    result = np.repeat(np.minimum(after, before), 2)[:-1]
    result[1::2] = 0.5 * (result[:-2:2] + result[2::2])
    return result


def _tidy(name: str, value: Sampled) -> Sampled:
    """A quantity as a float, or as an array in one piece whose steps are safe to look up."""
    if np.ndim(value) == 0:
        return float(value)
    if name not in ("fall_line", "heading", "slope_direction"):
        value = _without_overshoot(np.array(value))
    return np.ascontiguousarray(value)


def _without_overshoot(values: np.ndarray) -> np.ndarray:
    """Move the middle sample of steps with a jump, so that their parabola is monotonic.

    Between samples a quantity follows the parabola through its step. Through
    a jump (constant keys) that would overshoot, even below zero.
    """
    start, middle, end = values[:-2:2], values[1::2], values[2::2]
    low, high = np.minimum(start, end), np.maximum(start, end)
    jump = np.maximum(high, middle) > 1.5 * np.minimum(low, middle)
    quarter = 0.25 * (high - low)
    values[1::2] = np.where(jump, np.clip(middle, low + quarter, high - quarter), middle)
    return values


def _turned(angle: Sampled, stretch: Sampled) -> Sampled:
    """How far a direction turns when its component along 0 is stretched."""
    if type(angle) is float and type(stretch) is float:
        sine, cosine = math.sin(angle), math.cos(angle)
        difference = math.atan2(sine, cosine * stretch) - math.atan2(sine, cosine)
    else:
        moved = np.arctan2(np.sin(angle), np.cos(angle) * stretch)
        difference = moved - np.arctan2(np.sin(angle), np.cos(angle))
    return (difference + math.pi) % (2.0 * math.pi) - math.pi


def _irregular(
    settings: TurningSettings, values: dict[str, Sampled], n_steps: int, step: float
) -> tuple[Sampled, Sampled]:
    """Frequency (Hz) and sharpness with the seeded variation put on."""
    frequency, sharpness = values["frequency"], values["sharpness"]
    if not (settings.amplitude_irregularity or settings.rhythm_irregularity):
        return frequency, sharpness
    count = 2 * n_steps + 1
    rate = np.broadcast_to(np.asarray(frequency, dtype=float), (count,))
    cycles = np.concatenate(([0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1])))) * (0.5 * step)
    seed = int(settings.seed)
    if settings.amplitude_irregularity:
        noise = smooth_noise(cycles, 2 * seed)
        most = math.radians(85.0)
        most = min(most, 0.98 * settings.fall_angle)
        sharpness = np.minimum(
            sharpness * (1.0 + settings.amplitude_irregularity * noise),
            np.maximum(most, sharpness),
        )
    if settings.rhythm_irregularity:
        noise = smooth_noise(cycles, 2 * seed + 1)
        frequency = frequency * (1.0 + settings.rhythm_irregularity * noise)
    return frequency, sharpness
