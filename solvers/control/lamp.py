# SPDX-License-Identifier: GPL-3.0-or-later
"""The jumping lamp: a base, a link and a link with the shade, on the ground and in the air.

The figure of van de Panne, Fiume and Vranesic, "Reusable Motion Synthesis Using
State-Space Controllers" (1990), section 7: five degrees of freedom in the air. The ground
acts on the corners of the sole by springs and dampers; friction holds each corner to an
anchor by a spring, too, which slips where it would pull by more than friction allows, and
follows the corner in the air.

State: x and y of the base's joint, the base's tilt, the link's angle against the base and
the shade's against the link, counterclockwise; 0 is straight up. The lamp faces +X. All of
it is written once and works on floats, for one lamp, and on arrays, for many at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..dynamics.contact import Ops, Surface, pressed
from ..dynamics.planar import Link, Point, compile_figure

HALF_WIDTH = 0.12
"""m, of the sole."""
HEIGHT = 0.04
"""m, of the joint above the sole."""
ARM = 0.30
"""m, from the base's joint to the elbow."""
HEAD = 0.22
"""m, from the elbow to the shade's centre."""
HEAD_RADIUS = 0.07
"""m, of the shade."""
MASSES = (1.0, 0.3, 0.9)
"""kg: base, link, shade with its link."""
WEIGHT = sum(MASSES) * 9.81
"""N."""
LIMITS = (16.0, 14.0)
"""N m, of the base's joint and the elbow."""
REST = (math.radians(25.0), math.radians(-75.0))
"""rad, at which the lamp stands; its centre of mass is then 8 mm ahead of the middle."""

FOLDED = 84.0
"""Degrees, of the link against the base: beyond it would go through the base's rim."""

STIFFNESS = 1e5
"""N/m, of a corner, down and along the ground."""
DAMPING = 600.0
"""N s/m."""
FRICTION = 0.9
SURFACE = Surface(STIFFNESS, DAMPING, FRICTION)

SUBSTEPS = 96
"""In a frame of 1/24 s."""
STEP = 1.0 / (24.0 * SUBSTEPS)
"""s."""

LINKS = (
    Link("base", centre=(0.0, -0.5 * HEIGHT), mass=MASSES[0], inertia=0.0049),
    Link("link", "base", centre=(0.0, 0.5 * ARM), mass=MASSES[1], inertia=0.00225,
         limits=(math.radians(-FOLDED), math.radians(FOLDED))),
    Link("shade", "link", (0.0, ARM), (0.0, HEAD), MASSES[2], 0.004,
         limits=(math.radians(-150.0), math.radians(150.0))),
)
CORNERS = (Point("base", (-HALF_WIDTH, -HEIGHT)), Point("base", (HALF_WIDTH, -HEIGHT)))
FIGURE = compile_figure(LINKS, free=True, points=CORNERS)
_PARTS = compile_figure(
    LINKS,
    free=True,
    points=[*(Point(x.name, x.centre) for x in LINKS), Point("shade", (0.0, 0.0))],
)


Ground = Sequence[tuple[float, float]]
"""Steps: (x from which on, by how much the ground lies higher there), m. It is at 0 before.

Only the corners of the sole meet it: faces and edges of steps do nothing."""


class State(NamedTuple):
    """A lamp, or many of them.

    Attributes:
        q: 5 coordinates.
        v: their rates.
        anchors: x at which friction holds the left and the right corner.
    """

    q: Sequence[Any]
    v: Sequence[Any]
    anchors: Sequence[Any]


def standing(x: float = 0.0, height: float = 0.0) -> State:
    """The lamp at rest, as deep in the ground as its weight presses it.

    Args:
        x: of the base, m.
        height: of the ground, m.

    Returns:
        The state, in floats.
    """
    # Each corner bears what the centre of mass leaves to it, and sinks by that / stiffness.
    link, shade = REST[0], REST[0] + REST[1]
    ahead = -(MASSES[1] * 0.5 * ARM + MASSES[2] * ARM) * math.sin(link)
    ahead = (ahead - MASSES[2] * HEAD * math.sin(shade)) / sum(MASSES)
    loads = [WEIGHT * (0.5 + sign * 0.5 * ahead / HALF_WIDTH) for sign in (-1.0, 1.0)]
    left, right = (load / STIFFNESS for load in loads)
    q = (x, height + HEIGHT - 0.5 * (left + right), 0.5 * (left - right) / HALF_WIDTH, *REST)
    corners = FIGURE.points(math.sin, math.cos, q, (0.0,) * 5)
    return State(q, (0.0,) * 5, (corners[0][0], corners[1][0]))


