# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion amplification for a snowboarder: from a leaning pendulum to a whole body.

After van de Panne et al. 1993, section 7: knees and waist bend under the leg
force, the ankles tilt the board, the upper body twists in phase with the
curvature and the arms lead it a little. The body stands sideways: in a turn to
its heels it sits, in a turn to its toes the shins press forward and the hips
come over the edge.

Rotations are against the rest pose, in which the body already stands sideways
on the board.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import radians
from typing import ClassVar, TypeVar

import numpy as np

from ...solvers.ik import two_bone
from ...solvers.motion import Problem, TurningMotion
from ...solvers.rotations import (
    conjugate,
    from_axis_angle,
    from_matrix,
    multiply,
    normalise,
    rotate,
)
from .amounts import EdgedStyle, GazeStyle, StandingStyle, within_ranges
from .edges import edge_angle, skid_angle
from .ground import Ground, ground_frames
from .reports import SIDE_WORDS, span_problem
from .rows import amount, angle, length
from .signals import Amount, Signals, limited, read_signals, saturated
from .stance import (
    FOLDED,
    FOLDING,
    MOST_TAKEN,
    REACH,
    ROOM,
    barrier,
    bent_leg,
    centre_of_mass,
    knee_bend,
    leg_lengths,
    newton,
)
from .tracks import SIDES, Figure, RoleTracks
from .trunk import (
    PELVIS_SHARE,
    SPINE_SHARE,
    bend_arms,
    gaze_yaw,
    pose_head,
    posture,
    rest_pitch,
    trunk_offsets,
    within_reach,
)

STATURE = 1.78  # metres: lengths of a style are for a figure of this height
UP, DOWN = "UP", "DOWN"
ANKLE_LIMIT = radians(38.0)  # forward bend of an ankle in a soft boot


@dataclass(frozen=True)
class SidewaysStyle(GazeStyle, StandingStyle):
    """How anyone moves who stands sideways on a board. Every number may be
    keyed: a float or (n,) samples.

    Angles are radians. Lengths are metres for a figure 1.78 m tall and grow
    with the figure.
    """

    WORDS: ClassVar = {"who": "rider", "cut": "board", "edges": "Board"}
    SECTIONS: ClassVar[tuple[str, ...]] = ("Legs", "Trunk", "Head", "Arms")

    knee_flexion: Amount = radians(54.0)
    up_down: Amount = 0.08
    unweighting_amount: Amount = 0.05
    heel_sit: Amount = angle("Heelside Sit", 20, (0, 50), (-40, 60),
        "How much more the knees bend on the heel side", section="Legs")
    toe_press: Amount = angle("Toeside Press", 10, (0, 40), (-40, 60),
        "How much less they bend on the toe side")
    front_weight: Amount = length("Front Weight", 0.03, (-0.2, 0.2), (-0.3, 0.3),
        "How far the body stands to the nose")
    trunk_pitch: Amount = angle("Trunk Pitch", 18, (0, 60), (-20, 75),
        "Bend of the trunk towards the toes under one body weight", section="Trunk")
    waist_follow: Amount = amount("Waist Follows", 0.45, 1.0, (-1.0, 2.0),
        "Further bend of the waist with the knees")
    heel_bend: Amount = angle("Heelside Bend", 8, (0, 40), (-40, 40),
        "Further bend of the trunk on the heel side, less on the toe side")
    shoulder_level: Amount = amount("Shoulder Level", 0.35, 1.0, (-0.5, 1.0),
        "How far the shoulders level against the lean", unit="FACTOR")
    twist: Amount = angle("Twist", 16, (-30, 45), (-60, 60),
        "Turn of the chest into the turn at full curvature")
    twist_lead: Amount = angle("Twist Lead", 25, (0, 90), (-90, 90),
        "How far the twist is ahead of the curvature")
    face_heading: Amount = amount("Face Downhill", 0.1, 1.0, (0.0, 1.0),
        "Share of the turning that the chest leaves out, so that it keeps facing where the turns "
        "go")
    twist_limit: Amount = angle("Twist Limit", 35, (0, 60), (0, 80),
        "Largest turn of the chest against the board")
    arms_lead: Amount = amount("Arms Lead", 0.35, 1.0, (-1.0, 2.0),
        "How much further the arms turn than the chest", section="Arms")
    hand_raise: Amount = length("Hands Raised", 0.0, (-0.3, 0.4), (-0.4, 0.6),
        "Hands above where they rest")
    hand_spread: Amount = length("Hands Spread", 0.0, (-0.3, 0.3), (-0.4, 0.4),
        "Hands further out to nose and tail")
    inside_hand: Amount = length("Inside Hand", 0.06, (0.0, 0.3), (-0.3, 0.4),
        "How much the hand on the inner side is higher")
    gaze_limit: Amount = angle("Gaze Limit", 45, (0, 80), (0, 85),
        "Largest turn of the head from its rest view")
    head_level: Amount = 0.75


