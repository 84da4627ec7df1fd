# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures under controllers, one after the other: scripts.

A controller's table gives the control at its nodes, n-linearly interpolated between them
(van de Panne, Fiume and Vranesic, 1990, section 3.4). Where
neighbouring nodes ask for opposite controls, as on both sides of the state from which a
pendulum is best swung to the left or to the right, the nearest one decides. A table alone
chatters about its destination, or rests beside it, since the best control jumps there. Where
a destination is a state of rest - where some control within the range holds the figure still -
a linear law takes over near it:

    c = c_hold - G (s - s_d),   G = R^-1 B^T P

with P of the Riccati equation for the dynamics linearised there. It does so within the
largest ellipsoid (s - s_d)^T P (s - s_d) <= r in which its control stays within the range,
so that it is never clipped, and the ellipsoid is not left again; or, clipped, as far out as trials
from all around came to rest under it (`widened`): stiff laws hold better than tables beside a
destination, and those of several links are too coarse to lead anywhere exactly. Among things it
takes over from where its way home is clear of them.

What changes between steps is limited where a slew rate is given: muscles and motors do
not jump (section 5.2 of the paper).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter, mul
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError, solve_continuous_are

from ..errors import SettingError
from .build import Rates, Table
from .regions import Region, Turns

LONGEST = 1.0 / 240.0
"""s for which a control stays."""

WHIRLS = 1e-3
"""rad or rad/s by which two looks at the middle of a step may differ: beyond, it is halved."""

HALVINGS = 5
"""How often a step is halved at most."""


class Floats(NamedTuple):
    """Numbers of a linear law, as `Rest` has them."""

    state: list[float]
    shape: list[list[float]]
    hold: list[float]
    gain: list[list[float]]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Rest:
    """A linear law around a state of rest.

    Attributes:
        state: (d,) s_d.
        hold: (c,) control that holds it.
        gain: (c, d) G.
        shape: (d, d) P.
        size: r.
        limits: least and largest control that it gives, each (c,) or one for all.
        clear: state (d,) -> whether its way home from there touches nothing; None where nothing
            stands about.
    """

    state: np.ndarray
    hold: np.ndarray
    gain: np.ndarray
    shape: np.ndarray
    size: float
    limits: tuple[np.ndarray | float, np.ndarray | float] = (-np.inf, np.inf)
    clear: Callable[[np.ndarray], bool] | None = None

    @cached_property
    def floats(self) -> Floats:
        """The same numbers, for a single state."""
        low, high = (np.broadcast_to(x, self.hold.shape).tolist() for x in self.limits)
        return Floats(
            self.state.tolist(), self.shape.tolist(), self.hold.tolist(), self.gain.tolist(),
            low, high,
        )


@dataclass(frozen=True)
class Controller:
    """A table and what belongs to it.

    Attributes:
        table: what to do in each state.
        destination: (d,) the state it leads to; nan for coordinates left free. (k, d) where
            it leads to the easiest of several.
        rest: the law near it, or None where it is no state of rest.
        arrived: (d,) how near to the destination counts as there.
        others: the laws near further destinations.
        wary: (state, control) -> control that keeps clear of what stands about; None where
            nothing does.
    """

    table: Table
    destination: np.ndarray
    rest: Rest | None
    arrived: np.ndarray
    others: tuple[Rest, ...] = ()
    wary: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None

    @cached_property
    def places(self) -> list[list[float]]:
        """The destinations, nan for coordinates left free."""
        return np.atleast_2d(self.destination).tolist()


@dataclass(frozen=True)
class Command:
    """A line of a script.

    Attributes:
        controller: who is in control, or a motor program: (seconds since it began,
            state (d,)) -> control (c,).
        seconds: for how long at the most.
        until_reached: whether it ends where the destination is reached.
        name: for messages.
        region: where it ends, or where it is in force.
        whenever: whether it is in force whenever the state is within the region.
    """

    controller: Controller | Callable[[float, np.ndarray], np.ndarray]
    seconds: float
    until_reached: bool = False
    name: str = ""
    region: Region | None = None
    whenever: bool = False


