# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures that are in their poses on time, alone and disturbed."""

from dataclasses import replace

import numpy as np
import pytest
from figure_cases import chain, random_tree
from poise.solvers import rotations
from poise.solvers.dynamics import State, accelerations, generalised, pose
from poise.solvers.dynamics.carrying import carrying
from poise.solvers.dynamics.limbs import limbs
from poise.solvers.errors import SettingError
from poise.solvers.posing import Ball, Body, PoseSettings, Push, Shake, Target, simulate
from poise.solvers.posing.arrive import rest_phase
from scipy.integrate import solve_ivp

GRAVITY = np.array([0.0, 0.0, -9.81])


def at_rest(times):
    return carrying(np.zeros(1), np.zeros((1, 3)), rotations.identity(1), GRAVITY, times)


def shaken(times):
    """A carrier that bounces and rocks as a gallop does: 2.5 Hz, 10 cm, 8 degrees."""
    knots = np.linspace(0.0, 3.0, 181)
    phase = 2.0 * np.pi * 2.5 * knots
    places = np.stack([0.0 * phase, -4.0 * knots, 0.1 * np.sin(phase)], axis=1)
    turns = rotations.about_x(np.radians(8.0) * np.cos(phase))
    return carrying(knots, places, turns, GRAVITY, times)


def upper_body(count=20, seed=1):
    figure = random_tree(count, seed)
    return Body(figure, figure.centres * 2.0, np.full(count, 0.05))


def targets(body, times, seed=2, size=1.0):
    """Random poses within the freedoms of the joints."""
    rng = np.random.default_rng(seed)
    n, made = len(body.figure.parents), []
    for time in times:
        y = rng.uniform(-size, size, (n, 1, 3))
        x = (y @ body.figure.axes)[:, 0]
        made.append(Target(time, rotations.from_rotation_vector(x), np.ones(n, bool)))
    return made


def angle_between(first, second):
    off = rotations.multiply(rotations.conjugate(first), second)
    return np.sqrt((rotations.to_rotation_vector(off) ** 2).sum(axis=-1))


def run(body, wanted, seconds=2.0, fps=24, settings=None, carried=at_rest, **more):
    n = len(body.figure.parents)
    return simulate(
        body, rotations.identity(n), np.zeros((n, 3)), wanted, round(seconds * fps) + 1, 1 / fps,
        settings or PoseSettings(), carried, **more,
    )


@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_twenty_joints_left_alone_are_in_each_pose_at_its_frame(ratio):
    body = upper_body()
    wanted = targets(body, [0.5, 0.875, 1.5])
    motion = run(body, wanted, settings=PoseSettings(ratio=ratio))
    for target, arrival in zip(wanted, motion.arrivals, strict=True):
        error = angle_between(target.turns, motion.turns[round(target.time * 24)])
        assert np.degrees(error).max() < 1e-6
        np.testing.assert_allclose(arrival.error, error, atol=1e-9)


def test_motion_left_alone_is_the_same_at_any_frame_rate():
    body = upper_body(6)
    wanted = targets(body, [0.5, 1.0])
    slow, quick = run(body, wanted, fps=24), run(body, wanted, fps=120)
    assert angle_between(slow.turns, quick.turns[::5]).max() < 1e-9


def test_shaken_figures_agree_across_frame_rates_and_are_in_their_poses():
    body = upper_body(6)
    wanted = targets(body, [0.5, 1.0, 1.5])
    settings = PoseSettings(gravity=1.0)
    runs = [run(body, wanted, fps=fps, settings=settings, carried=shaken) for fps in (24, 25, 60)]
    for motion in runs:
        for arrival in motion.arrivals:
            # An animator's tolerance of a pose: a degree.
            assert np.degrees(arrival.error).max() < 1.0
    for fps, motion in zip((25, 60), runs[1:], strict=True):
        seconds = np.arange(3)
        off = angle_between(runs[0].turns[seconds * 24], motion.turns[seconds * fps])
        assert np.degrees(off).max() < 2.0


