# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion amplification for a skateboarder: a deck that steers by its tilt, wheels that roll.

After van de Panne et al. 1993, section 7: the body as the snowboarder's. The
deck is not edged with the body: its trucks turn the wheels as it tilts, so the
curvature of the path alone says how far, and the ankles take the difference
to the lean. The arms swing against the fall.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import radians

import numpy as np

from ...solvers.motion import TurningMotion
from ...solvers.rotations import from_axis_angle, multiply, normalise, rotate
from .reports import span_problem
from .rows import angle, length
from .signals import Amount, limited
from .snowboarder import Deck, Ride, SidewaysStyle, feet_on, map_sideways
from .tracks import SIDES, Figure, RoleTracks
from .trunk import posture

FRONT, REAR = "front", "rear"
TRUCKS = (FRONT, REAR)
_AHEAD = {FRONT: 1.0, REAR: -1.0}


@dataclass(frozen=True)
class SkateboarderStyle(SidewaysStyle):
    """How a skateboarder moves: in addition to `SidewaysStyle`, trucks and balance."""

    SECTIONS = ("Trucks", *SidewaysStyle.SECTIONS)

    pivot_angle: Amount = angle("Pivot Angle", 45, (20, 60), (15, 70),
        "Angle over the ground of the axes that the trucks turn about: the steeper, the more they "
        "steer for the same tilt", section="Trucks")
    tilt_limit: Amount = angle("Tilt Limit", 18, (5, 30), (2, 40),
        "Tilt at which the bushings stop the deck")
    arm_balance: Amount = length("Balance", 0.1, (0.0, 0.4), (-0.4, 0.5),
        "How far the hands swing against a quick change of lean", section="Arms")
    knee_flexion: Amount = radians(38.0)
    up_down: Amount = 0.12
    unweighting_amount: Amount = 0.012
    heel_sit: Amount = radians(18.0)
    toe_press: Amount = radians(10.0)
    front_weight: Amount = 0.02
    trunk_pitch: Amount = radians(20.0)
    heel_bend: Amount = radians(8.0)
    twist: Amount = radians(18.0)
    gaze_down: Amount = radians(14.0)
    hand_raise: Amount = 0.02
    inside_hand: Amount = 0.04


# Styles by name: knees, stances and speeds as riders give them.
STYLES: dict[str, SkateboarderStyle] = {
    "beginner": SkateboarderStyle(
        knee_flexion=radians(26.0),
        up_down=0.08,
        unweighting_amount=0.01,
        heel_sit=radians(8.0),
        toe_press=radians(0.0),
        trunk_pitch=radians(24.0),
        arm_balance=0.16,
        twist=radians(6.0),
        twist_lead=radians(5.0),
        arms_lead=0.1,
        look_ahead=0.5,
        gaze_down=radians(22.0),
        hand_raise=0.14,
        hand_spread=0.06,
    ),
    "cruising": SkateboarderStyle(),
    "carving": SkateboarderStyle(
        knee_flexion=radians(48.0),
        up_down=0.06,
        unweighting_amount=0.04,
        heel_sit=radians(22.0),
        toe_press=radians(27.0),
        trunk_pitch=radians(26.0),
        heel_bend=radians(2.0),
        arm_balance=0.14,
        twist=radians(26.0),
        twist_lead=radians(35.0),
        arms_lead=0.5,
        hand_raise=0.06,
        hand_spread=0.04,
        inside_hand=0.10,
    ),
    "slalom": SkateboarderStyle(
        pivot_angle=radians(52.0),
        knee_flexion=radians(46.0),
        up_down=0.03,
        unweighting_amount=0.02,
        heel_sit=radians(16.0),
        toe_press=radians(18.0),
        trunk_pitch=radians(26.0),
        heel_bend=radians(2.0),
        arm_balance=0.12,
        twist=radians(22.0),
        twist_lead=radians(30.0),
        face_heading=0.6,
        hand_raise=0.04,
    ),
}


def map_skateboarder(
    motion: TurningMotion, figure: Figure, style: SkateboarderStyle
) -> RoleTracks:
    """Pose a skateboarder for every sample of a turning motion.

    Regular or goofy is read from the figure: the foot that stands ahead leads.

    Args:
        motion: the solved motion.
        figure: the skateboarder's rest pose and board.
        style: how it moves.

    Returns:
        Tracks of root, board, front_truck, rear_truck, pelvis, spine, chest,
        neck, head and, per side, front_wheel, rear_wheel, shoulder, hand,
        elbow, knee and foot.
    """
    return map_sideways(motion, figure, style, _skateboard)


def deck_tilt(curvature: np.ndarray, wheelbase: float, pivot: Amount) -> np.ndarray:
    """Tilt of a deck whose trucks steer a curvature: sin(tilt) = C wheelbase / (2 tan(pivot)).

    Both axles steer by the same angle d, the rear one the other way, so that
    their lines meet at the distance 1/C = wheelbase / (2 tan d) to the side of
    the board's middle. For d see `hanger_turn`.

    Args:
        curvature: (n,) of the path of the board's middle, 1/m, + left.
        wheelbase: between the axles, metres.
        pivot: angle of the trucks' axes over the ground, radians.

    Returns:
        (n,) radians, + left; a quarter turn where no tilt is enough.
    """
    sine = np.asarray(curvature) * wheelbase / (2.0 * np.tan(pivot))
    return np.arcsin(np.clip(sine, -1.0, 1.0))


