# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs of two bones against closed forms of the triangle, limbs of more against what they obey."""

import numpy as np
import pytest
from poise.solvers import rotations as rot
from poise.solvers.ik import chain_joints, limb_rotations, solve_chain, two_bone

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


# A hind leg: femur, tibia, cannon, pastern; hip free, stifle, hock and fetlock within limits.
LEG = np.array([0.40, 0.38, 0.37, 0.125])
POSTURE = np.array([0.5, -0.85, 0.6, 0.55])
LEAST = np.array([-np.inf, -2.6, 0.07, -1.3])
MOST = np.array([np.inf, -0.07, 2.6, 1.4])
FREE = np.full(4, np.inf)


def reachable(count=2000, spread=0.35, seed=7):
    """Targets that some posture within the limits reaches, and wanted postures around another."""
    rng = np.random.default_rng(seed)
    low, high = LEAST[:, None], MOST[:, None]
    there = np.clip(POSTURE[:, None] + rng.normal(0.0, spread, (4, count)), low, high)
    wanted = np.clip(POSTURE[:, None] + rng.normal(0.0, 0.2, (4, count)), low, high)
    return chain_joints(LEG, there)[-1], wanted


def test_a_chain_reaches_its_target_within_its_limits():
    target, wanted = reachable()
    limb = solve_chain(LEG, target, wanted, LEAST, MOST)
    assert limb.shortfall.max() < 1e-9
    joints = chain_joints(LEG, limb.angles)
    assert np.abs(joints[-1] - target).max() < 1e-9
    assert np.abs(np.hypot(*np.diff(joints, axis=0).transpose(1, 0, 2)).T - LEG).max() < 1e-12
    assert np.all(limb.angles >= LEAST[:, None]) and np.all(limb.angles <= MOST[:, None])


def test_a_chain_moves_smoothly_with_its_target_and_never_flips():
    """A step forward and back: at 1000 samples no joint turns faster than the foot makes it."""
    t = np.linspace(0.0, 2.0 * np.pi, 1000)
    target = np.stack((1.0 + 0.12 * np.cos(2.0 * t), 0.45 * np.sin(t)))
    wanted = np.repeat(POSTURE[:, None], len(t), axis=1)
    angles = solve_chain(LEG, target, wanted, LEAST, MOST).angles
    speed = np.hypot(*np.diff(target, axis=1)).max()
    assert np.abs(np.diff(angles, axis=1)).max() < 12.0 * speed
    assert np.all(angles[1] < 0.0) and np.all(angles[2] > 0.0)
    assert angles[:, 0] == pytest.approx(angles[:, -1], abs=1e-9)  # the same place, the same pose


def test_a_chain_of_two_is_the_two_bone_limb():
    root, target, pole, _ = random_limbs()
    limb = two_bone(root, target, pole, UPPER, LOWER)
    line, side = target - root, pole - root
    x = rot.normalise(line)
    y = rot.normalise(side - x * np.einsum("ij,ij->i", side, x)[:, None])
    flat = np.stack([np.einsum("ij,ij->i", line, axis) for axis in (x, y)])
    wanted = np.tile([[0.4], [-0.8]], len(root))
    chain = solve_chain(np.array([UPPER, LOWER]), flat, wanted, -FREE[:2], FREE[:2])
    middle = chain_joints(np.array([UPPER, LOWER]), chain.angles)[1]
    assert np.abs(root + middle[0][:, None] * x + middle[1][:, None] * y - limb.middle).max() < 1e-9
    assert np.abs(np.abs(chain.angles[1]) - limb.flexion).max() < 1e-9


def test_a_chain_that_is_asked_for_its_own_posture_keeps_it():
    target = chain_joints(LEG, POSTURE[:, None])[-1]
    limb = solve_chain(LEG, target, POSTURE[:, None], LEAST, MOST)
    assert np.abs(limb.angles[:, 0] - POSTURE).max() < 1e-12


def test_of_all_postures_a_chain_takes_the_one_nearest_to_what_is_wanted():
    """The rest q - wanted is a combination of the rows of J (Girard 1986, section 2.6)."""
    target, _ = reachable(200, 0.1)
    wanted = np.repeat(POSTURE[:, None], 200, axis=1)
    q = solve_chain(LEG, target, wanted, -FREE, FREE, posture_rounds=30, rounds=60).angles
    joints = chain_joints(LEG, q)
    for k in range(q.shape[1]):
        arm = joints[-1, :, k] - joints[:-1, :, k]
        jacobian = np.stack((-arm[:, 1], arm[:, 0]))
        off = q[:, k] - wanted[:, k]
        left = off - np.linalg.pinv(jacobian) @ (jacobian @ off)
        assert np.abs(left).max() < 1e-6


def test_a_stretched_and_an_unreachable_chain():
    """At full length the Jacobian has lost a rank: damping keeps the steps finite."""
    total = LEG.sum()
    target = np.array([[total, 0.0], [total * (1.0 - 1e-6), 0.0], [1.3 * total, 0.0], [0.0, 0.0]]).T
    wanted = np.repeat(POSTURE[:, None], 4, axis=1)
    limb = solve_chain(LEG, target, wanted, -FREE, FREE, rounds=200)
    assert np.isfinite(limb.angles).all()
    assert limb.shortfall[0] < 1e-5 and limb.shortfall[1] < 1e-9
    assert limb.shortfall[2] == pytest.approx(0.3 * total, abs=1e-4)
    assert limb.shortfall[3] < 1e-9  # folded up onto its root
    stiff = solve_chain(LEG, target, wanted, LEAST, MOST)
    assert stiff.shortfall[0] > 1e-4  # its joints do not open all the way
    assert np.all(stiff.angles >= LEAST[:, None]) and np.all(stiff.angles <= MOST[:, None])


def test_a_joint_that_does_not_give_stays_as_wanted():
    target, wanted = reachable(100, 0.1)
    held = solve_chain(LEG, target, wanted, -FREE, FREE, ease=np.array([1.0, 1.0, 1.0, 0.0]))
    assert held.shortfall.max() < 1e-9
    assert np.abs(held.angles[3] - wanted[3]).max() < 1e-12


def test_bad_chains_are_refused():
    place = np.zeros((2, 1))
    with pytest.raises(ValueError, match="above 0"):
        solve_chain(np.array([1.0, 0.0]), place, place, -FREE[:2], FREE[:2])
    with pytest.raises(ValueError, match="least"):
        solve_chain(np.array([1.0, 1.0]), place, place, np.array([1.0, 0.0]), np.zeros(2))
