# SPDX-License-Identifier: GPL-3.0-or-later
"""Footprints: shown as objects, adapted to, reset, bent, retimed, copied and pasted."""

import json
from dataclasses import replace
from math import radians

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..addon import motions, pipeline
from ..addon.base_operator import SolvingOperator
from ..addon.context import let_undo_see
from ..addon.errors import UserError
from ..addon.scene.timing import scene_numbers
from ..addon.shots import footprints
from ..solvers.legged import runs
from .gait import OfGait, _GaitOperator


class _Footprints(OfGait, SolvingOperator):
    """Mixin: reads footprint objects, solves, and brings the objects up to date."""

    def gather(self, context):
        _character, motion = motions.require_motion(context)
        context.view_layer.update()
        job = pipeline.gather(context, motion)
        if job.before:
            raise UserError(
                f"{motion.name} goes on from {job.before[-1].name}: edit the footprints of the "
                "first of them, or clear After"
            )
        if job.in_place or job.cycle:
            raise UserError(
                f"{motion.name} is a cycle or stays in place: clear Cycle and In Place"
            )
        self._motion = motion.name
        self._unit = scene_numbers(context.scene).unit_scale
        seen, many = footprints.read(motion, self._unit)
        return job, seen, many, self.arguments(context, motion)

    def arguments(self, context, motion):
        """What else of Blender the change needs; main thread only."""
        return None

    def change(self, solved, seen, arguments):
        """Edits as they should be: pure."""
        ground = solved.job.settings.ground
        return footprints.new_edits(seen, solved.motion, solved.job.settings.edits, ground)

    def solve(self, work, progress):
        job, seen, _many, arguments = work
        solved = pipeline.solve(job, lambda done: progress(0.5 * done))
        edits = self.change(solved, seen, arguments)
        # States of the body are compared to find out whether the motion has changed since they
        # were stored; these edits are made of this motion.
        settings = replace(job.settings, edits=edits, pins=())
        again = replace(job, settings=settings)
        return edits, pipeline.solve(again, lambda done: progress(0.5 + 0.5 * done))

    def apply(self, context, work, result) -> str:
        _job, seen, many, _arguments = work
        edits, solved = result
        motion = bpy.data.objects[self._motion]
        before = len(motion.poise_motion.gait.footprints)
        footprints.store(motion, edits, solved.motion, solved.job.own, self._unit)
        if self.shows(motion):
            footprints.show(context.scene, motion, solved.motion, self._unit)
        lost = sum(p.code == "EDIT_LOST" for p in solved.motion.problems)
        unreached = sum(p.code == "OUT_OF_REACH" for p in solved.motion.problems)
        message = self.message(motion, solved.motion, before, len(edits), seen)
        message += f", {lost} lost" if lost else ""
        message += f", {_count(many, 'duplicate')} removed" if many else ""
        message += ", one out of reach: see the problems" if unreached else ""
        return message

    def shows(self, motion) -> bool:
        """Whether objects are made or brought up to date."""
        return bool(footprints.objects_of(motion))

    def message(self, motion, solved, before, after, seen) -> str:
        """The sentence for the report."""
        touched = sum(each.touched for each in seen)
        spans = ", ".join(f"{a:.2f} to {b:.2f} s" for a, b in solved.windows)
        where = f", solved again from {spans}" if spans else ""
        return f"{motion.name}: {_count(touched)} adapted to, {after} edited in all{where}"


