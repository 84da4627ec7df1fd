# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaits: leg states, clocks, presets against published numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from poise.solvers.errors import SettingError
from poise.solvers.legged.gait import (
    HEXAPOD,
    PRESETS,
    QUADRUPED,
    PhaseClock,
    check_gait,
    drag_support,
    leg_states,
    metachronal,
    mirrored,
    shift_between,
    spoken_leg,
    timing_shown,
)

G = 9.81


@pytest.mark.parametrize("name", PRESETS)
def test_equalities_hold_to_rounding_for_every_leg_at_every_time(name):
    """Girard 1986, section 3.3."""
    gait = PRESETS[name]
    speed, hip = 3.0, 1.2
    period = 1.0 / float(gait.rates(speed, hip, G))
    duty = gait.duties(speed**2 / (G * hip))
    stroke = gait.strides(speed, hip, G) * duty
    assert np.allclose(stroke / speed, duty * period, rtol=1e-14)
    time = np.linspace(0.0, 7.0 * period, 5000, endpoint=False)
    state = leg_states(gait, period, time)
    assert np.all((state >= 0.0) & (state < gait.gaps().max() * period + 1e-12))
    # It grows with time but where it starts anew, once a stride in the mean.
    gained = np.diff(state, axis=0)
    assert np.allclose(gained[gained > 0.0], np.diff(time)[0], atol=1e-12)
    assert np.all(np.abs((gained < 0.0).sum(axis=0) - 7) <= 1)
    # 0 at touchdown, the support duration at liftoff.
    for stride in (2, 3):
        side = gait.sides()[stride % gait.cycle]
        for leg, (i, share) in enumerate(zip(side, duty[side], strict=True)):
            on, off = (gait.phase[i] + stride) * period, (gait.phase[i] + stride + share) * period
            at = leg_states(gait, period, np.array([on, off]))[:, leg]
            since = np.mod(at[0] + 1e-9, gait.cycle * period) - 1e-9
            assert abs(since) < 1e-12 or abs(since - gait.gaps()[stride % gait.cycle - 1, leg] *
                                             period) < 1e-12
            assert abs(at[1] - share * period) < 1e-12


def test_footfalls_come_in_the_order_of_the_phases():
    """Lateral sequence of a horse's walk: LH LF RH RF."""
    state = leg_states(PRESETS["WALK"], 1.0, np.linspace(0.0, 1.0, 1000, endpoint=False))
    # The moment of touchdown is where the state is least.
    order = np.argsort(np.argmin(state, axis=0))
    assert [QUADRUPED[i] for i in order] == ["hind.L", "fore.L", "hind.R", "fore.R"]


def test_bars_of_a_diagram_show_whose_turn_it_is():
    skip, period = replace(PRESETS["SKIP"], phase=(0.05, 0.30)), 0.7
    touchdowns = skip.touchdowns() + np.array([0, 2, 4])[:, None, None]
    for i, leg in enumerate(skip.legs):
        on = np.sort(touchdowns[..., i].ravel()) * period
        assert timing_shown(skip, leg, on, on[0]) is None
        for k in range(1, 5):
            whose, stride = timing_shown(skip, leg, on, on[k])
            assert whose == skip.legs[(i + k) % 2] and stride == pytest.approx(period)
    walk = PRESETS["WALK_BIPED"]
    assert timing_shown(walk, "leg.L", [0.0, 1.1], 1.1) == ("leg.L", 1.1)
    assert timing_shown(walk, "leg.L", [-math.inf, 1.0], 1.0) is None
    assert timing_shown(walk, "leg.L", [-math.inf, 1.0, math.inf], -math.inf) is None


@pytest.mark.parametrize(
    ("name", "said"),
    [("fore.R", "right fore"), ("leg.L", "left leg"), ("leg2.R", "right leg 2"),
     ("hind.3.L", "left hind 3"), ("Tail", "Tail"), ("a.B", "a.B")],
)
def test_legs_are_called_what_people_call_them(name, said):
    assert spoken_leg(name) == said


