# SPDX-License-Identifier: GPL-3.0-or-later
"""A skateboarder: rest pose, deck, trucks and wheels, their bones and shapes. Numpy only."""

from __future__ import annotations

from math import cos, pi, radians, sin

import numpy as np

from . import body, snowboarder
from .equipment import X, Y, Z, box, slider
from .skeleton import REFERENCE, Bones, Build, Proportions, Skeleton
from .surfaces import Cage, Surface, even_angles, joined, ring

# Metres for a stature of REFERENCE.
LENGTH, WIDTH, THICK = 0.815, 0.210, 0.011
WHEELBASE = 0.440  # between the axles: street 0.435 to 0.485
WHEEL, WHEEL_WIDTH = 0.029, 0.034  # radius
TRACK = 0.168  # between the middles of an axle's wheels
DECK = 0.083  # underside of the deck over the ground
KICK_START, KICK = 0.282, 0.048  # where nose and tail rise, and how far
PIVOT = radians(45.0)  # of the trucks' axes over the ground

# Shares of stature.
STANCE = 0.256  # between the ankles along the board
ANGLES = (radians(28.0), radians(4.0))

_ENDS = (("front", -1.0), ("rear", 1.0))
_WHEELS = tuple(f"{end}_wheel.{side}" for end, _ in _ENDS for side in ("L", "R"))


def rest(size: Proportions) -> tuple[dict, dict, dict]:
    """Joints, facing and equipment of a skateboarder in regular stance.

    Args:
        size: lengths of the body.
    """
    share = size.height / REFERENCE
    sole = (DECK + THICK) / REFERENCE
    joints, facing = snowboarder.stand_sideways(
        size, STANCE, sole, ANGLES, 0.0290, radians(32.0)
    )
    for end, back in _ENDS:
        axle = np.array([0.0, back * 0.5 * WHEELBASE, WHEEL]) * share
        joints[f"{end}_truck"] = axle
        for side, sign in (("L", 1.0), ("R", -1.0)):
            joints[f"{end}_wheel.{side}"] = axle + X * sign * 0.5 * TRACK * share
    return joints, facing, {"board_length": LENGTH * share, "board_width": WIDTH * share}


def _carriers(bones: Bones) -> None:
    j, h = bones.skeleton.joints, bones.skeleton.height
    bones.flat("board", "root", j["board"], 0.12, "Equipment")
    for end, back in _ENDS:
        axis = np.array([0.0, back * cos(PIVOT), sin(PIVOT)])
        truck = f"{end}_truck"
        # Along the axis that it turns about.
        bones.add(truck, "board", j[truck], j[truck] + axis * 0.05 * h, X, "Equipment")
        for side in ("L", "R"):
            wheel = f"{end}_wheel.{side}"
            bones.flat(wheel, truck, j[wheel], 0.03, "Equipment")


def _body(skeleton: Skeleton) -> Surface:
    parts = body.street_clothes(skeleton)
    for side in ("L", "R"):
        parts += [body.bare_hand(skeleton, side), body.skate_shoe(skeleton, side)]
    return joined(parts)


def _deck(skeleton: Skeleton) -> Surface:
    size = skeleton.height / REFERENCE
    half, nose = 0.5 * LENGTH * size, 0.105 * size

    def half_width(at: float) -> float:
        over = max(0.0, abs(at) - half + nose) / nose
        return max(0.5 * WIDTH * max(0.0, 1.0 - over**2.3) ** 0.5, 0.024) * size

    def rise(at: float) -> float:
        over = max(0.0, abs(at) - KICK_START * size) / (half - KICK_START * size)
        return KICK * size * over**1.35

    def grip(at: float, column: int) -> str:
        return "base"

    ends = nose * (1.0 - np.cos(np.linspace(0.0, 0.5 * pi, 8)))
    stations = np.concatenate(
        [-half + ends, np.linspace(-half + nose, half - nose, 20)[1:-1], (half - ends)[::-1]]
    )
    return slider(
        skeleton.joints["board"] + Z * DECK * size,
        stations,
        half_width,
        rise,
        lambda at: THICK * size,
        "DEF-board",
        grip,
        4,
        "equipment",
        "trim",
    )


def _revolved(
    centre: np.ndarray, profile, bone: str, material, count: int, axis=X, across=Y
) -> Surface:
    """A body of revolution about `axis`: (distance along it, radius) from one end to the other."""
    cage = Cage()
    other = np.cross(axis, across)
    rings = [
        cage.add(
            ring(centre + axis * at, across, other, r, r, r, even_angles(count)), {bone: 1.0}
        )
        for at, r in profile
    ]
    first, last = (material[0], material[-1]) if isinstance(material, list) else (material,) * 2
    cage.tube(rings, material)
    cage.cap(rings[0], first, top=False)
    cage.cap(rings[-1], last)
    return cage.surface(0)


