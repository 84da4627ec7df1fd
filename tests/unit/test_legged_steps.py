# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans of steps: exact times, gait changes that touch transfers only, starts and stops."""

import math
from dataclasses import replace

import numpy as np
import pytest
from poise.solvers.legged import GaitItem, GaitSettings, solve_gait
from poise.solvers.legged.creature import biped
from poise.solvers.legged.gait import PRESETS, PhaseClock, metachronal
from poise.solvers.legged.steps import GaitPlan, plan_steps

G, HIP = 9.81, 1.4
TIME = np.linspace(0.0, 20.0, 961)


def _plan(gait, speed, start=0.0, least=0.2, longest=5.0):
    speed = np.broadcast_to(np.asarray(speed, dtype=float), TIME.shape)
    duty = gait.duties(speed**2 / (G * HIP))
    clock = PhaseClock(TIME, gait.rates(speed, HIP, G))
    return GaitPlan(gait, start, clock, duty, TIME, least, longest)


def test_steps_of_one_gait_come_at_the_times_of_its_phases():
    gait, speed = PRESETS["WALK"], 1.6
    steps, changes = plan_steps([_plan(gait, speed)], -2.0, 20.0)
    assert changes == ()
    period = 1.0 / float(gait.rates(speed, HIP, G))
    for leg in range(4):
        own = steps.of(leg)
        stride = np.round(steps.on[own] / period - gait.phase[leg])
        assert np.allclose(steps.on[own], (gait.phase[leg] + stride) * period, atol=1e-9)
        assert np.allclose(steps.off[own] - steps.on[own], gait.duty[leg] * period, atol=1e-9)
        assert np.allclose(steps.middle[own], 0.5 * (steps.on + steps.off)[own], atol=1e-9)
        zero = own[steps.index[own] == 0][0]
        assert steps.off[zero] > 0.0 and steps.off[zero - 1] <= 0.0


def _off_phase(gait, clock, steps, number, since=-1.0, until=20.0):
    """How far touchdowns in a gait are from its phases, strides, for the best begin of a cycle."""
    used = (steps.gait == number) & (steps.on > since) & (steps.on < until)
    phases = [clock.phase(steps.on[used & (steps.leg == leg)]) for leg in range(len(gait.legs))]
    cycle, touchdowns = gait.cycle, gait.touchdowns()

    def off(begin):
        return max(
            np.abs(np.mod(p[:, None] - begin - at + 0.5 * cycle, cycle) - 0.5 * cycle)
            .min(axis=1).max()
            for p, at in zip(phases, touchdowns.T, strict=True)
        )

    return min(off(phases[0][0] - at) for at in touchdowns[:, 0])


@pytest.mark.parametrize("gone", [0.0, 0.3, 0.6])
def test_in_a_skip_left_and_right_exchange_their_steps_with_every_stride(gone):
    """Left down at 0, 1 + T, 2 ..., right at T, 1, 2 + T ..., each for the share of its turn."""
    gait = replace(PRESETS["SKIP"], duty=(0.40, 0.36))
    later, speed = gait.phase[1], 2.0
    steps, _ = plan_steps([_plan(gait, speed)], -2.0, 20.0, gone=gone)
    period = 1.0 / float(gait.rates(speed, HIP, G))
    for leg, turns in enumerate(((0.0, later), (later, 0.0))):
        own = steps.of(leg)
        phase = steps.on[own] / period + 2.0 * gone
        stride = np.round(phase - 0.5 * later).astype(int)
        assert np.array_equal(np.diff(stride), np.ones(len(own) - 1, dtype=int))
        assert np.allclose(phase - stride, np.array(turns)[stride % 2], atol=1e-9)
        duty = np.array(gait.duty)[(stride + leg) % 2]
        assert np.allclose((steps.off - steps.on)[own], duty * period, atol=1e-9)
        zero = own[steps.index[own] == 0][0]
        assert steps.off[zero] > 0.0 and steps.off[zero - 1] <= 0.0
    # Girard 1986, section 3.3: the period is support over duty factor, in the mean of a cycle.
    support = np.mean([(steps.off - steps.on)[steps.of(leg)[:2]].mean() for leg in (0, 1)])
    assert support / np.mean(gait.duty) == pytest.approx(period, rel=1e-12)


