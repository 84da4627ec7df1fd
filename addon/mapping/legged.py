# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion amplification for characters with legs: the whole body from its gait.

Girard 1986 solves where the body's centre goes and where the feet are. Here legs
are bent between the two (`limbs`), and the rest of the body moves as animals and
people do: what swings back and forth with the legs is driven by how far the feet
are ahead of their hips, so that it fits every gait, every step and every stand.

With u half the difference between how far the left and the right foot of a girdle
are ahead, in hip heights: the girdle turns with its legs by -u, people's chest and
arms turn the other way, and the knee that is up while the other foot hops counts as
a foot that is ahead; with b how much further ahead the hind feet are than the
fore feet: the back rounds by b, as in a gallop. A head nods by u^2, twice a stride,
in gaits without flights.

Who goes up a hill tips forward as who speeds up does, since to push up a slope is to
push forward on the level (di Prampero et al. 2005), and who goes down tips back, less.
People's trunks pitch forward on ramps from 3 degrees on (Prentice et al. 2004). Necks of
animals, whose trunks follow the slope, stay nearer to how they are on level ground.

Sizes: pelvis 4 to 5 degrees, thorax 3 to 8 degrees the other way, arms 35 degrees
in a walk and 45 to 70 in a run, elbows near 90 degrees in a run (gait laboratories);
head, neck and trunk of horses within 20 degrees (Dunbar et al. 2008); a dog's back
30 to 60 degrees in a gallop, a horse's 5 to 8; a horse's head nods 5 to 10 cm in a
walk and hardly in a trot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import radians

import numpy as np

from ...solvers.ik import limb_rotations, two_bone
from ...solvers.legged.motion import Footprint, GaitMotion
from ...solvers.motion import Event
from ...solvers.rotations import about_x, about_y, about_z, continuous, multiply, normalise, rotate
from .amounts import within_ranges
from .legs import LegChain, LeggedFigure
from .limbs import Feet, Limb, LimbPose
from .reports import span_problem
from .rows import amount, angle
from .signals import Amount, at_times, averaged, limited, step
from .tracks import ELBOW, HAND, PELVIS, ROOT, SHOULDER, Contact, Instants, RoleTracks, side_role

STRIDE = 0.4  # hip heights that a foot is ahead of its hip at the end of a usual step
FLIGHTS = 0.12  # share of the time in the air from which a gait counts as one with flights
SIGN = {"L": 1.0, "R": -1.0}
HOPS = 3.8  # times as far as with one leg arms swing where both legs go together
QUICKEST = 3.0  # hip heights a natural pace sqrt(h / g), at which arms follow legs in hops at most
KNEE_UP = 0.35  # hip heights that a knee which is up in a hop counts as a foot ahead
STANDS = 0.02  # squared hip heights; less than that between the feet is no stride
UPHILL, DOWNHILL = 1.5, 0.5  # of a hill's angle that counts as speeding up, and slowing down
NECK_LEVEL = 0.7  # of a hill's angle that the neck does not follow
STEEPEST = 0.7  # rad of hills that are leaned into: what is steeper is a step
LOOK = 0.5  # m; a look ahead is never shorter
TOUCH = 1e-9  # m
SHOWS = 0.1  # hip heights by which feet that are swung lower than they should show
CREEP = 0.03  # of sqrt(g h): slower than that a body hardly leans into hills
STILL = 1e-10  # m from sample to sample


@dataclass(frozen=True)
class LeggedStyle:
    """How a body on legs moves with its gait: angles in radians, times in seconds. Amounts
    of 0 leave it stiff.

    The back is hollow while hind and fore feet are a hip height further apart than
    standing, and rounded while they are that much closer.
    """

    SECTIONS = ("Trunk", "Legs", "Arms", "Head", "Tail")

    pelvis_turn: Amount = angle("Pelvis Turn", 3, (0, 12), (-30, 30),
        "How far the pelvis turns with the hind legs, with a usual step", section="Trunk")
    pelvis_drop: Amount = angle("Pelvis Drop", 2, (0, 8), (-20, 20),
        "How far the pelvis drops to the side of the swinging hind leg")
    shoulder_turn: Amount = angle("Shoulder Turn", 3, (0, 12), (-30, 30),
        "How far the chest turns with the fore legs; of one who has none, against the pelvis")
    spine_flexion: Amount = angle("Spine Flexion", 8, (0, 60), (-30, 80),
        "How far the back bends in all, from hollow with the legs stretched apart to round with "
        "the legs together, as in a gallop")
    trunk_pitch: Amount = angle("Trunk Pitch", 0, (0, 30), (-30, 60),
        "Forward bend of an upright trunk in gaits with flights")
    effort: Amount = amount("Effort", 0.3, 1.0, (-1.0, 1.5),
        "How far an upright trunk tips forward while speeding up and up hills, and back while "
        "slowing down and down hills; 1 balances it")
    fold: Amount = amount("Fold", 1.0, 2.0, (0.0, 2.0),
        "How much carpus and fetlock fold while a leg swings", section="Legs")
    blade_turn: Amount = amount("Blade Turn", 0.35, 0.8, (0.0, 0.8),
        "Share of a leg's swing that its shoulder blade turns with it", unit="FACTOR")
    arm_swing: Amount = angle("Arm Swing", 20, (0, 45), (-90, 90),
        "How far the arms swing either way, against the legs, with a usual step", section="Arms")
    arm_forward: Amount = angle("Arms Forward", 5, (-10, 30), (-60, 90),
        "How much further forward than back the arms swing")
    elbow_bend: Amount = angle("Elbow Bend", 18, (5, 60), (0, 140),
        "Bend of the elbows in gaits without flights")
    elbow_run: Amount = angle("Running Bend", 85, (20, 110), (0, 140),
        "Bend of the elbows in gaits with flights")
    arm_out: Amount = angle("Arms Out", 7, (0, 30), (-10, 90),
        "How far the arms are held from the body")
    look_ahead: Amount = amount("Look Ahead", 0.8, 2.0, (0.0, 5.0),
        "How many seconds ahead the head looks along the way", unit="TIME_ABSOLUTE", section="Head")
    gaze_limit: Amount = angle("Gaze Limit", 45, (0, 80), (0, 85),
        "Largest turn of the head against the body")
    head_level: Amount = amount("Level Head", 0.8, 1.0, (-0.5, 1.0),
        "How far the head keeps level while the trunk pitches and rolls", unit="FACTOR")
    head_steady: Amount = amount("Steady Head", 0.85, 1.0, (-1.0, 1.0),
        "How far the neck makes up for the trunk's rise and fall", unit="FACTOR")
    nod: Amount = angle("Nod", 8, (0, 15), (-20, 20),
        "How far the neck nods, twice a stride, in gaits without flights")
    neck_drop: Amount = angle("Neck Drop", 8, (-10, 40), (-40, 60),
        "How much lower the neck is carried in gaits with flights")
    tail_swing: Amount = angle("Tail Swing", 6, (0, 30), (-60, 60),
        "How far the tail swings to the sides with a usual step", section="Tail")
    tail_lift: Amount = angle("Tail Lift", 20, (-10, 60), (-60, 90),
        "How much higher the tail is carried in gaits with flights")
    tail_lag: Amount = amount("Tail Lag", 0.08, 0.3, (0.0, 1.0),
        "How many seconds each part of the tail is behind the one before", unit="TIME_ABSOLUTE")


