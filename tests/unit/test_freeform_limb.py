# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of limbs through postures, and their speed, apart from each other."""

from dataclasses import replace

import numpy as np
import pytest
from freeform_cases import BODY, pose
from poise.solvers import rotations
from poise.solvers.curves import catmull_rom
from poise.solvers.dynamics import Figure
from poise.solvers.errors import SettingError
from poise.solvers.freeform import PRESETS, Body, Limb, LimbPath, Pace
from poise.solvers.freeform.reach import Limits, limb_points, limited, lone_limb, reach
from poise.solvers.freeform.turns import TurnCurve
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import minimize

ARM = BODY.limbs[2]
LEG = BODY.limbs[0]


def _arms(*angles):
    """(k, 2, 4) left arms: forward, sideways and elbow in degrees."""
    postures = [pose(arms=(a, 0), sides=(s, 0), elbows=(e, 0)) for a, s, e in angles]
    return np.stack([p.joints[list(ARM.links)] for p in postures])


REACH = _arms((0, 0, 20), (60, 40, 70), (110, 10, 30), (80, -20, 80))


def _random_turns(count, joints, seed=3):
    rng = np.random.default_rng(seed)
    return rotations.continuous(rotations.normalise(rng.normal(size=(count, joints, 4))))


def test_turn_curves_pass_through_their_turns_smoothly():
    knots = np.array([0.0, 0.4, 1.5, 1.8, 3.0])
    turns = _random_turns(5, 6)
    curve = TurnCurve(knots, turns, True, np.zeros((4, 3)))
    # The same turn, whichever of its two signs.
    through = rotations.dot(curve(knots)[0], turns)
    np.testing.assert_allclose(np.abs(through), 1.0, atol=1e-14)
    # The spins are those of the turns, from either side of the knots.
    h = 1e-6
    for t in (*knots[1:-1] + 1e-9, *knots[1:-1] - 1e-9 - 2 * h, 0.9, 2.2):
        q = curve(np.array([t, t + h, t + 2 * h]))[0]
        step = rotations.multiply(rotations.conjugate(q[0]), q[2])
        found = rotations.to_rotation_vector(step) / (2 * h)
        np.testing.assert_allclose(found, curve(np.array([t + h]))[1][0], atol=1e-7)
    before, after = curve(knots[1:-1] - 1e-9)[1], curve(knots[1:-1] + 1e-9)[1]
    np.testing.assert_allclose(before, after, atol=1e-6)
    np.testing.assert_allclose(curve(knots[[0, -1]])[1], 0.0, atol=1e-12)


def test_turns_about_one_axis_are_hermite_cubics():
    # Exponentials about one axis commute: the curve is the cubic with the same rates.
    knots = np.array([0.0, 1.0, 2.5])
    angles = np.array([0.2, 1.1, 0.9])
    curve = TurnCurve(knots, rotations.about_z(angles)[:, None], False, np.zeros((2, 3)))
    rates = curve(knots)[1][:, 0, 2]
    t = np.linspace(0.0, 2.5, 40)
    expected = CubicHermiteSpline(knots, angles, rates)(t)
    found = 2.0 * np.arctan2(curve(t)[0][:, 0, 3], curve(t)[0][:, 0, 0])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_turn_curves_neither_flip_nor_go_the_longer_way():
    turns = _random_turns(8, 10, seed=5)
    curve = TurnCurve(np.arange(8.0), turns, True, np.zeros((7, 3)))
    q = curve(np.linspace(0.0, 7.0, 7001))[0]
    assert (rotations.dot(q[1:], q[:-1]) > 0.999).all()
    step = rotations.to_rotation_vector(
        rotations.multiply(rotations.conjugate(turns[:-1]), turns[1:])
    )
    moved = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(q[:-1]), q[1:]))
    way = np.linalg.norm(moved, axis=2).sum(axis=0)
    assert (way < 1.6 * np.linalg.norm(step, axis=2).sum(axis=0)).all()


def test_equal_postures_are_held_still():
    turns = _random_turns(4, 3)
    turns[2] = turns[1]
    q, spin = TurnCurve(np.arange(4.0), turns, True, np.zeros((3, 3)))(np.linspace(1, 2, 11))
    np.testing.assert_allclose(spin, 0.0, atol=1e-9)
    np.testing.assert_allclose(np.abs(rotations.dot(q, turns[1])), 1.0, atol=1e-14)


def test_whole_turns_are_counted():
    turn = rotations.about_z(np.array([0.3, 0.3 - 0.5]))[:, None]
    curve = TurnCurve(np.array([0.0, 2.0]), turn, False, np.array([[0.0, 0.0, 3.0]]))
    q, spin = curve(np.linspace(0.0, 2.0, 400))
    yaw = np.unwrap(2.0 * np.arctan2(q[:, 0, 3], q[:, 0, 0]), period=2.0 * np.pi)
    assert yaw[-1] - yaw[0] == pytest.approx(6.0 * np.pi - 0.5, abs=1e-9)
    np.testing.assert_allclose(spin[:, 0, 2], (6.0 * np.pi - 0.5) / 2.0, rtol=1e-9)


