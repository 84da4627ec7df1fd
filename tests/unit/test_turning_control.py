# SPDX-License-Identifier: GPL-3.0-or-later
"""Getting onto the ellipse, keeping the heading, and what the limits do."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from lab.batch import solve_turning_batch
from lab.capture import LIMITS, can_be_caught, capture_table, start_grid
from poise.solvers.motion import BodyState
from poise.solvers.turning import (
    TurningSettings,
    sample_times,
    solve_turning,
    summarise,
)
from poise.solvers.turning.summary import ellipse_demand

LOOP = math.radians(150.0)


def _state(lean=0.0, rate=0.0, speed=8.0, curvature=0.0):
    return BodyState(np.zeros(3), 0.0, speed, lean=lean, lean_rate=rate, curvature=curvature)


def _off_ellipse(motion):
    """Distance from the wanted ellipse as a share of it, at each sample."""
    size = np.hypot(
        motion.lean / motion.max_lean, motion.lean_rate / (motion.max_lean * motion.frequency)
    )
    return np.abs(size - 1.0)


def _mean_headings(motion):
    """Half way between the directions at both ends of each whole half turn."""
    whole = [turn for turn in motion.half_turns if turn.complete]
    start = motion.yaw[0]
    ends = [start + sum(t.change for t in motion.half_turns[: i + 1]) for i in range(len(whole))]
    return np.array([0.5 * (a + b) for a, b in zip(ends, ends[1:], strict=False)])


# --- 5.1: frequency and sharpness ---------------------------------------


def test_upright_start_is_not_a_dead_point():
    for limits in ({}, {"max_curvature": 0.2, "max_curvature_rate": 0.8}):
        motion = solve_turning(TurningSettings(n_frames=24 * 8 + 1, start_state=_state(), **limits))
        assert motion.success
        assert np.max(_off_ellipse(motion)[motion.time > 4.0]) < 0.01


def test_upright_start_is_deterministic_and_goes_to_the_side_of_its_phase():
    left = solve_turning(TurningSettings(n_frames=49, start_state=_state()))
    again = solve_turning(TurningSettings(n_frames=49, start_state=_state()))
    right = solve_turning(
        TurningSettings(n_frames=49, start_state=replace(_state(), phase=math.pi))
    )
    assert np.array_equal(left.lean, again.lean)
    assert left.lean[24] > 0.0 > right.lean[24]


@pytest.mark.parametrize(
    ("before", "after"), [(23.0, 3.0), (3.0, 23.0), (40.0, 10.0), (10.0, 40.0)]
)
@pytest.mark.parametrize("at", [4.0, 4.3])
def test_a_sudden_change_of_sharpness_is_followed_within_two_cycles(before, after, at):
    n = 24 * 12 + 1
    times = sample_times(n, 24.0)
    lean = np.radians(np.where(times < at, before, after))
    motion = solve_turning(TurningSettings(n_frames=n, speed=10.0, sharpness=lean))
    assert motion.success
    # Half turns that still correct the heading have an ellipse of their own.
    assert np.max(_off_ellipse(motion)[motion.time > at + 4.0]) < 0.03


def test_a_sudden_change_of_frequency_is_followed():
    n = 24 * 12 + 1
    times = sample_times(n, 24.0)
    motion = solve_turning(TurningSettings(n_frames=n, frequency=np.where(times < 5.0, 0.4, 0.7)))
    turns = [turn for turn in motion.half_turns if turn.complete and turn.start > 8.0]
    assert len(turns) >= 4
    # beta differs a little from 1 only where the heading is still corrected.
    for turn in turns:
        assert (turn.end - turn.start) * 0.7 * 2.0 == pytest.approx(turn.beta, abs=2e-3)
        assert turn.beta == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("frequencies", [(0.4, 0.7), (0.7, 0.4)])
def test_the_phase_never_goes_back_where_the_frequency_jumps(frequencies):
    times = sample_times(24 * 8 + 1, 24.0)
    for at in (4.0, 4.3, 4.6, 4.9, 5.2):
        frequency = np.where(times < at, *frequencies)
        motion = solve_turning(TurningSettings(n_frames=24 * 8 + 1, frequency=frequency))
        assert np.all(np.diff(motion.phase) >= 0.0)
        # The side that it tells is that of the lean.
        clear = np.abs(motion.lean) > 0.02
        assert np.array_equal(np.sin(motion.phase[clear]) > 0.0, motion.lean[clear] > 0.0)


def test_captures_all_that_can_be_caught():
    """On a coarse grid here; `capture_table()` does 31 x 31 and finds the same."""
    for row in capture_table(count=9):
        assert row.possible > 20
        assert row.missed == 0
        assert row.captured == row.possible  # none is caught that the other method gives up
        assert row.settled == row.captured


@pytest.mark.parametrize(
    "asked",
    [
        # speed m/s, Hz, degrees, curvature limit 1/m, its rate 1/(m s)
        (5.0, 0.5, 15.0, 0.25, 1.0),
        (3.5, 0.3, 15.0, 0.25, 1.0),
        (3.0, 0.5, 10.0, 0.25, 1.0),
        (6.0, 0.3, 20.0, 0.15, 0.5),
        (4.0, 0.2, 15.0, 0.6, 1.0),
        (4.0, 1.0, 10.0, 0.6, 3.0),
        (15.0, 0.2, 40.0, 0.05, 0.1),
    ],
)
def test_low_speeds_and_tight_limits_lose_none_that_can_be_caught(asked):
    """Of states that are on the same side with limits 3 % wider and narrower."""
    speed, frequency, degrees, limit, rate = asked
    settings = TurningSettings(
        n_frames=6 * 24 + 1,
        speed=speed,
        frequency=frequency,
        sharpness=math.radians(degrees),
        max_curvature=limit,
        max_curvature_rate=rate,
    )
    lean, lean_rate = (
        x.ravel()
        for x in np.meshgrid(np.radians(np.linspace(-56, 56, 8)), np.linspace(-3.5, 3.5, 15))
    )
    possible = np.ones(len(lean), dtype=bool)
    for share in (0.97, 1.0, 1.03):
        changed = replace(settings, max_curvature=limit * share, max_curvature_rate=rate * share)
        possible &= can_be_caught(lean, lean_rate, changed, 6.0)
    assert possible.sum() > 10
    starts = [
        replace(settings, start_state=_state(float(a), float(b), speed))
        for a, b in zip(lean[possible], lean_rate[possible], strict=True)
    ]
    lost = [s.start_state for s in starts if not solve_turning(s, advice=False).success]
    assert [(math.degrees(state.lean), state.lean_rate) for state in lost] == []


def test_the_foot_never_goes_backwards():
    """Beyond the pole of C = k / (V^2 cos + l k sin) no curvature does what is asked for."""
    for limits in ({}, {"max_curvature_rate": 2.0}, {"max_curvature": 0.5}):
        for lean in (0.5, 0.9, -1.0):
            for rate in (-12.0, -5.0, -2.0, 1.0, 5.0):
                motion = solve_turning(
                    TurningSettings(
                        n_frames=49, speed=4.0, start_state=_state(lean, rate, 4.0), **limits
                    ),
                    advice=False,
                )
                assert np.all(motion.foot_speed >= 0.0)


def _jumping(rng):
    """Settings that jump on the way, limits and start states, at random."""
    times = sample_times(73, 24.0)

    def jump(least, most, often=0.4):
        a, b = rng.uniform(least, most, 2)
        return np.where(times < rng.uniform(0.3, 2.7), a, b) if rng.random() < often else a

    changes = {
        "speed": jump(3.0, 12.0),
        "frequency": jump(0.2, 1.2),
        "sharpness": np.radians(jump(3.0, 45.0)),
        "max_curvature": jump(0.1, 0.8) if rng.random() < 0.8 else math.inf,
        "max_curvature_rate": jump(0.4, 4.0, 0.2) if rng.random() < 0.8 else math.inf,
        "heading": jump(-1.0, 1.0, 0.3),
        "slope": 0.25 if rng.random() < 0.3 else 0.0,
    }
    if rng.random() < 0.3:
        changes |= {"speed_mode": "SLOPE", "speed": rng.uniform(4.0, 12.0)}
    if rng.random() < 0.5:
        lean, rate, speed = rng.uniform((-1.0, -5.0, 4.0), (1.0, 5.0, 10.0)).tolist()
        changes["start_state"] = _state(lean, rate, speed)
    return TurningSettings(n_frames=73, **changes)


def _limits_hold(settings, motion):
    count = 2 * len(motion.time) - 1
    limit = np.broadcast_to(settings.max_curvature, (count,))
    rate = np.broadcast_to(settings.max_curvature_rate, (count,))
    up = motion.time <= (motion.time[-1] if motion.success else motion.events[-1].time)
    last = int(up.sum())
    change = np.abs(np.diff(motion.curvature[up])) * 48.0
    most = np.maximum(np.maximum(rate[:-2:2], rate[2::2]), rate[1::2])[: last - 1]
    assert np.all(np.abs(motion.curvature[up]) <= limit[::2][:last] * (1.0 + 1e-6))
    assert np.all(change <= most * (1.0 + 1e-6))
    assert np.all(motion.foot_speed >= 0.0)
    assert np.all(np.diff(motion.phase) >= 0.0)


def test_limits_hold_where_keyed_settings_jump_alone_and_in_company():
    rng = np.random.default_rng(5)
    chosen = [_jumping(rng) for _ in range(40)]
    clipped = 0
    for settings, motion in zip(chosen, solve_turning_batch(chosen, advice=False), strict=True):
        alone = solve_turning(settings, advice=False)
        clipped += alone.clipped.any()
        _limits_hold(settings, alone)
        assert np.degrees(np.max(np.abs(motion.lean - alone.lean))) < 1e-6
    assert clipped > 10


def test_the_rate_limit_holds_where_the_lean_wanted_jumps():
    times = sample_times(145, 24.0)
    settings = TurningSettings(
        n_frames=145,
        speed=10.0,
        frequency=0.4,
        max_curvature=0.25,
        max_curvature_rate=0.8,
        sharpness=np.radians(np.where(times < 3.8125, 30.0, 40.0)),
    )
    motion = solve_turning(settings)
    assert motion.success and motion.clipped.any()
    _limits_hold(settings, motion)


@pytest.mark.parametrize("before, after", [(0.25, 0.08), (0.08, 0.25)])
def test_curvature_follows_a_limit_that_jumps_at_its_own_rate(before, after):
    """Within both limits |C(t)| <= L(s) + r |t - s| for all s: at a limit that jumps, a ramp."""
    least, sides = min(before, after), set()
    turning = ({"start_phase": phase} for phase in (0.0, math.pi))
    falling = ({"start_state": _state(0.45 * side, 0.1 * side, 8.0)} for side in (1.0, -1.0))
    for fps, rate, at, start in itertools.product(
        (24.0, 60.0), (0.3, 3.0), (0.3, 1.91), (*turning, *falling)
    ):
        times = sample_times(int(3.0 * fps) + 1, fps)
        settings = TurningSettings(
            n_frames=int(3.0 * fps) + 1,
            fps=fps,
            frequency=0.25,
            sharpness=math.radians(50.0),
            max_curvature=np.where(times < at, before, after),
            max_curvature_rate=rate,
            **start,
        )
        motion = solve_turning(settings, advice=False)
        up = motion.time <= (motion.time[-1] if motion.success else motion.events[-1].time)
        curvature, time = motion.curvature[up], motion.time[up]
        assert np.all(np.abs(np.diff(curvature)) <= rate * np.diff(time) * (1.0 + 1e-6))
        ramp = times[times >= at][0] - time if after < before else time - times[times < at][-1]
        most = np.minimum(max(before, after), least + rate * np.maximum(ramp, 0.0))
        assert np.all(np.abs(curvature) <= most * (1.0 + 1e-6))
        near = (np.abs(time - at) < 0.5) & (np.abs(curvature) > 0.95 * most)
        sides |= set(np.sign(curvature[near]))
    assert sides == {-1.0, 1.0}  # as much as can be, on either


def test_who_is_caught_in_a_batch_does_not_depend_on_the_others():
    rng = np.random.default_rng(1)
    starts = [
        TurningSettings(
            n_frames=97,
            max_curvature=0.6,
            max_curvature_rate=3.0,
            start_state=_state(float(lean), float(rate)),
        )
        for lean, rate in rng.uniform((-1.0, -3.5), (1.0, 3.5), (300, 2))[::5]
    ]
    for settings, motion in zip(starts, solve_turning_batch(starts, advice=False), strict=True):
        alone = solve_turning(settings, advice=False)
        assert np.degrees(np.max(np.abs(motion.lean - alone.lean))) < 1e-6
        _limits_hold(settings, motion)


def test_what_can_be_caught_matches_the_linear_closed_form():
    """Without a rate limit and for small leans: lost iff |theta + omega/lambda| > C V^2/g."""
    settings = TurningSettings(max_curvature=0.02, max_curvature_rate=1e6, inertia=0.0)
    lean, rate = start_grid(41)
    lean, rate = 0.15 * lean, 0.15 * rate
    edge = np.abs(lean + rate / math.sqrt(9.81)) * 9.81 / (0.02 * 64.0)
    clear = np.abs(edge - 1.0) > 0.05
    caught = can_be_caught(lean, rate, settings)
    assert np.array_equal(caught[clear], edge[clear] < 1.0)
    assert 0 < caught.sum() < len(caught)


@pytest.mark.parametrize("name", LIMITS)
def test_limits_hold_while_catching(name):
    limit, rate = LIMITS[name]
    lean, lean_rate = start_grid(7)
    motions = solve_turning_batch(
        [
            TurningSettings(
                n_frames=241,
                max_curvature=limit,
                max_curvature_rate=rate,
                start_state=_state(float(a), float(b)),
            )
            for a, b in zip(lean, lean_rate, strict=True)
            if abs(a) < math.radians(59.0)
        ],
        advice=False,
    )
    assert any(motion.success for motion in motions)
    for motion in motions:
        assert np.max(np.abs(motion.curvature)) <= limit * (1.0 + 1e-9)
        fall = motion.events[-1].time if not motion.success else math.inf
        up = motion.time < fall
        change = np.abs(np.diff(motion.curvature[up])) * 48.0
        assert len(change) == 0 or np.max(change) <= rate * (1.0 + 1e-6)


def test_states_that_must_fall_are_reported_with_the_time():
    """Falling freely from a lean too far: the time by quadrature of the energy equation.

    With full lock against it at once: J alpha = g sin(theta) - k(theta).
    """
    limit = 0.2
    start, fall = math.radians(50.0), math.radians(60.0)
    motion = solve_turning(
        TurningSettings(
            n_frames=241, max_curvature=limit, start_state=_state(start, 1.5), fall_angle=fall
        )
    )
    assert not motion.success
    falls = [event for event in motion.events if event.kind == "FALL"]
    assert len(falls) == 1 and falls[0].side == "L"

    def alpha(x):
        k = limit * 64.0 * np.cos(x) / (1.0 - limit * np.sin(x))
        return (9.81 * np.sin(x) - k) / (75.0 / 70.0)

    x = np.linspace(start, fall, 20001)
    work = np.concatenate(([0.0], np.cumsum(0.5 * (alpha(x)[1:] + alpha(x)[:-1]) * np.diff(x))))
    rate = np.sqrt(1.5**2 + 2.0 * work)
    expected = np.sum(np.diff(x) * 0.5 * (1.0 / rate[1:] + 1.0 / rate[:-1]))
    assert falls[0].time == pytest.approx(expected, abs=1e-7)
    (problem,) = [p for p in motion.problems if p.code == "FALL"]
    assert problem.severity == "ERROR"
    assert problem.time == falls[0].time
    assert f"{expected:.2f} s" in problem.message
    assert problem.remedy


def test_a_fallen_figure_lies_and_comes_to_rest():
    motion = solve_turning(
        TurningSettings(
            n_frames=241,
            max_curvature=0.2,
            max_curvature_rate=0.8,
            start_state=_state(-0.9, -2.0),
        )
    )
    after = motion.time > motion.events[-1].time
    assert np.all(motion.lean[after] == -math.radians(60.0))
    assert np.all(motion.lean_rate[after] == 0.0)
    assert np.all(np.diff(motion.speed[after]) <= 0.0)
    assert motion.speed[-1] == 0.0
    slid = np.linalg.norm(motion.position[-1] - motion.events[-1].position)
    assert slid == pytest.approx(8.0**2 / (2.0 * 0.5 * 9.81), rel=1e-6)  # v^2 / (2 mu g)
    assert np.array_equal(motion.position[-1], motion.position[-2])


def test_the_fix_offered_for_a_fall_works():
    settings = TurningSettings(
        n_frames=121, max_curvature=0.2, max_curvature_rate=0.8, start_state=_state(0.3, 2.0)
    )
    motion = solve_turning(settings)
    (problem,) = [p for p in motion.problems if p.code == "FALL"]
    fixed = replace(settings, **dict(problem.fix))
    assert solve_turning(fixed).success


# --- 5.2: heading --------------------------------------------------------


def _heading_cases(limits, frequencies, degrees, speeds):
    for frequency in frequencies:
        for lean in np.radians(degrees):
            for speed in speeds:
                settings = TurningSettings(
                    n_frames=2,
                    speed=float(speed),
                    frequency=float(frequency),
                    sharpness=float(lean),
                    max_curvature=limits[0],
                    max_curvature_rate=limits[1],
                )
                yield settings, summarise(settings)


def _turn_by(settings, change, cycles):
    frequency = settings.frequency
    frames = round(24.0 * cycles / frequency) + 1
    times = sample_times(frames, 24.0)
    return replace(
        settings, n_frames=frames, heading=np.where(times < 1.5 / frequency, 0.0, change)
    )


@pytest.mark.parametrize("name", ["none", *LIMITS])
def test_heading_is_held_to_a_tenth_of_a_degree(name):
    """After a change by 20 degrees, wherever nothing is clipped and it is no loop."""
    limits = LIMITS.get(name, (math.inf, math.inf))
    chosen = [
        _turn_by(settings, math.radians(20.0), 24)
        for settings, summary in _heading_cases(
            limits, (0.2, 0.5, 0.85, 1.2), (3.0, 10.0, 23.0, 45.0), (2.0, 5.0, 8.0, 14.0, 25.0)
        )
        if not summary.loop and summary.demand <= 1.0
    ]
    assert len(chosen) > 35
    for settings, motion in zip(chosen, solve_turning_batch(chosen), strict=True):
        assert motion.success
        error = np.degrees(_mean_headings(motion)[-3:] - math.radians(20.0))
        assert np.max(np.abs(error)) < 0.1, settings


def test_small_changes_are_done_within_one_half_turn():
    settings = _turn_by(TurningSettings(), math.radians(15.0), 8)
    motion = solve_turning(settings)
    error = np.abs(np.degrees(_mean_headings(motion)))
    after = [i for i, turn in enumerate(motion.half_turns[1:-1]) if turn.start > 3.0]
    assert np.max(np.abs(np.degrees(_mean_headings(motion)[after[1:]]) - 15.0)) < 1e-3
    assert error[0] < 1e-3


def test_a_half_turn_can_be_weakened_only_so_far():
    """As beta -> 0 it tends to 2 J omega_0 theta_max / V, not to 0."""
    from poise.solvers.turning.heading import half_turn

    w0, lean, speed, j = math.pi, math.radians(23.0), 8.0, 75.0 / 70.0
    p = (w0, lean, speed, 9.81, 0.0, 0.0, j, 1.0, 0.0, 0.0, 1e4, 1e9)
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    change, duration, _ = half_turn(
        lambda _: p, False, False, False, zero, zero, one, one, 1e-3 * one
    )
    assert change[0] == pytest.approx(2.0 * j * w0 * lean / speed, rel=1e-4)
    assert duration[0] == pytest.approx(1e-3, rel=1e-9)
    change, _, _ = half_turn(lambda _: p, False, False, False, zero, zero, one, one, one)
    assert math.degrees(change[0]) == pytest.approx(39.086, abs=1e-3)


@pytest.mark.parametrize("degrees", [23.0, 60.0, 72.0, 80.0, 85.0])
def test_the_heading_change_of_a_half_turn_is_exact_at_any_lean(degrees):
    """Against adaptive quadrature of psi' = (g sin - J alpha) / (V cos) over the phase."""
    from poise.solvers.turning.heading import half_turn
    from scipy.integrate import quad

    w0, lean, speed, j = math.pi, math.radians(degrees), 8.0, 75.0 / 70.0
    p = tuple(
        np.full((1, 1), x) for x in (w0, lean, speed, 9.81, 0.0, 0.0, j, 1.0, 0.0, 0.0, 1e4, 1e9)
    )
    one, zero = np.ones((1, 1)), np.zeros((1, 1))

    def rate(phase):
        theta = lean * math.sin(phase)
        return (9.81 * math.sin(theta) + j * w0**2 * theta) / (speed * math.cos(theta) * w0)

    exact = 2.0 * quad(rate, 0.0, 0.5 * math.pi, epsabs=1e-13, epsrel=1e-13, limit=400)[0]
    change, _, _ = half_turn(lambda _: p, False, False, False, zero, zero, one, one, one)
    assert change[0] == pytest.approx(exact, abs=1e-9)


