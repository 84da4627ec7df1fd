# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels of controllers."""

import bpy

from ..addon import motions
from ..addon.base_operator import FIXABLE
from ..addon.families.controlling import gather, tables
from ..addon.rigs import machines
from ..addon.rigs.actor import Actor
from ..addon.show import preview
from ..addon.texts import tr
from ..solvers.control.plans import HOLD
from .base import MotionPanel, active, settings_of, wrapped
from .motion import draw_summary
from .posing import DisturbancesPanel

LABELS = {"angle": "Angle", "omega": "Speed", "torque": "Torque"}
"""Coordinates and controls as the paper names them -> as animators read them."""

STATES = {tables.BUILT: "CHECKMARK", tables.STALE: "FILE_REFRESH", tables.MISSING: "RADIOBUT_OFF"}


def _label(name: str) -> str:
    """What a coordinate is called: those of a chain end with the number of their link."""
    base = name.rstrip("0123456789")
    return f"{LABELS.get(base, base.capitalize())} {name[len(base):]}".strip()


def _named(name: str, unit: str) -> str:
    """A coordinate's label: Blender shows speeds of angles as angles."""
    return f"{_label(name)} per s" if unit == "rad/s" else _label(name)


_read: tuple = (None, None)
"""Motion, and what is known of its figure, as the panel read it when it was drawn last."""


def _known(context, anew: bool = False):
    """Who knows the active motion's figure, its body and the numbers; None where nobody does.

    A car reads its street and all that stands in it: the panel does so once a redraw, and what is
    drawn after it, its list and its sub-panels, takes what it has read.
    """
    global _read
    motion = active(context)[1]
    if anew or _read[0] != motion.session_uid:
        try:
            found = gather.known(context, motion)
        except FIXABLE:
            found = None
        _read = motion.session_uid, found
    return _read[1]


class POISE_UL_controllers(bpy.types.UIList):
    """Controllers: name, and whether they are built."""

    def draw_item(
        self, context, layout, data, item, icon, active_data, active_property, index, flt_flag
    ):
        row = layout.row(align=True)
        row.prop(item, "name", text="", emboss=False, icon="ORIENTATION_CURSOR")
        known = _known(context)
        if known is None:
            return
        figure, body, numbers = known
        _character, motion = active(context)
        plan = gather.plan_of(item, figure, body, numbers.unit_scale)
        source = tables.source_of(Actor.of(motion.poise_motion.character).machine, body, plan)
        if figure.needs_table(body, plan):
            row.label(text="", icon=STATES[tables.state_of(motion, item.number, source)])


class POISE_UL_script(bpy.types.UIList):
    """Lines of a script: controller and seconds."""

    def draw_item(
        self, context, layout, data, item, icon, active_data, active_property, index, flt_flag
    ):
        row = layout.row(align=True)
        row.prop_search(item, "controller", data, "controllers", text="")
        if item.until == "WHENEVER":
            row.label(text="Whenever")
        else:
            row.prop(item, "seconds", text="")


class POISE_MT_controllers(bpy.types.Menu):
    """Controllers as text files."""

    bl_idname = "POISE_MT_controllers"
    bl_label = "Controller Files"

    def draw(self, context):
        layout = self.layout
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator("poise.controller_import", icon="IMPORT")
        layout.operator("poise.controller_export", icon="EXPORT")


class _ControlPanel(MotionPanel):
    @classmethod
    def poll(cls, context):
        return super().poll(context) and settings_of(context).kind == "CONTROLLER"


def _chosen(settings):
    items, index = settings.controllers, settings.controller_index
    return items[index] if 0 <= index < len(items) else None


def _draw_value(layout, one, unit: str, may_be_free: bool) -> None:
    """A coordinate's value in its unit, and whether it is free."""
    row = layout.row(align=True)
    line = row.row()
    line.active = not one.free
    text = _named(one.name, unit)
    if unit.startswith("rad"):
        name = "angle"
    else:
        name = "length" if unit == "m" else "value"
    line.prop(one, name, text=tr(text))
    if may_be_free:
        row.prop(one, "free", text="", icon="UNLOCKED" if one.free else "LOCKED")


