# SPDX-License-Identifier: GPL-3.0-or-later
"""A desk lamp that jumps: a base, two links on hinges, springs, and a shade. Numpy only.

Its joints are those of the figure that `solvers.control.lamp` moves (van de Panne, Fiume and
Vranesic, 1990, section 7), at rest as it stands there. It faces -Y; the shade is fixed to the
second link. A spring is a bone from one part that reaches for a bone of the next.
"""

from __future__ import annotations

from math import cos, pi, radians, sin

import numpy as np

from ....solvers.control.lamp import ARM, HALF_WIDTH, HEAD, HEIGHT, REST
from .equipment import box
from .mechanism import Mechanism, turned
from .skeleton import BACK, UP, BoneSpec, unit
from .surfaces import Cage, Surface, even_angles, joined

USUAL = 0.5
"""m, height of a lamp as large as that of the solver."""

X = np.array([1.0, 0.0, 0.0])

MOUTH = radians(-78.0)
"""Direction of the shade's mouth against the second link."""
FORK, APART = 0.021, 0.012
"""m: plates that hold a joint from the middle; rods of a link from its line."""
HINGES = ("base", "link", "shade")
SPRINGS = {"spring.1": "hook.1", "spring.2": "hook.2"}
"""Spring -> the bone that it reaches for."""
BESIDE = 0.029
"""m, of a pair of springs from the middle."""
LOWER_PIN, LOWER_HOOK = (-0.030, 0.052), 0.155
"""m: ahead and up, where the lower springs are fixed to the base; how far up the link."""
UPPER_PIN, UPPER_HOOK = 0.255, 0.125
"""m: how far up the link the upper springs are fixed; how far out on the second one."""
NECK = 0.048
"""m, from the middle of the shade back to where the second link holds it."""


def place(ahead: float, up: float, left: float = 0.0) -> np.ndarray:
    """A point (3,) of character space.

    Args:
        ahead: m.
        up: m.
        left: m.
    """
    return np.array([left, -ahead, up])


def along(angle: float) -> np.ndarray:
    """Direction (3,) that is turned backwards from straight up, as the solver counts angles.

    Args:
        angle: rad.
    """
    return place(-sin(angle), cos(angle))


_LINK, _SHADE = along(REST[0]), along(REST[0] + REST[1])
_ARM = unit(HEAD * _SHADE - NECK * along(REST[0] + REST[1] + MOUTH))
"""From the elbow to where the shade is held."""


def joints(size: float = USUAL) -> dict[str, np.ndarray]:
    """Where the bones of a lamp begin, and "bulb" where the shade's ends, m.

    Args:
        size: its height, m.
    """
    base = place(0.0, HEIGHT)
    elbow = base + ARM * _LINK
    found = {
        "base": base,
        "link": base,
        "shade": elbow,
        "bulb": elbow + HEAD * _SHADE,
        "spring.1": place(*LOWER_PIN),
        "hook.1": base + LOWER_HOOK * _LINK,
        "spring.2": base + UPPER_PIN * _LINK,
        "hook.2": elbow + UPPER_HOOK * _ARM,
    }
    return {name: at * size / USUAL for name, at in found.items()}


def _bones(size: float) -> tuple[BoneSpec, ...]:
    j = joints(size)
    hinges, hidden = "Controls", "Mechanism"
    tails = {"base": j["base"] + 0.16 * size * UP, "link": j["shade"], "shade": j["bulb"]}
    tails |= {f"hook.{k}": j[f"hook.{k}"] + 0.05 * size * UP for k in (1, 2)}
    tails |= {spring: j[hook] for spring, hook in SPRINGS.items()}
    bones = [BoneSpec("root", "", np.zeros(3), 0.4 * size * BACK, UP, hinges)]
    for name, parent, collection in (
        ("base", "root", hinges), ("link", "base", hinges), ("shade", "link", hinges),
        ("hook.1", "link", hidden), ("hook.2", "shade", hidden), ("spring.1", "base", hidden),
        ("spring.2", "link", hidden),
    ):
        # Its X axis points to the left.
        z = np.cross(X, unit(tails[name] - j[name]))
        bones.append(BoneSpec(
            name, parent, j[name], tails[name], z, collection, name == "shade", "hook" not in name
        ))
    return tuple(bones)


def _rod(start, end, radius: float, bone: str, material: str, count: int = 12) -> Surface:
    """A straight round bar."""
    length, cut = float(np.linalg.norm(end - start)), 0.25 * radius
    profile = [(0.0, radius - cut), (cut, radius), (length - cut, radius), (length, radius - cut)]
    return turned(start, unit(end - start), profile, bone, material, count)


def _coil(
    start, end, radius: float, wire: float, turns: int, bone: str, material: str
) -> Surface:
    """A wire wound about the line from one point to another."""
    length = float(np.linalg.norm(end - start))
    axis = unit(end - start)
    y = np.cross(axis, X)
    cage, rings, section = Cage(), [], even_angles(6)
    rise = length / (2.0 * pi * turns * radius)
    for k in range(10 * turns + 1):
        c, s = cos(0.2 * pi * k), sin(0.2 * pi * k)
        out, ahead = c * X + s * y, unit(c * y - s * X + rise * axis)
        middle = start + axis * (length * k / (10 * turns)) + out * radius
        around = np.outer(np.cos(section), out) + np.outer(np.sin(section), np.cross(ahead, out))
        rings.append(cage.add(middle + wire * around, {bone: 1.0}))
    cage.tube(rings, material, start=material, end=material)
    return cage.surface(0)


