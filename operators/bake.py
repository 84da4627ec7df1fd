# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake, clear and check."""

from dataclasses import dataclass

import bpy
from bpy.props import EnumProperty

from ..addon import baking, families, motions, pipeline
from ..addon.base_operator import SettingsOperator, SolvingOperator
from ..addon.context import keep_selection, object_mode
from ..addon.errors import UserError
from ..addon.rigs.controls import control_rig
from ..addon.steps import part
from ..solvers.errors import Cancelled


@dataclass(frozen=True)
class _Jobs:
    """What is to be solved; motions by identity, since objects may be freed meanwhile."""

    motions: tuple[int, ...]
    jobs: tuple[pipeline.Job, ...]


def _with_motion(cls, context):
    character = motions.active_character(context)
    if character is None:
        cls.poll_message_set("No character is active: select an armature, its mesh or its motion")
        return False
    if not motions.motions_of(character):
        cls.poll_message_set("The character has no motion: click Add Motion")
        return False
    return True


def _character(motion: bpy.types.Object) -> bpy.types.Object:
    return motion.poise_motion.character


def _is_on_rig(motion: bpy.types.Object) -> bool:
    """Whether a motion turns joints of a rig that Poise's controls drive."""
    return families.turns_joints(motion) and control_rig.rig_of(_character(motion)) is not None


def _solve_all(work: _Jobs, progress):
    count = len(work.jobs)
    return [
        pipeline.solve(job, lambda fraction, i=i: progress((i + fraction) / count))
        for i, job in enumerate(work.jobs)
    ]


def _found(work: _Jobs):
    there = {obj.session_uid: obj for obj in bpy.data.objects if motions.is_motion(obj)}
    for identity, job in zip(work.motions, work.jobs, strict=True):
        if identity not in there:
            raise UserError(f"{job.name} was removed while it was solved: nothing was baked")
    return [there[identity] for identity in work.motions]


def _in_order(character) -> list[bpy.types.Object]:
    """A character's motions, each after the one that it continues or is on top of."""
    found: list[bpy.types.Object] = []
    waiting = motions.motions_of(character)
    while waiting:
        free = [
            m
            for m in waiting
            if m.poise_motion.after not in waiting and m.poise_motion.base not in waiting
        ]
        if not free:
            raise UserError(
                f"Motions of {character.name} continue each other in a circle: clear one After"
            )
        found += free
        waiting = [m for m in waiting if m not in free]
    return found


