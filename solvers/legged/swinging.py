# SPDX-License-Identifier: GPL-3.0-or-later
"""The sixth stage of a legged motion: swings clear the ground.

Girard 1986, sections 2.6 and 3.1: feet swing from foothold to foothold (`foot`). Over
uneven ground swings are lifted as far as legs fold, and feet that stand close to an edge
wait until they can go up, or hurry ahead to come down.
"""

from __future__ import annotations

import math

import numpy as np

from . import problems
from .body import minimum_jerk
from .foot import plateau
from .reaching import Reaching

WAITS = tuple(  # shares of transfers before feet go ahead, and after they have arrived
    (wait, rest) for wait in (0.0, 0.1, 0.2, 0.3) for rest in (0.0, 0.1, 0.2, 0.3)
)
EDGES = 0.05, 0.12  # of the rise of a step: what the ground is over its line at slopes, at stairs
HURRY = 0.15  # hip heights of lift that are worth hurrying ahead for the share of a transfer
LOW = 0.1  # hip heights by which a foot that does not clear the ground is told of
NEAR = 0.35  # of a lift over the ground: no foot is thrown up because of what is at its heel


class Swinging(Reaching):
    """How high feet swing, and when in their transfers."""

    def swing(self) -> None:
        """Lift swings over the ground, and let those that stand close to stairs wait."""
        feet, swing = self.feet, self.feet.swing
        real = feet.swings
        off, on = feet.off[real], feet.on[real + 1]
        real = real[np.isfinite(off) & np.isfinite(on) & self._swings(off, on)]
        if not len(real):
            return
        if not self.level:
            swing.edge[real] = self._edge(real)
        lift, cost = self._lift(real), HURRY * self.hip
        self.tick()
        tall = np.flatnonzero(lift > cost * WAITS[1][1])
        of = real[tall]
        if len(tall) and not self.level:
            best = np.full(len(tall), math.inf)
            chosen = np.zeros((len(tall), 3))
            for wait, rest in WAITS:
                swing.wait[of], swing.rest[of] = wait, rest
                need = lift[tall] if wait == rest == 0.0 else self._lift(of)
                better = need + cost * (wait + rest) < best - 1e-9
                best[better] = (need + cost * (wait + rest))[better]
                chosen[better, 0] = need[better]
                chosen[better, 1:] = wait, rest
                self.tick()
            lift[tall], swing.wait[of], swing.rest[of] = chosen.T
            lift[tall] = np.minimum(lift[tall], self._folds(of))
        swing.raised[real] += lift
        if len(tall):
            self._tell_of_low_feet(of)

    def _lift(self, which: np.ndarray) -> np.ndarray:
        """(k,) how much higher given swings have to go to clear the ground, m."""
        feet = self.feet
        shares = np.linspace(0.06, 0.94, 17)
        rise = np.maximum(plateau(shares), NEAR)  # what is too near to its ends no lift clears
        keep = self.settings.clearance * self.hip * np.minimum(1.0, 4.0 * shares * (1.0 - shares))
        base = float(self.settings.placement.origin[2])
        pose = self._poses(which, self._transfers(which, shares))
        need = np.zeros((len(which), len(shares)))
        tip = pose.position
        # Who is on toes bends them where they meet the ground.
        on_toes = np.array([leg.toe < 0.0 for leg in self.legs])[feet.foot[pose.step]]
        if on_toes.any():
            bent = feet.toe_tip(pose, np.tile(shares, len(which)))
            tip = np.where(on_toes[:, None], bent, tip)
        for end in (*feet.sole(pose), tip):
            floor = np.full(len(end), base)
            if not self.level:
                z, _, hit = self.ground(end[:, 0], end[:, 1])
                floor = np.where(hit & np.isfinite(z), z, -np.inf)
            need = np.maximum(need, (floor - end[:, 2]).reshape(need.shape) + keep)
        return np.maximum((need / rise).max(axis=1), 0.0)

    def _edge(self, which: np.ndarray) -> np.ndarray:
        """(k,) whether swings go over edges, 1, or along slopes, 0, and what is in between.

        The ground of a slope is on the straight line from foothold to foothold; that of a stair
        is over it by half its rise, and a quarter of that of two.
        """
        start, goal = self.feet.position[which], self.feet.position[which + 1]
        shares = np.linspace(0.0, 1.0, 19)[1:-1]
        line = start[:, None] + shares[:, None] * (goal - start)[:, None]
        z, _, hit = self.ground(line[..., 0].ravel(), line[..., 1].ravel())
        over = np.where(hit & np.isfinite(z), z, -np.inf).reshape(line.shape[:2]) - line[..., 2]
        rise = np.maximum(np.abs(goal - start)[:, 2], 1e-9 * self.hip)
        low, high = EDGES
        return minimum_jerk((over.max(axis=1) / rise - low) / (high - low))

    def _transfers(self, which: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """(k, n) times at which shares (n,) of given swings have gone, s."""
        off, on = self.feet.off[which, None], self.feet.on[which + 1, None]
        return off + shares * (on - off)

    def _folds(self, which: np.ndarray) -> np.ndarray:
        """(k,) how much higher given swings can go until their legs are folded, m.

        Below 0 where they would have to go lower.
        """
        shares = np.linspace(0.06, 0.94, 17)
        shares = shares[plateau(shares) > 0.5]
        time = self._transfers(which, shares)
        leg = np.repeat(self.feet.foot[which], len(shares))
        position, turn, _ = self.body(time.ravel())
        arm = self._hips(leg, position, turn) - self.feet.ankles(self._poses(which, time))
        folded = np.array([leg.folded for leg in self.legs]) * self.lengths
        aside = np.sum(arm[:, :2] ** 2, axis=1)
        room = arm[:, 2] - np.sqrt(np.maximum(folded[leg] ** 2 - aside, 0.0))
        return (room.reshape(time.shape) / plateau(shares)).min(axis=1)

    def _tell_of_low_feet(self, which: np.ndarray) -> None:
        """Tell of swings that do not clear the ground, because their legs fold no further."""
        low, foot = self._lift(which), self.feet.foot[which]
        for leg in np.unique(foot):
            of = np.flatnonzero(foot == leg)
            k = of[int(np.argmax(low[of]))]
            if low[k] > LOW * self.hip:
                step = self.own[which[k] + 1]
                self.problems.append(problems.foot_low(
                    self.names[leg], int(self.steps.index[step]), float(self.feet.off[which[k]]),
                    float(self.steps.on[step]), float(low[k]),
                ))

    def _swings(self, off: np.ndarray, on: np.ndarray) -> np.ndarray:
        """Which swings are seen."""
        return (on > -0.5) & (off < self.end)
