# SPDX-License-Identifier: GPL-3.0-or-later
"""What the animator sees of a motion before it is baked, drawn over the viewport.

On the ground where it goes, at the current frame a ghost of the figure: what
exactly is for the motion's family to say. All geometry comes from the cached
solve and is handed to the graphics card once for each solve, the ghost once
for each frame. Nothing is solved here, and `gpu` is imported only when there
is something to draw.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np

from .. import families, motions
from ..drawing import diagrams
from ..drawing.strokes import (
    GHOST_COLOUR,
    LIFT,
    TRACK_COLOUR,
    WARNING_COLOUR,
    Mark,
    Palette,
    Strokes,
    path_strokes,
    vertex_data,
)
from ..families.base import Solved
from ..texts import tr
from ..ui import preferences
from . import preview

__all__ = [
    "GHOST_COLOUR",
    "LIFT",
    "TRACK_COLOUR",
    "WARNING_COLOUR",
    "Palette",
    "Strokes",
    "vertex_data",
]

BESIDE = 260.0  # pixels at interface scale 1 that numbers beside a diagram take
INSET_COLOUR = (0.04, 0.04, 0.05, 0.85)  # so dark that lines are seen over snow, too


# -- geometry: what the families say ---------------------------------------------


def track_strokes(solved: Solved, palette: Palette) -> list[Strokes]:
    """What of a motion is drawn on the ground.

    Args:
        solved: the solved motion.
        palette: colours.
    """
    return families.view_of(solved.job).track(solved, palette)


def course_strokes(solved: Solved) -> list[Strokes]:
    """What a motion is led by: its path, its gates, and where there was no way on.

    Args:
        solved: the solved motion.
    """
    return families.view_of(solved.job).course(solved)


def rejected_strokes(solved: Solved) -> list[Strokes]:
    """Pieces of track that a search looked at and rejected.

    Args:
        solved: the solved motion.
    """
    return families.view_of(solved.job).rejected(solved)


def ghost_strokes(solved: Solved, row: int, palette: Palette) -> list[Strokes]:
    """The figure at one sample.

    Args:
        solved: the solved motion.
        row: the sample.
        palette: colours.
    """
    return families.view_of(solved.job).ghost(solved, row, palette)


def hud_lines(solved: Solved, row: int) -> list[str]:
    """What the corner of the viewport says about one sample.

    Args:
        solved: the solved motion.
        row: the sample.
    """
    return families.view_of(solved.job).hud(solved, row)


def row_at(solved: Solved, frame: float) -> int:
    """The sample at a frame, or the nearest end of the motion.

    Args:
        solved: the solved motion.
        frame: a frame number, fractions allowed.
    """
    return int(solved.tracks.clock.row_of(frame - solved.job.start_frame))


# -- drawing -------------------------------------------------------------------


@dataclass
class _Batches:
    """What is on the graphics card of one solve, and what it was made from."""

    solved: Solved
    palette: Palette
    track: list = field(default_factory=list)
    rejected: list = field(default_factory=list)
    row: int = -1
    ghost: list = field(default_factory=list)
    inset: list = field(default_factory=list)
    inset_of: tuple = ()  # row and size that it was made for
    diagram: diagrams.Diagram | None = None
    marks: list[Mark] = field(default_factory=list)


_cache: dict[int, _Batches] = {}
_handles: list = []


def _palette(context: bpy.types.Context) -> Palette:
    settings = preferences.get(context)
    if settings is None:
        return Palette()
    return Palette(
        tuple(settings.ghost_colour), tuple(settings.track_colour), tuple(settings.warning_colour)
    )


def _shown(context: bpy.types.Context) -> list[tuple[bpy.types.Object, Solved]]:
    """Motions to draw: of the active and the other selected characters."""
    space = context.space_data
    if space is None or not space.overlay.show_overlays:
        return []
    found = []
    for character in motions.selected_characters(context):
        motion = motions.active_motion(character)
        if motion is not None and motion.poise_motion.show_preview:
            solved = preview.solved_for(motion, context.scene)
            if solved is not None:
                found.append((motion, solved))
    return found


def _batches(context: bpy.types.Context, motion: bpy.types.Object, solved: Solved) -> _Batches:
    """The batches of a motion, remade where the solve, the frame or a colour changed."""
    palette = _palette(context)
    unit = 1.0 / solved.job.numbers.unit_scale
    found = _cache.get(motion.session_uid)
    if found is None or found.solved is not solved or found.palette != palette:
        found = _Batches(solved, palette)
        drawn = track_strokes(solved, palette) + course_strokes(solved)
        found.track = [batch_of(strokes, unit) for strokes in drawn]
        found.marks = families.view_of(solved.job).marks(solved)
        found.rejected = [batch_of(strokes, unit) for strokes in rejected_strokes(solved)]
        _cache[motion.session_uid] = found
    row = row_at(solved, context.scene.frame_current_final)
    if found.row != row:
        found.ghost = [batch_of(s, unit) for s in ghost_strokes(solved, row, palette)]
        found.row = row
    return found


def batch_of(strokes: Strokes, unit: float):
    """Strokes on the graphics card.

    Args:
        strokes: lines.
        unit: Blender units, or pixels, for each of theirs.

    Returns:
        (batch, width, in_front), to draw.
    """
    from gpu_extras.batch import batch_for_shader

    batch = batch_for_shader(_line_shader(), "LINES", vertex_data(strokes, unit))
    return batch, strokes.width, strokes.in_front


def _line_shader():
    import gpu

    return gpu.shader.from_builtin("POLYLINE_FLAT_COLOR")


def draw_batches(batches, scale: float, faint: bool = False) -> None:
    """Draw lines.

    Args:
        batches: of `batch_of`.
        scale: of the interface.
        faint: half as wide, and only those that show through what is in front of them.
    """
    import gpu

    shader = _line_shader()
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    for batch, width, in_front in batches:
        if not faint or in_front:
            shader.uniform_float("lineWidth", width * scale * (0.5 if faint else 1.0))
            batch.draw(shader)


def draw_view() -> None:
    """Draw track and ghost; Blender calls it while it draws a viewport."""
    import gpu

    context = bpy.context
    shown = _shown(context)
    scale = context.preferences.system.ui_scale
    for motion, solved in shown:
        batches = _batches(context, motion, solved)
        gpu.state.blend_set("ALPHA")
        gpu.state.depth_mask_set(False)
        try:
            # What is behind something else shows through it, thin.
            gpu.state.depth_test_set("GREATER")
            draw_batches(batches.track + batches.ghost, scale, faint=True)
            gpu.state.depth_test_set("LESS_EQUAL")
            if motion.poise_motion.path.show_candidates:
                draw_batches(batches.rejected, scale)
            draw_batches(batches.track + batches.ghost, scale)
        finally:
            gpu.state.depth_test_set("NONE")
            gpu.state.depth_mask_set(True)
            gpu.state.blend_set("NONE")
    if len(_cache) > len(shown):
        _forget(shown)


def _forget(shown) -> None:
    alive = {obj.session_uid for obj in bpy.data.objects if obj.type == "EMPTY"}
    for key in [key for key in _cache if key not in alive]:
        del _cache[key]


def draw_pixels() -> None:
    """Draw numbers and the phase diagram of the active character's motion."""
    import blf
    import gpu

    context = bpy.context
    if context.region is None:
        return
    if not shows_numbers(context):
        return
    character = motions.active_character(context)
    shown = [pair for pair in _shown(context) if pair[0].poise_motion.character == character]
    if not shown:
        return
    motion, solved = shown[0]
    batches = _cache.get(motion.session_uid)
    if batches is None:
        return
    scale = context.preferences.system.ui_scale
    row = row_at(solved, context.scene.frame_current_final)
    view = families.view_of(solved.job)
    left, bottom, width, height = inset_frame(context, view)
    wanted = view.shows_inset(motion)
    drawn_for = (row if view.inset_rolls else 0, width, height)
    if not wanted:
        batches.inset, batches.diagram, batches.inset_of = [], None, ()
    elif batches.inset_of != drawn_for:
        batches.inset_of = drawn_for
        drawn = view.inset(solved, row, round(width), round(height))
        batches.diagram = None if drawn is None else diagrams.on_dark(drawn)
        batches.inset = []
    if not batches.inset and batches.diagram is not None:
        # A line as wide as the picture is high is its background.
        middle = np.array(((0.0, 0.5 * height), (width, 0.5 * height)))
        paper = path_strokes(lifted(middle), INSET_COLOUR, height / scale)
        batches.inset = [batch_of(paper, 1.0)] + [
            batch_of(_filled(area, scale), 1.0) for area in batches.diagram.areas
        ] + [
            batch_of(path_strokes(lifted(line.points), line.colour, line.width / scale), 1.0)
            for line in batches.diagram.lines
        ]
    now = []
    if batches.diagram is not None:
        state = view.inset_now(solved, row, round(width), round(height))
        dot = lifted(state if state.ndim == 2 else diagrams.dot(state, 3.5 * scale))
        now.append(batch_of(path_strokes(dot, (1.0, 1.0, 1.0, 1.0), 3.0), 1.0))
    gpu.state.blend_set("ALPHA")
    try:
        with gpu.matrix.push_pop():
            gpu.matrix.translate((left, bottom))
            draw_batches([*batches.inset, *now], scale)
    finally:
        gpu.state.blend_set("NONE")
    size = 12.0 * scale
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.8)
    _draw_marks(context, batches.marks, 1.0 / solved.job.numbers.unit_scale, 0.9 * size)
    blf.size(0, size)
    for number, text in enumerate(reversed(hud_lines(solved, row))):
        warning = text.startswith("Clipped")
        text = tr(text)
        blf.color(0, *(WARNING_COLOUR if warning else (1.0, 1.0, 1.0, 0.95)))
        across, up = left - blf.dimensions(0, text)[0] - 10.0 * scale, bottom + 6.0 * scale
        if left < BESIDE * scale:  # no room beside it: over it
            across, up = left, bottom + height + 8.0 * scale
        blf.position(0, across, up + 1.45 * size * number, 0)
        blf.draw(0, text)
    for label in batches.diagram.labels if batches.diagram is not None else ():
        blf.size(0, label.size * scale)
        blf.color(0, *label.colour)
        blf.position(0, left + label.x, bottom + label.y - 0.36 * label.size * scale, 0)
        blf.draw(0, tr(label.text))
    blf.disable(0, blf.SHADOW)


