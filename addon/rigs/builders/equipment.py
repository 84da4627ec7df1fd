# SPDX-License-Identifier: GPL-3.0-or-later
"""Skis, poles, snowboard and their bindings. Numpy only.

Sizes in metres for a stature of `REFERENCE`, scaled with the figure.
"""

from __future__ import annotations

from math import cos, pi, radians, sin, sqrt

import numpy as np

from .body import boot_section, mix, ramp
from .skeleton import ANKLE_BALL, REFERENCE, Skeleton, unit
from .surfaces import Cage, Surface, even_angles, joined, ring

X, Y, Z = np.eye(3)

# Shares of stature.
SKI_LENGTH, BOARD_LENGTH = 0.94, 0.88
# Beyond the widest points, in front and behind.
SKI_TIP, SKI_END, BOARD_TIP = 0.059, 0.025, 0.107
# Widths in metres for a stature of REFERENCE; they grow with its square root,
# as they do in a maker's range of lengths.
SKI_WAIST, SKI_SHOVEL, SKI_TAIL = 0.074, 0.124, 0.108
BOARD_WAIST, BOARD_NOSE = 0.250, 0.294


def _half_width(
    at: float, length: float, front: float, waist: float, rear: float, nose: float, tail: float
) -> float:
    """Half-width of a ski or board `at` metres behind its middle.

    A sidecut of constant curvature between the widest points, rounded off
    beyond them.
    """
    half = 0.5 * length
    start, end = -half + nose, half - tail
    if at < start:
        u = (start - at) / nose
        return 0.5 * front * sqrt(max(0.0, 1.0 - u**2.2))
    if at > end:
        u = (at - end) / tail
        return 0.5 * rear * sqrt(max(0.0, 1.0 - u**3.0))
    u = (at - start) / (end - start)
    mean = front + (rear - front) * u
    widest = 0.5 * (front + rear)
    return 0.5 * (mean - (widest - waist) * 4.0 * u * (1.0 - u))


def slider(
    origin: np.ndarray,
    stations: np.ndarray,
    half_width,
    rise,
    thickness,
    bone: str,
    top_material,
    columns: int,
    base_material: str = "base",
    side_material: str = "edge",
) -> Surface:
    """A ski or a board: sections across, along Y.

    Args:
        origin: (3,) middle of the running surface.
        stations: metres behind the origin.
        half_width: station -> metres.
        rise: station -> height of the base.
        thickness: station -> metres.
        bone: what moves it.
        top_material: (station, column) -> material of the top.
        columns: faces across the top.
        base_material: material of the running surface.
        side_material: material of the sides.
    """
    cage = Cage()
    bevel = 0.0035
    rings = []
    for at in stations:
        width, low, thick = max(half_width(at), 0.0015), rise(at), thickness(at)
        inset = max(width - bevel, 0.5 * width)
        across = np.linspace(-inset, inset, columns + 1)
        # Anticlockwise seen from behind: base from left to right, then the top back.
        section = [(width, low), (-width, low), (-width, low + 0.55 * thick)]
        section += [(x, low + thick) for x in across]
        section += [(width, low + 0.55 * thick)]
        rings.append(cage.add([origin + X * x + Y * at + Z * z for x, z in section], {bone: 1.0}))
    count = len(rings[0])
    for k, (a, b) in enumerate(zip(rings[:-1], rings[1:], strict=True)):
        middle = 0.5 * (stations[k] + stations[k + 1])
        for i in range(count):
            m = (i + 1) % count
            if i == 0:
                material = base_material
            elif i in (1, count - 1):
                material = side_material
            else:
                material = top_material(middle, i - 2)
            cage.face((a[i], b[i], b[m], a[m]), material)
    cage.face(rings[0], side_material)
    cage.face(rings[-1][::-1], side_material)
    return cage.surface(0)