class Outside(Protocol):
    """What acts on a figure from outside.

    Attributes:
        longest: s, of a step from where the last one ended; less than what halving leads to
            counts as that.
    """

    longest: float

    def between(self, start: float, end: float) -> Sequence[float]:
        """Times after `start` and before `end` at which a step has to end, growing.

        Args:
            start: s.
            end: s.
        """
        ...

    def rates(self, time: float, state: np.ndarray, middle: float) -> np.ndarray:
        """(d,) what it adds to the state's time derivative.

        Args:
            time: s.
            state: (d,).
            middle: s, of the step: what begins or ends at its edges acts in it or does not.
        """
        ...

    def struck(self, time: float, state: np.ndarray) -> np.ndarray:
        """(d,) state after hits at this instant, which is that of the end of a step.

        Args:
            time: s.
            state: (d,).
        """
        ...

    def rough(self, h: float) -> bool:
        """Whether a step is too long that was looked at where it begins and in its middle.

        Args:
            h: s.
        """
        ...

    def passed(self, time: float, state: np.ndarray) -> None:
        """Note where a step ended, which may be part of another one.

        Args:
            time: s.
            state: (d,).
        """
        ...

    def seen(self) -> None:
        """Note how it is at this instant, one of those that are asked for."""
        ...


@dataclass(frozen=True)
class Run:
    """What a script did; one row for each time asked for.

    Attributes:
        times: (f,) s.
        states: (f, d), coordinates that wrap counted on.
        controls: (f, c) from each time on.
        active: (f,) index of the command in force.
        left: (time, command) where a state left the domain of the controller in force,
            or had no way from there; the run goes on without control.
        reached: (time, command) where destinations were reached.
        ended: s at which the last command ended, or the last time.
        entered: (time, command) where states came into regions by which commands change.
    """

    times: np.ndarray
    states: np.ndarray
    controls: np.ndarray
    active: np.ndarray
    left: tuple[tuple[float, int], ...]
    reached: tuple[tuple[float, int], ...]
    ended: float
    entered: tuple[tuple[float, int], ...] = ()


def rest_law(
    rates: Rates, state: np.ndarray, low: np.ndarray, high: np.ndarray, scale: np.ndarray
) -> Rest | None:
    """The law that holds a figure at a state, if it can be held there.

    Args:
        rates: the dynamics, smooth in the controls.
        state: (d,).
        low: (c,) least control.
        high: (c,) largest control.
        scale: (d,) what counts as far in each coordinate.

    Returns:
        The law; None where no control within the range holds the state, or where
        controls cannot bring it back.
    """
    c, d = len(low), len(state)
    zero = np.zeros(c)

    def at(s: np.ndarray, u: np.ndarray) -> np.ndarray:
        return rates(s[None], u[None])[0]

    reach = 1e-3 * (high - low)

    def slopes(u: np.ndarray) -> np.ndarray:
        columns = [
            (at(state, u + row) - at(state, u - row)) / (2.0 * row.sum()) for row in np.diag(reach)
        ]
        return np.stack(columns, axis=1)

    hold = 0.5 * (low + high)
    for _ in range(8):  # Newton's rule; once is enough where controls act linearly
        hold = np.clip(
            hold - np.linalg.lstsq(slopes(hold), at(state, hold), rcond=None)[0],
            low - (high - low), high + (high - low),
        )
    b = slopes(hold)
    still = np.abs(at(state, hold)) < 1e-6 * np.maximum(1.0, np.abs(at(state, zero)))
    room = np.minimum(hold - low, high - hold)
    if not still.all() or not (room > 0.0).all():
        return None
    h = 1e-5 * scale
    a = np.stack(
        [(at(state + h * e, hold) - at(state - h * e, hold)) / (2.0 * h[i])
         for i, e in enumerate(np.eye(d))], axis=1,
    )
    try:
        p = solve_continuous_are(a, b, np.diag(scale**-2.0), np.diag((0.5 * (high - low)) ** -2.0))
    except (LinAlgError, ValueError):
        return None
    gain = np.diag((0.5 * (high - low)) ** 2) @ b.T @ p
    # The largest |g . x| within x^T P x <= r is sqrt(r g P^-1 g^T).
    reach = np.einsum("ci,ij,cj->c", gain, np.linalg.inv(p), gain)
    size = min(float(((0.9 * room) ** 2 / reach).min()), float(scale @ p @ scale))
    return Rest(np.asarray(state, float), hold, gain, p, size)


WIDER = 1.6 ** np.arange(1, 14)
"""By how much farther out, in amplitude, the law is tried than where it is never clipped."""
AROUND, SETTLING, STRIDE = 48, 3.0, 0.01
"""Trials at each of these distances; s in which they have to arrive; s, of their steps."""


