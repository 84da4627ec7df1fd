# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a motion is taken hold of in the viewport itself, without a button first.

Bars of the gait diagram, and an arrow on the ground that is the motion's heading and speed.
Gizmos only find what is under the mouse and show it; the operators that they call do the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, hypot

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Matrix, Vector, geometry

from .. import families, motions
from ..drawing import diagrams
from ..families.base import Solved
from ..families.gait import view as gait_view
from ..placement import world_matrix
from ..scene.sampling import is_animated
from ..scene.timing import scene_numbers
from . import overlay, preview

NEAR = 6.0  # pixels at interface scale 1 within which an end of a bar is taken
WAY_TIME = 0.5  # s of the way that the arrow is long
SLIM, BROAD, HEAD = 0.05, 0.18, 0.45  # m: half widths of the arrow, length of its head
COLOUR, LIT = (0.25, 0.75, 1.0), (1.0, 1.0, 1.0)

# Kind of motion -> the group with its speed, and the name of its heading there, "" for none.
LED_BY = {"TURNS": ("turns", "heading"), "GAIT": ("gait", "")}


# -- bars of the gait diagram ------------------------------------------------------


@dataclass(frozen=True)
class Grip:
    """A bar of the gait diagram under the mouse.

    Attributes:
        bar: which.
        edge: "ON" or "OFF" for its ends, "BAR" for its middle.
        solved: the motion that the diagram shows.
        seconds: time that a pixel is, s.
        outline: (n, 2) what is taken hold of, pixels of the region.
    """

    bar: diagrams.Bar
    edge: str
    solved: Solved
    seconds: float
    outline: np.ndarray


def diagram_shown(context: bpy.types.Context) -> Solved | None:
    """The solved motion whose gait diagram a viewport shows, or None.

    Args:
        context: Blender's context, of a 3D viewport.
    """
    character = motions.active_character(context)
    motion = motions.active_motion(character) if character is not None else None
    if motion is None or not overlay.shows_numbers(context):
        return None
    settings = motion.poise_motion
    if settings.kind != "GAIT" or settings.gait.mode != "SEQUENCE" or not settings.show_preview:
        return None
    return preview.solved_for(motion, context.scene) if settings.gait.show_diagram else None


def grip_at(context: bpy.types.Context, x: float, y: float) -> Grip | None:
    """What of the gait diagram is under the mouse.

    Args:
        context: Blender's context, of a 3D viewport.
        x: pixels of its region.
        y: pixels.
    """
    solved = diagram_shown(context)
    if solved is None:
        return None
    view = families.view_of(solved.job)
    left, bottom, width, height = overlay.inset_frame(context, view)
    row = overlay.row_at(solved, context.scene.frame_current_final)
    upper, _lower = gait_view.inset_axes(solved, row, round(width), round(height))
    near = NEAR * context.preferences.system.ui_scale
    bars = diagrams.gait_bars(solved.motion, upper)
    found = diagrams.bar_at(bars, x - left, y - bottom, near)
    if found is None:
        return None
    bar, edge = found
    area = bar.area
    begin, end = {
        "ON": (area.left, area.left), "OFF": (area.right, area.right),
        "BAR": (area.left, area.right),
    }[edge]
    corners = [(begin, area.bottom), (end, area.bottom), (end, area.top), (begin, area.top)]
    outline = np.array([*corners, corners[0]]) + (left, bottom)
    (start, stop) = upper.x_range
    return Grip(bar, edge, solved, (stop - start) / (upper.right - upper.left), outline)


def draw_grip(context: bpy.types.Context, grip: Grip) -> None:
    """Show what is taken hold of.

    Args:
        context: Blender's context, of a 3D viewport.
        grip: what.
    """
    scale = context.preferences.system.ui_scale
    strokes = overlay.path_strokes(overlay.lifted(grip.outline), (*LIT, 1.0), 4.0)
    overlay.draw_batches([overlay.batch_of(strokes, 1.0)], scale)


class POISE_GT_supports(bpy.types.Gizmo):
    """Bars of the gait diagram."""

    bl_idname = "POISE_GT_supports"
    __slots__ = ("grip",)

    def setup(self):
        self.grip = None

    def test_select(self, context, location):
        former = self.grip
        self.grip = grip_at(context, *location)
        if (former and (former.bar, former.edge)) != (
            self.grip and (self.grip.bar, self.grip.edge)
        ):
            context.region.tag_redraw()
        return -1 if self.grip is None else 0

    def draw(self, context):
        if self.is_highlight and self.grip is not None:
            draw_grip(context, self.grip)


class POISE_GGT_supports(bpy.types.GizmoGroup):
    bl_idname = "POISE_GGT_supports"
    bl_label = "Supports"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"PERSISTENT"}

    @classmethod
    def poll(cls, context):
        return diagram_shown(context) is not None

    def setup(self, context):
        self.gizmos.new(POISE_GT_supports.bl_idname).target_set_operator("poise.gait_drag")


# -- heading and speed -------------------------------------------------------------


@dataclass(frozen=True)
class Arrow:
    """Heading and speed of a motion as an arrow on the ground, Blender units.

    Attributes:
        motion: the Motion object.
        place: where it begins.
        ahead: turn about +Z of the motion's own -Y, which is heading 0, from the world's.
        side: 1, or -1 where Mirror swaps left and right.
        heading: radians.
        speed: Blender units/s.
        free: names of those of the two that have neither keys nor drivers.
    """

    motion: bpy.types.Object
    place: Vector
    ahead: float
    side: float
    heading: float
    speed: float
    free: tuple[str, ...]

    @property
    def turn(self) -> float:
        """Where it points to, as a turn about +Z of the world's -Y, radians."""
        return self.ahead + self.side * self.heading

    @property
    def tip(self) -> Vector:
        """Where it ends."""
        turn = Matrix.Rotation(self.turn, 3, "Z")
        return self.place + turn @ Vector((0.0, -WAY_TIME * self.speed, 0.0))

    def to(self, tip: Vector) -> tuple[float, float]:
        """(heading, speed) that an arrow to another place has.

        Args:
            tip: where it is to end.
        """
        x, y = (tip - self.place).to_2d()
        heading = self.side * (atan2(x, -y) - self.ahead)
        return atan2(np.sin(heading), np.cos(heading)), hypot(x, y) / WAY_TIME


