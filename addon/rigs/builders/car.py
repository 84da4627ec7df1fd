# SPDX-License-Identifier: GPL-3.0-or-later
"""A car: rest pose, bones, controls and bodywork. Numpy only.

Wheels hang on the root, the front ones on knuckles that are steered; the body sways on them.
Sizes of the bodywork in metres for a car as long as `REFERENCE`.
"""

from __future__ import annotations

from dataclasses import replace
from math import cos, pi, radians, sin

import numpy as np

from ...mapping.car import AXLES, TURNTABLE, WHEELS, CarFigure
from ...mapping.tracks import SIDES
from .equipment import X, Z, box
from .mechanism import Mechanism, turned
from .skeleton import BACK, UP, BoneSpec
from .surfaces import Cage, Surface, even_angles, joined

REFERENCE = 4.2  # m
MASS = 1250.0  # kg
WIDTH, WHEELBASE, TRACK, WHEEL, TYRE = 1.8, 2.5, 1.44, 0.31, 0.18
ROLL_CENTRE = 0.35
COLUMN = np.array([0.0, cos(radians(25.0)), sin(radians(25.0))])
HELM = np.array([0.36, -0.34, 0.90])  # middle of the steering wheel
RIM = 0.175  # its radius

LENGTH, WIDE, WEIGHS, STEERS = "poise_length", "poise_width", "poise_mass", "poise_steering"
"""Custom properties of a car: of the box around it, m, its mass, kg, and where it steers less than
others, how far, rad."""

CONTROLS, EQUIPMENT = "Controls", "Equipment"
MODES = {
    **dict.fromkeys(WHEELS, "XYZ"), "knuckle.L": "ZXY", "knuckle.R": "ZXY",
    "steering_wheel": "YXZ", TURNTABLE: "ZXY", **dict.fromkeys(AXLES, "XYZ"),
}
_SIGNS = {"L": 1.0, "R": -1.0}


def usual(length: float) -> CarFigure:
    """The usual car.

    Args:
        length: m.
    """
    s = length / REFERENCE
    joints = {"root": np.zeros(3), "body": Z * ROLL_CENTRE * s, "steering_wheel": HELM * s}
    for end, ahead in (("front", -0.5), ("rear", 0.5)):
        for side, sign in _SIGNS.items():
            hub = np.array([0.5 * sign * TRACK, ahead * WHEELBASE, WHEEL]) * s
            joints[f"{end}_wheel.{side}"] = hub
            if end == "front":
                joints[f"knuckle.{side}"] = hub
    return CarFigure(joints, length, WIDTH * s, COLUMN, MASS * s**3)


def car(size: float, mass: float) -> Mechanism:
    """The usual car, with its bodywork.

    Args:
        size: its length, m.
        mass: kg.
    """
    figure = replace(usual(size), mass=mass)
    return replace(skeleton(figure), surfaces={"Body": bodywork(figure)})


def skeleton(figure: CarFigure) -> Mechanism:
    """Bones and controls of a car, without a mesh.

    Args:
        figure: its rest pose.
    """
    j, size = figure.joints, figure.length
    bones: list[BoneSpec] = []

    def add(name, parent, way, collection=CONTROLS) -> None:
        deform = name not in ("master", "root")
        tail = j[name] + way * size
        bones.append(BoneSpec(name, parent, j[name], tail, UP, collection, deform=deform))

    add("root", "", 0.20 * BACK)
    add("body", "root", 0.15 * BACK)
    add("steering_wheel", "body", 0.05 * figure.column)
    for side in SIDES:
        add(f"knuckle.{side}", "root", 0.05 * BACK, EQUIPMENT)
    for wheel in WHEELS:
        carrier = wheel.replace("front_wheel", "knuckle") if wheel.startswith("front") else "root"
        add(wheel, carrier, 0.04 * BACK, EQUIPMENT)
    if TURNTABLE in j:
        add(TURNTABLE, "root", 0.05 * BACK, EQUIPMENT)
    for axle, carrier in zip(AXLES, (TURNTABLE, "root"), strict=True):
        if axle in j:
            add(axle, carrier, 0.04 * BACK, EQUIPMENT)
    numbers = {LENGTH: figure.length, WIDE: figure.width, WEIGHS: figure.mass}
    if figure.steering != CarFigure.steering:
        numbers[STEERS] = figure.steering
    return Mechanism(tuple(bones), {}, numbers, modes=MODES, shapes=_shapes(figure))


