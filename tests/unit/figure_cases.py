# SPDX-License-Identifier: GPL-3.0-or-later
"""Articulated figures that tests move."""

import numpy as np
from poise.solvers import rotations
from poise.solvers.dynamics import Figure


def chain(count, length=1.0, mass=1.0, axes=((1.0, 0.0, 0.0),), free=False):
    """Rods in a row along -Z, each turning about `axes` at its upper end."""
    rows = np.zeros((count, 3, 3))
    rows[:, : len(axes)] = axes
    if free:
        rows[0] = 0.0
    inertia = mass * length**2 / 12.0
    return Figure(
        parents=np.arange(count) - 1,
        places=np.array([[0.0, 0.0, -length if i else 0.0] for i in range(count)]),
        rests=rotations.identity(count),
        axes=rows,
        masses=np.full(count, mass),
        centres=np.tile([0.0, 0.0, -0.5 * length], (count, 1)),
        inertias=np.tile(np.diag([inertia, inertia, 0.0]), (count, 1, 1)),
        free=free,
    )


def random_tree(count, seed, free=False):
    """A tree with hinges, swings and balls, each link with a shape of its own."""
    rng = np.random.default_rng(seed)
    axes = np.zeros((count, 3, 3))
    for i in range(count):
        basis = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        freedoms = rng.integers(1, 4)
        axes[i, :freedoms] = basis[:freedoms]
    if free:
        axes[0] = 0.0
    factors = rng.normal(size=(count, 3, 3))
    shapes = factors @ factors.transpose(0, 2, 1)
    # No body is longer than its mass allows: I = tr(S) 1 - S with S its second moments.
    inertias = np.trace(shapes, axis1=1, axis2=2)[:, None, None] * np.eye(3) - shapes
    return Figure(
        parents=np.array([-1, *(rng.integers(0, i) for i in range(1, count))]),
        places=rng.normal(size=(count, 3)) * 0.4,
        rests=rotations.normalise(rng.normal(size=(count, 4))),
        axes=axes,
        masses=rng.uniform(0.5, 3.0, count),
        centres=rng.normal(size=(count, 3)) * 0.2,
        inertias=inertias * 0.02,
        free=free,
    )


def random_state(figure, seed):
    """Angles and rates of its freedoms."""
    rng = np.random.default_rng(seed)
    angles, rates = np.zeros((2, len(figure.parents) * 3))
    angles[figure.freedoms] = rng.uniform(-1.2, 1.2, len(figure.freedoms))
    rates[figure.freedoms] = rng.normal(size=len(figure.freedoms)) * 2.0
    return angles.reshape(-1, 3), rates.reshape(-1, 3)
