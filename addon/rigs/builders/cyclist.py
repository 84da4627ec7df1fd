# SPDX-License-Identifier: GPL-3.0-or-later
"""A cyclist: rest pose in the saddle, and the bones and shapes of the bicycle. Numpy only."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, radians, sin

import numpy as np

from . import bicycle, body
from .skeleton import (
    BACK,
    REFERENCE,
    UP,
    Bones,
    Build,
    Proportions,
    Skeleton,
    leg,
    trunk,
    two_bone_joint,
    unit,
)
from .surfaces import Surface, joined

FORWARD = -BACK
PELVIS_TILT, TRUNK_PITCH = radians(20.0), radians(42.0)
WRIST_RISE = radians(22.0)  # of the back of the hand behind the bars
SHOE_OVER_PEDAL = 0.0045  # sole of a shoe over the pedal's axle, share of stature

SPINS = {"front_wheel": "XYZ", "rear_wheel": "XYZ", "crank": "XYZ", "sprocket": "XYZ"}


def rest(size: Proportions) -> tuple[dict, dict, dict]:
    """Joints, facing and equipment of a cyclist in the saddle, left pedal ahead, both level."""
    share = size.height / REFERENCE
    places = {name: place * share for name, place in bicycle.PLACES.items()}
    joints, facing = trunk(
        places.pop("hips"),
        size,
        dict.fromkeys(("pelvis", "spine", "chest", "neck", "head"), 0.0),
        TRUNK_PITCH,
        PELVIS_TILT,
    )
    joints |= places
    for side, sign in (("L", 1.0), ("R", -1.0)):
        rise = SHOE_OVER_PEDAL * size.height + size.ankle
        joints[f"foot.{side}"] = joints[f"pedal.{side}"] - FORWARD * size.ball + UP * rise
        leg(joints, facing, side, size, FORWARD)
        _arm(joints, facing, side, sign, size)
    equipment = {
        "wheel_radius": bicycle.WHEEL * share,
        "tyre_radius": bicycle.TYRE * share,
        "head_angle": bicycle.HEAD_ANGLE,
    }
    return joints, facing, equipment


def _arm(joints: dict, facing: dict, side: str, sign: float, size: Proportions) -> None:
    """Add wrist, elbow and hand: palm on the grip, knuckles ahead, thumb inside."""
    thumb = unit(np.array([-sign * cos(bicycle.SWEEP), -sin(bicycle.SWEEP), 0.0]))
    behind = np.array([0.0, cos(WRIST_RISE), sin(WRIST_RISE)])
    behind = unit(behind - thumb * float(thumb @ behind))
    facing[f"hand.{side}"] = np.stack([np.cross(behind, thumb), behind, thumb], axis=1)
    shoulder = joints[f"upper_arm.{side}"]
    wrist = joints[f"grip.{side}"] + behind * size.grip
    towards = np.array([0.62 * sign, 0.25, -0.74])
    elbow = two_bone_joint(shoulder, wrist, size.arm[side], size.forearm[side], towards)
    joints[f"hand.{side}"] = wrist
    joints[f"elbow_joint.{side}"] = elbow
    chord = unit(wrist - shoulder)
    bend = elbow - shoulder
    joints[f"elbow.{side}"] = elbow + unit(bend - chord * float(chord @ bend)) * 0.22 * size.height


def _carriers(bones: Bones) -> None:
    j, h = bones.skeleton.joints, bones.skeleton.height
    bones.flat("bike", "root", j["bike"], 0.20, "Equipment")
    axis = bicycle.steering_axis()
    bones.add("fork", "bike", j["fork"], j["fork"] + axis * 0.14 * h, BACK, "Equipment")
    bones.flat("front_wheel", "fork", j["front_wheel"], 0.10, "Equipment")
    bones.flat("rear_wheel", "bike", j["rear_wheel"], 0.10, "Equipment")
    bones.flat("sprocket", "bike", j["rear_wheel"], 0.05, "Mechanism")
    bones.flat("crank", "bike", j["crank"], 0.08, "Equipment")
    for side in ("L", "R"):
        bones.flat(f"pedal.{side}", "crank", j[f"pedal.{side}"], 0.05, "Equipment")


def _mechanism(bones: Bones) -> None:
    j = bones.skeleton.joints
    for side in ("L", "R"):
        bones.flat(f"MCH-grip.{side}", f"hand_ik.{side}", j[f"grip.{side}"], 0.04, "Mechanism")


def _body(skeleton: Skeleton) -> Surface:
    parts = body.cycling_clothes(skeleton)
    for side in ("L", "R"):
        parts += [body.bare_wrist_fist(skeleton, side), body.shoe(skeleton, side)]
    return joined(parts)


def _widgets(skeleton: Skeleton) -> dict[str, tuple]:
    radius = bicycle.WHEEL / REFERENCE
    ring = radius * 1.06
    crank = 0.7 * bicycle.CRANK / REFERENCE
    middle = 0.5 * bicycle.WHEELBASE / REFERENCE
    table: dict[str, tuple] = {
        "bike": ("board", (0.085, middle * 1.5, 1.0), (0, -middle, 0.0), None),
        "fork": ("circle", (0.085, 1.0, 0.085), (0, 0.17, 0), None),
        "front_wheel": ("wheel", (1.0, ring, ring), (0.035, 0, 0), None),
        "rear_wheel": ("wheel", (1.0, ring, ring), (0.035, 0, 0), None),
        "crank": ("wheel", (1.0, crank, crank), (0.065, 0, 0), None),
    }
    for side, sign in (("L", 1.0), ("R", -1.0)):
        foot = skeleton.facing[f"foot.{side}"]
        table[f"pedal.{side}"] = ("box", (0.034, 0.034, 0.010), (sign * 0.012, 0, 0), None)
        table[f"foot_ik.{side}"] = ("box", (0.036, 0.080, 0.036), (0, -0.030, -0.020), foot)
    return table


def _measures(joints: Mapping[str, np.ndarray], left_leads: bool) -> dict[str, float]:
    crank = joints["pedal.L"] - joints["crank"]
    return {
        "wheelbase": float(joints["rear_wheel"][1] - joints["front_wheel"][1]),
        "crank_length": float(np.hypot(crank[1], crank[2])),
        "sole": float(joints["foot.L"][2] - joints["pedal.L"][2]),
    }


BUILD = Build(
    rest=rest,
    body=_body,
    equipment=bicycle.bicycle,
    carriers=_carriers,
    foot=("pedal.{side}", "IK"),
    hand="fork",
    mechanism=_mechanism,
    deform={
        "DEF-bike": ("bike", "root"),
        "DEF-fork": ("fork", "DEF-bike"),
        "DEF-front_wheel": ("front_wheel", "DEF-fork"),
        "DEF-rear_wheel": ("rear_wheel", "DEF-bike"),
        "DEF-sprocket": ("sprocket", "DEF-bike"),
        "DEF-crank": ("crank", "DEF-bike"),
        "DEF-pedal.{side}": ("pedal.{side}", "DEF-crank"),
    },
    rotation_modes={**SPINS, "pedal.L": "XYZ", "pedal.R": "XYZ", "fork": "YXZ"},
    turned_only=("fork", "front_wheel", "rear_wheel", "sprocket", "crank", "pedal"),
    widgets=_widgets,
    roles={
        "bike": "bike",
        "fork": "fork",
        **{role: role for role in SPINS},
        "pedal.{side}": "pedal.{side}",
    },
    joints={"grip.{side}": "MCH-grip.{side}"},
    lengths=("wheel_radius", "tyre_radius"),
    angles=("head_angle",),
    measures=_measures,
)
