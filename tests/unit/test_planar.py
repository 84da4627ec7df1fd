# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiler for planar figures, against closed forms and the spatial equations of motion."""

import math

import numpy as np
import pytest
from poise.solvers import rotations
from poise.solvers.dynamics import Figure, State, accelerations, generalised, pose
from poise.solvers.dynamics.planar import Link, Point, compile_figure
from poise.solvers.errors import SettingError
from scipy.integrate import solve_ivp

# A uniform rod along its own +X.
ROD = {"centre": (0.5, 0.0), "mass": 1.0, "inertia": 1.0 / 12.0}


def _chain(count, **more):
    return [
        Link(f"rod{i}", f"rod{i - 1}" if i else "", (1.0, 0.0) if i else (0.0, 0.0), **ROD, **more)
        for i in range(count)
    ]


def _tree():
    """A body with two legs and a bent tail, centres off the lines of the joints."""
    return [
        Link("body", "", (0.0, 0.0), (0.3, 0.1), 2.0, 0.2),
        Link("leg", "body", (0.1, -0.2), (0.2, 0.05), 0.7, 0.03),
        Link("shin", "leg", (0.4, 0.1), (0.15, -0.02), 0.4, 0.01),
        Link("tail", "body", (0.6, 0.15), (0.25, 0.0), 0.3, 0.02),
        Link("tip", "tail", (0.5, -0.1), (0.1, 0.08), 0.1, 0.004),
    ]


def test_pendulum_has_its_closed_form():
    # A uniform rod on a hinge, its angle from +X: theta'' = (T - m g l/2 cos theta) / (m l^2/3).
    rod = compile_figure(_chain(1))
    for angle in np.linspace(-3.0, 3.0, 7):
        found = rod.accelerations(math.sin, math.cos, (angle,), (2.0,), (0.7,))
        expected = (0.7 - 9.81 * 0.5 * math.cos(angle)) * 3.0
        assert found[0] == pytest.approx(expected, rel=1e-13)


def test_double_pendulum_has_its_closed_form():
    # Absolute angles p, q from straight down (rods of 1 kg and 1 m):
    # 4/3 p'' + 1/2 cos(p - q) q'' = -1/2 q'^2 sin(p - q) - 3/2 g sin p,
    # 1/2 cos(p - q) p'' + 1/3 q'' = +1/2 p'^2 sin(p - q) - 1/2 g sin q.
    p, q, dp, dq = 0.9, -0.5, 2.0, -3.0
    c, s = math.cos(p - q), math.sin(p - q)
    expected = np.linalg.solve(
        [[4 / 3, c / 2], [c / 2, 1 / 3]],
        [
            -0.5 * dq**2 * s - 1.5 * 9.81 * math.sin(p),
            0.5 * dp**2 * s - 0.5 * 9.81 * math.sin(q),
        ],
    )
    rods = compile_figure(_chain(2))
    down = -math.pi / 2
    found = rods.accelerations(
        math.sin, math.cos, (p + down, q - p), (dp, dq - dp), (0.0, 0.0)
    )
    np.testing.assert_allclose([found[0], sum(found)], expected, rtol=1e-12)


def test_a_chain_in_the_air_has_its_closed_form():
    # Two rods in line that nothing holds, pushed apart by a torque T in their joint: by symmetry
    # their centres stay, so that each turns about its own, at T / I, and the joint between them,
    # half a rod from both, moves aside at T / I l/2.
    rods = [
        Link("left", "", (0.0, 0.0), (-0.5, 0.0), 1.0, 1.0 / 12.0),
        Link("right", "left", (0.0, 0.0), (0.5, 0.0), 1.0, 1.0 / 12.0),
    ]
    made = compile_figure(rods, free=True, gravity=0.0)
    x, y, left, right = made.accelerations(
        math.sin, math.cos, (0.0,) * 4, (0.0,) * 4, (0.0, 0.7)
    )
    assert (x, y, left) == pytest.approx((0.0, -0.5 * 0.7 * 12.0, -0.7 * 12.0), rel=1e-12)
    assert right == pytest.approx(2.0 * 0.7 * 12.0, rel=1e-12)


