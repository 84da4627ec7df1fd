# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad settings give one clear sentence, extreme ones a motion without NaN."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from poise.solvers.errors import SettingError
from poise.solvers.motion import BodyState, Placement
from poise.solvers.turning import TurningSettings, sample_times, solve_turning, summarise

NAN, INF = math.nan, math.inf
STATE = BodyState(np.zeros(3), 0.0, 8.0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_frames": 0}, "Number of Frames is 0"),
        ({"n_frames": -5}, "the end must not come before the start"),
        ({"n_frames": 2.5}, "a whole number"),
        ({"n_frames": True}, "a whole number"),
        ({"n_frames": 10**9}, "at most 1,000,000"),
        ({"fps": 0.0}, "Frame Rate is 0.0"),
        ({"fps": NAN}, "Frame Rate is nan"),
        ({"fps": "fast"}, "Frame Rate is fast"),
        ({"speed": 0.0}, "Speed at the start is 0.0"),
        ({"speed": -1.0}, "Speed is -1.0"),
        ({"speed": NAN}, "Speed is nan"),
        ({"speed": INF}, "Speed is inf"),
        ({"speed": None}, "Speed is None"),
        ({"speed": "quick"}, "Speed is quick"),
        ({"frequency": 0.0}, "Frequency is 0.0"),
        ({"frequency": 50.0}, "Frequency is 50.0"),
        ({"sharpness": -0.1}, "Max Lean is -0.1"),
        ({"sharpness": 1.2}, "below Falls At, 60.0 degrees"),
        ({"sharpness": 2.0}, "Max Lean is 2.0"),
        ({"heading": NAN}, "Heading is nan"),
        ({"max_curvature": 0.0}, "Curvature Limit is 0.0"),
        ({"max_curvature_rate": -1.0}, "Curvature Rate Limit is -1.0"),
        ({"mass": 0.0}, "Mass is 0.0"),
        ({"mass": INF}, "Mass is inf"),
        ({"height": 0.0}, "CoM Height is 0.0"),
        ({"inertia": -1.0}, "Inertia is -1.0"),
        ({"slope": 1.5}, "Slope is 1.5"),
        ({"slope": -0.2}, "Slope is -0.2"),
        ({"slope_direction": INF}, "Fall Line is inf"),
        ({"friction": -0.1}, "Friction is -0.1"),
        ({"drag_area": NAN}, "Drag Area is nan"),
        ({"gravity": 0.0}, "Gravity is 0.0"),
        ({"speed_mode": "FAST"}, "Speed Mode is FAST"),
        ({"start_phase": NAN}, "Start Phase is nan"),
        ({"fall_angle": 0.0}, "Falls At is 0.0"),
        ({"fall_angle": 2.0}, "Falls At is 2.0"),
        ({"amplitude_irregularity": 1.5}, "Irregularity is 1.5"),
        ({"rhythm_irregularity": -0.5}, "Irregularity is -0.5"),
        ({"seed": 1.5}, "Seed is 1.5"),
        ({"placement": Placement(np.array([0.0, NAN, 0.0]))}, "three finite coordinates"),
        ({"placement": Placement(np.zeros(2))}, "three finite coordinates"),
        ({"placement": Placement(yaw=NAN)}, "Placement Yaw is nan"),
        ({"start_state": replace(STATE, lean=1.2)}, "below the fall angle"),
        ({"start_state": replace(STATE, lean_rate=NAN)}, "lean_rate is nan"),
        ({"start_state": replace(STATE, lean_rate=1e6)}, "lean_rate is 1000000.0"),
        ({"start_state": replace(STATE, speed=0.0)}, "Start State: speed is 0.0"),
        ({"start_state": replace(STATE, position=np.array([0.0, INF, 0.0]))}, "Start Position"),
        ({"speed": np.full(10, 8.0)}, r"an array of shape \(10,\)"),
        ({"speed": np.full((97, 2), 8.0)}, r"an array of shape \(97, 2\)"),
        ({"heading": np.array([0.0, "x"], dtype=object)}, "a number"),
    ],
)
def test_bad_settings_are_refused_with_one_sentence(changes, words):
    settings = replace(TurningSettings(n_frames=25), **changes)
    with pytest.raises(SettingError, match=words) as caught:
        solve_turning(settings)
    text = str(caught.value)
    assert "must be" in text and "\n" not in text
    with pytest.raises(ValueError, match=words):
        solve_turning(settings)


def test_a_bad_key_is_named_with_its_time():
    times = sample_times(25, 24.0)
    speed = np.where(times > 0.5, -1.0, 8.0)
    with pytest.raises(SettingError, match=r"Speed at 0\.510 s is -1\.0"):
        solve_turning(TurningSettings(n_frames=25, speed=speed))


