# SPDX-License-Identifier: GPL-3.0-or-later
"""Does the rig, as Blender evaluates it, do what the tracks say?

Controls are compared by position and direction; the end of a limb on an IK
constraint by where it should be relative to its control. Reach is computed
for all frames from the pose alone, without evaluating anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import degrees, radians

import bpy
import numpy as np

from ...solvers import rotations
from ...solvers.motion import Problem
from ..context import keep_frame
from ..mapping.tracks import JointTracks, RoleTracks, Tracks
from ..rigs.pose import evaluate
from ..rigs.pose.frames import rest_axes
from ..rigs.pose.solver import RigSolver
from ..steps import finish
from . import checks
from .data import Check

SAMPLED = 16
POSITION_TOLERANCE = 1e-3  # metres
LEG_SHARE = 1e-3  # of the leg's length, where that is more
DIRECTION_TOLERANCE = radians(0.5)


@dataclass(frozen=True)
class Limb:
    """A chain of bones that an IK constraint of the rig pulls to a control.

    Attributes:
        end: bone that carries the constraint; its tail is the limb's end.
        bones: bones of the chain, from the end to the first.
        target: bone that the constraint follows.
        control: keyed bone that `target` is, or hangs on.
        length: rest length of the chain in units of the armature.
    """

    end: str
    bones: tuple[str, ...]
    target: str
    control: str
    length: float


def limbs(armature: bpy.types.Object, keyed: Iterable[str]) -> list[Limb]:
    """Limbs of a rig that follow keyed controls.

    Args:
        armature: the rig.
        keyed: names of the keyed bones.
    """
    keyed = set(keyed)
    found = []
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.type != "IK" or constraint.mute or constraint.influence < 1.0:
                continue
            if constraint.target != armature or constraint.subtarget not in armature.pose.bones:
                continue
            above = armature.pose.bones[constraint.subtarget]
            while above is not None and above.name not in keyed:
                above = above.parent
            if above is None or not constraint.use_tail:
                continue
            chain = [bone, *bone.parent_recursive]
            if constraint.chain_count:
                chain = chain[: constraint.chain_count]
            found.append(
                Limb(
                    end=bone.name,
                    bones=tuple(b.name for b in chain),
                    target=constraint.subtarget,
                    control=above.name,
                    length=sum(b.bone.length for b in chain),
                )
            )
    return found


def _simple(armature: bpy.types.Object, name: str, above: str) -> bool:
    """Whether a bone hangs on one above without constraints in between."""
    bone = armature.pose.bones[name]
    while bone is not None and bone.name != above:
        if any(not c.mute and c.influence > 0.0 for c in bone.constraints):
            return False
        bone = bone.parent
    return True


def tolerance(limb_lengths: Iterable[float], metres_per_unit: float) -> float:
    """Position error in metres that counts as none.

    Args:
        limb_lengths: lengths of the rig's limbs in units of the armature.
        metres_per_unit: size of such a unit.
    """
    longest = max(limb_lengths, default=0.0) * metres_per_unit
    return max(POSITION_TOLERANCE, LEG_SHARE * longest)


def reach_problems(
    armature: bpy.types.Object,
    solver: RigSolver,
    found: Iterable[Limb],
    metres_per_unit: float,
    seconds: np.ndarray,
    frames: np.ndarray,
) -> tuple[list[Problem], np.ndarray]:
    """Where limbs are too short for their control, for every frame.

    Args:
        armature: the rig.
        solver: the solver that made the channels.
        found: limbs of the rig.
        metres_per_unit: size of the armature's unit.
        seconds: (m,) times of the solver's samples.
        frames: (m,) their frames.

    Returns:
        One problem per limb that does not reach, and the largest share of a
        limb's length that is used, (m,).
    """
    problems = []
    used = np.zeros(len(seconds))
    found = list(found)
    allowed = tolerance((limb.length for limb in found), metres_per_unit)
    for limb in found:
        if not _simple(armature, limb.target, limb.control):
            continue
        start = solver.pose(limb.bones[-1])
        end = solver.pose(limb.target)
        length = limb.length * start.scale
        distance = np.linalg.norm(end.head - start.head, axis=1)
        used = np.maximum(used, distance / length)
        missing = (distance - length) * metres_per_unit
        missing = np.broadcast_to(missing, used.shape)
        if missing.max() > allowed:
            problems.append(
                _spans(
                    "REACH", limb.end, missing, allowed, seconds, frames,
                    f"{limb.end} does not reach {limb.control}: ",
                    lambda error: f"{1000 * error:.0f} mm short",
                    "Weaken the motion, or bring hips and feet nearer to each other",
                )
            )
    return problems, used


def _spans(
    code, bone, errors, allowed, seconds, frames, opening, amount, remedy
) -> Problem:
    """One problem for a bone, with its largest error and the frames that are off."""
    worst = int(np.argmax(errors))
    off = np.flatnonzero(errors > allowed)
    first, last = frames[off[0]], frames[off[-1]]
    when = f"frame {first:g}" if first == last else f"frames {first:g} to {last:g}"
    return Problem(
        code=code,
        message=f"{opening}{amount(errors[worst])} at frame {frames[worst]:g} ({when})",
        time=float(seconds[worst]),
        end_time=float(seconds[off[-1]]) if off[-1] > worst else None,
        bone=bone,
        amount=float(errors[worst]),
        remedy=remedy,
    )


def frames_to_verify(tracks: Tracks, used: np.ndarray | None = None) -> list[int]:
    """At most 16 frames, counted from the start: ends, contacts, largest reach.

    Args:
        tracks: the tracks.
        used: how far limbs are stretched at each frame, or None.
    """
    last = tracks.clock.count - 1
    chosen = [0, last]
    if used is not None:
        chosen += [int(i) for i in np.argsort(-used[: last + 1], kind="stable")[:3]]
    if last:
        for contact in tracks.contacts:
            middle = float(tracks.clock.frame_of(0.5 * (contact.start + contact.end)))
            chosen.append(int(np.clip(round(middle), 0, last)))
    chosen = list(dict.fromkeys(chosen))[:SAMPLED]
    spread = np.linspace(0, last, SAMPLED).round().astype(int).tolist()
    while len(chosen) < min(SAMPLED, last + 1):
        # The frame farthest from those chosen.
        left = [f for f in spread if f not in chosen] or [
            f for f in range(last + 1) if f not in chosen
        ]
        chosen.append(max(left, key=lambda f: min(abs(f - c) for c in chosen)))
    return sorted(chosen)


def rest_position(armature: bpy.types.Object) -> list[Problem]:
    """A problem if an armature shows its rest pose, whatever keys it has.

    Args:
        armature: the rig.
    """
    if armature.data.pose_position != "REST":
        return []
    return [
        Problem(
            code="REST_POSITION",
            message=f"{armature.name} is in Rest Position, where no bone moves",
            remedy="Set the armature to Pose Position (Data > Pose)",
        )
    ]


def check_bake(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    bindings: Mapping[str, str],
    tracks: Tracks,
    start_frame: int,
    unit_scale: float,
    frames: Iterable[int] | None = None,
    axes: np.ndarray | None = None,
) -> list[Problem]:
    """Compare the evaluated pose with the tracks in world space.

    The current frame is put back.

    Args:
        context: Blender's context; its scene and view layer count.
        armature: the baked rig.
        bindings: role -> bone.
        tracks: what was baked.
        start_frame: frame of the first sample.
        unit_scale: metres per Blender unit.
        frames: frames to look at, counted from the start; None for all.
        axes: quaternion from armature to character space; None to find it.

    Returns:
        One problem per bone that is off, with its largest error and frames.
    """
    if axes is None:
        axes = rest_axes(armature, bindings)
    if frames is None:
        frames = range(tracks.clock.count)
    frames = tuple(sorted(frames))
    check = Check(armature, bindings, tracks, start_frame, unit_scale, frames, axes)
    return check_bakes(context, [check])[0]


def check_bakes(context: bpy.types.Context, several: Sequence[Check]) -> list[list[Problem]]:
    """`check_bake` for several rigs, in one pass through the frames.

    Blender evaluates all of a scene at every frame, however few rigs are looked at there.

    Args:
        context: Blender's context; its scene and view layer count.
        several: the rigs.

    Returns:
        The problems of each.
    """
    shown = [check for check in several if not rest_position(check.armature)]
    frames = _frames_for([[f + check.start_frame for f in check.frames] for check in shown])
    wanted = [
        evaluate.Look(
            check.armature, _bones(check), _inside(check, frames),
            evaluate.local_matrix if _by_joints(check) else evaluate.pose_matrix,
        )
        for check in shown
    ]
    with keep_frame(context.scene):
        found = finish(evaluate.matrices(context, wanted))
    read = (
        _in_world(check.armature, look.bones, *there, _by_joints(check))
        for check, look, there in zip(shown, wanted, found, strict=True)
    )
    return [
        rest_position(check.armature)
        or _differences(context, check, _inside(check, frames) - check.start_frame, *next(read))
        for check in several
    ]


def _by_joints(check: Check) -> bool:
    """Whether bones are compared against their rest poses in their parents."""
    return isinstance(check.tracks, JointTracks)


def _bones(check: Check) -> list[str]:
    """Names of the bones that are looked at."""
    roles = checks.keyed_bindings(check.bindings, check.tracks)
    if isinstance(check.tracks, JointTracks):
        return list(roles)
    ends = (limb.end for limb in limbs(check.armature, roles.values()))
    return list(dict.fromkeys([*roles.values(), *ends]))


def _inside(check: Check, frames: Iterable[int]) -> np.ndarray:
    """Those frames of the scene that the tracks reach over, in order."""
    end = check.start_frame + check.tracks.clock.count - 1
    return np.array(sorted(f for f in frames if check.start_frame <= f <= end), dtype=int)


def _frames_for(wanted: Sequence[Collection[int]]) -> set[int]:
    """Frames at which rigs are looked at: their ends, and what most of them ask for."""
    votes = Counter(frame for frames in wanted for frame in frames)
    if len(wanted) < 2 or len(votes) <= SAMPLED:
        return set(votes)
    chosen = {end for frames in wanted for end in (min(frames), max(frames))}
    others = [frame for frame, _count in votes.most_common() if frame not in chosen]
    return chosen | set(others[: max(SAMPLED - len(chosen), 0)])


def _differences(
    context: bpy.types.Context,
    check: Check,
    numbers: np.ndarray,
    heads: np.ndarray,
    tails: np.ndarray,
    turned: np.ndarray,
    sizes: np.ndarray,
) -> list[Problem]:
    """Where a rig is off its tracks at frames, counted from the start."""
    armature, tracks, start_frame = check.armature, check.tracks, check.start_frame
    unit_scale, axes, names = check.unit_scale, check.axes, _bones(check)
    roles = checks.keyed_bindings(check.bindings, tracks)
    samples = tracks.clock.whole[numbers]
    found = [] if isinstance(tracks, JointTracks) else limbs(armature, roles.values())
    moves = any(np.ptp(values, axis=0).any() for values in (heads, turned))
    if not moves and _is_disabled(context, armature):
        return [
            Problem(
                code="NOT_EVALUATED",
                message=f"{armature.name} is hidden in viewports, where Blender does not evaluate "
                "it: whether it follows was not looked at",
                severity="INFO",
                remedy="Show it, or its collection (Outliner, Disable in Viewports), then Check "
                "Bake",
            )
        ]
    heads, tails = heads * unit_scale, tails * unit_scale
    allowed = tolerance((limb.length for limb in found), float(sizes.mean()) * unit_scale)
    seconds = tracks.time[samples]

    problems = []

    def report(bone: str, role: str, errors: np.ndarray, limit: float, angle: bool) -> None:
        if errors.max() <= limit:
            return
        worst = int(np.argmax(errors))
        off = numbers[errors > limit] + start_frame
        listed = ", ".join(map(str, off[:4])) + (" ..." if len(off) > 4 else "")
        amount = f"{degrees(errors[worst]):.1f}°" if angle else f"{1000 * errors[worst]:.1f} mm"
        problems.append(
            Problem(
                code="DIRECTION_OFF" if angle else "POSITION_OFF",
                message=f"Bone {bone} is off its track ({role}) by up to {amount} at frame "
                f"{numbers[worst] + start_frame} (frames {listed})",
                time=float(seconds[worst]),
                bone=bone,
                amount=float(errors[worst]),
                remedy=_remedy(armature, bone),
            )
        )

    for role, bone in roles.items():
        i = names.index(bone)
        if isinstance(tracks, JointTracks):
            if role in tracks.place:
                there = tracks.place[role][samples] * unit_scale
                error = np.linalg.norm(heads[:, i] - there, axis=1) * sizes
                report(bone, role, error, allowed, False)
            if role in tracks.turn:
                wanted = rotations.normalise(tracks.turn[role][samples])
                report(bone, role, _angles(wanted, turned[:, i]), DIRECTION_TOLERANCE, True)
            continue
        rest = rotations.multiply(axes, rotations.from_matrix(_rest(armature, bone)[:3, :3]))
        if checks.bone_location(role, tracks):
            error = np.linalg.norm(heads[:, i] - tracks.position[role][samples], axis=1)
            report(bone, role, error, allowed, False)
        if checks.bone_rotation(role, tracks):
            wanted = rotations.multiply(tracks.rotation[role][samples], rest)
            report(bone, role, _angles(wanted, turned[:, i]), DIRECTION_TOLERANCE, True)
    by_bone = {bone: role for role, bone in roles.items()}
    for limb in found:
        if not _simple(armature, limb.target, limb.control):
            continue
        role = by_bone[limb.control]
        if not (checks.bone_location(role, tracks) and checks.bone_rotation(role, tracks)):
            continue
        assert isinstance(tracks, RoleTracks)  # joints have no limbs here
        # Where the limb's end belongs, as the control carries it in the rest pose.
        control, target = _rest(armature, limb.control), _rest(armature, limb.target)
        offset = control[:3, :3].T @ (target[:3, 3] - control[:3, 3])
        rest = rotations.multiply(axes, rotations.from_matrix(control[:3, :3]))
        carried = rotations.rotate(
            rotations.multiply(tracks.rotation[role][samples], rest), offset
        )
        wanted = tracks.position[role][samples] + carried * sizes[:, None] * unit_scale
        error = np.linalg.norm(tails[:, names.index(limb.end)] - wanted, axis=1)
        report(limb.end, role, error, allowed, False)
    return problems


def _angles(turns: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Angles (n,) between turns (n, 4)."""
    return 2.0 * np.arccos(np.minimum(np.abs((turns * others).sum(axis=1)), 1.0))