def box(
    centre,
    size,
    bone,
    material: str,
    axes: np.ndarray | None = None,
    top: float = 1.0,
    bevel: float = 0.12,
) -> Surface:
    """A box with bevelled edges.

    Args:
        centre: (3,) metres.
        size: (3,) metres along the axes.
        bone: what moves it.
        material: material key.
        axes: (3, 3) columns; None for the world's.
        top: size of the top in share of the bottom.
        bevel: share of the smallest size.
    """
    axes = np.eye(3) if axes is None else axes
    half = 0.5 * np.asarray(size, dtype=float)
    cut = bevel * min(size)
    cage = Cage()
    rings = []
    for z, inset in ((-half[2], cut), (-half[2] + cut, 0.0), (half[2] - cut, 0.0), (half[2], cut)):
        share = 1.0 + (top - 1.0) * (z / half[2] + 1.0) * 0.5
        x, y = half[0] * share - inset, half[1] * share - inset
        corners = [
            (x - cut, y),
            (-x + cut, y),
            (-x, y - cut),
            (-x, -y + cut),
            (-x + cut, -y),
            (x - cut, -y),
            (x, -y + cut),
            (x, y - cut),
        ]
        rings.append(
            cage.add([centre + axes @ np.array([a, b, z]) for a, b in corners], {bone: 1.0})
        )
    for a, b in zip(rings[:-1], rings[1:], strict=True):
        cage.bridge(a, b, material)
    cage.face(rings[0][::-1], material)
    cage.face(rings[-1], material)
    return cage.surface(0)


def ski(skeleton: Skeleton, side: str) -> Surface:
    """A ski with its binding, the running surface at z = 0."""
    return joined([_bare_ski(skeleton, side), *_ski_binding(skeleton, side)])


def telemark_ski(skeleton: Skeleton, side: str) -> Surface:
    """A ski whose binding leaves the heel free, the running surface at z = 0."""
    return joined([_bare_ski(skeleton, side), *_free_binding(skeleton, side)])


def _bare_ski(skeleton: Skeleton, side: str) -> Surface:
    size = skeleton.height / REFERENCE
    width = sqrt(size)
    length = skeleton.equipment["ski_length"]
    bone = f"DEF-ski.{side}"
    # The middle of the boot, not the ankle, is near the middle of the ski.
    middle = skeleton.joints[f"ski.{side}"] - Y * 0.055 * size
    half = 0.5 * length
    nose, tail = SKI_TIP * skeleton.height, SKI_END * skeleton.height

    def rise(at: float) -> float:
        front = max(0.0, (-half + 0.24 * size - at) / (0.24 * size))
        back = max(0.0, (at - half + 0.10 * size) / (0.10 * size))
        return size * (0.085 * front**2.0 + 0.016 * back**2.0)

    def thickness(at: float) -> float:
        return size * (0.006 + 0.012 * ramp(abs(at), half * 0.98, 0.12 * half))

    def top(at: float, column: int) -> str:
        if -0.86 * half < at < -0.78 * half or 0.80 * half < at < 0.86 * half:
            return "trim"
        return "base" if column == 1 and -0.78 * half < at < 0.8 * half else "equipment"

    stations = np.concatenate(
        [
            -half + nose * (1.0 - np.cos(np.linspace(0.0, 0.5 * pi, 7))),
            np.linspace(-half + nose, half - tail, 22)[1:-1],
            half - tail * (1.0 - np.sin(np.linspace(0.0, 0.5 * pi, 4))),
        ]
    )
    return slider(
        middle,
        stations,
        lambda at: _half_width(
            at,
            length,
            SKI_SHOVEL * width,
            skeleton.equipment["ski_width"],
            SKI_TAIL * width,
            nose,
            tail,
        ),
        rise,
        thickness,
        bone,
        top,
        3,
    )


SOLE = (0.0775 - 0.052) * REFERENCE  # height of a ski boot's sole over the running surface
TOE, HEEL = 0.2127, 0.098  # ends of the boot, ahead of and behind the ankle


def _on_ski(skeleton: Skeleton, side: str, y: float, z: float, size, material: str, **more):
    """A box on a ski, `y` behind the ankle and `z` over the running surface; see `box`."""
    scale = skeleton.height / REFERENCE
    place = skeleton.joints[f"ski.{side}"] + (Y * y + Z * z) * scale
    return box(place, np.array(size) * scale, f"DEF-ski.{side}", material, **more)


