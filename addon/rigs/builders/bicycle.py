# SPDX-License-Identifier: GPL-3.0-or-later
"""A bicycle: its geometry, and its mesh. Numpy only.

Metres for a rider of `REFERENCE` stature; everything grows with the rider. The
geometry is that of a sporty bicycle with straight bars, between the measured
ones of Meijaard et al. 2007 (wheelbase 1.02 m, head angle 72 degrees) and of
the road bicycles in Moore's BicycleParameters (trail 0.05 to 0.06 m). What a
bicycle fitter changes for a body is in `Fit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, radians, sin, tan

import numpy as np

from .equipment import box
from .skeleton import REFERENCE, Skeleton, unit
from .surfaces import Cage, Surface, even_angles, joined, ring

X, Y, Z = np.eye(3)

WHEELBASE = 1.02
WHEEL, TYRE = 0.336, 0.016  # outer radius; radius of the tyre's section
HEAD_ANGLE = radians(72.0)  # of the steering axis from the ground
TRAIL = 0.060
CRANK = 0.170
SWEEP = radians(8.0)  # of the handlebars, backwards
REAR = 0.39  # rear contact behind the centre of mass of rider and bicycle
BRACKET = np.array([0.0, REAR - 0.410, 0.266])  # bottom bracket
PEDAL_OUT, ARM_OUT, CHAIN_OUT = 0.125, 0.080, 0.045  # from the middle
GRIP_OUT, GRIP_HEIGHT, GRIP_AHEAD = 0.245, 0.985, 0.085  # ahead of the steering axis

TEETH, SPROCKET_TEETH = 40, 16
LINK = 0.0127  # pitch of a bicycle chain, ISO 9633


def steering_axis() -> np.ndarray:
    """Direction (3,) of the steering axis, upwards: it leans back by 90 degrees less the angle."""
    return np.array([0.0, cos(HEAD_ANGLE), sin(HEAD_ANGLE)])


def on_axis(height: float) -> np.ndarray:
    """Point (3,) of the steering axis at a height; it meets the ground TRAIL ahead of the tyre.

    Args:
        height: metres over the ground.
    """
    return np.array([0.0, REAR - WHEELBASE - TRAIL + height / tan(HEAD_ANGLE), height])


CROWN = on_axis(0.700)
SEAT_TUBE = np.array([0.0, cos(radians(73.0)), sin(radians(73.0))])
HIP_ALONG = 0.803  # hips from the bottom bracket, along the seat tube
REAR_AXLE = np.array([0.0, REAR, WHEEL])
FRONT_AXLE = np.array([0.0, REAR - WHEELBASE, WHEEL])
STEM = 0.950  # height of the stem on the steering axis
LEAST_STEM, MOST_HEAD = -0.055, 0.160  # how far stem and head tube go along with the grips


@dataclass(frozen=True)
class Fit:
    """What of a bicycle is fitted to its rider, in metres for one of `REFERENCE` stature.

    Attributes:
        saddle: hips from the bottom bracket, along the seat tube.
        stretch: how much longer than usual the frame is, by the place of its front wheel.
        ahead: grips ahead of the point at which the stem usually leaves the steering axis.
        height: grips over the ground.
        out: grips from the middle.
    """

    saddle: float = HIP_ALONG
    stretch: float = 0.0
    ahead: float = GRIP_AHEAD
    height: float = GRIP_HEIGHT
    out: float = GRIP_OUT

    def front(self, point: np.ndarray) -> np.ndarray:
        """Where a point of the usual frame's front end is (3,).

        Args:
            point: (3,) of the usual frame.
        """
        return point - Y * self.stretch

    def grip(self, sign: float) -> np.ndarray:
        """Middle of a grip (3,).

        Args:
            sign: 1 for the left one, -1 for the right one.
        """
        place = self.front(on_axis(STEM)) - Y * self.ahead
        return np.array([sign * self.out, place[1], self.height])

    def places(self) -> dict[str, np.ndarray]:
        """Joint -> place (3,); "hips" is the middle of the hips in the saddle."""
        found = {
            "hips": BRACKET + SEAT_TUBE * self.saddle,
            "bike": np.array([0.0, REAR, 0.0]),
            "fork": self.front(CROWN),
            "front_wheel": self.front(FRONT_AXLE),
            "rear_wheel": REAR_AXLE,
            "sprocket": REAR_AXLE,
            "crank": BRACKET,
        }
        for side, sign in (("L", 1.0), ("R", -1.0)):
            found[f"pedal.{side}"] = BRACKET + np.array([sign * PEDAL_OUT, -sign * CRANK, 0.0])
            found[f"grip.{side}"] = self.grip(sign)
        return found


def fit_of(skeleton: Skeleton) -> Fit:
    """How a skeleton's bicycle is fitted, from its joints.

    Args:
        skeleton: a cyclist's.
    """
    share = skeleton.height / REFERENCE
    at = {name: place / share for name, place in skeleton.joints.items()}
    stretch = float((FRONT_AXLE - at["front_wheel"])[1])
    grip = at["grip.L"]
    return Fit(
        saddle=float((at["pelvis"] - at["crank"]) @ SEAT_TUBE),
        stretch=stretch,
        ahead=float((on_axis(STEM) - grip)[1]) - stretch,
        height=float(grip[2]),
        out=float(grip[0]),
    )


def _tube(
    points, radii, bone: str, material: str, count: int = 10, flat: float = 1.0, ends: bool = True
) -> Surface:
    """A tube through points, closed where its ends can be seen; `flat` widens it along X."""
    cage = Cage()
    points = np.asarray(points, dtype=float)
    radii = np.broadcast_to(radii, len(points))
    rings = []
    for i, point in enumerate(points):
        ahead = unit(points[min(i + 1, len(points) - 1)] - points[max(i - 1, 0)])
        across = X if abs(ahead[0]) < 0.8 else Y
        x = unit(across - ahead * float(ahead @ across))
        y = np.cross(ahead, x)
        section = ring(point, x, y, radii[i] * flat, radii[i], radii[i], even_angles(count))
        rings.append(cage.add(section, {bone: 1.0}))
    closed = material if ends else ""
    cage.tube(rings, material, start=closed, end=closed)
    return cage.surface(0)


def _turned(centre, profile, bone: str, materials, count: int = 48) -> Surface:
    """A body of revolution about an axle along X.

    Args:
        centre: (3,) on the axle.
        profile: (x, radius) pairs, a closed loop or an open line.
        bone: what moves it.
        materials: one for all, or one for each gap of the loop.
        count: segments around.
    """
    cage = Cage()
    turns = even_angles(count)
    around = np.stack([np.zeros(count), np.cos(turns), np.sin(turns)], axis=1)
    loops = [
        cage.add(np.asarray(centre) + X * x + around * radius, {bone: 1.0})
        for x, radius in profile
    ]
    for i, lower in enumerate(loops):
        material = materials if isinstance(materials, str) else materials[i]
        cage.bridge(lower, loops[(i + 1) % len(loops)], material)
    return cage.surface(0)


def _wheel(axle, bone: str) -> list[Surface]:
    """Tyre, rim, spokes and hub."""
    section = even_angles(6, 0.5 * pi)  # a corner of the section is on the ground
    tyre = [(TYRE * cos(a), WHEEL - TYRE + TYRE * sin(a)) for a in section]
    outer, inner = WHEEL - 1.7 * TYRE, WHEEL - 3.4 * TYRE
    rim = [(0.011, outer), (0.009, inner), (-0.009, inner), (-0.011, outer)]
    hub = [(0.048, 0.008), (0.030, 0.009), (0.028, 0.022), (0.022, 0.010), (-0.022, 0.010),
           (-0.028, 0.022), (-0.030, 0.009), (-0.048, 0.008)]
    valve = axle + np.array([0.0, 0.0, inner])
    parts = [
        _turned(axle, tyre, bone, "base"),
        _turned(axle, rim, bone, ["edge", "base", "edge", "base"]),
        _turned(axle, hub, bone, "edge", 12),
        _tube([valve, valve - Z * 0.028], [0.0028, 0.0022], bone, "trim", 6),
    ]
    spokes = 20
    for k in range(spokes):
        side = 1.0 if k % 2 == 0 else -1.0
        out = 2.0 * pi * (k + 0.5) / spokes
        # Spokes leave the hub along its edge, by turns ahead and behind.
        lead = radians(52.0) * (1.0 if k % 4 < 2 else -1.0)
        start = np.array([side * 0.027, 0.021 * cos(out + lead), 0.021 * sin(out + lead)])
        end = np.array([0.0, inner * cos(out), inner * sin(out)])
        parts.append(_tube([axle + start, axle + end], 0.0014, bone, "edge", 4, ends=False))
    # A reflector in the spokes shows how the wheel turns.
    turn = radians(40.0)
    parts.append(
        box(
            axle + np.array([0.0, 0.21 * cos(turn), 0.21 * sin(turn)]),
            np.array([0.010, 0.030, 0.058]),
            bone,
            "trim",
            np.stack([X, [0.0, cos(turn), sin(turn)], [0.0, -sin(turn), cos(turn)]], axis=1),
        )
    )
    return parts


def _head_tube(fit: Fit) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper end of the head tube: it is longer under high handlebars."""
    taller = min(max(0.75 * (fit.height - GRIP_HEIGHT), 0.0), MOST_HEAD)
    return fit.front(on_axis(0.725)), fit.front(on_axis(0.855 + taller))


