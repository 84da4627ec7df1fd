# SPDX-License-Identifier: GPL-3.0-or-later
"""Rest poses of Poise's legged characters, in character space. Numpy only.

A horse, a dog, a person and an insect stand on z = 0 and look along -Y; the origin is
on the ground between their feet. A leg is laid out from the ground up: each segment
by its length and by how steep it is, as anatomists draw a standing animal. Every length
is a share of the character's size: height at the withers, stature, length of the body.

Horse of 1.60 m at the withers: scapula 0.42, humerus 0.30, radius 0.38, fore cannon
0.24, pastern 0.14, femur 0.40, tibia 0.38, hind cannon 0.30 m. Between the middles of
joints half a carpus (0.06 m) or the tarsus (0.07 m) comes to the cannons, and 0.015 m of
the pastern is within the hoof. Standing angles of the textbooks (Budras, Sack and Röck,
Anatomy of the Horse; Nickel, Schummer and Seiferle): scapula 55 to 60 degrees
steep, shoulder 115 to 125 degrees, elbow 140 to 150, carpus 180, fetlock 140 to 145
behind, hoof and pastern 50 to 55 degrees steep, stifle 135 to 150, hock 150 to 155.

Dog of 0.60 m at the withers, of the build of a shepherd: scapula 0.16, humerus 0.175,
radius 0.185, fore paw 0.075 to the ball; femur 0.19, tibia 0.20, hock to ball
0.13 m. Standing angles (Miller's Anatomy of the Dog; breed standards): shoulder 110 to
120 degrees, elbow 135 to 140, stifle 125 to 135, hock 130 to 140.

The person is the mannequin, see `skeleton.standard_proportions`. The insect is built
as ants and ground beetles are, and as large as a dog, so that it can be seen: a coxa
under the thorax, a femur that rises to the knee, a tibia, with tarsus, down to the ground.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import cos, radians, sin

import numpy as np

from ....solvers.errors import SettingError
from ...mapping.legs import FOOT, HOOF, PAW, TIP, LegChain, LeggedFigure
from . import skeleton
from .skeleton import facing_frame, hip_height, standard_proportions, unit

HORSE, DOG, BIPED, INSECT = "HORSE", "DOG", "BIPED", "INSECT"

_SIDES = (("L", 1.0), ("R", -1.0))


def _along(start: np.ndarray, length: float, steep: float, back: float, out: float = 0.0):
    """Point at the upper end of a segment that leans back (+) or ahead (-)."""
    level = length * cos(radians(steep))
    return start + np.array([out, back * level, length * sin(radians(steep))])


def _column(tip: np.ndarray, steps) -> list[np.ndarray]:
    """Joints of a leg from its tip up: (length, degrees steep, back, out) each."""
    points = [tip]
    for length, steep, back, out in steps:
        points.append(_along(points[-1], length, steep, back, out))
    return points


def _leg(
    joints: dict[str, np.ndarray], girdle: str, side: str, points: list[np.ndarray], distance: float
) -> tuple[str, ...]:
    """Put a leg's joints, from its tip up, and its pole in place; returns its segments."""
    count = len(points) - 1
    segments = tuple(f"{girdle}.{n + 1}.{side}" for n in range(count))
    for name, point in zip((f"{girdle}.tip.{side}", *reversed(segments)), points, strict=True):
        joints[name] = point
    # In the plane of the two that are bent, on the side of their joint.
    start, joint, end = (joints[segment] for segment in segments[:3])
    chord = unit(end - start)
    out = joint - start
    joints[f"{girdle}.pole.{side}"] = joint + distance * unit(out - chord * float(chord @ out))
    return segments


def _line(joints: dict[str, np.ndarray], name: str, points) -> tuple[str, ...]:
    """Numbered joints in the middle plane: (back, up) each."""
    roles = tuple(f"{name}.{n + 1}" for n in range(len(points)))
    for role, (back, up) in zip(roles, points, strict=True):
        joints[role] = np.array([0.0, back, up])
    return roles


