# SPDX-License-Identifier: GPL-3.0-or-later
"""Which mapping moves which kind of character."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .skier import map_skier
from .snowboarder import map_snowboarder


@dataclass(frozen=True)
class BodyMapping:
    """A mapping and the settings group that holds its style.

    Attributes:
        function: (motion, figure, style) -> RoleTracks.
        group: name of the style's group on a Motion object's settings.
    """

    function: Callable
    group: str


MAPPINGS = {
    "SKIER": BodyMapping(map_skier, "skier"),
    "SNOWBOARDER": BodyMapping(map_snowboarder, "snowboarder"),
}