def test_mirrored_gaits_exchange_their_leads():
    for name in ("CANTER", "GALLOP", "ROTARY"):
        left, right = PRESETS[f"{name}_LEFT"], PRESETS[f"{name}_RIGHT"]
        assert mirrored(left).phase == right.phase and mirrored(left).duty == right.duty
        assert shift_between(left, right) is None
    # Gaits that are the same on both sides are only later; one on one side is another one.
    for name, later in (("WALK", 0.5), ("TROT", 0.5), ("RIPPLE", 0.5), ("RUN", 0.5),
                        ("BOUND", 0.0), ("HOP", 0.0), ("SKIP", 0.5),
                        ("SKIP_LEFT", None)):
        found = shift_between(mirrored(PRESETS[name]), PRESETS[name])
        assert found == (None if later is None else pytest.approx(later)), name


def test_a_skip_is_a_step_and_a_hop_on_each_foot_in_turn():
    """Minetti 1998: after each flight the foot that left the ground lands first, then the
    other, and both are down for a moment between. That is a cycle of two strides."""
    gait = PRESETS["SKIP"]
    assert gait.cycle == 2 and all(PRESETS[n].cycle == 1 for n in PRESETS if n != "SKIP")
    later = gait.phase[1]
    assert np.allclose(gait.touchdowns(), [(0.0, later), (1.0 + later, 1.0)], atol=1e-15)
    assert np.allclose(gait.gaps().sum(axis=0), 2.0, atol=1e-15)
    time = np.linspace(0.0, 2.0, 2000, endpoint=False)
    down = leg_states(gait, 1.0, time) < np.array(gait.duty)
    changes = np.flatnonzero(np.any(down != np.roll(down, 1, axis=0), axis=1))
    beats = ["".join(side for side, on in zip("LR", down[k], strict=True) if on) for k in changes]
    assert beats == ["L", "LR", "R", "", "R", "LR", "L", ""]
    # A stride later left is right.
    assert np.count_nonzero(down[1000:] != down[:1000, ::-1]) <= 2  # to rounding
    assert mirrored(gait).touchdowns()[0] + 1.0 == pytest.approx(gait.touchdowns()[1])
    # With one foot always ahead: left lands last before each flight of a skip on the left lead.
    for name, beats in (("SKIP_LEFT", ["", "R", "LR", "L"]), ("SKIP_RIGHT", ["", "L", "LR", "R"])):
        down = leg_states(PRESETS[name], 1.0, time[:1000] - 0.02) < np.array(gait.duty)
        changes = [0, *(np.flatnonzero(np.any(np.diff(down, axis=0) != 0, axis=1)) + 1)]
        assert ["".join(s for s, on in zip("LR", down[k], strict=True) if on)
                for k in changes][:4] == beats


def test_clock_is_exact_under_speed_that_grows_evenly():
    """Rate r0 + a t: the phase is r0 t + a t^2 / 2, its inverse the root."""
    time = np.linspace(0.0, 10.0, 241)
    clock = PhaseClock(time, 0.5 + 0.2 * time)
    at = np.array([0.013, 1.7, 9.999, 10.0])
    assert np.allclose(clock.phase(at), 0.5 * at + 0.1 * at**2, rtol=1e-13)
    assert np.allclose(clock.time(clock.phase(at)), at, rtol=1e-13)
    # Beyond its ends the rate stays.
    assert clock.phase(12.0) == pytest.approx(15.0 + 2.0 * 2.5, rel=1e-14)
    assert clock.time(-1.0) == pytest.approx(-2.0, rel=1e-14)