def test_supports_of_a_skip_measure_the_stroke_while_speed_changes():
    gait = replace(PRESETS["SKIP"], stroke=0.7)
    speed = 1.5 + 0.1 * TIME
    steps, _ = plan_steps([_plan(gait, speed)], 0.0, 20.0)
    inside = (steps.on > 0.0) & (steps.off < 20.0)
    on, off = steps.on[inside], steps.off[inside]
    assert np.allclose(1.5 * (off - on) + 0.05 * (off**2 - on**2), 0.7, rtol=1e-12)


@pytest.mark.parametrize(
    ("one", "two"),
    [("WALK_BIPED", "SKIP"), ("SKIP", "WALK_BIPED"), ("SKIP", "RUN"), ("RUN", "SKIP"),
     ("SKIP", "SKIP"), ("SKIP", "SKIP_LEFT"), ("SKIP_RIGHT", "SKIP"), ("HOP", "SKIP")],
)
def test_gaits_change_into_and_out_of_a_skip_by_the_least_shift(one, two):
    """Girard 1986, section 3.4, whichever side's turn it is; transfers only."""
    first, second = PRESETS[one], PRESETS[two]
    speed = 2.2
    sooner = 0
    for start in np.linspace(7.0, 9.5, 11):
        plans = [_plan(first, speed), _plan(second, speed, start=start)]
        steps, (change,) = plan_steps(plans, -2.0, 20.0)
        periods = [1.0 / float(gait.rates(speed, HIP, G)) for gait in (first, second)]
        assert start - 1.5 * periods[0] < change.start <= change.end < start + 4.0 * max(periods)
        for number, gait in enumerate((first, second)):
            # All before the first stage are as the first gait has them, all after as the second.
            until = 20.0 if number else start
            assert _off_phase(gait, plans[number].clock, steps, number, until=until) < 1e-9
        froude = speed**2 / (G * HIP)
        for leg in range(2):
            own = steps.of(leg)
            support = [g.duties(froude)[0] * p for g, p in zip((first, second), periods,
                                                               strict=True)]
            assert np.allclose(
                (steps.off - steps.on)[own], np.array(support)[steps.gait[own]], atol=1e-9
            )
            left, landed = _transfers(steps, leg)
            assert np.all(landed - left >= 0.2 - 1e-9)
        # No further than half of the longest gap in the mean, as the nearer side begins.
        assert np.all(np.abs(change.shift.shift) < 0.5 * second.gaps().max() + 0.35)
        sooner += change.shift.cost < 1e-12
    assert sooner == 11 or one != two  # a gait goes on as itself


def test_supports_measure_the_stroke_while_speed_changes():
    """With a given stroke the body goes exactly that far in each support."""
    gait = replace(PRESETS["TROT"], stroke=1.2, duty=(0.42,) * 4, duty_exponent=0.0)
    speed = 3.0 + 0.1 * TIME
    steps, _ = plan_steps([_plan(gait, speed)], 0.0, 20.0)
    inside = (steps.on > 0.0) & (steps.off < 20.0)
    on, off = steps.on[inside], steps.off[inside]
    assert np.allclose(3.0 * (off - on) + 0.05 * (off**2 - on**2), 1.2, rtol=1e-12)


def _transfers(steps, leg):
    own = steps.of(leg)
    return steps.off[own][:-1], steps.on[own][1:]


@pytest.mark.parametrize(
    ("one", "two", "speed"),
    [("WALK", "TROT", 2.2), ("TROT", "WALK", 2.2), ("TROT", "CANTER_LEFT", 4.5),
     ("CANTER_LEFT", "GALLOP_LEFT", 8.0), ("GALLOP_RIGHT", "TROT", 5.0), ("WALK", "PRONK", 2.0)],
)
def test_gait_changes_shift_transfers_only(one, two, speed):
    first, second = PRESETS[one], PRESETS[two]
    plans = [_plan(first, speed), _plan(second, speed, start=7.3)]
    steps, changes = plan_steps(plans, -2.0, 20.0)
    (change,) = changes
    periods = [1.0 / float(gait.rates(speed, HIP, G)) for gait in (first, second)]
    # Within two strides of the longer gait, and not before it is asked for but by a shift.
    assert 7.3 - periods[0] < change.start <= change.end < 7.3 + 3.0 * max(periods)
    froude = speed**2 / (G * HIP)
    for leg in range(4):
        own = steps.of(leg)
        # Every support has the duration that its own gait gives it.
        support = [g.duties(froude)[leg] * p for g, p in zip((first, second), periods, strict=True)]
        assert np.allclose(
            (steps.off - steps.on)[own], np.array(support)[steps.gait[own]], atol=1e-9
        )
        left, landed = _transfers(steps, leg)
        assert np.all(landed - left >= 0.2 - 1e-9)
        # Before and after, each gait as it is written down, all legs in step.
        late = own[steps.gait[own] == 1]
        assert len(late) > 5
        assert np.allclose(np.diff(steps.on[late]), periods[1], atol=1e-9)
    first_late = [steps.on[steps.of(leg)][steps.gait[steps.of(leg)] == 1][0] for leg in range(4)]
    phase = np.array(first_late) / periods[1] - np.array(second.phase)
    assert np.allclose(np.mod(phase - phase[0] + 0.5, 1.0), 0.5, atol=1e-9)


