# SPDX-License-Identifier: GPL-3.0-or-later
"""Edited footprints: the motion is solved again around them, and nowhere else."""

import json
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from poise.addon.mapping.legs import creature_of
from poise.addon.rigs.builders.legged import FIGURES
from poise.solvers.errors import SettingError
from poise.solvers.legged import GaitItem, GaitSettings, runs, solve_gait
from poise.solvers.legged.adapt import Adapt
from poise.solvers.legged.creature import biped, insect, quadruped
from poise.solvers.legged.edits import (
    FootprintBefore,
    FootprintEdit,
    Locks,
    edits_as_data,
    edits_from_data,
)
from poise.solvers.legged.gait import spoken_leg
from poise.solvers.legged.least_push import Wishes, least_push
from poise.solvers.legged.walk import Walk
from poise.solvers.legged.windows import Joined, Window
from poise.solvers.rotations import conjugate, rotate
from poise.solvers.turning import sample_times

G = 9.81
FREE = Locks()
BODY = ("position", "orientation", "yaw", "pitch", "roll", "bank", "velocity", "hip",
        "girdle_height", "girdle_speed")
FEET = ("foot_position", "foot_orientation", "foot_pitch", "contact")


def _rolling(a, b):
    """Hills of 0.1 m, so many radians per metre apart."""
    def ground(x, y):
        z = 0.1 * np.sin(a * x) * np.cos(b * y)
        dx = 0.1 * a * np.cos(a * x) * np.cos(b * y)
        dy = -0.1 * b * np.sin(a * x) * np.sin(b * y)
        normal = np.stack((-dx, -dy, np.ones_like(z)), axis=-1)
        return z, normal / np.linalg.norm(normal, axis=-1, keepdims=True), np.ones(len(z), bool)
    return ground


_BEND = 6.0 * np.stack([f(np.linspace(0.0, 3.0, 60)) for f in (np.sin, np.cos)], axis=1)
CASES = {
    "horse walks": {"sequence": (GaitItem("WALK"),), "speed": 1.6},
    "horse gallops": {"sequence": (GaitItem("GALLOP_LEFT"),), "speed": 9.0},
    "dog trots on hills": {"creature": quadruped(0.5, 0.6, 0.2, hoof=False), "speed": 2.0,
                           "sequence": (GaitItem("TROT"),), "ground": _rolling(1.1, 0.7)},
    "person walks around": {"creature": biped(), "sequence": (GaitItem("WALK_BIPED"),),
                            "speed": 1.4, "path": _BEND},
    "person walks and runs": {"creature": biped(), "speed": 2.6, "sequence": (
        GaitItem("WALK_BIPED"), GaitItem("RUN", 2.0))},
    "insect": {"creature": insect(), "sequence": (GaitItem("TRIPOD"),), "speed": 0.5},
}


@cache
def _base(name, fps=24.0, n=121):
    settings = GaitSettings(n_frames=n, fps=fps, **CASES[name])
    walk = Walk(settings, None)
    return settings, walk, walk.solve()


def _adapted(name, *edits, locks=FREE, pins=(), **base):
    settings, walk, motion = _base(name, **base)
    settings = replace(settings, edits=edits, locks=locks, pins=pins)
    return motion, Adapt(walk, motion, settings).solve()


def _print(motion, leg, time):
    return next(mark for mark in motion.footprints if mark.leg == leg and mark.on > time)


def _same(mark):
    """The same footprint of another motion."""
    return lambda motion: next(
        other for other in motion.footprints if (other.leg, other.index) == (mark.leg, mark.index)
    )


def _slide(motion):
    """How far any point that a foot stands on or rolls about is from where it should be, m."""
    worst = 0.0
    for i, leg in enumerate(motion.creature.legs):
        arms = ((lambda p: p == 0.0, np.zeros(3)), (lambda p: p > 0.0, [0.0, leg.heel, 0.0]),
                (lambda p: p < 0.0, [0.0, -leg.toe, 0.0]))
        for mark in (mark for mark in motion.footprints if mark.leg == leg.name):
            down = (motion.time >= mark.on) & (motion.time <= mark.off)
            assert np.all(motion.contact[down, i])
            for rolls, arm in arms:
                at = down & rolls(motion.foot_pitch[:, i])
                there = motion.foot_position[at, i] + rotate(motion.foot_orientation[at, i], arm)
                gap = there - mark.position - rotate(mark.orientation, np.asarray(arm, float))
                worst = max(worst, float(np.abs(gap).max(initial=0.0)))
    return worst


def _check_outside(before, after):
    outside = np.ones(len(before.time), dtype=bool)
    for start, end in after.windows:
        outside &= (before.time <= start) | (before.time >= end)
    for name in (*BODY, *FEET):
        old, new = getattr(before, name), getattr(after, name)
        assert np.array_equal(old[outside], new[outside]), name
    return outside