def test_clock_stands_while_the_animal_stands():
    clock = PhaseClock(np.array([0.0, 1.0, 2.0, 3.0, 4.0]), np.array([1.0, 0.0, 0.0, 1.0, 0.0]))
    assert clock.phase(1.5) == 0.5
    assert clock.time(0.5) == 1.0  # the first time
    assert clock.time(0.5 + 1e-12) > 2.0 - 1e-12
    assert clock.time(1.5) == 4.0
    assert clock.time(1.5 + 1e-9) == math.inf
    still = PhaseClock(np.array([0.0, 1.0]), np.array([0.0, 0.0]))
    assert still.time(-0.1) == -math.inf and still.time(0.1) == math.inf


def test_clock_keeps_exact_pace_of_a_stroke_law_between_its_samples():
    """With a given stroke the rate is linear in speed: strides measure the way."""
    gait = replace(PRESETS["WALK"], stroke=1.0)
    time = np.linspace(0.0, 5.0, 121)
    speed = 1.0 + 0.3 * time
    clock = PhaseClock(time, gait.rates(speed, 1.4, G))
    way = 5.0 + 0.15 * 25.0
    assert clock.phase(5.0) == pytest.approx(way * gait.duty[0] / 1.0, rel=1e-13)


PUBLISHED = [
    # preset, hip height m, speed m/s, least and most stride s, least and most duty
    ("WALK", 1.4, 1.65, 1.0, 1.2, 0.60, 0.68),
    ("TROT", 1.4, 4.0, 0.78, 0.81, 0.35, 0.50),  # 0.794 +- 0.014 s at 3 to 5 m/s
    ("TROT", 1.4, 3.2, 0.76, 0.83, 0.35, 0.50), ("TROT", 1.4, 4.7, 0.76, 0.83, 0.35, 0.50),
    ("TROT", 0.525, 2.2, 0.46, 0.50, 0.35, 0.50),  # a dog's 0.46 to 0.49 s
    ("GALLOP_LEFT", 1.4, 11.0, 0.45, 0.48, 0.24, 0.30),  # 5 m, 2.1 to 2.2 strides a second
    ("CANTER_LEFT", 1.4, 4.5, 0.55, 0.65, 0.35, 0.45),
    ("CANTER_RIGHT", 1.4, 7.0, 0.55, 0.65, 0.35, 0.45),
    ("GALLOP_LEFT", 1.4, 9.0, 0.485, 0.505, 0.25, 0.30),  # Witte et al. 2006: 0.495 s
    ("GALLOP_RIGHT", 1.4, 17.0, 0.41, 0.43, 0.18, 0.23),  # 0.42 s
    ("WALK", 0.5, 1.0, 0.55, 0.75, 0.60, 0.70),  # a dog of 25 to 30 kg
    ("ROTARY_LEFT", 0.62, 17.0, 0.25, 0.36, 0.18, 0.25),  # 2.8 to 4 Hz
    ("ROTARY_LEFT", 0.52, 4.0, 0.29, 0.38, 0.18, 0.27),
    # Where it begins to gallop a dog of 25 kg takes 2.9 strides a second at 3 m/s, a horse 1.9
    # at 5.9 (Heglund et al. 1974).
    ("BOUND", 0.52, 3.0, 0.31, 0.38, 0.20, 0.35), ("BOUND", 1.4, 5.9, 0.48, 0.57, 0.20, 0.35),
    ("WALK_BIPED", 0.9, 1.37, 1.0, 1.2, 0.60, 0.62),  # 100 to 120 steps a minute
    ("RUN", 0.9, 4.0, 0.66, 0.77, 0.30, 0.33),  # 2.6 to 3 steps a second
    # 84.8 +- 3.6 strides a minute take the least energy at 3 m/s (Lieberman et al. 2015).
    ("RUN", 0.95, 3.0, 0.679, 0.739, 0.34, 0.40),
    # 2.2 hops a second, whatever the speed (Farley et al. 1991).
    ("HOP", 0.95, 0.7, 0.40, 0.52, 0.3, 0.5), ("HOP", 0.95, 3.5, 0.40, 0.52, 0.3, 0.5),
    ("JOG", 0.9, 2.5, 0.66, 0.77, 0.37, 0.42),
    # As many strides as in a run at that speed (Minetti 1998): 2.6 to 3 steps a second.
    ("SKIP", 0.9, 2.68, 0.66, 0.77, 0.33, 0.42),
]