def test_steps_under_a_steady_force_are_of_second_order():
    body = upper_body(5)
    wanted = targets(body, [1.0], size=0.6)
    settings = PoseSettings(gravity=1.0, recompute=False)

    def end(steps):
        made = replace(settings, steps_per_frame=steps)
        return run(body, wanted, seconds=0.75, settings=made, carried=shaken).turns[-1]

    ends = [end(steps) for steps in (2, 4, 8)]
    coarse, fine = (angle_between(*pair).max() for pair in (ends[:2], ends[1:]))
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.5)


def test_felt_weight_bends_a_held_arm_by_what_its_stiffness_allows():
    # A rod held level, hinge about X at its end: at rest k angle = m g l / 2 cos(angle).
    arm = chain(1, 0.6, 3.0)
    level = rotations.about_x(np.array([np.pi / 2]))
    body = Body(arm, arm.centres * 2, np.full(1, 0.04))
    settings = PoseSettings(gravity=1.0, settle=0.4)
    motion = simulate(
        body, level, np.zeros((1, 3)), [], 24 * 6, 1 / 24, settings, at_rest
    )
    angle = angle_between(level, motion.turns[-1])[0]
    frequency = (-1.0 - _w_minus_one(settings.tension)) / settings.settle
    inertia = 3.0 * 0.6**2 / 3.0
    expected = 3.0 * 9.81 * 0.3 * np.cos(angle) / (inertia * frequency**2)
    assert angle == pytest.approx(expected, rel=1e-6)
    held = simulate(
        body, level, np.zeros((1, 3)), [], 24, 1 / 24, replace(settings, gravity=0.0), at_rest
    )
    assert angle_between(level, held.turns[-1])[0] < 1e-12


def _w_minus_one(tension):
    from scipy.special import lambertw

    return lambertw(-tension / np.e, -1).real


def test_a_hit_changes_rates_as_its_impulse_says_and_momentum_is_kept():
    # A ball of 0.5 kg falls on the tip of a level rod that hangs on nothing but its hinge.
    arm = chain(1, 0.6, 3.0)
    level = rotations.about_x(np.array([np.pi / 2]))
    body = Body(arm, arm.centres * 2, np.full(1, 0.04))
    # about_x(90 deg) takes -Z to +Y: the tip is at y = 0.6.
    ball = Ball(0.0, np.array([0.0, 0.5, 0.3]), np.zeros(3), 0.5, 0.05, 0.4)
    settings = PoseSettings(settle=1e6, steps_per_frame=64)
    motion = simulate(
        body, level, np.zeros((1, 3)), [], 24, 1 / 24, settings, at_rest, [ball]
    )
    hit = motion.hits[0]
    fall = 0.3 - 0.09
    speed = np.sqrt(2 * 9.81 * fall)
    inertia = 3.0 * 0.6**2 / 3.0
    expected = 1.4 * speed / (1 / 0.5 + 0.5**2 / inertia)
    assert hit.time == pytest.approx(np.sqrt(2 * fall / 9.81), abs=2 / 24 / 64)
    assert hit.impulse == pytest.approx(expected, rel=0.01)
    after = int(np.ceil(hit.time * 24)) + 1
    assert np.linalg.norm(motion.spins[after]) == pytest.approx(expected * 0.5 / inertia, rel=0.01)


def test_knocked_joints_are_in_their_poses_all_the_same():
    body = upper_body(8, 5)
    wanted = targets(body, [1.0, 1.75])
    pushes = [
        Push(0.3, 0.35, 7, np.array([60.0, -40.0, 20.0])),
        Push(1.2, 1.25, 4, np.array([-50.0, 0.0, 80.0])),
    ]
    knocked = run(body, wanted, disturbances=pushes)
    alone = run(body, wanted)
    moved = angle_between(knocked.turns[8:14], alone.turns[8:14]).max()
    assert np.degrees(moved) > 3.0
    for arrival in knocked.arrivals:
        assert np.degrees(arrival.error).max() < 0.01
    once = run(body, wanted, disturbances=pushes, settings=PoseSettings(recompute=False))
    assert max(np.degrees(arrival.error).max() for arrival in once.arrivals) > 0.1