def _random_edits(motion, rng):
    hip = motion.creature.hip_height()
    edits = []
    for k in rng.choice(len(motion.footprints), rng.integers(1, 5), replace=False):
        mark, change = motion.footprints[k], {}
        if rng.random() < 0.8:
            change["position"] = mark.position + hip * rng.normal(size=3) * [0.15, 0.15, 0.04]
        if rng.random() < 0.4:
            change["yaw"] = mark.yaw + 0.3 * rng.normal()
        if rng.random() < 0.3:
            change["on"] = max(mark.on, 0.0) + 0.05 * rng.normal()
        if rng.random() < 0.3:
            change["off"] = max(min(mark.off, 5.0) + 0.05 * rng.normal(),
                                change.get("on", mark.on) + 0.01)
        edits.append(FootprintEdit(mark.leg, mark.index, **change))
    return tuple(edits)


@pytest.mark.parametrize("name", CASES)
def test_random_edits_stay_in_their_windows_and_join_smoothly(name):
    """Outside to the bit as before; at the windows' ends value and velocity go on."""
    rng = np.random.default_rng(len(name))
    _, _, motion = _base(name)
    joints = 0
    for _ in range(12):
        edits = _random_edits(motion, rng)
        before, after = _adapted(name, *edits)
        _check_outside(before, after)
        assert _slide(after) < 1e-9
        for edit in edits:
            mark = next(m for m in before.footprints
                        if (m.leg, m.index) == (edit.leg, edit.index))
            now = [m for m in after.footprints if (m.leg, m.index) == (edit.leg, edit.index)]
            if not now:  # moved out of the motion in time
                assert edit.on is not None and edit.on > before.time[-1] - 0.2
                continue
            assert np.array_equal(now[0].position, mark.position if edit.position is None
                                  else edit.position)
        # With C^1 joints what is added grows by the square of the time since the joint; 1 mm per
        # (1/96 s)^2, twice the largest of these, is some g of acceleration. A jump of the
        # velocity of 0.2 m/s would be as large.
        dt = before.time[1]
        ends = [(s, 1) for s, _ in after.windows] + [(e, -1) for _, e in after.windows]
        for moment, step in ends:
            inner = before.time[(before.time - moment) * step > 0.0]
            if not 0.0 < moment < before.time[-1] or not len(inner):
                continue
            k = int(np.argmin(np.abs(before.time - (inner[0] if step > 0 else inner[-1]))))
            gone = max(abs(float(before.time[k]) - moment), 0.2 * dt)
            joints += 1
            for part in ("position", "hip", "foot_position", "yaw", "roll", "pitch"):
                jump = np.abs(getattr(after, part)[k] - getattr(before, part)[k]).max()
                assert jump < 20.0 * gone**2 + 1e-12, (part, moment, edits)
    assert joints > 12


def test_one_moved_footprint_draws_the_body_a_little_and_a_run_takes_it_along():
    name = "person walks around"
    _, _, motion = _base(name)
    mark = _print(motion, "leg.L", 1.5)
    aside = np.array([0.0, 0.0, 0.0])
    aside[:2] = 0.15 * np.array([math.cos(mark.yaw), math.sin(mark.yaw)])  # to the left
    before, after = _adapted(name, FootprintEdit("leg.L", mark.index, mark.position + aside))
    moved = (after.position - before.position)[:, :2] @ aside[:2] / 0.15
    middle = np.argmin(np.abs(before.time - 0.5 * (mark.on + mark.off)))
    assert 0.02 < moved[middle] < 0.15 and moved.max() < 0.15 and moved.min() > -0.02
    # All footprints, as one: so does everything else, to rounding.
    turn, shift = 0.6, np.array([3.0, -1.0, 0.0])
    spin = np.array([[math.cos(turn), -math.sin(turn), 0.0],
                     [math.sin(turn), math.cos(turn), 0.0], [0.0, 0.0, 1.0]])
    edits = [FootprintEdit(m.leg, m.index, spin @ m.position + shift, m.yaw + turn)
             for m in motion.footprints]
    _, whole = _adapted(name, *edits)
    assert np.allclose(whole.position, motion.position @ spin.T + shift, atol=1e-6)
    assert np.allclose(whole.foot_position, motion.foot_position @ spin.T + shift, atol=1e-6)
    assert np.allclose(whole.yaw, motion.yaw + turn, atol=1e-6)