def _free_binding(skeleton: Skeleton, side: str) -> list[Surface]:
    def part(y, z, dimensions, material, **more) -> Surface:
        return _on_ski(skeleton, side, y, z, dimensions, material, **more)

    thick = SOLE - 0.032
    return [
        part(-0.058, 0.024, (0.062, 0.44, 0.016), "base", top=0.94),
        part(-0.170, 0.032 + 0.5 * thick, (0.070, 0.10, thick), "edge"),
        part(HEEL - 0.04, 0.032 + 0.5 * thick, (0.060, 0.08, thick - 0.001), "trim", top=0.85),
        part(-TOE - 0.022, 0.050, (0.084, 0.040, 0.038), "base", top=0.80),
        part(-TOE - 0.002, SOLE + 0.020, (0.088, 0.020, 0.012), "trim"),
        part(-0.190, SOLE + 0.006, (0.116, 0.014, 0.030), "edge"),
        _cable(skeleton, side),
    ]


def _ski_binding(skeleton: Skeleton, side: str) -> list[Surface]:
    def part(y, z, dimensions, material, **more) -> Surface:
        return _on_ski(skeleton, side, y, z, dimensions, material, **more)

    toe, heel, sole = TOE, HEEL, SOLE
    tilt = radians(18.0)
    lever = np.stack(
        [X, np.array([0.0, cos(tilt), sin(tilt)]), np.array([0.0, -sin(tilt), cos(tilt)])], axis=1
    )
    return [
        part(-0.058, 0.024, (0.062, 0.44, 0.016), "base", top=0.94),
        part(-toe + 0.045, 0.5 * (0.032 + sole), (0.066, 0.06, sole - 0.032), "edge"),
        part(heel - 0.05, 0.5 * (0.032 + sole), (0.066, 0.07, sole - 0.032), "edge"),
        part(-toe - 0.030, 0.052, (0.062, 0.066, 0.050), "base", top=0.72),
        part(-toe - 0.004, sole + 0.022, (0.074, 0.018, 0.014), "trim"),
        part(heel + 0.026, 0.062, (0.060, 0.058, 0.066), "base", top=0.8),
        part(heel + 0.050, 0.098, (0.040, 0.078, 0.012), "trim", axes=lever),
    ]


def _cable(skeleton: Skeleton, side: str) -> Surface:
    """The cable of a free heel: from the ski around the heel of the boot, which it goes with."""
    size, sole = skeleton.height / REFERENCE, SOLE
    origin = skeleton.joints[f"ski.{side}"]
    ball = ANKLE_BALL * REFERENCE
    half = [
        (0.058, -ball - 0.030, 0.010, 0.0035),
        (0.060, -ball + 0.010, 0.012, 0.0035),
        (0.060, -ball + 0.028, 0.013, 0.0035),
        (0.060, -ball + 0.032, 0.014, 0.0075),
        (0.059, -0.040, 0.018, 0.0075),
        (0.058, -0.036, 0.018, 0.0035),
        (0.054, 0.030, 0.024, 0.0035),
        (0.044, 0.080, 0.028, 0.0035),
        (0.022, 0.101, 0.030, 0.0035),
    ]
    path = half + [(0.0, 0.105, 0.030, 0.0035)] + [(-x, y, z, r) for x, y, z, r in half[::-1]]
    places = np.array([origin + np.array((x, y, sole + z)) * size for x, y, z, _r in path])
    ski_bone, foot = {f"DEF-ski.{side}": 1.0}, {f"DEF-foot.{side}": 1.0}
    cage = Cage()
    rings = []
    for i, (_x, y, _z, radius) in enumerate(path):
        ahead = unit(places[min(i + 1, len(path) - 1)] - places[max(i - 1, 0)])
        side_way = unit(np.cross(Z, ahead))
        points = ring(
            places[i], side_way, np.cross(ahead, side_way), *[radius * size] * 3, even_angles(6)
        )
        rings.append(cage.add(points, mix(ski_bone, foot, ramp(y, -ball - 0.02, -ball + 0.02))))
    cage.tube(rings, "edge", start="edge", end="edge")
    return cage.surface(0)