class POISE_PT_control(_ControlPanel, bpy.types.Panel):
    bl_idname = "POISE_PT_control"
    bl_label = "Controller"
    bl_order = 3

    def draw(self, context):
        layout = self.layout
        _character, motion = active(context)
        settings = motion.poise_motion.control
        known = _known(context, anew=True)
        row = layout.row()
        row.template_list(
            "POISE_UL_controllers", "", settings, "controllers", settings, "controller_index",
            rows=3,
        )
        column = row.column(align=True)
        column.operator("poise.controller_add", text="", icon="ADD")
        column.operator("poise.controller_remove", text="", icon="REMOVE")
        column.menu("POISE_MT_controllers", text="", icon="DOWNARROW_HLT")
        item = _chosen(settings)
        layout.use_property_split = True
        layout.use_property_decorate = False
        if item is None:
            wrapped(layout, "Add a controller: where the figure is to end", context.region.width,
                    "INFO")
        elif item.program == HOLD:
            for one in item.torques:
                layout.prop(one, "held", text=tr(_label(one.name)))
        elif known is not None and known[0].tabled:
            self._draw_destinations(layout, item, known)
        if item is not None and known is not None:
            asks = known[0].asks(item.program)
            for name in asks:
                layout.prop(item, name)
            if known[0].finds and asks:
                layout.operator("poise.jump_find", icon="VIEWZOOM")
        if known is None or known[0].tabled:
            layout.operator("poise.controller_build", icon="MOD_BUILD")
        row = layout.row(align=True)
        row.operator("poise.diagram_image", text="Show States", icon="IMAGE_DATA").kind = "STATE"
        row.operator("poise.diagram_save", text="Save States", icon="FILE_IMAGE").kind = "STATE"
        if known is not None and known[0].mapped:
            row = layout.row(align=True)
            row.operator(
                "poise.diagram_image", text="Show Torques", icon="IMAGE_DATA"
            ).kind = "TORQUE"
            row.operator(
                "poise.diagram_save", text="Save Torques", icon="FILE_IMAGE"
            ).kind = "TORQUE"
        draw_summary(layout, preview.status(motion), context.region.width)

    def _draw_destinations(self, layout, item, known):
        units = {x.name: x.unit for x in known[0].coordinates(known[1])}
        for number, place in enumerate(item.destinations):
            box = layout.box()
            if len(item.destinations) > 1:
                row = box.row()
                row.label(text=tr(f"Destination {number + 1}"))
                row.operator("poise.destination_remove", text="", icon="X").index = number
            for one in place.values:
                _draw_value(box, one, units.get(one.name, "rad"), True)
        row = layout.row(align=True)
        row.operator("poise.destination_set", icon="ARMATURE_DATA")
        row.operator("poise.destination_set", text="", icon="ADD").more = True


class POISE_PT_control_library(_ControlPanel, bpy.types.Panel):
    bl_label = "Library"
    bl_parent_id = "POISE_PT_control"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        known = _known(context)
        return known is not None and bool(known[0].library(known[1]))

    def draw(self, context):
        figure, body, _numbers = _known(context)
        grid = self.layout.grid_flow(row_major=True, columns=2, align=True)
        for plan in figure.library(body):
            grid.operator("poise.controller_add", text=plan.name).library = plan.name


class POISE_PT_control_script(_ControlPanel, bpy.types.Panel):
    bl_label = "Script"
    bl_parent_id = "POISE_PT_control"

    def draw(self, context):
        layout = self.layout
        settings = settings_of(context).control
        row = layout.row()
        row.template_list(
            "POISE_UL_script", "", settings, "script", settings, "script_index", rows=4
        )
        column = row.column(align=True)
        column.operator("poise.script_remove", text="", icon="REMOVE")
        column.operator("poise.script_move", text="", icon="TRIA_UP").direction = -1
        column.operator("poise.script_move", text="", icon="TRIA_DOWN").direction = 1
        layout.operator("poise.script_add", icon="ADD")
        if 0 <= settings.script_index < len(settings.script):
            line = settings.script[settings.script_index]
            column = layout.column()
            column.use_property_split = True
            column.prop(line, "until")
            if line.until in gather.REGIONAL:
                self._draw_region(column, line, _known(context))
            column.prop(line, "others")
            if line.others:
                column.prop(settings, "seed")
        row = layout.row(align=True)
        row.operator("poise.script_import", text="Import", icon="IMPORT")
        row.operator("poise.script_export", text="Export", icon="EXPORT")

    def _draw_region(self, layout, line, known):
        units = {x.name: x.unit for x in known[0].coordinates(known[1])} if known else {}
        for one in line.region:
            unit = units.get(one.name, "")
            kind = "_angle" if unit.startswith("rad") else "_length" if unit == "m" else ""
            row = layout.row(align=True, heading=_named(one.name, unit))
            row.prop(one, "use", text="")
            ends = row.row(align=True)
            ends.active = one.use
            ends.prop(one, f"low{kind}", text="")
            ends.prop(one, f"high{kind}", text="")
        layout.operator("poise.script_region", icon="ARMATURE_DATA")


class POISE_PT_control_start(_ControlPanel, bpy.types.Panel):
    bl_label = "Start"
    bl_parent_id = "POISE_PT_control"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        known = _known(context)
        return known is not None and known[0].tabled

    def draw(self, context):
        layout = self.layout
        settings = settings_of(context).control
        known = _known(context)
        layout.operator("poise.start_set", icon="ARMATURE_DATA")
        if known and known[0].mapped:
            layout.operator("poise.start_drag", icon="VIEW_PAN")
        layout.use_property_split = True
        layout.use_property_decorate = False
        units = {x.name: x.unit for x in known[0].coordinates(known[1])} if known else {}
        for one in settings.start:
            _draw_value(layout, one, units.get(one.name, "rad"), False)


