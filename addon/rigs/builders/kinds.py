# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of characters that can be built, and their skeletons. Numpy only.

A kind's `Building` is made by `Build`, or by `CreatureBuild` where it is no person: a new one
needs a module with its own, and a row here. A kind's family says which motions move it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import radians

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


@dataclass(frozen=True)
class Kind:
    """A character that can be built.

    Attributes:
        build: how it is built: bones, shapes, roles.
        label: name for menus and for the object.
        description: tooltip.
        sport: what it does, as the presets call it.
        slope: steepness in radians of the ground that it starts on.
        family: which motions it can do: "RIDING" or "LEGGED".
        size: what `build_character` takes as its height, m: of a person stature, of an
            animal height at the withers, of an insect length.
        mass: kg, with equipment, of one of that size.
        paints: parts whose colours are chosen when it is added.
        colours: part -> its colour where it is another one than in `COLOURS`.
    """

    build: Building
    label: str
    description: str
    sport: str
    slope: float = radians(12.0)
    family: str = "RIDING"
    size: float = 1.78
    mass: float = 80.0
    paints: tuple[str, ...] = ("suit", "trousers", "helmet", "equipment")
    colours: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)


KINDS = {
    SKIER: Kind(skier.BUILD, "Skier", "An alpine skier with skis and poles", "SKI"),
    TELEMARK: Kind(
        telemark.BUILD, "Telemark Skier", "A skier on free heels, with skis and poles", "TELEMARK"
    ),
    SNOWBOARDER: Kind(
        snowboarder.BUILD, "Snowboarder", "A snowboarder with a board", "SNOWBOARD"
    ),
    SKATEBOARDER: Kind(
        skateboarder.BUILD, "Skateboarder", "A skateboarder on a board that steers", "SKATEBOARD",
        0.0,
    ),
    CYCLIST: Kind(cyclist.BUILD, "Cyclist", "A cyclist on a bicycle", "CYCLING", 0.0),
    HORSE: Kind(
        CreatureBuild(legged.horse(), legged.horse, horse_body),
        "Horse", "A horse; its size is its height at the withers", "GAIT", 0.0, "LEGGED",
        1.60, 500.0, ("coat", "hair"),
    ),
    DOG: Kind(
        CreatureBuild(legged.dog(), legged.dog, dog_body),
        "Dog", "A dog; its size is its height at the withers", "GAIT", 0.0, "LEGGED",
        0.60, 30.0, ("coat",), {"coat": (0.42, 0.25, 0.11)},
    ),
    BIPED: Kind(
        walker.BUILD, "Biped", "A person on foot", "GAIT", 0.0, "LEGGED", 1.78, 75.0,
        ("suit", "trousers", "hair"), {"suit": (0.05, 0.20, 0.42), "boots": (0.55, 0.56, 0.58)},
    ),
    INSECT: Kind(
        CreatureBuild(legged.insect(), legged.insect, insect_body),
        "Insect", "An insect with six legs; its size is its length", "GAIT", 0.0, "LEGGED",
        0.80, 25.0, ("shell", "limbs"),
    ),
}

BUILDS = {name: kind.build for name, kind in KINDS.items()}
RIDING = tuple(name for name, kind in KINDS.items() if kind.family == "RIDING")
LEGGED = tuple(name for name, kind in KINDS.items() if kind.family == "LEGGED")


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
