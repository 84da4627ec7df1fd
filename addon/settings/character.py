# SPDX-License-Identifier: GPL-3.0-or-later
"""`armature_object.poise`: what the character is, and the way to its active motion.

The settings themselves live on the Motion object; the Python properties here
reach it, so that `rig.poise.turns.keyframe_insert("speed")` keys the Motion
object and never the rig.
"""

import bpy

from .. import motions
from ..rigs import characters
from .motion import kind_items


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
        """Kind of the active motion, such as 'TURNS', 'PATH', 'GAIT' or 'POSE_TIMING'."""
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
    def turns(self):
        """Settings of the turns (`PoiseTurns`)."""
        return self._settings().turns

    @property
    def path(self):
        """Settings of a motion along a path (`PoisePath`)."""
        return self._settings().path

    @property
    def gait(self):
        """Settings of legged motion (`PoiseGait`)."""
        return self._settings().gait

    @property
    def pose_timing(self):
        """Settings of poses on their frames (`PoisePoseTiming`)."""
        return self._settings().pose_timing

    @property
    def skier(self):
        """Style of the skier's body (`PoiseSkierStyle`)."""
        return self._settings().skier

    @property
    def telemark(self):
        """Style of the telemark skier's body (`PoiseTelemarkStyle`)."""
        return self._settings().telemark

    @property
    def skateboarder(self):
        """Style of the skateboarder's body (`PoiseSkateboarderStyle`)."""
        return self._settings().skateboarder

    @property
    def snowboarder(self):
        """Style of the snowboarder's body (`PoiseSnowboarderStyle`)."""
        return self._settings().snowboarder

    @property
    def cyclist(self):
        """Style of the cyclist's body (`PoiseCyclistStyle`)."""
        return self._settings().cyclist

    @property
    def legged(self):
        """Style of a body on legs (`PoiseLeggedStyle`)."""
        return self._settings().legged

    @property
    def eyes(self):
        """How the eyes of a rig look ahead (`PoiseEyesStyle`)."""
        return self._settings().eyes


CLASSES = (PoiseCharacter,)
