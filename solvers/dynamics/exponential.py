# SPDX-License-Identifier: GPL-3.0-or-later
"""How a body spins whose turn is exp(x), the rotation vector x changing.

The spin in the body's own frame is J(x) x' with the right Jacobian of the rotation
group,

    J(x) = 1 - beta [x] + gamma [x]^2,   t = |x|
    beta = (1 - cos t) / t^2,   gamma = (t - sin t) / t^3

and it changes by J'(x, x') x' where x'' = 0 (Chirikjian, "Stochastic Models, Information
Theory, and Lie Groups", vol. 2, 2012, sec. 10.3).
"""

from __future__ import annotations

import numpy as np

from .. import rotations

_SERIES = 0.02  # rad, below which series have more digits than the closed forms


def _parts(x: np.ndarray) -> tuple[np.ndarray, ...]:
    """beta, gamma, and their derivatives over t, divided by t: (n, 1) each."""
    square = rotations.dot(x, x)[:, None]
    t = np.sqrt(square)
    short = t < _SERIES
    t = np.where(short, 1.0, t)
    sine, cosine = np.sin(t), np.cos(t)
    t2 = t * t
    beta = np.where(short, 0.5 - square / 24 + square**2 / 720, (1 - cosine) / t2)
    gamma = np.where(short, 1 / 6 - square / 120 + square**2 / 5040, (t - sine) / (t2 * t))
    d_beta = np.where(
        short, -1 / 12 + square / 180 - square**2 / 6720, (t * sine - 2 * (1 - cosine)) / t2**2
    )
    d_gamma = np.where(
        short,
        -1 / 60 + square / 1260 - square**2 / 60480,
        (3 * sine - 2 * t - t * cosine) / (t2**2 * t),
    )
    return beta, gamma, d_beta, d_gamma


def crossing(x: np.ndarray) -> np.ndarray:
    """(n, 3, 3) the matrices [x] with [x] v = x cross v.

    Args:
        x: (n, 3) vectors.
    """
    out = np.zeros((len(x), 3, 3))
    out[:, 2, 1], out[:, 0, 2], out[:, 1, 0] = x.T
    out[:, 1, 2], out[:, 2, 0], out[:, 0, 1] = -x.T
    return out


def jacobian(x: np.ndarray) -> np.ndarray:
    """(n, 3, 3) J(x).

    Args:
        x: (n, 3) rotation vectors, rad.
    """
    beta, gamma, _, _ = _parts(x)
    across = crossing(x)
    return np.eye(3) - beta[:, :, None] * across + gamma[:, :, None] * (across @ across)


def jacobian_rate(x: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """(n, 3) J'(x, x') x': how the spin changes while x' stays.

    Args:
        x: (n, 3) rotation vectors, rad.
        rate: (n, 3) x', rad/s.
    """
    _, gamma, d_beta, d_gamma = _parts(x)
    along = rotations.dot(x, rate)[:, None]
    once = rotations.cross(x, rate)
    twice = rotations.cross(x, once)
    return along * (d_gamma * twice - d_beta * once) + gamma * rotations.cross(rate, once)