@pytest.mark.parametrize("creature, gait", [
    (quadruped(), "WALK"), (biped(), "WALK_BIPED"), (insect(), "TRIPOD")
])
def test_bodies_that_stand_stay_over_the_feet_that_are_moved_under_them(creature, gait):
    """A foot that stands asks all along: who stands on moved feet stands still, elsewhere."""
    hip = creature.hip_height()
    stands = GaitSettings(creature=creature, sequence=(GaitItem(gait),), speed=0.0, n_frames=97)
    before = solve_gait(stands)
    aside = np.array([0.1 * hip, 0.0, 0.0])
    edits = tuple(FootprintEdit(m.leg, m.index, m.position + aside) for m in before.footprints)
    assert len(edits) == len(creature.legs)
    after = solve_gait(replace(stands, edits=edits[:1]))
    moved = after.position - before.position
    assert np.all(moved[:, 0] > 0.0) and np.all(moved[:, 0] < aside[0])
    assert np.abs(moved - moved[0]).max() < 1e-3 * hip
    whole = solve_gait(replace(stands, edits=edits))
    assert np.allclose(whole.position, before.position + aside, atol=1e-6)
    # Who halts, at 3 s of 8: the feet that it stands on then take it along, and there it stays.
    time = sample_times(193, 24.0)
    speed = 0.45 * np.sqrt(G * hip) * np.clip(3.0 - time, 0.0, 1.0)
    halts = replace(stands, speed=speed, n_frames=193)
    before = solve_gait(halts)
    last = [m for m in before.footprints if math.isinf(m.off)]
    assert len(last) == len(creature.legs)
    edits = tuple(FootprintEdit(m.leg, m.index, m.position + aside) for m in last)
    after = solve_gait(replace(halts, edits=edits))
    still = after.time > max(m.on for m in last) + 1.0
    moved = (after.position - before.position)[still]
    assert still.sum() > 50 and np.abs(moved - aside)[:, :2].max() < 0.01 * hip
    assert not {p.code for p in after.problems} & {"OUT_OF_REACH", "HIPS_LOWERED"}


def test_flights_stay_ballistic_through_edits():
    """In the air the acceleration is -g, and nothing pushes along the ground or turns."""
    name = "person walks and runs"
    _, _, motion = _base(name, fps=240.0, n=1201)
    mark = _print(motion, "leg.R", 3.0)
    edit = FootprintEdit("leg.R", mark.index, mark.position + [0.15, 0.1, 0.05], mark.yaw + 0.3,
                         on=mark.on + 0.03, off=mark.off + 0.02)
    before, after = _adapted(name, edit, fps=240.0, n=1201)
    time, dt = after.time, after.time[1]
    air = after.supports[0].airborne(time)
    well = air[2:] & air[1:-1] & air[:-2]
    inside = (time[1:-1] > after.windows[0][0]) & (time[1:-1] < after.windows[0][1])
    assert np.count_nonzero(well & inside) > 40
    falls = np.diff(after.girdle_height[:, 0], 2) / dt**2
    assert np.abs(falls[well] + G).max() < 1e-6
    # A position is the centre's: under a trunk that does not turn about level axes.
    bends = np.abs(np.diff(after.yaw, 2))[well & inside] / dt**2
    assert bends.max() < 1e-6
    # The height of the girdle is continuous, with its speed, through all of it.
    steps = np.abs(np.diff(after.girdle_speed[:, 0]))
    assert steps.max() < 3.0 * max(np.abs(np.diff(before.girdle_speed[:, 0])).max(), 0.05)


def test_locks_hold_to_the_bit():
    name = "horse walks"
    _, _, motion = _base(name)
    mark = _print(motion, "fore.L", 2.0)
    edit = FootprintEdit("fore.L", mark.index, mark.position + [0.2, 0.15, 0.1], mark.yaw + 0.2,
                         on=mark.on + 0.05, off=mark.off + 0.1)
    before, free = _adapted(name, edit)
    assert not np.array_equal(free.position, before.position)
    _, after = _adapted(name, edit, locks=Locks(body=True))
    for part in BODY:
        assert np.array_equal(getattr(after, part), getattr(before, part)), part
    now = _same(mark)(after)
    assert np.array_equal(now.position, edit.position) and now.on == edit.on
    _, after = _adapted(name, edit, locks=Locks(timing=True))
    assert np.array_equal(after.contact, before.contact)
    assert [(m.on, m.off) for m in after.footprints] == [(m.on, m.off) for m in before.footprints]
    assert np.array_equal(_same(mark)(after).position, edit.position)
    assert "EDIT_LOCKED" in [p.code for p in after.problems]
    _, after = _adapted(name, edit, locks=Locks(legs=True))
    others = [i for i, leg in enumerate(before.creature.legs) if leg.name != "fore.L"]
    for part in FEET:
        assert np.array_equal(getattr(after, part)[:, others], getattr(before, part)[:, others])
    assert not np.array_equal(after.position, before.position)


