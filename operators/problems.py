# SPDX-License-Identifier: GPL-3.0-or-later
"""The problem list: going to a problem, and applying what would help."""

import json
from math import floor

import bpy
from bpy.props import IntProperty

from ..addon import motions
from ..addon.base_operator import SettingsOperator
from ..addon.errors import UserError
from ..addon.placement import moves as is_moving
from ..addon.placement import world_matrix
from ..addon.scene import course
from ..addon.scene.sampling import is_animated
from ..addon.scene.timing import scene_numbers


class _ProblemOperator(SettingsOperator):
    index: IntProperty(
        name="Problem", description="Place in the list; -1 for the chosen one", default=-1, min=-1
    )

    @classmethod
    def poll(cls, context):
        character = motions.active_character(context)
        motion = motions.active_motion(character) if character else None
        if motion is None or not motion.poise_motion.problems:
            cls.poll_message_set("There is no problem")
            return False
        return True

    def _problem(self, context):
        character, motion = motions.require_motion(context)
        settings = motion.poise_motion
        index = settings.problem_index if self.index < 0 else self.index
        if not 0 <= index < len(settings.problems):
            raise UserError(f"There is no problem number {index}")
        return character, motion, index, settings.problems[index]


class POISE_OT_problem_show(_ProblemOperator, bpy.types.Operator):
    """Go to the frame of the problem and make its bone the active one"""

    bl_idname = "poise.problem_show"
    bl_label = "Go to Problem"

    def run(self, context):
        character, motion, index, problem = self._problem(context)
        motion.poise_motion.problem_index = index
        if problem.has_frame:
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


class POISE_OT_problem_fix(_ProblemOperator, bpy.types.Operator):
    """Change the settings that would help against this problem"""

    bl_idname = "poise.problem_fix"
    bl_label = "Fix Problem"

    choice: IntProperty(
        name="Choice",
        description="Which change to make where each of several would help, counted from 0",
        default=0,
        min=0,
    )

    def run(self, context):
        _character, motion, index, problem = self._problem(context)
        if not problem.fix:
            raise UserError("Poise knows no setting that would help here")
        scale = scene_numbers(context.scene).unit_scale
        changes, moves = [], []
        fixes = json.loads(problem.fix)
        if problem.code in ALTERNATIVES:
            if self.choice >= len(fixes):
                raise UserError(f"There is no change number {self.choice}: {len(fixes)} would help")
            fixes = fixes[self.choice : self.choice + 1]
        for path, value in fixes:
            group_name, _, name = path.partition(".")
            if group_name == "gate":
                gate = _gate(motion, name)
                if is_moving(gate):
                    raise UserError(f"{gate.name} is animated: move it {value:.2f} m along its X")
                moves.append((gate, value / scale))
                continue
            group = getattr(motion.poise_motion, group_name)
            label = group.bl_rna.properties[name].name
            value /= scale ** group.power(name)
            if group.bl_rna.properties[name].type == "INT":
                value = round(value)
            if is_animated(motion, group_name, (name,)):
                raise UserError(
                    f"{label} has keys or a driver, which would undo the fix: bring them to "
                    f"{value:.4g} where the problem is"
                )
            changes.append((group, name, label, value))
        for group, name, _label, value in changes:
            setattr(group, name, value)
        for gate, offset in moves:
            # Along its own X axis, in the world.
            matrix = world_matrix(gate)
            axis = matrix.col[0].to_3d()
            axis.z = 0.0
            matrix.translation += offset * axis.normalized()
            gate.matrix_world = matrix
        motion.poise_motion.problem_index = index
        done = [f"the place of {gate.name}" for gate, _offset in moves]
        done += [label for _group, _name, label, _value in changes]
        return "Changed " + ", ".join(done)


CLASSES = (POISE_OT_problem_show, POISE_OT_problem_fix)
