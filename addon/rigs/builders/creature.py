# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones and controls of a creature with any number of legs, from its rest pose. Numpy only.

Bones are called after their roles: "pelvis", "spine.1", "neck.1", "tail.1", "clavicle.L",
and "hind.1.L" and so on down a leg. Of a leg, two bones reach for where the rest of it is,
by inverse kinematics, and point to a pole. The rest is posed from the ground up, so that a
foot that stands does not slide, whatever the joints above it do: `hind_ik.L` is at
the tip on the ground; on it hang, each at its own lower joint, the hoof, the pastern
and the cannon (`hind_ik.5.L`, `hind_ik.4.L`, `hind_ik.3.L`), and where the last of them
ends the hock is to be. Without such a rest (an insect's leg) the two reach for `leg1_ik.L`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ...mapping.legs import LegChain, LeggedFigure
from .skeleton import BACK, HALF, UP, Bones, BoneSpec, Chain, Skeleton, unit
from .surfaces import Surface

CONTROLS, IK, FK, MECHANISM = "Controls", "IK", "FK", "Mechanism"


def girdle(leg: LegChain) -> str:
    """What the bones of a leg are called after: "hind" of "hind.1.L".

    Args:
        leg: the leg.
    """
    return leg.segments[0].rsplit(".", 2)[0]


def side(leg: LegChain) -> str:
    """ "L" or "R".

    Args:
        leg: the leg.
    """
    return leg.segments[0].rsplit(".", 1)[1]


def control(leg: LegChain, segment: int | None = None) -> str:
    """Name of the control at the tip of a leg, or of the one that turns a segment.

    Args:
        leg: the leg.
        segment: index of a segment after the two that are bent; None for the tip.
    """
    number = "" if segment is None else f".{segment + 1}"
    return f"{girdle(leg)}_ik{number}.{side(leg)}"


def pole(leg: LegChain) -> str:
    """Name of the bone that the middle joint of a leg points to.

    Args:
        leg: the leg.
    """
    return f"{girdle(leg)}_pole.{side(leg)}"


def sling(leg: LegChain) -> str:
    """Name of the bone that a leg hangs on in the sling of the trunk.

    Args:
        leg: the leg.
    """
    return f"{girdle(leg)}_sling.{side(leg)}"


def switch(leg: LegChain) -> str:
    """Name of the property of the root bone that switches a leg to FK.

    Args:
        leg: the leg.
    """
    return f"ik_{girdle(leg)}.{side(leg)}"


def _after(leg: LegChain) -> range:
    """Indices of the segments that are posed from the ground up."""
    return range(leg.bend + 2, len(leg.segments))


def line_of(figure: LeggedFigure, roles: tuple[str, ...], end: str, share: float) -> np.ndarray:
    """(n + 1, 3) joints of a row of bones, with the end of the last.

    Args:
        figure: the rest pose.
        roles: the bones.
        end: role of the end, if the figure knows it; else it goes on straight.
        share: length of the last bone then, of the figure's height.
    """
    points = [np.asarray(figure.joints[role], dtype=float) for role in roles]
    if end in figure.joints:
        points.append(np.asarray(figure.joints[end], dtype=float))
    else:
        ahead = points[-1] - points[-2] if len(points) > 1 else -BACK
        points.append(points[-1] + unit(ahead) * share * figure.height)
    return np.array(points)


@dataclass(frozen=True)
class CreatureBuild:
    """A kind of creature, see `Building`.

    Attributes:
        figure: which legs, and how many bones elsewhere; at the usual size.
        sized: the rest pose for a size in metres and a mass in kg, None for the usual.
        body: the mesh.
        shapes: control -> row of the table of shapes, beyond those of all creatures.
    """

    figure: LeggedFigure
    sized: Callable[..., LeggedFigure]
    body: Callable[[Skeleton], Surface]
    shapes: Callable[[Skeleton], dict[str, tuple]] = lambda skeleton: {}
    stances: bool = False
    rotation_modes: Mapping[str, str] = field(default_factory=dict)
    deform: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    equipment = None
    switches = lengths = angles = ()
    joints: ClassVar[Mapping[str, str]] = {}

    def measures(self, joints: Mapping[str, np.ndarray], regular: bool) -> dict[str, float]:
        """Nothing is told of what it has not.

        Args:
            joints: not used.
            regular: not used.
        """
        return {}

    def skeleton(self, kind: str, size: float | LeggedFigure, regular: bool) -> Skeleton:
        """See `Building.skeleton`.

        Args:
            kind: not used: its figure tells.
            size: of a usual creature, m; or a rest pose of another of the same legs.
            regular: not used: it has no leading foot.
        """
        figure = size if isinstance(size, LeggedFigure) else self.sized(size)
        joints = {role: np.asarray(place, dtype=float) for role, place in figure.joints.items()}
        joints.setdefault("root", np.zeros(3))
        facing = {"chest": np.eye(3)}
        build = replace(self, figure=figure)
        bare = Skeleton(figure.kind, figure, True, joints, facing, {}, build)
        return replace(bare, bones=tuple(build.all_bones(bare)))

    def all_bones(self, skeleton: Skeleton) -> list[BoneSpec]:
        """Controls first, then mechanism and deform bones; parents before children.

        Args:
            skeleton: the joints.
        """
        bones = Bones(skeleton)
        figure, j = self.figure, skeleton.joints
        bones.flat("master", "", j["root"], 0.30, CONTROLS)
        bones.flat("root", "master", j["root"], 0.20, CONTROLS)
        ahead = figure.neck[0] if figure.neck else ""
        _row(bones, figure, figure.trunk, "root", ahead, 0.2)
        if figure.neck:
            _row(bones, figure, figure.neck, figure.trunk[-1], "muzzle", 0.15)
        if figure.tail:
            _row(bones, figure, figure.tail, figure.trunk[0], "tail_tip", 0.15)
        for leg in figure.legs:
            _leg(bones, figure, leg)
        controls = {bone.name: bone for bone in bones.specs}
        for name, (source, parent) in self.deform_bones().items():
            spec = controls[source]
            length = 0.4 if name.startswith(HALF) else 1.0
            tail = spec.head + (spec.tail - spec.head) * length
            bones.specs.append(
                BoneSpec(name, parent, spec.head, tail, spec.z_axis, "Deform", deform=True)
            )
        return bones.specs

    def chains(self) -> tuple[Chain, ...]:
        """Legs, each with the segments that turn with its foot."""
        found = []
        for leg in self.figure.legs:
            held = tuple(
                (leg.segments[i], f"MCH-{leg.segments[i]}", "Foot") for i in _after(leg)
            )
            target = held[0][1] if held else control(leg)
            found.append(Chain(
                leg.segments[leg.bend], leg.segments[leg.bend + 1], target, pole(leg),
                switch(leg), held,
            ))
        return tuple(found)

    def role_bones(self) -> dict[str, str]:
        """Role -> the control that is keyed for it."""
        figure = self.figure
        found = {"root": "root"}
        found |= {role: role for role in (*figure.trunk, *figure.neck, *figure.tail)}
        for leg in figure.legs:
            if leg.blade:
                found[leg.blade] = leg.blade
            if leg.sling:
                found[leg.sling] = sling(leg)
            found |= {role: role for role in leg.segments[: leg.bend]}
            found |= {leg.segments[i]: control(leg, i) for i in _after(leg)}
            found[leg.tip] = control(leg)
            found[leg.pole] = pole(leg)
        return found

    def deform_bones(self) -> dict[str, tuple[str, str]]:
        """Deform bone -> (control it follows, deform parent), parents first."""
        figure = self.figure
        found: dict[str, tuple[str, str]] = {}

        def row(roles: tuple[str, ...], parent: str) -> None:
            for role in roles:
                found[f"DEF-{role}"] = (role, parent)
                parent = f"DEF-{role}"

        row(figure.trunk, "root")
        row(figure.neck, f"DEF-{figure.trunk[-1]}")
        row(figure.tail, f"DEF-{figure.trunk[0]}")
        for leg in figure.legs:
            row(leg.limb, f"DEF-{figure.carrier(leg)}")
            for before, role in zip(leg.limb[:-1], leg.limb[1:], strict=True):
                found[f"{HALF}{role}"] = (role, f"DEF-{before}")
        return found

    def switch_tips(self) -> dict[str, str]:
        """Custom property of the root bone that switches a limb -> tooltip."""
        return {
            switch(leg): "1: the leg follows its foot's control. 0: its bones are posed by "
            "hand (FK)"
            for leg in self.figure.legs
        }

    def still(self, bone: str) -> tuple[bool, bool]:
        """Whether a bone is not to be moved, and whether it is not to be turned.

        Args:
            bone: its name.
        """
        figure = self.figure
        poles = {pole(leg) for leg in figure.legs}
        points = {control(leg) for leg in figure.legs if not _after(leg)}
        slings = {sling(leg) for leg in figure.legs}
        moved = {"master", "root", figure.trunk[0], *poles, *slings, *map(control, figure.legs)}
        return bone not in moved, bone in poles | points | slings

    def carried(self, skeleton: Skeleton) -> list[tuple[str, str, str]]:
        """Nothing goes along with a leg in FK.

        Args:
            skeleton: not used.
        """
        return []

    def widgets(self, skeleton: Skeleton) -> dict[str, tuple]:
        """Control -> row of the table of shapes.

        Args:
            skeleton: sizes.
        """
        return _shapes(self.figure) | self.shapes(skeleton)

    def joint_ends(self) -> dict[str, tuple[str, bool]]:
        """Joint of the figure -> the bone that tells where it is, and whether by its tail."""
        figure = self.figure
        found = {"root": ("root", False)}
        for roles in (figure.trunk, figure.neck, figure.tail):
            found |= {role: (role, False) for role in roles}
        if "muzzle" in figure.joints and figure.neck:
            found["muzzle"] = (figure.neck[-1], True)
        if "tail_tip" in figure.joints and figure.tail:
            found["tail_tip"] = (figure.tail[-1], True)
        for leg in figure.legs:
            found |= {role: (role, False) for role in leg.limb}
            found[leg.tip] = (leg.segments[-1], True)
            found[leg.pole] = (pole(leg), False)
            if leg.sling:
                found[leg.sling] = (sling(leg), False)
        return found


def _row(
    bones: Bones, figure: LeggedFigure, roles: tuple[str, ...], parent: str, end: str, share: float
) -> None:
    """Bones that follow each other, connected but for the first."""
    points = line_of(figure, roles, end, share)
    for i, role in enumerate(roles):
        along = unit(points[i + 1] - points[i])
        above = UP if abs(along[2]) < 0.8 else BACK
        bones.add(role, parent, points[i], points[i + 1], above, CONTROLS, i > 0)
        parent = role


def _leg(bones: Bones, figure: LeggedFigure, leg: LegChain) -> None:
    j = bones.skeleton.joints
    points = figure.limb(leg)
    joint = j[leg.segments[leg.bend + 1]]
    bend = j[leg.pole] - joint
    parent = figure.carrier(leg)
    if leg.sling:
        bones.flat(sling(leg), parent, points[0], 0.08, CONTROLS)
        parent = sling(leg)
    alone = set(leg.limb[: len(leg.limb) - len(leg.segments) + leg.bend])
    for i, role in enumerate(leg.limb):
        collection = CONTROLS if role in alone else FK
        bones.add(role, parent, points[i], points[i + 1], bend, collection, i > 0)
        parent = role
    bones.flat(pole(leg), "root", j[leg.pole], 0.05, IK)
    bones.flat(control(leg), "root", j[leg.tip], 0.10, IK)
    parent = control(leg)
    ends = [j[role] for role in (*leg.segments, leg.tip)]
    for i in reversed(_after(leg)):
        # From the lower joint to the upper one; beside it the way the leg's own bone lies.
        bones.add(control(leg, i), parent, ends[i + 1], ends[i], bend, IK)
        parent = control(leg, i)
        bones.add(f"MCH-{leg.segments[i]}", parent, ends[i], ends[i + 1], bend, MECHANISM)


def _shapes(figure: LeggedFigure) -> dict[str, tuple]:
    """Shapes of all controls, in shares of the figure's height."""
    long = _span(figure)
    table: dict[str, tuple] = {
        "master": ("master", (0.62 * long,) * 3, (0, 0, 0), None),
        "root": ("root", (0.30 * long,) * 3, (0, 0, 0), None),
    }
    thick = _thickness(figure)
    for i, role in enumerate(figure.trunk):
        shape = "belt" if i == 0 else "circle"
        table[role] = (shape, (1.25 * thick, 1.0, 1.25 * thick), (0, 0.03, 0), None)
    for role in figure.neck[:-1]:
        table[role] = ("circle", (0.62 * thick, 1.0, 0.75 * thick), (0, 0.03, 0), None)
    for role in figure.neck[-1:]:
        table[role] = ("circle", (0.55 * thick, 1.0, 0.6 * thick), (0, 0.05, 0), None)
    for role in figure.tail:
        table[role] = ("circle", (0.22 * thick, 1.0, 0.22 * thick), (0, 0.04, 0), None)
    for leg in figure.legs:
        lengths = figure.lengths(leg) / figure.height
        sign = 1.0 if side(leg) == "L" else -1.0
        if leg.blade:
            table[leg.blade] = ("bow", (0.07, 0.09, 0.09), (sign * 0.11, 0, 0.02), np.eye(3))
        if leg.sling:
            table[sling(leg)] = ("bow", (0.07, 0.09, 0.09), (sign * 0.11, 0, 0.02), np.eye(3))
        for i, role in enumerate(leg.segments):
            wide = 0.26 * float(lengths[: leg.bend + 2].max()) * (1.0 if i <= leg.bend else 0.7)
            table[role] = ("circle", (wide, 1.0, wide), (0, 0.45 * lengths[i], 0), None)
        table[pole(leg)] = ("diamond", (0.018,) * 3, (0, 0, 0), None)
        sole = (leg.heel + max(leg.toe, 0.0)) / figure.height
        if sole > 0.0:
            sizes = (0.45 * sole + 0.012, 0.5 * sole + 0.022, 0.018)
            table[control(leg)] = ("box", sizes, (0, 0.5 * sole, 0.012), None)
        else:
            table[control(leg)] = ("ball", (0.035,) * 3, (0, 0, 0), None)
        for i in _after(leg):
            table[control(leg, i)] = (
                "bow", (0.03, 0.055, 0.055), (0, 0.75 * lengths[i], 0), None
            )
    return table


def _span(figure: LeggedFigure) -> float:
    """Length of the ground that the feet stand on, in shares of the height."""
    tips = np.array([figure.joints[leg.tip] for leg in figure.legs])
    return float(np.ptp(tips[:, :2], axis=0).max()) / figure.height + 0.35


def _thickness(figure: LeggedFigure) -> float:
    """Half-width that the trunk may have, in shares of the height."""
    if len(figure.legs) > 4:
        return 0.14
    hips = np.array([figure.limb(leg)[0] for leg in figure.legs])
    return float(np.abs(hips[:, 0]).max()) / figure.height + 0.08

