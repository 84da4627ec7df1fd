# SPDX-License-Identifier: GPL-3.0-or-later
"""Links that bump into ground, steps and walls: closed forms, energy, rest."""

from importlib import import_module

import numpy as np
import pytest
from poise.solvers.control.chain import Chain, rates_of
from poise.solvers.control.knocks import Knocks, Plane
from poise.solvers.control.outline import outline
from poise.solvers.control.run import Command, run
from poise.solvers.control.surroundings import Silhouette, lines
from poise.solvers.control.touching import SINK, Solid, Touching
from poise.solvers.dynamics.disturbances import Push
from poise.solvers.dynamics.planar import Link, compile_figure

RUN = import_module("poise.solvers.control.run")
RADIUS = 0.04


def box(left, right, bottom, top, name="Block"):
    a, b, c, d = (left, bottom), (right, bottom), (right, top), (left, top)
    return Silhouette(name, np.array([[a, b, c], [a, c, d]], float))


def link(name, parent="", joint=(0.0, 0.0), length=1.0, mass=1.0):
    return Link(name, parent, joint, (0.5 * length, 0.0), mass, mass * length**2 / 12.0)


ROD = Chain((link("rod"),), (10.0,))
FLOOR = box(-3.0, 3.0, -2.0, -0.5 - RADIUS, "Floor")
WALL = box(0.25 + RADIUS, 0.8, -2.0, 2.0, "Wall")


def fallen(chain, start, solid, seconds, rate=480.0):
    """How a figure without muscles goes among things, and those."""
    touching, start = Touching(chain, solid), np.array(start, float)
    touching.begin(0.0, start)
    limp = np.zeros(sum(most > 0.0 for most in chain.torques))
    done = run(
        rates_of(chain), start, [Command(lambda time, state: limp, 1e4)],
        np.arange(0.0, seconds, 1.0 / rate), outside=touching,
    )
    return done.times, done.states, touching


def tips(chain, states):
    return lines(chain.links, states[:, ::2])[:, :, 1]


def energy(chain, states):
    figure = compile_figure(chain.links, gravity=chain.gravity)
    return sum(figure.energy(np.sin, np.cos, states[:, ::2].T, states[:, 1::2].T))


def test_a_rod_falls_onto_the_floor_and_rests_there():
    """On a smooth floor the tip of a hinged rod bears half its weight, at any angle. What it has,
    with what the floor's spring has of it, only becomes less."""
    _, states, touching = fallen(ROD, (0.0, 0.0), Solid((FLOOR,), RADIUS, 0.0), 3.0)
    deep = -0.5 - tips(ROD, states)[:, 0, 1]
    stiffness = touching.surfaces[0].stiffness
    assert stiffness * deep[-1] == pytest.approx(0.5 * 9.81, rel=1e-4) and deep[-1] < 1e-3
    assert np.ptp(deep[-480:]) < 1e-6 and abs(states[-1, 1]) < 1e-6
    assert deep.max() < 0.2 * RADIUS
    whole = energy(ROD, states) + 0.5 * stiffness * np.maximum(deep, 0.0) ** 2
    assert np.diff(whole).max() < 1e-3 and whole[-1] < whole[0] - 2.0
    assert {name for _, name in touching.hits} == {"Floor"}
    assert touching.hits[0][0] == pytest.approx(0.268, abs=0.002)  # when it first is there


def test_a_rod_across_an_edge_bears_what_levers_say():
    """N u = m g l/2 cos p about the hinge, u from there to the edge of a step."""
    step = box(0.55, 0.9, -2.0, -0.3, "Step")
    _, states, touching = fallen(ROD, (0.2, 0.0), Solid((step,), RADIUS, 0.0), 3.0)
    p, corner = states[-1, 0], np.array((0.9, -0.3))
    u = corner @ (np.cos(p), np.sin(p))
    deep = RADIUS + corner @ (-np.sin(p), np.cos(p))
    assert touching.surfaces[0].stiffness * deep == pytest.approx(
        9.81 * 0.5 * np.cos(p) / u, rel=1e-4
    )
    assert abs(states[-1, 1]) < 1e-9


