# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole motions: accuracy, symmetry, hand-over, slopes, falls and stops, batches."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from lab.batch import solve_turning_batch
from lab.figures import figure_10
from poise.solvers.errors import Cancelled
from poise.solvers.motion import BodyState, Placement
from poise.solvers.turning import (
    TurningSettings,
    sample_times,
    solve_turning,
    steps_per_frame,
)

SECONDS = 20.0
KEYED = {
    "heading": lambda t: 0.6 * np.sin(0.5 * t),
    "speed": lambda t: 8.0 + 2.0 * np.sin(t),
    "frequency": lambda t: 0.5 + 0.1 * np.cos(0.7 * t),
    "sharpness": lambda t: 0.3 + 0.1 * np.sin(0.4 * t),
}


def _settings(fps, seconds=SECONDS, **changes):
    n = round(fps * seconds) + 1
    times = sample_times(n, fps)
    return TurningSettings(
        n_frames=n,
        fps=fps,
        **{k: v(times) if callable(v) else v for k, v in changes.items()},
    )


def _at_frames(motion, every):
    return motion.position[:: motion.steps_per_frame * every]


CASES = {
    "typical": {},
    "quick": {"frequency": 1.0, "sharpness": math.radians(15.0)},
    "held back": {"max_curvature": 0.1, "max_curvature_rate": 0.3},
    "keyed": KEYED,
    "slope": {"slope": 0.3, "slope_direction": 0.3, "speed_mode": "SLOPE"},
    "caught": {
        "start_state": BodyState(np.zeros(3), 0.0, 8.0, lean=0.3, lean_rate=0.6),
        "max_curvature": 0.2,
        "max_curvature_rate": 0.8,
    },
}


@pytest.mark.parametrize("name", CASES)
def test_foot_is_where_a_very_fine_solve_has_it(name):
    """Within 1e-5 m over 20 s at two steps a frame of 24."""
    fine = solve_turning(_settings(960.0, **CASES[name]))
    coarse = solve_turning(_settings(24.0, **CASES[name]))
    assert coarse.steps_per_frame == 2
    assert coarse.success and fine.success
    error = np.abs(_at_frames(coarse, 1) - _at_frames(fine, 40))
    assert np.max(error) < 1e-5


def _orders(case):
    """Errors against a very fine solve, and log2 of their ratios, from 48 steps a second on."""
    fine = _at_frames(solve_turning(_settings(1920.0, 3.0, **case)), 40)
    errors = []
    for fps in (48.0, 96.0, 192.0):
        motion = solve_turning(_settings(fps, 3.0, **case))
        errors.append(np.max(np.abs(_at_frames(motion, round(fps / 48.0)) - fine)))
    return np.array(errors), np.log2(np.array(errors[:-1]) / errors[1:]), motion


def test_error_falls_with_the_fourth_power_of_the_step():
    """On the way onto the ellipse from within."""
    errors, orders, _ = _orders(
        {
            "start_state": BodyState(np.zeros(3), 0.0, 10.0, lean=0.05, lean_rate=0.2),
            "frequency": 0.5,
            "speed": 10.0,
            "sharpness": 0.4,
        }
    )
    assert errors[0] < 1e-5
    assert np.all(orders > 3.9), (errors, orders)


def test_error_falls_quickly_where_limits_are_met_and_left():
    """The steps are cut at the corners: without that the order would be 1 to 2."""
    errors, orders, motion = _orders(
        {
            "start_state": BodyState(np.zeros(3), 0.0, 10.0, lean=0.5, lean_rate=1.5),
            "frequency": 1.0,
            "speed": 10.0,
            "sharpness": 0.2,
            "max_curvature": 0.2,
        }
    )
    assert motion.clipped.any() and not motion.clipped.all()
    assert errors[0] < 2e-5
    assert np.all(orders > 2.7), (errors, orders)


