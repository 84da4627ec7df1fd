# SPDX-License-Identifier: GPL-3.0-or-later
"""Styles of motions that follow on one another."""

import numpy as np
import pytest
from poise.addon.mapping import sequence
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
