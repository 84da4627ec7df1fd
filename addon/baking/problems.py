# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of a motion's problems, and those that its rig has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, isfinite

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


@dataclass(frozen=True)
class Listed:
    """A line of the problem list, as panels show it and operators go to it.

    Attributes:
        code, message, severity, remedy, bone, fix: as in `Problem`.
        frame: where it begins, or None for the whole motion.
    """

    code: str
    message: str
    severity: str = "WARNING"
    remedy: str = ""
    bone: str = ""
    frame: float | None = None
    fix: tuple[tuple[str, float], ...] = ()

    def rank(self) -> tuple:
        """Where it stands in the list: causes first, then errors, each in order of time."""
        order = {"ERROR": 0, "WARNING": 1}.get(self.severity, 2)
        cause = self.code in ("FAR_AWAY", "TERRAIN_MOVES")
        return not cause, order, self.frame is not None, self.frame or 0.0


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
    shown = _telling(problems)
    stored = motion.poise_motion.problems
    stored.clear()
    for line in listed(shown, start_frame, fps):
        item = stored.add()
        item.name = item.code = line.code
        item.message = line.message
        item.severity = line.severity
        item.remedy = line.remedy
        item.bone = line.bone
        item.has_frame = line.frame is not None
        if line.frame is not None:
            item.frame = line.frame
        item.fix = json.dumps(line.fix) if line.fix else ""
    return shown


def _telling(problems: Iterable[Problem]) -> list[Problem]:
    """Problems without those that another explains: what single precision alone is off by."""
    found = tuple(problems)
    coarse = COARSE * max((p.amount or 0.0 for p in found if p.code == "FAR_AWAY"), default=0.0)
    return [
        p for p in found
        if p.code not in ("POSITION_OFF", "BETWEEN_KEYS") or (p.amount or 0.0) > coarse
    ]


def listed(problems: Iterable[Problem], start_frame: int, fps: float) -> tuple[Listed, ...]:
    """Problems as lines of the list, each once, errors first.

    Args:
        problems: what was found.
        start_frame: frame at time 0.
        fps: real frame rate.
    """
    lines = [
        Listed(
            p.code, p.message, p.severity, p.remedy, p.bone,
            # To a hundredth: where a click goes, not a solver's number.
            None if p.time is None else floor(100 * (start_frame + p.time * fps) + 0.5) / 100,
            tuple(p.fix),
        )
        for p in problems
    ]
    return in_order(lines)


def in_order(lines: Iterable[Listed]) -> tuple[Listed, ...]:
    """Lines of the list, each once, errors first.

    Args:
        lines: from wherever they come.
    """
    once: dict[tuple[str, str, str], Listed] = {}
    for line in lines:
        once.setdefault((line.code, line.message, line.bone), line)
    return tuple(sorted(once.values(), key=Listed.rank))


def fixes_of(text: str) -> tuple[tuple[str, float], ...]:
    """Changes of settings that were kept as text; none where it cannot be read.

    Args:
        text: (setting, value) pairs as JSON.
    """
    try:
        found = tuple((str(path), float(value)) for path, value in json.loads(text or "[]"))
    except (ValueError, TypeError):
        return ()
    return found if all(isfinite(value) for _path, value in found) else ()


def stored_problems(motion: bpy.types.Object) -> tuple[Listed, ...]:
    """The lines that the last bake, plan or check left with a motion.

    Args:
        motion: the Motion object.
    """
    return tuple(
        Listed(
            item.code, item.message, item.severity, item.remedy, item.bone,
            item.frame if item.has_frame else None,
            fixes_of(item.fix),
        )
        for item in motion.poise_motion.problems
    )
