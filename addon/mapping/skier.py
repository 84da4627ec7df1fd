# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion amplification for a skier: from a leaning pendulum to a whole body.

After van de Panne et al. 1993, section 7: the legs are a spring under the leg
force, the waist follows the knees, the skis are edged by the curvature of
their path, the upper body twists in phase with it, and the poles are planted
at a phase of the turn. On top of that the body's own geometry: the centre of
mass stays on the pendulum's line, both skis lie with an edge in the snow, and
the boots hold the shins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import radians
from typing import ClassVar, TypeVar

import numpy as np

from ...solvers.motion import TurningMotion
from ...solvers.rotations import from_matrix, multiply, normalise, rotate
from .amounts import EdgedStyle, GazeStyle, StandingStyle, within_ranges
from .edges import edge_angle, skid_angle
from .ground import Ground, ground_frames
from .poles import PolePlan, pose_poles
from .reports import SIDE_WORDS, span_problem
from .rows import amount, angle, length, setting
from .signals import (
    Amount,
    Signals,
    averaged_turn,
    limited,
    read_signals,
    saturated,
)
from .stance import (
    Boots,
    Skis,
    Stance,
    Stride,
    bent_leg,
    knee_bend,
    knee_pole,
    on_terrain,
    set_edges,
    side_index,
    stand,
)
from .tracks import SIDES, USUAL_SHOULDER, Figure, RoleTracks
from .trunk import (
    SIGN,
    bend_arms,
    gaze_yaw,
    pose_head,
    pose_trunk,
    posture,
    rest_pitch,
    within_reach,
)

STATURE = 1.78  # metres: lengths of a style are for a figure of this height
LINEAR, SIDECUT = "LINEAR", "SIDECUT"
UP, DOWN = "UP", "DOWN"
CALM = 0.06  # seconds over which the turning of a hand is evened out


@dataclass(frozen=True)
class OnSkisStyle(GazeStyle, EdgedStyle, StandingStyle):
    """How anyone moves on skis. Every number may be keyed: a float or (n,)
    samples.

    Angles are radians. Lengths are metres for a figure 1.78 m tall and grow
    with the figure; the sidecut is that of the ski itself.
    """

    WORDS: ClassVar = {"who": "skier", "cut": "ski", "edges": "Skis"}
    SECTIONS: ClassVar[tuple[str, ...]] = ("Legs", "Skis", "Trunk", "Head", "Arms", "Pole Plants")

    stance_width: Amount = length("Stance Width", 0.3, (0.0, 0.6), (0.15, 0.6),
        "Distance between the skis when flat", section="Legs")
    stance_growth: Amount = amount("Stance Growth", 0.5, 1.0, (0.0, 1.0),
        "How much wider the stance gets on edge, along the snow")
    outside_share: Amount = amount("Outside Ski", 0.75, 1.0, (0.0, 1.0),
        "Share of the load on the outside ski in a turn", unit="FACTOR")
    edge_difference: Amount = angle("Inside Edge", 4, (0, 15), (-15, 15),
        "How much less the inside ski is edged", section="Skis")
    trunk_pitch: Amount = angle("Trunk Pitch", 28, (0, 60), (-20, 75),
        "Forward bend of the trunk under one body weight", section="Trunk")
    waist_follow: Amount = amount("Waist Follows", 0.45, 1.0, (-1.0, 2.0),
        "Further bend of the waist with the knees")
    shoulder_level: Amount = amount("Shoulder Level", 0.5, 1.0, (-0.5, 1.0),
        "How far the shoulders level out against the lean", unit="FACTOR")
    twist: Amount = angle("Twist", 12, (-30, 45), (-60, 60),
        "Turn of the chest to the outside at full curvature")
    face_heading: Amount = amount("Face Downhill", 0.35, 1.0, (0.0, 1.0),
        "Share of the turning that the chest leaves out, so that it keeps facing where the turns "
        "go")
    twist_limit: Amount = angle("Twist Limit", 60, (0, 80), (0, 80),
        "Largest turn of the chest against the skis")
    hand_forward: Amount = length("Hands Ahead", 0.4, (0.0, 0.6), (-0.2, 0.7),
        "Hands in front of the shoulders", section="Arms")
    hand_out: Amount = length("Hands Out", 0.36, (0.0, 0.7), (0.1, 0.8),
        "Hands to the side of the body's middle")
    hand_drop: Amount = length("Hands Down", 0.34, (0.0, 0.6), (-0.3, 0.8),
        "Hands below the shoulders")
    inside_hand: Amount = length("Inside Hand", 0.08, (0.0, 0.3), (-0.3, 0.4),
        "How much the inside hand is higher and further forward")
    pole_trail: Amount = angle("Pole Trail", 58, (0, 90), (0, 90),
        "How far the poles trail behind, from straight down")
    pole_spread: Amount = angle("Pole Spread", 12, (-10, 45), (-20, 80),
        "How far the poles point outwards")
    pole_plants: bool = setting("Pole Plants", True,
        "Plant the pole on the inside of the coming turn", section="Pole Plants")
    plant_phase: Amount = angle("Plant Phase", 0, (-90, 90), (-90, 90),
        "When the pole is planted, against the start of the turn that it leads into; negative is "
        "before the change of edges")
    plant_contact: Amount = amount("Contact", 0.1, 0.3, (0.001, 0.5),
        "Longest time that the tip stays in the snow, in seconds", unit="TIME_ABSOLUTE")
    plant_swing: Amount = amount("Swing", 0.4, 1.0, (0.05, 2.0),
        "Time the pole takes to swing forward, in seconds", unit="TIME_ABSOLUTE")
    plant_forward: Amount = length("Reach", 0.08, (0.0, 0.3), (-0.2, 0.4),
        "How far the hand reaches forward for the plant")
    plant_out: Amount = length("Reach Out", 0.05, (0.0, 0.3), (-0.2, 0.4),
        "How far it reaches out to the side")


