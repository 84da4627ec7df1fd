# SPDX-License-Identifier: GPL-3.0-or-later
"""A cyclist: rest pose in the saddle, and the bones and shapes of the bicycle. Numpy only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import atan2, cos, radians, sin, sqrt

import numpy as np

from . import bicycle, body
from .skeleton import (
    BACK,
    REFERENCE,
    SHOULDER_HALF,
    Bones,
    Build,
    Proportions,
    Skeleton,
    facing_frame,
    leg,
    standard_proportions,
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


# How far a fitter goes, metres for a rider of REFERENCE stature: how far the stem takes the grips
# back and ahead; how much longer the frame is made; grips lower and higher; how much narrower
# and wider the handlebars are, as a share.
STEM_BACK, STEM_AHEAD, LONGER = -0.15, 0.06, 0.35
LOWER, HIGHER = -0.10, 0.35
NARROW, WIDE = 0.75, 1.5
UPRIGHT, FLAT = radians(8.0), radians(64.0)  # least and most bend of the trunk in the saddle
BOTTOM_PITCH = radians(13.0)  # of a foot whose pedal is at the bottom
PELVIS_SHARE = 0.45  # of a change of the trunk's bend, as in riding
ARM_FOLDED, ARM_STRETCHED = 0.40, 0.95  # shares of an arm's length in use


def rest(size: Proportions) -> tuple[dict, dict, dict]:
    """Joints, facing and equipment of a cyclist in the saddle, left pedal ahead, both level."""
    share = size.height / REFERENCE
    fit, bend = fitted(size)
    places = {name: place * share for name, place in fit.places().items()}
    joints, facing = _bent(size, places.pop("hips"), bend)
    joints |= places
    for side, sign in (("L", 1.0), ("R", -1.0)):
        joints[f"foot.{side}"] = joints[f"pedal.{side}"] + _ankle(size, 0.0)
        leg(joints, facing, side, size, FORWARD)
        _arm(joints, facing, side, sign, size)
    equipment = {
        "wheel_radius": bicycle.WHEEL * share,
        "tyre_radius": bicycle.TYRE * share,
        "head_angle": bicycle.HEAD_ANGLE,
    }
    return joints, facing, equipment


def _bent(size: Proportions, hips: np.ndarray, bend: float) -> tuple[dict, dict]:
    """Trunk of a rider in the saddle, bent further forward than usual by `bend`."""
    yaws = dict.fromkeys(("pelvis", "spine", "chest", "neck", "head"), 0.0)
    return trunk(hips, size, yaws, TRUNK_PITCH + bend, PELVIS_TILT + PELVIS_SHARE * bend)


def _ankle(size: Proportions, pitch: float) -> np.ndarray:
    """Ankle (3,) from the pedal's axle, the ball of the foot over it, toes down by `pitch`."""
    back, up = size.ball, SHOE_OVER_PEDAL * size.height + size.ankle
    c, s = cos(pitch), sin(pitch)
    return np.array([0.0, back * c - up * s, back * s + up * c])


def _leg_line(size: Proportions, side: str) -> tuple[np.ndarray, float]:
    """Hips in the middle over the ankle at the bottom of the stroke were the saddle at the
    bracket (y, z), and how far sideways the leg goes; metres."""
    sign = {"L": 1.0, "R": -1.0}[side]
    share = size.height / REFERENCE
    hip = facing_frame(0.0, PELVIS_TILT) @ size.hip[side]
    ankle = _ankle(size, BOTTOM_PITCH) - bicycle.SEAT_TUBE * bicycle.CRANK * share
    return (hip - ankle)[1:], float(hip[0] - sign * bicycle.PEDAL_OUT * share)


def _saddle(size: Proportions) -> float:
    """Hips from the bottom bracket along the seat tube, metres for `REFERENCE` stature: at the
    bottom of the stroke the shorter leg is as long as that of a usual rider."""
    along = bicycle.SEAT_TUBE[1:]
    found = []
    for side in ("L", "R"):
        line, across = _leg_line(size, side)
        reach = _LEG_USE * (size.thigh[side] + size.shin[side])
        off = float(line @ along)
        room = reach**2 - across**2 - float(line @ line) + off**2
        found.append(-off + sqrt(max(room, 0.0)))
    return min(found) * REFERENCE / size.height


def _palm(sign: float) -> np.ndarray:
    """Columns across, behind and along a grip: the hand's own left, back and up on it."""
    thumb = unit(np.array([-sign * cos(bicycle.SWEEP), -sin(bicycle.SWEEP), 0.0]))
    behind = np.array([0.0, cos(WRIST_RISE), sin(WRIST_RISE)])
    behind = unit(behind - thumb * float(thumb @ behind))
    return np.stack([np.cross(behind, thumb), behind, thumb], axis=1)


def _shoulder(joints: Mapping[str, np.ndarray]) -> np.ndarray:
    """Left shoulder (3,), the mean of both sides."""
    left, right = joints["upper_arm.L"], joints["upper_arm.R"]
    return 0.5 * (left + right * (-1.0, 1.0, 1.0))