@dataclass(frozen=True)
class SnowboarderStyle(SidewaysStyle, EdgedStyle):
    """How a snowboarder moves: in addition to `SidewaysStyle`, the edges."""

    SECTIONS = ("Legs", "Board", "Trunk", "Head", "Arms")

    angulation: Amount = radians(7.0)
    angulation_limit: Amount = radians(24.0)
    edge_limit: Amount = radians(76.0)
    float_angle: Amount = angle("Flat Below", 12, (0, 20), (0, 30),
        "Edge angle below which the board rests flat in passing")
    skid: Amount = angle("Skid", 22, (0, 60), (0, 60),
        "How far the board turns across a path that it cannot carve")


# Styles by name; knee bends, edge angles and twists as riders and coaches give them.
STYLES: dict[str, SnowboarderStyle] = {
    "beginner": SnowboarderStyle(
        knee_flexion=radians(48.0),
        up_down=0.15,
        heel_sit=radians(14.0),
        toe_press=radians(6.0),
        angulation=radians(5.0),
        skid=radians(40.0),
        trunk_pitch=radians(24.0),
        twist=radians(8.0),
        twist_lead=radians(5.0),
        arms_lead=0.2,
        look_ahead=0.5,
        gaze_down=radians(14.0),
        hand_raise=0.06,
    ),
    "cruising": SnowboarderStyle(),
    "carving": SnowboarderStyle(
        knee_flexion=radians(56.0),
        up_down=0.04,
        unweighting_amount=0.03,
        heel_sit=radians(20.0),
        toe_press=radians(12.0),
        edge_law="SIDECUT",
        sidecut=15.0,
        angulation=radians(10.0),
        skid=radians(8.0),
        trunk_pitch=radians(20.0),
        heel_bend=radians(6.0),
        shoulder_level=0.4,
        twist=radians(18.0),
        hand_raise=0.05,
        inside_hand=0.12,
    ),
    "freestyle": SnowboarderStyle(
        knee_flexion=radians(58.0),
        up_down=0.08,
        unweighting_amount=0.09,
        heel_sit=radians(20.0),
        toe_press=radians(12.0),
        angulation=radians(7.0),
        skid=radians(30.0),
        front_weight=0.0,
        trunk_pitch=radians(16.0),
        twist=radians(24.0),
        twist_lead=radians(35.0),
        arms_lead=0.4,
        hand_raise=0.08,
        hand_spread=0.03,
    ),
}


@dataclass(frozen=True)
class Deck:
    """A board and the feet on it, in ground space; index 0 is L, 1 is R.

    Attributes:
        rotation: (n, 4) of the board.
        position: (n, 3) of the board.
        ankle: (2, n, 3).
        toes: (2, n, 3) directions of the feet.
        tilt: (n,) of the board, radians to the left.
        skid: (n,) turn of the board against the travel, radians to the left.
        sway: (n,) how far the hands swing to the left for balance, metres.
        places: further roles -> (n, 3) positions.
        turns: further roles -> (n, 4) rotations.
        spins: role -> (n,) angle counted past whole turns, radians.
        problems: what the board cannot do.
        attributes: name -> (n,) for the trail.
        remedy: what helps an ankle that bends too far.
    """

    rotation: np.ndarray
    position: np.ndarray
    ankle: np.ndarray
    toes: np.ndarray
    tilt: np.ndarray
    skid: np.ndarray
    sway: np.ndarray
    places: Mapping[str, np.ndarray] = field(default_factory=dict)
    turns: Mapping[str, np.ndarray] = field(default_factory=dict)
    spins: Mapping[str, np.ndarray] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    attributes: Mapping[str, np.ndarray] = field(default_factory=dict)
    remedy: str = "Less angulation, or more knee bend"


