# SPDX-License-Identifier: GPL-3.0-or-later
"""Gait shifting: the optimum against trying everything (Girard 1986, section 3.4)."""

import itertools

import numpy as np
import pytest
from poise.solvers.errors import SettingError
from poise.solvers.legged.shift import minimum_shift

WHOLE = {n: np.array(list(itertools.product((-2, -1, 0, 1, 2, 3), repeat=n - 1)), dtype=float)
         for n in range(2, 6)}


def _pairs(count, seed):
    """Random pairs of gaits in frames: touchdowns, transfers, k, period."""
    random = np.random.default_rng(seed)
    for i in range(count):
        n = 2 + i % 7
        period = int(random.integers(8, 41))
        current = random.integers(0, period, n)
        wanted = random.integers(0, period, n)
        transfer = random.integers(1, period, n)
        least = int(random.integers(0, period // 2 + 1))
        yield n, current, wanted, transfer, least, period


def _every_frame(current, wanted, transfer, least, period):
    """The paper's exhaustive search: each c in frames, each leg's best whole number."""
    c = np.arange(period)[:, None, None]
    m = np.arange(-3, 4)[:, None] * period
    shift = c + (wanted - current) + m  # (c, m, leg)
    cost = np.where(transfer + shift >= least, shift.astype(float) ** 2, np.inf)
    return cost.min(axis=1).sum(axis=1).min()


def test_optimum_on_whole_frames_equals_trying_everything():
    """1,000 random pairs of gaits, 2 to 8 legs."""
    for n, current, wanted, transfer, least, period in _pairs(1000, 1):
        found = minimum_shift(current, wanted, transfer, least, period, step=1.0)
        assert found.shift.shape == (n,)
        assert np.all(transfer + found.shift >= least - 1e-9)
        assert np.allclose(found.shift, np.round(found.shift), atol=1e-9)
        # Every touchdown is one of the next gait.
        late = current + found.shift - wanted - found.offset
        assert np.allclose(np.mod(late + 0.5 * period, period), 0.5 * period, atol=1e-9)
        best = _every_frame(current, wanted, transfer, least, period)
        assert found.cost == pytest.approx(best, abs=1e-9), (current, wanted, transfer, least)


def test_optimum_between_frames_equals_trying_every_combination():
    """All whole numbers m_i, m_0 = 0; for each, c is the mean or the bound: a convex problem."""
    random = np.random.default_rng(2)
    for i in range(200):
        n = 2 + i % 4
        period = random.uniform(0.3, 2.0)
        current, wanted = random.uniform(0.0, 2.0 * period, (2, n))
        transfer = random.uniform(0.05, 0.9, n) * period
        least = random.uniform(0.0, 0.7) * period
        found = minimum_shift(current, wanted, transfer, least, period)
        assert np.all(transfer + found.shift >= least - 1e-12)
        m = np.pad(WHOLE[n], ((0, 0), (1, 0)))
        offset = np.mod(wanted - current, period) + m * period
        c = np.maximum(-offset.mean(axis=1), (least - transfer - offset).max(axis=1))
        best = ((c[:, None] + offset) ** 2).sum(axis=1).min()
        assert found.cost == pytest.approx(best, rel=1e-9, abs=1e-12)


def test_optimum_with_two_touchdowns_a_period_equals_trying_every_choice():
    """Of the touchdowns of a gait whose sides alternate each leg takes whichever costs least."""
    random = np.random.default_rng(6)
    for i in range(120):
        n = 2 + i % 3
        current = random.uniform(0.0, 4.0, n)
        wanted = random.uniform(0.0, 2.0, (n, 2))
        transfer, least = random.uniform(0.1, 1.3, n), random.uniform(0.0, 0.7)
        found = minimum_shift(current, wanted, transfer, least, 2.0)
        assert np.all(transfer + found.shift >= least - 1e-12)
        late = (current + found.shift - found.offset)[:, None] - wanted
        assert np.all(np.abs(np.mod(late + 1.0, 2.0) - 1.0).min(axis=1) < 1e-12)
        best = min(
            minimum_shift(current, wanted[range(n), choice], transfer, least, 2.0).cost
            for choice in itertools.product((0, 1), repeat=n)
        )
        assert found.cost == pytest.approx(best, rel=1e-9, abs=1e-12)


def test_optimum_of_eight_legs_is_not_beaten_by_any_c():
    random = np.random.default_rng(3)
    for _ in range(50):
        current, wanted = random.uniform(0.0, 1.0, (2, 8))
        transfer = random.uniform(0.1, 0.6, 8)
        found = minimum_shift(current, wanted, transfer, 0.3, 1.0)
        c = np.linspace(0.0, 1.0, 20001)[:, None]
        low = np.maximum(0.3 - transfer, -0.5)
        shift = low + np.mod(c + wanted - current - low, 1.0)
        tried = (shift**2).sum(axis=1).min()
        assert found.cost <= tried + 1e-12
        assert found.cost >= tried - 1e-3


def test_shorter_ways_of_the_kind_that_miss_the_optimum():
    """Aligning to the first leg, or only positive shifts, costs more in most cases."""
    aligned = positive = 0
    for _, current, wanted, transfer, _least, period in _pairs(300, 4):
        best = minimum_shift(current, wanted, transfer, 0, period).cost
        d = np.mod(wanted - current, period)
        first = np.mod(d - d[0] + 0.5 * period, period) - 0.5 * period
        aligned += np.sum(first**2) > best + 1e-9
        positive += np.sum(np.mod(d - d[0], period) ** 2) > best + 1e-9
    assert aligned > 150 and positive > 150


def test_same_gait_needs_no_shift_and_a_late_one_the_same_for_all():
    touchdown = np.array([0.0, 0.5, 0.25, 0.75])
    same = minimum_shift(touchdown, touchdown + 3.0, np.full(4, 0.4), 0.3, 1.0)
    assert np.allclose(same.shift, 0.0, atol=1e-12)
    # k longer than the transfers: every leg is late by the difference.
    late = minimum_shift(touchdown, touchdown, np.full(4, 0.4), 0.6, 1.0)
    assert np.allclose(late.shift, 0.2, atol=1e-12)


def test_mirror_images_of_each_other_cost_the_same():
    random = np.random.default_rng(5)
    for _ in range(50):
        current, wanted = random.uniform(0.0, 1.0, (2, 4))
        one = minimum_shift(current, wanted, np.full(4, 0.5), 0.2, 1.0)
        order = np.array([1, 0, 3, 2])
        two = minimum_shift(current[order], wanted[order], np.full(4, 0.5), 0.2, 1.0)
        assert one.cost == pytest.approx(two.cost, abs=1e-12)


@pytest.mark.parametrize("period", [0.0, -1.0, np.inf, np.nan])
def test_period_has_to_be_a_duration(period):
    with pytest.raises(SettingError, match="Period"):
        minimum_shift(np.zeros(2), np.zeros(2), np.ones(2), 0.1, period)


def test_no_legs_is_a_sentence():
    with pytest.raises(SettingError, match="Number of Legs"):
        minimum_shift(np.zeros(0), np.zeros(0), np.zeros(0), 0.1, 1.0)
