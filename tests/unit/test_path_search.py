# SPDX-License-Identifier: GPL-3.0-or-later
"""The branch-and-bound of van de Panne et al. (1993), section 6.1: its physics and its optimum."""

import importlib.util
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lab import courses
from poise.solvers.path import Disc, Gate, MovingDisc, PathScene, PathSettings
from poise.solvers.path.lookahead import FallTable
from poise.solvers.path.nodes import ALONG, CODE, COST, CURVATURE, RATE, STAGE, THETA
from poise.solvers.path.search import GRAIN
from poise.solvers.path.settings import CALM, SpeedCourse
from poise.solvers.path.stages import lean_acceleration, simulate
from poise.solvers.turning.equations import PARAMETERS, make_equations
from poise.solvers.turning.pendulum import effective_length
from scipy.integrate import solve_ivp

_spec = importlib.util.spec_from_file_location(
    "path_cases", Path(__file__).with_name("path_cases.py")
)
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

STRAIGHT = np.array([(0.0, 0.0), (0.0, -200.0)])
SKI = PathSettings()
SLOW = replace(SKI, speed=4.0)  # so slow that the largest rate tried is the limit
BICYCLE = PathSettings(
    speed=6.0, max_curvature=0.5, max_curvature_rate=2.0, mass=85.0, height=1.1, inertia=8.0
)


# --- the motion through a stage ------------------------------------------------------


@pytest.mark.parametrize("settings", [SKI, BICYCLE])
def test_lean_follows_the_equations_of_the_turning_solver(settings):
    rng = np.random.default_rng(1)
    theta = rng.uniform(-0.5, 0.5, 500)
    curvature = rng.uniform(-1.0, 1.0, 500) * settings.max_curvature
    known = {
        "speed": settings.speed,
        "g_normal": settings.gravity,
        "J": effective_length(settings.mass, settings.height, settings.inertia),
        "height": settings.height,
    }
    p = tuple(known.get(name, 0.0) for name in PARAMETERS)
    law = make_equations(np.sin, np.cos, False, False, True)
    alpha, turn, *_ = law.forced(theta, 0.0, 0.0, settings.speed, curvature, p)
    ours = lean_acceleration(theta, curvature, settings.speed, settings)
    assert np.max(np.abs(ours - alpha)) < 1e-12
    motion = simulate(
        np.array([0 * theta, 0 * theta, 0 * theta, theta, 0 * theta, curvature]),
        0 * theta, settings.speed, settings, math.inf, 1e-6, 1,
    )
    assert np.max(np.abs((motion.psi[1] - motion.psi[0]) / 1e-6 - turn)) < 1e-5