def test_hips_sink_no_further_than_legs_that_stand_fold():
    """Of a gallop over hills, two of whose footprints are drawn back, aside and up.

    A leg was folded to 0.946 of what it gets under load: no pose has its foot on its foothold.
    """
    settings = GaitSettings(
        creature=creature_of(FIGURES["HORSE"]()), sequence=(GaitItem("GALLOP_LEFT"),), speed=9.0,
        n_frames=73, ground=_rolling(1.3, 0.9),
    )
    before = solve_gait(settings)
    run = sorted(before.footprints, key=lambda mark: mark.on)[11:13]
    edits = [FootprintEdit(m.leg, m.index, m.position + [-0.88, -0.54, 0.3]) for m in run]
    after = solve_gait(replace(settings, edits=tuple(edits)))
    legs = after.creature.legs
    ankles = after.foot_position + rotate(
        after.foot_orientation, np.array([leg.ankle for leg in legs])
    )
    least = np.array([leg.bent * leg.length for leg in legs])
    assert (np.linalg.norm(ankles - after.hip, axis=2) > least)[after.contact].all()
    assert "HIPS_LOWERED" in {p.code for p in after.problems}


@pytest.mark.parametrize(("kind", "speed", "aside"), [("GALLOP_LEFT", 9.0, (0.4, 0.0, 0.0)),
                                                     ("GALLOP_LEFT", 7.0, (0.0, -0.4, 0.0)),
                                                     ("WALK", 1.4, (0.0, 0.4, 0.0))])
def test_kept_feet_that_swing_are_drawn_in_where_the_body_leaves_them(kind, speed, aside):
    """They were 3 cm beyond the reach of their legs, and nothing told of it."""
    settings = GaitSettings(creature=creature_of(FIGURES["HORSE"]()),
                            sequence=(GaitItem(kind),), speed=speed, n_frames=97)
    before = solve_gait(settings)
    last = sorted(before.footprints, key=lambda mark: mark.on)[-2:]
    edits = tuple(FootprintEdit(m.leg, m.index, m.position + aside) for m in last)
    after = solve_gait(replace(settings, edits=edits, locks=Locks(legs=True)))
    lengths = np.array([leg.length for leg in after.creature.legs])
    edited = np.isin([leg.name for leg in after.creature.legs], [m.leg for m in last])
    ankles = after.foot_position + rotate(
        after.foot_orientation, np.array([leg.ankle for leg in after.creature.legs])
    )
    far = np.linalg.norm(ankles - after.hip, axis=2)
    assert ((far <= 1.002 * lengths) | edited).all()
    # No other moment of them is touched, and none is taken from one to the next by a jump.
    moved = np.linalg.norm(after.foot_position - before.foot_position, axis=2)[:, ~edited]
    drawn = moved > 0.0
    assert drawn.any() and not (drawn & after.contact[:, ~edited]).any()
    assert np.all(~drawn | ((far > 0.98 * lengths)[:, ~edited]))
    swung = np.linalg.norm(np.diff(before.foot_position, axis=0), axis=2)
    assert np.abs(np.diff(moved, axis=0)).max() < 0.15 * swung.max()


def test_what_is_undone_gives_the_first_motion_back():
    name = "dog trots on hills"
    settings, _, motion = _base(name)
    mark = _print(motion, "hind.R", 1.0)
    edit = FootprintEdit("hind.R", mark.index, mark.position + [0.1, 0.0, 0.0] - [0.1, 0.0, 0.0],
                         mark.yaw + 2.0 * math.pi, on=mark.on, off=mark.off)
    _, after = _adapted(name, edit)
    assert not after.windows and after.footprints == motion.footprints
    for part in (*BODY, *FEET):
        assert np.array_equal(getattr(after, part), getattr(motion, part))
    # The whole way, and by the same bits however often.
    other = FootprintEdit("hind.R", mark.index, mark.position + [0.1, 0.0, 0.0])
    once, twice = (solve_gait(replace(settings, edits=(other,))) for _ in range(2))
    _, direct = _adapted(name, other)
    for part in (*BODY, *FEET):
        assert np.array_equal(getattr(once, part), getattr(twice, part))
        assert np.array_equal(getattr(once, part), getattr(direct, part))


