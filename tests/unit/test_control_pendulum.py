# SPDX-License-Identifier: GPL-3.0-or-later
"""The pendulum under its six controllers, and under a script that chains them.

Source: van de Panne, Fiume and Vranesic, "Reusable Motion Synthesis Using State-Space
Controllers" (1990), section 5.2, figures 12 to 16.
"""

import math

import numpy as np
import pytest
from lab import pendulum_costs
from poise.solvers.control import pendulum
from poise.solvers.control.chain import Chain, rates_of
from poise.solvers.control.run import Command, rest_law, run
from poise.solvers.dynamics.planar import Link, compile_figure
from poise.solvers.errors import SettingError

FRAMES = np.arange(0.0, 4.0, 1.0 / 24.0)


@pytest.fixture(scope="module")
def controllers():
    return {name: pendulum.controller(name) for name in pendulum.DESTINATIONS}


@pytest.mark.parametrize("name", "ABC")
def test_who_ends_at_rest_stands_still_and_does_not_chatter(controllers, name):
    controller = controllers[name]
    for start in pendulum_costs.random_starts(3, 5):
        motion = run(pendulum.rates, start, [Command(controller, 9.0)], FRAMES)
        assert motion.reached and not motion.left
        off = motion.states[-12:] - controller.destination
        off[:, 0] = controller.table.grid.axes[0].difference(off[:, 0])
        # Half a degree, a degree per second.
        assert np.degrees(np.abs(off[:, 0])).max() < 0.5
        assert np.degrees(np.abs(off[:, 1])).max() < 1.0
        assert np.abs(np.diff(motion.controls[-12:, 0])).max() < 0.01
        assert np.abs(motion.controls).max() <= pendulum.TORQUE + 1e-9


@pytest.mark.parametrize("name", "DF")
def test_destinations_with_a_speed_become_cycles(controllers, name):
    # Full turns, over and over: the angle goes on growing, and passes the destination each time.
    controller = controllers[name]
    motion = run(pendulum.rates, np.zeros(2), [Command(controller, 9.0)], FRAMES)
    turned = motion.states[-1, 0] - motion.states[0, 0]
    assert turned > 4.0 * np.pi
    angle = controller.table.grid.axes[0].difference(
        motion.states[:, 0] - controller.destination[0]
    )
    passing = motion.states[1:][(angle[:-1] < 0.0) & (angle[1:] >= 0.0) & (angle[1:] < 1.0)]
    later = passing[1:, 1]
    assert len(later) >= 2
    # The same speed each time, near the one asked for.
    assert np.degrees(np.ptp(later)) < 60.0
    assert abs(np.degrees(later.mean()) - pendulum.DESTINATIONS[name][1]) < 100.0


@pytest.mark.parametrize("name", "ABF")
def test_tables_cost_less_than_the_papers_and_trap_nobody(controllers, name):
    # All six, from more starts, beside a finer table: tools/lab/pendulum_costs.py. Where the
    # paper's holds the rod still beside its destination, from the starts that it does bring there.
    starts = pendulum_costs.random_starts(30)
    best = pendulum_costs.near_optimal(name, starts, (90, 53))
    literal = pendulum_costs.simulated_cost(pendulum.controller(name, literal=True), starts, True)
    ours = pendulum_costs.simulated_cost(controllers[name], starts)
    assert controllers[name].table.grid.size <= 756 == pendulum.literal_grid().size
    assert not np.isnan(ours).any()
    assert (ours > 0.97 * best).all()
    assert 0.0 < pendulum_costs.excess(ours, best) < 0.1
    came = ~np.isnan(literal)
    assert pendulum_costs.excess(ours, best, came) <= pendulum_costs.excess(literal, best)


def test_the_papers_table_traps_beside_a_destination_where_ours_arrives(controllers):
    starts = pendulum_costs.random_starts(30)
    literal = pendulum_costs.simulated_cost(pendulum.controller("A", literal=True), starts, True)
    trapped = np.isnan(literal)
    assert trapped.sum() > 5
    assert np.isfinite(pendulum_costs.simulated_cost(controllers["A"], starts[trapped])).all()


