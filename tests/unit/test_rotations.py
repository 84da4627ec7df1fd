# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations against plain matrices and scipy's Rotation (an independent source)."""

import numpy as np
import pytest
from poise.solvers import rotations as rot
from scipy.spatial.transform import Rotation


def random_quaternions(count=400, seed=3):
    return rot.normalise(np.random.default_rng(seed).normal(size=(count, 4)))


def scipy_of(q):
    return Rotation.from_quat(np.roll(q, -1, axis=-1))


def same_turn(a, b):
    return np.abs(np.abs(np.einsum("...i,...i->...", a, b)) - 1.0).max()


def test_multiply_rotate_and_matrix_agree_with_scipy():
    a, b = random_quaternions(seed=1), random_quaternions(seed=2)
    v = np.random.default_rng(5).normal(size=(400, 3))
    expected = (scipy_of(a) * scipy_of(b)).apply(v)
    assert np.abs(rot.rotate(rot.multiply(a, b), v) - expected).max() < 1e-13
    assert np.abs(rot.rotate(a, rot.rotate(b, v)) - expected).max() < 1e-13
    assert np.abs(rot.to_matrix(a) - scipy_of(a).as_matrix()).max() < 1e-14
    assert same_turn(rot.multiply(a, rot.conjugate(a)), rot.identity(400)) < 1e-14


def test_one_turn_or_vector_for_all_is_what_it_is_for_each():
    a, b = random_quaternions(seed=1), random_quaternions(seed=2)[0]
    v = np.random.default_rng(5).normal(size=3)
    each = (rot.right_product(a) @ b[:, None])[..., 0]
    assert np.abs(each - rot.multiply(b[None], a)).max() < 1e-15
    for rows in (a, a[:1]):
        assert np.abs(rot.times(rows, b) - rot.multiply(rows, b)).max() < 1e-15
        assert np.abs(rot.rotate_one(rows, v) - rot.rotate(rows, v)).max() < 1e-14


def test_products_of_vectors_are_those_of_numpy():
    a, b = np.random.default_rng(6).normal(size=(2, 5, 7, 3))
    assert np.abs(rot.cross(a, b) - np.cross(a, b)).max() < 1e-15
    assert np.abs(rot.cross(a[0, 0], b) - np.cross(a[0, 0], b)).max() < 1e-15
    assert np.abs(rot.dot(a, b) - np.sum(a * b, axis=-1)).max() < 1e-15
    assert rot.normalise([[0.0, 0, 0], [0, 3, 4]]).tolist() == [[0, 0, 0], [0, 0.6, 0.8]]


def test_from_matrix_survives_half_turns():
    q = random_quaternions()
    q = np.concatenate((q, np.eye(4), rot.normalise([[0, 1, 1, 0], [1e-12, 0, 1, 1]])))
    assert same_turn(rot.from_matrix(rot.to_matrix(q)), q) < 1e-14


def test_axis_angle_is_right_handed():
    turned = rot.rotate(rot.from_axis_angle([0, 0, 3.0], np.pi / 2), [1.0, 0, 0])
    assert turned == pytest.approx([0, 1, 0], abs=1e-15)
    for about, axis in ((rot.about_x, 0), (rot.about_y, 1), (rot.about_z, 2)):
        angles = np.linspace(-7, 7, 29)
        assert np.abs(about(angles) - rot.from_axis_angle(np.eye(3)[axis], angles)).max() < 1e-15


def test_between_is_the_shortest_turn_even_for_opposite_directions():
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(100, 3)), rng.normal(size=(100, 3))
    b[:3] = -2.0 * a[:3]
    b[3:6] = 0.5 * a[3:6]
    q = rot.between(a, b)
    assert np.abs(rot.rotate(q, rot.normalise(a)) - rot.normalise(b)).max() < 1e-12
    wanted = np.arccos(np.clip(np.sum(rot.normalise(a) * rot.normalise(b), -1), -1, 1))
    assert np.abs(2 * np.arccos(np.clip(q[:, 0], -1, 1)) - wanted).max() < 1e-6