@pytest.mark.parametrize("name", ["typical", "keyed", "slope", "caught"])
def test_motion_per_second_is_the_same_at_any_frame_rate(name):
    reference = solve_turning(_settings(60.0, 12.0, **CASES[name]))
    for fps in (12.0, 24.0, 25.0, 30.0 / 1.001):
        motion = solve_turning(_settings(fps, 12.0, **CASES[name]))
        assert motion.steps_per_frame == math.ceil(48.0 / fps - 1e-9)
        for column in range(3):
            # A quintic through the fine path: the samples of 29.97 fps lie between its own.
            from scipy.interpolate import make_interp_spline

            curve = make_interp_spline(reference.time, reference.position[:, column], k=5)
            # Half turns planned near the end look at settings beyond it.
            inside = motion.time <= 9.0
            error = curve(motion.time[inside]) - motion.position[inside, column]
            assert np.max(np.abs(error)) < 1e-5, (fps, column)


def test_frames_are_whole_numbers_of_steps():
    assert [steps_per_frame(fps) for fps in (12, 23.976, 24, 25, 29.97, 48, 60, 240)] == [
        4,
        3,
        2,
        2,
        2,
        1,
        1,
        1,
    ]
    times = sample_times(11, 25.0)
    assert len(times) == 2 * 2 * 10 + 1
    assert times[-1] == pytest.approx(0.4, abs=1e-15)
    motion = solve_turning(TurningSettings(n_frames=11, fps=25.0))
    assert len(motion.time) == 21
    assert np.allclose(motion.time, times[::2], atol=1e-15)


def test_the_same_settings_give_the_same_bits():
    settings = _settings(24.0, 6.0, **KEYED, amplitude_irregularity=0.1)
    first, second = solve_turning(settings), solve_turning(settings)
    for item in fields(first):
        a, b = getattr(first, item.name), getattr(second, item.name)
        if isinstance(a, np.ndarray):
            assert np.array_equal(a, b), item.name
    assert first.half_turns == second.half_turns


def test_mirrored_settings_give_the_mirrored_motion():
    left = _settings(
        24.0, heading=KEYED["heading"], start_phase=0.4, slope=0.2, slope_direction=0.3
    )
    right = replace(
        left,
        heading=-left.heading,
        start_phase=0.4 + math.pi,
        slope_direction=-left.slope_direction,
    )
    a, b = solve_turning(left), solve_turning(right)
    assert np.allclose(a.lean, -b.lean, atol=1e-9)
    assert np.allclose(a.yaw, -b.yaw, atol=1e-9)
    assert np.allclose(a.position * [-1.0, 1.0, 1.0], b.position, atol=1e-7)
    assert np.allclose(a.leg_force, b.leg_force, atol=1e-6)
    assert np.allclose(a.force_lateral, -b.force_lateral, atol=1e-6)


def test_placement_moves_and_turns_the_whole_motion():
    settings = _settings(24.0, 5.0, slope=0.25, slope_direction=0.4)
    placed = replace(settings, placement=Placement(np.array([3.0, -2.0, 5.0]), 0.9))
    a, b = solve_turning(settings), solve_turning(placed)
    c, s = math.cos(0.9), math.sin(0.9)
    rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    assert np.allclose(a.position @ rotation.T + [3.0, -2.0, 5.0], b.position, atol=1e-9)
    for name in ("forward", "left", "normal"):
        assert np.allclose(getattr(a, name) @ rotation.T, getattr(b, name), atol=1e-12)
    assert np.array_equal(a.yaw, b.yaw)


def test_heads_along_minus_y_from_the_origin_and_snakes_about_that_line():
    motion = solve_turning(_settings(24.0))
    assert np.array_equal(motion.position[0], np.zeros(3))
    assert motion.position[-1, 1] < -150.0
    assert abs(np.mean(motion.position[:, 0])) < 0.01
    assert np.max(motion.position[:, 0]) == pytest.approx(-np.min(motion.position[:, 0]), rel=1e-3)
    assert motion.lean[12] > 0.0 and motion.position[12, 0] < 0.0  # left of -Y is +X


