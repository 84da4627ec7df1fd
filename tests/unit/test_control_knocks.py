# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts that go by regions of state space, and knocks that controllers correct."""

import numpy as np
import pytest
from poise.solvers.control import lamp, lamp_search, pendulum
from poise.solvers.control.chain import Chain, rates_of
from poise.solvers.control.knocks import Knocks, Plane
from poise.solvers.control.lamp_play import LIMBS, play
from poise.solvers.control.plans import Span, controller_of, table_of
from poise.solvers.control.regions import Region
from poise.solvers.control.run import Command, run
from poise.solvers.dynamics.contact import ONE
from poise.solvers.dynamics.disturbances import Ball, Push, Shake
from poise.solvers.dynamics.planar import Link, compile_figure

SPANS = (
    Span("angle", -np.pi, np.pi, 30, "rad", True), Span("omega", -9.0, 9.0, 25, "rad/s"),
)
FRONT = Plane(np.zeros(3), np.array((1.0, 0.0, 0.0)), np.array((0.0, 0.0, 1.0)))
WEIGHT = np.array((0.0, 0.0, -9.81))
TIMES = np.arange(0, 4.0, 1 / 48)


def _rod(**known):
    return Link("link1", centre=(0.5, 0.0), mass=1.0, inertia=1.0 / 12.0, **known)


ROD = Chain((_rod(),), (10.0,))
TWO = Chain(
    (_rod(), Link("link2", "link1", (1.0, 0.0), (0.4, 0.0), 0.8, 0.8 * 0.8**2 / 12.0)), (30.0, 8.0)
)


# Regions


def test_a_region_of_an_angle_goes_across_its_end():
    across = Region.of(SPANS, {"angle": np.radians((170.0, -170.0))})
    angles = np.radians([175.0, -175.0, 180.0 + 720.0, 169.9, -169.0, 0.0])
    inside = across.holds(np.stack([angles, np.full(6, 100.0)], axis=1))
    assert inside.tolist() == [True, True, True, False, False, False]
    assert across.limited == (True, False)
    assert Region.of(SPANS, {"angle": (-np.pi, np.pi)}).holds(np.array([3.0, 0.0]))


def test_a_line_ends_where_the_state_enters_a_region():
    # C leads down to the left; on its way it is called back to A, level on the right.
    made = {name: pendulum.controller(name) for name in "AC"}
    low = Region.of(SPANS, {"angle": np.radians((-60.0, -30.0))})
    done = run(
        pendulum.rates, np.radians([0.0, 0.0]),
        [Command(made["C"], 3.0, region=low), Command(made["A"], 9.0)], TIMES,
    )
    (time, line), = done.entered
    row = np.searchsorted(TIMES, time)
    assert line == 0 and 0.1 < time < 1.5
    assert not low.holds(done.states[: row - 1]).any() and low.holds(done.states[row])
    assert (done.active[row + 1 :] == 1).all()
    assert np.abs(np.degrees(done.states[-1])).max() < 1.0  # A: level, at rest


def test_breakpoints_take_over_and_give_back():
    # A swing is pumped by a torque along its speed; where it is past level, another one holds it
    # back. Which is in force is by the state alone.
    def along(_time, state):
        return np.array([np.sign(state[1]) * 2.0])

    def against(_time, state):
        return np.array([-np.sign(state[1]) * 6.0])

    past = Region.of(SPANS, {"angle": np.radians((-10.0, 190.0))})
    script = [
        Command(along, 100.0, name="on"), Command(against, 1.0, region=past, whenever=True),
    ]
    times = np.arange(0, 12.0, 1 / 240)
    done = run(pendulum.rates, np.radians([-90.0, 60.0]), script, times)
    inside = past.holds(done.states)
    assert inside.any() and not inside.all()
    # A row's line is that of the step that led there, by the state in which it began.
    assert (done.active[1:] == inside[:-1]).mean() > 0.999
    assert len(done.entered) == 2 and done.ended == times[-1]
    alone = run(pendulum.rates, np.radians([-90.0, 60.0]), script[:1], times)
    assert np.ptp(alone.states[:, 0]) > 2.0 * np.pi > np.ptp(done.states[:, 0])