def pole(skeleton: Skeleton, side: str) -> Surface:
    """A pole with grip, strap, basket and tip; the tip is exactly on the joint."""
    size = skeleton.height / REFERENCE
    grip, tip = skeleton.joints[f"pole.{side}"], skeleton.joints[f"pole_tip.{side}"]
    length = float(np.linalg.norm(tip - grip))
    down = unit(tip - grip)
    bone = {f"DEF-pole.{side}": 1.0}
    x = unit(np.cross(down, Y))
    y = np.cross(down, x)

    def turned_part(profile, count: int, material: str) -> Surface:
        """A body of revolution: (distance from the grip, radius), metres."""
        cage = Cage()
        rings = [
            cage.add(ring(grip + down * at, x, y, radius, radius, radius, even_angles(count)), bone)
            for at, radius in profile
        ]
        cage.tube(rings, material, start=material, end=material)
        return cage.surface(0)

    handle = [
        (-0.064, 0.008),
        (-0.060, 0.0155),
        (-0.048, 0.0185),
        (-0.040, 0.0165),
        (-0.030, 0.0145),
        (0.050, 0.0140),
        (0.066, 0.0165),
        (0.074, 0.0165),
        (0.080, 0.0100),
    ]
    scaled = [(at * size, radius * size) for at, radius in handle]
    basket = [
        (-0.064, 0.010),
        (-0.060, 0.026),
        (-0.052, 0.042),
        (-0.048, 0.044),
        (-0.048, 0.040),
        (-0.054, 0.012),
    ]
    shaft = [
        (0.06 * size, 0.0095 * size),
        (0.6 * length, 0.0088 * size),
        (length - 0.05 * size, 0.0070 * size),
    ]
    return joined(
        [
            turned_part(scaled, 12, "base"),
            turned_part(shaft, 12, "equipment"),
            turned_part([(length + at * size, radius * size) for at, radius in basket], 12, "base"),
            turned_part(
                [
                    (length - 0.052 * size, 0.0062 * size),
                    (length - 0.016 * size, 0.0055 * size),
                    (length, 0.0004 * size),
                ],
                8,
                "edge",
            ),
        ]
    )


def board(skeleton: Skeleton) -> Surface:
    """A snowboard with two bindings, the running surface at z = 0."""
    size = skeleton.height / REFERENCE
    width = sqrt(size)
    length = skeleton.equipment["board_length"]
    half = 0.5 * length
    nose = BOARD_TIP * skeleton.height

    def rise(at: float) -> float:
        end = max(0.0, (abs(at) - half + 0.26 * size) / (0.26 * size))
        return 0.085 * size * end**2.0

    def thickness(at: float) -> float:
        return size * (0.007 + 0.004 * ramp(abs(at), half, 0.3 * half))

    def top(at: float, column: int) -> str:
        if abs(at) > 0.86 * half:
            return "base"
        if abs(abs(at) - 0.80 * half) < 0.06 * half:
            return "trim"
        return "trim" if column in (2, 3) else "equipment"

    ends = nose * (1.0 - np.cos(np.linspace(0.0, 0.5 * pi, 9)))
    stations = np.concatenate(
        [-half + ends, np.linspace(-half + nose, half - nose, 22)[1:-1], (half - ends)[::-1]]
    )
    parts = [
        slider(
            skeleton.joints["board"],
            stations,
            lambda at: _half_width(
                at,
                length,
                BOARD_NOSE * width,
                skeleton.equipment["board_width"],
                BOARD_NOSE * width,
                nose,
                nose,
            ),
            rise,
            thickness,
            "DEF-board",
            top,
            6,
        )
    ]
    for side in ("L", "R"):
        parts += _board_binding(skeleton, side, size)
    return joined(parts)


