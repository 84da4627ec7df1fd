# SPDX-License-Identifier: GPL-3.0-or-later
"""Families of motions: what differs between turns, ways along a path, gaits ...

`FAMILIES` says which family reads and solves a kind of motion; a new one needs
a module here, its settings with a line in their `FAMILY_OF`, and one here.
"""

from __future__ import annotations

import bpy

from ..settings.motion import FAMILY_OF
from .base import Family, Job
from .gait import Gaits
from .riding import Riding

_FAMILIES = {family.name: family for family in (Riding(), Gaits())}

FAMILIES: dict[str, Family] = {kind: _FAMILIES[name] for kind, name in FAMILY_OF.items()}


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
