# SPDX-License-Identifier: GPL-3.0-or-later
"""Articulated figures: trees of rigid links and their equations of motion."""

from .figure import (
    Carrier,
    Figure,
    Places,
    Pose,
    State,
    accelerations,
    along,
    bias_forces,
    biases,
    carried_forces,
    generalised,
    mass_matrix,
    moving,
    places,
    pose,
    rebased,
)

__all__ = [
    "Carrier",
    "Figure",
    "Places",
    "Pose",
    "State",
    "accelerations",
    "along",
    "bias_forces",
    "biases",
    "carried_forces",
    "generalised",
    "mass_matrix",
    "moving",
    "places",
    "pose",
    "rebased",
]
