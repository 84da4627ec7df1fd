# SPDX-License-Identifier: GPL-3.0-or-later
"""Sequences of one limb's postures, on top of whatever the rest of the body does.

The limb's bones turn against what carries them as its path has them, which is designed apart
from the speed along it (Girard 1986, section 2). At both ends they may go over from and to
what plays below.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ....solvers import rotations
from ....solvers.clock import Clock
from ....solvers.errors import SettingError
from ....solvers.freeform import PRESETS, Body, Limb, LimbMotion, LimbPath, Pace
from ....solvers.freeform.reach import limb_points
from ...drawing.strokes import PATH_COLOUR, Mark
from ...errors import UserError
from ...mapping.handover import Handover
from ...mapping.tracks import JointTracks
from ...rigs import limbs, roles
from ...rigs.actor import Actor
from ...rigs.controls import control_rig
from ...rigs.pose.joints import links_of
from ...scene.timing import SceneNumbers, frame_range
from ..base import Progress, Solved
from ..family import Family
from ..posing.body import Chain, chains_of
from ..posing.gather import metres_of, read_below, way_to
from ..posing.job import JobOnTop, Played
from .gather import kept, pace_of, postures_in
from .solve import all_same, named
from .view import PacedView

STRAIGHT = 1e-3  # of a limb's length: its rest pose tells no bend under that
SAME = 1e-5  # rad that postures differ by which are the same
BEFORE = 1.0  # s of rest before the first posture and after the last one


@dataclass(frozen=True)
class LimbJob(JobOnTop):
    """Postures of a limb, and what they lie on.

    Attributes:
        names: of the postures, for messages.
        frames: (k,) when.
        bones: of the limb, from the body outwards, with those between them.
        moving: (n,) bool, those that are keyed.
        body: the bones as links.
        limb: the same as a limb: what hangs beyond its end turns along.
        joints: (k, n, 4) turns of the bones in the postures.
        end: share of the end's own path.
        timing: "FRAMES" or "DISTANCE".
        pace: preset's name, or (n, 2) frames from the start and shares of the way.
        blends: s in which it goes over from what plays below, and back.
    """

    names: tuple[str, ...] = ()
    frames: np.ndarray = field(kw_only=True)
    bones: tuple[str, ...] = ()
    moving: np.ndarray = field(kw_only=True)
    body: Body = field(kw_only=True)
    limb: Limb = field(kw_only=True)
    joints: np.ndarray = field(kw_only=True)
    end: float = 0.0
    timing: str = "FRAMES"
    pace: str | np.ndarray = "MINIMUM_JERK"
    blends: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class SolvedLimb(Solved):
    """A solved sequence of a limb's postures.

    Attributes:
        shares: (k,) of the way at which they lie.
        length: of the way: m of the end, or rad of the joints together where these lead.
    """

    job: LimbJob
    motion: LimbMotion
    tracks: JointTracks
    shares: np.ndarray = field(kw_only=True)
    length: float = field(kw_only=True)


def limb_of(motion: bpy.types.Object, rig: bpy.types.Object, name: str = "") -> limbs.Limb:
    """The limb that a motion's postures are those of.

    Args:
        motion: the Motion object.
        rig: the armature whose bones they are.
        name: of another limb; "" for that one.

    Raises:
        UserError: there is no such limb.
    """
    name, known = name or motion.poise_motion.freeform.limb, limbs_in(motion, rig)
    if name not in known:
        raise UserError(
            f"{rig.name} has no limb {name}: choose {', '.join([*known, ''])}or the whole body"
        )
    return known[name]


def limbs_in(motion: bpy.types.Object, rig: bpy.types.Object) -> dict[str, limbs.Limb]:
    """The limbs of a rig by their names.

    Args:
        motion: a Motion object of its.
        rig: the armature whose bones they are.
    """
    known, controls = roles.stored(motion.poise_motion), control_rig.controls_of(rig)
    if controls is not None:  # bones that Poise's controls move are those that decide others
        known |= {role: bone for role, (bone, _) in control_rig.followers(controls).items()}
    return limbs.limbs_of(rig, known or None)


def gather(
    context: bpy.types.Context, motion: bpy.types.Object, actor: Actor, numbers: SceneNumbers
) -> LimbJob:
    """Read one motion; see `Family.gather`."""
    settings, rig, unit = motion.poise_motion.freeform, actor.joints, numbers.unit_scale
    start, end = frame_range(context.scene, motion)
    whole = limb_of(motion, rig)
    items = postures_in(motion, rig, start, end)
    chain = _chain(rig, whole, metres_of(rig, unit))
    needed = [*(link.bone for link in way_to(rig, chain.carrier)), *chain.bones]
    under = read_below(context, rig, needed, np.arange(start, end + 1.0), actor.without)
    count = end - start + 1
    below = JointTracks(
        Clock.running(count, numbers.fps),
        {name: np.broadcast_to(turn, (count, 4)) for name, turn in under.turn.items()},
        {name: np.broadcast_to(place, (count, 3)) for name, place in under.place.items()},
    )
    return LimbJob(
        name=motion.name, character=actor.name, kind=actor.kind, motion=motion.poise_motion.kind,
        start_frame=start, end_frame=end, settings=None, numbers=numbers,
        names=tuple(item.name for item in items),
        frames=np.array([item.frame for item in items], dtype=float),
        bones=chain.bones, moving=chain.moving, **_bending(chain, whole),
        joints=_joints(motion, rig, chain, items, under), end=settings.end_path,
        timing=settings.timing, pace=pace_of(context.scene, motion, start, end),
        blends=(settings.blend_in, settings.blend_out), under=under,
        links=links_of(rig, unit, below),
    )


def _chain(rig: bpy.types.Object, limb: limbs.Limb, metres: float) -> Chain:
    chains = chains_of(rig, limb.all, metres)
    line = chains[0].body.figure.parents.tolist() == list(range(-1, len(chains[0].bones) - 1))
    if len(chains) > 1 or not line:
        raise UserError(
            f"The bones of {limb.name} of {rig.name} do not hang on each other: give it others "
            "under Roles, or choose another limb"
        )
    return chains[0]


def _bending(chain: Chain, limb: limbs.Limb) -> dict:
    """A chain as a body with one limb."""
    figure, count = chain.body.figure, len(chain.bones)
    inner = count - 1 if limb.end else count
    tip = figure.places[inner] if limb.end else chain.body.tips[-1]
    axes = np.where(chain.moving[:, None, None], figure.axes, 0.0)  # those between come along
    body = Body(replace(figure, axes=axes))
    links = tuple(range(inner))
    made = Limb(limb.name, links, tip, np.array((0.0, 0.0, 1.0)), inner if limb.end else -1)
    still = rotations.identity(1)
    turns, points = limb_points(
        body, made, np.zeros((1, 3)), still, rotations.identity(count)[None]
    )
    line = points[0, -1]
    aside = points[0, 1] - (points[0, 1] @ line) / (line @ line) * line
    if np.linalg.norm(aside) > STRAIGHT * np.linalg.norm(line):
        bend = rotations.rotate(rotations.conjugate(turns[0, 0]), rotations.normalise(aside))
        made = replace(made, bend=bend)
    return {"body": Body(body.figure, (made,)), "limb": made}


def _joints(
    motion: bpy.types.Object, rig: bpy.types.Object, chain: Chain, items: list, under: Played
) -> np.ndarray:
    """(k, n, 4) turns of a chain's bones in postures; those between them as they play."""
    joints = np.empty((len(items), len(chain.bones), 4))
    for k, item in enumerate(items):
        posture = kept(motion, item)
        held = dict(zip(posture.bones, posture.turns, strict=True))
        for i, name in enumerate(chain.bones):
            if chain.moving[i] and name not in held:
                raise UserError(
                    f"{item.name} was made of another limb, or on another rig, without the bone "
                    f"{name} of {rig.name}: remove it, or replace it by a pose of this one"
                )
            joints[k, i] = held[name] if chain.moving[i] else under.turn[name][0]
    return rotations.normalise(joints)