def _frame(fit: Fit) -> list[Surface]:
    bone, paint = "DEF-bike", "equipment"
    raised = fit.saddle - HIP_ALONG
    # The post takes up most of a lower saddle, the seat tube the rest.
    lower = min(raised + 0.090, 0.0)
    seat_top = BRACKET + SEAT_TUBE * (0.520 + lower)
    cluster = BRACKET + SEAT_TUBE * (0.485 + lower)
    head_low, head_top = _head_tube(fit)
    axis = unit(head_top - head_low)
    parts = [
        _tube([head_low, head_low + axis * 0.012, head_top - axis * 0.012, head_top],
              [0.022, 0.0195, 0.0195, 0.022], bone, paint, 12),
        _tube([head_top - axis * 0.028, cluster], [0.0165, 0.0140], bone, paint, 12),
        _tube([head_low + axis * 0.030, BRACKET], [0.0195, 0.0195], bone, paint, 12),
        _tube([BRACKET, seat_top], [0.0160, 0.0150], bone, paint, 12),
        _tube([BRACKET - X * 0.036, BRACKET + X * 0.036], 0.0215, bone, paint, 12),
        _tube([seat_top - SEAT_TUBE * 0.018, seat_top + SEAT_TUBE * 0.004], 0.0185, bone, "base"),
        _tube([seat_top, BRACKET + SEAT_TUBE * (0.665 + raised)], 0.0132, bone, "base"),
    ]
    for sign in (1.0, -1.0):
        end = REAR_AXLE + X * sign * 0.058
        bend = BRACKET + (REAR_AXLE - BRACKET) * 0.30
        parts.append(
            _tube([BRACKET + X * sign * 0.014 + Y * 0.012, bend + X * sign * 0.030, end],
                  [0.0100, 0.0095, 0.0075], bone, paint)
        )
        bend = cluster + (REAR_AXLE - cluster) * 0.24
        parts.append(
            _tube([cluster + X * sign * 0.012, bend + X * sign * 0.030, end],
                  [0.0085, 0.0080, 0.0070], bone, paint)
        )
        parts.append(
            _tube([end - X * sign * 0.016, end + X * sign * 0.010], 0.0105, bone, "edge", 8)
        )
    parts.append(_saddle(bone, raised))
    parts += _bottle(bone, head_low)
    return parts


