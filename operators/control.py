# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers of mechanical figures: the list, where each leads, building, and the script."""

from math import degrees, radians
from pathlib import Path

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy_extras import view3d_utils
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..addon import compat, families, motions
from ..addon.base_operator import FIXABLE, SettingsOperator, SolvingOperator, one_line
from ..addon.context import object_mode
from ..addon.errors import UserError
from ..addon.families.controlling import gather, tables
from ..addon.rigs import characters, machines
from ..addon.rigs.actor import Actor
from ..addon.scene.timing import scene_numbers
from ..addon.texts import tr
from ..solvers.control import plans, texts
from ..solvers.control.plans import Plan
from .motion import OfKind

TICK = 15.0  # degrees/s for each step of the mouse wheel
GRAB = 60.0  # pixels from a link that it can be taken at


class _OfControl(OfKind):
    """Mixin: only where the active motion is of controllers."""

    motion_kind = "CONTROLLER"
    lacks = "controllers: set Motion to Controller"


class _ControlOperator(_OfControl, SettingsOperator):
    """Mixin: what sets something of controllers."""


def _chosen(items, index: int, motion, what: str):
    if not 0 <= index < len(items):
        raise UserError(f"{motion.name} has no such {what}: add one")
    return items[index]


def _chosen_controller(settings, motion):
    return _chosen(settings.controllers, settings.controller_index, motion, "controller")


class POISE_OT_controller_add(_ControlOperator, bpy.types.Operator):
    """Add a controller that leads to the current pose, or one that comes with the figure"""

    bl_idname = "poise.controller_add"
    bl_label = "Add Controller"

    library: StringProperty(
        name="Library", description="Name of a controller that comes with the figure; empty for "
        "one that leads to the current pose", options={"SKIP_SAVE"},
    )
    name: StringProperty(
        name="Name", description="Name of the controller; empty for a default",
        options={"SKIP_SAVE"},
    )

    def run(self, context):
        character, motion = motions.require_motion(context)
        figure, body, numbers = gather.known(context, motion)
        settings = motion.poise_motion.control
        if self.library:
            made = {plan.name: plan for plan in figure.library(body)}
            plan = made.get(self.library)
            if plan is None:
                raise UserError(
                    f"{character.name} comes with no controller {self.library}: choose one of "
                    f"{', '.join(made) or 'none'}"
                )
        elif not figure.tabled:
            plan = figure.library(body)[0]
        else:
            spans = figure.coordinates(body)
            pose = figure.pose(Actor.of(character), body)
            place = {x.name: float(v) for x, v in zip(spans, pose, strict=True)}
            plan = Plan("Controller", spans, figure.controls(body), (place,))
        name = one_line(self.name) or plan.name
        return f"Added {add_controller(settings, plan, name, numbers.unit_scale).name}"


def add_controller(settings, plan: Plan, name: str, unit_scale: float):
    """A new controller of a plan, chosen."""
    item = settings.controllers.add()
    gather.fill(item, plan, unit_scale)
    item.number = settings.next_number
    settings.next_number += 1
    item.name = _unused(settings, name, item)
    settings.controller_index = len(settings.controllers) - 1
    return item


def _unused(settings, name: str, item) -> str:
    """A name that no other controller has: scripts name controllers."""
    taken = {other.name for other in settings.controllers if other != item}
    found, count = name, 1
    while found in taken:
        count += 1
        found = f"{name} {count}"
    return found


class POISE_OT_controller_remove(_ControlOperator, bpy.types.Operator):
    """Remove the chosen controller, and its table"""

    bl_idname = "poise.controller_remove"
    bl_label = "Remove Controller"

    def run(self, context):
        _character, motion = motions.require_motion(context)
        settings = motion.poise_motion.control
        index = settings.controller_index
        item = _chosen(settings.controllers, index, motion, "controller")
        name = item.name
        tables.forget(motion, item.number)
        settings.controllers.remove(index)
        settings.controller_index = max(min(index, len(settings.controllers) - 1), 0)
        return f"Removed {name}"