def solve(job: LimbJob, before: Handover | None, progress: Progress) -> SolvedLimb:
    """Solve a job."""
    progress(0.0)
    clock = Clock.running(job.end_frame - job.start_frame + 1, job.numbers.fps)
    try:
        motion, shares, length = _moved(job, clock.time)
    except SettingError as error:
        raise UserError(named(str(error), job.names)) from error
    weight = np.ones(clock.count)
    for blend, gone in zip(job.blends, (clock.time, clock.time[::-1]), strict=True):
        if blend > 0.0:
            weight *= PRESETS["MINIMUM_JERK"](gone / blend)
    turn = {
        name: rotations.continuous(rotations.slerp(
            np.broadcast_to(job.under.turn[name], (clock.count, 4)), motion.joints[:, i], weight
        ))
        for i, name in enumerate(job.bones) if job.moving[i]
    }
    told = tuple(
        p if p.time is None else replace(p, bone=job.bones[job.limb.links[-1]],
                                         remedy="Add a posture between, or lower Path of End")
        for p in motion.problems
    )
    motion = replace(motion, times=clock.time, problems=told)
    return SolvedLimb(job, motion, JointTracks(clock, turn), shares=shares, length=length)


def _moved(job: LimbJob, time: np.ndarray) -> tuple[LimbMotion, np.ndarray, float]:
    """The limb at times, s, shares of its path at which the postures lie, and its length."""
    apart = 1.0 - np.abs(rotations.dot(job.joints[1:], job.joints[:1]))
    if apart.max() > SAME**2:
        path = LimbPath(job.body, job.limb, job.joints, job.end)
        return path.move(*_timed(job, path, time)), path.shares, path.length
    count, none = len(time), np.zeros(len(time))
    still = np.repeat(job.joints[:1], count, axis=0)
    told = (all_same(job.limb.name),)
    return (
        LimbMotion(time, none, still, np.zeros((count, 3)), none, told),
        np.zeros(len(job.joints)), 0.0,
    )


