# SPDX-License-Identifier: GPL-3.0-or-later
"""The jumping lamp: scripts of motor programs, each of which begins and ends at rest.

A program lasts until the lamp stands still on its base again, whatever its line says; where the
line lasts longer, it stands. Lengths of plans are the animator's, and become those of the
solver's lamp by its size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import bpy
import numpy as np

from .....solvers import affine, rotations
from .....solvers.control import lamp
from .....solvers.control.knocks import Knocks, Plane
from .....solvers.control.lamp_plans import NEAR, STAND, find, motion_of, plans
from .....solvers.control.lamp_play import LIMBS, Done, play
from .....solvers.control.lamp_programs import Motion
from .....solvers.control.plans import Plan, Span
from .....solvers.motion import Event, Problem, told_apart
from ....errors import UserError
from ....mapping.lamp import map_lamp, pace, strength
from ....placement import world_matrix
from ....rigs.builders import luxo
from ....scene.figures import placement_of
from .base import MachineFigure, Ran, Struck, told_of

PARTS = ("root", "base", "link", "shade")

ORDER = [3, 4, 0, 1, 2]
"""Of the solver's coordinates in a state here: angles of link and shade, x, y, tilt."""

MOVING = 4
"""Numbers of a state whose links move: their angles and rates, the base on the ground."""

MOVES = np.radians(1.0)
"""By how much links are off from how they stand, in a lamp that moves."""

HARDLY = 0.01
"""Share of its height by which bones of a lamp may be elsewhere: it would be another lamp."""


@dataclass(frozen=True)
class LampBody:
    """A lamp that stands somewhere.

    Attributes:
        size: of the lamp against the solver's.
        mass: kg.
        gravity: m/s^2.
        unit: metres per unit of the armature.
        place: where the motion begins, from the root at rest, in units of the armature.
        turn: how the motion is turned against the root at rest, a quaternion.
    """

    size: float
    mass: float
    gravity: float
    unit: float
    place: tuple[float, ...]
    turn: tuple[float, ...]

    @property
    def pace(self) -> float:
        """Seconds that it takes for each of the solver's."""
        return pace(self.size, self.gravity)

    @property
    def weighs(self) -> float:
        """kg for each of the solver's."""
        return self.mass / sum(lamp.MASSES)

    def asked(self, plan: Plan) -> Plan:
        """A plan in lengths of the solver's lamp.

        Args:
            plan: in the animator's, m.
        """
        return replace(plan, amount=plan.amount / self.size, drop=plan.drop / self.size)