def test_friction_stops_a_tip_after_the_way_that_coulomb_says():
    """A rod without weight turns in a pipe that it presses against everywhere by 0.2 mm: its tip
    is braked by mu N, and stops after I w^2 / (2 mu N l)."""
    around, deep = np.linspace(0.0, 1.0, 301), 2e-4
    inner = (1.0 + RADIUS - deep) * np.stack((np.cos(around), np.sin(around)), axis=1)
    a, b, c, d = inner[:-1], inner[1:], 1.5 * inner[1:], 1.5 * inner[:-1]
    pipe = Silhouette("Pipe", np.concatenate((
        np.stack((a, b, c), axis=1), np.stack((a, c, d), axis=1)
    )))
    rod, mu, w = Chain(ROD.links, ROD.torques, 0.0), 0.1, 2.0
    _, states, touching = fallen(rod, (0.3, w), Solid((pipe,), RADIUS, mu), 1.0, 48.0)
    far = (w**2 / 3.0) / (2.0 * mu * touching.surfaces[0].stiffness * deep)
    assert states[-1, 0] - 0.3 == pytest.approx(far, rel=0.01)
    assert abs(states[-1, 1]) < 1e-3


@pytest.mark.parametrize("mu", [0.26, 0.32])
def test_two_rods_that_lean_stand_by_friction_alone(mu):
    """Two equal rods at 60 degrees: the foot slips unless mu is over cot(60 degrees) / 2 = 0.289.
    While it stands it does not creep."""
    pair = Chain((link("up"), link("down", "up", (1.0, 0.0))), (10.0, 10.0))
    floor = box(-3.0, 3.0, -2.0, -RADIUS, "Floor")
    start = np.radians((60.0, 0.0, -120.0, 0.0))
    _, states, _ = fallen(pair, start, Solid((floor,), RADIUS, mu), 1.5, 48.0)
    foot = tips(pair, states)[:, 1, 0]
    if mu > 0.289:
        assert abs(foot - 1.0).max() < 5e-4 and np.ptp(foot[24:]) < 1e-6
    else:
        assert foot[-1] > 1.05


def test_a_pendulum_rebounds_from_a_wall_with_less_than_it_had(monkeypatch):
    """It is never in it by more than a part of its thickness, and half the step tells the same."""
    angles = []
    for longest in (RUN.LONGEST, 0.5 * RUN.LONGEST):
        monkeypatch.setattr(RUN, "LONGEST", longest)
        times, states, touching = fallen(
            ROD, (-np.pi, 0.0), Solid((WALL,), RADIUS, 0.5), 1.5
        )
        deep = np.cos(states[:, 0]) - 0.25
        assert 0.0 < deep.max() < 0.2 * RADIUS
        spring = 0.5 * touching.surfaces[0].stiffness * np.maximum(deep, 0.0) ** 2
        assert np.diff(energy(ROD, states) + spring).max() < 1e-3 * np.ptp(energy(ROD, states))
        hit = touching.hits[0][0]
        before, after = states[times < hit][-1], states[np.argmin(np.abs(times - hit - 0.1))]
        assert before[1] > 4.0 and -0.6 * before[1] < after[1] < -0.5
        angles.append(after[0])
    assert angles[0] == pytest.approx(angles[1], abs=0.003)


def test_what_is_pushed_against_a_wall_presses_it_as_hard():
    """A hanging rod, 5 N at its tip towards a wall that it just touches, which pushes back there;
    let go, it is where it was."""
    wall = box(RADIUS, 0.5, -2.0, 2.0, "Wall")
    push = Push(0.2, 1.2, 0, np.array((5.0, 0.0, 0.0)), np.zeros(3))
    front = Plane(np.zeros(3), np.array((1.0, 0.0, 0.0)), np.array((0.0, 0.0, 1.0)))
    knocks = Knocks.of_chain(ROD, front, [push], np.array((0.0, 0.0, -9.81)))
    touching, start = Touching(ROD, Solid((wall,), RADIUS, 0.5), knocks), (-0.5 * np.pi, 0.0)
    times = np.arange(0.0, 2.0, 1.0 / 48.0)
    done = run(rates_of(ROD), start, [Command(lambda time, state: np.zeros(1), 9.0)], times,
               outside=touching)
    deep = tips(ROD, done.states)[:, 0, 0]
    pressed = touching.surfaces[0].stiffness * deep[np.searchsorted(times, 1.1)]
    assert pressed == pytest.approx(5.0, rel=0.02)
    assert abs(deep[-1]) < 2e-3 and deep.max() < 2e-4


