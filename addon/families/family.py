# SPDX-License-Identifier: GPL-3.0-or-later
"""What a family of motions is: one place for all that differs between them.

A family says whom it can move, reads its motions' settings into a frozen `Job` (main thread
only), solves jobs (pure, any thread), says what decides them, and shows them through its view.
Everything else (chains of motions, bake, preview, panels) asks the family and knows no motion
by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic

import bpy
import numpy as np

from ..mapping.handover import Handover, at_the_ends, hand_over
from ..mapping.tracks import Tracks
from ..rigs.actor import Actor
from ..scene.timing import SceneNumbers
from .base import J, Progress, S
from .view import View


class Family(ABC, Generic[J, S]):
    """A family of motions, by what they are read into and what they become.

    Attributes:
        name: what kinds of characters name it by (`builders.kinds.Kind.family`).
        moves: what such a motion is called where a character cannot do it.
        view: how its motions are shown.
        joints: whether its motions turn single joints, rather than move a whole figure: those
            that do and those that do not cannot go on from each other.
        lies: whether its motions lie on what plays on the joints without them, from which they
            begin, unless they go on from a motion of another family.
    """

    name: str
    moves: str
    view: ClassVar[View[Any]] = View()
    joints: ClassVar[bool] = False
    lies: ClassVar[bool] = False

    def able(self, actor: Actor) -> str:
        """Why someone cannot move so; "" if they can.

        Args:
            actor: who is to move.
        """
        if not actor.kind:
            return f"{actor.name} is not a Poise character"
        return "" if actor.family == self.name else f"{actor.name} cannot do {self.moves}"

    @abstractmethod
    def gather(
        self, context: bpy.types.Context, motion: bpy.types.Object, actor: Actor,
        numbers: SceneNumbers,
    ) -> J:
        """Read one motion out of Blender, all but the motions before and after it.

        Args:
            context: Blender's context.
            motion: the Motion object.
            actor: who moves.
            numbers: rate, units and gravity.

        Raises:
            UserError: something about scene or character must be put right first.
            SettingError: a setting is outside what the solver can take.
        """

    def restyled(self, context: bpy.types.Context, job: J, motion: bpy.types.Object) -> J:
        """A job under a motion's name, posed with that motion's own style.

        Args:
            context: Blender's context.
            job: what was read, of this motion or of the one that it lies on.
            motion: the Motion object.
        """
        return job

    @abstractmethod
    def solve(self, job: J, before: Handover | None, progress: Progress) -> S:
        """Solve a job: pure, no Blender, any thread.

        Args:
            job: what was read.
            before: how the figure is at the end of the motion of another family that the
                first motion of this one's run goes on from; None if there is none.
            progress: called with the fraction done; may raise `Cancelled`.

        Raises:
            SettingError: a setting is outside what the solver can take.
            UserError: a motion that this one continues cannot be solved.
        """

    def spins(self, solved: S, row: int) -> Mapping[str, np.ndarray]:
        """Role or bone -> (3,) angular velocity at an end of a motion, rad/s, where it is known
        better than from its samples; as in `Handover.spinning`.

        Args:
            solved: the motion.
            row: 0 for its start, -1 for its end.
        """
        return {}

    def near(self, solved: S) -> Tracks | None:
        """A motion at instants close to each other at its ends, which tell its rates there; None
        where it is too short to have any but those of its samples.

        Args:
            solved: the motion.
        """
        if solved.near is not None or len(solved.tracks.time) < 3:
            return solved.near
        return at_the_ends(solved.tracks, self.spins(solved, 0), self.spins(solved, -1))

    def ends(self, solved: S) -> Handover:
        """How a motion ends, for one of another family that goes on from it.

        Args:
            solved: it.
        """
        state = getattr(solved.motion, "end_state", None)
        return hand_over(solved.tracks, state, self.near(solved))

    @abstractmethod
    def inputs(self, job: J) -> Mapping[str, object]:
        """What decides a motion besides style, scene and rest pose, by the animator's words.

        Args:
            job: what was read.
        """

    def named(self, job: J) -> Mapping[str, Mapping[str, object]]:
        """Input -> label -> value, of inputs whose parts the animator knows by name.

        Args:
            job: what was read.
        """
        return {}

    def depends_on(self, motion: bpy.types.Object) -> list[bpy.types.ID]:
        """Objects, collections and actions that a motion depends on, its character aside.

        Args:
            motion: the Motion object.
        """
        return []
