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
from .....solvers.control.knocks import Knocks, Plane
from .....solvers.control.plans import Plan, Span
from .....solvers.control.regions import Region
from .....solvers.dynamics.disturbances import Ball, Push, Shake
from .....solvers.errors import SettingError
from .....solvers.motion import Problem
from ....mapping.handover import Handover
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
        region: where it ends, or where it is in force; None for none.
        whenever: whether it is in force whenever the state is within the region.
    """

    plan: Plan
    table: Table | None
    seconds: float
    until_reached: bool = False
    region: Region | None = None
    whenever: bool = False


@dataclass(frozen=True)
class Knock:
    """Something that acted on a figure from outside.

    Attributes:
        start: s.
        end: s; the start of a hit.
        impulse: N s, of a hit along its normal, or of a push.
    """

    start: float
    end: float
    impulse: float


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
        entered: (s, line) where states came into regions by which lines change.
        knocks: what acted on the figure from outside, and when.
        touched: (s, thing) where it bumped into something.
        flights: (n, b, 3) where balls fly, m; not a number before they are let go.
        more: what the figure's tracks need besides.
    """

    states: np.ndarray
    controls: np.ndarray
    active: np.ndarray
    reached: tuple[tuple[float, int], ...]
    ended: float
    problems: tuple[Problem, ...] = ()
    entered: tuple[tuple[float, int], ...] = ()
    knocks: tuple[Knock, ...] = ()
    touched: tuple[tuple[float, str], ...] = ()
    flights: np.ndarray | None = None
    more: Any = None


@dataclass(frozen=True)
class Struck:
    """What disturbs a figure.

    Attributes:
        disturbances: in space; of a push, the number of its link in `MachineFigure.links`.
        plane: where the figure's plane is.
        weight: (3,) acceleration of what falls, m/s^2.
    """

    disturbances: tuple[Ball | Push | Shake, ...]
    plane: Plane
    weight: np.ndarray


class MachineFigure(ABC):
    """A sort of mechanical figure.

    Attributes:
        label: what the animator calls it.
        draws: names of settings of a controller that its panel shows beside the common ones,
            unless `asks` knows better.
        tabled: whether its controllers have domain, resolution and torques that can be set; those
            of one without are motor programs.
        finds: whether motor programs can be found anew.
        switches: whether lines may end, or be in force, by regions of the state.
        mapped: whether its controllers have torques that a map can show.
    """

    label: ClassVar[str]
    draws: ClassVar[tuple[str, ...]] = ()
    tabled: ClassVar[bool] = True
    finds: ClassVar[bool] = False
    switches: ClassVar[bool] = True
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

    def plane(
        self, motion: bpy.types.Object, actor: Actor, body: Any, numbers: SceneNumbers
    ) -> Plane | None:
        """Where the figure's plane is in space, m; None of one that nothing can knock.

        Args:
            motion: the Motion object.
            actor: who stands there.
            body: what is known of it.
            numbers: rate, units and gravity.
        """
        return None

    # Pure

    def links(self, body: Any) -> tuple[str, ...]:
        """Bones that can be knocked, in the order of the solver's links.

        Args:
            body: of the figure.
        """
        return ()

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

    def asks(self, program: str) -> tuple[str, ...]:
        """Settings of a controller that its panel shows beside the common ones.

        Args:
            program: its motor program; "" for a controller with a table.
        """
        return self.draws

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

    def handed(self, body: Any, start: np.ndarray, before: Handover) -> np.ndarray:
        """State that a motion begins with which goes on from one of another family.

        Args:
            body: of the figure.
            start: (d,) state that it would begin with by itself.
            before: how its joints are at the end of the other one.
        """
        return start

    def spins(self, body: Any, ran: Ran, row: int, time: float) -> dict[str, np.ndarray]:
        """Bone -> (3,) angular velocity, rad/s, in the axes that it turns against at rest.

        Args:
            body: of the figure.
            ran: what a script did.
            row: of its states.
            time: s, when that is.
        """
        return {}

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
        slew: float, told: Told, struck: Struck | None = None,
    ) -> Ran:
        """Run a script from a state.

        Args:
            body: of the figure.
            start: (d,).
            script: what is in control, one after the other.
            clock: when states are asked for.
            slew: how fast controls may change, 1/s of their range; 0 for no limit.
            told: called with the share that is done; may raise `Cancelled`.
            struck: what disturbs it; None for nothing.
        """

    @abstractmethod
    def tracks(self, body: Any, ran: Ran, clock: Clock) -> JointTracks:
        """States over time as turns and places of bones.

        Args:
            body: of the figure.
            ran: what a script did.
            clock: its clock.
        """


def told_of(knocks: Knocks, struck: Struck, pace: float = 1.0, mass: float = 1.0):
    """What knocked a figure, and when: hits as they came, pushes and shakes as they were asked.

    Args:
        knocks: as the solver has them.
        struck: in the animator's units.
        pace: s for each of the solver's.
        mass: impulse for each of the solver's, N s.

    Returns:
        Knocks in the order of their times.
    """
    found = [Knock(hit.time * pace, hit.time * pace, hit.impulse * mass) for hit in knocks.hits]
    for one in struck.disturbances:
        if isinstance(one, Push):
            force = float(np.linalg.norm(one.force))
            found.append(Knock(one.start, one.end, force * (one.end - one.start)))
        elif isinstance(one, Shake):
            found.append(Knock(one.start, one.end, 0.0))
    return tuple(sorted(found, key=lambda knock: knock.start))
