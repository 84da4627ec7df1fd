# SPDX-License-Identifier: GPL-3.0-or-later
"""What links may not touch: how near they come, and controllers that go around it."""

from dataclasses import replace

import numpy as np
import pytest
from poise.solvers.control import plans
from poise.solvers.control.chain import Chain, rates_of
from poise.solvers.control.run import Command, run, stepped
from poise.solvers.control.surroundings import Silhouette, Surroundings, way_between
from poise.solvers.control.wary import Wary
from poise.solvers.dynamics.planar import Link
from poise.solvers.errors import SettingError

ROD = Link("link1", centre=(0.5, 0.0), mass=1.0, inertia=1.0 / 12.0)
CHAIN = Chain((ROD,), (10.0,))
RATES = rates_of(CHAIN)
FOREARM = Link("link2", "link1", (1.0, 0.0), (0.2, 0.0), 0.4, 0.4 * 0.16 / 12.0)
KEEP = 0.02


def box(left, right, bottom, top, name="Block"):
    a, b, c, d = (left, bottom), (right, bottom), (right, top), (left, top)
    return Silhouette(name, np.array([[a, b, c], [a, c, d]], float))


BLOCK = box(0.6, 0.8, 0.3, 0.5)


def _at(*degrees):
    states = np.zeros((len(degrees), 2))
    states[:, 0] = np.radians(degrees)
    return states


def test_a_rod_is_clear_of_a_block_up_to_its_clearance():
    # Its corner (x, y) is at atan2(y, x), and is cleared by asin(r / |corner|) more: 19.21° from
    # below at (0.8, 0.3), 41.27° from above at (0.6, 0.5). What is told is on the safe side, by
    # no more than three cells of the map, 7 mm.
    about = Surroundings((ROD,), (BLOCK,), KEEP)
    low = np.degrees(np.arctan2(0.3, 0.8) - np.arcsin(KEEP / np.hypot(0.3, 0.8)))
    high = np.degrees(np.arctan2(0.5, 0.6) + np.arcsin(KEEP / np.hypot(0.5, 0.6)))
    within = np.linspace(low + 0.01, high - 0.01, 50)
    assert (about.touched(_at(*within)) == 0).all()
    assert (about.touched(_at(low - 0.6, high + 0.6, 90.0, -30.0)) < 0).all()


def test_links_are_where_their_joints_turn_them():
    # The forearm's tip, 1.4 m out when straight, is in the small block; bent by 90° it is not,
    # and where its elbow is bent over the other block that is the one.
    tip, side = box(1.35, 1.38, -0.01, 0.01, "Tip"), box(0.98, 1.02, 0.25, 0.35, "Side")
    about = Surroundings((ROD, FOREARM), (tip, side), 0.01)
    states = np.zeros((3, 4))
    states[1, 2], states[2, 2] = 0.5 * np.pi, -0.5 * np.pi
    assert about.touched(states).tolist() == [0, 1, -1]


def test_branches_hang_where_their_trunk_carries_them():
    twig = replace(FOREARM, name="link3", joint=(0.5, 0.0))
    about = Surroundings((ROD, FOREARM, twig), (box(-0.2, 0.2, 0.2, 0.5),), 0.01)
    states = np.zeros((2, 6))
    states[1, 4] = 0.5 * np.pi + 0.9  # the twig, from the middle of the rod, up and back
    assert about.touched(states).tolist() == [-1, 0]


def test_a_way_between_rows_is_a_cubic_of_angles():
    time = np.array([0.0, 0.2, 0.5])
    states = np.stack([time**3 - time, 3.0 * time**2 - 1.0], axis=1)
    times, found = way_between(time, states, 4)
    assert len(times) == 9 and times[-1] == 0.5
    assert np.abs(found[:, 0] - (times**3 - times)).max() < 1e-12


def _plan(degrees, **more):
    return replace(CHAIN.plan("Up", np.radians([degrees, 0.0])), **more)


