# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves through turns and places that meet given rates at their knots.

Between two turns runs the cumulative Bezier curve of unit quaternions

    q(s) = q_0 exp(a_1 B_1) exp(a_2 B_2) exp(a_3 B_3),
    B_1 = 1 - (1 - s)^3,  B_2 = 3 s^2 - 2 s^3,  B_3 = s^3

with a_1 = w_0 h / 3, a_3 = w_1 h / 3 and a_2 what is left to q_1 (Kim,
Kim and Shin, "A General Construction Scheme for Unit Quaternion Curves with Simple High
Order Derivatives", 1995). It passes through both turns, with the spins w_0 and w_1 of the
turned frame: a curve of pieces is smooth of first order, for all joints at once.

Rates at knots are Catmull and Rom's, no larger than three times what the slower
neighbouring piece needs: what is held between two equal postures is at rest.
"""

from __future__ import annotations

import numpy as np

from .. import rotations
from ..dynamics.exponential import apply, jacobian

SMALLEST = 1e-300  # rad: what does not turn has no axis
Rest = bool | tuple[bool, bool]  # of both ends, or of start and end


def knot_rates(steps: np.ndarray, spans: np.ndarray, rest: Rest) -> np.ndarray:
    """(k, ..., 3) rates at knots, from the way between them.

    Args:
        steps: (k - 1, ..., 3) ways (rotation vectors, m).
        spans: (k - 1,) of the parameter.
        rest: whether the ends are at rest; else they go on as their pieces.

    Returns:
        Rates per parameter.
    """
    h = spans.reshape(-1, *[1] * (steps.ndim - 1))
    mean = steps / h
    before, after = mean[:-1], mean[1:]
    inner = (h[1:] * before + h[:-1] * after) / (h[1:] + h[:-1])
    sizes = [np.linalg.norm(x, axis=-1, keepdims=True) for x in (before, after, inner)]
    most = 3.0 * np.minimum(sizes[0], sizes[1])
    inner = inner * np.minimum(1.0, most / np.maximum(sizes[2], 1e-300))
    still = np.broadcast_to(rest, 2)
    return np.concatenate([mean[:1] * (not still[0]), inner, mean[-1:] * (not still[1])])


def place_rates(places: np.ndarray, knots: np.ndarray, rest: Rest) -> np.ndarray:
    """(k, 3) rates of the pelvis at knots, m per parameter.

    A posture lower than both its neighbours, or higher, is as low, or high, as it gets.

    Args:
        places: (k, 3) m.
        knots: (k,) ascending.
        rest: see `knot_rates`.
    """
    rates = knot_rates(np.diff(places, axis=0), np.diff(knots), rest)
    rises = np.diff(places[:, 2])
    rates[1:-1, 2] *= rises[:-1] * rises[1:] > 0.0
    return rates


class TurnCurve:
    """Turns of all joints over a parameter.

    Args:
        knots: (k,) ascending.
        turns: (k, n, 4) at the knots.
        rest: whether it begins and ends at rest.
        whole: (k - 1, 3) whole turns of the first joint on the way between knots, a
            world axis times their number.
        start: (n, 3) spins at the first knot, per parameter, in the turned frames; None as
            `rest` says.
        apart: (k,) knots from which pieces do not go on from each other, but each as it goes
            by itself; None for none.
    """

    def __init__(
        self, knots: np.ndarray, turns: np.ndarray, rest: Rest, whole: np.ndarray,
        start: np.ndarray | None = None, apart: np.ndarray | None = None,
    ) -> None:
        self.knots = knots
        spans = np.diff(knots)
        back = rotations.conjugate(turns)
        steps = rotations.to_rotation_vector(rotations.multiply(back[:-1], turns[1:]))
        around = np.zeros_like(steps)
        around[:, 0] = 2.0 * np.pi * whole
        # Whole turns seen from the frame at either end.
        first, last = (rotations.rotate(q, around) for q in (back[:-1], back[1:]))
        rates = knot_rates(steps + first, spans, rest)
        if start is not None:
            rates[0] = start
        h = spans[:, None, None]
        after, before = rates[:-1], rates[1:]
        if apart is not None:
            after, before = (
                np.where(at[:, None, None], (steps + first) / h, rate)
                for at, rate in ((apart[:-1], after), (apart[1:], before))
            )
        a1, a3 = (h * after - first) / 3.0, (h * before - last) / 3.0
        left = rotations.multiply(
            rotations.from_rotation_vector(-a1), rotations.multiply(back[:-1], turns[1:])
        )
        left = rotations.multiply(left, rotations.from_rotation_vector(-a3))
        a2 = _nearest(rotations.to_rotation_vector(left), steps - a1 - a3)
        # Time last, as it is looked up.
        self._around, self._start = around[:, 0], turns.T.copy()
        self._parts = [(a.T.copy(), np.sqrt(rotations.dot(a, a)).T.copy()) for a in (a1, a2, a3)]

    def __call__(
        self, at: np.ndarray, joints: slice = slice(None)
    ) -> tuple[np.ndarray, np.ndarray]:
        """Turns, and spins per parameter in the turned frames.

        Args:
            at: (t,) parameters; beyond the ends they count as the ends.
            joints: which of them, the first among these.

        Returns:
            (t, n, 4) and (t, n, 3).
        """
        s, k, turn, steps = self._at(at, np.array(0), np.array(len(self.knots) - 1), joints)
        slopes = (3.0 * (1.0 - s) ** 2, 6.0 * s * (1.0 - s), 3.0 * s * s)
        around = self._around[k]
        spin = np.zeros((*turn.shape[:2], 3)) if around.any() else None
        if spin is not None:
            spin[:, 0] = rotations.rotate(rotations.conjugate(turn[:, 0]), around)
        for step, (part, _), slope in zip(steps, self._parts, slopes, strict=True):
            turn = rotations.multiply(turn, step)
            own = (np.take(part[:, joints], k, 2) * slope).T
            spin = own if spin is None else own + rotations.rotate(rotations.conjugate(step), spin)
        return turn, spin / np.diff(self.knots)[k][:, None, None]

    def turns(
        self, at: np.ndarray, first: np.ndarray | int = 0, last: np.ndarray | int = -1
    ) -> np.ndarray:
        """Turns alone, (t, n, 4), of some of its pieces.

        Args:
            at: (t,) parameters; beyond the first and last knots they count as these.
            first: (t,) first knots.
            last: (t,) last ones.
        """
        _, _, turn, steps = self._at(at, np.asarray(first), np.asarray(last) % len(self.knots))
        for step in steps:
            turn = rotations.multiply(turn, step)
        return turn

    def _at(
        self, at: np.ndarray, first: np.ndarray, last: np.ndarray, joints: slice = slice(None)
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
        """Shares of the pieces (t,), which these are, and the four turns, one after the other."""
        u = np.clip(at, self.knots[first], self.knots[last])
        k = np.clip(np.searchsorted(self.knots, u, side="right") - 1, first, last - 1)
        k = np.clip(k, 0, len(self.knots) - 2)  # at a knot alone the piece after it, or before
        s = (u - self.knots[k]) / np.diff(self.knots)[k]
        turn, steps = np.take(self._start[:, joints], k, 2).T, []
        around = self._around[k]
        if around.any():
            turned = rotations.from_rotation_vector(around * s[:, None])
            turn[:, 0] = rotations.multiply(turned, turn[:, 0])
        for (part, size), value in zip(
            self._parts, (1.0 - (1.0 - s) ** 3, s * s * (3.0 - 2.0 * s), s**3), strict=True
        ):
            size = np.take(size[joints], k, 1)
            half = 0.5 * value * size
            along = np.take(part[:, joints], k, 2) * (np.sin(half) / np.maximum(size, SMALLEST))
            steps.append(np.concatenate([np.cos(half)[None], along]).T)
        return s, k, turn, steps


def _nearest(vectors: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Rotation vectors of the same turns, whole turns longer or shorter, nearest to others."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    axis = rotations.normalise(np.where(size > 1e-9, vectors, wanted))
    more = rotations.dot(axis, wanted)[..., None] - size
    return vectors + 2.0 * np.pi * np.round(more / (2.0 * np.pi)) * axis


def turned_on(
    turns: np.ndarray, spins: np.ndarray, by: np.ndarray, rates: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Turns times exp(x), and their spins in the turned frames.

    Args:
        turns: (n, 4).
        spins: (n, 3) rad/s.
        by: (n, 3) x, rad.
        rates: (n, 3) x', rad/s.

    Returns:
        (n, 4) and (n, 3).
    """
    step = rotations.from_rotation_vector(by)
    spins = rotations.rotate(rotations.conjugate(step), spins) + apply(jacobian(by), rates)
    return rotations.multiply(turns, step), spins
