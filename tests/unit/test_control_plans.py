# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans of controllers: what they refuse, several destinations, free coordinates, texts."""

from dataclasses import replace

import numpy as np
import pytest
from lab import chain_arrivals
from poise.solvers.control import pendulum, plans, texts
from poise.solvers.control.chain import Chain, rates_of
from poise.solvers.control.run import Command, control, controls, run
from poise.solvers.dynamics.planar import Link
from poise.solvers.errors import SettingError

CHAIN = Chain((Link("rod", centre=(0.5, 0.0), mass=1.0, inertia=1.0 / 12.0),), (10.0,))
RATES = rates_of(CHAIN)
A, B = CHAIN.library()[:2]


def _with(plan, name, **changes):
    def one(spans):
        return tuple(replace(x, **changes) if x.name == name else x for x in spans)

    return replace(plan, coordinates=one(plan.coordinates), controls=one(plan.controls))


def test_a_chain_of_one_link_is_the_pendulum():
    states = np.random.default_rng(1).uniform(-3.0, 3.0, (20, 2))
    torques = np.linspace(-10.0, 10.0, 20)[:, None]
    assert np.abs(RATES(states, torques) - pendulum.rates(states, torques)).max() < 1e-12
    made = plans.table_of(B, RATES)
    assert np.array_equal(made.cost, pendulum.controller("B").table.cost)


@pytest.mark.parametrize("plan, words", [
    (_with(A, "omega", low=5.0, high=-5.0), "omega of A is from 5 to -5"),
    (_with(A, "angle", count=2), "Steps of angle of A is 2: it must be 3 or more"),
    (_with(A, "torque", effort=-1.0), "Effort of torque of A is -1.0"),
    (replace(A, destinations=({"omega": 9.0},)), "omega 515.7°/s: it must be within its domain"),
    (replace(A, destinations=()), "nowhere"),
    (_with(A, "angle", count=400_000), "GB while it is built: it must be smaller: .* fit into"),
])
def test_what_cannot_be_built_is_refused_before_it_is_tried(plan, words):
    with pytest.raises(SettingError, match=words):
        plans.table_of(plan, RATES)


def test_out_of_reach_is_said_with_the_torque_that_would_do():
    # Within 2 rad/s a rod can hardly be swung: 120 degrees up takes what holds it there and more.
    weak = _with(_with(B, "omega", low=-2.0, high=2.0), "torque", low=-0.2, high=0.2)
    with pytest.raises(SettingError, match="out of reach with torque from -0.2 N m") as raised:
        plans.table_of(weak, RATES)
    enough = float(str(raised.value).partition("given more, torque from -")[2].split()[0])
    # It has to be lifted over the horizontal: there its weight asks for m g l / 2 = 4.9 N m, less
    # what two radians per second bring along (0.15 of it).
    assert 0.2 * 4.9 < enough < 2.0 * 4.9
    strong = _with(weak, "torque", low=-enough, high=enough)
    assert plans.table_of(strong, RATES).reached.mean() > 0.02


def test_the_easiest_of_several_destinations_is_taken():
    both = replace(A, name="both", destinations=(*A.destinations, *B.destinations))
    table = plans.table_of(both, RATES)
    made = plans.controller_of(both, table, RATES)
    times = np.arange(0.0, 2.5, 1.0 / 12.0)
    for start, end in ((-20.0, 0.0), (135.0, 120.0)):
        done = run(RATES, np.radians([start, 0.0]), [Command(made, 9.0)], times)
        assert np.degrees(done.states[-1]) == pytest.approx([end, 0.0], abs=0.5)


def test_a_free_coordinate_comes_as_it_likes():
    # At 90 degrees, whatever the speed: from any speed that leads up the way costs no more than
    # the time that it takes to come by.
    free = replace(A, name="free", destinations=({"angle": 0.5 * np.pi},))
    table = plans.table_of(free, RATES)
    there = np.array([[0.5 * np.pi, speed] for speed in (-6.0, 0.0, 6.0)])
    assert table.value(there).max() < 0.15
    made = plans.controller_of(free, table, RATES)
    assert made.rest is None
    done = run(RATES, np.array([0.3, 7.0]), [Command(made, 9.0, True)], np.arange(0.0, 1.0, 0.01))
    assert done.reached and done.reached[0][0] < 0.25


def test_nodes_that_ask_for_opposite_torques_are_not_averaged():
    made = pendulum.controller("E")  # -299 degrees a second past -120 degrees
    hanging = np.array([[-0.5 * np.pi, 0.0]])
    assert abs(controls(made, hanging)[0][0, 0]) > 5.0
    times = np.arange(0.0, 1.0, 1.0 / 48.0)
    done = run(pendulum.rates, hanging[0], [Command(made, 9.0, True)], times)
    assert done.reached and done.reached[0][0] < 0.5