@dataclass(frozen=True)
class SkierStyle(OnSkisStyle):
    """How an alpine skier moves: in addition to `OnSkisStyle`, the fixed heels."""

    boot_angle: Amount = angle("Boot Angle", 16, (5, 25), (-5, 35),
        "Forward lean of the shins that the boots hold", section="Legs")
    lead: Amount = amount("Inside Lead", 1.0, 2.0, (0.0, 2.0),
        "Lead of the inside ski; 1 keeps both shins parallel")
    lead_limit: Amount = length("Lead Limit", 0.32, (0.0, 0.6), (0.0, 0.8),
        "Largest lead of the inside ski")


# Styles by name. Knee bends, edge angles and timing after the figures for these
# turns in the literature (Reid et al. 2020 for slalom; ISBS 2015, 33:560 for the
# forces; coaching texts for plants), as far as a style decides them.
STYLES: dict[str, SkierStyle] = {
    "beginner": SkierStyle(
        knee_flexion=radians(42.0),
        up_down=0.20,
        unweighting_amount=0.04,
        boot_angle=radians(14.0),
        stance_width=0.38,
        outside_share=0.65,
        angulation=radians(6.0),
        skid=radians(40.0),
        trunk_pitch=radians(22.0),
        twist=radians(4.0),
        face_heading=0.1,
        look_ahead=0.5,
        gaze_down=radians(14.0),
        hand_forward=0.36,
        plant_phase=radians(-25.0),
        plant_contact=0.15,
    ),
    "cruising": SkierStyle(
        knee_flexion=radians(42.0),
        up_down=0.15,
        unweighting_amount=0.04,
        angulation=radians(7.0),
        skid=radians(25.0),
        twist=radians(10.0),
        face_heading=0.3,
        plant_phase=radians(0.0),
    ),
    "short": SkierStyle(
        knee_flexion=radians(48.0),
        up_down=0.05,
        unweighting_amount=0.05,
        stance_width=0.27,
        outside_share=0.7,
        angulation=radians(13.0),
        skid=radians(40.0),
        float_angle=radians(24.0),
        trunk_pitch=radians(32.0),
        shoulder_level=0.65,
        twist=radians(16.0),
        face_heading=0.75,
        look_ahead=0.9,
        plant_phase=radians(-18.0),
        plant_contact=0.12,
        plant_swing=0.35,
        plant_out=0.10,
        plant_forward=0.03,
    ),
    "carving": SkierStyle(
        knee_flexion=radians(44.0),
        up_down=0.06,
        unweighting_amount=0.02,
        stance_width=0.32,
        outside_share=0.7,
        edge_law=SIDECUT,
        sidecut=22.0,
        angulation=radians(12.0),
        skid=radians(10.0),
        trunk_pitch=radians(30.0),
        shoulder_level=0.45,
        twist=radians(6.0),
        face_heading=0.12,
        plant_phase=radians(30.0),
        plant_contact=0.06,
    ),
    "giant_slalom": SkierStyle(
        knee_flexion=radians(56.0),
        up_down=0.01,
        unweighting=DOWN,
        unweighting_amount=0.06,
        stance_width=0.34,
        stance_growth=0.45,
        outside_share=0.75,
        edge_law=SIDECUT,
        sidecut=30.0,
        angulation=radians(12.0),
        skid=radians(10.0),
        float_angle=radians(15.0),
        trunk_pitch=radians(42.0),
        shoulder_level=0.5,
        twist=radians(10.0),
        face_heading=0.2,
        hand_forward=0.44,
        hand_drop=0.30,
        pole_trail=radians(66.0),
        pole_plants=False,
    ),
    "slalom": SkierStyle(
        knee_flexion=radians(62.0),
        up_down=0.015,
        unweighting=DOWN,
        unweighting_amount=0.05,
        stance_width=0.30,
        stance_growth=0.35,
        outside_share=0.68,
        edge_law=SIDECUT,
        sidecut=12.5,
        angulation=radians(14.0),
        skid=radians(18.0),
        float_angle=radians(26.0),
        trunk_pitch=radians(38.0),
        shoulder_level=0.6,
        twist=radians(12.0),
        face_heading=0.5,
        hand_forward=0.44,
        pole_trail=radians(62.0),
        plant_phase=radians(-5.0),
        plant_contact=0.05,
        plant_swing=0.32,
    ),
}


