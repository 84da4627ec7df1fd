# SPDX-License-Identifier: GPL-3.0-or-later
"""Places and sizes as arrays of 4x4 matrices, time first."""

from __future__ import annotations

import numpy as np


def inverse(matrices: np.ndarray) -> np.ndarray:
    """Inverses of matrices that turn, scale, shear and move.

    The linear part by cross products of its rows (adjugate over determinant),
    exact to rounding for parts that are not nearly flat. For a few of them it is
    kinder to the processor than the general inverse: that one wakes threads,
    which then wait busily for a tenth of a second.

    Args:
        matrices: (..., 4, 4) with (0, 0, 0, 1) as last row.

    Raises:
        numpy.linalg.LinAlgError: one of them makes everything flat.
    """
    m = np.asarray(matrices, dtype=float)
    linear = m[..., :3, :3]
    cofactors = np.cross(linear[..., [1, 2, 0], :], linear[..., [2, 0, 1], :])
    determinant = (linear[..., 0, :] * cofactors[..., 0, :]).sum(axis=-1)
    if (determinant == 0.0).any():
        raise np.linalg.LinAlgError("Singular matrix")
    out = np.zeros_like(m)
    out[..., :3, :3] = np.swapaxes(cofactors, -1, -2) / determinant[..., None, None]
    out[..., :3, 3] = -np.einsum("...ij,...j->...i", out[..., :3, :3], m[..., :3, 3])
    out[..., 3, 3] = 1.0
    return out
