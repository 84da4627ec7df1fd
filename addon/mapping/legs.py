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

import numpy as np


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
        heel: how far the sole's rear end is behind the footprint's point, m.
        toe: how far its front end is ahead, m.
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