def many(states: Sequence[State]) -> State:
    """Lamps side by side as arrays.

    Args:
        states: n lamps in floats.

    Returns:
        Arrays of n.
    """
    return State(*(list(np.array([s[k] for s in states], float).T) for k in range(3)))


def pick(state: State, index: Any) -> State:
    """Some of many lamps.

    Args:
        state: arrays.
        index: of the array, or a mask.

    Returns:
        Arrays; floats where the index is a number.
    """
    if isinstance(index, (int, np.integer)):
        return State(*(tuple(float(a[index]) for a in part) for part in state))
    return State(*([a[index] for a in part] for part in state))


def height(ops: Ops, ground: Ground, x: Any) -> Any:
    """Height of the ground.

    Args:
        ops: of floats or arrays.
        ground: steps.
        x: where, m.

    Returns:
        m.
    """
    total = 0.0
    for edge, rise in ground:
        total = total + ops.where(x > edge, rise, 0.0)
    return total


def step(
    ops: Ops, state: State, knee: Any, elbow: Any, ground: Ground = (), push: Any = 0.0,
    h: float = STEP,
) -> tuple[State, Any, Any]:
    """Move on by one step of time: rates first, then places by the new rates.

    Args:
        ops: of floats or arrays.
        state: of the lamp.
        knee: torque of the base's joint on the link, N m.
        elbow: of the elbow on the shade, N m.
        ground: steps.
        push: horizontal force on the sole, N.
        h: s.

    Returns:
        The next state; pressure of the ground on the left and on the right corner, N.
    """
    forces, anchors, loads = [], [], []
    corners = FIGURE.points(ops.sin, ops.cos, state.q, state.v)
    for (x, y, vx, vy), anchor in zip(corners, state.anchors, strict=True):
        load, kept, anchor = pressed(
            ops, SURFACE, height(ops, ground, x) - y, vy, x, vx, anchor
        )
        anchors.append(anchor)
        forces.append((kept, load))
        loads.append(load)
    if not isinstance(push, float) or push:
        forces[0] = (forces[0][0] + 0.5 * push, forces[0][1])
        forces[1] = (forces[1][0] + 0.5 * push, forces[1][1])
    a = FIGURE.accelerations(ops.sin, ops.cos, state.q, state.v, (0.0, knee, elbow), forces)
    v = [rate + h * change for rate, change in zip(state.v, a, strict=True)]
    q = [place + h * rate for place, rate in zip(state.q, v, strict=True)]
    return State(q, v, anchors), loads[0], loads[1]


def clip(ops: Ops, torque: Any, limit: float) -> Any:
    """A torque within its limit.

    Args:
        ops: of floats or arrays.
        torque: N m.
        limit: N m.
    """
    return ops.least(ops.most(torque, -limit), limit)


def clearance(ops: Ops, state: State, ground: Ground = ()) -> Any:
    """How far elbow and shade are above the ground.

    Args:
        ops: of floats or arrays.
        state: of the lamp.
        ground: steps.

    Returns:
        m, of the lower one.
    """
    _, _, shade, elbow = _PARTS.points(ops.sin, ops.cos, state.q, state.v)
    return ops.least(
        shade[1] - HEAD_RADIUS - height(ops, ground, shade[0]),
        elbow[1] - height(ops, ground, elbow[0]),
    )


def sole(ops: Ops, state: State, ground: Ground = ()) -> Any:
    """How far the lower corner of the sole is above the ground.

    Args:
        ops: of floats or arrays.
        state: of the lamp.
        ground: steps.

    Returns:
        m.
    """
    left, right = FIGURE.points(ops.sin, ops.cos, state.q, state.v)
    return ops.least(
        left[1] - height(ops, ground, left[0]), right[1] - height(ops, ground, right[0])
    )


def centre(ops: Ops, state: State) -> tuple[Any, Any, Any, Any]:
    """Centre of mass.

    Args:
        ops: of floats or arrays.
        state: of the lamp.

    Returns:
        x, y, m, and their rates, m/s.
    """
    parts = _PARTS.points(ops.sin, ops.cos, state.q, state.v)[:3]
    total = sum(MASSES)
    x, y, dx, dy = (
        sum(m * part[k] for m, part in zip(MASSES, parts, strict=True)) / total for k in range(4)
    )
    return x, y, dx, dy


def energy(state: State) -> float:
    """Kinetic and potential energy of one lamp, J.

    Args:
        state: in floats.
    """
    return sum(FIGURE.energy(math.sin, math.cos, state.q, state.v))
