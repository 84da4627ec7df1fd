# SPDX-License-Identifier: GPL-3.0-or-later
"""A standing pose from what limbs are called, for skeletons whose rest pose is none.

Recordings have skeletons that are folded, or with every limb along one axis: their shape says
nothing, their names, or roles by hand, say which limb is which. Each bone is turned on its
parent until it points the way that its part of the body does in one who stands, by the
shortest turn, so that it keeps as much of its twist as can be kept; lengths and offsets stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....solvers import rotations
from .names import BoneName, parse
from .skeleton import Skeleton

SAID = 0.7  # weight from which on a name says a part
LEGS = {"thigh", "shin", "foot", "toe"}
ARMS = {"upper_arm", "forearm", "hand"}
TINY = 1e-3  # of the size: joints that are closer tell no direction
BENT = float(np.sin(np.radians(15.0)))  # a knee that is bent by more tells the axis that it has
ARMS_OUT = float(np.radians(20.0))  # from hanging straight down
FOOT_DOWN = float(np.radians(25.0))  # from the ankle to the ball
STEEPEST = 0.5  # sine of the slope of a trunk at most, where legs differ
OPPOSITE = float(np.cos(np.radians(170.0)))  # directions that are farther apart name no axis
STRADDLE = 0.1  # sideways to down, of legs that begin at one place


@dataclass(frozen=True)
class _Limb:
    """A limb by its names.

    Attributes:
        side: 1.0 for the left, -1.0 for the right.
        path: its bones from the trunk outward.
        names: bone -> what it is called.
        leg: whether it stands on the ground, rather than being an arm.
        fore: whether it is called a foreleg.
    """

    side: float
    path: tuple[str, ...]
    names: Mapping[str, BoneName]
    leg: bool
    fore: bool

    def first(self, parts: set[str], weight: float = SAID) -> int:
        """Number of the first bone that is said to be any of some parts, or how many there are.

        Args:
            parts: the parts.
            weight: how sure of it the name has to be.
        """
        said = (
            k for k, name in enumerate(self.path)
            if any(self.names[name].parts.get(part, 0.0) >= weight for part in parts)
        )
        return next(said, len(self.path))


def standing(
    skeleton: Skeleton, given: Mapping[str, str] | None = None
) -> dict[str, tuple[float, ...]]:
    """Where bones are in a pose that stands: trunk upright, legs down, feet on the ground.

    The trunk of one with fore and hind legs lies level.

    Args:
        skeleton: all bones of the rig.
        given: roles that are known, role -> bone.

    Returns:
        Bone -> place, as `Skeleton.stood` takes it; empty where no pair of legs is said.
    """
    names = _names(skeleton, given or {})
    limbs = _limbs(skeleton, names)
    legs = [limb for limb in limbs if limb.leg]
    fore = [limb for limb in legs if limb.fore]
    hind = [limb for limb in legs if not limb.fore]
    arms = [limb for limb in limbs if not limb.leg]
    pairs = [hind, fore] if fore else [hind]
    if any(sorted(limb.side for limb in pair) != [-1.0, 1.0] for pair in pairs):
        return {}
    figure = _Figure(skeleton, names, hind, fore, arms)
    if not figure.base:
        return {}
    posed = figure.posed(0.0)
    if fore:
        posed = figure.posed(figure.slope(posed))
    return figure.grounded(posed)


def _names(skeleton: Skeleton, given: Mapping[str, str]) -> dict[str, BoneName]:
    """What bones are called, or which roles they were given."""
    found = {bone.name: parse(bone.name) for bone in skeleton.bones}
    for role, bone in given.items():
        if bone not in found:
            continue
        family, _, rest = role.partition(".")
        number, _, side = rest.rpartition(".")
        part, girdle = family, ""
        if family in ("fore", "hind"):
            part, girdle = ("thigh", "shin", "foot")[min(int(number or 1), 3) - 1], family
        side = side if side in ("L", "R") else ""
        found[bone] = replace(
            found[bone], side=side, parts={part: 1.0}, girdle=girdle, helper=""
        )
    return found


def _limbs(skeleton: Skeleton, names: Mapping[str, BoneName]) -> list[_Limb]:
    """Arms and legs by their names; what hangs on one is part of it."""
    weight: dict[str, int] = {}  # how many bones below say that they are of a limb
    for bone in reversed(skeleton.bones):
        own = bool(_said(names[bone.name]) & (LEGS | ARMS)) and not names[bone.name].helper
        weight[bone.name] = own + sum(weight[child] for child in skeleton.children(bone.name))
    found: list[_Limb] = []
    inside: set[str] = set()
    for bone in skeleton.bones:
        side = names[bone.name].side
        if bone.parent in inside or not side:
            if bone.parent in inside:
                inside.add(bone.name)
            continue
        inside.add(bone.name)
        path = [bone.name]
        while True:
            onward = [
                child for child in skeleton.children(path[-1])
                if names[child].helper not in ("finger", "end", "soft", "control")
            ]
            if not onward:
                break
            path.append(max(onward, key=lambda child: weight[child]))
        said = set[str]().union(*(_said(names[name]) for name in path))
        leg = len(said & LEGS) >= 2 and len(said & LEGS) >= len(said & ARMS)
        fore = any(names[name].girdle == "fore" for name in path)
        if names[bone.name].helper != "control" and (leg or len(said & ARMS) >= 2):
            found.append(_Limb(1.0 if side == "L" else -1.0, tuple(path), names, leg or fore, fore))
    return found


def _said(name: BoneName) -> set[str]:
    return {part for part, weight in name.parts.items() if weight >= SAID}


class _Figure:
    """A skeleton, and which way its bones point when it stands."""

    def __init__(
        self,
        skeleton: Skeleton,
        names: Mapping[str, BoneName],
        hind: Sequence[_Limb],
        fore: Sequence[_Limb],
        arms: Sequence[_Limb],
    ) -> None:
        self.skeleton, self.names = skeleton, names
        self.legs, self.fore, self.arms = [*hind, *fore], fore, arms
        self.tiny = TINY * skeleton.size
        upper = fore or arms
        self.hips = self._common([limb.path[0] for limb in hind])
        self.chest = self._common([limb.path[0] for limb in upper]) if upper else self.hips
        self.base = self._common([self.hips, self.chest], True)
        self.trunk = self._trunk()
        self._directions()

    def _common(self, bones: Sequence[str], own: bool = False) -> str:
        """The nearest bone that all of some bones hang on, or "" ; may be one of them."""
        above = [[bone] * own + self.skeleton.ancestors(bone) for bone in bones if bone]
        shared = set.intersection(*map(set, above)) if above else set()
        return next((bone for bone in above[0] if bone in shared), "") if above else ""

    def _trunk(self) -> list[str]:
        """From where the legs hang to the head."""
        skeleton, names = self.skeleton, self.names
        chest = self.chest if self.chest in skeleton else self.base
        path = skeleton.chain(self.base, chest) if self.base else []
        limbs = {name for limb in (*self.legs, *self.arms) for name in limb.path}
        limbs |= {above for name in limbs for above in skeleton.ancestors(name)}
        while path:
            onward = [
                child for child in skeleton.children(path[-1])
                if child not in limbs and not names[child].side and "tail" not in names[child].parts
                and names[child].helper in ("", "twist")
            ]
            if not onward:
                break
            path.append(max(onward, key=lambda child: (
                bool({"head", "neck", "chest", "spine"} & _said(names[child])),
                len(skeleton.descendants(child)),
            )))
        return path

    def _directions(self) -> None:
        """Axes of one who stands, and those of the trunk in the rest pose."""
        head = self.skeleton.head
        up = self.skeleton.upright
        self.up = np.array([0.0, 0.0, 1.0]) if up is None else np.asarray(up, dtype=float)
        # Bone of the trunk -> from the right limb that hangs on it to the left one.
        self.aside = {}
        for bone, limbs in ((self.chest, self.fore or self.arms), (self.base, self.legs[:2])):
            if bone in self.trunk and len(limbs) == 2:
                aside = sum((limb.side * head(limb.path[0]) for limb in limbs), np.zeros(3))
                along = self.way(bone, self.trunk)  # what goes that way tells nothing
                aside = aside - (aside @ along) * along / max(float(along @ along), 1e-30)
                if np.linalg.norm(aside) > self.tiny:
                    self.aside[bone] = aside
        aside = self.aside.get(self.base, self.aside.get(self.chest, np.zeros(3)))
        level = aside - (aside @ self.up) * self.up
        if np.linalg.norm(level) < max(0.3 * np.linalg.norm(aside), self.tiny):
            level = np.array([1.0, 0.0, 0.0]) - self.up[0] * self.up
            if np.linalg.norm(level) < 0.1:
                level = np.cross(self.up, [0.0, 0.0, 1.0])
        self.left = level / np.linalg.norm(level)
        self.forward = np.cross(self.left, self.up)

    def way(self, name: str, path: Sequence[str]) -> np.ndarray:
        """Which way a bone leads to the next one of its path, in the rest pose."""
        at = path.index(name)
        for onward in path[at + 1 :]:
            found = self.skeleton.head(onward) - self.skeleton.head(name)
            if np.linalg.norm(found) > self.tiny:
                return found
        bone = self.skeleton.by_name[name]
        return np.asarray(bone.tail, dtype=float) - bone.head

    def posed(self, slope: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Bone -> where it begins, and how it is turned from the rest pose (3, 3).

        Args:
            slope: sine of how far a level trunk rises to its front.
        """
        wanted = self._wanted(slope)
        found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for bone in self.skeleton.bones:
            head, turn = bone.head, np.eye(3)
            if bone.parent:
                place, turn = found[bone.parent]
                head = place + turn @ (bone.head - self.skeleton.head(bone.parent))
            if bone.name in wanted:
                way, to, hinge = wanted[bone.name]
                if hinge is not None:
                    turn = _axes(to, self.left) @ _axes(way, hinge).T
                else:
                    turn = _shortest(turn @ way, to, self.left) @ turn
            found[bone.name] = head, turn
        return found

    def _wanted(self, slope: float) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        """Bone -> which way it leads, which way it is to, and its axis to the left if known."""
        up, left, ahead = self.up, self.left, self.forward
        wanted: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray | None]] = {}
        along = np.sqrt(1.0 - slope**2) * ahead + slope * up if self.fore else up
        chest = self.trunk.index(self.chest) if self.chest in self.trunk else 0
        for number, name in enumerate(self.trunk):
            to = along
            if self.fore and number > chest:
                last = number == len(self.trunk) - 1
                to = 0.9 * ahead - 0.4 * up if last else ahead + up
            wanted[name] = self.way(name, self.trunk), to, self.aside.get(name)
        for bone in self.skeleton.bones:
            if "tail" in _said(self.names[bone.name]) and not self.names[bone.name].side:
                tail = [bone.name, *self.skeleton.descendants(bone.name)]
                wanted[bone.name] = self.way(bone.name, tail), -ahead - up, None
        for limb in self.legs:
            for name, to in self._leg(limb).items():
                wanted[name] = self.way(name, limb.path), to, self._knee(limb, name)
        for limb in self.arms:
            out = np.sin(ARMS_OUT) * limb.side * left - np.cos(ARMS_OUT) * up
            # A shoulder may be the upper arm: the elbow is at its end, then.
            at = min(limb.first({"upper_arm"}, 0.8), max(limb.first({"forearm"}, 0.8) - 1, 0))
            for number, name in enumerate(limb.path):
                to = limb.side * left if number < at else out
                wanted[name] = self.way(name, limb.path), to, None
        return wanted

    def _leg(self, limb: _Limb) -> dict[str, np.ndarray]:
        """Bone of a leg -> which way it points."""
        up, ahead = self.up, self.forward
        begins = min(limb.first({"thigh"}), limb.first({"shin"}, 0.8))
        foot = max(limb.first({"foot"}, 0.8), begins + 1)
        foot = min(foot, limb.first({"toe"}, 0.9)) if not self.fore else len(limb.path) - 1
        toes = ahead if not self.fore else 0.8 * ahead - 0.6 * up
        found = {}
        apart = (self.chest if limb.fore else self.base) in self.aside
        for number, name in enumerate(limb.path):
            if number < begins and not self.fore:  # from the middle of the pelvis to the hip
                found[name] = limb.side * self.left - 0.5 * up
            elif number < foot or (self.fore and len(limb.path) < 3):
                found[name] = -up + (0.0 if apart else STRADDLE * limb.side) * self.left
            elif number == foot and not self.fore:
                found[name] = np.cos(FOOT_DOWN) * ahead - np.sin(FOOT_DOWN) * up
            else:
                found[name] = toes
        return found

    def _knee(self, limb: _Limb, name: str) -> np.ndarray | None:
        """The axis about which a person's knee is bent, to the left, or None."""
        first, second = limb.first({"thigh"}), limb.first({"shin"}, 0.8)
        if second <= first:
            second = first + 1
        if self.fore or second >= len(limb.path) or name not in limb.path[first : second + 1]:
            return None
        thigh, shin = (self.way(limb.path[k], limb.path) for k in (first, second))
        axis = np.cross(thigh, shin)
        bent = np.linalg.norm(axis) > BENT * np.linalg.norm(thigh) * np.linalg.norm(shin)
        return axis if bent else None

    def ends(self, posed: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> list[float]:
        """Height of the lowest end of each leg."""
        found = []
        for limb in self.legs:
            bones = [self.skeleton.by_name[name] for name in limb.path]
            tails = [posed[b.name][0] + posed[b.name][1] @ (b.tail - b.head) for b in bones]
            heads = [posed[b.name][0] for b in bones]
            found.append(min(float(place @ self.up) for place in (*heads, *tails)))
        return found

    def slope(self, posed: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> float:
        """Sine of how far a trunk that is level has to rise to its front for all feet to stand."""
        ends = self.ends(posed)
        hips, shoulders = (
            float(np.mean([posed[limb.path[0]][0] @ self.forward for limb in pair]))
            for pair in (self.legs[:2], self.fore)
        )
        deeper = float(np.mean(ends[:2]) - np.mean(ends[2:]))
        return float(np.clip(deeper / max(shoulders - hips, self.tiny), -STEEPEST, STEEPEST))

    def grounded(
        self, posed: Mapping[str, tuple[np.ndarray, np.ndarray]]
    ) -> dict[str, tuple[float, ...]]:
        """Places, with the feet at the height of the root bone, or of the armature's origin."""
        above = self.skeleton.ancestors(self.base)
        ground = float(self.skeleton.head(above[-1]) @ self.up) if above else 0.0
        rise = (ground - min(self.ends(posed))) * self.up
        moved = {self.base, *self.skeleton.descendants(self.base)}
        found = {}
        for bone in self.skeleton.bones:
            place, turn = posed[bone.name]
            place = place + rise if bone.name in moved else place
            axes = rotations.from_matrix(turn @ bone.axes)
            found[bone.name] = (*map(float, place), *map(float, axes))
        return found


def _axes(along: np.ndarray, aside: np.ndarray) -> np.ndarray:
    """(3, 3) columns: a direction, another one made normal to it, and theirs."""
    first = along / np.linalg.norm(along)
    second = aside - (aside @ first) * first
    second = second / max(float(np.linalg.norm(second)), 1e-30)
    return np.stack((first, second, np.cross(first, second)), axis=1)


def _shortest(way: np.ndarray, to: np.ndarray, about: np.ndarray) -> np.ndarray:
    """(3, 3) the shortest turn between directions; of opposite ones about an axis."""
    way, to = way / max(float(np.linalg.norm(way)), 1e-30), to / np.linalg.norm(to)
    if way @ to > OPPOSITE:
        return rotations.to_matrix(rotations.between(way, to))
    axis = about - (about @ way) * way
    half = rotations.from_axis_angle(rotations.normalise(axis), np.pi)
    # What is left of the way is short.
    return rotations.to_matrix(rotations.multiply(rotations.between(-way, to), half))
