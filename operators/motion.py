# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of a character's motions."""

from math import degrees

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty

from ..addon import baking, families, motions
from ..addon.bake.checks import LAST_FRAME
from ..addon.base_operator import SettingsOperator, one_line
from ..addon.context import object_mode
from ..addon.drawing.strokes import Palette
from ..addon.errors import UserError
from ..addon.rigs.actor import Actor
from ..addon.scene.timing import scene_numbers
from ..addon.settings.motion import KINDS, kind_items
from ..addon.shots import footprints, trail
from ..addon.show import handles, overlay, preview
from ..addon.texts import tr


class _CharacterOperator(SettingsOperator):
    @classmethod
    def poll(cls, context):
        if motions.active_character(context) is None:
            cls.poll_message_set("No character is active: select an armature or its mesh")
            return False
        return True


class _MotionOperator(_CharacterOperator):
    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if motions.active_motion(motions.active_character(context)) is None:
            cls.poll_message_set("The character has no motion: click Add Motion")
            return False
        return True


class OfKind:
    """Mixin: only where the active motion is of a kind, or of one of several.

    Its `motion_kind` is that kind, or those, `lacks` what motions of others do not have and the
    way out.
    """

    motion_kind: str | tuple[str, ...] = ""
    lacks = ""

    @classmethod
    def poll(cls, context):
        character = motions.active_character(context)
        motion = motions.active_motion(character) if character is not None else None
        if motion is None:
            cls.poll_message_set(
                "No character with a motion is active: select an armature, its mesh or its motion"
            )
            return False
        kinds = (cls.motion_kind,) if isinstance(cls.motion_kind, str) else cls.motion_kind
        if motion.poise_motion.kind not in kinds:
            cls.poll_message_set(tr(f"The active motion has no {cls.lacks}"))
            return False
        return True


class POISE_OT_motion_add(_CharacterOperator, bpy.types.Operator):
    """Add a motion to the character, after the ones it has"""

    bl_idname = "poise.motion_add"
    bl_label = "Add Motion"

    kind: EnumProperty(
        name="Motion",
        description="What kind of motion to add; unset, the first that the character can do",
        items=kind_items(),
        options={"SKIP_SAVE"},
    )
    name: StringProperty(name="Name", description="Name of the motion; empty for a default")

    def run(self, context):
        rig = motions.active_character(context)
        able, curve = families.kinds_for(Actor.of(rig)), selected_curve(context)
        if not able:
            raise UserError(f"{rig.name} is not a Poise character: set it up, or add one")
        kind = self.kind if self.properties.is_property_set("kind") else able[0]
        if kind not in able:
            labels = [families.label(name) for name in able]
            raise UserError(f"{rig.name} can only do {' or '.join(labels)}")
        motions.require_editable(rig)
        before = motions.active_motion(rig)
        with object_mode(context):
            # No line breaks: scripts can give them, and lists and reports cannot show them.
            motion = motions.add_motion(context, rig, one_line(self.name))
        settings = motion.poise_motion
        settings.kind = kind
        if before is None:
            families.begin(motion, scene_numbers(context.scene).unit_scale)
        elif families.FAMILIES[kind].lies:
            for name in ("frame_start", "frame_end", "range_mode"):
                setattr(settings, name, getattr(before.poise_motion, name))
        else:
            _continue_from(context.scene, settings, before)
        free = not self.properties.is_property_set("kind")
        if curve and (free or follows(kind)) and families.go_along(motion, curve):
            return f"Added {motion.name}, along {curve.name}"
        return f"Added {motion.name}"


def selected_curve(context):
    """The curve that is selected, which becomes the path of what is added; None of several."""
    found = [obj for obj in context.view_layer.objects.selected if obj.type == "CURVE"]
    return found[0] if len(found) == 1 else None


def follows(kind: str) -> bool:
    """Whether motions of a kind follow curves."""
    return any(known.along for known in KINDS if known.name == kind)


def _continue_from(scene, settings, before):
    """Start where the motion before ends, with its settings."""
    other, solved = before.poise_motion, preview.solved_for(before, scene)
    settings.go_on_from(other)
    settings.after = before
    length = settings.frame_end - settings.frame_start
    end = other.frame_end
    if solved is not None and solved.job.ends_by_itself:
        end = solved.job.end_frame
    elif other.range_mode == "SCENE":
        end = scene.frame_end
    elif other.range_mode == "PREVIEW" and scene.use_preview_range:
        end = scene.frame_preview_end
    settings.frame_start = min(end, LAST_FRAME)
    settings.frame_end = settings.frame_start + length