# Styles by name; the first four are those that the kinds of character begin with.
STYLES: dict[str, LeggedStyle] = {
    "horse": LeggedStyle(),
    "dog": LeggedStyle(
        pelvis_turn=radians(5.0), pelvis_drop=radians(3.0), shoulder_turn=radians(4.0),
        spine_flexion=radians(45.0), fold=1.15, nod=radians(3.0), neck_drop=radians(14.0),
        look_ahead=0.6, tail_swing=radians(10.0), tail_lift=radians(35.0), tail_lag=0.05,
    ),
    "biped": LeggedStyle(
        pelvis_turn=radians(4.5), pelvis_drop=0.0, shoulder_turn=radians(4.0),
        spine_flexion=0.0, trunk_pitch=radians(9.0), nod=0.0, neck_drop=0.0, head_steady=0.0,
        head_level=0.9, look_ahead=1.0, gaze_limit=radians(60.0),
    ),
    "insect": LeggedStyle(
        pelvis_turn=radians(1.5), pelvis_drop=0.0, shoulder_turn=radians(1.0),
        spine_flexion=0.0, effort=0.1, nod=radians(1.5), neck_drop=0.0, head_steady=0.3,
        gaze_limit=radians(25.0), tail_swing=radians(2.0), tail_lift=0.0,
    ),
}


@dataclass(frozen=True)
class Gauge:
    """What drives the body, one value per sample.

    Attributes:
        time: (n,) s.
        spacing: s between samples.
        height: mean hip height, m.
        apart: girdle -> (n,) u: half of how much further the left feet are ahead
            of their hips than the right ones, or their knees up in hops, hip heights.
        together: (n,) how far both feet of the hindmost girdle are ahead of where
            they are in the mean, where they go together as in hops; 0 where they
            go one after the other, hip heights.
        gathered: (n,) b: how much further ahead of their hips the hindmost feet
            are than the foremost ones, hip heights.
        short: girdle -> (n,) how much shorter the right legs are than the left
            ones, hip heights.
        flying: (n,) 0 in gaits without flights to 1 in those with them.
        push: (n,) acceleration along the way, shares of gravity.
        hill: (n,) how steeply the way goes up, radians; 0 on level ground.
        bounce: (n,) m that the body is above its mean height.
    """

    time: np.ndarray
    spacing: float
    height: float
    apart: dict[int, np.ndarray]
    together: np.ndarray
    gathered: np.ndarray
    short: dict[int, np.ndarray]
    flying: np.ndarray
    push: np.ndarray
    hill: np.ndarray
    bounce: np.ndarray


