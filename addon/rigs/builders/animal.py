# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of the horse and the dog: coat, mane, tail, hooves, ears, eyes. Numpy only.

Lumps (`implicit.py`) are given by the joints of the figure and offsets from them, in metres
of an animal of the usual size; they grow with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi

import numpy as np

from ...mapping.legs import LegChain, LeggedFigure
from .creature import line_of
from .implicit import Lump, Row, skin
from .skeleton import HALF, UP, Skeleton, unit
from .surfaces import Cage, Surface, even_angles, joined, ring

BACK, LEFT = np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
_SIGNS = (("L", 1.0), ("R", -1.0))
MOST_SHAPES = 4  # bodies that are remembered


class Hide:
    """Lumps of an animal, and the rows of bones that carry them.

    Args:
        skeleton: the animal.
        usual: size that lengths are given for, m.
    """

    def __init__(self, skeleton: Skeleton, usual: float) -> None:
        figure: LeggedFigure = skeleton.size  # type: ignore[assignment]
        self.figure, self.scale = figure, figure.height / usual
        self.joints = {r: np.asarray(p, dtype=float) / self.scale for r, p in figure.joints.items()}
        self.lumps: list[Lump] = []
        unit_figure = figure.scaled(1.0 / self.scale)

        def row(roles: tuple[str, ...], end: str, blend: float) -> Row:
            return Row([f"DEF-{role}" for role in roles],
                       line_of(unit_figure, roles, end, 0.15), blend * usual)

        self.trunk = row(figure.trunk, figure.neck[0], 0.10)
        self.neck = row((figure.trunk[-1], *figure.neck), "muzzle", 0.06)
        self.tail = row((figure.trunk[0], *figure.tail), "tail_tip", 0.04)
        self.legs = {leg.name: self._leg(leg, 0.045 * usual) for leg in figure.legs}

    def _leg(self, leg: LegChain, blend: float) -> Row:
        points = np.array([self.joints[role] for role in (*leg.limb, leg.tip)])
        half = [f"{HALF}{role}" for role in leg.limb[1:]]
        return Row([f"DEF-{role}" for role in leg.limb], points, blend, half)

    def lump(
        self, row: Row, start, end, radius: float, tip: float | None = None, wide: float = 1.0
    ) -> None:
        """Add a lump.

        Args:
            row: the bones that carry it.
            start: (3,), or (back, up) in the middle plane.
            end: likewise.
            radius: at the start.
            tip: at the end; None for the same.
            wide: its width as a part of its depth.
        """
        a, b = (_point(p) for p in (start, end))
        self.lumps.append(Lump(a, b, radius, radius if tip is None else tip, row, wide))

    def both(self, row: Row, start, end, radius: float, tip=None, wide: float = 1.0) -> None:
        """Add a lump on both sides of the middle plane; see `lump`."""
        for _, sign in _SIGNS:
            mirror = np.array([sign, 1.0, 1.0])
            self.lump(row, _point(start) * mirror, _point(end) * mirror, radius, tip, wide)

    def skin(self, soft: float, cell: float, material: str) -> Surface:
        """The body of all lumps; see `implicit.skin`."""
        return skin(self.lumps, soft, cell, material)


def _point(place) -> np.ndarray:
    place = np.asarray(place, dtype=float)
    return place if len(place) == 3 else np.array([0.0, *place])


def tube(
    path,
    across: np.ndarray,
    wide: Sequence[float],
    deep: Sequence[float],
    row: Row,
    material: str,
    count: int = 10,
    levels: int = 1,
    exponent: float = 2.0,
    roots: Sequence[np.ndarray] | None = None,
) -> Surface:
    """A tube along a path, closed at both ends.

    Args:
        path: (n, 3).
        across: (3,) which way it is wide.
        wide: half-width at each point.
        deep: half-depth at each point.
        row: the bones that carry it.
        material: key of its material.
        count: points around.
        levels: of subdivision.
        exponent: of its sections; see `surfaces.ring`.
        roots: (3,) each: points whose weights the sections have; None for their own.
    """
    path = np.asarray(path, dtype=float)
    cage = Cage()
    rings = []
    for i, point in enumerate(path):
        ahead = unit(path[min(i + 1, len(path) - 1)] - path[max(i - 1, 0)])
        x = unit(across - ahead * float(ahead @ across))
        y = np.cross(ahead, x)
        weights = row.weights(point if roots is None else roots[i])
        rings.append(
            cage.add(
                ring(point, x, y, wide[i], deep[i], deep[i], even_angles(count), exponent), weights
            )
        )
    tip = unit(path[-1] - path[-2]) * min(wide[-1], deep[-1])
    root = unit(path[0] - path[1]) * min(wide[0], deep[0])
    for a, b in zip(rings[:-1], rings[1:], strict=True):
        cage.bridge(a, b, material)
    cage.cap(rings[0], material, bulge=root, top=False)
    cage.cap(rings[-1], material, bulge=tip)
    return cage.surface(levels)


