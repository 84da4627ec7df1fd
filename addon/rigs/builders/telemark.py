# SPDX-License-Identifier: GPL-3.0-or-later
"""A telemark skier: the skier, with boots that bend and heels that are free. Numpy only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import body, equipment, skier
from .skeleton import UP, Bones, Proportions, Skeleton
from .surfaces import Surface, joined

FOLD_HEIGHT = 0.003  # the fold of a boot over its sole, share of stature

# Axes of a bow that stands across, behind a foot.
_BEHIND = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])


def rest(size: Proportions) -> tuple[dict, dict, dict]:
    """Joints, facing and equipment: the skier's, the balls of the feet where the boots bend."""
    joints, facing, gear = skier.rest(size)
    for side in ("L", "R"):
        toes = -facing[f"foot.{side}"][:, 1]
        drop = size.ankle - FOLD_HEIGHT * size.height
        fold = joints[f"foot.{side}"] + toes * size.ball - UP * drop
        joints[f"toe.{side}"], joints[f"heel.{side}"] = fold, fold.copy()
    return joints, facing, gear


def _carriers(bones: Bones) -> None:
    skier.carriers(bones)
    skeleton = bones.skeleton
    for side in ("L", "R"):
        fold = skeleton.joints[f"heel.{side}"]
        toes = -skeleton.facing[f"foot.{side}"][:, 1]
        end = fold + toes * (skeleton.size.toe - skeleton.size.ball)
        # The foot turns about its ball, whose place on the ski stays; the toes lie flat.
        bones.flat(f"heel.{side}", f"ski.{side}", fold, 0.10, "IK")
        bones.add(f"MCH-toe.{side}", f"ski.{side}", fold, end, UP, "Mechanism")


def _body(skeleton: Skeleton) -> Surface:
    parts = body.winter_clothes(skeleton)
    for side in ("L", "R"):
        parts += [body.fist(skeleton, side), body.telemark_boot(skeleton, side)]
    return joined(parts)


def _equipment(skeleton: Skeleton) -> Surface:
    parts = (equipment.telemark_ski, equipment.pole)
    return joined([part(skeleton, side) for side in ("L", "R") for part in parts])


def _widgets(skeleton: Skeleton) -> dict[str, tuple]:
    table = skier.BUILD.widgets(skeleton)
    for side in ("L", "R"):
        # A bow behind the heel, which it lifts.
        table[f"heel.{side}"] = ("bow", (0.050, 0.050, 0.060), (0, 0.140, 0.030), _BEHIND)
    return table


BUILD = replace(
    skier.BUILD,
    rest=rest,
    body=_body,
    equipment=_equipment,
    carriers=_carriers,
    foot=("heel.{side}", "Mechanism"),
    # With a leg in FK its ski goes along with the toes.
    mechanism=lambda bones: skier.mechanism(bones, "toe"),
    level_with={"toe.{side}": "MCH-toe.{side}"},
    turned_only=("heel",),
    shapes=_widgets,
    roles={**skier.BUILD.roles, "heel.{side}": "heel.{side}"},
)