def test_the_scripts_of_figure_15_run_through(controllers):
    start = np.radians((-135.0, 350.0))
    lines = (("B", 0.4), ("A", 0.7), ("D", 0.6), ("E", 0.4), ("C", 0.4), ("F", 0.7))
    script = [Command(controllers[name], seconds, name=name) for name, seconds in lines]
    times = np.arange(0.0, 3.2 + 1e-9, 1.0 / 60.0)
    motion = run(pendulum.rates, start, script, times, slew=np.array([200.0]))
    assert not motion.left
    changes = times[1:][np.diff(motion.active) > 0]
    np.testing.assert_allclose(changes, np.cumsum([x for _, x in lines])[:-1], atol=1.5 / 60)
    # The state goes on where controllers change; the torque by no more than the muscle can.
    assert np.abs(np.diff(motion.states[:, 0])).max() < pendulum.FASTEST * 1.2 / 60
    assert np.abs(np.diff(motion.controls[:, 0])).max() <= 200.0 / 60 + 1e-9
    assert motion.ended == pytest.approx(3.2, abs=1.0 / 240)


def test_scripts_go_on_when_a_destination_is_reached(controllers):
    script = [
        Command(controllers["A"], 5.0, until_reached=True, name="A"),
        Command(controllers["C"], 5.0, until_reached=True, name="C"),
    ]
    motion = run(pendulum.rates, np.radians((-90.0, 0.0)), script, FRAMES)
    assert [number for _, number in motion.reached] == [0, 1]
    assert motion.ended == motion.reached[1][0]


def test_leaving_the_domain_is_told_with_its_time(controllers):
    start = np.array([0.0, pendulum.FASTEST * 1.5])
    motion = run(pendulum.rates, start, [Command(controllers["A"], 1.0)], FRAMES)
    assert motion.left == ((0.0, 0),)
    assert np.isfinite(motion.states).all()


def test_the_same_script_gives_the_same_motion_bit_for_bit(controllers):
    script = [Command(controllers["D"], 2.0), Command(controllers["B"], 2.0)]
    first, second = (run(pendulum.rates, np.zeros(2), script, FRAMES) for _ in range(2))
    np.testing.assert_array_equal(first.states, second.states)


def test_a_torque_that_stays_moves_the_rod_alike_at_any_rate_of_frames():
    """Steps fit into frames, whatever those are, and are short enough that the rod's energy changes
    by the work of the torque, T times the turn, to a millionth of what is turned over."""
    push, start = 3.0, np.radians((-60.0, 100.0))
    program = [Command(lambda time, state: np.array([push]), 9.0)]
    found = []
    for rate in (24.0, 25.0, 29.97, 60.0):
        times = np.append(np.arange(0.0, 2.0, 1.0 / rate), 2.0)
        state = run(pendulum.rates, start, program, times).states
        energy = state[:, 1] ** 2 / 6.0 + 0.5 * 9.81 * np.sin(state[:, 0])
        assert np.abs(energy - push * state[:, 0] - (energy - push * state[:, 0])[0]).max() < 1e-5
        found.append(state[-1])
    assert np.ptp(found, axis=0).max() < 1e-6


def test_steps_are_shorter_where_links_whirl_about():
    """Nothing drives a link on another, which turns at 80 rad/s, and their energy stays; in even
    steps of 1/240 s it changes by a hundredth in two seconds."""
    links = (
        Link("arm", "", (0.0, 0.0), (0.5, 0.0), 2.0, 2.0 / 12.0),
        Link("tip", "arm", (1.0, 0.0), (0.25, 0.0), 1.0, 0.5**2 / 12.0),
    )
    chain = Chain(links, (5.0, 5.0))
    made, free = compile_figure(links), [Command(lambda time, state: np.zeros(2), 9.0)]
    states = run(
        rates_of(chain), np.array((0.3, 4.0, 1.0, -80.0)), free, np.arange(49) / 24.0
    ).states
    energy = [sum(made.energy(math.sin, math.cos, list(s[::2]), list(s[1::2]))) for s in states]
    assert np.ptp(energy) < 1e-4 * abs(energy[0])


def test_rest_law_holds_only_what_can_be_held():
    limit = np.array([10.0])
    state = np.radians((0.0, 0.0))
    law = rest_law(pendulum.rates, state, -limit, limit, pendulum.ARRIVED)
    # Level, the rod asks for m g l / 2.
    assert law.hold[0] == pytest.approx(0.5 * 9.81, rel=1e-6)
    weak = np.array([4.0])
    assert rest_law(pendulum.rates, state, -weak, weak, pendulum.ARRIVED) is None
    moving = np.array([0.0, 5.0])
    assert rest_law(pendulum.rates, moving, -limit, limit, pendulum.ARRIVED) is None


def test_commands_without_time_are_refused(controllers):
    with pytest.raises(SettingError, match="Time of A is 0.0: it must be above 0 s"):
        run(pendulum.rates, np.zeros(2), [Command(controllers["A"], 0.0, name="A")], FRAMES)
