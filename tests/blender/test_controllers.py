# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers in Blender: figures, lists, building and storing, scripts, bakes, diagrams."""

import json
from pathlib import Path

import bpy
import numpy as np
import pytest
from control_scenes import SCRIPT
from operators_draw import drawn
from operators_help import refused
from poise.addon import compat, pipeline
from poise.addon.digests import digest
from poise.addon.errors import UserError
from poise.addon.families.base import SOLVER_VERSION
from poise.addon.families.controlling import gather, tables
from poise.addon.rigs.actor import Actor
from poise.addon.settings.control import TABLE
from poise.solvers.control import pendulum
from poise.solvers.control.build import build
from poise.solvers.control.chain import rates_of
from poise.solvers.control.run import Command, run
from poise.solvers.control.stored import unpack
from poise.solvers.dynamics.planar import Link, compile_figure
from snapshot import diff, snapshot

pytestmark = pytest.mark.usefixtures("scene")

FRAMES = 73
STORED = Path(__file__).with_name("stored_by_4_5.table")


def _pendulum(frames=FRAMES):
    bpy.ops.poise.character_add(kind="PENDULUM")
    rig = bpy.context.object
    motion = rig.poise.motion_object
    motion.poise_motion.frame_end = frames
    return rig, motion


def _scripted(tmp_path, frames=FRAMES):
    rig, motion = _pendulum(frames)
    path = tmp_path / "fig15.txt"
    path.write_text(SCRIPT)
    bpy.ops.poise.script_import(filepath=str(path))
    return rig, motion


