# SPDX-License-Identifier: GPL-3.0-or-later
"""Diagrams of a motion as geometry: drawn in the viewport, as SVG, as PNG.

A diagram is a list of lines and labels in pixels, x to the right and y up.
Nothing here needs a window or a graphics card.
"""

from __future__ import annotations

import colorsys
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import ceil, degrees, floor, log10
from pathlib import Path

import numpy as np

from ...solvers.control.build import Table
from ...solvers.control.plans import Span
from ...solvers.control.regions import Region
from ...solvers.legged import GaitMotion
from ...solvers.legged.gait import spoken_leg
from ...solvers.legged.support import support_profile
from ...solvers.motion import TurningMotion

Colour = tuple[float, float, float, float]

INK: Colour = (0.10, 0.12, 0.15, 1.0)
FAINT: Colour = (0.55, 0.60, 0.66, 0.55)
PAPER: Colour = (1.0, 1.0, 1.0, 1.0)
WANTED: Colour = (0.20, 0.45, 0.85, 1.0)
ACTUAL: Colour = (0.90, 0.45, 0.05, 1.0)
CLIPPED: Colour = (0.85, 0.10, 0.10, 1.0)
AIR: Colour = (0.45, 0.70, 0.95, 0.30)

ON_DARK: dict[Colour, Colour] = {
    INK: (1.0, 1.0, 1.0, 0.95),
    FAINT: (0.72, 0.76, 0.82, 0.75),
    WANTED: (0.40, 0.65, 1.00, 1.0),
    CLIPPED: (1.00, 0.32, 0.24, 1.0),
}
"""What stands for colours that are made for white paper."""

LETTER = 0.64  # width of a letter in shares of its height, with its gap


@dataclass(frozen=True)
class Line:
    """A line through points.

    Attributes:
        points: (n, 2) pixels.
        colour: RGBA, 0 to 1.
        width: pixels.
    """

    points: np.ndarray
    colour: Colour = INK
    width: float = 1.5


@dataclass(frozen=True)
class Area:
    """A filled rectangle.

    Attributes:
        left: pixels; right, bottom and top likewise.
        colour: RGBA, 0 to 1.
    """

    left: float
    right: float
    bottom: float
    top: float
    colour: Colour


@dataclass(frozen=True)
class Label:
    """A text.

    Attributes:
        text: what it says.
        x: pixels.
        y: pixels, of the text's middle.
        anchor: "start", "middle" or "end" of the text stands at x.
        size: height of the letters in pixels.
        colour: RGBA.
    """

    text: str
    x: float
    y: float
    anchor: str = "middle"
    size: float = 11.0
    colour: Colour = INK


@dataclass(frozen=True)
class Axes:
    """A rectangle of the picture and the numbers at its sides.

    Attributes:
        left: pixels; right, bottom and top likewise.
        x_range: numbers at the left and right side.
        y_range: numbers at the lower and upper side.
    """

    left: float
    right: float
    bottom: float
    top: float
    x_range: tuple[float, float]
    y_range: tuple[float, float]

    def place(self, x, y) -> np.ndarray:
        """(n, 2) pixels of points.

        Args:
            x: (n,) numbers or one.
            y: (n,) numbers or one.
        """
        (x0, x1), (y0, y1) = self.x_range, self.y_range
        x, y = np.broadcast_arrays(np.atleast_1d(x), np.atleast_1d(y))
        return np.stack(
            (
                self.left + (x - x0) / (x1 - x0) * (self.right - self.left),
                self.bottom + (y - y0) / (y1 - y0) * (self.top - self.bottom),
            ),
            axis=-1,
        )


@dataclass(frozen=True)
class Diagram:
    """A picture made of lines and labels.

    Attributes:
        width: pixels.
        height: pixels.
        lines: drawn in this order.
        labels: on top of the lines.
        axes: its plots, for what is added later (the state at a frame).
        areas: drawn before the lines, in this order.
    """

    width: int
    height: int
    lines: tuple[Line, ...]
    labels: tuple[Label, ...]
    axes: tuple[Axes, ...]
    areas: tuple[Area, ...] = ()


def on_dark(diagram: Diagram) -> Diagram:
    """A diagram in colours that are seen on dark ground.

    Args:
        diagram: one in the colours of paper.
    """

    def light(parts):
        return tuple(replace(one, colour=ON_DARK.get(one.colour, one.colour)) for one in parts)

    return replace(
        diagram, lines=light(diagram.lines), labels=light(diagram.labels),
        areas=light(diagram.areas),
    )


def phase_axes(motion: TurningMotion, width: int, height: int, margin: float = 44.0) -> Axes:
    """Axes of a phase diagram: lean in degrees, lean rate in degrees per second.

    Args:
        motion: a solved motion.
        width: of the picture in pixels.
        height: of the picture in pixels.
        margin: room for labels in pixels.
    """
    lean = 1.15 * max(
        float(np.degrees(np.abs(motion.lean)).max()), degrees(motion.max_lean.max()), 1.0
    )
    rate = 1.15 * max(
        float(np.degrees(np.abs(motion.lean_rate)).max()),
        degrees((motion.max_lean * motion.frequency).max()),
        1.0,
    )
    return Axes(
        margin, width - 0.35 * margin, margin, height - 0.35 * margin, (-lean, lean), (-rate, rate)
    )