def _truck(skeleton: Skeleton, end: str, back: float) -> list[Surface]:
    """Base plate on the deck; hanger with axle, kingpin and bushings; wheels."""
    size = skeleton.height / REFERENCE
    axle = skeleton.joints[f"{end}_truck"]
    hanger, deck = f"DEF-{end}_truck", "DEF-board"
    axis = np.array([0.0, back * cos(PIVOT), sin(PIVOT)])
    across = np.cross(axis, X)
    plate = axle * (1.0, 1.0, 0.0) + (Z * (DECK - 0.005) + Y * back * 0.014) * size
    frame = np.stack([X, across, axis], axis=1)
    parts = [
        box(plate, np.array((0.055, 0.090, 0.010)) * size, deck, "edge", top=1.0),
        _revolved(
            axle + axis * 0.030 * size,
            [(-0.012 * size, 0.014 * size), (0.0, 0.0155 * size), (0.012 * size, 0.014 * size)],
            deck, "trim", 12, axis, X,
        ),
        box(axle + axis * 0.008 * size, np.array((0.046, 0.030, 0.030)) * size, hanger, "edge",
            frame, 0.85),
        box(axle, np.array((0.118, 0.020, 0.022)) * size, hanger, "edge", frame, 0.8),
        _revolved(
            axle, [(-0.112 * size, 0.004 * size), (0.112 * size, 0.004 * size)], hanger, "edge", 8
        ),
    ]
    for side in ("L", "R"):
        parts.append(_wheel(skeleton, f"{end}_wheel.{side}", size))
    return parts


def _wheel(skeleton: Skeleton, name: str, size: float) -> Surface:
    """A wheel whose sides show that it rolls."""
    half = 0.5 * WHEEL_WIDTH
    profile = [
        (-half + 0.002, 0.0085),
        (-half, 0.0105),
        (-half, 0.0170),
        (-half + 0.001, 0.0215),
        (-half + 0.007, WHEEL),
        (half - 0.007, WHEEL),
        (half - 0.001, 0.0215),
        (half, 0.0170),
        (half, 0.0105),
        (half - 0.002, 0.0085),
    ]

    def print_(i: int) -> str:
        return "equipment" if i % 8 < 3 else "helmet"

    materials = ["base", "helmet", print_, "helmet", "helmet", "helmet", print_, "helmet", "base"]
    scaled = [(at * size, r * size) for at, r in profile]
    return _revolved(skeleton.joints[name], scaled, f"DEF-{name}", materials, 24)


def _equipment(skeleton: Skeleton) -> Surface:
    parts = [_deck(skeleton)]
    for end, back in _ENDS:
        parts += _truck(skeleton, end, back)
    return joined(parts)


def _widgets(skeleton: Skeleton) -> dict[str, tuple]:
    half = 0.5 * LENGTH / REFERENCE
    top = (DECK + THICK) / REFERENCE
    table: dict[str, tuple] = {
        "board": ("board", (0.075, half * 1.05, 1.0), (0, 0, top), None)
    }
    for end, _back in _ENDS:
        table[f"{end}_truck"] = ("circle", (0.045, 1.0, 0.045), (0, 0.025, 0), None)
        for side, sign in (("L", 1.0), ("R", -1.0)):
            radius = 1.15 * WHEEL / REFERENCE
            table[f"{end}_wheel.{side}"] = (
                "wheel", (1.0, radius, radius), (sign * 0.012, 0, 0), None
            )
    for side in ("L", "R"):
        foot = skeleton.facing[f"foot.{side}"]
        table[f"foot_ik.{side}"] = ("box", (0.036, 0.080, 0.036), (0, -0.030, -0.014), foot)
    return table


BUILD = Build(
    rest=rest,
    body=_body,
    equipment=_equipment,
    carriers=_carriers,
    foot=("board", "IK"),
    deform={
        "DEF-board": ("board", "root"),
        "DEF-front_truck": ("front_truck", "DEF-board"),
        "DEF-rear_truck": ("rear_truck", "DEF-board"),
        "DEF-front_wheel.{side}": ("front_wheel.{side}", "DEF-front_truck"),
        "DEF-rear_wheel.{side}": ("rear_wheel.{side}", "DEF-rear_truck"),
    },
    rotation_modes=dict.fromkeys(_WHEELS, "XYZ"),
    turned_only=("front_truck", "rear_truck", "front_wheel", "rear_wheel"),
    shapes=_widgets,
    roles={
        "board": "board",
        "front_truck": "front_truck",
        "rear_truck": "rear_truck",
        "front_wheel.{side}": "front_wheel.{side}",
        "rear_wheel.{side}": "rear_wheel.{side}",
        "foot.{side}": "foot_ik.{side}",
    },
    lengths=("board_length", "board_width"),
    measures=snowboarder.measures,
    stances=True,
)
