# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators, one file per task; thin: they gather, call and report."""

from __future__ import annotations

from . import (
    bake,
    character,
    control,
    equipment,
    footprints,
    freeform,
    gait,
    limb,
    manual,
    motion,
    path,
    posing,
    presets,
    problems,
    render,
    rig,
    rig_roles,
    street,
)

CLASSES: tuple[type, ...] = (
    *character.CLASSES,
    *equipment.CLASSES,
    *rig.CLASSES,
    *rig_roles.CLASSES,
    *motion.CLASSES,
    *path.CLASSES,
    *gait.CLASSES,
    *footprints.CLASSES,
    *posing.CLASSES,
    *limb.CLASSES,
    *control.CLASSES,
    *street.CLASSES,
    *freeform.CLASSES,
    *presets.CLASSES,
    *bake.CLASSES,
    *problems.CLASSES,
    *render.CLASSES,
    *manual.CLASSES,
)