def phase_diagram(
    motion: TurningMotion, width: int = 480, height: int = 400, labelled: bool = True
) -> Diagram:
    """Lean against lean rate, with the ellipse wanted at the end (1993, Fig. 3).

    Time runs clockwise; to the right the figure leans to its left.

    Args:
        motion: a solved motion.
        width: pixels.
        height: pixels.
        labelled: with numbers and names; without them for small pictures.
    """
    axes = phase_axes(motion, width, height, 44.0 if labelled else 10.0)
    lines = [_frame(axes)]
    lines += [Line(axes.place(axes.x_range, 0.0), FAINT, 1.0)]
    lines += [Line(axes.place(0.0, axes.y_range), FAINT, 1.0)]
    labels = []
    if labelled:
        grid, labels = _ticks(axes, "Lean, degrees to the left", "Lean rate, degrees/s")
        lines += grid
    angle = np.linspace(0.0, 2.0 * np.pi, 97)
    wanted = float(motion.max_lean[-1])
    top_rate = wanted * float(motion.frequency[-1])
    ellipse = axes.place(np.degrees(wanted) * np.sin(angle), np.degrees(top_rate) * np.cos(angle))
    lines.append(Line(ellipse, WANTED, 2.0))
    state = axes.place(np.degrees(motion.lean), np.degrees(motion.lean_rate))
    lines.append(Line(state, ACTUAL, 1.6))
    lines += [Line(run, CLIPPED, 2.4) for run in _runs(state, motion.clipped)]
    lines.append(Line(dot(state[0], 3.0), ACTUAL, 2.0))
    return Diagram(width, height, tuple(lines), tuple(labels), (axes,))


def time_diagram(motion: TurningMotion, width: int = 720, height: int = 560) -> Diagram:
    """Lean, curvature, leg force, speed and direction over time (1993, Fig. 5).

    Args:
        motion: a solved motion.
        width: pixels.
        height: pixels.
    """
    rows = (
        ("Lean, degrees", np.degrees(motion.lean)),
        ("Curvature, 1/m", motion.curvature),
        ("Leg force, g", motion.leg_force / (motion.mass * motion.gravity)),
        ("Speed, m/s", motion.speed),
        ("Direction, degrees", np.degrees(motion.yaw)),
    )
    times = (float(motion.time[0]), float(motion.time[-1]))
    edges = [event.time for event in motion.events if event.kind == "EDGE_CHANGE"]
    bottom, gap, left = 40.0, 22.0, 64.0
    tall = (height - bottom) / len(rows)
    lines, labels, plots = [], [], []
    for number, (name, values) in enumerate(reversed(rows)):
        low, high = float(values.min()), float(values.max())
        room = 0.12 * (high - low) or 1.0
        axes = Axes(
            left, width - 14.0, bottom + number * tall, bottom + (number + 1) * tall - gap,
            times, (low - room, high + room),
        )
        grid, texts = _ticks(axes, "Time, s" if number == 0 else "", "", 4)
        if number:
            texts = [label for label in texts if label.anchor == "end"]
        lines += [_frame(axes), *grid]
        lines += [Line(axes.place(time, axes.y_range), FAINT, 1.0) for time in edges]
        course = axes.place(motion.time, values)
        lines.append(Line(course, ACTUAL, 1.8))
        lines += [Line(run, CLIPPED, 2.4) for run in _runs(course, motion.clipped)]
        labels += [*texts, Label(name, left, axes.top + 9.0, "start")]
        plots.append(axes)
    return Diagram(width, height, tuple(lines), tuple(labels), tuple(plots))


@dataclass(frozen=True)
class Bar:
    """A step in a gait diagram.

    Attributes:
        leg: name of the leg.
        index: number of its step.
        on: touchdown, s.
        off: liftoff, s.
        area: where it is drawn.
    """

    leg: str
    index: int
    on: float
    off: float
    area: Area


def leg_colour(legs: Sequence[str], leg: str) -> Colour:
    """Colour of a leg, here and in the viewport: left legs warm, right legs cool.

    Args:
        legs: names of all legs, from rear to front.
        leg: name of one.
    """
    side = [name for name in legs if name.endswith(".R") == leg.endswith(".R")]
    share = side.index(leg) / max(len(side) - 1, 1) if leg in side else 0.0
    hue = 0.50 + 0.10 * share if leg.endswith(".R") else 0.0 + 0.14 * share
    return (*colorsys.hsv_to_rgb(hue, 0.8, 1.0), 1.0)


def _pair(leg: str) -> str:
    return leg[:-2] if leg.endswith((".L", ".R")) else leg


def gait_axes(
    motion: GaitMotion, width: int, height: int, labelled: bool,
    span: tuple[float, float] | None = None, names: float = 8.0,
) -> tuple[Axes, Axes]:
    """Axes of a gait diagram: rows of legs, and rows of girdles below them.

    Args:
        motion: a solved motion.
        width: of the picture in pixels.
        height: of the picture in pixels.
        labelled: with room for numbers and names.
        span: (start, end) of the time that is shown, s; None for all.
        names: room at the left where it is not labelled, pixels.
    """
    times = span or (float(motion.time[0]), max(float(motion.time[-1]), 1e-3))
    left, right = (84.0, 14.0) if labelled else (names, 8.0)
    bottom, top = (42.0, 24.0) if labelled else (8.0, 8.0)
    legs, girdles = len(motion.creature.legs), len(motion.supports)
    gap = 10.0 if labelled else 5.0
    unit = (height - bottom - top - gap) / (legs + 0.7 * girdles)
    middle = bottom + 0.7 * girdles * unit
    upper = Axes(left, width - right, middle + gap, height - top, times, (0.0, float(legs)))
    lower = Axes(left, width - right, bottom, middle, times, (0.0, float(girdles)))
    return upper, lower


