# SPDX-License-Identifier: GPL-3.0-or-later
"""How a bicycle stands and rolls: lean, steer, pitch, contacts and wheels.

Ground space as in `trunk`: x left, y back, z up, heading along -y. A tyre is a
torus: its section's middle, a circle of radius R - r, stands r over the
ground point below it. That circle is a wheel with an edge, so that everything
known of a bicycle on knife edges holds on the plane at height r.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...solvers.motion import TurningMotion
from ...solvers.rotations import from_axis_angle, multiply, normalise, rotate
from .ground import terrain_over
from .signals import Amount
from .tracks import Figure, RoleTracks
from .trunk import posture

ROUNDS, TOLERANCE = 30, 1e-11  # of the search for steer and pitch; metres
TIGHTEST = 0.9  # largest share of its trailing length that a track's curvature may ask for
UP, LEFT = np.array((0.0, 0.0, 1.0)), np.array((1.0, 0.0, 0.0))


@dataclass(frozen=True)
class Geometry:
    """A bicycle without its rider.

    Attributes:
        wheel: outer radius of both wheels, metres.
        tyre: radius of the tyres' section, metres.
        head_angle: of the steering axis from the ground, radians.
        fork: (3,) a point of the steering axis, from the rear axle, upright.
        front: (3,) front axle from that point.
    """

    wheel: float
    tyre: float
    head_angle: float
    fork: np.ndarray
    front: np.ndarray

    @property
    def axis(self) -> np.ndarray:
        """Direction (3,) of the steering axis, upwards and back."""
        return np.array((0.0, np.cos(self.head_angle), np.sin(self.head_angle)))

    @property
    def wheelbase(self) -> float:
        """Distance between the contacts, upright and straight, metres."""
        return float(-(self.fork + self.front)[1])

    @property
    def trail(self) -> float:
        """How far the steering axis meets the ground ahead of the front contact, metres."""
        rise = self.wheel - float(self.front[2])  # of the axis' point over the ground
        along = rise / np.tan(self.head_angle)
        return float(along + self.front[1])


def geometry_of(figure: Figure) -> Geometry:
    """The bicycle of a cyclist's figure.

    Args:
        figure: a cyclist's rest pose.
    """
    joints = {name: np.asarray(place) for name, place in figure.joints.items()}
    return Geometry(
        wheel=figure.equipment["wheel_radius"],
        tyre=figure.equipment["tyre_radius"],
        head_angle=figure.equipment["head_angle"],
        fork=joints["fork"] - joints["rear_wheel"],
        front=joints["front_wheel"] - joints["fork"],
    )


def ground_steer(steer: Amount, lean: Amount, caster: Amount) -> np.ndarray:
    """Angle on the ground between the tracks of front and rear wheel, radians to the left.

    tan(d_g) = sin(d) cos(c) / (cos(d) cos(l) - sin(d) sin(c) sin(l)), where d
    is the turn of the handlebars, l the lean of the frame and c the caster
    angle (90 degrees less the head angle). From the axle of the steered wheel,
    e = left' cos(d) + (axis x left') sin(d), whose part in the ground is
    square to the track. Small angles: d_g = d cos(c) / cos(l); upright, that
    is the yaw rate v d cos(c) / w of Meijaard et al. 2007 without their term
    of the rate of steer.

    Args:
        steer: turn of the handlebars about the steering axis, radians to the left.
        lean: lean of the frame, radians to the left.
        caster: tilt of the steering axis, radians backwards.
    """
    side = np.sin(steer) * np.cos(caster)
    ahead = np.cos(steer) * np.cos(lean) - np.sin(steer) * np.sin(caster) * np.sin(lean)
    return np.arctan2(side, ahead)


def steer_for(angle: Amount, lean: Amount, caster: Amount) -> np.ndarray:
    """Turn of the handlebars that gives an angle on the ground; undoes `ground_steer`.

    Args:
        angle: on the ground, radians to the left.
        lean: lean of the frame, radians to the left.
        caster: tilt of the steering axis, radians backwards.
    """
    side = np.sin(angle) * np.cos(lean)
    ahead = np.cos(angle) * np.cos(caster) + np.sin(angle) * np.sin(caster) * np.sin(lean)
    return np.arctan2(side, ahead)


def trailing_angle(yaw: np.ndarray, distance: np.ndarray, length: float) -> np.ndarray:
    """Angle from the frame to the track of a point ahead of the rear contact, radians.

    The rear wheel cannot slip sideways, so it is drawn after that point like
    the end of a rod (a tractrix): b' = C - sin(b) / a along the track. On an
    arc tan(b / 2) is a quotient of solutions of a linear equation, exact for
    any step. It begins as if the curvature had changed before as it does then.

    Args:
        yaw: (n,) direction of the point's track, radians, unwrapped.
        distance: (n,) length of the track, metres.
        length: a, distance of the point from the rear contact, metres; below
            one over the track's largest curvature.

    Returns:
        (n,) b; the frame's direction is yaw - b.
    """
    step, turn = np.diff(distance), np.diff(yaw)
    far = step > 1e-12
    curvature = np.where(far, turn / np.where(far, step, 1.0), 0.0)
    curvature = np.clip(curvature, -TIGHTEST / length, TIGHTEST / length)
    rate = np.sqrt(0.25 / length**2 - 0.25 * curvature**2)
    share = np.tanh(rate * np.maximum(step, 0.0)) / rate
    a, b = 1.0 - 0.5 * share / length, 1.0 + 0.5 * share / length
    c = 0.5 * share * curvature
    tangent = [float(np.tan(0.5 * np.arcsin(_begins(curvature[far], step[far], length))))]
    for up, down, bend in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        t = tangent[-1]
        tangent.append((up * t + bend) / (down - bend * t))
    return 2.0 * np.arctan(np.array(tangent))


def _begins(curvature: np.ndarray, step: np.ndarray, length: float) -> float:
    """Sine of the first trailing angle: a (C - a dC/ds), from the first two steps."""
    if len(step) == 0:
        return 0.0
    slope = 0.0
    if len(step) > 1:
        slope = float((curvature[1] - curvature[0]) / (0.5 * (step[0] + step[1])))
    first = float(curvature[0]) - slope * (0.5 * float(step[0]) + length)
    return float(np.clip(first * length, -TIGHTEST, TIGHTEST))


@dataclass(frozen=True)
class Standing:
    """A bicycle on the ground, in ground space with the rear contact at the origin.

    Attributes:
        steer: (n,) turn of the handlebars, radians to the left.
        pitch: (n,) forward pitch of the frame that keeps both wheels down, radians.
        rotation: (n, 4) of the frame against its rest pose.
        fork_rotation: (n, 4) of the fork.
        rear_axle: (n, 3).
        fork: (n, 3) the steering axis' point.
        front_axle: (n, 3).
        contact: (n, 3) of the front tyre on the ground.
        rear_rolling: (n,) distance of the rear contact from its axle, metres.
        front_rolling: (n,) the same of the front wheel.
        track_angle: (n,) direction of the front wheel on the ground, radians to the left.
    """

    steer: np.ndarray
    pitch: np.ndarray
    rotation: np.ndarray
    fork_rotation: np.ndarray
    rear_axle: np.ndarray
    fork: np.ndarray
    front_axle: np.ndarray
    contact: np.ndarray
    rear_rolling: np.ndarray
    front_rolling: np.ndarray
    track_angle: np.ndarray

    def place(self, offset: np.ndarray) -> np.ndarray:
        """Where a point of the frame is (n, 3).

        Args:
            offset: (3,) or (n, 3) from the rear axle, in the rest pose.
        """
        return self.rear_axle + rotate(self.rotation, offset)

    def on_fork(self, offset: np.ndarray) -> np.ndarray:
        """Where a point of the fork is (n, 3).

        Args:
            offset: (3,) or (n, 3) from the steering axis' point, in the rest pose.
        """
        return self.fork + rotate(self.fork_rotation, offset)


def stand_up(geometry: Geometry, lean: np.ndarray, curvature: np.ndarray) -> Standing:
    """Steer a leaned bicycle along a curve, both wheels on the ground.

    Neither wheel slips sideways in a steady turn: all points turn about the
    centre on the rear axle's line, so the front wheel points along
    (1 - C y, C x), where x, y are ahead and left of its contact and C is the
    curvature of the rear wheel's track. Steer and pitch are found together.
    What the rate of steer adds (trail x rate / speed, some tenths of a
    degree) is left out.

    Args:
        geometry: the bicycle.
        lean: (n,) lean of the frame, radians to the left.
        curvature: (n,) of the rear wheel's track, 1/m, + left.
    """
    thin = geometry.wheel - geometry.tyre
    caster = 0.5 * np.pi - geometry.head_angle
    zero = np.zeros_like(lean)
    rear = np.stack((np.sin(lean), zero, np.cos(lean)), axis=-1) * thin
    rear[:, 2] += geometry.tyre
    pitch, ahead, left = zero, zero + geometry.wheelbase, zero
    slope = geometry.wheelbase * np.cos(lean)
    for _ in range(ROUNDS):
        angle = np.arctan2(curvature * ahead, 1.0 - curvature * left)
        steer = steer_for(angle, lean, caster - pitch)
        rotation = posture(lean, zero, pitch)
        turned = multiply(rotation, from_axis_angle(geometry.axis, steer))
        fork = rear + rotate(rotation, geometry.fork)
        axle = fork + rotate(turned, geometry.front)
        side = rotate(turned, LEFT)
        down = normalise(side * side[:, 2:] - UP)
        edge = axle + thin * down
        error = edge[:, 2] - geometry.tyre
        moved = np.abs(edge[:, 0] - left) + np.abs(edge[:, 1] + ahead) + np.abs(error)
        pitch, ahead, left = pitch + error / slope, -edge[:, 1], edge[:, 0]
        if moved.max() < TOLERANCE:
            break
    contact = edge.copy()
    contact[:, 2] = 0.0
    return Standing(
        steer=steer,
        pitch=pitch,
        rotation=rotation,
        fork_rotation=turned,
        rear_axle=rear,
        fork=fork,
        front_axle=axle,
        contact=contact,
        rear_rolling=thin + geometry.tyre * np.cos(lean),
        front_rolling=thin - geometry.tyre * down[:, 2],
        track_angle=angle,
    )


def track_length(places: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Length of a track from its first sample on: chords as arcs, metres.

    An arc is longer than its chord by (a / 2) / sin(a / 2), where a is how far
    the direction turns.

    Args:
        places: (n, 3) world positions.
        direction: (n,) direction of travel about the normal, radians, unwrapped.
    """
    chords = np.linalg.norm(np.diff(places, axis=0), axis=1)
    half = 0.5 * np.diff(direction)
    return np.concatenate(([0.0], np.cumsum(chords / np.sinc(half / np.pi))))


