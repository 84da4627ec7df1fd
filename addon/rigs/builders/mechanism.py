# SPDX-License-Identifier: GPL-3.0-or-later
"""What a builder of a mechanical figure makes: bones, meshes and numbers. Numpy only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .skeleton import BoneSpec
from .surfaces import Cage, Surface, even_angles

Number = float | str | tuple[float, ...]


@dataclass(frozen=True)
class Mechanism:
    """A mechanical figure in its rest pose, in metres.

    Attributes:
        bones: parents first; the deforming ones are those that meshes hang on.
        surfaces: part of the figure -> its mesh.
        numbers: custom properties of the armature object.
        bone_numbers: bone -> its custom properties.
        modes: bone -> rotation mode, where it is not by quaternion.
        shapes: bone -> (shape, half-sizes in m, offset in m) of its control.
        still: bones that are not to be posed.
        moved: bones with a mode that are moved, besides turned about its axis.
        springs: bone -> bone whose head it reaches for.
    """

    bones: tuple[BoneSpec, ...]
    surfaces: Mapping[str, Surface]
    numbers: Mapping[str, Number] = field(default_factory=dict)
    bone_numbers: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    modes: Mapping[str, str] = field(default_factory=dict)
    shapes: Mapping[str, tuple] = field(default_factory=dict)
    still: Sequence[str] = ()
    moved: Sequence[str] = ()
    springs: Mapping[str, str] = field(default_factory=dict)


MakeMechanism = Callable[[float, float], Mechanism]
"""(size in m, mass in kg) -> the figure."""


def turned(
    centre, axis, profile: Sequence[tuple[float, float]], bone: str,
    materials: str | Sequence[str], count: int = 40,
) -> Surface:
    """A body of revolution.

    Args:
        centre: (3,) on its axis.
        axis: (3,) unit vector.
        profile: (along the axis, radius) pairs from one end to the other; the ends are closed
            where their radius is above 0.
        bone: what moves it.
        materials: one for all, or one for each gap of the profile.
        count: segments around, even.
    """
    axis = np.asarray(axis, dtype=float)
    across = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(axis, across) / np.linalg.norm(np.cross(axis, across))
    around = np.outer(np.cos(even_angles(count)), x)
    around += np.outer(np.sin(even_angles(count)), np.cross(axis, x))
    cage = Cage()
    rings = [
        cage.add(np.asarray(centre) + axis * along + around * radius, {bone: 1.0})
        for along, radius in profile
    ]
    gaps = [materials] * (len(rings) - 1) if isinstance(materials, str) else list(materials)
    cage.tube(rings, gaps, start=gaps[0], end=gaps[-1])
    return cage.surface(0)