def hanger_turn(tilt: np.ndarray, pivot: Amount) -> np.ndarray:
    """Turn f of the front truck that leaves its axle level: tan(f) = tan(tilt) / cos(pivot).

    The axle is across the board; the axis lies in the board's plane of
    symmetry, `pivot` over its length. Turned by f about the axis and tilted
    with the deck by t, the axle's end is raised by sin(f) cos(pivot) cos(t) -
    cos(f) sin(t). Both its wheels stay on the ground where that is 0; then the
    axle points tan(d) = tan(pivot) sin(t) across the way, which is the
    steering angle (the truck law: Hubbard 1979, J. Appl. Mech. 46:931). The
    rear truck turns the other way.

    Args:
        tilt: (n,) of the deck, radians.
        pivot: angle of the axis over the deck, radians.

    Returns:
        (n,) radians.
    """
    return np.arctan(np.tan(tilt) / np.cos(pivot))


def rolled(place: np.ndarray, ahead: np.ndarray, radius: float) -> np.ndarray:
    """Angle (n,) by which a wheel has rolled: way along its heading over its radius, radians.

    Between samples the way is taken as the arc that has the chord and the
    turn of the heading: chord (a/2) / sin(a/2).

    Args:
        place: (n, 3) of its centre.
        ahead: (n, 3) its heading, unit.
        radius: metres.
    """
    if len(place) < 2:
        return np.zeros(len(place))
    middle = ahead[1:] + ahead[:-1]
    length = np.linalg.norm(middle, axis=1)
    chord = np.einsum("ni,ni->n", np.diff(place, axis=0), middle) / np.maximum(length, 1e-9)
    half = np.arccos(np.clip(0.5 * length, -1.0, 1.0))
    way = chord / np.sinc(half / np.pi)
    return np.concatenate(([0.0], np.cumsum(way))) / radius


def coasting(
    joints: Mapping[str, np.ndarray], position: np.ndarray, rotation: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Trucks and wheels of a deck that is not steered: wheels turn on as it goes on.

    angle = way / radius, the way being that along the heading that the deck sets out with, so
    that one turned in the air leaves its wheels as they were.

    Args:
        joints: role -> (3,) in the rest pose, m.
        position: (n, 3) of the deck, m.
        rotation: (n, 4) of it.

    Returns:
        Role -> (n, 4) rotations; wheel -> (n,) angle, radians, whole turns counted.
    """
    radius = float(joints[f"{FRONT}_truck"][2] - joints["board"][2])
    ahead = rotate(rotation[0], np.array((0.0, -1.0, 0.0))) * (1.0, 1.0, 0.0)
    angle = (position - position[0]) @ normalise(ahead) / radius
    rolling = multiply(rotation, from_axis_angle(np.array((1.0, 0.0, 0.0)), angle))
    wheels = [f"{end}_wheel.{side}" for end in TRUCKS for side in SIDES]
    turns = {f"{end}_truck": rotation for end in TRUCKS} | dict.fromkeys(wheels, rolling)
    return turns, dict.fromkeys(wheels, angle)


def _skateboard(ride: Ride, style: SkateboarderStyle) -> Deck:
    signals, figure = ride.signals, ride.figure
    joints = {name: np.asarray(place) for name, place in figure.joints.items()}
    axle = {end: joints[f"{end}_truck"] - joints["board"] for end in TRUCKS}
    radius = float(axle[FRONT][2])
    wheelbase = float(axle[REAR][1] - axle[FRONT][1])
    wanted = deck_tilt(signals.curvature, wheelbase, style.pivot_angle)
    tilt = limited(wanted, style.tilt_limit, 0.9)
    problems = span_problem(
        signals.time, np.abs(wanted - tilt), radians(0.5), code="TRUCK_LIMITED", unit="rad",
        message="The deck tilts less than its trucks would have to", bone="board",
        remedy="A steeper Pivot Angle, a higher Tilt Limit, or wider turns",
    )
    # The axles stay level at the height of the wheels: the deck rolls about their line.
    zero = np.zeros_like(tilt)
    rotation = posture(tilt, 0.0, 0.0)
    height = np.stack((zero, zero, zero + radius), axis=-1)
    position = height - rotate(rotation, np.array((0.0, 0.0, radius)))
    places, turns, spins, named = {}, {}, {}, {}
    hanger = hanger_turn(tilt, style.pivot_angle)
    slope = np.stack((0.0 * np.asarray(style.pivot_angle), np.cos(style.pivot_angle),
                      np.sin(style.pivot_angle)), axis=-1)
    for end in TRUCKS:
        truck = f"{end}_truck"
        axis = slope * (1.0, -_AHEAD[end], 1.0)
        turns[truck] = multiply(rotation, from_axis_angle(axis, _AHEAD[end] * hanger))
        places[truck] = position + rotate(rotation, axle[end])
        left = rotate(turns[truck], np.array((1.0, 0.0, 0.0)))
        named[f"steer_angle.{end}"] = np.arctan2(left[:, 1], left[:, 0])
        for side in SIDES:
            wheel = f"{end}_wheel.{side}"
            offset = joints[wheel] - joints[truck]
            places[wheel] = places[truck] + rotate(turns[truck], offset)
            ahead = np.stack((left[:, 1], -left[:, 0], zero), axis=-1)
            spins[wheel] = rolled(
                ride.ground.world(places[wheel]), rotate(ride.ground.rotation, ahead), radius
            )
            turns[wheel] = multiply(
                turns[truck], from_axis_angle(np.array((1.0, 0.0, 0.0)), spins[wheel])
            )
    ankle, toes = feet_on(figure, position, rotation)
    balance = np.asarray(style.arm_balance) * ride.size
    return Deck(
        rotation=rotation,
        position=position,
        ankle=ankle,
        toes=toes,
        tilt=tilt,
        skid=zero,
        sway=-balance * signals.lean_rate_share * signals.intensity,
        places=places,
        turns=turns,
        spins=spins,
        problems=problems,
        attributes={"deck_tilt": tilt, **named},
        remedy="Less Max Lean, or more knee bend",
    )