def gait_bars(motion: GaitMotion, axes: Axes) -> list[Bar]:
    """Support bars of a gait diagram, the first leg in the lowest row.

    Args:
        motion: a solved motion.
        axes: of the rows of legs.
    """
    rows = {leg.name: row for row, leg in enumerate(motion.creature.legs)}
    colours = {name: leg_colour(list(rows), name) for name in rows}
    bars = []
    for mark in motion.footprints:
        begin, end = max(mark.on, axes.x_range[0]), min(mark.off, axes.x_range[1])
        if end <= begin:
            continue
        row = rows[mark.leg]
        (left, bottom), (right, top) = axes.place((begin, end), (row + 0.14, row + 0.86))
        area = Area(left, right, bottom, top, colours[mark.leg])
        bars.append(Bar(mark.leg, mark.index, mark.on, mark.off, area))
    return bars


def bar_at(
    bars: Sequence[Bar], x: float, y: float, near: float
) -> tuple[Bar, str] | None:
    """What of a gait diagram is under the mouse.

    Args:
        bars: its bars.
        x: pixels.
        y: pixels.
        near: how near to an end counts, pixels.

    Returns:
        The bar, and "ON" or "OFF" for an end, "BAR" for its middle; None where
        there is none.
    """
    best: tuple[float, Bar, str] | None = None
    for bar in bars:
        area = bar.area
        if not area.bottom <= y <= area.top:
            continue
        ends = min((abs(x - area.left), "ON"), (abs(x - area.right), "OFF"))
        if ends[0] <= near and (best is None or ends[0] < best[0]):
            best = (ends[0], bar, ends[1])
        elif area.left < x < area.right and best is None:
            best = (near, bar, "BAR")
    return None if best is None else best[1:]


def gait_diagram(
    motion: GaitMotion,
    width: int = 860,
    height: int = 320,
    labelled: bool = True,
    span: tuple[float, float] | None = None,
    names: float = 8.0,
) -> Diagram:
    """When which foot is on the ground (Hildebrand's gait diagram; Girard 1986, Fig. 4).

    A bar for each support of each leg; below them the support profile of each
    girdle; bands where no foot at all is on the ground; gaits and where they
    change along the top. Edited footprints are framed.

    Args:
        motion: a solved motion.
        width: pixels.
        height: pixels.
        labelled: with numbers and names; without them for small pictures.
        span: (start, end) of the time that is shown, s; None for all.
        names: room at the left where it is not labelled, pixels.
    """
    upper, lower = gait_axes(motion, width, height, labelled, span, names)
    start, end = upper.x_range
    on = np.array([mark.on for mark in motion.footprints])
    off = np.array([mark.off for mark in motion.footprints])
    areas, lines, labels = [], [], []
    if len(on):
        for liftoff, touchdown in zip(*support_profile(on, off).flights(), strict=True):
            if touchdown > start and liftoff < end:
                left, right = upper.place((max(liftoff, start), min(touchdown, end)), 0.0)[:, 0]
                areas.append(Area(left, right, lower.bottom, upper.top, AIR))
    edited = {(mark.leg, mark.index) for mark in motion.footprints if mark.edited}
    for bar in gait_bars(motion, upper):
        areas.append(bar.area)
        if (bar.leg, bar.index) in edited:
            lines.append(Line(_corners(bar.area), INK if labelled else PAPER, 2.0))
    for number, profile in enumerate(motion.supports):
        for begin, finish in zip(profile.start, profile.end, strict=True):
            if finish > start and begin < end:
                (left, bottom), (right, top) = lower.place(
                    (max(begin, start), min(finish, end)), (number + 0.3, number + 0.7)
                )
                areas.append(Area(left, right, bottom, top, FAINT))
    lines += [_frame(upper), _frame(lower)]
    for name, begin, _finish in motion.gaits:
        if start < begin < end:
            across = upper.place(begin, 0.0)[0, 0]
            points = np.array([(across, lower.bottom), (across, upper.top)])
            lines.append(Line(points, INK if labelled else PAPER, 1.2))
        at = upper.place(min(max(begin, start), end), 0.0)[0, 0]
        if labelled and begin < end and _finish > start:
            labels.append(Label(_spoken(name), at + 3.0, upper.top + 11.0, "start"))
    if labelled:
        for row, leg in enumerate(motion.creature.legs):
            y = upper.place(start, row + 0.5)[0, 1]
            labels.append(Label(spoken_leg(leg.name).capitalize(), upper.left - 8.0, y, "end"))
        for number in range(len(motion.supports)):
            legs = [leg.name for leg in motion.creature.legs if leg.girdle == number]
            name = "/".join(dict.fromkeys(_spoken(_pair(leg)) for leg in legs[:2]))
            y = lower.place(start, number + 0.5)[0, 1]
            text = "Support" if len(motion.supports) == 1 else f"Any {name}"
            labels.append(Label(text, lower.left - 8.0, y, "end"))
        ticks, numbers = _ticks(lower, "Time, s", "", 1)
        lines += [line for line in ticks if line.points[0, 0] == line.points[1, 0]]
        labels += [label for label in numbers if label.anchor != "end"]
    return Diagram(width, height, tuple(lines), tuple(labels), (upper, lower), tuple(areas))