def test_steps_taken_at_once_are_those_taken_one_by_one():
    """Between hits the law is exact over any time. Joints with limits, though none may be
    reached, take every step by itself, and look at every ball after it."""
    body = upper_body()
    wanted = targets(body, [0.37, 0.8, 1.3])
    tilt = rotations.about_x(0.3)[None]

    def gliding(times):
        knots = np.linspace(0.0, 3.0, 4)
        places = np.array([0.4, -1.0, 2.0]) + knots[:, None] * np.array([0.5, 0.2, -0.1])
        return carrying(knots, places, np.repeat(tilt, 4, axis=0), GRAVITY, times)

    # Onto the figure, and to stay: light ones that hardly bounce.
    balls = [
        Ball(0.11 * k, np.array([0.4 + 0.06 * k, -0.9, 2.8]), np.array([0.5, 0.2, 0.0]),
             mass=0.3 + 0.2 * k, restitution=0.2)
        for k in range(5)
    ]
    quick = run(body, wanted, carried=gliding, disturbances=balls)
    n = len(body.figure.parents)
    free = replace(body, limits=np.tile([-np.inf, np.inf], (n, 3, 1)))
    one_by_one = run(free, wanted, carried=gliding, disturbances=balls)
    assert len(quick.hits) > 10
    assert [(h.ball, h.link) for h in quick.hits] == [(h.ball, h.link) for h in one_by_one.hits]
    for name in ("turns", "spins", "flights"):
        assert getattr(quick, name) == pytest.approx(
            getattr(one_by_one, name), abs=1e-9, nan_ok=True
        )
    assert [h.impulse for h in quick.hits] == pytest.approx(
        [h.impulse for h in one_by_one.hits], abs=1e-9
    )


def test_joints_stop_at_their_limits():
    arm = chain(2, 0.4)
    limits = np.full((2, 3, 2), [-np.inf, np.inf])
    limits[1, 0] = [-0.2, 0.7]
    body = Body(arm, arm.centres * 2, np.full(2, 0.04), limits)
    turns = rotations.about_x(np.array([0.5, 1.4]))
    motion = run(body, [Target(0.5, turns, np.ones(2, bool))])
    angle = 2 * np.arctan2(motion.turns[:, 1, 1], motion.turns[:, 1, 0])
    assert angle.max() <= 0.7 + 1e-9
    assert motion.stops and motion.stops[0][1] == 1
    assert motion.arrivals[0].error[1] == pytest.approx(0.7, abs=1e-6)
    assert motion.arrivals[0].error[0] < 1e-9


def test_held_targets_wait_and_the_next_one_is_on_time():
    body = upper_body(4)
    wanted = targets(body, [0.5, 1.5])
    wanted[0] = replace(wanted[0], hold=0.5)
    motion = run(body, wanted)
    assert angle_between(motion.turns[12], motion.turns[24]).max() < 0.06
    assert [np.degrees(x.error).max() < 1e-6 for x in motion.arrivals] == [True, True]
    assert motion.arrivals[1].time == pytest.approx(0.5)


def test_loose_chains_lag_behind_what_carries_them():
    # A pendulum held by a spring, its pivot shaken far above its own frequency, stays behind.
    tail = chain(3, 0.2, 0.2)
    body = Body(tail, tail.centres * 2, np.full(3, 0.02))

    def swaying(times):
        knots = np.linspace(0.0, 3.0, 361)
        places = np.zeros((361, 3))
        places[:, 1] = 0.05 * np.sin(2 * np.pi * 3.0 * knots)
        return carrying(knots, places, rotations.identity(361), GRAVITY, times)

    motion = run(body, [], 3.0, settings=PoseSettings(ratio=0.3, settle=1.0), carried=swaying)
    swing = 2 * np.arctan2(motion.turns[:, 0, 1], motion.turns[:, 0, 0])
    assert np.degrees(np.ptp(swing[36:])) > 5.0


