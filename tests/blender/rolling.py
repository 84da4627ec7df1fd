# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the soles of a rig are from where they stand and roll, at eighths of frames.

From touchdown until it leaves the ground a foot stands on its heel, then on both ends of its
sole, then on its toes: Girard 1986, section 3.1; down a step it lands on its toes. Those ends
stay where they are.
"""

from dataclasses import dataclass

import bpy
import numpy as np
from poise.addon.rigs.controls import control_rig
from poise.solvers.rotations import about_z, conjugate, rotate
from scipy.interpolate import CubicSpline

NEAR = 2e-3  # frames from touchdown and liftoff: frames are single precision


def under(done, point, time):
    """(3,) where a point of the ground is at a time (s), under a body that may stay in place.

    Girard 1986 has the body go over the ground; in place it is the ground that goes back under
    it, and turns back.
    """
    if not done.job.in_place:
        return np.asarray(point)
    motion = done.motion
    way = CubicSpline(motion.time, np.column_stack((motion.position[:, :2], motion.yaw)))
    (x, y, yaw), (x0, y0, yaw0) = way(time), way(0.0)
    turn = about_z(np.array(yaw0 - yaw))
    return rotate(turn, np.asarray(point) - (x, y, 0.0)) + (x0, y0, 0.0)


@dataclass(frozen=True)
class Slide:
    """The farthest that an end of a sole is off.

    Attributes:
        metres: how far.
        looks: how often it was looked at.
        where: leg, step and frame.
    """

    metres: float
    looks: int
    where: tuple[str, int, float]


def ends_of(rig, done, bones, rest=None):
    """Leg -> for heel and toes the bone, how far behind the foot's point, and where in the bone.

    Args:
        rig: the armature.
        done: the solved job.
        bones: leg -> the bones of heel and toes.
        rest: takes a point of the figure to the armature's space; None where they stand alike.
    """
    found = {}
    for leg in done.motion.creature.legs:
        found[leg.name] = []
        for bone, y in zip(bones[leg.name], (leg.heel, -leg.toe), strict=True):
            point = leg.foot + (0.0, y, 0.0)
            point = np.array(rig.matrix_world.inverted()) @ np.append(point, 1.0) if rest is None \
                else np.append(rest(point), 1.0)
            inverse = np.linalg.inv(np.array(rig.data.bones[bone].matrix_local))
            found[leg.name].append((bone, y, inverse @ point))
    return found


def own_bones(rig, done):
    """`ends_of` a character of Poise's own."""
    chains = done.job.figure.legs
    legs = done.motion.creature.legs
    bones = {}
    for chain, leg in zip(chains, legs, strict=True):
        segments = [role for role in chain.segments if f"DEF-{role}" in rig.data.bones]
        ankle = chain.ankle if chain.ankle in segments else segments[-1]
        bones[leg.name] = [f"DEF-{role}" for role in (ankle, segments[-1])]
    return ends_of(rig, done, bones)


def their_bones(rig, controls, done, bones):
    """`ends_of` a rig of someone else's, from the last bones of its legs.

    Args:
        rig: the rig.
        controls: Poise's controls, which it follows.
        done: the solved job.
        bones: leg -> the bones of heel and toes.
    """
    origin, turn = control_rig.rest_of(controls)
    return ends_of(rig, done, bones, lambda point: origin + rotate(conjugate(turn), point))


def slide(rig, done, ends, start=1.0) -> Slide:
    """Look at all steps that are in the motion from touchdown to liftoff.

    Args:
        rig: the armature that is baked.
        done: the solved job.
        ends: of its soles.
        start: frame that the motion begins with.
    """
    scene, rate = bpy.context.scene, done.job.numbers.fps
    legs = {leg.name: leg for leg in done.motion.creature.legs}
    last = float(done.motion.time[-1])
    worst, looks, where = 0.0, 0, ("", 0, 0.0)
    for print_ in done.motion.footprints:
        if not 4.0 / rate < print_.on < print_.off < last - 2.0 / rate:
            continue
        leg, support = legs[print_.leg], print_.off - print_.on
        flat = print_.on + leg.flat * support
        first = (print_.on, flat) if print_.rolls.pitch[0] >= 0.0 else (flat, print_.on)
        heel, toes = (first[0], print_.off - (1.0 - leg.rise) * support), (first[1], print_.off)
        for (begin, end), (bone, y, point) in zip((heel, toes), ends[print_.leg], strict=True):
            planted = rotate(print_.orientation, np.array((0.0, y, 0.0))) + print_.position
            opens, closes = start + rate * begin + NEAR, start + rate * end - NEAR
            eighths = np.arange(np.ceil(8.0 * opens), np.floor(8.0 * closes) + 1.0) / 8.0
            for frame in (opens, *eighths, closes):
                scene.frame_set(int(frame), subframe=float(frame % 1.0))
                posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
                now = np.array(posed.matrix_world @ posed.pose.bones[bone].matrix) @ point
                off = float(np.linalg.norm(now[:3] - planted))
                looks += 1
                if off > worst:
                    worst, where = off, (print_.leg, print_.index, round(float(frame), 3))
    return Slide(worst, looks, where)
