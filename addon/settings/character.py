# SPDX-License-Identifier: GPL-3.0-or-later
"""`armature_object.poise`: what the character is, and the way to its active motion.

The settings themselves live on the Motion object; the Python properties here
reach it, so that `rig.poise.turns.keyframe_insert("speed")` keys the Motion
object and never the rig.
"""

import bpy

from .. import motions
from ..rigs import characters, machines
from .motion import groups, kind_items


class PoiseCharacter(bpy.types.PropertyGroup):
    """What a character is, and its active motion's settings."""

    @property
    def kind(self) -> str:
        """Kind of character ('SKIER', 'SNOWBOARDER' ...), or "" for any other armature."""
        return characters.kind_of(motions.character_of(self.id_data))

    @property
    def motion_object(self):
        """The active Motion object, or None."""
        character = motions.character_of(self.id_data)
        return None if character is None else motions.active_motion(character)

    def _settings(self):
        motion = self.motion_object
        if motion is None:
            raise AttributeError(
                f"{self.id_data.name} has no motion yet: add one with bpy.ops.poise.motion_add()"
            )
        return motion.poise_motion

    @property
    def motion(self) -> str:
        """Kind of the active motion, such as 'TURNS', 'PATH', 'GAIT' or 'CONTROLLER'."""
        return self._settings().kind

    @motion.setter
    def motion(self, kind: str) -> None:
        known = [item[0] for item in kind_items()]
        if kind not in known:
            raise TypeError(f"motion is {kind!r}: it must be one of {known}")
        self._settings().kind = kind

    @property
    def settings(self):
        """All settings of the active motion (`PoiseMotion`)."""
        return self._settings()

    @property
    def roles(self):
        """Which bone plays which role on this rig: items with `.role` and `.bone`."""
        return self._settings().roles

    @property
    def machine(self) -> str:
        """What mechanical figure it is ('PENDULUM', 'CHAIN' ...), or "" of none."""
        return machines.machine_of(motions.character_of(self.id_data))

    @property
    def controllers(self):
        """Controllers of the active motion (`PoiseController`)."""
        return self._settings().control.controllers

    @property
    def script(self):
        """Lines of the active motion's script (`PoiseScriptLine`)."""
        return self._settings().control.script


def _group(name: str) -> property:
    return property(lambda self: getattr(self._settings(), name), doc=f"The motion's `{name}`.")


for _name in groups():
    setattr(PoiseCharacter, _name, _group(_name))

CLASSES = (PoiseCharacter,)
