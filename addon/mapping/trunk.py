# SPDX-License-Identifier: GPL-3.0-or-later
"""Trunk, head and arms: forward kinematics from a figure's rest pose.

Everything here is in *ground space*: x to the left of travel, y back, z along
the ground normal, the foot of the pendulum at the origin. Angles follow the
body: `lean` tips it to the left, `yaw` turns it to the left about its own
leaning axis, `pitch` bends it forward.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solvers.ik import two_bone
from ...solvers.rotations import rotate, slerp
from .signals import Amount, at_most, limited
from .tracks import SIDES, Figure

SIGN = {"L": 1.0, "R": -1.0}

# Share of the trunk's bend that pelvis and lumbar spine take; the chest has it all.
PELVIS_SHARE, SPINE_SHARE = 0.45, 0.75


def posture(lean: Amount, yaw: Amount, pitch: Amount) -> np.ndarray:
    """Quaternions (n, 4) of lean * yaw * pitch: about +y, then the leaning z, then x.

    Args:
        lean: radians to the left.
        yaw: radians to the left.
        pitch: radians forward.
    """
    lean, yaw, pitch = np.broadcast_arrays(lean, yaw, pitch)
    cy, sy = np.cos(0.5 * lean), np.sin(0.5 * lean)
    cz, sz = np.cos(0.5 * yaw), np.sin(0.5 * yaw)
    cx, sx = np.cos(0.5 * pitch), np.sin(0.5 * pitch)
    a, b, c, d = cy * cz, sy * sz, sy * cz, cy * sz
    return np.stack((a * cx - b * sx, a * sx + b * cx, c * cx + d * sx, d * cx - c * sx), axis=-1)


@dataclass(frozen=True)
class Trunk:
    """Trunk relative to the pelvis.

    Attributes:
        rotation: role -> (n, 4) for pelvis, spine, chest.
        offset: joint -> (n, 3) from the pelvis, for spine, chest, neck,
            shoulder.L/R, upper_arm.L/R, "shoulders" (their mid-point).
    """

    rotation: dict[str, np.ndarray]
    offset: dict[str, np.ndarray]


def rest_pitch(figure: Figure) -> float:
    """Forward bend of the trunk in the rest pose, from hips to neck, radians.

    Args:
        figure: the figure; its trunk bends along the direction it looks.
    """
    line = np.asarray(figure.joints["neck"]) - figure.joints["pelvis"]
    return float(np.arctan2(np.hypot(line[0], line[1]), line[2]))


def pose_trunk(
    figure: Figure,
    pelvis: tuple[Amount, Amount, Amount],
    chest: tuple[Amount, Amount, Amount],
) -> Trunk:
    """Bend the trunk between a pelvis and a chest.

    Args:
        figure: rest pose.
        pelvis: lean, yaw, pitch of the pelvis, radians, against the rest pose.
        chest: lean, yaw, pitch of the chest.
    """
    share = (SPINE_SHARE - PELVIS_SHARE) / (1.0 - PELVIS_SHARE)
    spine = tuple(p + share * (c - p) for p, c in zip(pelvis, chest, strict=True))
    rotation = {
        "pelvis": posture(*pelvis),
        "spine": posture(*spine),
        "chest": posture(*chest),
    }
    return Trunk(rotation, trunk_offsets(figure, rotation))


def trunk_offsets(figure: Figure, rotation: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Joints of the trunk relative to the pelvis, down the chain.

    Args:
        figure: rest pose.
        rotation: rotations (n, 4) of pelvis, spine and chest.
    """
    rest = figure.joints
    offset = {"spine": rotate(rotation["pelvis"], rest["spine"] - rest["pelvis"])}
    offset["chest"] = offset["spine"] + rotate(rotation["spine"], rest["chest"] - rest["spine"])

    def on_chest(joint: str) -> np.ndarray:
        return offset["chest"] + rotate(rotation["chest"], rest[joint] - rest["chest"])

    for joint in ("neck", "shoulder.L", "shoulder.R", "upper_arm.L", "upper_arm.R"):
        offset[joint] = on_chest(joint)
    offset["shoulders"] = 0.5 * (offset["upper_arm.L"] + offset["upper_arm.R"])
    return offset