# -- states --------------------------------------------------------------------

CONTROLLERS: tuple[Colour, ...] = (
    (0.85, 0.20, 0.12, 1.0), (0.10, 0.40, 0.80, 1.0), (0.10, 0.60, 0.25, 1.0),
    (0.65, 0.25, 0.75, 1.0), (0.90, 0.55, 0.05, 1.0), (0.10, 0.60, 0.65, 1.0),
)
"""Of controllers, in the order in which a script takes them first."""

CHEAP, DEAR, NO_WAY = (1.0, 0.96, 0.80), (0.42, 0.52, 0.68), (0.80, 0.80, 0.80)
BELOW, NEITHER, ABOVE = (0.13, 0.36, 0.70), (0.98, 0.98, 0.97), (0.78, 0.18, 0.12)
"""Of signed numbers: the least, 0, and the largest."""

COUNTS = (60, 44)  # cells of a plot that is shaded
LEGEND = 58  # pixels at the right of a plot

Values = Callable[[np.ndarray], np.ndarray]
"""(m, 2) states -> (m,) numbers."""


@dataclass(frozen=True)
class StateWay:
    """A way through state space.

    Attributes:
        states: (n, 2).
        colour: RGBA.
        width: pixels.
    """

    states: np.ndarray
    colour: Colour = INK
    width: float = 1.4


@dataclass(frozen=True)
class StateBox:
    """A region of state space.

    Attributes:
        region: by the coordinates of the whole state, those that are drawn first.
        colour: RGBA.
        name: what goes by it.
    """

    region: Region
    colour: Colour = INK
    name: str = ""


def state_diagram(
    spans: Sequence[Span],
    ways: Sequence[StateWay],
    targets: Sequence[tuple[np.ndarray, str]] = (),
    table: Table | None = None,
    width: int = 560,
    height: int = 440,
    labelled: bool = True,
    boxes: Sequence[StateBox] = (),
) -> Diagram:
    """Ways through state space, where they lead, and what they cost (1990, Figs. 14 and 16).

    Left and right of an angle that wraps are the same: ways go out on one side and come in
    on the other.

    Args:
        spans: the two coordinates.
        ways: what is drawn; where each begins there is a small square.
        targets: (2,) destinations, drawn as crosses in circles, and their names; a
            coordinate that is free is not a number, and is drawn as a line.
        table: a controller over these two coordinates, whose cost is the colour; None for none.
        width: pixels.
        height: pixels.
        labelled: with numbers and names; without them for small pictures.
        boxes: regions; one that crosses the end of an angle that wraps is drawn in two parts.
    """
    scales = [degrees(1.0) if x.unit.startswith("rad") else 1.0 for x in spans]
    ranges = [(x.low * k, x.high * k) for x, k in zip(spans, scales, strict=True)]
    margin = 44.0 if labelled else 8.0
    axes = Axes(margin, width - 0.35 * margin, margin, height - 0.35 * margin, *ranges)
    ink = INK if labelled else (1.0, 1.0, 1.0, 0.9)
    areas = () if table is None else _cost_areas(spans, table, axes)
    lines, labels = [_frame(axes)], []
    lines += [Line(axes.place(axes.x_range, 0.0), FAINT, 1.0)]
    lines += [Line(axes.place(0.0, axes.y_range), FAINT, 1.0)]
    if labelled:
        across, up = (f"{_coordinate(x.name)}, {_UNITS.get(x.unit, x.unit)}" for x in spans)
        grid, labels = _ticks(axes, across, up)
        lines += grid
    areas = [*areas]
    for box in boxes:
        for low, high in _boxed(box.region, spans):
            (left, bottom), (right, top) = axes.place(*(np.array((low, high)) * scales).T)
            areas.append(Area(left, right, bottom, top, (*box.colour[:3], 0.2)))
            edge = np.array([(left, bottom), (right, bottom), (right, top), (left, top)])
            lines.append(Line(np.concatenate([edge, edge[:1]]), box.colour, 1.2))
            if labelled and box.name:
                labels.append(Label(box.name, left + 4.0, top - 12.0, "start", 11.0))
    for way in ways:
        for run in _within(way.states, spans):
            lines.append(Line(axes.place(*(run * scales).T), way.colour, way.width))
    for way in ways:
        begin = axes.place(*(wrapped(way.states[:1], spans) * scales).T)[0]
        square = begin + 3.5 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)])
        lines.append(Line(square, way.colour, 1.2))
    for target, name in targets:
        free = np.isnan(target)
        at = np.where(free, [x.low for x in spans], wrapped(np.atleast_2d(target), spans)[0])
        if free.any():
            ends = np.tile(at, (2, 1))
            ends[1, free] = np.array([x.high for x in spans])[free]
            lines.append(Line(axes.place(*(ends * scales).T), ink, 2.0))
            place = axes.place(*(ends.mean(axis=0) * scales))[0]
        else:
            place = axes.place(*(at * scales))[0]
            lines.append(Line(dot(place, 6.5), ink, 1.4))
            for sign in (1.0, -1.0):
                arm = 4.6 * np.array((1.0, sign))
                lines.append(Line(np.array((place - arm, place + arm)), ink, 1.4))
        if labelled and name:
            labels.append(Label(name, place[0] + 10.0, place[1] + 10.0, "start", 12.0))
    return Diagram(width, height, tuple(lines), tuple(labels), (axes,), tuple(areas))