@pytest.mark.parametrize("name", ["typical", "held back", "slope", "caught"])
@pytest.mark.parametrize("cut", [5.0, 10.0, 10.25])
def test_going_on_from_a_state_is_the_same_as_not_stopping(name, cut):
    fps = 24.0
    settings = _settings(fps, **CASES[name])
    whole = solve_turning(settings)
    split = round(cut * fps)
    first = solve_turning(replace(settings, n_frames=split + 1))
    second = solve_turning(
        replace(settings, n_frames=settings.n_frames - split, start_state=first.end_state)
    )
    assert whole.success
    steps = 2 * split
    assert np.max(np.abs(second.position - whole.position[steps:])) < 1e-6
    for item in ("lean", "yaw", "speed", "curvature"):
        assert np.max(np.abs(getattr(second, item) - getattr(whole, item)[steps:])) < 1e-6, item
    turns = (second.phase - whole.phase[steps:]) / (2.0 * math.pi)
    assert np.max(np.abs(turns - np.round(turns))) < 1e-6


def test_a_state_hands_over_between_placements_and_slopes():
    """The state is in world terms: another placement that goes on from it changes nothing."""
    settings = _settings(24.0, 5.0, slope=0.3, slope_direction=0.4)
    first = solve_turning(replace(settings, placement=Placement(np.array([1.0, 2.0, 3.0]), 0.7)))
    state = first.end_state
    assert np.array_equal(state.position, first.position[-1])
    ahead = first.forward[-1]
    bearing = math.atan2(ahead[0], -ahead[1])  # from -Y, anticlockwise
    assert math.remainder(state.yaw - bearing, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-12)
    # The same hill, faced differently: its fall line lies at 0.7 + 0.4 in the world.
    onward = solve_turning(
        replace(
            settings,
            start_state=state,
            placement=Placement(yaw=0.2),
            slope_direction=0.9,
            heading=0.0,
        )
    )
    assert np.allclose(onward.position[0], first.position[-1], atol=1e-12)
    assert np.allclose(onward.forward[0], ahead, atol=1e-12)
    assert np.allclose(onward.normal[0], first.normal[-1], atol=1e-12)
    assert onward.lean[0] == first.lean[-1] and onward.speed[0] == first.speed[-1]


# --- slopes --------------------------------------------------------------


def _energy(motion):
    """Kinetic and potential energy of the body, J, as a share of m g times the drop."""
    m, height = motion.mass, motion.height
    mass_height = (
        motion.position[:, 2]
        + height * np.cos(motion.lean) * motion.normal[:, 2]
        + height * np.sin(motion.lean) * motion.left[:, 2]
    )
    kinetic = 0.5 * m * (motion.speed**2 + (height * motion.lean_rate) ** 2)
    kinetic += 0.5 * motion.inertia * motion.lean_rate**2
    return kinetic + m * motion.gravity * mass_height


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"slope_direction": 0.5, "heading": 0.3},
        {"max_curvature": 0.1, "max_curvature_rate": 0.3},
        {
            "start_state": BodyState(np.zeros(3), 0.3, 8.0, lean=0.6, lean_rate=0.5),
            "max_curvature": 0.3,
            "max_curvature_rate": 1.0,
        },
    ],
)
def test_without_friction_and_drag_energy_is_conserved(changes):
    """The ground's force is square to the foot's path, so it does no work: to 1e-7 of the drop."""
    settings = _settings(
        24.0, 15.0, slope=0.3, speed_mode="SLOPE", friction=0.0, drag_area=0.0, **changes
    )
    motion = solve_turning(settings)
    assert motion.success
    energy = _energy(motion)
    drop = motion.mass * motion.gravity * (motion.position[0, 2] - motion.position[-1, 2])
    assert drop > 5e4
    assert np.max(np.abs(energy - energy[0])) / drop < 1e-7


