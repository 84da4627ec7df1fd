# SPDX-License-Identifier: GPL-3.0-or-later
"""What a controller is to be, and the controller of it: from numbers to a table.

A plan says in SI units what the paper's text form says in degrees (`texts`): the domain and
how finely it is sampled, the controls and their price, and where it leads. Coordinates that a
destination does not name are free; of several destinations the easiest is taken (van de
Panne, Fiume and Vranesic, "Reusable Motion Synthesis Using State-Space Controllers", 1990,
sections 3.1 and 3.3).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ..errors import SettingError
from . import pendulum
from .build import Rates, Table, build, memory
from .grid import Axis, Grid, around
from .run import Controller, Rest, rest_law, widened
from .surroundings import Surroundings
from .texts import ControllerText, Range
from .wary import Home, Wary

LARGEST = 2**31
"""Bytes that a build may take."""

ARRIVED = {"rad": math.radians(5.0), "rad/s": math.radians(25.0)}
"""Unit -> within what a coordinate counts as reached."""

SOFTER = 6.0
"""Times `ARRIVED` that the linear law of several links takes for far: their tables' cells are
wider than a pendulum's."""

HOLD = "HOLD"
"""Motor program: controls stay as they are given, for as long as a line of the script lasts."""

WIDER = 4.0
"""Times the size of a law's domain, among things, where each way home is tried by itself."""

DENSER = 1.2
"""Power of the growth of the nodes' distances from the destination on."""


@dataclass(frozen=True)
class Span:
    """A coordinate of the state, or a control, and how it is sampled.

    Attributes:
        name: of it, as in the text form.
        low: least value, rad, rad/s, m, m/s or N m.
        high: largest value; of a coordinate that wraps the first one again.
        count: how many nodes, or how many values are tried.
        unit: "rad", "rad/s", "m", "m/s" or "N m".
        wraps: whether it begins anew after its largest value.
        effort: K, s per s and unit, of a control.
    """

    name: str
    low: float
    high: float
    count: int
    unit: str = "rad"
    wraps: bool = False
    effort: float = 0.0

    def spoken(self, value: float) -> str:
        """A value with its unit.

        Args:
            value: in SI units.
        """
        if self.unit.startswith("rad"):
            return f"{math.degrees(value):.4g}°{self.unit.removeprefix('rad')}"
        return f"{value:.3g} {self.unit}"