def _band(rows: list[np.ndarray], bone: str, material: str) -> Surface:
    """A strip of sections of four points each."""
    cage = Cage()
    rings = [cage.add(row, {bone: 1.0}) for row in rows]
    for a, b in zip(rings[:-1], rings[1:], strict=True):
        cage.bridge(b, a, material)
    cage.face(rings[0], material)
    cage.face(rings[-1][::-1], material)
    return cage.surface(0)


def _board_binding(skeleton: Skeleton, side: str, size: float) -> list[Surface]:
    bone = "DEF-board"
    h = skeleton.height
    ankle = skeleton.joints[f"foot.{side}"]
    axes = skeleton.facing[f"foot.{side}"]
    left, behind, up = axes.T
    ground = ankle - up * ankle[2]

    def at(y: float, z: float) -> np.ndarray:
        return ground + (behind * y + up * z) * size

    parts = [
        box(at(-0.040, 0.020), np.array([0.118, 0.236, 0.018]) * size, bone, "base", axes, 0.95),
    ]

    def around(
        level: float,
        start: float,
        end: float,
        rx: float,
        front: float,
        back: float,
        tall: float,
        thick: float,
        count: int,
        slope: float,
        material: str,
    ) -> Surface:
        """A band around the boot between two angles, `slope` lifting its front."""
        rows = []
        centre, x, y, z = boot_section(skeleton, side, level)
        for angle in np.radians(np.linspace(start, end, count)):
            c, s = cos(angle), sin(angle)
            depth = (back if s > 0.0 else front) * s
            base = centre + (x * rx * c + y * depth) * h + z * (-slope * s) * h
            out = unit(x * c / rx + y * s / (back if s > 0.0 else front))
            rows.append(
                np.array(
                    [
                        base - z * tall * h,
                        base - z * tall * h + out * thick * h,
                        base + z * tall * h + out * thick * h,
                        base + z * tall * h,
                    ]
                )
            )
        return _band(rows, bone, material)

    # Highback behind the calf, heel cup around the heel, two straps over the instep.
    rows = []
    for k, level in enumerate(np.linspace(-0.030, 0.080, 7)):
        centre, x, y, z = boot_section(skeleton, side, level)
        spread = radians(np.interp(k, [0, 3, 6], [78.0, 66.0, 48.0]))
        inner = ring(
            centre,
            x,
            y,
            0.0335 * h,
            0.052 * h,
            np.interp(level, [-0.03, 0.02, 0.09], [0.054, 0.049, 0.046]) * h,
            0.5 * pi + np.linspace(-spread, spread, 9),
        )
        outer = inner + (y * 0.005 * h)
        rows.append(np.concatenate([inner, outer[::-1]]))
    cage = Cage()
    rings = [cage.add(row, {bone: 1.0}) for row in rows]
    for a, b in zip(rings[:-1], rings[1:], strict=True):
        cage.bridge(b, a, "base")
    cage.face(rings[0], "base")
    cage.face(rings[-1][::-1], "base")
    parts.append(cage.surface(0))
    parts.append(around(-0.034, -60.0, 240.0, 0.0335, 0.060, 0.054, 0.010, 0.004, 17, 0.0, "base"))
    parts.append(
        around(0.012, 178.0, 362.0, 0.0325, 0.0620, 0.047, 0.011, 0.004, 13, 0.012, "base")
    )
    # The toe strap, over the front of the boot.
    rows = []
    for angle in np.linspace(0.0, pi, 11):
        x, z = np.sign(cos(angle)) * abs(cos(angle)) ** 0.6, sin(angle) ** 0.6
        base = ankle + (left * 0.0305 * x - behind * 0.066 + up * (-0.040 + 0.041 * z)) * h
        out = unit(left * cos(angle) + up * sin(angle) - behind * 0.4 * sin(angle))
        along = behind * 0.010 * h + up * 0.006 * z * h
        rows.append(
            np.array(
                [
                    base - along,
                    base - along + out * 0.004 * h,
                    base + along + out * 0.004 * h,
                    base + along,
                ]
            )
        )
    parts.append(_band(rows, bone, "base"))
    return parts

