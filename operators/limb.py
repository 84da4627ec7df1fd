# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose a limb by its end, by its joints, or by its joints with the end anchored."""

from math import degrees, pi, tau

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty
from bpy_extras import view3d_utils
from mathutils import Vector

from ..addon import motions
from ..addon.base_operator import FIXABLE, SettingsOperator, one_line
from ..addon.context import let_undo_see
from ..addon.errors import UserError
from ..addon.rigs import roles
from ..addon.rigs.controls import control_rig
from ..addon.rigs.limbs import limbs_of
from ..addon.rigs.pose.autokey import autokey
from ..addon.rigs.pose.evaluate import require_evaluated
from ..addon.rigs.pose.handles import Sources, find_limb
from ..addon.rigs.pose.limb import LimbPose
from ..addon.scene.timing import scene_numbers
from ..addon.texts import tr

LEAST_PIXELS = 40.0  # that a joint moves on the screen for a radian, or the pointer counts instead
PIXELS = 150.0  # of the pointer for a radian
STOPPED = 0.01  # rad that a limb swings less than asked before that is told
FINE = 0.1  # of the pointer's way with Shift
AXES = {name: np.eye(3)[k] for k, name in enumerate("XYZ")}
DIGITS = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
MODES = (
    ("MOVE", "Move End", "The end moves; the joints stay as near as can be to how they are", 0),
    ("TURN", "Turn Joint", "A joint turns, and all beyond it goes along", 1),
    ("ANCHOR", "Anchored", "The joints turn, and the end stays where it is", 2),
)


def _limbs(rig: bpy.types.Object):
    character = motions.character_of(control_rig.controls_of(rig) or rig)
    motion = motions.active_motion(character) if character is not None else None
    return limbs_of(rig, None if motion is None else roles.stored(motion.poise_motion))


def _names(_operator, context, _text):
    rig = context.active_object
    try:
        return list(_limbs(rig)) if rig is not None and rig.type == "ARMATURE" else []
    except UserError:
        return []


