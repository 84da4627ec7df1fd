# SPDX-License-Identifier: GPL-3.0-or-later
"""Equations of motion of articulated figures, against closed forms and conserved quantities."""

import math

import numpy as np
import pytest
from figure_cases import chain, random_state, random_tree
from poise.solvers import rotations
from poise.solvers.dynamics import (
    Carrier,
    Figure,
    State,
    accelerations,
    along,
    bias_forces,
    biases,
    carried_forces,
    generalised,
    mass_matrix,
    pose,
    rebased,
)
from poise.solvers.dynamics.exponential import jacobian, jacobian_rate
from poise.solvers.errors import SettingError
from scipy.integrate import solve_ivp

GRAVITY = np.array([0.0, 0.0, -9.81])


def _spread(figure, values):
    """(n, 3) of the joints from (m,) of their freedoms, a free root's first six left out."""
    out = np.zeros(3 * len(figure.parents))
    out[figure.freedoms] = values[-len(figure.freedoms) :]
    return out.reshape(-1, 3)


def _weight(figure, at):
    return generalised(at, figure.masses[:, None] * GRAVITY, np.zeros((len(figure.masses), 3)))


def _energy(figure, at):
    spins = (at.inertias @ at.spins[:, :, None])[:, :, 0]
    kinetic = 0.5 * (figure.masses @ (at.velocities**2).sum(1) + (spins * at.spins).sum())
    return kinetic - figure.masses @ (at.centres @ GRAVITY)


def test_spin_of_a_rotation_vector_is_the_derivative_of_its_turn():
    rng = np.random.default_rng(1)
    x, rate, h = rng.normal(size=(50, 3)) * 1.5, rng.normal(size=(50, 3)), 1e-5
    x[0], x[1] = 0.0, 1e-4

    def spin(time):
        at = x + rate * time
        return (jacobian(at) @ rate[:, :, None])[:, :, 0]

    before, after = (rotations.from_rotation_vector(x + rate * s) for s in (-h, h))
    turned = rotations.to_rotation_vector(
        rotations.multiply(rotations.conjugate(before), after)
    ) / (2 * h)
    np.testing.assert_allclose(spin(0.0), turned, atol=1e-8)
    np.testing.assert_allclose(jacobian_rate(x, rate), (spin(h) - spin(-h)) / (2 * h), atol=1e-8)


def test_rotation_vectors_come_back():
    rng = np.random.default_rng(2)
    x = rotations.normalise(rng.normal(size=(100, 3))) * rng.uniform(0.0, 3.1, (100, 1))
    x[:3] = [[0, 0, 0], [1e-9, 0, 0], [0, math.pi, 0]]
    back = rotations.to_rotation_vector(rotations.from_rotation_vector(x))
    np.testing.assert_allclose(back, x, atol=1e-12)
    np.testing.assert_allclose(
        rotations.to_rotation_vector(-rotations.from_rotation_vector(x[3:])), x[3:], atol=1e-12
    )


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.5, 3.0])
def test_pendulum_has_its_closed_form(angle):
    # A uniform rod on a hinge: theta'' = -3/2 g / l sin(theta).
    rod = chain(1, length=0.8, mass=2.0)
    at = pose(rod, State(np.array([[angle, 0, 0]]), np.array([[1.7, 0.0, 0.0]])))
    found = accelerations(rod, at, _weight(rod, at))
    assert found[0] == pytest.approx(-1.5 * 9.81 / 0.8 * math.sin(angle), abs=1e-12)