def _is_disabled(context: bpy.types.Context, armature: bpy.types.Object) -> bool:
    """Whether an object, or every collection that it is in, is disabled in viewports.

    Blender evaluates it all the same where something that is shown needs it.
    """
    layers = [context.view_layer.layer_collection]
    while layers and not armature.hide_viewport:
        layer = layers.pop()
        if layer.exclude or layer.collection.hide_viewport:
            # Below a collection that is excluded others may be included.
            layers += [] if layer.collection.hide_viewport else layer.children
            continue
        if armature.name in layer.collection.objects:
            return False
        layers += layer.children
    return True


def _rest(armature: bpy.types.Object, bone: str) -> np.ndarray:
    return np.array(armature.data.bones[bone].matrix_local, dtype=float)


def _remedy(armature: bpy.types.Object, name: str) -> str:
    for constraint in armature.pose.bones[name].constraints:
        if not constraint.mute and constraint.influence > 0.0 and constraint.type != "IK":
            return f"Mute constraint {constraint.name}, if the motion is to be followed exactly"
    return "See what else moves or limits the bone: constraints, drivers, IK limits, NLA tracks"


def _in_world(
    armature: bpy.types.Object,
    names: Sequence[str],
    world: np.ndarray,
    pose: np.ndarray,
    local: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """World heads, tails (n, b, 3), rotations (n, b, 4) and object sizes (n,) of bones, from
    matrices of the object (n, 4, 4) and of the bones (n, b, 4, 4); of joints, against their
    rest poses in their parents."""
    lengths = np.array([armature.data.bones[name].length for name in names])
    matrices = pose if local else np.einsum("nij,nbjk->nbik", world, pose)
    heads = matrices[..., :3, 3]
    tails = heads + matrices[..., :3, 1] * lengths[:, None]
    axes = matrices[..., :3, :3]
    axes = axes / np.maximum(np.linalg.norm(axes, axis=-2, keepdims=True), 1e-30)
    sizes = np.linalg.norm(world[:, :3, :3], axis=1).mean(axis=1)
    return heads, tails, rotations.from_matrix(axes), sizes