@pytest.mark.parametrize("case", PUBLISHED, ids=lambda case: f"{case[0]}-{case[2]}")
def test_presets_lie_within_published_ranges(case):
    """Stride time and duty factor at given size and speed; sources in the module."""
    name, hip, speed, least, most, least_duty, most_duty = case
    gait = PRESETS[name]
    assert least <= 1.0 / float(gait.rates(speed, hip, G)) <= most
    duty = gait.duties(speed**2 / (G * hip))
    assert np.all((duty >= least_duty) & (duty <= most_duty)), duty


def test_people_skip_at_speeds_and_with_steps_as_measured():
    """At 1.75 m/s (Johnson et al. 2005), 2.5 (Roelker et al. 2022) and 2.68, where steps are
    shorter than a runner's (McDonnell et al. 2019); hips 0.9 m high."""
    skip, run = PRESETS["SKIP"], PRESETS["RUN"]
    low, high = skip.usual_speeds(0.9, G)
    assert 1.3 < low < 1.75 and 2.68 < high < 3.6
    speed = np.array([2.5, 2.68, 3.0])
    assert np.all(skip.strides(speed, 0.9, G) < run.strides(speed, 0.9, G))


def test_presets_have_the_beats_of_their_names():
    for name, gait in PRESETS.items():
        assert check_gait(gait) == gait, name
    trot = PRESETS["TROT"].phase
    # Diagonal pairs, the hind foot first by some 30 ms of 0.8 s at most.
    assert 0.0 <= (trot[3] - trot[0]) % 1.0 <= 0.04 and 0.0 <= (trot[2] - trot[1]) % 1.0 <= 0.04
    # Gathered suspension of the transverse gallop after the leading fore leg, none after the hinds.
    gallop = PRESETS["GALLOP_LEFT"]
    assert max(gallop.phase) == gallop.phase[2]
    # Rotary: the leading hind and the leading fore leg are on different sides.
    rotary = PRESETS["ROTARY_LEFT"].phase
    assert rotary[0] > rotary[1] and rotary[3] > rotary[2]
    # Leads are mirrored.
    for one in ("CANTER", "GALLOP", "ROTARY"):
        left, right = PRESETS[one + "_LEFT"], PRESETS[one + "_RIGHT"]
        assert left.phase == tuple(right.phase[i] for i in (1, 0, 3, 2))


@pytest.mark.parametrize("n", range(1, 13))
def test_metachronal_wave_of_any_number_of_legs(n):
    names = [f"leg{i // 2}." + "LR"[i % 2] for i in range(n)]
    gait = check_gait(metachronal(names))
    state = leg_states(gait, 1.0, np.linspace(0.0, 1.0, 997, endpoint=False))
    down = (state < np.array(gait.duty)).sum(axis=1)
    if n % 2 == 0:  # one leg swings at a time, up to the samples where two legs change
        assert np.all(np.abs(down - (n - 1)) <= 1) and np.mean(down == n - 1) > 0.97
    assert np.mean(down) == pytest.approx(sum(gait.duty), abs=0.02)