def _boxed(region: Region, spans: Sequence[Span]) -> list[tuple[list[float], list[float]]]:
    """Least and largest corners of what of a region lies within the ranges of two coordinates."""
    sides = []
    for (low, high, period), x in zip(region.ranges, spans, strict=False):
        if not period or high - low >= period:
            parts = [(max(low, x.low), min(high, x.high))]
        else:
            begin = x.low + (low - x.low) % period
            end = begin + (high - low) % period
            parts = [(begin, min(end, x.high)), (x.low, end - period)]
        sides.append([(a, b) for a, b in parts if a < b])
    across, up = sides
    return [([a, c], [b, d]) for a, b in across for c, d in up]


_UNITS = {"rad": "degrees", "rad/s": "degrees/s"}


def _coordinate(name: str) -> str:
    """What a coordinate is called: the paper's omega is a speed."""
    return name.replace("omega", "speed").capitalize()


def wrapped(states: np.ndarray, spans: Sequence[Span]) -> np.ndarray:
    """States with angles that wrap within their range.

    Args:
        states: (n, 2).
        spans: the two coordinates.
    """
    found = np.array(states, dtype=float)
    for k, x in enumerate(spans):
        if x.wraps:
            found[:, k] = x.low + (found[:, k] - x.low) % (x.high - x.low)
    return found


def _within(states: np.ndarray, spans: Sequence[Span]) -> list[np.ndarray]:
    """A way in pieces, each within the ranges: cut where an angle begins anew."""
    pieces = [np.asarray(states, dtype=float)]
    for k, x in enumerate(spans):
        if not x.wraps:
            continue
        cut = []
        for piece in pieces:
            turn = np.floor((piece[:, k] - x.low) / (x.high - x.low))
            at = np.flatnonzero(np.diff(turn)) + 1
            parts = np.split(piece, at)
            for number, part in enumerate(parts):
                rows = [part]
                # To the side itself, on both of its ends.
                if number:
                    rows.insert(0, _at_side(piece, at[number - 1], k, x))
                if number < len(at):
                    rows.append(_at_side(piece, at[number], k, x))
                whole = np.concatenate(rows)
                middle = turn[at[number - 1] if number else 0]
                whole[:, k] -= middle * (x.high - x.low)
                cut.append(whole)
        pieces = cut
    return [np.clip(p, [x.low for x in spans], [x.high for x in spans]) for p in pieces]


def _at_side(states: np.ndarray, row: int, k: int, x: Span) -> np.ndarray:
    """(1, 2) where a way goes over the side of a range, between a row and the one before."""
    a, b = states[row - 1], states[row]
    period = x.high - x.low
    side = x.low + period * np.floor((max(a[k], b[k]) - x.low) / period)
    return (a + (b - a) * (side - a[k]) / (b[k] - a[k]))[None]


def _cost_areas(spans: Sequence[Span], table: Table, axes: Axes) -> list[Area]:
    """What the way costs from everywhere, as shades."""
    return _shaded(spans, axes, *_costs(spans, table.value, table.unknown))


def _costs(spans: Sequence[Span], value: Values, unknown: float):
    """(60, 44, 3) colours of what the way costs, and the cost that is the darkest, s."""
    cost = value(_middles(spans)).reshape(COUNTS)
    known = cost < 0.5 * unknown
    usual = cost[known]  # without those beside nodes that know no way, which count in part
    usual = usual[usual <= 10.0 * np.median(usual)] if len(usual) else usual
    most = max(float(np.quantile(usual, 0.98)), 1e-9) if len(usual) else 1.0
    share = np.clip(cost / most, 0.0, 1.0)[..., None]
    return np.where(known[..., None], _between(CHEAP, DEAR, share), NO_WAY), most


def _between(one, other, share: np.ndarray) -> np.ndarray:
    return np.array(one) * (1.0 - share) + np.array(other) * share


def signed(share: np.ndarray) -> np.ndarray:
    """(..., 3) colours of numbers from -1 to 1: blue, white, red.

    Args:
        share: (...,).
    """
    share = np.asarray(share, float)[..., None]
    ends = np.where(share < 0.0, np.array(BELOW), np.array(ABOVE))
    return _between(NEITHER, ends, np.minimum(np.abs(share), 1.0))


def _middles(spans: Sequence[Span]) -> np.ndarray:
    """(m, 2) states in the middle of the cells that are shaded."""
    middles = [
        np.linspace(x.low, x.high, 2 * n + 1)[1::2] for x, n in zip(spans, COUNTS, strict=True)
    ]
    return np.stack([x.ravel() for x in np.meshgrid(*middles, indexing="ij")], axis=1)