def read_gait(motion: GaitMotion) -> Gauge:
    """What drives the body, read off a motion.

    Args:
        motion: the motion.
    """
    time = np.asarray(motion.time, dtype=float)
    spacing = float(time[1] - time[0]) if len(time) > 1 else 0.0
    creature = motion.creature
    height = creature.hip_height()
    tempo = float(np.sqrt(height / 9.81))
    ahead = np.stack((np.sin(motion.yaw), -np.cos(motion.yaw), 0.0 * time), axis=-1)
    arm = motion.foot_position - motion.hip
    rest = creature.feet() - creature.hips()
    forward = (np.einsum("nli,ni->nl", arm, ahead) + rest[:, 1]) / height
    far = np.linalg.norm(arm, axis=2) / height
    apart, short = {}, {}
    left = np.array([leg.hip[0] > 0.0 for leg in creature.legs])
    girdles = creature.girdles()
    for number, legs in enumerate(girdles):
        sides = [legs[left[legs] == side] for side in (True, False)]
        if any(len(side) == 0 for side in sides):
            apart[number] = short[number] = np.zeros(len(time))
            continue
        a, b = (forward[:, side].mean(axis=1) for side in sides)
        c, d = (far[:, side].mean(axis=1) for side in sides)
        apart[number], short[number] = 0.5 * (a - b), c - d
        if len(legs) == 2:
            apart[number] = apart[number] + KNEE_UP * _knee_up(motion, *(s[0] for s in sides))
    hind, fore = (forward[:, girdles[k]].mean(axis=1) for k in (0, -1))
    both = forward[:, girdles[0]].mean(axis=1)
    both = both - averaged(both, spacing, 2.0 * tempo)
    one, other = (averaged(x**2, spacing, 2.0 * tempo) for x in (both, apart[0]))
    aloft = averaged((~motion.contact.any(axis=1)).astype(float), spacing, 1.2 * tempo, True)
    push = averaged(
        np.einsum("ni,ni->n", _rate(motion.velocity, spacing), ahead), spacing, 1.5 * tempo, True
    ) / 9.81
    high = motion.position[:, 2]
    return Gauge(
        time=time, spacing=spacing, height=height, apart=apart,
        together=both * step((one - other) / (one + other + STANDS)),
        gathered=hind - fore if len(girdles) > 1 else np.zeros(len(time)),
        short=short,
        flying=averaged(step(aloft / FLIGHTS), spacing, 0.5 * tempo),
        push=push,
        hill=_hill(motion, spacing, height),
        bounce=high - averaged(high, spacing, 1.5 * tempo),
    )


def _ground_height(motion: GaitMotion) -> np.ndarray:
    """(n,) height of the ground under the body, between footprints in proportion, m."""
    levels = []
    for leg in motion.creature.legs:
        prints = [print_ for print_ in motion.footprints if print_.leg == leg.name]
        if not prints:
            continue
        when = np.array([_middle(print_, motion.time) for print_ in prints])
        order = np.argsort(when)
        high = np.array([print_.position[2] for print_ in prints])[order]
        levels.append(np.interp(motion.time, when[order], high))
    return np.mean(levels, axis=0) if levels else np.zeros(len(motion.time))


def _hill(motion: GaitMotion, spacing: float, height: float) -> np.ndarray:
    """(n,) how steeply the ground goes up along the way, evened out over a stride, radians."""
    high = _ground_height(motion)
    if len(high) < 3 or not np.ptp(high) > 0.0:
        return np.zeros(len(high))
    tempo = float(np.sqrt(height / 9.81))
    pace = np.linalg.norm(motion.velocity[:, :2], axis=1)
    climb, pace = (averaged(x, spacing, 1.5 * tempo, True) for x in (_rate(high, spacing), pace))
    # Of who hardly moves less and less is known; it stands upright.
    slope = climb * pace / (pace**2 + (CREEP * height / tempo) ** 2)
    return limited(np.arctan(slope), STEEPEST)


def _knee_up(motion: GaitMotion, left: int, right: int) -> np.ndarray:
    """(n,) 1 while the right foot hops and the left knee is up, -1 the other way, smoothly."""
    time, up = motion.time, np.zeros(len(motion.time))
    names = [motion.creature.legs[leg].name for leg in (left, right)]
    swings = [
        [(here.off, there.on) for here, there in zip(own[:-1], own[1:], strict=True)]
        for own in ([p for p in motion.footprints if p.leg == name] for name in names)
    ]
    for hops, others, sign in (swings[1], swings[0], 1.0), (swings[0], swings[1], -1.0):
        for leaves, lands in hops:
            lasts = lands - leaves
            # The other foot, too, is in the air all of the time, and for longer.
            if any(off < leaves - 0.1 * lasts and on > lands + 0.1 * lasts for off, on in others):
                away = (time - 0.3 * leaves - 0.7 * lands) / (1.2 * lasts)
                up += sign * step(1.0 - np.abs(away))
    return up


def map_legged(motion: GaitMotion, figure: LeggedFigure, style: LeggedStyle) -> RoleTracks:
    """Pose a character on legs for every sample of its gait.

    Args:
        motion: the solved motion, of `creature_of(figure)`.
        figure: the rest pose.
        style: how the body moves.

    Returns:
        Tracks of the root, the pelvis (position and rotation), the other parts of
        trunk, neck and tail (rotation), arms (shoulder: rotation, hand, elbow:
        position), and per leg the blade and the segments before the bent ones
        (rotation), the control, the pole (position), the segments after the
        control (rotation) and the tip.
    """
    style, problems = within_ranges(style)
    body = _Body(motion, figure, style)
    body.settle()
    time = body.gauge.time
    position: dict[str, np.ndarray] = {
        ROOT: body.ground(), PELVIS: body.joint[PELVIS], **body.arm_places()
    }
    rotation = {ROOT: about_z(motion.yaw), **body.turn}
    attributes: dict[str, np.ndarray] = {}
    short, near, lower = np.zeros((3, len(time)))
    for chain, pose, feet in zip(figure.legs, body.legs, body.feet, strict=True):
        control = chain.control
        after = chain.segments[chain.bend + 2 :]
        if chain.blade:
            rotation[chain.blade] = pose.rotation[chain.blade]
        for role in (*chain.segments[: chain.bend], *after, chain.tip):
            rotation[role] = pose.rotation[role]
        position[control], position[chain.tip] = pose.joint[control], pose.joint[chain.tip]
        position[chain.pole] = pose.pole
        if chain.sling:
            position[chain.sling] = pose.joint[chain.segments[0]]
        attributes |= _leg_attributes(chain, pose)
        missing = np.where(feet.contact, pose.shortfall, 0.0)
        short = np.maximum(short, np.where(pose.crushed, 0.0, missing))
        near = np.maximum(near, np.where(pose.crushed, missing, 0.0))
        lower = np.maximum(lower, pose.lower)
    problems += motion_problems(time, short, near, lower, SHOWS * body.gauge.height)
    return RoleTracks(
        clock=replace(motion.clock, corners=_kinks(motion)),
        position=position,
        rotation={role: continuous(turn) for role, turn in rotation.items()},
        contacts=_contacts(motion, figure, body.legs, body.limbs),
        events=_events(motion),
        problems=problems,
        attributes=attributes,
    )