def _timed(job: LimbJob, path: LimbPath, time: np.ndarray) -> tuple[np.ndarray, float, Pace]:
    """Times along a limb's path, from rest to rest: s, how long it takes, and its pace."""
    if job.timing == "DISTANCE":
        pace = PRESETS[job.pace] if isinstance(job.pace, str) else Pace.of(*job.pace.T)
        return time, max(float(time[-1]), 1.0 / job.numbers.fps), pace
    met = (job.frames - job.start_frame) / job.numbers.fps
    knots = np.concatenate([[met[0] - BEFORE], met, [met[-1] + BEFORE]])
    pace = Pace.of(knots, np.concatenate([[0.0], path.shares, [1.0]]))
    return time - knots[0], float(knots[-1] - knots[0]), pace


@dataclass(frozen=True)
class LimbNumbers:
    """What the panel says.

    Attributes:
        seconds: how long it takes.
        postures: how many there are.
        way: length of the path, in words.
    """

    seconds: float
    postures: int
    way: str

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Lines for the panel: (what, how much)."""
        return (
            ("Time", f"{self.seconds:.2f} s"), ("Postures", str(self.postures)), ("Way", self.way)
        )


class LimbView(PacedView[SolvedLimb]):
    """How a limb's sequence is shown: the limb, the way of its end, and its postures."""

    def numbers(self, solved: SolvedLimb) -> LimbNumbers:
        far = solved.length
        way = f"{far:.2f} m" if solved.job.end else f"{np.degrees(far):.0f}°"
        return LimbNumbers(float(solved.tracks.time[-1]), len(solved.job.names), way)

    def marks(self, solved: SolvedLimb) -> list[Mark]:
        """Names of the postures where the limb ends then."""
        job = solved.job
        if job.timing != "FRAMES" or job.links is None:
            return []
        places = job.links.places(solved.tracks, slice(None))[job.bones[-1]][:, 1]
        rows = np.clip(np.round(job.frames - job.start_frame).astype(int), 0, len(places) - 1)
        return [
            Mark(name, places[row], PATH_COLOUR) for name, row in zip(job.names, rows, strict=True)
        ]


class LimbSequences(Family[LimbJob, SolvedLimb]):
    """Free-form motion of one limb, on top of whatever plays."""

    name = "FREEFORM"
    moves = "free-form motion"
    view = LimbView()
    lies = True

    def gather(self, context, motion, actor, numbers):
        return gather(context, motion, actor, numbers)

    def able(self, actor):
        return "" if actor.kind else f"{actor.name} is not a Poise character"

    def solve(self, job, before, progress):
        return solve(job, before, progress)

    def inputs(self, job):
        return {
            "settings": (job.limb.name, job.frames, job.timing, job.pace, job.end, job.blends),
            "postures": (job.bones, job.joints),
            "what plays below": (job.under.digest, job.under.world),
        }