def test_edits_go_with_their_steps_when_the_speed_changes_and_lost_ones_are_told_of():
    settings, _, motion = _base("horse walks")
    mark, last = _print(motion, "fore.L", 2.0), motion.footprints[-1]
    edits = tuple(
        FootprintEdit(m.leg, m.index, m.position + [0.1, 0.2, 0.0], m.yaw + 0.1, on=m.on + 0.04,
                      was=FootprintBefore(m.position, m.yaw, m.on, m.off))
        for m in (mark, last)
    )
    made = solve_gait(replace(settings, edits=edits))
    assert not {"EDITS_MOVED", "EDIT_LOST"} & {p.code for p in made.problems}
    # Through JSON, all digits.
    stored, locks, pins = edits_from_data(
        json.loads(json.dumps(edits_as_data(edits, Locks(timing=False), made.pins)))
    )
    again = solve_gait(replace(settings, edits=stored, locks=locks, pins=pins))
    for part in (*BODY, *FEET):
        assert np.array_equal(getattr(again, part), getattr(made, part))
    assert again.problems == made.problems
    slower = replace(settings, edits=stored, pins=pins, speed=0.7)
    base, after = solve_gait(replace(slower, edits=(), pins=())), solve_gait(slower)
    was, now = _same(mark)(base), _same(mark)(after)
    assert np.allclose(now.position - was.position, [0.1, 0.2, 0.0], atol=1e-12)
    assert now.on - was.on == pytest.approx(0.04) and now.yaw - was.yaw == pytest.approx(0.1)
    told = {p.code: p.message for p in after.problems}
    assert "EDITS_MOVED" in told
    assert f"step {last.index} of the {spoken_leg(last.leg)}" in told["EDIT_LOST"]


def test_mirrored_edits_are_those_of_the_other_side():
    settings, _, motion = _base("horse walks")
    base = motion.footprints
    mark = _print(motion, "fore.L", 2.0)
    ahead = np.array([np.sin(mark.yaw), -np.cos(mark.yaw), 0.0])
    left = np.array([np.cos(mark.yaw), np.sin(mark.yaw), 0.0])
    (moved,) = runs.turn(runs.move([mark], 0.1 * left + 0.2 * ahead), 0.3)
    (moved,) = runs.retime([moved], 0.05)
    one, other = runs.mirror([moved], base)
    assert one == mark and (other.leg, other.index) == ("fore.R", mark.index)
    old = _same(other)(motion)
    assert other.position - old.position == pytest.approx(0.2 * ahead - 0.1 * left, abs=1e-12)
    assert other.yaw - old.yaw == pytest.approx(-0.3) and other.on - old.on == pytest.approx(0.05)
    # Twice is once more as it was.
    again = {(m.leg, m.index): m for m in runs.mirror([one, other], base)}
    back = again[mark.leg, mark.index]
    assert back.position == pytest.approx(moved.position, abs=1e-12)
    assert back.yaw == pytest.approx(moved.yaw) and back.on == pytest.approx(moved.on)
    assert np.abs(back.orientation - moved.orientation).max() < 1e-9
    assert runs.edits_between(base, [again["fore.R", mark.index]], 1e-9) == ()


def test_footprints_before_their_predecessors_and_out_of_reach():
    settings, _, motion = _base("horse walks")
    mark = _print(motion, "hind.L", 2.0)
    prior = next(m for m in motion.footprints if (m.leg, m.index) == ("hind.L", mark.index - 1))
    # In place: it steps back, and the body waits for it.
    _, after = _adapted("horse walks", FootprintEdit(
        "hind.L", mark.index, prior.position + [0.0, 0.05, 0.0]))
    assert _slide(after) < 1e-9 and np.array_equal(
        _same(mark)(after).position, prior.position + [0.0, 0.05, 0.0])
    # In time: the step before makes room, as far as it can; then it is told of.
    early = prior.off + 0.2
    _, after = _adapted("horse walks", FootprintEdit("hind.L", mark.index, on=early))
    assert _same(mark)(after).on == early and _same(prior)(after).off < prior.off - 0.02
    _, after = _adapted("horse walks", FootprintEdit("hind.L", mark.index, on=prior.on - 0.1))
    told = next(p for p in after.problems if p.code == "EDIT_TIME")
    assert f"Step {mark.index} of the left hind" in told.message and _slide(after) < 1e-9
    assert _same(prior)(after).off < _same(mark)(after).on
    # Out of reach: one sentence that names leg, step and time.
    _, after = _adapted("horse walks", FootprintEdit(
        "hind.L", mark.index, mark.position + [30.0, 0.0, 0.0]))
    told = next(p for p in after.problems if p.code == "OUT_OF_REACH")
    assert f"Step {mark.index} of the left hind at " in told.message and not after.success
    assert np.abs(after.position - motion.position).max() < 1.1
    for bad in (FootprintEdit("hind.L", 3, np.array([np.nan, 0.0, 0.0])),
                FootprintEdit("hind.L", 3, on=2.0, off=1.0),
                FootprintEdit("hind.L", 3, yaw=math.inf)):
        with pytest.raises(SettingError, match=r"step 3 of the left hind"):
            solve_gait(replace(settings, edits=(bad,)))


