# SPDX-License-Identifier: GPL-3.0-or-later
"""The figure itself: one suit from collar to cuffs, head, helmet, gloves, boots. Numpy only.

Sizes are shares of stature unless they say otherwise. Angles around a section
start at the character's left and go to the back, right and front.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import cos, pi, radians, sin

import numpy as np

from .skeleton import (
    ANKLE_BALL,
    ATLAS,
    GRIP,
    LUMBAR,
    NECK_BASE,
    THORACIC,
    Skeleton,
    unit,
)
from .surfaces import Cage, Surface, between, even_angles, joined, ring, stripe

FRONT, BACK, LEFT, RIGHT = 1.5 * pi, 0.5 * pi, 0.0, pi
AROUND = 16  # points of a section of the trunk
LIMB = 12  # points of a section of a limb


def mix(first: dict[str, float], second: dict[str, float], amount: float) -> dict[str, float]:
    """Weights between two sets of weights.

    Args:
        first: bone -> weight.
        second: bone -> weight.
        amount: 0 the first, 1 the second.
    """
    amount = min(1.0, max(0.0, amount))
    weights = {bone: value * (1.0 - amount) for bone, value in first.items()}
    for bone, value in second.items():
        weights[bone] = weights.get(bone, 0.0) + value * amount
    return {bone: value for bone, value in weights.items() if value > 0.0}


def ramp(value: float, start: float, end: float) -> float:
    """Smooth step from 0 at `start` to 1 at `end`.

    Args:
        value: where.
        start: where it begins to rise.
        end: where it has risen.
    """
    x = min(1.0, max(0.0, (value - start) / (end - start)))
    return x * x * (3.0 - 2.0 * x)


class Trunk:
    """Sections along the spine, by height above the hips."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.height = skeleton.height
        j, f = skeleton.joints, skeleton.facing
        self.levels = [0.0, LUMBAR, THORACIC, NECK_BASE, ATLAS]
        self.points = [j["pelvis"], j["spine"], j["chest"], j["neck"], j["head"]]
        # The facing of a part holds at the middle of its length.
        self.at = [0.0, LUMBAR] + [
            0.5 * (a + b)
            for a, b in ((LUMBAR, THORACIC), (THORACIC, NECK_BASE), (NECK_BASE, ATLAS))
        ]
        self.frames = [f["pelvis"], f["pelvis"], f["spine"], f["chest"], f["neck"]]

    def section(self, level: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Centre, left, back and up of the section at a height above the hips."""
        frame = self._frame(level)
        if level <= 0.0:
            centre = self.points[0] + frame[:, 2] * level * self.height
        else:
            centre = np.array(
                [
                    np.interp(level, self.levels, [point[i] for point in self.points])
                    for i in range(3)
                ]
            )
            centre = centre + frame[:, 2] * max(0.0, level - self.levels[-1]) * self.height
        return centre, frame[:, 0], frame[:, 1], frame[:, 2]

    def _frame(self, level: float) -> np.ndarray:
        if level <= self.at[0]:
            return self.frames[0]
        if level >= self.at[-1]:
            return self.frames[-1]
        i = max(k for k in range(len(self.at) - 1) if self.at[k] <= level)
        amount = (level - self.at[i]) / (self.at[i + 1] - self.at[i])
        up = unit(self.frames[i][:, 2] * (1.0 - amount) + self.frames[i + 1][:, 2] * amount)
        left = self.frames[i][:, 0] * (1.0 - amount) + self.frames[i + 1][:, 0] * amount
        left = unit(left - up * float(up @ left))
        return np.stack([left, np.cross(up, left), up], axis=1)

    @staticmethod
    def weights(level: float) -> dict[str, float]:
        """Weights along the spine."""
        pelvis, spine = {"DEF-pelvis": 1.0}, {"DEF-spine": 1.0}
        if level < LUMBAR + 0.03:
            return mix(pelvis, spine, ramp(level, 0.015, LUMBAR + 0.045))
        weights = mix(spine, {"DEF-chest": 1.0}, ramp(level, THORACIC - 0.045, THORACIC + 0.045))
        return mix(weights, {"DEF-neck": 1.0}, 0.6 * ramp(level, NECK_BASE, ATLAS))


class Limb:
    """Sections along two bones, turned smoothly through the joint between them."""

    def __init__(self, start, joint, end, left: np.ndarray, blend: float) -> None:
        self.start, self.joint, self.end = (np.asarray(p) for p in (start, joint, end))
        self.lengths = (
            float(np.linalg.norm(self.joint - self.start)),
            float(np.linalg.norm(self.end - self.joint)),
        )
        self.first = (self.joint - self.start) / self.lengths[0]
        self.second = (self.end - self.joint) / self.lengths[1]
        self.left = unit(left - self.first * float(self.first @ left))
        self.blend = blend

    def section(self, along: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Centre, left, back and direction at 0 (start) .. 1 (joint) .. 2 (end)."""
        distance = (along - 1.0) * (self.lengths[0] if along < 1.0 else self.lengths[1])
        amount = min(1.0, max(0.0, (distance + self.blend) / (2.0 * self.blend)))
        if amount in (0.0, 1.0):
            direction = self.first if amount == 0.0 else self.second
            centre = self.joint + direction * distance
        else:
            # A quadratic Bezier curve rounds the corner.
            centre = (
                self.joint
                - self.first * self.blend * (1.0 - amount) ** 2
                + self.second * self.blend * amount**2
            )
        left, direction = between(
            self.first, self.second, amount, np.stack([self.left, self.first])
        )
        return centre, left, np.cross(left, direction), direction


# Trunk: height above the hips, half-width, half-depth to the front and back.
_TROUSERS = (
    (-0.036, 0.0985, 0.0540, 0.0660),
    (-0.006, 0.0985, 0.0600, 0.0730),
    (0.030, 0.0930, 0.0600, 0.0640),
)
_JACKET = (
    (0.022, 0.0950, 0.0620, 0.0680),  # under the hem
    (0.010, 0.1050, 0.0700, 0.0790),  # hem
    (0.024, 0.1070, 0.0720, 0.0800),
    (0.052, 0.0960, 0.0690, 0.0690),
    (0.092, 0.0850, 0.0640, 0.0570),
    (0.140, 0.0890, 0.0690, 0.0600),
    (0.190, 0.0985, 0.0780, 0.0670),
    (0.230, 0.1030, 0.0760, 0.0700),  # armpits
    (0.268, 0.1120, 0.0620, 0.0660),  # through the shoulder joints
    (0.304, 0.1060, 0.0420, 0.0520),  # on the shoulders
    (0.323, 0.0620, 0.0400, 0.0460),
    (0.334, 0.0450, 0.0420, 0.0420),  # foot of the collar
    (0.360, 0.0430, 0.0440, 0.0400),
    (0.366, 0.0400, 0.0420, 0.0380),
    (0.350, 0.0340, 0.0350, 0.0320),  # inside of the collar
)

# Legs: 0 hip .. 1 knee .. 2 ankle, half-width, half-depth front and back,
# offset outwards.
_LEG = (
    (0.20, 0.0490, 0.0580, 0.0590, -0.004),
    (0.40, 0.0465, 0.0560, 0.0550, -0.002),
    (0.60, 0.0435, 0.0520, 0.0490, 0.0),
    (0.78, 0.0405, 0.0470, 0.0440, 0.0),
    (0.90, 0.0395, 0.0455, 0.0410, 0.0),
    (1.00, 0.0390, 0.0455, 0.0390, 0.0),
    (1.10, 0.0380, 0.0410, 0.0400, 0.0),
    (1.30, 0.0390, 0.0385, 0.0450, 0.0),
    (1.54, 0.0430, 0.0450, 0.0465, 0.0),
    (1.61, 0.0465, 0.0510, 0.0490, 0.0),
)
# Sleeves: 0 shoulder .. 1 elbow .. 2 wrist, half-width, half-depth.
_ARM = (
    (0.16, 0.0430, 0.0430, 0.0440),
    (0.46, 0.0365, 0.0370, 0.0375),
    (0.81, 0.0310, 0.0315, 0.0330),
    (0.93, 0.0305, 0.0295, 0.0325),
    (1.06, 0.0305, 0.0290, 0.0325),
    (1.20, 0.0300, 0.0290, 0.0310),
    (1.45, 0.0280, 0.0275, 0.0285),
    (1.78, 0.0235, 0.0235, 0.0235),
)


def _trunk_weights(level: float, angle: float) -> dict[str, float]:
    """Weights of a point on the trunk: spine, plus hips and shoulders at the sides."""
    weights = Trunk.weights(level)
    side = "L" if cos(angle) > 0.0 else "R"
    lateral = abs(cos(angle))
    # The front of the hem gives way to a raised thigh.
    hip = 0.55 * ramp(level, 0.045, -0.035) * (0.45 + 0.55 * lateral)
    weights = mix(weights, {f"DEF-hip.{side}": 1.0}, hip if lateral > 0.05 else 0.0)
    shoulder = ramp(level, 0.20, 0.29) * ramp(lateral, 0.35, 0.95) * ramp(level, 0.34, 0.31)
    return mix(weights, {f"DEF-shoulder.{side}": 1.0}, 0.75 * shoulder)


@dataclass(frozen=True)
class Cut:
    """How clothes are cut: sections as in the tables above.

    Attributes:
        trousers: sections of the seat.
        jacket: sections of the trunk.
        arm: sections of the arms.
        leg: sections of the legs.
        sleeve: place along the arm where the sleeve ends and skin begins.
        hem: place along the leg where the trousers end and skin begins.
        sock: place along the leg where socks begin.
        armpit: which section of the jacket is at the armpits.
        collar: which is at the foot of the collar.
    """

    trousers: tuple[tuple[float, ...], ...]
    jacket: tuple[tuple[float, ...], ...]
    arm: tuple[tuple[float, ...], ...]
    leg: tuple[tuple[float, ...], ...]
    sleeve: float = 2.0
    hem: float = 2.0
    sock: float = 2.0
    armpit: int = 7
    collar: int = 11


WINTER = Cut(_TROUSERS, _JACKET, _ARM, _LEG)

# Jersey and shorts lie close; knees, shins and forearms are bare.
_SHORTS = (
    (-0.036, 0.0950, 0.0530, 0.0660),
    (-0.006, 0.0950, 0.0570, 0.0720),
    (0.030, 0.0890, 0.0560, 0.0620),
)
_JERSEY = (
    (0.016, 0.0905, 0.0575, 0.0650),
    (0.008, 0.0950, 0.0620, 0.0730),
    (0.022, 0.0940, 0.0625, 0.0700),
    (0.062, 0.0840, 0.0600, 0.0570),
    (0.125, 0.0805, 0.0620, 0.0540),
    (0.185, 0.0920, 0.0705, 0.0615),
    (0.230, 0.0975, 0.0700, 0.0650),
    (0.268, 0.1060, 0.0570, 0.0610),
    (0.304, 0.1000, 0.0390, 0.0480),
    (0.323, 0.0580, 0.0370, 0.0430),
    (0.338, 0.0390, 0.0370, 0.0360),
    (0.354, 0.0350, 0.0355, 0.0330),
    (0.344, 0.0310, 0.0320, 0.0300),
)
_BARE_ARM = (
    (0.16, 0.0390, 0.0390, 0.0400),
    (0.62, 0.0305, 0.0315, 0.0320),
    (0.70, 0.0265, 0.0275, 0.0285),
    (0.98, 0.0238, 0.0235, 0.0260),
    (1.20, 0.0250, 0.0245, 0.0255),
    (1.50, 0.0210, 0.0205, 0.0215),
    (1.84, 0.0155, 0.0165, 0.0165),
)
_BARE_LEG = (
    (0.20, 0.0480, 0.0570, 0.0580, -0.004),
    (0.48, 0.0425, 0.0505, 0.0500, -0.001),
    (0.74, 0.0365, 0.0420, 0.0400, 0.0),
    (0.78, 0.0325, 0.0380, 0.0360, 0.0),
    (0.94, 0.0305, 0.0367, 0.0315, 0.0),
    (1.08, 0.0285, 0.0320, 0.0310, 0.0),
    (1.32, 0.0295, 0.0270, 0.0385, 0.0),
    (1.56, 0.0250, 0.0240, 0.0310, 0.0),
    (1.74, 0.0190, 0.0205, 0.0225, 0.0),
    (1.78, 0.0205, 0.0220, 0.0240, 0.0),
    (1.94, 0.0190, 0.0215, 0.0225, 0.0),
)
CYCLING = Cut(_SHORTS, _JERSEY, _BARE_ARM, _BARE_LEG, 0.66, 0.76, 1.76, 6, 10)


def suit(skeleton: Skeleton, cut: Cut = WINTER) -> Surface:
    """Jacket and trousers as one closed skin from collar to cuffs, with what they leave bare."""
    cage = Cage()
    trunk = Trunk(skeleton)
    h = skeleton.height
    angles = even_angles(AROUND)

    def loop(level: float, rx: float, front: float, back: float, exponent=2.25) -> list[int]:
        centre, left, behind, _up = trunk.section(level)
        points = ring(centre, left, behind, rx * h, front * h, back * h, angles, exponent)
        return cage.add(points, [_trunk_weights(level, angle) for angle in angles])

    trousers = [loop(*row) for row in cut.trousers]
    jacket = [loop(*row) for row in cut.jacket]
    for lower, upper in zip(trousers[:-1], trousers[1:], strict=True):
        cage.bridge(lower, upper, "trousers")
    cage.bridge(trousers[-1], jacket[0], "trousers")
    holes = {0, 1, 14, 15} | {6, 7, 8, 9}
    for i, (lower, upper) in enumerate(zip(jacket[:-1], jacket[1:], strict=True)):
        material = "trim" if i in (0, 1) or i >= cut.collar else "suit"
        if i in (cut.armpit, cut.armpit + 1):
            for k in range(AROUND):
                if k not in holes:
                    m = (k + 1) % AROUND
                    key = _with_zip(material)(k)
                    cage.face((lower[k], lower[m], upper[m], upper[k]), key)
        else:
            zipped = i >= 2 and material == "suit" or i in (cut.collar, cut.collar + 1)
            shoulders = cut.armpit + 2 <= i < cut.collar
            cage.bridge(lower, upper, _with_zip(material, shoulders) if zipped else material)
    armpit, through, over = jacket[cut.armpit], jacket[cut.armpit + 1], jacket[cut.armpit + 2]
    openings = {
        "L": [
            over[0],
            over[1],
            over[2],
            through[2],
            armpit[2],
            armpit[1],
            armpit[0],
            armpit[15],
            armpit[14],
            through[14],
            over[14],
            over[15],
        ],
        "R": [
            armpit[8],
            armpit[7],
            armpit[6],
            through[6],
            over[6],
            over[7],
            over[8],
            over[9],
            over[10],
            through[10],
            armpit[10],
            armpit[9],
        ],
    }
    for side, opening in openings.items():
        _sleeve(cage, skeleton, side, opening, cut)
    _trouser_legs(cage, skeleton, trunk, trousers[0], cut)
    return cage.surface(2)


def _with_zip(material: str, shoulders: bool = False):
    """Material of the segments around the trunk: a zip in front, stripes on the shoulders."""
    zipper = "base"

    def key(i: int):
        if shoulders and i in (0, 8):
            return stripe("trim", material, 3, 1)
        if shoulders and i in (7, 15):
            return stripe("trim", material, 1, 1)
        if i == 12:  # begins at the front: its last edge is the middle
            return stripe(zipper, material, 3, 2)
        if i == 11:
            return stripe(zipper, material, 1, 2)
        return material

    return key


def _striped(material: str, outside: int):
    """Material of the segments around a limb, with a stripe down its outside."""

    def key(i: int):
        if i == outside % LIMB:
            return stripe("trim", material, 3, 1)
        if i == (outside - 1) % LIMB:
            return stripe("trim", material, 1, 1)
        return material

    return key


def _sleeve(
    cage: Cage, skeleton: Skeleton, side: str, opening: list[int], cut: Cut
) -> None:
    j, h = skeleton.joints, skeleton.height
    limb = Limb(
        j[f"upper_arm.{side}"],
        j[f"elbow_joint.{side}"],
        j[f"hand.{side}"],
        skeleton.facing["chest"][:, 0],
        0.045 * h,
    )
    deltoid, upper = {f"DEF-deltoid.{side}": 1.0}, {f"DEF-upper_arm.{side}": 1.0}
    elbow, fore = {f"DEF-elbow.{side}": 1.0}, {f"DEF-forearm.{side}": 1.0}
    for i in opening:
        cage.weights[i] = mix(cage.weights[i], deltoid, 0.45)
    angles = even_angles(LIMB)
    rings = [opening]
    for along, rx, front, back in cut.arm:
        centre, left, behind, _down = limb.section(along)
        weights = mix(mix(deltoid, upper, ramp(along, 0.05, 0.45)), elbow, ramp(along, 0.72, 0.97))
        weights = mix(weights, fore, ramp(along, 1.03, 1.28))
        rings.append(
            cage.add(ring(centre, left, behind, rx * h, front * h, back * h, angles), weights)
        )
    outside = {"L": 0, "R": 6}[side]
    for i, (upper_ring, lower_ring) in enumerate(zip(rings[:-1], rings[1:], strict=True)):
        bare = cut.arm[i][0] > cut.sleeve
        cage.bridge(lower_ring, upper_ring, "skin" if bare else _striped("suit", outside))
    cage.cap(rings[-1], "skin" if cut.arm[-1][0] > cut.sleeve else "suit", top=False)


def _trouser_legs(
    cage: Cage, skeleton: Skeleton, trunk: Trunk, waist: list[int], cut: Cut
) -> None:
    """Both legs from the lowest section of the trunk, joined by a crotch of three points."""
    h = skeleton.height
    centre, _left, behind, up = trunk.section(-0.068)
    crotch = cage.add(
        [
            centre + behind * y * h + up * z * h
            for y, z in ((0.036, 0.006), (0.004, 0.0), (-0.028, 0.008))
        ],
        [{"DEF-pelvis": 1.0}] * 3,
    )
    # Where the points of the opening lie around the leg, and where they go further down.
    openings = {"L": waist[12:] + waist[:5] + crotch, "R": waist[4:13] + crotch[::-1]}
    quarter = [22.5 * k for k in range(9)]
    opening_angles = {
        "L": [270.0 + a for a in quarter] + [495.0, 540.0, 585.0],
        "R": [90.0 + a for a in quarter] + [315.0, 360.0, 405.0],
    }
    even = {
        "L": [-120.0 + 30.0 * k + 360.0 for k in range(12)],
        "R": [60.0 + 30.0 * k for k in range(12)],
    }
    for side in ("L", "R"):
        opening = openings[side]
        j = skeleton.joints
        toes = -skeleton.facing[f"foot.{side}"][:, 1]
        hip, knee, ankle = j[f"hip.{side}"], j[f"knee_joint.{side}"], j[f"foot.{side}"]
        down = unit(knee - hip)
        limb = Limb(hip, knee, ankle, np.cross(toes, down), 0.055 * h)
        pelvis, half = {"DEF-pelvis": 1.0}, {f"DEF-hip.{side}": 1.0}
        thigh, bend = {f"DEF-thigh.{side}": 1.0}, {f"DEF-knee.{side}": 1.0}
        shin = {f"DEF-shin.{side}": 1.0}
        rings = [opening]
        outwards = 1.0 if side == "L" else -1.0
        for along, rx, front, back, offset in cut.leg:
            section, left, behind, _down = limb.section(along)
            section = section + left * outwards * offset * h
            settle = ramp(along, 0.05, 0.7)
            angles = np.radians(
                [
                    a + (b - a) * settle
                    for a, b in zip(opening_angles[side], even[side], strict=True)
                ]
            )
            weights = mix(
                mix(pelvis, half, ramp(along, -0.15, 0.22)), thigh, ramp(along, 0.10, 0.48)
            )
            weights = mix(weights, bend, ramp(along, 0.76, 0.98))
            weights = mix(weights, shin, ramp(along, 1.02, 1.24))
            rings.append(
                cage.add(ring(section, left, behind, rx * h, front * h, back * h, angles), weights)
            )
        # The hem turns in over the boot.
        last = np.array([cage.points[i] for i in rings[-1]])
        middle = last.mean(axis=0)
        rings.append(cage.add(middle + (last - middle) * 0.94 + limb.second * 0.003 * h, shin))
        rings.append(cage.add(middle + (last - middle) * 0.86 - limb.second * 0.020 * h, shin))
        places = [row[0] for row in cut.leg] + [2.0, 2.0]
        for i, (upper_ring, lower_ring) in enumerate(zip(rings[:-1], rings[1:], strict=True)):
            material = _striped("trousers", 4)
            if places[i] > cut.hem:
                material = "trim" if places[i] > cut.sock else "skin"
            cage.bridge(lower_ring, upper_ring, material)


# Head: height above the atlas, half-width, depth front and back, exponent.
_HEAD = (
    (-0.050, 0.0300, 0.0310, 0.0290, 2.0),
    (-0.024, 0.0305, 0.0330, 0.0310, 2.0),
    (-0.019, 0.0300, 0.0430, 0.0330, 2.0),
    (-0.012, 0.0300, 0.0540, 0.0350, 2.0),
    (-0.002, 0.0345, 0.0575, 0.0400, 2.1),  # chin
    (0.010, 0.0375, 0.0550, 0.0450, 2.2),  # mouth
    (0.020, 0.0405, 0.0550, 0.0500, 2.2),  # under the nose
    (0.030, 0.0415, 0.0545, 0.0530, 2.2),  # tip of the nose
    (0.046, 0.0420, 0.0520, 0.0560, 2.2),
    (0.068, 0.0425, 0.0510, 0.0570, 2.2),
    (0.090, 0.0405, 0.0490, 0.0550, 2.1),
    (0.108, 0.0320, 0.0380, 0.0440, 2.0),
)
# How far the ridge of the nose stands out, by section, and its flanks draw in.
_NOSE = {6: (0.0020, 0.000), 7: (0.0190, 0.0025), 8: (0.0100, 0.0010)}


def _between_frames(
    first: np.ndarray, second: np.ndarray, amount: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Left, back and up of a frame between two frames."""
    mean = first * (1.0 - amount) + second * amount
    up = unit(mean[:, 2])
    left = unit(mean[:, 0] - up * float(up @ mean[:, 0]))
    return left, np.cross(up, left), up


def _head_frame(skeleton: Skeleton) -> tuple[np.ndarray, np.ndarray]:
    return skeleton.joints["head"], skeleton.facing["head"]


def head(skeleton: Skeleton) -> Surface:
    """Face and neck; the scalp is under the helmet."""
    cage = Cage()
    origin, frame = _head_frame(skeleton)
    h = skeleton.height
    angles = even_angles(AROUND)
    rings = []
    neck = skeleton.facing["neck"]
    for level, rx, front, back, exponent in _HEAD:
        weights = mix({"DEF-neck": 1.0}, {"DEF-head": 1.0}, ramp(level, -0.055, -0.012))
        # The throat runs along the neck, whatever the head does.
        amount = ramp(level, -0.012, -0.050)
        left, behind, up = _between_frames(frame, neck, amount)
        rings.append(
            cage.add(
                ring(
                    origin + up * level * h,
                    left,
                    behind,
                    rx * h,
                    front * h,
                    back * h,
                    angles,
                    exponent,
                ),
                weights,
            )
        )
    behind = frame[:, 1]
    for i, (ridge, flank) in _NOSE.items():
        cage.points[rings[i][12]] = cage.points[rings[i][12]] - behind * ridge * h
        for k in (11, 13):
            cage.points[rings[i][k]] = cage.points[rings[i][k]] + behind * flank * h
    cage.tube(rings, "skin", end="skin")
    return cage.surface(1)


# The helmet's shell: centre above the atlas, half-axes, and the height of its
# rim at the front, temples, ears and nape.
_SHELL_CENTRE = (-0.004, 0.052)  # forwards negative, up
_SHELL = (0.0570, 0.0670, 0.0730, 0.0790)  # side, front, back, up


def _rim(angle: float) -> float:
    """Height of the helmet's rim above the atlas: over the goggles, down to the ears."""
    degrees = np.degrees(angle) % 360.0
    away = abs((degrees - 270.0 + 180.0) % 360.0 - 180.0)  # from the front
    return float(
        np.interp(
            away,
            [0, 54, 66, 76, 90, 108, 140, 180],
            [0.081, 0.080, 0.070, 0.030, 0.004, 0.000, 0.004, 0.006],
        )
    )


def _cycling_rim(angle: float) -> float:
    """Height of a bicycle helmet's rim above the atlas: well over the ears."""
    degrees = np.degrees(angle) % 360.0
    away = abs((degrees - 270.0 + 180.0) % 360.0 - 180.0)
    return float(np.interp(away, [0, 50, 90, 130, 180], [0.080, 0.076, 0.058, 0.040, 0.028]))


def _shell_point(skeleton: Skeleton, angle: float, level: float, grow: float) -> np.ndarray:
    """A point of the helmet's shell at a height above the atlas."""
    origin, frame = _head_frame(skeleton)
    h = skeleton.height
    side, front, back, top = (axis + grow for axis in _SHELL)
    rise = (level - _SHELL_CENTRE[1]) / top
    # Below its widest the shell falls straighter than an ellipsoid.
    width = np.sqrt(max(0.0, 1.0 - abs(rise) ** (2.0 if rise > 0.0 else 3.4)))
    x, y = cos(angle), sin(angle)
    depth = back if y > 0.0 else front
    point = (
        frame[:, 0] * x * side * width
        + frame[:, 1] * (y * depth * width + _SHELL_CENTRE[0])
        + frame[:, 2] * level
    )
    return origin + point * h


def cycling_helmet(skeleton: Skeleton) -> Surface:
    """A bicycle helmet: it leaves the ears free and has vents from front to back."""

    def colour(band: int, i: int) -> str:
        # Angle 0 is to the left and 15 of 20 is the front: vents in three rows.
        return "base" if 1 <= band <= 4 and i % 3 == 1 else "helmet"

    return _helmet(skeleton, _cycling_rim, colour, -0.0065)


def helmet(skeleton: Skeleton) -> Surface:
    """Helmet with ear covers and a rim of some thickness."""
    return _helmet(skeleton, _rim, lambda band, i: "trim" if i in (4, 5, 14, 15) else "helmet")


def _helmet(
    skeleton: Skeleton,
    lower_rim: Callable[[float], float],
    colour: Callable[[int, int], str],
    wider: float = 0.0,
    edge_material: str = "helmet",
) -> Surface:
    """A helmet down to a rim; `colour` of a band over the rim and a segment around."""
    cage = Cage()
    origin, frame = _head_frame(skeleton)
    h = skeleton.height
    bone = {"DEF-head": 1.0}
    angles = even_angles(20)

    def loop(part: float, grow: float) -> list[int]:
        grow = grow + wider
        # `part` is the share of the way from the rim to the crown.
        points = []
        for angle in angles:
            rim = lower_rim(angle)
            # Even steps of latitude, so that the crown is round.
            start = np.arcsin(np.clip((rim - _SHELL_CENTRE[1]) / _SHELL[3], -1.0, 1.0))
            latitude = start + (0.5 * pi - start) * part
            level = _SHELL_CENTRE[1] + (_SHELL[3] + grow) * sin(latitude)
            points.append(_shell_point(skeleton, angle, level, grow))
        return cage.add(points, bone)

    inside = loop(0.30, -0.009)
    lip = loop(0.0, -0.009)
    edge = loop(0.0, -0.001)
    shell = [loop(part, 0.0) for part in (0.04, 0.16, 0.32, 0.50, 0.68, 0.86)]
    rings = [inside, lip, edge, *shell]

    bands = [partial(colour, band) for band in range(len(rings) - 3)]
    lining = "base" if edge_material == "helmet" else edge_material
    cage.tube(rings, [lining, lining, edge_material] + bands[:-1])
    cage.cap(shell[-1], bands[-1], bulge=frame[:, 2] * 0.0012 * h)
    return cage.surface(1)


def hair(skeleton: Skeleton, lower_rim: Callable[[float], float]) -> Surface:
    """Short hair, a close cap down to a rim.

    Args:
        skeleton: joints and facings.
        lower_rim: angle around the head -> height of the rim above the atlas, share of stature.
    """
    return _helmet(skeleton, lower_rim, lambda band, i: "hair", -0.0055, "hair")


def goggles(skeleton: Skeleton) -> Surface:
    """Goggles, and the strap around the helmet."""
    return joined([_lenses(skeleton, 0.058, 0.0215, 0.014), _strap(skeleton)])


def glasses(skeleton: Skeleton) -> Surface:
    """Sports glasses."""
    return _lenses(skeleton, 0.050, 0.0125, 0.008)


def _lenses(skeleton: Skeleton, level: float, tall: float, thick: float) -> Surface:
    """Lenses in front of the eyes, in a frame.

    Args:
        skeleton: joints and facings.
        level: height above the atlas.
        tall: half-height.
        thick: how far they stand out.
    """
    origin, frame = _head_frame(skeleton)
    h = skeleton.height
    bone = {"DEF-head": 1.0}
    left, behind, up = frame.T
    cage = Cage()

    def section(
        angle: float, level: float, low: float, high: float, shell: float, thickness: float
    ) -> np.ndarray:
        """Eight points around the rim of the goggles, in a plane through the head's axis."""
        out = left * cos(angle) * 0.935 + behind * sin(angle)
        centre = origin + up * level * h
        profile = (
            (0.0, low),
            (0.75, low),
            (1.0, 0.7 * low),
            (1.08, 0.0),
            (1.0, 0.7 * high),
            (0.75, high),
            (0.0, high),
            (0.0, 0.0),
        )
        return np.array([centre + (out * (shell + thickness * r) + up * z) * h for r, z in profile])

    rings = []
    for degrees in (200.0, 206.0, 222.0, 240.0, 256.0, 270.0, 284.0, 300.0, 318.0, 334.0, 340.0):
        angle = radians(degrees)
        nose = max(0.0, 1.0 - abs(degrees - 270.0) / 16.0)
        end = min(1.0, (70.5 - abs(degrees - 270.0)) / 8.0)
        squeeze = 0.55 + 0.45 * end
        rings.append(
            cage.add(
                section(
                    angle,
                    level,
                    (-tall + 0.42 * tall * nose) * squeeze,
                    tall * squeeze,
                    0.0515,
                    thick,
                ),
                bone,
            )
        )

    def part(i: int) -> str:
        return "lens" if i in (2, 3) else "goggles"

    # Sections run to the character's left: the tube is bridged from its end.
    for a, b in zip(rings[:-1], rings[1:], strict=True):
        cage.bridge(b, a, part)
    cage.cap(rings[0], "goggles", top=True)
    cage.cap(rings[-1], "goggles", top=False)
    return cage.surface(1)


def _strap(skeleton: Skeleton) -> Surface:
    """The strap of the goggles."""
    cage = Cage()
    bone = {"DEF-head": 1.0}
    strap = []
    for degrees in np.linspace(-18.0, 198.0, 13):
        angle = radians(degrees)
        level = 0.058 - 0.016 * sin(min(pi, max(0.0, angle)))
        rim = [
            (level - 0.0105, 0.000),
            (level - 0.0105, 0.003),
            (level + 0.0105, 0.003),
            (level + 0.0105, 0.000),
        ]
        strap.append(cage.add([_shell_point(skeleton, angle, z, grow) for z, grow in rim], bone))
    for a, b in zip(strap[:-1], strap[1:], strict=True):
        cage.bridge(b, a, "goggles")
    return cage.surface(1)


def _hand_axes(skeleton: Skeleton, side: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outwards (back of the hand), towards the wrist, towards the thumb."""
    left, behind, up = skeleton.facing[f"hand.{side}"].T
    return (left if side == "L" else -left), behind, up


def _palm(skeleton: Skeleton, side: str) -> np.ndarray:
    """Middle of what a closed hand holds."""
    behind = skeleton.facing[f"hand.{side}"][:, 1]
    return skeleton.joints[f"hand.{side}"] - behind * GRIP * skeleton.height


def fist(skeleton: Skeleton, side: str) -> Surface:
    """A gloved fist around the grip of a pole."""
    return joined([_closed_hand(skeleton, side), _gauntlet(skeleton, side)])


def bare_wrist_fist(skeleton: Skeleton, side: str) -> Surface:
    """A fist around handlebars, in a glove that ends at the wrist."""
    return joined([_closed_hand(skeleton, side), _cuff(skeleton, side, _SHORT_CUFF)])


def _closed_hand(skeleton: Skeleton, side: str) -> Surface:
    """Fingers and thumb around a grip."""
    cage = Cage()
    h = skeleton.height
    out, behind, up = _hand_axes(skeleton, side)
    grip = _palm(skeleton, side)
    bone = {f"DEF-hand.{side}": 1.0}
    angles = even_angles(LIMB)
    rings = []
    # Four fingers around the shaft, thumb on top; grooves between them.
    levels = [(-0.0265, 0.60), (-0.0240, 0.90)]
    for finger in range(4):
        middle = -0.0180 + 0.0120 * finger
        levels += [(middle, 1.0 + 0.02 * (1 - abs(finger - 1.5)))]
        if finger < 3:
            levels += [(middle + 0.0060, 0.90)]
    levels += [(0.0245, 0.90), (0.0275, 0.62)]
    for level, size in levels:
        back = 0.0250 * (1.0 if size > 0.8 else 0.8)
        shrink = np.array([size if sin(a) < 0.3 else max(size, 0.97) for a in angles])
        if level in (levels[0][0], levels[-1][0]):
            shrink[:] = size
        points = ring(np.zeros(3), out, behind, 0.0185 * h, 0.0235 * h, back * h, angles, 2.5)
        rings.append(
            cage.add(grip + up * level * h + out * 0.002 * h + points * shrink[:, None], bone)
        )
    if side == "R":
        rings = [loop[::-1] for loop in rings]
    cage.tube(rings, "gloves", start="gloves", end="gloves")
    return joined([cage.surface(1), _thumb(skeleton, side)])


# Distance from the wrist towards the fingers, half-width, half-height.
_GAUNTLET = (
    (0.034, 0.0170, 0.0200),
    (0.018, 0.0175, 0.0215),
    (0.004, 0.0195, 0.0215),
    (-0.006, 0.0225, 0.0235),
    (-0.026, 0.0265, 0.0270),
    (-0.042, 0.0285, 0.0285),
    (-0.046, 0.0270, 0.0270),
    (-0.040, 0.0240, 0.0240),
)
_SHORT_CUFF = (
    (0.034, 0.0165, 0.0195),
    (0.014, 0.0165, 0.0200),
    (-0.002, 0.0168, 0.0180),
    (-0.020, 0.0180, 0.0185),
    (-0.018, 0.0150, 0.0155),
)


def _gauntlet(skeleton: Skeleton, side: str) -> Surface:
    """Wrist of the glove, over the sleeve."""
    return _cuff(skeleton, side, _GAUNTLET)


def _cuff(skeleton: Skeleton, side: str, profile) -> Surface:
    """Wrist of a glove along a profile."""
    cage = Cage()
    h = skeleton.height
    left, behind, up = skeleton.facing[f"hand.{side}"].T
    wrist = skeleton.joints[f"hand.{side}"]
    hand, fore = {f"DEF-hand.{side}": 1.0}, {f"DEF-forearm.{side}": 1.0}
    angles = even_angles(LIMB)
    rings = []
    for along, width, tall in profile:
        weights = mix(hand, fore, 0.85 * ramp(along, 0.004, -0.030))
        rings.append(
            cage.add(
                ring(wrist - behind * along * h, left, up, width * h, tall * h, tall * h, angles),
                weights,
            )
        )
    # left x up is -behind..: sections go from the fist back to the elbow.
    materials = ["gloves"] * (len(rings) - 4) + ["trim"] * 3
    for i, (a, b) in enumerate(zip(rings[:-1], rings[1:], strict=True)):
        cage.bridge(b, a, materials[i])
    cage.cap(rings[0], "gloves", top=True)
    return cage.surface(1)


def _tube_along(
    cage: Cage, path: np.ndarray, across: np.ndarray, radii, count: int, weights, material: str
) -> None:
    """A rounded tube through points; `across` fixes where its sections start."""
    rings = []
    for i, point in enumerate(path):
        ahead = path[min(i + 1, len(path) - 1)] - path[max(i - 1, 0)]
        ahead = unit(ahead)
        x = unit(across - ahead * float(ahead @ across))
        y = np.cross(ahead, x)
        rings.append(
            cage.add(ring(point, x, y, radii[i], radii[i], radii[i], even_angles(count)), weights)
        )
    tip = unit(path[-1] - path[-2]) * radii[-1]
    root = unit(path[0] - path[1]) * radii[0]
    for a, b in zip(rings[:-1], rings[1:], strict=True):
        cage.bridge(a, b, material)
    cage.cap(rings[0], material, bulge=root, top=False)
    cage.cap(rings[-1], material, bulge=tip)


def _thumb(skeleton: Skeleton, side: str) -> Surface:
    """Thumb across the front of the grip, above the fingers."""
    cage = Cage()
    h = skeleton.height
    out, behind, up = _hand_axes(skeleton, side)
    grip = _palm(skeleton, side)
    points = [
        (-0.010, 0.022, 0.010),
        (-0.018, 0.010, 0.020),
        (-0.019, -0.006, 0.026),
        (-0.012, -0.018, 0.027),
    ]
    path = np.array([grip + (out * x + behind * y + up * z) * h for x, y, z in points])
    _tube_along(
        cage,
        path,
        up,
        np.array([0.0085, 0.0090, 0.0082, 0.0068]) * h,
        6,
        {f"DEF-hand.{side}": 1.0},
        "gloves",
    )
    return cage.surface(1)


def mitten(skeleton: Skeleton, side: str) -> Surface:
    """A mitten, half open."""
    return joined([_half_open(skeleton, side, "gloves"), _gauntlet(skeleton, side)])


def bare_hand(skeleton: Skeleton, side: str) -> Surface:
    """A bare hand, half open, from under the sleeve."""
    return _half_open(skeleton, side, "skin", 0.86)


def _half_open(skeleton: Skeleton, side: str, material: str, size: float = 1.0) -> Surface:
    """Fingers together and thumb apart; `size` is how thick they are."""
    cage = Cage()
    h = skeleton.height
    out, behind, up = _hand_axes(skeleton, side)
    wrist = skeleton.joints[f"hand.{side}"]
    hand = {f"DEF-hand.{side}": 1.0}
    # Distance from the wrist, thickness, half-height, curl towards the palm.
    profile = (
        (0.000, 0.0165, 0.0200, 0.000),
        (0.018, 0.0170, 0.0225, 0.001),
        (0.040, 0.0170, 0.0245, 0.000),
        (0.060, 0.0160, 0.0240, -0.005),
        (0.078, 0.0140, 0.0215, -0.014),
        (0.090, 0.0110, 0.0165, -0.024),
        (0.096, 0.0060, 0.0095, -0.030),
    )
    rings = []
    for along, thick, tall, curl in profile:
        rings.append(
            cage.add(
                ring(
                    wrist + (-behind * along + out * curl) * h,
                    out,
                    up,
                    thick * size * h,
                    tall * size * h,
                    tall * size * h,
                    even_angles(LIMB),
                    2.2,
                ),
                hand,
            )
        )
    if side == "R":
        rings = [loop[::-1] for loop in rings]
    for a, b in zip(rings[:-1], rings[1:], strict=True):
        cage.bridge(a, b, material)
    cage.cap(rings[-1], material, bulge=(-behind * 0.003 - out * 0.002) * h)
    thumb = Cage()
    points = [
        (-0.006, 0.020, 0.008),
        (-0.012, 0.036, 0.022),
        (-0.016, 0.052, 0.029),
        (-0.019, 0.064, 0.031),
    ]
    path = np.array([wrist + (out * x - behind * y + up * z) * h for x, y, z in points])
    radii = np.array([0.0105, 0.0100, 0.0092, 0.0075]) * size * h
    _tube_along(thumb, path, out, radii, 6, hand, material)
    return joined([cage.surface(1), thumb.surface(1)])


# Boots: height above the ankle, half-width, reach forwards and back, exponent,
# material of the band above. The lowest is the sole.
_SKI_BOOT = (
    (-0.0520, 0.0240, 0.1150, 0.0500, 3.4, "base"),
    (-0.0505, 0.0275, 0.1190, 0.0540, 3.4, "base"),
    (-0.0430, 0.0285, 0.1195, 0.0550, 3.4, "base"),
    (-0.0405, 0.0260, 0.1100, 0.0515, 3.2, "boots"),
    (-0.0350, 0.0300, 0.1120, 0.0530, 3.0, "boots"),
    (-0.0220, 0.0315, 0.1090, 0.0525, 2.7, "boots"),
    (-0.0090, 0.0305, 0.0960, 0.0500, 2.5, "boots"),
    (0.0020, 0.0290, 0.0720, 0.0470, 2.4, "boots"),
    (0.0070, 0.0290, 0.0620, 0.0455, 2.4, "base"),
    (0.0060, 0.0345, 0.0670, 0.0495, 2.4, "trim"),
    (0.0110, 0.0355, 0.0650, 0.0500, 2.4, "trim"),
    (0.0140, 0.0345, 0.0620, 0.0490, 2.4, "boots"),
    (0.0300, 0.0335, 0.0500, 0.0455, 2.5, "boots"),
    (0.0600, 0.0330, 0.0425, 0.0410, 2.5, "boots"),
    (0.0950, 0.0345, 0.0410, 0.0400, 2.5, "base"),
    (0.1200, 0.0350, 0.0400, 0.0400, 2.5, "base"),
    (0.1180, 0.0290, 0.0340, 0.0340, 2.3, "base"),
)
_SNOWBOARD_BOOT = (
    (-0.0455, 0.0250, 0.0980, 0.0460, 2.8, "base"),
    (-0.0445, 0.0285, 0.1020, 0.0495, 2.8, "base"),
    (-0.0370, 0.0290, 0.1030, 0.0505, 2.8, "base"),
    (-0.0345, 0.0280, 0.1000, 0.0490, 2.6, "boots"),
    (-0.0240, 0.0300, 0.1000, 0.0500, 2.5, "boots"),
    (-0.0110, 0.0300, 0.0920, 0.0490, 2.4, "boots"),
    (0.0020, 0.0290, 0.0740, 0.0470, 2.3, "boots"),
    (0.0150, 0.0290, 0.0560, 0.0440, 2.3, "boots"),
    (0.0330, 0.0300, 0.0455, 0.0420, 2.2, "boots"),
    (0.0600, 0.0315, 0.0420, 0.0410, 2.2, "boots"),
    (0.0850, 0.0330, 0.0410, 0.0410, 2.2, "trim"),
    (0.1050, 0.0340, 0.0410, 0.0410, 2.2, "trim"),
    (0.1030, 0.0290, 0.0350, 0.0350, 2.2, "base"),
    (0.0850, 0.0270, 0.0330, 0.0330, 2.2, "base"),
)


def boot_section(
    skeleton: Skeleton, side: str, level: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Centre, left, back and up of the boot at a height above the ankle."""
    j, h = skeleton.joints, skeleton.height
    ankle = j[f"foot.{side}"]
    left, behind, up = skeleton.facing[f"foot.{side}"].T
    shin = unit(j[f"knee_joint.{side}"] - ankle)
    amount = ramp(level, -0.012, 0.045)
    frame = between(up, shin, amount, np.stack([left, behind, up]))
    direction = up if level < 0.0 else shin
    return ankle + direction * level * h, frame[0], frame[1], frame[2]


def telemark_boot(skeleton: Skeleton, side: str) -> Surface:
    """A boot that bends at the ball of the foot."""
    parts = [_boot(skeleton, side, _SKI_BOOT, _BENDING_ANGLES), *_buckles(skeleton, side)[1:]]
    return joined(parts + _bellows(skeleton, side))


def ski_boot(skeleton: Skeleton, side: str) -> Surface:
    """A ski boot with its buckles."""
    return joined([_boot(skeleton, side, _SKI_BOOT), *_buckles(skeleton, side)])


def snowboard_boot(skeleton: Skeleton, side: str) -> Surface:
    """A soft boot."""
    return _boot(skeleton, side, _SNOWBOARD_BOOT)


def _boot(skeleton: Skeleton, side: str, table, bending=None) -> Surface:
    """Boot: its cuff goes with the shin; below the ankle it is rigid, or bends at the ball."""
    cage = Cage()
    h = skeleton.height
    foot, shin = {f"DEF-foot.{side}": 1.0}, {f"DEF-shin.{side}": 1.0}
    angles = even_angles(AROUND) if bending is None else bending
    rings = []
    for level, width, front, back, exponent, _material in table:
        centre, left, behind, _up = boot_section(skeleton, side, level)
        weights = mix(foot, shin, ramp(level, -0.010, 0.040))
        points = ring(centre, left, behind, width * h, front * h, back * h, angles, exponent)
        each = [weights] * len(points)
        if bending is not None:
            each = [_fold(weights, skeleton, side, point) for point in points]
        rings.append(cage.add(points, each))
    cage.tube(rings, [row[5] for row in table[:-1]], start="base")
    return cage.surface(1)


# Around a boot that bends, points are closest where it does.
_BENDING = (15.0, 25.0, 34.0, 44.0, 62.0)
_BENDING_ANGLES = np.radians(
    [
        *np.arange(0.0, 181.0, 45.0),
        *(180.0 + a for a in _BENDING),
        270.0,
        *(360.0 - a for a in reversed(_BENDING)),
    ]
)
_FOLD_HALF = 0.020  # of the stretch over which a boot bends


def _fold(
    weights: dict[str, float], skeleton: Skeleton, side: str, point: np.ndarray
) -> dict[str, float]:
    """Weights of a point of a boot that bends at the ball of the foot."""
    _left, behind, _up = skeleton.facing[f"foot.{side}"].T
    ahead = float((skeleton.joints[f"foot.{side}"] - point) @ behind) / skeleton.height
    toes = ramp(ahead, ANKLE_BALL - _FOLD_HALF, ANKLE_BALL + _FOLD_HALF)
    return mix(weights, {f"DEF-toe.{side}": 1.0}, toes)


def _bellows(skeleton: Skeleton, side: str) -> list[Surface]:
    """Two ribs over the boot where it bends."""
    h = skeleton.height
    ankle = skeleton.joints[f"foot.{side}"]
    left, behind, up = skeleton.facing[f"foot.{side}"].T
    levels, widths, fronts, _backs, exponents = np.array([row[:5] for row in _SKI_BOOT[4:9]]).T
    foot = {f"DEF-foot.{side}": 1.0}
    parts = []
    for ahead in ANKLE_BALL + np.array((-0.008, 0.008)):
        top = float(np.interp(-ahead, -fronts, levels))
        rise = levels[0] + (top - levels[0]) * np.sin(np.linspace(0.0, 0.5 * pi, 7)[:-1])
        width, front, exponent = (np.interp(rise, levels, v) for v in (widths, fronts, exponents))
        across = width * np.maximum(1.0 - (ahead / front) ** exponent, 0.0) ** (1.0 / exponent)
        x = np.concatenate([across, [0.0], -across[::-1]])
        z = np.concatenate([rise, [top], rise[::-1]])
        out = np.stack([-np.gradient(z), np.gradient(x)], axis=1)
        out = -out / np.linalg.norm(out, axis=1)[:, None]
        cage = Cage()
        rings = []
        for a, b, (nx, nz) in zip(x, z, out, strict=True):
            base = ankle + (left * a + up * b - behind * ahead) * h
            normal = left * nx + up * nz
            profile = ((-0.0045, -0.002), (-0.002, 0.0045), (0.002, 0.0045), (0.0045, -0.002))
            points = [base + (behind * y + normal * r) * h for y, r in profile]
            rings.append(cage.add(points, [_fold(foot, skeleton, side, p) for p in points]))
        for first, second in zip(rings[:-1], rings[1:], strict=True):
            cage.bridge(first, second, "base")
        cage.face(rings[0][::-1], "base")
        cage.face(rings[-1], "base")
        parts.append(cage.surface(0))
    return parts


# Height above the ankle of the four buckles, and how much higher their straps
# lie on the sloping instep.
_BUCKLES = ((-0.0190, 0.0130), (-0.0060, 0.0120), (0.0210, 0.0020), (0.0470, 0.0))


def _buckles(skeleton: Skeleton, side: str) -> list[Surface]:
    """Four buckles on the outside of the instep and the cuff, with their straps."""
    h = skeleton.height
    outer = 1.0 if side == "L" else -1.0
    levels, *sizes = np.array([row[:5] for row in _SKI_BOOT[3:-1]]).T
    parts = []
    for i, (level, lift) in enumerate(_BUCKLES):
        bone = {f"DEF-{'foot' if i < 2 else 'shin'}.{side}": 1.0}
        cage = Cage()
        rings = []
        for degrees in (205.0, 222.0, 238.0, 254.0, 270.0, 286.0, 300.0, 314.0, 328.0):
            at = level - lift * sin(radians(degrees))
            width, front, back, exponent = (float(np.interp(at, levels, size)) for size in sizes)
            centre, left, behind, up = boot_section(skeleton, side, at)
            angle = radians(degrees if outer > 0.0 else 540.0 - degrees)
            base = ring(
                centre, left, behind, width * h, front * h, back * h, np.array([angle]), exponent
            )[0]
            x, y = (base - centre) @ left, (base - centre) @ behind
            out = unit(left * x / width**2 + behind * y / front**2)
            # The end on the outside is the lever.
            lever = degrees > 290.0
            thick, tall = (0.0040, 0.0046) if lever else (0.0016, 0.0034)
            rings.append(
                cage.add(
                    [
                        base - up * tall * h - out * 0.002 * h,
                        base - up * tall * h + out * thick * h,
                        base + up * tall * h + out * thick * h,
                        base + up * tall * h - out * 0.002 * h,
                    ],
                    bone,
                )
            )
        for a, b in zip(rings[:-1], rings[1:], strict=True):
            cage.bridge(a, b, "edge")
        cage.face(rings[0][::-1], "edge")
        cage.face(rings[-1], "edge")
        parts.append(cage.surface(0))
    return parts


def winter_clothes(skeleton: Skeleton) -> list[Surface]:
    """Everything from collar to cuffs, and the head with helmet and goggles."""
    return [suit(skeleton), head(skeleton), helmet(skeleton), goggles(skeleton)]


# A cycling shoe, as the boots above.
_SHOE = (
    (-0.0465, 0.0225, 0.0990, 0.0420, 3.0, "base"),
    (-0.0455, 0.0260, 0.1030, 0.0450, 3.0, "base"),
    (-0.0400, 0.0265, 0.1035, 0.0455, 2.8, "boots"),
    (-0.0300, 0.0272, 0.1010, 0.0460, 2.6, "boots"),
    (-0.0190, 0.0265, 0.0920, 0.0450, 2.5, "trim"),
    (-0.0150, 0.0262, 0.0870, 0.0445, 2.5, "boots"),
    (-0.0050, 0.0250, 0.0660, 0.0420, 2.4, "boots"),
    (0.0040, 0.0240, 0.0440, 0.0390, 2.3, "base"),
    (0.0080, 0.0225, 0.0350, 0.0350, 2.2, "base"),
    (0.0050, 0.0205, 0.0300, 0.0310, 2.2, "base"),
)


def shoe(skeleton: Skeleton, side: str) -> Surface:
    """A cycling shoe."""
    return _boot(skeleton, side, _SHOE)


def cycling_clothes(skeleton: Skeleton) -> list[Surface]:
    """Jersey and shorts, and the head with helmet and glasses."""
    return [
        suit(skeleton, CYCLING), head(skeleton), cycling_helmet(skeleton), glasses(skeleton),
    ]


# Loose trousers over the shoes, sleeves to the wrists.
_LOOSE_LEG = (
    *_LEG[:7],
    (1.30, 0.0400, 0.0400, 0.0440, 0.0),
    (1.55, 0.0400, 0.0390, 0.0430, 0.0),
    (1.78, 0.0385, 0.0370, 0.0420, 0.0),
    (1.92, 0.0390, 0.0375, 0.0430, 0.0),
)
_LONG_ARM = (*_ARM[:-1], (1.80, 0.0250, 0.0250, 0.0250), (1.95, 0.0225, 0.0225, 0.0225))
STREET = Cut(_TROUSERS, _JACKET, _LONG_ARM, _LOOSE_LEG)

# A flat shoe, as the boots above.
_SKATE_SHOE = (
    (-0.0465, 0.0240, 0.0990, 0.0420, 3.0, "helmet"),
    (-0.0455, 0.0275, 0.1030, 0.0450, 3.0, "helmet"),
    (-0.0370, 0.0280, 0.1035, 0.0455, 2.9, "helmet"),
    (-0.0345, 0.0275, 0.1000, 0.0440, 2.7, "boots"),
    (-0.0250, 0.0285, 0.0990, 0.0445, 2.6, "boots"),
    (-0.0140, 0.0280, 0.0890, 0.0440, 2.5, "boots"),
    (-0.0030, 0.0265, 0.0640, 0.0425, 2.4, "boots"),
    (0.0080, 0.0265, 0.0440, 0.0400, 2.3, "boots"),
    (0.0230, 0.0270, 0.0370, 0.0380, 2.2, "trim"),
    (0.0270, 0.0260, 0.0355, 0.0365, 2.2, "base"),
    (0.0200, 0.0220, 0.0300, 0.0310, 2.2, "base"),
)


def walking_shoe(skeleton: Skeleton, side: str) -> Surface:
    """A flat shoe that bends at the ball of the foot."""
    return _boot(skeleton, side, _SKATE_SHOE, _BENDING_ANGLES)


def skate_shoe(skeleton: Skeleton, side: str) -> Surface:
    """A flat shoe with a padded collar."""
    return _boot(skeleton, side, _SKATE_SHOE)


def _skate_rim(angle: float) -> float:
    """Height of a skate helmet's rim above the atlas: a bowl down to the ears and the nape."""
    degrees = np.degrees(angle) % 360.0
    away = abs((degrees - 270.0 + 180.0) % 360.0 - 180.0)
    return float(np.interp(away, [0, 55, 90, 120, 180], [0.084, 0.078, 0.046, 0.026, 0.014]))


def skate_helmet(skeleton: Skeleton) -> Surface:
    """A round helmet with holes on the crown."""

    def colour(band: int, i: int) -> str:
        return "base" if band in (2, 4) and i % 5 == 2 else "helmet"

    return _helmet(skeleton, _skate_rim, colour)


def street_clothes(skeleton: Skeleton) -> list[Surface]:
    """Jacket and loose trousers, and the head with helmet and glasses."""
    return [suit(skeleton, STREET), head(skeleton), skate_helmet(skeleton), glasses(skeleton)]
