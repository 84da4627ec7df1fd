# SPDX-License-Identifier: GPL-3.0-or-later
"""The equations of motion and one solver step, written once.

`make_equations` is given sine and cosine: with those of `math` it makes the
step for one figure (floats), with those of numpy the step for a whole batch
(arrays). Everything else is plain arithmetic, so the two cannot drift apart.

With lean theta (left positive), its rate omega, travel direction psi,
centre-of-mass speed V, foot curvature C, ground normal gravity g_n and the
part g_lat of the slope's gravity that points to the left:

    J alpha = g_n sin(theta) + g_lat cos(theta) - k,  J = (I + m l^2) / (m l)
    k = C V^2 cos(theta) / (1 - C l sin(theta)) = V psi' cos(theta)

which is Eq. 2 of van de Panne, Fiume and Vranesic (1993) with the slope's
gravity added. The inverse, C = k / (V^2 cos(theta) + l k sin(theta)), is the
physical root of their Eq. 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# The order in which the equations take the quantities of a half step.
PARAMETERS = (
    "omega_0",
    "theta_max",
    "speed",
    "g_normal",
    "g_slope",
    "fall_line",
    "J",
    "height",
    "friction",
    "drag",
    "max_curvature",
    "max_curvature_rate",
)

GAIN = 0.7  # of the pull onto the ellipse, in units of omega_0
SOFT = 0.06  # r^2 at which half of the control is that of catching
REST = 0.2  # makes the pull away from the upright GAIN/REST, in the same units
OUTSIDE = 1.000001  # E from which a state counts as outside the ellipse
MARGIN = 0.05  # that a turn held back by the limits keeps from them, to steer with


@dataclass(frozen=True)
class Equations:
    """The functions that `make_equations` builds.

    Attributes:
        demand: (theta_max, omega_0, v, g_normal, J, height, max_curvature,
            max_curvature_rate) -> what the ellipse asks for, as a multiple of
            what the limits allow.
        allowed: (the same) -> theta_max of the ellipse that fits.
        ellipse: (p, beta) -> what the control takes of the wanted ellipse.
        rotation: (ellipse, h) -> the motion along it within h.
        free: (theta, omega, psi, v, p, ellipse) -> (alpha, psi', V', sin
            theta, V) under the phase-ellipse control.
        forced: (theta, omega, psi, v, curvature, p) -> the same five under a
            given curvature.
        free_step: (theta, omega, psi, v, h, first, pm, p1, em, e1, rotation)
            -> (theta, omega, psi, v, last) one step of h later, `first` and
            `last` being what `free` returns at start and end, pm and p1 the
            quantities at middle and end, em and e1 the ellipses there, and
            `rotation` that of em.
        steady_step: the same of states that are on their ellipse, on level
            ground at a speed that is given: nothing pulls at them there.
        forced_step: (theta, omega, psi, v, h, first, cm, c1, pm, p1) -> the
            state, `first` being what `forced` returns at the start, and the
            curvature cm and c1 at middle and end.
    """

    demand: Callable[..., Any]
    allowed: Callable[..., Any]
    ellipse: Callable[..., Any]
    rotation: Callable[..., Any]
    free: Callable[..., Any]
    forced: Callable[..., Any]
    free_step: Callable[..., Any]
    steady_step: Callable[..., Any]
    forced_step: Callable[..., Any]


def make_equations(
    sin: Callable[[Any], Any],
    cos: Callable[[Any], Any],
    tilted: bool,
    sliding: bool,
    limited: bool,
    rescuing: bool = True,
) -> Equations:
    """Build the equations on given elementary functions.

    The control asks for

        alpha = -(omega_0/beta)^2 theta - p omega,
        E = (theta/(beta theta_max))^2 + (omega/(omega_0 theta_max))^2,
        p = 0.7 omega_0 (E - 1)/(E + 0.2),

    the sine of Eq. 3 on the ellipse E = 1 (of the modified turn beta of their
    section 5.2) and a pull onto it elsewhere. From near the upright a turn
    grows within half a cycle; from outside it spirals in at the rhythm of the
    turns. Far outside, what matters is to be caught at all. Of the unsteered
    body's two modes z = theta + omega/lambda grows, at lambda = sqrt(g_n/J),
    and the steering acts on it by z' = lambda (z - k/g_n). There the wanted
    force is kappa g_n z, more than the g_n z that holds z where it is:

        alpha_far = -(kappa - 1) lambda^2 theta - kappa lambda omega,
        kappa = 1 + min((omega_0/(beta lambda))^2, 1/x, 1), x = lambda C/C'_max,

    as strong as the rhythm of the turns asks for, but no stronger than a
    curvature can follow that takes the time C/C'_max to get to C, its limit or
    g_n/V^2 if that is less; a stronger one comes back too late and overshoots.
    The two are mixed with the share r^2/(r^2 + 0.06) of alpha_far, where r is
    how far the state lies outside the ellipse, in units of the lean a that the
    limits can hold, beginning from curvature 0:

        r = (theta^2 + (omega/lambda)^2)/a^2 (1 - 1/E), 0 inside,
        a = (C V^2/g_n)/(1 + x/2).

    It replaces the rules by quadrant of their section 5.1, which leave many
    states to fall that can be caught.

    The free step is a Lawson Runge-Kutta step of order 4: the rotation along
    the ellipse is done exactly and only the pull is integrated, so that a
    steady turn has no phase error at any step length. On level ground at a
    given speed the lean does not depend on the direction, which is summed up
    afterwards by Simpson's rule; the state half way, to the same order, comes
    of the parabola through the pull. The forced step is the classical
    Runge-Kutta step of order 4.

    A wanted ellipse may ask for more curvature, or a quicker change of it,
    than the limits allow; following it regardless would be a fall. Its
    largest curvature is that of the apex, with k = g_n sin(theta_max) +
    J omega_0^2 theta_max, and the largest rate that of the crossing,
    (g_n + J omega_0^2) omega_0 theta_max / V^2 (both confirmed on a grid over
    the phase). theta_max is divided by the larger excess, at the frequency
    asked for, less a margin of up to 5 % that heading control needs. With the
    speed keyed this is done beforehand; with the speed integrated, here.

    Args:
        sin: sine of floats or arrays.
        cos: cosine of the same.
        tilted: True if the ground slopes.
        sliding: True if the speed is integrated; otherwise it is that of the
            parameters.
        limited: True if a curvature or rate limit is finite.
        rescuing: False to leave out the pull from far outside, where no state
            is outside its ellipse.

    Returns:
        The functions; all their arguments are floats, or arrays that
        broadcast, and `p` is a tuple in the order of `PARAMETERS`.
    """

    one = sin is math.sin  # one figure: branches are allowed

    def demand(tm, w0, v, gn, j, l, limit, rate):  # noqa: E741
        s = sin(tm)
        k = gn * s + j * w0 * w0 * tm
        vv = v * v
        apex = k / (limit * (vv * cos(tm) + l * k * s))
        crossing = (gn + j * w0 * w0) * w0 * tm / (rate * vv)
        return 0.5 * (apex + crossing + abs(apex - crossing))

    def allowed(tm, w0, v, gn, j, l, limit, rate):  # noqa: E741
        s = sin(tm)
        k = gn * s + j * w0 * w0 * tm
        vv = v * v
        # k (1 - C l sin) <= C V^2 cos, both sides to first order in the lean;
        # the share 1 - C l sin taken at least 1/2, where the root is unique.
        free_share = 0.5 - limit * l * s
        free_share = 0.5 + 0.5 * (free_share + abs(free_share))
        apex = k * free_share / (limit * vv * cos(tm))
        crossing = (gn + j * w0 * w0) * w0 * tm / (rate * vv)
        if one and apex <= 1.0 and crossing <= 1.0:
            return tm
        apex = 0.5 * (apex + 1.0 + abs(apex - 1.0))
        x = 4.0 * free_share * (1.0 - free_share) / apex
        by_curvature = 2.0 * free_share / (apex * (1.0 + (1.0 - x) ** 0.5))
        by_rate = 2.0 / (crossing + 1.0 + abs(crossing - 1.0))
        share = 0.5 * (by_curvature + by_rate - abs(by_curvature - by_rate))
        return tm * share * (1.0 - MARGIN * (1.0 - share) / (1.05 - share))

    def pull(theta, omega, v, p, ellipse):
        """What the control asks for beside the rotation: -alpha - (omega_0/beta)^2 theta."""
        _, _, ff, per_lean, per_rate, strength, at_centre = ellipse
        x = theta * per_lean
        y = omega * per_rate
        e = x * x + y * y
        onto = (strength - at_centre / (e + REST)) * omega
        if not rescuing or (e < OUTSIDE if one else not (e >= OUTSIDE).any()):
            return onto
        gn, limit = p[3], p[10]
        grows = (gn / p[6]) ** 0.5  # lambda
        held = limit * v * v
        lean = 2.0 * held / (gn + held + abs(gn - held))  # C V^2/g_n, at most 1
        slow = grows * lean * gn / (v * v * p[11])  # x
        reach = lean / (1.0 + 0.5 * slow)  # a
        safe = 0.5 * (e + OUTSIDE + abs(e - OUTSIDE))
        over = (theta * theta + omega * omega / (grows * grows)) / (reach * reach)
        over = over * (1.0 - OUTSIDE / safe)  # r
        quick = ff / (grows * grows) * 0.5 * (slow + 1.0 + abs(slow - 1.0))
        stiff = 2.0 * ff / (1.0 + quick + abs(1.0 - quick))  # (kappa - 1) lambda^2
        far = (grows + stiff / grows - strength) * omega + (stiff - ff) * theta
        over = over * over
        return onto + over / (over + SOFT) * far

    held_back = limited and sliding

    def ellipse_of(w0, tm, beta):
        f = w0 / beta
        strength = GAIN * w0
        return (
            beta,
            f,
            f * f,
            1.0 / (tm * beta),
            1.0 / (w0 * tm),
            strength,
            (1.0 + REST) * strength,
        )

    def ellipse(p, beta):
        return ellipse_of(p[0], p[1], beta)

    def rotation(ellipse, h):
        w = ellipse[1]
        c2 = cos(0.5 * h * w)
        s2 = sin(0.5 * h * w)
        c1 = c2 * c2 - s2 * s2
        s1 = 2.0 * s2 * c2
        return c2, w * s2, s2 / w, c1, w * s1, s1 / w

    def free(theta, omega, psi, v, p, ellipse):
        w0, tm, keyed, gn, gs, dl, j, l, mu, drag, limit, rate = p  # noqa: E741
        if sliding:
            v = 0.5 * (v + 0.05 + abs(v - 0.05))  # at least 0.05 m/s
            if held_back:
                ellipse = ellipse_of(w0, allowed(tm, w0, v, gn, j, l, limit, rate), ellipse[0])
        alpha = -ellipse[2] * theta - pull(theta, omega, v if sliding else keyed, p, ellipse)
        s = sin(theta)
        c = cos(theta)
        k = gn * s - j * alpha
        if tilted:
            k = k + gs * sin(dl - psi) * c
        if not sliding:
            return alpha, k / (keyed * c), 0.0, s, keyed
        turn = k / (v * c)
        load = gn - l * (s * alpha + c * omega * omega)
        accel = l * omega * turn * c - 0.5 * mu * (load + abs(load)) - drag * v * v
        if tilted:
            accel = accel + gs * cos(dl - psi)
        return alpha, turn, accel, s, v

    def forced(theta, omega, psi, v, curvature, p):
        _, _, keyed, gn, gs, dl, j, l, mu, drag, _, _ = p  # noqa: E741
        s = sin(theta)
        c = cos(theta)
        if sliding:
            v = 0.5 * (v + 0.05 + abs(v - 0.05))
        else:
            v = keyed
        den = 1.0 - curvature * l * s
        den = 0.5 * (den + 1e-3 + abs(den - 1e-3))  # the foot at most 1000 times faster
        turn = curvature * v / den
        k = gn * s - turn * v * c
        if tilted:
            k = k + gs * sin(dl - psi) * c
        alpha = k / j
        if not sliding:
            return alpha, turn, 0.0, s, v
        load = gn - l * (s * alpha + c * omega * omega)
        accel = l * omega * turn * c - 0.5 * mu * (load + abs(load)) - drag * v * v
        if tilted:
            accel = accel + gs * cos(dl - psi)
        return alpha, turn, accel, s, v

    def steady_turn(theta, p, ellipse):
        s = sin(theta)
        alpha = -ellipse[2] * theta
        return alpha, (p[3] * s - p[6] * alpha) / (p[2] * cos(theta)), s

    def steady_step(theta, omega, psi, v, h, first, pm, p1, em, e1, rotation):
        c2, _, t2, c1, d1, t1 = rotation
        theta_1 = theta * c1 + omega * t1
        omega_1 = omega * c1 - theta * d1
        alpha, turn, s = steady_turn(theta_1, p1, e1)
        turn_h = steady_turn(theta * c2 + omega * t2, pm, em)[1]
        psi = psi + h / 6.0 * (first[1] + 4.0 * turn_h + turn)
        return theta_1, omega_1, psi, p1[2], (alpha, turn, 0.0, s, p1[2])

    def level_step(theta, omega, psi, v, h, first, pm, p1, em, e1, rotation):
        c2, d2, t2, c1, d1, t1 = rotation
        ww = em[2]
        half = 0.5 * h
        n1 = first[0] + ww * theta
        theta_m = theta * c2 + omega * t2
        omega_m = omega * c2 - theta * d2
        pushed = half * n1
        omega_2 = omega_m + pushed * c2
        b2 = pull(theta_m + pushed * t2, omega_2, pm[2], pm, em)  # it brakes: n2 = -b2
        omega_3 = omega_m - half * b2
        b3 = pull(theta_m, omega_3, pm[2], pm, em)
        theta_e = theta * c1 + omega * t1
        omega_e = omega * c1 - theta * d1
        pushed = h * b3
        omega_4 = omega_e - pushed * c2
        theta_4 = theta_e - pushed * t2
        b4 = pull(theta_4, omega_4, p1[2], p1, e1)
        if e1 is not em:
            b4 = b4 + (e1[2] - ww) * theta_4
        b23 = 2.0 * (b2 + b3)
        sixth = h / 6.0
        theta_1 = theta_e + sixth * (n1 * t1 - b23 * t2)
        omega_1 = omega_e + sixth * (n1 * c1 - b23 * c2 - b4)
        last = free(theta_1, omega_1, psi, v, p1, e1)
        part = 0.25 * sixth
        n5 = 5.0 * n1
        theta_h = theta_m + part * t2 * (n5 - b4)
        omega_h = omega_m + part * ((n5 + b4) * c2 - 2.0 * b23)
        turn_h = free(theta_h, omega_h, psi, v, pm, em)[1]
        return theta_1, omega_1, psi + sixth * (first[1] + 4.0 * turn_h + last[1]), p1[2], last

    def free_step(theta, omega, psi, v, h, first, pm, p1, em, e1, rotation):
        c2, d2, t2, c1, d1, t1 = rotation
        ww = em[2]
        half = 0.5 * h
        a1, r1, u1 = first[0], first[1], first[2]
        n1 = a1 + ww * theta
        theta_m = theta * c2 + omega * t2
        omega_m = omega * c2 - theta * d2
        theta_2 = theta_m + half * n1 * t2
        a2, r2, u2, _, _ = free(
            theta_2, omega_m + half * n1 * c2, psi + half * r1, v + half * u1, pm, em
        )
        n2 = a2 + ww * theta_2
        a3, r3, u3, _, _ = free(
            theta_m, omega_m + half * n2, psi + half * r2, v + half * u2, pm, em
        )
        n3 = a3 + ww * theta_m
        theta_e = theta * c1 + omega * t1
        omega_e = omega * c1 - theta * d1
        theta_4 = theta_e + h * n3 * t2
        a4, r4, u4, _, _ = free(theta_4, omega_e + h * n3 * c2, psi + h * r3, v + h * u3, p1, e1)
        n4 = a4 + ww * theta_4
        n23 = 2.0 * (n2 + n3)
        sixth = h / 6.0
        theta = theta_e + sixth * (n1 * t1 + n23 * t2)
        omega = omega_e + sixth * (n1 * c1 + n23 * c2 + n4)
        psi = psi + sixth * (r1 + 2.0 * (r2 + r3) + r4)
        v = v + sixth * (u1 + 2.0 * (u2 + u3) + u4) if sliding else p1[2]
        return theta, omega, psi, v, free(theta, omega, psi, v, p1, e1)

    def forced_step(theta, omega, psi, v, h, first, cm, c1, pm, p1):
        half = 0.5 * h
        a1, r1, u1 = first[0], first[1], first[2]
        o2 = omega + half * a1
        a2, r2, u2, _, _ = forced(theta + half * omega, o2, psi + half * r1, v + half * u1, cm, pm)
        o3 = omega + half * a2
        a3, r3, u3, _, _ = forced(theta + half * o2, o3, psi + half * r2, v + half * u2, cm, pm)
        o4 = omega + h * a3
        a4, r4, u4, _, _ = forced(theta + h * o3, o4, psi + h * r3, v + h * u3, c1, p1)
        sixth = h / 6.0
        return (
            theta + sixth * (omega + 2.0 * (o2 + o3) + o4),
            omega + sixth * (a1 + 2.0 * (a2 + a3) + a4),
            psi + sixth * (r1 + 2.0 * (r2 + r3) + r4),
            v + sixth * (u1 + 2.0 * (u2 + u3) + u4) if sliding else p1[2],
        )

    if not tilted and not sliding:
        free_step = level_step
    return Equations(
        demand, allowed, ellipse, rotation, free, forced, free_step, steady_step, forced_step
    )