class LampFigure(MachineFigure):
    """The lamp."""

    label = "Luxo Lamp"
    draws = ("amount", "drop")
    tabled, finds, switches = False, True, False

    def body(self, context, motion, actor, numbers):
        rig = actor.joints
        unit, size = _measured(rig, numbers.unit_scale)
        stands = placement_of(motion, numbers.unit_scale)
        root = np.array(world_matrix(rig), float) @ np.array(rig.data.bones["root"].matrix_local)
        start = np.eye(4)
        start[:3, :3] = rotations.to_matrix(rotations.about_z(np.array(stands.yaw)))
        start[:3, 3] = stands.origin / numbers.unit_scale
        basis = affine.inverse(root) @ start
        axes = basis[:3, :3] / np.linalg.norm(basis[:3, :3], axis=0)
        mass = rig.get("poise_mass", 0.0)
        if not isinstance(mass, (int, float)) or not (np.isfinite(mass) and mass > 0.0):
            raise UserError(
                f"Custom property poise_mass of {rig.name} is {mass}: it must be a number above 0"
            )
        return LampBody(
            size, float(mass), numbers.gravity, unit, tuple(basis[:3, 3].tolist()),
            tuple(rotations.from_matrix(axes).tolist()),
        )

    def inputs(self, body):
        return {
            "character's rest pose": (body.size, body.mass, body.unit),
            "gravity": body.gravity,
            "place of the motion": (body.place, body.turn),
        }

    def continued(self, body, first):
        return replace(body, place=first.place, turn=first.turn)

    def pose(self, actor, body):
        return self.rest(body)  # in which every program begins

    def rest(self, body):
        return np.array(lamp.REST)

    def asks(self, program):
        return () if program == STAND else self.draws

    def links(self, body):
        return PARTS[1:]

    def plane(self, motion, actor, body, numbers):
        stands = placement_of(motion, numbers.unit_scale)
        ahead = np.array((np.sin(stands.yaw), -np.cos(stands.yaw), 0.0))
        return Plane(np.array(stands.origin, dtype=float), ahead, np.array((0.0, 0.0, 1.0)))

    def handed(self, body, start, before):
        if any(name not in before.turn for name in PARTS[2:]):
            return start
        turns = np.array([before.turn[name] for name in PARTS[2:]])
        spins = np.array([before.spinning[name][0] for name in PARTS[2:]])
        angles = 2.0 * np.arctan2(turns[:, 1], turns[:, 0])
        angles = (angles + np.pi) % (2.0 * np.pi) - np.pi
        # Bones count turns the other way.
        return np.concatenate([np.array(lamp.REST) - angles, -spins * body.pace])

    def spins(self, body, ran, row, time):
        played = ran.more
        rates = [np.interp(time / body.pace, played.times, v) for v in played.v.T[2:]]
        return {
            name: np.array((-rate / body.pace, 0.0, 0.0))
            for name, rate in zip(PARTS[1:], rates, strict=True)
        }

    def coordinates(self, body):
        return tuple(
            Span(link.name, *map(float, link.limits), 2) for link in lamp.LINKS[1:]
        )

    def controls(self, body):
        return ()

    def library(self, body):
        return tuple(
            replace(plan, amount=plan.amount * body.size, drop=plan.drop * body.size)
            for plan in plans()
        )

    def build(self, body, plan, told):
        motion_of(body.asked(plan))  # refuses what is not known
        return None

    def quick(self, body, plan):
        return True

    def find(self, body, plan, seed, told):
        found, does = find(body.asked(plan), seed, told)
        air = (does.touched_down - does.took_off) * body.pace
        tilt = abs(np.degrees(does.tilt))
        return replace(plan, found=found), (
            f"{plan.name} goes {does.length * body.size:.2f} m, {air:.2f} s of it in the air, and "
            f"lands {tilt:.0f}° off level"
        )

    def run(self, body, start, script, clock, slew, told, struck=None):
        slow = body.pace
        began = _standing(start) if len(start) == len(ORDER) else None
        if len(start) == MOVING:
            standing = lamp.standing()
            began = standing._replace(
                q=(*standing.q[:3], *start[:2].tolist()), v=(0.0, 0.0, 0.0, *start[2:].tolist())
            )
        ground = () if began is None else ((-np.inf, began.q[1] - lamp.standing().q[1]),)
        motions = [motion_of(body.asked(line.plan)) for line in script]
        played = play(
            motions, began, ground, 0.0,
            [0.0 if line.until_reached else line.seconds / slow for line in script],
            clock.time[-1] / slow, told, self._knocks(body, struck),
        )
        times = clock.time / slow
        begins = np.array([done.began for done in played.motions])
        active = np.maximum(np.searchsorted(begins, times, side="right") - 1, 0)
        over = played.motions[-1].over if played.motions else 0.0
        active[times >= over] = len(script)
        ended = over if np.isfinite(over) else float(played.times[-1])
        reached = tuple(
            (done.rested * slow, line)
            for line, done in enumerate(played.motions) if np.isfinite(done.rested)
        )
        problems, stood = [], [float(played.q[0, 0])]
        if len(start) == len(ORDER) and np.abs(start[:2] - lamp.REST).max() > MOVES:
            problems.append(Problem(
                "LAMP_JUMPS_IN", "The motion before ends while the lamp moves: it goes on as if it "
                "stood", time=0.0, remedy="Let the motion before go on until the lamp stands",
            ))
        for line, (motion, done) in enumerate(zip(motions, played.motions, strict=False)):
            problems += _told(script[line].plan.name, motion, done, body)
            problems += _step_told(script[line].plan.name, motion, done, stood, body)
            stood.append(stood[-1] + done.length)
        if np.isfinite(played.fell):
            problems.append(Problem(
                "LAMP_FALLS", "The lamp falls: it is knocked over", "ERROR",
                time=played.fell * slow, remedy="Knock it less, or while it is in the air",
            ))
        found = Ran(
            played.at(times)[:, ORDER], np.zeros((len(times), 0)), active, reached, ended * slow,
            tuple(problems), more=played,
        )
        if played.knocks is None:
            return found
        rows = np.minimum(np.round(times / lamp.STEP).astype(int), len(played.times) - 1)
        return replace(
            found, knocks=told_of(played.knocks, struck, slow, body.weighs * body.size / slow),
            flights=np.array(played.knocks.flights)[rows] * body.size,
        )

    def _knocks(self, body: LampBody, struck: Struck | None) -> Knocks | None:
        """What acts on the solver's lamp, in its own units."""
        if struck is None:
            return None
        size, slow, plane = body.size, body.pace, struck.plane
        return Knocks(
            lamp.LINKS, LIMBS, replace(plane, origin=plane.origin / size),
            [one.scaled(size, slow, body.weighs) for one in struck.disturbances],
            struck.weight * (slow**2 / size), free=True,
        )

    def tracks(self, body, ran, clock):
        slow, played = body.pace, ran.more
        events, corners = [], []
        for done in played.motions:
            for kind, time in (("TAKE_OFF", done.took_off), ("TOUCHDOWN", done.touched_down)):
                if done.took_off > done.began and time * slow < clock.time[-1]:
                    events.append(Event(kind, time * slow))
                    corners.append(time * slow)
        states = ran.states[:, np.argsort(ORDER)]
        return map_lamp(
            replace(clock, corners=np.array(corners)), states, body.size, body.unit,
            np.array(body.place), np.array(body.turn), tuple(events),
        )

    def numbers(self, body, ran, names):
        found, played = [], ran.more
        for line, done in enumerate(played.motions):
            if done.took_off > done.began and np.isfinite(done.rested):
                air = (done.touched_down - done.took_off) * body.pace
                far = done.length * body.size
                found.append((names[line], f"{far:.2f} m, {air:.2f} s in the air"))
        if played.motions:
            most = max(max(done.torque) for done in played.motions)
            most *= strength(body.size, body.gravity, body.mass)
            found.append(("Largest Torque", f"{most:.1f} N m"))
        return tuple(found)