def gaze_yaw(position: np.ndarray, spacing: float, forward: np.ndarray, left: np.ndarray,
             ahead: Amount) -> np.ndarray:
    """Direction from each place to where the track will be, radians to the left of travel.

    Past the end the track goes on straight.

    Args:
        position: (n, 3) track.
        spacing: seconds between samples.
        forward: (n, 3) direction of travel.
        left: (n, 3) to the left of it.
        ahead: seconds to look ahead.
    """
    n = len(position)
    if n < 2 or spacing <= 0.0:
        return np.zeros(n)
    where = np.arange(n) + np.maximum(ahead, 0.0) / spacing
    low = np.minimum(where.astype(int), n - 2)
    u = (where - low)[:, None]
    view = position[low] + u * (position[low + 1] - position[low]) - position
    across = np.einsum("ij,ij->i", view, left)
    along = np.einsum("ij,ij->i", view, forward)
    # Half a metre keeps the look ahead where there is hardly any way ahead.
    return np.arctan2(across, np.maximum(along, 0.0) + 0.5)


def pose_head(
    chest: np.ndarray, lean: Amount, yaw: Amount, pitch: Amount, chest_yaw: Amount, limit: Amount
) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (n, 4) of neck and head for a gaze, within what a neck can turn.

    Args:
        chest: (n, 4) rotation of the chest.
        lean: lean of the head, radians to the left.
        yaw: direction of the gaze, radians to the left of travel.
        pitch: gaze below the horizon, radians.
        chest_yaw: yaw of the chest, radians.
        limit: largest turn of the head against the chest, radians.
    """
    turn = np.asarray(yaw) - chest_yaw
    head = posture(lean, chest_yaw + limited(turn, limit), pitch)
    return slerp(chest, head, 0.5), head


def within_reach(hand: np.ndarray, shoulder: np.ndarray, arm: float) -> np.ndarray:
    """Hands drawn towards their shoulders where an arm would be too short (C2).

    Args:
        hand: (n, 3) wanted.
        shoulder: (n, 3).
        arm: longest distance, metres.
    """
    line = hand - shoulder
    length = np.sqrt(np.einsum("ij,ij->i", line, line))
    kept = at_most(length, 0.97 * arm, 0.05 * arm)
    return shoulder + line * (kept / np.maximum(length, 1e-9))[:, None]


def bend_arms(
    figure: Figure,
    shoulder: dict[str, np.ndarray],
    hand: dict[str, np.ndarray],
    towards: dict[str, np.ndarray],
    reach: float = 0.985,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Elbows of both arms and the points they bend towards.

    Args:
        figure: rest pose.
        shoulder: side -> (n, 3) shoulder joints.
        hand: side -> (n, 3) wrists.
        towards: side -> (n, 3) directions the elbows point to.
        reach: share of the arm's length that may be used.

    Returns:
        side -> elbow (n, 3); side -> pole point (n, 3); side -> shortfall (n,).
    """
    elbow, pole, shortfall = {}, {}, {}
    for side in SIDES:
        upper, lower = figure.arm(side)
        limb = two_bone(shoulder[side], hand[side], shoulder[side] + towards[side], upper, lower,
                        reach)
        elbow[side] = limb.middle
        # Out from the middle of the line, so that a straight arm has a side too.
        middle = 0.5 * (shoulder[side] + hand[side])
        line = hand[side] - shoulder[side]
        side_way = towards[side] - line * (
            np.einsum("ij,ij->i", towards[side], line)
            / np.maximum(np.einsum("ij,ij->i", line, line), 1e-12)
        )[:, None]
        side_way /= np.maximum(np.linalg.norm(side_way, axis=1), 1e-9)[:, None]
        pole[side] = middle + (upper + 0.1) * side_way
        shortfall[side] = limb.shortfall
    return elbow, pole, shortfall