def _angles(rig, frames, bone="rod"):
    """Degrees of a bone in the plane, counterclockwise as seen from the front, in the world."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        way = evaluated.matrix_world.to_3x3() @ evaluated.pose.bones[bone].vector
        assert abs(way.y) < 1e-5
        found.append(np.degrees(np.arctan2(way.z, way.x)))
    return np.array(found)


def _off(one, other):
    return np.abs((np.asarray(one) - other + 180.0) % 360.0 - 180.0).max()


def _by_the_solver(frames):
    """The script of Fig. 15 by the solvers alone, degrees."""
    names = "BADECF"
    made = {name: pendulum.controller(name) for name in names}
    script = [
        Command(made[n], s) for n, s in zip(names, (0.4, 0.7, 0.6, 0.4, 0.4, 0.7), strict=True)
    ]
    fps = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    times = np.arange(0, 2 * max(frames) - 1) / (2.0 * fps)
    found = run(pendulum.rates, np.radians([-135.0, 350.0]), script, times)
    return np.degrees(found.states[::2, 0])[np.array(frames) - 1]


@pytest.mark.parametrize("mode", ["DENSE", "SPARSE"])
def test_the_papers_script_moves_the_rod_and_is_cleared_without_a_trace(tmp_path, mode):
    rig, motion = _scripted(tmp_path)
    motion.poise_motion.key_mode = mode
    frames = [1, 5, 9, 20, 33, 50, 66, 73]
    before = snapshot()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert _off(_angles(rig, frames), _by_the_solver(frames)) < 0.05
    bpy.context.scene.frame_set(1)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert diff(before, snapshot()) == []


def test_turns_are_counted_on(tmp_path):
    # F turns over and over: keys go on beyond 360 degrees, so that nothing spins back.
    rig, motion = _pendulum(97)
    bpy.ops.poise.controller_add(library="F")
    bpy.ops.poise.script_add(seconds=10.0)
    bpy.ops.poise.bake()
    curves = compat.action_fcurves(rig.animation_data.action, rig.animation_data.action_slot)
    keys = np.degrees([k.co.y for k in curves[0].keyframe_points])
    assert abs(keys[-1] - keys[0]) > 720.0 and np.abs(np.diff(keys)).max() < 60.0


def test_a_line_draws_one_of_its_controllers_by_the_seed():
    _rig, motion = _pendulum()
    settings = motion.poise_motion.control
    for name in "ABC":
        bpy.ops.poise.controller_add(library=name)
    for _ in range(24):
        bpy.ops.poise.script_add(controller="A", seconds=0.1)
        settings.script[-1].others = "B,  C"

    def taken(seed):
        settings.seed = seed
        job = pipeline.gather(bpy.context, motion)
        return [job.plans[line.plan].name for line in job.script]

    assert set(taken(0)) == {"A", "B", "C"}
    assert taken(0) == taken(0) != taken(1)
    settings.script[3].others = "B, Nobody"
    with pytest.raises(UserError, match="names Nobody, which is none of its controllers"):
        for seed in range(12):
            taken(seed)


def test_a_motion_goes_on_from_the_one_before(tmp_path):
    rig, motion = _scripted(tmp_path, 33)
    bpy.ops.poise.motion_add(kind="CONTROLLER")
    later = rig.poise.motion_object
    assert later.poise_motion.after == motion
    bpy.ops.poise.controller_add(library="B")
    bpy.ops.poise.script_add(seconds=3.0)
    first = pipeline.solve(pipeline.gather(bpy.context, motion)).motion.ran
    second = pipeline.solve(pipeline.gather(bpy.context, later)).motion.ran
    assert np.abs(second.states[0] - first.states[-1]).max() == 0.0


def test_a_pose_becomes_a_destination_and_the_rod_comes_to_rest_there():
    # Angle 150 degrees of the hinge, from the solver's law of rest within half a degree.
    rig, motion = _pendulum(121)
    bone = rig.pose.bones["rod"]
    bone.rotation_euler.x = np.radians(150.0)
    bpy.context.view_layer.update()
    bpy.ops.poise.controller_add(name="Up")
    bone.rotation_euler.x = np.radians(-90.0)
    bpy.context.view_layer.update()
    bpy.ops.poise.start_set()
    bpy.ops.poise.script_add(seconds=20.0)
    bpy.ops.poise.bake()
    assert _off(_angles(rig, [1]), -90.0) < 0.01
    assert _off(_angles(rig, [113, 117, 121]), 150.0) < 0.5


def _chain(bent=0.0):
    data = bpy.data.armatures.new("Arm")
    rig = bpy.data.objects.new("Arm", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    parent, head = None, np.zeros(3)
    for k, length in enumerate((0.5, 0.3)):
        bone = data.edit_bones.new(f"link{k}")
        way = length * np.array((np.cos(0.4 + k * bent), 0.0, np.sin(0.4 + k * bent)))
        bone.head, bone.tail = head, head + way
        bone.parent, bone.use_connect = parent, k > 0
        parent, head = bone, head + way
        bone.align_roll((0.0, -1.0, 0.0))
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
        compat.select_bone(bone, True)
    return rig


def test_a_chain_of_bones_swings_as_its_links_do():
    """Let go, with no controller: as the compiled double pendulum of its bones, by another
    integration (fourth order, a tenth of the step)."""
    rig = _chain(bent=0.7)
    assert bpy.ops.poise.figure_setup() == {"FINISHED"}
    motion = rig.poise.motion_object
    motion.poise_motion.frame_end = 25
    assert bpy.ops.poise.bake() == {"FINISHED"}
    made = compile_figure([
        Link("a", centre=(0.25, 0.0), mass=0.5, inertia=0.5 * 0.25 / 12.0),
        Link("b", "a", (0.5, 0.0), (0.15, 0.0), 0.3, 0.3 * 0.09 / 12.0),
    ])

    def rate(s):
        bent = made.accelerations(np.sin, np.cos, s[:2], s[2:], np.zeros(2))
        return np.concatenate((s[2:], np.array(bent, float)))

    state, h = np.array([0.4, 0.7, 0.0, 0.0]), 1.0 / 2400.0
    for _ in range(2400):
        a = rate(state)
        b = rate(state + 0.5 * h * a)
        c = rate(state + 0.5 * h * b)
        state = state + h / 6.0 * (a + 2.0 * b + 2.0 * c + rate(state + h * c))
    seen = [_angles(rig, [25], f"link{k}")[0] for k in range(2)]
    assert _off(seen, np.degrees([state[0], state[0] + state[1]])) < 0.1


def test_a_chain_gives_back_what_it_was():
    rig = _chain()
    bpy.ops.object.mode_set(mode="OBJECT")
    before = snapshot()
    bpy.ops.poise.figure_setup()
    motion = rig.poise.motion_object
    bpy.ops.poise.figure_remove()
    bpy.data.objects.remove(motion)
    assert diff(before, snapshot()) == []


def test_tables_are_kept_and_built_anew_only_when_they_have_to_be(tmp_path, monkeypatch, capfd):
    rig, motion = _scripted(tmp_path)
    bpy.ops.poise.controller_build()
    first = {item.number: bytes(motion[TABLE.format(item.number)]["data"].to_list().__repr__(),
                                "ascii")
             for item in rig.poise.controllers}
    tables._known.clear()
    assert bpy.ops.poise.controller_build() == {"FINISHED"} and not tables._known
    rig.poise.controllers["A"].torques[0].high = 9.0
    bpy.ops.poise.controller_build()
    assert len(tables._known) == 1
    # Damaged: not believed, and built anew.
    number = rig.poise.controllers["B"].number
    data = motion[TABLE.format(number)]["data"]
    data[len(data) // 2] = data[len(data) // 2] ^ 1
    motion[TABLE.format(number)]["data"] = data
    tables._known.clear()
    solved = pipeline.solve(pipeline.gather(bpy.context, motion))
    assert [p.code for p in solved.problems] == ["CONTROLLER_DAMAGED"]
    bpy.ops.poise.controller_build()
    again = bytes(motion[TABLE.format(number)]["data"].to_list().__repr__(), "ascii")
    assert again == first[number]
    assert pipeline.solve(pipeline.gather(bpy.context, motion)).problems == ()
    # Too much for a file: said, with what helps.
    assert "coarser ones take less" not in capfd.readouterr().out
    monkeypatch.setattr(tables, "HEAVY", 1000)
    bpy.ops.poise.controller_build()
    assert "MB of the file: coarser ones take less" in capfd.readouterr().out


def _coarse():
    """A pendulum with one controller of few states: motion, settings, and what it is of."""
    rig, motion = _pendulum(49)
    bpy.ops.poise.controller_add(library="B")
    item = rig.poise.controllers[0]
    for one, count in zip(item.domain, (15, 11), strict=True):
        one.count = count
    bpy.ops.poise.script_add(seconds=9.0)
    figure, body, numbers = gather.known(bpy.context, motion)
    plan = gather.plan_of(item, figure, body, numbers.unit_scale)
    return motion, item, Actor.of(rig).machine, figure, body, plan


def test_costs_are_told_to_have_converged(capfd):
    motion, item, _machine, _figure, body, plan = _coarse()
    assert tables.convergence(motion, item.number) is None
    capfd.readouterr()
    bpy.ops.poise.controller_build()
    sweeps, change = tables.convergence(motion, item.number)
    ms = f"{1e3 * change:.2g} ms"
    assert f"Built B: {sweeps} sweeps, the last of which changed costs by {ms}" in (
        capfd.readouterr().out
    )
    # As many more change no cost by more than the rest of a falling series.
    table, _source = unpack(tables.kept(motion, item.number).data)
    assert change < 1e-4 and change == table.change
    rates = rates_of(body.chain)
    ends = table.cost == 0.0
    again = build(table.grid, rates, table.samples, table.weights, ends, tolerance=1e-12,
                  sweeps=2 * sweeps)
    assert np.abs(again.cost - table.cost).max() < 10.0 * change
    said = drawn()["POISE_PT_control_domain"]
    assert f"{sweeps} sweeps, the last one by {ms}" in said


def test_a_table_of_another_version_is_current_and_the_one_that_is_built_here(monkeypatch):
    """The file holds what Blender 4.5 with Python 3.11 and numpy 1.26 kept of `_coarse`. What it
    was built of has the same digest in every version. Costs may differ by 1e-9 s: powers, sines
    and cosines of numpy's versions differ in the last digit, and sweeps do not add to that."""
    motion, item, machine, figure, body, plan = _coarse()
    stored, source = unpack(STORED.read_bytes())
    assert source == tables.source_of(machine, body, plan)
    here = figure.build(body, plan, lambda share: None)
    for one, other in zip(stored.grid.axes, here.grid.axes, strict=True):
        assert np.abs(one.nodes - other.nodes).max() < 1e-12
    assert np.abs(stored.cost - here.cost).max() < 1e-9 and stored.sweeps == here.sweeps
    assert (stored.controls == here.controls).all()
    # Kept with a Motion object, it is what moves the figure, and nothing is built.
    tables.keep(motion, item.number, stored, source)
    assert tables.state_of(motion, item.number, source) == tables.BUILT
    tables._known.clear()
    monkeypatch.delattr(type(figure), "build")
    assert pipeline.solve(pipeline.gather(bpy.context, motion)).problems == ()
    assert tables._known[source].cost.tolist() == stored.cost.tolist()