@dataclass(frozen=True)
class Footing:
    """Feet on skis, before the body stands on them. Index 0 is L, 1 is R.

    Attributes:
        skis: edged skis.
        feet: what places them fore and aft.
        turn: (2, n) turn of each ski against their common direction, radians to the left.
        heel: (2, n) turn of each foot about its ball, radians, + heel up; None
            where heels are fixed.
    """

    skis: Skis
    feet: Boots | Stride
    turn: np.ndarray
    heel: np.ndarray | None = None


@dataclass(frozen=True)
class Setting:
    """What is known before the feet are placed.

    Attributes:
        motion: the solved motion.
        signals: what drives the body.
        figure: rest pose and equipment.
        size: size of the figure against one 1.78 m tall.
        skis: both skis, edges set, feet flat on them.
        spring: (n,) length of the legs, weighted by load, metres.
        knees: (n,) knee flexion that goes with it, radians.
    """

    motion: TurningMotion
    signals: Signals
    figure: Figure
    size: float
    skis: Skis
    spring: np.ndarray
    knees: np.ndarray


AnyStyle = TypeVar("AnyStyle", bound=OnSkisStyle)


def map_skier(motion: TurningMotion, figure: Figure, style: SkierStyle) -> RoleTracks:
    """Pose a skier for every sample of a turning motion.

    Args:
        motion: the solved motion.
        figure: the skier's rest pose and equipment.
        style: how it moves.

    Returns:
        Tracks of root, pelvis, spine, chest, neck, head and, per side,
        shoulder, hand, elbow, knee, foot, ski, pole and pole_tip.
    """
    return map_on_skis(motion, figure, style, _fixed_heels)


def _fixed_heels(known: Setting, style: SkierStyle) -> Footing:
    feet = Boots(style.boot_angle, style.lead, np.asarray(style.lead_limit) * known.size)
    return Footing(known.skis, feet, np.zeros_like(known.skis.edge))


