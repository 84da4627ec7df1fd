# SPDX-License-Identifier: GPL-3.0-or-later
"""Keying the bones of a rig that Poise did not make."""

import bpy
import mannequin
from bench_rows import Row, side_by_side

FRAMES = 241
LONG, SHORT = 10_001, 1_001


def _set_up(frames: int):
    """A mannequin on skis whose controls are baked; its Motion object."""
    rig = mannequin.make()
    bpy.ops.poise.rig_setup(kind="SKIER")
    motion = rig.poise.motion_object
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = 1, frames
    bpy.ops.poise.bake()
    return rig, motion


def _solved(motion):
    from poise.addon import pipeline

    return pipeline.solve(pipeline.gather(bpy.context, motion))


def rows() -> list[Row]:
    """Bake to Bones against Blender's own bake of the same bones, and its growth."""
    from bpy_extras import anim_utils
    from poise.addon import baking
    from poise.addon.rigs.controls import control_rig
    from poise.addon.steps import finish

    context = bpy.context
    rig, motion = _set_up(FRAMES)
    controls = motion.poise_motion.character
    solved = _solved(motion)
    plain_options = anim_utils.BakeOptions(
        only_selected=False, do_pose=True, do_object=False, do_visual_keying=True,
        do_constraint_clear=False, do_parents_clear=False, do_clean=False, do_location=True,
        do_rotation=True, do_scale=False, do_bbone=False, do_custom_props=False,
    )

    def plain() -> None:
        action = anim_utils.bake_action(
            rig, action=None, frames=range(1, FRAMES + 1), bake_options=plain_options
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

    per_frame = 1.0 / FRAMES
    count = len(control_rig.followers(controls))
    job = f"bake {count} bones of a mannequin on skis: time a frame"
    quick = side_by_side(plain, lambda: ours(False), 5, 3, back)
    checked = side_by_side(plain, lambda: ours(True), 5, 1, back)
    return [
        Row(job, "bake_action", *(t * per_frame for t in quick), goal=6.0, note="FK, every frame"),
        Row(job, "bake_action", *(t * per_frame for t in checked), note="16 frames verified"),
        _growth_row(),
    ]


def _growth_row() -> Row:
    """Time a frame of a long bake against that of a short one: 1 if it is linear."""
    times = []
    for frames in (SHORT, LONG):
        rig, motion = _set_up(frames)
        solved = _solved(motion)
        from poise.addon import baking

        def bake(motion=motion, solved=solved) -> None:
            baking.bake_to_bones(bpy.context, motion, solved, "OVERWRITE")

        times.append(side_by_side(bake, bake, 2)[1] / frames)
        bpy.context.view_layer.objects.active = rig
        bpy.ops.poise.rig_remove()
    return Row(
        f"bake to bones, {LONG:,} frames: time a frame", f"{SHORT:,} frames", *times, goal=0.5,
        note="0.5 or more: no worse than linear by much",
    )
