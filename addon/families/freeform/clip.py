# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips as motions of a body: a few of their frames become postures.

A clip is keyed on the controls of one of Poise's characters, or on the bones of a rig that
follows such controls. These bones are where targets of the controls would be if the controls
were posed so; what is rigidly tied to a link of the body turns as the link does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from scipy.ndimage import minimum_filter1d

from ....solvers import affine, rotations
from ....solvers.clock import Clock
from ....solvers.freeform import FreeformMotion
from ....solvers.freeform.body import links
from ....solvers.freeform.choose import Clip
from ...errors import UserError
from ...mapping.freeform import RoleBody, body_of, tracks_of, turns_of
from ...mapping.tracks import PELVIS, RoleTracks
from ...placement import world_matrix
from ...rigs import characters
from ...rigs.controls import control_rig, fitting
from ...rigs.pose import reader
from ...rigs.pose.algebra import Basis
from ...rigs.pose.plays import Active
from .gather import bones_of, figure_on_legs, placed
from .job import SolvedFreeform

# Links of a body that recognition calls otherwise.
CALLED = {"elbow_joint": "forearm"}

SLOW, LOW = 0.45, 0.06  # of a leg's length per s, and of it over where feet are lowest meanwhile
MEANWHILE = 0.4  # s before and after: who jumps onto a table stands there
SHORTEST = 0.06  # s that a foot stands at least, or is off the ground
FLIES = 0.09  # s that a body is in the air at least


@dataclass(frozen=True)
class Read:
    """A clip as a body's motion.

    Attributes:
        body: the figure.
        clip: its motion, in character space.
        frames: (t,) of the action.
        stands: limb -> (t,) bool.
    """

    body: RoleBody
    clip: Clip
    frames: np.ndarray
    stands: dict[str, np.ndarray]

    def part(self, first: int, last: int) -> Read:
        """From one row to another.

        Args:
            first: the first row.
            last: the last row.
        """
        rows, clip = slice(first, last + 1), self.clip
        cut = Clip(
            clip.body, clip.times[rows] - clip.times[first], clip.places[rows], clip.joints[rows]
        )
        stands = {name: on[rows] for name, on in self.stands.items()}
        return Read(self.body, cut, self.frames[rows], stands)

    def supports(self, row: int) -> tuple[str, ...]:
        """Limbs that bear the body at a frame.

        Args:
            row: of the clip.
        """
        return tuple(name for name, on in self.stands.items() if on[row])

    def poses(self, rows: Sequence[int]) -> RoleTracks:
        """Where roles are at some frames, in character space.

        Args:
            rows: of the clip.
        """
        joints = self.clip.joints[list(rows)].copy()
        turn, place = joints[:, 0].copy(), self.clip.places[list(rows)]
        joints[:, 0] = (1.0, 0.0, 0.0, 0.0)
        motion = FreeformMotion(
            np.arange(float(len(rows))), place, turn, joints, place, np.zeros((0, 3)),
            np.zeros((0, 2)), (), (),
        )
        return tracks_of(self.body, motion, Clock.running(len(rows), 1.0))


def read_clip(
    controls: bpy.types.Object, action: bpy.types.Action, slot: int, fps: float, unit_scale: float
) -> Read:
    """Read an action.

    Args:
        controls: the character.
        action: keyed on it, or on the rig that it drives.
        slot: handle of the action's slot.
        fps: frames per second.
        unit_scale: metres per Blender unit.

    Raises:
        UserError: it keys neither, or is too short.
    """
    figure = figure_on_legs(controls, unit_scale)
    body = body_of(figure)
    first, last = (round(frame) for frame in action.frame_range)
    if last - first < 2:
        raise UserError(f"Action {action.name} is {last - first + 1} frames long: choose a clip")
    frames = np.arange(first, last + 1.0)
    active, rig = Active(action, slot), control_rig.rig_of(controls)
    own = reader.keyed(controls, active, frames, bones_of(controls))
    if own:
        still = Basis(np.zeros((1, 3)), rotations.identity(1), np.ones((1, 3)))
        local = {name: own.get(name, still) for name in bones_of(controls)}
        place, joints = turns_of(body, placed(controls, figure, local, len(frames)))
    else:
        keyed = {} if rig is None else reader.keyed(rig, active, frames)
        if not keyed:
            raise UserError(
                f"Action {action.name} keys no bone of {(rig or controls).name}: choose another one"
            )
        place, joints = _followed(controls, rig, body, keyed, len(frames))
    clip = Clip(body.body, (frames - first) / fps, place, joints)
    return Read(body, clip, frames, _standing(body, clip, fps))