def test_a_touchdown_after_its_liftoff_is_left_out_and_said_so():
    """Only that part of the edit: what else it changes is taken."""
    _, _, motion = _base("horse walks")
    mark = _print(motion, "fore.L", 2.0)
    prior = next(m for m in motion.footprints if (m.leg, m.index) == ("fore.L", mark.index - 1))
    following = next(m for m in motion.footprints if (m.leg, m.index) == ("fore.L", mark.index + 1))
    step = f"Step {mark.index} of the left fore cannot "
    for late in (mark.off, mark.off + 0.1, following.on, following.off + 0.3, 99.0):
        before, after = _adapted("horse walks", FootprintEdit(
            "fore.L", mark.index, mark.position + [0.05, 0.0, 0.0], on=late))
        (told,) = [p.message for p in after.problems if p.code == "EDIT_TIME"]
        assert told == (f"{step}touch down at {late:.2f} s, when it lifts off at {mark.off:.2f} s; "
                        f"its touchdown stays at {mark.on:.2f} s")
        same = _same(mark)(after)
        assert (same.on, same.off) == (mark.on, mark.off) and same.edited
        assert np.array_equal(same.position, mark.position + [0.05, 0.0, 0.0])
        assert _slide(after) < 1e-9
        assert np.array_equal(before.contact, after.contact)
    _, after = _adapted("horse walks", FootprintEdit("fore.L", mark.index, off=mark.on - 0.05))
    (told,) = [p.message for p in after.problems if p.code == "EDIT_TIME"]
    assert told.startswith(f"{step}lift off at {mark.on - 0.05:.2f} s, when it touches down at ")
    # Two steps of a leg that would be on the ground at once: of the two edits one is taken.
    _, after = _adapted("horse walks", FootprintEdit("fore.L", prior.index, off=mark.off + 0.2),
                        FootprintEdit("fore.L", mark.index, on=mark.on - 0.02))
    assert _slide(after) < 1e-9 and _same(prior)(after).off < _same(mark)(after).on
    told = [p.message for p in after.problems if p.code == "EDIT_TIME"]
    assert told and all("fore cannot " in message for message in told)


@pytest.mark.parametrize("name", CASES)
def test_no_foot_slides_whatever_times_are_asked_for(name):
    _, _, motion = _base(name)
    rng, least = np.random.default_rng(5), 0.05 * math.sqrt(motion.creature.hip_height() / G)
    strides = [b.on - a.on for a, b in zip(motion.footprints, motion.footprints[1:], strict=False)
               if a.leg == b.leg and a.on > 0.0]
    for _ in range(4):
        edits = []
        for k in rng.choice(len(motion.footprints), 3, replace=False):
            mark, wild = motion.footprints[k], rng.uniform(-2.0, 2.0, 2) * np.median(strides)
            on, off = max(mark.on, 0.0) + wild[0], min(mark.off, 5.0) + wild[1]
            times = ({"on": on}, {"off": off}, {"on": on, "off": on + abs(wild[1]) + 0.01})
            edits.append(FootprintEdit(mark.leg, mark.index, **times[rng.integers(3)]))
        before, after = _adapted(name, *edits)
        assert _slide(after) < 1e-9
        _check_outside(before, after)
        for leg in motion.creature.legs:
            steps = [mark for mark in after.footprints if mark.leg == leg.name]
            for step, following in zip(steps[:-1], steps[1:], strict=True):
                assert step.on < step.off < following.on - least
        # Every time that is not as it was asked for is told of.
        told = [p.message for p in after.problems if p.code == "EDIT_TIME"]
        for edit in edits:
            mark = next(m for m in after.footprints if (m.leg, m.index) == (edit.leg, edit.index))
            missed = edit.on not in (None, mark.on) or edit.off not in (None, mark.off)
            of = f"Step {edit.index} of the {spoken_leg(edit.leg)} cannot "
            short = any(p.code == "STEP_SHORTENED" for p in after.problems)
            assert not missed or short or any(message.startswith(of) for message in told)


class _Line:
    """A straight line, as a curve of the body."""

    def __init__(self, slope):
        self.slope = slope

    def __call__(self, time):
        return self.slope * np.asarray(time)

    def rate(self, time):
        return np.full(np.shape(time), self.slope)


@pytest.mark.parametrize(("opens", "closes"), [(True, False), (False, True), (True, True)])
def test_what_is_outside_is_left_behind_soon_however_long_the_window_is(opens, closes):
    """A cubic that takes a rate r to 0 over T goes astray by 4/27 r T: T must not be the window."""
    window = Window(2.0, 42.0, opens, closes, 0.9)
    curve = Joined(_Line(0.3), _Line(0.0), [window])
    time = np.linspace(0.0, 44.0, 4401)
    inside = window.holds(time)
    assert np.array_equal(curve(time[~inside]), 0.3 * time[~inside])
    settled = ((time > 2.9) | (not opens)) & ((time < 41.1) | (not closes))
    assert np.abs(np.stack((curve(time), curve.rate(time)))[:, settled]).max() < 1e-12
    for end, closed in ((2.0, opens), (42.0, closes)):
        around = np.array([end - 1e-9, end + 1e-9])
        assert not closed or np.ptp(curve(around)) < 1e-6 and np.ptp(curve.rate(around)) < 1e-6
    # Nor does a seam end in the air, where nothing pushes: it takes in the stand beyond.
    flights = np.array([[2.5, 3.1], [3.4, 3.9], [40.5, 41.2], [41.5, 41.8]])
    assert window.seams(flights) == [(2.0, 3.4)] * opens + [(42.0, 39.6)] * closes


