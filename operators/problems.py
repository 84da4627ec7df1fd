# SPDX-License-Identifier: GPL-3.0-or-later
"""The problem list: going to a problem, and applying what would help."""

from math import floor

import bpy
from bpy.props import IntProperty, StringProperty

from ..addon import baking, motions
from ..addon.base_operator import SettingsOperator
from ..addon.errors import UserError
from ..addon.placement import moves as is_moving
from ..addon.placement import world_matrix
from ..addon.scene import course
from ..addon.scene.sampling import is_animated
from ..addon.scene.timing import scene_numbers
from ..addon.settings.rows import Rows
from ..addon.show import preview


class _ProblemOperator(SettingsOperator):
    index: IntProperty(
        name="Problem",
        description="Place in the list; -1 for the chosen one",
        default=-1,
        min=-1,
        options={"HIDDEN", "SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context):
        character = motions.active_character(context)
        # Not whether there is a problem: what has just been fixed has to be redone, too.
        if character is None or motions.active_motion(character) is None:
            cls.poll_message_set("There is no problem: no character with a motion is active")
            return False
        return True

    def _problem(self, context, motion):
        listed = preview.problems(motion, context.scene)
        if not listed:
            raise UserError(f"{motion.name} has no problem")
        index = motion.poise_motion.problem_index if self.index < 0 else self.index
        if index >= len(listed):
            raise UserError(f"There is no problem number {index}: {len(listed)} are listed")
        return index, listed[index]


class POISE_OT_problem_show(_ProblemOperator, bpy.types.Operator):
    """Go to the frame of the problem and make its bone the active one"""

    bl_idname = "poise.problem_show"
    bl_label = "Go to Problem"

    def run(self, context):
        character, motion = motions.require_motion(context)
        index, problem = self._problem(context, motion)
        motion.poise_motion.problem_index = index
        if problem.frame is not None:
            whole = floor(problem.frame)
            context.scene.frame_set(whole, subframe=problem.frame - whole)
        bone = character.data.bones.get(problem.bone) if problem.bone else None
        if bone is not None:
            character.data.bones.active = bone
        return ""


# Problems whose fixes are alternatives: one of them is enough.
ALTERNATIVES = {"NO_WAY"}


def _gate(motion, name):
    found = [g for g in course.gates_of(motion.poise_motion.path.gates) if g.name == name]
    if not found:
        raise UserError(f"There is no gate called {name} any more: click Plan")
    return found[0]


def _setting(motion, path):
    """(group, row) of a setting that a fix names."""
    group_name, _, name = path.partition(".")
    group = getattr(motion.poise_motion, group_name, None)
    rows = group.ROWS if isinstance(group, Rows) else ()
    for row in rows:
        if row.name == name:
            return group, row
    raise UserError(f"{motion.name} has no setting {path}: see the problem list again")


class POISE_OT_problem_fix(_ProblemOperator, bpy.types.Operator):
    """Change the settings that would help against this problem"""

    bl_idname = "poise.problem_fix"
    bl_label = "Fix Problem"

    choice: IntProperty(
        name="Choice",
        description="Which change to make where each of several would help, counted from 0",
        default=0,
        min=0,
        options={"HIDDEN", "SKIP_SAVE"},
    )
    changes: StringProperty(
        name="Changes",
        description="Settings and their values in SI units as JSON, whatever is listed meanwhile; "
        "empty for those of the problem",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    def _fixes(self, context, motion):
        if self.changes:
            return baking.fixes_of(self.changes)
        _index, problem = self._problem(context, motion)
        fixes = problem.fix
        if problem.code not in ALTERNATIVES or not fixes:
            return fixes
        if self.choice >= len(fixes):
            raise UserError(f"There is no change number {self.choice}: {len(fixes)} would help")
        return fixes[self.choice : self.choice + 1]

    def run(self, context):
        _character, motion = motions.require_motion(context)
        fixes = self._fixes(context, motion)
        if not fixes:
            raise UserError("Poise knows no setting that would help here")
        scale = scene_numbers(context.scene).unit_scale
        changes, moves = [], []
        for path, value in fixes:
            group_name, _, name = path.partition(".")
            if group_name == "gate":
                gate = _gate(motion, name)
                if is_moving(gate):
                    raise UserError(f"{gate.name} is animated: move it {value:.2f} m along its X")
                moves.append((gate, value / scale))
                continue
            group, row = _setting(motion, path)
            value /= scale**row.power
            if group.bl_rna.properties[name].type == "INT":
                value = round(value)
            if is_animated(motion, group_name, (name,)):
                raise UserError(
                    f"{row.label} has keys or a driver, which would undo the fix: bring them to "
                    f"{value:.4g} where the problem is"
                )
            changes.append((group, name, row.label, value))
        for group, name, _label, value in changes:
            setattr(group, name, value)
        for gate, offset in moves:
            # Along its own X axis, in the world.
            matrix = world_matrix(gate)
            axis = matrix.col[0].to_3d()
            axis.z = 0.0
            matrix.translation += offset * axis.normalized()
            gate.matrix_world = matrix
        done = [f"the place of {gate.name}" for gate, _offset in moves]
        done += [label for _group, _name, label, _value in changes]
        return "Changed " + ", ".join(done)


CLASSES = (POISE_OT_problem_show, POISE_OT_problem_fix)
