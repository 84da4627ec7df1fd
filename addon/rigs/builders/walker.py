# SPDX-License-Identifier: GPL-3.0-or-later
"""A person on foot: the mannequin in shoes, with toes that bend. Numpy only."""

from __future__ import annotations

import numpy as np

from . import body
from .legged import biped, stand
from .skeleton import UP, Bones, Build, Skeleton
from .surfaces import Surface, joined


def _hairline(angle: float) -> float:
    """Height of the hair's rim above the atlas: over the forehead and ears, down to the nape."""
    degrees = np.degrees(angle) % 360.0
    away = abs((degrees - 270.0 + 180.0) % 360.0 - 180.0)
    return float(np.interp(away, [0, 40, 62, 90, 112, 140, 180],
                           [0.088, 0.084, 0.066, 0.040, 0.022, -0.004, -0.010]))


def _body(skeleton: Skeleton) -> Surface:
    parts = [body.suit(skeleton, body.STREET), body.head(skeleton), body.hair(skeleton, _hairline)]
    for side in ("L", "R"):
        parts += [body.bare_hand(skeleton, side), body.walking_shoe(skeleton, side)]
    return joined(parts)


def _carriers(bones: Bones) -> None:
    """Nothing between the root and the feet."""


def _mechanism(bones: Bones) -> None:
    """Toes that bend on a foot's control."""
    j, size = bones.skeleton.joints, bones.skeleton.size
    for side in ("L", "R"):
        toes = -bones.skeleton.facing[f"foot.{side}"][:, 1]
        ball = j[f"toe.{side}"]
        end = ball + toes * (size.toe - size.ball)
        bones.add(f"toe_ik.{side}", f"foot_ik.{side}", ball, end, UP, "IK")


def _widgets(skeleton: Skeleton) -> dict[str, tuple]:
    table: dict[str, tuple] = {}
    for side in ("L", "R"):
        foot = skeleton.facing[f"foot.{side}"]
        table[f"foot_ik.{side}"] = ("box", (0.036, 0.085, 0.036), (0, -0.034, -0.014), foot)
        table[f"toe_ik.{side}"] = ("bow", (0.02, 0.034, 0.034), (0, 0.02, 0), None)
    return table


def _joint_ends() -> dict[str, tuple[str, bool]]:
    """Joint of the figure -> the bone that tells where it is, and whether by its tail."""
    found = {role: (role, False) for role in ("root", "pelvis", "spine", "chest", "neck", "head")}
    found["vertex"] = ("head", True)
    for side in ("L", "R"):
        same = ("thigh", "shin", "foot", "toe", "shoulder", "upper_arm", "hand")
        found |= {f"{role}.{side}": (f"{role}.{side}", False) for role in same}
        found[f"toe_tip.{side}"] = (f"toe.{side}", True)
        found[f"knee.{side}"] = (f"knee_pole.{side}", False)
        found[f"elbow_joint.{side}"] = (f"forearm.{side}", False)
        found[f"elbow.{side}"] = (f"elbow_pole.{side}", False)
    return found


BUILD = Build(
    rest=stand,
    body=_body,
    equipment=None,
    carriers=_carriers,
    foot=("root", "IK"),
    mechanism=_mechanism,
    level_with={"toe.{side}": "toe_ik.{side}"},
    deform={},
    turned_only=("toe_ik",),
    shapes=_widgets,
    roles={"foot.{side}": "foot_ik.{side}", "toe.{side}": "toe_ik.{side}"},
    lengths=(),
    measures=lambda joints, regular: {},
    figure=biped(),
    ends=_joint_ends(),
)
