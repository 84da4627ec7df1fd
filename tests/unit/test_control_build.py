# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables over state space and the controllers that dynamic programming puts into them."""

import math

import numpy as np
import pytest
from poise.solvers.control.build import UNKNOWN, build
from poise.solvers.control.grid import Axis, Grid, around
from poise.solvers.errors import SettingError


def test_interpolation_is_exact_for_what_is_linear_in_every_coordinate():
    grid = Grid.of([Axis("x", [0.0, 0.3, 1.0]), Axis("y", [-1.0, 0.5, 2.0, 2.5])])
    rng = np.random.default_rng(0)
    states = rng.uniform([0.0, -1.0], [1.0, 2.5], (200, 2))
    indices, weights, inside = grid.corners(states)

    def bilinear(s):
        return 1.0 + 2.0 * s[..., 0] - s[..., 1] + 3.0 * s[..., 0] * s[..., 1]

    assert inside.all()
    # Bilinear within a cell whose corners it is given at.
    np.testing.assert_allclose(
        (weights * bilinear(grid.states())[indices]).sum(axis=1), bilinear(states), atol=1e-12
    )
    assert not grid.corners(np.array([[1.2, 0.0]]))[2][0]


def test_axes_that_wrap_have_neighbours_across_their_ends():
    axis = Axis("angle", np.radians(np.arange(-180, 180, 10)), 2 * math.pi)
    grid = Grid.of([axis])
    indices, weights, inside = grid.corners(np.radians([[175.0], [-535.0], [190.0]]))
    assert inside.all()
    np.testing.assert_array_equal(indices, [[35, 0], [0, 1], [1, 2]])
    np.testing.assert_allclose(weights, [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]], atol=1e-9)
    assert axis.difference(np.radians(350.0)) == pytest.approx(np.radians(-10.0))
    np.testing.assert_allclose(np.degrees(grid.spacing()[0]), [[10.0, 10.0]])


@pytest.mark.parametrize("power", [1.0, 1.4, 2.0])
def test_nodes_are_denser_around_their_centre(power):
    nodes = around(-3.0, 5.0, 21, 1.0, power)
    gaps = np.diff(nodes)
    assert len(nodes) == 21 and nodes[0] == -3.0 and nodes[-1] == 5.0 and 1.0 in nodes
    centre = int(np.flatnonzero(nodes == 1.0)[0])
    assert (np.diff(gaps[centre:]) > -1e-12).all() and (np.diff(gaps[:centre]) < 1e-12).all()
    if power == 1.0:
        np.testing.assert_allclose(gaps, 0.4, atol=1e-12)


def _double_integrator(states, controls):
    return np.stack([states[:, 1], controls[:, 0]], axis=1)


def _least_time(x, v):
    """Of x'' = u, |u| <= 1, to rest at 0: the textbook's (Bryson and Ho, 1975, sec. 3.9)."""
    side = np.where(x > -0.5 * v * np.abs(v), 1.0, -1.0)
    return side * v + np.sqrt(2.0 * v**2 + 4.0 * side * x)


def _error(count, power=1.0):
    axes = [Axis(name, around(-2.0, 2.0, count, 0.0, power)) for name in ("x", "v")]
    grid = Grid.of(axes)
    states = grid.states()
    table = build(
        grid, _double_integrator, np.linspace(-1, 1, 5)[:, None], np.zeros(1),
        (states == 0.0).all(axis=1), tolerance=1e-4, sweeps=2000,
    )
    near = (np.abs(states) <= 1.0).all(axis=1) & table.reached
    exact = _least_time(states[:, 0], states[:, 1])
    return np.abs(table.cost - exact)[near].mean() / exact[near].mean(), table, exact


def test_least_time_of_a_double_integrator_is_approached():
    # Along the curve on which the best control switches, values of nodes on either side
    # differ by much, and interpolation lets the worse ones in: tables say too much.
    errors = [_error(count)[0] for count in (11, 21, 81)]
    assert errors[0] > errors[1] > errors[2]
    _, table, exact = _error(41, 1.5)
    assert (table.cost >= exact - 0.1)[table.reached].all()
    assert _error(41, 1.5)[0] < 0.25 < _error(41)[0]


def test_control_switches_where_the_closed_form_does():
    _, table, _ = _error(41)
    states = table.grid.states()
    x, v = states.T
    switch = x + 0.5 * v * np.abs(v)
    clear = (np.abs(switch) > 0.25) & (np.abs(states) <= 1.0).all(axis=1)
    right = np.sign(table.controls[clear, 0]) == -np.sign(switch[clear])
    assert right.mean() > 0.95


def test_states_without_a_way_are_known_as_such():
    # Nothing but braking to the right: who is left of the goal and moves left never comes.
    axes = [Axis(name, np.linspace(-2.0, 2.0, 21)) for name in ("x", "v")]
    grid = Grid.of(axes)
    states = grid.states()
    table = build(
        grid, _double_integrator, np.array([[-1.0], [0.0]]), np.zeros(1),
        (states == 0.0).all(axis=1), tolerance=1e-4, sweeps=2000,
    )
    lost = (states[:, 0] < -0.3) & (states[:, 1] < -0.3)
    assert not table.reached[lost].any()
    assert table.reached.any()
    assert (table.cost[~table.reached] <= UNKNOWN).all()


def test_nodes_that_may_not_be_passed_are_gone_around_or_not_at_all():
    # Steps along a street with a wall across it: beyond the wall there is no way.
    axes = [Axis("x", np.linspace(-1.0, 1.0, 21)), Axis("y", np.linspace(-1.0, 1.0, 21))]
    grid = Grid.of(axes)
    states = grid.states()
    rays = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])

    def walk(_, controls):
        return controls

    def wall(at):
        return (np.abs(at[:, 0] - 0.5) < 0.06) & (at[:, 1] > -0.75)

    goal = (states == 0.0).all(axis=1)
    table = build(grid, walk, rays, np.zeros(2), goal, blocked=wall)
    beyond = int(np.argmin(np.abs(states - [1.0, 0.0]).sum(axis=1)))
    # Around the wall's end at y = -0.8, along the axes: 1.0 + 2 * 0.8.
    assert table.cost[beyond] == pytest.approx(2.6, abs=0.05)
    closed = build(
        grid, walk, rays, np.zeros(2), goal, blocked=lambda at: np.abs(at[:, 0] - 0.5) < 0.06
    )
    assert not closed.reached[beyond]
    # Thinner than what lies between nodes: all of these are free, and what crosses it is not.
    thin = build(
        grid, walk, rays, np.zeros(2), goal, blocked=lambda at: np.abs(at[:, 0] - 0.55) < 0.014
    )
    assert not thin.reached[beyond] and thin.reached[states[:, 0] < 0.55].all()


@pytest.mark.parametrize(
    ("nodes", "period"), [([0.0], 0.0), ([0.0, 0.0], 0.0), ([1.0, 0.5], 0.0), ([0.0, 7.0], 6.0)]
)
def test_axes_that_are_none_are_refused(nodes, period):
    with pytest.raises(SettingError, match="Nodes of x"):
        Axis("x", nodes, period)