def motion_problems(
    time: np.ndarray, short: np.ndarray, near: np.ndarray, lower: np.ndarray, shows: float
) -> tuple:
    """Legs that do not reach their feet, or fold as far as they should, for the problem list.

    Args:
        time: (n,) s.
        short: (n,) how far the worst leg that is too short is from its foothold, m.
        near: (n,) likewise of those that fold no further, m.
        lower: (n,) how much lower the worst foot is swung than it should, m.
        shows: what of that is worth a line, m.
    """
    folded = span_problem(
        time, lower, shows, code="LEG_FOLDED", severity="INFO",
        message="A leg cannot fold far enough: its foot passes lower than it should",
        remedy="Lower steps, shorter strides, or a slower speed",
    )
    folded += span_problem(
        time, near, 1e-3, code="LEG_CRUSHED", severity="WARNING",
        message="A leg cannot fold as far as it is over its foothold: its foot is off it",
        remedy="Footprints less far under the body, a wider bend, or a slower speed",
    )
    return folded + span_problem(
        time, short, 1e-3, code="LEG_STRETCHED", severity="WARNING",
        message="A leg is too short for its foothold with its joints as they bend",
        remedy="Shorter strides, or a slower speed",
    )


def pose_joints(
    tracks: RoleTracks, figure: LeggedFigure
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Where all joints of a legged figure are, by its tracks, as a rig would put them.

    Args:
        tracks: what `map_legged` made.
        figure: the rest pose.

    Returns:
        role -> (n, 3) positions of the upper joints of all segments, trunk, neck
        and tail roles and of the tips; role -> (n, 4) rotations of the same.
    """
    rest = figure.joints
    joint, turn = {PELVIS: tracks.position[PELVIS]}, dict(tracks.rotation)
    hang = _hang(figure)
    for role, parent in hang.items():
        joint[role] = joint[parent] + rotate(turn[parent], rest[role] - rest[parent])
    for chain in figure.legs:
        carrier = chain.blade or figure.carrier(chain)
        if chain.sling:
            joint[chain.segments[0]] = tracks.position[chain.sling]
        roles = (*chain.segments, chain.tip)
        first, middle, end = roles[chain.bend : chain.bend + 3]
        parent = carrier
        for role in roles[: chain.bend + 1]:
            if role not in joint:
                joint[role] = joint[parent] + rotate(turn[parent], rest[role] - rest[parent])
            parent = role
        joint[end] = tracks.position[chain.control]
        pole = tracks.position[chain.pole]
        upper, lower = (
            float(np.linalg.norm(rest[b] - rest[a])) for a, b in ((first, middle), (middle, end))
        )
        limb = two_bone(joint[first], joint[end], pole, upper, lower)
        joint[middle] = limb.middle
        bend = rest[chain.pole] - rest[middle]
        turn[first], turn[middle] = limb_rotations(
            (rest[first], rest[middle], rest[end]), bend, joint[first], limb.middle, joint[end],
            pole,
        )
        for parent, role in zip(roles[chain.bend + 2 : -1], roles[chain.bend + 3 :], strict=True):
            joint[role] = joint[parent] + rotate(turn[parent], rest[role] - rest[parent])
    return joint, turn


def _hang(figure: LeggedFigure) -> dict[str, str]:
    """Role -> what it hangs on, parents first: trunk, neck, tail, blades and first segments."""
    chains = ((*figure.trunk,), (figure.trunk[-1], *figure.neck), (figure.trunk[0], *figure.tail))
    hang: dict[str, str] = {}
    for chain in chains:
        hang |= {role: parent for parent, role in zip(chain[:-1], chain[1:], strict=True)}
    for leg in figure.legs:
        hang[leg.limb[0]] = figure.carrier(leg)
    return hang


def _turned(yaw: Amount, pitch: Amount, roll: Amount) -> np.ndarray:
    """(n, 4) rotation of a body: to the left, nose up, tipped to the left."""
    yaw, pitch, roll = np.broadcast_arrays(yaw, pitch, roll)
    return multiply(about_z(yaw), multiply(about_x(-pitch), about_y(roll)))


def _rate(values: np.ndarray, spacing: float) -> np.ndarray:
    if len(values) < 2 or spacing <= 0.0:
        return np.zeros_like(values)
    return np.gradient(values, spacing, axis=0)


def _later(values: np.ndarray, spacing: float, lag: Amount) -> np.ndarray:
    """Values as they were some time before; before the start they went on as they begin."""
    n = len(values)
    if n < 3 or spacing <= 0.0:
        return values
    time = spacing * np.arange(n) - lag
    back = values[0] + (values[0] - at_times(values, spacing, np.maximum(-time, 0.0)))
    return np.where(time < 0.0, back, at_times(values, spacing, np.maximum(time, 0.0)))


class _Body:
    """One character being posed."""

    def __init__(self, motion: GaitMotion, figure: LeggedFigure, style: LeggedStyle) -> None:
        self.motion, self.figure, self.style = motion, figure, style
        self.gauge = read_gait(motion)
        self.rest = {role: np.asarray(p, dtype=float) for role, p in figure.joints.items()}
        by_name = {leg.name: i for i, leg in enumerate(motion.creature.legs)}
        self.numbers = [by_name.get(leg.name, i) for i, leg in enumerate(figure.legs)]
        legs = motion.creature.legs
        self.limbs = [
            Limb(figure, chain, legs[number])
            for chain, number in zip(figure.legs, self.numbers, strict=True)
        ]
        self.feet = [_feet(motion, number) for number in self.numbers]
        self.hang = _hang(figure)
        self.n = len(self.gauge.time)
        self.girdles = sorted({leg.girdle for leg in figure.legs})
        self.upright = len(figure.legs) <= 2
        self.wide = float(np.mean([abs(self.rest[leg.limb[0]][0]) for leg in figure.legs]))

    # --- trunk -------------------------------------------------------------------------
    def settle(self) -> None:
        """Trunk, head and tail, and legs that reach: amounts yield where a leg would not."""
        share = lift = np.ones(self.n)
        for round_ in range(4):
            self._trunk(share, lift)
            less = self._too_far()
            if less is None:
                break
            if round_ == 0:
                lift = less
            else:
                share = share * less
        self._neck()
        self._tail()
        self._arms()
        hang = [self._hangs(leg) for leg in self.figure.legs]
        self.legs: list[LimbPose] = [
            limb.pose(
                place, self.turn[self.figure.carrier(leg)], feet, self.style.blade_turn,
                self.style.fold,
            )
            for limb, leg, feet, place in zip(
                self.limbs, self.figure.legs, self.feet, hang, strict=True
            )
        ]

    def _trunk(self, share: np.ndarray, lift: np.ndarray) -> None:
        """Rotations of the trunk's parts, shares of what they could be, and where they are."""
        style, gauge, motion, figure = self.style, self.gauge, self.motion, self.figure
        hind, fore = 0, len(self.girdles) - 1
        tip = motion.roll - motion.bank  # the body as a whole tips that far to its swinging leg
        round_ = limited(gauge.gathered, 1.2)
        pelvis = [
            -style.pelvis_turn * gauge.apart[hind] / STRIDE,
            0.25 * style.spine_flexion * round_,
            -style.pelvis_drop * gauge.short[hind] / 0.1,
        ]
        hill = np.where(gauge.hill > 0.0, UPHILL, DOWNHILL) * gauge.hill
        bend = style.trunk_pitch * gauge.flying + style.effort * (np.arctan(gauge.push) + hill)
        if fore > hind:
            chest = [
                -style.shoulder_turn * gauge.apart[fore] / STRIDE,
                -0.25 * style.spine_flexion * round_,
                0.0 * tip,
            ]
        else:
            chest = [style.shoulder_turn * gauge.apart[hind] / STRIDE, 0.0 * tip, 0.0 * tip]
        if self.upright:
            chest[1] = chest[1] - bend
            chest[2] = chest[2] - 0.9 * tip
            pelvis[1] = pelvis[1] - 0.4 * bend
        count = len(figure.trunk)
        self.turn: dict[str, np.ndarray] = {}
        self.angles: dict[str, tuple[np.ndarray, ...]] = {}
        base = (motion.yaw, motion.pitch, motion.roll)
        for i, role in enumerate(figure.trunk):
            x = i / max(count - 1, 1)
            angles = tuple(
                a + share * ((1.0 - x) * p + x * c)
                for a, p, c in zip(base, pelvis, chest, strict=True)
            )
            self.angles[role], self.turn[role] = angles, _turned(*angles)
        # Hung up so that its girdles are, in the mean, where the solver has them.
        self.joint = {PELVIS: np.zeros((self.n, 3))}
        for role, parent in zip(figure.trunk[1:], figure.trunk[:-1], strict=True):
            self.joint[role] = self.joint[parent] + rotate(
                self.turn[parent], self.rest[role] - self.rest[parent]
            )
        off = np.zeros((self.n, 3))
        ends = (self.girdles[0], self.girdles[-1])
        for girdle in ends:
            legs = [
                (leg, number)
                for leg, number in zip(figure.legs, self.numbers, strict=True)
                if leg.girdle == girdle
            ]
            for leg, number in legs:
                off += (motion.hip[:, number] - self._hangs(leg)) / (len(legs) * len(ends))
        if self.upright:
            # A leg reaches farther with its hip turned after its foot: walkers fall less between
            # their steps.
            turned = share * lift * (1.0 - gauge.flying) * pelvis[0]
            off[:, 2] += self.wide * np.abs(turned * gauge.apart[hind])
        for role in self.joint:
            self.joint[role] = self.joint[role] + off

    def _hangs(self, leg: LegChain) -> np.ndarray:
        carrier, role = self.figure.carrier(leg), leg.limb[0]
        arm = self.rest[role] - self.rest[carrier]
        return self.joint[carrier] + rotate(self.turn[carrier], arm)

    def _too_far(self) -> np.ndarray | None:
        """Share of the amounts that keeps standing legs within reach, or None where all are."""
        share = np.ones(self.n)
        for limb, leg, number, feet in zip(
            self.limbs, self.figure.legs, self.numbers, self.feet, strict=True
        ):
            turn = self.turn[self.figure.carrier(leg)]
            now = limb.room(self._hangs(leg), turn, feet)
            over = np.flatnonzero((now < -TOUCH) & feet.contact)
            if not len(over):
                continue
            stiff = limb.room(self.motion.hip[:, number], self.motion.orientation, feet)[over]
            good = np.clip(stiff / np.maximum(stiff - now[over], 1e-12), 0.0, 1.0)
            share[over] = np.minimum(share[over], 0.95 * good)
        if np.all(share == 1.0):
            return None
        return _under(share, self.gauge.spacing, 0.15)

    # --- neck, head and tail -------------------------------------------------------------
    def _neck(self) -> None:
        style, gauge, motion, figure = self.style, self.gauge, self.motion, self.figure
        if not figure.neck:
            return
        chest_yaw, chest_pitch, chest_roll = self.angles[figure.trunk[-1]]
        yaw = motion.yaw + limited(_gaze(motion, gauge, style.look_ahead), style.gaze_limit)
        bones, head = figure.neck[:-1], figure.neck[-1]
        fore = gauge.apart[len(self.girdles) - 1]
        tempo = float(np.sqrt(gauge.height / 9.81))
        wide = averaged(fore**2, gauge.spacing, 2.0 * tempo)
        near = averaged(fore**2, gauge.spacing, 0.15 * tempo) - wide
        nod = 1.5 * style.nod * (1.0 - gauge.flying) * near / (wide + STANDS)
        lift = nod - style.neck_drop * gauge.flying
        if not self.upright:
            chest_pitch = chest_pitch - NECK_LEVEL * gauge.hill
        start = self.rest[figure.neck[0]]
        ahead = float(start[1] - self.rest[head][1])
        lever = float(np.linalg.norm(self.rest[head] - start))
        if bones and ahead > 0.3 * lever:
            # With a stiff neck the head goes up and down with its root and with the trunk's
            # pitch; the neck turns against that.
            rise = self._rises(chest_pitch, ahead)
            lift = lift - style.head_steady * np.arctan(rise / ahead)
        level = 1.0 - np.asarray(style.head_level)
        parts = len(figure.neck)
        for i, role in enumerate(figure.neck):
            x = (i + 1) / parts
            last = role == head
            pitch = level * chest_pitch + 0.4 * lift if last else chest_pitch + lift
            own = (1.0 - x) * chest_roll + x * level * chest_roll
            angles = ((1.0 - x) * chest_yaw + x * yaw, pitch, own)
            self.angles[role], self.turn[role] = angles, _turned(*angles)

    def _rises(self, pitch: np.ndarray, ahead: float) -> np.ndarray:
        """How far over its mean height a head on a stiff neck would be, m."""
        spacing, tempo = self.gauge.spacing, float(np.sqrt(self.gauge.height / 9.81))
        root = self.figure.trunk[-1]
        high = self.joint[root][:, 2] + ahead * np.sin(pitch)
        return high - averaged(high, spacing, 1.5 * tempo)

    def _tail(self) -> None:
        style, gauge, figure = self.style, self.gauge, self.figure
        yaw, pitch, roll = self.angles[figure.trunk[0]]
        swing = style.tail_swing * gauge.apart[0] / STRIDE
        lift = style.tail_lift * gauge.flying
        for i, role in enumerate(figure.tail):
            lag = (i + 1) * np.asarray(style.tail_lag)
            late = [_later(x, gauge.spacing, lag) for x in (yaw, pitch, roll, swing, lift)]
            turned = late[0] + (i + 1) / len(figure.tail) * late[3]
            bounce = _later(gauge.bounce, gauge.spacing, lag) / gauge.height
            self.turn[role] = _turned(turned, late[1] - late[4] + 2.0 * bounce, late[2])

    # --- arms -------------------------------------------------------------------------------
    def _arms(self) -> None:
        """Shoulders, hands and elbows: upper arms swing against the legs."""
        style, gauge, figure = self.style, self.gauge, self.figure
        self._hands: dict[str, np.ndarray] = {}
        if not figure.arms:
            return
        chest = figure.trunk[-1]
        yaw, pitch, roll = self.angles[chest]
        run = gauge.flying
        # Quick hops leave no time to swing far. All of the swing gets less: cut off where it is
        # farthest it would be as quick in between.
        tempo = float(np.sqrt(gauge.height / 9.81))
        rate = _rate(gauge.together, gauge.spacing)
        mean = averaged(rate**2, gauge.spacing, 2.0 * tempo, swinging=True)
        quick = HOPS * tempo * np.sqrt(2.0 * mean)
        hops = HOPS * gauge.together * limited(quick, QUICKEST) / np.maximum(quick, 1e-9)
        for side in figure.arms:
            sign = SIGN[side]
            # With the leg of the other side; both forward as both legs push off.
            legs = sign * gauge.apart[0] + hops
            swing = -style.arm_swing * legs / STRIDE
            wide = gauge.apart[0] ** 2 + gauge.together**2
            ahead = swing + style.arm_forward * wide / (wide + STANDS)
            bend = (1.0 - run) * style.elbow_bend + run * style.elbow_run
            bend = np.clip(bend + (0.3 + 0.4 * run) * swing, radians(4.0), radians(150.0))
            upper = self.rest[side_role("upper_arm", side)]
            elbow, hand = (self.rest[side_role(r, side)] for r in ("elbow_joint", HAND))
            shoulder = side_role(SHOULDER, side)
            self.turn[shoulder] = _turned(yaw + sign * 0.15 * swing, pitch, roll)
            arm = self.rest[shoulder] - self.rest[chest]
            collar = self.joint[chest] + rotate(self.turn[chest], arm)
            top = collar + rotate(self.turn[shoulder], upper - self.rest[shoulder])
            # Hanging, in a frame that turns with the chest but is upright.
            frame = _turned(yaw, 0.5 * pitch, roll)
            out = sign * np.asarray(style.arm_out)
            first, second = (
                rotate(frame, _hanging(angle, out * part, sign * inward))
                for angle, part, inward in (
                    (ahead, 1.0, 0.0), (ahead + bend, 0.4, radians(10.0) * np.sin(bend))
                )
            )
            lengths = np.linalg.norm(elbow - upper), np.linalg.norm(hand - elbow)
            middle = top + lengths[0] * first
            wrist = middle + lengths[1] * second
            out_of = middle - 0.5 * (top + wrist)
            back = rotate(frame, np.array((0.0, 1.0, 0.0)))
            line = normalise(wrist - top)
            out_of = out_of - line * np.einsum("ij,ij->i", out_of, line)[:, None] + 1e-3 * back
            pole = middle + 0.3 * self.figure.height * normalise(out_of)
            rest = (upper, elbow, hand)
            _, fore = limb_rotations(rest, self.rest[side_role(ELBOW, side)] - elbow, top, middle,
                                     wrist, pole)
            self._hands[side_role(HAND, side)], self.turn[side_role(HAND, side)] = wrist, fore
            self._hands[side_role(ELBOW, side)] = pole

    def arm_places(self) -> dict[str, np.ndarray]:
        """Positions of hands and elbow poles."""
        return self._hands

    # --- the ground ---------------------------------------------------------------------------
    def ground(self) -> np.ndarray:
        """(n, 3) on the ground under the body."""
        motion = self.motion
        place = motion.position.copy()
        level = _ground_height(motion)
        tempo = float(np.sqrt(self.gauge.height / 9.81))
        place[:, 2] = averaged(level, self.gauge.spacing, 0.7 * tempo)
        return place


def _hanging(ahead: np.ndarray, out: Amount, inward: Amount) -> np.ndarray:
    """(n, 3) unit vectors of a limb that hangs down, raised ahead, out and in to the middle."""
    ahead, out, inward = np.broadcast_arrays(ahead, out, inward)
    side = np.sin(out) - np.sin(inward)
    return normalise(np.stack((side, -np.sin(ahead), -np.cos(ahead)), axis=-1))


def _middle(print_: Footprint, time: np.ndarray) -> float:
    return 0.5 * (max(print_.on, float(time[0])) + min(print_.off, float(time[-1])))


def _gaze(motion: GaitMotion, gauge: Gauge, ahead: Amount) -> np.ndarray:
    """How far to the left of where the body faces its way will be, radians."""
    if len(gauge.time) < 3:
        return np.zeros(len(gauge.time))
    place = motion.position[:, :2]
    later = gauge.time + ahead
    last = np.maximum(later - gauge.time[-1], 0.0)[:, None] * motion.velocity[-1, :2]
    view = at_times(place, gauge.spacing, np.minimum(later, gauge.time[-1])) + last - place
    sine, cosine = np.sin(motion.yaw), np.cos(motion.yaw)
    along = view[:, 0] * sine - view[:, 1] * cosine
    left = view[:, 0] * cosine + view[:, 1] * sine
    return np.arctan2(left, np.maximum(along, 0.0) + LOOK * gauge.height)


def _under(share: np.ndarray, spacing: float, width: float) -> np.ndarray:
    """A smooth curve that is nowhere above another."""
    if spacing <= 0.0 or len(share) < 3:
        return np.full_like(share, share.min())
    reach = max(int(np.ceil(width / spacing)), 1)
    padded = np.pad(share, 2 * reach, mode="edge")
    low = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).min(axis=1)
    kernel = np.hanning(2 * reach + 3)[1:-1]
    return np.convolve(low, kernel / kernel.sum(), mode="valid")