@dataclass(frozen=True)
class Ride:
    """What is known before a board is placed.

    Attributes:
        motion: the solved motion.
        signals: what drives the body.
        ground: ground space along the motion.
        figure: rest pose and board.
        size: size of the figure against one 1.78 m tall.
    """

    motion: TurningMotion
    signals: Signals
    ground: Ground
    figure: Figure
    size: float


AnyStyle = TypeVar("AnyStyle", bound=SidewaysStyle)


@dataclass(frozen=True)
class _Legs:
    pelvis: np.ndarray  # (n, 3)
    hip: np.ndarray  # (2, n, 3)
    knee: np.ndarray  # (2, n, 3)
    knee_pole: np.ndarray  # (2, n, 3)
    flexion: np.ndarray  # (2, n)
    length: np.ndarray  # (2, n)
    ankle: np.ndarray  # (2, n) forward bend of the ankles
    centre: np.ndarray  # (n, 3)


def map_snowboarder(motion: TurningMotion, figure: Figure, style: SnowboarderStyle) -> RoleTracks:
    """Pose a snowboarder for every sample of a turning motion.

    Regular or goofy is read from the figure: the foot that stands ahead leads.

    Args:
        motion: the solved motion.
        figure: the snowboarder's rest pose and board.
        style: how it moves.

    Returns:
        Tracks of root, board, pelvis, spine, chest, neck, head and, per side,
        shoulder, hand, elbow, knee and foot.
    """
    return map_sideways(motion, figure, style, _snowboard)


def _snowboard(ride: Ride, style: SnowboarderStyle) -> Deck:
    signals, figure = ride.signals, ride.figure
    sidecut = figure.equipment["sidecut"] if style.sidecut is None else style.sidecut
    edge, edge_yield = edge_angle(
        signals,
        law=style.edge_law,
        per_curvature=style.edge_per_curvature,
        sidecut=sidecut,
        angulation=style.angulation,
        angulation_limit=style.angulation_limit,
        edge_limit=style.edge_limit,
        rest=style.float_angle,
    )
    problems = span_problem(
        signals.time, edge_yield, radians(3.0), code="EDGE_LIMITED", unit="rad",
        message="The board is edged less than its law asks", bone="board",
        remedy="A higher Angulation Limit or Edge Limit, or gentler turns",
    )
    skid = skid_angle(signals.curvature, sidecut, edge, style.skid)
    named = {
        "edge_angle": edge,
        "angulation": np.sign(signals.lean) * (edge - signals.lean),
        "skid_angle": skid,
    }
    return _place_board(figure, edge, skid, problems, named)


