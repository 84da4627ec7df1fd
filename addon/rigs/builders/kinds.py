# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of characters that can be built, and their skeletons. Numpy only.

A kind is a `Building`, made by `Build`, or by `CreatureBuild` where it is no person: a new one
needs a module with its own, and a line here. A kind's family says which motions move it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....solvers.errors import SettingError
from ...mapping.legs import LeggedFigure
from . import cyclist, legged, skateboarder, skier, snowboarder, telemark, walker
from .animal import dog_body, horse_body
from .creature import CreatureBuild
from .insect import insect_body
from .legged import BIPED, DOG, HORSE, INSECT, read_figure
from .skeleton import (
    ANKLE_HEEL,
    Building,
    Proportions,
    Skeleton,
)

SKIER = "SKIER"
TELEMARK = "TELEMARK"
SNOWBOARDER = "SNOWBOARDER"
SKATEBOARDER = "SKATEBOARDER"
CYCLIST = "CYCLIST"

RIDING = (SKIER, TELEMARK, SNOWBOARDER, SKATEBOARDER, CYCLIST)
LEGGED = (HORSE, DOG, BIPED, INSECT)

BUILDS: dict[str, Building] = {
    SKIER: skier.BUILD,
    TELEMARK: telemark.BUILD,
    SNOWBOARDER: snowboarder.BUILD,
    SKATEBOARDER: skateboarder.BUILD,
    CYCLIST: cyclist.BUILD,
    HORSE: CreatureBuild(legged.horse(), legged.horse, horse_body),
    DOG: CreatureBuild(legged.dog(), legged.dog, dog_body),
    BIPED: walker.BUILD,
    INSECT: CreatureBuild(legged.insect(), legged.insect, insect_body),
}

def role_bones(kind: str) -> dict[str, str]:
    """Role -> the control that is keyed for it; its head is at the role's joint in rest.

    Args:
        kind: one of BUILDS.
    """
    return BUILDS[kind].role_bones()


def deform_map(kind: str) -> dict[str, tuple[str, str]]:
    """Deform bone -> (control it follows, deform parent), parents first.

    Args:
        kind: one of BUILDS.
    """
    return BUILDS[kind].deform_bones()


def switches(kind: str) -> tuple[str, ...]:
    """Names of the custom properties on the root bone that switch limbs.

    Args:
        kind: one of BUILDS.
    """
    return tuple(BUILDS[kind].switch_tips())


def build_skeleton(
    kind: str, size: float | Proportions | LeggedFigure, regular: bool = True
) -> Skeleton:
    """Rest pose of a character.

    Args:
        kind: one of BUILDS.
        size: lengths of the body, or the stature in metres of one of standard proportions;
            of an animal its size in metres, or its rest pose.
        regular: left foot leads; False is goofy, the mirror image, for kinds
            that have a leading foot.

    Raises:
        SettingError: unknown kind, or a height that is not above 0.
    """
    height = size if isinstance(size, (int, float)) else size.height
    if not (np.isfinite(height) and height > 0.0):
        raise SettingError("Height", height, "above 0 m")
    if kind not in BUILDS:
        raise SettingError("Kind", kind, " or ".join(BUILDS))
    return BUILDS[kind].skeleton(kind, size, regular)


def legged_figure(
    build: Building,
    at: Callable[[str, bool], np.ndarray],
    mass: float,
    heel: float = ANKLE_HEEL,
) -> LeggedFigure:
    """The rest pose of a legged character, read back from its bones.

    Args:
        build: what it is made by, with a figure.
        at: (bone, whether its tail is meant) -> (3,) in character space, m.
        mass: kg.
        heel: of a person, ankle to the rear end of the sole along it, share of the stature.
    """
    joints = {joint: at(*end) for joint, end in build.joint_ends().items()}
    for leg in build.figure.legs:
        # Soles are where the root stands; the bones of toes lie a little higher.
        joints[leg.tip] = joints[leg.tip] * (1.0, 1.0, 0.0) + joints["root"] * (0.0, 0.0, 1.0)
    return read_figure(build.figure, joints, mass, heel)
