# SPDX-License-Identifier: GPL-3.0-or-later
"""Planar chains and trees of links as figures to be controlled: the pendulum is the least one.

The state is each joint's angle followed by its speed, as in the paper's scripts; controls are
the torques of the joints that have a muscle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ..dynamics.planar import Link, compile_figure
from .build import Rates
from .pendulum import DESTINATIONS, EFFICIENT, EFFORT, FASTEST, POWER, SPREAD
from .plans import DENSER, Plan, Span

LONGER = (30, 11, 7, 5)
"""Nodes of an angle by how many links a chain has: the table is a product."""
TORQUES = (11, 5, 3, 3)
"""Values of each torque that are tried, likewise."""
MOST = len(LONGER)
"""Links of which a table can be thought at all."""


@dataclass(frozen=True)
class Chain:
    """A chain's physics.

    Attributes:
        links: parents first; one of them hangs on none.
        torques: (n,) N m of each joint's muscle; 0 where it has none.
        gravity: m/s^2 in the chain's plane.
    """

    links: tuple[Link, ...]
    torques: tuple[float, ...]
    gravity: float = 9.81

    @property
    def names(self) -> tuple[str, ...]:
        """Suffixes of the coordinates' names: none for a single link."""
        return ("",) if len(self.links) == 1 else tuple(str(k + 1) for k in range(len(self.links)))

    def coordinates(self) -> tuple[Span, ...]:
        """The whole domain, as a controller begins with it."""
        n = min(len(self.links), MOST) - 1
        nodes = EFFICIENT if n == 0 else (LONGER[n], LONGER[n])
        found = []
        for name, link in zip(self.names, self.links, strict=True):
            low, high = link.limits
            wraps = not (math.isfinite(low) and math.isfinite(high))
            if wraps:
                low, high = -math.pi, math.pi
            found.append(Span(f"angle{name}", low, high, nodes[0], "rad", wraps))
            found.append(Span(f"omega{name}", -FASTEST, FASTEST, nodes[1], "rad/s"))
        return tuple(found)

    def controls(self) -> tuple[Span, ...]:
        """What its muscles can do."""
        n = min(len(self.links), MOST) - 1
        return tuple(
            Span(f"torque{name}", -most, most, TORQUES[n], "N m", effort=EFFORT)
            for name, most in zip(self.names, self.torques, strict=True)
            if most > 0.0
        )

    def plan(self, name: str, destination: Sequence[float] | np.ndarray) -> Plan:
        """A controller to begin with.

        Args:
            name: of it.
            destination: (2n,) state, rad and rad/s.
        """
        spans = self.coordinates()
        place = {x.name: float(value) for x, value in zip(spans, destination, strict=True)}
        power = POWER if len(self.links) == 1 else DENSER
        return Plan(name, spans, self.controls(), (place,), power)

    def library(self) -> tuple[Plan, ...]:
        """Built-in controllers: the six of the paper for a single link, rests for more."""
        if len(self.links) == 1:
            return tuple(
                _spread(self.plan(name, np.radians(place)), *SPREAD[name])
                for name, place in DESTINATIONS.items()
            )
        hanging = [link.rest for link in self.links]
        up, down = list(hanging), list(hanging)
        up[0], down[0] = 0.5 * math.pi, -0.5 * math.pi
        rows = zip(self.links[:-1], self.links[1:], strict=True)
        if all(link.parent == above.name for above, link in rows):  # a branching one keeps its form
            up[1:] = down[1:] = [0.0] * (len(hanging) - 1)
        return tuple(
            self.plan(name, [x for angle in angles for x in (angle, 0.0)])
            for name, angles in (("Up", up), ("Down", down))
        )


def _spread(plan: Plan, counts: Sequence[int], power: float) -> Plan:
    spans = zip(plan.coordinates, counts, strict=True)
    return replace(
        plan, coordinates=tuple(replace(x, count=count) for x, count in spans), power=power
    )


@lru_cache(16)
def rates_of(chain: Chain) -> Rates:
    """(m, 2n) states and (m, c) torques -> (m, 2n) time derivatives.

    Args:
        chain: whose.
    """
    made = compile_figure(chain.links, gravity=chain.gravity)
    driven = [k for k, most in enumerate(chain.torques) if most > 0.0]

    def one(state: list[float], given: list[float]) -> np.ndarray:
        torques = [0.0] * len(chain.links)
        for k, torque in zip(driven, given, strict=True):
            torques[k] = torque
        found = np.empty((1, len(state)))
        found[0, ::2] = state[1::2]
        found[0, 1::2] = made.accelerations(math.sin, math.cos, state[::2], state[1::2], torques)
        return found

    def rates(states: np.ndarray, controls: np.ndarray) -> np.ndarray:
        if len(states) == 1:  # in floats: figures are moved on a small step at a time
            try:
                return one(states[0].tolist(), controls[0].tolist())
            except (ArithmeticError, ValueError):  # arrays take what is infinite
                pass
        torques = np.zeros((len(chain.links), len(states)))
        torques[driven] = controls.T
        found = np.empty_like(states)
        found[:, ::2] = states[:, 1::2]
        bent = made.accelerations(np.sin, np.cos, states[:, ::2].T, states[:, 1::2].T, torques)
        found[:, 1::2] = np.stack([np.broadcast_to(a, len(states)) for a in bent], axis=1)
        return found

    return rates
