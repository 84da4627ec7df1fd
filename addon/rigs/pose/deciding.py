# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones' channels decide how others are turned, and what lets these go.

A bone that nothing but its own channels moves is keyed itself, in whichever mode it is turned.
Where constraints decide it, what decides them is set:

- what copies another bone whole goes where that one goes: the other bone is keyed, to stand
  where the joints below and above say that this one does;
- any other constraint, and IK that pulls at it, lets it go: the property that drives its
  influence (an IK/FK switch) is keyed, or its influence, and given back with the bake. What it
  lets go besides goes on as it plays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ....solvers import rotations
from ...context import keep_frame
from ...errors import UserError
from ...mapping.tracks import JointTracks
from . import reader
from .animated import animated_paths, moving_parents
from .constraints import CHAINED, constraints_of
from .joints import SEEN, as_keyed
from .plays import NOTHING, Without
from .properties import read_pose, read_value, restore_pose

SAME = 1e-6  # of influences, and of what a bone has anyway

# Constraints that do not decide how a bone is turned: what limits it has its say in the result.
LEFT_ALONE = {
    "COPY_SCALE", "LIMIT_DISTANCE", "LIMIT_LOCATION", "LIMIT_ROTATION", "LIMIT_SCALE",
    "MAINTAIN_VOLUME",
}

# How drivers without a script join their properties.
JOINED = {"SUM": sum, "MIN": min, "MAX": max, "AVERAGE": lambda values: sum(values) / len(values)}


@dataclass(frozen=True)
class Deciding:
    """What is to be keyed for joint tracks.

    Attributes:
        tracks: those of the bones whose channels decide.
        held: data path -> values of properties that let bones go.
    """

    tracks: JointTracks
    held: Mapping[str, tuple]