def test_tripod_stands_on_three_feet_that_hold_it():
    gait = PRESETS["TRIPOD"]
    state = leg_states(gait, 1.0, np.array([0.25]))[0]
    down = {HEXAPOD[i] for i in np.flatnonzero(state < gait.duty)}
    assert down in ({"fore.L", "hind.L", "middle.R"}, {"fore.R", "hind.R", "middle.L"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"duty": (0.0, 0.5, 0.5, 0.5)}, "Duty Factor of the left hind in gait WALK is 0.0"),
        ({"duty": (0.5, 1.0, 0.5, 0.5)}, "Duty Factor of the right hind in gait WALK is 1.0"),
        ({"duty": (0.5, 0.5, 1.2, 0.5)}, "Duty Factor of the left fore in gait WALK is 1.2"),
        ({"duty": (0.5, 0.5)}, "one for each of its 4 legs"),
        ({"phase": (0.0, 0.5, 0.2, 1.3)}, "Phase of the right fore in gait WALK is 1.3"),
        ({"phase": (0.0, -0.1, 0.2, 0.3)}, "Phase of the right hind in gait WALK is -0.1"),
        ({"phase": (0.0, math.nan, 0.2, 0.3)}, "Phase of the right hind in gait WALK is nan"),
        ({"stroke": 0.0}, "Stroke of gait WALK is 0.0"),
        ({"period": -1.0}, "Stride Time of gait WALK is -1.0"),
        ({"stroke": 1.0, "period": 1.0}, "one at a time"),
        ({"legs": (), "duty": (), "phase": ()}, "at least one leg"),
    ],
)
def test_bad_gaits_are_refused_with_a_sentence_that_names_the_leg(change, words):
    with pytest.raises(SettingError, match="must be") as caught:
        check_gait(replace(PRESETS["WALK"], **change))
    assert words in str(caught.value)


def test_phase_of_one_is_zero():
    assert check_gait(replace(PRESETS["WALK"], phase=(1.0, 0.5, 0.2, 0.7))).phase[0] == 0.0


def test_gait_follows_its_legs_into_another_order():
    walk = PRESETS["WALK"]
    names = ("fore.R", "hind.L", "hind.R", "fore.L")
    other = walk.for_legs(names)
    for name in names:
        assert other.phase[names.index(name)] == walk.phase[QUADRUPED.index(name)]
    assert walk.for_legs(("a", "b", "c", "d")).phase == walk.phase
    with pytest.raises(SettingError, match="3 legs"):
        walk.for_legs(("a", "b", "c"))


def test_dragged_supports_keep_their_other_edge():
    """Touchdown is at T, liftoff at T + duty factor of the stride (Girard 1986, section 3.3)."""
    walk = PRESETS["WALK"]
    i = walk.legs.index("fore.L")
    end = (walk.phase[i] + walk.duty[i]) % 1.0
    for edge, share in (("ON", 0.05), ("OFF", -0.1), ("BAR", 0.9), ("ON", 5.0), ("OFF", 5.0)):
        made = drag_support(walk, "fore.L", edge, share)
        check_gait(made)
        others = [k for k in range(4) if k != i]
        assert all(made.duty[k] == walk.duty[k] and made.phase[k] == walk.phase[k] for k in others)
        if edge == "ON":
            assert (made.phase[i] + made.duty[i]) % 1.0 == pytest.approx(end)
        if edge == "OFF":
            assert made.phase[i] == walk.phase[i]
        if edge == "BAR":
            assert made.duty[i] == walk.duty[i]
            assert made.phase[i] == pytest.approx((walk.phase[i] + 0.9) % 1.0)
    for leg, edge in (("wing", "ON"), ("fore.L", "MIDDLE")):
        with pytest.raises(SettingError):
            drag_support(walk, leg, edge, 0.1)


def test_dragging_supports_of_a_skip_past_the_stride_goes_on_without_a_jump():
    """Where sides alternate a phase of -0.02 is not 0.98: the next stride is the other side's."""
    skip = PRESETS["SKIP"]
    for share in (-0.31, -0.33):  # just before, and just beyond the other foot's touchdown
        made = check_gait(drag_support(skip, "leg.R", "BAR", share))
        apart = np.diff(made.touchdowns(), axis=1)[:, 0]
        assert apart == pytest.approx([0.32 + share, -0.32 - share])
    wide = check_gait(drag_support(skip, "leg.R", "BAR", 0.9))
    assert np.all(wide.gaps() > 0.0) and wide.phase[1] < 1.0
