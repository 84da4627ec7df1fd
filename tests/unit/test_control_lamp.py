# SPDX-License-Identifier: GPL-3.0-or-later
"""The jumping lamp: its physics, its programs, its landing, and chains of motions."""

import math

import numpy as np
import pytest
from lab import lamp_landings
from poise.solvers.control import lamp, lamp_data, lamp_search, landing
from poise.solvers.control.lamp import STEP
from poise.solvers.control.lamp_play import play
from poise.solvers.control.lamp_programs import Motion
from poise.solvers.dynamics.contact import MANY, ONE
from poise.solvers.errors import Cancelled, SettingError


def _held(seconds, push=0.0):
    state, places = lamp.standing(), []
    for k in range(round(seconds / STEP)):
        if k % landing.EVERY == 0:
            given = landing.torques_one(state)
            places.append(state.q)
        state, *_ = lamp.step(ONE, state, *given, push=push)
    return np.array(places)


def test_one_lamp_and_many_move_alike():
    rng = np.random.default_rng(2)
    starts = []
    for _ in range(5):
        q = np.array(lamp.standing(0.0, 0.05).q) + rng.uniform(-0.2, 0.2, 5) * [0, 0.2, 1, 1, 1]
        starts.append(lamp.State(tuple(q), tuple(rng.normal(size=5)), (0.0, 0.0)))
    torque = rng.uniform(-3.0, 3.0, (2, 5))
    steps = ((-math.inf, -0.02), (0.02, 0.02))
    state = lamp.many(starts)
    for _ in range(400):
        state, left, right = lamp.step(MANY, state, *torque, steps)
    hit = left + right > 0.0
    assert hit.any() and not hit.all()
    for i, one in enumerate(starts):
        for _ in range(400):
            one, *_ = lamp.step(ONE, one, *torque[:, i].tolist(), steps)
        np.testing.assert_allclose(one.q, lamp.pick(state, i).q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(one.anchors, lamp.pick(state, i).anchors, rtol=0, atol=1e-9)


def test_in_the_air_it_falls_as_a_stone_and_keeps_its_energy():
    first = lamp.State((0.0, 2.0, 0.1, *lamp.REST), (0.5, 1.0, 2.0, -1.0, 3.0), (0.0, 0.0))
    state, seconds = first, 0.4
    for _ in range(round(seconds / STEP)):
        state, *_ = lamp.step(ONE, state, 0.0, 0.0)
    before, after = lamp.centre(ONE, first), lamp.centre(ONE, state)
    assert after[2] == pytest.approx(before[2], abs=2e-3)
    assert after[3] == pytest.approx(before[3] - 9.81 * seconds, abs=2e-3)
    assert after[1] - before[1] == pytest.approx(
        before[3] * seconds - 0.5 * 9.81 * seconds**2, abs=2e-3
    )
    kinetic = lamp.FIGURE.energy(math.sin, math.cos, first.q, first.v)[0]
    # Rates first: by the rule of the steps every fall is g t h / 2 longer than the parabola.
    longer = lamp.WEIGHT * 0.5 * 9.81 * seconds * STEP
    assert abs(lamp.energy(state) + longer - lamp.energy(first)) < 0.002 * kinetic


def test_the_ground_only_takes_energy():
    state = lamp.State((0.0, 0.25, 0.3, 0.2, -0.5), (0.3, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0))
    first = most = lamp.energy(state)
    for k in range(round(0.5 / STEP)):
        state, left, right = lamp.step(ONE, state, 0.0, 0.0)
        if left == 0.0 and right == 0.0 and k > 460:
            most = max(most, lamp.energy(state))
    assert most <= first * 1.002 and lamp.energy(state) < 0.9 * first


def test_at_rest_it_does_not_drift():
    q = _held(5.0)
    assert np.abs(q[:, :2] - q[0, :2]).max() < 1e-4  # m
    assert np.abs(q[:, 2:] - q[0, 2:]).max() < 1e-4  # rad


def test_friction_holds_it_up_to_its_limit():
    limit = lamp.FRICTION * lamp.WEIGHT
    assert np.abs(_held(0.3, 0.8 * limit)[:, 0]).max() < 1e-3
    assert _held(0.3, 1.2 * limit)[-1, 0] > 0.02


def test_what_holds_it_has_its_closed_form():
    # Statics: the pressure lies under the centre of mass, the elbow bears the shade.
    hold = landing.controller().rest.hold
    state = lamp.standing()
    assert hold[0] == pytest.approx(lamp.centre(ONE, state)[0], abs=1e-4)
    assert hold[0] == pytest.approx(0.008, abs=0.001)
    assert hold[1] == pytest.approx(-0.9 * 9.81 * 0.22 * math.sin(sum(lamp.REST)), rel=1e-6)
    knee, _ = landing.torques_one(state)
    # The sole's middle is below the joint: the pressure times its arm.
    assert knee == pytest.approx(1.2 * 9.81 * 0.0 + lamp.WEIGHT * hold[0], rel=0.01)


def test_the_landing_table_is_the_same_each_time():
    made = landing.controller.__wrapped__()
    np.testing.assert_array_equal(made.table.controls, landing.controller().table.controls)


def test_touchdowns_of_the_jumps_come_to_rest():
    state, share = lamp_landings.of_jumps(6)
    assert share > 0.95
    rests = landing.land(state, landing.absorb(state)).rests
    assert rests.mean() >= 0.95


def test_wild_touchdowns_are_absorbed():
    state = lamp_landings.wild(24, 5)
    plain = landing.land(state).rests.mean()
    rests = landing.land(state, landing.absorb(state, count=48)).rests.mean()
    assert rests >= 0.9 and rests > plain


def test_jumps_of_any_length_and_flips_follow_each_other():
    flips = [lamp_search.shipped(name) for name, *_, drop, _ in lamp_data.OTHERS if not drop]
    first, last = flips[0], flips[-1]
    short, middle, long = (lamp_search.jump(x) for x in (0.1, 0.57, 1.33))
    order = [middle, first, short, last, long, middle, first, last, short, first]
    lengths = [0.57, None, 0.1, None, 1.33, 0.57, None, None, 0.1, None]
    played = play(order)
    assert len(played.motions) == 10
    for done, motion, length in zip(played.motions, order, lengths, strict=True):
        assert math.isfinite(done.rested), done
        assert done.turns == motion.turns
        if length is not None:
            assert done.length == pytest.approx(length, abs=0.02)
        assert done.clearance > 0.0 and abs(math.degrees(done.tilt)) < 25.0
        assert done.torque[0] <= lamp.LIMITS[0] and done.torque[1] <= lamp.LIMITS[1]
    assert len(played.times) == len(played.q)
    again = play(order[:2])
    np.testing.assert_array_equal(again.q, played.q[: len(again.q)])


def test_it_flips_and_hops_down_a_step():
    for name, turns, length, drop, _ in lamp_data.OTHERS:
        if drop:
            played = play([lamp_search.shipped(name)])  # which brings its step
            (done,) = played.motions
            assert math.isfinite(done.rested) and done.turns == turns
            assert done.length == pytest.approx(length, abs=0.02)
            assert played.q[-1, 1] - played.q[0, 1] == pytest.approx(-drop, abs=1e-4)
            (edge,) = (x for x, _ in played.ground if math.isfinite(x))
            assert edge == pytest.approx(0.5 * length, abs=1e-12)


def test_its_parts_stay_out_of_each_other():
    # The base is a disc, its upper face 1 cm under the joint and lower at its rim; the shade is
    # 88 mm around its centre.
    for name, *_ in lamp_data.OTHERS:
        q = play([lamp_search.shipped(name)], end=0.0).q
        link, whole = q[:, 3], q[:, 3] + q[:, 4]
        assert np.abs(np.degrees(link)).max() < 91.0
        x = -lamp.ARM * np.sin(link) - lamp.HEAD * np.sin(whole)
        y = lamp.ARM * np.cos(link) + lamp.HEAD * np.cos(whole)
        across = np.maximum(np.abs(x) - lamp.HALF_WIDTH, 0.0)
        above = np.maximum(np.maximum(y + 0.01, -lamp.HEIGHT - y), 0.0)
        assert (np.hypot(across, above) - 0.088).min() > 0.02


def test_a_program_that_does_not_take_off_ends_the_chain():
    stays = np.array(lamp_data.JUMPS[4][1])
    stays[3:5] = stays[:2]  # it bends, and throws itself nowhere
    played = play([Motion("Stays", stays, 0, 0.5), lamp_search.shipped("Back Flip")])
    (done,) = played.motions
    assert done.took_off == done.rested == math.inf


def test_finding_is_the_same_for_a_seed_and_can_be_stopped(monkeypatch):
    monkeypatch.setattr(lamp_search, "GENERATION", 6)
    monkeypatch.setattr(lamp_search, "LANDED", 2)
    start = [np.array(lamp_data.JUMPS[4][1])]
    told = []
    first, second = (
        lamp_search.find(0.52, start=start, seed=3, generations=1, progress=told.append)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.program, second.program)
    assert first.kept > 0.5 and 0.0 < told[-1] <= 1.0

    def stop(_):
        raise Cancelled

    with pytest.raises(Cancelled):
        lamp_search.find(0.5, progress=stop)


def test_what_cannot_be_is_refused():
    with pytest.raises(SettingError, match="Length of the jump is 2.0: it must be between 0.1"):
        lamp_search.jump(2.0)
    with pytest.raises(SettingError, match="one of Back Flip"):
        lamp_search.shipped("Salto")
    with pytest.raises(SettingError, match="Length of the jump is nan"):
        lamp_search.find(math.nan)