def map_sideways(
    motion: TurningMotion,
    figure: Figure,
    style: AnyStyle,
    place: Callable[[Ride, AnyStyle], Deck],
) -> RoleTracks:
    """Pose anyone who stands sideways on a board, for every sample of a turning motion.

    Regular or goofy is read from the figure: the foot that stands ahead leads.

    Args:
        motion: the solved motion.
        figure: rest pose and board.
        style: how it moves.
        place: places the board and the feet on it.

    Returns:
        Tracks as of `map_snowboarder`, and what else the board has.
    """
    style, limits = within_ranges(style)
    size = figure.height / STATURE
    ground = ground_frames(motion)
    signals = read_signals(motion)
    heel = heel_side(figure) * saturated(signals.lean, radians(14.0))
    board = place(Ride(motion, signals, ground, figure, size), style)
    skid = board.skid
    spring, knees, wished = _spring(motion, signals, figure, style, size, heel)
    if motion.surfaces:  # the board lies on the terrain, the legs take what is not evened out
        over = ground.over(board.position)
        up = np.stack((np.zeros_like(over), np.zeros_like(over), over), axis=-1)
        places = {role: place + up for role, place in board.places.items()}
        board = replace(
            board, position=board.position + up, ankle=board.ankle + up, places=places
        )
        taken = np.clip(over, -MOST_TAKEN, MOST_TAKEN)
        spring, wished = spring - taken, wished - taken
    rotation, chest_yaw, arms_yaw, lean = _trunk(motion, signals, figure, style, knees, heel, skid)
    offset = trunk_offsets(figure, rotation)
    legs = _stand(figure, board, signals, spring, rotation["pelvis"], offset["shoulders"], skid,
                  -np.asarray(style.front_weight) * size)
    joint = {name: legs.pelvis + value for name, value in offset.items()}

    ahead = gaze_yaw(ground.origin, signals.spacing, -ground.axes[:, :, 1],
                     ground.axes[:, :, 0], style.look_ahead)
    neck, head = pose_head(rotation["chest"], signals.lean * (1.0 - np.asarray(style.head_level)),
                           ahead, style.gaze_down, chest_yaw, style.gaze_limit)
    hands = _hands(figure, signals, style, size, joint["shoulders"], arms_yaw, lean,
                   board.sway)
    shoulder = {side: joint[f"upper_arm.{side}"] for side in SIDES}
    hands = {
        side: within_reach(hands[side], shoulder[side], sum(figure.arm(side))) for side in SIDES
    }
    wrist, elbow_pole, fist, shortfall = _arms(figure, shoulder, hands, rotation["chest"])

    upright = posture(np.zeros(len(signals.time)), 0.0, 0.0)
    middle = board.position.copy()
    middle[:, 2] = ground.over(middle)
    position = {
        "root": middle,
        "board": board.position,
        **board.places,
        "pelvis": legs.pelvis,
        "spine": joint["spine"],
        "chest": joint["chest"],
        "neck": joint["neck"],
        "head": joint["neck"] + rotate(neck, np.subtract(figure.joints["head"],
                                                         figure.joints["neck"])),
    }
    turns = {"root": upright, "board": board.rotation, **board.turns, **rotation}
    turns |= {"neck": neck, "head": head}
    for i, side in enumerate(SIDES):
        position |= {
            f"shoulder.{side}": joint[f"shoulder.{side}"],
            f"hand.{side}": wrist[side],
            f"elbow.{side}": elbow_pole[side],
            f"knee.{side}": legs.knee_pole[i],
            f"foot.{side}": board.ankle[i],
        }
        turns |= {
            f"shoulder.{side}": rotation["chest"],
            f"hand.{side}": fist[side],
            f"elbow.{side}": upright,
            f"knee.{side}": upright,
            f"foot.{side}": board.rotation,
        }
    return RoleTracks(
        clock=motion.clock,
        position={role: ground.world(points) for role, points in position.items()},
        rotation=ground.all_turned(turns),
        events=motion.events,
        problems=(*limits, *board.problems, *_yielded(signals, legs, board, wished, shortfall)),
        attributes=_attributes(signals, legs, heel, chest_yaw) | dict(board.attributes),
        spins=dict(board.spins),
    )


def heel_side(figure: Figure) -> float:
    """+1 if the heels are to the left of travel (regular), -1 if to the right (goofy).

    Args:
        figure: a snowboarder's rest pose.
    """
    toes = sum(figure.joints[f"toe.{s}"][0] - figure.joints[f"foot.{s}"][0] for s in SIDES)
    return 1.0 if toes < 0.0 else -1.0


def _place_board(figure: Figure, edge: np.ndarray, skid: np.ndarray, problems, named) -> Deck:
    """Roll the board about its lower edge, which stays in the snow's surface.

    As the board goes on edge, the pressure moves from its middle to that edge:
    there is the pendulum's foot.
    """
    half = 0.5 * figure.equipment["board_width"]
    contact = saturated(edge, radians(20.0))
    x = half * (np.sign(edge) * (1.0 - np.cos(edge)) - contact)
    z = half * np.abs(np.sin(edge))
    zero = np.zeros_like(edge)
    yaw = posture(zero, skid, 0.0)
    position = rotate(yaw, np.stack((x, zero, z), axis=-1))
    rotation = multiply(yaw, posture(edge, 0.0, 0.0))
    ankle, toes = feet_on(figure, position, rotation)
    return Deck(
        rotation, position, ankle, toes, edge, skid, zero, problems=problems, attributes=named
    )