def test_two_stages_where_the_period_grows():
    """All legs first come around once at the longer period, then they are shifted."""
    trot, walk = PRESETS["TROT"], PRESETS["WALK"]
    speed = 2.2
    periods = [1.0 / float(gait.rates(speed, HIP, G)) for gait in (trot, walk)]
    assert periods[1] > periods[0]
    steps, (change,) = plan_steps([_plan(trot, speed), _plan(walk, speed, start=7.3)], -2.0, 20.0)
    for leg in range(4):
        own = steps.of(leg)
        last = own[steps.gait[own] == 0][-3:]
        gaps = np.diff(np.append(steps.on[last], steps.on[last[-1] + 1]))
        assert gaps[0] == pytest.approx(periods[0], abs=1e-9)
        assert gaps[1] == pytest.approx(periods[1], abs=1e-9)
        expected = periods[1] * (1.0 + change.shift.shift[leg])
        assert gaps[2] == pytest.approx(expected, abs=1e-9)


def test_transfers_of_a_change_are_never_shorter_than_asked():
    random = np.random.default_rng(1)
    names = ["WALK", "TROT", "PACE", "CANTER_LEFT", "BOUND", "ROTARY_RIGHT"]
    for _ in range(60):
        one, two = random.choice(names, 2, replace=False)
        speed = random.uniform(1.5, 6.0) + random.uniform(-0.05, 0.2) * TIME
        speed = speed * (1.0 + random.uniform(0.0, 0.9) * np.sin(3.0 * TIME))
        least = random.uniform(0.1, 0.4)
        start = random.uniform(2.0, 9.0)
        plans = [_plan(PRESETS[one], speed), _plan(PRESETS[two], speed, start, least)]
        steps, changes = plan_steps(plans, -2.0, 20.0)
        assert len(changes) == 1
        for leg in range(4):
            left, landed = _transfers(steps, leg)
            own = steps.of(leg)
            changed = np.flatnonzero(np.diff(steps.gait[own]) == 1)
            assert np.all((landed - left)[changed] >= least - 1e-9)
            assert np.all(landed > left) and np.all(np.diff(steps.on[own]) > 0.0)


def test_gaits_wait_until_the_change_before_them_is_done():
    plans = [_plan(PRESETS[name], 4.0, start) for name, start in
             (("WALK", 0.0), ("TROT", 3.0), ("CANTER_LEFT", 3.1), ("TROT", 3.2))]
    _, changes = plan_steps(plans, -2.0, 20.0)
    assert [change.gait for change in changes] == [1, 2, 3]
    assert all(b.end > a.end for a, b in zip(changes, changes[1:], strict=False))


def test_feet_stand_while_the_animal_stands():
    speed = np.clip(np.minimum(TIME - 2.0, 12.0 - TIME), 0.0, 1.6)  # starts at 2 s, stops at 12 s
    gait = PRESETS["WALK"]
    steps, _ = plan_steps([_plan(gait, speed, longest=0.6)], -2.0, 20.0)
    for leg in range(4):
        own = steps.of(leg)
        left, landed = _transfers(steps, leg)
        assert steps.on[own[0]] == -math.inf and steps.off[own[-1]] == math.inf
        assert steps.index[own[0]] == 0
        assert np.all(landed - left <= 0.6 + 1e-9)
        assert left[0] >= 1.4 and landed[-1] <= 12.7
        assert len(own) > 8


