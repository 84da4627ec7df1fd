# SPDX-License-Identifier: GPL-3.0-or-later
"""The one reader of poses: as they stand, as channels put them, and as they play over time.

What a rig plays is read from its F-curves where these alone decide. Where drivers, constraints
or blended strips have a say, Blender evaluates the frames, and everything is put back: frame,
subframe, what plays, and how bones were posed that nobody had keyed yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ....solvers import rotations
from ... import keyframes
from ...errors import UserError
from ...steps import finish
from . import evaluate, rotation_modes
from .algebra import Basis
from .channels import bone_of
from .fingerprint import digest_of
from .frames import armature_frames
from .plays import (
    NOTHING,
    Active,
    Channel,
    Playing,
    Without,
    channel_paths,
    rotation_property,
    sounding,
    undecided,
)
from .solver import Computed, RigSolver


def require_bones(rig: bpy.types.Object, bones: Iterable[str]) -> None:
    """Refuse to read bones that a rig does not have.

    Args:
        rig: the rig.
        bones: their names.

    Raises:
        UserError: one is gone.
    """
    missing = next((name for name in bones if name not in rig.pose.bones), None)
    if missing is not None:
        raise UserError(
            f"{rig.name} has no bone {missing}: bring it back, or choose another bone"
        )


def posture(rig: bpy.types.Object, bones: Iterable[str] | None = None) -> dict[str, Basis]:
    """How bones stand in their own channels, as one sample each.

    Args:
        rig: the rig.
        bones: names of bones; None for all.

    Raises:
        UserError: a bone is gone.
    """
    posed = rig.pose.bones
    names = list(posed.keys() if bones is None else bones)
    require_bones(rig, names)
    return {name: _basis(_channels(posed[name])[None], posed[name]) for name in names}


def keyed(
    rig: bpy.types.Object, active: Active, frame: float | np.ndarray,
    bones: Iterable[str] | None = None,
) -> dict[str, Basis]:
    """What an action says of bones at a frame, or at several, whether the rig plays it or not.

    Args:
        rig: the rig, whose rotation modes count.
        active: the action and its slot.
        frame: the frame, or (n,) of them; fractions allowed.
        bones: names of bones; None for all.

    Returns:
        Channels of those that the action has some for, one sample a frame; others are as in the
        rest pose.
    """
    curves = {(curve.data_path, curve.array_index): curve for curve in sounding(active)}
    paths = {path for path, _ in curves}
    found = {}
    for name in rig.pose.bones.keys() if bones is None else bones:
        own = channel_paths(rig, name)
        if not paths.isdisjoint(own):
            rest = zip(own, _REST[own[1].rpartition(".")[2]], strict=True)
            values = _from_curves(rig, name, np.atleast_1d(frame), curves, dict(rest))
            found[name] = _basis(values, rig.pose.bones[name])
    return found


def posed(
    rig: bpy.types.Object, local: Mapping[str, Basis], bones: Iterable[str] | None = None
) -> dict[str, np.ndarray]:
    """Where bones are in armature space that have given channels; constraints do not count.

    Under a bone that is scaled unevenly, those that inherit its scale in another way than
    Full are near the mark only.

    Args:
        rig: the rig; bones that no channels are given of stand as they are.
        local: bone -> its channels, one sample or as many as the others have.
        bones: names of the bones asked for; None for those with channels.

    Returns:
        Bone -> (n, 4, 4), or (1, 4, 4) of one that does not move.
    """
    solver = solver_of(rig, local)
    names = local if bones is None else bones
    return {name: solver.pose(name).matrices for name in names}


def solver_of(
    rig: bpy.types.Object,
    moved: Mapping[str, Basis],
    constrained: Computed | None = None,
    evaluated: Mapping[str, np.ndarray] | None = None,
) -> RigSolver:
    """What tells where bones are in armature space.

    Args:
        rig: the rig.
        moved: channels of bones that do not stand as they are.
        constrained: constraints that count.
        evaluated: bone -> (m, 4, 4) where it is, if something else has put it there.
    """
    still = armature_frames(rig.name, np.eye(4)[None])
    return RigSolver(
        rig, {}, still, 1.0, rotations.identity(1)[0], evaluated, constrained, moved
    )


@dataclass(frozen=True)
class Played:
    """What plays on bones of a rig.

    Attributes:
        times: (n,) frames, as asked for.
        bones: bone -> its channels at these times: turns continuous, whole turns counted.
        constrained: those of the bones that constraints move: their channels are those that
            would put them where they are.
        digest: of all that was read, see `digest_of`.
    """

    times: np.ndarray
    bones: Mapping[str, Basis]
    constrained: frozenset[str]
    digest: str


def played(
    context: bpy.types.Context,
    rig: bpy.types.Object,
    bones: Collection[str],
    frames: Sequence[float] | np.ndarray,
    without: Without = NOTHING,
) -> Played:
    """Read what plays on a rig over time.

    Args:
        context: Blender's context; its scene and view layer count.
        rig: the rig.
        bones: names of bones.
        frames: (n,) when; fractions allowed.
        without: keys that do not count.

    Raises:
        UserError: a bone is gone, or Blender has to evaluate the rig and cannot.
    """
    frames = np.asarray(frames, dtype=float)
    plays = Playing.on(rig, without)
    require_bones(rig, bones)
    constrained, unsure = undecided(rig, plays)
    cut = {bone_of(path) for path, _ in plays.cut}
    asked = [name for name in bones if name in constrained | unsure | cut]
    channels: dict[str, np.ndarray] = {}
    if asked:
        evaluate.require_evaluated(context, rig)
        # Keyed modes change from frame to frame.
        modes = {name: rig.pose.bones[name].rotation_mode for name in constrained}

        def read(obj: bpy.types.Object, bone: bpy.types.PoseBone) -> np.ndarray:
            mode = modes.get(bone.name)
            return _channels(bone) if mode is None else _visual(obj, bone, mode)

        with evaluate.playing(context, rig, plays, without):
            look = evaluate.Look(rig, asked, frames, read, _WIDTH)
            [(_, values)] = finish(evaluate.matrices(context, [look]))
        channels = dict(zip(asked, np.moveaxis(values, 1, 0), strict=True))
    for name in bones:
        if name not in channels:
            channels[name] = _from_curves(rig, name, frames, plays.curves, without.pose)
    found = {name: _basis(channels[name], rig.pose.bones[name]) for name in bones}
    known = digest_of(rig, bones, without)
    return Played(frames, found, frozenset(constrained & set(bones)), known)


# -- Channels ------------------------------------------------------------------------

# Location, rotation in the bone's own mode (three numbers or four), scale.
_WIDTH = (10,)

# The same in the rest pose, by the property that holds the rotation.
_REST = {
    name: ((0.0,) * 3, turned, (1.0,) * 3) for name, turned in rotation_modes.REST.items()
}


def _channels(bone: bpy.types.PoseBone) -> np.ndarray:
    """(10,) channels of a bone as they stand."""
    turned = tuple(getattr(bone, rotation_property(bone)))
    return np.array((*bone.location, *turned, *(0.0,) * (4 - len(turned)), *bone.scale))


def _visual(obj: bpy.types.Object, bone: bpy.types.PoseBone, mode: str) -> np.ndarray:
    """(10,) channels, in a rotation mode, that would put an evaluated bone where it is."""
    place, turn, size = evaluate.local_matrix(obj, bone).decompose()
    values = rotation_modes.to_mode(np.array([turn], dtype=float), mode)[0]
    return np.array((*place, *values, *(0.0,) * (4 - len(values)), *size))


def _basis(values: np.ndarray, bone: bpy.types.PoseBone) -> Basis:
    """Channels (n, 10) of a bone as turns, places, sizes and whole turns."""
    mode = bone.rotation_mode
    angles = values[:, 3:6] if mode in rotations.EULER_ORDERS else values[:, 3:7]
    place = values[:, :3]
    if bone.bone.use_connect:  # Blender does not move it, whatever its location says
        place = np.zeros_like(place)
    return Basis(
        place, rotations.continuous(rotation_modes.from_mode(angles, mode)),
        values[:, 7:], rotation_modes.whole_turns(angles, mode),
    )


def _from_curves(
    rig: bpy.types.Object, name: str, frames: np.ndarray,
    curves: Mapping[Channel, bpy.types.FCurve], stands: Mapping[str, Sequence[float]],
) -> np.ndarray:
    """(n, 10) channels of a bone that F-curves alone decide; data path -> where it stands else."""
    values = np.tile(_channels(rig.pose.bones[name]), (len(frames), 1))
    for path, first, width in zip(channel_paths(rig, name), (0, 3, 7), (3, 4, 3), strict=True):
        if path in stands:
            values[:, first : first + len(stands[path])] = stands[path]
        for index in range(width):
            curve = curves.get((path, index))
            if curve is not None:
                values[:, first + index] = keyframes.evaluate(curve, frames)
    return values
