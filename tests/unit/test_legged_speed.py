# SPDX-License-Identifier: GPL-3.0-or-later
"""Speeds by places along the way."""

import numpy as np
import pytest
from poise.solvers.errors import SettingError
from poise.solvers.legged.speed import speeds_along
from scipy.integrate import solve_ivp


def test_the_way_obeys_the_speed_at_each_place():
    """ds/dt = v(s), against an integration that knows only v(s)."""
    points = [(8.0, 4.0), (0.0, 1.0), (3.0, 1.5), (20.0, 2.0)]
    time = np.linspace(0.0, 9.0, 181)
    speed, way = speeds_along(points, time)
    place, v = np.array(sorted(points)).T

    def law(_t, s):
        return np.sqrt(np.interp(s, place, v * v))

    whole = solve_ivp(law, (0.0, 9.0), [0.0], t_eval=time, rtol=1e-11, atol=1e-12, max_step=0.01)
    assert way == pytest.approx(whole.y[0], abs=1e-7)
    assert speed == pytest.approx(law(0.0, way), abs=1e-9)
    # At its points it has their speeds.
    for distance, wanted in points:
        assert np.interp(distance, way, speed) == pytest.approx(wanted, abs=0.05)


def test_bodies_stop_where_they_are_told_to_and_get_under_way():
    time = np.linspace(0.0, 30.0, 301)
    speed, way = speeds_along([(0.0, 0.0), (2.0, 2.0), (10.0, 2.0), (12.0, 0.0)], time)
    # 2 m at 1 m/s^2 twice and 8 m at 2 m/s.
    assert speed[0] == 0.0 and np.interp(2.0, way, time) == pytest.approx(2.0, abs=0.02)
    assert speed[time > 8.0].max() == 0.0 and way[-1] == pytest.approx(12.0, abs=1e-12)
    # Held before the first point and after the last; between two of speed 0 it stands.
    speed, way = speeds_along([(5.0, 3.0)], time)
    assert np.all(speed == 3.0) and way == pytest.approx(3.0 * time)
    speed, way = speeds_along([(0.0, 0.0), (5.0, 0.0), (6.0, 3.0)], time)
    assert np.all(speed == 0.0) and np.all(way == 0.0)
    # Points behind the start count for the speed at it: v^2 is linear in the way.
    assert speeds_along([(-1.0, 1.0), (1.0, 3.0)], np.zeros(1))[0] == pytest.approx(5.0**0.5)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([], "Speed Points is an empty list: it must be one point at least"),
        ([(0.0, 1.0), (0.0, 2.0)], "Distance of two speed points is 0 m"),
        ([(0.0, 1.0), (1.0, -1.0)], "Speed of speed point 2 is -1.0"),
        ([(np.nan, 1.0)], "Distance of speed point 1 is nan"),
    ],
)
def test_points_without_sense_are_named(points, words):
    with pytest.raises(SettingError, match=words):
        speeds_along(points, np.zeros(3))
