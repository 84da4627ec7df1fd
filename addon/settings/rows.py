# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender makes of the rows of settings: properties, SI units, start values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import inf

import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ...solvers.motion import Problem
from ..mapping.rows import OPEN, Ends, Row

OVERRIDE = {"LIBRARY_OVERRIDABLE"}
FROM_0: Ends = (0.0, None)


def known(ranges: Mapping[str, tuple], *rows: Row) -> tuple[Row, ...]:
    """Rows with the labels and the ends that a solver checks.

    Where lengths are in a number, a scene's unit scale moves the solver's ends: it ends
    at 0, and the solver says the rest.

    Args:
        ranges: the solver's name of a setting -> (label, least, most, requirement).
        rows: some of which are in it.
    """
    found = []
    for row in rows:
        if row.known_as in ranges:
            label, low, high, _requirement = ranges[row.known_as]
            ends = FROM_0 if row.power else ends_of(low, high)
            row = replace(row, label=label, ends=ends if row.ends == OPEN else row.ends)
        found.append(row)
    return tuple(found)


def ends_of(low: float, high: float) -> Ends:
    """Where a number ends that a solver takes from one to the other.

    Blender keeps numbers in single precision, in which an end may lie just
    beyond the solver's: the next number within is taken then.

    Args:
        low: least.
        high: most.
    """
    if isinstance(low, int):
        return low, high
    least, most = np.float32(low), np.float32(high)
    if float(least) < low:
        least = np.nextafter(least, np.float32(inf))
    if float(most) > high:
        most = np.nextafter(most, np.float32(-inf))
    return float(least), float(most)


def property_of(row: Row):
    """A row as what Blender registers.

    Args:
        row: the row.
    """
    more = {"name": row.label, "description": row.text, "override": OVERRIDE, **row.more}
    if row.choices:
        return EnumProperty(items=row.choices, default=row.default, **more)
    if isinstance(row.default, bool):
        return BoolProperty(default=row.default, **more)
    ends = {"min": row.ends[0], "max": row.ends[1],
            "soft_min": row.slider[0], "soft_max": row.slider[1]}
    more |= {name: end for name, end in ends.items() if end is not None}
    if isinstance(row.default, int):
        return IntProperty(default=row.default, **more)
    if row.unit.isupper():
        more["subtype" if row.unit in ("ANGLE", "FACTOR") else "unit"] = row.unit
    return FloatProperty(default=row.default or 0.0, **more)


def with_paths(
    problems: Iterable[Problem], group: str, rows: Iterable[Row]
) -> tuple[Problem, ...]:
    """Problems whose fixes name settings of a Motion object.

    Args:
        problems: their fixes name settings as the solver does.
        group: name of the group that has these settings.
        rows: its rows.
    """
    names = {row.known_as: row.name for row in rows}
    return tuple(
        replace(p, fix=tuple((f"{group}.{names.get(of, of)}", value) for of, value in p.fix))
        for p in problems
    )


class Rows:
    """Mixin: a property group whose settings are rows, and come before its other properties."""

    ROWS = ()
    PARAMS = None  # dataclass that the solver takes
    SAMPLED = ()  # names of numbers that are solved with their keys

    def __init_subclass__(cls):
        super().__init_subclass__()
        cls.SAMPLED = tuple(row.name for row in cls.ROWS if row.sampled)
        made = {row.name: property_of(row) for row in cls.ROWS}
        # Asked of the class: Python 3.14 keeps them in no dictionary until then.
        cls.__annotations__ = made | cls.__annotations__

    @classmethod
    def power(cls, name: str) -> int:
        """Power of the length unit in a setting; 0 of one that is no row.

        Args:
            name: of the setting.
        """
        return next((row.power for row in cls.ROWS if row.name == name), 0)

    def in_si(self, unit_scale: float, samples: Mapping | None = None) -> dict:
        """The solver's name -> value in SI units of each setting that the solver has.

        Args:
            unit_scale: metres per Blender unit.
            samples: animated settings, name -> array, in Blender units; None for none.
        """
        found = {}
        for row in self.ROWS:
            if row.known_as in self.PARAMS.__dataclass_fields__:
                value = (samples or {}).get(row.name, getattr(self, row.name))
                found[row.known_as] = value * unit_scale**row.power if row.power else value
        return found

    def go_on_from(self, other: Rows) -> None:
        """Begin with what another motion has; lists begin empty.

        Args:
            other: the same group of the motion before.
        """
        for prop in other.bl_rna.properties:
            if not prop.is_readonly and prop.identifier != "name":
                setattr(self, prop.identifier, getattr(other, prop.identifier))

    def take_from(self, other: Rows) -> None:
        """Take over what another motion is set to; nothing that stands in the scene.

        Args:
            other: the same group of the other motion.
        """
        for row in self.ROWS:
            setattr(self, row.name, getattr(other, row.name))

    def begin(self, kind: str, unit_scale: float) -> None:
        """Start from settings that suit a character, whatever the scene's unit.

        Args:
            kind: kind of character.
            unit_scale: metres per Blender unit.
        """
        for row in self.ROWS:
            if row.power or kind in row.start:
                value = row.start.get(kind, self.bl_rna.properties[row.name].default)
                setattr(self, row.name, value / unit_scale**row.power)
