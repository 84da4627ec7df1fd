# SPDX-License-Identifier: GPL-3.0-or-later
"""Who stops stands square, and who starts from a stand lifts one foot after the other."""

import numpy as np
import pytest
from poise.addon.mapping.legs import creature_of
from poise.addon.rigs.builders.legged import FIGURES
from poise.solvers.legged import GaitItem, GaitSettings, solve_gait
from poise.solvers.legged.creature import biped, insect, quadruped
from poise.solvers.legged.gait import PRESETS
from poise.solvers.turning import sample_times

DOG = quadruped(0.5, 0.6, 0.2, name="DOG", hoof=False)
CASES = {
    "person": (biped(), "WALK_BIPED", 1.3), "horse at a walk": (quadruped(), "WALK", 1.6),
    "horse at a trot": (quadruped(), "TROT", 3.5), "dog": (DOG, "TROT", 2.2),
    "insect": (insect(), "TRIPOD", 0.4),
    "built horse": (creature_of(FIGURES["HORSE"]()), "WALK", 1.6),
    "built person": (creature_of(FIGURES["BIPED"]()), "WALK_BIPED", 1.3),
}


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


@pytest.mark.parametrize("kind, gait, speed", [("BIPED", "RUN", 3.0), ("HORSE", "TROT", 3.5)])
def test_who_waits_for_a_run_stands_upright_and_bends_down_for_the_push(kind, gait, speed):
    """Down and up takes some two natural paces sqrt(l / g) of the leg, not the whole stand."""
    creature = creature_of(FIGURES[kind]())
    time = sample_times(241, 24.0)
    keyed = speed * np.interp(time, (1.5, 2.5, 4.0, 4.8, 9.0, 10.0), (0.0, 1.0, 1.0, 0.0, 0.0, 1.0))
    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem(gait),), speed=keyed, n_frames=241))
    hip, high = creature.hip_height(), motion.position[:, 2]
    pace = np.sqrt(hip / 9.81)
    still = np.all(motion.contact, axis=1)
    first = motion.time[np.argmin(still)]
    upright = high[motion.time < first - 2.0 * pace]
    assert len(upright) and np.ptp(upright) < 0.015 * hip
    waits = (motion.time > 5.0) & (motion.time < 9.9) & still
    begin, end = motion.time[waits][0] + 3.0 * pace, motion.time[waits][-1] - 3.0 * pace
    waits = (motion.time > begin) & (motion.time < end)
    assert waits.sum() > 5 and high[waits].min() > upright.min() - 0.02 * hip
    # Down before the push, by some of the leg's length (`Gait.compression`).
    dip = high[(motion.time > first - 3.0 * pace) & (motion.time < first + 3.0 * pace)].min()
    assert 0.03 * hip < upright.min() - dip < 0.12 * hip


@pytest.mark.parametrize("name", CASES)
def test_who_waits_on_the_way_stands_square_and_goes_on(name):
    """A stop of 5 s in the middle of the way: feet under the hips, none in the air, no crouch."""
    creature, gait, speed = CASES[name]
    time = sample_times(265, 24.0)
    keyed = speed * np.interp(time, (0.5, 1.5, 3.5, 4.5, 9.5, 10.5), (0.0, 1.0, 1.0, 0.0, 0.0, 1.0))
    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem(gait),), speed=keyed, n_frames=265))
    assert motion.success and {p.code for p in motion.problems} <= {"GAIT_SPEED"}
    hip = creature.hip_height()
    pace = np.sqrt(hip / 9.81)
    # Four legs that were left behind step up one after the other.
    waits = (motion.time > 4.5 + (3.0 + len(creature.legs)) * pace)
    waits &= motion.time < 9.5 - 3.0 * pace
    assert waits.sum() > 5 and np.all(motion.contact[waits])
    placed = motion.foot_position[waits] - motion.position[waits, None] + creature.centre
    assert np.abs(placed[:, :, 1] - creature.feet()[:, 1]).max() < 0.16 * hip
    assert np.abs(motion.position[waits, 2] - creature.centre[2]).max() < 0.015 * hip
    for leg in creature.legs:
        steps = [step for step in motion.footprints if step.leg == leg.name]
        assert [step.index for step in steps] == list(range(steps[0].index, steps[-1].index + 1))
        for step, following in zip(steps[:-1], steps[1:], strict=True):
            assert following.on - step.off > 0.3 * pace  # no foot is set down again at once


