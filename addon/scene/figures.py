# SPDX-License-Identifier: GPL-3.0-or-later
"""The figure that a character has in the scene, and where a motion stands, in metres."""

from __future__ import annotations

from math import atan2

import bpy
import numpy as np

from ...solvers.motion import Placement
from ..errors import UserError
from ..mapping.legs import LeggedFigure, creature_of
from ..mapping.tracks import Figure
from ..placement import require_near, world_matrix
from ..rigs import characters
from ..rigs.builders.legged import FIGURES
from .timing import scene_numbers


def figure_in_metres(character: bpy.types.Object, unit_scale: float) -> Figure | LeggedFigure:
    """A character's figure at the size it has in the scene.

    Args:
        character: the armature object.
        unit_scale: metres per Blender unit.

    Raises:
        UserError: the object stands nowhere, is scaled to nothing or out of shape.
    """
    matrix = world_matrix(character)
    scale = np.array([column.length for column in matrix.to_3x3().col])
    if not np.isfinite(scale).all():
        raise UserError(f"{character.name} has a scale that is no number: set it to 1")
    if scale.min() < 1e-8:
        raise UserError(f"{character.name} is scaled to zero: give it a scale above zero")
    if scale.max() / scale.min() > 1.001:
        raise UserError(
            f"{character.name} is scaled unevenly ({scale[0]:.3g}, {scale[1]:.3g}, "
            f"{scale[2]:.3g}): Poise needs the same scale along every axis"
        )
    # Its keys would have to bring it back from there.
    require_near(character.name, np.array(matrix.translation) * unit_scale)
    factor = float(scale.mean()) * unit_scale
    try:
        figure = characters.figure_of(character)
    except ValueError as error:
        raise UserError(f"{error}: undo the change, or add the character anew") from error
    return figure if abs(factor - 1.0) < 1e-9 else figure.scaled(factor)


def placement_of(motion: bpy.types.Object, unit_scale: float) -> Placement:
    """Where a Motion object stands and which way it faces on the ground.

    Args:
        motion: the Motion object; its tilt and scale do not count.
        unit_scale: metres per Blender unit.

    Raises:
        UserError: it stands nowhere, or too far away for single precision.
    """
    matrix = world_matrix(motion)
    facing = -matrix.col[1].to_3d()
    yaw = atan2(facing.x, -facing.y) if facing.to_2d().length > 1e-9 else 0.0
    origin = np.array(matrix.translation) * unit_scale
    require_near(motion.name, origin)
    return Placement(origin=origin, yaw=yaw)


def legs_of(motion: bpy.types.Object | None) -> tuple[str, ...]:
    """Names of the legs of a motion's character, in the order of gaits; () if it has none.

    Args:
        motion: the Motion object, or None.
    """
    character = motion.poise_motion.character if motion is not None else None
    try:
        figure = figure_in_metres(character, 1.0)
    except (UserError, AttributeError):
        return ()
    return tuple(leg.name for leg in figure.legs)


def hip_height_of(motion: bpy.types.Object) -> float:
    """Height of the hips of a motion's character, m; that of a large dog if it has no legs.

    Args:
        motion: the Motion object.
    """
    if not legs_of(motion):
        return 0.6
    unit = scene_numbers(bpy.context.scene).unit_scale
    figure = figure_in_metres(motion.poise_motion.character, unit)
    assert isinstance(figure, LeggedFigure)
    return creature_of(figure).hip_height()


def usual_hip_height(kind: str) -> float:
    """Height of the hips of Poise's own character of a kind, m.

    Args:
        kind: kind of character that goes on legs.
    """
    return creature_of(FIGURES[kind]()).hip_height()
