# SPDX-License-Identifier: GPL-3.0-or-later
"""A planar chain or tree of bones: the pendulum, and whatever an animator makes of bones.

Angles are counterclockwise in the plane of the chain, from the horizontal, as seen against its
hinges' axis; those of links after the first are against the link that they hang on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from .....solvers import rotations
from .....solvers.control.chain import Chain, rates_of
from .....solvers.control.knocks import Knocks, Plane
from .....solvers.control.plans import HOLD, Plan, controller_of, table_of
from .....solvers.control.run import Command, run
from .....solvers.control.surroundings import Silhouette, Surroundings, lines, way_between
from .....solvers.control.touching import Solid, Touching, outline_of
from .....solvers.errors import SettingError
from .....solvers.motion import Problem
from ....errors import UserError
from ....mapping.tracks import JointTracks, Spin
from ....placement import world_matrix
from ....rigs import machines
from ....scene.silhouettes import read_silhouettes
from ...base import SOLVER_VERSION
from .base import MachineFigure, Ran, told_of

LAWS, AMONG = 2, 3
"""Raised when the same settings no longer give the same motion of a chain; of one among things."""

LOOKS = 8  # times between two rows that are looked at for touches
QUICK = 100_000
"""States times controls up to which a table is built in a moment."""


@dataclass(frozen=True)
class ChainBody:
    """A chain or tree of bones.

    Attributes:
        chain: its physics.
        bones: their names, one for each link.
        axes: each bone's axis of its hinge, in its own axes.
        rests: rad, each joint's angle in the rest pose.
        things: what its links may not touch.
        clearance: m, how far they keep off that; 0 where there is nothing.
        solid: what its links bump into; None for nothing.
        frame: (4, 4) m from its plane to the world, from the first joint; nothing that is
            solved depends on it.
    """

    chain: Chain
    bones: tuple[str, ...]
    axes: tuple[tuple[float, float, float], ...]
    rests: tuple[float, ...]
    things: tuple[Silhouette, ...] = ()
    clearance: float = 0.0
    solid: Solid | None = None
    frame: np.ndarray = field(default_factory=lambda: np.eye(4), compare=False)

    @property
    def about(self) -> Surroundings | None:
        """What stands about, None for nothing."""
        if not self.things:
            return None
        return Surroundings(self.chain.links, self.things, self.clearance)

    @property
    def alone(self) -> dict[str, object]:
        """The figure without what stands about."""
        return {
            "chain": self.chain, "bones": self.bones, "axes": self.axes, "rests": self.rests,
        }


class ChainFigure(MachineFigure):
    """Chains and trees of bones."""

    label = "Chain"
    mapped = True

    def body(self, context, motion, actor, numbers):
        found = machines.read_chain(actor.joints, numbers.unit_scale, numbers.gravity)
        settings, unit = motion.poise_motion.control, numbers.unit_scale
        chain, keep = Chain(found.links, found.torques, found.gravity), settings.clearance * unit
        if not (np.isfinite(keep) and keep >= 0.0):
            raise UserError(f"Clearance of {motion.name} is {keep}: it must be a length from 0 on")
        things = read_silhouettes(
            settings.obstacles, actor.joints, found.frame,
            Surroundings(chain.links, (), keep).reach, keep, unit,
        )
        return ChainBody(
            chain, found.bones, found.axes, found.rests, things, keep if things else 0.0,
            _solid(motion, actor, chain, found.frame, unit), found.frame,
        )

    def pose(self, actor, body):
        state = np.zeros(2 * len(body.bones))
        for k, (name, axis) in enumerate(zip(body.bones, body.axes, strict=True)):
            turn = np.array(actor.joints.pose.bones[name].matrix_basis.to_quaternion())
            state[2 * k] = body.rests[k] + 2.0 * np.arctan2(turn[1:] @ axis, turn[0])
        return state

    def lines(self, body, state):
        flat = lines(body.chain.links, state[None, ::2])[0]
        return flat @ body.frame[:3, :2].T + body.frame[:3, 3]

    def pointed(self, body, state, link, origin, way):
        back, links = body.frame[:3, :3].T, body.chain.links
        start, along = back @ (origin - body.frame[:3, 3]), back @ way
        if abs(along[2]) < 1e-3 * np.linalg.norm(along):
            return None
        place = (start - start[2] / along[2] * along)[:2]
        off = place - lines(links, state[None, ::2])[0, link, 0]
        angle, above = np.arctan2(off[1], off[0]), links[link].parent
        while above:
            k = next(i for i, one in enumerate(links) if one.name == above)
            angle, above = angle - state[2 * k], links[k].parent
        found, now = state.copy(), state[2 * link]
        found[2 * link] = now + (angle - now + np.pi) % (2.0 * np.pi) - np.pi
        found[2 * link] = np.clip(found[2 * link], *links[link].limits)
        return found

    def rest(self, body):
        return np.array([x for angle in body.rests for x in (angle, 0.0)])

    def coordinates(self, body):
        return body.chain.coordinates()

    def controls(self, body):
        return body.chain.controls()

    def library(self, body):
        controls = self.controls(body)
        held = Plan("Torques", self.coordinates(body), controls, (), program=HOLD,
                    found=(0.0,) * len(controls))
        return (*body.chain.library(), held)

    def build(self, body, plan, told):
        return None if plan.program else table_of(plan, rates_of(body.chain), told, body.about)

    def built_of(self, body):
        # Tables of earlier files know of nothing about the figure.
        more = {"things": body.things, "clearance": body.clearance, "laws": AMONG}
        more = more if body.things else {}
        return {**body.alone, **more}

    def inputs(self, body):
        return {
            "character's rest pose": body.alone,
            **({"obstacles": (body.things, body.clearance)} if body.things else {}),
            **({} if body.solid is None else {"contacts": body.solid}),
            "Poise's version": (SOLVER_VERSION, AMONG if body.things else LAWS),
        }

    def quick(self, body, plan):
        return bool(plan.program) or plan.nodes * len(plan.samples) <= QUICK

    def links(self, body):
        return body.bones

    def plane(self, motion, actor, body, numbers):
        rig, first = actor.joints, actor.joints.data.bones[body.bones[0]]
        own = np.array(world_matrix(rig), dtype=float) @ np.array(first.matrix_local, dtype=float)
        axes = own[:3, :3] / np.linalg.norm(own[:3, :3], axis=0)
        hinge, along = axes @ np.array(body.axes[0]), axes[:, 1]
        across = np.cross(hinge, along)
        c, s = np.cos(body.rests[0]), np.sin(body.rests[0])
        return Plane(
            own[:3, 3] * numbers.unit_scale, c * along - s * across, s * along + c * across
        )

    def handed(self, body, start, before):
        state = start.copy()
        for k, (name, axis) in enumerate(zip(body.bones, body.axes, strict=True)):
            if name in before.turn:
                turn = before.turn[name]
                state[2 * k] = body.rests[k] + 2.0 * np.arctan2(turn[1:] @ axis, turn[0])
                state[2 * k + 1] = before.spinning[name] @ axis
        return state

    def spins(self, body, ran, row, time):
        return {
            name: ran.states[row, 2 * k + 1] * np.array(axis)
            for k, (name, axis) in enumerate(zip(body.bones, body.axes, strict=True))
        }

    def run(self, body, start, script, clock, slew, told, struck=None):
        rates, about = rates_of(body.chain), body.about
        commands = [
            Command(
                _held(s.plan) if s.table is None else controller_of(s.plan, s.table, rates, about),
                s.seconds, s.until_reached, s.plan.name, s.region, s.whenever,
            )
            for s in script
        ]
        spans = self.controls(body)
        limit = np.array([(x.high - x.low) * slew for x in spans]) if slew else None
        knocks = None
        if struck is not None:
            knocks = Knocks.of_chain(body.chain, struck.plane, struck.disturbances, struck.weight)
        touching = None
        if body.solid is not None:
            touching = Touching(body.chain, body.solid, knocks)
            touching.begin(float(clock.time[0]), start)
        none = np.zeros((1, len(spans)))  # as many as there are: steps are taken in floats then
        done = run(
            rates if commands or touching is None else lambda states, _: rates(states, none),
            start, commands, clock.time, limit, told, touching or knocks,
        )
        problems = tuple(
            Problem(
                "CONTROLLER_LEFT",
                f"{body.bones[0]} is where {script[line].plan.name} knows no way: it goes on "
                "without control",
                "WARNING", time=time,
                remedy="Widen its domain, or let another controller take over before",
            )
            for time, line in done.left
        )
        touched: tuple[tuple[float, str], ...] = ()
        if touching is not None:
            touched = tuple(touching.hits)
            problems += tuple(
                Problem(
                    "OBSTACLE_TOUCHED", f"{body.bones[0]} and what hangs on it begin in {name}, "
                    "which lets them out but no deeper in", "WARNING", time=0.0,
                    remedy="Let it start elsewhere, or with a smaller Thickness",
                )
                for name in touching.began
            )
        elif about is not None:
            problems += _touches(body, about, clock.time, done.states)
        found = Ran(done.states, done.controls, done.active, done.reached, done.ended, problems,
                    done.entered, touched=touched)
        if knocks is None:
            return found
        return replace(
            found, knocks=told_of(knocks, struck), flights=np.array(knocks.flights)
        )

    def tracks(self, body, ran, clock):
        turn, spins = {}, {}
        for k, (name, axis) in enumerate(zip(body.bones, body.axes, strict=True)):
            angle = ran.states[:, 2 * k] - body.rests[k]
            turn[name] = rotations.from_axis_angle(np.array(axis), angle)
            spins[name] = Spin(angle, np.array(axis))
        hits = sorted({time for time, _ in ran.touched if time < clock.time[-1]})
        return JointTracks(replace(clock, corners=np.array(hits)), turn, spins=spins)


def _solid(motion, actor, chain: Chain, frame: np.ndarray, unit: float) -> Solid | None:
    """What a figure bumps into, None for nothing."""
    settings = motion.poise_motion.control
    if not settings.contacts:
        return None
    radius, friction = 0.5 * settings.thickness * unit, settings.friction
    for name, value in (("Thickness", radius), ("Friction", friction)):
        if not np.isfinite(value):
            raise UserError(f"{name} of {motion.name} is {value}: it must be a number")
    reach = Surroundings(chain.links, (), radius).reach
    things = read_silhouettes(settings.obstacles, actor.joints, frame, reach, radius, unit)
    # World Z over the plane is slope . place + height.
    slope, height = frame[2, :2], frame[2, 3]
    steep = float(np.hypot(*slope))
    if settings.ground and abs(height) < steep * reach:
        up, far = slope / steep, 3.0 * reach
        along = far * np.array((-up[1], up[0]))
        middle = -height / steep * up
        a, b, deep = middle - along, middle + along, far * up
        ground = np.array([[a, b, b - deep], [a, b - deep, a - deep]])
        things = (*things, Silhouette("Ground", ground))
    try:
        outline_of(things)
    except SettingError as err:
        raise UserError(
            f"What {actor.name} may bump into has outlines of {err.value:,} edges: put simpler "
            "meshes in the way"
        ) from err
    return Solid(things, radius, friction) if things else None


def _held(plan: Plan) -> Callable[[float, np.ndarray], np.ndarray]:
    """A motor program: torques that stay as they are."""
    for x, torque in zip(plan.controls, plan.found, strict=True):
        if not x.low <= torque <= x.high:
            raise UserError(
                f"{plan.name} holds {x.name} at {x.spoken(torque)}: set one that the muscle has, "
                f"{x.spoken(x.low)} to {x.spoken(x.high)}"
            )
    held = np.array(plan.found)
    return lambda time, state: held


def _touches(body: ChainBody, about: Surroundings, time, states) -> tuple[Problem, ...]:
    """What a figure touches on its way: each thing once, when it does so first."""
    times, between = way_between(time, states, LOOKS)
    found = about.touched(between)
    return tuple(
        Problem(
            "OBSTACLE_TOUCHED", f"{body.bones[0]} and what hangs on it come too near to "
            f"{about.names[number]}", "WARNING", time=float(times[np.argmax(found == number)]),
            remedy="Let it start elsewhere, build controllers with the obstacle in the list, or "
            "with more Steps",
        )
        for number in dict.fromkeys(found[found >= 0].tolist())
    )