def test_a_change_too_large_for_one_half_turn_is_spread_and_reported():
    settings = _turn_by(TurningSettings(), math.radians(120.0), 12)
    motion = solve_turning(settings)
    assert motion.success
    assert any(turn.saturated for turn in motion.half_turns)
    problems = [p for p in motion.problems if p.code == "HEADING_SPREAD"]
    assert problems and problems[0].time >= 2.0
    assert np.degrees(_mean_headings(motion)[-1]) == pytest.approx(120.0, abs=1e-3)
    for turn in motion.half_turns:
        if turn.complete and not turn.saturated:
            assert turn.change == pytest.approx(turn.wanted_change, abs=2e-3)


def test_constant_heading_turns_the_whole_track():
    straight = solve_turning(TurningSettings(n_frames=121))
    turned = solve_turning(TurningSettings(n_frames=121, heading=0.7))
    c, s = math.cos(0.7), math.sin(0.7)
    rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    assert np.allclose(straight.position @ rotation.T, turned.position, atol=1e-7)


def test_slowly_keyed_settings_keep_the_heading():
    """Falling frequency and rising sharpness (tracks 2 and 3 of Fig. 10)."""
    from lab.figures import figure_10

    for name in ("falling frequency", "rising sharpness"):
        (settings,) = figure_10()[name]
        motion = solve_turning(settings)
        assert motion.success
        assert np.max(np.abs(np.degrees(_mean_headings(motion)))) < 1.5