def test_a_line_whose_turn_it_is_keeps_its_time():
    def none(_time, _state):
        return np.zeros(1)

    everywhere = Region.of(SPANS, {"omega": (-100.0, 100.0)})
    script = [
        Command(none, 1.0), Command(none, 1.0), Command(none, 1.0, region=everywhere, whenever=True)
    ]
    done = run(pendulum.rates, np.radians([-90.0, 0.0]), script, TIMES)
    assert (done.active == 2).all() and done.ended == pytest.approx(2.0)


# Knocks


def _free(chain, start, knocks, times=TIMES):
    off = np.zeros(sum(t > 0.0 for t in chain.torques))
    return run(
        rates_of(chain), np.array(start, float), [Command(lambda _t, _s: off, 100.0)], times,
        outside=knocks,
    )


def _momentum(chain, state):
    """Generalised momentum M q', by the change of the compiled kinetic energy with q'."""
    figure = compile_figure(chain.links)
    q, v = state[::2], state[1::2]

    def kinetic(rates):
        return figure.energy(np.sin, np.cos, q, rates)[0]

    return np.array([kinetic(v + e) - kinetic(v - e) for e in np.eye(len(q))]) / 2.0


def test_a_push_is_an_impulse():
    # Without weight, F for T at the tip of a rod from rest: I w = F l T, I = m l^2 / 3, if the
    # rod hardly turns meanwhile.
    floating = Chain(ROD.links, ROD.torques, 0.0)
    push = Push(0.1003, 0.1103, 0, np.array((0.0, 7.0, 3.0)))
    done = _free(floating, (0.0, 0.0), Knocks.of_chain(floating, FRONT, [push], 0.0 * WEIGHT))
    assert done.states[-1, 1] == pytest.approx(3.0 * 0.01 * 3.0, rel=1e-4)


def test_a_hit_changes_momentum_by_its_impulse():
    # A ball of 0.2 kg from above on the second link of two: what the ball gains the links lose,
    # J^T p; and its own speed turns by (1 + e).
    start = np.array((0.2, 0.0, -0.5, 0.0))
    knee = np.array((np.cos(0.2), np.sin(0.2)))
    middle = knee + 0.5 * np.array((np.cos(-0.3), np.sin(-0.3)))
    ball = Ball(0.0, np.array((middle[0], 0.0, middle[1] + 0.14)), np.array((0.0, 0.0, -8.0)),
                0.2, 0.05, 0.4)
    floating = Chain(TWO.links, TWO.torques, 0.0)
    knocks = Knocks.of_chain(floating, FRONT, [ball], 0.0 * WEIGHT)
    times = np.array((0.0, 1 / 240))
    done = _free(floating, start, knocks, times)
    hit, = knocks.hits
    assert hit.link == 1 and hit.impulse > 0.0
    # The link's line is turned by -0.3: so is its normal.
    normal = np.array((-np.sin(-0.3), np.cos(-0.3)))
    before = np.array((0.0, -8.0))
    np.testing.assert_allclose(
        knocks.flight.velocities[0][[0, 2]] - before, hit.impulse / 0.2 * normal, atol=1e-9
    )
    arms = hit.place[[0, 2]] - np.array(((0.0, 0.0), knee))
    turning = arms[:, 0] * normal[1] - arms[:, 1] * normal[0]
    np.testing.assert_allclose(
        _momentum(floating, done.states[-1]), -hit.impulse * turning, rtol=1e-9
    )
    # Along the normal they part with e times the speed that they met with.
    point = turning @ done.states[-1, 1::2]
    parting = knocks.flight.velocities[0][[0, 2]] @ normal - point
    assert parting == pytest.approx(-0.4 * before @ normal, rel=1e-9)


def test_a_shake_is_felt_as_weight():
    # Shaken along itself, nothing turns a rod; across, its centre lags: I w = -m l/2 * speed.
    floating = Chain(ROD.links, ROD.torques, 0.0)
    shake = Shake(0.0, 0.5, np.array((0.01, 0.0, 0.0)), 4.0)
    knocks = Knocks.of_chain(floating, FRONT, [shake], 0.0 * WEIGHT)
    assert np.abs(_free(floating, (0.0, 0.0), knocks).states).max() < 1e-12
    times = np.arange(0.0, 0.51, 1 / 480)
    knocks = Knocks.of_chain(floating, FRONT, [shake], 0.0 * WEIGHT)
    done = _free(floating, (0.5 * np.pi, 0.0), knocks, times)
    felt = shake.acceleration(times)[:, 0]
    speed = np.concatenate([[0.0], np.cumsum(0.5 * (felt[1:] + felt[:-1]) / 480)])
    # I w' = m l/2 a, counterclockwise where what carries it goes right.
    np.testing.assert_allclose(done.states[:, 1], 1.5 * speed, atol=2e-2)


