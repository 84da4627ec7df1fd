# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes joint tracks of the jumping lamp from the states that its solver goes through. Numpy only.

The solver knows one size of the lamp and one gravity. A lamp k times as large under gravity g
moves alike (Froude's law of similarity): angles stay, lengths grow by k and times by
sqrt(k 9.81/g), torques with its weight and its size.

Bones: `root` stays on the ground that it began on, under the joint of the base, and carries all
along; `base` rises from it and turns about that joint, `link` turns there against the base,
`shade` against the link at the elbow. At rest they stand as the solver's lamp does, and hinges
turn about their X axis, which points to the left: the solver counts turns backwards from
upright, bones forwards from how they stand.
"""

from __future__ import annotations

import numpy as np

from ...solvers.clock import Clock
from ...solvers.control.lamp import HEIGHT, MASSES, REST
from ...solvers.motion import Event
from ...solvers.rotations import about_x, rotate
from .tracks import JointTracks, Spin

ROOT, BASE, LINK, SHADE = "root", "base", "link", "shade"
HINGES = (BASE, LINK, SHADE)

AHEAD, LEFT = np.array([0.0, -1.0, 0.0]), np.array([1.0, 0.0, 0.0])
"""In the root's axes at rest, which are the armature's."""


def pace(size: float, gravity: float) -> float:
    """Seconds that a lamp takes for each of the solver's: sqrt(k 9.81/g).

    Args:
        size: k, its lengths against those of the solver's lamp.
        gravity: g, m/s^2.
    """
    return float(np.sqrt(size * 9.81 / gravity))


def strength(size: float, gravity: float, mass: float) -> float:
    """Torques of a lamp against those of the solver's.

    Args:
        size: its lengths against those of the solver's lamp.
        gravity: m/s^2.
        mass: kg.
    """
    return size * gravity / 9.81 * mass / sum(MASSES)


def turned_to(states: np.ndarray) -> np.ndarray:
    """(..., 3) angles of the base, link and shade as bones count them, rad.

    Args:
        states: (..., 5) as in `map_lamp`.
    """
    return (0.0, *REST) - np.asarray(states, dtype=float)[..., 2:]


def turned_from(angles: np.ndarray) -> np.ndarray:
    """(..., 3) the base's tilt, the link's and the shade's angle of a solver's state, rad.

    Args:
        angles: (..., 3) of bones.
    """
    return (0.0, *REST) - np.asarray(angles, dtype=float)


def map_lamp(
    clock: Clock,
    states: np.ndarray,
    size: float,
    unit: float,
    place: np.ndarray,
    turn: np.ndarray,
    events: tuple[Event, ...] = (),
) -> JointTracks:
    """How the lamp's bones go.

    Args:
        clock: when the rows are.
        states: (n, 5) x and y of the base's joint, m in the solver's size; the base's tilt, the
            link's angle against it and the shade's against the link, rad, turns counted.
        size: of the lamp against the solver's.
        unit: metres per unit of the armature.
        place: (3,) the solver's origin, in units of the armature from the root's place at rest.
        turn: (4,) how the motion is turned against the root at rest.
        events: what happens.
    """
    q, count = np.asarray(states, dtype=float), len(states)
    turn = np.asarray(turn, dtype=float)
    angles = turned_to(q)
    rise = np.zeros((count, 3))
    rise[:, 1] = (q[:, 1] - HEIGHT) * size / unit  # along the base's bone, which points up
    return JointTracks(
        clock,
        {ROOT: np.tile(turn, (count, 1))}
        | {name: about_x(angles[:, k]) for k, name in enumerate(HINGES)},
        {ROOT: place + q[:, :1] * size / unit * rotate(turn, AHEAD), BASE: rise},
        {name: Spin(angles[:, k], LEFT) for k, name in enumerate(HINGES)},
        events=events,
    )
