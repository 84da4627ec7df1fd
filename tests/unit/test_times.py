# SPDX-License-Identifier: GPL-3.0-or-later
"""Moments and spans, against comparing each of them with each; and what that costs long motions."""

import tracemalloc

import numpy as np
import pytest
from poise.addon.mapping.legged import STYLES, map_legged
from poise.addon.mapping.legs import creature_of
from poise.addon.rigs.builders.legged import FIGURES
from poise.solvers.legged import FootprintEdit, GaitItem, GaitSettings, solve_gait
from poise.solvers.times import covering, gap, nearest, over_spans


@pytest.fixture(params=range(20))
def spans(request):
    """Moments, some of them ends of spans, and spans, some of which end before they begin."""
    random = np.random.default_rng(request.param)
    begin = random.integers(0, 20, request.param).astype(float)
    end = begin + random.integers(-1, 6, request.param)
    return random.integers(-2, 30, 40) / 1.0, begin, end


def test_the_nearest_moment_is_found(spans):
    at, times, _ = spans
    times = np.sort(times)
    apart = np.abs(at[:, None] - times)
    assert gap(at, times).tolist() == apart.min(axis=1, initial=np.inf).tolist()
    if len(times):
        assert times[nearest(times, at)].tolist() == times[apart.argmin(axis=1)].tolist()


def test_spans_that_cover_a_moment_are_counted(spans):
    at, begin, end = spans
    closed = (begin <= at[:, None]) & (at[:, None] <= end)
    inside = (begin < at[:, None]) & (at[:, None] < end)
    assert covering(at, begin, end).tolist() == closed.sum(axis=1).tolist()
    assert covering(at, begin, end, ends=False).tolist() == inside.sum(axis=1).tolist()


@pytest.mark.parametrize("pick", [np.maximum, np.minimum])
def test_values_of_spans_that_cover_a_moment_are_picked_from(spans, pick):
    at, begin, end = spans
    value = np.sin(1.0 + begin + 3.0 * end)
    closed = (begin <= at[:, None]) & (at[:, None] <= end)
    found = np.full(len(at), 0.1)
    over_spans(pick, found, at, begin, end, value)
    assert found.tolist() == pick.reduce(np.where(closed, value, 0.1), axis=1, initial=0.1).tolist()


@pytest.mark.parametrize(("kind", "size", "gait", "more"), [
    ("INSECT", 0.1, "TRIPOD", {"speed": 0.02}), ("DOG", 0.1, "WALK", {"speed": 0.1}),
    ("DOG", 0.02, "TROT", {"speed": 0.0}),
    ("DOG", 0.1, "WALK", {"speed": 0.1, "edits": tuple(
        FootprintEdit("fore.L", i, yaw=0.05) for i in range(1, 24))}),
])
def test_memory_grows_with_the_duration_not_with_its_square(kind, size, gait, more):
    """Twice the duration, at most 2.3 times the memory; an array of all steps or moments by all
    others takes four times as much."""
    figure = FIGURES[kind]().scaled(size)
    peaks = []
    for seconds in (10, 20):
        settings = GaitSettings(
            creature=creature_of(figure), sequence=(GaitItem(gait),), n_frames=24 * seconds + 1,
            **more,
        )
        tracemalloc.start()
        map_legged(solve_gait(settings), figure, STYLES[kind.lower()])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2.3 * peaks[0], [round(peak / 1e6) for peak in peaks]