def test_what_cannot_be_is_said_in_one_sentence():
    rig, motion = _pendulum(25)
    bpy.ops.poise.controller_add(library="A")
    bpy.ops.poise.script_add(seconds=1.0)
    item = rig.poise.controllers[0]
    item.destinations[0].values["omega"].value = np.radians(900.0)
    refused("bake", "Destination of A is omega 900°/s: it must be within its domain")
    item.destinations[0].values["omega"].value = 0.0
    item.domain[0].count = 100_000
    refused("controller_build", "Table of A is 100000 x 21 states .* GB .* would fit into 2 GB")
    item.domain[0].count = 30
    low, high = item.torques[0].low, item.torques[0].high
    item.torques[0].low, item.torques[0].high = -0.2, 0.2
    item.domain[1].low, item.domain[1].high = -2.0, 2.0
    refused("controller_build", "out of reach with torque from -0.2 N m to 0.2 N m.*would do")
    item.torques[0].low, item.torques[0].high = low, high
    rig.pose.bones["rod"]["poise_mass"] = 0.0
    refused("bake", "Mass of rod is 0.0: it must be a number above 0 kg")
    rig.pose.bones["rod"]["poise_mass"] = 1.0
    rig.poise.script[0].controller = "Z"
    refused("bake", "Line 1 of the script of .* names Z, which is none of its controllers")
    # Out of the domain: nothing is known beyond 29 degrees per second, which it soon is at.
    rig.poise.script[0].controller = "A"
    item.domain[1].low, item.domain[1].high = -0.5, 0.5
    rig.pose.bones["rod"].rotation_euler.x = np.radians(-60.0)
    bpy.context.view_layer.update()
    bpy.ops.poise.start_set()
    found = pipeline.solve(pipeline.gather(bpy.context, motion)).problems
    assert [p.code for p in found] == ["CONTROLLER_LEFT"] and found[0].time < 1.0