class _Grip:
    """What decides the bones of a rig, and lets them go.

    Args:
        armature: the rig.
        before: data paths that the bake which is replaced has keys of.
    """

    def __init__(self, armature: bpy.types.Object, before: Collection[str]) -> None:
        data = armature.animation_data
        self._armature, self._bones, self._before = armature, armature.pose.bones, before
        self._drivers = {
            curve.data_path: curve
            for curve in (data.drivers if data is not None else ()) if not curve.mute
        }
        self._animated = animated_paths(armature)
        self.held: dict[str, tuple] = {}
        self._pulls: dict[str, list[bpy.types.Constraint]] = {}
        for bone in self._bones:
            for constraint in bone.constraints:
                if constraint.type in CHAINED and self._acts(constraint):
                    for name in self._moved_by(bone, constraint):
                        self._pulls.setdefault(name, []).append(constraint)

    def controls(self, names: Iterable[str]) -> dict[str, str]:
        """Bone -> the one whose channels decide it, of several.

        Args:
            names: the bones.
        """
        # IK has to let go first: whether things follow a limb may hang on its switch.
        order = sorted(names, key=lambda name: name not in self._pulls)
        found = {name: self._control_of(name) for name in order}
        for bone in self._bones:
            self._obey(bone, set(found.values()))
        return found

    def freed(self) -> list[str]:
        """Bones that are let go as long as `held` holds, and were not before."""
        new = {
            path for path, values in self.held.items()
            if path in self._before or not same(read_value(self._armature, path), values)
        }
        found: dict[str, None] = {}
        for bone in self._bones:
            for constraint in bone.constraints:
                path = _influence(constraint)
                if constraint.type in LEFT_ALONE or not self._acts(constraint):
                    continue
                if new & {path, *self._switches(path)} and self._share(path) <= SAME:
                    found |= dict.fromkeys(self._moved_by(bone, constraint))
        return list(found)

    def hangs_on(self, name: str, others: Collection[str]) -> bool:
        """Whether a bone may move as others do, by its parents or by constraints.

        Args:
            name: the bone.
            others: the others.
        """
        waiting, seen = [name], set[str]()
        while waiting:
            name = waiting.pop()
            if name in others:
                return True
            if name in seen or name not in self._bones:
                continue
            seen.add(name)
            bone = self._bones[name]
            waiting.append(bone.parent.name if bone.parent else "")
            for constraint in (*bone.constraints, *self._pulls.get(name, ())):
                waiting += [
                    getattr(constraint, "subtarget", ""), getattr(constraint, "pole_subtarget", ""),
                    *(target.subtarget for target in getattr(constraint, "targets", ())),
                ]
        return False

    def _moved_by(
        self, bone: bpy.types.PoseBone, constraint: bpy.types.Constraint
    ) -> list[str]:
        """Names of the bones that a constraint on a bone moves."""
        if constraint.type not in CHAINED:
            return [bone.name]
        chain = [bone, *bone.parent_recursive]
        # The tip of a chain that does not use it stays behind.
        chain = chain[0 if getattr(constraint, "use_tail", True) else 1 :]
        return [b.name for b in chain[: constraint.chain_count or len(chain)]]

    def _acts(self, constraint: bpy.types.Constraint) -> bool:
        """Whether a constraint ever does anything."""
        path = _influence(constraint)
        if constraint.mute or not constraint.enabled:
            return False
        return constraint.influence > 0.0 or path in self._drivers or path in self._animated

    def _switches(self, path: str) -> list[str]:
        """Data paths of the properties that drive an influence, if nothing else does."""
        curve = self._drivers.get(path)
        if curve is None or curve.driver.type not in JOINED:
            return []
        variables = curve.driver.variables
        found = [
            v.targets[0].data_path for v in variables
            if v.type == "SINGLE_PROP" and v.targets[0].id == self._armature
        ]
        return found if len(found) == len(variables) else []

    def _value(self, path: str) -> tuple:
        """What a property has while `held` holds."""
        return self.held.get(path) or read_value(self._armature, path)

    def _share(self, path: str, switched: Mapping[str, tuple] | None = None) -> float:
        """An influence, while `held` holds and some properties are switched."""
        paths = self._switches(path)
        if not paths:
            return float(self._value(path)[0])
        curve = self._drivers[path]
        values = [float(((switched or {}).get(p) or self._value(p))[0]) for p in paths]
        return float(np.clip(curve.evaluate(JOINED[curve.driver.type](values)), 0.0, 1.0))

    def _copies(self, constraint: bpy.types.Constraint) -> bool:
        """Whether a constraint puts its bone where another one is, whatever it does itself."""
        path = _influence(constraint)
        if path in self._drivers:
            lasts = bool(self.held.keys() & {*self._switches(path)})
        else:
            lasts = path not in self._animated
        return (
            constraint.type == "COPY_TRANSFORMS"
            and constraint.target == self._armature
            and constraint.subtarget in self._bones
            and constraint.mix_mode == "REPLACE"
            and not constraint.head_tail
            and {constraint.owner_space, constraint.target_space} <= {"WORLD", "POSE"}
            and lasts
            and self._share(path) >= 1.0 - SAME
        )

    def _control_of(self, name: str, above: tuple[str, ...] = ()) -> str:
        for constraint in reversed(self._bones[name].constraints):
            if constraint.type in LEFT_ALONE or not self._acts(constraint):
                continue
            if self._copies(constraint) and constraint.subtarget not in (name, *above):
                return self._control_of(constraint.subtarget, (*above, name))
            self._let_go(constraint, name)
        for constraint in self._pulls.get(name, ()):
            self._let_go(constraint, name)
        return name

    def _obey(self, bone: bpy.types.PoseBone, controls: Collection[str]) -> None:
        """Let a bone that may copy one of several copy that one: IK and FK of one limb."""
        copies = [c for c in bone.constraints if c.type == "COPY_TRANSFORMS" and self._acts(c)]
        chosen = next((i for i, c in enumerate(copies) if c.subtarget in controls), len(copies))
        for constraint in copies[chosen + 1 :]:
            if _influence(constraint) in self._drivers:
                self._let_go(constraint, bone.name)

    def _let_go(self, constraint: bpy.types.Constraint, name: str) -> None:
        path = _influence(constraint)
        if path not in self._drivers:
            self.held[path] = (0.0,)
            return
        paths = self._switches(path)
        if paths and self._share(path) <= SAME:
            standing = {p: read_value(self._armature, p) for p in paths}
            self.held |= {p: v for p, v in standing.items() if p not in self.held}
            return
        for switch in paths:
            kind = type(read_value(self._armature, switch)[0])
            for value in (kind(0), kind(1)):
                if switch not in self.held and self._share(path, {switch: (value,)}) <= SAME:
                    self.held[switch] = (value,)
                    return
        raise UserError(
            f"Constraint {constraint.name} moves bone {name} of {self._armature.name}, and no "
            "property that can be keyed lets go of it: mute it, or switch its limb to FK"
        )


def _influence(constraint: bpy.types.Constraint) -> str:
    """Data path of a constraint's influence."""
    return f"{constraint.path_from_id()}.influence"


def same(values: Iterable[float], others: Iterable[float]) -> bool:
    """Whether two values of a property are the same.

    Args:
        values: the one.
        others: the other.
    """
    return all(abs(a - b) <= SAME for a, b in zip(values, others, strict=True))


def deciding(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    tracks: JointTracks,
    start_frame: int,
    before: Collection[str] = (),
    without: Without = NOTHING,
) -> Deciding:
    """The bones to key for joint tracks, and the properties that let them be moved.

    Nothing is written.

    Args:
        context: Blender's context.
        armature: the rig.
        tracks: how its joints are turned.
        start_frame: frame of the first row.
        before: data paths that the bake which is replaced has keys of.
        without: those keys.

    Raises:
        UserError: bones are missing, or something moves them that cannot be switched off.
    """
    bones = armature.pose.bones
    missing = sorted(name for name in tracks.bones() if name not in bones)
    if missing:
        raise UserError(
            f"{armature.name} has no bone {', '.join(missing[:3])}, which the motion turns: bring "
            "it back, or take it out of the motion"
        )
    with keep_frame(context.scene):
        # Not what happens to be shown: a bake is the same from any frame.
        context.scene.frame_set(start_frame)
        return _deciding(context, armature, tracks, start_frame, before, without)


