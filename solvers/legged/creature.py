# SPDX-License-Identifier: GPL-3.0-or-later
"""What walks: legs, where they hang and stand, and the girdles that they hang on.

Everything is measured in the rest pose, in the character's own space: it faces
-Y, its left is +X, and it stands on z = 0. Sizes of the examples: hip height
of a horse of 1.60 m at the withers 1.40 m (limb lengths of anatomy books);
of a person of 1.75 m, 0.53 of the height, thigh and shank 0.2425 and 0.2493
of it (Winter; Zatsiorsky).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import SettingError, check_number
from .gait import BIPED, HEXAPOD, QUADRUPED, spoken_leg

MOST_LEGS = 64


@dataclass(frozen=True)
class Leg:
    """One leg in the rest pose.

    Attributes:
        name: what it is called; gaits know it by that.
        hip: (3,) where it hangs: hip, or whatever stays with the trunk, m.
        foot: (3,) the point of the sole that a footprint marks, m.
        length: longest distance from hip to ankle, m.
        girdle: number of the girdle that it hangs on.
        ankle: (3,) the point at the end of the leg seen from `foot`, m. For a
            foot the ankle, for a hoof or a paw what the foot turns with.
        heel: how far the sole's rear end, about which it rolls at touchdown, is
            behind `foot`, m.
        toe: how far its front end, about which it rolls at liftoff, is ahead, m.
        strike: pitch at touchdown, toes up, radians.
        push: pitch at liftoff, heel up, radians.
        flat: share of the support after which the sole lies flat.
        rise: share of the support after which the heel leaves the ground.
        peel: share of the pitch at liftoff that there is half way from then to liftoff, and half
            of that where the next leg takes over by then: it comes up slowly while the leg
            carries, and quickly at last. 0 for heels that come up evenly.
        swing: largest pitch in the swing, heel up, radians.
        top: share of the transfer after which the pitch is largest.
        trail: share of the transfer in which the front end of the sole goes the way of the
            swing; from then on it goes over to the rear end.
        level: share of the transfer after which the sole is level again.
        toe_out: yaw of the foot, away from the middle, radians.
        reach: share of its length that is used while its foot is down: people's knees
            get all but straight, those of animals whose joints are bent where they
            stand do not.
        folded: share of its length that it is long where it is folded up in a swing.
        bent: likewise at least while its foot is down.
        blade: length of a shoulder blade that the leg hangs on, its first segment, m;
            0 for none.
        below: longest distance from the blade's end to the ankle, m.
        blade_turn: most forward and most backward direction of the blade, to the rear
            from the line that goes from hip to ankle in rest, radians.
    """

    name: str
    hip: np.ndarray
    foot: np.ndarray
    length: float
    girdle: int = 0
    ankle: np.ndarray = (0.0, 0.0, 0.0)  # type: ignore[assignment]
    heel: float = 0.0
    toe: float = 0.0
    strike: float = 0.0
    push: float = 0.0
    flat: float = 0.15
    rise: float = 0.7
    peel: float = 0.0
    swing: float = 0.0
    top: float = 0.3
    trail: float = 0.0
    level: float = 0.8
    toe_out: float = 0.0
    reach: float = 0.99
    folded: float = 0.42
    bent: float = 0.42
    blade: float = 0.0
    below: float = 0.0
    blade_turn: tuple[float, float] = (0.0, 0.0)

    def longest(self, arm: np.ndarray) -> np.ndarray:
        """Longest distances from hip to ankle in given directions.

        A blade that cannot turn into line with the leg, off by an angle d, leaves
        blade cos(d) + sqrt(below^2 - (blade sin(d))^2), at most `length`.

        Args:
            arm: (..., 3) from hip to ankle, turned back with the trunk into its rest
                pose, m.

        Returns:
            (...) m.
        """
        if not self.blade:
            return np.full(arm.shape[:-1], self.length)
        down = np.asarray(self.foot, dtype=float) + self.ankle - self.hip
        down = down / np.linalg.norm(down)
        rear = np.array([0.0, 1.0, 0.0]) - down[1] * down
        share = arm @ (rear / np.linalg.norm(rear)) / np.linalg.norm(arm, axis=-1)
        swung = np.arcsin(np.clip(share, -1.0, 1.0))
        off = swung - np.clip(swung, *self.blade_turn)
        aside = np.minimum(self.blade * np.abs(np.sin(off)), self.below)
        return np.minimum(self.blade * np.cos(off) + np.sqrt(self.below**2 - aside**2), self.length)


@dataclass(frozen=True)
class Creature:
    """An animal with any number of legs.

    Attributes:
        name: what it is called.
        legs: its legs.
        centre: (3,) the point of the trunk whose motion is solved, in rest, m.
        slope_follow: share of the ground's slope under the feet that the
            trunk of an animal with one girdle pitches by, and every trunk
            rolls by. Upright bodies keep upright: 0.
        list: how far the girdles tip towards the side of the swinging leg
            at midstance, radians.
        sway: how far the body goes to the side of the standing leg at
            midstance of gaits without flights, as a part of the hip height.
    """

    name: str
    legs: tuple[Leg, ...]
    centre: np.ndarray
    slope_follow: float = 1.0
    list: float = 0.0
    sway: float = 0.0

    def hips(self) -> np.ndarray:
        """(n, 3) hips in rest, m."""
        return np.array([leg.hip for leg in self.legs], dtype=float)

    def feet(self) -> np.ndarray:
        """(n, 3) feet in rest, m."""
        return np.array([leg.foot for leg in self.legs], dtype=float)

    def heights(self) -> np.ndarray:
        """(n,) heights of the hips over the feet in rest, m."""
        return self.hips()[:, 2] - self.feet()[:, 2]

    def hip_height(self) -> float:
        """Mean height of the hips over the feet: the length in the Froude number, m."""
        return float(self.heights().mean())

    def girdles(self) -> tuple[np.ndarray, ...]:
        """Numbers of the legs of each girdle, girdles in order."""
        number = np.array([leg.girdle for leg in self.legs])
        return tuple(np.flatnonzero(number == g) for g in np.unique(number))


def check_creature(creature: Creature) -> None:
    """Check what was measured on a rig.

    Args:
        creature: the animal.

    Raises:
        SettingError: it has no legs or too many, two of the same name, or a leg
            that cannot stand; the message names the leg.
    """
    if not 1 <= len(creature.legs) <= MOST_LEGS:
        raise SettingError("Number of Legs", len(creature.legs), f"between 1 and {MOST_LEGS}")
    names = [leg.name for leg in creature.legs]
    for name in names:
        if names.count(name) > 1:
            raise SettingError("Name of a leg", repr(name), "its own alone")
    places = [("Centre", creature.centre)]
    for leg in creature.legs:
        said = f"the {spoken_leg(leg.name)}"
        places += [(f"Hip of {said}", leg.hip), (f"Foot of {said}", leg.foot)]
        places += [(f"Ankle of {said}", leg.ankle)]
    for label, place in places:
        try:
            point = np.asarray(place, dtype=float)
        except (TypeError, ValueError):
            point = np.zeros(0)
        if point.shape != (3,) or not np.all(np.abs(point) < 1e6):
            raise SettingError(label, place, "three finite coordinates")
    for leg in creature.legs:
        said = f"the {spoken_leg(leg.name)}"
        check_number(f"Length of {said}", leg.length, 1e-6, 1e6, "above 0 m")
        end = np.asarray(leg.foot, dtype=float) + np.asarray(leg.ankle, dtype=float)
        far = float(np.linalg.norm(np.asarray(leg.hip, dtype=float) - end))
        if leg.hip[2] <= end[2]:
            raise SettingError(
                f"Height of the hip of {said}",
                f"{leg.hip[2]:.3f} m",
                f"above that of its foot, {end[2]:.3f} m",
            )
        if far > leg.length * (1.0 + 1e-6):
            raise SettingError(
                f"Length of {said}",
                f"{leg.length:.3f} m",
                f"at least the {far:.3f} m between its hip and its foot at rest",
            )
        check_number(f"Flat of {said}", leg.flat, 0.0, 1.0, "between 0 and 1")
        check_number(f"Level of {said}", leg.level, 0.4, 0.95, "between 0.4 and 0.95")
        check_number(f"Top of {said}", leg.top, 0.05, 0.35, "between 0.05 and 0.35")
        check_number(f"Trail of {said}", leg.trail, 0.0, 0.5, "between 0 and 0.5")
        check_number(f"Peel of {said}", leg.peel, 0.0, 1.0, "between 0 and 1")
        check_number(f"Reach of {said}", leg.reach, 0.5, 1.0, "between 0.5 and 1")
        check_number(f"Folded of {said}", leg.folded, 0.0, 1.0, "between 0 and 1")
        check_number(f"Bent of {said}", leg.bent, 0.0, 1.0, "between 0 and 1")
        check_number(f"Rise of {said}", leg.rise, leg.flat, 1.0, "between Flat and 1")
        for label in ("heel", "toe"):
            check_number(
                f"{label.title()} of {said}", getattr(leg, label), -1e6, 1e6, "a length"
            )
        for label in ("strike", "push", "swing", "toe_out"):
            text = f"{label.title().replace('_', ' ')} of {said}"
            check_number(text, getattr(leg, label), -1.6, 1.6, "within 90 degrees")


def quadruped(
    hip: float = 1.40,
    trunk: float = 1.20,
    track: float = 0.36,
    reach: float = 1.12,
    name: str = "HORSE",
    hoof: bool = True,
) -> Creature:
    """A four-legged animal, a horse of 1.60 m at the withers if nothing is said.

    Args:
        hip: height of hips and shoulders, m.
        trunk: distance between them, m.
        track: distance between left and right feet, m.
        reach: longest legs, as a multiple of the hip height.
        name: what it is called.
        hoof: True for hooves, which roll over the toe at the end of the
            support; False for paws, which roll earlier.
    """
    foot: dict[str, Any] = dict(
        toe=0.05 * hip, strike=0.05, push=0.7, flat=0.08, rise=0.82, swing=0.9
    )
    if not hoof:
        foot = dict(toe=0.09 * hip, strike=0.0, push=0.6, flat=0.08, rise=0.65, swing=0.7)
    legs = []
    for leg_name in QUADRUPED:
        fore, left = leg_name.startswith("fore"), leg_name.endswith("L")
        y = -0.5 * trunk if fore else 0.5 * trunk
        x = 0.5 * track * (1.0 if left else -1.0)
        legs.append(
            Leg(
                leg_name, np.array([x, y, hip]), np.array([x, y, 0.0]), reach * hip,
                girdle=1 if fore else 0, ankle=np.array([0.0, 0.0, 0.04 * hip]), **foot,
            )
        )
    return Creature(name, tuple(legs), np.array([0.0, 0.0, 0.95 * hip]))


def biped(height: float = 1.75) -> Creature:
    """A person.

    Args:
        height: m.
    """
    hip, ankle = 0.525 * height, 0.039 * height
    legs = []
    for leg_name in BIPED:
        x = 0.085 * (height / 1.75) * (1.0 if leg_name.endswith("L") else -1.0)
        legs.append(
            Leg(
                leg_name, np.array([x, 0.0, hip]), np.array([x, 0.0, 0.0]), 0.4918 * height,
                ankle=np.array([0.0, 0.0, ankle]), heel=0.03 * height, toe=0.085 * height,
                strike=0.31, push=0.88, flat=0.16, rise=0.56, peel=0.32, swing=1.22, top=0.12,
                trail=0.28, level=0.67, toe_out=0.09, reach=0.998, folded=0.3,
            )
        )
    return Creature(
        "BIPED", tuple(legs), np.array([0.0, 0.0, hip]), slope_follow=0.0, list=0.07,
        sway=0.025,  # 4 to 6 cm from side to side
    )


def insect(hip: float = 0.30, length: float = 1.0, pairs: int = 3) -> Creature:
    """An animal with pairs of legs to its sides, on one rigid trunk.

    Args:
        hip: height of the hips, m.
        length: of the trunk, m.
        pairs: how many pairs of legs it has.
    """
    names = HEXAPOD if pairs == 3 else tuple(
        f"pair{i + 1}.{side}" for i in range(pairs) for side in "LR"
    )
    legs = []
    for i, leg_name in enumerate(names):
        side = 1.0 if leg_name.endswith("L") else -1.0
        share = 0.5 if pairs == 1 else (i // 2) / (pairs - 1)
        y = length * (0.5 - share)
        hip_at = np.array([side * 0.3 * hip, 0.8 * y, hip])
        foot_at = np.array([side * 2.2 * hip, 1.3 * y, 0.0])
        far = float(np.linalg.norm(hip_at - foot_at))
        legs.append(Leg(leg_name, hip_at, foot_at, 1.4 * far))
    return Creature("INSECT", tuple(legs), np.array([0.0, 0.0, hip]))