def test_torques_are_held_between_controllers(tmp_path):
    """What a muscle that holds T does while a joint turns by a is the work T a: energy says so,
    with nothing else about, while the lines last and after. Then a controller catches the rod."""
    rig, motion = _pendulum(97)
    for name in ("Torques", "Torques", "A"):
        bpy.ops.poise.controller_add(library=name)
    push, pull, _caught = rig.poise.controllers
    push.name, push.torques[0].held = "Push", 3.0
    pull.name, pull.torques[0].held = "Pull", -2.0
    for name, seconds in (("Push", 0.3), ("Pull", 0.4), ("A", 9.0)):
        bpy.ops.poise.script_add(controller=name, seconds=seconds)
    solved = pipeline.solve(pipeline.gather(bpy.context, motion))
    ran, made = solved.motion.ran, compile_figure(solved.job.body.chain.links)

    def energy(state):
        return sum(made.energy(np.sin, np.cos, state[:1], state[1:]))

    fps = bpy.context.scene.render.fps
    first, second = (next(i for i in range(len(ran.states)) if i / (2 * fps) > s - 1e-9)
                     for s in (0.25, 0.625))
    assert ran.active[first] == 0 and ran.active[second] == 1
    for row, torque in ((first, 3.0), (second, -2.0)):
        assert ran.controls[row].tolist() == [torque]
        gain = energy(ran.states[row]) - energy(ran.states[row - 3])
        turn = ran.states[row, 0] - ran.states[row - 3, 0]
        assert abs(turn) > 0.01 and gain == pytest.approx(torque * turn, abs=1e-6)
    assert _off(np.degrees(ran.states[-1]), 0.0) < 0.5
    # Built without, saved as text and read again, drawn as what it is.
    bpy.ops.poise.controller_build()
    assert TABLE.format(push.number) not in motion
    rig.poise.motion_object.poise_motion.control.controller_index = 0
    path = tmp_path / "Shove.txt"
    bpy.ops.poise.controller_export(filepath=str(path))
    assert path.read_text() == "dyn link1\nhold torque=3.0\n"
    bpy.ops.poise.controller_import(filepath=str(path))
    read = rig.poise.controllers["Shove"]
    assert read.program == push.program and read.torques[0].held == 3.0
    panels = drawn()
    assert "POISE_PT_control_domain" not in panels and "Torque" in panels["POISE_PT_control"]
    push.torques[0].held = 11.0
    refused("bake", "Push holds torque at 11 N m: set one that the muscle has, -10 N m to 10 N m")