def ball(centre, axes: np.ndarray, sizes, row: Row, material: str) -> Surface:
    """An ellipsoid that goes with the bone at a point.

    Args:
        centre: (3,).
        axes: (3, 3) columns of its axes.
        sizes: (3,) half-axes.
        row: the bones that carry it.
        material: key of its material.
    """
    centre = np.asarray(centre, dtype=float)
    weights = row.weights(centre)
    cage = Cage()
    rings = []
    for latitude in np.linspace(-0.5 * pi, 0.5 * pi, 8)[1:-1]:
        r = float(np.cos(latitude))
        middle = centre + axes[:, 2] * sizes[2] * np.sin(latitude)
        rings.append(cage.add(
            ring(middle, axes[:, 0], axes[:, 1], sizes[0] * r, sizes[1] * r, sizes[1] * r,
                 even_angles(10)), weights,
        ))
    for a, b in zip(rings[:-1], rings[1:], strict=True):
        cage.bridge(a, b, material)
    bulge = axes[:, 2] * sizes[2] * 0.1
    cage.cap(rings[0], material, bulge=-bulge, top=False)
    cage.cap(rings[-1], material, bulge=bulge)
    return cage.surface(1)


def scaled(surface: Surface, factor: float) -> Surface:
    """A surface at another size.

    Args:
        surface: what was built in metres of the usual size.
        factor: metres per metre.
    """
    return Surface(surface.points * factor, surface.faces, surface.materials, surface.bones,
                   surface.weights, surface.smooth)


def remembered(make: Callable[[Hide], Surface], usual: float) -> Callable[[Skeleton], Surface]:
    """A body that is made once for animals of the same shape, whatever their size.

    Args:
        make: makes it in metres of the usual size.
        usual: that size, m.
    """
    made: dict[tuple, Surface] = {}

    def body(skeleton: Skeleton) -> Surface:
        hide = Hide(skeleton, usual)
        shape = tuple((role, *np.round(place, 6)) for role, place in hide.joints.items())
        if shape not in made:
            while len(made) >= MOST_SHAPES:
                del made[next(iter(made))]
            made[shape] = make(hide)
        return scaled(made[shape], hide.scale)

    return body


def _hoof(hide: Hide, leg: LegChain) -> Surface:
    """A hoof: a slanted cup from the coronet to the ground."""
    row = hide.legs[leg.name]
    tip, coffin = hide.joints[leg.tip], hide.joints[leg.segments[-1]]
    bone = {row.bones[-1]: 1.0}
    cage = Cage()
    wall = (coffin - tip) / coffin[2]
    middle = tip + BACK * 0.060
    # Height of the section, half-width, and half-length of it.
    rows = ((0.0, 0.058, 0.062), (0.004, 0.062, 0.066), (0.030, 0.057, 0.060),
            (0.062, 0.050, 0.051), (0.078, 0.047, 0.047), (0.080, 0.036, 0.036))
    rings = []
    for height, half, long in rows:
        centre = middle + wall * height * (1.0, 0.72, 1.0)
        rings.append(
            cage.add(ring(centre, LEFT, BACK, half, long, long, even_angles(12), 2.3), bone)
        )
    cage.tube(rings, "hooves", start="hooves", end="hooves")
    return cage.surface(1)