def feet_on(
    figure: Figure, position: np.ndarray, rotation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ankles (2, n, 3) and directions of the toes (2, n, 3) of feet that stay on a board.

    Args:
        figure: rest pose.
        position: (n, 3) of the board.
        rotation: (n, 4) of the board.
    """
    joints = figure.joints
    ankle = np.stack([
        position + rotate(rotation, np.subtract(joints[f"foot.{s}"], joints["board"]))
        for s in SIDES
    ])
    toes = []
    for side in SIDES:
        along = np.subtract(joints[f"toe.{side}"], joints[f"foot.{side}"])
        toes.append(rotate(rotation, normalise(along * (1.0, 1.0, 0.0))))
    return ankle, np.stack(toes)


def _spring(motion, signals: Signals, figure, style, size, heel):
    """Length of the legs (n,), the knee flexion (n,) that goes with it, the length wished for."""
    to_heel, to_toe = np.maximum(heel, 0.0) ** 2, np.maximum(-heel, 0.0) ** 2
    flexion = style.knee_flexion + style.heel_sit * to_heel - style.toe_press * to_toe
    length = np.mean(bent_leg(figure, flexion), axis=0)
    if style.stiffness is None:
        shortening = np.asarray(style.up_down) * size
    else:
        shortening = motion.mass * motion.gravity / np.maximum(style.stiffness, 1.0)
    change = np.asarray(style.unweighting_amount) * size * (1.0 if style.unweighting == UP else -1)
    length = length - shortening * (signals.force - 1.0)
    wished = length + change * signals.edge_change * signals.intensity
    full = 0.5 * sum(sum(figure.leg(side)) for side in SIDES)
    middle = 0.5 * (0.96 + 0.55) * full
    length = middle + limited(wished - middle, 0.5 * (0.96 - 0.55) * full, 0.85)
    return length, knee_bend(figure, length), wished


def _across(figure: Figure, left: str, right: str) -> np.ndarray:
    """Level axis through a pair of rest joints, the body's own left."""
    line = np.subtract(figure.joints[left], figure.joints[right])
    return normalise(line * (1.0, 1.0, 0.0))


def _trunk(motion, signals: Signals, figure, style, knees, heel, skid):
    """Rotations of pelvis, spine and chest; yaw of chest and arms; lean of the chest."""
    # Quarter of a turn behind the curvature runs the rate of lean: together
    # they give the twist any lead in phase.
    rate = signals.lean_rate_share
    scale = style.twist * signals.intensity

    def ahead(lead: Amount) -> np.ndarray:
        return scale * (signals.turn * np.cos(lead) + rate * np.sin(lead))

    facing = style.face_heading * signals.off_heading
    yaw = limited(ahead(style.twist_lead) - facing, style.twist_limit)
    arms = limited(
        (1.0 + np.asarray(style.arms_lead)) * ahead(2.0 * np.asarray(style.twist_lead)) - facing,
        1.4 * np.asarray(style.twist_limit),
    )
    level = np.asarray(style.shoulder_level)
    lean = signals.lean * (1.0 - level)
    pitch = style.trunk_pitch + style.waist_follow * (knees - style.knee_flexion)
    pitch = pitch + style.heel_bend * heel
    pitch = limited(pitch, radians(80.0)) - rest_pitch(figure)
    hips, shoulders = (_across(figure, "hip.L", "hip.R"),
                       _across(figure, "upper_arm.L", "upper_arm.R"))
    pelvis_lean, pelvis_yaw = signals.lean * (1.0 - 0.5 * level), 0.3 * yaw + 0.7 * skid
    chest = (lean, yaw + 0.3 * skid, pitch)
    share = (SPINE_SHARE - PELVIS_SHARE) / (1.0 - PELVIS_SHARE)
    pelvis = (pelvis_lean, pelvis_yaw, PELVIS_SHARE * pitch)
    spine = tuple(p + share * (c - p) for p, c in zip(pelvis, chest, strict=True))

    def pose(lean_yaw_pitch, axis) -> np.ndarray:
        lean_, yaw_, pitch_ = lean_yaw_pitch
        return multiply(posture(lean_, yaw_, 0.0), from_axis_angle(axis, pitch_))

    rotation = {
        "pelvis": pose(pelvis, hips),
        "spine": pose(spine, normalise(hips + shoulders)),
        "chest": pose(chest, shoulders),
    }
    return rotation, chest[1], arms + 0.3 * skid, lean


def _stand(figure, board: Deck, signals: Signals, spring, pelvis_turn, trunk, skid,
           along) -> _Legs:
    """Find the pelvis: centre of mass over the lean line, legs as long as the spring says."""
    thigh, shin = leg_lengths(figure)
    joints, lean = figure.joints, signals.lean
    hip = np.stack([
        rotate(pelvis_turn, np.subtract(joints[f"hip.{s}"], joints["pelvis"])) for s in SIDES
    ])
    feet_y = 0.5 * (board.ankle[0, :, 1] + board.ankle[1, :, 1])
    y = feet_y + along - 0.5 * (hip[0, :, 1] + hip[1, :, 1])
    toes = board.toes

    def place(x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pelvis = np.stack((x, y, z), axis=-1)
        return pelvis, pelvis + hip

    def knees(hips: np.ndarray) -> np.ndarray:
        line = board.ankle - hips
        length = np.linalg.norm(line, axis=-1)
        reach = np.clip(length, 0.2 * thigh, 0.9999 * (thigh + shin))
        part = (reach**2 + thigh**2 - shin**2) / (2.0 * reach)
        off = np.sqrt(np.maximum(thigh**2 - part**2, 0.0))
        line = line / length[..., None]
        bend = toes - np.einsum("sni,sni->sn", toes, line)[..., None] * line
        return hips + part[..., None] * line + off[..., None] * normalise(bend)

    def errors(x: np.ndarray, z: np.ndarray) -> np.ndarray:
        pelvis, hips = place(x, z)
        length = np.linalg.norm(hips - board.ankle, axis=-1)
        use = length / (thigh + shin)
        resist = barrier(use, ROOM, REACH) - barrier(-use, -FOLDING, -FOLDED)
        centre = centre_of_mass(pelvis, pelvis + trunk, hips, knees(hips), board.ankle)
        return np.stack((np.mean(length, axis=0) + np.sum(resist, axis=0) - spring,
                         centre[:, 0] - centre[:, 2] * np.tan(lean)))

    reach = spring + figure.equipment["sole"]
    x, z = newton(errors, reach * np.sin(lean), reach * np.cos(lean))
    pelvis, hips = place(x, z)
    limb = [
        two_bone(hips[i], board.ankle[i], hips[i] + toes[i], *figure.leg(side))
        for i, side in enumerate(SIDES)
    ]
    knee = np.stack([item.middle for item in limb])
    line = normalise(board.ankle - hips)
    bend = toes - np.einsum("sni,sni->sn", toes, line)[..., None] * line
    pole = knee + 0.28 * figure.height * normalise(bend)
    shins = normalise(knee - board.ankle)
    sole = rotate(board.rotation, np.array((0.0, 0.0, 1.0)))
    ankle = np.arctan2(np.einsum("sni,sni->sn", shins, toes),
                       np.einsum("sni,ni->sn", shins, sole))
    return _Legs(
        pelvis=pelvis,
        hip=hips,
        knee=knee,
        knee_pole=pole,
        flexion=np.stack([item.flexion for item in limb]),
        length=np.linalg.norm(hips - board.ankle, axis=-1),
        ankle=ankle,
        centre=centre_of_mass(pelvis, pelvis + trunk, hips, knee, board.ankle),
    )


def _hands(figure, signals: Signals, style, size, shoulders, arms_yaw, lean, sway):
    """Hands over nose and tail: as in the rest pose, turned with the arms."""
    turn = posture(lean, arms_yaw, 0.0)
    joints = figure.joints
    middle = 0.5 * np.add(joints["upper_arm.L"], joints["upper_arm.R"])
    inside = saturated(signals.lean, radians(18.0)) * style.inside_hand * size
    hands = {}
    for side in SIDES:
        rest = np.subtract(joints[f"hand.{side}"], middle)
        out = np.array((0.0, np.sign(rest[1]), 0.0))
        carried = np.broadcast_to(rest, (len(signals.time), 3)).copy()
        carried += np.multiply.outer(
            np.broadcast_to(np.asarray(style.hand_spread) * size, signals.time.shape), out
        )
        carried[:, 0] += sway
        carried[:, 2] += np.asarray(style.hand_raise) * size
        # The hand that is on the inner side of the turn keeps out of the snow.
        carried[:, 2] += inside * np.sign(rest[0]) * min(abs(rest[0]) / 0.2, 1.0)
        hands[side] = shoulders + rotate(turn, carried)
    return hands


def _arms(figure, shoulder, hands, chest):
    """Wrists, elbow poles, rotations of the hands and what the arms lack."""
    joints = figure.joints
    towards = {}
    for side in SIDES:
        middle = 0.5 * np.add(joints[f"upper_arm.{side}"], joints[f"hand.{side}"])
        towards[side] = rotate(chest, normalise(np.subtract(joints[f"elbow_joint.{side}"],
                                                            middle)))
    elbow, pole, shortfall = bend_arms(figure, shoulder, hands, towards)
    fist = {}
    for side in SIDES:
        rest_fore = np.subtract(joints[f"hand.{side}"], joints[f"elbow_joint.{side}"])
        rest_up = np.array((0.0, 0.0, 1.0))
        fore = hands[side] - elbow[side]
        fist[side] = multiply(
            _aligned(fore, rotate(chest, rest_up)), conjugate(_aligned(rest_fore, rest_up))
        )
    return hands, pole, fist, shortfall


def _aligned(along: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Rotations whose y axis is `along` and whose z axis leans to `up`."""
    along = normalise(along)
    up = normalise(up - np.einsum("...i,...i->...", up, along)[..., None] * along)
    return from_matrix(np.stack((np.cross(along, up), along, up), axis=-1))


def _yielded(signals: Signals, legs: _Legs, board: Deck, wished, shortfall):
    """What could not be had: the spring's length, the ankles' bend, the hands' places."""
    time = signals.time
    spring = np.mean(legs.length, axis=0)
    problems = [
        *span_problem(time, np.abs(spring - wished), 0.02, code="LEG_REACH",
                      message="The legs cannot follow their spring", bone="pelvis",
                      remedy="Knee Bend nearer to 50 degrees, less Up and Down, less lean"),
    ]
    for i, side in enumerate(SIDES):
        problems += span_problem(
            time, np.abs(legs.ankle[i]) - ANKLE_LIMIT, 0.0, code="ANKLE", unit="rad",
            message=f"{SIDE_WORDS[side]} ankle bends further than an ankle can",
            bone=f"foot.{side}", remedy=board.remedy,
        )
        problems += span_problem(
            time, shortfall[side], 1e-6, code="ARM_REACH", severity="WARNING",
            message=f"{SIDE_WORDS[side]} arm is too short for its hand", bone=f"hand.{side}",
            remedy="Less Hands Spread or Hands Raised",
        )
    return tuple(problems)


def _attributes(signals: Signals, legs: _Legs, heel, chest_yaw):
    named = {
        "lean": signals.lean,
        "curvature": signals.curvature,
        "force": signals.force,
        "phase": signals.phase,
        "unweighting": 1.0 - signals.force,
        "edge_change": signals.edge_change,
        "heel_side": heel,
        "leg_spring": np.mean(legs.length, axis=0),
        "twist": chest_yaw,
        "centre_of_mass.x": legs.centre[:, 0],
        "centre_of_mass.y": legs.centre[:, 1],
        "centre_of_mass.z": legs.centre[:, 2],
    }
    for i, side in enumerate(SIDES):
        named |= {
            f"knee_flexion.{side}": legs.flexion[i],
            f"leg_length.{side}": legs.length[i],
            f"ankle.{side}": legs.ankle[i],
        }
    return named

