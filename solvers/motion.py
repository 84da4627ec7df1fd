# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion solver hands on: frozen arrays, time first, SI units, Z up.

World space is Blender's: Z up, metres, yaw anticlockwise about +Z. Lean and
curvature are positive to the left. A motion that starts at a `Placement`
heads along its -Y.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from .clock import Clock


@dataclass(frozen=True)
class Problem:
    """One line of the problem list: what, where, how much, what would help.

    Attributes:
        code: stable identifier in capitals ("FALL", "CURVATURE_CLIPPED").
        message: one sentence for the animator, with the numbers in it.
        severity: "ERROR" (no usable motion), "WARNING" or "INFO".
        time: seconds from the start of the motion, or None for the whole.
        end_time: end of the affected span in seconds, or None.
        bone: name of the bone concerned, or "".
        amount: how much, in SI units of the quantity concerned, or None.
        remedy: one sentence: what would help, or "".
        fix: setting changes that would help: ((setting, value), ...), where
            setting is what the solver calls it ("sharpness"); empty where there
            is no simple fix.
    """

    code: str
    message: str
    severity: str = "WARNING"
    time: float | None = None
    end_time: float | None = None
    bone: str = ""
    amount: float | None = None
    remedy: str = ""
    fix: tuple[tuple[str, float], ...] = ()


def told_apart(
    first: float, second: float, digits: int = 1, unit: str = "", most: int = 6
) -> tuple[str, str]:
    """Two numbers as a sentence puts them beside each other, in as many digits as tell them apart.

    Args:
        first: how much it is.
        second: how much it should be, or the limit, in the same unit.
        digits: behind the point where so many do.
        unit: put behind each ("\u00b0", " m/s").
        most: digits beyond which no number is written.

    Returns:
        The texts.
    """
    for places in range(digits, most + 1):
        texts = f"{first:.{places}f}{unit}", f"{second:.{places}f}{unit}"
        if texts[0] != texts[1]:
            return texts
    return f"{first:.{digits}f}{unit}", f"{second:.{digits}f}{unit}"


class Event(NamedTuple):
    """Something that happens at an exact time.

    Attributes:
        kind: "EDGE_CHANGE", "POLE_PLANT", "POLE_LIFT", "FALL", "STOP" ...
        time: seconds from the start of the motion, not rounded to frames.
        side: "L", "R" or "".
        position: world position (3,), or None.
    """

    kind: str
    time: float
    side: str = ""
    position: np.ndarray | None = None


@dataclass(frozen=True)
class Placement:
    """Where a motion starts: an origin and the way it faces, on the ground.

    Attributes:
        origin: world position (3,) in metres.
        yaw: turn about +Z in radians; 0 faces -Y, Blender's front.
    """

    origin: np.ndarray = field(default_factory=lambda: np.zeros(3))
    yaw: float = 0.0


@dataclass(frozen=True)
class BodyState:
    """The one hand-over between motions: how a body is at an instant.

    Attributes:
        position: world position (3,) of the foot (ground contact), metres.
        yaw: direction of travel about +Z in radians, 0 along -Y, unwrapped.
        speed: speed of the centre of mass, m/s.
        lean: radians, positive to the left.
        lean_rate: rad/s.
        curvature: curvature of the foot's path, 1/m, positive to the left.
        phase: phase of the turn, radians.
        contacts: names of the roles that touch the ground.
        control: what the controller that made the motion remembers, for it
            alone to read; () if nothing.
    """

    position: np.ndarray
    yaw: float
    speed: float
    lean: float = 0.0
    lean_rate: float = 0.0
    curvature: float = 0.0
    phase: float = 0.0
    contacts: tuple[str, ...] = ()
    control: tuple[float, ...] = ()


class HalfTurn(NamedTuple):
    """One half turn, from one crossing of the vertical to the next.

    Attributes:
        start: time of its start in seconds.
        end: time of its end in seconds (the end of the motion if it is cut).
        side: +1 to the left, -1 to the right.
        beta: turn modifier in use (van de Panne et al. 1993, section 5.2), 1 = none.
        wanted_change: heading change asked for, radians.
        change: heading change that came out, radians.
        saturated: True if the wanted change could not be had in this half
            turn and was spread over the following ones.
        complete: False for the first or last half turn if cut by the range.
    """

    start: float
    end: float
    side: int
    beta: float
    wanted_change: float
    change: float
    saturated: bool = False
    complete: bool = True


