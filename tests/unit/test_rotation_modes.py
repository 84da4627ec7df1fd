# SPDX-License-Identifier: GPL-3.0-or-later
"""What spins keeps count of its turns in the modes that have angles."""

import numpy as np
import pytest
from poise.addon.rigs.pose import rotation_modes
from poise.solvers import rotations as rot


@pytest.mark.parametrize("mode", ["XYZ", "XZY", "YXZ", "ZYX", "AXIS_ANGLE"])
@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
def test_more_than_half_a_turn_between_samples_is_counted(mode, axis):
    """0.9 and 2.3 turns from sample to sample, about each of a bone's axes."""
    axis = np.array(axis)
    for turns in (0.9, -2.3):
        spin = 2.0 * np.pi * turns * np.arange(8)
        turned = rot.from_axis_angle(axis, spin)
        values = rotation_modes.to_mode(turned, mode, spin, axis)
        np.testing.assert_allclose(
            np.abs((rotation_modes.from_mode(values, mode) * turned).sum(axis=1)), 1.0, atol=1e-9)
        if mode == "AXIS_ANGLE":
            counted = values[:, 0] * (values[:, 1:] @ axis)
        elif "XYZ"[int(np.argmax(axis))] == mode[1]:
            continue  # the middle angle of three cannot count: it turns back at 90 degrees
        else:
            counted = values @ axis
        np.testing.assert_allclose(np.diff(counted), np.diff(spin), atol=1e-6)


def test_without_a_count_the_shortest_way_is_taken():
    spin = 2.0 * np.pi * 0.9 * np.arange(8)
    turned = rot.about_x(spin)
    assert np.diff(rotation_modes.to_mode(turned, "XYZ")[:, 0]) == pytest.approx(-0.2 * np.pi)


def test_a_swing_besides_stays_as_it_is():
    """A wheel that is steered while it spins: the rotation at each sample is untouched."""
    spin = 4.0 * np.arange(20.0)
    swing = rot.about_z(0.3 * np.sin(np.arange(20.0)))
    turned = rot.multiply(swing, rot.about_x(spin))
    values = rotation_modes.to_mode(turned, "XYZ", spin, np.array((1.0, 0.0, 0.0)))
    assert np.abs(np.diff(values[:, 0]) - 4.0).max() < 1e-6
    assert values[:, 2] == pytest.approx(0.3 * np.sin(np.arange(20.0)), abs=1e-9)


@pytest.mark.parametrize("mode", [*rot.EULER_ORDERS, "AXIS_ANGLE", "QUATERNION"])
def test_a_turn_and_its_whole_turns_make_up_the_angles(mode):
    """The same turn with the same count, whichever of its sets of angles is given."""
    random = np.random.default_rng(2)
    for _ in range(50):
        values = random.uniform(-20.0, 20.0, 3 if mode in rot.EULER_ORDERS else 4)
        turn = rotation_modes.from_mode(values[None], mode)
        counted = rotation_modes.whole_turns(values[None], mode)
        again = rotation_modes.with_turns(turn[0], counted[0], mode)[None]
        same = rotation_modes.from_mode(again, mode)
        assert abs((same * turn).sum()) == pytest.approx(1.0, abs=1e-9)
        if mode == "AXIS_ANGLE":
            spins = [v[0, 0] * rot.normalise(v[:, 1:])[0] for v in (values[None], again)]
            np.testing.assert_allclose(*spins, atol=1e-6)
        elif mode != "QUATERNION" and np.cos(values["XYZ".index(mode[1])]) > 0.0:
            np.testing.assert_allclose(again[0], values, atol=1e-6)