def test_each_joint_of_a_tail_trails_behind_the_one_before():
    """Two rods hang from a carrier that goes to and fro by a sin(W t). By hand, for small angles
    and each joint with the law x'' + 2 z w x' + w^2 x = u: of M y'' = Q the joint above feels
    M11 u1 = Q1, the one below M22 u2 = Q2 - M21 y1''; nothing comes back up."""
    length, mass, far, turning, w, z = 0.3, 0.2, 1e-3, 2.0 * np.pi, 14.0, 0.6
    figure = chain(2, length=length, mass=mass)
    body = Body(figure, figure.centres * 2.0, np.full(2, 0.02))
    settle = rest_phase(0.02, np.array([z]))[0] / w
    settings = PoseSettings(ratio=z, settle=settle, trailing=True)

    def carried(times):
        knots = np.linspace(0.0, 4.0, 1601)
        along = far * np.sin(turning * knots)
        places = np.stack([0.0 * along, along, 0.0 * along], axis=1)
        return carrying(knots, places, rotations.identity(len(knots)), 0.0 * GRAVITY, times)

    found = run(body, [], seconds=4.0, settings=settings, carried=carried)
    # Of two rods that hang down: moments about their joints, and what both feel.
    inertia = figure.inertias[0, 0, 0]
    half = mass * length**2 / 4.0
    m22, m21 = inertia + half, inertia + half + mass * length**2 / 2.0
    m11 = 2.0 * inertia + half + mass * (1.5 * length) ** 2
    q1, q2 = (lever * mass * far * turning**2 for lever in (2.0 * length, 0.5 * length))
    gain = 1.0 / (w**2 - turning**2 + 2j * z * w * turning)
    first = q1 / m11 * gain
    second = (q2 / m22 + m21 / m22 * turning**2 * first) * gain
    x = rotations.to_rotation_vector(found.turns)[:, :, 0]
    last = slice(72, 96)  # a whole swing, once it is even
    wave = 2.0 * np.mean(x[last] * np.exp(-1j * turning * found.times[last])[:, None], axis=0)
    for amplitude, wanted in zip(wave, (first, second), strict=True):
        assert abs(abs(amplitude) / abs(wanted) - 1.0) < 0.01
    assert np.angle(wave[1] / wave[0]) == pytest.approx(np.angle(second / first), abs=0.02)


def test_a_shake_moves_joints_as_its_carrier_would_by_going_to_and_fro():
    body = upper_body(5)
    wanted = targets(body, [1.0], size=0.6)
    shake = Shake(0.2, 1.4, np.array([0.03, -0.02, 0.04]), 4.0)

    def swaying(times):
        knots = np.linspace(0.0, 2.0, 4001)
        t = np.clip(knots - shake.start, 0.0, 1.2)
        path = np.sin(2 * np.pi * 4.0 * t) * np.sin(np.pi * t / 1.2) ** 2
        places = path[:, None] * shake.amplitude
        return carrying(knots, places, rotations.identity(4001), GRAVITY, times)

    shook = run(body, wanted, disturbances=[shake])
    carried = run(body, wanted, carried=swaying)
    assert np.degrees(angle_between(shook.turns, run(body, wanted).turns).max()) > 1.0
    assert np.degrees(angle_between(shook.turns, carried.turns).max()) < 0.01
    assert np.degrees(shook.arrivals[0].error.max()) < 0.05


def test_chains_that_nothing_holds_swing_as_pendulums_do():
    # A double pendulum from 90 and 130 degrees, against its equations of motion.
    rods = chain(2, 0.5)
    body = Body(rods, rods.centres * 2, np.full(2, 0.02))
    start = rotations.about_x(np.radians([90.0, 40.0]))
    settings = PoseSettings(gravity=1.0, settle=1e4, steps_per_frame=24)
    motion = simulate(body, start, np.zeros((2, 3)), [], 20, 1 / 24, settings, at_rest)

    def change(_, y):
        angles, rates = np.zeros((2, 2, 3))
        angles[:, 0], rates[:, 0] = y[:2], y[2:]
        at = pose(rods, State(angles, rates))
        weight = generalised(at, rods.masses[:, None] * GRAVITY, np.zeros((2, 3)))
        return np.concatenate([y[2:], accelerations(rods, at, weight)])

    y = np.array([np.pi / 2, np.radians(40.0), 0.0, 0.0])
    solved = solve_ivp(change, (0.0, 1.0), y, t_eval=motion.times, rtol=1e-8).y
    angle = 2 * np.arctan2(motion.turns[:, :, 1], motion.turns[:, :, 0])
    assert np.ptp(angle[:, 1]) > 1.0
    np.testing.assert_allclose(angle, solved[:2].T, atol=np.radians(0.2))