def _measured(rig: bpy.types.Object, unit_scale: float) -> tuple[float, float]:
    """Metres per unit of a lamp's armature, and its size against the solver's lamp."""
    bones = rig.data.bones
    for name in PARTS:
        if name not in bones:
            raise UserError(f"{rig.name} has lost its bone {name}: add the lamp anew")
    scale = np.array([column.length for column in world_matrix(rig).to_3x3().col])
    if not (np.isfinite(scale).all() and scale.min() > 1e-8):
        raise UserError(f"{rig.name} is scaled to nothing: give it a scale above zero")
    if scale.max() / scale.min() > 1.001:
        raise UserError(
            f"{rig.name} is scaled unevenly: Poise needs the same scale along every axis"
        )
    unit = float(scale.mean()) * unit_scale
    into = affine.inverse(np.array(bones["root"].matrix_local, dtype=float))
    at = {name: into[:3, :3] @ bones[name].head_local + into[:3, 3] for name in PARTS}
    at["bulb"] = into[:3, :3] @ bones["shade"].tail_local + into[:3, 3]
    size = float(np.linalg.norm(at["shade"] - at["link"])) / lamp.ARM
    usual = luxo.joints(size * luxo.USUAL)
    for name in (*PARTS[1:], "bulb"):
        if np.abs(at[name] - usual[name]).max() > HARDLY * size * luxo.USUAL:
            bone = "shade" if name == "bulb" else name
            raise UserError(
                f"Bone {bone} of {rig.name} is not where a lamp of its size has it: undo that, "
                "or add the lamp anew"
            )
    return unit, size * unit


def _standing(last: np.ndarray) -> lamp.State:
    """A lamp that stands where one ended, with the turns that it has made."""
    last = last[np.argsort(ORDER)]
    turns = 2.0 * np.pi * np.round(last[2] / (2.0 * np.pi))
    level = lamp.standing()
    state = lamp.standing(float(last[0]), float(last[1] - level.q[1]))
    q = (*state.q[:2], state.q[2] + float(turns), *state.q[3:])
    return state._replace(q=q)


def _told(
    name: str, motion: Motion | None, done: Done, body: LampBody
) -> list[Problem]:
    """What of a motion went wrong."""
    if not np.isfinite(done.rested):
        if np.isfinite(done.took_off):
            said, when = "comes down, and does not come to rest on the base", done.touched_down
        else:
            said, when = "does not leave the ground", done.began
        return [Problem(
            "LAMP_FALLS", f"The lamp falls: {name} {said}", "ERROR", time=when * body.pace,
            remedy="Find Jump anew, with another Seed, or ask for another length",
        )]
    off = 0.0 if motion is None else abs(done.length - motion.length)
    if motion is None or off <= NEAR:
        return []
    goes, wanted = told_apart(done.length * body.size, motion.length * body.size, 2, " m")
    return [Problem(
        "JUMP_MISSES", f"{name} goes {goes}, not {wanted}", time=done.began * body.pace,
        amount=off * body.size,
        remedy="See that no step is in its way, or let it stand longer before",
    )]


def _step_told(
    name: str, motion: Motion | None, done: Done, stood: list[float], body: LampBody
) -> list[Problem]:
    """Whether a motion comes down by a step where the lamp has stood higher before.

    Args:
        name: of the motion.
        motion: which.
        done: what it came to.
        stood: m, where the base has stood so far; it begins at the last.
        body: of the lamp.
    """
    if motion is None or not motion.drop:
        return []
    sign = np.sign(motion.length)
    edge = stood[-1] + 0.5 * motion.length
    if max(sign * (x - edge) for x in stood) < -lamp.HALF_WIDTH:
        return []
    return [Problem(
        "STEP_UNDER_LAMP", f"{name} comes down by a step where the lamp has stood before",
        time=done.began * body.pace,
        remedy="Let it go farther that way first, or come down the other way",
    )]
