# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers and scripts as text, in the form of the paper.

van de Panne, Fiume and Vranesic, "Reusable Motion Synthesis Using State-Space Controllers"
(1990), Figures 12 and 15. One command to a line, # begins a comment. A controller:

    dyn link1                        whose dynamics
    ssid omega -500.0 500.0 21       a coordinate of the state: least, largest, nodes
    ssid angle -180 170 36
    wrap angle                       after one more step it begins anew
    torq torque -10.0 10.0 11 0.1    a control: least, largest, how many are tried, K
    dest angle=0 omega=0             where it leads; what is not named is free

Several destinations are alternatives, of which the easiest is taken. A script:

    state link -135,350              a figure's state at the start: angle, then its speed
    swapcon link conB.ctab           from here on this controller
    sim 0.4                          for so many seconds

Angles are in degrees. Texts are read as data, and nothing in them is ever run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import SettingError


@dataclass(frozen=True)
class Range:
    """A coordinate or control.

    Attributes:
        name: of it.
        low: least value.
        high: largest value.
        count: how many values from one to the other.
        wraps: whether one step after the largest comes the least again.
        effort: K, s per s and unit, of a control.
    """

    name: str
    low: float
    high: float
    count: int
    wraps: bool = False
    effort: float = 0.0


@dataclass(frozen=True)
class ControllerText:
    """A controller's description.

    Attributes:
        dynamics: whose it is.
        coordinates: of the state, in their order.
        controls: what it can do.
        destinations: each a mapping from a coordinate's name to its value.
    """

    dynamics: str
    coordinates: tuple[Range, ...]
    controls: tuple[Range, ...]
    destinations: tuple[dict[str, float], ...]


@dataclass(frozen=True)
class Line:
    """A stretch of a script.

    Attributes:
        figure: whose controller changes.
        controller: name of the controller's file.
        seconds: until the next change.
    """

    figure: str
    controller: str
    seconds: float


@dataclass(frozen=True)
class ScriptText:
    """A script.

    Attributes:
        states: figure -> its state at the start, each angle followed by its speed.
        lines: what happens, in order.
    """

    states: dict[str, tuple[float, ...]]
    lines: tuple[Line, ...]


def _commands(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if words:
            yield number, words


def _wrong(number: int, words: list[str], form: str) -> SettingError:
    return SettingError(f"Line {number}", " ".join(words), form)


def _numbers(number: int, words: list[str], which: list[str], form: str) -> list[float]:
    try:
        found = [float(word) for word in which]
    except ValueError:
        raise _wrong(number, words, form) from None
    if not all(math.isfinite(x) for x in found):
        raise _wrong(number, words, form)
    return found


def read_controller(text: str) -> ControllerText:
    """Read a controller's description.

    Args:
        text: its lines.

    Raises:
        SettingError: a line is not of the form, named by its number; or something that
            every controller needs is missing.
    """
    dynamics, wraps = "", set()
    coordinates: list[Range] = []
    controls: list[Range] = []
    destinations: list[dict[str, float]] = []
    for number, words in _commands(text):
        word, rest = words[0], words[1:]
        if word == "dyn" and len(rest) == 1:
            dynamics = rest[0]
        elif word == "ssid":
            coordinates.append(_range(number, words, "ssid NAME LEAST LARGEST NODES", 4))
        elif word == "torq":
            controls.append(_range(number, words, "torq NAME LEAST LARGEST STEPS K", 5))
        elif word == "wrap" and len(rest) == 1:
            wraps.add(rest[0])
        elif word == "dest":
            destinations.append(_destination(number, words))
        else:
            raise _wrong(number, words, "dyn, ssid, wrap, torq or dest, and what belongs to it")
    names = [x.name for x in coordinates]
    for missing, there in (
        ("ssid, a coordinate", coordinates),
        ("torq, a control", controls),
        ("dest, a destination", destinations),
    ):
        if not there:
            raise SettingError("Controller", "incomplete", f"given {missing}")
    for name in (*wraps, *(name for place in destinations for name in place)):
        if name not in names:
            raise SettingError("Coordinate", name, f"one of {', '.join(names)}")
    return ControllerText(
        dynamics,
        tuple(Range(x.name, x.low, x.high, x.count, x.name in wraps) for x in coordinates),
        tuple(controls),
        tuple(destinations),
    )


def _range(number: int, words: list[str], form: str, count: int) -> Range:
    if len(words) != count + 1:
        raise _wrong(number, words, form)
    values = _numbers(number, words, words[2:], form)
    low, high, steps = values[:3]
    if not (low < high and steps >= 2 and steps == int(steps)) or min(values[3:], default=0) < 0:
        raise _wrong(number, words, f"{form}, LEAST below LARGEST, two steps or more, K at least 0")
    return Range(words[1], low, high, int(steps), False, *values[3:])


def _destination(number: int, words: list[str]) -> dict[str, float]:
    form = "dest NAME=VALUE ..."
    parts = [word.partition("=") for word in words[1:]]
    if not parts or not all(name and sign for name, sign, _ in parts):
        raise _wrong(number, words, form)
    values = _numbers(number, words, [value for _, _, value in parts], form)
    return {name: value for (name, _, _), value in zip(parts, values, strict=True)}


def write_controller(made: ControllerText) -> str:
    """The text of a controller's description.

    Args:
        made: the description.
    """
    lines = [f"dyn {made.dynamics}"] if made.dynamics else []
    for x in made.coordinates:
        lines.append(f"ssid {x.name} {x.low!r} {x.high!r} {x.count}")
    lines += [f"wrap {x.name}" for x in made.coordinates if x.wraps]
    for x in made.controls:
        lines.append(f"torq {x.name} {x.low!r} {x.high!r} {x.count} {x.effort!r}")
    for place in made.destinations:
        lines.append("dest " + " ".join(f"{name}={value!r}" for name, value in place.items()))
    return "\n".join(lines) + "\n"


def read_script(text: str) -> ScriptText:
    """Read a script.

    Args:
        text: its lines.

    Raises:
        SettingError: a line is not of the form, named by its number.
    """
    states: dict[str, tuple[float, ...]] = {}
    lines: list[Line] = []
    current: tuple[str, str] | None = None
    for number, words in _commands(text):
        word, rest = words[0], words[1:]
        if word == "state" and len(rest) >= 2:
            form = "state FIGURE ANGLE,SPEED ..."
            parts = [part for part in "".join(rest[1:]).split(",") if part]
            states[rest[0]] = tuple(_numbers(number, words, parts, form))
        elif word == "swapcon" and len(rest) == 2:
            current = rest[0], rest[1]
        elif word == "sim" and len(rest) == 1:
            (seconds,) = _numbers(number, words, rest, "sim SECONDS")
            if current is None:
                raise _wrong(number, words, "after a line with swapcon: nobody is in control")
            if not seconds > 0.0:
                raise _wrong(number, words, "sim SECONDS, above 0")
            lines.append(Line(*current, seconds))
        else:
            raise _wrong(number, words, "state, swapcon or sim, and what belongs to it")
    return ScriptText(states, tuple(lines))


def write_script(made: ScriptText) -> str:
    """The text of a script.

    Args:
        made: the script.
    """
    lines = [
        f"state {figure} " + ",".join(repr(x) for x in state)
        for figure, state in made.states.items()
    ]
    before: tuple[str, str] | None = None
    for line in made.lines:
        if (line.figure, line.controller) != before:
            lines.append(f"swapcon {line.figure} {line.controller}")
            before = line.figure, line.controller
        lines.append(f"sim {line.seconds!r}")
    return "\n".join(lines) + "\n"
