# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels only draw: what they show is computed elsewhere."""

from __future__ import annotations

from . import (
    bake,
    character,
    control,
    footprints,
    freeform,
    gait,
    limb,
    motion,
    path,
    posing,
    street,
)

CLASSES: tuple[type, ...] = (
    *character.CLASSES,
    *motion.CLASSES,
    *path.CLASSES,
    *gait.CLASSES,
    *footprints.CLASSES,
    *posing.CLASSES,
    *control.CLASSES,
    *street.CLASSES,
    *freeform.CLASSES,
    *bake.CLASSES,
    *limb.CLASSES,
)
