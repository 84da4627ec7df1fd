# SPDX-License-Identifier: GPL-3.0-or-later
"""What a mapping takes from a figure and hands to a rig. Numpy only.

A mapping ("motion amplification") turns a solved motion into *role tracks*:
where each body part and piece of equipment is in the world. It knows roles,
never a rig's bone names; a rig adapter knows bones, never a sport.

Character space: metres, Z up, facing -Y, +X to the character's left (so side
"L" has positive x), origin on the ground between the soles.

Anatomical frames: every role has one that coincides with character space in
the rest pose (x left, y back, z up). A role's rotation is the rotation of
that frame into the world, so a mapping never meets bone axes or rolls, and a
rig turns `rotation` into a bone's world matrix as rotation * rest matrix.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np

from ...solvers.clock import Clock
from ...solvers.motion import Event, Problem
from ...solvers.rotations import about_z, conjugate, multiply, rotate
from .signals import at_times

SIDES = ("L", "R")

# Shoulder to wrist, and half the distance between the shoulder joints: shares of stature, after
# Winter (Biomechanics and Motor Control of Human Movement, ch. 4).
USUAL_ARM, USUAL_SHOULDER = 0.332, 0.106

_Placed = TypeVar("_Placed", "RoleTracks", "Moments")

# Roles whose position is that of the joint (or contact) named here.
ROOT = "root"  # on the ground under the character, carries the motion
PELVIS = "pelvis"  # mid-point of the hip joints
SPINE = "spine"  # lumbar joint
CHEST = "chest"  # thoracic joint
NECK = "neck"
HEAD = "head"  # atlas, rotation = gaze direction (-y of the frame)
GAZE = "gaze"  # between the eyes, rotation = where they look
SHOULDER = "shoulder"  # clavicle, per side
HAND = "hand"  # wrist, per side
ELBOW = "elbow"  # point the elbow bends towards (IK pole), per side
FOOT = "foot"  # ankle, per side
HEEL = "heel"  # ball of a foot with a free heel, rotation = the foot's, per side
KNEE = "knee"  # point the knee bends towards (IK pole), per side
SKI = "ski"  # on the running surface under the ankle, per side
BOARD = "board"  # on the running surface mid-way between the bindings
BIKE = "bike"  # rear tyre on the ground, rotation = frame
FORK = "fork"  # fork with handlebars, on the steering axis
FRONT_WHEEL = "front_wheel"  # its axle
REAR_WHEEL = "rear_wheel"  # its axle
SPROCKET = "sprocket"  # at the rear wheel, turned by the chain
CRANK = "crank"  # bottom bracket
PEDAL = "pedal"  # its axle, per side
FRONT_TRUCK = "front_truck"  # middle of a skateboard's front axle
REAR_TRUCK = "rear_truck"  # middle of its rear axle
POLE = "pole"  # grip end of the pole (at the palm), per side; shaft along -z
POLE_TIP = "pole_tip"  # tip of the pole, per side

# Roles that stay where the skeleton puts them: only their direction is keyed.
ROTATION_ONLY = {
    SPINE, CHEST, NECK, HEAD, GAZE, SHOULDER, HEEL,
    FORK, FRONT_WHEEL, REAR_WHEEL, SPROCKET, CRANK, PEDAL,
    FRONT_TRUCK, REAR_TRUCK,
}

# Points without a direction.
LOCATION_ONLY = {KNEE, ELBOW}

# Segments of legs beyond a person's two: they hang on each other.
_SEGMENT = re.compile(r"(hind|fore|leg\d+)\.\d+")


def side_role(role: str, side: str) -> str:
    """Name of a role on one side: `side_role("foot", "L")` is "foot.L".

    Args:
        role: one of the per-side roles above.
        side: "L" or "R".
    """
    return f"{role}.{side}"


def base_role(role: str) -> str:
    """A role without its side: "foot" of "foot.L".

    Args:
        role: a role.
    """
    return role.rsplit(".", 1)[0]


def only_turned(role: str) -> bool:
    """Whether a role stays where the skeleton puts it: only its direction is keyed.

    Args:
        role: a role.
    """
    base = base_role(role)
    return base in ROTATION_ONLY or _SEGMENT.fullmatch(base) is not None


@dataclass(frozen=True)
class Figure:
    """Rest pose and size of a character, in character space.

    Attributes:
        joints: role -> (3,) rest position of that role. Per-side roles carry
            their side ("foot.L"); besides the roles above it holds
            "hip.L/R" (thigh joints), "knee_joint.L/R", "elbow_joint.L/R",
            "upper_arm.L/R" (shoulder joints) and "toe.L/R".
        mass: kg, character with equipment.
        height: stature in metres.
        equipment: lengths in metres of what is attached: "ski_length",
            "ski_width", "sidecut" (radius), "pole_length" (grip to tip),
            "board_length", "board_width", "sole" (ankle above the running
            surface), "stance_angle.front"/"stance_angle.rear" (radians),
            "wheelbase", "wheel_radius" (outer), "tyre_radius" (of its
            section), "crank_length", "head_angle" (radians).
    """

    # Of gaits; a rider's are parts of what it rides on.
    legs: ClassVar[tuple] = ()

    joints: Mapping[str, np.ndarray]
    mass: float
    height: float
    equipment: Mapping[str, float] = field(default_factory=dict)

    def length(self, start: str, end: str) -> float:
        """Distance in metres between two joints of the rest pose.

        Args:
            start: role of the first joint.
            end: role of the second joint.
        """
        return float(np.linalg.norm(np.asarray(self.joints[end]) - self.joints[start]))

    def scaled(self, factor: float) -> Figure:
        """The same figure at another size; its mass stays as it is.

        Args:
            factor: metres per metre, above 0.
        """
        words = ("stance_angle", "head_angle")
        angles = {name for name in self.equipment if name.startswith(words)}
        return Figure(
            joints={role: np.asarray(p) * factor for role, p in self.joints.items()},
            mass=self.mass,
            height=self.height * factor,
            equipment={
                name: value if name in angles else value * factor
                for name, value in self.equipment.items()
            },
        )

    def leg(self, side: str) -> tuple[float, float]:
        """Thigh and shin in metres.

        Args:
            side: "L" or "R".
        """
        knee = side_role("knee_joint", side)
        return self.length(side_role("hip", side), knee), self.length(knee, side_role(FOOT, side))

    def arm(self, side: str) -> tuple[float, float]:
        """Upper arm and forearm in metres.

        Args:
            side: "L" or "R".
        """
        elbow = side_role("elbow_joint", side)
        return (
            self.length(side_role("upper_arm", side), elbow),
            self.length(elbow, side_role(HAND, side)),
        )

    @property
    def leg_length(self) -> float:
        """Thigh plus shin of the shorter leg, its longest hip-to-ankle distance, in metres."""
        return min(sum(self.leg(side)) for side in SIDES)

    @property
    def arm_length(self) -> float:
        """Upper arm plus forearm of the shorter arm, in metres."""
        return min(sum(self.arm(side)) for side in SIDES)

    @property
    def arm_share(self) -> float:
        """`arm_length` against that of a usual body of this stature."""
        return self.arm_length / (USUAL_ARM * self.height)


@dataclass(frozen=True)
class Instants:
    """What is known exactly of a foot as it touches down, rolls, and leaves the ground.

    Attributes:
        time: (k,) seconds from the start of the motion, in order.
        rank: (k,) 0 at the ends of a roll, 1 and 2 between them: between those of rank 0 and 1
            a foot hardly leaves straight lines.
        offset: role -> (k, 3) world position, from the contact's; not a number where it is not
            known.
        turn: role -> (k, 4) world rotation, likewise.
    """

    time: np.ndarray
    rank: np.ndarray
    offset: Mapping[str, np.ndarray]
    turn: Mapping[str, np.ndarray]

    def some(self, rows: np.ndarray | slice) -> Instants:
        """Those of some rows.

        Args:
            rows: their numbers, a slice, or (k,) bool.
        """
        return Instants(
            self.time[rows], self.rank[rows],
            {role: values[rows] for role, values in self.offset.items()},
            {role: values[rows] for role, values in self.turn.items()},
        )

    def and_at(self, times: np.ndarray) -> Instants:
        """With others, of rank 0, at which no more is known than by the samples.

        Args:
            times: (m,) when.
        """
        rows = np.argsort(np.concatenate((self.time, times)), kind="stable")

        def joined(values: np.ndarray, fill: float) -> np.ndarray:
            more = np.full((len(times), *values.shape[1:]), fill)
            return np.concatenate((values, more))[rows]

        return Instants(
            np.concatenate((self.time, times))[rows], joined(self.rank, 0),
            {role: joined(values, np.nan) for role, values in self.offset.items()},
            {role: joined(values, np.nan) for role, values in self.turn.items()},
        )


@dataclass(frozen=True)
class Contact:
    """A span in which a point is fixed in the world (a planted pole tip).

    Attributes:
        role: role whose position is fixed.
        start: seconds from the start of the motion, exact.
        end: seconds.
        position: (3,) world position held between the two.
        arm: (3,) from the role's position to the fixed point, in the axes of the bone
            that plays it, metres; the bone may turn about that point meanwhile.
        limb: roles of the limb that brings it there. When the contact begins and ends, its
            joints change their pace with it.
        instants: of a foot that rolls, where its parts are as it touches down, before the
            point is at rest, as it leaves the ground, after that, and in between.
        stiff: whether the limb ends above the part of the foot that rolls, so that it hardly
            moves meanwhile.
    """

    role: str
    start: float
    end: float
    position: np.ndarray
    arm: np.ndarray = field(default_factory=lambda: np.zeros(3))
    limb: tuple[str, ...] = ()
    instants: Instants | None = None
    stiff: bool = False


@dataclass(frozen=True)
class Moments:
    """Where every role is at the instants of contacts, which most samples miss.

    Attributes:
        time: (k,) seconds, in order.
        position: role -> (k, 3).
        rotation: role -> (k, 4).
        spins: role -> (k,).
    """

    time: np.ndarray
    position: Mapping[str, np.ndarray]
    rotation: Mapping[str, np.ndarray]
    spins: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Treadmill:
    """The ground under a figure that stays in place: it goes, and turns, back under it.

    With the place b and yaw psi of the figure on the ground, a point p of the ground is at
    b_0 + R_z(psi_0 - psi) (p - b).

    Attributes:
        time: (n,) seconds, evenly.
        position: (n, 3) where on the ground the figure is, 0 high.
        yaw: (n,) how it is turned there, radians.
    """

    time: np.ndarray
    position: np.ndarray
    yaw: np.ndarray

    def at(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where on the ground the figure is, (k, 3), and how the ground has turned back, (k, 4).

        Args:
            time: (k,) seconds.
        """
        spacing = float(self.time[1] - self.time[0]) if len(self.time) > 1 else 0.0
        place = at_times(self.position, spacing, time - self.time[0])
        return place, about_z(self.yaw[0] - at_times(self.yaw, spacing, time - self.time[0]))

    def under(self, points: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Where points of the ground are.

        Args:
            points: (k, 3) or (3,) on the ground.
            time: (k,) seconds.

        Returns:
            (k, 3).
        """
        place, back = self.at(time)
        return rotate(back, points - place) + self.position[0]

    def moved(self, tracks: RoleTracks, back: bool = False) -> RoleTracks:
        """Tracks of a figure on the ground put in place, or put back onto the ground.

        Args:
            tracks: the tracks; contacts and events are told on the ground in both.
            back: onto the ground.
        """

        def put(some: _Placed) -> _Placed:
            place, turn = self.at(some.time)
            off, on = place, self.position[0]
            if back:
                turn, off, on = conjugate(turn), on, place
            return replace(
                some,
                position={r: rotate(turn, p - off) + on for r, p in some.position.items()},
                rotation={r: multiply(turn, q) for r, q in some.rotation.items()},
            )

        moments = None if tracks.moments is None else put(tracks.moments)
        return replace(put(tracks), moments=moments, treadmill=None if back else self)


@dataclass(frozen=True)
class RoleTracks:
    """Where every role is, for every sample of the motion.

    Attributes:
        clock: when the samples of the motion are that it was made from, and where a track
            may have a corner.
        position: role -> (n, 3) world position.
        rotation: role -> (n, 4) world rotation of the anatomical frame,
            w, x, y, z, unit and sign-continuous.
        contacts: exact spans of fixed points.
        events: events of motion and mapping (plants), in order of time.
        problems: reach or style limits that yielded, in addition to those
            of the motion.
        attributes: name -> (n,) for the trail and Geometry Nodes
            ("edge_angle.L", "knee_flexion.R", "unweighting" ...); angles in
            radians.
        spins: role -> (n,) how far it has turned about its own x axis against
            what carries it, radians, whole turns counted: a rotation alone
            does not tell how many there were between two samples.
        moments: the same at the instants of its contacts, which keys are to go through; None
            if nobody asked for them.
        treadmill: what the figure is on, if it stays in place: contacts and events are told
            on it, as if it were the ground. None if the figure goes where it goes.
    """

    clock: Clock
    position: Mapping[str, np.ndarray]
    rotation: Mapping[str, np.ndarray]
    contacts: tuple[Contact, ...] = ()
    events: tuple[Event, ...] = ()
    problems: tuple[Problem, ...] = ()
    attributes: Mapping[str, np.ndarray] = field(default_factory=dict)
    spins: Mapping[str, np.ndarray] = field(default_factory=dict)
    moments: Moments | None = None
    treadmill: Treadmill | None = None

    @property
    def time(self) -> np.ndarray:
        """(n,) seconds; the samples of the motion it was made from."""
        return self.clock.time

    def first(self) -> RoleTracks:
        """The pose of the first sample alone."""

        def alone(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {name: values[:1] for name, values in arrays.items()}

        return RoleTracks(
            self.clock.first(), alone(self.position), alone(self.rotation),
            problems=tuple(problem for problem in self.problems if not problem.time),
            attributes=alone(self.attributes), spins=alone(self.spins),
        )

    def at_frames(self) -> RoleTracks:
        """The same on whole frames alone."""
        whole = self.clock.every

        def every(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {name: values[whole] for name, values in arrays.items()}

        return replace(
            self,
            clock=self.clock.at_frames(),
            position=every(self.position),
            rotation=every(self.rotation),
            attributes=every(self.attributes),
            spins=every(self.spins),
        )


class Spin(NamedTuple):
    """How far a bone has turned about an axis, which its turn ends with.

    Attributes:
        angle: (n,) radians, whole turns counted.
        axis: (3,) unit vector in the bone's own axes.
    """

    angle: np.ndarray
    axis: np.ndarray


@dataclass(frozen=True)
class JointTracks:
    """How every joint is turned, for every row of a clock; any armature has bones.

    A bone's turn and place are against its rest pose in its parent, as Blender holds them in
    `PoseBone.matrix_basis`, whatever it inherits and in whichever mode it is turned.

    Attributes:
        clock: when the rows are, and where a joint may have a corner.
        turn: bone -> (n, 4) quaternions w, x, y, z.
        place: bone -> (n, 3) in the bone's own axes, in units of the armature.
        spins: bone -> what it has spun: a turn alone does not tell how often between two rows.
        contacts: exact spans in which points of bones are fixed; their roles are bones.
        events: what happens, in order of time.
        problems: what yielded.
        attributes: name -> (n,) for whoever shows them.
    """

    clock: Clock
    turn: Mapping[str, np.ndarray]
    place: Mapping[str, np.ndarray] = field(default_factory=dict)
    spins: Mapping[str, Spin] = field(default_factory=dict)
    contacts: tuple[Contact, ...] = ()
    events: tuple[Event, ...] = ()
    problems: tuple[Problem, ...] = ()
    attributes: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def time(self) -> np.ndarray:
        """(n,) seconds."""
        return self.clock.time

    def bones(self) -> list[str]:
        """Names of the bones that move."""
        return list(dict.fromkeys((*self.turn, *self.place)))


Tracks = RoleTracks | JointTracks
