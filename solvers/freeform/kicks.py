# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast limbs leave the ground, or come to it, at one end of a flight.

The joints of a limb whose end rests turn at rates k = k_0 + D x, x being velocity and spin of
the pelvis; and these follow from the momentum L of the flight and from how limbs turn, too:

    w = I^-1 (R^T L - H),   v = V - R (w x c + c'),   H and c' linear in k

So x and k solve a few linear equations, for any L.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import rotations
from ..dynamics.exponential import crossing
from .body import Body, inside

FASTEST = 60.0  # rad/s: knees of 10 degrees extend so fast where a body lifts by itself
SAME = 1e-12  # of the shares that limbs are held back to
ROUNDS = 50


def held_back(kick: np.ndarray) -> np.ndarray:
    """(...) the shares of limbs' kicks that they get: no joint is faster than FASTEST by it.

    Args:
        kick: (..., c, 3) rad/s.
    """
    return FASTEST / np.maximum(np.linalg.norm(kick, axis=-1).max(axis=-1, initial=0.0), FASTEST)


class FlightEnds:
    """Ends of flights.

    Args:
        body: the body.
        joints: (e, n, 4) local turns there, the pelvis' in the world first.
        rates: (e, n, 3) of the joints as postures have them, rad/s.
        velocity: (e, 3) of the centre of mass, m/s.
        limbs: of each end, links of those that rest there, and what (7, c, 3) these are kicked
            by, rad/s, while the pelvis rests, and at 1 m/s along or 1 rad/s about each axis.

    Attributes:
        shape: (e, k, c, 3) of what `kicks` finds.
    """

    def __init__(
        self, body: Body, joints: np.ndarray, rates: np.ndarray, velocity: np.ndarray,
        limbs: Sequence[Sequence[tuple[list[int], np.ndarray]]],
    ) -> None:
        count, most = len(joints), max(map(len, limbs))
        longest = max((len(chain) for one in limbs for chain, _ in one), default=0)
        # Ends with fewer limbs, and limbs of fewer links, have some that nothing moves.
        moved = np.full((count, most, longest), -1)
        wanted = np.zeros((count, 7, most, longest, 3))
        for k, one in enumerate(limbs):
            for i, (chain, by_root) in enumerate(one):
                moved[k, i, : len(chain)] = chain
                wanted[k, :, i, : len(chain)] = by_root
        self.shape = count, most, longest, 3
        slots, parts = most * longest, 1 + 3 * most * longest
        wanted = wanted.reshape(count, 7, 3 * slots)
        self._still = wanted[:, 0, :, None]
        self._by_root = np.swapaxes(wanted[:, 1:] - wanted[:, :1], 1, 2)
        moved = moved.reshape(count, slots)
        single = np.zeros((count, parts, *rates.shape[1:]))
        single[:, 0] = rates
        rows, slot = np.nonzero(moved >= 0)
        for axis in range(3):
            single[rows, 1 + 3 * slot + axis, moved[rows, slot], axis] = 1.0
        found = inside(
            body, np.repeat(joints, parts, axis=0), single.reshape(-1, *rates.shape[1:])
        )
        turn = rotations.to_matrix(joints[:, 0])
        momentum, drift = (
            np.swapaxes(x.reshape(count, parts, 3), 1, 2) for x in (found.momentum, found.velocity)
        )
        # Columns: 1, the momentum, kicks.
        spins = np.insert(-momentum, [1, 1, 1], np.swapaxes(turn, 1, 2), axis=2)
        spins = np.linalg.solve(found.inertia[::parts], spins)
        drifts = np.insert(-drift, [1, 1, 1], 0.0, axis=2)
        velocities = turn @ (crossing(found.centre[::parts]) @ spins + drifts)
        velocities[..., 0] += velocity
        self._root = np.concatenate([velocities, spins], axis=1)

    def kicks(self, momentum: np.ndarray) -> np.ndarray:
        """(e, k, c, 3) that each limb's joints are faster, rad/s: what it takes, not held back.

        Args:
            momentum: (e, 3) about the centre of mass, kg m^2/s.
        """
        free = self._root[..., :1] + self._root[..., 1:4] @ momentum[..., None]
        shares = np.ones(self.shape[:2])
        for _ in range(ROUNDS):
            each = np.repeat(shares, 3 * self.shape[2], axis=1)
            back = self._root[..., 4:] * each[:, None]
            root = np.linalg.solve(np.eye(6) - back @ self._by_root, free + back @ self._still)
            kick = (self._still + self._by_root @ root).reshape(self.shape)
            now = held_back(kick)
            if np.abs(now - shares).max(initial=0.0) < SAME:
                break
            shares = now
        return kick
