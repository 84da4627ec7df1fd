# SPDX-License-Identifier: GPL-3.0-or-later
"""The gain with which a pose is reached on time, against the equation of motion itself.

Source: Allen, Neff and Faloutsos, "Pose Control in Dynamic Conditions"; where its
conditions are wrong (the branch of W, the domain of Eq. 7) the right ones are derived in
poise.solvers.posing.gain.
"""

import math

import numpy as np
import pytest
from poise.solvers.posing import (
    aim,
    arrival_gain,
    critical_gain,
    damped_gain,
    move,
    remedies,
    rest_phase,
    set_point,
)
from poise.solvers.posing.gain import gone, influence
from scipy.integrate import solve_ivp
from scipy.special import lambertw


def _grid():
    """40,000 joints: start, rate, target from the set-point, time, inertia; hard ones, too."""
    rng = np.random.default_rng(7)
    n = 40_000
    start = rng.choice([-1.0, 1.0], n) * 10 ** rng.uniform(-6.0, 1.0, n)
    rate = rng.choice([-1.0, 1.0], n) * 10 ** rng.uniform(-4.0, 3.0, n)
    target = rng.choice([-1.0, 1.0], n) * 10 ** rng.uniform(-7.0, 1.0, n)
    time = 10 ** rng.uniform(-2.0, 1.0, n)
    start[:500] = 0.0  # at the set-point
    target[500:1000] = 0.0  # to the set-point
    rate[1000:1500] = 0.0
    # Where two gains meet, and as near it as numbers come: r = e^q (1 - 1e-16 ... 1e-4).
    near = slice(1500, 4000)
    q = -rng.uniform(0.01, 8.0, 2500)
    start[near] = np.abs(start[near])
    rate[near] = q * start[near] / time[near]
    target[near] = start[near] * np.exp(q) * (1.0 - 10 ** rng.uniform(-17.0, -4.0, 2500))
    return start, rate, target, time, 10 ** rng.uniform(-4.0, 3.0, n)


def _expected_count(start, rate, target, time):
    """How many positive gains (1 + q + a) e^-a = r has, from the shape of its left side."""
    with np.errstate(all="ignore"):
        q, r = time * rate / start, target / start
        two = (np.maximum(0.0, 1.0 + q) < r) & (r < np.exp(q))
        one = ((1.0 + q < r) & (r <= 0.0)) | ((0.0 < r) & (r <= 1.0 + q))
        count = np.where(q >= 0.0, (0.0 < r) & (r < 1.0 + q), np.where(two, 2, one))
        # From the set-point itself the way out comes back through whatever it passes.
        return np.where(start == 0.0, time * rate / target > 1.0, count)


def _meeting(start, rate, target, time):
    """Where two gains are so near that rounding decides whether they exist."""
    with np.errstate(all="ignore"):
        return np.abs(target / start * np.exp(-time * rate / start) - 1.0) < 1e-12


@pytest.mark.parametrize("firm", [True, False])
def test_critical_gain_meets_start_and_target_over_the_whole_grid(firm):
    start, rate, target, time, inertia = _grid()
    gain = critical_gain(start, rate, target, time, inertia, firm)
    found = gain.exists
    assert 10_000 < found.sum() < len(found)
    at_start = move(start, rate, gain.frequency, 1.0, 0.0)
    at_end = move(start, rate, gain.frequency, 1.0, time)[0]
    assert np.abs(at_start[0] - start)[found].max() == 0.0
    assert np.abs(at_start[1] - rate)[found].max() == 0.0
    assert np.abs(at_end - target)[found].max() < 1e-9
    assert (gain.frequency[found] > 0.0).all() and np.isnan(gain.frequency[~found]).all()
    np.testing.assert_allclose(
        gain.damping[found] ** 2, (4.0 * gain.stiffness * inertia)[found], rtol=1e-12
    )


def test_there_are_as_many_gains_as_the_equation_has_positive_roots():
    start, rate, target, time, inertia = _grid()
    count = critical_gain(start, rate, target, time, inertia).count
    expected = _expected_count(start, rate, target, time)
    meeting = _meeting(start, rate, target, time)
    np.testing.assert_array_equal(count[~meeting], expected[~meeting])
    assert (expected == 2).sum() > 1000 and (expected == 0).sum() > 1000


def test_the_right_branch_is_taken_where_the_principal_one_is_negative():
    # theta_0 = 1, omega_0 = 0, theta_d = 0.05, t_d = 1, m = 1: Eq. 6 with W_0 and W_-1.
    z = -0.05 * math.exp(-1.0)
    principal, other = (-2.0 * (1.0 + lambertw(z, k).real) for k in (0, -1))
    assert principal == pytest.approx(-1.9625, abs=1e-4)
    gain = critical_gain(1.0, 0.0, 0.05, 1.0)
    assert gain.damping == pytest.approx(other, rel=1e-12)
    assert gain.damping == pytest.approx(9.4877, abs=1e-4)
    assert gain.count == 1


