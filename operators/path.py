# SPDX-License-Identifier: GPL-3.0-or-later
"""Planning a way along a path, and gates to lead it through."""

from dataclasses import dataclass
from math import atan2, degrees, isfinite, pi, sin

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty

from ..addon import baking, motions, pipeline
from ..addon.base_operator import SettingsOperator, SolvingOperator
from ..addon.context import object_mode
from ..addon.errors import UserError
from ..addon.placement import world_matrix
from ..addon.scene import course
from ..addon.scene.timing import past_the_end, scene_numbers
from ..addon.shots import gates
from ..addon.show import preview
from ..addon.texts import tr
from ..solvers.path.course import make_course
from ..solvers.path.levels import first_level, ground_along

# More gates than this are hardly meant.
MOST_GATES = 500


class _PathMotion:
    """Mixin: only where the active motion goes along a path."""

    @classmethod
    def poll(cls, context):
        character = motions.active_character(context)
        if character is None:
            cls.poll_message_set(
                "No character is active: select an armature, its mesh or its motion"
            )
            return False
        motion = motions.active_motion(character)
        if motion is None or motion.poise_motion.kind != "PATH":
            cls.poll_message_set("The active motion goes along no path: set Motion to Path")
            return False
        return True


@dataclass(frozen=True)
class _Plan:
    """What is to be planned; the motion by identity, since it may be freed meanwhile."""

    motion: int
    job: pipeline.Job


class POISE_OT_path_plan(_PathMotion, SolvingOperator, bpy.types.Operator):
    """Find a way along the path, past the obstacles and through the gates"""

    bl_idname = "poise.path_plan"
    bl_label = "Plan"

    def gather(self, context):
        _character, motion = motions.require_motion(context)
        return _Plan(motion.session_uid, pipeline.gather(context, motion))

    def solve(self, job, progress):
        try:
            return pipeline.solve(job.job, progress)
        except pipeline.NoMotion as none:
            return none

    def apply(self, context, job, result):
        found = [obj for obj in bpy.data.objects if obj.session_uid == job.motion]
        if not found or not motions.is_motion(found[0]):
            raise UserError(f"{job.job.name} was removed while it was planned")
        motion, start = found[0], job.job.start_frame
        baking.list_problems(motion, tuple(result.problems), start, job.job.numbers.fps)
        if isinstance(result, pipeline.NoMotion):
            self.report({"WARNING"}, tr(str(result)))
            return f"{motion.name} does not get away from its start: see the problem list"
        settings = motion.poise_motion
        if settings.range_mode == "OWN":
            settings.frame_end = result.job.end_frame
        preview.keep(context, motion, result)
        path, solved = result.path, result.motion
        late = past_the_end(context.scene, result.job.end_frame)
        if late:
            self.report({"WARNING"}, tr(f"{late}: use Set Scene Range"))
        if not path.finished:
            self.report({"WARNING"}, tr(f"{motion.name} does not get to the end of its path"))
        return (
            f"{motion.name}: {solved.distance[-1]:.1f} m in {solved.time[-1]:.2f} s, at most "
            f"{path.max_distance:.2f} m from the path, {degrees(path.max_lean):.0f}° of lean"
        )


def _course_of(context, motion):
    """The path as a course in metres, or one sentence."""
    settings = motion.poise_motion.path
    if settings.curve is None:
        raise UserError(f"{motion.name} has no path: choose a curve in the Path panel")
    unit = scene_numbers(context.scene).unit_scale
    lines, cyclic = course.curve_lines(settings.curve, unit)
    return make_course(lines, cyclic, window=5.0), unit


def _heights(motion, places: np.ndarray, unit: float, way, along: np.ndarray) -> np.ndarray:
    """Heights in metres of the ground at places (n, 2): of the terrain, or the path's level.

    Of several levels of terrain that counts on which the path is at arc lengths `along` (n,).
    """
    terrain = motion.poise_motion.path.terrain
    heights = np.full(len(places), way.height)
    if terrain is None:
        return heights
    everything = np.concatenate((places, way.points[way.along <= way.length]))
    low, high = everything.min(axis=0) - 1.0, everything.max(axis=0) + 1.0
    surface = course.read_terrain(terrain, low, high, unit).surface
    first = first_level(surface, np.array((*way.points[0], way.height)))
    near = ground_along(surface, way, along, first)
    found = surface.height(*places.T, np.where(np.isfinite(near), near, np.inf))
    return np.where(np.isfinite(found), found, heights)


