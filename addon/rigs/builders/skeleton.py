# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints and bones of Poise's characters in character space. Numpy only.

Character space: metres, Z up, travel along -Y, +X to the left of travel,
running surface at z = 0. Every length is a share of the stature, after Winter
(Biomechanics and Motor Control of Human Movement, ch. 4) and de Leva (1996).
Winter's half-widths of hips (0.0955) and shoulders (0.129) are those of the
outer surface; joint centres lie further in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import acos, cos, sin, sqrt
from typing import Protocol

import numpy as np

from ...mapping.legs import LeggedFigure
from .surfaces import Surface

# Shares of stature.
THIGH, SHIN = 0.245, 0.246
UPPER_ARM, FOREARM, HAND = 0.186, 0.146, 0.075  # hand closed to a fist
GRIP = 0.046  # wrist to the middle of the palm
HIP_HALF, SHOULDER_HALF = 0.056, 0.106  # joint centres
LUMBAR, THORACIC, NECK_BASE, ATLAS, VERTEX = 0.056, 0.130, 0.300, 0.352, 0.470  # above the hips
CLAVICLE = 0.286  # height of the shoulder joints above the hips
ANKLE_HEEL, ANKLE_BALL, ANKLE_TOE = 0.045, 0.078, 0.122  # inside the boot, along the sole
BALL_HEIGHT = 0.032  # ball of the foot under the ankle
ANKLE = 0.0465  # ankle above the sole of a shoe

REFERENCE = 1.78  # stature in metres for which sizes of equipment are given

UP = np.array([0.0, 0.0, 1.0])
BACK = np.array([0.0, 1.0, 0.0])
_SIGNS = {"L": 1.0, "R": -1.0}  # of the left axis

# Switches on the root bone, 0 to 1, one per limb.
IK_LEG, IK_ARM, POLE_LOCK = "ik_leg", "ik_arm", "pole_lock"


@dataclass(frozen=True)
class Proportions:
    """Lengths of a body, in metres.

    An offset is that from the joint before, along the axes (left, back, up) of
    the body part between the two. Sides are "L" and "R".

    Attributes:
        height: stature, or what a standard body of these legs would have.
        spine: (3,) lumbar joint from the middle of the hips, in the pelvis.
        chest: (3,) thoracic joint from the lumbar one.
        neck: (3,) from the thoracic joint, in the chest.
        head: (3,) atlas from the neck's lower end.
        vertex: (3,) top of the head from the atlas.
        hip: side -> (3,) hip joint from the middle of the hips, in the pelvis.
        shoulder: side -> (3,) clavicle's inner end from the thoracic joint, in the chest.
        upper_arm: side -> (3,) shoulder joint from the thoracic joint, in the chest.
        thigh: side -> hip to knee.
        shin: side -> knee to ankle.
        arm: side -> shoulder to elbow.
        forearm: side -> elbow to wrist.
        hand: wrist to the knuckles of a fist.
        grip: wrist to the middle of the palm.
        heel: ankle to the rear end of the sole, along it.
        ball: ankle to the ball of the foot, along the sole.
        toe: ankle to the tip of the toes, along the sole.
        ball_height: ball of the foot under the ankle.
        ankle: ankle above the sole of a shoe.
    """

    height: float
    spine: np.ndarray
    chest: np.ndarray
    neck: np.ndarray
    head: np.ndarray
    vertex: np.ndarray
    hip: Mapping[str, np.ndarray]
    shoulder: Mapping[str, np.ndarray]
    upper_arm: Mapping[str, np.ndarray]
    thigh: Mapping[str, float]
    shin: Mapping[str, float]
    arm: Mapping[str, float]
    forearm: Mapping[str, float]
    hand: float
    grip: float
    heel: float
    ball: float
    toe: float
    ball_height: float
    ankle: float

    def mirrored(self) -> Proportions:
        """The mirror image in X, with sides exchanged."""
        flip = np.array([-1.0, 1.0, 1.0])
        centre = {n: getattr(self, n) * flip for n in ("spine", "chest", "neck", "head", "vertex")}
        points = {
            name: {side: getattr(self, name)[other] * flip for side, other in ("LR", "RL")}
            for name in ("hip", "shoulder", "upper_arm")
        }
        lengths = {
            name: {side: getattr(self, name)[other] for side, other in ("LR", "RL")}
            for name in ("thigh", "shin", "arm", "forearm")
        }
        return replace(self, **centre, **points, **lengths)