class _BakeOperator(SolvingOperator):
    edited_keys: EnumProperty(
        name="Edited Keys",
        description="What to do when keys were edited by hand since the last bake",
        items=(
            ("MOTION", "As Set", "As the motion's own setting says"),
            ("OVERWRITE", "Overwrite", "Replace the edited keys"),
            ("KEEP_EDITS", "Keep Edits", "Keep the edits in an additive NLA layer on top"),
            ("NEW_ACTION", "New Action", "Leave the edited action alone"),
        ),
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context):
        return _with_motion(cls, context)

    def chosen(self, context):
        """Motion objects to bake, in the order in which they depend on each other."""
        raise NotImplementedError

    def onto(self, motion) -> str:
        """What of a rig that follows Poise's controls a motion keys; "" for the controls."""
        return ""

    def look(self, context, motion, solved, prepared, together):
        """Refuse before anything is written."""
        if prepared is not None:
            baking.check_bones(context, motion, prepared)
            return
        baking.check(context, motion, solved)
        together.look(context, motion, solved)

    def write(self, context, motion, solved, prepared, on_edited, together):
        """Key one motion; numbers of keys, frames and bones."""
        if prepared is not None:
            return baking.bake_to_bones(
                context, motion, solved, on_edited, self.onto(motion), prepared,
                together=together,
            )
        return baking.bake(context, motion, solved, on_edited, together)

    def gather(self, context):
        found = self.chosen(context)
        if not found:
            raise UserError("There is no motion to bake")
        jobs = tuple(pipeline.gather(context, motion) for motion in found)
        return _Jobs(tuple(motion.session_uid for motion in found), jobs)

    def solve(self, job, progress):
        return _solve_all(job, progress)

    def prepare(self, context, job, result):
        found = _found(job)
        pairs = []
        for i, (motion, solved) in enumerate(zip(found, result, strict=True)):
            prepared = yield from part(self.prepared(context, motion, solved), i, len(found))
            pairs.append((solved, prepared))
        return pairs

    def prepared(self, context, motion, solved):
        """Steps to what is to be keyed on a rig that follows Poise's controls, or None."""
        if not self.onto(motion):
            return None
        return (yield from baking.prepare_bones(context, motion, solved, self.onto(motion)))

    def writing(self, context, job, result):
        found = _found(job)
        on_edited = "" if self.edited_keys == "MOTION" else self.edited_keys
        # What lies on motions that are baked with it is solved once these are.
        lying = {
            motion for i, motion in enumerate(found)
            if families.lies(motion) and _character(motion) in map(_character, found[:i])
        }
        with keep_selection(context), object_mode(context):
            # All are checked before the first is written: one refusal, nothing changed.
            together = baking.Together()
            for motion, (solved, prepared) in zip(found, result, strict=True):
                baking.check_edits(motion, prepared is not None or _is_on_rig(motion), on_edited)
                if motion not in lying:
                    self.look(context, motion, solved, prepared, together)
            written = []
            try:
                for motion, (solved, prepared) in zip(found, result, strict=True):
                    if written:
                        yield len(written) / len(found)
                    if motion in lying:
                        solved = pipeline.solve(pipeline.gather(context, motion))
                        self.look(context, motion, solved, prepared, together)
                    written.append(
                        self.write(context, motion, solved, prepared, on_edited, together)
                    )
            except Cancelled:
                found = found[: len(written)]  # those stay, of which undo takes all at once
            finally:
                together.verify(context)
        keys, frames, bones = (sum(column) for column in zip(*written, strict=True))
        problems = sum(len(motion.poise_motion.problems) for motion in found)
        what = found[0].name if len(found) == 1 else f"{len(found)} motions"
        tail = f"; {problems} problems are listed" if problems else ""
        if len(found) < len(result):
            tail += f"; stopped before {len(result) - len(found)} more"
        return f"Baked {what}: {keys} keys on {bones} bones over {frames} frames{tail}"


def bakes_controls(context) -> bool:
    """Whether Bake to Bones would key the active rig's own controls."""
    return control_rig.has_own_controls(motions.active_character(context))


class POISE_OT_bake(_BakeOperator, bpy.types.Operator):
    """Bake the active motion of each selected character to keys on its rig"""

    bl_idname = "poise.bake"
    bl_label = "Bake to Rig"

    def chosen(self, context):
        found = (motions.active_motion(rig) for rig in motions.selected_characters(context))
        return [motion for motion in found if motion is not None]