@pytest.mark.parametrize("kind, one, two, speeds", [
    ("BIPED", "WALK_BIPED", "RUN", (1.3, 3.2)), ("BIPED", "RUN", "HOP", (3.2, 1.5)),
    ("HORSE", "TROT", "WALK", (3.5, 1.6)), ("HORSE", "WALK", "CANTER_LEFT", (1.6, 5.5)),
    ("DOG", "BOUND", "TROT", (3.0, 2.2)), ("INSECT", "WAVE", "TRIPOD", (0.1, 0.4))])
def test_another_gait_begins_with_the_first_step_after_a_stand(kind, one, two, speeds):
    """Feet stay where they are until then, to rounding, and legs reach."""
    creature = creature_of(FIGURES[kind]())
    time = sample_times(241, 24.0)
    keyed = np.interp(time, (0.5, 1.5, 3.5, 4.3, 7.5, 8.5), (0, *2 * speeds[:1], 0, 0, speeds[1]))
    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem(one), GaitItem(two, start=6.0)), speed=keyed,
        n_frames=241))
    assert motion.success and {p.code for p in motion.problems} <= {"GAIT_SPEED", "JUMP_HIGH"}
    assert [name for name, _, _ in motion.gaits] == [one, two]
    starts = []
    for i, leg in enumerate(creature.legs):
        steps = [step for step in motion.footprints if step.leg == leg.name]
        (k,) = [k for k, step in enumerate(steps) if step.on < 6.0 < step.off]
        starts.append(steps[k].off)
        assert [step.gait for step in steps] == [one] * (k + 1) + [two] * (len(steps) - k - 1)
        down = (motion.time >= max(steps[k].on, 0.0)) & (motion.time <= steps[k].off)
        assert np.all(motion.contact[down, i])
        flat = down & (np.abs(motion.foot_pitch[:, i]) < 1e-12)
        assert np.ptp(motion.foot_position[flat, i], axis=0).max() < 1e-12
    # It goes when it is to go: half a swing before at most, and not a step's way after.
    pace, late = np.sqrt(creature.hip_height() / 9.81), max(min(starts) - 7.5, 0.0)
    assert min(starts) > 7.5 - pace and 0.5 * speeds[1] * late**2 < 0.2 * creature.hip_height()


@pytest.mark.parametrize("kind, gait, speed", [
    ("BIPED", "WALK_BIPED", 1.3), ("BIPED", "RUN", 3.0), ("HORSE", "TROT", 3.5)])
def test_legs_reach_through_stops_and_starts_at_random(kind, gait, speed):
    """The hip is never farther from the ankle than the leg is long, however one stops and goes."""
    creature, random = creature_of(FIGURES[kind]()), np.random.default_rng(7)
    time = sample_times(241, 24.0)
    for _ in range(4):
        keys = np.cumsum(random.uniform(0.3, 2.5, 6))
        keyed = speed * random.uniform(0.7, 1.2) * np.interp(time, keys, (0, 1, 1, 0, 0, 1))
        motion = solve_gait(GaitSettings(
            creature=creature, sequence=(GaitItem(gait),), speed=keyed, n_frames=241))
        assert "OUT_OF_REACH" not in {problem.code for problem in motion.problems}


@pytest.mark.parametrize("phase", [0.0, 0.2, 0.45, 0.7, 0.9])
@pytest.mark.parametrize("kind, gait, speed", [
    ("BIPED", "WALK_BIPED", 1.3), ("BIPED", "JOG", 2.4), ("BIPED", "SKIP", 2.3),
    ("HORSE", "WALK", 1.6), ("HORSE", "TROT", 3.5)])
