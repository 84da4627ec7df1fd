# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of a motion's problems, and those that its rig has."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import floor

import bpy

from ...solvers.motion import Problem
from .. import motions, pipeline
from ..bake import verify
from ..bake.data import BakeResult
from ..baked import baked_of
from ..errors import UserError
from ..rigs.controls import control_rig

# What places are off by at most where Blender tells them apart by 1: each of a chain of bones.
COARSE = 4.0


def tell(
    motion: bpy.types.Object,
    solved: pipeline.Solved,
    result: BakeResult,
    size: Sequence[Problem],
) -> None:
    """List what a bake found.

    Args:
        motion: the Motion object.
        solved: its solved job.
        result: what was written.
        size: what is wrong with the size of the rig's limbs.
    """
    job = solved.job
    problems = solved.problems + result.problems + tuple(size)
    rig = control_rig.rig_of(motion.poise_motion.character)
    if rig is not None:
        if not any(p.code == "REST_POSITION" for p in problems):
            problems += tuple(verify.rest_position(rig))
    controls = motion.poise_motion.character
    problems += tuple(_not_shown(controls, rig)) + tuple(_scaled(controls, rig))
    list_problems(motion, problems, job.start_frame, job.numbers.fps)


def resized(controls: bpy.types.Object) -> list[Problem]:
    """A problem if the limbs of controls' rig are not as long as when it was set up.

    Args:
        controls: Poise's controls, or a character.
    """
    rig = control_rig.rig_of(controls)
    if rig is None:
        return []
    try:
        control_rig.require_bones(controls, rig)
        share = control_rig.resized(controls, rig)
    except UserError:
        return []  # said where its bones are keyed
    if abs(share - 1.0) < control_rig.SAME_SIZE:
        return []
    return [
        Problem(
            code="RIG_SIZE",
            message=f"Limbs of {rig.name} are {share:.2f} times as long as when it was set up",
            remedy="Set Up Again",
        )
    ]


def left_behind(controls: bpy.types.Object) -> list[bpy.types.Object]:
    """Motions that are baked on Poise's controls, but not on the rig that they drive.

    Args:
        controls: Poise's controls.
    """
    return [
        motion
        for motion in motions.motions_of(controls)
        if baked_of(motion) is not None and baked_of(motion, True) is None
    ]


def _not_shown(controls: bpy.types.Object, rig: bpy.types.Object | None) -> list[Problem]:
    """A problem if a rig has keys of some motions, and follows the controls no longer."""
    if rig is None:
        return []
    others = left_behind(controls)
    on_rig = [m.name for m in motions.motions_of(controls) if baked_of(m, True) is not None]
    if not others or not on_rig or control_rig.is_connected(controls, rig):
        for motion in motions.motions_of(controls):  # what was said of them is true no longer
            listed = motion.poise_motion.problems
            for index in reversed(range(len(listed))):
                if listed[index].code == "NOT_SHOWN":
                    listed.remove(index)
        return []
    names = ", ".join(motion.name for motion in others)
    return [
        Problem(
            code="NOT_SHOWN",
            message=f"{rig.name} does not show {names}: it has keys of {', '.join(on_rig)} and "
            "follows Poise's controls no longer",
            remedy=f"{control_rig.baking_label(controls)}, which bakes all; or clear the other "
            "bakes",
        )
    ]


def _scaled(controls: bpy.types.Object, rig: bpy.types.Object | None) -> list[Problem]:
    """A problem if the pose of a rig has bones at another size, on which others hang."""
    sizes = control_rig.posed_sizes(controls, rig) if rig is not None else {}
    if not sizes:
        return []
    name = max(sizes, key=lambda bone: abs(sizes[bone] - 1.0))
    more = f", and {len(sizes) - 1} others" if len(sizes) > 1 else ""
    return [
        Problem(
            code="POSED_SCALE",
            message=f"Bone {name} of {rig.name if rig is not None else ''} is scaled by "
            f"{sizes[name]:.2f} in its pose{more}: joints beyond it are not where the motion has "
            "them",
            bone=name,
            amount=sizes[name],
            remedy="Clear its scale (Alt+S in Pose Mode), or Apply Pose as Rest Pose and Set Up "
            "Again",
        )
    ]


def list_problems(
    motion: bpy.types.Object, problems: tuple[Problem, ...], start_frame: int, fps: float
) -> list[Problem]:
    """Fill a motion's problem list, errors first.

    Args:
        motion: the Motion object.
        problems: what was found.
        start_frame: frame at time 0.
        fps: real frame rate.

    Returns:
        The problems that are listed.
    """
    stored = motion.poise_motion.problems
    stored.clear()
    order = {"ERROR": 0, "WARNING": 1}
    # What single precision alone is off by is said once.
    coarse = COARSE * max((p.amount or 0.0 for p in problems if p.code == "FAR_AWAY"), default=0.0)
    shown = [
        p for p in problems
        if p.code not in ("POSITION_OFF", "BETWEEN_KEYS") or (p.amount or 0.0) > coarse
    ]

    def rank(problem: Problem) -> tuple:
        cause = problem.code in ("FAR_AWAY", "TERRAIN_MOVES")
        return not cause, order.get(problem.severity, 2), problem.time or 0.0

    for problem in sorted(shown, key=rank):
        item = stored.add()
        item.name = item.code = problem.code
        item.message = problem.message
        item.severity = problem.severity
        item.remedy = problem.remedy
        item.bone = problem.bone
        item.has_frame = problem.time is not None
        if problem.time is not None:
            # To a hundredth: where a click goes, not a solver's number.
            item.frame = floor(100 * (start_frame + problem.time * fps) + 0.5) / 100
        item.fix = json.dumps(problem.fix) if problem.fix else ""
    return shown