def rolled(distance: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """How far a wheel has turned, radians: integral of ds / radius.

    Without slip the material point on the ground stands still. The radius is
    the distance of that point from the axle: the wheel's own on an upright
    wheel, up to the tyre's section less on a leaned one, which rolls on its
    shoulder.

    Args:
        distance: (n,) length of the wheel's own track, metres.
        radius: (n,) distance of contact and axle, metres.
    """
    inverse = 1.0 / np.broadcast_to(radius, distance.shape)
    mean = 0.5 * (inverse[1:] + inverse[:-1])
    return np.concatenate(([0.0], np.cumsum(np.diff(distance) * mean)))


def tyre_track(
    motion: TurningMotion, tracks: RoleTracks, role: str, equipment: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Direction of a wheel's axle on the ground, its lean, and where its tyre touches.

    Args:
        motion: the motion, for its ground.
        tracks: where the wheels are.
        role: "front_wheel" or "rear_wheel".
        equipment: lengths in metres, as `Figure.equipment` has them.

    Returns:
        (n, 3) unit vectors to the left, (n,) radians to the left, (n, 3)
        points in the world, metres.
    """
    normal = motion.normal
    axle = rotate(np.asarray(tracks.rotation[role]), LEFT)
    rise = np.einsum("ni,ni->n", axle, normal)
    flat = normalise(axle - rise[:, None] * normal)
    lean = -np.arcsin(np.clip(rise, -1.0, 1.0))
    # Under the wheel's lowest edge: the tyre's section is round.
    thin = equipment["wheel_radius"] - equipment["tyre_radius"]
    hub = np.asarray(tracks.position[role])
    height = np.einsum("ni,ni->n", hub - motion.position, normal)
    place = hub - height[:, None] * normal - (thin * np.sin(lean))[:, None] * flat
    place += terrain_over(motion, place)[:, None] * normal
    return flat, lean, place
