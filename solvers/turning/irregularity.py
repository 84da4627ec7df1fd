# SPDX-License-Identifier: GPL-3.0-or-later
"""Smooth seeded variation, the same on every machine and numpy version."""

from __future__ import annotations

import numpy as np

_MASK = (1 << 64) - 1


def _hash_unit(index: int, seed: int) -> float:
    """Number in [-1, 1) for a knot, by the splitmix64 finaliser."""
    z = (index * 0x9E3779B97F4A7C15 + seed * 0xD1B54A32D192ED03 + 0x632BE59BD9B4E019) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    z ^= z >> 31
    return (z >> 11) * 2.0**-52 - 1.0


def smooth_noise(position: np.ndarray, seed: int) -> np.ndarray:
    """Value noise with one knot per unit, twice continuously differentiable.

    Between knots i and i + 1 the value is a + (b - a) u^3 (6 u^2 - 15 u + 10),
    u the fraction of the way. The knots come from an integer hash, not from a
    random generator, so they never change with a library's version.

    Args:
        position: (n,) where to evaluate, in knots (here: cycles of turning).
        seed: which of the variations; any integer.

    Returns:
        (n,) values within [-1, 1].
    """
    position = np.asarray(position, dtype=float)
    cell = np.floor(position).astype(int)
    low = int(cell.min())
    knots = np.array([_hash_unit(i, seed) for i in range(low, int(cell.max()) + 2)])
    start, end = knots[cell - low], knots[cell - low + 1]
    u = position - cell
    return start + (end - start) * u**3 * (u * (6.0 * u - 15.0) + 10.0)