def test_a_whip_of_ever_lighter_links_gains_nothing_from_hits():
    chain = Chain((
        link("a", mass=3.0), link("b", "a", (1.0, 0.0), 0.6, 0.1),
        link("c", "b", (0.6, 0.0), 0.3, 0.003),
    ), (1.0, 1.0, 1.0))
    solid = Solid((FLOOR, box(0.3, 0.6, -0.6, 0.0)), RADIUS, 0.5)
    _, states, touching = fallen(chain, (1.5, -4.0, 0.5, -6.0, 0.5, -6.0), solid, 0.8, 240.0)
    assert len(touching.hits) > 2
    assert energy(chain, states).max() < energy(chain, states)[0] + 1e-4
    assert tips(chain, states)[:, :, 1].min() > -0.5 - 0.5 * RADIUS


def test_three_links_come_to_rest_on_a_step_beside_a_wall():
    chain = Chain((
        link("a"), link("b", "a", (1.0, 0.0), 0.8, 0.8), link("c", "b", (0.8, 0.0), 0.5, 0.3)
    ), (10.0, 5.0, 2.0))
    things = (
        box(-4.0, 4.0, -2.0, -0.9, "Floor"), box(0.8, 1.2, -1.0, -0.5, "Step"),
        box(1.9, 2.1, -1.0, 2.0, "Wall"),
    )
    start = (1.2, 0.0, 0.2, 0.0, 0.1, 0.0)
    _, states, touching = fallen(chain, start, Solid(things, RADIUS, 0.5), 2.4, 48.0)
    assert energy(chain, states).max() < energy(chain, states)[0] + 1e-6
    at = tips(chain, states)
    assert np.abs(at[-24:] - at[-1]).max() < 1e-5  # nothing creeps, nothing buzzes
    assert at[:, :, 1].min() > -0.9 + 0.8 * RADIUS
    assert at[-1, :, 1].min() > -0.9 + RADIUS - 1e-3
    assert {"Floor", "Step"} <= {name for _, name in touching.hits}


def test_what_begins_in_something_is_not_flung_out():
    """A tip 2 cm too deep in the floor lies where it is; one right within a block swings freely."""
    start = (np.arcsin(-0.52), 0.0)
    _, states, touching = fallen(ROD, start, Solid((FLOOR,), RADIUS, 0.5), 0.5, 48.0)
    assert touching.began == ["Floor"]
    assert np.abs(tips(ROD, states)[:, 0, 1] + 0.52).max() < 3e-4
    block = Solid((box(0.5, 1.2, -1.0, 0.0),), RADIUS, 0.5)
    _, states, touching = fallen(ROD, (-0.5, 0.0), block, 1.0, 48.0)
    assert touching.began == ["Block"]
    assert energy(ROD, states).max() < energy(ROD, states)[0] + 1e-6


def test_outlines_are_those_of_all_things_together():
    """A box on a floor: seven edges of those of both, cut where they meet, with the two nooks
    beside the box; and a sheet seen from the side, of two sides."""
    found = outline([
        box(-2.0, 2.0, -1.0, 0.0).triangles, box(0.5, 1.0, -0.2, 0.5).triangles,
        np.array([[(a, 0.4), (b, 0.4), (b, 0.4)] for a, b in ((-1.0, -0.5), (-0.8, -0.2))]),
    ])
    ways = found.edges[:, 1] - found.edges[:, 0]
    solid = found.things < 2
    area = 0.5 * (found.edges[:, 0, 0] * ways[:, 1] - found.edges[:, 0, 1] * ways[:, 0])
    assert area[solid].sum() == pytest.approx(4.0 + 0.5 * 0.5)
    assert area[~solid].sum() == pytest.approx(0.0)
    assert np.abs(ways[~solid, 0]).sum() == pytest.approx(2.0 * 0.8)
    inward = ~found.out.any(axis=1)
    nooks = found.edges[found.corners[0][inward], 1]
    assert sorted(map(tuple, np.round(nooks, 4).tolist())) == [(0.5, 0.0), (1.0, 0.0)]
    assert SINK <= 1e-3