def test_two_bones_reach_and_keep_their_knee_a_hinge():
    rng = np.random.default_rng(1)
    n = 60
    joints = np.tile(rotations.identity(11), (n, 1, 1))
    joints[:, 7] = rotations.from_rotation_vector(rng.normal(size=(n, 3)) * 0.5)
    joints[:, 8] = rotations.about_x(rng.uniform(0.1, 2.0, n))
    root, above = rng.normal(size=(n, 3)), rotations.normalise(rng.normal(size=(n, 4)))
    target = root + rotations.normalise(rng.normal(size=(n, 3))) * rng.uniform(0.2, 0.85, (n, 1))
    local, missing = reach(BODY, LEG, root, above, joints, target)
    out = joints.copy()
    out[:, [7, 8]] = local
    tip = limb_points(BODY, LEG, root, above, out)[1][:, -1]
    np.testing.assert_allclose(tip, target, atol=1e-12)
    np.testing.assert_allclose(missing, 0.0, atol=1e-12)
    # It was bent about X; from 6 degrees on the side of the limb itself hardly counts.
    axis = rotations.to_rotation_vector(local[:, 1])
    assert (axis[:, 0] > 0.0).all()
    np.testing.assert_allclose(axis[:, 1:], 0.0, atol=1e-9)


def test_limbs_that_stand_right_stay_and_those_too_far_say_by_how_much():
    joints = pose(hips=(50, 0), knees=(60, 0)).joints[None]
    root, above = np.zeros((1, 3)), rotations.identity(1)
    tip = limb_points(BODY, LEG, root, above, joints)[1][:, -1]
    np.testing.assert_allclose(
        reach(BODY, LEG, root, above, joints, tip)[0], joints[:, [7, 8]], atol=1e-9
    )
    far = np.array([[0.0, 0.6, -0.8]])  # 1 m away; the leg is 0.86 m long
    assert reach(BODY, LEG, root, above, joints, far)[1][0] == pytest.approx(0.14)


def _long_limb():
    """Four bones of 0.3, 0.25, 0.2 and 0.1 m: three balls and a hinge about X."""
    lengths = np.array([0.0, 0.3, 0.25, 0.2])
    axes = np.tile(np.eye(3), (5, 1, 1))
    axes[0] = 0.0
    axes[3, 1:] = 0.0
    places = np.zeros((5, 3))
    places[1:, 2] = -lengths
    figure = Figure(
        np.arange(5) - 1, places, rotations.identity(5), axes, np.ones(5), np.zeros((5, 3)),
        np.tile(np.eye(3), (5, 1, 1)), free=True,
    )
    limb = Limb("arm", (1, 2, 3, 4), np.array([0.0, 0.0, -0.1]), np.array([0.0, -1.0, 0.0]))
    return Body(figure, (limb,)), limb


def _arm_with_limits(links):
    """Bones of 0.3, 0.25 and 0.1 m; the upper arm twists by 30 degrees, the elbow is a hinge."""
    places = np.array([[0.0, 0.0, 0.0], [0.0, 0.3, 0.0], [0.0, 0.25, 0.0]])[:links]
    body, limb = lone_limb(
        places, rotations.identity(links), np.array([0.0, 0.1, 0.0]), np.array([0.0, 0.0, -1.0])
    )
    least, most = np.full((links, 3), -np.inf), np.full((links, 3), np.inf)
    least[0, 1], most[0, 1] = np.radians((-30.0, 30.0))
    least[1], most[1] = 0.0, np.radians((140.0, 0.0, 0.0))
    return body, limb, Limits(least, most, ("XYZ", "ZYX", "XYZ")[:links])


def _postures_within(count, links, rng):
    joints = np.tile(rotations.identity(links), (count, 1, 1))
    angles = rng.uniform(-1.0, 1.0, (count, 3)) * (1.0, 0.4, 1.0)
    joints[:, 0] = rotations.from_euler(angles)
    joints[:, 1] = rotations.about_x(rng.uniform(0.3, 2.2, count))
    return joints


