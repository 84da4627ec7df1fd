# SPDX-License-Identifier: GPL-3.0-or-later
"""How a character's body moves: the style of motion amplification.

The settings are the rows of the mappings' styles. Lengths are metres for a figure
1.78 m tall and grow with the figure, so they have no Blender unit. A setting whose
automatic value is wanted is 0.
"""

import bpy
import numpy as np

from ..mapping import cyclist, legged, skateboarder, skier, snowboarder, telemark
from ..mapping.cyclist import CyclistStyle
from ..mapping.gaze import EyesStyle
from ..mapping.legged import LeggedStyle
from ..mapping.rows import rows_of, sections_of
from ..mapping.skateboarder import SkateboarderStyle
from ..mapping.skier import SkierStyle
from ..mapping.snowboarder import SnowboarderStyle
from ..mapping.telemark import TelemarkStyle
from .rows import Rows


class Style(Rows):
    """Mixin: a style's settings as the frozen dataclass that its mapping takes."""

    NAMED: dict = {}
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


class PoiseSkierStyle(Style, bpy.types.PropertyGroup):
    """Style of a skier."""

    PARAMS, NAMED = SkierStyle, skier.STYLES


class PoiseTelemarkStyle(Style, bpy.types.PropertyGroup):
    """Style of a telemark skier."""

    PARAMS, NAMED = TelemarkStyle, telemark.STYLES


class PoiseSnowboarderStyle(Style, bpy.types.PropertyGroup):
    """Style of a snowboarder."""

    PARAMS, NAMED = SnowboarderStyle, snowboarder.STYLES


class PoiseSkateboarderStyle(Style, bpy.types.PropertyGroup):
    """Style of a skateboarder."""

    PARAMS, NAMED = SkateboarderStyle, skateboarder.STYLES


class PoiseCyclistStyle(Style, bpy.types.PropertyGroup):
    """Style of a cyclist."""

    PARAMS, NAMED = CyclistStyle, cyclist.STYLES


class PoiseLeggedStyle(Style, bpy.types.PropertyGroup):
    """Style of a body on legs."""

    PARAMS, NAMED = LeggedStyle, legged.STYLES

    def begin(self, kind: str, unit_scale: float = 1.0) -> None:
        """Take the amounts of a kind of character, if it is one on legs.

        Args:
            kind: kind of character ("HORSE").
            unit_scale: metres per Blender unit, which are not in its amounts.
        """
        if kind.lower() in self.NAMED:
            self.set_named(kind.lower())


class PoiseEyesStyle(Style, bpy.types.PropertyGroup):
    """How the eyes of a rig look ahead, whatever it does."""

    PARAMS = EyesStyle


CLASSES = (
    PoiseSkierStyle, PoiseTelemarkStyle, PoiseSnowboarderStyle, PoiseSkateboarderStyle,
    PoiseCyclistStyle, PoiseLeggedStyle, PoiseEyesStyle,
)