def _shapes(figure: CarFigure) -> dict[str, tuple]:
    """Controls' shapes."""
    size, none = figure.length, (0.0, 0.0, 0.0)
    table: dict[str, tuple] = {
        "root": ("root", (0.36 * size, 0.62 * size, 1.0), none),
        "body": ("box", (0.5 * figure.width, 0.5 * size, 0.16 * size), (0.0, 0.0, 0.10 * size)),
        "steering_wheel": ("circle", (0.05 * size, 1.0, 0.05 * size), none),
    }
    for wheel in WHEELS:
        hub = figure.joints[wheel]
        radius, out = 1.12 * hub[2], (np.sign(hub[0]) * 0.028 * size, 0.0, 0.0)
        table[wheel] = ("wheel", (size, radius, radius), out)
        if wheel.startswith("front"):
            bow = ("bow", (1.0, 1.3 * radius, 1.3 * radius), out)
            table[wheel.replace("front_wheel", "knuckle")] = bow
    return table


# -- bodywork ------------------------------------------------------------------

# Heights, half-widths and undersides along the car, by what lies between them.
_DECK = ((-2.07, 0.56), (-2.03, 0.66), (-1.92, 0.73), (-1.5, 0.82), (-0.92, 0.90), (0.4, 0.93),
         (1.72, 0.97), (1.94, 0.95), (2.03, 0.87), (2.07, 0.70))
_HALF = ((-2.07, 0.60), (-2.0, 0.74), (-1.85, 0.82), (-1.45, 0.865), (-0.5, 0.87), (1.3, 0.87),
         (1.75, 0.84), (1.98, 0.76), (2.07, 0.66))
_SILL = ((-2.07, 0.40), (-2.02, 0.26), (-1.85, 0.21), (0.0, 0.19), (1.85, 0.22), (2.02, 0.30),
         (2.07, 0.44))
_ROOF = ((-0.26, 1.375), (0.30, 1.445), (0.75, 1.43), (1.24, 1.355))
ARCH = WHEEL + 0.06
CABIN, FLOOR = (-0.86, 1.62), 0.34
# Pillars and windows along the belt and along the roof: (belt, roof, what begins there).
_SIDE = ((-0.90, -0.26, "paint"), (-0.76, -0.15, "windows"), (-0.40, 0.0, "windows"),
         (0.26, 0.30, "paint"), (0.36, 0.40, "windows"), (0.78, 0.75, "windows"),
         (1.16, 1.02, "paint"), (1.68, 1.24, ""))
_ROWS = ((0.0, "paint"), (0.07, "windows"), (0.35, "windows"), (0.65, "windows"), (0.91, "paint"),
         (1.0, ""))


def _along(table, y):
    """A smooth curve through the rows of a table that goes nowhere beyond them (Fritsch and
    Butland 1984)."""
    knots, values = np.array(table).T
    steps, slopes = np.diff(knots), np.diff(values) / np.diff(knots)
    first, second = slopes[:-1], slopes[1:]
    same = first * second > 0.0
    inner = np.where(same, 2.0 * first * second / np.where(same, first + second, 1.0), 0.0)
    rates = np.concatenate((slopes[:1], inner, slopes[-1:]))
    y = np.clip(y, knots[0], knots[-1])
    k = np.clip(np.searchsorted(knots, y, side="right") - 1, 0, len(knots) - 2)
    h = steps[k]
    t = (y - knots[k]) / h
    return (
        values[k] * (1.0 + 2.0 * t) * (1.0 - t) ** 2 + values[k + 1] * t * t * (3.0 - 2.0 * t)
        + h * t * (1.0 - t) * (rates[k] * (1.0 - t) - rates[k + 1] * t)
    )


def _side(y: float) -> list[tuple[float, float]]:
    """(x, z) up the left side of the bodywork, from its lower edge to that of the deck."""
    half, deck, low = (float(_along(table, y)) for table in (_HALF, _DECK, _SILL))
    off = min(abs(y - 0.5 * WHEELBASE), abs(y + 0.5 * WHEELBASE))
    if off < ARCH:
        low = max(low, WHEEL + np.sqrt(ARCH**2 - off**2))
    rows = ((0.975, 0.0), (0.99, 0.05), (1.0, 0.4), (0.99, 0.7), (0.965, 0.90), (0.90, 1.0))
    return [(half * share, low + (deck - low) * up) for share, up in rows]


def _section(y: float, cabin: bool) -> list[tuple[float, float]]:
    """(x, z) of the left half of a section, from below to the top."""
    sill, side = float(_along(_SILL, y)), _side(y)
    edge, top = side[-1]
    low = side[0][1]
    inner = 0.40 if y < 0.0 else 0.56
    inner = min(inner, 0.8 * edge)
    found = [(0.0, sill), (inner, sill - 1e-3), (inner, low), *side]
    if cabin:
        return [*found, (edge - 0.03, top - 0.005), (edge - 0.08, FLOOR), (0.0, FLOOR)]
    return [*found, *((edge * k, top + 0.035 * (1.0 - k * k)) for k in (0.7, 0.35, 0.0))]