@pytest.mark.parametrize(
    "links", [_chain(4), _chain(12), _tree()], ids=["chain", "twelve", "tree"]
)
def test_spatial_dynamics_with_parallel_hinges_give_the_same(links):
    rng = np.random.default_rng(3)
    made = compile_figure(links)
    n, names = len(links), [link.name for link in links]
    axes = np.zeros((n, 3, 3))
    axes[:, 0] = [0.0, 0.0, 1.0]
    inertias = np.zeros((n, 3, 3))
    inertias[:, 2, 2] = [link.inertia for link in links]
    figure = Figure(
        np.array([names.index(link.parent) if link.parent else -1 for link in links]),
        np.array([(*link.joint, 0.0) for link in links]),
        rotations.identity(n), axes, np.array([link.mass for link in links]),
        np.array([(*link.centre, 0.0) for link in links]), inertias,
    )
    for _ in range(5):
        q, v, torques = rng.uniform(-2, 2, n), rng.normal(size=n) * 3, rng.normal(size=n) * 2
        found = made.accelerations(math.sin, math.cos, q.tolist(), v.tolist(), torques.tolist())
        angles, rates = np.zeros((2, n, 3))
        angles[:, 0], rates[:, 0] = q, v
        at = pose(figure, State(angles, rates))
        weight = generalised(
            at, figure.masses[:, None] * [0.0, -9.81, 0.0], np.zeros((n, 3))
        )
        np.testing.assert_allclose(
            found, accelerations(figure, at, weight + torques), rtol=1e-10, atol=1e-10
        )


def test_one_source_serves_numbers_and_arrays():
    made = compile_figure(_tree(), free=True, points=[Point("shin", (0.3, 0.0))])
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, 7, 50))
    torques, forces = rng.normal(size=(5, 50)), rng.normal(size=(1, 2, 50))
    whole = made.accelerations(np.sin, np.cos, q, v, torques, forces)
    for i in range(0, 50, 7):
        one = made.accelerations(
            math.sin, math.cos, q[:, i].tolist(), v[:, i].tolist(), torques[:, i].tolist(),
            forces[:, :, i].tolist(),
        )
        np.testing.assert_allclose(one, [x[i] for x in whole], rtol=1e-9, atol=1e-9)


def _moved(made, q, v, seconds, torques=None, **options):
    d, zeros = made.coordinates, (0.0,) * len(made.names)

    def change(_, y):
        return [
            *y[d:], *made.accelerations(math.sin, math.cos, y[:d], y[d:], torques or zeros)
        ]

    solved = solve_ivp(change, (0.0, seconds), [*q, *v], method="DOP853", **options)
    return solved.y[:d, -1].tolist(), solved.y[d:, -1].tolist()


@pytest.mark.parametrize("free", [False, True])
def test_energy_and_momentum_are_kept(free):
    links = _tree()
    made = compile_figure(links, free, points=[Point(x.name, x.centre) for x in links])
    rng = np.random.default_rng(2)
    q, v = rng.uniform(-1, 1, made.coordinates).tolist(), rng.normal(size=made.coordinates).tolist()
    before = sum(made.energy(math.sin, math.cos, q, v))
    later = _moved(made, q, v, 10.0, rtol=1e-9, atol=1e-10)
    after = sum(made.energy(math.sin, math.cos, *later))
    scale = 9.81 * sum(x.mass for x in links)
    assert abs(after - before) < 1e-3 * scale
    if free:
        masses = np.array([x.mass for x in links])
        momenta = [
            masses @ np.array(made.points(math.sin, math.cos, *state))[:, 2:]
            for state in ((q, v), later)
        ]
        expected = momenta[0] + masses.sum() * np.array([0.0, -9.81]) * 10.0
        np.testing.assert_allclose(momenta[1], expected, rtol=1e-6)


