# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of many figures through one stage over terrain.

On the surface z = h(x, y), with slopes p and q and second derivatives H, a
foot that heads into the direction u of the ground plan, l to its left, has the
slope s = grad h . u ahead and r = grad h . l to its left. With N = sqrt(1 +
s^2) and W = sqrt(1 + p^2 + q^2), tangent t, left b and normal n of its path
are

    t = (u, s) / N,   b_z = r / (W N),   n = (-p, -q, 1) / W,

so that gravity has the parts g / W along the normal, -g r / (W N) to the left
and -g s / N ahead: those of the turning solver on a tilted plane
(`turning.equations`, `forced`). To them a curved surface adds

- the normal acceleration of the foot, kappa_n V_f^2 = H_uu V_h^2 / W: who runs
  through a hollow is pressed down, over a crest is made light;
- the rolling of the ground's frame, at the rate -V_f (H_ul - r s H_uu / N^2) /
  W^2 to the left. Lean is measured from the normal; the state keeps its rate
  against the world, omega, of which the rolling is taken to get theta';
- the turning of geodesics in the ground plan:
  psi' = C V_f N^2 / W - V_h H_uu r / W^2, with V_h = V_f / N.

C is the geodesic curvature of the foot's path: what a ski or a wheel steers.
What pitching does to the body (the centre of mass is nearer to the centre of a
hollow than the foot is, by kappa_n l) is left out, as the paper leaves it out.

The speed is given, or integrated:

    V' = g_ahead + l omega C V_f cos(theta) - mu F_n / m - rho CdA V^2 / (2 m),

braked, where a most speed is asked for, so that it is never approached faster
than within `BRAKING_TIME`, by no more than the braking limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..turning.pendulum import effective_length
from ..turning.settings import AIR_DENSITY
from .settings import PathSettings
from .stages import LEAST_SHARE, StageMotion
from .terrain import Field

BRAKING_TIME = 0.5  # s
LEAST_LOAD = 0.05  # of the weight; the ground is kept to over crests, too
SLOWEST = 0.05  # m/s


