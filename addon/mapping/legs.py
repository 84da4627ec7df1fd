# SPDX-License-Identifier: GPL-3.0-or-later
"""The body of a legged character, with any number of legs. Numpy only.

A leg is a chain of segments from the body to the ground. Two of them that follow
each other, `bend` and the next, are what a rig's inverse kinematics bends: their
end is brought to a control, and their middle joint points to a pole. What comes
before the two (a shoulder blade, a coxa) is turned by its own control; what comes
after (cannon, pastern, hoof; foot and toe) hangs on the control that the two reach
for, so that a leg of any number of segments stands exactly as it was solved.

Roles of segments are those that rigs are recognised by: "thigh", "shin", "foot" and
"toe" with their sides for two legs, else "hind.1.L" and so on, counted from the body.
A segment's position is that of its upper joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import radians

import numpy as np

from ...solvers.legged.creature import Creature, Leg
from ...solvers.rotations import normalise

# Kinds of feet: what of a leg lies on the ground, and how it rolls there.
HOOF = "HOOF"  # the last segment, short and stiff; rolls over its toe late
PAW = "PAW"  # the last segment, toes that lie flat; rolls over them early
FOOT = "FOOT"  # the last two, foot and toes; heel strike, roll over the ball
TIP = "TIP"  # a point


@dataclass(frozen=True)
class _Roll:
    """How a kind of foot rolls; see `Leg`."""

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
    blade_folded: float = 0.42  # likewise of legs under shoulder blades, which do not fold


_ROLLS = {
    HOOF: _Roll(strike=0.05, push=0.7, flat=0.08, rise=0.82, swing=0.9, folded=0.55,
                blade_folded=0.62),
    PAW: _Roll(push=0.6, flat=0.08, rise=0.65, swing=0.7, blade_folded=0.55),
    # Toe-out of 5 degrees, strike and push of a walk, knees that get all but straight
    # (gait laboratories).
    FOOT: _Roll(0.31, 0.88, 0.16, 0.56, 0.32, 1.22, 0.12, 0.28, 0.67, 0.09, 0.998, 0.3, 0.3),
    TIP: _Roll(),
}
# Stifles, hocks and elbows do not open all the way: the share of the lengths that is left.
ZIGZAG = 0.99
MOST_BEND = radians(150.0)  # of joints that are bent in rest
# How short legs get under load, as a share of how short they get in a swing.
BENT = 0.97
# A shoulder blade turns that far either way; a leg is to reach when it has swung that far back.
BLADE_TURN, SWUNG = radians(30.0), radians(25.0)
# Fore legs of horses get 139 mm shorter under load at a gallop (McGuigan & Wilson 2003), a tenth of
# how long they are. What legs without a blade and a shoulder cannot give, the sling does in which
# the trunk hangs between them.
SLUNG = 1.1
# From a person's ankle to the ball, along the sole, as a share of the leg's length; heels come up
# as far as _ROLLS says over no longer ones.
LEVER = 0.16
# Segments of a leg that turn with the foot, where the leg says nothing else.
_FOOT_SEGMENTS = {HOOF: 1, PAW: 1, FOOT: 2, TIP: 0}


@dataclass(frozen=True)
class LegChain:
    """One leg of a figure.

    Attributes:
        name: what the gaits call it: "hind.L", "fore.R", "middle.L"; "leg.L" of a biped.
        girdle: number of the girdle that it hangs on; 0 is the hindmost.
        segments: roles from the body to the ground, two at least.
        bend: index of the first of the two segments that are bent together.
        pole: role of the point that the joint between the two points to.
        tip: role of the end of the last segment on the ground, the point that a
            footprint marks.
        blade: role of the shoulder blade or collar bone that carries the leg, or "".
            It is the leg's first segment in all but name: a leg reaches from where
            its blade hangs.
        heel: how far the sole's rear end is behind the footprint's point, m.
        toe: how far the front end that it rolls about is ahead, m; below 0 where
            that is a joint behind the tip, the ball of a person's foot.
        foot: HOOF, PAW, FOOT or TIP: how it rolls on the ground.
        carrier: role of the part of the trunk that the leg hangs on, or "" for the
            usual one: see `LeggedFigure.carrier`.
        sling: role of the place where a leg without a blade hangs in the sling of
            muscles that holds the trunk up between the fore legs, or "": see
            `LeggedFigure.sling`.
        turning: how many of the last segments turn with the foot; 0 for as many as its
            kind has.
    """

    name: str
    girdle: int
    segments: tuple[str, ...]
    bend: int
    pole: str
    tip: str
    blade: str = ""
    heel: float = 0.0
    toe: float = 0.0
    foot: str = TIP
    carrier: str = ""
    sling: str = ""
    turning: int = 0

    @property
    def limb(self) -> tuple[str, ...]:
        """Roles of blade and segments: all that a leg reaches with, from the trunk on."""
        return (self.blade, *self.segments) if self.blade else self.segments

    @property
    def ankle(self) -> str:
        """Role of the joint that the leg brings its foot to: what is beyond turns with it."""
        parts = (*self.segments, self.tip)
        return parts[len(parts) - 1 - (self.turning or _FOOT_SEGMENTS[self.foot])]

    @property
    def control(self) -> str:
        """Role of what the two bent segments reach for: the next segment, or the tip."""
        after = self.bend + 2
        return self.segments[after] if after < len(self.segments) else self.tip


@dataclass(frozen=True)
class LeggedFigure:
    """Rest pose and size of a legged character, in character space.

    Attributes:
        kind: kind of character ("HORSE").
        joints: role -> (3,) rest position, m; of every segment, pole and tip of the
            legs, of the trunk, neck, head, tail and arms.
        legs: the legs, in the order of the gaits' tables.
        trunk: roles of the trunk from the pelvis to the chest, the pelvis first.
        neck: roles from the chest on, the head last; may be empty.
        tail: roles from the body outward; may be empty.
        arms: sides ("L", "R") on which it has arms, with the roles of a person's:
            "shoulder", "hand", "elbow", and joints "upper_arm", "elbow_joint".
        mass: kg.
        height: stature, or height at the withers, m.
    """

    kind: str
    joints: Mapping[str, np.ndarray]
    legs: tuple[LegChain, ...]
    trunk: tuple[str, ...]
    neck: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    mass: float = 75.0
    height: float = 1.75

    def chain(self, leg: LegChain) -> np.ndarray:
        """(k + 1, 3) joints of a leg from the body to its tip, m.

        Args:
            leg: one of the legs.
        """
        return np.array([self.joints[role] for role in (*leg.segments, leg.tip)], dtype=float)

    def lengths(self, leg: LegChain) -> np.ndarray:
        """(k,) lengths of a leg's segments, m.

        Args:
            leg: one of the legs.
        """
        return np.linalg.norm(np.diff(self.chain(leg), axis=0), axis=1)

    @property
    def leg_length(self) -> float:
        """All segments of the shortest leg together, m."""
        return min(float(self.lengths(leg).sum()) for leg in self.legs)

    def limb(self, leg: LegChain) -> np.ndarray:
        """(k + 1, 3) joints of a leg from where it hangs on the trunk to its tip, m.

        Args:
            leg: one of the legs; its blade, if it has one, is the first segment.
        """
        return np.array([self.joints[role] for role in (*leg.limb, leg.tip)], dtype=float)

    def reach(self, leg: LegChain) -> float:
        """Longest distance from where a leg hangs on the trunk to its ankle, m.

        Stretched out, but for joints that never open all the way, and for a shoulder
        blade that does not turn far enough to be in line with a leg that is behind.

        Args:
            leg: one of the legs.
        """
        points, lengths = self._to_ankle(leg), self._in_plane(leg)
        if not leg.blade:
            return float(lengths.sum()) * (ZIGZAG if len(lengths) > 2 else 1.0)
        blade, rest = float(lengths[0]), ZIGZAG * float(lengths[1:].sum())
        angle = max(_blade_angle(points) + SWUNG - BLADE_TURN, 0.0)
        aside = min(blade * np.sin(angle), rest)
        return float(blade * np.cos(angle) + np.sqrt(rest**2 - aside**2))

    def shortest(self, leg: LegChain) -> float:
        """Shortest distance from where a leg hangs on the trunk to its ankle, m.

        Of segments of very different lengths: with the others in line, and the joint between
        them and the longest bent as far as joints do, by the law of cosines.

        Args:
            leg: one of the legs.
        """
        points, lengths = self._to_ankle(leg), self._in_plane(leg)
        most = float(lengths.max())
        others = min(float(lengths.sum()) - most, -most * float(np.cos(MOST_BEND)))
        folded = float(np.hypot(most + others * np.cos(MOST_BEND), others * np.sin(MOST_BEND)))
        return min(folded, float(np.linalg.norm(points[-1] - points[0])))

    def sling(self, leg: LegChain) -> float:
        """How far a leg's sling of muscles gives either way along the leg, m.

        Legs in a sling reach SLUNG times as far as they stand.

        Args:
            leg: one of the legs.
        """
        if not leg.sling:
            return 0.0
        points = self._to_ankle(leg)
        return max(SLUNG * float(np.linalg.norm(points[-1] - points[0])) - self.reach(leg), 0.0)

    def blade(self, leg: LegChain) -> tuple[float, float, tuple[float, float]]:
        """How far a shoulder blade takes part in a leg's reach: see `Leg`.

        Args:
            leg: one of the legs.

        Returns:
            Length of the blade, longest distance from its end to the ankle, m, and its
            most forward and most backward direction, radians; zeros for a leg without one.
        """
        if not leg.blade:
            return 0.0, 0.0, (0.0, 0.0)
        points, lengths = self._to_ankle(leg), self._in_plane(leg)
        # In rest it points ahead of the ankle, as all shoulder blades do.
        ahead = -_blade_angle(points)
        turn = (ahead - BLADE_TURN, ahead + BLADE_TURN)
        return float(lengths[0]), ZIGZAG * float(lengths[1:].sum()), turn

    def _to_ankle(self, leg: LegChain) -> np.ndarray:
        return self.limb(leg)[: (*leg.limb, leg.tip).index(leg.ankle) + 1]

    def plane(self, leg: LegChain) -> np.ndarray:
        """(3, 3) axes of the plane that a leg bends in, in rest.

        Down the leg from where it hangs to its ankle, to its pole, and square to both: rows.

        Args:
            leg: one of the legs.
        """
        points = self._to_ankle(leg)
        down = normalise(points[-1] - points[0])
        first, _, end = self.chain(leg)[leg.bend : leg.bend + 3]
        span = end - first
        across = np.asarray(self.joints[leg.pole], dtype=float) - first
        across = across - span * (across @ span) / max(float(span @ span), 1e-12)
        across = normalise(across - down * (across @ down))
        return np.stack((down, across, np.cross(down, across)))

    def _in_plane(self, leg: LegChain) -> np.ndarray:
        """Lengths of the segments down to the ankle as they reach: without what they lean out
        of the plane that the leg bends in, which they keep, m."""
        parts, normal = np.diff(self._to_ankle(leg), axis=0), self.plane(leg)[2]
        return np.linalg.norm(parts - np.outer(parts @ normal, normal), axis=1)

    def carrier(self, leg: LegChain) -> str:
        """Role of the part of the trunk that a leg, or its blade, hangs on.

        The chest carries a leg with a blade and those of the foremost girdle of
        several, the pelvis all others, unless the leg says another.

        Args:
            leg: one of the legs.
        """
        if leg.carrier:
            return leg.carrier
        last = max(one.girdle for one in self.legs)
        return self.trunk[-1] if leg.blade or 0 < last == leg.girdle else self.trunk[0]

    def with_mass(self, mass: float) -> LeggedFigure:
        """The same figure with another mass.

        Args:
            mass: kg.
        """
        return replace(self, mass=float(mass))

    def scaled(self, factor: float) -> LeggedFigure:
        """The same figure at another size; its mass stays as it is.

        Args:
            factor: metres per metre, above 0.
        """
        return replace(
            self,
            joints={role: np.asarray(p) * factor for role, p in self.joints.items()},
            legs=tuple(
                replace(leg, heel=leg.heel * factor, toe=leg.toe * factor) for leg in self.legs
            ),
            height=self.height * factor,
        )


def _blade_angle(points: np.ndarray) -> float:
    """Between a leg's first segment and the line from where it hangs to its ankle, radians."""
    first, line = points[1] - points[0], points[-1] - points[0]
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1)[0])
    cosine = first @ line / (length * np.linalg.norm(line))
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)))