def _feet(motion: GaitMotion, number: int) -> Feet:
    """What one leg is to do."""
    time = motion.time
    name = motion.creature.legs[number].name
    prints = [print_ for print_ in motion.footprints if print_.leg == name]
    on, off = (np.array([getattr(print_, end) for print_ in prints]) for end in ("on", "off"))
    pitch = motion.foot_pitch[:, number]
    share, strike = np.zeros(len(time)), np.zeros(len(time))
    if len(prints):
        before = np.searchsorted(off, time, side="left") - 1  # the last step that is over
        leave = np.where(before >= 0, off[np.maximum(before, 0)], -np.inf)
        land = np.where(before + 1 < len(on), on[np.minimum(before + 1, len(on) - 1)], np.inf)
        # Swings that began before the motion, or go on after it, are taken as usual ones, and
        # longer where they have to be.
        usual = float(np.median(on[1:] - off[:-1])) if len(on) > 1 else 0.4
        leave = np.where(np.isfinite(leave), leave, np.minimum(land - usual, time[0]))
        land = np.where(np.isfinite(land), land, np.maximum(leave + usual, time[-1]))
        air = ~motion.contact[:, number]
        with np.errstate(invalid="ignore", divide="ignore"):
            gone = (time - leave) / np.maximum(land - leave, 1e-6)
        share = np.where(air, np.clip(np.nan_to_num(gone), 0.0, 1.0), 0.0)
        inside = np.flatnonzero((land >= time[0]) & (land <= time[-1]))
        strike[inside] = np.interp(land[inside], time, pitch)
    left = rotate(motion.foot_orientation[:, number], np.array((1.0, 0.0, 0.0)))
    return Feet(
        motion.foot_position[:, number], motion.foot_orientation[:, number], pitch,
        motion.contact[:, number], share, strike, np.arctan2(left[:, 1], left[:, 0]),
    )


