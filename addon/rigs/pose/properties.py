# SPDX-License-Identifier: GPL-3.0-or-later
"""Present values of a rig's properties by data path: read before they are keyed, given back after.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

import bpy


def _property(armature: bpy.types.Object, path: str) -> tuple[object, str, bool]:
    """Owner and name of the property at a data path, and whether it is a custom one.

    Raises:
        ValueError: there is none.
    """
    if path.endswith('"]'):
        owner, _, name = path.rpartition('["')
        name = bpy.utils.unescape_identifier(name.removesuffix('"]'))
        found = armature.path_resolve(owner)
        if name not in found:
            raise ValueError(f"no {path}")
        return found, name, True
    owner, _, name = path.rpartition(".")
    return armature.path_resolve(owner) if owner else armature, name, False


def read_value(armature: bpy.types.Object, path: str) -> tuple:
    """Present value of a property, as a tuple.

    A number that Blender shows as a list of choices is read as the number.

    Args:
        armature: the rig.
        path: data path from the object.

    Raises:
        ValueError: there is no such property.
    """
    owner, name, custom = _property(armature, path)
    value = owner[name] if custom else getattr(owner, name)
    return tuple(value) if hasattr(value, "__len__") else (value,)


def read_pose(armature: bpy.types.Object, paths: Iterable[str]) -> dict[str, tuple]:
    """Present values of properties that are about to be keyed.

    Args:
        armature: the rig.
        paths: data paths from the object.
    """
    return {path: read_value(armature, path) for path in paths}


def restore_pose(armature: bpy.types.Object, pose: Mapping[str, tuple]) -> None:
    """Give properties the values they had before they were keyed.

    Args:
        armature: the rig; what is gone, or takes no such value, is passed over.
        pose: what `read_pose` gave.
    """
    for path, values in pose.items():
        with suppress(ValueError, TypeError, AttributeError, IndexError):
            owner, name, custom = _property(armature, path)
            value = values if len(values) > 1 else values[0]
            if custom:
                owner[name] = value
            else:
                setattr(owner, name, value)