def test_hips_sink_for_forelegs_whose_blades_turn_no_further():
    """A shoulder blade turns so far: a forefoot that stays down longer lowers the shoulders."""
    creature = creature_of(FIGURES["HORSE"]())
    walks = GaitSettings(creature=creature, sequence=(GaitItem("WALK"),), speed=1.6, n_frames=97)
    before = solve_gait(walks)
    mark = _print(before, "fore.R", 0.5)
    after = solve_gait(replace(walks, edits=(FootprintEdit("fore.R", mark.index, off=1.625),)))
    assert _same(mark)(after).off > mark.off + 0.1
    for motion in (before, after):
        for i, leg in enumerate(creature.legs):
            ankle = motion.foot_position[:, i] + rotate(motion.foot_orientation[:, i], leg.ankle)
            arm = rotate(conjugate(motion.orientation), ankle - motion.hip[:, i])
            over = np.linalg.norm(arm, axis=1) - leg.longest(arm)
            assert over[motion.contact[:, i]].max() < 1e-3, leg.name


def test_later_steps_go_with_the_last_footprint():
    """A path that ends elsewhere does not turn back to where it was in its last stride."""
    name = "horse walks"
    _, _, motion = _base(name)
    edits = [FootprintEdit(m.leg, m.index, m.position + [1.5 * (m.on - 2.0), 0.0, 0.0])
             for m in motion.footprints if m.on > 2.0]
    before, after = _adapted(name, *edits)
    moved = (after.position - before.position)[:, 0]
    assert np.all(np.diff(moved[before.time > 2.6]) > 0.0) and moved[-1] > 3.0


# --- runs ------------------------------------------------------------------------------


def _run(name, start, end):
    motion = _base(name)[2]
    return motion, [mark for mark in motion.footprints if start < mark.on < end]


def test_runs_are_turned_scaled_and_retimed_about_their_first_footprint():
    _, run = _run("horse walks", 1.0, 4.0)
    first = runs.first_of(run)
    assert first.on == min(mark.on for mark in run)
    for made in (runs.turn(run, 0.7), runs.scale(run, 1.4), runs.bend(run, 1.2)):
        there = next(m for m in made if (m.leg, m.index) == (first.leg, first.index))
        assert np.allclose(there.position, first.position, atol=1e-12)
    turned = runs.turn(runs.turn(run, 0.7), -0.7)
    assert all(np.allclose(a.position, b.position) for a, b in zip(turned, run, strict=True))
    longer = runs.scale(run, 1.4)
    for old, new in zip(run, longer, strict=True):  # the horse goes along -Y
        assert new.position[1] - first.position[1] == pytest.approx(
            1.4 * (old.position[1] - first.position[1])
        )
        assert new.position[0] == pytest.approx(old.position[0])
    late = runs.retime(run, 0.2, 1.5)
    assert runs.first_of(late).on == pytest.approx(first.on + 0.2)
    assert all(b.off - b.on == pytest.approx(1.5 * (a.off - a.on))
               for a, b in zip(run, late, strict=True))
    assert not runs.edits_between(run, runs.move(runs.move(run, [1.0, 2.0, 0.0]),
                                                 [-1.0, -2.0, 0.0]))


def test_bent_runs_lie_on_an_arc_and_along_curves():
    """An arc of length s and angle a has the radius s / a; curves are followed by length."""
    _, run = _run("horse walks", 1.0, 4.0)
    first = runs.first_of(run)
    reach = max((first.position - mark.position)[1] for mark in run)
    angle, radius = math.pi / 2, reach / (math.pi / 2)
    centre = first.position[:2] + [radius, 0.0]  # to the left of -Y
    for old, new in zip(run, runs.bend(run, angle), strict=True):
        aside = old.position[0] - first.position[0]
        far = np.linalg.norm(new.position[:2] - centre)
        way = (first.position - old.position)[1]
        assert far == pytest.approx(radius - aside, abs=1e-9)
        assert new.yaw - old.yaw == pytest.approx(angle * way / reach)
    straight = np.array([[5.0, 5.0], [5.0, -40.0]])
    for old, new in zip(run, runs.bend_along(run, straight), strict=True):
        assert new.position[1] == pytest.approx(5.0 + (old.position - first.position)[1])
        assert abs(new.position[0] - 5.0) == pytest.approx(0.18, abs=0.03)
    settings, _, motion = _base("horse walks")
    edits = runs.edits_between(motion.footprints, runs.bend(
        [mark for mark in motion.footprints if mark.on > 1.0], 0.9))
    bent = solve_gait(replace(settings, edits=edits))
    assert "OUT_OF_REACH" not in {p.code for p in bent.problems}
    # The body goes around with them.
    assert bent.yaw[-1] - motion.yaw[-1] == pytest.approx(0.9, abs=0.1)