def _usual() -> tuple[float, float, float]:
    """Of Poise's own figure: share of a leg's length in use at the bottom of the stroke, share
    of an arm's length in use, and how far that arm slopes down, radians."""
    size = standard_proportions(REFERENCE)
    line, across = _leg_line(size, "L")
    line = line + bicycle.SEAT_TUBE[1:] * bicycle.HIP_ALONG
    far = sqrt(float(line @ line) + across**2)
    fit = bicycle.Fit()
    joints, _ = _bent(size, fit.places()["hips"], 0.0)
    wrist = fit.grip(1.0) + _palm(1.0)[:, 1] * size.grip
    arm = wrist - _shoulder(joints)
    return (
        far / (size.thigh["L"] + size.shin["L"]),
        float(np.linalg.norm(arm)) / (size.arm["L"] + size.forearm["L"]),
        atan2(-arm[2], -arm[1]),
    )


def fitted(size: Proportions) -> tuple[bicycle.Fit, float]:
    """A bicycle for a body, and how much further than usual its trunk is bent on it.

    As a fitter does it: the saddle is set by the legs, then the grips are put
    where arms bent as usual and sloping as usual would have them. What stem
    and frame do not give, the bend of the trunk does; where that is not enough
    either, the handlebars come to the hands after all.

    Args:
        size: lengths of the body.

    Returns:
        The bicycle, and radians.
    """
    share = size.height / REFERENCE
    saddle = _saddle(size)
    hips = (bicycle.BRACKET + bicycle.SEAT_TUBE * saddle) * share
    lengths = [size.arm[s] + size.forearm[s] for s in ("L", "R")]
    wanted = _ARM_USE * 0.5 * sum(lengths)
    behind = _palm(1.0)[:, 1] * size.grip
    shoulder = _shoulder(_bent(size, hips, 0.0)[0])
    width = float(shoulder[0]) / (SHOULDER_HALF * size.height)
    out = bicycle.GRIP_OUT * min(max(width, NARROW), WIDE)
    across = out * share + behind[0] - shoulder[0]
    reach = sqrt(max(wanted**2 - across**2, (0.3 * wanted) ** 2))
    slope = np.array([0.0, -cos(_ARM_SLOPE), -sin(_ARM_SLOPE)])
    grip = (shoulder + reach * slope - behind) / share
    usual = bicycle.Fit(saddle=saddle, out=out)
    ahead = float((usual.grip(1.0) - grip)[1])
    higher = float(grip[2]) - usual.height
    stem = min(max(ahead, STEM_BACK), STEM_AHEAD)
    fit = replace(
        usual,
        ahead=usual.ahead + stem,
        stretch=min(max(ahead - stem, 0.0), LONGER),
        height=usual.height + min(max(higher, LOWER), HIGHER),
    )

    def arm(bend: float) -> np.ndarray:
        shoulder = _shoulder(_bent(size, hips, bend)[0])
        return fit.grip(1.0) * share + behind - shoulder

    bend = _bend_for(lambda b: float(np.linalg.norm(arm(b))) - wanted, 1e-9 * wanted)
    line = arm(bend)
    far = float(np.linalg.norm(line))
    shortest = max(
        max(ARM_FOLDED * sum(pair), 1.05 * abs(pair[0] - pair[1]))
        for pair in ((size.arm[s], size.forearm[s]) for s in ("L", "R"))
    )
    kept = min(max(far, shortest), ARM_STRETCHED * min(lengths))
    if kept != far:
        move = line * (kept / far - 1.0) / share
        fit = replace(
            fit, out=fit.out + move[0], ahead=fit.ahead - move[1], height=fit.height + move[2]
        )
    return fit, bend


def _bend_for(missing: Callable[[float], float], tolerance: float) -> float:
    """Bend of the trunk, against the usual one, at which nothing is missing; or the nearest.

    Args:
        missing: bend -> how much too far the grips are, metres; falls with the bend.
        tolerance: metres that may be missing.
    """
    low, high = UPRIGHT - TRUNK_PITCH, FLAT - TRUNK_PITCH
    if abs(missing(0.0)) <= tolerance:
        return 0.0
    if missing(low) <= 0.0:
        return low
    if missing(high) >= 0.0:
        return high
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if missing(middle) > 0.0 else (low, middle)
    return 0.5 * (low + high)


def _arm(joints: dict, facing: dict, side: str, sign: float, size: Proportions) -> None:
    """Add wrist, elbow and hand: palm on the grip, knuckles ahead, thumb inside."""
    facing[f"hand.{side}"] = _palm(sign)
    shoulder = joints[f"upper_arm.{side}"]
    wrist = joints[f"grip.{side}"] + facing[f"hand.{side}"][:, 1] * size.grip
    towards = np.array([0.62 * sign, 0.25, -0.74])
    elbow = two_bone_joint(shoulder, wrist, size.arm[side], size.forearm[side], towards)
    joints[f"hand.{side}"] = wrist
    joints[f"elbow_joint.{side}"] = elbow
    chord = unit(wrist - shoulder)
    bend = elbow - shoulder
    joints[f"elbow.{side}"] = elbow + unit(bend - chord * float(chord @ bend)) * 0.22 * size.height


_LEG_USE, _ARM_USE, _ARM_SLOPE = _usual()


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
    front, rear = (skeleton.joints[name] for name in ("front_wheel", "rear_wheel"))
    middle = 0.5 * float(rear[1] - front[1]) / skeleton.height
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
    shapes=_widgets,
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