# --- limits --------------------------------------------------------------


@pytest.mark.parametrize("name", LIMITS)
def test_share_of_clipped_turns_agrees_with_the_closed_form(name):
    """What came out (was the lean wanted reached, no bound active?) against the ellipse's need."""
    limits = LIMITS[name]
    cases = [
        replace(settings, n_frames=round(24.0 * 4.0 / settings.frequency) + 1)
        for settings, _ in _heading_cases(
            limits, np.linspace(0.2, 1.2, 6), np.linspace(3.0, 45.0, 7), np.linspace(2.0, 25.0, 8)
        )
    ]
    motions = solve_turning_batch(cases, advice=False)
    clipped = np.array([motion.clipped.any() for motion in motions])
    short = np.array(
        [
            np.max(motion.max_lean) < case.sharpness * (1.0 - 1e-4)
            for case, motion in zip(cases, motions, strict=True)
        ]
    )
    expected = np.array(
        [
            need[0] > limits[0] or need[1] > limits[1]
            for need in (
                ellipse_demand(case.frequency, case.sharpness, case.speed) for case in cases
            )
        ]
    )
    assert abs(clipped.mean() - expected.mean()) <= 0.01
    assert np.mean(short[expected]) > 0.95  # the others fit but for the heading's last digit
    assert not np.any(short & ~expected)
    assert all(motion.success for motion in motions)


