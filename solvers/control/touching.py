# SPDX-License-Identifier: GPL-3.0-or-later
"""Links of planar figures that bump into ground, steps and walls.

Links are lines with a thickness to both sides, round at their ends. Their ends press into edges
and corners of outlines, and corners press into their sides, by `dynamics.contact`. Where an end is
in a nook, what two edges push it by is such that both together bring it out on the shortest way.
A force F at a point of a link acts by J^T F, and changes rates by M^-1 J^T F.

The spring gives way by `SINK` under the figure's whole weight; by more of links that are much
lighter, since it can be only as stiff as the shortest step takes it. Steps that begin away from
things and end in them are halved as often as `run` can, so that nothing is ever deeper in than it
came by itself; while something touches they are short enough for the spring.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..dynamics.contact import ONE, Surface, pressed
from ..dynamics.planar import Point, compile_figure
from .chain import Chain
from .outline import Outline, outline
from .run import HALVINGS, LONGEST, Outside
from .surroundings import Silhouette

SINK = 1e-4
"""m, by which the whole weight sinks in on a single point."""
BOUNCE = 0.3
"""Damping, as a share of sqrt(stiffness mass)."""
DEAD = 0.7
"""The same at most, of a link's own mass: its end comes to rest without bouncing."""
STIFF, STIFFEST = 1.0, 0.55
"""Radians that a link on its surface swings in a step: of several contacts while it touches, and of
one in the shortest step, in which it comes to touch."""
SHORTEST = LONGEST / 2.0**HALVINGS
"""s, of a step."""
LEFT = 1e-3
"""m, by which a figure that begins in something is pushed out of it; no more, or it would fly."""
FELT = 0.05
"""m/s: what touches more slowly is no hit."""


@dataclass(frozen=True)
class Solid:
    """What a figure bumps into, and how it does.

    Attributes:
        things: in the figure's plane.
        radius: m, half the thickness of links.
        friction: mu.
    """

    things: tuple[Silhouette, ...]
    radius: float
    friction: float


def outline_of(things: Sequence[Silhouette]) -> Outline:
    """The outline of things together, which is remembered.

    Args:
        things: in the figure's plane.

    Raises:
        SettingError: they have too many edges.
    """
    return _known(tuple(np.ascontiguousarray(x.triangles, float).tobytes() for x in things))


@lru_cache(4)
def _known(data: tuple[bytes, ...]) -> Outline:
    return outline([np.frombuffer(one).reshape(-1, 3, 2) for one in data])


class _Plane(NamedTuple):
    """Where a point of a link and a thing are next to each other.

    Attributes:
        key: of the place, for its anchor.
        group: what is pushed: an end, or the side at a corner.
        thing: number of the thing.
        link: number of the link.
        hard: number of the link that says how it gives way.
        place: of the force, m.
        speed: of the link there, m/s.
        out: unit vector out of the thing.
        gap: m between their surfaces; below 0 in it.
        along: m, the place of the link along the surface, a quarter turn counterclockwise of `out`.
    """

    key: tuple
    group: tuple
    thing: int
    link: int
    hard: int
    place: tuple[float, float]
    speed: tuple[float, float]
    out: tuple[float, float]
    gap: float
    along: float

    @property
    def closing(self) -> float:
        """m/s, at which they come nearer to each other."""
        return -(self.speed[0] * self.out[0] + self.speed[1] * self.out[1])


