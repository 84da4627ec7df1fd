# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmark rows of keys and bakes: arrays to F-curves, and a solved skier onto its rig."""

from __future__ import annotations

import bpy
import numpy as np
from bench_rows import Row, side_by_side

BONES, CHANNELS, FRAMES = 60, 7, 1000
PATHS = (("location", 3), ("rotation_quaternion", 4))


def _rig() -> bpy.types.Object:
    """Sixty bones side by side."""
    data = bpy.data.armatures.new("Sixty")
    rig = bpy.data.objects.new("Sixty", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for i in range(BONES):
        bone = data.edit_bones.new(f"bone {i}")
        bone.head, bone.tail = (i, 0.0, 0.0), (i, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def _values() -> np.ndarray:
    """(bones, channels, frames) of something that looks like motion."""
    rng = np.random.default_rng(1)
    t = np.arange(FRAMES) / 24.0
    phase = rng.uniform(0.0, 6.0, (BONES, CHANNELS, 1))
    frequency = rng.uniform(0.2, 1.5, (BONES, CHANNELS, 1))
    return np.sin(2.0 * np.pi * frequency * t + phase)


def _fresh(rig: bpy.types.Object):
    """A new action on the rig; returns its channelbag. Old ones are left for `_tidy`."""
    from poise.addon import compat

    action = bpy.data.actions.new("Keys")
    slot = compat.new_slot(action, rig.name)
    rig.animation_data_create().action = action
    rig.animation_data.action_slot = slot
    return compat.ensure_channelbag(action, slot)


def _tidy() -> None:
    """Free the actions, which is no part of what is measured."""
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)


def _keyframe_insert(rig, values) -> None:
    _fresh(rig)
    bones = [rig.pose.bones[f"bone {i}"] for i in range(BONES)]
    for bone in bones:
        bone.rotation_mode = "QUATERNION"
    for frame in range(FRAMES):
        for i, bone in enumerate(bones):
            bone.location = values[i, :3, frame]
            bone.rotation_quaternion = values[i, 3:, frame]
            bone.keyframe_insert("location", frame=frame, group=bone.name)
            bone.keyframe_insert("rotation_quaternion", frame=frame, group=bone.name)


def _points_insert(rig, values) -> None:
    bag = _fresh(rig)
    for i in range(BONES):
        group = bag.groups.new(f"bone {i}")
        channel = 0
        for path, width in PATHS:
            for index in range(width):
                curve = bag.fcurves.new(f'pose.bones["bone {i}"].{path}', index=index)
                curve.group = group
                insert = curve.keyframe_points.insert
                for frame, value in enumerate(values[i, channel].tolist()):
                    insert(frame, value, options={"FAST"}, keyframe_type="GENERATED")
                curve.update()
                channel += 1


def _channels(values) -> list:
    from poise.addon.keyframes import Channel

    frames = np.arange(float(FRAMES))
    columns = [(path, index) for path, width in PATHS for index in range(width)]
    return [
        Channel(f'pose.bones["bone {i}"].{path}', index, f"bone {i}", frames, values[i, column])
        for i in range(BONES)
        for column, (path, index) in enumerate(columns)
    ]


def _ours(rig, channels) -> None:
    from poise.addon.keyframes import write_channels

    write_channels(_fresh(rig), channels)


def _assert_written(rig, channels) -> None:
    """Everything the contract asks of a key, after the timing."""
    from poise.addon import compat

    data = rig.animation_data
    curves = compat.action_fcurves(data.action, data.action_slot)
    assert len(curves) == len(channels)
    for curve, channel in zip(curves, channels, strict=True):
        keys = curve.keyframe_points
        points = np.empty(2 * len(keys), np.float32)
        keys.foreach_get("co", points)
        assert np.array_equal(points[0::2], channel.frames)
        assert np.abs(points[1::2] - channel.values).max() < 1e-6
        for name, number in (("type", 5), ("interpolation", 1)):
            numbers = np.empty(len(keys), np.int32)
            keys.foreach_get(name, numbers)
            assert (numbers == number).all()
        assert keys[3].type == "GENERATED" and keys[3].interpolation == "LINEAR"
        assert curve.group.name == channel.group
        assert abs(curve.evaluate(7.0) - channel.values[7]) < 1e-6


def _skier_tracks(figure, frames: int):
    """A skier's solved turns as role tracks."""
    from math import radians

    from poise.addon.mapping.skier import SkierStyle, map_skier
    from poise.solvers.turning import TurningSettings, solve_turning

    settings = TurningSettings(
        n_frames=frames, fps=24.0, speed=8.0, frequency=0.5, sharpness=radians(30.0)
    )
    return map_skier(solve_turning(settings), figure, SkierStyle())


def rows() -> list[Row]:
    """Measure keys and bakes."""
    return _key_rows() + _bake_rows()


def _key_rows() -> list[Row]:
    rig, values = _rig(), _values()
    channels = _channels(values)
    job = f"write {BONES} bones x {CHANNELS} channels x {FRAMES} frames"
    # Types, interpolation and groups are part of every way.
    points = side_by_side(
        lambda: _points_insert(rig, values), lambda: _ours(rig, channels), 7, 3, _tidy
    )
    _assert_written(rig, channels)
    insert = side_by_side(
        lambda: _keyframe_insert(rig, values), lambda: _ours(rig, channels), 7, 1, _tidy
    )
    _assert_written(rig, channels)
    _tidy()
    return [
        Row(job, "keyframe_insert", *insert, goal=250.0, note="values verified"),
        Row(job, "keyframe_points.insert", *points, goal=17.0, note="values verified"),
    ]


def _bake_rows() -> list[Row]:
    from bpy_extras import anim_utils
    from poise.addon import compat
    from poise.addon.bake import BakeOptions, Keyed, bake_tracks, clear_bake
    from poise.addon.rigs import characters

    context = bpy.context
    rig = characters.build_character(context, "SKIER")
    roles = characters.ROLE_BONES["SKIER"]
    tracks = _skier_tracks(characters.figure_of(rig), FRAMES)
    plain_options = anim_utils.BakeOptions(
        only_selected=True, do_pose=True, do_object=False, do_visual_keying=True,
        do_constraint_clear=False, do_parents_clear=False, do_clean=False, do_location=True,
        do_rotation=True, do_scale=False, do_bbone=False, do_custom_props=False,
    )
    for bone in rig.pose.bones:
        compat.select_bone(bone, bone.name in roles.values())
    # What bake_action reads is the same motion, played by the rig.
    played = bake_tracks(context, Keyed(rig, roles, tracks, BakeOptions(verify=False)))
    moved = played.baked.action, compat.slot_by_handle(
        played.baked.action, played.baked.record.slot
    )

    def plain() -> None:
        action = anim_utils.bake_action(
            rig, action=None, frames=range(1, FRAMES + 1), bake_options=plain_options
        )
        rig.animation_data.action, rig.animation_data.action_slot = moved
        bpy.data.actions.remove(action)

    def ours(**options) -> None:
        result = bake_tracks(context, Keyed(rig, roles, tracks, BakeOptions(**options)))
        clear_bake(context, rig, result.baked)
        rig.animation_data.action, rig.animation_data.action_slot = moved

    per_frame = 1.0 / FRAMES
    job = f"bake {played.bones} controls of the skier ({len(rig.pose.bones)} bones): time a frame"
    dense = side_by_side(plain, lambda: ours(verify=False), 5, 2)
    sparse = side_by_side(plain, lambda: ours(verify=False, key_mode="SPARSE"), 5, 1)
    verified = side_by_side(plain, lambda: ours(verify=True), 5, 1)
    return [
        Row(job, "bake_action", *(t * per_frame for t in dense), goal=6.0, note="every frame"),
        Row(job, "bake_action", *(t * per_frame for t in sparse), note="sparse"),
        Row(job, "bake_action", *(t * per_frame for t in verified),
            note="every frame, 16 frames verified"),
        _accuracy_row(rig, roles, moved),
    ]


def _accuracy_row(rig, roles, moved) -> Row:
    """Largest error of the evaluated curves on subframes, worst channel against worst channel."""
    from poise.addon import compat
    from poise.addon.bake import BakeOptions, Keyed, bake_tracks, clear_bake
    from poise.addon.rigs import characters

    frames = 240
    tracks = _skier_tracks(characters.figure_of(rig), frames)
    fine = _fine_channels(rig, roles, tracks)
    errors, keys = {}, {}
    for mode in ("DENSE", "SPARSE"):
        result = bake_tracks(
            bpy.context,
            Keyed(rig, roles, tracks, BakeOptions(start_frame=0, key_mode=mode, verify=False)),
        )
        slot = compat.slot_by_handle(result.baked.action, result.baked.record.slot)
        found = {
            (c.data_path, c.array_index): c
            for c in compat.action_fcurves(result.baked.action, slot)
        }
        errors[mode] = {
            channel: max(
                abs(found[channel].evaluate(i / tracks.clock.per_frame) - value)
                for i, value in enumerate(values.tolist())
            )
            for channel, values in fine.items()
        }
        keys[mode] = result.keys
        clear_bake(bpy.context, rig, result.baked)
    rig.animation_data.action, rig.animation_data.action_slot = moved
    better = sum(
        errors["SPARSE"][c] <= errors["DENSE"][c] + 2e-6 * (1.0 + np.abs(fine[c]).max())
        for c in fine
    )
    return Row(
        "largest error of a curve between whole frames", "a linear key on every frame",
        max(errors["DENSE"].values()), max(errors["SPARSE"].values()), unit="m or 1", goal=1.0,
        note=f"sparse: {keys['SPARSE']} keys for {keys['DENSE']}, "
        f"{better} of {len(fine)} channels no worse",
    )


def _fine_channels(rig, roles, tracks) -> dict[tuple[str, int], np.ndarray]:
    """Channels at every solver step: what the curves are meant to be."""
    from poise.addon.rigs.pose.channels import bone_path
    from poise.addon.rigs.pose.frames import armature_frames, rest_axes
    from poise.addon.rigs.pose.solver import RigSolver

    solver = RigSolver(
        rig, roles,
        armature_frames(rig.name, np.array(rig.matrix_world, dtype=float)[None]),
        1.0, rest_axes(rig, roles),
    )
    return {
        (f"{bone_path(bone.bone)}.{name}", index): values[:, index]
        for bone in solver.solve(tracks.position, tracks.rotation)
        for name, values in bone.properties()
        for index in range(values.shape[1])
    }
