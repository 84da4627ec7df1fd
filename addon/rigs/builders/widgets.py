# SPDX-License-Identifier: GPL-3.0-or-later
"""Wire shapes of the controls, shared by all characters of a file."""

from __future__ import annotations

import bpy

from .skeleton import Skeleton


def dress(armature: bpy.types.Object, skeleton: Skeleton) -> None:
    """Give the controls their shapes."""
