# SPDX-License-Identifier: GPL-3.0-or-later
"""From what was stepped to what is handed on: frames and path.

Inside, figures run along axis 0 and time along axis 1, so that each figure's
arrays lie in one piece; what is handed on is time first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .heading import at_time, stack
from .settings import Timeline
from .simulate import KNOT, Within


def plane_axes(
    facing: np.ndarray | float, slope: np.ndarray | float, direction: np.ndarray | float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """World axes of a tilted plane.

    Args:
        facing: (...,) world yaw of the facing, rad, 0 along -Y, or a float.
        slope: (...,) steepness, rad, or a float.
        direction: (...,) compass direction of the fall line, rad to the left
            of the facing, or a float.

    Returns:
        Unit vectors (..., 3): the facing, lifted straight up into the plane,
        the left of it in the plane, and the normal.
    """
    sine, cosine = np.sin(facing), np.cos(facing)
    steep_sin, steep_cos = np.sin(slope), np.cos(slope)
    down_f, down_l = np.cos(direction), np.sin(direction)  # fall line along facing and left
    drop = -np.tan(slope) * down_f
    scale = 1.0 / np.sqrt(1.0 + drop * drop)
    n = (steep_sin * down_f, steep_sin * down_l, steep_cos)  # facing, left, up
    e1 = (scale, 0.0, drop * scale)
    e2 = (n[1] * e1[2], n[2] * e1[0] - n[0] * e1[2], -n[1] * e1[0])  # n x e1

    def world(along: np.ndarray, side: np.ndarray | float, up: np.ndarray) -> np.ndarray:
        parts = (along * sine + side * cosine, -along * cosine + side * sine, up)
        return np.stack(np.broadcast_arrays(*parts), axis=-1)

    return world(*e1), world(*e2), world(*n)


def ground_frame(
    yaw: np.ndarray,
    facing: np.ndarray | float,
    slope: np.ndarray | float,
    direction: np.ndarray | float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """World unit vectors of a figure that travels on a tilted plane.

    Args:
        yaw: (...,) direction of travel in the plane, rad; 0 lies over the
            facing.
        facing: as for `plane_axes`.
        slope: as for `plane_axes`.
        direction: as for `plane_axes`.

    Returns:
        forward, left and normal, each (..., 3).
    """
    ahead, aside, normal = plane_axes(facing, slope, direction)
    c, s = np.cos(yaw), np.sin(yaw)
    forward = in_world(c, s, ahead, aside)
    left = in_world(-s, c, ahead, aside)
    return forward, left, np.broadcast_to(normal, forward.shape)


def in_world(
    along: np.ndarray,
    across: np.ndarray,
    ahead: np.ndarray,
    aside: np.ndarray,
    origin: np.ndarray | None = None,
) -> np.ndarray:
    """Points or vectors of a plane, in the world.

    Args:
        along: (...) component along the facing.
        across: (...) component to the left of it.
        ahead: (..., 3) axis of the facing, as from `plane_axes`.
        aside: (..., 3) axis to the left of it.
        origin: (..., 3) what is added to each; nothing if left out.

    Returns:
        (..., 3) along * ahead + across * aside + origin.
    """
    result = np.empty((*np.shape(along), 3))
    # Axis by axis: loops over three numbers at a time are slow.
    for i in range(3):
        out = np.multiply(along, ahead[..., i], out=result[..., i])
        out += across * aside[..., i]
        if origin is not None:
            out += origin[..., i]
    return result


class Quantities:
    """Looks the quantities of n figures up at any times.

    Args:
        timelines: checked settings, one per figure.
    """

    def __init__(self, timelines: Sequence[Timeline]) -> None:
        self._timelines = timelines
        self._half_step = np.array([[0.5 * timeline.step] for timeline in timelines])
        self._stacked: dict[str, np.ndarray] = {}

    def __call__(
        self, name: str, time: np.ndarray, who: np.ndarray | slice = slice(None)
    ) -> np.ndarray:
        """A quantity, by the parabola through each step's samples.

        Args:
            name: one of `Timeline.quantities`.
            time: (n, m) seconds.
            who: (n,) whose it is in each row; all figures in order if left out.

        Returns:
            (n, 1) values if they stay the same, else (n, m).
        """
        if name not in self._stacked:
            self._stacked[name] = stack(self._timelines, name)
        values = self._stacked[name]
        if values.shape[1] == 1:
            return values[who]
        rows = None if isinstance(who, slice) else who
        return at_time(values, time, self._half_step[who], rows)


@dataclass(frozen=True)
class Path:
    """Where figures have gone.

    Attributes:
        position: (n, steps, 3) of the foot at the solver steps, m.
        length: (n, steps) of the path, m.
        foot_speed: (n, steps) V_f, m/s.
        figure: (c,) whose step each of the following rows is; in order.
        time: (c, k) knots within steps in which something happens, s.
        place: (c, k, 3) where the foot is at them, m.
    """

    position: np.ndarray
    length: np.ndarray
    foot_speed: np.ndarray
    figure: np.ndarray
    time: np.ndarray
    place: np.ndarray

    def at(self, figure: np.ndarray, time: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Where figures are at the times of knots.

        Args:
            figure: (m,) which ones.
            time: (m,) times of knots, s.
            step: (n,) length of the solver steps of each figure, s.

        Returns:
            (m, 3) in m.
        """
        row = np.rint(time / step[figure]).astype(int)
        result = self.position[figure, np.minimum(row, self.position.shape[1] - 1)]
        # Complex numbers are in the order of their real parts, then of the others.
        within = (self.figure[:, None] + 1j * self.time).ravel()
        if len(within):
            wanted = figure + 1j * time
            row = np.minimum(np.searchsorted(within, wanted), len(within) - 1)
            known = within[row] == wanted
            result[known] = self.place.reshape(-1, 3)[row[known]]
        return result