@pytest.mark.parametrize("links", [1, 2])
def test_one_state_is_told_what_many_are(links):
    """In floats as in arrays: inside and outside the domain, about the law of rest, where nodes ask
    for opposite torques, where no way is known, and for numbers that are none."""
    rods = (CHAIN.links[0], replace(CHAIN.links[0], name="more", parent="rod", joint=(1.0, 0.0)))
    made = Chain(rods[:links], (30.0, 9.0)[:links])
    rates = rates_of(made)
    plan = made.plan("Up", [1.2, 0.0, 0.3, 0.0][:2 * links])
    plan = replace(
        plan, coordinates=tuple(replace(x, count=(31, 6)[links - 1]) for x in plan.coordinates),
        controls=tuple(replace(x, count=3) for x in plan.controls),
    )
    table = plans.table_of(plan, rates)
    cost = np.where(np.arange(len(table.cost)) % 7 == 0, table.unknown, table.cost)
    controller = plans.controller_of(plan, replace(table, cost=cost), rates)
    rng, wide = np.random.default_rng(2), 1.1 * np.array([3.2, 8.8] * links)
    states = rng.uniform(-wide, wide, (400, 2 * links))
    states[:60] = controller.destination + 0.05 * states[:60]
    states[60:90] = table.grid.states()[rng.integers(0, table.grid.size, 30)]
    states[90], states[91, 0] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        many, known = controls(controller, states)
    alone = [control(controller, state) for state in states]
    assert known.tolist() == [yes for _, yes in alone] and 50 < known.sum() < 390
    assert np.abs(many - np.array([given for given, _ in alone])).max() < 1e-9
    given = np.repeat(plan.samples[-1:], len(states), axis=0)
    good = np.isfinite(states).all(axis=1)
    apart = [rates(s[None], g[None])[0] for s, g in zip(states[good], given[good], strict=True)]
    assert rates(states[good], given[good]) == pytest.approx(np.array(apart), rel=1e-12, abs=1e-12)
    with np.errstate(invalid="ignore"):
        assert np.isnan(rates(states[91:92], given[:1])).any()


def test_texts_say_what_plans_are():
    made = texts.read_controller(
        "dyn link1\nssid omega -500.0 500.0 21\nssid angle -180 170 36\nwrap angle\n"
        "torq torque -10.0 10.0 11 0.1\ndest angle=0 omega=0\n"
    )
    plan = plans.from_text(made, A)
    angle, omega = plan.coordinates
    assert (angle.low, angle.high) == pytest.approx((-np.pi, np.pi)) and angle.count == 36
    assert (plan.nodes, omega.count, plan.power) == (756, 21, 1.0)
    literal = pendulum.literal_grid()
    for mine, axis in zip(plan.grid().axes, literal.axes, strict=True):
        assert mine.nodes == pytest.approx(axis.nodes) and mine.period == axis.period
    again = plans.to_text(plan, "link1")
    assert {x.name: (x.low, x.high, x.count) for x in again.coordinates} == {
        x.name: (pytest.approx(x.low), pytest.approx(x.high), x.count) for x in made.coordinates
    }
    with pytest.raises(SettingError, match="Coordinates and controls"):
        plans.from_text(replace(made, coordinates=made.coordinates[:1]), A)
    held = plans.from_text(replace(made, held={"torque": 2.5}), A)
    assert (held.program, held.found) == (plans.HOLD, (2.5,))
    assert plans.to_text(held, "link1").held == {"torque": 2.5}
    with pytest.raises(SettingError, match="Control is force: it must be one of torque"):
        plans.from_text(replace(made, held={"force": 2.5}), A)


def _two_links(strength):
    """Two rods with a small table: what leads them is the law about the destination."""
    made = chain_arrivals.chain(strength)
    rates = rates_of(made)
    up = made.library()[0]
    few = replace(up, coordinates=tuple(replace(x, count=5) for x in up.coordinates))
    return made, rates, plans.controller_of(few, plans.table_of(few, rates), rates)


def test_several_links_are_led_home_from_as_far_as_their_muscles_can():
    sizes = []
    for strength in (2.0, 0.8):
        made, rates, controller = _two_links(strength)
        law = controller.rest
        sizes.append(law.size)
        # From anywhere within, clipped, not only from where trials began.
        rng = np.random.default_rng(7)
        rays = rng.normal(size=(12, 4))
        rays /= np.sqrt(np.einsum("mi,ij,mj->m", rays, law.shape, rays))[:, None]
        starts = law.state + np.sqrt(law.size) * rng.uniform(0.2, 0.95, (12, 1)) * rays
        assert np.isfinite(chain_arrivals.arrivals(rates, controller, starts)).all()
        given, known = controls(controller, starts)
        assert known.all() and (np.abs(given) <= np.array(made.torques) + 1e-9).all()
    assert sizes[0] > 20.0 * sizes[1]


def test_strong_muscles_lead_two_links_from_anywhere():
    _, rates, controller = _two_links(2.0)
    starts = chain_arrivals.random_starts(12, 3)
    assert np.isfinite(chain_arrivals.arrivals(rates, controller, starts)).all()
