# SPDX-License-Identifier: GPL-3.0-or-later
"""A Motion object and its bakes: solved motion onto the rig, and off again.

A motion may have two: one on its character, and where the character is a set
of controls on a rig of someone else's, one on the bones of that rig, which
follows the controls no longer as long as it has it.
"""

from ..baked import baked_of, is_baked
from .character import bindings_of
from .current import changed_since, rigs_of
from .onto import bakes_controls, check_bones, prepare_bones
from .problems import (
    Listed,
    fixes_of,
    in_order,
    left_behind,
    list_problems,
    listed,
    stored_problems,
)
from .together import Together
from .write import (
    bake,
    bake_to_bones,
    check,
    check_bake,
    check_edits,
    clear,
    clear_rig,
    leave_bones,
)

__all__ = (
    "Listed",
    "Together",
    "bake",
    "bake_to_bones",
    "baked_of",
    "bakes_controls",
    "bindings_of",
    "changed_since",
    "check",
    "check_bake",
    "check_bones",
    "check_edits",
    "clear",
    "clear_rig",
    "is_baked",
    "leave_bones",
    "fixes_of",
    "in_order",
    "left_behind",
    "list_problems",
    "listed",
    "prepare_bones",
    "rigs_of",
    "stored_problems",
)