def test_on_the_level_leaning_in_and_out_trades_speed_with_the_swing():
    """Speed mode SLOPE on flat ground without losses: no net gain over whole cycles."""
    motion = solve_turning(_settings(24.0, 10.0, speed_mode="SLOPE", friction=0.0, drag_area=0.0))
    energy = _energy(motion)
    assert np.max(np.abs(energy - energy[0])) / energy[0] < 1e-8
    assert 0.02 < np.ptp(motion.speed) < 0.5
    assert motion.speed[-1] == pytest.approx(motion.speed[0], abs=1e-3)


@pytest.mark.parametrize("friction", [0.0, 0.06])
def test_a_straight_run_reaches_the_terminal_speed(friction):
    """m g (sin s - mu cos s) = rho C_d A V^2 / 2, rho = 1.2 kg/m^3."""
    slope, area = math.radians(17.0), 0.6
    motion = solve_turning(
        _settings(
            12.0,
            90.0,
            slope=slope,
            speed_mode="SLOPE",
            friction=friction,
            drag_area=area,
            sharpness=0.0,
            speed=5.0,
        )
    )
    push = 70.0 * 9.81 * (math.sin(slope) - friction * math.cos(slope))
    terminal = math.sqrt(2.0 * push / (1.2 * area))
    assert motion.speed[-1] == pytest.approx(terminal, rel=1e-6)
    # V = V_t tanh(a t / V_t + artanh(V_0 / V_t)) on the way there.
    expected = terminal * np.tanh(push / 70.0 * motion.time / terminal + np.arctanh(5.0 / terminal))
    assert np.max(np.abs(motion.speed - expected)) < 1e-4
    assert np.max(np.abs(motion.position[:, 0])) < 1e-3


def test_a_path_on_a_slope_stays_in_its_plane():
    slope, direction = 0.35, 0.6
    motion = solve_turning(_settings(24.0, slope=slope, slope_direction=direction))
    fall = np.array([math.sin(direction), -math.cos(direction)])  # downhill, level
    expected = -math.tan(slope) * (motion.position[:, :2] @ fall)
    assert np.max(np.abs(motion.position[:, 2] - expected)) < 1e-9
    assert np.allclose(motion.normal[:, 2], math.cos(slope))
    # Seen from above it still goes straight ahead.
    ends = motion.position[[0, -1], :2]
    bearing = math.atan2(ends[1, 0] - ends[0, 0], -(ends[1, 1] - ends[0, 1]))
    assert abs(bearing) < 0.01


def test_heading_across_a_slope_is_held():
    """Gravity pulls the track down the fall line; heading control works against it."""
    motion = solve_turning(
        _settings(24.0, slope=math.radians(15.0), slope_direction=math.radians(35.0))
    )
    assert motion.success
    whole = [turn for turn in motion.half_turns if turn.complete]
    betas = np.array([[turn.beta, turn.side] for turn in whole[-6:]])
    assert np.all(betas[betas[:, 1] > 0, 0] < 1.0) and np.all(betas[betas[:, 1] < 0, 0] > 1.0)
    ends = motion.yaw[0] + np.cumsum([turn.change for turn in whole])
    assert np.max(np.abs(np.degrees(0.5 * (ends[-6:-1] + ends[-5:])))) < 0.1


