# SPDX-License-Identifier: GPL-3.0-or-later
"""The rest pose of a rig as plain numbers, and questions about its shape.

Lengths are in units of the armature, whatever they are: every question is
answered relative to the skeleton's own size, so that a rig whose bones are
1e-4 long is as good as one in metres.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ....solvers import rotations


@dataclass(frozen=True, eq=False)
class BoneRest:
    """One bone in its rest pose, in armature space.

    Attributes:
        name: its name, unique in the skeleton.
        parent: name of its parent, or "".
        head: (3,) where it begins.
        tail: (3,) where it ends.
        axes: (3, 3) rest matrix; columns are the bone's x, y, z; y runs head to tail.
        deform: whether it may carry skin.
        connected: whether its head is fixed to its parent's tail.
        constraints: types of the constraints on it ("IK", "COPY_ROTATION" ...), in order.
        targets: names of the bones of the same rig that its constraints follow.
        properties: names of its custom properties.
        shape: whether the animator sees a custom shape in its place.
        hidden: whether the animator does not see it at all.
    """

    name: str
    parent: str
    head: np.ndarray
    tail: np.ndarray
    axes: np.ndarray = field(default_factory=lambda: np.eye(3))
    deform: bool = True
    connected: bool = False
    constraints: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    shape: bool = False
    hidden: bool = False

    @property
    def length(self) -> float:
        """Distance from head to tail."""
        return float(np.linalg.norm(np.asarray(self.tail) - np.asarray(self.head)))


@dataclass(frozen=True, eq=False)
class Skeleton:
    """All bones of a rig, parents before their children.

    Attributes:
        bones: the bones; make a skeleton with `Skeleton.of`, which puts them in order.
        skin: bone -> sum of the weights that meshes give it (1.0 where only the
            vertex group is known); empty where no mesh is known.
        upright: (3,) what the world's +Z is in armature space as the rig stands, or
            None; a hint only: a rig may have been laid down.
        maker: "POISE" for one of Poise's own characters, else "".
    """

    bones: tuple[BoneRest, ...]
    skin: Mapping[str, float] = field(default_factory=dict)
    upright: np.ndarray | None = None
    maker: str = ""

    @classmethod
    def of(
        cls,
        bones: Iterable[BoneRest],
        skin: Mapping[str, float] | None = None,
        upright: np.ndarray | None = None,
        maker: str = "",
    ) -> Skeleton:
        """A skeleton of bones in any order.

        Args:
            bones: the bones.
            skin: bone -> weight of its skin.
            upright: (3,) the world's +Z in armature space, or None.
            maker: "POISE" or "".

        Raises:
            ValueError: two bones have one name, a parent is missing, or bones are
                their own ancestors.
        """
        given = list(bones)
        names = {bone.name for bone in given}
        if len(names) != len(given):
            counted = Counter(bone.name for bone in given)
            twice = next(name for name, count in counted.items() if count > 1)
            raise ValueError(f"two bones are called {twice!r}")
        below: dict[str, list[BoneRest]] = {}
        for bone in given:
            if bone.parent and bone.parent not in names:
                raise ValueError(f"the parent {bone.parent!r} of {bone.name!r} is no bone")
            below.setdefault(bone.parent, []).append(bone)
        ordered: list[BoneRest] = []
        stack = list(reversed(below.get("", [])))
        while stack:
            bone = stack.pop()
            ordered.append(bone)
            stack.extend(reversed(below.get(bone.name, [])))
        if len(ordered) != len(given):
            left = next(b.name for b in given if b.name not in {o.name for o in ordered})
            raise ValueError(f"{left!r} is its own ancestor")
        return cls(tuple(ordered), dict(skin or {}), upright, maker)

    def __len__(self) -> int:
        return len(self.bones)

    def __contains__(self, name: str) -> bool:
        return name in self.by_name

    @cached_property
    def by_name(self) -> dict[str, BoneRest]:
        """Name -> bone."""
        return {bone.name: bone for bone in self.bones}

    @cached_property
    def _children(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {"": []}
        for bone in self.bones:
            found.setdefault(bone.name, [])
            found[bone.parent].append(bone.name)
        return {name: tuple(children) for name, children in found.items()}

    def children(self, name: str) -> tuple[str, ...]:
        """Names of the children of a bone, in order.

        Args:
            name: the bone, or "" for the bones without a parent.
        """
        return self._children[name]

    def parent(self, name: str) -> str:
        """Name of the parent of a bone, or "".

        Args:
            name: the bone.
        """
        return self.by_name[name].parent

    def ancestors(self, name: str) -> list[str]:
        """The bone's parent, its parent, and so on.

        Args:
            name: the bone.
        """
        found = []
        name = self.by_name[name].parent
        while name:
            found.append(name)
            name = self.by_name[name].parent
        return found

    def descendants(self, name: str) -> list[str]:
        """All bones below a bone, parents first.

        Args:
            name: the bone, or "" for all bones.
        """
        found: list[str] = []
        stack = list(reversed(self.children(name)))
        while stack:
            bone = stack.pop()
            found.append(bone)
            stack.extend(reversed(self.children(bone)))
        return found

    def chain(self, top: str, bottom: str) -> list[str]:
        """The bones from `top` down to `bottom`, both included; [] if not below it.

        Args:
            top: the ancestor.
            bottom: the descendant.
        """
        path = [bottom, *self.ancestors(bottom)]
        return path[: path.index(top) + 1][::-1] if top in path else []

    def head(self, name: str) -> np.ndarray:
        """(3,) head of a bone.

        Args:
            name: the bone.
        """
        return self.by_name[name].head

    @cached_property
    def heads(self) -> np.ndarray:
        """(n, 3) heads of all bones."""
        return np.array([bone.head for bone in self.bones], dtype=float).reshape(-1, 3)

    @cached_property
    def tails(self) -> np.ndarray:
        """(n, 3) tails of all bones."""
        return np.array([bone.tail for bone in self.bones], dtype=float).reshape(-1, 3)

    @cached_property
    def extent(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners (3,), (3,) of the box that holds every head."""
        if not len(self):
            return np.zeros(3), np.zeros(3)
        return self.heads.min(axis=0), self.heads.max(axis=0)

    @cached_property
    def size(self) -> float:
        """Diagonal of that box: the measure that every tolerance refers to."""
        low, high = self.extent
        return float(np.linalg.norm(high - low))

    def stood(self, places: Mapping[str, Sequence[float]]) -> Skeleton:
        """The skeleton in another pose; lengths of bones stay.

        Args:
            places: bone -> where it begins (3 numbers) and the quaternion (w, x, y, z) of
                its axes, in armature space; bones that are left out stay.
        """
        bones = []
        for bone in self.bones:
            if bone.name in places:
                place = np.array(places[bone.name], dtype=float)
                axes = rotations.to_matrix(place[3:])
                tail = place[:3] + axes[:, 1] * bone.length
                bone = replace(bone, head=place[:3], tail=tail, axes=axes)
            bones.append(bone)
        return replace(self, bones=tuple(bones))

    def only(self, names: Iterable[str]) -> Skeleton:
        """The skeleton of some of the bones; each hangs under its nearest kept ancestor.

        Args:
            names: the bones to keep.
        """
        kept = set(names)
        parents = {
            bone.name: next((a for a in self.ancestors(bone.name) if a in kept), "")
            for bone in self.bones
            if bone.name in kept
        }
        return self.hung(parents)

    def hung(self, parents: Mapping[str, str]) -> Skeleton:
        """The skeleton of the bones in `parents`, each under the parent given there.

        Args:
            parents: bone -> parent, or "".

        Raises:
            ValueError: bones are their own ancestors.
        """
        bones = []
        for bone in self.bones:
            if bone.name in parents:
                parent = parents[bone.name]
                bones.append(
                    bone
                    if parent == bone.parent
                    else replace(bone, parent=parent, connected=False)
                )
        skin = {name: weight for name, weight in self.skin.items() if name in parents}
        return Skeleton.of(bones, skin, self.upright, self.maker)