def test_slerp_turns_at_constant_rate():
    start, end = rot.about_x(0.3), rot.about_x(1.7)
    amount = np.linspace(0, 1, 11)
    assert np.abs(rot.slerp(start, end, amount) - rot.about_x(0.3 + 1.4 * amount)).max() < 1e-14
    near = rot.about_x(0.3 + 1e-10)
    assert np.abs(rot.slerp(start, near, 0.5) - rot.about_x(0.3 + 5e-11)).max() < 1e-15
    assert same_turn(rot.slerp(start, -end, 1.0), end) < 1e-14


def test_continuous_never_flips_and_turns_nothing():
    q = rot.about_z(np.linspace(0, 7.0 * np.pi, 200))
    q[::3] *= -1.0
    smooth = rot.continuous(q)
    assert np.all(np.einsum("ij,ij->i", smooth[1:], smooth[:-1]) > 0.9)
    assert same_turn(smooth, q) < 1e-14
    assert smooth[0, 0] > 0


@pytest.mark.parametrize("order", rot.EULER_ORDERS)
def test_euler_orders_are_those_of_extrinsic_axes(order):
    angles = np.random.default_rng(9).uniform(-1.4, 1.4, size=(200, 3))
    in_order = angles[:, ["XYZ".index(letter) for letter in order]]
    expected = Rotation.from_euler(order.lower(), in_order)  # lower case: fixed axes
    q = rot.from_euler(angles, order)
    assert np.abs(rot.to_matrix(q) - expected.as_matrix()).max() < 1e-14
    back = rot.from_euler(rot.to_euler(q, order), order)
    assert same_turn(back, q) < 1e-13


@pytest.mark.parametrize("order", rot.EULER_ORDERS)
def test_euler_follows_a_smooth_turn_through_the_pole_and_past_full_turns(order):
    """A known smooth path of angles, past 90 degrees in the middle, comes back as it was."""
    t = np.linspace(0, 1, 400)
    angles = np.empty((400, 3))
    first, middle, last = ("XYZ".index(letter) for letter in order)
    angles[:, first] = 0.3 + 14.0 * t
    angles[:, middle] = -0.5 + 3.0 * t
    angles[:, last] = 0.2 - 9.0 * t**2
    for path in (angles, 0.1 * angles):
        back = rot.to_euler(rot.from_euler(path, order), order)
        assert np.abs(back - path).max() < 1e-9


@pytest.mark.parametrize("order", rot.EULER_ORDERS)
def test_euler_at_gimbal_lock_has_no_jump(order):
    middle = "XYZ".index(order[1])
    angles = np.full((50, 3), 0.4)
    angles[:, middle] = np.pi / 2 - np.abs(np.linspace(-1, 1, 50)).clip(0.2) + 0.2
    angles[:, "XYZ".index(order[2])] = 0.7
    q = rot.from_euler(angles, order)
    back = rot.to_euler(q, order)
    assert same_turn(rot.from_euler(back, order), q) < 1e-12
    assert np.abs(np.diff(back, axis=0)).max() < 0.1


def test_swing_twist_recombine_and_the_swing_has_no_twist():
    q = random_quaternions()
    axis = np.array([0.3, -2.0, 0.5])
    swing, twist = rot.swing_twist(q, axis)
    assert np.abs(rot.multiply(swing, twist) - q).max() < 1e-14
    assert np.abs(swing[:, 1:] @ rot.normalise(axis)).max() < 1e-14
    assert np.abs(np.cross(twist[:, 1:], rot.normalise(axis))).max() < 1e-14
    turned = rot.twist_angle(rot.multiply(rot.from_axis_angle([1, 0, 0], 0.4), rot.about_z(0.9)),
                             np.array([0, 0, 1.0]))
    assert turned == pytest.approx(0.9)


def test_unknown_order_is_refused_with_its_name():
    with pytest.raises(ValueError, match="'XYX'"):
        rot.to_euler(rot.identity(2), "XYX")
