# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures among obstacles, their torques as a picture, and where they begin."""

import bpy
import numpy as np
import pytest
from figures_help import block, pendulum, solve
from operators_help import refused
from poise.addon.families.controlling import gather
from poise.addon.families.controlling.view import torques_of
from poise.operators.control import POISE_OT_start_drag
from snapshot import diff, snapshot

pytestmark = pytest.mark.usefixtures("scene")


def _posed(rig, degrees):
    rig.pose.bones["rod"].rotation_euler.x = np.radians(degrees)
    bpy.context.view_layer.update()


def _around(rig, motion, control):
    """Rest at 80° from -30°, past a block that stands from 19° to 41°."""
    home = np.array(rig.matrix_world @ rig.pose.bones["rod"].head)
    thing = block(home + (0.6, -0.1, 0.3), home + (0.8, 0.1, 0.5))
    control.obstacles = bpy.data.collections["Obstacles"]
    _posed(rig, 80.0)
    bpy.ops.poise.controller_add(name="Up")
    _posed(rig, -30.0)
    bpy.ops.poise.start_set()
    bpy.ops.poise.script_add(seconds=9.0)
    return thing


def test_a_pendulum_goes_round_a_block_the_other_way():
    """Baked, the rod's tip comes to rest at 80° having turned clockwise, and no sub-step has a
    point of it within 55 mm of the block: clearance is 60 mm, and the ball's radius 52 mm."""
    rig, motion, control = pendulum()
    thing = _around(rig, motion, control)
    solved = solve(motion)
    assert solved.problems == ()
    assert np.degrees(solved.motion.ran.states[-1]) == pytest.approx([-280.0, 0.0], abs=1.0)
    bpy.ops.poise.bake()
    corners = np.array([thing.matrix_world @ v.co for v in thing.data.vertices])
    low, high = corners.min(axis=0), corners.max(axis=0)
    for step in range(0, 72 * 4):
        bpy.context.scene.frame_set(1 + step // 4, subframe=step % 4 / 4)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        bone = seen.pose.bones["rod"]
        ends = [np.array(seen.matrix_world @ end) for end in (bone.head, bone.tail)]
        points = ends[0] + np.linspace(0.0, 1.0, 101)[:, None] * (ends[1] - ends[0])
        off = np.linalg.norm(np.maximum(np.maximum(low - points, points - high), 0.0), axis=1)
        assert off.min() > 0.055


def test_without_the_block_it_goes_straight_and_the_table_is_that_of_before():
    rig, motion, control = pendulum(49)
    thing = _around(rig, motion, control)
    figure, body, _numbers = gather.known(bpy.context, motion)
    among = figure.built_of(body)
    thing.location.y = 1.0  # behind the plane
    bpy.context.view_layer.update()
    assert np.degrees(solve(motion).motion.ran.states[-1, 0]) == pytest.approx(80.0, abs=1.0)
    body = gather.known(bpy.context, motion)[1]
    control.obstacles = None
    alone = gather.known(bpy.context, motion)[1]
    assert figure.built_of(body) == figure.built_of(alone) == alone.alone
    assert set(among) - set(alone.alone) == {"things", "clearance", "laws"}


def test_what_touches_says_so_and_what_is_inside_is_refused():
    rig, motion, control = pendulum(25)
    _around(rig, motion, control)
    control.script.clear()  # it falls freely, away from the block, and starts within it
    _posed(rig, 35.0)
    bpy.ops.poise.start_set()
    found = solve(motion).problems
    assert [p.code for p in found] == ["OBSTACLE_TOUCHED"] and found[0].time == 0.0
    assert "rod and what hangs on it come too near to Block" in found[0].message
    bpy.ops.poise.controller_add(name="Inside")
    bpy.ops.poise.script_add(seconds=1.0)
    refused("controller_build", "Destination of Inside is inside Block: it must be where no link")


def test_torques_are_drawn_beside_the_cost(tmp_path):
    rig, motion, control = pendulum(49)
    for name in ("A", "B"):
        bpy.ops.poise.controller_add(library=name)
        bpy.ops.poise.script_add(seconds=1.0)
    run = solve(motion).motion
    made = torques_of(run)
    assert len(made.axes) == 4 and made.width > made.height
    # Swung up to 0° from the right below: the rod is lifted, red; from above it is held, blue.
    path = tmp_path / "torques.svg"
    bpy.ops.poise.diagram_save(kind="TORQUE", filepath=str(path))
    text = path.read_text()
    assert ">A: torque, N m<" in text and ">B: cost, s<" in text and ">-10<" in text
    bpy.ops.poise.diagram_image(kind="TORQUE")
    image = bpy.data.images[f"{motion.name} Diagram"]
    pixels = np.empty(4 * image.size[0] * image.size[1], np.float32)
    image.pixels.foreach_get(pixels)
    shades = pixels.reshape(-1, 4)
    assert ((shades[:, 0] - shades[:, 2]) > 0.5).any()
    assert ((shades[:, 2] - shades[:, 0]) > 0.4).any()


def test_figures_without_torques_say_so():
    _rig, _motion, _control = pendulum(13)
    refused("diagram_save", "No controller of the script has torques", kind="TORQUE",
            filepath="//torques.svg")


def test_the_start_is_turned_by_numbers():
    rig, motion, _control = pendulum(13)
    assert bpy.ops.poise.start_drag(link=1, angle=np.radians(40.0)) == {"FINISHED"}
    assert bpy.ops.poise.start_drag(link=1, speed=2.0) == {"FINISHED"}
    first = solve(motion).motion.ran.states[0]
    assert first == pytest.approx([np.radians(40.0), 2.0], abs=1e-6)
    refused("start_drag", "Link 2 is none of Pendulum: it has 1", link=2)


def test_a_link_points_to_where_the_mouse_is():
    """A ray that looks along Y at a place 50° up, from the rod's joint."""
    rig, motion, _control = pendulum(13)
    figure, body, numbers = gather.known(bpy.context, motion)
    state = gather.start_of(motion, figure, body, numbers.unit_scale)
    joint = figure.lines(body, state)[0, 0]
    assert joint == pytest.approx(np.array(rig.matrix_world @ rig.pose.bones["rod"].head), abs=1e-6)
    way = np.array((np.cos(np.radians(50.0)), 0.0, np.sin(np.radians(50.0))))
    eye = joint + 0.7 * way + (0.0, -4.0, 0.0)
    found = figure.pointed(body, state, 0, eye, np.array((0.0, 1.0, 0.0)))
    assert np.degrees(found[0]) == pytest.approx(50.0, abs=1e-6) and found[1] == state[1]
    assert figure.pointed(body, state, 0, eye, np.array((1.0, 0.0, 0.0))) is None


class _Event:
    def __init__(self, kind, value="PRESS"):
        self.type, self.value, self.mouse_x, self.mouse_y = kind, value, 0, 0


class _Dragging:
    """The operator as a window would run it, without one."""

    def __init__(self, motion):
        figure, body, numbers = gather.known(bpy.context, motion)
        self._known = motion, figure, body, numbers
        self._state = gather.start_of(motion, figure, body, numbers.unit_scale)
        self._before = [(v.name, v.value, v.free) for v in motion.poise_motion.control.start]
        self._held, self.way = None, 0.0
        self.joint = figure.lines(body, self._state)[0, 0]

    _set, _begin = POISE_OT_start_drag._set, POISE_OT_start_drag._begin
    modal = POISE_OT_start_drag.modal

    def _end(self, context, result):
        return result

    def _nearest(self, event):
        return 0

    def _ray(self, event):
        c, s = np.cos(self.way), np.sin(self.way)
        return self.joint + (c, -3.0, s), np.array((0.0, 1.0, 0.0))

    def execute(self, context):
        return {"FINISHED"}


@pytest.mark.parametrize("ends", ["ESC", "LEFTMOUSE"])
def test_dragging_changes_the_motion_and_esc_gives_back(ends):
    rig, motion, control = pendulum(13)
    _posed(rig, 20.0)
    bpy.ops.poise.start_set()
    before, first = snapshot(), solve(motion).motion.ran.states[-1]
    drag = _Dragging(motion)
    drag.modal(bpy.context, _Event("LEFTMOUSE"))
    for degrees in (30.0, 60.0, 75.0):
        drag.way = np.radians(degrees)
        assert drag.modal(bpy.context, _Event("MOUSEMOVE")) == {"RUNNING_MODAL"}
    drag.modal(bpy.context, _Event("WHEELUPMOUSE"))
    ran = solve(motion).motion.ran.states
    assert np.degrees(ran[0]) == pytest.approx([75.0, 15.0], abs=1e-3)
    assert np.abs(ran[-1] - first).max() > 0.1
    done = drag.modal(bpy.context, _Event(ends, "RELEASE"))
    if ends == "ESC":
        assert done == {"CANCELLED"} and diff(before, snapshot()) == []
    else:
        assert done == {"FINISHED"} and drag.angle == pytest.approx(np.radians(75.0))