def test_a_pendulum_goes_round_the_other_way_and_touches_nothing():
    # From hanging a little to the right, rest at 80° is nearest counterclockwise, through the
    # block at 19° to 41°. The other way round is free.
    plan = _plan(80.0)
    free = plans.table_of(plan, RATES)
    about, start = Surroundings((ROD,), (BLOCK,), KEEP), np.radians([-30.0, 0.0])
    table = plans.table_of(plan, RATES, None, about)
    clock = np.arange(0.0, 3.5, 1.0 / 48.0)
    straight = run(RATES, start, [Command(plans.controller_of(plan, free, RATES), 9.0)], clock)
    assert np.degrees(straight.states[-1]) == pytest.approx([80.0, 0.0], abs=0.5)
    assert (about.touched(straight.states) >= 0).any()
    made = plans.controller_of(plan, table, RATES, about)
    around = run(RATES, start, [Command(made, 9.0)], clock)
    assert np.degrees(around.states[-1]) == pytest.approx([80.0 - 360.0, 0.0], abs=0.5)
    _times, between = way_between(clock, around.states, 10)  # twice each sub-step
    assert (about.touched(between) < 0).all()


def test_removed_states_are_unknown_and_nothing_good_comes_of_them():
    about = Surroundings((ROD,), (BLOCK,), KEEP)
    table = plans.table_of(_plan(80.0), RATES, None, about)
    states = table.grid.states()
    gone = about.blocks(states)
    assert gone.any() and not table.reached[gone].any()
    # Where every node around is gone, nothing is known either.
    indices, weights, _inside = table.grid.corners(np.radians([[30.0, 0.0]]))
    assert not table.reached[indices[weights > 0.0]].any()


def test_random_starts_touch_nothing():
    plan = _plan(80.0)
    about, bare = (Surroundings((ROD,), (BLOCK,), keep) for keep in (KEEP, 0.5 * KEEP))
    table = plans.table_of(plan, RATES, None, about)
    made = plans.controller_of(plan, table, RATES, about)
    rng, clock, tried, there = np.random.default_rng(7), np.arange(0.0, 2.5, 1.0 / 24.0), 0, 0
    while tried < 8:
        start = rng.uniform((-np.pi, -4.0), (np.pi, 4.0))
        indices, weights, _inside = table.grid.corners(start[None])
        if not table.reached[indices[weights > 0.0]].all():
            continue
        tried += 1
        done = run(RATES, start, [Command(made, 9.0)], clock)
        _times, between = way_between(clock, done.states, 20)
        assert (bare.touched(between) < 0).all()
        there += bool(done.reached)
    assert there == tried


def _wedge(low, high, name):
    """Between two bearings, 0.6 to 1.1 m out."""
    at = ((low, 0.6), (low, 1.1), (high, 1.1), (high, 0.6))
    corners = np.array([(r * np.cos(np.radians(x)), r * np.sin(np.radians(x))) for x, r in at])
    return Silhouette(name, corners[[[0, 1, 2], [0, 2, 3]]])


@pytest.mark.parametrize("low, high", [(1.0, 15.0), (2.0, 60.0), (5.0, 30.0)])
@pytest.mark.parametrize("place", [-40.0, 80.0])
def test_squeezed_between_two_things_a_pendulum_comes_to_rest_close_to_one(place, low, high):
    """Beside a destination that is a few degrees off a block nodes are too coarse: tables alone
    know no way there, or hold the rod still 7 to 17 degrees beside."""
    off = np.degrees(np.arcsin(KEEP / 0.6))
    about = Surroundings((ROD,), (_wedge(place - low - off - 15.0, place - low - off, "Low"),
                                  _wedge(place + high + off, place + high + off + 15.0, "High")),
                         KEEP)
    plan, clock = _plan(place), np.arange(0.0, 2.5, 1.0 / 48.0)
    made = plans.controller_of(plan, plans.table_of(plan, RATES, None, about), RATES, about)
    done = run(RATES, np.radians([place + 0.6 * high, 0.0]), [Command(made, 9.0)], clock)
    late = np.degrees(done.states[clock > 2.0]) - (place, 0.0)
    assert (np.abs(late) < (0.5, 1.0)).all()
    _times, between = way_between(clock, done.states, 10)
    assert (about.touched(between) < 0).all()