def _saddle(bone: str, raised: float) -> Surface:
    """The saddle: half-width, height of the top and depth, from tail to nose."""
    top = BRACKET + SEAT_TUBE * (0.675 + raised)
    cage = Cage()
    rings = []
    for at, half, rise, deep in (
        (0.118, 0.050, 0.022, 0.012), (0.105, 0.068, 0.026, 0.026), (0.070, 0.071, 0.024, 0.034),
        (0.020, 0.052, 0.018, 0.032), (-0.040, 0.030, 0.015, 0.028), (-0.110, 0.021, 0.014, 0.026),
        (-0.142, 0.018, 0.011, 0.022), (-0.150, 0.010, 0.005, 0.012),
    ):
        middle = top + Y * at + Z * (rise - 0.5 * deep)
        rings.append(
            cage.add(ring(middle, X, Z, half, 0.5 * deep, 0.5 * deep, even_angles(12), 2.6),
                     {bone: 1.0})
        )
    cage.tube(rings, "base", start="base", end="base")
    return cage.surface(1)


def _bottle(bone: str, head_low: np.ndarray) -> list[Surface]:
    """A bottle on the down tube."""
    along = unit(head_low - BRACKET)
    up = unit(Z - along * float(along @ Z))
    foot = BRACKET + along * 0.150 + up * 0.062
    return [
        _tube([foot, foot + along * 0.006, foot + along * 0.120, foot + along * 0.150,
               foot + along * 0.160],
              [0.030, 0.036, 0.036, 0.024, 0.020], bone, "helmet", 12),
        _tube([foot + along * 0.160, foot + along * 0.180], [0.013, 0.009], bone, "base", 8),
        _tube([foot + along * 0.030, foot + along * 0.036], 0.0385, bone, "base", 12),
        _tube([foot + along * 0.090, foot + along * 0.096], 0.0385, bone, "base", 12),
    ]