# Of the height of hips: where the centre of the trunk is that motion is solved for.
_CENTRE = 0.95


def creature_of(figure: LeggedFigure) -> Creature:
    """What the solver of legged motion needs to know of a character.

    A leg hangs where its blade does, or else its first segment, and is as long as it
    reaches down to the ankle. Footprints mark its tip, on the height
    that it has in rest; the foot beyond the ankle rolls as its kind of foot does.
    The centre is the pelvis of a character on two legs, else the middle of the
    girdles, a little under the hips.

    Args:
        figure: the character's rest pose.

    Returns:
        The creature, its legs in the figure's order.
    """
    legs = []
    for chain in figure.legs:
        limb = figure.limb(chain)
        foot = limb[-1]
        ankle = np.asarray(figure.joints[chain.ankle], dtype=float) - foot
        roll = _ROLLS[chain.foot]
        folded = roll.blade_folded if chain.blade else roll.folded
        length = figure.reach(chain) + figure.sling(chain)
        least = figure.shortest(chain) / length
        push, swing = roll.push, roll.swing
        if chain.foot == FOOT and ankle[1] + chain.toe > LEVER * length:
            # On a longer lever the ankle is up as far with less pitch.
            push = float(np.arcsin(LEVER * length / (ankle[1] + chain.toe) * np.sin(push)))
            swing *= push / roll.push
        legs.append(
            Leg(
                chain.name, limb[0], foot, length, chain.girdle, ankle, chain.heel, chain.toe,
                roll.strike, push, roll.flat, roll.rise, roll.peel, swing, roll.top, roll.trail,
                roll.level, roll.toe_out, roll.reach, max(folded, least), max(BENT * folded, least),
                *figure.blade(chain),
            )
        )
    upright = len(legs) == 2
    if upright:
        centre = np.asarray(figure.joints[figure.trunk[0]], dtype=float)
    else:
        girdles = [
            np.mean([leg.hip for leg in legs if leg.girdle == number], axis=0)
            for number in sorted({leg.girdle for leg in legs})
        ]
        centre = np.mean(girdles, axis=0) * (1.0, 1.0, _CENTRE)
    return Creature(
        figure.kind, tuple(legs), centre,
        slope_follow=0.0 if upright else 1.0,
        list=0.07 if upright else 0.0,
        sway=0.025 if upright else 0.0,  # 4 to 6 cm from side to side
    )