def horse(height: float = 1.60, mass: float | None = None) -> LeggedFigure:
    """A horse.

    Args:
        height: at the withers, m.
        mass: kg; None for that of a horse of this height, 500 kg at 1.60 m.
    """
    joints: dict[str, np.ndarray] = {"root": np.zeros(3)}
    legs = []
    for side, sign in _SIDES:
        # From the toe of the hoof up: hoof, pastern, cannon, tibia, femur.
        tip = np.array([sign * 0.150, 0.455, 0.0])
        hind = _column(tip, (
            (0.100, 48.0, 1.0, 0.0), (0.125, 54.0, 1.0, 0.0), (0.370, 88.0, 1.0, sign * 0.005),
            (0.380, 59.0, -1.0, sign * 0.025), (0.400, 72.0, 1.0, -sign * 0.045),
        ))
        segments = _leg(joints, "hind", side, hind, 0.45)
        legs.append(LegChain(
            f"hind.{side}", 0, segments, 0, f"hind.pole.{side}", f"hind.tip.{side}",
            heel=0.115, foot=HOOF,
        ))
    for side, sign in _SIDES:
        tip = np.array([sign * 0.140, -0.640, 0.0])
        fore = _column(tip, (
            (0.100, 48.0, 1.0, 0.0), (0.125, 52.0, 1.0, 0.0), (0.300, 90.0, 1.0, 0.0),
            (0.380, 90.0, 1.0, sign * 0.010), (0.300, 56.0, -1.0, sign * 0.025),
            (0.420, 59.0, 1.0, -sign * 0.095),
        ))
        joints[f"clavicle.{side}"] = fore.pop()
        segments = _leg(joints, "fore", side, fore, 0.45)
        legs.append(LegChain(
            f"fore.{side}", 1, segments, 0, f"fore.pole.{side}", f"fore.tip.{side}",
            f"clavicle.{side}", heel=0.120, foot=HOOF,
        ))
    joints["pelvis"] = np.array([0.0, joints["hind.1.L"][1], joints["hind.1.L"][2] + 0.06])
    spine = _line(joints, "spine", ((0.300, 1.400), (0.060, 1.370), (-0.180, 1.340)))
    joints["chest"] = np.array([0.0, -0.400, 1.270])
    neck = _line(joints, "neck", ((-0.600, 1.340), (-0.760, 1.520), (-0.890, 1.690)))
    joints["head"] = np.array([0.0, -0.990, 1.840])
    joints["muzzle"] = np.array([0.0, -1.370, 1.440])
    tail = _line(joints, "tail", ((0.790, 1.420), (0.870, 1.300), (0.905, 1.120), (0.915, 0.920)))
    joints["tail_tip"] = np.array([0.0, 0.920, 0.560])
    figure = LeggedFigure(
        HORSE, joints, tuple(legs), ("pelvis", *spine, "chest"), (*neck, "head"), tail,
        mass=500.0, height=1.60,
    )
    return _sized(figure, height, mass)


def dog(height: float = 0.60, mass: float | None = None) -> LeggedFigure:
    """A dog of a shepherd's build.

    Args:
        height: at the withers, m.
        mass: kg; None for that of a dog of this height, 30 kg at 0.60 m.
    """
    joints: dict[str, np.ndarray] = {"root": np.zeros(3)}
    legs = []
    for side, sign in _SIDES:
        # From the tip of the toes up: toes, metatarsus with tarsus, tibia, femur.
        tip = np.array([sign * 0.075, 0.185, 0.0])
        hind = _column(tip, (
            (0.062, 24.0, 1.0, 0.0), (0.130, 80.0, 1.0, sign * 0.004),
            (0.200, 52.0, -1.0, sign * 0.008), (0.190, 68.0, 1.0, -sign * 0.022),
        ))
        segments = _leg(joints, "hind", side, hind, 0.18)
        legs.append(LegChain(
            f"hind.{side}", 0, segments, 0, f"hind.pole.{side}", f"hind.tip.{side}",
            heel=0.075, foot=PAW,
        ))
    for side, sign in _SIDES:
        tip = np.array([sign * 0.070, -0.255, 0.0])
        fore = _column(tip, (
            (0.060, 24.0, 1.0, 0.0), (0.082, 76.0, 1.0, 0.0), (0.185, 89.0, 1.0, sign * 0.004),
            (0.175, 52.0, -1.0, sign * 0.006), (0.160, 56.0, 1.0, -sign * 0.030),
        ))
        joints[f"clavicle.{side}"] = fore.pop()
        segments = _leg(joints, "fore", side, fore, 0.18)
        legs.append(LegChain(
            f"fore.{side}", 1, segments, 0, f"fore.pole.{side}", f"fore.tip.{side}",
            f"clavicle.{side}", heel=0.075, foot=PAW,
        ))
    joints["pelvis"] = np.array([0.0, joints["hind.1.L"][1], joints["hind.1.L"][2] + 0.015])
    spine = _line(joints, "spine", ((0.120, 0.520), (0.020, 0.525), (-0.080, 0.520)))
    joints["chest"] = np.array([0.0, -0.165, 0.480])
    neck = _line(joints, "neck", ((-0.240, 0.520), (-0.315, 0.610)))
    joints["head"] = np.array([0.0, -0.375, 0.705])
    joints["muzzle"] = np.array([0.0, -0.575, 0.660])
    tail = _line(joints, "tail", ((0.335, 0.515), (0.400, 0.440), (0.445, 0.350)))
    joints["tail_tip"] = np.array([0.0, 0.500, 0.255])
    figure = LeggedFigure(
        DOG, joints, tuple(legs), ("pelvis", *spine, "chest"), (*neck, "head"), tail,
        mass=30.0, height=0.60,
    )
    return _sized(figure, height, mass)


