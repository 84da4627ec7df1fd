# SPDX-License-Identifier: GPL-3.0-or-later
"""Which mapping moves which kind of character, and the style of its body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import car, cyclist, legged, skateboarder, skier, snowboarder, telemark


@dataclass(frozen=True)
class BodyMapping:
    """A mapping and its style, which is a group of settings on Motion objects.

    Attributes:
        function: (motion, figure, style) -> RoleTracks; of a car, see `map_car`.
        group: name of the style's group on a Motion object's settings.
        style: dataclass of the style, whose fields are the group's rows.
        named: styles by name.
        change: what the moment between two turns is called; wheels have no edges.
    """

    function: Callable
    group: str
    style: type
    named: Mapping[str, object]
    change: str = "Edge Change"


_LEGGED = BodyMapping(legged.map_legged, "legged", legged.LeggedStyle, legged.STYLES)

MAPPINGS = {
    "SKIER": BodyMapping(skier.map_skier, "skier", skier.SkierStyle, skier.STYLES),
    "TELEMARK": BodyMapping(
        telemark.map_telemark, "telemark", telemark.TelemarkStyle, telemark.STYLES
    ),
    "SNOWBOARDER": BodyMapping(
        snowboarder.map_snowboarder, "snowboarder", snowboarder.SnowboarderStyle,
        snowboarder.STYLES,
    ),
    "SKATEBOARDER": BodyMapping(
        skateboarder.map_skateboarder, "skateboarder", skateboarder.SkateboarderStyle,
        skateboarder.STYLES, "Upright",
    ),
    "CYCLIST": BodyMapping(
        cyclist.map_cyclist, "cyclist", cyclist.CyclistStyle, cyclist.STYLES, "Upright"
    ),
    **dict.fromkeys(("HORSE", "DOG", "BIPED", "INSECT"), _LEGGED),
    "CAR": BodyMapping(car.map_car, "car", car.CarStyle, car.STYLES),
}
STYLE_GROUPS = {mapping.group: mapping for mapping in MAPPINGS.values()}
"""Name of a group that holds a style -> a mapping that reads it."""
