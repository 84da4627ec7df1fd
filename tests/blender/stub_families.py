# SPDX-License-Identifier: GPL-3.0-or-later
"""Three families of motions as small as they can be, added as any is: a row in the kinds of
settings, and one in the families. Nothing else of Poise knows them.

Two poses of a whole figure, blended; a bone turned between two keys of what plays on it; a rod
that swings on a rig of its own.
"""

from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np
import poise
from poise.addon.families import FAMILIES
from poise.addon.families.base import Job, Solved
from poise.addon.families.family import Family
from poise.addon.mapping.rows import Row
from poise.addon.mapping.tracks import ROOT, Contact, JointTracks, RoleTracks
from poise.addon.rigs import characters
from poise.addon.rigs.pose import reader
from poise.addon.rigs.pose.joints import links_of
from poise.addon.scene.figures import figure_in_metres, placement_of
from poise.addon.scene.timing import frame_range
from poise.addon.settings import motion as settings_of_motions
from poise.addon.settings.rows import Rows
from poise.operators.motion import POISE_OT_motion_add
from poise.solvers import rotations
from poise.solvers.clock import Clock


def smooth(time):
    """From 0 to 1, at rest at both ends."""
    s = time / time[-1]
    return s * s * (3.0 - 2.0 * s)


def common(context, motion, actor, numbers):
    """What every job says."""
    start, end = frame_range(context.scene, motion)
    return {
        "name": motion.name, "character": actor.name, "kind": actor.kind, "numbers": numbers,
        "motion": motion.poise_motion.kind, "start_frame": start, "end_frame": end,
    }


# -- two poses of a whole figure ---------------------------------------------------------------


class PoiseCrouch(Rows, bpy.types.PropertyGroup):
    """From standing to a crouch."""

    ROWS = (Row("depth", 0.15, "How far the body goes down", unit="LENGTH", label="Depth",
                ends=(0.0, 1.0)),)


@dataclass(frozen=True)
class CrouchJob(Job):
    stands: dict = None
    lower: dict = None
    origin: np.ndarray = None
    yaw: float = 0.0


class Crouches(Family):
    name, moves = "LEGGED", "crouches"

    def gather(self, context, motion, actor, numbers):
        rig, unit = actor.armature, numbers.unit_scale
        figure, place = figure_in_metres(rig, unit), placement_of(motion, unit)
        bones = characters.role_bones_of(rig)
        stands = {role: np.array(rig.data.bones[b].head_local) for role, b in bones.items()}
        depth = motion.poise_motion.crouch.depth * unit
        # Hips and all above them; knees go ahead.
        lower = {
            role: at - (0.0, 0.0, depth if at[2] > 0.6 * figure.leg_length else 0.0)
            for role, at in stands.items()
        }
        return CrouchJob(
            **common(context, motion, actor, numbers), settings=depth, figure=figure,
            stands=stands, lower=lower, origin=place.origin, yaw=place.yaw,
        )

    def solve(self, job, before, progress):
        clock = Clock.running(job.end_frame - job.start_frame + 1, job.numbers.fps, 2)
        origin, yaw = (job.origin, job.yaw) if before is None else (before.place[ROOT], before.yaw)
        turn, share = rotations.about_z(np.array(yaw)), smooth(clock.time)[:, None]
        position = {
            role: rotations.rotate(turn, at + share * (job.lower[role] - at)) + origin
            for role, at in job.stands.items()
        }
        rotation = {role: np.tile(turn, (len(clock.time), 1)) for role in position}
        contacts = tuple(
            Contact(leg.control, 0.0, float(clock.time[-1]), position[leg.control][0],
                    limb=(*leg.limb, leg.pole, leg.tip))
            for leg in job.figure.legs
        )
        return Solved(job, None, RoleTracks(clock, position, rotation, contacts))

    def inputs(self, job):
        return {"settings": job.settings, "place of the motion": (job.origin, job.yaw)}


# -- a bone between two keys of what plays on it -----------------------------------------------


class PoiseEase(Rows, bpy.types.PropertyGroup):
    """A bone that goes from its first key to its last with a start and an end at rest."""

    bone: bpy.props.StringProperty()


@dataclass(frozen=True)
class EaseJob(Job):
    bone: str = ""
    turns: np.ndarray = None