def test_within_its_room_a_figure_stays_clear():
    """Whatever angles do, no point of a link moves farther than each joint's turn times how far
    what hangs on it reaches, summed up; what stays below the room is clear as `touched` says."""
    about = Surroundings((ROD, FOREARM), (BLOCK, box(-1.3, -0.9, -0.5, 0.2, "Side")), KEEP)
    assert about.swept == pytest.approx((1.4, 0.4))
    rng, tried = np.random.default_rng(6), 0
    for state in rng.uniform(-3.2, 3.2, (300, 1, 4)):
        room = about.room(state, 0.03)
        assert (room > 0.0) == (about.touched(state, 0.03)[0] < 0)
        room -= about.grain
        if room > 0.0:
            ways = rng.uniform(-1.0, 1.0, (50, 2))
            ways *= room / (np.abs(ways) @ about.swept)[:, None]
            moved = np.repeat(state, 50, axis=0)
            moved[:, ::2] += ways
            assert (about.touched(moved, 0.03) < 0).all()
            tried += 1
    assert tried > 50
    assert about.room(np.full((1, 4), np.nan)) == about.room(np.zeros((1, 4)))


def test_what_was_seen_clear_is_not_looked_at_again_and_nothing_else_changes():
    """Along a way past a block, the same is done as by one who looks ahead anew each time, and
    most looks are saved: they are what a figure among obstacles takes most of its time for."""
    about = Surroundings((ROD,), (BLOCK,), KEEP)
    table = plans.table_of(_plan(80.0), RATES, None, about)
    keeps, look, looks = Wary(table, RATES, about), about.room, []

    def counted(*given):
        looks.append(given)
        return look(*given)

    state, rng, changed = np.array([-0.5, 0.4]), np.random.default_rng(4), 0
    for k in range(480):
        if k % 60 == 0:  # nowhere it spins too fast for any look to be of use
            pull, state[1] = rng.uniform(-10.0, 10.0, 1), 0.3 * state[1]
        about.room = counted
        done = keeps(state, pull)
        about.room = look
        assert (done == Wary(table, RATES, about)(state, pull)).all()
        changed += bool((done != pull).any())
        state = stepped(RATES, state[None], done[None], 1.0 / 240.0)[0]
    assert changed and len(looks) < 240


@pytest.mark.parametrize("place", [{"angle": 0.5}, {"angle": 0.5, "omega": 0.0}])
def test_a_destination_inside_is_refused(place):
    about = Surroundings((ROD,), (BLOCK,), KEEP)
    with pytest.raises(SettingError, match="Destination of Up is inside Block: it must be where"):
        plans.table_of(_plan(0.0, destinations=(place,)), RATES, None, about)


def test_no_way_of_a_two_link_arm_leads_through_a_block():
    """From nodes that know a way, under their control to the edge of their box, in steps that are
    a tenth of those that the table was built with: no link comes within the clearance."""
    chain = Chain((ROD, FOREARM), (25.0, 4.0))
    rates, about = rates_of(chain), Surroundings((ROD, FOREARM), (box(0.9, 1.1, -0.7, -0.4),), 0.03)
    plan = chain.plan("Down", (-0.5 * np.pi, 0.0, 0.0, 0.0))
    small = (
        tuple(replace(x, count=9 if x.name.startswith("angle") else 7) for x in plan.coordinates),
        tuple(replace(x, count=3) for x in plan.controls),
    )
    plan = replace(plan, coordinates=small[0], controls=small[1])
    table = plans.table_of(plan, rates, None, about)
    rows = np.flatnonzero(table.reached & (table.cost > 0.0))
    gone = about.blocks(table.grid.states())
    assert gone.mean() > 0.02 and not table.reached[gone].any() and len(rows) > 500
    start, box_of = table.grid.states()[rows], table.grid.spacing()[rows]
    at, inside = start.copy(), np.ones(len(rows), bool)
    for _ in range(300):
        at[inside] += 1.0 / 400.0 * rates(at[inside], table.controls[rows][inside])
        moved = at - start
        inside &= ((moved < box_of[..., 1]) & (moved > -box_of[..., 0])).all(axis=1)
        assert (about.touched(at[inside]) < 0).all()
        if not inside.any():
            break