@dataclass(frozen=True)
class Plan:
    """What a controller is to be.

    Attributes:
        name: for messages.
        coordinates: the domain, in the order of the state.
        controls: what the figure can do.
        destinations: each a mapping from a coordinate's name to its value.
        power: of the growth of the nodes' distances from the destination on; 1 is even.
        program: name of a motor program in place of a table, "" for none.
        amount: what the program is asked for, such as the length of a jump, m.
        drop: by how much a jump comes down, m.
        found: numbers of the program, where it was looked for; () for those that it comes with. Of
            `HOLD` what each control is, in their order.
    """

    name: str
    coordinates: tuple[Span, ...]
    controls: tuple[Span, ...]
    destinations: tuple[Mapping[str, float], ...]
    power: float = DENSER
    program: str = ""
    amount: float = 0.0
    drop: float = 0.0
    found: tuple[float, ...] = ()

    @property
    def nodes(self) -> int:
        """How many states its table has."""
        return math.prod(x.count for x in self.coordinates)

    @property
    def samples(self) -> np.ndarray:
        """(k, c) the controls that are tried in each."""
        values = [np.linspace(x.low, x.high, x.count) for x in self.controls]
        return np.array(list(itertools.product(*values)))

    @property
    def targets(self) -> np.ndarray:
        """(k, d) the destinations, nan for what is free."""
        return np.array(
            [[place.get(x.name, np.nan) for x in self.coordinates] for place in self.destinations]
        )

    def check(self) -> None:
        """Refuse what cannot be built.

        Raises:
            SettingError: a range is none, a destination is outside the domain, or the table
                would not fit memory.
        """
        for least, spans in ((3, self.coordinates), (2, self.controls)):
            for x in spans:
                if not (math.isfinite(x.low) and math.isfinite(x.high) and x.low < x.high):
                    raise SettingError(
                        f"{x.name} of {self.name}", f"from {x.low:g} to {x.high:g}",
                        "from a least to a larger value",
                    )
                if x.count < least:
                    raise SettingError(
                        f"Steps of {x.name} of {self.name}", x.count, f"{least} or more"
                    )
        for x in self.controls:
            if not x.effort >= 0.0 or math.isinf(x.effort):
                raise SettingError(f"Effort of {x.name} of {self.name}", x.effort, "at least 0")
        if not 1.0 <= self.power <= 4.0:
            raise SettingError(f"Denser of {self.name}", self.power, "between 1 and 4")
        if not self.destinations or not all(self.destinations):
            raise SettingError(
                f"Destination of {self.name}", "nowhere", "given the value of a coordinate"
            )
        known = {x.name: x for x in self.coordinates}
        for name, value in (pair for place in self.destinations for pair in place.items()):
            if name not in known:
                raise SettingError("Coordinate", name, f"one of {', '.join(known)}")
            x = known[name]
            inside = x.wraps or x.low - 1e-6 <= value <= x.high + 1e-6
            if not (math.isfinite(value) and inside):
                raise SettingError(
                    f"Destination of {self.name}", f"{name} {x.spoken(value)}",
                    f"within its domain, {x.spoken(x.low)} to {x.spoken(x.high)}",
                )
        tried = math.prod(x.count for x in self.controls)
        needed = memory(self.nodes, len(known), tried)
        if needed > LARGEST:
            share = (LARGEST / needed) ** (1.0 / len(known))
            fits = " x ".join(str(max(3, int(x.count * share))) for x in self.coordinates)
            sizes = " x ".join(str(x.count) for x in self.coordinates)
            raise SettingError(
                f"Table of {self.name}",
                f"{sizes} states with {tried} controls, {needed / 2**30:.1f} GB while it is built",
                f"smaller: {fits} states would fit into {LARGEST / 2**30:.0f} GB",
            )

    def grid(self) -> Grid:
        """The nodes: where all destinations agree on a coordinate, denser towards it."""
        axes = []
        for x, values in zip(self.coordinates, self.targets.T, strict=True):
            period = x.high - x.low if x.wraps else 0.0
            at = float(values[0])
            if not np.allclose(values, at, equal_nan=False):  # free somewhere, or several
                nodes = np.linspace(x.low, x.high, x.count, endpoint=not x.wraps)
            elif x.wraps and self.power == 1.0:
                nodes = np.linspace(x.low, x.high, x.count, endpoint=False)
            elif x.wraps:
                half = 0.5 * period
                nodes = around(at - half, at + half, x.count + 1, at, self.power)[:-1]
            elif self.power == 1.0:
                nodes = np.linspace(x.low, x.high, x.count)
            else:
                nodes = around(x.low, x.high, x.count, min(max(at, x.low), x.high), self.power)
            axes.append(Axis(x.name, nodes, period))
        return Grid.of(axes)


def _ends(plan: Plan, grid: Grid) -> np.ndarray:
    """(size,) bool, the nodes nearest to the destinations."""
    states = grid.states()
    found = np.zeros(len(states), bool)
    for target in plan.targets:
        here = np.ones(len(states), bool)
        for k, axis in enumerate(grid.axes):
            if not np.isnan(target[k]):
                off = np.abs(axis.difference(axis.nodes - target[k]))
                here &= states[:, k] == axis.nodes[int(np.argmin(off))]
        found |= here
    return found


def _table(
    plan: Plan, rates: Rates, progress: Callable[[float], None] | None,
    about: Surroundings | None,
) -> tuple[Table, bool]:
    """The table, and whether there is a way to the destination from elsewhere."""
    grid = plan.grid()
    weights = np.array([x.effort for x in plan.controls])
    ends, cost, given = _ends(plan, grid), None, None
    for home in _homes(plan, rates, about) if about else ():
        one, asked = home.costs(grid.states(), weights)
        if cost is None or given is None:
            cost, given = one, asked
        given[one < cost] = asked[one < cost]
        cost = np.minimum(cost, one)
    made = build(
        grid, rates, plan.samples, weights, ends, cost, tolerance=1e-4, sweeps=4000,
        blocked=about.blocks if about else None, progress=progress,
    )
    elsewhere = ~ends
    some = bool(made.reached[elsewhere].mean() >= LEAST)
    if cost is None or given is None:
        return made, some
    led = np.isfinite(cost)
    made = replace(made, controls=np.where(led[:, None], given, made.controls))
    return made, some or bool((led & elsewhere).any())