def _count(number: int, what: str = "footprint") -> str:
    """How many of something, in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"


class POISE_OT_footprints_edit(_Footprints, bpy.types.Operator):
    """Show the footprints as objects to move, turn and scale; what you have moved is adapted to"""

    bl_idname = "poise.footprints_edit"
    bl_label = "Edit Footprints"

    def shows(self, motion):
        return True

    def message(self, motion, solved, before, after, seen):
        count = _count(len(solved.footprints))
        return f"{motion.name}: {count} to edit, {after} edited so far"


class POISE_OT_footprints_adapt(_Footprints, bpy.types.Operator):
    """Solve the motion again around the footprints that you moved, turned or retimed"""

    bl_idname = "poise.footprints_adapt"
    bl_label = "Adapt"


class POISE_OT_footprints_reset(_Footprints, bpy.types.Operator):
    """Give footprints back the places and times that the gait has for them"""

    bl_idname = "poise.footprints_reset"
    bl_label = "Reset Footprints"

    which: EnumProperty(
        name="Which",
        description="Which footprints",
        items=(
            ("SELECTED", "Selected", "Those whose objects are selected"),
            ("LISTED", "Listed", "The chosen one of the list"),
            ("LOST", "Lost", "Those of steps that are no more"),
            ("ALL", "All", "Every edited footprint"),
        ),
    )

    def arguments(self, context, motion):
        gait = motion.poise_motion.gait
        if self.which == "LISTED":
            if not gait.footprints_index < len(gait.footprints):
                raise UserError(f"{motion.name} has no edited footprints")
            item = gait.footprints[gait.footprints_index]
            return {(item.leg, item.index)}
        if self.which == "SELECTED":
            return {key for key, _obj in _selected(context, motion)}
        return None

    def change(self, solved, seen, keys):
        known = {(m.leg, m.index) for m in solved.motion.footprints}
        edits = solved.job.settings.edits
        if self.which == "ALL":
            return ()
        if self.which == "LOST":
            return tuple(edit for edit in edits if (edit.leg, edit.index) in known)
        return tuple(edit for edit in edits if (edit.leg, edit.index) not in keys)

    def message(self, motion, solved, before, after, seen):
        return f"{motion.name}: {_count(before - after)} reset, {after} edited in all"


class POISE_OT_footprints_remove(_GaitOperator, bpy.types.Operator):
    """Remove the footprint objects; what was adapted to stays in the motion"""

    bl_idname = "poise.footprints_remove"
    bl_label = "Remove Footprint Objects"

    def run(self, context):
        _character, motion = motions.require_motion(context)
        character = motion.poise_motion.character
        own = context.view_layer.objects.active in footprints.objects_of(motion)
        count = footprints.remove(motion)
        if own and character is not None and character.name in context.view_layer.objects:
            context.view_layer.objects.active = character
        return f"{motion.name}: {_count(count, 'object')} removed"


class _Run(_Footprints):
    """Mixin: changes the run of footprints whose objects are selected."""

    def arguments(self, context, motion):
        keys = [key for key, _obj in _selected(context, motion)]
        if not keys:
            raise UserError("No footprints are selected: click Edit Footprints and select some")
        return keys

    def changed(self, run, everything):
        """The run as it should be."""
        raise NotImplementedError

    def change(self, solved, seen, keys):
        motion = solved.motion
        edits = super().change(solved, seen, keys)
        marks = {(m.leg, m.index): m for m in footprints.marks_of(seen, motion)}
        run = [marks[key] for key in keys if key in marks]
        base = self._base = motion.footprints_before or motion.footprints
        made = self.changed(run, list(motion.footprints))
        new = runs.edits_between(base, made, footprints.STALE)
        touched = {(mark.leg, mark.index) for mark in made}
        return tuple(edit for edit in edits if (edit.leg, edit.index) not in touched) + new


class POISE_OT_footprints_bend(_Run, bpy.types.Operator):
    """Bend the selected footprints into an arc and adapt to them"""

    bl_idname = "poise.footprints_bend"
    bl_label = "Bend Footprints"

    angle: FloatProperty(
        name="Angle",
        description="How far the last of them is turned, to the left",
        default=radians(45.0),
        soft_min=-radians(180.0),
        soft_max=radians(180.0),
        subtype="ANGLE",
    )

    def changed(self, run, everything):
        return runs.bend(run, self.angle)


class POISE_OT_footprints_scale(_Run, bpy.types.Operator):
    """Lengthen or shorten the selected footprints' strides and adapt to them"""

    bl_idname = "poise.footprints_scale"
    bl_label = "Scale Footprints"

    factor: FloatProperty(
        name="Along", description="Scale along their way", default=1.2, min=0.01, soft_max=3.0
    )
    across: FloatProperty(
        name="Across", description="Scale across it", default=1.0, min=-5.0, max=5.0
    )

    def changed(self, run, everything):
        return runs.scale(run, self.factor, self.across)


class POISE_OT_footprints_retime(_Run, bpy.types.Operator):
    """Shift or stretch the times of the selected footprints and adapt to them"""

    bl_idname = "poise.footprints_retime"
    bl_label = "Retime Footprints"

    shift: FloatProperty(
        name="Later", description="Seconds by which they come later", default=0.1,
        soft_min=-1.0, soft_max=1.0, unit="TIME_ABSOLUTE",
    )
    factor: FloatProperty(
        name="Stretch", description="Scale of the times after the first touchdown", default=1.0,
        min=0.05, soft_max=3.0,
    )

    def changed(self, run, everything):
        return runs.retime(run, self.shift, self.factor)


