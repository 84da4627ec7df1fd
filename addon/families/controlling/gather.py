# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a figure, its controllers and its script out of Blender."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ....solvers.control.knocks import Plane
from ....solvers.control.plans import HOLD, Plan, Span
from ....solvers.control.regions import Region
from ....solvers.motion import Problem
from ... import store
from ...errors import UserError
from ...rigs.actor import Actor
from ...rigs.pose.joints import links_of
from ...scene.disturbances import disturbances
from ...scene.timing import SceneNumbers, frame_range, scene_numbers
from . import tables
from .figures import figure_of
from .figures.base import MachineFigure, Struck
from .job import ControlJob, Line

LENGTHS = ("m", "m/s")

REGIONAL = ("REGION", "WHENEVER")
"""Ways of lines to end or to be in force by a region."""

FASTEST = 1e4
"""SI units, of any coordinate: a number beyond is none that was meant."""


def known(
    context: bpy.types.Context, motion: bpy.types.Object
) -> tuple[MachineFigure, Any, SceneNumbers]:
    """Who knows a motion's figure, what is known of it, and the scene's numbers.

    Args:
        context: Blender's context.
        motion: the Motion object.

    Raises:
        UserError: it is no mechanical figure.
    """
    actor = Actor.of(motion.poise_motion.character)
    figure = figure_of(actor)
    if figure is None:
        raise UserError(
            f"{actor.name} is no mechanical figure: select a chain of its bones in Pose Mode, and "
            "Set Up as Figure"
        )
    numbers = scene_numbers(context.scene)
    return figure, figure.body(context, motion, actor, numbers), numbers


def plan_of(item, figure: MachineFigure, body: Any, unit_scale: float) -> Plan:
    """A controller's settings as a plan.

    Args:
        item: the controller.
        figure: whose.
        body: of the figure.
        unit_scale: metres per Blender unit.
    """
    def size(x: Span) -> float:
        return unit_scale if x.unit in LENGTHS else 1.0

    def spans(usual: tuple[Span, ...], items) -> tuple[Span, ...]:
        given = {one.name: one for one in items}
        found = []
        for x in usual:
            one = given.get(x.name)
            found.append(x if one is None else Span(
                x.name, one.low * size(x), one.high * size(x), one.count, x.unit,
                x.wraps if one.ends == "AUTO" else one.ends == "WRAP",
                one.effort if x.effort or x.unit == "N m" else 0.0,
            ))
        return tuple(found)

    coordinates = spans(figure.coordinates(body), item.domain)
    places = []
    for place in item.destinations:
        values = {one.name: one for one in place.values}
        places.append({
            x.name: values[x.name].value * size(x)
            for x in coordinates if x.name in values and not values[x.name].free
        })
    controls = spans(figure.controls(body), item.torques)
    found = tuple(item.found) if any(item.found) else ()
    if item.program == HOLD:
        given = {one.name: one.held for one in item.torques}
        places, found = [], tuple(given.get(x.name, 0.0) for x in controls)
    return Plan(
        item.name, coordinates, controls, tuple(places), item.power, item.program,
        item.amount * unit_scale, item.drop * unit_scale, found,
    )


def fill(item, plan: Plan, unit_scale: float) -> None:
    """Set a controller to a plan.

    Args:
        item: the controller.
        plan: what it is to be.
        unit_scale: metres per Blender unit.
    """
    def size(x: Span) -> float:
        return unit_scale if x.unit in LENGTHS else 1.0

    item.name, item.power = plan.name, plan.power
    item.program = plan.program
    item.amount, item.drop = plan.amount / unit_scale, plan.drop / unit_scale
    holds = plan.program == HOLD
    item.found = plan.found if plan.found and not holds else (0.0,) * len(item.found)
    for items, spans in ((item.domain, plan.coordinates), (item.torques, plan.controls)):
        items.clear()
        for x in spans:
            one = items.add()
            one.name, one.count, one.effort = x.name, x.count, x.effort
            one.low, one.high = x.low / size(x), x.high / size(x)
    for one, torque in zip(item.torques, plan.found if holds else (), strict=False):
        one.held = torque
    item.destinations.clear()
    for place in plan.destinations:
        fill_state(item.destinations.add().values, plan.coordinates, place, unit_scale)