def _deciding(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    tracks: JointTracks,
    start_frame: int,
    before: Collection[str],
    without: Without,
) -> Deciding:
    grip = _Grip(armature, before)
    controls = grip.controls(tracks.bones())
    free = [name for name in grip.freed() if name not in controls]
    kept = grip.controls(name for name in free if name not in controls.values())
    if not kept and all(bone == control for bone, control in controls.items()):
        return Deciding(_moving(armature, tracks), grip.held)
    frames = start_frame + tracks.clock.frames
    plays = reader.played(context, armature, list(kept), frames, without).bones if kept else {}
    whole = replace(
        tracks,
        turn={**{name: one.rotation for name, one in plays.items()}, **tracks.turn},
        place={**{name: one.place for name, one in plays.items()}, **tracks.place},
    )
    former = read_pose(armature, grip.held)
    restore_pose(armature, grip.held)
    try:
        context.view_layer.update()
        placed = _placed(context, armature, whole, {**kept, **controls}, grip)
    finally:
        restore_pose(armature, former)
    held = dict(grip.held)
    first = {control: bone for bone, control in reversed(controls.items())}
    for control in set(kept.values()) - set(controls.values()):
        if _stands(placed, control):
            held |= _standing(armature, control, placed)
        else:
            first[control] = next(name for name, other in kept.items() if other == control)
    count = len(tracks.time)
    return Deciding(_moving(armature, replace(
        tracks,
        turn={
            control: np.broadcast_to(placed.turn[control], (count, 4))
            for control, bone in first.items() if bone in whole.turn
        },
        place={
            control: np.broadcast_to(placed.place[control], (count, 3))
            for control, bone in first.items() if bone in whole.place
        },
        spins={
            control: tracks.spins[bone]
            for control, bone in first.items() if bone in tracks.spins
        },
        contacts=tuple(
            replace(contact, role=controls.get(contact.role, contact.role))
            for contact in tracks.contacts
        ),
    )), held)


def _moving(armature: bpy.types.Object, tracks: JointTracks) -> JointTracks:
    """Tracks without the places of bones that are connected, which Blender ignores."""
    bones = armature.data.bones
    free = {
        name: place for name, place in tracks.place.items()
        if not (bones[name].use_connect and bones[name].parent is not None)
    }
    return replace(tracks, place=free)


def _placed(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    tracks: JointTracks,
    controls: Mapping[str, str],
    grip: _Grip,
) -> JointTracks:
    """How bones are turned that decide others: forward kinematics of those, seen from these."""
    evaluated = armature.evaluated_get(context.evaluated_depsgraph_get())
    known = {*controls, *controls.values()}
    constraints = constraints_of(armature, evaluated, known, grip.held)
    # Where they hang on what cannot be computed, it stands as it does now; if it hangs on them in
    # turn, it goes with its parent.
    outside = {
        name for name in moving_parents(armature, known, constraints).values()
        if not grip.hangs_on(name, known)
    }
    solver = reader.solver_of(armature, {}, constraints, {
        name: np.array(evaluated.pose.bones[name].matrix, dtype=float)[None] for name in outside
    })
    for bone in armature.pose.bones:
        if bone.name not in controls:
            continue
        solver.hold(as_keyed(bone, tracks, slice(None)))
        control = controls[bone.name]
        if control != bone.name and control not in controls:
            solver.place(control, solver.pose(bone.name))
    turn, place = {}, {}
    for name, control in controls.items():
        if control in controls:
            turn[control] = tracks.turn.get(control, rotations.identity(1))
            place[control] = tracks.place.get(control, np.zeros((1, 3)))
            continue
        local = solver.localised(control, solver.pose(name))
        turn[control], place[control] = local.rotation, local.head
    return replace(tracks, turn=turn, place=place)


def _stands(placed: JointTracks, name: str) -> bool:
    """Whether a bone is not seen to move."""
    turn, place = rotations.continuous(placed.turn[name]), placed.place[name]
    return max(float(np.ptp(values, axis=0).max()) for values in (turn, place)) < SEEN


def _standing(armature: bpy.types.Object, name: str, placed: JointTracks) -> dict[str, tuple]:
    """Data path -> values with which a bone stays as it is."""
    one = replace(placed, turn={name: placed.turn[name][:1]}, place={}, spins={})
    track = as_keyed(armature.pose.bones[name], one, slice(None))
    return {track.path(kind): tuple(values[0].tolist()) for kind, values in track.properties()}