def standard_proportions(height: float) -> Proportions:
    """Proportions of Poise's own figures.

    Args:
        height: stature in metres.
    """

    def up(share: float) -> np.ndarray:
        return UP * share * height

    def both(length: float) -> dict[str, float]:
        return dict.fromkeys("LR", length * height)

    def sides(left: float, back: float, rise: float) -> dict[str, np.ndarray]:
        return {
            side: np.array([sign * left, back, rise]) * height for side, sign in _SIGNS.items()
        }

    return Proportions(
        height=height,
        spine=up(LUMBAR),
        chest=up(THORACIC - LUMBAR),
        neck=up(NECK_BASE - THORACIC),
        head=up(ATLAS - NECK_BASE),
        vertex=up(VERTEX - ATLAS),
        hip=sides(HIP_HALF, 0.0, 0.0),
        shoulder=sides(0.018, -0.022, CLAVICLE - THORACIC),
        upper_arm=sides(SHOULDER_HALF, 0.0, CLAVICLE - THORACIC),
        thigh=both(THIGH),
        shin=both(SHIN),
        arm=both(UPPER_ARM),
        forearm=both(FOREARM),
        hand=HAND * height,
        grip=GRIP * height,
        heel=ANKLE_HEEL * height,
        ball=ANKLE_BALL * height,
        toe=ANKLE_TOE * height,
        ball_height=BALL_HEIGHT * height,
        ankle=ANKLE * height,
    )


@dataclass(frozen=True)
class BoneSpec:
    """One bone of the rest pose.

    Attributes:
        name: bone name.
        parent: name of the parent, or "".
        head: (3,) metres.
        tail: (3,) metres.
        z_axis: (3,) direction the bone's Z axis leans to (sets the roll).
        collection: name of its bone collection.
        connected: head tied to the parent's tail.
        deform: moves the mesh.
    """

    name: str
    parent: str
    head: np.ndarray
    tail: np.ndarray
    z_axis: np.ndarray
    collection: str
    connected: bool = False
    deform: bool = False


@dataclass(frozen=True)
class Skeleton:
    """Rest pose of a character: joints, facings, bones, equipment sizes.

    Attributes:
        kind: name of the kind.
        size: lengths of the body.
        regular: left foot leads (snowboarder only).
        joints: name -> (3,) in metres; names as in `mapping.tracks.Figure`.
        facing: region ("pelvis", "spine", "chest", "neck", "head", "foot.L",
            "hand.L" ...) -> (3, 3) columns left, back, up of the body part
            itself. The mesh is modelled along these; they are not the
            anatomical frames, which are the identity in the rest pose.
        equipment: lengths in metres as in `mapping.tracks.Figure`.
        build: what its kind is made by.
        bones: the bones, parents first.
    """

    kind: str
    size: Proportions | LeggedFigure
    regular: bool
    joints: dict[str, np.ndarray]
    facing: dict[str, np.ndarray]
    equipment: dict[str, float]
    build: Building
    bones: tuple[BoneSpec, ...] = field(default=())

    @property
    def height(self) -> float:
        """Stature in metres."""
        return self.size.height


@dataclass(frozen=True)
class Chain:
    """Two bones that bend so that their end reaches a target.

    Attributes:
        first: the first of the two.
        end: the second, which carries the constraint.
        target: bone whose head they reach for.
        pole: bone that their middle joint points to.
        switch: property of the root bone that is 1 while they do.
        turned: (bone, bone that it turns with while they do, name of the constraint).
    """

    first: str
    end: str
    target: str
    pole: str
    switch: str
    turned: tuple[tuple[str, str, str], ...] = ()