def fill_state(values, spans: tuple[Span, ...], place, unit_scale: float) -> None:
    """Set a list of values to a state.

    Args:
        values: the list.
        spans: the coordinates.
        place: coordinate -> value in SI units; what is not in it is free.
        unit_scale: metres per Blender unit.
    """
    values.clear()
    for x in spans:
        one = values.add()
        one.name, one.free = x.name, x.name not in place
        one.value = place.get(x.name, 0.0) / (unit_scale if x.unit in LENGTHS else 1.0)


def start_of(motion, figure: MachineFigure, body: Any, unit_scale: float) -> np.ndarray:
    """(d,) the state that a motion begins with; what it does not say is as in the rest pose.

    Args:
        motion: the Motion object.
        figure: whose.
        body: of the figure.
        unit_scale: metres per Blender unit.
    """
    state = np.array(figure.rest(body), dtype=float)
    values = {one.name: one for one in motion.poise_motion.control.start}
    for k, x in enumerate(figure.coordinates(body)):
        one = values.get(x.name)
        if one is not None and not one.free:
            state[k] = one.value * (unit_scale if x.unit in LENGTHS else 1.0)
    return state


def region_of(line, told: str, figure: MachineFigure, body: Any, unit_scale: float):
    """The region by which a line of a script ends, or is in force; None for none.

    Args:
        line: of the script.
        told: which it is, for messages.
        figure: whose.
        body: of the figure.
        unit_scale: metres per Blender unit.

    Raises:
        UserError: it is none.
    """
    if line.until not in REGIONAL:
        return None
    if not figure.switches:
        raise UserError(
            f"{told} goes by a region, but motor programs are played to their end: set its Until "
            "to Time or Reached"
        )
    spans, limits = figure.coordinates(body), {}
    given = {one.name: one for one in line.region}
    for x in spans:
        one = given.get(x.name)
        if one is None or not one.use:
            continue
        size = unit_scale if x.unit in LENGTHS else 1.0
        low, high = one.low * size, one.high * size
        if not (abs(low) < FASTEST and abs(high) < FASTEST and (low <= high or x.wraps)):
            raise UserError(
                f"{told} has a region from {x.name} {x.spoken(low)} to {x.spoken(high)}: set a "
                "least value and a larger one"
            )
        limits[x.name] = (low, high)
    if not limits:
        raise UserError(
            f"{told} goes by a region that nothing limits: click Set Region, and tick a coordinate"
        )
    return Region.of(spans, limits)


def fill_region(line, spans: tuple[Span, ...], limits, unit_scale: float) -> None:
    """Set the region of a line of a script.

    Args:
        line: of the script.
        spans: the coordinates.
        limits: coordinate -> least and largest value in SI units; what is not in it is any.
        unit_scale: metres per Blender unit.
    """
    line.region.clear()
    for x in spans:
        one, size = line.region.add(), unit_scale if x.unit in LENGTHS else 1.0
        one.name, one.use = x.name, x.name in limits
        low, high = limits.get(x.name, (x.low, x.high))
        one.low, one.high = low / size, high / size


def others_of(line) -> list[str]:
    """Names of the further controllers of a line of a script.

    Args:
        line: of the script.
    """
    return [name for other in line.others.split(",") if (name := other.strip())]


def drawn(line, seed: int, number: int) -> str:
    """Which of several controllers a line of a script takes.

    Args:
        line: of the script.
        seed: of the motion.
        number: of the line: each draws for itself.
    """
    names = [line.controller, *others_of(line)]
    return names[np.random.default_rng((seed, number)).integers(len(names))]


