# SPDX-License-Identifier: GPL-3.0-or-later
"""Support profiles of groups of legs, and gaits chosen by Froude number."""

import math

import numpy as np
import pytest
from poise.solvers.errors import SettingError
from poise.solvers.legged.choose import LADDERS, Band, choose_gaits
from poise.solvers.legged.gait import PRESETS
from poise.solvers.legged.support import down, share_down, support_profile


def _steps(gait, legs, period=1.0, strides=4):
    duty, phase = np.array(gait.duty)[legs], np.array(gait.phase)[legs]
    on = (phase[:, None] + np.arange(strides)).ravel() * period
    return on, on + np.repeat(duty, strides) * period


def test_profile_is_the_union_of_the_legs_supports():
    random = np.random.default_rng(1)
    for n in (1, 2, 3, 5, 8):
        on = np.sort(random.uniform(0.0, 10.0, 3 * n))
        off = on + random.uniform(0.05, 0.9, 3 * n)
        profile = support_profile(*np.stack((on, off))[:, random.permutation(3 * n)])
        time = np.linspace(on[0], off.max(), 4001)[1:-1]
        standing = ((on <= time[:, None]) & (time[:, None] <= off)).any(axis=1)
        assert np.array_equal(profile.airborne(time), ~standing)
        assert np.all(profile.start[1:] > profile.end[:-1])


def test_walk_has_no_flight_and_a_trot_two_short_ones_a_stride():
    hind = [0, 1]
    assert len(support_profile(*_steps(PRESETS["WALK"], hind)).start) == 1
    profile = support_profile(*_steps(PRESETS["TROT"], hind))
    start, end = profile.flights()
    assert len(start) == 7
    duty = PRESETS["TROT"].duty[0]
    assert duty < 0.5
    assert np.allclose(end - start, 0.5 - duty, atol=1e-12)
    assert np.allclose(profile.ratios(), (0.5 - duty) / duty, atol=1e-12)


def test_whole_horse_flies_once_a_stride_in_gallop():
    """After the leading fore leg: the gathered suspension."""
    profile = support_profile(*_steps(PRESETS["GALLOP_LEFT"], [0, 1, 2, 3], strides=3))
    start, end = profile.flights()
    assert np.allclose(start, np.array([0.57 + 0.265, 1.57 + 0.265]))
    assert np.allclose(end, [1.0, 2.0])


def test_legs_that_relieve_each_other_at_once_leave_no_flight():
    on = np.arange(6) * 0.5
    assert len(support_profile(on, on + 0.5).start) == 1


def test_gaps_too_short_for_a_flight_are_none():
    """Over 4 ms, a fall by 2 cm would take a throw at 5 m/s."""
    on, off = np.array([0.0, 0.504, 1.1]), np.array([0.5, 1.0, 1.5])
    assert np.allclose(support_profile(on, off).flights(), [[1.0], [1.1]])


def test_standing_for_ever_is_one_support():
    profile = support_profile(np.array([-math.inf]), np.array([math.inf]))
    assert not profile.airborne(np.linspace(-5, 5, 11)).any()
    assert profile.ratios()[0] == 0.0


def test_time_on_the_ground_is_counted_exactly():
    on, off = np.array([-math.inf, 1.1, 2.0]), np.array([0.25, 1.6, math.inf])
    share = share_down(on, off, np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5]))
    assert np.allclose(share, [0.5, 0.0, 0.8, 0.2, 1.0], atol=1e-12)
    at = np.array([0.25, 0.3, 1.1, 1.6, 1.7, 9.0])
    assert down(on, off, at).tolist() == [True, False, True, True, False, True]


def test_accelerating_horse_walks_trots_canters_and_gallops():
    time = np.linspace(0.0, 30.0, 721)
    speed = 1.0 + 0.4 * time
    chosen = choose_gaits(time, speed, 1.4, 9.81)
    assert [choice.gait for choice in chosen] == [band.gait for band in LADDERS["QUADRUPED"]]
    # v = sqrt(Fr g h) at the exact moments.
    for choice, band in zip(chosen[1:], LADDERS["QUADRUPED"][1:], strict=True):
        assert 1.0 + 0.4 * choice.start == pytest.approx(math.sqrt(band.up * 9.81 * 1.4), abs=1e-9)
    # Walk to trot of a horse at about 2.3 m/s, trot to canter at some 5 m/s.
    assert 2.0 < 1.0 + 0.4 * chosen[1].start < 2.6
    assert 4.5 < 1.0 + 0.4 * chosen[2].start < 6.0


def test_gaits_do_not_flutter_about_a_border():
    time = np.linspace(0.0, 20.0, 481)
    border = math.sqrt(0.4 * 9.81 * 1.4)
    speed = border * (0.999 + 0.05 * np.sin(3.0 * time))  # Fr varies by 10 %
    assert len(choose_gaits(time, speed, 1.4, 9.81)) == 2
    assert len(choose_gaits(time, speed, 1.4, 9.81, hysteresis=0.0)) > 10


def test_slowing_goes_back_down_at_a_lower_number():
    time = np.linspace(0.0, 30.0, 721)
    chosen = choose_gaits(time, 13.0 - 0.4 * time, 1.4, 9.81)
    assert [choice.gait for choice in chosen] == [
        "GALLOP_LEFT", "CANTER_LEFT", "TROT", "WALK",
    ]
    assert 13.0 - 0.4 * chosen[1].start == pytest.approx(math.sqrt(3.0 * 9.81 * 1.4), abs=1e-9)


def test_gaits_between_are_skipped_where_speed_jumps():
    speed = np.array([1.0, 1.0, 12.0, 12.0, 0.5])
    chosen = choose_gaits(np.arange(5.0), speed, 1.4, 9.81)
    assert [choice.gait for choice in chosen] == ["WALK", "GALLOP_LEFT", "WALK"]


def test_bad_ladders_are_refused():
    time, speed = np.arange(2.0), np.ones(2)
    with pytest.raises(SettingError, match="empty"):
        choose_gaits(time, speed, 1.0, 9.81, ladder=())
    with pytest.raises(SettingError, match="in order"):
        choose_gaits(time, speed, 1.0, 9.81, (Band("A", 0), Band("B", 3.0), Band("C", 1.0)))
    with pytest.raises(SettingError, match="Reluctance"):
        choose_gaits(time, speed, 1.0, 9.81, hysteresis=1.0)
