# SPDX-License-Identifier: GPL-3.0-or-later
"""Body of the insect: head, thorax and abdomen, each its own shell; legs, feelers. Numpy only."""

from __future__ import annotations

import numpy as np

from ...mapping.legs import LegChain
from .animal import BACK, LEFT, Hide, ball, remembered, tube
from .implicit import Row
from .skeleton import HALF, UP, unit
from .surfaces import Cage, Surface, even_angles, joined, ring


def _insect(hide: Hide) -> Surface:
    """An insect between an ant and a ground beetle."""
    parts = [
        # Back, height, half-width, half-height: from the rear to the front.
        _shell(hide.trunk, "shell", (
            (0.150, 0.228, 0.030, 0.024), (0.120, 0.230, 0.056, 0.044),
            (0.060, 0.234, 0.074, 0.056),
            (0.000, 0.236, 0.076, 0.058), (-0.050, 0.237, 0.066, 0.050),
            (-0.075, 0.238, 0.050, 0.040),
        )),
        _shell(hide.trunk, "shell", (
            (-0.062, 0.239, 0.052, 0.040), (-0.085, 0.240, 0.074, 0.052),
            (-0.140, 0.243, 0.078, 0.056),
            (-0.185, 0.245, 0.062, 0.046), (-0.206, 0.246, 0.036, 0.030),
        )),
        _shell(hide.tail, "shell", (
            (0.135, 0.232, 0.024, 0.022), (0.165, 0.236, 0.060, 0.050),
            (0.215, 0.246, 0.098, 0.080),
            (0.275, 0.250, 0.112, 0.090), (0.335, 0.246, 0.100, 0.080),
            (0.390, 0.236, 0.066, 0.054),
            (0.425, 0.227, 0.024, 0.022),
        ), grooves=True),
        _shell(hide.neck, "shell", (
            (-0.200, 0.246, 0.024, 0.022), (-0.222, 0.248, 0.050, 0.040),
            (-0.262, 0.248, 0.066, 0.050),
            (-0.310, 0.240, 0.058, 0.044), (-0.352, 0.226, 0.036, 0.028),
            (-0.372, 0.216, 0.018, 0.014),
        )),
    ]
    head = [hide.joints["head"] + 0.5 * (hide.joints["muzzle"] - hide.joints["head"])]
    axes = np.stack([BACK, UP, LEFT], axis=1)
    for sign in (1.0, -1.0):
        out = np.array([sign, 1.0, 1.0])
        parts.append(ball(out * (0.055, -0.282, 0.262), axes, (0.026, 0.022, 0.018), hide.neck,
                          "eyes"))
        parts.append(_feeler(hide, out, head))
        path = out * np.array([(0.020, -0.350, 0.218), (0.034, -0.385, 0.208),
                               (0.028, -0.416, 0.200), (0.006, -0.432, 0.198)])
        parts.append(tube(path, UP, (0.012, 0.013, 0.010, 0.004), (0.012, 0.011, 0.008, 0.003),
                          hide.neck, "limbs", 8, 1, 2.0, head * 4))
    for leg in hide.figure.legs:
        parts += _leg(hide, leg)
    return joined(parts)


def _shell(row: Row, material: str, table, grooves: bool = False) -> Surface:
    """A shell of sections; `grooves` cuts rings into it, as between plates."""
    cage = Cage()
    angles = even_angles(16)
    rings = []
    rows = list(table)
    if grooves:
        places = np.linspace(rows[0][0], rows[-1][0], 31)
        columns = np.array(rows).T
        rows = []
        for i, place in enumerate(places):
            values = [float(np.interp(place, columns[0], column)) for column in columns[1:]]
            shrink = 0.955 if i % 6 == 0 and 0 < i < 30 else 1.0
            rows.append((place, values[0], values[1] * shrink, values[2] * shrink))
    for back, up, wide, tall in rows:
        centre = np.array([0.0, back, up])
        rings.append(cage.add(
            ring(centre, LEFT, UP, wide, 0.85 * tall, tall, angles, 2.15), row.weights(centre)
        ))
    for a, b in zip(rings[:-1], rings[1:], strict=True):
        cage.bridge(a, b, material)
    ahead = np.array([0.0, rows[-1][0] - rows[-2][0], 0.0])
    cage.cap(rings[0], material, bulge=-0.4 * ahead, top=False)
    cage.cap(rings[-1], material, bulge=0.4 * ahead)
    return cage.surface(1 if grooves else 2)


def _feeler(hide: Hide, out: np.ndarray, head: list[np.ndarray]) -> Surface:
    """A feeler with a long first part and an elbow."""
    path = out * np.array([
        (0.026, -0.325, 0.262), (0.050, -0.350, 0.305), (0.085, -0.385, 0.355),
        (0.098, -0.405, 0.368), (0.112, -0.450, 0.360), (0.126, -0.515, 0.335),
        (0.134, -0.575, 0.318), (0.138, -0.620, 0.314),
    ])
    thick = (0.0095, 0.0075, 0.0070, 0.0080, 0.0075, 0.0070, 0.0065, 0.0040)
    return tube(path, UP, thick, thick, hide.neck, "limbs", 8, 1, 2.0, head * len(path))


def _leg(hide: Hide, leg: LegChain) -> list[Surface]:
    """Coxa, femur, tibia and tarsus of a leg; each stiff, with a knob at its joints."""
    j = hide.joints
    parts = []
    ends = [j[role] for role in (*leg.segments, leg.tip)]
    across = unit(np.cross(ends[2] - ends[1], ends[3] - ends[2]))
    # Share along, half-thickness across and in the plane of the leg.
    profiles = (
        ((0.0, 0.024, 0.028), (0.5, 0.027, 0.030), (1.0, 0.019, 0.021)),
        ((0.0, 0.017, 0.018), (0.12, 0.019, 0.023), (0.45, 0.020, 0.028), (0.85, 0.015, 0.018),
         (1.0, 0.016, 0.017)),
        ((0.0, 0.015, 0.016), (0.10, 0.0125, 0.014), (0.50, 0.0115, 0.013), (0.72, 0.013, 0.015),
         (0.76, 0.0080, 0.0085), (0.88, 0.0085, 0.009), (0.91, 0.0065, 0.007),
         (0.985, 0.0075, 0.006), (1.0, 0.0045, 0.004)),
    )
    for i, profile in enumerate(profiles):
        start, end = ends[i], ends[i + 1]
        row = Row([f"DEF-{leg.segments[i]}"], np.array([start, end]), 0.01)
        shares = np.array([share for share, _, _ in profile])
        path = start + shares[:, None] * (end - start)
        if i == 2:
            path[:, 2] = np.maximum(path[:, 2], 0.006)
        parts.append(tube(path, across, [p[1] for p in profile], [p[2] for p in profile], row,
                          "shell" if i == 0 else "limbs", 10, 1))
    for joint, size in ((1, 0.021), (2, 0.0185)):
        row = Row([f"{HALF}{leg.segments[joint]}"], np.array([ends[joint], ends[joint] + UP]), 0.01)
        parts.append(ball(ends[joint], np.eye(3), (size,) * 3, row, "limbs"))
    return parts




insect_body = remembered(_insect, 0.80)