def test_of_two_gains_the_firm_one_is_larger_and_both_arrive():
    firm = critical_gain(1.0, -2.0, 0.1, 1.0, firm=True)
    soft = critical_gain(1.0, -2.0, 0.1, 1.0, firm=False)
    assert firm.count == soft.count == 2
    assert firm.frequency > soft.frequency > 0.0
    for gain in (firm, soft):
        assert move(1.0, -2.0, gain.frequency, 1.0, 1.0)[0] == pytest.approx(0.1, abs=1e-12)


def test_nothing_overflows_where_the_literal_expression_does():
    # exp(-1 - t omega / theta_0) is beyond every float in the first two.
    start, rate = np.array([1e-3, -1e-9, 1e-200]), np.array([-5.0, 1e3, 7.0])
    target, time = np.array([-1e-3, 1e-9, 0.1]), np.array([2.0, 2.0, 0.5])
    gain = critical_gain(start, rate, target, time)
    np.testing.assert_allclose(
        move(start, rate, gain.frequency, 1.0, time)[0], target, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("ratio", [0.1, 0.4, 0.8, 1.0, 1.6])
def test_motion_under_control_is_what_the_equation_of_motion_does(ratio):
    start, rate, frequency, time = 0.7, -3.0, 4.0, 1.3

    def equation(_, y):
        return [y[1], -2.0 * ratio * frequency * y[1] - frequency**2 * y[0]]

    solved = solve_ivp(equation, (0.0, time), [start, rate], rtol=1e-12, atol=1e-13).y[:, -1]
    np.testing.assert_allclose(move(start, rate, frequency, ratio, time), solved, atol=1e-9)


@pytest.mark.parametrize("ratio", [0.05, 0.3, 0.7, 0.95, 1.4])
def test_gain_of_any_damping_arrives_with_the_fewest_swings(ratio):
    start, rate, target, time, _ = (value[1600::55] for value in _grid())
    firm, soft = (damped_gain(start, rate, target, time, ratio, firm=f) for f in (True, False))
    found = firm.exists
    assert found.sum() > 200
    for gain in (firm, soft):
        at_end = move(start, rate, gain.frequency, ratio, time)[0]
        assert np.abs(at_end - target)[found].max() < 1e-9
    assert (firm.frequency[found] >= soft.frequency[found]).all()
    # No gain below the softest: x(t) over a finely sampled range keeps its side of the target.
    some = np.flatnonzero(found)[::10]
    for i in some:
        a = np.linspace(1e-6, soft.frequency[i] * time[i] * 0.999, 4000)
        c, s = influence(a, ratio)
        off = start[i] * c + time[i] * rate[i] * s - target[i]
        scale = np.abs(off).max()
        assert (off * off[0] > -1e-9 * scale**2).all()


def test_damped_gain_of_ratio_one_is_the_critical_one():
    start, rate, target, time, _ = (value[::40] for value in _grid())
    for firm in (True, False):
        exact = critical_gain(start, rate, target, time, firm=firm)
        found = damped_gain(start, rate, target, time, 1.0, firm=firm)
        # Motion that fades to less than the smallest number before it arrives has no side,
        # nor have roots that are nearer to each other than numbers are.
        visible = ~(exact.frequency * time > 300.0) & ~_meeting(start, rate, target, time)
        np.testing.assert_array_equal(found.count[visible], exact.count[visible])
        same = visible & exact.exists
        off = np.abs(found.frequency / exact.frequency - 1.0)[same]
        at_end = move(start, rate, found.frequency, 1.0, time)[0]
        assert np.abs(at_end - target)[same].max() < 1e-9
        assert off.max() < 1e-4


def test_what_is_gone_keeps_its_digits():
    # 1 - (1 + a) e^-a = a^2/2 - a^3/3 + a^4/8 - ...
    a = np.array([1e-8, 1e-4, 1e-2])
    np.testing.assert_allclose(gone(a, 1.0), a**2 / 2 - a**3 / 3 + a**4 / 8 - a**5 / 30, rtol=1e-9)
    np.testing.assert_allclose(
        gone(np.array([0.499999, 0.500001]), 0.3),
        1.0 - influence(np.array([0.499999, 0.500001]), 0.3)[0],
        rtol=1e-13,
    )


def test_set_point_leaves_the_tension_of_the_way():
    start, pose, tension = 0.3, 1.1, 0.02
    point = set_point(start, pose, tension)
    assert pose - point == pytest.approx(tension * (start - point), rel=1e-12)


@pytest.mark.parametrize("ratio", [0.2, 0.6, 1.0])
def test_phase_from_rest_leaves_the_tension(ratio):
    tension = np.array([1e-4, 0.02, 0.5, 0.98])
    a = rest_phase(tension, ratio)
    np.testing.assert_allclose(influence(a, ratio)[0], tension, rtol=1e-10)
    if ratio == 1.0:
        w = lambertw(-tension / math.e, -1).real
        np.testing.assert_allclose(a, -1.0 - w, rtol=1e-9)


@pytest.mark.parametrize("ratio", [0.35, 1.0])
def test_joints_of_three_freedoms_are_in_their_poses_whatever_their_motion(ratio):
    rng = np.random.default_rng(3)
    way, rate = rng.normal(size=(2, 400, 3))
    rate *= 10 ** rng.uniform(-2.0, 2.0, (400, 1))
    way[:20] = 0.0  # already there, and moving
    rate[20:40] = 0.0
    time = rng.uniform(0.05, 2.0, 400)
    aimed = aim(way, rate, time, 0.02, ratio)
    at_end = move(aimed.offset, rate, aimed.frequency[:, None], ratio, time[:, None])[0]
    # theta(t) - theta_0 = x(t) - x_0 is the way.
    assert np.abs(at_end - aimed.offset - way).max() < 1e-9 * (1.0 + np.abs(aimed.offset).max())
    assert np.isfinite(aimed.frequency).all() and (aimed.frequency > 0.0).all()


def test_the_way_itself_keeps_the_tension_where_a_gain_exists():
    aimed = aim([[0.6, 0.0, 0.8]], [[0.3, 0.0, 0.4]], 0.5, 0.02)
    assert aimed.count[0] >= 1
    np.testing.assert_allclose(aimed.offset, [[-0.6 / 0.98, 0.0, -0.8 / 0.98]], atol=1e-12)


def test_latest_time_is_the_one_of_the_closed_form():
    # e = 0.02, 1 rad to go at 5 rad/s: ln(50)/0.98/5 = 0.7983 s.
    remedy = remedies(np.array([[1.0]]), np.array([[5.0]]), 0.9, 0.02)
    assert remedy.latest[0] == pytest.approx(math.log(50.0) / 0.98 / 5.0, rel=1e-12)
    assert aim([[1.0]], [[5.0]], 0.79, 0.02).count[0] == 2
    assert aim([[1.0]], [[5.0]], 0.81, 0.02).count[0] == 0


def test_each_remedy_alone_lets_the_joint_arrive_with_its_tension():
    rng = np.random.default_rng(11)
    way, rate = rng.normal(size=(2, 3000, 3))
    rate *= 10 ** rng.uniform(-1.0, 2.0, (3000, 1))
    time, tension = rng.uniform(0.1, 2.0, 3000), 10 ** rng.uniform(-3.0, -0.1, 3000)
    refused = aim(way, rate, time, tension).count == 0
    assert 300 < refused.sum() < 2500
    way, rate, time, tension = (x[refused] for x in (way, rate, time, tension))
    remedy = remedies(way, rate, time, tension)
    nearer = 1.0 - 1e-6
    assert aim(way, rate, remedy.latest * nearer, tension).count.all()
    assert not aim(way, rate, remedy.latest / nearer, tension).count.any()
    towards = (rate * way).sum(axis=1) / np.linalg.norm(way, axis=1)
    slower = rate * (remedy.fastest * nearer / towards)[:, None]
    assert aim(way, slower, time, tension).count.all()
    assert aim(way, rate, time, remedy.tension * nearer).count.all()
    assert (remedy.tension < tension).all()


@pytest.mark.parametrize("ratio", [0.3, 0.8, 1.0])
def test_wanted_arrival_velocity_is_had_within_the_span_that_is_said(ratio):
    rng = np.random.default_rng(5)
    n = 300
    way, rate = rng.normal(size=(2, n))
    time = rng.uniform(0.1, 2.0, n)
    span = arrival_gain(way, rate, time, 0.0, ratio)[2]
    share = rng.uniform(0.02, 0.98, n)
    wanted = span[:, 0] + share * (span[:, 1] - span[:, 0])
    gain, offset, _ = arrival_gain(way, rate, time, wanted, ratio)
    assert gain.exists.all()
    angle, velocity = move(offset, rate, gain.frequency, ratio, time)
    assert np.abs(angle - offset - way).max() < 1e-9
    np.testing.assert_allclose(velocity, wanted, atol=1e-9)
    beyond = span[:, 1] + 0.05 * (span[:, 1] - span[:, 0])
    assert not arrival_gain(way, rate, time, beyond, ratio)[0].exists.any()


def test_lowest_gain_arrives_as_under_a_constant_torque():
    # A -> 2 and B -> -1 as the gain goes to 0: v(t) = 2 D / t - v_0.
    _, _, span = arrival_gain(1.0, 0.0, 0.5, 1.0)
    assert span[1] == pytest.approx(2.0 * 1.0 / 0.5, rel=1e-6)
    assert span[0] == pytest.approx(0.0, abs=1e-9)
