# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers in Blender: figures, lists, building and storing, scripts, bakes, diagrams."""

import bpy
import numpy as np
import pytest
from poise.addon import compat, pipeline
from poise.addon.families.controlling import tables
from poise.addon.settings.control import TABLE
from poise.solvers.control import pendulum
from poise.solvers.control.run import Command, run
from snapshot import diff, snapshot

pytestmark = pytest.mark.usefixtures("scene")

# Figure 15 of van de Panne, Fiume and Vranesic (1990).
SCRIPT = """state link -135,350           # starting state
swapcon link conB.ctab       # invoke controller B
sim 0.4                       # simulate 0.4 seconds
swapcon link conA.ctab
sim 0.7
swapcon link conD.ctab
sim 0.6
swapcon link conE.ctab
sim 0.4
swapcon link conC.ctab
sim 0.4
swapcon link conF.ctab
sim 0.7
"""
FRAMES = 73


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


def test_tables_are_kept_and_built_anew_only_when_they_have_to_be(tmp_path):
    rig, motion = _scripted(tmp_path)
    bpy.ops.poise.controller_build()
    first = {item.number: bytes(motion[TABLE.format(item.number)]["data"].to_list().__repr__(),
                                "ascii")
             for item in rig.poise.controllers}  # fmt: skip
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