class POISE_OT_destination_set(_ControlOperator, bpy.types.Operator):
    """Let the chosen controller lead to the current pose, at rest"""

    bl_idname = "poise.destination_set"
    bl_label = "Set from Pose"

    more: BoolProperty(
        name="Another", description="Add the pose as another destination: the easiest is taken",
        default=False, options={"SKIP_SAVE"},
    )

    def run(self, context):
        character, motion = motions.require_motion(context)
        figure, body, numbers = gather.known(context, motion)
        settings = motion.poise_motion.control
        item = _chosen_controller(settings, motion)
        spans = figure.coordinates(body)
        pose = figure.pose(Actor.of(character), body)
        place = {x.name: float(v) for x, v in zip(spans, pose, strict=True)}
        if not self.more:
            item.destinations.clear()
        gather.fill_state(item.destinations.add().values, spans, place, numbers.unit_scale)
        return f"{item.name} leads to the pose"


class POISE_OT_destination_remove(_ControlOperator, bpy.types.Operator):
    """Remove one of the chosen controller's destinations"""

    bl_idname = "poise.destination_remove"
    bl_label = "Remove Destination"

    index: IntProperty(name="Destination", description="Place in the list", default=-1, min=-1)

    def run(self, context):
        _character, motion = motions.require_motion(context)
        settings = motion.poise_motion.control
        item = _chosen_controller(settings, motion)
        last = len(item.destinations) - 1
        index = last if self.index < 0 else self.index
        _chosen(item.destinations, index, motion, "destination")
        item.destinations.remove(index)
        return f"Removed a destination of {item.name}"


class POISE_OT_start_set(_ControlOperator, bpy.types.Operator):
    """Let the motion begin in the current pose, at rest"""

    bl_idname = "poise.start_set"
    bl_label = "Start from Pose"

    def run(self, context):
        character, motion = motions.require_motion(context)
        figure, body, numbers = gather.known(context, motion)
        spans = figure.coordinates(body)
        pose = figure.pose(Actor.of(character), body)
        place = {x.name: float(v) for x, v in zip(spans, pose, strict=True)}
        values = motion.poise_motion.control.start
        gather.fill_state(values, spans, place, numbers.unit_scale)
        return f"{motion.name} begins in the pose"