def integrate_path(
    whole: np.ndarray,
    within: Within,
    at: Quantities,
    facing: np.ndarray,
    origins: np.ndarray,
    sliding: bool,
) -> Path:
    """Foot path along the knots.

    Args:
        whole: (11, n, steps) knots at the solver steps, rows as in
            `KNOT`.
        within: those between them.
        at: the quantities.
        facing: (n, 1) world yaw of the facing, rad.
        origins: (n, 3) where the foot is at the start, m.
        sliding: True if the speed is integrated.

    Returns:
        The path.
    """
    n = whole.shape[1]
    foot_speed, parts = _path_parts(whole, at, slice(None), facing, sliding)

    # Steps with knots inside are summed up part by part: one row for each.
    changed = np.diff(within.figure, prepend=-1) != 0
    changed |= np.diff(within.step, prepend=-1) != 0
    starts = np.flatnonzero(changed)
    figure, step = within.figure[starts], within.step[starts]
    row = np.cumsum(changed) - 1
    place = np.arange(len(row)) - starts[row] + 1
    width = int(place.max(initial=0)) + 2
    knots = np.repeat(whole[:, figure, step + 1][:, :, None], width, axis=2)
    knots[:, :, 0] = whole[:, figure, step]
    knots[:, row, place] = within.knots
    _, pieces = _path_parts(knots, at, figure, facing[figure], sliding)
    for part, piece in zip(parts, pieces, strict=True):
        part[figure, step] = piece.sum(axis=1)

    axes = None
    if len(parts) == 3:  # one plane: along and across the facing
        time = np.zeros((n, 1))
        axes = plane_axes(facing, at("slope", time), at("slope_direction", time))[:2]

    def summed(
        parts: Sequence[np.ndarray], start: np.ndarray, who: np.ndarray | slice
    ) -> tuple[np.ndarray, np.ndarray]:
        length, *result = (_sum_up(part) for part in parts)
        if axes is None:
            return length, np.stack(result, axis=-1) + start
        along, across = result
        return length, in_world(along, across, axes[0][who], axes[1][who], start)

    length, position = summed(parts, origins[:, None], slice(None))
    _, places = summed(pieces, position[figure, step][:, None], figure)
    time = knots[KNOT.index("time")]
    return Path(position, length, foot_speed, figure, time, places)


def _sum_up(parts: np.ndarray) -> np.ndarray:
    """Sums up to each knot: (n, m) of (n, m - 1)."""
    total = np.zeros((len(parts), parts.shape[1] + 1))
    np.cumsum(parts, axis=1, out=total[:, 1:])
    return total


def _path_parts(
    knots: np.ndarray,
    at: Quantities,
    who: np.ndarray | slice,
    facing: np.ndarray,
    sliding: bool,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """What the foot goes between knots, by Simpson's rule.

    x' = V_f t(psi) with V_f = V + l sin(theta) psi' (Eq. 21 with C = psi'/V_f).
    Half way between knots, lean and yaw are those of the cubics through value
    and rate at both ends: order 4, since the knots stand at every corner.

    Args:
        knots: (11, n, m), rows as in `KNOT`.
        at: the quantities.
        who: (n,) whose knots they are.
        facing: (n, 1) world yaw of the facing, rad.
        sliding: True if the speed is integrated.

    Returns:
        (n, m) V_f at the knots, m/s; and (n, m - 1) length, and the components:
        along and across the facing if the ground stays the same plane, else
        those of the world, m.
    """
    time, theta, omega, psi, v, turn, accel = (
        knots[KNOT.index(name)] for name in ("time", "theta", "omega", "psi", "v", "turn", "accel")
    )
    dt = time[:, 1:] - time[:, :-1]
    middle = time[:, :-1] + 0.5 * dt
    eighth, sixth = 0.125 * dt, dt / 6.0

    def half_way(x: np.ndarray, rate: np.ndarray) -> np.ndarray:
        return 0.5 * (x[:, 1:] + x[:, :-1]) + eighth * (rate[:, :-1] - rate[:, 1:])

    psi_m = half_way(psi, turn)
    turn_m = (1.5 * (psi[:, 1:] - psi[:, :-1])) / np.where(dt > 0.0, dt, 1.0)
    turn_m -= 0.25 * (turn[:, 1:] + turn[:, :-1])
    v_m = half_way(v, accel) if sliding else at("speed", middle, who)
    foot = v + at("height", time, who) * np.sin(theta) * turn
    foot_m = v_m + at("height", middle, who) * np.sin(half_way(theta, omega)) * turn_m
    # What start, middle and end of each part give to its length.
    shares = (sixth * foot[:, :-1], 4.0 * sixth * foot_m, sixth * foot[:, 1:])

    def part(ends: np.ndarray, between: np.ndarray) -> np.ndarray:
        return shares[0] * ends[:, :-1] + shares[1] * between + shares[2] * ends[:, 1:]

    length = shares[0] + shares[1] + shares[2]
    slope, direction = at("slope", time, who), at("slope_direction", time, who)
    if slope.shape[1] == 1 and direction.shape[1] == 1:
        components = part(np.cos(psi), np.cos(psi_m)), part(np.sin(psi), np.sin(psi_m))
        return foot, [length, *components]
    forward = ground_frame(psi, facing, slope, direction)[0]
    slope, direction = at("slope", middle, who), at("slope_direction", middle, who)
    forward_m = ground_frame(psi_m, facing, slope, direction)[0]
    return foot, [length, *(part(forward[..., i], forward_m[..., i]) for i in range(3))]