def _followed(
    controls: bpy.types.Object, rig: bpy.types.Object, body: RoleBody, keyed, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """How the body is turned that a rig's own bones belong to."""
    bones = {role: bone for role, (bone, _) in control_rig.followers(controls).items()}
    frame = characters.rest_frame(controls)
    size = characters.figure_of(controls).height / body.figure.height
    into = frame @ affine.inverse(np.array(world_matrix(controls), dtype=float))
    into = into @ np.array(world_matrix(rig), dtype=float)
    found = reader.posed(rig, keyed, bones.values())
    world: list[np.ndarray] = []
    place = None
    for i, name in enumerate(body.names):
        base, dot, side = name.partition(".")
        role = CALLED.get(base, base) + dot + side
        target = controls.data.bones.get(fitting.target_bone(role))
        if role not in bones or target is None:
            parent = int(body.body.figure.parents[i])
            world.append(world[parent] if parent >= 0 else np.tile((1.0, 0, 0, 0), (count, 1)))
            continue
        there = into @ np.broadcast_to(found[bones[role]], (count, 4, 4))
        axes = there[:, :3, :3] / np.linalg.norm(there[:, :3, :3], axis=1)[:, None]
        rest = frame @ np.array(target.matrix_local, dtype=float)
        turn = rotations.from_matrix(axes @ rest[:3, :3].T)
        world.append(rotations.continuous(turn))
        if name == PELVIS:
            offset = body.figure.joints[PELVIS] - rest[:3, 3] / size
            place = there[:, :3, 3] / size + rotations.rotate(turn, np.tile(offset, (count, 1)))
    if place is None:
        raise UserError(f"{rig.name} has no bone for the pelvis: give it one under Roles")
    turns = np.stack(world, axis=1)
    local = turns.copy()
    parents = body.body.figure.parents
    local[:, 1:] = rotations.multiply(
        rotations.conjugate(turns[:, parents[1:]]), turns[:, 1:]
    )
    return place, local


def _standing(body: RoleBody, clip: Clip, fps: float) -> dict[str, np.ndarray]:
    """Limb -> (t,) whether its end is low and slow, as feet that stand are."""
    figure, leg = body.figure, body.figure.leg_length
    found = links(body.body, clip.places, clip.joints)
    # Feet stand on the heel, then the ball: any joint of theirs may rest.
    ends = {
        chain.name: [
            found.joints[:, body.index[role]]
            for role in chain.segments[chain.bend + 2 :] or chain.segments[-1:]
        ]
        for chain in figure.legs
    }
    heights = {
        name: [end[:, 2] - end[:, 2].min() for end in of] for name, of in ends.items()
    }
    lowest = np.min([high for of in heights.values() for high in of], axis=0)
    half = round(0.5 * MEANWHILE * fps)
    # Of what comes before and after: who lands on a table stands there at once.
    floor = np.max([
        minimum_filter1d(lowest, 2 * half + 1, mode="nearest", origin=side)
        for side in (-half, half)
    ], axis=0)
    stands = {}
    for name, of in ends.items():
        on = np.zeros(len(clip.times), bool)
        for end, high in zip(of, heights[name], strict=True):
            speed = np.linalg.norm(np.gradient(end, 1.0 / fps, axis=0), axis=1)
            on |= (high - floor <= LOW * leg) & (speed <= SLOW * leg)
        stands[name] = _evened(on, max(round(SHORTEST * fps), 2))
    # Between two steps of a walk nobody flies: the foot that leaves waits for the other.
    air = ~np.any(list(stands.values()), axis=0)
    real = _evened(air, max(round(FLIES * fps), 2), only=True)
    for name, on in stands.items():
        for row in np.flatnonzero(air & ~real):
            on[row] = on[row - 1] if row else on[row]
        stands[name] = on
    return stands


def _evened(on: np.ndarray, least: int, only: bool = False) -> np.ndarray:
    """What is on, and unless that alone counts off, for no fewer than some rows."""
    on = on.copy()
    for value in (True,) if only else (False, True):  # gaps first
        rows = np.flatnonzero(on == value)
        for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
            inner = len(run) and run[0] > 0 and run[-1] < len(on) - 1
            if inner and len(run) < least:
                on[run] = not value
    return on


def changes(read: Read) -> list[int]:
    """Frames at which flights begin and end.

    Args:
        read: the clip.
    """
    air = ~np.any(list(read.stands.values()), axis=0)
    edges = np.flatnonzero(air[1:] != air[:-1])
    # The last one on the ground, and the first one again.
    return sorted({int(k) if air[k + 1] else int(k + 1) for k in edges})


def handed_over(read: Read, rows: Sequence[int]) -> list[int]:
    """Frames with those in between at which one foot takes over from another.

    Postures on different feet would be ends of a flight, where the clip has none.

    Args:
        read: the clip; a foot that leaves just as another one comes is taken to wait for it.
        rows: chosen frames, ascending.
    """
    air = ~np.any(list(read.stands.values()), axis=0)
    found = list(rows)
    k = 0
    while k + 1 < len(found):
        a, b = found[k], found[k + 1]
        here, there = set(read.supports(a)), set(read.supports(b))
        if here and there and not here & there and b - a > 1 and not air[a:b].any():
            both = [r for r in range(a + 1, b) if here & set(read.supports(r))]
            row = both[-1] if both else a + 1
            found.insert(k + 1, row)
            if not set(read.supports(row)) & there and row + 1 >= b - 1:
                read.stands[next(iter(there))][row] = True
            elif not here & set(read.supports(row)):
                read.stands[next(iter(here))][row] = True
            elif not set(read.supports(row)) & set(read.supports(row + 1)):
                read.stands[next(iter(set(read.supports(row + 1))))][row] = True
        k += 1
    return found


@dataclass(frozen=True)
class Lost:
    """What of a clip a motion of postures does not have.

    Attributes:
        joints: part of the body -> mean and largest angle that joints are off, rad; of the
            upper and lower bones of limbs, that their directions are, and of hands and feet,
            that they are in the world.
        mass: mean and largest way that the body's mass is off, m.
        centre: largest way that its centre of mass is off while it is in the air, m; nan
            where it never is.
        own: likewise of the clip itself, from the parabolas through the ends of its flights: what
            no body can do that is in the air.
    """

    joints: dict[str, tuple[float, float]]
    mass: tuple[float, float]
    centre: float
    own: float

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Rows of a table."""
        rows = [
            (part, f"{np.degrees(mean):.1f}°, at most {np.degrees(most):.0f}°")
            for part, (mean, most) in self.joints.items()
        ]
        rows.append(("Mass", f"{100 * self.mass[0]:.1f} cm, at most {100 * self.mass[1]:.1f} cm"))
        if np.isfinite(self.centre):
            rows += [
                ("Centre in the Air", f"at most {100 * self.centre:.1f} cm"),
                ("Clip off a fall", f"at most {100 * self.own:.1f} cm"),
            ]
        return tuple(rows)


def lost_of(read: Read, solved: SolvedFreeform) -> Lost:
    """How far a motion of postures is from the clip that they were taken from.

    Args:
        read: the clip.
        solved: the motion, over the same frames.
    """
    motion, placement = solved.motion, solved.job.placement
    whole = solved.tracks.clock.whole
    back = rotations.conjugate(rotations.about_z(np.array(placement.yaw)))
    own = motion.joints[whole].copy()
    own[:, 0] = rotations.multiply(back, motion.turn[whole])
    place = rotations.rotate(back, motion.place[whole] - placement.origin)
    apart = rotations.multiply(rotations.conjugate(read.clip.joints), own)
    angle = np.linalg.norm(rotations.to_rotation_vector(apart), axis=-1)
    body = read.body.body
    one, other = (
        links(body, places, turns)
        for places, turns in ((read.clip.places, read.clip.joints), (place, own))
    )
    # Bones that are bent by inverse kinematics are twisted as their plane is: their
    # directions count.
    for limb in body.limbs:
        for link, end in ((limb.links[0], body.figure.places[limb.links[1]]),
                          (limb.links[1], limb.tip)):
            a, b = (rotations.rotate(x.turns[:, link], end / np.linalg.norm(end))
                    for x in (one, other))
            across = np.linalg.norm(np.cross(a, b), axis=1)
            angle[:, link] = np.arctan2(across, rotations.dot(a, b))
        for link in limb.beyond[:1]:
            apart = rotations.multiply(rotations.conjugate(one.turns[:, link]),
                                       other.turns[:, link])
            angle[:, link] = np.linalg.norm(rotations.to_rotation_vector(apart), axis=-1)
    parts: dict[str, list[int]] = {"Pelvis": [0], "Trunk": [], "Legs": [], "Arms": []}
    figure = read.body.figure
    legs = {role for chain in figure.legs for role in chain.limb}
    trunk = {*figure.trunk, *figure.neck, *figure.tail}
    for i, name in enumerate(read.body.names[1:], start=1):
        parts["Legs" if name in legs else "Trunk" if name in trunk else "Arms"].append(i)
    joints = {
        part: (float(angle[:, of].mean()), float(angle[:, of].max()))
        for part, of in parts.items() if of
    }
    share = body.figure.masses / body.figure.masses.sum()
    far = other.centres - one.centres
    off = np.sqrt((far**2).sum(axis=2) @ share)
    centre = np.linalg.norm(np.einsum("n,tnk->tk", share, far), axis=1)
    air = ~np.any(list(read.stands.values()), axis=0)
    return Lost(
        joints, (float(off.mean()), float(off.max())),
        float(centre[air].max()) if air.any() else float("nan"),
        _off_free_fall(
            np.einsum("n,tnk->tk", share, one.centres), read.clip.times, air,
            solved.job.numbers.gravity,
        ),
    )


def _off_free_fall(
    centre: np.ndarray, times: np.ndarray, air: np.ndarray, gravity: float
) -> float:
    """How far a centre of mass in the air is at most from where it would fall, m."""
    most = float("nan")
    edges = np.flatnonzero(np.diff(np.concatenate(([False], air, [False])).astype(int)))
    for a, b in edges.reshape(-1, 2):
        rows = slice(max(a - 1, 0), b + 1)  # from the last frame on the ground to the next one
        t, own = times[rows] - times[rows][0], centre[rows]
        s = (t / t[-1])[:, None]
        thrown = own[0] + (own[-1] - own[0]) * s
        thrown[:, 2:] += 0.5 * gravity * t[-1] ** 2 * s * (1.0 - s)
        most = float(np.fmax(most, np.linalg.norm(own - thrown, axis=1).max()))
    return most