class Building(Protocol):
    """What makes one kind of character different from the others: whom it is asked of.

    Attributes:
        figure: the rest pose at the usual size, of one that goes on legs; else None.
        body: the figure's mesh.
        equipment: the mesh of what the figure wears, holds and stands on; None for nothing.
        deform: deform bone -> (bone it follows, deform parent), of equipment.
        rotation_modes: bone -> rotation mode, where it is not by quaternion.
        switches: custom properties of the root bone, one for each side.
        joints: joint of a figure -> bone whose head it is, beyond the body's.
        lengths: custom properties of the object that are lengths in metres.
        angles: custom properties of the object that are angles in radians.
        measures: lengths and angles that follow from the joints, and whether
            the left foot leads.
        stances: it may be built the other way round, as its mirror image.
    """

    figure: LeggedFigure | None
    body: Callable[[Skeleton], Surface]
    equipment: Callable[[Skeleton], Surface] | None
    deform: Mapping[str, tuple[str, str]]
    rotation_modes: Mapping[str, str]
    switches: tuple[str, ...]
    joints: Mapping[str, str]
    lengths: tuple[str, ...]
    angles: tuple[str, ...]
    measures: Callable[[Mapping[str, np.ndarray], bool], dict[str, float]]
    stances: bool

    def skeleton(
        self, kind: str, size: float | Proportions | LeggedFigure, regular: bool
    ) -> Skeleton:
        """Rest pose with its bones.

        Args:
            kind: name of the kind.
            size: of the usual figure, m; or lengths of a body, or a rest pose, of another one.
            regular: left foot leads, of kinds that have a leading foot.
        """

    def chains(self) -> tuple[Chain, ...]:
        """Limbs that bend by inverse kinematics."""

    def role_bones(self) -> dict[str, str]:
        """Role -> the control that is keyed for it; its head is at the role's joint in rest."""

    def deform_bones(self) -> dict[str, tuple[str, str]]:
        """Deform bone -> (control it follows, deform parent), parents first."""

    def switch_tips(self) -> dict[str, str]:
        """Custom property of the root bone that switches a limb -> tooltip."""

    def still(self, bone: str) -> tuple[bool, bool]:
        """Whether a bone is not to be moved, and whether it is not to be turned.

        Args:
            bone: its name.
        """

    def carried(self, skeleton: Skeleton) -> list[tuple[str, str, str]]:
        """(deform bone, bone, side): what goes along with a leg in FK.

        Args:
            skeleton: joints and facings.
        """

    def widgets(self, skeleton: Skeleton) -> dict[str, tuple]:
        """Control -> (shape, half-sizes, offset, frame), in shares of the height.

        Offset and frame are the bone's own where frame is None; otherwise columns
        x, y, z of the shape in character space.

        Args:
            skeleton: sizes and facings.
        """

    def joint_ends(self) -> dict[str, tuple[str, bool]]:
        """Joint of the figure on legs -> the bone that tells where it is, and whether by its
        tail."""