def test_a_figure_that_runs_out_of_slope_stops_and_holds_still():
    """Straight and level with friction only: t = V / (mu g), here to 0.1 m/s."""
    motion = solve_turning(
        _settings(
            24.0, 20.0, speed=4.0, speed_mode="SLOPE", friction=0.08, drag_area=0.0, sharpness=0.0
        )
    )
    (event,) = [event for event in motion.events if event.kind == "STOP"]
    assert event.time == pytest.approx((4.0 - 0.1) / (0.08 * 9.81), abs=1e-4)
    assert not motion.success
    (problem,) = [problem for problem in motion.problems if problem.code == "STOP"]
    assert problem.time == event.time and problem.remedy
    still = motion.time > event.time
    assert still.sum() > 100
    for name in ("speed", "foot_speed", "lean_rate", "lean_acceleration", "curvature"):
        assert np.all(getattr(motion, name)[still] == 0.0), name
    for name in ("position", "yaw", "lean", "phase", "distance", "forward"):
        values = getattr(motion, name)[still]
        assert np.all(values == values[0]), name
    assert np.allclose(motion.leg_force[still], 70.0 * 9.81)


def test_speed_keyed_to_nothing_stops_there():
    times = sample_times(241, 24.0)
    motion = solve_turning(
        TurningSettings(n_frames=241, sharpness=0.02, speed=np.maximum(6.0 - times, 0.0))
    )
    (event,) = [event for event in motion.events if event.kind == "STOP"]
    assert event.time == pytest.approx(5.9, abs=1e-6)
    assert not any(np.isnan(motion.position).ravel())


# --- what happens on the way --------------------------------------------


def test_edge_changes_stand_where_the_body_is_upright():
    motion = solve_turning(_settings(24.0, **KEYED))
    changes = [event for event in motion.events if event.kind == "EDGE_CHANGE"]
    assert len(changes) > 15
    assert [event.side for event in changes[:4]] in (["R", "L", "R", "L"], ["L", "R", "L", "R"])
    for event, following in zip(changes, motion.half_turns[1:], strict=True):
        assert abs(np.interp(event.time, motion.time, motion.lean)) < 2e-3
        assert (following.side > 0) == (event.side == "L")
        assert following.start == event.time
        near = np.argmin(np.abs(motion.time - event.time))
        assert np.linalg.norm(event.position - motion.position[near]) < 0.2
    turns = motion.half_turns
    assert turns[0].start == 0.0 and turns[-1].end == pytest.approx(SECONDS)
    assert all(a.end == b.start for a, b in zip(turns, turns[1:], strict=False))
    assert sum(turn.change for turn in turns) == pytest.approx(motion.yaw[-1] - motion.yaw[0])
    assert [turn.complete for turn in turns] == [True] * (len(turns) - 1) + [False]


def test_figure_10_tracks():
    tracks = {name: [solve_turning(s) for s in group] for name, group in figure_10().items()}
    assert all(motion.success for group in tracks.values() for motion in group)
    first, second = tracks["figure-8s"]
    assert np.allclose(first.position * [-1, 1, 1], second.position, atol=1e-6)
    apart = np.abs(first.position[:, 0] - second.position[:, 0])
    crossings = np.sum(np.diff(np.sign(first.position[1:, 0] - second.position[1:, 0])) != 0)
    assert crossings == 15 and np.max(apart) > 2.0  # eight half turns in 20 s at 0.4 Hz
    (falling,) = tracks["falling frequency"]
    spans = [turn.end - turn.start for turn in falling.half_turns if turn.complete]
    assert spans[0] == pytest.approx(1.0 / 1.6, abs=1e-3)
    assert spans[-1] == pytest.approx(1.0 / 0.6, abs=2e-2)
    assert np.all(np.diff(spans) > -1e-2)
    (rising,) = tracks["rising sharpness"]
    apex = [
        np.max(np.abs(rising.lean[(rising.time >= turn.start) & (rising.time <= turn.end)]))
        for turn in rising.half_turns
        if turn.complete
    ]
    assert math.degrees(apex[0]) == pytest.approx(5.0, abs=0.1)
    assert math.degrees(apex[-1]) == pytest.approx(5.0 + math.degrees(0.5), abs=1.0)
    assert np.all(np.diff(apex) > -0.01)
    (turned,) = tracks["changing heading"]
    whole = [turn for turn in turned.half_turns if turn.complete]
    ends = turned.yaw[0] + np.cumsum([turn.change for turn in whole])
    assert 0.5 * (ends[-1] + ends[-2]) == pytest.approx(-0.9, abs=1e-3)


