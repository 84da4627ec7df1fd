# SPDX-License-Identifier: GPL-3.0-or-later
"""Animals whose legs are straight, as they stand ready to go. Numpy only.

Inverse kinematics cannot tell which way a leg bends that is stretched out, and a leg that is as
long as it gets cannot make a step. Rigs of others are often built so, and may have feet that do
not come down to the ground, where one leg is shorter. Such an animal is lowered a little, onto
all of its feet, and its legs are bent by as much: the joint of the two segments that are bent
together by `EASED` at least, to the side of its pole; and where all of a leg is stretched out,
the joint after a stifle to the other side, as hocks are. Carpi, and what else is straight, stay
so, as in animals that stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import radians

import numpy as np

from ...solvers.ik import chain_joints, solve_chain
from ...solvers.rotations import normalise
from .legs import MOST_BEND, LegChain, LeggedFigure
from .limbs import LEAST_BEND, REACHED, STRAIGHT

# Least bend of the joint between the two segments that are bent: half of it is what a leg in
# motion keeps (`LEAST_BEND`). Hocks have to be bent enough not to count as straight.
EASED, HOCK = 2.0 * LEAST_BEND, STRAIGHT + radians(1.0)
# What is bent by less, or to the other side, is eased.
STIFF = radians(2.0)
# Cosine of a pole to the front from which it is that of a stifle.
AHEAD = 0.5
# Of the height that a leg hangs at: an animal is not lowered by more.
MOST_LOWERED = 0.3
CLOSE = 1e-6  # m


class CannotStand(ValueError):
    """A leg that cannot be bent, however far its animal is lowered.

    Args:
        leg: which one.
    """

    def __init__(self, leg: LegChain) -> None:
        super().__init__(f"{leg.name} cannot be bent where it stands")
        self.leg = leg


@dataclass(frozen=True, eq=False)
class Eased:
    """A figure that stands with its legs bent.

    Attributes:
        figure: its rest pose.
        moves: role -> (4, 4) that takes what goes along with it in the rest pose that was
            given into this one.
    """

    figure: LeggedFigure
    moves: Mapping[str, np.ndarray]


def eased(figure: LeggedFigure) -> Eased:
    """A figure on legs that can all be bent, with its feet on the ground.

    Args:
        figure: a rest pose; feet whose tips are not at height 0 are brought there.

    Returns:
        The same, and identities, if all legs are bent and stand on the ground already.

    Raises:
        CannotStand: a leg goes out so far to the side that lowering does not bend it.
    """
    legs = [_Leg(figure, chain) for chain in figure.legs]
    joints = {role: np.asarray(place, dtype=float) for role, place in figure.joints.items()}
    moves = {role: np.eye(4) for role in joints}
    if not any(leg.stiff or leg.over for leg in legs):
        return Eased(figure, moves)
    down = max(leg.sinks() for leg in legs)
    for role in joints:
        if role != "root":
            moves[role] = _shifted(-down)
    for leg in legs:
        moves |= leg.bent(down)
    joints = {role: moves[role][:3, :3] @ at + moves[role][:3, 3] for role, at in joints.items()}
    return Eased(replace(figure, joints=joints), moves)


def _shifted(rise: float) -> np.ndarray:
    move = np.eye(4)
    move[2, 3] = rise
    return move


class _Leg:
    """One leg below its blade, as a chain in the plane of its joints."""

    def __init__(self, figure: LeggedFigure, chain: LegChain) -> None:
        self.chain = chain
        joints = {role: np.asarray(place, dtype=float) for role, place in figure.joints.items()}
        parts = (*chain.segments, chain.tip)
        count = max(parts.index(chain.ankle), chain.bend + 2)
        self.roles, self.foot = parts[:count], parts[count:]
        self.points = np.array([joints[role] for role in parts[: count + 1]])
        self.hangs, self.pole = joints[chain.limb[0]], joints[chain.pole]
        self.over = float(joints[chain.tip][2])
        # Down the leg, to the pole, square to both.
        head, _, end = self._pair(self.points)
        span, line = end - head, self.points[-1] - self.points[0]
        across = self.pole - head
        across = across - span * (across @ span) / max(float(span @ span), 1e-12)
        self.frame, self.across = _frame(line, across), across
        flat = np.diff(self.points, axis=0) @ self.frame
        self.lengths = np.hypot(flat[:, 0], flat[:, 1])
        self.angles = np.arctan2(flat[:, 1], flat[:, 0])
        rest = np.remainder(np.diff(self.angles) + np.pi, 2.0 * np.pi) - np.pi
        reach = figure.reach(chain)
        self.reach = REACHED * reach
        long = float(np.linalg.norm(self.points[-1] - self.hangs)) > reach
        self.stiff = long or rest[chain.bend] > -STIFF
        self._posture(rest, long)

    def _pair(self, points: np.ndarray) -> np.ndarray:
        """(3, 3) joints of the two segments that are bent together."""
        return points[self.chain.bend : self.chain.bend + 3]

    def _posture(self, rest: np.ndarray, long: bool) -> None:
        """Joint angles that are sought, their limits, and which joints give."""
        bend = self.chain.bend
        sign = np.where(rest < 0.0, -1.0, 1.0)
        sign[bend] = -1.0
        gives = np.abs(rest) >= STRAIGHT
        gives[bend] = True
        gives[bend - 1 : bend] = True  # a coxa stays as it is, and the leg turns on it
        least, wanted = np.full(len(rest), EASED), rest.copy()
        stifle = self.frame[1, 1] < -AHEAD
        if long and stifle and bend + 1 < len(rest) and not gives[bend + 1]:
            gives[bend + 1], sign[bend + 1], least[bend + 1] = True, 1.0, HOCK
            wanted[bend] = min(wanted[bend], -HOCK)  # stifle and hock alike
        limited = gives.copy()
        limited[bend - 1 : bend] = False
        straightest = np.where(limited, sign * least, rest)
        # Not beyond where what is below would stretch the leg: that bends it the other way.
        below = np.concatenate(([0.0], straightest[bend + 1 :]))[:, None]
        x, y = chain_joints(self.lengths[bend + 1 :], below)[-1, :, 0]
        straightest[bend] -= max(float(np.arctan2(y, x)), 0.0)
        least = np.where(limited, straightest, -np.inf)
        most = np.where(limited, sign * MOST_BEND, np.inf)
        self.low, self.high = np.minimum(least, most), np.maximum(least, most)
        self.wanted = np.clip(wanted, self.low, self.high)
        self.gives = gives.astype(float)
        self.straight = straightest

    def sinks(self) -> float:
        """How much lower it has to hang, m."""
        ankle = self.points[-1] - (0.0, 0.0, self.over)
        angles = np.concatenate(([0.0], self.straight))[:, None]
        most = REACHED * float(np.hypot(*chain_joints(self.lengths, angles)[-1])[0])
        found = 0.0
        for start, far in ((self.hangs, self.reach), (self.points[0], most)):
            arm = start - ankle
            room = far**2 - float(arm[:2] @ arm[:2])
            sink = float(arm[2]) - np.sqrt(max(room, 0.0))
            if sink > 0.0 and (room <= 0.0 or sink > MOST_LOWERED * arm[2]):
                raise CannotStand(self.chain)
            found = max(found, sink)
        return found

    def bent(self, down: float) -> dict[str, np.ndarray]:
        """Role -> its move, if it hangs lower by some meters and its foot is on the ground."""
        shift = np.array([0.0, 0.0, -down])
        moves = {role: _shifted(-self.over) for role in self.foot}
        if self.lengths.min() < CLOSE:  # square to the plane that the leg bends in
            raise CannotStand(self.chain)
        start = self.points[0] + shift
        line = self.points[-1] - (0.0, 0.0, self.over) - start
        frame, far = _frame(line, self.across), float(np.linalg.norm(line))
        wanted = np.concatenate(([self.angles[0]], self.wanted))[:, None]
        low = np.concatenate(([-np.inf], self.low))
        high = np.concatenate(([np.inf], self.high))
        solved = solve_chain(
            self.lengths, np.array([[far], [0.0]]), wanted, low, high,
            np.concatenate(([1.0], self.gives)),
        )
        if solved.shortfall[0] > CLOSE:
            raise CannotStand(self.chain)
        head, points = start, [start]
        for role, turned, rest, place in zip(
            self.roles, solved.directions()[:, 0], self.angles, self.points, strict=False
        ):
            turn = frame @ _about_z(turned - rest) @ self.frame.T
            moves[role] = np.eye(4)
            moves[role][:3, :3], moves[role][:3, 3] = turn, head - turn @ place
            head = head + turn @ (self.points[len(points)] - place)
            points.append(head)
        first, middle, end = self._pair(np.array(points))
        chord = normalise(end - first)
        out = normalise(middle - first - chord * float(chord @ (middle - first)))
        far = float(np.linalg.norm(self.pole - self._pair(self.points)[1]))
        moves[self.chain.pole] = np.eye(4)
        moves[self.chain.pole][:3, 3] = middle + far * out - self.pole
        return moves


def _frame(line: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Columns along a line, to one side as near as can be, and square to both."""
    x = normalise(line)
    y = normalise(across - x * float(x @ across))
    return np.stack((x, y, np.cross(x, y)), axis=1)


def _about_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