def test_texts_are_written_as_they_are_read(tmp_path):
    rig, motion = _scripted(tmp_path)
    bpy.ops.poise.script_export(filepath=str(tmp_path / "again.txt"))
    from poise.solvers.control import texts

    again = texts.read_script((tmp_path / "again.txt").read_text())
    known = texts.read_script(SCRIPT)
    assert again.lines == known.lines
    assert again.states["link"] == pytest.approx(known.states["link"], abs=1e-4)
    path = tmp_path / "literal.txt"
    path.write_text(
        "dyn link1\nssid omega -500.0 500.0 21\nssid angle -180 170 36\nwrap angle\n"
        "torq torque -10.0 10.0 11 0.1\ndest angle=0 omega=0\n"
    )
    bpy.ops.poise.controller_import(filepath=str(path))
    item = rig.poise.controllers["literal"]
    assert [one.count for one in item.domain] == [36, 21] and item.power == 1.0
    bpy.ops.poise.controller_export(filepath=str(tmp_path / "out.txt"))
    out = texts.read_controller((tmp_path / "out.txt").read_text())
    angle = next(x for x in out.coordinates if x.name == "angle")
    assert (angle.low, angle.count, angle.wraps) == (pytest.approx(-180.0, abs=1e-4), 36, True)
    assert angle.high == pytest.approx(170.0, abs=1e-4)


ALL_FORMS = """state link -135.0,350.0
seed 3
swapcon link conB.ctab conC.ctab
sim 0.4 until angle=80.0,100.0 omega=-50.0,50.0
swapcon link conA.ctab
sim 2.0 until reached
sim 0.5
whenever link conD.ctab angle=170.0,-170.0
"""


def test_regions_and_draws_are_texts_too(tmp_path):
    rig, motion = _pendulum()
    path = tmp_path / "all.txt"
    path.write_text(ALL_FORMS)
    assert bpy.ops.poise.script_import(filepath=str(path)) == {"FINISHED"}
    settings = motion.poise_motion.control
    assert [line.until for line in settings.script] == ["REGION", "REACHED", "TIME", "WHENEVER"]
    assert settings.script[0].others == "C" and settings.seed == 3
    bpy.ops.poise.script_export(filepath=str(tmp_path / "again.txt"))
    assert (tmp_path / "again.txt").read_text() == ALL_FORMS
    path.write_text("swapcon link conA.ctab\nsim 1 until height=0,1\n")
    refused("script_import", "goes by height, which this figure has not: name angle, omega",
            filepath=str(path))


