# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones by which an animator poses a limb: its own, or the controls of the IK that bends it.

What decides a bone is found by following constraints and parents away from it. A limb's end
goes with the outermost bone that carries the IK's target and does not carry the body, too;
IK bends its chain towards a pole, or, without one, as its first bone is turned; any other
segment goes with the nearest free bone that pivots at one of its ends (a bone of its own, an
FK control, a heel).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ... import compat
from ..limbs import Limb
from .constraints import CHAINED, acts, looks_at
from .deciding import LEFT_ALONE

NEAR = 2e-3  # of a limb's length: joints that are so near to each other are the same
WHOLE = 1.0 - 1e-4  # influence of a constraint that leaves nothing of what was before

# What a handle is to its limb.
END, POLE, BASE, JOINT = "END", "POLE", "BASE", "JOINT"


@dataclass(frozen=True)
class Handle:
    """A bone that is posed.

    Attributes:
        bone: its name.
        kind: END goes with what is beyond the limb, POLE and BASE decide how IK bends it,
            JOINT turns a segment.
        joint: number of the segment that it goes with.
    """

    bone: str
    kind: str
    joint: int


@dataclass(frozen=True)
class Pulled:
    """IK that bends a part of a limb.

    Attributes:
        first: number of the joint where its chain begins.
        last: number of the joint that it pulls at.
        constraint: the evaluated constraint.
        base: name of the first bone of its chain.
    """

    first: int
    last: int
    constraint: bpy.types.Constraint
    base: str


class Sources:
    """What moves the bones of a rig, as it is evaluated.

    Args:
        rig: the armature object.
        evaluated: the same, evaluated.
    """

    def __init__(self, rig: bpy.types.Object, evaluated: bpy.types.Object) -> None:
        self.rig, self.bones = rig, evaluated.pose.bones
        self.pulls: list[tuple[bpy.types.Constraint, list[str]]] = []
        self._pulled: dict[str, list[bpy.types.Constraint]] = {}
        for bone in self.bones:
            for constraint in bone.constraints:
                if constraint.type in CHAINED and acts(constraint):
                    chain = [bone, *bone.parent_recursive]
                    chain = chain[0 if getattr(constraint, "use_tail", True) else 1 :]
                    names = [b.name for b in chain[: constraint.chain_count or len(chain)]]
                    self.pulls.append((constraint, names))
                    for name in names:
                        self._pulled.setdefault(name, []).append(constraint)

    def _targets(self, constraint: bpy.types.Constraint) -> list[str]:
        if constraint.type == "ARMATURE":
            return [t.subtarget for t in constraint.targets if t.weight > 0.0 and t.subtarget]
        own = [constraint.subtarget] if looks_at(constraint, self.rig) else []
        return [name for name in (*own, self.pole_of(constraint)) if name]

    def pole_of(self, constraint: bpy.types.Constraint) -> str:
        """Name of the bone that is the pole of IK, or "".

        Args:
            constraint: the evaluated constraint.
        """
        pole = getattr(constraint, "pole_target", None)
        return constraint.pole_subtarget if pole and pole.original == self.rig else ""

    def _next(self, name: str) -> list[str]:
        """What moves a bone at once, what has the last word first."""
        bone, found = self.bones[name], []
        for constraint in reversed(bone.constraints):
            if constraint.type in LEFT_ALONE or not acts(constraint):
                continue
            found += self._targets(constraint)
            replaces = constraint.type == "ARMATURE" or (
                constraint.type == "COPY_TRANSFORMS" and constraint.mix_mode == "REPLACE"
            )
            if replaces and constraint.influence >= WHOLE:
                break
        else:
            found += [bone.parent.name] if bone.parent is not None else []
        for constraint in self._pulled.get(name, ()):
            found += self._targets(constraint)
        return [n for n in found if n in self.bones]

    def of(self, *names: str) -> list[str]:
        """All that some bones hang on, these first, then from the nearest to the farthest.

        Args:
            names: the bones.
        """
        found = dict.fromkeys(names)
        edge = list(names)
        while edge:
            edge = [n for name in edge for n in self._next(name) if n not in found]
            edge = list(dict.fromkeys(edge))
            found |= dict.fromkeys(edge)
        return list(found)

    def is_free(self, name: str) -> bool:
        """Whether nothing but its own channels and its parent moves a bone.

        Args:
            name: the bone.
        """
        return name not in self._pulled and not any(
            acts(c) and c.type not in LEFT_ALONE for c in self.bones[name].constraints
        )

    def best(self, names: Iterable[str]) -> str:
        """The first that an animator sees, or else the first; "" of none.

        Args:
            names: bones.
        """
        names = list(names)
        return next((name for name in names if _seen(self.rig, name)), (names or [""])[0])


def _seen(rig: bpy.types.Object, name: str) -> bool:
    """Whether a bone is shown in Pose Mode."""
    collections = rig.data.bones[name].collections
    shown = not collections or any(c.is_visible_effectively for c in collections)
    return shown and not compat.bone_hidden(rig.pose.bones[name])


