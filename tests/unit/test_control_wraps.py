# SPDX-License-Identifier: GPL-3.0-or-later
"""Coordinates that begin anew after a period: lengths, as the distance of a hop does (van de Panne,
Fiume and Vranesic, 1990, section 3.4), and angles."""

import numpy as np
import pytest
from poise.solvers.control import plans, texts
from poise.solvers.control.plans import Plan, Span
from poise.solvers.control.run import Command, run
from poise.solvers.control.stored import pack, unpack

PERIOD = 1.5  # m
FORCE = (Span("force", -1.0, 1.0, 5, "N", effort=0.0),)


def _block(states, controls):
    """1 kg on a rail: x' = v, v' = F."""
    return np.stack([states[:, 1], controls[:, 0]], axis=1)


def _plan(place, wraps=True, low=0.0, count=31):
    return Plan(
        "Hop", (Span("x", low, low + PERIOD, count, "m", wraps), Span("v", -2.0, 2.0, 31, "m/s")),
        FORCE, (place,),
    )


REST = _plan({"x": 0.0, "v": 0.0})


def test_the_way_is_by_the_nearer_side_of_a_period():
    # From rest to rest over a distance d with |F| <= 1 N takes 2 sqrt(d), d <= 0.75 m the shorter
    # way round; the same one period on, and mirrored. A table of this size costs a fifth more.
    table = plans.table_of(REST, _block)
    x = np.array([0.3, 0.6, 0.9, 1.2])
    ways = np.minimum(x, PERIOD - x)
    states = np.stack([x, 0.0 * x], axis=1)
    over = table.value(states) / (2.0 * np.sqrt(ways))
    assert (over > 0.98).all() and (over < 1.27).all()
    for turns in (-2, 1, 7):
        assert table.value(states + (turns * PERIOD, 0.0)) == pytest.approx(table.value(states))
    mirrored = np.stack([PERIOD - x, 0.0 * x], axis=1)
    assert table.value(states) == pytest.approx(table.value(mirrored), rel=0.1)


def test_a_bounded_length_knows_the_one_way_alone():
    table = plans.table_of(_plan({"x": 0.0, "v": 0.0}, wraps=False, low=-0.25), _block)
    over = table.value(np.array([[1.1, 0.0]]))[0] / (2.0 * np.sqrt(1.1))
    assert 0.98 < over < 1.35  # by the other side it would be 0.6


@pytest.mark.parametrize(("start", "end"), [(0.4, 0.0), (1.2, 1.5), (4.2, 4.5), (-1.0, -1.5)])
def test_what_is_gone_is_counted_on(start, end):
    table = plans.table_of(REST, _block)
    made = plans.controller_of(REST, table, _block)
    done = run(_block, np.array([start, 0.0]), [Command(made, 9.0)], np.arange(0.0, 5.0, 0.1))
    assert done.states[-1] == pytest.approx([end, 0.0], abs=0.02) and not done.left


def test_a_destination_with_a_speed_is_passed_once_a_period():
    # At 1 m/s past every 1.5 m, as hops follow each other: 1.5 s apart at the least effort is not
    # asked for, so faster between; but never slower than a free ride.
    plan = _plan({"x": 0.0, "v": 1.0})
    table = plans.table_of(plan, _block)
    made = plans.controller_of(plan, table, _block)
    done = run(_block, np.array([0.4, 0.0]), [Command(made, 99.0)], np.arange(0.0, 12.0, 0.02))
    x, v = done.states.T
    passed = [
        (t, u) for t, u, a, b in zip(done.times[1:], v[1:], x[:-1], x[1:], strict=True)
        if np.floor(a / PERIOD) != np.floor(b / PERIOD)
    ]
    assert len(passed) >= 5
    assert [u for _, u in passed[1:]] == pytest.approx([1.0] * (len(passed) - 1), abs=0.2)
    gaps = np.diff([t for t, _ in passed[1:]])
    assert (gaps < 1.75).all() and np.ptp(gaps) < 0.35


def test_the_period_is_kept_in_texts_and_in_files():
    table = plans.table_of(REST, _block)
    again, _source = unpack(pack(table, "x"))
    assert [axis.period for axis in again.grid.axes] == [PERIOD, 0.0]
    assert np.array_equal(again.cost, table.cost)
    text = texts.write_controller(plans.to_text(REST, "block"))
    assert "wrap x" in text
    read = plans.from_text(texts.read_controller(text), REST)
    x = read.coordinates[0]
    assert x.wraps and (x.low, x.high) == (0.0, pytest.approx(PERIOD))
