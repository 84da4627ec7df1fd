# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans worked out the long way round, for the tests of path following."""

import math
from dataclasses import replace

import numpy as np
from poise.solvers.path import search
from poise.solvers.path.nodes import RATE
from poise.solvers.path.prepare import prepare


def planner_and_root(scene, settings):
    """A planner and the node at the start of its path."""
    ready = prepare(scene, settings)
    course = ready.course
    psi = math.atan2(course.direction[0, 0], -course.direction[0, 1])
    state = np.array([*course.points[0], psi, 0.0, 0.0, 0.0, 0.0])
    return ready, ready.planner, ready.planner.root(state, 0, 0)


def root_of(planner, plan):
    """The node at which the first stage of a plan ends, as a root."""
    floats, ints = plan.floats[1], plan.ints[1]
    return planner.root(floats[:7], int(ints[0]), int(ints[1]), float(floats[RATE]))


def on_another_machine(monkeypatch):
    """Sines and roots differ in the last bit, up or down at random, all through the search."""
    rng = np.random.default_rng(11)

    def last_bits(motion):
        names = ("theta", "omega", "psi", "x", "y", "speed")
        values = {name: getattr(motion, name) for name in names}
        return replace(motion, **{
            name: value + np.spacing(value) * rng.integers(-1, 2, value.shape)
            for name, value in values.items() if value is not None
        })

    for name in ("simulate", "descend"):
        exact = getattr(search, name)
        monkeypatch.setattr(search, name, lambda *args, exact=exact: last_bits(exact(*args)))


def assert_steered_alike(a, b):
    """Two motions along a path are of the same steering, and differ in last bits only."""
    assert np.array_equal(a.motion.curvature, b.motion.curvature)
    assert a.expanded == b.expanded
    assert np.max(np.abs(a.motion.position - b.motion.position)) < 1e-9
    assert not np.array_equal(a.motion.position, b.motion.position)


def _lean_acceleration(theta, curvature, s):
    """Eq. 2 of the paper."""
    k = curvature * s.speed**2 * math.cos(theta) / (1.0 - curvature * s.height * math.sin(theta))
    inertia = s.inertia + s.height**2 * s.mass
    return s.height * s.mass * (s.gravity * math.sin(theta) - k) / inertia


def plain_stage(state, end_curvature, s):
    """One stage in plain floats: Nystroem for lean, Simpson for the rest.

    Returns the states after each substep, or None after a fall.
    """
    x, y, psi, theta, omega, c0 = state
    h = s.stage / s.substeps
    rate = (end_curvature - c0) / s.stage
    limit = s.max_lean - 5e-4
    states = []
    for i in range(s.substeps):
        c, cm, c1 = (c0 + rate * (i + part) * h for part in (0.0, 0.5, 1.0))
        a0 = _lean_acceleration(theta, c, s)
        am = _lean_acceleration(theta + 0.5 * h * omega + 0.125 * h * h * a0, cm, s)
        ae = _lean_acceleration(theta + h * omega + 0.5 * h * h * am, c1, s)
        theta1 = theta + h * omega + h * h / 6.0 * (a0 + 2.0 * am)
        omega1 = omega + h / 6.0 * (a0 + 4.0 * am + ae)
        peak = theta1
        if omega * omega1 < 0.0:
            peak = theta + 0.5 * h * omega * omega / (omega - omega1)
        if max(abs(theta1), abs(peak)) > limit:
            return None
        middle = 0.5 * (theta + theta1) + 0.125 * h * (omega - omega1)
        feet = [
            s.speed / (1.0 - s.height * k * math.sin(t))
            for k, t in ((c, theta), (cm, middle), (c1, theta1))
        ]
        turn = [f * k for f, k in zip(feet, (c, cm, c1), strict=True)]
        psi1 = psi + h / 6.0 * (turn[0] + 4.0 * turn[1] + turn[2])
        psi_m = 0.5 * (psi + psi1) + 0.125 * h * (turn[0] - turn[2])
        weights = [h / 6.0 * f * w for f, w in zip(feet, (1.0, 4.0, 1.0), strict=True)]
        x += sum(w * math.sin(p) for w, p in zip(weights, (psi, psi_m, psi1), strict=True))
        y -= sum(w * math.cos(p) for w, p in zip(weights, (psi, psi_m, psi1), strict=True))
        arc = h * max(feet[0], feet[2])
        psi, theta, omega = psi1, theta1, omega1
        states.append((x, y, psi, theta, omega, c1, arc))
    return states


def plain_distance(points, p, least, most):
    """Distance and arc length of the nearest point of a polyline within [least, most]."""
    best = (math.inf, least)
    start = 0.0
    for a, b in zip(points[:-1], points[1:], strict=True):
        size = math.hypot(*(b - a))
        if start + size >= least and start <= most:
            t = float((p - a) @ (b - a)) / size
            t = min(max(t, least - start, 0.0), size)
            d = math.hypot(*(a + t / size * (b - a) - p))
            if d < best[0]:
                best = (d, start + t)
        start += size
    return best


def plain_disc_distance(centre, p, q):
    """Distance of a point from a segment."""
    d = q - p
    t = min(max(float((centre - p) @ d) / float(d @ d), 0.0), 1.0)
    return math.hypot(*(p + t * d - centre))


def exhaustive(course, scene, s, rates, state, along, goal, rate=0.0):
    """Cost and choices of the best of all plans, by trying every one of them.

    Args are those of the planner, `rate` that of the stage before; obstacles
    are discs only. Of equal cost, the first in the order of the rates.
    """
    best = [math.inf, None]
    discs = [(np.asarray(d.centre, dtype=float), d.radius) for d in scene.obstacles]

    def go(state, segment_start, along, cost, choices, before_rate):
        if len(choices) == s.stages:
            if along >= goal and cost < best[0] - 1e-12:
                best[:] = [cost, choices]
            return
        ends = []
        for number, tried in enumerate(rates):
            end = min(max(state[5] + tried * s.stage, -s.max_curvature), s.max_curvature)
            if end in ends:
                continue
            ends.append(end)
            states = plain_stage(state[:6], end, s)
            if states is None:
                continue
            total, where, before, struck = cost, along, np.array(state[:2]), False
            most = segment_start + course.window + 0.4
            for new in states:
                p = np.array(new[:2])
                d, where = plain_distance(course.points, p, where, most)
                total = total + d
                bend = max(abs(state[5]), abs(end))
                keep = s.clearance + 1e-4 + new[6] ** 2 * bend / 8.0
                struck |= any(plain_disc_distance(c, before, p) < r + keep for c, r in discs)
                before = p
            taken = (end - state[5]) / s.stage
            total += s.substeps * s.effort * ((taken - before_rate) / max(rates)) ** 2
            if not struck:
                go(states[-1], where, where, total, (*choices, number), taken)

    go(tuple(state), along, along, 0.0, (), rate)
    return best