@dataclass(frozen=True)
class Build:
    """A kind of person, see `Building`.

    Names of bones and roles may hold "{side}", which stands for L and R.

    Attributes:
        rest: lengths of the body -> joints, facing and equipment of a `Skeleton`.
        body: see `Building`.
        equipment: see `Building`.
        carriers: adds the bones that the controls of feet and hands hang on.
        foot: bone that `foot_ik` hangs on, and the collection it is in.
        hand: bone that `hand_ik` hangs on.
        wrist: bone that the arm's IK reaches for.
        mechanism: adds the bones that hang on limbs.
        deform: deform bone -> (bone it follows, deform parent), beyond the body's.
        carried: see `Building`.
        switches: see `Building`.
        level_with: bone -> bone that it turns with while the leg is in IK.
        rotation_modes: see `Building`.
        turned_only: controls that are not to be moved, beyond the body's, without sides.
        shapes: control -> row of the table of shapes, beyond the body's.
        roles: role -> control, beyond the body's.
        joints: see `Building`.
        lengths: see `Building`.
        angles: see `Building`.
        measures: see `Building`.
        stances: see `Building`.
        figure: see `Building`.
        ends: see `Building.joint_ends`.
    """

    rest: Callable[[Proportions], tuple[dict, dict, dict]]
    body: Callable[[Skeleton], Surface]
    equipment: Callable[[Skeleton], Surface] | None
    carriers: Callable[[Bones], None]
    foot: tuple[str, str]
    deform: Mapping[str, tuple[str, str]]
    shapes: Callable[[Skeleton], dict[str, tuple]]
    roles: Mapping[str, str]
    lengths: tuple[str, ...]
    measures: Callable[[Mapping[str, np.ndarray], bool], dict[str, float]]
    hand: str = "root"
    wrist: str = "hand_ik.{side}"
    mechanism: Callable[[Bones], None] = lambda bones: None
    carried: Callable[[Skeleton], list[tuple[str, str, str]]] = lambda skeleton: []
    switches: tuple[str, ...] = (IK_LEG, IK_ARM)
    level_with: Mapping[str, str] = field(default_factory=dict)
    rotation_modes: Mapping[str, str] = field(default_factory=dict)
    turned_only: tuple[str, ...] = ()
    joints: Mapping[str, str] = field(default_factory=dict)
    angles: tuple[str, ...] = ()
    stances: bool = False
    figure: LeggedFigure | None = None
    ends: Mapping[str, tuple[str, bool]] = field(default_factory=dict)

    def skeleton(self, kind: str, size: float | Proportions, regular: bool) -> Skeleton:
        """See `Building.skeleton`.

        Args:
            kind: name of the kind.
            size: lengths of the body, or the stature in metres of one of standard proportions.
            regular: left foot leads; False is goofy, the mirror image.
        """
        body = size if isinstance(size, Proportions) else standard_proportions(size)
        goofy = self.stances and not regular
        joints, facing, equipment = self.rest(body.mirrored() if goofy else body)
        if goofy:
            joints, facing = _mirrored(joints, facing)
        joints["root"] = np.zeros(3)
        bare = Skeleton(kind, body, regular, joints, facing, equipment, self)
        return replace(bare, bones=tuple(body_bones(bare, self)))

    def chains(self) -> tuple[Chain, ...]:
        """Legs and arms, which bend by inverse kinematics."""
        found = []
        for side in ("L", "R"):
            levels = tuple(
                (bone.format(side=side), level.format(side=side), "Level")
                for bone, level in self.level_with.items()
            )
            foot = (f"foot.{side}", f"foot_ik.{side}", "Boot")
            hand = (f"hand.{side}", f"hand_ik.{side}", "Hand")
            found += [
                Chain(
                    f"thigh.{side}", f"shin.{side}", f"foot_ik.{side}", f"knee_pole.{side}",
                    f"{IK_LEG}.{side}", (foot, *levels),
                ),
                Chain(
                    f"upper_arm.{side}", f"forearm.{side}", self.wrist.format(side=side),
                    f"elbow_pole.{side}", f"{IK_ARM}.{side}", (hand,),
                ),
            ]
        return tuple(found)

    def role_bones(self) -> dict[str, str]:
        """Role -> the control that is keyed for it; its head is at the role's joint in rest."""
        return both_sides({**_BODY_ROLES, **self.roles})

    def deform_bones(self) -> dict[str, tuple[str, str]]:
        """Deform bone -> (control it follows, deform parent), parents first."""
        return deform_bones(self)

    def switch_tips(self) -> dict[str, str]:
        """Custom property of the root bone that switches a limb -> tooltip."""
        return {
            f"{name}.{side}": _SWITCH_TIPS[name] for name in self.switches for side in ("L", "R")
        }

    def still(self, bone: str) -> tuple[bool, bool]:
        """Whether a bone is not to be moved, and whether it is not to be turned.

        Args:
            bone: its name.
        """
        base = bone.rsplit(".", 1)[0] if bone[-2:] in (".L", ".R") else bone
        return base in (*_NO_LOCATION, *self.turned_only), base in _NO_ROTATION

    def widgets(self, skeleton: Skeleton) -> dict[str, tuple]:
        """See `Building.widgets`.

        Args:
            skeleton: sizes and facings.
        """
        return _person(skeleton) | self.shapes(skeleton)

    def joint_ends(self) -> dict[str, tuple[str, bool]]:
        """See `Building.joint_ends`."""
        return dict(self.ends)


