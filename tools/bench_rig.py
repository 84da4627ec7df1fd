# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmark rows of bakes onto rigs of other people: a Rigify human, by its own controls.

Runs where the folder with such rigs is (POISE_RIGS, or beside the repository).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import bpy
from bench_rows import Row, side_by_side

RIGS = Path(
    os.environ.get("POISE_RIGS", Path(__file__).resolve().parents[2] / "shared" / "rigs")
)
# bake_action takes the same time for every frame, ours less the more there are.
FRAMES, PLAIN_FRAMES = 10000, 200


def rows() -> list[Row]:
    """Measure bakes onto a Rigify human, if there is one."""
    path = RIGS / "rigify_human.blend"
    if not path.is_file():
        print(f"no {path}: left out", file=sys.stderr)
        return []
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return _rigify_rows(bpy.data.objects["rig"])


def _rigify_rows(rig: bpy.types.Object) -> list[Row]:
    from bpy_extras import anim_utils
    from poise.addon import baking, compat, pipeline
    from poise.addon.rigs import control_rig

    context = bpy.context
    for obj in context.selected_objects:
        obj.select_set(False)
    rig.select_set(True)
    context.view_layer.objects.active = rig
    bpy.ops.poise.rig_setup(kind="SKIER")
    motion = rig.poise.motion_object
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = 1, FRAMES
    solved = pipeline.solve(pipeline.gather(context, motion))
    baking.bake(context, motion, solved)
    # What bake_action reads is the same motion: the rig's controls follow Poise's.
    controls = motion.poise_motion.character
    keyed = {one.bone for one in control_rig.own_controls_of(controls).driven}
    for bone in rig.pose.bones:
        compat.select_bone(bone, bone.name in keyed)

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

    def ours() -> None:
        baking.bake_to_bones(context, motion, solved)

    def between() -> None:
        baking.clear_rig(context, motion)

    ours()
    found = []
    for selected in (True, False):
        times = side_by_side(lambda s=selected: plain(s), ours, 3, 2, between)
        what = f"its {len(keyed)} controls" if selected else f"all {len(rig.pose.bones)} bones"
        found.append(
            Row(
                f"bake {len(keyed)} controls of a Rigify human: time a frame",
                f"bake_action, {what}", times[0] / PLAIN_FRAMES, times[1] / FRAMES,
                goal=300.0, note=f"{FRAMES} frames, 16 verified; bake_action {PLAIN_FRAMES}",
            )
        )
    return found
