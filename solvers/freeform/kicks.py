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


def held_back(kick: np.ndarray) -> float:
    """The share of a limb's kick that it gets: no joint is faster than FASTEST by it.

    Args:
        kick: (c, 3) rad/s.
    """
    return FASTEST / max(float(np.linalg.norm(kick, axis=-1).max()), FASTEST)


class FlightEnd:
    """One end of a flight.

    Args:
        body: the body.
        joints: (n, 4) local turns there, the pelvis' in the world first.
        rates: (n, 3) of the joints as postures have them, rad/s.
        velocity: (3,) of the centre of mass, m/s.
        limbs: links of those that rest there, and what (7, c, 3) these are kicked by, rad/s,
            while the pelvis rests, and at 1 m/s along or 1 rad/s about each axis.
    """

    def __init__(
        self, body: Body, joints: np.ndarray, rates: np.ndarray, velocity: np.ndarray,
        limbs: Sequence[tuple[list[int], np.ndarray]],
    ) -> None:
        moved = [link for chain, _ in limbs for link in chain]
        self._sizes = [3 * len(chain) for chain, _ in limbs]
        single = np.zeros((1 + 3 * len(moved), *rates.shape))
        single[0] = rates
        for k, link in enumerate(moved):
            single[1 + 3 * k : 4 + 3 * k, link] = np.eye(3)
        found = inside(body, np.repeat(joints[None], len(single), axis=0), single)
        turn = rotations.to_matrix(joints[0])
        # Columns: 1, the momentum, kicks.
        spins = np.insert(-found.momentum.T, [1, 1, 1], turn.T, axis=1)
        drifts = np.insert(-found.velocity.T, [1, 1, 1], 0.0, axis=1)
        spins = np.linalg.solve(found.inertia[0], spins)
        velocities = turn @ (crossing(found.centre[:1])[0] @ spins + drifts)
        velocities[:, 0] += velocity
        self._root = np.concatenate([velocities, spins])
        wanted = np.concatenate(
            [np.zeros((7, 0)), *(by.reshape(7, -1) for _, by in limbs)], axis=1
        )
        self._still, self._by_root = wanted[0], (wanted[1:] - wanted[0]).T

    def kicks(self, momentum: np.ndarray) -> list[np.ndarray]:
        """(c, 3) that each limb's joints are faster, rad/s: what it takes, not held back.

        Args:
            momentum: (3,) about the centre of mass, kg m^2/s.
        """
        free = self._root[:, :4] @ np.append(1.0, momentum)
        shares = np.ones(len(self._sizes))
        for _ in range(ROUNDS):
            each = np.repeat(shares, self._sizes)
            back = self._root[:, 4:] * each
            root = np.linalg.solve(np.eye(6) - back @ self._by_root, free + back @ self._still)
            kick = self._still + self._by_root @ root
            starts = np.cumsum([0, *self._sizes])[:-1]
            parts = [
                kick[i : i + n].reshape(-1, 3) for i, n in zip(starts, self._sizes, strict=True)
            ]
            now = np.array([held_back(part) for part in parts])
            if np.abs(now - shares).max(initial=0.0) < SAME:
                break
            shares = now
        return parts