def _person(skeleton: Skeleton) -> dict[str, tuple]:
    """The shapes of a person's controls, see `Building.widgets`."""
    table: dict[str, tuple] = {
        "master": ("master", (0.52, 0.52, 0.52), (0, 0, 0), None),
        "root": ("root", (0.26, 0.26, 0.26), (0, 0, 0), None),
        "pelvis": ("belt", (0.145, 1.0, 0.125), (0, 0, 0), None),
        "spine": ("circle", (0.115, 1.0, 0.100), (0, 0.035, 0), None),
        "chest": ("circle", (0.150, 1.0, 0.120), (0, 0.085, 0), None),
        "neck": ("circle", (0.058, 1.0, 0.058), (0, 0.028, 0), None),
        "head": ("circle", (0.088, 1.0, 0.098), (0, 0.082, 0), None),
    }
    for side, sign in (("L", 1.0), ("R", -1.0)):
        chest = skeleton.facing["chest"]
        sided = {
            "shoulder": ("bow", (0.06, 0.075, 0.075), (sign * 0.10, 0, 0.02), chest),
            "upper_arm": ("circle", (0.050, 1.0, 0.050), (0, 0.093, 0), None),
            "forearm": ("circle", (0.044, 1.0, 0.044), (0, 0.080, 0), None),
            "hand": ("circle", (0.042, 1.0, 0.042), (0, 0.035, 0), None),
            "thigh": ("circle", (0.075, 1.0, 0.075), (0, 0.125, 0), None),
            "shin": ("circle", (0.062, 1.0, 0.062), (0, 0.110, 0), None),
            "foot": ("circle", (0.050, 1.0, 0.050), (0, 0.050, 0), None),
            "toe": ("circle", (0.040, 1.0, 0.040), (0, 0.030, 0), None),
            "hand_ik": ("box", (0.034, 0.042, 0.042), (0, 0.036, 0), None),
            "knee_pole": ("diamond", (0.020,) * 3, (0, 0, 0), None),
            "elbow_pole": ("diamond", (0.020,) * 3, (0, 0, 0), None),
        }
        table |= {f"{name}.{side}": row for name, row in sided.items()}
    return table


_BODY_ROLES = {
    **{role: role for role in ("root", "pelvis", "spine", "chest", "neck", "head")},
    "shoulder.{side}": "shoulder.{side}",
    "knee.{side}": "knee_pole.{side}",
    "hand.{side}": "hand_ik.{side}",
    "elbow.{side}": "elbow_pole.{side}",
}
_SWITCH_TIPS = {
    IK_LEG: "1: the leg follows its foot's control. 0: thigh, shin and foot are posed by hand (FK)",
    IK_ARM: "1: the arm follows hand_ik. 0: upper arm, forearm and hand are posed by hand (FK)",
    POLE_LOCK: "1: the pole reaches from the palm to pole_tip, and the hand keeps its length away. "
    "0: the pole goes with the hand",
}
_NO_LOCATION = (
    "spine",
    "chest",
    "neck",
    "head",
    "gaze",
    "shoulder",
    "upper_arm",
    "forearm",
    "hand",
    "thigh",
    "shin",
    "foot",
    "toe",
)
_NO_ROTATION = ("knee_pole", "elbow_pole", "pole_tip")


def _mirrored(joints: dict, facing: dict) -> tuple[dict, dict]:
    """The mirror image in X, with sides exchanged."""
    swap = {"L": "R", "R": "L"}

    def name(key: str) -> str:
        return key[:-1] + swap[key[-1]] if key[-2:] in (".L", ".R") else key

    flip = np.diag([-1.0, 1.0, 1.0])
    mirrored_joints = {name(key): flip @ value for key, value in joints.items()}
    # Mirroring a frame exchanges its hand; its left axis is turned back.
    mirrored_facing = {name(key): flip @ value @ flip for key, value in facing.items()}
    return mirrored_joints, mirrored_facing


def both_sides(names: Mapping[str, str]) -> dict[str, str]:
    """Names and values, once for L and once for R where they hold "{side}".

    Args:
        names: name -> value.
    """
    found = {}
    for name, value in names.items():
        for side in ("L", "R") if "{side}" in name else ("",):
            found[name.format(side=side)] = value.format(side=side)
    return found


def unit(vector: np.ndarray) -> np.ndarray:
    """Vector of length 1 along `vector`."""
    vector = np.asarray(vector, dtype=float)
    return vector / np.linalg.norm(vector)


def facing_frame(yaw: float, pitch: float = 0.0) -> np.ndarray:
    """Columns left, back, up of a body part that looks along -Y turned by `yaw`.

    Args:
        yaw: radians about +Z, anticlockwise.
        pitch: radians, positive bends forward.
    """
    c, s = cos(yaw), sin(yaw)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    c, s = cos(pitch), sin(pitch)
    # Forward is -Y, so bending forward takes up (+Z) towards -Y.
    bend = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    return turn @ bend


