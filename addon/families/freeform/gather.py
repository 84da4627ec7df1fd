# SPDX-License-Identifier: GPL-3.0-or-later
"""Read free-form motion out of Blender: postures as the Motion object sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ....solvers import rotations
from ....solvers.clock import Clock
from ....solvers.motion import Placement
from ...errors import UserError
from ...mapping.freeform import from_the_ground, moved, on_legs, supports_of
from ...mapping.legs import LeggedFigure
from ...mapping.tracks import RoleTracks
from ...placement import changes, standing_at
from ...rigs import characters
from ...rigs.actor import Actor
from ...rigs.pose import reader, rotation_modes
from ...rigs.pose.algebra import Basis
from ...rigs.pose.frames import armature_frames
from ...rigs.pose.posture import Posture
from ...rigs.pose.solver import RigSolver
from ...scene.course import read_terrain
from ...scene.figures import figure_in_metres, placement_of
from ...scene.sampling import animated_settings, is_animated
from ...scene.timing import SceneNumbers, frame_range
from ...settings.freeform import BODY_POSTURE
from .job import FreeformJob

# Terrain so far (m) beside where a motion starts is read.
AROUND = 50.0


def gather(
    context: bpy.types.Context, motion: bpy.types.Object, actor: Actor, numbers: SceneNumbers
) -> FreeformJob:
    """Read one motion; see `Family.gather`."""
    scene, settings = context.scene, motion.poise_motion.freeform
    rig, unit = actor.armature, numbers.unit_scale
    start, end = frame_range(scene, motion)
    terrain, mesh = settings.terrain, None
    with standing_at(scene, start, motion, rig, *filter(None, (terrain,))):
        figure, placement = figure_on_legs(rig, unit), placement_of(motion, unit)
        if terrain is not None:
            mesh = read_terrain(terrain, *_around(motion, placement), unit)
    items = postures_in(motion, rig, start, end)
    limbs = supports_of(figure)
    return FreeformJob(
        name=motion.name, character=actor.name, kind=actor.kind, motion=motion.poise_motion.kind,
        start_frame=start, end_frame=end, settings=None, numbers=numbers, figure=figure,
        names=tuple(item.name for item in items),
        poses=poses_of(rig, figure, [kept(motion, item) for item in items], unit),
        frames=np.array([item.frame for item in items], dtype=float),
        supports=tuple(tuple(n for n in item.standing if n in limbs) for item in items),
        turns=np.array([tuple(item.turns) for item in items], dtype=float),
        placement=placement, timing=settings.timing,
        pace=pace_of(scene, motion, start, end), end_speed=settings.end_speed * unit,
        terrain=mesh, terrain_moves=terrain is not None and changes(terrain),
    )


def _around(motion: bpy.types.Object, placement: Placement) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the rectangle that a motion's terrain is read in; where the motion before leads
    it to is known only later."""
    far = AROUND if motion.poise_motion.after is None else np.inf
    return placement.origin[:2] - far, placement.origin[:2] + far


def figure_on_legs(rig: bpy.types.Object, unit_scale: float) -> LeggedFigure:
    """A character's rest pose as its legs carry it, in metres.

    Args:
        rig: the character.
        unit_scale: metres per Blender unit.

    Raises:
        UserError: it stands otherwise, or its object stands nowhere or out of shape.
    """
    figure = on_legs(figure_in_metres(rig, unit_scale))
    if figure is None:
        raise UserError(
            f"{rig.name} sits on what it rides, with hands and feet on it: set Motion to Turns or "
            "Path"
        )
    return figure


def kept(motion: bpy.types.Object, item) -> Posture:
    """The posture of an item.

    Args:
        motion: the Motion object.
        item: one of its postures.

    Raises:
        UserError: it is gone, or cannot be read.
    """
    posture = Posture.kept(motion, BODY_POSTURE.format(item.number), item.name)
    if posture is None:
        raise UserError(
            f"{item.name} of {motion.name} has lost its pose: remove it, and add it anew"
        )
    return posture


def bones_of(rig: bpy.types.Object) -> list[str]:
    """Bones whose channels tell where the roles of one of our characters are.

    Args:
        rig: the character.
    """
    found: dict[str, None] = {}
    for bone in characters.role_bones_of(rig).values():
        if bone in rig.data.bones:
            line = [bone, *(above.name for above in rig.data.bones[bone].parent_recursive)]
            found |= dict.fromkeys(line)
    return [bone.name for bone in rig.data.bones if bone.name in found]


def poses_of(
    rig: bpy.types.Object, figure: LeggedFigure, postures: Sequence[Posture], unit_scale: float
) -> RoleTracks:
    """Where roles are in postures, in character space.

    Args:
        rig: the character.
        figure: its rest pose in metres.
        postures: in the channels of its bones.
        unit_scale: metres per Blender unit.

    Raises:
        UserError: a posture is one of another rig.
    """
    needed = bones_of(rig)
    local: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {name: [] for name in needed}
    for posture in postures:
        rows = zip(posture.bones, posture.turns, posture.places, strict=True)
        held = {name: (turn, place) for name, turn, place in rows}
        lost = next((name for name in needed if name not in held), "")
        if lost:
            raise UserError(
                f"A posture was made on another rig, without the bone {lost} of {rig.name}: "
                "remove it, or replace it by a pose of this one"
            )
        for name in needed:
            local[name].append(held[name])
    count = len(postures)
    basis = {
        name: Basis(np.array([p for _, p in rows]), np.array([t for t, _ in rows]),
                    np.ones((count, 3)))
        for name, rows in local.items()
    }
    return placed(rig, figure, basis, count)


