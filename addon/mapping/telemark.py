# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion amplification for a telemark skier: the skier's, on free heels.

After van de Panne et al. 1993, section 7: "separating the skis and placing
them at an angle with respect to each other", legs by inverse kinematics, the
rest as the skier. The outside ski leads; the inside foot stands on its ball
behind, its heel up and its knee bent deeply. At the change of edges the feet
pass each other in one movement.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, radians

import numpy as np

from ...solvers.motion import TurningMotion
from .rows import amount, angle, length
from .signals import CORNER, SETTLE, Amount, Signals, smoothed, step
from .skier import Footing, OnSkisStyle, Setting, map_on_skis
from .stance import Stride, bent_leg, lift_heels
from .tracks import Figure, RoleTracks

SHALLOW = radians(4.0)  # swing of lean at which half of the full stance is taken
FLAT_PRESSURE = 0.7  # where a flat foot presses: share of the way from ankle to ball


@dataclass(frozen=True)
class TelemarkStyle(OnSkisStyle):
    """How a telemark skier moves: in addition to `OnSkisStyle`, the stride."""

    SECTIONS = ("Stride", *OnSkisStyle.SECTIONS)

    lead: Amount = length("Lead", 0.54, (-0.2, 0.65), (-0.7, 0.7),
        "How far the outside ski is ahead in a full turn", section="Stride")
    lead_change: Amount = amount("Lead Change", 0.3, 1.0, (0.08, 1.0),
        "How long the feet take to pass each other, as a share of a turn", unit="FACTOR")
    lead_phase: Amount = angle("Lead Phase", 0, (-45, 45), (-60, 60),
        "When the feet pass each other, against the change of edges; negative is before it")
    heel_lift: Amount = angle("Heel Lift", 40, (0, 60), (0, 65),
        "How far the heel of the rear foot rises about its ball")
    rear_bend: Amount = angle("Rear Knee", 22, (0, 45), (-30, 60),
        "How much more the rear knee is bent than the front one")
    front_weight: Amount = amount("Front Foot", 0.55, 1.0, (0.2, 0.8),
        "Share of the weight on the front foot", unit="FACTOR")
    ski_angle: Amount = angle("Ski Angle", 6, (0, 20), (-10, 30),
        "Angle between the skis in a full turn, tips together")
    knee_flexion: Amount = radians(78.0)
    up_down: Amount = 0.06
    unweighting_amount: Amount = 0.13
    stance_width: Amount = 0.18
    outside_share: Amount = 0.58
    angulation: Amount = radians(6.0)
    trunk_pitch: Amount = radians(17.0)
    waist_follow: Amount = 0.25
    shoulder_level: Amount = 0.65
    twist: Amount = radians(10.0)
    face_heading: Amount = 0.3
    hand_forward: Amount = 0.38
    hand_out: Amount = 0.40


# Styles by name. Lead, heel and knees after Trafton 1998 and general figures for these
# turns; speeds of the presets that use them after Aschenbrenner et al. 2023.
STYLES: dict[str, TelemarkStyle] = {
    "beginner": TelemarkStyle(
        lead=0.38,
        lead_change=0.40,
        heel_lift=radians(30.0),
        rear_bend=radians(14.0),
        knee_flexion=radians(62.0),
        up_down=0.08,
        unweighting_amount=0.07,
        stance_width=0.24,
        ski_angle=radians(10.0),
        angulation=radians(4.0),
        skid=radians(38.0),
        face_heading=0.1,
        look_ahead=0.5,
        gaze_down=radians(14.0),
        plant_phase=radians(-20.0),
        plant_contact=0.15,
    ),
    "classic": TelemarkStyle(),
    "carving": TelemarkStyle(
        lead=0.50,
        lead_change=0.34,
        heel_lift=radians(36.0),
        rear_bend=radians(28.0),
        knee_flexion=radians(76.0),
        up_down=0.03,
        unweighting_amount=0.07,
        stance_width=0.20,
        edge_law="SIDECUT",
        sidecut=19.0,
        angulation=radians(9.0),
        skid=radians(10.0),
        ski_angle=radians(3.0),
        trunk_pitch=radians(22.0),
        face_heading=0.15,
        plant_phase=radians(20.0),
        plant_contact=0.06,
    ),
    "slalom": TelemarkStyle(
        lead=0.50,
        lead_change=0.27,
        lead_phase=radians(-5.0),
        heel_lift=radians(40.0),
        rear_bend=radians(26.0),
        knee_flexion=radians(79.0),
        up_down=0.04,
        unweighting_amount=0.09,
        angulation=radians(9.0),
        skid=radians(24.0),
        float_angle=radians(18.0),
        trunk_pitch=radians(20.0),
        face_heading=0.5,
        plant_phase=radians(-10.0),
        plant_contact=0.07,
        plant_swing=0.35,
    ),
}


