# SPDX-License-Identifier: GPL-3.0-or-later
"""Keying a Rigify human by its own controls.

Runs where the folder with such rigs is (POISE_RIGS, or beside the repository).
"""

from __future__ import annotations

import sys

import bpy
from bench_rows import Row, side_by_side
from rig_files import FOLDER, bring_in

# bake_action takes the same time for every frame, ours less the more there are.
FRAMES, PLAIN_FRAMES = 10_000, 200


def rows() -> list[Row]:
    """Bakes by the controls of a Rigify human, if there is one."""
    path = FOLDER / "rigify_human.blend"
    if not path.is_file():
        print(f"no {path}: left out", file=sys.stderr)
        return []
    return _rigify_rows(bring_in(path.name))


def _rigify_rows(rig: bpy.types.Object) -> list[Row]:
    from bpy_extras import anim_utils
    from poise.addon import baking, compat, pipeline
    from poise.addon.rigs.controls import control_rig
    from poise.addon.steps import finish

    context = bpy.context
    bpy.ops.poise.rig_setup(kind="SKIER")
    motion = rig.poise.motion_object
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = 1, FRAMES
    # What bake_action reads is the same motion: the rig's controls follow Poise's.
    bpy.ops.poise.bake()
    solved = pipeline.solve(pipeline.gather(context, motion))
    controls = motion.poise_motion.character
    driven = {one.bone for one in control_rig.own_controls_of(controls).driven}
    for bone in rig.pose.bones:
        compat.select_bone(bone, bone.name in driven)

    def plain(selected: bool) -> None:
        options = anim_utils.BakeOptions(
            only_selected=selected, do_pose=True, do_object=False, do_visual_keying=True,
            do_constraint_clear=False, do_parents_clear=False, do_clean=False,
            do_location=True, do_rotation=True, do_scale=False, do_bbone=False,
            do_custom_props=False,
        )
        action = anim_utils.bake_action(
            rig, action=None, frames=range(1, PLAIN_FRAMES + 1), bake_options=options
        )
        rig.animation_data.action = None
        bpy.data.actions.remove(action)

    def back() -> None:
        baking.clear_rig(context, motion)
        context.view_layer.update()

    def ours(verify: bool) -> None:
        onto = finish(baking.prepare_bones(context, motion, solved))
        baking.check_bones(context, motion, onto)
        baking.bake_to_bones(context, motion, solved, onto=onto, verify=verify)

    def clicked() -> None:
        bpy.ops.poise.bake_to_bones()

    found = []
    job = f"bake {len(driven)} controls of a Rigify human: time a frame"
    lengths = f"{FRAMES} frames to {PLAIN_FRAMES}"
    for call, selected, goal, note in (
        (lambda: ours(False), True, 300.0, "checked, not verified"),
        (lambda: ours(False), False, None, "checked, not verified"),
        (lambda: ours(True), True, None, "16 frames verified"),
        (clicked, True, None, "the whole operator, which solves the motion too"),
    ):
        times = side_by_side(lambda s=selected: plain(s), call, 5, 2, back)
        back()
        what = "the same" if selected else f"all {len(rig.pose.bones)} bones"
        found.append(
            Row(
                job, f"bake_action, {what}", times[0] / PLAIN_FRAMES, times[1] / FRAMES,
                goal=goal, note=f"{note}; {lengths}",
            )
        )
    return found