def _base() -> list[Surface]:
    bone, wide = "base", HALF_WIDTH
    profile = [
        (0.0, wide - 0.002), (0.001, wide), (0.006, wide), (0.013, wide - 0.001),
        (0.018, wide - 0.006), (0.022, wide - 0.018), (0.026, 0.062), (0.029, 0.034),
        (0.034, 0.026), (0.036, 0.020),
    ]
    materials = ["fittings", "fittings", *["paint"] * 7]
    parts = [turned(np.zeros(3), UP, profile, bone, materials, 64)]
    for side in (FORK, -FORK):
        parts.append(box(place(0.0, 0.038, side), (0.005, 0.034, 0.044), bone, "metal"))
        parts.append(box(place(-0.017, 0.045, side), (0.005, 0.040, 0.016), bone, "metal"))
    parts.append(_rod(place(0.0, HEIGHT, -0.028), place(0.0, HEIGHT, 0.028), 0.0075, bone, "metal"))
    pin = np.array([place(*LOWER_PIN, side) for side in (-BESIDE - 0.008, BESIDE + 0.008)])
    parts.append(_rod(*pin, 0.0032, bone, "metal"))
    return parts


def _rods(start: np.ndarray, end: np.ndarray, bone: str, apart: float, radius: float) -> list:
    """Two bars beside the line from one joint to another."""
    beside = np.cross(X, unit(end - start)) * apart
    return [_rod(start + s * beside, end + s * beside, radius, bone, "paint") for s in (1.0, -1.0)]


def _pin(at: np.ndarray, half: float, radius: float, bone: str, material: str) -> Surface:
    return _rod(at - X * half, at + X * half, radius, bone, material, 20)


def _link(j: dict[str, np.ndarray]) -> list[Surface]:
    bone, start, end = "link", j["link"], j["shade"]
    return [
        *_rods(start, end, bone, APART, 0.0055),
        _pin(start, 0.016, 0.0195, bone, "paint"),
        _pin(end, 0.013, 0.0225, bone, "paint"),
        _pin(end, 0.024, 0.008, bone, "metal"),
        _pin(j["hook.1"], BESIDE + 0.008, 0.0032, bone, "metal"),
        _pin(j["hook.1"], 0.011, 0.0155, bone, "metal"),
        _pin(j["spring.2"], BESIDE + 0.008, 0.0032, bone, "metal"),
        _pin(j["spring.2"], 0.011, 0.0155, bone, "metal"),
    ]


def _shade(j: dict[str, np.ndarray]) -> list[Surface]:
    bone, elbow, middle = "shade", j["shade"], j["bulb"]
    mouth = along(REST[0] + REST[1] + MOUTH)
    neck = middle - NECK * mouth
    outside = [
        (-0.078, 0.010), (-0.076, 0.017), (-0.071, 0.021), (-0.046, 0.0235), (-0.040, 0.027),
        (-0.033, 0.036), (-0.018, 0.053), (0.004, 0.067), (0.028, 0.0765), (0.036, 0.0790),
    ]
    inside = [
        (0.0375, 0.0785), (0.036, 0.0765), (0.028, 0.0742), (0.004, 0.0645), (-0.018, 0.0505),
        (-0.031, 0.034), (-0.036, 0.020),
    ]
    materials = ["paint"] * len(outside) + ["reflector"] * (len(inside) - 1)
    bulb = [(-0.036, 0.012), (-0.020, 0.013)]
    bulb += [(0.010 - 0.029 * cos(a), 0.029 * sin(a)) for a in np.linspace(0.62, 3.05, 10)]
    hook = j["hook.2"]
    return [
        *_rods(elbow, neck, bone, 0.010, 0.0048),
        _pin(elbow, 0.018, 0.0145, bone, "metal"),
        _pin(neck, 0.0285, 0.0105, bone, "metal"),
        _pin(hook, BESIDE + 0.008, 0.0032, bone, "metal"),
        _pin(hook, 0.009, 0.0125, bone, "metal"),
        turned(middle, mouth, outside + inside, bone, materials, 48),
        turned(middle, mouth, [(-0.0365, 0.015), (-0.022, 0.015)], bone, "metal", 24),
        turned(middle, mouth, bulb, bone, "bulb", 32),
    ]


def _mesh(size: float) -> Surface:
    j = joints()
    parts = [*_base(), *_link(j), *_shade(j)]
    for spring, hook in SPRINGS.items():
        for side in (BESIDE, -BESIDE):
            ends = j[spring] + X * side, j[hook] + X * side
            parts.append(_coil(*ends, 0.0068, 0.0014, 13, spring, "metal"))
    whole = joined(parts)
    whole.points[:] *= size / USUAL
    return whole


def luxo(size: float, mass: float) -> Mechanism:
    """A lamp.

    Args:
        size: its height, m.
        mass: kg.
    """
    at = {name: (0.0, share * size, 0.0) for name, share in
          (("base", -0.04), ("link", 0.33), ("shade", 0.44))}
    wide = {"base": 0.28, "link": 0.10, "shade": 0.22}
    shapes = {
        name: ("circle", (wide[name] * size, 1.0, wide[name] * size), at[name]) for name in HINGES
    }
    shapes["root"] = ("root", (0.34 * size, 0.34 * size, 1.0), (0.0, 0.0, 0.0))
    return Mechanism(
        _bones(size), {"Body": _mesh(size)}, {"poise_mass": mass},
        modes=dict.fromkeys(HINGES, "XYZ"), shapes=shapes, moved=("base",), springs=SPRINGS,
    )