def widened(
    rates: Rates, rest: Rest, low: np.ndarray, high: np.ndarray, periods: np.ndarray,
    arrived: np.ndarray, most: float = math.inf,
) -> Rest:
    """The law, clipped, in the largest ellipsoid from whose surface trials all arrive.

    They do from all smaller ones that were tried, too. Trials are the same ones each time.

    Args:
        rates: the dynamics.
        rest: the law where it is never clipped.
        low: (c,) least control.
        high: (c,) largest control.
        periods: (d,) after which coordinates are the same again, 0 for those that are bounded.
        arrived: (d,) how near to the destination counts as there.
        most: times as far out, in amplitude, as where it is never clipped.

    Returns:
        The same law with another size.
    """
    wider = WIDER if math.isinf(most) else np.append(WIDER[WIDER < most], most)
    rays = np.random.default_rng(0).normal(size=(AROUND, len(rest.state)))
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    # Of unit size in the ellipsoid's measure: with P = L L^T, L^-T takes the ball to it.
    rays = np.linalg.solve(np.linalg.cholesky(rest.shape).T, rays.T).T * np.sqrt(rest.size)
    states = rest.state + (wider[:, None, None] * rays).reshape(-1, rays.shape[1])
    rest = replace(rest, limits=(low, high))
    ends = [states, *homeward(rates, rest, states, periods, arrived)][-1]
    came = there(rest, ends, periods, arrived)
    all_came = came.reshape(len(wider), AROUND).all(axis=1)
    far = np.cumprod(np.append(True, all_came)).sum() - 1
    share = float(wider[far - 1]) if far else 1.0
    return replace(rest, size=share**2 * rest.size)


def astray(rest: Rest, states: np.ndarray, periods: np.ndarray) -> np.ndarray:
    """(m, d) by how much states are off that of a law, the shorter way around.

    Args:
        rest: the law.
        states: (m, d).
        periods: (d,) after which coordinates are the same again, 0 for those that are bounded.
    """
    off = states - rest.state
    return off - periods * np.round(off / np.where(periods > 0.0, periods, np.inf))


def there(
    rest: Rest, states: np.ndarray, periods: np.ndarray, arrived: np.ndarray
) -> np.ndarray:
    """(m,) whether states are that of a law.

    Args:
        rest: the law.
        states: (m, d).
        periods: (d,) after which coordinates are the same again, 0 for those that are bounded.
        arrived: (d,) how near counts as there.
    """
    found = np.isfinite(states).all(axis=1)
    found[found] = (np.abs(astray(rest, states[found], periods)) <= arrived).all(axis=1)
    return found


def homeward(
    rates: Rates, rest: Rest, states: np.ndarray, periods: np.ndarray, arrived: np.ndarray
) -> Iterator[np.ndarray]:
    """(m, d) states on their ways under a law, every `STRIDE`, until all are there or time is up.

    Args:
        rates: the dynamics.
        rest: the law.
        states: (m, d) where they begin.
        periods: (d,) after which coordinates are the same again, 0 for those that are bounded.
        arrived: (d,) how near to the destination they stay where they are.
    """
    states, going, (low, high) = np.array(states), np.arange(len(states)), rest.limits
    for _ in range(round(SETTLING / STRIDE) - 1):
        off = astray(rest, states[going], periods)
        on = (np.abs(off) > arrived).any(axis=1)
        if not on.all():
            going, off = going[on], off[on]
            if not len(going):
                return
        given = np.minimum(np.maximum(rest.hold - off @ rest.gain.T, low), high)
        with np.errstate(over="ignore", invalid="ignore"):  # of those that go astray
            states[going] = stepped(rates, states[going], given, STRIDE)
        yield states.copy()
        if not np.isfinite(states).all():
            going = going[np.isfinite(states[going]).all(axis=1)]


def control(controller: Controller, state: np.ndarray) -> tuple[np.ndarray, bool]:
    """What a controller does in a state.

    Args:
        controller: which.
        state: (d,).

    Returns:
        (c,) control; whether the state is within its domain and a way is known.
    """
    at = state.tolist()
    held = _held(controller, at)
    if held is not None:
        return np.array(held), True
    given, known = _control(controller, at)
    wanted = np.array(given)
    if controller.wary is not None and known:
        wanted = controller.wary(state, wanted)
    return wanted, known


