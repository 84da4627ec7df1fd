# SPDX-License-Identifier: GPL-3.0-or-later
"""The path: arc length, nearest points in order, and curves that are none."""

import math

import numpy as np
import pytest
from poise.solvers.errors import SettingError
from poise.solvers.path.course import make_course, simplify


def circle(radius, count=400, turns=1.0):
    angle = np.linspace(0.0, 2.0 * math.pi * turns, count)
    return radius * np.stack((np.cos(angle), np.sin(angle)), axis=1)


def figure_of_eight(size=20.0, count=1200):
    """Crosses itself in the origin: at the start, half way and at the end."""
    t = np.linspace(0.0, 2.0 * math.pi, count)
    return size * np.stack((np.sin(t), np.sin(t) * np.cos(t)), axis=1)


def brute_force(points, p, least, most):
    """Nearest point of a polyline at arc lengths within [least, most], by its definition."""
    a, d = points[:-1], np.diff(points, axis=0)
    size = np.hypot(*d.T)
    start = np.concatenate(([0.0], np.cumsum(size)))[:-1]
    t = np.einsum("ij,ij->i", p - a, d) / size
    t = np.clip(t, np.maximum(least - start, 0.0), np.minimum(most - start, size))
    inside = (start + size >= least) & (start <= most)
    distance = np.hypot(*(a + (t / size)[:, None] * d - p).T)
    distance[~inside] = np.inf
    best = int(np.argmin(distance))
    return distance[best], start[best] + t[best]


def test_arc_length_of_a_circle():
    course = make_course([circle(12.0)], cyclic=False)
    assert course.length == pytest.approx(2.0 * math.pi * 12.0, rel=1e-3)
    assert not course.cyclic


def test_arc_length_is_that_of_the_polyline_however_it_is_sampled():
    line = np.array([(0.0, 0.0), (3.0, 4.0), (3.0, 10.0)])
    fine = np.concatenate([np.linspace(line[i], line[i + 1], 50) for i in range(2)])
    for points in (line, fine):  # fine has its corner twice
        assert make_course([points]).length == pytest.approx(11.0, abs=1e-9)


def test_a_cyclic_path_closes_and_goes_on_around():
    square = np.array([(0.0, 0.0), (20.0, 0.0), (20.0, 20.0), (0.0, 20.0)])
    course = make_course([square], cyclic=True, run_out=30.0)
    assert course.cyclic and course.length == pytest.approx(80.0, abs=1e-9)
    where, _ = course.locate(np.array([70.0, 80.0, 90.0]))
    assert where == pytest.approx(np.array([(0.0, 10.0), (0.0, 0.0), (10.0, 0.0)]), abs=1e-9)


def test_laps():
    square = np.array([(0.0, 0.0), (20.0, 0.0), (20.0, 20.0), (0.0, 20.0)])
    course = make_course([square], cyclic=True, laps=3)
    assert course.length == pytest.approx(240.0, abs=1e-9)
    assert course.locate(np.array([230.0]))[0][0] == pytest.approx([0.0, 10.0], abs=1e-9)


def test_splines_are_followed_in_order_with_a_straight_way_between():
    a = np.array([(0.0, 0.0, 5.0), (10.0, 0.0, 5.0)])
    b = np.array([(10.0, 10.0, 0.0), (20.0, 10.0, 0.0)])
    course = make_course([a, b])
    assert course.length == pytest.approx(30.0, abs=1e-9)
    assert course.locate(np.array([15.0]))[0][0] == pytest.approx([10.0, 5.0], abs=1e-9)
    assert course.height == 5.0
    assert make_course([b, a]).locate(np.array([0.0]))[0][0] == pytest.approx([10.0, 10.0])


def test_straight_on_beyond_the_end():
    course = make_course([np.array([(0.0, 0.0), (0.0, -10.0)])], run_out=30.0)
    assert course.length == pytest.approx(10.0)
    assert course.locate(np.array([30.0]))[0][0] == pytest.approx([0.0, -30.0])


def test_simplified_within_the_tolerance():
    points = circle(10.0, 2000)
    kept = simplify(points, 0.002)
    assert len(kept) < 300
    off = [brute_force(kept, p, 0.0, np.inf)[0] for p in points[::7]]
    assert max(off) <= 0.002