@dataclass(frozen=True)
class Footing:
    """The ground under feet that head somewhere.

    Attributes:
        height: (n,) m.
        support: (n,) 1 on the terrain, less where it ends.
        ahead: (n,) slope s ahead.
        left: (n,) slope r to the left.
        along: (n,) N, length along the way for each metre of the ground plan.
        area: (n,) W, area of the surface for each square metre of it.
        bend: (n,) H_uu, 1/m.
        twist: (n,) H_ul, 1/m.
        sine: (n,) of the direction psi.
        cosine: (n,) likewise.
        p: (n,) slope dh/dx.
        q: (n,) slope dh/dy.
    """

    height: np.ndarray
    support: np.ndarray
    ahead: np.ndarray
    left: np.ndarray
    along: np.ndarray
    area: np.ndarray
    bend: np.ndarray
    twist: np.ndarray
    sine: np.ndarray
    cosine: np.ndarray
    p: np.ndarray
    q: np.ndarray

    def plumb(self) -> np.ndarray:
        """Lean of the vertical from the normal, seen along the way, rad, + left."""
        return np.arctan2(self.left, self.along)

    def rolling(self, foot: np.ndarray) -> np.ndarray:
        """Rate at which the ground's frame rolls to the left, rad/s.

        Args:
            foot: (n,) speed of the foot, m/s.
        """
        twist = self.twist - self.left * self.ahead * self.bend / self.along**2
        return -foot * twist / self.area**2

    def frame(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Forward, left and normal, each (n, 3)."""
        forward = np.stack((self.sine, -self.cosine, self.ahead), axis=1) / self.along[:, None]
        normal = np.stack((-self.p, -self.q, np.ones_like(self.p)), axis=1) / self.area[:, None]
        return forward, np.cross(normal, forward), normal


def stand_on(field: Field, x: np.ndarray, y: np.ndarray, psi: np.ndarray) -> Footing:
    """Look up the ground under feet.

    Args:
        field: the terrain.
        x: (n,) m.
        y: (n,) m.
        psi: (n,) direction in the ground plan, rad, 0 along -Y.

    Returns:
        The ground.
    """
    under = field.at(x, y)
    ux, lx = np.sin(psi), np.cos(psi)  # and u = (ux, -lx), l = (lx, ux)
    p, q = under.p, under.q
    ahead, left = p * ux - q * lx, p * lx + q * ux
    slope = 1.0 + ahead * ahead
    xy = ux * lx
    return Footing(
        height=under.height,
        support=under.support,
        ahead=ahead,
        left=left,
        along=np.sqrt(slope),
        area=np.sqrt(slope + left * left),
        bend=under.xx * ux * ux - 2.0 * under.xy * xy + under.yy * lx * lx,
        twist=(under.xx - under.yy) * xy + under.xy * (ux * ux - lx * lx),
        sine=ux,
        cosine=lx,
        p=p,
        q=q,
    )


@dataclass(frozen=True)
class Dynamics:
    """Rates of change, and what goes with them.

    Attributes:
        alpha: (n,) angular acceleration against the world, rad/s^2.
        lean_rate: (n,) theta', rad/s.
        turn: (n,) C V_f, rate of turning in the surface, rad/s.
        psi_rate: (n,) psi' in the ground plan, rad/s.
        foot: (n,) speed of the foot, m/s.
        foot_plan: (n,) the same in the ground plan, m/s.
        accel: (n,) V', m/s^2; 0 where the speed is given.
        g_normal: (n,) gravity and the foot's acceleration along the normal, m/s^2.
        g_lateral: (n,) gravity to the left, m/s^2.
        load: (n,) F_n / m, m/s^2; negative where the figure would lift off.
        brake: (n,) deceleration by braking, m/s^2.
    """

    alpha: np.ndarray
    lean_rate: np.ndarray
    turn: np.ndarray
    psi_rate: np.ndarray
    foot: np.ndarray
    foot_plan: np.ndarray
    accel: np.ndarray
    g_normal: np.ndarray
    g_lateral: np.ndarray
    load: np.ndarray
    brake: np.ndarray


def dynamics(
    under: Footing,
    theta: np.ndarray,
    omega: np.ndarray,
    curvature: np.ndarray,
    speed: np.ndarray,
    settings: PathSettings,
) -> Dynamics:
    """Equations of motion over terrain (see the top of this module).

    Args:
        under: the ground.
        theta: (n,) lean from the normal, rad.
        omega: (n,) its rate against the world, rad/s.
        curvature: (n,) of the foot's path in the surface, 1/m.
        speed: (n,) of the centre of mass, m/s.
        settings: body, gravity and what slows down.

    Returns:
        The rates.
    """
    g, height = settings.gravity, settings.height
    j = effective_length(settings.mass, height, settings.inertia)
    sine, cosine = np.sin(theta), np.cos(theta)
    foot = speed / np.maximum(1.0 - curvature * height * sine, LEAST_SHARE)
    turn = curvature * foot
    plan = foot / under.along
    pressed = under.bend * plan * plan / under.area
    g_normal = np.maximum(g / under.area + pressed, LEAST_LOAD * g)
    g_lateral = -g * under.left / (under.area * under.along)
    alpha = (g_normal * sine + g_lateral * cosine - turn * speed * cosine) / j
    psi_rate = turn * under.along**2 / under.area - plan * under.bend * under.left / under.area**2
    swing = height * (sine * alpha + cosine * omega * omega)
    load = g / under.area + pressed - swing
    accel = brake = np.zeros_like(theta)
    if settings.speed_mode == "TERRAIN":
        drag = 0.5 * AIR_DENSITY * settings.drag_area / settings.mass
        accel = height * omega * turn * cosine - settings.friction * np.maximum(load, 0.0)
        accel = accel - drag * speed * speed - g * under.ahead / under.along
        if math.isfinite(settings.most_speed):
            most = (settings.most_speed - speed) / BRAKING_TIME
            brake = np.minimum(np.maximum(accel - most, 0.0), settings.braking)
            accel = accel - brake
    return Dynamics(
        alpha=alpha,
        lean_rate=omega - under.rolling(foot),
        turn=turn,
        psi_rate=psi_rate,
        foot=foot,
        foot_plan=plan,
        accel=accel,
        g_normal=g_normal,
        g_lateral=g_lateral,
        load=load,
        brake=brake,
    )


def descend(
    field: Field,
    state: np.ndarray,
    rate: np.ndarray,
    speed: float | np.ndarray | None,
    settings: PathSettings,
    limit: float,
    step: float | np.ndarray,
    steps: int,
) -> StageMotion:
    """Move figures on over terrain at constant rates of curvature.

    The classical Runge-Kutta step of order 4 on lean and its rate, direction,
    place and speed together.

    Args:
        field: the terrain.
        state: (7, n) x, y, psi, theta, omega (against the world), curvature
            and speed at the start.
        rate: (n,) rate of curvature, 1/(m s).
        speed: given speed of the centre of mass, m/s: a float, or (2 steps +
            1, n) at ends and middles of the steps; None to integrate it.
        settings: body, gravity and what slows down.
        limit: figures that lean further from the vertical have fallen;
            infinite to keep all.
        step: h, s; a float or (n,).
        steps: m, how many.

    Returns:
        The motion of those that have not fallen.
    """
    n, h, half = len(rate), step, 0.5 * step
    x, y, psi, theta, omega, c0, v = state
    out = np.empty((6, steps + 1, n))  # x, y, psi, theta, omega, speed
    feet, middles = np.empty((steps + 1, n)), np.empty((steps, n))
    curvature = c0 + rate * (half * np.arange(2 * steps + 1)[:, None])
    up, support = np.ones(n, dtype=bool), np.ones(n)

    def given(row: int) -> np.ndarray | None:
        if speed is None:
            return None
        return speed[row] if np.ndim(speed) else np.full(n, float(speed))  # type: ignore[index]

    def evaluate(values, row):
        x, y, psi, theta, omega, v = values
        known = given(row)
        v = np.maximum(v, SLOWEST) if known is None else known
        under = stand_on(field, x, y, psi)
        rates = dynamics(under, theta, omega, curvature[row], v, settings)
        return under, rates, np.stack((
            rates.foot_plan * under.sine, -rates.foot_plan * under.cosine, rates.psi_rate,
            rates.lean_rate, rates.alpha, rates.accel,
        ))  # fmt: skip

    first = given(0)
    values = np.stack((x, y, psi, theta, omega, v if first is None else first))
    under, rates, k1 = evaluate(values, 0)
    lean = theta - under.plumb()
    for i in range(steps):
        out[:, i], feet[i] = values, rates.foot
        support = np.minimum(support, under.support)
        middle, at_middle, k2 = evaluate(values + half * k1, 2 * i + 1)
        support = np.minimum(support, middle.support)
        _, at_middle, k3 = evaluate(values + half * k2, 2 * i + 1)
        middles[i] = at_middle.foot
        _, _, k4 = evaluate(values + h * k3, 2 * i + 2)
        before = values[4]
        values = values + (h / 6.0) * (k1 + 2.0 * (k2 + k3) + k4)
        end = given(2 * i + 2)
        values[5] = np.maximum(values[5], 0.0) if end is None else end
        under, rates, k1 = evaluate(values, 2 * i + 2)
        if limit < math.inf:
            # The lean from the vertical changes at the rate against the world.
            was, lean = lean, values[3] - under.plumb()
            up &= np.abs(lean) <= limit
            turned = before * values[4] < 0.0
            if turned.any():
                change = np.where(turned, before - values[4], 1.0)
                peak = was + half * before * before / change
                up &= (np.abs(peak) <= limit) | ~turned
    out[:, steps], feet[steps] = values, rates.foot
    solid = np.minimum(support, under.support) > 0.999
    kept = np.arange(n) if up.all() else np.flatnonzero(up)
    if len(kept) < n:
        out, feet, middles = out[:, :, kept], feet[:, kept], middles[:, kept]
        curvature, solid = curvature[:, kept], solid[kept]
    return StageMotion(
        kept=kept,
        theta=out[3],
        omega=out[4],
        curvature=curvature[::2],
        psi=out[2],
        x=out[0],
        y=out[1],
        foot=feet,
        foot_middle=middles,
        speed=out[5],
        support=solid,
    )
