# SPDX-License-Identifier: GPL-3.0-or-later
"""A skier: rest pose, and the bones and shapes of skis and poles. Numpy only."""

from __future__ import annotations

from collections.abc import Mapping
from math import radians, sqrt

import numpy as np

from . import body, equipment
from .equipment import (
    REFERENCE,
    SKI_END,
    SKI_LENGTH,
    SKI_SHOVEL,
    SKI_TAIL,
    SKI_TIP,
    SKI_WAIST,
)
from .skeleton import (
    BACK,
    IK_ARM,
    IK_LEG,
    POLE_LOCK,
    UP,
    Bones,
    Build,
    Proportions,
    Skeleton,
    arm,
    hip_height,
    leg,
    sidecut_radius,
    trunk,
)
from .surfaces import Surface, joined

# Shares of stature.
SKI_SOLE = 0.031  # sole of a shoe above the running surface
SKI_STANCE = 0.155  # between the ski centres


def rest(size: Proportions) -> tuple[dict, dict, dict]:
    """Joints, facing and equipment of a skier who stands on flat snow."""
    height = size.height
    half = 0.5 * SKI_STANCE * height
    sole = SKI_SOLE * height + size.ankle
    rise = hip_height(half - abs(size.hip["L"][0]), radians(40.0), size)
    hip = np.array([0.0, 0.004 * height, sole + rise])
    joints, facing = trunk(
        hip, size, dict.fromkeys(("pelvis", "spine", "chest", "neck", "head"), 0.0), radians(12.0)
    )
    forward = np.array([0.0, -1.0, 0.0])
    for side, sign in (("L", 1.0), ("R", -1.0)):
        joints[f"foot.{side}"] = np.array([sign * half, 0.0, sole])
        joints[f"ski.{side}"] = np.array([sign * half, 0.0, 0.0])
        leg(joints, facing, side, size, forward)
        arm(
            joints,
            facing,
            side,
            size,
            np.array([0.40 * sign, -0.22, -0.90]),
            np.array([0.10 * sign, -1.0, 0.02]),
        )
    # Both poles are of one length, also where one arm is not as long as the other.
    reach = 0.5 * (joints["pole.L"][2] + joints["pole.R"][2])
    for side in ("L", "R"):
        joints[f"pole_tip.{side}"] = joints[f"pole.{side}"] - UP * reach
    width = sqrt(height / REFERENCE)
    length = SKI_LENGTH * height
    equipment = {
        "ski_length": length,
        "ski_width": SKI_WAIST * width,
        "sidecut": sidecut_radius(
            (SKI_LENGTH - SKI_TIP - SKI_END) * height,
            SKI_WAIST * width,
            SKI_SHOVEL * width,
            SKI_TAIL * width,
        ),
    }
    return joints, facing, equipment


def carriers(bones: Bones) -> None:
    """Skis.

    Args:
        bones: where to add them.
    """
    for side in ("L", "R"):
        joints = bones.skeleton.joints
        bones.flat(f"ski.{side}", "root", joints[f"ski.{side}"], 0.12, "Equipment")


def mechanism(bones: Bones, carrier: str = "foot") -> None:
    """Poles, and skis that go along with a leg in FK.

    Args:
        bones: where to add them.
        carrier: bone that a ski goes along with, without its side.
    """
    j, h = bones.skeleton.joints, bones.skeleton.height
    for side in ("L", "R"):
        grip, tip = j[f"pole.{side}"], j[f"pole_tip.{side}"]
        wrist = j[f"hand.{side}"]
        small = BACK * 0.04 * h
        bones.flat(f"pole_tip.{side}", "master", tip, 0.05, "Equipment")
        bones.add(f"MCH-grip.{side}", f"hand_ik.{side}", grip, grip + small, UP, "Mechanism")
        bones.add(
            f"MCH-wrist.{side}", f"MCH-grip.{side}", wrist, wrist + small, UP, "Mechanism"
        )
        # A hand's back is -Y of the pole's shaft: any axis across it would do.
        bones.add(f"pole.{side}", f"hand.{side}", grip, tip, -BACK, "Mechanism")
        bones.flat(f"MCH-ski.{side}", f"{carrier}.{side}", j[f"ski.{side}"], 0.12, "Mechanism")


def _body(skeleton: Skeleton) -> Surface:
    parts = body.winter_clothes(skeleton)
    for side in ("L", "R"):
        parts += [body.fist(skeleton, side), body.ski_boot(skeleton, side)]
    return joined(parts)


def _equipment(skeleton: Skeleton) -> Surface:
    parts = (equipment.ski, equipment.pole)
    return joined([part(skeleton, side) for side in ("L", "R") for part in parts])


def _widgets(skeleton: Skeleton) -> dict[str, tuple]:
    half = 0.5 * skeleton.equipment["ski_length"] / skeleton.height
    table: dict[str, tuple] = {}
    for side in ("L", "R"):
        # The boot, not the ankle, is near the middle of the ski.
        table[f"ski.{side}"] = ("ski", (0.050, half * 1.03, 1.0), (0, -0.031, 0), None)
        table[f"pole_tip.{side}"] = ("ball", (0.020,) * 3, (0, 0, 0), None)
    return table


def _measures(joints: Mapping[str, np.ndarray], left_leads: bool) -> dict[str, float]:
    return {
        "pole_length": float(np.linalg.norm(joints["pole.L"] - joints["pole_tip.L"])),
        "sole": float(joints["foot.L"][2] - joints["ski.L"][2]),
    }


BUILD = Build(
    rest=rest,
    body=_body,
    equipment=_equipment,
    carriers=carriers,
    # A boot does not move on its ski, so this is nothing to animate by hand.
    foot=("ski.{side}", "Mechanism"),
    wrist="MCH-wrist.{side}",
    mechanism=mechanism,
    deform={
        "DEF-ski.{side}": ("ski.{side}", "root"),
        "DEF-pole.{side}": ("pole.{side}", "DEF-hand.{side}"),
    },
    carried=lambda skeleton: [(f"DEF-ski.{side}", f"MCH-ski.{side}", side) for side in "LR"],
    switches=(IK_LEG, IK_ARM, POLE_LOCK),
    shapes=_widgets,
    roles={"ski.{side}": "ski.{side}", "pole_tip.{side}": "pole_tip.{side}"},
    joints={"pole.{side}": "pole.{side}"},
    lengths=("ski_length", "ski_width", "sidecut"),
    measures=_measures,
)
