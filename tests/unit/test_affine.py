# SPDX-License-Identifier: GPL-3.0-or-later
"""Inverses of affine matrices against what they undo."""

import numpy as np
import pytest
from poise.solvers import affine


def test_inverse_undoes_turn_shear_scale_and_move():
    rng = np.random.default_rng(5)
    matrices = np.zeros((50, 4, 4))
    matrices[:, :3] = rng.normal(size=(50, 3, 4))
    matrices[:, 3, 3] = 1.0
    matrices[::2, :3] *= 1e-3  # in millimetres, as imported figures are
    matrices[::5, :3, 0] *= -1.0
    back = affine.inverse(matrices) @ matrices
    sizes = np.linalg.cond(matrices[:, :3, :3])
    error = np.abs(back - np.eye(4)).max(axis=(1, 2))
    assert (error <= 1e-14 * sizes**2).all()
    assert np.array_equal(affine.inverse(matrices[7]), affine.inverse(matrices)[7])


def test_what_makes_everything_flat_has_no_inverse():
    flat = np.diag([1.0, 0.0, 2.0, 1.0])
    with pytest.raises(np.linalg.LinAlgError):
        affine.inverse(np.array([np.eye(4), flat]))