class Eases(Family):
    name, moves, joints, lies = "EASE", "eases", True, True

    def able(self, actor):
        return "" if len(actor.joints.data.bones) else f"{actor.name} has no bones to turn"

    def gather(self, context, motion, actor, numbers):
        known, bone = common(context, motion, actor, numbers), motion.poise_motion.ease.bone
        frames = np.arange(known["start_frame"], known["end_frame"] + 1.0)
        names = [bone, *(b.name for b in actor.joints.data.bones[bone].parent_recursive)]
        played = reader.played(context, actor.joints, names, frames, actor.without).bones
        clock = Clock.running(len(frames), numbers.fps)
        below = JointTracks(clock, {name: played[name].rotation for name in names})
        return EaseJob(
            **known, settings=None, links=links_of(actor.joints, numbers.unit_scale, below),
            bone=bone, turns=np.broadcast_to(played[bone].rotation, (len(frames), 4))[[0, -1]],
        )

    def solve(self, job, before, progress):
        clock = job.links.below.clock
        first, last = (np.tile(turn, (len(clock.time), 1)) for turn in job.turns)
        turn = rotations.slerp(first, last, smooth(clock.time))
        return Solved(job, None, JointTracks(clock, {job.bone: turn}))

    def inputs(self, job):
        return {"settings": job.bone, "what plays below": job.turns}


# -- a rod that swings -------------------------------------------------------------------------


class PoiseRod(Rows, bpy.types.PropertyGroup):
    """A uniform rod on a hinge, let go at an angle."""

    ROWS = (Row("angle", 0.15, "Angle at which it is let go", unit="ANGLE", label="Angle"),)


@dataclass(frozen=True)
class RodJob(Job):
    rate: float = 0.0


class Rods(Family):
    name, moves, joints = "ROD", "swings", True

    def able(self, actor):
        rod = "Rod" in actor.armature.data.bones
        return "" if rod else f"{actor.name} has no bone Rod to swing"

    def gather(self, context, motion, actor, numbers):
        links = links_of(actor.armature, numbers.unit_scale)
        length = links.lengths["Rod"] * float(np.linalg.norm(links.world[:3, 0]))
        # I = m l^2 / 3 about the hinge, m g l / 2 brings it back: small swings are harmonic.
        return RodJob(
            **common(context, motion, actor, numbers), settings=motion.poise_motion.rod.angle,
            links=links, rate=float(np.sqrt(1.5 * numbers.gravity / length)),
        )

    def solve(self, job, before, progress):
        clock = Clock.running(job.end_frame - job.start_frame + 1, job.numbers.fps, 2)
        swing = rotations.about_x(job.settings * np.cos(job.rate * clock.time))
        return Solved(job, None, JointTracks(clock, {"Rod": swing}))

    def inputs(self, job):
        return {"settings": (job.settings, job.rate)}


# -- adding them -------------------------------------------------------------------------------

STUBS = {
    "CROUCH": ("crouch", PoiseCrouch, Crouches()),
    "EASE": ("ease", PoiseEase, Eases()),
    "ROD": ("rod", PoiseRod, Rods()),
}


def _added(there: bool) -> None:
    """Put the rows of the stubs into both tables, or take them out."""
    kinds, annotations = settings_of_motions.KINDS, settings_of_motions.PoiseMotion.__annotations__
    for number, (kind, (group, settings, family)) in enumerate(STUBS.items(), start=900):
        row = settings_of_motions.Kind(kind, kind.title(), "A stub", number, group, settings)
        if there:
            kinds.append(row)
            FAMILIES[kind] = family
            bpy.utils.register_class(settings)
        else:
            kinds.remove(row)
            del FAMILIES[kind], annotations[group]
            bpy.utils.unregister_class(settings)
    annotations.update(settings_of_motions.group_properties())
    # Which was made from the table when it was imported.
    chosen = POISE_OT_motion_add.__annotations__["kind"]
    chosen.keywords["items"] = settings_of_motions.kind_items()


@contextmanager
def registered():
    """Poise as if the stubs were part of it; without them again afterwards."""
    poise.unregister()
    _added(True)
    poise.register()
    try:
        yield
    finally:
        poise.unregister()
        _added(False)
        poise.register()