class POISE_PT_control_domain(_ControlPanel, bpy.types.Panel):
    bl_label = "Domain"
    bl_parent_id = "POISE_PT_control"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        item = _chosen(settings_of(context).control) if super().poll(context) else None
        if item is None or item.program:
            return False
        known = _known(context)
        return known is not None and known[0].tabled

    def draw(self, context):
        layout = self.layout
        item = _chosen(settings_of(context).control)
        figure, body, numbers = _known(context)
        layout.use_property_split = True
        layout.use_property_decorate = False
        usual = {x.name: x for x in (*figure.coordinates(body), *figure.controls(body))}
        for one in item.domain:
            x = usual.get(one.name)
            column = layout.column(align=True)
            if x is None or not x.wraps or one.ends != "AUTO":
                angle = x is not None and x.unit.startswith("rad")
                low = tr(f"{_label(one.name)} from")
                column.prop(one, "low_angle" if angle else "low", text=low)
                column.prop(one, "high_angle" if angle else "high", text="to")
                column.prop(one, "count", text="Steps")
            else:
                column.prop(one, "count", text=tr(f"{_label(one.name)} Steps"))
            if figure.mapped:
                column.prop(one, "ends")
        layout.prop(item, "power")
        plan = gather.plan_of(item, figure, body, numbers.unit_scale)
        layout.label(text=tr(f"{plan.nodes:,} states"), icon="INFO")
        told = tables.convergence(active(context)[1], item.number)
        if told is not None:
            layout.label(text=tr(f"{told[0]} sweeps, the last one by {1e3 * told[1]:.2g} ms"))


class POISE_PT_control_torques(_ControlPanel, bpy.types.Panel):
    bl_label = "Torques"
    bl_parent_id = "POISE_PT_control"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        if not super().poll(context) or _chosen(settings_of(context).control) is None:
            return False
        known = _known(context)
        return known is not None and known[0].tabled

    def draw(self, context):
        layout = self.layout
        settings = settings_of(context).control
        layout.use_property_split = True
        layout.use_property_decorate = False
        item = _chosen(settings)
        for one in item.torques:
            column = layout.column(align=True)
            column.prop(one, "low", text=tr(f"{_label(one.name)} from"))
            column.prop(one, "high", text="to")
            if not item.program:
                column.prop(one, "count", text="Steps")
                column.prop(one, "effort")
        layout.prop(settings, "slew")


class POISE_PT_control_disturbances(DisturbancesPanel, _ControlPanel, bpy.types.Panel):
    bl_parent_id = "POISE_PT_control"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        known = _known(context)
        return known is None or bool(known[0].links(known[1]))


class POISE_PT_control_obstacles(_ControlPanel, bpy.types.Panel):
    bl_label = "Obstacles"
    bl_parent_id = "POISE_PT_control"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return super().poll(context) and active(context)[0].poise.machine in {"PENDULUM", "CHAIN"}

    def draw(self, context):
        layout = self.layout
        settings = settings_of(context).control
        layout.use_property_split = True
        layout.prop(settings, "obstacles")
        column = layout.column()
        column.active = settings.obstacles is not None
        column.prop(settings, "clearance")
        layout.prop(settings, "contacts")
        column = layout.column()
        column.active = settings.contacts
        for name in ("ground", "thickness", "friction"):
            column.prop(settings, name)


class POISE_PT_control_links(_ControlPanel, bpy.types.Panel):
    bl_label = "Links"
    bl_parent_id = "POISE_PT_control"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return super().poll(context) and bool(_links(context))

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for bone in _links(context):
            column = layout.column(align=True)
            column.label(text=bone.name, icon="BONE_DATA", translate=False)
            for key, text in ((machines.MASS, "Mass, kg"), (machines.TORQUE, "Torque, N m")):
                if key in bone:
                    column.prop(bone, f'["{key}"]', text=text)


def _links(context) -> list:
    """Bones of the active figure that are a chain's links."""
    rig = motions.active_rig(context)
    return [rig.pose.bones[name] for name in machines.chain_bones(rig)]


CLASSES = (
    POISE_UL_controllers,
    POISE_UL_script,
    POISE_MT_controllers,
    POISE_PT_control,
    POISE_PT_control_library,
    POISE_PT_control_script,
    POISE_PT_control_start,
    POISE_PT_control_domain,
    POISE_PT_control_torques,
    POISE_PT_control_disturbances,
    POISE_PT_control_obstacles,
    POISE_PT_control_links,
)