def test_irregularity_is_smooth_seeded_and_bounded():
    even = solve_turning(_settings(24.0))
    rough = {
        seed: solve_turning(
            _settings(24.0, amplitude_irregularity=0.15, rhythm_irregularity=0.1, seed=seed)
        )
        for seed in (1, 2)
    }
    assert not np.allclose(rough[1].lean, rough[2].lean, atol=0.01)
    for motion in rough.values():
        assert motion.success
        spans = [t.end - t.start for t in motion.half_turns if t.complete]
        assert 0.02 < np.std(spans) < 0.1
        assert 0.8 < min(spans) and max(spans) < 1.25
        size = motion.max_lean / even.max_lean[0]
        beta = np.array([t.beta for t in motion.half_turns])
        assert np.all(np.abs(size - 1.0) < 0.16 + np.max(np.abs(beta - 1.0)))
        assert np.max(np.abs(np.diff(motion.lean_acceleration))) < 2.0  # no jumps
        ends = motion.yaw[0] + np.cumsum([t.change for t in motion.half_turns if t.complete])
        assert np.max(np.abs(np.degrees(0.5 * (ends[1:] + ends[:-1])))) < 2.0


def test_irregularity_never_changes_with_the_machine():
    """Knots of a 64-bit integer hash; these values are part of the file format."""
    from poise.solvers.turning.irregularity import smooth_noise

    knots = smooth_noise(np.arange(4.0), 7)
    assert knots == pytest.approx(EXPECTED_NOISE, abs=1e-15)
    fine = smooth_noise(np.linspace(0.0, 3.0, 3001), 7)
    assert np.max(np.abs(np.diff(fine, 2))) < 2e-5
    assert np.all(np.abs(smooth_noise(np.linspace(-50.0, 200.0, 5000), 3)) <= 1.0)


EXPECTED_NOISE = [-0.9857811109135686, -0.541806296769106, 0.6583491946476168, -0.3306299033895761]


# --- many at once --------------------------------------------------------


def _mixed_batch():
    rng = np.random.default_rng(20240518)
    batch = []
    for index in range(48):
        kind = index % 8
        fps = 30.0 if kind == 7 else 24.0
        changes = {
            "speed": float(rng.uniform(5.0, 15.0)),
            "frequency": float(rng.uniform(0.3, 0.8)),
            "sharpness": float(rng.uniform(0.1, 0.5)),
        }
        if kind in (1, 4, 5):
            changes |= {"max_curvature": 0.2, "max_curvature_rate": 0.8}
        if kind == 2:
            changes |= KEYED
        if kind == 3:
            changes |= {"slope": 0.3, "slope_direction": 0.3}
        if kind == 4:
            changes |= {"slope": 0.25, "speed_mode": "SLOPE"}
        if kind == 5:
            changes |= {
                "start_state": BodyState(
                    np.array([1.0, 2.0, 0.0]),
                    0.2,
                    8.0,
                    lean=float(rng.uniform(-0.8, 0.8)),
                    lean_rate=float(rng.uniform(-3.0, 3.0)),
                    curvature=0.01,
                )
            }
        if kind == 6:
            changes |= {
                "heading": lambda t: np.clip(t - 3.0, 0.0, 0.5),
                "amplitude_irregularity": 0.1,
                "rhythm_irregularity": 0.1,
                "seed": index,
            }
        if kind == 7:
            changes |= {"start_phase": float(rng.uniform(0.0, 7.0))}
        batch.append(_settings(fps, 4.0 + kind, **changes))
    batch.append(TurningSettings(n_frames=1))
    return batch


