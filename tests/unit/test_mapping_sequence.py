# SPDX-License-Identifier: GPL-3.0-or-later
"""Styles of motions that follow on one another."""

from dataclasses import replace

import numpy as np
import pytest
from poise.addon.mapping import sequence
from poise.addon.mapping.ground import terrain_over
from poise.addon.mapping.skier import SkierStyle
from poise.solvers.turning import TurningSettings, solve_turning


@pytest.fixture(scope="module")
def motions():
    first = solve_turning(TurningSettings(n_frames=25, fps=24.0))
    return [
        first,
        solve_turning(TurningSettings(n_frames=49, fps=24.0, start_state=first.end_state)),
    ]


def test_a_sampled_amount_that_one_motion_leaves_to_its_figure_is_held(motions):
    """Without a value of its own, the second goes on with the first one's last."""
    keyed = np.linspace(12.0, 18.0, len(motions[0].time))
    styles = [SkierStyle(sidecut=keyed), SkierStyle(sidecut=None)]
    joined = sequence.join_styles(styles, motions)
    count = sum(len(motion.time) for motion in motions) - 1
    assert joined.sidecut.shape == (count,)
    assert joined.sidecut[: len(keyed)] == pytest.approx(keyed, abs=1e-12)
    assert joined.sidecut[len(keyed) :] == pytest.approx(18.0, abs=1e-12)


def test_an_amount_left_to_the_figure_stays_so(motions):
    keyed = np.linspace(12.0, 18.0, len(motions[1].time))
    styles = [SkierStyle(sidecut=None), SkierStyle(sidecut=keyed)]
    assert sequence.join_styles(styles, motions).sidecut is None


def test_terrain_stays_under_the_motion_that_it_is_under(motions):
    """A surface is looked at from the seam on, and the plane before it stays a plane."""

    class Raised:
        def height(self, x, y, near):
            return np.full(len(x), 0.25)

    second = replace(motions[1], surfaces=((0.0, 2.0, Raised()),))
    joined = sequence.join_motions([motions[0], second], [0.0, 0.0])
    over = terrain_over(joined, joined.position)
    before = joined.time < 1.0 - 1e-6
    assert len(motions[0].time) - 1 == np.count_nonzero(before)
    assert np.all(over[before] == 0.0) and over[~before] == pytest.approx(0.25)