def _ear(hide: Hide, sign: float, root, tip, width: float, thick: float) -> Surface:
    """A pointed ear on the head."""
    mirror = np.array([sign, 1.0, 1.0])
    a, b = _point(root) * mirror, _point(tip) * mirror
    shares = np.array([0.0, 0.25, 0.55, 0.8, 0.97])
    path = a + shares[:, None] * (b - a)
    wide = width * np.array([0.72, 1.0, 0.92, 0.58, 0.12])
    deep = thick * np.array([1.3, 1.0, 0.8, 0.6, 0.25])
    head = [hide.joints["head"] + 0.3 * (hide.joints["muzzle"] - hide.joints["head"])] * 5
    across = unit(LEFT * sign + np.array([0.0, 0.55, 0.0]))
    return tube(path, across, wide, deep, hide.neck, "coat", 10, 1, 2.0, head)


def _eyes(hide: Hide, place, size: float, out: float) -> list[Surface]:
    axes = np.stack([BACK, UP, LEFT], axis=1)
    return [
        ball(_point(place) * (sign, 1.0, 1.0), axes, (size, size, size * out), hide.neck, "eyes")
        for _, sign in _SIGNS
    ]


def _horse(hide: Hide) -> Surface:
    """A horse: coat, mane and tail, hooves, ears and eyes."""
    j = hide.joints
    trunk, neck = hide.trunk, hide.neck
    # Barrel, from the buttocks to the breast.
    hide.both(trunk, (0.115, 0.67, 1.26), (0.115, 0.50, 1.30), 0.180, 0.205)
    hide.lump(trunk, (0.46, 1.315), (0.20, 1.300), 0.245, 0.232, 0.95)
    hide.lump(trunk, (0.18, 1.235), (-0.10, 1.180), 0.290, 0.330, 0.84)
    hide.lump(trunk, (-0.12, 1.175), (-0.38, 1.165), 0.338, 0.325, 0.80)
    hide.lump(trunk, (-0.10, 1.470), (-0.42, 1.490), 0.070, 0.085, 0.9)  # withers
    hide.lump(trunk, (-0.40, 1.490), (-0.50, 1.470), 0.085, 0.090, 0.9)
    hide.both(trunk, (0.095, -0.40, 1.14), (0.085, -0.600, 1.11), 0.215, 0.155)
    # Neck: crest, middle and throat.
    hide.lump(neck, (-0.40, 1.440), (-0.70, 1.640), 0.130, 0.095, 0.62)
    hide.lump(neck, (-0.70, 1.640), (-0.955, 1.800), 0.095, 0.088, 0.64)
    hide.lump(neck, (-0.48, 1.270), (-0.72, 1.490), 0.235, 0.155, 0.68)
    hide.lump(neck, (-0.72, 1.490), (-0.945, 1.715), 0.155, 0.100, 0.68)
    # Head: poll, cheeks, face, chin, muzzle with lips.
    hide.lump(neck, (-0.990, 1.790), (-1.110, 1.700), 0.092, 0.096, 0.82)
    hide.both(neck, (0.030, -1.025, 1.650), (0.030, -1.095, 1.600), 0.098, 0.092, 0.56)
    hide.lump(neck, (-1.110, 1.700), (-1.315, 1.500), 0.092, 0.064, 0.76)
    hide.lump(neck, (-1.120, 1.600), (-1.300, 1.430), 0.080, 0.050, 0.72)
    hide.lump(neck, (-1.310, 1.490), (-1.362, 1.432), 0.064, 0.053, 0.86)
    hide.lump(neck, (-1.290, 1.425), (-1.325, 1.398), 0.042, 0.036, 0.86)
    hide.both(neck, (0.024, -1.362, 1.456), (0.022, -1.374, 1.438), 0.030, 0.026)
    for name, sign in _SIGNS:
        out = np.array([sign, 1.0, 1.0])
        hind, fore = hide.legs[f"hind.{name}"], hide.legs[f"fore.{name}"]
        hip, stifle, hock = (j[f"hind.{n}.{name}"] for n in (1, 2, 3))
        fetlock, coffin = (j[f"hind.{n}.{name}"] for n in (4, 5))
        # Thigh, the muscles behind it, gaskin, hock with its point, cannon.
        hide.lump(hind, hip + out * (0.010, 0.0, -0.02), stifle + (0, 0.035, 0.03), 0.185, 0.115,
                  0.74)
        hide.lump(hind, hip + out * (-0.005, 0.115, -0.05), stifle + (0, 0.130, 0.03), 0.140,
                  0.085, 0.80)
        hide.lump(hind, stifle + (0, 0.035, 0.02), hock + (0, -0.006, 0.07), 0.120, 0.054, 0.80)
        hide.lump(hind, stifle + (0, 0.135, 0.04), hock + (0, 0.045, 0.11), 0.090, 0.032, 0.80)
        hide.lump(hind, hock + (0, -0.004, 0.035), hock + (0, 0.006, -0.045), 0.050, 0.044, 0.86)
        hide.lump(hind, hock + (0, 0.040, 0.075), hock + (0, 0.034, -0.02), 0.026, 0.030)
        hide.lump(hind, hock + (0, 0.004, -0.05), fetlock + (0, -0.002, 0.05), 0.039, 0.033)
        hide.lump(hind, hock + (0, 0.036, -0.06), fetlock + (0, 0.028, 0.04), 0.018, 0.020)
        _pastern(hide, hind, fetlock, coffin)
        blade, shoulder = j[f"clavicle.{name}"], j[f"fore.1.{name}"]
        elbow, carpus = j[f"fore.2.{name}"], j[f"fore.3.{name}"]
        fetlock, coffin = j[f"fore.4.{name}"], j[f"fore.5.{name}"]
        hide.lump(fore, blade + out * (0.045, 0.030, -0.13), shoulder + out * (-0.030, 0.06, 0.03),
                  0.095, 0.125, 0.80)
        hide.lump(fore, shoulder + out * (-0.030, 0.05, 0.0), elbow + out * (0.004, 0.0, 0.01),
                  0.125, 0.105, 0.78)
        hide.lump(fore, elbow + out * (-0.005, 0.055, 0.03), elbow + (0, 0.02, -0.06), 0.070, 0.065,
                  0.80)
        hide.lump(fore, elbow + (0, -0.006, -0.03), carpus + (0, 0.004, 0.07), 0.090, 0.044, 0.86)
        hide.lump(fore, carpus + (0, -0.006, 0.045), carpus + (0, -0.004, -0.035), 0.046, 0.042)
        hide.lump(fore, carpus + (0, 0.030, 0.03), carpus + (0, 0.022, -0.01), 0.024, 0.020)
        hide.lump(fore, carpus + (0, 0.002, -0.04), fetlock + (0, -0.002, 0.05), 0.036, 0.032)
        hide.lump(fore, carpus + (0, 0.030, -0.05), fetlock + (0, 0.026, 0.04), 0.017, 0.019)
        _pastern(hide, fore, fetlock, coffin)
    parts = [hide.skin(0.022, 0.021, "coat")]
    parts += [_hoof(hide, leg) for leg in hide.figure.legs]
    for _, sign in _SIGNS:
        parts.append(
            _ear(hide, sign, (0.046, -0.992, 1.850), (0.064, -1.000, 2.005), 0.038, 0.017)
        )
    parts += _eyes(hide, (0.083, -1.112, 1.706), 0.024, 0.6)
    parts += [_mane(hide), _forelock(hide), _horse_tail(hide)]
    return joined(parts)


