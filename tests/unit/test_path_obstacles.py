# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in the way: exact distances, by an index that does not look at all of it."""

import math

import numpy as np
import pytest
from poise.solvers.errors import SettingError
from poise.solvers.path.obstacles import (
    Disc,
    Gate,
    MovingDisc,
    ObstacleField,
    Polygon,
    Wall,
    point_to_segment,
    segment_to_segment,
)


def hits(field, *segments, reach=0.5):
    s = np.array(segments, dtype=float)
    return field.hits(s[:, 0], s[:, 1], s[:, 2], s[:, 3], np.full(len(s), reach))


def test_distance_of_points_from_segments():
    rng = np.random.default_rng(1)
    p, a, b = rng.uniform(-3.0, 3.0, (3, 200, 2))
    t = np.linspace(0.0, 1.0, 4001)[:, None, None]
    sampled = np.min(np.sum((a + t * (b - a) - p) ** 2, axis=2), axis=0)
    exact = point_to_segment(*p.T, *a.T, *b.T)
    assert np.all(exact <= sampled + 1e-12)
    assert np.max(np.sqrt(sampled) - np.sqrt(exact)) < 2e-3


def test_distance_of_segments_from_segments():
    rng = np.random.default_rng(2)
    a, b, c, d = rng.uniform(-2.0, 2.0, (4, 300, 2))
    t = np.linspace(0.0, 1.0, 401)[:, None, None]
    along = a + t * (b - a)
    sampled = np.min([point_to_segment(*p.T, *c.T, *d.T) for p in along], axis=0)
    exact = segment_to_segment(*a.T, *b.T, *c.T, *d.T)
    assert np.all(exact <= sampled + 1e-12)
    assert np.max(np.sqrt(sampled) - np.sqrt(exact)) < 1e-2
    assert np.count_nonzero(exact == 0.0) > 50  # those that cross


def random_field(rng, count=120):
    obstacles = []
    for _ in range(count):
        p = rng.uniform(-40.0, 40.0, 2)
        kind = rng.integers(4)
        if kind == 0:
            obstacles.append(Disc(p, rng.uniform(0.0, 2.0)))
        elif kind == 1:
            angle = np.sort(rng.uniform(0.0, 2.0 * math.pi, 7))
            size = rng.uniform(0.3, 2.5, 7)  # far from convex
            obstacles.append(Polygon(p + (size * np.array([np.cos(angle), np.sin(angle)])).T))
        elif kind == 2:
            obstacles.append(Wall(p + rng.uniform(-15.0, 15.0, (rng.integers(2, 5), 2))))
        else:
            obstacles.append(Wall(p + rng.uniform(-1.0, 1.0, (2, 2))))
    return obstacles


def test_index_finds_what_looking_at_everything_finds():
    rng = np.random.default_rng(5)
    obstacles = random_field(rng)
    field = ObstacleField(obstacles, reach=0.6, longest=1.0)
    n = 4000
    p = rng.uniform(-45.0, 45.0, (n, 2))
    angle = rng.uniform(0.0, 2.0 * math.pi, n)
    q = p + np.stack((np.cos(angle), np.sin(angle)), axis=1)
    reach = rng.uniform(0.0, 0.6, n)
    expected = np.full(n, -1)
    for number in range(len(obstacles) - 1, -1, -1):  # the lowest number last
        item = obstacles[number]
        if isinstance(item, Disc):
            c = np.broadcast_to(item.centre, p.shape)
            hit = point_to_segment(*c.T, *p.T, *q.T) < (item.radius + reach) ** 2
        else:
            points = item.points
            if isinstance(item, Polygon):
                points = np.concatenate((points, points[:1]))
            hit = np.zeros(n, dtype=bool)
            for a, b in zip(points[:-1], points[1:], strict=True):
                d = segment_to_segment(*p.T, *q.T, *(np.full(n, v) for v in (*a, *b)))
                hit |= (d < reach**2) | (d == 0.0)
        expected[hit] = number
    found = field.hits(p[:, 0], p[:, 1], q[:, 0], q[:, 1], reach)
    assert np.array_equal(found, expected)
    assert 500 < np.count_nonzero(found >= 0) < 3500