def _held(controller: Controller, state: list[float]) -> list[float] | None:
    """What the law that a state is within the domain of asks for, None for no law.

    In floats, as `_control`: a figure is asked a small step at a time.
    """
    for rest in (*reversed(controller.others), controller.rest):
        if rest is None:
            continue
        law = rest.floats
        off = _off(controller.table, state, law.state)
        far = sum(a * sum(map(mul, row, off)) for a, row in zip(off, law.shape, strict=True))
        if far <= rest.size and (rest.clear is None or rest.clear(np.array(state))):
            return [
                min(max(hold - sum(map(mul, row, off)), low), high)
                for hold, row, low, high in zip(law.hold, law.gain, law.low, law.high, strict=True)
            ]
    return None


def _control(controller: Controller, state: list[float]) -> tuple[list[float], bool]:
    """What the table says of a single state."""
    table = controller.table
    numbers, weights, known = table.grid.corners_one(state)
    indices = np.array(numbers)
    reached = table.reached[indices].tolist()
    rows = [
        (w, row) for w, row, yes in zip(weights, table.controls[indices].tolist(), reached,
                                        strict=True) if yes and w > 0.0
    ]
    known = known and bool(rows)
    given = [0.0] * table.controls.shape[1]
    if known:
        columns = list(zip(*(row for _, row in rows), strict=True))
        if any(max(x) - min(x) > much for x, much in zip(columns, table.parted, strict=True)):
            given = max(rows, key=itemgetter(0))[1]
        else:
            weights = [w for w, _ in rows]
            total = sum(weights)
            given = [sum(map(mul, weights, x)) / total for x in columns]
    return given, known


def _off(table: Table, state: Sequence[float], place: Sequence[float]) -> list[float]:
    """By how much a state is off a place, the shorter way around."""
    return [
        axis.difference(a - b) for axis, a, b in zip(table.grid.axes, state, place, strict=True)
    ]


