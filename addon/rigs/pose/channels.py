# SPDX-License-Identifier: GPL-3.0-or-later
"""The channels of bones: what they are called, and what they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass

import bpy
import numpy as np

from . import rotation_modes

# What Blender calls the group of an object's own channels.
OBJECT_GROUP = "Object Transforms"

# Properties that move a bone by themselves; others are settings of it and its constraints.
CHANNELS = {"location", "scale", *rotation_modes.PROPERTY.values()}
BONE_IN_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.?(\w*)')


def bone_path(bone: str) -> str:
    """RNA path of a pose bone from its object.

    Args:
        bone: name of the bone.
    """
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"]'


def bone_of(path: str) -> str:
    """Name of the bone that a data path from its object belongs to, or "".

    Args:
        path: the data path.
    """
    match = BONE_IN_PATH.match(path)
    return bpy.utils.unescape_identifier(match[1]) if match else ""


@dataclass(frozen=True)
class BoneTrack:
    """The channels of one bone, or of the armature object.

    Attributes:
        role: role that the bone plays.
        bone: its name; "" for the object.
        property: the property that holds its rotation.
        location: (m, 3) or None where it is not keyed.
        rotation: (m, 4) or (m, 3) in the bone's own mode, or None.
        unit: Blender units per unit of its location; 0 for those of the armature.
    """

    role: str
    bone: str
    property: str
    location: np.ndarray | None
    rotation: np.ndarray | None
    unit: float = 0.0

    def path(self, name: str) -> str:
        """Data path from the armature object of one of its properties.

        Args:
            name: the property.
        """
        return f"{bone_path(self.bone)}.{name}" if self.bone else name

    @property
    def group(self) -> str:
        """Name of the group that its curves are in."""
        return self.bone or OBJECT_GROUP

    def properties(self) -> list[tuple[str, np.ndarray]]:
        """Property -> values, location first."""
        found = []
        if self.location is not None:
            found.append(("location", self.location))
        if self.rotation is not None:
            found.append((self.property, self.rotation))
        return found