class POISE_OT_motion_remove(_MotionOperator, bpy.types.Operator):
    """Remove the active motion; what it baked is cleared with it"""

    bl_idname = "poise.motion_remove"
    bl_label = "Remove Motion"

    def run(self, context):
        rig, motion = motions.require_motion(context)
        name = motion.name
        with object_mode(context):
            was_active = context.view_layer.objects.active == motion
            remove(context, motion)
            if was_active and rig in context.view_layer.objects.values():
                context.view_layer.objects.active = rig
            left = motions.active_motion(rig)
            if left is not None:
                motions.set_active(left)
        return f"Removed {name}"


def remove(context, motion):
    """Remove a Motion object, what it baked and what it added to the scene."""
    try:
        baked = baking.is_baked(motion)
    except UserError:
        baked = False  # a record that cannot be read goes with its motion
    if baked:
        baking.clear(context, motion)
    else:
        trail.remove_helpers(motion)
    footprints.remove(motion)
    bpy.data.objects.remove(motion)


class POISE_OT_motion_select(_MotionOperator, bpy.types.Operator):
    """Select the Motion objects of the selected characters, too: Timeline shows their keys"""

    bl_idname = "poise.motion_select"
    bl_label = "Select Motion"

    def run(self, context):
        _character, motion = motions.require_motion(context)
        if motion.name not in context.view_layer.objects:
            raise UserError(f"{motion.name} is in no visible collection: show its collection")
        # Settings that Blender itself copies to what is selected reach them all, too.
        for each in map(motions.active_motion, motions.selected_characters(context)):
            if each.name in context.view_layer.objects:
                each.hide_set(False)
                each.select_set(True)
        return ""


class POISE_OT_motion_view(_MotionOperator, bpy.types.Operator):
    """Show the whole track of the selected characters' motions in the viewport"""

    bl_idname = "poise.motion_view"
    bl_label = "View Track"

    def run(self, context):
        area = viewport_of(context)
        if area is None:
            raise UserError("No 3D viewport is open: open one")
        points = []
        for motion in map(motions.active_motion, motions.selected_characters(context)):
            status = preview.refresh(context, motion)
            if status.solved is None:
                raise UserError(f"{motion.name} cannot be solved: {status.error}")
            drawn = overlay.track_strokes(status.solved, Palette())
            drawn += overlay.ghost_strokes(status.solved, 0, Palette())
            points += [strokes.points for strokes in drawn]
        if not points:
            raise UserError("These motions have no track")
        places = np.concatenate(points) / scene_numbers(context.scene).unit_scale
        space = area.spaces.active
        # Without a window an area has no size.
        aspect = area.width / area.height if area.width and area.height else 1.0
        frame(space.region_3d, space.lens, places, aspect)
        area.tag_redraw()
        return ""


def viewport_of(context):
    """The 3D viewport that the mouse is in, or the largest of the window; None without one."""
    if context.area is not None and context.area.type == "VIEW_3D":
        return context.area
    areas = context.screen.areas if context.screen is not None else ()
    found = [area for area in areas if area.type == "VIEW_3D"]
    return max(found, key=lambda area: area.width * area.height, default=None)


SENSOR = 72.0  # mm: what Blender takes the longer side of a viewport for


def frame(region, lens: float, places: np.ndarray, aspect: float) -> None:
    """Let a viewport show places from where it looks.

    Args:
        region: its region_3d.
        lens: its focal length, mm.
        places: (n, 3) in Blender units.
        aspect: its width over its height.
    """
    low, high = places.min(axis=0), places.max(axis=0)
    radius = max(0.5 * float(np.linalg.norm(high - low)), 0.1)
    # The shorter side sees less.
    half = SENSOR / 2.0 / lens * min(aspect, 1.0 / aspect)
    if region.view_perspective == "CAMERA":
        region.view_perspective = "PERSP"
    region.view_location = 0.5 * (low + high)
    region.view_distance = radius * (1.0 + half**2) ** 0.5 / half


class POISE_OT_scene_range_set(_MotionOperator, bpy.types.Operator):
    """Let the scene last until the motions of the selected characters end"""

    bl_idname = "poise.scene_range_set"
    bl_label = "Set Scene Range"

    def run(self, context):
        scene, ends = context.scene, []
        for motion in map(motions.active_motion, motions.selected_characters(context)):
            status = preview.refresh(context, motion)
            if status.solved is None:
                raise UserError(f"{motion.name} cannot be solved: {status.error}")
            ends.append(status.solved.job.end_frame)
        scene.frame_end = max(scene.frame_end, *ends)
        return f"The scene ends at frame {scene.frame_end}"