def test_double_pendulum_has_its_closed_form():
    # Two uniform rods, absolute angles p, q: (4/3) m l^2 p'' + (1/2) m l^2 (q'' cos(p - q)
    # + q'^2 sin(p - q)) = -(3/2) m g l sin p, (1/3) m l^2 q'' + (1/2) m l^2 (p'' cos(p - q)
    # - p'^2 sin(p - q)) = -(1/2) m g l sin q.
    m, length, g = 1.3, 0.7, 9.81
    p, q, dp, dq = 0.9, -0.5, 2.0, -3.0
    c, s = math.cos(p - q), math.sin(p - q)
    left = m * length**2 * np.array([[4 / 3, c / 2], [c / 2, 1 / 3]])
    right = m * length * np.array(
        [
            -1.5 * g * math.sin(p) - 0.5 * length * dq**2 * s,
            -0.5 * g * math.sin(q) + 0.5 * length * dp**2 * s,
        ]
    )
    expected = np.linalg.solve(left, right)
    rods = chain(2, length, m)
    state = State(np.array([[p, 0, 0], [q - p, 0, 0]]), np.array([[dp, 0, 0], [dq - dp, 0, 0]]))
    at = pose(rods, state)
    found = accelerations(rods, at, _weight(rods, at))
    np.testing.assert_allclose([found[0], found[0] + found[1]], expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_velocities_and_biases_are_derivatives(seed):
    figure, h = random_tree(7, seed), 1e-5
    angles, rates = random_state(figure, seed)
    before, here, after = (pose(figure, State(angles + rates * s, rates)) for s in (-h, 0.0, h))
    np.testing.assert_allclose(
        here.velocities, (after.centres - before.centres) / (2 * h), atol=1e-7
    )
    change = (after.velocities - before.velocities) / (2 * h)
    spin_bias, bias = biases(here)
    np.testing.assert_allclose(bias, change, atol=1e-6)
    np.testing.assert_allclose(spin_bias, (after.spins - before.spins) / (2 * h), atol=1e-6)
    y = rates.ravel()[figure.freedoms]
    for link in range(7):
        tip = np.array([0.3, -0.2, 0.4])
        past, point, to_come = (x.joints[link] + x.turns[link] @ tip for x in (before, here, after))
        moved = np.array([along(here, link, point, axis) @ y for axis in np.eye(3)])
        np.testing.assert_allclose(moved, (to_come - past) / (2 * h), atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_carried_figure_obeys_newton_in_the_space_that_carries(seed):
    """M y'' + b - Q is the virtual power of all links' accelerations in space, at any y''."""
    figure = random_tree(6, 10 + seed)
    rng = np.random.default_rng(seed)
    angles, rates = random_state(figure, seed)
    wanted = rng.normal(size=len(figure.freedoms)) * 3.0
    accel, spin, spin_rate = rng.normal(size=(3, 3)) * 2.0
    carrier = Carrier(accel, spin, spin_rate, np.zeros(3))
    at = pose(figure, State(angles, rates))
    left = (
        mass_matrix(figure, at) @ wanted
        + bias_forces(figure, at)
        - carried_forces(figure, at, carrier)
    )
    h = 2e-4

    def in_space(time):
        """Centres and angular momenta as seen from space, whose axes are the carrier's at 0."""
        # spin is the carrier's own to second order: R = exp(spin t + spin_rate t^2 / 2).
        turn = rotations.from_rotation_vector((spin * time + 0.5 * spin_rate * time**2)[None])[0]
        bent = _spread(figure, wanted)
        moved = angles + rates * time + bent * time**2 / 2
        there = pose(figure, State(moved, rates + bent * time))
        matrix = rotations.to_matrix(turn[None])[0]
        # d/dt exp: near 0 the body's spin is spin + spin_rate t + O(t^2).
        own = spin + spin_rate * time
        spins = there.spins + own
        momenta = (there.inertias @ spins[:, :, None])[:, :, 0]
        centres = there.centres @ matrix.T + 0.5 * accel * time**2
        return centres, momenta @ matrix.T

    (c0, l0), (c1, _), (c2, l2) = in_space(-h), in_space(0.0), in_space(h)
    forces = figure.masses[:, None] * (c0 - 2 * c1 + c2) / h**2
    torques = (l2 - l0) / (2 * h)
    right = generalised(at, forces, torques)
    np.testing.assert_allclose(left, right, rtol=2e-5, atol=2e-5 * np.abs(right).max())


def test_gravity_in_the_carrier_frame_is_the_weight():
    figure = random_tree(5, 3)
    at = pose(figure, State(*random_state(figure, 3)))
    felt = carried_forces(figure, at, Carrier(gravity=GRAVITY))
    np.testing.assert_allclose(felt, _weight(figure, at), rtol=1e-12)


def _fall(figure, state, seconds):
    """The figure's own motion from a state, without control; angles start anew each tenth."""
    k = len(figure.freedoms)

    def unpacked(y, state):
        angles, rates = (_spread(figure, y[i * k : (i + 1) * k]) for i in (0, 1))
        place, turn, velocity, spin = np.split(y[2 * k :], [3, 7, 10])
        turn = turn / np.linalg.norm(turn)
        return State(angles, rates, state.references, place, turn, velocity, spin)

    def change(_, y, state):
        state = unpacked(y, state)
        at = pose(figure, state)
        found = accelerations(figure, at, _weight(figure, at))
        root = found[:6] if figure.free else np.zeros(6)
        turned = 0.5 * rotations.multiply(np.concatenate([[0.0], state.spin]), state.turn)
        return np.concatenate([y[k : 2 * k], found[-k:], state.velocity, turned, root])

    for _ in range(round(seconds / 0.1)):
        state = rebased(figure, state)
        moving = [x.ravel()[figure.freedoms] for x in (state.angles, state.rates)]
        y = np.concatenate([*moving, state.place, state.turn, state.velocity, state.spin])
        solved = solve_ivp(
            change, (0.0, 0.1), y, args=(state,), method="DOP853", rtol=1e-6, atol=1e-8
        )
        state = unpacked(solved.y[:, -1], state)
    return state


@pytest.mark.parametrize("free", [False, True])
def test_a_chain_without_control_keeps_energy_and_momentum(free):
    balls = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    figure = chain(3, 0.4, 1.0, balls, free)
    # Rods as thin as lines have no moment about themselves: give them one.
    figure = Figure(
        figure.parents, figure.places, figure.rests, figure.axes, figure.masses, figure.centres,
        figure.inertias + np.eye(3) * 2e-3, free,
    )
    rng = np.random.default_rng(4)
    moving = figure.axes.any(axis=2)
    start = State(rng.uniform(-0.6, 0.6, (3, 3)) * moving, rng.normal(size=(3, 3)) * moving)
    if free:
        start = start._replace(velocity=np.array([0.5, 0.0, 2.0]), spin=rng.normal(size=3))
    ats = [pose(figure, state) for state in (start, _fall(figure, start, 10.0))]
    energies = [_energy(figure, at) for at in ats]
    scale = 9.81 * 0.4 * figure.masses.sum()
    assert np.ptp(energies) < 1e-3 * scale
    if free:
        # Momentum changes by the weight alone; about the common centre it keeps its moment.
        total = figure.masses.sum()
        momenta, moments = [], []
        for at in ats:
            centre = figure.masses @ at.centres / total
            momenta.append(figure.masses @ at.velocities)
            spins = (at.inertias @ at.spins[:, :, None])[:, :, 0].sum(0)
            arms = np.cross(at.centres - centre, figure.masses[:, None] * at.velocities)
            moments.append(spins + arms.sum(0))
        np.testing.assert_allclose(momenta[1], momenta[0] + total * GRAVITY * 10.0, rtol=1e-4)
        np.testing.assert_allclose(moments[1], moments[0], atol=1e-3 * np.abs(moments[0]).max())


def test_error_of_a_step_falls_with_its_order():
    # Runge and Kutta's fourth order: half the step, a sixteenth of the error.
    figure = chain(2, 0.5)

    def end(steps):
        h, y = 0.3 / steps, np.array([1.0, -0.5, 0.0, 0.0])

        def change(y):
            at = pose(figure, State(_spread(figure, y[:2]), _spread(figure, y[2:])))
            return np.concatenate([y[2:], accelerations(figure, at, _weight(figure, at))])

        for _ in range(steps):
            a = change(y)
            b = change(y + 0.5 * h * a)
            c = change(y + 0.5 * h * b)
            d = change(y + h * c)
            y = y + h / 6 * (a + 2 * b + 2 * c + d)
        return y

    coarse, middle, fine = end(30), end(60), end(120)
    order = math.log2(np.abs(coarse - middle).max() / np.abs(middle - fine).max())
    assert order == pytest.approx(4.0, abs=0.3)


def test_parallel_hinges_move_as_rods_in_a_plane():
    """Links about one axis, against Lagrange's equations of a planar chain of rods."""
    count, length, mass, g = 5, 0.6, 1.1, 9.81
    rng = np.random.default_rng(8)
    own, rate = rng.uniform(-1, 1, count), rng.normal(size=count) * 3
    p, dp = np.cumsum(own), np.cumsum(rate)  # absolute angles from the vertical
    # Coefficient of l^2 m cos(p_i - p_j): rods beyond the farther one, and half of it.
    beyond = np.array([[count - 1 - max(i, j) + 0.5 for j in range(count)] for i in range(count)])
    np.fill_diagonal(beyond, [count - 1 - i + 1.0 / 3.0 for i in range(count)])
    d = p[:, None] - p[None, :]
    left = mass * length**2 * beyond * np.cos(d)
    right = -mass * length**2 * (beyond * np.sin(d)) @ dp**2
    right -= mass * g * length * (count - 0.5 - np.arange(count)) * np.sin(p)
    expected = np.linalg.solve(left, right)
    figure = chain(count, length, mass)
    at = pose(figure, State(_spread(figure, own), _spread(figure, rate)))
    found = np.cumsum(accelerations(figure, at, _weight(figure, at)))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"masses": np.array([1.0, 0.0])}, "Mass is 0.0: it must be above 0 kg"),
        ({"parents": np.array([-1, 1])}, "Parent is 1"),
        ({"free": True}, "Roots is 1: it must be one without a joint"),
        ({"inertias": -np.tile(np.eye(3), (2, 1, 1))}, "Moment of inertia is -1"),
    ],
)
def test_figures_that_cannot_be_are_refused(change, words):
    whole = chain(2)
    fields = ("parents", "places", "rests", "axes", "masses", "centres", "inertias")
    given = {name: getattr(whole, name) for name in fields} | change
    with pytest.raises(SettingError, match=words):
        Figure(**given)