def shows_numbers(context: bpy.types.Context) -> bool:
    """Whether a viewport shows numbers and diagrams.

    Args:
        context: Blender's context.
    """
    space, settings = context.space_data, preferences.get(context)
    if space is None or not space.overlay.show_overlays:
        return False
    return settings is None or settings.show_numbers


def inset_frame(
    context: bpy.types.Context, view: families.View
) -> tuple[float, float, float, float]:
    """Left, bottom, width and height of the small diagram in a viewport, pixels.

    Args:
        context: Blender's context, of a 3D viewport.
        view: of the family whose diagram it is.
    """
    # The sidebar lies over the viewport's right side; the left corner is
    # where Blender shows the last operator's settings.
    scale = context.preferences.system.ui_scale
    wide = {region.type: region.width for region in reversed(list(context.area.regions))}
    covered, tools = (wide[kind] if wide.get(kind, 0) > 1 else 0 for kind in ("UI", "TOOLS"))
    width, height = (side * scale for side in view.inset_size)
    # Of a small viewport it takes what there is, of a tiny one half of what it would.
    width = min(width, max(wide["WINDOW"] - covered - tools - 28.0 * scale, 0.5 * width))
    return wide["WINDOW"] - covered - width - 14.0 * scale, 16.0 * scale, width, height


