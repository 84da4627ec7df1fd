# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown of scripts: the way through state space, which controller is in force, and what
became of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....solvers.control.build import Table
from ....solvers.control.plans import Plan
from ....solvers.control.run import Controller, controls
from ....solvers.dynamics.disturbances import Ball as Thrown
from ...drawing.diagrams import (
    CONTROLLERS,
    FAINT,
    Area,
    Diagram,
    Label,
    StateBox,
    StateMap,
    StateWay,
    state_diagram,
    torque_diagram,
    wrapped,
)
from ...drawing.strokes import Palette, Strokes
from ...errors import UserError
from ..view import Ball, View, ball_rings, ball_ways
from .figures import FIGURES
from .job import ControlRun, SolvedControl


@dataclass(frozen=True)
class ControlNumbers:
    """What the panel says.

    Attributes:
        rows: (what, how much).
    """

    rows: tuple[tuple[str, str], ...]

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Lines for the panel: (what, how much)."""
        return self.rows


def colours(run: ControlRun) -> dict[str, tuple[float, float, float, float]]:
    """Controller -> its colour, in the order in which the script takes them first.

    Args:
        run: what a script did.
    """
    names = list(dict.fromkeys(run.names))
    return {name: CONTROLLERS[k % len(CONTROLLERS)] for k, name in enumerate(names)}


def states_of(run: ControlRun, width: int = 560, height: int = 440, labelled: bool = True):
    """A script's way through the plane of the first two coordinates.

    Args:
        run: what a script did.
        width: pixels.
        height: pixels.
        labelled: with numbers, names, and what the way costs if the script has one controller.
    """
    shades, active = colours(run), run.ran.active
    edges = [0, *(np.flatnonzero(np.diff(active)) + 1).tolist(), len(active)]
    ways = []
    for begin, end in zip(edges[:-1], edges[1:], strict=True):
        line = int(active[begin])
        shade = shades[run.names[line]] if line < len(run.names) else FAINT
        rows = slice(begin, min(end + 1, len(active)))
        ways.append(StateWay(run.ran.states[rows, :2], shade, 2.0 if labelled else 1.5))
    plans = {line.plan.name: line.plan for line in run.script if not line.plan.program}
    targets = [
        (target[:2], name)
        for name, plan in plans.items() for target in plan.targets
        if not np.isnan(target[:2]).all()
    ]
    one = run.script[0].table if len(plans) == 1 and len(run.spans) == 2 and labelled else None
    boxes = [
        StateBox(line.region, shades[line.plan.name],
                 f"{'' if line.whenever else 'after '}{line.plan.name}")
        for line in run.script if line.region is not None
    ]
    return state_diagram(run.spans[:2], ways, targets, one, width, height, labelled, boxes)


def torques_of(run: ControlRun) -> Diagram:
    """What the way costs and the torque of each muscle in each state, by controller.

    Of states with more than two coordinates, the others are as in the destination.

    Args:
        run: what a script did.

    Raises:
        UserError: no controller of the script has a table of torques.
    """
    shades, active, maps = colours(run), run.ran.active, {}
    for line in run.script:
        plan = line.plan
        if line.table is None or plan.name in maps or not plan.controls or any(
            x.unit != "N m" for x in plan.controls
        ):
            continue
        numbers = [k for k, name in enumerate(run.names) if name == plan.name]
        inside = np.isin(active, numbers)
        edges = np.flatnonzero(np.diff(np.concatenate(([0], inside.astype(int), [0]))))
        ways = [
            StateWay(run.ran.states[a:b, :2], shades[plan.name])
            for a, b in zip(edges[::2], edges[1::2], strict=True)
        ]
        maps[plan.name] = map_of(plan, line.table, ways)
    if not maps:
        raise UserError(
            "No controller of the script has torques to be drawn: add a line with one that has"
        )
    return torque_diagram(tuple(maps.values()))


def map_of(plan: Plan, table: Table, ways: Sequence[StateWay]) -> StateMap:
    """What a controller's table says over the first two coordinates.

    Args:
        plan: of the controller, with torques for controls.
        table: its table.
        ways: that were gone under it.
    """
    target = plan.targets[0]
    middle = np.array([0.5 * (x.low + x.high) for x in plan.coordinates])
    rest = np.where(np.isnan(target), middle, target)[2:]
    bare = Controller(table, target, None, np.zeros(len(target)))

    def whole(states: np.ndarray) -> np.ndarray:
        return np.concatenate([states, np.tile(rest, (len(states), 1))], axis=1)

    def torque(states: np.ndarray, k: int) -> np.ndarray:
        given, known = controls(bare, whole(states))
        return np.where(known, given[:, k], np.nan)

    torques = tuple(
        (x.name, lambda states, k=k: torque(states, k), max(abs(x.low), abs(x.high)))
        for k, x in enumerate(plan.controls)
    )
    targets = [(one[:2], "") for one in plan.targets if not np.isnan(one[:2]).all()]
    return StateMap(
        plan.name, plan.coordinates[:2], lambda states: table.value(whole(states)), table.unknown,
        torques, ways, targets,
    )


def script_bars(
    run: ControlRun, seconds: float, left: float, right: float, bottom: float, top: float
):
    """Which controller is in force when, as bars along the time.

    A light line is where a region was entered, a dark edge what knocks the figure.

    Args:
        run: what a script did.
        seconds: how long it is.
        left: pixels.
        right: pixels.
        bottom: pixels.
        top: pixels.
    """
    shades, active = colours(run), run.ran.active
    edges = [0, *(np.flatnonzero(np.diff(active)) + 1).tolist(), len(active)]
    at = np.interp(edges, (0, len(active)), (left, right))
    areas, labels = [], []
    for k, begin in enumerate(edges[:-1]):
        line = int(active[begin])
        if line >= len(run.names):
            continue
        areas.append(Area(at[k], at[k + 1], bottom, top, shades[run.names[line]]))
        if at[k + 1] - at[k] > 7.0 * len(run.names[line]):
            labels.append(Label(
                run.names[line], 0.5 * (at[k] + at[k + 1]), 0.5 * (bottom + top), size=9.0,
                colour=(1.0, 1.0, 1.0, 1.0),
            ))
    for time, _line in run.ran.entered:
        x = float(np.interp(time, (0.0, seconds), (left, right)))
        areas.append(Area(x - 1.0, x + 1.0, bottom, top, EDGE))
    for knock in run.ran.knocks:
        begin, over = np.interp((knock.start, knock.end), (0.0, seconds), (left, right))
        areas.append(Area(begin, max(over, begin + 2.0), top - 4.0, top, KNOCK))
    return areas, labels


EDGE, KNOCK = (1.0, 1.0, 1.0, 1.0), (0.05, 0.05, 0.05, 1.0)
"""Colours of where a region was entered, and of what knocks the figure."""

BAR = 12.0
"""Pixels, of the bars under the small diagram."""


class ControlView(View[SolvedControl]):
    """How scripts are shown."""

    inset_size = (190, 150)

    def numbers(self, solved: SolvedControl) -> ControlNumbers:
        run = solved.motion
        rows = [("Time", f"{solved.tracks.time[-1]:.2f} s")]
        for time, line in run.ran.reached:
            rows.append((f"{run.names[line]} reached", f"{time:.2f} s"))
        for knock in run.ran.knocks:
            what = f"{knock.impulse:.2f} N s, " if knock.impulse else ""
            rows.append(("Knocked", f"{what}{knock.start:.2f} s"))
        first = {name: time for time, name in reversed(run.ran.touched)}
        rows += [(f"{name} touched", f"{time:.2f} s") for name, time in reversed(first.items())]
        figure = FIGURES[solved.job.machine]
        return ControlNumbers((*rows, *figure.numbers(solved.job.body, run.ran, run.names)))

    def balls(self, solved: SolvedControl) -> tuple[Ball, ...]:
        flights, struck = solved.motion.ran.flights, solved.job.struck
        if flights is None or struck is None:
            return ()
        thrown = [one for one in struck.disturbances if isinstance(one, Thrown)]
        return tuple(
            Ball(flights[solved.tracks.clock.whole, k], one.radius)
            for k, one in enumerate(thrown)
        )

    def track(self, solved: SolvedControl, palette: Palette) -> list[Strokes]:
        return super().track(solved, palette) + ball_ways(self.balls(solved))

    def ghost(self, solved: SolvedControl, row: int, palette: Palette) -> list[Strokes]:
        whole = solved.tracks.clock.whole
        frame = min(int(np.searchsorted(whole, row, side="right")), len(whole)) - 1
        return super().ghost(solved, row, palette) + ball_rings(self.balls(solved), frame)

    def hud(self, solved: SolvedControl, row: int) -> list[str]:
        run = solved.motion
        line = int(run.ran.active[row])
        return [run.names[line] if line < len(run.names) else "No control"]

    def inset(self, solved: SolvedControl, row: int, width: int, height: int) -> Diagram:
        found = states_of(solved.motion, width, height - round(BAR) - 4, False)
        up = np.array((0.0, BAR + 4.0))
        lines = tuple(replace(line, points=line.points + up) for line in found.lines)
        axes = found.axes[0]
        areas, labels = script_bars(
            solved.motion, solved.tracks.time[-1], axes.left, axes.right, 2.0, 2.0 + BAR
        )
        moved = replace(axes, bottom=axes.bottom + up[1], top=axes.top + up[1])
        return Diagram(width, height, lines, tuple(labels), (moved,), tuple(areas))

    def inset_now(self, solved: SolvedControl, row: int, width: int, height: int) -> np.ndarray:
        spans = solved.motion.spans[:2]
        state = wrapped(solved.motion.ran.states[row : row + 1, :2], spans)[0]
        picture = state_diagram(spans, (), (), None, width, height - round(BAR) - 4, False)
        scale = [np.degrees(1.0) if x.unit.startswith("rad") else 1.0 for x in spans]
        return picture.axes[0].place(*(state * scale))[0] + (0.0, BAR + 4.0)

    def diagrams(self) -> Mapping[str, Callable[[ControlRun], Diagram]]:
        return {"STATE": states_of, "TORQUE": torques_of}
