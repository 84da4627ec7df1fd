# SPDX-License-Identifier: GPL-3.0-or-later
"""Skis, poles and a bicycle as an animator may bring them along, for demo scenes.

They are modelled as things come from elsewhere: lying on the ground, along X, in
their own sizes.
"""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

WOOD, BAMBOO, LEATHER = (0.42, 0.20, 0.07), (0.74, 0.60, 0.30), (0.10, 0.05, 0.03)
GREEN, CREAM, STEEL = (0.02, 0.20, 0.13), (0.85, 0.80, 0.66), (0.45, 0.47, 0.50)

WHEEL, FAT = 0.345, 0.026  # radius of a wheel and of its tyre, metres


def _object(name: str, data, colour):
    import bpy
    from poise.addon.shots import objects

    data.materials.append(objects.plain_material(name, colour))
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def _mesh(name: str, points, faces, colour):
    import bpy

    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, p)) for p in points], [], faces)
    mesh.polygons.foreach_set("use_smooth", [True] * len(faces))
    mesh.set_sharp_from_angle(angle=0.6)
    return _object(name, mesh, colour)


def _tubes(name: str, lines, radius: float, colour):
    """A curve with a round section along each line."""
    import bpy

    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions, curve.bevel_depth, curve.use_fill_caps = "3D", radius, True
    for line in lines:
        spline = curve.splines.new("POLY")
        spline.points.add(len(line) - 1)
        for point, place in zip(spline.points, line, strict=True):
            point.co = (*place, 1.0)
    return _object(name, curve, colour)


def ski(name: str = "Old Ski"):
    """A long wooden ski along X, its tip bent up, a leather strap over its middle."""
    import bpy

    stations = np.concatenate([np.linspace(-1.05, 0.75, 12), np.linspace(0.80, 1.12, 9)])
    points, faces = [], []
    for x in stations:
        rise = 0.42 * max(0.0, x - 0.75) ** 1.6
        half = 0.044 if x < 0.95 else 0.044 * max(1.0 - ((x - 0.95) / 0.18) ** 2, 0.05)
        thick = 0.012 + 0.016 * max(0.0, 1.0 - abs(x) / 0.6)
        points += [(x, y, rise + z) for y, z in ((half, 0), (half, thick), (-half, thick),
                                                 (-half, 0))]
    for i in range(len(stations) - 1):
        a = 4 * i
        faces += [(a + k, a + (k + 1) % 4, a + 4 + (k + 1) % 4, a + 4 + k) for k in range(4)]
    faces += [(3, 2, 1, 0), tuple(range(len(points) - 4, len(points)))]
    made = _mesh(name, points, faces, WOOD)
    strap = _tubes(f"{name} Strap", [[(0.02, 0.05 * cos(a), 0.02 + 0.09 * sin(a))
                                      for a in np.linspace(0.0, pi, 13)]], 0.008, LEATHER)
    strap.parent = made
    bpy.context.view_layer.update()
    return made


def pole(name: str = "Bamboo Pole"):
    """A pole of bamboo along X with a wide basket near its end."""
    made = _tubes(name, [[(x, 0.0, 0.0) for x in (0.0, 1.3)]], 0.011, BAMBOO)
    ring = [(1.2, 0.075 * cos(a), 0.075 * sin(a)) for a in np.linspace(0.0, 2.0 * pi, 25)]
    spokes = [[(1.2, 0.0, 0.0), ring[k]] for k in (0, 6, 12, 18)]
    basket = _tubes(f"{name} Basket", [ring, *spokes], 0.005, LEATHER)
    basket.parent = made
    return made


def wheel(name: str):
    """A wheel with a fat tyre, standing, its axle along X."""
    angles, section = np.linspace(0, 2 * pi, 48, False), np.linspace(0, 2 * pi, 10, False)
    radius = WHEEL - FAT
    points = [(FAT * cos(b), (radius + FAT * sin(b)) * cos(a), (radius + FAT * sin(b)) * sin(a))
              for a in angles for b in section]
    faces = [(10 * i + j, 10 * i + (j + 1) % 10, 10 * ((i + 1) % 48) + (j + 1) % 10,
              10 * ((i + 1) % 48) + j) for i in range(48) for j in range(10)]
    made = _mesh(name, points, faces, CREAM)
    turns = np.linspace(0, 2 * pi, 14, False)
    spokes = [[(0.0, 0.0, 0.0), (0.0, radius * cos(a), radius * sin(a))] for a in turns]
    inner = _tubes(f"{name} Spokes", spokes, 0.0025, STEEL)
    hub = _tubes(f"{name} Hub", [[(-0.05, 0, 0), (0.05, 0, 0)]], 0.02, STEEL)
    inner.parent = hub.parent = made
    return made


def bicycle() -> dict[str, object]:
    """A step-through bicycle that stands at the origin and faces -Y; role -> object."""
    bracket, rear, front = (0, 0, 0.30), (0, 0.46, WHEEL), (0, -0.62, WHEEL)
    seat, low, high = (0, 0.21, 0.84), (0, -0.44, 0.66), (0, -0.40, 0.80)
    frame = _tubes("Frame", [
        [bracket, seat], [low, (0, -0.20, 0.40), bracket],
        [high, (0, -0.10, 0.58), (0, 0.11, 0.56)],
        [low, high],
        *[[bracket, (x, 0.12, 0.31), (x, *rear[1:])] for x in (-0.055, 0.055)],
        *[[(0, 0.17, 0.74), (x, 0.24, 0.66), (x, *rear[1:])] for x in (-0.055, 0.055)],
    ], 0.017, GREEN)
    saddle = _mesh("Saddle", [(0, -0.02, 0.92), (0.035, 0.08, 0.92), (0.09, 0.30, 0.94),
                              (-0.09, 0.30, 0.94), (-0.035, 0.08, 0.92), (0, 0.20, 0.85)],
                   [(0, 1, 2, 3, 4), (1, 0, 5), (2, 1, 5), (3, 2, 5), (4, 3, 5), (0, 4, 5)],
                   LEATHER)
    saddle.parent = frame
    fork = _tubes("Fork", [
        [low, (0.05, -0.455, 0.64), (0.055, *front[1:])],
        [low, (-0.05, -0.455, 0.64), (-0.055, *front[1:])],
        [low, (0, -0.375, 0.92), (0, -0.43, 0.97)],
        [(0.27, -0.22, 0.99), (0.22, -0.36, 1.0), (0, -0.43, 0.97), (-0.22, -0.36, 1.0),
         (-0.27, -0.22, 0.99)],
    ], 0.014, STEEL)
    parts = {"bike": frame, "fork": fork}
    for role, axle in (("front_wheel", front), ("rear_wheel", rear)):
        parts[role] = wheel(role.replace("_", " ").title())
        parts[role].location = axle
    crank = _tubes("Crank", [
        [(-0.07, 0, 0), (0.07, 0, 0)], [(0.07, 0, 0), (0.085, -0.17, 0)],
        [(-0.07, 0, 0), (-0.085, 0.17, 0)],
        [(-0.05, 0.09 * cos(a), 0.09 * sin(a)) for a in np.linspace(0, 2 * pi, 33)],
    ], 0.010, STEEL)
    crank.location = bracket
    parts["crank"] = crank
    return parts
