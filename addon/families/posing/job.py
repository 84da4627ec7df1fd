# SPDX-License-Identifier: GPL-3.0-or-later
"""What pose timing is read into, and what it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import bpy
import numpy as np

from ....solvers.dynamics.disturbances import Ball, Push, Shake
from ....solvers.motion import Problem
from ....solvers.posing.arrive import Remedy, remedies
from ....solvers.posing.settings import Body, PoseSettings, Target
from ....solvers.posing.simulate import PoseMotion
from ...mapping.tracks import JointTracks
from ...rigs.pose.fingerprint import digest_of
from ...rigs.pose.plays import Without
from ..base import Job, Solved

MISSED = np.radians(0.5)  # a pose that is missed by more is told


@dataclass(frozen=True)
class Link:
    """A bone on the way from the armature to what is carried.

    Attributes:
        bone: its name.
        rest: (4, 4) its rest pose in its parent's, in units of the armature.
    """

    bone: str
    rest: np.ndarray


@dataclass(frozen=True)
class Part:
    """Bones on one carrier, solved together.

    Attributes:
        bones: names of the links, parents first.
        moving: (n,) bool, those that are keyed.
        body: the links.
        way: from the armature to the carrier; () for the armature itself.
        settings: how the joints are controlled.
        targets: what they reach.
        names: of the targets, for messages.
        disturbances: what happens to them.
        blends: (n,) share of the physical motion.
    """

    bones: tuple[str, ...]
    moving: np.ndarray
    body: Body
    way: tuple[Link, ...]
    settings: PoseSettings
    targets: tuple[Target, ...]
    names: tuple[str, ...]
    disturbances: tuple[Ball | Push | Shake, ...]
    blends: np.ndarray


@dataclass(frozen=True)
class Played:
    """What plays on the bones without this motion.

    Attributes:
        turn: bone -> (n, 4).
        place: bone -> (n, 3), units of the armature.
        size: bone -> (n, 3) scale.
        world: (n, 4, 4) or (1, 4, 4) the armature object, Blender units.
        digest: of all that was read.
    """

    turn: Mapping[str, np.ndarray]
    place: Mapping[str, np.ndarray]
    size: Mapping[str, np.ndarray]
    world: np.ndarray
    digest: str


@dataclass(frozen=True)
class JobOnTop(Job):
    """What turns joints on top of what plays without it.

    Attributes:
        under: that.
    """

    under: Played = field(kw_only=True)

    def baked(self, armature: bpy.types.Object, without: Without) -> Self:
        """The same, knowing what plays below by where its bake has put that.

        Args:
            armature: the armature whose joints are keyed.
            without: keys that are not below it.
        """
        known = digest_of(armature, sorted(self.under.turn), without)
        return replace(self, under=replace(self.under, digest=known))


@dataclass(frozen=True)
class PosingJob(JobOnTop):
    """Poses, and what they are reached on top of.

    Attributes:
        parts: bones by what carries them, carriers before what they carry.
        told: what was noticed while reading.
    """

    parts: tuple[Part, ...] = ()
    told: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class PoseRun:
    """What came of each part.

    Attributes:
        motions: one for each.
        keyed: bone -> (n, 2, 3) head and tail as they are without this motion, m.
        physical: bone -> (n, 2, 3) likewise with it.
        problems: what yielded.
    """

    motions: tuple[PoseMotion, ...]
    keyed: Mapping[str, np.ndarray]
    physical: Mapping[str, np.ndarray]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class SolvedPoses(Solved):
    """Solved pose timing."""

    job: PosingJob
    motion: PoseRun
    tracks: JointTracks


def spoken(remedy: Remedy, joint: int) -> str:
    """What would let a joint arrive as it was asked to, in words.

    Args:
        remedy: what `remedies` found.
        joint: index of the joint.
    """
    ways = []
    latest = float(remedy.latest[joint])
    if np.isfinite(latest) and latest > 0.0:
        ways.append(f"reach it at most {latest:.2f} s after it sets out")
    tension = float(remedy.tension[joint])
    if 0.0 < tension < 1.0:
        ways.append(f"set Tension to {tension:.3f}")
    return " or ".join(ways)


def told_of(part: Part, motion: PoseMotion) -> tuple[Problem, ...]:
    """What of the targets could not be had.

    Args:
        part: what was solved.
        motion: what came of it.
    """
    found: list[Problem] = []
    for arrival in motion.arrivals:
        target, name = part.targets[arrival.target], part.names[arrival.target]
        for joint in np.flatnonzero(~arrival.allowed & target.joints & part.moving):
            remedy = remedies(arrival.way, arrival.rate, arrival.time, part.settings.tension)
            way = spoken(remedy, joint)
            found.append(Problem(
                "TENSION_YIELDED",
                f"{part.bones[joint]} comes in too fast to reach {name} with this tension: it "
                "arrives with another one",
                "INFO", time=target.time, bone=part.bones[joint],
                remedy=way[:1].upper() + way[1:],
            ))
        worst = int(np.argmax(np.where(part.moving, arrival.error, 0.0)))
        if part.moving[worst] and arrival.error[worst] > MISSED:
            degrees = float(np.degrees(arrival.error[worst]))
            found.append(Problem(
                "POSE_MISSED",
                f"{part.bones[worst]} is {degrees:.1f}° off {name}",
                time=target.time, bone=part.bones[worst], amount=degrees,
                remedy="Reach it later, disturb it less shortly before, or let its limits go "
                "that far",
            ))
    for joint in {joint for _time, joint in motion.stops}:
        first = min(time for time, other in motion.stops if other == joint)
        found.append(Problem(
            "JOINT_LIMIT", f"{part.bones[joint]} runs into its limit", "INFO", time=first,
            bone=part.bones[joint],
        ))
    return tuple(found)
