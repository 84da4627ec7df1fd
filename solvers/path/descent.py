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


def stand_on(
    field: Field,
    x: np.ndarray,
    y: np.ndarray,
    psi: np.ndarray,
    sheet: np.ndarray | None = None,
) -> Footing:
    """Look up the ground under feet.

    Args:
        field: the terrain.
        x: (n,) m.
        y: (n,) m.
        psi: (n,) direction in the ground plan, rad, 0 along -Y.
        sheet: (n,) int, the sheet of the terrain, or None where there is one only.

    Returns:
        The ground.
    """
    return head(field.look_up(x, y, sheet), psi)


def head(table: np.ndarray, psi: np.ndarray) -> Footing:
    """The ground under feet, from what is known of it and where they head.

    Args:
        table: (8, n) from `Field.look_up`.
        psi: (n,) direction in the ground plan, rad, 0 along -Y.

    Returns:
        The ground.
    """
    ux, lx = np.sin(psi), np.cos(psi)  # and u = (ux, -lx), l = (lx, ux)
    # Down the rows: slope ahead, and the change of both slopes on the way ahead.
    ahead, by_x, by_y = table[:3] * ux - table[3:6] * lx
    p, q = table[0], table[3]
    left = p * lx + q * ux
    slope = 1.0 + ahead * ahead
    return Footing(
        height=table[6],
        support=table[7],
        ahead=ahead,
        left=left,
        along=np.sqrt(slope),
        area=np.sqrt(slope + left * left),
        bend=by_x * ux - by_y * lx,
        twist=by_x * lx + by_y * ux,
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
    all_forces: bool = True,
) -> Dynamics:
    """Equations of motion over terrain (see the top of this module).

    Args:
        under: the ground.
        theta: (n,) lean from the normal, rad.
        omega: (n,) its rate against the world, rad/s.
        curvature: (n,) of the foot's path in the surface, 1/m.
        speed: (n,) of the centre of mass, m/s.
        settings: body, gravity and what slows down.
        all_forces: False to leave out the load, 0 then, where the motion does
            not depend on it.

    Returns:
        The rates.
    """
    g, height = settings.gravity, settings.height
    j = effective_length(settings.mass, height, settings.inertia)
    sine, cosine = np.sin(theta), np.cos(theta)
    foot = speed / np.maximum(1.0 - (height * curvature) * sine, LEAST_SHARE)
    turn = curvature * foot
    along, left, thin = under.along, under.left, 1.0 / under.area
    plan = foot / along
    bent = under.bend * plan
    weight = g * thin
    g_normal = weight + bent * plan * thin
    g_lateral = -weight * left / along
    pushed = np.maximum(g_normal, LEAST_LOAD * g)
    alpha = (pushed * sine + (g_lateral - turn * speed) * cosine) * (1.0 / j)
    psi_rate = (turn * (along * along) - bent * left * thin) * thin
    load = brake = accel = 0.0 * theta
    free = settings.speed_mode == "TERRAIN"
    if all_forces or free:
        load = g_normal - height * (sine * alpha + cosine * (omega * omega))
    if free:
        drag = 0.5 * AIR_DENSITY * settings.drag_area / settings.mass
        accel = (height * omega) * (turn * cosine) - settings.friction * np.maximum(load, 0.0)
        accel -= drag * speed * speed + g * under.ahead / along
        if math.isfinite(settings.most_speed):
            brake = accel - (settings.most_speed - speed) * (1.0 / BRAKING_TIME)
            brake = np.minimum(np.maximum(brake, 0.0), settings.braking)
            accel -= brake
    return Dynamics(
        alpha=alpha,
        lean_rate=omega - under.rolling(foot),
        turn=turn,
        psi_rate=psi_rate,
        foot=foot,
        foot_plan=plan,
        accel=accel,
        g_normal=pushed,
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
    sheet: np.ndarray | None = None,
) -> StageMotion:
    """Move figures on over terrain at constant rates of curvature.

    The classical Runge-Kutta step of order 4 on lean and its rate, direction,
    place and speed together. Its two places half way, and the two at the end,
    differ by h^2 / 4 of the acceleration, and by less: a centimetre. The ground
    is looked up at the first of them, and its slopes are taken on to the other
    by its curvature.

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
        sheet: (n,) int, the sheet of the terrain on which each of them is, or
            None where there is one only.

    Returns:
        The motion of those that have not fallen.
    """
    h = step
    x, y, psi, theta, omega, c0, v = state
    kept = np.arange(len(rate))
    curvature = c0 + rate * (0.5 * h * np.arange(2 * steps + 1)[:, None])
    out = np.empty((8, steps + 1, len(rate)))  # x, y, psi, theta, omega, speed, foot, foot half way
    given = speed if speed is None or np.ndim(speed) else float(speed)

    def speed_at(row: int) -> float | np.ndarray | None:
        return given[row] if isinstance(given, np.ndarray) else given

    def evaluate(
        values: np.ndarray, row: int, near: tuple[np.ndarray, np.ndarray] | None = None
    ) -> tuple[tuple[np.ndarray, np.ndarray], Footing, Dynamics, np.ndarray]:
        """Rates of change; `near` is the place where the ground was looked up, and the ground."""
        x, y, psi, theta, omega, v = values
        if given is None:
            v = np.maximum(v, SLOWEST)
        if near is None:
            place, table = values, field.look_up(x, y, sheet)
        else:
            place, table = near
            dx, dy = x - place[0], y - place[1]
            table = table.copy()
            table[::3][:2] += table[1:6:3] * dx + table[2:6:3] * dy
        under = head(table, psi)
        rates = dynamics(under, theta, omega, curvature[row], v, settings, False)
        change = np.empty_like(values)
        np.multiply(rates.foot_plan, under.sine, out=change[0])
        np.multiply(rates.foot_plan, -under.cosine, out=change[1])
        change[2], change[3], change[4] = rates.psi_rate, rates.lean_rate, rates.alpha
        change[5] = rates.accel
        return (place, table), under, rates, change

    def moved(change: np.ndarray, row: int) -> np.ndarray:
        """The state that far on, at the speed that is given then."""
        change += values
        known = speed_at(row)
        if known is not None:
            change[5] = known
        return change

    values = np.stack((x, y, psi, theta, omega, v))
    values = moved(np.zeros_like(values), 0)
    _, under, rates, k1 = evaluate(values, 0)
    lean, support = theta - under.plumb(), under.support
    out[:6, 0], out[6, 0] = values, rates.foot
    for i in range(steps):
        row = 2 * i + 1
        near, middle, _, k2 = evaluate(moved(0.5 * h * k1, row), row)
        _, _, at_middle, k3 = evaluate(moved(0.5 * h * k2, row), row, near)
        near, _, _, k4 = evaluate(moved(h * k3, row + 1), row + 1)
        k2 += k3
        k2 += k2
        k2 += k1
        k2 += k4
        k2 *= h / 6.0
        before, values = values[4], moved(k2, row + 1)
        np.maximum(values[5], 0.0, out=values[5])
        _, under, rates, k1 = evaluate(values, row + 1, near)
        support = np.minimum(np.minimum(support, middle.support), under.support)
        out[:6, i + 1], out[6, i + 1], out[7, i] = values, rates.foot, at_middle.foot
        if limit == math.inf:
            continue
        # The lean from the vertical changes at the rate against the world.
        was, lean = lean, values[3] - under.plumb()
        up = np.abs(lean) <= limit
        turned = before * values[4] < 0.0
        if turned.any():
            change = np.where(turned, before - values[4], 1.0)
            peak = was + 0.5 * h * before * before / change
            up &= (np.abs(peak) <= limit) | ~turned
        if up.all():
            continue
        # Those that have fallen, most of a search's tries, are not moved any further.
        rows = np.flatnonzero(up)
        kept, out, curvature = kept[rows], out[:, :, rows], curvature[:, rows]
        values, k1, lean, support = values[:, rows], k1[:, rows], lean[rows], support[rows]
        if isinstance(given, np.ndarray):
            given = given[:, rows]
        if isinstance(h, np.ndarray):
            h = h[rows]
        if sheet is not None:
            sheet = sheet[rows]
    return StageMotion(
        kept=kept,
        theta=out[3],
        omega=out[4],
        curvature=curvature[::2],
        psi=out[2],
        x=out[0],
        y=out[1],
        foot=out[6],
        foot_middle=out[7, :-1],
        speed=out[5],
        support=support > 0.999,
    )