class POISE_OT_bake_to_bones(_BakeOperator, bpy.types.Operator):
    """Key the bones of the rig itself, plain FK, and let it follow Poise's controls no longer"""

    bl_idname = "poise.bake_to_bones"
    bl_label = "Bake to Bones or Controls"

    target: EnumProperty(
        name="Onto",
        description="What of the rig is keyed",
        items=(
            ("AUTO", "What It Has", "The rig's own controls where it has them, else its bones"),
            ("CONTROLS", "Its Controls", "The rig's own controls; switches are set for them"),
            ("BONES", "Its Bones", "The bones themselves, plain FK"),
        ),
        options={"SKIP_SAVE"},
    )

    motions: EnumProperty(
        name="Motions",
        description="What is baked where the rig has several motions",
        items=(
            (
                "SHOWN", "All It Shows",
                "The active motion, and all others that the rig shows through Poise's controls, "
                "which it follows no longer",
            ),
            ("ACTIVE", "Active Alone", "The active motion; the rig does not show the others then"),
        ),
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, context, properties):
        if bakes_controls(context):
            return (
                "Key the rig's own controls, with IK and its switches set as they have to be, and "
                "let it follow Poise's controls no longer"
            )
        return cls.__doc__

    @classmethod
    def poll(cls, context):
        if not _with_motion(cls, context):
            return False
        character = motions.active_character(context)
        if control_rig.rig_of(character) is None:
            cls.poll_message_set(
                "The rig of these controls was deleted: use Remove from Rig"
                if control_rig.drives(character)
                else "Poise's own characters have no other bones: use Bake to Rig"
            )
            return False
        return True

    def chosen(self, context):
        found = []
        for character in motions.selected_characters(context):
            active = motions.active_motion(character)
            if control_rig.rig_of(character) is None or active is None:
                continue
            wanted = [active]
            if self.motions == "SHOWN":
                wanted += [m for m in baking.left_behind(character) if m != active]
            found += [m for m in _in_order(character) if m in wanted]
        return found

    def onto(self, motion):
        return "" if families.turns_joints(motion) else self.target


class POISE_OT_bake_all(_BakeOperator, bpy.types.Operator):
    """Bake all motions of each selected character, each after the one it continues"""

    bl_idname = "poise.bake_all"
    bl_label = "Bake All Motions"

    def chosen(self, context):
        return [
            motion
            for character in motions.selected_characters(context)
            for motion in _in_order(character)
        ]

    def onto(self, motion):
        # What turns joints needs the bones: they may not follow the controls.
        if families.turns_joints(motion):
            return ""
        return "AUTO" if any(map(_is_on_rig, motions.motions_of(_character(motion)))) else ""


class POISE_OT_bake_clear(SettingsOperator, bpy.types.Operator):
    """Remove the bake of each selected character's active motion, and what came with it"""

    bl_idname = "poise.bake_clear"
    bl_label = "Clear Bake"

    @classmethod
    def poll(cls, context):
        return _with_motion(cls, context)

    def run(self, context):
        found = [motions.active_motion(rig) for rig in motions.selected_characters(context)]
        baked = [m for m in found if m is not None and baking.is_baked(m)]
        if not baked:
            raise UserError("There is no bake to clear")
        with keep_selection(context), object_mode(context):
            for motion in baked:
                baking.clear(context, motion)
        return f"Cleared {', '.join(m.name for m in baked)}"


class POISE_OT_bake_check(SolvingOperator, bpy.types.Operator):
    """Compare the rig with the motion on every frame, and list where it does not follow"""

    bl_idname = "poise.bake_check"
    bl_label = "Check Bake"

    @classmethod
    def poll(cls, context):
        return _with_motion(cls, context)

    def gather(self, context):
        _character, motion = motions.require_motion(context)
        if baking.baked_of(motion) is None:
            raise UserError(f"{motion.name} is not baked yet: click Bake to Rig")
        return _Jobs((motion.session_uid,), (pipeline.gather(context, motion),))

    def solve(self, job, progress):
        return _solve_all(job, progress)

    def apply(self, context, job, result):
        (motion,), (solved,) = _found(job), result
        with keep_selection(context), object_mode(context):
            problems = tuple(baking.check_bake(context, motion, solved))
        listed = baking.list_problems(
            motion, solved.problems + problems, solved.job.start_frame, solved.job.numbers.fps
        )
        problems = tuple(problem for problem in problems if problem in listed)
        unseen = [problem for problem in problems if problem.code == "NOT_EVALUATED"]
        if unseen:
            return unseen[0].message
        if problems:
            return f"{len(problems)} places where the rig does not follow: see the problem list"
        return f"{motion.name}: the rig follows the motion on every frame"


CLASSES = (
    POISE_OT_bake,
    POISE_OT_bake_to_bones,
    POISE_OT_bake_all,
    POISE_OT_bake_clear,
    POISE_OT_bake_check,
)
