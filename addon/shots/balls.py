# SPDX-License-Identifier: GPL-3.0-or-later
"""Balls that are thrown at limbs, or dropped on them, as objects that are keyed with the bake."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np

from .. import compat, keyframes, motions
from ..families import view_of
from ..families.base import Solved
from . import objects

COLOUR = (0.80, 0.30, 0.02)

_KEY = "poise_ball"


def show(scene: bpy.types.Scene, motion: bpy.types.Object, solved: Solved) -> None:
    """Make or renew an object for each ball that flies, and remove those of others.

    An object keeps the mesh that the animator has given it.

    Args:
        scene: the operator's scene.
        motion: the Motion object.
        solved: its solved motion.
    """
    balls = view_of(solved.job).balls(solved)
    items = [d for d in motion.poise_motion.pose_timing.disturbances if d.kind == "BALL"]
    for number, item in enumerate(items):
        flies = number < len(balls) and np.isfinite(balls[number].places).any()
        ball = _own(motion, item)
        if not flies:
            objects.remove(ball)
            item.ball = None
            continue
        if not objects.in_scene(ball, scene):
            ball = bpy.data.objects.new(f"{motion.name} {item.name}", _sphere())
            objects.collection_for(scene, motion).objects.link(ball)
            item.ball, ball[_KEY] = ball, True
        unit = solved.job.numbers.unit_scale
        ball.scale = (balls[number].radius / unit,) * 3
        _key(ball, balls[number].places / unit, solved.job.start_frame)


def remove(motion: bpy.types.Object, items=None) -> int:
    """Remove the objects of a motion's balls.

    Args:
        motion: the Motion object.
        items: disturbances whose balls go; None for all.

    Returns:
        How many were removed.
    """
    every = motion.poise_motion.pose_timing.disturbances
    count = 0
    for item in every if items is None else items:
        count += objects.remove(_own(motion, item))
        item.property_unset("ball")
    return count


def _own(motion: bpy.types.Object, item) -> bpy.types.Object | None:
    """The object of a disturbance; not that of a motion which this one is a copy of, and no
    other that a script has put in its place."""
    ball = item.ball
    if ball is None or _KEY not in ball:
        return None

    def of(other: bpy.types.Object) -> bpy.types.Object | None:
        listed = other.poise_motion.pose_timing.disturbances
        return ball if any(each.ball == ball for each in listed) else None

    return motions.own(motion, of)


def _sphere() -> bpy.types.Mesh:
    """A mesh of radius 1."""
    mesh = bpy.data.meshes.new("Ball")
    form = bmesh.new()
    bmesh.ops.create_uvsphere(form, u_segments=32, v_segments=16, radius=1.0)
    form.to_mesh(mesh)
    form.free()
    mesh.shade_smooth()
    mesh.materials.append(objects.plain_material("Ball", COLOUR))
    return mesh


def _key(ball: bpy.types.Object, places: np.ndarray, start_frame: int) -> None:
    """Key a ball on every frame, in an action of its own; it is hidden until it is let go.

    Args:
        ball: the object.
        places: (n, 3) Blender units, nan before it is let go.
        start_frame: frame of the first row.
    """
    data = ball.animation_data_create()
    if data.action is None:
        data.action = bpy.data.actions.new(ball.name)
    if data.action_slot is None:
        data.action_slot = compat.new_slot(data.action, ball.name)
    frames = start_frame + np.arange(len(places), dtype=float)
    flies = np.isfinite(places).all(axis=1)
    channels = [
        keyframes.Channel("location", i, "Object Transforms", frames[flies], places[flies, i])
        for i in range(3)
    ]
    channels += [
        keyframes.Channel(path, 0, "Object Transforms", frames, (~flies).astype(float))
        for path in ("hide_viewport", "hide_render")
    ]
    keyframes.write_channels(compat.ensure_channelbag(data.action, data.action_slot), channels)