def test_a_line_goes_by_the_region_about_a_pose():
    # On its way to B, up on the left, A calls the rod back once it is hanging.
    rig, motion = _pendulum(97)
    for name in "BA":
        bpy.ops.poise.controller_add(library=name)
    rig.pose.bones["rod"].rotation_euler.x = np.radians(-90.0)
    bpy.context.view_layer.update()
    bpy.ops.poise.script_add(controller="A", seconds=1.0)
    bpy.ops.poise.script_add(controller="B", seconds=2.0, until="REGION")
    line = rig.poise.script[1]
    assert [(one.name, one.use) for one in line.region] == [("angle", True), ("omega", False)]
    hanging = float(np.mean([line.region[0].low, line.region[0].high]))
    bpy.ops.poise.script_add(controller="A", seconds=9.0)
    solved = pipeline.solve(pipeline.gather(bpy.context, motion))
    (time, number), = solved.motion.ran.entered
    row = np.searchsorted(solved.tracks.time, time)
    angle = solved.motion.ran.states[row, 0]
    assert number == 1 and abs(np.angle(np.exp(1j * (angle - hanging)))) < 0.25
    assert np.abs(np.degrees(solved.motion.ran.states[-1])).max() < 1.0
    # Without a coordinate, or the wrong way round, it says so.
    line.region[0].use = False
    refused("bake", "Line 2 of the script of .* goes by a region that nothing limits")
    line.region[1].use, line.region[1].low, line.region[1].high = True, 2.0, 1.0
    refused("bake", "Line 2 .* has a region from omega 114.6°/s to 57.3°/s")
    # In force whenever it is there.
    line.until, line.region[0].use, line.region[1].use = "WHENEVER", True, False
    active = pipeline.solve(pipeline.gather(bpy.context, motion)).motion.ran.active
    assert set(active.tolist()) == {0, 1, 2} or set(active.tolist()) == {0, 2}


def test_a_knocked_rod_comes_to_its_destination_and_its_ball_is_keyed():
    rig, motion = _pendulum(121)
    bpy.ops.poise.controller_add(library="A")
    bpy.ops.poise.script_add(seconds=10.0)
    scene = bpy.context.scene
    rig.data.bones.active = rig.data.bones["rod"]
    scene.frame_set(25)
    axle = np.array(rig.matrix_world @ rig.pose.bones["rod"].head)
    scene.cursor.location = axle + (0.3, 0.0, 1.2)
    assert bpy.ops.poise.disturbance_add(kind="BALL", speed=4.0) == {"FINISHED"}
    assert bpy.ops.poise.disturbance_add(kind="PUSH") == {"FINISHED"}
    scene.frame_set(1)
    thrown, push = motion.poise_motion.pose_timing.disturbances
    push.frame, push.force = 60.0, (0.0, 0.0, -20.0)
    solved = pipeline.solve(pipeline.gather(bpy.context, motion))
    ran = solved.motion.ran
    hit = ran.knocks[0]
    assert hit.impulse > 0.5 and hit.start == hit.end and 1.0 < hit.start < 2.0
    # The ball is where it was let go, and meets the rod in its plane.
    row = int(np.searchsorted(solved.tracks.time, 1.0))
    np.testing.assert_allclose(ran.flights[row, 0], axle + (0.3, 0.0, 1.2), atol=1e-5)
    assert np.isnan(ran.flights[row - 1]).all()
    calm = np.degrees(ran.states[:, 0])
    assert np.abs(calm[row + 4 : row + 48]).max() > 3.0  # knocked off
    assert np.abs(np.degrees(ran.states[-1])).max() < 1.0  # and there again, at rest
    before = snapshot()
    assert bpy.ops.poise.bake() == {"FINISHED"}
    ball = thrown.ball
    scene.frame_set(31)
    np.testing.assert_allclose(
        ball.matrix_world.translation, ran.flights[solved.tracks.clock.whole[30], 0], atol=1e-4
    )
    scene.frame_set(1)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert diff(before, snapshot()) == []
    # A push of what is no link is said.
    push.bone = ""
    found = pipeline.solve(pipeline.gather(bpy.context, motion)).problems
    assert [p.code for p in found] == ["NOT_KNOCKED"]


def _spin(values, time, axis, end):
    """Rate of a hinge's turn at one end of its tracks: parabola through three samples."""
    rows = slice(-3, None) if end else slice(0, 3)
    angle = np.unwrap(2.0 * np.arctan2(values[rows, 1:] @ axis, values[rows, 0]), period=2 * np.pi)
    where = time[-1] if end else time[0]
    return np.polyval(np.polyder(np.polyfit(time[rows] - where, angle, 2)), 0.0)


