# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that branch as figures: they move as the spatial equations of motion say, and what is no
such figure says so in one sentence."""

import bpy
import numpy as np
import pytest
from figures_help import TREE, tree
from operators_help import refused
from poise.addon import compat, pipeline
from poise.addon.families.controlling import gather
from poise.addon.rigs import machines
from poise.solvers import rotations
from poise.solvers.dynamics import Figure, State, accelerations, generalised, pose
from scipy.integrate import solve_ivp
from snapshot import diff, snapshot

pytestmark = pytest.mark.usefixtures("scene")


def _spatial():
    """The tree by the spatial equations, hinges about +Z and the plane's up along +Y."""
    names = [part[0] for part in TREE]
    angles = {part[0]: part[3] for part in TREE}
    n = len(TREE)
    axes, inertias = np.zeros((2, n, 3, 3))
    axes[:, 0] = (0.0, 0.0, 1.0)
    masses = np.array([part[4] for part in TREE])
    inertias[:, 2, 2] = masses * masses**2 / 12.0  # rods of 1 kg for each metre
    figure = Figure(
        np.array([names.index(part[1]) if part[1] else -1 for part in TREE]),
        np.array([(part[2], 0.0, 0.0) for part in TREE]), rotations.identity(n), axes, masses,
        np.array([(0.5 * part[4], 0.0, 0.0) for part in TREE]), inertias,
    )
    rests = [part[3] - (angles[part[1]] if part[1] else 0.0) for part in TREE]
    return figure, np.array(rests)


def _energy(figure, at):
    spins = (at.inertias @ at.spins[:, :, None])[:, :, 0]
    kinetic = 0.5 * (figure.masses @ (at.velocities**2).sum(1) + (spins * at.spins).sum())
    return kinetic + 9.81 * figure.masses @ at.centres[:, 1]


def _at(figure, q, v):
    angles, rates = np.zeros((2, len(q), 3))
    angles[:, 0], rates[:, 0] = q, v
    return pose(figure, State(angles, rates))


def test_a_tree_let_go_falls_as_the_spatial_equations_say():
    rig = tree()
    bpy.ops.poise.figure_setup()
    motion = rig.poise.motion_object
    motion.poise_motion.frame_end = 25
    figure, rests = _spatial()
    n = len(rests)
    weight = figure.masses[:, None] * (0.0, -9.81, 0.0)

    def change(_t, y):
        at = _at(figure, y[:n], y[n:])
        return [*y[n:], *accelerations(figure, at, generalised(at, weight, np.zeros((n, 3))))]

    start = [*rests, *np.zeros(n)]
    known = solve_ivp(change, (0.0, 1.0), start, method="DOP853", rtol=1e-10, atol=1e-10).y[:, -1]
    ran = pipeline.solve(pipeline.gather(bpy.context, motion)).motion.ran
    assert np.abs(ran.states[-1, ::2] - known[:n]).max() < 1e-4
    energies = [_energy(figure, _at(figure, s[::2], s[1::2])) for s in ran.states]
    # Within a thousandth of what it has in motion at the most.
    assert np.ptp(energies) < 1e-3 * 9.81 * figure.masses.sum() * 0.6
    # On the rig, in the world.
    bpy.ops.poise.bake()
    bpy.context.scene.frame_set(25)
    turned, seen = {}, rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    for part, angle in zip(TREE, known[:n], strict=True):
        turned[part[0]] = angle + turned.get(part[1], 0.0)
        way = seen.pose.bones[part[0]].vector
        assert abs(way.y) < 1e-5
        off = np.arctan2(way.z, way.x) - turned[part[0]]
        assert abs((off + np.pi) % (2.0 * np.pi) - np.pi) < 1e-3


def test_muscles_of_a_tree_hold_level_twice_over_what_hangs_on_them():
    # As the pendulum's 10 N m are for 4.905 N m. Level and straight, the hand of the right arm
    # hangs on it: 9.81 (0.35 (0.175) + 0.2 (0.45)).
    rig = tree()
    bpy.ops.poise.figure_setup(density=2.0)
    held = 2.0 * 9.81 * (0.35 * 0.175 + 0.2 * 0.45)
    assert rig.pose.bones["arm.R"][machines.TORQUE] == pytest.approx(
        held * machines.SURPLUS, rel=1e-6
    )
    assert rig.pose.bones["hand.R"][machines.MASS] == pytest.approx(0.4, rel=1e-6)
    _figure, body, _numbers = gather.known(bpy.context, rig.poise.motion_object)
    assert [link.parent for link in body.chain.links] == ["", "link1", "link1", "link3"]


def test_a_controller_leads_a_fork_to_a_pose():
    parts = (("stem", "", 0.0, -1.5708, 0.5), ("left", "stem", 0.5, -1.0, 0.3),
             ("right", "stem", 0.5, -2.1, 0.3))
    rig = tree(parts)
    bpy.ops.poise.figure_setup()
    # The sides only hang, and weigh little: the stem has the muscle.
    for name in ("left", "right"):
        rig.pose.bones[name][machines.TORQUE] = 0.0
    motion = rig.poise.motion_object
    motion.poise_motion.frame_end = 25
    bpy.ops.poise.controller_add()
    item = motion.poise_motion.control.controllers[0]
    for one in item.domain:
        one.count = 3
    for one in item.torques:
        one.count = 3
    # A destination where it hangs at rest: all free but the stem.
    for value in item.destinations[0].values:
        value.free = not value.name.endswith("1")
    bpy.ops.poise.script_add(seconds=1.0)
    solved = pipeline.solve(pipeline.gather(bpy.context, motion))
    assert np.isfinite(solved.motion.ran.states).all()
    assert solved.motion.script[0].table.grid.size == 3**6


def _not_planar():
    tree(lift="arm.L")


def _apart():
    rig = tree()
    compat.select_bone(rig.pose.bones["trunk"], False)


def _gap():
    rig = tree()
    compat.select_bone(rig.pose.bones["arm.R"], False)


def _loop():
    rig = tree()
    tie = rig.pose.bones["hand.R"].constraints.new("IK")
    tie.target, tie.subtarget = rig, "arm.L"


@pytest.mark.parametrize(("spoil", "said"), [
    (_not_planar, "arm.[LR] of Mobile does not lie in the plane that its figure turns in: lay"),
    (_apart, "arm.[LR] of Mobile does not hang on arm.[LR]: select bones that hang on each other"),
    (_gap, "hand.R of Mobile does not hang on trunk: select bones"),
    (_loop, "IK ties hand.R of Mobile to arm.L, which closes a loop: links have to hang"),
])
def test_what_is_no_tree_is_refused_and_changes_nothing(spoil, said):
    spoil()
    bpy.context.view_layer.update()
    before = snapshot()
    refused("figure_setup", said)
    assert diff(before, snapshot()) == []


def test_links_without_mass_are_refused():
    rig = tree()
    bpy.ops.poise.figure_setup()
    rig.pose.bones["arm.L"][machines.MASS] = 0.0
    refused("bake", "Mass of arm.L is 0.0: it must be a number above 0 kg")
