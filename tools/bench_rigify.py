# SPDX-License-Identifier: GPL-3.0-or-later
"""Keying a Rigify human by its own controls.

Runs where the folder with such rigs is (POISE_RIGS, or beside the repository).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import bpy
import numpy as np
from bench_rows import Row, side_by_side

RIGS = Path(
    os.environ.get("POISE_RIGS", Path(__file__).resolve().parents[2] / "shared" / "rigs")
)
# bake_action takes the same time for every frame, ours less the more there are.
FRAMES, PLAIN_FRAMES = 10_000, 200


def rows() -> list[Row]:
    """Bakes by the controls of a Rigify human, if there is one."""
    path = RIGS / "rigify_human.blend"
    if not path.is_file():
        print(f"no {path}: left out", file=sys.stderr)
        return []
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return _rigify_rows(bpy.data.objects["rig"])


def _rigify_rows(rig: bpy.types.Object) -> list[Row]:
    from bpy_extras import anim_utils
    from poise.addon import baking, compat, pipeline
    from poise.addon.bake import BakeOptions, bake_tracks, clear_bake
    from poise.addon.rigs import control_rig, own_controls, retarget

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
    own = control_rig.own_controls_of(controls)
    travel = solved.tracks.at_frames()
    driven = {one.bone for one in own.driven}
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

    done = []

    def back() -> None:
        while done:
            clear_bake(context, rig, done.pop())
            control_rig.connect(controls, rig)

    def ours(verify: bool) -> None:
        control_rig.disconnect(controls, rig)
        targets = retarget.posed_targets(controls, travel, 1.0, own)
        keyed, moved = retarget.control_tracks(controls, rig, own, travel, targets)
        result = bake_tracks(
            context, rig, *keyed, BakeOptions(verify=verify), axes=np.array([1.0, 0.0, 0.0, 0.0]),
            held=own_controls.held(rig, own), checked=moved,
        )
        done.append(result.baked)

    found = []
    job = f"bake {len(driven)} controls of a Rigify human: time a frame"
    for selected, verify, goal in ((False, False, 300.0), (True, False, None), (False, True, None)):
        times = side_by_side(lambda s=selected: plain(s), lambda v=verify: ours(v), 5, 2, back)
        back()
        what = "its controls" if selected else f"all {len(rig.pose.bones)} bones"
        note = "16 frames verified" if verify else "every frame"
        found.append(
            Row(
                job, f"bake_action, {what}", times[0] / PLAIN_FRAMES, times[1] / FRAMES,
                goal=goal, note=f"{note}, {FRAMES} of them to {PLAIN_FRAMES}",
            )
        )
    return found
