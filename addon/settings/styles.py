# SPDX-License-Identifier: GPL-3.0-or-later
"""How a character's body moves: the style of motion amplification.

The settings are the rows of the mappings' styles. Lengths are metres for a figure
1.78 m tall and grow with the figure, so they have no Blender unit. A setting whose
automatic value is wanted is 0.
"""

from collections.abc import Mapping

import bpy
import numpy as np

from ..mapping.gaze import EyesStyle
from ..mapping.registry import STYLE_GROUPS
from ..mapping.rows import rows_of, sections_of
from .rows import Rows


class Style(Rows):
    """Mixin: a style's settings as the frozen dataclass that its mapping takes."""

    NAMED: Mapping = {}
    SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __init_subclass__(cls):
        cls.ROWS, cls.SECTIONS = rows_of(cls.PARAMS), sections_of(cls.PARAMS)
        super().__init_subclass__()

    def set_named(self, name: str) -> None:
        """Take all amounts of one of the mapping's named styles.

        Args:
            name: "carving", "short" ...

        Raises:
            ValueError: there is no such style.
        """
        if name not in self.NAMED:
            raise ValueError(f"there is no style {name!r}: there are {', '.join(self.NAMED)}")
        style = self.NAMED[name]
        for row in self.ROWS:
            value = getattr(style, row.name)
            setattr(self, row.name, 0.0 if value is None else value)

    def begin(self, kind: str, unit_scale: float = 1.0) -> None:
        """Take the amounts that have a kind of character's name, if any have.

        Args:
            kind: kind of character ("HORSE").
            unit_scale: metres per Blender unit, which are not in a style's amounts.
        """
        if kind.lower() in self.NAMED:
            self.set_named(kind.lower())

    def to_params(self, samples: dict):
        """The style as numbers, frozen.

        Args:
            samples: animated settings, name -> array at every solver step.
        """
        values = self.in_si(1.0, samples)
        for row in self.ROWS:
            if row.default is None and not np.any(values[row.name]):
                values[row.name] = None
        return self.PARAMS(**values)


GROUPS = {
    name: type(
        f"Poise{name.title()}Style", (Style, bpy.types.PropertyGroup),
        {"__doc__": f"Style of a {name} body.", "__module__": __name__,
         "PARAMS": mapping.style, "NAMED": mapping.named},
    )
    for name, mapping in STYLE_GROUPS.items()
}
"""Name of the group on a motion's settings -> its type."""


class PoiseEyesStyle(Style, bpy.types.PropertyGroup):
    """How the eyes of a rig look ahead, whatever it does."""

    PARAMS = EyesStyle


GROUPS["eyes"] = PoiseEyesStyle
CLASSES = tuple(GROUPS.values())