# The person stands with the knees eased, hands beside the thighs.
_EASED = radians(15.0)
_STATURE = 1.78
_UPPER_ARM, _FOREARM = (0.20, 0.06, -1.0), (0.10, -0.22, -1.0)


def stand(size: skeleton.Proportions) -> tuple[dict, dict, dict]:
    """Joints, facing and equipment of a person who stands, as a `Build` has them.

    Args:
        size: lengths of the body.
    """
    ahead = np.array([0.0, -1.0, 0.0])
    hip = np.array([0.0, 0.0, size.ankle + hip_height(0.0, _EASED, size)])
    yaws = dict.fromkeys(("pelvis", "spine", "chest", "neck", "head"), 0.0)
    joints, facing = skeleton.trunk(hip, size, yaws, radians(1.0))
    for side, sign in _SIDES:
        foot = joints[f"hip.{side}"] * (1.0, 1.0, 0.0)
        joints[f"foot.{side}"] = foot + np.array([0.0, 0.0, size.ankle])
        skeleton.leg(joints, facing, side, size, ahead)
        joints[f"toe_tip.{side}"] = foot + ahead * size.toe
        upper, fore = (np.array([sign * x, y, z]) for x, y, z in (_UPPER_ARM, _FOREARM))
        skeleton.arm(joints, facing, side, size, upper, fore)
        # Hanging arms: thumbs ahead, palms to the thighs.
        down = unit(fore)
        left = unit(np.array([1.0, 0.0, 0.0]) - down * float(down[0]))
        facing[f"hand.{side}"] = np.stack([left, -down, np.cross(left, -down)], axis=1)
    facing["root"] = facing_frame(0.0)
    return joints, facing, {"heel": size.heel}


def biped(height: float = 1.78, mass: float | None = None) -> LeggedFigure:
    """A person of standard proportions.

    Args:
        height: stature, m.
        mass: kg; None for 75 kg at 1.78 m.
    """
    size = standard_proportions(_STATURE)
    found, _, _ = stand(size)
    joints = {"root": np.zeros(3)}
    for name in ("pelvis", "spine", "chest", "neck", "head", "vertex"):
        joints[name] = found[name]
    legs = []
    for side, _ in _SIDES:
        for role, joint in (
            ("thigh", "hip"), ("shin", "knee_joint"), ("foot", "foot"), ("toe", "toe"),
            ("toe_tip", "toe_tip"), ("knee", "knee"), ("shoulder", "shoulder"),
            ("upper_arm", "upper_arm"), ("elbow_joint", "elbow_joint"), ("hand", "hand"),
            ("elbow", "elbow"),
        ):
            joints[f"{role}.{side}"] = found[f"{joint}.{side}"]
        legs.append(person_leg(side, size.heel, size.ball, size.toe))
    figure = LeggedFigure(
        BIPED, joints, tuple(legs), ("pelvis", "spine", "chest"), ("neck", "head"),
        arms=("L", "R"), mass=75.0, height=_STATURE,
    )
    return _sized(figure, height, mass)


def person_leg(side: str, heel: float, ball: float, toe: float) -> LegChain:
    """Leg of a person, whose foot rolls about the heel and the ball.

    Args:
        side: "L" or "R".
        heel: ankle to the rear end of the sole, along it, m.
        ball: ankle to the ball of the foot along the sole, m.
        toe: ankle to the tip of the toes along the sole, m.
    """
    return LegChain(
        f"leg.{side}", 0, tuple(f"{part}.{side}" for part in ("thigh", "shin", "foot", "toe")), 0,
        f"knee.{side}", f"toe_tip.{side}", heel=toe + heel, toe=ball - toe, foot=FOOT,
    )


# Pairs of legs of an insect from the front: where the coxa hangs (out, back, up), and where
# the foot stands (out, back); the middle and hind legs are longer.
_PAIRS = (
    ("fore", (0.055, -0.150, 0.205), (0.330, -0.420)),
    ("middle", (0.065, -0.030, 0.200), (0.430, -0.010)),
    ("hind", (0.060, 0.090, 0.205), (0.380, 0.440)),
)
_COXA = 0.060
_FEMUR = {"fore": 0.225, "middle": 0.235, "hind": 0.270}
_TIBIA = {"fore": 0.330, "middle": 0.335, "hind": 0.390}


