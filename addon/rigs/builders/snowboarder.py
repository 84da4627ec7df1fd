# SPDX-License-Identifier: GPL-3.0-or-later
"""A snowboarder: rest pose, and the bones and shapes of the board. Numpy only."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan2, pi, radians, sqrt

import numpy as np

from . import body, equipment
from .equipment import BOARD_LENGTH, BOARD_NOSE, BOARD_TIP, BOARD_WAIST, REFERENCE
from .skeleton import (
    UP,
    Bones,
    Build,
    Proportions,
    Skeleton,
    arm,
    facing_frame,
    hip_height,
    leg,
    sidecut_radius,
    trunk,
)
from .surfaces import Surface, joined

# Shares of stature.
BOARD_SOLE = 0.0175  # sole of a shoe above the running surface
BOARD_STANCE = 0.300  # between the ankles along the board
STANCE_FRONT, STANCE_REAR = radians(18.0), radians(-6.0)


def stand_sideways(
    size: Proportions,
    stance: float,
    sole: float,
    angles: tuple[float, float],
    across: float,
    flexion: float,
) -> tuple[dict, dict]:
    """Joints and facing in regular stance: left foot leads, facing the right of travel (-X).

    Args:
        size: lengths of the body.
        stance: between the ankles along the board, share of stature.
        sole: sole of a shoe above the ground, share of stature.
        angles: of front and rear foot towards the nose, radians.
        across: ankles to the heel side of the board's middle, share of stature.
        flexion: of the knees, radians.
    """
    height = size.height
    half = 0.5 * stance * height
    sole = sole * height + size.ankle
    across = across * height
    toes = {
        "L": facing_frame(-0.5 * pi + angles[0])[:, 1] * -1.0,
        "R": facing_frame(-0.5 * pi + angles[1])[:, 1] * -1.0,
    }
    pelvis_yaw = radians(-80.0)
    left = facing_frame(pelvis_yaw)[:, 0]
    ankle = {"L": np.array([across, -half, sole]), "R": np.array([across, half, sole])}
    middle = np.array([across + 0.012 * height, 0.0, 0.0])
    offset = (middle + left * abs(size.hip["L"][0])) - ankle["L"]
    rise = hip_height(float(np.hypot(offset[0], offset[1])), flexion, size)
    hip = middle + UP * (sole + rise)
    yaws = {
        "pelvis": pelvis_yaw,
        "spine": radians(-76.0),
        "chest": radians(-70.0),
        "neck": radians(-42.0),
        "head": radians(-8.0),
    }
    joints, facing = trunk(hip, size, yaws, radians(12.0))
    for side in ("L", "R"):
        joints[f"foot.{side}"] = ankle[side]
        leg(joints, facing, side, size, toes[side])
    chest_left, chest_back = facing["chest"][:, 0], facing["chest"][:, 1]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        upper = chest_left * (0.62 * sign) - chest_back * 0.10 - UP * 0.78
        fore = chest_left * (0.50 * sign) - chest_back * 0.62 - UP * 0.28
        arm(joints, facing, side, size, upper, fore)
        del joints[f"pole.{side}"]
    joints["board"] = np.zeros(3)
    return joints, facing


def rest(size: Proportions) -> tuple[dict, dict, dict]:
    """Joints, facing and equipment of a snowboarder in regular stance.

    Args:
        size: lengths of the body.
    """
    height = size.height
    joints, facing = stand_sideways(
        size, BOARD_STANCE, BOARD_SOLE, (STANCE_FRONT, STANCE_REAR), 0.0265, radians(45.0)
    )
    width = sqrt(height / REFERENCE)
    length = BOARD_LENGTH * height
    equipment = {
        "board_length": length,
        "board_width": BOARD_WAIST * width,
        "sidecut": sidecut_radius(
            (BOARD_LENGTH - 2.0 * BOARD_TIP) * height,
            BOARD_WAIST * width,
            BOARD_NOSE * width,
            BOARD_NOSE * width,
        ),
    }
    return joints, facing, equipment


def _carriers(bones: Bones) -> None:
    bones.flat("board", "root", bones.skeleton.joints["board"], 0.12, "Equipment")


def _front(skeleton: Skeleton) -> str:
    return "L" if skeleton.regular else "R"


def _mechanism(bones: Bones) -> None:
    skeleton = bones.skeleton
    foot = f"foot.{_front(skeleton)}"
    bones.flat("MCH-board", foot, skeleton.joints["board"], 0.12, "Mechanism")


def _body(skeleton: Skeleton) -> Surface:
    parts = body.winter_clothes(skeleton)
    for side in ("L", "R"):
        parts += [body.mitten(skeleton, side), body.snowboard_boot(skeleton, side)]
    return joined(parts)


def _widgets(skeleton: Skeleton) -> dict[str, tuple]:
    half = 0.5 * skeleton.equipment["board_length"] / skeleton.height
    table: dict[str, tuple] = {"board": ("board", (0.095, half * 1.04, 1.0), (0, 0, 0), None)}
    for side in ("L", "R"):
        foot = skeleton.facing[f"foot.{side}"]
        table[f"foot_ik.{side}"] = ("box", (0.042, 0.088, 0.050), (0, -0.030, -0.010), foot)
    return table


def measures(joints: Mapping[str, np.ndarray], left_leads: bool) -> dict[str, float]:
    """Ankle over the ground and angles of the feet.

    Args:
        joints: of the rest pose.
        left_leads: regular.
    """
    front, rear = ("L", "R") if left_leads else ("R", "L")
    return {
        "sole": float(joints["foot.L"][2] - joints["board"][2]),
        "stance_angle.front": _stance_angle(joints, front),
        "stance_angle.rear": _stance_angle(joints, rear),
    }


def _stance_angle(joints: Mapping[str, np.ndarray], side: str) -> float:
    """Angle of a foot on the board: 0 straight across, positive towards the nose."""
    toes = joints[f"toe.{side}"] - joints[f"foot.{side}"]
    angle = atan2(-toes[1], abs(toes[0]))
    return (angle + pi) % (2.0 * pi) - pi


BUILD = Build(
    rest=rest,
    body=_body,
    equipment=equipment.board,
    carriers=_carriers,
    foot=("board", "IK"),
    mechanism=_mechanism,
    deform={"DEF-board": ("board", "root")},
    carried=lambda skeleton: [("DEF-board", "MCH-board", _front(skeleton))],
    shapes=_widgets,
    roles={"board": "board", "foot.{side}": "foot_ik.{side}"},
    lengths=("board_length", "board_width", "sidecut"),
    measures=measures,
    stances=True,
)