def _pastern(hide: Hide, row: Row, fetlock: np.ndarray, coffin: np.ndarray) -> None:
    hide.lump(row, fetlock + (0, -0.004, 0.012), fetlock + (0, 0.004, -0.012), 0.042)
    hide.lump(row, fetlock + (0, 0.030, 0.0), fetlock + (0, 0.028, -0.018), 0.024)
    hide.lump(row, fetlock, coffin + (0, 0.006, 0.0), 0.036, 0.041)


def _mane(hide: Hide) -> Surface:
    """A mane in locks that fall to both sides of the crest, most of them to the left."""
    crest = np.array([(-0.475, 1.560), (-0.58, 1.640), (-0.68, 1.710), (-0.78, 1.775),
                      (-0.87, 1.835), (-0.95, 1.882), (-1.005, 1.888)])
    parts = []
    for sign, count, size in ((1.0, 16, 1.0), (-1.0, 15, 0.72)):
        for i, place in enumerate(np.linspace(0.0, len(crest) - 1.0, count)):
            back, up = (np.interp(place, np.arange(len(crest)), crest[:, k]) for k in (0, 1))
            root = np.array([0.004, back, up - 0.014])
            length = size * (0.19 + 0.08 * np.sin(pi * (0.15 + 0.8 * i / (count - 1.0))))
            length += 0.016 * (i % 2)
            steps = np.array([
                (0.0, 0.0, 0.0), (0.026, 0.004, 0.018), (0.064, 0.014, -0.08 * length),
                (0.092, 0.030, -0.40 * length), (0.110, 0.046, -0.75 * length),
                (0.116, 0.058, -length),
            ])
            path = root + steps * (sign, 1.0, 1.0)
            parts.append(tube(
                path, BACK, np.array([0.030, 0.038, 0.041, 0.038, 0.028, 0.008]),
                np.array([0.012, 0.017, 0.015, 0.013, 0.010, 0.004]), hide.neck, "hair", 8, 1,
                2.0, [root] * len(path),
            ))
    return joined(parts)