def test_nobody_stands_on_one_leg_before_the_start(kind, gait, speed, phase):
    """Whichever part of the stride it begins in: a foot leaves the ground as the body goes."""
    creature = creature_of(FIGURES[kind]())
    time = sample_times(121, 24.0)
    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem(gait),), start_phase=phase, n_frames=121,
        speed=speed * np.clip((time - 1.0) / 1.2, 0.0, 1.0)))
    assert motion.success and np.all(motion.contact[motion.time < 1.0 - 1e-9])
    swings = [
        (here.off, there.on) for leg in creature.legs
        for own in [[p for p in motion.footprints if p.leg == leg.name]]
        for here, there in zip(own[:-1], own[1:], strict=True)
    ]
    tempo = np.sqrt(creature.hip_height() / 9.81)
    assert min(off for off, _ in swings) < 1.0 + 1.5 * tempo
    # Nor is one lifted only to be set down again.
    assert all(on - off > 0.4 * tempo for off, on in swings)


@pytest.mark.parametrize("stop", [5.0, 5.2, 5.4, 5.6])
@pytest.mark.parametrize("slow", [0.7, 1.5])
def test_who_stops_skipping_hops_no_higher_for_it(stop, slow):
    """A hop takes a third of a step's time, at the slowest speed too: none lasts as the clock
    of the gait stands still. In the air as a projectile is: the rise is g t^2 / 8."""
    creature = creature_of(FIGURES["BIPED"]())
    hip, gait = creature.hip_height(), PRESETS["SKIP"]
    time = sample_times(9 * 24 + 1, 24.0)
    speed = 2.3 * np.clip((stop + slow - time) / slow, 0.0, 1.0) * np.clip(time - 1.0, 0.0, 1.0)
    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem(gait),), speed=speed, n_frames=9 * 24 + 1))
    assert motion.success and not {p.code for p in motion.problems} & {"JUMP_HIGH", "STEP_LEFT_OUT"}
    slowest = gait.usual_speeds(hip, 9.81)[0]
    hop = (gait.gaps().min() - gait.duty[0]) / float(gait.rates(slowest, hip, 9.81))
    left, landed = motion.supports[0].flights()
    assert len(left) > 3 and np.all(landed - left < hop + 1e-9)
    assert np.all(motion.contact[0]) and np.all(motion.contact[-1])
    feet = motion.foot_position[-1, :, 1] - motion.position[-1, 1]
    assert abs(feet[0] - feet[1]) < 0.02 * hip


@pytest.mark.parametrize("kind, gait, fall", [("HORSE", "PRONK", 2.5), ("DOG", "PRONK", 1.6)])
def test_who_jumps_into_a_stand_lands_softly(kind, gait, fall):
    """Landings from 0.3 to 0.6 m high reach some 3 to 4.5 body weights, knees bent for it."""
    creature = creature_of(FIGURES[kind]())
    hip = creature.hip_height()
    count, fps = 5 * 48 + 1, 48.0
    time = sample_times(count, fps)
    speed = 0.7 * np.sqrt(9.81 * hip) * np.clip((2.0 - time) / 0.8, 0.0, 1.0)
    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem(gait),), speed=speed, n_frames=count, fps=fps))
    high, spacing = motion.position[:, 2], motion.time[1]
    down = np.flatnonzero(motion.contact.any(axis=1) & (motion.time > 1.5))
    landing = down[np.flatnonzero(np.diff(down, prepend=0) > 1)[-1]]
    falls = (high[landing - 2] - high[landing - 1]) / spacing
    assert falls > fall, "it does come down from high up"
    force = 1.0 + np.diff(high, 2)[landing - 2 :] / spacing**2 / 9.81
    assert 2.0 < force.max() < 4.7
    assert motion.success