def map_on_skis(
    motion: TurningMotion,
    figure: Figure,
    style: AnyStyle,
    footing: Callable[[Setting, AnyStyle], Footing],
) -> RoleTracks:
    """Pose anyone on two skis with two poles for every sample of a turning motion.

    Args:
        motion: the solved motion.
        figure: rest pose and equipment.
        style: how it moves.
        footing: places the feet on the skis.

    Returns:
        Tracks as of `map_skier`, and heel per side where heels are free.
    """
    style, limits = within_ranges(style)
    size = figure.height / STATURE
    ground = ground_frames(motion)
    signals = read_signals(motion)
    edge, law_edge, edge_yield = _edges(signals, figure, style)
    sidecut = _sidecut(figure, style)
    skid = skid_angle(signals.curvature, sidecut, law_edge, style.skid)
    share = _shares(signals, style)
    spring, knees, wished = _spring(motion, signals, figure, style, size)

    trunk, chest_yaw, chest_lean = _trunk(signals, figure, style, knees, skid)
    half = 0.5 * (np.asarray(figure.joints["hip.L"]) - figure.joints["hip.R"])
    across = rotate(trunk.rotation["pelvis"], half)
    flat = set_edges(edge, share, _width(signals, style) * size, figure.equipment["ski_width"],
                     figure.equipment["sole"])
    foot = footing(Setting(motion, signals, figure, size, flat, spring, knees), style)
    skis = foot.skis
    standing = dict(
        lean=signals.lean,
        share=share,
        hip=np.stack((across, -across)),
        trunk=trunk.offset["shoulders"],
        skid=skid,
        feet=foot.feet,
    )
    stance = stand(figure, skis, spring=spring, **standing)
    if motion.surfaces:  # where the skis are is known now; what is under them lifts them
        over = np.stack([ground.over(base) for base in stance.base])
        skis, taken = on_terrain(skis, spring, share, over)
        wished = wished + taken - spring
        stance = stand(figure, skis, spring=taken, **standing)
        stance.middle[:, 2] = ground.over(stance.middle)
    neck, head = _head(motion, signals, ground, style, trunk, chest_yaw)

    joint = {name: stance.pelvis + offset for name, offset in trunk.offset.items()}
    shoulder = {side: joint[f"upper_arm.{side}"] for side in SIDES}
    free = _hands(figure, signals, style, joint["shoulders"], chest_yaw, chest_lean)
    plan = _pole_plan(figure, style)
    free = {side: within_reach(free[side], shoulder[side], plan.arm) for side in SIDES}
    poles = pose_poles(motion, ground, signals, plan, free, shoulder)
    arms = _Arms(figure, signals.spacing, shoulder, poles.grip, poles.tip, chest_yaw, chest_lean)

    position = {
        "root": stance.middle,
        "pelvis": stance.pelvis,
        "spine": joint["spine"],
        "chest": joint["chest"],
        "neck": joint["neck"],
        "head": joint["neck"] + rotate(neck, np.subtract(figure.joints["head"],
                                                         figure.joints["neck"])),
    }
    upright = posture(np.zeros(len(signals.time)), 0.0, 0.0)
    rotation = {
        "root": upright,
        **trunk.rotation,
        "neck": neck,
        "head": head,
    }
    for side in SIDES:
        i = side_index(side)
        boot = ski = multiply(posture(0.0, skid + foot.turn[i], 0.0), posture(edge[i], 0.0, 0.0))
        if foot.heel is not None:
            boot = multiply(ski, posture(0.0, 0.0, foot.heel[i]))
            position[f"heel.{side}"] = stance.base[i] + rotate(
                ski, np.subtract(figure.joints[f"heel.{side}"], figure.joints[f"ski.{side}"]))
            rotation[f"heel.{side}"] = boot
        position |= {
            f"shoulder.{side}": joint[f"shoulder.{side}"],
            f"hand.{side}": arms.wrist[side],
            f"elbow.{side}": arms.elbow_pole[side],
            f"knee.{side}": knee_pole(stance, i, 0.28 * figure.height),
            f"foot.{side}": stance.ankle[i],
            f"ski.{side}": stance.base[i],
            f"pole.{side}": poles.grip[side],
            f"pole_tip.{side}": poles.tip[side],
        }
        rotation |= {
            f"shoulder.{side}": trunk.rotation["chest"],
            f"hand.{side}": arms.hand[side],
            f"foot.{side}": boot,
            f"ski.{side}": ski,
            f"pole.{side}": arms.pole[side],
            f"pole_tip.{side}": arms.pole[side],
        }
        for role in ("knee", "elbow"):
            rotation[f"{role}.{side}"] = upright
    events = sorted((*motion.events, *poles.events), key=lambda event: event.time)
    return RoleTracks(
        clock=replace(motion.clock, corners=poles.kinks),
        position={role: ground.world(points) for role, points in position.items()},
        rotation=ground.all_turned(rotation),
        contacts=poles.contacts,
        events=tuple(events),
        problems=(*limits, *_yielded(signals, stance, wished, edge_yield, arms), *poles.problems),
        attributes=_attributes(
            signals, stance, edge, skid, share, law_edge, poles, chest_yaw, foot
        ),
    )