def _shell() -> Surface:
    arch = [
        sign * 0.5 * WHEELBASE - ARCH * cos(a)
        for sign in (-1.0, 1.0) for a in np.linspace(0.0, pi, 15)
    ]
    ends = [sign * (2.07 - d) for sign in (-1.0, 1.0) for d in (0.0, 0.012, 0.03, 0.06, 0.11, 0.18)]
    stations = np.unique(np.round([*arch, *ends, *np.linspace(-0.8, 0.8, 9), 1.72], 6))
    stations = [
        (y, CABIN[0] < y < CABIN[1]) for y in stations if min(abs(y - c) for c in CABIN) > 0.02
    ]
    for y, rising in zip(CABIN, (True, False), strict=True):
        stations += [(y - 0.004, not rising), (y + 0.004, rising)]
    cage = Cage()
    rings, flags = [], []
    for y, cabin in sorted(stations):
        half = _section(y, cabin)
        points = [(x, z) for x, z in half] + [(-x, z) for x, z in half[-2:0:-1]]
        rings.append(cage.add([(x, y, z) for x, z in points], {"body": 1.0}))
        flags.append(cabin)
    count, last = len(rings[0]), len(_section(0.0, True)) - 1

    for a, b, *cabin in zip(rings[:-1], rings[1:], flags[:-1], flags[1:], strict=True):

        def material(i: int, cabin=cabin) -> str:
            k = min(i, count - 1 - i)  # the same on both sides
            if k < 3:
                return "base"
            return "base" if any(cabin) and k > last - 4 else "paint"

        cage.bridge(a, b, material)
    cage.face(rings[0][::-1], "paint")
    cage.face(rings[-1], "paint")
    return cage.surface(0)


def _greenhouse() -> Surface:
    """Windows, pillars and roof."""
    cage, across = Cage(), np.linspace(-1.0, 1.0, 9)
    weight = {"body": 1.0}

    def place(k: int, t: float, u: float) -> tuple[float, float, float]:
        """A point of column k, at a share of the height and of the width."""
        belt, roof, _what = _SIDE[k]
        edge, low = _side(belt)[-1]
        wide = edge - 0.015 + (0.60 - edge) * t + 0.025 * sin(pi * t)
        high = low - 0.01 + (float(_along(_ROOF, roof)) - low + 0.01) * t
        bulge = {0: -0.13, len(_SIDE) - 1: 0.09}.get(k, 0.0) * (1.0 - 0.45 * t)
        crown = 0.05 * t**4 * (1.0 - u * u)
        return (wide * u, belt + (roof - belt) * t + bulge * (1.0 - u * u), high + crown)

    for sign in (1.0, -1.0):
        columns = [
            cage.add([place(k, t, sign) for t, _ in _ROWS], weight) for k in range(len(_SIDE))
        ]
        for k, (a, b) in enumerate(zip(columns[:-1], columns[1:], strict=True)):
            for i in range(len(_ROWS) - 1):
                glass = _SIDE[k][2] == _ROWS[i][1] == "windows"
                quad = (a[i], b[i], b[i + 1], a[i + 1])
                cage.face(quad[:: int(sign)], "windows" if glass else "paint")
    for k, ahead in ((0, 1), (len(_SIDE) - 1, -1)):
        grid = [cage.add([place(k, t, u) for u in across], weight) for t, _ in _ROWS]
        for i, (a, b) in enumerate(zip(grid[:-1], grid[1:], strict=True)):
            for m in range(len(across) - 1):
                quad = (a[m], a[m + 1], b[m + 1], b[m])
                cage.face(quad[::-ahead], _ROWS[i][1])
    roof = [cage.add([place(k, 1.0, u) for u in across], weight) for k in range(len(_SIDE))]
    for a, b in zip(roof[:-1], roof[1:], strict=True):
        for m in range(len(across) - 1):
            cage.face((a[m], a[m + 1], b[m + 1], b[m]), "paint")
    return cage.surface(0)


def _wheel(figure: CarFigure, name: str) -> Surface:
    """Tyre and rim with spokes, which show that it rolls."""
    w = 0.5 * TYRE
    profile = [
        (-w + 0.02, 0.10), (-w + 0.005, 0.19), (-w, 0.25), (-w + 0.015, 0.295), (-w + 0.04, WHEEL),
        (w - 0.04, WHEEL), (w - 0.015, 0.295), (w, 0.25), (w - 0.003, 0.215), (w - 0.015, 0.21),
        (w - 0.03, 0.19), (w - 0.03, 0.075), (w - 0.015, 0.055),
    ]

    def spokes(i: int) -> str:
        return "rims" if i % 6 < 3 else "base"

    materials: list = ["base", *["tyres"] * 7, "rims", "rims", spokes, "rims"]
    if name.endswith("R"):
        profile, materials = [(-at, r) for at, r in profile[::-1]], materials[::-1]
    size = figure.length / REFERENCE
    scaled = [(at * size, r * size) for at, r in profile]
    return turned(figure.joints[name], X, scaled, name, materials, 30)


