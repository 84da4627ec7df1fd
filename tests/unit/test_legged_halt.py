# SPDX-License-Identifier: GPL-3.0-or-later
"""Who stops stands square, and who starts from a stand lifts one foot after the other."""

import numpy as np
import pytest
from poise.addon.mapping.legs import creature_of
from poise.addon.rigs.builders.legged import FIGURES
from poise.solvers.legged import GaitItem, GaitSettings, solve_gait
from poise.solvers.legged.creature import biped, insect, quadruped
from poise.solvers.turning import sample_times

DOG = quadruped(0.5, 0.6, 0.2, name="DOG", hoof=False)
CASES = {
    "person": (biped(), "WALK_BIPED", 1.3), "horse at a walk": (quadruped(), "WALK", 1.6),
    "horse at a trot": (quadruped(), "TROT", 3.5), "dog": (DOG, "TROT", 2.2),
    "insect": (insect(), "TRIPOD", 0.4),
    "built horse": (creature_of(FIGURES["HORSE"]()), "WALK", 1.6),
    "built person": (creature_of(FIGURES["BIPED"]()), "WALK_BIPED", 1.3),
}  # fmt: skip


@pytest.mark.parametrize("slow", [1.0, 2.0])
@pytest.mark.parametrize("name", CASES)
def test_feet_end_side_by_side_and_begin_so(name, slow):
    """Speeds up from 1 s on and has stopped at 5 s, within `slow` seconds each."""
    creature, gait, speed = CASES[name]
    count = 8 * 24 + 1
    time = sample_times(count, 24.0)
    keyed = speed * np.clip((5.0 - time) / slow, 0.0, 1.0) * np.clip((time - 1.0) / slow, 0.0, 1.0)
    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem(gait),), speed=keyed, n_frames=count))
    assert motion.success
    assert not {p.code for p in motion.problems} & {"TRANSFER_SHORT", "JUMP_HIGH", "STEP_LEFT_OUT"}
    hip = creature.hip_height()
    assert np.all(motion.contact[-1]) and np.all(motion.contact[0])
    feet = creature.feet()
    for k in (0, -1):
        placed = motion.foot_position[k] - motion.position[k] + creature.centre
        pairs = [(i, i + 1) for i in range(0, len(feet), 2)]
        apart = [abs(placed[i, 1] - placed[j, 1]) for i, j in pairs]
        assert max(apart) < (0.02 if k else 0.3) * hip
        if k:
            assert np.abs(placed[:, 1] - feet[:, 1]).max() < 0.03 * hip
    assert abs(motion.position[-1, 2] - creature.centre[2]) < 0.05 * hip
    # Nor does the body crouch for it, or jump: half of gravity is more than a walk's push.
    high = motion.position[:, 2] - creature.centre[2]
    assert high.min() > -0.12 * hip and high.max() < 0.06 * hip
    if gait.startswith("WALK"):
        assert np.abs(np.diff(motion.position[:, 2], 2)).max() / motion.time[1] ** 2 < 5.0
    # No foot is taken up and set down again at once.
    for leg in creature.legs:
        steps = [step for step in motion.footprints if step.leg == leg.name]
        for step, following in zip(steps[:-1], steps[1:], strict=True):
            assert following.on - step.off > 0.1 * np.sqrt(hip / 9.81)
