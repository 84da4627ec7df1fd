# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves of least acceleration that are straight in the air.

What is added to the motion of a body, so that it goes over moved footprints
and is back where it was at the ends of a window, is the smoothing spline
(Reinsch 1967) that minimises

    sum over dimensions of  size^2 integral c''^2 / w dt
        + sum over footprints of  |c(t_i) - d_i|^2 / tau^3

with w the number of legs on the ground: who stands on more legs is pushed
more easily, and nothing pushes in the air. It is found as the bending line of
an elastic beam is, by finite elements: between two moments the curve is a
cubic, given by values and rates at its ends; a flight is a rigid link. So it
is exact, and its rate is continuous.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.sparse import block_diag, coo_array, csc_array, diags_array
from scipy.sparse.linalg import spsolve

NEAR = 2e-3  # s; moments that are nearer are one, but for those of liftoff and touchdown
STILL = 1e-7  # how a curve that is free at both ends is kept from going, of the strongest wish


@dataclass(frozen=True)
class Wishes:
    """Where a curve should go, and how much.

    Attributes:
        time: (m,) s.
        row: (m, d) share of each dimension in what is wished for.
        value: (m,) what it should be.
        weight: (m,) how much, 1/s^3 times the square of a dimension's size.
    """

    time: np.ndarray
    row: np.ndarray
    value: np.ndarray
    weight: np.ndarray


def moments(
    start: float, end: float, flights: np.ndarray, others: np.ndarray
) -> np.ndarray:
    """Ends of the elements of a curve.

    Args:
        start: of the curve, s.
        end: of it, s.
        flights: (k, 2) liftoffs and touchdowns between which nothing pushes, s.
        others: (m,) other moments at which the push may change, s.

    Returns:
        (n,) s, increasing, `start`, `end` and all of `flights` among them.
    """
    fixed = np.unique(np.concatenate(([start, end], np.clip(flights.ravel(), start, end))))
    others = np.sort(others[(others > start) & (others < end)])
    at = np.clip(np.searchsorted(fixed, others), 1, len(fixed) - 1)
    free = np.minimum(others - fixed[at - 1], fixed[at] - others) > NEAR
    kept: list[float] = []
    for moment in others[free].tolist():
        if not kept or moment - kept[-1] > NEAR:
            kept.append(moment)
    return np.unique(np.concatenate((fixed, kept)))


