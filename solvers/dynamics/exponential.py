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

_SERIES = 0.02  # rad, below which a series has more digits than the closed form
_ONE = np.eye(3)
# Rows times this are the matrices [x].
_CROSSING = np.zeros((3, 9))
_CROSSING[(0, 1, 2), (7, 2, 3)], _CROSSING[(0, 1, 2), (5, 6, 1)] = 1.0, -1.0


def crossing(x: np.ndarray) -> np.ndarray:
    """(n, 3, 3) the matrices [x] with [x] v = x cross v.

    Args:
        x: (n, 3) vectors.
    """
    return (x @ _CROSSING).reshape(-1, 3, 3)


def apply(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """(..., 3) matrices times vectors.

    Args:
        matrices: (..., 3, 3).
        vectors: (..., 3), broadcast against the matrices.
    """
    return (matrices @ vectors[..., None])[..., 0]


def cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(n, 3) vector products, of few rows twice as fast as component by component.

    Args:
        first: (n, 3) vectors.
        second: (n, 3) vectors.
    """
    return apply(crossing(first), second)


def _parts(x: np.ndarray) -> tuple[np.ndarray, ...]:
    """t^2, t, sin t / t, beta, gamma: (n,) each."""
    square = np.einsum("ij,ij->i", x, x)
    t = np.sqrt(np.maximum(square, 1e-30))
    sinc, half = np.sin(t) / t, np.sin(0.5 * t) / t
    beta, gamma = 2.0 * half * half, (1.0 - sinc) / (t * t)
    short = t < _SERIES
    if short.any():
        gamma = np.where(short, 1 / 6 - square / 120 + square**2 / 5040, gamma)
    return square, t, sinc, beta, gamma


def turning(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3, 3) matrices of the turns exp(x), and J(x).

    exp(x) = 1 + (sin t / t) [x] + beta [x]^2.

    Args:
        x: (n, 3) rotation vectors, rad.
    """
    _, _, sinc, beta, gamma = _parts(x)
    across = crossing(x)
    twice = across @ across
    beta = beta[:, None, None]
    return (
        _ONE + sinc[:, None, None] * across + beta * twice,
        _ONE - beta * across + gamma[:, None, None] * twice,
    )


def jacobian(x: np.ndarray) -> np.ndarray:
    """(n, 3, 3) J(x).

    Args:
        x: (n, 3) rotation vectors, rad.
    """
    return turning(x)[1]


def inverse_jacobian(x: np.ndarray) -> np.ndarray:
    """(n, 3, 3) the inverse of J(x): 1 + [x] / 2 + (1 - (t / 2) cot(t / 2)) / t^2 [x]^2.

    Args:
        x: (n, 3) rotation vectors, rad, shorter than a whole turn.
    """
    square = np.einsum("ij,ij->i", x, x)
    half = 0.5 * np.sqrt(square)
    short = half < 0.5 * _SERIES
    half = np.where(short, 1.0, half)
    factor = np.where(
        short, 1 / 12 + square / 720 + square**2 / 30240,
        (1.0 - half / np.tan(half)) / (4.0 * half * half),
    )
    across = crossing(x)
    return _ONE + 0.5 * across + factor[:, None, None] * (across @ across)


def jacobian_rate(x: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """(n, 3) J'(x, x') x': how the spin changes while x' stays.

    Args:
        x: (n, 3) rotation vectors, rad.
        rate: (n, 3) x', rad/s.
    """
    square, t, sinc, beta, gamma = _parts(x)
    # Of beta and gamma over t, divided by t.
    t2, short = t * t, t < _SERIES
    d_beta = np.where(
        short, -1 / 12 + square / 180 - square**2 / 6720, (sinc - 2.0 * beta) / t2
    )
    d_gamma = np.where(
        short, -1 / 60 + square / 1260 - square**2 / 60480, (beta - 3.0 * gamma) / t2
    )
    along = np.einsum("ij,ij->i", x, rate)[:, None]
    once = cross(x, rate)
    twice = cross(x, once)
    d_beta, d_gamma, gamma = d_beta[:, None], d_gamma[:, None], gamma[:, None]
    return along * (d_gamma * twice - d_beta * once) + gamma * cross(rate, once)