@pytest.mark.parametrize("sort", ["push", "ball", "shake"])
def test_a_controller_corrects_a_knock(sort):
    plan = ROD.library()[0]  # A: level on the right, at rest
    controller = controller_of(plan, table_of(plan, rates_of(ROD)), rates_of(ROD))
    knock = {
        "push": Push(1.0, 1.1, 0, np.array((0.0, 0.0, -20.0))),
        "ball": Ball(0.8, np.array((0.7, 0.0, 0.8)), np.array((0.0, 0.0, -2.0)), 1.0, 0.1),
        "shake": Shake(1.0, 1.5, np.array((0.0, 0.0, 0.05)), 5.0),
    }[sort]
    knocks = Knocks.of_chain(ROD, FRONT, [knock], WEIGHT)
    done = run(
        rates_of(ROD), np.radians((-60.0, 0.0)), [Command(controller, 10.0)],
        np.arange(0.0, 5.0, 1 / 48), outside=knocks,
    )
    after = done.states[48:96]
    assert np.abs(np.degrees(after[:, 0])).max() > 4.0  # it was knocked off
    assert np.abs(np.degrees(done.states[-1])).max() < 1.0  # and is there all the same
    assert bool(knocks.hits) == (sort == "ball") and len(knocks.flights) == len(done.times)


# The lamp


def _lamp(disturbances):
    return Knocks(lamp.LINKS, LIMBS, FRONT, disturbances, WEIGHT, free=True)


def test_a_push_in_the_air_is_an_impulse_on_the_whole_lamp():
    # A jump is pushed while it flies: its centre of mass goes on faster by F T / m. The times are
    # no whole sub-steps.
    jump = lamp_search.jump(0.6)
    alone = play([jump]).motions[0]
    middle = 0.5 * (alone.took_off + alone.touched_down)
    push = Push(middle - 0.01003, middle + 0.0111, 2, np.array((-15.0, 0.0, 2.0)))
    done = play([jump], knocks=_lamp([push]))
    seen = []
    for played in (play([jump]), done):
        rows = np.round((np.array((-0.0125, 0.0135)) + middle) / lamp.STEP).astype(int)
        speeds = []
        for row in rows:
            q, before = played.q[row], played.q[row - 1]
            state = lamp.State(tuple(q), tuple((q - before) / lamp.STEP), (0.0, 0.0))
            speeds.append(lamp.centre(ONE, state)[2:])
        seen.append(np.diff(speeds, axis=0)[0])
    wanted = np.array((-15.0, 2.0)) * 0.02113 / sum(lamp.MASSES)
    np.testing.assert_allclose(seen[1] - seen[0], wanted, atol=2e-4)
    # It lands all the same: the landing is by the state as it then is.
    assert np.isfinite(done.motions[0].rested)


def test_a_ball_hits_a_lamp_that_stands_and_it_stands_again():
    # From behind at the shade: it catches itself, as far as its base bears that.
    standing = lamp.standing()
    shade = lamp._PARTS.points(np.sin, np.cos, standing.q, standing.v)[2]
    ball = Ball(0.5, np.array((shade[0] - 0.5, 0.0, shade[1] + 0.05)), np.array((2.5, 0.0, 0.0)),
                0.2, 0.05, 0.3)
    done = play([None], lasting=[3.0], end=3.0, knocks=_lamp([ball]))
    hit = done.knocks.hits[0]
    assert hit.link == 2 and 0.1 < hit.impulse < 0.8 and done.fell == np.inf
    row = round(hit.time / lamp.STEP)
    swing = np.degrees(np.abs(done.q[row:, 3:] - lamp.REST).max())
    assert swing > 1.0
    assert np.degrees(np.abs(done.q[-1, 3:] - lamp.REST).max()) < 0.5
    assert abs(np.degrees(done.q[-1, 2])) < 0.5 and len(done.knocks.flights) == len(done.times)
    assert np.isnan(done.knocks.flights[0]).all()


def test_a_lamp_that_is_knocked_over_says_when():
    push = Push(0.5, 0.8, 2, np.array((-60.0, 0.0, 0.0)))
    done = play([None], lasting=[3.0], end=3.0, knocks=_lamp([push]))
    assert 0.5 < done.fell < 3.0