def placed(
    rig: bpy.types.Object, figure: LeggedFigure, local: Mapping[str, Basis], count: int
) -> RoleTracks:
    """Where roles are in character space, by channels of the controls.

    Args:
        rig: the character.
        figure: its rest pose in metres.
        local: bone -> its channels.
        count: how many samples there are.
    """
    bones = characters.role_bones_of(rig)
    bones = {role: bone for role, bone in bones.items() if role in figure.joints}
    found = reader.posed(rig, local, bones.values())
    frame = characters.rest_frame(rig)
    # What a metre of the figure is, in units of the armature.
    size = characters.figure_of(rig).height / figure.height
    position, rotation = {}, {}
    for role, bone in bones.items():
        here = np.broadcast_to(found[bone], (count, 4, 4))
        rest = np.array(rig.data.bones[bone].matrix_local, dtype=float)[:3, :3]
        turn = rotations.from_matrix(frame[:3, :3] @ here[:, :3, :3] @ rest.T @ frame[:3, :3].T)
        position[role] = (here[:, :3, 3] @ frame[:3, :3].T + frame[:3, 3]) / size
        rotation[role] = rotations.continuous(rotations.normalise(turn))
    return from_the_ground(figure, RoleTracks(Clock.running(count, 1.0), position, rotation))


def postures_at(
    rig: bpy.types.Object, figure: LeggedFigure, tracks: RoleTracks
) -> list[Posture]:
    """Postures whose roles are somewhere: undoes `poses_of`.

    Args:
        rig: the character.
        figure: its rest pose in metres.
        tracks: where its roles are in character space, one row a posture.
    """
    size = characters.figure_of(rig).height / figure.height
    frame = characters.rest_frame(rig)
    tracks = moved(
        replace(tracks, position={r: p - frame[:3, 3] / size for r, p in tracks.position.items()}),
        rotations.from_matrix(frame[:3, :3].T), np.zeros(3),
    )
    still = armature_frames(rig.name, np.diag((1.0 / size,) * 3 + (1.0,))[None])
    solver = RigSolver(
        rig, characters.role_bones_of(rig), still, 1.0, characters.rest_axes(rig),
        moved={name: Basis(np.zeros((1, 3)), rotations.identity(1), np.ones((1, 3)))
               for name in bones_of(rig)},
    )
    names, count = bones_of(rig), len(tracks.time)
    turns = {name: np.tile((1.0, 0.0, 0.0, 0.0), (count, 1)) for name in names}
    places = {name: np.zeros((count, 3)) for name in names}
    for track in solver.solve(tracks.position, tracks.rotation):
        if track.rotation is not None:
            mode = rig.pose.bones[track.bone].rotation_mode
            turns[track.bone] = rotation_modes.from_mode(track.rotation, mode)
        if track.location is not None:
            places[track.bone] = track.location
    return [
        Posture(
            tuple(names), np.array([turns[name][k] for name in names]),
            np.array([places[name][k] for name in names]), np.zeros((len(names), 3)),
        )
        for k in range(count)
    ]


def postures_in(motion: bpy.types.Object, rig: bpy.types.Object, start: int, end: int) -> list:
    """The postures of a motion, in order.

    Args:
        motion: the Motion object.
        rig: whom they pose.
        start: first frame of the motion.
        end: its last frame.

    Raises:
        UserError: there are fewer than two, or they are not one after the other in the range.
    """
    settings = motion.poise_motion.freeform
    items = list(settings.postures)
    if len(items) < 2:
        has = "only one posture" if items else "no postures"
        raise UserError(
            f"{motion.name} has {has}: pose {rig.name} at other frames and click Add Posture, "
            "since a motion leads from one to the next"
        )
    if settings.timing != "FRAMES":
        return items
    for one, other in zip(items[:-1], items[1:], strict=True):
        if not other.frame > one.frame:
            raise UserError(
                f"{other.name} of {motion.name} is at frame {other.frame:g}, not after {one.name} "
                f"at {one.frame:g}: give it a later frame, or move it up in the list"
            )
    for item in items:
        if not start - 1e-3 <= item.frame <= end + 1e-3:
            raise UserError(
                f"{item.name} is at frame {item.frame:g}, outside of the range {start} to {end} of "
                f"{motion.name}: change its frame, or Range"
            )
    return items


def pace_of(
    scene: bpy.types.Scene, motion: bpy.types.Object, start: int, end: int
) -> str | np.ndarray:
    """Name of a preset, or how Distance is keyed: (n, 2) frames from the start, and shares.

    Args:
        scene: the scene.
        motion: the Motion object.
        start: first frame of the motion.
        end: its last frame.

    Raises:
        UserError: it is to go by keys, and has none.
    """
    settings = motion.poise_motion.freeform
    if settings.timing != "DISTANCE" or settings.pace != "CURVE":
        return settings.pace
    if not is_animated(motion, "freeform", ("distance",)):
        raise UserError(
            f"{motion.name} has no keys of Distance, by which its Speed goes: click Edit Curve, "
            "or choose another Speed"
        )
    frames = np.linspace(start, end, 4 * (end - start) + 1)
    sampled = animated_settings(scene, motion, "freeform", ("distance",), frames)
    values = sampled.get("distance", np.full(len(frames), settings.distance))
    return np.stack((frames - start, values), axis=1)
