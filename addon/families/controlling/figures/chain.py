# SPDX-License-Identifier: GPL-3.0-or-later
"""A planar chain or tree of bones: the pendulum, and whatever an animator makes of bones.

Angles are counterclockwise in the plane of the chain, from the horizontal, as seen against its
hinges' axis; those of links after the first are against the link that they hang on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .....solvers import rotations
from .....solvers.control.chain import Chain, rates_of
from .....solvers.control.plans import controller_of, table_of
from .....solvers.control.run import Command, run
from .....solvers.motion import Problem
from ....mapping.tracks import JointTracks, Spin
from ....rigs import machines
from .base import MachineFigure, Ran

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
    """

    chain: Chain
    bones: tuple[str, ...]
    axes: tuple[tuple[float, float, float], ...]
    rests: tuple[float, ...]


class ChainFigure(MachineFigure):
    """Chains and trees of bones."""

    label = "Chain"

    def body(self, context, motion, actor, numbers):
        found = machines.read_chain(actor.joints, numbers.unit_scale, numbers.gravity)
        return ChainBody(Chain(found.links, found.torques, found.gravity), found.bones,
                         found.axes, found.rests)

    def pose(self, actor, body):
        state = np.zeros(2 * len(body.bones))
        for k, (name, axis) in enumerate(zip(body.bones, body.axes, strict=True)):
            turn = np.array(actor.joints.pose.bones[name].matrix_basis.to_quaternion())
            state[2 * k] = body.rests[k] + 2.0 * np.arctan2(turn[1:] @ axis, turn[0])
        return state

    def rest(self, body):
        return np.array([x for angle in body.rests for x in (angle, 0.0)])

    def coordinates(self, body):
        return body.chain.coordinates()

    def controls(self, body):
        return body.chain.controls()

    def library(self, body):
        return body.chain.library()

    def build(self, body, plan, told):
        return table_of(plan, rates_of(body.chain), told)

    def quick(self, body, plan):
        return plan.nodes * len(plan.samples) <= QUICK

    def run(self, body, start, script, clock, slew, told):
        rates = rates_of(body.chain)
        commands = [
            Command(controller_of(s.plan, s.table, rates), s.seconds, s.until_reached, s.plan.name)
            for s in script
        ]
        spans = self.controls(body)
        limit = np.array([(x.high - x.low) * slew for x in spans]) if slew else None
        done = run(rates, start, commands, clock.time, limit, told)
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
        return Ran(done.states, done.controls, done.active, done.reached, done.ended, problems)

    def tracks(self, body, ran, clock):
        turn, spins = {}, {}
        for k, (name, axis) in enumerate(zip(body.bones, body.axes, strict=True)):
            angle = ran.states[:, 2 * k] - body.rests[k]
            turn[name] = rotations.from_axis_angle(np.array(axis), angle)
            spins[name] = Spin(angle, np.array(axis))
        return JointTracks(clock, turn, spins=spins)
