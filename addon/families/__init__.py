# SPDX-License-Identifier: GPL-3.0-or-later
"""Families of motions: what differs between turns, ways along a path, gaits ...

`FAMILIES` says which family a kind of motion belongs to; a new one needs a
module here, its settings, and a line in this table.
"""

from __future__ import annotations

import bpy

from .base import Family, Job
from .gait import Gaits
from .riding import Riding

_RIDING = Riding()

FAMILIES: dict[str, Family] = {"TURNS": _RIDING, "PATH": _RIDING, "GAIT": Gaits()}


def kinds_for(family: str) -> list[str]:
    """Kinds of motions that characters of a family can do; the first is what they begin with.

    Args:
        family: what `characters.Kind.family` says.
    """
    return [kind for kind, member in FAMILIES.items() if member.name == family]


def family_for(motion: bpy.types.Object) -> Family:
    """Family of a Motion object.

    Args:
        motion: the Motion object.
    """
    return FAMILIES[motion.poise_motion.kind]


def family_of(job: Job) -> Family:
    """Family that a job was read by.

    Args:
        job: the job.
    """
    return FAMILIES[job.motion]