def test_nearest_points_are_those_of_the_definition():
    rng = np.random.default_rng(3)
    t = np.linspace(0.0, 60.0, 900)
    path = np.stack((4.0 * np.sin(t / 5.0) + np.sin(t), -t), axis=1)
    course = make_course([path], window=4.8)
    n = 300
    segment = rng.integers(0, np.searchsorted(course.along, 45.0), n)
    along = course.along[segment] + rng.uniform(0.0, 1.0, n) * course.table[segment, 5]
    at = course.locate(along)[0]
    step = rng.uniform(-1.0, 1.0, (3, n, 2)) * 0.8 + course.direction[segment] * 0.8
    track = at + rng.uniform(-2.5, 2.5, (n, 2)) + np.cumsum(step, axis=0)
    distance, found, where = course.advance(track[..., 0], track[..., 1], segment, along)
    order = compared = exact = 0
    longest = float(course.table[:, 5].max())
    for j in range(n):
        least = along[j]
        # The window ends with the first vertex beyond it.
        end = np.searchsorted(course.along, course.along[segment[j]] + course.window, "right")
        most = course.along[end]
        for i in range(3):
            d, s = brute_force(course.points, track[i, j], least, most)
            if max(s, where[i, j]) < most - 1e-9:
                compared += 1
                # No further than the nearest vertex, and nearly always exact.
                assert d - 1e-9 <= distance[i, j] <= math.hypot(d, 0.5 * longest) + 1e-9
                exact += abs(distance[i, j] - d) < 1e-9 and abs(where[i, j] - s) < 1e-6
            order += where[i, j] == least and i > 0
            assert where[i, j] >= least - 1e-9
            assert course.along[found[i, j]] - 1e-9 <= where[i, j]
            least = where[i, j]
    assert longest <= 4.8 / 12.0 + 1e-9
    assert compared > 700 and exact > 0.97 * compared
    assert order > 10  # that the nearest is not before the last one mattered


def test_a_path_that_crosses_itself_is_followed_in_order():
    course = make_course([figure_of_eight()], window=4.8)
    s = np.arange(0.0, course.length, 0.8)
    points = course.locate(s)[0]
    segment, along, found = np.array([0]), np.zeros(1), []
    for p in points:
        _, segment, along = course.advance(p[:1, None], p[1:, None], segment, along)
        segment, along = segment[-1], along[-1]
        found.append(float(along[0]))
    assert np.max(np.abs(np.array(found) - s)) < 1e-6
    # The place of the crossing is on the path twice, and found where it is due.
    crossing = 0.5 * course.length
    i = int(np.argmin(np.abs(s - crossing)))
    assert np.hypot(*points[i]) < 0.8 and abs(found[i] - crossing) < 0.8


@pytest.mark.parametrize(
    ("polylines", "text"),
    [
        ([], "Path is a curve without points"),
        ([np.zeros((0, 3))], "Path is a curve without points"),
        ([np.zeros((1, 3))], "Path is a curve of one point"),
        ([np.ones((5, 2))], "Path is a curve without length"),
        ([np.array([(0.0, 0.0), (1e-9, 0.0), (0.0, 1e-9)])], "Path is a curve"),
        ([np.array([(0.0, 0.0), (np.nan, 1.0)])], "Point 2 of spline 1 of the path"),
        ([np.zeros((2, 2)), np.array([(0.0, np.inf)])], "Point 1 of spline 2 of the path"),
        ([np.zeros((3, 5))], "Spline 1 of the path is an array of shape"),
        (["nonsense"], "Spline 1 of the path is nonsense"),
    ],
)
def test_what_is_no_path_gives_one_clear_sentence(polylines, text):
    with pytest.raises(SettingError, match="must be") as error:
        make_course(polylines)
    assert str(error.value).startswith(text)


@pytest.mark.parametrize("size", [1e-5, 0.02, 0.5, 3.0])
@pytest.mark.parametrize("cyclic", [False, True])
def test_paths_shorter_than_the_window(size, cyclic):
    course = make_course([circle(size, 300)[:-1]], cyclic=cyclic, window=4.8, laps=1 + cyclic)
    around = 2.0 * math.pi * size * (1 + cyclic)
    assert course.length == pytest.approx(around, rel=0.01)
    assert np.all(np.isfinite(course.direction)) and np.all(np.diff(course.along) > 0.0)
    assert course.along[-1] > course.length + 20.0


def test_doubled_points_change_nothing():
    path = figure_of_eight(count=300)
    doubled = np.repeat(path, 3, axis=0)
    a, b = make_course([path]), make_course([doubled])
    assert a.points == pytest.approx(b.points)


def test_a_path_a_hundred_kilometres_long_is_cut_into_a_limited_number_of_pieces():
    t = np.linspace(0.0, 1e5, 20_001)
    course = make_course([np.stack((20.0 * np.sin(t / 40.0), -t), axis=1)])
    assert course.length > 1e5
    assert len(course.points) < 1.2 * course.length / 0.25
    assert course.near_x.shape[1] <= 50
