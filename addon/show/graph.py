# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines in the Graph Editor where values of a keyed setting mean something.

Where postures lie along the way of the active character's motion: its distance curve
crosses each line when that posture is taken (Girard 1986, section 2.4).
"""

from __future__ import annotations

import bpy
import numpy as np

from .. import compat, families, keyframes, motions
from ..drawing.strokes import PATH_COLOUR, Strokes
from . import overlay, preview

DASH = 7.0  # pixels at interface scale 1
SAMPLES = 4  # to a frame: how finely a curve's highest and lowest values are looked for

_handles: list = []


def levels(context: bpy.types.Context) -> list[tuple[str, float]]:
    """Names and heights of the lines, in the units that a Graph Editor shows.

    Args:
        context: Blender's context, of a Graph Editor.
    """
    space, character = context.space_data, motions.active_character(context)
    motion = None if character is None else motions.active_motion(character)
    if space is None or space.mode != "FCURVES" or motion is None:
        return []
    solved = preview.solved_for(motion, context.scene)
    if solved is None:
        return []
    view = families.view_of(solved.job)
    path, found = view.levels(solved)
    curve = _curve(motion, path)
    if curve is None or not view.shows_levels(motion):
        return []
    if space.use_normalization:
        low, size = _range(curve)
        return [(name, (value - low) / size * 2.0 - 1.0) for name, value in found]
    return found


def _curve(motion: bpy.types.Object, path: str) -> bpy.types.FCurve | None:
    """The curve of a setting that is keyed."""
    data = motion.animation_data
    curves = compat.action_fcurves(data.action, data.action_slot) if data and path else []
    return next((curve for curve in curves if curve.data_path == path), None)


def _range(curve: bpy.types.FCurve) -> tuple[float, float]:
    """Lowest value of a curve, and how far it goes up from there: what is shown normalised."""
    first, last = curve.range()
    values = keyframes.evaluate(curve, np.linspace(first, last, int(last - first) * SAMPLES + 2))
    low, size = float(values.min()), float(np.ptp(values))
    return (low, size) if size > 0.0 else (low - 1.0, 2.0)


def draw() -> None:
    """Draw the lines; Blender calls it while it draws a Graph Editor."""
    import blf
    import gpu

    context = bpy.context
    region = context.region
    if region is None or context.space_data is None:
        return
    places = [
        (name, float(region.view2d.view_to_region(0.0, value, clip=False)[1]))
        for name, value in levels(context)
    ]
    places = [(name, y) for name, y in places if 0.0 <= y <= region.height]
    if not places:
        return
    scale = context.preferences.system.ui_scale
    starts = np.arange(0.0, region.width, 2.0 * DASH * scale)
    points = np.zeros((len(places), len(starts), 2, 3))
    points[..., 0, 0], points[..., 1, 0] = starts, starts + DASH * scale
    points[..., 1] = np.array([y for _name, y in places])[:, None, None]
    points = points.reshape(-1, 3)
    lines = Strokes(points, np.tile(PATH_COLOUR, (len(points), 1)), 1.0)
    gpu.state.blend_set("ALPHA")
    try:
        overlay.draw_batches([overlay.batch_of(lines, 1.0)], scale)
    finally:
        gpu.state.blend_set("NONE")
    size = 11.0 * scale
    blf.size(0, size)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.8)
    blf.color(0, *PATH_COLOUR)
    taken = -size
    for name, y in sorted(places, key=lambda place: place[1]):
        if y - taken >= size:  # names of postures that lie close together would cover each other
            blf.position(0, 0.6 * size, y + 0.25 * size, 0)
            blf.draw(0, name)
            taken = y
    blf.disable(0, blf.SHADOW)


def register() -> None:
    """Let Blender call the drawing; not in the background, where nothing is drawn."""
    if bpy.app.background or _handles:
        return
    space = bpy.types.SpaceGraphEditor
    _handles.append(space.draw_handler_add(draw, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Take the drawing away."""
    while _handles:
        bpy.types.SpaceGraphEditor.draw_handler_remove(_handles.pop(), "WINDOW")