def _leg_attributes(chain: LegChain, pose: LimbPose) -> dict[str, np.ndarray]:
    """Bend of each joint of a leg against the straight line, by the segment below it."""
    return {
        f"bend.{role}": np.abs(angle)
        for role, angle in zip((*chain.limb, chain.tip)[1:], pose.bend, strict=False)
    }


def _contacts(
    motion: GaitMotion,
    figure: LeggedFigure,
    legs: Sequence[LimbPose],
    limbs: Sequence[Limb],
) -> tuple[Contact, ...]:
    """Spans in which the tip, and the control of a flat foot, stand still.

    A sole that rolls about its heel at first, or about its toes at last, moves
    its tip; the span is what is between, exact to the solver's pitch.
    """
    found: list[Contact] = []
    time, n = motion.time, len(motion.time)
    for chain, pose, limb_ in zip(figure.legs, legs, limbs, strict=True):
        prints = [print_ for print_ in motion.footprints if print_.leg == chain.name]
        begin = np.array([max(print_.on, float(time[0])) for print_ in prints])
        finish = np.array([min(print_.off, float(time[-1])) for print_ in prints])
        first, last = np.searchsorted(time, begin), np.searchsorted(time, finish + 1e-12)
        middle = np.minimum((first + last) // 2, n - 1)
        limb = (*filter(None, (chain.sling,)), *chain.limb, chain.pole, chain.tip)
        known = _rolls(limb_, prints)
        for role in dict.fromkeys((chain.tip, chain.control)):
            place = pose.joint[role]
            # First and last sample of the rest that each sample is in.
            moves = np.abs(np.diff(place, axis=0)).max(axis=1) > STILL
            index = np.arange(n)
            since = np.maximum.accumulate(np.where(np.append(True, moves), index, 0))
            ends = np.where(np.append(moves, True), index, n - 1)
            until = np.minimum.accumulate(ends[::-1])[::-1]
            low = np.maximum(first, since[middle])
            high = np.minimum(last - 1, until[middle])
            good = (last > first) & (high - low >= (0 if role == chain.tip else 1))
            for k in np.flatnonzero(good):
                start = begin[k] if low[k] == first[k] else time[low[k]]
                end = finish[k] if high[k] == last[k] - 1 else time[high[k]]
                rests = place[middle[k]].copy()
                told = known[k]
                if told is not None:
                    # It may come to rest, or cease to, between two samples.
                    places = told.offset.get(role, np.full((len(told.time), 3), np.inf))
                    at_rest = np.abs(places - rests).max(axis=1) <= STILL
                    if told.time[0] == prints[k].on and not at_rest[0]:
                        start = time[low[k]]
                    if told.time[-1] == prints[k].off and not at_rest[-1]:
                        end = time[high[k]]
                    seen = (told.time >= begin[k]) & (told.time <= finish[k])
                    start = min(start, told.time[at_rest & seen].min(initial=np.inf))
                    end = max(end, told.time[at_rest & seen].max(initial=-np.inf))
                    offset = {one: values - rests for one, values in told.offset.items()}
                    told = replace(told, offset=offset) if role == chain.tip else None
                found.append(
                    Contact(
                        role, float(start), float(end), rests, limb=limb, instants=told,
                        stiff=chain.control not in limb_.foot_roles,
                    )
                )
    return tuple(sorted(found, key=lambda contact: contact.start))


def _rolls(limb: Limb, prints: Sequence[Footprint]) -> list[Instants | None]:
    """Where in the world the parts of a foot are as it touches down, rolls, and leaves."""
    rolls = [print_.rolls for print_ in prints if print_.rolls is not None]
    if not rolls:
        return [None] * len(prints)
    pitch = np.concatenate([roll.pitch for roll in rolls])
    n = len(pitch)
    joint, turn = limb.foot(Feet(
        np.concatenate([roll.position for roll in rolls]),
        np.concatenate([roll.orientation for roll in rolls]), pitch,
        np.ones(n, bool), np.zeros(n), np.zeros(n), np.zeros(n),
    ))
    time, rank = (np.concatenate([getattr(r, name) for r in rolls]) for name in ("time", "rank"))
    every = Instants(time, rank, joint, turn)
    found: list[Instants | None] = []
    first = 0
    for print_ in prints:
        count = 0 if print_.rolls is None else len(print_.rolls.time)
        found.append(every.some(np.s_[first : first + count]) if count else None)
        first += count
    return found


def _events(motion: GaitMotion) -> tuple[Event, ...]:
    """Touchdowns and liftoffs within the motion."""
    end = float(motion.time[-1])
    found = []
    for print_ in motion.footprints:
        for kind, when in (("TOUCHDOWN", print_.on), ("LIFTOFF", print_.off)):
            if 0.0 <= when <= end:
                found.append(Event(kind, float(when), print_.leg, print_.position))
    return tuple(sorted(found, key=lambda event: event.time))


def _kinks(motion: GaitMotion) -> np.ndarray:
    """Touchdowns and liftoffs, at which tracks may have corners."""
    moments = np.array([when for mark in motion.footprints for when in (mark.on, mark.off)])
    return np.unique(moments[(moments >= 0.0) & (moments <= motion.time[-1])])