def two_bone_joint(
    start: np.ndarray, end: np.ndarray, first: float, second: float, towards: np.ndarray
) -> np.ndarray:
    """Middle joint of a two-bone limb by the law of cosines.

    Args:
        start: (3,) first joint.
        end: (3,) last joint, within first + second of `start`.
        first: length of the first bone.
        second: length of the second bone.
        towards: (3,) direction the middle joint bends to.

    Returns:
        (3,) position of the middle joint.
    """
    axis = end - start
    distance = float(np.linalg.norm(axis))
    axis = axis / distance
    cosine = (first**2 + distance**2 - second**2) / (2.0 * first * distance)
    angle = acos(min(1.0, max(-1.0, cosine)))
    side = towards - axis * float(axis @ towards)
    return start + first * (cos(angle) * axis + sin(angle) * unit(side))


def sidecut_radius(length: float, waist: float, shovel: float, tail: float) -> float:
    """Radius in metres of the arc through shovel, waist and tail.

    R = L^2 / (8 d) + d / 2, with L the length between the widest points and d
    the depth of the cut.

    Args:
        length: between the widest points, metres.
        waist: width at the narrowest, metres.
        shovel: width at the front, metres.
        tail: width at the back, metres.
    """
    depth = 0.25 * (shovel + tail) - 0.5 * waist
    return length**2 / (8.0 * depth) + 0.5 * depth


def trunk(
    hip: np.ndarray, size: Proportions, yaws: dict[str, float], lean: float, tilt: float = 0.0
) -> tuple[dict, dict]:
    """Joints and facings from hips to head, in metres; `tilt` bends the pelvis forward."""
    facing = {
        "pelvis": facing_frame(yaws["pelvis"], tilt),
        "spine": facing_frame(yaws["spine"], 0.7 * lean),
        "chest": facing_frame(yaws["chest"], lean),
        "neck": facing_frame(yaws["neck"], 0.8 * lean),
        "head": facing_frame(yaws["head"]),
    }
    joints = {"pelvis": hip}
    joints["spine"] = hip + facing["pelvis"] @ size.spine
    joints["chest"] = joints["spine"] + facing["spine"] @ size.chest
    joints["neck"] = joints["chest"] + facing["chest"] @ size.neck
    joints["head"] = joints["neck"] + facing["neck"] @ size.head
    joints["vertex"] = joints["head"] + facing["head"] @ size.vertex
    for side in ("L", "R"):
        joints[f"hip.{side}"] = hip + facing["pelvis"] @ size.hip[side]
        joints[f"shoulder.{side}"] = joints["chest"] + facing["chest"] @ size.shoulder[side]
        joints[f"upper_arm.{side}"] = joints["chest"] + facing["chest"] @ size.upper_arm[side]
    return joints, facing


def arm(
    joints: dict, facing: dict, side: str, size: Proportions, upper: np.ndarray, fore: np.ndarray
) -> None:
    """Add elbow, wrist, palm and hand facing, given the directions of both bones."""
    shoulder = joints[f"upper_arm.{side}"]
    elbow = shoulder + unit(upper) * size.arm[side]
    wrist = elbow + unit(fore) * size.forearm[side]
    joints[f"elbow_joint.{side}"] = elbow
    joints[f"hand.{side}"] = wrist
    along = unit(fore)
    # The fist: thumb up, knuckles ahead; back is against the knuckles.
    side_axis = unit(np.cross(UP, -along))
    facing[f"hand.{side}"] = np.stack([-side_axis, -along, np.cross(-side_axis, -along)], axis=1)
    joints[f"pole.{side}"] = wrist + along * size.grip
    middle = elbow - (shoulder + wrist) / 2.0
    chord = unit(wrist - shoulder)
    bend = unit(middle - chord * float(chord @ middle))
    joints[f"elbow.{side}"] = elbow + bend * 0.22 * size.height