class POISE_OT_limb_pose(SettingsOperator, bpy.types.Operator):
    """Pose the limb of the active bone by its end, by its joints, or anchored at its end"""

    bl_idname = "poise.limb_pose"
    bl_label = "Pose Limb"
    bl_options = {"REGISTER", "UNDO", "GRAB_CURSOR", "BLOCKING"}

    mode: EnumProperty(name="Mode", description="What moves, and what stays", items=MODES)
    limb: StringProperty(
        name="Limb", description="arm.L, leg.R, hind.L, neck, tail ...; empty for that of the "
        "active bone", search=_names, options={"SKIP_SAVE"},
    )
    joint: IntProperty(
        name="Joint", description="Which joint turns, from the body outward. 0 is that of the "
        "active bone; anchored, it swings the whole limb about the line to its end",
        default=0, min=0, soft_max=6, options={"SKIP_SAVE"},
    )
    axis: EnumProperty(
        name="Axis", description="What a single joint turns about",
        items=tuple((name, name, f"{name} axis of its bone", k) for k, name in enumerate(AXES)),
    )
    angle: FloatProperty(
        name="Angle", description="How far the joint turns, or the limb swings",
        default=0.0, subtype="ANGLE", options={"SKIP_SAVE"},
    )
    offset: FloatVectorProperty(
        name="Offset", description="How far the end moves, in the world", subtype="TRANSLATION",
        options={"SKIP_SAVE"},
    )

    _dragged = False

    @classmethod
    def poll(cls, context):
        if context.mode != "POSE":
            cls.poll_message_set("This is for Pose Mode: select a rig, and switch to it")
            return False
        return True

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        names = {
            "MOVE": ("offset",), "TURN": ("joint", "axis", "angle"),
            "ANCHOR": ("angle", "joint", *["axis"] * bool(self.joint)),
        }
        for name in ("mode", "limb", *names[self.mode]):
            layout.prop(self, name)

    # -- numbers -------------------------------------------------------------

    def run(self, context):
        posed = self._read(context)
        try:
            told = self._put(context, posed)
        except UserError:
            posed.restore()
            raise
        autokey(context, posed.rig, posed.changed())
        return told

    def _read(self, context) -> LimbPose:
        """The limb that is meant."""
        rig = context.active_object
        require_evaluated(context, rig)
        limbs = _limbs(rig)
        if not limbs:
            raise UserError(f"{rig.name} has no limbs that Poise knows: click Set Up Rig")
        active = rig.data.bones.active
        if not self.limb:
            if active is None:
                raise UserError(f"{rig.name} has no active bone: select one of the limb")
            sources = Sources(rig, rig.evaluated_get(context.evaluated_depsgraph_get()))
            self.limb = find_limb(sources, rig, limbs, active.name)
            if not self.limb:
                raise UserError(
                    f"Bone {active.name} of {rig.name} is of no limb: select one of "
                    f"{', '.join(limbs)}"
                )
        posed = control_rig.controls_of(rig)
        if posed is not None:  # its controls have the last word
            limbs = limbs_of(posed)
        if self.limb not in limbs:
            raise UserError(
                f"{rig.name} has no limb {self.limb}: choose one of {', '.join(limbs)}"
            )
        motions.require_editable(posed or rig)
        others = [b for n, one in limbs.items() if n != self.limb for b in one.all]
        found = LimbPose(context, posed or rig, limbs[self.limb], others)
        if self.mode == "TURN" and not self.joint:
            self.joint = max(1, found.joint_of(active.name) if active is not None else 0)
        return found

    def _put(self, context, posed: LimbPose) -> str:
        """Pose the limb as the options say; a sentence about it."""
        joint, count = self.joint - 1, len(posed.joints)
        if self.mode != "MOVE" and joint >= count + bool(posed.end and self.mode == "TURN"):
            raise UserError(f"{self.limb} has {count} joints: choose another one than {self.joint}")
        metres = posed.rig.matrix_world.median_scale * scene_numbers(context.scene).unit_scale
        axis = AXES[self.axis]
        if self.mode == "MOVE":
            way = posed.rig.matrix_world.to_3x3().inverted_safe() @ self.offset
            wanted = posed.moved(np.array(way, dtype=float))
        elif self.mode == "TURN":
            wanted = posed.turned(joint, axis, self.angle)
        else:
            wanted = posed.anchored(joint, axis, self.angle)
        def in_mm(off):
            return f"{1000.0 * off * metres:.1f} mm"

        if self.mode == "ANCHOR" and wanted.missing > posed.tolerance:
            raise UserError(
                f"The end of {self.limb} cannot stay where it is with a turn of "
                f"{degrees(self.angle):.1f}°, it would miss it by {in_mm(wanted.missing)}: "
                "turn it less"
            )
        off = posed.put(wanted)
        if off > posed.tolerance and self.mode == "ANCHOR":
            raise UserError(
                f"Something else holds {self.limb}, it would be off by {in_mm(off)}: free its "
                "locks, limits and constraints, or turn it less"
            )
        if off > posed.tolerance:
            return self._warn(
                f"{self.limb} is off by {in_mm(off)}: locks, limits or IK of its bones hold it"
            )
        if wanted.missing > posed.tolerance:
            return self._warn(
                f"The end of {self.limb} stops {in_mm(wanted.missing)} short: that place is out "
                "of its reach"
            )
        swung = posed.swung(wanted)
        short = abs((swung - self.angle + pi) % tau - pi)
        if self.mode == "ANCHOR" and joint < 0 and short > STOPPED:
            return self._warn(
                f"{self.limb} swings by {degrees(swung):.1f}° instead of "
                f"{degrees(self.angle):.1f}°: limits and locks of its joints stop it"
            )
        return "" if self._dragged else f"Posed {self.limb} of {posed.rig.name}"

    def _warn(self, told: str) -> str:
        """A sentence about what could not be had, for a report; nothing is left to say."""
        if not self._dragged:
            self.report({"WARNING"}, one_line(told))
            return ""
        return told

    # -- the mouse -----------------------------------------------------------

    def invoke(self, context, event):
        if context.area is None or context.area.type != "VIEW_3D":
            return self.execute(context)
        self.angle, self.offset, self._dragged = 0.0, (0.0, 0.0, 0.0), True
        try:
            self._posed = self._read(context)
            self._told = self._put(context, self._posed)
        except FIXABLE as error:
            self.report({"ERROR"}, one_line(str(error)))
            return {"CANCELLED"}
        self._last, self._way = Vector((event.mouse_x, event.mouse_y)), Vector((0.0, 0.0))
        self._aim(context)
        context.window_manager.modal_handler_add(self)
        self._show(context)
        return {"RUNNING_MODAL"}

    def _aim(self, context):
        """What a way of the pointer means: a place to move from, or a direction to swing to."""
        region = next(r for r in context.area.regions if r.type == "WINDOW")
        view = context.space_data.region_3d
        world, points = self._posed.rig.matrix_world, self._posed.points

        def on_screen(point):
            place = world @ Vector(point)
            return view3d_utils.location_3d_to_region_2d(region, view, place)

        self._view = region, view
        self._end = world @ Vector(points[-1])
        self._direction = Vector((1.0, 0.0)) / PIXELS
        line = points[-1] - points[0]
        aside = np.cross(line / max(np.linalg.norm(line), 1e-9), points[1] - points[0])
        start, then = on_screen(points[1]), on_screen(points[1] + 0.01 * aside)
        if self.mode == "ANCHOR" and self.joint == 0 and start is not None and then is not None:
            moved = 100.0 * (then - start)
            if moved.length > LEAST_PIXELS:
                self._direction = moved / moved.length_squared

    def modal(self, context, event):
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            self._posed.restore()
            self._hide(context)
            return {"CANCELLED"}
        if event.type in {"LEFTMOUSE", "RET", "NUMPAD_ENTER", "SPACE"} and event.value == "PRESS":
            self._hide(context)
            self._dragged = False
            autokey(context, self._posed.rig, self._posed.changed())
            let_undo_see(context)
            return {"FINISHED"}
        if event.type in AXES and event.value == "PRESS":
            self.axis = event.type
        elif event.type in DIGITS and event.value == "PRESS" and self.mode != "MOVE":
            last = len(self._posed.joints) + bool(self._posed.end and self.mode == "TURN")
            self.joint = min(max(DIGITS.index(event.type), int(self.mode == "TURN")), last)
            self._way = Vector((0.0, 0.0))
            self._aim(context)
        elif event.type == "MOUSEMOVE":
            now = Vector((event.mouse_x, event.mouse_y))
            self._way += (now - self._last) * (FINE if event.shift else 1.0)
            self._last = now
        elif event.type in {"MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE"}:
            return {"PASS_THROUGH"}
        else:
            return {"RUNNING_MODAL"}
        self._drag(context)
        self._show(context)
        return {"RUNNING_MODAL"}

    def _drag(self, context):
        """Pose the limb as the pointer says; where that cannot be, it stays as it was."""
        before = self.angle, tuple(self.offset)
        if self.mode == "MOVE":
            region, view = self._view
            start = view3d_utils.location_3d_to_region_2d(region, view, self._end)
            if start is not None:
                to = view3d_utils.region_2d_to_location_3d(
                    region, view, start + self._way, self._end
                )
                self.offset = to - self._end
        else:
            self.angle = self._way.dot(self._direction)
        try:
            self._told = self._put(context, self._posed)
        except FIXABLE as error:
            self.angle, self.offset = before
            self._put(context, self._posed)
            self._told = one_line(str(error))

    def _show(self, context):
        amount = f"{degrees(self.angle):.1f}°"
        if self.mode == "MOVE":
            amount = f"{self.offset.length:.3f}"
        keys = "Enter or a click confirms, Esc gives all back; Shift is finer"
        if self.mode != "MOVE":
            keys += "; 1, 2, 3 turn that joint" + ", 0 swings the limb" * (self.mode == "ANCHOR")
            keys += f"; X, Y, Z choose its axis (now {self.axis})" * bool(self.joint)
            amount = f"joint {self.joint}, {amount}" if self.joint else amount
        context.area.header_text_set(f"{self.limb}: {amount}   {self._told}")
        context.workspace.status_text_set(tr(keys))

    def _hide(self, context):
        context.area.header_text_set(None)
        context.workspace.status_text_set(None)

    def cancel(self, context):
        """Blender closes the operator (file load, quit)."""
        self._posed.restore()


CLASSES = (POISE_OT_limb_pose,)
