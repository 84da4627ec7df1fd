# SPDX-License-Identifier: GPL-3.0-or-later
"""Which mapping moves which kind of character."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .cyclist import map_cyclist
from .legged import map_legged
from .skateboarder import map_skateboarder
from .skier import map_skier
from .snowboarder import map_snowboarder
from .telemark import map_telemark


@dataclass(frozen=True)
class BodyMapping:
    """A mapping and the settings group that holds its style.

    Attributes:
        function: (motion, figure, style) -> RoleTracks.
        group: name of the style's group on a Motion object's settings.
        change: what the moment between two turns is called; wheels have no edges.
    """

    function: Callable
    group: str
    change: str = "Edge Change"


MAPPINGS = {
    "SKIER": BodyMapping(map_skier, "skier"),
    "TELEMARK": BodyMapping(map_telemark, "telemark"),
    "SNOWBOARDER": BodyMapping(map_snowboarder, "snowboarder"),
    "SKATEBOARDER": BodyMapping(map_skateboarder, "skateboarder", "Upright"),
    "CYCLIST": BodyMapping(map_cyclist, "cyclist", "Upright"),
    **dict.fromkeys(("HORSE", "DOG", "BIPED", "INSECT"), BodyMapping(map_legged, "legged")),
}
# Names of the groups that hold styles.
STYLE_GROUPS = tuple(dict.fromkeys(mapping.group for mapping in MAPPINGS.values()))