def test_ellipse_demand_is_that_of_a_solved_motion():
    motion = solve_turning(TurningSettings(n_frames=480 * 4 + 1, fps=480.0))
    curvature, rate = ellipse_demand(0.5, math.radians(23.0), 8.0)
    assert np.max(np.abs(motion.curvature)) == pytest.approx(curvature, rel=1e-5)
    change = np.abs(np.diff(motion.curvature)) * 480.0
    assert np.max(change) == pytest.approx(rate, rel=1e-3)


def test_a_turn_held_back_says_how_much_and_what_fits():
    settings = TurningSettings(n_frames=241, speed=5.0, max_curvature=0.2, max_curvature_rate=0.8)
    motion = solve_turning(settings)
    assert motion.success and motion.clipped.all()
    (problem,) = [p for p in motion.problems if p.code == "CURVATURE_CLIPPED"]
    reached = np.max(np.abs(motion.lean))
    assert problem.amount == pytest.approx(settings.sharpness - reached, abs=1e-6)
    assert f"{math.degrees(reached):.1f}" in problem.message
    assert problem.time == 0.0 and problem.end_time == pytest.approx(10.0)
    ((path, lean),) = problem.fix
    assert path == "sharpness"
    fixed = solve_turning(replace(settings, sharpness=lean))
    assert not fixed.clipped.any() and not fixed.problems
    slightly_more = solve_turning(replace(settings, sharpness=lean * 1.001))
    assert slightly_more.clipped.any()