def test_arrays_that_stay_the_same_are_numbers():
    n = 49
    count = len(sample_times(n, 24.0))
    plain = TurningSettings(n_frames=n, slope=0.2)
    spread = replace(
        plain,
        **{
            item.name: np.full(count, getattr(plain, item.name))
            for item in fields(plain)
            if item.type.startswith("Sampled")
        },
    )
    assert np.array_equal(solve_turning(plain).position, solve_turning(spread).position)
    assert summarise(plain) == summarise(spread)


def _finite(motion):
    for item in fields(motion):
        value = getattr(motion, item.name)
        if isinstance(value, np.ndarray):
            assert np.all(np.isfinite(value)), item.name
    state = motion.end_state
    assert np.all(np.isfinite(state.position))
    assert all(math.isfinite(x) for x in (state.yaw, state.speed, state.lean, state.phase))


@pytest.mark.parametrize(
    "changes",
    [
        {"speed": 0.1},
        {"speed": 0.3, "max_curvature": 0.2, "max_curvature_rate": 0.8},
        {"speed": 1000.0},
        {"sharpness": 0.0},
        {"sharpness": math.radians(59.9)},
        {"sharpness": math.radians(84.0), "fall_angle": math.pi / 2},
        {"sharpness": math.radians(84.0), "fall_angle": math.pi / 2, "speed": 1.0},
        {"frequency": 5.0, "sharpness": 1.0},
        {"frequency": 0.01},
        {"heading": 1e4},
        {"max_curvature": 1e-9},
        {"max_curvature_rate": 1e-9},
        {"max_curvature": 1e9, "speed": 0.2},
        {"mass": 1e-3},
        {"mass": 1e6},
        {"height": 0.001},
        {"height": 1000.0},
        {"inertia": 0.0},
        {"inertia": 1e9},
        {"slope": math.radians(80.0), "speed_mode": "SLOPE"},
        {"slope": math.radians(80.0), "speed_mode": "SLOPE", "max_curvature": 0.2},
        {"slope": 0.5, "slope_direction": math.pi, "speed_mode": "SLOPE"},
        {"slope": 0.5, "slope_direction": math.pi / 2, "speed": 0.5},
        {"friction": 10.0, "speed_mode": "SLOPE"},
        {"drag_area": 1000.0, "speed_mode": "SLOPE"},
        {"gravity": 1e-6},
        {"gravity": 1000.0},
        {"fall_angle": 0.4015},
        {"amplitude_irregularity": 0.9, "rhythm_irregularity": 0.9},
        {"start_state": replace(STATE, lean=1.0, lean_rate=49.0)},
        {"start_state": replace(STATE, lean=-1.04, lean_rate=-1e-9, curvature=1e6)},
        {"start_state": replace(STATE, yaw=1e5, phase=-1e5)},
        {"fps": 1.0, "n_frames": 8},
        {"fps": 10000.0},
    ],
)
def test_extreme_settings_give_a_motion_without_nan(changes):
    settings = replace(TurningSettings(n_frames=121), **changes)
    with np.errstate(all="raise", under="ignore"):
        motion = solve_turning(settings)
    _finite(motion)
    assert motion.success or motion.problems
    for problem in motion.problems:
        assert problem.message and "nan" not in problem.message
    summary = summarise(settings)
    assert not math.isnan(summary.half_turn) and summary.min_radius > 0.0


def test_random_settings_give_a_motion_or_a_sentence():
    """Seeded; half of the draws lie within the ranges, half anywhere."""
    rng = np.random.default_rng(7)
    solved = refused = 0
    times = sample_times(73, 24.0)
    for trial in range(150):
        wild = trial % 2
        pick = (
            (lambda low, high: float(rng.choice([low, high, 0.0, -1.0, 1e9, NAN])))
            if wild
            else (lambda low, high: float(rng.uniform(low, high)))
        )
        ranges = {
            "speed": (0.5, 30.0),
            "frequency": (0.1, 2.0),
            "sharpness": (0.0, 1.0),
            "heading": (-3.0, 3.0),
            "max_curvature": (0.05, 1.0),
            "max_curvature_rate": (0.2, 5.0),
            "mass": (20.0, 120.0),
            "height": (0.4, 1.5),
            "inertia": (0.0, 20.0),
            "slope": (0.0, 0.8),
            "slope_direction": (-3.0, 3.0),
            "friction": (0.0, 0.5),
            "drag_area": (0.0, 2.0),
            "gravity": (1.0, 20.0),
        }
        changes = {}
        for name, (low, high) in ranges.items():
            if rng.random() < (0.2 if wild else 0.7):
                changes[name] = pick(low, high)
                if rng.random() < 0.3:
                    changes[name] = np.where(
                        times < rng.uniform(0.0, 3.0), changes[name], pick(low, high)
                    )
        settings = TurningSettings(
            n_frames=73, speed_mode=str(rng.choice(["KEYED", "SLOPE"])), **changes
        )
        try:
            motion = solve_turning(settings)
        except SettingError as error:
            refused += 1
            assert "must be" in str(error)
            continue
        solved += 1
        _finite(motion)
    assert solved >= 60 and refused >= 20