def gather(
    context: bpy.types.Context, motion: bpy.types.Object, actor: Actor, numbers: SceneNumbers
) -> ControlJob:
    """Read one motion.

    Args:
        context: Blender's context.
        motion: the Motion object.
        actor: who moves.
        numbers: rate, units and gravity.

    Raises:
        UserError: the figure is none any more, or a line of the script names no controller.
    """
    settings = motion.poise_motion.control
    start, end = frame_range(context.scene, motion)
    figure, body, _numbers = known(context, motion)
    begins = start_of(motion, figure, body, numbers.unit_scale)
    for x, value in zip(figure.coordinates(body), begins, strict=True):
        if not abs(value) < FASTEST:
            raise UserError(
                f"{motion.name} begins with {x.name} {x.spoken(value)}: set another one under Start"
            )
    if not settings.slew >= 0.0:
        raise UserError(f"Slew of {motion.name} is {settings.slew}: it must be a number from 0 on")
    by_name = {item.name: item for item in settings.controllers}
    plans: dict[str, Plan] = {}
    stored: list[bytes | None] = []
    told: list[Problem] = []
    lines = []
    for number, line in enumerate(settings.script, 1):
        named = drawn(line, settings.seed, number)
        item = by_name.get(named)
        if item is None:
            raise UserError(
                f"Line {number} of the script of {motion.name} names no controller: choose one"
                if not named else
                f"Line {number} of the script of {motion.name} names {named}, which is "
                "none of its controllers: choose another one"
            )
        if item.name not in plans:
            plans[item.name] = plan_of(item, figure, body, numbers.unit_scale)
            kept, source = None, tables.source_of(actor.machine, body, plans[item.name])
            try:
                if not tables.is_known(source):
                    kept = tables.kept(motion, item.number)
            except store.Spoilt:
                told.append(Problem(
                    "CONTROLLER_DAMAGED",
                    f"The stored table of {item.name} is damaged: it is not used", "INFO",
                    remedy="Click Build, to store it anew",
                ))
            stored.append(None if kept is None else kept.data)
        # Blender keeps 0.4 as a little more, and a script would switch one step late.
        seconds = round(line.seconds, 6)
        lines.append(Line(
            list(plans).index(item.name), seconds, line.until == "REACHED",
            region_of(line, f"Line {number} of the script of {motion.name}", figure, body,
                      numbers.unit_scale),
            line.until == "WHENEVER",
        ))
    plane = figure.plane(motion, actor, body, numbers)
    struck = _struck(motion, actor, figure, body, plane, numbers, start, told)
    return ControlJob(
        name=motion.name, character=actor.name, kind=actor.kind, motion=motion.poise_motion.kind,
        start_frame=start, end_frame=end, settings=None, numbers=numbers,
        links=links_of(actor.joints, numbers.unit_scale), machine=actor.machine, body=body,
        start=begins, plans=tuple(plans.values()),
        stored=tuple(stored), script=tuple(lines), slew=settings.slew, told=tuple(told),
        struck=struck, plane=plane,
    )


def _struck(
    motion, actor: Actor, figure: MachineFigure, body: Any, plane: Plane | None,
    numbers: SceneNumbers, start: int, told: list[Problem],
) -> Struck | None:
    """What disturbs a figure, and what of it does nothing."""
    items = motion.poise_motion.pose_timing.disturbances
    if not items:
        return None
    bones = figure.links(body)
    if plane is None:
        told.append(Problem(
            "NOT_KNOCKED", f"{', '.join(item.name for item in items)} cannot move a "
            f"{figure.label.lower()}, whose wheels never slip", "INFO",
            remedy="Remove it under Disturbances",
        ))
        return None
    for item in items:
        if item.kind == "PUSH" and item.bone not in bones:
            told.append(Problem(
                "NOT_KNOCKED", f"{item.name} pushes {item.bone or 'no bone'}, which is no link of "
                f"{actor.name}", "INFO", remedy=f"Push {' or '.join(bones)}",
            ))
    tips = np.zeros((len(bones), 3))  # the figure knows where its links end
    found = tuple(disturbances(items, bones, tips, numbers, start))
    return Struck(found, plane, np.array((0.0, 0.0, -numbers.gravity))) if found else None