def _posed(rig, start, end, after, angle, frame):
    """A motion of pose timing with one target of the rod."""
    assert bpy.ops.poise.motion_add(kind="POSE_TIMING") == {"FINISHED"}
    motion = rig.poise.motion_object
    settings = motion.poise_motion
    settings.after, settings.range_mode = after, "OWN"
    settings.frame_start, settings.frame_end = start, end
    for bone in rig.pose.bones:
        compat.select_bone(bone, bone.name == "rod")
    rig.pose.bones["rod"].rotation_euler.x = np.radians(angle)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(frame)
    assert bpy.ops.poise.target_add(source="POSE") == {"FINISHED"}
    rig.pose.bones["rod"].rotation_euler.x = 0.0
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(1)
    return motion


def test_pose_timing_and_controllers_go_on_from_each_other():
    # The rod swings up to a pose on frame 13, the second motion catches it in mid-swing and
    # leads it to A; a third one takes it from there to a pose again.
    rig, first = _pendulum()
    bpy.ops.poise.motion_remove()
    poses = _posed(rig, 1, 19, None, -50.0, 25)
    poses.poise_motion.frame_end = 25
    poses.poise_motion.pose_timing.targets[0].frame = 25.0
    poses.poise_motion.pose_timing.tension = 0.2  # it comes in fast
    bpy.ops.poise.motion_add(kind="CONTROLLER")
    held = rig.poise.motion_object
    held.poise_motion.after = poses
    held.poise_motion.frame_start, held.poise_motion.frame_end = 25, 121
    bpy.ops.poise.controller_add(library="A")
    bpy.ops.poise.script_add(seconds=0.35)
    bpy.ops.poise.controller_add(library="C")
    bpy.ops.poise.script_add(seconds=9.0)
    held.poise_motion.frame_end = 40
    again = _posed(rig, 40, 80, held, 30.0, 70)
    solved = [pipeline.solve(pipeline.gather(bpy.context, m)) for m in (poses, held, again)]
    axis = np.array(solved[1].job.body.axes[0])
    for one, two in zip(solved[:-1], solved[1:], strict=True):
        ends, begins = one.tracks.turn["rod"][-1], two.tracks.turn["rod"][0]
        np.testing.assert_allclose(abs(ends @ begins), 1.0, atol=1e-12)
        families_of = [pipeline.families.family_of(s.job) for s in (one, two)]
        out = families_of[0].ends(one).spinning["rod"] @ axis
        into = families_of[1].spins(two, 0)["rod"] @ axis
        assert abs(out) > 0.3 and into == pytest.approx(out, abs=1e-9)
        # What is known exactly is what the samples say, as well as they can.
        for tracks, end, rate in ((one.tracks, True, out), (two.tracks, False, into)):
            seen = _spin(tracks.turn["rod"], tracks.time, axis, end)
            assert seen == pytest.approx(rate, rel=0.15)
    reached = solved[2].motion.motions[0].arrivals[0]
    assert np.degrees(reached.error.max()) < 0.1
    # All three are baked; each to where the one before it ends.
    for motion in (poses, held, again):
        bpy.ops.poise.motion_activate(name=motion.name)
        assert bpy.ops.poise.bake() == {"FINISHED"}
    # The one before has changed: the later ones are out of date.
    poses.poise_motion.pose_timing.tension = 0.1
    job = pipeline.gather(bpy.context, held)
    assert pipeline.digests(job) != pipeline.digests(solved[1].job)
    # One by the laws of an earlier build is out of date, and says of what.
    former = {**pipeline.digests(job), "Poise's version": digest(SOLVER_VERSION)}
    assert pipeline.changed_inputs(job, json.dumps(former)) == ["Poise's version"]


def test_states_are_drawn_as_an_image_and_to_a_file(tmp_path):
    rig, motion = _scripted(tmp_path)
    bpy.ops.poise.diagram_image(kind="STATE")
    image = bpy.data.images[f"{motion.name} Diagram"]
    pixels = np.empty(4 * image.size[0] * image.size[1], np.float32)
    image.pixels.foreach_get(pixels)
    assert np.ptp(pixels) > 0.5
    path = tmp_path / "states.svg"
    bpy.ops.poise.diagram_save(kind="STATE", filepath=str(path))
    text = path.read_text()
    assert text.count("<polyline") > 10 and ">A<" in text and "degrees/s" in text
