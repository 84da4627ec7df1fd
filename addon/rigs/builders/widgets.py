# SPDX-License-Identifier: GPL-3.0-or-later
"""Wire shapes of the controls, shared by all characters of a file.

The shape objects are in no collection and no scene: the bones that use them
keep them, they are never rendered, and nothing clutters the outliner.
"""

from __future__ import annotations

from math import cos, pi, sin

import bpy
import numpy as np
from mathutils import Matrix

from .skeleton import Skeleton

# Shapes change with this number, so that files of older versions keep theirs.
VERSION = 1

PREFIX = "WGT-poise-"


def remove_unused() -> None:
    """Remove the shapes that no bone wears any more."""
    for obj in list(bpy.data.objects):
        if obj.name.startswith(PREFIX) and obj.users == 0:
            mesh = obj.data
            bpy.data.objects.remove(obj)
            if mesh is not None and mesh.users == 0:
                bpy.data.meshes.remove(mesh)


def _loop(points) -> tuple[list, list]:
    count = len(points)
    return list(points), [(i, (i + 1) % count) for i in range(count)]


def _merged(*parts) -> tuple[list, list]:
    points: list = []
    edges: list = []
    for more, links in parts:
        offset = len(points)
        points.extend(more)
        edges.extend((a + offset, b + offset) for a, b in links)
    return points, edges


def _circle(x: int, y: int, count: int = 32, radius: float = 1.0) -> tuple[list, list]:
    points = np.zeros((count, 3))
    turns = np.arange(count) * (2.0 * pi / count)
    points[:, x], points[:, y] = radius * np.cos(turns), radius * np.sin(turns)
    return _loop(points.tolist())


def _rounded_square(x: int, y: int) -> tuple[list, list]:
    turns = np.arange(32) * (2.0 * pi / 32)
    points = np.zeros((32, 3))
    for axis, wave in ((x, np.cos(turns)), (y, np.sin(turns))):
        points[:, axis] = np.sign(wave) * np.abs(wave) ** 0.45
    return _loop(points.tolist())


def _arrow(start: float, end: float, width: float) -> tuple[list, list]:
    """Outline of an arrow along -Y."""
    return _loop(
        [
            (-width, -start, 0.0),
            (-width, -end + 2.0 * width, 0.0),
            (-2.2 * width, -end + 2.0 * width, 0.0),
            (0.0, -end, 0.0),
            (2.2 * width, -end + 2.0 * width, 0.0),
            (width, -end + 2.0 * width, 0.0),
            (width, -start, 0.0),
        ]
    )


def _slider(nose: float) -> tuple[list, list]:
    """Outline of a ski or board in XY, 1 long and wide each way, its nose along -Y."""
    front = [(cos(a), -1.0 + nose - nose * sin(a), 0.0) for a in np.linspace(pi, 0.0, 9)]
    back = [(cos(a), 1.0 - nose * 0.5 + 0.5 * nose * sin(a), 0.0) for a in np.linspace(0.0, pi, 7)]
    return _loop(front + back)


def _box() -> tuple[list, list]:
    points = [(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]
    edges = [
        (i, k)
        for i in range(8)
        for k in range(i + 1, 8)
        if sum(a != b for a, b in zip(points[i], points[k], strict=True)) == 1
    ]
    return points, edges


def _rim_mark() -> tuple[list, list]:
    """A mark on the rim of a wheel, so that its turning can be seen."""
    return _loop([(0.0, 0.09, 0.86), (0.0, -0.09, 0.86), (0.0, 0.0, 0.99)])


def _diamond() -> tuple[list, list]:
    points = [
        (1.0, 0.0, 0.0),
        (-1.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.0, -1.0, 0.0),
        (0.0, 0.0, 1.0),
        (0.0, 0.0, -1.0),
    ]
    edges = [(i, k) for i in range(6) for k in range(i + 1, 6) if i // 2 != k // 2]
    return points, edges


def _bow() -> tuple[list, list]:
    """A bow over +Z, across Y, with a double line."""
    outer = [(0.0, cos(a), sin(a)) for a in np.linspace(0.25, pi - 0.25, 13)]
    inner = [(0.0, 0.86 * cos(a), 0.86 * sin(a)) for a in np.linspace(pi - 0.3, 0.3, 13)]
    return _loop(outer + inner)


SHAPES = {
    "circle": lambda: _circle(0, 2),
    "belt": lambda: _rounded_square(0, 2),
    "master": lambda: _merged(_circle(0, 1, 48), _arrow(1.04, 1.3, 0.07)),
    "root": lambda: _merged(_rounded_square(0, 1), _arrow(0.72, 1.35, 0.1)),
    "ski": lambda: _slider(0.12),
    "board": lambda: _slider(0.25),
    "box": _box,
    "diamond": _diamond,
    "wheel": lambda: _merged(_circle(1, 2, 48), _rim_mark()),
    "ball": lambda: _merged(_circle(0, 1, 20), _circle(1, 2, 20), _circle(0, 2, 20)),
    "bow": _bow,
}


def widget(name: str) -> bpy.types.Object:
    """The shared shape object, made on first use.

    Args:
        name: one of SHAPES.
    """
    key = f"{name} {VERSION}"
    for obj in bpy.data.objects:
        if obj.library is None and obj.get("poise_widget") == key:
            return obj
    points, edges = SHAPES[name]()
    mesh = bpy.data.meshes.new(f"{PREFIX}{name}")
    mesh.from_pydata(points, edges, [])
    obj = bpy.data.objects.new(f"{PREFIX}{name}", mesh)
    obj["poise_widget"] = key
    return obj


def dress(armature: bpy.types.Object, skeleton: Skeleton) -> None:
    """Give the controls their shapes.

    Args:
        armature: with the skeleton's bones.
        skeleton: sizes and facings.
    """
    h = skeleton.height
    table = skeleton.build.widgets(skeleton)
    if "gaze" in armature.pose.bones:  # only rigs with eyes have it
        table["gaze"] = ("circle", (0.035, 1.0, 0.018), (0, 0.06, 0), None)
    for name, (shape, sizes, offset, frame) in table.items():
        bone = armature.pose.bones[name]
        bone.custom_shape = widget(shape)
        bone.use_custom_shape_bone_size = False
        bone.custom_shape_scale_xyz = [size * h for size in sizes]
        bone.custom_shape_wire_width = 1.5
        where = Matrix.Translation([x * h for x in offset])
        if frame is not None:
            turn = bone.bone.matrix_local.to_3x3().inverted() @ Matrix(frame.tolist())
            where = turn.to_4x4() @ where
            bone.custom_shape_rotation_euler = turn.to_euler()
        bone.custom_shape_translation = where.translation