LEAST = 0.02
"""Share of the states from which a destination has to be reached, unless a law leads there: beside
it a figure may come there by chance."""


def table_of(
    plan: Plan, rates: Rates, progress: Callable[[float], None] | None = None,
    about: Surroundings | None = None,
) -> Table:
    """Build a plan's table.

    Args:
        plan: what it is to be.
        rates: the figure's dynamics.
        progress: told the share that is done; raises Cancelled to stop.
        about: what the figure may not touch; None for nothing.

    Returns:
        The table.

    Raises:
        SettingError: it cannot be built; a destination is inside something; or nothing leads to
            the destination, and a table twice as fine agrees: then with the torque that would
            do, if one was found.
    """
    plan.check()
    if about:
        _check_clear(plan, about)
        about = _beside(plan, about)
    table, arrives = _table(plan, rates, progress, about)
    if arrives:
        return table
    finer = replace(
        plan, coordinates=tuple(replace(x, count=2 * x.count - 1) for x in plan.coordinates)
    )
    if memory(finer.nodes, len(plan.coordinates), len(plan.samples)) <= LARGEST:
        fine, arrives = _table(finer, rates, progress, about)
        if arrives:
            return fine
    share = _enough(plan, rates, progress, about)
    raise SettingError(
        f"Destination of {plan.name}", f"out of reach with {_spoken(plan, 1.0)}",
        f"given more, {_spoken(plan, share)} would do" if share
        else "another one, or be given a wider domain" + (", or more room" if about else ""),
    )


def _check_clear(plan: Plan, about: Surroundings) -> None:
    """Refuse destinations that are inside things."""
    for place in plan.destinations:
        one = replace(plan, destinations=(place,))
        grid = one.grid()
        found = about.touched(grid.states()[_ends(one, grid)])
        if (found >= 0).all():
            raise SettingError(
                f"Destination of {plan.name}", f"inside {about.names[found[0]]}",
                "where no link touches an obstacle",
            )


def _spoken(plan: Plan, share: float) -> str:
    """What the controls can do, in words."""
    return " and ".join(
        f"{x.name} from {x.spoken(share * x.low)} to {x.spoken(share * x.high)}"
        for x in plan.controls
    )


def _enough(
    plan: Plan, rates: Rates, progress: Callable[[float], None] | None,
    about: Surroundings | None,
) -> float:
    """Share of the controls with which the destination can be reached; 0 if none was found."""

    def does(share: float) -> bool:
        stronger = tuple(
            replace(x, low=x.low * share, high=x.high * share) for x in plan.controls
        )
        more = replace(plan, controls=stronger)
        return _table(more, rates, progress, about)[1]

    high = next((2.0**k for k in range(1, 9) if does(2.0**k)), 0.0)
    low = 0.5 * high
    for _ in range(4 if high else 0):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if does(middle) else (middle, high)
    return high


def controller_of(
    plan: Plan, table: Table, rates: Rates, about: Surroundings | None = None
) -> Controller:
    """The controller of a table: with laws that hold the figure where a destination is at rest.

    Args:
        plan: what the table was built of.
        table: what to do in each state.
        rates: the figure's dynamics.
        about: what the figure may not touch; None for nothing.
    """
    if about:
        about = _beside(plan, about)
        laws = [replace(home.law, clear=home) for home in _homes(plan, rates, about)]
    else:
        laws = _laws(plan, rates)
    targets = plan.targets
    return Controller(
        table, targets[0] if len(targets) == 1 else targets, laws[0] if laws else None,
        _arrived(plan), tuple(laws[1:]), Wary(table, rates, about) if about else None,
    )


def _arrived(plan: Plan) -> np.ndarray:
    """(d,) how near to a destination counts as there."""
    return np.array([ARRIVED.get(x.unit, 0.05) for x in plan.coordinates])


def _periods(plan: Plan) -> np.ndarray:
    """(d,) after which coordinates are the same again, 0 for those that are bounded."""
    return np.array([x.high - x.low if x.wraps else 0.0 for x in plan.coordinates])


def _laws(plan: Plan, rates: Rates) -> list[Rest]:
    """Those about the destinations that are states of rest."""
    found = (
        _law(
            rates, tuple(target), tuple(x.low for x in plan.controls),
            tuple(x.high for x in plan.controls), tuple(_arrived(plan)), tuple(_periods(plan)),
        )
        for target in plan.targets if not np.isnan(target).any()
    )
    return [law for law in found if law is not None]