def insect(length: float = 0.80, mass: float | None = None) -> LeggedFigure:
    """An insect with six legs, on the scale of a dog.

    Args:
        length: from head to end of the abdomen, m.
        mass: kg; None for 25 kg at 0.80 m.
    """
    joints: dict[str, np.ndarray] = {"root": np.zeros(3)}
    legs = {}
    for number, (name, hang, foot) in enumerate(_PAIRS, start=1):
        for side, sign in _SIDES:
            mirror = np.array([sign, 1.0, 1.0])
            coxa = np.array(hang) * mirror
            tip = np.array([*foot, 0.0]) * mirror
            way = unit((tip - coxa) * (1.0, 1.0, 0.0))
            hip = coxa + _COXA * unit(way - 0.55 * skeleton.UP)
            knee = skeleton.two_bone_joint(
                hip, tip, _FEMUR[name], _TIBIA[name], skeleton.UP
            )
            segments = tuple(f"leg{number}.{n}.{side}" for n in (1, 2, 3))
            for role, point in zip(segments, (coxa, hip, knee), strict=True):
                joints[role] = point
            joints[f"leg{number}.tip.{side}"] = tip
            joints[f"leg{number}.pole.{side}"] = knee + skeleton.UP * 0.20
            legs[f"{name}.{side}"] = LegChain(
                f"{name}.{side}", 0, segments, 1, f"leg{number}.pole.{side}",
                f"leg{number}.tip.{side}", foot=TIP, carrier="pelvis",
            )
    # The thorax is one stiff box, which carries all legs, and its shield ahead the chest.
    joints["pelvis"] = np.array([0.0, 0.110, 0.230])
    joints["chest"] = np.array([0.0, -0.155, 0.240])
    joints["neck.1"] = np.array([0.0, -0.200, 0.245])
    joints["head"] = np.array([0.0, -0.235, 0.250])
    joints["muzzle"] = np.array([0.0, -0.380, 0.215])
    tail = _line(joints, "tail", ((0.130, 0.235), (0.240, 0.250)))
    joints["tail_tip"] = np.array([0.0, 0.420, 0.225])
    figure = LeggedFigure(
        INSECT, joints,
        tuple(legs[f"{name}.{side}"] for name in ("hind", "middle", "fore") for side in "LR"),
        ("pelvis", "chest"), ("neck.1", "head"), tail, mass=25.0, height=0.80,
    )
    return _sized(figure, length, mass)


def _sized(figure: LeggedFigure, size: float, mass: float | None) -> LeggedFigure:
    """A figure at another size, its mass with the cube of the size or as given."""
    if not (np.isfinite(size) and size > 0.0):
        raise SettingError("Size", size, "above 0 m")
    factor = size / figure.height
    kilograms = figure.mass * factor**3 if mass is None else mass
    if not (np.isfinite(kilograms) and kilograms > 0.0):
        raise SettingError("Mass", kilograms, "above 0 kg")
    return figure.scaled(factor).with_mass(kilograms)


FIGURES: dict[str, Callable[..., LeggedFigure]] = {
    HORSE: horse, DOG: dog, BIPED: biped, INSECT: insect,
}
"""Kind of character -> its rest pose, for a size in metres and a mass in kg."""


def read_figure(
    figure: LeggedFigure,
    joints: Mapping[str, np.ndarray],
    mass: float,
    heel: float = skeleton.ANKLE_HEEL,
) -> LeggedFigure:
    """A figure like another one, with the joints that were found on a rig.

    Args:
        figure: which legs and other parts it has, at any size.
        joints: every joint of it, m.
        mass: kg.
        heel: of a person, ankle to the rear end of the sole along it, share of the stature.

    Returns:
        The figure; its height, heels and toes have grown as its legs have. People's feet roll
        over their own joints.
    """
    there = replace(figure, joints=joints, mass=mass)
    lengths = [sum(one.lengths(leg).sum() for leg in one.legs) for one in (there, figure)]
    grown = float(lengths[0] / lengths[1])
    legs = tuple(replace(leg, heel=leg.heel * grown, toe=leg.toe * grown) for leg in figure.legs)
    height = figure.height * grown
    legs = tuple(
        _own_foot(leg, joints, heel * height) if leg.foot == FOOT else leg for leg in legs
    )
    return replace(there, legs=legs, height=height)


def _own_foot(leg: LegChain, joints: Mapping[str, np.ndarray], heel: float) -> LegChain:
    """A person's leg with the sole that its joints tell of."""
    ankle, ball, tip = (joints[role][:2] for role in (*leg.segments[2:], leg.tip))
    toe, fold = (float(np.linalg.norm(place - ankle)) for place in (tip, ball))
    return replace(leg, heel=toe + heel, toe=fold - toe)