def _shaded(spans: Sequence[Span], axes: Axes, shades: np.ndarray, _most: float) -> list[Area]:
    """Cells of colours that fill a plot."""
    edges = [  # whole pixels, so that no seams are seen between them
        np.round(np.linspace(low, high, n + 1))
        for n, (low, high) in zip(
            COUNTS, ((axes.left, axes.right), (axes.bottom, axes.top)), strict=True
        )
    ]
    return [
        Area(edges[0][i], edges[0][i + 1], edges[1][j], edges[1][j + 1], (*shades[i, j], 1.0))
        for i in range(COUNTS[0])
        for j in range(COUNTS[1])
    ]


@dataclass(frozen=True)
class StateMap:
    """What a controller's table says over two coordinates of the state, beside each other.

    Attributes:
        name: of the controller.
        spans: the two coordinates.
        cost: (m, 2) states -> (m,) s.
        unknown: s, the cost of where no way is known.
        torques: name, (m, 2) states -> (m,) N m, not a number where no way is known, and the
            largest, of each muscle.
        ways: that were gone under it.
        targets: as `state_diagram` takes them.
    """

    name: str
    spans: Sequence[Span]
    cost: Values
    unknown: float
    torques: Sequence[tuple[str, Values, float]]
    ways: Sequence[StateWay] = ()
    targets: Sequence[tuple[np.ndarray, str]] = ()


def torque_diagram(maps: Sequence[StateMap], width: int = 470, height: int = 330) -> Diagram:
    """For each controller a row: what the way costs, and the torque of each muscle.

    Args:
        maps: the controllers.
        width: pixels of each plot.
        height: pixels of each plot.
    """
    rows = []
    for one in maps:
        plot = state_diagram(one.spans, one.ways, one.targets, None, width - LEGEND, height)
        axes = plot.axes[0]
        shades, most = _costs(one.spans, one.cost, one.unknown)
        row = [_legend(
            plot, _shaded(one.spans, axes, shades, most), f"{one.name}: cost, s",
            lambda share: _between(CHEAP, DEAR, np.atleast_1d(share)[:, None]), 0.0, most,
        )]
        for name, value, largest in one.torques:
            torque = value(_middles(one.spans)).reshape(COUNTS)
            known = np.isfinite(torque)
            shades = np.where(
                known[..., None], signed(np.where(known, torque, 0.0) / largest), NO_WAY
            )
            row.append(_legend(
                plot, _shaded(one.spans, axes, shades, largest), f"{one.name}: {name}, N m",
                lambda share: signed(2.0 * np.atleast_1d(share) - 1.0), -largest, largest,
            ))
        rows.append(row)
    parts = [
        _moved(plot, i * width, (len(rows) - 1 - j) * height)
        for j, row in enumerate(rows) for i, plot in enumerate(row)
    ]
    return Diagram(
        width * max(len(row) for row in rows), height * len(rows),
        *(
            tuple(item for part in parts for item in getattr(part, kind))
            for kind in ("lines", "labels", "axes", "areas")
        ),
    )


def _legend(plot: Diagram, shades: list[Area], title: str, colour, low: float, high: float):
    """A plot with shades, its title, and a bar at its right side that says what they mean."""
    axes, count = plot.axes[0], 40
    left = axes.right + 8.0
    edges = np.round(np.linspace(axes.bottom, axes.top, count + 1))
    colours = colour((np.arange(count) + 0.5) / count)
    bar = [
        Area(left, left + 10.0, edges[i], edges[i + 1], (*colours[i], 1.0)) for i in range(count)
    ]
    labels = [
        Label(f"{value:.3g}", left + 14.0, axes.place(axes.x_range[0], axes.y_range[0])[0, 1]
              + share * (axes.top - axes.bottom), "start", 10.0)
        for share, value in ((0.0, low), (0.5, 0.5 * (low + high)), (1.0, high))
    ]
    labels.append(Label(title, axes.right, axes.top + 8.0, "end", 11.0))
    return replace(
        plot, width=plot.width + LEGEND, areas=(*shades, *bar), labels=(*plot.labels, *labels)
    )


def _moved(plot: Diagram, right: float, up: float) -> Diagram:
    """A diagram elsewhere on a larger one."""
    by = np.array((right, up))

    def box(one):
        return replace(
            one, left=one.left + right, right=one.right + right, bottom=one.bottom + up,
            top=one.top + up,
        )

    return replace(
        plot, lines=tuple(replace(line, points=line.points + by) for line in plot.lines),
        labels=tuple(replace(one, x=one.x + right, y=one.y + up) for one in plot.labels),
        axes=tuple(map(box, plot.axes)), areas=tuple(map(box, plot.areas)),
    )


def _spoken(name: str) -> str:
    """A girdle's or a preset's name as a label; an animator's own as it is."""
    if not name.isupper():
        return name if name != name.lower() else name.capitalize()
    return name.replace(".", " ").replace("_", " ").title()


def _corners(area: Area) -> np.ndarray:
    x, y = (area.left, area.right), (area.bottom, area.top)
    return np.array([(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1]), (x[0], y[0])])


def dot(centre: np.ndarray, radius: float) -> np.ndarray:
    """(n, 2) points of a small circle.

    Args:
        centre: (2,) pixels.
        radius: pixels.
    """
    angle = np.linspace(0.0, 2.0 * np.pi, 17)
    return np.asarray(centre) + radius * np.stack((np.cos(angle), np.sin(angle)), axis=-1)


