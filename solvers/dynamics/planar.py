# SPDX-License-Identifier: GPL-3.0-or-later
"""A compiler for the dynamics of planar articulated figures.

From links that hang on each other like a tree, the equations of motion are formed
symbolically and written out as a function of plain arithmetic, as in van de Panne, Fiume
and Vranesic, "Reusable Motion Synthesis Using State-Space Controllers" (1990), section 4:
A x = b, solved by elimination that is written out, too. With p_a the angle of link a in
the plane, and d_ak the vector in its frame that leads on to the centre of link k (to the
next joint on the way, or to the centre itself where a = k),

    A_ab = sum_k m_k (d_ak . d_bk cos(p_a - p_b) + d_ak x d_bk sin(p_a - p_b)) + I_a [a = b]
    b_a = torques - sum_b (d . d sin(p_a - p_b) - d x d cos(p_a - p_b)) p_b'^2 + weight

so that every coefficient is a number by the time the code is written, and terms that are
0 are left out. A figure that nothing holds has the place of its root as two unknowns more.
The matrix is symmetric and positive: elimination needs no pivots.

The function works on numbers, with sine and cosine of `math`, and on arrays, with those
of numpy: one figure, or a whole table of states, by the same equations. Angles are
counterclockwise from +X, gravity is along -Y.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import SettingError


@dataclass(frozen=True)
class Link:
    """A rigid link.

    Attributes:
        name: for the source and for messages; letters, digits and underscores.
        parent: name of the link it hangs on, "" for the root.
        joint: where its joint is, in the parent's frame from the parent's joint, m.
        centre: where its centre of mass is, in its own frame from its joint, m.
        mass: kg, at least 0.
        inertia: about the centre of mass, kg m^2, at least 0.
        spring: N m/rad, pulls the joint's angle to `rest`.
        damper: N m s/rad.
        rest: rad, of the spring.
        limits: least and largest angle of the joint against its parent, rad.
    """

    name: str
    parent: str = ""
    joint: tuple[float, float] = (0.0, 0.0)
    centre: tuple[float, float] = (0.0, 0.0)
    mass: float = 1.0
    inertia: float = 0.0
    spring: float = 0.0
    damper: float = 0.0
    rest: float = 0.0
    limits: tuple[float, float] = (-math.inf, math.inf)


@dataclass(frozen=True)
class Point:
    """A point of a link on which forces can act.

    Attributes:
        link: name of the link.
        place: in the link's frame from its joint, m.
    """

    link: str
    place: tuple[float, float]


@dataclass(frozen=True)
class Planar:
    """A figure's compiled dynamics; n links, d coordinates.

    The coordinates are the links' angles against their parents, in the order of the
    links (the root's against +X), after x and y of the root where it is free.

    Attributes:
        names: of the links.
        free: whether nothing holds the root.
        source: the text of the functions.
        accelerations: (sin, cos, q, v, torques, forces) -> d second derivatives. q and
            v are sequences of d coordinates and rates, torques one for each joint (the
            root's last no use where it is free), forces (x, y) for each point.
        points: (sin, cos, q, v) -> (x, y, x', y') of each point.
        energy: (sin, cos, q, v) -> kinetic and potential energy, J.
    """

    names: tuple[str, ...]
    free: bool
    source: str
    accelerations: Callable[..., Any]
    points: Callable[..., Any]
    energy: Callable[..., Any]

    @property
    def coordinates(self) -> int:
        """d."""
        return len(self.names) + 2 * self.free


STOP_STIFFNESS = 40.0
"""1/s: a joint at its limit swings back as a spring of this natural frequency would."""


def compile_figure(
    links: Sequence[Link],
    free: bool = False,
    points: Sequence[Point] = (),
    gravity: float = 9.81,
) -> Planar:
    """Form and compile the equations of motion of a figure.

    Args:
        links: one of them is the root; children may stand before their parents.
        free: whether the root's joint is held by nothing; else it is a hinge on
            something that does not move.
        points: on which forces can act.
        gravity: m/s^2.

    Returns:
        The compiled dynamics, links in such an order that parents come first.
    """
    ordered = _ordered(links)
    made = _Writer(ordered, free, points, gravity)
    source = made.source()
    scope: dict[str, Any] = {}
    exec(compile(source, "<dynamics>", "exec"), scope)
    return Planar(
        tuple(link.name for link in ordered),
        free,
        source,
        scope["accelerations"],
        scope["points"],
        scope["energy"],
    )


def _ordered(links: Sequence[Link]) -> list[Link]:
    known = {link.name: link for link in links}
    if len(known) < len(links):
        twice = next(x.name for x in links if [y.name for y in links].count(x.name) > 1)
        raise SettingError("Link", twice, "the only one of its name")
    roots = [link for link in links if not link.parent]
    if len(roots) != 1:
        raise SettingError("Number of roots", len(roots), "1: one link without a parent")
    for link in links:
        if not link.name.isidentifier():
            raise SettingError("Name of a link", link.name, "letters, digits and underscores")
        if link.parent and link.parent not in known:
            raise SettingError(f"Parent of {link.name}", link.parent, "one of the links")
        numbers = (*link.joint, *link.centre, link.mass, link.inertia, link.spring, link.damper)
        if not all(math.isfinite(x) for x in numbers):
            raise SettingError(f"A number of {link.name}", numbers, "finite")
        for name in ("mass", "inertia", "spring", "damper"):
            if getattr(link, name) < 0.0:
                raise SettingError(
                    f"{name.capitalize()} of {link.name}", getattr(link, name), "at least 0"
                )
    ordered: list[Link] = []
    left = list(links)
    while left:
        placed = {link.name for link in ordered}
        ready = next((x for x in left if not x.parent or x.parent in placed), None)
        if ready is None:
            loop = ", ".join(link.name for link in left)
            raise SettingError("Links", loop, "a tree: these hang on each other in a loop")
        ordered.append(ready)
        left.remove(ready)
    return ordered


class _Writer:
    """Writes the equations of one figure."""

    def __init__(
        self, links: list[Link], free: bool, points: Sequence[Point], gravity: float
    ) -> None:
        self.links, self.free, self.gravity = links, free, gravity
        self.points = list(points)
        self.n = n = len(links)
        index = {link.name: i for i, link in enumerate(links)}
        self.parents = [index[link.parent] if link.parent else -1 for link in links]
        for point in points:
            if point.link not in index:
                raise SettingError("Link of a point", point.link, "one of the links")
        self.on = [index[point.link] for point in points]
        # way[k, a]: the vector in link a's frame on the way from the root to the centre of k.
        self.ways = np.zeros((n, n, 2))
        for k in range(n):
            self.ways[k] = self._way(k, links[k].centre)
        masses = np.array([link.mass for link in links])
        self.mass = float(masses.sum())
        self.dots = np.einsum("k,kai,kbi->ab", masses, self.ways, self.ways)
        crossed = self.ways[:, :, None, 0] * self.ways[:, None, :, 1]
        crossed = crossed - self.ways[:, :, None, 1] * self.ways[:, None, :, 0]
        self.crosses = np.einsum("k,kab->ab", masses, crossed)
        self.firsts = np.einsum("k,kai->ai", masses, self.ways)
        self.inertias = [link.inertia for link in links]
        self._check_mass()

    def _way(self, k: int, end: tuple[float, float]) -> np.ndarray:
        way = np.zeros((self.n, 2))
        way[k] = end
        while self.parents[k] >= 0:
            joint, k = self.links[k].joint, self.parents[k]
            way[k] = joint
        return way

    def _check_mass(self) -> None:
        """Every link needs something to turn; the last ones of a chain of their own."""
        if self.free and not self.mass > 0.0:
            raise SettingError("Mass", self.mass, "above 0 kg for a figure that nothing holds")
        rng = np.random.default_rng(0)
        for _ in range(4):
            p = rng.uniform(-np.pi, np.pi, self.n)
            d = p[:, None] - p
            matrix = self.dots * np.cos(d) + self.crosses * np.sin(d) + np.diag(self.inertias)
            values, vectors = np.linalg.eigh(matrix)
            if not values[0] > 1e-12 * max(values[-1], 1e-300):
                weakest = self.links[int(np.argmax(np.abs(vectors[:, 0])))].name
                raise SettingError(
                    f"What turns with {weakest}",
                    "without mass",
                    "given a mass away from its joint, or a moment of inertia",
                )

    # Text

    def source(self) -> str:
        """The module's text."""
        body = [*self._angles(), *self._accelerations()]
        none = "".join("(0.0, 0.0), " for _ in self.points)
        return "\n".join(
            [
                f'"""Dynamics of {", ".join(link.name for link in self.links)}."""',
                "",
                f"def accelerations(sin, cos, q, v, torques, forces=({none})):",
                *(f"    {line}" for line in body),
                "",
                "def points(sin, cos, q, v):",
                *(f"    {line}" for line in (*self._angles(), *self._points())),
                "",
                "def energy(sin, cos, q, v):",
                *(f"    {line}" for line in (*self._angles(), *self._energy())),
                "",
            ]
        )

    def _angles(self) -> list[str]:
        """Angles and rates in the plane from those against the parents."""
        joints = [f"j{i}" for i in range(self.n)]
        rates = [f"u{i}" for i in range(self.n)]
        root = ["x", "y"] if self.free else []
        moving = ["vx", "vy"] if self.free else []
        lines = [f"{', '.join(root + joints)}, = q", f"{', '.join(moving + rates)}, = v"]
        for i, parent in enumerate(self.parents):
            lines.append(f"p{i} = j{i}" if parent < 0 else f"p{i} = p{parent} + j{i}")
            lines.append(f"w{i} = u{i}" if parent < 0 else f"w{i} = w{parent} + u{i}")
        lines += [f"c{i}, s{i} = cos(p{i}), sin(p{i})" for i in range(self.n)]
        return lines

    @staticmethod
    def _sum(terms: Sequence[tuple[float, str]]) -> str:
        """Coefficients times names, those that are 0 left out."""
        text = ""
        for value, name in terms:
            if value == 0.0:
                continue
            sign = " - " if value < 0.0 else " + "
            size = abs(float(value))
            factor = name if size == 1.0 and name else repr(size) + (f"*{name}" if name else "")
            text += sign + factor
        if not text:
            return "0.0"
        return text[3:] if text.startswith(" + ") else "-" + text[3:]

    def _accelerations(self) -> list[str]:
        n, lines = self.n, []
        for a in range(n):
            for b in range(a):
                if self.dots[a, b] or self.crosses[a, b]:
                    lines.append(f"cd{a}_{b} = c{a}*c{b} + s{a}*s{b}")
                    lines.append(f"sd{a}_{b} = s{a}*c{b} - c{a}*s{b}")
        size = n + 2 * self.free
        # Unknowns: the links' angular accelerations in the plane, then the root's.
        for a in range(n):
            for b in range(a):
                lines.append(
                    f"A{a}_{b} = "
                    + self._sum(
                        [(self.dots[a, b], f"cd{a}_{b}"), (self.crosses[a, b], f"sd{a}_{b}")]
                    )
                )
            lines.append(f"A{a}_{a} = {float(self.dots[a, a] + self.inertias[a])!r}")
        if self.free:
            for a in range(n):
                hx, hy = self.firsts[a]
                lines.append(f"A{n}_{a} = " + self._sum([(-hx, f"s{a}"), (-hy, f"c{a}")]))
                lines.append(f"A{n + 1}_{a} = " + self._sum([(hx, f"c{a}"), (-hy, f"s{a}")]))
            lines += [f"A{n}_{n} = {self.mass!r}", f"A{n + 1}_{n} = 0.0"]
            lines += [f"A{n + 1}_{n + 1} = {self.mass!r}"]
        lines += self._torques()
        lines += [f"z{a} = w{a}*w{a}" for a in range(n)]
        for a in range(n):
            terms = []
            for b in range(n):
                if a == b:
                    continue
                hi, lo = max(a, b), min(a, b)
                sign = 1.0 if a > b else -1.0  # sine of p_a - p_b from that of the pair
                terms.append((-sign * self.dots[a, b], f"sd{hi}_{lo}*z{b}"))
                terms.append((self.crosses[a, b], f"cd{hi}_{lo}*z{b}"))
            hx, hy = self.firsts[a]
            terms += [(-self.gravity * hx, f"c{a}"), (self.gravity * hy, f"s{a}")]
            lines.append(f"b{a} = t{a} + " + self._sum(terms))
        if self.free:
            x = [(self.firsts[a, 0], f"c{a}*z{a}") for a in range(n)]
            x += [(-self.firsts[a, 1], f"s{a}*z{a}") for a in range(n)]
            y = [(self.firsts[a, 0], f"s{a}*z{a}") for a in range(n)]
            y += [(self.firsts[a, 1], f"c{a}*z{a}") for a in range(n)]
            lines.append(f"b{n} = " + self._sum(x))
            lines.append(f"b{n + 1} = " + self._sum([*y, (-self.mass * self.gravity, "")]))
        lines += self._forces()
        lines += _elimination(size)
        own = [
            f"r{i}" if parent < 0 else f"r{i} - r{parent}" for i, parent in enumerate(self.parents)
        ]
        root = [f"r{n}", f"r{n + 1}"] if self.free else []
        return [*lines, f"return ({', '.join(root + own)},)"]

    def _torques(self) -> list[str]:
        """Torque of each joint on its link, less those of the joints of its children."""
        names = ", ".join(f"m{i}" for i in range(self.n))
        lines = [f"{names}, = torques"]
        for i, link in enumerate(self.links):
            terms = [(-link.spring, f"(j{i} - {float(link.rest)!r})"), (-link.damper, f"u{i}")]
            if link.spring or link.damper:
                lines.append(f"m{i} = m{i} + " + self._sum(terms))
            held = float(self.dots[i, i] + self.inertias[i])
            for limit, sign in zip(link.limits, (-1.0, 1.0), strict=True):
                if math.isfinite(limit):
                    stiff, damp = held * STOP_STIFFNESS**2, 2.0 * held * STOP_STIFFNESS
                    # (e + |e|) / 2 is what of e is beyond; it damps only while it is.
                    lines.append(f"e = {sign!r}*(j{i} - {float(limit)!r})")
                    lines.append("e = 0.5*(e + abs(e))")
                    lines.append(
                        f"m{i} = m{i} - {sign * stiff!r}*e - (e > 0.0)*{damp!r}*u{i}"
                    )
        for i in range(self.n):
            children = [k for k, parent in enumerate(self.parents) if parent == i]
            lines.append(f"t{i} = m{i}" + "".join(f" - m{k}" for k in children))
        return lines

    def _forces(self) -> list[str]:
        lines = []
        if self.points:
            names = ", ".join(f"(fx{k}, fy{k})" for k in range(len(self.points)))
            lines.append(f"{names}, = forces")
        for k, point in enumerate(self.points):
            way = self._way(self.on[k], point.place)
            for a in range(self.n):
                dx, dy = way[a]
                if dx or dy:
                    x = self._sum([(-dx, f"s{a}"), (-dy, f"c{a}")])
                    y = self._sum([(dx, f"c{a}"), (-dy, f"s{a}")])
                    lines.append(f"b{a} = b{a} + ({x})*fx{k} + ({y})*fy{k}")
            if self.free:
                lines.append(f"b{self.n} = b{self.n} + fx{k}")
                lines.append(f"b{self.n + 1} = b{self.n + 1} + fy{k}")
        return lines

    def _place(self, way: np.ndarray) -> tuple[str, str, str, str]:
        """Place of the end of a way, and its velocity."""
        start = (["x", "y", "vx", "vy"]) if self.free else ["", "", "", ""]
        x, y, dx, dy = ([(1.0, name)] if name else [] for name in start)
        for a in range(self.n):
            wx, wy = way[a]
            x += [(wx, f"c{a}"), (-wy, f"s{a}")]
            y += [(wx, f"s{a}"), (wy, f"c{a}")]
            dx += [(-wx, f"s{a}*w{a}"), (-wy, f"c{a}*w{a}")]
            dy += [(wx, f"c{a}*w{a}"), (-wy, f"s{a}*w{a}")]
        return self._sum(x), self._sum(y), self._sum(dx), self._sum(dy)

    def _points(self) -> list[str]:
        ends = [
            f"({', '.join(self._place(self._way(link, point.place)))})"
            for link, point in zip(self.on, self.points, strict=True)
        ]
        return [f"return ({', '.join(ends)}{',' if ends else ''})"]

    def _energy(self) -> list[str]:
        lines = ["kinetic = potential = 0.0"]
        for k, link in enumerate(self.links):
            _, y, dx, dy = self._place(self.ways[k])
            lines.append(f"ex, ey = {dx}, {dy}")
            lines.append(f"kinetic = kinetic + {float(0.5 * link.mass)!r}*(ex*ex + ey*ey)")
            lines.append(f"kinetic = kinetic + {float(0.5 * link.inertia)!r}*w{k}*w{k}")
            lines.append(f"potential = potential + {float(link.mass * self.gravity)!r}*({y})")
            if link.spring:
                lines.append(f"stretch = j{k} - {float(link.rest)!r}")
                half = float(0.5 * link.spring)
                lines.append(f"potential = potential + {half!r}*stretch*stretch")
        return [*lines, "return kinetic, potential"]


def _elimination(size: int) -> list[str]:
    """A = L D L^T written out; r is what A r = b asks for."""
    lines = []
    for i in range(size):
        for j in range(i):
            terms = "".join(f" - L{i}_{k}*L{j}_{k}*D{k}" for k in range(j))
            lines.append(f"L{i}_{j} = (A{i}_{j}{terms})/D{j}")
        terms = "".join(f" - L{i}_{k}*L{i}_{k}*D{k}" for k in range(i))
        lines.append(f"D{i} = A{i}_{i}{terms}")
    for i in range(size):
        terms = "".join(f" - L{i}_{k}*g{k}" for k in range(i))
        lines.append(f"g{i} = b{i}{terms}")
    for i in reversed(range(size)):
        terms = "".join(f" - L{k}_{i}*r{k}" for k in range(i + 1, size))
        lines.append(f"r{i} = g{i}/D{i}{terms}")
    return lines