def test_a_batch_has_the_numbers_of_one_at_a_time():
    batch = _mixed_batch()
    together = solve_turning_batch(batch)
    assert len(together) == len(batch)
    fallen = 0
    for settings, motion in zip(batch, together, strict=True):
        alone = solve_turning(settings)
        fallen += not alone.success
        assert motion.success == alone.success
        for item in fields(alone):
            a, b = getattr(alone, item.name), getattr(motion, item.name)
            if item.name in ("force_lateral", "force_normal", "leg_force"):
                a, b = a / (motion.mass * motion.gravity), b / (motion.mass * motion.gravity)
            if item.name == "lean_acceleration":
                a, b = a / motion.gravity, b / motion.gravity
            if isinstance(a, np.ndarray):
                assert a.shape == b.shape and a.dtype == b.dtype
                assert np.max(np.abs(a.astype(float) - b)) < 1e-9, item.name
        assert len(alone.half_turns) == len(motion.half_turns)
        for a, b in zip(alone.half_turns, motion.half_turns, strict=True):
            assert a.side == b.side and a.complete == b.complete and a.saturated == b.saturated
            assert a.end == pytest.approx(b.end, abs=1e-9)
            assert a.change == pytest.approx(b.change, abs=1e-9)
        assert [e.kind for e in alone.events] == [e.kind for e in motion.events]
        assert [p.code for p in alone.problems] == [p.code for p in motion.problems]
        assert alone.end_state.yaw == pytest.approx(motion.end_state.yaw, abs=1e-9)
    assert fallen >= 1  # falls are in the comparison too


def test_who_stands_all_at_once_stops_there():
    """Constant keys take the speed from 5 m/s to none within a step."""
    t = sample_times(97, 24.0)
    halted = TurningSettings(n_frames=97, fps=24.0, speed=np.where(t < 1.0, 5.0, 0.0))
    for motion in (solve_turning(halted), solve_turning_batch([halted])[0]):
        stop = motion.events[-1]
        assert stop.kind == "STOP" and stop.time == pytest.approx(1.0, abs=1.0 / 48.0)
        assert motion.speed[-1] == 0.0 and motion.success is False
    before = solve_turning(TurningSettings(n_frames=49, fps=24.0))
    for speed in (0.0, -0.0):
        standing = TurningSettings(n_frames=49, fps=24.0, speed=speed, start_state=before.end_state)
        for motion in (solve_turning(standing), solve_turning_batch([standing])[0]):
            assert [(event.kind, event.time) for event in motion.events] == [("STOP", 0.0)]


def test_an_empty_batch():
    assert solve_turning_batch([]) == []


# --- length and interruption --------------------------------------------


def test_one_frame_is_a_pose():
    motion = solve_turning(TurningSettings(n_frames=1, start_phase=1.0))
    assert motion.position.shape == (1, 3) and motion.time.shape == (1,)
    assert motion.lean[0] == pytest.approx(math.radians(23.0) * math.sin(1.0))
    assert motion.success and motion.half_turns == () and motion.events == ()


def test_ten_thousand_frames():
    motion = solve_turning(TurningSettings(n_frames=10_000))
    assert len(motion.time) == 19_999
    assert motion.success and np.all(np.isfinite(motion.position))
    assert abs(motion.position[-1, 0]) < 2.0
    assert np.max(np.abs(np.abs(motion.lean).max() - math.radians(23.0))) < 1e-6


def test_progress_is_reported_and_may_cancel():
    seen = []
    solve_turning(TurningSettings(n_frames=3000), seen.append)
    assert len(seen) > 8
    assert seen == sorted(seen) and seen[-1] == 1.0 and 0.0 <= seen[0] < 0.1

    def stop(fraction):
        if fraction > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled):
        solve_turning(TurningSettings(n_frames=3000), stop)
    with pytest.raises(Cancelled):
        solve_turning_batch([TurningSettings(n_frames=300)] * 3, stop)
