# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions on paths and by keyed speeds, for tests of whatever these lead."""

from __future__ import annotations

import bpy
from operators_help import (
    activate,
    load,
)


def key_speed(rig, *keys):
    for frame, speed in keys:
        rig.poise.gait.speed = speed
        rig.poise.gait.keyframe_insert("speed", frame=frame)


def path(*points, cyclic=False):
    curve = bpy.data.curves.new("Way", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    spline.points.add(len(points) - 1)
    for point, place in zip(spline.points, points, strict=True):
        point.co = (*place, 1.0)
    spline.use_cyclic_u = cyclic
    obj = bpy.data.objects.new("Way", curve)
    bpy.context.collection.objects.link(obj)
    return obj


def link(obj, collection=None):
    (collection or bpy.context.scene.collection).objects.link(obj)
    return obj


def curve(points, kind="BEZIER", cyclic=False, name="Way"):
    """A curve object of one spline."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    add_spline(data, points, kind, cyclic)
    return link(bpy.data.objects.new(name, data))


def add_spline(data, points, kind="BEZIER", cyclic=False):
    spline = data.splines.new(kind)
    if kind == "BEZIER":
        spline.bezier_points.add(len(points) - 1)
        for point, place in zip(spline.bezier_points, points, strict=True):
            point.co = place
            point.handle_left_type = point.handle_right_type = "AUTO"
    else:
        spline.points.add(len(points) - 1)
        for point, place in zip(spline.points, points, strict=True):
            point.co = (*place, 1.0)
        if kind == "NURBS":
            spline.order_u = 3
            spline.use_endpoint_u = True
    spline.use_cyclic_u = cyclic
    return spline


def follower(points=((0, 0, 0), (4, -20, 0), (0, -40, 0)), kind="SKIER", **settings):
    """A character on a path; returns armature, Motion object and curve."""
    rig, motion = load(kind)
    rig.poise.motion = "PATH"
    way = curve(points)
    rig.poise.path.curve = way
    for name, value in settings.items():
        setattr(rig.poise.path, name, value)
    activate(rig)
    return rig, motion, way