def arrow_of(motion: bpy.types.Object) -> Arrow | None:
    """The arrow of a motion, or None where something else leads it.

    Args:
        motion: the Motion object.
    """
    settings = motion.poise_motion
    if settings.kind not in LED_BY or settings.after is not None or settings.base is not None:
        return None
    group, heading = LED_BY[settings.kind]
    own = getattr(settings, group)
    if settings.kind == "GAIT" and (own.speed_by != "TIME" or own.path is not None):
        return None
    names = tuple(name for name in (heading, "speed") if name)
    keyed = is_animated(motion, group, names)
    matrix = world_matrix(motion)
    forward = matrix.to_3x3() @ Vector((0.0, -1.0, 0.0))
    return Arrow(
        motion, matrix.translation.copy(), atan2(forward.x, -forward.y),
        -1.0 if settings.mirror else 1.0,
        getattr(own, heading) if heading else 0.0, own.speed,
        tuple(name for name in names if name not in keyed),
    )


def arrow_shown(context: bpy.types.Context) -> Arrow | None:
    """The arrow that a viewport shows, or None.

    Args:
        context: Blender's context, of a 3D viewport.
    """
    character = motions.active_character(context)
    motion = motions.active_motion(character) if character is not None else None
    if motion is None or not motion.poise_motion.show_preview or motion.library is not None:
        return None
    space = context.space_data
    if space is None or not space.overlay.show_overlays or context.mode != "OBJECT":
        return None
    found = arrow_of(motion)
    return found if found is not None and found.free else None


def on_ground(area: bpy.types.Area, arrow: Arrow, x: float, y: float) -> Vector | None:
    """Where the mouse points to on the level of an arrow, or None where it looks past it.

    Args:
        area: the 3D viewport.
        arrow: the arrow.
        x: pixels of the window.
        y: pixels.
    """
    region = next(region for region in area.regions if region.type == "WINDOW")
    view, mouse = area.spaces.active.region_3d, (x - region.x, y - region.y)
    eye = view3d_utils.region_2d_to_origin_3d(region, view, mouse)
    way = view3d_utils.region_2d_to_vector_3d(region, view, mouse)
    hit = geometry.intersect_line_plane(eye, eye + way, arrow.place, Vector((0.0, 0.0, 1.0)))
    ahead = hit is not None and (hit - eye).dot(way) > 0.0
    return hit if ahead or (hit is not None and not view.is_perspective) else None


_SHAFT = ((-1, 0, 0), (1, 0, 0), (1, 1, 0), (-1, 0, 0), (1, 1, 0), (-1, 1, 0))
_HEAD = ((-1, 0, 0), (1, 0, 0), (0, 1, 0))


class POISE_GT_heading(bpy.types.Gizmo):
    """Heading and speed of a motion as a flat arrow on the ground."""

    bl_idname = "POISE_GT_heading"
    __slots__ = ("arrow", "shaft", "head", "unit")

    def setup(self):
        self.arrow, self.unit = None, 1.0
        self.shaft = self.new_custom_shape("TRIS", _SHAFT)
        self.head = self.new_custom_shape("TRIS", _HEAD)
        self.color, self.alpha = COLOUR, 0.6
        self.color_highlight, self.alpha_highlight = LIT, 0.9

    def _draw(self, **select):
        if self.arrow is None:
            return
        arrow, unit = self.arrow, self.unit
        length = max((arrow.tip - arrow.place).length / unit, HEAD)
        lift = Vector((0.0, 0.0, overlay.LIFT * unit))
        # Shapes point along their +Y.
        base = Matrix.Translation(arrow.place + lift) @ Matrix.Rotation(
            arrow.turn + np.pi, 4, "Z"
        ) @ Matrix.Scale(unit, 4)
        shaft = Matrix.Diagonal((SLIM, length - HEAD, 1.0, 1.0))
        self.draw_custom_shape(self.shaft, matrix=base @ shaft, **select)
        tip = Matrix.Translation((0.0, length - HEAD, 0.0))
        head = Matrix.Diagonal((BROAD, HEAD, 1.0, 1.0))
        self.draw_custom_shape(self.head, matrix=base @ tip @ head, **select)

    def draw(self, context):
        self._draw()

    def draw_select(self, context, select_id):
        self._draw(select_id=select_id)


class POISE_GGT_heading(bpy.types.GizmoGroup):
    bl_idname = "POISE_GGT_heading"
    bl_label = "Heading and Speed"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context):
        return arrow_shown(context) is not None

    def setup(self, context):
        gizmo = self.gizmos.new(POISE_GT_heading.bl_idname)
        gizmo.use_draw_modal = True
        gizmo.target_set_operator("poise.heading_drag")

    def draw_prepare(self, context):
        for gizmo in self.gizmos:
            gizmo.arrow = arrow_shown(context)
            gizmo.unit = 1.0 / scene_numbers(context.scene).unit_scale


CLASSES = (POISE_GT_supports, POISE_GGT_supports, POISE_GT_heading, POISE_GGT_heading)