def _frame(axes: Axes) -> Line:
    x, y = (axes.left, axes.right), (axes.bottom, axes.top)
    corners = [(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1]), (x[0], y[0])]
    return Line(np.array(corners), FAINT, 1.0)


def _ticks(axes: Axes, x_name: str, y_name: str, count: int = 5):
    """Marks and numbers at round values along both axes."""
    lines, labels = [], []
    for value in _round_values(*axes.x_range, 6):
        x, y = axes.place(value, axes.y_range[0])[0]
        lines.append(Line(np.array([(x, y), (x, y - 4.0)]), INK, 1.0))
        labels.append(Label(f"{value:g}", x, y - 12.0))
    for value in _round_values(*axes.y_range, count):
        x, y = axes.place(axes.x_range[0], value)[0]
        lines.append(Line(np.array([(x, y), (x - 4.0, y)]), INK, 1.0))
        labels.append(Label(f"{value:g}", x - 8.0, y, "end"))
    if x_name:
        labels.append(Label(x_name, 0.5 * (axes.left + axes.right), axes.bottom - 29.0))
    if y_name:
        labels.append(Label(y_name, axes.left + 6.0, axes.top - 9.0, "start"))
    return lines, labels


def _round_values(low: float, high: float, count: int) -> list[float]:
    """About `count` round numbers in a range."""
    raw = (high - low) / count
    power = 10.0 ** floor(log10(raw))
    step = next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= raw)
    return [round(i * step, 10) + 0.0 for i in range(ceil(low / step), floor(high / step) + 1)]


def _runs(points: np.ndarray, mask: np.ndarray) -> list[np.ndarray]:
    """Stretches of a line in which a mask holds, of two points or more."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(int), [0]))))
    return [points[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 1]


# -- SVG -----------------------------------------------------------------------


def to_svg(diagram: Diagram) -> str:
    """The diagram as an SVG document.

    Args:
        diagram: the diagram.
    """
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{diagram.width}" '
        f'height="{diagram.height}" viewBox="0 0 {diagram.width} {diagram.height}" '
        'font-family="sans-serif">',
        f'<rect width="100%" height="100%" {_paint("fill", PAPER)}/>',
    ]
    for area in diagram.areas:
        parts.append(
            f'<rect x="{area.left:.2f}" y="{diagram.height - area.top:.2f}" '
            f'width="{area.right - area.left:.2f}" height="{area.top - area.bottom:.2f}" '
            f'{_paint("fill", area.colour)}/>'
        )
    for line in diagram.lines:
        points = " ".join(f"{x:.2f},{diagram.height - y:.2f}" for x, y in line.points)
        parts.append(
            f'<polyline points="{points}" fill="none" {_paint("stroke", line.colour)} '
            f'stroke-width="{line.width:g}" stroke-linejoin="round"/>'
        )
    for label in diagram.labels:
        parts.append(
            f'<text x="{label.x:.1f}" y="{diagram.height - label.y + 0.36 * label.size:.1f}" '
            f'font-size="{label.size:g}" text-anchor="{label.anchor}" '
            f'{_paint("fill", label.colour)}>{escape(label.text)}</text>'
        )
    return "\n".join((*parts, "</svg>", ""))


def _paint(what: str, colour: Colour) -> str:
    red, green, blue = (round(255 * part) for part in colour[:3])
    return f'{what}="rgb({red},{green},{blue})" {what}-opacity="{colour[3]:g}"'


# -- PNG -----------------------------------------------------------------------


def rasterise(diagram: Diagram, scale: float = 2.0) -> np.ndarray:
    """The diagram as pixels, smooth at the edges.

    Args:
        diagram: the diagram.
        scale: pixels of the picture per pixel of the diagram.

    Returns:
        (height, width, 4) RGBA from 0 to 1, top row first.
    """
    shape = (round(diagram.height * scale), round(diagram.width * scale))
    picture = np.empty((*shape, 4))
    picture[:] = PAPER
    for area in diagram.areas:
        _fill(picture, area, scale)
    strokes = list(diagram.lines)
    for label in diagram.labels:
        strokes += [Line(points, label.colour, 0.11 * label.size) for points in _letters(label)]
    for stroke in strokes:
        points = np.asarray(stroke.points, dtype=float) * scale
        points[:, 1] = shape[0] - points[:, 1]
        _blend(picture, points, stroke.colour, max(stroke.width * scale, 1.0))
    return picture


def _fill(picture: np.ndarray, area: Area, scale: float) -> None:
    """Fill a rectangle: what it covers of each pixel is exact."""
    height, wide = picture.shape[:2]

    def cover(low: float, high: float, count: int) -> np.ndarray:
        edges = np.arange(count + 1, dtype=float)
        return np.diff(np.clip(edges, low, high))

    across = cover(area.left * scale, area.right * scale, wide)
    down = cover(height - area.top * scale, height - area.bottom * scale, height)
    rows, columns = (slice(*_extent(part)) for part in (down, across))
    alpha = (down[rows, None] * across[columns] * area.colour[3])[..., None]
    part = picture[rows, columns]
    part[:] = part * (1.0 - alpha) + np.array((*area.colour[:3], 1.0)) * alpha


def _extent(cover: np.ndarray) -> tuple[int, int]:
    """First and last of what is covered."""
    found = np.flatnonzero(cover)
    return (int(found[0]), int(found[-1]) + 1) if len(found) else (0, 0)


def _blend(picture: np.ndarray, points: np.ndarray, colour: Colour, width: float) -> None:
    """Draw one line: what it covers of each pixel is its distance to the line's rim."""
    height, wide = picture.shape[:2]
    reach = 0.5 * width + 1.0
    low = np.maximum(np.floor(points.min(axis=0) - reach).astype(int), 0)
    high = np.minimum(np.ceil(points.max(axis=0) + reach).astype(int) + 1, (wide, height))
    if (high <= low).any():
        return
    cover = np.zeros((high[1] - low[1], high[0] - low[0]))
    for a, b in zip(points[:-1], points[1:], strict=True):
        first = np.maximum(np.floor(np.minimum(a, b) - reach).astype(int), low)
        last = np.minimum(np.ceil(np.maximum(a, b) + reach).astype(int) + 1, high)
        if (last <= first).any():
            continue
        x, y = np.meshgrid(
            np.arange(first[0], last[0]) + 0.5, np.arange(first[1], last[1]) + 0.5
        )
        along = b - a
        part = ((x - a[0]) * along[0] + (y - a[1]) * along[1]) / max(float(along @ along), 1e-12)
        part = np.clip(part, 0.0, 1.0)
        distance = np.hypot(x - a[0] - part * along[0], y - a[1] - part * along[1])
        window = cover[first[1] - low[1] : last[1] - low[1], first[0] - low[0] : last[0] - low[0]]
        np.maximum(window, np.clip(0.5 * width + 0.5 - distance, 0.0, 1.0), out=window)
    area = picture[low[1] : high[1], low[0] : high[0]]
    alpha = (cover * colour[3])[..., None]
    area[:] = area * (1.0 - alpha) + np.array((*colour[:3], 1.0)) * alpha