def _forelock(hide: Hide) -> Surface:
    """Hair between the ears, down the forehead."""
    path = [(0.0, -0.985, 1.872), (0.0, -1.030, 1.876), (0.0, -1.075, 1.835), (0.0, -1.125, 1.775),
            (0.004, -1.175, 1.700)]
    head = hide.joints["head"] + 0.3 * (hide.joints["muzzle"] - hide.joints["head"])
    wide, deep = (0.020, 0.034, 0.036, 0.026, 0.006), (0.012, 0.016, 0.014, 0.012, 0.004)
    return tube(path, LEFT, wide, deep, hide.neck, "hair", 8, 1, 2.0, [head] * 5)


def _horse_tail(hide: Hide) -> Surface:
    """A dock, and long hair that falls from it."""
    roles = (*hide.figure.tail, "tail_tip")
    joints = np.array([hide.joints[role] for role in roles])
    start = joints[0] + np.array([0.0, -0.040, 0.010])
    path = np.array([start, *joints[:-1], 0.5 * (joints[-2] + joints[-1]), joints[-1]])
    wide = (0.026, 0.036, 0.046, 0.060, 0.068, 0.058, 0.016)
    deep = (0.026, 0.034, 0.040, 0.048, 0.052, 0.044, 0.012)
    return tube(path, LEFT, wide, deep, hide.tail, "hair", 12, 2)