class Terrain(Protocol):
    """What lies under a motion, where it is no plane."""

    def height(self, x: np.ndarray, y: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Height over points of the ground plan.

        Args:
            x: (n,) m.
            y: (n,) m.
            near: (n,) heights, m: of several layers the nearest counts.

        Returns:
            (n,) m; nan where there is none.
        """


@dataclass(frozen=True)
class TurningMotion:
    """A turning body over time: the inverted pendulum on its ground.

    All arrays have n samples, one per solver step, `steps_per_frame` to a
    frame; sample 0 is the first frame of the motion.

    Attributes:
        time: (n,) seconds from the start.
        steps_per_frame: solver steps per frame; frame i is sample
            i * steps_per_frame.
        position: (n, 3) world position of the foot (ground contact).
        forward: (n, 3) unit tangent of the foot's path, in the ground.
        left: (n, 3) unit vector to the left, in the ground.
        normal: (n, 3) unit ground normal.
        yaw: (n,) direction of travel in the ground plane, radians,
            anticlockwise, unwrapped, 0 along the placement's facing.
        heading: (n,) heading asked for, same zero, radians.
        lean: (n,) angle from the ground normal, radians, + left.
        lean_rate: (n,) rad/s.
        lean_acceleration: (n,) rad/s^2.
        curvature: (n,) curvature of the foot's path, 1/m, + left.
        speed: (n,) speed of the centre of mass, m/s.
        foot_speed: (n,) speed of the foot, m/s.
        distance: (n,) path length of the foot, m.
        force_lateral: (n,) F_x, N, positive to the right as in the paper.
        force_normal: (n,) F_y, N, along the ground normal.
        leg_force: (n,) sqrt(F_x^2 + F_y^2), N.
        phase: (n,) radians, unwrapped, grows with time; 0 (mod 2 pi) while
            crossing the vertical towards the left.
        max_lean: (n,) theta_max in force, radians.
        frequency: (n,) turning frequency in force, rad/s (omega_0).
        clipped: (n,) bool, True where a curvature bound was active.
        half_turns: the half turns in order.
        events: edge changes, falls, stops, in order of time.
        problems: the problem list.
        success: False if the figure fell or stopped within the range.
        end_state: hand-over to a following motion.
        mass: kg.
        height: height l of the centre of mass over the foot, m.
        inertia: moment of inertia about the centre of mass, kg m^2.
        gravity: m/s^2.
        max_curvature: bound on |curvature| in use, 1/m.
        surfaces: terrain that the motion is on: (start, end, surface), times
            in seconds; outside, the ground is the plane of `position` and
            `normal`. On it `position` and `normal` are those of the terrain
            as a body feels it, evened out; the surface is what equipment
            lies on.
        steered: where steering is decided from stage to stage: (start, end,
            seconds over which a body evens it out), times in seconds.
    """

    time: np.ndarray
    steps_per_frame: int
    position: np.ndarray
    forward: np.ndarray
    left: np.ndarray
    normal: np.ndarray
    yaw: np.ndarray
    heading: np.ndarray
    lean: np.ndarray
    lean_rate: np.ndarray
    lean_acceleration: np.ndarray
    curvature: np.ndarray
    speed: np.ndarray
    foot_speed: np.ndarray
    distance: np.ndarray
    force_lateral: np.ndarray
    force_normal: np.ndarray
    leg_force: np.ndarray
    phase: np.ndarray
    max_lean: np.ndarray
    frequency: np.ndarray
    clipped: np.ndarray
    half_turns: tuple[HalfTurn, ...]
    events: tuple[Event, ...]
    problems: tuple[Problem, ...]
    success: bool
    end_state: BodyState
    mass: float
    height: float
    inertia: float
    gravity: float
    max_curvature: float
    surfaces: tuple[tuple[float, float, Terrain], ...] = ()
    steered: tuple[tuple[float, float, float], ...] = ()

    @property
    def clock(self) -> Clock:
        """When the samples are."""
        return Clock.even(self.time, self.steps_per_frame)
