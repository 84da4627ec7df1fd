# SPDX-License-Identifier: GPL-3.0-or-later
"""What a sort of mechanical figure is asked.

Methods that take an actor read Blender and run in the main thread alone. All others are pure:
they get the figure's `body` - a frozen dataclass of numbers, whatever its sort makes of them -
and may run in any thread.

States are (d,) arrays in the order of `coordinates`, in SI units.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import bpy
import numpy as np

from .....solvers.clock import Clock
from .....solvers.control.build import Table
from .....solvers.control.plans import Plan, Span
from .....solvers.errors import SettingError
from .....solvers.motion import Problem
from ....mapping.tracks import JointTracks
from ....rigs.actor import Actor
from ....scene.timing import SceneNumbers

Told = Callable[[float], None]


@dataclass(frozen=True)
class Stretch:
    """A line of a script.

    Attributes:
        plan: the controller, or the motor program.
        table: its table, built; None of what has none.
        seconds: for how long, at the most.
        until_reached: whether it ends where the destination is reached.
    """

    plan: Plan
    table: Table | None
    seconds: float
    until_reached: bool = False


@dataclass(frozen=True)
class Ran:
    """What a script did, one row for each of the clock's.

    Attributes:
        states: (n, d).
        controls: (n, c).
        active: (n,) number of the line in force; as many as there are lines after the last.
        reached: (s, line) where destinations were reached.
        ended: s at which the last line ended.
        problems: what yielded, times from the start of the motion.
        more: what the figure's tracks need besides.
    """

    states: np.ndarray
    controls: np.ndarray
    active: np.ndarray
    reached: tuple[tuple[float, int], ...]
    ended: float
    problems: tuple[Problem, ...] = ()
    more: Any = None


class MachineFigure(ABC):
    """A sort of mechanical figure.

    Attributes:
        label: what the animator calls it.
        draws: names of settings of a controller that its panel shows beside the common ones.
        tabled: whether its controllers have domain, resolution and torques that can be set; those
            of one without are motor programs.
        finds: whether motor programs can be found anew.
        mapped: whether its controllers have torques that a map can show.
    """

    label: ClassVar[str]
    draws: ClassVar[tuple[str, ...]] = ()
    tabled: ClassVar[bool] = True
    finds: ClassVar[bool] = False
    mapped: ClassVar[bool] = False

    # Main thread

    @abstractmethod
    def body(
        self, context: bpy.types.Context, motion: bpy.types.Object, actor: Actor,
        numbers: SceneNumbers,
    ) -> Any:
        """All that is known of a figure, as numbers; a frozen dataclass that can be compared.

        Args:
            context: Blender's context.
            motion: the Motion object.
            actor: who moves.
            numbers: rate, units and gravity.

        Raises:
            UserError: it is no such figure (any more).
        """

    @abstractmethod
    def pose(self, actor: Actor, body: Any) -> np.ndarray:
        """(d,) state of the current pose, at rest.

        Args:
            actor: who stands there.
            body: what is known of it.
        """

    # Pure

    def lines(self, body: Any, state: np.ndarray) -> np.ndarray:
        """(n, 2, 3) m in the world: both ends of the links that can be dragged; n may be 0.

        Args:
            body: of the figure.
            state: (d,).
        """
        return np.zeros((0, 2, 3))

    def pointed(
        self, body: Any, state: np.ndarray, link: int, origin: np.ndarray, way: np.ndarray
    ) -> np.ndarray | None:
        """(d,) state in which a link points to where a ray meets the plane that it turns in.

        Args:
            body: of the figure.
            state: (d,) as it is.
            link: number of the link.
            origin: (3,) m in the world, where the ray begins.
            way: (3,) the way that it goes.

        Returns:
            The state; None where the ray goes along the plane, or the figure has no such links.
        """
        return None

    def built_of(self, body: Any) -> Any:
        """What of a figure its tables depend on.

        Args:
            body: of the figure.
        """
        return body

    @abstractmethod
    def rest(self, body: Any) -> np.ndarray:
        """(d,) state that a motion begins with unless it says another one.

        Args:
            body: of the figure.
        """

    @abstractmethod
    def coordinates(self, body: Any) -> tuple[Span, ...]:
        """The state's coordinates, with the domain and the nodes that a controller begins with.

        Args:
            body: of the figure.
        """

    @abstractmethod
    def controls(self, body: Any) -> tuple[Span, ...]:
        """What it can do, and how many values of each a controller begins with.

        Args:
            body: of the figure.
        """

    def library(self, body: Any) -> tuple[Plan, ...]:
        """Controllers, and motor programs, that it comes with.

        Args:
            body: of the figure.
        """
        return ()

    @abstractmethod
    def build(self, body: Any, plan: Plan, told: Told) -> Table | None:
        """Build a controller's table.

        Args:
            body: of the figure.
            plan: what it is to be.
            told: called with the share that is done; may raise `Cancelled`.

        Returns:
            The table, which is stored; None of a plan that needs none.

        Raises:
            SettingError: it cannot be built.
        """

    def needs_table(self, body: Any, plan: Plan) -> bool:
        """Whether a controller has a table, which is built and stored.

        Args:
            body: of the figure.
            plan: what it is to be.
        """
        return not plan.program

    def inputs(self, body: Any) -> dict[str, object]:
        """What a figure's motion depends on, by the animator's words.

        Args:
            body: of the figure.
        """
        return {"character's rest pose": body}

    def continued(self, body: Any, first: Any) -> Any:
        """A figure as a motion knows it that goes on from others.

        Args:
            body: of the figure, by itself.
            first: of the figure, as the first of these motions knows it.
        """
        return body

    def find(self, body: Any, plan: Plan, seed: int, told: Told) -> tuple[Plan, str]:
        """Find a motor program anew.

        Args:
            body: of the figure.
            plan: what it is to do.
            seed: of all that is random.
            told: called with the share that is done; may raise `Cancelled`.

        Returns:
            The plan with what was found, and what that does, in words.

        Raises:
            SettingError: none was found, or it has no motor programs.
        """
        raise SettingError("Figure", self.label, "one with motor programs")

    def numbers(self, body: Any, ran: Ran, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """What the panel says of a script besides, (what, how much).

        Args:
            body: of the figure.
            ran: what the script did.
            names: of the lines' controllers.
        """
        return ()

    def quick(self, body: Any, plan: Plan) -> bool:
        """Whether a table is built so fast that nobody has to ask for it.

        Args:
            body: of the figure.
            plan: what it is to be.
        """
        return False

    @abstractmethod
    def run(
        self, body: Any, start: np.ndarray, script: Sequence[Stretch], clock: Clock,
        slew: float, told: Told,
    ) -> Ran:
        """Run a script from a state.

        Args:
            body: of the figure.
            start: (d,).
            script: what is in control, one after the other.
            clock: when states are asked for.
            slew: how fast controls may change, 1/s of their range; 0 for no limit.
            told: called with the share that is done; may raise `Cancelled`.
        """

    @abstractmethod
    def tracks(self, body: Any, ran: Ran, clock: Clock) -> JointTracks:
        """States over time as turns and places of bones.

        Args:
            body: of the figure.
            ran: what a script did.
            clock: its clock.
        """