STANDS = np.interp(TIME, (1.0, 2.0, 6.0, 7.0, 11.0, 12.0), (0.0, 1.0, 1.0, 0.0, 0.0, 1.0))


@pytest.mark.parametrize("asked", [8.0, 9.99, 6.9])
@pytest.mark.parametrize(
    ("one", "two"),
    [("WALK", "TROT"), ("TROT", "WALK"), ("CANTER_LEFT", "PRONK"), ("BOUND", "GALLOP_RIGHT"),
     ("PRONK", "WALK"), ("TROT", "TROT"), ("WALK_BIPED", "JOG"), ("RUN", "HOP"), ("HOP", "SKIP"),
     ("SKIP", "SKIP"), ("RUN", "SKIP")],
)
def test_who_stands_starts_off_in_the_gait_that_was_to_begin(one, two, asked):
    """With all feet on the ground nothing has to be shifted; from 7 to 11 s it stands."""
    speed = 3.0 * STANDS
    first, second = PRESETS[one], PRESETS[two]
    # Longest swings are 0.6 s, in a skip, from hop to step, 0.9.
    longest = 0.9 if "SKIP" in (one, two) else 0.6
    plans = [_plan(first, speed, longest=longest), _plan(second, speed, asked, longest=longest)]
    steps, (change,) = plan_steps(plans, -2.0, 20.0)
    assert change.start <= max(asked, 7.0) and change.end <= 11.0
    period = 1.0 / float(second.rates(3.0, HIP, G))
    for leg in range(len(first.legs)):
        own = steps.of(leg)
        left, landed = _transfers(steps, leg)
        assert np.all(landed - left > 0.05) and np.all(steps.off[own] > steps.on[own])
        # On the ground from one swing after the stop to half of one before the start.
        half = 0.5 * longest + 0.01
        stands = own[(steps.on[own] < 7.0 + longest) & (steps.off[own] >= 11.0 - half)]
        assert len(stands) == 1 and steps.gait[stands[0]] == 0
        # From then on as the second gait has it, and from the first step on.
        after = own[own > stands[0]]
        assert np.all(steps.gait[after] == 1)
        late = after[1:][steps.on[after[1:]] > 12.0]
        assert len(late) > 5
        cycle = np.diff(steps.on[late[:: second.cycle]])
        assert np.allclose(cycle, second.cycle * period, atol=1e-9)
    # All begin with the step that comes next after the stand, in the order of the gait.
    own = [steps.of(leg) for leg in range(len(first.legs))]
    landed = np.array([steps.on[k][steps.gait[k] == 1][0] for k in own])
    clock = plans[1].clock
    ends = float(clock.phase(11.0))
    around = second.gaps().max() + 1e-9
    assert ends < clock.phase(landed.min()) and clock.phase(landed.max()) <= ends + around
    assert _off_phase(second, clock, steps, 1, since=13.0) < 1e-9


def test_the_last_step_into_a_stand_lasts_until_the_first_swing_out_of_it():
    """Not until its own gait, whose clock stands, would have set it down: a skip whose long
    swing ends with the stop."""
    plans = [_plan(PRESETS["SKIP"], 3.0 * STANDS, longest=0.9),
             _plan(PRESETS["RUN"], 3.0 * STANDS, 8.0, longest=0.9)]
    steps, _ = plan_steps(plans, -2.0, 20.0)
    for leg in range(2):
        left, landed = _transfers(steps, leg)
        assert np.all(landed - left >= 0.2 - 1e-9)


def test_of_gaits_that_begin_in_one_stand_the_last_is_taken_up():
    speed = 3.0 * STANDS
    names = (("WALK", 0.0), ("BOUND", 7.5), ("TROT", 8.0), ("CANTER_LEFT", 14.0))
    plans = [_plan(PRESETS[name], speed, start, longest=0.6) for name, start in names]
    steps, changes = plan_steps(plans, -2.0, 20.0)
    assert [change.gait for change in changes] == [1, 2, 3]
    assert [change.start for change in changes[:2]] == [7.5, 8.0] and changes[2].start > 13.0
    assert set(steps.gait) == {0, 2, 3}
    # Before the first step, too; and where it stops for good another gait never begins.
    speed = 3.0 * np.clip(np.minimum(TIME - 4.0, 12.0 - TIME), 0.0, 1.0)
    plans = [_plan(PRESETS[name], speed, start, longest=0.6) for name, start in
             (("WALK", 0.0), ("TROT", 2.0), ("PRONK", 14.0))]
    steps, (change,) = plan_steps(plans, -2.0, 20.0)
    assert (change.gait, change.start, change.end) == (1, 2.0, 4.0)
    assert set(steps.gait[np.isneginf(steps.on)]) == {0} and set(steps.gait) == {0, 1}