def controls(controller: Controller, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What a controller does in many states.

    Args:
        controller: which.
        states: (m, d).

    Returns:
        (m, c) controls, 0 where no way is known; (m,) whether one is.
    """
    table = controller.table
    indices, weights, inside = table.grid.corners(states)
    weights *= table.reached[indices]
    total = weights.sum(axis=1)
    known = inside & (total > 0.0)
    weights[~known] = 0.0
    corners = table.controls[indices]
    given = np.einsum("mk,mkc->mc", weights, corners)
    given /= np.where(known, total, 1.0)[:, None]
    # Where nodes want to go opposite ways, their mean goes neither: the nearest one decides.
    parted = np.ptp(np.where(weights[..., None] > 0.0, corners, given[:, None]), axis=1)
    torn = (parted > table.parted).any(axis=1)
    if torn.any():
        given[torn] = corners[torn, np.argmax(weights[torn], axis=1)]
    for rest in (controller.rest, *controller.others):
        if rest is None:
            continue
        off = _difference(table, states - rest.state)
        near = np.einsum("mi,ij,mj->m", off, rest.shape, off) <= rest.size
        if rest.clear is not None:
            near[near] = [rest.clear(state) for state in states[near]]
        given[near] = np.clip(rest.hold - off[near] @ rest.gain.T, *rest.limits)
        known |= near
    return given, known


def _difference(table: Table, off: np.ndarray) -> np.ndarray:
    return np.stack(
        [axis.difference(off[..., k]) for k, axis in enumerate(table.grid.axes)], axis=-1
    )


def arrived(controller: Controller, state: np.ndarray) -> bool:
    """Whether a state is the destination.

    Args:
        controller: whose.
        state: (d,).
    """
    at = state.tolist()
    for place in controller.places:
        off = _off(controller.table, at, place)
        if all(not abs(x) > near for x, near in zip(off, controller.arrived, strict=True)):
            return True
    return False


def run(
    rates: Rates,
    start: np.ndarray,
    script: Sequence[Command],
    times: np.ndarray,
    slew: np.ndarray | None = None,
    progress: Callable[[float], None] | None = None,
    outside: Outside | None = None,
) -> Run:
    """Run a script from a state.

    Args:
        rates: the dynamics.
        start: (d,) at the first time.
        script: what controls the figure, one after the other; after the last one
            nothing does.
        times: (f,) s, growing.
        slew: (c,) largest change of each control in a second, or None.
        progress: told the share that is done; raises Cancelled to stop.
        outside: what acts on the figure besides; None for nothing.

    Returns:
        The states at the times.
    """
    for command in script:
        if not command.seconds > 0.0:
            raise SettingError(f"Time of {command.name}", command.seconds, "above 0 s")
    state, turns = np.array(start, float), Turns(script)
    time = turns.began = float(times[0])
    left: list[tuple[float, int]] = []
    out = np.empty((len(times), len(state)))
    active = np.zeros(len(times), int)
    given: list[np.ndarray] = []
    last: np.ndarray | None = None

    def there(number: int) -> bool:
        controller = script[number].controller
        return isinstance(controller, Controller) and arrived(controller, state)

    def demand() -> np.ndarray:
        number = turns.now(time, state, there)
        if number == len(script):
            return np.zeros_like(last) if last is not None else np.zeros(_width(script, state))
        command = script[number]
        if not isinstance(command.controller, Controller):
            return np.atleast_1d(np.asarray(command.controller(time - turns.began, state), float))
        wanted, known = control(command.controller, state)
        if not known and not any(n == number for _, n in left):
            left.append((time, number))
        return wanted

    for frame, until in enumerate(times):
        ends = [until] if outside is None else [*outside.between(time, until), until]
        for end in ends if frame else ():
            steps = int(np.ceil((end - time) / LONGEST - 1e-9))
            for k in range(steps):
                h = (end - time) / (steps - k)
                wanted = demand()
                if slew is not None and last is not None:
                    wanted = np.clip(wanted, last - slew * h, last + slew * h)
                last = wanted
                state = _step(rates, state, wanted, h, time, outside)
                time += h
                if outside is not None:
                    state = outside.struck(time, state)
            time = float(end)
        if outside is not None:
            outside.seen()
        given.append(demand() if last is None else last)
        out[frame], active[frame] = state, max(turns.last, 0)
        if progress is not None and frame % 16 == 0:
            progress(frame / len(times))
    return Run(
        np.asarray(times, float), out, np.array(given), active, tuple(left),
        tuple(turns.reached), min(turns.ended, float(times[-1])), tuple(turns.entered),
    )


def _width(script: Sequence[Command], state: np.ndarray) -> int:
    for command in script:
        if isinstance(command.controller, Controller):
            return command.controller.table.controls.shape[1]
        return np.size(command.controller(0.0, state))
    return 1


def _step(
    rates: Rates, state: np.ndarray, wanted: np.ndarray, h: float, time: float,
    outside: Outside | None, halvings: int = HALVINGS,
) -> np.ndarray:
    """Runge and Kutta's fourth order, the control staying; in two halves where the rates in the
    middle are told otherwise by its first and its second look at them, as where links whirl about
    or run into the ends of their ranges."""
    c = wanted[None]

    def halves() -> np.ndarray:
        end = state
        for late in (0.0, 0.5 * h):
            end = _step(rates, end, wanted, 0.5 * h, time + late, outside, halvings - 1)
        return end

    def at(late: float, s: np.ndarray) -> np.ndarray:
        found = rates(s[None], c)[0]
        return found if outside is None else (
            found + outside.rates(time + late * h, s, time + 0.5 * h)
        )

    if halvings and outside is not None and h > outside.longest:
        return halves()
    a = at(0.0, state)
    b = at(0.5, state + 0.5 * h * a)
    d = at(0.5, state + 0.5 * h * b)
    if halvings and (
        h * np.abs(d - b).max() > WHIRLS or (outside is not None and outside.rough(h))
    ):
        return halves()
    e = at(1.0, state + h * d)
    state = state + h / 6.0 * (a + 2.0 * b + 2.0 * d + e)
    if outside is not None:
        outside.passed(time + h, state)
    return state


def stepped(rates: Rates, states: np.ndarray, given: np.ndarray, h: float) -> np.ndarray:
    """(m, d) states after a step: Runge and Kutta's fourth order, the controls staying.

    Args:
        rates: the dynamics.
        states: (m, d).
        given: (m, c) controls.
        h: s.
    """
    a = rates(states, given)
    b = rates(states + 0.5 * h * a, given)
    d = rates(states + 0.5 * h * b, given)
    e = rates(states + h * d, given)
    return states + h / 6.0 * (a + 2.0 * b + 2.0 * d + e)