def leg(joints: dict, facing: dict, side: str, size: Proportions, toes: np.ndarray) -> None:
    """Add knee, foot and pole of one leg; hip and ankle are there already."""
    hip, ankle = joints[f"hip.{side}"], joints[f"foot.{side}"]
    knee = two_bone_joint(hip, ankle, size.thigh[side], size.shin[side], toes)
    joints[f"knee_joint.{side}"] = knee
    chord = unit(ankle - hip)
    bend = unit(toes - chord * float(chord @ toes))
    joints[f"knee.{side}"] = knee + bend * 0.28 * size.height
    joints[f"toe.{side}"] = ankle + toes * size.ball - UP * size.ball_height
    facing[f"foot.{side}"] = np.stack([np.cross(-toes, UP), -toes, UP], axis=1)


def hip_height(horizontal: float, flexion: float, size: Proportions) -> float:
    """Rise from ankles to the middle of the hips for a knee flexion, hips being `horizontal` off.

    The leg that comes less far down is bent so; the other one, where it is longer, by more.
    """
    rises = []
    for side, hip in size.hip.items():
        a, b = size.thigh[side], size.shin[side]
        reach_squared = a * a + b * b + 2.0 * a * b * cos(flexion)
        rises.append(sqrt(reach_squared - horizontal**2) - hip[2])
    return min(rises)


class Bones:
    """Bones of a skeleton under construction, parents before children.

    Args:
        skeleton: joints and facings.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.specs: list[BoneSpec] = []

    def add(self, name: str, parent: str, head, tail, z_axis, collection, connected=False) -> None:
        """Add a bone; see `BoneSpec`."""
        ends = np.asarray(head), np.asarray(tail)
        self.specs.append(
            BoneSpec(name, parent, *ends, np.asarray(z_axis), collection, connected)
        )

    def flat(self, name: str, parent: str, head, size: float, collection: str) -> None:
        """A bone whose axes are the character's: along +Y, Z up; size in shares of stature."""
        self.add(name, parent, head, head + BACK * size * self.skeleton.height, UP, collection)

    def along_foot(
        self, name: str, parent: str, side: str, collection: str, connected=False
    ) -> None:
        """A bone from ankle to ball of the foot."""
        j = self.skeleton.joints
        self.add(name, parent, j[f"foot.{side}"], j[f"toe.{side}"], UP, collection, connected)


def body_bones(skeleton: Skeleton, build: Build) -> list[BoneSpec]:
    """Controls first, then mechanism and deform bones; parents before children.

    Args:
        skeleton: joints and facings.
        build: what is different about its kind.
    """
    bones = Bones(skeleton)
    add, flat, along_foot = bones.add, bones.flat, bones.along_foot
    j, f, size = skeleton.joints, skeleton.facing, skeleton.size
    flat("master", "", j["root"], 0.30, "Controls")
    flat("root", "master", j["root"], 0.20, "Controls")
    add("pelvis", "root", j["pelvis"], j["spine"], -f["pelvis"][:, 1], "Controls")
    add("spine", "pelvis", j["spine"], j["chest"], -f["spine"][:, 1], "Controls")
    add("chest", "spine", j["chest"], j["neck"], -f["chest"][:, 1], "Controls")
    add("neck", "chest", j["neck"], j["head"], -f["neck"][:, 1], "Controls")
    add("head", "neck", j["head"], j["vertex"], -f["head"][:, 1], "Controls")
    build.carriers(bones)
    for side in ("L", "R"):
        hand_tail = j[f"hand.{side}"] - f[f"hand.{side}"][:, 1] * size.hand
        hand_up = f[f"hand.{side}"][:, 2]
        arm_bend = j[f"elbow.{side}"] - j[f"elbow_joint.{side}"]
        leg_bend = j[f"knee.{side}"] - j[f"knee_joint.{side}"]
        toes = -f[f"foot.{side}"][:, 1]
        add(
            f"shoulder.{side}",
            "chest",
            j[f"shoulder.{side}"],
            j[f"upper_arm.{side}"],
            UP,
            "Controls",
        )
        add(
            f"upper_arm.{side}",
            f"shoulder.{side}",
            j[f"upper_arm.{side}"],
            j[f"elbow_joint.{side}"],
            arm_bend,
            "FK",
        )
        add(
            f"forearm.{side}",
            f"upper_arm.{side}",
            j[f"elbow_joint.{side}"],
            j[f"hand.{side}"],
            arm_bend,
            "FK",
            True,
        )
        add(f"hand.{side}", f"forearm.{side}", j[f"hand.{side}"], hand_tail, hand_up, "FK", True)
        add(f"thigh.{side}", "pelvis", j[f"hip.{side}"], j[f"knee_joint.{side}"], leg_bend, "FK")
        add(
            f"shin.{side}",
            f"thigh.{side}",
            j[f"knee_joint.{side}"],
            j[f"foot.{side}"],
            leg_bend,
            "FK",
            True,
        )
        along_foot(f"foot.{side}", f"shin.{side}", side, "FK", True)
        add(
            f"toe.{side}",
            f"foot.{side}",
            j[f"toe.{side}"],
            j[f"toe.{side}"] + toes * (size.toe - size.ball),
            UP,
            "FK",
            True,
        )
        flat(f"knee_pole.{side}", "root", j[f"knee.{side}"], 0.05, "IK")
        flat(f"elbow_pole.{side}", "root", j[f"elbow.{side}"], 0.05, "IK")
        add(f"hand_ik.{side}", build.hand, j[f"hand.{side}"], hand_tail, hand_up, "IK")
        foot, collection = build.foot
        along_foot(f"foot_ik.{side}", foot.format(side=side), side, collection)
    build.mechanism(bones)
    controls = {bone.name: bone for bone in bones.specs}
    return bones.specs + _deform_bones(controls, deform_bones(build))