class POISE_OT_footprints_mirror(_Run, bpy.types.Operator):
    """Exchange left and right in what was changed about the selected footprints, and adapt"""

    bl_idname = "poise.footprints_mirror"
    bl_label = "Mirror Footprints"

    def changed(self, run, everything):
        return runs.mirror(run, self._base)


class POISE_OT_footprints_copy(_Run, bpy.types.Operator):
    """Copy the selected footprints, as seen from the first of them"""

    bl_idname = "poise.footprints_copy"
    bl_label = "Copy Footprints"
    bl_options = {"REGISTER"}

    def solve(self, work, progress):
        job, seen, _many, keys = work
        solved = pipeline.solve(job, progress)
        marks = {(m.leg, m.index): m for m in footprints.marks_of(seen, solved.motion)}
        return runs.copy_run([marks[key] for key in keys if key in marks])

    def apply(self, context, work, copied):
        context.window_manager.poise_footprints = json.dumps(runs.run_as_data(copied))
        return f"{_count(len(copied.legs))} copied"


class POISE_OT_footprints_paste(_Run, bpy.types.Operator):
    """Paste copied footprints from the first selected one on and adapt to them"""

    bl_idname = "poise.footprints_paste"
    bl_label = "Paste Footprints"

    times: BoolProperty(
        name="Times", description="Paste touchdowns and liftoffs too", default=True
    )
    mirrored: BoolProperty(
        name="Mirrored", description="Exchange left and right", default=False
    )

    def arguments(self, context, motion):
        keys = super().arguments(context, motion)
        text = context.window_manager.poise_footprints
        if not text:
            raise UserError("No footprints have been copied")
        return keys, text

    def change(self, solved, seen, arguments):
        keys, self._text = arguments
        return super().change(solved, seen, keys)

    def changed(self, run, everything):
        try:
            copied = runs.run_from_data(json.loads(self._text))
        except ValueError as error:
            raise UserError("What was copied is no run of footprints: copy some anew") from error
        return runs.paste_run(copied, everything, runs.first_of(run), self.times, self.mirrored)


def _selected(context, motion) -> list[tuple[tuple[str, int], bpy.types.Object]]:
    """((leg, step), object) of the selected footprint objects of a motion."""
    chosen = set(context.view_layer.objects.selected)
    found = [
        ((obj.poise_footprint.leg, obj.poise_footprint.index), obj)
        for obj in footprints.objects_of(motion)
        if obj in chosen
    ]
    return list(dict(found).items())


class POISE_OT_footprints_select(_GaitOperator, bpy.types.Operator):
    """Select the footprints from the active one on"""

    bl_idname = "poise.footprints_select"
    bl_label = "Select Footprints"

    which: EnumProperty(
        name="Which",
        description="Which footprints",
        items=(
            ("AFTER", "From Here On", "All that touch down no earlier than the active one"),
            ("LEG", "Same Leg", "All of the active one's leg"),
            ("EDITED", "Edited", "All that were edited"),
        ),
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        found = footprints.objects_of(motion)
        if not found:
            raise UserError(f"{motion.name} shows no footprints: click Edit Footprints")
        there = set(context.view_layer.objects)
        found = [obj for obj in found if obj in there]
        if not found:
            raise UserError(
                f"The footprints of {motion.name} are not in this view layer: include their "
                "collection"
            )
        active = context.view_layer.objects.active
        edited = {(item.leg, item.index) for item in motion.poise_motion.gait.footprints}
        if self.which != "EDITED" and active not in found:
            raise UserError("No footprint is active: click one")
        count = 0
        for obj in found:
            info = obj.poise_footprint
            chosen = {
                "AFTER": lambda info: info.on >= active.poise_footprint.on,
                "LEG": lambda info: info.leg == active.poise_footprint.leg,
                "EDITED": lambda info: (info.leg, info.index) in edited,
            }[self.which](info)
            obj.select_set(chosen)
            count += chosen
        let_undo_see(context)
        return f"{_count(count)} selected"


CLASSES = (
    POISE_OT_footprints_edit,
    POISE_OT_footprints_adapt,
    POISE_OT_footprints_reset,
    POISE_OT_footprints_remove,
    POISE_OT_footprints_bend,
    POISE_OT_footprints_scale,
    POISE_OT_footprints_retime,
    POISE_OT_footprints_mirror,
    POISE_OT_footprints_copy,
    POISE_OT_footprints_paste,
    POISE_OT_footprints_select,
)