def map_telemark(motion: TurningMotion, figure: Figure, style: TelemarkStyle) -> RoleTracks:
    """Pose a telemark skier for every sample of a turning motion.

    Args:
        motion: the solved motion.
        figure: the skier's rest pose and equipment; its joints "heel.L/R" are
            the balls of the feet, about which the heels rise.
        style: how it moves.

    Returns:
        Tracks of root, pelvis, spine, chest, neck, head and, per side,
        shoulder, hand, elbow, knee, foot, heel, ski, pole and pole_tip.
    """
    return map_on_skis(motion, figure, style, _free_heels)


def stride(
    motion: TurningMotion, signals: Signals, change: Amount, phase: Amount
) -> tuple[np.ndarray, np.ndarray]:
    """Which foot is ahead: 1 the right one, a left turn's; -1 the left one.

    With the lean t and its rate t' over the turning frequency w as the two
    axes of the phase diagram (1993, section 3.2), the sine of the phase less
    `phase` is (t cos p - t'/w sin p) / |(t, t'/w)|. It is saturated so that
    the change takes its share of the turn; where the body hardly swings the
    feet stay side by side.

    Args:
        motion: the motion.
        signals: its signals.
        change: share of a half turn that the change takes.
        phase: when the feet are level, radians after the change of edges.

    Returns:
        (n,) which foot is ahead; (n,) the sine that it saturates.
    """
    frequency = np.maximum(smoothed(motion.frequency, signals.spacing, SETTLE), 1e-3)
    rate = smoothed(np.nan_to_num(motion.lean_rate), signals.spacing, CORNER) / frequency
    swing = np.sqrt(signals.lean**2 + rate**2 + SHALLOW**2)
    sine = (signals.lean * np.cos(phase) - rate * np.sin(phase)) / swing
    return 2.0 * step(0.5 + 0.5 * sine / np.sin(0.5 * pi * np.asarray(change))) - 1.0, sine


def _free_heels(known: Setting, style: TelemarkStyle) -> Footing:
    figure, size = known.figure, known.size
    right, sine = stride(known.motion, known.signals, style.lead_change, style.lead_phase)
    rear = np.stack((step(right), step(-right)))
    heel = style.heel_lift * rear
    # Tips together, whichever foot leads: the front ski points into the turn.
    turn = 0.5 * np.asarray(style.ski_angle) * right**2
    turn = np.stack((-turn, turn))
    ankle, ball = (np.asarray(figure.joints[f"{name}.L"]) for name in ("foot", "heel"))
    ahead = float(ankle[1] - ball[1])
    sole = figure.equipment["sole"]
    skis = lift_heels(known.skis, heel, turn, (ahead, float(ball[2] - ankle[2]) + sole), sole)
    lead = -np.asarray(style.lead) * size * right
    weight = 0.5 + (np.asarray(style.front_weight) - 0.5) * np.stack((-right, right))
    place = np.stack((-0.5 * lead, 0.5 * lead))
    place = place - ahead * (FLAT_PRESSURE + (1.0 - FLAT_PRESSURE) * rear)
    more = 0.5 * np.asarray(style.rear_bend) * (rear[0] - rear[1])
    square = bent_leg(figure, known.knees + np.stack((more, -more))) ** 2
    bend = square[0] - square[1]
    support = np.sum(weight * place, axis=0)
    return Footing(skis, Stride(lead, support, bend, sine**2), turn, heel)
