# SPDX-License-Identifier: GPL-3.0-or-later
"""One row per setting: all that panels, sliders, conversions, checks and the manual know of it.

Rows of a body's style stand with its amounts: a field of the style's dataclass is made by
`angle`, `length`, `amount` or `setting`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from math import radians
from typing import Any

Ends = tuple[float | None, float | None]
Value = float | bool | str | None

# Unit -> power of the length in it; one without a length is not listed.
LENGTHS = {
    "VELOCITY": 1, "ACCELERATION": 1, "LENGTH": 1, "AREA": 2, "1/length": -1, "1/(length s)": -1,
}
TURN = radians(180.0)
OPEN: Ends = (None, None)
FINE: Mapping[str, Any] = {"step": 1, "precision": 3}


@dataclass(frozen=True)
class Row:
    """A setting.

    Attributes:
        name: of the property, "" for the field's.
        default: a number, a switch, or the first of the choices; None is a
            number that is found automatically, which is 0 in the panel.
        text: what it is, as the tooltip says it.
        slider: where a slider ends; None where the number itself ends.
        unit: Blender's in capitals ("LENGTH", "ANGLE", "FACTOR"), or as the manual
            writes it ("kg m²") where Blender has none; "" for a plain number.
        keyed: True if it may be keyed or driven.
        label: what panels and messages call it.
        of: what the solver calls it, "" for the same.
        ends: where the number ends; None where it does not, or for the solver's range.
        within: least and most that a body can be asked for.
        choices: (identifier, label, what it is, number in files) of each.
        start: kind of character -> value that it begins with, in SI units, where
            that is not the default.
        section: title of the part of the panel; "" for that of the row before.
        more: what else Blender is told of the property.
    """

    name: str
    default: Value
    text: str
    slider: Ends = OPEN
    unit: str = ""
    keyed: bool = False
    label: str = ""
    of: str = ""
    ends: Ends = OPEN
    within: tuple[float, float] | None = None
    choices: tuple[tuple[str, str, str, int], ...] = ()
    start: Mapping[str, float] = field(default_factory=dict)
    section: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def power(self) -> int:
        """Power of the length unit in it: 1 of a speed, -1 of a curvature."""
        return LENGTHS.get(self.unit, 0)

    @property
    def known_as(self) -> str:
        """What the solver calls it."""
        return self.of or self.name

    @property
    def sampled(self) -> bool:
        """True for a number that is solved with its keys, at every instant."""
        return self.keyed and not isinstance(self.default, (str, bool, int))


def setting(label: str, default: Value, text: str, **more: Any) -> Any:
    """Field of a style's dataclass with the row of its setting.

    Args:
        label: what panels and messages call it.
        default: to begin with.
        text: what it is.
        more: what else there is to a `Row`.
    """
    return field(
        default=default, metadata={"row": Row("", default, text, label=label, keyed=True, **more)}
    )


def angle(
    label: str, default: float, slider: tuple[float, float], within: tuple[float, float],
    text: str, **more: Any,
) -> Any:
    """Field of an angle: its values are radians, all numbers here are degrees.

    Args:
        label: what panels and messages call it.
        default: to begin with.
        slider: where the slider ends.
        within: least and most that a body can be asked for.
        text: what it is.
        more: what else there is to a `Row`.
    """
    low, high = slider
    least, most = within
    return setting(
        label, radians(default), text, slider=(radians(low), radians(high)), unit="ANGLE",
        ends=(-TURN, TURN), within=(radians(least), radians(most)), **more,
    )


def length(
    label: str, default: float, slider: tuple[float, float], within: tuple[float, float],
    text: str, **more: Any,
) -> Any:
    """Field of a length that grows with the figure, so that it has no unit of Blender.

    Args:
        label: what panels and messages call it.
        default: to begin with, metres for a figure 1.78 m tall.
        slider: where the slider ends.
        within: least and most that a body can be asked for.
        text: what it is.
        more: what else there is to a `Row`.
    """
    return setting(
        label, default, f"{text}, in metres for a figure 1.78 m tall", slider=slider, unit="m",
        ends=(-2.0, 2.0), within=within, more=FINE, **more,
    )


def amount(
    label: str, default: float | None, slider: float, within: tuple[float, float],
    text: str, *, most: float | None = None, **more: Any,
) -> Any:
    """Field of an amount from 0, where nothing of it is left.

    Args:
        label: what panels and messages call it.
        default: to begin with; None for one that is found while it is 0.
        slider: where the slider ends.
        within: least and most that a body can be asked for.
        text: what it is.
        most: where the number ends.
        more: what else there is to a `Row`.
    """
    return setting(
        label, default, text, slider=(None, slider), ends=(0.0, most), within=within, more=FINE,
        **more,
    )


@cache
def rows_of(style: type) -> tuple[Row, ...]:
    """Rows of a style, with its own defaults, sections and words.

    A field that a style gives another default keeps the row of the style that it is derived
    from. Braces in texts and sections stand for the style's `WORDS`.

    Args:
        style: its dataclass.
    """
    found: list[Row] = []
    words: Mapping[str, str] = getattr(style, "WORDS", {})
    for item in fields(style):
        row = next(
            made.metadata["row"]
            for cls in style.__mro__
            if (made := getattr(cls, "__dataclass_fields__", {}).get(item.name))
            and "row" in made.metadata
        )
        title = row.section.format(**words) or found[-1].section
        text = row.text.format(**words)
        found.append(replace(row, name=item.name, default=item.default, text=text, section=title))
    return tuple(found)


def sections_of(style: type) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(title, names of its settings) of each part of a style's panel, in the order of the
    style's `SECTIONS`.

    Args:
        style: its dataclass.
    """
    found: dict[str, tuple[str, ...]] = {title: () for title in getattr(style, "SECTIONS", ())}
    for row in rows_of(style):
        found[row.section] = (*found.get(row.section, ()), row.name)
    return tuple(found.items())
