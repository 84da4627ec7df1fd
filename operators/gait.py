# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of gaits, cycles that close, and presets of lists."""

from dataclasses import replace
from math import isfinite

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..addon import motions
from ..addon.base_operator import SettingsOperator, one_line
from ..addon.context import let_undo_see
from ..addon.errors import UserError
from ..addon.mapping.legs import creature_of
from ..addon.scene.figures import figure_in_metres, hip_height_of, legs_of
from ..addon.scene.sampling import animated_settings, is_animated
from ..addon.scene.timing import frame_range, scene_numbers
from ..addon.settings.gait import GAIT_ITEMS, GAITS, LABELS, MIRRORED
from ..addon.show import handles, preview
from ..addon.texts import tr
from ..addon.ui import presets
from ..solvers.errors import SettingError
from ..solvers.legged.gait import (
    PhaseClock,
    drag_support,
    mirrored,
    shift_between,
    spoken_leg,
    timing_shown,
)
from ..solvers.legged.planning import stride_rate
from ..solvers.legged.settings import GaitItem, gait_of
from ..solvers.legged.speed import speed_at, speeds_along
from ..solvers.motion import Placement
from .motion import OfKind
from .presets import PresetAdd

SAME_PLACE = 1e-4  # m: points nearer to each other are one
CLOSES = 1e-6  # share of a stride by which a cycle may be longer or shorter


class OfGait(OfKind):
    """Mixin: only where the active motion is on legs."""

    motion_kind = "GAIT"
    lacks = "gaits: set Motion to Gait"


class _GaitOperator(OfGait, SettingsOperator):
    """Mixin: what changes the settings of a motion on legs."""

    def chosen(self, motion, index: int):
        """(place, item) of the gait that is meant."""
        gait = motion.poise_motion.gait
        if not len(gait.sequence):
            raise UserError(f"{motion.name} has no gaits yet: add one")
        place = gait.sequence_index if index < 0 else index
        if not 0 <= place < len(gait.sequence):
            raise UserError(f"There is no gait number {place}: the list has {len(gait.sequence)}")
        return place, gait.sequence[place]

    def legs(self, motion):
        """Names of the legs that walk."""
        legs = legs_of(motion)
        if not legs:
            raise UserError(
                f"{motion.poise_motion.character.name} has no legs that Poise knows: set the rig "
                "up in the Character panel"
            )
        return legs