def _filled(area: diagrams.Area, scale: float) -> Strokes:
    """A rectangle as a line as wide as it is high."""
    middle = 0.5 * (area.bottom + area.top)
    points = np.array(((area.left, middle), (area.right, middle)))
    return path_strokes(lifted(points), area.colour, (area.top - area.bottom) / scale)


def _draw_marks(context: bpy.types.Context, marks, unit: float, size: float) -> None:
    """Words beside what is drawn, where they are in the view and do not crowd it."""
    import blf
    from bpy_extras.view3d_utils import location_3d_to_region_2d

    if not marks or context.region_data is None:
        return
    blf.size(0, size)
    taken: dict[int, list[tuple[float, float]]] = {}  # rows, each with lefts and rights
    for mark in marks:
        place = location_3d_to_region_2d(
            context.region, context.region_data, (mark.place * unit).tolist()
        )
        if place is None or not (0.0 <= place.x <= context.region.width):
            continue
        text = tr(mark.text)
        left = place.x + 0.5 * size
        right = left + blf.dimensions(0, text)[0] + 0.3 * size
        row = round(place.y / size)
        near = [each for other in (row - 1, row, row + 1) for each in taken.get(other, ())]
        if any(left < there and here < right for here, there in near):
            continue
        taken.setdefault(row, []).append((left, right))
        blf.color(0, *mark.colour)
        blf.position(0, left, place.y, 0)
        blf.draw(0, text)


def lifted(points: np.ndarray) -> np.ndarray:
    """(n, 3) of (n, 2) pixels.

    Args:
        points: pixels.
    """
    return np.concatenate((points, np.zeros((len(points), 1))), axis=1)


def register() -> None:
    """Let Blender call the drawing; not in the background, where nothing is drawn."""
    if bpy.app.background or _handles:
        return
    view = bpy.types.SpaceView3D
    _handles.append(view.draw_handler_add(draw_view, (), "WINDOW", "POST_VIEW"))
    _handles.append(view.draw_handler_add(draw_pixels, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Take the drawing away and free what is on the graphics card."""
    while _handles:
        handle = _handles.pop()
        bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    _cache.clear()