def _dog(hide: Hide) -> Surface:
    """A dog with pricked ears and a bushy tail."""
    j = hide.joints
    trunk, neck, tail = hide.trunk, hide.neck, hide.tail
    hide.both(trunk, (0.030, 0.270, 0.485), (0.030, 0.190, 0.500), 0.068, 0.076)
    hide.lump(trunk, (0.20, 0.490), (0.10, 0.482), 0.084, 0.088, 0.92)
    hide.lump(trunk, (0.08, 0.472), (-0.04, 0.450), 0.096, 0.116, 0.88)
    hide.lump(trunk, (-0.06, 0.445), (-0.19, 0.430), 0.126, 0.130, 0.80)
    hide.lump(trunk, (-0.06, 0.530), (-0.19, 0.545), 0.050, 0.056, 0.95)
    hide.both(trunk, (0.036, -0.17, 0.43), (0.030, -0.250, 0.415), 0.085, 0.062)
    # Neck with its ruff, head with cheeks, stop and muzzle.
    hide.lump(neck, (-0.180, 0.490), (-0.280, 0.580), 0.098, 0.082, 0.88)
    hide.lump(neck, (-0.280, 0.580), (-0.355, 0.655), 0.082, 0.068, 0.92)
    hide.lump(neck, (-0.230, 0.440), (-0.330, 0.600), 0.062, 0.050, 1.0)
    hide.lump(neck, (-0.380, 0.690), (-0.425, 0.688), 0.064, 0.058, 1.04)
    hide.both(neck, (0.030, -0.380, 0.655), (0.022, -0.435, 0.652), 0.046, 0.034)
    hide.lump(neck, (-0.430, 0.668), (-0.535, 0.652), 0.044, 0.031, 0.88)
    hide.lump(neck, (-0.435, 0.642), (-0.525, 0.632), 0.032, 0.021, 0.95)
    hide.lump(neck, (-0.530, 0.658), (-0.556, 0.654), 0.029, 0.024)
    for name, sign in _SIGNS:
        out = np.array([sign, 1.0, 1.0])
        hind, fore = hide.legs[f"hind.{name}"], hide.legs[f"fore.{name}"]
        hip, stifle, hock, ball_, tip = (
            j[f"hind.{n}.{name}"] for n in (1, 2, 3, 4, "tip")
        )
        hide.lump(hind, hip + out * (0.004, 0.0, -0.005), stifle + (0, 0.012, 0.012), 0.068, 0.042,
                  0.72)
        hide.lump(hind, hip + out * (0.0, 0.045, -0.03), stifle + (0, 0.048, 0.01), 0.052, 0.032,
                  0.78)
        hide.lump(hind, stifle + (0, 0.010, 0.0), hock + (0, -0.006, 0.02), 0.041, 0.020, 0.80)
        hide.lump(hind, stifle + (0, 0.045, 0.0), hock + (0, 0.010, 0.035), 0.026, 0.010, 0.85)
        hide.lump(hind, hock + (0, 0.014, 0.014), hock, 0.013, 0.018)
        hide.lump(hind, hock, ball_ + (0, 0.002, 0.012), 0.020, 0.017)
        _paw(hide, hind, ball_, tip, sign)
        blade, shoulder = j[f"clavicle.{name}"], j[f"fore.1.{name}"]
        elbow, carpus, ball_, tip = (j[f"fore.{n}.{name}"] for n in (2, 3, 4, "tip"))
        hide.lump(fore, blade + out * (0.014, 0.012, -0.05),
                  shoulder + out * (-0.014, 0.025, 0.005), 0.044, 0.052, 0.82)
        hide.lump(fore, shoulder + out * (-0.012, 0.022, 0.0), elbow + (0, 0.0, 0.01), 0.052, 0.039,
                  0.80)
        hide.lump(fore, elbow + (0, 0.016, 0.012), elbow + (0, 0.004, -0.02), 0.026, 0.026)
        hide.lump(fore, elbow + (0, -0.002, -0.01), carpus + (0, 0.0, 0.02), 0.034, 0.020)
        hide.lump(fore, carpus + (0, -0.002, 0.01), carpus + (0, -0.002, -0.01), 0.021)
        hide.lump(fore, carpus, ball_ + (0, 0.002, 0.012), 0.019, 0.018)
        _paw(hide, fore, ball_, tip, sign)
    path = [j[role] for role in (*hide.figure.tail, "tail_tip")]
    hide.lump(trunk, (0.245, 0.510), path[0], 0.046, 0.034)
    for a, b, r, t in zip(path[:-1], path[1:], (0.032, 0.046, 0.050), (0.046, 0.050, 0.014),
                          strict=True):
        hide.lump(tail, a, b, r, t)
    parts = [hide.skin(0.0085, 0.0085, "coat")]
    for _, sign in _SIGNS:
        parts.append(
            _ear(hide, sign, (0.040, -0.372, 0.728), (0.058, -0.385, 0.812), 0.029, 0.010)
        )
    parts += _eyes(hide, (0.0415, -0.462, 0.693), 0.0105, 0.7)
    nose = np.array([0.0, -0.581, 0.664])
    parts.append(
        ball(nose, np.stack([LEFT, BACK, UP], axis=1), (0.017, 0.012, 0.013), neck, "snout")
    )
    return joined(parts)


def _paw(hide: Hide, row: Row, ball_: np.ndarray, tip: np.ndarray, sign: float) -> None:
    """Pad and four toes."""
    level = tip * (1.0, 1.0, 0.0)
    hide.lump(row, ball_ * (1.0, 1.0, 0.0) + (0, 0.006, 0.024), level + (0, 0.030, 0.020), 0.024,
              0.020)
    for aside, short in ((-0.024, 0.010), (-0.008, 0.0), (0.008, 0.0), (0.024, 0.010)):
        end = level + np.array([aside * sign, 0.014 + short, 0.013])
        hide.lump(row, end + (-0.2 * aside * sign, 0.024, 0.010), end, 0.0125, 0.0115)


horse_body = remembered(_horse, 1.60)
dog_body = remembered(_dog, 0.60)