@pytest.mark.parametrize("links", [2, 3])
def test_limbs_reach_within_the_limits_of_their_joints(links):
    body, limb, limits = _arm_with_limits(links)
    rng, n = np.random.default_rng(7), 150
    now, there = (_postures_within(n, links, rng) for _ in range(2))
    root, above = np.zeros((n, 3)), rotations.identity(n)
    target = limb_points(body, limb, root, above, there)[1][:, -1]
    local, missing = reach(body, limb, root, above, now, target, limits)
    assert missing.max() < 1e-9
    np.testing.assert_allclose(
        limb_points(body, limb, root, above, local)[1][:, -1], target, atol=1e-9
    )
    twist = rotations.to_euler(local[None, :, 0])[0, :, 1]
    assert np.abs(twist).max() <= np.radians(30.0) + 1e-9
    bend = rotations.to_rotation_vector(local[:, 1])
    np.testing.assert_allclose(bend[:, 1:], 0.0, atol=1e-12)
    assert bend[:, 0].min() >= -1e-12 and bend[:, 0].max() <= np.radians(140.0) + 1e-12
    # Where nothing has to change, nothing does; twisted too far it comes back, and no further.
    own = limb_points(body, limb, root, above, now)[1][:, -1]
    np.testing.assert_allclose(
        reach(body, limb, root, above, now, own, limits)[0], now, atol=1e-9
    )
    now[:, 0] = rotations.from_euler(np.array([0.3, 0.9, -0.2]))
    held = rotations.to_euler(limited(now, limits)[None, :, 0])[0]
    np.testing.assert_allclose(held, np.tile([0.3, np.pi / 6, -0.2], (n, 1)), atol=1e-12)


def test_what_limits_leave_out_of_reach_is_told():
    body, limb, limits = _arm_with_limits(2)
    # Nearer to the shoulder than the elbow folds: both bones and the angle between them.
    a, b = 0.3, 0.1
    nearest = np.sqrt(a**2 + b**2 + 2.0 * a * b * np.cos(np.radians(140.0)))
    root, above = np.zeros((1, 3)), rotations.identity(1)
    now = _postures_within(1, 2, np.random.default_rng(2))
    target = np.array([[0.02, nearest - 0.01, 0.0]])
    local, missing = reach(body, limb, root, above, now, target, limits)
    expected = nearest - np.linalg.norm(target)
    assert missing[0] == pytest.approx(expected, abs=1e-4)
    assert rotations.to_rotation_vector(local[:, 1])[0, 0] == pytest.approx(np.radians(140.0))


def test_redundant_limbs_stay_as_near_to_their_posture_as_they_can():
    body, limb = _long_limb()
    wanted = rotations.identity(5)[None].copy()
    wanted[0, 1:] = rotations.about_x(np.array([-0.5, 0.4, 0.6, 0.2]))
    root, above = np.zeros((1, 3)), rotations.identity(1)
    target = np.array([[0.2, -0.35, -0.45]])
    local, missing = reach(body, limb, root, above, wanted, target)
    assert missing[0] < 1e-9
    # The hinge turns about its axis only.
    np.testing.assert_allclose(local[0, 2, 2:], 0.0, atol=1e-12)

    def turned(x):
        by = x.reshape(4, 3) * [[1, 1, 1], [1, 1, 1], [1, 0, 0], [1, 1, 1]]
        out = wanted.copy()
        out[0, 1:] = rotations.multiply(wanted[0, 1:], rotations.from_rotation_vector(by))
        return out

    def off(x):
        return limb_points(body, limb, root, above, turned(x))[1][0, -1] - target[0]

    best = minimize(
        lambda x: x @ x, np.full(12, 0.01), constraints={"type": "eq", "fun": off},
        options={"ftol": 1e-12, "maxiter": 300},
    )
    apart = rotations.multiply(rotations.conjugate(wanted[0, 1:]), local[0])
    found = np.linalg.norm(rotations.to_rotation_vector(apart))
    assert found < 1.03 * np.sqrt(best.fun)


@pytest.mark.parametrize("end", [0.0, 0.4, 1.0])
def test_speed_along_a_limbs_path_is_constant(end):
    path = LimbPath(BODY, ARM, REACH, end)
    share = np.linspace(0.0, 1.0, 2001)
    joints, tip, missing = path.at(share)
    if end > 0.0:
        way = np.linalg.norm(np.diff(tip, axis=0), axis=1)
    else:
        step = rotations.multiply(rotations.conjugate(joints[:-1]), joints[1:])
        way = np.sqrt((rotations.to_rotation_vector(step) ** 2).sum(axis=(1, 2)))
    np.testing.assert_allclose(way, path.length / 2000.0, rtol=1e-3)
    assert missing.max() < 1e-4
    # The postures stand where the path says, exactly.
    found = path.at(path.shares)[0]
    np.testing.assert_allclose(np.abs(rotations.dot(found, REACH)), 1.0, atol=1e-9)