def exact_stage(state, rate, speed, s, seconds):
    """A stage by scipy's order 8 method: an independent way."""
    j = effective_length(s.mass, s.height, s.inertia)

    def rates(t, z):
        _, _, psi, theta, omega = z
        c, v = state[5] + rate * t, speed(t)
        share = 1.0 - s.height * c * math.sin(theta)
        alpha = (s.gravity * math.sin(theta) - c * v * v * math.cos(theta) / share) / j
        foot = v / share
        return foot * math.sin(psi), -foot * math.cos(psi), c * foot, omega, alpha

    return solve_ivp(rates, (0.0, seconds), state[:5], "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


@pytest.mark.parametrize("varying", [False, True])
def test_stages_converge_with_order_four(varying):
    s = SKI
    state = np.array([1.0, 2.0, 0.3, 0.25, -0.8, 0.05])
    rate = 0.5
    speed = (lambda t: 8.0 + math.sin(3.0 * t)) if varying else (lambda t: 8.0)
    exact = exact_stage(state, rate, speed, s, 0.6)
    errors = []
    for steps in (3, 6, 12, 24):
        h = 0.6 / steps
        v = np.array([[speed(0.5 * h * i)] for i in range(2 * steps + 1)]) if varying else 8.0
        motion = simulate(state[:, None], np.array([rate]), v, s, math.inf, h, steps)
        end = [value[-1, 0] for value in (motion.x, motion.y, motion.psi, motion.theta)]
        errors.append(float(np.max(np.abs(np.array(end) - exact[:4]))))
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.all(orders > 3.3) and orders[-1] > 3.8
    assert errors[1] < 5e-4 and errors[3] < 2e-6


def test_a_lean_that_peaks_within_a_step_is_seen():
    """The figure swings up to its largest lean and back between two instants."""
    state = np.array([[0.0], [0.0], [0.0], [0.48], [0.35], [0.2]])
    fine = simulate(state, np.zeros(1), 8.0, SKI, math.inf, 0.001, 100)
    top = float(fine.theta.max())
    assert top > max(0.48, float(fine.theta[-1, 0])) + 5e-3
    assert len(simulate(state, np.zeros(1), 8.0, SKI, top - 2e-3, 0.1, 1).kept) == 0
    assert len(simulate(state, np.zeros(1), 8.0, SKI, top + 2e-3, 0.1, 1).kept) == 1


def test_a_right_hand_motion_is_the_mirror_image_of_a_left_hand_one():
    rng = np.random.default_rng(2)
    state = rng.uniform(-0.2, 0.2, (6, 100))
    rate = rng.uniform(-0.8, 0.8, 100)
    flip = np.array([-1.0, 1.0, -1.0, -1.0, -1.0, -1.0])[:, None]
    a = simulate(state, rate, 8.0, SKI, math.inf, 0.1, 3)
    b = simulate(state * flip, -rate, 8.0, SKI, math.inf, 0.1, 3)
    assert np.array_equal(a.theta, -b.theta) and np.array_equal(a.x, -b.x)
    assert np.array_equal(a.y, b.y)


# --- children --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "largest"), [(SLOW, 0.8), (SKI, 9.81 * math.tan(math.radians(30.0)) / 64.0 / 0.3)]
)
def test_rates_run_evenly_from_minus_to_plus_the_largest(settings, largest):
    """The limit, or from straight on to a steady turn, C = g tan(lean) / V^2, in a stage."""
    _, planner, _ = cases.planner_and_root(PathScene((STRAIGHT,)), settings)
    assert planner.rates[0] == 0.0
    assert np.sort(planner.rates) == pytest.approx(np.linspace(-largest, largest, 7), abs=2e-9)
    # The smaller first, and to the left before to the right.
    assert planner.rates[1] == -planner.rates[2] > 0.0


def test_curvature_is_kept_within_its_limit_and_equal_children_made_once():
    _, planner, (floats, ints) = cases.planner_and_root(PathScene((STRAIGHT,)), SLOW)
    planner.begin(0.0)
    floats[CURVATURE] = 0.15
    children = planner.expand(floats, ints, ahead=False)
    ends = children.floats[CURVATURE]
    assert np.max(ends) == SKI.max_curvature
    assert len(set(ends.tolist())) == len(ends)
    # 0.15, 0.15 -+ 0.08, 0.15 - 0.16, 0.15 - 0.24 and the limit.
    assert sorted(ends) == pytest.approx([-0.09, -0.01, 0.07, 0.15, 0.2], abs=1e-12)
    # Of those that end on the limit, the smallest rate is kept: the first to the left.
    assert children.ints[CODE][np.argmax(ends)] == 1
    floats[CURVATURE], floats[THETA] = 0.2, 0.4
    ends = planner.expand(floats, ints, ahead=False).floats[CURVATURE]
    assert sorted(ends) == pytest.approx([-0.04, 0.04, 0.12, 0.2], abs=1e-12)


def test_costs_are_the_distances_after_each_substep():
    path = np.array([(2.0, 10.0), (2.0, -200.0)])  # 2 m to the left of a straight run
    ready, planner, _ = cases.planner_and_root(PathScene((path,)), SKI)
    planner.begin(0.0)
    floats, ints = planner.root(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 10.0]), 24, 0)
    children = planner.expand(floats, ints)
    straight = np.flatnonzero(children.ints[CODE] == 0)[0]
    assert children.floats[COST, straight] == pytest.approx(3 * 2.0, abs=1e-9)
    assert children.floats[ALONG, straight] == pytest.approx(10.0 + 8.0 * 0.3, abs=1e-9)


