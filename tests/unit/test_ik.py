# SPDX-License-Identifier: GPL-3.0-or-later
"""Two-bone limbs against closed forms of the triangle."""

import numpy as np
import pytest
from poise.solvers import rotations as rot
from poise.solvers.ik import limb_rotations, two_bone

UPPER, LOWER = 0.44, 0.41


def random_limbs(count=300, seed=4):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(count, 3))
    direction = rot.normalise(rng.normal(size=(count, 3)))
    distance = rng.uniform(abs(UPPER - LOWER) + 0.01, UPPER + LOWER - 0.001, count)
    pole = root + rng.normal(size=(count, 3))
    return root, root + distance[:, None] * direction, pole, distance


def test_bone_lengths_hold_and_the_tip_is_at_the_target():
    root, target, pole, _ = random_limbs()
    limb = two_bone(root, target, pole, UPPER, LOWER)
    assert np.abs(np.linalg.norm(limb.middle - root, axis=1) - UPPER).max() < 1e-12
    assert np.abs(np.linalg.norm(limb.middle - target, axis=1) - LOWER).max() < 1e-12
    assert np.abs(limb.tip - target).max() < 1e-12
    assert np.all(limb.shortfall == 0.0)


def test_flexion_is_the_law_of_cosines():
    root, target, pole, distance = random_limbs()
    limb = two_bone(root, target, pole, UPPER, LOWER)
    inner = np.arccos((UPPER**2 + LOWER**2 - distance**2) / (2 * UPPER * LOWER))
    assert np.abs(limb.flexion - (np.pi - inner)).max() < 1e-7
    right_angle = two_bone(np.zeros((1, 3)), [[0, 0, -np.hypot(UPPER, LOWER)]],
                           np.array([[0, -1.0, 0]]), UPPER, LOWER)
    assert right_angle.flexion[0] == pytest.approx(np.pi / 2)


def test_the_middle_joint_bends_towards_the_pole_and_stays_in_its_plane():
    root, target, pole, _ = random_limbs()
    limb = two_bone(root, target, pole, UPPER, LOWER)
    normal = rot.normalise(np.cross(target - root, pole - root))
    assert np.abs(np.einsum("ij,ij->i", limb.middle - root, normal)).max() < 1e-12
    line = rot.normalise(target - root)
    off = limb.middle - root
    off = off - np.einsum("ij,ij->i", off, line)[:, None] * line
    side = (pole - root) - np.einsum("ij,ij->i", pole - root, line)[:, None] * line
    assert np.all(np.einsum("ij,ij->i", off, side) >= 0.0)


def test_out_of_reach_is_clamped_and_reported():
    root = np.zeros((3, 3))
    target = np.array([[0, 0, -1.0], [0, 0, -0.001], [0, 0, -0.845]])
    limb = two_bone(root, target, np.array([[0, -1.0, 0]] * 3), UPPER, LOWER, reach=0.995)
    longest = 0.995 * (UPPER + LOWER)
    assert limb.shortfall == pytest.approx([1 - longest, UPPER - LOWER - 0.001, 0.0], abs=1e-12)
    assert limb.tip[0] == pytest.approx([0, 0, -longest])
    assert np.all(np.isfinite(limb.middle))
    assert np.abs(np.linalg.norm(limb.middle - limb.tip, axis=1) - LOWER).max() < 1e-12


def test_no_flip_where_the_pole_crosses_the_limb():
    """A pole on the line from root to tip says nothing: the bend stays where it was."""
    n = 41
    root, target = np.zeros((n, 3)), np.tile([0, 0, -0.7], (n, 1))
    pole = np.tile([0.0, -1.0, -0.3], (n, 1))
    pole[20] = (0.0, 0.0, -0.3)
    limb = two_bone(root, target, pole, UPPER, LOWER)
    assert np.abs(np.diff(limb.middle, axis=0)).max() < 1e-12
    on_line = two_bone(root, target, np.tile([0, 0, -0.3], (n, 1)), UPPER, LOWER)
    assert np.abs(np.linalg.norm(on_line.middle, axis=1) - UPPER).max() < 1e-12
    coincident = two_bone(root, root, pole, UPPER, LOWER)
    assert np.all(np.isfinite(coincident.middle))


def test_limb_rotations_reproduce_the_joints_by_forward_kinematics():
    rest = (np.array([0.1, 0, 0.95]), np.array([0.1, -0.02, 0.51]), np.array([0.12, 0, 0.1]))
    upper = np.linalg.norm(rest[1] - rest[0])
    lower = np.linalg.norm(rest[2] - rest[1])
    root, target, pole, _ = random_limbs()
    limb = two_bone(root, target, pole, upper, lower, reach=0.99)
    q_upper, q_lower = limb_rotations(rest, [0, -1.0, 0], root, limb.middle, limb.tip, pole)
    middle = root + rot.rotate(q_upper, rest[1] - rest[0])
    assert np.abs(middle - limb.middle).max() < 1e-9
    assert np.abs(middle + rot.rotate(q_lower, rest[2] - rest[1]) - limb.tip).max() < 1e-9
    # The rest bend direction lands in the bend plane, on the pole's side: no twist.
    bend = rot.rotate(q_upper, np.array([0, -1.0, 0]))
    plane = rot.normalise(np.cross(target - root, pole - root))
    turned = rot.normalise(np.cross(middle - root, bend))
    assert np.einsum("ij,ij->i", turned, plane).min() > 0.999


def test_limb_rotations_of_the_rest_pose_are_no_rotation():
    rest = (np.array([0.1, 0, 0.95]), np.array([0.1, -0.02, 0.51]), np.array([0.12, 0, 0.1]))
    as_rows = [point[None] for point in rest]
    pole = as_rows[1] + np.array([[0, -0.5, 0]])
    for q in limb_rotations(rest, [0, -1.0, 0], *as_rows, pole):
        assert np.abs(np.abs(q[:, 0]) - 1.0).max() < 1e-3  # the pole is 1 mm off the rest plane


def test_bad_lengths_are_refused():
    with pytest.raises(ValueError, match="0.0"):
        two_bone(np.zeros((1, 3)), np.ones((1, 3)), np.ones((1, 3)), 0.0, LOWER)
