# SPDX-License-Identifier: GPL-3.0-or-later
"""A pendulum: a uniform rod on an axle, driven by a motor on a stand. Numpy only.

The rod is that of van de Panne, Fiume and Vranesic, "Reusable Motion Synthesis Using
State-Space Controllers" (1990), section 5.2: 1 kg, 1 m, at rest along +X, seen from the front;
its muscle gives 10 N m.
"""

from __future__ import annotations

import numpy as np

from .equipment import box
from .mechanism import Mechanism, turned
from .skeleton import BoneSpec
from .surfaces import Surface, joined

X, Y, Z = np.eye(3)

ROD = "rod"
TORQUE = 10.0 / (0.5 * 9.81)
"""What the muscle gives, as a share of what holds the rod level."""

ABOVE = 1.22  # height of the axle, rods' lengths


def pendulum(size: float, mass: float) -> Mechanism:
    """A pendulum.

    Args:
        size: length of the rod, m.
        mass: of the rod, kg.
    """
    axle = ABOVE * Z
    bones = (
        BoneSpec("root", "", np.zeros(3), -0.25 * size * Y, Z, "Controls"),
        BoneSpec("stand", "root", np.zeros(3), 0.5 * size * axle, Y, "Mechanism", deform=True),
        BoneSpec(
            ROD, "stand", size * axle, size * (axle + X), Z, "Controls", deform=True
        ),
    )
    # Seen from the front, angles count against the clock: about an axis that points at us.
    numbers = {"poise_chain": ROD, "poise_hinge": tuple((-Y).tolist())}
    return Mechanism(
        bones, {"Body": _scaled(joined([*_stand(axle), *_rod(axle)]), size)}, numbers,
        {ROD: {"poise_mass": mass, "poise_torque": TORQUE * 0.5 * 9.81 * mass * size}},
        # The rod's Z axis points up and its Y along it: it turns about X.
        {ROD: "XYZ"},
        {ROD: ("circle", (0.09 * size, 1.0, 0.09 * size), (0.0, 0.92 * size, 0.0)),
         "root": ("root", (0.42 * size, 0.42 * size, 1.0), (0.0, 0.0, 0.0))},
        ("stand",),
    )


def _scaled(surface: Surface, size: float) -> Surface:
    return Surface(
        surface.points * size, surface.faces, surface.materials, surface.bones, surface.weights,
        surface.smooth,
    )


def _stand(axle: np.ndarray) -> list[Surface]:
    """A foot, a column behind the rod, and the motor on it."""
    bone, back = "stand", 0.115 * Y
    foot = [(0.0, 0.30), (0.018, 0.30), (0.030, 0.286), (0.034, 0.10), (0.060, 0.056)]
    column = [(0.055, 0.040), (0.10, 0.034), (axle[2] - 0.05, 0.028), (axle[2] - 0.02, 0.034)]
    motor = [
        (-0.052, 0.058), (-0.048, 0.066), (-0.020, 0.066), (-0.016, 0.070), (0.090, 0.070),
        (0.098, 0.062), (0.104, 0.030),
    ]
    return [
        turned(back, Z, foot, bone, "base", 56),
        turned(back, Z, column, bone, "boots"),
        turned(axle + back, Y, motor, bone,
               ["edge", "edge", "base", "equipment", "equipment", "base"], 48),
        turned(axle, Y, [(-0.060, 0.014), (-0.056, 0.018), (0.070, 0.018)], bone, "edge", 24),
        # A pointer at the side of angle 0, and ribs that tell which way is up.
        box(axle + back + 0.078 * X, np.array([0.030, 0.020, 0.012]), bone, "trim"),
    ]


def _rod(axle: np.ndarray) -> list[Surface]:
    """A hub, a tapering rod that goes on a little behind the axle, and a ball at its end."""
    hub = [(-0.046, 0.040), (-0.040, 0.048), (0.020, 0.048), (0.026, 0.042)]
    rod = [(-0.130, 0.014), (-0.122, 0.022), (-0.060, 0.022), (0.0, 0.021), (0.80, 0.015),
           (0.925, 0.014)]
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 13)[1:-1]
    ball = [(0.052 * np.sin(a), 0.052 * np.cos(a)) for a in angles]
    return [
        turned(axle, Y, hub, ROD, ["edge", "equipment", "edge"], 40),
        turned(axle, X, rod, ROD, "suit", 24),
        turned(axle + 0.948 * X, X, ball, ROD, "suit", 32),
        turned(axle - 0.128 * X, X, [(-0.012, 0.020), (-0.008, 0.030), (0.030, 0.030),
                                     (0.034, 0.022)], ROD, "base", 24),
        turned(axle + 0.70 * X, X, [(-0.014, 0.0178), (0.014, 0.0178)], ROD, "gloves", 24),
    ]