def test_loops_are_named():
    settings = TurningSettings(n_frames=121, speed=2.0, sharpness=math.radians(30.0))
    motion = solve_turning(settings)
    assert summarise(settings).loop and summarise(motion).loop
    (problem,) = [p for p in motion.problems if p.code == "LOOP"]
    assert problem.amount > LOOP
    assert not summarise(TurningSettings()).loop


def test_summary_of_settings_is_that_of_the_motion():
    for settings in (
        TurningSettings(n_frames=241),
        TurningSettings(n_frames=241, speed=6.0, max_curvature=0.2, max_curvature_rate=0.8),
        TurningSettings(n_frames=241, frequency=0.9, sharpness=0.6, speed=12.0),
    ):
        before, after = summarise(settings), summarise(solve_turning(settings))
        assert before.half_turn == pytest.approx(after.half_turn, rel=1e-5)
        assert before.min_radius == pytest.approx(after.min_radius, rel=2e-3)
        assert before.peak_force == pytest.approx(after.peak_force, rel=2e-3)
        assert before.max_lean == pytest.approx(after.max_lean, rel=2e-3)
        assert before.turn_time == pytest.approx(after.turn_time, rel=1e-5)
        assert before.turn_length == pytest.approx(after.turn_length, rel=1e-3)
        assert before.clipped == after.clipped
