# SPDX-License-Identifier: GPL-3.0-or-later
"""Mass, centre of mass and inertia of a figure from its segments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .tracks import SIDES, Figure, side_role

HEAD = 0.118  # crown over the atlas, share of stature

# Segment masses (share of the body), centre of mass (share of the length from
# the first joint) and radius of gyration about the antero-posterior axis
# (share of the length): de Leva (1996), adjusted from Zatsiorsky, men. The
# trunk runs from the neck to the mid-point of the hips, the head from its
# vertex; limbs are listed once and counted on both sides.
_TRUNK = (0.4346, 0.5138, 0.328)
_HEAD = (0.0694, 0.5002, 0.303)
_LIMBS = (
    ("upper_arm", "elbow_joint", 0.0271, 0.5772, 0.285),
    ("elbow_joint", "hand", 0.0162, 0.4574, 0.276),
    ("hand", "hand", 0.0061, 0.0, 0.0),
    ("hip", "knee_joint", 0.1416, 0.4095, 0.329),
    ("knee_joint", "foot", 0.0433, 0.4459, 0.255),
    ("foot", "toe", 0.0137, 0.4415, 0.257),
)


# A bicycle's share of the mass: 10 kg of 80, as the lighter ones measured by Moore (2012); its
# centre over the ground in wheel radii: about as high as the saddle is over the axles.
BIKE_SHARE, BIKE_RISE = 0.125, 1.55


def bicycle_centre(figure: Figure) -> np.ndarray:
    """Centre of mass (3,) of a cyclist's bicycle in the rest pose.

    Args:
        figure: a cyclist's rest pose.
    """
    front, rear = (np.asarray(figure.joints[name]) for name in ("front_wheel", "rear_wheel"))
    return 0.5 * (front + rear) * (1.0, 1.0, BIKE_RISE)


@dataclass(frozen=True)
class PendulumBody:
    """The inverted pendulum that stands for a figure.

    Attributes:
        mass: kg.
        height: of the centre of mass over the ground, m.
        inertia: about the centre of mass, around the direction of travel,
            kg m^2.
        top: height of the head's vertex over the ground, m.
    """

    mass: float
    height: float
    inertia: float
    top: float


def pendulum_body(figure: Figure) -> PendulumBody:
    """Lump a figure in its rest pose into one inverted pendulum.

    I = sum m_i (k_i L_i)^2 + m_i |r_i - r|^2 over the segments, r in the
    plane across the direction of travel (x and z of character space).

    Args:
        figure: the figure; its mass is spread over the segments.

    Returns:
        Mass in kg, heights in m, inertia in kg m^2.

    Source: segment shares after de Leva (1996), J. Biomech. 29:1223.
    """
    joints = {role: np.asarray(p, dtype=float) for role, p in figure.joints.items()}
    neck, pelvis = joints["neck"], joints["pelvis"]
    top = max(figure.height, neck[2])
    if "bike" in joints:
        # In the saddle a rider is not as tall as on foot: a head reaches this far over the neck.
        top = joints["head"][2] + HEAD * figure.height
    vertex = np.array([neck[0], neck[1], top])
    segments = [
        (*_TRUNK, neck, pelvis),
        (*_HEAD, vertex, neck),
    ]
    for start, end, share, centre, gyration in _LIMBS:
        for side in SIDES:
            a, b = joints[side_role(start, side)], joints[side_role(end, side)]
            segments.append((share, centre, gyration, a, b))
    shares = np.array([s[0] for s in segments])
    shares = shares / shares.sum()
    if "bike" in joints:
        # A uniform bar between the hubs will do for its small part in the inertia.
        middle = bicycle_centre(figure)
        segments.append((BIKE_SHARE, 0.5, 0.29, middle, middle))
        shares = np.append(shares * (1.0 - BIKE_SHARE), BIKE_SHARE)
    centres = np.array([a + c * (b - a) for _, c, _, a, b in segments])
    spans = np.array([k * np.linalg.norm(b - a) for _, _, k, a, b in segments])
    centre = shares @ centres
    offset = centres[:, (0, 2)] - centre[[0, 2]]
    inertia = figure.mass * float(shares @ (spans**2 + (offset**2).sum(axis=1)))
    return PendulumBody(figure.mass, height=float(centre[2]), inertia=inertia, top=float(top))
