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

Several destinations are alternatives, of which the easiest is taken. A motor program has one line
in place of all but the first:

    hold torque=2.5                  controls that stay; those not named are 0

A script:

    state link -135,350              a figure's state at the start: angle, then its speed
    swapcon link conB.ctab           from here on this controller
    sim 0.4                          for so many seconds

to which these forms add what the paper says in words (section 3.1):

    sim 4 until reached              at most so long, until the destination is reached
    sim 4 until angle=-10,10         or until the state is in a region: from, to; what is not
                                     named may be anything
    whenever link conA.ctab angle=170,-170
                                     in force whenever the state is in the region
    swapcon link conB.ctab conC.ctab one of them, drawn at random
    seed 3                           of what is drawn

Angles are in degrees. Texts are read as data, and nothing in them is ever run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

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
        held: of a motor program, which has nothing else: control -> its value.
    """

    dynamics: str
    coordinates: tuple[Range, ...]
    controls: tuple[Range, ...]
    destinations: tuple[dict[str, float], ...]
    held: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """A stretch of a script.

    Attributes:
        figure: whose controller changes.
        controller: name of the controller's file.
        seconds: until the next change; of no use where it is in force whenever in a region.
        others: further files, one of all of which is drawn.
        until: "TIME", "REACHED", "REGION" or "WHENEVER".
        region: coordinate -> least and largest value.
    """

    figure: str
    controller: str
    seconds: float = 1.0
    others: tuple[str, ...] = ()
    until: str = "TIME"
    region: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class ScriptText:
    """A script.

    Attributes:
        states: figure -> its state at the start, each angle followed by its speed.
        lines: what happens, in order.
        seed: of what is drawn.
    """

    states: dict[str, tuple[float, ...]]
    lines: tuple[Line, ...]
    seed: int = 0


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
    held: dict[str, float] = {}
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
            destinations.append(_values(number, words))
        elif word == "hold":
            held |= _values(number, words)
        else:
            raise _wrong(
                number, words, "dyn, ssid, wrap, torq or dest, or hold, and what belongs to it"
            )
    if held:
        if coordinates or controls or destinations:
            raise SettingError(
                "Controller", "a motor program, too", "one of both: hold, or ssid, torq and dest"
            )
        return ControllerText(dynamics, (), (), (), held)
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


def _values(number: int, words: list[str]) -> dict[str, float]:
    form = f"{words[0]} NAME=VALUE ..."
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
    if made.held:
        lines.append("hold " + " ".join(f"{name}={value!r}" for name, value in made.held.items()))
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
    current: Line | None = None
    seed = 0
    for number, words in _commands(text):
        word, rest = words[0], words[1:]
        if word == "state" and len(rest) >= 2:
            form = "state FIGURE ANGLE,SPEED ..."
            parts = [part for part in "".join(rest[1:]).split(",") if part]
            states[rest[0]] = tuple(_numbers(number, words, parts, form))
        elif word == "swapcon" and len(rest) >= 2:
            current = Line(rest[0], rest[1], others=tuple(rest[2:]))
        elif word == "sim" and rest:
            if current is None:
                raise _wrong(number, words, "after a line with swapcon: nobody is in control")
            lines.append(_stretch(number, words, current))
        elif word == "whenever" and len(rest) >= 3:
            names = [part for part in rest[1:] if "=" not in part]
            region = _region(number, words, [part for part in rest[1:] if "=" in part])
            if not names:
                raise _wrong(number, words, "whenever FIGURE CONTROLLER NAME=FROM,TO ...")
            lines.append(Line(rest[0], names[0], 1.0, tuple(names[1:]), "WHENEVER", region))
        elif word == "seed" and len(rest) == 1 and rest[0].isdigit():
            seed = int(rest[0])
        else:
            raise _wrong(
                number, words, "state, swapcon, sim, whenever or seed, and what belongs to it"
            )
    return ScriptText(states, tuple(lines), seed)


def _stretch(number: int, words: list[str], current: Line) -> Line:
    """A line of `sim`."""
    form = "sim SECONDS, sim SECONDS until reached, or sim SECONDS until NAME=FROM,TO ..."
    (seconds,) = _numbers(number, words, words[1:2], form)
    if not seconds > 0.0:
        raise _wrong(number, words, "sim SECONDS, above 0")
    if len(words) == 2:
        return replace(current, seconds=seconds)
    if words[2] != "until" or len(words) == 3:
        raise _wrong(number, words, form)
    if words[3:] == ["reached"]:
        return replace(current, seconds=seconds, until="REACHED")
    region = _region(number, words, words[3:])
    return replace(current, seconds=seconds, until="REGION", region=region)


def _region(number: int, words: list[str], which: list[str]) -> dict[str, tuple[float, float]]:
    form = "NAME=FROM,TO ..."
    found = {}
    for part in which:
        name, sign, ends = part.partition("=")
        values = _numbers(number, words, ends.split(","), form)
        if not (name and sign and len(values) == 2):
            raise _wrong(number, words, form)
        found[name] = (values[0], values[1])
    if not found:
        raise _wrong(number, words, form)
    return found


def write_script(made: ScriptText) -> str:
    """The text of a script.

    Args:
        made: the script.
    """
    lines = [
        f"state {figure} " + ",".join(repr(x) for x in state)
        for figure, state in made.states.items()
    ]
    lines += [f"seed {made.seed}"] if made.seed else []
    before: list[str] = []
    for line in made.lines:
        names = [line.figure, line.controller, *line.others]
        region = [f"{name}={low!r},{high!r}" for name, (low, high) in line.region.items()]
        if line.until == "WHENEVER":
            lines.append(" ".join(["whenever", *names, *region]))
            continue
        if names != before:
            lines.append(" ".join(["swapcon", *names]))
            before = names
        until = {"REACHED": ["until", "reached"], "REGION": ["until", *region]}
        lines.append(" ".join(["sim", repr(line.seconds), *until.get(line.until, ())]))
    return "\n".join(lines) + "\n"