def test_an_ends_path_is_the_spline_through_the_postures_ends():
    path = LimbPath(BODY, ARM, REACH, 1.0)
    joints = np.tile(rotations.identity(11), (4, 1, 1))
    joints[:, [3, 4]] = REACH
    root = np.tile(BODY.figure.places[3], (4, 1))
    ends = limb_points(BODY, ARM, root, rotations.identity(4), joints)[1][:, -1]
    curve = catmull_rom(ends)
    dense = curve(np.linspace(0.0, curve.x[-1], 20001))
    tip = path.at(np.linspace(0.0, 1.0, 50))[1]
    away = np.linalg.norm(tip[:, None] - dense, axis=2).min(axis=1)
    assert away.max() < 1e-4  # m: 0.1 mm


def test_a_hand_turns_along_while_the_arm_is_led_by_its_end():
    still = np.tile(rotations.identity(1), (3, 1))
    places = np.array(((0, 0, 0), (0, 0, -0.3), (0, 0, -0.3)), float)
    body, limb = lone_limb(places, still, np.array((0, 0, -0.1)), np.array((0, -1.0, 0)))
    hand = replace(limb, links=(0, 1), tip=places[2], end=2)
    turns = rotations.about_z(np.array((0.0, 0.5, 1.4, 1.0)))
    path = LimbPath(Body(body.figure, (hand,)), hand,
                    np.concatenate([REACH, turns[:, None]], axis=1), 1.0)
    joints, _tip, missing = path.at(np.linspace(0.0, 1.0, 41))
    assert joints.shape == (41, 3, 4) and missing.max() < 1e-4
    angle = 2.0 * np.arctan2(joints[:, 2, 3], joints[:, 2, 0])
    found = path.at(path.shares)[0]
    np.testing.assert_allclose(np.abs(rotations.dot(found[:, 2], turns)), 1.0, atol=1e-9)
    assert angle.min() > -1e-9 and angle.max() < 1.6  # through the postures, by no detour


def test_a_reach_is_minimum_jerk_whatever_its_duration():
    path = LimbPath(BODY, ARM, REACH[:2], 1.0)
    t = np.linspace(0.0, 1.0, 33)
    found = [path.move(t * duration, duration) for duration in (0.4, 3.0)]
    closed = 10.0 * t**3 - 15.0 * t**4 + 6.0 * t**5
    for motion in found:
        np.testing.assert_allclose(motion.share, closed, atol=1e-12)
    np.testing.assert_allclose(found[0].joints, found[1].joints, atol=1e-9)


@pytest.mark.parametrize("name", PRESETS)
def test_paces_run_from_start_to_end(name):
    t = np.linspace(0.0, 1.0, 501)
    share, rate = PRESETS[name](t), PRESETS[name].rate(t)
    assert share[0] == 0.0 and share[-1] == pytest.approx(1.0, abs=1e-12)
    assert (np.diff(share) >= -1e-12).all()
    np.testing.assert_allclose(np.gradient(share, t)[2:-2], rate[2:-2], atol=0.05)


def test_what_presets_promise():
    t = np.linspace(0.0, 1.0, 1001)
    hold, accent = PRESETS["HOLD"], PRESETS["ACCENT"]
    np.testing.assert_allclose(hold(t[400:601]), 0.5, atol=1e-12)
    assert t[np.argmax(accent.rate(t))] > 0.55  # gathered first
    assert accent.rate(t).max() > 1.5 * PRESETS["MINIMUM_JERK"].rate(t).max()


def test_paces_run_backwards_and_do_not_overshoot_their_keys():
    pace = Pace.of([2.0, 3.0, 4.0, 6.0], [0.0, 0.8, 0.3, 1.0])
    t = np.linspace(0.0, 1.0, 400)
    back = (t > 0.25) & (t < 0.5)
    assert (np.diff(pace(t[back])) < 0.0).all()
    assert pace(t[t <= 0.5]).max() <= 0.8 + 1e-12
    path = LimbPath(BODY, ARM, REACH)
    motion = path.move(t, 1.0, pace)
    again = path.at(pace(t))[0]
    np.testing.assert_allclose(np.abs(rotations.dot(motion.joints, again)), 1.0, atol=1e-12)


def test_bad_paths_and_paces_say_so():
    with pytest.raises(SettingError, match="Postures is 1"):
        LimbPath(BODY, ARM, REACH[:1])
    with pytest.raises(SettingError, match="all the same"):
        LimbPath(BODY, ARM, REACH[[0, 0, 0]])
    with pytest.raises(SettingError, match="Duration is 0"):
        LimbPath(BODY, ARM, REACH).move(np.zeros(1), 0.0)
    with pytest.raises(SettingError, match="without gaps"):
        Pace.of([0.0, 1.0, 2.0], [0.0, np.nan, 1.0])
    with pytest.raises(SettingError, match="not ascending"):
        Pace.of([0.0, 1.0, 1.0], [0.0, 0.5, 1.0])