def test_a_thin_wall_and_a_thin_pole_cannot_be_slipped_through():
    field = ObstacleField(
        [Wall(np.array([(-1.0, 0.0), (1.0, 0.0)])), Disc(np.array([5.0, 0.0]), 0.0)],
        reach=0.1,
        longest=2.0,
    )
    found = hits(
        field,
        (0.0, -1.0, 0.0, 1.0),  # straight through, both ends far from it
        (1.05, -1.0, 1.05, 1.0),  # past its end, too near
        (1.2, -1.0, 1.2, 1.0),  # past its end
        (4.95, -1.0, 4.95, 1.0),
        (4.8, -1.0, 4.8, 1.0),
        reach=0.1,
    )
    assert found.tolist() == [0, 0, -1, 1, -1]
    assert hits(field, (0.0, -1.0, 0.0, 1.0), reach=0.0).tolist() == [0]


def test_poles_of_gates_are_in_the_way():
    field = ObstacleField(
        [Disc(np.array([50.0, 0.0]), 1.0)],
        [Gate(np.array([-1.0, 0.0]), np.array([1.0, 0.0]), 0.1)],
        reach=0.3,
        longest=2.0,
    )
    found = hits(field, (0.0, -1.0, 0.0, 1.0), (1.2, -1.0, 1.2, 1.0), reach=0.3)
    assert found.tolist() == [-1, 1]
    assert field.names == ["obstacle 1", "gate 1"]


def test_a_moving_disc_is_met_where_it_is_at_that_time():
    """Crossing tracks: the least distance of two uniform motions, in closed form."""
    times = np.array([0.0, 10.0])
    disc = MovingDisc(times, np.array([(-10.0, 0.0), (10.0, 0.0)]), 0.0, "Other skier")
    field = ObstacleField([disc], reach=5.0, longest=1.0)
    places = field.moving_at(np.arange(0.0, 10.1, 0.1))
    assert places[50, 0] == pytest.approx([0.0, 0.0], abs=1e-12)
    # Down the y axis at 2 m/s, at the origin 0.5 s after the disc: relative
    # velocity (-2, 2), relative position (0, 1) at 5 s, least distance 1/sqrt(2).
    t = np.arange(0.0, 9.95, 0.1)
    y = 2.0 * (5.5 - t)
    z = np.zeros(len(t))
    for reach, expected in ((0.70, False), (0.714, True)):
        found = field.hits_moving(
            z, y, z, y - 0.2, np.full(len(t), reach), places, np.arange(len(t))
        )
        assert bool((found == 0).any()) is expected
    late = field.hits_moving(
        z, y + 20.0, z, y + 19.8, np.full(len(t), 5.0), places, np.arange(len(t))
    )
    assert np.all(late == -1)


def test_clearance_is_the_distance_to_what_is_nearest_at_that_time():
    rng = np.random.default_rng(8)
    c = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 0.5), (0.0, 2.0)])  # not convex
    obstacles = [
        Disc(np.array([5.0, 5.0]), 1.0),
        Polygon(c),
        MovingDisc(np.array([0.0, 1.0]), np.array([(10.0, 0.0), (20.0, 0.0)]), 0.5),
    ]
    field = ObstacleField(obstacles, reach=0.5, longest=1.0)
    x = np.array([5.0, 8.0, 1.0, 1.0, 1.5, 14.0, 14.0])
    y = np.array([5.0, 5.0, 0.2, 1.5, 1.0, 0.0, 0.0])
    d, who = field.clearance(x, y, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))
    assert who.tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert d[0] == 0.0 and d[1] == pytest.approx(2.0)
    assert d[2] == 0.0  # inside, and in the notch outside:
    assert d[3] == pytest.approx(1.0 / math.hypot(1.0, 1.5) * 1.0, abs=1e-9)
    assert d[5] == pytest.approx(3.5) and d[6] == pytest.approx(5.5)
    x, y = rng.uniform(-30.0, 30.0, (2, 5000))
    d, _ = field.clearance(x, y, np.zeros(5000))
    assert np.all(d >= 0.0) and np.count_nonzero(d == 0.0) > 0