class POISE_OT_start_drag(_ControlOperator, bpy.types.Operator):
    bl_description = (
        "Turn links of the pose that the motion begins with by dragging them in the "
        "viewport, and see the motion change; the mouse wheel gives the dragged one a "
        "speed"
    )
    bl_idname = "poise.start_drag"
    bl_label = "Drag Start"

    link: IntProperty(
        name="Link", description="Which link, counted from the first one; 0 lets the mouse choose",
        default=0, min=0, options={"SKIP_SAVE"},
    )
    angle: FloatProperty(
        name="Angle", description="That it begins with, against the link that it hangs on",
        subtype="ANGLE", options={"SKIP_SAVE"},
    )
    speed: FloatProperty(
        name="Speed", description="That it begins with, per second", subtype="ANGLE",
        soft_min=-radians(500.0), soft_max=radians(500.0), options={"SKIP_SAVE"},
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        figure, body, numbers = gather.known(context, motion)
        state = gather.start_of(motion, figure, body, numbers.unit_scale)
        count = len(figure.lines(body, state))
        if not count:
            raise UserError(
                f"{motion.poise_motion.character.name} begins where it stands: move the object"
            )
        if not 1 <= self.link <= count:
            raise UserError(
                f"Link {self.link} is none of {motion.poise_motion.character.name}: it has {count}"
            )
        k = 2 * (self.link - 1)
        if self.properties.is_property_set("angle"):
            state[k] = self.angle
        if self.properties.is_property_set("speed"):
            state[k + 1] = self.speed
        self._begin(motion, figure, body, numbers, state)
        self.angle, self.speed = float(state[k]), float(state[k + 1])
        return (
            f"Link {self.link} begins at {degrees(state[k]):.1f}°, {degrees(state[k + 1]):.0f}°/s"
        )

    def _begin(self, motion, figure, body, numbers, state) -> None:
        spans = figure.coordinates(body)
        place = {x.name: float(v) for x, v in zip(spans, state, strict=True)}
        gather.fill_state(
            motion.poise_motion.control.start, spans, place, numbers.unit_scale
        )

    def invoke(self, context, event):
        windows = [
            (area, region) for area in (context.screen.areas if context.screen else ())
            if area.type == "VIEW_3D" for region in area.regions if region.type == "WINDOW"
        ]
        if self.link or not windows:
            return self.execute(context)
        try:
            _character, motion = motions.require_motion(context)
            figure, body, numbers = gather.known(context, motion)
            state = gather.start_of(motion, figure, body, numbers.unit_scale)
        except FIXABLE as error:
            self.report({"ERROR"}, one_line(str(error)))
            return {"CANCELLED"}
        if not len(figure.lines(body, state)):
            return self.execute(context)
        self._area, self._region = next(
            (one for one in windows if one[0] == context.area), windows[0]
        )
        self._known, self._state, self._held = (motion, figure, body, numbers), state, None
        self._before = [
            (one.name, one.value, one.free) for one in motion.poise_motion.control.start
        ]
        context.workspace.status_text_set(
            "Drag a link, the mouse wheel gives it a speed; letting go takes it, Esc cancels"
        )
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type in {"ESC", "RIGHTMOUSE"}:
            values = self._known[0].poise_motion.control.start
            values.clear()
            for name, value, free in self._before:
                one = values.add()
                one.name, one.value, one.free = name, value, free
            return self._end(context, {"CANCELLED"})
        if event.type == "LEFTMOUSE" and event.value == "PRESS":
            self._held = self._nearest(event)
            return {"RUNNING_MODAL"} if self._held is not None else {"PASS_THROUGH"}
        done = event.type == "LEFTMOUSE" and event.value == "RELEASE"
        if self._held is not None and (done or event.type in {"RET", "NUMPAD_ENTER"}):
            self.link = self._held + 1
            self.angle, self.speed = (float(x) for x in self._state[2 * self._held:][:2])
            return self._end(context, self.execute(context))
        if event.type in {"RET", "NUMPAD_ENTER"}:
            return self._end(context, {"CANCELLED"})
        if self._held is None:
            return {"PASS_THROUGH"}
        if event.type == "MOUSEMOVE":
            origin, way = self._ray(event)
            found = self._known[1].pointed(self._known[2], self._state, self._held, origin, way)
            if found is not None:
                self._set(context, found)
        elif event.type in {"WHEELUPMOUSE", "WHEELDOWNMOUSE"}:
            found = self._state.copy()
            found[2 * self._held + 1] += radians(
                TICK if event.type == "WHEELUPMOUSE" else -TICK
            )
            self._set(context, found)
        return {"RUNNING_MODAL"}

    def cancel(self, context):
        self._end(context, set())

    def _set(self, context, state) -> None:
        self._state, k = state, 2 * self._held
        self._begin(*self._known, state)
        context.workspace.status_text_set(
            f"Link {self._held + 1}: {degrees(state[k]):.1f}°, {degrees(state[k + 1]):.0f}°/s"
        )

    def _end(self, context, result):
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        return result

    def _mouse(self, event):
        return event.mouse_x - self._region.x, event.mouse_y - self._region.y

    def _ray(self, event):
        """Where the view looks from through the mouse, and which way, m."""
        view = self._area.spaces.active.region_3d
        origin = view3d_utils.region_2d_to_origin_3d(self._region, view, self._mouse(event))
        way = view3d_utils.region_2d_to_vector_3d(self._region, view, self._mouse(event))
        return np.array(origin) * self._known[3].unit_scale, np.array(way)

    def _nearest(self, event) -> int | None:
        """The link under the mouse, None for none."""
        view, unit = self._area.spaces.active.region_3d, self._known[3].unit_scale
        mouse, best, found = np.array(self._mouse(event), float), GRAB, None
        for k, ends in enumerate(self._known[1].lines(self._known[2], self._state)):
            seen = [
                view3d_utils.location_3d_to_region_2d(self._region, view, end / unit)
                for end in ends
            ]
            if None in seen:
                continue
            a, b = (np.array(one) for one in seen)
            share = (mouse - a) @ (b - a) / max(float((b - a) @ (b - a)), 1e-9)
            off = float(np.linalg.norm(mouse - a - np.clip(share, 0.0, 1.0) * (b - a)))
            if off < best:
                best, found = off, k
        return found


class POISE_OT_script_add(_ControlOperator, bpy.types.Operator):
    """Add a line to the script: the chosen controller, for a while"""

    bl_idname = "poise.script_add"
    bl_label = "Add Line"

    controller: StringProperty(
        name="Controller", description="Name of the controller; empty for the chosen one",
        options={"SKIP_SAVE"},
    )
    seconds: FloatProperty(
        name="Seconds", description="For how long, at the most", default=1.0, min=0.001,
        soft_max=10.0, max=1e5, unit="TIME_ABSOLUTE",
    )
    until: EnumProperty(
        name="Until", description="When the next one takes over",
        items=(("TIME", "Time", "After some seconds", 0),
               ("REACHED", "Reached", "Once the destination is reached", 1),
               ("REGION", "Region", "Once the state is near the current pose", 2),
               ("WHENEVER", "While in Region", "It takes over whenever the state is near the "
                "current pose", 3)),
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        settings = motion.poise_motion.control
        name = self.controller
        if not name:
            name = _chosen_controller(settings, motion).name
        if name not in settings.controllers:
            raise UserError(f"{motion.name} has no controller {name}: add it first")
        near = _near_pose(context, motion) if self.until in gather.REGIONAL else None
        line = settings.script.add()
        line.name = line.controller = name
        line.seconds, line.until = self.seconds, self.until
        if near is not None:
            gather.fill_region(line, *near)
        settings.script_index = len(settings.script) - 1
        if self.until == "WHENEVER":
            return f"{name} is in control whenever the state is near the pose"
        return f"{name} is in control for {self.seconds:g} s"


NEAR = 0.15
"""rad or m: a region reaches as far from the pose that it is set from, to either side."""


def _near_pose(context, motion, near: float = NEAR):
    """Coordinates, where they are near the current pose, and the scene's units."""
    figure, body, numbers = gather.known(context, motion)
    if not figure.switches:
        raise UserError(
            f"Motor programs of {motion.poise_motion.character.name} are played to their end: set "
            "Until to Time or Reached"
        )
    spans = figure.coordinates(body)
    pose = figure.pose(Actor.of(motion.poise_motion.character), body)
    limits = {
        x.name: (float(value) - near, float(value) + near)
        for x, value in zip(spans, pose, strict=True) if "/" not in x.unit
    }
    return spans, limits, numbers.unit_scale


class POISE_OT_script_region(_ControlOperator, bpy.types.Operator):
    """Let the region of the chosen line be about the current pose, at any speed"""

    bl_idname = "poise.script_region"
    bl_label = "Set Region"

    near: FloatProperty(
        name="Near", description="How far the region reaches to either side of the pose: radians, "
        "or metres", default=NEAR, min=1e-4, soft_max=3.0, max=1e4,
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        settings = motion.poise_motion.control
        line = _chosen(settings.script, settings.script_index, motion, "line")
        gather.fill_region(line, *_near_pose(context, motion, self.near))
        if line.until not in gather.REGIONAL:
            line.until = "REGION"
        return f"The region of line {settings.script_index + 1} is about the pose"


class POISE_OT_script_remove(_ControlOperator, bpy.types.Operator):
    """Remove the chosen line of the script"""

    bl_idname = "poise.script_remove"
    bl_label = "Remove Line"

    def run(self, context):
        _character, motion = motions.require_motion(context)
        settings = motion.poise_motion.control
        index = settings.script_index
        name = _chosen(settings.script, index, motion, "line").controller
        settings.script.remove(index)
        settings.script_index = max(min(index, len(settings.script) - 1), 0)
        return f"Removed a line of {name}"


class POISE_OT_script_move(_ControlOperator, bpy.types.Operator):
    """Move the chosen line of the script up or down"""

    bl_idname = "poise.script_move"
    bl_label = "Move Line"

    direction: IntProperty(name="Direction", description="-1 up, 1 down", default=1, min=-1, max=1)

    def run(self, context):
        _character, motion = motions.require_motion(context)
        settings = motion.poise_motion.control
        index, count = settings.script_index, len(settings.script)
        _chosen(settings.script, index, motion, "line")
        there = min(max(index + self.direction, 0), count - 1)
        settings.script.move(index, there)
        settings.script_index = there
        return f"Moved a line of {settings.script[there].controller}"


class POISE_OT_controller_build(_OfControl, SolvingOperator, bpy.types.Operator):
    """Build the controllers of the motion whose settings have changed, and keep them in the file"""

    bl_idname = "poise.controller_build"
    bl_label = "Build"

    def gather(self, context):
        _character, motion = motions.require_motion(context)
        figure, body, numbers = gather.known(context, motion)
        machine = Actor.of(motion.poise_motion.character).machine
        settings = motion.poise_motion.control
        if not len(settings.controllers):
            raise UserError(f"{motion.name} has no controllers to build: add one")
        wanted = []
        for item in settings.controllers:
            plan = gather.plan_of(item, figure, body, numbers.unit_scale)
            if not figure.needs_table(body, plan):
                continue
            source = tables.source_of(machine, body, plan)
            wanted.append((item.number, plan, source, tables.sound(motion, item.number, source)))
        return motion.name, figure, body, wanted

    def solve(self, job, progress):
        _name, figure, body, wanted = job
        missing = [one for one in wanted if not one[3]]
        found = []
        for k, (number, plan, source, _sound) in enumerate(missing):
            table, _told = tables.table_for(
                figure, source, body, plan, None,
                lambda x, k=k: progress((k + x) / len(missing)), asked=True,
            )
            found.append((number, plan, source, table))
        return found

    def apply(self, context, job, result):
        _character, motion = motions.require_motion(context)
        for number, _plan, source, table in result:
            tables.keep(motion, number, table, source)
        size = tables.size_of(motion)
        if size > tables.HEAVY:
            self.report({"WARNING"}, tr(
                f"The controllers of {motion.name} take {size / 2**20:.0f} MB of the file: "
                "coarser ones take less"
            ))
        names = ", ".join(plan.name for _number, plan, _source, _table in result)
        if not names:
            return "All controllers are as their settings are"
        made = [table for _number, _plan, _source, table in result]
        return (
            f"Built {names}: {max(x.sweeps for x in made)} sweeps, the last of which changed "
            f"costs by {1e3 * max(x.change for x in made):.2g} ms"
        )


def _named(file: str) -> str:
    """Name of a controller whose table the paper's scripts call `conA.ctab`."""
    return file.removesuffix(".ctab").removeprefix("con")


def _file(name: str) -> str:
    """What the table of a controller is called in texts."""
    return f"con{name.replace(' ', '_')}.ctab"


class POISE_OT_script_import(_ControlOperator, ImportHelper, bpy.types.Operator):
    """Read start and script from a text file, in the form of the paper: state, swapcon, sim"""

    bl_idname = "poise.script_import"
    bl_label = "Import Script"

    filename_ext = ".txt"
    filter_glob: StringProperty(default="*.txt;*.script", options={"HIDDEN"})

    def run(self, context):
        _character, motion = motions.require_motion(context)
        figure, body, numbers = gather.known(context, motion)
        made = texts.read_script(read_text(self.filepath))
        if len(made.states) > 1:
            raise UserError("The script moves several figures: give each one a script of its own")
        spans = figure.coordinates(body)
        for state in made.states.values():
            if len(state) != len(spans):
                raise UserError(
                    f"The script's state has {len(state)} numbers: this figure has {len(spans)}, "
                    f"{', '.join(x.name for x in spans)}"
                )
        strange = {name for line in made.lines for name in line.region} - {x.name for x in spans}
        if strange:
            raise UserError(
                f"The script goes by {min(strange)}, which this figure has not: name "
                f"{', '.join(x.name for x in spans)}"
            )
        settings = motion.poise_motion.control
        library = {plan.name: plan for plan in figure.library(body)}
        own = {_file(name): name for name in (*library, *(c.name for c in settings.controllers))}

        def named(file: str) -> str:
            return own.get(file, _named(file))

        names = list(dict.fromkeys(
            named(file) for line in made.lines for file in (line.controller, *line.others)
        ))
        unknown = [n for n in names if n not in settings.controllers and n not in library]
        if unknown:
            raise UserError(
                f"{motion.name} has no controller {unknown[0]}: add one of that name first"
            )
        for name in names:
            if name not in settings.controllers:
                add_controller(settings, library[name], name, numbers.unit_scale)
        for state in made.states.values():
            place = {
                x.name: plans.in_si(x, value) for x, value in zip(spans, state, strict=True)
            }
            gather.fill_state(settings.start, spans, place, numbers.unit_scale)
        limits = [
            {x.name: tuple(plans.in_si(x, value) for value in line.region[x.name])
             for x in spans if x.name in line.region}
            for line in made.lines
        ]
        settings.script.clear()
        settings.seed = made.seed
        for line, region in zip(made.lines, limits, strict=True):
            item = settings.script.add()
            item.name = item.controller = named(line.controller)
            item.others = ", ".join(named(file) for file in line.others)
            item.seconds, item.until = line.seconds, line.until
            if region:
                gather.fill_region(item, spans, region, numbers.unit_scale)
        return f"Read {len(made.lines)} lines"


class POISE_OT_script_export(_ControlOperator, ExportHelper, bpy.types.Operator):
    """Write start and script to a text file, in the form of the paper: state, swapcon, sim"""

    bl_idname = "poise.script_export"
    bl_label = "Export Script"
    bl_options = {"REGISTER"}

    filename_ext = ".txt"
    filter_glob: StringProperty(default="*.txt", options={"HIDDEN"})

    def run(self, context):
        _character, motion = motions.require_motion(context)
        figure, body, numbers = gather.known(context, motion)
        spans = figure.coordinates(body)
        start = gather.start_of(motion, figure, body, numbers.unit_scale)
        state = tuple(plans.in_degrees(x, v) for x, v in zip(spans, start, strict=True))
        settings = motion.poise_motion.control
        units = {x.name: x for x in spans}

        def region(line) -> dict[str, tuple[float, float]]:
            found = {}
            for one in line.region if line.until in gather.REGIONAL else ():
                if one.use and one.name in units:
                    x = units[one.name]
                    size = numbers.unit_scale if x.unit in gather.LENGTHS else 1.0
                    found[one.name] = tuple(
                        plans.in_degrees(x, end * size) for end in (one.low, one.high)
                    )
            return found

        lines = tuple(
            texts.Line("link", _file(line.controller), round(line.seconds, 6),
                       tuple(map(_file, gather.others_of(line))), line.until, region(line))
            for line in settings.script
        )
        write_text(self.filepath, texts.write_script(
            texts.ScriptText({"link": state}, lines, settings.seed)
        ))
        return f"Wrote {len(lines)} lines to {self.filepath}"


class POISE_OT_controller_import(_ControlOperator, ImportHelper, bpy.types.Operator):
    """Add a controller from a text file, in the form of the paper: ssid, wrap, torq, dest"""

    bl_idname = "poise.controller_import"
    bl_label = "Import Controller"

    filename_ext = ".txt"
    filter_glob: StringProperty(default="*.txt;*.con", options={"HIDDEN"})

    def run(self, context):
        character, motion = motions.require_motion(context)
        figure, body, numbers = gather.known(context, motion)
        name = one_line(Path(self.filepath).stem)
        usual = Plan(name, figure.coordinates(body), figure.controls(body), ())
        plan = plans.from_text(texts.read_controller(read_text(self.filepath)), usual)
        if plan.program not in {"", *(one.program for one in figure.library(body))}:
            raise UserError(
                f"{name} holds torques, which {character.name} has no muscles for: choose a file "
                "of a controller"
            )
        item = add_controller(motion.poise_motion.control, plan, name, numbers.unit_scale)
        for one, x, said in zip(item.domain, usual.coordinates, plan.coordinates, strict=True):
            if said.wraps != x.wraps:
                one.ends = "WRAP" if said.wraps else "STOP"
        return f"Added {item.name}"


class POISE_OT_controller_export(_ControlOperator, ExportHelper, bpy.types.Operator):
    """Write the chosen controller to a text file, in the form of the paper"""

    bl_idname = "poise.controller_export"
    bl_label = "Export Controller"
    bl_options = {"REGISTER"}

    filename_ext = ".txt"
    filter_glob: StringProperty(default="*.txt", options={"HIDDEN"})

    def run(self, context):
        _character, motion = motions.require_motion(context)
        figure, body, numbers = gather.known(context, motion)
        settings = motion.poise_motion.control
        item = _chosen_controller(settings, motion)
        plan = gather.plan_of(item, figure, body, numbers.unit_scale)
        write_text(self.filepath, texts.write_controller(plans.to_text(plan, "link1")))
        return f"Wrote {item.name} to {self.filepath}"


def read_text(filepath: str) -> str:
    """Text of a file.

    Args:
        filepath: where it is, as Blender writes paths.

    Raises:
        UserError: it cannot be read.
    """
    path = Path(bpy.path.abspath(filepath))
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is no text: choose another file") from error


def write_text(filepath: str, text: str) -> None:
    """Write a file.

    Args:
        filepath: where, as Blender writes paths.
        text: what it is to hold.

    Raises:
        UserError: it cannot be written.
    """
    path = Path(bpy.path.abspath(filepath))
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from error


class POISE_OT_figure_setup(SettingsOperator, bpy.types.Operator):
    bl_description = (
        "Make the selected bones, which hang on each other in a row or like the branches "
        "of a tree, a figure of links and muscles"
    )
    bl_idname = "poise.figure_setup"
    bl_label = "Set Up as Figure"

    density: FloatProperty(
        name="Mass per Metre", description="Mass of a link for each metre of its length, kg",
        default=1.0, min=1e-3, max=1e5, soft_max=50.0,
    )

    @classmethod
    def poll(cls, context):
        if motions.active_rig(context) is None:
            cls.poll_message_set("No armature is active: select one")
            return False
        return True

    def run(self, context):
        rig = motions.active_rig(context)
        motions.require_editable(rig)
        if characters.kind_of(motions.active_character(context)):
            raise UserError(
                f"{rig.name} moves as a character: set up another armature as a figure"
            )
        # An armature that was made a moment ago has no pose yet.
        bones = rig.pose.bones if rig.pose is not None else ()
        names = [bone.name for bone in bones if compat.bone_selected(bone)]
        if not names:
            raise UserError(
                f"No bone of {rig.name} is selected: select those of the figure, in Pose Mode"
            )
        unit = scene_numbers(context.scene).unit_scale
        size = unit * float(rig.matrix_world.median_scale)
        ordered = machines.tree_of(rig, names)
        machines.set_up_chain(rig, ordered, size, self.density)
        motion = motions.active_motion(rig)
        if motion is None:
            with object_mode(context):
                motion = motions.add_motion(context, rig)
            families.begin(motion, unit)
        return f"{rig.name} is a figure of {len(ordered)} links: add a controller"


class POISE_OT_figure_remove(SettingsOperator, bpy.types.Operator):
    """Make the figure a plain armature again; its motions stay"""

    bl_idname = "poise.figure_remove"
    bl_label = "Remove Figure"

    @classmethod
    def poll(cls, context):
        if not machines.machine_of(motions.active_rig(context)):
            cls.poll_message_set("The active armature is no mechanical figure")
            return False
        return True

    def run(self, context):
        rig = motions.active_rig(context)
        motions.require_editable(rig)
        machines.put_away(rig)
        return f"{rig.name} is no figure any more"


class POISE_OT_jump_find(_OfControl, SolvingOperator, bpy.types.Operator):
    """Find a motor program for the chosen controller's length and drop, and keep it in the file"""

    bl_idname = "poise.jump_find"
    bl_label = "Find Jump"

    seed: IntProperty(
        name="Seed", description="Of all that is tried: 0 begins from programs that are known, "
        "others find wholly new ones", default=0, min=0,
    )

    def gather(self, context):
        _character, motion = motions.require_motion(context)
        figure, body, numbers = gather.known(context, motion)
        settings = motion.poise_motion.control
        item = _chosen_controller(settings, motion)
        plan = gather.plan_of(item, figure, body, numbers.unit_scale)
        return item.number, figure, body, plan, self.seed, numbers.unit_scale

    def solve(self, job, progress):
        _number, figure, body, plan, seed, _unit = job
        return figure.find(body, plan, seed, progress)

    def apply(self, context, job, result):
        _character, motion = motions.require_motion(context)
        plan, does = result
        for item in motion.poise_motion.control.controllers:
            if item.number == job[0]:
                item.found = plan.found
        return does


CLASSES = (
    POISE_OT_jump_find,
    POISE_OT_figure_setup,
    POISE_OT_figure_remove,
    POISE_OT_script_import,
    POISE_OT_script_export,
    POISE_OT_controller_import,
    POISE_OT_controller_export,
    POISE_OT_controller_add,
    POISE_OT_controller_remove,
    POISE_OT_destination_set,
    POISE_OT_destination_remove,
    POISE_OT_start_set,
    POISE_OT_start_drag,
    POISE_OT_script_add,
    POISE_OT_script_remove,
    POISE_OT_script_move,
    POISE_OT_script_region,
    POISE_OT_controller_build,
)