# Letters as strokes on a grid of 0..4 across and 0..6 up, two digits a point.
_STROKES = {
    "0": "103041453616050110", "1": "151626 2620 1030", "2": "05163645440040",
    "3": "051636454433 1333 334241301001", "4": "30360242", "5": "460603334241301001",
    "6": "4536160501103041423303", "7": "064610", "8": "13040516364544331302011030414233",
    "9": "0110304145361605041343", ".": "1011", ",": "1100", "-": "0343", "+": "0343 2125",
    "/": "0046", "%": "0046 1516 3031", "°": "1615252616", ":": "1112 1415",
    "(": "36242230", ")": "16242210", "=": "0242 0444",
}
_LETTERS = {
    "A": "002640 1333", "B": "00063645443303 3342413000", "C": "4536160501103041",
    "D": "00062645412000", "E": "46060040 0333", "F": "460600 0333", "G": "4536160501103041 414323",
    "H": "0006 4046 0343", "I": "1636 2026 1030", "J": "4641301001", "K": "0006 4602 1340",
    "L": "060040", "M": "0006234640", "N": "00064046", "O": "103041453616050110",
    "P": "00063645443303", "Q": "103041453616050110 2240", "R": "00063645443303 2340",
    "S": "453616050413334241301001", "T": "0646 2620", "U": "060110304146", "V": "062046",
    "W": "0610243046", "X": "0046 0640", "Y": "062346 2320", "Z": "06460040",
}


def _letters(label: Label) -> list[np.ndarray]:
    """Strokes of a text, in pixels; small letters are drawn as small capitals."""
    advance = LETTER * label.size
    shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor]
    x = label.x - shift * advance * len(label.text)
    strokes = []
    for letter in label.text:
        grid = _STROKES.get(letter) or _LETTERS.get(letter.upper(), "")
        tall = label.size * (0.75 if letter.islower() else 0.95)
        unit = tall / 6.0
        wide = 0.72 * advance / 4.0
        base = label.y - 0.475 * label.size
        for stroke in grid.split():
            points = [
                (x + int(stroke[i]) * wide, base + int(stroke[i + 1]) * unit)
                for i in range(0, len(stroke), 2)
            ]
            strokes.append(np.array(points))
        x += advance
    return strokes


def png(pixels: np.ndarray) -> bytes:
    """A PNG file of 8-bit RGBA.

    Args:
        pixels: (height, width, 4) from 0 to 1, top row first.
    """
    rows = np.clip(np.rint(255.0 * pixels), 0, 255).astype(np.uint8)
    height, width = rows.shape[:2]
    lines = np.concatenate((np.zeros((height, 1), np.uint8), rows.reshape(height, -1)), axis=1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(lines.tobytes(), 6))
        + chunk(b"IEND", b"")
    )


def save(diagram: Diagram, path: Path) -> None:
    """Write a diagram as SVG or PNG, by the file's suffix.

    Args:
        diagram: the diagram.
        path: a file that ends in .svg or .png.

    Raises:
        ValueError: another suffix.
        OSError: the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix == ".svg":
        path.write_text(to_svg(diagram), encoding="utf-8")
    elif suffix == ".png":
        path.write_bytes(png(rasterise(diagram)))
    else:
        raise ValueError(f"{path.name} ends in {suffix!r}: it must be .svg or .png")