def test_clearance_is_the_least_distance_from_all_things():
    """Large discs beside small ones and long walls, against looking at every one."""
    rng = np.random.default_rng(9)
    discs = [Disc(rng.uniform(-40.0, 40.0, 2), 8.0 * rng.random() ** 4) for _ in range(40)]
    walls = [Wall(rng.uniform(-40.0, 40.0, 2) + rng.normal(size=(3, 2)) * 6.0) for _ in range(40)]
    field = ObstacleField([*discs, *walls], reach=0.5, longest=1.0)
    x, y = rng.uniform(-60.0, 60.0, (2, 3000))
    d, who = field.clearance(x, y, np.zeros(3000))
    each = [np.hypot(x - disc.centre[0], y - disc.centre[1]) - disc.radius for disc in discs]
    for wall in walls:
        parts = zip(wall.points[:-1], wall.points[1:], strict=True)
        each.append(np.sqrt(np.min([point_to_segment(x, y, *a, *b) for a, b in parts], axis=0)))
    assert d == pytest.approx(np.maximum(np.min(each, axis=0), 0.0), abs=1e-9)
    outside = d > 0.0
    assert np.array_equal(who[outside], np.argmin(each, axis=0)[outside])
    assert np.count_nonzero(outside) > 2000 > 100 > len(np.unique(who)) > 40


def test_of_equally_near_obstacles_the_first_is_named():
    field = ObstacleField(
        [Wall(np.array([(1.0, -5.0), (1.0, 5.0)])), Disc(np.array([-2.0, 0.0]), 1.0)], reach=2.0
    )
    d, who = field.clearance(np.zeros(1), np.zeros(1), np.zeros(1))
    assert d[0] == 1.0 and who[0] == 0
    assert hits(field, (0.0, -0.1, 0.0, 0.1), reach=1.5).tolist() == [0]


@pytest.mark.parametrize("count", [10, 100, 1000, 10_000])
def test_a_query_looks_at_as_few_trees_in_a_large_forest_as_in_a_small_one(count):
    rng = np.random.default_rng(4)
    side = 7.0 * math.sqrt(count)
    trees = [Disc(p, 0.3) for p in rng.uniform(0.0, side, (count, 2))]
    field = ObstacleField(trees, reach=0.6, longest=0.9)
    x, y = rng.uniform(0.0, side, (2, 20_000))
    pairs = field._discs.pairs(x, y)
    assert len(pairs[0]) / 20_000 < 0.5


def test_the_index_does_not_fill_the_space_between_far_obstacles():
    field = ObstacleField([Disc(np.array([0.0, 0.0]), 1.0), Disc(np.array([1e6, 1e6]), 1.0)])
    assert len(field._discs.start) < 1e7
    assert hits(field, (0.9, 0.0, 1.1, 0.0)).tolist() == [0]
    assert hits(field, (1e6, 1e6, 1e6, 1e6)).tolist() == [1]


@pytest.mark.parametrize(
    ("obstacle", "text"),
    [
        (Disc(np.array([np.nan, 0.0]), 1.0, "Fir"), 'Obstacle "Fir"'),
        (Disc(np.array([0.0, 0.0]), -1.0, "Fir"), 'Radius of obstacle "Fir"'),
        (Disc(np.array([0.0, 0.0]), math.nan), "Radius of obstacle 1"),
        (Polygon(np.zeros((0, 2))), "Obstacle 1 is empty"),
        (Wall(np.zeros((3, 4)), "Fence"), 'Obstacle "Fence"'),
        (MovingDisc(np.array([1.0, 0.0]), np.zeros((2, 2))), "Obstacle 1"),
        (MovingDisc(np.array([1.0]), np.zeros((2, 2))), "Obstacle 1"),
        ("a tree", "Obstacle 1 is a tree"),
    ],
)
def test_what_is_no_obstacle_gives_one_clear_sentence(obstacle, text):
    with pytest.raises(SettingError, match="must be") as error:
        ObstacleField([obstacle])
    assert str(error.value).startswith(text)


def test_a_footprint_of_one_or_two_points_is_a_pole_or_a_line():
    field = ObstacleField([Polygon(np.zeros((1, 2))), Polygon(np.array([(5.0, 0.0), (9.0, 0.0)]))])
    found = hits(field, (0.2, 0.0, 0.3, 0.0), (7.0, -0.3, 7.0, 0.3), (3.0, 0.0, 3.1, 0.0))
    assert found.tolist() == [0, 1, -1]