def _fork(fit: Fit) -> list[Surface]:
    bone = "DEF-fork"
    axis = steering_axis()
    crown, axle = fit.front(CROWN), fit.front(FRONT_AXLE)
    head_top = _head_tube(fit)[1]
    stem = fit.front(on_axis(STEM + max(fit.height - GRIP_HEIGHT, LEAST_STEM)))
    clamp = fit.grip(0.0) + Y * 0.030
    parts = [
        _tube([crown - axis * 0.012, crown + axis * 0.020], [0.024, 0.0215], bone, "equipment", 12),
        _tube([head_top, head_top + axis * 0.018, stem + axis * 0.008], [0.0205, 0.0170, 0.0170],
              bone, "base", 12),
        _tube([stem - axis * 0.012, clamp], [0.0175, 0.0155], bone, "base", 10),
    ]
    for sign in (1.0, -1.0):
        side = X * sign
        shoulder = crown + side * 0.030
        lower = crown + (axle - crown) * 0.60 + Y * 0.014 + side * 0.047
        parts += [
            _tube([crown, shoulder + side * 0.010 - axis * 0.012,
                   crown - axis * 0.060 + side * 0.045, lower, axle + side * 0.053],
                  [0.0165, 0.0150, 0.0130, 0.0110, 0.0080], bone, "equipment"),
            _tube([axle + side * 0.045, axle + side * 0.062], 0.0105, bone, "edge", 8),
        ]
        # Straight bars: from the clamp they rise a little, then sweep back.
        inner = clamp + side * 0.060
        grip = fit.grip(sign)
        way = np.array([sign * cos(SWEEP), sin(SWEEP), 0.0])
        parts += [
            _tube([clamp, inner, grip - way * 0.060,
                   grip + way * 0.050],
                  [0.0155, 0.0145, 0.0112, 0.0112], bone, "base"),
            _tube([grip - way * 0.064, grip - way * 0.060, grip + way * 0.060, grip + way * 0.066],
                  [0.0130, 0.0165, 0.0165, 0.0120], bone, "base", 12),
            _tube([grip - way * 0.085 - Y * 0.006, grip - way * 0.080 - Y * 0.045 - Z * 0.012,
                   grip - way * 0.010 - Y * 0.062 - Z * 0.020,
                   grip + way * 0.045 - Y * 0.056 - Z * 0.018],
                  [0.0080, 0.0070, 0.0055, 0.0050], bone, "edge", 8),
        ]
    return parts


def _crank() -> list[Surface]:
    bone = "DEF-crank"
    radius = LINK * TEETH / (2.0 * pi)
    at = BRACKET - X * CHAIN_OUT
    parts = [
        _turned(at, [(0.002, radius), (0.002, radius - 0.016), (-0.002, radius - 0.016),
                     (-0.002, radius)], bone, "edge", 40),
        _tube([BRACKET - X * 0.062, BRACKET + X * 0.062], 0.011, bone, "edge", 12),
    ]
    for k in range(5):
        turn = 2.0 * pi * k / 5 + 0.3
        way = np.array([0.0, cos(turn), sin(turn)])
        parts.append(_tube([at, at + way * (radius - 0.010)], [0.010, 0.006], bone, "base", 6))
    for sign in (1.0, -1.0):
        start = BRACKET + X * sign * 0.058
        end = BRACKET + np.array([sign * ARM_OUT, -sign * CRANK, 0.0])
        parts += [
            _tube([start - X * sign * 0.010, start + X * sign * 0.012], 0.019, bone, "base", 12),
            _tube([start, end], [0.0150, 0.0115], bone, "base", 10, 0.7),
            _tube([end - X * sign * 0.010, end + X * sign * 0.070], [0.013, 0.0055], bone, "edge"),
        ]
    return parts


def _pedal(side: str) -> list[Surface]:
    sign = 1.0 if side == "L" else -1.0
    place = BRACKET + np.array([sign * (PEDAL_OUT + 0.004), -sign * CRANK, 0.0])
    bone = f"DEF-pedal.{side}"
    parts = [
        box(place + Y * at, np.array([0.088, 0.012, 0.018]), bone, "base")
        for at in (-0.036, 0.036)
    ]
    parts += [
        box(place + X * at, np.array([0.012, 0.078, 0.015]), bone, "base") for at in (-0.036, 0.036)
    ]
    parts.append(_tube([place - X * 0.042, place + X * 0.042], 0.0085, bone, "base", 8))
    return parts