class POISE_OT_motion_activate(_MotionOperator, bpy.types.Operator):
    """Make this motion the one that the panels show and Bake bakes"""

    bl_idname = "poise.motion_activate"
    bl_label = "Activate Motion"

    name: StringProperty(name="Motion", description="Name of the Motion object")

    def run(self, context):
        rig = motions.active_character(context)
        for motion in motions.motions_of(rig):
            if motion.name == self.name:
                motions.set_active(motion)
                return ""
        raise UserError(f"{rig.name} has no motion called {self.name!r}")


class POISE_OT_motion_move(_MotionOperator, bpy.types.Operator):
    """Move the active motion up or down in the list"""

    bl_idname = "poise.motion_move"
    bl_label = "Move Motion"

    direction: IntProperty(
        name="Direction", description="-1 moves up, 1 down", default=-1, min=-1, max=1
    )

    def run(self, context):
        rig, motion = motions.require_motion(context)
        order = motions.motions_of(rig)
        at = order.index(motion)
        to = min(max(at + self.direction, 0), len(order) - 1)
        order.insert(to, order.pop(at))
        for place, obj in enumerate(order):
            obj.poise_motion.order = place
        return ""


class POISE_OT_heading_drag(OfKind, SettingsOperator, bpy.types.Operator):
    """Drag the arrow of heading and speed in the viewport; one of them that has keys stays"""

    bl_idname = "poise.heading_drag"
    bl_label = "Drag Heading and Speed"
    motion_kind = tuple(handles.LED_BY)
    lacks = "heading and speed: set Motion to Turns or Gait"

    heading: FloatProperty(
        name="Heading", description="Where the motion goes, anticlockwise from straight ahead",
        subtype="ANGLE", options={"SKIP_SAVE"},
    )
    speed: FloatProperty(
        name="Speed", description="How fast it goes", min=0.0, unit="VELOCITY",
        options={"SKIP_SAVE"},
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        arrow = handles.arrow_of(motion)
        if arrow is None:
            raise UserError(f"{motion.name} is led by something else: clear After, On Top Of and "
                            "Path, and let the speed be over time")
        if not arrow.free:
            raise UserError(f"{motion.name} has keys or drivers on heading and speed: change these")
        group = getattr(motion.poise_motion, handles.LED_BY[motion.poise_motion.kind][0])
        for name in arrow.free:
            if self.properties.is_property_set(name):
                setattr(group, name, getattr(self, name))
        found = handles.arrow_of(motion)
        unit = scene_numbers(context.scene).unit_scale
        return f"Heading {degrees(found.heading):.1f}°, {found.speed * unit:.2f} m/s"

    def invoke(self, context, event):
        given = any(self.properties.is_property_set(name) for name in ("heading", "speed"))
        if given or context.area is None or context.area.type != "VIEW_3D":
            return self.execute(context)
        _character, motion = motions.require_motion(context)
        self._arrow, self._area = handles.arrow_of(motion), context.area
        if self._arrow is None or not self._arrow.free:
            return self.execute(context)
        self._start = handles.on_ground(self._area, self._arrow, event.mouse_x, event.mouse_y)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type in {"ESC", "RIGHTMOUSE"}:
            self.heading, self.speed = self._arrow.heading, self._arrow.speed
            self.run(context)
            return self._end(context, {"CANCELLED"})
        if event.type == "MOUSEMOVE":
            here = handles.on_ground(self._area, self._arrow, event.mouse_x, event.mouse_y)
            if here is not None and self._start is not None:
                tip = self._arrow.tip + here - self._start
                self.heading, self.speed = self._arrow.to(tip)
                context.workspace.status_text_set(tr(self.run(context)))
                self._area.tag_redraw()
        elif event.type in {"LEFTMOUSE", "RET", "NUMPAD_ENTER"}:
            if event.type != "LEFTMOUSE" or event.value == "RELEASE":
                return self._end(context, self.execute(context))
        return {"RUNNING_MODAL"}

    def cancel(self, context):
        self._end(context, set())

    def _end(self, context, result):
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        return result


CLASSES = (
    POISE_OT_heading_drag,
    POISE_OT_motion_add,
    POISE_OT_motion_remove,
    POISE_OT_motion_activate,
    POISE_OT_motion_select,
    POISE_OT_motion_move,
    POISE_OT_motion_view,
    POISE_OT_scene_range_set,
)