class Touching:
    """What solid things do to a chain, for `run`.

    Args:
        chain: the figure.
        solid: what it bumps into.
        others: what acts on it besides.

    Attributes:
        surfaces: for each link, how what it touches gives way.
        longest: s, of the next step.
        hits: (s, name) where a link came to touch something faster than `FELT`, or for
            the first time.
        began: names of things in which it began.
    """

    def __init__(self, chain: Chain, solid: Solid, others: Outside | None = None) -> None:
        links, self.solid, self.others = chain.links, solid, others
        index = {x.name: k for k, x in enumerate(links)}
        self._n = len(links)
        bare = [replace(x, spring=0.0, damper=0.0, limits=(-math.inf, math.inf)) for x in links]
        tips = [(2.0 * x.centre[0], 2.0 * x.centre[1]) for x in links]
        self._figure = compile_figure(
            bare, points=[Point(x.name, at) for x, tip in zip(links, tips, strict=True)
                          for at in ((0.0, 0.0), tip)], gravity=0.0,
        )
        self._above: list[list[int]] = []  # joints on the way to each link
        far: dict[int, float] = {}
        for k, x in enumerate(links):
            on = index[x.parent] if x.parent else -1
            self._above.append([*(self._above[on] if x.parent else []), k])
            far[k] = far[on] + math.hypot(*x.joint) if x.parent else 0.0
        reach = max(far[k] + math.hypot(*tips[k]) for k in range(self._n))
        self._swept = [reach - far[k] for k in range(self._n)]
        # Ends, 2k where link k begins and 2k + 1 where it ends; of those in one place, one. They
        # are of the link that they turn with, and as hard as for the heaviest that meets there.
        self._ends = [(2 * k + 1, k, k) for k in range(self._n)]
        for k, x in enumerate(links):
            on = index[x.parent] if x.parent else k
            hard = max(self._ends[on][2], k, key=lambda one: links[one].mass)
            if not x.parent:
                continue
            if np.allclose(x.joint, tips[on], atol=1e-6):
                self._ends[on] = (2 * on + 1, on, hard)
            else:
                self._ends.append((2 * k, on, hard))
        self._lengths = [math.hypot(*tip) for tip in tips]
        weight = sum(x.mass for x in links) * max(chain.gravity, 9.81)
        self.surfaces = [_surface(x.mass, weight, solid.friction) for x in links]
        self._steps = [
            STIFF / math.sqrt(6.0 * surface.stiffness / x.mass)
            for surface, x in zip(self.surfaces, links, strict=True)
        ]
        self.longest = math.inf
        self._margin = max(solid.radius, 0.05 * reach)
        self._outline = outline_of(solid.things)
        self._lay_out()
        self._seen: list[float] = []  # angles for which candidates are known
        self._gap = 0.0  # m to the nearest thing then
        self._near: tuple[list, list] = ([], [])
        self._anchors: dict[tuple, float] = {}
        self._held: set[tuple] = set()  # groups that touch
        self._touch: set[int] = set()  # things that do
        self._allowed: dict[tuple, float] = {}  # m by which groups began in something
        self._looks: list[tuple[frozenset, float]] = []  # what touches, and s until more does
        self._known: set[str] = set()
        self.hits: list[tuple[float, str]] = []
        self.began: list[str] = []

    def _lay_out(self) -> None:
        """Edges and corners as floats."""
        found = self._outline
        ways = found.edges[:, 1] - found.edges[:, 0]
        lengths = np.linalg.norm(ways, axis=1)
        ways /= lengths[:, None]
        self._edges = [
            (*a, *t, length) for a, t, length in zip(
                found.edges[:, 0].tolist(), ways.tolist(), lengths.tolist(), strict=True)
        ]
        before, after = found.corners
        self._corners = [
            (*found.edges[k, 1].tolist(), k, j, *out) for k, j, out in zip(
                before.tolist(), after.tolist(), found.out.tolist(), strict=True)
        ]

    # What is near

    def _look(self, q: list[float], points, margin: float) -> None:
        """Candidates for as long as links do not move further than a margin."""
        at = np.array([point[:2] for point in points], float)
        ends = at[[number for number, *_ in self._ends]]
        edges = self._outline.edges
        far_edges = _distances(ends, edges)
        corners = edges[self._outline.corners[0], 1] if len(edges) else np.zeros((0, 2))
        links = at.reshape(-1, 2, 2)
        far_corners = _distances(corners, links)
        sharp = self._outline.out.any(axis=1)
        limit = self.solid.radius + margin
        self._gap = min(
            far_edges.min(initial=math.inf), far_corners[sharp].min(initial=math.inf)
        ) - self.solid.radius
        near = []
        between = np.hypot(*(ends[:, None] - corners[None]).transpose(2, 0, 1))
        for k in range(len(ends)):
            some = np.flatnonzero(far_edges[k] < limit).tolist()
            if some:
                near.append((k, some, np.flatnonzero(between[k] < limit).tolist()))
        sides = [
            (v, np.flatnonzero(far_corners[v] < limit).tolist())
            for v in np.flatnonzero(sharp & (far_corners < limit).any(axis=1)).tolist()
        ]
        self._near, self._seen = (near, sides), q

    def _moved(self, q: list[float]) -> float:
        """m, by which any point of a link is away from where it was at the last look, at most."""
        if not self._seen:
            return math.inf
        return sum(
            far * abs(a - b) for far, a, b in zip(self._swept, q, self._seen, strict=True)
        )

    # What touches

    def _next(self, q: list[float], v: list[float]) -> tuple[list[list[_Plane]], Any, float]:
        """Places next to each other, by what is pushed there; ends of links; and m, by which any
        point may move until there is one, at least, where there is none."""
        moved = self._moved(q)
        if moved < self._gap:
            return [], (), self._gap - moved
        points = self._figure.points(math.sin, math.cos, q, v)
        if moved >= self._margin:
            self._look(q, points, self._margin)
        return self._planes(points), points, math.inf

    def _planes(self, points) -> list[list[_Plane]]:
        ends, sides = self._near
        found = [self._at_end(points, *one) for one in ends]
        found += [self._at_side(points, *one) for one in sides]
        return [one for one in found if one]

    def _at_end(self, points, k: int, edges: list[int], corners: list[int]) -> list[_Plane]:
        number, link, hard = self._ends[k]
        x, y, vx, vy = points[number]
        radius, group, found = self.solid.radius, ("end", k), []
        nearest, within = math.inf, None
        for e in edges:
            ax, ay, tx, ty, length = self._edges[e]
            s = (x - ax) * tx + (y - ay) * ty
            if not 0.0 <= s < length:
                continue
            off = (x - ax) * ty - (y - ay) * tx
            plane = _Plane(
                (k, "edge", e), group, int(self._outline.things[e]), link, hard, (x, y), (vx, vy),
                (ty, -tx), off - radius, x * tx + y * ty,
            )
            if off >= 0.0:
                found.append(plane)
            if abs(off) < nearest or (abs(off) == nearest and off >= 0.0):
                nearest, within = abs(off), plane if off < 0.0 else None
        for v in corners:
            cx, cy, before, after, ox, oy = self._corners[v]
            dx, dy = x - cx, y - cy
            far = math.hypot(dx, dy)
            _, _, tx, ty, _ = self._edges[before]
            ux, uy = self._edges[after][2:4]
            if far < 1e-12 or dx * tx + dy * ty < 0.0 or dx * ux + dy * uy >= 0.0:
                continue
            sharp = bool(ox or oy)
            sign = 1.0 if sharp else -1.0
            nx, ny = sign * dx / far, sign * dy / far
            plane = _Plane(
                (k, "corner", v), group, int(self._outline.things[before]), link, hard,
                (x, y), (vx, vy), (nx, ny), sign * far - radius,
                sign * radius * math.atan2(ox * dy - oy * dx, ox * dx + oy * dy),
            )
            if sharp:
                found.append(plane)
            if far < nearest:
                nearest, within = far, None if sharp else plane
        return found if within is None else [within]

    def _at_side(self, points, v: int, links: list[int]) -> list[_Plane]:
        cx, cy, before, *_ = self._corners[v]
        found = []
        for link in links:
            bx, by, bvx, bvy = points[2 * link]
            ex, ey, evx, evy = points[2 * link + 1]
            length = self._lengths[link]
            tx, ty = (ex - bx) / length, (ey - by) / length
            dx, dy = cx - bx, cy - by
            u = dx * tx + dy * ty
            if not 0.0 < u < length:
                continue
            # The side that it is on, or was when it came to touch.
            left = dx * ty - dy * tx > 0.0
            left ^= (v, "side", link, not left) in self._anchors
            nx, ny = (-ty, tx) if left else (ty, -tx)
            gap = -(dx * nx + dy * ny) - self.solid.radius
            turning = (tx * (evy - bvy) - ty * (evx - bvx)) / length
            found.append(_Plane(
                (v, "side", link, left), ("side", v), int(self._outline.things[before]), link, link,
                (cx, cy), (bvx - turning * dy, bvy + turning * dx), (nx, ny), gap,
                u if left else -u,
            ))
        return found

    def _pressing(self, group: list[_Plane]) -> list[tuple[_Plane, float]]:
        """Of what is next to an end or a corner, what pushes it, and by how much in m."""
        name = group[0].group
        allowed = self._allowed.get(name, 0.0)
        deep = sorted(
            ((-one.gap - allowed, one) for one in group if -one.gap > allowed),
            key=lambda pair: -pair[0],
        )
        if not deep or self._sudden(group):
            return []
        (first, one), *rest = deep
        if rest:
            second, two = rest[0]
            c = max(one.out[0] * two.out[0] + one.out[1] * two.out[1], 0.0)
            if second > c * first and c < 0.9999:
                both = 1.0 - c * c
                return [(one, (first - c * second) / both), (two, (second - c * first) / both)]
        return [(one, first)]

    def _sudden(self, group: list[_Plane]) -> bool:
        """Whether it is deeper in than it came by itself: it began there, or beside that."""
        name, one = group[0].group, min(group, key=lambda plane: plane.gap)
        if name in self._held:
            return False
        return -one.gap - self._allowed.get(name, 0.0) > LEFT + max(one.closing, 0.0) * SHORTEST

    def _force(self, plane: _Plane, deep: float) -> tuple[float, float, float]:
        """Load, friction along the surface, and the anchor thereafter."""
        nx, ny = plane.out
        vx, vy = plane.speed
        anchor = self._anchors.get(plane.key, plane.along)
        return pressed(
            ONE, self.surfaces[plane.hard], deep, vx * nx + vy * ny, plane.along,
            vy * nx - vx * ny, anchor,
        )

    # For `run`, whose states are an angle and its speed for each link

    def begin(self, time: float, state: np.ndarray) -> None:
        """Note what a figure begins in.

        Args:
            time: s.
            state: (2n,).
        """
        q, v = state[::2].tolist(), state[1::2].tolist()
        points = self._figure.points(math.sin, math.cos, q, v)
        self._look(q, points, math.inf)
        for group in self._planes(points):
            deep = max(-one.gap for one in group)
            if deep > LEFT:
                self._allowed[group[0].group] = deep
                self.began.append(self.solid.things[group[0].thing].name)
        self.began = list(dict.fromkeys(self.began))
        self._look(q, points, self._margin)
        self.passed(time, state)

    def between(self, start: float, end: float) -> Sequence[float]:
        """Times at which a step has to end.

        Args:
            start: s.
            end: s.
        """
        return [] if self.others is None else self.others.between(start, end)

    def rates(self, time: float, state: np.ndarray, middle: float) -> np.ndarray:
        """(2n,) what adds to the state's time derivative.

        Args:
            time: s.
            state: (2n,).
            middle: s, of the step.
        """
        found = np.zeros(len(state)) if self.others is None else (
            self.others.rates(time, state, middle)
        )
        q, v = state[::2].tolist(), state[1::2].tolist()
        groups, points, room = self._next(q, v)
        fast = sum(far * abs(w) for far, w in zip(self._swept, v, strict=True))
        torques, touching, soon = [0.0] * self._n, set(), room / max(fast, 1e-9)
        for group in groups:
            for plane, deep in self._pressing(group):
                load, kept, _ = self._force(plane, deep)
                nx, ny = plane.out
                fx, fy = load * nx - kept * ny, load * ny + kept * nx
                x, y = plane.place
                for k in self._above[plane.link]:
                    torques[k] += (x - points[2 * k][0]) * fy - (y - points[2 * k][1]) * fx
            allowed = self._allowed.get(group[0].group, 0.0)
            for plane in group:
                if -plane.gap > allowed:
                    touching.add(plane.key)
                elif plane.gap > 0.0 and plane.closing > 0.0:
                    soon = min(soon, plane.gap / plane.closing)
        self._looks.append((frozenset(touching), soon))
        if any(torques):
            found[1::2] += self._figure.accelerations(
                math.sin, math.cos, q, [0.0] * self._n, torques, ((0.0, 0.0),) * (2 * self._n)
            )
        return found

    def rough(self, h: float) -> bool:
        """Whether a step, of which begin and middle were just looked at, is too long.

        Args:
            h: s.
        """
        if self.others is not None and self.others.rough(h):
            return True
        (first, _), (second, _), (third, soon) = self._looks[-3:]
        return soon < 0.5 * h or bool((second | third) - first)

    def passed(self, time: float, state: np.ndarray) -> None:
        """Note where a step ended.

        Args:
            time: s.
            state: (2n,).
        """
        if self.others is not None:
            self.others.passed(time, state)
        self._looks.clear()
        q, v = state[::2].tolist(), state[1::2].tolist()
        anchors, held, touch, allowed, longest = {}, set(), set(), {}, math.inf
        for group in self._next(q, v)[0]:
            name, deep = group[0].group, max(-one.gap for one in group)
            if self._sudden(group):
                self._allowed[name] = deep
            least = min(self._allowed.get(name, 0.0), deep)
            if least > 0.0:
                allowed[name] = least
            for plane, into in self._pressing(group):
                anchors[plane.key] = self._force(plane, into)[2]
                held.add(name)
                longest = min(longest, self._steps[plane.hard])
                touch.add(plane.thing)
                self._note(time, plane)
        self._anchors, self._held, self._touch, self._allowed = anchors, held, touch, allowed
        self.longest = longest if self.others is None else min(longest, self.others.longest)

    def _note(self, time: float, plane: _Plane) -> None:
        name = self.solid.things[plane.thing].name
        if plane.thing not in self._touch and (plane.closing > FELT or name not in self._known):
            self._known.add(name)
            self.hits.append((float(time), name))

    def struck(self, time: float, state: np.ndarray) -> np.ndarray:
        """(2n,) state after hits at an instant.

        Args:
            time: s.
            state: (2n,).
        """
        return state if self.others is None else self.others.struck(time, state)

    def seen(self) -> None:
        """Note how it is at this instant."""
        if self.others is not None:
            self.others.seen()


def _surface(mass: float, weight: float, friction: float) -> Surface:
    """How what a link touches gives way: a rod's end is as heavy as a quarter of it, at least.

    A spring so stiff that what flies into it in the shortest step gains no energy, and a damper
    that such steps take.
    """
    stiffness = min(weight / SINK, STIFFEST**2 * 0.25 * mass / SHORTEST**2)
    whole = weight / 9.81
    damping = min(BOUNCE * math.sqrt(stiffness * whole), DEAD * math.sqrt(stiffness * mass))
    return Surface(stiffness, damping, friction)


def _distances(points: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """(p, l) m from points to lines from one end to another."""
    way = lines[:, 1] - lines[:, 0]
    off = points[:, None] - lines[None, :, 0]
    share = np.einsum("pli,li->pl", off, way) / np.maximum((way**2).sum(axis=1), 1e-18)
    off -= np.clip(share, 0.0, 1.0)[..., None] * way
    return np.hypot(off[..., 0], off[..., 1])