def least_push(
    time: np.ndarray,
    weight: np.ndarray,
    size: np.ndarray,
    ends: tuple[np.ndarray | None, np.ndarray | None],
    offset: np.ndarray | None = None,
    wishes: Wishes | None = None,
) -> CubicHermiteSpline:
    """The curve of least acceleration between two states; equation in the module.

    Args:
        time: (n,) ends of its elements, s, increasing.
        weight: (n - 1,) w of each; 0 where nothing pushes.
        size: (d,) size of a unit of each dimension.
        ends: (2, d) value and rate at each end, or None where it is free.
        offset: (n - 1, 2, d) by how much value and rate at the end of an
            element without push differ from what they would be straight on;
            None for nothing.
        wishes: what it should pass through; None for nothing.

    Returns:
        The curve, (n, d).
    """
    n, d = len(time), len(size)
    span = np.diff(time)
    aloft = np.asarray(weight) <= 0.0
    # Moments that rigid links join: all are those of the first of them.
    group = np.concatenate(([0], np.cumsum(~aloft)))
    first = np.concatenate(([True], ~aloft))
    gone = time - time[first][group]
    shift = np.zeros((n, 2, d))
    if offset is not None:
        for i in np.flatnonzero(aloft):
            shift[i + 1, 0] = shift[i, 0] + span[i] * shift[i, 1] + offset[i, 0]
            shift[i + 1, 1] = shift[i, 1] + offset[i, 1]
    count = int(group[-1]) + 1
    rows = np.concatenate((2 * np.arange(n), 2 * np.arange(n), 2 * np.arange(n) + 1))
    columns = np.concatenate((2 * group, 2 * group + 1, 2 * group + 1))
    link = coo_array(
        (np.concatenate((np.ones(n), gone, np.ones(n))), (rows, columns)), shape=(2 * n, 2 * count)
    )
    bend = _beam(span, np.where(aloft, 0.0, 1.0 / np.where(aloft, 1.0, weight)), n)
    stiff = block_diag([bend * float(s) ** 2 for s in size], format="csc")
    if ends[0] is None and ends[1] is None:
        # Wishes of one instant alone do not say how it goes: it does not go then.
        most = float(np.max(wishes.weight, initial=0.0)) if wishes is not None else 0.0
        pull = np.tile([STILL**2, STILL], n * d) * (most or 1.0)
        stiff = stiff + diags_array(pull, format="csc")
    links = block_diag([link] * d, format="csc")
    constant = np.moveaxis(shift, 2, 0).reshape(-1)
    right = np.zeros(2 * n * d)
    if wishes is not None and len(wishes.time):
        shape = _shape(time, wishes.time, wishes.row)
        scaled = shape * wishes.weight[:, None]
        stiff = stiff + csc_array(shape.T @ scaled)
        right += scaled.T @ wishes.value
    right -= stiff @ constant
    matrix, right = csc_array(links.T @ stiff @ links), links.T @ right
    # What is given at the ends.
    state = np.zeros(2 * count * d)
    given = np.zeros(len(state), dtype=bool)
    for node, end in ((0, ends[0]), (n - 1, ends[1])):
        if end is None:
            continue
        base = 2 * group[node] + 2 * count * np.arange(d)
        rate = end[1] - shift[node, 1]
        if given[base[0]]:
            continue  # one flight all along: it goes on as it began
        state[base + 1] = rate
        state[base] = end[0] - shift[node, 0] - gone[node] * rate
        given[base] = given[base + 1] = True
    free = np.flatnonzero(~given)
    if len(free):
        rest = right[free] - matrix[free][:, given] @ state[given]
        state[free] = spsolve(csc_array(matrix[free][:, free]), rest)
    nodes = (links @ state + constant).reshape(d, n, 2)
    return CubicHermiteSpline(time, nodes[:, :, 0].T, nodes[:, :, 1].T)


def _beam(span: np.ndarray, soft: np.ndarray, n: int) -> coo_array:
    """Integral of c''^2 over cubic elements, as a form of values and rates at their ends."""
    h = span
    one = np.ones_like(h)
    form = np.array([
        [12.0 * one, 6.0 * h, -12.0 * one, 6.0 * h],
        [6.0 * h, 4.0 * h * h, -6.0 * h, 2.0 * h * h],
        [-12.0 * one, -6.0 * h, 12.0 * one, -6.0 * h],
        [6.0 * h, 2.0 * h * h, -6.0 * h, 4.0 * h * h],
    ]) * soft / h**3
    place = 2 * np.arange(n - 1) + np.arange(4)[:, None]
    rows = np.broadcast_to(place[:, None], form.shape)
    columns = np.broadcast_to(place[None], form.shape)
    return coo_array((form.ravel(), (rows.ravel(), columns.ravel())), shape=(2 * n, 2 * n))


def _shape(time: np.ndarray, at: np.ndarray, row: np.ndarray) -> csc_array:
    """Values of the curve at moments, as a linear form of values and rates at the nodes."""
    n, d = len(time), row.shape[1]
    which = np.clip(np.searchsorted(time, at, side="right") - 1, 0, n - 2)
    h = np.diff(time)[which]
    s = np.clip((at - time[which]) / h, 0.0, 1.0)
    parts = np.stack((
        (1.0 + 2.0 * s) * (1.0 - s) ** 2, h * s * (1.0 - s) ** 2,
        s * s * (3.0 - 2.0 * s), h * s * s * (s - 1.0),
    ), axis=1)
    values = row[:, :, None] * parts[:, None, :]
    columns = 2 * n * np.arange(d)[None, :, None] + (2 * which[:, None] + np.arange(4))[:, None, :]
    rows = np.broadcast_to(np.arange(len(at))[:, None, None], values.shape)
    return csc_array(
        coo_array(
            (values.ravel(), (rows.ravel(), np.broadcast_to(columns, values.shape).ravel())),
            shape=(len(at), 2 * n * d),
        )
    )