def test_forces_on_points_are_the_gradient_of_their_work():
    made = compile_figure(_tree(), True, points=[Point("tip", (0.2, 0.1))])
    rng = np.random.default_rng(5)
    q, v = rng.normal(size=(2, made.coordinates))
    force, still = np.array([[3.0, -2.0]]), np.zeros((1, 2))
    args = (math.sin, math.cos, q.tolist(), v.tolist(), (0.0,) * 5)
    pulled, alone = (np.array(made.accelerations(*args, f.tolist())) for f in (force, still))
    # Power: what the force adds to the kinetic energy is F . velocity of the point.
    h = 1e-6
    energies = [
        made.energy(math.sin, math.cos, q.tolist(), (v + sign * h * (pulled - alone)).tolist())[0]
        for sign in (-1, 1)
    ]
    (point,) = made.points(math.sin, math.cos, q.tolist(), v.tolist())
    assert (energies[1] - energies[0]) / (2 * h) == pytest.approx(
        force[0] @ np.array(point[2:]), rel=1e-6
    )


def test_springs_and_dampers_have_their_closed_form():
    # A rod without weight on a spring: x = e^(-d t) cos(w t), k / I = 9, damper / I = 0.4.
    rod = Link("rod", centre=(0.5, 0.0), mass=1.0, inertia=1 / 12, spring=3.0, damper=0.4 / 3)
    made = compile_figure([rod], gravity=0.0)
    q, _ = _moved(made, (0.5,), (0.0,), 2.0, rtol=1e-10, atol=1e-12)
    d, w = 0.2, math.sqrt(9.0 - 0.04)
    expected = 0.5 * math.exp(-d * 2) * (math.cos(w * 2) + d / w * math.sin(w * 2))
    assert q[0] == pytest.approx(expected, rel=1e-7)


def test_joints_swing_back_from_their_limits():
    rod = Link("rod", **ROD, limits=(-1.0, 1.0))
    made = compile_figure([rod], gravity=0.0)
    furthest = 0.0
    q, v = (0.9,), (3.0,)
    for _ in range(40):
        q, v = _moved(made, q, v, 0.01, rtol=1e-8, atol=1e-10)
        furthest = max(furthest, q[0])
    # As deep as v / w / e, the deepest of a critically damped spring.
    assert furthest - 1.0 == pytest.approx(3.0 / 40.0 / math.e, rel=0.1)
    assert abs(v[0]) < 0.6 and q[0] < 1.0 + 1e-3


def test_the_source_can_be_read():
    text = compile_figure(_chain(2)).source
    assert "def accelerations(sin, cos, q, v, torques, forces=()):" in text
    assert "A1_0 = 0.5*cd1_0" in text


@pytest.mark.parametrize(
    ("links", "words"),
    [
        ([Link("a", mass=0.0)], "What turns with a is without mass"),
        ([Link("a", **ROD), Link("b", "a", (1.0, 0.0), mass=0.0)], "What turns with b is"),
        ([Link("a", "b", **ROD), Link("b", "a", **ROD), Link("c", **ROD)], "a tree: these hang"),
        ([Link("a", **ROD), Link("b", **ROD)], "Number of roots is 2"),
        ([Link("a", "x", **ROD), Link("b", **ROD)], "Parent of a is x"),
        ([Link("a", **ROD), Link("a", "a", **ROD)], "Link is a: it must be the only one"),
        ([Link("a b", **ROD)], "Name of a link is a b"),
        ([Link("a", mass=-1.0)], "Mass of a is -1.0: it must be at least 0"),
        ([Link("a", mass=float("nan"))], "A number of a"),
    ],
)
def test_figures_that_cannot_be_are_refused(links, words):
    with pytest.raises(SettingError, match=words):
        compile_figure(links)


def test_a_massless_link_that_carries_others_is_fine():
    links = [Link("boom", mass=0.0), Link("bob", "boom", (1.0, 0.0), **ROD)]
    with_bob = compile_figure(links)
    found = with_bob.accelerations(math.sin, math.cos, (0.3, 0.4), (0.0, 0.0), (0.0, 0.0))
    assert np.isfinite(found).all()