def test_effort_is_what_a_change_of_steering_costs():
    """m e ((u - u_0) / u_max)^2 on top of the distances, which stay as they are."""
    path = np.array([(0.0, 10.0), (0.0, -200.0)])
    start = np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 10.0])
    settings = replace(SLOW, max_curvature=0.25)
    _, planner, _ = cases.planner_and_root(PathScene((path,)), settings)
    planner.begin(0.0)
    root = planner.root(start, 0, 0, 0.4)
    plain = planner.expand(*root, ahead=False)
    planner.settings = replace(settings, effort=0.2)
    calm = planner.expand(*root, ahead=False)
    assert np.array_equal(plain.ints, calm.ints)
    assert np.array_equal(plain.floats[:COST], calm.floats[:COST])
    rates = planner.rates[plain.ints[CODE]]
    assert len(set(rates)) == 7 and np.allclose(plain.floats[RATE], rates, atol=1e-12)
    expected = 3 * 0.2 * ((rates - 0.4) / 0.8) ** 2
    assert calm.floats[COST] - plain.floats[COST] == pytest.approx(expected, abs=GRAIN)
    assert np.min(expected) < 2e-2 < 1.0 < np.max(expected)


# --- the optimum --------------------------------------------------------------------------


def random_problem(seed):
    """A small problem: a random path, trees on it and a random start."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 45.0, 150)
    bend, length, shift = rng.uniform(0.0, 5.0), rng.uniform(18.0, 45.0), rng.uniform(0.0, 6.0)
    path = np.stack((bend * np.sin(2.0 * math.pi * t / length + shift), -t), axis=1)
    trees = tuple(
        Disc(np.array([rng.uniform(-3.0, 3.0) + path[0, 0], -rng.uniform(3.0, 12.0)]), 0.3)
        for _ in range(rng.integers(0, 7))
    )
    stages, values = ((3, 5), (4, 3), (3, 4), (2, 7))[seed % 4]
    settings = replace(
        (SKI, BICYCLE)[seed % 2],
        stages=stages,
        values=values,
        clearance=float(rng.uniform(0.0, 0.6)),
        batch=int(rng.choice([1, 4, 64])),
        stage=float(rng.choice([0.2, 0.3, 0.4])),
        substeps=int(rng.integers(2, 4)),
        least_progress=float(rng.choice([0.0, 0.2])),
    )
    start = (rng.uniform(-0.1, 0.1), rng.uniform(-0.2, 0.2), rng.uniform(-0.4, 0.4))
    return PathScene((path,), obstacles=trees), settings, start


@pytest.mark.parametrize("block", range(10))
def test_plans_are_the_best_of_all_plans(block):
    """240 random problems against trying every plan in plain floats."""
    trivial = none = 0
    for seed in range(24 * block, 24 * block + 24):
        scene, settings, (psi, theta, omega) = random_problem(seed)
        effort = (0.0, 0.2)[seed // 4 % 2]  # with each kind of problem
        settings = replace(settings, effort=effort)
        before = float(np.random.default_rng(seed).uniform(-0.5, 0.5)) if effort else 0.0
        ready, planner, (floats, _) = cases.planner_and_root(scene, settings)
        state = floats[:7, 0].copy()
        state[2:5] += (psi, theta, omega)
        goal = settings.least_progress * settings.stages * settings.stage * settings.speed
        cost, choices = cases.exhaustive(
            ready.course, scene, settings, planner.rates, state[:6], 0.0, goal, before
        )
        plan = planner.plan(planner.tree(*planner.root(state, 0, 0, before)), 0.0)
        plain = planner.plan_plainly(*planner.root(state, 0, 0, before), 0.0)
        broad = planner.plan_broadly(*planner.root(state, 0, 0, before), 0.0)
        assert not broad.complete or plan.cost <= broad.cost + 1e-10, seed
        assert plan.complete == plain.complete == (choices is not None), seed
        if choices is None:
            none += 1
            continue
        # A nearest vertex is not always the nearest segment: to a millimetre.
        assert plan.cost == pytest.approx(cost, abs=2e-3), seed
        assert plain.cost == pytest.approx(plan.cost, abs=1e-10), seed
        assert plain.choices == plan.choices, seed
        if abs(plan.cost - cost) < 1e-9:
            assert plan.choices == choices, seed
        trivial += not any(choices)
    assert trivial < 12 and none < 16


@pytest.mark.parametrize(
    "name, effort",
    [(name, CALM) for name in courses.SCENES] + [("slalom through gates", 0.0)],
)
def test_large_plans_are_those_found_one_node_at_a_time(name, effort):
    """Seven values and ten stages, along the first seconds of each scene."""
    scene, settings = courses.SCENES[name]()
    settings = replace(settings, effort=effort)
    _, planner, root = cases.planner_and_root(scene, settings)
    worked = 0
    for stage in range(12):
        time = stage * settings.stage
        plan = planner.plan(planner.tree(*root), time)
        if stage % 3 == 2:
            plain = planner.plan_plainly(*root, time)
            assert plan.complete and plain.complete
            assert plan.cost == pytest.approx(plain.cost, abs=1e-9)
            assert plan.choices == plain.choices
            worked = max(worked, plain.expanded)
        root = cases.root_of(planner, plan)
    assert worked > 50


@pytest.mark.parametrize("effort", [0.0, CALM])
@pytest.mark.parametrize("name", ["tree skiing", "slalom through gates", "potholes"])
def test_what_is_left_of_the_tree_gives_the_plan_made_anew(name, effort):
    scene, settings = courses.SCENES[name]()
    settings = replace(settings, effort=effort)
    _, planner, root = cases.planner_and_root(scene, settings)
    tree = planner.tree(*root)
    reused = anew = 0
    for stage in range(15):
        plan = planner.plan(tree, stage * settings.stage)
        fresh = planner.plan(planner.tree(*root), stage * settings.stage)
        assert plan.cost == pytest.approx(fresh.cost, abs=1e-9)
        assert plan.choices == fresh.choices
        reused, anew = reused + plan.expanded, anew + fresh.expanded
        root = cases.root_of(planner, plan)
        tree.move_on(plan.choices[0])
        assert tree.ints[0, STAGE] == 0 and tree.floats[0, COST] == 0.0
    assert reused < 0.6 * anew


@pytest.mark.parametrize("effort", [0.0, CALM])
def test_moving_obstacles_and_changing_speed_keep_the_optimum(effort):
    t = np.arange(0.0, 20.0, 0.5)
    crossing = MovingDisc(t, np.stack((5.8 - 1.5 * t, -30.0 + 0.0 * t), axis=1), 1.0)
    count = 2 * 48 * 20 + 1
    settings = replace(SKI, speed=8.0 - 2.0 * np.linspace(0.0, 1.0, count), effort=effort)
    _, planner, root = cases.planner_and_root(
        PathScene((STRAIGHT,), obstacles=(crossing,)), settings
    )
    tree = planner.tree(*root)
    busy = 0
    for stage in range(12):
        plan = planner.plan(tree, stage * 0.3)
        if stage % 3 == 1:
            plain = planner.plan_plainly(*root, stage * 0.3)
            assert plan.cost == pytest.approx(plain.cost, abs=1e-9)
            assert plan.choices == plain.choices
            busy = max(busy, plain.expanded)
        root = cases.root_of(planner, plan)
        tree.move_on(plan.choices[0])
    assert busy > 50


def test_of_two_ways_alike_the_one_to_the_left_is_taken():
    """A tree in the middle of a straight path: the ways around it cost exactly the same."""
    scene = PathScene((STRAIGHT,), obstacles=(Disc(np.array([0.0, -16.0]), 0.5),))
    settings = replace(SKI, stages=8)
    _, planner, root = cases.planner_and_root(scene, settings)
    plans = [
        planner.plan(planner.tree(*root), 0.0),
        planner.plan_plainly(*root, 0.0),
    ]
    for batch in (1, 7, 500):
        planner.settings = replace(settings, batch=batch)
        plans.append(planner.plan(planner.tree(*root), 0.0))
    assert len({plan.choices for plan in plans}) == 1
    turned = next(planner.rates[i] for i in plans[0].choices if i)
    assert turned > 0.0


def test_same_plan_bit_for_bit():
    scene, settings = courses.tree_skiing()
    plans = []
    for _ in range(2):
        _, planner, root = cases.planner_and_root(scene, settings)
        plans.append(planner.plan(planner.tree(*root), 0.0))
    assert np.array_equal(plans[0].floats, plans[1].floats)
    assert plans[0].expanded == plans[1].expanded


def test_gates_are_passed_between_their_poles_or_the_plan_is_dropped():
    gate = Gate(np.array([2.5, -18.0]), np.array([0.8, -18.0]))
    settings = replace(SKI, clearance=0.2)
    ready, planner, root = cases.planner_and_root(PathScene((STRAIGHT,), gates=(gate,)), settings)
    plan = planner.plan(planner.tree(*root), 0.0)
    assert plan.complete
    y, x = plan.floats[:, 1], plan.floats[:, 0]
    assert 0.8 < np.interp(18.0, -y, x) < 2.5
    assert plan.ints[-1, 1] == 1
    free = planner_cost(PathScene((STRAIGHT,)), settings)
    assert plan.cost > free + 1.0


def planner_cost(scene, settings):
    _, planner, root = cases.planner_and_root(scene, settings)
    return planner.plan(planner.tree(*root), 0.0).cost


# --- the look-ahead --------------------------------------------------------------------


@pytest.mark.parametrize("settings", [SKI, BICYCLE, replace(SKI, max_lean=math.radians(50.0))])
def test_what_the_table_gives_up_falls_whatever_is_steered(settings):
    """Of many states the lost ones fall in time, even under the steering that helps most."""
    speed = SpeedCourse(settings.speed, 1.0)
    limit = settings.max_lean - 5e-4
    table = FallTable(settings, speed, limit, settings.stages)
    rng = np.random.default_rng(7)
    n = 4000
    theta = rng.uniform(-1.0, 1.0, n) * limit
    omega = rng.uniform(-2.5, 2.5, n)
    curvature = rng.uniform(-1.0, 1.0, n) * settings.max_curvature
    stages = rng.integers(1, settings.stages + 1, n)
    lost = table.lost(theta, omega, curvature, stages)
    assert 0.2 * n < np.count_nonzero(lost) < 0.9 * n
    h = settings.stage / settings.substeps

    def fallen(controls):
        """Whether states fall under controls (n, stages), each a share of the largest rate."""
        down, side = np.zeros(n, dtype=bool), np.zeros(n)
        state = np.zeros((6, n))
        state[3], state[4], state[5] = theta, omega, curvature
        for stage in range(settings.stages):
            raw = state[5] + controls[:, stage] * settings.max_curvature_rate * settings.stage
            end = np.clip(raw, -settings.max_curvature, settings.max_curvature)
            rate = (end - state[5]) / settings.stage
            motion = simulate(state, rate, settings.speed, settings, limit, h, settings.substeps)
            up = np.zeros(n, dtype=bool)
            up[motion.kept] = True
            every = simulate(state, rate, settings.speed, settings, math.inf, h, settings.substeps)
            falls = ~up & ~down & (stage < stages)
            side[falls] = np.sign(every.theta[:, falls].sum(axis=0))
            down |= falls
            state = np.array(
                [0 * end, 0 * end, 0 * end, np.clip(every.theta[-1], -1.5, 1.5),
                 every.omega[-1], end]
            )
        return down, side

    ones = np.ones((n, settings.stages))
    for controls in (ones, -ones, *(rng.choice([-1.0, -1 / 3, 0.0, 1 / 3, 1.0], ones.shape)
                                    for _ in range(20))):
        assert np.all(fallen(controls)[0][lost])
    # And it is not shy: most of what falls left though steered hard left is given up.
    doomed = (fallen(ones)[1] > 0.0) | (fallen(-ones)[1] < 0.0)
    assert np.all(doomed[lost])
    assert np.count_nonzero(lost) > 0.65 * np.count_nonzero(doomed)


def test_looking_ahead_saves_work_and_changes_nothing():
    scene, settings = courses.tree_skiing()
    _, planner, root = cases.planner_and_root(scene, settings)
    with_it = planner.plan(planner.tree(*root), 0.0)

    class Blind:
        def lost(self, theta, *_):
            return np.zeros(len(theta), dtype=bool)

    planner.falls = Blind()
    without = planner.plan(planner.tree(*root), 0.0)
    assert with_it.cost == without.cost and with_it.choices == without.choices
    assert with_it.expanded < without.expanded
