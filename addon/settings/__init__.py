# SPDX-License-Identifier: GPL-3.0-or-later
"""What the animator sets, one file per motion family."""

from __future__ import annotations

import bpy

from . import (
    character,
    control,
    footprints,
    freeform,
    gait,
    motion,
    noticed,
    path,
    posing,
    roles,
    styles,
    turns,
)

# What a group points to comes before it.
_OF_MOTIONS: tuple[type, ...] = (
    *turns.CLASSES, *path.CLASSES, *footprints.CLASSES, *gait.CLASSES, *styles.CLASSES,
    *posing.CLASSES, *control.CLASSES, *freeform.CLASSES, *roles.CLASSES, *motion.CLASSES,
)
CLASSES: tuple[type, ...] = (*_OF_MOTIONS, *character.CLASSES)

# What stands on footprints in the scene is noticed by where they stand.
noticed.notice(*(cls for cls in _OF_MOTIONS if cls is not footprints.PoiseFootprintObject))

noticed.hold(*_OF_MOTIONS)


def register() -> None:
    """Hang the settings on Blender's objects."""
    bpy.types.Object.poise_motion = bpy.props.PointerProperty(type=motion.PoiseMotion)
    bpy.types.Object.poise_gate = bpy.props.PointerProperty(type=path.PoiseGate)
    bpy.types.Object.poise_footprint = bpy.props.PointerProperty(
        type=footprints.PoiseFootprintObject
    )
    bpy.types.WindowManager.poise_footprints = bpy.props.StringProperty(
        name="Copied Footprints", description="Run of footprints that was copied, as JSON"
    )
    bpy.types.Object.poise = bpy.props.PointerProperty(type=character.PoiseCharacter)


def unregister() -> None:
    """Take the settings off again; files keep what was stored."""
    del bpy.types.Object.poise
    del bpy.types.WindowManager.poise_footprints
    del bpy.types.Object.poise_footprint
    del bpy.types.Object.poise_gate
    del bpy.types.Object.poise_motion
