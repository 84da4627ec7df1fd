# SPDX-License-Identifier: GPL-3.0-or-later
"""One thing fitted to the place of another: where its corners come to lie."""

import numpy as np
import pytest
from poise.addon.rigs.equipment import boxes
from poise.solvers import rotations

CORNERS = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T


def corners(size, axes=None, centre=(0.0, 0.0, 0.0)):
    axes = np.eye(3) if axes is None else axes
    return np.asarray(centre) + 0.5 * CORNERS * size @ axes.T


def turn(*angles):
    return rotations.to_matrix(rotations.from_euler(np.array(angles), "XYZ"))


def taken(matrix, points):
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def test_there_are_24_quarter_turns():
    turns = boxes.quarter_turns()
    assert len({tuple(turn.astype(int).ravel()) for turn in turns}) == 24
    assert np.allclose(np.linalg.det(turns), 1.0)
    assert np.array_equal(turns[0], np.eye(3))


@pytest.mark.parametrize("seed", range(6))
def test_same_shape_falls_on_same_shape(seed):
    """However it lies and however large: a box of the same sides fills the place."""
    rng = np.random.default_rng(seed)
    size = np.array([0.1, 1.7, 0.02])[rng.permutation(3)]
    axes = turn(*rng.uniform(-3.0, 3.0, 3))
    points = rng.uniform(0.2, 5.0) * corners(size, axes) + rng.normal(size=3)
    own = boxes.box_around(points, axes)
    wanted = boxes.Box(rng.normal(size=3), turn(*rng.uniform(-3.0, 3.0, 3)),
                       np.array([0.1, 1.7, 0.02]))
    matrix = boxes.fitted(own, wanted, np.zeros(3))
    there = taken(matrix, corners(own.size, own.axes, own.centre))
    again = boxes.box_around(there, wanted.axes)
    assert np.allclose(again.centre, wanted.centre)
    assert np.allclose(again.size, wanted.size)
    assert np.linalg.det(matrix[:3, :3]) > 0.0, "nothing is mirrored"


def test_a_shape_that_says_nothing_stays_as_it_stands():
    """A cube is not turned, a board not put on its edge, though its sides would suit better so."""
    wanted = boxes.Box(np.zeros(3), np.eye(3), np.array([0.10, 1.7, 0.14]))
    for size in ((1.0, 1.0, 1.0), (0.14, 2.0, 0.10)):
        own = boxes.Box(np.zeros(3), np.eye(3), np.array(size))
        matrix = boxes.fitted(own, wanted, np.zeros(3))
        assert np.allclose(matrix[:3, :3] / np.linalg.norm(matrix[:3, 0]), np.eye(3))


def test_anchors_sizes_and_flips():
    wanted = boxes.Box(np.array([1.0, 2.0, 3.0]), np.eye(3), np.array([0.2, 2.0, 0.4]))
    own = boxes.Box(np.zeros(3), np.eye(3), np.array([0.1, 1.0, 0.1]))
    points = corners(own.size)
    low = taken(boxes.fitted(own, wanted, np.array([0.0, 0.0, -1.0])), points)
    assert low[:, 2].min() == pytest.approx(2.8), "it stands where the place begins"
    assert np.ptp(low[:, 1]) == pytest.approx(2.0)
    kept = taken(boxes.fitted(own, wanted, np.array([0.0, -1.0, 0.0]), resize=False), points)
    assert np.ptp(kept[:, 1]) == pytest.approx(1.0)
    assert kept[:, 1].min() == pytest.approx(1.0)
    there, back = (boxes.fitted(own, wanted, np.zeros(3), flip=flip) for flip in (False, True))
    assert np.allclose(back[:3, :3], there[:3, :3] @ np.diag([-1.0, -1.0, 1.0]))


def test_flat_things_and_things_without_size():
    disc = boxes.Box(np.zeros(3), np.eye(3), np.array([0.7, 0.7, 0.0]))
    wheel = boxes.Box(np.zeros(3), np.eye(3), np.array([0.1, 0.68, 0.68]))
    there = taken(boxes.fitted(disc, wheel, np.zeros(3)), corners(disc.size))
    assert np.allclose(np.ptp(there, axis=0), [0.0, 0.68, 0.68])
    with pytest.raises(ValueError, match="without size"):
        boxes.fitted(boxes.Box(np.zeros(3), np.eye(3), np.zeros(3)), wheel, np.zeros(3))


def test_directions_that_suit_a_slanted_pole():
    axes = turn(0.6, 0.0, 0.2)
    pole = corners((0.04, 1.2, 0.04), axes)
    assert boxes.tighter(pole, np.eye(3), axes).axes is axes
    fork = corners((0.4, 0.3, 0.8), turn(0.3, 0.0, 0.0))
    assert np.array_equal(boxes.tighter(fork, np.eye(3), turn(0.3, 0.0, 0.0)).axes, np.eye(3))