def test_standing_from_beginning_to_end_takes_no_step():
    steps, _ = plan_steps([_plan(PRESETS["TROT"], 0.0)], -2.0, 20.0)
    assert len(steps.leg) == 4
    assert np.all(steps.on == -math.inf) and np.all(steps.off == math.inf)


def test_rounding_to_frames_rounds_all_times_and_keeps_their_order():
    frame = 1.0 / 24.0
    steps, _ = plan_steps([_plan(PRESETS["GALLOP_LEFT"], 12.0)], -2.0, 20.0, frame)
    frames = np.concatenate((steps.on, steps.off)) / frame
    assert np.allclose(frames, np.round(frames), atol=1e-9)
    for leg in range(4):
        own = steps.of(leg)
        assert np.all(steps.off[own] > steps.on[own])
        assert np.all(steps.on[own][1:] > steps.off[own][:-1])


def test_six_legs_change_from_wave_to_tripod():
    names = PRESETS["WAVE"].legs
    slow, fast = metachronal(names, 0.8, 1 / 6, "A", period=1.0), PRESETS["TRIPOD"]
    steps, (change,) = plan_steps([_plan(slow, 0.5), _plan(fast, 0.5, 5.0)], 0.0, 20.0)
    phase = np.array([steps.on[steps.of(leg)][-1] for leg in range(6)])
    period = 1.0 / float(fast.rates(0.5, HIP, G))
    off = np.mod((phase - phase[0]) / period - np.array(fast.phase) + 0.5, 1.0)
    assert np.allclose(off, 0.5, atol=1e-9)
    assert change.end > change.start


MEASURED = [
    # Stride s, touchdowns after the first leg, duty factors, in the order hind.L hind.R fore.L
    # fore.R: walks and a gallop of two animals made by artists, measured frame by frame.
    ("Fox Walk", 0.708, (0.0, 0.41, 0.25, 0.71), (0.61, 0.65, 0.65, 0.70)),
    ("Fox Run", 1.158, (0.0, 0.15, 0.43, 0.41), (0.39, 0.45, 0.5, 0.57)),
    ("Horse Walk", 1.167, (0.0, 0.50, 0.22, 0.79), (0.57, 0.58, 0.59, 0.60)),
    ("Horse Gallop", 0.583, (0.0, 0.79, 0.29, 0.07), (0.43, 0.45, 0.48, 0.50)),
]


@pytest.mark.parametrize("case", MEASURED, ids=lambda case: case[0])
def test_measured_gaits_are_stepped_as_they_were_measured(case):
    """Order and timing of the footfalls; the gait is given by its period, not by a law."""
    name, period, phase, duty = case
    gait = replace(PRESETS["WALK"], name=name, phase=phase, duty=duty, period=period)
    steps, _ = plan_steps([_plan(gait, 1.5)], 0.0, 20.0)
    first = {leg: steps.on[steps.of(leg)][steps.on[steps.of(leg)] >= -1e-9][0] for leg in range(4)}
    assert sorted(first, key=first.get) == list(np.argsort(phase))
    assert np.allclose([first[leg] for leg in range(4)], np.array(phase) * period, atol=1e-9)
    inside = (steps.on > 0.0) & (steps.off < 20.0)
    expected = np.array(duty)[steps.leg] * period
    assert np.allclose((steps.off - steps.on)[inside], expected[inside], atol=1e-9)


@pytest.mark.parametrize("place", [{"start": 9.0}, {"start": 0.0, "distance": 50.0}])
def test_gaits_that_a_short_motion_never_comes_to_are_told(place):
    sequence = (GaitItem("WALK_BIPED"), GaitItem("RUN", **place))
    settings = GaitSettings(creature=biped(), sequence=sequence, speed=1.4, n_frames=49, fps=24.0)
    (lost,) = [p for p in solve_gait(settings).problems if p.code == "GAIT_LOST"]
    assert lost.message == "Gait 2 (Run) never begins: the motion ends before"
    assert lost.time == pytest.approx(2.0) and lost.severity == "INFO"