def _sidecut(figure: Figure, style: OnSkisStyle) -> Amount:
    return figure.equipment["sidecut"] if style.sidecut is None else style.sidecut


def _edges(signals: Signals, figure: Figure, style: OnSkisStyle) -> tuple[np.ndarray, ...]:
    """Edge angles (2, n) of both skis, the law's own (n,), + left, and what it yielded (n,)."""
    law, yielded = edge_angle(
        signals,
        law=style.edge_law,
        per_curvature=style.edge_per_curvature,
        sidecut=_sidecut(figure, style),
        angulation=style.angulation,
        angulation_limit=style.angulation_limit,
        edge_limit=style.edge_limit,
        rest=style.float_angle,
    )
    # The outside ski follows the law; the inside one is edged less.
    cubed = np.abs(law) ** 3
    less = style.edge_difference * cubed / (cubed + radians(15.0) ** 3)
    left = np.where(law > 0.0, law - less, law)
    right = np.where(law < 0.0, law + less, law)
    return np.stack((left, right)), law, yielded


def _shares(signals: Signals, style: OnSkisStyle) -> np.ndarray:
    """Share of the leg force on each ski (2, n): half at the change of edges."""
    more = (np.asarray(style.outside_share) - 0.5) * saturated(signals.lean, radians(12.0))
    return np.stack((0.5 - more, 0.5 + more))


def _width(signals: Signals, style: OnSkisStyle) -> np.ndarray:
    lean = limited(signals.lean, radians(62.0))
    return style.stance_width * (1.0 + style.stance_growth * (1.0 / np.cos(lean) - 1.0))


def _spring(motion, signals, figure, style, size) -> tuple[np.ndarray, ...]:
    """Length of the legs (n,), the knee flexion (n,) that goes with it, the length wished for (n,).

    length = length at one body weight - (force - weight) / k_s, plus what the
    style adds at the change of edges.
    """
    rest = np.mean(bent_leg(figure, style.knee_flexion), axis=0)
    if style.stiffness is None:
        shortening = np.asarray(style.up_down) * size
    else:
        shortening = motion.mass * motion.gravity / np.maximum(style.stiffness, 1.0)
    change = np.asarray(style.unweighting_amount) * size * (1.0 if style.unweighting == UP else -1)
    length = rest - shortening * (signals.force - 1.0)
    wished = length + change * signals.edge_change * signals.intensity
    # A leg can neither be longer than its bones nor fold away.
    full = 0.5 * sum(sum(figure.leg(side)) for side in SIDES)
    middle = 0.5 * (0.97 + 0.55) * full
    length = middle + limited(wished - middle, 0.5 * (0.97 - 0.55) * full, 0.85)
    return length, knee_bend(figure, length), wished