def _helm() -> list[Surface]:
    """The steering wheel: rim, boss and spokes."""
    bone, up = "steering_wheel", np.cross(COLUMN, -X)
    cage, tube = Cage(), even_angles(8)
    rings = []
    for a in even_angles(24):
        out = -X * cos(a) + up * sin(a)
        middle = HELM + out * RIM
        rings.append(cage.add(
            [middle + 0.016 * (out * cos(b) + COLUMN * sin(b)) for b in tube], {bone: 1.0}
        ))
    for a, b in zip(rings, rings[1:] + rings[:1], strict=True):
        cage.bridge(a, b, "base")
    frame = np.stack((X, COLUMN, up), axis=1)
    parts = [cage.surface(0), box(HELM, (0.10, 0.04, 0.09), bone, "edge", frame)]
    for x, z, wide, high in ((0.09, 0.0, 0.16, 0.03), (-0.09, 0.0, 0.16, 0.03),
                             (0.0, -0.09, 0.03, 0.16)):
        at = HELM + frame @ np.array((x, 0.0, z))
        parts.append(box(at, (wide, 0.015, high), bone, "base", frame))
    return parts


def _turn(yaw: float, pitch: float = 0.0) -> np.ndarray:
    c, s, cp, sp = cos(yaw), sin(yaw), cos(pitch), sin(pitch)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.array(
        [[1, 0, 0], [0, cp, -sp], [0, sp, cp]]
    )


def _seam(y: float, sign: float) -> Surface:
    """The gap of a door, as a dark line up the side."""
    cage, columns = Cage(), []
    for at in (y - 0.005, y + 0.005):
        points = [(sign * (x + 0.002), at, z) for x, z in _side(at)]
        columns.append(cage.add(points, {"body": 1.0}))
    a, b = columns
    for i in range(len(a) - 1):
        cage.face((a[i], b[i], b[i + 1], a[i + 1])[:: int(sign)], "base")
    return replace(cage.surface(0), smooth=[False] * (len(a) - 1))


def _details() -> list[Surface]:
    """Lamps, grille, plates, mirrors, handles, seats."""
    found: list[Surface] = []

    def put(place, size, material, axes=None, top=1.0, bevel=0.2) -> None:
        found.append(box(np.array(place), size, "body", material, axes, top, bevel))

    put((0.0, -2.045, 0.50), (0.80, 0.08, 0.10), "base")
    put((0.0, -2.03, 0.33), (1.0, 0.08, 0.10), "base")
    put((0.0, -2.085, 0.415), (0.46, 0.02, 0.10), "lamps", bevel=0.05)
    put((0.0, 2.072, 0.62), (0.46, 0.02, 0.10), "lamps", bevel=0.05)
    put((0.0, 2.03, 0.38), (1.05, 0.10, 0.10), "base")
    put((0.0, -0.66, 0.80), (1.40, 0.34, 0.20), "base", top=0.85)
    put((0.0, 1.02, 0.48), (1.25, 0.46, 0.18), "seats")
    put((0.0, 1.36, 0.78), (1.25, 0.16, 0.56), "seats", _turn(0.0, -0.2))
    for sign in (1.0, -1.0):
        put((0.635 * sign, -1.975, 0.585), (0.30, 0.13, 0.10), "lamps", _turn(0.46 * sign))
        put((0.68 * sign, 1.972, 0.76), (0.22, 0.12, 0.15), "rear_lamps", _turn(-0.7 * sign))
        put((0.845 * sign, -0.60, 0.975), (0.10, 0.09, 0.10), "paint", top=0.85)
        put((0.36 * sign, 0.22, 0.48), (0.50, 0.50, 0.16), "seats")
        put((0.36 * sign, 0.48, 0.80), (0.48, 0.15, 0.62), "seats", _turn(0.0, -0.2), 0.85)
        put((0.36 * sign, 0.56, 1.18), (0.26, 0.09, 0.16), "seats", _turn(0.0, -0.2))
        for y in (0.20, 1.04):
            put((0.862 * sign, y, 0.80), (0.03, 0.15, 0.025), "edge")
        found.extend(_seam(y, sign) for y in (-0.78, 0.31, 1.20 - 0.33))
    return found


def bodywork(figure: CarFigure) -> Surface:
    """The whole car.

    Args:
        figure: the usual car, at its size.
    """
    size = figure.length / REFERENCE
    fixed = joined([_shell(), _greenhouse(), *_helm(), *_details()])
    fixed = replace(fixed, points=fixed.points * size)
    return joined([fixed, *(_wheel(figure, wheel) for wheel in WHEELS)])