@pytest.mark.parametrize(("settle", "ratio"), [(2.0, 1.0), (0.3, 0.3)])
def test_short_chains_that_are_hardly_held_whip_but_do_not_run_away(settle, ratio):
    count = 6
    tail = chain(count, 0.025, 0.001, np.eye(3))
    made = limbs(tail.centres * 2, np.full(count, 2e-3))
    tail = replace(tail, inertias=made.inertias, masses=made.masses, centres=made.centres)
    body = Body(tail, tail.centres * 2, np.full(count, 2e-3))
    bent = rotations.about_x(np.radians([100.0, 10, 10, 10, 10, 10]))
    settings = PoseSettings(settle=settle, ratio=ratio, gravity=1.0)
    for wanted in ([], [Target(0.75, bent, np.ones(count, bool))]):
        motion = simulate(
            body, bent, np.zeros((count, 3)), wanted, 20, 1 / 24, settings, shaken
        )
        assert np.isfinite(motion.turns).all()
        assert np.abs(motion.spins).max() <= 200.0 * 1.01


def test_balls_that_fly_by_out_of_reach_leave_the_law_alone():
    body = upper_body(4)
    wanted = targets(body, [0.5, 1.5])
    high = Ball(0.2, np.array([0.0, 0.0, 40.0]), np.zeros(3))
    alone, passed = run(body, wanted), run(body, wanted, disturbances=[high])
    assert angle_between(alone.turns, passed.turns).max() < 1e-12
    fall = np.arange(49) / 24 - 0.2
    np.testing.assert_allclose(passed.flights[5:, 0, 2], 40.0 - 0.5 * 9.81 * fall[5:] ** 2)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tension": 1.0}, "Tension is 1.0: it must be above 0 and below 1"),
        ({"ratio": 0.0}, "Damping Ratio is 0.0"),
        ({"settle": float("nan")}, "Settle Time is nan"),
    ],
)
def test_settings_out_of_range_are_refused(settings, words):
    with pytest.raises(SettingError, match=words):
        PoseSettings(**settings)


def test_two_poses_at_one_time_are_refused():
    body = upper_body(3)
    with pytest.raises(SettingError, match="Time of a target is 0.5: it must be later than 0.5 s"):
        run(body, targets(body, [0.5, 0.5]))


def test_limbs_are_capsules():
    # Sampled: points evenly in a cylinder of 0.4 m with half spheres of 0.1 m at its ends.
    rng = np.random.default_rng(0)
    points = rng.uniform([-0.1, -0.1, -0.1], [0.1, 0.5, 0.1], (400_000, 3))
    nearest = np.clip(points[:, 1], 0.0, 0.4)
    inside = points[(points[:, 0] ** 2 + (points[:, 1] - nearest) ** 2 + points[:, 2] ** 2) < 0.01]
    made = limbs(np.array([[0.0, 0.4, 0.0]]), np.array([0.1]))
    volume = 0.2 * 0.6 * 0.2 * len(inside) / len(points)
    assert made.masses[0] == pytest.approx(1050.0 * volume, rel=0.01)
    np.testing.assert_allclose(made.centres[0], inside.mean(axis=0), atol=2e-3)
    d = inside - inside.mean(axis=0)
    second = made.masses[0] * (d[:, :, None] * d[:, None, :]).mean(axis=0)
    expected = np.trace(second) * np.eye(3) - second
    np.testing.assert_allclose(made.inertias[0], expected, atol=0.01 * expected.max())