class POISE_OT_gait_add(_GaitOperator, bpy.types.Operator):
    """Add a gait to the end of the list; it begins at the current frame, after those before it"""

    bl_idname = "poise.gait_add"
    bl_label = "Add Gait"

    preset: EnumProperty(name="Gait", description="Which leg steps when", items=GAIT_ITEMS)
    start: FloatProperty(
        name="Time",
        description="Seconds from the motion's start until it begins; below 0 for the current "
        "frame",
        default=-1.0,
        soft_max=60.0,
        unit="TIME_ABSOLUTE",
        options={"SKIP_SAVE"},
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        gait = motion.poise_motion.gait
        legs = legs_of(motion)
        if legs and GAITS[self.preset][2] not in (0, len(legs)):
            raise UserError(
                f"{GAITS[self.preset][0]} is for {GAITS[self.preset][2]} legs, and "
                f"{motion.poise_motion.character.name} has {len(legs)}: choose another gait"
            )
        start = self.start
        if start < 0.0:
            first = frame_range(context.scene, motion)[0]
            now = context.scene.frame_current_final - first
            start = max(now, 0.0) / scene_numbers(context.scene).fps
        if len(gait.sequence):
            last = gait.sequence[-1]
            start = max(start, last.start if last.start_by == "TIME" else 0.0)
        item = gait.add(self.preset)
        item.start = start if len(gait.sequence) > 1 else 0.0
        gait.mode = "SEQUENCE"
        return f"{motion.name}: {item.name} is gait {len(gait.sequence)}"


class POISE_OT_gait_remove(_GaitOperator, bpy.types.Operator):
    """Remove the chosen gait from the list"""

    bl_idname = "poise.gait_remove"
    bl_label = "Remove Gait"

    index: IntProperty(
        name="Gait", description="Place in the list; -1 for the chosen one", default=-1, min=-1,
        options={"SKIP_SAVE"},
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        place, item = self.chosen(motion, self.index)
        gait, name = motion.poise_motion.gait, item.name
        gait.sequence.remove(place)
        gait.sequence_index = max(min(place, len(gait.sequence) - 1), 0)
        return f"Removed {name}"


class POISE_OT_gait_move(_GaitOperator, bpy.types.Operator):
    """Move the chosen gait up or down in the list; times and distances stay where they are"""

    bl_idname = "poise.gait_move"
    bl_label = "Move Gait"

    direction: IntProperty(
        name="Direction", description="-1 moves up, 1 down", default=-1, min=-1, max=1
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        place, _item = self.chosen(motion, -1)
        gait = motion.poise_motion.gait
        to = min(max(place + self.direction, 0), len(gait.sequence) - 1)
        if to == place:
            return ""
        starts = [(item.start_by, item.start, item.distance) for item in gait.sequence]
        gait.sequence.move(place, to)
        for item, (by, start, distance) in zip(gait.sequence, starts, strict=True):
            item.start_by, item.start, item.distance = by, start, distance
        gait.sequence_index = to
        return ""


class POISE_OT_gait_mirror(_GaitOperator, bpy.types.Operator):
    """Exchange left and right in the list of gaits: leads, phases and duty factors"""

    bl_idname = "poise.gait_mirror"
    bl_label = "Mirror Gaits"

    which: EnumProperty(
        name="Which",
        description="Which gaits of the list",
        items=(
            ("ALL", "All", "The whole list, and the leg that it begins with"),
            ("CHOSEN", "Chosen", "The chosen gait only"),
        ),
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        gait = motion.poise_motion.gait
        chosen, _item = self.chosen(motion, -1)
        legs = self.legs(motion)
        places = range(len(gait.sequence)) if self.which == "ALL" else (chosen,)
        # Names of legs are needed before anything is changed.
        unit = scene_numbers(context.scene).unit_scale
        own = {place: gait.sequence[place].to_gait(legs, unit) for place in places}
        for place, before in own.items():
            item, after = gait.sequence[place], mirrored(before)
            if item.own_timing:
                item.fill_legs(after)
            elif item.gait in MIRRORED:
                name = item.name
                item.gait = MIRRORED[item.gait]
                item.name = GAITS[item.gait][0] if name in LABELS else name
            elif place == 0 and self.which == "ALL":
                later = shift_between(after, before) or 0.0
                gait.start_phase = (gait.start_phase - later) % 1.0
        return f"{motion.name}: {len(own)} gaits mirrored"


class POISE_OT_gait_speed_add(_GaitOperator, bpy.types.Operator):
    """Add a speed at the place along the way where the body is at the current frame"""

    bl_idname = "poise.gait_speed_add"
    bl_label = "Add Speed Point"

    distance: FloatProperty(
        name="Distance",
        description="How far along the way; below 0 for where the body is at the current frame",
        default=-1.0,
        unit="LENGTH",
        options={"SKIP_SAVE"},
    )
    speed: FloatProperty(
        name="Speed",
        description="Speed there; below 0 for the one that it has there so far",
        default=-1.0,
        unit="VELOCITY",
        options={"SKIP_SAVE"},
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        gait, numbers = motion.poise_motion.gait, scene_numbers(context.scene)
        distance, unit = self.distance, numbers.unit_scale
        gait.speed_by = "WAY"
        pairs = gait.speed_pairs(unit) or [(0.0, gait.speed * unit)]
        if not distance >= 0.0:
            first = frame_range(context.scene, motion)[0]
            now = max(context.scene.frame_current_final - first, 0.0) / numbers.fps
            distance = float(speeds_along(pairs, np.array([now]))[1][0]) / unit
        speed = self.speed
        if not speed >= 0.0:
            speed = speed_at(pairs, distance * unit) / unit
        for number, point in enumerate(gait.speed_points):
            if abs(point.distance - distance) * unit < SAME_PLACE:
                gait.speed_points_index, point.speed = number, speed
                return f"{motion.name}: the speed at {distance * unit:.2f} m is that of the point"
        gait.add_speed(distance, speed)
        return f"{motion.name}: {speed * unit:.2f} m/s at {distance * unit:.2f} m"


class POISE_OT_gait_speed_remove(_GaitOperator, bpy.types.Operator):
    """Remove the chosen speed from the list"""

    bl_idname = "poise.gait_speed_remove"
    bl_label = "Remove Speed Point"

    def run(self, context):
        _character, motion = motions.require_motion(context)
        gait = motion.poise_motion.gait
        place = gait.speed_points_index
        if not place < len(gait.speed_points):
            raise UserError(f"{motion.name} has no speed points: add one")
        gait.speed_points.remove(place)
        gait.speed_points_index = max(min(place, len(gait.speed_points) - 1), 0)
        return f"{len(gait.speed_points)} speed points"


class POISE_OT_gait_cycle(_GaitOperator, bpy.types.Operator):
    """Make one stride of the chosen gait, two of a skip, a cycle that closes on whole frames"""

    bl_idname = "poise.gait_cycle"
    bl_label = "Make Cycle"

    keep: EnumProperty(
        name="Keep",
        description="What stays as it is; the other gives way so that a stride takes whole frames",
        items=(
            ("SPEED", "Speed", "The stride gets a little quicker or slower"),
            ("STRIDE", "Stride Time", "The speed changes with the stride, as animals have it"),
        ),
    )
    strides: IntProperty(
        name="Strides",
        description="How many strides the cycle has; a skip takes an even number",
        default=1, min=1, max=100,
    )
    in_place: BoolProperty(
        name="In Place",
        description="Let the body stay where it is, so that the cycle can be repeated",
        default=True,
    )

    def run(self, context):
        character, motion = motions.require_motion(context)
        settings, gait = motion.poise_motion, motion.poise_motion.gait
        _place, item = self.chosen(motion, -1)
        if gait.speed_by == "WAY":
            raise UserError("A cycle has one speed: set Speed to Over Time")
        if is_animated(motion, "gait", gait.SAMPLED):
            raise UserError(
                "Speed has keys or a driver, and a cycle has one speed: delete them first"
            )
        if settings.after is not None:
            raise UserError(f"{motion.name} goes on from another motion: clear After first")
        if gait.path is not None or gait.terrain is not None:
            raise UserError("A cycle goes straight ahead on level ground: clear Path and Terrain")
        if len(gait.footprints):
            raise UserError(
                "In a cycle every stride is the same: reset the edited footprints of "
                f"{motion.name} first"
            )
        numbers = scene_numbers(context.scene)
        figure = figure_in_metres(character, numbers.unit_scale)
        creature = creature_of(figure)
        legs = [leg.name for leg in creature.legs]
        speed = gait.speed * numbers.unit_scale
        if not isfinite(speed) or speed <= 0.0:
            raise UserError("Speed is 0: who stands makes no strides")
        own = gait_of(item.to_gait(legs, numbers.unit_scale), creature)
        params = gait.to_params(
            creature=creature, n_frames=2, fps=numbers.fps, unit_scale=numbers.unit_scale,
            gravity=numbers.gravity, placement=Placement(), speed=speed, path=None, closed=False,
            ground=None,
        )

        def takes(gait, speed) -> float:
            """Seconds that the legs take for a stride."""
            return 1.0 / stride_rate(replace(params, sequence=(GaitItem(gait),), speed=speed))

        period = takes(own, speed)
        strides = self.strides + self.strides % own.cycle
        frames = max(round(strides * period * numbers.fps), 2 * strides)
        wanted = frames / numbers.fps / strides
        change = ""
        if self.keep == "STRIDE" and item.stride_by != "PERIOD":
            # Strides that grow with the speed as v^(2 b) take a time of v^(2 b - 1); strokes of
            # one length v^-1.
            power = (
                2.0 * own.stride_exponent - 1.0 if item.stride_by == "GAIT" else -1.0
            )
            if abs(power) < 1e-6:
                raise UserError(
                    "This gait's strides take the same time at any speed: keep the Speed instead"
                )
            faster = (wanted / period) ** (1.0 / power)
            if abs(takes(own, speed * faster) / wanted - 1.0) > CLOSES:
                raise UserError(
                    f"At {speed:.2f} m/s strides are no longer than the legs reach, whatever the "
                    "gait has: keep the Speed instead, or go slower"
                )
            gait.speed = gait.speed * faster
            change = f"Speed is {gait.speed * numbers.unit_scale:.3f} m/s now, "
        else:
            # Strides that are as long as legs reach can only get quicker.
            timed = replace(own, stroke=None, period=wanted)
            while abs(takes(timed, speed) / wanted - 1.0) > CLOSES:
                frames -= 1
                if frames < 2 * strides:
                    raise UserError(
                        f"At {speed:.2f} m/s the legs take a stride in {period:.3f} s, less than "
                        "two frames: lower Speed, or raise the frame rate"
                    )
                wanted = frames / numbers.fps / strides
                timed = replace(timed, period=wanted)
            item.stride_by = "PERIOD"
            item.period = wanted
            change = f"a stride takes {wanted:.4f} s instead of {period:.4f} s, "
        while len(gait.sequence) > 1:
            other = next(i for i, each in enumerate(gait.sequence) if each != item)
            gait.sequence.remove(other)
            item = gait.sequence[0]
        gait.sequence_index, gait.mode, gait.in_place = 0, "SEQUENCE", self.in_place
        gait.cycle = True
        start = frame_range(context.scene, motion)[0]
        settings.range_mode = "OWN"
        settings.frame_start, settings.frame_end = start, start + frames
        return (
            f"{motion.name}: {change}{frames} frames from {start} to {start + frames}, of which "
            "the last is the first again"
        )


def _speed_when_begun(scene, motion, item, unit: float) -> float:
    """How fast the body is when a gait of the list begins, m/s; keys of Speed count."""
    gait = motion.poise_motion.gait
    if gait.speed_by == "TIME":
        start, end = frame_range(scene, motion)
        fps = scene_numbers(scene).fps
        frames = np.arange(start, end + 1.0)
        speed = animated_settings(scene, motion, "gait", ("speed",), frames).get("speed")
        if speed is None:
            return gait.speed * unit
        times, speed = (frames - start) / fps, speed * unit
        begins = item.start
        if item.start_by != "TIME":
            begins = float(PhaseClock(times, speed).time(item.distance * unit))
        return float(np.interp(begins, times, speed))
    pairs = gait.speed_pairs(unit)
    if item.start_by == "TIME":
        return float(speeds_along(pairs, np.array([item.start]))[0][0])
    return speed_at(pairs, item.distance * unit)


class POISE_OT_gait_drag(_GaitOperator, bpy.types.Operator):
    """Drag the ends of bars in the gait diagram: duty factors and phases of the legs"""

    bl_idname = "poise.gait_drag"
    bl_label = "Drag Supports"

    leg: StringProperty(name="Leg", description="Name of the leg", options={"SKIP_SAVE"})
    edge: EnumProperty(
        name="Edge",
        description="What is dragged",
        items=(
            ("ON", "Touchdown", "Phase and duty factor change, the liftoff stays"),
            ("OFF", "Liftoff", "The duty factor changes"),
            ("BAR", "Both", "The phase changes"),
        ),
    )
    share: FloatProperty(
        name="Later", description="How far, as a share of the stride", default=0.0, min=-1.0,
        max=1.0, subtype="FACTOR", options={"SKIP_SAVE"},
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        place, item = self.chosen(motion, -1)
        unit = scene_numbers(context.scene).unit_scale
        legs = self.legs(motion)
        own = item.to_gait(legs, unit)
        if not item.own_timing:  # from what it is at this speed
            numbers, hip = scene_numbers(context.scene), hip_height_of(motion)
            speed = _speed_when_begun(context.scene, motion, item, unit)
            froude = speed**2 / (numbers.gravity * hip)
            duty = tuple(float(d) for d in own.duties(froude))
            own = replace(own, duty=duty, duty_exponent=0.0)
        made = drag_support(own, self.leg, self.edge, self.share)
        name = item.name
        item.own_timing = True
        item.fill_legs(made)
        item.name = name
        i = made.legs.index(self.leg)
        return (
            f"{item.name}: the {spoken_leg(self.leg)} has duty factor {made.duty[i]:.3f}, phase "
            f"{made.phase[i]:.3f}"
        )

    def invoke(self, context, event):
        if context.area is None or context.area.type != "VIEW_3D" or self.leg:
            return self.execute(context)
        _character, motion = motions.require_motion(context)
        if preview.solved_for(motion, context.scene) is None:
            self.report({"WARNING"}, tr("The motion is not solved yet: try again in a moment"))
            return {"CANCELLED"}
        self._area, self._grip, self._held, self._dragged = context.area, None, None, False
        # A handle in the diagram is pressed already, and let go of once.
        self._once = event.type == "LEFTMOUSE" and event.value != "RELEASE"
        if self._once:
            self._take(context, motion, *self._point(event))
            if self._held is None:
                return {"CANCELLED"}
        self._drawn = bpy.types.SpaceView3D.draw_handler_add(self._draw, (), "WINDOW", "POST_PIXEL")
        context.workspace.status_text_set(tr(
            "Drag the ends of a bar in the gait diagram, or the whole bar  (Enter ends, Esc takes "
            "the one under way back)"
        ))
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        _character, motion = motions.require_motion(context)
        x, y = self._point(event)
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            if self._held is None:
                return self._end(context)
            motion.poise_motion.gait.bring_back(self._before)
            self._held = None
            if self._once:
                return self._end(context)
        elif event.type in {"RET", "NUMPAD_ENTER"}:
            return self._end(context)
        elif event.type == "LEFTMOUSE" and event.value == "PRESS":
            region = self._region()
            if not (0 <= x < region.width and 0 <= y < region.height):
                return self._end(context) | {"PASS_THROUGH"}
            if self._dragged:
                # Each drag is a step of its own; the last is the operator's, which F9 changes.
                bpy.ops.ed.undo_push(message=self.bl_label)
                self._dragged = False
            self._take(context, motion, x, y)
        elif event.type == "LEFTMOUSE" and event.value == "RELEASE" and self._held is not None:
            self._held = None
            self._dragged = self._dragged or self.share != 0.0
            if self._once:
                return self._end(context)
        elif event.type == "MOUSEMOVE" and self._held is not None:
            return self._follow(context, motion, x)
        elif event.type in {"MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE"}:
            return {"PASS_THROUGH"}
        if self._held is None:
            self._grip = handles.grip_at(context, x, y)
            self._area.tag_redraw()
        return {"RUNNING_MODAL"}

    def _follow(self, context, motion, x: float):
        """Drag what is held to the mouse."""
        place, self.leg, self.edge, start, per_pixel = self._held
        gait = motion.poise_motion.gait
        gait.bring_back(self._before)
        gait.sequence_index = place
        self.share = min(max((x - start) * per_pixel, -1.0), 1.0)
        try:
            context.workspace.status_text_set(tr(self.run(context)))
        except (UserError, SettingError) as error:
            gait.bring_back(self._before)
            self._held = None
            self.report({"ERROR"}, one_line(str(error)))
            return self._end(context)
        # It goes with the mouse until it is solved anew.
        by = np.array((x - self._grip_at, 0.0))
        self._grip = replace(self._grip, outline=self._grip.outline + by)
        self._grip_at = x
        self._area.tag_redraw()
        return {"RUNNING_MODAL"}

    def cancel(self, context):
        self._end(context)

    def _end(self, context):
        bpy.types.SpaceView3D.draw_handler_remove(self._drawn, "WINDOW")
        self._area.tag_redraw()
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        if not self._dragged:
            return {"CANCELLED"}
        let_undo_see(context)
        return {"FINISHED"}

    def _draw(self):
        if self._grip is not None and bpy.context.area == self._area:
            handles.draw_grip(bpy.context, self._grip)

    def _region(self):
        return next(region for region in self._area.regions if region.type == "WINDOW")

    def _point(self, event) -> tuple[float, float]:
        """The mouse in the viewport, pixels."""
        region = self._region()
        return event.mouse_x - region.x, event.mouse_y - region.y

    def _take(self, context, motion, x: float, y: float) -> None:
        """Hold what is under the mouse: (gait's place, leg whose timing it is, edge, start, strides
        per pixel), or nothing."""
        self._grip = grip = handles.grip_at(context, x, y)
        self._held, self._grip_at, self.share = None, x, 0.0
        self._before = motion.poise_motion.gait.stored()
        if grip is None:
            return
        names = [item.name or item.gait for item in motion.poise_motion.gait.sequence]
        marks = [m for m in grip.solved.motion.footprints if m.leg == grip.bar.leg]
        mark = next(m for m in marks if m.index == grip.bar.index)
        if mark.gait not in names:
            return
        place, unit = names.index(mark.gait), scene_numbers(context.scene).unit_scale
        own = motion.poise_motion.gait.sequence[place].to_gait(legs_of(motion), unit)
        shown = timing_shown(own, grip.bar.leg, [m.on for m in marks], grip.bar.on)
        if shown is not None:
            leg, stride = shown
            self._held = place, leg, grip.edge, x, grip.seconds / stride


class POISE_OT_gait_preset_add(OfGait, PresetAdd, bpy.types.Operator):
    """Save the list of gaits as a preset, or remove the chosen preset"""

    bl_idname = "poise.gait_preset_add"
    bl_label = "Add Gait Preset"
    preset_menu = "POISE_PT_gait_presets"
    preset_values = ["settings.gait.mode", "settings.gait.hysteresis", "settings.gait.sequence",
                     "settings.gait.speed_by", "settings.gait.speed_points"]

    @property
    def preset_subdir(self):
        _character, motion = motions.require_motion(bpy.context)
        return presets.gait_subdir(len(legs_of(motion)))

    def execute(self, context):
        # Postures are of one character, and no part of a preset for all with so many legs.
        _character, motion = motions.require_motion(context)
        items = list(motion.poise_motion.gait.sequence)
        held = [item.swing for item in items]
        for item in items:
            item.swing = None
        try:
            return super().execute(context)
        finally:
            for item, swing in zip(items, held, strict=True):
                item.swing = swing


CLASSES = (
    POISE_OT_gait_add,
    POISE_OT_gait_remove,
    POISE_OT_gait_move,
    POISE_OT_gait_mirror,
    POISE_OT_gait_speed_add,
    POISE_OT_gait_speed_remove,
    POISE_OT_gait_cycle,
    POISE_OT_gait_drag,
    POISE_OT_gait_preset_add,
)