def _homes(plan: Plan, rates: Rates, about: Surroundings) -> list[Home]:
    """What tells whether they lead home among things."""
    more = _periods(plan), _arrived(plan)
    return [
        Home(replace(law, size=WIDER * law.size), rates, about, *more)
        for law in _laws(plan, rates)
    ]


def _beside(plan: Plan, about: Surroundings) -> Surroundings:
    """What stands about, so that destinations beside it are free."""
    whole = plan.targets[~np.isnan(plan.targets).any(axis=1)]
    return about.beside(whole[about.touched(whole) < 0])


@lru_cache(64)
def _law(
    rates: Rates, target: tuple[float, ...], low: tuple[float, ...], high: tuple[float, ...],
    arrived: tuple[float, ...], periods: tuple[float, ...],
) -> Rest | None:
    """The law around a destination, clipped, as wide as it holds the links."""
    least, most, near = np.array(low), np.array(high), np.array(arrived)
    several = len(target) > 2
    law = rest_law(rates, np.array(target), least, most, (SOFTER if several else 1.0) * near)
    if law is None:
        return None
    far = math.inf if several else pendulum.FAR
    return widened(rates, law, least, most, np.array(periods), near, far)


_RATES = {"rad": 180.0 / math.pi, "rad/s": 180.0 / math.pi}


def in_si(x: Span, value: float) -> float:
    """A value of a text, in SI units.

    Args:
        x: whose.
        value: degrees, degrees/s, or what its unit is.
    """
    return value / _RATES.get(x.unit, 1.0)


def in_degrees(x: Span, value: float) -> float:
    """A value as texts have it.

    Args:
        x: whose.
        value: in SI units.
    """
    # Blender keeps numbers in single precision: 350 degrees to a few hundred-thousandths.
    return round(float(value) * _RATES.get(x.unit, 1.0), 4 if x.unit in _RATES else 6)


def from_text(made: ControllerText, plan: Plan) -> Plan:
    """A plan as a text says it.

    Args:
        made: what was read.
        plan: whose figure it is for: names, order and units of coordinates and controls.

    Raises:
        SettingError: the text is for a figure of other coordinates or controls.
    """
    said = {x.name: x for x in (*made.coordinates, *made.controls)}
    own = {x.name: x for x in (*plan.coordinates, *plan.controls)}
    if made.held:
        names = [x.name for x in plan.controls]
        for name in made.held:
            if name not in names:
                raise SettingError("Control", name, f"one of {', '.join(names)}")
        return replace(
            plan, program=HOLD, destinations=(),
            found=tuple(made.held.get(name, 0.0) for name in names),
        )
    if set(said) != set(own):
        raise SettingError(
            f"Coordinates and controls of {plan.name}", ", ".join(said), ", ".join(own)
        )

    def span(x: Span) -> Span:
        given = said[x.name]
        step = (given.high - given.low) / (given.count - 1) if given.wraps else 0.0
        return Span(
            x.name, in_si(x, given.low), in_si(x, given.high + step), given.count, x.unit,
            given.wraps, given.effort,
        )

    return replace(
        plan, coordinates=tuple(map(span, plan.coordinates)),
        controls=tuple(map(span, plan.controls)), power=1.0,
        destinations=tuple(
            {name: in_si(own[name], value) for name, value in place.items()}
            for place in made.destinations
        ),
    )


def to_text(plan: Plan, dynamics: str) -> ControllerText:
    """What a plan says, as the text form has it; its nodes are evenly spaced there.

    Args:
        plan: what to say.
        dynamics: whose it is.
    """
    def said(x: Span) -> Range:
        step = (x.high - x.low) / x.count if x.wraps else 0.0
        return Range(
            x.name, in_degrees(x, x.low), in_degrees(x, x.high - step), x.count, x.wraps, x.effort
        )

    if plan.program == HOLD:
        held = zip(plan.controls, plan.found, strict=True)
        return ControllerText(dynamics, (), (), (), {x.name: in_degrees(x, v) for x, v in held})
    spans = {x.name: x for x in plan.coordinates}
    return ControllerText(
        dynamics, tuple(map(said, plan.coordinates)), tuple(map(said, plan.controls)),
        tuple(
            {name: in_degrees(spans[name], value) for name, value in place.items()}
            for place in plan.destinations
        ),
    )
