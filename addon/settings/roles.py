# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of roles that a Motion object holds for its rig."""

import bpy
from bpy.props import BoolProperty, StringProperty


def _role(self):
    return self.name


def _set_role(self, role):
    # Items are found by their names: `roles["thigh.L"]`.
    self.name = role


def _picked(self, context):
    """A bone that was picked is no guess any more."""
    self.unsure = False
    self.picked = True


class PoiseRole(bpy.types.PropertyGroup):
    """Which bone plays a role."""

    role: StringProperty(
        name="Role", description="The role, such as thigh.L", get=_role, set=_set_role
    )
    bone: StringProperty(
        name="Bone",
        description="Bone that plays this role; empty for none",
        update=_picked,
    )
    unsure: BoolProperty(
        name="Unsure", description="The bone was guessed: check it, or pick another one"
    )
    picked: BoolProperty(
        name="Picked", description="The bone was chosen by hand: the rig is recognised around it"
    )


CLASSES = (PoiseRole,)
