# SPDX-License-Identifier: GPL-3.0-or-later
"""Knocks of planar figures: balls, pushes and shakes in space, felt in the figure's plane.

A force F at a point of a link acts by J^T F, and an impulse p changes the rates by M^-1 J^T p;
what is across the plane, what holds the figure there bears. A controller takes no notice: it acts
by the state as it then is, which is why it corrects itself (van de Panne, Fiume and Vranesic,
1990, section 3.6).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..dynamics.collide import Contact, Flight, impulse, touching
from ..dynamics.disturbances import Ball, Push, Shake
from ..dynamics.planar import Link, Point, compile_figure
from .chain import Chain

THICK = 0.075
"""Radius of a link that nobody says, as a share of its length, as pose timing has it."""

NOW = 1e-9
"""s: an instant that is so near is now."""


@dataclass(frozen=True)
class Plane:
    """Where a planar figure is in space.

    Attributes:
        origin: (3,) m.
        right: (3,) unit vector along its X axis.
        up: (3,) along its Y axis.
    """

    origin: np.ndarray
    right: np.ndarray
    up: np.ndarray

    def within(self, vectors: np.ndarray) -> np.ndarray:
        """(..., 2) vectors in space as the plane has them; what is across it goes.

        Args:
            vectors: (..., 3).
        """
        return np.stack([vectors @ self.right, vectors @ self.up], axis=-1)

    def places(self, points: np.ndarray) -> np.ndarray:
        """(..., 3) points of the plane in space, m.

        Args:
            points: (..., 2) m.
        """
        return self.origin + points[..., :1] * self.right + points[..., 1:] * self.up


@dataclass(frozen=True)
class Limb:
    """What of a link can be hit and pushed.

    Attributes:
        begin: in the link's frame, m.
        end: likewise; where pushes act.
        radius: m.
    """

    begin: tuple[float, float]
    end: tuple[float, float]
    radius: float


class Knocks:
    """What acts on a planar figure from outside.

    Attributes:
        longest: s, of steps: what pushes and shakes do is smooth.

    Args:
        links: of the figure, parents first.
        limbs: of each link.
        plane: where the figure's axes are.
        disturbances: in space and in the order of the animator's list; of a push, which link.
        weight: (3,) acceleration of what falls, in space, m/s^2.
        free: whether nothing holds the figure's root.
    """

    longest = math.inf

    def __init__(
        self, links: Sequence[Link], limbs: Sequence[Limb], plane: Plane,
        disturbances: Sequence[Ball | Push | Shake], weight: np.ndarray, free: bool = False,
    ) -> None:
        self.plane, self.n, self.free = plane, len(links), free
        points = [
            Point(x.name, place) for k in range(4) for x, limb in zip(links, limbs, strict=True)
            for place in ((limb.begin, limb.end, (0.0, 0.0), x.centre)[k],)
        ]
        self.figure = compile_figure(links, free, points)
        self.masses = np.array([x.mass for x in links])
        self.thick = np.array([limb.radius for limb in limbs])
        index = {x.name: k for k, x in enumerate(links)}
        # Joints on the way to each link.
        self.above = np.eye(self.n, dtype=bool)
        for k, x in enumerate(links):
            if x.parent:
                self.above[k] |= self.above[index[x.parent]]
        self.reach = sum(float(np.hypot(*x.joint)) for x in links) + max(
            float(np.hypot(*place)) + limb.radius for limb in limbs
            for place in (limb.begin, limb.end)
        )
        self.pushes = [x for x in disturbances if isinstance(x, Push)]
        self.shakes = [x for x in disturbances if isinstance(x, Shake)]
        self.flight = Flight([x for x in disturbances if isinstance(x, Ball)], weight)
        self.hits: list[Contact] = []
        self.flights: list[np.ndarray] = []

    @classmethod
    def of_chain(
        cls, chain: Chain, plane: Plane, disturbances: Sequence[Ball | Push | Shake],
        weight: np.ndarray,
    ) -> Knocks:
        """Of a chain, whose links go from their joints past their centres as far again.

        Args:
            chain: whose.
            plane: where its first joint and its axes are.
            disturbances: in space.
            weight: (3,) acceleration of what falls, m/s^2.
        """
        ends = [(2.0 * x.centre[0], 2.0 * x.centre[1]) for x in chain.links]
        limbs = [Limb((0.0, 0.0), end, THICK * float(np.hypot(*end))) for end in ends]
        return cls(chain.links, limbs, plane, disturbances, weight)

    # Equations

    def _places(self, q: np.ndarray) -> np.ndarray:
        """(4, n, 2) begins, ends, joints and centres of the links, m."""
        points = self.figure.points(np.sin, np.cos, q, np.zeros_like(q))
        return np.array([point[:2] for point in points], float).reshape(4, self.n, 2)

    def _row(self, link: int, place: np.ndarray, along: np.ndarray, joints: np.ndarray):
        """(d,) J^T of a point of a link along a direction, both in the plane."""
        arms = place - joints
        turning = self.above[link] * (along[1] * arms[:, 0] - along[0] * arms[:, 1])
        return np.concatenate([along, turning]) if self.free else turning

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """(d, d) M, from the kinetic energy, which is a quadratic form of the rates.

        Args:
            q: (d,) coordinates.
        """
        d = len(q)
        unit = np.eye(d)
        pairs = unit[:, None] + unit[None, :]
        rates = np.concatenate([pairs.reshape(-1, d), unit]).T
        kinetic = self.figure.energy(np.sin, np.cos, np.repeat(q[:, None], d * d + d, 1), rates)[0]
        kinetic = np.broadcast_to(kinetic, d * d + d)
        own = kinetic[d * d :]
        return kinetic[: d * d].reshape(d, d) - own[:, None] - own[None, :]

    def accelerations(self, q: np.ndarray, start: float, end: float) -> np.ndarray:
        """(d,) what pushes and shakes add to the coordinates' accelerations, on the mean of a time.

        Args:
            q: (d,) coordinates.
            start: s.
            end: s.
        """
        def share(x: Push | Shake) -> float:
            return max(min(end, x.end) - max(start, x.start), 0.0) / max(end - start, NOW)

        pushed = [(x, share(x)) for x in self.pushes if share(x) > 0.0]
        shaken = [x for x in self.shakes if share(x) > 0.0]
        if not pushed and not shaken:
            return np.zeros(len(q))
        _begins, ends, joints, centres = self._places(q)
        forces = np.zeros(len(q))
        for push, part in pushed:
            at = ends[push.link]
            forces += part * self._row(push.link, at, self.plane.within(push.force), joints)
        for shake in shaken:
            felt = shake.acceleration(np.array([0.5 * (start + end)]))[0]
            for k in range(self.n):
                along = -self.masses[k] * self.plane.within(felt)
                forces += self._row(k, centres[k], along, joints)
        return np.linalg.solve(self.mass_matrix(q), forces)

    def hit(self, time: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(d,) rates after the balls' hits at an instant.

        Args:
            time: s.
            q: (d,) coordinates.
            v: (d,) their rates.
        """
        if not len(self.flight.balls):
            return v
        self.flight.advance(time)
        root = self.plane.origin
        if self.free:
            root = self.plane.places(np.asarray(q[:2], float))
        far = np.linalg.norm(self.flight.places - root, axis=1)
        if (far > self.reach + self.flight.radii).all():
            return v
        begins, ends, joints, _centres = self._places(q)
        limbs = self.plane.places(begins), self.plane.places(ends)
        for b, link, place, normal in touching(self.thick, self.flight, self.flight.places, *limbs):
            ball, at = self.flight.balls[b], self.plane.within(place - self.plane.origin)
            row = self._row(link, at, self.plane.within(normal), joints)
            approach = float(self.flight.velocities[b] @ normal - row @ v)
            if approach >= 0.0:
                continue
            answer = np.linalg.solve(self.mass_matrix(q), row)
            p = impulse(ball, approach, row, answer)
            self.flight.velocities[b] += p / ball.mass * normal
            v = v - p * answer
            self.hits.append(Contact(time, b, link, place, p))
        return v

    # For `run`, whose states are an angle and its speed for each link

    def between(self, start: float, end: float) -> list[float]:
        """Times at which pushes and shakes begin or end.

        Args:
            start: s.
            end: s.
        """
        spans = [(x.start, x.end) for x in self.pushes] + [(x.start, x.end) for x in self.shakes]
        times = {time for span in spans for time in span}
        return sorted(t for t in times if start + NOW < t < end - NOW)

    def rates(self, time: float, state: np.ndarray, middle: float) -> np.ndarray:
        """(2n,) what pushes and shakes add to the state's time derivative.

        Args:
            time: s.
            state: (2n,).
            middle: s, of the step: what begins or ends at its edges acts in it or does not.
        """
        found = np.zeros(len(state))
        at = time if any(x.start < time < x.end for x in self.shakes) else middle
        found[1::2] = self.accelerations(state[::2], at - NOW, at + NOW)
        return found

    def struck(self, time: float, state: np.ndarray) -> np.ndarray:
        """(2n,) state after the balls' hits at an instant.

        Args:
            time: s.
            state: (2n,).
        """
        found = state.copy()
        found[1::2] = self.hit(time, state[::2], state[1::2])
        return found

    def rough(self, h: float) -> bool:
        """Never.

        Args:
            h: s.
        """
        return False

    def passed(self, time: float, state: np.ndarray) -> None:
        """Nothing to note.

        Args:
            time: s.
            state: (2n,).
        """

    def seen(self) -> None:
        """Note where the balls are."""
        self.flights.append(self.flight.seen())

    def kept(self) -> Knocks:
        """How it is now, to come back to."""
        found = copy.copy(self)
        found.flight = copy.copy(self.flight)
        found.flight.places = self.flight.places.copy()
        found.flight.velocities = self.flight.velocities.copy()
        found.hits, found.flights = list(self.hits), list(self.flights)
        return found