class POISE_OT_gate_add(_PathMotion, SettingsOperator, bpy.types.Operator):
    """Add a gate of two poles at the 3D cursor, across the path; it is passed after the others"""

    bl_idname = "poise.gate_add"
    bl_label = "Add Gate"

    width: FloatProperty(
        name="Width",
        description="Distance between the poles in metres",
        default=4.0,
        min=0.1,
        soft_max=20.0,
        max=1000.0,
    )
    on_path: BoolProperty(
        name="Onto the Path",
        description="Put the gate where the path comes nearest to the cursor",
        default=False,
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        unit = scene_numbers(context.scene).unit_scale
        place = np.array(context.scene.cursor.location, dtype=float)
        if not all(isfinite(value) for value in place):
            raise UserError("The 3D cursor stands nowhere: put it back with Shift C")
        facing = world_matrix(motion).col[1].to_3d() * -1.0
        yaw = atan2(facing.x, -facing.y)
        if motion.poise_motion.path.curve is not None:
            way, unit = _course_of(context, motion)
            _, _, along = way.nearest(*(place[:2] * unit))
            points, direction = way.locate(np.array([along]))
            yaw = atan2(direction[0, 0], -direction[0, 1])
            if self.on_path:
                height = _heights(motion, points, unit, way, np.array([along]))
                place = np.array((*points[0], height[0])) / unit
        elif self.on_path:
            raise UserError(f"{motion.name} has no path: choose a curve in the Path panel")
        with object_mode(context):
            collection = gates.collection_of(context.scene, motion)
            numbers = [gate.poise_gate.number for gate in course.gates_of(collection)]
            gate = gates.add(
                collection, place, yaw, self.width / unit, max(numbers, default=0) + 1, unit
            )
        return f"Added {gate.name}"


class POISE_OT_slalom_course_add(_PathMotion, SettingsOperator, bpy.types.Operator):
    """Set gates along the path, left and right of it in turn"""

    bl_idname = "poise.slalom_course_add"
    bl_label = "Add Slalom Course"

    spacing: FloatProperty(
        name="Spacing",
        description="From gate to gate along the path, in metres",
        default=15.0,
        min=1.0,
        soft_min=5.0,
        soft_max=40.0,
        max=10_000.0,
    )
    offset: FloatProperty(
        name="Offset",
        description="How far beyond the path the inner pole of each gate stands, in metres: the "
        "larger, the wider the turns",
        default=0.5,
        min=-1000.0,
        soft_min=-2.0,
        soft_max=4.0,
        max=1000.0,
    )
    rhythm: FloatProperty(
        name="Rhythm",
        description="How much the spacing changes along the course: 0 keeps an even rhythm",
        default=0.0,
        min=0.0,
        soft_max=0.4,
        max=0.8,
        subtype="FACTOR",
    )
    width: FloatProperty(
        name="Width",
        description="Distance between the poles of a gate in metres",
        default=4.0,
        min=0.1,
        soft_max=20.0,
        max=1000.0,
    )
    run_in: FloatProperty(
        name="Run In",
        description="From the start of the path to the first gate, in metres",
        default=20.0,
        min=0.0,
        soft_max=60.0,
        max=100_000.0,
    )
    replace: BoolProperty(
        name="Replace",
        description="Remove the gates that there were before",
        default=True,
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        way, unit = _course_of(context, motion)
        along = []
        place = self.run_in
        last = way.length - 0.5 * self.spacing
        while place < last and len(along) <= MOST_GATES:
            along.append(place)
            # One long wave of spacing over twelve gates.
            swing = 1.0 + self.rhythm * sin(2.0 * pi * len(along) / 12.0)
            place += self.spacing * swing
        if not along:
            raise UserError(
                f"The path is {way.length:.1f} m long, too short for a gate after "
                f"{self.run_in:g} m: draw a longer one, or make Run In shorter"
            )
        if len(along) > MOST_GATES:
            raise UserError(
                f"The path is {way.length:.0f} m long and takes more than {MOST_GATES} gates: "
                "make Spacing larger"
            )
        points, direction = way.locate(np.array(along))
        with object_mode(context):
            collection = gates.collection_of(context.scene, motion)
            if self.replace:
                gates.remove_all(collection)
            first = max((g.poise_gate.number for g in course.gates_of(collection)), default=0)
            side = np.where(np.arange(len(points)) % 2 == 0, 1.0, -1.0)
            side *= self.offset + 0.5 * self.width
            places = points + side[:, None] * np.stack((-direction[:, 1], direction[:, 0]), axis=1)
            heights = _heights(motion, places, unit, way, np.array(along))
            for i, (where, height, ahead) in enumerate(
                zip(places, heights, direction, strict=True)
            ):
                gates.add(
                    collection,
                    np.array((*where, height)) / unit,
                    atan2(ahead[0], -ahead[1]),
                    self.width / unit,
                    first + i + 1,
                    unit,
                )
        return f"{len(along)} gates stand along {motion.poise_motion.path.curve.name}"


CLASSES = (POISE_OT_path_plan, POISE_OT_gate_add, POISE_OT_slalom_course_add)