def test_copied_runs_are_pasted_over_the_next_footprints_of_their_legs():
    motion, run = _run("person walks around", 1.0, 2.4)
    first = runs.first_of(run)
    changed = runs.turn(runs.scale(run, 0.8), 0.1)
    copied = runs.copy_run(changed)
    start = next(m for m in motion.footprints if m.leg == first.leg and m.on > 2.4)
    pasted = runs.paste_run(copied, motion.footprints, start)
    assert np.allclose(pasted[0].position, start.position) and pasted[0].on == start.on
    order = sorted(changed, key=lambda m: m.on)
    for old, new in zip(order, pasted, strict=True):
        assert old.leg == new.leg
        assert new.on - pasted[0].on == pytest.approx(old.on - order[0].on)
        a, b = (np.linalg.norm(m.position - o.position)
                for m, o in ((old, order[0]), (new, pasted[0])))
        assert a == pytest.approx(b)
    other = next(m for m in motion.footprints if m.leg != first.leg and m.on > 2.4)
    mirrored = runs.paste_run(copied, motion.footprints, other, mirrored=True)
    assert mirrored[0].leg == other.leg and len(mirrored) == len(pasted)
    with pytest.raises(SettingError, match="as the first copied one is$"):
        runs.paste_run(copied, motion.footprints, other)
    with pytest.raises(SettingError, match="at least one"):
        runs.copy_run([])


@pytest.mark.parametrize("locked", [False, True])
def test_a_body_that_goes_on_where_steps_were_cut_is_told_of(locked):
    """Newton: with no foot down nothing pushes. A walker always has one down; one step is cut
    short so that for a while none is. A body that may then flies; one that is kept goes on."""
    _, _, motion = _base("person walks around")
    step = _print(motion, "leg.R", 2.0)
    other = min((p for p in motion.footprints if p.leg == "leg.L" and p.on > step.on),
                key=lambda p: p.on)
    off = other.on - 0.15
    edit = FootprintEdit("leg.R", step.index, off=off)
    _, after = _adapted("person walks around", edit, locks=Locks(body=locked))
    last = max(p.off for p in after.footprints if p.leg == "leg.L" and p.on < off)
    aloft = max(off, last), min(p.on for p in after.footprints if p.on > off)
    assert aloft[1] - aloft[0] > 0.1
    told = [p for p in after.problems if p.code == "PUSHED_ALOFT"]
    assert len(told) == locked
    if locked:
        assert (told[0].time, told[0].end_time) == pytest.approx(aloft)
        assert told[0].amount == pytest.approx(aloft[1] - aloft[0])


def test_a_walker_whose_steps_are_cut_by_its_legs_is_told_of():
    """Told where there is a moment without a foot on the ground, and else not."""
    found = []
    for more in ({"reach": 0.9, "crouch": 0.0}, {"crouch": 0.0}, {}):
        motion = solve_gait(GaitSettings(
            creature=biped(), sequence=(GaitItem("WALK_BIPED"),), speed=1.4, n_frames=97,
            **more,
        ))
        aloft = (~motion.contact.any(axis=1)).mean() * motion.time[-1]
        found.append((any(p.code == "PUSHED_ALOFT" for p in motion.problems), aloft > 0.05))
    assert found == [(True, True), (True, True), (False, False)]


@pytest.mark.parametrize("value", [0.2, -9956.0])
@pytest.mark.parametrize("weight", [150.0, 0.015])
def test_wishes_of_one_instant_move_a_curve_and_do_not_tilt_it(value, weight):
    # Free at both ends: c(0.3) alone is asked for, of all lines through it none pushes, and
    # the one that stands is c = value.
    time = np.array([0.0, 0.3, 0.5])
    wishes = Wishes(np.array([0.3, 0.3]), np.ones((2, 1)), np.full(2, value), np.full(2, weight))
    curve = least_push(time, np.full(2, 2.0), np.ones(1), (None, None), None, wishes)
    at = np.linspace(0.0, 0.5, 9)
    np.testing.assert_allclose(curve(at)[:, 0], value, rtol=1e-5)
    assert np.max(np.abs(curve(at, 1))) < 1e-5 * abs(value)