def find_pulled(
    sources: Sources, joints: Sequence[str], points: np.ndarray
) -> list[Pulled]:
    """IK that runs along a limb.

    Args:
        sources: what moves the rig's bones.
        joints: bones of the limb.
        points: (m + 1, 3) where its joints and its end are.
    """
    hang_on = set(sources.of(*joints))
    near = NEAR * float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    found: dict[int, Pulled] = {}
    for constraint, chain in sources.pulls:
        if constraint.type != "IK" or chain[0] not in hang_on:
            continue
        if not looks_at(constraint, sources.rig) or constraint.subtarget not in sources.bones:
            continue
        ends = np.array([sources.bones[chain[-1]].head, sources.bones[chain[0]].tail])
        off = np.linalg.norm(points[None] - ends[:, None], axis=2)
        first, last = off.argmin(axis=1).tolist()
        if off.min(axis=1).max() <= near and first < last:
            found.setdefault(first, Pulled(first, last, constraint, chain[-1]))
    # Of chains that overlap, that nearest to the body.
    ordered: list[Pulled] = []
    for first in sorted(found):
        if not ordered or first >= ordered[-1].last:
            ordered.append(found[first])
    return ordered


def find_handles(
    sources: Sources,
    rig: bpy.types.Object,
    joints: Sequence[str],
    end: str,
    points: np.ndarray,
    pulled: Sequence[Pulled],
    others: Iterable[str],
) -> list[Handle]:
    """The bones by which a limb is posed, those first that others hang on.

    Args:
        sources: what moves the rig's bones.
        rig: the armature object.
        joints: bones of the limb.
        end: the bone beyond, or "".
        points: (m + 1, 3) where joints and end are.
        pulled: IK that runs along it.
        others: bones of the other limbs; what these hang on, too, is no handle.
    """
    near = NEAR * float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    parent = rig.data.bones[joints[0]].parent
    body = set(sources.of(*([parent.name] if parent is not None else []), *others))
    bones, taken = rig.pose.bones, dict[str, Handle]()

    def take(names: Iterable[str], kind: str, joint: int) -> None:
        name = sources.best(n for n in names if n not in taken)
        if name:
            taken[name] = Handle(name, kind, joint)

    def free(name: str, lock: str = "lock_rotation") -> list[str]:
        """Bones that carry one, and can be posed, the nearest first."""
        return [
            n for n in sources.of(name)
            if n not in body and sources.is_free(n) and not all(getattr(bones[n], lock))
        ]

    def at(names: Iterable[str], k: int) -> list[str]:
        """Those that pivot at a joint."""
        heads = ((n, np.array(sources.bones[n].head)) for n in names)
        return [n for n, head in heads if np.linalg.norm(head - points[k]) <= near]

    bent = {k for part in pulled for k in range(part.first, part.last)}
    target: list[str] = []
    for part in pulled:
        target = sources.of(part.constraint.subtarget)
        pole = sources.pole_of(part.constraint)
        if pole in bones:
            take(reversed(free(pole, "lock_location")), POLE, part.first)
        else:
            base = at([part.base, *free(part.base)], part.first)
            take([n for n in base if _seen(rig, n)], BASE, part.first)
    if pulled:
        take(reversed(free(target[0], "lock_location")), END, len(joints))
    for k, name in enumerate(joints):
        if k < min(bent, default=len(joints)):
            carry = [set(sources.of(n)) for n in (*joints[k + 1 :], *[end] * bool(end))]
            take([n for n in at(free(name), k) if all(n in on for on in carry)], JOINT, k)
        elif k not in bent:  # heels, under which the IK's target is
            heels = [n for n in free(name) if n in target]
            take([*at(heels, k + 1), *at(heels, k)], JOINT, k)
    carried = sources.of(end) if end else []
    if end and not any(h.kind == END and h.bone in carried for h in taken.values()):
        take(reversed(at(free(end), len(joints))), END, len(joints))
    order = {name: len(sources.of(name)) for name in taken}
    return sorted(taken.values(), key=lambda handle: order[handle.bone])


def find_limb(
    sources: Sources, rig: bpy.types.Object, limbs: Mapping[str, Limb], bone: str
) -> str:
    """Name of the limb that a bone is of, moves, or hangs on; "" where there is none.

    Args:
        sources: what moves the rig's bones.
        rig: the armature object.
        limbs: the rig's limbs by their names.
        bone: the bone.
    """
    moving: dict[str, str] = {}
    for limb in limbs.values():
        parent = rig.data.bones[limb.bones[0]].parent
        body = set(sources.of(parent.name)) if parent is not None else set()
        moving |= {name: limb.name for name in sources.of(*limb.all) if name not in body}
    return next((moving[name] for name in sources.of(bone) if name in moving), "")