# Deform bone -> (control it follows, deform parent). The hierarchy of the
# deform bones is a plain one, for export to engines.
_DEFORM_CENTRE = {
    "DEF-pelvis": ("pelvis", "root"),
    "DEF-spine": ("spine", "DEF-pelvis"),
    "DEF-chest": ("chest", "DEF-spine"),
    "DEF-neck": ("neck", "DEF-chest"),
    "DEF-head": ("head", "DEF-neck"),
}
_DEFORM_SIDE = {
    "DEF-shoulder": ("shoulder", "DEF-chest"),
    "DEF-upper_arm": ("upper_arm", "DEF-shoulder"),
    "DEF-forearm": ("forearm", "DEF-upper_arm"),
    "DEF-hand": ("hand", "DEF-forearm"),
    "DEF-thigh": ("thigh", "DEF-pelvis"),
    "DEF-shin": ("shin", "DEF-thigh"),
    "DEF-foot": ("foot", "DEF-shin"),
    "DEF-toe": ("toe", "DEF-foot"),
    # Half-way bones keep the volume of a bent joint: they turn half as far as
    # the limb beyond it.
    "DEF-deltoid": ("upper_arm", "DEF-shoulder"),
    "DEF-elbow": ("forearm", "DEF-upper_arm"),
    "DEF-hip": ("thigh", "DEF-pelvis"),
    "DEF-knee": ("shin", "DEF-thigh"),
}
HALF_WAY = ("DEF-deltoid", "DEF-elbow", "DEF-hip", "DEF-knee")
HALF = "DEF-half-"  # begins the names of those of a creature


def deform_bones(build: Build) -> dict[str, tuple[str, str]]:
    """Deform bone -> (control it follows, deform parent), parents first.

    Args:
        build: what is different about a kind.
    """
    bones = dict(_DEFORM_CENTRE)
    for side in ("L", "R"):
        for name, (source, parent) in _DEFORM_SIDE.items():
            sided = parent in ("DEF-pelvis", "DEF-chest")
            bones[f"{name}.{side}"] = (f"{source}.{side}", parent if sided else f"{parent}.{side}")
    for name, pair in build.deform.items():
        for side in ("L", "R") if "{side}" in name else ("",):
            source, parent = (part.format(side=side) for part in pair)
            bones[name.format(side=side)] = (source, parent)
    return bones


def is_half_way(name: str) -> bool:
    """True for a deform bone that turns half as far as the bone it follows.

    Args:
        name: name of a deform bone.
    """
    return name.startswith(HALF) or name.rsplit(".", 1)[0] in HALF_WAY


def _deform_bones(
    controls: dict[str, BoneSpec], table: dict[str, tuple[str, str]]
) -> list[BoneSpec]:
    bones = []
    for name, (source, parent) in table.items():
        spec = controls[source]
        length = 0.4 if is_half_way(name) else 1.0
        tail = spec.head + (spec.tail - spec.head) * length
        bones.append(BoneSpec(name, parent, spec.head, tail, spec.z_axis, "Deform", deform=True))
    return bones
