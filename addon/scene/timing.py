# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames, rates, gravity and units of a scene, as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

import bpy

from ..errors import UserError

STANDARD_GRAVITY = 9.81
MAX_FRAMES = 100_000


@dataclass(frozen=True)
class SceneNumbers:
    """What a scene says about time, length and gravity.

    Attributes:
        fps: real frame rate, fps / fps_base.
        unit_scale: metres per Blender unit.
        gravity: size of gravity in m/s^2, never 0.
        gravity_note: why the scene's own gravity was not used, or "".
    """

    fps: float
    unit_scale: float
    gravity: float
    gravity_note: str


def scene_numbers(scene: bpy.types.Scene) -> SceneNumbers:
    """Read rate, unit scale and gravity once.

    Gravity is m/s^2 as it stands, whatever the unit scale. Its size counts; a
    tilted gravity is not a slope, which has settings of its own.

    Args:
        scene: the operator's scene.
    """
    gravity = scene.gravity.length
    note = ""
    if not scene.use_gravity:
        gravity, note = STANDARD_GRAVITY, "Gravity is off in the scene"
    elif gravity < 1e-6:
        gravity, note = STANDARD_GRAVITY, "Gravity is zero in the scene"
    if note:
        note += f": {STANDARD_GRAVITY} m/s² is used"
    unit_scale = scene.unit_settings.scale_length
    if scene.unit_settings.system == "NONE":
        unit_scale = 1.0
    return SceneNumbers(
        fps=scene.render.fps / scene.render.fps_base,
        unit_scale=unit_scale,
        gravity=gravity,
        gravity_note=note,
    )


def require_even_time(scene: bpy.types.Scene) -> None:
    """Refuse a scene whose frames are stretched: keys would play at other times than they have.

    Args:
        scene: the operator's scene.

    Raises:
        UserError: Old and New of its Time Stretching differ.
    """
    old, new = scene.render.frame_map_old, scene.render.frame_map_new
    if old != new:
        raise UserError(
            f"The scene's time is stretched from {old} to {new}, which would play the motion at "
            "another speed than its physics has: set Old and New alike (Output > Frame Rate > "
            "Time Stretching), and stretch time after the bake"
        )


def past_the_end(scene: bpy.types.Scene, end: int) -> str:
    """What is said of a motion that ends after the scene, or "".

    Args:
        scene: the scene.
        end: last frame of the motion.
    """
    if end <= scene.frame_end:
        return ""
    return f"Ends at frame {end}, the scene at {scene.frame_end}"


def frame_range(scene: bpy.types.Scene, motion: bpy.types.Object) -> tuple[int, int]:
    """First and last frame of a motion.

    Args:
        scene: the operator's scene.
        motion: the Motion object.

    Raises:
        UserError: the range is empty, or too long to be meant.
    """
    settings = motion.poise_motion
    if settings.range_mode == "SCENE":
        start, end = scene.frame_start, scene.frame_end
    elif settings.range_mode == "PREVIEW":
        if not scene.use_preview_range:
            raise UserError(
                "The timeline has no preview range: press P in the timeline to set one, "
                "or choose another Range"
            )
        start, end = scene.frame_preview_start, scene.frame_preview_end
    else:
        start, end = settings.frame_start, settings.frame_end
        if isnan(settings.duration):
            raise UserError(
                f"{motion.name} has no End, for its Duration was set to nan: set one of them to a "
                "number"
            )
    if end < start:
        raise UserError(
            f"{motion.name} ends at frame {end}, before its start at frame {start}: "
            "set End after Start"
        )
    if end - start >= MAX_FRAMES:
        raise UserError(
            f"{motion.name} is {end - start + 1} frames long: {MAX_FRAMES} is the most"
        )
    return start, end