def chain_line() -> tuple[np.ndarray, np.ndarray]:
    """Middles (m, 3) and directions (m, 3) of the chain's links, all around.

    A belt around two circles whose radii follow from the numbers of teeth;
    the links are spaced evenly, about one pitch apart.
    """
    front, rear = BRACKET - X * CHAIN_OUT, REAR_AXLE - X * CHAIN_OUT
    big, small = (LINK * teeth / (2.0 * pi) for teeth in (TEETH, SPROCKET_TEETH))
    line = rear - front
    distance = float(np.hypot(line[1], line[2]))
    slope = np.arctan2(line[2], line[1])
    off = np.arccos((big - small) / distance)  # of the points of tangency, from the line
    straight = np.sqrt(distance**2 - (big - small) ** 2)
    around_big, around_small = 2.0 * (pi - off) * big, 2.0 * off * small
    total = 2.0 * straight + around_big + around_small
    count = round(total / LINK)
    s = np.arange(count) * (total / count)

    def circle(centre, radius, angle):
        way = np.stack([np.zeros_like(angle), np.cos(angle), np.sin(angle)], axis=-1)
        return centre + radius * way

    upper, lower = slope + off, slope - off
    start = circle(front, big, np.array([upper]))[0]
    end = circle(rear, small, np.array([upper]))[0]
    back_start = circle(rear, small, np.array([lower]))[0]
    back_end = circle(front, big, np.array([lower]))[0]
    points = np.zeros((count, 3))
    # Top run to the rear, around the sprocket, bottom run ahead, around the chainring.
    for i, at in enumerate(s):
        if at < straight:
            points[i] = start + (end - start) * at / straight
        elif at < straight + around_small:
            turn = upper - (at - straight) / small
            points[i] = circle(rear, small, np.array([turn]))[0]
        elif at < 2.0 * straight + around_small:
            share = (at - straight - around_small) / straight
            points[i] = back_start + (back_end - back_start) * share
        else:
            turn = lower - (at - 2.0 * straight - around_small) / big
            points[i] = circle(front, big, np.array([turn]))[0]
    ahead = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
    return points, ahead / np.linalg.norm(ahead, axis=1)[:, None]


def _chain() -> Surface:
    """Links, by turns wide and narrow."""
    cage = Cage()
    for i, (point, way) in enumerate(zip(*chain_line(), strict=True)):
        up = np.cross(X, way)
        wide, tall = (0.0042, 0.0042) if i % 2 else (0.0026, 0.0034)
        half = 0.52 * LINK
        rings = []
        for end in (-half, half):
            corners = [(wide, tall), (wide, -tall), (-wide, -tall), (-wide, tall)]
            rings.append(
                cage.add([point + way * end + X * x + up * z for x, z in corners],
                         {"DEF-bike": 1.0})
            )
        cage.bridge(rings[0], rings[1], "edge")
        if i % 2:  # the narrow links end inside the wide ones
            cage.face(rings[0][::-1], "edge")
            cage.face(rings[1], "edge")
    return cage.surface(0)


def _sprocket() -> list[Surface]:
    radius = LINK * SPROCKET_TEETH / (2.0 * pi)
    at = REAR_AXLE - X * CHAIN_OUT
    return [
        _turned(at, [(0.002, radius), (0.002, 0.010), (-0.002, 0.010), (-0.002, radius)],
                "DEF-sprocket", "edge", 16)
    ]


def bicycle(skeleton: Skeleton) -> Surface:
    """The bicycle of a cyclist's skeleton.

    Args:
        skeleton: the cyclist's.
    """
    fit = fit_of(skeleton)
    parts = [
        *_frame(fit), *_fork(fit), *_wheel(fit.front(FRONT_AXLE), "DEF-front_wheel"),
        *_wheel(REAR_AXLE, "DEF-rear_wheel"), *_crank(), *_pedal("L"), *_pedal("R"), *_sprocket(),
        _chain(),
    ]
    whole = joined(parts)
    size = skeleton.height / REFERENCE
    return Surface(
        whole.points * size, whole.faces, whole.materials, whole.bones, whole.weights, whole.smooth
    )