def _trunk(signals: Signals, figure: Figure, style: OnSkisStyle, knees: np.ndarray,
           skid: np.ndarray):
    """Trunk, yaw of the chest and lean of the chest."""
    yaw = -style.twist * signals.turn * signals.intensity
    yaw = yaw - style.face_heading * signals.off_heading
    yaw = limited(yaw, style.twist_limit)
    level = np.asarray(style.shoulder_level)
    lean = signals.lean * (1.0 - level)
    pitch = style.trunk_pitch + style.waist_follow * (knees - style.knee_flexion)
    pitch = limited(pitch, radians(75.0)) - rest_pitch(figure)
    pelvis = (signals.lean * (1.0 - 0.5 * level), 0.4 * yaw + 0.4 * skid, 0.45 * pitch)
    return pose_trunk(figure, pelvis, (lean, yaw, pitch)), yaw, lean


def _head(motion, signals, ground: Ground, style, trunk, chest_yaw):
    ahead = gaze_yaw(ground.origin, signals.spacing, ground.axes[:, :, 1] * -1.0,
                     ground.axes[:, :, 0], style.look_ahead)
    lean = signals.lean * (1.0 - np.asarray(style.head_level))
    return pose_head(trunk.rotation["chest"], lean, ahead, style.gaze_down, chest_yaw,
                     style.gaze_limit)


def _hands(figure, signals, style, shoulders, chest_yaw, chest_lean) -> dict[str, np.ndarray]:
    """Grips where the hands are carried: ahead of the chest, out to the sides.

    The style's amounts are for usual arms; others are held bent like those.
    """
    size = figure.height / STATURE
    usual = USUAL_SHOULDER * figure.height
    wide = 0.5 * figure.length("upper_arm.L", "upper_arm.R") - usual
    turn = posture(chest_lean, chest_yaw, 0.0)
    inside = saturated(signals.lean, radians(18.0)) * style.inside_hand * size
    zero = np.zeros_like(signals.time)
    hands = {}
    for side in SIDES:
        sign = SIGN[side]
        carried = np.stack(
            (
                sign * (style.hand_out * size - usual) + zero,
                -(style.hand_forward * size + 0.7 * sign * inside),
                -style.hand_drop * size + sign * inside,
            ),
            axis=-1,
        )
        carried = carried * figure.arm_share + (sign * (usual + wide), 0.0, 0.0)
        hands[side] = shoulders + rotate(turn, carried)
    return hands


def _pole_plan(figure: Figure, style: OnSkisStyle) -> PolePlan:
    palm = figure.length("hand.L", "pole.L") if "pole.L" in figure.joints else 0.0
    reach = figure.arm_share * figure.height / STATURE
    return PolePlan(
        length=figure.equipment["pole_length"],
        trail=style.pole_trail,
        spread=style.pole_spread,
        plants=style.pole_plants,
        phase=style.plant_phase,
        contact=style.plant_contact,
        swing=style.plant_swing,
        forward=np.asarray(style.plant_forward) * reach,
        out=np.asarray(style.plant_out) * reach,
        arm=figure.arm_length + 0.6 * palm,
    )


class _Arms:
    """Wrists, elbows and fists for given grips and pole tips."""

    def __init__(self, figure, spacing, shoulder, grip, tip, chest_yaw, chest_lean) -> None:
        self.wrist, self.hand, self.pole = {}, {}, {}
        towards = {}
        turn = posture(chest_lean, chest_yaw, 0.0)
        joints = figure.joints
        for side in SIDES:
            outward = np.array((0.55 * SIGN[side], 0.45, -0.75))
            towards[side] = rotate(turn, outward)
        palm = {
            side: np.subtract(joints.get(f"pole.{side}", joints[f"hand.{side}"]),
                              joints[f"hand.{side}"])
            for side in SIDES
        }
        reach = {side: float(np.linalg.norm(palm[side])) for side in SIDES}
        wrist = {side: grip[side] - reach[side] * normalise(grip[side] - shoulder[side])
                 for side in SIDES}
        for _ in range(2):
            elbow, _pole, _short = bend_arms(figure, shoulder, wrist, towards)
            for side in SIDES:
                fist = _fist(wrist[side] - elbow[side], tip[side] - grip[side])
                # A planted pole jerks the grip; the fist yields and need not turn with it.
                self.hand[side] = averaged_turn(fist, spacing, CALM)
                wrist[side] = grip[side] - rotate(self.hand[side], palm[side])
        self.wrist = wrist
        _, self.elbow_pole, self.shortfall = bend_arms(figure, shoulder, wrist, towards)
        for side in SIDES:
            shaft = normalise(tip[side] - grip[side])
            self.pole[side] = _axes(-shaft, wrist[side] - grip[side])


