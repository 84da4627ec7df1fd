# SPDX-License-Identifier: GPL-3.0-or-later
"""Families of motions: what differs between turns, ways along a path, gaits ...

`FAMILIES` says which family reads and solves a kind of motion; a new one needs
a room here, its settings with a row in `settings.motion.KINDS`, and one here.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..errors import UserError
from ..rigs.actor import Actor
from ..settings.motion import KINDS
from .base import Job
from .controlling import Controllers
from .family import Family
from .freeform import Freeform, LimbJob, LimbSequences
from .gait import Gaits
from .posing import PoseTiming
from .riding import Riding
from .view import View

_RIDING = Riding()

FAMILIES: dict[str, Family[Any, Any]] = {
    "TURNS": _RIDING,
    "PATH": _RIDING,
    "GAIT": Gaits(),
    "CONTROLLER": Controllers(),
    "POSE_TIMING": PoseTiming(),
    "FREEFORM": Freeform(),
}

# Free-form motion whose postures are those of one limb lies on what the body does.
_LIMBS = LimbSequences()


def label(kind: str) -> str:
    """What the animator calls a kind of motion.

    Args:
        kind: the kind.
    """
    return next(known.label for known in KINDS if known.name == kind)


def kinds_for(actor: Actor) -> list[str]:
    """Kinds of motions that someone can do; the first is what they begin with.

    Args:
        actor: who is to move.
    """
    return [kind for kind, family in FAMILIES.items() if not family.able(actor)]


def begin(motion: bpy.types.Object, unit_scale: float) -> None:
    """Give a motion the settings that its character begins with.

    Args:
        motion: the Motion object.
        unit_scale: metres per Blender unit.
    """
    settings = motion.poise_motion
    actor = Actor.of(settings.character)
    able = kinds_for(actor)
    if settings.kind not in able:
        settings.kind = able[0]
    if actor.kind:
        settings.begin(actor.kind, unit_scale)


def go_along(motion: bpy.types.Object, curve: bpy.types.Object) -> bool:
    """Let a motion follow a curve, as the kind of motion that its character follows one with.

    Args:
        motion: the Motion object.
        curve: the curve object.

    Returns:
        False where the character can follow none; nothing is changed then.
    """
    settings = motion.poise_motion
    able = kinds_for(Actor.of(settings.character))
    kinds = [kind for kind in KINDS if kind.along and kind.name in able]
    if not kinds:
        return False
    kind = next((kind for kind in kinds if kind.name == settings.kind), kinds[0])
    settings.kind = kind.name
    setattr(getattr(settings, kind.group), kind.along, curve)
    return True


def family_for(motion: bpy.types.Object) -> Family[Any, Any]:
    """Family of a Motion object.

    Args:
        motion: the Motion object.

    Raises:
        UserError: it is of a kind that a later Poise knows.
    """
    family = _known(motion)
    if family is None:
        raise UserError(
            f"{motion.name} is of a kind of motion that this Poise does not know: it is kept as "
            "it is, for a later Poise"
        )
    return family


def _known(motion: bpy.types.Object) -> Family[Any, Any] | None:
    """Family of a Motion object; None of a kind that is not known."""
    settings = motion.poise_motion
    if settings.kind == "FREEFORM" and settings.freeform.limb:
        return _LIMBS
    return FAMILIES.get(settings.kind)  # empty where Blender does not know the number


def led_by(motion: bpy.types.Object) -> list[bpy.types.ID]:
    """What a motion depends on, its character aside; of a kind that is not known, nothing.

    Args:
        motion: the Motion object.
    """
    family = _known(motion)
    return [] if family is None else family.depends_on(motion)


def lies(motion: bpy.types.Object) -> bool:
    """Whether a motion lies on what plays, which may have to be evaluated to be read.

    Args:
        motion: the Motion object.
    """
    family = _known(motion)
    return family is not None and family.lies


def turns_joints(motion: bpy.types.Object) -> bool:
    """Whether a motion turns joints, which are bones of the rig itself in any case.

    Args:
        motion: the Motion object.
    """
    family = _known(motion)
    return family is not None and (family.joints or family.lies)


def family_of(job: Job) -> Family[Any, Any]:
    """Family that a job was read by.

    Args:
        job: the job.
    """
    return _LIMBS if isinstance(job, LimbJob) else FAMILIES[job.motion]


def view_of(job: Job) -> View[Any]:
    """How the motion of a job is shown.

    Args:
        job: the job.
    """
    return family_of(job).view