def _fist(forearm: np.ndarray, shaft: np.ndarray) -> np.ndarray:
    """Rotations of hands: in line with the forearm, half turned with the pole.

    The shaft turns in a closed hand; a wrist that followed it all the way
    would break.
    """
    along = normalise(forearm)
    down = np.array((0.0, 0.0, -1.0))
    held = normalise(shaft)

    def square(vector: np.ndarray) -> np.ndarray:
        return vector - np.einsum("...i,...i->...", vector, along)[..., None] * along

    up = -normalise(0.6 * square(np.broadcast_to(down, along.shape)) + 0.4 * square(held))
    back = -along
    return from_matrix(np.stack((np.cross(back, up), back, up), axis=-1))


def _axes(up: np.ndarray, back: np.ndarray) -> np.ndarray:
    """Rotations whose z axis is `up` and whose y axis leans to `back`."""
    back = normalise(back - np.einsum("ij,ij->i", back, up)[:, None] * up)
    return from_matrix(np.stack((np.cross(back, up), back, up), axis=-1))


def _yielded(signals: Signals, stance: Stance, wished, edge_yield, arms: _Arms):
    """What could not be had: the spring's length, the law's edge angle, the hands' places."""
    time = signals.time
    problems = [
        *span_problem(time, np.abs(stance.spring - wished), 0.02, code="LEG_REACH",
                      message="The legs cannot follow their spring", bone="pelvis",
                      remedy="Knee Bend nearer to 50 degrees, less Up and Down, less lean"),
        *span_problem(time, edge_yield, radians(3.0), code="EDGE_LIMITED", unit="rad",
                      message="The skis are edged less than their law asks", bone="ski.L",
                      remedy="A higher Angulation Limit or Edge Limit, or gentler turns"),
    ]
    for side in SIDES:
        problems += span_problem(
            time, arms.shortfall[side], 1e-6, code="ARM_REACH", severity="WARNING",
            message=f"{SIDE_WORDS[side]} arm is too short for its hand", bone=f"hand.{side}",
            remedy="Hands nearer to the body",
        )
    return tuple(problems)


def _attributes(signals, stance, edge, skid, share, law_edge, poles, chest_yaw,
                foot: Footing):
    named = {
        "lean": signals.lean,
        "curvature": signals.curvature,
        "force": signals.force,
        "phase": signals.phase,
        "edge_angle": law_edge,
        "angulation": np.sign(signals.lean) * (law_edge - signals.lean),
        "skid_angle": skid,
        "unweighting": 1.0 - signals.force,
        "edge_change": signals.edge_change,
        "lead": stance.base[1, :, 1] - stance.base[0, :, 1],
        "leg_spring": stance.spring,
        "twist": chest_yaw,
        "centre_of_mass.x": stance.centre[:, 0],
        "centre_of_mass.y": stance.centre[:, 1],
        "centre_of_mass.z": stance.centre[:, 2],
    }
    for side in SIDES:
        i = side_index(side)
        named |= {
            f"edge_angle.{side}": edge[i],
            f"knee_flexion.{side}": stance.flexion[i],
            f"leg_length.{side}": stance.length[i],
            f"boot_lean.{side}": stance.boot[i],
            f"force_share.{side}": share[i],
            f"force.{side}": share[i] * signals.force,
            f"pole_planted.{side}": np.asarray(poles.planting[side] >= 1.0, dtype=float),
        }
        if foot.heel is not None:
            named[f"heel_lift.{side}"] = foot.heel[i]
    return named


